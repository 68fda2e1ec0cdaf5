//! What can go wrong between a batch and a report.

use crate::schema::Kind;

/// One enum for the whole library; every variant says where, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The schema names something twice or leaves nothing to learn from.
    #[error("{0}")]
    Schema(String),
    /// A setting makes no sense, by itself or for these data.
    #[error("{0}")]
    Settings(String),
    /// A row's weight is negative, infinite or not a number.
    #[error("row {row}: the weight {weight} is not a finite number of zero or more")]
    Weight {
        /// Row of the data, counted from 1.
        row: u64,
        /// The weight as it was found.
        weight: f64,
    },
    /// A number is infinite.
    #[error("row {row}, column `{column}`: {value} cannot be counted; numbers must be finite")]
    Infinite {
        /// Row of the data, counted from 1.
        row: u64,
        /// The column.
        column: String,
        /// The value.
        value: f64,
    },
    /// All weights together exceed what an f64 can hold.
    #[error("row {row}: the weights add up to more than {:e}", f64::MAX)]
    WeightOverflow {
        /// Row at which the total overflows, counted from 1.
        row: u64,
    },
    /// A row weighs so much that an evaluation could not compute with it.
    #[error("row {row}: the weight {weight:e} is too large to evaluate with; the limit is {limit:e}")]
    HeavyRow {
        /// Row of the data, counted from 1.
        row: u64,
        /// Its weight.
        weight: f64,
        /// The largest weight allowed.
        limit: f64,
    },
    /// A row weighs so little that it could not be halved exactly, where rows age.
    #[error("row {row}: the weight {weight:e} is too small for rows that age; the limit is {limit:e}")]
    LightRow {
        /// Row of the data, counted from 1.
        row: u64,
        /// Its weight.
        weight: f64,
        /// The smallest weight allowed.
        limit: f64,
    },
    /// Counts that were handed over are not those of documents.
    #[error("document {row} of the counts: {what}")]
    Counts {
        /// The document, counted from 1.
        row: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A column of which more is counted than how often each value occurs, so that its rows have to be read.
    #[error(
        "the column `{column}` {}; its rows have to be read, or it has to be left out",
        if *kind == Kind::Text { "is text, which nobody divides into tokens as it is done here" } else { "is counted together with others, which counts of each by itself do not tell" }
    )]
    NotByValue {
        /// The column.
        column: String,
        /// What it is.
        kind: Kind,
    },
    /// The counts of a column do not go with what a class weighs.
    #[error(
        "the counts of the column `{column}` add up to {counted} in the class `{class}`, which weighs {weight}"
    )]
    ColumnTotal {
        /// The column.
        column: String,
        /// The class.
        class: String,
        /// What its values weigh together, missing ones included as far as they were counted.
        counted: f64,
        /// What the class weighs.
        weight: f64,
    },
    /// A batch does not have the columns that the schema lists.
    #[error("the batch has {found} columns, the schema {expected}")]
    BatchColumns {
        /// Columns in the batch.
        found: usize,
        /// Columns in the schema.
        expected: usize,
    },
    /// A column of a batch holds something else than the schema says.
    #[error("column `{column}` of the batch holds {found}, which does not go with its kind, {kind}")]
    BatchKind {
        /// The column.
        column: String,
        /// What it holds.
        found: &'static str,
        /// What the schema calls its kind.
        kind: &'static str,
    },
    /// A batch does not have as many classes, weights or values of a column as it has rows.
    #[error("rows of the batch: {rows}, but {what}: {found}")]
    BatchLength {
        /// Rows of the batch.
        rows: usize,
        /// How many of these there are.
        found: usize,
        /// What there are not as many of: classes, weights, values in a column.
        what: String,
    },
    /// A code of a column of strings stands for none of its values.
    #[error("column `{column}` of the batch has the code {code}, but its values end at {values}")]
    Code {
        /// The column.
        column: String,
        /// The largest code.
        code: u32,
        /// How many values there are; the code of the last is this number.
        values: usize,
    },
    /// A row that was to be added to a batch does not have a value for each column.
    #[error("the row has {found} values, and the batch {expected} columns")]
    RowLength {
        /// Values of the row.
        found: usize,
        /// Columns of the batch.
        expected: usize,
    },
    /// A value of a row that was to be added to a batch is of another kind than its column.
    #[error("column {column} of the batch holds {expected}, and the row has {found} there")]
    RowKind {
        /// The column, counted from 1.
        column: usize,
        /// What the row has.
        found: &'static str,
        /// What the column holds.
        expected: &'static str,
    },
    /// More classes than a classifier can sensibly have: the target is probably a number or an identifier.
    #[error("the target `{target}` has more than {limit} classes")]
    TooManyClasses {
        /// The target column.
        target: String,
        /// How many classes are allowed.
        limit: usize,
    },
    /// A column has more values than can be counted apart for this many classes: it is probably an identifier.
    #[error(
        "the column `{column}` has {values} values, which for {classes} classes needs {cells} counts; the limit is {limit}",
        cells = values * classes
    )]
    TooManyValues {
        /// The column.
        column: String,
        /// Its values, as far as they were read.
        values: usize,
        /// The classes, as far as they were read.
        classes: usize,
        /// How many counts are allowed.
        limit: usize,
    },
    /// A column of text has more different tokens than can be kept apart.
    #[error(
        "the column `{column}` has {tokens} different tokens and {counts} counts of them{}, which is more than memory should hold; hashing them to 2^{hash_bits} buckets bounds it",
        if *.folds > 1 { format!(" in {folds} folds") } else { String::new() }
    )]
    TooManyTokens {
        /// The column.
        column: String,
        /// Its tokens, as far as they were read.
        tokens: usize,
        /// What is counted of them in all classes.
        counts: usize,
        /// How many folds each have tokens and counts of their own; 1 if the column is counted as a whole.
        folds: usize,
        /// This many buckets would do, as a power of two.
        hash_bits: u32,
    },
    /// Rows were to be forgotten that cannot all have been learnt.
    #[error("row {row} was never learnt: {what} would count less than zero")]
    NeverLearnt {
        /// First row that cannot be taken away, counted from 1.
        row: u64,
        /// Which count would fall below zero, in words.
        what: String,
    },
    /// Statistics were to be subtracted that are not part of these.
    #[error("these statistics are not part of the model: {what} would count less than zero")]
    NotPart {
        /// Which count would fall below zero, in words.
        what: String,
    },
    /// Two sets of statistics describe different tables.
    #[error("the models do not describe the same table: {0}")]
    Mismatch(String),
    /// A full joint table would need more cells than is sensible.
    #[error(
        "the full joint table of {columns} columns and {classes} classes needs {cells} cells; the limit is {limit}"
    )]
    JointTooLarge {
        /// Columns in the table.
        columns: usize,
        /// Classes.
        classes: usize,
        /// Cells needed, written out.
        cells: String,
        /// Cells allowed.
        limit: usize,
    },
    /// A group has more pairs of columns than can be summed apart for this many classes.
    #[error(
        "the group of {columns} columns and {classes} classes needs {pairs} sums of products; the limit is {limit}"
    )]
    GroupTooLarge {
        /// Columns in the group.
        columns: usize,
        /// Classes.
        classes: usize,
        /// Pairs of columns, for all classes.
        pairs: usize,
        /// Pairs allowed.
        limit: usize,
    },
    /// The sum of logarithms that a row comes to is not a number. No model should give one: it is an error rather than a
    /// guess.
    #[error("row {row}: its probability under the model is not a number; this is a defect of priory")]
    Undefined {
        /// Row of the data, counted from 1.
        row: u64,
    },
    /// Nothing was learnt, so nothing can be concluded.
    #[error("there are no rows with a class to learn from")]
    Empty,
    /// Exact fractions were asked for where the counts are not whole numbers.
    #[error("{0}")]
    NoFractions(String),
    /// There is no picture of what was asked for.
    #[error("{0}")]
    NoPicture(String),
    /// A column was counted, but is not among those that were selected.
    #[error("the column `{column}` is counted but not used")]
    NotUsed {
        /// The column.
        column: String,
    },
    /// A model file is damaged, incomplete or not a model file.
    #[error("not a usable model file: {0}")]
    File(String),
}

impl Error {
    /// Counts the row, if the error names one, after this many more: for batches that are parts of a larger table.
    pub fn add_rows(&mut self, rows: u64) {
        match self {
            Error::Weight { row, .. }
            | Error::WeightOverflow { row }
            | Error::Infinite { row, .. }
            | Error::HeavyRow { row, .. }
            | Error::LightRow { row, .. }
            | Error::Undefined { row }
            | Error::NeverLearnt { row, .. } => *row += rows,
            _ => {}
        }
    }
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

//! What can go wrong between a file and a batch.

use std::fmt::Write;
use std::io;

use priory::infer::{DateTrouble, Mixture};

/// One enum for the whole crate; every message is one sentence that names the file and, where there is one, the
/// row, the column and the value. Rows are counted from 1 and the header is not one of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read, written or locked.
    #[error("{name}: cannot be {action}: {cause}")]
    File {
        /// The file.
        name: String,
        /// What was to be done with it: opened, read, …
        action: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// A class has a name that cannot stand everywhere where classes stand.
    #[error(
        "the class {class} is not a word of at most 64 letters, digits and the signs - _ . @, which begins with a letter or a digit"
    )]
    Class {
        /// The class.
        class: String,
    },
    /// There is not even a header.
    #[error("{name}: the table is empty, it does not even have a header")]
    Empty {
        /// The file.
        name: String,
    },
    /// The bytes are not a table of text.
    #[error("{name}: this is {what}")]
    NotText {
        /// The file.
        name: String,
        /// What it is and what to do about it, in words.
        what: &'static str,
    },
    /// A packed file cannot be unpacked to its end.
    #[error(
        "{name}: the {packing} file is {state}; fetch or pack it again",
        state = if *cut_short { "cut short" } else { "damaged" }
    )]
    Packed {
        /// The file.
        name: String,
        /// How it is packed.
        packing: &'static str,
        /// Whether its end is missing.
        cut_short: bool,
    },
    /// The field separator cannot be told from the text.
    #[error("the delimiter {delimiter:?} is not a single ASCII character other than a quote or a line end")]
    Delimiter {
        /// The delimiter as it was asked for.
        delimiter: char,
    },
    /// The character that begins comments means something else already.
    #[error(
        "the comment character {comment:?} is not a single ASCII character other than the delimiter, a quote or a line end"
    )]
    Comment {
        /// The character as it was asked for.
        comment: char,
    },
    /// A row holds a byte that no text holds.
    #[error("{name}: {place}, column {column} holds a NUL byte, so this is not a text file", place = place(*row))]
    NulByte {
        /// The file.
        name: String,
        /// The row, 0 for the header.
        row: u64,
        /// The column.
        column: String,
    },
    /// A row is not UTF-8.
    #[error("{name}: {place}, column {column} is not valid UTF-8", place = place(*row))]
    NotUtf8 {
        /// The file.
        name: String,
        /// The row, 0 for the header.
        row: u64,
        /// The column.
        column: String,
    },
    /// A row does not have as many fields as the header.
    #[error("{name}: row {row} has {found} {} where the header has {expected}", if *found == 1 { "field" } else { "fields" })]
    FieldCount {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// Fields in the row.
        found: usize,
        /// Fields in the header.
        expected: usize,
    },
    /// A quoted field goes on after its closing quote.
    #[error(
        "{name}: {place}, column {column} has text after the closing quote; a quote inside a quoted field is written twice",
        place = place(*row)
    )]
    TextAfterQuote {
        /// The file.
        name: String,
        /// The row, 0 for the header.
        row: u64,
        /// The column.
        column: String,
    },
    /// The file ends inside a quoted field.
    #[error("{name}: {place} opens a quote that is never closed", place = place(*row))]
    UnclosedQuote {
        /// The file.
        name: String,
        /// The row in which the quote opens, 0 for the header.
        row: u64,
    },
    /// A row is so long that it can only be a mistake.
    #[error(
        "{name}: {place} is longer than {limit} bytes; perhaps a quote is never closed, or the lines do not end in line feeds",
        place = place(*row)
    )]
    RowTooLong {
        /// The file.
        name: String,
        /// The row, 0 for the header.
        row: u64,
        /// How long a row may be.
        limit: usize,
    },
    /// A row is not written as its format asks for.
    #[error("{name}: row {row} {what}")]
    Row {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// What it has or is, and what to do about it.
        what: String,
    },
    /// A row has an array or an object where one value is wanted.
    #[error("{name}: row {row}, column {column} holds {what}, which cannot be read")]
    Nested {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What is there.
        what: &'static str,
    },
    /// A column that is needed holds what cannot be read.
    #[error("{name}: column {column} holds {what}, which cannot be read")]
    ColumnType {
        /// The file.
        name: String,
        /// The column.
        column: String,
        /// What it holds.
        what: &'static str,
    },
    /// The table is too wide.
    #[error("{name}: the table has {columns} columns; the limit is {most}")]
    TooManyColumns {
        /// The file.
        name: String,
        /// How many there are.
        columns: usize,
        /// How many there may be.
        most: usize,
    },
    /// A binary file is not what it should be.
    #[error("{name}: the {format} file is damaged: {cause}")]
    Damaged {
        /// The file.
        name: String,
        /// What it is.
        format: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// Parquet begins at its end, so that it must be a file.
    #[error(
        "{name}: this is Parquet, which can only be read from a plain file, not from a pipe or unpacked; give its path"
    )]
    ParquetStream {
        /// What was read.
        name: String,
    },
    /// The program was built without what the file needs.
    #[error("{name}: this is {format}, which this program was built without (cargo feature `{feature}`)")]
    NotBuiltIn {
        /// The file.
        name: String,
        /// Its format.
        format: &'static str,
        /// What to build it with.
        feature: &'static str,
    },
    /// A workbook has no such sheet.
    #[error("{name}: there is no sheet {sheet}; the workbook has {sheets}")]
    NoSuchSheet {
        /// The file.
        name: String,
        /// The name or number that was asked for.
        sheet: String,
        /// The sheets that are there.
        sheets: String,
    },
    /// There is nothing in the first of several sheets.
    #[error("{name}: the sheet {sheet} is empty; the workbook has {sheets}")]
    EmptySheet {
        /// The file.
        name: String,
        /// The first sheet.
        sheet: String,
        /// All of them.
        sheets: String,
    },
    /// A small file unpacks to a huge one.
    #[error(
        "{name}: the spreadsheet unpacks to far more than a table of its size does, as if to fill the memory; save it again, or as CSV"
    )]
    Bomb {
        /// The file.
        name: String,
    },
    /// A sheet holds more than a temporary file should.
    #[error("{name}: the sheet holds more than {limit} bytes of text; save it as CSV")]
    SheetTooLarge {
        /// The file.
        name: String,
        /// How many there may be.
        limit: u64,
    },
    /// Two columns have one name, and nobody can say which is meant.
    #[error("{name}: the header names the {role}{}column {column} twice", if role.is_empty() { "" } else { " " })]
    DuplicateColumn {
        /// The file.
        name: String,
        /// What the column is for: target or weight; empty if it is about any column.
        role: &'static str,
        /// The name that occurs twice.
        column: String,
    },
    /// A column that is needed is not in the header.
    #[error(
        "{name}: there is no {role} column {column}{suggestion}; the header has {header}",
        suggestion = nearest.as_ref().map_or(String::new(), |nearest| format!(", perhaps {nearest} is meant"))
    )]
    NoSuchColumn {
        /// The file.
        name: String,
        /// What the column is for: target, weight, feature or kept.
        role: &'static str,
        /// The name that was looked for.
        column: String,
        /// The columns that are there.
        header: Box<str>,
        /// The one whose name is most alike, if any is.
        nearest: Option<String>,
        /// What probably stands between the fields, if that was not found out: then the header is one column.
        delimiter: Option<char>,
    },
    /// A column is to be kept twice.
    #[error("the column {column} is to be kept twice; name it once")]
    KeptTwice {
        /// The column.
        column: String,
    },
    /// None of the features is in the header, so this is another table.
    #[error("{name}: none of the model's features is in this table; the header has {header}")]
    NoFeatures {
        /// The file.
        name: String,
        /// The columns that are there.
        header: String,
    },
    /// The columns of a table are not what a model can be learnt from.
    #[error("{0}")]
    Columns(String),
    /// The numbers of a column are not written alike.
    #[error("the column {column} cannot be read as numbers: {mixture}")]
    MixedNumbers {
        /// The column.
        column: String,
        /// What they do not have in common.
        mixture: Mixture,
    },
    /// The target is a number, and there are too many of them to be classes.
    #[error(
        "the target {target} is a number with {values} different values in {rows} rows; classes are what is predicted here"
    )]
    NumberTarget {
        /// The target.
        target: String,
        /// How many different numbers there are.
        values: usize,
        /// In how many rows.
        rows: usize,
    },
    /// A target cannot be cut into intervals.
    #[error("the target {target} has not enough different numbers to be cut into classes")]
    TooFewNumbers {
        /// The target.
        target: String,
    },
    /// A column is not what its first rows made it look like.
    #[error("the column {column} looked like one of 0 and 1, but has {values} values")]
    NotZeroAndOne {
        /// The column.
        column: String,
        /// How many values it has.
        values: usize,
    },
    /// A column that is to be one of numbers has none.
    #[error("no value of the column {column} is a number, so that all of them are missing")]
    NoNumbers {
        /// The column.
        column: String,
    },
    /// The dates of a column cannot be read.
    #[error("the column {column} cannot be read as dates: {trouble}")]
    Dates {
        /// The column.
        column: String,
        /// Why not.
        trouble: DateTrouble,
    },
    /// A value of a column of dates is not one, or not written as the others are.
    #[error("{name}: row {row}, column {column}: {value} is not a date as the others are", column = column.trim_matches('`'))]
    NoDate {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What is there.
        value: String,
    },
    /// A value of a column of numbers is not one.
    #[error("{name}: row {row}, column {column}: {value} is not a number", column = column.trim_matches('`'))]
    NoNumber {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What is there.
        value: String,
    },
    /// A number is too large to be counted.
    #[error("{name}: row {row}, column {column}: {value} is infinite; numbers must be finite")]
    Infinite {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What is there.
        value: String,
    },
    /// The rows were read but could not be used.
    #[error("{}{cause}", if name.is_empty() { String::new() } else { format!("{name}: ") })]
    Use {
        /// The file; empty if it is not about one of them.
        name: String,
        /// Why.
        cause: priory::Error,
    },
    /// Another thread failed further up in the table; its error is the one to report.
    #[error("stopped because of an error in an earlier row")]
    Stopped,
    /// A weight is missing or not a number.
    #[error("{name}: row {row}, column {column}: the weight {value} is not a number")]
    Weight {
        /// The file.
        name: String,
        /// The row.
        row: u64,
        /// The weight column.
        column: String,
        /// What is there.
        value: String,
    },
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Counts the row, if the error names one, from the beginning of the table instead of after this many rows.
    pub(crate) fn add_rows(&mut self, rows: u64) {
        match self {
            Error::NulByte { row, .. }
            | Error::NotUtf8 { row, .. }
            | Error::FieldCount { row, .. }
            | Error::TextAfterQuote { row, .. }
            | Error::UnclosedQuote { row, .. }
            | Error::RowTooLong { row, .. }
            | Error::NoNumber { row, .. }
            | Error::NoDate { row, .. }
            | Error::Row { row, .. }
            | Error::Nested { row, .. }
            | Error::Infinite { row, .. }
            | Error::Weight { row, .. } => *row += rows,
            Error::Use { cause, .. } => cause.add_rows(rows),
            _ => {}
        }
    }

    /// Says that it is the header that is wrong, not the first row.
    pub(crate) fn make_header(&mut self) {
        if let Error::UnclosedQuote { row, .. } | Error::RowTooLong { row, .. } = self {
            *row = 0;
        }
    }

    /// Names the file where the library could not.
    pub(crate) fn in_file(self, file: &str) -> Self {
        match self {
            Error::Use { cause, .. } => Error::Use { name: file.into(), cause },
            other => other,
        }
    }
}

impl From<priory::Error> for Error {
    fn from(cause: priory::Error) -> Self {
        Error::Use { name: String::new(), cause }
    }
}

fn place(row: u64) -> String {
    if row == 0 { String::from("the header") } else { format!("row {row}") }
}

/// A name or value as messages show it: in backticks, without line breaks, and not endless.
pub(crate) fn shown(text: &str) -> String {
    const MOST_CHARACTERS: usize = 60;
    let mut shown = String::from("`");
    for character in text.chars().take(MOST_CHARACTERS) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.push_str(if text.chars().nth(MOST_CHARACTERS).is_some() { "…`" } else { "`" });
    shown
}

/// The columns of a header as messages list them.
pub(crate) fn shown_list(names: &[String]) -> String {
    const MOST_NAMES: usize = 20;
    let mut list = names.iter().take(MOST_NAMES).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMES {
        let _ = write!(list, " and {} more", names.len() - MOST_NAMES);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_on_one_short_line() {
        assert_eq!(shown("a b"), "`a b`");
        assert_eq!(shown("a\n\u{1b}b"), "`a\\n\\u{1b}b`");
        assert_eq!(shown(&"é".repeat(61)), format!("`{}…`", "é".repeat(60)));
        let names: Vec<String> = (0..22).map(|i| i.to_string()).collect();
        assert!(shown_list(&names).ends_with("`19` and 2 more"));
    }
}

//! Several rows, column by column, as a reader hands them over.

mod text_column;

use std::borrow::Cow;

use crate::schema::{Kind, Schema};
use crate::vocabulary::Vocabulary;
pub use text_column::TextColumn;
pub(crate) use text_column::TokenNumbering;

/// The code of a missing value in [`CategoryColumn::codes`].
pub const MISSING: u32 = 0;

/// Rows to observe, forget or score. The columns stand in the order of the schema.
///
/// A reader fills one batch after another into the same memory: [`Batch::clear`] keeps the buffers.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The number of the first row in its source, counted from 1; messages name rows by it.
    pub first_row: u64,
    /// How many rows there are.
    pub rows: usize,
    /// The class of each row. Rows whose class is missing are not learnt from. Scoring does not look at it.
    pub classes: CategoryColumn,
    /// The weight of each row; empty if every row counts one.
    pub weights: Vec<f64>,
    /// The features.
    pub columns: Vec<BatchColumn>,
}

/// One feature of every row.
#[derive(Debug, Clone)]
pub enum BatchColumn {
    /// Strings, for columns of kind category or joint.
    Category(CategoryColumn),
    /// Numbers; a missing one is NaN.
    Number(Vec<f64>),
    /// Documents, as the tokens that they hold.
    Text(TextColumn),
}

/// A column of strings: each row holds the code of a value, 0 for missing, i + 1 for the i-th value.
#[derive(Debug, Clone, Default)]
pub struct CategoryColumn {
    /// The values that occur in this batch.
    pub values: Vocabulary,
    /// One code per row.
    pub codes: Vec<u32>,
}

impl Batch {
    /// A batch without rows, for a table of this schema.
    pub fn new(schema: &Schema) -> Self {
        let columns = schema.columns.iter().map(|column| match column.kind {
            Kind::Category | Kind::Joint => BatchColumn::Category(CategoryColumn::default()),
            Kind::Number | Kind::Moments | Kind::Group => BatchColumn::Number(Vec::new()),
            Kind::Text => BatchColumn::Text(TextColumn::default()),
        });
        Batch { first_row: 1, columns: columns.collect(), ..Batch::default() }
    }

    /// A batch from rows of strings, with `None` where a value is missing; for small tables written by hand.
    ///
    /// ```
    /// let batch = priory::Batch::from_rows(&[("yes", &[Some("sunny"), None])]);
    /// assert_eq!((batch.rows, batch.columns.len()), (1, 2));
    /// ```
    pub fn from_rows<'a, R: AsRef<[Option<&'a str>]>>(rows: &[(&str, R)]) -> Self {
        let mut classes = CategoryColumn::default();
        let mut columns =
            vec![CategoryColumn::default(); rows.first().map_or(0, |(_, values)| values.as_ref().len())];
        for (class, values) in rows {
            classes.push(Some(class));
            columns.iter_mut().zip(values.as_ref()).for_each(|(column, value)| column.push(*value));
        }
        let columns = columns.into_iter().map(BatchColumn::Category).collect();
        Batch { first_row: 1, rows: rows.len(), classes, columns, ..Batch::default() }
    }

    /// Removes the rows but keeps the memory. The next row follows the last of this batch.
    pub fn clear(&mut self) {
        self.first_row += self.rows as u64;
        self.rows = 0;
        self.classes.clear();
        self.weights.clear();
        for column in &mut self.columns {
            match column {
                BatchColumn::Category(column) => column.clear(),
                BatchColumn::Number(values) => values.clear(),
                BatchColumn::Text(column) => column.clear(),
            }
        }
    }

    /// The weight of a row.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[row] }
    }

    /// The number of a row in its source, counted from 1.
    pub fn row_number(&self, row: usize) -> u64 {
        self.first_row + row as u64
    }

    /// About how many bytes the rows take, for whoever wants to keep some.
    pub fn memory(&self) -> usize {
        let column = |column: &BatchColumn| match column {
            BatchColumn::Category(column) => column.memory(),
            BatchColumn::Number(values) => size_of_val(&values[..]),
            BatchColumn::Text(documents) => documents.memory(),
        };
        let columns: usize = self.columns.iter().map(column).sum();
        columns + self.classes.memory() + size_of_val(&self.weights[..])
    }

    /// The rows at these positions, in this order. They are numbered anew.
    pub fn select(&self, rows: &[usize]) -> Batch {
        Batch {
            first_row: self.first_row,
            rows: rows.len(),
            classes: self.classes.select(rows),
            weights: if self.weights.is_empty() { Vec::new() } else { pick(&self.weights, rows) },
            columns: self.columns.iter().map(|column| column.select(rows)).collect(),
        }
    }

    /// The rows one after the other, in batches of at most so many; each is numbered as it is here. A batch that is small
    /// enough is its only piece, and is not copied.
    ///
    /// ```
    /// # use priory::Batch;
    /// let batch = Batch::from_rows(&[("a", [Some("1")]), ("b", [None]), ("c", [Some("3")])]);
    /// let pieces: Vec<_> = batch.pieces(2).map(|piece| (piece.first_row, piece.rows)).collect();
    /// assert_eq!(pieces, [(1, 2), (3, 1)]);
    /// ```
    pub fn pieces(&self, most_rows: usize) -> impl Iterator<Item = Cow<'_, Batch>> {
        let most_rows = most_rows.max(1);
        let is_whole = self.rows <= most_rows;
        let parts = (0..self.rows).step_by(most_rows).filter(move |_| !is_whole).map(move |start| {
            let rows: Vec<usize> = (start..self.rows.min(start + most_rows)).collect();
            Cow::Owned(Batch { first_row: self.row_number(start), ..self.select(&rows) })
        });
        is_whole.then_some(Cow::Borrowed(self)).into_iter().chain(parts)
    }

    /// Of a batch of the first schema, the columns of the second, which has no others.
    pub fn only(&self, from: &Schema, to: &Schema) -> Cow<'_, Batch> {
        if self.columns.len() != from.columns.len() || from.columns.len() == to.columns.len() {
            return Cow::Borrowed(self);
        }
        let positions = to.columns.iter().filter_map(|column| from.position(&column.name));
        Cow::Owned(Batch {
            first_row: self.first_row,
            rows: self.rows,
            classes: self.classes.clone(),
            weights: self.weights.clone(),
            columns: positions.map(|column| self.columns[column].clone()).collect(),
        })
    }

    /// A value as text, unless it is missing.
    pub fn written(&self, column: usize, row: usize) -> Option<String> {
        match &self.columns[column] {
            BatchColumn::Category(column) => column.value(row).map(str::to_owned),
            BatchColumn::Number(values) => (!values[row].is_nan()).then(|| values[row].to_string()),
            BatchColumn::Text(column) => column.document(row).map(|entries| {
                let words: u64 = entries.iter().map(|&(_, count)| u64::from(count)).sum();
                format!("{words} {}", if words == 1 { "token" } else { "tokens" })
            }),
        }
    }

    /// A column of numbers.
    ///
    /// # Panics
    /// If the column at this position holds something else; the schema says which do.
    pub fn numbers(&self, column: usize) -> &[f64] {
        match &self.columns[column] {
            BatchColumn::Number(values) => values,
            _ => panic!("column {column} of the batch holds no numbers"),
        }
    }

    /// A column of strings.
    ///
    /// # Panics
    /// If the column at this position holds something else; the schema says which do.
    pub fn category(&self, column: usize) -> &CategoryColumn {
        match &self.columns[column] {
            BatchColumn::Category(column) => column,
            _ => panic!("column {column} of the batch holds no strings"),
        }
    }

    /// A column of documents.
    ///
    /// # Panics
    /// If the column at this position holds something else; the schema says which do.
    pub fn text(&self, column: usize) -> &TextColumn {
        match &self.columns[column] {
            BatchColumn::Text(column) => column,
            _ => panic!("column {column} of the batch holds no text"),
        }
    }
}

impl BatchColumn {
    fn select(&self, rows: &[usize]) -> BatchColumn {
        match self {
            BatchColumn::Category(column) => BatchColumn::Category(column.select(rows)),
            BatchColumn::Number(values) => BatchColumn::Number(pick(values, rows)),
            BatchColumn::Text(column) => BatchColumn::Text(column.select(rows)),
        }
    }

    /// Makes it so many rows; those that are new are missing.
    pub(crate) fn resize(&mut self, rows: usize) {
        match self {
            BatchColumn::Category(column) => column.codes.resize(rows, MISSING),
            BatchColumn::Number(values) => values.resize(rows, f64::NAN),
            BatchColumn::Text(documents) => (documents.rows()..rows).for_each(|_| documents.push_missing()),
        }
    }

    pub(crate) fn numbers_mut(&mut self) -> Option<&mut Vec<f64>> {
        match self {
            BatchColumn::Number(values) => Some(values),
            BatchColumn::Category(_) | BatchColumn::Text(_) => None,
        }
    }

    /// Marks the rows that have a value here. Whether a document says something is known to the model only.
    pub(crate) fn mark_known(&self, known: &mut [bool]) {
        match self {
            BatchColumn::Category(column) => {
                known.iter_mut().zip(&column.codes).for_each(|(known, &code)| *known |= code != MISSING);
            }
            BatchColumn::Number(values) => {
                known.iter_mut().zip(values).for_each(|(known, value)| *known |= !value.is_nan());
            }
            BatchColumn::Text(_) => {}
        }
    }
}

fn pick<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|&row| values[row]).collect()
}

impl CategoryColumn {
    /// Appends a row.
    #[inline]
    pub fn push(&mut self, value: Option<&str>) {
        let code = value.map_or(MISSING, |value| self.values.intern(value) as u32 + 1);
        self.codes.push(code);
    }

    /// The value in a row, unless it is missing.
    pub fn value(&self, row: usize) -> Option<&str> {
        let code = self.codes[row];
        (code != MISSING).then(|| self.values.name(code as usize - 1))
    }

    /// How many rows have no value.
    pub fn missing(&self) -> usize {
        self.codes.iter().filter(|&&code| code == MISSING).count()
    }

    fn memory(&self) -> usize {
        self.values.memory() + size_of_val(&self.codes[..])
    }

    fn clear(&mut self) {
        self.values.clear();
        self.codes.clear();
    }

    fn select(&self, rows: &[usize]) -> CategoryColumn {
        if rows.len() >= self.values.len() {
            return CategoryColumn { values: self.values.clone(), codes: pick(&self.codes, rows) };
        }
        // Few rows of a column of many values: only their values come along.
        let mut selected = CategoryColumn::default();
        rows.iter().for_each(|&row| selected.push(self.value(row)));
        selected
    }
}

//! Several rows, column by column, as a reader hands them over.

mod text_column;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::schema::{Column, Kind, Schema};
use crate::vocabulary::Vocabulary;
pub use text_column::TextColumn;
pub(crate) use text_column::TokenNumbering;

/// The code of a missing value in [`CategoryColumn::codes`].
pub const MISSING: u32 = 0;

/// Rows to observe, forget or score. The columns stand in the order of the schema.
///
/// Rows are added one by one with [`Batch::push`]; whole columns are handed over with [`Batch::from_columns`]. A reader
/// fills the fields one batch after another, in the same memory: [`Batch::clear`] keeps the buffers. A batch that then
/// does not fit together or not its schema is refused with an error wherever it is used.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The number of the first row in its source, counted from 1; messages name rows by it.
    pub first_row: u64,
    /// How many rows there are.
    pub rows: usize,
    /// The class of each row. Rows whose class is missing are not learnt from. Scoring does not look at what it is.
    pub classes: CategoryColumn,
    /// The weight of each row; empty if every row counts one.
    pub weights: Vec<f64>,
    /// What rows have in common that depend on each other, such as a customer or a thread; no codes if nothing is said of that. A
    /// row without a group stands for itself.
    pub groups: CategoryColumn,
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
///
/// ```
/// let column: priory::CategoryColumn = [Some("sunny"), None, Some("sunny")].into_iter().collect();
/// assert_eq!((column.values.len(), &column.codes[..]), (1, &[1, 0, 1][..]));
/// ```
#[derive(Debug, Clone, Default)]
pub struct CategoryColumn {
    /// The values that occur in this batch.
    pub values: Vocabulary,
    /// One code per row, each that of a value.
    pub codes: Vec<u32>,
}

/// One feature of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Nothing, in a column of any kind.
    Missing,
    /// A string, for columns of kind category or joint.
    Category(&'a str),
    /// A number; NaN is as good as missing.
    Number(f64),
    /// The tokens of a document, in their order.
    Text(&'a [&'a str]),
}

impl Batch {
    /// A batch without rows, for a table of this schema.
    pub fn new(schema: &Schema) -> Self {
        let columns = schema.columns.iter().map(|column| BatchColumn::new(column.kind));
        Batch { first_row: 1, columns: columns.collect(), ..Batch::default() }
    }

    /// A batch from whole columns, for a table of this schema. Without weights every row counts one.
    ///
    /// ```
    /// use priory::{Batch, BatchColumn, Column, Kind, Schema};
    ///
    /// let schema = Schema::new("sex", vec![Column::new("height", Kind::Number)])?;
    /// let sexes = || [Some("f"), Some("m")].into_iter().collect();
    /// let people = Batch::from_columns(&schema, sexes(), None, vec![BatchColumn::Number(vec![167.0, 180.0])])?;
    /// assert_eq!(people.rows, 2);
    ///
    /// let error = Batch::from_columns(&schema, sexes(), None, vec![BatchColumn::Number(vec![167.0])]).unwrap_err();
    /// assert_eq!(error.to_string(), "rows of the batch: 2, but values in column `height`: 1");
    /// # Ok::<(), priory::Error>(())
    /// ```
    ///
    /// # Errors
    /// If these are not the columns of the schema, not all of one length, or if a code is not that of a value.
    pub fn from_columns(
        schema: &Schema,
        classes: CategoryColumn,
        weights: Option<Vec<f64>>,
        columns: Vec<BatchColumn>,
    ) -> Result<Self> {
        let rows = classes.codes.len();
        if let Some(weights) = &weights {
            check_length(rows, weights.len(), || "weights".into())?;
        }
        let weights = weights.unwrap_or_default();
        let batch =
            Batch { first_row: 1, rows, classes, weights, groups: CategoryColumn::default(), columns };
        batch.check(schema)?;
        batch.classes.check_codes(&schema.target)?;
        for (column, Column { name, .. }) in batch.columns.iter().zip(&schema.columns) {
            if let BatchColumn::Category(column) = column {
                column.check_codes(name)?;
            }
        }
        Ok(batch)
    }

    /// The batch, if it has a group for each row or none for any.
    pub(crate) fn checked_groups(self) -> Result<Self> {
        if self.has_groups() {
            check_length(self.rows, self.groups.codes.len(), || "groups".into())?;
        }
        self.groups.check_codes("group")?;
        Ok(self)
    }

    /// Appends a row, with a value for each column.
    ///
    /// ```
    /// use priory::{Batch, Column, Kind, Schema, Value};
    ///
    /// let columns = vec![Column::new("subject", Kind::Text), Column::new("bytes", Kind::Number)];
    /// let mut batch = Batch::new(&Schema::new("class", columns)?);
    /// batch.push(Some("spam"), 1.0, &[Value::Text(&["win", "money"]), Value::Number(1234.0)])?;
    /// batch.push(Some("ham"), 2.0, &[Value::Missing, Value::Number(567.0)])?;
    ///
    /// let error = batch.push(None, 1.0, &[Value::Number(89.0), Value::Missing]).unwrap_err();
    /// assert_eq!(error.to_string(), "column 1 of the batch holds documents, and the row has a number there");
    /// assert_eq!(batch.rows, 2);
    /// # Ok::<(), priory::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is not a value for each column, or one is of another kind than its column. The batch is then as it was.
    pub fn push(&mut self, class: Option<&str>, weight: f64, values: &[Value<'_>]) -> Result<()> {
        let (found, expected) = (values.len(), self.columns.len());
        if found != expected {
            return Err(Error::RowLength { found, expected });
        }
        for (position, (column, value)) in self.columns.iter().zip(values).enumerate() {
            column.check_value(value, position)?;
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.resize(self.rows, 1.0);
            self.weights.push(weight);
        }
        self.classes.push(class);
        self.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        self.rows += 1;
        if self.has_groups() {
            self.groups.codes.resize(self.rows, MISSING);
        }
        Ok(())
    }

    /// Refuses a batch that does not have the columns of this schema, or not a value in each of them for every row. It is
    /// asked once wherever a batch comes in, and looks at no row.
    pub(crate) fn check(&self, schema: &Schema) -> Result<()> {
        let (found, expected) = (self.columns.len(), schema.columns.len());
        if found != expected {
            return Err(Error::BatchColumns { found, expected });
        }
        for (column, Column { name, kind, .. }) in self.columns.iter().zip(&schema.columns) {
            if !column.is_for(*kind) {
                return Err(Error::BatchKind {
                    column: name.clone(),
                    found: column.holds(),
                    kind: kind.name(),
                });
            }
        }
        self.check_lengths(|position| format!("`{}`", schema.columns[position].name))
    }

    /// Refuses a batch that does not have a class, a weight and a group if there are any, and a value in each column for every row.
    pub(crate) fn check_lengths(&self, name: impl Fn(usize) -> String) -> Result<()> {
        check_length(self.rows, self.classes.codes.len(), || "classes".into())?;
        if !self.weights.is_empty() {
            check_length(self.rows, self.weights.len(), || "weights".into())?;
        }
        if self.has_groups() {
            check_length(self.rows, self.groups.codes.len(), || "groups".into())?;
        }
        self.columns.iter().enumerate().try_for_each(|(position, column)| {
            check_length(self.rows, column.len(), || format!("values in column {}", name(position)))
        })
    }

    /// A batch from rows of strings, with `None` where a value is missing; for small tables written by hand. The first row
    /// says how many columns there are.
    ///
    /// ```
    /// let batch = priory::Batch::from_rows(&[("yes", &[Some("sunny"), None])]);
    /// assert_eq!((batch.rows, batch.columns.len()), (1, 2));
    /// ```
    pub fn from_rows<'a, R: AsRef<[Option<&'a str>]>>(rows: &[(&str, R)]) -> Self {
        let classes = rows.iter().map(|&(class, _)| Some(class)).collect();
        let width = rows.first().map_or(0, |(_, values)| values.as_ref().len());
        let column = |i: usize| rows.iter().map(move |(_, values)| values.as_ref().get(i).copied().flatten());
        let columns = (0..width).map(|i| BatchColumn::Category(column(i).collect())).collect();
        Batch { first_row: 1, rows: rows.len(), classes, columns, ..Batch::default() }
    }

    /// Appends rows of another batch with columns of the same kinds.
    pub(crate) fn append(&mut self, from: &Batch, rows: &[usize]) {
        if !(self.weights.is_empty() && from.weights.is_empty()) {
            self.weights.resize(self.rows, 1.0);
            self.weights.extend(rows.iter().map(|&row| from.weight(row)));
        }
        if self.has_groups() || from.has_groups() {
            self.groups.codes.resize(self.rows, MISSING);
            self.groups.append(&from.groups, if from.has_groups() { rows } else { &[] });
            self.groups.codes.resize(self.rows + rows.len(), MISSING);
        }
        self.classes.append(&from.classes, rows);
        self.columns.iter_mut().zip(&from.columns).for_each(|(ours, theirs)| ours.append(theirs, rows));
        self.rows += rows.len();
    }

    /// Removes the rows but keeps the memory. The next row follows the last of this batch.
    pub fn clear(&mut self) {
        self.first_row += self.rows as u64;
        self.rows = 0;
        self.classes.clear();
        self.weights.clear();
        self.groups.clear();
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
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// Whether it is said which rows depend on each other.
    pub fn has_groups(&self) -> bool {
        !self.groups.codes.is_empty()
    }

    /// The group of a row, if it has one.
    pub fn group(&self, row: usize) -> Option<&str> {
        self.has_groups().then(|| self.groups.value(row)).flatten()
    }

    /// The number of a row in its source, counted from 1.
    pub fn row_number(&self, row: usize) -> u64 {
        self.first_row + row as u64
    }

    /// Roughly how many bytes the rows take.
    pub fn memory(&self) -> usize {
        let column = |column: &BatchColumn| match column {
            BatchColumn::Category(column) => column.memory(),
            BatchColumn::Number(values) => size_of_val(&values[..]),
            BatchColumn::Text(documents) => documents.memory(),
        };
        let columns: usize = self.columns.iter().map(column).sum();
        columns + self.classes.memory() + self.groups.memory() + size_of_val(&self.weights[..])
    }

    /// The rows at these positions, in this order. They are numbered anew.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select(&self, rows: &[usize]) -> Batch {
        Batch {
            first_row: self.first_row,
            rows: rows.len(),
            classes: self.classes.select(rows),
            weights: if self.weights.is_empty() { Vec::new() } else { pick(&self.weights, rows) },
            groups: if self.has_groups() { self.groups.select(rows) } else { CategoryColumn::default() },
            columns: self.columns.iter().map(|column| column.select(rows)).collect(),
        }
    }

    /// The rows one after the other, in batches of at most this many; each is numbered as it is here. A batch that is small
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
            groups: self.groups.clone(),
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
    /// A column without rows, for what is counted like this.
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Category | Kind::Joint => BatchColumn::Category(CategoryColumn::default()),
            Kind::Number | Kind::Moments | Kind::Group => BatchColumn::Number(Vec::new()),
            Kind::Text => BatchColumn::Text(TextColumn::default()),
        }
    }

    /// Whether it is what [`new`](Self::new) would make, but for the rows.
    fn is_for(&self, kind: Kind) -> bool {
        match self {
            BatchColumn::Category(_) => matches!(kind, Kind::Category | Kind::Joint),
            BatchColumn::Number(_) => matches!(kind, Kind::Number | Kind::Moments | Kind::Group),
            BatchColumn::Text(_) => kind == Kind::Text,
        }
    }

    /// How many rows there are.
    fn len(&self) -> usize {
        match self {
            BatchColumn::Category(column) => column.codes.len(),
            BatchColumn::Number(values) => values.len(),
            BatchColumn::Text(column) => column.rows(),
        }
    }

    /// What it holds, for messages.
    fn holds(&self) -> &'static str {
        match self {
            BatchColumn::Category(_) => "strings",
            BatchColumn::Number(_) => "numbers",
            BatchColumn::Text(_) => "documents",
        }
    }

    /// Refuses a value that cannot be [pushed](Self::push).
    fn check_value(&self, value: &Value<'_>, position: usize) -> Result<()> {
        let found = match (self, value) {
            (_, Value::Missing)
            | (BatchColumn::Category(_), Value::Category(_))
            | (BatchColumn::Number(_), Value::Number(_))
            | (BatchColumn::Text(_), Value::Text(_)) => return Ok(()),
            (_, Value::Category(_)) => "a string",
            (_, Value::Number(_)) => "a number",
            (_, Value::Text(_)) => "a document",
        };
        Err(Error::RowKind { column: 1 + position, found, expected: self.holds() })
    }

    /// Appends a row. A value of another kind would be missing.
    fn push(&mut self, value: &Value<'_>) {
        match (self, value) {
            (BatchColumn::Category(column), Value::Category(value)) => column.push(Some(value)),
            (BatchColumn::Category(column), _) => column.push(None),
            (BatchColumn::Number(values), Value::Number(value)) => values.push(*value),
            (BatchColumn::Number(values), _) => values.push(f64::NAN),
            (BatchColumn::Text(column), Value::Text(tokens)) => {
                tokens.iter().for_each(|token| column.add(token));
                column.end_document();
            }
            (BatchColumn::Text(column), _) => column.push_missing(),
        }
    }

    fn select(&self, rows: &[usize]) -> BatchColumn {
        match self {
            BatchColumn::Category(column) => BatchColumn::Category(column.select(rows)),
            BatchColumn::Number(values) => BatchColumn::Number(pick(values, rows)),
            BatchColumn::Text(column) => BatchColumn::Text(column.select(rows)),
        }
    }

    /// Appends rows of a column of the same kind. What another kind holds would be missing.
    fn append(&mut self, from: &BatchColumn, rows: &[usize]) {
        match (self, from) {
            (BatchColumn::Category(ours), BatchColumn::Category(theirs)) => ours.append(theirs, rows),
            (BatchColumn::Number(ours), BatchColumn::Number(theirs)) => {
                ours.extend(rows.iter().map(|&row| theirs[row]));
            }
            (BatchColumn::Text(ours), BatchColumn::Text(theirs)) => ours.append(theirs, rows),
            (ours, _) => ours.resize(ours.len() + rows.len()),
        }
    }

    /// Sets the number of rows; new ones are missing.
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

/// Refuses a batch in which something does not have one entry for each of its rows.
pub(crate) fn check_length(rows: usize, found: usize, what: impl FnOnce() -> String) -> Result<()> {
    if rows == found { Ok(()) } else { Err(Error::BatchLength { rows, found, what: what() }) }
}

impl<'a> FromIterator<Option<&'a str>> for CategoryColumn {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(values: I) -> Self {
        let mut column = CategoryColumn::default();
        values.into_iter().for_each(|value| column.push(value));
        column
    }
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

    fn check_codes(&self, name: &str) -> Result<()> {
        let (values, largest) = (self.values.len(), self.codes.iter().copied().max().unwrap_or(MISSING));
        if largest as usize > values {
            return Err(Error::Code { column: name.to_owned(), code: largest, values });
        }
        Ok(())
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
        selected.append(self, rows);
        selected
    }

    fn append(&mut self, from: &CategoryColumn, rows: &[usize]) {
        // Our codes of their values, as far as they have occurred.
        let mut code_of = vec![MISSING; from.values.len() + 1];
        self.codes.reserve(rows.len());
        for &row in rows {
            let theirs = from.codes[row];
            if theirs != MISSING && code_of[theirs as usize] == MISSING {
                code_of[theirs as usize] =
                    self.values.intern(from.values.name(theirs as usize - 1)) as u32 + 1;
            }
            self.codes.push(code_of[theirs as usize]);
        }
    }
}

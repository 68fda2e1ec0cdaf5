//! Several rows, column by column, as a reader hands them over.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::schema::{Kind, Schema};
use crate::vocabulary::{AskedName, ShortName, Vocabulary};

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
    /// Columns of the table that only pass through; nothing here looks at them.
    pub kept: Vec<KeptColumn>,
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

/// A column of documents: for each row the tokens that occur in it, in the order in which they first occur, and how
/// often they do.
///
/// ```
/// let mut column = priory::TextColumn::default();
/// ["to", "be", "or", "not", "to", "be"].into_iter().for_each(|token| column.add(token));
/// column.end_document();
/// column.push_missing();
/// let counts: Vec<(&str, u32)> =
///     column.document(0).unwrap().iter().map(|&(token, n)| (column.tokens().name(token as usize), n)).collect();
/// assert_eq!(counts, [("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
/// assert!(column.document(1).is_none());
/// ```
#[derive(Debug, Default)]
pub struct TextColumn {
    /// The tokens that occur in the documents that have ended, and perhaps others.
    tokens: Vocabulary,
    /// The tokens that it starts with, whatever is read.
    start: Option<Arc<Vocabulary>>,
    series: Series,
    /// Token and number of occurrences, document after document.
    entries: Vec<(u32, u32)>,
    /// For each row where its entries end, and whether it has a document at all.
    rows: Vec<(usize, bool)>,
    /// How many entries there were in earlier batches of these tokens. The mark of a token is the number of its last
    /// entry among all of them, counted from 1: what is not above the entries of earlier documents is none of this one.
    earlier: usize,
    waiting: Waiting,
    /// What was read, row by row, if it is wanted: see [`keep_documents`](Self::keep_documents).
    written: Option<Vec<String>>,
}

/// Tokens of the document that is being read and that were not looked up yet: one by one, each would wait for the memory
/// by itself.
#[derive(Debug, Clone)]
struct Waiting {
    names: Box<[AskedName; 64]>,
    /// How many of these places are taken.
    count: usize,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting { names: Box::new([AskedName::default(); 64]), count: 0 }
    }
}

/// Which tokens the numbers of a column stand for. It stays the same while tokens are only added, from one batch to the
/// next: whoever has looked some up need not do it again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series(Arc<()>);

impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A column of strings: each row holds the code of a value, 0 for missing, i + 1 for the i-th value.
#[derive(Debug, Clone, Default)]
pub struct CategoryColumn {
    /// The values that occur in this batch.
    pub values: Vocabulary,
    /// One code per row.
    pub codes: Vec<u32>,
}

/// A column of strings as they stand in the table, one after the other.
#[derive(Debug, Clone, Default)]
pub struct KeptColumn {
    text: String,
    ends: Vec<usize>,
    missing: Vec<bool>,
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
        self.kept.iter_mut().for_each(KeptColumn::clear);
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
        let kept: usize = self.kept.iter().map(KeptColumn::memory).sum();
        columns + kept + self.classes.memory() + size_of_val(&self.weights[..])
    }

    /// The rows at these positions, in this order. They are numbered anew.
    pub fn select(&self, rows: &[usize]) -> Batch {
        Batch {
            first_row: self.first_row,
            rows: rows.len(),
            classes: self.classes.select(rows),
            weights: if self.weights.is_empty() { Vec::new() } else { pick(&self.weights, rows) },
            columns: self.columns.iter().map(|column| column.select(rows)).collect(),
            kept: self.kept.iter().map(|column| column.select(rows)).collect(),
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
            kept: self.kept.clone(),
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

impl KeptColumn {
    /// Appends a row.
    #[inline]
    pub fn push(&mut self, value: Option<&str>) {
        self.text.push_str(value.unwrap_or_default());
        self.ends.push(self.text.len());
        self.missing.push(value.is_none());
    }

    /// The string in a row, unless it is missing.
    #[inline]
    pub fn value(&self, row: usize) -> Option<&str> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        (!self.missing[row]).then(|| &self.text[start..self.ends[row]])
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.missing.clear();
    }

    fn memory(&self) -> usize {
        self.text.len() + size_of_val(&self.ends[..]) + self.missing.len()
    }

    fn select(&self, rows: &[usize]) -> KeptColumn {
        let mut selected = KeptColumn::default();
        rows.iter().for_each(|&row| selected.push(self.value(row)));
        selected
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

impl Clone for TextColumn {
    /// The copy may get other tokens than the original, so it has a series of its own.
    fn clone(&self) -> Self {
        TextColumn {
            tokens: self.tokens.clone(),
            start: self.start.clone(),
            series: Series::default(),
            entries: self.entries.clone(),
            rows: self.rows.clone(),
            earlier: self.earlier,
            waiting: self.waiting.clone(),
            written: self.written.clone(),
        }
    }
}

impl TextColumn {
    /// Documents whose tokens were counted elsewhere, as the rows of a sparse matrix: document i has the entries from
    /// `ends[i - 1]` up to `ends[i]`, each the number of a token among `tokens` and how often it occurs.
    ///
    /// ```
    /// use priory::{TextColumn, Vocabulary};
    ///
    /// let tokens: Vocabulary = ["be", "not", "or", "to"].into_iter().collect();
    /// let column = TextColumn::from_counts(tokens, &[2, 2, 4], &[0, 3, 1, 2], &[2, 2, 1, 1])?;
    /// assert_eq!(column.document(0), Some(&[(0, 2), (3, 2)][..]));
    /// assert_eq!(column.document(1), Some(&[][..]));
    /// # Ok::<(), priory::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the entries of a document are not in ascending order of its tokens, each of which occurs once, if a token is not
    /// among `tokens`, or if the lengths do not fit. Entries that count zero are left out.
    pub fn from_counts(
        tokens: Vocabulary,
        ends: &[usize],
        ids: &[u32],
        counts: &[u32],
    ) -> Result<TextColumn> {
        let refused = |row: usize, what| Err(Error::Counts { row: 1 + row as u64, what });
        if ids.len() != counts.len() || ends.last().copied().unwrap_or(0) != ids.len() {
            return refused(ends.len().max(1) - 1, "the entries do not end where the last document does");
        }
        let mut column = TextColumn { tokens, ..TextColumn::default() };
        column.tokens.unmark();
        column.entries.reserve_exact(ids.len());
        let mut start = 0;
        for (row, &end) in ends.iter().enumerate() {
            let Some(of_row) = ids.get(start..end) else {
                return refused(row, "it ends before it begins, or after all entries");
            };
            if !of_row.is_sorted_by(|a, b| a < b) {
                return refused(row, "its tokens are not in ascending order, each of them once");
            }
            if of_row.last().is_some_and(|&id| id as usize >= column.tokens.len()) {
                return refused(row, "it has a token without a name");
            }
            let entries = of_row.iter().copied().zip(counts[start..end].iter().copied());
            column.entries.extend(entries.filter(|&(_, count)| count > 0));
            column.rows.push((column.entries.len(), true));
            start = end;
        }
        Ok(column)
    }

    /// A column without rows whose first tokens are these, in this order: whoever knows them needs to look up no others.
    pub(crate) fn starting_with(tokens: &Arc<Vocabulary>, order: &Arc<[u32]>) -> TextColumn {
        TextColumn {
            tokens: tokens.with_first(order),
            start: Some(Arc::clone(tokens)),
            ..TextColumn::default()
        }
    }

    /// Whether the first tokens are these, in this order.
    pub(crate) fn starts_with(&self, tokens: &Arc<Vocabulary>) -> bool {
        self.start.as_ref().is_some_and(|start| Arc::ptr_eq(start, tokens))
    }

    /// The tokens that occur in the documents that have ended, and perhaps others.
    pub fn tokens(&self) -> &Vocabulary {
        &self.tokens
    }

    pub(crate) fn series(&self) -> &Series {
        &self.series
    }

    fn memory(&self) -> usize {
        let written = self.written.iter().flatten().map(String::len).sum::<usize>();
        self.tokens.memory() + size_of_val(&self.entries[..]) + size_of_val(&self.rows[..]) + written
    }

    /// Keeps every document as it was written, besides its tokens; only explanations want that.
    pub fn keep_documents(&mut self) {
        self.written.get_or_insert_default();
    }

    /// Whether documents are kept as they were written.
    pub fn keeps_documents(&self) -> bool {
        self.written.is_some()
    }

    /// Adds a token to the document that is being read.
    #[inline]
    pub fn add(&mut self, token: &str) {
        match ShortName::new(token) {
            Some(name) => self.add_short(name),
            None => self.add_long(token),
        }
    }

    /// Adds a token that is short, as most are.
    #[inline(always)]
    pub fn add_short(&mut self, token: ShortName) {
        let name = self.tokens.ask(token);
        if let Some(place) = self.waiting.names.get_mut(self.waiting.count) {
            *place = name;
        } else {
            self.count_waiting();
            self.waiting.names[0] = name;
        }
        self.waiting.count += 1;
    }

    fn add_long(&mut self, token: &str) {
        self.count_waiting();
        let mut counter = Counter::new(&mut self.entries, &self.rows, self.earlier, 1);
        counter.count(self.tokens.intern_marked(token));
        counter.finish();
    }

    #[inline(never)]
    fn count_waiting(&mut self) {
        let waiting = &self.waiting.names[..std::mem::take(&mut self.waiting.count)];
        self.tokens.make_room(waiting.len());
        let mut counter = Counter::new(&mut self.entries, &self.rows, self.earlier, waiting.len());
        for name in waiting {
            counter.count(self.tokens.intern_asked(name));
        }
        counter.finish();
    }

    /// Ends the document of this row; the next token belongs to the next one.
    pub fn end_document(&mut self) {
        self.end_written("");
    }

    /// Ends the document of this row, which was written like this.
    pub fn end_written(&mut self, document: &str) {
        self.count_waiting();
        self.rows.push((self.entries.len(), true));
        self.keep(document);
    }

    /// Appends a row without a document.
    pub fn push_missing(&mut self) {
        self.count_waiting();
        self.rows.push((self.entries.len(), false));
        self.keep("");
    }

    fn keep(&mut self, document: &str) {
        if let Some(written) = &mut self.written {
            written.push(document.to_owned());
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The tokens of a row and how often each occurs; `None` if there is no document.
    #[inline]
    pub fn document(&self, row: usize) -> Option<&[(u32, u32)]> {
        let start = if row == 0 { 0 } else { self.rows[row - 1].0 };
        let (end, known) = self.rows[row];
        known.then(|| &self.entries[start..end])
    }

    /// The tokens of some rows, one document after the other.
    pub(crate) fn entries(&self, rows: Range<usize>) -> &[(u32, u32)] {
        let end_of = |rows: usize| if rows == 0 { 0 } else { self.rows[rows - 1].0 };
        &self.entries[end_of(rows.start)..end_of(rows.end)]
    }

    /// The document of a row as it was written, if that was kept.
    pub fn written(&self, row: usize) -> Option<&str> {
        self.written.as_ref().map(|written| written[row].as_str())
    }

    /// Removes the documents. The next ones will mostly have the same tokens, so these stay until there are too many.
    fn clear(&mut self) {
        const MOST_TOKENS_KEPT: usize = 1 << 18;
        const MOST_BYTES_KEPT: usize = 1 << 22;
        let (tokens, bytes) = self.start.as_ref().map_or((0, 0), |start| (start.len(), start.bytes()));
        if self.tokens.len() - tokens > MOST_TOKENS_KEPT || self.tokens.bytes() - bytes > MOST_BYTES_KEPT {
            self.tokens.truncate(tokens);
            self.series = Series::default();
        }
        self.earlier += self.entries.len();
        if self.earlier > u32::MAX as usize / 2 {
            self.tokens.unmark();
            self.earlier = 0;
        }
        self.entries.clear();
        self.rows.clear();
        self.waiting.count = 0;
        self.written.iter_mut().for_each(Vec::clear);
    }

    pub(crate) fn select(&self, rows: &[usize]) -> TextColumn {
        let mut selected = TextColumn::default();
        if self.written.is_some() {
            selected.keep_documents();
        }
        for &row in rows {
            let Some(document) = self.document(row) else {
                selected.push_missing();
                continue;
            };
            for &(token, count) in document {
                let id = selected.tokens.intern(self.tokens.name(token as usize));
                selected.entries.push((id as u32, count));
            }
            selected.end_written(self.written(row).unwrap_or_default());
        }
        selected
    }
}

/// Counts occurrences of tokens in the document that is being read.
struct Counter<'a> {
    entries: &'a mut Vec<(u32, u32)>,
    /// How many of the entries are in use.
    used: usize,
    /// Entries of earlier batches.
    earlier: usize,
    /// Tokens with a mark above this have an entry in the document.
    before: usize,
}

impl<'a> Counter<'a> {
    /// For so many tokens.
    fn new(entries: &'a mut Vec<(u32, u32)>, rows: &[(usize, bool)], earlier: usize, tokens: usize) -> Self {
        let used = entries.len();
        entries.resize(used + tokens, (0, 0));
        assert!(
            earlier + entries.len() <= u32::MAX as usize,
            "a batch of so many tokens does not fit into memory"
        );
        Counter { entries, used, earlier, before: earlier + rows.last().map_or(0, |&(end, _)| end) }
    }

    /// Counts a token, given with its mark. Whether it is new in the document nobody can foresee, so no step depends on it.
    #[inline(always)]
    fn count(&mut self, (id, mark): (usize, &mut u32)) {
        let new = *mark as usize <= self.before;
        let place = if new { self.used } else { *mark as usize - self.earlier - 1 };
        let (token, occurrences) = &mut self.entries[place];
        *token = id as u32;
        *occurrences = occurrences.saturating_add(1);
        *mark = (self.earlier + place + 1) as u32;
        self.used += usize::from(new);
    }

    fn finish(self) {
        self.entries.truncate(self.used);
    }
}

//! A column of documents, and how their tokens are counted while they are read.
//!
//! Reading text spends much of its time here, and most of that waiting for memory: looking up a token lands anywhere in a
//! large table. So tokens are looked up some dozens at a time, and the table itself says where a token was counted last.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::vocabulary::{AskedName, ShortName, Vocabulary};

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
    numbering: TokenNumbering,
    /// Token and number of occurrences, document after document.
    entries: Vec<(u32, u32)>,
    /// For each row where its entries end, and whether it has a document at all.
    rows: Vec<(usize, bool)>,
    /// How many entries were removed by [`clear`](Self::clear) since the marks of the tokens were last set to zero.
    cleared_entries: usize,
    pending: PendingTokens,
    /// The documents as they were written, if they are wanted: see [`keep_documents`](Self::keep_documents).
    originals: Option<Vec<String>>,
}

/// Tokens of the document that is being read which were not looked up yet. Together they wait for the memory once; looked
/// up one by one, each would wait by itself.
#[derive(Debug, Clone)]
struct PendingTokens {
    names: Box<[AskedName; 64]>,
    /// How many of these places are taken.
    count: usize,
}

impl Default for PendingTokens {
    fn default() -> Self {
        PendingTokens { names: Box::new([AskedName::default(); 64]), count: 0 }
    }
}

/// Identifies which token each number of a column stands for. Two columns that are equal in this agree about all tokens
/// that both have. The numbering stays the same from one batch to the next as long as tokens are only added, so that
/// whoever has looked tokens up for one batch need not look them up again for the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenNumbering(Arc<()>);

impl PartialEq for TokenNumbering {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Clone for TextColumn {
    /// The copy may get other tokens than the original, so it has a numbering of its own.
    fn clone(&self) -> Self {
        TextColumn {
            tokens: self.tokens.clone(),
            start: self.start.clone(),
            numbering: TokenNumbering::default(),
            entries: self.entries.clone(),
            rows: self.rows.clone(),
            cleared_entries: self.cleared_entries,
            pending: self.pending.clone(),
            originals: self.originals.clone(),
        }
    }
}

impl TextColumn {
    /// Documents whose tokens were counted elsewhere, as the rows of a sparse matrix: document i has the entries from
    /// `ends[i - 1]` up to `ends[i]`, each the number of a token among `tokens` and how often it occurs.
    ///
    /// ```
    /// use priory::TextColumn;
    /// use priory::vocabulary::Vocabulary;
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

    /// Takes away the document of a row, which must be empty; returns whether there was such a document.
    pub(crate) fn remove_document(&mut self, row: usize) -> bool {
        let is_empty = row < self.rows.len() && self.document(row).is_some_and(<[_]>::is_empty);
        if is_empty {
            self.rows[row].1 = false;
        }
        is_empty
    }

    /// Puts the tokens of every document in the order of their bytes, so that documents with the same tokens are the same.
    pub(crate) fn sort_documents(&mut self) {
        let mut place_of = vec![0_u32; self.tokens.len()];
        (0..).zip(self.tokens.sorted_by_bytes()).for_each(|(place, id)| place_of[id] = place);
        let mut start = 0;
        for &(end, _) in &self.rows {
            self.entries[start..end].sort_unstable_by_key(|&(token, _)| place_of[token as usize]);
            start = end;
        }
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

    pub(crate) fn numbering(&self) -> &TokenNumbering {
        &self.numbering
    }

    pub(super) fn memory(&self) -> usize {
        let originals = self.originals.iter().flatten().map(String::len).sum::<usize>();
        self.tokens.memory() + size_of_val(&self.entries[..]) + size_of_val(&self.rows[..]) + originals
    }

    /// Keeps every document as it was written, besides its tokens; only explanations want that.
    pub fn keep_documents(&mut self) {
        self.originals.get_or_insert_default();
    }

    /// Whether documents are kept as they were written.
    pub fn keeps_documents(&self) -> bool {
        self.originals.is_some()
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
        if let Some(place) = self.pending.names.get_mut(self.pending.count) {
            *place = name;
        } else {
            self.count_pending();
            self.pending.names[0] = name;
        }
        self.pending.count += 1;
    }

    fn add_long(&mut self, token: &str) {
        self.count_pending();
        let mut counter = Counter::new(&mut self.entries, &self.rows, self.cleared_entries, 1);
        counter.count(self.tokens.intern_marked(token));
        counter.finish();
    }

    #[inline(never)]
    fn count_pending(&mut self) {
        let pending = &self.pending.names[..std::mem::take(&mut self.pending.count)];
        self.tokens.make_room(pending.len());
        let mut counter = Counter::new(&mut self.entries, &self.rows, self.cleared_entries, pending.len());
        for name in pending {
            counter.count(self.tokens.intern_asked(name));
        }
        counter.finish();
    }

    /// Ends the document of this row; the next token belongs to the next one.
    pub fn end_document(&mut self) {
        self.end_document_written("");
    }

    /// Ends the document of this row, and keeps how it was written if [that is wanted](Self::keep_documents).
    pub fn end_document_written(&mut self, original: &str) {
        self.count_pending();
        self.rows.push((self.entries.len(), true));
        self.keep_original(original);
    }

    /// Appends a row without a document.
    pub fn push_missing(&mut self) {
        self.count_pending();
        self.rows.push((self.entries.len(), false));
        self.keep_original("");
    }

    fn keep_original(&mut self, original: &str) {
        if let Some(originals) = &mut self.originals {
            originals.push(original.to_owned());
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

    /// The document of a row as it was written, if that was [kept](Self::keep_documents).
    pub fn original(&self, row: usize) -> Option<&str> {
        self.originals.as_ref().map(|originals| originals[row].as_str())
    }

    /// Removes the documents. The next ones will mostly have the same tokens, so these stay until there are too many.
    pub(super) fn clear(&mut self) {
        const MOST_TOKENS_KEPT: usize = 1 << 18;
        const MOST_BYTES_KEPT: usize = 1 << 22;
        let (tokens, bytes) = self.start.as_ref().map_or((0, 0), |start| (start.len(), start.bytes()));
        if self.tokens.len() - tokens > MOST_TOKENS_KEPT || self.tokens.bytes() - bytes > MOST_BYTES_KEPT {
            self.tokens.truncate(tokens);
            self.numbering = TokenNumbering::default();
        }
        self.cleared_entries += self.entries.len();
        if self.cleared_entries > u32::MAX as usize / 2 {
            self.tokens.unmark();
            self.cleared_entries = 0;
        }
        self.entries.clear();
        self.rows.clear();
        self.pending.count = 0;
        self.originals.iter_mut().for_each(Vec::clear);
    }

    pub(crate) fn select(&self, rows: &[usize]) -> TextColumn {
        let mut selected = TextColumn::default();
        if self.keeps_documents() {
            selected.keep_documents();
        }
        selected.append(self, rows);
        selected
    }

    /// The same documents without some tokens.
    pub(crate) fn without(&self, is_left_out: impl Fn(&str) -> bool) -> TextColumn {
        let mut rest = TextColumn::default();
        let mut number_of: Vec<Option<u32>> = Vec::with_capacity(self.tokens.len());
        for name in self.tokens.names() {
            number_of.push((!is_left_out(name)).then(|| rest.tokens.push_new(name) as u32));
        }
        for row in 0..self.rows() {
            match self.document(row) {
                None => rest.push_missing(),
                Some(document) => {
                    let kept = document.iter();
                    rest.entries.extend(kept.filter_map(|&(token, n)| Some((number_of[token as usize]?, n))));
                    rest.end_document();
                }
            }
        }
        rest
    }

    pub(super) fn append(&mut self, from: &TextColumn, rows: &[usize]) {
        for &row in rows {
            let Some(document) = from.document(row) else {
                self.push_missing();
                continue;
            };
            for &(token, count) in document {
                let id = self.tokens.intern(from.tokens.name(token as usize));
                self.entries.push((id as u32, count));
            }
            self.end_document_written(from.original(row).unwrap_or_default());
        }
    }
}

/// Counts occurrences of tokens in the document that is being read.
///
/// All entries are numbered from 1, through all batches. The vocabulary remembers for each token, as its mark, the number of
/// the last entry that it got. The entries of the current document have the highest numbers, so a token has an entry there
/// if its mark is higher than the number of entries of all documents before.
struct Counter<'a> {
    entries: &'a mut Vec<(u32, u32)>,
    /// How many of the entries are in use.
    used: usize,
    /// How many entries there were in earlier batches.
    cleared: usize,
    /// How many entries there were in earlier documents, those of earlier batches included.
    before_document: usize,
}

impl<'a> Counter<'a> {
    /// Makes room for this many tokens.
    fn new(entries: &'a mut Vec<(u32, u32)>, rows: &[(usize, bool)], cleared: usize, tokens: usize) -> Self {
        let used = entries.len();
        entries.resize(used + tokens, (0, 0));
        assert!(
            cleared + entries.len() <= u32::MAX as usize,
            "a batch of so many tokens does not fit into memory"
        );
        let before_document = cleared + rows.last().map_or(0, |&(end, _)| end);
        Counter { entries, used, cleared, before_document }
    }

    /// Counts a token, given with its mark. Whether it is new in the document cannot be predicted, by the processor either,
    /// so there is no branch on it.
    #[inline(always)]
    fn count(&mut self, (id, mark): (usize, &mut u32)) {
        let new = *mark as usize <= self.before_document;
        let place = if new { self.used } else { *mark as usize - self.cleared - 1 };
        let (token, occurrences) = &mut self.entries[place];
        *token = id as u32;
        *occurrences = occurrences.saturating_add(1);
        *mark = (self.cleared + place + 1) as u32;
        self.used += usize::from(new);
    }

    fn finish(self) {
        self.entries.truncate(self.used);
    }
}

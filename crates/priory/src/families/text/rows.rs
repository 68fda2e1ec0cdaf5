//! The logarithms of tokens as rows of a table, for models whose tokens occur in many of the classes.

use crate::lines::{Line, Lines, lines_for};
use crate::moments::engine::{ask, vectorized};

/// For each token a row: its default, 1, and its extra in each class. The sum of these rows over the tokens of a
/// document, each times its count, is all that is needed to score the document.
#[derive(Debug, Clone)]
pub(crate) struct TokenRows(Lines);

const DEFAULT: usize = 0;
const ONE: usize = 1;
/// Where the extras of a row begin.
const EXTRAS: usize = 2;

impl TokenRows {
    /// Whether rows take little memory, and not many times as much as lists of this many cells.
    pub(crate) fn suit(tokens: usize, classes: usize, cells: usize) -> bool {
        const MOST_LINES: usize = (128 << 20) / size_of::<Line>();
        const TIMES: usize = 4;
        let lines = lines_for(EXTRAS + classes) * tokens;
        lines <= MOST_LINES && 8 * lines <= TIMES * (cells + tokens)
    }

    /// A table with room for this many tokens and one more row.
    pub(crate) fn with_room(tokens: usize, classes: usize) -> Self {
        TokenRows(Lines::with_room(tokens + 1, EXTRAS + classes))
    }

    /// Appends a token with its default, which it adds in every class.
    pub(crate) fn push(&mut self, default: f64) {
        let token = self.0.rows();
        self.0.push();
        self.0.set(token, DEFAULT, default);
        self.0.set(token, ONE, 1.0);
    }

    /// Sets the extra of the last token in one class.
    #[inline]
    pub(crate) fn set_extra(&mut self, class: usize, extra: f64) {
        self.0.set(self.0.rows() - 1, EXTRAS + class, extra);
    }

    /// Ends the table, with a row that adds nothing.
    pub(crate) fn end(&mut self) {
        self.0.push();
    }

    pub(crate) fn default(&self, token: usize) -> f64 {
        self.0.get(token, DEFAULT)
    }

    /// What a token adds to its default in a class.
    pub(crate) fn extra(&self, token: usize, class: usize) -> f64 {
        self.0.get(token, EXTRAS + class)
    }

    /// Adds up documents, given the entries of their tokens, where the entries of each document end, and what each
    /// entry counts; if that is empty, each counts 1. A token without a row adds nothing. The results are kept in
    /// `sums`.
    pub(crate) fn add_up(&self, entries: &[(u32, u32)], ends: &[usize], amounts: &[f64], sums: &mut RowSums) {
        sums.of_all.clear();
        sums.of_all.resize(ends.len() * self.0.width(), Line::default());
        let work = AddUp { rows: &self.0, entries, ends, amounts, sums: &mut sums.of_all };
        vectorized(
            #[inline(always)]
            // With few lines, the sums stay in registers.
            move || match work.rows.width() {
                1 => work.add_up_few::<1>(),
                2 => work.add_up_few::<2>(),
                3 => work.add_up_few::<3>(),
                4 => work.add_up_few::<4>(),
                _ => work.add_up_many(),
            },
        );
    }

    /// What [`add_up`](Self::add_up) has found for a document: Σ x, Σ x default, and Σ x extra of each class, and some zeros.
    pub(crate) fn sums_of<'a>(&self, sums: &'a mut RowSums, document: usize) -> (f64, f64, &'a [f64]) {
        sums.of_document.clear();
        for Line(line) in &sums.of_all[document * self.0.width()..][..self.0.width()] {
            sums.of_document.extend_from_slice(line);
        }
        (sums.of_document[ONE], sums.of_document[DEFAULT], &sums.of_document[EXTRAS..])
    }
}

/// Sums of rows.
#[derive(Default)]
pub(crate) struct RowSums {
    of_all: Vec<Line>,
    /// Those of one document, one after the other.
    of_document: Vec<f64>,
}

struct AddUp<'a> {
    rows: &'a Lines,
    entries: &'a [(u32, u32)],
    ends: &'a [usize],
    amounts: &'a [f64],
    sums: &'a mut [Line],
}

impl<'a> AddUp<'a> {
    /// Rows of `WIDTH` lines.
    #[inline(always)]
    fn add_up_few<const WIDTH: usize>(self) {
        let rows = self.rows.of_width::<WIDTH>();
        let last = rows.len() - 1;
        let mut tokens = self.tokens(|token| &rows[token.min(last)][..]);
        let mut start = 0;
        for (document, &end) in self.sums.as_chunks_mut::<WIDTH>().0.iter_mut().zip(self.ends) {
            let mut sums = [Line::default(); WIDTH];
            for (amount, row) in tokens.by_ref().take(end - start) {
                sums.iter_mut().zip(row).for_each(|(sum, line)| sum.add(amount, line));
            }
            *document = sums;
            start = end;
        }
    }

    #[inline(always)]
    fn add_up_many(self) {
        let last = self.rows.rows() - 1;
        let mut tokens = self.tokens(|token| self.rows.row(token.min(last)));
        let mut start = 0;
        for (sums, &end) in self.sums.chunks_exact_mut(self.rows.width()).zip(self.ends) {
            for (amount, row) in tokens.by_ref().take(end - start) {
                sums.iter_mut().zip(row).for_each(|(sum, line)| sum.add(amount, line));
            }
            start = end;
        }
    }

    /// What each token counts, and its row. Rows are needed in random order, so each is prefetched several tokens
    /// ahead.
    #[inline(always)]
    fn tokens<R: Fn(usize) -> &'a [Line]>(
        &self,
        row: R,
    ) -> impl Iterator<Item = (f64, &'a [Line])> + use<'a, R> {
        const AHEAD: usize = 32;
        let mut amounts = self.amounts.iter();
        let mut later = self.entries.iter().skip(AHEAD);
        self.entries.iter().map(move |&(token, _)| {
            if let Some(&(later, _)) = later.next() {
                ask(row(later as usize));
            }
            (amounts.next().copied().unwrap_or(1.0), row(token as usize))
        })
    }
}

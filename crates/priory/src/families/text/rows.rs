//! The logarithms of tokens as rows of a table, for models whose tokens occur in many of the classes.

use crate::lines::{Line, Lines, lines_for};
use crate::moments::engine::{Loop, ask, vectorized};

/// For each token a row: its default, 1, and its extra in each class. The sum of a document's rows, each times what its
/// token counts there, is all that has to be known of the document.
#[derive(Debug, Clone)]
pub(crate) struct Rows(Lines);

const DEFAULT: usize = 0;
const ONE: usize = 1;
/// Where the extras of a row begin.
const EXTRAS: usize = 2;

impl Rows {
    /// Whether rows take little memory, and not many times as much as lists of so many cells.
    pub(crate) fn suit(tokens: usize, classes: usize, cells: usize) -> bool {
        const MOST_LINES: usize = (128 << 20) / size_of::<Line>();
        const TIMES: usize = 4;
        let lines = lines_for(EXTRAS + classes) * tokens;
        lines <= MOST_LINES && 8 * lines <= TIMES * (cells + tokens)
    }

    /// Room for so many tokens, and one more row.
    pub(crate) fn with_room(tokens: usize, classes: usize) -> Self {
        Rows(Lines::with_room(tokens + 1, EXTRAS + classes))
    }

    /// Appends a token, which adds so much in every class.
    pub(crate) fn push(&mut self, default: f64) {
        let token = self.0.rows();
        self.0.push();
        self.0.set(token, DEFAULT, default);
        self.0.set(token, ONE, 1.0);
    }

    /// Sets what the last token adds to that in one of them.
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

    /// Adds up one document after the other: the entries of their tokens, where those of each end, and what each counts,
    /// which is 1 if nothing is said. A token without a row adds nothing. The sums are kept in `sums`.
    pub(crate) fn add_up(&self, entries: &[(u32, u32)], ends: &[usize], amounts: &[f64], sums: &mut RowSums) {
        sums.0.clear();
        sums.0.resize(ends.len() * self.0.width(), Line::default());
        vectorized(AddUp { of: Entries { rows: &self.0, entries, amounts }, ends, sums: &mut sums.0 });
    }

    /// What [`add_up`](Self::add_up) has found for a document: Σ x, Σ x default, and Σ x extra of each class.
    pub(crate) fn sums_of<'a>(
        &self,
        sums: &'a RowSums,
        document: usize,
    ) -> (f64, f64, impl Iterator<Item = f64> + 'a) {
        let sums = &sums.0[document * self.0.width()..][..self.0.width()];
        (sums[0].0[ONE], sums[0].0[DEFAULT], sums.iter().flat_map(|line| line.0).skip(EXTRAS))
    }
}

/// Sums of rows.
#[derive(Default)]
pub(crate) struct RowSums(Vec<Line>);

struct AddUp<'a> {
    of: Entries<'a>,
    ends: &'a [usize],
    sums: &'a mut [Line],
}

/// The tokens of documents.
#[derive(Clone, Copy)]
struct Entries<'a> {
    rows: &'a Lines,
    entries: &'a [(u32, u32)],
    amounts: &'a [f64],
}

impl Loop for AddUp<'_> {
    #[inline(always)]
    fn run(self) {
        // Sums of few lines stay in registers.
        match self.of.rows.width() {
            1 => self.add_up::<1>(),
            2 => self.add_up::<2>(),
            3 => self.add_up::<3>(),
            4 => self.add_up::<4>(),
            _ => self.add_up_many(),
        }
    }
}

impl AddUp<'_> {
    /// Rows of `WIDTH` lines.
    #[inline(always)]
    fn add_up<const WIDTH: usize>(self) {
        let mut start = 0;
        for (document, &end) in self.sums.as_chunks_mut::<WIDTH>().0.iter_mut().zip(self.ends) {
            let mut sums = [Line::default(); WIDTH];
            for i in start..end {
                let (amount, row) = self.of.get(i);
                let row: &[Line; WIDTH] = row.try_into().expect("a row has as many lines");
                sums.iter_mut().zip(row).for_each(|(sum, line)| add(sum, amount, line));
            }
            *document = sums;
            start = end;
        }
    }

    #[inline(always)]
    fn add_up_many(self) {
        let mut start = 0;
        for (sums, &end) in self.sums.chunks_exact_mut(self.of.rows.width()).zip(self.ends) {
            for i in start..end {
                let (amount, row) = self.of.get(i);
                sums.iter_mut().zip(row).for_each(|(sum, line)| add(sum, amount, line));
            }
            start = end;
        }
    }
}

impl<'a> Entries<'a> {
    /// What the i-th token counts, and its row. Rows are needed in no order of theirs: one is asked for some tokens before.
    #[inline(always)]
    fn get(self, i: usize) -> (f64, &'a [Line]) {
        const AHEAD: usize = 32;
        if let Some(later) = self.entries.get(i + AHEAD) {
            ask(self.row(later));
        }
        (self.amounts.get(i).copied().unwrap_or(1.0), self.row(&self.entries[i]))
    }

    /// The row of a token, or the last, which adds nothing.
    #[inline(always)]
    fn row(self, &(token, _): &(u32, u32)) -> &'a [Line] {
        self.rows.row((token as usize).min(self.rows.rows() - 1))
    }
}

#[inline(always)]
fn add(sum: &mut Line, amount: f64, line: &Line) {
    sum.0.iter_mut().zip(line.0).for_each(|(sum, x)| *sum += amount * x);
}

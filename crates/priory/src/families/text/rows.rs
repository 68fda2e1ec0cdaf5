//! The logarithms of tokens as rows of a table, for models whose tokens occur in many of the classes.

use crate::moments::engine::{Loop, ask, vectorized};

/// As much as the memory delivers at a time.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line([f64; 8]);

/// For each token a row: its default, 1, and its extra in each class. The sum of a document's rows, each times what its
/// token counts there, is all that has to be known of the document.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    lines: Vec<Line>,
    /// Lines of a row.
    width: usize,
}

/// Where the extras of a row begin.
const EXTRAS: usize = 2;

fn width(classes: usize) -> usize {
    (EXTRAS + classes).div_ceil(8)
}

impl Rows {
    /// Whether rows take little memory, and not many times as much as lists of so many cells.
    pub(crate) fn suit(tokens: usize, classes: usize, cells: usize) -> bool {
        const MOST_LINES: usize = (128 << 20) / size_of::<Line>();
        const TIMES: usize = 4;
        let lines = width(classes) * tokens;
        lines <= MOST_LINES && 8 * lines <= TIMES * (cells + tokens)
    }

    /// Rows for so many tokens, to be set, and one more that adds nothing.
    pub(crate) fn new(tokens: usize, classes: usize) -> Self {
        let width = width(classes);
        Rows { lines: vec![Line::default(); (tokens + 1) * width], width }
    }

    /// Sets what a token adds in every class.
    pub(crate) fn set_default(&mut self, token: usize, default: f64) {
        let line = &mut self.lines[token * self.width];
        (line.0[0], line.0[1]) = (default, 1.0);
    }

    /// Sets what it adds to that in one of them.
    pub(crate) fn set_extra(&mut self, token: usize, class: usize, extra: f64) {
        let i = EXTRAS + class;
        self.lines[token * self.width + i / 8].0[i % 8] = extra;
    }

    fn row(&self, token: u32) -> &[Line] {
        &self.lines[token as usize * self.width..][..self.width]
    }

    pub(crate) fn default(&self, token: usize) -> f64 {
        self.row(token as u32)[0].0[0]
    }

    /// What a token adds to its default in a class.
    pub(crate) fn extra(&self, token: usize, class: usize) -> f64 {
        let i = EXTRAS + class;
        self.row(token as u32)[i / 8].0[i % 8]
    }

    /// Adds up one document after the other: their tokens, where those of each end, and what each counts, which is 1
    /// if nothing is said. The sums are kept in `sums`.
    pub(crate) fn add_up(&self, tokens: &[u32], ends: &[usize], amounts: &[f64], sums: &mut RowSums) {
        sums.0.clear();
        sums.0.resize(ends.len() * self.width, Line::default());
        vectorized(AddUp { rows: self, tokens, ends, amounts, sums: &mut sums.0 });
    }

    /// What [`add_up`](Self::add_up) has found for a document: Σ x, Σ x default, and Σ x extra of each class.
    pub(crate) fn sums_of<'a>(
        &self,
        sums: &'a RowSums,
        document: usize,
    ) -> (f64, f64, impl Iterator<Item = f64> + 'a) {
        let sums = &sums.0[document * self.width..][..self.width];
        (sums[0].0[1], sums[0].0[0], sums.iter().flat_map(|line| line.0).skip(EXTRAS))
    }
}

/// Sums of rows.
#[derive(Default)]
pub(crate) struct RowSums(Vec<Line>);

struct AddUp<'a> {
    rows: &'a Rows,
    tokens: &'a [u32],
    ends: &'a [usize],
    amounts: &'a [f64],
    sums: &'a mut [Line],
}

impl Loop for AddUp<'_> {
    #[inline(always)]
    fn run(self) {
        /// Rows are needed in no order of theirs: they are asked for some tokens before.
        const AHEAD: usize = 32;
        let mut start = 0;
        for (sums, &end) in self.sums.chunks_exact_mut(self.rows.width).zip(self.ends) {
            for i in start..end {
                if let Some(&later) = self.tokens.get(i + AHEAD) {
                    ask(self.rows.row(later));
                }
                let amount = self.amounts.get(i).copied().unwrap_or(1.0);
                for (sum, line) in sums.iter_mut().zip(self.rows.row(self.tokens[i])) {
                    sum.0.iter_mut().zip(line.0).for_each(|(sum, x)| *sum += amount * x);
                }
            }
            start = end;
        }
    }
}

//! Categorical naive Bayes over the columns of a matrix of codes: 0, 1, 2 and so on.
//!
//! ```text
//! P(v | class) = (n(v) + α) / (n + α J)            J values, those below the number that the caller names
//!                α / (n + α (J + 1))               a value beyond them
//! ```

use super::{begin_bytes, multinomial, read_number, read_shape};
use crate::moments::Cells;

/// More cells than this for one column are refused: they would take a gigabyte.
const MOST_CODE_CELLS: usize = 1 << 27;

/// The weight of every code of every column in every class.
#[derive(Debug, Clone)]
pub struct CodeSums {
    classes: usize,
    /// For each column, code v in class k at `v * classes + k`.
    columns: Vec<Cells>,
    weights: Cells,
}

/// A code so large that its counts would not fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// The column, counted from 0.
    pub column: usize,
    /// The code.
    pub code: u32,
}

impl CodeSums {
    /// Sums of no rows.
    pub fn new(columns: usize, classes: usize) -> Self {
        CodeSums { classes, columns: vec![Cells::default(); columns], weights: Cells::new(classes) }
    }

    /// Adds rows of codes, which stand column after column.
    ///
    /// # Errors
    /// If a code is too large for a table of counts. Some columns may have been added to then.
    ///
    /// # Panics
    /// If the lengths do not agree, or a class is out of range.
    pub fn observe(&mut self, codes: &[u32], classes: &[u32], weights: &[f64]) -> Result<(), TooLarge> {
        if classes.is_empty() {
            return Ok(());
        }
        assert_eq!(codes.len(), self.columns.len() * classes.len(), "one code per row and column");
        for (row, &class) in classes.iter().enumerate() {
            self.weights.add_row(class as usize, weights.get(row).copied());
        }
        for (column, (codes, cells)) in codes.chunks_exact(classes.len()).zip(&mut self.columns).enumerate() {
            let code = codes.iter().copied().max().unwrap_or(0);
            let length = (code as usize + 1) * self.classes;
            if length > MOST_CODE_CELLS {
                return Err(TooLarge { column, code });
            }
            cells.grow(length);
            let places = codes
                .iter()
                .zip(classes)
                .map(|(&code, &class)| code as usize * self.classes + class as usize);
            match weights {
                [] => cells.count(places),
                _ => places.zip(weights).for_each(|(cell, &weight)| cells.add(cell, weight)),
            }
        }
        Ok(())
    }

    /// Adds what another part of the rows came to.
    pub fn merge(&mut self, other: &CodeSums) {
        for (ours, theirs) in self.columns.iter_mut().zip(&other.columns) {
            ours.grow(theirs.len());
            ours.merge(theirs, |cell| cell);
        }
        self.weights.merge(&other.weights, |class| class);
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// One more than the largest code of a column.
    pub fn codes(&self, column: usize) -> usize {
        self.columns[column].len() / self.classes.max(1)
    }

    /// The weights of this many codes of a column, class after class.
    pub fn counts(&self, column: usize, codes: usize) -> Vec<f64> {
        let cells = &self.columns[column];
        let value = |class: usize, code: usize| {
            let cell = code * self.classes + class;
            if cell < cells.len() { cells.value(cell) } else { 0.0 }
        };
        (0..self.classes).flat_map(|class| (0..codes).map(move |code| value(class, code))).collect()
    }

    /// The weight of each class.
    pub fn class_weights(&self) -> Vec<f64> {
        self.weights.values()
    }

    /// The canonical bytes: the same rows give the same, in whatever order and split they came.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin_bytes(self.columns.len(), self.classes);
        self.weights.write(&mut out);
        for cells in &self.columns {
            out.extend_from_slice(&(cells.len() as u64).to_le_bytes());
            cells.write(&mut out);
        }
        out
    }

    /// Sums from their bytes; `None` if they are not what [`to_bytes`](Self::to_bytes) gives.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (columns, classes) = read_shape(bytes)?;
        // Every column begins with two lengths, so that room is made for no more than there can be.
        if columns > bytes.len() / 16 {
            return None;
        }
        let weights = Cells::read(bytes, classes)?;
        let mut sums = CodeSums { classes, columns: Vec::with_capacity(columns), weights };
        for _ in 0..columns {
            let length = read_number(bytes)?;
            sums.columns.push(Cells::read(bytes, length)?);
        }
        bytes.is_empty().then_some(sums)
    }
}

/// log P(code | class) of a column from its counts, class after class: this many codes each, and one more for all beyond
/// them.
pub fn code_log_likelihood(counts: &[f64], codes: usize, pseudocount: f64) -> Vec<f64> {
    let mut logs = Vec::with_capacity(counts.len() + counts.len() / codes.max(1));
    let pseudocounts = vec![pseudocount; codes];
    for counts in counts.chunks_exact(codes.max(1)) {
        let start = logs.len();
        logs.extend_from_slice(counts);
        multinomial(&mut logs[start..], &pseudocounts);
        let total: f64 = counts.iter().sum::<f64>() + pseudocount * (codes + 1) as f64;
        logs.push(libm::log(pseudocount) - libm::log(total));
    }
    logs
}

/// Logarithms, ready to be added up.
#[derive(Debug, Clone)]
pub struct CodeScores {
    start: Vec<f64>,
    /// For each column the classes of every code side by side; those of codes beyond come last.
    columns: Vec<Vec<f64>>,
}

impl CodeScores {
    /// Scores that start from the logarithms of the priors.
    pub fn new(log_prior: &[f64]) -> Self {
        CodeScores { start: log_prior.to_vec(), columns: Vec::new() }
    }

    /// Adds a column: log P(code | class) of this many codes, class after class, and what stands for all beyond them.
    pub fn push(&mut self, logs: &[f64], beyond: &[f64]) {
        let classes = self.start.len();
        let codes = logs.len() / classes.max(1);
        let log = |code, class: usize| if code < codes { logs[class * codes + code] } else { beyond[class] };
        let table = (0..=codes).flat_map(|code| (0..classes).map(move |class| log(code, class)));
        self.columns.push(table.collect());
    }

    /// Writes log P(class, x) of every row. The codes stand column after column.
    pub fn score(&self, codes: &[u32], scores: &mut [f64]) {
        let classes = self.start.len();
        scores.chunks_exact_mut(classes).for_each(|scores| scores.copy_from_slice(&self.start));
        let rows = scores.len() / classes;
        for (codes, table) in codes.chunks_exact(rows.max(1)).zip(&self.columns) {
            // Few classes are the rule, and a loop whose length is known needs no loop.
            match classes {
                2 => add::<2>(codes, table, scores),
                3 => add::<3>(codes, table, scores),
                4 => add::<4>(codes, table, scores),
                5 => add::<5>(codes, table, scores),
                6 => add::<6>(codes, table, scores),
                _ => add_any(codes, table, scores, classes),
            }
        }
    }
}

/// Adds the row of the table that belongs to each code, or else the last one.
fn add<const CLASSES: usize>(codes: &[u32], table: &[f64], scores: &mut [f64]) {
    let (table, _) = table.as_chunks::<CLASSES>();
    let (scores, _) = scores.as_chunks_mut::<CLASSES>();
    for (&code, scores) in codes.iter().zip(scores) {
        let logs = &table[(code as usize).min(table.len() - 1)];
        (0..CLASSES).for_each(|class| scores[class] += logs[class]);
    }
}

fn add_any(codes: &[u32], table: &[f64], scores: &mut [f64], classes: usize) {
    for (&code, scores) in codes.iter().zip(scores.chunks_exact_mut(classes)) {
        let first = (code as usize * classes).min(table.len() - classes);
        scores.iter_mut().zip(&table[first..]).for_each(|(score, log)| *score += log);
    }
}

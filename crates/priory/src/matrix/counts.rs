//! Counts: multinomial, complement and Bernoulli naive Bayes over the columns of a matrix.
//!
//! With n(c, k) the sum of column c in class k, and α(c) the pseudocount of the column:
//!
//! ```text
//! multinomial   log P(c | k) = ln (n(c, k) + α(c)) − ln Σ over columns (n + α)
//! complement    the same of all other classes, negated; or divided by its sum (Rennie et al. 2003)
//! Bernoulli     log P(c | k) = ln (n(c, k) + α(c)) − ln (rows of k + 2 α(c))
//! ```

use super::Sparse;
use super::gaussian::read_shape;
use crate::moments::Cells;

/// Bytes that claim to have more cells than this are refused: room is made for them before they are read.
const MOST_CELLS: usize = 1 << 31;

/// The sum of every column in every class, exactly.
#[derive(Debug, Clone)]
pub struct CountSums {
    columns: usize,
    classes: usize,
    /// Of column c and class k at `k * columns + c`.
    counts: Cells,
    weights: Cells,
}

impl CountSums {
    /// Sums of no rows.
    pub fn new(columns: usize, classes: usize) -> Self {
        CountSums { columns, classes, counts: Cells::new(columns * classes), weights: Cells::new(classes) }
    }

    /// Adds dense rows of finite numbers.
    ///
    /// # Panics
    /// If the lengths do not agree, or a class is out of range.
    pub fn observe(&mut self, values: &[f64], classes: &[u32], weights: &[f64]) {
        for (row, (values, &class)) in values.chunks_exact(self.columns.max(1)).zip(classes).enumerate() {
            let known = values.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(column, &x)| (column, x));
            self.add_row(known, class as usize, weights.get(row).copied());
        }
    }

    /// Adds sparse rows of finite numbers.
    ///
    /// # Panics
    /// If the lengths do not agree, or a class or column is out of range.
    pub fn observe_sparse(&mut self, rows: Sparse<'_>, classes: &[u32], weights: &[f64]) {
        for (row, ((columns, values), &class)) in rows.rows().zip(classes).enumerate() {
            let entries = columns.iter().zip(values).map(|(&column, &x)| (column as usize, x));
            self.add_row(entries, class as usize, weights.get(row).copied());
        }
    }

    #[inline(always)]
    fn add_row(&mut self, entries: impl Iterator<Item = (usize, f64)>, class: usize, weight: Option<f64>) {
        let first = class * self.columns;
        match weight {
            None => {
                self.weights.add_whole(class, 1);
                for (column, x) in entries {
                    assert!(column < self.columns, "a column is below {}", self.columns);
                    self.counts.add(first + column, x);
                }
            }
            Some(weight) => {
                self.weights.add(class, weight);
                for (column, x) in entries {
                    assert!(column < self.columns, "a column is below {}", self.columns);
                    self.counts.add_product(first + column, weight, x);
                }
            }
        }
    }

    /// Adds what another part of the rows came to.
    pub fn merge(&mut self, other: &CountSums) {
        self.counts.merge(&other.counts, |cell| cell);
        self.weights.merge(&other.weights, |class| class);
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The sums, class after class.
    pub fn counts(&self) -> Vec<f64> {
        self.counts.values()
    }

    /// The weight of each class.
    pub fn class_weights(&self) -> Vec<f64> {
        self.weights.values()
    }

    /// The canonical bytes: the same rows give the same, in whatever order and split they came.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&(self.columns as u64).to_le_bytes());
        out.extend_from_slice(&(self.classes as u64).to_le_bytes());
        self.counts.write(&mut out);
        self.weights.write(&mut out);
        out
    }

    /// Sums from their bytes; `None` if they are not what [`to_bytes`](Self::to_bytes) gives.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (columns, classes) = read_shape(bytes)?;
        let cells = columns.checked_mul(classes).filter(|&cells| cells.max(classes) <= MOST_CELLS)?;
        let counts = Cells::read(bytes, cells)?;
        let weights = Cells::read(bytes, classes)?;
        bytes.is_empty().then_some(CountSums { columns, classes, counts, weights })
    }
}

/// log P(column | class) of the multinomial model, class after class. There is one pseudocount for each column.
pub fn multinomial(counts: &[f64], pseudocounts: &[f64]) -> Vec<f64> {
    let mut logs = Vec::with_capacity(counts.len());
    for counts in counts.chunks_exact(pseudocounts.len().max(1)) {
        let smoothed = || counts.iter().zip(pseudocounts).map(|(n, alpha)| n + alpha);
        let log_total = libm::log(smoothed().sum());
        logs.extend(smoothed().map(|n| libm::log(n) - log_total));
    }
    logs
}

/// The weights of the complement model, class after class: −log P(column | any other class), or log P(column | any other
/// class) divided by its sum over the columns.
pub fn complement(counts: &[f64], pseudocounts: &[f64], normalized: bool) -> Vec<f64> {
    let columns = pseudocounts.len();
    let mut all = vec![0.0; columns];
    for counts in counts.chunks_exact(columns.max(1)) {
        all.iter_mut().zip(counts).for_each(|(all, n)| *all += n);
    }
    let mut weights = Vec::with_capacity(counts.len());
    for counts in counts.chunks_exact(columns.max(1)) {
        let others = || all.iter().zip(pseudocounts).zip(counts).map(|((all, alpha), n)| all + alpha - n);
        let total: f64 = others().sum();
        let logs = others().map(|n| libm::log(n / total));
        match normalized {
            true => {
                let sum: f64 = logs.clone().sum();
                weights.extend(logs.map(|log| log / sum));
            }
            false => weights.extend(logs.map(|log| -log)),
        }
    }
    weights
}

/// log P(column | class) of the Bernoulli model, class after class.
pub fn bernoulli(counts: &[f64], class_weights: &[f64], pseudocounts: &[f64]) -> Vec<f64> {
    let mut logs = Vec::with_capacity(counts.len());
    for (counts, weight) in counts.chunks_exact(pseudocounts.len().max(1)).zip(class_weights) {
        let smoothed = counts.iter().zip(pseudocounts);
        logs.extend(smoothed.map(|(n, alpha)| libm::log(n + alpha) - libm::log(weight + 2.0 * alpha)));
    }
    logs
}

/// What the Bernoulli model adds for every column that is there, class after class, and what every class starts from:
/// its prior and all columns absent.
pub fn bernoulli_weights(log_present: &[f64], log_prior: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let columns = log_present.len() / log_prior.len().max(1);
    // log (1 − p), with its digits where p is small and where it is near one.
    let log_absent: Vec<f64> = log_present
        .iter()
        .map(|&x| {
            if x > -std::f64::consts::LN_2 { libm::log(-libm::expm1(x)) } else { libm::log1p(-libm::exp(x)) }
        })
        .collect();
    let start = log_prior.iter().zip(log_absent.chunks_exact(columns.max(1)));
    let start = start.map(|(log_prior, absent)| log_prior + absent.iter().sum::<f64>()).collect();
    let weights = log_present.iter().zip(&log_absent).map(|(present, absent)| present - absent).collect();
    (weights, start)
}

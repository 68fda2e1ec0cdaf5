//! Counts: multinomial, complement and Bernoulli naive Bayes over the columns of a matrix.
//!
//! With n(c, k) the sum of column c in class k, and α(c) the pseudocount of the column:
//!
//! ```text
//! multinomial   log P(c | k) = ln (n(c, k) + α(c)) − ln Σ over columns (n + α)
//! complement    the same of all other classes, negated; or divided by its sum (Rennie et al. 2003)
//! Bernoulli     log P(c | k) = ln (n(c, k) + α(c)) − ln (rows of k + 2 α(c))
//! ```

use super::{Index, InvalidEntry, SparseRow, begin_bytes, check, read_shape};
use crate::estimate::CountLogs;
use crate::moments::engine::vectorized;
use crate::moments::{Cells, LARGEST_WHOLE};

/// The sum of every column in every class, exactly.
#[derive(Debug, Clone)]
pub struct CountSums {
    columns: usize,
    /// Of each class the sum of every column; nothing for a class of which no row was met, so that parts of the rows
    /// that hold few of the classes are small.
    counts: Vec<Cells>,
    weights: Cells,
}

impl CountSums {
    /// Sums of no rows.
    pub fn new(columns: usize, classes: usize) -> Self {
        CountSums { columns, counts: vec![Cells::default(); classes], weights: Cells::new(classes) }
    }

    /// Adds dense rows of finite numbers.
    ///
    /// # Panics
    /// If the lengths do not agree, or a class is out of range.
    pub fn observe(&mut self, values: &[f64], classes: &[u32], weights: &[f64]) {
        for (row, (values, &class)) in values.chunks_exact(self.columns.max(1)).zip(classes).enumerate() {
            let known = values.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(column, &x)| (column, x));
            let weight = weights.get(row).copied();
            let cells = self.add_row(class, weight);
            add_entries(cells, known, weight);
        }
    }

    /// Adds a sparse row, and counts it as often as its weight says, if it has one. Fastest for one row of a class after
    /// the other: then its sums stay near.
    ///
    /// # Errors
    /// If an entry is not finite, or below zero although that is not allowed, or beyond the columns. Nothing was added
    /// then.
    ///
    /// # Panics
    /// If the class is out of range.
    pub fn observe_sparse<I: Index>(
        &mut self,
        row: SparseRow<'_, I>,
        class: u32,
        weight: Option<f64>,
        negative_allowed: bool,
    ) -> Result<(), InvalidEntry> {
        let columns = self.columns;
        let (fit, plain) = vectorized(
            #[inline(always)]
            move || {
                (row.check_columns(columns), row.values.iter().fold(true, |plain, &x| plain & is_plain(x)))
            },
        );
        fit?;
        if !plain {
            check(row.values, negative_allowed)?;
        }
        let cells = self.add_row(class, weight);
        match plain && weight.is_none() {
            true => row.entries().for_each(|(column, x)| cells.add_whole(column, x as i32)),
            false => add_entries(cells, row.entries(), weight),
        }
        Ok(())
    }

    /// Counts a row, and returns where its numbers go.
    #[inline(always)]
    fn add_row(&mut self, class: u32, weight: Option<f64>) -> &mut Cells {
        self.weights.add_row(class as usize, weight);
        let cells = &mut self.counts[class as usize];
        if cells.len() < self.columns {
            cells.grow(self.columns);
        }
        cells
    }

    /// Adds what another part of the rows came to.
    pub fn merge(&mut self, other: &CountSums) {
        self.append(other.clone());
    }

    /// The same, with the memory of the other for classes that were not met here.
    pub fn append(&mut self, mut other: CountSums) {
        for (ours, theirs) in self.counts.iter_mut().zip(&mut other.counts) {
            if ours.len() == 0 {
                std::mem::swap(ours, theirs);
            }
            ours.merge(theirs, |cell| cell);
        }
        self.weights.merge(&other.weights, |class| class);
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.counts.len()
    }

    /// The sums, class after class.
    pub fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes() * self.columns];
        let of_classes = counts.chunks_exact_mut(self.columns.max(1)).enumerate();
        of_classes.for_each(|(class, counts)| self.counts_of(class, counts));
        counts
    }

    /// The sum of every column over all classes.
    pub fn totals(&self) -> Vec<f64> {
        let (mut totals, mut counts) = (vec![0.0; self.columns], vec![0.0; self.columns]);
        for class in 0..self.classes() {
            self.counts_of(class, &mut counts);
            totals.iter_mut().zip(&counts).for_each(|(total, n)| *total += n);
        }
        totals
    }

    /// Writes the sums of a class.
    ///
    /// # Panics
    /// If the class is out of range, or there is not as much room as there are columns.
    pub fn counts_of(&self, class: usize, to: &mut [f64]) {
        let cells = &self.counts[class];
        assert_eq!(to.len(), self.columns, "one sum per column");
        to[cells.len()..].fill(0.0);
        (0..cells.len()).for_each(|column| to[column] = cells.value(column));
    }

    /// The weight of each class.
    pub fn class_weights(&self) -> Vec<f64> {
        self.weights.values()
    }

    /// The canonical bytes: the same rows give the same, in whatever order and split they came.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin_bytes(self.columns, self.classes());
        self.weights.write(&mut out);
        let none = Cells::new(self.columns);
        for cells in &self.counts {
            let cells = if cells.len() == 0 { &none } else { cells };
            cells.write(&mut out);
        }
        out
    }

    /// Sums from their bytes; `None` if they are not what [`to_bytes`](Self::to_bytes) gives.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (columns, classes) = read_shape(bytes)?;
        let weights = Cells::read(bytes, classes)?;
        let counts: Option<Vec<Cells>> = (0..classes).map(|_| Cells::read(bytes, columns)).collect();
        bytes.is_empty().then_some(CountSums { columns, counts: counts?, weights })
    }
}

/// Adds numbers to the sums of their columns.
#[inline(always)]
fn add_entries(cells: &mut Cells, entries: impl Iterator<Item = (usize, f64)>, weight: Option<f64>) {
    match weight {
        None => entries.for_each(|(column, x)| cells.add(column, x)),
        Some(weight) => entries.for_each(|(column, x)| cells.add_product(column, weight, x)),
    }
}

/// Whether an entry is what most are: whole, not negative, and small.
#[inline(always)]
fn is_plain(x: f64) -> bool {
    /// Has no room for digits after the point: adding it rounds to a whole number.
    const ROUND: f64 = 4_503_599_627_370_496.0; // 2^52
    (0.0..=LARGEST_WHOLE).contains(&x) & ((x + ROUND) - ROUND == x)
}

/// Turns the sums of a class into log P(column | class) of the multinomial model.
pub fn multinomial(counts: &mut [f64], pseudocounts: &[f64]) {
    let log_total = libm::log(counts.iter().zip(pseudocounts).map(|(n, alpha)| n + alpha).sum());
    ln_smoothed(counts, pseudocounts).for_each(|(n, _, ln)| *n = ln - log_total);
}

/// Turns the sums of a class into the weights of the complement model: −log P(column | any other class), or
/// log P(column | any other class) divided by its sum over the columns. The totals are those of all classes.
pub fn complement(counts: &mut [f64], totals: &[f64], pseudocounts: &[f64], normalized: bool) {
    for ((n, all), alpha) in counts.iter_mut().zip(totals).zip(pseudocounts) {
        *n = all + alpha - *n;
    }
    let total: f64 = counts.iter().sum();
    counts.iter_mut().for_each(|n| *n = libm::log(*n / total));
    let divisor = if normalized { counts.iter().sum() } else { -1.0 };
    counts.iter_mut().for_each(|weight| *weight /= divisor);
}

/// Turns the sums of a class into log P(column | class) of the Bernoulli model.
pub fn bernoulli(counts: &mut [f64], class_weight: f64, pseudocounts: &[f64]) {
    let mut of_class = (f64::NAN, f64::NAN);
    for (n, alpha, ln) in ln_smoothed(counts, pseudocounts) {
        if alpha != of_class.0 {
            of_class = (alpha, libm::log(class_weight + 2.0 * alpha));
        }
        *n = ln - of_class.1;
    }
}

/// ln (n + α) of every count. Most α are the same.
fn ln_smoothed<'a>(
    counts: &'a mut [f64],
    pseudocounts: &'a [f64],
) -> impl Iterator<Item = (&'a mut f64, f64, f64)> {
    /// Rarely is a class worth more logarithms than it has columns.
    const MOST_WORKED_OUT: usize = 512;
    let worked_out = counts.len().min(MOST_WORKED_OUT) as u32;
    let logs = CountLogs::new(pseudocounts.first().copied().unwrap_or(0.0), worked_out, libm::log);
    counts.iter_mut().zip(pseudocounts).map(move |(n, &alpha)| {
        let ln = if alpha == logs.own { logs.ln_own(*n) } else { libm::log(*n + alpha) };
        (n, alpha, ln)
    })
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

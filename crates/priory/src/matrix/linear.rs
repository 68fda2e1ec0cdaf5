//! Scores that are weighted sums: Σ over columns x · weight + bias, for every class.
//!
//! That is what multinomial, complement and Bernoulli naive Bayes and linear discriminants come to. 0 · ∞ is 0 here: a
//! word that is not there does not matter, however impossible it would be.

use super::Sparse;
use crate::moments::engine::{Loop, vectorized};

/// Weights, ready to be multiplied with rows.
#[derive(Debug, Clone)]
pub struct LinearScores {
    columns: usize,
    /// Class after class.
    by_class: Vec<f64>,
    /// Column after column, the classes side by side; a whole number of lanes for each.
    by_column: Vec<f64>,
    stride: usize,
    bias: Vec<f64>,
    finite: bool,
}

/// So many columns, or classes, are added side by side.
const LANES: usize = 4;

/// So many rows are scored side by side.
const TILE: usize = 4;

impl LinearScores {
    /// Takes weights, class after class, and what every class starts from.
    pub fn new(weights: &[f64], bias: &[f64]) -> Self {
        let classes = bias.len();
        let columns = weights.len() / classes.max(1);
        LinearScores {
            columns,
            by_class: weights.to_vec(),
            by_column: Vec::new(),
            stride: classes.next_multiple_of(LANES),
            bias: bias.to_vec(),
            finite: weights.iter().all(|weight| weight.is_finite()),
        }
    }

    /// Gets ready to score sparse rows, which takes as much memory again.
    pub fn for_sparse(mut self) -> Self {
        self.by_column = vec![0.0; self.columns * self.stride];
        for (class, weights) in self.by_class.chunks_exact(self.columns.max(1)).enumerate() {
            let cells = self.by_column.iter_mut().skip(class).step_by(self.stride);
            cells.zip(weights).for_each(|(cell, weight)| *cell = *weight);
        }
        self.by_class = Vec::new();
        self
    }

    /// Writes the scores of dense rows.
    pub fn score(&self, values: &[f64], scores: &mut [f64]) {
        if self.finite {
            return vectorized(DenseWork { weights: self, values, scores });
        }
        let classes = self.bias.len();
        for (row, scores) in values.chunks_exact(self.columns.max(1)).zip(scores.chunks_exact_mut(classes)) {
            for ((score, bias), weights) in
                scores.iter_mut().zip(&self.bias).zip(self.by_class.chunks_exact(self.columns))
            {
                let known = row.iter().zip(weights).filter(|(x, _)| **x != 0.0);
                *score = bias + known.map(|(x, weight)| x * weight).sum::<f64>();
            }
        }
    }

    /// Writes the scores of sparse rows, after [`for_sparse`](Self::for_sparse).
    pub fn score_sparse(&self, rows: Sparse<'_>, scores: &mut [f64]) {
        if self.finite {
            return vectorized(SparseWork { weights: self, rows, scores });
        }
        let classes = self.bias.len();
        for ((columns, values), scores) in rows.rows().zip(scores.chunks_exact_mut(classes)) {
            scores.copy_from_slice(&self.bias);
            for (&column, &x) in columns.iter().zip(values).filter(|(_, x)| **x != 0.0) {
                let weights = &self.by_column[column as usize * self.stride..][..classes];
                scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += x * weight);
            }
        }
    }
}

struct DenseWork<'a> {
    weights: &'a LinearScores,
    values: &'a [f64],
    scores: &'a mut [f64],
}

impl Loop for DenseWork<'_> {
    #[inline(always)]
    fn run(self) {
        let DenseWork { weights: LinearScores { columns, bias, by_class, .. }, values, scores } = self;
        let (columns, classes) = (*columns, bias.len());
        for (rows, scores) in values.chunks(TILE * columns).zip(scores.chunks_mut(TILE * classes)) {
            for (class, weights) in by_class.chunks_exact(columns).enumerate() {
                if rows.len() == TILE * columns {
                    for (row, sum) in dots::<TILE>(rows, weights).into_iter().enumerate() {
                        scores[row * classes + class] = bias[class] + sum;
                    }
                } else {
                    for (row, x) in rows.chunks_exact(columns).enumerate() {
                        scores[row * classes + class] = bias[class] + dots::<1>(x, weights)[0];
                    }
                }
            }
        }
    }
}

/// Σ x · weight of so many rows.
#[inline(always)]
fn dots<const N: usize>(rows: &[f64], weights: &[f64]) -> [f64; N] {
    let columns = weights.len();
    let rows: [&[f64]; N] = std::array::from_fn(|row| &rows[row * columns..][..columns]);
    let mut sums = [[0.0; 2 * LANES]; N];
    let (chunks, whole) = (columns / (2 * LANES), columns / (2 * LANES) * (2 * LANES));
    for chunk in 0..chunks {
        let at = chunk * 2 * LANES..(chunk + 1) * 2 * LANES;
        let weights = &weights[at.clone()];
        for (sums, row) in sums.iter_mut().zip(rows) {
            let row = &row[at.clone()];
            (0..2 * LANES).for_each(|lane| sums[lane] += row[lane] * weights[lane]);
        }
    }
    std::array::from_fn(|row| {
        let rest: f64 = (whole..columns).map(|column| rows[row][column] * weights[column]).sum();
        sums[row].iter().sum::<f64>() + rest
    })
}

struct SparseWork<'a> {
    weights: &'a LinearScores,
    rows: Sparse<'a>,
    scores: &'a mut [f64],
}

impl Loop for SparseWork<'_> {
    #[inline(always)]
    fn run(self) {
        let SparseWork { weights: LinearScores { by_column, stride, bias, .. }, rows, scores } = self;
        let mut sums = vec![0.0; *stride];
        for ((columns, values), scores) in rows.rows().zip(scores.chunks_exact_mut(bias.len())) {
            sums[..bias.len()].copy_from_slice(bias);
            for (&column, &x) in columns.iter().zip(values) {
                let weights = &by_column[column as usize * stride..][..*stride];
                for (sums, weights) in sums.chunks_exact_mut(LANES).zip(weights.chunks_exact(LANES)) {
                    (0..LANES).for_each(|lane| sums[lane] += x * weights[lane]);
                }
            }
            scores.copy_from_slice(&sums[..bias.len()]);
        }
    }
}

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
    /// Class after class, if the rows are dense.
    by_class: Vec<f64>,
    /// Column after column, if they are sparse: the classes side by side, a whole number of lanes for each.
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
    /// Takes weights, class after class, and what every class starts from; for sparse rows or for dense ones.
    pub fn new(weights: &[f64], bias: &[f64], sparse: bool) -> Self {
        let classes = bias.len();
        let columns = weights.len() / classes.max(1);
        let stride = classes.next_multiple_of(LANES);
        let (mut by_class, mut by_column) = (Vec::new(), Vec::new());
        if sparse {
            by_column = vec![0.0; columns * stride];
            for (class, weights) in weights.chunks_exact(columns.max(1)).enumerate() {
                let cells = by_column.iter_mut().skip(class).step_by(stride);
                cells.zip(weights).for_each(|(cell, weight)| *cell = *weight);
            }
        } else {
            by_class = weights.to_vec();
        }
        let finite = weights.iter().all(|weight| weight.is_finite());
        LinearScores { columns, by_class, by_column, stride, bias: bias.to_vec(), finite }
    }

    /// Writes the scores of dense rows, for which the weights were taken.
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

    /// Writes the scores of sparse rows, for which the weights were taken.
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
        for (row, scores) in rows.rows().zip(scores.chunks_exact_mut(bias.len())) {
            sums[..bias.len()].copy_from_slice(bias);
            let mut first = 0;
            while first < *stride {
                let table = Panel { by_column, stride: *stride, first };
                let sums = &mut sums[first..];
                first += LANES
                    * match sums.len() / LANES {
                        1 => table.add::<1>(row, sums),
                        2 => table.add::<2>(row, sums),
                        3 => table.add::<3>(row, sums),
                        4 => table.add::<4>(row, sums),
                        5 => table.add::<5>(row, sums),
                        _ => table.add::<6>(row, sums),
                    };
            }
            scores.copy_from_slice(&sums[..bias.len()]);
        }
    }
}

/// Some classes of the weights, as many as there are registers for.
struct Panel<'a> {
    by_column: &'a [f64],
    stride: usize,
    first: usize,
}

impl Panel<'_> {
    /// Adds a row to the sums of N times as many classes as go into a register; returns N.
    #[inline(always)]
    fn add<const N: usize>(&self, (columns, values): (&[u32], &[f64]), sums: &mut [f64]) -> usize {
        let mut kept = [[0.0; LANES]; N];
        kept.iter_mut().zip(sums.chunks_exact(LANES)).for_each(|(kept, sums)| kept.copy_from_slice(sums));
        for (&column, &x) in columns.iter().zip(values) {
            let weights = &self.by_column[column as usize * self.stride + self.first..][..N * LANES];
            for (i, kept) in kept.iter_mut().enumerate() {
                (0..LANES).for_each(|lane| kept[lane] += x * weights[i * LANES + lane]);
            }
        }
        kept.iter().zip(sums.chunks_exact_mut(LANES)).for_each(|(kept, sums)| sums.copy_from_slice(kept));
        N
    }
}

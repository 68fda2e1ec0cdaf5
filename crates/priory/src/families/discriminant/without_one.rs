//! What regularized covariances say of their own rows, as if a row had not been there.
//!
//! With A(c) the scatter n(c) Σ(c) of a class, and λ and γ as in [`regularize`](super::regularize), a covariance before it is
//! cut is
//!
//! ```text
//! M(c) = ((1 − λ) A(c) + λ Σ over classes A) / ((1 − λ) n(c) + λ n)
//! ```
//!
//! A row of weight w that lies at u from the mean of its class takes g u uᵀ from the scatter of its class, where
//! g = w n(c) / (n(c) − w). So every M becomes a multiple of M − share u uᵀ, and every covariance, whose entries off the
//! diagonal are cut by γ, the same multiple of
//!
//! ```text
//! Q = Σ − share ((1 − γ) u uᵀ + γ diag(u²))
//! ```
//!
//! That is not of low rank, so Q is factored anew, as L D Lᵀ, but for several rows at once.

use std::f64::consts::PI;

use super::normal::{Covariance, FIRM, Normals};
use super::spread::{FEWEST_LEFT, Spread};
use crate::families::Removed;
use crate::moments::engine::vectorized;
use crate::numerics::ln;
use crate::settings::Regularization;

/// How many rows are taken at once.
pub(super) const LANES: usize = 8;

/// A number of each row.
type Lane = [f64; LANES];

/// Regularized distributions from which rows can be taken.
pub(super) struct WithoutOne<'a> {
    normals: &'a Normals,
    amounts: Regularization,
    /// n(c), and n.
    rows: Vec<f64>,
    all: f64,
    /// For each covariance −½ d ln 2π less the logarithms of the standard deviations.
    log_peak: Vec<f64>,
}

/// Some rows that are left out, each from its class. If there are fewer, the last one is repeated.
struct Block {
    class: [usize; LANES],
    weight: Lane,
    /// For each column the numbers, and how far they lie from the mean of the class.
    values: Vec<Lane>,
    gap: Vec<Lane>,
}

/// Q of some rows, where the standard deviations of a covariance are one: first its half up to the diagonal, row after row,
/// and then L.
#[derive(Default)]
struct Factor {
    cells: Vec<Lane>,
    /// 1 / D.
    inverse: Vec<Lane>,
}

impl<'a> WithoutOne<'a> {
    /// `None` unless the covariances are regularized and just what was asked for, and every class has rows. Nothing may be
    /// missing in them.
    pub(super) fn new(normals: &'a Normals, classes: &[Spread]) -> Option<Self> {
        let rows: Vec<f64> = classes.iter().map(|class| class.weight.at(0, 0)).collect();
        let suits = rows.iter().all(|&rows| rows > 0.0) && normals.covariances.iter().all(|own| own.is_plain);
        let log_peak = |covariance: &Covariance| -> f64 {
            covariance.deviation.iter().map(|&deviation| -0.5 * ln(2.0 * PI) - ln(deviation)).sum()
        };
        Some(WithoutOne {
            normals,
            amounts: normals.amounts.filter(|_| suits)?,
            all: rows.iter().sum(),
            rows,
            log_peak: normals.covariances.iter().map(log_peak).collect(),
        })
    }

    /// log p(x | class) for each class of up to [`LANES`] rows, of each without itself. `None` if too few digits would be left,
    /// or a variance is raised to its floor, of which `is_floored` tells.
    pub(super) fn ln(
        &self,
        columns: &[&[f64]],
        learnt: &[(usize, Removed)],
        is_floored: impl Fn(usize, f64) -> bool,
    ) -> [Option<Vec<f64>>; LANES] {
        let (block, classes) = (self.block(columns, learnt), self.rows.len());
        let mut found = [(); LANES].map(|()| Some(vec![0.0; classes]));
        let mut factor = Factor::default();
        for (first, covariance) in self.normals.covariances.iter().enumerate() {
            let [share, scale] = self.loss(&block, first);
            let [least, log_volume] = vectorized(
                #[inline(always)]
                || {
                    factor.fill(covariance, &block.gap, &share, self.amounts.diagonal);
                    factor.eliminate(&scale)
                },
            );
            let is_one = self.normals.covariances.len() == 1;
            for class in if is_one { 0..classes } else { first..first + 1 } {
                let squares = vectorized(
                    #[inline(always)]
                    || factor.squares(&block.values, &self.normals.mean[class], &covariance.deviation),
                );
                for (row, found) in found.iter_mut().enumerate() {
                    // The mean of the row's own class moves away from it.
                    let stretch = match class == block.class[row] {
                        true => self.rows[class] / (self.rows[class] - block.weight[row]),
                        false => 1.0,
                    };
                    let distance = stretch * stretch * squares[row] / scale[row];
                    if let Some(found) = found {
                        found[class] = self.log_peak[first] - 0.5 * (log_volume[row] + distance);
                    }
                }
            }
            for (row, found) in found.iter_mut().enumerate() {
                let is_raised = |column: usize| {
                    let (gap, deviation) = (block.gap[column][row], covariance.deviation[column]);
                    let variance = deviation * deviation - share[row] * gap * gap;
                    is_floored(column, scale[row] * variance)
                };
                // A missing value is not a number, and ends here.
                let firm = least[row] >= FIRM && !(0..columns.len()).any(is_raised);
                *found = found.take().filter(|_| firm);
            }
        }
        found
    }

    fn block(&self, columns: &[&[f64]], learnt: &[(usize, Removed)]) -> Block {
        let learnt: [(usize, Removed); LANES] = std::array::from_fn(|i| learnt[i.min(learnt.len() - 1)]);
        let class = learnt.map(|(_, removed)| removed.class);
        let values: Vec<Lane> = columns.iter().map(|column| learnt.map(|(row, _)| column[row])).collect();
        let gap = values.iter().enumerate().map(|(column, values)| {
            std::array::from_fn(|row| values[row] - self.normals.mean[class[row]][column])
        });
        Block { class, weight: learnt.map(|(_, removed)| removed.weight), gap: gap.collect(), values }
    }

    /// How much of u uᵀ each row takes from a covariance, and by what the rest is multiplied; nothing is left of a class that
    /// has hardly any other rows.
    fn loss(&self, block: &Block, covariance: usize) -> [Lane; 2] {
        let mixed = self.amounts.shared;
        let before = (1.0 - mixed) * self.rows[covariance] + mixed * self.all;
        let loss = |row: usize| {
            let (class, weight) = (block.class[row], block.weight[row]);
            let of_class = self.rows[class];
            let left = of_class - weight;
            let taken = if class == covariance { 1.0 } else { mixed };
            let share = match left > FEWEST_LEFT * of_class {
                true => taken * weight * of_class / left / before,
                false => f64::INFINITY,
            };
            (share, before / (before - taken * weight))
        };
        let losses: [(f64, f64); LANES] = std::array::from_fn(loss);
        [losses.map(|loss| loss.0), losses.map(|loss| loss.1)]
    }
}

impl Factor {
    #[inline(always)]
    fn fill(&mut self, covariance: &Covariance, gap: &[Lane], share: &Lane, cut: f64) {
        self.cells.clear();
        let scaled = |i: usize| gap[i].map(|gap| gap / covariance.deviation[i]);
        let scaled: Vec<Lane> = (0..gap.len()).map(scaled).collect();
        for (i, u) in scaled.iter().enumerate() {
            for (j, (v, &cell)) in scaled.iter().zip(covariance.correlation.row(i)).enumerate() {
                let kept = if i == j { 1.0 } else { 1.0 - cut };
                self.cells.push(std::array::from_fn(|row| cell - share[row] * kept * u[row] * v[row]));
            }
        }
    }

    /// From Q to L and D. Returns the least of D, and ln |Q| where Q is multiplied by `scale`.
    #[inline(always)]
    fn eliminate(&mut self, scale: &Lane) -> [Lane; 2] {
        /// The logarithm is that of products of so many entries of D, which are nearly one.
        const AT_ONCE: usize = 32;
        let (mut least, mut product, mut log_volume) = ([1.0; LANES], [1.0; LANES], [0.0; LANES]);
        let mut start = 0;
        self.inverse.clear();
        while start < self.cells.len() {
            let i = self.inverse.len();
            let (above, own) = self.cells.split_at_mut(start);
            let own = &mut own[..=i];
            reduce(above, &mut own[..i]);
            let mut left = own[i];
            for (cell, inverse) in own.iter_mut().zip(&self.inverse) {
                for row in 0..LANES {
                    let entry = cell[row] * inverse[row];
                    left[row] -= cell[row] * entry;
                    cell[row] = entry;
                }
            }
            self.inverse.push(left.map(|left| 1.0 / left));
            start += i + 1;
            for row in 0..LANES {
                least[row] = if left[row] >= least[row] { least[row] } else { left[row] };
                product[row] *= scale[row] * left[row];
            }
            if self.inverse.len().is_multiple_of(AT_ONCE) || start == self.cells.len() {
                log_volume.iter_mut().zip(product).for_each(|(sum, product)| *sum += ln(product));
                product = [1.0; LANES];
            }
        }
        [least, log_volume]
    }

    /// (x − mean)ᵀ Q⁻¹ (x − mean).
    #[inline(always)]
    fn squares(&self, values: &[Lane], mean: &[f64], deviation: &[f64]) -> Lane {
        let gap = |i: usize| values[i].map(|x| (x - mean[i]) / deviation[i]);
        let mut gaps: Vec<Lane> = (0..values.len()).map(gap).collect();
        reduce(&self.cells, &mut gaps);
        let mut squares = [0.0; LANES];
        for (gap, inverse) in gaps.iter().zip(&self.inverse) {
            (0..LANES).for_each(|row| squares[row] += gap[row] * gap[row] * inverse[row]);
        }
        squares
    }
}

/// Takes from each entry of a line what those before it, times the row of L that belongs to it, come to.
#[inline(always)]
fn reduce(factor: &[Lane], line: &mut [Lane]) {
    for j in 0..line.len() {
        let (before, entry) = line.split_at_mut(j);
        let mut left = entry[0];
        for (x, cell) in before.iter().zip(&factor[j * (j + 1) / 2..]) {
            (0..LANES).for_each(|row| left[row] -= x[row] * cell[row]);
        }
        entry[0] = left;
    }
}

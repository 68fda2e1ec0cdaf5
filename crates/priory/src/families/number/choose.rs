//! Which family a column follows, when nobody says: the one under which its rows are most likely, each judged by what the
//! others say of it.
//!
//! ```text
//! Σ log p(x | class of the row, all rows but this one) / n        in nats per row
//! ```
//!
//! It is worked out from the spectrum alone. Densities of numbers that are rounded say little by themselves: a density
//! can be as high as it likes where many rows share one number. So what is compared is the probability of a number
//! within the resolution of the column, which is never above one. The families are tried from the simplest on, and a
//! later one must be better by a margin. Supervised cuts (`mdl`) cannot be judged like this, and ranges, binomials and
//! mixtures are left to those who ask for them: kernels and histograms do their work.

use super::kernel;
use super::numbers::NumberColumn;
use super::tree::Tree;
use super::without_one::ln_without_one;
use crate::estimate::Smoother;
use crate::settings::{Family, VarianceFloor};

/// A less simple family is better by at least so many nats per row.
const MARGIN: f64 = 0.01;
/// Fewer rows cannot tell families apart.
const FEWEST_ROWS: f64 = 30.0;
/// Numbers with more different values are not taken as values of their own.
const MOST_VALUES: usize = 64;
/// A curve is not drawn through fewer different numbers than this.
const FEWEST_FOR_KERNEL: usize = 10;

/// Squared coefficient of variation below which skewed families are not told from a Gaussian.
const NEAR_GAUSSIAN: f64 = 1e-3;

/// A family and how it compares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) family: Family,
    /// Nats per row by which the family is better than a Gaussian with inferred mean and variance.
    pub(crate) better_than_gaussian: f64,
}

/// The family for a column.
pub(crate) fn choose(column: &NumberColumn, smoother: &Smoother<f64>, spectrum: bool) -> Choice {
    let simplest = Choice { family: Family::Student, better_than_gaussian: 0.0 };
    let n = column.pooled.weight;
    if !spectrum || n < FEWEST_ROWS || column.pooled.cells.len() < 2 {
        return simplest;
    }
    if !column.pooled.variance.is_finite() {
        return Choice { family: Family::Histogram, better_than_gaussian: 0.0 };
    }
    let ln_resolution = libm::log(column.resolution().unwrap_or(1.0));
    let judge = Judge { column, smoother, ln_resolution };
    let gaussian = judge.density(Family::Student) / n;
    let mut best = (Family::Student, gaussian);
    let mut consider = |family: Family, likelihood: f64| {
        if likelihood / n > best.1 + MARGIN {
            best = (family, likelihood / n);
        }
    };
    let (least, whole) = (column.pooled.least(), column.is_whole());
    if least >= 0.0 && !whole {
        consider(Family::Exponential, judge.density(Family::Exponential));
    }
    if least >= 0.0 && whole {
        consider(Family::Poisson, judge.density(Family::Poisson));
        consider(Family::Geometric, judge.density(Family::Geometric));
    }
    // Close together and far from zero, these look like Gaussians.
    if least > 0.0 && column.pooled.variance > NEAR_GAUSSIAN * column.pooled.mean * column.pooled.mean {
        consider(Family::LogNormal, judge.density(Family::LogNormal));
        consider(Family::Gamma, judge.density(Family::Gamma));
    }
    if column.exact && column.pooled.cells.len() <= MOST_VALUES {
        consider(Family::Values, judge.sum(Family::Values, |ln| ln));
    }
    if column.pooled.cells.len() >= FEWEST_FOR_KERNEL {
        consider(Family::Kernel, judge.kernel());
    }
    consider(Family::Histogram, judge.histogram());
    Choice { family: best.0, better_than_gaussian: best.1 - gaussian }
}

/// Log-likelihoods of all rows of a column, each without itself.
struct Judge<'a> {
    column: &'a NumberColumn,
    smoother: &'a Smoother<f64>,
    ln_resolution: f64,
}

impl Judge<'_> {
    /// A density, from its class without the row.
    fn density(&self, family: Family) -> f64 {
        self.sum(family, |ln| (ln + self.ln_resolution).min(0.0))
    }

    /// The sum over all numbers of all classes.
    fn sum(&self, family: Family, judged: impl Fn(f64) -> f64) -> f64 {
        let ln = ln_without_one(self.column, family, VarianceFloor::default(), self.smoother);
        let classes = self.column.classes.iter().zip(&ln);
        let cells = classes.flat_map(|(class, ln)| class.cells.iter().zip(ln));
        cells.map(|(cell, &ln)| cell.weight * judged(ln)).sum()
    }

    fn kernel(&self) -> f64 {
        kernel::best_factor(self.column).1 + self.column.pooled.weight * self.ln_resolution
    }

    fn histogram(&self) -> f64 {
        let tree = Tree::fit(self.column);
        let mut within = 0.0;
        for cell in &self.column.pooled.cells {
            let bin = tree.bins.bin(cell.value);
            // The cuts were drawn around this number too: without it the bin would weigh less for its width.
            let drawn = libm::log1p(-1.0 / tree.bins.pooled[bin].max(2.0));
            within += cell.weight * (tree.bins.ln_within(bin, cell.value) + drawn + self.ln_resolution);
        }
        tree.leave_one_out + within
    }
}

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

use super::gamma::{Gamma, LogMean};
use super::kernel;
use super::log_normal::logarithms;
use super::numbers::{NumberColumn, Numbers};
use super::scale::{Exponential, Geometric, Poisson};
use super::student::Belief;
use super::tree::Tree;
use crate::estimate::{Evidence, Smoother};
use crate::settings::Family;

/// A less simple family is better by at least so many nats per row.
const MARGIN: f64 = 0.01;
/// Numbers with more different values are not taken as values of their own.
const MOST_VALUES: usize = 64;
/// A curve is not drawn through fewer different numbers than this.
const FEWEST_FOR_KERNEL: usize = 10;

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
    if !spectrum || n == 0.0 || column.pooled.cells.len() < 2 {
        return simplest;
    }
    if !column.pooled.variance.is_finite() {
        return Choice { family: Family::Histogram, better_than_gaussian: 0.0 };
    }
    let judge = Judge { column, ln_resolution: libm::log(column.resolution().unwrap_or(1.0)) };
    let gaussian = judge.student() / n;
    let mut best = (Family::Student, gaussian);
    let mut consider = |family: Family, likelihood: f64| {
        if likelihood / n > best.1 + MARGIN {
            best = (family, likelihood / n);
        }
    };
    let (least, whole) = (column.pooled.least(), column.is_whole());
    if least >= 0.0 && !whole {
        consider(Family::Exponential, judge.moments(|class| Exponential::fit(class, &column.pooled), Exponential::ln));
    }
    if least >= 0.0 && whole {
        consider(Family::Poisson, judge.moments(|class| Poisson::fit(class, &column.pooled), Poisson::ln));
        consider(Family::Geometric, judge.moments(|class| Geometric::fit(class, &column.pooled), Geometric::ln));
    }
    if least > 0.0 {
        consider(Family::LogNormal, judge.log_normal());
        consider(Family::Gamma, judge.gamma());
    }
    if column.exact && column.pooled.cells.len() <= MOST_VALUES {
        consider(Family::Values, judge.values(smoother));
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
    ln_resolution: f64,
}

impl Judge<'_> {
    /// The sum over all numbers of all classes.
    fn sum(&self, mut ln: impl FnMut(&Numbers, f64) -> f64) -> f64 {
        let mut sum = 0.0;
        for class in &self.column.classes {
            for cell in &class.cells {
                sum += cell.weight * (ln(class, cell.value) + self.ln_resolution).min(0.0);
            }
        }
        sum
    }

    fn student(&self) -> f64 {
        let belief = Belief::of(self.column);
        self.sum(|class, x| belief.updated(&class.moments_without(x)).ln(x))
    }

    fn log_normal(&self) -> f64 {
        let logarithms = logarithms(self.column);
        let belief = Belief::of(&logarithms);
        let mut sum = 0.0;
        for class in &logarithms.classes {
            for cell in &class.cells {
                let ln = belief.updated(&class.moments_without(cell.value)).ln(cell.value) - cell.value;
                sum += cell.weight * (ln + self.ln_resolution).min(0.0);
            }
        }
        sum
    }

    /// A family that is fitted from moments.
    fn moments<D>(&self, fit: impl Fn(&Numbers) -> D, ln: impl Fn(&D, f64) -> f64) -> f64 {
        self.sum(|class, x| ln(&fit(&class.moments_without(x)), x))
    }

    fn gamma(&self) -> f64 {
        let everybody = LogMean::of(&self.column.pooled);
        let mut sum = 0.0;
        for class in &self.column.classes {
            let whole = LogMean::of(class);
            for cell in &class.cells {
                let ln = Gamma::fit(whole.without(cell.value), everybody).ln(cell.value);
                sum += cell.weight * (ln + self.ln_resolution).min(0.0);
            }
        }
        sum
    }

    fn values(&self, smoother: &Smoother<f64>) -> f64 {
        let values = self.column.pooled.cells.len() as f64;
        let mut sum = 0.0;
        for class in &self.column.classes {
            let total: f64 = class.cells.iter().map(|cell| cell.weight).sum();
            for cell in &class.cells {
                let rest = Evidence {
                    count: (cell.weight - 1.0).max(0.0),
                    total: (total - 1.0).max(0.0),
                    pooled_count: cell.weight,
                    pooled_total: self.column.pooled.weight,
                    cells: 1.0,
                    other_cells: values,
                };
                sum += cell.weight * smoother.likelihood(None, &rest).ln();
            }
        }
        sum
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

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
//! later one must be better by a margin. So must a column that is taken apart into [`atoms`](super::atoms) and other numbers,
//! for which a family is found in the same way. Supervised cuts (`mdl`) cannot be judged like this, and ranges, binomials and
//! mixtures are left to those who ask for them: kernels and histograms do their work.

use super::HOW_TO_KEEP_NUMBERS;
use super::atoms::{Atoms, Split};
use super::family::{How, NumberFamily};
use super::kernel;
use super::numbers::{NumberColumn, Numbers, unit};
use super::tree::Tree;
use super::without_one::WithoutOne;
use crate::error::{Error, Result};
use crate::estimate::Smoother;
use crate::settings::VarianceFloor;
use crate::spectrum::Weighed;

/// A less simple family is better by at least this many nats per row.
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
    pub(crate) family: NumberFamily,
    /// Nats per row by which the family is better than a Gaussian with inferred mean and variance; `None` if no Gaussian
    /// can be fitted, since the variance of the numbers is beyond what an f64 can hold.
    pub(crate) better_than_gaussian: Option<f64>,
    /// The numbers that the family is not for, if there are such.
    pub(crate) atoms: Option<Atoms>,
}

impl Choice {
    fn without_atoms(family: NumberFamily, better_than_gaussian: Option<f64>) -> Self {
        Choice { family, better_than_gaussian, atoms: None }
    }
}

/// The family for a column.
///
/// # Errors
/// If the numbers are too large for a Gaussian, and nothing else was kept of them than their sums.
pub(crate) fn choose(rest: &WithoutOne<'_>, smoother: &Smoother<f64>, name: &str) -> Result<Choice> {
    let column = &*rest.column;
    let spectrum = rest.statistics.spectrum.is_some();
    let n = column.pooled.weight;
    if !column.pooled.variance.is_finite() || column.is_too_close() {
        if !spectrum {
            return Err(Error::Settings(format!(
                "`{name}` cannot be {}: its numbers are too large, and only its sums were kept; {HOW_TO_KEEP_NUMBERS}",
                NumberFamily::Student
            )));
        }
        // The bins of the histogram need more rows.
        let family = if n < FEWEST_ROWS { NumberFamily::Proportional } else { NumberFamily::Histogram };
        return Ok(Choice::without_atoms(family, None));
    }
    let spectrum = match &rest.statistics.spectrum {
        Some(spectrum) if n >= FEWEST_ROWS && column.pooled.cells.len() >= 2 => spectrum,
        _ => return Ok(Choice::without_atoms(NumberFamily::Student, Some(0.0))),
    };
    let ln_resolution = libm::log(column.resolution().unwrap_or(1.0));
    let plain = Judge::new(rest, smoother, ln_resolution).best(true);
    let better = |nats_per_row: f64| Some(nats_per_row - plain.nats_per_row_of_gaussian);
    if let Some(split) = Atoms::find(spectrum).and_then(|atoms| Split::new(&rest.statistics, atoms))
        && split.column.pooled.weight >= FEWEST_ROWS
        && !split.column.is_too_close()
    {
        // A family of whole numbers has probabilities for the atoms too, and the others would not add up to one.
        let others = Judge::new(&split.others(), smoother, ln_resolution).best(false);
        let nats_per_row = split.leave_one_out() + split.share_of_others() * others.nats_per_row;
        if nats_per_row > plain.nats_per_row + MARGIN {
            let atoms = Some(split.atoms);
            return Ok(Choice { family: others.family, better_than_gaussian: better(nats_per_row), atoms });
        }
    }
    Ok(Choice::without_atoms(plain.family, better(plain.nats_per_row)))
}

/// A family, the log-likelihood of a row of the column under it, and that under a Gaussian.
struct Best {
    family: NumberFamily,
    nats_per_row: f64,
    nats_per_row_of_gaussian: f64,
}

/// Log-likelihoods of all rows of a column, each without itself, in [units](unit()) of the weight of the column.
struct Judge<'a> {
    rest: &'a WithoutOne<'a>,
    column: &'a NumberColumn,
    smoother: &'a Smoother<f64>,
    ln_resolution: f64,
    unit: f64,
}

impl<'a> Judge<'a> {
    fn new(rest: &'a WithoutOne<'a>, smoother: &'a Smoother<f64>, ln_resolution: f64) -> Self {
        let unit = unit(rest.column.pooled.weight);
        Judge { rest, column: &rest.column, smoother, ln_resolution, unit }
    }

    /// The best family, perhaps one of whole numbers.
    fn best(&self, of_whole_numbers: bool) -> Best {
        let column = self.column;
        let n = column.pooled.weight * self.unit;
        let gaussian = self.density(NumberFamily::Student) / n;
        let mut best = (NumberFamily::Student, gaussian);
        let mut consider = |family: NumberFamily, likelihood: f64| {
            if likelihood / n > best.1 + MARGIN {
                best = (family, likelihood / n);
            }
        };
        let (least, whole) = (column.pooled.least(), column.is_whole());
        if least >= 0.0 && !whole {
            consider(NumberFamily::Exponential, self.density(NumberFamily::Exponential));
        }
        if least >= 0.0 && whole && of_whole_numbers {
            consider(NumberFamily::Poisson, self.density(NumberFamily::Poisson));
            consider(NumberFamily::Geometric, self.density(NumberFamily::Geometric));
        }
        // Close together and far from zero, these look like Gaussians.
        if least > 0.0 && column.pooled.variance > NEAR_GAUSSIAN * column.pooled.mean * column.pooled.mean {
            consider(NumberFamily::LogNormal, self.density(NumberFamily::LogNormal));
            consider(NumberFamily::Gamma, self.density(NumberFamily::Gamma));
        }
        if column.exact && column.pooled.cells.len() <= MOST_VALUES {
            consider(NumberFamily::Values, self.sum(NumberFamily::Values, |ln| ln));
        }
        if column.pooled.cells.len() >= FEWEST_FOR_KERNEL {
            consider(NumberFamily::Kernel, self.kernel());
        }
        consider(NumberFamily::Histogram, self.histogram());
        Best { family: best.0, nats_per_row: best.1, nats_per_row_of_gaussian: gaussian }
    }
}

impl Judge<'_> {
    /// A density, from its class without the row.
    fn density(&self, family: NumberFamily) -> f64 {
        self.sum(family, |ln| (ln + self.ln_resolution).min(0.0))
    }

    /// The sum over all numbers of all classes.
    fn sum(&self, family: NumberFamily, judged: impl Fn(f64) -> f64) -> f64 {
        let how = How { floor: VarianceFloor::default(), smoother: self.smoother };
        let Some(own) = family.without_one(self.rest.clone(), &how) else {
            return f64::NEG_INFINITY;
        };
        let of_class = |(class, numbers): (usize, &Numbers)| -> f64 {
            let row = |cell: &Weighed| {
                cell.weight * self.unit * judged(own(class, cell.value, cell.weight.min(1.0)))
            };
            numbers.cells.iter().map(row).sum()
        };
        self.column.classes.iter().enumerate().map(of_class).sum()
    }

    fn kernel(&self) -> f64 {
        kernel::best_factor(self.column).1 + self.column.pooled.weight * self.unit * self.ln_resolution
    }

    fn histogram(&self) -> f64 {
        let tree = Tree::fit(self.column);
        let mut within = 0.0;
        for cell in &self.column.pooled.cells {
            let bin = tree.bins.bin(cell.value);
            // The cuts were drawn around this number too: without it the bin would weigh less for its width.
            let drawn = libm::log1p(-1.0 / tree.bins.pooled[bin].max(2.0));
            let ln = tree.bins.ln_within(bin, cell.value) + drawn + self.ln_resolution;
            within += cell.weight * self.unit * ln;
        }
        tree.leave_one_out + within
    }
}

//! Gaussian family: x | class ~ Normal(mean, variance).
//!
//! Maximum likelihood: mean = Σx / n, variance = Σx² / n − mean², each rounded once from exact sums. A variance below
//! the floor is raised to it, so that a column that is constant within a class does not rule out everything else.
//!
//! log p(x | class) = −½ ln(2π variance) − ½ z²,    z = (x − mean) / √variance

use std::f64::consts::PI;

use crate::error::{Error, Result};
use crate::families::Removed;
use crate::moments::{Moments, Wide};
use crate::settings::{Settings, VarianceFloor};

/// Weight and exact sums of x and x², missing values counted beside them; one entry per class.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberStatistics {
    pub(crate) moments: Vec<Moments>,
}

impl NumberStatistics {
    /// Adds `sign` times `other`, whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        self.grow(classes);
        for (theirs, &class) in other.moments.iter().zip(class_of) {
            match sign > 0.0 {
                true => self.moments[class].merge(theirs),
                false => self.moments[class].subtract(theirs),
            }
        }
    }

    pub(crate) fn grow(&mut self, classes: usize) {
        self.moments.resize(classes.max(self.moments.len()), Moments::default());
    }

    /// The first class of which `other` cannot be a part: it has more rows, or sums that the rest could not have.
    pub(crate) fn first_shortfall(&self, other: &Self, class_of: &[Option<usize>]) -> Option<usize> {
        (0..other.moments.len()).find(|&class| {
            let mut left =
                class_of[class].and_then(|class| self.moments.get(class)).cloned().unwrap_or_default();
            left.subtract(&other.moments[class]);
            !is_possible(&left)
        })
    }

    /// Classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let moments = classes.iter().map(|&class| self.moments.get(class).cloned().unwrap_or_default());
        NumberStatistics { moments: moments.collect() }
    }
}

/// Whether any numbers could have these moments: no negative weight or variance, and nothing sums to nothing.
pub(crate) fn is_possible(moments: &Moments) -> bool {
    if moments.weight.is_negative() || moments.missing.is_negative() {
        return false;
    }
    match moments.variance() {
        Some(variance) => variance >= 0.0,
        None => moments.sum.is_zero() && moments.sum_of_squares.is_zero(),
    }
}

/// A column of numbers made ready for estimation.
pub(crate) struct GaussianEstimate<'a> {
    statistics: &'a NumberStatistics,
    floor: VarianceFloor,
    pooled: Moments,
    classes: Vec<Normal>,
}

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Normal {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl Normal {
    fn of(moments: &Moments) -> Option<Self> {
        Some(Normal { mean: moments.mean()?, variance: moments.variance()? })
    }

    fn ln(&self, x: f64) -> f64 {
        let (log_peak, precision_root) = self.constants();
        let z = (x - self.mean) * precision_root;
        log_peak - 0.5 * z * z
    }

    /// −½ ln(2π variance) and 1 / √variance, which is finite for every variance above zero.
    fn constants(&self) -> (f64, f64) {
        (-0.5 * (libm::log(2.0 * PI) + libm::log(self.variance)), 1.0 / libm::sqrt(self.variance))
    }
}

impl<'a> GaussianEstimate<'a> {
    /// Prepares canonical statistics.
    ///
    /// # Errors
    /// If the numbers spread so far that their variance is beyond an f64.
    pub(crate) fn new(statistics: &'a NumberStatistics, settings: &Settings, column: &str) -> Result<Self> {
        let mut pooled = Moments::default();
        statistics.moments.iter().for_each(|moments| pooled.merge(moments));
        if pooled.variance().is_some_and(f64::is_infinite) {
            return Err(Error::Settings(format!("the numbers in `{column}` are too large for a Gaussian")));
        }
        let mut estimate =
            GaussianEstimate { statistics, floor: settings.variance_floor, pooled, classes: Vec::new() };
        let everybody = estimate.everybody(None);
        estimate.classes =
            statistics.moments.iter().map(|moments| estimate.floored(moments, everybody)).collect();
        Ok(estimate)
    }

    /// The distribution of each class.
    pub(crate) fn normals(&self) -> &[Normal] {
        &self.classes
    }

    /// log p(x | class) for every class, as if one training row with this x had not been there.
    pub(crate) fn ln_without(&self, x: f64, removed: Removed) -> Vec<f64> {
        let everybody = self.everybody(Some((x, removed.weight)));
        let normals = self.statistics.moments.iter().enumerate().map(|(class, moments)| {
            if class != removed.class {
                return self.floored(moments, everybody);
            }
            let mut rest = moments.clone();
            rest.add(x, -removed.weight);
            self.floored(&rest, everybody)
        });
        normals.map(|normal| normal.ln(x)).collect()
    }

    /// All classes together, perhaps without one value.
    fn everybody(&self, removed: Option<(f64, f64)>) -> Normal {
        let mut pooled = self.pooled.clone();
        if let Some((x, weight)) = removed {
            pooled.add(x, -weight);
        }
        Normal::of(&pooled).unwrap_or(Normal { mean: 0.0, variance: 0.0 })
    }

    /// A class of which nothing is known is like everybody. If everybody is alike the column says nothing, and any
    /// variance will do.
    fn floored(&self, moments: &Moments, everybody: Normal) -> Normal {
        let floor = match self.floor {
            VarianceFloor::Relative(share) => share * everybody.variance,
            VarianceFloor::Absolute(floor) => floor,
        };
        let Normal { mean, variance } = Normal::of(moments).unwrap_or(everybody);
        let variance = variance.max(floor);
        Normal { mean, variance: if variance > 0.0 { variance } else { 1.0 } }
    }
}

/// Constants of the log-density, folded once; one entry per class.
#[derive(Debug, Clone)]
pub(crate) struct GaussianLikelihood {
    mean: Vec<f64>,
    precision_root: Vec<f64>,
    log_peak: Vec<f64>,
}

impl GaussianLikelihood {
    pub(crate) fn new(estimate: &GaussianEstimate<'_>) -> Self {
        let constants = estimate.normals().iter().map(Normal::constants);
        let (log_peak, precision_root) = constants.unzip();
        GaussianLikelihood {
            mean: estimate.normals().iter().map(|n| n.mean).collect(),
            precision_root,
            log_peak,
        }
    }

    /// Adds log p(x | class) of every row to its scores; a missing x adds nothing.
    pub(crate) fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) {
        let classes = self.mean.len();
        let (mean, precision_root, log_peak) =
            (&self.mean[..classes], &self.precision_root[..classes], &self.log_peak[..classes]);
        for (scores, &x) in scores.chunks_exact_mut(classes).zip(values) {
            if x.is_nan() {
                continue;
            }
            for class in 0..classes {
                let z = (x - mean[class]) * precision_root[class];
                scores[class] += log_peak[class] - 0.5 * z * z;
            }
        }
    }

    /// log p(x | class) for each class.
    pub(crate) fn contribution(&self, x: f64) -> Vec<f64> {
        let mut scores = vec![0.0; self.mean.len()];
        self.add_log_likelihood(&[x], &mut scores);
        scores
    }
}

/// The exact weight of a class in this column, missing included.
pub(crate) fn total_weight(moments: &Moments) -> Wide {
    let mut total = moments.weight.clone();
    total.merge(&moments.missing);
    total
}

//! Gaussian family: x | class ~ Normal(mean, variance).
//!
//! Maximum likelihood: mean = Σx / n, variance = Σx² / n − mean², each rounded once from exact sums. A variance below
//! the floor is raised to it, so that a column that is constant within a class does not rule out everything else.
//!
//! log p(x | class) = −½ ln(2π variance) − ½ z²,    z = (x − mean) / √variance

use std::f64::consts::PI;
use std::sync::Arc;

use super::density::{Densities, Fitted, Parameter};
use super::family::{Fit, How, Needs};
use super::numbers::{NumberColumn, Numbers};
use super::without_one::{Own, WithoutOne};
use crate::moments::engine::vectorized;
use crate::settings::VarianceFloor;

/// The family: a normal distribution for each class.
pub(super) struct Gaussian;

impl Fit for Gaussian {
    fn needs(&self) -> Needs {
        Needs::Sums
    }

    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        Arc::new(NormalLikelihood::new(Normal::fit(column, how.floor)))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        Some(Normal::without_one(rest, how.floor))
    }
}

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Normal {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl Normal {
    /// The distribution of each class.
    pub(crate) fn fit(column: &NumberColumn, floor: VarianceFloor) -> Vec<Normal> {
        column.classes.iter().map(|class| Normal::floored(class, &column.pooled, floor)).collect()
    }

    /// A class of which nothing is known is like everybody.
    pub(crate) fn floored(class: &Numbers, everybody: &Numbers, floor: VarianceFloor) -> Normal {
        let own = if class.weight > 0.0 { class } else { everybody };
        Normal { mean: own.mean, variance: floored(own.variance, everybody.variance, floor) }
    }

    /// What classes say of their own numbers. The variance of everybody stays as all rows say.
    pub(crate) fn without_one<'a>(rest: WithoutOne<'a>, floor: VarianceFloor) -> Own<'a> {
        Box::new(move |class, x, weight| {
            Normal::floored(&rest.moments(class, x, weight), &rest.column.pooled, floor).ln(x)
        })
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        let (log_peak, precision_root) = self.constants();
        let z = (x - self.mean) * precision_root;
        log_peak - 0.5 * z * z
    }

    /// −½ ln(2π variance) and 1 / √variance, which is finite for every variance above zero.
    fn constants(&self) -> (f64, f64) {
        (-0.5 * (libm::log(2.0 * PI) + libm::log(self.variance)), 1.0 / libm::sqrt(self.variance))
    }
}

/// A variance raised to its floor. If everybody is alike the column says nothing, and any variance will do.
pub(crate) fn floored(variance: f64, of_everybody: f64, floor: VarianceFloor) -> f64 {
    let variance = match floor {
        VarianceFloor::Relative(share) => variance.max(share * of_everybody),
        VarianceFloor::Absolute(floor) => variance.max(floor),
        VarianceFloor::Added(amount) => variance + amount,
        VarianceFloor::Sklearn(_) => unreachable!("resolved once all columns are known"),
    };
    if variance > 0.0 { variance.min(f64::MAX) } else { 1.0 }
}

/// Constants of the log-density, folded once; one entry per class.
#[derive(Debug, Clone)]
struct NormalLikelihood {
    mean: Vec<f64>,
    variance: Vec<f64>,
    precision_root: Vec<f64>,
    log_peak: Vec<f64>,
}

impl NormalLikelihood {
    fn new(normals: Vec<Normal>) -> Self {
        let (log_peak, precision_root) = normals.iter().map(Normal::constants).unzip();
        let (mean, variance) = normals.into_iter().map(|normal| (normal.mean, normal.variance)).unzip();
        NormalLikelihood { mean, variance, precision_root, log_peak }
    }
}

impl Densities for NormalLikelihood {
    fn classes(&self) -> usize {
        self.mean.len()
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        let classes = self.classes();
        let NormalLikelihood { mean, precision_root, log_peak, .. } = self;
        vectorized(
            #[inline(always)]
            move || {
                // All cut to one length, or else the compiler would not know that no index is out of bounds.
                let (mean, precision_root) = (&mean[..classes], &precision_root[..classes]);
                let log_peak = &log_peak[..classes];
                for (scores, &x) in scores.chunks_exact_mut(classes).zip(values).filter(|(_, x)| !x.is_nan())
                {
                    for class in 0..classes {
                        let z = (x - mean[class]) * precision_root[class];
                        scores[class] += log_peak[class] - 0.5 * z * z;
                    }
                }
            },
        );
        0
    }

    fn parameters(&self) -> Vec<Parameter> {
        let deviation = self.variance.iter().copied().map(libm::sqrt).collect();
        vec![("mean", self.mean.clone()), ("standard deviation", deviation)]
    }

    fn free_parameters(&self) -> usize {
        2 * self.classes()
    }
}

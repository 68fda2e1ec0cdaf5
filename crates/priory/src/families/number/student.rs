//! Student's t: a Gaussian of which mean and variance are not known but inferred.
//!
//! The predictive distribution under a normal-inverse-gamma prior, as if each class had shown a tenth of a row at the
//! mean of the column and one row of its average variance within classes before its own rows came:
//!
//! ```text
//! κ = κ₀ + n,   ν = ν₀ + n,   μ = (κ₀ μ₀ + n x̄) / κ
//! ν σ² = ν₀ σ₀² + n s² + κ₀ n (x̄ − μ₀)² / κ
//! x ~ t(ν degrees of freedom, location μ, scale² σ² (1 + 1/κ))
//! ```
//!
//! It needs no floor, works for a class with one row, and its tails are as heavy as the rows are few.

use std::f64::consts::PI;

use super::numbers::{NumberColumn, Numbers};
use crate::numerics::ln_1p;

/// Rows that the mean of the column counts for.
const PRIOR_ROWS_OF_MEAN: f64 = 0.1;
/// Rows that the variance within classes counts for.
const PRIOR_ROWS_OF_VARIANCE: f64 = 1.0;

/// A t distribution with location and scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Student {
    pub(crate) location: f64,
    pub(crate) scale: f64,
    pub(crate) freedom: f64,
    ln_peak: f64,
}

/// What is believed of every class before its own rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Belief {
    mean: f64,
    variance: f64,
}

impl Belief {
    pub(crate) fn of(column: &NumberColumn) -> Self {
        Belief { mean: column.pooled.mean, variance: column.variance_within() }
    }

    /// The predictive distribution of a class with these moments.
    pub(crate) fn updated(self, class: &Numbers) -> Student {
        let n = class.weight;
        let (kappa, freedom) = (PRIOR_ROWS_OF_MEAN + n, PRIOR_ROWS_OF_VARIANCE + n);
        let gap = class.mean - self.mean;
        let location = self.mean + gap * (n / kappa);
        let squares = PRIOR_ROWS_OF_VARIANCE * self.variance
            + n * class.variance
            + PRIOR_ROWS_OF_MEAN * (n / kappa) * gap * gap;
        let square = squares / freedom * (1.0 + 1.0 / kappa);
        Student::new(location, libm::sqrt(square), freedom)
    }
}

impl Student {
    /// If everybody is alike the column says nothing, and any scale will do.
    pub(crate) fn new(location: f64, scale: f64, freedom: f64) -> Self {
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let ln_peak = libm::lgamma(0.5 * (freedom + 1.0))
            - libm::lgamma(0.5 * freedom)
            - 0.5 * libm::log(freedom * PI)
            - libm::log(scale);
        Student { location, scale, freedom, ln_peak }
    }

    /// The distribution of each class.
    pub(crate) fn fit(column: &NumberColumn) -> Vec<Student> {
        let belief = Belief::of(column);
        column.classes.iter().map(|class| belief.updated(class)).collect()
    }

    #[inline]
    pub(crate) fn ln(&self, x: f64) -> f64 {
        let z = (x - self.location) / self.scale;
        let square = z * z / self.freedom;
        let ln_one_plus_square = if square.is_finite() {
            ln_1p(square)
        } else {
            2.0 * libm::log(z.abs()) - libm::log(self.freedom)
        };
        self.ln_peak - 0.5 * (self.freedom + 1.0) * ln_one_plus_square
    }
}

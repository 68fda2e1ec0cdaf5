//! The background: imagined rows, spread like the whole column, that kernels, mixtures and ranges add to each class.
//!
//! p(x | class) = (n f(x) + √n b(x)) / (n + √n)
//!
//! Without them a number a little outside of what a class has shown would rule the class out. √n rows is what the minimax
//! estimate of a probability adds (Hodges and Lehmann 1950). Since b is the same for all classes, a number that none of
//! them explains speaks for none.

use std::f64::consts::PI;

use super::numbers::{NumberColumn, Numbers};
use super::student::Student;

/// Degrees of freedom. The tails are heavy enough for anything, and the density needs no logarithm.
const FREEDOM: f64 = 3.0;

/// The distribution of the imagined rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Background(Student);

impl Background {
    pub(crate) fn of(column: &NumberColumn) -> Self {
        Background(Student::new(column.pooled.mean, libm::sqrt(column.pooled.variance), FREEDOM))
    }

    /// What it is spread by.
    pub(crate) fn scale(&self) -> f64 {
        self.0.scale
    }

    /// The density of the imagined rows: 2 / (π √3 σ (1 + z² / 3)²).
    pub(crate) fn density(&self, x: f64) -> f64 {
        let z = (x - self.0.location) / self.0.scale;
        let distance = 1.0 + z * z / FREEDOM;
        2.0 / (PI * libm::sqrt(FREEDOM)) / self.0.scale / distance / distance
    }

    /// The logarithm of the density of a class, of which its own rows say `density`.
    pub(crate) fn ln_with(&self, x: f64, class: &Share, density: f64) -> f64 {
        if density > 0.0 {
            return libm::log(class.own * density + class.imagined * self.density(x));
        }
        libm::log(class.imagined) + self.0.ln(x)
    }
}

/// What share of the probability the rows of a class have, and the imagined rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    pub(crate) own: f64,
    pub(crate) imagined: f64,
}

impl Share {
    pub(crate) fn of(class: &Numbers) -> Self {
        Share::of_weight(class.weight)
    }

    pub(crate) fn of_weight(weight: f64) -> Self {
        let imagined = libm::sqrt(weight.max(1.0));
        Share { own: weight / (weight + imagined), imagined: imagined / (weight + imagined) }
    }
}

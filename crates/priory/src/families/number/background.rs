//! The background: one imagined row, spread like the whole column, that kernels, mixtures and ranges add to each class.
//!
//! p(x | class) = (n f(x) + b(x)) / (n + 1)
//!
//! Without it a number a little outside of what a class has shown would rule the class out. Since b is the same for all
//! classes, a number that none of them explains speaks for none.

use super::numbers::{NumberColumn, Numbers};
use super::student::Student;

/// Tails heavy enough for anything.
const FREEDOM: f64 = 3.0;

/// The distribution of the imagined row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Background(Student);

impl Background {
    pub(crate) fn of(column: &NumberColumn) -> Self {
        Background(Student::new(column.pooled.mean, libm::sqrt(column.pooled.variance), FREEDOM))
    }

    /// The density of the imagined row.
    pub(crate) fn density(&self, x: f64) -> f64 {
        libm::exp(self.0.ln(x))
    }

    /// The logarithm of n f(x) + b(x), over n + 1.
    pub(crate) fn ln_with(&self, x: f64, class: &Share, density: f64) -> f64 {
        if density > 0.0 {
            return libm::log(class.own * density + class.imagined * self.density(x));
        }
        libm::log(class.imagined) + self.0.ln(x)
    }
}

/// What share of the probability the rows of a class have, and the imagined row.
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
        Share { own: weight / (weight + 1.0), imagined: 1.0 / (weight + 1.0) }
    }
}

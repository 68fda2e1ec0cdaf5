//! Families with one parameter, found from the mean alone.
//!
//! | family | support | parameter | log p(x) |
//! |---|---|---|---|
//! | exponential | x ≥ 0 | rate 1 / mean | ln rate − rate x |
//! | Poisson | 0, 1, 2, … | mean | x ln mean − mean − ln x! |
//! | geometric | 0, 1, 2, … | p = 1 / (1 + mean) | ln p + x ln(1 − p) |
//! | binomial | 0, …, n | p = mean / n | ln C(n, x) + x ln p + (n − x) ln(1 − p) |
//!
//! A class whose numbers are all zero would make every other number impossible; its mean is taken as if it had shown
//! one more row, at the mean of the column. So is the mean of a binomial whose numbers are all n.

use super::numbers::{NumberColumn, Numbers};

/// The mean of a class, or if that is zero or `most`, what it would be with one more row like everybody.
fn mean_between(class: &Numbers, everybody: &Numbers, most: f64) -> f64 {
    if class.weight > 0.0 && class.mean > 0.0 && class.mean < most {
        return class.mean;
    }
    let mean = (class.weight * class.mean + everybody.mean) / (class.weight + 1.0);
    if mean > 0.0 && mean < most { mean } else { 0.5 * most.min(2.0) }
}

/// Waiting times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exponential {
    pub(crate) rate: f64,
}

impl Exponential {
    pub(crate) fn fit(class: &Numbers, everybody: &Numbers) -> Self {
        Exponential { rate: 1.0 / mean_between(class, everybody, f64::INFINITY) }
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        if x < 0.0 { f64::NEG_INFINITY } else { libm::log(self.rate) - self.rate * x }
    }
}

/// Counts of rare events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Poisson {
    pub(crate) mean: f64,
}

impl Poisson {
    pub(crate) fn fit(class: &Numbers, everybody: &Numbers) -> Self {
        Poisson { mean: mean_between(class, everybody, f64::INFINITY) }
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        if !is_count(x) {
            return f64::NEG_INFINITY;
        }
        x * libm::log(self.mean) - self.mean - libm::lgamma(x + 1.0)
    }
}

/// Failures before the first success.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Geometric {
    pub(crate) success: f64,
}

impl Geometric {
    pub(crate) fn fit(class: &Numbers, everybody: &Numbers) -> Self {
        Geometric { success: 1.0 / (1.0 + mean_between(class, everybody, f64::INFINITY)) }
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        if is_count(x) { libm::log(self.success) + x * libm::log1p(-self.success) } else { f64::NEG_INFINITY }
    }
}

/// Successes in a number of trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Binomial {
    pub(crate) trials: f64,
    pub(crate) success: f64,
}

impl Binomial {
    pub(crate) fn fit(column: &NumberColumn, trials: Option<u32>) -> Vec<Self> {
        column.classes.iter().map(|class| Binomial::fit_class(class, &column.pooled, trials)).collect()
    }

    /// Without a number of trials, it is the largest number of the column.
    pub(crate) fn fit_class(class: &Numbers, everybody: &Numbers, trials: Option<u32>) -> Self {
        let trials = trials.map_or(everybody.greatest().max(1.0), f64::from);
        Binomial { trials, success: mean_between(class, everybody, trials) / trials }
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        let n = self.trials;
        if !is_count(x) || x > n {
            return f64::NEG_INFINITY;
        }
        let ln_ways = libm::lgamma(n + 1.0) - libm::lgamma(x + 1.0) - libm::lgamma(n - x + 1.0);
        ln_ways + x * libm::log(self.success) + (n - x) * libm::log1p(-self.success)
    }
}

fn is_count(x: f64) -> bool {
    x >= 0.0 && x.fract() == 0.0
}

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

use std::f64::consts::PI;

use super::density::{Density, Fitted, of_each_class};
use super::family::{Fit, How, Support};
use super::gamma::stirling_rest;
use super::numbers::{NumberColumn, Numbers, unit};
use super::without_one::{Own, WithoutOne};

/// The mean of a class, or if that is zero or `most`, what it would be with one more row like everybody.
fn mean_between(class: &Numbers, everybody: &Numbers, most: f64) -> f64 {
    if class.weight > 0.0 && class.mean > 0.0 && class.mean < most {
        return class.mean;
    }
    let unit = unit(class.weight + 1.0);
    let mean = (class.weight * unit * class.mean + everybody.mean * unit) / ((class.weight + 1.0) * unit);
    if mean > 0.0 && mean < most { mean } else { 0.5 * most.min(2.0) }
}

/// One distribution for each class, each found from its own numbers and those of all.
fn of_means<D: Density>(column: &NumberColumn, fit: impl Fn(&Numbers, &Numbers) -> D) -> Fitted {
    of_each_class(column.classes.iter().map(|class| fit(class, &column.pooled)).collect())
}

/// The exponential family.
pub(super) struct WaitingTimes;

impl Fit for WaitingTimes {
    fn support(&self) -> Support {
        Support::ZeroOrMore
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_means(column, Exponential::fit)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_means(rest, Exponential::fit))
    }
}

/// The Poisson family.
pub(super) struct RareEvents;

impl Fit for RareEvents {
    fn support(&self) -> Support {
        Support::Counts
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_means(column, Poisson::fit)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_means(rest, Poisson::fit))
    }
}

/// The geometric family.
pub(super) struct Failures;

impl Fit for Failures {
    fn support(&self) -> Support {
        Support::Counts
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_means(column, Geometric::fit)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_means(rest, Geometric::fit))
    }
}

/// The binomial family.
pub(super) struct Successes {
    pub(super) trials: Option<u32>,
}

impl Fit for Successes {
    fn support(&self) -> Support {
        self.trials.map_or(Support::Counts, Support::CountsUpTo)
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_means(column, |class, everybody| Binomial::fit_class(class, everybody, self.trials))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        let trials = self.trials;
        Some(own_of_means(rest, move |class, everybody| Binomial::fit_class(class, everybody, trials)))
    }
}

/// What classes say of their own numbers, from the distribution of what is left of a class. What everybody is like stays
/// as all rows say.
fn own_of_means<'a, D: Density>(
    rest: WithoutOne<'a>,
    fit: impl Fn(&Numbers, &Numbers) -> D + Send + Sync + 'a,
) -> Own<'a> {
    Box::new(move |class, x, weight| fit(&rest.moments(class, x, weight), &rest.column.pooled).ln(x))
}

/// Waiting times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exponential {
    pub(crate) rate: f64,
}

impl Exponential {
    pub(crate) fn fit(class: &Numbers, everybody: &Numbers) -> Self {
        // The rate of a mean near zero would be infinite.
        Exponential { rate: (1.0 / mean_between(class, everybody, f64::INFINITY)).min(f64::MAX) }
    }
}

impl Density for Exponential {
    const PARAMETERS: &'static [&'static str] = &["rate"];

    fn ln(&self, x: f64) -> f64 {
        if x < 0.0 { f64::NEG_INFINITY } else { libm::log(self.rate) - self.rate * x }
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.rate]
    }

    fn free_parameters(&self) -> usize {
        1
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
}

impl Density for Poisson {
    /// Its mean is that of the data, which is shown anyway.
    const PARAMETERS: &'static [&'static str] = &[];

    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    fn free_parameters(&self) -> usize {
        1
    }

    fn ln(&self, x: f64) -> f64 {
        if !is_count(x) {
            return f64::NEG_INFINITY;
        }
        if x < MANY {
            return x * libm::log(self.mean) - self.mean - libm::lgamma(x + 1.0);
        }
        -deviance(x, self.mean) - 0.5 * (libm::log(2.0 * PI) + libm::log(x))
    }
}

/// Failures before the first success.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Geometric {
    pub(crate) success: f64,
    ln_failure: f64,
}

impl Geometric {
    pub(crate) fn fit(class: &Numbers, everybody: &Numbers) -> Self {
        let mean = mean_between(class, everybody, f64::INFINITY);
        let success = 1.0 / (1.0 + mean);
        // The chance of a failure, mean / (1 + mean), may be so small that the chance of a success rounds to one.
        let ln_failure = if success < 1.0 { libm::log1p(-success) } else { libm::log(mean) };
        Geometric { success, ln_failure }
    }
}

impl Density for Geometric {
    const PARAMETERS: &'static [&'static str] = &["P(success)"];

    fn parameters(&self) -> Vec<f64> {
        vec![self.success]
    }

    fn free_parameters(&self) -> usize {
        1
    }

    fn ln(&self, x: f64) -> f64 {
        if is_count(x) { libm::log(self.success) + x * self.ln_failure } else { f64::NEG_INFINITY }
    }
}

/// Successes in a number of trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Binomial {
    pub(crate) trials: f64,
    pub(crate) success: f64,
}

impl Binomial {
    /// Without a number of trials, it is the largest number of the column.
    pub(crate) fn fit_class(class: &Numbers, everybody: &Numbers, trials: Option<u32>) -> Self {
        let trials = trials.map_or(everybody.greatest().max(1.0), f64::from);
        let success = mean_between(class, everybody, trials) / trials;
        Binomial { trials, success: success.max(f64::MIN_POSITIVE) }
    }
}

impl Density for Binomial {
    const PARAMETERS: &'static [&'static str] = &["trials", "P(success)"];

    fn parameters(&self) -> Vec<f64> {
        vec![self.trials, self.success]
    }

    fn free_parameters(&self) -> usize {
        1
    }

    fn ln(&self, x: f64) -> f64 {
        let n = self.trials;
        if !is_count(x) || x > n {
            return f64::NEG_INFINITY;
        }
        let (ln_success, ln_failure) = (libm::log(self.success), libm::log1p(-self.success));
        if n < MANY {
            let ln_ways = libm::lgamma(n + 1.0) - libm::lgamma(x + 1.0) - libm::lgamma(n - x + 1.0);
            return ln_ways + x * ln_success + (n - x) * ln_failure;
        }
        if x == 0.0 {
            return n * ln_failure;
        }
        if x == n {
            return n * ln_success;
        }
        // Loader (2000), "Fast and accurate computation of binomial probabilities".
        let failures = n - x;
        let ln_spread = libm::log(2.0 * PI) + libm::log(x) + libm::log(failures / n);
        let correction = stirling_error(n) - stirling_error(x) - stirling_error(failures);
        let apart = deviance(x, n * self.success) + deviance(failures, n * (1.0 - self.success));
        correction - apart - 0.5 * ln_spread
    }
}

/// From here on logarithms of factorials are so large that their differences lose digits, and are infinite in the end.
const MANY: f64 = 1e8;

/// x ln(x / mean) − (x − mean): what it costs that x is not the mean. Never negative; both are above zero.
fn deviance(x: f64, mean: f64) -> f64 {
    let gap = (x - mean) / x;
    // ln(mean / x), which for a mean near x has its digits in the difference.
    let ln_ratio = if gap.abs() < 0.5 { libm::log1p(-gap) } else { libm::log(mean) - libm::log(x) };
    (-x * (ln_ratio + gap)).max(0.0)
}

/// ln x! less Stirling's approximation of it.
fn stirling_error(x: f64) -> f64 {
    0.5 * libm::log(x / (2.0 * PI)) - stirling_rest(x)
}

fn is_count(x: f64) -> bool {
    x >= 0.0 && x.fract() == 0.0
}

//! Log-normal family: ln x is Gaussian, with mean and variance inferred as in [`student`](super::student).
//!
//! log p(x) = log t(ln x) − ln x    for x > 0

use std::sync::OnceLock;

use super::density::{Density, Fitted, of_each_class};
use super::family::{Fit, How, Support};
use super::numbers::NumberColumn;
use super::student::{Belief, Student};
use super::without_one::{Own, WithoutOne};

/// The family: a distribution of logarithms for each class.
pub(super) struct OfLogarithms;

impl Fit for OfLogarithms {
    fn support(&self) -> Support {
        Support::AboveZero
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_each_class(LogNormal::fit(column))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(LogNormal::without_one(rest))
    }
}

/// The distribution of ln x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogNormal {
    pub(crate) of_ln: Student,
}

impl LogNormal {
    pub(crate) fn fit(column: &NumberColumn) -> Vec<LogNormal> {
        Student::fit(&logarithms(column)).into_iter().map(|of_ln| LogNormal { of_ln }).collect()
    }

    /// What classes say of their own numbers. What is believed of every class beforehand stays as all rows say.
    pub(crate) fn without_one<'a>(rest: WithoutOne<'a>) -> Own<'a> {
        let logarithms = logarithms(&rest.column);
        let belief = Belief::of(&logarithms);
        Box::new(move |class, x, weight| {
            let ln_x = libm::log(x);
            let left = logarithms.classes[class].moments_without(ln_x, weight);
            let left = left.unwrap_or_else(|| rest.cells(class, x, weight).map(libm::log));
            belief.updated(&left).ln(ln_x) - ln_x
        })
    }
}

impl Density for LogNormal {
    const PARAMETERS: &'static [&'static str] = &["median", "scale of ln"];

    fn ln(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let ln_x = libm::log(x);
        self.of_ln.ln(ln_x) - ln_x
    }

    fn parameters(&self) -> Vec<f64> {
        vec![libm::exp(self.of_ln.location), self.of_ln.scale]
    }

    fn free_parameters(&self) -> usize {
        2
    }
}

/// The column of logarithms; every number is above zero.
pub(crate) fn logarithms(column: &NumberColumn) -> NumberColumn {
    NumberColumn {
        classes: column.classes.iter().map(|class| class.map(libm::log)).collect(),
        pooled: column.pooled.map(libm::log),
        exact: false,
        best_factor: OnceLock::new(),
    }
}

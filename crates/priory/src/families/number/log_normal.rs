//! Log-normal family: ln x is Gaussian, with mean and variance inferred as in [`student`](super::student).
//!
//! log p(x) = log t(ln x) − ln x    for x > 0

use std::cell::OnceCell;

use super::numbers::NumberColumn;
use super::student::Student;

/// The distribution of ln x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogNormal {
    pub(crate) of_ln: Student,
}

impl LogNormal {
    pub(crate) fn fit(column: &NumberColumn) -> Vec<LogNormal> {
        Student::fit(&logarithms(column)).into_iter().map(|of_ln| LogNormal { of_ln }).collect()
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let ln_x = libm::log(x);
        self.of_ln.ln(ln_x) - ln_x
    }
}

/// The column of logarithms; every number is above zero.
pub(crate) fn logarithms(column: &NumberColumn) -> NumberColumn {
    NumberColumn {
        classes: column.classes.iter().map(|class| class.map(libm::log)).collect(),
        pooled: column.pooled.map(libm::log),
        exact: false,
        best_factor: OnceCell::new(),
    }
}

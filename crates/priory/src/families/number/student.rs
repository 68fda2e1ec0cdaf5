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

use std::f64::consts::{LN_2, PI};
use std::sync::Arc;

use super::density::{Densities, Fitted, Parameter};
use super::family::{Fit, How, Needs};
use super::numbers::{NumberColumn, Numbers, along, unit};
use super::without_one::{Own, WithoutOne};
use crate::moments::engine::vectorized;
use crate::numerics::{SMALL, ln_1p, ln_1p_small};

/// The family: a t distribution for each class.
pub(super) struct Inferred;

impl Fit for Inferred {
    fn needs(&self) -> Needs {
        Needs::Sums
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        Arc::new(Students(Student::fit(column)))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(Belief::without_one(rest))
    }
}

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
    /// 1 / scale and 1 / freedom: a product takes a fraction of the time of a quotient.
    per_scale: f64,
    per_freedom: f64,
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
        self.updated_with_peak(class, ln_unit_peak(PRIOR_ROWS_OF_VARIANCE + class.weight))
    }

    /// The same where [`ln_unit_peak`] of its degrees of freedom is known.
    fn updated_with_peak(self, class: &Numbers, ln_unit_peak: f64) -> Student {
        let n = class.weight;
        let (kappa, freedom) = (PRIOR_ROWS_OF_MEAN + n, PRIOR_ROWS_OF_VARIANCE + n);
        let gap = class.mean - self.mean;
        let location = along(self.mean, class.mean, n / kappa);
        let unit = unit(freedom);
        let squares = PRIOR_ROWS_OF_VARIANCE * unit * self.variance
            + n * unit * class.variance
            + PRIOR_ROWS_OF_MEAN * unit * (n / kappa) * gap * gap;
        let square = squares / (freedom * unit) * (1.0 + 1.0 / kappa);
        Student::with_peak(location, libm::sqrt(square.min(f64::MAX)), freedom, ln_unit_peak)
    }

    /// What classes say of their own numbers. What is believed of every class beforehand stays as all rows say.
    pub(crate) fn without_one<'a>(rest: WithoutOne<'a>) -> Own<'a> {
        let belief = Belief::of(&rest.column);
        // Most rows weigh one.
        let ln_unit_peak_without_one: Vec<f64> = (rest.column.classes.iter())
            .map(|class| ln_unit_peak(PRIOR_ROWS_OF_VARIANCE + (class.weight - 1.0).max(0.0)))
            .collect();
        Box::new(move |class, x, weight| {
            let left = rest.moments(class, x, weight);
            match weight == 1.0 {
                true => belief.updated_with_peak(&left, ln_unit_peak_without_one[class]).ln(x),
                false => belief.updated(&left).ln(x),
            }
        })
    }
}

impl Student {
    /// If everybody is alike the column says nothing, and any scale will do.
    pub(crate) fn new(location: f64, scale: f64, freedom: f64) -> Self {
        Student::with_peak(location, scale, freedom, ln_unit_peak(freedom))
    }

    fn with_peak(location: f64, scale: f64, freedom: f64, ln_unit_peak: f64) -> Self {
        let scale = if scale > 0.0 { scale.max(f64::MIN_POSITIVE) } else { 1.0 };
        let ln_peak = ln_unit_peak - libm::log(scale);
        Student { location, scale, freedom, per_scale: 1.0 / scale, per_freedom: 1.0 / freedom, ln_peak }
    }

    /// The distribution of each class.
    pub(crate) fn fit(column: &NumberColumn) -> Vec<Student> {
        let belief = Belief::of(column);
        column.classes.iter().map(|class| belief.updated(class)).collect()
    }

    /// log p(x).
    pub(crate) fn ln(&self, x: f64) -> f64 {
        // Most numbers are near, and for one alone the compiler may work out both sides of what has no branch.
        if self.distance(x) <= SMALL {
            return self.ln_nearest(x);
        }
        let near = self.ln_near(x);
        if near.is_nan() { self.ln_far(x) } else { near }
    }

    /// NaN for an x so far away that the square of its distance is infinite.
    #[inline(always)]
    fn ln_near(&self, x: f64) -> f64 {
        self.ln_from(ln_1p(self.distance(x)))
    }

    /// The same for an x of [`SMALL`] distance, faster.
    #[inline(always)]
    fn ln_nearest(&self, x: f64) -> f64 {
        self.ln_from(ln_1p_small(self.distance(x)))
    }

    /// z² / ν, the square of the distance from the centre beside the degrees of freedom.
    #[inline(always)]
    fn distance(&self, x: f64) -> f64 {
        let z = (x - self.location) * self.per_scale;
        z * z * self.per_freedom
    }

    fn ln_far(&self, x: f64) -> f64 {
        let gap = (x - self.location).abs();
        let ln_gap = match gap.is_finite() {
            true => libm::log(gap),
            false => LN_2 + libm::log((0.5 * x - 0.5 * self.location).abs()),
        };
        let ln_z = ln_gap - libm::log(self.scale);
        self.ln_from(2.0 * ln_z - libm::log(self.freedom))
    }

    /// log p(x) from ln(1 + z² / ν).
    #[inline(always)]
    fn ln_from(&self, ln_1p_distance: f64) -> f64 {
        self.ln_peak - 0.5 * (self.freedom + 1.0) * ln_1p_distance
    }

    /// Writes log p(x) of each x, 0 for a missing one.
    #[inline(always)]
    fn write(&self, values: &[f64], lns: &mut [f64]) {
        let known = |x: f64, ln: f64| if x.is_nan() { 0.0 } else { ln };
        if !values.iter().fold(false, |far, &x| far | (self.distance(x) > SMALL)) {
            lns.iter_mut().zip(values).for_each(|(ln, &x)| *ln = known(x, self.ln_nearest(x)));
            return;
        }
        lns.iter_mut().zip(values).for_each(|(ln, &x)| *ln = known(x, self.ln_near(x)));
        if lns.iter().fold(false, |any, ln| any | ln.is_nan()) {
            let far = lns.iter_mut().zip(values).filter(|(ln, _)| ln.is_nan());
            far.for_each(|(ln, &x)| *ln = self.ln_far(x));
        }
    }
}

/// The distributions of all classes.
#[derive(Debug)]
struct Students(Vec<Student>);

impl Densities for Students {
    fn classes(&self) -> usize {
        self.0.len()
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        const AT_ONCE: usize = 64;
        let classes = &self.0[..];
        vectorized(
            #[inline(always)]
            move || {
                let mut lns = [0.0; AT_ONCE];
                for (values, scores) in values.chunks(AT_ONCE).zip(scores.chunks_mut(AT_ONCE * classes.len()))
                {
                    for (class, student) in classes.iter().enumerate() {
                        let lns = &mut lns[..values.len()];
                        student.write(values, lns);
                        let scores = scores.chunks_exact_mut(classes.len());
                        scores.zip(lns).for_each(|(scores, ln)| scores[class] += *ln);
                    }
                }
            },
        );
        0
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![("degrees of freedom", self.0.iter().map(|class| class.freedom).collect())]
    }

    fn free_parameters(&self) -> usize {
        2 * self.classes()
    }
}

/// The logarithm of the density at the location, for a scale of one:
/// ln Γ((ν + 1) / 2) − ln Γ(ν / 2) − ½ ln(ν π). For many degrees of freedom the two gammas are a small difference of large
/// numbers, and then this is the first term of its series in 1 / ν; the next is 1 / (24 ν³).
fn ln_unit_peak(freedom: f64) -> f64 {
    const MANY: f64 = 1e8;
    if freedom > MANY {
        return -0.5 * libm::log(2.0 * PI) - 0.25 / freedom;
    }
    libm::lgamma(0.5 * (freedom + 1.0)) - libm::lgamma(0.5 * freedom) - 0.5 * libm::log(freedom * PI)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_at_once_score_like_each_alone(
            freedom in prop_oneof![Just(1.0), 1.0..100.0f64, Just(1e6)],
            values in prop::collection::vec(
                prop_oneof![8 => -3.0..3.0f64, 1 => -1e5..1e5f64, 1 => Just(f64::NAN), 1 => Just(1e300)], 0..200),
        ) {
            let classes = [Student::new(0.5, 1.0, freedom), Student::new(-1.0, 0.1, freedom)];
            let mut scores = vec![0.0; 2 * values.len()];
            Students(classes.to_vec()).add_log_likelihood(&values, &mut scores);
            for (scores, &x) in scores.chunks(2).zip(&values) {
                let alone = classes.map(|class| if x.is_nan() { 0.0 } else { class.ln(x) });
                prop_assert_eq!(scores, alone);
            }
        }
    }
}

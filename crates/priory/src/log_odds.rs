//! The log-odds of each class of a row, log P(k) − log(1 − P(k)), to full precision also where P itself would round to 0 or 1.

use crate::moments::engine::vectorized;
use crate::numerics;
use crate::posterior::{argmax, log_sum};

/// The posterior of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowPosterior {
    pub(crate) best: usize,
    /// P(k)
    pub(crate) probability: Vec<f64>,
    /// log P(k) − log(1 − P(k))
    pub(crate) log_odds: Vec<f64>,
}

impl RowPosterior {
    /// From logarithms of what P is proportional to.
    ///
    /// 1 − P(k) is the sum of the others. With the largest weight scaled to one it is at least one for every class
    /// but the best, and taking a class out of it loses nothing. For the best it is the sum of what is left; if that is
    /// nearly nothing, it is added up on a scale of its own. So the log-odds of all others are log weight − log (1 + the
    /// rest without it).
    pub(crate) fn set(&mut self, log_weights: &[f64]) {
        let best = argmax(log_weights);
        let largest = log_weights[best];
        self.best = best;
        self.probability.resize(log_weights.len(), 0.0);
        self.log_odds.resize(log_weights.len(), 0.0);
        if largest == f64::NEG_INFINITY {
            self.probability.fill(0.0);
            return self.log_odds.fill(f64::NEG_INFINITY);
        }
        let (weights, log_odds) = (&mut self.probability[..], &mut self.log_odds[..]);
        vectorized(
            #[inline(always)]
            || {
                for (weight, log_weight) in weights.iter_mut().zip(log_weights) {
                    let x = log_weight - largest;
                    // What is below e⁻⁷⁰⁰ is nothing beside the largest.
                    *weight = if x < -700.0 { 0.0 } else { numerics::exp(x.max(-700.0)) };
                }
            },
        );
        let (mut sum, mut rest) = (0.0, 0.0);
        for (class, weight) in weights.iter().enumerate() {
            sum += weight;
            rest += if class == best { 0.0 } else { *weight }; // takes no branch
        }
        vectorized(
            #[inline(always)]
            || {
                for ((odds, x), weight) in log_odds.iter_mut().zip(log_weights).zip(&*weights) {
                    *odds = (x - largest) - numerics::ln_1p((rest - weight).max(0.0));
                }
            },
        );
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let others = log_weights.iter().enumerate().filter(|&(class, _)| class != best).map(|(_, x)| *x);
        log_odds[best] = if rest > f64::MIN_POSITIVE / f64::EPSILON {
            -libm::log(rest)
        } else {
            largest - log_sum(others)
        };
    }
}

/// Log-odds without the digits that depend on the order in which the log-joints were summed: what is the same in
/// mathematics should tie.
#[inline]
pub(crate) fn rounded(log_odds: f64) -> f64 {
    const STEPS: f64 = (1u64 << 40) as f64;
    round(log_odds * STEPS) / STEPS
}

/// The nearest whole number, halves away from zero: f64::round, which is a call on processors as old as we support.
#[inline]
pub(crate) fn round(x: f64) -> f64 {
    const ALL_WHOLE: f64 = (1u64 << 52) as f64; // from here on there are no digits after the point
    let size = x.abs();
    if size >= ALL_WHOLE {
        return x;
    }
    let even = (size + ALL_WHOLE) - ALL_WHOLE; // halves to even
    (if size - even == 0.5 { even + 1.0 } else { even }).copysign(x)
}

/// The log-odds that go with a probability, rounded like those of rows.
pub(crate) fn of_probability(p: f64) -> f64 {
    rounded(libm::log(p) - libm::log1p(-p))
}

/// The probability that goes with log-odds.
pub(crate) fn to_probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

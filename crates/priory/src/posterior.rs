//! From log-joints to posteriors: one shifted log-sum-exp.
//!
//! log P(x) = log Σ exp(log P(class, x)), computed from the largest term down, so that scores of thousands of nats
//! neither underflow nor overflow. P(class | x) = exp(log P(class, x) − log P(x)).

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::families::likelihood::Unseen;
use crate::moments::engine::vectorized;
use crate::numerics;

/// How many rows to score at once. There is a score for each row and each class, and this many take 16 MiB, whatever
/// the number of classes.
pub fn rows_to_score(classes: usize) -> usize {
    const MOST_SCORES: usize = 1 << 21;
    (MOST_SCORES / classes.max(1)).max(1)
}

/// log P(class, x) for every row and class.
#[derive(Debug, Clone)]
pub struct Scores {
    classes: usize,
    log_joint: Vec<f64>,
    log_prior: Vec<f64>,
    /// Impossible rows whose prior is one of their own, because they were left out of it.
    own_log_prior: BTreeMap<usize, Vec<f64>>,
    has_evidence: Vec<bool>,
    unseen: Unseen,
    is_judged: bool,
}

impl Scores {
    pub(crate) fn new(
        log_prior: Vec<f64>,
        log_joint: Vec<f64>,
        has_evidence: Vec<bool>,
        unseen: Unseen,
    ) -> Self {
        let own_log_prior = BTreeMap::new();
        Scores {
            classes: log_prior.len(),
            log_joint,
            log_prior,
            own_log_prior,
            has_evidence,
            unseen,
            is_judged: false,
        }
    }

    /// The same, if they are those of a judged model.
    pub(crate) fn of_judged_model(self) -> Self {
        Scores { is_judged: true, ..self }
    }

    /// Whether what the columns say was [judged](crate::judgement): the scores are logarithms of probabilities only after they
    /// are normalized.
    pub fn is_judged(&self) -> bool {
        self.is_judged
    }

    /// log P(class, x) for each class, in the order of the model's classes.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.log_joint[row * self.classes..][..self.classes]
    }

    /// The logarithms that the posterior of a row comes from: its log-joints, or else the prior if every class calls
    /// the row impossible.
    pub(crate) fn log_weights(&self, row: usize) -> &[f64] {
        if !self.is_impossible(row) {
            return self.row(row);
        }
        self.own_log_prior.get(&row).unwrap_or(&self.log_prior)
    }

    /// log P(class), in the order of the model's classes.
    pub(crate) fn log_prior(&self) -> &[f64] {
        &self.log_prior
    }

    /// Gives a row other scores.
    pub(crate) fn set_row(&mut self, row: usize, scores: impl Iterator<Item = f64>) {
        let of_row = &mut self.log_joint[row * self.classes..][..self.classes];
        of_row.iter_mut().zip(scores).for_each(|(to, score)| *to = score);
    }

    /// Gives a row another prior to fall back to if every class calls it impossible.
    pub(crate) fn set_prior(&mut self, row: usize, log_prior: &[f64]) {
        if self.is_impossible(row) {
            self.own_log_prior.insert(row, log_prior.to_vec());
        }
    }

    /// How many rows were scored.
    pub fn rows(&self) -> usize {
        self.has_evidence.len()
    }

    /// How many values in these rows were never met in training.
    pub fn unseen(&self) -> u64 {
        self.unseen.values
    }

    /// How many tokens of these documents were never met in training, each counted once in a document.
    pub fn unseen_tokens(&self) -> u64 {
        self.unseen.tokens
    }

    /// The posterior of every row.
    ///
    /// A row that every class calls impossible gets the prior and is marked [`Outcome::Impossible`].
    pub fn normalize(&self) -> Posterior {
        let rows = 0..self.rows();
        let mut probability = Vec::with_capacity(self.log_joint.len());
        let largest: Vec<f64> =
            rows.clone().map(|row| push_shifted(self.log_weights(row), &mut probability)).collect();
        exponentiate(&mut probability);
        let of_row = |row: usize| row * self.classes..(row + 1) * self.classes;
        let sum = rows.clone().map(|row| divide_by_sum(&mut probability[of_row(row)])).collect();
        Posterior {
            classes: self.classes,
            best: rows.clone().map(|row| self.best(row)).collect(),
            outcome: rows.map(|row| self.outcome(row)).collect(),
            probability,
            largest,
            sum,
        }
    }

    /// log P(class | x) for each class, also where P(class | x) is too small for an f64. A row that every class calls
    /// impossible gets the prior.
    pub fn log_posterior(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        let logs = self.log_weights(row);
        let log_evidence = log_sum(logs.iter().copied());
        logs.iter().map(move |x| x - log_evidence)
    }

    /// log P(x): the logarithm of the sum of what the classes give the row.
    pub fn log_evidence(&self, row: usize) -> f64 {
        log_sum(self.row(row).iter().copied())
    }

    /// The most probable class of a row; of equals the first. To know only this takes no posterior.
    pub fn best(&self, row: usize) -> usize {
        argmax(self.log_weights(row))
    }

    /// What the posterior of a row rests on.
    pub fn outcome(&self, row: usize) -> Outcome {
        if self.is_impossible(row) {
            Outcome::Impossible
        } else if self.has_evidence[row] {
            Outcome::Evidence
        } else {
            Outcome::NoEvidence
        }
    }

    fn is_impossible(&self, row: usize) -> bool {
        self.row(row).iter().all(|&x| x == f64::NEG_INFINITY)
    }
}

/// P(class | x) for every row and class.
#[derive(Debug, Clone)]
pub struct Posterior {
    classes: usize,
    probability: Vec<f64>,
    /// The largest logarithm that the posterior comes from, and the sum of all as multiples of that term.
    largest: Vec<f64>,
    sum: Vec<f64>,
    best: Vec<usize>,
    outcome: Vec<Outcome>,
}

/// What a posterior rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// At least one feature was known.
    Evidence,
    /// Every feature was missing: the posterior is the prior.
    NoEvidence,
    /// Every class gives the row probability zero: the posterior falls back to the prior.
    Impossible,
}

/// Two marks, as reports have them.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let marks = [("no_evidence", Outcome::NoEvidence), ("impossible", Outcome::Impossible)];
        serializer.collect_map(marks.map(|(name, outcome)| (name, *self == outcome)))
    }
}

impl Posterior {
    /// P(class | x) for each class, in the order of the model's classes; they sum to one.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.probability[row * self.classes..][..self.classes]
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.best.len()
    }

    /// log P(x): how well the row fits the model as a whole.
    pub fn log_evidence(&self, row: usize) -> f64 {
        match self.outcome[row] {
            Outcome::Impossible => f64::NEG_INFINITY,
            Outcome::Evidence | Outcome::NoEvidence => self.largest[row] + libm::log(self.sum[row]),
        }
    }

    /// The most probable class; of equals the first.
    pub fn best(&self, row: usize) -> usize {
        self.best[row]
    }

    /// What the posterior of a row rests on.
    pub fn outcome(&self, row: usize) -> Outcome {
        self.outcome[row]
    }
}

/// Appends each logarithm less the largest of them, which it returns.
fn push_shifted(logs: &[f64], shifted: &mut Vec<f64>) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    shifted.extend(logs.iter().map(|x| x - largest));
    largest
}

/// Divides each of these by their sum, which it returns.
pub(crate) fn divide_by_sum(terms: &mut [f64]) -> f64 {
    let sum = terms.iter().sum();
    terms.iter_mut().for_each(|p| *p /= sum);
    sum
}

/// Replaces each x, which is zero or less, by exp(x), to the bit as [`exp_of_negative`] does.
pub(crate) fn exponentiate(xs: &mut [f64]) {
    const AT_ONCE: usize = 64;
    vectorized(
        #[inline(always)]
        move || {
            for xs in xs.chunks_mut(AT_ONCE) {
                if xs.iter().fold(true, |normal, &x| normal & (x >= NORMAL_FROM)) {
                    xs.iter_mut().for_each(|x| *x = numerics::exp(*x));
                } else {
                    xs.iter_mut().for_each(|x| *x = exp_of_negative(*x));
                }
            }
        },
    );
}

/// From here on exp(x) is a normal number.
const NORMAL_FROM: f64 = -700.0;

/// exp(x) for x of zero or less. Most classes of many are so unlikely that it is zero, and no more is asked then.
#[inline]
fn exp_of_negative(x: f64) -> f64 {
    const ZERO_BELOW: f64 = -745.5; // half the smallest f64 is exp(−745.133…)
    if x >= NORMAL_FROM {
        numerics::exp(x)
    } else if x < ZERO_BELOW {
        0.0
    } else {
        libm::exp(x)
    }
}

/// The largest of these; NaN if one of them is.
pub(crate) fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, |largest, x| if x > largest || x.is_nan() { x } else { largest })
}

/// log Σ exp x, however small or large the terms are. Infinite or NaN if the largest x is.
pub(crate) fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = largest(terms.clone());
    if !largest.is_finite() {
        return largest;
    }
    largest + libm::log(terms.map(|x| exp_of_negative(x - largest)).sum())
}

/// The position of the largest value; of equals the first.
pub(crate) fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (i, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior(log_joint: &[f64]) -> Posterior {
        let log_prior = vec![(1.0 / log_joint.len() as f64).ln(); log_joint.len()];
        Scores::new(log_prior, log_joint.to_vec(), vec![true], Unseen::default()).normalize()
    }

    #[test]
    fn thousands_of_nats_do_not_underflow() {
        let p = posterior(&[-10_000.0, -10_001.0]);
        assert!((p.row(0)[0] - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-15);
        assert_eq!(p.log_evidence(0), -10_000.0 + (-1.0f64).exp().ln_1p());
    }

    #[test]
    fn impossible_for_one_class_is_certainty_for_the_other() {
        assert_eq!(posterior(&[f64::NEG_INFINITY, -3.0]).row(0), [0.0, 1.0]);
    }

    #[test]
    fn impossible_for_all_falls_back_to_the_prior_and_says_so() {
        let p = posterior(&[f64::NEG_INFINITY; 4]);
        assert_eq!(p.row(0), [0.25; 4]);
        assert_eq!(p.outcome(0), Outcome::Impossible);
        assert_eq!(p.log_evidence(0), f64::NEG_INFINITY);
    }

    #[test]
    fn of_equals_the_first_wins() {
        assert_eq!(posterior(&[-1.0, -1.0]).best(0), 0);
    }
}

//! How far a posterior could be off because only so many rows were seen: a credible interval for each class.
//!
//! The log-odds of a class against all others are taken to be about normal. Their variance follows from those of the scores
//! z(k) = log P(k, x) by the delta method: with r(k) the share of k among the other classes,
//!
//! ```text
//! logit p(c) = z(c) − log Σ exp z(k) over k ≠ c
//! Var = Var z(c) + Σ r(k)² Var z(k) + what the weights of a judgement add
//! interval = expit(logit p(c) ± q √Var)
//! ```
//!
//! Var z(k) is the sum of the variances of log P(k) and of log P(x | k) for each factor. The posterior of the probabilities of a
//! value is a Dirichlet distribution; for a smoothed count a of the A of its class
//!
//! ```text
//! Var log θ = ψ′(a) − ψ′(A),   about 1/a − 1/A.
//! ```
//!
//! That is also by how much log θ would rise if one more such row were learnt, and this holds for all maximum-likelihood
//! estimates: with score s and information I, the row moves the parameters by I⁻¹s / n and log p(x) by sᵀI⁻¹s / n, which is the
//! variance of log p(x). So the variance of any density is how fast it grows with rows that hold x, and no family needs a formula
//! of its own.
//!
//! The mean of log θ lies below the logarithm of the mean, which is what scores are made of, by about half the variance. So much is
//! taken off z(k) before anything else, or intervals of few rows would lie too far to one side. The weights of a judgement were fitted
//! to what the scores are, and nothing is taken off.
//!
//! n rows do not tell a probability below 1 / (n + 2) from nothing, and a judged model does not try: its targets and its clouds are held
//! that far from certain, so that its log-odds are too small by far where the classes are far apart. An end of its intervals that
//! is no farther from certain than that is certain itself.
//!
//! That the model is right, that is, that columns are independent given the class or weighed as they should be, is taken for
//! granted.

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::families::Prepared;
use crate::judgement::{JudgedSpread, Judgement};
use crate::model::{Explanation, Model};
use crate::posterior::{Outcome, Posterior, Scores, log_sum};
use crate::report::ByClass;
use crate::settings::Prior;
use crate::statistics::Statistics;

/// So many terms of a judged model are in memory at a time.
const MOST_TERMS: usize = 1 << 20;

/// Statistics made ready to say how far posteriors could be off. [`Learnt::intervals`](crate::Learnt::intervals) makes it.
pub struct Intervals<'a> {
    model: &'a Model,
    prepared: Vec<Prepared<'a, f64>>,
    /// The variance of log P(class).
    of_prior: Vec<f64>,
    judged: Option<JudgedSpread>,
}

/// From where to where P(class | x) could be, for every row and class.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    classes: usize,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Interval {
    /// The lower end for each class of a row, in the order of the model's classes.
    pub fn low(&self, row: usize) -> &[f64] {
        &self.low[row * self.classes..][..self.classes]
    }

    /// The upper end for each class of a row.
    pub fn high(&self, row: usize) -> &[f64] {
        &self.high[row * self.classes..][..self.classes]
    }
}

/// Refuses a probability that no interval can have.
///
/// # Errors
/// Unless it lies between 0 and 1.
pub fn check_level(level: f64) -> Result<()> {
    match level > 0.0 && level < 1.0 {
        true => Ok(()),
        false => Err(Error::Settings(format!(
            "an interval has a probability above 0 and below 1, such as 0.9, and not {level}"
        ))),
    }
}

impl<'a> Intervals<'a> {
    /// Of canonical statistics of just the columns of this model, which was estimated from them; with the judgement, if they were
    /// judged.
    pub(crate) fn new(
        statistics: &'a Statistics,
        model: &'a Model,
        judgement: Option<&Judgement>,
    ) -> Result<Self> {
        let settings = model.resolved();
        let prepared = model.factors_in(statistics)?.into_iter();
        let prepared = prepared
            .map(|(factor, found)| factor.prepare_again(&statistics.schema, settings, &found.likelihood));
        let weights = (0..model.classes().len()).map(|class| statistics.class_weight.get(0, class));
        // What all classes have in common cancels out, so that nothing is subtracted here.
        let of_prior = weights.map(|weight| match settings.prior {
            Prior::Empirical => trigamma(weight),
            Prior::Smoothed(added) => trigamma(weight + added),
            Prior::Uniform | Prior::Given(_) => 0.0,
        });
        let of_prior = of_prior.collect();
        let spread = |judgement| {
            let spread = JudgedSpread::new(statistics, model.settings(), judgement);
            spread.ok_or_else(|| Error::Settings("the judgement is of other statistics".into()))
        };
        let judged = judgement.map(spread).transpose()?;
        Ok(Intervals { model, of_prior, judged, prepared: prepared.collect::<Result<_>>()? })
    }

    /// The model that the intervals are about.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// In which interval P(class | x) lies with this probability, for every row of a batch and every class; `scores` are what the
    /// model says of the same batch.
    ///
    /// # Errors
    /// If the batch does not have the columns of the model, or the probability is not between 0 and 1.
    ///
    /// # Panics
    /// If the scores are those of another batch.
    pub fn of(&self, batch: &Batch, scores: &Scores, level: f64) -> Result<Interval> {
        check_level(level)?;
        batch.check(self.model.schema())?;
        let mut interval = Interval { classes: self.of_prior.len(), low: Vec::new(), high: Vec::new() };
        // The terms of a judged model are several for each row and class.
        let terms = self.judged.as_ref().map_or(0, |judged| judged.terms() * interval.classes);
        let (posterior, mut first) = (scores.normalize(), 0);
        for piece in batch.pieces(MOST_TERMS.checked_div(terms).unwrap_or(batch.rows)) {
            self.add_ends(&piece, (scores, &posterior), first, quantile(level), &mut interval);
            first += piece.rows;
        }
        Ok(interval)
    }

    /// Adds the ends of the intervals of a piece of a batch, from this row of the scores on.
    fn add_ends(
        &self,
        piece: &Batch,
        (scores, posterior): (&Scores, &Posterior),
        first: usize,
        quantile: f64,
        interval: &mut Interval,
    ) {
        let classes = interval.classes;
        let spread = match &self.judged {
            Some(judged) => self.judged_spread(judged, piece),
            None => Spread { variances: self.variances(piece), terms: Vec::new() },
        };
        let (mut slopes, mut along, mut middle) = (vec![0.0; classes], Vec::new(), Vec::new());
        for place in 0..piece.rows {
            let row = first + place;
            let is_impossible = scores.outcome(row) == Outcome::Impossible;
            let variances = match is_impossible {
                true => &self.of_prior[..],
                false => &spread.variances[place * classes..][..classes],
            };
            middle.clear();
            let below = |variance: &f64| if self.judged.is_none() { mean_below(*variance) } else { 0.0 };
            middle.extend(scores.log_weights(row).iter().zip(variances).map(|(z, v)| z - below(v)));
            let mut variance = 0.0;
            for (class, &p) in posterior.row(row).iter().enumerate() {
                let odds = log_odds(&middle, class, &mut slopes);
                // Two classes have the same log-odds but for the sign.
                if class == 0 || classes > 2 {
                    variance = variance_along(&slopes, variances);
                    if let Some(judged) = self.judged.as_ref().filter(|_| !is_impossible) {
                        judged.along(&slopes, spread.terms_of(place, judged), &mut along);
                        variance += judged.variance(&along);
                    }
                }
                let (low, high) = ends(odds, quantile * libm::sqrt(variance));
                let doubt = self.judged.as_ref().map_or(0.0, |judged| judged.doubt);
                interval.low.push(if low < doubt { 0.0 } else { low.min(p) });
                interval.high.push(if high > 1.0 - doubt { 1.0 } else { high.max(p) });
            }
        }
    }

    /// Adds the interval of this probability to the explanation of a row.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn add_to(&self, explanation: &mut Explanation, batch: &Batch, row: usize, level: f64) -> Result<()> {
        let row = batch.select(&[row]);
        let interval = self.of(&row, &self.model.score(&row)?, level)?;
        let by_class = |ends: &[f64]| Some(ByClass::new(&explanation.classes, ends.iter().copied()));
        (explanation.low, explanation.high) = (by_class(interval.low(0)), by_class(interval.high(0)));
        Ok(())
    }

    /// The variance of log P(class, x), classes side by side.
    fn variances(&self, batch: &Batch) -> Vec<f64> {
        let mut sums = self.of_prior.repeat(batch.rows);
        for (factor, (_, exponent)) in self.model.likelihoods().enumerate() {
            if exponent != 0.0 {
                self.add_factor(factor, exponent * exponent, batch, &mut sums);
            }
        }
        sums
    }

    /// Adds the variances of what one factor says, times something.
    fn add_factor(&self, factor: usize, times: f64, batch: &Batch, sums: &mut [f64]) {
        let Some((likelihood, _)) = self.model.likelihoods().nth(factor) else { return };
        let mut own = vec![0.0; sums.len()];
        self.prepared[factor].write_variances(likelihood, batch, &mut own);
        sums.iter_mut().zip(&own).for_each(|(sum, own)| *sum += times * own);
    }

    /// The same of a judged model. What is not believed of its offsets is left to the prior.
    fn judged_spread(&self, judged: &JudgedSpread, batch: &Batch) -> Spread {
        let (classes, terms) = (self.of_prior.len(), judged.terms());
        let left = (1.0 - judged.trust) * (1.0 - judged.trust);
        let of_prior = self.of_prior.iter().zip(&judged.offsets);
        let of_prior = of_prior.map(|(prior, offset)| if offset.is_some() { left * prior } else { *prior });
        let mut spread = Spread {
            variances: of_prior.collect::<Vec<f64>>().repeat(batch.rows),
            terms: vec![0.0; batch.rows * classes * terms],
        };
        let read = judged.read(batch);
        let rows = spread.terms.chunks_exact_mut((classes * terms).max(1));
        for (row, (of_row, variances)) in rows.zip(spread.variances.chunks_exact_mut(classes)).enumerate() {
            judged.add(&read, row, of_row, variances);
        }
        for text in self.model.judged_texts() {
            text.add_variances(batch.text(text.column), &mut spread.variances);
        }
        for &(factor, weight) in judged.factors.iter().filter(|(_, weight)| judged.weight(*weight) > 0.0) {
            self.add_factor(factor, judged.weight(weight), batch, &mut spread.variances);
            let said = self.model.log_likelihoods(factor, batch);
            for (cell, said) in said.into_iter().enumerate().filter(|(_, said)| said.is_finite()) {
                spread.terms[cell * terms + weight] += said;
            }
        }
        spread
    }
}

/// How far what is said of the rows of a batch could be off.
struct Spread {
    /// The variance of the score of each class for what was counted, classes side by side.
    variances: Vec<f64>,
    /// What the terms of a judged model say before they are weighted: all of the first class of the first row first.
    terms: Vec<f64>,
}

impl Spread {
    fn terms_of(&self, row: usize, judged: &JudgedSpread) -> &[f64] {
        let size = judged.terms() * judged.offsets.len();
        &self.terms[row * size..][..size]
    }
}

/// The variance of what changes so with scores of these variances. Classes that do not matter may have any.
fn variance_along(slopes: &[f64], variances: &[f64]) -> f64 {
    let matter = slopes.iter().zip(variances).filter(|(slope, _)| **slope != 0.0);
    matter.map(|(slope, variance)| slope * slope * variance).sum()
}

/// The log-odds of a class against all others, and how they change with the score of each class: 1 for the class itself, and less
/// its share among the others for any other.
fn log_odds(z: &[f64], class: usize, slopes: &mut [f64]) -> f64 {
    let others = z.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, &z)| z);
    let of_others = log_sum(others);
    for (other, slope) in slopes.iter_mut().enumerate() {
        *slope = match other == class {
            true => 1.0,
            false if of_others == f64::NEG_INFINITY => 0.0,
            false => -libm::exp(z[other] - of_others),
        };
    }
    z[class] - of_others
}

/// How far the mean of log θ lies below the logarithm of the mean of θ, if its variance is v: about v/2, and less where v is large.
fn mean_below(variance: f64) -> f64 {
    if variance.is_finite() { 0.5 * libm::log1p(variance) } else { 0.0 }
}

/// The probabilities so far below log-odds and above them. What is certain stays certain: a model that calls something
/// impossible, as one without smoothing can, is taken at its word.
fn ends(odds: f64, distance: f64) -> (f64, f64) {
    if odds.is_infinite() {
        return (expit(odds), expit(odds));
    }
    if !distance.is_finite() {
        return (0.0, 1.0);
    }
    (expit(odds - distance), expit(odds + distance))
}

/// The probability of log-odds, with all digits where it is small.
fn expit(odds: f64) -> f64 {
    match odds < 0.0 {
        true => libm::exp(odds) / (1.0 + libm::exp(odds)),
        false => 1.0 / (1.0 + libm::exp(-odds)),
    }
}

/// How many standard deviations around the mean hold this much of a normal distribution.
fn quantile(level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..64 {
        let middle: f64 = 0.5 * (low + high);
        match libm::erfc(middle * std::f64::consts::FRAC_1_SQRT_2) > 1.0 - level {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

/// The variance of the logarithm of a share that was counted `count` times of `total`, pseudocounts included.
pub(crate) fn variance_of_ln(count: f64, total: f64) -> f64 {
    (trigamma(count) - trigamma(total)).max(0.0)
}

/// ψ′(x), the second derivative of ln Γ(x): a sum up to where its asymptotic series is good to 10 digits.
pub(crate) fn trigamma(mut x: f64) -> f64 {
    if x <= 0.0 {
        return f64::INFINITY;
    }
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let (inverse, square) = (1.0 / x, 1.0 / (x * x));
    sum + inverse * (1.0 + 0.5 * inverse + square * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_is_what_tables_say() {
        let pi = std::f64::consts::PI;
        for (x, expected) in [(1.0, pi * pi / 6.0), (0.5, pi * pi / 2.0), (2.0, pi * pi / 6.0 - 1.0)] {
            assert!((trigamma(x) / expected - 1.0).abs() < 1e-10, "{x}");
        }
        assert!((trigamma(1e6) - 1.000_000_5e-6).abs() < 1e-16);
        assert_eq!(trigamma(0.0), f64::INFINITY);
    }

    #[test]
    fn quantiles_are_what_tables_say() {
        for (level, expected) in [(0.5, 0.674_489_750_2), (0.9, 1.644_853_627), (0.95, 1.959_963_985)] {
            assert!((quantile(level) - expected).abs() < 1e-8, "{level}");
        }
    }

    #[test]
    fn ends_are_defined_everywhere() {
        assert_eq!(ends(f64::INFINITY, 1.0), (1.0, 1.0));
        assert_eq!(ends(f64::NEG_INFINITY, f64::INFINITY), (0.0, 0.0));
        assert_eq!(ends(3.0, f64::INFINITY), (0.0, 1.0));
        assert_eq!(ends(3.0, f64::NAN), (0.0, 1.0));
        assert_eq!(ends(0.0, 0.0), (0.5, 0.5));
    }
}

//! P(token | class) itself, as a number or as a fraction: what tables of words show.
//!
//! | model | P(token \| class) |
//! |---|---|
//! | multinomial, presence | (n + α) / (N + α V) |
//! | Bernoulli | (n + α) / (D + 2 α): the share of the documents that have the token |
//! | background | λ n / N + (1 − λ) of the same in all classes |
//!
//! The complement models have weights instead, which are no probabilities.

use num_rational::BigRational;

use super::estimate::{Amounts, TextEstimate};
use crate::batch::TextColumn;
use crate::estimate::{Ratio, Scalar};
use crate::settings::TextFamily;

/// A document with more factors than this would have a fraction that nobody reads.
const MOST_FACTORS: f64 = 2000.0;

/// The probabilities of the tokens of a column in numbers of this type.
pub(crate) struct TokenRatios<'a, T> {
    estimate: &'a TextEstimate<'a>,
    /// What is added to the count of a token, and to all others together.
    own: T,
    rest: T,
    lambda: Option<T>,
}

impl<'a, T: Scalar> TokenRatios<'a, T> {
    /// `None` for models whose tokens have no probabilities.
    pub(crate) fn new(estimate: &'a TextEstimate<'a>) -> Option<Self> {
        if estimate.formula.is_complement() {
            return None;
        }
        let others = T::from_count((estimate.tokens - 1.0).max(0.0));
        let (own, rest, lambda) = match estimate.formula.amounts {
            Amounts::Each(alpha) => {
                let own = T::from_setting(alpha);
                let rest = if Self::is_bernoulli(estimate) { own.clone() } else { own.clone() * others };
                (own, rest, None)
            }
            Amounts::Pair { present, absent } => (T::from_setting(present), T::from_setting(absent), None),
            Amounts::Background(lambda) => (T::zero(), T::zero(), Some(T::from_setting(lambda))),
        };
        Some(TokenRatios { estimate, own, rest, lambda })
    }

    fn is_bernoulli(estimate: &TextEstimate<'_>) -> bool {
        estimate.formula.family == TextFamily::Bernoulli
    }

    /// P(token | class).
    pub(crate) fn of(&self, token: usize, class: usize) -> Ratio<T> {
        let [documents, terms] = self.estimate.statistics.counts.counts_in(token, class);
        let count = T::from_count(self.estimate.formula.count(documents, terms));
        let sums = self.estimate.sums(class);
        if self.estimate.formula.is_ignorant(&sums) {
            let ways = if Self::is_bernoulli(self.estimate) { 2.0 } else { sums.tokens.max(1.0) };
            return Ratio::new(T::one(), T::from_count(ways));
        }
        let total = T::from_count(sums.total);
        match &self.lambda {
            None => Ratio::new(count + self.own.clone(), total + self.own.clone() + self.rest.clone()),
            Some(lambda) => {
                let pooled = T::from_count(self.estimate.pooled(token)) / T::from_count(sums.pooled);
                let foreground = if sums.total > 0.0 { count / total } else { T::zero() };
                let mixed = lambda.clone() * foreground + (T::one() - lambda.clone()) * pooled;
                Ratio::new(mixed, T::one())
            }
        }
    }

    /// Bernoulli: P(a document without the token | class).
    pub(crate) fn absent(&self, token: usize, class: usize) -> Ratio<T> {
        let Ratio { numerator, denominator } = self.of(token, class);
        Ratio::new(denominator.clone() - numerator, denominator)
    }

    /// The tokens that a document lacks and that this says something by, in the order of the vocabulary.
    pub(crate) fn absent_from(&self, column: &TextColumn, row: usize) -> Vec<usize> {
        if !Self::is_bernoulli(self.estimate) || self.is_too_long(0) {
            return Vec::new();
        }
        let tokens = &self.estimate.statistics.tokens;
        let present: Vec<usize> = self.met(column, row).into_iter().map(|(token, _)| token).collect();
        if present.is_empty() {
            return Vec::new();
        }
        (0..tokens.len()).filter(|token| !present.contains(token)).collect()
    }

    /// The tokens of a document that were met in training, and how often each occurs.
    fn met(&self, column: &TextColumn, row: usize) -> Vec<(usize, u32)> {
        let document = column.document(row).unwrap_or_default().iter();
        let known = document.filter_map(|&(token, occurrences)| {
            Some((self.estimate.statistics.tokens.get(column.tokens().name(token as usize))?, occurrences))
        });
        known.collect()
    }

    fn is_too_long(&self, occurrences: u64) -> bool {
        let absent = if Self::is_bernoulli(self.estimate) { self.estimate.tokens } else { 0.0 };
        self.estimate.statistics.precomputed.is_some() || absent + occurrences as f64 > MOST_FACTORS
    }
}

impl TokenRatios<'_, BigRational> {
    /// P(document | class) for each class, reduced. `None` if it is too long, or its tokens do not count as often as they
    /// occur. A document that is missing, or of which no token was met, says nothing.
    pub(crate) fn document(&self, column: &TextColumn, row: usize) -> Option<Vec<Ratio<BigRational>>> {
        let classes = 0..self.estimate.classes();
        let met = self.met(column, row);
        let presence = self.estimate.formula.counts_presence();
        let times = |occurrences: u32| if presence { 1 } else { occurrences };
        let occurrences: u64 = met.iter().map(|&(_, occurrences)| u64::from(times(occurrences))).sum();
        let is_whole = presence || self.estimate.statistics.settings.counts_occurrences();
        if !is_whole || self.is_too_long(occurrences) {
            return None;
        }
        let absent = self.absent_from(column, row);
        let of_class = |class: usize| {
            let present = met.iter().map(|&(token, occurrences)| {
                num_traits::pow(self.of(token, class).value(), times(occurrences) as usize)
            });
            let absent = absent.iter().map(|&token| self.absent(token, class).value());
            let one = BigRational::new(1.into(), 1.into());
            Ratio::new(
                present.chain(absent).fold(one, |product, factor| product * factor),
                BigRational::new(1.into(), 1.into()),
            )
        };
        Some(classes.map(of_class).collect())
    }
}

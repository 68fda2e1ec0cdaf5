//! From counts to probabilities: the one place where smoothing happens.
//!
//! The formulas are written once, over any number type: f64 for models, exact rationals for fractions.
//!
//! | smoothing | P(v \| class) | source |
//! |---|---|---|
//! | none | n(v) / n | maximum likelihood |
//! | Lidstone α | (n(v) + α) / (n + α J) | Laplace for α = 1 |
//! | Dirichlet | (n(v) + β(v) − 1) / (n + Σ (β − 1)) | MAP: the mode of the Dirichlet posterior |
//! | background λ | λ n(v)/n + (1 − λ) N(v)/N | N over all classes together |

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, Num};

use crate::interval::variance_of_ln;
use crate::settings::{OTHER_VALUES, Prior, Pseudocounts, Settings, Smoothing};

/// A number that the formulas can be evaluated in.
pub(crate) trait Scalar: Num + Clone + PartialOrd {
    /// The number a user means by a setting: 0.1 is one tenth.
    fn from_setting(x: f64) -> Self;
    /// A whole number of values, classes or weight.
    fn from_count(x: f64) -> Self;
}

impl Scalar for f64 {
    fn from_setting(x: f64) -> Self {
        x
    }
    fn from_count(x: f64) -> Self {
        x
    }
}

impl Scalar for BigRational {
    fn from_setting(x: f64) -> Self {
        // The shortest decimal that reads back as this f64 is what was typed.
        let text = format!("{x}");
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let digits = format!("{whole}{decimals}").parse().expect("a finite f64 prints as decimal digits");
        BigRational::new(digits, BigInt::from(10).pow(decimals.len() as u32))
    }
    fn from_count(x: f64) -> Self {
        BigRational::from_f64(x).expect("counts are finite")
    }
}

/// The smoothing of one column, its numbers turned into `T` once.
#[derive(Debug, Clone)]
pub(crate) enum Smoother<T> {
    /// Maximum likelihood.
    None,
    /// A pseudocount for each value: one of its own for those listed, `other` for the rest.
    Pseudocounts { listed: BTreeMap<String, T>, listed_sum: T, other: T },
    /// λ P + (1 − λ) Q.
    Background { lambda: T },
}

impl<T: Scalar> Smoother<T> {
    /// The smoothing that the settings ask for in this column.
    pub(crate) fn new(settings: &Settings, column: &str) -> Self {
        let lidstone = |alpha: f64| Smoother::Pseudocounts {
            listed: BTreeMap::new(),
            listed_sum: T::zero(),
            other: T::from_setting(alpha),
        };
        match settings.smoothing_of(column) {
            Smoothing::None => Smoother::None,
            Smoothing::Lidstone(alpha) => lidstone(*alpha),
            // Only text has these, and it has formulas of its own.
            Smoothing::Auto | Smoothing::Pair { .. } => lidstone(1.0),
            Smoothing::Background(lambda) => Smoother::Background { lambda: T::from_setting(*lambda) },
            Smoothing::Dirichlet(Pseudocounts(columns)) => match columns.get(column) {
                None => lidstone(1.0),
                Some(values) => {
                    let mut listed: BTreeMap<String, T> =
                        values.iter().map(|(value, &b)| (value.clone(), T::from_setting(b))).collect();
                    let other = listed.remove(OTHER_VALUES).unwrap_or_else(T::zero);
                    let listed_sum = listed.values().fold(T::zero(), |sum, b| sum + b.clone());
                    Smoother::Pseudocounts { listed, listed_sum, other }
                }
            },
        }
    }

    /// The values that the smoothing declares possible.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &str> {
        let listed = match self {
            Smoother::Pseudocounts { listed, .. } => Some(listed.keys().map(String::as_str)),
            _ => None,
        };
        listed.into_iter().flatten()
    }

    /// Whether what a class says depends on how often the others have a value.
    pub(crate) fn looks_at_all_classes(&self) -> bool {
        matches!(self, Smoother::Background { .. })
    }

    /// Whether the smoothing declares this value possible.
    pub(crate) fn lists(&self, value: &str) -> bool {
        matches!(self, Smoother::Pseudocounts { listed, .. } if listed.contains_key(value))
    }

    /// P(value | class) for what the data say about it.
    ///
    /// Where a class has no known value at all, maximum likelihood is 0/0. It is taken as the limit of Lidstone
    /// for α → 0, every value alike, so that a class is not ruled out by what was never observed about it.
    pub(crate) fn likelihood(&self, value: Option<&str>, evidence: &Evidence) -> Ratio<T> {
        let count = T::from_count;
        let e = evidence;
        let foreground = || match e.total > 0.0 {
            true => Ratio::new(count(e.count), count(e.total)),
            false => Ratio::new(count(e.cells), count(e.cells + e.other_cells)),
        };
        match self {
            Smoother::None => foreground(),
            Smoother::Pseudocounts { listed, listed_sum, other } => {
                let own = value.and_then(|value| listed.get(value)).unwrap_or(other).clone();
                let unlisted = e.cells + e.other_cells - listed.len() as f64;
                let sum = listed_sum.clone() + other.clone() * count(unlisted);
                if e.total == 0.0 && sum == T::zero() {
                    return foreground();
                }
                Ratio::new(count(e.count) + own * count(e.cells), count(e.total) + sum)
            }
            Smoother::Background { .. } if e.pooled_total == 0.0 => foreground(),
            Smoother::Background { lambda } => {
                let background = count(e.pooled_count) / count(e.pooled_total);
                if e.total == 0.0 {
                    return Ratio::new(background, T::one());
                }
                let foreground = count(e.count) / count(e.total);
                let mixed = lambda.clone() * foreground + (T::one() - lambda.clone()) * background;
                Ratio::new(mixed, T::one())
            }
        }
    }
}

impl Smoother<f64> {
    /// The variance of log P(value | class) for all that so many rows can tell.
    pub(crate) fn variance(&self, value: Option<&str>, evidence: &Evidence) -> f64 {
        let Ratio { numerator, denominator } = self.likelihood(value, evidence);
        match self {
            // Counts with their pseudocounts.
            Smoother::None | Smoother::Pseudocounts { .. } => variance_of_ln(numerator, denominator),
            // Only the foreground is uncertain. Half a row on either side says that the share of a value that was never met is.
            Smoother::Background { lambda } => {
                let share = (evidence.count + 0.5) / (evidence.total + 1.0);
                let variance = share * (1.0 - share) / (evidence.total + 1.0);
                lambda * lambda * variance * (denominator * denominator) / (numerator * numerator)
            }
        }
    }
}

/// What the data say about one value in one class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence {
    /// n(v): the weight of the value in the class.
    pub(crate) count: f64,
    /// n: the weight of the class where the value is known.
    pub(crate) total: f64,
    /// N(v): the weight of the value in all classes.
    pub(crate) pooled_count: f64,
    /// N: the weight of all classes where the value is known.
    pub(crate) pooled_total: f64,
    /// How many of the J possible values are meant: 1, or the cells of a joint table that fit what is known.
    pub(crate) cells: f64,
    /// All the other possible values.
    pub(crate) other_cells: f64,
}

/// A probability as numerator and denominator, not reduced: 3/9 says more about its counts than 1/3.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ratio<T> {
    pub(crate) numerator: T,
    pub(crate) denominator: T,
}

impl<T: Scalar> Ratio<T> {
    pub(crate) fn new(numerator: T, denominator: T) -> Self {
        Ratio { numerator, denominator }
    }
}

/// Logarithms of counts and the pseudocount: those of small whole numbers, which most counts are, are worked out once.
pub(crate) struct CountLogs {
    pub(crate) own: f64,
    ln: fn(f64) -> f64,
    whole: Vec<f64>,
}

impl CountLogs {
    /// Computes the first entries, this many of them, with this logarithm.
    pub(crate) fn new(own: f64, worked_out: u32, ln: fn(f64) -> f64) -> Self {
        CountLogs { own, ln, whole: (0..worked_out).map(|n| ln(f64::from(n) + own)).collect() }
    }

    #[inline(always)]
    pub(crate) fn ln_own(&self, count: f64) -> f64 {
        // Numbers from here on are whole: added to a smaller one, it leaves that in the last bits, rounded. A cast of one
        // that could be anything would take four times as long.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        let shifted = count + WHOLE;
        match self.whole.get(shifted.to_bits().wrapping_sub(WHOLE.to_bits()) as usize) {
            Some(&log) if shifted - WHOLE == count => log,
            _ => self.work_out(count),
        }
    }

    #[cold]
    fn work_out(&self, count: f64) -> f64 {
        (self.ln)(count + self.own)
    }
}

/// P(class), for a class of weight `weight` among `classes` classes of weight `total` together.
pub(crate) fn prior<T: Scalar>(
    prior: &Prior,
    class: &str,
    weight: f64,
    total: f64,
    classes: f64,
) -> Ratio<T> {
    match prior {
        Prior::Empirical => Ratio::new(T::from_count(weight), T::from_count(total)),
        Prior::Uniform => Ratio::new(T::one(), T::from_count(classes)),
        Prior::Given(shares) => Ratio::new(
            T::from_setting(shares[class]),
            shares.values().fold(T::zero(), |sum, &share| sum + T::from_setting(share)),
        ),
        Prior::Smoothed(l) => Ratio::new(
            T::from_count(weight) + T::from_setting(*l),
            T::from_count(total) + T::from_setting(*l) * T::from_count(classes),
        ),
    }
}

impl Ratio<f64> {
    /// The probability itself.
    pub(crate) fn value(&self) -> f64 {
        self.numerator / self.denominator
    }

    /// Its logarithm, accurate for probabilities near one as well as near zero.
    pub(crate) fn ln(&self) -> f64 {
        let (numerator, denominator) = (self.numerator, self.denominator);
        if numerator > 0.5 * denominator {
            // 1 − p has its digits in the difference of the counts, not in p.
            return libm::log1p((numerator - denominator) / denominator);
        }
        libm::log(numerator / denominator)
    }
}

impl Ratio<BigRational> {
    /// The probability, reduced.
    pub(crate) fn value(&self) -> BigRational {
        &self.numerator / &self.denominator
    }
}

impl std::fmt::Display for Ratio<BigRational> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.numerator.is_integer()
            && self.denominator.is_integer()
            && !num_traits::One::is_one(&self.denominator)
        {
            return write!(f, "{}/{}", self.numerator.numer(), self.denominator.numer());
        }
        write!(f, "{}", self.value())
    }
}

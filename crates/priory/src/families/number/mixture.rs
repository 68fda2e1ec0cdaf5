//! Gaussian mixture: several humps in one class.
//!
//! f(x) = Σ share_j Normal(x | mean_j, variance_j), fitted by expectation and maximisation (Dempster, Laird and Rubin
//! 1977) from groups of neighbouring numbers. The number of humps is the one with the least BIC, −2 ln L + p ln n
//! (Schwarz 1978). It starts from quantiles, so nothing is left to chance. The imagined rows of
//! [`background`](super::background) are added.

use super::background::{Background, Share};
use super::density::{Density, Fitted, of_each_class};
use super::family::{Fit, How, Needs};
use super::normal::Normal;
use super::numbers::{NumberColumn, Numbers, unit};
use super::without_one::{Own, WithoutOne};
use crate::spectrum::Weighed;

/// The most humps that are tried.
const MOST_HUMPS: usize = 6;
const MOST_ROUNDS: usize = 300;
/// The likelihood per row has settled when a round adds less than this.
const SETTLED: f64 = 1e-8;
/// The standard deviation of a hump is at least this share of that of the class.
const NARROWEST: f64 = 1e-2;

/// The family: several normal distributions for each class.
pub(super) struct Humps;

impl Fit for Humps {
    fn needs(&self) -> Needs {
        Needs::Spread
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_each_class(Mixture::fit(column))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(Mixture::without_one(Mixture::fit(&rest.column), rest))
    }
}

/// The density of one class.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    /// The share of each hump.
    pub(crate) humps: Vec<(f64, Normal)>,
    share: Share,
    background: Background,
}

impl Mixture {
    pub(crate) fn fit(column: &NumberColumn) -> Vec<Mixture> {
        let background = Background::of(column);
        let classes = column.classes.iter().map(|class| {
            let numbers = if class.weight > 0.0 { class } else { &column.pooled };
            let least = least_variance(numbers, column);
            Mixture { humps: best_humps(numbers, least), share: Share::of(class), background }
        });
        classes.collect()
    }

    /// What classes say of their own numbers: each hump gives back what it had of the row, and no more rounds are made.
    pub(crate) fn without_one<'a>(mixtures: Vec<Mixture>, rest: WithoutOne<'a>) -> Own<'a> {
        let column = &rest.column;
        let least: Vec<f64> = column.classes.iter().map(|class| least_variance(class, column)).collect();
        let weights: Vec<f64> = column.classes.iter().map(|class| class.weight).collect();
        Box::new(move |class, x, weight| {
            mixtures[class].without(x, weights[class], weight, least[class]).ln(x)
        })
    }

    /// Without a row of weight `gone`, of a class of this weight.
    fn without(&self, x: f64, weight: f64, gone: f64, least_variance: f64) -> Mixture {
        let rest = (weight - gone).max(0.0);
        let density: f64 = self.humps.iter().map(|(share, normal)| share * libm::exp(normal.ln(x))).sum();
        let smaller = |&(share, normal): &(f64, Normal)| {
            let part = gone * if density > 0.0 { share * libm::exp(normal.ln(x)) / density } else { share };
            let (had, left) = (share * weight, share * weight - part);
            if left <= 1e-9 * weight {
                return (0.0, normal);
            }
            let gap = x - normal.mean;
            let variance = (normal.variance * had - part * gap * gap * had / left) / left;
            let mean = normal.mean - gap * part / left;
            (left / rest, Normal { mean, variance: variance.max(least_variance) })
        };
        let humps = self.humps.iter().map(smaller).collect();
        Mixture { humps, share: Share::of_weight(rest), background: self.background }
    }
}

impl Density for Mixture {
    const PARAMETERS: &'static [&'static str] = &["humps"];

    fn ln(&self, x: f64) -> f64 {
        let density = self.humps.iter().map(|(share, normal)| share * libm::exp(normal.ln(x))).sum();
        self.background.ln_with(x, &self.share, density)
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.humps.len() as f64]
    }

    fn free_parameters(&self) -> usize {
        3 * self.humps.len() - 1
    }
}

/// A hump cannot be narrower than what numbers are rounded to, or it would see nothing but the rounding.
pub(super) fn least_variance(numbers: &Numbers, column: &NumberColumn) -> f64 {
    let rounding = column.resolution().filter(|_| column.exact).unwrap_or(0.0);
    let least = (NARROWEST * NARROWEST * numbers.variance).max(rounding * rounding / 12.0);
    if least > 0.0 { least.min(f64::MAX) } else { 1.0 }
}

fn best_humps(numbers: &Numbers, least_variance: f64) -> Vec<(f64, Normal)> {
    let n = numbers.weight;
    let tried =
        (1..=MOST_HUMPS).take_while(|&humps| humps == 1 || 5 * humps <= numbers.cells.len()).map(|humps| {
            let (mixture, ln_likelihood) = settle(numbers, humps, least_variance);
            let parameters = (3 * humps - 1) as f64;
            (parameters * libm::log(n) * unit(n) - 2.0 * ln_likelihood, mixture)
        });
    tried.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, mixture)| mixture).unwrap_or_default()
}

/// Humps at even quantiles, moved until they stay where they are, and the log-likelihood of the rows in [units](unit()) of
/// their weight.
fn settle(numbers: &Numbers, humps: usize, least_variance: f64) -> (Vec<(f64, Normal)>, f64) {
    let share = 1.0 / humps as f64;
    let spread = (numbers.variance * share * share).max(least_variance);
    let mut mixture: Vec<(f64, Normal)> = (0..humps)
        .map(|hump| (share, Normal { mean: numbers.quantile((hump as f64 + 0.5) * share), variance: spread }))
        .collect();
    let mut before = f64::NEG_INFINITY;
    for _ in 0..MOST_ROUNDS {
        let (next, ln_likelihood) = round(&mixture, numbers, least_variance);
        if ln_likelihood - before < SETTLED * numbers.weight * unit(numbers.weight) {
            return (mixture, ln_likelihood);
        }
        (mixture, before) = (next, ln_likelihood);
    }
    (mixture, before)
}

/// Better humps, and the log-likelihood of those given in [units](unit()) of the weight.
fn round(mixture: &[(f64, Normal)], numbers: &Numbers, least_variance: f64) -> (Vec<(f64, Normal)>, f64) {
    let unit = unit(numbers.weight);
    let mut sums = vec![(0.0, 0.0, 0.0); mixture.len()];
    let mut ln_likelihood = 0.0;
    let mut terms = vec![0.0; mixture.len()];
    for &Weighed { value, weight, width } in &numbers.cells {
        let weight = weight * unit;
        for (term, (share, normal)) in terms.iter_mut().zip(mixture) {
            *term = libm::log(*share) + normal.ln(value);
        }
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            continue; // no hump has anything to do with a number so far away
        }
        let total: f64 = terms.iter().map(|term| libm::exp(term - most)).sum();
        ln_likelihood += weight * (most + libm::log(total));
        for ((sum, term), (_, normal)) in sums.iter_mut().zip(&terms).zip(mixture) {
            let part = weight * libm::exp(term - most) / total;
            // Around the old mean, so that a large offset cancels nothing.
            let gap = value - normal.mean;
            let square = gap * gap + width * width / 12.0; // the numbers of a cell lie all over it
            *sum = (sum.0 + part, sum.1 + part * gap, sum.2 + part * square);
        }
    }
    let n: f64 = sums.iter().map(|sum| sum.0).sum();
    let next = sums.iter().zip(mixture).filter(|((part, ..), _)| *part > 1e-9 * n).map(
        |(&(part, gap, square), (_, old))| {
            let shift = gap / part;
            let variance = (square / part - shift * shift).max(least_variance).min(f64::MAX);
            let mean = old.mean + shift;
            (part / n, Normal { mean: if mean.is_finite() { mean } else { old.mean }, variance })
        },
    );
    (next.collect(), ln_likelihood)
}

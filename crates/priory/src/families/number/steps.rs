//! Densities with steps: a number falls into a bin, each class gives each bin a probability, and within a bin all classes
//! spread it alike.
//!
//! p(x | class) = P(bin of x | class) · g(x | bin)
//!
//! g is even between the cuts. The outer bins have no outer edge: of the numbers in them, one more than were seen is
//! imagined to lie beyond the last, the less likely the farther out. Since g is the same for all classes it never moves
//! a posterior.

use std::f64::consts::LN_2;

use super::density::{Densities, Parameter, Part};
use super::memo::Memo;
use super::numbers::{NumberColumn, Numbers};
use super::without_one::Own;
use crate::families::lookup::{self, NO_ROW};

/// Cut points, and what lies between them in all classes together.
#[derive(Debug, Clone)]
pub(crate) struct Bins {
    /// Between two neighbouring numbers each, in order.
    pub(crate) cuts: Vec<f64>,
    /// The weight of each bin in each class.
    pub(crate) counts: Vec<Vec<f64>>,
    /// The weight of each bin in all.
    pub(crate) pooled: Vec<f64>,
    low: f64,
    high: f64,
    least_width: f64,
}

impl Bins {
    /// Counts what lies between these cuts.
    pub(crate) fn new(column: &NumberColumn, cuts: Vec<f64>) -> Self {
        let count = |numbers: &Numbers| {
            let mut counts = vec![0.0; cuts.len() + 1];
            let mut bin = 0;
            for cell in &numbers.cells {
                while bin < cuts.len() && cell.value >= cuts[bin] {
                    bin += 1;
                }
                counts[bin] += cell.weight;
            }
            counts
        };
        Bins {
            counts: column.classes.iter().map(count).collect(),
            pooled: count(&column.pooled),
            low: column.pooled.least(),
            high: column.pooled.greatest(),
            least_width: column.resolution().unwrap_or(1.0),
            cuts,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.pooled.len()
    }

    pub(crate) fn bin(&self, x: f64) -> usize {
        self.cuts.partition_point(|&cut| cut <= x)
    }

    /// From where to where the numbers in a bin lie; a bin of a single number is as wide as can be seen.
    fn edges(&self, bin: usize) -> (f64, f64) {
        let low = if bin == 0 { self.low } else { self.cuts[bin - 1] };
        let high = self.cuts.get(bin).copied().unwrap_or(self.high);
        let missing = (0.5 * (self.least_width - (high - low))).max(0.0);
        let (low, high) = match (bin == 0, bin == self.cuts.len()) {
            (false, false) => (low, high),
            (true, false) => (low - 2.0 * missing, high),
            (false, true) => (low, high + 2.0 * missing),
            (true, true) => (low - missing, high + missing),
        };
        (low.max(f64::MIN), high.min(f64::MAX))
    }

    /// ln g(x | bin).
    pub(crate) fn ln_within(&self, bin: usize, x: f64) -> f64 {
        let (low, high) = self.edges(bin);
        let farther = if bin == 0 && x < low {
            self.ln_1p_quotient((x, low), (low, high))
        } else if bin == self.cuts.len() && x > high {
            self.ln_1p_quotient((high, x), (low, high))
        } else {
            return self.ln_inside(bin);
        };
        self.ln_density(self.beyond(bin), low, high) - 2.0 * farther
    }

    /// ln g(x | bin) for an x between the edges of the bin.
    fn ln_inside(&self, bin: usize) -> f64 {
        let (low, high) = self.edges(bin);
        self.ln_density(1.0 - self.tails(bin) * self.beyond(bin), low, high)
    }

    /// The logarithm of a probability that is spread evenly from one edge to the other, also where the density or their
    /// distance is beyond what an f64 can hold.
    fn ln_density(&self, probability: f64, low: f64, high: f64) -> f64 {
        let density = probability / (high - low);
        if density.is_normal() {
            libm::log(density)
        } else {
            libm::log(probability) - self.ln_distance(low, high)
        }
    }

    /// ln(1 + distance / width), each of them from one number to another, likewise.
    fn ln_1p_quotient(&self, distance: (f64, f64), width: (f64, f64)) -> f64 {
        let quotient = (distance.1 - distance.0) / (width.1 - width.0);
        if quotient.is_finite() {
            return libm::log1p(quotient);
        }
        let ln_quotient = self.ln_distance(distance.0, distance.1) - self.ln_distance(width.0, width.1);
        // Beyond e^40 nothing is left of the 1.
        if ln_quotient < 40.0 { libm::log1p(libm::exp(ln_quotient)) } else { ln_quotient }
    }

    /// The logarithm of a distance. Edges around a number that is so large that nothing can be added to it coincide, and are
    /// taken to be as far apart as they should be.
    fn ln_distance(&self, low: f64, high: f64) -> f64 {
        match high - low {
            0.0 => libm::log(self.least_width),
            f64::INFINITY => LN_2 + libm::log(0.5 * high - 0.5 * low),
            distance => libm::log(distance),
        }
    }

    /// How many sides of a bin have no edge.
    fn tails(&self, bin: usize) -> f64 {
        f64::from(u8::from(bin == 0) + u8::from(bin == self.cuts.len()))
    }

    /// The share of a bin that lies beyond each edge that is none.
    fn beyond(&self, bin: usize) -> f64 {
        1.0 / (self.pooled[bin] + self.tails(bin) + 1.0)
    }

    /// Whether x may lie beyond the numbers that were seen.
    fn is_beyond(&self, x: f64) -> bool {
        !(self.low..=self.high).contains(&x)
    }
}

/// What classes say of their own numbers, from `ln(class, bin, gone)`: ln P(bin | class) if the class had so much less in
/// that bin. The bins and what lies within them stay as all rows say.
pub(crate) fn without_one<'a>(
    bins: Bins,
    ln: impl Fn(usize, usize, f64) -> f64 + Send + Sync + 'a,
) -> Own<'a> {
    let inside: Vec<f64> = (0..bins.len()).map(|bin| bins.ln_inside(bin)).collect();
    // Most rows weigh one.
    let of_class = |class: usize| (0..bins.len()).map(|bin| ln(class, bin, 1.0)).collect();
    let without_weight_one: Vec<Vec<f64>> = (0..bins.counts.len()).map(of_class).collect();
    Box::new(move |class, x, weight| {
        let bin = bins.bin(x);
        let within = if bins.is_beyond(x) { bins.ln_within(bin, x) } else { inside[bin] };
        let ln = if weight == 1.0 { without_weight_one[class][bin] } else { ln(class, bin, weight) };
        ln + within
    })
}

/// Probabilities of bins, ready to be added up.
#[derive(Debug, Clone)]
pub(crate) struct StepsLikelihood {
    bins: Bins,
    /// ln P(bin | class), the classes side by side.
    ln: Vec<f64>,
    /// The same and ln g(x | bin) for an x between the edges of the bin.
    ln_density: Vec<f64>,
    classes: usize,
}

impl StepsLikelihood {
    /// From ln P(bin | class), one list per class.
    pub(crate) fn new(bins: Bins, ln: &[Vec<f64>]) -> Self {
        let classes = ln.len();
        let ln: Vec<f64> = (0..bins.len()).flat_map(|bin| ln.iter().map(move |class| class[bin])).collect();
        let inside = (0..bins.len()).flat_map(|bin| std::iter::repeat_n(bins.ln_inside(bin), classes));
        StepsLikelihood {
            ln_density: ln.iter().zip(inside).map(|(ln, inside)| ln + inside).collect(),
            ln,
            classes,
            bins,
        }
    }

    /// P(bin | class).
    fn probability(&self, bin: usize, class: usize) -> f64 {
        libm::exp(self.ln[bin * self.classes + class])
    }
}

impl Densities for StepsLikelihood {
    fn classes(&self) -> usize {
        self.classes
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn free_parameters(&self) -> usize {
        self.classes * (self.bins.len() - 1)
    }

    fn parts(&self, _: &NumberColumn) -> Vec<Part> {
        let cuts = &self.bins.cuts;
        let name = |bin: usize| match (bin.checked_sub(1).map(|i| cuts[i]), cuts.get(bin)) {
            (None, None) => "any".to_owned(),
            (None, Some(high)) => format!("below {high}"),
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("{low} and above"),
        };
        let part = |bin: usize| Part {
            name: name(bin),
            count: self.bins.counts.iter().map(|counts| counts[bin]).collect(),
            probability: (0..self.classes).map(|class| self.probability(bin, class)).collect(),
        };
        (0..self.bins.len()).map(part).collect()
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        // Beyond the numbers that were seen there is no one row for a bin.
        for (scores, &x) in scores.chunks_exact_mut(self.classes).zip(values) {
            if self.bins.is_beyond(x) && !x.is_nan() {
                let bin = self.bins.bin(x);
                let beyond = self.bins.ln_within(bin, x);
                let ln = &self.ln[bin * self.classes..][..self.classes];
                scores.iter_mut().zip(ln).for_each(|(score, ln)| *score += ln + beyond);
            }
        }
        let row = |x| if self.bins.is_beyond(x) { NO_ROW } else { self.bins.bin(x) as u32 };
        lookup::add_rows(&self.ln_density, self.classes, Memo::map(values, NO_ROW, row), scores);
        0
    }
}

/// A cut between two neighbouring numbers: above the lower, not above the upper.
pub(crate) fn between(lower: f64, upper: f64) -> f64 {
    let middle = 0.5 * lower + 0.5 * upper;
    if middle > lower { middle } else { upper }
}

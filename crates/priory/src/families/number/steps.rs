//! Densities with steps: a number falls into a bin, each class gives each bin a probability, and within a bin all classes
//! spread it alike.
//!
//! p(x | class) = P(bin of x | class) · g(x | bin)
//!
//! g is even between the cuts. The outer bins have no outer edge: of the numbers in them, one more than were seen is
//! imagined to lie beyond the last, the less likely the farther out. Since g is the same for all classes it never moves
//! a posterior.

use super::memo::Memo;
use super::numbers::{NumberColumn, Numbers};
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
        match (bin == 0, bin == self.cuts.len()) {
            (false, false) => (low, high),
            (true, false) => (low - 2.0 * missing, high),
            (false, true) => (low, high + 2.0 * missing),
            (true, true) => (low - missing, high + missing),
        }
    }

    /// ln g(x | bin).
    pub(crate) fn ln_within(&self, bin: usize, x: f64) -> f64 {
        let (low, high) = self.edges(bin);
        let distance = if bin == 0 && x < low {
            low - x
        } else if bin == self.cuts.len() && x > high {
            x - high
        } else {
            return self.ln_inside(bin);
        };
        libm::log(self.beyond(bin) / (high - low)) - 2.0 * libm::log1p(distance / (high - low))
    }

    /// ln g(x | bin) for an x between the edges of the bin.
    fn ln_inside(&self, bin: usize) -> f64 {
        let (low, high) = self.edges(bin);
        libm::log((1.0 - self.tails(bin) * self.beyond(bin)) / (high - low))
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

/// Probabilities of bins, ready to be added up.
#[derive(Debug, Clone)]
pub(crate) struct StepsLikelihood {
    pub(crate) bins: Bins,
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

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// P(bin | class).
    pub(crate) fn probability(&self, bin: usize, class: usize) -> f64 {
        libm::exp(self.ln[bin * self.classes + class])
    }

    pub(crate) fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) {
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
    }
}

/// A cut between two neighbouring numbers: above the lower, not above the upper.
pub(crate) fn between(lower: f64, upper: f64) -> f64 {
    let middle = 0.5 * lower + 0.5 * upper;
    if middle > lower { middle } else { upper }
}

//! A column of numbers as the families see it: for each class, and for all together, the first two moments and the
//! numbers themselves as far as the spectrum tells them apart.

use std::cell::OnceCell;

use super::NumberStatistics;
use crate::families::Removed;
use crate::moments::Moments;
use crate::spectrum::Weighed;

/// The numbers of one class, or of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    pub(crate) weight: f64,
    /// Zero if there are no numbers.
    pub(crate) mean: f64,
    /// Of the population; zero if there are no numbers.
    pub(crate) variance: f64,
    /// Different numbers, in order, and their weights.
    pub(crate) cells: Vec<Weighed>,
}

/// A column of numbers, read out of its statistics.
#[derive(Debug, Clone)]
pub(crate) struct NumberColumn {
    pub(crate) classes: Vec<Numbers>,
    pub(crate) pooled: Numbers,
    /// Whether the cells hold every number as it was, none of them rounded.
    pub(crate) exact: bool,
    /// What [`kernel::best_factor`](super::kernel::best_factor) found: it is asked when the family is chosen, and again
    /// when it is fitted.
    pub(crate) best_factor: OnceCell<(f64, f64)>,
}

impl NumberColumn {
    /// Reads canonical statistics, perhaps as if one row with this number had not been there.
    pub(crate) fn read(statistics: &NumberStatistics, without: Option<(f64, Removed)>) -> Self {
        let removed = |class: usize| without.filter(|(_, removed)| removed.class == class);
        let mut pooled = Moments::default();
        let moments = statistics.moments.iter().enumerate().map(|(class, moments)| {
            let mut moments = moments.clone();
            if let Some((x, removed)) = removed(class) {
                moments.add(x, -removed.weight);
            }
            pooled.merge(&moments);
            moments
        });
        let mut classes: Vec<Numbers> = moments.map(|moments| Numbers::from_moments(&moments)).collect();
        let mut pooled = Numbers::from_moments(&pooled);
        let mut exact = true;
        if let Some(spectrum) = &statistics.spectrum {
            exact = spectrum.level() == 0;
            let gone = without.map(|(x, removed)| (x, removed.class, removed.weight));
            for (class, cells) in spectrum.by_class(classes.len(), gone).into_iter().enumerate() {
                classes[class].cells = cells;
            }
            pooled.cells = together(&classes);
        }
        NumberColumn { classes, pooled, exact, best_factor: OnceCell::new() }
    }

    /// Whether every number is known to be whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.exact && self.pooled.cells.iter().all(|cell| cell.value.fract() == 0.0)
    }

    /// The finest difference between two numbers: what they seem to be rounded to. `None` if there are not two.
    pub(crate) fn resolution(&self) -> Option<f64> {
        if self.is_whole() && !self.pooled.cells.is_empty() {
            return Some(1.0);
        }
        let gaps = self.pooled.cells.windows(2).map(|pair| pair[1].value - pair[0].value);
        gaps.min_by(f64::total_cmp)
    }

    /// What is known of a class before its own numbers are looked at: the average variance within the classes, and a
    /// row's share of the variance of all, so that it is above zero unless all numbers are equal.
    pub(crate) fn variance_within(&self) -> f64 {
        let classes = self.classes.iter().filter(|class| class.weight > 0.0);
        let squares: f64 = classes.map(|class| class.weight * class.variance).sum();
        let n = self.pooled.weight;
        if n > 0.0 { squares / n + self.pooled.variance / (n + 1.0) } else { 0.0 }
    }
}

impl Numbers {
    fn from_moments(moments: &Moments) -> Self {
        Numbers {
            weight: if moments.weight.is_positive() { moments.weight.value() } else { 0.0 },
            mean: moments.mean().unwrap_or(0.0),
            variance: moments.variance().unwrap_or(0.0),
            cells: Vec::new(),
        }
    }

    /// The same after a function that keeps the order of the numbers. The moments are those of the cells, whose widths
    /// are lost.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Numbers {
        let moved = |cell: &Weighed| Weighed { value: f(cell.value), weight: cell.weight, width: 0.0 };
        Numbers::from_cells(self.cells.iter().map(moved).collect())
    }

    pub(crate) fn from_cells(cells: Vec<Weighed>) -> Numbers {
        let weight: f64 = cells.iter().map(|cell| cell.weight).sum();
        if weight == 0.0 {
            return Numbers::default();
        }
        let mean = cells.iter().map(|cell| cell.weight * cell.value).sum::<f64>() / weight;
        let square = |cell: &Weighed| cell.weight * (cell.value - mean) * (cell.value - mean);
        let variance = cells.iter().map(square).sum::<f64>() / weight;
        Numbers { weight, mean, variance, cells }
    }

    /// The moments without one of the numbers, which is among them; the cells are left alone.
    pub(crate) fn moments_without(&self, x: f64) -> Numbers {
        let rest = self.weight - 1.0;
        if rest <= 0.0 {
            return Numbers::default();
        }
        let mean = self.mean + (self.mean - x) / rest;
        let gone = (x - self.mean) * (x - self.mean) * self.weight / rest;
        Numbers {
            weight: rest,
            mean,
            variance: ((self.weight * self.variance - gone) / rest).max(0.0),
            cells: Vec::new(),
        }
    }

    pub(crate) fn least(&self) -> f64 {
        self.cells.first().map_or(0.0, |cell| cell.value)
    }

    pub(crate) fn greatest(&self) -> f64 {
        self.cells.last().map_or(0.0, |cell| cell.value)
    }

    /// The least number at or below which this share of the weight lies.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let total: f64 = self.cells.iter().map(|cell| cell.weight).sum();
        let mut sum = 0.0;
        for cell in &self.cells {
            sum += cell.weight;
            if sum >= share * total {
                return cell.value;
            }
        }
        self.greatest()
    }
}

/// The cells of all classes as one list.
fn together(classes: &[Numbers]) -> Vec<Weighed> {
    let mut all: Vec<Weighed> = classes.iter().flat_map(|class| class.cells.iter().copied()).collect();
    all.sort_by(|a, b| a.value.total_cmp(&b.value));
    all.dedup_by(|next, kept| {
        let same = next.value == kept.value;
        if same {
            kept.weight += next.weight;
        }
        same
    });
    all
}

//! A column of numbers as the families see it: for each class, and for all together, the first two moments and the
//! numbers themselves as far as the spectrum tells them apart.

use std::sync::OnceLock;

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
    pub(crate) best_factor: OnceLock<(f64, f64)>,
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
        // A class that weighs next to nothing can have a variance beyond what an f64 holds although the column has none.
        classes.iter_mut().for_each(|class| class.variance = class.variance.min(f64::MAX));
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
        NumberColumn { classes, pooled, exact, best_factor: OnceLock::new() }
    }

    /// Whether every number is known to be whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.exact && self.pooled.cells.iter().all(|cell| cell.value.fract() == 0.0)
    }

    /// Whether the numbers differ by so little that an f64 cannot hold their variance.
    pub(crate) fn is_too_close(&self) -> bool {
        self.pooled.cells.len() > 1 && !self.pooled.variance.is_normal()
    }

    /// The finest difference between two numbers: what they seem to be rounded to. `None` if there are not two.
    pub(crate) fn resolution(&self) -> Option<f64> {
        if self.is_whole() && !self.pooled.cells.is_empty() {
            return Some(1.0);
        }
        let gaps = self.pooled.cells.windows(2).map(|pair| pair[1].value - pair[0].value);
        gaps.min_by(f64::total_cmp).map(|gap| gap.min(f64::MAX))
    }

    /// What is known of a class before its own numbers are looked at: the average variance within the classes, and a
    /// row's share of the variance of all, so that it is above zero unless all numbers are equal.
    pub(crate) fn variance_within(&self) -> f64 {
        let n = self.pooled.weight;
        if n == 0.0 {
            return 0.0;
        }
        let unit = unit(n);
        let squares: f64 = self.classes.iter().map(|class| class.weight * unit * class.variance).sum();
        (squares / (n * unit) + self.pooled.variance / (n + 1.0)).min(f64::MAX)
    }
}

impl Numbers {
    pub(crate) fn from_moments(moments: &Moments) -> Self {
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
        let unit = unit(weight);
        let share = |cell: &Weighed| cell.weight * unit;
        let mean = cells.iter().map(|cell| share(cell) * cell.value).sum::<f64>() / (weight * unit);
        let square = |cell: &Weighed| share(cell) * (cell.value - mean) * (cell.value - mean);
        let variance = cells.iter().map(square).sum::<f64>() / (weight * unit);
        Numbers { weight, mean, variance, cells }
    }

    /// The moments without a row that holds one of the numbers; the cells are left alone. `None` if the row is nearly all
    /// there is, or nearly all of the variance, so that the difference would have no digits left.
    pub(crate) fn moments_without(&self, x: f64, weight: f64) -> Option<Numbers> {
        const FEWEST_LEFT: f64 = 1e-4;
        let rest = self.weight - weight;
        let mean = self.mean + (self.mean - x) * weight / rest;
        let (squares, gone) =
            (self.weight * self.variance, (x - self.mean) * (x - self.mean) * weight * self.weight / rest);
        let digits_left = rest > FEWEST_LEFT * self.weight && squares - gone >= FEWEST_LEFT * squares;
        digits_left.then(|| Numbers {
            weight: rest,
            mean,
            variance: (squares - gone) / rest,
            cells: Vec::new(),
        })
    }

    /// The cell that a number of this class was counted in: the nearest.
    pub(crate) fn cell_of(&self, x: f64) -> Option<usize> {
        let after = self.cells.partition_point(|cell| cell.value < x);
        let distance = |i: &usize| (self.cells[*i].value - x).abs();
        let around = after.saturating_sub(1)..self.cells.len().min(after + 1);
        around.min_by(|a, b| distance(a).total_cmp(&distance(b)))
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

/// The power of two by which a weight has to be multiplied to lie between 1 and 2. Weights may be as large or as small as an
/// f64 can be, and their products with other numbers must neither overflow nor vanish. Multiplying by a power of two rounds
/// nothing, so sums of weights in this unit have the same digits as those of the weights themselves.
pub(crate) fn unit(weight: f64) -> f64 {
    const LARGEST_EXPONENT: i32 = 1022; // two to the power of minus this is still a normal number
    let exponent = libm::frexp(weight).1 - 1;
    libm::ldexp(1.0, (-exponent).clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT))
}

/// A point on the way from one number to another, the share `part` of it from the first, also where their distance is
/// beyond what an f64 can hold.
pub(crate) fn along(from: f64, to: f64, part: f64) -> f64 {
    let distance = to - from;
    if distance.is_finite() { from + distance * part } else { from * (1.0 - part) + to * part }
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

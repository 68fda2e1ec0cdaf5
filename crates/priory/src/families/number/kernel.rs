//! Kernel density: every number of a class spreads its weight as a narrow Gaussian.
//!
//! ```text
//! f(x) = Σ w φ((x − v) / h) / (n h)        over the numbers v of the class
//! h = c · 0.9 min(σ, quartile range / 1.34) n^(−1/5)
//! ```
//!
//! c = 1 is Silverman's rule; otherwise c is the factor under which the rows of all classes are most likely, each judged
//! by the others. The curve is worked out at points a quarter of h apart and joined by straight lines; what lies
//! between is off by less than a hundredth, and the whole is scaled to an area of one. The imagined row of
//! [`background`](super::background) is added.

use std::f64::consts::PI;

use super::background::{Background, Share};
use super::numbers::{NumberColumn, Numbers};
use crate::spectrum::Weighed;

/// The factors that are tried.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 1.5, 2.5];
/// Points per bandwidth.
const POINTS: f64 = 4.0;
/// Bandwidths after which a kernel ends.
const REACH: f64 = 5.0;

/// The density of one class.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub(crate) bandwidth: f64,
    curve: Curve,
    share: Share,
    background: Background,
}

impl Kernel {
    /// The density of each class with this factor.
    pub(crate) fn fit(column: &NumberColumn, factor: f64) -> Vec<Kernel> {
        let background = Background::of(column);
        let bandwidths = Bandwidths::of(column);
        let classes = column.classes.iter().enumerate().map(|(class, numbers)| {
            let bandwidth = bandwidths.of_class(class, factor);
            let curve = Curve::new(&grouped(&numbers.cells, bandwidth / POINTS), bandwidth);
            Kernel { bandwidth, curve, share: Share::of(numbers), background }
        });
        classes.collect()
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        self.background.ln_with(x, &self.share, self.curve.at(x))
    }
}

/// The best factor, and the log-likelihood of all rows, each without itself.
pub(crate) fn best_factor(column: &NumberColumn) -> (f64, f64) {
    let background = Background::of(column);
    let bandwidths = Bandwidths::of(column);
    let likelihood = |factor: f64| -> f64 {
        let classes = column.classes.iter().enumerate().filter(|(_, numbers)| numbers.weight > 0.0);
        classes.map(|(class, numbers)| leave_one_out(numbers, bandwidths.of_class(class, factor), &background)).sum()
    };
    let likelihoods = FACTORS.map(|factor| (factor, likelihood(factor)));
    likelihoods.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1.0, f64::NEG_INFINITY))
}

fn leave_one_out(numbers: &Numbers, bandwidth: f64, background: &Background) -> f64 {
    let groups = grouped(&numbers.cells, bandwidth / POINTS);
    let rest = numbers.weight - 1.0;
    let share = Share::of_weight(rest.max(0.0));
    let mut start = 0;
    let terms = groups.iter().map(|group| {
        let (sum, first) = sum_around(&groups, start, group.value, bandwidth);
        start = first;
        // A row does not speak for itself.
        let others = (sum - group.weight.min(1.0)).max(0.0);
        let density = if rest > 0.0 { others * peak(bandwidth) / rest } else { 0.0 };
        group.weight * background.ln_with(group.value, &share, density)
    });
    terms.sum()
}

/// The bandwidth of each class by Silverman's rule.
struct Bandwidths {
    silverman: Vec<f64>,
    /// Kernels narrower than what numbers are rounded to would see nothing but the rounding.
    least: f64,
}

impl Bandwidths {
    fn of(column: &NumberColumn) -> Self {
        let within = libm::sqrt(column.variance_within());
        let silverman = column.classes.iter().map(|numbers| {
            let quartiles = (numbers.quantile(0.75) - numbers.quantile(0.25)) / 1.34;
            let deviation = libm::sqrt(numbers.variance);
            let spreads = [quartiles, deviation].into_iter().filter(|&spread| spread > 0.0);
            let spread = spreads.min_by(f64::total_cmp).unwrap_or(within);
            0.9 * spread * libm::pow(numbers.weight.max(1.0), -0.2)
        });
        let least = if column.exact { 0.5 * column.resolution().unwrap_or(0.0) } else { 0.0 };
        Bandwidths { silverman: silverman.collect(), least }
    }

    fn of_class(&self, class: usize, factor: f64) -> f64 {
        let bandwidth = (factor * self.silverman[class]).max(self.least);
        if bandwidth > 0.0 { bandwidth } else { 1.0 }
    }
}

/// Numbers less than `width` apart as one, at their mean.
fn grouped(cells: &[Weighed], width: f64) -> Vec<Weighed> {
    let mut groups: Vec<Weighed> = Vec::new();
    let mut start = f64::NEG_INFINITY;
    for cell in cells {
        match groups.last_mut() {
            Some(group) if cell.value - start < width => {
                group.weight += cell.weight;
                group.value += (cell.value - group.value) * (cell.weight / group.weight);
            }
            _ => {
                groups.push(*cell);
                start = cell.value;
            }
        }
    }
    groups
}

/// Σ w exp(−½ z²) over the groups within reach of x, and the first of them; `start` is not after it.
fn sum_around(groups: &[Weighed], mut start: usize, x: f64, bandwidth: f64) -> (f64, usize) {
    while start < groups.len() && groups[start].value < x - REACH * bandwidth {
        start += 1;
    }
    let within = groups[start..].iter().take_while(|group| group.value <= x + REACH * bandwidth);
    let kernel = |group: &Weighed| {
        let z = (x - group.value) / bandwidth;
        group.weight * libm::exp(-0.5 * z * z)
    };
    (within.map(kernel).sum(), start)
}

/// The height of a kernel.
fn peak(bandwidth: f64) -> f64 {
    1.0 / (libm::sqrt(2.0 * PI) * bandwidth)
}

/// Points joined by straight lines, where there is anything to join; zero elsewhere.
#[derive(Debug, Clone)]
struct Curve {
    /// The first point of each stretch, and where its heights begin.
    stretches: Vec<(f64, usize)>,
    heights: Vec<f64>,
    step: f64,
}

impl Curve {
    fn new(groups: &[Weighed], bandwidth: f64) -> Self {
        let step = bandwidth / POINTS;
        let steps = (REACH * POINTS) as usize;
        let mut curve = Curve { stretches: Vec::new(), heights: Vec::new(), step };
        let mut start = 0;
        let mut rest = groups;
        while let Some(first) = rest.first() {
            // A stretch goes on until a gap that no kernel reaches across.
            let gap = rest.windows(2).position(|pair| pair[1].value - pair[0].value > 2.0 * REACH * bandwidth);
            let members = gap.map_or(rest.len(), |gap| gap + 1);
            let length = ((rest[members - 1].value - first.value) / step).ceil() as usize + 2 * steps;
            let origin = first.value - REACH * bandwidth;
            curve.stretches.push((origin, curve.heights.len()));
            for point in 0..=length {
                let (sum, first) = sum_around(groups, start, origin + point as f64 * step, bandwidth);
                start = first;
                curve.heights.push(sum);
            }
            rest = &rest[members..];
        }
        let area = curve.area();
        curve.heights.iter_mut().for_each(|height| *height /= area);
        curve
    }

    fn ends(&self, stretch: usize) -> usize {
        self.stretches.get(stretch + 1).map_or(self.heights.len(), |next| next.1)
    }

    fn area(&self) -> f64 {
        let of_stretch = |(i, &(_, start)): (usize, &(f64, usize))| {
            let heights = &self.heights[start..self.ends(i)];
            let ends = 0.5 * (heights[0] + heights[heights.len() - 1]);
            (heights.iter().sum::<f64>() - ends) * self.step
        };
        self.stretches.iter().enumerate().map(of_stretch).sum()
    }

    fn at(&self, x: f64) -> f64 {
        let after = self.stretches.partition_point(|stretch| stretch.0 <= x);
        let Some(stretch) = after.checked_sub(1) else { return 0.0 };
        let (origin, start) = self.stretches[stretch];
        let position = (x - origin) / self.step;
        let heights = &self.heights[start..self.ends(stretch)];
        if position >= (heights.len() - 1) as f64 {
            return 0.0;
        }
        let left = position as usize;
        let part = position - left as f64;
        heights[left] + part * (heights[left + 1] - heights[left])
    }
}

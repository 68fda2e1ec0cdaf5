//! Kernel density: every number of a class spreads its weight as a narrow Gaussian.
//!
//! ```text
//! f(x) = Σ w φ((x − v) / h) / (n h)        over the numbers v of the class
//! h = c · 0.9 min(σ, quartile range / 1.34) n^(−1/5)
//! ```
//!
//! c = 1 is Silverman's rule; otherwise c is the factor under which the rows of all classes are most likely, each judged
//! by the others. The imagined rows of [`background`](super::background) are added. The logarithm of the curve is worked
//! out at points a quarter of h apart and joined by straight lines; what lies between is off by less than a hundredth,
//! and the whole is scaled so that the area stays what it was.

use std::f64::consts::PI;
use std::ops::Range;

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
            let share = Share::of(numbers);
            let groups = grouped(&numbers.cells, bandwidth / POINTS);
            let curve = Curve::new(&groups, bandwidth, &share, &background);
            Kernel { bandwidth, curve, share, background }
        });
        classes.collect()
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        self.curve.ln(x).unwrap_or_else(|| self.background.ln_with(x, &self.share, 0.0))
    }
}

/// The densities of all classes, and a table of them where one is not too large.
#[derive(Debug, Clone)]
pub(crate) struct KernelLikelihood {
    pub(crate) classes: Vec<Kernel>,
    table: Option<Table>,
}

impl KernelLikelihood {
    pub(crate) fn new(classes: Vec<Kernel>) -> Self {
        KernelLikelihood { table: Table::new(&classes), classes }
    }

    /// Adds log p(x | class) of every row to its scores; a missing x adds nothing.
    pub(crate) fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) {
        for (scores, &x) in scores.chunks_exact_mut(self.classes.len()).zip(values) {
            match self.table.as_ref().and_then(|table| table.around(x)) {
                Some((part, left, right)) => {
                    for ((score, left), right) in scores.iter_mut().zip(left).zip(right) {
                        *score += left + part * (right - left);
                    }
                }
                None if x.is_nan() => {}
                None => scores.iter_mut().zip(&self.classes).for_each(|(score, class)| *score += class.ln(x)),
            }
        }
    }
}

/// More points than this are not tabulated.
const MOST_POINTS: f64 = 4096.0;

/// The logarithms of all densities at common points, as close together as the narrowest kernel asks for, the classes side
/// by side: where a number lies is then worked out once and not for each class.
#[derive(Debug, Clone)]
struct Table {
    origin: f64,
    steps_per_unit: f64,
    ln: Vec<f64>,
    classes: usize,
}

impl Table {
    fn new(classes: &[Kernel]) -> Option<Self> {
        let curves = || classes.iter().map(|class| &class.curve).filter(|curve| !curve.stretches.is_empty());
        let steps_per_unit = curves().map(|curve| curve.steps_per_unit).max_by(f64::total_cmp)?;
        let origin = curves().map(|curve| curve.stretches[0].0).min_by(f64::total_cmp)?;
        let end = curves().map(Curve::end).max_by(f64::total_cmp)?;
        let points = ((end - origin) * steps_per_unit).ceil() + 1.0;
        if points > MOST_POINTS {
            return None;
        }
        let at = |point: usize| origin + point as f64 / steps_per_unit;
        let mut ln = vec![0.0; points as usize * classes.len()];
        for (i, class) in classes.iter().enumerate() {
            let heights: Vec<f64> =
                (0..points as usize).map(|point| libm::exp(class.ln(at(point)))).collect();
            let regained = area(&heights, chord) / area(&heights, sagging);
            for (row, height) in ln.chunks_exact_mut(classes.len()).zip(heights) {
                row[i] = libm::log(regained * height);
            }
        }
        Some(Table { origin, steps_per_unit, ln, classes: classes.len() })
    }

    /// How far x is from one point to the next, and what stands there.
    #[inline]
    fn around(&self, x: f64) -> Option<(f64, &[f64], &[f64])> {
        let position = (x - self.origin) * self.steps_per_unit;
        if !(0.0..MOST_POINTS).contains(&position) {
            return None;
        }
        let left = position as usize;
        let rows = self.ln.get(left * self.classes..(left + 2) * self.classes)?;
        let (a, b) = rows.split_at(self.classes);
        Some((position - left as f64, a, b))
    }
}

/// The best factor, and the log-likelihood of all rows, each without itself.
pub(crate) fn best_factor(column: &NumberColumn) -> (f64, f64) {
    let background = Background::of(column);
    let bandwidths = Bandwidths::of(column);
    let likelihood = |factor: f64| -> f64 {
        let classes = column.classes.iter().enumerate().filter(|(_, numbers)| numbers.weight > 0.0);
        classes
            .map(|(class, numbers)| leave_one_out(numbers, bandwidths.of_class(class, factor), &background))
            .sum()
    };
    let likelihoods = FACTORS.map(|factor| (factor, likelihood(factor)));
    likelihoods.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1.0, f64::NEG_INFINITY))
}

/// log p(x | class) for every number of every class, without one row that holds it.
pub(crate) fn ln_without_one(column: &NumberColumn, factor: f64) -> Vec<Vec<f64>> {
    let background = Background::of(column);
    let bandwidths = Bandwidths::of(column);
    let of_class = |(class, numbers): (usize, &Numbers)| {
        let bandwidth = bandwidths.of_class(class, factor);
        let groups = grouped(&numbers.cells, bandwidth / POINTS);
        ln_of_others(&numbers.cells, &groups, numbers.weight, bandwidth, &background)
    };
    column.classes.iter().enumerate().map(of_class).collect()
}

fn leave_one_out(numbers: &Numbers, bandwidth: f64, background: &Background) -> f64 {
    let groups = grouped(&numbers.cells, bandwidth / POINTS);
    let ln = ln_of_others(&groups, &groups, numbers.weight, bandwidth, background);
    groups.iter().zip(ln).map(|(group, ln)| group.weight * ln).sum()
}

/// The logarithm of the density at some numbers, which are in order and among the groups, each without one row there.
fn ln_of_others(
    numbers: &[Weighed],
    groups: &[Weighed],
    weight: f64,
    bandwidth: f64,
    background: &Background,
) -> Vec<f64> {
    let rest = weight - 1.0;
    let share = Share::of_weight(rest.max(0.0));
    let mut start = 0;
    let ln = numbers.iter().map(|number| {
        let (sum, first) = sum_around(groups, start, number.value, bandwidth);
        start = first;
        // A row does not speak for itself.
        let others = (sum - number.weight.min(1.0)).max(0.0);
        let density = if rest > 0.0 { others * peak(bandwidth) / rest } else { 0.0 };
        background.ln_with(number.value, &share, density)
    });
    ln.collect()
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

/// Points joined by straight lines, wherever a kernel reaches.
#[derive(Debug, Clone)]
struct Curve {
    /// The first point of each stretch, and where its points begin.
    stretches: Vec<(f64, usize)>,
    /// Logarithms of the density.
    points: Vec<f64>,
    steps_per_unit: f64,
}

impl Curve {
    fn new(groups: &[Weighed], bandwidth: f64, share: &Share, background: &Background) -> Self {
        let step = bandwidth / POINTS;
        let mut curve = Curve { stretches: Vec::new(), points: Vec::new(), steps_per_unit: 1.0 / step };
        let mut start = 0;
        let mut rest = groups;
        while let Some(first) = rest.first() {
            // A stretch goes on until a gap that no kernel reaches across.
            let gap =
                rest.windows(2).position(|pair| pair[1].value - pair[0].value > 2.0 * REACH * bandwidth);
            let members = gap.map_or(rest.len(), |gap| gap + 1);
            let length = (rest[members - 1].value - first.value) / step + 2.0 * REACH * POINTS;
            let origin = first.value - REACH * bandwidth;
            curve.stretches.push((origin, curve.points.len()));
            for point in 0..=length.ceil() as usize {
                let (sum, first) = sum_around(groups, start, origin + point as f64 * step, bandwidth);
                start = first;
                curve.points.push(sum);
            }
            rest = &rest[members..];
        }
        curve.scale(step, share, background);
        curve
    }

    /// Turns sums of kernels into logarithms of densities.
    fn scale(&mut self, step: f64, share: &Share, background: &Background) {
        let total = |curve: &Curve, mean: fn(f64, f64) -> f64| -> f64 {
            curve.stretches().iter().map(|(_, range)| area(&curve.points[range.clone()], mean)).sum()
        };
        let own = share.own / (total(self, chord) * step);
        for (origin, range) in self.stretches() {
            for (i, point) in self.points[range].iter_mut().enumerate() {
                let x = origin + i as f64 * step;
                *point = own * *point + share.imagined * background.density(x);
            }
        }
        let regained = total(self, chord) / total(self, sagging);
        self.points.iter_mut().for_each(|point| *point = libm::log(*point * regained));
    }

    /// Where the last stretch ends.
    fn end(&self) -> f64 {
        let (origin, start) = *self.stretches.last().expect("asked of a curve that has one");
        origin + (self.points.len() - 1 - start) as f64 / self.steps_per_unit
    }

    /// The origin of each stretch, and where its points stand.
    fn stretches(&self) -> Vec<(f64, Range<usize>)> {
        let ends = self.stretches.iter().skip(1).map(|stretch| stretch.1).chain([self.points.len()]);
        self.stretches.iter().zip(ends).map(|(&(origin, start), end)| (origin, start..end)).collect()
    }

    fn ln(&self, x: f64) -> Option<f64> {
        let after = match self.stretches.as_slice() {
            [only] => usize::from(only.0 <= x),
            stretches => stretches.partition_point(|stretch| stretch.0 <= x),
        };
        let stretch = after.checked_sub(1)?;
        let (origin, start) = self.stretches[stretch];
        let end = self.stretches.get(after).map_or(self.points.len(), |next| next.1);
        let position = (x - origin) * self.steps_per_unit;
        let left = position as usize;
        let points = self.points[start..end].get(left..left.checked_add(2)?)?;
        Some(points[0] + (position - left as f64) * (points[1] - points[0]))
    }
}

/// The area under points one apart, joined by lines of this mean.
fn area(points: &[f64], mean: impl Fn(f64, f64) -> f64) -> f64 {
    points.windows(2).map(|pair| mean(pair[0], pair[1])).sum()
}

/// The mean of a straight line between two heights.
fn chord(a: f64, b: f64) -> f64 {
    0.5 * (a + b)
}

/// The mean of an exponential curve between two heights: a straight line between their logarithms, which hangs a little
/// lower. What is lost by it is regained by raising the whole.
fn sagging(a: f64, b: f64) -> f64 {
    let ratio = b / a;
    if (ratio - 1.0).abs() < 1e-6 { chord(a, b) } else { (b - a) / libm::log(ratio) }
}

//! Kernel density: every number of a class spreads its weight as a narrow Gaussian.
//!
//! ```text
//! f(x) = Σ w φ((x − v) / h) / (n h)        over the numbers v of the class
//! h = c · 0.9 min(σ, quartile range / 1.34) n^(−1/5)
//! ```
//!
//! c = 1 is Silverman's rule; otherwise c is the factor under which the rows of all classes are most likely, each judged
//! by the others. A cell of the spectrum that stands for several numbers has a kernel of at least [`WIDTHS`] times its
//! width, or the kernels would show the cells. The imagined rows of [`background`](super::background) are added. The
//! logarithm of the curve is worked out at points a quarter of h apart and joined by straight lines; what lies between is
//! off by less than a hundredth, and the whole is scaled so that the area stays what it was.

use std::f64::consts::PI;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::background::{Background, Share};
use super::density::{Densities, Fitted, Parameter};
use super::family::{Fit, How, Needs};
use super::memo::Memo;
use super::numbers::{NumberColumn, Numbers, along, unit};
use super::without_one::{Own, WithoutOne};
use crate::moments::engine::vectorized;
use crate::numerics;
use crate::spectrum::Weighed;

/// The factors that are tried.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 1.5, 2.5];
/// Points per bandwidth.
const POINTS: f64 = 4.0;
/// Bandwidths after which a kernel ends.
const REACH: f64 = 5.0;
/// Points from one kernel to the next, at most.
const MOST_POINTS_BETWEEN: f64 = 64.0;
/// Widths of a cell that its kernel is wide, at least. Kernels this far apart add up to a level within 1/500.
const WIDTHS: f64 = 0.6;
/// Bandwidths outside of these would have peaks, or reach to numbers, that no f64 holds.
const BANDWIDTHS: RangeInclusive<f64> = 1e-200..=1e200;

/// The family whose factor is the best.
pub(super) struct Best;

impl Fit for Best {
    fn needs(&self) -> Needs {
        Needs::Spread
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        Arc::new(KernelLikelihood::new(Kernel::fit(column, best_factor(column).0)))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        let (factor, _) = best_factor(&rest.column);
        Some(without_one(rest, factor))
    }
}

/// The family whose factor is 1.
pub(super) struct Silverman;

impl Fit for Silverman {
    fn needs(&self) -> Needs {
        Needs::Spread
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        Arc::new(KernelLikelihood::new(Kernel::fit(column, 1.0)))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(without_one(rest, 1.0))
    }
}

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
            let bumps = bumps(&numbers.cells, bandwidth);
            let curve = Curve::new(&bumps, unit(numbers.weight), &share, &background);
            Kernel { bandwidth, curve, share, background }
        });
        classes.collect()
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        self.curve.ln(x).unwrap_or_else(|| self.background.ln_with(x, &self.share, 0.0))
    }

    /// The same for many numbers, which are in order.
    fn ln_in_order<'a>(&'a self, numbers: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let Curve { points, ln } = &self.curve;
        let mut left = 0;
        numbers.iter().map(move |&x| {
            while left + 1 < points.len() && points[left + 1] <= x {
                left += 1;
            }
            match points.get(left + 1) {
                Some(&right) if points[left] <= x => {
                    between((x - points[left]) / (right - points[left]), ln[left], ln[left + 1])
                }
                _ => self.background.ln_with(x, &self.share, 0.0),
            }
        })
    }
}

/// The densities of all classes, and a table of them where one is not too large.
#[derive(Debug, Clone)]
pub(crate) struct KernelLikelihood {
    pub(crate) classes: Vec<Kernel>,
    table: Option<CurveTable>,
}

impl KernelLikelihood {
    pub(crate) fn new(classes: Vec<Kernel>) -> Self {
        KernelLikelihood { table: CurveTable::new(&classes), classes }
    }
}

impl Densities for KernelLikelihood {
    fn classes(&self) -> usize {
        self.classes.len()
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![("bandwidth", self.classes.iter().map(|class| class.bandwidth).collect())]
    }

    fn free_parameters(&self) -> usize {
        self.classes()
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        let is_tabulated = |x| self.table.as_ref().is_some_and(|table| table.covers(x));
        for (scores, &x) in scores.chunks_exact_mut(self.classes.len()).zip(values) {
            if !x.is_nan() && !is_tabulated(x) {
                scores.iter_mut().zip(&self.classes).for_each(|(score, class)| *score += class.ln(x));
            }
        }
        if let Some(table) = &self.table {
            let places = Memo::map(values, None, |x| place(&table.points, x));
            table.interpolate(places, scores);
        }
        0
    }
}

/// More cells than this are not tabulated: a number is then looked up in the curve of each class.
const MOST_TABULATED: usize = 1 << 18;

/// The logarithms of all densities at the points of all curves, the classes side by side: where a number lies is then
/// worked out once and not for each class.
#[derive(Debug, Clone)]
struct CurveTable {
    points: Vec<f64>,
    ln: Vec<f64>,
    classes: usize,
}

impl CurveTable {
    fn new(classes: &[Kernel]) -> Option<Self> {
        let mut points: Vec<f64> =
            classes.iter().flat_map(|class| class.curve.points.iter().copied()).collect();
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        if points.len() * classes.len() > MOST_TABULATED {
            return None;
        }
        let mut ln = vec![0.0; points.len() * classes.len()];
        for (i, class) in classes.iter().enumerate() {
            let cells = ln.iter_mut().skip(i).step_by(classes.len());
            cells.zip(class.ln_in_order(&points)).for_each(|(cell, value)| *cell = value);
        }
        Some(CurveTable { ln, classes: classes.len(), points })
    }

    /// Whether x lies between two points.
    fn covers(&self, x: f64) -> bool {
        matches!(&self.points[..], [first, .., last] if (*first..*last).contains(&x))
    }

    /// Adds log p(x | class) of rows for which it is known between which points they lie, and how far from one to the next.
    fn interpolate(&self, places: impl Iterator<Item = Option<(usize, f64)>>, scores: &mut [f64]) {
        let (classes, ln) = (self.classes, &self.ln[..]);
        vectorized(
            #[inline(always)]
            move || {
                for (scores, place) in scores.chunks_exact_mut(classes).zip(places) {
                    let Some((left, part)) = place else { continue };
                    let (left, right) = ln[left * classes..(left + 2) * classes].split_at(classes);
                    for ((score, left), right) in scores.iter_mut().zip(left).zip(right) {
                        *score += between(part, *left, *right);
                    }
                }
            },
        );
    }
}

/// The last of the points that is not above x, and how far x is from it to the next; `None` outside of them.
#[inline]
fn place(points: &[f64], x: f64) -> Option<(usize, f64)> {
    let left = points.partition_point(|&point| point <= x).checked_sub(1)?;
    let (a, b) = (points[left], *points.get(left + 1)?);
    Some((left, (x - a) / (b - a)))
}

/// What lies on a straight line so far from its left end to its right.
#[inline(always)]
fn between(part: f64, left: f64, right: f64) -> f64 {
    left + part * (right - left)
}

/// The best factor, and the log-likelihood of all rows, each without itself, in [units](unit()) of the weight of the column.
pub(crate) fn best_factor(column: &NumberColumn) -> (f64, f64) {
    *column.best_factor.get_or_init(|| find_best_factor(column))
}

fn find_best_factor(column: &NumberColumn) -> (f64, f64) {
    let background = Background::of(column);
    let bandwidths = Bandwidths::of(column);
    let unit = unit(column.pooled.weight);
    let likelihood = |factor: f64| -> f64 {
        let classes = column.classes.iter().enumerate().filter(|(_, numbers)| numbers.weight > 0.0);
        classes
            .map(|(class, numbers)| {
                leave_one_out(numbers, bandwidths.of_class(class, factor), &background, unit)
            })
            .sum()
    };
    let likelihoods = FACTORS.map(|factor| (factor, likelihood(factor)));
    likelihoods.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1.0, f64::NEG_INFINITY))
}

/// What classes say of their own numbers. Bandwidths, the imagined rows and the positions of the kernels stay as all
/// rows say; the kernel of the row is taken away.
fn without_one<'a>(rest: WithoutOne<'a>, factor: f64) -> Own<'a> {
    let background = Background::of(&rest.column);
    let bandwidths = Bandwidths::of(&rest.column);
    let classes: Vec<(f64, Bumps)> = (rest.column.classes.iter().enumerate())
        .map(|(class, numbers)| {
            let bandwidth = bandwidths.of_class(class, factor);
            (bandwidth, Bumps::new(bumps(&numbers.cells, bandwidth)))
        })
        .collect();
    Box::new(move |class, x, weight| {
        let ((bandwidth, bumps), numbers) = (&classes[class], &rest.column.classes[class]);
        let width = match rest.column.exact {
            true => 0.0,
            false => numbers.cell_of(x).map_or(0.0, |cell| numbers.cells[cell].width),
        };
        let own = Bump { value: x, weight, bandwidth: bandwidth.max(WIDTHS * width) };
        ln_of_others(&own, bumps.sum_at(x, unit(numbers.weight)), numbers.weight, &background)
    })
}

fn leave_one_out(numbers: &Numbers, bandwidth: f64, background: &Background, of_column: f64) -> f64 {
    let bumps = bumps(&numbers.cells, bandwidth);
    let values: Vec<f64> = bumps.iter().map(|bump| bump.value).collect();
    let each = bumps.iter().zip(sums_at(&values, &bumps, unit(numbers.weight))).map(|(bump, sum)| {
        let row = Bump { weight: bump.weight.min(1.0), ..*bump };
        bump.weight * of_column * ln_of_others(&row, sum, numbers.weight, background)
    });
    each.sum()
}

/// The logarithm of the density of a class of this weight where one of its rows is, without that row. `sum` is that of
/// all kernels there in [units](unit()) of the weight: a row does not speak for itself.
fn ln_of_others(row: &Bump, sum: f64, weight: f64, background: &Background) -> f64 {
    let rest = weight - row.weight;
    let share = Share::of_weight(rest.max(0.0));
    let unit = unit(weight);
    let others = (sum - row.weight * unit * row.peak()).max(0.0);
    let density = if rest > 0.0 { others / (rest * unit) } else { 0.0 };
    background.ln_with(row.value, &share, density)
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
        if bandwidth > 0.0 { bandwidth.clamp(*BANDWIDTHS.start(), *BANDWIDTHS.end()) } else { 1.0 }
    }
}

/// A kernel and what it weighs.
#[derive(Debug, Clone, Copy)]
struct Bump {
    value: f64,
    weight: f64,
    bandwidth: f64,
}

impl Bump {
    fn of(cell: &Weighed, bandwidth: f64) -> Self {
        let bandwidth = bandwidth.max(WIDTHS * cell.width);
        Bump { value: cell.value, weight: cell.weight, bandwidth }
    }

    /// The height of a kernel of weight one.
    fn peak(&self) -> f64 {
        1.0 / (libm::sqrt(2.0 * PI) * self.bandwidth)
    }

    /// Its height at x by its weight in this unit, if it reaches that far, but for the factor 1 / √2π.
    fn unscaled_height_at(&self, x: f64, unit: f64) -> f64 {
        let z = (x - self.value) / self.bandwidth;
        if z.abs() <= REACH { self.weight * unit / self.bandwidth * numerics::exp(-0.5 * z * z) } else { 0.0 }
    }

    /// How far it reaches.
    fn reach(&self) -> f64 {
        REACH * self.bandwidth
    }
}

/// The kernels of some numbers. Those less than a step of the curve apart have one together, at their mean.
fn bumps(cells: &[Weighed], bandwidth: f64) -> Vec<Bump> {
    let mut bumps: Vec<Bump> = Vec::new();
    let mut start = f64::NEG_INFINITY;
    for cell in cells {
        match bumps.last_mut() {
            Some(bump) if cell.value - start < bandwidth / POINTS => {
                bump.weight += cell.weight;
                bump.value += (cell.value - bump.value) * (cell.weight / bump.weight);
            }
            _ => {
                bumps.push(Bump::of(cell, bandwidth));
                start = cell.value;
            }
        }
    }
    bumps
}

/// The kernels of a class, in order, to be asked for their sum anywhere.
struct Bumps {
    all: Vec<Bump>,
    /// How far the widest of them reaches.
    reach: f64,
}

impl Bumps {
    fn new(all: Vec<Bump>) -> Self {
        Bumps { reach: all.iter().map(Bump::reach).fold(0.0, f64::max), all }
    }

    fn sum_at(&self, x: f64, unit: f64) -> f64 {
        let first = self.all.partition_point(|bump| bump.value < x - self.reach);
        let near = self.all[first..].iter().take_while(|bump| bump.value <= x + self.reach);
        near.map(|bump| bump.unscaled_height_at(x, unit)).sum::<f64>() / libm::sqrt(2.0 * PI)
    }
}

/// The sum of all kernels, each as high as its weight in this unit says, at some points, which are in order.
fn sums_at(points: &[f64], bumps: &[Bump], unit: f64) -> Vec<f64> {
    let mut sums = vec![0.0; points.len()];
    for bump in bumps {
        let first = points.partition_point(|&point| point < bump.value - bump.reach());
        let within = points[first..].partition_point(|&point| point <= bump.value + bump.reach());
        let (points, sums) = (&points[first..first + within], &mut sums[first..]);
        let (value, height, scale) = (bump.value, bump.weight * unit * bump.peak(), 1.0 / bump.bandwidth);
        vectorized(
            #[inline(always)]
            move || {
                for (sum, point) in sums.iter_mut().zip(points) {
                    let z = (point - value) * scale;
                    *sum += height * numerics::exp(-0.5 * z * z);
                }
            },
        );
    }
    sums
}

/// The logarithm of a density at points that are joined by straight lines.
#[derive(Debug, Clone, Default)]
struct Curve {
    points: Vec<f64>,
    ln: Vec<f64>,
}

impl Curve {
    fn new(bumps: &[Bump], unit: f64, share: &Share, background: &Background) -> Self {
        let points = points_for(bumps, background);
        let mut heights = sums_at(&points, bumps, unit);
        let own = share.own / area(&points, &heights, chord);
        for (height, &x) in heights.iter_mut().zip(&points) {
            *height = own * *height + share.imagined * background.density(x);
        }
        let regained = area(&points, &heights, chord) / area(&points, &heights, sagging);
        // No lines can follow a background that is narrower than anything else by hundreds of orders of magnitude.
        let regained = if regained.is_finite() { regained } else { 1.0 };
        let ln = |(&height, &x): (&f64, &f64)| match height * regained {
            density if density > 0.0 => libm::log(density),
            _ => background.ln_with(x, share, 0.0),
        };
        Curve { ln: heights.iter().zip(&points).map(ln).collect(), points }
    }

    fn ln(&self, x: f64) -> Option<f64> {
        let (left, part) = place(&self.points, x)?;
        Some(between(part, self.ln[left], self.ln[left + 1]))
    }
}

/// Points that are as close together as the kernels are narrow, and between them as the background asks for.
fn points_for(bumps: &[Bump], background: &Background) -> Vec<f64> {
    let mut points = Vec::new();
    let Some(first) = bumps.first() else { return points };
    points.push(first.value - first.reach());
    extend_to(&mut points, first.value, first.bandwidth / POINTS);
    for pair in bumps.windows(2) {
        let (bump, next) = (&pair[0], &pair[1]);
        let (end, start) = (bump.value + bump.reach(), next.value - next.reach());
        if end < start {
            extend_to(&mut points, end, bump.bandwidth / POINTS);
            extend_to(&mut points, start, background.scale() / POINTS);
            extend_to(&mut points, next.value, next.bandwidth / POINTS);
        } else {
            extend_to(&mut points, next.value, bump.bandwidth.min(next.bandwidth) / POINTS);
        }
    }
    if let Some(last) = bumps.last() {
        extend_to(&mut points, last.value + last.reach(), last.bandwidth / POINTS);
    }
    points.dedup(); // far from zero a step may be less than an ulp
    points
}

/// Goes on to `end` in steps of this size or a little less.
fn extend_to(points: &mut Vec<f64>, end: f64, step: f64) {
    let start = points.last().copied().unwrap_or(end);
    let steps = ((end - start) / step).ceil().clamp(1.0, MOST_POINTS_BETWEEN);
    points.extend((1..steps as usize).map(|i| along(start, end, i as f64 / steps)));
    points.push(end);
}

/// The area under points that are joined by lines of this mean.
fn area(points: &[f64], heights: &[f64], mean: impl Fn(f64, f64) -> f64) -> f64 {
    let pieces = points.windows(2).zip(heights.windows(2));
    pieces.map(|(x, height)| (x[1] - x[0]) * mean(height[0], height[1])).sum()
}

/// The mean of a straight line between two heights.
fn chord(a: f64, b: f64) -> f64 {
    0.5 * (a + b)
}

/// The mean of an exponential curve between two heights: a straight line between their logarithms, which hangs a little
/// lower. What is lost by it is regained by raising the whole.
fn sagging(a: f64, b: f64) -> f64 {
    let ratio = b / a;
    if a == b || (ratio - 1.0).abs() < 1e-6 { chord(a, b) } else { (b - a) / libm::log(ratio) }
}

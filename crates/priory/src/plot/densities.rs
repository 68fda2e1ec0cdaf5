//! A column of numbers: the data of each class as a histogram, and the density that was fitted to it.

use crate::report::FeatureSummary;
use crate::settings::NumberFamily;
use crate::{Error, Model, Result};

/// The different numbers of a class, in order, and their weights.
pub(super) type Counted = Vec<(f64, f64)>;

/// The densities of all classes over what is shown of the axis.
#[derive(Debug, Clone)]
pub struct Densities {
    /// Where the picture begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The data.
    pub bins: Bins,
    /// p(x | class) at points that lie evenly between the ends, for each class.
    pub curves: Vec<Vec<f64>>,
    /// What is as high as the picture.
    pub top: f64,
    /// The share of the rows that lie outside of the picture.
    beyond: f64,
    /// A number that outweighs all others so much that it is cut off, and its share of each class.
    peak: Option<(f64, Vec<f64>)>,
}

/// The density of the data between evenly spaced cuts, for each class; none if only sums are known.
#[derive(Debug, Clone, Default)]
pub struct Bins {
    /// The first cut.
    pub start: f64,
    /// From one cut to the next.
    pub width: f64,
    /// Of each class, between one cut and the next.
    pub heights: Vec<Vec<f64>>,
}

/// Each point of a curve is the mean of this many, so that a narrow peak is not missed.
const SAMPLES: usize = 4;

impl Densities {
    pub(super) fn new(
        model: &Model,
        feature: &FeatureSummary,
        column: &str,
        counted: Option<&[Counted]>,
        points: usize,
    ) -> Result<Self> {
        // Families of whole numbers have a probability for each, which stands for everything that rounds to it.
        let whole = feature.family.of_numbers().is_some_and(NumberFamily::is_of_whole_numbers);
        let (mut low, mut high) = range(feature, column, counted)?;
        if whole {
            (low, high) = (low.floor().max(0.0) - 0.5, high.ceil() + 0.5);
        }
        let bins = counted.map_or_else(Bins::default, |counted| Bins::new(counted, low, high));
        let step = (high - low) / (points * SAMPLES) as f64;
        let place = |i: usize| low + (i as f64 + 0.5) * step;
        let asked = (0..points * SAMPLES).map(|i| vec![if whole { place(i).round() } else { place(i) }]);
        let ln = model.log_densities(&[column], &asked.collect::<Vec<_>>())?;
        let classes = model.classes().len();
        let mean = |class: usize, point: usize| {
            let samples = (0..SAMPLES).map(|i| ln[(point * SAMPLES + i) * classes + class].exp());
            samples.sum::<f64>() / SAMPLES as f64
        };
        let curve = |class| (0..points).map(|point| mean(class, point)).collect();
        let curves: Vec<Vec<f64>> = (0..classes).map(curve).collect();
        let highest = |lists: &[Vec<f64>]| lists.iter().flatten().copied().fold(0.0, f64::max);
        let (data, fitted) = (highest(&bins.heights), highest(&curves));
        // A peak that is much narrower than a bar would make everything else look flat.
        let top = if data > 0.0 { fitted.clamp(data, 1.5 * data) } else { fitted };
        let (top, peak) = match counted.and_then(|counted| bins.peak(counted)) {
            Some((others, peak)) => (1.25 * others, Some(peak)),
            None => (top, None),
        };
        if !(top > 0.0 && top.is_finite()) {
            return Err(Error::NoPicture(format!("`{column}` has no density that could be drawn")));
        }
        let beyond = counted.map_or(0.0, |counted| share_beyond(counted, low, high));
        Ok(Densities { low, high, bins, curves, top, beyond, peak })
    }

    /// What the picture does not show.
    pub fn notes(&self, classes: &[String]) -> String {
        let peak = self.peak.as_ref().map(|(x, shares)| {
            let shares =
                shares.iter().zip(classes).map(|(share, class)| format!("{:.1} % of {class}", 100.0 * share));
            format!("cut off: {x} is {}", shares.collect::<Vec<_>>().join(", "))
        });
        let beyond =
            (self.beyond > 0.0).then(|| format!("{:.1} % of the rows lie beyond", 100.0 * self.beyond));
        peak.into_iter().chain(beyond).collect::<Vec<_>>().join("; ")
    }
}

impl Bins {
    /// As wide as Freedman and Diaconis say, a multiple of what the numbers seem to be rounded to, and cut between them.
    fn new(counted: &[Counted], low: f64, high: f64) -> Self {
        let pooled = pooled(counted);
        let span = high - low;
        // Of the classes by themselves: together they may have several humps and look wider than they are.
        let wanted = |cells: &Counted| {
            let quartiles = quantile(cells, 0.75) - quantile(cells, 0.25);
            (2.0 * quartiles / weight(cells).max(1.0).cbrt(), weight(cells))
        };
        let wanted = counted.iter().map(wanted).filter(|&(width, _)| width > 0.0);
        let (sum, rows) =
            wanted.fold((0.0, 0.0), |(sum, rows), (width, weight)| (sum + width * weight, rows + weight));
        let wanted = if rows > 0.0 { sum / rows } else { span / 20.0 };
        let wanted = wanted.clamp(span / 60.0, span / 6.0);
        let gaps = pooled.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let rounding = gaps.min_by(f64::total_cmp).filter(|&gap| gap > 1e-6 * span).unwrap_or(0.0);
        let width = if rounding > 0.0 { (wanted / rounding).ceil() * rounding } else { wanted };
        let start = if rounding > 0.0 { (low / rounding).floor() * rounding - rounding / 2.0 } else { low };
        let count = ((high - start) / width).ceil().clamp(1.0, 1e3) as usize;
        let heights = counted.iter().map(|cells| {
            let mut heights = vec![0.0; count];
            let unit = weight(cells) * width;
            for &(x, weight) in cells {
                if let Some(height) = heights.get_mut(((x - start) / width).floor() as usize)
                    && x >= start
                {
                    *height += weight / unit;
                }
            }
            heights
        });
        Bins { start, width, heights: heights.collect() }
    }

    /// The heaviest number and its share of each class, if its bar is many times as high as the highest of the others,
    /// and how high that is.
    fn peak(&self, counted: &[Counted]) -> Option<(f64, (f64, Vec<f64>))> {
        let pooled = pooled(counted);
        let &(x, heaviest) = pooled.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let bin = ((x - self.start) / self.width).floor() as usize;
        let of_class = |heights: &Vec<f64>| heights.get(bin).copied().unwrap_or(0.0);
        let own = self.heights.iter().map(of_class).fold(0.0, f64::max);
        let others = self.heights.iter().flat_map(|heights| heights.iter().enumerate());
        let others = others.filter(|&(i, _)| i != bin).map(|(_, &height)| height).fold(0.0, f64::max);
        let share = |cells: &Counted| {
            let own: f64 = cells.iter().filter(|cell| cell.0 == x).map(|cell| cell.1).sum();
            if own > 0.0 { own / weight(cells) } else { 0.0 }
        };
        let alone = others > 0.0 && own > 6.0 * others && heaviest > 0.3 * weight(&pooled);
        alone.then(|| (others, (x, counted.iter().map(share).collect())))
    }

    /// The density of the data of a class around a place.
    pub fn height(&self, class: usize, x: f64) -> f64 {
        let bin = ((x - self.start) / self.width).floor();
        let heights = self.heights.get(class).filter(|_| bin >= 0.0);
        heights.and_then(|heights| heights.get(bin as usize)).copied().unwrap_or(0.0)
    }
}

/// What to show of a column: all of it, but for a tail that would squeeze the rest together.
pub(super) fn range(
    feature: &FeatureSummary,
    column: &str,
    counted: Option<&[Counted]>,
) -> Result<(f64, f64)> {
    let (low, high) = match counted {
        Some(counted) => range_of_numbers(&pooled(counted)),
        None => range_of_sums(spread(feature, column)),
    };
    let room = if high > low { 0.02 * (high - low) } else { (0.05 * low.abs()).max(0.5) };
    let (low, high) = (low - room, high + room);
    if !(high - low).is_finite() || low + (high - low) / 1e3 == low {
        return Err(Error::NoPicture(format!(
            "the numbers of `{column}` are too far apart or too close together to be drawn"
        )));
    }
    Ok((low, high))
}

fn range_of_numbers(pooled: &[(f64, f64)]) -> (f64, f64) {
    let (Some(first), Some(last)) = (pooled.first(), pooled.last()) else { return (0.0, 0.0) };
    let (low, high) = (quantile(pooled, 0.005), quantile(pooled, 0.995));
    let tail = 0.3 * (high - low);
    let cut =
        |end: f64, quantile: f64| if tail > 0.0 && (end - quantile).abs() > tail { quantile } else { end };
    (cut(first.0, low), cut(last.0, high))
}

/// Three standard deviations around every mean.
fn range_of_sums((means, deviations): (Vec<f64>, Vec<f64>)) -> (f64, f64) {
    let known = || means.iter().zip(&deviations).filter(|(mean, _)| mean.is_finite());
    let low = known().map(|(mean, deviation)| mean - 3.0 * deviation).fold(f64::INFINITY, f64::min);
    let high = known().map(|(mean, deviation)| mean + 3.0 * deviation).fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// Mean and standard deviation of a column in each class.
fn spread(feature: &FeatureSummary, column: &str) -> (Vec<f64>, Vec<f64>) {
    if let Some(group) = &feature.group
        && let Some(at) = group.columns.iter().position(|name| name == column)
    {
        // One covariance stands for all classes.
        let covariances = group.covariance.iter().cycle();
        let means = group.mean.iter().map(|means| means[at]);
        let deviations = covariances.map(|covariance| covariance[at][at].sqrt()).take(group.mean.len());
        return (means.collect(), deviations.collect());
    }
    let of = |name: &str| feature.parameters.iter().find(|(is, _)| *is == name);
    let of = |name: &str| of(name).map_or_else(Vec::new, |(_, values)| values.to_vec());
    (of("mean"), of("standard deviation"))
}

fn share_beyond(counted: &[Counted], low: f64, high: f64) -> f64 {
    let all: f64 = counted.iter().map(|cells| weight(cells)).sum();
    let outside = counted.iter().flatten().filter(|(x, _)| *x < low || *x > high);
    let outside: f64 = outside.map(|(_, weight)| weight).sum();
    if all > 0.0 { outside / all } else { 0.0 }
}

/// The numbers of all classes, in order.
fn pooled(counted: &[Counted]) -> Counted {
    let mut all: Counted = counted.concat();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    all
}

fn weight(cells: &[(f64, f64)]) -> f64 {
    cells.iter().map(|(_, weight)| weight).sum()
}

fn quantile(cells: &[(f64, f64)], share: f64) -> f64 {
    let wanted = share * weight(cells);
    let mut sum = 0.0;
    let reached = cells.iter().find(|(_, weight)| {
        sum += weight;
        sum >= wanted
    });
    reached.or(cells.last()).map_or(0.0, |cell| cell.0)
}

//! Histograms whose bins do not depend on the classes.
//!
//! | family | cuts | source |
//! |---|---|---|
//! | equal width | k bins between the least and the greatest number | |
//! | equal frequency | k bins of the same weight | |
//! | proportional | √n bins of weight √n each | Yang and Webb 2001 |
//!
//! Equal numbers are never cut apart. P(bin | class) is smoothed as the values of a category are.

use std::sync::Arc;

use super::density::Fitted;
use super::family::{Fit, How};
use super::numbers::{NumberColumn, along};
use super::steps::{self, Bins, StepsLikelihood, between};
use super::without_one::{Own, WithoutOne};
use crate::estimate::{Evidence, Smoother};

/// This many bins of equal width.
pub(super) struct EqualWidth {
    pub(super) bins: u16,
}

impl Fit for EqualWidth {
    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        smoothed_steps(column, equal_width(column, self.bins), how)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_bins(&rest, equal_width(&rest.column, self.bins), how))
    }
}

/// This many bins of equal weight.
pub(super) struct EqualFrequency {
    pub(super) bins: u16,
}

impl Fit for EqualFrequency {
    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        smoothed_steps(column, equal_frequency(column, self.bins.into()), how)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_bins(&rest, equal_frequency(&rest.column, self.bins.into()), how))
    }
}

/// As many bins as there are rows in each.
pub(super) struct Proportional;

impl Fit for Proportional {
    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        smoothed_steps(column, proportional(column), how)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_bins(&rest, proportional(&rest.column), how))
    }
}

/// The densities of bins between these cuts, smoothed as the settings say.
pub(super) fn smoothed_steps(column: &NumberColumn, cuts: Vec<f64>, how: &How<'_>) -> Fitted {
    let bins = Bins::new(column, cuts);
    let ln = Smoothed::new(&bins, how.smoother).all(&bins);
    Arc::new(StepsLikelihood::new(bins, &ln))
}

/// At most this many bins of equal width.
pub(crate) fn equal_width(column: &NumberColumn, bins: u16) -> Vec<f64> {
    let (low, high) = (column.pooled.least(), column.pooled.greatest());
    let width = (high - low) / f64::from(bins);
    let cut = |i: u16| match width.is_finite() {
        true => low + f64::from(i) * width,
        false => along(low, high, f64::from(i) / f64::from(bins)),
    };
    let mut cuts: Vec<f64> = (1..bins).map(cut).collect();
    cuts.retain(|&cut| cut > low && cut <= high);
    cuts.dedup();
    cuts
}

/// At most this many bins, of about equal weight. A number that weighs as much as a bin is alone in one.
pub(crate) fn equal_frequency(column: &NumberColumn, bins: usize) -> Vec<f64> {
    let cells = &column.pooled.cells;
    let total: f64 = cells.iter().map(|cell| cell.weight).sum();
    let size = total / bins.max(1) as f64;
    let mut cuts = Vec::new();
    let (mut sum, mut in_bin) = (0.0, 0.0);
    for pair in cells.windows(2) {
        sum += pair[0].weight;
        in_bin += pair[0].weight;
        // Cut where the next quantile is passed, and on either side of a number that fills a bin by itself.
        let passed = (sum / size).floor() > ((sum - in_bin) / size).floor();
        if passed || pair[1].weight >= size || pair[0].weight >= size {
            cuts.push(between(pair[0].value, pair[1].value));
            in_bin = 0.0;
        }
    }
    cuts
}

/// √n bins.
pub(crate) fn proportional(column: &NumberColumn) -> Vec<f64> {
    let bins = libm::sqrt(column.pooled.weight).clamp(1.0, 4096.0);
    equal_frequency(column, bins as usize)
}

/// ln P(bin | class), smoothed.
pub(crate) struct Smoothed {
    smoother: Smoother<f64>,
    totals: Vec<f64>,
    pooled_total: f64,
}

impl Smoothed {
    pub(crate) fn new(bins: &Bins, smoother: &Smoother<f64>) -> Self {
        Smoothed {
            smoother: smoother.clone(),
            totals: bins.counts.iter().map(|counts| counts.iter().sum()).collect(),
            pooled_total: bins.pooled.iter().sum(),
        }
    }

    /// If the class had `gone` less in that bin. What all classes have in it is left as it is.
    pub(crate) fn ln(&self, bins: &Bins, class: usize, bin: usize, gone: f64) -> f64 {
        let evidence = Evidence {
            count: (bins.counts[class][bin] - gone).max(0.0),
            total: (self.totals[class] - gone).max(0.0),
            pooled_count: bins.pooled[bin],
            pooled_total: self.pooled_total,
            cells: 1.0,
            other_cells: bins.len() as f64 - 1.0,
        };
        self.smoother.likelihood(None, &evidence).ln()
    }

    /// For every bin, one list per class.
    pub(crate) fn all(&self, bins: &Bins) -> Vec<Vec<f64>> {
        let of_class = |class: usize| (0..bins.len()).map(|bin| self.ln(bins, class, bin, 0.0)).collect();
        (0..bins.counts.len()).map(of_class).collect()
    }
}

/// What classes say of their own numbers, from bins between these cuts.
pub(super) fn own_of_bins<'a>(rest: &WithoutOne<'a>, cuts: Vec<f64>, how: &How<'_>) -> Own<'a> {
    let bins = Bins::new(&rest.column, cuts);
    let smoothed = Smoothed::new(&bins, how.smoother);
    let counted = bins.clone();
    steps::without_one(bins, move |class, bin, gone| smoothed.ln(&counted, class, bin, gone))
}

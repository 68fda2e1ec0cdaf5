//! Histograms whose bins do not depend on the classes.
//!
//! | family | cuts | source |
//! |---|---|---|
//! | equal width | k bins between the least and the greatest number | |
//! | equal frequency | k bins of the same weight | |
//! | proportional | √n bins of weight √n each | Yang and Webb 2001 |
//!
//! Equal numbers are never cut apart. P(bin | class) is smoothed as the values of a category are.

use super::numbers::NumberColumn;
use super::steps::{Bins, between};
use crate::estimate::{Evidence, Smoother};

/// At most so many bins of equal width.
pub(crate) fn equal_width(column: &NumberColumn, bins: u16) -> Vec<f64> {
    let (low, high) = (column.pooled.least(), column.pooled.greatest());
    let width = (high - low) / f64::from(bins);
    let mut cuts: Vec<f64> = (1..bins).map(|i| low + f64::from(i) * width).collect();
    cuts.retain(|&cut| cut > low && cut <= high);
    cuts.dedup();
    cuts
}

/// At most so many bins, of about equal weight. A number that weighs as much as a bin is alone in one.
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

/// ln P(bin | class), one list per class; each as if the class had `gone` rows less, in that bin.
pub(crate) fn smoothed(bins: &Bins, smoother: &Smoother<f64>, gone: f64) -> Vec<Vec<f64>> {
    let pooled_total: f64 = bins.pooled.iter().sum();
    let of_class = |counts: &Vec<f64>| {
        let total: f64 = counts.iter().sum();
        let ln = counts.iter().zip(&bins.pooled).map(|(&count, &pooled)| {
            let evidence = Evidence {
                count: (count - gone).max(0.0),
                total: (total - gone).max(0.0),
                pooled_count: pooled,
                pooled_total,
                cells: 1.0,
                other_cells: bins.len() as f64 - 1.0,
            };
            smoother.likelihood(None, &evidence).ln()
        });
        ln.collect()
    };
    bins.counts.iter().map(of_class).collect()
}

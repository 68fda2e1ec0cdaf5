//! Gaussian naive Bayes over the columns of a matrix.
//!
//! ```text
//! mean = Σ w x / Σ w,   variance = Σ w x² / Σ w − mean² + ε,   ε = share · the largest variance of any column
//! log p(x | class) = Σ over columns −½ ln(2π variance) − ½ (x − mean)² / variance
//! ```
//!
//! The variances of whole columns, from which ε comes, are those of all rows whatever their weights.

use std::f64::consts::PI;

use super::dense::score_rows;
use super::{begin_bytes, merge_each, read_shape};
use crate::moments::{Cells, Infinite, Moments, Observations, Values};

/// Weight, Σx and Σx² of every column and class.
#[derive(Debug, Clone)]
pub struct GaussianSums {
    columns: usize,
    classes: usize,
    /// Of column c and class k at `c * classes + k`.
    moments: Vec<Moments>,
    /// Of each column in all rows, every one counted once.
    everybody: Vec<Moments>,
    /// The weight of each class.
    weights: Cells,
}

/// Means and variances, class after class.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussians {
    /// The means, columns side by side.
    pub means: Vec<f64>,
    /// The variances, with ε added to each.
    pub variances: Vec<f64>,
    /// ε.
    pub added: f64,
}

impl GaussianSums {
    /// Sums of no rows.
    pub fn new(columns: usize, classes: usize) -> Self {
        GaussianSums {
            columns,
            classes,
            moments: vec![Moments::default(); columns * classes],
            everybody: vec![Moments::default(); columns],
            weights: Cells::new(classes),
        }
    }

    /// Adds rows of finite numbers. Weights are finite; if there are none every row counts one.
    ///
    /// # Errors
    /// The first infinite value.
    ///
    /// # Panics
    /// If the lengths do not agree, or a class is out of range.
    pub fn observe(&mut self, values: &[f64], classes: &[u32], weights: &[f64]) -> Result<(), Infinite> {
        let values = Values::Rows(values, self.columns);
        let sums = Observations { values, classes, weights }.sums(self.classes)?;
        let moments = self.moments.chunks_exact_mut(self.classes.max(1));
        sums.columns().zip(moments).for_each(|(sums, moments)| sums.add_to(moments));
        for (row, &class) in classes.iter().enumerate() {
            self.weights.add_row(class as usize, weights.get(row).copied());
        }
        let unweighted = match weights {
            [] => sums,
            _ => Observations { values, classes: &vec![0; classes.len()], weights: &[] }.sums(1)?,
        };
        unweighted.columns().zip(&mut self.everybody).for_each(|(sums, all)| sums.add_all_to(all));
        Ok(())
    }

    /// Adds what another part of the rows came to.
    pub fn merge(&mut self, other: &GaussianSums) {
        merge_each(&mut self.moments, &other.moments, Moments::merge);
        merge_each(&mut self.everybody, &other.everybody, Moments::merge);
        self.weights.merge(&other.weights, |class| class);
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Whether a value was NaN.
    pub fn has_missing(&self) -> bool {
        self.everybody.iter().any(|moments| !moments.missing.is_zero())
    }

    /// The weight of each class.
    pub fn class_weights(&self) -> Vec<f64> {
        self.weights.values()
    }

    /// Means and variances; zero, but for ε, where a class has no weight.
    pub fn estimate(&self, share: f64) -> Gaussians {
        let largest = self.everybody.iter().filter_map(Moments::variance).fold(0.0, f64::max);
        let added = share * largest;
        let cells = || (0..self.classes).flat_map(|k| (0..self.columns).map(move |c| c * self.classes + k));
        let means = cells().map(|cell| self.moments[cell].mean().unwrap_or(0.0)).collect();
        let variances = cells().map(|cell| self.moments[cell].variance().unwrap_or(0.0) + added).collect();
        Gaussians { means, variances, added }
    }

    /// The canonical bytes: the same rows give the same, in whatever order and split they came.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin_bytes(self.columns, self.classes);
        self.moments.iter().chain(&self.everybody).for_each(|moments| moments.write(&mut out));
        self.weights.write(&mut out);
        out
    }

    /// Sums from their bytes; `None` if they are not what [`to_bytes`](Self::to_bytes) gives.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (columns, classes) = read_shape(bytes)?;
        let cells = columns.checked_mul(classes)?;
        // Every sum takes some bytes, so that room is made for no more than there can be.
        if cells.checked_add(columns)?.checked_mul(16)? > bytes.len() {
            return None;
        }
        let moments = (0..cells).map(|_| Moments::read(bytes)).collect::<Option<_>>()?;
        let everybody = (0..columns).map(|_| Moments::read(bytes)).collect::<Option<_>>()?;
        let weights = Cells::read(bytes, classes)?;
        bytes.is_empty().then_some(GaussianSums { columns, classes, moments, everybody, weights })
    }
}

/// The log-density with its constants folded.
#[derive(Debug, Clone)]
pub struct GaussianScores {
    columns: usize,
    means: Vec<f64>,
    /// −1 / (2 variance).
    negative_precisions: Vec<f64>,
    /// log P(class) − ½ Σ ln(2π variance).
    start: Vec<f64>,
}

impl GaussianScores {
    /// Folds means and variances, class after class, and the logarithms of the priors.
    pub fn new(means: &[f64], variances: &[f64], log_prior: &[f64]) -> Self {
        let columns = means.len() / log_prior.len().max(1);
        let start =
            log_prior.iter().zip(variances.chunks_exact(columns.max(1))).map(|(log_prior, variances)| {
                log_prior - 0.5 * variances.iter().map(|variance| libm::log(2.0 * PI * variance)).sum::<f64>()
            });
        GaussianScores {
            columns,
            means: means.to_vec(),
            negative_precisions: variances.iter().map(|variance| -0.5 / variance).collect(),
            start: start.collect(),
        }
    }

    /// The same of priors that are not logarithms.
    pub fn of_prior(means: &[f64], variances: &[f64], prior: &[f64]) -> Self {
        let log_prior: Vec<f64> = prior.iter().map(|&p| libm::log(p)).collect();
        GaussianScores::new(means, variances, &log_prior)
    }

    /// Writes log P(class, x) of every row.
    pub fn score(&self, values: &[f64], scores: &mut [f64]) {
        let parameters = [&self.means[..], &self.negative_precisions[..]];
        score_rows(values, parameters, self.columns, &self.start, scores, |x, [mean, negative_precision]| {
            let d = x - mean;
            d * d * negative_precision
        });
    }
}

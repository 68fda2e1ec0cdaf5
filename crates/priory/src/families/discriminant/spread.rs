//! A class as its sums describe it: means and covariances by maximum likelihood, each rounded once.

use super::GroupSums;
use super::triangle::Triangle;
use crate::moments::{Moments, covariance, pair};

/// The least share of the rows, or of a variance, that may be left where it is computed as a difference.
pub(super) const FEWEST_LEFT: f64 = 1e-2;

/// Means and covariances of the rows of a class; zero where no row tells.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    /// For each two columns the weight of the rows in which both are known.
    pub(super) weight: Triangle,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Triangle,
}

/// One column in all classes together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Everybody {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Spread {
    pub(super) fn read(sums: &GroupSums) -> Self {
        let size = sums.moments.len();
        let mut weight = Triangle::from_fn(size, |_, _| 0.0);
        let covariance = Triangle::from_fn(size, |i, j| {
            let (n, x) = sums.beside(i, j);
            if !n.is_positive() {
                return 0.0;
            }
            weight.set(i, j, n.value());
            if i == j {
                return covariance(&n, &x, &x, &sums.moments[i].sum_of_squares);
            }
            covariance(&n, &x, &sums.beside(j, i).1, &sums.products[pair(i, j)])
        });
        let mean = sums.moments.iter().map(|moments| moments.mean().unwrap_or(0.0)).collect();
        Spread { weight, mean, covariance }
    }

    /// What is left without a row. Nothing may be missing in the class. `None` if something is missing in the row, or if it
    /// is nearly all there is or nearly all of a variance, so that the differences would have no digits left.
    pub(super) fn without(&self, values: &[f64], weight: f64) -> Option<Spread> {
        let size = values.len();
        let n = self.weight.at(0, 0);
        let rest = n - weight;
        let gap: Vec<f64> = values.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let gone = weight / rest * n;
        let digits_left = |i: usize| {
            let squares = n * self.covariance.at(i, i);
            squares - gone * gap[i] * gap[i] >= FEWEST_LEFT * squares
        };
        // A missing value is not a number, and fails here.
        if !(rest > FEWEST_LEFT * n && (0..size).all(digits_left)) {
            return None;
        }
        Some(Spread {
            weight: Triangle::from_fn(size, |_, _| rest),
            mean: self.mean.iter().zip(&gap).map(|(mean, gap)| mean - gap * weight / rest).collect(),
            covariance: Triangle::from_fn(size, |i, j| {
                (n * self.covariance.at(i, j) - gone * gap[i] * gap[j]) / rest
            }),
        })
    }

    /// The covariance that all classes share, each weighted with its rows. Its means are zero.
    pub(super) fn within(classes: &[Spread], size: usize) -> Spread {
        let sum = |i, j, of: &dyn Fn(&Spread) -> f64| -> f64 {
            classes.iter().filter(|class| class.weight.at(i, j) > 0.0).map(of).sum()
        };
        let weight = Triangle::from_fn(size, |i, j| sum(i, j, &|class| class.weight.at(i, j)));
        let covariance = Triangle::from_fn(size, |i, j| {
            sum(i, j, &|class| class.weight.at(i, j) / weight.at(i, j) * class.covariance.at(i, j))
        });
        Spread { weight, mean: vec![0.0; size], covariance }
    }
}

impl Everybody {
    /// `None` if the variance is beyond what an f64 can hold.
    pub(super) fn read(pooled: &Moments) -> Option<Self> {
        let (mean, variance) = (pooled.mean().unwrap_or(0.0), pooled.variance().unwrap_or(0.0));
        variance.is_finite().then_some(Everybody { mean, variance })
    }
}

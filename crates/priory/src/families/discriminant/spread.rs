//! A class as its sums describe it: means and covariances by maximum likelihood, each rounded once.

use super::GroupSums;
use super::triangle::Triangle;
use crate::moments::{Moments, covariance, pair};

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

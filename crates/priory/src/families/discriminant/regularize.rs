//! How much to regularize, if nobody says: from the sums alone, under the assumption that the rows are normal.
//!
//! **γ**, the share by which covariances are cut, is that of the oracle approximating shrinkage estimator (Chen, Wiesel,
//! Eldar and Hero 2010, "Shrinkage Algorithms for MMSE Covariance Estimation", equation 23), for the shared matrix of
//! correlations R of d columns and n rows, less one for each class whose mean had to be estimated:
//!
//! ```text
//! γ = ((1 − 2/d) tr(R²) + d²) / ((n + 1 − 2/d) (tr(R²) − d)),   at most 1
//! ```
//!
//! (Ledoit and Wolf's intensity needs fourth moments, which are not among the sums. Under normality they follow from the
//! second ones, and that is what this estimator makes use of.)
//!
//! **λ**, the share of the covariance that is shared. Mixing a class's scatter n(c) Σ(c) with ν = λ/(1 − λ) n rows of the
//! shared covariance S, cut by γ, is what follows from an inverse Wishart prior with ν degrees of freedom that expects the
//! inverse of S: as if every class had shown ν more rows, spread like all classes. ν is d or more, and the one under which
//! the scatters of the classes are most probable, means and covariances integrated out:
//!
//! ```text
//! log p = Σ over classes  ln Γd((ν + m)/2) − ln Γd(ν/2) + ½ ν ln |ν S| − ½ (ν + m) ln |ν S + n(c) Σ(c)|,   m = n(c) − 1
//! ```

use std::f64::consts::LN_2;

use super::spread::Spread;
use super::triangle::Triangle;
use crate::settings::Regularization;

/// The amounts that suit the classes of which something is known; `within` is what they share and `scale` the standard
/// deviation of each column within the classes.
pub(super) fn choose(classes: &[Spread], within: &Spread, scale: &[f64]) -> Regularization {
    let correlations = |covariance: &Triangle| {
        Triangle::from_fn(scale.len(), |i, j| covariance.at(i, j) / scale[i] / scale[j])
    };
    let classes: Vec<&Spread> = classes.iter().filter(|class| rows(class) > 0.0).collect();
    let shared = correlations(&within.covariance);
    let diagonal = cut(&shared, rows(within) - classes.len() as f64);
    let shared = super::normal::positive_definite(&shared, diagonal);
    let whitener = shared.factor.inverse();
    let scatters = classes.iter().filter(|class| rows(class) > 1.0).map(|class| {
        let scaled = correlations(&class.covariance);
        let scatter = Triangle::from_fn(scale.len(), |i, j| class.weight.at(i, j) * scaled.at(i, j));
        Scatter { matrix: whitener.congruent(&scatter), freedom: rows(class) - 1.0 }
    });
    let imagined = imagined_rows(&scatters.collect::<Vec<_>>(), scale.len(), rows(within));
    let shared = if imagined.is_finite() { imagined / (rows(within) + imagined) } else { 1.0 };
    Regularization { shared, diagonal }
}

/// How many rows there are, those in which a column is missing in part.
fn rows(spread: &Spread) -> f64 {
    spread.weight.diagonal().sum::<f64>() / spread.weight.size() as f64
}

/// γ, from a matrix of correlations.
fn cut(correlations: &Triangle, rows: f64) -> f64 {
    let d = correlations.size() as f64;
    let off_diagonal: f64 =
        (0..correlations.size()).flat_map(|i| &correlations.row(i)[..i]).map(|r| 2.0 * r * r).sum();
    let error = (1.0 - 2.0 / d) * (d + off_diagonal) + d * d;
    let distance = (rows.max(1.0) + 1.0 - 2.0 / d) * off_diagonal;
    if distance > 0.0 { (error / distance).min(1.0) } else { 0.0 }
}

/// n(c) Σ(c), where the shared covariance is the unit matrix.
struct Scatter {
    matrix: Triangle,
    freedom: f64,
}

/// ν among d, 2d, 4d, …: the one under which the scatters are most probable; infinite if more are ever better.
fn imagined_rows(scatters: &[Scatter], columns: usize, rows: f64) -> f64 {
    let mut best = (f64::INFINITY, scatters.iter().map(Scatter::log_probability_of_shared).sum::<f64>());
    let mut imagined = columns as f64;
    while imagined <= MOST_IMAGINED && imagined <= 64.0 * rows {
        let log_probability = scatters.iter().map(|scatter| scatter.log_probability(imagined)).sum::<f64>();
        if log_probability > best.1 {
            best = (imagined, log_probability);
        }
        imagined *= 2.0;
    }
    best.0
}

/// This many imagined rows are as good as infinitely many.
const MOST_IMAGINED: f64 = (1_u64 << 32) as f64;

impl Scatter {
    /// log p of the scatter under ν imagined rows, but for terms in which ν does not occur. A scatter that is no scatter,
    /// since values were missing, cannot be explained by few imagined rows.
    fn log_probability(&self, imagined: f64) -> f64 {
        let d = self.matrix.size();
        let sum = Triangle::from_fn(d, |i, j| self.matrix.at(i, j) + if i == j { imagined } else { 0.0 });
        let Some(factor) = sum.cholesky(f64::MIN_POSITIVE) else { return f64::NEG_INFINITY };
        let log_determinant = 2.0 * factor.diagonal().map(libm::log).sum::<f64>();
        let gamma: f64 = (0..d)
            .map(|i| 0.5 * (imagined - i as f64))
            .map(|x| libm::lgamma(x + 0.5 * self.freedom) - libm::lgamma(x))
            .sum();
        gamma
            + 0.5 * (imagined * d as f64 * libm::log(imagined) - (imagined + self.freedom) * log_determinant)
    }

    /// What that comes to for ever more imagined rows.
    fn log_probability_of_shared(&self) -> f64 {
        let d = self.matrix.size() as f64;
        -0.5 * (self.freedom * d * LN_2 + self.matrix.diagonal().sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(diagonal: [f64; 2], off: f64, freedom: f64) -> Scatter {
        let matrix = Triangle::from_fn(2, |i, j| if i == j { diagonal[i] } else { off });
        Scatter { matrix, freedom }
    }

    /// The probability under ever more imagined rows comes to that under the shared covariance itself.
    #[test]
    fn many_imagined_rows_are_the_shared_covariance() {
        let scatter = scatter([12.0, 7.0], 3.0, 9.0);
        let limit = scatter.log_probability_of_shared();
        let mut last = f64::INFINITY;
        for imagined in [1e2, 1e3, 1e4, 1e5, 1e6] {
            let distance = (scatter.log_probability(imagined) - limit).abs();
            assert!(distance < 0.2 * last, "{imagined}: {distance}");
            last = distance;
        }
    }

    /// For one column p is a ratio of Γ functions: with ν = 2, m = 2 and a scatter of 6,
    /// Γ(2) / Γ(1) · 2 / (2 + 6)².
    #[test]
    fn one_column_by_hand() {
        let scatter = Scatter { matrix: Triangle::from_fn(1, |_, _| 6.0), freedom: 2.0 };
        assert!((scatter.log_probability(2.0) - libm::log(2.0 / 64.0)).abs() < 1e-14);
    }

    #[test]
    fn scatters_as_expected_share_and_others_do_not() {
        let rows = 200.0;
        let alike = [scatter([100.0, 99.0], 2.0, 99.0), scatter([98.0, 101.0], -2.0, 99.0)];
        assert!(imagined_rows(&alike, 2, rows) > 1e3);
        let different = [scatter([20.0, 180.0], 0.0, 99.0), scatter([180.0, 20.0], 0.0, 99.0)];
        assert!(imagined_rows(&different, 2, rows) < 16.0);
        // A matrix that no rows could have needs many imagined rows to become one.
        let impossible = [scatter([10.0, 10.0], 50.0, 9.0)];
        assert!(imagined_rows(&impossible, 2, 10.0) >= 40.0);
    }

    /// R = [[1, r], [r, 1]]: tr(R²) = 2 + 2 r², so γ = 4 / (n · 2 r²), since 1 − 2/d is zero for two columns.
    #[test]
    fn the_share_by_hand() {
        let correlations = |r: f64| Triangle::from_fn(2, |i, j| if i == j { 1.0 } else { r });
        assert!((cut(&correlations(0.5), 50.0) - 4.0 / (50.0 * 0.5)).abs() < 1e-15);
        assert_eq!(cut(&correlations(0.01), 50.0), 1.0);
        assert_eq!(cut(&correlations(0.0), 50.0), 0.0);
        assert_eq!(cut(&Triangle::from_fn(1, |_, _| 1.0), 50.0), 0.0);
    }
}

//! Normal distributions in several dimensions, and their log-densities.
//!
//! Everything is measured in standard deviations of the columns, so that no unit of measurement is too large or too small:
//! with S the standard deviations and R = L Lᵀ the correlations, Σ = S L Lᵀ S, and
//!
//! ```text
//! log p(x) = −½ d ln 2π − Σ ln S − Σ ln L(i, i) − ½ |z|²,     z = L⁻¹ S⁻¹ (x − μ)
//! ```
//!
//! L⁻¹ is computed once. Where all classes share one covariance, L⁻¹ S⁻¹ x is computed once for all of them.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use super::triangle::Triangle;
use crate::batch::Batch;
use crate::settings::Regularization;

/// The least share of a column's variance that the columns before it may leave unexplained.
const LEAST_UNEXPLAINED: f64 = 1e-9;

/// The least share of its size that a covariance may keep when a row is taken out of it by a formula.
const LEAST_KEPT: f64 = 0.1;
/// What columns leave unexplained at least where no more than a few digits are lost to rounding.
pub(super) const FIRM: f64 = 1e-4;

/// The distributions of all classes.
#[derive(Debug, Clone)]
pub(crate) struct Normals {
    /// The mean of all rows, near which nothing is lost to rounding.
    pub(super) center: Vec<f64>,
    /// The means of each class.
    pub(crate) mean: Vec<Vec<f64>>,
    /// One for each class, or a single one.
    pub(crate) covariances: Vec<Covariance>,
    /// How much they were regularized, if they were.
    pub(crate) amounts: Option<Regularization>,
}

/// A covariance that has an inverse.
#[derive(Debug, Clone)]
pub(crate) struct Covariance {
    pub(super) deviation: Vec<f64>,
    pub(super) correlation: Triangle,
    factor: Triangle,
    /// Whether it is the matrix that was given, cut as asked for, with nothing raised and no more cut than that.
    pub(super) is_plain: bool,
}

/// A matrix of correlations, and its factor.
pub(super) struct Correlation {
    matrix: Triangle,
    pub(super) factor: Triangle,
    /// Whether no more was cut than asked for.
    is_plain: bool,
}

impl Covariance {
    /// Makes a covariance of a symmetric matrix: variances are raised to their floor, covariances cut by a share, and by
    /// more if the matrix were singular otherwise.
    pub(super) fn new(matrix: &Triangle, cut: f64, floor: &dyn Fn(usize, f64) -> f64) -> Self {
        let deviation: Vec<f64> =
            matrix.diagonal().enumerate().map(|(i, variance)| libm::sqrt(floor(i, variance))).collect();
        let correlations =
            Triangle::from_fn(deviation.len(), |i, j| matrix.at(i, j) / deviation[i] / deviation[j]);
        let Correlation { matrix: correlation, factor, is_plain } = positive_definite(&correlations, cut);
        let raised = matrix.diagonal().enumerate().any(|(i, variance)| floor(i, variance) != variance);
        Covariance { deviation, correlation, factor, is_plain: is_plain && !raised }
    }

    /// Whether it is far from singular, so that little is lost to rounding.
    fn is_firm(&self) -> bool {
        self.factor.diagonal().all(|root| root * root >= FIRM)
    }

    /// The covariance of two columns.
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.deviation[i] * self.correlation.at(i, j) * self.deviation[j]
    }

    /// That of some of the columns.
    fn select(&self, kept: &[usize]) -> Self {
        let correlation = self.correlation.select(kept);
        let factor = correlation.cholesky(f64::MIN_POSITIVE).unwrap_or_else(|| identity(kept.len()));
        let deviation = kept.iter().map(|&i| self.deviation[i]).collect();
        Covariance { deviation, correlation, factor, is_plain: false }
    }
}

/// Correlations cut by a share, and then by the least of 10⁻⁹, 10⁻⁸, … 1 for which every column keeps some variance that
/// those before it do not explain. A matrix of numbers that two columns share, or of fewer rows than columns, needs the
/// first; only pairs of columns that were never seen together can contradict each other so much that a large one is needed.
pub(super) fn positive_definite(correlations: &Triangle, cut: f64) -> Correlation {
    let cut_by = |share: f64| {
        Triangle::from_fn(correlations.size(), |i, j| match i == j {
            true => 1.0,
            false => (1.0 - share) * ((1.0 - cut) * correlations.at(i, j).clamp(-1.0, 1.0)),
        })
    };
    let shares = [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
    for share in shares {
        let matrix = cut_by(share);
        if let Some(factor) = matrix.cholesky(LEAST_UNEXPLAINED) {
            return Correlation { matrix, factor, is_plain: share == 0.0 };
        }
    }
    let [matrix, factor] = [identity(correlations.size()), identity(correlations.size())];
    Correlation { matrix, factor, is_plain: false }
}

fn identity(size: usize) -> Triangle {
    Triangle::from_fn(size, |i, j| if i == j { 1.0 } else { 0.0 })
}

impl Normals {
    /// How many classes there are.
    pub(crate) fn classes(&self) -> usize {
        self.mean.len()
    }

    /// Whether all covariances are far from singular.
    pub(super) fn are_firm(&self) -> bool {
        self.covariances.iter().all(Covariance::is_firm)
    }

    /// How many free parameters there are: means, and as many covariances as there are.
    pub(crate) fn parameter_count(&self) -> usize {
        let d = self.center.len();
        self.classes() * d + self.covariances.len() * d * (d + 1) / 2
    }

    /// That of some of the columns, the others integrated out.
    fn select(&self, kept: &[usize]) -> Normals {
        let pick = |values: &Vec<f64>| kept.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        Normals {
            center: pick(&self.center),
            mean: self.mean.iter().map(pick).collect(),
            covariances: self.covariances.iter().map(|covariance| covariance.select(kept)).collect(),
            amounts: self.amounts,
        }
    }
}

/// The log-densities that scoring adds up.
#[derive(Debug, Clone)]
pub(crate) struct GroupLikelihood {
    pub(crate) columns: Vec<usize>,
    pub(crate) normals: Normals,
    complete: Ready,
}

/// Log-densities of rows in which the same columns are known, ready to be computed.
#[derive(Debug, Clone)]
struct Ready {
    classes: usize,
    /// One for each class, or a single one.
    spaces: Vec<Space>,
    /// For each class its mean, in its space.
    shift: Vec<Vec<f64>>,
}

/// Where a covariance is the unit matrix.
#[derive(Debug, Clone)]
struct Space {
    origin: Vec<f64>,
    deviation: Vec<f64>,
    whitener: Triangle,
    log_peak: f64,
    /// Whether a row can be taken out of its covariance by a formula.
    is_plain: bool,
}

/// What a row takes away from a covariance Σ: what is left is `scale` (Σ − `share` u uᵀ), where u leads from the mean of its
/// class to the row. That mean moves away, so that u becomes `stretch` times as long.
pub(super) struct Loss {
    pub(super) class: usize,
    pub(super) share: f64,
    pub(super) scale: f64,
    pub(super) stretch: f64,
}

impl Space {
    fn new(covariance: &Covariance, origin: &[f64]) -> Self {
        let d = origin.len() as f64;
        let volume = |entries: &mut dyn Iterator<Item = f64>| entries.map(libm::log).sum::<f64>();
        let deviations = volume(&mut covariance.deviation.iter().copied());
        Space {
            origin: origin.to_vec(),
            deviation: covariance.deviation.clone(),
            whitener: covariance.factor.inverse(),
            log_peak: -0.5 * d * libm::log(2.0 * PI) - deviations - volume(&mut covariance.factor.diagonal()),
            is_plain: covariance.is_plain && covariance.is_firm(),
        }
    }

    /// How far a number lies from the origin, in standard deviations. What is farther away than anything can be is taken
    /// to be as far as squares can tell, so that no density is infinite or undefined.
    fn standardized(&self, column: usize, x: f64) -> f64 {
        const FARTHEST: f64 = 1e140;
        ((x - self.origin[column]) / self.deviation[column]).clamp(-FARTHEST, FARTHEST)
    }

    fn map(&self, point: &[f64]) -> Vec<f64> {
        let standardized: Vec<f64> =
            point.iter().enumerate().map(|(column, &x)| self.standardized(column, x)).collect();
        self.whitener.times(&standardized)
    }
}

/// Rows whose densities are computed side by side: several at once in one register, and all of them in the first cache.
const BLOCK_ROWS: usize = 32;

impl Ready {
    fn new(normals: &Normals) -> Self {
        let spaces: Vec<Space> = match normals.covariances.as_slice() {
            [shared] => vec![Space::new(shared, &normals.center)],
            own => own.iter().zip(&normals.mean).map(|(own, mean)| Space::new(own, mean)).collect(),
        };
        let shift = normals.mean.iter().enumerate().map(|(class, mean)| match spaces.as_slice() {
            [shared] => shared.map(mean),
            own => own[class].map(mean),
        });
        Ready { classes: normals.classes(), shift: shift.collect(), spaces }
    }

    /// Adds the log-densities of some rows, of which these columns are known, to their scores.
    fn add(&self, columns: &[&[f64]], rows: &[usize], scores: &mut [f64]) {
        let d = columns.len();
        let mut standardized = vec![0.0; d * BLOCK_ROWS];
        let mut image = vec![0.0; d * BLOCK_ROWS];
        for rows in rows.chunks(BLOCK_ROWS) {
            for (first, space) in self.spaces.iter().enumerate() {
                for (column, line) in standardized.chunks_exact_mut(BLOCK_ROWS).enumerate() {
                    for (x, &row) in line.iter_mut().zip(rows) {
                        *x = space.standardized(column, columns[column][row]);
                    }
                }
                whiten(&space.whitener, &standardized, &mut image);
                let of_space = if self.spaces.len() == 1 { 0..self.classes } else { first..first + 1 };
                for class in of_space {
                    let squares = squared_distances(&image, &self.shift[class]);
                    for (square, &row) in squares.iter().zip(rows) {
                        scores[row * self.classes + class] += space.log_peak - 0.5 * square;
                    }
                }
            }
        }
    }
}

/// The image of several points: one line of [`BLOCK_ROWS`] points for each coordinate.
fn whiten(whitener: &Triangle, points: &[f64], image: &mut [f64]) {
    for (i, image) in image.chunks_exact_mut(BLOCK_ROWS).enumerate() {
        let image: &mut [f64; BLOCK_ROWS] = image.try_into().expect("lines are that long");
        *image = [0.0; BLOCK_ROWS];
        for (cell, points) in whitener.row(i).iter().zip(points.as_chunks::<BLOCK_ROWS>().0) {
            image.iter_mut().zip(points).for_each(|(sum, x)| *sum += cell * x);
        }
    }
}

fn squared_distances(image: &[f64], from: &[f64]) -> [f64; BLOCK_ROWS] {
    let mut squares = [0.0; BLOCK_ROWS];
    for (line, from) in image.as_chunks::<BLOCK_ROWS>().0.iter().zip(from) {
        squares.iter_mut().zip(line).for_each(|(sum, x)| *sum += (x - from) * (x - from));
    }
    squares
}

impl GroupLikelihood {
    pub(super) fn new(columns: Vec<usize>, normals: Normals) -> Self {
        let complete = Ready::new(&normals);
        GroupLikelihood { columns, normals, complete }
    }

    /// Adds log p(x | class) of every row to its scores; what is missing of it is integrated out.
    pub(crate) fn add_log_likelihood(&self, batch: &Batch, scores: &mut [f64]) {
        let columns: Vec<&[f64]> = self.columns.iter().map(|&column| batch.numbers(column)).collect();
        self.add(&columns, scores);
    }

    /// log p(x | class) of one row for each class.
    pub(crate) fn ln(&self, batch: &Batch, row: usize) -> Vec<f64> {
        let point: Vec<f64> = self.columns.iter().map(|&column| batch.numbers(column)[row]).collect();
        self.ln_of(&point)
    }

    /// The same of a point; what is not a number is missing.
    pub(super) fn ln_of(&self, point: &[f64]) -> Vec<f64> {
        let columns: Vec<&[f64]> = point.iter().map(std::slice::from_ref).collect();
        let mut scores = vec![0.0; self.normals.classes()];
        self.add(&columns, &mut scores);
        scores
    }

    /// Rows in which the same columns are missing are taken together.
    fn add(&self, columns: &[&[f64]], scores: &mut [f64]) {
        let mut complete = Vec::new();
        let mut incomplete: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for row in 0..scores.len() / self.normals.classes() {
            if columns.iter().all(|column| !column[row].is_nan()) {
                complete.push(row);
            } else {
                let known = (0..columns.len()).filter(|&i| !columns[i][row].is_nan()).collect();
                incomplete.entry(known).or_default().push(row);
            }
        }
        self.complete.add(columns, &complete, scores);
        for (known, rows) in incomplete.iter().filter(|(known, _)| !known.is_empty()) {
            let columns: Vec<&[f64]> = known.iter().map(|&i| columns[i]).collect();
            Ready::new(&self.normals.select(known)).add(&columns, rows, scores);
        }
    }

    /// Replaces log p(x | class) of the classes whose covariance loses a row by what it is without the row, in which nothing
    /// is missing. With v = Σ^(−½) u and q = 1 − share |v|² (Sherman and Morrison 1950),
    ///
    /// ```text
    /// ln |Σ'| = ln |Σ| + d ln scale + ln q,    yᵀ Σ'⁻¹ y = (yᵀ Σ⁻¹ y + share (vᵀ Σ^(−½) y)² / q) / scale
    /// ```
    ///
    /// False, and nothing is replaced, if the covariance is not just that of the rows, or hardly anything is left of it;
    /// `is_floored` says whether a variance is raised.
    pub(super) fn take_out(
        &self,
        point: &[f64],
        loss: &Loss,
        is_floored: impl Fn(usize, f64) -> bool,
        ln: &mut [f64],
    ) -> bool {
        let Ready { classes, spaces, shift } = &self.complete;
        let (space, of_space) = match spaces.as_slice() {
            [shared] => (shared, 0..*classes),
            own => (&own[loss.class], loss.class..loss.class + 1),
        };
        let mean = &self.normals.mean[loss.class];
        let is_raised = |i: usize| {
            let gap = point[i] - mean[i];
            is_floored(i, loss.scale * (space.deviation[i] * space.deviation[i] - loss.share * gap * gap))
        };
        if !space.is_plain || (0..point.len()).any(is_raised) {
            return false;
        }
        let image = space.map(point);
        let own: Vec<f64> = image.iter().zip(&shift[loss.class]).map(|(x, mean)| x - mean).collect();
        let kept = 1.0 - loss.share * own.iter().map(|v| v * v).sum::<f64>();
        // A missing value is not a number, and ends here.
        if kept.is_nan() || kept < LEAST_KEPT {
            return false;
        }
        let log_volume = point.len() as f64 * libm::log(loss.scale) + libm::log(kept);
        for class in of_space {
            let (mut square, mut product) = (0.0, 0.0);
            for ((x, mean), v) in image.iter().zip(&shift[class]).zip(&own) {
                square += (x - mean) * (x - mean);
                product += (x - mean) * v;
            }
            let stretch = if class == loss.class { loss.stretch * loss.stretch } else { 1.0 };
            let distance = stretch * (square + loss.share * product * product / kept) / loss.scale;
            ln[class] = space.log_peak - 0.5 * (log_volume + distance);
        }
        true
    }

    /// The log-odds of the second of two classes as b + Σ w x, if they share one covariance: b, and a weight for each
    /// column.
    pub(crate) fn linear_form(&self) -> Option<(f64, Vec<f64>)> {
        let ([space], [first, second]) = (self.complete.spaces.as_slice(), self.complete.shift.as_slice())
        else {
            return None;
        };
        // |z − first|² − |z − second|², halved, is linear in z, and z in x.
        let between: Vec<f64> = second.iter().zip(first).map(|(second, first)| second - first).collect();
        let middle: f64 = between
            .iter()
            .zip(second.iter().zip(first))
            .map(|(d, (second, first))| d * (second + first))
            .sum();
        let weights = space.whitener.times_from_left(&between).into_iter().zip(&space.deviation);
        let weights: Vec<f64> = weights.map(|(weight, deviation)| weight / deviation).collect();
        let origin: f64 = weights.iter().zip(&space.origin).map(|(weight, origin)| weight * origin).sum();
        Some((-0.5 * middle - origin, weights))
    }
}

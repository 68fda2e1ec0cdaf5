//! xᵀ M⁻¹ y: the inverse of the matrix of a cloud, in the form in which points are looked up.

use super::coordinates::{Point, Scatter};
use crate::moments::engine::vectorized;

/// How far a point of some class is from the means of that class and of another, as (x − μ)ᵀ M⁻¹ (x − μ) measures it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distances {
    /// With the mean of its own class.
    pub(super) from_own: f64,
    /// With one mean on the left and the other on the right.
    pub(super) between: f64,
    /// With the mean of the other class.
    pub(super) from_class: f64,
}

/// xᵀ M⁻¹ y for points x and y that are rows or means of classes.
#[derive(Debug, Clone)]
pub(super) struct Form {
    /// For any two coordinates as rows have them.
    quadratic: Vec<f64>,
    /// For a coordinate and the mean of each class.
    linear: Vec<Vec<f64>>,
    /// For the means of any two classes.
    constant: Vec<f64>,
    pub(super) log_determinant: f64,
}

impl Form {
    pub(super) fn new(scatter: &Scatter, matrix: Vec<f64>, is_shared: bool) -> Option<Self> {
        let size = scatter.coordinates.size;
        let (inverse, log_determinant) = invert(matrix, size)?;
        let classes = scatter.means.len();
        let along: Vec<Vec<f64>> = scatter
            .means
            .iter()
            .map(|mean| inverse.chunks_exact(size).map(|row| dot(row, mean)).collect())
            .collect();
        let mut constant = Vec::with_capacity(classes * classes);
        for mean in &scatter.means {
            constant.extend(along.iter().map(|along| dot(mean, along)));
        }
        let blocks = &scatter.coordinates.blocks;
        let linear = along.into_iter().map(|mut along| {
            blocks.iter().for_each(|block| block.center(&mut along));
            along
        });
        let linear = linear.collect();
        // Rows of the matrix, then columns: what a code adds is measured from the mean of its column.
        let mut quadratic = inverse;
        for row in quadratic.chunks_exact_mut(size) {
            blocks.iter().for_each(|block| block.center(row));
        }
        for block in blocks {
            let rows = &mut quadratic[block.start * size..][..block.shares.len() * size];
            let mut mean = vec![0.0; size];
            for (row, share) in rows.chunks_exact(size).zip(&block.shares) {
                mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += share * x);
            }
            for row in rows.chunks_exact_mut(size) {
                row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = 2.0 * (*x - mean));
            }
        }
        let log_determinant = if is_shared { 0.0 } else { log_determinant };
        Some(Form { quadratic, linear, constant, log_determinant })
    }

    /// For two coordinates as rows have them.
    pub(super) fn quadratic(&self, a: usize, b: usize) -> f64 {
        self.quadratic[a * self.linear[0].len() + b]
    }

    /// M⁻¹ x of a point, in coordinates as rows have them.
    pub(super) fn along(&self, point: &Point, along: &mut Vec<f64>) {
        let size = self.linear[0].len();
        along.clear();
        along.resize(size, 0.0);
        let row = |coordinate: usize| &self.quadratic[coordinate * size..][..size];
        for (a, &x) in point.numbers.iter().enumerate() {
            along.iter_mut().zip(row(a)).for_each(|(sum, m)| *sum += x * m);
        }
        for &code in &point.codes {
            along.iter_mut().zip(row(code)).for_each(|(sum, m)| *sum += m);
        }
    }

    /// M⁻¹ (x − μ) with the mean of a class, from M⁻¹ x.
    pub(super) fn less_mean(&self, along: &[f64], class: usize, from: &mut Vec<f64>) {
        from.clear();
        from.extend(along.iter().zip(&self.linear[class]).map(|(x, mean)| x - mean));
    }

    /// xᵀ M⁻¹ x of each of some points.
    pub(super) fn squares(&self, points: &[Point]) -> Vec<f64> {
        vectorized(
            #[inline(always)]
            move || points.iter().map(|point| self.square(point)).collect(),
        )
    }

    /// xᵀ M⁻¹ x of a point.
    #[inline(always)]
    pub(super) fn square(&self, point: &Point) -> f64 {
        let (size, numbers) = (self.linear[0].len(), point.numbers.len());
        let mut sum = 0.0;
        for (a, &x) in point.numbers.iter().enumerate() {
            let row = &self.quadratic[a * size..][..=a];
            sum += x * (2.0 * dot(&row[..a], &point.numbers[..a]) + row[a] * x);
        }
        for (i, &code) in point.codes.iter().enumerate() {
            let row = &self.quadratic[code * size..][..size];
            let before: f64 = point.codes[..i].iter().map(|&other| row[other]).sum();
            sum += 2.0 * (dot(&row[..numbers], &point.numbers) + before) + row[code];
        }
        sum
    }

    /// xᵀ M⁻¹ μ of each of some points and the mean of the class that belongs to it.
    pub(super) fn with_means(&self, points: &[Point], class: impl Fn(usize) -> usize) -> Vec<f64> {
        vectorized(
            #[inline(always)]
            move || points.iter().enumerate().map(|(i, point)| self.with_mean(point, class(i))).collect(),
        )
    }

    /// xᵀ M⁻¹ μ of a point and the mean of a class.
    #[inline(always)]
    pub(super) fn with_mean(&self, point: &Point, class: usize) -> f64 {
        let linear = &self.linear[class];
        let of_codes: f64 = point.codes.iter().map(|&code| linear[code]).sum();
        dot(&linear[..point.numbers.len()], &point.numbers) + of_codes
    }

    /// How far a point is from the means of two classes: from xᵀ M⁻¹ x, and xᵀ M⁻¹ μ with the mean of the class that is asked for,
    /// and of the point's own.
    #[inline(always)]
    pub(super) fn distances(
        &self,
        square: f64,
        to_class: f64,
        to_own: f64,
        class: usize,
        own: usize,
    ) -> Distances {
        Distances {
            from_own: square - 2.0 * to_own + self.constant(own, own),
            between: square - to_own - to_class + self.constant(own, class),
            from_class: square - 2.0 * to_class + self.constant(class, class),
        }
    }

    pub(super) fn constant(&self, a: usize, b: usize) -> f64 {
        self.constant[a * self.linear.len() + b]
    }
}

/// Σ x y, in an order that lets the compiler take eight products at once.
#[inline(always)]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, y) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in x.zip(y) {
        (0..8).for_each(|i| sums[i] += x[i] * y[i]);
    }
    sums.iter().sum::<f64>() + rest
}

/// The inverse of a symmetric positive matrix and the logarithm of its determinant; `None` if it is not positive.
///
/// M = L Lᵀ (Cholesky), and M⁻¹ = L⁻ᵀ L⁻¹.
pub(super) fn invert(matrix: Vec<f64>, size: usize) -> Option<(Vec<f64>, f64)> {
    vectorized(
        #[inline(always)]
        move || invert_in_any_way(matrix, size),
    )
}

#[inline(always)]
fn invert_in_any_way(mut matrix: Vec<f64>, size: usize) -> Option<(Vec<f64>, f64)> {
    let mut log_determinant = 0.0;
    for i in 0..size {
        let (above, own) = matrix.split_at_mut(i * size);
        for j in 0..i {
            let row = &above[j * size..][..=j];
            own[j] = (own[j] - dot(&own[..j], &row[..j])) / row[j];
        }
        let left = own[i] - dot(&own[..i], &own[..i]);
        if !(left > 0.0 && left.is_finite()) {
            return None;
        }
        own[i] = left.sqrt();
        log_determinant += libm::log(left);
    }
    // Row j of the transposed inverse of L: it begins at its diagonal.
    let mut inverse = vec![0.0; size * size];
    for j in 0..size {
        let column = &mut inverse[j * size..][..size];
        column[j] = 1.0 / matrix[j * size + j];
        for i in j + 1..size {
            let row = &matrix[i * size..][..=i];
            column[i] = -dot(&row[j..i], &column[j..i]) / row[i];
        }
    }
    let mut product = vec![0.0; size * size];
    for a in 0..size {
        for b in 0..=a {
            let x = dot(&inverse[a * size + a..][..size - a], &inverse[b * size + a..][..size - a]);
            product[a * size + b] = x;
            product[b * size + a] = x;
        }
    }
    Some((product, log_determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_inverted() {
        let matrix = vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0];
        let (inverse, log_determinant) = invert(matrix.clone(), 3).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert!((log_determinant - 21.29_f64.ln()).abs() < 1e-12);
        assert!(invert(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}

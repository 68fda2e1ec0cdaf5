//! The little linear algebra that covariances need: half of a square matrix, and its Cholesky factor.

/// A symmetric matrix, or one that is zero above the diagonal: its rows as far as the diagonal, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Triangle {
    size: usize,
    cells: Vec<f64>,
}

impl Triangle {
    /// The matrix with f(i, j) in row i and column j, for j up to i.
    pub(crate) fn from_fn(size: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut cells = Vec::with_capacity(size * (size + 1) / 2);
        for i in 0..size {
            cells.extend((0..=i).map(|j| f(i, j)));
        }
        Triangle { size, cells }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// A row as far as the diagonal.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.cells[i * (i + 1) / 2..][..=i]
    }

    /// What is in row i and column j of a symmetric matrix.
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.row(i.max(j))[i.min(j)]
    }

    /// Puts a number in row i and column j, for j up to i.
    pub(crate) fn set(&mut self, i: usize, j: usize, x: f64) {
        self.cells[i * (i + 1) / 2 + j] = x;
    }

    pub(crate) fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.size).map(|i| self.at(i, i))
    }

    /// Some rows and the same columns of a symmetric matrix.
    pub(crate) fn select(&self, kept: &[usize]) -> Self {
        Triangle::from_fn(kept.len(), |i, j| self.at(kept[i], kept[j]))
    }

    /// L with L Lᵀ = this symmetric matrix; `None` unless every squared entry on the diagonal of L comes out at `least`
    /// or above. For a matrix of correlations these are the shares of a column's variance that those before it do not
    /// explain.
    pub(crate) fn cholesky(&self, least: f64) -> Option<Self> {
        let mut factor = Triangle { size: self.size, cells: Vec::with_capacity(self.cells.len()) };
        for i in 0..self.size {
            let start = factor.cells.len();
            for j in 0..=i {
                let (above, own) = factor.cells.split_at(start);
                let left =
                    self.row(i)[j] - dot(own, if j < i { &above[j * (j + 1) / 2..][..j] } else { own });
                let entry = match j < i {
                    true => left / above[j * (j + 1) / 2 + j],
                    false if left >= least => libm::sqrt(left),
                    false => return None,
                };
                factor.cells.push(entry);
            }
        }
        Some(factor)
    }

    /// The inverse of a matrix that is zero above the diagonal, and not on it.
    pub(crate) fn inverse(&self) -> Self {
        let mut inverse = Triangle::from_fn(self.size, |_, _| 0.0);
        for j in 0..self.size {
            for i in j..self.size {
                let sum: f64 = (j..i).map(|k| self.row(i)[k] * inverse.row(k)[j]).sum();
                let unit = if i == j { 1.0 } else { 0.0 };
                inverse.set(i, j, (unit - sum) / self.row(i)[i]);
            }
        }
        inverse
    }

    /// This matrix, zero above the diagonal, times a vector.
    pub(crate) fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.size).map(|i| dot(self.row(i), x)).collect()
    }

    /// A vector times this matrix, zero above the diagonal.
    pub(crate) fn times_from_left(&self, x: &[f64]) -> Vec<f64> {
        let mut result = vec![0.0; self.size];
        for (i, &x) in x.iter().enumerate() {
            result.iter_mut().zip(self.row(i)).for_each(|(sum, cell)| *sum += x * cell);
        }
        result
    }

    /// M A Mᵀ, where M is this matrix, zero above the diagonal, and A a symmetric one.
    pub(crate) fn congruent(&self, a: &Triangle) -> Self {
        // The columns of M A, and then those rows of (M A) Mᵀ that are asked for.
        let half: Vec<Vec<f64>> = (0..self.size)
            .map(|j| {
                let column: Vec<f64> = (0..self.size).map(|k| a.at(k, j)).collect();
                self.times(&column)
            })
            .collect();
        Triangle::from_fn(self.size, |i, j| {
            self.row(j).iter().zip(&half).map(|(m, column)| column[i] * m).sum()
        })
    }
}

/// Σ x y over as many entries as the shorter has.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[f64]]) -> Triangle {
        Triangle::from_fn(rows.len(), |i, j| rows[i][j])
    }

    /// [[4, 2, −2], [2, 10, 5], [−2, 5, 9]] = L Lᵀ with a whole L.
    #[test]
    fn factor_and_inverse_by_hand() {
        let factor = of(&[&[4.0], &[2.0, 10.0], &[-2.0, 5.0, 9.0]]).cholesky(1e-9).expect("it has a factor");
        assert_eq!(factor, of(&[&[2.0], &[1.0, 3.0], &[-1.0, 2.0, 2.0]]));
        let inverse = factor.inverse();
        let expected = of(&[&[0.5], &[-1.0 / 6.0, 1.0 / 3.0], &[5.0 / 12.0, -1.0 / 3.0, 0.5]]);
        assert!(inverse.cells.iter().zip(&expected.cells).all(|(x, y)| (x - y).abs() < 1e-15), "{inverse:?}");
        assert_eq!(factor.times(&[1.0, 2.0, 3.0]), [2.0, 7.0, 9.0]);
        assert_eq!(factor.times_from_left(&[1.0, 2.0, 3.0]), [1.0, 12.0, 6.0]);
    }

    #[test]
    fn congruence_with_the_inverse_factor_gives_the_unit_matrix() {
        let matrix = of(&[&[4.0], &[2.0, 10.0], &[-2.0, 5.0, 9.0]]);
        let unit = matrix.cholesky(1e-9).expect("it has a factor").inverse().congruent(&matrix);
        for i in 0..3 {
            for j in 0..=i {
                assert!((unit.at(i, j) - f64::from(i == j)).abs() < 1e-14, "{unit:?}");
            }
        }
    }

    #[test]
    fn what_has_no_factor_says_so() {
        assert_eq!(of(&[&[1.0], &[1.0, 1.0]]).cholesky(1e-9), None);
        assert_eq!(of(&[&[1.0], &[2.0, 1.0]]).cholesky(1e-9), None);
        assert!(of(&[&[1.0], &[0.9, 1.0]]).cholesky(0.18).is_some());
    }
}

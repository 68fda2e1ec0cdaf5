//! Means and covariances of the columns of a matrix, for discriminant analysis.

use super::{begin_bytes, merge_each, read_shape};
use crate::exact::ExactSum;
use crate::moments::{Infinite, Moments, Observations, Values, covariance, pair, pair_count};

/// Weight, Σx, Σx² and Σxy of every class, exactly.
#[derive(Debug, Clone)]
pub struct CovarianceSums {
    columns: usize,
    classes: usize,
    /// Of column c and class k at `c * classes + k`.
    moments: Vec<Moments>,
    /// Of class k and columns i and j at `k * pairs + pair(i, j)`.
    products: Vec<ExactSum>,
}

impl CovarianceSums {
    /// Sums of no rows.
    pub fn new(columns: usize, classes: usize) -> Self {
        CovarianceSums {
            columns,
            classes,
            moments: vec![Moments::default(); columns * classes],
            products: vec![ExactSum::default(); pair_count(columns) * classes],
        }
    }

    /// Adds rows of finite numbers.
    ///
    /// # Errors
    /// The first infinite value.
    ///
    /// # Panics
    /// If the lengths do not agree, or a class is out of range.
    pub fn observe(&mut self, values: &[f64], classes: &[u32]) -> Result<(), Infinite> {
        let table = Observations { values: Values::Rows(values, self.columns), classes, weights: &[] };
        let moments = table.moments(self.classes)?;
        let products = table.products(self.classes)?;
        merge_each(&mut self.moments, &moments, Moments::merge);
        merge_each(&mut self.products, &products, ExactSum::merge);
        Ok(())
    }

    /// Adds what another part of the rows came to.
    pub fn merge(&mut self, other: &CovarianceSums) {
        merge_each(&mut self.moments, &other.moments, Moments::merge);
        merge_each(&mut self.products, &other.products, ExactSum::merge);
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
        self.moments.iter().any(|moments| !moments.missing.is_zero())
    }

    /// The canonical bytes: the same rows give the same, in whatever order and split they came.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin_bytes(self.columns, self.classes);
        self.moments.iter().for_each(|moments| moments.write(&mut out));
        self.products.iter().for_each(|product| product.write(&mut out));
        out
    }

    /// Sums from their bytes; `None` if they are not what [`to_bytes`](Self::to_bytes) gives.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (columns, classes) = read_shape(bytes)?;
        // Every sum takes some bytes, so that room is made for no more than there can be.
        if columns > bytes.len() || classes > bytes.len() || columns.checked_mul(classes)? > bytes.len() {
            return None;
        }
        let moments = (0..columns * classes).map(|_| Moments::read(bytes)).collect::<Option<_>>()?;
        let pairs = pair_count(columns).checked_mul(classes).filter(|&pairs| pairs <= bytes.len())?;
        let products = (0..pairs).map(|_| ExactSum::read(bytes)).collect::<Option<_>>()?;
        bytes.is_empty().then_some(CovarianceSums { columns, classes, moments, products })
    }

    /// The number of rows of each class.
    pub fn class_weights(&self) -> Vec<f64> {
        (0..self.classes)
            .map(|class| self.moments.get(class).map_or(0.0, |moments| moments.weight.value()))
            .collect()
    }

    /// The means, class after class.
    pub fn means(&self) -> Vec<f64> {
        let mean =
            |class: usize, column: usize| self.moments[column * self.classes + class].mean().unwrap_or(0.0);
        (0..self.classes).flat_map(|class| (0..self.columns).map(move |column| mean(class, column))).collect()
    }

    /// Each class's covariances, by maximum likelihood, as whole matrices one after the other.
    pub fn covariances(&self) -> Vec<f64> {
        let size = self.columns;
        let mut matrices = vec![0.0; size * size * self.classes];
        for (class, matrix) in matrices.chunks_exact_mut((size * size).max(1)).enumerate() {
            let of = |column: usize| &self.moments[column * self.classes + class];
            for i in 0..size {
                let Some(variance) = of(i).variance() else { continue };
                matrix[i * size + i] = variance;
                for j in 0..i {
                    let product = &self.products[class * pair_count(size) + pair(i, j)];
                    let value = covariance(&of(i).weight, &of(i).sum, &of(j).sum, product);
                    (matrix[i * size + j], matrix[j * size + i]) = (value, value);
                }
            }
        }
        matrices
    }
}

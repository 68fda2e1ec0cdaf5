//! Exact moments: what a numeric column leaves behind for each class.
//!
//! ```text
//! n = Σ w,   s = Σ w x,   q = Σ w x²          over the rows of one class that have a value
//! mean = s / n,   variance = (n q − s²) / n²  (of the population, dividing by n)
//! ```
//!
//! The sums are exact for every finite value and every finite weight, whole or not. So merging is associative and
//! commutative and subtracting undoes adding, to the last bit; mean and variance are the f64 nearest to their true
//! values, however far from zero the data lie. Rounding happens only when a result is read, and only once.
//!
//! [`Observations::moments`] sums whole tables at about the speed of memory, and
//! [`Observations::products`] gives the Σ w x y of their pairs of columns, from which covariances follow in the same way.

mod cells;
pub(crate) mod engine;
mod kernel;
mod pieces;
mod products;
pub(crate) mod round;
#[cfg(test)]
mod tests;

use num_bigint::{BigInt, Sign};

use crate::exact::ExactSum;

pub(crate) use cells::{Cells, LARGEST_WHOLE};
pub(crate) use kernel::{ColumnSums, TableSums};
pub use kernel::{Infinite, NO_CLASS, Observations, Values};
pub(crate) use products::{pair, pair_count};

/// Weight, Σx and Σx² of one column in one class, exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moments {
    /// The weight of the rows that have a value.
    pub weight: ExactSum,
    /// The weight of the rows that have none.
    pub missing: ExactSum,
    /// Σ w x.
    pub sum: ExactSum,
    /// Σ w x².
    pub sum_of_squares: ExactSum,
}

impl Moments {
    /// Adds one value with a finite weight. NaN is missing.
    ///
    /// # Panics
    ///
    /// In debug builds, if `x` is infinite: such a value has no place in a sum.
    pub fn add(&mut self, x: f64, weight: f64) {
        if x.is_nan() {
            self.missing.add(weight);
        } else if weight == 1.0 {
            self.weight.add(1.0);
            self.sum.add(x);
            self.sum_of_squares.add_square(x);
        } else {
            self.weight.add(weight);
            self.sum.add_product(weight, x);
            self.sum_of_squares.add_weighted_product(weight, x, x);
        }
    }

    /// Adds everything that went into `other`.
    pub fn merge(&mut self, other: &Moments) {
        self.pairs(other).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// Takes away everything that went into `other`.
    pub fn subtract(&mut self, other: &Moments) {
        self.pairs(other).for_each(|(mine, theirs)| mine.subtract(theirs));
    }

    /// Adds everything that went into `other`, with all its weights multiplied by `weight`.
    pub fn merge_weighted(&mut self, weight: f64, other: &Moments) {
        self.pairs(other).for_each(|(mine, theirs)| mine.merge_weighted(weight, theirs));
    }

    /// Multiplies all weights by `weight`.
    pub(crate) fn scale(&mut self, weight: f64) {
        let sums = [&mut self.weight, &mut self.missing, &mut self.sum, &mut self.sum_of_squares];
        sums.into_iter().for_each(|sum| sum.scale(weight));
    }

    fn pairs<'a>(&'a mut self, other: &'a Moments) -> impl Iterator<Item = (&'a mut ExactSum, &'a ExactSum)> {
        [
            (&mut self.weight, &other.weight),
            (&mut self.missing, &other.missing),
            (&mut self.sum, &other.sum),
            (&mut self.sum_of_squares, &other.sum_of_squares),
        ]
        .into_iter()
    }

    /// The f64 nearest to Σ w x / n; `None` unless the weight is positive.
    pub fn mean(&self) -> Option<f64> {
        if !self.weight.is_positive() {
            return None;
        }
        let ((n, n_exponent), (s, s_exponent)) = (self.weight.scaled(), self.sum.scaled());
        Some(round::round_ratio(&s, &n, s_exponent - n_exponent))
    }

    /// The f64 nearest to the population variance; `None` unless the weight is positive. Infinite beyond the
    /// largest f64; negative only if some weights are.
    pub fn variance(&self) -> Option<f64> {
        if !self.weight.is_positive() {
            return None;
        }
        Some(covariance(&self.weight, &self.sum, &self.sum, &self.sum_of_squares))
    }

    /// Appends the canonical bytes of the four sums.
    pub fn write(&self, out: &mut Vec<u8>) {
        [&self.weight, &self.missing, &self.sum, &self.sum_of_squares]
            .into_iter()
            .for_each(|sum| sum.write(out));
    }

    /// Takes moments off the front of `bytes`; `None` if they are not what [`Moments::write`] writes.
    pub fn read(bytes: &mut &[u8]) -> Option<Moments> {
        let [weight, missing, sum, sum_of_squares] = std::array::from_fn(|_| ExactSum::read(bytes));
        Some(Moments { weight: weight?, missing: missing?, sum: sum?, sum_of_squares: sum_of_squares? })
    }
}

/// The f64 nearest to (n Σxy − Σx Σy) / n², where n is the weight, which is positive. Infinite beyond the largest f64.
pub(crate) fn covariance(
    weight: &ExactSum,
    sum_x: &ExactSum,
    sum_y: &ExactSum,
    sum_of_products: &ExactSum,
) -> f64 {
    let (n, n_exponent) = weight.scaled();
    let (numerator, exponent) = scatter(weight, sum_x, sum_y, sum_of_products);
    round::round_ratio(&numerator, &(&n * &n), exponent - 2 * n_exponent)
}

/// Whether any two columns could have these sums: the sum of products may not exceed what the sums of squares allow
/// (Cauchy and Schwarz).
pub(crate) fn is_possible_pair(
    weight: &ExactSum,
    sums: [&ExactSum; 2],
    squares: [&ExactSum; 2],
    product: &ExactSum,
) -> bool {
    let [(x, x_exponent), (y, y_exponent)] = [0, 1].map(|i| scatter(weight, sums[i], sums[i], squares[i]));
    let (xy, exponent) = scatter(weight, sums[0], sums[1], product);
    let room = difference((x * y, x_exponent + y_exponent), (&xy * &xy, 2 * exponent)).0;
    room.sign() != Sign::Minus
}

/// n Σxy − Σx Σy, as a whole number times a power of two.
fn scatter(
    weight: &ExactSum,
    sum_x: &ExactSum,
    sum_y: &ExactSum,
    sum_of_products: &ExactSum,
) -> (BigInt, i64) {
    let (n, n_exponent) = weight.scaled();
    let (x, x_exponent) = sum_x.scaled();
    let (y, y_exponent) = sum_y.scaled();
    let (q, q_exponent) = sum_of_products.scaled();
    difference((n * q, n_exponent + q_exponent), (x * y, x_exponent + y_exponent))
}

/// a − b of two numbers that are each a whole number times a power of two.
fn difference((a, a_exponent): (BigInt, i64), (b, b_exponent): (BigInt, i64)) -> (BigInt, i64) {
    let exponent = a_exponent.min(b_exponent);
    ((a << (a_exponent - exponent)) - (b << (b_exponent - exponent)), exponent)
}

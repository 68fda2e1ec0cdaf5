//! Matrices: numbers in rows and columns that have no names, and classes that are codes.
//!
//! A program that has its table coded already, such as a caller from Python, needs neither schema nor vocabulary. What
//! is counted of a matrix is the same as of a table, exactly, so that any split of the rows gives the same sums:
//!
//! ```text
//! rows --observe/merge--> GaussianSums | CountSums | CodeSums | CovarianceSums --estimate--> parameters --score--> log-joints
//! ```
//!
//! The parameters are those that scikit-learn has. They are logarithms like ln (n + α) − ln Σ (n + α), subtracted as it
//! subtracts them, so that they agree with its own to the last digits; the families take the logarithm of the quotient, or
//! fold such terms into constants. That is why the formulas of `counts.rs` and `codes.rs` are not those of
//! `estimate.rs` and of text, to the bit.

mod codes;
mod counts;
mod covariance;
mod dense;
mod gaussian;
mod labels;
mod linear;
mod sparse;

pub use codes::{CodeScores, CodeSums, TooLarge, code_log_likelihood};
pub use counts::{CountSums, bernoulli, bernoulli_weights, complement, multinomial};
pub use covariance::CovarianceSums;
pub use gaussian::{GaussianScores, GaussianSums, Gaussians};
pub use labels::{encode, order};
pub use linear::LinearScores;
pub use sparse::{Index, SparseRow, SparseRows};

use crate::posterior::{argmax, divide_by_sum, exponentiate, largest, log_sum};

/// What is wrong with a number or its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidEntry {
    /// Infinite, or NaN.
    NotFinite,
    /// Below zero.
    Negative,
    /// In a column that does not exist.
    NoSuchColumn,
}

/// Looks for numbers that are not finite, and for negative ones if they are not allowed.
///
/// # Errors
/// What was found.
pub fn check(values: &[f64], negative_allowed: bool) -> Result<(), InvalidEntry> {
    // Without a way out in the middle, several numbers are compared at once.
    const MANY: usize = 4096;
    for values in values.chunks(MANY) {
        if !values.iter().fold(true, |finite, x| finite & x.is_finite()) {
            return Err(InvalidEntry::NotFinite);
        }
        if !negative_allowed && values.iter().fold(false, |negative, &x| negative | (x < 0.0)) {
            return Err(InvalidEntry::Negative);
        }
    }
    Ok(())
}

/// Writes rows as columns, over what these held.
///
/// ```
/// let mut columns = [Vec::new(), Vec::new()];
/// priory::matrix::rows_to_columns(&[1.0, 2.0, 3.0, 4.0], columns.iter_mut());
/// assert_eq!(columns, [[1.0, 3.0], [2.0, 4.0]]);
/// ```
pub fn rows_to_columns<'c>(rows: &[f64], columns: impl Iterator<Item = &'c mut Vec<f64>>) {
    /// So that rows stay in a cache until all columns have taken theirs.
    const ROWS_AT_ONCE: usize = 64;
    let mut columns: Vec<&mut Vec<f64>> = columns.collect();
    let width = columns.len().max(1);
    columns.iter_mut().for_each(|column| column.resize(rows.len() / width, 0.0));
    for (block, rows) in rows.chunks(ROWS_AT_ONCE * width).enumerate() {
        for (i, column) in columns.iter_mut().enumerate() {
            let column = &mut column[block * ROWS_AT_ONCE..];
            column.iter_mut().zip(rows.chunks_exact(width)).for_each(|(to, row)| *to = row[i]);
        }
    }
}

/// 1 if x is larger than the threshold and else 0; what is not finite stays what it is, to be found.
#[inline]
pub fn above(x: f64, threshold: f64) -> f64 {
    if x.is_finite() { f64::from(u8::from(x > threshold)) } else { x }
}

/// Turns log-joints, this many classes a row, into log P(class | x).
pub fn normalize_log(scores: &mut [f64], classes: usize) {
    for row in scores.chunks_exact_mut(classes) {
        let log_evidence = log_sum(row.iter().copied());
        row.iter_mut().for_each(|x| *x -= log_evidence);
    }
}

/// Turns log-joints, this many classes a row, into P(class | x); they are NaN if every class calls the row impossible.
pub fn normalize(scores: &mut [f64], classes: usize) {
    for row in scores.chunks_exact_mut(classes) {
        let largest = largest(row.iter().copied());
        row.iter_mut().for_each(|x| *x -= largest);
    }
    exponentiate(scores);
    scores.chunks_exact_mut(classes).for_each(|row| {
        divide_by_sum(row);
    });
}

/// The most probable class of every row; of equals the first.
pub fn best(scores: &[f64], classes: usize) -> impl Iterator<Item = usize> {
    scores.chunks_exact(classes).map(argmax)
}

/// Adds each of some sums to that in the same place.
fn merge_each<T>(all: &mut [T], parts: &[T], merge: impl Fn(&mut T, &T)) {
    all.iter_mut().zip(parts).for_each(|(all, part)| merge(all, part));
}

/// Bytes that begin with how many columns and classes there are.
fn begin_bytes(columns: usize, classes: usize) -> Vec<u8> {
    [columns, classes].into_iter().flat_map(|number| (number as u64).to_le_bytes()).collect()
}

/// How many columns and classes there are, off the front of some bytes.
fn read_shape(bytes: &mut &[u8]) -> Option<(usize, usize)> {
    Some((read_number(bytes)?, read_number(bytes)?))
}

/// A number off the front of some bytes.
fn read_number(bytes: &mut &[u8]) -> Option<usize> {
    let (&number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    usize::try_from(u64::from_le_bytes(number)).ok()
}

//! Sums over matrices, and what follows from them: what the classes with scikit-learn's names are made of.

use std::ops::Range;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use priory::matrix::{self, InvalidEntry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Csr, Dense, DenseView, NO_CODE};
use crate::shared::Shared;
use crate::work::{Blocks, fold, threads};

pyo3::create_exception!(_priory, NotFiniteError, PyValueError, "A number is infinite or NaN.");
pyo3::create_exception!(_priory, NegativeError, PyValueError, "A number is below zero.");

/// This many values are copied at a time, where they must be.
const COPIED: usize = 1 << 19;
/// More entries than these are not counted at a time: Ctrl-C waits for them.
const MOST_COUNTED: usize = 1 << 23;
/// Rows are prefetched this far ahead.
const AHEAD: usize = 2;
/// This many values are scored at a time.
pub(crate) const SCORED: usize = 1 << 16;

pub(crate) fn invalid_entry(found: InvalidEntry) -> PyErr {
    match found {
        InvalidEntry::NotFinite => NotFiniteError::new_err("a number is infinite or NaN"),
        InvalidEntry::Negative => NegativeError::new_err("a number is below zero"),
        InvalidEntry::NoSuchColumn => {
            PyValueError::new_err("the sparse matrix has entries beyond its columns")
        }
    }
}

fn not_finite() -> PyErr {
    invalid_entry(InvalidEntry::NotFinite)
}

/// A matrix, dense or sparse.
#[derive(FromPyObject)]
pub(crate) enum AnyMatrix<'py> {
    #[pyo3(transparent)]
    Sparse(Csr<'py>),
    #[pyo3(transparent)]
    Dense(Dense<'py>),
}

/// The classes and weights of rows, checked.
struct Counted<'a> {
    classes: &'a [u32],
    weights: &'a [f64],
}

impl<'a> Counted<'a> {
    fn new(
        classes: &'a PyReadonlyArray1<'_, u32>,
        weights: &'a Option<PyReadonlyArray1<'_, f64>>,
        rows: usize,
        count: usize,
    ) -> PyResult<Self> {
        let classes = classes.as_slice()?;
        let weights = weights.as_ref().map_or(Ok(&[][..]), |weights| weights.as_slice())?;
        let lengths_agree = classes.len() == rows && (weights.is_empty() || weights.len() == rows);
        if !lengths_agree || !classes.iter().all(|&class| (class as usize) < count) {
            return Err(PyValueError::new_err("rows, classes and weights do not belong together"));
        }
        matrix::check(weights, true).map_err(invalid_entry)?;
        Ok(Counted { classes, weights })
    }

    fn of(&self, rows: Range<usize>) -> (&[u32], &[f64]) {
        let weights = if self.weights.is_empty() { &[][..] } else { &self.weights[rows.clone()] };
        (&self.classes[rows], weights)
    }
}

/// Blocks of a dense matrix: large if they need no copy, since every block is added to so many cells.
fn blocks(x: &DenseView<'_>, cells: usize) -> Blocks {
    let (rows, columns) = x.shape();
    let share = (rows * columns).div_ceil(2 * threads());
    let least = COPIED.max(16 * cells);
    Blocks::new(rows, columns, if x.is_ready() { share.max(least) } else { least })
}

/// Takes every block of rows through `add`, with some room to work in, and returns what each thread has added to sums that
/// were empty.
fn add_blocks<S: Clone + Send + Sync, B: Send>(
    py: Python<'_>,
    blocks: &Blocks,
    empty: &S,
    add: impl Fn(&mut S, &mut Vec<B>, Range<usize>) -> PyResult<()> + Sync + Send,
) -> PyResult<Vec<S>> {
    let start = || (empty.clone(), Vec::new());
    let parts =
        fold(py, blocks.ranges(), blocks.threads(), start, |(sums, room), rows| add(sums, room, rows))?;
    Ok(parts.into_iter().map(|(part, _)| part).collect())
}

pub(crate) fn columns_agree(found: usize, expected: usize) -> PyResult<()> {
    match found == expected {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("expected {expected} columns, found {found}"))),
    }
}

/// The methods that all sums have, and those that one of them has.
macro_rules! sums {
    ($(#[$about:meta])* $name:ident { $($methods:tt)* }) => {
        $(#[$about])*
        #[pyclass(module = "priory._priory", frozen)]
        pub(crate) struct $name(Shared<matrix::$name>);

        #[pymethods]
        impl $name {
            #[new]
            fn new(columns: usize, classes: usize) -> Self {
                $name(Shared::new(matrix::$name::new(columns, classes)))
            }

            /// Adds what another part of the rows came to.
            fn merge(&self, py: Python<'_>, other: &$name) -> PyResult<()> {
                if self.shape(py) != other.shape(py) {
                    return Err(PyValueError::new_err("the sums are of different columns or classes"));
                }
                let other = other.0.now(py);
                self.0.change(py, |sums| sums.merge(&other));
                Ok(())
            }

            fn class_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
                self.0.now(py).class_weights().into_pyarray(py)
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
                Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py()),)))
            }

            /// The canonical bytes: the same rows give the same, in whatever order and split they came.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                let sums = self.0.now(py);
                PyBytes::new(py, &py.detach(|| sums.to_bytes()))
            }

            #[staticmethod]
            fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
                let damaged = || PyValueError::new_err("these bytes are not sums that were pickled");
                matrix::$name::from_bytes(bytes).map(|sums| $name(Shared::new(sums))).ok_or_else(damaged)
            }

            $($methods)*
        }

        impl $name {
            /// How many columns and classes there are.
            fn shape(&self, py: Python<'_>) -> (usize, usize) {
                let sums = self.0.now(py);
                (sums.columns(), sums.classes())
            }
        }
    };
}

sums! {
    /// Weight, Σx and Σx² of every column and class.
    GaussianSums {
        /// Adds rows.
        #[pyo3(signature = (x, classes, weights=None))]
        fn observe(
            &self,
            py: Python<'_>,
            x: Dense<'_>,
            classes: PyReadonlyArray1<'_, u32>,
            weights: Option<PyReadonlyArray1<'_, f64>>,
        ) -> PyResult<()> {
            let (width, count) = self.shape(py);
            let x = x.view();
            columns_agree(x.shape().1, width)?;
            let counted = Counted::new(&classes, &weights, x.shape().0, count)?;
            let empty = matrix::GaussianSums::new(width, count);
            let parts = add_blocks(py, &blocks(&x, width * count), &empty, |sums, buffer, rows| {
                let (classes, weights) = counted.of(rows.clone());
                sums.observe(x.block(rows, buffer), classes, weights).map_err(|_| not_finite())
            })?;
            if parts.iter().any(|part| part.has_missing()) {
                return Err(not_finite());
            }
            self.0.change(py, |sums| parts.iter().for_each(|part| sums.merge(part)));
            Ok(())
        }

        /// Means, variances and what was added to each of these.
        fn estimate<'py>(&self, py: Python<'py>, share: f64) -> PyResult<(Matrix<'py>, Matrix<'py>, f64)> {
            let sums = self.0.now(py);
            let gaussians = sums.estimate(share);
            let matrix = |values| matrix_of(py, values, sums.classes(), sums.columns());
            Ok((matrix(gaussians.means)?, matrix(gaussians.variances)?, gaussians.added))
        }
    }
}

sums! {
    /// The sum of every column in every class.
    CountSums {
        /// Adds rows; if there is a threshold, one for every number that is larger.
        #[pyo3(signature = (x, classes, weights=None, threshold=None, negative_allowed=false))]
        fn observe(
            &self,
            py: Python<'_>,
            x: AnyMatrix<'_>,
            classes: PyReadonlyArray1<'_, u32>,
            weights: Option<PyReadonlyArray1<'_, f64>>,
            threshold: Option<f64>,
            negative_allowed: bool,
        ) -> PyResult<()> {
            let (width, count) = self.shape(py);
            let empty = matrix::CountSums::new(width, count);
            let cells = width * count;
            let parts = match &x {
                AnyMatrix::Sparse(x) => {
                    let x = x.view()?;
                    columns_agree(x.columns, width)?;
                    let counted = Counted::new(&classes, &weights, x.rows(), count)?;
                    // Rows of one class after the other, so that its sums stay near; and so many at a time that few
                    // classes are met by several threads, each of which needs room for them.
                    let order = matrix::order(counted.classes, count);
                    let blocks = x.blocks((x.entries() / (4 * threads())).clamp(SCORED, MOST_COUNTED));
                    let threads = blocks.threads().min(x.entries() / cells.max(1) + 1);
                    let start = || (empty.clone(), Vec::new());
                    let parts = fold(py, blocks.ranges(), threads, start, |(sums, buffer), rows| {
                        let order = &order[rows];
                        for (i, row) in order.iter().map(|&row| row as usize).enumerate() {
                            if let Some(&later) = order.get(i + AHEAD) {
                                x.ask(later as usize);
                            }
                            let (class, weight) = (counted.classes[row], counted.weights.get(row).copied());
                            x.row(row, threshold, buffer).observe(sums, class, weight, negative_allowed).map_err(invalid_entry)?;
                        }
                        Ok(())
                    })?;
                    parts.into_iter().map(|(part, _)| part).collect::<Vec<_>>()
                }
                AnyMatrix::Dense(x) => {
                    let x = x.view();
                    columns_agree(x.shape().1, width)?;
                    let counted = Counted::new(&classes, &weights, x.shape().0, count)?;
                    add_blocks(py, &blocks(&x, cells / 16), &empty, |sums, buffer, rows| {
                        let (classes, weights) = counted.of(rows.clone());
                        let values = dense_block(&x, rows, threshold, buffer);
                        matrix::check(values, negative_allowed).map_err(invalid_entry)?;
                        sums.observe(values, classes, weights);
                        Ok(())
                    })?
                }
            };
            self.0.change(py, |sums| parts.into_iter().for_each(|part| sums.append(part)));
            Ok(())
        }

        /// The sums, a row for each class.
        fn counts<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
            let sums = self.0.now(py);
            let (classes, columns) = (sums.classes(), sums.columns());
            by_class(py, classes, columns, |class, counts| sums.counts_of(class, counts))
        }

        /// log P(column | class) of the multinomial model.
        fn multinomial<'py>(
            &self,
            py: Python<'py>,
            pseudocounts: PyReadonlyArray1<'py, f64>,
        ) -> PyResult<Matrix<'py>> {
            let sums = self.0.now(py);
            let pseudocounts = pseudocounts.as_slice()?;
            by_class(py, sums.classes(), sums.columns(), |class, counts| {
                sums.counts_of(class, counts);
                matrix::multinomial(counts, pseudocounts);
            })
        }

        /// The weights of the complement model, and the sum of every column over all classes.
        fn complement<'py>(
            &self,
            py: Python<'py>,
            pseudocounts: PyReadonlyArray1<'py, f64>,
            normalized: bool,
        ) -> PyResult<(Matrix<'py>, Bound<'py, PyArray1<f64>>)> {
            let sums = self.0.now(py);
            let (pseudocounts, totals) = (pseudocounts.as_slice()?, sums.totals());
            let weights = by_class(py, sums.classes(), sums.columns(), |class, counts| {
                sums.counts_of(class, counts);
                matrix::complement(counts, &totals, pseudocounts, normalized);
            })?;
            Ok((weights, totals.into_pyarray(py)))
        }

        /// log P(column | class) of the Bernoulli model.
        fn bernoulli<'py>(
            &self,
            py: Python<'py>,
            pseudocounts: PyReadonlyArray1<'py, f64>,
        ) -> PyResult<Matrix<'py>> {
            let sums = self.0.now(py);
            let (pseudocounts, class_weights) = (pseudocounts.as_slice()?, sums.class_weights());
            by_class(py, sums.classes(), sums.columns(), |class, counts| {
                sums.counts_of(class, counts);
                matrix::bernoulli(counts, class_weights[class], pseudocounts);
            })
        }
    }
}

sums! {
    /// The weight of every code of every column in every class.
    CodeSums {
        /// Adds rows.
        #[pyo3(signature = (x, classes, weights=None))]
        fn observe(
            &self,
            py: Python<'_>,
            x: Dense<'_>,
            classes: PyReadonlyArray1<'_, u32>,
            weights: Option<PyReadonlyArray1<'_, f64>>,
        ) -> PyResult<()> {
            let (width, count) = self.shape(py);
            let x = x.view();
            columns_agree(x.shape().1, width)?;
            let counted = Counted::new(&classes, &weights, x.shape().0, count)?;
            let empty = matrix::CodeSums::new(width, count);
            let blocks = Blocks::new(x.shape().0, x.shape().1, SCORED);
            let parts = add_blocks(py, &blocks, &empty, |sums, buffer, rows| {
                let (classes, weights) = counted.of(rows.clone());
                let codes = x.codes(rows, buffer);
                if codes.contains(&NO_CODE) {
                    return Err(invalid_entry(InvalidEntry::Negative));
                }
                sums.observe(codes, classes, weights).map_err(|matrix::TooLarge { column, code }| {
                    PyValueError::new_err(format!(
                        "column {column} has the category {code}: its counts would not fit into memory"
                    ))
                })
            })?;
            self.0.change(py, |sums| parts.iter().for_each(|part| sums.merge(part)));
            Ok(())
        }

        /// One more than the largest code of each column.
        fn codes(&self, py: Python<'_>) -> Vec<usize> {
            let sums = self.0.now(py);
            (0..sums.columns()).map(|column| sums.codes(column)).collect()
        }

        /// The weights of this many codes of a column, a row for each class.
        fn counts<'py>(&self, py: Python<'py>, column: usize, codes: usize) -> PyResult<Matrix<'py>> {
            let sums = self.0.now(py);
            columns_agree(usize::from(column >= sums.columns()), 0)?;
            matrix_of(py, sums.counts(column, codes), sums.classes(), codes)
        }
    }
}

sums! {
    /// Σx, Σx² and Σxy of every class.
    CovarianceSums {
        /// Adds rows.
        fn observe(&self, py: Python<'_>, x: Dense<'_>, classes: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
            let (width, count) = self.shape(py);
            let x = x.view();
            columns_agree(x.shape().1, width)?;
            let counted = Counted::new(&classes, &None, x.shape().0, count)?;
            let empty = matrix::CovarianceSums::new(width, count);
            let parts = add_blocks(py, &blocks(&x, width * width * count), &empty, |sums, buffer, rows| {
                let (classes, _) = counted.of(rows.clone());
                sums.observe(x.block(rows, buffer), classes).map_err(|_| not_finite())
            })?;
            if parts.iter().any(|part| part.has_missing()) {
                return Err(not_finite());
            }
            self.0.change(py, |sums| parts.iter().for_each(|part| sums.merge(part)));
            Ok(())
        }

        /// The means, a row for each class.
        fn means<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
            let sums = self.0.now(py);
            matrix_of(py, sums.means(), sums.classes(), sums.columns())
        }

        /// The covariances of each class, dividing by its rows.
        fn covariances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
            let sums = self.0.now(py);
            let size = sums.columns();
            sums.covariances().into_pyarray(py).reshape([sums.classes(), size, size])
        }
    }
}

pub(crate) type Matrix<'py> = Bound<'py, PyArray2<f64>>;

pub(crate) fn matrix_of(
    py: Python<'_>,
    values: Vec<f64>,
    rows: usize,
    columns: usize,
) -> PyResult<Matrix<'_>> {
    values.into_pyarray(py).reshape([rows, columns])
}

/// A matrix with a row for each class, which `write` writes.
fn by_class(
    py: Python<'_>,
    classes: usize,
    columns: usize,
    write: impl Fn(usize, &mut [f64]) + Sync + Send,
) -> PyResult<Matrix<'_>> {
    let matrix = PyArray2::zeros(py, [classes, columns], false);
    let mut guard = matrix.readwrite();
    let rows = guard.as_slice_mut()?.chunks_exact_mut(columns.max(1)).enumerate();
    let threads = threads().min(classes * columns / SCORED + 1);
    fold(
        py,
        rows,
        threads,
        || (),
        |(), (class, row)| {
            write(class, row);
            Ok(())
        },
    )?;
    drop(guard);
    Ok(matrix)
}

/// Rows of a dense matrix; if there is a threshold, one where a number is larger and zero elsewhere.
pub(crate) fn dense_block<'b>(
    x: &'b DenseView<'_>,
    rows: Range<usize>,
    threshold: Option<f64>,
    buffer: &'b mut Vec<f64>,
) -> &'b [f64] {
    let Some(threshold) = threshold else { return x.block(rows, buffer) };
    let values = x.copied(rows, buffer);
    values.iter_mut().for_each(|x| *x = matrix::above(*x, threshold));
    values
}

/// log P(code | class) of a column, and the same for all codes beyond.
#[pyfunction]
pub(crate) fn code_logs<'py>(
    counts: PyReadonlyArray2<'py, f64>,
    pseudocount: f64,
) -> PyResult<(Matrix<'py>, Bound<'py, PyArray1<f64>>)> {
    let (classes, codes) = counts.as_array().dim();
    let py = counts.py();
    let logs = matrix::code_log_likelihood(counts.as_slice()?, codes, pseudocount);
    let beyond: Vec<f64> = logs.chunks_exact(codes + 1).map(|row| row[codes]).collect();
    let known: Vec<f64> = logs.chunks_exact(codes + 1).flat_map(|row| &row[..codes]).copied().collect();
    Ok((matrix_of(py, known, classes, codes)?, beyond.into_pyarray(py)))
}

/// Labels and codes, as arrays.
type Encoded<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>);

/// The different labels, and for each where it is among them; `None` if they lie too far apart for a table.
#[pyfunction]
pub(crate) fn encode<'py>(labels: PyReadonlyArray1<'py, i64>) -> PyResult<Option<Encoded<'py>>> {
    let py = labels.py();
    let encoded = matrix::encode(labels.as_slice()?);
    Ok(encoded.map(|(labels, codes)| (labels.into_pyarray(py), codes.into_pyarray(py))))
}

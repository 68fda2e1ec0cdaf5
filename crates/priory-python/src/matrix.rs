//! Sums over matrices, and scores of them: what the classes with scikit-learn's names are made of.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use priory::matrix::{self, CodeScores, GaussianScores, LinearScores, Odd};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyType};

use crate::arrays::{Csr, Dense, DenseView, NO_CODE, SparseBlock};
use crate::work::{Blocks, fold, threads};

pyo3::create_exception!(_priory, NotFiniteError, PyValueError, "A number is infinite or NaN.");
pyo3::create_exception!(_priory, NegativeError, PyValueError, "A number is below zero.");

/// So many values are copied at a time, where they must be.
const COPIED: usize = 1 << 19;
/// So many values are scored at a time.
const SCORED: usize = 1 << 16;

fn odd(odd: Odd) -> PyErr {
    match odd {
        Odd::NotFinite => NotFiniteError::new_err("a number is infinite or NaN"),
        Odd::Negative => NegativeError::new_err("a number is below zero"),
    }
}

/// A matrix, dense or sparse.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    #[pyo3(transparent)]
    Sparse(Csr<'py>),
    #[pyo3(transparent)]
    Dense(Dense<'py>),
}

/// The classes and weights of rows, checked.
#[derive(Default)]
struct Counted<'a> {
    classes: Cow<'a, [u32]>,
    weights: Cow<'a, [f64]>,
}

impl<'a> Counted<'a> {
    /// Copies those of some rows.
    fn pick(&self, rows: &[u32], to: &mut Counted<'static>) {
        let (classes, weights) = (to.classes.to_mut(), to.weights.to_mut());
        classes.clear();
        classes.extend(rows.iter().map(|&row| self.classes[row as usize]));
        weights.clear();
        if !self.weights.is_empty() {
            weights.extend(rows.iter().map(|&row| self.weights[row as usize]));
        }
    }

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
        matrix::check(weights, true).map_err(odd)?;
        Ok(Counted { classes: classes.into(), weights: weights.into() })
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

fn columns_agree(found: usize, expected: usize) -> PyResult<()> {
    match found == expected {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("expected {expected} columns, found {found}"))),
    }
}

/// The methods that all sums have, and those that one of them has.
macro_rules! sums {
    ($(#[$about:meta])* $name:ident { $($methods:tt)* }) => {
        $(#[$about])*
        #[pyclass(module = "priory._priory")]
        pub(crate) struct $name(matrix::$name);

        #[pymethods]
        impl $name {
            #[new]
            fn new(columns: usize, classes: usize) -> Self {
                $name(matrix::$name::new(columns, classes))
            }

            /// Adds what another part of the rows came to.
            fn merge(&mut self, other: &$name) {
                self.0.merge(&other.0);
            }

            fn class_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
                self.0.class_weights().into_pyarray(py)
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
                Ok((slf.get_type().getattr("from_bytes")?, (slf.borrow().to_bytes(slf.py()),)))
            }

            /// The canonical bytes: the same rows give the same, in whatever order and split they came.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                PyBytes::new(py, &self.0.to_bytes())
            }

            #[staticmethod]
            fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
                let damaged = || PyValueError::new_err("these bytes are not sums that were pickled");
                matrix::$name::from_bytes(bytes).map($name).ok_or_else(damaged)
            }

            $($methods)*
        }
    };
}

sums! {
    /// Weight, Σx and Σx² of every column and class.
    GaussianSums {
        /// Adds rows.
        #[pyo3(signature = (x, classes, weights=None))]
        fn observe(
            &mut self,
            py: Python<'_>,
            x: Dense<'_>,
            classes: PyReadonlyArray1<'_, u32>,
            weights: Option<PyReadonlyArray1<'_, f64>>,
        ) -> PyResult<()> {
            let x = x.view();
            columns_agree(x.shape().1, self.0.columns())?;
            let counted = Counted::new(&classes, &weights, x.shape().0, self.0.classes())?;
            let empty = matrix::GaussianSums::new(self.0.columns(), self.0.classes());
            let blocks = blocks(&x, self.0.columns() * self.0.classes());
            let start = || (empty.clone(), Vec::new());
            let parts = fold(py, blocks.ranges(), blocks.threads(), start, |(sums, buffer), rows| {
                let (classes, weights) = counted.of(rows.clone());
                let infinite = |_| odd(Odd::NotFinite);
                sums.observe(x.block(rows, buffer), classes, weights).map_err(infinite)
            })?;
            if parts.iter().any(|(part, _)| part.has_missing()) {
                return Err(odd(Odd::NotFinite));
            }
            parts.iter().for_each(|(part, _)| self.0.merge(part));
            Ok(())
        }

        /// Means, variances and what was added to each of these.
        fn estimate<'py>(&self, py: Python<'py>, share: f64) -> PyResult<(Matrix<'py>, Matrix<'py>, f64)> {
            let gaussians = self.0.estimate(share);
            let matrix = |values| matrix_of(py, values, self.0.classes(), self.0.columns());
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
            &mut self,
            py: Python<'_>,
            x: Rows<'_>,
            classes: PyReadonlyArray1<'_, u32>,
            weights: Option<PyReadonlyArray1<'_, f64>>,
            threshold: Option<f64>,
            negative_allowed: bool,
        ) -> PyResult<()> {
            let empty = matrix::CountSums::new(self.0.columns(), self.0.classes());
            let cells = self.0.columns() * self.0.classes();
            let parts = match &x {
                Rows::Sparse(x) => {
                    let x = x.view()?;
                    columns_agree(x.columns, self.0.columns())?;
                    let counted = Counted::new(&classes, &weights, x.rows(), self.0.classes())?;
                    let blocks = x.blocks(SCORED);
                    // Every thread has a table of its own, which must pay.
                    let threads = blocks.threads().min(x.entries() / cells.max(1) + 1);
                    // Rows of one class after the other, so that its sums stay near.
                    let order = matrix::order(&counted.classes, self.0.classes());
                    let start = || (empty.clone(), SparseBlock::default(), Counted::default());
                    let parts = fold(py, blocks.ranges(), threads, start, |(sums, room, own), rows| {
                        let order = &order[rows];
                        counted.pick(order, own);
                        let rows = x.picked(order, threshold, room)?;
                        matrix::check(rows.values, negative_allowed).map_err(odd)?;
                        sums.observe_sparse(rows, &own.classes, &own.weights);
                        Ok(())
                    })?;
                    parts.into_iter().map(|(part, ..)| part).collect::<Vec<_>>()
                }
                Rows::Dense(x) => {
                    let x = x.view();
                    columns_agree(x.shape().1, self.0.columns())?;
                    let counted = Counted::new(&classes, &weights, x.shape().0, self.0.classes())?;
                    let blocks = blocks(&x, cells / 16);
                    let start = || (empty.clone(), Vec::new());
                    let parts = fold(py, blocks.ranges(), blocks.threads(), start, |(sums, buffer), rows| {
                        let (classes, weights) = counted.of(rows.clone());
                        let values = dense_block(&x, rows, threshold, buffer);
                        matrix::check(values, negative_allowed).map_err(odd)?;
                        sums.observe(values, classes, weights);
                        Ok(())
                    })?;
                    parts.into_iter().map(|(part, _)| part).collect()
                }
            };
            parts.iter().for_each(|part| self.0.merge(part));
            Ok(())
        }

        /// The sums, a row for each class.
        fn counts<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
            matrix_of(py, self.0.counts(), self.0.classes(), self.0.columns())
        }
    }
}

sums! {
    /// The weight of every code of every column in every class.
    CodeSums {
        /// Adds rows.
        #[pyo3(signature = (x, classes, weights=None))]
        fn observe(
            &mut self,
            py: Python<'_>,
            x: Dense<'_>,
            classes: PyReadonlyArray1<'_, u32>,
            weights: Option<PyReadonlyArray1<'_, f64>>,
        ) -> PyResult<()> {
            let x = x.view();
            columns_agree(x.shape().1, self.0.columns())?;
            let counted = Counted::new(&classes, &weights, x.shape().0, self.0.classes())?;
            let empty = matrix::CodeSums::new(self.0.columns(), self.0.classes());
            let blocks = Blocks::new(x.shape().0, x.shape().1, SCORED);
            let start = || (empty.clone(), Vec::new());
            let parts = fold(py, blocks.ranges(), blocks.threads(), start, |(sums, buffer), rows| {
                let (classes, weights) = counted.of(rows.clone());
                let codes = x.codes(rows, buffer);
                if codes.contains(&NO_CODE) {
                    return Err(odd(Odd::Negative));
                }
                sums.observe(codes, classes, weights).map_err(|matrix::TooLarge { column, code }| {
                    PyValueError::new_err(format!(
                        "column {column} has the category {code}: its counts would not fit into memory"
                    ))
                })
            })?;
            parts.iter().for_each(|(part, _)| self.0.merge(part));
            Ok(())
        }

        /// One more than the largest code of each column.
        fn codes(&self) -> Vec<usize> {
            (0..self.0.columns()).map(|column| self.0.codes(column)).collect()
        }

        /// The weights of so many codes of a column, a row for each class.
        fn counts<'py>(&self, py: Python<'py>, column: usize, codes: usize) -> PyResult<Matrix<'py>> {
            columns_agree(usize::from(column >= self.0.columns()), 0)?;
            matrix_of(py, self.0.counts(column, codes), self.0.classes(), codes)
        }
    }
}

sums! {
    /// Σx, Σx² and Σxy of every class.
    CovarianceSums {
        /// Adds rows.
        fn observe(&mut self, py: Python<'_>, x: Dense<'_>, classes: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
            let x = x.view();
            columns_agree(x.shape().1, self.0.columns())?;
            let counted = Counted::new(&classes, &None, x.shape().0, self.0.classes())?;
            let empty = matrix::CovarianceSums::new(self.0.columns(), self.0.classes());
            let blocks = blocks(&x, self.0.columns() * self.0.columns() * self.0.classes());
            let start = || (empty.clone(), Vec::new());
            let parts = fold(py, blocks.ranges(), blocks.threads(), start, |(sums, buffer), rows| {
                let (classes, _) = counted.of(rows.clone());
                sums.observe(x.block(rows, buffer), classes).map_err(|_| odd(Odd::NotFinite))
            })?;
            if parts.iter().any(|(part, _)| part.has_missing()) {
                return Err(odd(Odd::NotFinite));
            }
            parts.iter().for_each(|(part, _)| self.0.merge(part));
            Ok(())
        }

        /// The means, a row for each class.
        fn means<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
            matrix_of(py, self.0.means(), self.0.classes(), self.0.columns())
        }

        /// The covariances of each class, dividing by its rows.
        fn covariances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
            let size = self.0.columns();
            self.0.covariances().into_pyarray(py).reshape([self.0.classes(), size, size])
        }
    }
}

type Matrix<'py> = Bound<'py, PyArray2<f64>>;

fn matrix_of(py: Python<'_>, values: Vec<f64>, rows: usize, columns: usize) -> PyResult<Matrix<'_>> {
    values.into_pyarray(py).reshape([rows, columns])
}

/// Rows of a dense matrix; if there is a threshold, one where a number is larger and zero elsewhere.
fn dense_block<'b>(
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

/// What scores are turned into.
pub(crate) enum Wanted {
    Joint,
    Log,
    Probability,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Wanted {
    type Error = PyErr;

    fn extract(word: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match word.extract::<String>()?.as_str() {
            "joint" => Ok(Wanted::Joint),
            "log" => Ok(Wanted::Log),
            "probability" => Ok(Wanted::Probability),
            _ => Err(PyValueError::new_err("expected joint, log or probability")),
        }
    }
}

/// Scores of rows, however they are made.
struct Scorer<R, F: Fn(Range<usize>, &mut R, &mut [f64]) -> PyResult<()>> {
    blocks: Blocks,
    classes: usize,
    /// Writes the scores of some rows, with some room to work in.
    score: F,
    room: PhantomData<fn(R)>,
}

impl<R: Default + Send, F: Fn(Range<usize>, &mut R, &mut [f64]) -> PyResult<()> + Sync + Send> Scorer<R, F> {
    fn new(blocks: Blocks, classes: usize, score: F) -> Self {
        Scorer { blocks, classes, score, room: PhantomData }
    }

    fn scores<'py>(&self, py: Python<'py>, wanted: &Wanted) -> PyResult<Matrix<'py>> {
        let mut scores = vec![0.0; self.blocks.rows * self.classes];
        let items = self.blocks.ranges().zip(scores.chunks_mut((self.blocks.block * self.classes).max(1)));
        fold(py, items, self.blocks.threads(), R::default, |room, (rows, scores)| {
            (self.score)(rows, room, scores)?;
            match wanted {
                Wanted::Joint => {}
                Wanted::Log => matrix::normalize_log(scores, self.classes),
                Wanted::Probability => matrix::normalize(scores, self.classes),
            }
            Ok(())
        })?;
        matrix_of(py, scores, self.blocks.rows, self.classes)
    }

    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut best = vec![0; self.blocks.rows];
        let items = self.blocks.ranges().zip(best.chunks_mut(self.blocks.block));
        fold(py, items, self.blocks.threads(), <(R, Vec<f64>)>::default, |(room, scores), (rows, best)| {
            scores.resize(rows.len() * self.classes, 0.0);
            (self.score)(rows, room, scores)?;
            best.iter_mut()
                .zip(matrix::best(scores, self.classes))
                .for_each(|(to, class)| *to = class as i64);
            Ok(())
        })?;
        Ok(best.into_pyarray(py))
    }

    /// The scores, or the most probable classes if none are wanted.
    fn run<'py>(&self, py: Python<'py>, wanted: Option<Wanted>) -> PyResult<Bound<'py, PyAny>> {
        match wanted {
            Some(wanted) => Ok(self.scores(py, &wanted)?.into_any()),
            None => Ok(self.best(py)?.into_any()),
        }
    }
}

/// Scores of Gaussian naive Bayes: `joint`, `log` or `probability`; or the most probable classes.
#[pyfunction]
#[pyo3(signature = (x, means, variances, log_prior, wanted=None))]
pub(crate) fn gaussian_scores<'py>(
    py: Python<'py>,
    x: Dense<'_>,
    means: PyReadonlyArray2<'_, f64>,
    variances: PyReadonlyArray2<'_, f64>,
    log_prior: PyReadonlyArray1<'_, f64>,
    wanted: Option<Wanted>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = x.view();
    let (rows, columns) = x.shape();
    columns_agree(columns, means.as_array().ncols())?;
    let scores = GaussianScores::new(means.as_slice()?, variances.as_slice()?, log_prior.as_slice()?);
    let score = |rows, buffer: &mut Vec<f64>, to: &mut [f64]| {
        let values = x.block(rows, buffer);
        matrix::check(values, true).map_err(odd)?;
        scores.score(values, to);
        Ok(())
    };
    let blocks = Blocks::new(rows, columns, SCORED);
    Scorer::new(blocks, log_prior.len(), score).run(py, wanted)
}

/// Scores that are weighted sums. What is worked out from the weights is kept for the next call.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Linear {
    /// Whether the weights are log-probabilities of the Bernoulli model.
    bernoulli: bool,
    kept: Mutex<Option<Kept>>,
}

/// What follows from some weights, as far as it was needed.
struct Kept {
    weights: Py<PyArray2<f64>>,
    bias: Py<PyArray1<f64>>,
    dense: Option<Arc<LinearScores>>,
    sparse: Option<Arc<LinearScores>>,
}

#[pymethods]
impl Linear {
    #[new]
    #[pyo3(signature = (bernoulli=false))]
    fn new(bernoulli: bool) -> Self {
        Linear { bernoulli, kept: Mutex::new(None) }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (bool,)) {
        (slf.get_type(), (slf.get().bernoulli,))
    }

    /// Scores, `joint`, `log` or `probability`; or the most probable classes. The arrays of weights can no longer be
    /// written to afterwards, since what follows from them is kept.
    #[pyo3(signature = (x, weights, bias, wanted=None, threshold=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'_>,
        weights: &Bound<'py, PyArray2<f64>>,
        bias: &Bound<'py, PyArray1<f64>>,
        wanted: Option<Wanted>,
        threshold: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let classes = bias.len();
        columns_agree(weights.dims()[0], classes)?;
        let scores = self.prepared(weights, bias, matches!(x, Rows::Sparse(_)))?;
        match &x {
            Rows::Dense(x) => {
                let x = x.view();
                let (rows, columns) = x.shape();
                columns_agree(columns, weights.dims()[1])?;
                let score = |rows, buffer: &mut Vec<f64>, to: &mut [f64]| {
                    let values = dense_block(&x, rows, threshold, buffer);
                    matrix::check(values, true).map_err(odd)?;
                    scores.score(values, to);
                    Ok(())
                };
                Scorer::new(Blocks::new(rows, columns, SCORED), classes, score).run(py, wanted)
            }
            Rows::Sparse(x) => {
                let x = x.view()?;
                columns_agree(x.columns, weights.dims()[1])?;
                let score = |rows, room: &mut SparseBlock, to: &mut [f64]| {
                    let rows = x.block(rows, threshold, room)?;
                    matrix::check(rows.values, true).map_err(odd)?;
                    scores.score_sparse(rows, to);
                    Ok(())
                };
                Scorer::new(x.blocks(SCORED), classes, score).run(py, wanted)
            }
        }
    }
}

impl Linear {
    fn prepared(
        &self,
        weights: &Bound<'_, PyArray2<f64>>,
        bias: &Bound<'_, PyArray1<f64>>,
        sparse: bool,
    ) -> PyResult<Arc<LinearScores>> {
        let mut kept = self.kept.lock_py_attached(weights.py()).unwrap_or_else(PoisonError::into_inner);
        let same = |kept: &Kept| kept.weights.is(weights) && kept.bias.is(bias);
        if !kept.as_ref().is_some_and(same) {
            weights.call_method1("setflags", (false,))?;
            bias.call_method1("setflags", (false,))?;
            let (weights, bias) = (weights.clone().unbind(), bias.clone().unbind());
            *kept = Some(Kept { weights, bias, dense: None, sparse: None });
        }
        let Some(kept) = kept.as_mut() else { unreachable!("it was just put there") };
        let place = if sparse { &mut kept.sparse } else { &mut kept.dense };
        if let Some(scores) = place {
            return Ok(Arc::clone(scores));
        }
        let (weights, bias) = (weights.readonly(), bias.readonly());
        let (weights, bias) = (weights.as_slice()?, bias.as_slice()?);
        let scores = match self.bernoulli {
            true => {
                let (weights, bias) = matrix::bernoulli_weights(weights, bias);
                LinearScores::new(&weights, &bias, sparse)
            }
            false => LinearScores::new(weights, bias, sparse),
        };
        Ok(Arc::clone(place.insert(Arc::new(scores))))
    }
}

/// Scores of categorical naive Bayes: `joint`, `log` or `probability`; or the most probable classes. `logs` has for each
/// column a row for each class, and `beyond` what codes get that were never met.
#[pyfunction]
#[pyo3(signature = (x, logs, beyond, log_prior, wanted=None))]
pub(crate) fn code_scores<'py>(
    py: Python<'py>,
    x: Dense<'_>,
    logs: Vec<PyReadonlyArray2<'_, f64>>,
    beyond: Vec<PyReadonlyArray1<'_, f64>>,
    log_prior: PyReadonlyArray1<'_, f64>,
    wanted: Option<Wanted>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = x.view();
    let (rows, columns) = x.shape();
    columns_agree(columns, logs.len())?;
    let mut scores = CodeScores::new(log_prior.as_slice()?);
    for (logs, beyond) in logs.iter().zip(&beyond) {
        columns_agree(logs.as_array().nrows(), log_prior.len())?;
        columns_agree(beyond.len(), log_prior.len())?;
        scores.push(logs.as_slice()?, beyond.as_slice()?);
    }
    let score = |rows, buffer: &mut Vec<u32>, to: &mut [f64]| {
        let codes = x.codes(rows, buffer);
        if codes.contains(&NO_CODE) {
            return Err(odd(Odd::Negative));
        }
        scores.score(codes, to);
        Ok(())
    };
    let blocks = Blocks::new(rows, columns, SCORED);
    Scorer::new(blocks, log_prior.len(), score).run(py, wanted)
}

/// log P(column | class) of the multinomial model.
#[pyfunction]
pub(crate) fn multinomial<'py>(
    counts: PyReadonlyArray2<'py, f64>,
    pseudocounts: PyReadonlyArray1<'py, f64>,
) -> PyResult<Matrix<'py>> {
    let logs = matrix::multinomial(counts.as_slice()?, pseudocounts.as_slice()?);
    logs.into_pyarray(counts.py()).reshape(counts.as_array().dim())
}

/// The weights of the complement model.
#[pyfunction]
pub(crate) fn complement<'py>(
    counts: PyReadonlyArray2<'py, f64>,
    pseudocounts: PyReadonlyArray1<'py, f64>,
    normalized: bool,
) -> PyResult<Matrix<'py>> {
    let weights = matrix::complement(counts.as_slice()?, pseudocounts.as_slice()?, normalized);
    weights.into_pyarray(counts.py()).reshape(counts.as_array().dim())
}

/// log P(column | class) of the Bernoulli model.
#[pyfunction]
pub(crate) fn bernoulli<'py>(
    counts: PyReadonlyArray2<'py, f64>,
    class_weights: PyReadonlyArray1<'py, f64>,
    pseudocounts: PyReadonlyArray1<'py, f64>,
) -> PyResult<Matrix<'py>> {
    let logs = matrix::bernoulli(counts.as_slice()?, class_weights.as_slice()?, pseudocounts.as_slice()?);
    logs.into_pyarray(counts.py()).reshape(counts.as_array().dim())
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

/// The different labels, and for each where it stands among them; `None` if they lie too far apart for a table.
#[pyfunction]
pub(crate) fn encode<'py>(labels: PyReadonlyArray1<'py, i64>) -> PyResult<Option<Encoded<'py>>> {
    let py = labels.py();
    let encoded = matrix::encode(labels.as_slice()?);
    Ok(encoded.map(|(labels, codes)| (labels.into_pyarray(py), codes.into_pyarray(py))))
}

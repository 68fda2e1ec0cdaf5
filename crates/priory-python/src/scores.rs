//! Scores of matrices. What is worked out from the parameters is kept for the next call, so that a single row is quick.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArrayDyn};
use priory::matrix::{self, CodeScores, GaussianScores, InvalidEntry, LinearScores};
use priory::posterior::rows_to_score;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyType;

use crate::answers::too_large;
use crate::arrays::{Dense, NO_CODE};
use crate::matrix::{AnyMatrix, Matrix, SCORED, columns_agree, dense_block, invalid_entry, matrix_of};
use crate::work::{Blocks, fold};

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
    /// The blocks become smaller where there are many classes, so that the scores of one take no more than some megabytes.
    fn new(blocks: Blocks, classes: usize, score: F) -> Self {
        let blocks = blocks.of_at_most(rows_to_score(classes));
        Scorer { blocks, classes, score, room: PhantomData }
    }

    fn scores<'py>(&self, py: Python<'py>, wanted: &Wanted) -> PyResult<Matrix<'py>> {
        let too_large = || too_large(self.blocks.rows, self.classes);
        let numbers = self.blocks.rows.checked_mul(self.classes).ok_or_else(too_large)?;
        // Zeros that the system hands out cost nothing before they are written to, but whoever asks for too many of them is
        // ended. So it is asked beforehand whether there is room.
        Vec::<f64>::new().try_reserve_exact(numbers).map_err(|_| too_large())?;
        let mut scores = vec![0.0; numbers];
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

/// What follows from some arrays, kept until there are others.
struct Keeper<T>(Mutex<Option<Kept<T>>>);

struct Kept<T> {
    arrays: Vec<Py<PyAny>>,
    made: Arc<T>,
}

impl<T> Default for Keeper<T> {
    fn default() -> Self {
        Keeper(Mutex::new(None))
    }
}

impl<T> Keeper<T> {
    /// What was made of these arrays, which can no longer be written to afterwards.
    fn get(
        &self,
        py: Python<'_>,
        arrays: &[&Bound<'_, PyAny>],
        make: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<Arc<T>> {
        let mut kept = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let same = |kept: &Kept<T>| {
            kept.arrays.len() == arrays.len() && kept.arrays.iter().zip(arrays).all(|(old, new)| old.is(*new))
        };
        if let Some(kept) = kept.as_ref().filter(|&kept| same(kept)) {
            return Ok(Arc::clone(&kept.made));
        }
        for array in arrays {
            array.call_method1("setflags", (false,))?;
        }
        let made = Arc::new(make()?);
        let arrays = arrays.iter().map(|&array| array.clone().unbind()).collect();
        *kept = Some(Kept { arrays, made: Arc::clone(&made) });
        Ok(made)
    }
}

/// The numbers of an array, row after row.
fn numbers<'py>(array: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    if let Ok(array) = array.extract::<PyReadonlyArrayDyn<'py, f64>>()
        && array.as_slice().is_ok()
    {
        return Ok(array);
    }
    array.call_method1("astype", ("float64", "C"))?.extract()
}

/// Scores of Gaussian naive Bayes.
#[pyclass(module = "priory._priory", frozen)]
#[derive(Default)]
pub(crate) struct GaussianScorer(Keeper<(GaussianScores, usize, usize)>);

#[pymethods]
impl GaussianScorer {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ()) {
        (slf.get_type(), ())
    }

    /// Scores, `joint`, `log` or `probability`; or the most probable classes. The arrays can no longer be written to
    /// afterwards.
    #[pyo3(signature = (x, means, variances, prior, wanted=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Dense<'_>,
        means: &Bound<'py, PyAny>,
        variances: &Bound<'py, PyAny>,
        prior: &Bound<'py, PyAny>,
        wanted: Option<Wanted>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let prepared = self.0.get(py, &[means, variances, prior], || {
            let (means, variances, prior) = (numbers(means)?, numbers(variances)?, numbers(prior)?);
            let (means, variances, prior) = (means.as_slice()?, variances.as_slice()?, prior.as_slice()?);
            let columns = means.len() / prior.len().max(1);
            columns_agree(means.len(), columns * prior.len())?;
            columns_agree(variances.len(), means.len())?;
            Ok((GaussianScores::of_prior(means, variances, prior), columns, prior.len()))
        })?;
        let (scores, columns, classes) = &*prepared;
        let x = x.view();
        columns_agree(x.shape().1, *columns)?;
        let score = |rows, buffer: &mut Vec<f64>, to: &mut [f64]| {
            let values = x.block(rows, buffer);
            matrix::check(values, true).map_err(invalid_entry)?;
            scores.score(values, to);
            Ok(())
        };
        Scorer::new(Blocks::new(x.shape().0, *columns, SCORED), *classes, score).run(py, wanted)
    }
}

/// Scores that are weighted sums.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct LinearScorer {
    /// Whether the weights are log-probabilities of the Bernoulli model.
    bernoulli: bool,
    dense: Keeper<(LinearScores, usize, usize)>,
    sparse: Keeper<(LinearScores, usize, usize)>,
}

#[pymethods]
impl LinearScorer {
    #[new]
    #[pyo3(signature = (bernoulli=false))]
    fn new(bernoulli: bool) -> Self {
        LinearScorer { bernoulli, dense: Keeper::default(), sparse: Keeper::default() }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (bool,)) {
        (slf.get_type(), (slf.get().bernoulli,))
    }

    /// Scores, `joint`, `log` or `probability`; or the most probable classes. The arrays of weights can no longer be
    /// written to afterwards.
    #[pyo3(signature = (x, weights, bias, wanted=None, threshold=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: AnyMatrix<'_>,
        weights: &Bound<'py, PyAny>,
        bias: &Bound<'py, PyAny>,
        wanted: Option<Wanted>,
        threshold: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sparse = matches!(x, AnyMatrix::Sparse(_));
        let keeper = if sparse { &self.sparse } else { &self.dense };
        let prepared = keeper.get(py, &[weights, bias], || {
            let (weights, bias) = (numbers(weights)?, numbers(bias)?);
            let (weights, bias) = (weights.as_slice()?, bias.as_slice()?);
            let (classes, columns) = (bias.len(), weights.len() / bias.len().max(1));
            columns_agree(weights.len(), columns * classes)?;
            let scores = match self.bernoulli {
                true => {
                    let (weights, bias) = matrix::bernoulli_weights(weights, bias);
                    LinearScores::new(&weights, &bias, sparse)
                }
                false => LinearScores::new(weights, bias, sparse),
            };
            Ok((scores, columns, classes))
        })?;
        let (scores, expected, classes) = (&prepared.0, prepared.1, prepared.2);
        match &x {
            AnyMatrix::Dense(x) => {
                let x = x.view();
                let (rows, columns) = x.shape();
                columns_agree(columns, expected)?;
                let score = |rows, buffer: &mut Vec<f64>, to: &mut [f64]| {
                    let values = dense_block(&x, rows, threshold, buffer);
                    matrix::check(values, true).map_err(invalid_entry)?;
                    scores.score(values, to);
                    Ok(())
                };
                Scorer::new(Blocks::new(rows, columns, SCORED), classes, score).run(py, wanted)
            }
            AnyMatrix::Sparse(x) => {
                let x = x.view()?;
                columns_agree(x.columns, expected)?;
                let score = |rows: Range<usize>, buffer: &mut Vec<f64>, to: &mut [f64]| {
                    x.score(rows, threshold, buffer, scores, to).map_err(invalid_entry)
                };
                Scorer::new(x.blocks(SCORED), classes, score).run(py, wanted)
            }
        }
    }
}

/// Scores of categorical naive Bayes.
#[pyclass(module = "priory._priory", frozen)]
#[derive(Default)]
pub(crate) struct CodeScorer(Keeper<(CodeScores, usize)>);

#[pymethods]
impl CodeScorer {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ()) {
        (slf.get_type(), ())
    }

    /// Scores, `joint`, `log` or `probability`; or the most probable classes. `logs` has for each column a row for each
    /// class, and `beyond` what codes get that were never met. The arrays can no longer be written to afterwards.
    #[pyo3(signature = (x, logs, beyond, log_prior, wanted=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Dense<'_>,
        logs: Vec<Bound<'py, PyAny>>,
        beyond: Vec<Bound<'py, PyAny>>,
        log_prior: &Bound<'py, PyAny>,
        wanted: Option<Wanted>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let x = x.view();
        let (rows, columns) = x.shape();
        columns_agree(columns, logs.len())?;
        columns_agree(columns, beyond.len())?;
        let arrays: Vec<&Bound<'py, PyAny>> = logs.iter().chain(&beyond).chain([log_prior]).collect();
        let prepared = self.0.get(py, &arrays, || {
            let log_prior = numbers(log_prior)?;
            let classes = log_prior.as_slice()?.len();
            let mut scores = CodeScores::new(log_prior.as_slice()?);
            for (logs, beyond) in logs.iter().zip(&beyond) {
                let (logs, beyond) = (numbers(logs)?, numbers(beyond)?);
                columns_agree(logs.as_array().shape().first().copied().unwrap_or(0), classes)?;
                columns_agree(beyond.as_slice()?.len(), classes)?;
                scores.push(logs.as_slice()?, beyond.as_slice()?);
            }
            Ok((scores, classes))
        })?;
        let (scores, classes) = &*prepared;
        let score = |rows, buffer: &mut Vec<u32>, to: &mut [f64]| {
            let codes = x.codes(rows, buffer);
            if codes.contains(&NO_CODE) {
                return Err(invalid_entry(InvalidEntry::Negative));
            }
            scores.score(codes, to);
            Ok(())
        };
        Scorer::new(Blocks::new(rows, columns, SCORED), *classes, score).run(py, wanted)
    }
}

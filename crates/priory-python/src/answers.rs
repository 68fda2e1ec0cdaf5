//! Answers about rows as arrays, in the order of the rows.

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use numpy::{IntoPyArray, PyArrayMethods};
use priory::decide::Decider;
use priory::posterior::rows_to_score;
use priory::{Batch, Model, Scores};
use priory_input::{Reader, Work};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::scores::Wanted;

/// Answers in the order of the rows: numbers, this many classes a row; or the most probable classes, if no numbers are wanted.
pub(crate) struct Answers {
    wanted: Option<Wanted>,
    /// What is answered where no numbers are wanted.
    decider: Option<Decider>,
    classes: usize,
    found: Mutex<Found>,
    /// The last row for which there was no more room, if there was one.
    beyond: AtomicUsize,
}

#[derive(Default)]
struct Found {
    numbers: Vec<f64>,
    best: Vec<i64>,
}

impl Answers {
    /// Has room for this many rows, if it is known how many there will be: what does not fit into memory is refused before any
    /// work is done.
    pub(crate) fn new(wanted: Option<Wanted>, classes: usize, rows: Option<usize>) -> PyResult<Self> {
        let mut found = Found::default();
        if let (Some(_), Some(rows)) = (&wanted, rows) {
            let numbers = rows.checked_mul(classes).ok_or_else(|| too_large(rows, classes))?;
            found.numbers.try_reserve_exact(numbers).map_err(|_| too_large(rows, classes))?;
        }
        Ok(Answers { wanted, decider: None, classes, found: Mutex::new(found), beyond: AtomicUsize::new(0) })
    }

    /// Answers by a decision, and not by what is most probable.
    pub(crate) fn decided_by(self, decider: Decider) -> Self {
        Answers { decider: Some(decider), ..self }
    }

    /// log P(x) of all rows.
    pub(crate) fn fill_log_evidence(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        model: &Model,
    ) -> priory_input::Result<()> {
        self.fill_by(work, reader, |first, piece| {
            let log_evidence = model.log_evidence(piece, &model.score(piece)?)?;
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(put(&mut found.numbers, first, &log_evidence))
        })
    }

    /// Scores all rows, of a batch with many classes some at a time.
    pub(crate) fn fill(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        score: impl Fn(&Batch) -> priory::Result<Scores> + Sync,
    ) -> priory_input::Result<()> {
        self.fill_by(work, reader, |first, piece| Ok(self.put(first, &score(piece)?)))
    }

    /// Finds the ends of the intervals of all rows, which are twice as many numbers as there are classes.
    pub(crate) fn fill_ends(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        intervals: &priory::Intervals<'_>,
        probability: f64,
    ) -> priory_input::Result<()> {
        self.fill_by(work, reader, |first, piece| {
            let interval = intervals.of(piece, &intervals.model().score(piece)?, probability)?;
            let ends = (0..piece.rows).flat_map(|row| interval.low(row).iter().chain(interval.high(row)));
            let ends: Vec<f64> = ends.copied().collect();
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(put(&mut found.numbers, first * self.classes, &ends))
        })
    }

    /// Puts the answers of all rows to their places, by what is done with a piece of a batch and the number of its first row.
    fn fill_by(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        answer: impl Fn(usize, &Batch) -> priory::Result<Result<(), TryReserveError>> + Sync,
    ) -> priory_input::Result<()> {
        let nothing = || ();
        work.fold(reader, nothing, |(), batch, turn| {
            let mut first = turn.rows_before(reader)? as usize;
            for piece in batch.pieces(rows_to_score(self.classes)) {
                let rows = piece.rows;
                if answer(first, &piece)?.is_err() {
                    self.beyond.store(first + rows, Ordering::Relaxed);
                    return Err(priory_input::Error::Stopped);
                }
                first += rows;
            }
            Ok(())
        })?;
        Ok(())
    }

    pub(crate) fn into_array(self, py: Python<'_>, done: PyResult<()>) -> PyResult<Bound<'_, PyAny>> {
        match self.beyond.into_inner() {
            0 => done?,
            rows => return Err(too_large(rows, self.classes)),
        }
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.wanted.is_none() {
            return Ok(found.best.into_pyarray(py).into_any());
        }
        let rows = found.numbers.len() / self.classes.max(1);
        Ok(found.numbers.into_pyarray(py).reshape([rows, self.classes])?.into_any())
    }

    /// Puts the answers of some rows to their places, from this row on.
    fn put(&self, first: usize, scores: &Scores) -> Result<(), TryReserveError> {
        let found = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match (&self.wanted, &self.decider) {
            (None, Some(decider)) => {
                let answers: Vec<i64> =
                    decider.decide(scores).into_iter().map(|answer| answer as i64).collect();
                put(&mut found().best, first, &answers)
            }
            (None, None) => put(&mut found().best, first, &best(scores)),
            (Some(wanted), _) => put(&mut found().numbers, first * self.classes, &numbers(scores, wanted)),
        }
    }
}

/// The most probable class of each row.
pub(crate) fn best(scores: &Scores) -> Vec<i64> {
    (0..scores.rows()).map(|row| scores.best(row) as i64).collect()
}

/// What is wanted of the scores, row after row.
pub(crate) fn numbers(scores: &Scores, wanted: &Wanted) -> Vec<f64> {
    let rows = 0..scores.rows();
    match wanted {
        Wanted::Joint => rows.flat_map(|row| scores.row(row)).copied().collect(),
        Wanted::Log => rows.flat_map(|row| scores.log_posterior(row)).collect(),
        Wanted::Probability => {
            let posterior = scores.normalize();
            rows.flat_map(|row| posterior.row(row)).copied().collect()
        }
    }
}

/// Writes values from this place on. What was not there yet is zero.
fn put<T: Copy + Default>(to: &mut Vec<T>, first: usize, values: &[T]) -> Result<(), TryReserveError> {
    let end = first + values.len();
    if to.len() < end {
        to.try_reserve(end - to.len())?;
        to.resize(end, T::default());
    }
    to[first..end].copy_from_slice(values);
    Ok(())
}

pub(crate) fn too_large(rows: usize, classes: usize) -> PyErr {
    PyMemoryError::new_err(format!(
        "an array of {rows} rows and {classes} classes does not fit into memory; predict fewer rows at a time"
    ))
}

/// What explanations come to.
#[derive(Default)]
pub(crate) struct Contributions {
    pub(crate) features: Vec<String>,
    /// For each row the value of each feature.
    pub(crate) written: Vec<Vec<Option<String>>>,
    /// What each adds, classes side by side.
    pub(crate) values: Vec<f64>,
    pub(crate) log_joints: Vec<f64>,
}

impl Contributions {
    /// Adds a row, of this many if that is known.
    pub(crate) fn add(
        &mut self,
        explanation: &priory::Explanation,
        rows: Option<usize>,
    ) -> Result<(), TryReserveError> {
        let parts = &explanation.contributions;
        let classes = explanation.log_joint.len();
        if self.log_joints.is_empty() {
            self.features = parts.iter().map(|part| part.feature.clone()).collect();
            let rows = rows.unwrap_or(1);
            self.values.try_reserve_exact(rows.saturating_mul(parts.len()).saturating_mul(classes))?;
            self.log_joints.try_reserve_exact(rows.saturating_mul(classes))?;
        }
        self.values.try_reserve(parts.len() * classes)?;
        parts.iter().for_each(|part| self.values.extend_from_slice(&part.log_likelihood));
        self.written.try_reserve(1)?;
        self.written.push(parts.iter().map(|part| part.value.clone()).collect());
        self.log_joints.try_reserve(classes)?;
        self.log_joints.extend_from_slice(&explanation.log_joint);
        Ok(())
    }
}

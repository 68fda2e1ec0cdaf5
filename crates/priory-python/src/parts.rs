//! Parts of a table that are learnt apart, as bytes that any scheduler can carry, and merged where they meet.
//!
//! A part is a model file. What the columns are, and what was chosen, is a part of no rows: every task begins with the same one, so
//! that what all have learnt can be merged.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use priory::evaluate::Evaluation;
use priory::judgement::Judging;
use priory_input::WholeNumbers;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::choices::{judging, understand};
use crate::error::of_core;
use crate::interrupt::{interruptible, on_this_thread};
use crate::model::{Learnt, Snapshot, json};
use crate::table::PyTable;
use crate::work::threads;

pub(crate) const AGEING: &str = "rows that age come one after the other, and cannot be learnt in parts: half_life is for fit and \
                                 partial_fit on one machine";

/// How whole numbers are spelt, in a word that travels to other machines.
pub(crate) fn spelling_word(spelling: WholeNumbers) -> &'static str {
    match spelling {
        WholeNumbers::Plain => "plain",
        WholeNumbers::Pointed => "pointed",
        WholeNumbers::AsTyped => "as typed",
    }
}

/// A part of no rows of such a table.
#[pyfunction]
pub(crate) fn schema_of<'py>(
    py: Python<'py>,
    table: &PyTable,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (_, empty) = begin(table, target, weight, choices)?;
    bytes(py, empty)
}

/// A part of all rows of a table, whose first rows tell what its columns are.
#[pyfunction]
pub(crate) fn learn_first_part<'py>(
    py: Python<'py>,
    table: &PyTable,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (table, mut part) = begin(table, target, weight, choices)?;
    (part.statistics, _) = interruptible(py, |work| work.learn(table, &part.statistics))?;
    bytes(py, part)
}

fn begin(
    table: &PyTable,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
) -> PyResult<(priory_input::Table, priory::Learnt)> {
    let judging = judging(choices)?;
    let mut table = table.open_as("the rows")?;
    let (schema, settings) = understand(&mut table, target, weight, choices)?;
    Ok((table, priory::Learnt::new(judging.start(&schema), settings)))
}

/// A part of all rows of a table that is like another part. On one thread, if a scheduler has others for the other processors.
#[pyfunction]
pub(crate) fn learn_part<'py>(
    py: Python<'py>,
    table: &PyTable,
    like: &[u8],
    spellings: BTreeMap<String, String>,
    alone: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut part = read(py, like)?.empty_like();
    let spelling = |word: &str| match word {
        "plain" => WholeNumbers::Plain,
        "pointed" => WholeNumbers::Pointed,
        _ => WholeNumbers::AsTyped,
    };
    let spellings = spellings.into_iter().map(|(column, word)| (column, spelling(&word))).collect();
    table.spell(&spellings)?;
    let table = table.open_as("the rows")?;
    let learn = |work: &priory_input::Work<'_>| work.learn(table, &part.statistics);
    let (statistics, _) = if alone { on_this_thread(py, learn)? } else { interruptible(py, learn)? };
    part.statistics = statistics;
    bytes(py, part)
}

/// What a part is of: its target, the column of weights, and the columns of a table that features are read from.
#[pyfunction]
pub(crate) fn columns_of_part(
    py: Python<'_>,
    part: &[u8],
) -> PyResult<(String, Option<String>, Vec<String>)> {
    let learnt = read(py, part)?;
    let schema = learnt.statistics.schema();
    let mut columns: Vec<String> = schema.columns.iter().map(|column| column.source().to_owned()).collect();
    columns.dedup(); // the parts of a date stand side by side
    Ok((schema.target.clone(), schema.weight.clone(), columns))
}

/// How well what a model has learnt predicts the rows of a table, as bytes that can be merged with those of other rows.
#[pyfunction]
pub(crate) fn evaluate_part<'py>(
    py: Python<'py>,
    table: &PyTable,
    model: &Snapshot,
) -> PyResult<Bound<'py, PyBytes>> {
    let table = Mutex::new(Some(table.open_as("the rows")?));
    let open = |_| table.lock().unwrap_or_else(PoisonError::into_inner).take().map(Ok);
    let evaluation = on_this_thread(py, |work| priory_input::evaluate_on(&open, model.learnt(), work))?;
    Ok(PyBytes::new(py, &py.detach(|| evaluation.to_bytes())))
}

/// All of these evaluations as one.
#[pyfunction]
pub(crate) fn merge_evaluations<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| merged(&parts)).map_err(of_core)?;
    Ok(PyBytes::new(py, &merged.to_bytes()))
}

/// What these evaluations come to together: a report as JSON.
#[pyfunction]
pub(crate) fn report_of_evaluations(
    py: Python<'_>,
    parts: Vec<Vec<u8>>,
    cut_offs: Vec<f64>,
) -> PyResult<String> {
    let report = py.detach(|| merged(&parts)?.report_with(&cut_offs)).map_err(of_core)?;
    json(&report)
}

fn merged(parts: &[Vec<u8>]) -> priory::Result<Evaluation> {
    let mut parts = parts.iter().map(|part| Evaluation::from_bytes(part));
    let mut all = parts.next().transpose()?.unwrap_or_default();
    parts.try_for_each(|part| part.map(|part| all.merge(&part)))?;
    Ok(all)
}

/// A sum of parts, to which more can be added. It and the part that is added are all that is in memory.
#[pyclass(module = "priory._priory", frozen)]
#[derive(Default)]
pub(crate) struct PartSum(Mutex<Sum>);

#[derive(Default)]
struct Sum {
    learnt: Option<priory::Learnt>,
    /// Whether any of the parts was judged.
    was_judged: bool,
}

#[pymethods]
impl PartSum {
    #[new]
    fn new() -> Self {
        PartSum::default()
    }

    /// Adds a part. Returns whether its settings are those of the first, which are kept.
    fn add(&self, py: Python<'_>, part: &[u8]) -> PyResult<bool> {
        let part = read(py, part)?;
        py.detach(|| {
            let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            sum.was_judged |= part.is_judged();
            let Some(learnt) = &mut sum.learnt else {
                sum.learnt = Some(part);
                return Ok(true);
            };
            learnt.statistics.check_same_table(&part.statistics)?;
            match learnt.is_judged() || part.is_judged() {
                true => learnt.merge(&part)?,
                // Rows for a judged model are counted as that model counts them, and the judgement is where the model is.
                false => {
                    learnt.statistics.merge(&part.statistics)?;
                    learnt.statistics.check_size()?;
                }
            }
            Ok(learnt.settings == part.settings)
        })
        .map_err(of_core)
    }

    /// The sum as a part.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, self.take()?.0)
    }

    /// The sum as a model, judged if the parts have kept rows for that; and whether it is not, though parts were.
    fn concluded(&self, py: Python<'_>, judge: &str) -> PyResult<(Learnt, bool)> {
        let judging: Judging =
            judge.parse().map_err(|error| PyValueError::new_err(format!("judge={judge:?}: {error}")))?;
        let (mut learnt, was_judged) = self.take()?;
        let is_asked_for = matches!(judging, Judging::Tier(_)) && !learnt.is_judged();
        if learnt.kept_rows().is_some() || is_asked_for {
            py.detach(|| learnt.conclude(judging, threads())).map_err(of_core)?;
        }
        let is_left_unjudged = was_judged && !learnt.is_judged();
        Ok((Learnt::concluded(py, learnt)?, is_left_unjudged))
    }

    /// The sum, to be merged into a model or taken away from one.
    fn learnt(&self) -> PyResult<Learnt> {
        Ok(Learnt::new(self.take()?.0))
    }
}

impl PartSum {
    fn take(&self) -> PyResult<(priory::Learnt, bool)> {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let learnt = sum.learnt.take().ok_or_else(|| PyValueError::new_err("there is no part to merge"))?;
        Ok((learnt, sum.was_judged))
    }
}

/// Reads a part, which may be many megabytes, while other threads of Python go on.
fn read(py: Python<'_>, part: &[u8]) -> PyResult<priory::Learnt> {
    let learnt = py.detach(|| priory::Learnt::read(&part)).map_err(of_core)?;
    match learnt.statistics.half_life() {
        None => Ok(learnt),
        Some(_) => Err(PyValueError::new_err(AGEING)),
    }
}

fn bytes(py: Python<'_>, learnt: priory::Learnt) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| learnt.to_bytes());
    Ok(PyBytes::new(py, &bytes))
}

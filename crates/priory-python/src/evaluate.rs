//! How good a model is.

use priory_input::Split;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::{judging, understand};
use crate::error::of_core;
use crate::interrupt::{Opener, interruptible};
use crate::model::json;
use crate::table::{PyTable, Spellings};

/// How good such a model is at what it has not seen: a report as JSON. `open` gives a table of the rows whenever it is called,
/// and `test` one of others, if the model is to be tested on these.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn evaluate(
    py: Python<'_>,
    open: Py<PyAny>,
    test: Option<Py<PyAny>>,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
    split: Splitting,
    seed: u64,
    cut_offs: Vec<f64>,
) -> PyResult<String> {
    let judging = judging(choices)?.in_the_end();
    let open = Opener::new(open, Spellings::new());
    let look = open.open.bind(py).call0()?;
    let (schema, settings) = understand(&mut look.cast::<PyTable>()?.get().open()?, target, weight, choices)?;
    drop(look);
    let test = test.map(|test| Opener::new(test, Spellings::new()));
    let done = interruptible(py, |work| {
        let Some(test) = &test else {
            let tables = |i| (i == 0).then(|| open.table());
            return priory_input::evaluate(&tables, &schema, &settings, judging, split.0, seed, work);
        };
        let (statistics, _) = work.learn(open.table()?, &judging.start(&schema))?;
        let mut learnt = priory::Learnt::new(statistics, settings.clone());
        learnt.judge(judging, work.threads)?;
        let tables = |i| (i == 0).then(|| test.table());
        priory_input::evaluate_on(&tables, &learnt, work)
    });
    let done = test.map_or(Ok(()), |test| test.check(Ok(()))).and(done);
    json(&open.check(done)?.report_with(&cut_offs).map_err(of_core)?)
}

/// `("folds", k)`, `("holdout", share)` or `("leave-one-out", None)`.
pub(crate) struct Splitting(Split);

impl<'a, 'py> FromPyObject<'a, 'py> for Splitting {
    type Error = PyErr;

    fn extract(words: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (word, amount): (String, Option<f64>) = words.extract()?;
        match (word.as_str(), amount) {
            ("folds", Some(k)) => Ok(Splitting(Split::Folds(k as usize))),
            ("holdout", Some(share)) => Ok(Splitting(Split::Holdout(share))),
            ("leave-one-out", None) => Ok(Splitting(Split::LeaveOneOut)),
            _ => Err(PyValueError::new_err("expected folds, holdout or leave-one-out")),
        }
    }
}

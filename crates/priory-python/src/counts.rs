//! Columns that a database has counted, and the queries that it is asked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use priory::counts::{AddedUp, Counts as Columns, Rest};
use priory::judgement::Judging;
use priory::{Kind, Settings};
use priory_input::{Hints, Sql, Understood};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::{chosen, hints, judging, understand, with_choices};
use crate::error::{of_core, of_input};
use crate::interrupt::interruptible;
use crate::model::Learnt;
use crate::table::PyTable;

/// What was counted so far of columns that are counted one by one.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Counts {
    empty: Columns,
    counted: Mutex<Columns>,
    settings: Settings,
}

#[pymethods]
impl Counts {
    /// Nothing counted yet of the columns of a table of which these are some rows.
    #[staticmethod]
    fn of_rows(look: &PyTable, target: String, choices: &Bound<'_, PyDict>) -> PyResult<Self> {
        check(choices)?;
        let (schema, settings) = understand(&mut look.open()?, target, None, choices)?;
        let empty = Columns::empty(&schema).map_err(refused)?;
        Ok(Counts { counted: Mutex::new(empty.clone()), empty, settings })
    }

    /// Learns a table of counts; the first table has the same rows, to find out what the columns are. Also returns what columns do
    /// not account for.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        look: &PyTable,
        table: &PyTable,
        target: String,
        choices: &Bound<'_, PyDict>,
    ) -> PyResult<(Learnt, Vec<(String, f64)>)> {
        check(choices)?;
        let hints: Hints = hints(target, None, choices)?;
        let mut look = std::iter::once(Ok(look.open_as("counts")?));
        let understood = Understood::of_counts(&mut look, &hints);
        let (schema, settings) = with_choices(understood.map_err(of_input)?, choices)?;
        let empty = Columns::empty(&schema).map_err(refused)?;
        let table = table.open_as("counts")?;
        let read = interruptible(py, |work| work.read_counts(table, &empty))?;
        learnt(py, read.counts, Rest::Missing, settings)
    }

    /// The columns that are counted.
    fn sources(&self) -> Vec<String> {
        self.empty.sources().map(str::to_owned).collect()
    }

    /// The columns whose values are told apart as text.
    fn categories(&self) -> Vec<String> {
        let columns = self.empty.schema().columns.iter();
        columns
            .filter(|column| column.kind == Kind::Category)
            .map(|column| column.source().to_owned())
            .collect()
    }

    /// Counts the values of one of the columns, which stand beside their classes and perhaps how often they occur.
    #[pyo3(signature = (source, table, weight=None))]
    fn observe(&self, py: Python<'_>, source: &str, table: &PyTable, weight: Option<String>) -> PyResult<()> {
        let Some(part) = self.empty.sources().position(|name| name == source) else {
            return Err(PyValueError::new_err(format!("{source:?} is not counted")));
        };
        let table = table.open_as("the database")?;
        let counted =
            interruptible(py, |work| work.count_column(table, &self.empty, part, weight.as_deref()))?;
        self.counted().merge(&counted).map_err(of_core)
    }

    /// What was learnt. Every column accounts for every row.
    fn learnt(&self, py: Python<'_>) -> PyResult<Learnt> {
        let counted = self.counted().clone();
        Ok(learnt(py, counted, Rest::Refused, self.settings.clone())?.0)
    }
}

impl Counts {
    fn counted(&self) -> MutexGuard<'_, Columns> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn learnt(
    py: Python<'_>,
    counted: Columns,
    rest: Rest,
    settings: Settings,
) -> PyResult<(Learnt, Vec<(String, f64)>)> {
    let added = py.detach(|| counted.add_up(rest));
    let AddedUp { statistics, rest } = added.map_err(|error| match (&error, rest) {
        (priory::Error::ColumnTotal { .. }, Rest::Refused) => PyValueError::new_err(format!(
            "the rows have changed while they were counted: {error}; count them in one transaction"
        )),
        _ => of_core(error),
    })?;
    Ok((Learnt::concluded(py, priory::Learnt::new(statistics, settings))?, rest))
}

/// Refuses what makes no sense where values are counted and rows are not known.
fn check(choices: &Bound<'_, PyDict>) -> PyResult<()> {
    let wrong = |what: &str| Err(PyValueError::new_err(what.to_owned()));
    if chosen::<u64>(choices, "half_life")?.is_some() {
        return wrong("half_life: rows age one after the other, and counts do not tell their order");
    }
    match judging(choices)? {
        Judging::None | Judging::Auto => Ok(()),
        Judging::Tier(_) | Judging::Later => wrong(
            "judge: counts are not rows, by which one could judge; judge_again(X, y) judges the model by the rows",
        ),
    }
}

/// A column that cannot be counted value by value, and what to do about it.
fn refused(error: priory::Error) -> PyErr {
    match &error {
        priory::Error::NotByValue { column, kind: Kind::Text } => PyValueError::new_err(format!(
            "{error}: kinds={{{column:?}: \"ignore\"}}, or \"category\" if its values are few"
        )),
        _ => of_core(error),
    }
}

/// Queries about the rows of a table, or of a query.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Queries(Sql);

#[pymethods]
impl Queries {
    #[staticmethod]
    fn of_table(dialect: &str, parts: Vec<String>) -> PyResult<Self> {
        let dialect = dialect.parse().map_err(|error| PyValueError::new_err(format!("dialect: {error}")))?;
        Sql::of_table(dialect, &parts).map(Queries).map_err(of_input)
    }

    #[staticmethod]
    fn of_query(dialect: &str, query: &str) -> PyResult<Self> {
        let dialect = dialect.parse().map_err(|error| PyValueError::new_err(format!("dialect: {error}")))?;
        Ok(Queries(Sql::of_query(dialect, query)))
    }

    fn first_rows(&self, rows: usize) -> String {
        self.0.first_rows(rows)
    }

    fn distinct(&self, columns: Vec<String>, rows: usize) -> PyResult<String> {
        self.0.distinct(&columns, rows).map_err(of_input)
    }

    fn counts(&self, target: &str, column: &str, count: &str, texts: Vec<String>) -> PyResult<String> {
        self.0.counts(target, column, count, &texts).map_err(of_input)
    }

    fn rows(&self, target: &str, column: &str) -> PyResult<String> {
        self.0.rows(target, column).map_err(of_input)
    }
}

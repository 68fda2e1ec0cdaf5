//! A few rows, quickly: without a table, other threads, or the chance to interrupt.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use numpy::{IntoPyArray, PyArrayMethods};
use priory_input::{BadValues, ReadOptions, RowReader, RowValue, WholeNumbers};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::answers::{best, numbers};
use crate::arrays::Dense;
use crate::error::{of_core, of_input};
use crate::model::State;
use crate::scores::Wanted;

/// Reads and scores a few rows. What it cannot read at once, such as dates, is left to the way that tables take.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct FewRows {
    /// Not kept alive by this: whoever learns more rows would have to copy it.
    state: Weak<State>,
    /// The names of the columns that the model uses.
    names: Vec<Py<PyString>>,
    /// Where they stand in a row without names.
    places: Vec<Option<usize>>,
    whole_numbers: Vec<WholeNumbers>,
    options: ReadOptions,
    /// Readers that no thread uses at the moment.
    readers: Mutex<Vec<RowReader>>,
}

impl FewRows {
    /// Rows without names have columns of these names.
    pub(crate) fn new(
        py: Python<'_>,
        state: &Arc<State>,
        names: &[String],
        tolerant: bool,
    ) -> PyResult<Self> {
        let columns = &state.model().map_err(of_core)?.schema().columns;
        let spelling = |name: &String| state.spellings().get(name).copied().unwrap_or_default();
        Ok(FewRows {
            names: columns.iter().map(|column| PyString::new(py, column.source()).unbind()).collect(),
            places: columns
                .iter()
                .map(|column| names.iter().position(|name| name == column.source()))
                .collect(),
            whole_numbers: columns.iter().map(|column| spelling(&column.name)).collect(),
            options: ReadOptions {
                bad_values: if tolerant { BadValues::Missing } else { BadValues::Refused },
                ..ReadOptions::default()
            },
            readers: Mutex::new(Vec::new()),
            state: Arc::downgrade(state),
        })
    }

    /// Reads rows and answers; `None` if they cannot be read at once, or the model has learnt something else since.
    fn answer<R>(
        &self,
        read: impl FnOnce(&mut RowReader) -> PyResult<bool>,
        answer: impl FnOnce(&priory::Scores) -> R,
    ) -> PyResult<Option<R>> {
        let Some(state) = self.state.upgrade() else { return Ok(None) };
        let model = state.model().map_err(of_core)?;
        let spare = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = spare().pop();
        let mut reader = match known {
            Some(reader) => reader,
            None => {
                let (schema, whole_numbers) = (model.schema(), self.whole_numbers.clone());
                RowReader::new("X", schema, model.batch(), whole_numbers, &self.options).map_err(of_input)?
            }
        };
        reader.clear();
        // A reader that has failed stands in the middle of a row, and is given up.
        let answer = match read(&mut reader)? {
            true => Some(answer(&model.score(reader.batch()).map_err(of_core)?)),
            false => None,
        };
        spare().push(reader);
        Ok(answer)
    }

    /// Reads one row. Returns how many columns it has values for, if they can be read at once.
    fn read_dict(&self, reader: &mut RowReader, row: &Bound<'_, PyDict>) -> PyResult<Option<usize>> {
        let mut found = 0;
        for (column, name) in self.names.iter().enumerate() {
            let value = row.get_item(name)?;
            found += usize::from(value.is_some());
            let Some(cell) = value.as_ref().map_or(Ok(Some(RowValue::Missing)), cell)? else {
                return Ok(None);
            };
            reader.push(column, cell).map_err(of_input)?;
        }
        reader.end_row();
        Ok(Some(found))
    }
}

#[pymethods]
impl FewRows {
    /// Of a row, whether it has all columns, and what is wanted of the scores of each class, or the most probable class. `None` if
    /// the row has none of the columns, or what cannot be read at once.
    #[pyo3(signature = (row, wanted=None))]
    fn of_dict<'py>(
        &self,
        py: Python<'py>,
        row: &Bound<'py, PyDict>,
        wanted: Option<Wanted>,
    ) -> PyResult<Option<(bool, Bound<'py, PyAny>)>> {
        let mut found = 0;
        let read = |reader: &mut RowReader| {
            found = self.read_dict(reader, row)?.unwrap_or(0);
            Ok(found > 0)
        };
        let answer = self.answer(read, |scores| match &wanted {
            Some(wanted) => numbers(scores, wanted).into_pyobject(py),
            None => scores.best(0).into_pyobject(py).map(Bound::into_any).map_err(Into::into),
        })?;
        Ok(answer.transpose()?.map(|answer| (found == self.names.len(), answer)))
    }

    /// What is wanted of the scores of the rows of a matrix, or the most probable classes. `None` as above.
    #[pyo3(signature = (rows, wanted=None))]
    fn of_array<'py>(
        &self,
        py: Python<'py>,
        rows: Dense<'py>,
        wanted: Option<Wanted>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let view = rows.view();
        let (count, width) = view.shape();
        let mut buffer = Vec::new();
        let values = view.block(0..count, &mut buffer);
        let read = |reader: &mut RowReader| {
            for row in values.chunks_exact(width.max(1)) {
                for (column, place) in self.places.iter().enumerate() {
                    let cell = place
                        .and_then(|place| row.get(place))
                        .map_or(RowValue::Missing, |&x| RowValue::Number(x));
                    reader.push(column, cell).map_err(of_input)?;
                }
                reader.end_row();
            }
            Ok(true)
        };
        let answer = self.answer(read, |scores| match &wanted {
            Some(wanted) => numbers(scores, wanted)
                .into_pyarray(py)
                .reshape([count, scores.row(0).len()])
                .map(Bound::into_any),
            None => Ok(best(scores).into_pyarray(py).into_any()),
        })?;
        answer.transpose()
    }
}

/// A value as the reader takes it; `None` if it is of a type that takes longer to understand.
fn cell<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Option<RowValue<'a>>> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Some(RowValue::Number(number.value())));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(RowValue::Text(text.to_str()?)));
    }
    if value.is_none() {
        return Ok(Some(RowValue::Missing));
    }
    if let Some(cell) = whole(value) {
        return Ok(Some(cell));
    }
    // NumPy's whole numbers and truth values are none of Python's.
    let item = value.call_method0(intern!(value.py(), "item")).ok();
    Ok(item.and_then(|item| whole(&item)))
}

fn whole(value: &Bound<'_, PyAny>) -> Option<RowValue<'static>> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Some(RowValue::Boolean(truth.is_true()));
    }
    value.cast::<PyInt>().ok()?.extract().ok().map(RowValue::Integer)
}

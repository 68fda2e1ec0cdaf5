//! Sheets of spreadsheets.

use priory_input::{SheetColumns, SheetRemark};
use pyo3::prelude::*;

use crate::error::of_input;

/// The names of columns, with their values from top to bottom.
type Columns = Vec<(String, Vec<Option<String>>)>;

/// The columns of a sheet by name, `None` where a cell is empty, and what is to be said of it.
#[pyfunction]
pub(crate) fn read_sheet(
    py: Python<'_>,
    path: &str,
    sheet: Option<&str>,
) -> PyResult<(Columns, Vec<String>)> {
    let read = py.detach(|| SheetColumns::read(path, sheet)).map_err(of_input)?;
    let known = |value: String| (!value.is_empty()).then_some(value);
    let columns = read.columns.into_iter();
    let columns = columns.map(|(name, values)| (name, values.into_iter().map(known).collect()));
    let remark = |remark: &SheetRemark| match remark {
        SheetRemark::First { .. } => format!("{path}: {remark}; sheet= names another"),
        other => format!("{path}: {other}"),
    };
    Ok((columns.collect(), read.remarks.iter().map(remark).collect()))
}

//! Errors of the libraries as Python's exceptions.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

pub(crate) fn of_core(error: priory::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn of_input(error: priory_input::Error) -> PyErr {
    use priory_input::Error;
    match error {
        Error::File { name, action, cause } => match cause.raw_os_error() {
            // With a number, Python finds the right kind of OSError.
            Some(number) => PyOSError::new_err((number, format!("cannot be {action}"), name)),
            None => PyOSError::new_err(format!("{name}: cannot be {action}: {cause}")),
        },
        // A table in memory has no name that a message would have to begin with.
        Error::NoNumber { row, ref column, ref value, .. } => PyValueError::new_err(format!(
            "row {row}, column {column}: {value} is not a number; kinds={{{name:?}: \"category\"}} has the column read as \
             categories, on_bad_value=\"missing\" such values as missing",
            name = column.trim_matches('`')
        )),
        Error::Infinite { .. } => {
            PyValueError::new_err(format!("{error}, or read as missing with on_bad_value=\"missing\""))
        }
        Error::Nested { ref column, .. } | Error::ColumnType { ref column, .. } => {
            let name = column.trim_matches('`');
            PyValueError::new_err(format!("{error}; kinds={{{name:?}: \"ignore\"}} leaves it out"))
        }
        Error::EmptySheet { .. } => PyValueError::new_err(format!("{error}; sheet= names another")),
        Error::NumberTarget { .. } => PyValueError::new_err(format!("{error}; bins=4 cuts it into four")),
        Error::Use { name, cause } if name.is_empty() => of_core(cause),
        other => PyValueError::new_err(other.to_string()),
    }
}

//! How to say on the command line what the libraries only name.

use priory::infer::Hint;
use priory_input::Error;

/// What could be done about an error of a table, to follow its message; nothing if nobody knows.
pub(crate) fn about_error(error: &anyhow::Error) -> String {
    let Some(error) = error.chain().last().and_then(|cause| cause.downcast_ref::<Error>()) else {
        return String::new();
    };
    match error {
        Error::NotUtf8 { .. } => latin1(),
        Error::Row { what, .. } if what == "is not valid UTF-8" => latin1(),
        Error::Nested { column, .. } | Error::ColumnType { column, .. } => {
            format!("; leave it out with --ignore {}", column.trim_matches('`'))
        }
        Error::NoNumber { column, .. } => format!(
            "; read the column with --as {}=category, or such values with --on-bad-value missing",
            column.trim_matches('`')
        ),
        Error::Infinite { .. } => ", or read as missing with --on-bad-value missing".to_owned(),
        _ => String::new(),
    }
}

fn latin1() -> String {
    "; if the table is in Latin-1, say --encoding latin1".to_owned()
}

/// What else a column might be, and how to have it so.
pub(crate) fn about_column(name: &str, hint: &Hint) -> String {
    match hint {
        Hint::Keep(kind) => format!("--as {name}={} keeps it", kind.name()),
        Hint::Codes { values } => format!("{values} whole numbers; --as {name}=category if they are codes"),
        Hint::Numbers { odd, rows } => {
            format!(
                "all but {odd} of {rows} are numbers; --as {name}=number --on-bad-value missing reads it so"
            )
        }
        Hint::Identifiers { values, rows } => {
            format!("{values} values in {rows} rows; --ignore {name} if they are identifiers")
        }
    }
}

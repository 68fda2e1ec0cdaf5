//! How to say on the command line what the libraries only name.

use priory::Kind;
use priory::infer::{DateTrouble, Hint, Mixture};
use priory::schema::MISSING_SPELLINGS;
use priory_input::{Error, SheetRemark};

use crate::output::quoted;

/// What could be done about an error of a table, to follow its message; nothing if nobody knows.
pub(crate) fn about_error(error: &anyhow::Error) -> String {
    let Some(cause) = error.chain().last() else { return String::new() };
    if let Some(priory::Error::NotByValue { column, kind: Kind::Text }) = cause.downcast_ref() {
        let (ignored, category) = (quoted(column), as_kind(column, "category"));
        return format!(": --ignore {ignored}, or {category} if its values are few");
    }
    let Some(error) = cause.downcast_ref::<Error>() else { return String::new() };
    match error {
        Error::NotUtf8 { .. } => latin1(),
        Error::Row { what, .. } if what == "is not valid UTF-8" => latin1(),
        Error::Row { what, .. } if what.ends_with("say how many columns there are") => {
            " with --columns".to_owned()
        }
        Error::Nested { column, .. } | Error::ColumnType { column, .. } => {
            format!("; leave it out with --ignore {}", quoted(column.trim_matches('`')))
        }
        Error::NoNumber { column, .. } => format!(
            "; read the column with --as {}, or such values with --on-bad-value missing",
            quoted(&format!("{}=category", column.trim_matches('`')))
        ),
        Error::NoSuchColumn { delimiter: Some(delimiter), .. } => {
            let delimiter = if *delimiter == '\t' { String::from("\\t") } else { delimiter.to_string() };
            format!("; if that separates its fields, say --delimiter '{delimiter}'")
        }
        Error::Dates { column, trouble: DateTrouble::Open { .. } } => {
            let (days, months) = (as_kind(column, "date:dmy"), as_kind(column, "date:mdy"));
            format!("; {days} or {months} says which")
        }
        Error::NumberTarget { target, .. } => format!(
            "; --bins 4 cuts it into four, {} takes every number as a class",
            as_kind(target, "category")
        ),
        Error::NotZeroAndOne { column, .. } => {
            let (number, category) = (as_kind(column, "number"), as_kind(column, "category"));
            format!("; {number} if they are numbers, {category} if they are codes")
        }
        Error::NoNumbers { column } => {
            let (category, name) = (as_kind(column, "category"), quoted(column.trim_matches('`')));
            format!("; read it with {category}, or leave it out with --ignore {name}")
        }
        Error::NoDate { column, .. } => format!(
            "; read the column with {}, or such values with --on-bad-value missing",
            as_kind(column, "category")
        ),
        Error::MixedNumbers { mixture, .. } => format!("; {}", about_mixture(mixture)),
        Error::EmptySheet { .. } => "; --sheet names another".to_owned(),
        Error::Infinite { .. } => ", or read as missing with --on-bad-value missing".to_owned(),
        _ => String::new(),
    }
}

/// How another sheet is read.
pub(crate) fn about_sheet(remark: &SheetRemark) -> &'static str {
    match remark {
        SheetRemark::First { .. } => "; --sheet names another",
        _ => "",
    }
}

/// `--as COLUMN=KIND`, for a column as messages name it.
fn as_kind(column: &str, kind: &str) -> String {
    format!("--as {}", quoted(&format!("{}={kind}", column.trim_matches('`'))))
}

fn latin1() -> String {
    "; if the table is in Latin-1, say --encoding latin1".to_owned()
}

/// What could be done about numbers that are not written alike.
fn about_mixture(mixture: &Mixture) -> &'static str {
    match mixture {
        Mixture::Open { .. } => "--decimal point or --decimal comma says which",
        Mixture::Marks { .. } | Mixture::Currencies { .. } | Mixture::Percentages { .. } => {
            "write all of them alike"
        }
    }
}

/// What else a column might be, and how to have it so.
pub(crate) fn about_column(name: &str, hint: &Hint) -> String {
    let taken_as = |kind: &str| format!("--as {}", quoted(&format!("{name}={kind}")));
    match hint {
        Hint::Keep(kind) => format!("{} keeps it", taken_as(kind.name())),
        Hint::Codes { values } => {
            format!("{values} whole numbers; {} if they are codes", taken_as("category"))
        }
        Hint::Numbers { odd, rows } => {
            format!(
                "all but {odd} of {rows} are numbers; {} --on-bad-value missing reads it so",
                taken_as("number")
            )
        }
        Hint::Missing { values } => {
            let usual = MISSING_SPELLINGS.iter().copied();
            let all: Vec<&str> = usual.chain(values.iter().map(String::as_str)).collect();
            let values = values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
            format!("{values} as a value; --missing '{}' if that means missing", all.join(","))
        }
        Hint::Dates(trouble) => {
            let (days, months) = (taken_as("date:dmy"), taken_as("date:mdy"));
            format!("dates, but {trouble}; {days} or {months} says which")
        }
        Hint::Mixed(mixture) => {
            format!("values like numbers, but {mixture}; {}", about_mixture(mixture))
        }
        Hint::Sentences => {
            format!("sentences that share words; {} reads them word by word", taken_as("text"))
        }
        Hint::Identifiers { values, rows } => {
            format!("{values} values in {rows} rows; --ignore {} if they are identifiers", quoted(name))
        }
    }
}

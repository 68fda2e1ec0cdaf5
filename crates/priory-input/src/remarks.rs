//! What is to be said of a sheet that could be read.

use std::fmt;

use crate::error::{shown, shown_list};

/// What is to be known of a sheet that was read, beside its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SheetRemark {
    /// It is the first of several sheets, and nobody has said which one is meant.
    First {
        /// The sheet.
        sheet: String,
        /// All of them.
        sheets: Vec<String>,
    },
    /// Rows above the header, each with a single value, were passed over.
    Titles {
        /// Which row the header is.
        header: u32,
        /// The first of the values.
        first: String,
    },
    /// Values outside the columns of the header were passed over.
    Beside {
        /// How many.
        values: u64,
        /// Where the first of them is, as spreadsheets call it.
        first: String,
    },
}

impl fmt::Display for SheetRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SheetRemark::First { sheet, sheets } => {
                write!(f, "{} is the first of {} sheets: {}", shown(sheet), sheets.len(), shown_list(sheets))
            }
            SheetRemark::Titles { header, first } => {
                write!(
                    f,
                    "row {header} of the sheet is the header; what is above it is not read: {}",
                    shown(first)
                )
            }
            SheetRemark::Beside { values: 1, first } => {
                write!(f, "the value in {first} is not read: it is beside the columns of the header")
            }
            SheetRemark::Beside { values, first } => {
                write!(
                    f,
                    "{values} values are not read, {first} first: they are beside the columns of the header"
                )
            }
        }
    }
}

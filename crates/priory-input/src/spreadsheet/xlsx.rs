//! Workbooks of Excel: Office Open XML.

use std::fs::File;
use std::io::BufReader;

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError};

use crate::error::{Error, Result};
use crate::guarded::damaged;
use crate::remarks::SheetRemark;
use crate::spreadsheet::grid::Grid;
use crate::spreadsheet::{FORMAT, choose, days, number, truth};

/// Hands the rows of a sheet to `each`.
pub(super) fn read(
    name: &str,
    workbook: &File,
    wanted: Option<&str>,
    each: &mut dyn FnMut(&[String]) -> Result<()>,
) -> Result<Vec<SheetRemark>> {
    let refused = |error: XlsxError| match error {
        XlsxError::Password => Error::NotText {
            name: name.into(),
            what: "a spreadsheet with a password; save it without one, or as CSV",
        },
        error => damaged(name, FORMAT, &error),
    };
    let mut workbook: Xlsx<_> = Xlsx::new(BufReader::new(workbook)).map_err(refused)?;
    let sheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets: Vec<(String, bool)> =
        sheets.map(|sheet| (sheet.name.clone(), sheet.visible == SheetVisible::Visible)).collect();
    let (chosen, remark) = choose(name, &sheets, wanted)?;
    let mut cells = workbook.worksheet_cells_reader(&sheets[chosen].0).map_err(refused)?;
    let mut grid = Grid::new(name, each);
    let mut text = String::new();
    while let Some(cell) = cells.next_cell().map_err(refused)? {
        let (row, column) = cell.get_position();
        text.clear();
        write(cell.get_value(), &mut text);
        grid.cell(row, column as usize, &text)?;
    }
    Ok(remark.into_iter().chain(grid.end()?).collect())
}

/// What a cell holds, as text.
fn write(value: &DataRef<'_>, text: &mut String) {
    match value {
        DataRef::Empty => {}
        DataRef::Int(whole) => text.push_str(&whole.to_string()),
        DataRef::Float(value) => text.push_str(&number(*value)),
        DataRef::String(value) | DataRef::DateTimeIso(value) => text.push_str(value),
        DataRef::SharedString(value) => text.push_str(value),
        DataRef::Bool(value) => text.push_str(truth(*value)),
        DataRef::DateTime(when) => write_date(when, text),
        DataRef::DurationIso(duration) => match days(duration) {
            Some(days) => text.push_str(&number(days)),
            None => text.push_str(duration),
        },
        DataRef::Error(error) => text.push_str(&error.to_string()),
    }
}

/// A date and a time; durations and times of the day are shares of days.
fn write_date(when: &ExcelDateTime, text: &mut String) {
    use std::fmt::Write;
    /// The first of January 10000, before which Excel's calendar ends.
    const END: f64 = 2_958_466.0;
    if when.is_duration() || !(1.0..END).contains(&when.as_f64()) {
        text.push_str(&number(when.as_f64()));
        return;
    }
    let (year, month, day, hour, minute, second, millisecond) = when.to_ymd_hms_milli();
    // Writing to a string cannot fail.
    let _ = write!(text, "{year:04}-{month:02}-{day:02}");
    if (hour, minute, second, millisecond) != (0, 0, 0, 0) {
        let _ = write!(text, "T{hour:02}:{minute:02}:{second:02}");
    }
    if millisecond != 0 {
        let _ = write!(text, ".{millisecond:03}");
    }
}

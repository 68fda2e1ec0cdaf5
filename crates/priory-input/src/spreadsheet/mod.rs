//! Spreadsheets: the rows of one sheet of an `.xlsx` or `.ods` file.
//!
//! They are written into a temporary file as delimited text, as if somebody had saved the sheet as CSV, and read from there like
//! any other table. So the columns of a sheet are understood as those of text are, and memory does not grow with the sheet.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use zip::ZipArchive;

use crate::error::{Error, Result, shown, shown_list};
use crate::format::InputFormat;
use crate::guarded::{damaged, guarded};
use crate::remarks::SheetRemark;
use crate::table::distinct_names;

mod bomb;
mod grid;
mod ods;
mod xlsx;

const FORMAT: &str = "spreadsheet";

/// How an archive begins, and an old Office document.
const ZIP: &[u8] = b"PK\x03\x04";
const OLD: &[u8] = b"\xd0\xcf\x11\xe0";

/// How much text a sheet may hold, so that a small file cannot fill the disk.
const MOST_TEXT: u64 = 2 << 30;

/// A sheet as delimited text.
pub(crate) struct SheetText {
    /// The text, from its beginning on.
    pub(crate) file: File,
    pub(crate) size: u64,
    pub(crate) remarks: Vec<SheetRemark>,
}

/// Whether this file, of which nothing was read yet, is read as a spreadsheet.
pub(crate) fn is_meant(file: &mut File, format: Option<InputFormat>) -> bool {
    let mut beginning = Vec::new();
    let read = file.take(4).read_to_end(&mut beginning).and_then(|_| file.rewind());
    match format {
        Some(format) => format == InputFormat::Spreadsheet,
        None => read.is_ok() && beginning == ZIP,
    }
}

/// Writes a sheet as delimited text: the one of this name or number, or else the first.
pub(crate) fn to_text(name: &str, workbook: File, sheet: Option<&str>) -> Result<SheetText> {
    let failed = |action| move |cause| Error::File { name: name.into(), action, cause };
    let mut written = 0;
    let mut text = BufWriter::new(tempfile::tempfile().map_err(failed("written as text"))?);
    let mut line = Vec::new();
    let remarks = read(name, &workbook, sheet, &mut |row| {
        line.clear();
        write_row(row, &mut line);
        written += line.len() as u64;
        if written > MOST_TEXT {
            return Err(Error::SheetTooLarge { name: name.into(), limit: MOST_TEXT });
        }
        text.write_all(&line).map_err(failed("written as text"))
    })?;
    if written == 0 {
        return Err(empty(name, remarks));
    }
    let file = text.into_inner().map_err(|error| failed("written as text")(error.into_error()));
    let mut file = file?;
    file.rewind().map_err(failed("read"))?;
    Ok(SheetText { file, size: written, remarks })
}

/// A sheet in memory: each column with its name and its values, which are empty where a cell is, and what is to be said of it.
#[derive(Debug, Clone, Default)]
pub struct SheetColumns {
    /// The columns, in their order; of equal names the later ones have a number.
    pub columns: Vec<(String, Vec<String>)>,
    /// What was passed over, and whether there are other sheets.
    pub remarks: Vec<SheetRemark>,
}

impl SheetColumns {
    /// Reads the sheet of this name or number, or else the first, of an `.xlsx` or `.ods` file.
    ///
    /// # Errors
    /// If the file cannot be read, is no spreadsheet, or has no such sheet.
    pub fn read(path: &str, sheet: Option<&str>) -> Result<SheetColumns> {
        let opened = File::open(path);
        let workbook = opened.map_err(|cause| Error::File { name: path.into(), action: "opened", cause })?;
        let mut header = Vec::new();
        let mut values: Vec<Vec<String>> = Vec::new();
        let mut bytes = 0;
        let remarks = read(path, &workbook, sheet, &mut |row| {
            bytes += row.iter().map(|value| value.len() as u64 + 1).sum::<u64>();
            if bytes > MOST_TEXT {
                return Err(Error::SheetTooLarge { name: path.into(), limit: MOST_TEXT });
            }
            if header.is_empty() {
                header = row.to_vec();
                values = vec![Vec::new(); row.len()];
            } else {
                values.iter_mut().zip(row).for_each(|(column, value)| column.push(value.clone()));
            }
            Ok(())
        })?;
        if header.is_empty() {
            return Err(empty(path, remarks));
        }
        let (names, _) = distinct_names(header);
        Ok(SheetColumns { columns: names.into_iter().zip(values).collect(), remarks })
    }
}

fn empty(name: &str, remarks: Vec<SheetRemark>) -> Error {
    match remarks.into_iter().next() {
        Some(SheetRemark::First { sheet, sheets }) => {
            Error::EmptySheet { name: name.into(), sheet: shown(&sheet), sheets: shown_list(&sheets) }
        }
        _ => Error::Empty { name: name.into() },
    }
}

/// Hands the header and the rows of a sheet to `each`, as text.
fn read(
    name: &str,
    workbook: &File,
    sheet: Option<&str>,
    each: &mut dyn FnMut(&[String]) -> Result<()>,
) -> Result<Vec<SheetRemark>> {
    let refused = |what| Err(Error::NotText { name: name.into(), what });
    let failed = |cause| Error::File { name: name.into(), action: "read", cause };
    let mut beginning = Vec::new();
    let mut start = workbook;
    start.take(4).read_to_end(&mut beginning).and_then(|_| start.rewind()).map_err(failed)?;
    if beginning == OLD {
        return refused(
            "an old Office document, or one with a password; save it as .xlsx without one, or as CSV",
        );
    } else if beginning != ZIP {
        return refused("no spreadsheet in .xlsx or .ods");
    }
    guarded(name, FORMAT, || {
        let size = workbook.metadata().map_err(failed)?;
        let mut archive =
            ZipArchive::new(BufReader::new(workbook)).map_err(|error| damaged(name, FORMAT, &error))?;
        let kind = Kind::of(name, &mut archive)?;
        bomb::refuse(name, &mut archive, size.len())?;
        match kind {
            Kind::Excel => xlsx::read(name, workbook, sheet, each),
            Kind::OpenDocument => ods::read(name, archive, sheet, each),
        }
    })
}

/// What kind of workbook an archive is.
enum Kind {
    Excel,
    OpenDocument,
}

impl Kind {
    fn of<R: Read + Seek>(name: &str, archive: &mut ZipArchive<R>) -> Result<Kind> {
        let refused = |what| Err(Error::NotText { name: name.into(), what });
        let names: Vec<String> =
            archive.file_names_raw().map(|part| String::from_utf8_lossy(part).to_lowercase()).collect();
        let has = |part: &str| names.iter().any(|name| name == part);
        if has("[content_types].xml") {
            let in_folder = |folder: &str| names.iter().any(|name| name.starts_with(folder));
            return match () {
                () if names.iter().any(|name| name.ends_with("/workbook.bin")) => {
                    refused("a binary workbook (.xlsb); save it as .xlsx or CSV")
                }
                () if in_folder("word/") || in_folder("ppt/") => {
                    refused("an Office document, but not a spreadsheet")
                }
                () => Ok(Kind::Excel),
            };
        }
        if has("content.xml") && has("mimetype") {
            let mut kind = Vec::new();
            let part = archive.by_name("mimetype").map_err(|error| damaged(name, FORMAT, &error))?;
            part.take(200).read_to_end(&mut kind).map_err(|error| damaged(name, FORMAT, &error))?;
            // Templates count as well.
            return match kind.starts_with(b"application/vnd.oasis.opendocument.spreadsheet") {
                true => Ok(Kind::OpenDocument),
                false => refused("an OpenDocument file, but not a spreadsheet"),
            };
        }
        refused("a zip file and not a spreadsheet; unpack it")
    }
}

/// Which of these sheets is meant, of which some may be hidden, and what should be said about that.
fn choose(
    name: &str,
    sheets: &[(String, bool)],
    wanted: Option<&str>,
) -> Result<(usize, Option<SheetRemark>)> {
    let names = || sheets.iter().map(|(sheet, _)| sheet.clone()).collect::<Vec<String>>();
    let Some(wanted) = wanted else {
        let visible: Vec<usize> = (0..sheets.len()).filter(|&i| sheets[i].1).collect();
        let first = visible.first().copied().or((!sheets.is_empty()).then_some(0));
        let first = first.ok_or_else(|| damaged(name, FORMAT, &"it has no sheets"))?;
        let remark = || SheetRemark::First {
            sheet: sheets[first].0.clone(),
            sheets: visible.iter().map(|&i| sheets[i].0.clone()).collect(),
        };
        return Ok((first, (visible.len() > 1).then(remark)));
    };
    let named = sheets.iter().position(|(sheet, _)| sheet == wanted);
    let number = || wanted.parse::<usize>().ok().filter(|number| (1..=sheets.len()).contains(number));
    let found = named.or_else(|| number().map(|number| number - 1));
    found.map(|found| (found, None)).ok_or_else(|| Error::NoSuchSheet {
        name: name.into(),
        sheet: shown(wanted),
        sheets: shown_list(&names()),
    })
}

/// A row as a line of delimited text.
fn write_row(fields: &[String], line: &mut Vec<u8>) {
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            line.push(b',');
        }
        // What begins with a byte order mark is quoted as well, since a file that does is taken to have one.
        if field.contains([',', '"', '\n', '\r', '\u{feff}']) {
            line.push(b'"');
            line.extend(field.replace('"', "\"\"").as_bytes());
            line.push(b'"');
        } else {
            line.extend(field.as_bytes());
        }
    }
    line.push(b'\n');
}

/// A number as text would have it: with the digits that it takes to mean the very number, and without an exponent unless it is
/// very large or small.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e-7..1e17 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// The days of a duration in ISO 8601, such as `PT14H03M07.5S`.
fn days(duration: &str) -> Option<f64> {
    let (sign, rest) = match duration.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, duration),
    };
    let (mut seconds, mut number, mut is_time) = (0.0, String::new(), false);
    for sign in rest.strip_prefix('P')?.chars() {
        match (sign, is_time) {
            ('0'..='9' | '.', _) => number.push(sign),
            ('T', false) if number.is_empty() => is_time = true,
            _ => {
                let unit = match (sign, is_time) {
                    ('D', false) => 86_400.0,
                    ('H', true) => 3_600.0,
                    ('M', true) => 60.0,
                    ('S', true) => 1.0,
                    // Months and years have no fixed number of days.
                    _ => return None,
                };
                seconds += unit * number.parse::<f64>().ok()?;
                number.clear();
            }
        }
    }
    number.is_empty().then(|| sign * seconds / 86_400.0)
}

#[cfg(test)]
mod tests;

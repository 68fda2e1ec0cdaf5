//! A table that was opened: its header, and what can be done with it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memchr;
use priory::{Schema, Stored};

use crate::csv::{Flaw, first_record, unquoted};
use crate::delimited;
use crate::error::{Error, Result, shown, shown_list};
use crate::reader::{BadValues, Batches, Reader};
use crate::sample::{ColumnInfo, Sample};
use crate::source::{Limits, Source};

/// How a table is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The character between fields. If none is given, it is a tab for files named `.tsv` or `.tab` and for tables
    /// whose first line has a tab and no comma, otherwise a comma.
    pub delimiter: Option<u8>,
    /// What to do with words in a column of numbers.
    pub bad_values: BadValues,
}

/// What the rows are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be learnt, forgotten or judged: target, weight and every feature must be there.
    Learning,
    /// To be scored: target and weight are not looked at, and a feature that is not there is missing in every row.
    Scoring,
}

/// An opened table of which the header was read.
///
/// The table is UTF-8 text with a header line; quotes are those of RFC 4180. Lines end with a line feed, with or
/// without a carriage return; the last one need not end. Blank lines at the end of the table are ignored. Elsewhere
/// a blank line is an empty value if the table has a single column, and is skipped and not counted if it has more.
pub struct Table {
    source: Source,
    options: ReadOptions,
    delimiter: u8,
    header: Vec<String>,
}

impl Table {
    /// Opens a file, or the standard input if the path is `-`.
    ///
    /// # Errors
    /// If the file cannot be read, is not a table of UTF-8 text, or has no header with distinct names.
    pub fn open(path: &str, options: &ReadOptions) -> Result<Table> {
        if path == "-" {
            return Table::from_reader("standard input", io::stdin(), options);
        }
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) =
            opened.map_err(|cause| Error::File { name: path.into(), action: "opened", cause })?;
        let size = metadata.is_file().then_some(metadata.len());
        let delimiter = options.delimiter.or_else(|| has_tab_extension(path).then_some(b'\t'));
        let source = Source::new(path.into(), size, Box::new(file), Limits::USUAL)?;
        Table::new(source, &ReadOptions { delimiter, ..*options })
    }

    /// A table from anything that can be read; messages call it `name`.
    ///
    /// # Errors
    /// Like [`Table::open`].
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Table> {
        let source = Source::new(name.into(), None, Box::new(reader), Limits::USUAL)?;
        Table::new(source, options)
    }

    fn new(mut source: Source, options: &ReadOptions) -> Result<Table> {
        skip_byte_order_mark(&mut source)?;
        let delimiter = options.delimiter.unwrap_or_else(|| likely_delimiter(source.beginning()));
        if !delimiter.is_ascii() || b"\"\r\n\0".contains(&delimiter) {
            return Err(Error::Delimiter { delimiter: delimiter.into() });
        }
        let header = read_header(&mut source, delimiter)?;
        Ok(Table { source, options: *options, delimiter, header })
    }

    /// The path, or what else the table is called.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The columns, and how they are stored.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        let columns = self.header.iter();
        columns.map(|name| ColumnInfo { name: name.clone(), stored: Stored::Text }).collect()
    }

    /// The first rows as text, at most so many and from a few megabytes at most. They will be read again.
    ///
    /// # Errors
    /// If one of them is not right.
    pub fn sample(&mut self, rows: usize) -> Result<Sample> {
        delimited::sample(&mut self.source, self.delimiter, &self.header, rows)
    }

    /// How the table is read.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Gets ready to read the columns of this schema, on any number of threads. They are found by name, in any order;
    /// other columns are passed over.
    ///
    /// # Errors
    /// If a column that the purpose needs is not in the header.
    pub fn reader(self, schema: &Schema, purpose: Purpose) -> Result<Reader> {
        Reader::new(self, schema, purpose)
    }

    /// Gets ready to read the columns of this schema, batch after batch.
    ///
    /// # Errors
    /// As for [`reader`](Self::reader).
    pub fn batches(self, schema: &Schema, purpose: Purpose) -> Result<Batches> {
        Ok(Batches::new(self.reader(schema, purpose)?))
    }

    pub(crate) fn into_source(self) -> (Source, u8) {
        (self.source, self.delimiter)
    }

    /// Where a column stands in the header. `role` says in messages what it is for: target, weight, feature.
    ///
    /// # Errors
    /// If there is no such column; the message names the one that is most alike.
    pub fn column(&self, role: &'static str, column: &str) -> Result<usize> {
        let found = self.header.iter().position(|name| name == column);
        found.ok_or_else(|| Error::NoSuchColumn {
            name: self.source.name.clone(),
            role,
            column: shown(column),
            header: shown_list(&self.header),
            nearest: nearest_name(column, &self.header).map(shown),
        })
    }
}

fn has_tab_extension(path: &str) -> bool {
    let extension = Path::new(path).extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("tsv") || extension.eq_ignore_ascii_case("tab")
}

/// A tab if the first line has one and no comma, otherwise a comma.
fn likely_delimiter(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let line = line.unwrap_or_default();
    if line.contains(&b'\t') && !line.contains(&b',') { b'\t' } else { b',' }
}

/// Passes over a UTF-8 byte order mark, and refuses what can be seen not to be a table of text.
fn skip_byte_order_mark(source: &mut Source) -> Result<()> {
    let beginnings: [(&[u8], &str); 9] = [
        (b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
        (b"\x1f\x8b", "a gzip file; unpack it first"),
        (b"\x28\xb5\x2f\xfd", "a zstd file; unpack it first"),
        (b"\xfd7zXZ\0", "an xz file; unpack it first"),
        (b"BZh91AY&SY", "a bzip2 file; unpack it first"),
        (b"PK\x03\x04", "a zip file or a spreadsheet; unpack it or save it as CSV"),
        (b"PAR1", "a Parquet file, not delimited text"),
        (b"\xd0\xcf\x11\xe0", "an old Office document; save it as CSV"),
    ];
    let ahead = source.beginning();
    let known = beginnings.iter().find(|(beginning, _)| ahead.starts_with(beginning)).map(|(_, what)| *what);
    let what = known.or_else(|| memchr(0, ahead).map(|_| "a binary file or UTF-16: it holds NUL bytes"));
    if let Some(what) = what {
        return Err(Error::NotText { name: source.name.clone(), what });
    }
    if ahead.starts_with("\u{feff}".as_bytes()) {
        source.skip("\u{feff}".len());
    }
    Ok(())
}

fn read_header(source: &mut Source, delimiter: u8) -> Result<Vec<String>> {
    let name = source.name.clone();
    let mut block = Vec::new();
    let found = source.next_block(delimiter, &mut block).map_err(|mut error| {
        error.make_header();
        error
    })?;
    if !found {
        return Err(Error::Empty { name });
    }
    let (fields, end) = first_record(&block, delimiter);
    let fields = match fields {
        Ok(fields) => fields,
        Err(Flaw::TextAfterQuote { field } | Flaw::FieldCount { found: field }) => {
            return Err(Error::TextAfterQuote { name, row: 0, column: (field + 1).to_string() });
        }
    };
    let mut header = Vec::with_capacity(fields.len());
    let mut scratch = String::new();
    for (position, field) in fields.into_iter().enumerate() {
        let Ok(field) = std::str::from_utf8(field) else {
            return Err(Error::NotUtf8 { name, row: 0, column: (position + 1).to_string() });
        };
        if field.contains('\0') {
            return Err(Error::NulByte { name, row: 0, column: (position + 1).to_string() });
        }
        if !field.starts_with('"') && field.contains('\r') {
            let what = "text whose lines end with bare carriage returns; save it with line feeds";
            return Err(Error::NotText { name, what });
        }
        header.push(unquoted(field, &mut scratch).to_owned());
    }
    block.drain(..end);
    source.give_back(block);

    let mut sorted: Vec<&String> = header.iter().collect();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::DuplicateColumn { name, column: shown(twice[0]) });
    }
    Ok(header)
}

/// The name that was probably meant: one that differs in case only, or else in few characters.
fn nearest_name<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    let most = (wanted.len() / 3).min(10);
    let distances = names.iter().filter_map(|name| {
        let candidate: Vec<char> = name.trim().to_lowercase().chars().collect();
        let close = candidate.len().abs_diff(wanted.len()) <= most;
        close.then(|| (edit_distance(&wanted, &candidate), name.as_str()))
    });
    distances
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// How many characters must be inserted, deleted or replaced to turn one name into the other.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut distances: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        distances[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = distances[j + 1];
            distances[j + 1] = replaced.min(diagonal + 1).min(distances[j] + 1);
        }
    }
    distances[b.len()]
}

#[cfg(test)]
mod tests;

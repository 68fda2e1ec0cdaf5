//! A table with a header, read as batches of a schema's columns.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use memchr::memchr;
use priory::{Batch, BatchColumn, CategoryColumn, MISSING, Schema};

use crate::csv::{Flaw, Records, first_record, unquoted};
use crate::error::{Error, Result, shown, shown_list};
use crate::source::{Limits, Source};

/// How a table is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The character between fields. If none is given, it is a tab for files named `.tsv` or `.tab` and for tables
    /// whose first line has a tab and no comma, otherwise a comma.
    pub delimiter: Option<u8>,
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
    limits: Limits,
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
        Table::new(source, &ReadOptions { delimiter }, Limits::USUAL)
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
        Table::new(source, options, Limits::USUAL)
    }

    fn new(mut source: Source, options: &ReadOptions, limits: Limits) -> Result<Table> {
        skip_byte_order_mark(&mut source)?;
        let delimiter = options.delimiter.unwrap_or_else(|| likely_delimiter(source.ahead()));
        if !delimiter.is_ascii() || b"\"\r\n\0".contains(&delimiter) {
            return Err(Error::Delimiter { delimiter: delimiter.into() });
        }
        let header = read_header(&mut source, delimiter)?;
        Ok(Table { source, limits, delimiter, header })
    }

    /// The path, or what else the table is called.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// How many bytes were read so far.
    pub fn bytes_read(&self) -> u64 {
        self.source.bytes_read
    }

    /// How many bytes there are, if the table is a regular file.
    pub fn size(&self) -> Option<u64> {
        self.source.size
    }

    /// Gets ready to read the columns of this schema. They are found by name, in any order; other columns are passed
    /// over.
    ///
    /// # Errors
    /// If a column that the purpose needs is not in the header.
    pub fn batches(self, schema: &Schema, purpose: Purpose) -> Result<Batches> {
        let find = |name: &str| self.header.iter().position(|column| column == name);
        let (mut target, mut weight) = (None, None);
        if purpose == Purpose::Learning {
            target = Some(self.column("target", &schema.target)?);
            weight = schema.weight.as_ref().map(|name| self.column("weight", name)).transpose()?;
        }
        let features: Vec<Option<usize>> = schema.columns.iter().map(|column| find(&column.name)).collect();
        let mut missing_columns = Vec::new();
        for (column, _) in schema.columns.iter().zip(&features).filter(|(_, found)| found.is_none()) {
            if purpose == Purpose::Learning {
                self.column("feature", &column.name)?;
            }
            missing_columns.push(column.name.clone());
        }
        if !features.is_empty() && missing_columns.len() == features.len() {
            let header = shown_list(&self.header);
            return Err(Error::NoFeatures { name: self.source.name, header });
        }

        let mut known = vec![false; self.header.len()];
        let others = [Some(&schema.target), schema.weight.as_ref()];
        let others = others.into_iter().flatten().filter_map(|name| find(name));
        others.chain(features.iter().flatten().copied()).for_each(|position| known[position] = true);
        let surplus = self.header.iter().zip(&known).filter(|(_, known)| !**known);
        let surplus_columns = surplus.map(|(name, _)| name.clone()).collect();

        Ok(Batches {
            records: Records::new(self.delimiter, self.header.len()),
            source: self.source,
            limits: self.limits,
            delimiter: self.delimiter,
            header: self.header,
            target,
            weight,
            features,
            missing: MissingSpellings::new(&schema.missing),
            next_row: 1,
            missing_columns,
            surplus_columns,
        })
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

/// The rows of a table, some thousands at a time.
pub struct Batches {
    source: Source,
    limits: Limits,
    delimiter: u8,
    header: Vec<String>,
    records: Records,
    /// Where the target, the weight and the features stand in the table, as far as they are to be read.
    target: Option<usize>,
    weight: Option<usize>,
    features: Vec<Option<usize>>,
    missing: MissingSpellings,
    next_row: u64,
    missing_columns: Vec<String>,
    surplus_columns: Vec<String>,
}

impl Batches {
    /// Replaces the rows of the batch by the next ones of the table; `false` if there are none left.
    ///
    /// # Errors
    /// If the table cannot be read or a row is not right; the batch is then of no use.
    ///
    /// # Panics
    /// If the batch was not made by [`Batch::new`] for the same schema.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        batch.first_row = self.next_row;
        // A block of blank lines has no rows; then the next one may have.
        while batch.rows == 0 {
            if !self.source.next_block(self.delimiter, self.next_row)? {
                return Ok(false);
            }
            let block = self.source.block();
            let (end, flaw) = self.records.split(block, self.limits.rows, self.limits.block);
            let text = self.checked_text(&block[..end])?;
            self.fill(text, batch)?;
            batch.rows = self.records.rows();
            self.next_row += batch.rows as u64;
            if let Some(flaw) = flaw {
                return Err(self.describe(flaw));
            }
            self.source.take(end);
        }
        Ok(true)
    }

    /// The features of the schema that the table does not have.
    pub fn missing_columns(&self) -> &[String] {
        &self.missing_columns
    }

    /// The columns of the table that the schema does not have.
    pub fn surplus_columns(&self) -> &[String] {
        &self.surplus_columns
    }

    /// The path, or what else the table is called.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// How many rows were read so far.
    pub fn rows_read(&self) -> u64 {
        self.next_row - 1
    }

    /// How many bytes were read so far; up to a block more than the rows take.
    pub fn bytes_read(&self) -> u64 {
        self.source.bytes_read
    }

    /// How many bytes there are, if the table is a regular file.
    pub fn size(&self) -> Option<u64> {
        self.source.size
    }

    /// The bytes of the rows that were split, as text. Checked for the whole block at once, which costs next to
    /// nothing, and for the columns that are passed over as well: a table is in UTF-8 or it is not.
    fn checked_text<'a>(&self, bytes: &'a [u8]) -> Result<&'a str> {
        let place = |position| {
            let (row, column) = self.records.locate(position);
            (self.source.name.clone(), self.next_row + row as u64, shown(&self.header[column]))
        };
        if let Some(position) = memchr(0, bytes) {
            let (name, row, column) = place(position);
            return Err(Error::NulByte { name, row, column });
        }
        std::str::from_utf8(bytes).map_err(|error| {
            let (name, row, column) = place(error.valid_up_to());
            Error::NotUtf8 { name, row, column }
        })
    }

    fn fill(&self, text: &str, batch: &mut Batch) -> Result<()> {
        let rows = self.records.rows();
        self.fill_categories(text, self.target, &mut batch.classes);
        assert_eq!(batch.columns.len(), self.features.len(), "the batch is one of this schema");
        for (column, &position) in batch.columns.iter_mut().zip(&self.features) {
            match column {
                BatchColumn::Category(column) => self.fill_categories(text, position, column),
                BatchColumn::Number(_) => panic!("no kind of column in a schema is read as numbers"),
            }
        }
        if let Some(position) = self.weight {
            batch.weights.reserve(rows);
            let mut scratch = String::new();
            for (row, field) in self.records.column(position).enumerate() {
                let value = unquoted(&text[field], &mut scratch);
                // A missing weight is refused before it is parsed, since NaN is a usual spelling of missing.
                let weight = if self.missing.contains(value) { None } else { value.parse().ok() };
                batch.weights.push(weight.ok_or_else(|| Error::Weight {
                    name: self.source.name.clone(),
                    row: self.next_row + row as u64,
                    column: shown(&self.header[position]),
                    value: shown(value),
                })?);
            }
        }
        Ok(())
    }

    fn fill_categories(&self, text: &str, position: Option<usize>, column: &mut CategoryColumn) {
        let rows = self.records.rows();
        let Some(position) = position else {
            column.codes.resize(rows, MISSING);
            return;
        };
        let mut recent = RecentCodes::new(rows);
        let mut scratch = String::new();
        let CategoryColumn { values, codes } = column;
        codes.extend(self.records.column(position).map(|field| {
            let spelling = recent.spelling(text, &field);
            if let Some(code) = recent.code(spelling) {
                return code;
            }
            let value = unquoted(&text[field], &mut scratch);
            let code = if self.missing.contains(value) { MISSING } else { values.intern(value) as u32 + 1 };
            recent.keep(spelling, code);
            code
        }));
    }

    fn describe(&self, flaw: Flaw) -> Error {
        let (name, row) = (self.source.name.clone(), self.next_row);
        match flaw {
            Flaw::FieldCount { found } => Error::FieldCount { name, row, found, expected: self.header.len() },
            Flaw::TextAfterQuote { field } => {
                let column =
                    self.header.get(field).map_or_else(|| (field + 1).to_string(), |name| shown(name));
                Error::TextAfterQuote { name, row, column }
            }
        }
    }
}

/// The codes of short fields that were met a moment ago in the same column.
///
/// Most columns have few values, and most values are short. A field of up to 16 bytes is compared as one number
/// with the last field that fell into the same slot, instead of hashing the string, comparing it and asking whether
/// it is missing; short words are read three times as fast. In a column of many values it would be in vain, so it
/// gives up there.
struct RecentCodes {
    spellings: [u128; RecentCodes::SLOTS],
    codes: [u32; RecentCodes::SLOTS],
    misses_left: usize,
}

impl RecentCodes {
    /// Few enough to stay in the fastest cache beside the text.
    const SLOTS: usize = 256;
    /// No field is spelt so: these bytes are not UTF-8.
    const NONE: u128 = u128::MAX;

    fn new(rows: usize) -> Self {
        let (spellings, codes) = ([Self::NONE; Self::SLOTS], [MISSING; Self::SLOTS]);
        RecentCodes { spellings, codes, misses_left: rows / 4 }
    }

    /// The bytes of a short field as a number. The text holds no zero bytes, so they can fill up the rest.
    #[inline]
    fn spelling(&self, text: &str, field: &Range<usize>) -> u128 {
        match text.as_bytes()[field.start..].first_chunk::<16>() {
            Some(bytes) if field.len() <= 16 && self.misses_left > 0 => {
                let unused_bits = 128 - 8 * field.len() as u32;
                u128::from_le_bytes(*bytes) & u128::MAX.checked_shr(unused_bits).unwrap_or(0)
            }
            _ => Self::NONE,
        }
    }

    #[inline]
    fn code(&self, spelling: u128) -> Option<u32> {
        let slot = Self::slot(spelling);
        (self.spellings[slot] == spelling && spelling != Self::NONE).then_some(self.codes[slot])
    }

    #[inline]
    fn keep(&mut self, spelling: u128, code: u32) {
        if spelling != Self::NONE {
            let slot = Self::slot(spelling);
            self.spellings[slot] = spelling;
            self.codes[slot] = code;
            self.misses_left -= 1;
        }
    }

    #[inline]
    fn slot(spelling: u128) -> usize {
        // Multiplying by the golden ratio spreads the differences of similar spellings over the top bits.
        let folded = spelling as u64 ^ (spelling >> 64) as u64;
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }
}

/// The spellings of missing, with a quick answer for most other values.
struct MissingSpellings {
    spellings: Vec<String>,
    /// Whether a spelling begins with this byte.
    begins: [bool; 256],
    empty: bool,
}

impl MissingSpellings {
    fn new(spellings: &[String]) -> Self {
        let mut begins = [false; 256];
        for byte in spellings.iter().filter_map(|spelling| spelling.bytes().next()) {
            begins[usize::from(byte)] = true;
        }
        let empty = spellings.iter().any(String::is_empty);
        MissingSpellings { spellings: spellings.to_vec(), begins, empty }
    }

    #[inline]
    fn contains(&self, value: &str) -> bool {
        match value.as_bytes().first() {
            None => self.empty,
            Some(&byte) => {
                self.begins[usize::from(byte)] && self.spellings.iter().any(|spelling| spelling == value)
            }
        }
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
    let ahead = source.ahead();
    let known = beginnings.iter().find(|(beginning, _)| ahead.starts_with(beginning)).map(|(_, what)| *what);
    let what = known.or_else(|| memchr(0, ahead).map(|_| "a binary file or UTF-16: it holds NUL bytes"));
    if let Some(what) = what {
        return Err(Error::NotText { name: source.name.clone(), what });
    }
    if ahead.starts_with("\u{feff}".as_bytes()) {
        source.take("\u{feff}".len());
    }
    Ok(())
}

fn read_header(source: &mut Source, delimiter: u8) -> Result<Vec<String>> {
    let name = source.name.clone();
    if !source.next_block(delimiter, 0)? {
        return Err(Error::Empty { name });
    }
    let (fields, end) = first_record(source.block(), delimiter);
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
    source.take(end);

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
    let most = wanted.len().div_ceil(3).min(10);
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

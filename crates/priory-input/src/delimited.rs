//! Blocks of delimited text to batches, column by column.

use std::sync::Arc;

use memchr::memchr;
use priory::batch::MISSING;
use priory::{Batch, BatchColumn, CategoryColumn, TextColumn};

use crate::csv::{Dialect, Flaw, MOST_COLUMNS, Records, first_record, unquoted};
use crate::decimal::plain_decimal;
use crate::delimiter::likely_delimiter;
use crate::error::{Error, Result, shown};
use crate::format::ReadOptions;
use crate::input::{OpenedText, TextFormat, TextParser};
use crate::kept::KeptColumn;
use crate::reader::Plan;
use crate::recent::RecentCodes;
use crate::sample::Sample;
use crate::source::{Framing, Source};
use crate::text::Tokenizer;

/// Takes blocks apart. Every thread has one of its own.
struct DelimitedParser {
    plan: Arc<Plan>,
    records: Records,
    scratch: String,
    tokenizers: Vec<Option<Tokenizer>>,
}

impl DelimitedParser {
    fn new(plan: &Arc<Plan>, dialect: Dialect) -> Self {
        let records = Records::new(dialect, plan.header.len());
        let tokenizers = plan.tokenizers.clone();
        DelimitedParser { plan: Arc::clone(plan), records, scratch: String::new(), tokenizers }
    }
}

impl TextParser for DelimitedParser {
    fn fill(&mut self, block: &[u8], batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()> {
        let (end, flaw) = self.records.split(block);
        let plan = Arc::clone(&self.plan);
        let Plan { name, header, .. } = &*plan;
        let text = checked_text(&block[..end], &self.records, name, header)?;
        batch.rows = self.records.rows();
        self.fill_categories(text, self.plan.target, &mut batch.classes);
        for (feature, (column, &position)) in batch.columns.iter_mut().zip(&plan.features).enumerate() {
            match column {
                BatchColumn::Category(column) if plan.written[feature].is_none() => {
                    self.fill_categories(text, position, column);
                }
                BatchColumn::Category(column) => {
                    self.fill_written_categories(text, position, feature, column)?;
                }
                BatchColumn::Number(values) if plan.written[feature].is_none() => {
                    self.fill_numbers(text, position, values)?;
                }
                BatchColumn::Number(values) => self.fill_written_numbers(text, position, feature, values)?,
                BatchColumn::Text(column) => self.fill_documents(text, position, feature, column),
            }
        }
        self.fill_weights(text, batch)?;
        for (column, &position) in kept.iter_mut().zip(&plan.kept) {
            let fields = self.records.column(position);
            fields.for_each(|field| column.push(Some(unquoted(&text[field], &mut self.scratch))));
        }
        flaw.map_or(Ok(()), |flaw| Err(describe(flaw, &self.records, name, header)))
    }
}

impl DelimitedParser {
    fn fill_categories(&mut self, text: &str, position: Option<usize>, column: &mut CategoryColumn) {
        let rows = self.records.rows();
        let Some(position) = position else {
            column.codes.resize(rows, MISSING);
            return;
        };
        let mut recent = RecentCodes::new(rows);
        let CategoryColumn { values, codes } = column;
        codes.extend(self.records.column(position).map(|field| {
            let spelling = recent.spelling(text, &field);
            if let Some(code) = recent.code(spelling) {
                return code;
            }
            let value = unquoted(&text[field], &mut self.scratch);
            let code =
                if self.plan.missing.contains(value) { MISSING } else { values.intern(value) as u32 + 1 };
            recent.keep(spelling, code);
            code
        }));
    }

    /// Categories that are not written plainly.
    fn fill_written_categories(
        &mut self,
        text: &str,
        position: Option<usize>,
        feature: usize,
        column: &mut CategoryColumn,
    ) -> Result<()> {
        let rows = self.records.rows();
        let Some(position) = position else {
            column.codes.resize(rows, MISSING);
            return Ok(());
        };
        let mut recent = RecentCodes::new(rows);
        for (row, field) in self.records.column(position).enumerate() {
            let spelling = recent.spelling(text, &field);
            let code = match recent.code(spelling) {
                Some(code) => code,
                None => {
                    let spelt = unquoted(&text[field], &mut self.scratch);
                    let value = self.plan.category(feature, row, position, spelt)?;
                    let code = value.map_or(MISSING, |value| column.values.intern(value) as u32 + 1);
                    recent.keep(spelling, code);
                    code
                }
            };
            column.codes.push(code);
        }
        Ok(())
    }

    fn fill_documents(
        &mut self,
        text: &str,
        position: Option<usize>,
        feature: usize,
        column: &mut TextColumn,
    ) {
        let Some(position) = position else {
            (0..self.records.rows()).for_each(|_| column.push_missing());
            return;
        };
        let DelimitedParser { plan, records, scratch, tokenizers } = self;
        for field in records.column(position) {
            let document = unquoted(&text[field], scratch);
            plan.read_document(Some(document), &mut tokenizers[feature], column);
        }
    }

    fn fill_numbers(&mut self, text: &str, position: Option<usize>, values: &mut Vec<f64>) -> Result<()> {
        let rows = self.records.rows();
        let Some(position) = position else {
            values.resize(rows, f64::NAN);
            return Ok(());
        };
        values.reserve(rows);
        let any_number = !self.plan.missing.has_number;
        for (row, field) in self.records.column(position).enumerate() {
            // Nearly every field is just a number; what is not is looked at again with more patience.
            let value = match plain_decimal(text.as_bytes(), field.clone()) {
                Some(value) if any_number => value,
                _ => other_number(&self.plan, &text[field], row, position, &mut self.scratch)?,
            };
            values.push(value);
        }
        Ok(())
    }

    /// Numbers that are not written plainly.
    fn fill_written_numbers(
        &mut self,
        text: &str,
        position: Option<usize>,
        feature: usize,
        values: &mut Vec<f64>,
    ) -> Result<()> {
        let rows = self.records.rows();
        let Some(position) = position else {
            values.resize(rows, f64::NAN);
            return Ok(());
        };
        values.reserve(rows);
        let mut scratch = String::new();
        for (row, field) in self.records.column(position).enumerate() {
            let spelt = unquoted(&text[field], &mut self.scratch);
            let number = self.plan.number(feature, spelt, &mut scratch);
            values.push(number.or_else(|bad| self.plan.bad_value(bad, row, position, spelt))?);
        }
        Ok(())
    }

    fn fill_weights(&mut self, text: &str, batch: &mut Batch) -> Result<()> {
        let Some(position) = self.plan.weight else { return Ok(()) };
        batch.weights.reserve(batch.rows);
        for (row, field) in self.records.column(position).enumerate() {
            let value = unquoted(&text[field], &mut self.scratch);
            // A missing weight is refused before it is parsed, since NaN is a usual spelling of missing.
            let weight = if self.plan.missing.contains(value) { None } else { value.parse().ok() };
            batch.weights.push(weight.ok_or_else(|| self.plan.bad_weight(row, position, value))?);
        }
        Ok(())
    }
}

/// Reads the header; everything after it is left to be read.
pub(crate) fn open(
    source: &mut Source,
    extension: Option<&str>,
    options: &ReadOptions,
) -> Result<OpenedText> {
    let named = match extension {
        Some("tsv" | "tab") => Some(b'\t'),
        Some("psv") => Some(b'|'),
        _ => None,
    };
    let seen = || likely_delimiter(source.beginning(), options.comment);
    let delimiter = options.delimiter.or(named).unwrap_or_else(seen);
    if !delimiter.is_ascii() || b"\"\r\n\0".contains(&delimiter) {
        return Err(Error::Delimiter { delimiter: delimiter.into() });
    }
    if let Some(comment) = options.comment
        && (!comment.is_ascii() || b"\"\r\n\0".contains(&comment) || comment == delimiter)
    {
        return Err(Error::Comment { comment: comment.into() });
    }
    let dialect = Dialect { delimiter, comment: options.comment };
    source.set_framing(Framing::Records(dialect));
    Ok((read_header(source, dialect, options.header)?, Box::new(dialect)))
}

impl TextFormat for Dialect {
    fn sample(&self, source: &mut Source, header: &[String], rows: usize) -> Result<Sample> {
        sample(source, *self, header, rows)
    }

    fn sample_piece(&self, piece: &[u8], header: &[String], rows: usize, sample: &mut Sample) {
        let mut records = Records::new(*self, header.len());
        let (end, flaw) = records.split(piece);
        // The line may have begun inside quotes. Then the first records do not have the fields of the header.
        if flaw.is_some() && records.rows() < rows {
            return;
        }
        let Ok(text) = std::str::from_utf8(&piece[..end]) else { return };
        let mut scratch = String::new();
        for (position, values) in sample.columns.iter_mut().enumerate() {
            let fields = records.column(position).take(rows);
            values.extend(fields.map(|field| Some(unquoted(&text[field], &mut scratch).to_owned())));
        }
        sample.rows += rows.min(records.rows());
        sample.places += 1;
    }

    fn parser(&self, plan: &Arc<Plan>) -> Box<dyn TextParser> {
        Box::new(DelimitedParser::new(plan, *self))
    }
}

/// The names of the columns: the first record, or else numbers as many as it has fields.
fn read_header(source: &mut Source, dialect: Dialect, named: bool) -> Result<Vec<String>> {
    let name = source.name().to_owned();
    let mut block = Vec::new();
    // A block may hold nothing but comments.
    let (fields, place) = loop {
        let found = source.next_block(&mut block).map_err(|mut error| {
            error.make_header();
            error
        })?;
        if !found {
            return Err(Error::Empty { name });
        }
        match first_record(&block, dialect) {
            Ok((fields, _)) if fields.is_empty() => {}
            Ok(found) => break found,
            Err(Flaw::TextAfterQuote { field }) => {
                return Err(Error::TextAfterQuote { name, row: 0, column: (field + 1).to_string() });
            }
            Err(Flaw::FieldCount { found }) => {
                return Err(Error::TooManyColumns { name, columns: found, most: MOST_COLUMNS });
            }
        }
    };
    let mut header = Vec::with_capacity(fields.len());
    let mut scratch = String::new();
    for (position, field) in fields.into_iter().enumerate() {
        let column = (position + 1).to_string();
        let Ok(field) = std::str::from_utf8(field) else {
            return Err(Error::NotUtf8 { name, row: 0, column });
        };
        if field.contains('\0') {
            return Err(Error::NulByte { name, row: 0, column });
        }
        if !field.starts_with('"') && field.contains('\r') {
            let what = "text whose lines end with bare carriage returns; save it with line feeds";
            return Err(Error::NotText { name, what });
        }
        header.push(if named { unquoted(field, &mut scratch).to_owned() } else { column });
    }
    // Comments and blank lines before it belong to no row, wherever the block happened to begin.
    block.drain(..if named { place.end } else { place.start });
    source.give_back(block);
    Ok(header)
}

/// The first rows of a table, of which nothing is taken: the blocks are given back.
fn sample(source: &mut Source, dialect: Dialect, header: &[String], rows: usize) -> Result<Sample> {
    let mut sample = Sample::new(header.len());
    let mut records = Records::new(dialect, header.len());
    source.look_ahead(Sample::MOST_BYTES, |name, block| {
        append(&mut sample, &mut records, name, header, block, rows)?;
        Ok((sample.rows as u64, sample.rows < rows))
    })?;
    Ok(sample)
}

/// Appends the rows of a block to a sample, as long as it wants more.
fn append(
    sample: &mut Sample,
    records: &mut Records,
    name: &str,
    header: &[String],
    block: &[u8],
    most_rows: usize,
) -> Result<()> {
    let (end, flaw) = records.split(block);
    let text = checked_text(&block[..end], records, name, header)?;
    let wanted = most_rows - sample.rows;
    if let Some(flaw) = flaw.filter(|_| records.rows() < wanted) {
        return Err(describe(flaw, records, name, header));
    }
    let mut scratch = String::new();
    for (position, values) in sample.columns.iter_mut().enumerate() {
        let fields = records.column(position).take(wanted);
        values.extend(fields.map(|field| Some(unquoted(&text[field], &mut scratch).to_owned())));
    }
    sample.rows += wanted.min(records.rows());
    Ok(())
}

/// The bytes of the rows that were split, as text. Checked for the whole block at once, which costs next to nothing,
/// and for the columns that are passed over as well: a table is in UTF-8 or it is not.
fn checked_text<'b>(bytes: &'b [u8], records: &Records, name: &str, header: &[String]) -> Result<&'b str> {
    let place = |position| {
        let (row, column) = records.locate(position);
        (name.to_owned(), 1 + row as u64, shown(&header[column]))
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

/// What is wrong with the record after those that were split.
fn describe(flaw: Flaw, records: &Records, name: &str, header: &[String]) -> Error {
    let (name, row) = (name.to_owned(), 1 + records.rows() as u64);
    match flaw {
        Flaw::FieldCount { found } => Error::FieldCount { name, row, found, expected: header.len() },
        Flaw::TextAfterQuote { field } => {
            let column = header.get(field).map_or_else(|| (field + 1).to_string(), |name| shown(name));
            Error::TextAfterQuote { name, row, column }
        }
    }
}

/// The number in a field that is not plainly one, or that may mean missing.
fn other_number(plan: &Plan, field: &str, row: usize, position: usize, scratch: &mut String) -> Result<f64> {
    match fast_float2::parse::<f64, _>(field) {
        Ok(value) if value.is_finite() && !plan.missing.has_number => Ok(value),
        _ => {
            let spelt = unquoted(field, scratch);
            plan.plain_number(spelt).or_else(|bad| plan.bad_value(bad, row, position, spelt))
        }
    }
}

//! JSON lines: an object per line, whose keys are the columns.
//!
//! The values are scalars; a key that a row does not have, or has as `null`, is missing there. Which columns there are
//! is seen in the beginning of the file; a key that only turns up later is passed over like any column that the schema
//! does not have. A key that stands twice in one object is refused: readers differ in which of the two they take.
//!
//! Text is taken as it is written, so that `1.0` and `1.00` are two categories, as they would be in CSV. That and speed
//! are why there is a scanner here (`scan.rs`): it notes where the wanted values of a block are, and the columns are then filled
//! one by one.

mod scan;

use std::collections::HashMap;
use std::sync::Arc;

use priory::batch::MISSING;
use priory::infer::Stored;
use priory::written::Written;
use priory::{Batch, BatchColumn, CategoryColumn, Column, Schema, TextColumn};

use crate::error::{Error, Result, shown};
use crate::format::ReadOptions;
use crate::input::{OpenedText, TextFormat, TextParser};
use crate::kept::KeptColumn;
use crate::reader::Plan;
use crate::recent::RecentCodes;
use crate::sample::Sample;
use crate::source::{Framing, Source};
use crate::text::Tokenizer;
use scan::{Flaw, Kind, Scanner, Value};

/// How many rows are looked at to see which columns there are.
const ROWS_AHEAD: u64 = 10_000;

/// More different keys than this are no columns.
const MOST_COLUMNS: usize = 1 << 16;

/// Reads the beginning to see which columns there are, and what is in them.
pub(crate) fn open(source: &mut Source, _: Option<&str>, _: &ReadOptions) -> Result<OpenedText> {
    source.set_framing(Framing::Lines);
    let mut columns: Vec<ColumnAhead> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    let mut rows = 0;
    let mut scratch = String::new();
    source.look_ahead(Sample::MOST_BYTES, |name, block| {
        let text = checked_text(name, block)?;
        let before = rows;
        let mut scanner = Scanner { text, at: 0 };
        while rows < ROWS_AHEAD && scanner.find_object() {
            rows += 1;
            let scanned = scanner.object(|key, value| {
                if columns.len() > MOST_COLUMNS {
                    return Ok(()); // too many already
                }
                let name = key.written(text, &mut scratch);
                let position = positions.get(name).copied().unwrap_or_else(|| {
                    columns.push(ColumnAhead { name: name.to_owned(), stored: None, row: 0 });
                    positions.insert(name.to_owned(), columns.len() - 1);
                    columns.len() - 1
                });
                let column = &mut columns[position];
                if column.row == rows {
                    return Err(Flaw::Twice(key));
                }
                column.row = rows;
                let now = stored_as(value, text);
                column.stored = column.stored.zip(now).map(|(a, b)| common(a, b)).or(column.stored).or(now);
                Ok(())
            });
            scanned.map_err(|flaw| flaw.in_row(name, rows - before, text))?;
            if columns.len() > MOST_COLUMNS {
                let what = format!("makes more than {MOST_COLUMNS} columns; perhaps its keys are data");
                return Err(Error::Row { name: name.into(), row: rows - before, what });
            }
        }
        Ok((rows, rows < ROWS_AHEAD))
    })?;
    if columns.is_empty() {
        return Err(Error::Empty { name: source.name().into() });
    }
    source.limit_cells(columns.len());
    let columns = columns.into_iter();
    let (header, stored) = columns.map(|column| (column.name, column.stored.unwrap_or(Stored::Text))).unzip();
    Ok((header, Box::new(JsonLines { stored, is_hurried: source.is_hurried() })))
}

/// JSON lines whose values are of these types, as far as the beginning shows.
struct JsonLines {
    stored: Vec<Stored>,
    /// Whether the beginning is no more than what had come when the table was opened.
    is_hurried: bool,
}

impl TextFormat for JsonLines {
    fn stored(&self, _: &[String]) -> Vec<Stored> {
        self.stored.clone()
    }

    fn sample(&self, source: &mut Source, header: &[String], rows: usize) -> Result<Sample> {
        sample(source, header, rows)
    }

    fn sample_piece(&self, piece: &[u8], header: &[String], rows: usize, sample: &mut Sample) {
        let Ok(text) = std::str::from_utf8(piece) else { return };
        let positions = Positions::new(header);
        let mut scanner = Scanner { text, at: 0 };
        let most = sample.rows + rows;
        let read = append_rows(&mut scanner, &positions, most, sample);
        sample.places += usize::from(read.is_ok());
    }

    /// Rows that come later may have what the first did not.
    fn widened(&self, header: &[String], schema: &Schema) -> Option<Vec<String>> {
        let names = schema.columns.iter().map(Column::source);
        let new: Vec<String> = names
            .filter(|name| self.is_hurried && !header.iter().any(|known| known == name))
            .map(String::from)
            .collect();
        (!new.is_empty()).then(|| header.iter().cloned().chain(new).collect())
    }

    fn parser(&self, plan: &Arc<Plan>) -> Box<dyn TextParser> {
        Box::new(JsonParser::new(plan))
    }
}

/// A column as the beginning of the file shows it.
struct ColumnAhead {
    name: String,
    /// What can hold all values so far.
    stored: Option<Stored>,
    /// The last row that has it, counted from 1.
    row: u64,
}

fn stored_as(value: Value, text: &str) -> Option<Stored> {
    match value.kind {
        Kind::Absent => None,
        Kind::True | Kind::False => Some(Stored::Boolean),
        Kind::Number if value.raw(text).bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => {
            Some(Stored::Integer)
        }
        Kind::Number => Some(Stored::Number),
        Kind::String | Kind::Escaped | Kind::Array | Kind::Object => Some(Stored::Text),
    }
}

/// What can hold the values of both.
fn common(a: Stored, b: Stored) -> Stored {
    match (a, b) {
        _ if a == b => a,
        (Stored::Integer, Stored::Number) | (Stored::Number, Stored::Integer) => Stored::Number,
        _ => Stored::Text,
    }
}

/// The first rows of a table, of which nothing is taken. Arrays and objects are shown as they are written.
fn sample(source: &mut Source, header: &[String], rows: usize) -> Result<Sample> {
    let mut sample = Sample::new(header.len());
    let positions = Positions::new(header);
    source.look_ahead(Sample::MOST_BYTES, |name, block| {
        let text = checked_text(name, block)?;
        let before = sample.rows;
        let mut scanner = Scanner { text, at: 0 };
        append_rows(&mut scanner, &positions, rows, &mut sample)
            .map_err(|flaw| flaw.in_row(name, (1 + sample.rows - before) as u64, text))?;
        Ok((sample.rows as u64, sample.rows < rows))
    })?;
    Ok(sample)
}

/// Appends objects to a sample until it has this many rows. What was read of an object with a flaw is taken away again.
fn append_rows(
    scanner: &mut Scanner<'_>,
    positions: &Positions,
    rows: usize,
    sample: &mut Sample,
) -> std::result::Result<(), Flaw> {
    let (mut scratch, mut key_scratch) = (String::new(), String::new());
    let text = scanner.text;
    while sample.rows < rows && scanner.find_object() {
        sample.columns.iter_mut().for_each(|values| values.push(None));
        let mut guess = 0;
        let row = sample.rows;
        let scanned = scanner.object(|key, value| {
            let found = positions.find(key.written(text, &mut key_scratch), &mut guess);
            if let Some(position) = found.filter(|_| value.kind != Kind::Absent) {
                sample.columns[position][row] = Some(value.written(text, &mut scratch).to_owned());
            }
            Ok(())
        });
        if let Err(flaw) = scanned {
            sample.columns.iter_mut().for_each(|values| values.truncate(row));
            return Err(flaw);
        }
        sample.rows += 1;
    }
    Ok(())
}

/// Where the columns are in the header. Most objects have their keys in the same order.
struct Positions {
    header: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl Positions {
    fn new(header: &[String]) -> Self {
        let by_name = header.iter().enumerate().map(|(position, name)| (name.clone(), position)).collect();
        Positions { header: header.to_vec(), by_name }
    }

    /// The position of a key, probably the one that is guessed; the next guess is the one after it.
    #[inline]
    fn find(&self, key: &str, guess: &mut usize) -> Option<usize> {
        let position = match self.header.get(*guess) {
            Some(name) if name == key => *guess,
            _ => *self.by_name.get(key)?,
        };
        *guess = position + 1;
        Some(position)
    }
}

/// Takes blocks of JSON lines apart.
struct JsonParser {
    plan: Arc<Plan>,
    positions: Positions,
    /// For each column of the header, where its value is among those of a row that are wanted.
    slots: Vec<Option<usize>>,
    width: usize,
    /// The wanted values, row by row.
    values: Vec<Value>,
    scratch: String,
    tokenizers: Vec<Option<Tokenizer>>,
}

impl JsonParser {
    fn new(plan: &Arc<Plan>) -> Self {
        let mut slots = vec![None; plan.header.len()];
        let mut width = 0;
        for position in plan.wanted() {
            slots[position] = Some(width);
            width += 1;
        }
        let positions = Positions::new(&plan.header);
        JsonParser {
            plan: Arc::clone(plan),
            positions,
            slots,
            width,
            values: Vec::new(),
            scratch: String::new(),
            tokenizers: plan.tokenizers.clone(),
        }
    }
}

impl TextParser for JsonParser {
    fn fill(&mut self, block: &[u8], batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()> {
        let plan = Arc::clone(&self.plan);
        let text = checked_text(&plan.name, block)?;
        let flaw = self.scan(text, batch);
        self.fill_categories(text, plan.target, None, batch.rows, &mut batch.classes)?;
        for (feature, (column, &position)) in batch.columns.iter_mut().zip(&plan.features).enumerate() {
            match column {
                BatchColumn::Text(column) => {
                    self.fill_documents(text, position, feature, batch.rows, column)?
                }
                BatchColumn::Category(column) => {
                    self.fill_categories(text, position, Some(feature), batch.rows, column)?;
                }
                BatchColumn::Number(values) => {
                    self.fill_numbers(text, position, feature, batch.rows, values)?;
                }
            }
        }
        self.fill_weights(text, batch)?;
        for (column, &position) in kept.iter_mut().zip(&plan.kept) {
            let mut scratch = String::new();
            for value in self.column(position, batch.rows) {
                column.push((value.kind != Kind::Absent).then(|| value.written(text, &mut scratch)));
            }
        }
        flaw.map_or(Ok(()), |flaw| Err(flaw.in_row(&plan.name, 1 + batch.rows as u64, text)))
    }
}

impl JsonParser {
    /// Notes where the wanted values are, up to the first row that is not right.
    fn scan(&mut self, text: &str, batch: &mut Batch) -> Option<Flaw> {
        let JsonParser { positions, slots, width, values, scratch, .. } = self;
        values.clear();
        let mut scanner = Scanner { text, at: 0 };
        while scanner.find_object() {
            let first = values.len();
            values.resize(first + *width, Value::ABSENT);
            let mut guess = 0;
            // A null is as good as no value, but not a licence for another one.
            let mut nulls: Vec<usize> = Vec::new();
            let scanned = scanner.object(|key, value| {
                let found = positions.find(key.written(text, scratch), &mut guess);
                let Some(slot) = found.and_then(|position| slots[position]) else { return Ok(()) };
                let place = &mut values[first + slot];
                if place.kind != Kind::Absent || nulls.contains(&slot) {
                    return Err(Flaw::Twice(key));
                }
                if value.kind == Kind::Absent {
                    nulls.push(slot);
                }
                *place = value;
                Ok(())
            });
            if let Err(flaw) = scanned {
                values.truncate(first);
                return Some(flaw);
            }
            batch.rows += 1;
        }
        None
    }

    /// The values of a column, from the first row to the last.
    fn column(&self, position: usize, rows: usize) -> impl Iterator<Item = Value> {
        let slot = self.slots[position].expect("columns are asked for if they are wanted");
        (0..rows).map(move |row| self.values[row * self.width + slot])
    }

    fn fill_categories(
        &self,
        text: &str,
        position: Option<usize>,
        feature: Option<usize>,
        rows: usize,
        column: &mut CategoryColumn,
    ) -> Result<()> {
        let Some(position) = position else {
            column.codes.resize(rows, MISSING);
            return Ok(());
        };
        let mut recent = RecentCodes::new(rows);
        let mut scratch = String::new();
        for (row, value) in self.column(position, rows).enumerate() {
            if value.kind == Kind::Absent {
                column.codes.push(MISSING);
                continue;
            }
            self.check_scalar(value, row, position)?;
            let spelling = recent.spelling(text, &(value.start as usize..value.end as usize));
            let code = match recent.code(spelling) {
                Some(code) => code,
                None => {
                    let written = value.written(text, &mut scratch);
                    let value = match feature.filter(|&feature| self.plan.written[feature].is_some()) {
                        None => Some(written).filter(|written| !self.plan.missing.contains(written)),
                        Some(feature) => self.plan.category(feature, row, position, written)?,
                    };
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
        rows: usize,
        column: &mut TextColumn,
    ) -> Result<()> {
        let Some(position) = position else {
            (0..rows).for_each(|_| column.push_missing());
            return Ok(());
        };
        let mut tokenizer = self.tokenizers[feature].take();
        let mut scratch = String::new();
        for (row, value) in self.column(position, rows).enumerate() {
            self.check_scalar(value, row, position)?;
            let document = (value.kind != Kind::Absent).then(|| value.written(text, &mut scratch));
            self.plan.read_document(document, &mut tokenizer, column);
        }
        self.tokenizers[feature] = tokenizer;
        Ok(())
    }

    fn fill_numbers(
        &self,
        text: &str,
        position: Option<usize>,
        feature: usize,
        rows: usize,
        values: &mut Vec<f64>,
    ) -> Result<()> {
        let Some(position) = position else {
            values.resize(rows, f64::NAN);
            return Ok(());
        };
        let (mut scratch, mut digits) = (String::new(), String::new());
        let is_plain = self.plan.written[feature].is_none();
        let is_date = matches!(self.plan.written[feature], Some(Written::Date(_)));
        let any_number = !self.plan.missing.has_number;
        for (row, value) in self.column(position, rows).enumerate() {
            let number = match value.kind {
                Kind::Absent => f64::NAN,
                Kind::True => 1.0,
                Kind::False => 0.0,
                _ => match fast_float2::parse::<f64, _>(value.raw(text)) {
                    // What JSON calls a number is plain, however numbers in quotes are written.
                    Ok(number)
                        if number.is_finite()
                            && any_number
                            && (is_plain || value.kind == Kind::Number && !is_date) =>
                    {
                        number
                    }
                    _ => {
                        self.check_scalar(value, row, position)?;
                        let written = value.written(text, &mut scratch);
                        let number = match value.kind {
                            Kind::Number if !is_date => self.plan.plain_number(written),
                            _ => self.plan.number(feature, written, &mut digits),
                        };
                        number.or_else(|bad| self.plan.bad_value(bad, row, position, written))?
                    }
                },
            };
            values.push(number);
        }
        Ok(())
    }

    fn fill_weights(&self, text: &str, batch: &mut Batch) -> Result<()> {
        let Some(position) = self.plan.weight else { return Ok(()) };
        let mut scratch = String::new();
        for (row, value) in self.column(position, batch.rows).enumerate() {
            let written = value.written(text, &mut scratch);
            let numeric = matches!(value.kind, Kind::Number | Kind::String | Kind::Escaped);
            let weight = if self.plan.missing.contains(written) { None } else { written.parse().ok() };
            let weight = weight.filter(|_| numeric);
            batch.weights.push(weight.ok_or_else(|| self.plan.bad_weight(row, position, written))?);
        }
        Ok(())
    }

    fn check_scalar(&self, value: Value, row: usize, position: usize) -> Result<()> {
        let what = match value.kind {
            Kind::Array => "an array",
            Kind::Object => "an object",
            _ => return Ok(()),
        };
        let column = &self.plan.header[position];
        Err(Error::Nested { name: self.plan.name.clone(), row: 1 + row as u64, column: shown(column), what })
    }
}

/// The bytes of a block as text.
fn checked_text<'b>(name: &str, block: &'b [u8]) -> Result<&'b str> {
    std::str::from_utf8(block).map_err(|error| {
        let lines = block[..error.valid_up_to()].split(|&byte| byte == b'\n');
        // The last of them is the one with the error, blank as it may look up to there.
        let before = lines.filter(|line| !line.trim_ascii().is_empty()).count();
        let begun = block[..error.valid_up_to()].rsplit(|&byte| byte == b'\n').next();
        let begun = begun.is_some_and(|line| !line.trim_ascii().is_empty());
        let row = (before + usize::from(!begun)) as u64;
        let what = String::from("is not valid UTF-8");
        Error::Row { name: name.into(), row, what }
    })
}

#[cfg(test)]
mod tests;

//! JSON lines: an object per line, whose keys are the columns.
//!
//! The values are scalars; a key that a row does not have, or has as `null`, is missing there. Which columns there are
//! is seen in the beginning of the file; a key that only turns up later is passed over like any column that the schema
//! does not have. A key that stands twice in one object is refused: readers differ in which of the two they take.
//!
//! Text is taken as it is written, so that `1.0` and `1.00` are two categories, as they would be in CSV. That and speed
//! are why there is a scanner here: it notes where the wanted values of a block stand, and the columns are then filled
//! one by one.

use std::collections::HashMap;
use std::sync::Arc;

use priory::{Batch, BatchColumn, CategoryColumn, MISSING, Stored, TextColumn};

use crate::error::{Error, Result, shown};
use crate::reader::Plan;
use crate::recent::RecentCodes;
use crate::sample::Sample;
use crate::source::{Framing, Source};
use crate::text::Tokenizer;

/// How many rows are looked at to see which columns there are.
const ROWS_AHEAD: u64 = 10_000;

/// More different keys than this are no columns.
const MOST_COLUMNS: usize = 1 << 16;

/// Where a value stands in its block, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Value {
    kind: Kind,
    start: u32,
    end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No value, or `null`.
    Absent,
    True,
    False,
    Number,
    /// What stands between the quotes.
    String,
    /// The same, with escapes in it.
    Escaped,
    Array,
    Object,
}

impl Value {
    const ABSENT: Value = Value { kind: Kind::Absent, start: 0, end: 0 };

    fn raw<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start as usize..self.end as usize]
    }

    /// The text that the value stands for.
    fn written<'a>(&self, text: &'a str, scratch: &'a mut String) -> &'a str {
        match self.kind {
            Kind::Escaped => unescaped(self.raw(text), scratch),
            _ => self.raw(text),
        }
    }
}

/// Reads the beginning to see which columns there are, and what is in them.
pub(crate) fn open(source: &mut Source) -> Result<Vec<(String, Stored)>> {
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
    Ok(columns.map(|column| (column.name, column.stored.unwrap_or(Stored::Text))).collect())
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
pub(crate) fn sample(source: &mut Source, header: &[String], rows: usize) -> Result<Sample> {
    let mut sample = Sample::new(header.len());
    let positions = Positions::new(header);
    let mut scratch = String::new();
    let mut key_scratch = String::new();
    source.look_ahead(Sample::MOST_BYTES, |name, block| {
        let text = checked_text(name, block)?;
        let before = sample.rows;
        let mut scanner = Scanner { text, at: 0 };
        while sample.rows < rows && scanner.find_object() {
            sample.columns.iter_mut().for_each(|values| values.push(None));
            let mut guess = 0;
            let scanned = scanner.object(|key, value| {
                let found = positions.find(key.written(text, &mut key_scratch), &mut guess);
                if let Some(position) = found.filter(|_| value.kind != Kind::Absent) {
                    sample.columns[position][sample.rows] =
                        Some(value.written(text, &mut scratch).to_owned());
                }
                Ok(())
            });
            scanned.map_err(|flaw| flaw.in_row(name, (1 + sample.rows - before) as u64, text))?;
            sample.rows += 1;
        }
        Ok((sample.rows as u64, sample.rows < rows))
    })?;
    Ok(sample)
}

/// Where the columns stand in the header. Most objects have their keys in the same order.
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
pub(crate) struct JsonParser {
    plan: Arc<Plan>,
    positions: Positions,
    /// For each column of the header, where its value stands among those of a row that are wanted.
    slots: Vec<Option<usize>>,
    width: usize,
    /// The wanted values, row by row.
    values: Vec<Value>,
    scratch: String,
    tokenizers: Vec<Option<Tokenizer>>,
}

impl JsonParser {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
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

    /// As [`Parser::fill`](crate::input::Parser::fill).
    pub(crate) fn fill(&mut self, block: &[u8], batch: &mut Batch) -> Result<()> {
        let plan = Arc::clone(&self.plan);
        let text = checked_text(&plan.name, block)?;
        let flaw = self.scan(text, batch);
        self.fill_categories(text, plan.target, batch.rows, &mut batch.classes)?;
        for (feature, (column, &position)) in batch.columns.iter_mut().zip(&plan.features).enumerate() {
            match column {
                BatchColumn::Text(column) => {
                    self.fill_documents(text, position, feature, batch.rows, column)?
                }
                BatchColumn::Category(column) => self.fill_categories(text, position, batch.rows, column)?,
                BatchColumn::Number(values) => self.fill_numbers(text, position, batch.rows, values)?,
            }
        }
        self.fill_weights(text, batch)?;
        for (kept, &position) in batch.kept.iter_mut().zip(&plan.kept) {
            let mut scratch = String::new();
            for value in self.column(position, batch.rows) {
                kept.push((value.kind != Kind::Absent).then(|| value.written(text, &mut scratch)));
            }
        }
        flaw.map_or(Ok(()), |flaw| Err(flaw.in_row(&plan.name, 1 + batch.rows as u64, text)))
    }

    /// Notes where the wanted values stand, up to the first row that is not right.
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
                    let missing = self.plan.missing.contains(written);
                    let code = if missing { MISSING } else { column.values.intern(written) as u32 + 1 };
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
        rows: usize,
        values: &mut Vec<f64>,
    ) -> Result<()> {
        let Some(position) = position else {
            values.resize(rows, f64::NAN);
            return Ok(());
        };
        let mut scratch = String::new();
        for (row, value) in self.column(position, rows).enumerate() {
            let number = match value.kind {
                Kind::Absent => f64::NAN,
                Kind::True => 1.0,
                Kind::False => 0.0,
                _ => match fast_float2::parse::<f64, _>(value.raw(text)) {
                    Ok(number) if number.is_finite() && !self.plan.missing.has_number => number,
                    _ => {
                        self.check_scalar(value, row, position)?;
                        let written = value.written(text, &mut scratch);
                        let number = self.plan.number(written);
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
        let what = String::from("is not valid UTF-8; if the table is in Latin-1, say --encoding latin1");
        Error::Row { name: name.into(), row, what }
    })
}

/// What is wrong with a row.
enum Flaw {
    /// It is not JSON, or not an object, or not on one line; here is what was expected.
    Syntax { at: usize, expected: &'static str },
    /// It has a key twice.
    Twice(Value),
}

impl Flaw {
    fn in_row(self, name: &str, row: u64, text: &str) -> Error {
        let what = match self {
            Flaw::Syntax { at, expected } => {
                let line = text[..at.min(text.len())].rfind('\n').map_or(0, |end| end + 1);
                let column = 1 + text[line..at.min(text.len())].chars().count();
                format!("is not a JSON object on one line: {expected} is expected at character {column}")
            }
            Flaw::Twice(key) => format!("has the key {} twice", shown(key.written(text, &mut String::new()))),
        };
        Error::Row { name: name.into(), row, what }
    }
}

/// Goes through the objects of a block.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    /// Passes blank lines; `false` at the end.
    fn find_object(&mut self) -> bool {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.at < self.text.len()
    }

    /// Hands each key and its value to `each`, and passes the end of the line.
    #[inline]
    fn object(
        &mut self,
        mut each: impl FnMut(Value, Value) -> std::result::Result<(), Flaw>,
    ) -> std::result::Result<(), Flaw> {
        self.expect(b'{', "{")?;
        self.skip_spaces();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return self.end_of_line();
        }
        loop {
            self.skip_spaces();
            self.expect(b'"', "a key in quotes")?;
            let key = self.string()?;
            self.skip_spaces();
            self.expect(b':', "a colon")?;
            self.skip_spaces();
            let value = self.value()?;
            each(key, value)?;
            self.skip_spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return self.end_of_line();
                }
                _ => return Err(self.flaw("a comma or }")),
            }
        }
    }

    fn end_of_line(&mut self) -> std::result::Result<(), Flaw> {
        self.skip_spaces();
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        self.expect(b'\n', "the end of the line")
    }

    #[inline]
    fn value(&mut self) -> std::result::Result<Value, Flaw> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string()
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') => self.nested(Kind::Array),
            Some(b'{') => self.nested(Kind::Object),
            Some(b't') => self.word("true", Kind::True),
            Some(b'f') => self.word("false", Kind::False),
            Some(b'n') => self.word("null", Kind::Absent),
            // What many writers make of a number that is none, though JSON has no word for it.
            Some(b'N') => self.word("NaN", Kind::Absent),
            Some(b'I') => self.word("Infinity", Kind::Number),
            _ => Err(self.flaw("a value")),
        }
    }

    fn word(&mut self, word: &str, kind: Kind) -> std::result::Result<Value, Flaw> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.flaw("a value"));
        }
        let start = self.at;
        self.at += word.len();
        Ok(self.since(start, kind))
    }

    fn number(&mut self) -> std::result::Result<Value, Flaw> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.peek() == Some(b'I') {
                self.word("Infinity", Kind::Number)?;
                return Ok(self.since(start, Kind::Number));
            }
        }
        let first = self.at;
        self.digits()?;
        if self.at > first + 1 && self.text.as_bytes()[first] == b'0' {
            self.at = first;
            return Err(self.flaw("a number without leading zeros"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(self.since(start, Kind::Number))
    }

    #[inline]
    fn digits(&mut self) -> std::result::Result<(), Flaw> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.flaw("a digit")) } else { Ok(()) }
    }

    /// What stands up to the closing quote; the opening one was passed.
    #[inline]
    fn string(&mut self) -> std::result::Result<Value, Flaw> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut kind = Kind::String;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    kind = Kind::Escaped;
                    self.at += 1;
                    self.escape()?;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.flaw("a closing quote")),
            }
        }
        let value = self.since(start, kind);
        self.at += 1;
        Ok(value)
    }

    fn escape(&mut self) -> std::result::Result<(), Flaw> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            [b'u', digits @ ..]
                if digits.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 =>
            {
                5
            }
            _ => return Err(self.flaw("an escape")),
        };
        Ok(())
    }

    /// Passes an array or object, however deep it is: brackets are counted, and must only be as many.
    fn nested(&mut self, kind: Kind) -> std::result::Result<Value, Flaw> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'[' | b'{') => depth += 1,
                Some(b']' | b'}') => depth -= 1,
                Some(b'"') => {
                    self.at += 1;
                    self.string()?;
                    continue;
                }
                None | Some(b'\n') => return Err(self.flaw("a closing bracket")),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(self.since(start, kind));
            }
        }
    }

    fn since(&self, start: usize, kind: Kind) -> Value {
        Value { kind, start: start as u32, end: self.at as u32 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> std::result::Result<(), Flaw> {
        if self.peek() != Some(byte) {
            return Err(self.flaw(what));
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn flaw(&self, expected: &'static str) -> Flaw {
        Flaw::Syntax { at: self.at, expected }
    }
}

/// A string without its escapes, which were checked. Half a surrogate pair stands for no character.
fn unescaped<'a>(raw: &str, scratch: &'a mut String) -> &'a str {
    scratch.clear();
    let mut parts = raw.split('\\');
    scratch.extend(parts.next());
    let mut high: Option<u32> = None;
    while let Some(part) = parts.next() {
        let lone = high.take();
        let (character, rest) = match part.as_bytes().first() {
            // Two backslashes: what follows is the next part, without an escape of its own.
            None => ('\\', parts.next().unwrap_or_default()),
            Some(b'u') => {
                let unit = u32::from_str_radix(&part[1..5], 16).unwrap_or_default();
                match (lone, unit) {
                    (Some(first), 0xdc00..0xe000) => {
                        let joined = 0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00);
                        scratch.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
                        scratch.push_str(&part[5..]);
                        continue;
                    }
                    (lone, 0xd800..0xdc00) => {
                        scratch.extend(lone.map(|_| char::REPLACEMENT_CHARACTER));
                        if part.len() == 5 {
                            high = Some(unit);
                        } else {
                            scratch.push(char::REPLACEMENT_CHARACTER);
                            scratch.push_str(&part[5..]);
                        }
                        continue;
                    }
                    _ => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), &part[5..]),
                }
            }
            Some(b'b') => ('\u{8}', &part[1..]),
            Some(b'f') => ('\u{c}', &part[1..]),
            Some(b'n') => ('\n', &part[1..]),
            Some(b'r') => ('\r', &part[1..]),
            Some(b't') => ('\t', &part[1..]),
            Some(&other) => (char::from(other), &part[1..]),
        };
        scratch.extend(lone.map(|_| char::REPLACEMENT_CHARACTER));
        scratch.push(character);
        scratch.push_str(rest);
    }
    scratch.extend(high.map(|_| char::REPLACEMENT_CHARACTER));
    scratch
}

#[cfg(test)]
mod tests;

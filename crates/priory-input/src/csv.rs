//! Bytes to fields: the rules of comma-separated text, without any reading.
//!
//! A record ends with a line feed, or a carriage return and a line feed; its fields are separated by the delimiter.
//! A field that begins with a quote ends at the next quote that stands alone; in between, delimiters and line ends
//! are text and two quotes mean one (RFC 4180). Anything but the end of the field after the closing quote is
//! refused: it nearly always means that quotes were escaped in another way, and reading on would shift the columns.
//! A quote further inside a field is an ordinary character, as in `5" pipe`, and so is a carriage return that no
//! line feed follows.
//!
//! A line that begins with the comment character, if there is one, is passed over, whatever else it holds.
//!
//! A blank line is a record with one empty field. So it is a row of a table with one column, and in a wider table
//! it is skipped and not counted.
//!
//! The work is done in two steps on a block of bytes that holds whole records. [`Records::split`] notes where the
//! fields begin; a column is then read by walking down its fields, without looking at the others.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3, memrchr};

use crate::marks::{self, ONES, Signs, TOP};

/// The characters that mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The byte between fields.
    pub(crate) delimiter: u8,
    /// What begins a line that is passed over.
    pub(crate) comment: Option<u8>,
}

/// Where the last whole record of these bytes ends, or the last of the first `most` if there are more; 0 if none is
/// whole. The bytes begin with a record.
pub(crate) fn end_of_whole_records(bytes: &[u8], dialect: Dialect, most: usize) -> usize {
    // Only a quoted field can hide a line end. Most tables have none.
    if memchr(b'"', bytes).is_none() {
        return end_of_whole_lines(bytes, most);
    }
    let mut marks = Marks::new(bytes, dialect);
    let mut field = 0;
    let mut end = 0;
    let mut records = 0;
    while records < most {
        if field == end && marks.comment_at(field) {
            field = marks.pass_line();
            if field > bytes.len() {
                break;
            }
            end = field;
            continue;
        }
        let mark = marks.next();
        if mark >= bytes.len() {
            break;
        }
        if bytes[mark] != b'"' {
            field = mark + 1;
            if bytes[mark] == b'\n' {
                end = field;
                records += 1;
            }
        } else if mark == field {
            pass_closing_quote(&mut marks);
        }
    }
    end
}

/// Where the last whole line of these bytes ends, or the last of the first `most` if there are more; 0 if none is whole.
pub(crate) fn end_of_whole_lines(bytes: &[u8], most: usize) -> usize {
    let last = memrchr(b'\n', bytes).map_or(0, |position| position + 1);
    // Lines that are long on average need not be counted.
    if last <= most || memchr_iter(b'\n', bytes).count() <= most {
        return last;
    }
    memchr_iter(b'\n', bytes).nth(most - 1).map_or(0, |position| position + 1)
}

/// Where the blank lines end that these bytes begin with.
pub(crate) fn end_of_blank_lines(bytes: &[u8]) -> usize {
    let mut end = 0;
    loop {
        match &bytes[end..] {
            [b'\n', ..] => end += 1,
            [b'\r', b'\n', ..] => end += 2,
            _ => return end,
        }
    }
}

/// These whole records without the blank lines at their end.
pub(crate) fn without_blank_end(records: &[u8]) -> &[u8] {
    let mut records = records;
    loop {
        let Some(shorter) = records.strip_suffix(b"\n") else { return records };
        let shorter = shorter.strip_suffix(b"\r").unwrap_or(shorter);
        // What is left ends with a line feed only if the line was blank: a quoted field would end with a quote.
        if !shorter.is_empty() && !shorter.ends_with(b"\n") {
            return records;
        }
        records = shorter;
    }
}

/// Where the fields of some records lie in their block.
pub(crate) struct Records {
    dialect: Dialect,
    width: usize,
    /// For each row the start of each field, then the start that a further field would have. So a field ends one
    /// byte before the next start, whether a delimiter or a line end follows it.
    starts: Vec<u32>,
}

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It does not have the width of the table.
    FieldCount { found: usize },
    /// Its field at this position goes on after the closing quote.
    TextAfterQuote { field: usize },
}

impl Records {
    /// No records yet, of a table with this many columns.
    pub(crate) fn new(dialect: Dialect, width: usize) -> Self {
        Records { dialect, width, starts: Vec::new() }
    }

    /// How many rows were found by the last split.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() / (self.width + 1)
    }

    /// Finds the fields of the records of a block, up to the first that cannot be used. Returns where that begins,
    /// and why.
    ///
    /// The block holds whole records, each with its line end, and is smaller than 4 GiB.
    pub(crate) fn split(&mut self, block: &[u8]) -> (usize, Option<Flaw>) {
        debug_assert!(block.is_empty() || block.ends_with(b"\n"), "a block ends with a line end");
        self.starts.clear();
        let mut marks = Marks::new(block, self.dialect);
        let mut record = 0;
        while record < block.len() {
            if marks.comment_at(record) {
                record = marks.pass_line();
                continue;
            }
            let before = self.starts.len();
            let next = match split_record(&mut marks, record, &mut self.starts) {
                Ok(next) => next,
                Err(flaw) => {
                    self.starts.truncate(before);
                    return (record, Some(flaw));
                }
            };
            let found = self.starts.len() - before - 1;
            if found != self.width {
                let blank = found == 1 && self.starts[before] + 1 == self.starts[before + 1];
                self.starts.truncate(before);
                if !blank {
                    return (record, Some(Flaw::FieldCount { found }));
                }
            }
            record = next;
        }
        (record, None)
    }

    /// Where the fields of one column lie, from the first row to the last.
    pub(crate) fn column(&self, column: usize) -> impl Iterator<Item = Range<usize>> {
        assert!(column < self.width, "the table has this column");
        let rows = self.starts.chunks_exact(self.width + 1);
        rows.map(move |starts| starts[column] as usize..starts[column + 1] as usize - 1)
    }

    /// The row and the column of the byte at this position of the block.
    pub(crate) fn locate(&self, position: usize) -> (usize, usize) {
        let starts: Vec<&[u32]> = self.starts.chunks_exact(self.width + 1).collect();
        let begins_before = |start: u32| start as usize <= position;
        let row = starts.partition_point(|starts| begins_before(starts[0])).saturating_sub(1);
        let fields = starts.get(row).map_or(&[][..], |starts| &starts[..self.width]);
        (row, fields.partition_point(|&start| begins_before(start)).saturating_sub(1))
    }
}

/// A table with more columns than this is a mistake, or too wide: what is counted, estimated and written of a column takes
/// some five kilobytes, even if it has a single value.
pub(crate) const MOST_COLUMNS: usize = 1 << 18;

/// The fields of the first record of a block that is not blank, and where it is. More fields than there may be
/// columns are a flaw.
pub(crate) fn first_record(block: &[u8], dialect: Dialect) -> Result<(Vec<&[u8]>, Range<usize>), Flaw> {
    let mut marks = Marks::new(block, dialect);
    let mut starts = Vec::new();
    let mut record = 0;
    while record < block.len() {
        if marks.comment_at(record) {
            record = marks.pass_line();
            continue;
        }
        starts.clear();
        match split_record(&mut marks, record, &mut starts) {
            Err(flaw) => return Err(flaw),
            Ok(next) if starts.len() == 2 && starts[0] + 1 == starts[1] => record = next,
            Ok(next) => {
                let found = starts.len() - 1;
                if found > MOST_COLUMNS {
                    return Err(Flaw::FieldCount { found });
                }
                let field = |pair: &[u32]| &block[pair[0] as usize..pair[1] as usize - 1];
                return Ok((starts.windows(2).map(field).collect(), record..next));
            }
        }
    }
    Ok((Vec::new(), record..record))
}

/// Notes the starts of the fields of the record that begins here, and returns where the next record begins.
#[inline]
fn split_record(marks: &mut Marks<'_>, record: usize, starts: &mut Vec<u32>) -> Result<usize, Flaw> {
    let block = marks.text;
    let first = starts.len();
    let mut start = record;
    starts.push(start as u32);
    loop {
        let mark = marks.next();
        if mark >= block.len() || block[mark] == b'\n' {
            let carriage_return = mark > record && block[mark - 1] == b'\r';
            starts.push((mark + 1 - usize::from(carriage_return)) as u32);
            return Ok(mark + 1);
        }
        if block[mark] != b'"' {
            start = mark + 1;
            starts.push(start as u32);
        } else if mark == start {
            let after = pass_closing_quote(marks);
            if !ends_field(&block[after..], marks.signs.delimiter) {
                return Err(Flaw::TextAfterQuote { field: starts.len() - 1 - first });
            }
        }
    }
}

/// Passes the marks inside a quoted field, whose opening quote was passed, and the closing quote; returns the
/// position after that.
#[inline]
fn pass_closing_quote(marks: &mut Marks<'_>) -> usize {
    loop {
        let mark = marks.next();
        if mark >= marks.text.len() {
            return marks.text.len();
        }
        if marks.text[mark] == b'"' {
            if marks.text.get(mark + 1) != Some(&b'"') {
                return mark + 1;
            }
            marks.next(); // two quotes are one character of the field
        }
    }
}

fn ends_field(rest: &[u8], delimiter: u8) -> bool {
    match rest {
        [byte, ..] if *byte == delimiter => true,
        [b'\n', ..] | [b'\r', b'\n', ..] => true,
        _ => false,
    }
}

/// The value that a field stands for. `scratch` holds it if it had to be put together.
#[inline]
pub(crate) fn unquoted<'a>(field: &'a str, scratch: &'a mut String) -> &'a str {
    if !field.starts_with('"') {
        return field;
    }
    let inner = &field[1..field.len() - 1];
    if memchr(b'"', inner.as_bytes()).is_none() {
        return inner;
    }
    scratch.clear();
    let mut parts = inner.split("\"\"");
    scratch.extend(parts.next());
    for part in parts {
        scratch.push('"');
        scratch.push_str(part);
    }
    scratch
}

/// The delimiters, line feeds and quotes of a block.
type Marks<'a> = marks::Marks<'a, Dialect>;

impl Signs for Dialect {
    #[inline(always)]
    fn top_bits(self, eight: u64) -> u64 {
        // The top bit of each byte says that the byte is not zero; the addition never carries into the next byte.
        let nonzero = |word: u64| ((word & !TOP) + !TOP) | word;
        let differs = |sign: u8| nonzero(eight ^ (u64::from(sign) * ONES));
        !(differs(self.delimiter) & differs(b'\n') & differs(b'"')) & TOP
    }

    fn find(self, text: &[u8]) -> Option<usize> {
        memchr3(self.delimiter, b'\n', b'"', text)
    }
}

impl Marks<'_> {
    /// Whether the line that begins here is a comment.
    #[inline]
    fn comment_at(&self, start: usize) -> bool {
        self.signs.comment.is_some_and(|comment| self.text.get(start) == Some(&comment))
    }

    /// Passes the marks of a line; returns where the next begins, which is after the block if the line has no end.
    fn pass_line(&mut self) -> usize {
        loop {
            let mark = self.next();
            if mark >= self.text.len() || self.text[mark] == b'\n' {
                return mark + 1;
            }
        }
    }
}

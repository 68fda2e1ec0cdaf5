//! Rows that are to be learnt, forgotten or tested on, as lines of JSON with a value for each column that a model has learnt.
//!
//! So they are read like any table, when they come and again whenever a journal is opened; and so no later change of how requests
//! are understood changes what was acknowledged.

use std::collections::BTreeSet;
use std::fmt::Write;

use bytes::Bytes;
use priory::{Batch, Kind, Learnt, Schema};
use priory_input::{InputFormat, Purpose, ReadOptions, RowValue, Table, WholeNumbers};

use crate::refusal::Refusal;
use crate::rows::{self, Places, Read, Sink};

/// What is said of a table that came with a request.
pub(crate) const REQUEST: &str = "the request";

/// The columns of such lines.
pub(crate) struct Lines {
    places: Places,
    columns: Vec<Column>,
    target: String,
}

/// A column of the table, and how its values are written.
struct Column {
    /// Its name as JSON.
    quoted: String,
    writing: Writing,
}

#[derive(Clone, Copy)]
enum Writing {
    Category(WholeNumbers),
    Number,
    /// As it comes: text, or what is read in several ways.
    Plain,
}

impl Lines {
    /// For what was learnt.
    pub(crate) fn new(learnt: &Learnt) -> Self {
        let schema = learnt.statistics.schema();
        let classes = learnt.statistics.classes();
        let of_target = match schema.bins {
            Some(_) => Writing::Plain,
            None => Writing::Category(WholeNumbers::among(classes.iter().map(|(name, _)| *name))),
        };
        let mut columns = vec![(schema.target.as_str(), of_target)];
        columns.extend(schema.weight.as_deref().map(|weight| (weight, Writing::Number)));
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for column in schema.columns.iter().filter(|column| known.insert(column.source())) {
            let writing = match column.kind {
                _ if column.from.is_some() || column.written.is_some() => Writing::Plain,
                Kind::Category | Kind::Joint => Writing::Category(spelling(learnt, &column.name)),
                Kind::Number | Kind::Moments | Kind::Group => Writing::Number,
                Kind::Text => Writing::Plain,
            };
            columns.push((column.source(), writing));
        }
        let quoted = |name: &str| serde_json::to_string(name).expect("a name can be written as JSON");
        Lines {
            places: Places::new(columns.iter().map(|(name, _)| *name)),
            target: schema.target.clone(),
            columns: columns
                .iter()
                .map(|&(name, writing)| Column { quoted: quoted(name), writing })
                .collect(),
        }
    }

    /// Rewrites the rows of a request, all of which must have a class.
    pub(crate) fn of_request(&self, body: &[u8], most_rows: usize) -> Result<(Read, Bytes), Refusal> {
        let mut cells = Cells { columns: &self.columns, values: vec![Vec::new(); self.columns.len()] };
        let read = rows::read(body, &self.places, most_rows, &mut cells)?;
        if let Some(row) = cells.values[0].iter().position(|value| value == "null") {
            let (row, target) = (row + 1, &self.target);
            return Err(Refusal::unprocessable(format!("row {row} has no `{target}`, which says its class")));
        }
        Ok((read, cells.lines().into()))
    }
}

/// How whole numbers are spelt in a column of categories.
pub(crate) fn spelling(learnt: &Learnt, column: &str) -> WholeNumbers {
    WholeNumbers::among(learnt.statistics.values_of(column))
}

/// Values as JSON, column by column.
struct Cells<'a> {
    columns: &'a [Column],
    values: Vec<Vec<String>>,
}

impl Sink for Cells<'_> {
    fn push(&mut self, place: usize, value: RowValue<'_>) -> Result<(), String> {
        self.values[place].push(self.columns[place].writing.written(value));
        Ok(())
    }

    fn end_row(&mut self) {}
}

impl Cells<'_> {
    fn lines(&self) -> Vec<u8> {
        let mut lines = String::new();
        for row in 0..self.values[0].len() {
            for (place, (column, values)) in self.columns.iter().zip(&self.values).enumerate() {
                lines.push(if place == 0 { '{' } else { ',' });
                write!(lines, "{}:{}", column.quoted, values[row]).expect("memory takes everything");
            }
            lines.push_str("}\n");
        }
        lines.into_bytes()
    }
}

impl Writing {
    fn written(self, value: RowValue<'_>) -> String {
        let quoted = |text: &str| serde_json::to_string(text).expect("a string can be written as JSON");
        let spelt = |write: &dyn Fn(WholeNumbers, &mut String)| match self {
            Writing::Category(spelling) => {
                let mut text = String::new();
                write(spelling, &mut text);
                quoted(&text)
            }
            Writing::Number | Writing::Plain => {
                let mut text = String::new();
                write(WholeNumbers::AsTyped, &mut text);
                text
            }
        };
        match value {
            RowValue::Missing => "null".to_owned(),
            RowValue::Text(text) => quoted(text),
            RowValue::Boolean(truth) => match self {
                Writing::Number => u8::from(truth).to_string(),
                Writing::Category(_) => quoted(if truth { "true" } else { "false" }),
                Writing::Plain => truth.to_string(),
            },
            RowValue::Integer(number) => spelt(&|spelling, text| spelling.write_integer(number, text)),
            RowValue::Number(number) => spelt(&|spelling, text| spelling.write_number(number, text)),
        }
    }
}

/// The format of rows that were acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Written {
    /// Lines of JSON.
    Jsonl,
    /// A table with a header.
    Csv,
}

/// A table that came with a request, or did so once.
pub(crate) fn table(body: Bytes, format: InputFormat) -> priory_input::Result<Table> {
    let options = ReadOptions { input_format: Some(format), ..ReadOptions::default() };
    Table::from_reader(REQUEST, bytes::Buf::reader(body), &options)
}

/// The rows of such a table, all of which have a class.
pub(crate) fn labelled(body: Bytes, format: Written, schema: &Schema) -> priory_input::Result<Vec<Batch>> {
    if body.is_empty() {
        return Ok(Vec::new());
    }
    let format = match format {
        Written::Jsonl => InputFormat::JsonLines,
        Written::Csv => InputFormat::Delimited,
    };
    let mut batches = table(body, format)?.batches(schema, Purpose::Learning)?;
    let mut all = Vec::new();
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch)? {
        all.push(batch.clone());
    }
    Ok(all)
}

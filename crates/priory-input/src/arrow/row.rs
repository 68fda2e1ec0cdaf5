//! Rows that come one by one, as values instead of a table. They are read as a table of the same values would be, without what a
//! table takes to be opened.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use priory::written::Written;
use priory::{Batch, BatchColumn, Column, Schema};

use crate::arrow::text::float;
use crate::error::Result;
use crate::format::ReadOptions;
use crate::reader::{BadNumber, Plan};
use crate::table::{Purpose, Table};
use crate::text::Tokenizer;

/// A value of a row, as programs have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowValue<'a> {
    /// Nothing.
    Missing,
    /// Text, which may spell a number.
    Text(&'a str),
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number; NaN is as good as missing.
    Number(f64),
}

/// How whole numbers are spelt where they are categories. A table of whole numbers has `1`, and a table of floating-point numbers,
/// which it becomes in some programs as soon as a value is missing, has `1.0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WholeNumbers {
    /// As their type has it.
    #[default]
    AsTyped,
    /// Always like `1`.
    Plain,
    /// Always like `1.0`.
    Pointed,
}

impl WholeNumbers {
    /// How the whole numbers among these values are spelt, if all are spelt alike.
    pub fn among<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut plain, mut pointed) = (false, false);
        for value in values {
            let digits = value.strip_prefix('-').unwrap_or(value);
            let (whole, is_pointed) =
                digits.strip_suffix(".0").map_or((digits, false), |whole| (whole, true));
            if !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()) {
                plain |= !is_pointed;
                pointed |= is_pointed;
            }
        }
        match (plain, pointed) {
            (true, false) => WholeNumbers::Plain,
            (false, true) => WholeNumbers::Pointed,
            _ => WholeNumbers::AsTyped,
        }
    }

    /// Appends a whole number.
    pub fn write_integer(self, number: i64, out: &mut String) {
        let point = if self == WholeNumbers::Pointed { ".0" } else { "" };
        write!(out, "{number}{point}").expect("memory takes everything");
    }

    /// Appends a number that may have a fraction.
    pub fn write_number(self, number: f64, out: &mut String) {
        /// Beyond this, neighbouring numbers are more than 1 apart.
        const MOST: f64 = (1_u64 << 53) as f64;
        let written = match self {
            WholeNumbers::Plain if number.fract() == 0.0 && number.abs() <= MOST => {
                write!(out, "{}", number as i64)
            }
            _ => float(&format!("{number:?}"), out),
        };
        written.expect("memory takes everything");
    }
}

/// Reads rows into a batch, value by value.
pub struct RowReader {
    plan: Plan,
    tokenizers: Vec<Option<Tokenizer>>,
    whole_numbers: Vec<WholeNumbers>,
    batch: Batch,
    scratch: String,
}

impl RowReader {
    /// For rows of this schema, which messages call `name`, and for an empty batch of it. Each column spells whole numbers in
    /// its own way.
    ///
    /// # Errors
    /// If the schema has no columns, or asks for text to be read in a way that does not exist.
    pub fn new(
        name: &str,
        schema: &Schema,
        batch: Batch,
        whole_numbers: Vec<WholeNumbers>,
        options: &ReadOptions,
    ) -> Result<Self> {
        // Several columns may be read from the same value.
        let sources: BTreeSet<&str> = schema.columns.iter().map(Column::source).collect();
        let fields = sources.into_iter().map(|source| Field::new(source, DataType::Utf8, true));
        let fields = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
        let table = Table::from_record_batches(name, fields, Box::new(std::iter::empty()), options)?;
        let plan = Plan::new(&table, schema, Purpose::Scoring)?;
        let tokenizers = plan.tokenizers.clone();
        Ok(RowReader { plan, tokenizers, whole_numbers, batch, scratch: String::new() })
    }

    /// The rows that were read.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Begins anew with a batch without rows.
    pub fn clear(&mut self) {
        self.batch.clear();
        self.batch.first_row = 1;
    }

    /// Reads the value that the next row has in a column of the schema. Every column gets one before the row
    /// [ends](Self::end_row).
    ///
    /// # Errors
    /// If the column is one of numbers, and the value is none.
    pub fn push(&mut self, column: usize, value: RowValue<'_>) -> Result<()> {
        let RowReader { plan, tokenizers, whole_numbers, batch, scratch } = self;
        let row = batch.rows;
        match &mut batch.columns[column] {
            BatchColumn::Number(numbers) => numbers.push(number(plan, row, column, value, scratch)?),
            BatchColumn::Category(category) => {
                let text = written(value, whole_numbers[column], scratch);
                let is_plain = plan.written[column].is_none();
                let known = |text: &&str| is_plain && !plan.missing.contains(text);
                category.push(match text {
                    Some(text) if !is_plain => plan.category(column, row, place(plan, column), text)?,
                    text => text.filter(known),
                });
            }
            BatchColumn::Text(documents) => {
                let text = written(value, WholeNumbers::AsTyped, scratch);
                plan.read_document(text, &mut tokenizers[column], documents);
            }
        }
        Ok(())
    }

    /// Ends a row, which has no class.
    pub fn end_row(&mut self) {
        self.batch.classes.push(None);
        self.batch.rows += 1;
    }
}

/// A value as a number, NaN if it is missing.
fn number(plan: &Plan, row: usize, column: usize, value: RowValue<'_>, scratch: &mut String) -> Result<f64> {
    let is_date = matches!(plan.written[column], Some(Written::Date(_)));
    let place = place(plan, column);
    let number = match value {
        RowValue::Missing => return Ok(f64::NAN),
        RowValue::Text(text) => {
            let number = plan.number(column, text, scratch);
            return number.or_else(|bad| plan.bad_value(bad, row, place, text));
        }
        // Seconds since 1970, for example.
        RowValue::Integer(count) if is_date => {
            let text = count.to_string();
            let number = plan.number(column, &text, scratch);
            return number.or_else(|bad| plan.bad_value(bad, row, place, &text));
        }
        RowValue::Boolean(truth) => f64::from(u8::from(truth)),
        RowValue::Integer(number) => number as f64,
        RowValue::Number(number) => number,
    };
    if number.is_infinite() {
        return plan.bad_value(BadNumber::Infinite, row, place, &number.to_string());
    }
    Ok(if plan.missing.numbers.contains(&number) { f64::NAN } else { number })
}

/// Where a column of the schema stands among those that are read.
fn place(plan: &Plan, column: usize) -> usize {
    plan.features[column].unwrap_or_default()
}

/// A value as text, unless it is missing.
fn written<'a>(value: RowValue<'a>, whole_numbers: WholeNumbers, scratch: &'a mut String) -> Option<&'a str> {
    scratch.clear();
    match value {
        RowValue::Missing => return None,
        RowValue::Text(text) => return Some(text),
        RowValue::Boolean(truth) => return Some(if truth { "true" } else { "false" }),
        RowValue::Integer(number) => whole_numbers.write_integer(number, scratch),
        RowValue::Number(number) if number.is_nan() => return None,
        RowValue::Number(number) => whole_numbers.write_number(number, scratch),
    }
    Some(scratch)
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
    use priory::Kind;
    use priory::text::TextSettings;
    use proptest::prelude::*;

    use super::*;
    use crate::{BadValues, Error};

    fn schema() -> Schema {
        let mut text = Column::new("text", Kind::Text);
        text.text = Some(TextSettings::default());
        let columns =
            vec![Column::new("number", Kind::Number), Column::new("category", Kind::Category), text];
        let missing = ["", "NA", "-999"].map(str::to_owned).to_vec();
        Schema { missing, ..Schema::new("class", columns).unwrap() }
    }

    fn options(bad_values: BadValues) -> ReadOptions {
        ReadOptions { bad_values, ..ReadOptions::default() }
    }

    /// A row of nothing but this value.
    fn row(value: RowValue<'_>, bad_values: BadValues) -> Result<Batch> {
        let (schema, as_typed) = (schema(), vec![WholeNumbers::AsTyped; 3]);
        let mut reader =
            RowReader::new("X", &schema, Batch::new(&schema), as_typed, &options(bad_values)).unwrap();
        // What was read before leaves nothing behind.
        for _ in 0..2 {
            reader.clear();
            for column in 0..3 {
                reader.push(column, value)?;
            }
            reader.end_row();
        }
        Ok(reader.batch().clone())
    }

    /// The same row of a table.
    fn of_table(value: RowValue<'_>, bad_values: BadValues) -> Result<Batch> {
        let column: ArrayRef = match value {
            RowValue::Missing => Arc::new(StringArray::from(vec![None::<&str>])),
            RowValue::Text(text) => Arc::new(StringArray::from(vec![text])),
            RowValue::Boolean(truth) => Arc::new(BooleanArray::from(vec![truth])),
            RowValue::Integer(number) => Arc::new(Int64Array::from(vec![number])),
            // A number that is none is missing in a table too, if its program says so.
            RowValue::Number(number) => {
                Arc::new(Float64Array::from(vec![Some(number).filter(|x| !x.is_nan())]))
            }
        };
        let rows = ["number", "category", "text"].map(|name| (name, Arc::clone(&column), true));
        let rows = RecordBatch::try_from_iter_with_nullable(rows).unwrap();
        let batches = Box::new(std::iter::once(Ok(rows.clone())));
        let table = Table::from_record_batches("X", rows.schema(), batches, &options(bad_values)).unwrap();
        let (schema, mut batches) = (schema(), table.batches(&schema(), Purpose::Scoring).unwrap());
        let mut batch = Batch::new(&schema);
        batches.read(&mut batch)?;
        Ok(batch)
    }

    fn values() -> impl Strategy<Value = RowValue<'static>> {
        let texts = vec!["", "NA", "red", "1", "1.0", " 2.5 ", "1e3", "inf", "two words", "-999", "é"];
        prop_oneof![
            Just(RowValue::Missing),
            prop::sample::select(texts).prop_map(RowValue::Text),
            any::<bool>().prop_map(RowValue::Boolean),
            any::<i64>().prop_map(RowValue::Integer),
            any::<f64>().prop_map(RowValue::Number),
            prop::sample::select(vec![-999.0, 0.0, -0.0, 1.0, 1e16, 1e-7, 0.1]).prop_map(RowValue::Number),
            Just(RowValue::Integer(-999)),
        ]
    }

    proptest! {
        #[test]
        fn a_row_is_read_as_a_table_of_it_is(value in values(), tolerant: bool) {
            let bad_values = if tolerant { BadValues::Missing } else { BadValues::Refused };
            match (row(value, bad_values), of_table(value, bad_values)) {
                (Ok(row), Ok(table)) => {
                    prop_assert_eq!(row.rows, 1);
                    for column in 0..3 {
                        prop_assert_eq!(row.written(column, 0), table.written(column, 0));
                    }
                    let tokens = |batch: &Batch| batch.text(2).tokens().names().map(str::to_owned).collect::<Vec<_>>();
                    prop_assert_eq!(tokens(&row), tokens(&table));
                }
                (Err(row), Err(table)) => prop_assert_eq!(row.to_string(), table.to_string()),
                (row, table) => prop_assert!(false, "{row:?} {table:?}"),
            }
        }
    }

    #[test]
    fn a_word_among_numbers_is_named() {
        let error = row(RowValue::Text("red"), BadValues::Refused).unwrap_err();
        assert!(matches!(error, Error::NoNumber { row: 1, .. }), "{error}");
        assert!(row(RowValue::Text("red"), BadValues::Missing).unwrap().numbers(0)[0].is_nan());
    }

    #[test]
    fn whole_numbers_are_spelt_as_they_are_known() {
        use WholeNumbers::*;
        for (values, spelling) in [
            (&["1", "2", "x"][..], Plain),
            (&["1.0", "-2.0", "x"], Pointed),
            (&["1", "1.0"], AsTyped),
            (&["x", "", "-", ".0", "1.5"], AsTyped),
        ] {
            assert_eq!(WholeNumbers::among(values.iter().copied()), spelling, "{values:?}");
        }
        let integer = |spelling: WholeNumbers| {
            let mut text = String::new();
            spelling.write_integer(-3, &mut text);
            text
        };
        let number = |spelling: WholeNumbers, number| {
            let mut text = String::new();
            spelling.write_number(number, &mut text);
            text
        };
        assert_eq!([AsTyped, Plain, Pointed].map(integer), ["-3", "-3", "-3.0"]);
        assert_eq!([AsTyped, Plain, Pointed].map(|spelling| number(spelling, 3.0)), ["3.0", "3", "3.0"]);
        assert_eq!([AsTyped, Plain, Pointed].map(|spelling| number(spelling, 0.5)), ["0.5"; 3]);
        assert_eq!(number(Plain, 1e300), "1e+300");
    }
}

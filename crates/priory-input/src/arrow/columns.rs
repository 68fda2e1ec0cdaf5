//! Arrow's arrays to the columns of a batch.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use priory::batch::MISSING;
use priory::infer::Stored;
use priory::written::{DateOrder, PartOfDate, Written};
use priory::{Batch, BatchColumn, CategoryColumn, TextColumn};

use crate::arrow::stored;
use crate::arrow::text::{NotUtf8, days, ticks, written};
use crate::error::{Error, Result, shown};
use crate::kept::KeptColumn;
use crate::reader::{BadNumber, Plan};
use crate::text::Tokenizer;

/// Takes record batches apart. They hold the wanted columns of the table only, in its order.
pub(crate) struct ArrowParser {
    plan: Arc<Plan>,
    /// The wanted columns of the table.
    wanted: Vec<usize>,
    /// What is known of the dictionaries of the target and of each feature.
    dictionaries: Vec<Dictionary>,
    scratch: String,
    tokenizers: Vec<Option<Tokenizer>>,
}

impl ArrowParser {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        let wanted = plan.wanted();
        let dictionaries = (0..=plan.features.len()).map(|_| Dictionary::default()).collect();
        let tokenizers = plan.tokenizers.clone();
        ArrowParser { plan: Arc::clone(plan), wanted, dictionaries, scratch: String::new(), tokenizers }
    }

    /// As [`Parser::fill`](crate::input::Parser::fill).
    pub(crate) fn fill(
        &mut self,
        rows: &RecordBatch,
        batch: &mut Batch,
        kept: &mut [KeptColumn],
    ) -> Result<()> {
        self.begin();
        self.append(rows, batch, kept)
    }

    /// Forgets the codes of the last batch.
    pub(super) fn begin(&mut self) {
        self.dictionaries.iter_mut().for_each(|dictionary| *dictionary = Dictionary::default());
    }

    /// Appends rows to a batch that may have some.
    pub(super) fn append(
        &mut self,
        rows: &RecordBatch,
        batch: &mut Batch,
        kept: &mut [KeptColumn],
    ) -> Result<()> {
        let plan = Arc::clone(&self.plan);
        let first = batch.rows;
        let all = first + rows.num_rows();
        match plan.target {
            Some(position) => self.categories(rows, position, None, first, &mut batch.classes)?,
            None => batch.classes.codes.resize(all, MISSING),
        }
        for (feature, (column, position)) in batch.columns.iter_mut().zip(&plan.features).enumerate() {
            match (column, *position) {
                (BatchColumn::Category(column), Some(position)) => {
                    self.categories(rows, position, Some(feature), first, column)?;
                }
                (BatchColumn::Category(column), None) => column.codes.resize(all, MISSING),
                (BatchColumn::Number(values), Some(position)) => {
                    let array = self.array(rows, position);
                    self.numbers(array.as_ref(), position, feature, first, values)?;
                }
                (BatchColumn::Number(values), None) => values.resize(all, f64::NAN),
                (BatchColumn::Text(column), Some(position)) => {
                    self.documents(rows, position, feature, column)?;
                }
                (BatchColumn::Text(column), None) => (first..all).for_each(|_| column.push_missing()),
            }
        }
        if let Some(position) = plan.weight {
            self.weights(rows, position, first, &mut batch.weights)?;
        }
        for (column, &position) in kept.iter_mut().zip(&plan.kept) {
            let array = self.array(rows, position);
            for row in 0..array.len() {
                let text = written(array.as_ref(), row, &mut self.scratch);
                column.push(text.map_err(|NotUtf8| not_text(&plan, position))?);
            }
        }
        batch.rows = all;
        Ok(())
    }

    fn array(&self, rows: &RecordBatch, position: usize) -> ArrayRef {
        Arc::clone(rows.column(self.place(position)))
    }

    /// Where a column of the table is among the wanted ones.
    fn place(&self, position: usize) -> usize {
        self.wanted.binary_search(&position).expect("columns are asked for if they are wanted")
    }

    fn not_text(&self, position: usize) -> Error {
        not_text(&self.plan, position)
    }

    fn categories(
        &mut self,
        rows: &RecordBatch,
        position: usize,
        feature: Option<usize>,
        first: usize,
        column: &mut CategoryColumn,
    ) -> Result<()> {
        use DataType as T;
        let array = self.array(rows, position);
        let array = array.as_ref();
        column.codes.reserve(array.len());
        let plan = Arc::clone(&self.plan);
        if let Some(feature) = feature
            && let Some(style) = &plan.written[feature]
        {
            return self.written_categories(array, style, (feature, position, first), column);
        }
        let mut coder = Coder { plan: &plan, column };
        let done = match array.data_type() {
            T::Dictionary(key, _) => {
                let dictionary = &mut self.dictionaries[feature.map_or(0, |feature| feature + 1)];
                match key.as_ref() {
                    T::Int8 => coder.by_dictionary::<Int8Type>(array, dictionary),
                    T::Int16 => coder.by_dictionary::<Int16Type>(array, dictionary),
                    T::Int32 => coder.by_dictionary::<Int32Type>(array, dictionary),
                    T::Int64 => coder.by_dictionary::<Int64Type>(array, dictionary),
                    T::UInt8 => coder.by_dictionary::<UInt8Type>(array, dictionary),
                    T::UInt16 => coder.by_dictionary::<UInt16Type>(array, dictionary),
                    T::UInt32 => coder.by_dictionary::<UInt32Type>(array, dictionary),
                    _ => coder.by_dictionary::<UInt64Type>(array, dictionary),
                }
            }
            T::Utf8 => coder.strings(array.as_string::<i32>().iter()),
            T::LargeUtf8 => coder.strings(array.as_string::<i64>().iter()),
            T::Utf8View => coder.strings(array.as_string_view().iter()),
            T::Int8 => coder.by_bits::<Int8Type>(array, |x| x as u64, &mut self.scratch),
            T::Int16 => coder.by_bits::<Int16Type>(array, |x| x as u64, &mut self.scratch),
            T::Int32 => coder.by_bits::<Int32Type>(array, |x| x as u64, &mut self.scratch),
            T::Int64 => coder.by_bits::<Int64Type>(array, |x| x as u64, &mut self.scratch),
            T::UInt8 => coder.by_bits::<UInt8Type>(array, u64::from, &mut self.scratch),
            T::UInt16 => coder.by_bits::<UInt16Type>(array, u64::from, &mut self.scratch),
            T::UInt32 => coder.by_bits::<UInt32Type>(array, u64::from, &mut self.scratch),
            T::UInt64 => coder.by_bits::<UInt64Type>(array, |x| x, &mut self.scratch),
            T::Float32 => coder.by_bits::<Float32Type>(array, |x| x.to_bits().into(), &mut self.scratch),
            T::Float64 => coder.by_bits::<Float64Type>(array, f64::to_bits, &mut self.scratch),
            T::Date32 => coder.by_bits::<Date32Type>(array, |x| x as u64, &mut self.scratch),
            _ => coder.one_by_one(array, &mut self.scratch),
        };
        done.map_err(|NotUtf8| self.not_text(position))
    }

    /// Categories that are not written plainly: parts of dates, and truth values.
    fn written_categories(
        &mut self,
        array: &dyn Array,
        style: &Written,
        (feature, position, first): (usize, usize, usize),
        column: &mut CategoryColumn,
    ) -> Result<()> {
        // Dates that are stored as such are written here, and always in the same order.
        let stored_date = match style {
            Written::Part(PartOfDate { part, .. }) if stored(array.data_type()) == Ok(Stored::Date) => {
                Some(Written::Part(PartOfDate { date: DateOrder::Ymd, part: *part }))
            }
            _ => None,
        };
        for row in 0..array.len() {
            let Ok(text) = written(array, row, &mut self.scratch) else {
                return Err(self.not_text(position));
            };
            let value = match (text, &stored_date) {
                (None, _) => None,
                (Some(text), Some(date)) => date.category(text),
                (Some(text), None) => self.plan.category(feature, first + row, position, text)?,
            };
            let code = value.map_or(MISSING, |value| column.values.intern(value) as u32 + 1);
            column.codes.push(code);
        }
        Ok(())
    }

    fn documents(
        &mut self,
        rows: &RecordBatch,
        position: usize,
        feature: usize,
        column: &mut TextColumn,
    ) -> Result<()> {
        let array = self.array(rows, position);
        for row in 0..array.len() {
            let document = written(array.as_ref(), row, &mut self.scratch);
            let Ok(document) = document else { return Err(self.not_text(position)) };
            self.plan.read_document(document, &mut self.tokenizers[feature], column);
        }
        Ok(())
    }

    fn numbers(
        &self,
        array: &dyn Array,
        position: usize,
        feature: usize,
        first: usize,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        use DataType as T;
        out.reserve(array.len());
        let before = out.len();
        let is_date = matches!(self.plan.written[feature], Some(Written::Date(_)));
        match array.data_type() {
            T::Dictionary(..) => return self.dictionary_numbers(array, position, feature, first, out),
            // Counts of seconds, and dates in strings.
            other if is_date && stored(other) != Ok(Stored::Date) => {
                return self.spelt_numbers(array, position, feature, first, out);
            }
            T::Null => out.resize(before + array.len(), f64::NAN),
            T::Float64 => push::<Float64Type>(array, out, |x| x),
            T::Float32 => push::<Float32Type>(array, out, f64::from),
            T::Float16 => push::<Float16Type>(array, out, |x| x.to_f64()),
            T::Int8 => push::<Int8Type>(array, out, f64::from),
            T::Int16 => push::<Int16Type>(array, out, f64::from),
            T::Int32 => push::<Int32Type>(array, out, f64::from),
            T::Int64 => push::<Int64Type>(array, out, |x| x as f64),
            T::UInt8 => push::<UInt8Type>(array, out, f64::from),
            T::UInt16 => push::<UInt16Type>(array, out, f64::from),
            T::UInt32 => push::<UInt32Type>(array, out, f64::from),
            T::UInt64 => push::<UInt64Type>(array, out, |x| x as f64),
            T::Date32 => push::<Date32Type>(array, out, f64::from),
            T::Boolean => {
                out.extend(array.as_boolean().iter().map(|x| x.map_or(f64::NAN, |x| f64::from(u8::from(x)))));
            }
            T::Date64 | T::Timestamp(..) | T::Time32(_) | T::Time64(_) | T::Duration(_) => {
                let value = |row| if array.is_null(row) { f64::NAN } else { days(ticks(array, row)) };
                out.extend((0..array.len()).map(value));
            }
            // Text, and decimals, which are rounded once if they are read as text.
            _ => return self.spelt_numbers(array, position, feature, first, out),
        }
        self.check_numbers(position, first, &mut out[before..])
    }

    /// Refuses infinity, and takes out the numbers that mean missing.
    fn check_numbers(&self, position: usize, first: usize, numbers: &mut [f64]) -> Result<()> {
        let missing = &self.plan.missing.numbers;
        if missing.is_empty() && !numbers.iter().any(|number| number.is_infinite()) {
            return Ok(());
        }
        for (row, number) in numbers.iter_mut().enumerate() {
            if number.is_infinite() {
                let value = number.to_string();
                *number = self.plan.bad_value(BadNumber::Infinite, first + row, position, &value)?;
            } else if missing.contains(number) {
                *number = f64::NAN;
            }
        }
        Ok(())
    }

    fn spelt_numbers(
        &self,
        array: &dyn Array,
        position: usize,
        feature: usize,
        first: usize,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        // Decimals are plain, however numbers in strings are written.
        let is_date = matches!(self.plan.written[feature], Some(Written::Date(_)));
        let is_text = is_date || stored(array.data_type()) == Ok(Stored::Text);
        let mut digits = String::new();
        let mut scratch = String::new();
        for row in 0..array.len() {
            let text = written(array, row, &mut scratch).map_err(|NotUtf8| self.not_text(position))?;
            out.push(match text {
                None => f64::NAN,
                Some(text) => {
                    let number = match is_text {
                        true => self.plan.number(feature, text, &mut digits),
                        false => self.plan.plain_number(text),
                    };
                    number.or_else(|bad| self.plan.bad_value(bad, first + row, position, text))?
                }
            });
        }
        Ok(())
    }

    /// Each value of the dictionary is looked at in every row that has it. Numbers in dictionaries are rare, and so
    /// the row of a bad one is known.
    fn dictionary_numbers(
        &self,
        array: &dyn Array,
        position: usize,
        feature: usize,
        first: usize,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        let dictionary = array.as_any_dictionary();
        if dictionary.values().is_empty() {
            out.resize(out.len() + array.len(), f64::NAN);
            return Ok(());
        }
        for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
            if array.is_null(row) {
                out.push(f64::NAN);
            } else {
                let value = dictionary.values().slice(key, 1);
                self.numbers(value.as_ref(), position, feature, first + row, out)?;
            }
        }
        Ok(())
    }

    fn weights(&self, rows: &RecordBatch, position: usize, first: usize, out: &mut Vec<f64>) -> Result<()> {
        let array = self.array(rows, position);
        let mut scratch = String::new();
        for row in 0..array.len() {
            let text =
                written(array.as_ref(), row, &mut scratch).map_err(|NotUtf8| self.not_text(position))?;
            let text = text.unwrap_or_default();
            let weight = if self.plan.missing.contains(text) { None } else { text.parse().ok() };
            out.push(weight.ok_or_else(|| self.plan.bad_weight(first + row, position, text))?);
        }
        Ok(())
    }
}

fn not_text(plan: &Plan, position: usize) -> Error {
    let (name, column) = (plan.name.clone(), shown(&plan.header[position]));
    Error::ColumnType { name, column, what: "bytes that are not UTF-8 text" }
}

fn push<T: ArrowPrimitiveType>(array: &dyn Array, out: &mut Vec<f64>, number: impl Fn(T::Native) -> f64) {
    let array = array.as_primitive::<T>();
    let values = array.values().iter();
    match array.nulls() {
        None => out.extend(values.map(|&value| number(value))),
        Some(nulls) => {
            out.extend(values.zip(nulls).map(|(&value, known)| if known { number(value) } else { f64::NAN }));
        }
    }
}

/// The codes of a dictionary's values, as far as they were met in the batch that is being filled.
#[derive(Default)]
struct Dictionary {
    values: Option<ArrayRef>,
    codes: Vec<u32>,
}

impl Dictionary {
    const UNKNOWN: u32 = u32::MAX;

    /// Keeps the codes if these are the values that they are for.
    fn set_values(&mut self, values: &ArrayRef) {
        let same = self.values.as_ref().is_some_and(|known| known.to_data().ptr_eq(&values.to_data()));
        if !same {
            self.codes.clear();
            self.codes.resize(values.len(), Self::UNKNOWN);
            self.values = Some(Arc::clone(values));
        }
    }
}

/// Gives values their codes in a column.
struct Coder<'a> {
    plan: &'a Plan,
    column: &'a mut CategoryColumn,
}

impl Coder<'_> {
    #[inline]
    fn code(&mut self, text: &str) -> u32 {
        if self.plan.missing.contains(text) { MISSING } else { self.column.values.intern(text) as u32 + 1 }
    }

    fn strings<'s>(
        &mut self,
        strings: impl Iterator<Item = Option<&'s str>>,
    ) -> std::result::Result<(), NotUtf8> {
        for text in strings {
            let code = text.map_or(MISSING, |text| self.code(text));
            self.column.codes.push(code);
        }
        Ok(())
    }

    fn one_by_one(&mut self, array: &dyn Array, scratch: &mut String) -> std::result::Result<(), NotUtf8> {
        for row in 0..array.len() {
            let code = written(array, row, scratch)?.map_or(MISSING, |text| self.code(text));
            self.column.codes.push(code);
        }
        Ok(())
    }

    /// Every value of the dictionary is looked up once, and only if it occurs.
    fn by_dictionary<K: ArrowDictionaryKeyType>(
        &mut self,
        array: &dyn Array,
        dictionary: &mut Dictionary,
    ) -> std::result::Result<(), NotUtf8> {
        let array = array.as_dictionary::<K>();
        let keys = array.keys();
        dictionary.set_values(array.values());
        let values = array.values().as_ref();
        let mut scratch = String::new();
        for (row, key) in keys.values().iter().enumerate() {
            let key = key.as_usize();
            let mut code = MISSING;
            if keys.is_valid(row) {
                code = dictionary.codes[key];
                if code == Dictionary::UNKNOWN {
                    code = written(values, key, &mut scratch)?.map_or(MISSING, |text| self.code(text));
                    dictionary.codes[key] = code;
                }
            }
            self.column.codes.push(code);
        }
        Ok(())
    }

    /// Numbers as categories: what was met a moment ago need not be written out again.
    fn by_bits<T: ArrowPrimitiveType>(
        &mut self,
        array: &dyn Array,
        bits: impl Fn(T::Native) -> u64,
        scratch: &mut String,
    ) -> std::result::Result<(), NotUtf8> {
        const SLOTS: usize = 1024;
        let mut recent: Vec<Option<(u64, u32)>> = vec![None; SLOTS];
        let numbers = array.as_primitive::<T>();
        for row in 0..numbers.len() {
            if numbers.is_null(row) {
                self.column.codes.push(MISSING);
                continue;
            }
            let number = bits(numbers.value(row));
            let slot = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
            let code = match recent[slot] {
                Some((known, code)) if known == number => code,
                _ => {
                    let code = written(array, row, scratch)?.map_or(MISSING, |text| self.code(text));
                    recent[slot] = Some((number, code));
                    code
                }
            };
            self.column.codes.push(code);
        }
        Ok(())
    }
}

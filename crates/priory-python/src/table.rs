//! Tables as Python has them, as record batches: Arrow streams, matrices, and columns one by one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader,
    StringArray, UInt32Array, downcast_integer_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use priory::matrix::{InvalidEntry, rows_to_columns};
use priory_input::{BadValues, ReadOptions, RecordBatches, WholeNumbers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrays::{Csr, Dense};
use crate::error::of_input;
use crate::matrix::invalid_entry;

/// This many values are turned into a batch at a time.
const VALUES: usize = 1 << 17;

type BatchResult = Result<RecordBatch, ArrowError>;

/// Rows to be read once.
#[pyclass(name = "Table", module = "priory._priory", frozen)]
pub(crate) struct PyTable {
    inner: Mutex<Option<(SchemaRef, RecordBatches)>>,
    /// What is done with words in columns of numbers.
    bad_values: BadValues,
}

#[pymethods]
impl PyTable {
    /// Rows of anything that has `__arrow_c_stream__`, by the capsule that it returns.
    #[staticmethod]
    fn from_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let reader = import(capsule)?;
        Ok(PyTable::new(reader.schema(), Box::new(reader)))
    }

    /// Rows of a matrix.
    #[staticmethod]
    fn from_array(py: Python<'_>, array: Py<PyAny>, names: Vec<String>) -> PyResult<Self> {
        let (rows, columns) = array.extract::<Dense<'_>>(py)?.view().shape();
        let schema = schema_of(names, DataType::Float64);
        let block = (VALUES / columns.max(1)).max(1);
        Ok(PyTable::new(
            Arc::clone(&schema),
            Box::new(MatrixRows { matrix: array, starts: None, schema, next: 0, rows, block }),
        ))
    }

    /// Rows of a sparse matrix, every column as one of its own.
    #[staticmethod]
    fn from_sparse(py: Python<'_>, parts: Py<PyAny>, names: Vec<String>) -> PyResult<Self> {
        let csr = parts.extract::<Csr<'_>>(py)?;
        let starts = csr.starts()?;
        let view = csr.view_from(Arc::clone(&starts))?;
        let schema = schema_of(names, DataType::Float64);
        let (rows, block) = (view.rows(), (VALUES / view.columns.max(1)).max(1));
        drop(csr);
        Ok(PyTable::new(
            Arc::clone(&schema),
            Box::new(MatrixRows { matrix: parts, starts: Some(starts), schema, next: 0, rows, block }),
        ))
    }

    /// Columns of numbers, whole numbers, truth values or strings, all of the same length.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, Values<'_>)>) -> PyResult<Self> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
            .into_iter()
            .map(|(name, values)| {
                let array = values.into_array();
                (Field::new(name, array.data_type().clone(), true), array)
            })
            .unzip();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyTable::new(schema, Box::new(std::iter::once(Ok(batch)))))
    }

    /// The names of the columns.
    fn names(&self) -> PyResult<Vec<String>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (schema, _) = inner.as_ref().ok_or_else(used_up)?;
        Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
    }

    /// The same rows once more. They are kept for that, which costs nothing if they are in memory already.
    fn again(&self) -> PyResult<PyTable> {
        let (schema, batches) = self.take()?;
        let batches: Vec<RecordBatch> =
            batches.collect::<Result<_, _>>().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let table = |batches: Vec<RecordBatch>| {
            (Arc::clone(&schema), Box::new(batches.into_iter().map(Ok)) as RecordBatches)
        };
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = Some(table(batches.clone()));
        Ok(PyTable { inner: Mutex::new(Some(table(batches))), bad_values: self.bad_values })
    }

    /// The same rows; the columns are called something else.
    fn renamed(&self, names: Vec<String>) -> PyResult<PyTable> {
        let (schema, batches) = self.take()?;
        let fields =
            schema.fields().iter().zip(names).map(|(field, name)| field.as_ref().clone().with_name(name));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let own = Arc::clone(&schema);
        let renamed =
            batches.map(move |batch| RecordBatch::try_new(Arc::clone(&own), batch?.columns().to_vec()));
        Ok(PyTable { inner: Mutex::new(Some((schema, Box::new(renamed)))), bad_values: self.bad_values })
    }

    /// The same rows; words in columns of numbers are taken as missing.
    fn tolerant(&self) -> PyResult<PyTable> {
        let rows = self.take()?;
        Ok(PyTable { inner: Mutex::new(Some(rows)), bad_values: BadValues::Missing })
    }

    /// The same rows with a column beside the others.
    fn beside(&self, name: String, column: &Column) -> PyResult<PyTable> {
        let (schema, batches) = self.take()?;
        let column = Arc::clone(&column.0);
        let field = Arc::new(Field::new(name, column.data_type().clone(), true));
        let schema =
            Arc::new(Schema::new(schema.fields().iter().cloned().chain([field]).collect::<Vec<_>>()));
        let beside = PyTable::new(Arc::clone(&schema), Box::new(Beside { batches, schema, column, next: 0 }));
        Ok(PyTable { bad_values: self.bad_values, ..beside })
    }
}

/// A column to stand beside others, as often as one likes.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Column(ArrayRef);

#[pymethods]
impl Column {
    /// A code for each row, and the labels that they stand for.
    #[staticmethod]
    fn of_classes(labels: Vec<String>, codes: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        let keys = UInt32Array::from(codes.as_slice()?.to_vec());
        let labels = Arc::new(StringArray::from(labels));
        let classes = DictionaryArray::<UInt32Type>::try_new(keys, labels);
        classes
            .map(|classes| Column(Arc::new(classes)))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[staticmethod]
    fn of_numbers(numbers: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        Ok(Column(Arc::new(Float64Array::from(numbers.as_slice()?.to_vec()))))
    }
}

impl PyTable {
    fn new(schema: SchemaRef, batches: RecordBatches) -> Self {
        PyTable { inner: Mutex::new(Some((schema, batches))), bad_values: BadValues::default() }
    }

    fn take(&self) -> PyResult<(SchemaRef, RecordBatches)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(used_up)
    }

    /// What the reader takes.
    pub(crate) fn open(&self) -> PyResult<priory_input::Table> {
        self.open_as("X")
    }

    /// The same, with whole numbers in these columns spelt as the model knows them.
    pub(crate) fn open_spelt(&self, spellings: &Spellings) -> PyResult<priory_input::Table> {
        self.spell(spellings)?;
        self.open()
    }

    /// Spells whole numbers in these columns as a model knows them.
    pub(crate) fn spell(&self, spellings: &Spellings) -> PyResult<()> {
        if !spellings.is_empty() {
            let (schema, batches) = self.take()?;
            *self.inner.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(spelt(schema, batches, spellings));
        }
        Ok(())
    }

    /// The same, under another name.
    pub(crate) fn open_as(&self, name: &str) -> PyResult<priory_input::Table> {
        let (schema, batches) = self.take()?;
        let options = ReadOptions { bad_values: self.bad_values, ..ReadOptions::default() };
        priory_input::Table::from_record_batches(name, schema, batches, &options).map_err(of_input)
    }
}

/// How columns of categories spell whole numbers, where that is known.
pub(crate) type Spellings = BTreeMap<String, WholeNumbers>;

/// The same rows, with numbers as text where their type would spell them otherwise.
fn spelt(schema: SchemaRef, batches: RecordBatches, spellings: &Spellings) -> (SchemaRef, RecordBatches) {
    let mut columns = Vec::new();
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    for (position, field) in fields.iter_mut().enumerate() {
        let Some(&spelling) = spellings.get(field.name()) else { continue };
        let is_other = match spelling {
            WholeNumbers::Plain => matches!(field.data_type(), DataType::Float64 | DataType::Float32),
            WholeNumbers::Pointed => field.data_type().is_integer(),
            WholeNumbers::AsTyped => false,
        };
        if is_other {
            columns.push((position, spelling));
            *field = Arc::new(Field::new(field.name(), DataType::Utf8, true));
        }
    }
    if columns.is_empty() {
        return (schema, batches);
    }
    let schema = Arc::new(Schema::new(fields));
    let own = Arc::clone(&schema);
    let rewritten = batches.map(move |batch| {
        let batch = batch?;
        let mut arrays = batch.columns().to_vec();
        for &(position, spelling) in &columns {
            arrays[position] = Arc::new(written(&arrays[position], spelling));
        }
        RecordBatch::try_new(Arc::clone(&own), arrays)
    });
    (schema, Box::new(rewritten))
}

/// Numbers as text. What is not a number is missing.
fn written(numbers: &ArrayRef, spelling: WholeNumbers) -> StringArray {
    let numbers: Vec<Option<f64>> = downcast_integer_array!(
        numbers => numbers.iter().map(|number| number.map(|number| number as f64)).collect(),
        DataType::Float64 => numbers.as_primitive::<Float64Type>().iter().collect(),
        DataType::Float32 => numbers.as_primitive::<Float32Type>().iter().map(|number| number.map(f64::from)).collect(),
        _ => vec![None; numbers.len()],
    );
    let text = |number: f64| {
        let mut text = String::new();
        spelling.write_number(number, &mut text);
        text
    };
    numbers.into_iter().map(|number| number.filter(|number| !number.is_nan()).map(text)).collect()
}

fn used_up() -> PyErr {
    PyValueError::new_err("these rows were read already")
}

/// Takes the stream out of a capsule, as the Arrow PyCapsule interface has it.
#[expect(unsafe_code, reason = "the C interface of Arrow is a pointer in a capsule")]
fn import(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid ArrowArrayStream: that is what the interface says, and what every
    // consumer relies on. `from_raw` moves the stream out and leaves a released one behind, so that nobody reads it twice.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn schema_of(names: Vec<String>, of: DataType) -> SchemaRef {
    Arc::new(Schema::new(
        names.into_iter().map(|name| Field::new(name, of.clone(), true)).collect::<Vec<_>>(),
    ))
}

/// One column.
#[derive(FromPyObject)]
pub(crate) enum Values<'py> {
    /// Numbers; NaN is missing.
    #[pyo3(transparent)]
    Numbers(PyReadonlyArrayDyn<'py, f64>),
    #[pyo3(transparent)]
    Strings(Vec<Option<String>>),
    #[pyo3(transparent)]
    Booleans(Vec<Option<bool>>),
    /// Whole numbers, which truth values of Python are as well.
    #[pyo3(transparent)]
    Integers(Vec<Option<i64>>),
}

impl Values<'_> {
    fn into_array(self) -> ArrayRef {
        match self {
            Values::Numbers(numbers) => {
                Arc::new(Float64Array::from(numbers.as_array().iter().copied().collect::<Vec<f64>>()))
            }
            Values::Strings(strings) => Arc::new(StringArray::from(strings)),
            Values::Booleans(booleans) => Arc::new(BooleanArray::from(booleans)),
            Values::Integers(integers) => Arc::new(Int64Array::from(integers)),
        }
    }
}

/// The rows of a matrix, some at a time, so that no more than a few are copied.
struct MatrixRows {
    matrix: Py<PyAny>,
    /// Where the rows of a sparse matrix begin.
    starts: Option<Arc<[usize]>>,
    schema: SchemaRef,
    next: usize,
    rows: usize,
    block: usize,
}

impl Iterator for MatrixRows {
    type Item = BatchResult;

    fn next(&mut self) -> Option<BatchResult> {
        let rows = self.next..(self.next + self.block).min(self.rows);
        if rows.is_empty() {
            return None;
        }
        self.next = rows.end;
        let columns = self.schema.fields().len();
        let columns = Python::attach(|py| -> PyResult<Vec<Vec<f64>>> {
            let mut buffer = Vec::new();
            let Some(starts) = &self.starts else {
                let dense = self.matrix.extract::<Dense<'_>>(py)?;
                let view = dense.view();
                let values = view.block(rows.clone(), &mut buffer);
                let mut columns = vec![Vec::new(); columns];
                rows_to_columns(values, columns.iter_mut());
                return Ok(columns);
            };
            let csr = self.matrix.extract::<Csr<'_>>(py)?;
            let view = csr.view_from(Arc::clone(starts))?;
            let mut values = vec![vec![0.0; rows.len()]; columns];
            for (to, row) in rows.enumerate() {
                for (column, x) in view.row(row, None, &mut buffer).entries() {
                    values.get_mut(column).ok_or_else(|| invalid_entry(InvalidEntry::NoSuchColumn))?[to] += x;
                }
            }
            Ok(values)
        });
        let columns = match columns {
            Ok(columns) => columns,
            Err(error) => return Some(Err(ArrowError::ComputeError(error.to_string()))),
        };
        let arrays =
            columns.into_iter().map(|values| Arc::new(Float64Array::from(values)) as ArrayRef).collect();
        Some(RecordBatch::try_new(Arc::clone(&self.schema), arrays))
    }
}

/// Batches with one more column, which is there as a whole.
struct Beside {
    batches: RecordBatches,
    schema: SchemaRef,
    column: ArrayRef,
    next: usize,
}

impl Iterator for Beside {
    type Item = BatchResult;

    fn next(&mut self) -> Option<BatchResult> {
        let Some(batch) = self.batches.next() else {
            let left = self.column.len() - self.next;
            self.next = self.column.len();
            return (left > 0).then(|| Err(unequal("fewer")));
        };
        let add = |batch: RecordBatch| {
            let rows = batch.num_rows();
            if self.next + rows > self.column.len() {
                return Err(unequal("more"));
            }
            let own = self.column.slice(self.next, rows);
            self.next += rows;
            let columns = batch.columns().iter().cloned().chain([own]).collect();
            RecordBatch::try_new(Arc::clone(&self.schema), columns)
        };
        Some(batch.and_then(add))
    }
}

fn unequal(how: &str) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("X has {how} rows than there are classes or weights"))
}

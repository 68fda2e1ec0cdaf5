//! Predictions as a Parquet file, written in row groups of bounded size, or as a stream of Arrow's own format.
//!
//! Any thread turns predictions into columns; encoding them happens in the order of the rows, by whoever has its turn.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, LargeStringArray, RecordBatch, StringArray,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::error::{Error, Result};
use crate::kept::{KeptColumn, Predictions};
use crate::store::NewFile;

/// Rows of a row group, unless they take too much memory.
const MOST_ROWS: usize = 1 << 20;
/// Bytes of a row group; it is in memory until it is complete.
const MOST_BYTES: usize = 64 << 20;

/// The columns of the file: those that are kept as strings, the prediction as a string of a dictionary, and perhaps the
/// probability of each class.
pub struct PredictionColumns {
    schema: SchemaRef,
    classes: usize,
    answers: ArrayRef,
    probabilities: bool,
}

/// The predictions for one batch, in columns.
pub struct PredictedRows(RecordBatch);

impl PredictionColumns {
    /// Columns with these names: those that are kept, the prediction, and if there are more, one for each of so many classes, or
    /// three with the ends of its interval, and perhaps log P(x). Predicted are positions of these answers.
    ///
    /// # Panics
    /// If there are other than this many names.
    pub fn new(names: &[String], kept: usize, classes: usize, answers: &[String]) -> Self {
        let numbers = names.len() - kept - 1;
        let probabilities = numbers >= classes;
        assert!([0, 1, classes, classes + 1, 3 * classes, 3 * classes + 1].contains(&numbers));
        let prediction = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = names.iter().enumerate().map(|(position, name)| match position {
            // Strings without an end to how long they are together.
            _ if position < kept => Field::new(name, DataType::LargeUtf8, true),
            _ if position == kept => Field::new(name, prediction.clone(), false),
            _ => Field::new(name, DataType::Float64, false),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let answers = Arc::new(StringArray::from_iter_values(answers));
        PredictionColumns { schema, classes, answers, probabilities }
    }

    /// The predictions for some rows, of which these columns are kept.
    ///
    /// # Panics
    /// If the scores are not those of the same rows and of these classes, or there is an interval and no columns for it.
    pub fn encode(&self, predictions: &Predictions<'_>) -> PredictedRows {
        let Predictions { kept, scores, answers, interval, log_evidence } = *predictions;
        let rows = 0..scores.rows();
        let strings = |column: &KeptColumn| -> ArrayRef {
            Arc::new(rows.clone().map(|row| column.value(row)).collect::<LargeStringArray>())
        };
        let mut columns: Vec<ArrayRef> = kept.iter().map(strings).collect();
        let answers = Int32Array::from_iter_values(answers.iter().map(|&answer| answer as i32));
        columns.push(Arc::new(DictionaryArray::<Int32Type>::new(answers, Arc::clone(&self.answers))));
        if self.probabilities {
            let posterior = scores.normalize();
            let column = |value: &dyn Fn(usize) -> f64| -> ArrayRef {
                Arc::new(Float64Array::from_iter_values(rows.clone().map(value)))
            };
            for class in 0..self.classes {
                columns.push(column(&|row| posterior.row(row)[class]));
                if let Some(interval) = interval {
                    columns.push(column(&|row| interval.low(row)[class]));
                    columns.push(column(&|row| interval.high(row)[class]));
                }
            }
        }
        columns
            .extend(log_evidence.map(|values| -> ArrayRef { Arc::new(Float64Array::from(values.to_vec())) }));
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        PredictedRows(rows.expect("the columns are those of the schema"))
    }
}

/// A Parquet file of predictions that takes its place when it is finished. If it is dropped before, nothing has happened.
pub struct PredictionFile {
    name: String,
    writer: ArrowWriter<NewFile>,
}

impl PredictionFile {
    /// Starts to write a file that will have this path.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn create(path: &Path, columns: &PredictionColumns) -> Result<Self> {
        let name = path.display().to_string();
        let properties = WriterProperties::builder()
            .set_created_by(concat!("priory ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(MOST_ROWS))
            .set_max_row_group_bytes(Some(MOST_BYTES))
            .build();
        let out = NewFile::create(path)?;
        let writer = ArrowWriter::try_new(out, Arc::clone(&columns.schema), Some(properties));
        Ok(PredictionFile { writer: writer.map_err(|error| failed(&name, error))?, name })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, rows: &PredictedRows) -> Result<()> {
        self.writer.write(&rows.0).map_err(|error| failed(&self.name, error))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If it cannot be written. What was there before is then still there.
    pub fn finish(self) -> Result<()> {
        let out = self.writer.into_inner().map_err(|error| failed(&self.name, error))?;
        out.finish()
    }
}

/// Predictions as a stream in Arrow's own format, in memory.
pub struct PredictionStream(StreamWriter<Vec<u8>>);

impl PredictionStream {
    /// Starts to write one.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(columns: &PredictionColumns) -> Result<Self> {
        let writer = StreamWriter::try_new(Vec::new(), &columns.schema);
        writer.map(PredictionStream).map_err(not_streamed)
    }

    /// Appends rows.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn write(&mut self, rows: &PredictedRows) -> Result<()> {
        self.0.write(&rows.0).map_err(not_streamed)
    }

    /// How many bytes there are so far.
    pub fn len(&self) -> usize {
        self.0.get_ref().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the stream.
    ///
    /// # Errors
    /// If there is no memory for its end.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.0.into_inner().map_err(not_streamed)
    }
}

fn not_streamed(error: ArrowError) -> Error {
    Error::File { name: "the predictions".into(), action: "written", cause: io::Error::other(error) }
}

fn failed(name: &str, error: ParquetError) -> Error {
    let cause = match error {
        ParquetError::External(cause) => {
            cause.downcast::<io::Error>().map_or_else(io::Error::other, |cause| *cause)
        }
        other => io::Error::other(other),
    };
    Error::File { name: name.to_owned(), action: "written", cause }
}

//! Parquet: slices of rows are handed out, and each thread reads and decodes the slices that it gets.
//!
//! A row group is too large for a batch and too small a number of them is too few for many threads, so they are cut
//! into slices. A thread that gets the next slice of the group that it is reading goes on where it is; otherwise it
//! opens the group and skips to its slice, which costs it the pages that two slices share. Slices have as many rows as a
//! page of numbers of the usual size, or half of it, and so on, to share few.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection, RowSelector,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::reader::{ChunkReader, Length};
use priory::infer::Stored;
use priory::{Batch, BatchColumn, Schema};

use crate::arrow::columns::ArrowParser;
use crate::arrow::stored;
use crate::arrow::text::{NotUtf8, written};
use crate::error::{Error, Result, shown};
use crate::format::InputFormat;
use crate::guarded::{damaged, guarded};
use crate::kept::KeptColumn;
use crate::reader::Plan;
use crate::sample::Sample;
use crate::source;

const FORMAT: &str = "Parquet";

/// Rows of a slice: as many numbers as most writers put on a page.
const MOST_ROWS: usize = 1 << 17;
/// Rows that are decoded at once, for all columns; few enough to be still in the cache when they are counted.
const CHUNK_ROWS: usize = 1 << 13;

/// An opened Parquet file, and which rows were handed out.
pub(crate) struct ParquetFile {
    contents: Arc<Contents>,
    slice_rows: usize,
    /// The next row to hand out: its group, its place there, and how many were handed out before.
    group: usize,
    row: usize,
    rows_before: u64,
}

/// What all threads read from.
struct Contents {
    name: String,
    file: SharedFile,
    metadata: ArrowReaderMetadata,
    wanted: ProjectionMask,
    group_rows: Vec<usize>,
    rows: u64,
    /// Rows that are decoded at once: a slice, or an even part of one.
    chunk_rows: usize,
}

/// Rows of one row group.
pub(crate) struct RowSlice {
    group: usize,
    start: usize,
    rows: usize,
}

impl ParquetFile {
    /// Whether this file is read as Parquet.
    pub(crate) fn is_meant(file: &File, format: Option<InputFormat>) -> bool {
        let mut magic = [0; 4];
        match format {
            Some(format) => format == InputFormat::Parquet,
            None => read_at(file, 0, &mut magic).is_ok_and(|read| read == 4) && &magic == b"PAR1",
        }
    }

    /// Reads what the file says about itself, and the names of its columns.
    pub(crate) fn open(name: &str, file: File) -> Result<(Self, Vec<String>)> {
        let length =
            file.metadata().map_err(|cause| Error::File { name: name.into(), action: "read", cause })?.len();
        let file = SharedFile { file: Arc::new(file), length };
        let options = ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
        let metadata = guarded(name, FORMAT, || {
            ArrowReaderMetadata::load(&file, options).map_err(|error| refused(name, &error))
        })?;
        let mut group_rows = Vec::new();
        let mut rows = 0_u64;
        for group in metadata.metadata().row_groups() {
            let count = u64::try_from(group.num_rows()).ok().filter(|&count| count <= u64::from(u32::MAX));
            let count =
                count.ok_or_else(|| damaged(name, FORMAT, &"a row group has no sensible number of rows"))?;
            group_rows.push(count as usize);
            rows += count;
        }
        let header = metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        let name = name.to_owned();
        let (wanted, chunk_rows) = (ProjectionMask::all(), CHUNK_ROWS);
        let contents = Arc::new(Contents { name, file, metadata, wanted, group_rows, rows, chunk_rows });
        Ok((ParquetFile { contents, slice_rows: MOST_ROWS, group: 0, row: 0, rows_before: 0 }, header))
    }

    /// Decides on what is decoded, and how: strings that become categories keep the dictionaries of the file.
    pub(crate) fn prepare(&mut self, plan: &Plan, schema: &Schema) -> Result<()> {
        let contents = &self.contents;
        let fields = contents.metadata.schema().fields();
        let wanted = plan.wanted();
        // A power of two like the others, so that chunks make up whole slices.
        let most_rows = 1 << plan.most_rows.ilog2();
        for &position in &wanted {
            check_type(&contents.name, &fields[position])?;
        }
        let features = Batch::new(schema).columns.into_iter().zip(&plan.features);
        let categories = features.filter(|(column, _)| matches!(column, BatchColumn::Category(_)));
        let categories: HashSet<usize> =
            categories.filter_map(|(_, &position)| position).chain(plan.target).collect();
        let fields = fields.iter().enumerate().map(|(position, field)| {
            match dictionary_of(field.data_type()).filter(|_| categories.contains(&position)) {
                Some(data_type) => Arc::new(field.as_ref().clone().with_data_type(data_type)),
                None => Arc::clone(field),
            }
        });
        let read_as: SchemaRef = Arc::new(arrow_schema::Schema::new(fields.collect::<Vec<_>>()));
        let metadata = guarded(&contents.name, FORMAT, || {
            let options = ArrowReaderOptions::new().with_schema(read_as);
            let metadata = Arc::clone(contents.metadata.metadata());
            // Where the file's own types cannot be asked for again, its strings are read as they are.
            Ok(ArrowReaderMetadata::try_new(metadata, options).unwrap_or_else(|_| contents.metadata.clone()))
        })?;
        self.contents = Arc::new(Contents {
            name: contents.name.clone(),
            file: contents.file.clone(),
            wanted: ProjectionMask::roots(metadata.parquet_schema(), wanted.iter().copied()),
            metadata,
            group_rows: contents.group_rows.clone(),
            rows: contents.rows,
            chunk_rows: CHUNK_ROWS.min(most_rows),
        });
        // A short table is cut finer, so that there is something for every thread.
        let fair = (self.contents.rows / 16).next_power_of_two() as usize;
        let slim = source::most_rows(wanted.len()).next_power_of_two() / 2;
        self.slice_rows = fair.min(slim).clamp(CHUNK_ROWS, MOST_ROWS).min(most_rows);
        Ok(())
    }

    /// Hands out the next rows.
    pub(crate) fn next_slice(&mut self) -> Option<RowSlice> {
        while *self.contents.group_rows.get(self.group)? == self.row {
            self.group += 1;
            self.row = 0;
        }
        let rows = self.slice_rows.min(self.contents.group_rows[self.group] - self.row);
        let slice = RowSlice { group: self.group, start: self.row, rows };
        self.row += rows;
        self.rows_before += rows as u64;
        Some(slice)
    }

    pub(crate) fn parser(&self, plan: &Arc<Plan>) -> ParquetParser {
        ParquetParser { contents: Arc::clone(&self.contents), columns: ArrowParser::new(plan), open: None }
    }

    /// How the columns are stored. What cannot be read counts as nested.
    pub(crate) fn stored(&self) -> Vec<Stored> {
        stored_columns(self.contents.metadata.schema())
    }

    /// The first rows, and some from further in. What cannot be read is shown as missing.
    pub(crate) fn sample(&self, rows: usize) -> Result<Sample> {
        let contents = &self.contents;
        let fields = contents.metadata.schema().fields();
        let readable: Vec<usize> =
            (0..fields.len()).filter(|&position| stored(fields[position].data_type()).is_ok()).collect();
        let mut sample = Sample::new(fields.len());
        guarded(&contents.name, FORMAT, || {
            let builder = contents.builder(rows.min(CHUNK_ROWS)).with_limit(rows);
            let wanted = ProjectionMask::roots(builder.parquet_schema(), readable.iter().copied());
            let reader = builder.with_projection(wanted).build();
            for chunk in reader.map_err(|error| refused(&contents.name, &error))? {
                let chunk = chunk.map_err(|error| damaged(&contents.name, FORMAT, &error))?;
                append_sample(&contents.name, fields, &chunk, &readable, &mut sample)?;
            }
            let (few, step) = (Sample::rows_at_place(rows), contents.rows as usize / (Sample::PLACES + 1));
            for place in (1..=Sample::PLACES).filter(|_| few > 0 && contents.rows > (2 * rows) as u64) {
                let builder = contents.builder(few).with_offset(place * step).with_limit(few);
                let wanted = ProjectionMask::roots(builder.parquet_schema(), readable.iter().copied());
                let reader = builder.with_projection(wanted).build();
                for chunk in reader.map_err(|error| refused(&contents.name, &error))? {
                    let chunk = chunk.map_err(|error| damaged(&contents.name, FORMAT, &error))?;
                    append_sample(&contents.name, fields, &chunk, &readable, &mut sample)?;
                }
                sample.places += 1;
            }
            Ok(())
        })?;
        Ok(sample)
    }

    pub(crate) fn name(&self) -> &str {
        &self.contents.name
    }

    pub(crate) fn size(&self) -> u64 {
        self.contents.file.length
    }

    /// As much of the file as rows were handed out, whichever columns are read of it.
    pub(crate) fn bytes_read(&self) -> u64 {
        let share = self.rows_before as f64 / self.contents.rows.max(1) as f64;
        (share * self.size() as f64) as u64
    }
}

impl Contents {
    fn builder(&self, chunk_rows: usize) -> ParquetRecordBatchReaderBuilder<SharedFile> {
        let metadata = self.metadata.clone();
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), metadata)
            .with_batch_size(chunk_rows)
    }

    /// Reads a row group from this row on.
    fn read_from(&self, group: usize, start: usize) -> Result<ParquetRecordBatchReader> {
        let rest = self.group_rows[group] - start;
        let selection = RowSelection::from(vec![RowSelector::skip(start), RowSelector::select(rest)]);
        let mut builder = self.builder(self.chunk_rows).with_row_groups(vec![group]);
        if start > 0 {
            builder = builder.with_row_selection(selection);
        }
        builder.with_projection(self.wanted.clone()).build().map_err(|error| refused(&self.name, &error))
    }
}

/// Reads and decodes slices.
pub(crate) struct ParquetParser {
    contents: Arc<Contents>,
    columns: ArrowParser,
    /// The group that was read last, and where in it the reader is.
    open: Option<(usize, usize, ParquetRecordBatchReader)>,
}

impl ParquetParser {
    /// As [`Parser::fill`](crate::input::Parser::fill).
    pub(crate) fn fill(
        &mut self,
        slice: &RowSlice,
        batch: &mut Batch,
        kept: &mut [KeptColumn],
    ) -> Result<()> {
        let contents = Arc::clone(&self.contents);
        self.columns.begin();
        guarded(&contents.name, FORMAT, || {
            let mut reader = match self.open.take() {
                Some((group, row, reader)) if (group, row) == (slice.group, slice.start) => reader,
                _ => contents.read_from(slice.group, slice.start)?,
            };
            while batch.rows < slice.rows {
                let chunk = reader.next();
                let chunk = chunk.ok_or_else(|| damaged(&contents.name, FORMAT, &"rows are missing"))?;
                let chunk = chunk.map_err(|error| damaged(&contents.name, FORMAT, &error))?;
                if chunk.num_rows() == 0 || chunk.num_rows() > slice.rows - batch.rows {
                    return Err(damaged(&contents.name, FORMAT, &"the columns differ in length"));
                }
                self.columns.append(&chunk, batch, kept)?;
            }
            self.open = Some((slice.group, slice.start + slice.rows, reader));
            Ok(())
        })
    }
}

/// The type to ask for so that a column of strings comes with its dictionary.
fn dictionary_of(data_type: &DataType) -> Option<DataType> {
    let values = match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        _ => return None,
    };
    Some(DataType::Dictionary(Box::new(DataType::Int32), Box::new(values)))
}

/// Refuses a column that is wanted and cannot be read.
pub(super) fn check_type(name: &str, field: &Field) -> Result<()> {
    let refuse = |what| Error::ColumnType { name: name.into(), column: shown(field.name()), what };
    stored(field.data_type()).map(|_| ()).map_err(refuse)
}

pub(super) fn stored_columns(schema: &arrow_schema::Schema) -> Vec<Stored> {
    schema.fields().iter().map(|field| stored(field.data_type()).unwrap_or(Stored::Nested)).collect()
}

/// Appends rows to a sample; they hold the readable columns of the table.
pub(super) fn append_sample(
    name: &str,
    fields: &[Arc<Field>],
    rows: &RecordBatch,
    readable: &[usize],
    sample: &mut Sample,
) -> Result<()> {
    let mut scratch = String::new();
    for (array, &position) in rows.columns().iter().zip(readable) {
        for row in 0..rows.num_rows() {
            let text = written(array.as_ref(), row, &mut scratch).map_err(|NotUtf8| {
                let what = "bytes that are not UTF-8 text";
                Error::ColumnType { name: name.into(), column: shown(fields[position].name()), what }
            })?;
            sample.columns[position].push(text.map(String::from));
        }
    }
    sample.rows += rows.num_rows();
    sample.columns.iter_mut().for_each(|values| values.resize(sample.rows, None));
    Ok(())
}

fn refused(name: &str, error: &ParquetError) -> Error {
    damaged(name, FORMAT, error)
}

/// A file that several threads read at once, each where it likes. What lies beyond its end is not asked for, so that no
/// file can make room for more than it holds.
#[derive(Clone)]
struct SharedFile {
    file: Arc<File>,
    length: u64,
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = io::BufReader<Part>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(io::BufReader::new(Part { file: Arc::clone(&self.file), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(String::from("it goes on beyond its end")));
        }
        let mut bytes = Vec::with_capacity(length);
        let part = Part { file: Arc::clone(&self.file), position: start };
        if part.take(length as u64).read_to_end(&mut bytes)? < length {
            return Err(ParquetError::EOF(String::from("it is shorter than a moment ago")));
        }
        Ok(bytes.into())
    }
}

/// A file from some position on.
struct Part {
    file: Arc<File>,
    position: u64,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&self.file, self.position, buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

#[cfg(windows)]
fn read_at(file: &File, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

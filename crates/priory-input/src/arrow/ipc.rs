//! Arrow IPC: a schema, dictionaries and record batches, one message after the other.
//!
//! A stream is just that. A file has a few bytes before it and an index after it; it is read as a stream as well, from
//! a pipe or packed, if need be. The messages are read here rather than by the library, because here no length that a
//! message claims is believed before that many bytes have come.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::SchemaRef;

use priory::infer::Stored;

use crate::arrow::parquet::{append_sample, check_type, stored_columns};
use crate::arrow::stored;
use crate::error::{Error, Result};
use crate::guarded::{damaged, guarded};
use crate::reader::Plan;
use crate::sample::Sample;
use crate::source::{Limits, most_rows};
use crate::unpack::Bytes;

const FORMAT: &str = "Arrow";
const FILE_MAGIC: &[u8] = b"ARROW1\0\0";
const LARGEST_ALIGNMENT: usize = 64;
/// What a buffer may unpack to.
const LARGEST_BUFFER: i64 = 1 << 32;

/// An opened stream.
pub(crate) struct ArrowStream {
    bytes: Bytes,
    schema: SchemaRef,
    /// Whether it must end with the mark that ends it, as in a file.
    is_file: bool,
    /// What follows the end is not for us.
    ended: bool,
    /// Messages that were looked at and given back.
    returned: VecDeque<Arc<Frame>>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The columns to decode, if not all.
    wanted: Option<Vec<usize>>,
    block_rows: usize,
    /// Rows that were decoded and not handed out.
    rest: Option<RecordBatch>,
}

/// A message and what comes with it.
struct Frame {
    metadata: Vec<u8>,
    body: Buffer,
}

impl ArrowStream {
    /// Reads the schema, and the names of the columns.
    pub(crate) fn open(mut bytes: Bytes) -> Result<(Self, Vec<String>)> {
        let is_file = bytes.peek(FILE_MAGIC.len())?.starts_with(b"ARROW1");
        if is_file {
            bytes.read_into(&mut Vec::new(), FILE_MAGIC.len())?;
            // Some writers fill up to the alignment that they give everything else.
            for _ in 0..LARGEST_ALIGNMENT / 8 {
                if bytes.peek(8)? == [0; 8] {
                    bytes.read_into(&mut Vec::new(), 8)?;
                }
            }
        }
        let name = bytes.name.clone();
        let schema = Arc::new(arrow_schema::Schema::empty());
        let mut stream = ArrowStream {
            bytes,
            schema,
            is_file,
            ended: false,
            returned: VecDeque::new(),
            dictionaries: HashMap::new(),
            wanted: None,
            block_rows: Limits::USUAL.rows,
            rest: None,
        };
        let frame = stream.next_frame()?.ok_or_else(|| {
            // A stream may have nothing in it; a file without columns lost them.
            if is_file { stream.cut_short() } else { Error::Empty { name: name.clone() } }
        })?;
        stream.schema = guarded(&name, FORMAT, || {
            let message = frame.message(&name)?;
            let schema = message.header_as_schema();
            let schema = schema.ok_or_else(|| damaged(&name, FORMAT, &"it does not begin with a schema"))?;
            let schema = try_fb_to_schema(schema).map_err(|error| damaged(&name, FORMAT, &error))?;
            Ok(Arc::new(schema))
        })?;
        let header = stream.schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok((stream, header))
    }

    /// Decides on what is decoded.
    pub(crate) fn prepare(&mut self, plan: &Plan) -> Result<()> {
        let wanted = plan.wanted();
        for &position in &wanted {
            check_type(&self.bytes.name, &self.schema.fields()[position])?;
        }
        self.block_rows = most_rows(wanted.len()).min(Limits::USUAL.rows).min(plan.most_rows);
        self.wanted = Some(wanted);
        Ok(())
    }

    /// Hands out the next rows.
    pub(crate) fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None => match self.next_batch()? {
                Some(batch) => batch,
                None => return Ok(None),
            },
        };
        let rows = batch.num_rows().min(self.block_rows);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        Ok(Some(batch.slice(0, rows)))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(frame) = self.next_frame()? {
            if let Some(batch) = self.decode(&frame)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The rows of a message, if it is one of rows; a dictionary is kept.
    fn decode(&mut self, frame: &Frame) -> Result<Option<RecordBatch>> {
        let ArrowStream { bytes, schema, dictionaries, wanted, .. } = self;
        let name = bytes.name.as_str();
        guarded(name, FORMAT, || {
            let message = frame.message(name)?;
            let refused = |error: arrow_schema::ArrowError| damaged(name, FORMAT, &error);
            let cut = || damaged(name, FORMAT, &"a message has no contents");
            match message.header_type() {
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch().ok_or_else(cut)?;
                    frame.check_buffers(name, batch)?;
                    let version = message.version();
                    let schema = Arc::clone(schema);
                    let wanted = wanted.as_deref();
                    let rows = read_record_batch(&frame.body, batch, schema, dictionaries, wanted, &version);
                    rows.map(Some).map_err(refused)
                }
                MessageHeader::DictionaryBatch => {
                    let batch = message.header_as_dictionary_batch().ok_or_else(cut)?;
                    frame.check_buffers(name, batch.data().ok_or_else(cut)?)?;
                    let version = message.version();
                    read_dictionary(&frame.body, batch, schema, dictionaries, &version).map_err(refused)?;
                    Ok(None)
                }
                MessageHeader::NONE => Ok(None),
                _ => Err(damaged(name, FORMAT, &"it holds a message that belongs somewhere else")),
            }
        })
    }

    /// The next message; `None` at the end.
    fn next_frame(&mut self) -> Result<Option<Arc<Frame>>> {
        if let Some(frame) = self.returned.pop_front() {
            return Ok(Some(frame));
        }
        if self.ended {
            return Ok(None);
        }
        let mut start = Vec::new();
        self.bytes.read_into(&mut start, 4)?;
        if start.is_empty() && !self.is_file {
            self.ended = true;
            return Ok(None);
        }
        if start == [0xff; 4] {
            start.clear();
            self.bytes.read_into(&mut start, 4)?;
        }
        let length = start.try_into().map(i32::from_le_bytes).map_err(|_| self.cut_short())?;
        if length == 0 {
            self.ended = true;
            return Ok(None);
        }
        let metadata = self.read_exactly(i64::from(length))?;
        let frame = Frame { metadata, body: Buffer::from_vec(Vec::<u8>::new()) };
        let body_length =
            guarded(&self.bytes.name, FORMAT, || Ok(frame.message(&self.bytes.name)?.bodyLength()))?;
        let body = self.read_exactly(body_length)?;
        Ok(Some(Arc::new(Frame { body: Buffer::from_vec(body), ..frame })))
    }

    /// This many bytes; the room for them grows as they come.
    fn read_exactly(&mut self, length: i64) -> Result<Vec<u8>> {
        let Ok(wanted) = usize::try_from(length) else {
            return Err(damaged(&self.bytes.name, FORMAT, &"a message has a negative length"));
        };
        let mut bytes = Vec::new();
        if self.bytes.read_into(&mut bytes, wanted)? < wanted { Err(self.cut_short()) } else { Ok(bytes) }
    }

    fn cut_short(&self) -> Error {
        damaged(&self.bytes.name, FORMAT, &"it is cut short")
    }

    /// How the columns are stored. What cannot be read counts as nested.
    pub(crate) fn stored(&self) -> Vec<Stored> {
        stored_columns(&self.schema)
    }

    /// The first rows. What cannot be read is shown as missing.
    pub(crate) fn sample(&mut self, rows: usize) -> Result<Sample> {
        let schema = Arc::clone(&self.schema);
        let fields = schema.fields();
        let readable: Vec<usize> =
            (0..fields.len()).filter(|&position| stored(fields[position].data_type()).is_ok()).collect();
        let wanted = self.wanted.replace(readable.clone());
        let mut sample = Sample::new(fields.len());
        let mut frames = Vec::new();
        let mut outcome = Ok(());
        while sample.rows < rows && outcome.is_ok() {
            let frame = match self.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            outcome = self.decode(&frame).and_then(|batch| {
                let Some(batch) = batch else { return Ok(()) };
                let batch = batch.slice(0, batch.num_rows().min(rows - sample.rows));
                append_sample(&self.bytes.name, fields, &batch, &readable, &mut sample)
            });
            frames.push(frame);
        }
        // Whatever comes first is given back last, and dictionaries will be read again.
        frames.into_iter().rev().for_each(|frame| self.returned.push_front(frame));
        self.dictionaries.clear();
        self.wanted = wanted;
        outcome.map(|()| sample)
    }

    pub(crate) fn name(&self) -> &str {
        &self.bytes.name
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.bytes.size
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes.count()
    }
}

impl Frame {
    fn message(&self, name: &str) -> Result<Message<'_>> {
        root_as_message(&self.metadata).map_err(|error| damaged(name, FORMAT, &error))
    }

    /// Refuses buffers that claim to unpack to more than memory may hold.
    fn check_buffers(&self, name: &str, batch: arrow_ipc::RecordBatch<'_>) -> Result<()> {
        if batch.compression().is_none() {
            return Ok(());
        }
        for buffer in batch.buffers().iter().flatten() {
            let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
            let length = self.body.get(start..).and_then(|bytes| bytes.first_chunk::<8>());
            let length = length.map_or(0, |bytes| i64::from_le_bytes(*bytes));
            if length > LARGEST_BUFFER {
                return Err(damaged(name, FORMAT, &"a packed column is larger than memory"));
            }
        }
        Ok(())
    }
}

//! A file or pipe as blocks of whole records.

use std::io::{self, Read};

use crate::csv::{end_of_whole_records, without_blank_end};
use crate::error::{Error, Result};

/// How much is held at a time. The tests use small ones, so that everything straddles something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes that are read at once and that a batch takes.
    pub(crate) block: usize,
    /// Bytes of the longest record; the buffer grows up to this.
    pub(crate) record: usize,
    /// Rows of a batch.
    pub(crate) rows: usize,
}

impl Limits {
    /// A block that stays in a processor's own cache, and a batch whose scores stay small.
    pub(crate) const USUAL: Limits = Limits { block: 1 << 20, record: 64 << 20, rows: 1 << 15 };
}

/// Reads ahead by one block, and knows where its last whole record ends.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) size: Option<u64>,
    pub(crate) bytes_read: u64,
    reader: Box<dyn Read + Send>,
    limits: Limits,
    buffer: Vec<u8>,
    /// Where the bytes begin that nobody took yet.
    taken: usize,
    /// Where the last whole record ends.
    whole: usize,
    /// Where the bytes end that were read; after them the buffer is free.
    filled: usize,
    ended: bool,
}

impl Source {
    /// A source of which the first block was read.
    pub(crate) fn new(
        name: String,
        size: Option<u64>,
        reader: Box<dyn Read + Send>,
        limits: Limits,
    ) -> Result<Self> {
        let buffer = vec![0; limits.block];
        let mut source = Source {
            name,
            size,
            bytes_read: 0,
            reader,
            limits,
            buffer,
            taken: 0,
            whole: 0,
            filled: 0,
            ended: false,
        };
        source.fill()?;
        Ok(source)
    }

    /// The bytes that were read ahead.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.taken..self.filled]
    }

    /// The whole records that were read ahead.
    pub(crate) fn block(&self) -> &[u8] {
        &self.buffer[self.taken..self.whole]
    }

    /// Passes over bytes at the beginning.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.taken += bytes;
        self.whole = self.whole.max(self.taken);
    }

    /// Makes sure that there is a block of whole records, unless the table has ended. Blank lines at the end of a
    /// table are no records; they are held back until something follows them.
    ///
    /// `row` is the number of the record that comes next.
    pub(crate) fn next_block(&mut self, delimiter: u8, row: u64) -> Result<bool> {
        while self.block().is_empty() {
            let ahead = self.ahead();
            let records = &ahead[..end_of_whole_records(ahead, delimiter)];
            let block = without_blank_end(records).len();
            if block > 0 {
                self.whole = self.taken + block;
            } else if self.ended && records.len() == ahead.len() {
                return Ok(false);
            } else if self.ended {
                return Err(Error::UnclosedQuote { name: self.name.clone(), row });
            } else if ahead.len() >= self.limits.record {
                let limit = self.limits.record;
                return Err(Error::RowTooLong { name: self.name.clone(), row, limit });
            } else {
                self.fill()?;
            }
        }
        Ok(true)
    }

    /// Reads until the buffer is full or the source ends. The last line gets a line end if it has none.
    fn fill(&mut self) -> Result<()> {
        self.make_room();
        while self.filled < self.buffer.len() {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    if self.ahead().last().is_some_and(|&byte| byte != b'\n') {
                        self.buffer[self.filled] = b'\n';
                        self.filled += 1;
                    }
                    break;
                }
                Ok(count) => {
                    self.filled += count;
                    self.bytes_read += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => {
                    return Err(Error::File { name: self.name.clone(), action: "read", cause });
                }
            }
        }
        Ok(())
    }

    /// Moves what was read ahead to the front, and doubles the buffer if it is more than half full.
    fn make_room(&mut self) {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.whole = 0;
        self.taken = 0;
        if self.filled > self.buffer.len() / 2 {
            let size = (2 * self.buffer.len()).min(self.limits.record);
            self.buffer.resize(size, 0);
        }
    }
}

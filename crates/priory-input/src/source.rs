//! A text file or pipe as blocks of whole records.

use std::collections::VecDeque;

use memchr::memchr_iter;

use crate::csv::{Dialect, end_of_blank_lines, end_of_whole_lines, end_of_whole_records, without_blank_end};
use crate::error::{Error, Result};
use crate::unpack::Bytes;

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

/// How many rows a batch of this many columns may have: some 64 MiB of numbers.
pub(crate) fn most_rows(width: usize) -> usize {
    ((8 << 20) / width.max(1)).max(1)
}

/// Where records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// With their line, unless it ends inside quotes.
    Records(Dialect),
    /// With their line.
    Lines,
}

impl Framing {
    fn end_of_whole_records(self, bytes: &[u8], most: usize) -> usize {
        match self {
            Framing::Records(dialect) => end_of_whole_records(bytes, dialect, most),
            Framing::Lines => end_of_whole_lines(bytes, most),
        }
    }
}

/// Cuts its input into blocks of whole records, which are parsed elsewhere.
pub(crate) struct Source {
    bytes: Bytes,
    framing: Framing,
    limits: Limits,
    /// How much the next block should hold; less than the limit where rows are short.
    block_size: usize,
    /// Blocks that were looked at and given back.
    returned: VecDeque<Vec<u8>>,
    /// What was read after the last whole record.
    rest: Vec<u8>,
    ended: bool,
}

impl Source {
    /// A source of which the beginning was read.
    pub(crate) fn new(bytes: Bytes, limits: Limits) -> Result<Self> {
        let mut source = Source {
            bytes,
            framing: Framing::Lines,
            limits,
            block_size: limits.block,
            returned: VecDeque::new(),
            rest: Vec::new(),
            ended: false,
        };
        let mut beginning = Vec::new();
        source.read_up_to(limits.block, &mut beginning)?;
        source.rest = beginning;
        Ok(source)
    }

    /// The path, or what else the source is called.
    pub(crate) fn name(&self) -> &str {
        &self.bytes.name
    }

    /// How many bytes there are, if this is a regular file, and how many of them were read.
    pub(crate) fn size(&self) -> Option<u64> {
        self.bytes.size
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes.count()
    }

    /// Whether the bytes are not those of the file.
    pub(crate) fn is_packed(&self) -> bool {
        self.bytes.is_packed()
    }

    /// Whether everything was read when the beginning was.
    pub(crate) fn is_short(&self) -> bool {
        self.ended
    }

    /// Whether rows are to be handed out as they come.
    pub(crate) fn is_hurried(&self) -> bool {
        self.bytes.is_hurried()
    }

    /// Says where records end, before the first is taken.
    pub(crate) fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// What was read before anything was taken.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.rest
    }

    /// Passes over the first bytes of the beginning.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.rest.drain(..bytes);
    }

    /// Limits the rows of blocks, given back or still to come, so that a batch of this many columns is not too large.
    pub(crate) fn limit_cells(&mut self, width: usize) {
        self.limit_rows(most_rows(width));
    }

    /// Limits the rows of blocks, given back or still to come.
    pub(crate) fn limit_rows(&mut self, rows: usize) {
        if rows < self.limits.rows {
            self.limits.rows = rows;
            let mut all: Vec<u8> = self.returned.drain(..).flatten().collect();
            all.append(&mut self.rest);
            self.rest = all;
        }
    }

    /// Takes more at once, for documents to learn: each token's counts are added once for every block.
    pub(crate) fn enlarge_blocks(&mut self) {
        self.limits.block *= 4;
        self.block_size = self.limits.block;
    }

    /// Gives a block back, to be the next one. Of several, the first is given back last.
    pub(crate) fn give_back(&mut self, block: Vec<u8>) {
        if !block.is_empty() {
            self.returned.push_front(block);
        }
    }

    /// Shows `look` the next blocks, until it has seen enough or this many bytes, and takes them all back. It returns how
    /// many rows it has seen in all, and whether it wants more; its errors count rows from the beginning of the block.
    pub(crate) fn look_ahead(
        &mut self,
        bytes: usize,
        mut look: impl FnMut(&str, &[u8]) -> Result<(u64, bool)>,
    ) -> Result<()> {
        let mut blocks = Vec::new();
        let (mut seen, mut rows) = (0, 0);
        let mut outcome = Ok(true);
        while seen < bytes && matches!(outcome, Ok(true)) && !(seen > 0 && self.bytes.is_slow()) {
            let mut block = Vec::new();
            outcome = self.next_block(&mut block).and_then(|found| {
                if !found {
                    return Ok(false);
                }
                let (rows_now, more) = look(self.name(), &block)?;
                rows = rows_now;
                Ok(more)
            });
            seen += block.len();
            blocks.push(block);
        }
        blocks.into_iter().rev().for_each(|block| self.give_back(block));
        outcome.map(|_| ()).map_err(|mut error| {
            error.add_rows(rows);
            error
        })
    }

    /// Puts the next whole records into `block`; `false` if there are none left. Blank lines at the end of a table
    /// are no records; they are held back until something follows them.
    ///
    /// Errors count rows from the beginning of the block: the record that is wrong is its first.
    pub(crate) fn next_block(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        if let Some(returned) = self.returned.pop_front() {
            *block = returned;
            return Ok(true);
        }
        block.clear();
        block.append(&mut self.rest);
        let mut wanted = self.block_size;
        loop {
            self.read_up_to(wanted, block)?;
            let mut records = &block[..self.framing.end_of_whole_records(block, self.limits.rows)];
            let whole = without_blank_end(records).len();
            if whole == 0 {
                // As many blank lines as a batch may have rows; what is beyond them must be seen to know their meaning.
                records = &block[..self.framing.end_of_whole_records(block, usize::MAX)];
                if !without_blank_end(records).is_empty() {
                    self.cut_blank_lines(block);
                    return Ok(true);
                }
            }
            if whole > 0 {
                self.rest.extend_from_slice(&block[whole..]);
                // Where rows are short, a block of the usual size would mostly be carried on to the next.
                self.block_size = (2 * whole).clamp(self.limits.block.div_ceil(16), self.limits.block);
                block.truncate(whole);
                return Ok(true);
            }
            if self.ended && records.len() == block.len() {
                block.clear();
                return Ok(false);
            } else if self.ended {
                return Err(Error::UnclosedQuote { name: self.name().into(), row: 1 });
            } else if block.len() >= self.limits.record {
                return Err(Error::RowTooLong {
                    name: self.name().into(),
                    row: 1,
                    limit: self.limits.record,
                });
            }
            wanted = (2 * block.len().max(self.limits.block)).min(self.limits.record);
        }
    }

    /// Leaves of a block that begins with blank lines, which something follows, as many of them as a batch may have rows.
    /// The others come next, in blocks of their own: in a table with a single column they are rows.
    fn cut_blank_lines(&mut self, block: &mut Vec<u8>) {
        let blank = end_of_blank_lines(block);
        self.rest.extend_from_slice(&block[blank..]);
        let ends = memchr_iter(b'\n', &block[..blank]).map(|position| position + 1);
        let mut start = 0;
        for end in ends.skip(self.limits.rows - 1).step_by(self.limits.rows).chain([blank]) {
            if start < end {
                self.returned.push_back(block[start..end].to_vec());
            }
            start = end;
        }
        *block = self.returned.pop_front().unwrap_or_default();
    }

    /// Reads until the block has this many bytes, the source ends, or a pipe gives nothing and there is a record. The last line gets a line end if it has none.
    fn read_up_to(&mut self, size: usize, block: &mut Vec<u8>) -> Result<()> {
        if self.ended || block.len() >= size {
            return Ok(());
        }
        let lacking = size - block.len();
        block.reserve(lacking + 1);
        let framing = self.framing;
        let has_a_record = |block: &[u8]| {
            let records = &block[..framing.end_of_whole_records(block, usize::MAX)];
            !without_blank_end(records).is_empty()
        };
        if self.bytes.read_some(block, lacking, has_a_record)? {
            self.ended = true;
            if block.last().is_some_and(|&byte| byte != b'\n') {
                block.push(b'\n');
            }
        }
        Ok(())
    }
}

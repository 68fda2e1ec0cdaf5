//! The one place that knows all formats: what a table is read from, what is handed to a thread, and who takes it apart.

use std::sync::Arc;

use priory::Batch;
use priory::Stored;

use crate::csv::Dialect;
use crate::delimited::{self, DelimitedParser};
use crate::error::Result;
use crate::reader::Plan;
use crate::sample::{ColumnInfo, Sample};
use crate::source::Source;

/// Where the rows of a table come from.
pub(crate) enum Input {
    Delimited(Source, Dialect),
}

/// Rows as they are stored, for one thread to take apart.
pub(crate) enum Block {
    Text(Vec<u8>),
}

impl Default for Block {
    fn default() -> Self {
        Block::Text(Vec::new())
    }
}

impl Input {
    /// Gets ready to read what the plan asks for.
    pub(crate) fn parser(&self, plan: &Arc<Plan>) -> Parser {
        match self {
            Input::Delimited(_, dialect) => Parser::Delimited(DelimitedParser::new(plan, *dialect)),
        }
    }

    /// Replaces the block by the next one; `false` if there is none left. Errors count rows from the beginning of the
    /// block.
    pub(crate) fn next_block(&mut self, block: &mut Block) -> Result<bool> {
        match (self, block) {
            (Input::Delimited(source, _), Block::Text(text)) => source.next_block(text),
        }
    }

    /// What is known of the columns with these names.
    pub(crate) fn columns(&self, header: &[String]) -> Vec<ColumnInfo> {
        match self {
            Input::Delimited(..) => {
                header.iter().map(|name| ColumnInfo { name: name.clone(), stored: Stored::Text }).collect()
            }
        }
    }

    /// The first rows of the columns with these names. They will be read again.
    pub(crate) fn sample(&mut self, header: &[String], rows: usize) -> Result<Sample> {
        match self {
            Input::Delimited(source, dialect) => delimited::sample(source, *dialect, header, rows),
        }
    }

    /// The path, or what else the input is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Input::Delimited(source, _) => source.name(),
        }
    }

    /// How many bytes there are, if the input is a regular file.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Input::Delimited(source, _) => source.size(),
        }
    }

    /// How many of them were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        match self {
            Input::Delimited(source, _) => source.bytes_read(),
        }
    }
}

/// Takes blocks apart. Every thread has one of its own.
pub(crate) enum Parser {
    Delimited(DelimitedParser),
}

impl Parser {
    /// Appends the rows of a block to an empty batch. Rows in errors are counted from 1 in this block; the batch
    /// then holds those before.
    pub(crate) fn fill(&mut self, block: &Block, batch: &mut Batch) -> Result<()> {
        match (self, block) {
            (Parser::Delimited(parser), Block::Text(text)) => parser.fill(text, batch),
        }
    }
}

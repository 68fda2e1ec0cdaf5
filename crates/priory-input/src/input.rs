//! What the formats have in common: what a table is read from, what is handed to a thread, and how it is parsed.
//!
//! A format of text is a [`TextFormat`] in a file of its own, and a line in the table of [formats](crate::format).

use std::sync::Arc;

use priory::infer::Stored;
use priory::{Batch, Column, Kind, Schema};

#[cfg(feature = "arrow")]
use crate::arrow::{ArrowParser, ArrowRows, ArrowStream, ParquetFile, ParquetParser, RecordBatch, RowSlice};
use crate::documents::{self, Document, DocumentParser, Files, LineFormat};
use crate::error::Result;
use crate::kept::KeptColumn;
use crate::mailbox::{MailParser, Mailbox};
use crate::reader::Plan;
use crate::sample::{ColumnInfo, Sample};
use crate::source::Source;
use crate::table::Purpose;

/// Where the rows of a table come from.
pub(crate) enum Input {
    Text(Source, Box<dyn TextFormat>),
    Files(Files),
    Mails(Box<Mailbox>),
    #[cfg(feature = "arrow")]
    Parquet(ParquetFile),
    #[cfg(feature = "arrow")]
    Arrow(ArrowStream),
    #[cfg(feature = "arrow")]
    Memory(ArrowRows),
}

/// A table of text that was opened: the names of its columns, and what is known of how it is written.
pub(crate) type OpenedText = (Vec<String>, Box<dyn TextFormat>);

/// How a table of text is written, as far as it was found out when it was opened.
pub(crate) trait TextFormat: Send {
    /// How the columns with these names are stored.
    fn stored(&self, header: &[String]) -> Vec<Stored> {
        vec![Stored::Text; header.len()]
    }

    /// The first rows of the columns with these names, at least one. They will be read again.
    fn sample(&self, source: &mut Source, header: &[String], rows: usize) -> Result<Sample>;

    /// Appends rows from a piece of the table further in, which begins with a line, at most this many; none if it cannot be
    /// told where records begin.
    fn sample_piece(&self, _piece: &[u8], _header: &[String], _rows: usize, _sample: &mut Sample) {}

    /// The header under which a schema finds its columns, if it is another one.
    fn widened(&self, _header: &[String], _schema: &Schema) -> Option<Vec<String>> {
        None
    }

    /// Refuses a schema that asks for what cannot be read.
    fn check(&self, _plan: &Plan, _schema: &Schema) -> Result<()> {
        Ok(())
    }

    /// Whether there are documents with a class each, and nothing else: columns called `class` and `text`.
    fn has_documents(&self) -> bool {
        false
    }

    /// A parser for blocks.
    fn parser(&self, plan: &Arc<Plan>) -> Box<dyn TextParser>;
}

/// Takes blocks of text apart. Every thread has one of its own.
pub(crate) trait TextParser: Send {
    /// Appends the rows of a block, whole records, to an empty batch. Rows in errors are counted from 1 in this block; the
    /// batch then holds those before.
    fn fill(&mut self, block: &[u8], batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()>;
}

/// Rows as they are stored, for one thread to parse.
pub(crate) enum Block {
    /// Whole records of text.
    Text(Vec<u8>),
    /// Documents or messages.
    Documents(Vec<Document>),
    /// Rows of a Parquet file, which the parser reads by itself.
    #[cfg(feature = "arrow")]
    Slice(RowSlice),
    /// Rows in Arrow's layout.
    #[cfg(feature = "arrow")]
    Rows(RecordBatch),
}

impl Default for Block {
    fn default() -> Self {
        Block::Text(Vec::new())
    }
}

impl Block {
    /// The room for text that it has.
    fn into_text(self) -> Vec<u8> {
        match self {
            Block::Text(text) => text,
            _ => Vec::new(),
        }
    }
}

impl Input {
    /// Learns what will be read, so that nothing else need be.
    pub(crate) fn prepare(&mut self, plan: &Plan, schema: &Schema) -> Result<()> {
        match self {
            Input::Files(files) => {
                files.limit_documents(plan.most_rows);
                Ok(())
            }
            Input::Mails(mailbox) => {
                mailbox.limit_messages(plan.most_rows);
                Ok(())
            }
            Input::Text(source, format) => {
                let is_text = |column: &Column| column.kind == Kind::Text;
                source.limit_rows(plan.most_rows);
                if plan.purpose == Purpose::Learning && schema.columns.iter().any(is_text) {
                    source.enlarge_blocks();
                }
                format.check(plan, schema)
            }
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => file.prepare(plan, schema),
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => stream.prepare(plan),
            #[cfg(feature = "arrow")]
            Input::Memory(rows) => rows.prepare(plan),
        }
    }

    /// A parser for blocks, to be called after [`prepare`](Self::prepare).
    pub(crate) fn parser(&self, plan: &Arc<Plan>) -> Parser {
        match self {
            Input::Text(_, format) => Parser::Text(format.parser(plan)),
            Input::Mails(_) => Parser::Mails(MailParser::new(plan)),
            Input::Files(_) => Parser::Documents(DocumentParser::new(plan, LineFormat::Plain)),
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => Parser::Parquet(file.parser(plan)),
            #[cfg(feature = "arrow")]
            Input::Arrow(_) | Input::Memory(_) => Parser::Arrow(ArrowParser::new(plan)),
        }
    }

    /// Replaces the block by the next one; `false` if there is none left. Errors count rows from the beginning of the
    /// block.
    pub(crate) fn next_block(&mut self, block: &mut Block) -> Result<bool> {
        match self {
            Input::Files(files) => {
                let documents = files.next_block()?;
                let found = !documents.is_empty();
                *block = Block::Documents(documents);
                Ok(found)
            }
            Input::Mails(mailbox) => {
                let messages = mailbox.next_block()?;
                let found = !messages.is_empty();
                *block = Block::Documents(messages);
                Ok(found)
            }
            Input::Text(source, _) => {
                let mut text = std::mem::take(block).into_text();
                let found = source.next_block(&mut text);
                *block = Block::Text(text);
                found
            }
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => {
                let slice = file.next_slice();
                let found = slice.is_some();
                slice.into_iter().for_each(|slice| *block = Block::Slice(slice));
                Ok(found)
            }
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => {
                let rows = stream.next_rows()?;
                let found = rows.is_some();
                rows.into_iter().for_each(|rows| *block = Block::Rows(rows));
                Ok(found)
            }
            #[cfg(feature = "arrow")]
            Input::Memory(batches) => {
                let rows = batches.next_rows()?;
                let found = rows.is_some();
                rows.into_iter().for_each(|rows| *block = Block::Rows(rows));
                Ok(found)
            }
        }
    }

    /// What is known of the columns with these names.
    pub(crate) fn columns(&self, header: &[String]) -> Vec<ColumnInfo> {
        let stored: Vec<Stored> = match self {
            Input::Text(_, format) => format.stored(header),
            Input::Files(_) | Input::Mails(_) => documents::stored(header),
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => file.stored(),
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => stream.stored(),
            #[cfg(feature = "arrow")]
            Input::Memory(rows) => rows.stored(),
        };
        let columns = header.iter().zip(stored);
        columns.map(|(name, stored)| ColumnInfo { name: name.clone(), stored }).collect()
    }

    /// The first rows of the columns with these names, at least one. They will be read again.
    pub(crate) fn sample(&mut self, header: &[String], rows: usize) -> Result<Sample> {
        match self {
            Input::Text(source, format) => format.sample(source, header, rows),
            // What the columns are is known.
            Input::Files(_) | Input::Mails(_) => Ok(Sample::new(header.len())),
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => file.sample(rows),
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => stream.sample(rows),
            #[cfg(feature = "arrow")]
            Input::Memory(batches) => batches.sample(rows),
        }
    }

    /// The path, or what else the input is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Input::Text(source, _) => source.name(),
            Input::Files(files) => files.name(),
            Input::Mails(mailbox) => mailbox.name(),
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => file.name(),
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => stream.name(),
            #[cfg(feature = "arrow")]
            Input::Memory(rows) => rows.name(),
        }
    }

    /// Whether the input is so short that all of it was read to open it.
    pub(crate) fn is_short(&self) -> bool {
        match self {
            Input::Text(source, _) => source.is_short(),
            Input::Files(_) | Input::Mails(_) => false,
            #[cfg(feature = "arrow")]
            Input::Parquet(_) | Input::Arrow(_) | Input::Memory(_) => false,
        }
    }

    /// How many bytes there are, if the input is a regular file.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Input::Text(source, _) => source.size(),
            Input::Files(files) => files.size(),
            Input::Mails(mailbox) => mailbox.size(),
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => Some(file.size()),
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => stream.size(),
            #[cfg(feature = "arrow")]
            Input::Memory(_) => None,
        }
    }

    /// How many of them were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        match self {
            Input::Text(source, _) => source.bytes_read(),
            Input::Files(files) => files.bytes_read(),
            Input::Mails(mailbox) => mailbox.bytes_read(),
            #[cfg(feature = "arrow")]
            Input::Parquet(file) => file.bytes_read(),
            #[cfg(feature = "arrow")]
            Input::Arrow(stream) => stream.bytes_read(),
            #[cfg(feature = "arrow")]
            Input::Memory(_) => 0,
        }
    }
}

/// Takes blocks apart. Every thread has one of its own.
pub(crate) enum Parser {
    Text(Box<dyn TextParser>),
    Documents(DocumentParser),
    Mails(MailParser),
    #[cfg(feature = "arrow")]
    Parquet(ParquetParser),
    #[cfg(feature = "arrow")]
    Arrow(ArrowParser),
}

impl Parser {
    /// Appends the rows of a block to an empty batch, and to the columns that pass through. Rows in errors are counted from 1
    /// in this block; the batch then holds those before.
    pub(crate) fn fill(&mut self, block: &Block, batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()> {
        match (self, block) {
            (Parser::Text(parser), Block::Text(text)) => parser.fill(text, batch, kept),
            (Parser::Documents(parser), Block::Documents(documents)) => {
                parser.fill_files(documents, batch, kept);
                Ok(())
            }
            (Parser::Mails(parser), Block::Documents(messages)) => {
                parser.fill(messages, batch, kept);
                Ok(())
            }
            #[cfg(feature = "arrow")]
            (Parser::Parquet(parser), Block::Slice(slice)) => parser.fill(slice, batch, kept),
            #[cfg(feature = "arrow")]
            (Parser::Arrow(parser), Block::Rows(rows)) => parser.fill(rows, batch, kept),
            _ => unreachable!("an input hands out blocks of its own kind"),
        }
    }
}

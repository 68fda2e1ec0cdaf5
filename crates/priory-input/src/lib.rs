//! Bytes to batches: tables are read here, and model files are kept safely on disk.
//!
//! ```text
//! file, pipe --Input--> block of whole rows --Parser--> priory::Batch
//! ```
//!
//! A table of any size is read in bounded memory: one block of bytes, the bounds of its fields, and the batch.
//!
//! ```
//! use priory::{Batch, Column, Kind, Schema, Statistics};
//! use priory_input::{Purpose, ReadOptions, Table};
//!
//! let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
//! let text = "outlook,play\nsunny,no\novercast,yes\n?,yes\n";
//! let table = Table::from_reader("days", text.as_bytes(), &ReadOptions::default())?;
//!
//! let mut statistics = Statistics::empty(&schema);
//! let mut batch = Batch::new(&schema);
//! let mut batches = table.batches(&schema, Purpose::Learning)?;
//! while batches.read(&mut batch)? {
//!     statistics.observe(&batch)?;
//! }
//! assert_eq!(batches.rows_read(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow;
mod costs;
mod counts;
mod csv;
mod decimal;
mod delimited;
mod delimiter;
mod documents;
mod error;
mod evaluate;
mod format;
#[cfg(any(feature = "arrow", feature = "spreadsheets"))]
mod guarded;
mod input;
mod json;
mod kept;
pub mod lessons;
mod mailbox;
mod marks;
mod merge;
mod parallel;
mod predicted;
mod pseudocounts;
mod reader;
mod recent;
mod remarks;
mod sample;
mod source;
#[cfg(feature = "spreadsheets")]
mod spreadsheet;
mod sql;
pub mod store;
mod svmlight;
mod table;
mod tar;
pub mod text;
mod understand;
mod unpack;
mod work;

#[cfg(feature = "arrow")]
pub use arrow::{
    PredictedRows, PredictionColumns, PredictionFile, PredictionStream, RecordBatches, RowReader, RowValue,
    WholeNumbers,
};
pub use costs::read_costs;
pub use counts::ReadCounts;
pub use error::{Error, Result};
pub use evaluate::{OpenTable, Split, evaluate, evaluate_on};
pub use format::{Encoding, InputFormat, ReadOptions};
pub use kept::{KeptColumn, Predictions};
pub use mailbox::Messages;
pub use merge::Merged;
pub use parallel::{Turn, fold};
pub use predicted::{PredictedColumns, PredictedLines, Syntax, push_probability};
pub use pseudocounts::read_pseudocounts;
pub use reader::{BadValues, Batches, Reader, Worker};
pub use remarks::SheetRemark;
pub use sample::{ColumnInfo, Sample};
#[cfg(feature = "spreadsheets")]
pub use spreadsheet::SheetColumns;
pub use sql::{Dialect, Sql};
pub use table::{Purpose, Table};
pub use understand::{Hints, Understood, apply_families, check_kinds};
pub use work::{Watch, Work};

//! Naive Bayes for anything that can be counted.
//!
//! Data take one way through this library:
//!
//! ```text
//! Source --read--> Batch --observe/forget/merge--> Statistics --estimate--> Model --score--> Scores --normalize--> Posterior
//! ```
//!
//! [`Statistics`] are sums: they add and subtract exactly, so training in parts, in parallel, more or less of it,
//! gives the same bits. A [`Model`] is what follows from them under [`Settings`]; it is derived in a moment and
//! never edited.
//!
//! ```
//! use priory::{Batch, Column, Kind, Schema, Settings, Statistics};
//!
//! let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
//! let days = Batch::from_rows(&[("yes", [Some("overcast")]), ("no", [Some("sunny")]), ("yes", [Some("rain")])]);
//! let mut statistics = Statistics::empty(&schema);
//! statistics.observe(&days)?;
//! let model = statistics.estimate(&Settings::default())?;
//! let posterior = model.score(&days)?.normalize();
//! assert_eq!(model.classes()[posterior.best(0)], "yes");
//! # Ok::<(), priory::Error>(())
//! ```

pub mod batch;
mod choices;
mod decay;
mod density;
mod error;
mod estimate;
pub mod evaluate;
pub mod exact;
mod families;
mod features;
mod forget;
pub mod format;
mod fractions;
pub mod infer;
mod learnt;
mod leave_one_out;
mod lines;
pub mod matrix;
mod model;
pub mod moments;
mod numerics;
pub mod plot;
pub mod posterior;
pub mod report;
pub mod schema;
pub mod settings;
mod spectrum;
pub mod statistics;
mod tally;
pub mod text;
pub mod vocabulary;
pub mod words;

pub use batch::{Batch, BatchColumn, CategoryColumn, TextColumn, Value};
pub use error::{Error, Result};
pub use learnt::Learnt;
pub use model::{Explanation, Model};
pub use posterior::{Outcome, Posterior, Scores};
pub use schema::{Column, Kind, Schema};
pub use settings::Settings;
pub use statistics::Statistics;

/// The code in the README is compiled and run like any example.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeCode;

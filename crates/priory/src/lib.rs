//! Naive Bayes for anything that can be counted.
//!
//! Data take one way through this library:
//!
//! ```text
//! Source --read--> Batch --observe/forget/merge--> Statistics --estimate--> Model --score--> Scores --normalize--> Posterior
//! ```
//!
//! [`Statistics`] are sums. They add and subtract exactly, so that training at once, in parts or in parallel gives the same
//! bits. A [`Model`] is what follows from them under [`Settings`]. It is quickly derived and never edited.
//!
//! # Train and predict
//!
//! ```
//! use priory::{Batch, Column, Kind, Schema, Settings, Statistics, Value};
//!
//! let columns = vec![Column::new("outlook", Kind::Category), Column::new("temperature", Kind::Number)];
//! let schema = Schema::new("play", columns)?;
//! let mut days = Batch::new(&schema);
//! days.push(Some("yes"), 1.0, &[Value::Category("overcast"), Value::Number(21.0)])?;
//! days.push(Some("yes"), 1.0, &[Value::Category("overcast"), Value::Missing])?;
//! days.push(Some("no"), 1.0, &[Value::Category("sunny"), Value::Number(34.0)])?;
//! days.push(Some("no"), 1.0, &[Value::Category("sunny"), Value::Number(31.0)])?;
//!
//! let mut statistics = Statistics::empty(&schema);
//! statistics.observe(&days)?;
//! let model = statistics.estimate(&Settings::default())?;
//!
//! let mut today = Batch::new(&schema);
//! today.push(None, 1.0, &[Value::Category("overcast"), Value::Number(20.0)])?;
//! let posterior = model.score(&today)?.normalize();
//! assert_eq!(model.classes()[posterior.best(0)], "yes");
//! # Ok::<(), priory::Error>(())
//! ```
//!
//! # Learn and forget, to the bit
//!
//! [`Learnt`] is what a model file holds: statistics, and the settings to estimate a model with.
//!
//! ```
//! use priory::{Batch, Column, Kind, Learnt, Schema, Settings};
//!
//! let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
//! let monday = Batch::from_rows(&[("yes", [Some("overcast")]), ("no", [Some("sunny")])]);
//! let tuesday = Batch::from_rows(&[("perhaps", [Some("foggy")])]);
//!
//! let mut learnt = Learnt::empty(&schema, Settings::default());
//! learnt.learn(&monday)?;
//! let before = learnt.to_bytes();
//! learnt.learn(&tuesday)?; // a new value and a new class
//! learnt.forget(&tuesday)?;
//! assert_eq!(learnt.to_bytes(), before);
//! # Ok::<(), priory::Error>(())
//! ```
//!
//! # Explain a row
//!
//! ```
//! use priory::{Batch, Column, Kind, Schema, Settings, Statistics};
//!
//! let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category), Column::new("wind", Kind::Category)])?;
//! let days = Batch::from_rows(&[
//!     ("yes", [Some("overcast"), Some("weak")]),
//!     ("yes", [Some("rain"), Some("weak")]),
//!     ("no", [Some("rain"), Some("strong")]),
//! ]);
//! let mut statistics = Statistics::empty(&schema);
//! statistics.observe(&days)?;
//! let explanation = statistics.estimate(&Settings::default())?.explain(&days, 1)?;
//! assert_eq!(explanation.prediction, "yes");
//!
//! // The log-joint of each class is the log of its prior and what each feature adds.
//! let yes = explanation.best;
//! let mut log_joint = explanation.log_prior[yes];
//! for contribution in &explanation.contributions {
//!     log_joint += contribution.log_likelihood[yes];
//! }
//! assert_eq!(log_joint, explanation.log_joint[yes]);
//! # Ok::<(), priory::Error>(())
//! ```
//!
//! # Modules
//!
//! | module | what is in it |
//! |---|---|
//! | [`schema`], [`batch`], [`vocabulary`] | what the columns are; rows, stored column by column; names and their ids |
//! | [`infer`], [`text`] | what a column probably is, from its first rows; what a token is |
//! | [`written`] | numbers as people write them |
//! | [`statistics`], [`counts`] | the sums: observe, forget, merge, estimate; the same from columns that were counted one by one |
//! | [`settings`], [`words`] | what can be chosen, and the words for it on the command line and in Python |
//! | [`posterior`] | scores and probabilities |
//! | [`decide`], [`shares`] | which class to answer, given what mistakes cost; the shares of the classes in rows without any |
//! | [`report`], [`plot`] | what can be shown of a model, as structs to print or to write as JSON; plots as SVG |
//! | [`report_page`] | a model and how good it is, as one page of HTML |
//! | [`judgement`] | how much what the columns say is worth |
//! | [`evaluate`] | how good predictions are; cross-validation and leave-one-out |
//! | [`mod@format`] | the model file |
//! | [`matrix`] | the same sums and scores for matrices without names |
//! | [`exact`], [`moments`] | exact sums, for programs that need nothing else |

// The modules are in the order in which to read them. First comes what rows are made of,
pub mod batch;
mod error;
pub mod schema;
pub mod vocabulary;
pub mod written;

// then the way from rows to probabilities,
pub mod counts;
mod decay;
mod forget;
pub mod statistics;

mod estimate;
pub mod settings;

mod learnt;
mod model;
pub mod posterior;

pub mod decide;
mod log_odds;
pub mod shares;

// what is counted of each kind of column,
mod families;

pub mod exact;
pub mod moments;
mod spectrum;
mod tally;

// what can be asked of a model,
pub mod evaluate;
mod features;
mod interval;
mod leave_one_out;

// how much what the columns say is worth,
pub mod judgement;

mod density;
mod fractions;
pub mod plot;
pub mod report;
pub mod report_page;

// and what surrounds it.
pub mod format;

mod choices;
mod hash;
pub mod infer;
pub mod text;
pub mod words;

pub mod matrix;

mod lines;
mod numerics;

pub use batch::{Batch, BatchColumn, CategoryColumn, TextColumn, Value};
pub use error::{Error, Result};
pub use interval::{Interval, Intervals, check_level};
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

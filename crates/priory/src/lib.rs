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

mod batch;
mod choices;
mod decay;
mod density;
mod error;
mod estimate;
mod evaluate;
mod exact;
mod families;
mod features;
mod forget;
mod format;
mod fractions;
mod infer;
mod learnt;
mod leave_one_out;
mod lines;
pub mod matrix;
mod model;
pub mod moments;
mod numerics;
pub mod plot;
mod posterior;
mod report;
mod schema;
mod settings;
mod spectrum;
mod statistics;
mod tally;
mod text;
mod vocabulary;
pub mod words;

pub use batch::{Batch, BatchColumn, CategoryColumn, MISSING, TextColumn, Value};
pub use choices::Choices;
pub use decay::HalfLife;
pub use error::{Error, Result};
pub use evaluate::{
    CalibrationBin, ClassReport, Evaluation, EvaluationReport, FoldModel, FoldModels, FoldPart, FoldParts,
    FoldStatistics, Folds, HEAVIEST_ROW, Holdout, MOST_CONFUSED, MOST_FOLDS, majority_class,
};
pub use exact::ExactSum;
pub use families::text::MOST_TOKENS;
pub use families::text::summary::{TellingToken, TextSummary};
pub use features::{FeatureRank, Features, Gain};
pub use format::{FileParts, ModelFile, could_be_file};
pub use fractions::{FractionExplainer, FractionExplanation, Fractions};
pub use infer::{Decision, Hint, Stored, TakenAs, infer};
pub use learnt::Learnt;
pub use leave_one_out::{LeaveOneOut, Terms};
pub use model::{
    ChosenFamily, Contribution, Explanation, LinearForm, LinearWeight, Model, TokenContribution,
    TokenContributions,
};
pub use posterior::{Outcome, Posterior, Scores, rows_to_score};
pub use report::{
    ByClass, ClassSummary, FeatureFamily, FeatureSummary, GroupSummary, ParameterCounts, Summary, TOP_TOKENS,
    ValueSummary,
};
pub use schema::{Column, Kind, MISSING_SPELLINGS, Schema};
pub use settings::{
    Discriminant, Divisor, Family, MissingValues, NumberFamily, OTHER_VALUES, Prior, Pseudocounts,
    Regularization, Selection, Settings, Smoothing, TextFamily, TextModel, VarianceFloor,
};
pub use statistics::{MOST_CLASSES, MOST_COUNTS, Statistics};
pub use text::{
    CharacterNgrams, Cjk, DocumentLength, LetterCase, Normalization, Reach, StopWords, TermFrequency,
    TextSettings, TokenSettings, TokenStyle, WordNgrams,
};
pub use vocabulary::{ShortName, Vocabulary, canonical_order};

/// The code in the README is compiled and run like any example.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeCode;

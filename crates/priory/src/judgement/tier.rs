//! How far a judgement goes, in words, and how far it can go.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::judgement::look::rows_to_fit;
use crate::schema::Kind;
use crate::settings::{Settings, Smoothing};
use crate::statistics::Statistics;

/// How far a judgement goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Each column has a weight.
    Weights,
    /// And what it says together with each other.
    Pairs,
    /// And with any two others, and what all columns say as one cloud of points.
    Full,
}

/// Which judgement is wanted.
///
/// ```
/// use priory::judgement::{Judging, Tier};
///
/// assert_eq!("pairs".parse(), Ok(Judging::Tier(Tier::Pairs)));
/// assert!("often".parse::<Judging>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Judging {
    /// None: the naive Bayes of the textbooks.
    #[default]
    None,
    /// One that goes as far as is sensible.
    Auto,
    /// One that goes so far.
    Tier(Tier),
}

/// Fewer rows are not judged unless that is asked for.
const FEWEST_ROWS: u64 = 50;

/// A fit to fewer rows than this and than there are is not worth much.
const FEWEST_ROWS_TO_FIT: usize = 1_000;

impl Judging {
    /// How far to go with these statistics; `None` for no judgement. What is chosen automatically is [`Tier::Full`], unless the
    /// settings are those of a textbook, rows are few or age, a class has a single row, or there are too many classes and
    /// columns to fit weights to enough rows.
    pub fn tier(self, statistics: &Statistics, settings: &Settings) -> Option<Tier> {
        match self {
            Judging::None => None,
            Judging::Tier(tier) => Some(tier),
            Judging::Auto => is_sensible(statistics, settings).then_some(Tier::Full),
        }
    }
}

fn is_sensible(statistics: &Statistics, settings: &Settings) -> bool {
    let schema = statistics.schema();
    let (classes, columns) = (statistics.classes(), schema.columns.len());
    let is_textbook = settings.smoothing == Smoothing::None
        || settings.discriminant.is_some()
        || settings.select != crate::settings::Selection::All
        || schema
            .columns
            .iter()
            .any(|column| matches!(column.kind, Kind::Joint | Kind::Group | Kind::Moments));
    let enough = rows_to_fit(classes.len(), columns);
    !is_textbook
        && statistics.half_life().is_none()
        && statistics.rows() >= FEWEST_ROWS
        && classes.len() >= 2
        && classes.iter().all(|&(_, weight)| weight >= 2.0)
        && (enough >= FEWEST_ROWS_TO_FIT || enough as u64 >= statistics.rows())
}

impl Tier {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Weights => "weights",
            Tier::Pairs => "pairs",
            Tier::Full => "full",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Judging {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "none" => Ok(Judging::None),
            "auto" => Ok(Judging::Auto),
            "weights" => Ok(Judging::Tier(Tier::Weights)),
            "pairs" => Ok(Judging::Tier(Tier::Pairs)),
            "full" => Ok(Judging::Tier(Tier::Full)),
            _ => Err("expected none, auto, weights, pairs or full".into()),
        }
    }
}

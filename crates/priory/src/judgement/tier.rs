//! How far a judgement goes, in words, and how far it can go.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::judgement::judge::rows_to_fit;
use crate::judgement::text::terms_of_texts;
use crate::schema::{Kind, Schema};
use crate::settings::{Selection, Settings, Smoothing};
use crate::statistics::Statistics;
use crate::text::TokenSettings;

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
    /// None yet: the rows to judge by are kept in the model file, until all parts of a table are one.
    Later,
}

/// Fewer rows are not judged unless that is asked for.
const FEWEST_ROWS: u64 = 50;

/// Nor are rows if a larger share of them is the only one of its class: without it, nothing is known of the class.
const MOST_LONELY: f64 = 0.01;

/// Nor are more columns.
const MOST_COLUMNS: usize = 8_192;

/// A fit to fewer rows than this and than there are is not worth much.
const FEWEST_ROWS_TO_FIT: usize = 1_000;

/// Why rows cannot be judged whose groups cannot be left out.
pub(crate) const ONE_GROUP: &str =
    "all its rows are of one group, or its groups are too large to be left out";

impl Judging {
    /// Has all counted that such a judgement weighs: of columns of words also punctuation and pairs of neighbours, unless the
    /// settings are those of a textbook.
    pub fn prepare(self, schema: &mut Schema, settings: &Settings) {
        let is_judged = match self {
            Judging::None => false,
            Judging::Auto | Judging::Later => textbook(schema, settings).is_none(),
            Judging::Tier(_) => true,
        };
        for column in schema.columns.iter_mut().filter(|_| is_judged && settings.text.model.is_none()) {
            if let Some(text) = &mut column.text
                && !settings.families.contains_key(&column.name)
            {
                let tokens = TokenSettings { neighbours: true, ..text.tokens.clone() };
                if tokens.check().is_ok() {
                    text.tokens = tokens;
                }
            }
        }
    }

    /// Statistics of no rows that will keep what such a judgement needs.
    pub fn start(self, schema: &Schema) -> Statistics {
        let mut statistics = Statistics::empty(schema);
        let is_asked_for = matches!(self, Judging::Tier(_));
        let is_too_wide = !is_asked_for && schema.columns.len() > MOST_COLUMNS;
        if self != Judging::None && !is_too_wide {
            statistics.keep_rows();
        }
        statistics
    }

    /// What it comes to once all rows are there.
    pub fn in_the_end(self) -> Judging {
        if self == Judging::Later { Judging::Auto } else { self }
    }

    /// How far to go with these statistics; `None` for no judgement. What is chosen automatically is [`Tier::Full`], unless
    /// there is a [reason](Self::why_not) against it.
    pub fn tier(self, statistics: &Statistics, settings: &Settings) -> Option<Tier> {
        match self {
            Judging::None | Judging::Later => None,
            Judging::Tier(tier) => Some(tier),
            Judging::Auto => self.why_not(statistics, settings).is_none().then_some(Tier::Full),
        }
    }

    /// Why there is automatically no judgement, if there is none: the settings are those of a textbook, rows are few or age, too
    /// many of them are the only ones of their class, or there are too many classes and columns to fit weights to enough rows.
    pub fn why_not(self, statistics: &Statistics, settings: &Settings) -> Option<&'static str> {
        if self != Judging::Auto {
            return None;
        }
        let (classes, columns) = (statistics.classes(), statistics.schema().columns.len());
        let enough = rows_to_fit(classes.len(), columns, terms_of_texts(statistics, settings));
        if let Some(reason) = textbook(statistics.schema(), settings) {
            return Some(reason);
        }
        match () {
            () if statistics.half_life().is_some() => Some("its rows age"),
            () if statistics.rows() < FEWEST_ROWS => Some("there are fewer than 50 rows"),
            () if classes.len() < 2 => Some("there is only one class"),
            () if !statistics.has_groups_to_leave_out() => Some(ONE_GROUP),
            () if share_of_lonely_rows(&classes) > MOST_LONELY => {
                Some("too many rows are the only ones of their class")
            }
            () if columns > MOST_COLUMNS
                || enough < FEWEST_ROWS_TO_FIT && (enough as u64) < statistics.rows() =>
            {
                Some("there are too many classes and columns")
            }
            () => None,
        }
    }
}

/// The share of rows that are the only ones of their class.
fn share_of_lonely_rows(classes: &[(&str, f64)]) -> f64 {
    let weight = |least: f64| classes.iter().map(|(_, w)| w).filter(|w| **w < least).sum::<f64>();
    weight(2.0) / weight(f64::INFINITY)
}

/// Why settings are those of a textbook, if they are.
fn textbook(schema: &Schema, settings: &Settings) -> Option<&'static str> {
    let has = |kind: Kind| schema.columns.iter().any(|column| column.kind == kind);
    match () {
        () if settings.smoothing == Smoothing::None => Some("probabilities are not smoothed"),
        () if settings.discriminant.is_some() || has(Kind::Group) => Some("it is a discriminant"),
        () if has(Kind::Joint) => Some("it has a joint table"),
        () if settings.text.model.is_some() && has(Kind::Text) => Some("its model of text was named"),
        // What a judged model loses without a column is not known where there is text.
        () if settings.select != Selection::All && has(Kind::Text) => {
            Some("columns are selected beside text")
        }
        () if has(Kind::Moments) => Some("of some columns only sums are kept"),
        () => None,
    }
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
            "later" => Ok(Judging::Later),
            _ => Err("expected none, auto, weights, pairs, full or later".into()),
        }
    }
}

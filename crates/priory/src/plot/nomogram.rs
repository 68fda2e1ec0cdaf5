//! The nomogram of a class: what every value of every column adds to its log-odds, as points on lines that can be added up.
//!
//! With L the log-odds of the class that the model comes to, a value is worth
//!
//! ```text
//! points = L(this value, and nothing else is known) − L(nothing is known)
//! ```
//!
//! in bits. Between two classes the points and L(nothing is known) add up to what a model comes to that was not judged. With
//! more classes all others are taken as one (Možina, Demšar, Kattan and Zupan 2004), in which columns are independent as well.
//! A judged model knows that columns repeat each other, and comes to less than their sum.

use std::f64::consts::LN_2;

use serde::Serialize;

use super::waterfall::log_odds;
use super::{Counted, Subject, densities, ticks};
use crate::batch::{Batch, Value};
use crate::posterior::Outcome;
use crate::report::{FeatureSummary, TextSummary};
use crate::settings::NumberFamily;
use crate::written::{Written, dates};
use crate::{Column, Error, Kind, Result};

/// What everything is worth to one class.
#[derive(Debug, Clone, Serialize)]
pub struct Nomogram {
    /// What the classes are of.
    pub target: String,
    /// The class.
    pub class: String,
    /// How many classes there are.
    pub classes: usize,
    /// The log-odds of the class before anything is known, in bits.
    pub prior: f64,
    /// The columns, those first whose points lie furthest apart.
    pub lines: Vec<Line>,
    /// How many columns would have lines beside these.
    pub more: usize,
    /// Whether the model knows that columns repeat each other, and comes to less than their sum.
    pub repeats: bool,
    /// Columns without a line, since only their combinations are worth something.
    pub joint: Vec<String>,
}

/// One column.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// Its name.
    pub column: String,
    /// What its values are worth.
    pub points: Points,
}

/// What the values of a column are worth, in bits.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Points {
    /// Single values; the most frequent, in their order.
    Values {
        /// The values.
        values: Vec<Point>,
        /// How many there are beside these.
        more: usize,
    },
    /// All numbers between two ends.
    Curve {
        /// The least number.
        low: f64,
        /// The largest.
        high: f64,
        /// What evenly spaced numbers are worth, the ends among them.
        bits: Vec<f64>,
        /// Round numbers.
        marks: Vec<Point>,
    },
    /// Words, each of which is worth so much where it occurs once.
    Words(Vec<Point>),
}

/// One value.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// The value as it is written.
    pub label: String,
    /// The number, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// What it is worth.
    pub bits: f64,
    /// Which share of the rows have it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// More columns than this do not fit on a page; those whose points lie furthest apart are shown.
pub const MOST_LINES: usize = 24;
/// More values of a column are not told apart on a line.
const MOST_VALUES: usize = 12;
/// As many words are shown that speak for the class, and against it.
const MOST_WORDS: usize = 6;
/// A curve is asked for at so many numbers.
const CURVE: usize = 65;
/// Round numbers on a curve.
const MARKS: usize = 4;

impl Nomogram {
    /// What its lines do not show, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.more > 0 {
            notes.push(format!("{} more columns, whose values lie closer together", self.more));
        }
        if !self.joint.is_empty() {
            notes.push(format!("only together, and not on these lines: {}", self.joint.join(", ")));
        }
        if self.repeats {
            notes.push("each line is what a value says alone; columns repeat each other, and the model comes to less than their sum".to_owned());
        }
        if self.classes > 2 {
            notes.push(
                "all other classes are taken as one, which is close to what the model does, not the same"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Points {
    /// All that is known of what values are worth.
    pub fn bits(&self) -> impl Iterator<Item = f64> {
        let (curve, points) = match self {
            Points::Values { values, .. } | Points::Words(values) => (&[][..], values),
            Points::Curve { bits, marks, .. } => (&bits[..], marks),
        };
        curve.iter().copied().chain(points.iter().map(|point| point.bits))
    }

    /// From the least to the most that a value is worth, as far as that is finite.
    pub fn range(&self) -> (f64, f64) {
        let finite = || self.bits().filter(|bits| bits.is_finite());
        (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max))
    }
}

/// The values of a column that the model is asked about.
struct Asked<'a> {
    column: &'a Column,
    values: Vec<AskedValue>,
    of: AskedOf,
}

enum AskedOf {
    Values { shares: Vec<f64>, more: usize },
    Curve { low: f64, high: f64 },
}

#[derive(Clone)]
enum AskedValue {
    Name(String),
    Number(f64),
}

impl Subject<'_> {
    /// The class that a nomogram is about unless one is named: of two the last, of more the most frequent.
    pub fn usual_class(&self) -> &str {
        let (classes, prior) = (self.model.classes(), self.model.prior());
        match self.model.settings().decision.positive.as_ref() {
            Some(positive) if classes.contains(positive) => positive,
            _ if classes.len() <= 2 => classes.last().map_or("", String::as_str),
            _ => {
                let most = (0..prior.len()).max_by(|&a, &b| prior[a].total_cmp(&prior[b]).then(b.cmp(&a)));
                most.map_or("", |most| &classes[most])
            }
        }
    }

    /// The nomogram of a class, or of the usual one.
    ///
    /// # Errors
    /// If there is no such class.
    pub fn nomogram(&self, class: Option<&str>) -> Result<Nomogram> {
        let model = self.model;
        let name = class.unwrap_or_else(|| self.usual_class());
        let Some(class) = model.classes().iter().position(|known| known == name) else {
            let known = model.classes().join(", ");
            return Err(Error::NoPicture(format!("the model has no class `{name}`; it has {known}")));
        };
        let asked: Vec<Asked<'_>> = model
            .schema()
            .columns
            .iter()
            .filter_map(|column| self.asked(column).transpose())
            .collect::<Result<_>>()?;
        let bits = self.worth(&asked, class)?;
        // The first row knows nothing; those of each column follow one another.
        let mut first = 1;
        let mut lines: Vec<Line> = Vec::new();
        for asked in &asked {
            lines.push(asked.line(|row| bits[first + row]));
            first += asked.values.len();
        }
        lines.extend(self.lines_of_words(class));
        let spread = |line: &Line| {
            let (low, high) = line.points.range();
            high - low
        };
        lines.sort_by(|a, b| spread(b).total_cmp(&spread(a)));
        let more = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        Ok(Nomogram {
            target: model.schema().target.clone(),
            class: name.to_owned(),
            classes: model.classes().len(),
            prior: bits[0],
            lines,
            more,
            repeats: model.knows_repetitions(),
            joint: model
                .schema()
                .columns
                .iter()
                .filter(|column| column.kind == Kind::Joint)
                .map(|column| column.name.clone())
                .collect(),
        })
    }

    /// The log-odds of a class where nothing is known, and by how much they change with every single value that is asked about.
    fn worth(&self, asked: &[Asked<'_>], class: usize) -> Result<Vec<f64>> {
        let columns = &self.model.schema().columns;
        let mut batch = Batch::new(self.model.schema());
        batch.push(None, 1.0, &vec![Value::Missing; columns.len()])?;
        for asked in asked {
            for value in &asked.values {
                let value = match value {
                    AskedValue::Name(name) => Value::Category(name),
                    AskedValue::Number(number) => Value::Number(*number),
                };
                let held = columns
                    .iter()
                    .map(|column| if column.name == asked.column.name { value } else { Value::Missing });
                batch.push(None, 1.0, &held.collect::<Vec<_>>())?;
            }
        }
        let scores = self.model.score(&batch)?;
        let nothing = log_odds(scores.row(0), class);
        let worth = |row: usize| {
            let moved = log_odds(scores.row(row), class) - nothing;
            // What every class calls impossible says nothing of any.
            if moved.is_nan() || scores.outcome(row) == Outcome::Impossible { 0.0 } else { moved }
        };
        Ok(std::iter::once(nothing).chain((1..batch.rows).map(worth)).collect())
    }

    /// What to ask about a column, if it has a line.
    fn asked<'c>(&self, column: &'c Column) -> Result<Option<Asked<'c>>> {
        let (feature, kind) = match self.feature(&column.name) {
            Ok(found) => found,
            Err(Error::NotUsed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let of_values = |number: bool| {
            let (values, more) = frequent(feature, number);
            let all: f64 = feature.values.iter().flat_map(|value| value.count.iter()).sum();
            let shares =
                values.iter().map(|(_, weight)| if all > 0.0 { weight / all } else { 0.0 }).collect();
            let values = values.into_iter().map(|(value, _)| value).collect();
            Asked { column, values, of: AskedOf::Values { shares, more } }
        };
        Ok(match kind {
            Kind::Category => Some(of_values(false)),
            Kind::Number if feature.family.of_numbers() == Some(NumberFamily::Values) => {
                Some(of_values(true))
            }
            Kind::Number | Kind::Moments => {
                let counted = self.counted(&column.name, kind)?;
                self.asked_of_numbers(column, feature, counted.as_deref())
            }
            Kind::Group => self.asked_of_numbers(column, feature, None),
            // What these say depends on other columns, or on words.
            Kind::Joint | Kind::Text => None,
        })
    }

    fn asked_of_numbers<'c>(
        &self,
        column: &'c Column,
        feature: &FeatureSummary,
        counted: Option<&[Counted]>,
    ) -> Option<Asked<'c>> {
        // Numbers that cannot be drawn have no line; a column of which no number is known neither.
        let (low, high) = densities::range(feature, &column.name, counted).ok()?;
        let negative = counted.is_none_or(|classes| classes.iter().flatten().any(|cell| cell.0 < 0.0));
        let low = if negative { low } else { low.max(0.0) };
        let whole = feature.family.of_numbers().is_some_and(NumberFamily::is_of_whole_numbers);
        let at = |i: usize| low + (high - low) * i as f64 / (CURVE - 1) as f64;
        let is_date = matches!(column.written, Some(Written::Date(_)));
        let mut marks: Vec<f64> = match is_date {
            true => {
                (1..MARKS).map(|i| low + (high - low) * i as f64 / MARKS as f64).map(f64::round).collect()
            }
            false => ticks(low, high, MARKS).into_iter().map(|tick| tick.at).collect(),
        };
        if whole {
            marks.retain(|mark| mark.fract() == 0.0);
        }
        let numbers = (0..CURVE).map(at).map(|x| if whole { x.round().max(0.0) } else { x });
        let values = numbers.chain(marks).map(AskedValue::Number).collect();
        Some(Asked { column, values, of: AskedOf::Curve { low, high } })
    }

    /// The words that say most for the class, and between two classes those that say most against it.
    fn lines_of_words(&self, class: usize) -> Vec<Line> {
        let two = self.model.classes().len() == 2;
        let words = |text: &TextSummary, of: usize, sign: f64| {
            let telling = text.telling.get(of).map_or(&[][..], |telling| telling);
            let point = move |(token, evidence): (&str, f64)| Point {
                label: token.to_owned(),
                number: None,
                bits: sign * evidence / LN_2,
                share: None,
            };
            let telling = telling.iter().take(MOST_WORDS);
            telling.map(|token| point((&token.token, token.evidence))).collect::<Vec<_>>()
        };
        let line = |feature: &FeatureSummary| {
            let text = feature.text.as_ref()?;
            let against = if two { words(text, 1 - class, -1.0) } else { Vec::new() };
            let points = words(text, class, 1.0).into_iter().chain(against).collect();
            Some(Line { column: feature.name.clone(), points: Points::Words(points) })
        };
        self.summary.features.iter().filter_map(line).collect()
    }
}

impl Asked<'_> {
    /// The line, where what a row of answers says of the column is known.
    fn line(&self, bits: impl Fn(usize) -> f64) -> Line {
        let point = |row: usize, share: Option<f64>| {
            let (label, number) = match &self.values[row] {
                AskedValue::Name(name) => (name.clone(), None),
                AskedValue::Number(x) => match &self.column.written {
                    Some(Written::Date(_)) => (dates::shown(*x), Some(*x)),
                    _ => (super::svg::short(*x), Some(*x)),
                },
            };
            Point { label, number, bits: bits(row), share }
        };
        let points = match &self.of {
            AskedOf::Values { shares, more } => Points::Values {
                values: shares.iter().enumerate().map(|(row, &share)| point(row, Some(share))).collect(),
                more: *more,
            },
            AskedOf::Curve { low, high } => Points::Curve {
                low: *low,
                high: *high,
                bits: (0..CURVE).map(&bits).collect(),
                marks: (CURVE..self.values.len()).map(|row| point(row, None)).collect(),
            },
        };
        Line { column: self.column.name.clone(), points }
    }
}

/// The most frequent values of a feature in their order, with their weights, and how many others there are.
fn frequent(feature: &FeatureSummary, numbers: bool) -> (Vec<(AskedValue, f64)>, usize) {
    let value = |i: usize| {
        let name = &feature.values[i].value;
        match numbers {
            true => name.parse().ok().map(AskedValue::Number),
            false => Some(AskedValue::Name(name.clone())),
        }
    };
    let weight = |i: usize| feature.values[i].count.iter().sum::<f64>();
    let mut kept: Vec<usize> = (0..feature.values.len()).filter(|&i| value(i).is_some()).collect();
    let known = kept.len();
    kept.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
    kept.truncate(MOST_VALUES);
    kept.sort_unstable();
    let more = known - kept.len();
    (kept.into_iter().filter_map(|i| Some((value(i)?, weight(i)))).collect(), more)
}

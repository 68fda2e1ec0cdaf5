//! Pictures of a model: what is in them is worked out once, and drawn as SVG, or by the program in the terminal.

mod axis;
mod contour;
mod densities;
pub mod nomogram;
mod points;
mod regions;
mod reliability;
pub mod svg;
mod waterfall;
mod words;

use crate::report::{FeatureSummary, Features, Summary};
use crate::settings::NumberFamily;
use crate::{Error, Kind, Learnt, Model, Result};

pub use axis::{Tick, ticks};
pub use contour::Piece;
use densities::Counted;
pub use densities::{Bins, Densities};
pub use nomogram::Nomogram;
pub use points::{Point, Points};
pub use regions::{Axis, Regions};
pub use reliability::reliability;
pub use waterfall::{MOST_STEPS, Step, Waterfall};
pub use words::{Word, Words};

/// One or more panels about the same classes.
#[derive(Debug, Clone)]
pub struct Picture {
    /// What the classes are of.
    pub target: String,
    /// The classes.
    pub classes: Vec<String>,
    /// The drawings.
    pub panels: Vec<Panel>,
}

/// One drawing and what it is of.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The columns.
    pub title: String,
    /// What they are taken as.
    pub family: String,
    /// How they look.
    pub drawing: Drawing,
}

/// What a panel can be.
#[derive(Debug, Clone)]
pub enum Drawing {
    /// A column of numbers: densities over the data.
    Densities(Densities),
    /// Categories, or numbers that are taken as such.
    Bars(Bars),
    /// Two columns of numbers: who is most probable where.
    Regions(Regions),
    /// Text: the words that tell most.
    Words(Words),
}

impl Picture {
    /// Puts points over a map of two columns of numbers.
    pub fn add_points(&mut self, points: Vec<Point>) {
        if let [Panel { drawing: Drawing::Regions(regions), .. }] = self.panels.as_mut_slice() {
            regions.points = points;
        }
    }
}

/// P(value | class) for each value, the classes side by side.
#[derive(Debug, Clone)]
pub struct Bars {
    /// The values.
    pub values: Vec<(String, Vec<f64>)>,
    /// How many values there are beside these.
    pub more: usize,
}

/// How finely to draw.
#[derive(Debug, Clone, Copy)]
pub struct Detail {
    /// Points of a curve.
    pub points: usize,
    /// Values of a column of categories; of more, the most frequent are shown. As many words of a column of text.
    pub values: usize,
    /// Columns and rows of a map.
    pub map: (usize, usize),
}

impl Detail {
    /// A panel on a page of its own.
    pub const PAGE: Detail = Detail { points: 320, values: 16, map: (98, 72) };
    /// One of several panels.
    pub const PANEL: Detail = Detail { points: 160, values: 8, ..Detail::PAGE };
}

/// More panels than this are not put into one picture; the best are.
pub const MOST_PANELS: usize = 24;

/// So many telling words of each class are looked up.
const MOST_WORDS: usize = 20;

/// A model made ready to be drawn.
#[derive(Debug)]
pub struct Subject<'a> {
    learnt: &'a Learnt,
    model: &'a Model,
    summary: Summary,
}

impl<'a> Subject<'a> {
    /// Lays open the model that was estimated from what was learnt.
    ///
    /// # Errors
    /// If the model was estimated from something else.
    pub fn new(learnt: &'a Learnt, model: &'a Model) -> Result<Self> {
        Ok(Subject { learnt, model, summary: learnt.summary(model, MOST_WORDS)? })
    }

    /// The columns, those first that help most. A joint table has one picture, a group one for each
    /// column.
    ///
    /// # Errors
    /// If the columns cannot be ranked.
    pub fn ranked(&self) -> Result<Vec<String>> {
        let features = Features::of(&self.learnt.statistics.canonical(), self.model)?;
        let columns = features.ranked.iter().flat_map(|rank| match rank.kind {
            Kind::Joint => &rank.columns[..1],
            Kind::Category | Kind::Number | Kind::Moments | Kind::Group | Kind::Text => &rank.columns[..],
        });
        Ok(columns.cloned().collect())
    }

    /// A column, or two against each other.
    ///
    /// # Errors
    /// If there is no picture of these.
    pub fn one(&self, columns: &[String], detail: Detail) -> Result<Picture> {
        let panel = match columns {
            [column] => self.column(column, detail)?,
            [across, up] => self.pair(across, up, detail)?,
            [] => return Err(nothing_to_draw()),
            _ => {
                return Err(Error::NoPicture(
                    "name one column, or two to draw against each other".to_owned(),
                ));
            }
        };
        Ok(self.picture(vec![panel]))
    }

    /// A panel for each of these columns; only the first, if there are many.
    ///
    /// # Errors
    /// If there is no picture of one of these, or none at all.
    pub fn all(&self, columns: &[String], detail: Detail) -> Result<Picture> {
        let panels = columns.iter().take(MOST_PANELS).map(|column| self.column(column, detail));
        let panels = panels.collect::<Result<Vec<_>>>()?;
        if panels.is_empty() {
            return Err(nothing_to_draw());
        }
        Ok(self.picture(panels))
    }

    fn picture(&self, panels: Vec<Panel>) -> Picture {
        let (target, classes) = (self.model.schema().target.clone(), self.model.classes().to_vec());
        Picture { target, classes, panels }
    }

    /// A column by itself.
    fn column(&self, name: &str, detail: Detail) -> Result<Panel> {
        let (feature, kind) = self.feature(name)?;
        let drawing = match kind {
            Kind::Text => Drawing::Words(Words::new(feature, detail.values)),
            Kind::Category | Kind::Joint => Drawing::Bars(Bars::new(feature, detail.values)),
            // Numbers that are values of their own have probabilities, not a density.
            Kind::Number | Kind::Moments if feature.family.of_numbers() == Some(NumberFamily::Values) => {
                Drawing::Bars(Bars::new(feature, detail.values))
            }
            Kind::Number | Kind::Moments | Kind::Group => {
                let counted = self.counted(name, kind)?;
                let counted = counted.as_deref();
                Drawing::Densities(Densities::new(self.model, feature, name, counted, detail.points)?)
            }
        };
        // One column of a group is drawn by itself; a joint table is drawn as a whole.
        let title = if kind == Kind::Group { name } else { &feature.name };
        Ok(Panel { title: title.to_owned(), family: feature.family.to_string(), drawing })
    }

    /// Two columns of numbers against each other.
    fn pair(&self, across: &str, up: &str, detail: Detail) -> Result<Panel> {
        if across == up {
            let said = format!("`{across}` against itself makes no picture; name two columns, or one");
            return Err(Error::NoPicture(said));
        }
        let range = |name: &str| {
            let (feature, kind) = self.feature(name)?;
            match kind {
                Kind::Category | Kind::Joint | Kind::Text => Err(Error::NoPicture(format!(
                    "`{name}` is not a column of numbers; two columns are drawn against each other if both are"
                ))),
                Kind::Number | Kind::Moments | Kind::Group => {
                    let counted = self.counted(name, kind)?;
                    let (low, high) = densities::range(feature, name, counted.as_deref())?;
                    // Room for the lines around what was seen, but none where nothing can be.
                    let room = 0.08 * (high - low);
                    let negative =
                        counted.is_none_or(|classes| classes.iter().flatten().any(|cell| cell.0 < 0.0));
                    Ok((if negative { low - room } else { (low - room).max(0.0) }, high + room))
                }
            }
        };
        let (ranges, names) = ((range(across)?, range(up)?), (across, up));
        let (across_is, up_is) = (self.feature(across)?.0, self.feature(up)?.0);
        let family = match across_is.name == up_is.name {
            true => across_is.family.to_string(), // both are in one group
            false => format!("{}, {}", across_is.family, up_is.family),
        };
        let drawing = Drawing::Regions(Regions::new(self.model, names, ranges, detail.map)?);
        Ok(Panel { title: format!("{up} over {across}"), family, drawing })
    }

    /// What is said of a column, or of the joint table or group that it is part of.
    fn feature(&self, name: &str) -> Result<(&FeatureSummary, Kind)> {
        let schema = self.model.schema();
        if self.summary.left_out.iter().any(|left_out| left_out == name) {
            return Err(Error::NotUsed { column: name.to_owned() });
        }
        let position = schema.position(name);
        let kind = position.map(|position| schema.columns[position].kind);
        let is_it = |feature: &&FeatureSummary| match kind {
            Some(kind @ (Kind::Joint | Kind::Group)) => feature.kind == kind,
            _ => feature.name == name,
        };
        match (self.summary.features.iter().find(is_it), kind) {
            (Some(feature), Some(kind)) => Ok((feature, kind)),
            _ => {
                let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
                Err(Error::NoPicture(format!(
                    "the model has no column `{name}`; it has {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// The numbers of each class and their weights, if more was kept than sums.
    fn counted(&self, name: &str, kind: Kind) -> Result<Option<Vec<Counted>>> {
        Ok(if kind == Kind::Number { Some(self.learnt.statistics.numbers(name)?) } else { None })
    }
}

fn nothing_to_draw() -> Error {
    Error::NoPicture("there is no column to draw".to_owned())
}

impl Bars {
    /// The most frequent values, in their order.
    fn new(feature: &FeatureSummary, most: usize) -> Self {
        let weight = |i: usize| feature.values[i].count.iter().sum::<f64>();
        let mut kept: Vec<usize> = (0..feature.values.len()).collect();
        kept.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        kept.truncate(most);
        kept.sort_unstable();
        let value = |i: usize| (feature.values[i].value.clone(), feature.values[i].probability.to_vec());
        Bars { more: feature.values.len() - kept.len(), values: kept.into_iter().map(value).collect() }
    }

    /// The longest bar.
    pub fn top(&self) -> f64 {
        self.values.iter().flat_map(|(_, bars)| bars).copied().fold(0.0, f64::max)
    }
}

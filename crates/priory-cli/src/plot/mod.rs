//! Pictures of a model: what is in them is worked out once, and drawn in the terminal or as SVG.

mod axis;
mod contour;
mod densities;
mod regions;
pub(crate) mod svg;
pub(crate) mod terminal;

use anyhow::{Result, bail};
use priory::{Family, FeatureSummary, Kind, Model, Settings, Statistics, Summary};

use densities::Counted;
pub(crate) use densities::Densities;
pub(crate) use regions::Regions;

/// One or more panels about the same classes.
pub(crate) struct Picture {
    pub(crate) target: String,
    pub(crate) classes: Vec<String>,
    pub(crate) panels: Vec<Panel>,
}

/// One drawing and what it is of.
pub(crate) struct Panel {
    /// The columns.
    pub(crate) title: String,
    /// What they are taken as.
    pub(crate) family: String,
    pub(crate) drawing: Drawing,
}

pub(crate) enum Drawing {
    /// A column of numbers: densities over the data.
    Densities(Densities),
    /// Categories, or numbers that are taken as such.
    Bars(Bars),
    /// Two columns of numbers: who is most probable where.
    Regions(Regions),
}

/// P(value | class) for each value, the classes side by side.
pub(crate) struct Bars {
    pub(crate) values: Vec<(String, Vec<f64>)>,
    /// How many values there are beside these.
    pub(crate) more: usize,
}

/// How finely to draw.
#[derive(Clone, Copy)]
pub(crate) struct Detail {
    /// Points of a curve.
    pub(crate) points: usize,
    /// Values of a column of categories; of more, the most frequent are shown.
    pub(crate) values: usize,
    /// Columns and rows of a map.
    pub(crate) map: (usize, usize),
}

/// A model made ready to be drawn.
pub(crate) struct Subject<'a> {
    statistics: &'a Statistics,
    model: Model,
    summary: Summary,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(statistics: &'a Statistics, settings: &Settings) -> Result<Self> {
        let summary = Summary::new(statistics, settings)?;
        Ok(Subject { statistics, model: statistics.estimate(settings)?, summary })
    }

    /// A picture of these panels.
    pub(crate) fn picture(&self, panels: Vec<Panel>) -> Picture {
        let (target, classes) = (self.model.schema().target.clone(), self.model.classes().to_vec());
        Picture { target, classes, panels }
    }

    /// A column by itself.
    pub(crate) fn column(&self, name: &str, detail: Detail) -> Result<Panel> {
        let (feature, kind) = self.feature(name)?;
        let drawing = match kind {
            Kind::Text => bail!(
                "`{name}` is a column of text, of which there is no picture; priory show has its tokens"
            ),
            Kind::Category | Kind::Joint => Drawing::Bars(Bars::new(feature, detail.values)),
            // Numbers that are values of their own have probabilities, not a density.
            Kind::Number | Kind::Moments if feature.family == Family::Values.name() => {
                Drawing::Bars(Bars::new(feature, detail.values))
            }
            Kind::Number | Kind::Moments | Kind::Group => {
                let counted = self.counted(name, kind)?;
                let counted = counted.as_deref();
                Drawing::Densities(Densities::new(&self.model, feature, name, counted, detail.points)?)
            }
        };
        // One column of a group is drawn by itself; a joint table is drawn as a whole.
        let title = if kind == Kind::Group { name } else { &feature.name };
        Ok(Panel { title: title.to_owned(), family: feature.family.to_owned(), drawing })
    }

    /// Two columns of numbers against each other.
    pub(crate) fn pair(&self, across: &str, up: &str, detail: Detail) -> Result<Panel> {
        if across == up {
            bail!("`{across}` against itself makes no picture; name two columns, or one");
        }
        let range = |name: &str| {
            let (feature, kind) = self.feature(name)?;
            match kind {
                Kind::Category | Kind::Joint | Kind::Text => {
                    bail!(
                        "`{name}` is not a column of numbers; two columns are drawn against each other if both are"
                    )
                }
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
            true => across_is.family.to_owned(), // both are in one group
            false => format!("{}, {}", across_is.family, up_is.family),
        };
        let drawing = Drawing::Regions(Regions::new(&self.model, names, ranges, detail.map)?);
        Ok(Panel { title: format!("{up} over {across}"), family, drawing })
    }

    /// What is said of a column, or of the joint table or group that it is part of.
    fn feature(&self, name: &str) -> Result<(&FeatureSummary, Kind)> {
        let schema = self.model.schema();
        if self.summary.left_out.iter().any(|left_out| left_out == name) {
            bail!("the column `{name}` is counted but not used; --select all uses every column");
        }
        let position = schema.position(name);
        let kind = position.map(|position| schema.columns[position].kind);
        let is_it = |feature: &&FeatureSummary| match kind {
            Some(kind @ (Kind::Joint | Kind::Group)) => feature.kind == kind.name(),
            _ => feature.name == name,
        };
        match (self.summary.features.iter().find(is_it), kind) {
            (Some(feature), Some(kind)) => Ok((feature, kind)),
            _ => {
                let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
                bail!("the model has no column `{name}`; it has {}", names.join(", "))
            }
        }
    }

    /// The numbers of each class and their weights, if more was kept than sums.
    fn counted(&self, name: &str, kind: Kind) -> Result<Option<Vec<Counted>>> {
        Ok(if kind == Kind::Number { Some(self.statistics.numbers(name)?) } else { None })
    }
}

impl Bars {
    /// The most frequent values, in their order.
    fn new(feature: &FeatureSummary, most: usize) -> Self {
        let weight = |i: usize| feature.values[i].count.iter().sum::<f64>();
        let mut kept: Vec<usize> = (0..feature.values.len()).collect();
        kept.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        kept.truncate(most);
        kept.sort_unstable();
        let value = |i: usize| (feature.values[i].value.clone(), feature.values[i].probability.clone());
        Bars { more: feature.values.len() - kept.len(), values: kept.into_iter().map(value).collect() }
    }

    /// The longest bar.
    pub(crate) fn top(&self) -> f64 {
        self.values.iter().flat_map(|(_, bars)| bars).copied().fold(0.0, f64::max)
    }
}

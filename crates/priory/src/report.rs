//! What is shown: plain structs that the edges print, or write as JSON.

pub use crate::families::text::summary::{TellingToken, TextSummary, weight_of_evidence};
pub use crate::features::{FeatureRank, Features, Gain};
pub use crate::fractions::{FractionExplainer, FractionExplanation, Fractions, TokenProbability};
pub use crate::model::{
    ChosenFamily, Contribution, ContributionOf, LinearForm, LinearWeight, TokenContribution,
    TokenContributions,
};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde::{Serialize, Serializer};

use crate::decay::HalfLife;
use crate::error::Result;
use crate::families::categorical::MISSING_ROW;
use crate::families::discriminant::{Covariance, GroupStatistics, GroupSums, Normals};
use crate::families::likelihood::FamilyLikelihood;
use crate::families::number::{NumberEstimate, Part};
use crate::families::text::TextStatistics;
use crate::families::{FamilyStatistics, Prepared};
use crate::judgement::JudgementSummary;
use crate::judgement::text::{JudgedText, text_of};
use crate::model::{Factor, MISSING_NAME, Model, feature_name};
use crate::schema::{Column, Kind, Schema};
use crate::settings::{Discriminant, Family, MissingValues, NumberFamily, Regularization, Settings};
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// A model laid open: what was counted, and what follows from it.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Rows learnt.
    pub rows: u64,
    /// How they age, if they do.
    pub half_life: Option<HalfLife>,
    /// The classes, in canonical order.
    pub classes: Vec<ClassSummary>,
    /// The features, in the order of the table.
    pub features: Vec<FeatureSummary>,
    /// Columns that were counted but are not used, because others were selected.
    pub left_out: Vec<String>,
    /// How many free parameters there are.
    pub parameters: ParameterCounts,
    /// How much what the columns say was judged to be worth, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementSummary>,
}

/// How many free parameters P(x | class) has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParameterCounts {
    /// Under the naive assumption: K Σ (J − 1), and for a number as many as its family has. A group of d numbers is one
    /// feature here: it has K d means, and d (d + 1) / 2 covariances for each class, or once if all share them.
    #[serde(serialize_with = "as_json_number")]
    pub naive: BigUint,
    /// Without it: K (∏ J − 1). There is no such number if a feature is a number.
    #[serde(serialize_with = "as_json_number_if_any")]
    pub joint: Option<BigUint>,
}

/// How many telling tokens of each class are shown unless more are asked for.
pub const TOP_TOKENS: usize = 10;

/// One value for each class, in canonical order, or a single one that all classes share. As JSON it is an object with the
/// names of the classes.
#[derive(Debug, Clone, PartialEq)]
pub struct ByClass<T> {
    classes: Arc<[String]>,
    values: Vec<T>,
}

impl<T> ByClass<T> {
    pub(crate) fn new(classes: &Arc<[String]>, values: impl IntoIterator<Item = T>) -> Self {
        ByClass { classes: Arc::clone(classes), values: values.into_iter().collect() }
    }
}

impl<T> Deref for ByClass<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T: PartialEq<U>, U, const CLASSES: usize> PartialEq<[U; CLASSES]> for ByClass<T> {
    fn eq(&self, values: &[U; CLASSES]) -> bool {
        self.values == *values
    }
}

impl<T: Serialize> Serialize for ByClass<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.classes.iter().zip(self.values.iter().cycle()))
    }
}

/// One class.
#[derive(Debug, Clone, Serialize)]
pub struct ClassSummary {
    /// Its name.
    pub name: String,
    /// The weight of its rows.
    pub weight: f64,
    /// P(class).
    pub prior: f64,
    /// P(class) as a fraction, where weights are whole numbers.
    pub fraction: Option<String>,
}

/// One feature: a column, or several that share a joint table.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureSummary {
    /// The column, or all columns of the table.
    pub name: String,
    /// What is counted of it.
    pub kind: Kind,
    /// The distribution it follows.
    pub family: FeatureFamily,
    /// Its possible values.
    pub values: Vec<ValueSummary>,
    /// Single numbers that many rows share, if it is a number that has such; the last entry stands for all other numbers,
    /// which the family and its parameters are for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub atoms: Vec<ValueSummary>,
    /// The weight of the rows without a value.
    pub missing: ByClass<f64>,
    /// The power that P(x | class) is raised to.
    pub exponent: f64,
    /// Its tokens, if it is text.
    pub text: Option<TextSummary>,
    /// What its distribution is made of in each class, if it is a number: mean, standard deviation and more.
    #[serde(serialize_with = "as_object")]
    pub parameters: Vec<(&'static str, ByClass<f64>)>,
    /// By how many nats per row its family is better than a Gaussian, if it was chosen for that.
    pub better_than_gaussian: Option<f64>,
    /// Means and covariances, if it is a group of numbers.
    pub group: Option<GroupSummary>,
}

/// The distribution that a feature follows, written as its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FeatureFamily {
    /// That of a column, or of a joint table.
    Of(Family),
    /// That of a group of numbers.
    Group(Discriminant),
    /// None: what the tokens of a text say is weighed one by one.
    Weighed,
}

impl FeatureFamily {
    /// The distribution of a column of numbers, if it is one.
    pub fn of_numbers(self) -> Option<NumberFamily> {
        match self {
            FeatureFamily::Of(Family::Number(family)) => Some(family),
            FeatureFamily::Of(_) | FeatureFamily::Group(_) | FeatureFamily::Weighed => None,
        }
    }
}

impl fmt::Display for FeatureFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureFamily::Of(family) => f.write_str(family.name()),
            FeatureFamily::Group(discriminant) => write!(f, "{} discriminant", discriminant.name()),
            FeatureFamily::Weighed => f.write_str("weighed tokens"),
        }
    }
}

impl Serialize for FeatureFamily {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Several columns of numbers that follow one normal distribution, given the class.
#[derive(Debug, Clone, Serialize)]
pub struct GroupSummary {
    /// The columns, in the order of everything else here.
    pub columns: Vec<String>,
    /// The means of the columns.
    pub mean: ByClass<Vec<f64>>,
    /// The covariances of the columns, row after row: for each class, or once if all share them.
    pub covariance: ByClass<Vec<Vec<f64>>>,
    /// The weight of the rows in which a column is missing.
    pub missing: ByClass<Vec<f64>>,
    /// How much the covariances were regularized, if they were.
    #[serde(flatten, serialize_with = "as_lambda_and_gamma")]
    pub regularization: Option<Regularization>,
}

/// One value of a feature.
#[derive(Debug, Clone, Serialize)]
pub struct ValueSummary {
    /// The value, or the values of a combination.
    pub value: String,
    /// Its weight.
    pub count: ByClass<f64>,
    /// P(value | class).
    pub probability: ByClass<f64>,
    /// P(value | class) as fractions, where weights are whole numbers.
    pub fraction: Option<ByClass<String>>,
}

impl Summary {
    /// Lays open what these settings make of these statistics.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn new(statistics: &Statistics, settings: &Settings) -> Result<Self> {
        Summary::of(statistics, &statistics.estimate(settings)?, TOP_TOKENS)
    }

    /// A summary of a model that was estimated from these statistics, with this many of the most telling tokens of each
    /// class.
    ///
    /// # Errors
    /// If it was estimated from statistics of other columns or classes.
    pub fn of(statistics: &Statistics, model: &Model, top_tokens: usize) -> Result<Self> {
        let statistics = statistics.canonical();
        let is_used = |column: &&Column| model.schema().position(&column.name).is_some();
        let left_out = statistics.schema.columns.iter().filter(|column| !is_used(column));
        let fractions = Fractions::new(&statistics, model).ok();
        let priors = fractions.as_ref().map(Fractions::priors);
        let classes = model.classes().iter().enumerate().map(|(class, name)| ClassSummary {
            name: name.clone(),
            weight: statistics.class_weight.get(0, class),
            prior: model.prior()[class],
            fraction: priors.as_ref().map(|priors| priors[class].clone()),
        });
        let view = View { schema: &statistics.schema, model, fractions: fractions.as_ref(), top_tokens };
        let (mut features, mut sizes) = (Vec::new(), Vec::new());
        for (factor, found) in model.factors_in(&statistics)? {
            let prepared = factor.prepare_again(&statistics.schema, model.resolved(), &found.likelihood)?;
            features.push(view.feature(factor, found, &prepared)?);
            sizes.extend(column_sizes(factor, &prepared, model.settings().missing));
        }
        for judged in model.judged_texts() {
            if let Some(text) = text_of(&statistics, judged.column) {
                features.push(view.judged_text(text, judged));
                sizes.push(Size::Number(text.tokens.len() * text.totals.classes()));
            }
        }
        // A feature of several columns is named after all of them, the first of which tells its place.
        let place = |feature: &FeatureSummary| {
            let is_named = |column: &&Column| {
                feature.name == column.name || feature.name.starts_with(&format!("{}, ", column.name))
            };
            statistics
                .schema
                .columns
                .iter()
                .find(is_named)
                .and_then(|column| statistics.schema.position(&column.name))
        };
        if !model.judged_texts().is_empty() {
            features.sort_by_key(place);
        }
        Ok(Summary {
            rows: statistics.rows,
            half_life: statistics.half_life(),
            classes: classes.collect(),
            features,
            left_out: left_out.map(|column| column.name.clone()).collect(),
            parameters: ParameterCounts::new(model.classes().len(), &sizes),
            judgement: None,
        })
    }
}

/// What a feature is looked at with.
struct View<'a> {
    schema: &'a Schema,
    model: &'a Model,
    fractions: Option<&'a Fractions<'a>>,
    top_tokens: usize,
}

impl View<'_> {
    fn by_class<T>(&self, values: impl IntoIterator<Item = T>) -> ByClass<T> {
        ByClass::new(self.model.shared_classes(), values)
    }

    /// A column of text whose tokens are weighed.
    fn judged_text(&self, text: &TextStatistics, judged: &JudgedText) -> FeatureSummary {
        let (summary, missing) = TextSummary::of_judged(text, judged, self.model, self.top_tokens);
        FeatureSummary {
            name: feature_name(self.schema, &[judged.column]),
            kind: Kind::Text,
            family: FeatureFamily::Weighed,
            values: Vec::new(),
            missing,
            exponent: 1.0,
            text: Some(summary),
            parameters: Vec::new(),
            better_than_gaussian: None,
            atoms: Vec::new(),
            group: None,
        }
    }

    fn feature(
        &self,
        factor: &FamilyStatistics,
        found: &Factor,
        prepared: &Prepared<'_, f64>,
    ) -> Result<FeatureSummary> {
        let mut feature = FeatureSummary {
            name: feature_name(self.schema, factor.columns()),
            kind: self.schema.columns[factor.columns()[0]].kind,
            family: prepared.family(),
            values: Vec::new(),
            atoms: Vec::new(),
            missing: self.by_class([]),
            exponent: found.exponent,
            text: None,
            parameters: Vec::new(),
            better_than_gaussian: None,
            group: None,
        };
        match (prepared, factor, &found.likelihood) {
            (Prepared::Number(number), ..) => self.add_number(&mut feature, number),
            (Prepared::Group(estimate), FamilyStatistics::Group(group), _) => {
                feature.group = Some(self.group(group, &estimate.normals));
            }
            (Prepared::Text(estimate), _, FamilyLikelihood::Text(_, likelihood)) => {
                let (text, missing) = TextSummary::new(
                    estimate,
                    likelihood,
                    self.model,
                    self.top_tokens,
                    self.fractions.is_some(),
                );
                (feature.text, feature.missing) = (Some(text), missing);
            }
            _ => self.add_values(&mut feature, factor, prepared)?,
        }
        Ok(feature)
    }

    fn add_number(&self, feature: &mut FeatureSummary, number: &NumberEstimate<'_>) {
        let summary = |part: Part| ValueSummary {
            value: part.name,
            count: self.by_class(part.count),
            probability: self.by_class(part.probability),
            fraction: None,
        };
        feature.values = number.parts().into_iter().map(summary).collect();
        feature.atoms = number.atoms().into_iter().map(summary).collect();
        feature.missing = self.by_class(number.missing());
        let parameters = number.parameters().into_iter();
        feature.parameters = parameters.map(|(name, values)| (name, self.by_class(values))).collect();
        feature.better_than_gaussian = number.choice.as_ref().and_then(|choice| choice.better_than_gaussian);
    }

    fn add_values(
        &self,
        feature: &mut FeatureSummary,
        factor: &FamilyStatistics,
        prepared: &Prepared<'_, f64>,
    ) -> Result<()> {
        let Some(counts) = factor.counts() else { return Ok(()) };
        let exact = match self.fractions {
            Some(fractions) => fractions.prepare_values(factor)?,
            None => None,
        };
        let classes = 0..counts.classes();
        let combinations = combinations(factor, prepared.possible_values(), self.model.settings().missing);
        let values = combinations.into_iter().map(|(names, row)| {
            let asked: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
            let probability = classes
                .clone()
                .map(|class| prepared.probability(&asked, class).map_or(1.0, |ratio| ratio.value()));
            let fraction = exact.as_ref().map(|exact| {
                let ratios = classes.clone().filter_map(|class| exact.probability(&asked, class));
                self.by_class(ratios.map(|ratio| ratio.to_string()))
            });
            ValueSummary {
                value: asked.iter().map(|name| name.unwrap_or(MISSING_NAME)).collect::<Vec<_>>().join(", "),
                count: self
                    .by_class(classes.clone().map(|class| row.map_or(0.0, |row| counts.get(row, class)))),
                probability: self.by_class(probability),
                fraction,
            }
        });
        feature.values = values.collect();
        feature.missing = self.by_class(classes.clone().map(|class| counts.get(0, class)));
        Ok(())
    }

    fn group(&self, statistics: &GroupStatistics, normals: &Normals) -> GroupSummary {
        let d = statistics.columns.len();
        let covariance =
            |covariance: &Covariance| (0..d).map(|i| (0..d).map(|j| covariance.at(i, j)).collect()).collect();
        let missing =
            |class: &GroupSums| class.moments.iter().map(|moments| moments.missing.value()).collect();
        let columns = statistics.columns.iter();
        GroupSummary {
            columns: columns.map(|&column| self.schema.columns[column].name.clone()).collect(),
            mean: self.by_class(normals.mean.iter().cloned()),
            covariance: self.by_class(normals.covariances.iter().map(covariance)),
            missing: self.by_class(statistics.classes.iter().map(missing)),
            regularization: normals.amounts,
        }
    }
}

/// What a factor can hold, one name per column, and the row of its tally that counts it, if it occurred.
fn combinations(
    factor: &FamilyStatistics,
    possible: Option<&Vocabulary>,
    missing: MissingValues,
) -> Vec<(Vec<Option<String>>, Option<usize>)> {
    match factor {
        FamilyStatistics::Category(_, category) => {
            let names = possible.into_iter().flat_map(Vocabulary::names);
            let values =
                names.map(|name| (vec![Some(name.to_owned())], category.values.get(name).map(|id| id + 1)));
            let missing = (missing == MissingValues::Counted).then_some((vec![None], Some(MISSING_ROW)));
            values.chain(missing).collect()
        }
        FamilyStatistics::Joint(joint) => {
            let cells = joint.cells.iter().enumerate().map(|(i, cell)| {
                (joint.names(cell).into_iter().map(|name| Some(name.to_owned())).collect(), Some(i + 1))
            });
            cells.collect()
        }
        FamilyStatistics::Number(..) | FamilyStatistics::Text(..) | FamilyStatistics::Group(_) => Vec::new(),
    }
}

/// How large a column is.
enum Size {
    /// J: how many values it can take.
    Values(usize),
    /// Numbers: how many parameters all classes have together.
    Number(usize),
}

/// The sizes of the columns of a factor.
fn column_sizes(
    factor: &FamilyStatistics,
    prepared: &Prepared<'_, f64>,
    missing: MissingValues,
) -> Vec<Size> {
    match (factor, prepared) {
        (FamilyStatistics::Joint(joint), _) => {
            joint.values.iter().map(|values| Size::Values(values.len())).collect()
        }
        (FamilyStatistics::Category(_, category), _) => {
            let counts_missing =
                missing == MissingValues::Counted && !category.counts.row_is_zero(MISSING_ROW);
            let values = prepared.possible_values().map_or(0, Vocabulary::len);
            vec![Size::Values(values + usize::from(counts_missing))]
        }
        (FamilyStatistics::Text(_, text), _) => {
            vec![Size::Number(text.tokens.len() * text.totals.classes())]
        }
        (_, Prepared::Number(number)) => vec![Size::Number(number.parameter_count())],
        (_, Prepared::Group(group)) => vec![Size::Number(group.normals.parameter_count())],
        _ => Vec::new(),
    }
}

impl ParameterCounts {
    fn new(classes: usize, columns: &[Size]) -> Self {
        let naive = |size: &Size| match size {
            Size::Values(values) => classes * values.saturating_sub(1),
            Size::Number(parameters) => *parameters,
        };
        let cells = |size: &Size| match size {
            Size::Values(values) => Some(BigUint::from(*values.max(&1))),
            Size::Number(_) => None,
        };
        let cells: Option<BigUint> = columns.iter().map(cells).product();
        ParameterCounts {
            naive: BigUint::from(columns.iter().map(naive).sum::<usize>()),
            joint: cells.map(|cells| BigUint::from(classes) * (cells - 1_u32)),
        }
    }
}

/// Numbers beyond 2^53 are given to the nearest f64: JSON readers hold no more.
fn as_json_number<S: Serializer>(count: &BigUint, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match count.to_u64() {
        Some(count) if count <= 1 << 53 => serializer.serialize_u64(count),
        _ => count.to_f64().serialize(serializer),
    }
}

fn as_json_number_if_any<S: Serializer>(
    count: &Option<BigUint>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match count {
        Some(count) => as_json_number(count, serializer),
        None => serializer.serialize_none(),
    }
}

/// Names are written with underscores, as all other names.
fn as_object<S: Serializer>(
    parameters: &[(&'static str, ByClass<f64>)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(parameters.iter().map(|(name, values)| (name.replace(' ', "_"), values)))
}

fn as_lambda_and_gamma<S: Serializer>(
    amounts: &Option<Regularization>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let amounts = [
        ("lambda", amounts.map(|amounts| amounts.shared)),
        ("gamma", amounts.map(|amounts| amounts.diagonal)),
    ];
    serializer.collect_map(amounts)
}

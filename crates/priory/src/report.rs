//! What is shown: plain structs that the edges print, and the same as JSON.

use std::fmt;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::decay::HalfLife;
use crate::error::Result;
use crate::families::FamilyStatistics;
use crate::families::categorical::MISSING_ROW;
use crate::families::discriminant::{GroupStatistics, GroupSums, Normals};
use crate::families::number::{NumberEstimate, Part};
use crate::families::text::summary::TextSummary;
use crate::fractions::{FractionExplanation, Fractions};
use crate::model::{Explanation, LinearForm, MISSING_NAME, Model, exponent_of, feature_name};
use crate::posterior::Outcome;
use crate::schema::{Column, Schema};
use crate::settings::{Discriminant, Family, MissingValues, NumberFamily, Regularization, Settings};
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// A model laid open: what was counted, and what follows from it.
#[derive(Debug, Clone)]
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
    /// How many free parameters P(x | class) has under the naive assumption: K Σ (J − 1), and for a number
    /// as many as its family has. A group of d numbers is one feature here: it has K d means, and d (d + 1) / 2 covariances
    /// for each class, or once if all share them.
    pub naive_parameters: BigUint,
    /// How many it would have without: K (∏ J − 1). There is no such number if a feature is a number.
    pub joint_parameters: Option<BigUint>,
}

/// How many telling tokens of each class are shown unless more are asked for.
pub const TOP_TOKENS: usize = 10;

/// One class.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
pub struct FeatureSummary {
    /// The column, or all columns of the table.
    pub name: String,
    /// What is counted of it.
    pub kind: &'static str,
    /// The distribution it follows.
    pub family: FeatureFamily,
    /// Its possible values.
    pub values: Vec<ValueSummary>,
    /// The weight of the rows without a value, per class.
    pub missing: Vec<f64>,
    /// What its distribution is made of in each class, if it is a number: mean, standard deviation and more.
    pub parameters: Vec<(&'static str, Vec<f64>)>,
    /// Its tokens, if it is text.
    pub text: Option<TextSummary>,
    /// The power that P(x | class) is raised to.
    pub exponent: f64,
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
}

impl FeatureFamily {
    /// The distribution of a column of numbers, if it is one.
    pub fn of_numbers(self) -> Option<NumberFamily> {
        match self {
            FeatureFamily::Of(Family::Number(family)) => Some(family),
            FeatureFamily::Of(_) | FeatureFamily::Group(_) => None,
        }
    }
}

impl fmt::Display for FeatureFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureFamily::Of(family) => f.write_str(family.name()),
            FeatureFamily::Group(discriminant) => write!(f, "{} discriminant", discriminant.name()),
        }
    }
}

impl Serialize for FeatureFamily {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Several columns of numbers that follow one normal distribution, given the class.
#[derive(Debug, Clone)]
pub struct GroupSummary {
    /// The columns, in the order of everything else here.
    pub columns: Vec<String>,
    /// For each class, the means of the columns.
    pub mean: Vec<Vec<f64>>,
    /// For each class, or once if all share it, the covariances of the columns: row after row.
    pub covariance: Vec<Vec<Vec<f64>>>,
    /// For each class, the weight of the rows in which a column is missing.
    pub missing: Vec<Vec<f64>>,
    /// How much the covariances were regularized, if they were.
    pub regularization: Option<Regularization>,
}

/// One value of a feature.
#[derive(Debug, Clone)]
pub struct ValueSummary {
    /// The value, or the values of a combination.
    pub value: String,
    /// Its weight in each class.
    pub count: Vec<f64>,
    /// P(value | class).
    pub probability: Vec<f64>,
    /// P(value | class) as fractions, where weights are whole numbers.
    pub fraction: Option<Vec<String>>,
}

impl Summary {
    /// Lays open what these settings make of these statistics.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn new(statistics: &Statistics, settings: &Settings) -> Result<Self> {
        Summary::with_top(statistics, settings, TOP_TOKENS)
    }

    /// The same, with so many of the most telling tokens of each class.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_top(statistics: &Statistics, settings: &Settings, top: usize) -> Result<Self> {
        let all = statistics.schema();
        let statistics = statistics.in_use(settings)?;
        let is_used = |column: &&Column| statistics.schema.position(&column.name).is_some();
        let left_out = all.columns.iter().filter(|column| !is_used(column)).map(|column| column.name.clone());
        let left_out = left_out.collect();
        let model = Model::new(&statistics, settings)?;
        let settings = &statistics.resolve(settings);
        let fractions = Fractions::of(statistics.clone().into_owned(), settings).ok();
        let priors = fractions.as_ref().map(Fractions::priors);
        let classes = model.classes().iter().enumerate().map(|(class, name)| ClassSummary {
            name: name.clone(),
            weight: statistics.class_weight.get(0, class),
            prior: model.prior()[class],
            fraction: priors.as_ref().map(|priors| priors[class].clone()),
        });
        let features = statistics
            .factors
            .iter()
            .map(|factor| FeatureSummary::new(factor, &statistics.schema, settings, fractions.as_ref()));
        let mut features = features.collect::<Result<Vec<_>>>()?;
        for (feature, factor) in features.iter_mut().zip(&statistics.factors) {
            feature.exponent = exponent_of(settings, &statistics.schema, factor.columns());
            let prepared = factor.prepare::<f64>(&statistics.schema, settings)?;
            if let Some((text, missing)) = prepared.text_summary(model.prior(), top) {
                (feature.text, feature.missing) = (Some(text), missing);
            }
        }
        let k = statistics.classes.len();
        let sizes = column_sizes(&statistics, settings)?;
        let naive: usize = sizes
            .iter()
            .map(|size| match size {
                Size::Values(values) => k * values.saturating_sub(1),
                Size::Number(parameters) => *parameters,
            })
            .sum();
        let cells: Option<BigUint> = sizes
            .iter()
            .map(|size| match size {
                Size::Values(values) => Some(BigUint::from(*values.max(&1))),
                Size::Number(_) => None,
            })
            .product();
        Ok(Summary {
            rows: statistics.rows,
            half_life: statistics.half_life(),
            classes: classes.collect(),
            features,
            left_out,
            naive_parameters: BigUint::from(naive),
            joint_parameters: cells.map(|cells| BigUint::from(k) * (cells - 1_u32)),
        })
    }

    /// The summary as JSON.
    pub fn to_json(&self) -> Value {
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        json!({
            "rows": self.rows,
            "half_life": self.half_life,
            "classes": self.classes.iter().map(|class| json!({
                "name": class.name,
                "weight": class.weight,
                "prior": class.prior,
                "fraction": class.fraction,
            })).collect::<Vec<_>>(),
            "features": self.features.iter().map(|feature| json!({
                "name": feature.name,
                "kind": feature.kind,
                "family": feature.family,
                "values": feature.values.iter().map(|value| json!({
                    "value": value.value,
                    "count": by_class(&names, &value.count),
                    "probability": by_class(&names, &value.probability),
                    "fraction": value.fraction.as_ref().map(|fraction| by_class(&names, fraction)),
                })).collect::<Vec<_>>(),
                "missing": by_class(&names, &feature.missing),
                "exponent": feature.exponent,
                "text": feature.text.as_ref().map(|text| text_json(&names, text)),
                "parameters": feature.parameters.iter()
                    .map(|(parameter, values)| (parameter.replace(' ', "_"), by_class(&names, values)))
                    .collect::<Map<_, _>>(),
                "better_than_gaussian": feature.better_than_gaussian,
                "group": feature.group.as_ref().map(|group| group.to_json(&names)),
            })).collect::<Vec<_>>(),
            "left_out": self.left_out,
            "parameters": {
                "naive": json_count(&self.naive_parameters),
                "joint": self.joint_parameters.as_ref().map(json_count),
            },
        })
    }
}

fn text_json(names: &[&str], text: &TextSummary) -> Value {
    let telling = names.iter().zip(&text.telling).map(|(&name, tokens)| {
        let tokens = tokens.iter().map(|token| {
            json!({
                "token": token.token,
                "evidence": token.evidence,
                "documents": token.documents,
                "elsewhere": token.elsewhere,
            })
        });
        (name.to_owned(), Value::Array(tokens.collect()))
    });
    json!({
        "tokens": text.tokens,
        "pseudocount": text.pseudocount,
        "documents": by_class(names, &text.documents),
        "terms": by_class(names, &text.terms),
        "telling": Value::Object(telling.collect::<Map<_, _>>()),
    })
}

impl FeatureSummary {
    fn new(
        factor: &FamilyStatistics,
        schema: &Schema,
        settings: &Settings,
        fractions: Option<&Fractions>,
    ) -> Result<Self> {
        let prepared = factor.prepare::<f64>(schema, settings)?;
        let (name, kind) =
            (feature_name(schema, factor.columns()), schema.columns[factor.columns()[0]].kind.name());
        let family = prepared.family();
        if let FamilyStatistics::Group(group) = factor {
            let summary =
                prepared.group().map(|estimate| GroupSummary::new(group, &estimate.normals, schema));
            return Ok(FeatureSummary {
                name,
                kind,
                family,
                text: None,
                exponent: 1.0,
                values: Vec::new(),
                missing: Vec::new(),
                parameters: Vec::new(),
                better_than_gaussian: None,
                group: summary,
            });
        }
        let Some(counts) = factor.counts() else {
            let number = prepared.number();
            let part = |part: Part| ValueSummary {
                value: part.name,
                count: part.count,
                probability: part.probability,
                fraction: None,
            };
            return Ok(FeatureSummary {
                name,
                kind,
                family,
                text: None,
                exponent: 1.0,
                values: number.map_or_else(Vec::new, |number| number.parts().into_iter().map(part).collect()),
                missing: number.map_or_else(Vec::new, NumberEstimate::missing),
                parameters: number.map_or_else(Vec::new, NumberEstimate::parameters),
                better_than_gaussian: number
                    .and_then(|number| number.choice.as_ref())
                    .and_then(|choice| choice.better_than_gaussian),
                group: None,
            });
        };
        let exact = fractions.map(|fractions| fractions.prepare(factor)).transpose()?;
        let classes = 0..counts.classes();
        let combinations = combinations(factor, prepared.possible_values(), settings.missing);
        let values = combinations.into_iter().map(|(names, row)| {
            let asked: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
            let probability = classes
                .clone()
                .map(|class| prepared.probability(&asked, class).map_or(1.0, |ratio| ratio.value()));
            let fraction = exact.as_ref().map(|exact| {
                let ratios = classes.clone().filter_map(|class| exact.probability(&asked, class));
                ratios.map(|ratio| ratio.to_string()).collect()
            });
            ValueSummary {
                value: asked.iter().map(|name| name.unwrap_or(MISSING_NAME)).collect::<Vec<_>>().join(", "),
                count: classes.clone().map(|class| row.map_or(0.0, |row| counts.get(row, class))).collect(),
                probability: probability.collect(),
                fraction,
            }
        });
        Ok(FeatureSummary {
            name,
            kind,
            family,
            text: None,
            exponent: 1.0,
            values: values.collect(),
            missing: classes.clone().map(|class| counts.get(0, class)).collect(),
            parameters: Vec::new(),
            better_than_gaussian: None,
            group: None,
        })
    }
}

impl GroupSummary {
    fn new(statistics: &GroupStatistics, normals: &Normals, schema: &Schema) -> Self {
        let d = statistics.columns.len();
        let covariances = normals.covariances.iter();
        let missing =
            |class: &GroupSums| class.moments.iter().map(|moments| moments.missing.value()).collect();
        GroupSummary {
            columns: statistics.columns.iter().map(|&column| schema.columns[column].name.clone()).collect(),
            mean: normals.mean.clone(),
            covariance: covariances
                .map(|covariance| (0..d).map(|i| (0..d).map(|j| covariance.at(i, j)).collect()).collect())
                .collect(),
            missing: statistics.classes.iter().map(missing).collect(),
            regularization: normals.amounts,
        }
    }

    fn to_json(&self, classes: &[&str]) -> Value {
        let of_class = |class: usize| &self.covariance[class.min(self.covariance.len() - 1)];
        let covariance: Vec<Vec<Vec<f64>>> = (0..classes.len()).map(of_class).cloned().collect();
        json!({
            "columns": self.columns,
            "mean": by_class(classes, &self.mean),
            "covariance": by_class(classes, &covariance),
            "missing": by_class(classes, &self.missing),
            "lambda": self.regularization.map(|amounts| amounts.shared),
            "gamma": self.regularization.map(|amounts| amounts.diagonal),
        })
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

fn column_sizes(statistics: &Statistics, settings: &Settings) -> Result<Vec<Size>> {
    let mut sizes = Vec::new();
    for factor in &statistics.factors {
        match factor {
            FamilyStatistics::Joint(joint) => {
                sizes.extend(joint.values.iter().map(|values| Size::Values(values.len())));
            }
            FamilyStatistics::Category(_, category) => {
                let prepared = factor.prepare::<f64>(&statistics.schema, settings)?;
                let counts_missing =
                    settings.missing == MissingValues::Counted && !category.counts.row_is_zero(MISSING_ROW);
                let values = prepared.possible_values().map_or(0, Vocabulary::len);
                sizes.push(Size::Values(values + usize::from(counts_missing)));
            }
            FamilyStatistics::Number(..) => {
                let prepared = factor.prepare::<f64>(&statistics.schema, settings)?;
                sizes.push(Size::Number(prepared.number().map_or(0, NumberEstimate::parameter_count)));
            }
            FamilyStatistics::Text(_, text) => {
                sizes.push(Size::Number(text.tokens.len() * text.totals.classes()));
            }
            FamilyStatistics::Group(_) => {
                let prepared = factor.prepare::<f64>(&statistics.schema, settings)?;
                let group = prepared.group();
                sizes.push(Size::Number(group.map_or(0, |group| group.normals.parameter_count())));
            }
        }
    }
    Ok(sizes)
}

impl Explanation {
    /// The explanation as JSON; `fractions` are those of the same row.
    pub fn to_json(&self, fractions: Option<&FractionExplanation>) -> Value {
        let names: Vec<&str> = self.classes.iter().map(String::as_str).collect();
        let contributions = self.contributions.iter().enumerate().map(|(i, contribution)| {
            json!({
                "feature": contribution.feature,
                "value": contribution.value,
                "unseen": contribution.unseen,
                "exponent": contribution.exponent,
                "log_likelihood": by_class(&names, &contribution.log_likelihood),
                "tokens": contribution.tokens.as_ref().map(|tokens| json!({
                    "absent": by_class(&names, &tokens.absent),
                    "tokens": tokens.tokens.iter().map(|token| json!({
                        "token": token.token,
                        "occurrences": token.occurrences,
                        "log_likelihood": token.log_likelihood.as_ref().map(|logs| by_class(&names, logs)),
                    })).collect::<Vec<_>>(),
                })),
                "fraction": fractions.map(|fractions| by_class(&names, &fractions.likelihood[i])),
            })
        });
        json!({
            "prediction": self.classes[self.best],
            "posterior": by_class(&names, &self.posterior),
            "log_joint": by_class(&names, &self.log_joint),
            "log_evidence": self.log_evidence,
            "no_evidence": self.outcome == Outcome::NoEvidence,
            "impossible": self.outcome == Outcome::Impossible,
            "prior": by_class(&names, &self.prior),
            "log_prior": by_class(&names, &self.log_prior),
            "contributions": contributions.collect::<Vec<_>>(),
            "fraction": fractions.map(|fractions| json!({
                "prior": by_class(&names, &fractions.prior),
                "joint": by_class(&names, &fractions.joint),
                "posterior": fractions.posterior.as_ref().map(|posterior| by_class(&names, posterior)),
            })),
        })
    }
}

impl LinearForm {
    /// The linear form as JSON.
    pub fn to_json(&self) -> Value {
        let weights = self.weights.iter().map(
            |(feature, present, weight)| json!({"feature": feature, "present": present, "weight": weight}),
        );
        json!({
            "negative": self.first,
            "positive": self.second,
            "bias": self.bias,
            "weights": weights.collect::<Vec<_>>(),
        })
    }
}

/// An object with one entry per class. JSON has no infinities: what is not finite is null.
fn by_class<T: Into<Value> + Clone>(names: &[&str], values: &[T]) -> Value {
    let entries = names.iter().zip(values).map(|(&name, value)| (name.to_owned(), value.clone().into()));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Numbers beyond 2^53 are given to the nearest f64: JSON readers hold no more.
fn json_count(count: &BigUint) -> Value {
    match count.to_u64() {
        Some(count) if count <= 1 << 53 => count.into(),
        _ => count.to_f64().filter(|x| x.is_finite()).into(),
    }
}

//! Probabilities as fractions of whole numbers: 9/14, 2/9, 256/499.
//!
//! The formulas are those of the model, evaluated in rational numbers of any size. Parameters are shown as they are
//! counted, 3/9 rather than 1/3; a posterior is reduced. A smoothing given as 0.1 is one tenth.

use std::borrow::Cow;

use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::Serialize;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::estimate::{self, Ratio};
use crate::families::likelihood::FamilyLikelihood;
use crate::families::text::estimate::TextEstimate;
use crate::families::text::probability::TokenRatios;
use crate::families::{ExactlyPrepared, FamilyStatistics};
use crate::model::Model;
use crate::report::ByClass;
use crate::statistics::Statistics;
use crate::tally::Tally;

/// Statistics made ready to answer in fractions.
pub struct Fractions<'a> {
    statistics: Cow<'a, Statistics>,
    model: &'a Model,
}

/// The fractions behind one row's posterior.
#[derive(Debug, Clone, Serialize)]
pub struct FractionExplanation {
    /// P(class), for each class.
    pub prior: ByClass<String>,
    /// P(value | class), for each feature and class; 1 where the feature is missing. `None` where a feature has no fractions:
    /// it is a number, a document of thousands of words, or raised to a power.
    #[serde(skip)]
    pub likelihood: Vec<Option<ByClass<String>>>,
    /// What the tokens of a document say one by one, for each feature; none if it is no text.
    #[serde(skip)]
    pub tokens: Vec<Vec<TokenProbability>>,
    /// P(class, x), reduced; `None` if a feature has no fractions.
    pub joint: Option<ByClass<String>>,
    /// P(class | x), reduced; `None` if a feature has no fractions, or every class calls the row impossible.
    pub posterior: Option<ByClass<String>>,
}

/// What one token says, by being there or not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TokenProbability {
    /// The token.
    pub token: String,
    /// Whether it is meant that the token is there. Only in the Bernoulli model does a token that is not there say anything.
    #[serde(skip_serializing_if = "is_true")]
    pub present: bool,
    /// P(token | class), or that of a document without it.
    pub probability: ByClass<f64>,
    /// The same as fractions, where weights are whole numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<ByClass<String>>,
}

fn is_true(yes: &bool) -> bool {
    *yes
}

impl<'a> Fractions<'a> {
    /// Prepares the statistics that a model was estimated from.
    ///
    /// # Errors
    /// If it was estimated from others, or a weight is not a whole number.
    pub fn new(statistics: &'a Statistics, model: &'a Model) -> Result<Self> {
        let statistics = statistics.canonical();
        let factors = model.factors_in(&statistics)?;
        let is_whole = |factor: &FamilyStatistics| match factor {
            FamilyStatistics::Text(_, text) => text.totals.is_whole(),
            _ => factor.counts().is_none_or(Tally::is_whole),
        };
        if !statistics.class_weight.is_whole() || !factors.iter().all(|(factor, _)| is_whole(factor)) {
            return Err(Error::NoFractions(
                "there are no fractions to show: the weights are not whole numbers".into(),
            ));
        }
        Ok(Fractions { statistics, model })
    }

    /// P(class) for each class, as counted.
    pub fn priors(&self) -> Vec<String> {
        (0..self.statistics.classes.len()).map(|class| self.prior(class).to_string()).collect()
    }

    /// The fractions behind a single row of a batch.
    ///
    /// # Errors
    /// If the settings do not fit the data, or the batch does not have the columns of the schema.
    ///
    /// # Panics
    /// If the batch has no such row.
    pub fn explain(&self, batch: &Batch, row: usize) -> Result<FractionExplanation> {
        self.explainer()?.explain(batch, row)
    }

    /// Gets ready to explain many rows.
    ///
    /// # Errors
    /// If the settings do not fit the data.
    pub fn explainer(&self) -> Result<FractionExplainer<'_>> {
        let mut factors = Vec::new();
        for (statistics, factor) in self.model.factors_in(&self.statistics)? {
            let exact = match (statistics, &factor.likelihood) {
                _ if factor.exponent != 1.0 => ExactFactor::None,
                (FamilyStatistics::Text(_, text), FamilyLikelihood::Text(_, found)) => {
                    let estimate = TextEstimate::again(text, self.model.resolved(), found.formula);
                    ExactFactor::Text(factor.columns[0], Box::new(estimate))
                }
                (FamilyStatistics::Category(..) | FamilyStatistics::Joint(_), _) => {
                    ExactFactor::Values(&factor.columns, Box::new(self.prepare(statistics)?))
                }
                _ => ExactFactor::None,
            };
            factors.push(exact);
        }
        Ok(FractionExplainer { fractions: self, factors })
    }

    /// Whether a factor has fractions for each of its values.
    pub(crate) fn prepare_values<'f>(
        &'f self,
        factor: &'f FamilyStatistics,
    ) -> Result<Option<ExactlyPrepared<'f>>> {
        factor.counts().map(|_| self.prepare(factor)).transpose()
    }

    fn prepare<'f>(&'f self, factor: &'f FamilyStatistics) -> Result<ExactlyPrepared<'f>> {
        factor.prepare::<BigRational>(&self.statistics.schema, self.model.resolved())
    }

    fn prior(&self, class: usize) -> Ratio<BigRational> {
        let weights = &self.statistics.class_weight;
        let (total, classes) = (self.statistics.total_weight(), self.statistics.classes.len() as f64);
        let name = self.statistics.classes.name(class);
        estimate::prior(&self.model.settings().prior, name, weights.get(0, class), total, classes)
    }
}

/// Shows the fractions behind single rows.
pub struct FractionExplainer<'a> {
    fractions: &'a Fractions<'a>,
    factors: Vec<ExactFactor<'a>>,
}

/// Where the columns of a factor are in a row, and what is known of them.
enum ExactFactor<'a> {
    Values(&'a [usize], Box<ExactlyPrepared<'a>>),
    Text(usize, Box<TextEstimate<'a>>),
    /// It has no fractions.
    None,
}

impl FractionExplainer<'_> {
    /// The fractions behind one row of a batch.
    ///
    /// # Errors
    /// If the batch does not have the columns of the schema.
    ///
    /// # Panics
    /// If the batch has no such row.
    pub fn explain(&self, batch: &Batch, row: usize) -> Result<FractionExplanation> {
        batch.check(self.fractions.model.schema())?;
        let classes = 0..self.fractions.statistics.classes.len();
        let prior: Vec<Ratio<BigRational>> =
            classes.clone().map(|class| self.fractions.prior(class)).collect();
        let mut joint: Option<Vec<BigRational>> =
            Some(prior.iter().map(Ratio::<BigRational>::value).collect());
        let (mut likelihood, mut tokens) = (Vec::new(), Vec::new());
        for factor in &self.factors {
            let ratios = factor.ratios(batch, row, classes.len());
            joint = joint.zip(ratios.as_ref()).map(|(joint, ratios)| {
                joint.into_iter().zip(ratios).map(|(joint, ratio)| joint * ratio.value()).collect()
            });
            likelihood.push(ratios.map(|ratios| self.by_class(ratios.iter().map(Ratio::to_string))));
            tokens.push(self.tokens(factor, batch, row));
        }
        let evidence: Option<BigRational> = joint.as_ref().map(|joint| joint.iter().sum());
        let posterior = joint.as_ref().zip(evidence).filter(|(_, evidence)| !evidence.is_zero());
        let posterior = posterior.map(|(joint, evidence)| {
            self.by_class(joint.iter().map(|joint| (joint / &evidence).to_string()))
        });
        Ok(FractionExplanation {
            prior: self.by_class(prior.iter().map(Ratio::to_string)),
            likelihood,
            tokens,
            joint: joint.map(|joint| self.by_class(joint.iter().map(BigRational::to_string))),
            posterior,
        })
    }

    /// What the tokens of a document say, in its order, and then those that it lacks.
    fn tokens(&self, factor: &ExactFactor<'_>, batch: &Batch, row: usize) -> Vec<TokenProbability> {
        let ExactFactor::Text(column, estimate) = factor else { return Vec::new() };
        let Some(table) = WordTable::new(estimate, self.fractions.model, true) else { return Vec::new() };
        let column = batch.text(*column);
        let document = column.document(row).unwrap_or_default().iter();
        let names = document.map(|&(token, _)| column.tokens().name(token as usize));
        let present = names.filter_map(|name| estimate.statistics.tokens.get(name));
        let present = present.map(|token| table.row(token, true));
        let absent = table.exact.iter().flat_map(|exact| exact.absent_from(column, row));
        present.chain(absent.map(|token| table.row(token, false))).collect()
    }

    fn by_class(&self, fractions: impl Iterator<Item = String>) -> ByClass<String> {
        ByClass::new(self.fractions.model.shared_classes(), fractions)
    }
}

impl ExactFactor<'_> {
    /// P(x | class) for each class; `None` if there are no fractions.
    fn ratios(&self, batch: &Batch, row: usize, classes: usize) -> Option<Vec<Ratio<BigRational>>> {
        match self {
            ExactFactor::Values(columns, prepared) => {
                let values: Vec<Option<&str>> =
                    columns.iter().map(|&column| batch.category(column).value(row)).collect();
                let one = || Ratio::new(BigRational::one(), BigRational::one());
                let ratio = |class| prepared.probability(&values, class).unwrap_or_else(one);
                Some((0..classes).map(ratio).collect())
            }
            ExactFactor::Text(column, estimate) => {
                TokenRatios::new(estimate)?.document(batch.text(*column), row)
            }
            ExactFactor::None => None,
        }
    }
}

/// P(token | class) of a column of text, for tables.
pub(crate) struct WordTable<'a> {
    estimate: &'a TextEstimate<'a>,
    model: &'a Model,
    numbers: TokenRatios<'a, f64>,
    exact: Option<TokenRatios<'a, BigRational>>,
}

impl<'a> WordTable<'a> {
    /// `None` if the tokens have no probabilities. Fractions are added where weights are whole numbers.
    pub(crate) fn new(estimate: &'a TextEstimate<'a>, model: &'a Model, are_whole: bool) -> Option<Self> {
        let exact = are_whole.then(|| TokenRatios::new(estimate)).flatten();
        Some(WordTable { estimate, model, numbers: TokenRatios::new(estimate)?, exact })
    }

    pub(crate) fn row(&self, token: usize, present: bool) -> TokenProbability {
        let classes = self.model.shared_classes();
        let number = |class| match present {
            true => self.numbers.of(token, class).value(),
            false => self.numbers.absent(token, class).value(),
        };
        let fraction = |exact: &TokenRatios<'_, BigRational>| {
            let of_class = |class| match present {
                true => exact.of(token, class).to_string(),
                false => exact.absent(token, class).to_string(),
            };
            ByClass::new(classes, (0..classes.len()).map(of_class))
        };
        TokenProbability {
            token: self.estimate.statistics.tokens.name(token).to_owned(),
            present,
            probability: ByClass::new(classes, (0..classes.len()).map(number)),
            fraction: self.exact.as_ref().map(fraction),
        }
    }
}

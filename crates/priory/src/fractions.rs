//! Probabilities as fractions of whole numbers: 9/14, 2/9, 256/499.
//!
//! The formulas are those of the model, evaluated in rational numbers of any size. Parameters are shown as they are
//! counted, 3/9 rather than 1/3; a posterior is reduced. A smoothing given as 0.1 is one tenth.

use std::borrow::Cow;

use num_rational::BigRational;
use num_traits::Zero;
use serde::Serialize;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::estimate::{self, Ratio};
use crate::families::{ExactlyPrepared, FamilyStatistics};
use crate::model::{Model, feature_name};
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
    /// P(value | class), for each feature and class; 1 where the feature is missing.
    #[serde(skip)]
    pub likelihood: Vec<ByClass<String>>,
    /// P(class, x), reduced.
    pub joint: ByClass<String>,
    /// P(class | x), reduced; `None` if every class calls the row impossible.
    pub posterior: Option<ByClass<String>>,
}

impl<'a> Fractions<'a> {
    /// Prepares the statistics that a model was estimated from.
    ///
    /// # Errors
    /// If it was estimated from others, a column is not one of categories, or a weight is not a whole number.
    pub fn new(statistics: &'a Statistics, model: &'a Model) -> Result<Self> {
        let statistics = statistics.canonical();
        let factors = model.factors_in(&statistics)?;
        let whole = |factor: &FamilyStatistics| factor.counts().is_none_or(Tally::is_whole);
        let whole = statistics.class_weight.is_whole() && factors.iter().all(|(factor, _)| whole(factor));
        if let Some((number, _)) = factors.iter().find(|(factor, _)| factor.counts().is_none()) {
            let name = feature_name(&statistics.schema, number.columns());
            let kind = match number {
                FamilyStatistics::Text(..) => "text",
                _ => "numbers",
            };
            return Err(Error::NoFractions(format!(
                "there are no fractions to show: `{name}` is a column of {kind}"
            )));
        }
        if !whole {
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
        let factors = self.model.factors_in(&self.statistics)?.into_iter();
        let factors = factors.map(|(factor, of_model)| Ok((&*of_model.columns, self.prepare(factor)?)));
        Ok(FractionExplainer { fractions: self, factors: factors.collect::<Result<_>>()? })
    }

    pub(crate) fn prepare<'f>(&'f self, factor: &'f FamilyStatistics) -> Result<ExactlyPrepared<'f>> {
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
    /// Where the columns of each factor are in a row, and what is known of them.
    factors: Vec<(&'a [usize], ExactlyPrepared<'a>)>,
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
        let mut joint: Vec<BigRational> = prior.iter().map(Ratio::<BigRational>::value).collect();
        let mut likelihood = Vec::new();
        for (columns, prepared) in &self.factors {
            let values: Vec<Option<&str>> =
                columns.iter().map(|&column| batch.category(column).value(row)).collect();
            let of_factor = classes.clone().map(|class| match prepared.probability(&values, class) {
                Some(ratio) => {
                    joint[class] *= ratio.value();
                    ratio.to_string()
                }
                None => "1".to_owned(),
            });
            likelihood.push(self.by_class(of_factor));
        }
        let evidence: BigRational = joint.iter().sum();
        let posterior = (!evidence.is_zero())
            .then(|| self.by_class(joint.iter().map(|joint| (joint / &evidence).to_string())));
        Ok(FractionExplanation {
            prior: self.by_class(prior.iter().map(Ratio::to_string)),
            likelihood,
            joint: self.by_class(joint.iter().map(BigRational::to_string)),
            posterior,
        })
    }

    fn by_class(&self, fractions: impl Iterator<Item = String>) -> ByClass<String> {
        ByClass::new(self.fractions.model.shared_classes(), fractions)
    }
}

//! Probabilities as fractions of whole numbers: 9/14, 2/9, 256/499.
//!
//! The formulas are those of the model, evaluated in rational numbers of any size. Parameters are shown as they are
//! counted, 3/9 rather than 1/3; a posterior is reduced. A smoothing given as 0.1 is one tenth.

use num_rational::BigRational;
use num_traits::Zero;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::estimate::{self, Ratio};
use crate::families::{ExactlyPrepared, FamilyStatistics};
use crate::model::feature_name;
use crate::settings::Settings;
use crate::statistics::{Statistics, check_prior};
use crate::tally::Tally;

/// Statistics made ready to answer in fractions.
pub struct Fractions {
    statistics: Statistics,
    settings: Settings,
}

/// The fractions behind one row's posterior.
#[derive(Debug, Clone)]
pub struct FractionExplanation {
    /// P(class), for each class.
    pub prior: Vec<String>,
    /// P(value | class), for each feature and class; 1 where the feature is missing.
    pub likelihood: Vec<Vec<String>>,
    /// P(class, x), reduced.
    pub joint: Vec<String>,
    /// P(class | x), reduced; `None` if every class calls the row impossible.
    pub posterior: Option<Vec<String>>,
}

impl Fractions {
    /// Prepares the statistics.
    ///
    /// # Errors
    /// If nothing was learnt, the settings do not fit, or a weight is not a whole number.
    pub fn new(statistics: &Statistics, settings: &Settings) -> Result<Self> {
        Fractions::of(statistics.in_use(settings)?.into_owned(), settings)
    }

    /// Prepares canonical statistics of the columns in use.
    pub(crate) fn of(statistics: Statistics, settings: &Settings) -> Result<Self> {
        check_prior(&settings.prior, &statistics.classes)?;
        if statistics.classes.is_empty() {
            return Err(Error::Empty);
        }
        let whole = |factor: &FamilyStatistics| factor.counts().is_none_or(Tally::is_whole);
        let whole = statistics.class_weight.is_whole() && statistics.factors.iter().all(whole);
        if let Some(number) = statistics.factors.iter().find(|factor| factor.counts().is_none()) {
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
        Ok(Fractions { statistics, settings: settings.clone() })
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
        let factors = self.statistics.factors.iter().map(|factor| Ok((factor, self.prepare(factor)?)));
        Ok(FractionExplainer { fractions: self, factors: factors.collect::<Result<_>>()? })
    }

    pub(crate) fn prepare<'a>(&'a self, factor: &'a FamilyStatistics) -> Result<ExactlyPrepared<'a>> {
        factor.prepare::<BigRational>(&self.statistics.schema, &self.settings)
    }

    fn prior(&self, class: usize) -> Ratio<BigRational> {
        let weights = &self.statistics.class_weight;
        let (total, classes) = (self.statistics.total_weight(), self.statistics.classes.len() as f64);
        let name = self.statistics.classes.name(class);
        estimate::prior(&self.settings.prior, name, weights.get(0, class), total, classes)
    }
}

/// Shows the fractions behind single rows.
pub struct FractionExplainer<'a> {
    fractions: &'a Fractions,
    factors: Vec<(&'a FamilyStatistics, ExactlyPrepared<'a>)>,
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
        batch.check(&self.fractions.statistics.schema)?;
        let classes = 0..self.fractions.statistics.classes.len();
        let prior: Vec<Ratio<BigRational>> =
            classes.clone().map(|class| self.fractions.prior(class)).collect();
        let mut joint: Vec<BigRational> = prior.iter().map(Ratio::<BigRational>::value).collect();
        let mut likelihood = Vec::new();
        for (factor, prepared) in &self.factors {
            let values: Vec<Option<&str>> =
                factor.columns().iter().map(|&column| batch.category(column).value(row)).collect();
            let of_factor = classes.clone().map(|class| match prepared.probability(&values, class) {
                Some(ratio) => {
                    joint[class] *= ratio.value();
                    ratio.to_string()
                }
                None => "1".to_owned(),
            });
            likelihood.push(of_factor.collect());
        }
        let evidence: BigRational = joint.iter().sum();
        let posterior = (!evidence.is_zero())
            .then(|| joint.iter().map(|joint| (joint / &evidence).to_string()).collect());
        Ok(FractionExplanation {
            prior: prior.iter().map(Ratio::to_string).collect(),
            likelihood,
            joint: joint.iter().map(BigRational::to_string).collect(),
            posterior,
        })
    }
}

//! What is chosen when a model is estimated: prior, smoothing, families. Plain data, kept apart from the counts.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::choices::Choices;
use crate::decide::Decision;
use crate::error::{Error, Result};
pub use crate::families::number::NumberFamily;
use crate::schema::Schema;

/// Everything that turns statistics into a model. Another choice needs no second look at the data.
///
/// | setting | default | range |
/// |---|---|---|
/// | `prior` | empirical | see [`Prior`] |
/// | `smoothing` | Laplace 1 | see [`Smoothing`] |
/// | `column_smoothing` | none | overrides `smoothing` for single columns |
/// | `families` | automatic | see [`Family`] |
/// | `missing` | skipped | see [`MissingValues`] |
/// | `numbers` | automatic | the family of the columns of numbers that `families` does not name |
/// | `text` | automatic | see [`TextModel`] |
/// | `exponents` | 1 for every column | powers that P(x \| class) of single columns is raised to |
/// | `variance_floor` | 1e-9 of the column's variance | see [`VarianceFloor`] |
/// | `discriminant` | linear | how the numbers of a group belong together, see [`Discriminant`] |
/// | `select` | all columns | see [`Selection`] |
/// | `decision` | the most probable class | see [`Decision`] |
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// P(class).
    pub prior: Prior,
    /// How counts become probabilities.
    pub smoothing: Smoothing,
    /// Columns that are smoothed in a way of their own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub column_smoothing: BTreeMap<String, Smoothing>,
    /// Columns whose family the user has chosen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub families: BTreeMap<String, Family>,
    /// The family of every other column of numbers; if there is none, each gets the one under which its rows are most
    /// likely, each judged by the others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub numbers: Option<NumberFamily>,
    /// What a missing value says.
    pub missing: MissingValues,
    /// How columns of text are estimated.
    #[serde(skip_serializing_if = "TextModel::is_default", default)]
    pub text: TextModel,
    /// Columns whose P(x | class) counts more or less than once: it is raised to this power.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub exponents: BTreeMap<String, f64>,
    /// The least variance of a Gaussian.
    #[serde(skip_serializing_if = "VarianceFloor::is_default", default)]
    pub variance_floor: VarianceFloor,
    /// The covariances of the columns that are grouped; one for all classes if nobody has chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub discriminant: Option<Discriminant>,
    /// Which columns are used.
    #[serde(skip_serializing_if = "Selection::is_all", default)]
    pub select: Selection,
    /// Which class is answered, given the posterior.
    #[serde(skip_serializing_if = "Decision::is_default", default)]
    pub decision: Decision,
}

/// Which columns a model uses. All of them are counted; which help is worked out from the counts whenever a model is
/// estimated, so it follows what is learnt and forgotten, and is found anew in each fold of an evaluation.
///
/// Columns are judged one by one, by their leave-one-out gain: see [`Features`](crate::report::Features). The columns of a
/// joint table count as one. Columns of text, and numbers in a group, cannot be judged from what is counted of them; they
/// are always used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// Every column.
    #[default]
    All,
    /// The best columns, this many of them.
    Best(u32),
    /// Those whose gain is above zero by more than its standard error.
    Auto,
}

impl Selection {
    fn is_all(&self) -> bool {
        *self == Selection::All
    }
}

/// How columns of text are estimated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextModel {
    /// The event model, one of the families for text. By default presence for two classes and for n-grams of
    /// characters, and the complement of presence for words and more classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<TextFamily>,
    /// How counts of tokens become probabilities, unless a column has a smoothing of its own.
    pub smoothing: Smoothing,
    /// Tokens in fewer documents than this are taken as never met.
    pub min_documents: f64,
    /// If there are more tokens than this, those that tell most about the class are kept: by the mutual information
    /// between their presence and the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_tokens: Option<u64>,
}

impl Default for TextModel {
    fn default() -> Self {
        TextModel { model: None, smoothing: Smoothing::Auto, min_documents: 0.0, most_tokens: None }
    }
}

impl TextModel {
    fn is_default(&self) -> bool {
        *self == TextModel::default()
    }
}

/// Where P(class) comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prior {
    /// The share of the class among the rows: n(class) / n.
    #[default]
    Empirical,
    /// The same for every class: 1 / K.
    Uniform,
    /// As the user says; every class of the model is named, and the shares add up to 1.
    Given(BTreeMap<String, f64>),
    /// (n(class) + l) / (n + l K).
    Smoothed(f64),
}

impl Prior {
    /// What is left of it, once checked, where rows were taken away and some classes with them. One that was given no longer
    /// names these, and its shares are divided by what the others have together.
    ///
    /// # Errors
    /// If the others have nothing.
    pub(crate) fn left_to(&self, stays: impl Fn(&str) -> bool) -> Result<Prior> {
        let Prior::Given(shares) = self else { return Ok(self.clone()) };
        let mut left = shares.clone();
        left.retain(|class, _| stays(class));
        if left.len() < shares.len() {
            let total: f64 = left.values().sum();
            if total == 0.0 {
                return Err(Prior::nothing_left());
            }
            left.values_mut().for_each(|share| *share /= total);
        }
        Ok(Prior::Given(left))
    }

    pub(crate) fn nothing_left() -> Error {
        Error::Settings(
            "the given prior is 0 for every class that remains where some rows are left out".into(),
        )
    }
}

/// How the counts of a column become P(value | class).
///
/// With n(v) the weight of value v in the class, n the weight of the class where the value is known, and J the
/// number of values:
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Smoothing {
    /// Maximum likelihood: n(v) / n. A value that never occurred with a class is impossible there.
    None,
    /// (n(v) + α) / (n + α J). Laplace is α = 1.
    Lidstone(f64),
    /// λ n(v) / n + (1 − λ) Q(v), with Q the share of v in all classes together.
    Background(f64),
    /// (n(v) + b(v)) / (n + Σ b) with a pseudocount b for each value: the MAP estimate under a Dirichlet prior
    /// with parameters β = b + 1, under a Beta prior if there are two values.
    Dirichlet(Pseudocounts),
    /// Text only: Lidstone with the α under which documents are most probable when each is left out of the counts.
    Auto,
    /// Text only: (n(v) + present) / (n + present + absent), with n the documents of the class under the Bernoulli
    /// model. With present = α and absent = α (V − 1) it is (n(v) + α) / (n + α V).
    Pair {
        /// What is added for what is there.
        present: f64,
        /// What is added for what is not.
        absent: f64,
    },
}

/// Pseudocounts for the values of each column; the MAP estimate under Dirichlet(β) adds b = β − 1.
///
/// A column that is not listed is smoothed by Laplace 1. A listed value counts as possible even if it never
/// occurred; a value that is not listed takes what is under `*`, or nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pseudocounts(pub BTreeMap<String, BTreeMap<String, f64>>);

/// The name under which [`Pseudocounts`] keeps what all other values of a column get.
pub const OTHER_VALUES: &str = "*";

/// Which distribution a column follows, given the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Any number of values.
    Categorical,
    /// Two values, present and absent, both possible from the start. Chosen by itself for columns of 0 and 1,
    /// false and true, no and yes and the like. Of a column of text, the event model of this name.
    Bernoulli,
    /// One probability for each combination of the values of several columns.
    Joint,
    /// A distribution of numbers.
    #[serde(untagged)]
    Number(NumberFamily),
    /// An event model of text.
    #[serde(untagged)]
    Text(TextFamily),
}

/// Which event model a column of text follows, given the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextFamily {
    /// Every occurrence of a token is a draw.
    Multinomial,
    /// Every token is there or is not.
    Bernoulli,
    /// Every token that is there is one draw, however often it occurs. The Boolean multinomial.
    Presence,
    /// A document is unlike what the other classes have (Rennie et al. 2003).
    Complement,
    /// The same, by presence.
    ComplementPresence,
    /// Complement with the weights of each class divided by the sum of their sizes.
    ComplementNormalized,
}

/// What a missing value says about the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissingValues {
    /// Nothing: it is summed out, in training and in scoring.
    #[default]
    Skipped,
    /// It is a value like any other.
    Counted,
}

/// The least variance that a Gaussian may have: a column that is constant within a class would have none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VarianceFloor {
    /// A share of the variance of the whole column.
    Relative(f64),
    /// A fixed amount.
    Absolute(f64),
    /// Not a floor: a fixed amount that is added to every variance.
    Added(f64),
    /// As scikit-learn's `var_smoothing`: this share of the largest variance of any column of numbers is added to every
    /// variance.
    Sklearn(f64),
}

/// Gaussian discriminant analysis: the columns of a group follow one normal distribution in as many dimensions, given
/// the class. Each class has its own mean; this says what its covariance is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Discriminant {
    /// The same for all classes, so that the boundaries between them are straight.
    Linear(Divisor),
    /// Each class has its own.
    Quadratic(Divisor),
    /// Something between the two, and between them and columns that are independent given the class: as much of it as is
    /// given, or as the data say.
    Regularized(Option<Regularization>),
}

/// What sums of squares and of products are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Divisor {
    /// n, the weight of the rows: maximum likelihood.
    #[default]
    Rows,
    /// n − 1, or n − K where K classes share one covariance: estimates without bias.
    Freedom,
}

/// How much covariances are regularized (Friedman 1989, "Regularized Discriminant Analysis").
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regularization {
    /// λ, from 0 to 1: 0 leaves each class its own covariance, 1 gives all the shared one.
    pub shared: f64,
    /// γ, from 0 to 1: the share by which every covariance between two columns is cut. 1 makes them independent.
    pub diagonal: f64,
}

impl Default for Discriminant {
    fn default() -> Self {
        Discriminant::Linear(Divisor::Rows)
    }
}

impl Discriminant {
    /// The word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Discriminant::Linear(_) => "linear",
            Discriminant::Quadratic(_) => "quadratic",
            Discriminant::Regularized(_) => "regularized",
        }
    }

    fn check(self) -> Result<()> {
        let Discriminant::Regularized(Some(Regularization { shared, diagonal })) = self else {
            return Ok(());
        };
        for (what, amount) in [("λ", shared), ("γ", diagonal)] {
            if !(0.0..=1.0).contains(&amount) {
                return Err(Error::Settings(format!(
                    "{what} of the discriminant is {amount}; it lies between 0 and 1"
                )));
            }
        }
        Ok(())
    }
}

impl Default for VarianceFloor {
    fn default() -> Self {
        VarianceFloor::Relative(1e-9)
    }
}

impl VarianceFloor {
    fn is_default(&self) -> bool {
        *self == VarianceFloor::default()
    }
}

impl Smoothing {
    /// Lidstone with α = 1.
    pub const LAPLACE: Smoothing = Smoothing::Lidstone(1.0);
}

impl Default for Smoothing {
    fn default() -> Self {
        Smoothing::LAPLACE
    }
}

impl Family {
    /// The word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Family::Categorical => "categorical",
            Family::Bernoulli => "bernoulli",
            Family::Joint => "joint",
            Family::Number(family) => family.name(),
            Family::Text(family) => family.name(),
        }
    }
}

impl From<NumberFamily> for Family {
    fn from(family: NumberFamily) -> Self {
        Family::Number(family)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TextFamily {
    /// All of them.
    pub const ALL: [TextFamily; 6] = [
        TextFamily::Multinomial,
        TextFamily::Bernoulli,
        TextFamily::Presence,
        TextFamily::Complement,
        TextFamily::ComplementPresence,
        TextFamily::ComplementNormalized,
    ];

    /// The word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TextFamily::Multinomial => "multinomial",
            TextFamily::Bernoulli => "bernoulli",
            TextFamily::Presence => "presence",
            TextFamily::Complement => "complement",
            TextFamily::ComplementPresence => "complement-presence",
            TextFamily::ComplementNormalized => "complement-normalized",
        }
    }
}

impl Settings {
    /// The smoothing of a column.
    pub fn smoothing_of(&self, column: &str) -> &Smoothing {
        self.column_smoothing.get(column).unwrap_or(&self.smoothing)
    }

    /// The smoothing of a column of text.
    pub fn text_smoothing_of(&self, column: &str) -> &Smoothing {
        self.column_smoothing.get(column).unwrap_or(&self.text.smoothing)
    }

    /// The power that a column's P(x | class) is raised to.
    pub fn exponent_of(&self, column: &str) -> f64 {
        self.exponents.get(column).copied().unwrap_or(1.0)
    }

    /// The same settings for a table of some of the columns, all of which are used.
    pub(crate) fn for_columns_of(&self, schema: &Schema) -> Settings {
        let mut settings = Settings { select: Selection::All, ..self.clone() };
        settings.column_smoothing.retain(|name, _| schema.position(name).is_some());
        settings.families.retain(|name, _| schema.position(name).is_some());
        settings.exponents.retain(|name, _| schema.position(name).is_some());
        settings
    }

    /// Checks every number once, so that no estimate has to.
    ///
    /// # Errors
    /// If a number is out of its range.
    pub fn check(&self) -> Result<()> {
        match &self.prior {
            Prior::Smoothed(l) => check_amount("the prior's smoothing", *l)?,
            Prior::Given(shares) => check_shares(shares)?,
            Prior::Empirical | Prior::Uniform => {}
        }
        let (VarianceFloor::Relative(floor)
        | VarianceFloor::Absolute(floor)
        | VarianceFloor::Added(floor)
        | VarianceFloor::Sklearn(floor)) = self.variance_floor;
        check_amount("the variance floor", floor)?;
        self.discriminant.map_or(Ok(()), Discriminant::check)?;
        if self.select == Selection::Best(0) {
            return Err(Error::Settings("the number of columns to select is at least 1".into()));
        }
        let named = self.families.values().filter_map(|family| match family {
            Family::Number(family) => Some(family),
            _ => None,
        });
        named.chain(&self.numbers).try_for_each(|family| family.check())?;
        if self.smoothing.is_for_text_only() {
            return Err(Error::Settings("the smoothing of all columns is one that only text has".into()));
        }
        check_amount("the least number of documents", self.text.min_documents)?;
        for (column, &exponent) in &self.exponents {
            check_amount(&format!("the exponent of `{column}`"), exponent)?;
        }
        self.decision.check()?;
        self.text.smoothing.check()?;
        self.smoothing.check()?;
        self.column_smoothing.values().try_for_each(Smoothing::check)
    }
}

impl Smoothing {
    /// Whether columns of other kinds do not have it.
    pub fn is_for_text_only(&self) -> bool {
        matches!(self, Smoothing::Auto | Smoothing::Pair { .. })
    }

    fn check(&self) -> Result<()> {
        match self {
            Smoothing::None | Smoothing::Auto => Ok(()),
            Smoothing::Pair { present, absent } => {
                check_amount("the pseudocount of what is there", *present)?;
                check_amount("the pseudocount of what is not", *absent)
            }
            Smoothing::Lidstone(alpha) => check_amount("the Lidstone pseudocount", *alpha),
            Smoothing::Background(lambda) if (0.0..=1.0).contains(lambda) => Ok(()),
            Smoothing::Background(lambda) => {
                Err(Error::Settings(format!("the background weight is {lambda}; it lies between 0 and 1")))
            }
            Smoothing::Dirichlet(pseudocounts) => pseudocounts
                .0
                .values()
                .flat_map(BTreeMap::values)
                .try_for_each(|&b| check_amount("a Dirichlet pseudocount", b)),
        }
    }
}

/// The largest amount: as many of them as there can be values or classes still add up to a number.
const LARGEST_AMOUNT: f64 = 1e290;

fn check_amount(what: &str, amount: f64) -> Result<()> {
    if (0.0..=LARGEST_AMOUNT).contains(&amount) {
        return Ok(());
    }
    let written = if amount > 1e15 { format!("{amount:e}") } else { amount.to_string() };
    Err(Error::Settings(format!("{what} is {written}; it is a number from 0 to {LARGEST_AMOUNT:e}")))
}

fn check_shares(shares: &BTreeMap<String, f64>) -> Result<()> {
    for (class, &share) in shares {
        check_amount(&format!("the prior of `{class}`"), share)?;
    }
    let total: f64 = shares.values().sum();
    // People write 0.33, 0.33, 0.34 or 1/3 to a few digits: what they wrote is used as it is, divided by its sum.
    if (total - 1.0).abs() > 1e-6 {
        return Err(Error::Settings(format!("the given priors add up to {total}, not to 1")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_whose_sums_would_be_infinite_are_refused() {
        let refusal = |settings: Settings| settings.check().unwrap_err().to_string();
        let prior = Settings { prior: Prior::Smoothed(1e308), ..Settings::default() };
        assert_eq!(refusal(prior), "the prior's smoothing is 1e308; it is a number from 0 to 1e290");
        let smoothing = Settings { smoothing: Smoothing::Lidstone(f64::NAN), ..Settings::default() };
        assert_eq!(refusal(smoothing), "the Lidstone pseudocount is NaN; it is a number from 0 to 1e290");
        let exponents = Settings { exponents: [("x".to_owned(), 1e300)].into(), ..Settings::default() };
        assert_eq!(refusal(exponents), "the exponent of `x` is 1e300; it is a number from 0 to 1e290");
        assert_eq!(Settings { smoothing: Smoothing::Lidstone(1e290), ..Settings::default() }.check(), Ok(()));
    }
}

//! What is concluded from statistics: logarithms of priors and likelihoods, ready to be added up.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::batch::{Batch, BatchColumn};
use crate::error::{Error, Result};
use crate::estimate;
use crate::families::FamilyStatistics;
use crate::families::likelihood::{FamilyLikelihood, Unseen};
use crate::families::text::summary::weight_of_evidence;
use crate::fractions::FractionExplanation;
use crate::judgement::{Judged, Judgement, TermOf};
use crate::moments::engine::vectorized;
use crate::posterior::{Outcome, Scores};
use crate::report::ByClass;
use crate::schema::{Kind, Schema};
use crate::settings::{MissingValues, NumberFamily, Settings, Smoothing};
use crate::statistics::{Statistics, check_prior, resolve};

/// A frozen naive Bayes model. It is derived from [`Statistics`] and never edited.
#[derive(Debug, Clone)]
pub struct Model {
    schema: Schema,
    settings: Settings,
    /// The settings with everything worked out that takes more than one column to know.
    resolved: Settings,
    classes: Arc<[String]>,
    prior: Vec<f64>,
    log_prior: Vec<f64>,
    /// log P(class) and whatever the factors could fold into a constant.
    start: Vec<f64>,
    factors: Vec<Factor>,
    /// What the terms are worth, if that was judged.
    judged: Option<Arc<Judged>>,
}

/// A column, or several that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    /// Where its columns are in the rows that are scored.
    pub(crate) columns: Vec<usize>,
    pub(crate) likelihood: FamilyLikelihood,
    /// The power that the likelihood is raised to.
    pub(crate) exponent: f64,
}

impl Factor {
    /// What the tokens of a document add, if it is one.
    fn tokens(&self, batch: &Batch, row: usize, classes: &Arc<[String]>) -> Option<TokenContributions> {
        let FamilyLikelihood::Text(column, text) = &self.likelihood else { return None };
        let (tokens, absent) = text.contributions(batch.text(*column), row);
        let raise =
            |logs: Vec<f64>| ByClass::new(classes, logs.into_iter().map(|x| raised(x, self.exponent)));
        let tokens = tokens.into_iter().map(|token| TokenContribution {
            token: token.token,
            occurrences: token.occurrences,
            log_likelihood: token.log_likelihood.map(raise),
        });
        Some(TokenContributions { tokens: tokens.collect(), absent: raise(absent) })
    }

    fn add_log_likelihood(&self, batch: &Batch, scores: &mut [f64], evidence: &mut [bool]) -> Unseen {
        if self.exponent == 1.0 {
            return self.likelihood.add_log_likelihood(batch, scores, evidence);
        }
        let mut own = vec![0.0; scores.len()];
        let unseen = self.likelihood.add_log_likelihood(batch, &mut own, evidence);
        scores.iter_mut().zip(own).for_each(|(score, x)| *score += raised(x, self.exponent));
        unseen
    }
}

/// The logarithm of a probability that is raised to a power. To the power of 0, even what is impossible says nothing.
pub(crate) fn raised(log: f64, exponent: f64) -> f64 {
    if exponent == 0.0 { 0.0 } else { exponent * log }
}

/// The power of a factor; a joint table, which is several columns, has none of its own.
pub(crate) fn exponent_of(settings: &Settings, schema: &Schema, columns: &[usize]) -> f64 {
    match columns {
        [column] => settings.exponent_of(&schema.columns[*column].name),
        _ => 1.0,
    }
}

impl Model {
    /// Estimates those factors of canonical statistics that are used. The rows to score have all columns nevertheless, until
    /// the model is [narrowed](Self::narrowed).
    pub(crate) fn new(
        statistics: &Statistics,
        settings: &Settings,
        is_used: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        settings.check()?;
        check_prior(&settings.prior, &statistics.classes)?;
        let classes: Arc<[String]> = statistics.classes.names().map(str::to_owned).collect();
        if classes.is_empty() {
            return Err(Error::Empty);
        }
        let total = statistics.total_weight();
        let priors = classes.iter().enumerate().map(|(class, name)| {
            let weight = statistics.class_weight.get(0, class);
            let prior = estimate::prior::<f64>(&settings.prior, name, weight, total, classes.len() as f64);
            (prior.value(), prior.ln())
        });
        let (prior, log_prior): (Vec<f64>, Vec<f64>) = priors.unzip();
        let used = || (0..).zip(&statistics.factors).filter(|(i, _)| is_used(*i)).map(|(_, factor)| factor);
        let resolved = resolve(settings, used());
        let factors = used()
            .map(|factor| {
                let likelihood = factor.likelihood(&statistics.schema, &resolved)?;
                let exponent = exponent_of(settings, &statistics.schema, factor.columns());
                Ok(Factor { columns: factor.columns().to_vec(), likelihood, exponent })
            })
            .collect::<Result<Vec<_>>>()?;
        let start = start(&log_prior, &factors);
        let (schema, settings) = (statistics.schema.clone(), settings.clone());
        Ok(Model { schema, settings, resolved, classes, prior, log_prior, start, factors, judged: None })
    }

    /// The same model of only those of its factors that are used.
    pub(crate) fn only(mut self, is_used: impl Fn(usize) -> bool) -> Self {
        let mut positions = 0..;
        self.factors.retain(|_| positions.next().is_some_and(&is_used));
        self.start = start(&self.log_prior, &self.factors);
        self
    }

    /// The same model for rows that have no other columns than those it uses.
    pub(crate) fn narrowed(mut self) -> Self {
        let mut columns: Vec<usize> =
            self.factors.iter().flat_map(|factor| &factor.columns).copied().collect();
        if columns.len() == self.schema.columns.len() {
            return self;
        }
        columns.sort_unstable();
        for factor in &mut self.factors {
            for column in factor.columns.iter_mut().chain(factor.likelihood.columns_mut()) {
                *column = columns.binary_search(column).expect("the columns of all factors are there");
            }
        }
        self.schema.columns = columns.iter().map(|&column| self.schema.columns[column].clone()).collect();
        self
    }

    /// Each factor, and what is counted of it by the canonical statistics that the model was estimated from.
    ///
    /// # Errors
    /// If it was estimated from others, as far as columns and classes tell.
    pub(crate) fn factors_in<'a>(
        &'a self,
        statistics: &'a Statistics,
    ) -> Result<Vec<(&'a FamilyStatistics, &'a Factor)>> {
        let mut counted = statistics.factors.iter();
        let pair = |factor: &'a Factor| {
            let name = feature_name(&self.schema, &factor.columns);
            let same =
                |counted: &&FamilyStatistics| feature_name(&statistics.schema, counted.columns()) == name;
            Some((counted.find(same)?, factor))
        };
        let pairs: Option<Vec<_>> = self.factors.iter().map(pair).collect();
        let same_classes = statistics.classes.names().eq(self.classes.iter().map(String::as_str));
        pairs.filter(|_| same_classes).ok_or_else(|| {
            Error::Mismatch("the model was estimated from statistics of other columns or classes".into())
        })
    }

    /// The names of the classes, for whatever is said of each.
    pub(crate) fn shared_classes(&self) -> &Arc<[String]> {
        &self.classes
    }

    /// The settings with everything worked out that takes more than one column to know.
    pub(crate) fn resolved(&self) -> &Settings {
        &self.resolved
    }

    /// The classes, in canonical order.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// What the columns are, those that are used. A batch to score has just these; [`Batch::only`] makes one of a batch
    /// that has more.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What the model was estimated under.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// P(class) for each class.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// log P(class) for each class.
    pub fn log_prior(&self) -> &[f64] {
        &self.log_prior
    }

    /// Which families were chosen for columns of numbers, and why.
    pub fn chosen_families(&self) -> impl Iterator<Item = ChosenFamily<'_>> {
        self.factors.iter().filter_map(|factor| {
            let choice = factor.likelihood.choice()?;
            Some(ChosenFamily {
                column: &self.schema.columns[factor.columns[0]].name,
                family: choice.family,
                better_than_gaussian: choice.better_than_gaussian,
            })
        })
    }

    /// A batch without rows to score. It numbers tokens as the model does, so that none has to be looked up twice; any
    /// other batch of the same schema is scored alike.
    pub fn batch(&self) -> Batch {
        /// Each batch has a copy of the tokens, which is not worth its memory if there are more.
        const MOST_TOKENS: usize = 1 << 19;
        let mut batch = Batch::new(&self.schema);
        for factor in &self.factors {
            if let FamilyLikelihood::Text(column, text) = &factor.likelihood
                && text.tokens.len() <= MOST_TOKENS
            {
                batch.columns[*column] = BatchColumn::Text(text.column());
            }
        }
        batch
    }

    /// log P(class, x) for every row of a batch.
    ///
    /// # Errors
    /// If the batch does not have the columns of the schema.
    pub fn score(&self, batch: &Batch) -> Result<Scores> {
        batch.check(&self.schema)?;
        if let Some(judged) = &self.judged {
            return self.score_judged(judged, batch);
        }
        let mut log_joint = Vec::with_capacity(batch.rows * self.classes.len());
        (0..batch.rows).for_each(|_| log_joint.extend_from_slice(&self.start));
        let mut evidence = self.evidence(batch);
        let mut unseen = Unseen::default();
        for factor in &self.factors {
            let met = factor.add_log_likelihood(batch, &mut log_joint, &mut evidence);
            unseen.values += met.values;
            unseen.tokens += met.tokens;
        }
        self.check_defined(&log_joint, batch)?;
        Ok(Scores::new(self.log_prior.clone(), log_joint, evidence, unseen))
    }

    fn score_judged(&self, judged: &Judged, batch: &Batch) -> Result<Scores> {
        let read = judged.read(batch);
        let mut z = judged.score(&read, &self.log_prior);
        let mut evidence = self.evidence(batch);
        let mut unseen = Unseen { values: read.unseen(), tokens: 0 };
        for &(factor, weight) in &judged.factors {
            let mut own = vec![0.0; z.len()];
            let met = self.factors[factor].likelihood.add_log_likelihood(batch, &mut own, &mut evidence);
            unseen.values += met.values;
            unseen.tokens += met.tokens;
            z.iter_mut().zip(own).for_each(|(z, x)| *z += raised(x, weight));
        }
        self.check_defined(&z, batch)?;
        Ok(Scores::new(self.log_prior.clone(), z, evidence, unseen).of_judged_model())
    }

    /// Probabilities of zero are fine, and densities are finite. Neither ∞ nor NaN could become a posterior.
    fn check_defined(&self, log_joint: &[f64], batch: &Batch) -> Result<()> {
        let is_defined = |log: f64| log < f64::INFINITY;
        // To look at all of them takes several at once, where to stop at the first takes one after the other.
        let all_are = vectorized(
            #[inline(always)]
            || log_joint.iter().fold(true, |all, &log| all & is_defined(log)),
        );
        let undefined = if all_are { None } else { log_joint.iter().position(|&log| !is_defined(log)) };
        undefined.map_or(Ok(()), |place| {
            Err(Error::Undefined { row: batch.row_number(place / self.classes.len()) })
        })
    }

    /// The same model, with terms that weigh what they are worth by a judgement of the statistics that it was estimated from.
    pub(crate) fn judged(mut self, statistics: &Statistics, judgement: &Judgement) -> Result<Self> {
        let judged = Judged::new(statistics, &self.settings, judgement).ok_or_else(|| {
            Error::Settings("the judgement of this model does not fit its statistics; judge it again".into())
        })?;
        self.judged = Some(Arc::new(judged));
        Ok(self)
    }

    /// How one row of a batch comes to its posterior, feature by feature.
    ///
    /// The log-joint is the sum of what the explanation lists, in that order. [`score`](Self::score) adds the same
    /// terms in another order, so the two may differ in the last place.
    ///
    /// # Errors
    /// If the batch does not have the columns of the schema.
    ///
    /// # Panics
    /// If the batch has no such row.
    pub fn explain(&self, batch: &Batch, row: usize) -> Result<Explanation> {
        batch.check(&self.schema)?;
        let contributions: Vec<Contribution> = match &self.judged {
            Some(judged) => self.judged_contributions(judged, batch, row),
            None => self.factors.iter().map(|factor| self.contribution(factor, batch, row)).collect(),
        };
        let mut log_joint = self.log_prior.clone();
        for contribution in &contributions {
            log_joint.iter_mut().zip(contribution.log_likelihood.iter()).for_each(|(sum, x)| *sum += x);
        }
        // A document of nothing but tokens that were never met says nothing; other values do, met or not.
        let says_something =
            |known: &Contribution| known.value.is_some() && !(known.unseen && known.tokens.is_some());
        let evidence = self.counts_missing() || contributions.iter().any(says_something);
        let unseen = Unseen::default();
        let posterior =
            Scores::new(self.log_prior.clone(), log_joint.clone(), vec![evidence], unseen).normalize();
        let by_class = |values: &[f64]| ByClass::new(&self.classes, values.iter().copied());
        Ok(Explanation {
            classes: Arc::clone(&self.classes),
            best: posterior.best(0),
            prediction: self.classes[posterior.best(0)].clone(),
            posterior: by_class(posterior.row(0)),
            low: None,
            high: None,
            log_joint: by_class(&log_joint),
            log_evidence: posterior.log_evidence(0),
            outcome: posterior.outcome(0),
            prior: by_class(&self.prior),
            log_prior: by_class(&self.log_prior),
            contributions,
            fraction: None,
        })
    }

    fn contribution(&self, factor: &Factor, batch: &Batch, row: usize) -> Contribution {
        let (log_likelihood, met) = factor.likelihood.contribution(batch, row);
        let raise = |x: f64| raised(x, factor.exponent);
        Contribution {
            feature: feature_name(&self.schema, &factor.columns),
            of: ContributionOf::Feature,
            value: written_out(batch, &factor.columns, row),
            unseen: !met,
            exponent: factor.exponent,
            log_likelihood: ByClass::new(&self.classes, log_likelihood.into_iter().map(raise)),
            tokens: factor.tokens(batch, row, &self.classes),
            fraction: None,
        }
    }

    /// The terms of a judged model, in the order in which they are added up.
    fn judged_contributions(&self, judged: &Judged, batch: &Batch, row: usize) -> Vec<Contribution> {
        let read = judged.read(batch);
        let terms = judged.terms(&read, row).into_iter().map(|term| {
            let (of, feature, value, unseen) = match term.of {
                TermOf::Offsets => (ContributionOf::Classes, "offset".to_owned(), None, false),
                TermOf::Column { column, is_unseen } => {
                    let name = feature_name(&self.schema, &[column]);
                    (ContributionOf::Feature, name, written_out(batch, &[column], row), is_unseen)
                }
                TermOf::Together { columns, is_known } => {
                    let names: Vec<&str> =
                        columns.iter().map(|&column| self.schema.columns[column].name.as_str()).collect();
                    let value = written_out(batch, &columns, row).filter(|_| is_known);
                    (ContributionOf::Together, names.join(" × "), value, false)
                }
                TermOf::Cloud(what) => (ContributionOf::Cloud, what, None, false),
            };
            Contribution {
                feature,
                of,
                value,
                unseen,
                exponent: 1.0,
                log_likelihood: ByClass::new(&self.classes, term.values),
                tokens: None,
                fraction: None,
            }
        });
        let factors = judged.factors.iter().map(|&(factor, exponent)| {
            self.contribution(&Factor { exponent, ..self.factors[factor].clone() }, batch, row)
        });
        terms.chain(factors).collect()
    }

    /// log P(x | class) of a factor for every row of a batch and every class, whatever power it is raised to.
    pub(crate) fn log_likelihoods(&self, factor: usize, batch: &Batch) -> Vec<f64> {
        let mut ln = vec![0.0; batch.rows * self.classes.len()];
        let likelihood = &self.factors[factor].likelihood;
        likelihood.add_log_likelihood(batch, &mut ln, &mut vec![false; batch.rows]);
        let base = likelihood.base().unwrap_or_default();
        ln.chunks_exact_mut(self.classes.len())
            .for_each(|ln| ln.iter_mut().zip(base).for_each(|(ln, base)| *ln += base));
        ln
    }

    /// The likelihood of each factor, and the power that it is raised to.
    pub(crate) fn likelihoods(&self) -> impl ExactSizeIterator<Item = (&FamilyLikelihood, f64)> {
        self.factors.iter().map(|factor| (&factor.likelihood, factor.exponent))
    }

    /// log P(x | class) of what a row holds in the factors of these columns, for each class.
    pub(crate) fn log_likelihood(&self, columns: &[usize], batch: &Batch, row: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.classes.len()];
        let is_asked = |factor: &&Factor| factor.columns.iter().any(|column| columns.contains(column));
        for factor in self.factors.iter().filter(is_asked) {
            let (log_likelihood, _) = factor.likelihood.contribution(batch, row);
            sum.iter_mut().zip(log_likelihood).for_each(|(sum, x)| *sum += x);
        }
        sum
    }

    /// The decision as b + Σ wᵢ xᵢ, if there are two classes and every feature is Boolean or in a group whose covariance
    /// the classes share.
    ///
    /// With w₁ and w₀ the probabilities of "present" in the second and in the first class,
    ///
    /// ```text
    /// b  = log(P(second) / P(first)) + Σ log((1 − w₁) / (1 − w₀))
    /// wᵢ = log(w₁ / w₀) − log((1 − w₁) / (1 − w₀))
    /// ```
    ///
    /// and x is 1 where the feature is present. The form is the log-odds of the second class: it is chosen where
    /// b + Σ wᵢ xᵢ > 0. (Taking the logarithm of "ratio = 1" moves the boundary to 0, not to 1.)
    ///
    /// A group of numbers with means μ₀ and μ₁ and the covariance Σ adds −½ (μ₁ + μ₀)ᵀ w to b, with w = Σ⁻¹ (μ₁ − μ₀), and
    /// there x is the number itself.
    ///
    /// # Errors
    /// If there are not two classes, a feature is neither of these, or a weight is infinite.
    pub fn linear_form(&self) -> Result<LinearForm> {
        let refuse = |why: String| Err(Error::Settings(format!("there is no linear form: {why}")));
        let [first, second] = &*self.classes else {
            return refuse(format!("it is of two classes, and the model has {}", self.classes.len()));
        };
        let mut bias = self.log_prior[1] - self.log_prior[0];
        let mut weights = Vec::new();
        for factor in &self.factors {
            let feature = feature_name(&self.schema, &factor.columns);
            let bernoulli = match &factor.likelihood {
                FamilyLikelihood::Bernoulli(_, bernoulli) => bernoulli,
                FamilyLikelihood::Group(group) => {
                    let Some((b, of_columns)) = group.linear_form() else {
                        return refuse(format!("the classes do not share the covariance of `{feature}`"));
                    };
                    bias += b;
                    let names = factor.columns.iter().map(|&column| self.schema.columns[column].name.clone());
                    weights.extend(names.zip(of_columns).map(|(feature, weight)| LinearWeight {
                        feature,
                        present: None,
                        weight,
                    }));
                    continue;
                }
                _ => return refuse(format!("`{feature}` is neither Boolean nor in a group")),
            };
            let log_odds = |side: &str| {
                let (log_likelihood, _) = bernoulli.contribution(Some(side));
                raised(log_likelihood[1] - log_likelihood[0], factor.exponent)
            };
            let absent = log_odds(&bernoulli.sides.absent);
            let weight = log_odds(&bernoulli.sides.present) - absent;
            if !weight.is_finite() {
                return refuse(format!(
                    "the weight of `{feature}` is infinite; choose a smoothing other than none"
                ));
            }
            bias += absent;
            weights.push(LinearWeight { feature, present: Some(bernoulli.sides.present.clone()), weight });
        }
        Ok(LinearForm { first: first.clone(), second: second.clone(), bias, weights })
    }

    /// Whether each row says anything at all.
    pub(crate) fn evidence(&self, batch: &Batch) -> Vec<bool> {
        let mut evidence = vec![self.counts_missing(); batch.rows];
        for &column in self.factors.iter().flat_map(|factor| &factor.columns) {
            batch.columns[column].mark_known(&mut evidence);
        }
        evidence
    }

    /// Whether even a row of missing values says something.
    fn counts_missing(&self) -> bool {
        self.settings.missing == MissingValues::Counted && !self.factors.is_empty()
    }
}

/// log P(class) and whatever the factors could fold into a constant.
fn start(log_prior: &[f64], factors: &[Factor]) -> Vec<f64> {
    let mut start = log_prior.to_vec();
    for factor in factors {
        let base = factor.likelihood.base().unwrap_or_default();
        start.iter_mut().zip(base).for_each(|(start, &base)| *start += raised(base, factor.exponent));
    }
    start
}

/// Settings that name a column must mean one that exists and has them for itself.
pub(crate) fn check_columns(settings: &Settings, schema: &Schema) -> Result<()> {
    let kinds: HashMap<&str, Kind> =
        schema.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
    let names =
        settings.column_smoothing.keys().chain(settings.families.keys()).chain(settings.exponents.keys());
    for name in names {
        let Some(&kind) = kinds.get(name.as_str()) else {
            return Err(Error::Settings(format!(
                "the settings name the column `{name}`, which the model does not have"
            )));
        };
        let whole = match kind {
            Kind::Joint => Some("the joint table, which is smoothed as a whole"),
            Kind::Group => Some("the group, which follows one normal distribution"),
            Kind::Category | Kind::Number | Kind::Moments | Kind::Text => None,
        };
        if let Some(whole) = whole {
            return Err(Error::Settings(format!("the column `{name}` is part of {whole}")));
        }
        let only_for_text = settings.column_smoothing.get(name).is_some_and(Smoothing::is_for_text_only);
        if only_for_text && kind != Kind::Text {
            return Err(Error::Settings(format!("the column `{name}` has a smoothing that only text has")));
        }
    }
    if let Some(discriminant) = settings.discriminant
        && !schema.columns.iter().any(|column| column.kind == Kind::Group)
    {
        let name = discriminant.name();
        return Err(Error::Settings(format!("there is no group of columns for a {name} discriminant")));
    }
    Ok(())
}

/// The name of a factor: its column, or all its columns.
pub(crate) fn feature_name(schema: &Schema, columns: &[usize]) -> String {
    let names: Vec<&str> = columns.iter().map(|&column| schema.columns[column].name.as_str()).collect();
    names.join(", ")
}

/// How a missing value is written.
pub(crate) const MISSING_NAME: &str = "(missing)";

/// The values of a factor in words; `None` if all of them are missing.
pub(crate) fn written_out(batch: &Batch, columns: &[usize], row: usize) -> Option<String> {
    let values: Vec<Option<String>> = columns.iter().map(|&column| batch.written(column, row)).collect();
    values.iter().any(Option::is_some).then(|| {
        let words: Vec<&str> = values.iter().map(|value| value.as_deref().unwrap_or(MISSING_NAME)).collect();
        words.join(", ")
    })
}

/// The family of a column of numbers that was chosen by its likelihood, not by the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChosenFamily<'a> {
    /// The column.
    pub column: &'a str,
    /// The family under which its rows are most likely, each judged by the others.
    pub family: NumberFamily,
    /// By how many nats per row it is better than a Gaussian with inferred mean and variance; `None` if no Gaussian can be
    /// fitted, since the variance of the numbers is beyond what an f64 can hold.
    pub better_than_gaussian: Option<f64>,
}

/// How a row comes to its posterior: log prior + one contribution per feature = log-joint.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The classes, in the order of everything else here.
    #[serde(skip)]
    pub classes: Arc<[String]>,
    /// Which of them is the most probable.
    #[serde(skip)]
    pub best: usize,
    /// The most probable class.
    pub prediction: String,
    /// P(class | x).
    pub posterior: ByClass<f64>,
    /// From where to where P(class | x) could be, if that was [added](crate::Intervals::add_to).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<ByClass<f64>>,
    /// The upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<ByClass<f64>>,
    /// log P(class, x): the exact f64 sum of log P(class) and the contributions from left to right.
    pub log_joint: ByClass<f64>,
    /// log P(x).
    pub log_evidence: f64,
    /// What the posterior rests on.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// P(class).
    pub prior: ByClass<f64>,
    /// log P(class).
    pub log_prior: ByClass<f64>,
    /// What each feature adds, in the order in which they are added.
    pub contributions: Vec<Contribution>,
    /// The same as fractions, if they were [added](Self::add_fractions).
    pub fraction: Option<FractionExplanation>,
}

impl Explanation {
    /// Adds the fractions behind the same row.
    pub fn add_fractions(&mut self, fractions: FractionExplanation) {
        for (contribution, fraction) in self.contributions.iter_mut().zip(&fractions.likelihood) {
            contribution.fraction = Some(fraction.clone());
        }
        self.fraction = Some(fractions);
    }
}

/// What one feature adds to the log-joint of each class.
#[derive(Debug, Clone, Serialize)]
pub struct Contribution {
    /// The column, or the columns of a joint table; in a judged model also columns that say something together, or a name for
    /// what it is about.
    pub feature: String,
    /// What it is about.
    #[serde(skip_serializing_if = "ContributionOf::is_feature")]
    pub of: ContributionOf,
    /// Its value in this row; `None` if it is missing, or if there is none.
    pub value: Option<String>,
    /// Whether the value was never met in training.
    pub unseen: bool,
    /// The power that P(value | class) was raised to.
    pub exponent: f64,
    /// log P(value | class) for each class, raised to that power.
    pub log_likelihood: ByClass<f64>,
    /// What the tokens add, if the value is a document.
    pub tokens: Option<TokenContributions>,
    /// P(value | class) as fractions, if these were added.
    pub fraction: Option<ByClass<String>>,
}

/// What a contribution is about. Models that were not judged have those of features alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ContributionOf {
    /// A column, or the columns of a joint table or a group.
    Feature,
    /// The classes themselves: by how much each is more or less frequent than the columns make it look.
    Classes,
    /// Two or three columns, beyond what each says by itself.
    Together,
    /// Many columns as one cloud of points.
    Cloud,
}

impl ContributionOf {
    fn is_feature(&self) -> bool {
        *self == ContributionOf::Feature
    }
}

/// What the tokens of a document add to the log-joint of each class.
#[derive(Debug, Clone, Serialize)]
pub struct TokenContributions {
    /// What all tokens would add by being absent, for each class: zero but for the Bernoulli model, in which a token
    /// that is there is measured from that.
    pub absent: ByClass<f64>,
    /// The tokens, in the order in which they first occur.
    pub tokens: Vec<TokenContribution>,
}

/// What one token of a document adds.
#[derive(Debug, Clone, Serialize)]
pub struct TokenContribution {
    /// The token.
    pub token: String,
    /// How often it occurs.
    pub occurrences: u32,
    /// What all its occurrences add to each class; `None` if it was never met in training.
    pub log_likelihood: Option<ByClass<f64>>,
}

impl TokenContribution {
    /// log P(token | class) / P(token | any other class), where the others weigh as their priors say; in nats. `None` if
    /// the token was never met.
    pub fn weight_of_evidence(&self, class: usize, prior: &[f64]) -> Option<f64> {
        self.log_likelihood.as_ref().map(|logs| weight_of_evidence(logs, class, prior))
    }
}

/// The decision between two classes as a weighted sum of what is present, and of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearForm {
    /// The class that negative sums speak for.
    #[serde(rename = "negative")]
    pub first: String,
    /// The class that positive sums speak for.
    #[serde(rename = "positive")]
    pub second: String,
    /// b: the log-odds of the second class when everything is absent and every number zero.
    pub bias: f64,
    /// How much each feature weighs.
    pub weights: Vec<LinearWeight>,
}

/// How much one feature weighs in a [`LinearForm`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearWeight {
    /// The column.
    pub feature: String,
    /// The value that counts as present, unless the feature is a number.
    pub present: Option<String>,
    /// w.
    pub weight: f64,
}

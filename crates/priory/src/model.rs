//! What is concluded from statistics: logarithms of priors and likelihoods, ready to be added up.

mod explanation;
mod linear_form;

use std::collections::HashMap;
use std::sync::Arc;

pub use self::explanation::{
    Contribution, ContributionOf, Explanation, TokenContribution, TokenContributions,
};
pub(crate) use self::explanation::{MISSING_NAME, written_out};
pub use self::linear_form::{LinearForm, LinearWeight};
use crate::batch::{Batch, BatchColumn};
use crate::error::{Error, Result};
use crate::estimate;
use crate::families::FamilyStatistics;
use crate::families::likelihood::{FamilyLikelihood, Unseen};
use crate::families::number::Atoms;
use crate::judgement::text::JudgedText;
use crate::judgement::{Judged, Judgement};
use crate::moments::engine::vectorized;
use crate::posterior::Scores;
use crate::schema::{Kind, Schema};
use crate::settings::{MissingValues, NumberFamily, Settings, Smoothing};
use crate::statistics::{Statistics, check_prior, resolve};

/// A frozen naive Bayes model. It is derived from [`Statistics`] and never edited.
#[derive(Debug, Clone)]
pub struct Model {
    schema: Arc<Schema>,
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
        let used = columns.iter().map(|&column| self.schema.columns[column].clone()).collect();
        Arc::make_mut(&mut self.schema).columns = used;
        self
    }

    /// Whether it was judged how much columns repeat each other.
    pub(crate) fn knows_repetitions(&self) -> bool {
        self.judged.is_some()
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
                atoms: choice.atoms.as_ref().map_or_else(Vec::new, Atoms::numbers),
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
        for text in self.judged_texts().iter().filter(|text| text.tokens() <= MOST_TOKENS) {
            batch.columns[text.column] = BatchColumn::Text(text.column());
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
        self.score_plain(batch)
    }

    /// log P(x) of every row of a batch with these scores: how well it fits the model as a whole, so that rows unlike all others
    /// have the lowest. In a judged model it is that of the counts alone, since weighted terms are no probabilities of rows.
    ///
    /// # Errors
    /// If the batch does not have the columns of the schema.
    pub fn log_evidence(&self, batch: &Batch, scores: &Scores) -> Result<Vec<f64>> {
        batch.check(&self.schema)?;
        let of_rows = |scores: &Scores| (0..scores.rows()).map(|row| scores.log_evidence(row)).collect();
        if scores.is_judged() { Ok(of_rows(&self.score_plain(batch)?)) } else { Ok(of_rows(scores)) }
    }

    fn score_plain(&self, batch: &Batch) -> Result<Scores> {
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
        for text in &judged.texts {
            unseen.tokens += text.add(batch.text(text.column), &mut z, &mut evidence);
        }
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
        // What texts say whose tokens are weighed is no likelihood.
        self.factors.retain(|factor| !judgement.weighs(factor.columns[0]));
        self.start = start(&self.log_prior, &self.factors);
        self.judged = Some(Arc::new(judged));
        Ok(self)
    }

    /// The judged texts, if there are any.
    pub(crate) fn judged_texts(&self) -> &[JudgedText] {
        self.judged.as_ref().map_or(&[], |judged| &judged.texts)
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

/// The family of a column of numbers that was chosen by its likelihood, not by the user.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenFamily<'a> {
    /// The column.
    pub column: &'a str,
    /// The family under which its rows are most likely, each judged by the others.
    pub family: NumberFamily,
    /// By how many nats per row it is better than a Gaussian with inferred mean and variance; `None` if no Gaussian can be
    /// fitted, since the variance of the numbers is beyond what an f64 can hold.
    pub better_than_gaussian: Option<f64>,
    /// Single numbers that many rows share, which have a probability each; the family is that of all others.
    pub atoms: Vec<f64>,
}

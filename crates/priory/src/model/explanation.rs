//! How a row comes to its posterior, feature by feature.

use std::sync::Arc;

use serde::Serialize;

use crate::batch::{Batch, BatchColumn};
use crate::error::Result;
use crate::families::likelihood::{FamilyLikelihood, Unseen};
use crate::families::text::summary::weight_of_evidence;
use crate::fractions::{FractionExplanation, TokenProbability};
use crate::judgement::text::{JudgedText, TextContributions};
use crate::judgement::{Judged, TermOf};
use crate::model::{Factor, Model, feature_name, raised};
use crate::posterior::{Outcome, Scores};
use crate::report::ByClass;
use crate::schema::Schema;
use crate::written::{Written, dates};

/// How a row comes to its posterior: log prior + one contribution per feature = log-joint.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The classes, in the order of everything else here.
    #[serde(skip)]
    pub classes: Arc<[String]>,
    /// Which of them is the most probable.
    #[serde(skip)]
    pub best: usize,
    /// Which of them is answered; `None` if none is probable enough.
    #[serde(skip)]
    pub answer: Option<usize>,
    /// The class that is answered: the most probable, unless the settings decide otherwise.
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
        let of_features = fractions.likelihood.iter().zip(&fractions.tokens);
        for (contribution, (fraction, tokens)) in self.contributions.iter_mut().zip(of_features) {
            contribution.fraction = fraction.clone();
            if let Some(contributions) = &mut contribution.tokens {
                contributions.probabilities = tokens.clone();
            }
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
    /// What the length of the document adds, if its tokens were weighed by a judgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<ByClass<f64>>,
    /// The tokens, in the order in which they first occur.
    pub tokens: Vec<TokenContribution>,
    /// P(token | class) of each, and of each token that the document lacks if that says something, if fractions were
    /// [added](Explanation::add_fractions).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probabilities: Vec<TokenProbability>,
}

/// What one token of a document adds.
#[derive(Debug, Clone, Serialize)]
pub struct TokenContribution {
    /// The token.
    pub token: String,
    /// How often it occurs.
    pub occurrences: u32,
    /// What all its occurrences add to each class; `None` if that is nothing since it was never met in training.
    pub log_likelihood: Option<ByClass<f64>>,
    /// Whether it was never met in training, and says something nevertheless: that it is new.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

impl TokenContribution {
    /// log P(token | class) / P(token | any other class), where the others weigh as their priors say; in nats. `None` if
    /// the token was never met.
    pub fn weight_of_evidence(&self, class: usize, prior: &[f64]) -> Option<f64> {
        self.log_likelihood.as_ref().map(|logs| weight_of_evidence(logs, class, prior))
    }
}

impl Model {
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
        // A document of nothing but tokens that were never met says nothing, unless tokens are weighed; other values do, met or
        // not.
        let says_something = |known: &Contribution| match &known.tokens {
            Some(tokens) if tokens.length.is_some() => !tokens.tokens.is_empty(),
            Some(_) => known.value.is_some() && !known.unseen,
            None => known.value.is_some(),
        };
        let evidence = self.counts_missing() || contributions.iter().any(says_something);
        let unseen = Unseen::default();
        let scores = Scores::new(self.log_prior.clone(), log_joint.clone(), vec![evidence], unseen);
        let posterior = scores.normalize();
        let by_class = |values: &[f64]| ByClass::new(&self.classes, values.iter().copied());
        let decider = self.settings.decision.decider(&self.classes)?;
        let answer = decider.decide(&scores)[0];
        Ok(Explanation {
            classes: Arc::clone(&self.classes),
            best: posterior.best(0),
            answer: (answer < self.classes.len()).then_some(answer),
            prediction: decider.answers().swap_remove(answer),
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
            value: written_out(&self.schema, batch, &factor.columns, row),
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
                    let value = written_out(&self.schema, batch, &[column], row);
                    (ContributionOf::Feature, name, value, is_unseen)
                }
                TermOf::Together { columns, is_known } => {
                    let names: Vec<&str> =
                        columns.iter().map(|&column| self.schema.columns[column].name.as_str()).collect();
                    let value = written_out(&self.schema, batch, &columns, row).filter(|_| is_known);
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
        let texts = judged.texts.iter().map(|text| self.judged_text(text, batch, row));
        terms.chain(texts).chain(factors).collect()
    }

    /// What a document adds whose tokens are weighed: the sum of what its length and its tokens add, in this order.
    fn judged_text(&self, text: &JudgedText, batch: &Batch, row: usize) -> Contribution {
        let by_class = |values: Vec<f64>| ByClass::new(&self.classes, values);
        let said = text.contributions(batch.text(text.column), row);
        let mut sum = vec![0.0; self.classes.len()];
        let mut unseen = false;
        let tokens = said.map(|TextContributions { length, tokens }| {
            sum.copy_from_slice(&length);
            for token in &tokens {
                sum.iter_mut().zip(&token.terms).for_each(|(sum, term)| *sum += term);
            }
            unseen = tokens.iter().all(|token| !token.is_met);
            let tokens = tokens.into_iter().map(|token| TokenContribution {
                token: token.token,
                occurrences: token.occurrences,
                unseen: !token.is_met,
                log_likelihood: Some(by_class(token.terms)),
            });
            TokenContributions {
                absent: by_class(vec![0.0; length.len()]),
                tokens: tokens.collect(),
                length: Some(by_class(length)),
                probabilities: Vec::new(),
            }
        });
        Contribution {
            feature: feature_name(&self.schema, &[text.column]),
            of: ContributionOf::Feature,
            value: written_out(&self.schema, batch, &[text.column], row),
            unseen,
            exponent: 1.0,
            log_likelihood: by_class(sum),
            tokens,
            fraction: None,
        }
    }
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
            unseen: false,
            log_likelihood: token.log_likelihood.map(raise),
        });
        Some(TokenContributions {
            tokens: tokens.collect(),
            absent: raise(absent),
            length: None,
            probabilities: Vec::new(),
        })
    }
}

/// How a missing value is written.
pub(crate) const MISSING_NAME: &str = "(missing)";

/// The values of a factor in words; `None` if all of them are missing.
pub(crate) fn written_out(schema: &Schema, batch: &Batch, columns: &[usize], row: usize) -> Option<String> {
    let values: Vec<Option<String>> =
        columns.iter().map(|&column| shown_value(schema, batch, column, row)).collect();
    values.iter().any(Option::is_some).then(|| {
        let words: Vec<&str> = values.iter().map(|value| value.as_deref().unwrap_or(MISSING_NAME)).collect();
        words.join(", ")
    })
}

/// A value as text, a date as a date.
fn shown_value(schema: &Schema, batch: &Batch, column: usize, row: usize) -> Option<String> {
    match (&schema.columns[column].written, &batch.columns[column]) {
        (Some(Written::Date(_)), BatchColumn::Number(days)) if !days[row].is_nan() => {
            Some(dates::shown(days[row]))
        }
        _ => batch.written(column, row),
    }
}

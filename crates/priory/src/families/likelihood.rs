//! The likelihoods of all families: what scoring adds up.

use super::bernoulli::BernoulliLikelihood;
use super::categorical::CategoricalLikelihood;
use super::discriminant::GroupLikelihood;
use super::joint::JointLikelihood;
use super::number::{Choice, Fitted};
use super::text::likelihood::TextLikelihood;
use crate::batch::Batch;

/// What was never met in training.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub(crate) values: u64,
    pub(crate) tokens: u64,
}

/// The logarithms that scoring adds up.
#[derive(Debug, Clone)]
pub(crate) enum FamilyLikelihood {
    Categorical(usize, CategoricalLikelihood),
    Bernoulli(usize, BernoulliLikelihood),
    Joint(JointLikelihood),
    /// With how its family was chosen, if nobody asked for one.
    Number(usize, Fitted, Option<Choice>),
    Text(usize, TextLikelihood),
    Group(GroupLikelihood),
}

impl FamilyLikelihood {
    /// What every row starts from, if part of this factor was folded into a constant.
    pub(crate) fn base(&self) -> Option<&[f64]> {
        match self {
            FamilyLikelihood::Bernoulli(_, bernoulli) => Some(&bernoulli.base),
            FamilyLikelihood::Categorical(..)
            | FamilyLikelihood::Joint(_)
            | FamilyLikelihood::Number(..)
            | FamilyLikelihood::Text(..)
            | FamilyLikelihood::Group(_) => None,
        }
    }

    /// Adds log P(x | class) less the base to the scores. Returns how many values were never met in training. Whether
    /// a row has a value is known from the batch; whether a document has a token that was met is marked here.
    pub(crate) fn add_log_likelihood(
        &self,
        batch: &Batch,
        scores: &mut [f64],
        evidence: &mut [bool],
    ) -> Unseen {
        if let FamilyLikelihood::Text(column, text) = self {
            let tokens = text.add_log_likelihood(batch.text(*column), scores, evidence);
            return Unseen { values: 0, tokens };
        }
        Unseen { values: self.add_values(batch, scores), tokens: 0 }
    }

    /// Adds log P(x | class) to zeros, with no base. Returns how many values were never met.
    pub(crate) fn log_likelihood(&self, batch: &Batch, ln: &mut [f64]) -> u64 {
        match self {
            FamilyLikelihood::Bernoulli(column, bernoulli) => {
                bernoulli.add_whole_log_likelihood(batch.category(*column), ln)
            }
            _ => self.add_values(batch, ln),
        }
    }

    fn add_values(&self, batch: &Batch, scores: &mut [f64]) -> u64 {
        match self {
            FamilyLikelihood::Categorical(column, categorical) => {
                categorical.add_log_likelihood(batch.category(*column), scores)
            }
            FamilyLikelihood::Bernoulli(column, bernoulli) => {
                bernoulli.add_log_likelihood(batch.category(*column), scores)
            }
            FamilyLikelihood::Joint(joint) => joint.add_log_likelihood(batch, scores),
            FamilyLikelihood::Number(column, fitted, _) => {
                fitted.add_log_likelihood(batch.numbers(*column), scores)
            }
            FamilyLikelihood::Text(..) => unreachable!("documents are not values"),
            FamilyLikelihood::Group(group) => {
                group.add_log_likelihood(batch, scores);
                0
            }
        }
    }

    /// Where the columns are in the batches that are scored.
    pub(crate) fn columns_mut(&mut self) -> &mut [usize] {
        match self {
            FamilyLikelihood::Categorical(column, _)
            | FamilyLikelihood::Bernoulli(column, _)
            | FamilyLikelihood::Number(column, ..)
            | FamilyLikelihood::Text(column, _) => std::slice::from_mut(column),
            FamilyLikelihood::Joint(joint) => &mut joint.statistics.columns,
            FamilyLikelihood::Group(group) => &mut group.columns,
        }
    }

    /// How the family of a column of numbers was chosen, if nobody asked for one.
    pub(crate) fn choice(&self) -> Option<&Choice> {
        match self {
            FamilyLikelihood::Number(_, _, choice) => choice.as_ref(),
            _ => None,
        }
    }

    /// log P(x | class) of one row for each class, and whether all of it was met in training.
    pub(crate) fn contribution(&self, batch: &Batch, row: usize) -> (Vec<f64>, bool) {
        match self {
            FamilyLikelihood::Categorical(column, categorical) => {
                let (row, met) = categorical.contribution(batch.category(*column).value(row));
                (row.to_vec(), met)
            }
            FamilyLikelihood::Bernoulli(column, bernoulli) => {
                let (row, met) = bernoulli.contribution(batch.category(*column).value(row));
                (row.to_vec(), met)
            }
            FamilyLikelihood::Joint(joint) => joint.contribution(batch, row),
            FamilyLikelihood::Number(column, fitted, _) => {
                let x = batch.numbers(*column)[row];
                (fitted.ln(x), fitted.met(x))
            }
            FamilyLikelihood::Text(column, text) => text.contribution(batch.text(*column), row),
            FamilyLikelihood::Group(group) => (group.ln(batch, row), true),
        }
    }
}

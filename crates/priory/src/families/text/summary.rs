//! What a column of text has counted, and which of its tokens tell the classes apart.

use serde::Serialize;

use super::estimate::{Amounts, TextEstimate};
use super::likelihood::TextLikelihood;
use super::{DOCUMENTS_ROW, MISSING_ROW, TERMS_ROW, TextStatistics};
use crate::fractions::{TokenProbability, WordTable};
use crate::judgement::text::JudgedText;
use crate::model::Model;
use crate::report::ByClass;

/// What is shown of a column of text.
#[derive(Debug, Clone, Serialize)]
pub struct TextSummary {
    /// How many different tokens the model knows.
    pub tokens: usize,
    /// What is added to each count, if it is the same for all.
    pub pseudocount: Option<f64>,
    /// The weight of the documents of each class.
    pub documents: ByClass<f64>,
    /// What the tokens of each class count altogether.
    pub terms: ByClass<f64>,
    /// For each class the tokens that speak for it most, the most telling first.
    pub telling: ByClass<Vec<TellingToken>>,
    /// P(token | class) of all tokens, in order, if there are few, and the model has such probabilities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<TokenProbability>,
}

/// As many tokens are shown in a table of all.
const MOST_IN_TABLE: usize = 40;

/// A token that speaks for a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TellingToken {
    /// The token.
    pub token: String,
    /// log P(token | class) / P(token | any other class), in nats; in a judged model what it says times what that is worth, in
    /// a document of mean length.
    pub evidence: f64,
    /// The weight of what it says, if that was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The weight of the documents of the class that have it.
    pub documents: f64,
    /// The weight of the other documents that have it.
    pub elsewhere: f64,
    /// P(token | class) for each class, if the model has such probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<ByClass<f64>>,
}

impl TextSummary {
    /// Returns the summary, and for each class the weight of the rows without a document.
    pub(crate) fn new(
        estimate: &TextEstimate<'_>,
        likelihood: &TextLikelihood,
        model: &Model,
        top: usize,
        are_whole: bool,
    ) -> (Self, ByClass<f64>) {
        let statistics = &estimate.statistics;
        let words = WordTable::new(estimate, model, are_whole);
        let listed = if statistics.tokens.len() <= MOST_IN_TABLE { statistics.tokens.len() } else { 0 };
        let table = words
            .as_ref()
            .map_or_else(Vec::new, |words| (0..listed).map(|token| words.row(token, true)).collect());
        let classes = model.shared_classes();
        let row = |row: usize| {
            ByClass::new(classes, (0..estimate.classes()).map(|class| statistics.totals.get(row, class)))
        };
        let summary = TextSummary {
            tokens: statistics.tokens.len(),
            pseudocount: match estimate.formula.amounts {
                Amounts::Each(alpha) => Some(alpha),
                Amounts::Pair { .. } | Amounts::Background(_) => None,
            },
            documents: row(DOCUMENTS_ROW),
            terms: row(TERMS_ROW),
            telling: ByClass::new(classes, {
                let tokens = statistics.tokens.len().min(likelihood.tokens.len());
                let logs = |token: usize| likelihood.of_token(token, 1.0);
                let probability = |token: usize| Some(words.as_ref()?.row(token, true).probability);
                let beside = |token: usize| (None, probability(token));
                telling(statistics, tokens, logs, beside, model.prior(), top)
            }),
            table,
        };
        (summary, row(MISSING_ROW))
    }

    /// The same of a column whose tokens are weighed by a judgement.
    pub(crate) fn of_judged(
        statistics: &TextStatistics,
        judged: &JudgedText,
        model: &Model,
        top: usize,
    ) -> (Self, ByClass<f64>) {
        let classes = model.shared_classes();
        let row = |row: usize| {
            ByClass::new(classes, (0..classes.len()).map(|class| statistics.totals.get(row, class)))
        };
        let logs = |token: usize| judged.of_token(token);
        let beside = |token: usize| (Some(judged.weight_of(token)), None);
        let telling = telling(statistics, judged.tokens(), logs, beside, model.prior(), top);
        let summary = TextSummary {
            tokens: statistics.tokens.len(),
            pseudocount: None,
            documents: row(DOCUMENTS_ROW),
            terms: row(TERMS_ROW),
            telling: ByClass::new(classes, telling),
            table: Vec::new(),
        };
        (summary, row(MISSING_ROW))
    }
}

/// The tokens that add most to the documents of each class on average: evidence times the share of documents. `beside` gives the weight
/// and the probability of a token, if it has them.
fn telling(
    statistics: &TextStatistics,
    tokens: usize,
    logs: impl Fn(usize) -> Vec<f64>,
    beside: impl Fn(usize) -> (Option<f64>, Option<ByClass<f64>>),
    prior: &[f64],
    top: usize,
) -> Vec<Vec<TellingToken>> {
    let mut found: Vec<Vec<(f64, usize, f64)>> = vec![Vec::new(); prior.len()];
    if top == 0 {
        return vec![Vec::new(); prior.len()];
    }
    for token in 0..tokens {
        let logs = logs(token);
        for cell in statistics.counts.cells(token) {
            let class = cell.class as usize;
            let evidence = weight_of_evidence(&logs, class, prior);
            let share = cell.documents / statistics.totals.get(DOCUMENTS_ROW, class);
            if evidence > 0.0 {
                found[class].push((evidence * share, token, evidence));
            }
        }
    }
    let documents = |token: usize, class: usize, here: bool| -> f64 {
        let cells = statistics.counts.cells(token).filter(|cell| (cell.class as usize == class) == here);
        cells.fold(0.0, |sum, cell| sum + cell.documents)
    };
    let best = |(class, mut tokens): (usize, Vec<(f64, usize, f64)>)| {
        tokens.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let tokens = tokens.into_iter().take(top).map(|(_, token, evidence)| {
            let (weight, probability) = beside(token);
            TellingToken {
                token: statistics.tokens.name(token).to_owned(),
                evidence,
                weight,
                documents: documents(token, class, true),
                elsewhere: documents(token, class, false),
                probability,
            }
        });
        tokens.collect()
    };
    found.into_iter().enumerate().map(best).collect()
}

/// log P(x | class) / P(x | any other class), where the others weigh as their priors say; in nats.
pub fn weight_of_evidence(logs: &[f64], class: usize, prior: &[f64]) -> f64 {
    let others =
        || logs.iter().zip(prior).enumerate().filter(|(other, _)| *other != class).map(|(_, pair)| pair);
    let largest = others().map(|(&log, _)| log).fold(f64::NEG_INFINITY, f64::max);
    let weight: f64 = others().map(|(_, prior)| prior).sum();
    if largest == f64::NEG_INFINITY || weight == 0.0 {
        return if logs[class] == f64::NEG_INFINITY || weight == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let sum: f64 = others().map(|(log, prior)| prior / weight * libm::exp(log - largest)).sum();
    logs[class] - largest - libm::log(sum)
}

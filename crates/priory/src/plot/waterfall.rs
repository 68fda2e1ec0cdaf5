//! The waterfall of a row: how the log-odds of its class move from the prior to the posterior, term by term.
//!
//! Every step is the difference that a term makes when it is added to those before it, so that all steps add up to the
//! posterior, whatever the number of classes. Between two classes a step does not depend on the order.

use std::f64::consts::LN_2;

use serde::Serialize;

use crate::families::text::summary::weight_of_evidence;
use crate::model::{Contribution, ContributionOf, Explanation};
use crate::posterior::Outcome;

/// How a row comes to the posterior of one class.
#[derive(Debug, Clone, Serialize)]
pub struct Waterfall {
    /// What the classes are of.
    pub target: String,
    /// The class: the one that is answered, or the most probable.
    pub class: String,
    /// P(class | x)
    pub posterior: f64,
    /// The prior, and then the terms, the largest first.
    pub steps: Vec<Step>,
}

/// One term.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// What it is.
    pub label: String,
    /// The log-odds before it, in bits; nothing before the first.
    pub from: f64,
    /// And after it.
    pub to: f64,
}

/// As many terms are shown one by one; smaller ones are taken together.
pub const MOST_STEPS: usize = 16;

impl Waterfall {
    /// Of a row that was explained, with so many terms one by one.
    pub fn new(explanation: &Explanation, target: &str, most: usize) -> Self {
        let class = explanation.answer.unwrap_or(explanation.best);
        let mut terms: Vec<(String, Vec<f64>)> = Vec::new();
        for contribution in &explanation.contributions {
            terms.extend(terms_of(contribution));
        }
        let weight = |terms: &[f64]| worth(terms, class, &explanation.prior).abs();
        // What says nothing takes no room; what is impossible comes last, since nothing can be added to it.
        terms.retain(|(_, terms)| terms.iter().any(|term| *term != terms[0]));
        let is_impossible = |terms: &[f64]| terms.contains(&f64::NEG_INFINITY);
        terms.sort_by(|(_, a), (_, b)| {
            is_impossible(a).cmp(&is_impossible(b)).then(weight(b).total_cmp(&weight(a)))
        });
        let small = terms.iter().filter(|(_, terms)| !is_impossible(terms)).count().saturating_sub(most);
        if small > 1 {
            let kept = terms.iter().filter(|(_, terms)| !is_impossible(terms)).count() - small;
            let mut sum = vec![0.0; explanation.classes.len()];
            for (_, terms) in terms.drain(kept..kept + small) {
                sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
            terms.insert(kept, (format!("{small} other terms"), sum));
        }
        // A row that every class calls impossible is answered by the prior.
        if explanation.outcome == Outcome::Impossible {
            terms.clear();
        }
        let mut logs = explanation.log_prior.to_vec();
        let mut steps = vec![Step { label: "prior".to_owned(), from: 0.0, to: log_odds(&logs, class) }];
        for (label, terms) in terms {
            let from = log_odds(&logs, class);
            logs.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            steps.push(Step { label, from, to: log_odds(&logs, class) });
        }
        Waterfall {
            target: target.to_owned(),
            class: explanation.classes[class].clone(),
            posterior: explanation.posterior[class],
            steps,
        }
    }
}

/// What terms are worth to a class against all others, in nats; nothing, where every class calls them impossible.
fn worth(terms: &[f64], class: usize, prior: &[f64]) -> f64 {
    let nats = if terms.len() > 1 { weight_of_evidence(terms, class, prior) } else { 0.0 };
    if nats.is_nan() { 0.0 } else { nats }
}

/// The terms of a contribution: itself, or those of the tokens that it is made of.
fn terms_of(contribution: &Contribution) -> Vec<(String, Vec<f64>)> {
    let Some(tokens) = &contribution.tokens else {
        return vec![(label(contribution), contribution.log_likelihood.to_vec())];
    };
    let beside = [("(nothing there)", Some(&tokens.absent)), ("(its length)", tokens.length.as_ref())];
    let beside = beside.into_iter().filter_map(|(name, logs)| Some((name.to_owned(), logs?.to_vec())));
    let words = tokens.tokens.iter().filter_map(|token| {
        let times = if token.occurrences > 1 { format!(" × {}", token.occurrences) } else { String::new() };
        Some((format!("“{}”{times}", token.token), token.log_likelihood.as_ref()?.to_vec()))
    });
    let named = |(name, logs): (String, Vec<f64>)| (format!("{}: {name}", contribution.feature), logs);
    beside.chain(words).map(named).collect()
}

fn label(contribution: &Contribution) -> String {
    let Contribution { feature, of, value, unseen, .. } = contribution;
    match value {
        None if *of != ContributionOf::Feature => feature.clone(),
        None => format!("{feature} missing"),
        Some(value) if *unseen => format!("{feature} = {value} (never met)"),
        Some(value) => format!("{feature} = {value}"),
    }
}

/// log₂ of the weight of a class over that of all others, from logarithms of what they are proportional to.
pub(super) fn log_odds(logs: &[f64], class: usize) -> f64 {
    let others = || logs.iter().enumerate().filter(|(k, _)| *k != class).map(|(_, log)| *log);
    let largest = others().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return if logs[class] == largest { 0.0 } else { f64::INFINITY };
    }
    let rest = largest + libm::log(others().map(|log| libm::exp(log - largest)).sum());
    (logs[class] - rest) / LN_2
}

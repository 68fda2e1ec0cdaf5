//! Whether tokens may deviate from their bands, and how freely: what documents say that were held out.
//!
//! A token's deviation is chosen by all documents that have it, so that leaving one of them out at a time flatters it: a token of
//! four documents of one class looks right in every one of them. Here the counts, the weights and the deviations are all worked out
//! without the documents that are asked. Documents of a group are asked together.

use std::mem;

use super::TextSample;
use super::deviations::{Deviating, Deviations, Scored, WEAK, Weighted};
use super::documents::Documents;
use crate::judgement::blocks::in_blocks;
use crate::judgement::fit::{Fit, Part, Weights};

/// How strongly deviations may be drawn to zero; the strongest first.
const PENALTIES: [f64; 4] = [100.0, 30.0, 10.0, 3.0];

/// In how many parts rows are dealt out, each of which is held out in turn; of more rows than this, just the first.
const PARTS: usize = 3;
const MANY_ROWS: usize = 5_000;

/// Steps of the fits to the other rows.
const STEPS: usize = 40;

/// What deviations change.
pub(crate) struct Chosen {
    pub(crate) slope: f64,
    pub(crate) offsets: Vec<f64>,
    /// Which of the texts, which of its tokens, and δ.
    pub(crate) deviations: Vec<(usize, u32, f64)>,
}

/// The fit of all weights, and where the terms of texts are in it.
pub(crate) struct Fitted<'a> {
    pub(crate) fit: &'a mut Fit,
    pub(crate) weights: &'a Weights,
    pub(crate) common: f64,
    pub(crate) trust: f64,
    /// The weight of each row, but for its copies.
    pub(crate) row_weights: &'a [f64],
    /// The fold of each row of the sample, if rows come in groups.
    pub(crate) folds: Option<&'a [u32]>,
    /// The part of the first text, and its first term.
    pub(crate) first_part: usize,
    pub(crate) first_term: usize,
}

/// In which part a row is dealt out.
fn part_of(folds: Option<&[u32]>, row: usize) -> usize {
    folds.map_or(row, |folds| folds[row] as usize) % PARTS
}

/// Lets tokens deviate, if that helps.
pub(crate) fn deviate(mut fitted: Fitted<'_>, texts: &[TextSample]) -> Option<Chosen> {
    let penalty = fitted.penalty(texts)?;
    let scored = fitted.scored(fitted.weights, fitted.fit.weights.clone());
    let documents: Vec<&Documents> = texts.iter().map(|text| &text.documents).collect();
    let columns = fitted.columns(texts, &documents, fitted.weights);
    let scored = scored.as_ref();
    let deviations = Deviations::new(&scored, &columns)?;
    let Deviating { slope, offsets, deviations: found } = deviations.fit(penalty, None);
    let of_token = |(&(column, token), &deviation): (&(usize, u32), &f64)| {
        // At a slope below one, the weight of the band is less than what the deviation was bounded by.
        let at_mean = columns[column].weight_at_mean(token);
        let least = if at_mean > WEAK { -slope * at_mean } else { 0.0 };
        (column, token, deviation.max(least))
    };
    let deviations =
        deviations.tokens.iter().zip(&found).map(of_token).filter(|(.., deviation)| *deviation != 0.0);
    Some(Chosen { slope, offsets, deviations: deviations.collect() })
}

/// Rows and what is said of them, owned.
struct OwnedScores<'a> {
    fit: &'a Fit,
    weights: Vec<f64>,
    said: Vec<f64>,
}

impl OwnedScores<'_> {
    fn as_ref(&self) -> Scored<'_> {
        Scored {
            classes: self.fit.classes,
            own: &self.fit.own,
            weights: &self.weights,
            log_prior: &self.fit.log_prior,
            said: self.said.clone(),
            doubt: self.fit.doubt(),
            learnt: self.fit.learnt,
            threads: self.fit.threads,
        }
    }
}

impl Fitted<'_> {
    /// What all terms say of every row under some weights, for rows that count so much.
    fn scored(&self, weights: &Weights, rows: Vec<f64>) -> OwnedScores<'_> {
        let fit = &*self.fit;
        let x = [&weights.terms[..], &weights.offsets].concat();
        let all = vec![1.0; fit.rows()];
        let z = in_blocks(fit.rows(), fit.threads, |block| fit.scores(block, &all, &x)).concat();
        let said = z.iter().zip(&fit.log_prior).map(|(z, prior)| self.trust * (z - prior)).collect();
        OwnedScores { fit, weights: rows, said }
    }

    fn columns<'a>(
        &self,
        texts: &[TextSample],
        documents: &[&'a Documents],
        weights: &Weights,
    ) -> Vec<Weighted<'a>> {
        let mut first = self.first_term;
        let column = |(text, documents): (&TextSample, &&'a Documents)| {
            let of_text = weights.terms[first..][..text.terms()].iter().map(|weight| self.trust * weight);
            first += text.terms();
            text.weighted(documents, &of_text.collect::<Vec<f64>>())
        };
        texts.iter().zip(documents).map(column).collect()
    }

    /// The penalty under which rows that were held out are predicted best; `None` if they are predicted best without deviations.
    fn penalty(&mut self, texts: &[TextSample]) -> Option<f64> {
        let parts = if self.fit.rows() > MANY_ROWS { 1 } else { PARTS };
        let mut losses = vec![0.0; 1 + PENALTIES.len()];
        for part in 0..parts {
            let folds = self.folds;
            let is_held = |row: usize| part_of(folds, row) == part;
            let rows = 0..self.fit.rows();
            let only = |wanted: bool| {
                let weight = |row: usize| if is_held(row) == wanted { self.fit.weights[row] } else { 0.0 };
                rows.clone().map(weight).collect::<Vec<f64>>()
            };
            let (held_out, others) = (only(true), only(false));
            let reduced: Vec<Documents> =
                texts.iter().map(|text| text.documents.without(text.counted(is_held))).collect();
            let weight = |row: usize| if is_held(row) { 0.0 } else { self.row_weights[row] };
            let all: Vec<usize> = rows.clone().collect();
            let of_text = |(text, documents): (&TextSample, &Documents)| match self.folds {
                None => text.part(documents, &all, weight, self.fit.threads),
                Some(folds) => {
                    let is_held = |fold: u32| fold as usize % PARTS == part;
                    text.without_folds(documents, folds, is_held, self.fit.threads)
                }
            };
            let replaced: Vec<Part> = texts.iter().zip(&reduced).map(of_text).collect();
            let whole = self.replace_parts(replaced);
            let weights = self.fit.weights(&others, self.weights, self.common, STEPS);
            let scored = self.scored(&weights, others);
            let documents: Vec<&Documents> = reduced.iter().collect();
            let columns = self.columns(texts, &documents, &weights);
            let scored = scored.as_ref();
            let of_part = Deviations::new(&scored, &columns).map(|deviations| {
                let none = Deviating::none(deviations.tokens.len(), scored.classes);
                let mut losses = vec![deviations.loss(&none, &held_out)];
                let mut deviating = None;
                for penalty in PENALTIES {
                    let found = deviations.fit(penalty, deviating.as_ref());
                    losses.push(deviations.loss(&found, &held_out));
                    deviating = Some(found);
                    // With a single part to go by, what begins to get worse is not followed further.
                    if parts == 1 && losses[losses.len() - 1] > losses[losses.len() - 2] {
                        break;
                    }
                }
                losses.resize(1 + PENALTIES.len(), f64::INFINITY);
                losses
            });
            self.replace_parts(whole);
            losses.iter_mut().zip(of_part?).for_each(|(sum, loss)| *sum += loss);
        }
        let best = (1..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b]))?;
        (losses[best] < losses[0]).then(|| PENALTIES[best - 1])
    }

    /// Puts other parts into the place of those of the texts, and returns these.
    fn replace_parts(&mut self, parts: Vec<Part>) -> Vec<Part> {
        let places = self.fit.parts[self.first_part..].iter_mut();
        parts.into_iter().zip(places).map(|(part, place)| mem::replace(place, part)).collect()
    }
}

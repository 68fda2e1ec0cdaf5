//! A column of text in a judged model: weights folded into logarithms, ready to be looked up and added.

use std::sync::Arc;

use super::bands::{BANDS, BANDS_OF_OTHERS, Shares, UNSEEN, band_of, band_of_others};
use super::documents::damped;
use super::lengths::Lengths;
use super::terms::{Coefficients, SHRINKAGE, TextLayout, factor};
use super::{TextJudgement, layout_of, masses_of, said_by};
use crate::batch::TextColumn;
use crate::families::text::TextStatistics;
use crate::judgement::interval::variance_of;
use crate::text::TokenSettings;
use crate::vocabulary::Vocabulary;

/// What documents say, from what was counted of their tokens and what that is worth.
#[derive(Debug, Clone)]
pub(crate) struct JudgedText {
    pub(crate) column: usize,
    layout: TextLayout,
    settings: TokenSettings,
    tokens: Arc<Vocabulary>,
    /// The tokens, roughly from the most frequent on.
    by_frequency: Arc<[u32]>,
    kinds: Vec<Kind>,
    /// Where the cells of each token end.
    ends: Vec<u32>,
    class_of: Vec<u16>,
    /// log(1 + n(c) / (a q)) of each cell, times how much the token deviates from its band.
    own: Vec<f64>,
    /// log((n + a) / (n − n(c) + a)) of each cell, for more than two classes; and n / (n + a) of each token.
    others: Vec<f64>,
    known: Vec<f64>,
    shares: Shares,
    /// log(1 − q(c)), order after order.
    ln_rest: Vec<f64>,
    lengths: Lengths,
    weights: Vec<f64>,
    /// Tokens that deviate from their bands, and by how much.
    deviations: Vec<(u32, f64)>,
}

/// The order of a token and its bands.
#[derive(Debug, Clone, Copy)]
struct Kind {
    order: u8,
    band: u8,
    others: u8,
    /// Whether it deviates from a band that says nothing.
    is_alone: bool,
}

/// A token of a document, and what it adds to each class.
#[derive(Debug, Clone)]
pub(crate) struct TokenTerm {
    pub(crate) token: String,
    pub(crate) occurrences: u32,
    pub(crate) is_met: bool,
    pub(crate) terms: Vec<f64>,
}

/// What a document adds to each class: by its length, and by each of its tokens.
#[derive(Debug, Clone)]
pub(crate) struct TextContributions {
    pub(crate) length: Vec<f64>,
    pub(crate) tokens: Vec<TokenTerm>,
}

impl JudgedText {
    /// From canonical statistics of classes with these names and weights, whose rows weigh `unit` on average.
    pub(crate) fn new(
        text: &TextStatistics,
        judgement: &TextJudgement,
        classes: &[(&str, f64)],
        unit: f64,
    ) -> Self {
        let layout = layout_of(text);
        let masses = masses_of(text, unit);
        let shares = masses.shares();
        let (settings, a) = (text.settings.tokens.clone(), SHRINKAGE * unit);
        let at_mean = Coefficients::new(layout, &judgement.weights, 1.0);
        let mut deviations = judgement.deviations.iter().peekable();
        let tokens = text.tokens.len();
        let mut judged = JudgedText {
            column: judgement.column,
            layout,
            tokens: Arc::clone(&text.tokens),
            by_frequency: text.counts.by_frequency().into(),
            kinds: Vec::with_capacity(tokens),
            ends: Vec::with_capacity(tokens),
            class_of: Vec::with_capacity(text.counts.cells_held()),
            own: Vec::with_capacity(text.counts.cells_held()),
            others: Vec::new(),
            known: Vec::new(),
            ln_rest: Vec::new(),
            lengths: said_by(&judgement.lengths, classes, unit),
            weights: judgement.weights.clone(),
            deviations: Vec::new(),
            settings,
            shares,
        };
        for order in 0..layout.orders {
            judged.ln_rest.extend(judged.shares.of_order(order).iter().map(|share| libm::log1p(-share)));
        }
        for (token, name) in text.tokens.names().enumerate() {
            let n = text.counts.in_all_classes(token, 0);
            let (order, band) = (judged.settings.order_of(name), band_of(n / unit).max(1));
            // Tokens are in the order of their bytes here and there.
            while deviations.next_if(|(other, _)| other.as_str() < name).is_some() {}
            let deviation =
                deviations.next_if(|(other, _)| other == name).map_or(0.0, |(_, deviation)| *deviation);
            let weight = at_mean.own(order, band);
            let (factor, is_alone) = factor(deviation, weight);
            if deviation != 0.0 {
                judged.deviations.push((token as u32, deviation));
            }
            let of_band = judged.shares.of_band(order, band);
            text.counts.for_each_cell(token, |class, documents, _| {
                judged.class_of.push(class as u16);
                judged.own.push(factor * libm::log1p(documents / (a * of_band[class])));
                if layout.has_others() {
                    judged.others.push(libm::log((n + a) / ((n - documents).max(0.0) + a)));
                }
            });
            if layout.has_others() {
                judged.known.push(n / (n + a));
            }
            judged.ends.push(judged.class_of.len() as u32);
            let others = band_of_others(n / unit) as u8;
            judged.kinds.push(Kind { order: order as u8, band: band as u8, others, is_alone });
        }
        judged
    }

    /// Adds what the documents say to the z of their rows, and marks rows of which they say something. Returns how many tokens were
    /// never met.
    pub(crate) fn add(&self, column: &TextColumn, z: &mut [f64], evidence: &mut [bool]) -> u64 {
        const NOT_ASKED: u32 = u32::MAX;
        let is_same = column.starts_with(&self.tokens);
        let mut number_of = if is_same { Vec::new() } else { vec![NOT_ASKED; column.tokens().len()] };
        let mut unseen = 0;
        let mut sums = MassSums::new(self.layout);
        let mut found: Vec<(Option<u32>, f64)> = Vec::new();
        for (row, (z, evidence)) in z.chunks_exact_mut(self.layout.classes).zip(evidence).enumerate() {
            let Some(document) = column.document(row) else { continue };
            found.clear();
            let mut length = 0.0;
            for &(token, occurrences) in document {
                let number = if is_same {
                    token
                } else {
                    let number = &mut number_of[token as usize];
                    if *number == NOT_ASKED {
                        let name = column.tokens().name(token as usize);
                        *number = self.tokens.get(name).map_or(NOT_ASKED - 1, |id| id as u32);
                    }
                    *number
                };
                let kind = self.kinds.get(number as usize);
                if kind.is_none() && self.settings.passes_over(column.tokens().name(token as usize)) {
                    continue;
                }
                let order =
                    kind.map_or_else(|| self.order_of_unseen(column, token), |kind| kind.order.into());
                if order == 0 {
                    length += f64::from(occurrences);
                }
                if kind.is_none() {
                    unseen += 1;
                    sums.mass[order * (1 + BANDS) + UNSEEN] += damped(occurrences);
                }
                found.push((kind.map(|_| number), damped(occurrences)));
            }
            *evidence |= !document.is_empty();
            let coefficients = Coefficients::new(self.layout, &self.weights, self.lengths.relative(length));
            for (number, x) in found.iter().filter_map(|&(number, x)| Some((number?, x))) {
                self.add_token(number as usize, x, &coefficients, z);
                self.add_masses(number as usize, x, &mut sums);
            }
            self.add_sums(&mut sums, &coefficients, length, z);
        }
        unseen
    }

    fn order_of_unseen(&self, column: &TextColumn, token: u32) -> usize {
        self.settings.order_of(column.tokens().name(token as usize))
    }

    fn cells(&self, token: usize) -> std::ops::Range<usize> {
        let start = if token == 0 { 0 } else { self.ends[token - 1] };
        start as usize..self.ends[token] as usize
    }

    /// Adds what a token says by itself.
    #[inline]
    fn add_token(&self, token: usize, x: f64, coefficients: &Coefficients, z: &mut [f64]) {
        let Kind { order, band, others, is_alone } = self.kinds[token];
        let cells = self.cells(token);
        let weight = match is_alone {
            false => x * coefficients.own(order.into(), band.into()),
            true => x * coefficients.root,
        };
        for (&class, own) in self.class_of[cells.clone()].iter().zip(&self.own[cells.clone()]) {
            z[usize::from(class)] += weight * own;
        }
        if self.layout.has_others() {
            let weight = x * coefficients.others(order.into(), others.into());
            for (&class, others) in self.class_of[cells.clone()].iter().zip(&self.others[cells]) {
                z[usize::from(class)] += weight * others;
            }
        }
    }

    #[inline]
    fn add_masses(&self, token: usize, x: f64, sums: &mut MassSums) {
        let Kind { order, band, others, .. } = self.kinds[token];
        sums.mass[usize::from(order) * (1 + BANDS) + usize::from(band)] += x;
        if self.layout.has_others() {
            sums.known[usize::from(order) * BANDS_OF_OTHERS + usize::from(others)] += x * self.known[token];
        }
    }

    /// Adds what tokens say by the bands that they are in, and the length; and clears the sums.
    fn add_sums(&self, sums: &mut MassSums, coefficients: &Coefficients, length: f64, z: &mut [f64]) {
        for order in 0..self.layout.orders {
            for band in 0..=BANDS {
                let mass = std::mem::take(&mut sums.mass[order * (1 + BANDS) + band]);
                let weight = mass * coefficients.band(order, band);
                if weight != 0.0 {
                    z.iter_mut()
                        .zip(self.shares.ln_rise(order, band))
                        .for_each(|(z, rise)| *z += weight * rise);
                }
            }
            let ln_rest = &self.ln_rest[order * z.len()..][..z.len()];
            for band in 0..BANDS_OF_OTHERS {
                let known = std::mem::take(&mut sums.known[order * BANDS_OF_OTHERS + band]);
                let weight = known * coefficients.others(order, band);
                if weight != 0.0 {
                    z.iter_mut().zip(ln_rest).for_each(|(z, rest)| *z += weight * rest);
                }
            }
        }
        for (class, z) in z.iter_mut().enumerate() {
            *z += coefficients.length * self.lengths.term(length, class, false);
        }
    }

    /// What the document of a row says, token by token; `None` if there is none.
    pub(crate) fn contributions(&self, column: &TextColumn, row: usize) -> Option<TextContributions> {
        let document = column.document(row)?;
        let name = |token: u32| column.tokens().name(token as usize);
        let lengths = document.iter().filter(|(token, _)| self.settings.order_of(name(*token)) == 0);
        let length: f64 = lengths.map(|&(_, occurrences)| f64::from(occurrences)).sum();
        let mut coefficients = Coefficients::new(self.layout, &self.weights, self.lengths.relative(length));
        let mut sums = MassSums::new(self.layout);
        let classes = self.layout.classes;
        let mut by_length = vec![0.0; classes];
        self.add_sums(&mut sums, &coefficients, length, &mut by_length);
        coefficients.length = 0.0;
        let tokens = document.iter().map(|&(token, occurrences)| {
            let (name, x) = (name(token), damped(occurrences));
            let mut terms = vec![0.0; classes];
            let number = self.tokens.get(name);
            match number {
                Some(number) => {
                    self.add_token(number, x, &coefficients, &mut terms);
                    self.add_masses(number, x, &mut sums);
                }
                None => sums.mass[self.settings.order_of(name) * (1 + BANDS) + UNSEEN] += x,
            }
            self.add_sums(&mut sums, &coefficients, length, &mut terms);
            TokenTerm { token: name.to_owned(), occurrences, is_met: number.is_some(), terms }
        });
        let tokens = tokens.collect();
        Some(TextContributions { length: by_length, tokens })
    }

    /// What a token adds to each class in a document of mean length in which it occurs once.
    pub(crate) fn of_token(&self, token: usize) -> Vec<f64> {
        let mut coefficients = Coefficients::new(self.layout, &self.weights, 1.0);
        coefficients.length = 0.0;
        let (mut terms, mut sums) = (vec![0.0; self.layout.classes], MassSums::new(self.layout));
        self.add_token(token, 1.0, &coefficients, &mut terms);
        self.add_masses(token, 1.0, &mut sums);
        self.add_sums(&mut sums, &coefficients, 1.0, &mut terms);
        terms
    }
}

impl JudgedText {
    /// A column without rows that starts with the tokens of the model.
    pub(crate) fn column(&self) -> TextColumn {
        TextColumn::starting_with(&self.tokens, &self.by_frequency)
    }

    /// The weight of a token in a document of mean length: that of its band, and how much it deviates from that.
    pub(crate) fn weight_of(&self, token: usize) -> f64 {
        let Kind { order, band, .. } = self.kinds[token];
        let found = self.deviations.binary_search_by_key(&(token as u32), |(token, _)| *token);
        let deviation = found.map_or(0.0, |place| self.deviations[place].1);
        Coefficients::new(self.layout, &self.weights, 1.0).own(order.into(), band.into()) + deviation
    }

    /// How many tokens there are.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Adds the variance of what the documents say, by how many more or fewer documents might have had their tokens.
    pub(crate) fn add_variances(&self, column: &TextColumn, variances: &mut [f64]) {
        let classes = self.layout.classes;
        for (row, variances) in variances.chunks_exact_mut(classes).enumerate() {
            let document = column.document(row).unwrap_or_default();
            let name = |token: u32| column.tokens().name(token as usize);
            let singles = document.iter().filter(|(token, _)| self.settings.order_of(name(*token)) == 0);
            let length: f64 = singles.map(|&(_, occurrences)| f64::from(occurrences)).sum();
            let coefficients = Coefficients::new(self.layout, &self.weights, self.lengths.relative(length));
            for &(token, occurrences) in document {
                let Some(number) = self.tokens.get(name(token)) else { continue };
                let Kind { order, band, is_alone, .. } = self.kinds[number];
                let weight = match is_alone {
                    true => coefficients.root,
                    false => coefficients.own(order.into(), band.into()),
                };
                let shares = self.shares.of_band(order.into(), band.into());
                let mut counted = vec![0.0; classes];
                for cell in self.cells(number) {
                    counted[usize::from(self.class_of[cell])] = self.own[cell];
                }
                for ((variance, said), share) in variances.iter_mut().zip(counted).zip(shares) {
                    // log(1 + (n + 1) / (a q)) − log(1 + n / (a q)); deviations are part of what is said.
                    let rise = libm::log1p(1.0 / (SHRINKAGE * share) * libm::exp(-said.abs()));
                    *variance += weight * damped(occurrences) * variance_of(rise);
                }
            }
        }
    }
}

/// Σ x of a document by order and band, and Σ x n / (n + a) by order and coarse band.
struct MassSums {
    mass: Vec<f64>,
    known: Vec<f64>,
}

impl MassSums {
    fn new(layout: TextLayout) -> Self {
        MassSums {
            mass: vec![0.0; layout.orders * (1 + BANDS)],
            known: vec![0.0; layout.orders * BANDS_OF_OTHERS],
        }
    }
}

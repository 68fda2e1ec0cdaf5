//! Words weighed by what they are worth.
//!
//! The words of a document repeat each other even more than the columns of a table do. A column of text is therefore not one term
//! but some dozens: what its words and pairs of words say, by how frequent they are and how long the document is ([`terms`]). Their
//! weights are fitted with those of all other terms. Then single tokens get weights of their own where that helps ([`deviations`]),
//! which documents decide that were not counted ([`gate`]).

pub(crate) mod bands;
pub(crate) mod deviations;
pub(crate) mod documents;
mod gate;
mod lengths;
mod scorer;
pub(crate) mod terms;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::families::text::TextStatistics;
use crate::families::{FamilyStatistics, Removed};
use crate::judgement::blocks::in_blocks;
use crate::judgement::fit::{Part, without_last};
use crate::judgement::groups::FOLDS;
use crate::settings::Settings;
use crate::statistics::Statistics;
use bands::Masses;
use documents::Documents;
use lengths::{LengthCounts, Lengths};
use terms::{Coefficients, DeviationsOf, LeftOut, Sums, TextLayout};

pub(crate) use gate::{Chosen, Fitted, deviate};
pub(crate) use scorer::{JudgedText, TextContributions};

/// What was concluded about a column of text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextJudgement {
    /// Its position in the schema.
    pub(crate) column: usize,
    lengths: LengthCounts,
    /// The weights of its terms.
    pub(crate) weights: Vec<f64>,
    /// Tokens that deviate from their bands, in the order of their bytes. They have sections of their own in files.
    #[serde(skip)]
    pub(crate) deviations: Vec<(String, f64)>,
    /// The same by position among the tokens, until they are named.
    #[serde(skip)]
    positions: Vec<(u32, f64)>,
}

/// The largest weight of a term: those of the fit, times the slope that makes up for deviations.
const LARGEST_WEIGHT: f64 = 9.0;

impl TextJudgement {
    /// Whether this can be a judgement of such statistics, in which the column has this position.
    pub(crate) fn fits(&self, statistics: &Statistics, column: usize) -> bool {
        let Some(text) = text_of(statistics, column) else { return false };
        let layout = layout_of(text);
        self.weights.len() == layout.terms()
            && self.positions.is_empty()
            && self.weights.iter().all(|weight| (0.0..=LARGEST_WEIGHT).contains(weight))
            && self.lengths.is_possible()
            && self.deviations.is_sorted_by(|a, b| a.0 < b.0)
            && self.deviations.iter().all(|(_, deviation)| deviation.abs() <= deviations::LARGEST)
    }
}

impl TextJudgement {
    /// Adds a token of a sample that deviates.
    pub(crate) fn add_deviation(&mut self, sample: &TextSample, token: u32, deviation: f64) {
        let position = sample.documents.positions[token as usize].expect("what deviates was counted");
        self.positions.push((position, deviation));
    }

    /// The weights of the orders of tokens that at least so many documents have, in a document of mean length.
    pub(crate) fn weights_at_mean(&self, statistics: &Statistics, column: usize) -> Vec<(u64, Vec<f64>)> {
        let Some(text) = text_of(statistics, column) else { return Vec::new() };
        let layout = layout_of(text);
        let at_mean = Coefficients::new(layout, &self.weights, 1.0);
        let of_band = |(place, &start): (usize, &f64)| {
            (start as u64, (0..layout.orders).map(|order| at_mean.own(order, place + 1)).collect())
        };
        bands::STARTS.iter().enumerate().map(of_band).collect()
    }

    /// Names the tokens that were added, by the statistics that the sample is of.
    pub(crate) fn name_tokens(&mut self, text: &TextStatistics) {
        let mut positions = std::mem::take(&mut self.positions);
        positions.sort_unstable_by_key(|(position, _)| *position);
        let named =
            |(position, deviation): (u32, f64)| (text.tokens.name(position as usize).to_owned(), deviation);
        self.deviations = positions.into_iter().map(named).collect();
    }
}

/// The columns of text whose tokens are weighed: all but those whose event model was named, or whose tokens are not all used.
pub(crate) fn weighed_texts<'a>(
    statistics: &'a Statistics,
    settings: &'a Settings,
) -> impl Iterator<Item = (usize, &'a TextStatistics)> {
    statistics.factors.iter().filter_map(|factor| match factor {
        FamilyStatistics::Text(column, text) => {
            let name = &statistics.schema.columns[*column].name;
            let is_named = settings.text.model.is_some() || settings.families.contains_key(name);
            let is_limited = settings.text.min_documents > 0.0 || settings.text.most_tokens.is_some();
            (!is_named && !is_limited).then_some((*column, &**text))
        }
        _ => None,
    })
}

/// How many terms they have together.
pub(crate) fn terms_of_texts(statistics: &Statistics, settings: &Settings) -> usize {
    weighed_texts(statistics, settings).map(|(_, text)| layout_of(text).terms()).sum()
}

/// What is counted of a column of text.
pub(crate) fn text_of(statistics: &Statistics, column: usize) -> Option<&TextStatistics> {
    statistics.factors.iter().find_map(|factor| match factor {
        FamilyStatistics::Text(of, text) if *of == column => Some(&**text),
        _ => None,
    })
}

pub(crate) fn layout_of(text: &TextStatistics) -> TextLayout {
    TextLayout { orders: text.settings.tokens.orders(), classes: text.totals.classes() }
}

/// The masses of a column: worked out, or as a file says that was read in parts.
pub(crate) fn masses_of(text: &TextStatistics, unit: f64) -> Masses {
    let layout = layout_of(text);
    let from_file = text
        .precomputed
        .as_ref()
        .and_then(|whole| Masses::from_numbers(layout.orders, layout.classes, &whole.masses));
    from_file.unwrap_or_else(|| Masses::new(text, unit))
}

/// Rows of a sample: the class of each, its weight with all its copies, and to how many of the first the weights are fitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextRows<'a> {
    pub(crate) own: &'a [u32],
    pub(crate) weights: &'a [f64],
    pub(crate) fitted: usize,
}

/// Documents of a column of text that were learnt, as the terms need them.
pub(crate) struct TextSample {
    column: usize,
    layout: TextLayout,
    documents: Documents,
    lengths: LengthCounts,
    /// What the lengths say.
    said_by_length: Lengths,
    /// The class and the weight of each document with its copies, and to how many of the first the weights are fitted.
    own: Vec<u32>,
    weights: Vec<f64>,
    fitted: usize,
}

impl TextSample {
    pub(crate) fn new(
        column: usize,
        text: &TextStatistics,
        documents: &crate::TextColumn,
        TextRows { own, weights, fitted }: TextRows<'_>,
        classes: &[(&str, f64)],
        unit: f64,
    ) -> Self {
        let documents = Documents::new(documents, text, &masses_of(text, unit), unit);
        let rows = documents.lengths.iter().zip(own).zip(weights).take(fitted);
        let rows =
            rows.filter_map(|((length, &own), &weight)| Some(((*length)?, classes[own as usize].0, weight)));
        let lengths = LengthCounts::new(rows);
        let said_by_length = said_by(&lengths, classes, unit);
        let (layout, own, weights) = (layout_of(text), own.to_vec(), weights.to_vec());
        TextSample { column, layout, documents, lengths, said_by_length, own, weights, fitted }
    }

    /// The terms of some rows without themselves; as of new documents for rows that were not counted, whose weight is none.
    fn part(
        &self,
        documents: &Documents,
        rows: &[usize],
        weight: impl Fn(usize) -> f64 + Sync,
        threads: usize,
    ) -> Part {
        let (k, terms) = (self.layout.classes, self.layout.terms());
        let shares = documents.masses.shares();
        let blocks = in_blocks(rows.len(), threads, |block| {
            let mut sums = Sums::new(self.layout);
            let mut of_row = vec![0.0; k * terms];
            let mut values = Vec::with_capacity(block.len() * (k - 1) * terms);
            for &row in &rows[block] {
                let weight = weight(row);
                let left_out = (weight > 0.0).then_some(LeftOut { class: self.own[row] as usize, weight });
                match documents.lengths[row] {
                    None => of_row.fill(0.0),
                    Some(length) => {
                        sums.read(documents, row, &shares, left_out, None);
                        let (masses, by_length) = (&documents.masses, &self.said_by_length);
                        sums.write(masses, &shares, by_length, length, left_out, &mut of_row);
                    }
                }
                without_last(&of_row, terms, &mut values);
            }
            values
        });
        Part::new(blocks.concat(), terms, false)
    }

    /// `weights` are those of the rows, without their copies.
    pub(crate) fn without_one(&self, weights: &[f64], threads: usize) -> Part {
        let rows: Vec<usize> = (0..self.fitted).collect();
        self.part(&self.documents, &rows, |row| weights[row], threads)
    }

    /// The terms of every row without the fold of its group.
    pub(crate) fn without_groups(&self, folds: &[u32], threads: usize) -> Part {
        self.without_folds(&self.documents, folds, |_| false, threads)
    }

    /// The same where these are the documents, and some folds were not counted.
    fn without_folds(
        &self,
        documents: &Documents,
        folds: &[u32],
        is_held: impl Fn(u32) -> bool,
        threads: usize,
    ) -> Part {
        let cells = self.fitted * (self.layout.classes - 1);
        let mut all = Part::new(vec![0.0; cells * self.layout.terms()], self.layout.terms(), false);
        for fold in (0..FOLDS as u32).filter(|fold| folds[..self.fitted].contains(fold)) {
            let rows: Vec<usize> = (0..self.fitted).filter(|&row| folds[row] == fold).collect();
            let part = match is_held(fold) {
                true => self.part(documents, &rows, |_| 0.0, threads),
                false => {
                    let rest = documents.without(self.counted(|row| folds[row] == fold));
                    self.part(&rest, &rows, |_| 0.0, threads)
                }
            };
            all.put_rows(&rows, &part);
        }
        all
    }

    /// The rows that are wanted, with their classes and weights.
    fn counted(&self, is_wanted: impl Fn(usize) -> bool) -> impl Iterator<Item = (usize, u32, f64)> {
        let rows = (0..self.own.len()).filter(move |&row| is_wanted(row));
        rows.map(|row| (row, self.own[row], self.weights[row]))
    }

    pub(crate) fn terms(&self) -> usize {
        self.layout.terms()
    }

    fn coefficients(&self, weights: &[f64]) -> Vec<Coefficients> {
        let lengths = self.documents.lengths[..self.fitted].iter().map(|length| length.unwrap_or(0.0));
        let relative = lengths.map(|length| self.said_by_length.relative(length));
        relative.map(|length| Coefficients::new(self.layout, weights, length)).collect()
    }

    fn weighted<'a>(&self, documents: &'a Documents, weights: &[f64]) -> deviations::Weighted<'a> {
        deviations::Weighted {
            documents,
            shares: documents.masses.shares(),
            coefficients: self.coefficients(weights),
            at_mean: Coefficients::new(self.layout, weights, 1.0),
        }
    }

    /// The judgement, if these are the weights of the terms.
    pub(crate) fn judgement(&self, weights: Vec<f64>) -> TextJudgement {
        TextJudgement {
            column: self.column,
            lengths: self.lengths.clone(),
            weights,
            deviations: Vec::new(),
            positions: Vec::new(),
        }
    }
}

fn said_by(lengths: &LengthCounts, classes: &[(&str, f64)], unit: f64) -> Lengths {
    let total: f64 = classes.iter().map(|(_, weight)| weight).sum();
    let shares: Vec<f64> = classes.iter().map(|(_, weight)| weight / total).collect();
    lengths.lengths(classes.iter().map(|(name, _)| *name), &shares, unit)
}

/// What a column of text says of documents that were learnt, each without itself. The weights have seen them.
pub(crate) struct TextWithoutOne<'a> {
    text: &'a TextStatistics,
    judgement: &'a TextJudgement,
    lengths: Lengths,
    masses: Masses,
    unit: f64,
}

impl<'a> TextWithoutOne<'a> {
    /// From canonical statistics; `None` if they have no such text.
    pub(crate) fn new(statistics: &'a Statistics, judgement: &'a TextJudgement) -> Option<Self> {
        let (text, unit) = (text_of(statistics, judgement.column)?, statistics.unit());
        let lengths = said_by(&judgement.lengths, &statistics.classes(), unit);
        Some(TextWithoutOne { text, judgement, lengths, masses: masses_of(text, unit), unit })
    }

    /// What it adds to z of each class: of documents of a batch, all of which were learnt, as these rows.
    pub(crate) fn terms(&self, batch: &Batch, learnt: &[(usize, Removed)]) -> Vec<f64> {
        let layout = layout_of(self.text);
        let (k, terms) = (layout.classes, layout.terms());
        let documents = Documents::new(batch.text(self.judgement.column), self.text, &self.masses, self.unit);
        let (shares, weights) = (self.masses.shares(), &self.judgement.weights);
        let at_mean = Coefficients::new(layout, weights, 1.0);
        let deviation = |position: &Option<u32>| {
            let name = position.map(|position| self.text.tokens.name(position as usize)).unwrap_or_default();
            let deviations = &self.judgement.deviations;
            let found = deviations.binary_search_by(|(token, _)| token.as_str().cmp(name));
            found.map_or(0.0, |place| deviations[place].1)
        };
        let of_tokens: Vec<f64> = documents.positions.iter().map(deviation).collect();
        let deviations = DeviationsOf { of_tokens: &of_tokens, at_mean: &at_mean };
        let (mut sums, mut of_row) = (Sums::new(layout), vec![0.0; k * terms]);
        let mut z = vec![0.0; learnt.len() * k];
        for (row, z) in z.chunks_exact_mut(k).enumerate() {
            let Some(length) = documents.lengths[row] else { continue };
            let Removed { class, weight } = learnt[row].1;
            let left_out = Some(LeftOut { class, weight });
            sums.read(&documents, row, &shares, left_out, Some(deviations));
            sums.write(&self.masses, &shares, &self.lengths, length, left_out, &mut of_row);
            let root = 1.0 / self.lengths.relative(length).sqrt();
            for (class, z) in z.iter_mut().enumerate() {
                let of_class = of_row[class * terms..][..terms].iter().zip(weights);
                *z = of_class.map(|(term, weight)| term * weight).sum::<f64>() + root * sums.alone()[class];
            }
        }
        z
    }
}

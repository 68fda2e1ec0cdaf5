//! Tokens that are worth more or less than their bands.
//!
//! After the weights of all terms are fitted, up to 12,000 tokens get a deviation δ from the weight of their band:
//!
//! ```text
//! z(c) = log P(c) + s (z₁(c) − log P(c)) + o(c) + Σ δ x φ(ℓ) log(1 + n(c) / (a q(c, band)))
//! ```
//!
//! with z₁ what all terms say together, and φ the weight of the band at this length in units of that at the mean length. s and o make
//! up for what the deviations take over. They minimize the cross-entropy of rows without themselves + λ/2 Σ δ² + 5 (s − 1)² + ½ Σ o².
//! No token's weight turns negative.

use std::ops::Range;

use super::bands::{Shares, band_of};
use super::documents::Documents;
use super::terms::{Coefficients, SHRINKAGE};
use crate::judgement::blocks::in_blocks;
use crate::judgement::fit::softmax_each;
use crate::judgement::optimize::{Stop, minimize};

/// At most so many tokens deviate.
const MOST_TOKENS: usize = 12_000;

/// A token that fewer documents have does not.
const FEWEST_DOCUMENTS: f64 = 4.0;

/// No deviation is larger.
pub(crate) const LARGEST: f64 = 20.0;

/// The range of s.
const LARGEST_SLOPE: f64 = 3.0;
const TO_ONE: f64 = 10.0;

/// A band whose weight is less than this at the mean length has none to deviate from: its tokens deviate from zero, by ℓ^−½.
pub(crate) const WEAK: f64 = 1e-3;

const STEPS: usize = 60;

/// Rows that were learnt, and what the terms say of them together.
pub(crate) struct Scored<'a> {
    pub(crate) classes: usize,
    pub(crate) own: &'a [u32],
    /// How much each row counts; nothing, if it is held out.
    pub(crate) weights: &'a [f64],
    pub(crate) log_prior: &'a [f64],
    /// z₁ − log P, classes side by side.
    pub(crate) said: Vec<f64>,
    pub(crate) doubt: f64,
    /// How many rows were learnt that these stand for.
    pub(crate) learnt: f64,
    pub(crate) threads: usize,
}

/// A column of text: its documents, and the weights that were fitted to its terms.
pub(crate) struct Weighted<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) shares: Shares,
    /// The coefficients of each row, and of a document of mean length.
    pub(crate) coefficients: Vec<Coefficients>,
    pub(crate) at_mean: Coefficients,
}

impl Weighted<'_> {
    /// The weight of the band of a token, in a document of mean length.
    pub(crate) fn weight_at_mean(&self, token: u32) -> f64 {
        self.at_mean.own(self.documents.token(token).0, band_without_one(self.documents, token))
    }

    /// φ(ℓ) of a token of a band in a row.
    fn shape(&self, row: usize, order: usize, band: usize) -> f64 {
        let at_mean = self.at_mean.own(order, band);
        match at_mean > WEAK {
            true => self.coefficients[row].own(order, band) / at_mean,
            false => self.coefficients[row].root,
        }
    }
}

/// Tokens that may deviate, and what they say of each row.
pub(crate) struct Deviations<'a> {
    scored: &'a Scored<'a>,
    /// The column of each token, and its number among the tokens of the documents.
    pub(crate) tokens: Vec<(usize, u32)>,
    /// The least deviation of each.
    least: Vec<f64>,
    /// Tokens and x φ, row after row.
    entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
    /// What each token says for the classes that have it.
    cells: Vec<Said>,
    ends_of_cells: Vec<usize>,
}

/// What a token says for a class, and how much less that is for one of its own documents without the document.
#[derive(Debug, Clone, Copy)]
struct Said {
    class: u32,
    said: f64,
    lost: f64,
}

/// What was fitted.
#[derive(Debug, Clone)]
pub(crate) struct Deviating {
    /// s.
    pub(crate) slope: f64,
    /// o.
    pub(crate) offsets: Vec<f64>,
    /// δ of each token.
    pub(crate) deviations: Vec<f64>,
}

impl Deviating {
    /// Nothing deviates.
    pub(crate) fn none(tokens: usize, classes: usize) -> Self {
        Deviating { slope: 1.0, offsets: vec![0.0; classes], deviations: vec![0.0; tokens] }
    }
}

impl<'a> Deviations<'a> {
    /// The tokens that promise most. `None` if there are none.
    pub(crate) fn new(scored: &'a Scored<'a>, columns: &[Weighted<'_>]) -> Option<Self> {
        let k = scored.classes;
        let mut promising: Vec<(f64, usize, u32)> = Vec::new();
        let posteriors = scored.posteriors();
        for (column, weighted) in columns.iter().enumerate() {
            let documents = weighted.documents;
            let said: Vec<Vec<Said>> = (0..documents.tokens() as u32)
                .map(|token| said_of(documents, &weighted.shares, token))
                .collect();
            let (mut slopes, mut curvatures) = (vec![0.0; said.len()], vec![0.0; said.len()]);
            for row in (0..scored.own.len()).filter(|&row| scored.weights[row] > 0.0) {
                let (p, own, weight) = (&posteriors[row * k..][..k], scored.own[row], scored.weights[row]);
                for &(token, x) in documents.of_row(row) {
                    let of_token = &said[token as usize];
                    if of_token.is_empty() {
                        continue;
                    }
                    let (order, _) = documents.token(token);
                    let x = x * weighted.shape(row, order, band_without_one(documents, token));
                    let (mut first, mut second, mut wanted) = (0.0, 0.0, 0.0);
                    for cell in of_token {
                        let said = cell.of(own, true);
                        first += p[cell.class as usize] * said;
                        second += p[cell.class as usize] * said * said;
                        if cell.class == own {
                            wanted = said;
                        }
                    }
                    slopes[token as usize] += weight * x * (first - wanted);
                    curvatures[token as usize] += weight * x * x * (second - first * first);
                }
            }
            for (token, (slope, curvature)) in slopes.iter().zip(&curvatures).enumerate() {
                if !said[token].is_empty() && *slope != 0.0 {
                    promising.push((slope * slope / (curvature.max(0.0) + 1.0), column, token as u32));
                }
            }
        }
        // What tokens promise is the same for any order of rows but for the last bits; their names are not.
        let name = |&(_, column, token): &(f64, usize, u32)| {
            (column, columns[column].documents.positions[token as usize])
        };
        promising.sort_by(|a, b| b.0.total_cmp(&a.0).then(name(a).cmp(&name(b))));
        promising.truncate(MOST_TOKENS);
        if promising.is_empty() {
            return None;
        }
        promising.sort_by_key(name);
        Some(Deviations::of_tokens(
            scored,
            columns,
            promising.into_iter().map(|(_, column, token)| (column, token)).collect(),
        ))
    }

    fn of_tokens(scored: &'a Scored<'a>, columns: &[Weighted<'_>], tokens: Vec<(usize, u32)>) -> Self {
        const NOT_CHOSEN: u32 = u32::MAX;
        let mut numbers: Vec<Vec<u32>> =
            columns.iter().map(|weighted| vec![NOT_CHOSEN; weighted.documents.tokens()]).collect();
        let (mut least, mut cells, mut ends_of_cells) = (Vec::new(), Vec::new(), Vec::new());
        for (number, &(column, token)) in tokens.iter().enumerate() {
            let Weighted { documents, shares, .. } = &columns[column];
            numbers[column][token as usize] = number as u32;
            least.push(-columns[column].weight_at_mean(token));
            cells.extend(said_of(documents, shares, token));
            ends_of_cells.push(cells.len());
        }
        let (mut entries, mut ends) = (Vec::new(), Vec::new());
        for row in 0..scored.own.len() {
            for (numbers, weighted) in numbers.iter().zip(columns) {
                for &(token, x) in weighted.documents.of_row(row) {
                    let number = numbers[token as usize];
                    if number != NOT_CHOSEN {
                        let (order, _) = weighted.documents.token(token);
                        let band = band_without_one(weighted.documents, token);
                        entries.push((number, x * weighted.shape(row, order, band)));
                    }
                }
            }
            ends.push(entries.len());
        }
        Deviations { scored, tokens, least, entries, ends, cells, ends_of_cells }
    }

    fn of_row(&self, row: usize) -> &[(u32, f64)] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.entries[start..self.ends[row]]
    }

    #[inline]
    fn said(&self, token: u32) -> &[Said] {
        let token = token as usize;
        let start = if token == 0 { 0 } else { self.ends_of_cells[token - 1] };
        &self.cells[start..self.ends_of_cells[token]]
    }

    /// The best deviations under a penalty, from earlier ones.
    pub(crate) fn fit(&self, penalty: f64, from: Option<&Deviating>) -> Deviating {
        let (tokens, k) = (self.tokens.len(), self.scored.classes);
        let mut x = match from {
            None => [vec![1.0], vec![0.0; tokens + k]].concat(),
            Some(from) => [&[from.slope][..], &from.deviations, &from.offsets].concat(),
        };
        let mut bounds = vec![(0.0, LARGEST_SLOPE)];
        bounds.extend(self.least.iter().map(|&least| (least, LARGEST)));
        bounds.resize(x.len(), (f64::NEG_INFINITY, f64::INFINITY));
        let curvatures = self.curvatures(penalty, &x);
        let stop = Stop { steps: STEPS, slope: 1e-7, decrease: 1e-7 };
        minimize(&mut x, &bounds, &curvatures, stop, |x, gradient| {
            self.value_and_gradient(penalty, x, gradient)
        });
        let offsets = x.split_off(1 + tokens);
        Deviating { slope: x[0], offsets, deviations: x.split_off(1) }
    }

    /// The cross-entropy of rows that weigh so much each, with no deviations if there are none.
    pub(crate) fn loss(&self, deviating: &Deviating, weights: &[f64]) -> f64 {
        let x = [&[deviating.slope][..], &deviating.deviations, &deviating.offsets].concat();
        let blocks = in_blocks(self.scored.own.len(), self.scored.threads, |block| {
            let mut z = self.scores(block.clone(), &x);
            self.scored.loss_of(block, &mut z, weights)
        });
        blocks.into_iter().sum()
    }

    fn scores(&self, rows: Range<usize>, x: &[f64]) -> Vec<f64> {
        let (scored, k) = (self.scored, self.scored.classes);
        let (slope, rest) = (x[0], &x[1..]);
        let (deviations, offsets) = rest.split_at(self.tokens.len());
        let mut z = Vec::with_capacity(rows.len() * k);
        for row in rows {
            let start = z.len();
            let said = scored.log_prior[row * k..][..k].iter().zip(&scored.said[row * k..][..k]).zip(offsets);
            z.extend(said.map(|((prior, said), offset)| prior + slope * said + offset));
            let (z, own) = (&mut z[start..], scored.own[row]);
            for &(token, x) in self.of_row(row) {
                let x = x * deviations[token as usize];
                for cell in self.said(token) {
                    z[cell.class as usize] += x * cell.of(own, scored.is_counted(row));
                }
            }
        }
        z
    }

    fn value_and_gradient(&self, penalty: f64, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (scored, k, tokens) = (self.scored, self.scored.classes, self.tokens.len());
        let blocks = in_blocks(scored.own.len(), scored.threads, |block| {
            let mut z = self.scores(block.clone(), x);
            let value = scored.loss_of(block.clone(), &mut z, scored.weights);
            let mut gradient = vec![0.0; x.len()];
            for (row, p) in block.zip(z.chunks_exact_mut(k)) {
                let (own, weight) = (scored.own[row], scored.weights[row]);
                if weight == 0.0 {
                    continue;
                }
                scored.lack(p, own);
                let (first, rest) = gradient.split_at_mut(1);
                let (of_tokens, of_offsets) = rest.split_at_mut(tokens);
                let said = &scored.said[row * k..][..k];
                for ((p, said), of_offset) in p.iter().zip(said).zip(of_offsets) {
                    first[0] += weight * p * said;
                    *of_offset += weight * p;
                }
                for &(token, x) in self.of_row(row) {
                    let said = self.said(token).iter();
                    let slope: f64 =
                        said.map(|cell| p[cell.class as usize] * cell.of(own, scored.is_counted(row))).sum();
                    of_tokens[token as usize] += weight * x * slope;
                }
            }
            (value, gradient)
        });
        gradient.fill(0.0);
        let mut value = 0.0;
        for (of_block, slopes) in blocks {
            value += of_block;
            gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        }
        for (i, (&x, slope)) in x.iter().zip(gradient.iter_mut()).enumerate() {
            let (strength, from) = match i {
                0 => (TO_ONE, x - 1.0),
                _ if i <= tokens => (penalty, x),
                _ => (1.0, x),
            };
            value += 0.5 * strength * from * from;
            *slope = (*slope + strength * from) / scored.learnt;
        }
        value / scored.learnt
    }

    /// About how strongly the sum is curved along each number.
    fn curvatures(&self, penalty: f64, x: &[f64]) -> Vec<f64> {
        let (scored, k, tokens) = (self.scored, self.scored.classes, self.tokens.len());
        let blocks = in_blocks(scored.own.len(), scored.threads, |block| {
            let mut z = self.scores(block.clone(), x);
            softmax_each(&mut z, k);
            let mut curvatures = vec![0.0; x.len()];
            for (row, p) in block.zip(z.chunks_exact(k)) {
                let weight = scored.weights[row];
                let variance = |said: &mut dyn Iterator<Item = (usize, f64)>| {
                    let (mut first, mut second) = (0.0, 0.0);
                    for (class, said) in said {
                        first += p[class] * said;
                        second += p[class] * said * said;
                    }
                    weight * (second - first * first).max(0.0)
                };
                curvatures[0] += variance(&mut scored.said[row * k..][..k].iter().copied().enumerate());
                for &(token, x) in self.of_row(row) {
                    let said = self.said(token).iter();
                    let mut said = said.map(|cell| (cell.class as usize, x * cell.said));
                    curvatures[1 + token as usize] += variance(&mut said);
                }
                for (sum, p) in curvatures[1 + tokens..].iter_mut().zip(p) {
                    *sum += weight * p * (1.0 - p);
                }
            }
            curvatures
        });
        let mut curvatures = [vec![TO_ONE], vec![penalty; tokens], vec![1.0; k]].concat();
        for block in blocks {
            curvatures.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
        }
        curvatures.iter().map(|sum| sum / scored.learnt).collect()
    }
}

impl Said {
    #[inline(always)]
    fn of(&self, own: u32, is_counted: bool) -> f64 {
        if self.class == own && is_counted { self.said - self.lost } else { self.said }
    }
}

impl Scored<'_> {
    /// Rows that are held out were not counted either.
    #[inline(always)]
    fn is_counted(&self, row: usize) -> bool {
        self.weights[row] > 0.0
    }

    fn posteriors(&self) -> Vec<f64> {
        let mut z: Vec<f64> =
            self.log_prior.iter().zip(&self.said).map(|(prior, said)| prior + said).collect();
        softmax_each(&mut z, self.classes);
        z
    }

    /// The cross-entropy of some rows, whose scores become posteriors.
    fn loss_of(&self, rows: Range<usize>, z: &mut [f64], weights: &[f64]) -> f64 {
        let (k, doubt) = (self.classes, self.doubt);
        let wanted: Vec<f64> = rows
            .clone()
            .zip(z.chunks_exact(k))
            .map(|(row, z)| {
                (1.0 - doubt) * z[self.own[row] as usize] + doubt / k as f64 * z.iter().sum::<f64>()
            })
            .collect();
        let totals = softmax_each(z, k);
        rows.zip(totals.iter().zip(wanted))
            .map(|(row, (total, wanted))| weights[row] * (total - wanted))
            .sum()
    }

    /// Turns the posteriors of a row into what they lack.
    fn lack(&self, p: &mut [f64], own: u32) {
        let each = self.doubt / self.classes as f64;
        p.iter_mut().for_each(|p| *p -= each);
        p[own as usize] -= 1.0 - self.doubt;
    }
}

/// The band that a token has for a document of its own.
fn band_without_one(documents: &Documents, token: u32) -> usize {
    band_of(documents.documents_with(token) / documents.unit - 1.0)
}

/// What a token says for the classes that have it; nothing, if too few documents have it.
fn said_of(documents: &Documents, shares: &Shares, token: u32) -> Vec<Said> {
    let n = documents.documents_with(token);
    if n < FEWEST_DOCUMENTS * documents.unit {
        return Vec::new();
    }
    let (order, cells) = documents.token(token);
    let shares = shares.of_band(order, band_without_one(documents, token));
    let cells = cells.iter().filter(|cell| cell.documents > 0.0).map(|cell| {
        let per_document = 1.0 / (SHRINKAGE * documents.unit * shares[cell.class as usize]);
        let said = |documents: f64| libm::log1p(documents.max(0.0) * per_document);
        let lost = said(cell.documents) - said(cell.documents - documents.unit);
        Said { class: cell.class, said: said(cell.documents), lost }
    });
    cells.collect()
}

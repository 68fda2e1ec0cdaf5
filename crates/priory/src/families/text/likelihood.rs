//! The logarithms of a text column, ready to be added up for the tokens that a document has.

use super::estimate::TextEstimate;
use crate::batch::TextColumn;
use crate::families::text::estimate::Formula;
use crate::moments::engine::ask;
use crate::text::TextSettings;
use crate::vocabulary::Vocabulary;

/// The terms of [`super::estimate`]'s sum, for every token and class.
#[derive(Debug, Clone)]
pub(crate) struct TextLikelihood {
    settings: TextSettings,
    pub(crate) formula: Formula,
    pub(crate) tokens: Vocabulary,
    /// Where the cells of each token end.
    ends: Vec<u32>,
    /// The class of each cell; [`CERTAIN`] is set where every document of the class has the token.
    classes: Vec<u32>,
    extra: Vec<f64>,
    /// What each token adds in every class; a single entry if it is the same for all.
    default: Vec<f64>,
    /// One entry per class, likewise below.
    constant: Vec<f64>,
    base: Vec<f64>,
    scale: Vec<f64>,
    /// How many tokens a document must have to be possible.
    needed: Vec<u32>,
    /// Whether a document is impossible with a token that the class never counted.
    needs_all: Vec<bool>,
    /// Whether any of that can happen.
    can_be_impossible: bool,
}

const CERTAIN: u32 = 1 << 31;

/// A token of a document and what it adds to each class.
#[derive(Debug, Clone)]
pub(crate) struct TokenContribution {
    pub(crate) token: String,
    pub(crate) occurrences: u32,
    /// `None` if the token was never met in training.
    pub(crate) log_likelihood: Option<Vec<f64>>,
}

impl TextLikelihood {
    pub(crate) fn new(estimate: &TextEstimate<'_>) -> Self {
        let (statistics, formula) = (&*estimate.statistics, estimate.formula);
        let (tokens, classes) = (statistics.tokens.len(), estimate.classes());
        let sums: Vec<_> = (0..classes).map(|class| estimate.sums(class)).collect();
        let mut likelihood = TextLikelihood {
            settings: statistics.settings.clone(),
            formula,
            tokens: statistics.tokens.clone(),
            ends: Vec::with_capacity(tokens),
            classes: Vec::with_capacity(statistics.counts.all_cells().len()),
            extra: Vec::with_capacity(statistics.counts.all_cells().len()),
            default: Vec::new(),
            constant: sums.iter().map(|sums| formula.constant(sums)).collect(),
            base: vec![0.0; classes],
            scale: vec![1.0; classes],
            needed: vec![0; classes],
            needs_all: sums
                .iter()
                .map(|sums| formula.zero_is_impossible() && !formula.is_ignorant(sums))
                .collect(),
            can_be_impossible: false,
        };
        let by_token = formula.default_depends_on_token();
        for token in 0..tokens {
            let pooled = if by_token { estimate.pooled(token) } else { 0.0 };
            if by_token || token == 0 {
                likelihood.default.push(sums.first().map_or(0.0, |sums| formula.default(pooled, sums)));
            }
            for cell in statistics.counts.cells(token) {
                let class = cell.class as usize;
                let extra = formula.extra(formula.count(&cell), pooled, &sums[class]);
                likelihood.extra.push(extra.log);
                likelihood.classes.push(cell.class | if extra.certain { CERTAIN } else { 0 });
            }
            likelihood.ends.push(likelihood.classes.len() as u32);
        }
        if formula.family == crate::settings::Family::Bernoulli {
            for (class, sums) in sums.iter().enumerate() {
                let base = estimate.base(class, sums);
                (likelihood.base[class], likelihood.needed[class]) = (base.log, base.needed);
            }
        }
        if formula.family == crate::settings::Family::ComplementNormalized {
            likelihood.scale = match &statistics.whole {
                Some(whole) => whole.scale.clone(),
                None => likelihood.sizes(tokens).into_iter().map(inverse).collect(),
            };
        }
        likelihood.can_be_impossible =
            likelihood.needs_all.contains(&true) || likelihood.needed.iter().any(|&needed| needed > 0);
        likelihood
    }

    /// For each class, what the sum of a document is multiplied by.
    pub(crate) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// For each class Σ |log p̃| over all tokens.
    fn sizes(&self, tokens: usize) -> Vec<f64> {
        let shared: f64 = (0..tokens).map(|token| self.default(token)).sum();
        let mut sizes: Vec<f64> =
            self.constant.iter().map(|constant| constant * tokens as f64 + shared).collect();
        for (class, extra) in self.classes.iter().zip(&self.extra) {
            sizes[(class & !CERTAIN) as usize] += extra;
        }
        sizes.into_iter().map(f64::abs).collect()
    }

    #[inline]
    fn default(&self, token: usize) -> f64 {
        if self.default.len() == 1 { self.default[0] } else { self.default[token] }
    }

    /// Adds log P(document | class) of every row to its scores, and marks the rows that have a token which was met.
    /// Returns how many tokens were not.
    pub(crate) fn add_log_likelihood(
        &self,
        column: &TextColumn,
        scores: &mut [f64],
        evidence: &mut [bool],
    ) -> u64 {
        const NEVER_MET: u32 = u32::MAX;
        const NOT_ASKED: u32 = u32::MAX - 1;
        /// The logarithms of tokens lie all over the memory: they are asked for some tokens before they are needed.
        const ASKED_AHEAD: usize = 8;
        let mut ids = Vec::new();
        let mut id_of = vec![NOT_ASKED; column.tokens().len()];
        let mut id = |token: u32| {
            let id = &mut id_of[token as usize];
            if *id == NOT_ASKED {
                let name = column.tokens().name(token as usize);
                *id = self.tokens.get(name).map_or(NEVER_MET, |id| id as u32);
            }
            *id
        };
        let mut adder = Adder::new(self);
        let mut unseen = 0;
        for (row, scores) in scores.chunks_exact_mut(self.constant.len()).enumerate() {
            let Some(document) = column.document(row) else { continue };
            self.settings.amounts(document.iter().map(|&(_, count)| count), &mut adder.amounts);
            adder.start();
            ids.clear();
            ids.extend(document.iter().map(|&(token, _)| id(token)));
            for (i, &id) in ids.iter().enumerate() {
                if let Some(&later) = ids.get(i + ASKED_AHEAD).filter(|&&later| later != NEVER_MET) {
                    ask(&self.extra[self.cells(later as usize)]);
                }
                match id {
                    NEVER_MET => unseen += 1,
                    id => adder.add(id as usize, i),
                }
            }
            if adder.known > 0 {
                evidence[row] = true;
                adder.finish(scores);
            }
        }
        unseen
    }

    /// log P(document | class) of one row for each class, and whether any of its tokens was met in training.
    pub(crate) fn contribution(&self, column: &TextColumn, row: usize) -> (Vec<f64>, bool) {
        let mut scores = vec![0.0; self.constant.len()];
        let mut evidence = [false];
        let one = column.select(&[row]);
        self.add_log_likelihood(&one, &mut scores, &mut evidence);
        (scores, evidence[0])
    }

    /// The tokens of a document and what each adds, in the order of the document; and what all the others add by being
    /// absent.
    pub(crate) fn contributions(
        &self,
        column: &TextColumn,
        row: usize,
    ) -> (Vec<TokenContribution>, Vec<f64>) {
        let document = column.document(row).unwrap_or_default();
        let mut amounts = Vec::new();
        self.settings.amounts(document.iter().map(|&(_, count)| count), &mut amounts);
        let tokens = document.iter().zip(&amounts).map(|(&(token, occurrences), &amount)| {
            let name = column.tokens().name(token as usize);
            let amount = if self.formula.counts_presence() { 1.0 } else { amount };
            let log_likelihood = self.tokens.get(name).map(|id| self.of_token(id, amount));
            TokenContribution { token: name.to_owned(), occurrences, log_likelihood }
        });
        (tokens.collect(), self.base.clone())
    }

    /// What a token adds to each class: Bernoulli measures it from its absence.
    pub(crate) fn of_token(&self, id: usize, amount: f64) -> Vec<f64> {
        let mut logs: Vec<f64> = self.constant.iter().map(|constant| constant + self.default(id)).collect();
        let mut met = vec![false; logs.len()];
        for i in self.cells(id) {
            let class = (self.classes[i] & !CERTAIN) as usize;
            logs[class] += self.extra[i];
            met[class] = true;
        }
        for (class, log) in logs.iter_mut().enumerate() {
            *log = if self.needs_all[class] && !met[class] {
                f64::NEG_INFINITY
            } else {
                self.scale[class] * amount * *log
            };
        }
        logs
    }

    fn cells(&self, id: usize) -> std::ops::Range<usize> {
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        start as usize..self.ends[id] as usize
    }
}

/// What makes the weights of a class add up to one. Where every weight is zero, nothing is left to divide.
fn inverse(size: f64) -> f64 {
    if size > 0.0 { 1.0 / size } else { 0.0 }
}

/// Adds up one document after the other.
struct Adder<'a> {
    likelihood: &'a TextLikelihood,
    presence: bool,
    amounts: Vec<f64>,
    sums: Vec<f64>,
    hits: Vec<u32>,
    certain: Vec<u32>,
    known: u32,
    amount: f64,
    shared: f64,
}

impl<'a> Adder<'a> {
    fn new(likelihood: &'a TextLikelihood) -> Self {
        let classes = likelihood.constant.len();
        Adder {
            likelihood,
            presence: likelihood.formula.counts_presence(),
            amounts: Vec::new(),
            sums: vec![0.0; classes],
            hits: vec![0; classes],
            certain: vec![0; classes],
            known: 0,
            amount: 0.0,
            shared: 0.0,
        }
    }

    fn start(&mut self) {
        self.sums.fill(0.0);
        self.hits.fill(0);
        self.certain.fill(0);
        (self.known, self.amount, self.shared) = (0, 0.0, 0.0);
    }

    #[inline]
    fn add(&mut self, id: usize, i: usize) {
        let likelihood = self.likelihood;
        let amount = if self.presence { 1.0 } else { self.amounts[i] };
        self.known += 1;
        self.amount += amount;
        self.shared += amount * likelihood.default(id);
        let cells = likelihood.cells(id);
        let (classes, extra) = (&likelihood.classes[cells.clone()], &likelihood.extra[cells]);
        if likelihood.can_be_impossible {
            for (&class, extra) in classes.iter().zip(extra) {
                let index = (class & !CERTAIN) as usize;
                self.sums[index] += amount * extra;
                self.hits[index] += 1;
                self.certain[index] += u32::from(class & CERTAIN != 0);
            }
        } else if extra.len() == self.sums.len() {
            // Every class has the token: their cells stand in order.
            self.sums.iter_mut().zip(extra).for_each(|(sum, extra)| *sum += amount * extra);
        } else {
            for (&class, extra) in classes.iter().zip(extra) {
                self.sums[class as usize] += amount * extra;
            }
        }
    }

    fn finish(&self, scores: &mut [f64]) {
        let likelihood = self.likelihood;
        for (class, score) in scores.iter_mut().enumerate() {
            let sum = self.sums[class] + self.amount * likelihood.constant[class] + self.shared;
            *score += likelihood.base[class] + likelihood.scale[class] * sum;
            if likelihood.can_be_impossible
                && ((likelihood.needs_all[class] && self.hits[class] < self.known)
                    || self.certain[class] < likelihood.needed[class])
            {
                *score = f64::NEG_INFINITY;
            }
        }
    }
}

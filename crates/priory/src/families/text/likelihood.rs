//! The logarithms of a text column, ready to be added up for the tokens that a document has.

use std::sync::Arc;

use super::estimate::{Base, ClassTotals, TextEstimate};
use super::lists::{ListSums, Lists};
use super::rows::{RowSums, TokenRows};
use crate::batch::TextColumn;
use crate::families::text::estimate::Formula;
use crate::settings::TextFamily;
use crate::text::TextSettings;
use crate::vocabulary::Vocabulary;

/// The terms of [`super::estimate`]'s sum, for every token and class.
#[derive(Debug, Clone)]
pub(crate) struct TextLikelihood {
    settings: TextSettings,
    pub(crate) formula: Formula,
    pub(crate) tokens: Arc<Vocabulary>,
    /// The tokens, roughly from the most frequent on.
    by_frequency: Arc<[u32]>,
    logs: Logs,
    /// One entry per class, likewise below.
    constant: Vec<f64>,
    base: Vec<f64>,
    scale: Vec<f64>,
    /// How many tokens a document must have to be possible.
    needed: Vec<u32>,
    /// Whether a document is impossible with a token that the class never counted.
    needs_all: Vec<bool>,
}

/// `default` and `extra` of every token. Both forms give the same sums to the last bit.
#[derive(Debug, Clone)]
enum Logs {
    Rows(TokenRows),
    Lists(Lists),
}

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
        let bases: Vec<Base> = match formula.family {
            TextFamily::Bernoulli => (0..classes).map(|class| estimate.base(class, &sums[class])).collect(),
            _ => vec![Base::default(); classes],
        };
        let needs_all: Vec<bool> =
            sums.iter().map(|sums| formula.zero_is_impossible() && !formula.is_ignorant(sums)).collect();
        let can_be_impossible = needs_all.contains(&true) || bases.iter().any(|base| base.needed > 0);
        let cells = statistics.counts.all_cells().len();
        let logs = if !can_be_impossible && TokenRows::suit(tokens, classes, cells) {
            Logs::Rows(rows(estimate, &sums))
        } else {
            Logs::Lists(lists(estimate, &sums, Lists::new(tokens, cells, can_be_impossible)))
        };
        let mut likelihood = TextLikelihood {
            settings: statistics.settings.clone(),
            formula,
            tokens: Arc::clone(&statistics.tokens),
            by_frequency: statistics.counts.by_frequency().into(),
            logs,
            constant: sums.iter().map(|sums| formula.constant(sums)).collect(),
            base: bases.iter().map(|base| base.log).collect(),
            scale: vec![1.0; classes],
            needed: bases.iter().map(|base| base.needed).collect(),
            needs_all,
        };
        if formula.family == TextFamily::ComplementNormalized {
            likelihood.scale = match &statistics.precomputed {
                Some(whole) => whole.scale.clone(),
                None => likelihood.sizes(tokens).into_iter().map(inverse).collect(),
            };
            let scales = likelihood.scale.iter_mut().zip(&sums);
            scales.filter(|(_, sums)| formula.weighs_nothing(sums)).for_each(|(scale, _)| *scale = 0.0);
        }
        likelihood
    }

    /// A column without rows that starts with the tokens of the model, the most frequent of which are found fastest.
    pub(crate) fn column(&self) -> TextColumn {
        TextColumn::starting_with(&self.tokens, &self.by_frequency)
    }

    /// The factor by which the sum of a document is multiplied, for each class.
    pub(crate) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// For each class Σ |log p̃| over all tokens.
    fn sizes(&self, tokens: usize) -> Vec<f64> {
        let shared: f64 = (0..tokens).map(|token| self.default(token)).sum();
        let mut sizes: Vec<f64> =
            self.constant.iter().map(|constant| constant * tokens as f64 + shared).collect();
        for token in 0..tokens {
            self.for_each_extra(token, |class, extra| sizes[class] += extra);
        }
        sizes.into_iter().map(f64::abs).collect()
    }

    fn default(&self, token: usize) -> f64 {
        match &self.logs {
            Logs::Rows(rows) => rows.default(token),
            Logs::Lists(lists) => lists.default(token),
        }
    }

    /// Passes to `show` the classes that counted a token, and perhaps others, with its extra there.
    fn for_each_extra(&self, token: usize, mut each: impl FnMut(usize, f64)) {
        match &self.logs {
            Logs::Rows(rows) => {
                (0..self.constant.len()).for_each(|class| each(class, rows.extra(token, class)))
            }
            Logs::Lists(lists) => lists.cells(token).for_each(|(class, extra)| each(class, extra)),
        }
    }

    /// Adds log P(document | class) of every row to its scores, and marks the rows that have a token which was met.
    /// Returns how many tokens were not.
    pub(crate) fn add_log_likelihood(
        &self,
        column: &TextColumn,
        scores: &mut [f64],
        evidence: &mut [bool],
    ) -> u64 {
        self.add_and_number(column, scores, evidence).0
    }

    /// The same, and the model's number of every token that was looked up; empty if those of the column are the model's.
    pub(crate) fn add_and_number(
        &self,
        column: &TextColumn,
        scores: &mut [f64],
        evidence: &mut [bool],
    ) -> (u64, Vec<u32>) {
        /// How many documents are looked up before they are added up: few enough for their tokens to stay in the cache.
        const AT_ONCE: usize = 64;
        let mut documents = Documents::new(self, column);
        let (mut row_sums, mut list_sums) = (RowSums::default(), ListSums::new(self.constant.len()));
        let scores = scores.chunks_mut(AT_ONCE * self.constant.len());
        for (i, (scores, evidence)) in scores.zip(evidence.chunks_mut(AT_ONCE)).enumerate() {
            documents.look_up(i * AT_ONCE, evidence);
            let scores = scores.chunks_exact_mut(self.constant.len()).enumerate();
            match &self.logs {
                Logs::Rows(rows) => {
                    rows.add_up(documents.entries(), &documents.ends, &documents.amounts, &mut row_sums);
                    for (document, scores) in scores.filter(|(document, _)| documents.met[*document]) {
                        let (amount, default, extras) = rows.sums_of(&mut row_sums, document);
                        self.finish(amount, default, extras, scores);
                    }
                }
                Logs::Lists(lists) => {
                    for (document, scores) in scores.filter(|(document, _)| documents.met[*document]) {
                        documents.add_up(document, lists, &mut list_sums);
                        self.finish(list_sums.amount, list_sums.default, &list_sums.extra, scores);
                        self.rule_out(&list_sums, scores);
                    }
                }
            }
        }
        (documents.unseen, documents.number_of)
    }

    /// Adds the log-likelihoods that follow from the sums of a document to its scores.
    fn finish(&self, amount: f64, default: f64, extras: &[f64], scores: &mut [f64]) {
        let of_classes = self.constant.iter().zip(&self.base).zip(&self.scale);
        for ((score, extra), ((constant, base), scale)) in scores.iter_mut().zip(extras).zip(of_classes) {
            *score += base + scale * (extra + amount * constant + default);
        }
    }

    /// Rules out the classes in which a document is impossible.
    fn rule_out(&self, sums: &ListSums, scores: &mut [f64]) {
        for (class, score) in scores.iter_mut().enumerate() {
            if (self.needs_all[class] && sums.hits[class] < sums.known)
                || sums.certain[class] < self.needed[class]
            {
                *score = f64::NEG_INFINITY;
            }
        }
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
        self.settings.push_amounts(document, &mut amounts);
        let tokens = document.iter().zip(&amounts).map(|(&(token, occurrences), &amount)| {
            let name = column.tokens().name(token as usize);
            let amount = if self.formula.counts_presence() { 1.0 } else { amount };
            let log_likelihood = self.tokens.get(name).map(|id| self.of_token(id, amount));
            TokenContribution { token: name.to_owned(), occurrences, log_likelihood }
        });
        (tokens.collect(), self.base.clone())
    }

    /// What all tokens add to each class by being absent: zero but for Bernoulli.
    pub(crate) fn all_absent(&self) -> &[f64] {
        &self.base
    }

    /// What a token adds to each class: Bernoulli measures it from its absence.
    pub(crate) fn of_token(&self, id: usize, amount: f64) -> Vec<f64> {
        let mut logs: Vec<f64> = self.constant.iter().map(|constant| constant + self.default(id)).collect();
        let mut met = vec![false; logs.len()];
        self.for_each_extra(id, |class, extra| {
            logs[class] += extra;
            met[class] = true;
        });
        for (class, log) in logs.iter_mut().enumerate() {
            *log = if self.needs_all[class] && !met[class] {
                f64::NEG_INFINITY
            } else {
                self.scale[class] * amount * *log
            };
        }
        logs
    }
}

/// The logarithms of every token as rows.
fn rows(estimate: &TextEstimate<'_>, sums: &[ClassTotals]) -> TokenRows {
    let tokens = estimate.statistics.tokens.len();
    let mut rows = TokenRows::with_room(tokens, sums.len());
    let logs = estimate.count_logs();
    for token in 0..tokens {
        let (pooled, default) = estimate.default(token, &logs);
        rows.push(default);
        estimate.for_each_extra(token, (pooled, default), sums, &logs, |class, extra| {
            rows.set_extra(class, extra.log);
        });
    }
    rows.end();
    rows
}

/// The logarithms of every token, added to lists that are empty.
fn lists(estimate: &TextEstimate<'_>, sums: &[ClassTotals], mut lists: Lists) -> Lists {
    let logs = estimate.count_logs();
    for token in 0..estimate.statistics.tokens.len() {
        let (pooled, default) = estimate.default(token, &logs);
        if token == 0 || estimate.formula.default_depends_on_token() {
            lists.push_default(default);
        }
        estimate
            .for_each_extra(token, (pooled, default), sums, &logs, |class, extra| lists.push(class, extra));
        lists.end_token();
    }
    lists
}

/// The factor that makes the weights of a class add up to one; zero if all weights are zero.
pub(super) fn inverse(size: f64) -> f64 {
    if size > 0.0 { 1.0 / size } else { 0.0 }
}

/// Some documents of a column, by the numbers that the model gives their tokens.
struct Documents<'a> {
    likelihood: &'a TextLikelihood,
    column: &'a TextColumn,
    /// The entries of the column, document after document, if its first tokens are those of the model.
    same: Option<&'a [(u32, u32)]>,
    /// Otherwise a copy with the numbers of the model. Tokens that were never met have a number that no token of the
    /// model has.
    renumbered: Vec<(u32, u32)>,
    /// The model's number of each token of the column, as far as it was looked up.
    number_of: Vec<u32>,
    /// Where each document ends.
    ends: Vec<usize>,
    /// What each token counts; empty if all count 1.
    amounts: Vec<f64>,
    /// Whether a document has any token that was met.
    met: Vec<bool>,
    /// How many tokens of all documents so far were not.
    unseen: u64,
}

const NOT_ASKED: u32 = u32::MAX;

impl<'a> Documents<'a> {
    fn new(likelihood: &'a TextLikelihood, column: &'a TextColumn) -> Self {
        let same = column.starts_with(&likelihood.tokens).then_some(&[][..]);
        Documents {
            likelihood,
            column,
            same,
            renumbered: Vec::new(),
            number_of: if same.is_some() { Vec::new() } else { vec![NOT_ASKED; column.tokens().len()] },
            ends: Vec::new(),
            amounts: Vec::new(),
            met: Vec::new(),
            unseen: 0,
        }
    }

    /// Looks up the documents from this row on, and marks those that have a token which was met.
    fn look_up(&mut self, first: usize, evidence: &mut [bool]) {
        self.ends.clear();
        self.amounts.clear();
        self.met.clear();
        self.renumbered.clear();
        if let Some(entries) = &mut self.same {
            *entries = self.column.entries(first..first + evidence.len());
        }
        let mut end = 0;
        for (row, evidence) in (first..).zip(evidence) {
            let document = self.column.document(row).unwrap_or_default();
            if self.same.is_none() {
                self.renumber(document);
            }
            let start = end;
            end += document.len();
            // Several are counted at once.
            let (entries, tokens) = (&self.entries()[start..end], self.likelihood.tokens.len() as u32);
            let unknown: u32 = entries.iter().map(|&(token, _)| u32::from(token >= tokens)).sum();
            self.unseen += u64::from(unknown);
            let met = (unknown as usize) < document.len();
            self.met.push(met);
            *evidence |= met;
            self.ends.push(end);
            if !self.likelihood.formula.counts_presence() {
                self.likelihood.settings.push_amounts(document, &mut self.amounts);
            }
        }
    }

    /// The tokens of the documents that were looked up, and how often each occurs.
    fn entries(&self) -> &[(u32, u32)] {
        self.same.unwrap_or(&self.renumbered)
    }

    /// Appends a document by the numbers of the model.
    fn renumber(&mut self, document: &[(u32, u32)]) {
        let tokens = &self.likelihood.tokens;
        self.renumbered.extend(document.iter().map(|&(token, occurrences)| {
            let number = &mut self.number_of[token as usize];
            if *number == NOT_ASKED {
                let name = self.column.tokens().name(token as usize);
                *number = tokens.get(name).unwrap_or(tokens.len()) as u32;
            }
            (*number, occurrences)
        }));
    }

    /// Adds up one of the documents.
    fn add_up(&self, document: usize, lists: &Lists, sums: &mut ListSums) {
        /// Lists are needed in random order, so each is prefetched several tokens ahead.
        const AHEAD: usize = 8;
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        let entries = self.entries();
        sums.start();
        for i in start..self.ends[document] {
            if let Some(&(later, _)) = entries.get(i + AHEAD) {
                lists.ask(later);
            }
            sums.add(lists, entries[i].0, self.amounts.get(i).copied().unwrap_or(1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Batch;
    use crate::families::CountedRow;
    use crate::families::text::TextStatistics;
    use crate::settings::{Settings, Smoothing};

    /// Documents of words that are the more frequent the less their number, in some classes; the same every time.
    fn documents(count: usize) -> TextColumn {
        let mut column = TextColumn::default();
        let mut state = 1_u64;
        for _ in 0..count {
            for _ in 0..30 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                column.add(&format!("word{}", (state >> 30) % (1 << (state >> 60))));
            }
            column.end_document();
        }
        column
    }

    #[test]
    fn rows_and_lists_give_the_same_bits() {
        let column = documents(200);
        for (family, classes) in [
            TextFamily::Multinomial,
            TextFamily::ComplementPresence,
            TextFamily::ComplementNormalized,
            TextFamily::Bernoulli,
        ]
        .into_iter()
        .flat_map(|family| [1, 2, 6, 7, 20].map(|classes| (family, classes)))
        {
            let mut statistics = TextStatistics::empty(&TextSettings::default());
            let counted: Vec<_> =
                (0..150).map(|row| CountedRow { row, class: row % classes as u32 }).collect();
            statistics.observe(&column, &counted, &Batch::default(), classes);
            let statistics = statistics.canonical(&(0..classes).collect::<Vec<_>>());
            let mut settings = Settings::default();
            (settings.text.model, settings.text.smoothing) = (Some(family), Smoothing::Lidstone(0.3));
            let estimate = TextEstimate::new(&statistics, &settings, "text").unwrap();
            let sums: Vec<_> = (0..classes).map(|class| estimate.sums(class)).collect();
            let bits = |logs| {
                let likelihood = TextLikelihood { logs, ..TextLikelihood::new(&estimate) };
                let (mut scores, mut evidence) = (vec![-1.5; 200 * classes], vec![false; 200]);
                let unseen = likelihood.add_log_likelihood(&column, &mut scores, &mut evidence);
                let sizes = likelihood.sizes(statistics.tokens.len());
                (scores.into_iter().chain(sizes).map(f64::to_bits).collect::<Vec<_>>(), evidence, unseen)
            };
            let as_rows = bits(Logs::Rows(rows(&estimate, &sums)));
            assert_eq!(as_rows, bits(Logs::Lists(lists(&estimate, &sums, Lists::new(0, 0, false)))));
            assert!(as_rows.2 > 0, "some tokens of the last documents were never met");
        }
    }
}

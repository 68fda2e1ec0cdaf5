//! log P(document | class), as if a training row that holds the document had not been there.
//!
//! The terms are those of [`estimate`](super::estimate). Without the document, its own class counts fewer of the
//! document's tokens, and tokens that no other document has are unknown. As in scoring, the cost is the number of cells
//! of the document's tokens. Whatever depends on all tokens is a sum over them, in which only the terms of the
//! document's tokens are replaced.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::estimate::{Amounts, Base, ClassTotals, TextEstimate, ln_counted};
use super::likelihood::inverse;
use crate::batch::TextColumn;
use crate::estimate::CountLogs;
use crate::exact::ExactSum;
use crate::families::Removed;
use crate::settings::TextFamily;

/// What is needed to leave documents out.
pub(crate) struct WithoutOne {
    logs: CountLogs,
    sums: Vec<ClassTotals>,
    constants: Vec<f64>,
    /// The weight of the documents that have each token; not a number if an f64 cannot hold it.
    documents: Vec<f64>,
    /// What all classes count of each token, if that matters.
    pooled: Vec<f64>,
    /// Bernoulli: log P(absent | class) of a token that the class never counted.
    zero_absent: Vec<f64>,
    /// Bernoulli: what all tokens absent come to in a class, by what it and all classes count.
    bases: Mutex<BTreeMap<(usize, u64, u64), Base>>,
    /// Normalized complement: the sums of default and extra over all tokens.
    defaults: f64,
    extras: Vec<f64>,
}

/// A token of the document that is left out.
struct Token {
    id: usize,
    /// What it counts in the document.
    amount: f64,
    /// What that has added to the counts.
    taken: f64,
    /// Whether enough other documents have it.
    stays: bool,
}

/// The document that is left out, and what remains without it.
struct LeftOut<'e> {
    estimate: &'e TextEstimate<'e>,
    ready: &'e WithoutOne,
    removed: Removed,
    tokens: Vec<Token>,
    sums: Vec<ClassTotals>,
}

const NOT_ASKED: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;

impl WithoutOne {
    fn new(estimate: &TextEstimate<'_>) -> Self {
        let sums: Vec<ClassTotals> = (0..estimate.classes()).map(|class| estimate.sums(class)).collect();
        let logs = estimate.count_logs();
        let (mut defaults, mut extras) = (0.0, vec![0.0; sums.len()]);
        if estimate.formula.family == TextFamily::ComplementNormalized {
            for token in 0..estimate.statistics.tokens.len() {
                let (pooled, default) = estimate.default(token, &logs);
                defaults += default;
                estimate.for_each_extra(token, (pooled, default), &sums, &logs, |class, extra| {
                    extras[class] += extra.log;
                });
            }
        }
        let (formula, tokens) = (estimate.formula, 0..estimate.statistics.tokens.len());
        let constants = sums.iter().map(|sums| formula.constant(sums)).collect();
        let documents = |token| {
            let all = estimate.statistics.counts.documents_without(token, 0.0);
            let rest = estimate.statistics.counts.documents_without(token, all);
            if rest == 0.0 { all } else { f64::NAN }
        };
        let pooled = tokens.clone().filter(|_| formula.default_depends_on_token());
        let zero_absent = sums.iter().filter(|_| formula.family == TextFamily::Bernoulli);
        WithoutOne {
            documents: tokens.map(documents).collect(),
            pooled: pooled.map(|token| estimate.pooled(token)).collect(),
            zero_absent: zero_absent.map(|sums| formula.absent(0.0, 0.0, sums)).collect(),
            logs,
            sums,
            constants,
            bases: Mutex::default(),
            defaults,
            extras,
        }
    }
}

impl TextEstimate<'_> {
    /// Whether enough other documents have a token.
    fn stays(&self, ready: &WithoutOne, token: usize, weight: f64) -> bool {
        let counts = &self.statistics.counts;
        let rest = match weight == 1.0 && counts.is_plain() && ready.documents[token].fract() == 0.0 {
            true => ready.documents[token] - 1.0,
            false => counts.documents_without(token, weight),
        };
        rest > 0.0 && rest >= self.min_documents
    }

    /// Replaces the log-likelihoods of training rows by those that they would have without themselves, and marks those that
    /// have a token which other documents have as well.
    pub(crate) fn leave_out(
        &self,
        column: &TextColumn,
        learnt: &[(usize, Removed)],
        ln: &mut [f64],
        evidence: &mut [bool],
    ) {
        let ready = self.without_one.get_or_init(|| WithoutOne::new(self));
        let mut id_of = vec![NOT_ASKED; column.tokens().len()];
        let mut amounts = Vec::new();
        let (mut tokens, mut sums) = (Vec::new(), Vec::new());
        for &(row, removed) in learnt {
            let Some(document) = column.document(row) else { continue };
            amounts.clear();
            self.statistics.settings.push_amounts(document, &mut amounts);
            tokens.clear();
            for (&(token, _), &amount) in document.iter().zip(&amounts) {
                let id = &mut id_of[token as usize];
                if *id == NOT_ASKED {
                    let found = self.statistics.tokens.get(column.tokens().name(token as usize));
                    *id = found.map_or(UNKNOWN, |id| id as u32);
                }
                if *id != UNKNOWN {
                    let (id, amount) =
                        (*id as usize, if self.formula.counts_presence() { 1.0 } else { amount });
                    let stays = self.stays(ready, id, removed.weight);
                    tokens.push(Token { id, amount, taken: removed.weight * amount, stays });
                }
            }
            let mut left_out = LeftOut { estimate: self, ready, removed, tokens, sums };
            left_out.sum_up();
            let ln = &mut ln[row * ready.sums.len()..][..ready.sums.len()];
            evidence[row] = left_out.tokens.iter().any(|token| token.stays);
            if !evidence[row] {
                ln.fill(0.0);
            } else if left_out.others_stay(ln) {
                left_out.correct(ln);
            } else {
                ln.fill(0.0);
                left_out.write(ln);
            }
            (tokens, sums) = (left_out.tokens, left_out.sums);
        }
    }
}

impl LeftOut<'_> {
    /// What classes count altogether without the document.
    fn sum_up(&mut self) {
        let (estimate, removed) = (self.estimate, self.removed);
        let (formula, statistics) = (estimate.formula, &estimate.statistics);
        let vanished = self.tokens.iter().filter(|token| !token.stays);
        let tokens = estimate.tokens - vanished.clone().count() as f64;
        self.sums.clear();
        self.sums.extend(self.ready.sums.iter().map(|sums| ClassTotals { tokens, ..*sums }));
        if formula.family != TextFamily::Bernoulli && self.is_whole() {
            let kept = self.tokens.iter().filter(|token| token.stays).map(|token| token.taken);
            self.sums[removed.class].total -= kept.sum::<f64>();
            for token in vanished {
                statistics.counts.for_each_cell(token.id, |class, documents, terms| {
                    self.sums[class].total -= formula.count(documents, terms);
                });
            }
        } else {
            for (class, total) in self.exact_totals() {
                self.sums[class].total = total.value().max(0.0);
            }
        }
        let pooled = self.sums.iter().map(|sums| sums.total).sum();
        self.sums.iter_mut().for_each(|sums| sums.pooled = pooled);
    }

    /// Whether all that changes adds up without rounding: counts and totals are those of cells alone, and the
    /// row weighs one.
    fn is_whole(&self) -> bool {
        let statistics = &self.estimate.statistics;
        self.removed.weight == 1.0 && statistics.counts.is_plain() && statistics.totals.is_plain()
    }

    /// The totals of the classes that have lost something.
    fn exact_totals(&self) -> BTreeMap<usize, ExactSum> {
        let (formula, statistics) = (self.estimate.formula, &self.estimate.statistics);
        let total = |class: usize| statistics.totals.exact(formula.total_row(), class);
        let mut own = total(self.removed.class);
        if formula.family == TextFamily::Bernoulli {
            own.add(-self.removed.weight);
            return BTreeMap::from([(self.removed.class, own)]);
        }
        self.tokens.iter().filter(|token| token.stays).for_each(|token| own.add(-token.taken));
        let mut totals = BTreeMap::from([(self.removed.class, own)]);
        for token in self.tokens.iter().filter(|token| !token.stays) {
            // A class that has nothing else is left with exactly zero, not with a rounding error.
            for cell in statistics.counts.cells(token.id) {
                let class = cell.class as usize;
                totals
                    .entry(class)
                    .or_insert_with(|| total(class))
                    .subtract(&self.exact_count(token.id, class));
            }
        }
        totals
    }

    /// Whether other classes lose nothing but the tokens that nobody else has, so that what they say follows from what they
    /// say of the whole document. No class calls anything impossible.
    fn others_stay(&self, counted: &[f64]) -> bool {
        let formula = self.estimate.formula;
        let nothing_is_certain = match formula.amounts {
            Amounts::Pair { absent, .. } => absent > 0.0,
            Amounts::Each(_) | Amounts::Background(_) => true,
        };
        !formula.default_depends_on_token()
            && !formula.zero_is_impossible()
            && nothing_is_certain
            && self.estimate.min_documents <= 0.0
            && self.is_whole()
            && counted.iter().all(|score| score.is_finite())
    }

    /// Corrects log P(document | class) of the whole document, where [`others_stay`](Self::others_stay).
    fn correct(&self, scores: &mut [f64]) {
        let (formula, ready, own) = (self.estimate.formula, self.ready, self.removed.class);
        let ln_own = |n| ready.logs.ln_own(n);
        let default = formula.default(0.0, &self.sums[own], ln_own);
        let amounts = |stays: bool| -> f64 {
            self.tokens.iter().filter(|token| token.stays == stays).map(|token| token.amount).sum()
        };
        let (kept, gone) = (amounts(true), amounts(false));
        let vanished = self.ready.sums[own].tokens - self.sums[own].tokens;
        let bernoulli = formula.family == TextFamily::Bernoulli;
        for (class, score) in scores.iter_mut().enumerate().filter(|(class, _)| *class != own) {
            let before = ready.constants[class];
            let absent = if bernoulli { vanished * ready.zero_absent[class] } else { 0.0 };
            *score += kept * (self.constant(class) - before) - gone * (before + default) - absent;
        }
        let mut score = kept * self.constant(own);
        let zero = if bernoulli { formula.absent(0.0, 0.0, &self.sums[own]) } else { 0.0 };
        let mut base = if bernoulli { self.base(own).log } else { 0.0 };
        for token in &self.tokens {
            let [documents, terms] = self.estimate.statistics.counts.counts_in(token.id, own);
            let before = formula.count(documents, terms);
            let now = before - token.taken;
            if bernoulli {
                let absent =
                    |count| if count > 0.0 { formula.absent(count, 0.0, &self.sums[own]) } else { zero };
                // A token in more documents than remain is not part of the base.
                base -= if before <= self.sums[own].total { absent(before) } else { 0.0 };
                base += if token.stays { absent(now) } else { 0.0 };
            }
            if token.stays {
                let log = match now > 0.0 {
                    true if bernoulli => {
                        default + formula.extra(now, 0.0, default, &self.sums[own], ln_own).log
                    }
                    true => ln_own(now),
                    false => default,
                };
                score += token.amount * log;
            }
        }
        scores[own] = score + base;
    }

    /// Adds log P(document | class) to `scores`, which are zero. At least one token must remain.
    fn write(&self, scores: &mut [f64]) {
        let (formula, ready) = (self.estimate.formula, self.ready);
        let depends_on_token = formula.default_depends_on_token();
        let ln_own = |n| ready.logs.ln_own(n);
        let (mut amount, mut of_defaults) = (0.0, 0.0);
        let mut met = vec![Met::default(); scores.len()];
        for token in self.tokens.iter().filter(|token| token.stays) {
            let pooled = if depends_on_token { self.pooled(token) } else { 0.0 };
            let default = formula.default(pooled, &self.sums[self.removed.class], ln_own);
            amount += token.amount;
            of_defaults += token.amount * default;
            let plain = formula.extra_is_plain();
            self.for_each_count(token, |class, _, count| {
                if count > 0.0 && plain {
                    let log = ln_counted(formula.is_complement(), count, pooled, ln_own) - default;
                    scores[class] += token.amount * log;
                    met[class].tokens += 1;
                } else if count > 0.0 {
                    let extra = formula.extra(count, pooled, default, &self.sums[class], ln_own);
                    scores[class] += token.amount * extra.log;
                    met[class].tokens += 1;
                    met[class].certain += u32::from(extra.certain);
                }
            });
        }
        let kept = self.tokens.iter().filter(|token| token.stays).count();
        let constants: Vec<f64> = (0..scores.len()).map(|class| self.constant(class)).collect();
        for (class, score) in scores.iter_mut().enumerate() {
            *score += amount * constants[class] + of_defaults;
            let needs_all = formula.zero_is_impossible() && !formula.is_ignorant(&self.sums[class]);
            if needs_all && met[class].tokens < kept {
                *score = f64::NEG_INFINITY;
            }
        }
        match formula.family {
            TextFamily::Bernoulli => self.add_absent(scores, &met),
            TextFamily::ComplementNormalized => self.normalize(scores, &constants),
            _ => {}
        }
    }

    /// What every token adds in a class; most classes have lost nothing, and then it is known.
    fn constant(&self, class: usize) -> f64 {
        let (before, now) = (&self.ready.sums[class], &self.sums[class]);
        let same = (before.total, before.pooled, before.tokens) == (now.total, now.pooled, now.tokens)
            || !self.estimate.formula.default_depends_on_token()
                && (before.total, before.tokens) == (now.total, now.tokens);
        if same { self.ready.constants[class] } else { self.estimate.formula.constant(now) }
    }

    /// Shows the classes that count a token, what they count, and what without the document.
    #[inline]
    fn for_each_count(&self, token: &Token, mut each: impl FnMut(usize, f64, f64)) {
        let (estimate, own) = (self.estimate, self.removed.class);
        let is_plain = estimate.statistics.counts.is_plain();
        estimate.statistics.counts.for_each_cell(token.id, |class, documents, terms| {
            let before = estimate.formula.count(documents, terms);
            let now = match class == own {
                true if is_plain => before - token.taken,
                true => {
                    // Rounded once, as if the document had never been there.
                    let mut count = self.exact_count(token.id, class);
                    count.add(-token.taken);
                    count.value()
                }
                false => before,
            };
            each(class, before, now);
        });
    }

    fn exact_count(&self, token: usize, class: usize) -> ExactSum {
        let [documents, terms] = self.estimate.statistics.counts.exact(token, class);
        if self.estimate.formula.counts_presence() { documents } else { terms }
    }

    /// What all classes count of a token without the document.
    fn pooled(&self, token: &Token) -> f64 {
        if self.is_whole() && self.ready.documents[token.id].fract() == 0.0 {
            return self.ready.pooled[token.id] - token.taken;
        }
        let mut pooled = 0.0;
        self.for_each_count(token, |_, _, now| pooled += now);
        pooled
    }

    /// Bernoulli: adds all tokens absent. Those of the document that stay have lost it, the others are gone.
    fn add_absent(&self, scores: &mut [f64], met: &[Met]) {
        let background = matches!(self.estimate.formula.amounts, Amounts::Background(_));
        let mut bases: Vec<Base> = (0..scores.len()).map(|class| self.base(class)).collect();
        for token in &self.tokens {
            let (before_in_all, now_in_all) = match background {
                true => (self.ready.pooled[token.id], self.pooled(token)),
                false => (0.0, 0.0),
            };
            let mut replace = |class: usize, before: f64, now: f64| {
                let (base, sums) = (&mut bases[class], &self.sums[class]);
                let absent = |count, pooled| self.estimate.formula.absent(count, pooled, sums);
                // A token in more documents than remain is not part of the base.
                if before <= sums.total {
                    *base = base.without(absent(before, before_in_all));
                }
                if token.stays {
                    *base = base.with(absent(now, now_in_all));
                }
            };
            if token.stays && !background {
                self.for_each_count(token, |class, before, now| {
                    if before != now {
                        replace(class, before, now);
                    }
                });
                continue;
            }
            let mut counts = vec![(0.0, 0.0); scores.len()];
            self.for_each_count(token, |class, before, now| counts[class] = (before, now));
            counts.iter().enumerate().for_each(|(class, &(before, now))| replace(class, before, now));
        }
        for ((score, base), met) in scores.iter_mut().zip(bases).zip(met) {
            *score += base.log;
            if met.certain < base.needed {
                *score = f64::NEG_INFINITY;
            }
        }
    }

    /// All tokens absent in a class that has lost a document, but with all counts of tokens as they were.
    fn base(&self, class: usize) -> Base {
        let sums = &self.sums[class];
        // Only a background makes it matter what other classes count.
        let pooled = match self.estimate.formula.amounts {
            Amounts::Background(_) => sums.pooled,
            _ => 0.0,
        };
        let key = (class, sums.total.to_bits(), pooled.to_bits());
        let mut bases = self.ready.bases.lock().unwrap_or_else(PoisonError::into_inner);
        *bases.entry(key).or_insert_with(|| self.estimate.base(class, sums))
    }

    /// Normalized complement: divides by the size of all weights of a class.
    fn normalize(&self, scores: &mut [f64], constants: &[f64]) {
        let (estimate, ready) = (self.estimate, self.ready);
        let (formula, ln_own) = (estimate.formula, |n| ready.logs.ln_own(n));
        let mut defaults = ready.defaults;
        let mut extras = ready.extras.clone();
        for token in &self.tokens {
            let pooled_before = ready.pooled[token.id];
            let default_before = formula.default(pooled_before, &self.sums[self.removed.class], ln_own);
            let pooled = self.pooled(token);
            let default = formula.default(pooled, &self.sums[self.removed.class], ln_own);
            defaults += if token.stays { default } else { 0.0 } - default_before;
            self.for_each_count(token, |class, before, now| {
                extras[class] -= ln_counted(true, before, pooled_before, ln_own) - default_before;
                if token.stays && now > 0.0 {
                    extras[class] += ln_counted(true, now, pooled, ln_own) - default;
                }
            });
        }
        for (class, score) in scores.iter_mut().enumerate() {
            let sums = &self.sums[class];
            let size = (constants[class] * sums.tokens + defaults + extras[class]).abs();
            *score *= if formula.weighs_nothing(sums) { 0.0 } else { inverse(size) };
        }
    }
}

/// How many tokens of a document a class has met, and how many of them it has in every document.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    tokens: usize,
    certain: u32,
}

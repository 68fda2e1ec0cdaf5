//! log P(document | class), as if a training row that holds the document had not been there.
//!
//! The terms are those of [`estimate`](super::estimate). Without the document, its own class counts fewer of the
//! document's tokens, and tokens that no other document has are unknown. As in scoring, the cost is the number of cells
//! of the document's tokens. Whatever depends on all tokens is a sum over them, in which only the terms of the
//! document's tokens are replaced.
//!
//! Nearly always all counts are whole numbers, the row weighs one, and no class calls anything impossible. Then
//! [`correct`](TextEstimate::correct) and [`Complements`] take a short way.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::estimate::{Amounts, Base, ClassTotals, TextEstimate, ln_counted};
use super::likelihood::inverse;
use crate::batch::TextColumn;
use crate::estimate::CountLogs;
use crate::exact::ExactSum;
use crate::families::Removed;
use crate::moments::engine::vectorized;
use crate::numerics::ln;
use crate::settings::TextFamily;

/// What is needed to leave documents out.
pub(crate) struct WithoutOne {
    logs: CountLogs,
    /// Bernoulli: logarithms of the documents that do not have a token, and their pseudocount.
    absent_logs: CountLogs,
    sums: Vec<ClassTotals>,
    constants: Vec<f64>,
    /// Whether counts and totals are those of cells alone, so that one can be taken away without rounding.
    is_plain: bool,
    /// Whether no class calls anything impossible, and a token is known if any other document has it.
    is_simple: bool,
    /// The weight of the documents that have each token; not a number if it is no whole number that an f64 can hold.
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
            if rest == 0.0 && all.fract() == 0.0 { all } else { f64::NAN }
        };
        let pooled = tokens.clone().filter(|_| formula.default_depends_on_token());
        let bernoulli = formula.family == TextFamily::Bernoulli;
        let zero_absent = sums.iter().filter(|_| bernoulli);
        let most = if bernoulli { estimate.totals.iter().copied().fold(0.0, f64::max) } else { 0.0 };
        let statistics = &estimate.statistics;
        WithoutOne {
            is_simple: formula.nothing_is_impossible() && estimate.min_documents <= 0.0,
            absent_logs: formula.absent_logs(most),
            is_plain: statistics.counts.is_plain() && statistics.totals.is_plain(),
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
        let whole = ready.documents[token];
        let rest = match weight == 1.0 && ready.is_plain && !whole.is_nan() {
            true => whole - 1.0,
            false => self.statistics.counts.documents_without(token, weight),
        };
        rest > 0.0 && rest >= self.min_documents
    }

    /// Replaces the log-likelihoods of training rows by those that they would have without themselves, and marks those that
    /// have a token which other documents have as well. `number_of` gives the number of each token of the column here; if it
    /// is empty they are the same.
    pub(crate) fn leave_out(
        &self,
        column: &TextColumn,
        number_of: &[u32],
        learnt: &[(usize, Removed)],
        ln: &mut [f64],
        evidence: &mut [bool],
    ) {
        let ready = self.without_one.get_or_init(|| WithoutOne::new(self));
        let (mut amounts, mut document) = (Vec::new(), Vec::new());
        let mut complements = Complements::new(self, ready);
        for &(row, removed) in learnt {
            let Some(entries) = column.document(row) else { continue };
            amounts.clear();
            match self.formula.counts_presence() {
                true => amounts.resize(entries.len(), 1.0),
                false => self.statistics.settings.push_amounts(entries, &mut amounts),
            }
            let ids = entries.iter().map(|&(token, _)| match number_of.is_empty() {
                true => token as usize,
                false => number_of[token as usize] as usize,
            });
            document.clear();
            document.extend(ids.zip(amounts.iter().copied()));
            document.retain(|&(id, _)| id < self.statistics.tokens.len());
            let scores = &mut ln[row * ready.sums.len()..][..ready.sums.len()];
            let is_simple = removed.weight == 1.0 && ready.is_plain && ready.is_simple;
            evidence[row] = match &mut complements {
                Some(complements) if is_simple && Complements::suit(&document) => {
                    complements.write(&document, removed.class, scores)
                }
                None if is_simple && !self.formula.default_depends_on_token() => {
                    self.correct(ready, &document, removed.class, scores)
                }
                _ => LeftOut::new(self, ready, removed, &document).write(scores),
            };
        }
    }

    /// Corrects log P(document | class) of the whole document, where only its own class has lost anything but the tokens that
    /// nobody else has. Returns whether any token is left.
    fn correct(&self, ready: &WithoutOne, document: &[(usize, f64)], own: usize, scores: &mut [f64]) -> bool {
        let (formula, counts) = (self.formula, &self.statistics.counts);
        let bernoulli = formula.family == TextFamily::Bernoulli;
        // Bernoulli: a token of the document no longer adds to the base what its absence did, unless it was in more
        // documents than remain and not part of it. If it stays, what it adds by being absent now cancels out.
        let total = ready.sums[own].total - 1.0;
        let ln_all = if bernoulli { formula.ln_all(total) } else { 0.0 };
        let ln_absent = |count| if count <= total { ready.absent_logs.ln_own(total - count) } else { ln_all };
        let (mut kept, mut gone, mut vanished, mut score) = (0.0, 0.0, 0.0, 0.0);
        for &(id, amount) in document {
            let [documents, terms] = counts.counts_in(id, own);
            let count = formula.count(documents, terms);
            if count > amount || self.stays(ready, id, 1.0) {
                kept += amount;
                score += amount * ready.logs.ln_own(count - amount);
            } else {
                gone += amount;
                vanished += 1.0;
                score += ln_all;
            }
            if bernoulli {
                score -= ln_absent(count);
            }
        }
        if kept == 0.0 {
            scores.fill(0.0);
            return false;
        }
        let left = |class: usize| {
            let sums = ready.sums[class];
            let total = if class == own { sums.total - kept - gone } else { sums.total };
            formula.constant(&ClassTotals { total, tokens: sums.tokens - vanished, ..sums })
        };
        score += if bernoulli {
            self.base_without(ready, own, &ClassTotals { total, ..ready.sums[own] }).log
        } else {
            kept * left(own)
        };
        if vanished > 0.0 {
            let default = ready.logs.ln_own(0.0);
            for (class, score) in scores.iter_mut().enumerate().filter(|(class, _)| *class != own) {
                let before = ready.constants[class];
                *score -= gone * (before + default);
                *score += match bernoulli {
                    true => -vanished * ready.zero_absent[class],
                    false => kept * (left(class) - before),
                };
            }
        }
        scores[own] = score;
        true
    }

    /// All tokens absent in a class that has lost a document, but with all counts of tokens as they were.
    fn base_without(&self, ready: &WithoutOne, class: usize, sums: &ClassTotals) -> Base {
        // Only a background makes it matter what other classes count.
        let pooled = match self.formula.amounts {
            Amounts::Background(_) => sums.pooled,
            _ => 0.0,
        };
        let key = (class, sums.total.to_bits(), pooled.to_bits());
        let mut bases = ready.bases.lock().unwrap_or_else(PoisonError::into_inner);
        *bases.entry(key).or_insert_with(|| self.base(class, sums))
    }
}

impl<'e> LeftOut<'e> {
    fn new(
        estimate: &'e TextEstimate<'e>,
        ready: &'e WithoutOne,
        removed: Removed,
        document: &[(usize, f64)],
    ) -> Self {
        let token = |&(id, amount): &(usize, f64)| {
            let stays = estimate.stays(ready, id, removed.weight);
            Token { id, amount, taken: removed.weight * amount, stays }
        };
        let tokens = document.iter().map(token).collect();
        let mut left_out = LeftOut { estimate, ready, removed, tokens, sums: Vec::new() };
        left_out.sum_up();
        left_out
    }

    /// What classes count altogether without the document.
    fn sum_up(&mut self) {
        let (estimate, removed) = (self.estimate, self.removed);
        let (formula, statistics) = (estimate.formula, &estimate.statistics);
        let vanished = self.tokens.iter().filter(|token| !token.stays);
        let tokens = estimate.tokens - vanished.clone().count() as f64;
        self.sums = self.ready.sums.iter().map(|sums| ClassTotals { tokens, ..*sums }).collect();
        if self.is_whole() && formula.family == TextFamily::Bernoulli {
            self.sums[removed.class].total -= 1.0;
        } else if self.is_whole() {
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

    /// Whether all that changes adds up without rounding.
    fn is_whole(&self) -> bool {
        self.removed.weight == 1.0 && self.ready.is_plain
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

    /// Writes log P(document | class). Returns whether any token is left.
    fn write(&self, scores: &mut [f64]) -> bool {
        scores.fill(0.0);
        if !self.tokens.iter().any(|token| token.stays) {
            return false;
        }
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
        true
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
        if self.is_whole() && !self.ready.documents[token.id].is_nan() {
            return self.ready.pooled[token.id] - token.taken;
        }
        let mut pooled = 0.0;
        self.for_each_count(token, |_, _, now| pooled += now);
        pooled
    }

    /// Bernoulli: adds all tokens absent. Those of the document that stay have lost it, the others are gone.
    fn add_absent(&self, scores: &mut [f64], met: &[Met]) {
        let background = matches!(self.estimate.formula.amounts, Amounts::Background(_));
        let base = |(class, sums)| self.estimate.base_without(self.ready, class, sums);
        let mut bases: Vec<Base> = self.sums.iter().enumerate().map(base).collect();
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

/// Complement, where all counts are whole numbers: log P(document | class) is the logarithm of a product over the tokens of
/// the document, and takes a multiplication for each instead of a logarithm.
struct Complements<'e> {
    estimate: &'e TextEstimate<'e>,
    ready: &'e WithoutOne,
    /// What is added to a count.
    added: f64,
    /// Of what all other classes count of each token, as often as it occurs.
    counted: Products,
    /// Normalized: of what they counted of each token, divided by what they count now.
    changed: Products,
}

impl<'e> Complements<'e> {
    /// `None` for other models, and where factors could be too large or too small.
    fn new(estimate: &'e TextEstimate<'e>, ready: &'e WithoutOne) -> Option<Self> {
        let added = ready.logs.own;
        let suits = estimate.formula.is_complement()
            && estimate.statistics.counts.whole_rows().is_some()
            && Products::ARE_IN.contains(&added)
            && Products::ARE_IN.contains(&(estimate.pooled_total + added));
        let [counted, changed] = [ready.sums.len(); 2].map(Products::new);
        suits.then_some(Complements { estimate, ready, added, counted, changed })
    }

    /// Whether no token occurs so often that multiplying would take longer than a logarithm.
    fn suit(document: &[(usize, f64)]) -> bool {
        document.iter().all(|&(_, amount)| amount <= 256.0)
    }

    /// Writes log P(document | class). Returns whether any token is left.
    fn write(&mut self, document: &[(usize, f64)], own: usize, scores: &mut [f64]) -> bool {
        let (formula, ready) = (self.estimate.formula, self.ready);
        let normalized = formula.family == TextFamily::ComplementNormalized;
        self.counted.start();
        self.changed.start();
        let (kept, vanished) = vectorized(
            #[inline(always)]
            || match (formula.counts_presence(), normalized) {
                (true, _) => self.multiply::<0, false>(document, own),
                (false, false) => self.multiply::<1, false>(document, own),
                (false, true) => self.multiply::<1, true>(document, own),
            },
        );
        if kept == 0.0 {
            scores.fill(0.0);
            return false;
        }
        let taken: f64 = document.iter().map(|&(_, amount)| amount).sum();
        for (class, score) in scores.iter_mut().enumerate() {
            let ClassTotals { total, pooled, tokens } = ready.sums[class];
            let total = if class == own { total - taken } else { total };
            let sums = ClassTotals { total, pooled: pooled - taken, tokens: tokens - vanished };
            let constant = formula.constant(&sums);
            *score = kept * constant - self.counted.ln(class);
            if normalized {
                let all = ready.defaults + ready.extras[class] + self.changed.ln(class);
                let size = (constant * sums.tokens + all).abs();
                *score *= if formula.weighs_nothing(&sums) { 0.0 } else { inverse(size) };
            }
        }
        true
    }

    /// Multiplies the factors of a document's tokens, of which `COUNT` is their documents (0) or terms (1). Returns how much
    /// of the document is left, and how many tokens are gone.
    #[inline(always)]
    fn multiply<const COUNT: usize, const NORMALIZED: bool>(
        &mut self,
        document: &[(usize, f64)],
        own: usize,
    ) -> (f64, f64) {
        let (mut kept, mut vanished) = (0.0, 0.0);
        for &(id, amount) in document {
            let Some((classes, counts)) = self.estimate.statistics.counts.whole_row(id) else { continue };
            let pooled = self.ready.pooled[id];
            let (before, now) = (pooled + self.added, pooled - amount + self.added);
            // The class of the document loses as much of a token as all classes together.
            let cells = classes.iter().zip(counts).map(|(&class, counts)| {
                let (class, count) = (usize::from(class), f64::from(counts[COUNT]));
                (class, count, if class == own { count - amount } else { count })
            });
            if pooled > amount {
                kept += amount;
                for _ in 0..amount as u32 {
                    self.counted.multiply(now, cells.clone().map(|(class, _, count)| (class, now - count)));
                }
            } else {
                vanished += 1.0;
            }
            if NORMALIZED && pooled > amount {
                let ratio = |(class, was, is)| (class, (before - was) / (now - is));
                self.changed.multiply(before / now, cells.map(ratio));
            } else if NORMALIZED {
                self.changed.multiply(before, cells.map(|(class, count, _)| (class, before - count)));
            }
        }
        (kept, vanished)
    }
}

/// A product for each class, as m · 2^k.
struct Products {
    /// m of each class, and that which all have in common.
    mantissas: Vec<f64>,
    exponents: Vec<f64>,
    /// How many factors the mantissas hold.
    factors: u32,
}

impl Products {
    /// Of so many factors a mantissa can hold [`MOST_FACTORS`](Self::MOST_FACTORS), or their inverses.
    const ARE_IN: std::ops::Range<f64> = 1e-20..1e20;
    const MOST_FACTORS: u32 = 6;

    fn new(classes: usize) -> Self {
        Products { mantissas: vec![1.0; classes + 1], exponents: vec![0.0; classes + 1], factors: 0 }
    }

    /// Makes all products one.
    fn start(&mut self) {
        self.mantissas.fill(1.0);
        self.exponents.fill(0.0);
        self.factors = 0;
    }

    /// Multiplies all products by a factor, but those of some classes by one of their own.
    #[inline(always)]
    fn multiply(&mut self, others: f64, own: impl ExactSizeIterator<Item = (usize, f64)>) {
        let classes = self.mantissas.len() - 1;
        if own.len() == classes {
            self.mantissas.iter_mut().zip(own).for_each(|(product, (_, factor))| *product *= factor);
        } else {
            let inverse = 1.0 / others;
            self.mantissas[classes] *= others;
            own.for_each(|(class, factor)| self.mantissas[class] *= factor * inverse);
        }
        self.factors += 1;
        if self.factors == Self::MOST_FACTORS {
            self.carry();
        }
    }

    /// Leaves mantissas from 1 to 2.
    #[inline(always)]
    fn carry(&mut self) {
        for (mantissa, exponent) in self.mantissas.iter_mut().zip(&mut self.exponents) {
            let bits = mantissa.to_bits();
            *exponent += f64::from((bits >> 52) as i32 - 1023);
            *mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1.0_f64.to_bits());
        }
        self.factors = 0;
    }

    /// The logarithm of the product of a class.
    fn ln(&self, class: usize) -> f64 {
        let common = self.mantissas.len() - 1;
        let exponent = self.exponents[class] + self.exponents[common];
        ln(self.mantissas[class]) + ln(self.mantissas[common]) + exponent * std::f64::consts::LN_2
    }
}

/// How many tokens of a document a class has met, and how many of them it has in every document.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    tokens: usize,
    certain: u32,
}

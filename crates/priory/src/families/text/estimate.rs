//! From counts of tokens to P(document | class), under one of several event models.
//!
//! With n(t, c) what token t counts in class c, N(c) = Σ n(t, c), V the number of tokens, and x(t) what t counts in the
//! document:
//!
//! | model | n, x | log P(document \| c) |
//! |---|---|---|
//! | multinomial | occurrences | Σ x(t) log p(t, c), with p = (n + α) / (N + α V) |
//! | presence | documents; 1 | the same: the Boolean multinomial |
//! | Bernoulli | documents; 1 | Σ log w(t, c) over tokens present + Σ log(1 − w) over all others, w = (n + α) / (D + 2 α), D the documents of c |
//! | complement | occurrences | −Σ x(t) log p̃(t, c), where p̃ is p of all classes but c (Rennie et al. 2003) |
//! | complement of presence | documents; 1 | the same |
//! | normalized complement | occurrences | the same, divided by Σ over all tokens of \|log p̃\| |
//!
//! All of them are sums over the document's tokens of the form
//!
//! ```text
//! base(c) + scale(c) Σ x(t) (constant(c) + default(t) + extra(t, c))
//! ```
//!
//! where `extra` is zero unless t was counted in c. So a document costs as much as its tokens have cells. A token that
//! was never met is left out; a document without any token that was met says nothing.
//!
//! Sources: McCallum and Nigam 1998, "A comparison of event models for naive Bayes text classification"; Rennie, Shih,
//! Teevan and Karger 2003, "Tackling the poor assumptions of naive Bayes text classifiers"; Manning, Raghavan and
//! Schütze 2008, chapter 13.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::choose::{chosen_family, chosen_pseudocount, limited, retotalled};
use super::likelihood::TextLikelihood;
use super::table::Cell;
use super::{DOCUMENTS_ROW, PRESENCES_ROW, TERMS_ROW, TextStatistics};
use crate::batch::{Batch, TextColumn};
use crate::error::{Error, Result};
use crate::exact::ExactSum;
use crate::families::{CountedRow, Removed};
use crate::numerics::ln;
use crate::settings::{Family, Settings, Smoothing, TextModel};

/// A column of text made ready for estimation: its limits applied, its smoothing chosen.
pub(crate) struct TextEstimate<'a> {
    pub(crate) statistics: Cow<'a, TextStatistics>,
    pub(crate) formula: Formula,
    /// N of each class.
    pub(crate) totals: Vec<f64>,
    /// N of all classes.
    pub(crate) pooled_total: f64,
    /// V.
    tokens: f64,
    min_documents: f64,
    /// Bernoulli: what all tokens absent come to in a class that has lost a document of some weight.
    reduced_bases: Mutex<BTreeMap<(usize, u64), Base>>,
}

/// The event model and its smoothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Formula {
    pub(crate) family: Family,
    pub(crate) amounts: Amounts,
}

/// What is added to counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amounts {
    /// The same for every token, and for its absence.
    Each(f64),
    /// For what is there, and for what is not.
    Pair { present: f64, absent: f64 },
    /// Nothing, but λ P + (1 − λ) Q is taken.
    Background(f64),
}

/// What a class counts altogether.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums {
    /// N of the class; Bernoulli: its documents.
    pub(crate) total: f64,
    /// The same for all classes together.
    pub(crate) pooled: f64,
    /// V.
    pub(crate) tokens: f64,
}

/// All tokens absent: the logarithm, and how many tokens cannot be absent and are left out of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Base {
    pub(crate) log: f64,
    pub(crate) needed: u32,
}

/// What a cell adds to the default of its token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extra {
    pub(crate) log: f64,
    /// Bernoulli: every document of the class has the token, so that one without it is impossible.
    pub(crate) certain: bool,
}

impl Formula {
    /// Whether x is 1 for every token that is there.
    pub(crate) fn counts_presence(&self) -> bool {
        matches!(self.family, Family::Bernoulli | Family::Presence | Family::ComplementPresence)
    }

    pub(crate) fn is_complement(&self) -> bool {
        matches!(self.family, Family::Complement | Family::ComplementPresence | Family::ComplementNormalized)
    }

    pub(crate) fn count(&self, cell: &Cell) -> f64 {
        if self.counts_presence() { cell.documents } else { cell.terms }
    }

    /// The row of the totals that N comes from.
    fn total_row(&self) -> usize {
        match self.family {
            Family::Bernoulli => DOCUMENTS_ROW,
            Family::Presence | Family::ComplementPresence => PRESENCES_ROW,
            _ => TERMS_ROW,
        }
    }

    /// What is added to a token's count, and to that of everything else.
    fn added(&self, tokens: f64) -> (f64, f64) {
        match self.amounts {
            Amounts::Each(alpha) if self.family == Family::Bernoulli => (alpha, alpha),
            Amounts::Each(alpha) => (alpha, alpha * (tokens - 1.0).max(0.0)),
            Amounts::Pair { present, absent } => (present, absent),
            Amounts::Background(_) => (0.0, 0.0),
        }
    }

    /// Whether tokens differ in what they add where they were never counted.
    pub(crate) fn default_depends_on_token(&self) -> bool {
        self.is_complement() || matches!(self.amounts, Amounts::Background(_))
    }

    /// Whether a token that was never counted in a class is impossible there.
    pub(crate) fn zero_is_impossible(&self) -> bool {
        match self.amounts {
            Amounts::Each(own) | Amounts::Pair { present: own, .. } => own == 0.0,
            Amounts::Background(lambda) => lambda == 1.0,
        }
    }

    /// Whether nothing at all is known of a class, so that it takes everything alike.
    pub(crate) fn is_ignorant(&self, sums: &Sums) -> bool {
        let (own, rest) = self.added(sums.tokens);
        let pseudocounts = !matches!(self.amounts, Amounts::Background(_));
        match self.family {
            Family::Bernoulli => pseudocounts && sums.total == 0.0 && (own == 0.0 || rest == 0.0),
            _ => sums.total == 0.0 && own == 0.0,
        }
    }

    /// What every token of a document adds, whichever it is.
    pub(crate) fn constant(&self, sums: &Sums) -> f64 {
        let (own, rest) = self.added(sums.tokens);
        if self.is_ignorant(sums) {
            return match (self.family, self.amounts) {
                (Family::Bernoulli, _) => 0.0,
                (_, Amounts::Background(lambda)) if lambda < 1.0 => -ln(1.0 - lambda),
                _ => -ln(sums.tokens.max(1.0)),
            };
        }
        match (self.family, self.amounts) {
            (_, Amounts::Background(_)) => 0.0,
            (Family::Bernoulli, _) => -ln(sums.total + rest),
            _ if self.is_complement() => ln(sums.pooled - sums.total + own + rest),
            _ => -ln(sums.total + own + rest),
        }
    }

    /// What a token adds in every class that never counted it; zero where that is impossible. `ln_own` is the logarithm of
    /// a number and the pseudocount, likewise below.
    pub(crate) fn default(&self, pooled: f64, sums: &Sums, ln_own: impl Fn(f64) -> f64) -> f64 {
        if self.zero_is_impossible() {
            return 0.0;
        }
        match self.amounts {
            Amounts::Background(lambda) => {
                let p = mixed(lambda, 0.0, pooled, sums);
                let absent = if self.family == Family::Bernoulli && p < 1.0 { libm::log1p(-p) } else { 0.0 };
                ln(p) - absent
            }
            _ if self.is_complement() => -ln_own(pooled),
            _ => ln_own(0.0),
        }
    }

    /// What a token adds to that in a class that counted it.
    pub(crate) fn extra(
        &self,
        count: f64,
        pooled: f64,
        default: f64,
        sums: &Sums,
        ln_own: impl Fn(f64) -> f64,
    ) -> Extra {
        let (own, rest) = self.added(sums.tokens);
        let log = match self.amounts {
            Amounts::Background(lambda) => {
                let p = mixed(lambda, count, pooled, sums);
                if self.family != Family::Bernoulli {
                    return Extra { log: ln(p) - default, certain: false };
                }
                if p >= 1.0 {
                    return Extra { log: -default, certain: true };
                }
                ln(p) - libm::log1p(-p)
            }
            _ if self.family == Family::Bernoulli => {
                let without = (sums.total - count).max(0.0) + rest;
                if without == 0.0 {
                    let log = ln_own(count) - ln(sums.total + own + rest);
                    return Extra { log: log - default - self.constant(sums), certain: true };
                }
                ln_own(count) - ln(without) - self.constant(sums)
            }
            _ => ln_counted(self.is_complement(), count, pooled, ln_own),
        };
        Extra { log: log - default, certain: false }
    }

    /// Whether that is [`ln_counted`] less the default.
    fn extra_is_plain(&self) -> bool {
        self.family != Family::Bernoulli && !matches!(self.amounts, Amounts::Background(_))
    }

    /// Bernoulli: log P(absent | class), −∞ if the token is always there.
    pub(crate) fn absent(&self, count: f64, pooled: f64, sums: &Sums) -> f64 {
        if self.is_ignorant(sums) {
            return -std::f64::consts::LN_2;
        }
        let (own, rest) = self.added(sums.tokens);
        match self.amounts {
            Amounts::Background(lambda) => libm::log1p(-mixed(lambda, count, pooled, sums).min(1.0)),
            _ => ln((sums.total - count).max(0.0) + rest) - ln(sums.total + own + rest),
        }
    }
}

/// Logarithms of counts and the pseudocount: those of small whole numbers, which most counts are, are worked out once.
pub(crate) struct CountLogs {
    own: f64,
    whole: Vec<f64>,
}

impl CountLogs {
    fn new(own: f64) -> Self {
        const WORKED_OUT: u32 = 4096;
        CountLogs { own, whole: (0..WORKED_OUT).map(|n| ln(f64::from(n) + own)).collect() }
    }

    #[inline(always)]
    pub(crate) fn ln_own(&self, count: f64) -> f64 {
        // Numbers from here on are whole: added to a smaller one, it leaves that in the last bits, rounded. A cast of one
        // that could be anything would take four times as long.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        let shifted = count + WHOLE;
        match self.whole.get(shifted.to_bits().wrapping_sub(WHOLE.to_bits()) as usize) {
            Some(&log) if shifted - WHOLE == count => log,
            _ => self.ln(count),
        }
    }

    #[cold]
    fn ln(&self, count: f64) -> f64 {
        ln(count + self.own)
    }
}

/// The logarithm of what a class counts of a token, or of what all others do, which speaks against it.
#[inline(always)]
fn ln_counted(complement: bool, count: f64, pooled: f64, ln_own: impl Fn(f64) -> f64) -> f64 {
    if complement { -ln_own((pooled - count).max(0.0)) } else { ln_own(count) }
}

/// λ P + (1 − λ) Q. Of a token that every document has it is one to the last bit, whatever λ is.
fn mixed(lambda: f64, count: f64, pooled: f64, sums: &Sums) -> f64 {
    let foreground = if sums.total > 0.0 { count / sums.total } else { 0.0 };
    lambda * foreground + (1.0 - lambda) * (pooled / sums.pooled)
}

impl<'a> TextEstimate<'a> {
    /// Prepares canonical statistics.
    ///
    /// # Errors
    /// If the settings ask for a family or a smoothing that text does not have.
    pub(crate) fn new(statistics: &'a TextStatistics, settings: &Settings, column: &str) -> Result<Self> {
        let family =
            chosen_family(settings, column, statistics.settings.tokens.style, statistics.totals.classes())?;
        let statistics = limited(statistics, &settings.text);
        let mut formula = Formula { family, amounts: Amounts::Each(1.0) };
        formula.amounts = match settings.text_smoothing_of(column) {
            Smoothing::None => Amounts::Each(0.0),
            Smoothing::Lidstone(alpha) => Amounts::Each(*alpha),
            Smoothing::Auto => Amounts::Each(match &statistics.whole {
                Some(whole) => whole.pseudocount.unwrap_or(1.0),
                None => chosen_pseudocount(&statistics, &formula),
            }),
            Smoothing::Pair { present, absent } => Amounts::Pair { present: *present, absent: *absent },
            Smoothing::Background(lambda) => Amounts::Background(*lambda),
            Smoothing::Dirichlet(_) => {
                return Err(Error::Settings(format!(
                    "`{column}` is text, which has no dirichlet pseudocounts; choose none, laplace, lidstone, background or pseudocounts"
                )));
            }
        };
        let no_pseudocounts =
            formula.zero_is_impossible() || matches!(formula.amounts, Amounts::Background(_));
        if formula.is_complement() && no_pseudocounts {
            return Err(Error::Settings(format!(
                "the {} model of `{column}` needs pseudocounts: choose laplace or lidstone",
                family.name()
            )));
        }
        let classes = 0..statistics.totals.classes();
        let row = formula.total_row();
        let totals: Vec<f64> = classes.map(|class| statistics.totals.get(row, class)).collect();
        Ok(TextEstimate {
            formula,
            pooled_total: totals.iter().sum(),
            totals,
            tokens: statistics.whole.as_ref().map_or(statistics.tokens.len() as u64, |whole| whole.tokens)
                as f64,
            statistics,
            min_documents: settings.text.min_documents,
            reduced_bases: Mutex::default(),
        })
    }

    /// What a class counts altogether.
    pub(crate) fn sums(&self, class: usize) -> Sums {
        Sums { total: self.totals[class], pooled: self.pooled_total, tokens: self.tokens }
    }

    pub(crate) fn classes(&self) -> usize {
        self.totals.len()
    }

    /// What a token counts in all classes.
    pub(crate) fn pooled(&self, token: usize) -> f64 {
        self.statistics.counts.in_all_classes(token, if self.formula.counts_presence() { 0 } else { 1 })
    }

    /// Logarithms of many counts.
    pub(crate) fn count_logs(&self) -> CountLogs {
        CountLogs::new(self.formula.added(self.tokens).0)
    }

    /// What a token counts in all classes, if that matters, and what it adds in every class that never counted it.
    pub(crate) fn default(&self, token: usize, logs: &CountLogs) -> (f64, f64) {
        let pooled = if self.formula.default_depends_on_token() { self.pooled(token) } else { 0.0 };
        let sums = Sums { total: 0.0, pooled: self.pooled_total, tokens: self.tokens };
        (pooled, self.formula.default(pooled, &sums, |n| logs.ln_own(n)))
    }

    /// Shows the classes that counted a token, and what it adds to its default there. The pair is that of
    /// [`default`](Self::default).
    #[inline]
    pub(crate) fn for_each_extra(
        &self,
        token: usize,
        (pooled, default): (f64, f64),
        sums: &[Sums],
        logs: &CountLogs,
        mut each: impl FnMut(usize, Extra),
    ) {
        let (formula, counts) = (self.formula, &self.statistics.counts);
        let (presence, complement) = (formula.counts_presence(), formula.is_complement());
        let ln_own = |n| logs.ln_own(n);
        let count = |documents, terms| if presence { documents } else { terms };
        if formula.extra_is_plain() {
            // The same as below, for millions of cells: what does not depend on the cell is asked once.
            counts.for_each_cell(token, |class, documents, terms| {
                let log = ln_counted(complement, count(documents, terms), pooled, ln_own) - default;
                each(class, Extra { log, certain: false });
            });
        } else {
            counts.for_each_cell(token, |class, documents, terms| {
                each(class, formula.extra(count(documents, terms), pooled, default, &sums[class], ln_own));
            });
        }
    }

    /// log P(document | class) for every class, as if one training row that holds this document had not been there.
    pub(crate) fn ln_without(&self, batch: &Batch, column: usize, row: usize, removed: Removed) -> Vec<f64> {
        let text = batch.text(column);
        let Some(document) = text.document(row) else { return vec![0.0; self.classes()] };
        let everything_changes = self.formula.family == Family::ComplementNormalized
            || (self.formula.family == Family::Bernoulli
                && matches!(self.formula.amounts, Amounts::Background(_)));
        if everything_changes {
            return self.ln_from_the_rest(batch, column, row, removed);
        }
        let left = self.left(text, document, removed);
        let mut scores = vec![0.0; self.classes()];
        if left.tokens.is_empty() {
            return scores;
        }
        let amount: f64 = left.tokens.iter().map(|token| token.amount).sum();
        let impossible = self.formula.zero_is_impossible();
        let (own, _) = self.formula.added(self.tokens);
        let ln_own = |n| ln(n + own);
        for (class, score) in scores.iter_mut().enumerate() {
            let sums = left.sums[class];
            let mut hits = 0;
            let mut certain = 0;
            *score = amount * self.formula.constant(&sums);
            for token in &left.tokens {
                let pooled = token.pooled;
                let default = self.formula.default(pooled, &sums, ln_own);
                *score += token.amount * default;
                let count = token.cell(class).now;
                if count > 0.0 {
                    let extra = self.formula.extra(count, pooled, default, &sums, ln_own);
                    *score += token.amount * extra.log;
                    hits += 1;
                    certain += u32::from(extra.certain);
                }
            }
            let mut missing = impossible && hits < left.tokens.len() && !self.formula.is_ignorant(&sums);
            if self.formula.family == Family::Bernoulli {
                let base = self.base_without(class, &left, removed);
                *score += base.log;
                missing |= certain < base.needed;
            }
            if missing {
                *score = f64::NEG_INFINITY;
            }
        }
        scores
    }

    /// Whether a document has a token that other documents have as well.
    pub(crate) fn has_evidence_without(
        &self,
        batch: &Batch,
        column: usize,
        row: usize,
        removed: Removed,
    ) -> bool {
        let text = batch.text(column);
        let mut tokens = text.document(row).unwrap_or_default().iter();
        tokens.any(|&(token, _)| {
            self.find(text.tokens().name(token as usize)).is_some_and(|id| !self.vanishes(id, removed.weight))
        })
    }

    /// The slow way for what depends on every count: the row is taken away, and the rest is estimated anew.
    fn ln_from_the_rest(&self, batch: &Batch, column: usize, row: usize, removed: Removed) -> Vec<f64> {
        let every_class: Vec<usize> = (0..self.classes()).collect();
        let mut part = TextStatistics::empty(&self.statistics.settings);
        let counted = [CountedRow { row: row as u32, class: removed.class as u32 }];
        part.observe(batch.text(column), &counted, batch, self.classes());
        let known: Vec<usize> = part
            .tokens
            .sorted_by_bytes()
            .into_iter()
            .filter(|&id| self.find(part.tokens.name(id)).is_some())
            .collect();
        let mut part = part.select(&known, &every_class);
        part.totals = retotalled(&part);
        let mut rest = self.statistics.clone().into_owned();
        rest.merge(&part, &every_class, self.classes(), -1.0);
        let rest = rest.canonical(&every_class);
        let limits = TextModel { min_documents: self.min_documents, ..TextModel::default() };
        let rest = limited(&rest, &limits).into_owned();
        let totals: Vec<f64> =
            every_class.iter().map(|&class| rest.totals.get(self.formula.total_row(), class)).collect();
        let rest = TextEstimate {
            pooled_total: totals.iter().sum(),
            totals,
            tokens: rest.tokens.len() as f64,
            statistics: Cow::Owned(rest),
            formula: self.formula,
            min_documents: self.min_documents,
            reduced_bases: Mutex::default(),
        };
        TextLikelihood::new(&rest).contribution(batch.text(column), row).0
    }

    fn find(&self, token: &str) -> Option<usize> {
        self.statistics.tokens.get(token)
    }

    /// What the statistics would be without a document, as far as it matters to that document.
    fn left(&self, text: &TextColumn, document: &[(u32, u32)], removed: Removed) -> Left {
        let mut amounts = Vec::new();
        self.statistics.settings.push_amounts(document, &mut amounts);
        let row = self.formula.total_row();
        let mut totals: Vec<ExactSum> =
            (0..self.classes()).map(|class| self.statistics.totals.exact(row, class)).collect();
        let mut left = Left { tokens: Vec::new(), vanished: Vec::new(), sums: Vec::new() };
        let (presence, by_documents) =
            (self.formula.counts_presence(), self.formula.family == Family::Bernoulli);
        if by_documents {
            totals[removed.class].add(-removed.weight);
        }
        for (&(token, _), &amount) in document.iter().zip(&amounts) {
            let Some(id) = self.find(text.tokens().name(token as usize)) else { continue };
            let amount = if presence { 1.0 } else { amount };
            let taken = removed.weight * amount;
            let cell_left = |cell: Cell| {
                let (class, before) = (cell.class as usize, self.formula.count(&cell));
                let now = if class == removed.class { self.count_without(id, &cell, taken) } else { before };
                LeftCell { class, before, now }
            };
            let cells: Vec<LeftCell> = self.statistics.counts.cells(id).map(cell_left).collect();
            let vanishes = self.vanishes(id, removed.weight);
            match vanishes {
                _ if by_documents => {}
                // A class that has nothing else is left with nothing, not with what rounding leaves.
                true => cells
                    .iter()
                    .for_each(|cell| totals[cell.class].subtract(&self.exact_count(id, cell.class))),
                false => totals[removed.class].add(-taken),
            }
            let token = LeftToken { amount, pooled: cells.iter().map(|cell| cell.now).sum(), cells };
            if vanishes { left.vanished.push(token) } else { left.tokens.push(token) }
        }
        let totals: Vec<f64> = totals.iter().map(|total| total.value().max(0.0)).collect();
        let pooled = totals.iter().sum();
        let tokens = self.tokens - left.vanished.len() as f64;
        left.sums = totals.into_iter().map(|total| Sums { total, pooled, tokens }).collect();
        left
    }

    /// What a cell counts once some of it is taken away: rounded once, as it would be had that never been there.
    fn count_without(&self, token: usize, cell: &Cell, taken: f64) -> f64 {
        if self.statistics.counts.is_plain() {
            return self.formula.count(cell) - taken;
        }
        let mut count = self.exact_count(token, cell.class as usize);
        count.add(-taken);
        count.value()
    }

    fn exact_count(&self, token: usize, class: usize) -> ExactSum {
        let [documents, terms] = self.statistics.counts.exact(token, class);
        if self.formula.counts_presence() { documents } else { terms }
    }

    /// Whether too few documents have a token once one of them is gone.
    fn vanishes(&self, token: usize, weight: f64) -> bool {
        let rest = self.statistics.counts.documents_without(token, weight);
        rest == 0.0 || rest < self.min_documents
    }

    /// Bernoulli: all tokens absent, in a class as it is without a document.
    fn base_without(&self, class: usize, left: &Left, removed: Removed) -> Base {
        let sums = Sums { tokens: left.sums[class].tokens + left.vanished.len() as f64, ..left.sums[class] };
        let weight = if class == removed.class { removed.weight } else { 0.0 };
        let mut bases = self.reduced_bases.lock().unwrap_or_else(PoisonError::into_inner);
        let mut base = *bases.entry((class, weight.to_bits())).or_insert_with(|| self.base(class, &sums));
        // Corrected for the tokens of this document: those that stay have lost it, the others are gone.
        for (token, stays) in left
            .tokens
            .iter()
            .map(|token| (token, true))
            .chain(left.vanished.iter().map(|token| (token, false)))
        {
            let LeftCell { before, now, .. } = token.cell(class);
            if stays && before == now {
                continue;
            }
            // `before` is what `base` saw, to the last bit: a token that was certain there is so here.
            if before <= sums.total {
                base = base.without(self.formula.absent(before, 0.0, &sums));
            }
            if stays {
                base = base.with(self.formula.absent(now, 0.0, &sums));
            }
        }
        base
    }

    /// All tokens absent, in a class that counts so much. A token in more documents than that is left out.
    pub(crate) fn base(&self, class: usize, sums: &Sums) -> Base {
        let statistics = &self.statistics;
        if let Some(whole) = &statistics.whole {
            let (log, needed) = whole.absent.get(class).copied().unwrap_or_default();
            return Base { log, needed };
        }
        let mut base = Base::default();
        let by_token = matches!(self.formula.amounts, Amounts::Background(_));
        let zero = self.formula.absent(0.0, 0.0, sums);
        let mut zeros = 0.0;
        for token in 0..statistics.tokens.len() {
            let cell = statistics.counts.cells(token).find(|cell| cell.class as usize == class);
            match cell {
                None if !by_token => zeros += 1.0,
                Some(cell) if cell.documents > sums.total => {}
                cell => {
                    let count = cell.map_or(0.0, |cell| cell.documents);
                    base = base.with(self.formula.absent(count, self.pooled(token), sums));
                }
            }
        }
        if zeros > 0.0 {
            base.log += zeros * zero;
        }
        base
    }
}

impl Base {
    pub(crate) fn with(self, log: f64) -> Base {
        if log == f64::NEG_INFINITY {
            return Base { needed: self.needed + 1, ..self };
        }
        Base { log: self.log + log, ..self }
    }

    fn without(self, log: f64) -> Base {
        if log == f64::NEG_INFINITY {
            return Base { needed: self.needed - 1, ..self };
        }
        Base { log: self.log - log, ..self }
    }
}

/// What is left when a document is gone.
struct Left {
    /// The tokens of the document that are still met elsewhere,
    tokens: Vec<LeftToken>,
    /// and those that are not.
    vanished: Vec<LeftToken>,
    sums: Vec<Sums>,
}

struct LeftToken {
    amount: f64,
    pooled: f64,
    cells: Vec<LeftCell>,
}

/// What a class counts of a token, with the document and without it.
#[derive(Debug, Clone, Copy)]
struct LeftCell {
    class: usize,
    before: f64,
    now: f64,
}

impl LeftToken {
    fn cell(&self, class: usize) -> LeftCell {
        let never = LeftCell { class, before: 0.0, now: 0.0 };
        self.cells.iter().find(|cell| cell.class == class).copied().unwrap_or(never)
    }
}

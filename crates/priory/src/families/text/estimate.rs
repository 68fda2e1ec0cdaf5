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
//! where `extra` is zero unless t was counted in c. So the cost of a document is the number of cells of its tokens.
//! Tokens that were never met in training are left out; a document of only such tokens says nothing.
//!
//! Sources: McCallum and Nigam 1998, "A comparison of event models for naive Bayes text classification"; Rennie, Shih,
//! Teevan and Karger 2003, "Tackling the poor assumptions of naive Bayes text classifiers"; Manning, Raghavan and
//! Schütze 2008, chapter 13.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::choose::{chosen_family, chosen_pseudocount, limited};
use super::without_one::WithoutOne;
use super::{DOCUMENTS_ROW, PRESENCES_ROW, TERMS_ROW, TextStatistics};
use crate::batch::TextColumn;
use crate::error::{Error, Result};
use crate::estimate::CountLogs;
use crate::interval::{trigamma, variance_of_ln};
use crate::numerics::ln;
use crate::settings::{Settings, Smoothing, TextFamily};

/// A column of text made ready for estimation: its limits applied, its smoothing chosen.
pub(crate) struct TextEstimate<'a> {
    pub(crate) statistics: Cow<'a, TextStatistics>,
    pub(crate) formula: Formula,
    /// N of each class.
    pub(crate) totals: Vec<f64>,
    /// N of all classes.
    pub(crate) pooled_total: f64,
    /// V.
    pub(super) tokens: f64,
    pub(super) min_documents: f64,
    /// What is needed to leave documents out; computed on first use.
    pub(super) without_one: OnceLock<WithoutOne>,
}

/// The event model and its smoothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Formula {
    pub(crate) family: TextFamily,
    pub(crate) amounts: Amounts,
}

/// What is added to counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amounts {
    /// The same for every token, and for its absence.
    Each(f64),
    /// One amount for presence, and one for absence.
    Pair { present: f64, absent: f64 },
    /// Nothing is added; λ P + (1 − λ) Q is used instead.
    Background(f64),
}

/// What a class counts altogether.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassTotals {
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
    /// The choices in the settings for a column, or those made from its counts where the settings leave them open.
    fn new(
        statistics: &TextStatistics,
        settings: &Settings,
        column: &str,
        family: TextFamily,
    ) -> Result<Self> {
        let mut formula = Formula { family, amounts: Amounts::Each(1.0) };
        formula.amounts = match settings.text_smoothing_of(column) {
            Smoothing::None => Amounts::Each(0.0),
            Smoothing::Lidstone(alpha) => Amounts::Each(*alpha),
            Smoothing::Auto => Amounts::Each(match &statistics.precomputed {
                Some(whole) => whole.pseudocount.unwrap_or(1.0),
                None => chosen_pseudocount(statistics, &formula),
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
        Ok(formula)
    }

    /// Whether x is 1 for every token that is present, however often it occurs.
    pub(crate) fn counts_presence(&self) -> bool {
        matches!(self.family, TextFamily::Bernoulli | TextFamily::Presence | TextFamily::ComplementPresence)
    }

    pub(crate) fn is_complement(&self) -> bool {
        matches!(
            self.family,
            TextFamily::Complement | TextFamily::ComplementPresence | TextFamily::ComplementNormalized
        )
    }

    /// What a cell with these documents and terms counts: n.
    pub(crate) fn count(&self, documents: f64, terms: f64) -> f64 {
        if self.counts_presence() { documents } else { terms }
    }

    /// The row of the totals that N comes from.
    pub(super) fn total_row(&self) -> usize {
        match self.family {
            TextFamily::Bernoulli => DOCUMENTS_ROW,
            TextFamily::Presence | TextFamily::ComplementPresence => PRESENCES_ROW,
            _ => TERMS_ROW,
        }
    }

    /// What is added to a token's count, and to that of everything else.
    fn added(&self, tokens: f64) -> (f64, f64) {
        match self.amounts {
            Amounts::Each(alpha) if self.family == TextFamily::Bernoulli => (alpha, alpha),
            Amounts::Each(alpha) => (alpha, alpha * (tokens - 1.0).max(0.0)),
            Amounts::Pair { present, absent } => (present, absent),
            Amounts::Background(_) => (0.0, 0.0),
        }
    }

    /// Whether the default differs between tokens.
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

    /// Whether no class calls any document impossible, or one without a token.
    pub(super) fn nothing_is_impossible(&self) -> bool {
        let may_be_absent = !matches!(self.amounts, Amounts::Pair { absent, .. } if absent <= 0.0);
        may_be_absent && !self.zero_is_impossible()
    }

    /// Whether nothing at all is known of a class, so that all its tokens are equally probable.
    pub(crate) fn is_ignorant(&self, sums: &ClassTotals) -> bool {
        let (own, rest) = self.added(sums.tokens);
        let pseudocounts = !matches!(self.amounts, Amounts::Background(_));
        match self.family {
            TextFamily::Bernoulli => pseudocounts && sums.total == 0.0 && (own == 0.0 || rest == 0.0),
            _ => sums.total == 0.0 && own == 0.0,
        }
    }

    /// The constant: what every token of a document adds, whichever it is.
    pub(crate) fn constant(&self, sums: &ClassTotals) -> f64 {
        let (own, rest) = self.added(sums.tokens);
        if self.is_ignorant(sums) {
            return match (self.family, self.amounts) {
                (TextFamily::Bernoulli, _) => 0.0,
                (_, Amounts::Background(lambda)) if lambda < 1.0 => -ln(1.0 - lambda),
                _ => -ln(sums.tokens.max(1.0)),
            };
        }
        match (self.family, self.amounts) {
            (_, Amounts::Background(_)) => 0.0,
            (TextFamily::Bernoulli, _) => -ln(sums.total + rest),
            _ if self.is_complement() => ln(sums.pooled - sums.total + own + rest),
            _ => -ln(sums.total + own + rest),
        }
    }

    /// Complement: whether all classes but one leave a token no alternative, so that each has the weight log 1 = 0.
    /// Sums of such weights are not zero but what rounding leaves of them.
    pub(super) fn weighs_nothing(&self, sums: &ClassTotals) -> bool {
        let (_, rest) = self.added(sums.tokens);
        rest == 0.0 && (sums.tokens <= 1.0 || sums.pooled <= sums.total)
    }

    /// What a token adds in every class that never counted it; zero where that is impossible. `ln_own` is the logarithm of
    /// a number and the pseudocount, likewise below.
    pub(crate) fn default(&self, pooled: f64, sums: &ClassTotals, ln_own: impl Fn(f64) -> f64) -> f64 {
        if self.zero_is_impossible() {
            return 0.0;
        }
        match self.amounts {
            Amounts::Background(lambda) => {
                let p = mixed(lambda, 0.0, pooled, sums);
                let absent =
                    if self.family == TextFamily::Bernoulli && p < 1.0 { libm::log1p(-p) } else { 0.0 };
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
        sums: &ClassTotals,
        ln_own: impl Fn(f64) -> f64,
    ) -> Extra {
        let (own, rest) = self.added(sums.tokens);
        let log = match self.amounts {
            Amounts::Background(lambda) => {
                let p = mixed(lambda, count, pooled, sums);
                if self.family != TextFamily::Bernoulli {
                    return Extra { log: ln(p) - default, certain: false };
                }
                if p >= 1.0 {
                    return Extra { log: -default, certain: true };
                }
                ln(p) - libm::log1p(-p)
            }
            _ if self.family == TextFamily::Bernoulli => {
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
    pub(super) fn extra_is_plain(&self) -> bool {
        self.family != TextFamily::Bernoulli && !matches!(self.amounts, Amounts::Background(_))
    }

    /// Bernoulli: log P(absent | class), −∞ if the token is always there.
    pub(crate) fn absent(&self, count: f64, pooled: f64, sums: &ClassTotals) -> f64 {
        if self.is_ignorant(sums) {
            return -std::f64::consts::LN_2;
        }
        let (own, rest) = self.added(sums.tokens);
        match self.amounts {
            Amounts::Background(lambda) => libm::log1p(-mixed(lambda, count, pooled, sums).min(1.0)),
            _ => ln((sums.total - count).max(0.0) + rest) - ln(sums.total + own + rest),
        }
    }

    /// Bernoulli with pseudocounts: the logarithm of what the probabilities of a class with so many documents are divided
    /// by.
    pub(super) fn ln_all(&self, documents: f64) -> f64 {
        let (own, rest) = self.added(0.0);
        ln(documents + own + rest)
    }

    /// Bernoulli with pseudocounts: logarithms of what P(absent | class) is a share of, for up to this many documents.
    pub(super) fn absent_logs(&self, documents: f64) -> CountLogs {
        const WORKED_OUT: f64 = 65_536.0;
        CountLogs::new(self.added(0.0).1, documents.min(WORKED_OUT) as u32, ln)
    }
}

/// The logarithm of what a class counts of a token, or of what all others do, which speaks against it.
#[inline(always)]
pub(super) fn ln_counted(complement: bool, count: f64, pooled: f64, ln_own: impl Fn(f64) -> f64) -> f64 {
    if complement { -ln_own((pooled - count).max(0.0)) } else { ln_own(count) }
}

/// λ P + (1 − λ) Q. Of a token that every document has it is one to the last bit, whatever λ is.
fn mixed(lambda: f64, count: f64, pooled: f64, sums: &ClassTotals) -> f64 {
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
        let formula = Formula::new(&statistics, settings, column, family)?;
        Ok(TextEstimate::with(statistics, settings, formula))
    }

    /// The same of text whose event model and smoothing are known already.
    pub(crate) fn again(statistics: &'a TextStatistics, settings: &Settings, formula: Formula) -> Self {
        TextEstimate::with(limited(statistics, &settings.text), settings, formula)
    }

    fn with(statistics: Cow<'a, TextStatistics>, settings: &Settings, formula: Formula) -> Self {
        let classes = 0..statistics.totals.classes();
        let row = formula.total_row();
        let totals: Vec<f64> = classes.map(|class| statistics.totals.get(row, class)).collect();
        TextEstimate {
            formula,
            pooled_total: totals.iter().sum(),
            totals,
            tokens: statistics
                .precomputed
                .as_ref()
                .map_or(statistics.tokens.len() as u64, |whole| whole.tokens) as f64,
            statistics,
            min_documents: settings.text.min_documents,
            without_one: OnceLock::new(),
        }
    }

    /// What a class counts altogether.
    pub(crate) fn sums(&self, class: usize) -> ClassTotals {
        ClassTotals { total: self.totals[class], pooled: self.pooled_total, tokens: self.tokens }
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
        const WORKED_OUT: u32 = 4096;
        CountLogs::new(self.formula.added(self.tokens).0, WORKED_OUT, ln)
    }

    /// What a token counts in all classes, if that matters, and what it adds in every class that never counted it.
    pub(crate) fn default(&self, token: usize, logs: &CountLogs) -> (f64, f64) {
        let pooled = if self.formula.default_depends_on_token() { self.pooled(token) } else { 0.0 };
        let sums = ClassTotals { total: 0.0, pooled: self.pooled_total, tokens: self.tokens };
        (pooled, self.formula.default(pooled, &sums, |n| logs.ln_own(n)))
    }

    /// Passes to `show` the classes that counted a token, and its extra there. The pair is that of
    /// [`default`](Self::default).
    #[inline]
    pub(crate) fn for_each_extra(
        &self,
        token: usize,
        (pooled, default): (f64, f64),
        sums: &[ClassTotals],
        logs: &CountLogs,
        mut each: impl FnMut(usize, Extra),
    ) {
        let (formula, counts) = (self.formula, &self.statistics.counts);
        let (presence, complement) = (formula.counts_presence(), formula.is_complement());
        let ln_own = |n| logs.ln_own(n);
        let count = |documents, terms| if presence { documents } else { terms };
        if formula.extra_is_plain() {
            // The same as below, but faster for millions of cells: what does not depend on the cell is computed once.
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

    /// The logarithm of all tokens being absent, in a class with these totals. A token in more documents than the class
    /// has is left out.
    pub(crate) fn base(&self, class: usize, sums: &ClassTotals) -> Base {
        let statistics = &self.statistics;
        if let Some(whole) = &statistics.precomputed {
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

impl TextEstimate<'_> {
    /// Writes the variance of log P(document | class) of every document. `scale` is what the likelihood of a class is multiplied by.
    pub(crate) fn write_variances(&self, column: &TextColumn, scale: &[f64], variances: &mut [f64]) {
        let tokens = column.tokens().names().map(|name| self.statistics.tokens.get(name));
        let tokens: Vec<Option<usize>> = tokens.collect();
        let sums: Vec<ClassTotals> = (0..self.classes()).map(|class| self.sums(class)).collect();
        let absent = match self.formula.family {
            TextFamily::Bernoulli => self.variances_of_absent(&sums),
            _ => vec![0.0; sums.len()],
        };
        let (mut amounts, mut counts) = (Vec::new(), vec![0.0; sums.len()]);
        for (row, variances) in variances.chunks_exact_mut(sums.len()).enumerate() {
            let entries = column.document(row).unwrap_or_default();
            amounts.clear();
            match self.formula.counts_presence() {
                true => amounts.resize(entries.len(), 1.0),
                false => self.statistics.settings.push_amounts(entries, &mut amounts),
            }
            let mut length = 0.0;
            for (&(token, _), &amount) in entries.iter().zip(&amounts) {
                let Some(token) = tokens[token as usize] else { continue };
                length += amount;
                counts.fill(0.0);
                self.statistics.counts.for_each_cell(token, |class, documents, terms| {
                    counts[class] = self.formula.count(documents, terms);
                });
                let pooled = counts.iter().sum();
                for ((variance, &count), sums) in variances.iter_mut().zip(&counts).zip(&sums) {
                    *variance += amount * amount * self.formula.variance(count, pooled, sums);
                }
            }
            if length > 0.0 {
                for (class, variance) in variances.iter_mut().enumerate() {
                    let all = length * length * self.formula.variance_of_total(&sums[class]);
                    *variance = scale[class] * scale[class] * (*variance + absent[class] - all).max(0.0);
                }
            }
        }
    }

    /// Bernoulli: the variance of the logarithm of all tokens being absent, for each class.
    fn variances_of_absent(&self, sums: &[ClassTotals]) -> Vec<f64> {
        let of_count = |count: f64, sums: &ClassTotals| self.formula.variance_of_absent(count, sums);
        let mut variances: Vec<f64> = sums.iter().map(|sums| self.tokens * of_count(0.0, sums)).collect();
        for token in 0..self.statistics.tokens.len() {
            self.statistics.counts.for_each_cell(token, |class, documents, _| {
                variances[class] += of_count(documents, &sums[class]) - of_count(0.0, &sums[class]);
            });
        }
        variances
    }
}

impl Formula {
    /// The variance of what a token adds, but for what comes from the [total](Self::variance_of_total) of its class.
    fn variance(&self, count: f64, pooled: f64, sums: &ClassTotals) -> f64 {
        let (own, rest) = self.added(sums.tokens);
        match self.amounts {
            Amounts::Background(lambda) => {
                let share = (count + 0.5) / (sums.total + 1.0);
                let p = mixed(lambda, count, pooled, sums).max(f64::MIN_POSITIVE);
                lambda * lambda * share * (1.0 - share).max(0.0) / (sums.total + 1.0) / (p * p)
            }
            _ if self.is_complement() => trigamma((pooled - count).max(0.0) + own),
            // Measured from its absence.
            _ if self.family == TextFamily::Bernoulli => {
                variance_of_ln(count + own, sums.total + own + rest) - self.variance_of_absent(count, sums)
            }
            _ => trigamma(count + own),
        }
    }

    /// The variance of what all tokens of a document share by the total of their class, where it is not in those of tokens.
    fn variance_of_total(&self, sums: &ClassTotals) -> f64 {
        let (own, rest) = self.added(sums.tokens);
        match (self.family, self.amounts) {
            (TextFamily::Bernoulli, _) | (_, Amounts::Background(_)) => 0.0,
            _ if self.is_complement() => trigamma(sums.pooled - sums.total + own + rest),
            _ => trigamma(sums.total + own + rest),
        }
    }

    /// Bernoulli: the variance of log P(absent | class).
    fn variance_of_absent(&self, count: f64, sums: &ClassTotals) -> f64 {
        let (own, rest) = self.added(sums.tokens);
        match self.amounts {
            Amounts::Background(_) => 0.0,
            _ => variance_of_ln((sums.total - count).max(0.0) + rest, sums.total + own + rest),
        }
    }
}

impl Base {
    pub(crate) fn with(self, log: f64) -> Base {
        if log == f64::NEG_INFINITY {
            return Base { needed: self.needed + 1, ..self };
        }
        Base { log: self.log + log, ..self }
    }

    pub(super) fn without(self, log: f64) -> Base {
        if log == f64::NEG_INFINITY {
            return Base { needed: self.needed - 1, ..self };
        }
        Base { log: self.log - log, ..self }
    }
}

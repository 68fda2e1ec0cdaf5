//! Text: a document | class is a bag of tokens.
//!
//! For every token and class two sums are kept: the weight of the documents that have the token, and the weighted
//! number of its occurrences. Every event model can be estimated from them without training again: see [`estimate`].

mod by_token;
pub(crate) mod choose;
mod counts;
pub(crate) mod estimate;
pub(crate) mod likelihood;
mod lists;
pub(crate) mod precomputed;
pub(crate) mod probability;
mod rows;
pub(crate) mod summary;
pub(crate) mod table;
mod without_one;

use std::sync::{Arc, OnceLock};

use crate::batch::{Batch, TextColumn, TokenNumbering};
use crate::error::{Error, Result};
use crate::families::CountedRow;
use crate::settings::TextFamily;
use crate::tally::Tally;
use crate::text::TextSettings;
use crate::vocabulary::Vocabulary;
use by_token::ByToken;
use precomputed::Precomputed;
use table::TokenTable;

/// More different tokens than this are refused: training would take some gigabytes.
pub const MOST_TOKENS: usize = 1 << 23;

/// If there are more with pairs of neighbours among them, pairs and punctuation are let go, which only a judgement weighs.
pub(crate) const MOST_TOKENS_WITH_NEIGHBOURS: usize = 1 << 22;

/// Limits of what is kept of a column.
struct Limits {
    tokens: usize,
    /// Pairs of token and class.
    cells: usize,
    /// The bytes of all tokens together.
    bytes: usize,
}

const LIMITS: Limits = Limits { tokens: MOST_TOKENS, cells: 1 << 26, bytes: 1 << 30 };
/// Limits for several parts, such as folds, together. They are only twice as high, because most tokens are rare and
/// occur in few parts.
const LIMITS_OF_PARTS: Limits = Limits { tokens: 2 * MOST_TOKENS, cells: 1 << 27, bytes: 1 << 31 };

/// Refuses parts of a column that would together take too much memory.
pub(crate) fn check_parts(column: &str, parts: &[&TextStatistics]) -> Result<()> {
    check_limits(column, parts, &LIMITS_OF_PARTS)
}

fn check_limits(column: &str, parts: &[&TextStatistics], limits: &Limits) -> Result<()> {
    let sum = |of: fn(&TextStatistics) -> usize| parts.iter().map(|part| of(part)).sum::<usize>();
    let (tokens, counts) = (sum(|part| part.tokens.len()), sum(|part| part.counts.cells_held()));
    if tokens <= limits.tokens && counts <= limits.cells && sum(|part| part.tokens.bytes()) <= limits.bytes {
        return Ok(());
    }
    let (column, folds) = (column.to_owned(), parts.len());
    // With this many hash bits, every fold could have all tokens and stay within the limit.
    let hash_bits = (limits.tokens / folds).max(1).ilog2().min(MOST_TOKENS.ilog2() - 1);
    Err(Error::TooManyTokens { column, tokens, counts, folds, hash_bits })
}

/// Rows of [`TextStatistics::totals`]: the weight of the rows without a document,
pub(crate) const MISSING_ROW: usize = 0;
/// of those with one,
pub(crate) const DOCUMENTS_ROW: usize = 1;
/// the documents of all tokens together,
pub(crate) const PRESENCES_ROW: usize = 2;
/// and their terms.
pub(crate) const TERMS_ROW: usize = 3;
pub(crate) const TOTALS: usize = 4;

/// What is remembered of a column of documents.
#[derive(Debug, Clone)]
pub(crate) struct TextStatistics {
    pub(crate) settings: TextSettings,
    /// Tokens and counts are shared with copies and models until one of them changes, since there may be millions.
    pub(crate) tokens: Arc<Vocabulary>,
    pub(crate) counts: Arc<TokenTable>,
    /// One row for each of the sums above.
    pub(crate) totals: Tally,
    /// Set if only the tokens of some documents were read from a file: what was computed from all tokens.
    pub(crate) precomputed: Option<Precomputed>,
    /// The event model and the pseudocount that [`choose::chosen_pseudocount`] has chosen for it from these counts.
    /// Copies share it as long as nobody changes them.
    pseudocount: Arc<OnceLock<(TextFamily, f64)>>,
    /// Whether pairs of neighbours were let go, so that those of further documents are passed over.
    pub(crate) lacks_neighbours: bool,
    known: Known,
    /// The batch that was counted last.
    by_token: ByToken,
}

/// A cache of the tokens that were looked up so far, by the numbers that they have in the batches.
#[derive(Debug, Clone, Default)]
struct Known {
    numbering: TokenNumbering,
    /// Our id of each token, or [`UNKNOWN`].
    id_of: Vec<u32>,
    /// How many of them have an id of ours; these are all different.
    looked_up: usize,
}

const UNKNOWN: u32 = u32::MAX;

impl Known {
    /// Prepares for a batch.
    fn begin(&mut self, column: &TextColumn) {
        if self.numbering != *column.numbering() {
            self.numbering = column.numbering().clone();
            (self.looked_up, self.id_of) = (0, Vec::new());
        }
        self.id_of.resize(column.tokens().len(), UNKNOWN);
    }

    /// Looks up the tokens of a document. Other tokens of the batch are not added.
    fn look_up(&mut self, documents: &ByToken, column: &TextColumn, tokens: &mut Vocabulary) {
        for token in 0..documents.len() {
            if self.id_of[token] == UNKNOWN && documents.has(token) {
                let name = column.tokens().name(token);
                // If all our tokens were found under this numbering, any other token must be new and needs no lookup.
                let all_known = self.looked_up == tokens.len();
                let id = if all_known { tokens.push_new(name) } else { tokens.intern(name) };
                self.id_of[token] = id as u32;
                self.looked_up += 1;
            }
        }
    }

    /// The id of a token, which is added if it is new.
    #[inline]
    fn id(&mut self, token: usize, column: &TextColumn, tokens: &mut Arc<Vocabulary>) -> usize {
        if self.id_of[token] == UNKNOWN {
            self.id_of[token] = Arc::make_mut(tokens).intern(column.tokens().name(token)) as u32;
            self.looked_up += 1;
        }
        self.id_of[token] as usize
    }
}

impl TextStatistics {
    pub(crate) fn empty(settings: &TextSettings) -> Self {
        TextStatistics {
            settings: settings.clone(),
            tokens: Arc::default(),
            counts: Arc::default(),
            totals: Tally::new(TOTALS, 0),
            precomputed: None,
            pseudocount: Arc::default(),
            lacks_neighbours: false,
            known: Known::default(),
            by_token: ByToken::default(),
        }
    }

    /// Counts these rows of a batch, and looks at no others.
    pub(crate) fn observe(
        &mut self,
        column: &TextColumn,
        counted: &[CountedRow],
        batch: &Batch,
        classes: usize,
    ) {
        if self.lacks_neighbours {
            let words = column.without(|token| self.settings.tokens.passes_over(token));
            return self.observe_all(&words, counted, batch, classes);
        }
        self.observe_all(column, counted, batch, classes);
    }

    /// Whether there are too many pairs of neighbours.
    pub(crate) fn has_too_many_neighbours(&self) -> bool {
        self.settings.tokens.neighbours && self.tokens.len() > MOST_TOKENS_WITH_NEIGHBOURS
    }

    /// Lets go of pairs of neighbours and of punctuation.
    pub(crate) fn drop_neighbours(&mut self) {
        if !self.settings.tokens.neighbours {
            return;
        }
        let is_kept = |id: &usize| !self.settings.tokens.is_beside_words(self.tokens.name(*id));
        let ids: Vec<usize> = (0..self.tokens.len()).filter(is_kept).collect();
        let classes: Vec<usize> = (0..self.totals.classes()).collect();
        let mut rest = self.select(&ids, &classes);
        rest.totals = choose::retotalled(&rest);
        (rest.settings.tokens.neighbours, rest.settings.tokens.characters) = (false, None);
        rest.lacks_neighbours = true;
        *self = rest;
    }

    fn observe_all(&mut self, column: &TextColumn, counted: &[CountedRow], batch: &Batch, classes: usize) {
        self.forget_choices();
        self.totals.grow(TOTALS, classes);
        self.known.begin(column);
        if batch.weights.is_empty() && self.settings.counts_occurrences() {
            return self.observe_whole(column, counted, classes);
        }
        // Tokens are looked up when a document that counts has them, so that tokens of other rows are never added.
        let mut amounts = Vec::new();
        let counts = Arc::make_mut(&mut self.counts);
        counts.grow(0, classes);
        for &CountedRow { row, class } in counted {
            let (weight, class) = (batch.weight(row as usize), class as usize);
            let Some(document) = column.document(row as usize) else {
                self.totals.add(MISSING_ROW, class, weight);
                continue;
            };
            self.totals.add(DOCUMENTS_ROW, class, weight);
            amounts.clear();
            self.settings.push_amounts(document, &mut amounts);
            let mut whole_terms = 0.0;
            for (&(token, _), amount) in document.iter().zip(&amounts) {
                let id = self.known.id(token as usize, column, &mut self.tokens);
                counts.grow(self.tokens.len(), classes);
                let terms = weight * amount;
                counts.add(id, class, weight, terms);
                if weight == 1.0 {
                    whole_terms += terms;
                } else {
                    self.totals.add(PRESENCES_ROW, class, weight);
                    self.totals.add(TERMS_ROW, class, terms);
                }
            }
            if weight == 1.0 {
                // All terms are multiples of the same power of two, and far fewer than 2^53 of it, so these sums are
                // exact.
                self.totals.add(PRESENCES_ROW, class, document.len() as f64);
                self.totals.add(TERMS_ROW, class, whole_terms);
            }
        }
    }

    /// The same for documents of weight one. They are counted token by token, because the cells of one token are
    /// adjacent in memory and those of different tokens are far apart.
    fn observe_whole(&mut self, column: &TextColumn, counted: &[CountedRow], classes: usize) {
        let mut totals = vec![[0_u64; TOTALS]; classes];
        for &CountedRow { row, class } in counted {
            let totals = &mut totals[class as usize];
            let Some(document) = column.document(row as usize) else {
                totals[MISSING_ROW] += 1;
                continue;
            };
            totals[DOCUMENTS_ROW] += 1;
            totals[PRESENCES_ROW] += document.len() as u64;
            totals[TERMS_ROW] += document.iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
        }
        for (class, totals) in totals.iter().enumerate() {
            (0..TOTALS).for_each(|row| self.totals.add(row, class, totals[row] as f64));
        }
        self.by_token.sort(column, counted);
        self.known.look_up(&self.by_token, column, Arc::make_mut(&mut self.tokens));
        let counts = Arc::make_mut(&mut self.counts);
        counts.grow(self.tokens.len(), classes);
        let largest = (0..classes).map(|class| self.totals.get(TERMS_ROW, class)).fold(0.0, f64::max);
        counts.add_documents(&self.known.id_of, &self.by_token, largest);
    }

    /// Unshares the counts before they change, and discards the choice that was made from them.
    fn forget_choices(&mut self) {
        self.pseudocount = Arc::default();
    }

    /// Multiplies all weights by a power of two.
    pub(crate) fn scale(&mut self, power: f64) {
        self.forget_choices();
        Arc::make_mut(&mut self.counts).scale(power);
        self.totals.scale(power);
    }

    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        self.forget_choices();
        self.totals.grow(TOTALS, classes);
        let every_total: Vec<usize> = (0..TOTALS).collect();
        self.totals.merge(&other.totals, &every_total, class_of, sign);
        let tokens = Arc::make_mut(&mut self.tokens);
        let token_of = tokens.intern_all(other.tokens.names());
        let counts = Arc::make_mut(&mut self.counts);
        counts.grow(tokens.len(), classes);
        counts.merge(&other.counts, &token_of, class_of, sign);
    }

    /// The first (token, class) of which `other` has more than we have. A token of `None` means that it has more
    /// documents, or more rows without one.
    pub(crate) fn first_shortfall<'a>(
        &self,
        other: &'a Self,
        class_of: &[Option<usize>],
    ) -> Option<(Option<&'a str>, usize)> {
        let token_of: Vec<Option<usize>> = other.tokens.names().map(|name| self.tokens.get(name)).collect();
        if let Some((token, class)) = self.counts.first_shortfall(&other.counts, &token_of, class_of) {
            return Some((Some(other.tokens.name(token)), class));
        }
        let every_total: Vec<Option<usize>> = (0..TOTALS).map(Some).collect();
        self.totals.first_shortfall(&other.totals, &every_total, class_of).map(|(_, class)| (None, class))
    }

    /// The canonical form: tokens in the order of their bytes, none that counts zero, and classes in the given order.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        if classes.iter().copied().eq(0..self.totals.classes()) && self.is_canonical() {
            return self.clone();
        }
        let counted: Vec<bool> = (0..self.tokens.len()).map(|id| !self.counts.is_zero(id)).collect();
        let mut ids = self.tokens.sorted_by_bytes();
        ids.retain(|&id| counted[id]);
        self.select(&ids, classes)
    }

    /// Whether this is in [canonical](Self::canonical) form, provided that the classes are in order.
    pub(crate) fn is_canonical(&self) -> bool {
        self.totals.is_canonical() && self.tokens.is_sorted_by_bytes() && self.counts.is_canonical()
    }

    /// These tokens and classes, in this order.
    pub(crate) fn select(&self, tokens: &[usize], classes: &[usize]) -> Self {
        let mut class_of = vec![None; self.totals.classes()];
        (0..).zip(classes).for_each(|(to, &class)| class_of[class] = Some(to));
        let every_total: Vec<usize> = (0..TOTALS).collect();
        TextStatistics {
            settings: self.settings.clone(),
            tokens: Arc::new(self.tokens.select(tokens)),
            counts: Arc::new(self.counts.select(tokens, &class_of)),
            totals: self.totals.select(&every_total, classes),
            precomputed: self.precomputed.clone(),
            pseudocount: Arc::default(),
            lacks_neighbours: self.lacks_neighbours,
            known: Known::default(),
            by_token: ByToken::default(),
        }
    }

    /// Roughly how many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.tokens.memory() + self.counts.memory()
    }

    /// Refuses a column that would take too much memory.
    pub(crate) fn check_size(&self, column: &str) -> Result<()> {
        check_limits(column, &[self], &LIMITS)
    }

    /// Whether the totals equal the sums over all tokens, and no token is in more documents than there are.
    pub(crate) fn is_consistent(&self) -> bool {
        let mut rest = self.totals.clone();
        let classes = self.totals.classes();
        let documents: Vec<f64> = (0..classes).map(|class| self.totals.get(DOCUMENTS_ROW, class)).collect();
        if !self.counts.documents_are_at_most(&documents) {
            return false;
        }
        if let Some(whole) = self.counts.whole_totals() {
            for (class, totals) in whole.iter().enumerate() {
                for (row, total) in [PRESENCES_ROW, TERMS_ROW].into_iter().zip(totals) {
                    // An f64 holds each half of the number exactly.
                    let (high, low) = (total >> 32 << 32, total & u64::from(u32::MAX));
                    [high, low].into_iter().for_each(|part| rest.add(row, class, -(part as f64)));
                }
            }
        } else {
            for cell in self.counts.all_cells() {
                rest.add(PRESENCES_ROW, cell.class as usize, -cell.documents);
                rest.add(TERMS_ROW, cell.class as usize, -cell.terms);
            }
        }
        for (which, row) in [PRESENCES_ROW, TERMS_ROW].into_iter().enumerate() {
            for (cell, term) in self.counts.residue(which) {
                rest.add(row, self.counts.class_of_cell(cell), -term);
            }
        }
        (0..classes).all(|class| rest.is_zero(PRESENCES_ROW, class) && rest.is_zero(TERMS_ROW, class))
    }
}

#[cfg(test)]
mod tests {
    use super::estimate::TextEstimate;
    use super::*;
    use crate::settings::Settings;

    /// Counts one document of one class, the class being one of two.
    fn document(words: &str, class: u32) -> TextStatistics {
        let mut column = TextColumn::default();
        words.split_whitespace().for_each(|word| column.add(word));
        column.end_document();
        let mut statistics = TextStatistics::empty(&TextSettings::default());
        statistics.observe(&column, &[CountedRow { row: 0, class }], &Batch::default(), 2);
        statistics
    }

    #[test]
    fn documents_that_count_one_are_counted_as_others_are() {
        // A word that occurs more often than two bytes can say, then than four bytes can say in a class, which then has
        // enough classes for a cell of each.
        let many = [3, u32::from(u16::MAX), 1 + u32::from(u16::MAX), u32::MAX - 5, 4, 1, u32::MAX, 7];
        let ids = [0, 1].repeat(many.len());
        let counts: Vec<u32> = many.iter().flat_map(|&n| [n, 1]).collect();
        let ends: Vec<usize> = (1..=many.len()).map(|document| 2 * document).collect();
        let tokens: Vocabulary = ["often", "once"].into_iter().collect();
        let column = TextColumn::from_counts(tokens, &ends, &ids, &counts).unwrap();
        for classes in [1, 2, 8, 40] {
            let mut observed = [vec![], vec![1.0; many.len()]].map(|weights| {
                let batch = Batch { weights, ..Batch::default() };
                let mut statistics = TextStatistics::empty(&TextSettings::default());
                for rows in [0..3, 3..5, 5..8_u32] {
                    let counted: Vec<_> = rows.map(|row| CountedRow { row, class: row % classes }).collect();
                    statistics.observe(&column, &counted, &batch, classes as usize);
                }
                statistics
            });
            let exact = |statistics: &mut TextStatistics| -> Vec<f64> {
                let cells = (0..2).flat_map(|token| (0..classes as usize).map(move |class| (token, class)));
                let counts = cells.flat_map(|(token, class)| statistics.counts.exact(token, class));
                let totals = (0..TOTALS).flat_map(|row| (0..classes as usize).map(move |class| (row, class)));
                let totals = totals.map(|(row, class)| statistics.totals.get(row, class));
                counts.map(|sum| sum.value()).chain(totals).collect()
            };
            let [whole, weighted] = observed.each_mut().map(exact);
            assert_eq!(whole, weighted, "{classes} classes");
            let terms: u64 = many.iter().map(|&n| u64::from(n) + 1).sum();
            let total: f64 = whole[whole.len() - classes as usize..].iter().sum();
            assert_eq!(total, terms as f64);
        }
    }

    #[test]
    fn a_pseudocount_is_that_of_the_counts_as_they_are() {
        let settings = Settings::default();
        let chosen = |statistics: &TextStatistics| {
            let estimate = TextEstimate::new(statistics, &settings, "text").unwrap();
            estimate.formula.amounts
        };
        let mut statistics = document("to be or not to be", 0);
        statistics.merge(&document("that is the question to ask or not", 1), &[0, 1], 2, 1.0);
        let before = statistics.canonical(&[0, 1]);
        let mut changed = before.clone();
        (0..9).for_each(|_| changed.merge(&document("to be or not", 0), &[0, 1], 2, 1.0));
        let changed = changed.canonical(&[0, 1]);
        let copy = before.clone();
        let anew = |statistics: &TextStatistics| TextStatistics {
            pseudocount: Arc::default(),
            ..statistics.clone()
        };
        assert_ne!(chosen(&before), chosen(&changed));
        for statistics in [&before, &changed, &copy] {
            assert_eq!(chosen(statistics), chosen(&anew(statistics)));
        }
        // Chosen for another event model, it is of no use.
        let multinomial = |statistics: &TextStatistics| {
            let mut settings = settings.clone();
            settings.text.model = Some(TextFamily::Multinomial);
            TextEstimate::new(statistics, &settings, "text").unwrap().formula.amounts
        };
        assert_eq!(multinomial(&changed), multinomial(&anew(&changed)));
    }

    #[test]
    fn parts_within_the_limits_may_exceed_them_together() {
        let mut all = document("to be or not to be", 0);
        let part = document("or what", 1);
        let limits = Limits { tokens: 4, cells: 6, bytes: 13 };
        for statistics in [&all, &part] {
            assert_eq!(check_limits("text", &[statistics], &limits), Ok(()));
        }
        all.merge(&part, &[0, 1], 2, 1.0);
        let refusal = check_limits("text", &[&all], &limits).unwrap_err();
        let counts = all.counts.cells_held();
        let message = refusal.to_string();
        assert!(message.starts_with("the column `text` has 5 different tokens and "), "{message}");
        assert!(message.contains("counts of them, which") && message.contains(" 2^2 buckets"), "{message}");

        // Each of the three limits by itself, where it is reached and where it is passed.
        let reached = Limits { tokens: 5, cells: counts, bytes: "tobeornotwhat".len() };
        assert_eq!(check_limits("text", &[&all], &reached), Ok(()));
        for passed in [
            Limits { tokens: 4, ..reached },
            Limits { cells: counts - 1, ..reached },
            Limits { bytes: reached.bytes - 1, ..reached },
        ] {
            assert!(check_limits("text", &[&all], &passed).is_err());
        }
        assert_eq!(all.check_size("text"), Ok(()));

        // Parts that are kept side by side count one by one.
        let message = check_limits("text", &[&all, &part], &reached).unwrap_err().to_string();
        assert!(message.contains(" in 2 folds, which") && message.contains(" 2^1 buckets"), "{message}");
        assert_eq!(check_parts("text", &[&all, &part]), Ok(()));
    }
}

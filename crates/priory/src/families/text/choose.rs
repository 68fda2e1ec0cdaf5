//! Choices that are made from the counts themselves: the event model, the pseudocount, the tokens.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::estimate::Formula;
use super::table::WholeRow;
use super::{DOCUMENTS_ROW, PRESENCES_ROW, TERMS_ROW, TextStatistics};
use crate::error::{Error, Result};
use crate::settings::{Family, Settings, TextFamily, TextModel};
use crate::tally::Tally;
use crate::text::TokenStyle;

/// The event model of a column: as the settings say, or by rule. Presence, which counts whether a token is there and
/// not how often, is used for two classes, and for n-grams of characters, which are few and frequent. Complement of
/// presence is used for more classes, because otherwise classes with few words would attract rare words.
pub(crate) fn chosen_family(
    settings: &Settings,
    column: &str,
    style: TokenStyle,
    classes: usize,
) -> Result<TextFamily> {
    let asked = match settings.families.get(column) {
        None => settings.text.model,
        Some(Family::Text(family)) => Some(*family),
        Some(Family::Bernoulli) => Some(TextFamily::Bernoulli),
        Some(family) => {
            return Err(Error::Settings(format!(
                "`{column}` is text, which cannot be {family}; it can be multinomial, bernoulli, presence or complement"
            )));
        }
    };
    let by_presence = classes <= 2 || matches!(style, TokenStyle::Characters(_));
    let by_rule = if by_presence { TextFamily::Presence } else { TextFamily::ComplementPresence };
    Ok(asked.unwrap_or(by_rule))
}

/// The statistics of the tokens that the settings keep, and of none that only a judgement weighs. All totals are those of the tokens kept.
pub(crate) fn limited<'a>(statistics: &'a TextStatistics, limits: &TextModel) -> Cow<'a, TextStatistics> {
    let tokens = statistics.tokens.len();
    let most = limits.most_tokens.map_or(tokens, |most| usize::try_from(most).unwrap_or(tokens)).min(tokens);
    let settings = &statistics.settings.tokens;
    if most == tokens && limits.min_documents <= 0.0 && !settings.neighbours {
        return Cow::Borrowed(statistics);
    }
    let documents = |token: usize| statistics.counts.documents_without(token, 0.0);
    let mut kept: Vec<usize> = (0..tokens)
        .filter(|&token| !settings.is_beside_words(statistics.tokens.name(token)))
        .filter(|&token| limits.min_documents <= 0.0 || documents(token) >= limits.min_documents)
        .collect();
    if kept.len() > most {
        let information = Information::new(statistics);
        let mut ranked: Vec<(f64, usize)> =
            kept.iter().map(|&token| (information.of(statistics, token), token)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        kept = ranked.into_iter().take(most).map(|(_, token)| token).collect();
        kept.sort_unstable();
    }
    if kept.len() == tokens {
        return Cow::Borrowed(statistics);
    }
    let classes: Vec<usize> = (0..statistics.totals.classes()).collect();
    let mut limited = statistics.select(&kept, &classes);
    limited.totals = retotalled(&limited);
    Cow::Owned(limited)
}

/// The totals of the tokens that are kept.
pub(super) fn retotalled(statistics: &TextStatistics) -> Tally {
    let classes = statistics.totals.classes();
    let one_to_one: Vec<usize> = (0..classes).collect();
    let mut totals = Tally::new(super::TOTALS, classes);
    let mut documents = statistics.totals.select(&[super::MISSING_ROW, DOCUMENTS_ROW], &one_to_one);
    documents.grow(2, classes);
    totals.merge(&documents, &[super::MISSING_ROW, DOCUMENTS_ROW], &one_to_one, 1.0);
    for cell in statistics.counts.all_cells() {
        totals.add(PRESENCES_ROW, cell.class as usize, cell.documents);
        totals.add(TERMS_ROW, cell.class as usize, cell.terms);
    }
    for (which, row) in [PRESENCES_ROW, TERMS_ROW].into_iter().enumerate() {
        for (cell, term) in statistics.counts.residue(which) {
            totals.add(row, statistics.counts.class_of_cell(cell), term);
        }
    }
    totals
}

/// How much the presence of a token tells about the class, in nats: their mutual information.
pub(crate) struct Information {
    documents: Vec<f64>,
    all: f64,
}

impl Information {
    pub(crate) fn new(statistics: &TextStatistics) -> Self {
        let classes = 0..statistics.totals.classes();
        let documents: Vec<f64> = classes.map(|class| statistics.totals.get(DOCUMENTS_ROW, class)).collect();
        Information { all: documents.iter().sum(), documents }
    }

    pub(crate) fn of(&self, statistics: &TextStatistics, token: usize) -> f64 {
        let present: f64 = statistics.counts.cells(token).map(|cell| cell.documents).sum();
        let absent = self.all - present;
        let term = |joint: f64, row: f64, class: f64| {
            if joint > 0.0 { joint * libm::log(joint * self.all / (row * class)) } else { 0.0 }
        };
        let mut information = 0.0;
        let mut cells = statistics.counts.cells(token).peekable();
        for (class, &documents) in self.documents.iter().enumerate() {
            let here = cells.next_if(|cell| cell.class as usize == class).map_or(0.0, |cell| cell.documents);
            information += term(here, present, documents) + term(documents - here, absent, documents);
        }
        information / self.all
    }
}

/// The range of pseudocounts that can be chosen: powers of ten from 0.0001 to 10 are tried first, and then four steps
/// to either side of the best.
pub(crate) const PSEUDOCOUNTS: RangeInclusive<f64> = 1e-5..=100.0;

/// The pseudocount α under which documents are most probable in their own class when each of them is left out of the
/// counts: to the nearest step of a tenth of a decade, one of [`PSEUDOCOUNTS`].
///
/// A token that occurs n times in d documents of a class is taken to occur n / d times in each; so the document that
/// is left out leaves n − n / d. Tokens that only one document has would not be known without it, and are left out.
///
/// The result is remembered for the next call with the same event model.
pub(crate) fn chosen_pseudocount(statistics: &TextStatistics, formula: &Formula) -> f64 {
    let choose = || (formula.family, best_pseudocount(statistics, formula));
    match *statistics.pseudocount.get_or_init(choose) {
        (family, alpha) if family == formula.family => alpha,
        _ => choose().1,
    }
}

fn best_pseudocount(statistics: &TextStatistics, formula: &Formula) -> f64 {
    let criterion = LeftOut::new(statistics, formula);
    let alpha = |step: i32| libm::pow(10.0, f64::from(step) / 10.0);
    // In practice the criterion has a single peak, so powers of ten are tried first, and then tenths of a decade around
    // the best.
    let best_of = |steps: &mut dyn Iterator<Item = i32>| {
        let mut best = (f64::NEG_INFINITY, 0);
        for step in steps {
            let log_likelihood = criterion.log_likelihood(alpha(step));
            if log_likelihood > best.0 {
                best = (log_likelihood, step);
            }
        }
        best.1
    };
    let decade = best_of(&mut (-8..=2).map(|half| 5 * half));
    alpha(best_of(&mut (decade - 4..=decade + 4)))
}

/// What remains of a count in d documents without one of them, if there is more than one.
fn without_one(count: f64, d: f64) -> f64 {
    match d > 1.0 {
        true if count == d => count - 1.0, // division would take long
        true => count - count / d,
        false => 0.0,
    }
}

/// Whole numbers below this are counted in an array.
const SIDE: usize = 256;

/// A summary of the counts that suffices for the criterion: equal cells are counted together.
struct LeftOut {
    bernoulli: bool,
    /// By the bits of what is left of a cell without one of its documents: what those cells count together.
    present: BTreeMap<u64, f64>,
    /// Bernoulli: the same for absence.
    absent: BTreeMap<u64, f64>,
    /// For each class, N and what remains of it without an average document.
    totals: Vec<(f64, f64)>,
    tokens: f64,
}

impl LeftOut {
    fn new(statistics: &TextStatistics, formula: &Formula) -> Self {
        let classes = statistics.totals.classes();
        let bernoulli = formula.family == TextFamily::Bernoulli;
        let documents: Vec<f64> =
            (0..classes).map(|class| statistics.totals.get(DOCUMENTS_ROW, class)).collect();
        let mut left = LeftOut {
            bernoulli,
            present: BTreeMap::new(),
            absent: BTreeMap::new(),
            totals: vec![(0.0, 0.0); classes],
            tokens: 0.0,
        };
        // Most cells hold small whole numbers, which an array counts faster than a map.
        let mut alike = vec![0_u32; SIDE * SIDE];
        match statistics.counts.whole_rows().filter(|_| formula.counts_presence() && !bernoulli) {
            Some(rows) => left.add_documents(rows),
            None => left.add_cells(statistics, formula, &documents, &mut alike),
        }
        for (i, &cells) in alike.iter().enumerate().filter(|(_, cells)| **cells > 0) {
            let (count, d) = ((i / SIDE) as f64, (i % SIDE) as f64);
            *left.present.entry(without_one(count, d).to_bits()).or_default() += f64::from(cells) * count;
        }
        if bernoulli {
            // Every document either has a token or does not.
            let (tokens, cells) = (left.tokens, statistics.counts.all_cells());
            for (class, &n) in documents.iter().enumerate() {
                let with = cells.clone().filter(|cell| cell.class as usize == class).count() as f64;
                let zeros = (tokens - with).max(0.0) * n;
                *left.absent.entry((n - 1.0).max(0.0).to_bits()).or_default() += zeros;
                left.totals[class] = (tokens * n, (n - 1.0).max(0.0));
            }
        }
        left
    }

    /// Adds all cells.
    fn add_cells(
        &mut self,
        statistics: &TextStatistics,
        formula: &Formula,
        documents: &[f64],
        alike: &mut [u32],
    ) {
        let small = |x: f64| Some(x as usize).filter(|&n| n < SIDE && n as f64 == x);
        let presence = formula.counts_presence();
        for token in 0..statistics.tokens.len() {
            let mut all = 0.0;
            statistics.counts.for_each_cell(token, |_, documents, _| all += documents);
            if all <= 1.0 {
                continue;
            }
            self.tokens += 1.0;
            statistics.counts.for_each_cell(token, |class, d, terms| {
                let count = if presence { d } else { terms };
                let rest = without_one(count, d);
                let (total, total_left) = &mut self.totals[class];
                *total += count;
                *total_left += rest;
                match (small(count), small(d)) {
                    (Some(count), Some(d)) => alike[count * SIDE + d] += 1,
                    _ => *self.present.entry(rest.to_bits()).or_default() += count,
                }
                if self.bernoulli {
                    let without = documents[class] - d;
                    *self.absent.entry((without - 1.0).max(0.0).to_bits()).or_default() += without;
                }
            });
        }
    }

    /// The same where whole numbers of documents are all that counts: what is left of d of them is d - 1.
    fn add_documents<'a>(&mut self, rows: impl Iterator<Item = WholeRow<'a>>) {
        let mut alike = [0_u32; SIDE];
        let mut totals = vec![(0_u64, 0_u64); self.totals.len()];
        for (classes, counts) in rows {
            if counts.iter().map(|&[d, _]| u64::from(d)).sum::<u64>() <= 1 {
                continue;
            }
            self.tokens += 1.0;
            for (&class, &[d, _]) in classes.iter().zip(counts) {
                let (total, cells) = &mut totals[usize::from(class)];
                *total += u64::from(d);
                *cells += u64::from(d > 0);
                match d as usize {
                    d if d < SIDE => alike[d] += 1,
                    _ => *self.present.entry(f64::from(d - 1).to_bits()).or_default() += f64::from(d),
                }
            }
        }
        for (d, &cells) in alike.iter().enumerate().skip(1).filter(|(_, cells)| **cells > 0) {
            *self.present.entry(((d - 1) as f64).to_bits()).or_default() += f64::from(cells) * d as f64;
        }
        for (of_class, (total, cells)) in self.totals.iter_mut().zip(totals) {
            *of_class = (total as f64, (total - cells) as f64);
        }
    }

    fn log_likelihood(&self, alpha: f64) -> f64 {
        let logs = |cells: &BTreeMap<u64, f64>| -> f64 {
            cells.iter().map(|(&rest, weight)| weight * libm::log(f64::from_bits(rest) + alpha)).sum()
        };
        let added = if self.bernoulli { 2.0 * alpha } else { alpha * self.tokens };
        let totals: f64 = self.totals.iter().map(|(total, rest)| total * libm::log(rest + added)).sum();
        logs(&self.present) + logs(&self.absent) - totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Batch, TextColumn};
    use crate::families::CountedRow;
    use crate::families::text::estimate::Amounts;
    use crate::text::TextSettings;

    #[test]
    fn whole_numbers_of_documents_take_a_shorter_way_to_the_same_sums() {
        let mut column = TextColumn::default();
        for document in 0..1000_u32 {
            ["always", "always"].into_iter().for_each(|word| column.add(word));
            (1..9).filter(|n| document % (n * n) == 0).for_each(|n| column.add(&format!("word{n}")));
            column.add(&format!("once{document}"));
            column.end_document();
        }
        let mut statistics = TextStatistics::empty(&TextSettings::default());
        let counted: Vec<_> =
            (0..1000).map(|row| CountedRow { row, class: u32::from(row % 3 == 0) }).collect();
        statistics.observe(&column, &counted, &Batch::default(), 2);
        let statistics = statistics.canonical(&[0, 1]);
        let mut wide = statistics.clone();
        wide.scale(1.0);
        assert!(statistics.counts.whole_rows().is_some() && wide.counts.whole_rows().is_none());
        for family in [
            TextFamily::Presence,
            TextFamily::ComplementPresence,
            TextFamily::Multinomial,
            TextFamily::Bernoulli,
        ] {
            let formula = Formula { family, amounts: Amounts::Each(1.0) };
            let [a, b] = [&statistics, &wide].map(|statistics| LeftOut::new(statistics, &formula));
            assert_eq!((a.present, a.absent, a.totals, a.tokens), (b.present, b.absent, b.totals, b.tokens));
        }
    }
}

//! Categorical family: x | class takes one of J values.
//!
//! Maximum likelihood: P(v | class) = n(v, class) / n(class), over the rows where the value is known.
//! Smoothed as [`crate::settings::Smoothing`] says. A value never met in training gets what the smoothing would give it had
//! it been known to exist: with Lidstone α, α / (n(class) + α (J + 1)).

use std::borrow::Cow;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::batch::{Batch, CategoryColumn, MISSING};
use crate::estimate::{Evidence, Ratio, Scalar, Smoother};
use crate::families::lookup::{self, NO_ROW};
use crate::families::{Alike, CountedRow, Gone, Removed};
use crate::settings::{MissingValues, Settings};
use crate::tally::Tally;
use crate::vocabulary::Vocabulary;

/// The row of the tally that counts missing values; value i has row i + 1.
pub(crate) const MISSING_ROW: usize = 0;

/// The weight of each value and of missing, per class. Shared by the categorical and the Bernoulli family.
#[derive(Debug, Clone)]
pub(crate) struct CategoryStatistics {
    pub(crate) values: Vocabulary,
    pub(crate) counts: Tally,
}

impl CategoryStatistics {
    pub(crate) fn empty() -> Self {
        CategoryStatistics { values: Vocabulary::default(), counts: Tally::new(1, 0) }
    }

    /// Counts these rows of a batch, and looks at no others.
    pub(crate) fn observe(
        &mut self,
        column: &CategoryColumn,
        counted: &[CountedRow],
        batch: &Batch,
        classes: usize,
    ) {
        self.counts.grow(1, classes);
        let cells = (column.values.len() + 1) * classes;
        if batch.weights.is_empty() && (1..=counted.len()).contains(&cells) {
            return self.observe_few(column, counted, classes);
        }
        // Values are looked up when a row that counts first shows them: the rest of the batch leaves no trace.
        if counted.len() < column.values.len() {
            // Most of the values belong to other rows, and it would take longer to make room to remember these.
            for &CountedRow { row, class } in counted {
                let to = self.row_for(column, column.codes[row as usize], classes);
                self.counts.add(to, class as usize, batch.weight(row as usize));
            }
            return;
        }
        let mut row_of: Vec<usize> = vec![usize::MAX; column.values.len() + 1];
        for &CountedRow { row, class } in counted {
            let code = column.codes[row as usize];
            let mut to = row_of[code as usize];
            if to == usize::MAX {
                to = self.row_for(column, code, classes);
                row_of[code as usize] = to;
            }
            self.counts.add(to, class as usize, batch.weight(row as usize));
        }
    }

    /// The row of the tally for what this code means in a batch; a new value gets a new one.
    fn row_for(&mut self, column: &CategoryColumn, code: u32, classes: usize) -> usize {
        if code == MISSING {
            return MISSING_ROW;
        }
        let row = self.values.intern(column.values.name(code as usize - 1)) + 1;
        self.counts.grow(row + 1, classes);
        row
    }

    /// The same for rows that count one each, of more rows than values: whole numbers first, and only their sums
    /// into the table.
    fn observe_few(&mut self, column: &CategoryColumn, counted: &[CountedRow], classes: usize) {
        let mut sums = vec![0_u32; (column.values.len() + 1) * classes];
        for &CountedRow { row, class } in counted {
            sums[column.codes[row as usize] as usize * classes + class as usize] += 1;
        }
        for (code, sums) in (0..).zip(sums.chunks_exact(classes)) {
            if sums.iter().all(|&count| count == 0) {
                continue; // no row that counts has this value: it leaves no trace
            }
            let row = self.row_for(column, code, classes);
            for (class, &count) in sums.iter().enumerate().filter(|(_, count)| **count > 0) {
                self.counts.add(row, class, f64::from(count));
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        let row_of: Vec<usize> = std::iter::once(MISSING_ROW)
            .chain(other.values.names().map(|name| self.values.intern(name) + 1))
            .collect();
        self.counts.grow(self.values.len() + 1, classes);
        self.counts.merge(&other.counts, &row_of, class_of, sign);
    }

    /// The first (value, class) of `other` of which there is more than here; value `None` is missing.
    pub(crate) fn first_shortfall<'a>(
        &self,
        other: &'a Self,
        class_of: &[Option<usize>],
    ) -> Option<(Option<&'a str>, usize)> {
        let row_of: Vec<Option<usize>> = std::iter::once(Some(MISSING_ROW))
            .chain(other.values.names().map(|name| self.values.get(name).map(|id| id + 1)))
            .collect();
        let (row, class) = self.counts.first_shortfall(&other.counts, &row_of, class_of)?;
        Some(((row != MISSING_ROW).then(|| other.values.name(row - 1)), class))
    }

    /// Values in canonical order, none that counts zero, classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let ids: Vec<usize> =
            self.values.sorted().into_iter().filter(|&id| !self.counts.row_is_zero(id + 1)).collect();
        let rows: Vec<usize> = std::iter::once(MISSING_ROW).chain(ids.iter().map(|id| id + 1)).collect();
        CategoryStatistics { values: self.values.select(&ids), counts: self.counts.select(&rows, classes) }
    }
}

/// A column made ready for estimation: its possible values and the totals that every formula needs.
pub(crate) struct CategoryEstimate<'a, T> {
    statistics: &'a CategoryStatistics,
    smoother: Smoother<T>,
    missing: MissingValues,
    /// Values that are possible whether or not they were met, such as both sides of a Bernoulli column.
    declared: Vec<String>,
    /// All possible values, met or declared, in canonical order.
    pub(crate) values: Cow<'a, Vocabulary>,
    /// Row 0: the weight of each class where the value is known.
    totals: Tally,
    /// The weight of each value in all classes together; rows as in the statistics.
    pooled: Tally,
    /// Row 0: the weight of all classes where the value is known.
    pooled_total: Tally,
    /// The row that counts missing values, if they count and there are any.
    missing_row: Option<usize>,
}

/// What a probability is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Asked<'a> {
    /// A value, met in training or not.
    Value(&'a str),
    /// Any value that was never met.
    Unseen,
    /// No value, where that counts as one.
    Missing,
}

/// What was asked for, looked up once.
struct Place<'v> {
    name: Option<&'v str>,
    /// The row of the tally that counts it, if it was ever met.
    row: Option<usize>,
    is_declared: bool,
}

impl<'a, T: Scalar> CategoryEstimate<'a, T> {
    /// Prepares canonical statistics.
    pub(crate) fn new(
        statistics: &'a CategoryStatistics,
        settings: &Settings,
        column: &str,
        declared: Vec<String>,
    ) -> Self {
        let smoother = Smoother::new(settings, column);
        let mut values = Cow::Borrowed(&statistics.values);
        for name in smoother.listed().chain(declared.iter().map(String::as_str)) {
            if values.get(name).is_none() {
                values.to_mut().intern(name);
            }
        }
        if let Cow::Owned(more) = &values {
            values = Cow::Owned(more.select(&more.sorted()));
        }

        let counts = &statistics.counts;
        let every_class: Vec<usize> = (0..counts.classes()).collect();
        let every_row: Vec<usize> = (0..counts.rows()).collect();
        let one_class = vec![0; counts.classes()];
        let mut known_or_not = vec![0; counts.rows()];
        known_or_not[MISSING_ROW] = match settings.missing {
            MissingValues::Skipped => 1,
            MissingValues::Counted => 0,
        };
        let mut totals = Tally::new(2, counts.classes());
        totals.merge(counts, &known_or_not, &every_class, 1.0);
        let mut pooled = Tally::new(counts.rows(), 1);
        pooled.merge(counts, &every_row, &one_class, 1.0);
        let mut pooled_total = Tally::new(2, 1);
        pooled_total.merge(counts, &known_or_not, &one_class, 1.0);
        let counts_missing = settings.missing == MissingValues::Counted && !counts.row_is_zero(MISSING_ROW);
        CategoryEstimate {
            statistics,
            smoother,
            missing: settings.missing,
            declared,
            values,
            totals,
            pooled,
            pooled_total,
            missing_row: counts_missing.then_some(MISSING_ROW),
        }
    }

    /// P(asked | class).
    pub(crate) fn likelihood(&self, asked: Asked<'_>, class: usize) -> Ratio<T> {
        self.likelihood_at(&self.place(asked), class, Gone::default())
    }

    /// The same as if some weight of what is asked for had not been there.
    fn likelihood_at(&self, place: &Place<'_>, class: usize, gone: Gone) -> Ratio<T> {
        self.smoother.likelihood(place.name, &self.evidence(place, class, gone))
    }

    /// Where this is counted, which is the same for all classes.
    fn place<'v>(&self, asked: Asked<'v>) -> Place<'v> {
        let name = match asked {
            Asked::Value(name) => Some(name),
            Asked::Unseen | Asked::Missing => None,
        };
        Place { name, row: self.row(asked), is_declared: self.is_declared(asked) }
    }

    fn evidence(&self, place: &Place<'_>, class: usize, gone: Gone) -> Evidence {
        let row = place.row;
        let pooled_count = row.map_or(0.0, |row| self.pooled.get_without(row, 0, gone.of_all));
        let is_possible = pooled_count > 0.0 || place.is_declared;
        let mut possible = self.values.len() + usize::from(self.missing_row.is_some());
        if row.is_some() && !is_possible {
            possible -= 1; // what is gone was the only row with this value
        }
        Evidence {
            count: row.map_or(0.0, |row| self.statistics.counts.get_without(row, class, gone.of_class)),
            total: self.totals.get_without(0, class, gone.of_class),
            pooled_count,
            pooled_total: self.pooled_total.get_without(0, 0, gone.of_all),
            cells: 1.0,
            other_cells: (possible - usize::from(is_possible)) as f64,
        }
    }

    /// What to ask for a cell; `None` if the cell is missing and says nothing.
    pub(crate) fn asked<'v>(&self, value: Option<&'v str>) -> Option<Asked<'v>> {
        match (value, self.missing) {
            (Some(value), _) => Some(Asked::Value(value)),
            (None, MissingValues::Counted) => Some(Asked::Missing),
            (None, MissingValues::Skipped) => None,
        }
    }

    fn is_declared(&self, asked: Asked<'_>) -> bool {
        match asked {
            Asked::Value(name) => {
                self.smoother.lists(name) || self.declared.iter().any(|value| value == name)
            }
            Asked::Unseen | Asked::Missing => false,
        }
    }

    /// The row of the tally that counts this, if it was ever met.
    fn row(&self, asked: Asked<'_>) -> Option<usize> {
        match asked {
            Asked::Value(name) => self.statistics.values.get(name).map(|id| id + 1),
            Asked::Unseen => None,
            Asked::Missing => self.missing_row,
        }
    }
}

impl CategoryEstimate<'_, f64> {
    /// log P(x | class) for every class but the one that has lost a row of this weight with this value. `None` if it is what
    /// it was before: only a value that goes with its last row, and a background of all rows, matter to the other classes.
    fn ln_of_others(&self, place: &Place<'_>, weight: f64) -> Option<Vec<f64>> {
        let vanishes = || place.row.is_some_and(|row| self.pooled.get_without(row, 0, weight) <= 0.0);
        let gone = Gone { of_class: 0.0, of_all: weight };
        let ln = |class: usize| self.likelihood_at(place, class, gone).ln();
        (self.smoother.looks_at_all_classes() || vanishes())
            .then(|| (0..self.totals.classes()).map(ln).collect())
    }

    fn ln_of_own(&self, place: &Place<'_>, removed: Removed) -> f64 {
        let gone = Gone { of_class: removed.weight, of_all: removed.weight };
        self.likelihood_at(place, removed.class, gone).ln()
    }

    /// Turns the log-likelihoods of a batch into those that training rows would have without themselves.
    pub(crate) fn leave_out(&self, column: &CategoryColumn, learnt: &[(usize, Removed)], ln: &mut [f64]) {
        let classes = self.totals.classes();
        let place = |code: usize| {
            let value = code.checked_sub(1).map(|id| column.values.name(id));
            self.asked(value).map(|asked| self.place(asked))
        };
        // Rows of one weight that hold the same are alike, so what was worked out is kept as long as the weight stays.
        let mut of_code: Vec<Option<OfCode<'_>>> = (0..=column.values.len()).map(|_| None).collect();
        for &(row, removed) in learnt {
            let code = column.codes[row] as usize;
            let found = &mut of_code[code];
            if found.as_ref().is_none_or(|found| found.weight != removed.weight) {
                let place = place(code);
                let others = place.as_ref().and_then(|place| self.ln_of_others(place, removed.weight));
                *found = Some(OfCode { weight: removed.weight, place, others, own: HashMap::default() });
            }
            if let Some(OfCode { place: Some(place), others, own, .. }) = found {
                let ln = &mut ln[row * classes..][..classes];
                others.iter().for_each(|others| ln.copy_from_slice(others));
                ln[removed.class] =
                    *own.entry(removed.class).or_insert_with(|| self.ln_of_own(place, removed));
            }
        }
    }

    /// Writes the variance of log P(x | class) of every row, where the column says something.
    pub(crate) fn write_variances(&self, column: &CategoryColumn, variances: &mut [f64]) {
        let classes = self.totals.classes();
        let of_code = |code: usize| {
            let value = code.checked_sub(1).map(|id| column.values.name(id));
            let place = self.place(self.asked(value)?);
            let of_class =
                |class| self.smoother.variance(place.name, &self.evidence(&place, class, Gone::default()));
            Some((0..classes).map(of_class).collect::<Vec<f64>>())
        };
        let mut known: Vec<Option<Option<Vec<f64>>>> = vec![None; column.values.len() + 1];
        for (&code, variances) in column.codes.iter().zip(variances.chunks_exact_mut(classes)) {
            let found = known[code as usize].get_or_insert_with(|| of_code(code as usize));
            found.iter().for_each(|found| variances.copy_from_slice(found));
        }
    }

    /// Shows for each value, and for missing where that counts, the rows that hold it, and what classes say of it without
    /// one of them.
    pub(crate) fn each_value(&self, mut each: impl FnMut(&Alike<'_>)) {
        let values = self.statistics.values.names().map(Asked::Value);
        for asked in values.chain(self.missing_row.map(|_| Asked::Missing)) {
            let place = self.place(asked);
            let counted = |class| self.likelihood_at(&place, class, Gone::default()).ln();
            each(&Alike {
                cells: place.row.map_or_else(Vec::new, |row| self.statistics.counts.cells_of_row(row)),
                others: &|weight| {
                    let others = self.ln_of_others(&place, weight);
                    others.unwrap_or_else(|| (0..self.totals.classes()).map(counted).collect())
                },
                own: &|removed, _| self.ln_of_own(&place, removed),
            });
        }
    }
}

/// What was worked out for a code of a batch and rows of some weight.
struct OfCode<'v> {
    weight: f64,
    /// `None` if it says nothing.
    place: Option<Place<'v>>,
    others: Option<Vec<f64>>,
    /// By class.
    own: HashMap<usize, f64, RandomState>,
}

/// log P(value | class), one row of classes for each thing a cell can hold.
#[derive(Debug, Clone)]
pub(crate) struct CategoricalLikelihood {
    /// The possible values; value i has row i + 2.
    values: Vocabulary,
    classes: usize,
    /// Row 0: missing. Row 1: never met. Then the values.
    table: Vec<f64>,
    /// The row that adds nothing, so that scoring passes over it.
    neutral: usize,
}

const UNSEEN_ROW: usize = 1;
const FIRST_VALUE_ROW: usize = 2;

impl CategoricalLikelihood {
    pub(crate) fn new(estimate: &CategoryEstimate<'_, f64>) -> Self {
        let classes = estimate.totals.classes();
        let values = estimate.values.clone().into_owned();
        let log_likelihoods = |asked| {
            let place = estimate.place(asked);
            (0..classes).map(move |class| estimate.likelihood_at(&place, class, Gone::default()).ln())
        };
        let mut table = Vec::with_capacity((values.len() + FIRST_VALUE_ROW) * classes);
        match estimate.missing {
            MissingValues::Skipped => table.extend(std::iter::repeat_n(0.0, classes)),
            MissingValues::Counted => table.extend(log_likelihoods(Asked::Missing)),
        }
        table.extend(log_likelihoods(Asked::Unseen));
        values.names().for_each(|name| table.extend(log_likelihoods(Asked::Value(name))));
        let neutral = match estimate.missing {
            MissingValues::Skipped => MISSING_ROW,
            MissingValues::Counted => usize::MAX,
        };
        CategoricalLikelihood { values, classes, table, neutral }
    }

    /// Adds log P(x | class) of every row to its scores. Returns how many values were never met in training.
    pub(crate) fn add_log_likelihood(&self, column: &CategoryColumn, scores: &mut [f64]) -> u64 {
        let rows: Vec<usize> = self.rows_of(column);
        let unseen = column.codes.iter().filter(|&&code| rows[code as usize] == UNSEEN_ROW).count();
        let row_of: Vec<u32> =
            rows.iter().map(|&row| if row == self.neutral { NO_ROW } else { row as u32 }).collect();
        let rows = column.codes.iter().map(|&code| row_of[code as usize]);
        lookup::add_rows(&self.table, self.classes, rows, scores);
        unseen as u64
    }

    /// log P(x | class) for each class, and whether the value was met in training.
    pub(crate) fn contribution(&self, value: Option<&str>) -> (&[f64], bool) {
        let row = value.map_or(MISSING_ROW, |value| self.row_of(value));
        (self.row(row), row != UNSEEN_ROW)
    }

    /// The same likelihood measured from one value: scores start from its row, and only other values add to them.
    /// `None` if a logarithm is infinite, for then the difference is not defined.
    pub(crate) fn folded_around(&self, value: &str) -> Option<(Self, Vec<f64>)> {
        let neutral = self.row_of(value);
        let base = self.row(neutral).to_vec();
        if self.table.iter().any(|x| x.is_infinite()) {
            return None;
        }
        let mut folded = self.clone();
        folded.neutral = neutral;
        for row in folded.table.chunks_exact_mut(self.classes) {
            row.iter_mut().zip(&base).for_each(|(x, base)| *x -= base);
        }
        Some((folded, base))
    }

    fn rows_of(&self, column: &CategoryColumn) -> Vec<usize> {
        std::iter::once(MISSING_ROW).chain(column.values.names().map(|name| self.row_of(name))).collect()
    }

    fn row_of(&self, value: &str) -> usize {
        self.values.get(value).map_or(UNSEEN_ROW, |id| id + FIRST_VALUE_ROW)
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.table[row * self.classes..][..self.classes]
    }
}

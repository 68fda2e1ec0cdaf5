//! Rows that depend on each other, such as those of one customer or one thread, are left out together.
//!
//! Leaving out single rows flatters a term that knows a row by others of its group: by their name, their signature, the same values
//! again. So groups are dealt out to ten folds, and every row is asked about by what remains of all counts without the rows of its
//! fold, as a row of a new group will be. What is chosen about terms is chosen as for single rows; the weights, how much of them to
//! believe, and whether tokens deviate from their bands are decided by groups.

use crate::batch::Batch;
use crate::error::Result;
use crate::families::CountedRow;
use crate::judgement::OnGrid;
use crate::judgement::fit::Part;
use crate::judgement::judge::{class_weights, factor_terms, factors_of, places_of_all, singles_of};
use crate::judgement::pool::{Judgement, Sample};
use crate::judgement::sample::{SettledSample, groups_of, hashes_of};
use crate::judgement::without_one::Terms;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// In how many folds groups are dealt out.
pub(crate) const FOLDS: usize = 10;

/// Rows of a sample are taken out of what was counted in batches of about so many, copies included.
const ROWS_AT_ONCE: usize = 1 << 16;

impl SettledSample {
    /// The rows in the order of their own hashes, whatever their groups, and the fold of each: so that the first of them are of
    /// all groups. `None` if nothing is said of groups.
    pub(crate) fn in_folds(&self) -> Option<(SettledSample, Vec<u32>)> {
        if !self.batch.has_groups() {
            return None;
        }
        let counted: Vec<CountedRow> =
            (0..self.batch.rows as u32).map(|row| CountedRow { row, class: 0 }).collect();
        let hashes = hashes_of(&self.batch, &counted);
        let groups = groups_of(&self.batch, &counted, &hashes);
        let mut of_all = groups.clone();
        of_all.sort_unstable();
        of_all.dedup();
        let fold = |row: usize| (of_all.partition_point(|&group| group < groups[row]) % FOLDS) as u32;
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_unstable_by_key(|&row| (hashes[row], groups[row]));
        Some((self.select(&order), order.iter().map(|&row| fold(row)).collect()))
    }
}

/// The rows of a sample in their folds, and what was counted of all rows.
pub(crate) struct Groups<'a> {
    /// Canonical, of all columns but texts whose tokens are weighed; nothing is on a grid.
    statistics: Statistics,
    settings: Settings,
    batch: Batch,
    /// Which columns these are.
    columns: Vec<usize>,
    whole: &'a Batch,
    copies: &'a [f64],
    own: &'a [u32],
    folds: &'a [u32],
    on_grid: &'a OnGrid,
    threads: usize,
}

impl<'a> Groups<'a> {
    /// `weighed` are the columns of text whose tokens are weighed. Classes and folds are those of the rows of the sample.
    pub(crate) fn new(
        statistics: &Statistics,
        settings: &Settings,
        weighed: &[usize],
        sample: &'a SettledSample,
        (own, folds): (&'a [u32], &'a [u32]),
        on_grid: &'a OnGrid,
        threads: usize,
    ) -> Self {
        let columns = 0..statistics.schema.columns.len();
        let columns: Vec<usize> = columns.filter(|column| !weighed.contains(column)).collect();
        let narrow = Statistics { on_grid: None, ..statistics.only(&columns) };
        let settings = settings.for_columns_of(&narrow.schema);
        let batch = sample.batch.only(&statistics.schema, &narrow.schema).into_owned();
        let (whole, copies) = (&sample.batch, &sample.copies[..]);
        Groups { statistics: narrow, settings, batch, columns, whole, copies, own, folds, on_grid, threads }
    }

    /// The fold of each row.
    pub(crate) fn folds(&self) -> &[u32] {
        self.folds
    }

    /// What the terms of a judgement but those of texts say of the first rows, each without its fold.
    pub(crate) fn parts(&self, judgement: &Judgement, rows: usize, like: &[Part]) -> Result<Vec<Part>> {
        let mut parts: Vec<Part> = like.iter().map(Part::of_nothing).collect();
        for fold in (0..FOLDS as u32).filter(|fold| self.folds[..rows].contains(fold)) {
            let asked: Vec<usize> = (0..rows).filter(|&row| self.folds[row] == fold).collect();
            for (part, of_fold) in parts.iter_mut().zip(self.parts_of(fold, &asked, judgement)?) {
                part.put_rows(&asked, &of_fold);
            }
        }
        Ok(parts)
    }

    /// What they say of some rows of a fold, without the fold.
    fn parts_of(&self, fold: u32, asked: &[usize], judgement: &Judgement) -> Result<Vec<Part>> {
        let rest = self.statistics_without(fold)?;
        let of_columns = singles_of(&rest, &self.settings);
        let rows: Vec<u32> = (0..asked.len() as u32).collect();
        // Rows that weigh nothing are not left out: they were not counted.
        let weightless = |batch: &Batch| Batch { weights: vec![0.0; asked.len()], ..batch.select(asked) };
        let (batch, whole) = (weightless(&self.batch), weightless(self.whole));
        let places = places_of_all(&of_columns, &batch, &rows);
        let factors = match factors_of(&rest, &of_columns, &[]).is_empty() {
            true => Vec::new(),
            false => rest.leave_one_out(&self.settings, |left_out| {
                factor_terms(left_out, &of_columns, &[], &batch)
            })??,
        };
        // All of it as the whole table numbers its columns.
        let place = |column: usize| self.columns.binary_search(&column).ok();
        let columns = 0..judgement.shrinkages.len();
        let singles: Vec<_> =
            columns.clone().map(|column| place(column).and_then(|place| of_columns[place].clone())).collect();
        let sample = Sample {
            own: asked.iter().map(|&row| self.own[row]).collect(),
            weights: vec![0.0; asked.len()],
            copies: vec![1.0; asked.len()],
            places: columns
                .map(|column| place(column).map_or_else(Vec::new, |place| places[place].clone()))
                .collect(),
            coded: self.on_grid.grid.write(&whole, &rows),
            factors: factors.into_iter().map(|(column, terms)| (self.columns[column], terms)).collect(),
            texts: Vec::new(),
            were_counted: false,
        };
        let (on_grid, unit) = (self.on_grid_without(fold), self.statistics.unit());
        let log_prior = sample.log_prior(&class_weights(&rest));
        let terms = Terms::new(&singles, Some(&on_grid), judgement, unit).or_else(|| {
            // Without the fold, there may be too little for a cloud, which then says nothing.
            let clouds = judgement.clouds.len();
            let weights = judgement.weights[..judgement.weights.len() - clouds].to_vec();
            let judgement = Judgement { clouds: Vec::new(), weights, ..judgement.clone() };
            Terms::new(&singles, Some(&on_grid), &judgement, unit)
        });
        Ok(terms.map_or_else(Vec::new, |terms| terms.without_one(&sample, &log_prior, self.threads)))
    }

    /// What was counted of all rows but those of a fold, with all classes.
    fn statistics_without(&self, fold: u32) -> Result<Statistics> {
        let mut rest = self.statistics.clone();
        let mut at_once: Vec<usize> = Vec::new();
        for row in (0..self.folds.len()).filter(|&row| self.folds[row] == fold) {
            for _ in 0..self.copies[row] as u64 {
                at_once.push(row);
                if at_once.len() == ROWS_AT_ONCE {
                    rest.forget(&self.batch.select(&at_once))?;
                    at_once.clear();
                }
            }
        }
        rest.forget(&self.batch.select(&at_once))?;
        Ok(rest.canonical_with_all_classes())
    }

    fn on_grid_without(&self, fold: u32) -> OnGrid {
        let OnGrid { grid, sums } = self.on_grid;
        let rows: Vec<u32> = (0..self.whole.rows as u32).collect();
        let copies = self.copies.iter().zip(self.folds);
        let copies: Vec<f64> = copies.map(|(&copies, &of)| if of == fold { 0.0 } else { copies }).collect();
        let coded = grid.write(self.whole, &rows);
        OnGrid::of_sample(grid.clone(), &coded, self.whole, self.own, &copies, sums.classes, self.threads)
    }
}

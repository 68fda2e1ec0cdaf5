//! Which columns a judged model needs: those that help least are left out, and the others judged anew, until enough are left or
//! every one of them helps.
//!
//! Columns that stand in for each other lose little each and much together. So no more than half of those that are to go are left
//! out at a time, and fewer where together they turn out to lose more than one by one.

use std::f64::consts::LN_2;

use crate::error::{Error, Result};
use crate::features::{Gain, is_always_used};
use crate::judgement::judge::{Fitted, judge_sample};
use crate::judgement::lost::mean_difference;
use crate::judgement::sample::SettledSample;
use crate::judgement::{Judgement, OnGrid, Tier};
use crate::settings::{Selection, Settings};
use crate::statistics::Statistics;

/// About so many products are spent on what is lost without each column.
const PRODUCTS: usize = 1_000_000_000;

/// With fewer rows than this for each column, nobody can tell which columns do not help, and none is left out that need not be.
const ROWS_OF_COLUMN: u64 = 20;

/// The judgement of canonical statistics by a sample of their rows, of no other columns than those that are selected; and what
/// these say together. `folds` are those of rows that come in groups.
pub(super) fn judge_selected(
    statistics: &Statistics,
    settings: &Settings,
    tier: Tier,
    sample: &SettledSample,
    folds: Option<&[u32]>,
    threads: usize,
) -> Result<(OnGrid, Judgement)> {
    let judge = |used: &[usize]| {
        let narrow = statistics.only(used);
        let settings = settings.for_columns_of(&narrow.schema);
        let sample = SettledSample {
            batch: sample.batch.only(&statistics.schema, &narrow.schema).into_owned(),
            copies: sample.copies.clone(),
            largest_hash: sample.largest_hash,
        };
        judge_sample(&narrow, &settings, tier, &sample, folds, PRODUCTS, threads)
    };
    let mut used: Vec<usize> = (0..statistics.schema.columns.len()).collect();
    let mut needed: Vec<usize> = Vec::new();
    let mut lost = vec![Gain { bits: 0.0, standard_error: 0.0 }; used.len()];
    let mut fitted = judge(&used)?;
    loop {
        used.iter().zip(&fitted.judgement.lost).for_each(|(&column, own)| lost[column] = *own);
        let can_leave = |column: &usize| {
            !is_always_used(statistics.schema.columns[*column].kind) && !needed.contains(column)
        };
        let are_few = statistics.rows < ROWS_OF_COLUMN * statistics.schema.columns.len() as u64;
        let candidates = match settings.select == Selection::Auto && are_few {
            true => Vec::new(),
            false => used.iter().copied().filter(can_leave).collect(),
        };
        let mut leaving = least_helpful(candidates, &lost, settings.select, fitted.next_to_nothing());
        if leaving.is_empty() {
            break;
        }
        if fitted.judgement.lost.is_empty() {
            return Err(Error::Settings(
                "which columns a judged model needs is not known where there is text, or too many columns and classes; select columns of a model that is not judged".into(),
            ));
        }
        while !leaving.is_empty() {
            let left: Vec<usize> = used.iter().copied().filter(|column| !leaving.contains(column)).collect();
            let without = judge(&left)?;
            let lost_together = together(&fitted, &without);
            if can_do_without(&leaving, &lost, lost_together, settings.select, fitted.next_to_nothing()) {
                (used, fitted) = (left, without);
                break;
            }
            if leaving.len() == 1 {
                needed.append(&mut leaving);
            }
            leaving.truncate(leaving.len() / 2);
        }
    }
    let Fitted { on_grid, judgement, .. } = fitted;
    let on_grid = on_grid.with_columns(|column| used[column]);
    Ok((on_grid, Judgement { lost, used: Some(used), ..judgement }))
}

impl Fitted {
    /// A tenth of a nat over all rows, in bits per row: what can be lost without anybody noticing.
    fn next_to_nothing(&self) -> f64 {
        0.1 / (LN_2 * self.weights.iter().sum::<f64>())
    }
}

/// Which of the columns to leave out next, the least helpful first: half of those that are to go. Unless so many have to, these
/// are the columns that surely lose next to nothing.
fn least_helpful(mut columns: Vec<usize>, lost: &[Gain], selection: Selection, nothing: f64) -> Vec<usize> {
    columns.sort_by(|&a, &b| lost[a].bits.total_cmp(&lost[b].bits).then(b.cmp(&a)));
    let too_many = match selection {
        Selection::All => 0,
        Selection::Best(most) => columns.len().saturating_sub(most as usize),
        Selection::Auto => {
            let at_most = |column: usize| lost[column].bits + 2.0 * lost[column].standard_error;
            columns.retain(|&column| at_most(column) <= nothing);
            columns.len()
        }
    };
    columns.truncate(too_many.div_ceil(2));
    columns
}

/// What a model loses without some columns, judged anew.
fn together(fitted: &Fitted, without: &Fitted) -> Gain {
    let (with, without) = (&fitted.quality, &without.quality);
    let lost = mean_difference(&without.losses, &with.losses, &fitted.weights);
    Gain { bits: lost.bits - (with.by_chance - without.by_chance), ..lost }
}

/// Whether columns may leave that together lose so much: if they have to, any one may, and several that do not lose more together
/// than one by one, but for chance; else those that lose next to nothing.
fn can_do_without(
    leaving: &[usize],
    lost: &[Gain],
    together: Gain,
    selection: Selection,
    nothing: f64,
) -> bool {
    let one_by_one: f64 = leaving.iter().map(|&column| lost[column].bits.max(0.0)).sum();
    match selection {
        Selection::Auto => together.bits <= nothing,
        _ => leaving.len() == 1 || together.bits <= one_by_one + together.standard_error,
    }
}

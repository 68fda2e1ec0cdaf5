//! From statistics and a sample of their rows to a judgement: the grid is made, what the columns of the sample say together is
//! counted on it, and weights are fitted.

use std::sync::Arc;

use crate::batch::Batch;
use crate::error::Result;
use crate::families::FamilyStatistics;
use crate::judgement::grid::{Grid, GridColumn};
use crate::judgement::pool::{Judgement, Sample, judge};
use crate::judgement::rows::places_of;
use crate::judgement::sample::SettledSample;
use crate::judgement::single::SingleCounts;
use crate::judgement::together::Layout;
use crate::judgement::{OnGrid, RowSample, Tier};
use crate::leave_one_out::LeaveOneOut;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// Weights are fitted to so many different rows at the most, and to so many terms of them.
const ROWS_TO_FIT: usize = 20_000;
const MOST_TERMS: usize = 1 << 24;

/// How many rows the weights of so many classes and columns are fitted to.
pub(crate) fn rows_to_fit(classes: usize, columns: usize) -> usize {
    let terms = columns + 2 * columns.min(MOST_COLUMNS) + 6;
    (MOST_TERMS / (classes.max(1) * terms)).clamp(1, ROWS_TO_FIT)
}

/// More columns are not counted in pairs; then the best of them are.
pub(crate) const MOST_COLUMNS: usize = 89;
const COLUMNS_OF_MANY: usize = 60;

/// The most columns that are counted in triples.
pub(crate) const MOST_COLUMNS_OF_TRIPLES: usize = 18;

/// A category with more values is not counted in triples.
const MOST_VALUES_OF_TRIPLES: usize = 16;

/// More values of a category share a code.
const MOST_VALUES: usize = 62;

/// How many nats less likely than anything else the impossible is taken to be.
const IMPOSSIBLE: f64 = 30.0;

/// With more cells than this, triples are not counted as finely as there are rows for.
const MOST_CELLS_OF_FINE_TRIPLES: usize = 1 << 22;

/// All tables together have at most so many cells.
pub(crate) const MOST_CELLS: usize = 1 << 24;

/// The counts of each column of canonical statistics by itself. Columns whose family was named have none, and neither have texts,
/// joint tables and groups: what these say is their likelihood.
pub(crate) fn singles_of(statistics: &Statistics, settings: &Settings) -> Vec<Option<SingleCounts>> {
    let classes = statistics.classes.len();
    let mut singles: Vec<Option<SingleCounts>> = vec![None; statistics.schema.columns.len()];
    for factor in &statistics.factors {
        let name = &statistics.schema.columns[factor.columns()[0]].name;
        if settings.families.contains_key(name) {
            continue;
        }
        match factor {
            FamilyStatistics::Number(column, numbers) if settings.numbers.is_none() => {
                let spectrum = numbers.spectrum.as_ref();
                singles[*column] = spectrum.and_then(|spectrum| SingleCounts::of_numbers(spectrum, classes));
            }
            FamilyStatistics::Category(column, values) => {
                singles[*column] = SingleCounts::of_values(values, classes);
            }
            _ => {}
        }
    }
    singles
}

/// The factors without counts of their own, each with the column that has its weight.
fn factors_of(statistics: &Statistics, singles: &[Option<SingleCounts>]) -> Vec<(usize, usize)> {
    (statistics.factors.iter().enumerate())
        .map(|(i, factor)| (i, factor.columns()[0]))
        .filter(|&(_, column)| singles[column].is_none())
        .collect()
}

/// What factors without counts of their own say of some rows, without each row: the column that has their weight, and terms.
pub(super) fn factor_terms(
    left_out: &LeaveOneOut<'_>,
    singles: &[Option<SingleCounts>],
    batch: &Batch,
) -> Result<Vec<(usize, Vec<f64>)>> {
    let of_factor = |(factor, column): (usize, usize)| {
        let terms = left_out.terms_of(factor, batch)?;
        let of_row = |term: &[f64]| {
            // What is impossible in some class is very unlikely to the fit, which cannot do with infinite numbers.
            let least = term.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::min);
            term.iter().map(move |&x| if x.is_finite() { x } else { least - IMPOSSIBLE }).collect::<Vec<_>>()
        };
        Ok((column, terms.chunks_exact(left_out.classes().len()).flat_map(of_row).collect()))
    };
    factors_of(left_out.statistics, singles).into_iter().map(of_factor).collect()
}

/// The weight of each class of canonical statistics.
pub(crate) fn class_weights(statistics: &Statistics) -> Vec<f64> {
    (0..statistics.classes.len()).map(|class| statistics.class_weight.get(0, class)).collect()
}

/// The judgement of canonical statistics, from a sample of their rows, and what the columns of these say together.
pub(crate) fn judged(
    statistics: &Statistics,
    settings: &Settings,
    tier: Tier,
    sample: RowSample,
    threads: usize,
) -> Result<(OnGrid, Judgement)> {
    let SettledSample { mut batch, mut copies, largest_hash } = sample.settled();
    let class_of: Vec<u32> = batch
        .classes
        .values
        .names()
        .map(|name| statistics.classes.get(name).expect("the rows were learnt") as u32)
        .collect();
    let mut own: Vec<u32> = batch.classes.codes.iter().map(|&code| class_of[code as usize - 1]).collect();
    let classes = statistics.classes.len();
    let grid = Arc::new(Grid { largest_hash, ..grid_of(statistics, settings, tier) });
    let mut coded = grid.write(&batch, &(0..batch.rows as u32).collect::<Vec<_>>());
    let on_grid = OnGrid::of_sample(grid, &coded, &batch, &own, &copies, classes, threads);

    let most = rows_to_fit(classes, statistics.schema.columns.len());
    if batch.rows > most {
        batch = batch.select(&(0..most).collect::<Vec<_>>());
        coded.truncate(most);
        own.truncate(most);
        copies.truncate(most);
    }
    let singles = singles_of(statistics, settings);
    let rows: Vec<u32> = (0..batch.rows as u32).collect();
    let sample = Sample {
        own,
        weights: (0..batch.rows).map(|row| batch.weight(row)).collect(),
        copies,
        places: places_of_all(&singles, &batch, &rows),
        coded,
        factors: match factors_of(statistics, &singles).is_empty() {
            true => Vec::new(),
            false => {
                statistics.leave_one_out(settings, |left_out| factor_terms(left_out, &singles, &batch))??
            }
        },
    };
    let weights = class_weights(statistics);
    let judgement = judge(tier, &statistics.classes, &weights, &singles, Some(&on_grid), &sample, threads);
    Ok((on_grid, judgement))
}

pub(super) fn places_of_all(singles: &[Option<SingleCounts>], batch: &Batch, rows: &[u32]) -> Vec<Vec<u32>> {
    let places = |(column, counts): (usize, &Option<SingleCounts>)| {
        counts.as_ref().map_or_else(Vec::new, |counts| places_of(&counts.places, batch, column, rows))
    };
    singles.iter().enumerate().map(places).collect()
}

/// The grid of canonical statistics. It has no columns if none are to be counted together.
fn grid_of(statistics: &Statistics, settings: &Settings, tier: Tier) -> Grid {
    let class_weights = class_weights(statistics);
    let (total, classes) = (class_weights.iter().sum::<f64>(), class_weights.len());
    let codes_of_triples = match total {
        ..=10_000.0 => 4,
        ..=25_000.0 => 8,
        _ => 16,
    };
    if tier == Tier::Weights {
        return Grid { columns: Vec::new(), triples: Vec::new(), codes_of_triples, largest_hash: u64::MAX };
    }
    let log_prior = super::pool::log_prior(&class_weights);
    let unit = total / statistics.rows.max(1) as f64;
    let loss = |counts: &Option<SingleCounts>| {
        counts.as_ref().map_or(f64::INFINITY, |counts| counts.choose(&log_prior, unit).1)
    };
    let losses: Vec<f64> = singles_of(statistics, settings).iter().map(loss).collect();
    let mut bins = match total {
        ..=5_000.0 => 8,
        ..=30_000.0 => 16,
        _ => 32,
    };
    let mut values = MOST_VALUES;
    loop {
        let column = |factor: &FamilyStatistics| match factor {
            FamilyStatistics::Number(column, numbers) => GridColumn::of_numbers(*column, numbers, bins),
            FamilyStatistics::Category(column, category) => GridColumn::of_values(*column, category, values),
            _ => None,
        };
        let mut columns: Vec<GridColumn> = statistics.factors.iter().filter_map(column).collect();
        // The best first: those that predict best by themselves.
        let best = |a: usize, b: usize| losses[a].total_cmp(&losses[b]).then(a.cmp(&b));
        if columns.len() > MOST_COLUMNS {
            columns.sort_by(|a, b| best(a.column, b.column));
            columns.truncate(COLUMNS_OF_MANY);
            columns.sort_by_key(|column| column.column);
        }
        let mut triples: Vec<usize> = Vec::new();
        if tier == Tier::Full {
            let are_few =
                |column: &GridColumn| column.is_number() || column.shares.len() <= MOST_VALUES_OF_TRIPLES;
            triples.extend((0..columns.len()).filter(|&column| are_few(&columns[column])));
            triples.sort_by(|&a, &b| best(columns[a].column, columns[b].column));
            triples.truncate(MOST_COLUMNS_OF_TRIPLES);
            triples.sort_unstable();
        }
        let mut grid = Grid { columns, triples, codes_of_triples, largest_hash: u64::MAX };
        let cells = |grid: &Grid| Layout::new(grid).cells.saturating_mul(classes);
        if grid.codes_of_triples == 16 && cells(&grid) > MOST_CELLS_OF_FINE_TRIPLES {
            grid.codes_of_triples = 8;
        }
        if cells(&grid) <= MOST_CELLS {
            return grid;
        }
        if bins == 4 && values == 4 {
            return Grid {
                columns: Vec::new(),
                triples: Vec::new(),
                codes_of_triples,
                largest_hash: u64::MAX,
            };
        }
        (bins, values) = ((bins / 2).max(4), (values / 2).max(4));
    }
}

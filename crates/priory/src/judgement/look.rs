//! A second look at rows that were learnt: what columns say together is counted, and rows are kept to fit weights to.
//!
//! The first look gave the statistics, and from them follow the grid and how the values of each column are found. Rows may come in
//! any order and split: looks add up to the same.
//!
//! Which rows are kept depends on nothing but what they hold: those with the smallest hashes. Rows that hold the same are kept
//! once, with how many there are. As a row is dropped only when enough smaller hashes are known, and smaller ones only become more,
//! a row that is kept was never dropped before, and all its copies were counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::batch::{Batch, BatchColumn, CategoryColumn};
use crate::error::{Error, Result};
use crate::families::{CountedRow, FamilyStatistics};
use crate::judgement::grid::{Grid, GridColumn};
use crate::judgement::pool::{Judgement, Sample, judge};
use crate::judgement::rows::places_of;
use crate::judgement::single::SingleCounts;
use crate::judgement::together::Layout;
use crate::judgement::{OnGrid, Tier};
use crate::schema::Schema;
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// So many different rows are kept for the fit at the most, and so many numbers are fitted to.
const ROWS_TO_FIT: usize = 20_000;
const MOST_TERMS: usize = 1 << 24;

/// How many rows are kept for the fit of so many classes and columns.
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

/// All tables together have at most so many cells.
pub(crate) const MOST_CELLS: usize = 1 << 24;

/// A second look at rows that were learnt, from which a [judgement](crate::Learnt::judge) follows. It is taken of statistics
/// ([`Learnt::second_look`](crate::Learnt::second_look)) and needs just the rows that they were made of, in any order. Looks at
/// parts of the rows [add up](SecondLook::merge).
#[derive(Debug, Clone)]
pub struct SecondLook {
    pub(crate) tier: Tier,
    schema: Schema,
    classes: Vocabulary,
    pub(crate) on_grid: OnGrid,
    pub(crate) kept: KeptRows,
    /// How many rows were looked at.
    pub(crate) rows: u64,
}

impl SecondLook {
    /// At the rows of canonical statistics.
    pub(crate) fn new(statistics: &Statistics, settings: &Settings, tier: Tier) -> Self {
        SecondLook {
            tier,
            schema: statistics.schema.clone(),
            classes: statistics.classes.clone(),
            on_grid: OnGrid::empty(Arc::new(grid_of(statistics, settings, tier))),
            kept: KeptRows::new(
                &statistics.schema,
                rows_to_fit(statistics.classes.len(), statistics.schema.columns.len()),
            ),
            rows: 0,
        }
    }

    /// Looks at the rows of a batch.
    ///
    /// # Errors
    /// If the batch does not have the columns of the schema.
    pub fn observe(&mut self, batch: &Batch) -> Result<()> {
        batch.check(&self.schema)?;
        let class_of: Vec<Option<usize>> = std::iter::once(None)
            .chain(batch.classes.values.names().map(|name| self.classes.get(name)))
            .collect();
        let counted: Vec<CountedRow> = (0..batch.rows)
            .filter(|&row| batch.weight(row) > 0.0)
            .filter_map(|row| {
                let class = class_of[batch.classes.codes[row] as usize]?;
                Some(CountedRow { row: row as u32, class: class as u32 })
            })
            .collect();
        self.on_grid.observe(batch, &counted, self.classes.len());
        self.rows += counted.len() as u64;
        self.kept.observe(batch, &counted)
    }

    /// Adds a look at other rows of the same statistics.
    ///
    /// # Errors
    /// If it is a look at the rows of other statistics.
    pub fn merge(&mut self, other: &SecondLook) -> Result<()> {
        if self.tier != other.tier || self.on_grid.grid != other.on_grid.grid {
            return Err(Error::Mismatch("the second looks are of different statistics".into()));
        }
        let classes: Vec<usize> = (0..self.classes.len()).collect();
        self.rows += other.rows;
        self.on_grid.merge(&other.on_grid, &classes, classes.len(), 1.0);
        self.kept.merge(&other.kept)
    }
}

/// Different rows, those with the smallest hashes.
#[derive(Debug, Clone)]
pub(crate) struct KeptRows {
    pub(crate) batch: Batch,
    /// For the hash of each row where it stands in the batch, and how many rows hold the same.
    places: BTreeMap<u64, (usize, u64)>,
    /// How many are kept at the most.
    most: usize,
}

impl KeptRows {
    fn new(schema: &Schema, most: usize) -> Self {
        KeptRows { batch: Batch::new(schema), places: BTreeMap::new(), most }
    }

    fn observe(&mut self, batch: &Batch, counted: &[CountedRow]) -> Result<()> {
        for (hash, row) in hashes_of(batch, counted).into_iter().zip(counted) {
            self.keep(hash, 1, batch, row.row as usize)?;
        }
        Ok(())
    }

    fn merge(&mut self, other: &KeptRows) -> Result<()> {
        other.places.iter().try_for_each(|(&hash, &(row, copies))| self.keep(hash, copies, &other.batch, row))
    }

    /// Keeps so many copies of a row, unless its hash is too large.
    fn keep(&mut self, hash: u64, copies: u64, batch: &Batch, row: usize) -> Result<()> {
        if let Some((_, known)) = self.places.get_mut(&hash) {
            *known += copies;
            return Ok(());
        }
        if self.places.len() >= self.most {
            if self.places.last_key_value().is_some_and(|(&largest, _)| hash > largest) {
                return Ok(());
            }
            self.places.pop_last();
        }
        self.places.insert(hash, (self.batch.rows, copies));
        self.batch.push_row(batch, row)?;
        if self.batch.rows >= 2 * self.most {
            self.settle();
        }
        Ok(())
    }

    /// Lets go of rows that are no longer kept, and puts the others in the order of their hashes.
    fn settle(&mut self) {
        let rows: Vec<usize> = self.places.values().map(|&(row, _)| row).collect();
        self.batch = self.batch.select(&rows);
        self.places.values_mut().zip(0..).for_each(|((row, _), place)| *row = place);
    }

    /// The rows in the order of their hashes, and how many hold the same as each.
    pub(crate) fn settled(mut self) -> (Batch, Vec<f64>) {
        self.settle();
        let copies = self.places.values().map(|&(_, copies)| copies as f64).collect();
        (self.batch, copies)
    }
}

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

/// What factors without counts of their own say of some rows, without each row: the column that has their weight, and terms.
fn factor_terms(
    statistics: &Statistics,
    settings: &Settings,
    singles: &[Option<SingleCounts>],
    batch: &Batch,
) -> Result<Vec<(usize, Vec<f64>)>> {
    let factors: Vec<(usize, usize)> = (statistics.factors.iter().enumerate())
        .map(|(i, factor)| (i, factor.columns()[0]))
        .filter(|&(_, column)| singles[column].is_none())
        .collect();
    if factors.is_empty() {
        return Ok(Vec::new());
    }
    let terms = statistics.leave_one_out(settings, |left_out| left_out.terms(batch))??;
    let of_factor = |(factor, column): (usize, usize)| {
        let of_row = |row| {
            let term = terms.term(factor, row);
            // What is impossible in some class is very unlikely to the fit, which cannot do with infinite numbers.
            let least = term.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::min);
            term.iter().map(move |&x| if x.is_finite() { x } else { least - IMPOSSIBLE }).collect::<Vec<_>>()
        };
        (column, (0..terms.rows).flat_map(of_row).collect())
    };
    Ok(factors.into_iter().map(of_factor).collect())
}

/// The weight of each class of canonical statistics.
pub(crate) fn class_weights(statistics: &Statistics) -> Vec<f64> {
    (0..statistics.classes.len()).map(|class| statistics.class_weight.get(0, class)).collect()
}

/// The judgement of canonical statistics, from rows that they were made of.
pub(crate) fn judgement_of(
    statistics: &Statistics,
    settings: &Settings,
    tier: Tier,
    kept: KeptRows,
) -> Result<Judgement> {
    let (batch, copies) = kept.settled();
    let singles = singles_of(statistics, settings);
    let rows: Vec<u32> = (0..batch.rows as u32).collect();
    let class_of: Vec<u32> = batch
        .classes
        .values
        .names()
        .map(|name| statistics.classes.get(name).expect("the rows were learnt") as u32)
        .collect();
    let on_grid = statistics.on_grid.as_deref();
    let sample = Sample {
        own: batch.classes.codes.iter().map(|&code| class_of[code as usize - 1]).collect(),
        weights: (0..batch.rows).map(|row| batch.weight(row)).collect(),
        copies,
        places: places_of_all(&singles, &batch, &rows),
        coded: on_grid.map(|on_grid| on_grid.grid.write(&batch, &rows)).unwrap_or_default(),
        factors: factor_terms(statistics, settings, &singles, &batch)?,
    };
    Ok(judge(tier, &statistics.classes, &class_weights(statistics), &singles, on_grid, &sample, 1))
}

fn places_of_all(singles: &[Option<SingleCounts>], batch: &Batch, rows: &[u32]) -> Vec<Vec<u32>> {
    let places = |(column, counts): (usize, &Option<SingleCounts>)| {
        counts.as_ref().map_or_else(Vec::new, |counts| places_of(&counts.places, batch, column, rows))
    };
    singles.iter().enumerate().map(places).collect()
}

/// The grid of canonical statistics. It has no columns if none are to be counted together.
fn grid_of(statistics: &Statistics, settings: &Settings, tier: Tier) -> Grid {
    let class_weights = class_weights(statistics);
    let (total, classes) = (class_weights.iter().sum::<f64>(), class_weights.len());
    let codes_of_triples = if total > 10_000.0 { 8 } else { 4 };
    if tier == Tier::Weights {
        return Grid { columns: Vec::new(), triples: Vec::new(), codes_of_triples };
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
        let grid = Grid { columns, triples, codes_of_triples };
        if Layout::new(&grid).cells.saturating_mul(classes) <= MOST_CELLS {
            return grid;
        }
        if bins == 4 && values == 4 {
            return Grid { columns: Vec::new(), triples: Vec::new(), codes_of_triples };
        }
        (bins, values) = ((bins / 2).max(4), (values / 2).max(4));
    }
}

/// A hash of what each row holds, its class and its weight.
fn hashes_of(batch: &Batch, counted: &[CountedRow]) -> Vec<u64> {
    let mut hashes: Vec<u64> = counted.iter().map(|row| batch.weight(row.row as usize).to_bits()).collect();
    let stir_in = |hashes: &mut [u64], category: &CategoryColumn| {
        let mut value_hashes = vec![u64::MAX; category.values.len() + 1];
        for (id, name) in category.values.names().enumerate() {
            value_hashes[id + 1] = hash_of(name);
        }
        for (hash, row) in hashes.iter_mut().zip(counted) {
            *hash = mix(*hash, value_hashes[category.codes[row.row as usize] as usize]);
        }
    };
    stir_in(&mut hashes, &batch.classes);
    for column in &batch.columns {
        match column {
            BatchColumn::Category(category) => stir_in(&mut hashes, category),
            BatchColumn::Number(numbers) => {
                for (hash, row) in hashes.iter_mut().zip(counted) {
                    let x = numbers[row.row as usize];
                    // Numbers that are equal, and those that are missing, have one form each.
                    *hash = mix(*hash, if x.is_nan() { u64::MAX } else { (x + 0.0).to_bits() });
                }
            }
            BatchColumn::Text(text) => {
                for (hash, row) in hashes.iter_mut().zip(counted) {
                    for &(token, count) in text.document(row.row as usize).into_iter().flatten() {
                        *hash = mix(*hash, hash_of(text.tokens().name(token as usize)) ^ u64::from(count));
                    }
                }
            }
        }
    }
    hashes
}

/// A hash of a name (FNV-1a).
fn hash_of(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Stirs a value into a hash, so that every bit of both changes about half of the bits of the result.
#[inline]
fn mix(hash: u64, value: u64) -> u64 {
    let mut x = hash.rotate_left(23) ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

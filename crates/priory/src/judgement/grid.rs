//! The grid: how the values of a table are written as small whole numbers, so that what columns say together can be counted.
//!
//! A column of numbers is known by a **code** (in which of up to 32 bins of about equal weight a number lies), by its **distance**
//! (x − mean) / deviation, and by its **normal score** (where the normal distribution has as much weight below as the column has
//! below x). The last two are whole multiples of 2⁻¹⁰, so that their sums and the sums of their products are exact. A column of
//! categories is known by a code alone: its most frequent values have one each, and all others share one.
//!
//! The grid is made from the statistics of all rows before anything is counted on it, and never changes afterwards. It does not
//! depend on classes: bins that were cut where the classes differ would tell every row about its own class.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::batch::{Batch, BatchColumn, MISSING};
use crate::families::FamilyStatistics;
use crate::families::categorical::CategoryStatistics;
use crate::families::number::NumberStatistics;
use crate::judgement::Tier;
use crate::judgement::pool::log_prior;
use crate::judgement::single::{SingleCounts, bins_of};
use crate::judgement::together::Layout;
use crate::schema::{Kind, Schema};
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// Distances and normal scores are multiples of one over this.
pub(crate) const UNIT: f64 = 1024.0;

/// No distance is larger, in deviations.
const LARGEST_DISTANCE: f64 = 8.0;

/// A column of numbers with at most so many different values has a code for each.
const FEW_VALUES: usize = 8;

/// No column has more codes.
const MOST_CODES: usize = 250;

/// More columns are not counted in pairs; then the best of them are.
pub(crate) const MOST_COLUMNS: usize = 89;
const COLUMNS_OF_MANY: usize = 60;

/// The most columns that are counted in triples.
const MOST_COLUMNS_OF_TRIPLES: usize = 18;

/// A category with more values is not counted in triples.
const MOST_VALUES_OF_TRIPLES: usize = 16;

/// More values of a category share a code.
const MOST_VALUES: usize = 62;

/// With more cells than this, triples are not counted as finely as there are rows for.
const MOST_CELLS_OF_FINE_TRIPLES: usize = 1 << 22;

/// All tables together have at most so many cells.
const MOST_CELLS: usize = 1 << 24;

/// The code of a value that is missing, or that the grid does not know.
pub(crate) const NO_CODE: u8 = 0;

/// The columns that are counted together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    pub(crate) columns: Vec<GridColumn>,
    /// Which of them are also counted in threes.
    pub(crate) triples: Vec<usize>,
    /// How many codes a column of numbers has at most where it is counted in threes.
    pub(crate) codes_of_triples: usize,
    /// Rows whose hash is larger are not counted on the grid: so many rows are enough to know what columns say together.
    pub(crate) largest_hash: u64,
    /// How many columns are not on the grid since there would be too many pairs of columns, or too many cells.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it like this")]
fn is_zero(x: &usize) -> bool {
    *x == 0
}

/// How the values of one column are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridColumn {
    /// Where the column stands in the schema.
    pub(crate) column: usize,
    /// The share of each code among the rows that have one, when the grid was made; the codes count from 1.
    pub(crate) shares: Vec<f64>,
    pub(crate) scale: Scale,
}

/// What the codes mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Bins of a column of numbers.
    Numbers(NumberScale),
    /// Code i + 1 means the i-th value.
    Values {
        /// The values with a code of their own.
        values: Vec<String>,
        /// Whether all other values share the last code.
        others: bool,
    },
}

/// The bins of a column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberScale {
    /// Fine bin i holds the numbers from `starts[i]` to below the next; the first also holds those below.
    starts: Vec<f64>,
    /// The code of each fine bin.
    codes: Vec<u8>,
    /// The normal score of each fine bin.
    normal: Vec<i16>,
    mean: f64,
    deviation: f64,
}

impl NumberScale {
    /// The code, distance and normal score of a number.
    #[inline]
    fn read(&self, x: f64) -> (u8, i16, i16) {
        let bin = self.starts.partition_point(|&start| start <= x).saturating_sub(1);
        let distance = ((x - self.mean) / self.deviation).clamp(-LARGEST_DISTANCE, LARGEST_DISTANCE);
        ((self.codes[bin]), (distance * UNIT).round_ties_even() as i16, self.normal[bin])
    }
}

impl GridColumn {
    /// The column of numbers at this position of the schema, in at most so many bins, a power of two; `None` if it always says
    /// the same.
    pub(crate) fn of_numbers(
        column: usize,
        statistics: &NumberStatistics,
        most_codes: usize,
    ) -> Option<Self> {
        let spectrum = statistics.spectrum.as_ref()?;
        let pooled = spectrum.pooled();
        let (moments, firsts) = (statistics.pooled(), bins_of(&pooled));
        let (mean, variance) = (moments.mean()?, moments.variance()?);
        let deviation = variance.sqrt();
        if firsts.len() < 2 || !(deviation.is_finite() && deviation > 0.0 && mean.is_finite()) {
            return None;
        }
        let starts = firsts.iter().map(|&first| spectrum.least_number(pooled[first].0)).collect();
        let ends = firsts[1..].iter().copied().chain([pooled.len()]);
        let weights: Vec<f64> = firsts
            .iter()
            .zip(ends)
            .map(|(&first, end)| pooled[first..end].iter().map(|cell| cell.1).sum())
            .collect();
        let total: f64 = weights.iter().sum();
        let (mut codes, mut scores, mut below) = (Vec::new(), Vec::new(), 0.0);
        // A few values have a code each; of many, each code has about the same weight.
        let (are_few, most_codes) =
            (weights.len() <= FEW_VALUES, most_codes.min(weights.len().next_power_of_two()));
        let code_count = if are_few { weights.len() } else { most_codes };
        for (bin, weight) in weights.iter().enumerate() {
            // Half of what has the same value counts as below, and half as above.
            let middle = (below + 0.5 * weight) / total;
            let code = if are_few { bin } else { (middle * most_codes as f64) as usize };
            codes.push(1 + code.min(code_count - 1) as u8);
            scores.push(normal_quantile(middle));
            below += weight;
        }
        let mean_square: f64 = scores.iter().zip(&weights).map(|(z, w)| z * z * w).sum::<f64>() / total;
        let mean_score: f64 = scores.iter().zip(&weights).map(|(z, w)| z * w).sum::<f64>() / total;
        let spread = (mean_square - mean_score * mean_score).sqrt().max(1e-3);
        let most = f64::from(i16::MAX);
        let normal =
            scores.iter().map(|z| (z / spread * UNIT).round_ties_even().clamp(-most, most) as i16).collect();
        let mut shares = vec![0.0; code_count];
        codes.iter().zip(&weights).for_each(|(&code, weight)| shares[code as usize - 1] += weight / total);
        let scale = Scale::Numbers(NumberScale { starts, codes, normal, mean, deviation });
        Some(GridColumn { column, shares, scale })
    }

    /// The column of categories at this position of the schema, in at most so many codes; `None` if it always says the same.
    pub(crate) fn of_values(
        column: usize,
        statistics: &CategoryStatistics,
        most_codes: usize,
    ) -> Option<Self> {
        let weights: Vec<f64> = (0..statistics.values.len())
            .map(|value| statistics.counts.row_total(value + 1).value())
            .collect();
        let total: f64 = weights.iter().sum();
        if weights.len() < 2 {
            return None;
        }
        let mut kept: Vec<usize> = (0..weights.len()).collect();
        let others = weights.len() > most_codes;
        if others {
            // The heaviest first; of equals, that which comes first in the order of values.
            kept.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
            kept.truncate(most_codes - 1);
            kept.sort_unstable();
        }
        let mut shares: Vec<f64> = kept.iter().map(|&value| weights[value] / total).collect();
        if others {
            shares.push((1.0 - shares.iter().sum::<f64>()).max(0.0));
        }
        let values = kept.iter().map(|&value| statistics.values.name(value).to_owned()).collect();
        Some(GridColumn { column, shares, scale: Scale::Values { values, others } })
    }

    /// Whether a column can be written like this.
    fn is_possible(&self) -> bool {
        let codes = self.shares.len();
        let shares =
            (1..=MOST_CODES).contains(&codes) && self.shares.iter().all(|share| (0.0..=1.0).contains(share));
        shares
            && match &self.scale {
                Scale::Numbers(scale) => {
                    let bins = scale.starts.len();
                    bins > 0
                        && (bins, bins) == (scale.codes.len(), scale.normal.len())
                        && scale.starts.iter().all(|start| start.is_finite())
                        && scale.starts.is_sorted_by(|a, b| a < b)
                        && scale.codes.iter().all(|&code| (1..=codes).contains(&(code as usize)))
                        && scale.mean.is_finite()
                        && scale.deviation.is_finite()
                        && scale.deviation > 0.0
                }
                Scale::Values { values, others } => {
                    let mut sorted: Vec<&String> = values.iter().collect();
                    sorted.sort_unstable();
                    values.len() + usize::from(*others) == codes && sorted.is_sorted_by(|a, b| a < b)
                }
            }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.scale, Scale::Numbers(_))
    }

    /// How many codes there are, with that of no value.
    pub(crate) fn codes(&self) -> usize {
        self.shares.len() + 1
    }

    /// By how many bits the codes of numbers must be shifted for there to be at most so many.
    pub(crate) fn shift_to(&self, most: usize) -> u32 {
        match self.scale {
            Scale::Numbers(_) => (self.shares.len() / most).max(1).ilog2(),
            Scale::Values { .. } => 0,
        }
    }
}

/// The values of some rows as the grid writes them, column by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coded {
    pub(crate) rows: usize,
    /// For each column of the grid the code of each row.
    pub(crate) codes: Vec<Vec<u8>>,
    /// For each column of numbers the distance of each row; 0 where the number is missing.
    pub(crate) distances: Vec<Vec<i16>>,
    /// For each column of numbers the normal score of each row; 0 where the number is missing.
    pub(crate) normals: Vec<Vec<i16>>,
}

impl Coded {
    /// Leaves only so many rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        self.codes.iter_mut().for_each(|column| column.truncate(rows));
        self.distances.iter_mut().chain(&mut self.normals).for_each(|column| column.truncate(rows));
    }
}

impl Grid {
    /// The grid of canonical statistics, with the weight of each class and the counts of each column. It has no columns if none
    /// are to be counted together.
    pub(crate) fn choose(
        statistics: &Statistics,
        class_weights: &[f64],
        singles: &[Option<SingleCounts>],
        tier: Tier,
    ) -> Self {
        let (total, classes) = (class_weights.iter().sum::<f64>(), class_weights.len());
        let codes_of_triples = match total {
            ..=10_000.0 => 4,
            ..=25_000.0 => 8,
            _ => 16,
        };
        let nothing = Grid {
            columns: Vec::new(),
            triples: Vec::new(),
            codes_of_triples,
            largest_hash: u64::MAX,
            left_out: 0,
        };
        if tier == Tier::Weights {
            return nothing;
        }
        let losses = losses_of(class_weights, singles, total / statistics.rows.max(1) as f64);
        let mut bins = match total {
            ..=5_000.0 => 8,
            ..=30_000.0 => 16,
            _ => 32,
        };
        let mut values = MOST_VALUES;
        loop {
            let (columns, left_out) = columns_of(statistics, &losses, bins, values);
            let triples = if tier == Tier::Full { columns_of_triples(&columns, &losses) } else { Vec::new() };
            let mut grid = Grid { columns, triples, left_out, ..nothing };
            if grid.codes_of_triples == 16 && grid.cells(classes) > MOST_CELLS_OF_FINE_TRIPLES {
                grid.codes_of_triples = 8;
            }
            if grid.cells(classes) <= MOST_CELLS {
                return grid;
            }
            if bins == 4 && values == 4 {
                return Grid { left_out: left_out + grid.columns.len(), ..nothing };
            }
            (bins, values) = ((bins / 2).max(4), (values / 2).max(4));
        }
    }

    /// How many cells the tables of so many classes have.
    fn cells(&self, classes: usize) -> usize {
        Layout::new(self).cells.saturating_mul(classes)
    }

    /// Whether this can be the grid of a table of this schema and so many classes.
    pub(crate) fn fits(&self, schema: &Schema, classes: usize) -> bool {
        let of_schema = |column: &GridColumn| {
            let kind = schema.columns.get(column.column).map(|column| column.kind);
            match column.scale {
                Scale::Numbers(_) => kind == Some(Kind::Number),
                Scale::Values { .. } => kind == Some(Kind::Category),
            }
        };
        self.columns.is_sorted_by(|a, b| a.column < b.column)
            && self.columns.iter().all(|column| of_schema(column) && column.is_possible())
            && self.triples.is_sorted_by(|a, b| a < b)
            && self.triples.iter().all(|&column| column < self.columns.len())
            && self.triples.len() <= MOST_COLUMNS_OF_TRIPLES
            && self.columns.len() <= MOST_COLUMNS
            && self.codes_of_triples.is_power_of_two()
            && self.cells(classes) <= MOST_CELLS
    }

    /// Writes the rows of a batch at these positions.
    pub(crate) fn write(&self, batch: &Batch, rows: &[u32]) -> Coded {
        let mut coded = Coded { rows: rows.len(), ..Coded::default() };
        for column in &self.columns {
            match (&column.scale, &batch.columns[column.column]) {
                (Scale::Numbers(scale), BatchColumn::Number(numbers)) => {
                    let (mut codes, mut distances, mut normals) =
                        (vec![NO_CODE; rows.len()], vec![0; rows.len()], vec![0; rows.len()]);
                    for (i, &row) in rows.iter().enumerate() {
                        let x = numbers[row as usize];
                        if !x.is_nan() {
                            (codes[i], distances[i], normals[i]) = scale.read(x);
                        }
                    }
                    coded.codes.push(codes);
                    coded.distances.push(distances);
                    coded.normals.push(normals);
                }
                (Scale::Values { values, others }, BatchColumn::Category(category)) => {
                    let code_of = codes_of(values, *others, &category.values);
                    let codes = rows.iter().map(|&row| code_of[category.codes[row as usize] as usize]);
                    coded.codes.push(codes.collect());
                }
                _ => coded.codes.push(vec![NO_CODE; rows.len()]),
            }
        }
        coded
    }
}

/// How well each column by itself predicts every row from the others, each of which weighs `unit`: the mean log-loss, infinite
/// for columns without counts.
fn losses_of(class_weights: &[f64], singles: &[Option<SingleCounts>], unit: f64) -> Vec<f64> {
    let log_prior = log_prior(class_weights);
    let loss = |counts: &Option<SingleCounts>| {
        counts.as_ref().map_or(f64::INFINITY, |counts| counts.choose(&log_prior, unit).1)
    };
    singles.iter().map(loss).collect()
}

/// The columns of the schema that are counted together, numbers and categories in at most so many codes. If there are too many,
/// the best by themselves are. Also how many are left out.
fn columns_of(
    statistics: &Statistics,
    losses: &[f64],
    bins: usize,
    values: usize,
) -> (Vec<GridColumn>, usize) {
    let column = |factor: &FamilyStatistics| match factor {
        FamilyStatistics::Number(column, numbers) => GridColumn::of_numbers(*column, numbers, bins),
        FamilyStatistics::Category(column, category) => GridColumn::of_values(*column, category, values),
        _ => None,
    };
    let mut columns: Vec<GridColumn> = statistics.factors.iter().filter_map(column).collect();
    let all = columns.len();
    if all > MOST_COLUMNS {
        columns.sort_by(|a, b| better_first(losses, a.column, b.column));
        columns.truncate(COLUMNS_OF_MANY);
        columns.sort_by_key(|column| column.column);
    }
    let left_out = all - columns.len();
    (columns, left_out)
}

/// Which columns of a grid are counted in triples: of those with few values, the best by themselves.
fn columns_of_triples(columns: &[GridColumn], losses: &[f64]) -> Vec<usize> {
    let has_few = |column: &GridColumn| column.is_number() || column.shares.len() <= MOST_VALUES_OF_TRIPLES;
    let mut triples: Vec<usize> = (0..columns.len()).filter(|&column| has_few(&columns[column])).collect();
    triples.sort_by(|&a, &b| better_first(losses, columns[a].column, columns[b].column));
    triples.truncate(MOST_COLUMNS_OF_TRIPLES);
    triples.sort_unstable();
    triples
}

/// Which of two columns of the schema predicts better by itself; of equals, the first.
fn better_first(losses: &[f64], a: usize, b: usize) -> Ordering {
    losses[a].total_cmp(&losses[b]).then(a.cmp(&b))
}

/// The code of each value of a batch, and of a missing one.
fn codes_of(values: &[String], others: bool, in_batch: &Vocabulary) -> Vec<u8> {
    let unknown = if others { values.len() as u8 + 1 } else { NO_CODE };
    let mut codes = vec![NO_CODE; in_batch.len() + 1];
    codes[MISSING as usize] = NO_CODE;
    for (id, name) in in_batch.names().enumerate() {
        let known = values.iter().position(|value| value == name);
        codes[id + 1] = known.map_or(unknown, |value| value as u8 + 1);
    }
    codes
}

/// The number below which the standard normal distribution has this much weight, by Newton's method on its logarithm-free tail:
/// from a rough start, a few steps on P(X < x) = ½ erfc(−x / √2) give every digit.
fn normal_quantile(p: f64) -> f64 {
    let p = p.clamp(1e-12, 1.0 - 1e-12);
    // An approximation within 4.5e-4 (Abramowitz and Stegun, 26.2.23) to start from.
    let tail = p.min(1.0 - p);
    let t = (-2.0 * libm::log(tail)).sqrt();
    let start = t
        - (2.515_517 + t * (0.802_853 + t * 0.010_328))
            / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    let mut x = if p < 0.5 { -start } else { start };
    for _ in 0..3 {
        let below = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        let density = libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        x -= (below - p) / density;
    }
    x
}

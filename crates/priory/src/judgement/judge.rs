//! From statistics and a sample of their rows to a judgement: the grid is made, what the columns of the sample say together is
//! counted on it, and weights are fitted.

use std::borrow::Cow;
use std::sync::Arc;

use crate::batch::Batch;
use crate::error::Result;
use crate::families::FamilyStatistics;
use crate::families::text::TextStatistics;
use crate::judgement::grid::{Grid, MOST_COLUMNS};
use crate::judgement::lost::PRODUCTS;
use crate::judgement::pool::{Effort, Judgement, Quality, Sample, judge};
use crate::judgement::rows::places_of;
use crate::judgement::sample::SettledSample;
use crate::judgement::select::judge_selected;
use crate::judgement::single::SingleCounts;
use crate::judgement::text::{TextSample, terms_of_texts, weighed_texts};
use crate::judgement::{OnGrid, RowSample, Tier};
use crate::leave_one_out::LeaveOneOut;
use crate::settings::{Selection, Settings};
use crate::statistics::Statistics;

/// Weights are fitted to so many different rows at the most, and to so many terms of them.
const ROWS_TO_FIT: usize = 20_000;
const MOST_TERMS: usize = 1 << 24;

/// How many rows the weights of so many classes and columns are fitted to.
pub(crate) fn rows_to_fit(classes: usize, columns: usize, of_texts: usize) -> usize {
    let terms = columns + 2 * columns.min(MOST_COLUMNS) + 6 + of_texts;
    (MOST_TERMS / (classes.max(1) * terms)).clamp(1, ROWS_TO_FIT)
}

/// How many nats less likely than anything else the impossible is taken to be.
const IMPOSSIBLE: f64 = 30.0;

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

/// The factors without counts of their own, each with the column that has its weight. Texts are not among them if their tokens are
/// `weighed`.
pub(super) fn factors_of(
    statistics: &Statistics,
    singles: &[Option<SingleCounts>],
    weighed: &[usize],
) -> Vec<(usize, usize)> {
    (statistics.factors.iter().enumerate())
        .map(|(i, factor)| (i, factor.columns()[0]))
        .filter(|(_, column)| singles[*column].is_none() && !weighed.contains(column))
        .collect()
}

/// The same as a judged model numbers them, which has no factors of texts that are weighed.
pub(super) fn factors_of_model(
    statistics: &Statistics,
    singles: &[Option<SingleCounts>],
    weighed: &[usize],
) -> Vec<(usize, usize)> {
    let weighed_before = |i: usize| {
        let before = statistics.factors[..i].iter();
        before.filter(|factor| weighed.contains(&factor.columns()[0])).count()
    };
    let factors = factors_of(statistics, singles, weighed).into_iter();
    factors.map(|(i, column)| (i - weighed_before(i), column)).collect()
}

/// What factors without counts of their own say of some rows, without each row: the column that has their weight, and terms.
pub(super) fn factor_terms(
    left_out: &LeaveOneOut<'_>,
    singles: &[Option<SingleCounts>],
    weighed: &[usize],
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
    factors_of(left_out.statistics, singles, weighed).into_iter().map(of_factor).collect()
}

/// The weight of each class of canonical statistics.
pub(crate) fn class_weights(statistics: &Statistics) -> Vec<f64> {
    (0..statistics.classes.len()).map(|class| statistics.class_weight.get(0, class)).collect()
}

/// The judgement of canonical statistics, from a sample of their rows, and what the columns of these say together. Columns are
/// selected if the settings say so.
pub(crate) fn judged(
    statistics: &Statistics,
    settings: &Settings,
    tier: Tier,
    sample: RowSample,
    threads: usize,
) -> Result<(OnGrid, Judgement)> {
    let sample = sample.settled();
    if settings.select != Selection::All {
        return judge_selected(statistics, settings, tier, &sample, threads);
    }
    let Fitted { on_grid, judgement, .. } =
        judge_sample(statistics, settings, tier, &sample, PRODUCTS, threads)?;
    Ok((on_grid, judgement))
}

/// A judgement, what columns say together, and how well rows are predicted, so that the fit can be compared with others.
pub(super) struct Fitted {
    pub(super) on_grid: OnGrid,
    pub(super) judgement: Judgement,
    pub(super) quality: Quality,
    /// How much each row weighs.
    pub(super) weights: Vec<f64>,
}

/// Judges all columns of canonical statistics. About so many products can be spent on what is lost without each of them.
pub(super) fn judge_sample(
    statistics: &Statistics,
    settings: &Settings,
    tier: Tier,
    sample: &SettledSample,
    products: usize,
    threads: usize,
) -> Result<Fitted> {
    let SettledSample { batch, copies, largest_hash } = sample;
    let class_of: Vec<u32> = batch
        .classes
        .values
        .names()
        .map(|name| statistics.classes.get(name).expect("the rows were learnt") as u32)
        .collect();
    let mut own: Vec<u32> = batch.classes.codes.iter().map(|&code| class_of[code as usize - 1]).collect();
    let classes = statistics.classes.len();
    let (class_weights, singles) = (class_weights(statistics), singles_of(statistics, settings));
    let grid = Grid::choose(statistics, &class_weights, &singles, tier);
    let has_no_room = grid.columns.is_empty() && grid.left_out > 0;
    let tier = if has_no_room { Tier::Weights } else { tier };
    let grid = Arc::new(Grid { largest_hash: *largest_hash, ..grid });
    let mut coded = grid.write(batch, &(0..batch.rows as u32).collect::<Vec<_>>());
    let on_grid = OnGrid::of_sample(grid, &coded, batch, &own, copies, classes, threads);

    let weighed: Vec<(usize, &TextStatistics)> = weighed_texts(statistics, settings).collect();
    let of_texts = terms_of_texts(statistics, settings);
    let most = rows_to_fit(classes, statistics.schema.columns.len(), of_texts).min(batch.rows);
    let batch = match most < batch.rows {
        true => Cow::Owned(batch.select(&(0..most).collect::<Vec<_>>())),
        false => Cow::Borrowed(batch),
    };
    coded.truncate(most);
    own.truncate(most);
    let rows: Vec<u32> = (0..batch.rows as u32).collect();
    let columns: Vec<usize> = weighed.iter().map(|(column, _)| *column).collect();
    let mut sample = Sample {
        own,
        weights: (0..batch.rows).map(|row| batch.weight(row)).collect(),
        copies: copies[..most].to_vec(),
        places: places_of_all(&singles, &batch, &rows),
        coded,
        factors: match factors_of(statistics, &singles, &columns).is_empty() {
            true => Vec::new(),
            false => statistics
                .leave_one_out(settings, |left_out| factor_terms(left_out, &singles, &columns, &batch))??,
        },
        texts: Vec::new(),
    };
    let counted = sample.weights.iter().zip(&sample.copies).map(|(weight, copies)| weight * copies);
    let counted: Vec<f64> = counted.collect();
    let of_class = statistics.classes();
    let text = |(column, text): &(usize, &TextStatistics)| {
        TextSample::new(
            *column,
            text,
            batch.text(*column),
            &sample.own,
            &counted,
            &of_class,
            statistics.unit(),
        )
    };
    let texts = weighed.iter().map(text).collect();
    sample.texts = texts;
    let by = Effort { products, threads };
    let (mut judgement, quality) =
        judge(tier, &statistics.classes, &class_weights, &singles, Some(&on_grid), &sample, by);
    for (of_text, (_, text)) in judgement.texts.iter_mut().zip(&weighed) {
        of_text.name_tokens(text);
    }
    Ok(Fitted { on_grid, judgement, quality, weights: counted })
}

pub(super) fn places_of_all(singles: &[Option<SingleCounts>], batch: &Batch, rows: &[u32]) -> Vec<Vec<u32>> {
    let places = |(column, counts): (usize, &Option<SingleCounts>)| {
        counts.as_ref().map_or_else(Vec::new, |counts| places_of(&counts.places, batch, column, rows))
    };
    singles.iter().enumerate().map(places).collect()
}

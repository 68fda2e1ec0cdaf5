//! What every term says of rows that were learnt, without the row: as the fit needs it, for whatever was chosen.

use std::ops::Range;

use crate::judgement::OnGrid;
use crate::judgement::blocks::in_blocks;
use crate::judgement::bound;
use crate::judgement::cloud::Cloud;
use crate::judgement::fit::Part;
use crate::judgement::grid::Coded;
use crate::judgement::interactions::{Interaction, Shape, pairs_of, triples_of};
use crate::judgement::pool::{Judgement, NEVER_MET, PairChoice};
use crate::judgement::single::{SingleCounts, SingleTable};

/// Rows that were learnt, for the fit: in an order that follows from what they hold.
pub(crate) struct Sample {
    pub(crate) own: Vec<u32>,
    pub(crate) weights: Vec<f64>,
    /// How many rows hold the same.
    pub(crate) copies: Vec<f64>,
    /// Where each row stands in the counts of each column; `NOWHERE` if its value is missing.
    pub(crate) places: Vec<Vec<u32>>,
    pub(crate) coded: Coded,
    /// Of factors whose likelihoods are terms themselves: the column that has their weight, and their terms without the row, the
    /// classes of a row side by side.
    pub(crate) factors: Vec<(usize, Vec<f64>)>,
}

impl Sample {
    /// The mean weight of a row.
    pub(crate) fn unit(&self) -> f64 {
        let weights = self.weights.iter().zip(&self.copies);
        weights.map(|(weight, copies)| weight * copies).sum::<f64>() / self.copies.iter().sum::<f64>()
    }

    /// The log prior of each class without the row, row after row: (n + 1) / (N + K).
    pub(crate) fn log_prior(&self, class_weights: &[f64]) -> Vec<f64> {
        let total = class_weights.iter().sum::<f64>() + class_weights.len() as f64;
        let of_row = |(&own, &weight): (&u32, &f64)| {
            let left = move |(class, &of_class): (usize, &f64)| {
                let left = if class == own as usize { of_class - weight } else { of_class };
                libm::log((left + 1.0).max(0.5) / (total - weight))
            };
            class_weights.iter().enumerate().map(left).collect::<Vec<f64>>()
        };
        self.own.iter().zip(&self.weights).flat_map(of_row).collect()
    }
}

/// All terms of a judgement, ready to be asked about rows that were learnt.
#[cfg(test)]
pub(crate) struct Terms {
    columns: Vec<Option<SingleTable>>,
    /// Pairs and triples, if there are any.
    interactions: Vec<Interactions>,
    clouds: Vec<Cloud>,
    doubt: f64,
}

#[cfg(test)]
impl Terms {
    /// The terms that a judgement is about; `unit` is the mean weight of a row. `None` if it is not a judgement of such counts.
    pub(crate) fn new(
        singles: &[Option<SingleCounts>],
        on_grid: Option<&OnGrid>,
        judgement: &Judgement,
        unit: f64,
    ) -> Option<Self> {
        let columns = singles.iter().zip(&judgement.shrinkages);
        let columns = columns.map(|(counts, shrinkage)| Some(counts.as_ref()?.table((*shrinkage)?, unit)));
        let (mut interactions, mut clouds) = (Vec::new(), Vec::new());
        if let Some(OnGrid { grid, sums }) = on_grid {
            let size = grid.columns.len();
            if let Some(PairChoice { bins, strength }) = judgement.pairs {
                interactions.push(Interactions::new(size, pairs_of(grid, sums, bins), strength, unit));
            }
            if let Some(strength) = judgement.triples {
                interactions.push(Interactions::new(size, triples_of(sums), strength, unit));
            }
            for &(members, covariance) in &judgement.clouds {
                clouds.push(Cloud::of(grid, sums, members, covariance)?);
            }
        }
        Some(Terms { columns: columns.collect(), interactions, clouds, doubt: judgement.doubt })
    }

    /// What all terms say of each row without the row, in the order of the weights of a judgement.
    pub(crate) fn without_one(&self, sample: &Sample, log_prior: &[f64], threads: usize) -> Vec<Part> {
        let (rows, classes) = (sample.own.len(), log_prior.len() / sample.own.len().max(1));
        let mut parts = vec![columns_without_one(&self.columns, sample, classes)];
        let interactions = self.interactions.iter();
        parts.extend(interactions.map(|interactions| interactions.without_one(sample, rows, threads)));
        if !self.clouds.is_empty() {
            let clouds: Vec<&Cloud> = self.clouds.iter().collect();
            parts.push(clouds_without_one(&clouds, sample, log_prior, self.doubt, threads));
        }
        parts
    }
}

/// What each column says by itself.
pub(crate) fn columns_without_one(columns: &[Option<SingleTable>], sample: &Sample, classes: usize) -> Part {
    let last = classes - 1;
    let mut values = vec![vec![0.0; sample.own.len() * last]; columns.len()];
    for ((table, places), values) in columns.iter().zip(&sample.places).zip(&mut values) {
        let Some(table) = table else { continue };
        for (row, (&place, &own)) in places.iter().zip(&sample.own).enumerate() {
            if place < NEVER_MET {
                let (place, own) = (place as usize, own as usize);
                let terms = table.row(place);
                let lost = terms[own] - table.own(place, own);
                without_lost(terms, own, lost, &mut values[row * last..][..last]);
            }
        }
    }
    for (column, terms) in &sample.factors {
        for (row, terms) in terms.chunks_exact(classes).enumerate() {
            without_lost(terms, last, 0.0, &mut values[*column][row * last..][..last]);
        }
    }
    Part::new(interleave(&values), columns.len(), true)
}

/// What terms say for each class less what they say for the last, if the row's own class loses this much by the row.
#[inline(always)]
fn without_lost(terms: &[f64], own: usize, lost: f64, to: &mut [f64]) {
    let last = terms[to.len()] - if own == to.len() { lost } else { 0.0 };
    to.iter_mut().zip(terms).for_each(|(to, term)| *to = term - last);
    if let Some(to) = to.get_mut(own) {
        *to -= lost;
    }
}

/// The terms of a row and class side by side, from those of each term by itself.
fn interleave(terms: &[Vec<f64>]) -> Vec<f32> {
    // A few cells at a time, so that those of all terms stay in the cache.
    const AT_ONCE: usize = 64;
    let mut values = vec![0.0; terms.iter().map(Vec::len).sum()];
    for (block, values) in values.chunks_mut(AT_ONCE * terms.len().max(1)).enumerate() {
        for (place, term) in terms.iter().enumerate() {
            let to = values[place..].iter_mut().step_by(terms.len());
            to.zip(&term[block * AT_ONCE..]).for_each(|(to, from)| *to = *from as f32);
        }
    }
    values
}

/// What columns of the grid say together, beyond what each says by itself: all pairs, or all triples.
pub(crate) struct Interactions {
    /// How many columns the grid has.
    columns: usize,
    of: Vec<(Shape, Interaction)>,
    tables: Vec<Table>,
    strength: f64,
    unit: f64,
}

/// The terms of one pair or triple.
struct Table {
    /// u of each cell, classes side by side.
    terms: Vec<f64>,
    /// By how much u of each class is less for one of its own rows without the row.
    lost: Vec<f64>,
}

impl Interactions {
    pub(crate) fn new(
        columns: usize,
        of: impl Iterator<Item = (Shape, Interaction)>,
        strength: f64,
        unit: f64,
    ) -> Self {
        Interactions { columns, of: of.collect(), tables: Vec::new(), strength, unit }.with_strength(strength)
    }

    /// The same, shrunk with another strength.
    pub(crate) fn with_strength(mut self, strength: f64) -> Self {
        let table = |(shape, interaction): &(Shape, Interaction)| {
            let terms = interaction.table(shape, strength, 0.0);
            let own = interaction.table(shape, strength, self.unit);
            Table { lost: terms.iter().zip(own).map(|(with, without)| with - without).collect(), terms }
        };
        self.tables = self.of.iter().map(table).collect();
        self.strength = strength;
        self
    }

    /// What each column says together with others, of each of the first rows without the row.
    pub(crate) fn without_one(&self, sample: &Sample, rows: usize, threads: usize) -> Part {
        let blocks = in_blocks(rows, threads, |block| interleave(&self.of_block(sample, block)));
        Part::new(blocks.concat(), self.columns, false)
    }

    fn of_block(&self, sample: &Sample, block: Range<usize>) -> Vec<Vec<f64>> {
        let Some((_, first)) = self.of.first() else { return vec![Vec::new(); self.columns] };
        let (classes, last) = (first.classes, first.classes - 1);
        let mut values = vec![vec![0.0; block.len() * last]; self.columns];
        let mut u = vec![0.0; block.len() * last];
        for ((shape, interaction), table) in self.of.iter().zip(&self.tables) {
            for (place, row) in block.clone().enumerate() {
                let (own, cell) = (sample.own[row] as usize, shape.cell(&sample.coded, row));
                let terms = &table.terms[cell * classes..][..classes];
                let lost = match sample.weights[row] {
                    weight if weight != self.unit && shape.is_known(cell) => {
                        terms[own] - interaction.ln(cell, own, self.strength, weight)
                    }
                    _ => table.lost[cell * classes + own],
                };
                without_lost(terms, own, lost, &mut u[place * last..][..last]);
            }
            for &column in shape.columns() {
                values[column].iter_mut().zip(&u).for_each(|(sum, u)| *sum += u);
            }
        }
        values
    }
}

/// What the columns say as clouds of points, bounded.
pub(crate) fn clouds_without_one(
    clouds: &[&Cloud],
    sample: &Sample,
    log_prior: &[f64],
    doubt: f64,
    threads: usize,
) -> Part {
    let rows = sample.own.len();
    let classes = log_prior.len() / rows.max(1);
    let blocks = in_blocks(rows, threads, |block| {
        let of_cloud = |cloud: &&Cloud| {
            let mut scores = cloud.scores_without(&sample.coded, &sample.own, &sample.weights, block.clone());
            let mut values = vec![0.0; block.len() * (classes - 1)];
            let rows = scores.chunks_exact_mut(classes).zip(block.clone()).enumerate();
            for (place, (scores, row)) in rows {
                bound(scores, &log_prior[row * classes..][..classes], doubt);
                without_lost(scores, 0, 0.0, &mut values[place * (classes - 1)..][..classes - 1]);
            }
            values
        };
        interleave(&clouds.iter().map(of_cloud).collect::<Vec<_>>())
    });
    Part::new(blocks.concat(), clouds.len(), false)
}

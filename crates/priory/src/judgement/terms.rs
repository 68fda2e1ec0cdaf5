//! What every term says of rows that were learnt, without the row: as the fit needs it, for whatever was chosen.

use std::ops::Range;

use crate::judgement::blocks::in_blocks;
use crate::judgement::bound;
use crate::judgement::cloud::Cloud;
use crate::judgement::fit::Part;
use crate::judgement::grid::Coded;
use crate::judgement::interactions::{Interaction, Shape};
use crate::judgement::pool::NEVER_MET;
use crate::judgement::single::SingleTable;
use crate::judgement::text::TextSample;

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
    /// Texts whose tokens are weighed.
    pub(crate) texts: Vec<TextSample>,
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
    /// Of rows that weigh `unit` each. Only where their counts are `kept` can other rows be asked, or another strength be tried.
    pub(crate) fn new(
        columns: usize,
        of: impl Iterator<Item = (Shape, Interaction)>,
        strength: f64,
        unit: f64,
        kept: bool,
    ) -> Self {
        let with_table = |(shape, mut interaction): (Shape, Interaction)| {
            let terms = interaction.table(&shape, strength, 0.0);
            let own = interaction.table(&shape, strength, unit);
            if !kept {
                interaction.let_go();
            }
            let lost = terms.iter().zip(own).map(|(with, without)| with - without).collect();
            ((shape, interaction), Table { terms, lost })
        };
        let (of, tables) = of.map(with_table).unzip();
        Interactions { columns, of, tables, strength, unit }
    }

    /// The same without the counts, which take as much memory as the terms.
    pub(crate) fn without_counts(mut self) -> Self {
        self.of.iter_mut().for_each(|(_, interaction)| interaction.let_go());
        self
    }

    /// In how many of them each column is, at the most.
    pub(crate) fn of_each_column(&self) -> usize {
        let in_each = self.of.first().map_or(1, |(shape, _)| shape.columns().len());
        self.of.len() * in_each / self.columns.max(1)
    }

    /// The same, shrunk with another strength.
    pub(crate) fn with_strength(self, strength: f64) -> Self {
        if strength == self.strength {
            return self;
        }
        let Interactions { columns, of, tables, unit, .. } = self;
        // There is room for one set of tables.
        drop(tables);
        Interactions::new(columns, of.into_iter(), strength, unit, true)
    }

    /// What each column says together with others, of every row without the row.
    pub(crate) fn without_one(&self, sample: &Sample, threads: usize) -> Part {
        let blocks = in_blocks(sample.own.len(), threads, |block| {
            let mut values = vec![vec![0.0; block.len() * self.last_class()]; self.columns];
            self.of_block(
                sample,
                block,
                |_| true,
                |shape, u| {
                    for &column in shape.columns() {
                        values[column].iter_mut().zip(u).for_each(|(sum, u)| *sum += u);
                    }
                },
            );
            interleave(&values)
        });
        Part::new(blocks.concat(), self.columns, false)
    }

    /// What all columns say together, of each of the first rows without the row: for each class but the last, less what
    /// they say for the last.
    pub(crate) fn sums_without_one(&self, sample: &Sample, rows: usize, threads: usize) -> Vec<f64> {
        let blocks = in_blocks(rows, threads, |block| {
            let mut sums = vec![0.0; block.len() * self.last_class()];
            self.of_block(
                sample,
                block,
                |_| true,
                |_, u| sums.iter_mut().zip(u).for_each(|(sum, u)| *sum += u),
            );
            sums
        });
        blocks.concat()
    }

    fn last_class(&self) -> usize {
        self.of.first().map_or(0, |(_, interaction)| interaction.classes - 1)
    }

    /// The first rows of what [`without_one`](Self::without_one) has given, without what any column says together with this one.
    pub(crate) fn without_column(&self, part: &Part, sample: &Sample, rows: usize, column: usize) -> Part {
        let cells = rows * self.last_class();
        let mut together = vec![vec![0.0; cells]; self.columns];
        let has_column = |shape: &Shape| shape.columns().contains(&column);
        self.of_block(sample, 0..rows, has_column, |shape, u| {
            for &other in shape.columns().iter().filter(|&&other| other != column) {
                together[other].iter_mut().zip(u).for_each(|(sum, u)| *sum += u);
            }
        });
        together.remove(column);
        let mut part = part.without_term(column, cells);
        together.iter().enumerate().for_each(|(term, said)| part.subtract(term, said));
        part
    }

    /// Does something with what each of some pairs or triples says of a block of rows, without each row.
    fn of_block(
        &self,
        sample: &Sample,
        block: Range<usize>,
        is_asked: impl Fn(&Shape) -> bool,
        mut with: impl FnMut(&Shape, &[f64]),
    ) {
        let last = self.last_class();
        let classes = last + 1;
        let mut u = vec![0.0; block.len() * last];
        let asked = self.of.iter().zip(&self.tables).filter(|((shape, _), _)| is_asked(shape));
        for ((shape, interaction), table) in asked {
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
            with(shape, &u);
        }
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
            let scores = cloud.scores_without(&sample.coded, &sample.own, &sample.weights, block.clone());
            let log_prior = &log_prior[block.start * classes..block.end * classes];
            bounded(scores, log_prior, classes, doubt)
        };
        interleave(&clouds.iter().map(of_cloud).collect::<Vec<_>>())
    });
    Part::new(blocks.concat(), clouds.len(), false)
}

/// What a cloud says for each class less what it says for the last, bounded.
fn bounded(mut scores: Vec<f64>, log_prior: &[f64], classes: usize, doubt: f64) -> Vec<f64> {
    let last = classes - 1;
    let mut values = vec![0.0; scores.len() / classes * last];
    let rows = scores.chunks_exact_mut(classes).zip(log_prior.chunks_exact(classes));
    for (row, (scores, log_prior)) in rows.enumerate() {
        bound(scores, log_prior, doubt);
        without_lost(scores, 0, 0.0, &mut values[row * last..][..last]);
    }
    values
}

/// For each of so many columns of the grid, the first rows of what [`clouds_without_one`] has given, without the column; `None`
/// where no cloud has it. `log_prior` is that of the first rows.
pub(crate) fn clouds_without_columns(
    clouds: &[Cloud],
    part: &Part,
    sample: &Sample,
    log_prior: &[f64],
    (rows, classes): (usize, usize),
    (doubt, columns): (f64, usize),
) -> Vec<Option<Part>> {
    let mut parts: Vec<Option<Part>> = (0..columns).map(|_| None).collect();
    for (term, cloud) in clouds.iter().enumerate() {
        let without = cloud.scores_without_columns(&sample.coded, &sample.own, &sample.weights, 0..rows);
        for (column, scores) in without {
            let part = parts[column].get_or_insert_with(|| part.first(rows * (classes - 1)));
            part.replace(term, &bounded(scores, log_prior, classes, doubt));
        }
    }
    parts
}

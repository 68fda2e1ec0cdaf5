//! A judged model: the terms with their weights, ready to be added up.

use crate::batch::Batch;
use crate::judgement::bound;
use crate::judgement::cloud::{Cloud, Point};
use crate::judgement::grid::{Coded, Grid};
use crate::judgement::interactions::Shape;
use crate::judgement::judge::{class_weights, factors_of_model, singles_of};
use crate::judgement::pool::{Judgement, NEVER_MET, log_prior};
use crate::judgement::rows::places_of;
use crate::judgement::single::Places;
use crate::judgement::term_list::TermList;
use crate::judgement::text::{JudgedText, TextJudgement, text_of};
use crate::settings::Settings;
use crate::statistics::Statistics;

/// Weighted terms, derived from statistics and a [`Judgement`].
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    classes: usize,
    /// The log prior that the fit knew.
    log_prior: Vec<f64>,
    columns: Vec<Option<JudgedColumn>>,
    grid: Option<Grid>,
    /// Pairs, then triples.
    interactions: Vec<(Shape, Vec<f64>)>,
    clouds: Vec<JudgedCloud>,
    /// Texts whose tokens are weighed.
    pub(crate) texts: Vec<JudgedText>,
    /// The factors whose likelihoods are terms themselves, and their weights.
    pub(crate) factors: Vec<(usize, f64)>,
    /// What is added to the log prior of each class.
    offsets: Vec<f64>,
    doubt: f64,
}

/// What a column says by itself.
#[derive(Debug, Clone)]
struct JudgedColumn {
    places: Places,
    /// The weighted terms of every place, classes side by side.
    table: Vec<f64>,
}

/// What columns say as one cloud of points.
#[derive(Debug, Clone)]
struct JudgedCloud {
    name: String,
    cloud: Cloud,
    weight: f64,
}

impl Judged {
    /// From canonical statistics; `None` if the judgement is not of such statistics.
    pub(crate) fn new(statistics: &Statistics, settings: &Settings, judgement: &Judgement) -> Option<Self> {
        let (class_weights, singles) = (class_weights(statistics), singles_of(statistics, settings));
        let on_grid = statistics.on_grid.as_deref();
        let terms = TermList::new(judgement, singles.len(), on_grid)?;
        let classes = class_weights.len();
        let log_prior = log_prior(&class_weights);
        let columns = singles.iter().zip(&judgement.shrinkages).zip(&judgement.weights);
        let columns = columns.map(|((counts, shrinkage), weight)| {
            let (counts, shrinkage) = (counts.as_ref()?, (*shrinkage)?);
            Some(JudgedColumn {
                table: counts.table(shrinkage, 0.0).weighted(*weight),
                places: counts.places.clone(),
            })
        });
        let mut interactions = Vec::new();
        for terms in &terms.interactions {
            for (shape, interaction, weight) in terms.weighted(&judgement.weights) {
                let mut table = interaction.table(&shape, terms.strength, 0.0);
                table.iter_mut().for_each(|u| *u *= weight);
                interactions.push((shape, table));
            }
        }
        let mut clouds = Vec::new();
        for term in &terms.clouds {
            let weight = judgement.weights[term.weight];
            if weight > 0.0 {
                clouds.push(JudgedCloud { name: term.describe(), cloud: term.cloud()?, weight });
            }
        }
        // The fit knew classes by smoothed shares. Whatever prior the model has takes the place of their plain shares.
        let total: f64 = class_weights.iter().sum();
        let offsets = statistics.classes.names().zip(&class_weights).zip(&log_prior);
        let offsets = offsets.map(|((class, weight), smoothed)| {
            // Classes that were learnt afterwards have no offset.
            judgement.offsets.get(class).copied().unwrap_or(0.0) + smoothed - libm::log(weight / total)
        });
        let offsets = offsets.collect();
        let weighed: Vec<usize> = judgement.texts.iter().map(|text| text.column).collect();
        let unit = statistics.unit();
        let of_class = statistics.classes();
        let text = |of_text: &TextJudgement| {
            Some(JudgedText::new(text_of(statistics, of_text.column)?, of_text, &of_class, unit))
        };
        let texts = judgement.texts.iter().map(text).collect::<Option<_>>()?;
        let factors = factors_of_model(statistics, &singles, &weighed).into_iter();
        let factors = factors.map(|(factor, column)| (factor, judgement.weights[column])).collect();
        Some(Judged {
            classes,
            log_prior,
            columns: columns.collect(),
            grid: on_grid.map(|on_grid| Grid::clone(&on_grid.grid)),
            interactions,
            clouds,
            texts,
            factors,
            offsets,
            doubt: judgement.doubt,
        })
    }

    /// What the terms need to know of the rows of a batch.
    pub(crate) fn read(&self, batch: &Batch) -> ReadRows {
        let rows: Vec<u32> = (0..batch.rows as u32).collect();
        let places = self.columns.iter().enumerate().map(|(column, judged)| {
            judged.as_ref().map_or_else(Vec::new, |judged| places_of(&judged.places, batch, column, &rows))
        });
        ReadRows {
            rows: batch.rows,
            places: places.collect(),
            coded: self.grid.as_ref().map(|grid| grid.write(batch, &rows)).unwrap_or_default(),
        }
    }

    /// z of every class for every row, from a prior on and but for texts and factors that have terms of their own.
    pub(crate) fn score(&self, read: &ReadRows, log_prior: &[f64]) -> Vec<f64> {
        let k = self.classes;
        let start: Vec<f64> =
            log_prior.iter().zip(&self.offsets).map(|(prior, offset)| prior + offset).collect();
        let mut z = start.repeat(read.rows);
        let add = |z: &mut [f64], terms: &[f64]| z.iter_mut().zip(terms).for_each(|(z, term)| *z += term);
        for (column, places) in self.columns.iter().zip(&read.places) {
            let Some(column) = column else { continue };
            for (row, &place) in places.iter().enumerate().filter(|(_, place)| **place < NEVER_MET) {
                add(&mut z[row * k..][..k], &column.table[place as usize * k..]);
            }
        }
        for (shape, table) in &self.interactions {
            for (row, z) in z.chunks_exact_mut(k).enumerate() {
                add(z, &table[shape.cell(&read.coded, row) * k..]);
            }
        }
        let (mut point, mut scores) = (Point::default(), vec![0.0; k]);
        for cloud in &self.clouds {
            for (row, z) in z.chunks_exact_mut(k).enumerate() {
                self.ask_cloud(cloud, &read.coded, row, &mut point, &mut scores);
                add(z, &scores);
            }
        }
        z
    }

    fn ask_cloud(
        &self,
        cloud: &JudgedCloud,
        coded: &Coded,
        row: usize,
        point: &mut Point,
        scores: &mut [f64],
    ) {
        cloud.cloud.score(coded, row, point, scores);
        bound(scores, &self.log_prior, self.doubt);
        scores.iter_mut().for_each(|score| *score *= cloud.weight);
    }

    /// The terms of a row, in the order in which [`score`](Self::score) adds them.
    pub(crate) fn terms(&self, read: &ReadRows, row: usize) -> Vec<JudgedTerm> {
        let (k, nothing) = (self.classes, vec![0.0; self.classes]);
        let mut terms = vec![JudgedTerm { of: TermOf::Offsets, values: self.offsets.clone() }];
        let mut push =
            |of: TermOf, values: &[f64]| terms.push(JudgedTerm { of, values: values[..k].to_vec() });
        for (column, (judged, places)) in self.columns.iter().zip(&read.places).enumerate() {
            let Some(judged) = judged else { continue };
            let place = places[row];
            let values = if place < NEVER_MET { &judged.table[place as usize * k..] } else { &nothing };
            push(TermOf::Column { column, is_unseen: place == NEVER_MET }, values);
        }
        let column_of = |column: usize| self.grid.as_ref().map_or(0, |grid| grid.columns[column].column);
        for (shape, table) in &self.interactions {
            let cell = shape.cell(&read.coded, row);
            let columns = shape.columns().iter().map(|&column| column_of(column)).collect();
            let is_known = shape.is_known(cell);
            let values = if is_known { &table[cell * k..] } else { &nothing };
            push(TermOf::Together { columns, is_known }, values);
        }
        let (mut point, mut scores) = (Point::default(), vec![0.0; k]);
        for cloud in &self.clouds {
            self.ask_cloud(cloud, &read.coded, row, &mut point, &mut scores);
            push(TermOf::Cloud(cloud.name.clone()), &scores);
        }
        terms
    }
}

/// Rows as the terms look them up.
#[derive(Debug)]
pub(crate) struct ReadRows {
    rows: usize,
    places: Vec<Vec<u32>>,
    coded: Coded,
}

impl ReadRows {
    /// How many values were never met in training.
    pub(crate) fn unseen(&self) -> u64 {
        self.places.iter().flatten().filter(|&&place| place == NEVER_MET).count() as u64
    }
}

/// What one term adds to z of each class.
#[derive(Debug)]
pub(crate) struct JudgedTerm {
    pub(crate) of: TermOf,
    pub(crate) values: Vec<f64>,
}

/// What a term is about.
#[derive(Debug)]
pub(crate) enum TermOf {
    /// The classes themselves.
    Offsets,
    /// A column of the schema.
    Column { column: usize, is_unseen: bool },
    /// Columns of the schema, beyond what each says by itself; nothing, unless the values of all are known.
    Together { columns: Vec<usize>, is_known: bool },
    /// Many columns as one cloud of points.
    Cloud(String),
}

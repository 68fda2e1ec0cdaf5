//! The pool of all terms: what is chosen about them, and the weights that are fitted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::judgement::bound;
use crate::judgement::cloud::{Cloud, Coordinates, Covariance, Members, Scatter};
use crate::judgement::fit::{Fit, LARGEST_WEIGHT, Part, Residuals, Weights, best_power};
use crate::judgement::grid::{Coded, Grid};
use crate::judgement::interactions::{Interaction, PairShape};
use crate::judgement::single::{Shrinkage, SingleCounts, SingleTable};
use crate::judgement::together::{Together, TripleShape, View};
use crate::judgement::{OnGrid, Tier};
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// Choices are made on so many rows at the most, and pairs on so many of them.
const ROWS_TO_CHOOSE: usize = 1_200;
const PAIRS_TO_CHOOSE: usize = 300;

/// The strengths of pairs and triples that are tried; of pairs also the last where there are many rows.
const PAIR_STRENGTHS: [f64; 4] = [5.0, 20.0, 80.0, 300.0];
const TRIPLE_STRENGTHS: [f64; 2] = [5.0, 30.0];

/// With more rows than this the last strength is tried as well, and gains on some rows are scaled to all of them.
const MANY_ROWS: f64 = 5_000.0;

/// Triples are used if they gain more than so many nats.
const LEAST_GAIN_OF_TRIPLES: f64 = 2.0;

/// Clouds have at most so many dimensions, with one covariance for all classes and with one for each.
const MOST_SHARED: usize = 800;
const MOST_OWN: usize = 120;

/// Steps of the fits on which choices rest, and of the last.
const STEPS_TO_CHOOSE: usize = 30;
const STEPS: usize = 100;

/// Everything that was concluded from leave-one-out terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judgement {
    pub(crate) tier: Tier,
    /// How many rows had been learnt, and the fingerprint of what was counted of them.
    pub(crate) rows: u64,
    pub(crate) fingerprint: u64,
    /// How the counts of each column are shrunk.
    pub(crate) shrinkages: Vec<Option<Shrinkage>>,
    pub(crate) pairs: Option<PairChoice>,
    /// The strength of triples, if they are used.
    pub(crate) triples: Option<f64>,
    pub(crate) clouds: Vec<(Members, Covariance)>,
    /// w, v, v³ and a, one after the other.
    pub(crate) weights: Vec<f64>,
    /// o, by the name of the class.
    pub(crate) offsets: BTreeMap<String, f64>,
    /// ε.
    pub(crate) doubt: f64,
}

impl Judgement {
    /// Whether this can be a judgement of such statistics: as many numbers as there are terms, all of them possible.
    pub(crate) fn fits(&self, statistics: &Statistics) -> bool {
        let columns = statistics.schema.columns.len();
        let on_grid = statistics.on_grid.as_ref().map_or(0, |on_grid| on_grid.grid.columns.len());
        let of_grid = usize::from(self.pairs.is_some()) + usize::from(self.triples.is_some());
        let is_strength = |strength: f64| strength > 0.0 && strength <= 1e6;
        self.shrinkages.len() == columns
            && self.shrinkages.iter().flatten().all(|shrinkage| is_strength(shrinkage.strength))
            && self.pairs.is_none_or(|pairs| is_strength(pairs.strength) && pairs.bins.is_power_of_two())
            && self.triples.is_none_or(is_strength)
            && self.clouds.iter().all(|(members, covariance)| {
                covariance.is_possible() && !matches!(members, Members::Codes(0))
            })
            && (on_grid > 0 || of_grid + self.clouds.len() == 0)
            && self.weights.len() == columns + of_grid * on_grid + self.clouds.len()
            && self.weights.iter().all(|weight| (0.0..=LARGEST_WEIGHT).contains(weight))
            && self.offsets.values().all(|offset| offset.abs() <= 1e3)
            && self.doubt > 0.0
            && self.doubt < 1.0
    }
}

/// How pairs are counted and shrunk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairChoice {
    /// In how many bins numbers are.
    pub(crate) bins: usize,
    pub(crate) strength: f64,
}

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

/// The place of a missing value, and of one that was never met.
pub(crate) const NOWHERE: u32 = u32::MAX;
pub(crate) const NEVER_MET: u32 = u32::MAX - 1;

/// Chooses and fits. `singles` are the counts of each column, if they say anything.
pub(crate) fn judge(
    tier: Tier,
    classes: &Vocabulary,
    class_weights: &[f64],
    singles: &[Option<SingleCounts>],
    on_grid: Option<&OnGrid>,
    sample: &Sample,
) -> Judgement {
    let together = on_grid.filter(|on_grid| !on_grid.grid.columns.is_empty());
    let together = together.map(|on_grid| (&*on_grid.grid, &on_grid.sums));
    let full = together.filter(|_| tier == Tier::Full);
    let mut pool = Pool::new(class_weights, singles, sample);
    pool.add_columns();
    let power = pool.common;
    let pairs = together.and_then(|(grid, together)| pool.add_pairs(grid, together));
    let triples = full.filter(|_| pairs.is_some()).and_then(|(_, together)| pool.add_triples(together));
    let clouds = full.map(|(grid, together)| pool.add_clouds(grid, together)).unwrap_or_default();
    let Weights { terms, offsets } = pool.fit.weights(power, STEPS);
    Judgement {
        tier,
        rows: 0,
        fingerprint: 0,
        shrinkages: pool.shrinkages,
        pairs,
        triples,
        clouds,
        weights: terms,
        offsets: classes.names().map(str::to_owned).zip(offsets).collect(),
        doubt: pool.fit.doubt(),
    }
}

/// The log prior of each class: (n + 1) / (N + K).
pub(crate) fn log_prior(class_weights: &[f64]) -> Vec<f64> {
    let total = class_weights.iter().sum::<f64>() + class_weights.len() as f64;
    class_weights.iter().map(|weight| libm::log((weight + 1.0) / total)).collect()
}

struct Pool<'a> {
    class_weights: &'a [f64],
    singles: &'a [Option<SingleCounts>],
    sample: &'a Sample,
    /// The mean weight of a row.
    unit: f64,
    shrinkages: Vec<Option<Shrinkage>>,
    /// The one weight that all columns would share.
    common: f64,
    fit: Fit,
}

impl<'a> Pool<'a> {
    fn new(class_weights: &'a [f64], singles: &'a [Option<SingleCounts>], sample: &'a Sample) -> Self {
        let (classes, rows) = (class_weights.len(), sample.own.len());
        let total = class_weights.iter().sum::<f64>() + classes as f64;
        let mut prior = Vec::with_capacity(rows * classes);
        for (&own, &weight) in sample.own.iter().zip(&sample.weights) {
            for (class, &of_class) in class_weights.iter().enumerate() {
                let left = if class == own as usize { of_class - weight } else { of_class };
                prior.push(libm::log((left + 1.0).max(0.5) / (total - weight)));
            }
        }
        let fit = Fit {
            classes,
            own: sample.own.clone(),
            weights: sample
                .weights
                .iter()
                .zip(&sample.copies)
                .map(|(weight, copies)| weight * copies)
                .collect(),
            learnt: sample.copies.iter().sum(),
            log_prior: prior,
            parts: Vec::new(),
        };
        let unit = fit.weights.iter().sum::<f64>() / fit.learnt;
        Pool { class_weights, singles, sample, unit, shrinkages: Vec::new(), common: 1.0, fit }
    }

    /// Adds what each column says by itself.
    fn add_columns(&mut self) {
        let (classes, rows, columns) = (self.fit.classes, self.fit.rows(), self.singles.len());
        let log_prior = log_prior(self.class_weights);
        let mut values = vec![0.0; rows * classes * columns];
        let mut sums = self.fit.log_prior.clone();
        for (column, counts) in self.singles.iter().enumerate() {
            let chosen = counts.as_ref().map(|counts| (counts, counts.choose(&log_prior, self.unit).0));
            self.shrinkages.push(chosen.map(|(_, shrinkage)| shrinkage));
            let Some((counts, shrinkage)) = chosen else { continue };
            let table: SingleTable = counts.table(shrinkage, self.unit);
            for (row, &place) in
                self.sample.places[column].iter().enumerate().filter(|(_, place)| **place < NEVER_MET)
            {
                let own = self.sample.own[row] as usize;
                for class in 0..classes {
                    let term = match class == own {
                        true => table.own(place as usize, class),
                        false => table.row(place as usize)[class],
                    };
                    values[(row * classes + class) * columns + column] = term;
                    sums[row * classes + class] += term;
                }
            }
        }
        for (column, terms) in &self.sample.factors {
            for (cell, (&term, sum)) in terms.iter().zip(&mut sums).enumerate() {
                values[cell * columns + column] = term;
                *sum += term;
            }
        }
        self.common = best_power(&sums, &self.fit.own, &self.fit.weights, classes).0;
        self.fit.parts.push(Part::new(values, columns, classes, true));
    }

    /// What the terms so far leave to be explained of the first rows.
    fn residuals(&self) -> Residuals {
        let weights = self.fit.weights(self.common, STEPS_TO_CHOOSE);
        self.fit.residuals(&weights, self.fit.rows().min(ROWS_TO_CHOOSE))
    }

    fn total(&self) -> f64 {
        self.class_weights.iter().sum()
    }

    /// Adds what each column says together with each other.
    fn add_pairs(&mut self, grid: &Grid, together: &Together) -> Option<PairChoice> {
        let layout = together.layout();
        if layout.pairs.is_empty() {
            return None;
        }
        let choice = self.choose_pairs(grid, together);
        let (classes, rows, columns) = (self.fit.classes, self.fit.rows(), grid.columns.len());
        let mut values = vec![0.0; rows * classes * columns];
        for pair in &layout.pairs {
            let shifts = pair.columns.map(|column| grid.columns[column].shift_to(choice.bins));
            let (interaction, shape) =
                (Interaction::of_pair(together, pair, shifts), PairShape::new(layout, pair, shifts));
            let table = interaction.table(choice.strength, |cell| shape.is_known(cell));
            for row in 0..rows {
                let Some(cell) = shape.cell(&self.sample.coded, row) else { continue };
                let (own, weight) = (self.sample.own[row] as usize, self.sample.weights[row]);
                let terms = interaction.without(&table, cell, choice.strength, own, weight);
                add_to_columns(&mut values[row * classes * columns..], &terms, &pair.columns, columns);
            }
        }
        self.fit.parts.push(Part::new(values, columns, classes, false));
        Some(choice)
    }

    /// The bins and the strength of which the best pairs would gain most.
    fn choose_pairs(&self, grid: &Grid, together: &Together) -> PairChoice {
        let (layout, residuals) = (together.layout(), self.residuals());
        let mut pairs: Vec<usize> = (0..layout.pairs.len()).collect();
        if pairs.len() > PAIRS_TO_CHOOSE {
            // Any selection will do that always is the same and favours no column.
            pairs.sort_by_key(|&pair| (pair as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            pairs.truncate(PAIRS_TO_CHOOSE);
        }
        let finest =
            grid.columns.iter().filter(|column| column.is_number()).map(|column| column.shares.len()).max();
        let mut bins = vec![4];
        while finest.is_some_and(|finest| bins[bins.len() - 1] * 2 <= finest) {
            bins.push(bins[bins.len() - 1] * 2);
        }
        let strengths = &PAIR_STRENGTHS[..if self.total() > MANY_ROWS { 4 } else { 3 }];
        let mut best = (f64::NEG_INFINITY, PairChoice { bins: bins[0], strength: strengths[0] });
        for bins in bins {
            let mut gains = vec![Vec::new(); strengths.len()];
            for pair in pairs.iter().map(|&pair| &layout.pairs[pair]) {
                let shifts = pair.columns.map(|column| grid.columns[column].shift_to(bins));
                let (interaction, shape) =
                    (Interaction::of_pair(together, pair, shifts), PairShape::new(layout, pair, shifts));
                for (gains, &strength) in gains.iter_mut().zip(strengths) {
                    let table = interaction.table(strength, |cell| shape.is_known(cell));
                    gains.push(residuals.gain(1.0, |row, u| {
                        let Some(cell) = shape.cell(&self.sample.coded, row) else { return };
                        let (own, weight) = (self.sample.own[row] as usize, self.sample.weights[row]);
                        u.copy_from_slice(&interaction.without(&table, cell, strength, own, weight));
                    }));
                }
            }
            for (mut gains, &strength) in gains.into_iter().zip(strengths) {
                gains.sort_by(|a, b| b.total_cmp(a));
                let gain: f64 = gains.iter().take(grid.columns.len()).sum();
                if gain > best.0 {
                    best = (gain, PairChoice { bins, strength });
                }
            }
        }
        best.1
    }

    /// Adds what each column says together with any two others, if that is worth it.
    fn add_triples(&mut self, together: &Together) -> Option<f64> {
        let layout = together.layout();
        if layout.triples.is_empty() {
            return None;
        }
        let residuals = self.residuals();
        let (classes, columns) = (self.fit.classes, layout.codes.len());
        let triples: Vec<(Interaction, TripleShape, [usize; 3])> = layout
            .triples
            .iter()
            .map(|triple| {
                (Interaction::of_triple(together, triple), TripleShape::new(layout, triple), triple.columns)
            })
            .collect();
        let mut best = (0.0, TRIPLE_STRENGTHS[0]);
        for strength in TRIPLE_STRENGTHS {
            let terms = self.triple_terms(&triples, strength, residuals.rows(), columns);
            let gain = residuals.gain(1e-9, |row, u| {
                for (class, u) in u.iter_mut().enumerate() {
                    *u = terms[(row * classes + class) * columns..][..columns].iter().sum();
                }
            });
            if gain > best.0 {
                best = (gain, strength);
            }
        }
        let scale =
            if self.total() > MANY_ROWS { self.fit.rows() as f64 / residuals.rows() as f64 } else { 1.0 };
        if best.0 * scale <= LEAST_GAIN_OF_TRIPLES {
            return None;
        }
        let values = self.triple_terms(&triples, best.1, self.fit.rows(), columns);
        self.fit.parts.push(Part::new(values, columns, classes, false));
        Some(best.1)
    }

    fn triple_terms(
        &self,
        triples: &[(Interaction, TripleShape, [usize; 3])],
        strength: f64,
        rows: usize,
        columns: usize,
    ) -> Vec<f64> {
        let classes = self.fit.classes;
        let mut values = vec![0.0; rows * classes * columns];
        for (interaction, shape, of_triple) in triples {
            let table = interaction.table(strength, |cell| shape.is_known(cell));
            for row in 0..rows {
                let cell = shape.cell(&self.sample.coded, row);
                if !shape.is_known(cell) {
                    continue;
                }
                let (own, weight) = (self.sample.own[row] as usize, self.sample.weights[row]);
                let terms = interaction.without(&table, cell, strength, own, weight);
                add_to_columns(&mut values[row * classes * columns..], &terms, of_triple, columns);
            }
        }
        values
    }

    /// Adds what the columns say as clouds of points.
    fn add_clouds(&mut self, grid: &Grid, together: &Together) -> Vec<(Members, Covariance)> {
        let mut found: Vec<(f64, Members, Covariance, Cloud)> = Vec::new();
        for (members, covariances) in candidates(grid, together) {
            let Some(chosen) = self.choose_cloud(grid, together, members, covariances) else { continue };
            // Of the clouds of codes, the better one is used.
            let rival = found
                .iter()
                .position(|other| matches!((other.1, members), (Members::Codes(_), Members::Codes(_))));
            match rival {
                Some(rival) if found[rival].0 <= chosen.0 => {}
                Some(rival) => found[rival] = chosen,
                None => found.push(chosen),
            }
        }
        let (classes, rows, doubt) = (self.fit.classes, self.fit.rows(), self.fit.doubt());
        let mut values = vec![0.0; rows * classes * found.len()];
        let (mut active, mut scores) = (Vec::new(), vec![0.0; classes]);
        for (term, (.., cloud)) in found.iter().enumerate() {
            for row in 0..rows {
                let (own, weight) = (self.sample.own[row] as usize, self.sample.weights[row]);
                cloud.score_without(&self.sample.coded, row, own, weight, &mut active, &mut scores);
                bound(&mut scores, &self.fit.log_prior[row * classes..][..classes], doubt);
                for (class, score) in scores.iter().enumerate() {
                    values[(row * classes + class) * found.len() + term] = *score;
                }
            }
        }
        if !found.is_empty() {
            self.fit.parts.push(Part::new(values, found.len(), classes, false));
        }
        found.into_iter().map(|(_, members, covariance, _)| (members, covariance)).collect()
    }

    /// The covariance under which a cloud by itself predicts the first rows best, and the log-loss of that.
    fn choose_cloud(
        &self,
        grid: &Grid,
        together: &Together,
        members: Members,
        covariances: Vec<Covariance>,
    ) -> Option<(f64, Members, Covariance, Cloud)> {
        let (classes, rows) = (self.fit.classes, self.fit.rows().min(ROWS_TO_CHOOSE));
        let with_own = matches!(covariances.first(), Some(Covariance::Own { .. }));
        let scatter = Scatter::new(Coordinates::new(grid, together.layout(), members), together, with_own);
        let mut best: Option<(f64, Members, Covariance, Cloud)> = None;
        let mut active = Vec::new();
        for covariance in covariances {
            let Some(cloud) = Cloud::new(&scatter, covariance) else { continue };
            let mut scores = vec![0.0; rows * classes];
            for (row, scores) in scores.chunks_exact_mut(classes).enumerate() {
                let (own, weight) = (self.sample.own[row] as usize, self.sample.weights[row]);
                cloud.score_without(&self.sample.coded, row, own, weight, &mut active, scores);
                let prior = &self.fit.log_prior[row * classes..];
                scores.iter_mut().zip(prior).for_each(|(score, prior)| *score += prior);
            }
            let (_, loss) = best_power(&scores, &self.fit.own[..rows], &self.fit.weights[..rows], classes);
            if best.as_ref().is_none_or(|best| loss < best.0) {
                best = Some((loss, members, covariance, cloud));
            }
        }
        best
    }
}

/// Adds what some columns say together, a term for each class, to what each of them says in the first row of `values`.
fn add_to_columns(values: &mut [f64], terms: &[f64], of: &[usize], columns: usize) {
    for (of_class, term) in values.chunks_exact_mut(columns).zip(terms) {
        of.iter().for_each(|&column| of_class[column] += term);
    }
}

/// The clouds that are tried, each with its covariances.
fn candidates(grid: &Grid, together: &Together) -> Vec<(Members, Vec<Covariance>)> {
    let layout = together.layout();
    let size = |members| Coordinates::new(grid, layout, members).size;
    let shared = |ridges: [f64; 3]| ridges.map(|ridge| Covariance::Shared { ridge }).to_vec();
    let own = || {
        let each = |rows| [0.03, 0.3].map(|ridge| Covariance::Own { rows, ridge });
        [0.1, 0.5, 3.0].into_iter().flat_map(each).collect::<Vec<_>>()
    };
    let mut candidates = Vec::new();
    let (numbers, categories) = (layout.numbers.len(), layout.categories.len());
    let all = size(Members::All(View::Distances));
    if (1..=MOST_SHARED).contains(&all) {
        candidates.push((Members::All(View::Distances), shared([0.003, 0.03, 0.2])));
        if numbers > 0 {
            candidates.push((Members::All(View::Normals), shared([0.003, 0.03, 0.2])));
        }
    }
    if (2..=MOST_OWN).contains(&numbers) {
        candidates.push((Members::Numbers(View::Distances), own()));
        candidates.push((Members::Numbers(View::Normals), own()));
    }
    if categories > 0 && (2..=MOST_OWN).contains(&all) {
        candidates.push((Members::All(View::Distances), own()));
    }
    for bins in [4, 8] {
        if (1..=MOST_SHARED).contains(&size(Members::Codes(bins))) {
            candidates.push((Members::Codes(bins), shared([0.01, 0.05, 0.2])));
        }
        if numbers == 0 {
            break;
        }
    }
    candidates
}

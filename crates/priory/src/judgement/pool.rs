//! The pool of all terms: what is chosen about them, and the weights that are fitted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::families::FamilyStatistics;
use crate::features::Gain;
use crate::judgement::blocks::in_blocks;
use crate::judgement::cloud::{Cloud, Coordinates, Covariance, Members, Scatter};
use crate::judgement::fit::{Fit, LARGEST_WEIGHT, Residuals, Weights, best_power};
use crate::judgement::grid::Grid;
use crate::judgement::interactions::{pair_of, pairs_of, triples_of};
use crate::judgement::interval::size_of_root;
use crate::judgement::lost::Whole;
use crate::judgement::single::{Shrinkage, SingleCounts, SingleTable};
use crate::judgement::term_list::TermList;
pub(crate) use crate::judgement::terms::Sample;
use crate::judgement::terms::{Interactions, clouds_without_one, columns_without_one};
use crate::judgement::text::{Chosen, Fitted, TextJudgement, TextSample, deviate};
use crate::judgement::together::{Together, View};
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
    /// γ: how much of what the terms say is believed. It is part of the weights and offsets.
    pub(crate) trust: f64,
    /// w, v, v³ and a, one after the other.
    pub(crate) weights: Vec<f64>,
    /// o, by the name of the class.
    pub(crate) offsets: BTreeMap<String, f64>,
    /// ε.
    pub(crate) doubt: f64,
    /// The terms of texts, and their weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) texts: Vec<TextJudgement>,
    /// What the model loses without each column, by the schema; empty if nobody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<Gain>,
    /// The columns of the schema that are used, if some were selected. Everything else here is about a table of just these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) used: Option<Vec<usize>>,
    /// The root of the covariance of weights and offsets, these in canonical order; empty if there are too many. It has a section
    /// of its own in files.
    #[serde(skip)]
    pub(crate) root: Vec<f32>,
}

impl Judgement {
    /// Whether the tokens of a column of text are weighed.
    pub(crate) fn weighs(&self, column: usize) -> bool {
        self.texts.iter().any(|text| text.column == column)
    }

    /// Whether this can be a judgement of such statistics: as many numbers as there are terms, all of them possible.
    pub(crate) fn fits(&self, statistics: &Statistics) -> bool {
        let of_schema = statistics.schema.columns.len();
        let columns = self.used.as_ref().map_or(of_schema, Vec::len);
        let is_strength = |strength: f64| strength > 0.0 && strength <= 1e6;
        self.shrinkages.len() == columns
            && self.shrinkages.iter().flatten().all(|shrinkage| is_strength(shrinkage.strength))
            && self.pairs.is_none_or(|pairs| is_strength(pairs.strength) && pairs.bins.is_power_of_two())
            && self.triples.is_none_or(is_strength)
            && self.clouds.iter().all(|(members, covariance)| {
                covariance.is_possible() && !matches!(members, Members::Codes(0))
            })
            && TermList::new(self, columns, statistics.on_grid.as_deref()).is_some()
            && self.weights.iter().all(|weight| (0.0..=LARGEST_WEIGHT).contains(weight))
            && self.offsets.values().all(|offset| offset.abs() <= 1e3)
            && (self.root.is_empty()
                || self.root.len() == size_of_root(self.weights.len() + self.offsets.len())
                    && self.root.iter().all(|x| x.is_finite()))
            && (0.0..=1.0).contains(&self.trust)
            && (self.lost.is_empty() || self.lost.len() == of_schema)
            && self.lost.iter().all(|lost| lost.bits.is_finite() && lost.standard_error >= 0.0)
            && self.used.as_ref().is_none_or(|used| is_part_of(used, statistics))
            && self.doubt > 0.0
            && self.doubt < 1.0
            && self.texts.iter().all(|text| {
                let column =
                    self.used.as_ref().map_or(Some(text.column), |used| used.get(text.column).copied());
                column.is_some_and(|column| text.fits(statistics, column))
            })
            && self.texts.is_sorted_by(|a, b| a.column < b.column)
    }
}

/// Whether these can be some columns of statistics, among them all that are on the grid.
fn is_part_of(used: &[usize], statistics: &Statistics) -> bool {
    let on_grid = statistics.on_grid.iter().flat_map(|on_grid| &on_grid.grid.columns);
    let is_complete = |factor: &FamilyStatistics| {
        let mut columns = factor.columns().iter().map(|column| used.binary_search(column).is_ok());
        columns.clone().all(|is_used| is_used) || !columns.any(|is_used| is_used)
    };
    used.is_sorted_by(|a, b| a < b)
        && used.last().is_none_or(|&last| last < statistics.schema.columns.len())
        && on_grid.map(|column| column.column).all(|column| used.binary_search(&column).is_ok())
        && statistics.factors.iter().all(is_complete)
}

/// How pairs are counted and shrunk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairChoice {
    /// In how many bins numbers are.
    pub(crate) bins: usize,
    pub(crate) strength: f64,
}

/// The place of a missing value, and of one that was never met.
pub(crate) const NOWHERE: u32 = u32::MAX;
pub(crate) const NEVER_MET: u32 = u32::MAX - 1;

/// What a fit may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// About how many products can be spent on what is lost without each column.
    pub(crate) products: usize,
    pub(crate) threads: usize,
}

/// How well a fit predicts rows.
pub(crate) struct Quality {
    /// The log-loss of the first rows, each without itself.
    pub(crate) losses: Vec<f64>,
    /// How many bits the weights gain by having seen the rows.
    pub(crate) by_chance: f64,
}

/// Chooses and fits. `singles` are the counts of each column, if they say anything. Also how good the result is.
pub(crate) fn judge(
    tier: Tier,
    classes: &Vocabulary,
    class_weights: &[f64],
    singles: &[Option<SingleCounts>],
    on_grid: Option<&OnGrid>,
    sample: &Sample,
    effort: Effort,
) -> (Judgement, Quality) {
    let texts = &sample.texts[..];
    let together = on_grid.filter(|on_grid| !on_grid.grid.columns.is_empty());
    let together = together.map(|on_grid| (&*on_grid.grid, &on_grid.sums));
    let full = together.filter(|_| tier == Tier::Full);
    let mut pool = Pool::new(class_weights, sample, effort.threads);
    let shrinkages = pool.add_columns(singles);
    let pairs = together.and_then(|(grid, together)| pool.add_pairs(grid, together));
    let triples = full.filter(|_| pairs.is_some()).and_then(|(_, together)| pool.add_triples(together));
    let clouds = full.map(|(grid, together)| pool.add_clouds(grid, together)).unwrap_or_default();
    pool.add_texts(texts);
    pool.refit(STEPS);
    let trust = pool.fit.trust(&pool.weights, pool.common, &sample.copies);
    let root = pool.fit.root(&pool.weights);
    let whole = Whole {
        fit: &pool.fit,
        sample,
        weights: &pool.weights,
        common: pool.common,
        trust,
        root: &root,
        on_grid: together.map_or_else(Vec::new, |(grid, _)| grid.columns.iter().map(|c| c.column).collect()),
        interactions: &pool.interactions,
        clouds: &pool.clouds,
    };
    // What is lost without a text is not known, and neither is what is lost without another column if there are texts.
    let lost = if texts.is_empty() { whole.lost(effort.products) } else { Vec::new() };
    let quality = Quality { losses: whole.losses(), by_chance: whole.by_chance(whole.freedom()) };
    // The covariance is that of weights alone, and tokens that deviate are no small part of what is said of a document.
    let root = root.into_iter().filter(|_| texts.is_empty()).map(|x| (trust * x) as f32).collect();
    let deviations = pool.deviations(texts, trust);
    let Weights { mut terms, mut offsets } = pool.weights;
    let slope = deviations.as_ref().map_or(1.0, |chosen| chosen.slope);
    terms.iter_mut().chain(&mut offsets).for_each(|weight| *weight *= trust * slope);
    let mut of_texts = Vec::new();
    let first_of_texts = terms.len() - texts.iter().map(TextSample::terms).sum::<usize>();
    for text in texts {
        let weights = terms.drain(first_of_texts..first_of_texts + text.terms()).collect();
        of_texts.push(text.judgement(weights));
    }
    if let Some(chosen) = deviations {
        offsets.iter_mut().zip(chosen.offsets).for_each(|(offset, more)| *offset += more);
        for (text, token, deviation) in chosen.deviations {
            of_texts[text].add_deviation(&texts[text], token, deviation);
        }
    }
    let judgement = Judgement {
        tier,
        rows: 0,
        fingerprint: 0,
        shrinkages,
        pairs,
        triples,
        clouds,
        trust,
        weights: terms,
        offsets: classes.names().map(str::to_owned).zip(offsets).collect(),
        doubt: pool.fit.doubt(),
        texts: of_texts,
        lost,
        used: None,
        root,
    };
    (judgement, quality)
}

/// The log prior of each class: (n + 1) / (N + K).
pub(crate) fn log_prior(class_weights: &[f64]) -> Vec<f64> {
    let total = class_weights.iter().sum::<f64>() + class_weights.len() as f64;
    class_weights.iter().map(|weight| libm::log((weight + 1.0) / total)).collect()
}

/// Terms are added one kind after the other, each chosen by what those before it leave to be explained.
struct Pool<'a> {
    class_weights: &'a [f64],
    sample: &'a Sample,
    /// The mean weight of a row.
    unit: f64,
    fit: Fit,
    /// The one weight that all columns would share.
    common: f64,
    /// The best weights of the terms so far.
    weights: Weights,
    /// Where terms come from: pairs and triples, and clouds.
    interactions: Vec<Interactions>,
    clouds: Vec<Cloud>,
}

impl<'a> Pool<'a> {
    fn new(class_weights: &'a [f64], sample: &'a Sample, threads: usize) -> Self {
        let weights = sample.weights.iter().zip(&sample.copies);
        let fit = Fit {
            classes: class_weights.len(),
            own: sample.own.clone(),
            weights: weights.map(|(weight, copies)| weight * copies).collect(),
            learnt: sample.copies.iter().sum(),
            log_prior: sample.log_prior(class_weights),
            parts: Vec::new(),
            threads,
        };
        let weights = fit.start(1.0);
        let (interactions, clouds) = (Vec::new(), Vec::new());
        Pool { class_weights, sample, unit: sample.unit(), fit, common: 1.0, weights, interactions, clouds }
    }

    /// Fits the weights of the terms so far again, in at most so many steps.
    fn refit(&mut self, steps: usize) {
        self.weights = self.fit.weights(&self.fit.weights, &self.weights, self.common, steps);
    }

    /// What the terms so far leave to be explained of the first rows.
    fn residuals(&mut self) -> Residuals {
        self.refit(STEPS_TO_CHOOSE);
        self.fit.residuals(&self.weights, self.fit.rows().min(ROWS_TO_CHOOSE))
    }

    fn total(&self) -> f64 {
        self.class_weights.iter().sum()
    }

    /// Whether all rows of the sample weigh the same.
    fn weighs_alike(&self) -> bool {
        self.sample.weights.iter().all(|&weight| weight == self.unit)
    }

    /// Adds what each column says by itself; how its counts are shrunk.
    fn add_columns(&mut self, singles: &[Option<SingleCounts>]) -> Vec<Option<Shrinkage>> {
        let log_prior = log_prior(self.class_weights);
        let choose = |counts: &Option<SingleCounts>| Some(counts.as_ref()?.choose(&log_prior, self.unit).0);
        let shrinkages: Vec<Option<Shrinkage>> = singles.iter().map(choose).collect();
        let tables = singles.iter().zip(&shrinkages);
        let tables: Vec<Option<SingleTable>> = tables
            .map(|(counts, shrinkage)| Some(counts.as_ref()?.table((*shrinkage)?, self.unit)))
            .collect();
        let classes = self.fit.classes;
        let part = columns_without_one(&tables, self.sample, classes);
        let mut sums = self.fit.log_prior.clone();
        for (row, sums) in sums.chunks_exact_mut(classes).enumerate() {
            for (class, sum) in sums[..classes - 1].iter_mut().enumerate() {
                *sum += part.sum(row * (classes - 1) + class);
            }
        }
        self.common = best_power(&sums, &self.fit.own, &self.fit.weights, classes).0;
        self.fit.parts.push(part);
        self.weights = self.fit.start(self.common);
        shrinkages
    }

    /// Adds what the tokens of texts say.
    fn add_texts(&mut self, texts: &[TextSample]) {
        for text in texts {
            let part = text.without_one(&self.sample.own, &self.sample.weights, self.fit.threads);
            self.fit.parts.push(part);
        }
    }

    /// Which tokens deviate from their bands, if that helps; the terms of texts are the last.
    fn deviations(&mut self, texts: &[TextSample], trust: f64) -> Option<Chosen> {
        if texts.is_empty() || trust == 0.0 {
            return None;
        }
        let Pool { fit, weights, common, sample, .. } = self;
        let (common, row_weights) = (*common, &sample.weights);
        let first_part = fit.parts.len() - texts.len();
        let first_term = fit.parts[..first_part].iter().map(|part| part.terms).sum();
        deviate(Fitted { fit, weights, common, trust, row_weights, first_part, first_term }, texts)
    }

    /// Adds what each column says together with each other.
    fn add_pairs(&mut self, grid: &Grid, together: &Together) -> Option<PairChoice> {
        if together.layout().pairs.is_empty() {
            return None;
        }
        let choice = self.choose_pairs(grid, together);
        let pairs = pairs_of(grid, together, choice.bins);
        let kept = !self.weighs_alike();
        let pairs = Interactions::new(grid.columns.len(), pairs, choice.strength, self.unit, kept);
        self.fit.parts.push(pairs.without_one(self.sample, self.fit.threads));
        self.interactions.push(pairs);
        Some(choice)
    }

    /// The bins and the strength of which the best pairs would gain most.
    fn choose_pairs(&mut self, grid: &Grid, together: &Together) -> PairChoice {
        let (layout, residuals, classes) = (together.layout(), self.residuals(), self.fit.classes);
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
                let (shape, interaction) = pair_of(grid, together, pair, bins);
                let cells: Vec<usize> =
                    (0..residuals.rows()).map(|row| shape.cell(&self.sample.coded, row) * classes).collect();
                for (gains, &strength) in gains.iter_mut().zip(strengths) {
                    let table = interaction.table(&shape, strength, 0.0);
                    let of_own = interaction.table(&shape, strength, self.unit);
                    gains.push(residuals.gain(1.0, |row, u| {
                        let (cell, own) = (cells[row], self.sample.own[row] as usize);
                        u.copy_from_slice(&table[cell..][..classes]);
                        u[own] = of_own[cell + own];
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

    /// Adds what each column says together with any two others, if that is worth it; the strength with which it is shrunk.
    fn add_triples(&mut self, together: &Together) -> Option<f64> {
        let layout = together.layout();
        if layout.triples.is_empty() {
            return None;
        }
        let (residuals, classes, threads) = (self.residuals(), self.fit.classes, self.fit.threads);
        let (columns, strength) = (layout.codes.len(), TRIPLE_STRENGTHS[0]);
        let mut triples = Interactions::new(columns, triples_of(together), strength, self.unit, true);
        let mut best = (0.0, TRIPLE_STRENGTHS[0]);
        for strength in TRIPLE_STRENGTHS {
            triples = triples.with_strength(strength);
            let sums = triples.sums_without_one(self.sample, residuals.rows(), threads);
            let gain = residuals.gain(1e-9, |row, u| {
                u[..classes - 1].copy_from_slice(&sums[row * (classes - 1)..][..classes - 1]);
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
        let triples = triples.with_strength(best.1);
        let triples = if self.weighs_alike() { triples.without_counts() } else { triples };
        self.fit.parts.push(triples.without_one(self.sample, threads));
        self.interactions.push(triples);
        Some(best.1)
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
        if !found.is_empty() {
            let (doubt, threads) = (self.fit.doubt(), self.fit.threads);
            let clouds: Vec<&Cloud> = found.iter().map(|(.., cloud)| cloud).collect();
            let part = clouds_without_one(&clouds, self.sample, &self.fit.log_prior, doubt, threads);
            self.fit.parts.push(part);
        }
        let mut chosen = Vec::new();
        for (_, members, covariance, cloud) in found {
            chosen.push((members, covariance));
            self.clouds.push(cloud);
        }
        chosen
    }

    /// The covariance under which a cloud by itself predicts the first rows best, and the log-loss of that.
    fn choose_cloud(
        &self,
        grid: &Grid,
        together: &Together,
        members: Members,
        covariances: Vec<Covariance>,
    ) -> Option<(f64, Members, Covariance, Cloud)> {
        let (sample, fit, rows) = (self.sample, &self.fit, self.fit.rows().min(ROWS_TO_CHOOSE));
        let with_own = matches!(covariances.first(), Some(Covariance::Own { .. }));
        let scatter = Scatter::new(Coordinates::new(grid, together.layout(), members), together, with_own);
        let mut best: Option<(f64, Members, Covariance, Cloud)> = None;
        for covariance in covariances {
            let Some(cloud) = Cloud::new(&scatter, covariance) else { continue };
            let scores = in_blocks(rows, fit.threads, |block| {
                cloud.scores_without(&sample.coded, &sample.own, &sample.weights, block)
            });
            let mut scores = scores.concat();
            scores.iter_mut().zip(&fit.log_prior).for_each(|(score, prior)| *score += prior);
            let (_, loss) = best_power(&scores, &fit.own[..rows], &fit.weights[..rows], fit.classes);
            if best.as_ref().is_none_or(|best| loss < best.0) {
                best = Some((loss, members, covariance, cloud));
            }
        }
        best
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
    let is_shared = |size: usize| size > 0 && shared([0.1; 3])[0].is_affordable(size, together.classes);
    let is_own = |size: usize| size > 1 && own()[0].is_affordable(size, together.classes);
    if is_shared(all) {
        candidates.push((Members::All(View::Distances), shared([0.003, 0.03, 0.2])));
        if numbers > 0 {
            candidates.push((Members::All(View::Normals), shared([0.003, 0.03, 0.2])));
        }
    }
    if is_own(numbers) {
        candidates.push((Members::Numbers(View::Distances), own()));
        candidates.push((Members::Numbers(View::Normals), own()));
    }
    if categories > 0 && is_own(all) {
        candidates.push((Members::All(View::Distances), own()));
    }
    for bins in [4, 8] {
        if is_shared(size(Members::Codes(bins))) {
            candidates.push((Members::Codes(bins), shared([0.01, 0.05, 0.2])));
        }
        if numbers == 0 {
            break;
        }
    }
    candidates
}

//! How far z of a judged model could be off: by the weights, which were fitted to so many rows, and by the counts.
//!
//! The weights and offsets are about normal around the best, with the inverse of the second derivatives H of what was minimized
//! as their covariance; those that are at a bound stay there. With H = R Rᵀ the variance of Σ u w is |R⁻¹ u|², so it is R⁻¹, the
//! root of the covariance, that a judgement keeps.
//!
//! What a column says varies as its counts do. One more row with this class and these values would raise it by Δ, and log(1 + 1/a)
//! = Δ tells a, how many such rows there are as the shrunken counts have it. About as many come by chance more or less, each of which
//! moves it by Δ: the variance is a Δ², which is 1/a where a is large, and small where such rows hardly ever come.
//!
//! That is multiplied by the weight, not by its square. Columns with a weight of one half mostly say what another says too, and then
//! vary with it: two halves of the same make a whole, with the variance of a whole.

use crate::batch::Batch;
use crate::judgement::blocks::in_blocks;
use crate::judgement::bound;
use crate::judgement::cloud::Cloud;
use crate::judgement::fit::{Fit, LARGEST_WEIGHT, TO_COMMON, TO_MEAN, Weights, softmax_each};
use crate::judgement::grid::{Coded, Grid};
use crate::judgement::interactions::Shape;
use crate::judgement::judge::{class_weights, factors_of_model, places_of_all, singles_of};
use crate::judgement::pool::{Judgement, NEVER_MET, log_prior};
use crate::judgement::single::SingleCounts;
use crate::judgement::term_list::TermList;
use crate::moments::engine::vectorized;
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// Of more weights and offsets no covariance is kept.
const MOST_WEIGHTS: usize = 512;

/// How many numbers the root of so many weights and offsets has.
pub(crate) fn size_of_root(weights: usize) -> usize {
    if weights > MOST_WEIGHTS { 0 } else { weights * (weights + 1) / 2 }
}

/// Classes with a smaller share, times that of those after them, are passed over.
const LEAST_DOUBT: f64 = 1e-8;

impl Fit {
    /// The root of the covariance of weights and offsets around the best, row after row up to the diagonal; zero for those that
    /// are at a bound. It is empty if there are too many.
    pub(crate) fn root(&self, best: &Weights) -> Vec<f64> {
        let x = [&best.terms[..], &best.offsets].concat();
        let size = x.len();
        if size > MOST_WEIGHTS {
            return Vec::new();
        }
        let mut hessian = self.penalties(size);
        for block in in_blocks(self.rows(), self.threads, |block| self.hessian_of(block, &x)) {
            hessian.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
        }
        let is_free = |i: usize| i >= best.terms.len() || x[i] > 0.0 && x[i] < LARGEST_WEIGHT;
        inverse_of_factor(&hessian, &(0..size).filter(|&i| is_free(i)).collect::<Vec<_>>(), size)
    }

    /// The second derivatives of the penalty, up to the diagonal.
    fn penalties(&self, size: usize) -> Vec<f64> {
        let mut hessian = vec![0.0; size_of_root(size)];
        (0..size).for_each(|i| hessian[place(i, i)] = 1.0);
        let mut start = 0;
        for part in &self.parts {
            for i in (start..start + part.terms).filter(|_| part.of_columns) {
                (start..i).for_each(|j| hessian[place(i, j)] = -TO_MEAN / part.terms as f64);
                hessian[place(i, i)] = TO_MEAN * (1.0 - 1.0 / part.terms as f64) + TO_COMMON;
            }
            start += part.terms;
        }
        hessian
    }

    /// The second derivatives of the cross-entropy of a block of rows: Σ p(k) x(k) x(k)ᵀ − x̄ x̄ᵀ for every row. It is added up
    /// as what each class differs from the mean of those after it, which takes one product less than there are classes.
    fn hessian_of(&self, block: std::ops::Range<usize>, x: &[f64]) -> Vec<f64> {
        let (k, size) = (self.classes, x.len());
        let mut p = self.scores(block.clone(), &self.weights, x);
        softmax_each(&mut p, k);
        let mut hessian = vec![0.0; size_of_root(size)];
        let (mut of_class, mut mean) = (vec![0.0; size], vec![0.0; size]);
        for (row, p) in block.zip(p.chunks_exact(k)) {
            mean.fill(0.0);
            mean[size - 1] = 1.0;
            let mut after = p[k - 1];
            for class in (0..k - 1).rev() {
                let terms = self.parts.iter().flat_map(|part| part.cell(row * (k - 1) + class));
                of_class.iter_mut().zip(terms).for_each(|(to, &term)| *to = f64::from(term));
                of_class[size - k..].fill(0.0);
                of_class[size - k + class] = 1.0;
                of_class.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean);
                let sum = after + p[class];
                if sum > 0.0 {
                    let share = p[class] / sum;
                    mean.iter_mut().zip(&of_class).for_each(|(mean, x)| *mean += share * x);
                    // Most rows leave little doubt, and what they add is nothing beside the penalty.
                    if share * after > LEAST_DOUBT {
                        add_square(&of_class, self.weights[row] * share * after, &mut hessian);
                    }
                }
                after = sum;
            }
        }
        hessian
    }
}

/// Adds weight · x xᵀ up to the diagonal.
fn add_square(x: &[f64], weight: f64, to: &mut [f64]) {
    vectorized(
        #[inline(always)]
        move || {
            let mut start = 0;
            for (i, &own) in x.iter().enumerate() {
                let own = weight * own;
                if own != 0.0 {
                    to[start..=start + i].iter_mut().zip(x).for_each(|(sum, x)| *sum += own * x);
                }
                start += i + 1;
            }
        },
    );
}

/// Where row i and column j of a triangle are, with j up to i.
fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// R⁻¹ for those rows and columns of a matrix R Rᵀ that are free; zero elsewhere.
fn inverse_of_factor(matrix: &[f64], free: &[usize], size: usize) -> Vec<f64> {
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(free.len());
    let mut inverse: Vec<Vec<f64>> = Vec::with_capacity(free.len());
    let mut root = vec![0.0; size_of_root(size)];
    for (row, &i) in free.iter().enumerate() {
        let mut own: Vec<f64> = Vec::with_capacity(row + 1);
        for (column, &j) in free[..row].iter().enumerate() {
            let known: f64 = own.iter().zip(&factor[column]).map(|(a, b)| a * b).sum();
            own.push((matrix[place(i, j)] - known) / factor[column][column]);
        }
        let known: f64 = own.iter().map(|x| x * x).sum();
        // The penalty keeps it above zero but for rounding.
        let diagonal = libm::sqrt((matrix[place(i, i)] - known).max(1e-9));
        own.push(diagonal);
        // Row i of R R⁻¹ is that of the identity.
        let mut of_inverse = vec![0.0; row + 1];
        for (above, factor) in inverse.iter().zip(&own) {
            of_inverse.iter_mut().zip(above).for_each(|(sum, x)| *sum -= factor * x);
        }
        of_inverse[row] = 1.0;
        of_inverse.iter_mut().for_each(|x| *x /= diagonal);
        free.iter().zip(&of_inverse).for_each(|(&j, x)| root[place(i, j)] = *x);
        factor.push(own);
        inverse.push(of_inverse);
    }
    root
}

/// The terms of a judgement before they are weighted, and how much they vary.
pub(crate) struct JudgedSpread {
    classes: usize,
    singles: Vec<Option<SingleCounts>>,
    log_prior: Vec<f64>,
    columns: Vec<Option<Table>>,
    grid: Option<Grid>,
    /// With the places of their weights.
    interactions: Vec<(Vec<usize>, Shape, Table)>,
    clouds: Vec<(Cloud, usize)>,
    weights: Vec<f64>,
    /// ε: how far from certain the model stays.
    pub(crate) doubt: f64,
    /// How much of what the terms say is believed.
    pub(crate) trust: f64,
    /// Factors whose likelihoods are terms themselves, with the place of their weights.
    pub(crate) factors: Vec<(usize, usize)>,
    /// The place of the offset of each class; none of a class that was learnt afterwards.
    pub(crate) offsets: Vec<Option<usize>>,
    /// How many weights and offsets there are.
    size: usize,
    /// The rows of the root that are not zero: places, and numbers.
    root: Vec<(Vec<usize>, Vec<f64>)>,
}

/// What each place of a table says, and the variance of that times its weight; classes side by side.
struct Table {
    terms: Vec<f64>,
    variances: Vec<f64>,
}

impl Table {
    fn new(terms: Vec<f64>, with_row: impl Iterator<Item = f64>, weight: f64) -> Self {
        let variance = |(with, term): (f64, &f64)| weight * variance_of(with - term);
        Table { variances: with_row.zip(&terms).map(variance).collect(), terms }
    }
}

/// The variance of what one more row would raise by so much.
pub(super) fn variance_of(rise: f64) -> f64 {
    if rise > 0.0 { rise * rise / libm::expm1(rise) } else { 0.0 }
}

impl JudgedSpread {
    /// From canonical statistics; `None` if the judgement is not of such statistics.
    pub(crate) fn new(statistics: &Statistics, settings: &Settings, judgement: &Judgement) -> Option<Self> {
        let (class_weights, singles) = (class_weights(statistics), singles_of(statistics, settings));
        let (classes, weights) = (class_weights.len(), &judgement.weights);
        let on_grid = statistics.on_grid.as_deref();
        let terms = TermList::new(judgement, singles.len(), on_grid)?;
        let columns = singles.iter().zip(&judgement.shrinkages).zip(weights);
        let columns = columns.map(|((counts, shrinkage), &weight)| {
            let table = counts.as_ref()?.table((*shrinkage)?, -1.0);
            let rows = table.weighted(1.0).len() / classes;
            let cells = (0..rows).flat_map(|row| (0..classes).map(move |class| (row, class)));
            Some(Table::new(table.weighted(1.0), cells.map(|(row, class)| table.own(row, class)), weight))
        });
        let mut interactions = Vec::new();
        for terms in &terms.interactions {
            for (shape, interaction, weight) in terms.weighted(weights) {
                let with_row = interaction.table(&shape, terms.strength, -1.0).into_iter();
                let table = Table::new(interaction.table(&shape, terms.strength, 0.0), with_row, weight);
                interactions.push((terms.weights_of(&shape).collect(), shape, table));
            }
        }
        let mut clouds = Vec::new();
        for term in terms.clouds.iter().filter(|term| weights[term.weight] > 0.0) {
            clouds.push((term.cloud()?, term.weight));
        }
        let weighed: Vec<usize> = judgement.texts.iter().map(|text| text.column).collect();
        let names = Vocabulary::of_distinct(judgement.offsets.keys().map(String::as_str));
        let names = names.select(&names.sorted());
        Some(JudgedSpread {
            classes,
            log_prior: log_prior(&class_weights),
            columns: columns.collect(),
            grid: on_grid.map(|on_grid| Grid::clone(&on_grid.grid)),
            interactions,
            clouds,
            weights: weights.clone(),
            doubt: judgement.doubt,
            trust: judgement.trust,
            factors: factors_of_model(statistics, &singles, &weighed),
            singles,
            offsets: statistics
                .classes
                .names()
                .map(|class| Some(weights.len() + names.get(class)?))
                .collect(),
            size: weights.len() + names.len(),
            root: rows_of(&judgement.root, weights.len() + names.len()),
        })
    }

    /// The terms of the rows of a batch, all but those of factors.
    pub(crate) fn read(&self, batch: &Batch) -> SpreadRows {
        let rows: Vec<u32> = (0..batch.rows as u32).collect();
        let coded = self.grid.as_ref().map(|grid| grid.write(batch, &rows)).unwrap_or_default();
        let mut variances_of_clouds = vec![0.0; batch.rows * self.classes];
        let mut clouds = Vec::new();
        for (cloud, weight) in self.clouds.iter().filter(|_| batch.rows > 0) {
            let (scores, variances) = self.ask_cloud(cloud, &coded, batch.rows);
            let weighted = variances.iter().map(|variance| self.weights[*weight] * variance);
            variances_of_clouds.iter_mut().zip(weighted).for_each(|(sum, variance)| *sum += variance);
            clouds.push(scores);
        }
        SpreadRows { places: places_of_all(&self.singles, batch, &rows), coded, clouds, variances_of_clouds }
    }

    /// How many weights there are.
    pub(crate) fn terms(&self) -> usize {
        self.weights.len()
    }

    /// How much a term weighs.
    pub(crate) fn weight(&self, term: usize) -> f64 {
        self.weights[term]
    }

    /// Adds what the terms say of a row, all terms of the first class first, and the variance of z of each class.
    pub(crate) fn add(&self, read: &SpreadRows, row: usize, terms: &mut [f64], variances: &mut [f64]) {
        let (k, size) = (self.classes, self.terms());
        let mut add = |table: &Table, cell: usize, weights: &[usize]| {
            let place = cell * k;
            variances.iter_mut().zip(&table.variances[place..]).for_each(|(sum, variance)| *sum += variance);
            for weight in weights {
                for (class, term) in table.terms[place..][..k].iter().enumerate() {
                    terms[class * size + weight] += term;
                }
            }
        };
        for (column, (table, places)) in self.columns.iter().zip(&read.places).enumerate() {
            if let Some(table) = table.as_ref().filter(|_| places[row] < NEVER_MET) {
                add(table, places[row] as usize, &[column]);
            }
        }
        for (weights, shape, table) in &self.interactions {
            add(table, shape.cell(&read.coded, row), weights);
        }
        for (of_row, variance) in variances.iter_mut().zip(read.variances_of_clouds[row * k..].iter()) {
            *of_row += variance;
        }
        for ((_, weight), scores) in self.clouds.iter().zip(&read.clouds) {
            for (class, score) in scores[row * k..][..k].iter().enumerate() {
                terms[class * size + weight] += score;
            }
        }
    }

    /// What a cloud says of every row, and the variance of that.
    fn ask_cloud(&self, cloud: &Cloud, coded: &Coded, rows: usize) -> (Vec<f64>, Vec<f64>) {
        let k = self.classes;
        let bounded = |mut scores: Vec<f64>| {
            scores.chunks_exact_mut(k).for_each(|scores| bound(scores, &self.log_prior, self.doubt));
            scores
        };
        let with = |class: usize, weight: f64| {
            bounded(cloud.scores_without(coded, &vec![class as u32; rows], &vec![weight; rows], 0..rows))
        };
        let scores = with(0, 0.0);
        let mut variances = vec![0.0; scores.len()];
        for class in 0..k {
            let with_row = with(class, -1.0);
            for cell in (class..scores.len()).step_by(k) {
                variances[cell] = variance_of(with_row[cell] - scores[cell]);
            }
        }
        (scores, variances)
    }

    /// How log-odds change with each weight and offset, if they change so with the score of each class and these are the terms.
    pub(crate) fn along(&self, slopes: &[f64], terms: &[f64], along: &mut Vec<f64>) {
        along.clear();
        along.resize(self.size, 0.0);
        for ((slope, terms), offset) in slopes.iter().zip(terms.chunks_exact(self.terms())).zip(&self.offsets)
        {
            along.iter_mut().zip(terms).for_each(|(sum, term)| *sum += slope * term);
            if let Some(offset) = offset {
                along[*offset] += slope;
            }
        }
    }

    /// The variance of Σ u w for weights and offsets w.
    pub(crate) fn variance(&self, u: &[f64]) -> f64 {
        let square = |(places, numbers): &(Vec<usize>, Vec<f64>)| {
            let sum: f64 = places.iter().zip(numbers).map(|(&place, number)| u[place] * number).sum();
            sum * sum
        };
        self.root.iter().map(square).sum()
    }
}

/// The rows of a triangle that are not zero: where their numbers are, and these.
fn rows_of(root: &[f32], size: usize) -> Vec<(Vec<usize>, Vec<f64>)> {
    if root.len() != place(size, 0) {
        return Vec::new();
    }
    let row = |i: usize| {
        let row = root[place(i, 0)..=place(i, i)].iter().map(|&x| f64::from(x)).enumerate();
        row.filter(|(_, x)| *x != 0.0).unzip()
    };
    (0..size).map(row).filter(|(places, _): &(Vec<usize>, Vec<f64>)| !places.is_empty()).collect()
}

/// Rows as the terms look them up.
pub(crate) struct SpreadRows {
    places: Vec<Vec<u32>>,
    coded: Coded,
    /// What each cloud says, and the variance of all of them together; the classes of a row side by side.
    clouds: Vec<Vec<f64>>,
    variances_of_clouds: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::fit::Part;

    #[test]
    fn the_root_is_that_of_the_inverse() {
        // Rows and columns 0 and 2 are [[4, 2], [2, 3]], whose inverse is [[3, −2], [−2, 4]] / 8.
        let root = inverse_of_factor(&[4.0, 9.0, 7.0, 2.0, 5.0, 3.0], &[0, 2], 3);
        assert_eq!([root[1], root[2], root[4]], [0.0; 3]);
        let covariance = |i: usize, j: usize| -> f64 {
            let at = |row: usize, column: usize| if column <= row { root[place(row, column)] } else { 0.0 };
            (0..3).map(|row| at(row, i) * at(row, j)).sum()
        };
        for (i, j, expected) in [(0, 0, 3.0 / 8.0), (0, 2, -0.25), (2, 2, 0.5)] {
            assert!((covariance(i, j) - expected).abs() < 1e-12, "{i} {j}");
        }
    }

    /// The root is that of second derivatives, taken here as differences of what the fit minimizes.
    #[test]
    fn second_derivatives_are_those_of_the_fit() {
        let (classes, terms, rows) = (3, 2, 40);
        let value = |i: usize| libm::sin(1.0 + 1.7 * i as f64) as f32;
        let values: Vec<f32> = (0..rows * (classes - 1) * terms).map(value).collect();
        let fit = Fit {
            classes,
            own: (0..rows as u32).map(|row| row * row % 3).collect(),
            weights: vec![1.0; rows],
            learnt: rows as f64,
            log_prior: vec![libm::log(1.0 / 3.0); rows * classes],
            parts: vec![Part::new(values.clone(), terms, true)],
            threads: 2,
        };
        let at = [0.7, 0.4, 0.1, -0.2, 0.3];
        let loss = |x: &[f64]| -> f64 {
            let of_row = |row: usize| {
                let said = |class: usize, term: usize| match class + 1 < classes {
                    true => f64::from(values[(row * (classes - 1) + class) * terms + term]),
                    false => 0.0,
                };
                let z = |class: usize| x[0] * said(class, 0) + x[1] * said(class, 1) + x[2 + class];
                // What is linear in the weights has no second derivative.
                libm::log((0..classes).map(|class| libm::exp(z(class))).sum())
            };
            let (mean, gap) = (0.5 * (x[0] + x[1]), |w: f64, from: f64| (w - from) * (w - from));
            let columns = |w: f64| TO_MEAN * gap(w, mean) + TO_COMMON * w * w;
            let penalty = columns(x[0]) + columns(x[1]) + x[2..].iter().map(|o| o * o).sum::<f64>();
            (0..rows).map(of_row).sum::<f64>() + 0.5 * penalty
        };
        let second = |i: usize, j: usize| {
            let step = 1e-3;
            let moved = |a: f64, b: f64| {
                let mut x = at;
                x[i] += a * step;
                x[j] += b * step;
                loss(&x)
            };
            (moved(1.0, 1.0) - moved(1.0, -1.0) - moved(-1.0, 1.0) + moved(-1.0, -1.0)) / (4.0 * step * step)
        };
        let root = fit.root(&Weights { terms: at[..2].to_vec(), offsets: at[2..].to_vec() });
        let covariance = |i: usize, j: usize| -> f64 {
            (i.max(j)..5).map(|row| root[place(row, i)] * root[place(row, j)]).sum()
        };
        for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            let product: f64 = (0..5).map(|k| second(i, k) * covariance(k, j)).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-4, "{i} {j}: {product}");
        }
    }
}

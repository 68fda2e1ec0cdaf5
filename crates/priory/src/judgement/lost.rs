//! What a judged model loses without each of its columns.
//!
//! Without a column its own term is gone, every pair and triple that it is in, and its coordinates in every cloud. What was chosen
//! stays chosen: how counts are shrunk, in how many bins, and how covariances are estimated. The weights of what is left are fitted
//! again, by one step of Newton's method from where they were: a column that others stand in for costs little, since their
//! weights rise. What is lost is by how much the log-loss of rows is higher then, each row being left out of all that was counted,
//! less what the weights of a column gain that says nothing, since these have seen the row.

use std::f64::consts::LN_2;

use crate::features::Gain;
use crate::judgement::blocks::each;
use crate::judgement::cloud::Cloud;
use crate::judgement::fit::{Fit, LARGEST_WEIGHT, Part, Weights, softmax_each};
use crate::judgement::terms::{Interactions, Sample, clouds_without_columns};

/// As many rows are asked as can be with so many products, but at least and at most so many.
pub(crate) const PRODUCTS: usize = 150_000_000;
const FEWEST_ROWS: usize = 200;
const MOST_ROWS: usize = 1_200;

/// With more products than this for the fewest rows, nobody is asked.
const MOST_PRODUCTS: usize = 4_000_000_000;

/// How far along the step of Newton's method the weights may go.
const LENGTHS: [f64; 3] = [1.0, 0.5, 0.25];

/// A fit of all terms, to be compared with fits of fewer.
pub(crate) struct Whole<'a> {
    pub(crate) fit: &'a Fit,
    pub(crate) sample: &'a Sample,
    /// The best weights, and the one that all columns would share.
    pub(crate) weights: &'a Weights,
    pub(crate) common: f64,
    /// How much of what the terms say is believed.
    pub(crate) trust: f64,
    /// The root of the covariance of weights and offsets; empty if there are too many.
    pub(crate) root: &'a [f64],
    /// The column of the schema of each column of the grid.
    pub(crate) on_grid: Vec<usize>,
    /// Pairs and triples, if there are any.
    pub(crate) interactions: &'a [Interactions],
    pub(crate) clouds: &'a [Cloud],
}

impl Whole<'_> {
    /// What is lost without each column, of which about so many products can be spent; empty if that is far too few.
    pub(crate) fn lost(&self, products: usize) -> Vec<Gain> {
        let rows = self.rows_to_ask(products);
        if rows == 0 {
            return Vec::new();
        }
        let first = First::new(self, rows);
        let clouds = self.clouds_without_columns(&first);
        let lost = |column: usize| {
            let place = self.on_grid.iter().position(|&on_grid| on_grid == column);
            let (parts, kept) = self.without_column(&first, column, place, &clouds);
            first.lost(parts, &kept)
        };
        each(self.fit.parts[0].terms, self.fit.threads, lost)
    }

    /// The log-loss of the first rows.
    pub(crate) fn losses(&self) -> Vec<f64> {
        let rows = self.fit.rows().min(MOST_ROWS);
        let at = [&self.weights.terms[..], &self.weights.offsets].concat();
        losses(self.fit, self.fit.scores(0..rows, &self.fit.weights, &at), self.trust)
    }

    /// How many weights and offsets are free to follow the rows: less than one each, as far as penalties hold them.
    pub(crate) fn freedom(&self) -> f64 {
        let size = self.weights.terms.len() + self.weights.offsets.len();
        let (mut freedom, mut rest) = (0.0, self.root);
        for i in 1..=size {
            let Some((row, left)) = rest.split_at_checked(i) else { break };
            if row[i - 1] != 0.0 {
                let mut whole = row.to_vec();
                whole.resize(size, 0.0);
                freedom += 1.0 - dot(row, &self.fit.times_penalty(&whole));
            }
            rest = left;
        }
        freedom
    }

    /// By how many bits a row is better predicted with as many more weights that mean nothing, and worse if it is a new one: a fit
    /// to rows says half of this too much about these, and new rows half of it too little (Akaike).
    pub(crate) fn by_chance(&self, freedom: f64) -> f64 {
        self.trust * freedom / self.fit.learnt / LN_2
    }

    /// How many rows can be asked with so many products.
    fn rows_to_ask(&self, products: usize) -> usize {
        let terms: usize = self.fit.parts.iter().map(|part| part.terms).sum();
        let together: usize = self.interactions.iter().map(Interactions::of_each_column).sum();
        let of_row = self.fit.parts[0].terms * self.fit.classes * (3 * terms + 2 * together);
        let rows = (products / of_row.max(1)).clamp(FEWEST_ROWS, MOST_ROWS).min(self.fit.rows());
        if rows.saturating_mul(of_row) > MOST_PRODUCTS { 0 } else { rows }
    }

    fn clouds_without_columns(&self, first: &First<'_>) -> Vec<Option<Part>> {
        let Some(part) = self.fit.parts.last().filter(|_| !self.clouds.is_empty()) else { return Vec::new() };
        let (rows, classes) = (first.fit.rows(), self.fit.classes);
        let by = (self.fit.doubt(), self.on_grid.len());
        clouds_without_columns(self.clouds, part, self.sample, &first.fit.log_prior, (rows, classes), by)
    }

    /// What is left to be said of the first rows without a column of the schema, which has this place on the grid; and which of
    /// the weights and offsets are left.
    fn without_column(
        &self,
        first: &First<'_>,
        column: usize,
        on_grid: Option<usize>,
        clouds: &[Option<Part>],
    ) -> (Vec<Part>, Vec<usize>) {
        let rows = first.fit.rows();
        let cells = rows * (self.fit.classes - 1);
        let mut gone = vec![column];
        let mut parts = vec![self.fit.parts[0].without_term(column, cells)];
        let mut start = self.fit.parts[0].terms;
        for (part, interactions) in self.fit.parts[1..].iter().zip(self.interactions) {
            parts.push(match on_grid {
                Some(place) => {
                    gone.push(start + place);
                    interactions.without_column(part, self.sample, rows, place)
                }
                None => part.first(cells),
            });
            start += part.terms;
        }
        if !self.clouds.is_empty() {
            let without = on_grid.and_then(|place| clouds[place].as_ref());
            let part = without.or(self.fit.parts.last());
            parts.extend(part.map(|part| part.first(cells)));
        }
        let kept = (0..first.at.len()).filter(|place| !gone.contains(place)).collect();
        (parts, kept)
    }
}

/// The first rows of a fit, which stand for all of them.
struct First<'a> {
    whole: &'a Whole<'a>,
    /// Without terms.
    fit: Fit,
    /// Weights and offsets.
    at: Vec<f64>,
    /// How what is minimized rises along each of them that is not at a bound, which is nothing for all rows together; and how
    /// strongly it is curved.
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    /// How much each row weighs, and its log-loss.
    weights: Vec<f64>,
    losses: Vec<f64>,
}

impl<'a> First<'a> {
    fn new(whole: &'a Whole<'a>, rows: usize) -> Self {
        let all = whole.fit;
        let weights = all.weights[..rows].to_vec();
        let scale = all.weights.iter().sum::<f64>() / weights.iter().sum::<f64>();
        let fit = Fit {
            classes: all.classes,
            own: all.own[..rows].to_vec(),
            weights: weights.iter().map(|weight| scale * weight).collect(),
            learnt: all.learnt,
            log_prior: all.log_prior[..rows * all.classes].to_vec(),
            parts: Vec::new(),
            folds: None,
            threads: 1,
        };
        let at = [&whole.weights.terms[..], &whole.weights.offsets].concat();
        let z = all.scores(0..rows, &all.weights, &at);
        let losses = losses(&fit, z, whole.trust);
        let curvatures = all.curvatures(&all.weights, &at);
        let mut of_first = fit.weights.clone();
        of_first.resize(all.rows(), 0.0);
        let mut slopes = vec![0.0; at.len()];
        all.value_and_gradient(&of_first, &at, &mut slopes, whole.common);
        let is_bound = |place: usize| {
            place < whole.weights.terms.len() && (at[place] <= 0.0 || at[place] >= LARGEST_WEIGHT)
        };
        slopes
            .iter_mut()
            .enumerate()
            .filter(|(place, _)| is_bound(*place))
            .for_each(|(_, slope)| *slope = 0.0);
        First { whole, fit, at, slopes, curvatures, weights, losses }
    }

    /// What is lost if nothing but these terms is left, of which these are the places of weights and offsets.
    fn lost(&self, parts: Vec<Part>, kept: &[usize]) -> Gain {
        let (whole, rows) = (self.whole, self.fit.rows());
        let Fit { classes, own, weights, learnt, log_prior, threads, .. } = &self.fit;
        let fit = Fit {
            classes: *classes,
            own: own.clone(),
            weights: weights.clone(),
            learnt: *learnt,
            log_prior: log_prior.clone(),
            parts,
            folds: None,
            threads: *threads,
        };
        let at: Vec<f64> = kept.iter().map(|&place| self.at[place]).collect();
        let mut gradient = vec![0.0; at.len()];
        fit.value_and_gradient(&fit.weights, &at, &mut gradient, whole.common);
        // What the first rows would rather have than all rows, they would have with the column as well as without.
        let slopes: Vec<f64> = kept.iter().map(|&place| self.slopes[place]).collect();
        gradient.iter_mut().zip(&slopes).for_each(|(slope, of_all)| *slope -= of_all);
        let step = self.newton(kept, &gradient);
        let terms = at.len() - fit.classes;
        let mut best: Option<(f64, Vec<f64>)> = None;
        for length in LENGTHS {
            let moved = at.iter().zip(&step).enumerate().map(|(i, (x, step))| match x - length * step {
                x if i < terms => x.clamp(0.0, LARGEST_WEIGHT),
                x => x,
            });
            let moved: Vec<f64> = moved.collect();
            let z = fit.scores(0..rows, &fit.weights, &moved);
            let value = self.value(&fit, &z, &moved) - fit.learnt * dot(&slopes, &moved);
            if best.as_ref().is_some_and(|best| best.0 <= value) {
                break;
            }
            best = Some((value, z));
        }
        let (_, z) = best.expect("one length was tried");
        let lost = mean_difference(&losses(&fit, z, whole.trust), &self.losses, &self.weights);
        Gain { bits: lost.bits - whole.by_chance(self.freedom_without(kept)), ..lost }
    }

    /// By how many the weights are fewer, if nothing but these are left, each as far as it is free to follow the rows.
    fn freedom_without(&self, kept: &[usize]) -> f64 {
        let gone = (0..self.at.len()).filter(|place| kept.binary_search(place).is_err());
        let freedom = gone.map(|place| {
            let mut unit = vec![0.0; self.at.len()];
            unit[place] = 1.0;
            let along = times_covariance(self.whole.root, &unit);
            match along[place] > 0.0 {
                true => 1.0 - self.whole.fit.times_penalty(&along)[place],
                false => 0.0,
            }
        });
        freedom.sum()
    }

    /// What is minimized, of scores and the weights and offsets that they come from.
    fn value(&self, fit: &Fit, z: &[f64], at: &[f64]) -> f64 {
        let (weights, offsets) = at.split_at(at.len() - fit.classes);
        let penalty = fit.penalty(weights, offsets, &mut vec![0.0; at.len()], self.whole.common);
        let losses = losses(fit, z.to_vec(), 1.0);
        penalty + losses.iter().zip(&fit.weights).map(|(loss, weight)| loss * weight).sum::<f64>()
    }

    /// The step of Newton's method for those weights and offsets that are left, with the second derivatives of all terms. Weights
    /// that were at a bound, whose covariance is not known, move by their own curvature.
    fn newton(&self, kept: &[usize], gradient: &[f64]) -> Vec<f64> {
        let (size, root) = (self.at.len(), self.whole.root);
        let mut slopes = vec![0.0; size];
        let mut is_gone = vec![true; size];
        for (&place, slope) in kept.iter().zip(gradient) {
            (slopes[place], is_gone[place]) = (slope * self.fit.learnt, false);
        }
        let mut step = times_covariance(root, &slopes);
        // What is gone stays where it is: of the covariance only that is left which does not go along with it.
        let mut taken: Vec<(usize, Vec<f64>)> = Vec::new();
        for gone in (0..size).filter(|&place| is_gone[place]) {
            let mut unit = vec![0.0; size];
            unit[gone] = 1.0;
            let mut along = times_covariance(root, &unit);
            for (earlier, of_earlier) in &taken {
                subtract(&mut along, of_earlier, *earlier);
            }
            if along[gone] > 1e-12 {
                subtract(&mut step, &along, gone);
                taken.push((gone, along));
            }
        }
        let steps = kept.iter().zip(gradient);
        let steps = steps.map(|(&place, slope)| match step[place] != 0.0 {
            true => step[place],
            false => slope / self.curvatures[place],
        });
        steps.collect()
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Takes as much of a vector away from another that nothing is left of it at this place.
fn subtract(from: &mut [f64], vector: &[f64], place: usize) {
    let share = from[place] / vector[place];
    from.iter_mut().zip(vector).for_each(|(x, y)| *x -= share * y);
}

/// Rᵀ R x, R being the root of a covariance, row after row up to the diagonal; zero if there is none.
fn times_covariance(root: &[f64], x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; x.len()];
    let mut rest = root;
    for i in 1..=x.len() {
        let Some((row, left)) = rest.split_at_checked(i) else { break };
        let along = dot(row, x);
        product.iter_mut().zip(row).for_each(|(sum, a)| *sum += along * a);
        rest = left;
    }
    product
}

/// The log-loss of each row under these scores, of which so much is believed.
fn losses(fit: &Fit, mut z: Vec<f64>, trust: f64) -> Vec<f64> {
    z.iter_mut().zip(&fit.log_prior).for_each(|(z, prior)| *z = prior + trust * (*z - prior));
    let rows = z.chunks_exact(fit.classes).zip(&fit.own);
    let of_own: Vec<f64> = rows.map(|(z, &own)| z[own as usize]).collect();
    softmax_each(&mut z, fit.classes).iter().zip(of_own).map(|(total, own)| total - own).collect()
}

/// By how many bits the first are larger than the second in the mean, and how sure that is.
pub(crate) fn mean_difference(larger: &[f64], smaller: &[f64], weights: &[f64]) -> Gain {
    let total: f64 = weights.iter().sum();
    let (mut sum, mut square) = (0.0, 0.0);
    for ((a, b), weight) in larger.iter().zip(smaller).zip(weights) {
        let bits = (a - b) / LN_2;
        sum += weight * bits;
        square += weight * bits * bits;
    }
    let bits = sum / total;
    let variance = (square / total - bits * bits).max(0.0);
    Gain { bits, standard_error: libm::sqrt(variance / total) }
}

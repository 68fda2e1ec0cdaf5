//! The fit of the weights: how much each term is worth, from what it says of every row without the row.
//!
//! ```text
//! Σ cross-entropy(softmax z, (1 − ε) own class + ε/K) + 10/2 Σ (w − mean w)² + 0.1/2 Σ (w − τ)² + ½ Σ (v² + v³² + a²) + ½ Σ o²
//! ```
//!
//! with ε = 1 / (n + 2) and τ the one weight that all columns would share. The sum is convex, and no weight is negative: without
//! its row, every term speaks less for the true class, so that a negative weight would reward a term for having seen the row.

use crate::judgement::optimize::{Stop, minimize};
use crate::judgement::softmax;
use crate::posterior::log_sum;

/// The largest weight of a term.
pub(crate) const LARGEST_WEIGHT: f64 = 3.0;

/// How strongly the weights of columns are drawn to their mean, and to τ.
const TO_MEAN: f64 = 10.0;
const TO_COMMON: f64 = 0.1;

/// The rows that weights are fitted to.
pub(crate) struct Fit {
    pub(crate) classes: usize,
    /// The class and the weight of each row.
    pub(crate) own: Vec<u32>,
    pub(crate) weights: Vec<f64>,
    /// How many rows were learnt that these stand for: more, if some hold the same.
    pub(crate) learnt: f64,
    /// The log prior of each class without the row, row after row.
    pub(crate) log_prior: Vec<f64>,
    pub(crate) parts: Vec<Part>,
}

/// Terms of one kind, which are drawn to the same value.
pub(crate) struct Part {
    /// How many terms there are.
    pub(crate) terms: usize,
    /// Whether they are what single columns say; the others are drawn to zero.
    pub(crate) of_columns: bool,
    /// The terms of the first class of the first row, then of its second class, …; their mean over the classes is zero.
    values: Vec<f64>,
}

impl Part {
    /// Terms, those of a row and class side by side.
    pub(crate) fn new(mut values: Vec<f64>, terms: usize, classes: usize, of_columns: bool) -> Self {
        for row in values.chunks_exact_mut(terms * classes) {
            for term in 0..terms {
                let mean = row.iter().skip(term).step_by(terms).sum::<f64>() / classes as f64;
                row.iter_mut().skip(term).step_by(terms).for_each(|x| *x -= mean);
            }
        }
        Part { terms, of_columns, values }
    }
}

/// What was fitted.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    /// The weights of all terms, part after part.
    pub(crate) terms: Vec<f64>,
    /// o: what is added to each class.
    pub(crate) offsets: Vec<f64>,
}

impl Fit {
    pub(crate) fn rows(&self) -> usize {
        self.own.len()
    }

    /// ε: how far from certain the fit wants to be at most.
    pub(crate) fn doubt(&self) -> f64 {
        1.0 / (self.learnt + 2.0)
    }

    /// The best weights, from where all columns weigh `common`.
    pub(crate) fn weights(&self, common: f64, steps: usize) -> Weights {
        let terms: usize = self.parts.iter().map(|part| part.terms).sum();
        let mut x = Vec::with_capacity(terms + self.classes);
        for part in &self.parts {
            x.extend(std::iter::repeat_n(if part.of_columns { common } else { 0.0 }, part.terms));
        }
        x.extend(std::iter::repeat_n(0.0, self.classes));
        let mut bounds = vec![(0.0, LARGEST_WEIGHT); terms];
        bounds.extend(vec![(f64::NEG_INFINITY, f64::INFINITY); self.classes]);
        let curvatures = self.curvatures(&x);
        let stop = Stop { steps, slope: 1e-7, decrease: 1e-9 };
        minimize(&mut x, &bounds, &curvatures, stop, |x, gradient| {
            self.value_and_gradient(x, gradient, common)
        });
        let offsets = x.split_off(terms);
        Weights { terms: x, offsets }
    }

    /// What is minimized, divided by the number of rows, and its gradient.
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64], common: f64) -> f64 {
        let (weights, offsets) = x.split_at(x.len() - self.classes);
        let doubt = self.doubt();
        gradient.fill(0.0);
        let mut value = 0.0;
        let mut z = vec![0.0; self.classes];
        for row in 0..self.rows() {
            self.scores(row, weights, offsets, &mut z);
            let total = log_sum(z.iter().copied());
            let (own, weight) = (self.own[row] as usize, self.weights[row]);
            let (to_slopes, to_offsets) = gradient.split_at_mut(weights.len());
            for class in 0..self.classes {
                let wanted = doubt / self.classes as f64 + if class == own { 1.0 - doubt } else { 0.0 };
                value += weight * wanted * (total - z[class]);
                let slope = weight * (libm::exp(z[class] - total) - wanted);
                to_offsets[class] += slope;
                let mut start = 0;
                for part in &self.parts {
                    let terms = &part.values[(row * self.classes + class) * part.terms..][..part.terms];
                    let sums = &mut to_slopes[start..][..part.terms];
                    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += slope * term);
                    start += part.terms;
                }
            }
        }
        value += self.penalty(weights, offsets, gradient, common);
        let rows = self.learnt;
        gradient.iter_mut().for_each(|g| *g /= rows);
        value / rows
    }

    /// The second derivative along each weight and offset.
    fn curvatures(&self, x: &[f64]) -> Vec<f64> {
        let (weights, offsets) = x.split_at(x.len() - self.classes);
        let mut curvatures = vec![0.0; x.len()];
        let mut z = vec![0.0; self.classes];
        let mut means = vec![0.0; weights.len()];
        for row in 0..self.rows() {
            self.scores(row, weights, offsets, &mut z);
            softmax(&mut z);
            let weight = self.weights[row];
            means.fill(0.0);
            for (class, &p) in z.iter().enumerate() {
                curvatures[weights.len() + class] += weight * p * (1.0 - p);
                let mut start = 0;
                for part in &self.parts {
                    let terms = &part.values[(row * self.classes + class) * part.terms..][..part.terms];
                    for ((&term, mean), sum) in
                        terms.iter().zip(&mut means[start..]).zip(&mut curvatures[start..])
                    {
                        *mean += p * term;
                        *sum += weight * p * term * term;
                    }
                    start += part.terms;
                }
            }
            curvatures.iter_mut().zip(&means).for_each(|(sum, mean)| *sum -= weight * mean * mean);
        }
        let mut start = 0;
        for part in &self.parts {
            let penalty = if part.of_columns { TO_MEAN + TO_COMMON } else { 1.0 };
            curvatures[start..][..part.terms].iter_mut().for_each(|sum| *sum = sum.max(0.0) + penalty);
            start += part.terms;
        }
        curvatures[start..].iter_mut().for_each(|sum| *sum += 1.0);
        curvatures.iter().map(|sum| sum / self.learnt).collect()
    }

    /// What draws the weights to where they are expected.
    fn penalty(&self, weights: &[f64], offsets: &[f64], gradient: &mut [f64], common: f64) -> f64 {
        let (mut value, mut start) = (0.0, 0);
        for part in &self.parts {
            let of_part = &weights[start..][..part.terms];
            let slopes = &mut gradient[start..][..part.terms];
            let mean = of_part.iter().sum::<f64>() / part.terms as f64;
            for (&w, slope) in of_part.iter().zip(slopes) {
                if part.of_columns {
                    let (from_mean, from_common) = (w - mean, w - common);
                    value += 0.5 * (TO_MEAN * from_mean * from_mean + TO_COMMON * from_common * from_common);
                    *slope += TO_MEAN * from_mean + TO_COMMON * from_common;
                } else {
                    value += 0.5 * w * w;
                    *slope += w;
                }
            }
            start += part.terms;
        }
        for (&o, slope) in offsets.iter().zip(&mut gradient[start..]) {
            value += 0.5 * o * o;
            *slope += o;
        }
        value
    }

    /// z of every class.
    fn scores(&self, row: usize, weights: &[f64], offsets: &[f64], z: &mut [f64]) {
        for (class, z) in z.iter_mut().enumerate() {
            *z = self.log_prior[row * self.classes + class] + offsets[class];
            let mut start = 0;
            for part in &self.parts {
                let terms = &part.values[(row * self.classes + class) * part.terms..][..part.terms];
                *z += terms.iter().zip(&weights[start..]).map(|(term, weight)| term * weight).sum::<f64>();
                start += part.terms;
            }
        }
    }

    /// The posteriors of the first rows under some weights, and how much they miss the classes by: what a further term could
    /// explain.
    pub(crate) fn residuals(&self, weights: &Weights, rows: usize) -> Residuals {
        let doubt = self.doubt();
        let (mut posteriors, mut missing) = (Vec::new(), Vec::new());
        let mut z = vec![0.0; self.classes];
        for row in 0..rows {
            self.scores(row, &weights.terms, &weights.offsets, &mut z);
            softmax(&mut z);
            posteriors.extend_from_slice(&z);
            missing.extend(z.iter().enumerate().map(|(class, p)| {
                let own = class == self.own[row] as usize;
                doubt / self.classes as f64 + if own { 1.0 - doubt } else { 0.0 } - p
            }));
        }
        Residuals { classes: self.classes, weights: self.weights[..rows].to_vec(), posteriors, missing }
    }
}

/// Posteriors of some rows, and what they lack.
pub(crate) struct Residuals {
    classes: usize,
    weights: Vec<f64>,
    posteriors: Vec<f64>,
    missing: Vec<f64>,
}

impl Residuals {
    pub(crate) fn rows(&self) -> usize {
        self.weights.len()
    }

    /// By how many nats one step of Newton's method along a term would lower the cross-entropy of these rows, with so much of a
    /// penalty; 0 if the term speaks against the classes.
    pub(crate) fn gain(&self, penalty: f64, mut term: impl FnMut(usize, &mut [f64])) -> f64 {
        let (mut slope, mut curvature) = (0.0, penalty);
        let mut u = vec![0.0; self.classes];
        for row in 0..self.rows() {
            u.fill(0.0);
            term(row, &mut u);
            let place = row * self.classes;
            let (posteriors, missing) =
                (&self.posteriors[place..][..self.classes], &self.missing[place..][..self.classes]);
            let mean: f64 = u.iter().sum::<f64>() / self.classes as f64;
            let (mut along, mut first, mut second) = (0.0, 0.0, 0.0);
            for ((u, p), r) in u.iter().zip(posteriors).zip(missing) {
                let u = u - mean;
                along += r * u;
                first += p * u;
                second += p * u * u;
            }
            slope += self.weights[row] * along;
            curvature += self.weights[row] * (second - first * first);
        }
        if slope > 0.0 { slope * slope / (2.0 * curvature) } else { 0.0 }
    }
}

/// The power to which scores are best raised, at most 1, and the mean log-loss of that; classes side by side in `scores`.
/// Targets are softened by the rows of a class, so that the power stays finite where classes are told apart without error.
pub(crate) fn best_power(scores: &[f64], own: &[u32], weights: &[f64], classes: usize) -> (f64, f64) {
    let doubt = 1.0 / (own.len() as f64 / classes as f64 + 2.0);
    let mut raised = vec![0.0; classes];
    let mut loss = |log_power: f64| {
        let power = libm::exp(log_power);
        let (mut sum, mut total) = (0.0, 0.0);
        for ((row, &own), &weight) in scores.chunks_exact(classes).zip(own).zip(weights) {
            raised.iter_mut().zip(row).for_each(|(to, z)| *to = power * z);
            let evidence = log_sum(raised.iter().copied());
            let mean = raised.iter().sum::<f64>() / classes as f64;
            sum += weight * ((1.0 - doubt) * (evidence - raised[own as usize]) + doubt * (evidence - mean));
            total += weight;
        }
        sum / total
    };
    // The golden section of the interval from e⁻⁵ to 1: the loss is convex in the power.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (-5.0, 0.0);
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut loss_a, mut loss_b) = (loss(a), loss(b));
    while high - low > 1e-4 {
        if loss_a < loss_b {
            (high, b, loss_b) = (b, a, loss_a);
            a = high - GOLDEN * (high - low);
            loss_a = loss(a);
        } else {
            (low, a, loss_a) = (a, b, loss_b);
            b = low + GOLDEN * (high - low);
            loss_b = loss(b);
        }
    }
    let best = 0.5 * (low + high);
    (libm::exp(best), loss(best))
}

//! The fit of the weights: how much each term is worth, from what it says of every row without the row.
//!
//! ```text
//! Σ cross-entropy(softmax z, (1 − ε) own class + ε/K) + 10/2 Σ (w − mean w)² + 0.1/2 Σ (w − τ)² + ½ Σ (v² + v³² + a²) + ½ Σ o²
//! ```
//!
//! with ε = 1 / (n + 2) and τ the one weight that all columns would share. The sum is convex, and no weight is negative: without
//! its row, every term speaks less for the true class, so that a negative weight would reward a term for having seen the row.

use std::ops::Range;

use crate::judgement::blocks::in_blocks;
use crate::judgement::optimize::{Stop, minimize};
use crate::moments::engine::vectorized;
use crate::numerics;
use crate::posterior::{divide_by_sum, exponentiate, largest};

/// The largest weight of a term.
pub(crate) const LARGEST_WEIGHT: f64 = 3.0;

/// How strongly the weights of columns are drawn to their mean, and to τ.
pub(super) const TO_MEAN: f64 = 10.0;
pub(super) const TO_COMMON: f64 = 0.1;

/// How many parts of the rows are held out in turn, and the steps of each fit to the others.
const PARTS: usize = 5;
const STEPS_HELD_OUT: usize = 30;

/// So many terms stay in the cache from when rows are scored until the gradient is taken.
const TERMS_IN_CACHE: usize = 1 << 16;

/// Terms that gain more nats than this for each weight are no noise, and nothing is held out.
const CLEAR: f64 = 10.0;

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
    /// How many threads add up. The sums are the same for any number.
    pub(crate) threads: usize,
}

/// Terms of one kind, which are drawn to the same value.
pub(crate) struct Part {
    /// How many terms there are.
    pub(crate) terms: usize,
    /// Whether they are what single columns say; the others are drawn to zero.
    pub(super) of_columns: bool,
    /// What the terms say for the first class of the first row, less what they say for the last class; then for its second class,
    /// …, and for the class before the last. Posteriors depend on nothing else. Single precision is plenty for weights, and halves
    /// the memory that every step of the fit goes through.
    values: Vec<f32>,
}

impl Part {
    pub(crate) fn new(values: Vec<f32>, terms: usize, of_columns: bool) -> Self {
        Part { terms, of_columns, values }
    }

    /// The same of the first cells, without one of the terms.
    pub(super) fn without_term(&self, term: usize, cells: usize) -> Part {
        let mut values = Vec::with_capacity(cells * (self.terms - 1));
        for cell in self.values.chunks_exact(self.terms).take(cells) {
            values.extend_from_slice(&cell[..term]);
            values.extend_from_slice(&cell[term + 1..]);
        }
        Part { terms: self.terms - 1, values, ..*self }
    }

    /// The same of the first cells.
    pub(super) fn first(&self, cells: usize) -> Part {
        Part { values: self.values[..cells * self.terms].to_vec(), ..*self }
    }

    /// Puts something else in the place of what a term says of each cell.
    pub(super) fn replace(&mut self, term: usize, said: &[f64]) {
        // There are no cells if there is only one class.
        let values = self.values.iter_mut().skip(term).step_by(self.terms);
        values.zip(said).for_each(|(value, said)| *value = *said as f32);
    }

    /// Takes away from what a term says of each cell.
    pub(super) fn subtract(&mut self, term: usize, said: &[f64]) {
        // There are no cells if there is only one class.
        let values = self.values.iter_mut().skip(term).step_by(self.terms);
        values.zip(said).for_each(|(value, said)| *value -= *said as f32);
    }

    /// What all terms of a cell, one class of a row, say together.
    pub(crate) fn sum(&self, cell: usize) -> f64 {
        self.cell(cell).iter().copied().map(f64::from).sum()
    }

    /// What all terms of a cell say together, each as much as it weighs.
    pub(crate) fn weighted(&self, cell: usize, weights: &[f64]) -> f64 {
        self.cell(cell).iter().zip(weights).map(|(&term, weight)| f64::from(term) * weight).sum()
    }

    /// All terms for a class of a row.
    #[inline(always)]
    pub(super) fn cell(&self, cell: usize) -> &[f32] {
        &self.values[cell * self.terms..][..self.terms]
    }
}

/// Appends the terms of a row for each class but the last, less what they say for the last: the form in which parts have them.
pub(crate) fn without_last(of_row: &[f64], terms: usize, values: &mut Vec<f32>) {
    let (others, last) = of_row.split_at(of_row.len() - terms);
    for of_class in others.chunks_exact(terms) {
        values.extend(of_class.iter().zip(last).map(|(term, last)| (term - last) as f32));
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

    /// Where the fit starts: all columns weigh `common`.
    pub(crate) fn start(&self, common: f64) -> Weights {
        let of_part = |part: &Part| vec![if part.of_columns { common } else { 0.0 }; part.terms];
        Weights { terms: self.parts.iter().flat_map(of_part).collect(), offsets: vec![0.0; self.classes] }
    }

    /// The best weights for rows that weigh so much each, from earlier ones; terms that these do not know start at zero.
    pub(crate) fn weights(&self, rows: &[f64], from: &Weights, common: f64, steps: usize) -> Weights {
        let terms: usize = self.parts.iter().map(|part| part.terms).sum();
        let mut x = from.terms.clone();
        x.resize(terms, 0.0);
        x.extend(&from.offsets);
        let mut bounds = vec![(0.0, LARGEST_WEIGHT); terms];
        bounds.resize(x.len(), (f64::NEG_INFINITY, f64::INFINITY));
        let curvatures = self.curvatures(rows, &x);
        let stop = Stop { steps, slope: 1e-7, decrease: 1e-9 };
        minimize(&mut x, &bounds, &curvatures, stop, |x, gradient| {
            self.value_and_gradient(rows, x, gradient, common)
        });
        let offsets = x.split_off(terms);
        Weights { terms: x, offsets }
    }

    /// How much of what the terms say under these weights is to be believed, γ in z = log P(class) + γ (o + Σ …), for all that
    /// rows say that were held out of the fit. `copies` is how many rows hold the same as each.
    ///
    /// A few hundred weights find something to say even about noise. The best of Q terms without any meaning gains about log Q
    /// nats by chance. Where γ gains no more than twice as much on the rows that were held out, nothing is believed, and from twice
    /// that on γ is what predicts them best.
    pub(crate) fn trust(&self, weights: &Weights, common: f64, copies: &[f64]) -> f64 {
        let unit = self.weights.iter().sum::<f64>() / self.learnt;
        let by_chance = unit * 2.0 * libm::log(weights.terms.len() as f64 + 2.0);
        let (k, x) = (self.classes, [&weights.terms[..], &weights.offsets].concat());
        let all: Vec<usize> = (0..self.rows()).collect();
        let fitted = self.held(&all, &self.weights, &x);
        let gain = fitted.scored(k).loss(0.0).0 - fitted.scored(k).loss(1.0).0;
        if gain > CLEAR * unit * weights.terms.len() as f64 {
            return 1.0;
        }
        let mut held_out = Held::default();
        for part in 0..PARTS {
            // Rows that hold the same are dealt out to the parts: the other parts know a frequent row, as they will know it when it
            // comes again.
            let share = |(row, &copies): (usize, &f64)| {
                let place = (part + PARTS - row % PARTS) % PARTS;
                ((copies + (PARTS - 1 - place) as f64) / PARTS as f64).floor() / copies
            };
            let shares = copies.iter().enumerate().map(share);
            let of_part: Vec<f64> = shares.zip(&self.weights).map(|(share, weight)| share * weight).collect();
            let others: Vec<f64> = self.weights.iter().zip(&of_part).map(|(all, part)| all - part).collect();
            let fitted = self.weights(&others, weights, common, STEPS_HELD_OUT);
            let x = [&fitted.terms[..], &fitted.offsets].concat();
            let rows: Vec<usize> = (0..self.rows()).filter(|&row| of_part[row] > 0.0).collect();
            held_out.extend(self.held(&rows, &of_part, &x));
        }
        let rows = held_out.scored(k);
        let (factor, loss) = rows.best_factor(0.0);
        let gain = rows.loss(0.0).0 - loss;
        factor * (gain / by_chance - 1.0).clamp(0.0, 1.0)
    }

    /// What the terms say of some rows, which weigh so much each.
    fn held(&self, rows: &[usize], weights: &[f64], x: &[f64]) -> Held {
        let k = self.classes;
        let z = in_blocks(self.rows(), self.threads, |block| self.scores(block, weights, x)).concat();
        let classes = || rows.iter().flat_map(|&row| row * k..(row + 1) * k);
        Held {
            log_prior: classes().map(|cell| self.log_prior[cell]).collect(),
            said: classes().map(|cell| z[cell] - self.log_prior[cell]).collect(),
            own: rows.iter().map(|&row| self.own[row]).collect(),
            weights: rows.iter().map(|&row| weights[row]).collect(),
        }
    }

    /// What is minimized, divided by the number of rows, and its gradient.
    pub(super) fn value_and_gradient(
        &self,
        rows: &[f64],
        x: &[f64],
        gradient: &mut [f64],
        common: f64,
    ) -> f64 {
        let blocks = in_blocks(self.rows(), self.threads, |block| self.of_block(block, rows, x));
        gradient.fill(0.0);
        let mut value = 0.0;
        for (of_block, slopes) in blocks {
            value += of_block;
            gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        }
        let (weights, offsets) = x.split_at(x.len() - self.classes);
        value += self.penalty(weights, offsets, gradient, common);
        gradient.iter_mut().for_each(|g| *g /= self.learnt);
        value / self.learnt
    }

    /// The cross-entropy of a block of rows, and its gradient.
    fn of_block(&self, block: Range<usize>, rows: &[f64], x: &[f64]) -> (f64, Vec<f64>) {
        let (mut value, mut gradient) = (0.0, vec![0.0; x.len()]);
        let terms = (x.len() - self.classes) * (self.classes - 1);
        let at_once = (TERMS_IN_CACHE / terms.max(1)).max(1);
        for start in block.clone().step_by(at_once) {
            let piece = start..block.end.min(start + at_once);
            self.add_piece(piece, rows, x, (&mut value, &mut gradient));
        }
        (value, gradient)
    }

    /// Adds the cross-entropy of a few rows, and its gradient.
    fn add_piece(
        &self,
        block: Range<usize>,
        rows: &[f64],
        x: &[f64],
        (value, gradient): (&mut f64, &mut [f64]),
    ) {
        let (k, doubt) = (self.classes, self.doubt());
        let mut z = self.scores(block.clone(), rows, x);
        let (to_terms, to_offsets) = gradient.split_at_mut(x.len() - k);
        let of_own: Vec<f64> =
            block.clone().map(|row| z[(row - block.start) * k + self.own[row] as usize]).collect();
        let means: Vec<f64> = z.chunks_exact(k).map(|z| z.iter().sum::<f64>() / k as f64).collect();
        let totals = softmax_each(&mut z, k);
        for (place, z) in z.chunks_exact_mut(k).enumerate() {
            let row = block.start + place;
            let weight = rows[row];
            *value += weight * (totals[place] - (1.0 - doubt) * of_own[place] - doubt * means[place]);
            z[self.own[row] as usize] -= 1.0 - doubt;
            for (slope, sum) in z.iter_mut().zip(to_offsets.iter_mut()) {
                *slope = weight * (*slope - doubt / k as f64);
                *sum += *slope;
            }
        }
        let (parts, slopes) = (&self.parts, &z);
        vectorized(
            #[inline(always)]
            move || {
                let mut start = 0;
                for part in parts {
                    let sums = &mut to_terms[start..][..part.terms];
                    for (place, slopes) in slopes.chunks_exact(k).enumerate() {
                        let cell = (block.start + place) * (k - 1);
                        for (class, slope) in slopes[..k - 1].iter().enumerate() {
                            let terms = part.cell(cell + class);
                            sums.iter_mut()
                                .zip(terms)
                                .for_each(|(sum, &term)| *sum += slope * f64::from(term));
                        }
                    }
                    start += part.terms;
                }
            },
        );
    }

    /// The second derivative along each weight and offset.
    pub(super) fn curvatures(&self, rows: &[f64], x: &[f64]) -> Vec<f64> {
        let k = self.classes;
        let blocks = in_blocks(self.rows(), self.threads, |block| {
            let mut p = self.scores(block.clone(), rows, x);
            softmax_each(&mut p, k);
            let mut curvatures = vec![0.0; x.len()];
            let mut means = vec![0.0; x.len() - k];
            for (row, p) in block.zip(p.chunks_exact(k)) {
                let weight = rows[row];
                means.fill(0.0);
                let (of_terms, of_offsets) = curvatures.split_at_mut(means.len());
                of_offsets.iter_mut().zip(p).for_each(|(sum, p)| *sum += weight * p * (1.0 - p));
                for (class, &p) in p[..k - 1].iter().enumerate() {
                    let terms = self.parts.iter().flat_map(|part| part.cell(row * (k - 1) + class));
                    for ((&term, mean), sum) in terms.zip(&mut means).zip(of_terms.iter_mut()) {
                        *mean += p * f64::from(term);
                        *sum += weight * p * f64::from(term) * f64::from(term);
                    }
                }
                of_terms.iter_mut().zip(&means).for_each(|(sum, mean)| *sum -= weight * mean * mean);
            }
            curvatures
        });
        let mut curvatures: Vec<f64> = Vec::with_capacity(x.len());
        for part in &self.parts {
            let penalty = if part.of_columns { TO_MEAN + TO_COMMON } else { 1.0 };
            curvatures.extend(vec![penalty; part.terms]);
        }
        curvatures.resize(x.len(), 1.0);
        for block in blocks {
            curvatures.iter_mut().zip(block).for_each(|(sum, x)| *sum += x.max(0.0));
        }
        curvatures.iter().map(|sum| sum / self.learnt).collect()
    }

    /// What draws the weights to where they are expected.
    pub(super) fn penalty(&self, weights: &[f64], offsets: &[f64], gradient: &mut [f64], common: f64) -> f64 {
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

    /// The second derivatives of the penalty times a vector of weights and offsets.
    pub(super) fn times_penalty(&self, x: &[f64]) -> Vec<f64> {
        let mut product = x.to_vec();
        let mut start = 0;
        for part in &self.parts {
            let of_part = &mut product[start..][..part.terms];
            if part.of_columns {
                let mean = of_part.iter().sum::<f64>() / part.terms as f64;
                of_part.iter_mut().for_each(|x| *x = TO_MEAN * (*x - mean) + TO_COMMON * *x);
            }
            start += part.terms;
        }
        product
    }

    /// z of every class for a block of rows; zero for those that weigh nothing.
    pub(super) fn scores(&self, block: Range<usize>, rows: &[f64], x: &[f64]) -> Vec<f64> {
        let k = self.classes;
        let (weights, offsets) = x.split_at(x.len() - k);
        let mut z = vec![0.0; block.len() * k];
        let (parts, log_prior, to) = (&self.parts, &self.log_prior, &mut z);
        vectorized(
            #[inline(always)]
            move || {
                for (row, z) in block.zip(to.chunks_exact_mut(k)) {
                    if rows[row] == 0.0 {
                        continue;
                    }
                    for (class, z) in z.iter_mut().enumerate() {
                        *z = log_prior[row * k + class] + offsets[class];
                    }
                    let mut start = 0;
                    for part in parts {
                        let weights = &weights[start..][..part.terms];
                        for (class, z) in z[..k - 1].iter_mut().enumerate() {
                            *z += dot(part.cell(row * (k - 1) + class), weights);
                        }
                        start += part.terms;
                    }
                }
            },
        );
        z
    }

    /// The posteriors of the first rows under some weights, and how much they miss the classes by: what a further term could
    /// explain.
    pub(crate) fn residuals(&self, weights: &Weights, rows: usize) -> Residuals {
        let (k, doubt) = (self.classes, self.doubt());
        let x = [&weights.terms[..], &weights.offsets].concat();
        let mut posteriors = self.scores(0..rows, &self.weights, &x);
        softmax_each(&mut posteriors, k);
        let mut missing: Vec<f64> = posteriors.iter().map(|p| doubt / k as f64 - p).collect();
        for (missing, &own) in missing.chunks_exact_mut(k).zip(&self.own) {
            missing[own as usize] += 1.0 - doubt;
        }
        Residuals { classes: k, weights: self.weights[..rows].to_vec(), posteriors, missing }
    }
}

/// Σ x y, in an order that lets the compiler take eight products at once.
#[inline(always)]
fn dot(x: &[f32], y: &[f64]) -> f64 {
    let (x_rest, y_rest) = (x.chunks_exact(8).remainder(), y.chunks_exact(8).remainder());
    let mut sums = [0.0; 8];
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        for i in 0..8 {
            sums[i] += f64::from(x[i]) * y[i];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| f64::from(*x) * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// Turns the scores of rows, classes side by side, into probabilities; log Σ exp z of each row.
pub(super) fn softmax_each(z: &mut [f64], classes: usize) -> Vec<f64> {
    let mut totals = Vec::with_capacity(z.len() / classes);
    for z in z.chunks_exact_mut(classes) {
        let largest = largest(z.iter().copied());
        z.iter_mut().for_each(|z| *z -= largest);
        totals.push(largest);
    }
    exponentiate(z);
    for (z, total) in z.chunks_exact_mut(classes).zip(&mut totals) {
        *total += numerics::ln(divide_by_sum(z));
    }
    totals
}

/// Rows, and what the terms say of them.
#[derive(Default)]
struct Held {
    log_prior: Vec<f64>,
    said: Vec<f64>,
    own: Vec<u32>,
    weights: Vec<f64>,
}

impl Held {
    fn extend(&mut self, other: Held) {
        self.log_prior.extend(other.log_prior);
        self.said.extend(other.said);
        self.own.extend(other.own);
        self.weights.extend(other.weights);
    }

    fn scored(&self, classes: usize) -> Scored<'_> {
        let Held { log_prior, said, own, weights } = self;
        Scored { classes, base: log_prior, scores: said, own, weights, doubt: 0.0 }
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
    /// penalty; 0 if the term speaks against the classes. What it says may be off by the same for all classes of a row.
    pub(crate) fn gain(&self, penalty: f64, mut term: impl FnMut(usize, &mut [f64])) -> f64 {
        let (mut slope, mut curvature) = (0.0, penalty);
        let mut u = vec![0.0; self.classes];
        for row in 0..self.rows() {
            term(row, &mut u);
            let place = row * self.classes;
            let (posteriors, missing) =
                (&self.posteriors[place..][..self.classes], &self.missing[place..][..self.classes]);
            let (mut along, mut first, mut second) = (0.0, 0.0, 0.0);
            for ((u, p), r) in u.iter().zip(posteriors).zip(missing) {
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
    let rows = Scored { classes, base: &vec![0.0; scores.len()], scores, own, weights, doubt };
    let (power, loss) = rows.best_factor(LEAST_POWER);
    (power, loss / weights.iter().sum::<f64>())
}

/// No power is less.
const LEAST_POWER: f64 = 0.006_737_946_999_085_467; // e⁻⁵

/// Rows whose z is `base` + factor · `scores`, classes side by side.
struct Scored<'a> {
    classes: usize,
    base: &'a [f64],
    scores: &'a [f64],
    own: &'a [u32],
    weights: &'a [f64],
    /// How much of the target is shared by all classes.
    doubt: f64,
}

impl Scored<'_> {
    /// The factor from `least` to 1 under which the cross-entropy is least, and the cross-entropy.
    fn best_factor(&self, least: f64) -> (f64, f64) {
        let (value, slope, _) = self.loss(least);
        if slope >= 0.0 {
            return (least, value);
        }
        // Newton's method, and halves of the interval where it would leave that: the cross-entropy is convex.
        let (mut low, mut high, mut factor) = (least, 1.0, 1.0);
        loop {
            let (value, slope, curvature) = self.loss(factor);
            if slope > 0.0 {
                high = factor;
            } else {
                low = factor;
            }
            let newton = factor - slope / curvature;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - factor).abs() < 1e-5 {
                return (factor, value);
            }
            factor = next;
        }
    }

    /// The cross-entropy under a factor, and its first two derivatives.
    fn loss(&self, factor: f64) -> (f64, f64, f64) {
        let mut p: Vec<f64> =
            self.base.iter().zip(self.scores).map(|(base, score)| base + factor * score).collect();
        let k = self.classes as f64;
        let wanted = |of_row: &[f64], own: u32| {
            (1.0 - self.doubt) * of_row[own as usize] + self.doubt / k * of_row.iter().sum::<f64>()
        };
        let rows = p.chunks_exact(self.classes).zip(self.own);
        let wanted_z: Vec<f64> = rows.map(|(z, &own)| wanted(z, own)).collect();
        let evidence = softmax_each(&mut p, self.classes);
        let (mut sum, mut slope, mut curvature) = (0.0, 0.0, 0.0);
        let rows = self.scores.chunks_exact(self.classes).zip(p.chunks_exact(self.classes));
        for (row, (scores, p)) in rows.enumerate() {
            let weight = self.weights[row];
            let first: f64 = p.iter().zip(scores).map(|(p, x)| p * x).sum();
            let second: f64 = p.iter().zip(scores).map(|(p, x)| p * (x - first) * (x - first)).sum();
            sum += weight * (evidence[row] - wanted_z[row]);
            slope += weight * (first - wanted(scores, self.own[row]));
            curvature += weight * second;
        }
        (sum, slope, curvature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two classes about which each of some terms says `signal` for the true class, and noise.
    fn fit(rows: usize, terms: usize, signal: f64, threads: usize) -> Fit {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut noise = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let own: Vec<u32> = (0..rows).map(|_| u32::from(noise() > 0.2)).collect();
        let said = |&own: &u32| if own == 0 { signal } else { -signal };
        let values =
            own.iter().flat_map(|own| vec![said(own); terms]).map(|x| (x + noise()) as f32).collect();
        Fit {
            classes: 2,
            weights: vec![1.0; rows],
            learnt: rows as f64,
            log_prior: [0.6_f64.ln(), 0.4_f64.ln()].repeat(rows),
            parts: vec![Part::new(values, terms, true)],
            own,
            threads,
        }
    }

    fn trust(fit: &Fit) -> f64 {
        let weights = fit.weights(&fit.weights, &fit.start(1.0), 1.0, 100);
        fit.trust(&weights, 1.0, &vec![1.0; fit.rows()])
    }

    #[test]
    fn noise_is_not_believed_and_clear_signals_are() {
        for (rows, terms) in [(60, 5), (60, 40), (150, 20), (600, 60), (2_000, 10)] {
            let noise = trust(&fit(rows, terms, 0.0, 1));
            assert!(noise < 0.05, "{noise} of {rows} rows and {terms} terms");
        }
        for (rows, terms) in [(150, 3), (600, 20), (2_000, 60)] {
            let signal = trust(&fit(rows, terms, 0.5, 1));
            assert!(signal > 0.95, "{signal} of {rows} rows and {terms} terms");
        }
        assert_eq!(trust(&fit(2_000, 4, 1.0, 1)), 1.0);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let weights = |threads: usize| {
            let fit = fit(2_100, 7, 0.2, threads);
            fit.weights(&fit.weights, &fit.start(1.0), 1.0, 100)
        };
        for threads in [2, 3, 8] {
            assert_eq!(weights(threads).terms, weights(1).terms);
            assert_eq!(weights(threads).offsets, weights(1).offsets);
        }
    }
}

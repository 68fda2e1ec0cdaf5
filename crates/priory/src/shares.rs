//! The shares of the classes in rows of which nobody knows the class.
//!
//! A model knows P(k | x) under the prior p(k) it was trained with. If the classes have other shares q(k) where it is used, and
//! rows of a class look as before, then P'(k | x) ∝ P(k | x) q(k) / p(k), and q is the mean of P' over the rows. Repeating the two
//! steps from q = p on climbs to the most likely shares (Saerens, Latinne and Decaestecker 2002, "Adjusting the outputs of a
//! classifier to new a priori probabilities").
//!
//! It takes the posterior of every row, again and again. They are kept in bounded memory: equal ones once, with their number; and
//! if there are too many different ones, those with the smallest hashes. So neither the order of the rows nor their split shows in
//! the result.

use crate::hash::fnv1a_after;
use crate::posterior::Scores;

/// How many probabilities are kept.
const MOST_PROBABILITIES: usize = 1 << 21;

/// Shares that change by less are taken as found.
const TOLERANCE: f64 = 1e-9;

/// By then the shares of any sensible table have long been found.
const MOST_STEPS: u32 = 10_000;

/// Posteriors of rows, to find the shares of the classes in them.
///
/// ```
/// use priory::{Batch, Column, Kind, Schema, Settings, Statistics};
/// use priory::shares::ShareFinder;
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let mut statistics = Statistics::empty(&schema);
/// let (sunny, rainy) = ([Some("sunny")], [Some("rain")]);
/// statistics.observe(&Batch::from_rows(&[("yes", sunny), ("yes", sunny), ("no", rainy), ("no", rainy), ("no", sunny)]))?;
/// let model = statistics.estimate(&Settings::default())?;
///
/// let wet_month = Batch::from_rows(&[("", rainy), ("", rainy), ("", rainy), ("", sunny)]);
/// let mut finder = ShareFinder::new(model.classes().len());
/// finder.observe(&model.score(&wet_month)?);
/// let found = finder.shares(model.prior());
/// assert!(found.shares[0] > model.prior()[0]); // more of these days are without tennis
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ShareFinder {
    classes: usize,
    /// Sorted, each posterior once.
    kept: Vec<Kept>,
    new: Vec<Kept>,
}

/// A posterior, and how many rows have it.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    hash: u64,
    rows: u64,
    posterior: Box<[f64]>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundShares {
    /// The share of each class.
    pub shares: Vec<f64>,
    /// How many rows they were found from.
    pub rows: u64,
}

impl ShareFinder {
    /// No rows yet, for a model of this many classes.
    pub fn new(classes: usize) -> Self {
        ShareFinder { classes, kept: Vec::new(), new: Vec::new() }
    }

    /// Adds the rows with these scores.
    ///
    /// # Panics
    /// If the scores are those of another number of classes.
    pub fn observe(&mut self, scores: &Scores) {
        let posterior = scores.normalize();
        for row in 0..posterior.rows() {
            let posterior: Box<[f64]> = posterior.row(row).into();
            assert_eq!(posterior.len(), self.classes, "the scores are of other classes");
            let hash = posterior.iter().fold(0, |hash, p| fnv1a_after(hash, &p.to_bits().to_le_bytes()));
            self.new.push(Kept { hash, rows: 1, posterior });
        }
        if self.new.len() >= self.most_rows() {
            self.compact();
        }
    }

    /// Adds the rows of another.
    pub fn merge(&mut self, other: ShareFinder) {
        self.new.extend(other.kept);
        self.new.extend(other.new);
        self.compact();
    }

    /// The most likely shares of the classes in these rows, found from the prior under which their posteriors hold. Without any
    /// row it is that prior.
    pub fn shares(mut self, prior: &[f64]) -> FoundShares {
        self.compact();
        let rows: u64 = self.kept.iter().map(|kept| kept.rows).sum();
        let mut shares = prior.to_vec();
        for _ in 0..if rows > 0 { MOST_STEPS } else { 0 } {
            let next = self.step(prior, &shares);
            let change =
                next.iter().zip(&shares).map(|(next, share)| (next - share).abs()).fold(0.0, f64::max);
            shares = next;
            if change < TOLERANCE {
                break;
            }
        }
        FoundShares { shares, rows }
    }

    /// The mean posterior if the classes have these shares.
    fn step(&self, prior: &[f64], shares: &[f64]) -> Vec<f64> {
        let ratios: Vec<f64> = shares
            .iter()
            .zip(prior)
            .map(|(share, prior)| if *prior > 0.0 { share / prior } else { 0.0 })
            .collect();
        let mut sums = vec![0.0; self.classes];
        for Kept { rows, posterior, .. } in &self.kept {
            let total: f64 = posterior.iter().zip(&ratios).map(|(p, ratio)| p * ratio).sum();
            // A row that only classes without a share could have says nothing about the others.
            if total > 0.0 {
                let factor = *rows as f64 / total;
                sums.iter_mut()
                    .zip(posterior)
                    .zip(&ratios)
                    .for_each(|((sum, p), ratio)| *sum += factor * p * ratio);
            }
        }
        let all: f64 = sums.iter().sum();
        if all > 0.0 { sums.into_iter().map(|sum| sum / all).collect() } else { shares.to_vec() }
    }

    fn most_rows(&self) -> usize {
        (MOST_PROBABILITIES / self.classes.max(1)).max(1)
    }

    /// Sorts by hash, takes equal posteriors together, and keeps as many as there is room for. What is among the smallest of all
    /// rows is among the smallest of every part, so that none of its rows was ever let go.
    fn compact(&mut self) {
        let most_rows = self.most_rows();
        self.kept.append(&mut self.new);
        self.kept.sort_unstable_by(|a, b| {
            a.hash.cmp(&b.hash).then_with(|| {
                let bits = |kept: &Kept| kept.posterior.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
                bits(a).cmp(&bits(b))
            })
        });
        self.kept.dedup_by(|next, first| {
            let is_same = next.posterior == first.posterior;
            first.rows += if is_same { next.rows } else { 0 };
            is_same
        });
        self.kept.truncate(most_rows);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::families::likelihood::Unseen;

    fn scores(rows: &[Vec<f64>]) -> Scores {
        let classes = rows[0].len();
        let logs = rows.iter().flatten().map(|p| p.ln()).collect();
        Scores::new(vec![0.0; classes], logs, vec![true; rows.len()], Unseen::default())
    }

    /// The likelihood of shares, but for a constant: Σ log Σₖ P(k | x) q(k) / p(k).
    fn likelihood(rows: &[Vec<f64>], prior: &[f64], shares: &[f64]) -> f64 {
        let of_row = |row: &Vec<f64>| {
            row.iter().zip(prior).zip(shares).map(|((p, prior), q)| p * q / prior).sum::<f64>()
        };
        rows.iter().map(|row| of_row(row).ln()).sum()
    }

    #[test]
    fn certain_rows_are_counted() {
        let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.0, 1.0], vec![0.0, 1.0]];
        let mut finder = ShareFinder::new(2);
        finder.observe(&scores(&rows));
        assert_eq!(finder.shares(&[0.5, 0.5]), FoundShares { shares: vec![0.25, 0.75], rows: 4 });
        assert_eq!(ShareFinder::new(2).shares(&[0.2, 0.8]), FoundShares { shares: vec![0.2, 0.8], rows: 0 });
    }

    proptest! {
        #[test]
        fn the_shares_found_are_the_most_likely(
            rows in prop::collection::vec(prop::collection::vec(0.01..1.0f64, 3), 5..60),
            start in any::<prop::sample::Index>(),
        ) {
            let rows: Vec<Vec<f64>> = rows.into_iter().map(|row| {
                let sum: f64 = row.iter().sum();
                row.into_iter().map(|p| p / sum).collect()
            }).collect();
            let prior = [0.2, 0.3, 0.5];
            let mut whole = ShareFinder::new(3);
            whole.observe(&scores(&rows));
            let found = whole.shares(&prior);
            let (first, second) = rows.split_at(start.index(rows.len() - 1) + 1);
            let mut parts = ShareFinder::new(3);
            if !second.is_empty() {
                parts.observe(&scores(second));
            }
            let mut other = ShareFinder::new(3);
            other.observe(&scores(first));
            parts.merge(other);
            prop_assert_eq!(&parts.shares(&prior), &found);
            prop_assert!((found.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // No step towards a class makes the rows more likely.
            let best = likelihood(&rows, &prior, &found.shares);
            for class in 0..3 {
                for step in [0.01, 0.1] {
                    let moved: Vec<f64> = found.shares.iter().enumerate().map(|(k, share)| {
                        (1.0 - step) * share + if k == class { step } else { 0.0 }
                    }).collect();
                    prop_assert!(likelihood(&rows, &prior, &moved) <= best + 1e-6);
                }
            }
        }
    }
}

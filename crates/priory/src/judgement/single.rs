//! What one column says: log P(x | class) / P(x), from counts that are shrunk towards what all classes share.
//!
//! A number falls into one of at most 256 bins of about equal weight, which are the leaves of a binary tree. At every step down
//! the tree, from a parent to one of its two children on level l,
//!
//! ```text
//! log [ (n(child, class) + s l q) / (n(parent, class) + s l) / q ],     q = (n(child) + ½) / (n(parent) + 1)
//! ```
//!
//! is added, down to level 6 or 8: a Pólya tree whose prior is the split of all classes together. A category is a tree of one
//! step with as many children as it has values, and q = (n(value) + 1) / (n + values).
//!
//! Without a row, its own class has the row's weight less in every count on the path, and the other classes are as they were.
//! How strongly the counts are shrunk, s, and how far down the tree goes is what makes the column, by itself, predict every
//! row best from the others. That needs no rows: all rows of a class in a bin have the same terms.
//!
//! A value that is missing or was never met says nothing.

use serde::{Deserialize, Serialize};

use crate::families::categorical::CategoryStatistics;
use crate::numerics::{ln_each, ordered_bits};
use crate::posterior::{exponentiate, largest};
use crate::spectrum::Spectrum;
use crate::vocabulary::Vocabulary;

/// The most bins of a column of numbers.
const MOST_BINS: usize = 256;

/// The strengths s that are tried.
const STRENGTHS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// The levels at which a tree may end.
const DEPTHS: [u32; 2] = [6, 8];

/// The counts of a column, in bins or by value, with the classes side by side.
#[derive(Debug, Clone)]
pub(crate) struct SingleCounts {
    pub(crate) places: Places,
    classes: usize,
    counts: Vec<f64>,
}

/// Where the counts of a value stand.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// Bin i holds the numbers whose key, at this level of the spectrum, is at least `starts[i]` and below the next.
    Numbers {
        /// How many low bits of the numbers the keys lack.
        level: u32,
        /// The least key of each bin.
        starts: Vec<u64>,
    },
    /// The counts of the i-th value are the i-th.
    Values(Vocabulary),
}

impl Places {
    /// The bin of a number.
    #[inline]
    pub(crate) fn bin(starts: &[u64], level: u32, x: f64) -> usize {
        let key = ordered_bits(x) >> level;
        starts.partition_point(|&start| start <= key).saturating_sub(1)
    }
}

/// The shrinkage of a column's counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shrinkage {
    /// s: how many rows the prior weighs.
    pub(crate) strength: f64,
    /// The last level of the tree; below it, bins are not told apart.
    pub(crate) depth: u32,
}

impl SingleCounts {
    /// The counts of a column of numbers, from its canonical spectrum; `None` if no number is known.
    pub(crate) fn of_numbers(spectrum: &Spectrum, classes: usize) -> Option<Self> {
        let pooled = spectrum.pooled();
        let bins = bins_of(&pooled);
        let starts: Vec<u64> = bins.iter().map(|&first| pooled[first].0).collect();
        if starts.is_empty() {
            return None;
        }
        let mut counts = vec![0.0; starts.len() * classes];
        for (&(key, class), weight) in spectrum.cells().iter().zip(spectrum.counts().cells()) {
            let bin = starts.partition_point(|&start| start <= key) - 1;
            counts[bin * classes + class as usize] += weight;
        }
        Some(SingleCounts { places: Places::Numbers { level: spectrum.level(), starts }, classes, counts })
    }

    /// The counts of a column of categories, in canonical form.
    pub(crate) fn of_values(category: &CategoryStatistics, classes: usize) -> Option<Self> {
        let counts: Vec<f64> = category.counts.cells().skip(classes).collect();
        (!counts.is_empty()).then(|| SingleCounts {
            places: Places::Values(category.values.clone()),
            classes,
            counts,
        })
    }

    fn rows(&self) -> usize {
        self.counts.len() / self.classes
    }

    /// The shrinkage under which the column by itself predicts every row best from the others, each of which weighs `unit`;
    /// and the mean log-loss of that, per row, where the column is known.
    pub(crate) fn choose(&self, log_prior: &[f64], unit: f64) -> (Shrinkage, f64) {
        let tree = self.tree();
        let mut best = (Shrinkage { strength: STRENGTHS[0], depth: DEPTHS[0] }, f64::INFINITY);
        let depths = match self.places {
            // A shallow tree is the same under both.
            Places::Numbers { .. } if tree.levels.len() > DEPTHS[0] as usize + 1 => &DEPTHS[..],
            _ => &DEPTHS[1..],
        };
        for &depth in depths {
            for strength in STRENGTHS {
                let shrinkage = Shrinkage { strength, depth };
                let loss = self.loss_of(&tree.table(shrinkage, unit), log_prior);
                if loss < best.1 {
                    best = (shrinkage, loss);
                }
            }
        }
        best
    }

    /// The mean log-loss of predicting every row from this column and the prior alone, without the row.
    fn loss_of(&self, table: &SingleTable, log_prior: &[f64]) -> f64 {
        let classes = self.classes;
        let (mut all, mut own) = (table.terms.clone(), table.own.clone());
        for (all, own) in all.chunks_exact_mut(classes).zip(own.chunks_exact_mut(classes)) {
            all.iter_mut().zip(log_prior).for_each(|(z, prior)| *z += prior);
            own.iter_mut().zip(log_prior).for_each(|(z, prior)| *z += prior);
            let largest = largest(all.iter().chain(&*own).copied());
            all.iter_mut().chain(own).for_each(|z| *z -= largest);
        }
        let own_logs = own.clone();
        exponentiate(&mut all);
        exponentiate(&mut own);
        // The row's own class says less without the row, and the others what they said.
        for (all, own) in all.chunks_exact(classes).zip(own.chunks_exact_mut(classes)) {
            let sum: f64 = all.iter().sum();
            own.iter_mut().zip(all).for_each(|(own, all)| *own += (sum - all).max(0.0));
        }
        let mut evidence = own;
        ln_each(&mut evidence);
        let losses = evidence.iter().zip(&own_logs).zip(&self.counts);
        let known = losses.filter(|(_, count)| **count > 0.0);
        let loss: f64 = known.map(|((evidence, own), count)| count * (evidence - own)).sum();
        loss / self.counts.iter().sum::<f64>()
    }

    /// The terms of every bin or value, and what they are for a row's own class without the row.
    pub(crate) fn table(&self, shrinkage: Shrinkage, unit: f64) -> SingleTable {
        self.tree().table(shrinkage, unit)
    }

    fn tree(&self) -> Tree<'_> {
        let (rows, classes) = (self.rows(), self.classes);
        let levels = match self.places {
            Places::Values(_) => Vec::new(),
            Places::Numbers { .. } => {
                let depth = rows.max(2).next_power_of_two().ilog2();
                let mut leaves = vec![0.0; classes << depth];
                for (row, counts) in self.counts.chunks_exact(classes).enumerate() {
                    let leaf = &mut leaves[((row << depth) / rows) * classes..][..classes];
                    leaf.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                }
                let mut levels = vec![leaves];
                while levels[levels.len() - 1].len() > classes {
                    let parents = levels[levels.len() - 1].chunks_exact(2 * classes);
                    let parents = parents.flat_map(|pair| {
                        let (left, right) = pair.split_at(classes);
                        left.iter().zip(right).map(|(a, b)| a + b)
                    });
                    levels.push(parents.collect());
                }
                levels.reverse();
                levels
            }
        };
        Tree { counts: self, levels }
    }
}

/// The counts of a column at every level, from the root down to as many leaves as a power of two; no levels for categories.
struct Tree<'a> {
    counts: &'a SingleCounts,
    levels: Vec<Vec<f64>>,
}

impl Tree<'_> {
    fn table(&self, shrinkage: Shrinkage, unit: f64) -> SingleTable {
        match self.counts.places {
            Places::Values(_) => self.of_values(shrinkage.strength, unit),
            Places::Numbers { .. } => self.of_bins(shrinkage, unit),
        }
    }

    fn of_values(&self, strength: f64, unit: f64) -> SingleTable {
        let SingleCounts { counts, classes, .. } = self.counts;
        let totals = totals(counts, *classes);
        let everything: f64 = totals.iter().sum();
        let values = self.counts.rows() as f64;
        let mut table = SingleTable::empty(counts.len(), *classes);
        for of_value in counts.chunks_exact(*classes) {
            let q = (of_value.iter().sum::<f64>() + 1.0) / (everything + values);
            table.push(of_value, &totals, strength, q, unit);
        }
        table.ln()
    }

    fn of_bins(&self, shrinkage: Shrinkage, unit: f64) -> SingleTable {
        let (classes, rows) = (self.counts.classes, self.counts.rows());
        let mut terms = SingleTable { classes, terms: vec![0.0; classes], own: vec![0.0; classes] };
        let mut depth = 0;
        for (level, pair) in (1_u32..=shrinkage.depth).zip(self.levels.windows(2)) {
            let [parents, children] = pair else { continue };
            let mut finer = SingleTable::empty(children.len(), classes);
            for (row, child) in children.chunks_exact(classes).enumerate() {
                let parent = &parents[row / 2 * classes..][..classes];
                let q = (child.iter().sum::<f64>() + 0.5) / (parent.iter().sum::<f64>() + 1.0);
                finer.push(child, parent, shrinkage.strength * f64::from(level), q, unit);
            }
            finer = finer.ln();
            for (to, from) in [(&mut finer.terms, &terms.terms), (&mut finer.own, &terms.own)] {
                for (to, from) in to.chunks_exact_mut(2 * classes).zip(from.chunks_exact(classes)) {
                    to.iter_mut().zip(from.iter().chain(from)).for_each(|(to, from)| *to += from);
                }
            }
            (terms, depth) = (finer, level);
        }
        // Every bin has the terms of the node above it.
        let leaves = self.levels.len() - 1;
        let node = |row: usize| ((row << leaves) / rows) >> (leaves - depth as usize);
        let of_rows = |values: &[f64]| {
            (0..rows).flat_map(|row| &values[node(row) * classes..][..classes]).copied().collect()
        };
        SingleTable { classes, terms: of_rows(&terms.terms), own: of_rows(&terms.own) }
    }
}

/// The terms of every bin or value of a column.
#[derive(Debug, Clone)]
pub(crate) struct SingleTable {
    classes: usize,
    terms: Vec<f64>,
    /// The term of a row's own class, without the row.
    own: Vec<f64>,
}

impl SingleTable {
    /// Room for so many terms.
    fn empty(terms: usize, classes: usize) -> Self {
        SingleTable { classes, terms: Vec::with_capacity(terms), own: Vec::with_capacity(terms) }
    }

    /// Adds one step down a tree, whose logarithms [`ln`](Self::ln) takes: the counts of each class in parent and child, how many
    /// rows the prior weighs, and the share of the child in all classes together.
    fn push(&mut self, child: &[f64], parent: &[f64], strength: f64, q: f64, unit: f64) {
        let ratio = |child: f64, parent: f64| (child + strength * q) / ((parent + strength) * q);
        let classes = || child.iter().zip(parent);
        self.terms.extend(classes().map(|(&child, &parent)| ratio(child, parent)));
        self.own.extend(
            classes().map(|(child, parent)| ratio((child - unit).max(0.0), (parent - unit).max(0.0))),
        );
    }

    fn ln(mut self) -> Self {
        ln_each(&mut self.terms);
        ln_each(&mut self.own);
        self
    }

    /// The terms of a bin or value, for each class.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.terms[row * self.classes..][..self.classes]
    }

    /// All terms times a weight.
    pub(crate) fn weighted(&self, weight: f64) -> Vec<f64> {
        self.terms.iter().map(|term| weight * term).collect()
    }

    /// The term of this class for one of its own rows, without the row.
    #[inline]
    pub(crate) fn own(&self, row: usize, class: usize) -> f64 {
        self.own[row * self.classes + class]
    }
}

/// The sum of a table over its rows, for each class.
pub(crate) fn totals(table: &[f64], classes: usize) -> Vec<f64> {
    let mut totals = vec![0.0; classes];
    for row in table.chunks_exact(classes) {
        totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
    }
    totals
}

/// Where bins begin among sorted keys and their weights. A few keys have a bin each. Of many, those that weigh twice as much as
/// a bin should have one to themselves, and the rest is cut into bins of equal weight.
pub(crate) fn bins_of(pooled: &[(u64, f64)]) -> Vec<usize> {
    if pooled.len() <= MOST_BINS {
        return (0..pooled.len()).collect();
    }
    let total: f64 = pooled.iter().map(|&(_, weight)| weight).sum();
    let is_heavy = |weight: f64| weight > 2.0 * total / MOST_BINS as f64;
    let heavy = pooled.iter().filter(|&&(_, weight)| is_heavy(weight)).count();
    let light: f64 = pooled.iter().map(|&(_, weight)| weight).filter(|&weight| !is_heavy(weight)).sum();
    let share = light / (MOST_BINS - heavy).max(1) as f64;
    let mut starts = Vec::new();
    let (mut before, mut bin, mut after_heavy) = (0.0, f64::NEG_INFINITY, false);
    for (i, &(_, weight)) in pooled.iter().enumerate() {
        if is_heavy(weight) {
            starts.push(i);
            after_heavy = true;
            continue;
        }
        let own = ((before + 0.5 * weight) / share).floor();
        if own > bin || after_heavy {
            starts.push(i);
        }
        (bin, after_heavy) = (own, false);
        before += weight;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: &[(f64, u32)], classes: usize) -> SingleCounts {
        let mut spectrum = Spectrum::default();
        rows.iter().for_each(|&(x, class)| spectrum.add(x, class, 1.0));
        let classes_in_order: Vec<usize> = (0..classes).collect();
        SingleCounts::of_numbers(&spectrum.canonical(&classes_in_order), classes).unwrap()
    }

    #[test]
    fn heavy_values_do_not_waste_bins() {
        let mut pooled = vec![(0, 9_200.0)];
        pooled.extend((1..=8_00).map(|key| (key, 1.0)));
        let starts = bins_of(&pooled);
        assert_eq!(starts[..2], [0, 1]);
        assert!((200..=256).contains(&starts.len()), "{}", starts.len());
    }

    #[test]
    fn terms_without_a_row_are_those_of_counts_less_the_row() {
        let rows: Vec<(f64, u32)> = (0..40).map(|i| (f64::from(i * i % 13), u32::from(i % 3 == 0))).collect();
        let shrinkage = Shrinkage { strength: 3.0, depth: 8 };
        let all = numbers(&rows, 2);
        let table = all.table(shrinkage, 1.0);
        let Places::Numbers { level, starts } = &all.places else { panic!() };
        for &(x, class) in &rows {
            let bin = Places::bin(starts, *level, x);
            let mut left = all.clone();
            left.counts[bin * 2 + class as usize] -= 1.0;
            // What all classes share, q, stays what it was: it is chosen from all rows.
            let mut tree = left.tree();
            tree.counts = &left;
            let own = path_of(&all, &left, bin, class as usize, shrinkage);
            assert!((table.own(bin, class as usize) - own).abs() < 1e-12);
            assert!(table.own(bin, class as usize) <= table.row(bin)[class as usize]);
        }
    }

    /// The term of a class with the counts of `left` and the splits of `all`.
    fn path_of(
        all: &SingleCounts,
        left: &SingleCounts,
        bin: usize,
        class: usize,
        shrinkage: Shrinkage,
    ) -> f64 {
        let (all, left) = (all.tree(), left.tree());
        let (mut ln, depth) = (0.0, all.levels.len() - 1);
        let leaf = (bin << depth) / all.counts.rows();
        for level in 1..=depth {
            let (child, parent) = (leaf >> (depth - level), leaf >> (depth - level + 1));
            let sum = |row: usize, level: usize| all.levels[level][row * 2..][..2].iter().sum::<f64>();
            let q = (sum(child, level) + 0.5) / (sum(parent, level - 1) + 1.0);
            let strength = shrinkage.strength * level as f64;
            let n = |row: usize, level: usize| left.levels[level][row * 2 + class];
            ln += ((n(child, level) + strength * q) / (n(parent, level - 1) + strength) / q).ln();
        }
        ln
    }
}

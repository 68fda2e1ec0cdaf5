//! Gaussian discriminant analysis: several columns of numbers follow one normal distribution, given the class.
//!
//! ```text
//! log p(x | class) = −½ (d ln 2π + ln |Σ| + (x − μ)ᵀ Σ⁻¹ (x − μ))          in d dimensions
//!
//! μ(c)   = Σ x / n(c)                          over the rows of the class
//! Σ(c)   = Σ (x − μ(c)) (x − μ(c))ᵀ / n(c)     its own covariance: boundaries between classes are quadratic
//! Σ      = Σ n(c) Σ(c) / n                     the shared covariance: boundaries are linear
//! ```
//!
//! These are the maximum likelihood estimates. All of them follow from exact sums: n, Σxᵢ and Σxᵢxⱼ, for each class.
//!
//! Where values are missing, the covariance of two columns is that of the rows in which both are known, about the means
//! of these rows (pairwise complete). To know those means, the weight of the rows in which one column is known and
//! another missing is counted beside the rest, and what the known one holds there. So the covariance of two columns does
//! not depend on which others are in the group, and if nothing is missing nothing more is kept. In scoring, missing
//! columns are integrated out: the others follow the normal distribution with their part of μ and Σ.

mod estimate;
mod normal;
mod regularize;
mod spread;
mod triangle;
mod without_one;

use std::collections::BTreeMap;

pub(crate) use estimate::GroupEstimate;
pub(crate) use normal::{Covariance, GroupLikelihood, Normals};

use crate::error::{Error, Result};
use crate::exact::ExactSum;
use crate::families::counted::CountedNumbers;
use crate::families::number;
use crate::moments::{self, ColumnSums, Moments, pair, pair_count};

/// More pairs of columns than this, classes times, are refused: their sums would take a gigabyte.
pub(crate) const MOST_PAIRS: usize = 1 << 22;

/// The sums of all columns of the group, for each class.
#[derive(Debug, Clone)]
pub(crate) struct GroupStatistics {
    /// Positions of the columns in the schema.
    pub(crate) columns: Vec<usize>,
    pub(crate) classes: Vec<GroupSums>,
}

/// The sums of one class.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupSums {
    /// Of each column.
    pub(crate) moments: Vec<Moments>,
    /// Σ w x y of each pair of columns, over the rows in which neither is missing.
    pub(crate) products: Vec<ExactSum>,
    /// For columns (i, j) what i has shown where j was missing.
    pub(crate) alone: BTreeMap<(usize, usize), KnownWithout>,
}

/// Rows in which one column is known and another is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownWithout {
    pub(crate) weight: ExactSum,
    /// Σ w x of the column that is known.
    pub(crate) sum: ExactSum,
}

impl GroupStatistics {
    pub(crate) fn empty(columns: Vec<usize>) -> Self {
        GroupStatistics { columns, classes: Vec::new() }
    }

    fn grow(&mut self, classes: usize) {
        let empty = GroupSums::empty(self.columns.len());
        self.classes.resize(classes.max(self.classes.len()), empty);
    }

    /// Adds rows, of which each column has been summed.
    pub(crate) fn observe<'s>(
        &mut self,
        numbers: &CountedNumbers<'_>,
        sums: impl Iterator<Item = ColumnSums<'s>>,
        classes: usize,
    ) {
        self.grow(classes);
        for (column, sums) in sums.enumerate() {
            sums.add_to(self.classes.iter_mut().map(|class| &mut class.moments[column]));
        }
        let columns = numbers.columns(&self.columns);
        let table = numbers.table(&columns);
        let products = table.products(classes).expect("infinite numbers were refused with the moments");
        for (class, products) in
            self.classes.iter_mut().zip(products.chunks_exact(pair_count(columns.len()).max(1)))
        {
            class.products.iter_mut().zip(products).for_each(|(all, sum)| all.merge(sum));
        }
        let incomplete = |row: &usize| columns.iter().any(|column| column[*row].is_nan());
        for row in (0..table.classes.len()).filter(incomplete) {
            let values: Vec<f64> = columns.iter().map(|column| column[row]).collect();
            let weight = table.weights.get(row).copied().unwrap_or(1.0);
            self.classes[table.classes[row] as usize].add_alone(&values, weight);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        self.grow(classes);
        for (theirs, &class) in other.classes.iter().zip(class_of) {
            self.classes[class].combine(theirs, sign);
        }
    }

    /// Multiplies all weights by a power of two.
    pub(crate) fn scale(&mut self, power: f64) {
        self.classes.iter_mut().for_each(|sums| sums.scale(power));
    }

    /// The first class of which `other` cannot be a part: it has more rows, or sums that the rest could not have.
    pub(crate) fn first_shortfall(&self, other: &Self, class_of: &[Option<usize>]) -> Option<usize> {
        (0..other.classes.len()).find(|&class| {
            let ours = class_of[class].and_then(|class| self.classes.get(class));
            let mut left = ours.cloned().unwrap_or_else(|| GroupSums::empty(self.columns.len()));
            left.combine(&other.classes[class], -1.0);
            !left.is_possible()
        })
    }

    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let sums = classes.iter().map(|&class| match self.classes.get(class) {
            Some(sums) => sums.canonical(),
            None => GroupSums::empty(self.columns.len()),
        });
        GroupStatistics { columns: self.columns.clone(), classes: sums.collect() }
    }

    /// Whether every column counted rows of just this weight in a class, missing ones included.
    pub(crate) fn counts_all(&self, class: usize, weight: &ExactSum) -> bool {
        self.classes[class].moments.iter().all(|moments| number::counts_rows(moments, weight))
    }

    /// The moments of each column in all classes together.
    pub(crate) fn pooled(&self) -> Vec<Moments> {
        let mut pooled = vec![Moments::default(); self.columns.len()];
        for class in &self.classes {
            pooled.iter_mut().zip(&class.moments).for_each(|(all, moments)| all.merge(moments));
        }
        pooled
    }

    /// Refuses a group whose sums would take all memory.
    pub(crate) fn check_size(&self, classes: usize) -> Result<()> {
        let pairs = pair_count(self.columns.len()).saturating_mul(classes);
        if pairs <= MOST_PAIRS {
            return Ok(());
        }
        Err(Error::GroupTooLarge { columns: self.columns.len(), classes, pairs, limit: MOST_PAIRS })
    }
}

impl GroupSums {
    pub(crate) fn empty(columns: usize) -> Self {
        GroupSums {
            moments: vec![Moments::default(); columns],
            products: vec![ExactSum::default(); pair_count(columns)],
            alone: BTreeMap::new(),
        }
    }

    /// Adds one row, or takes it away if its weight is negative. NaN is missing.
    fn add(&mut self, values: &[f64], weight: f64) {
        for (moments, &x) in self.moments.iter_mut().zip(values) {
            moments.add(x, weight);
        }
        for (i, x) in values.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            for (j, y) in values[..i].iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                self.products[pair(i, j)].add_weighted_product(weight, *x, *y);
            }
        }
        self.add_alone(values, weight);
    }

    fn add_alone(&mut self, values: &[f64], weight: f64) {
        for (j, _) in values.iter().enumerate().filter(|(_, y)| y.is_nan()) {
            for (i, &x) in values.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
                let alone = self.alone.entry((i, j)).or_default();
                alone.weight.add(weight);
                alone.sum.add_product(weight, x);
            }
        }
    }

    /// Adds `sign` times `other`.
    fn combine(&mut self, other: &Self, sign: f64) {
        let combine = |ours: &mut ExactSum, theirs: &ExactSum| match sign > 0.0 {
            true => ours.merge(theirs),
            false => ours.subtract(theirs),
        };
        for (ours, theirs) in self.moments.iter_mut().zip(&other.moments) {
            match sign > 0.0 {
                true => ours.merge(theirs),
                false => ours.subtract(theirs),
            }
        }
        self.products.iter_mut().zip(&other.products).for_each(|(ours, theirs)| combine(ours, theirs));
        for (columns, theirs) in &other.alone {
            let ours = self.alone.entry(*columns).or_default();
            combine(&mut ours.weight, &theirs.weight);
            combine(&mut ours.sum, &theirs.sum);
        }
    }

    fn scale(&mut self, power: f64) {
        self.moments.iter_mut().for_each(|moments| moments.scale(power));
        self.products.iter_mut().for_each(|product| product.scale(power));
        for alone in self.alone.values_mut() {
            alone.weight.scale(power);
            alone.sum.scale(power);
        }
    }

    fn canonical(&self) -> Self {
        let mut sums = self.clone();
        sums.alone.retain(|_, alone| !alone.weight.is_zero() || !alone.sum.is_zero());
        sums
    }

    /// Weight and Σ w x of column i over the rows in which column j is known as well.
    fn beside(&self, i: usize, j: usize) -> (ExactSum, ExactSum) {
        let (mut weight, mut sum) = (self.moments[i].weight.clone(), self.moments[i].sum.clone());
        if let Some(alone) = self.alone.get(&(i, j)) {
            weight.subtract(&alone.weight);
            sum.subtract(&alone.sum);
        }
        (weight, sum)
    }

    /// Whether any rows could have these sums, as far as one can see from two columns at a time: no negative weight or
    /// variance, no correlation beyond 1, and nothing sums to nothing.
    pub(crate) fn is_possible(&self) -> bool {
        let empty_or_positive = |alone: &KnownWithout| {
            alone.weight.is_positive() || alone.weight.is_zero() && alone.sum.is_zero()
        };
        self.moments.iter().all(number::is_possible)
            && self.alone.values().all(empty_or_positive)
            && (1..self.moments.len()).all(|i| (0..i).all(|j| self.pair_is_possible(i, j)))
    }

    fn pair_is_possible(&self, i: usize, j: usize) -> bool {
        let ((weight, x), (same_weight, y)) = (self.beside(i, j), self.beside(j, i));
        let product = &self.products[pair(i, j)];
        if weight != same_weight || weight.is_negative() {
            return false;
        }
        if weight.is_zero() {
            return x.is_zero() && y.is_zero() && product.is_zero();
        }
        // What the squares sum to over some of a column's rows is not known.
        let complete = |i, j| self.alone.get(&(i, j)).is_none_or(|alone| alone.weight.is_zero());
        if !complete(i, j) || !complete(j, i) {
            return true;
        }
        let squares = [&self.moments[i].sum_of_squares, &self.moments[j].sum_of_squares];
        moments::is_possible_pair(&weight, [&x, &y], squares, product)
    }
}

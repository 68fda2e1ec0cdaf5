//! Where rows are as points, and the means and scatters of the points of each class, from sums on the grid.
//!
//! Numbers are points by their distances or normal scores. A column of codes is a point with one coordinate for each code,
//! 2 (1 − p) if the row has the code and −2 p if not, p being the share of the code. What is missing is where the column's mean is.

use std::ops::Range;

use super::Members;
use super::form::dot;
use crate::judgement::grid::{Coded, Grid, UNIT};
use crate::judgement::together::{Layout, Together, View, coarser};

/// The coordinates of a cloud: first the numbers, then the codes of each column.
#[derive(Debug, Clone)]
pub(crate) struct Coordinates {
    view: Option<View>,
    /// The columns of the grid that are numbers here.
    numbers: Vec<usize>,
    pub(super) blocks: Vec<Block>,
    pub(crate) size: usize,
}

/// The codes of a column.
#[derive(Debug, Clone)]
pub(super) struct Block {
    column: usize,
    shift: u32,
    /// Where the first code stands, and the share of each.
    pub(super) start: usize,
    pub(super) shares: Vec<f64>,
}

impl Block {
    /// The weight of the rows of some classes that have each code.
    fn counts(&self, together: &Together, classes: &Range<usize>) -> Vec<f64> {
        let layout = together.layout();
        let mut counts = vec![0.0; self.shares.len()];
        for code in 1..layout.codes[self.column] {
            let cell = layout.singles[self.column] + code;
            counts[coarser(code as u8, self.shift) - 1] +=
                classes.clone().map(|class| together.count(cell, class)).sum::<f64>();
        }
        counts
    }

    /// Of a function of coordinates, makes one of codes: 2 (f(code) − the mean of f over all codes).
    pub(super) fn center(&self, row: &mut [f64]) {
        let of_block = &mut row[self.start..][..self.shares.len()];
        let mean = dot(of_block, &self.shares);
        of_block.iter_mut().for_each(|x| *x = 2.0 * (*x - mean));
    }
}

impl Coordinates {
    pub(crate) fn new(grid: &Grid, layout: &Layout, members: Members) -> Self {
        let (view, columns) = match members {
            Members::Numbers(view) => (Some(view), Vec::new()),
            Members::All(view) => (Some(view), layout.categories.clone()),
            Members::Codes(_) => (None, (0..layout.codes.len()).collect()),
        };
        let numbers = if view.is_some() { layout.numbers.clone() } else { Vec::new() };
        let mut size = numbers.len();
        let blocks = columns.into_iter().map(|column| {
            let scale = &grid.columns[column];
            let shift = if let Members::Codes(most) = members { scale.shift_to(most) } else { 0 };
            let mut shares = vec![0.0; coarser(scale.shares.len() as u8, shift)];
            for (code, share) in (1_u8..).zip(&scale.shares) {
                shares[coarser(code, shift) - 1] += share;
            }
            size += shares.len();
            Block { column, shift, start: size - shares.len(), shares }
        });
        let blocks = blocks.collect();
        Coordinates { view, numbers, blocks, size }
    }

    /// The columns of the grid that have coordinates, which these are, and whether they are numbers.
    pub(super) fn columns(&self) -> impl Iterator<Item = (usize, Range<usize>, bool)> {
        let numbers = self.numbers.iter().enumerate();
        let numbers = numbers.map(|(place, &column)| (column, place..place + 1, true));
        let codes = self.blocks.iter();
        let codes = codes.map(|block| (block.column, block.start..block.start + block.shares.len(), false));
        numbers.chain(codes)
    }

    /// Σ x over the rows of a class.
    fn sum(&self, together: &Together, class: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.size];
        if let Some(view) = self.view {
            let sums = together.sums_of(view, class);
            sum.iter_mut().enumerate().take(self.numbers.len()).for_each(|(a, sum)| *sum = sums.sum(a));
        }
        for block in &self.blocks {
            let counts = block.counts(together, &(class..class + 1));
            let known: f64 = counts.iter().sum();
            for (sum, (n, p)) in sum[block.start..].iter_mut().zip(counts.iter().zip(&block.shares)) {
                *sum = 2.0 * (n - p * known);
            }
        }
        sum
    }

    /// Σ x xᵀ over the rows of some classes.
    fn square(&self, together: &Together, classes: &Range<usize>) -> Vec<f64> {
        let size = self.size;
        let mut square = vec![0.0; size * size];
        let layout = together.layout();
        let mut put = |a: usize, b: usize, x: f64| {
            square[a * size + b] = x;
            square[b * size + a] = x;
        };
        if let Some(view) = self.view {
            let sums: Vec<_> = classes.clone().map(|class| together.sums_of(view, class)).collect();
            let mut first_code = vec![0; layout.codes.len()];
            let mut next = 0;
            for &column in &layout.categories {
                first_code[column] = next;
                next += layout.codes[column];
            }
            for a in 0..self.numbers.len() {
                (0..=a).for_each(|b| put(a, b, sums.iter().map(|sums| sums.product(a, b)).sum()));
                for block in &self.blocks {
                    let place = |code: usize| first_code[block.column] + code;
                    let with_code =
                        |code: usize| sums.iter().map(|sums| sums.by_code(place(code), a)).sum::<f64>();
                    let known: f64 = (1..=block.shares.len()).map(with_code).sum();
                    for (i, share) in block.shares.iter().enumerate() {
                        put(block.start + i, a, 2.0 * (with_code(i + 1) - share * known));
                    }
                }
            }
        }
        for (i, block) in self.blocks.iter().enumerate() {
            let counts = block.counts(together, classes);
            let known: f64 = counts.iter().sum();
            for (v, (n, p)) in counts.iter().zip(&block.shares).enumerate() {
                for (u, (m, q)) in counts.iter().zip(&block.shares).enumerate().take(v + 1) {
                    let both = if u == v { *n } else { 0.0 };
                    put(block.start + v, block.start + u, 4.0 * (both - q * n - p * m + p * q * known));
                }
            }
            for other in &self.blocks[..i] {
                let table = pair_counts(together, other, block, classes);
                let width = block.shares.len();
                let by_other: Vec<f64> = table.chunks_exact(width).map(|row| row.iter().sum()).collect();
                let by_block: Vec<f64> =
                    (0..width).map(|v| table.iter().skip(v).step_by(width).sum()).collect();
                let known: f64 = by_other.iter().sum();
                for (u, q) in other.shares.iter().enumerate() {
                    for (v, p) in block.shares.iter().enumerate() {
                        let x = table[u * width + v] - p * by_other[u] - q * by_block[v] + p * q * known;
                        put(block.start + v, other.start + u, 4.0 * x);
                    }
                }
            }
        }
        square
    }

    /// Where a row is.
    pub(super) fn read(&self, coded: &Coded, row: usize, point: &mut Point) {
        point.numbers.clear();
        point.codes.clear();
        if let Some(view) = self.view {
            let values = match view {
                View::Distances => &coded.distances,
                View::Normals => &coded.normals,
            };
            point.numbers.extend(values.iter().map(|column| f64::from(column[row]) / UNIT));
        }
        for block in &self.blocks {
            let code = coarser(coded.codes[block.column][row], block.shift);
            if code != 0 {
                point.codes.push(block.start + code - 1);
            }
        }
    }
}

/// A row as it is looked up in a [`Form`](super::form::Form).
#[derive(Debug, Default)]
pub(crate) struct Point {
    /// The first coordinates.
    pub(super) numbers: Vec<f64>,
    /// Those of the others that are one; the rest is zero.
    pub(super) codes: Vec<usize>,
}

/// The weight of the rows of some classes for each pair of codes of two columns, the earlier of which comes first in the grid.
fn pair_counts(together: &Together, a: &Block, b: &Block, classes: &Range<usize>) -> Vec<f64> {
    let layout = together.layout();
    let start = layout.pair_start(a.column, b.column);
    let width = layout.codes[b.column];
    let mut counts = vec![0.0; a.shares.len() * b.shares.len()];
    for code_a in 1..layout.codes[a.column] {
        for code_b in 1..width {
            let place =
                (coarser(code_a as u8, a.shift) - 1) * b.shares.len() + coarser(code_b as u8, b.shift) - 1;
            let cell = start + code_a * width + code_b;
            counts[place] += classes.clone().map(|class| together.count(cell, class)).sum::<f64>();
        }
    }
    counts
}

/// Means and scatters of all classes: enough for every covariance.
pub(crate) struct Scatter {
    pub(super) coordinates: Coordinates,
    pub(super) weights: Vec<f64>,
    pub(super) means: Vec<Vec<f64>>,
    /// The scatter of each class, if they are wanted, and of all together.
    pub(super) own: Vec<Vec<f64>>,
    pub(super) within: Vec<f64>,
}

impl Scatter {
    pub(crate) fn new(coordinates: Coordinates, together: &Together, with_own: bool) -> Self {
        let size = coordinates.size;
        let mut scatter = Scatter {
            weights: Vec::new(),
            means: Vec::new(),
            own: Vec::new(),
            within: vec![0.0; size * size],
            coordinates,
        };
        let classes = 0..together.classes;
        for class in classes.clone() {
            let weight = together.class_weight(class);
            let sum = scatter.coordinates.sum(together, class);
            scatter.weights.push(weight);
            scatter.means.push(sum.iter().map(|sum| if weight > 0.0 { sum / weight } else { 0.0 }).collect());
        }
        let scatter_of = |classes: Range<usize>| {
            let mut square = scatter.coordinates.square(together, &classes);
            for class in classes {
                let (weight, mean) = (scatter.weights[class], &scatter.means[class]);
                for (row, m) in square.chunks_exact_mut(size).zip(mean) {
                    row.iter_mut().zip(mean).for_each(|(x, n)| *x -= weight * m * n);
                }
            }
            square
        };
        let own: Vec<Vec<f64>> = match with_own {
            true => classes.clone().map(|class| scatter_of(class..class + 1)).collect(),
            false => vec![scatter_of(classes)],
        };
        for own in &own {
            scatter.within.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
        }
        if with_own {
            scatter.own = own;
        }
        scatter
    }
}

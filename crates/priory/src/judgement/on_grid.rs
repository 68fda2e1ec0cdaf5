//! What statistics count on a grid, beside what they count of every column by itself.

use std::sync::Arc;

use crate::batch::Batch;
use crate::families::CountedRow;
use crate::judgement::grid::Grid;
use crate::judgement::together::{Layout, Together};

/// A grid, and the sums of rows on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OnGrid {
    pub(crate) grid: Arc<Grid>,
    pub(crate) sums: Together,
}

impl OnGrid {
    /// No rows yet.
    pub(crate) fn empty(grid: Arc<Grid>) -> Self {
        let sums = Together::empty(Layout::new(&grid), 0);
        OnGrid { grid, sums }
    }

    /// Adds rows of a batch.
    pub(crate) fn observe(&mut self, batch: &Batch, counted: &[CountedRow], classes: usize) {
        self.sums.grow(classes);
        let rows: Vec<u32> = counted.iter().map(|row| row.row).collect();
        let of_rows: Vec<u32> = counted.iter().map(|row| row.class).collect();
        let weights: Vec<f64> = match batch.weights.is_empty() {
            true => Vec::new(),
            false => rows.iter().map(|&row| batch.weight(row as usize)).collect(),
        };
        self.sums.add(&self.grid.write(batch, &rows), &of_rows, &weights);
    }

    /// Adds `sign` times `other`, which is on the same grid and whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        self.sums.grow(classes);
        self.sums.merge(&other.sums, class_of, sign);
    }

    /// The classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        OnGrid { grid: self.grid.clone(), sums: self.sums.select(classes) }
    }
}

//! What statistics count on a grid, beside what they count of every column by itself.

use std::sync::Arc;

use crate::batch::Batch;
use crate::families::CountedRow;
use crate::judgement::grid::{Coded, Grid};
use crate::judgement::sample::{groups_of, hashes_of};
use crate::judgement::together::{Layout, Together, weight_units};

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

    /// The rows of a sample, written on the grid: their classes, and how many rows hold the same as each.
    pub(crate) fn of_sample(
        grid: Arc<Grid>,
        coded: &Coded,
        batch: &Batch,
        of_rows: &[u32],
        copies: &[f64],
        classes: usize,
        threads: usize,
    ) -> Self {
        let mut on_grid = OnGrid::empty(grid);
        on_grid.sums.grow(classes);
        let weight =
            |(row, copies): (usize, &f64)| weight_units(batch.weight(row)).wrapping_mul(*copies as i64);
        let weights: Vec<i64> = copies.iter().enumerate().map(weight).collect();
        on_grid.sums.add(coded, of_rows, &weights, threads);
        on_grid
    }

    /// Adds rows of a batch, if they are among those that are counted.
    pub(crate) fn observe(&mut self, batch: &Batch, counted: &[CountedRow], classes: usize) {
        self.sums.grow(classes);
        let mut counted = counted.to_vec();
        if self.grid.largest_hash < u64::MAX {
            let hashes = hashes_of(batch, &counted);
            let mut groups = groups_of(batch, &counted, &hashes).into_iter();
            counted.retain(|_| groups.next().is_some_and(|hash| hash <= self.grid.largest_hash));
        }
        let rows: Vec<u32> = counted.iter().map(|row| row.row).collect();
        let of_rows: Vec<u32> = counted.iter().map(|row| row.class).collect();
        let weights: Vec<i64> = rows.iter().map(|&row| weight_units(batch.weight(row as usize))).collect();
        self.sums.add(&self.grid.write(batch, &rows), &of_rows, &weights, 1);
    }

    /// Adds `sign` times `other`, which is on the same grid and whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        self.sums.grow(classes);
        self.sums.merge(&other.sums, class_of, sign);
    }

    /// The same for a schema in which each column stands elsewhere.
    pub(crate) fn with_columns(mut self, place: impl Fn(usize) -> usize) -> Self {
        let grid = Arc::make_mut(&mut self.grid);
        grid.columns.iter_mut().for_each(|column| column.column = place(column.column));
        self
    }

    /// The classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        OnGrid { grid: self.grid.clone(), sums: self.sums.select(classes) }
    }
}

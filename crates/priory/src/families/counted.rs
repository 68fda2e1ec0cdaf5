//! Columns of numbers in the rows that count, ready to be summed.

use std::borrow::Cow;

use crate::batch::Batch;
use crate::families::CountedRow;
use crate::moments::{Infinite, Observations, TableSums, Values};

/// Some columns of a batch, as far as their rows count. All of them are summed at once, which is how sums are fast.
pub(crate) struct CountedNumbers<'b> {
    /// Where the columns are in the schema, ascending.
    positions: Vec<usize>,
    values: Vec<Cow<'b, [f64]>>,
    classes: Vec<u32>,
    weights: Cow<'b, [f64]>,
}

impl<'b> CountedNumbers<'b> {
    pub(crate) fn new(batch: &'b Batch, mut positions: Vec<usize>, counted: &[CountedRow]) -> Self {
        positions.sort_unstable();
        let everything = counted.len() == batch.rows;
        let pick = |values: &'b [f64]| -> Cow<'b, [f64]> {
            match everything || values.is_empty() {
                true => Cow::from(values),
                false => counted.iter().map(|row| values[row.row as usize]).collect(),
            }
        };
        CountedNumbers {
            values: positions.iter().map(|&column| pick(batch.numbers(column))).collect(),
            positions,
            classes: counted.iter().map(|row| row.class).collect(),
            weights: pick(&batch.weights),
        }
    }

    /// The numbers of these columns, which are among those that were picked.
    pub(crate) fn columns(&self, positions: &[usize]) -> Vec<&[f64]> {
        let of =
            |position| self.positions.binary_search(position).expect("every column of numbers was picked");
        positions.iter().map(|position| &*self.values[of(position)]).collect()
    }

    /// The class of each row.
    pub(crate) fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// The weight of each row; empty if every row counts one.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Some columns as a table.
    pub(crate) fn table<'a>(&'a self, columns: &'a [&'a [f64]]) -> Observations<'a> {
        Observations { values: Values::Columns(columns), classes: &self.classes, weights: &self.weights }
    }

    /// The sums of some columns in every class.
    pub(crate) fn sums(&self, positions: &[usize], classes: usize) -> Result<TableSums, Infinite> {
        self.table(&self.columns(positions)).sums(classes)
    }
}

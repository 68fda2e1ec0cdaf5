//! Values: every number is a value of its own, counted and smoothed as in a column of categories.

use super::memo::Memo;
use super::numbers::{NumberColumn, Numbers};
use crate::estimate::{Evidence, Smoother};
use crate::families::lookup::{self, NO_ROW};
use crate::spectrum::Weighed;

/// log P(x | class) for every number of every class, without one row that holds it.
pub(crate) fn ln_without_one(column: &NumberColumn, smoother: &Smoother<f64>) -> Vec<Vec<f64>> {
    let values = column.pooled.cells.len() as f64;
    let of_class = |class: &Numbers| {
        let total: f64 = class.cells.iter().map(|cell| cell.weight).sum();
        let ln = |cell: &Weighed| {
            let rest = Evidence {
                count: (cell.weight - 1.0).max(0.0),
                total: (total - 1.0).max(0.0),
                pooled_count: cell.weight,
                pooled_total: column.pooled.weight,
                cells: 1.0,
                other_cells: values,
            };
            smoother.likelihood(None, &rest).ln()
        };
        class.cells.iter().map(ln).collect()
    };
    column.classes.iter().map(of_class).collect()
}

/// P(x | class) for every number that was seen, and for one that was not.
#[derive(Debug, Clone)]
pub(crate) struct ValuesLikelihood {
    pub(crate) values: Vec<f64>,
    /// The classes side by side; the last row is for a number never seen.
    ln: Vec<f64>,
    classes: usize,
}

impl ValuesLikelihood {
    pub(crate) fn new(column: &NumberColumn, smoother: &Smoother<f64>) -> Self {
        let values: Vec<f64> = column.pooled.cells.iter().map(|cell| cell.value).collect();
        let classes = column.classes.len();
        let mut ln = vec![0.0; (values.len() + 1) * classes];
        for (class, numbers) in column.classes.iter().enumerate() {
            let mut cells = numbers.cells.iter().peekable();
            let total: f64 = numbers.cells.iter().map(|cell| cell.weight).sum();
            for (i, pooled) in column.pooled.cells.iter().enumerate() {
                let count = cells.next_if(|cell| cell.value == pooled.value).map_or(0.0, |cell| cell.weight);
                let seen = Evidence {
                    count,
                    total,
                    pooled_count: pooled.weight,
                    pooled_total: column.pooled.weight,
                    cells: 1.0,
                    other_cells: values.len() as f64 - 1.0,
                };
                ln[i * classes + class] = smoother.likelihood(None, &seen).ln();
            }
            let unseen = Evidence {
                count: 0.0,
                total,
                pooled_count: 0.0,
                pooled_total: column.pooled.weight,
                cells: 1.0,
                other_cells: values.len() as f64,
            };
            ln[values.len() * classes + class] = smoother.likelihood(None, &unseen).ln();
        }
        ValuesLikelihood { values, ln, classes }
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// log P(x | class), and whether x was ever seen.
    pub(crate) fn row(&self, x: f64) -> (&[f64], bool) {
        let row = self.place(x);
        (&self.ln[row * self.classes..][..self.classes], row < self.values.len())
    }

    /// The row of a number; the last, if it was never seen.
    fn place(&self, x: f64) -> usize {
        let place = self.values.binary_search_by(|value| value.total_cmp(&(x + 0.0)));
        place.unwrap_or(self.values.len())
    }

    /// Returns how many numbers were never seen.
    pub(crate) fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        let never_seen = self.values.len() as u32;
        let mut unseen = 0;
        let rows = Memo::map(values, NO_ROW, |x| self.place(x) as u32);
        let counted = rows.inspect(|&row| unseen += u64::from(row == never_seen));
        lookup::add_rows(&self.ln, self.classes, counted, scores);
        unseen
    }
}

//! Values: every number is a value of its own, counted and smoothed as in a column of categories.

use std::sync::Arc;

use super::density::{Densities, Fitted, Parameter, Part};
use super::family::{Fit, How};
use super::memo::Memo;
use super::numbers::NumberColumn;
use super::without_one::{Own, WithoutOne};
use crate::estimate::{Evidence, Smoother};
use crate::families::lookup::{self, NO_ROW};

/// The family: a probability for each number of each class.
pub(super) struct Single;

impl Fit for Single {
    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        Arc::new(ValuesLikelihood::new(column, how.smoother))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        Some(without_one(rest, how.smoother))
    }
}

/// What is counted of every number in every class.
struct Counts<'a> {
    column: &'a NumberColumn,
    /// The classes of a number side by side, the numbers in the order of the column's cells.
    counts: Vec<f64>,
    totals: Vec<f64>,
}

impl<'a> Counts<'a> {
    fn new(column: &'a NumberColumn) -> Self {
        let (values, classes) = (column.pooled.cells.len(), column.classes.len());
        let mut counts = vec![0.0; values * classes];
        for (class, numbers) in column.classes.iter().enumerate() {
            let mut cells = numbers.cells.iter().peekable();
            for (i, pooled) in column.pooled.cells.iter().enumerate() {
                if let Some(cell) = cells.next_if(|cell| cell.value == pooled.value) {
                    counts[i * classes + class] = cell.weight;
                }
            }
        }
        let totals = column.classes.iter().map(|class| class.cells.iter().map(|cell| cell.weight).sum());
        Counts { column, counts, totals: totals.collect() }
    }

    fn count(&self, value: usize, class: usize) -> f64 {
        self.counts[value * self.totals.len() + class]
    }

    /// What the data say about a number in a class.
    fn evidence(&self, value: usize, class: usize) -> Evidence {
        Evidence {
            count: self.count(value, class),
            total: self.totals[class],
            pooled_count: self.column.pooled.cells[value].weight,
            pooled_total: self.column.pooled.weight,
            cells: 1.0,
            other_cells: self.column.pooled.cells.len() as f64 - 1.0,
        }
    }

    /// What the data say about a number that was never seen.
    fn unseen(&self, class: usize) -> Evidence {
        Evidence {
            count: 0.0,
            total: self.totals[class],
            pooled_count: 0.0,
            pooled_total: self.column.pooled.weight,
            cells: 1.0,
            other_cells: self.column.pooled.cells.len() as f64,
        }
    }
}

/// What classes say of their own numbers. Which numbers there are, and how many of each in all classes, stays as all rows
/// say.
fn without_one<'a>(rest: WithoutOne<'a>, smoother: &Smoother<f64>) -> Own<'a> {
    let smoother = smoother.clone();
    let pooled = &rest.column.pooled;
    let pooled_total = pooled.weight;
    let others = pooled.cells.len() as f64 - 1.0;
    let totals: Vec<f64> =
        rest.column.classes.iter().map(|class| class.cells.iter().map(|cell| cell.weight).sum()).collect();
    Box::new(move |class, x, weight| {
        let pooled = &rest.column.pooled;
        let evidence = Evidence {
            count: rest.count(class, x, weight),
            total: (totals[class] - weight).max(0.0),
            pooled_count: pooled.cell_of(x).map_or(0.0, |cell| pooled.cells[cell].weight),
            pooled_total,
            cells: 1.0,
            other_cells: others,
        };
        smoother.likelihood(None, &evidence).ln()
    })
}

/// P(x | class) for every number that was seen, and for one that was not.
#[derive(Debug, Clone)]
struct ValuesLikelihood {
    values: Vec<f64>,
    /// The classes side by side; the last row is for a number never seen.
    ln: Vec<f64>,
    classes: usize,
}

impl ValuesLikelihood {
    fn new(column: &NumberColumn, smoother: &Smoother<f64>) -> Self {
        let values: Vec<f64> = column.pooled.cells.iter().map(|cell| cell.value).collect();
        let classes = column.classes.len();
        let counts = Counts::new(column);
        let ln = |evidence: Evidence| smoother.likelihood(None, &evidence).ln();
        let seen = (0..values.len())
            .flat_map(|value| (0..classes).map(move |class| (value, class)))
            .map(|(value, class)| ln(counts.evidence(value, class)));
        let ln = seen.chain((0..classes).map(|class| ln(counts.unseen(class)))).collect();
        ValuesLikelihood { values, ln, classes }
    }

    /// The row of a number; the last, if it was never seen.
    fn place(&self, x: f64) -> usize {
        let place = self.values.binary_search_by(|value| value.total_cmp(&(x + 0.0)));
        place.unwrap_or(self.values.len())
    }
}

impl Densities for ValuesLikelihood {
    fn classes(&self) -> usize {
        self.classes
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn free_parameters(&self) -> usize {
        self.classes * self.values.len().saturating_sub(1)
    }

    fn parts(&self, column: &NumberColumn) -> Vec<Part> {
        let counts = Counts::new(column);
        let part = |(value, x): (usize, &f64)| Part {
            name: x.to_string(),
            count: (0..self.classes).map(|class| counts.count(value, class)).collect(),
            probability: self.ln(*x).into_iter().map(libm::exp).collect(),
        };
        self.values.iter().enumerate().map(part).collect()
    }

    fn met(&self, x: f64) -> bool {
        x.is_nan() || self.place(x) < self.values.len()
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        let never_seen = self.values.len() as u32;
        let mut unseen = 0;
        let rows = Memo::map(values, NO_ROW, |x| self.place(x) as u32);
        let counted = rows.inspect(|&row| unseen += u64::from(row == never_seen));
        lookup::add_rows(&self.ln, self.classes, counted, scores);
        unseen
    }
}

//! Rows of a table as points in the plane of two columns of numbers.

use crate::{Batch, BatchColumn, Error, Model, Result};

/// A row: its class, by its place among those of the model, and its two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The class.
    pub class: usize,
    /// The number that grows to the right.
    pub across: f64,
    /// The number that grows upwards.
    pub up: f64,
}

/// Takes rows, batch after batch, and keeps some of them, evenly spread over the table.
#[derive(Debug)]
pub struct Points {
    columns: [usize; 2],
    classes: Vec<String>,
    kept: Vec<Point>,
    /// One row in so many is kept.
    every: usize,
    rows: usize,
}

/// More points than this hide each other; beyond twice as many, every other one goes.
const MOST_POINTS: usize = 2000;

impl Points {
    /// None yet, of these two columns of a model.
    ///
    /// # Errors
    /// If one of them is not a column of numbers.
    pub fn new(model: &Model, columns: &[String]) -> Result<Self> {
        let schema = model.schema();
        let position = |name: &String| {
            let position =
                schema.position(name).filter(|&position| schema.columns[position].kind.is_number());
            position.ok_or_else(|| Error::NoPicture(format!("`{name}` is not a column of numbers")))
        };
        let [across, up] = columns else {
            let said = "points are drawn in the plane of two columns of numbers; name both";
            return Err(Error::NoPicture(said.to_owned()));
        };
        let columns = [position(across)?, position(up)?];
        Ok(Points { columns, classes: model.classes().to_vec(), kept: Vec::new(), every: 1, rows: 0 })
    }

    /// Takes the rows of a batch. Those without one of the numbers, or of a class that the model does not know, are passed over.
    pub fn add(&mut self, batch: &Batch) {
        let place = |name: &str| self.classes.iter().position(|class| class == name);
        let classes: Vec<Option<usize>> = batch.classes.values.names().map(place).collect();
        let [Some(across), Some(up)] = self.columns.map(|column| match &batch.columns[column] {
            BatchColumn::Number(values) => Some(values),
            _ => None,
        }) else {
            return;
        };
        for ((&code, &across), &up) in batch.classes.codes.iter().zip(across).zip(up) {
            let class = (code as usize).checked_sub(1).and_then(|id| classes[id]);
            let Some(class) = class.filter(|_| !across.is_nan() && !up.is_nan()) else { continue };
            if self.rows.is_multiple_of(self.every) {
                self.kept.push(Point { class, across, up });
            }
            self.rows += 1;
            if self.kept.len() > 2 * MOST_POINTS {
                let mut stays = false;
                self.kept.retain(|_| {
                    stays = !stays;
                    stays
                });
                self.every *= 2;
            }
        }
    }

    /// The points that were kept, and how many rows there were.
    pub fn kept(self) -> (Vec<Point>, usize) {
        (self.kept, self.rows)
    }
}

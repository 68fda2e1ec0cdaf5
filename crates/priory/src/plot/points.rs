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
    /// The points, and the keys of their rows.
    kept: Vec<(u64, Point)>,
    /// Rows with a key up to this are kept.
    last_key: u64,
    rows: u64,
}

/// More points than this hide each other; beyond twice as many, about every other one goes.
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
        Ok(Points {
            columns,
            classes: model.classes().to_vec(),
            kept: Vec::new(),
            last_key: u64::MAX,
            rows: 0,
        })
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
            // Multiples of the golden ratio, without their whole parts, are spread evenly, and have no period that a table could
            // have as well.
            let key = self.rows.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.rows += 1;
            if key <= self.last_key {
                self.kept.push((key, Point { class, across, up }));
            }
            if self.kept.len() > 2 * MOST_POINTS {
                self.last_key /= 2;
                self.kept.retain(|(key, _)| *key <= self.last_key);
            }
        }
    }

    /// The points that were kept, and how many rows there were.
    pub fn kept(self) -> (Vec<Point>, u64) {
        (self.kept.into_iter().map(|(_, point)| point).collect(), self.rows)
    }
}

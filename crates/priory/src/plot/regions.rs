//! Two columns of numbers: which class is the most probable where, and where the rows of each class lie.

use crate::{Model, Result};

use super::contour::{Heights, Piece};
use super::points::Point;

/// A map with evenly spaced points, from the lower left row by row.
#[derive(Debug, Clone)]
pub struct Regions {
    /// What grows to the right.
    pub across: Axis,
    /// What grows upwards.
    pub up: Axis,
    /// At each point the most probable class and its probability.
    pub best: Vec<(usize, f64)>,
    /// Lines around what holds these shares of each class, in units of the map's columns and rows.
    pub contours: Vec<Vec<Piece>>,
    /// Rows of data, if they were asked for.
    pub points: Vec<Point>,
}

/// A column along a side of the map.
#[derive(Debug, Clone)]
pub struct Axis {
    /// The column.
    pub name: String,
    /// Where the map begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// How many points there are on the way.
    pub points: usize,
}

impl Axis {
    fn new(name: &str, (low, high): (f64, f64), points: usize) -> Self {
        Axis { name: name.to_owned(), low, high, points }
    }

    fn at(&self, i: usize) -> f64 {
        self.low + (i as f64 + 0.5) * (self.high - self.low) / self.points as f64
    }
}

/// The shares of a class that its lines go around.
pub(super) const SHARES: [f64; 2] = [0.5, 0.9];

impl Regions {
    pub(super) fn new(
        model: &Model,
        names: (&str, &str),
        ranges: ((f64, f64), (f64, f64)),
        points: (usize, usize),
    ) -> Result<Self> {
        let (across, up) = (Axis::new(names.0, ranges.0, points.0), Axis::new(names.1, ranges.1, points.1));
        let places = (0..points.1).flat_map(|row| (0..points.0).map(move |column| (column, row)));
        let places: Vec<Vec<f64>> = places.map(|(column, row)| vec![across.at(column), up.at(row)]).collect();
        let ln = model.log_densities(&[names.0, names.1], &places)?;
        let classes = model.classes().len();
        let posterior = model.posterior_at(&[names.0, names.1], &places)?;
        let most_probable = |row: usize| (posterior.best(row), posterior.row(row)[posterior.best(row)]);
        let best = (0..places.len()).map(most_probable).collect();
        let contours = (0..classes).map(|class| {
            let of_class: Vec<f64> = ln.iter().skip(class).step_by(classes).copied().collect();
            lines(&of_class, points.0)
        });
        Ok(Regions { contours: contours.collect(), across, up, best, points: Vec::new() })
    }
}

/// Lines of equal density around the given shares of what is on the map.
fn lines(ln: &[f64], columns: usize) -> Vec<Piece> {
    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return Vec::new();
    }
    let heights: Vec<f64> = ln.iter().map(|ln| (ln - most).exp()).collect();
    let mut down = heights.clone();
    down.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = down.iter().sum();
    let level = |share: f64| {
        let mut sum = 0.0;
        let reached = down.iter().find(|&&height| {
            sum += height;
            sum >= share * total
        });
        reached.copied().unwrap_or(0.0)
    };
    let heights = Heights { columns, values: &heights };
    SHARES.iter().flat_map(|&share| heights.contour(level(share))).collect()
}

//! What a class says of one of its own numbers, as if a row that holds it had not been there.
//!
//! What all classes share stays as all rows say: the spread of the column and what is believed of every class beforehand,
//! bins, bandwidths, the strength of smoothing. A single row moves it little, so what the other classes say of the number
//! stays as well, and a row is never more probable for having been left out of what it has chosen itself. The cuts of `mdl`
//! were drawn with the classes in view and are judged too kindly.
//!
//! How is said by each family in its own file: [`Fit::without_one`](super::family::Fit::without_one).

use std::ops::Deref;
use std::sync::Arc;

use super::NumberStatistics;
use super::numbers::{NumberColumn, Numbers};

/// log p(x | class) without a row of this class and weight that holds x: `own(class, x, weight)`.
pub(crate) type Own<'a> = Box<dyn Fn(usize, f64, f64) -> f64 + Send + Sync + 'a>;

/// A column and where it was read from, to be asked what is left of a class.
#[derive(Clone)]
pub(crate) struct WithoutOne<'a> {
    pub(crate) statistics: Counted<'a>,
    pub(crate) column: Arc<NumberColumn>,
}

/// Statistics of a column: those of the model, or of a part of its numbers.
#[derive(Clone)]
pub(crate) enum Counted<'a> {
    Borrowed(&'a NumberStatistics),
    Shared(Arc<NumberStatistics>),
}

impl Deref for Counted<'_> {
    type Target = NumberStatistics;

    fn deref(&self) -> &NumberStatistics {
        match self {
            Counted::Borrowed(statistics) => statistics,
            Counted::Shared(statistics) => statistics,
        }
    }
}

impl WithoutOne<'_> {
    /// The moments of what is left of a class. Where a row is nearly all there was, they come from the exact sums.
    pub(crate) fn moments(&self, class: usize, x: f64, weight: f64) -> Numbers {
        self.column.classes[class].moments_without(x, weight).unwrap_or_else(|| {
            let mut moments = self.statistics.moments[class].clone();
            moments.add(x, -weight);
            Numbers::from_moments(&moments)
        })
    }

    /// What a class still counts of a number.
    pub(crate) fn count(&self, class: usize, x: f64, weight: f64) -> f64 {
        let spectrum = self.statistics.spectrum.as_ref();
        spectrum.map_or(0.0, |spectrum| spectrum.count_without(x, class, weight)).max(0.0)
    }

    /// The numbers that are left of a class, and their moments: slow, and for where a row is nearly all there was.
    pub(crate) fn cells(&self, class: usize, x: f64, weight: f64) -> Numbers {
        let numbers = &self.column.classes[class];
        let mut cells = numbers.cells.clone();
        if let Some(cell) = numbers.cell_of(x) {
            cells[cell].weight = self.count(class, x, weight);
            cells.retain(|cell| cell.weight > 0.0);
        }
        Numbers::from_cells(cells)
    }
}

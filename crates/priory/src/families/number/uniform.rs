//! Uniform family: every number between the least and the greatest of a class is as likely as any other.

use super::background::{Background, Share};
use super::numbers::{NumberColumn, Numbers};

/// A range, and the imagined rows beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Uniform {
    pub(crate) low: f64,
    pub(crate) high: f64,
    share: Share,
    background: Background,
}

impl Uniform {
    pub(crate) fn fit(column: &NumberColumn) -> Vec<Uniform> {
        let background = Background::of(column);
        // A single number is as wide as the difference between two can be seen.
        let least_width = column.resolution().unwrap_or(1.0);
        let uniform = |class: &Numbers| {
            Uniform::between(class.least(), class.greatest(), least_width, Share::of(class), background)
        };
        column.classes.iter().map(uniform).collect()
    }

    fn between(low: f64, high: f64, least_width: f64, share: Share, background: Background) -> Self {
        let missing = (0.5 * (least_width - (high - low))).max(0.0);
        Uniform { low: low - missing, high: high + missing, share, background }
    }

    /// Without its only row, an end of the range moves to the next number.
    pub(crate) fn ln_without_one(column: &NumberColumn) -> Vec<Vec<f64>> {
        let background = Background::of(column);
        let least_width = column.resolution().unwrap_or(1.0);
        let of_class = |class: &Numbers| {
            let share = Share::of_weight((class.weight - 1.0).max(0.0));
            let ends = |i: usize| {
                let single = class.cells[i].weight <= 1.0;
                let first = usize::from(i == 0 && single);
                let last = class.cells.len() - 1 - usize::from(i + 1 == class.cells.len() && single);
                (class.cells.get(first).map(|cell| cell.value), class.cells.get(last).map(|cell| cell.value))
            };
            let ln = |i: usize| {
                let x = class.cells[i].value;
                match ends(i) {
                    (Some(low), Some(high)) if low <= high => {
                        Uniform::between(low, high, least_width, share, background).ln(x)
                    }
                    _ => background.ln_with(x, &share, 0.0),
                }
            };
            (0..class.cells.len()).map(ln).collect()
        };
        column.classes.iter().map(of_class).collect()
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        let inside = self.low <= x && x <= self.high;
        let density = if inside { 1.0 / (self.high - self.low) } else { 0.0 };
        self.background.ln_with(x, &self.share, density)
    }
}

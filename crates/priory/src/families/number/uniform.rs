//! Uniform family: every number between the least and the greatest of a class is as likely as any other.

use super::background::{Background, Share};
use super::numbers::NumberColumn;

/// A range, and the imagined row beside it.
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
        let uniforms = column.classes.iter().map(|class| {
            let (low, high) = (class.least(), class.greatest());
            let missing = (0.5 * (least_width - (high - low))).max(0.0);
            Uniform { low: low - missing, high: high + missing, share: Share::of(class), background }
        });
        uniforms.collect()
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        let inside = self.low <= x && x <= self.high;
        let density = if inside { 1.0 / (self.high - self.low) } else { 0.0 };
        self.background.ln_with(x, &self.share, density)
    }
}

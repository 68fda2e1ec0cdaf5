//! Uniform family: every number between the least and the greatest of a class is as likely as any other.

use super::background::{Background, Share};
use super::density::{Density, Fitted, of_each_class};
use super::family::{Fit, How, Needs};
use super::numbers::{NumberColumn, Numbers};
use super::without_one::{Own, WithoutOne};

/// The family: a range for each class.
pub(super) struct Ranges;

impl Fit for Ranges {
    fn needs(&self) -> Needs {
        Needs::Spread
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_each_class(Uniform::fit(column))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(Uniform::without_one(rest))
    }
}

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

    /// What classes say of their own numbers: without its only row, an end of the range moves to the next number.
    pub(crate) fn without_one<'a>(rest: WithoutOne<'a>) -> Own<'a> {
        let background = Background::of(&rest.column);
        let least_width = rest.column.resolution().unwrap_or(1.0);
        Box::new(move |class, x, weight| {
            let numbers = &rest.column.classes[class];
            let share = Share::of_weight((numbers.weight - weight).max(0.0));
            let (mut first, mut end) = (0, numbers.cells.len());
            if rest.count(class, x, weight) == 0.0 {
                first += usize::from(numbers.cell_of(x) == Some(0));
                end -= usize::from(numbers.cell_of(x) == Some(end - 1));
            }
            match numbers.cells.get(first..end) {
                Some([low, .., high]) => {
                    Uniform::between(low.value, high.value, least_width, share, background).ln(x)
                }
                Some([only]) => {
                    Uniform::between(only.value, only.value, least_width, share, background).ln(x)
                }
                _ => background.ln_with(x, &share, 0.0),
            }
        })
    }
}

impl Density for Uniform {
    const PARAMETERS: &'static [&'static str] = &["least", "greatest"];

    fn parameters(&self) -> Vec<f64> {
        vec![self.low, self.high]
    }

    fn free_parameters(&self) -> usize {
        2
    }

    fn ln(&self, x: f64) -> f64 {
        let inside = self.low <= x && x <= self.high;
        // A density is a number as well: a range is taken to be as wide as the narrowest whose density is one.
        let density = if inside { 1.0 / (self.high - self.low).max(f64::MIN_POSITIVE) } else { 0.0 };
        self.background.ln_with(x, &self.share, density)
    }
}

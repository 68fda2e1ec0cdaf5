//! Gamma family: x > 0, p(x) = rate^shape x^(shape − 1) e^(−rate x) / Γ(shape).
//!
//! Maximum likelihood has rate = shape / mean, and the shape solves ln shape − ψ(shape) = s with s = ln(mean of x) −
//! mean of ln x (Minka 2002 gives the iteration). A class is given one more row of the column's own s, so that one
//! whose numbers are all equal does not rule out every other.

use std::f64::consts::PI;

use super::density::{Density, Fitted, of_each_class};
use super::family::{Fit, How, Support};
use super::numbers::{NumberColumn, Numbers, unit};
use super::without_one::{Own, WithoutOne};

/// The family: a gamma distribution for each class.
pub(super) struct SeveralEvents;

impl Fit for SeveralEvents {
    fn support(&self) -> Support {
        Support::AboveZero
    }

    fn fit(&self, column: &NumberColumn, _: &How<'_>) -> Fitted {
        of_each_class(Gamma::fit_all(column))
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        Some(Gamma::without_one(rest))
    }
}

/// Larger shapes are a single number for all that matters.
const LARGEST_SHAPE: f64 = 1e100;

/// shape ln shape − shape − ln Γ(shape), which for large shapes is a small difference of large numbers, and then Stirling's
/// series.
pub(crate) fn stirling_rest(shape: f64) -> f64 {
    if shape < 100.0 {
        return shape * libm::log(shape) - shape - libm::lgamma(shape);
    }
    let square = shape * shape;
    0.5 * libm::log(shape / (2.0 * PI))
        - (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / shape
}

/// A gamma distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gamma {
    pub(crate) shape: f64,
    pub(crate) rate: f64,
    mean: f64,
}

/// What is needed of some numbers: weight, mean, mean of logarithms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogMean {
    weight: f64,
    mean: f64,
    mean_of_ln: f64,
}

impl LogMean {
    pub(crate) fn of(numbers: &Numbers) -> Self {
        let ln = numbers.map(libm::log);
        LogMean { weight: numbers.weight, mean: numbers.mean, mean_of_ln: ln.mean }
    }

    /// `None` if the row is nearly all there is, so that the difference would have no digits left.
    fn without(self, x: f64, weight: f64) -> Option<Self> {
        const FEWEST_LEFT: f64 = 1e-4;
        let rest = self.weight - weight;
        let digits_left = rest > FEWEST_LEFT * self.weight
            && self.weight * self.mean - weight * x > FEWEST_LEFT * self.weight * self.mean;
        digits_left.then(|| LogMean {
            weight: rest,
            mean: self.mean + (self.mean - x) * weight / rest,
            mean_of_ln: self.mean_of_ln + (self.mean_of_ln - libm::log(x)) * weight / rest,
        })
    }

    fn s(self) -> f64 {
        (libm::log(self.mean) - self.mean_of_ln).max(0.0)
    }
}

impl Gamma {
    pub(crate) fn fit_all(column: &NumberColumn) -> Vec<Gamma> {
        let everybody = LogMean::of(&column.pooled);
        column.classes.iter().map(|class| Gamma::fit(LogMean::of(class), everybody)).collect()
    }

    pub(crate) fn fit(class: LogMean, everybody: LogMean) -> Gamma {
        let class = if class.weight > 0.0 { class } else { everybody };
        let unit = unit(class.weight + 1.0);
        let s = (class.weight * unit * class.s() + everybody.s() * unit) / ((class.weight + 1.0) * unit);
        if !(s > 0.0 && s.is_finite()) {
            return Gamma { shape: 1.0, rate: 1.0, mean: 1.0 }; // all numbers are equal: the column says nothing
        }
        let mut shape = (3.0 - s + libm::sqrt((s - 3.0) * (s - 3.0) + 24.0 * s)) / (12.0 * s);
        for _ in 0..20 {
            let slope = 1.0 / shape - trigamma(shape);
            let step = (libm::log(shape) - digamma(shape) - s) / slope;
            let next = if step < shape { shape - step } else { 0.5 * shape };
            let close = (next - shape).abs() <= 1e-15 * shape;
            shape = next;
            if close {
                break;
            }
        }
        Gamma::new(shape.min(LARGEST_SHAPE), class.mean)
    }

    fn new(shape: f64, mean: f64) -> Gamma {
        let rate = shape / mean;
        // The rate of very small or very large numbers may be beyond what an f64 holds, where their mean is not.
        Gamma { shape, rate, mean: if rate.is_normal() { shape / rate } else { mean } }
    }

    /// What classes say of their own numbers. What everybody is like stays as all rows say.
    pub(crate) fn without_one<'a>(rest: WithoutOne<'a>) -> Own<'a> {
        let everybody = LogMean::of(&rest.column.pooled);
        let classes: Vec<LogMean> = rest.column.classes.iter().map(LogMean::of).collect();
        Box::new(move |class, x, weight| {
            let left = classes[class].without(x, weight);
            Gamma::fit(left.unwrap_or_else(|| LogMean::of(&rest.cells(class, x, weight))), everybody).ln(x)
        })
    }
}

impl Density for Gamma {
    const PARAMETERS: &'static [&'static str] = &["shape", "rate"];

    fn parameters(&self) -> Vec<f64> {
        vec![self.shape, self.rate]
    }

    fn free_parameters(&self) -> usize {
        2
    }

    fn ln(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return f64::NEG_INFINITY;
        }
        // With u = x / mean: shape (ln u − (u − 1)) − ln x + what depends on the shape alone. Where all numbers of a class are
        // nearly the same, the shape is enormous, and nothing but small terms may be multiplied by it.
        let mean = self.mean;
        let excess = (x - mean) / mean;
        if excess.is_infinite() {
            return f64::NEG_INFINITY;
        }
        let ln_u = if excess.abs() < 0.5 { libm::log1p(excess) } else { libm::log(x) - libm::log(mean) };
        self.shape * (ln_u - excess) + stirling_rest(self.shape) - libm::log(x)
    }
}

/// ψ(x) for x > 0: the recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18).
fn digamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    libm::log(x) - 0.5 / x - series - below
}

/// ψ′(x) for x > 0, likewise (6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0))));
    1.0 / x + 0.5 * y + series / x + below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enormous_shapes_lose_no_digits() {
        for shape in [100.0, 150.0, 1000.0] {
            let direct = shape * libm::log(shape) - shape - libm::lgamma(shape);
            assert!((stirling_rest(shape) - direct).abs() < 1e-15 * shape * libm::log(shape), "{shape}");
        }
        // Then it is a Gaussian of deviation mean / √shape; 1e300 is as unlikely as can be, not undefined.
        let gamma = Gamma::new(1e20, 1e9);
        let deviation = 1e9 / libm::sqrt(gamma.shape);
        let peak = -libm::log(libm::sqrt(2.0 * PI) * deviation);
        assert!((gamma.ln(1e9) - peak).abs() < 1e-12);
        assert_eq!(Gamma::new(LARGEST_SHAPE, 1e9).ln(1e300), f64::NEG_INFINITY);
        assert_eq!(Gamma::new(2.0, 2e-300).ln(1e300), f64::NEG_INFINITY);
    }

    #[test]
    fn psi_at_known_places() {
        // −γ and π²/6; ψ(½) = −γ − 2 ln 2, ψ′(½) = π²/2.
        let gamma = 0.577_215_664_901_532_9;
        let pi = std::f64::consts::PI;
        for (found, expected) in [
            (digamma(1.0), -gamma),
            (digamma(0.5), -gamma - 2.0 * std::f64::consts::LN_2),
            (trigamma(1.0), pi * pi / 6.0),
            (trigamma(0.5), pi * pi / 2.0),
        ] {
            assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }
    }
}

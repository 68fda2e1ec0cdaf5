//! Gamma family: x > 0, p(x) = rate^shape x^(shape − 1) e^(−rate x) / Γ(shape).
//!
//! Maximum likelihood has rate = shape / mean, and the shape solves ln shape − ψ(shape) = s with s = ln(mean of x) −
//! mean of ln x (Minka 2002 gives the iteration). A class is given one more row of the column's own s, so that one
//! whose numbers are all equal does not rule out every other.

use super::numbers::{NumberColumn, Numbers};

/// A gamma distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gamma {
    pub(crate) shape: f64,
    pub(crate) rate: f64,
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

    pub(crate) fn without(self, x: f64) -> Self {
        let rest = self.weight - 1.0;
        if rest <= 0.0 {
            return LogMean { weight: 0.0, ..self };
        }
        LogMean {
            weight: rest,
            mean: self.mean + (self.mean - x) / rest,
            mean_of_ln: self.mean_of_ln + (self.mean_of_ln - libm::log(x)) / rest,
        }
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
        let s = (class.weight * class.s() + everybody.s()) / (class.weight + 1.0);
        if !(s > 0.0 && s.is_finite()) {
            return Gamma { shape: 1.0, rate: 1.0 }; // all numbers are equal: the column says nothing
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
        Gamma { shape, rate: shape / class.mean }
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return f64::NEG_INFINITY;
        }
        self.shape * libm::log(self.rate) - libm::lgamma(self.shape) + (self.shape - 1.0) * libm::log(x)
            - self.rate * x
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
    let series = y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)));
    1.0 / x + 0.5 * y + series / x + below
}

#[cfg(test)]
mod tests {
    use super::*;

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

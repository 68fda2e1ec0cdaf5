//! Round numbers along an axis.

/// Where a number lies on an axis, and what is written there.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The number.
    pub at: f64,
    /// The number as it is written.
    pub label: String,
}

/// At most about this many round numbers between two ends: multiples of 1, 2 or 5 times a power of ten.
pub fn ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let rough = (high - low) / most.max(1) as f64;
    if !(rough > 0.0 && rough.is_finite()) {
        return Vec::new();
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|&step| step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // Far from zero a step can be smaller than what numbers can tell apart.
    let count = if last - first < 1e3 { (last - first) as usize + 1 } else { 0 };
    let places = (0..count).map(|i| (first + i as f64) * step);
    places.map(|at| Tick { at, label: label(at, step, low.abs().max(high.abs())) }).collect()
}

/// A number with as many digits as the step between two needs.
fn label(x: f64, step: f64, largest: f64) -> String {
    let x = if x.abs() < step / 2.0 { 0.0 } else { x };
    if (1e-5..1e12).contains(&step) && largest < 1e15 || largest < 1e12 && step >= 1e-5 {
        let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
        return format!("{x:.decimals$}");
    }
    let digits = ((largest / step).log10() + 1e-9).floor().clamp(0.0, 16.0) as usize;
    format!("{x:.digits$e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> String {
        ticks(low, high, most).into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 1.0, 5), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(-0.3, 0.3, 4), "-0.2 0.0 0.2");
        assert_eq!(labels(0.0, 0.3, 3), "0.0 0.1 0.2 0.3");
        assert_eq!(labels(171.0, 232.0, 6), "180 200 220");
        assert_eq!(
            labels(1_699_999_000.0, 1_700_001_000.0, 4),
            "1699999000 1699999500 1700000000 1700000500 1700001000"
        );
        assert_eq!(labels(0.0, 3e-9, 3), "0e0 1e-9 2e-9 3e-9");
        assert_eq!(labels(-1e300, 1e300, 4), "-1e300 -5e299 0e0 5e299 1e300");
    }

    #[test]
    fn there_are_none_where_there_is_no_room() {
        assert_eq!(ticks(1.0, 1.0, 5), []);
        assert_eq!(ticks(f64::MIN, f64::MAX, 5), []);
        assert_eq!(ticks(1.0, f64::NAN, 5), []);
        let next = f64::from_bits(1e300_f64.to_bits() + 1);
        assert!(ticks(1e300, next, 5).len() < 10);
    }
}

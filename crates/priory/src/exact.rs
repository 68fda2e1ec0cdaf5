//! Sums of f64 that lose nothing.
//!
//! A sum is kept as a short list of terms whose exact total is the exact total of everything added so far
//! (Shewchuk 1997, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates",
//! GROW-EXPANSION). So adding and subtracting commute, associate and undo each other to the last bit, whatever
//! the weights; rounding happens once, when the sum is read.

/// The exact sum of any number of finite values.
///
/// ```
/// let mut sum = priory::ExactSum::default();
/// for x in [1e16, 1.0, -1e16] {
///     sum.add(x);
/// }
/// assert_eq!(sum.value(), 1.0); // plain f64 addition gives 0
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    /// Non-overlapping, none of them zero, smallest magnitude first.
    terms: Vec<f64>,
}

impl ExactSum {
    /// Adds `x`. The caller keeps the total below the largest f64; an infinite total could not be taken back.
    pub fn add(&mut self, x: f64) {
        let mut carried = x;
        let mut kept = 0;
        for i in 0..self.terms.len() {
            let (sum, error) = two_sum(carried, self.terms[i]);
            if error != 0.0 {
                self.terms[kept] = error;
                kept += 1;
            }
            carried = sum;
        }
        self.terms.truncate(kept);
        if carried != 0.0 {
            self.terms.push(carried);
        }
    }

    /// Adds everything that went into `other`.
    pub fn merge(&mut self, other: &ExactSum) {
        for &term in &other.terms {
            self.add(term);
        }
    }

    /// Takes away everything that went into `other`.
    pub fn subtract(&mut self, other: &ExactSum) {
        for &term in &other.terms {
            self.add(-term);
        }
    }

    /// The f64 nearest to the exact sum, ties to even.
    pub fn value(&self) -> f64 {
        let mut descending = self.terms.iter().rev().copied();
        let Some(mut value) = descending.next() else { return 0.0 };
        let mut rest = 0.0;
        for term in descending.by_ref() {
            (value, rest) = two_sum(value, term);
            if rest != 0.0 {
                break;
            }
        }
        // `rest` is at most half a unit in the last place. If it is exactly half, the terms below it decide.
        if let Some(next) = descending.next()
            && (rest < 0.0) == (next < 0.0)
        {
            let doubled = 2.0 * rest;
            let rounded_away = value + doubled;
            if rounded_away - value == doubled {
                value = rounded_away;
            }
        }
        value
    }

    /// Multiplies by a power of two, which loses nothing as long as every term [`can_be_halved`] as often.
    pub(crate) fn scale(&mut self, power: f64) {
        self.terms.iter_mut().for_each(|term| *term *= power);
    }

    /// Whether every term can be halved so many times.
    pub(crate) fn can_be_halved(&self, times: u32) -> bool {
        self.terms.iter().all(|&term| can_be_halved(term, times))
    }

    /// Whether the exact sum is below zero.
    pub fn is_negative(&self) -> bool {
        self.terms.last().is_some_and(|&largest| largest < 0.0)
    }

    /// Whether the exact sum is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The one canonical way to write the sum: its value, then the value of what remains, and so on.
    pub fn canonical_terms(&self) -> Vec<f64> {
        let mut rest = self.clone();
        let mut terms = Vec::new();
        while !rest.is_zero() {
            let value = rest.value();
            terms.push(value);
            rest.add(-value);
        }
        terms
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = ExactSum::default();
        values.into_iter().for_each(|x| sum.add(x));
        sum
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        let mut difference = self.clone();
        difference.subtract(other);
        difference.is_zero()
    }
}

/// a + b as the rounded sum and the exact error of that rounding (Knuth).
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Whether x can be halved so many times and doubled as often without losing a bit.
pub(crate) fn can_be_halved(x: f64, times: u32) -> bool {
    let power = libm::ldexp(1.0, -(times as i32));
    x * power / power == x
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use num_traits::{ToPrimitive, Zero};
    use proptest::prelude::*;

    fn finite() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-1000i32..1000).prop_map(f64::from),
            (-1e3..1e3f64),
            (any::<u64>(), -300i32..300)
                .prop_map(|(bits, exponent)| { (bits as i64 as f64) * 2f64.powi(exponent) }),
            Just(5e-324),
            Just(-0.0),
        ]
    }

    proptest! {
        #[test]
        fn value_is_the_correctly_rounded_total(values in prop::collection::vec(finite(), 0..40)) {
            let sum: ExactSum = values.iter().copied().collect();
            let exact = values.iter().fold(BigRational::zero(), |total, &x| total + BigRational::from_float(x).unwrap());
            prop_assert_eq!(sum.value(), exact.to_f64().unwrap());
            prop_assert_eq!(sum.is_zero(), exact.is_zero());
            prop_assert_eq!(sum.is_negative(), exact < BigRational::zero());
        }

        #[test]
        fn order_and_detours_leave_no_trace(
            mut values in prop::collection::vec(finite(), 0..30),
            others in prop::collection::vec(finite(), 0..30),
            seed in any::<u64>(),
        ) {
            let straight: ExactSum = values.iter().copied().collect();
            let middle = seed as usize % (values.len() + 1);
            values.rotate_left(middle);
            let mut detour: ExactSum = values.iter().copied().collect();
            let other: ExactSum = others.iter().copied().collect();
            detour.merge(&other);
            detour.subtract(&other);
            prop_assert_eq!(&straight, &detour);
            prop_assert_eq!(straight.canonical_terms(), detour.canonical_terms());
        }
    }

    #[test]
    fn ties_go_to_even_unless_something_smaller_decides() {
        let half = 2f64.powi(-53);
        let sum: ExactSum = [1.0, half].into_iter().collect();
        assert_eq!(sum.value(), 1.0);
        let sum: ExactSum = [1.0, half, 1e-300].into_iter().collect();
        assert_eq!(sum.value(), 1.0 + 2.0 * half);
        assert_eq!(sum.canonical_terms().len(), 3);
    }
}

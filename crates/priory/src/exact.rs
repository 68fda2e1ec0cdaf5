//! Sums of f64 and of their products that lose nothing.
//!
//! Every finite f64 is m · 2^e with whole m, |m| < 2^53 and −1074 ≤ e ≤ 971. So a product of two or three of them
//! is a whole number of at most 106 or 159 bits times a power of two, and adding it in fixed point loses nothing:
//!
//! ```text
//! value = Σ limbs[i] · 2^(64 (low + i)),    two's complement: the last limb carries the sign
//! ```
//!
//! Only the limbs between the smallest and the largest bit in use are stored. A sum of measurements takes two or
//! three of them, 1e300 beside 1e-300 takes 33; nothing is ever out of range. So adding and subtracting commute, associate
//! and undo each other to the last bit, whatever the weights; rounding happens once, when the sum is read.
//!
//! Tables of sums keep what is simple in fewer bytes, and have one of these beside them for the cells that need it:
//! `Tally` an f64 for each cell, which is what a model file holds; `Cells`
//! an i32 and fixed point, which loops over matrices add to fastest.

use num_bigint::BigInt;

use crate::moments::round::round;

/// An exact sum of values and of products of values; rounded once, when it is read.
///
/// ```
/// use priory::exact::ExactSum;
///
/// let mut sum = ExactSum::default();
/// for x in [1e300, 1.0, 1e-300, -1e300] {
///     sum.add(x);
/// }
/// assert_eq!(sum.value(), 1.0);
/// sum.add(-1.0);
/// assert_eq!(sum.value(), 1e-300);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    /// Two's complement, least significant first. The two highest bits are equal, so that adding anything below
    /// the last limb cannot overflow. Empty is zero.
    limbs: Vec<u64>,
    /// The first limb counts multiples of 2^(64 low).
    low: i32,
}

// Adding. Values and weights are finite: what is infinite or missing never gets this far.
impl ExactSum {
    /// Adds x.
    pub fn add(&mut self, x: f64) {
        let x = Binary::of(x);
        self.add_bits(x.negative, [x.mantissa], x.exponent);
    }

    /// Adds a whole number.
    pub(crate) fn add_count(&mut self, count: u64) {
        self.add_bits(false, [count], 0);
    }

    /// Adds x².
    pub fn add_square(&mut self, x: f64) {
        let x = Binary::of(x);
        self.add_bits(false, halves(product(x.mantissa, x.mantissa)), 2 * x.exponent);
    }

    /// Adds x·y.
    pub fn add_product(&mut self, x: f64, y: f64) {
        let (x, y) = (Binary::of(x), Binary::of(y));
        let bits = halves(product(x.mantissa, y.mantissa));
        self.add_bits(x.negative != y.negative, bits, x.exponent + y.exponent);
    }

    /// Adds w·x·y.
    pub fn add_weighted_product(&mut self, weight: f64, x: f64, y: f64) {
        let (w, x, y) = (Binary::of(weight), Binary::of(x), Binary::of(y));
        let [low, high] = halves(product(x.mantissa, y.mantissa));
        let (low, carry) = w.mantissa.carrying_mul(low, 0);
        let (middle, high) = w.mantissa.carrying_mul(high, carry);
        let negative = w.negative ^ x.negative ^ y.negative;
        self.add_bits(negative, [low, middle, high], w.exponent + x.exponent + y.exponent);
    }

    /// Adds x · 2^exponent.
    pub(crate) fn add_whole(&mut self, x: i128, exponent: i32) {
        self.add_bits(x < 0, halves(x.unsigned_abs()), exponent);
    }

    /// Adds everything that went into `other`.
    pub fn merge(&mut self, other: &ExactSum) {
        self.combine(other, 0);
    }

    /// Takes away everything that went into `other`.
    pub fn subtract(&mut self, other: &ExactSum) {
        self.combine(other, !0);
    }

    /// Adds w · `other`.
    pub fn merge_weighted(&mut self, weight: f64, other: &ExactSum) {
        let w = Binary::of(weight);
        for (i, index) in (0..other.limbs.len()).zip(other.low..) {
            let bits = halves(product(w.mantissa, other.magnitude(i)));
            self.add_bits(w.negative != other.is_negative(), bits, w.exponent + 64 * index);
        }
        self.trim();
    }

    /// Multiplies by w.
    pub(crate) fn scale(&mut self, weight: f64) {
        let before = std::mem::take(self);
        self.merge_weighted(weight, &before);
    }

    /// Adds ± bits · 2^exponent.
    #[inline]
    fn add_bits<const N: usize>(&mut self, negative: bool, bits: [u64; N], exponent: i32) {
        if bits == [0; N] {
            return;
        }
        let (start, shift) = (exponent.div_euclid(64), exponent.rem_euclid(64));
        // One limb for what the shift moves up, one so that the sum stays below the last limb.
        self.cover(start, start + N as i32 + 2);
        let (shifted, rest) = self.limbs[(start - self.low) as usize..].split_at_mut(N + 1);
        let (mut below, mut carry) = (0, false);
        for (limb, bits) in shifted.iter_mut().zip(bits.into_iter().chain([0])) {
            let term = (bits << shift) | (below >> 1 >> (63 - shift));
            (*limb, carry) =
                if negative { limb.borrowing_sub(term, carry) } else { limb.carrying_add(term, carry) };
            below = bits;
        }
        for limb in rest {
            if !carry {
                break;
            }
            (*limb, carry) = if negative { limb.overflowing_sub(1) } else { limb.overflowing_add(1) };
        }
        self.guard();
    }

    /// Adds `other`, or takes it away if `flip` is all ones: −a = !a + 1.
    fn combine(&mut self, other: &ExactSum, flip: u64) {
        if other.limbs.is_empty() {
            return;
        }
        self.cover(other.low, other.low + other.limbs.len() as i32 + 1);
        let sign = other.limbs.last().map_or(0, |&last| sign_of(last));
        let terms = other.limbs.iter().copied().chain(std::iter::repeat(sign));
        let mut carry = flip != 0;
        for (limb, term) in self.limbs[(other.low - self.low) as usize..].iter_mut().zip(terms) {
            (*limb, carry) = limb.carrying_add(term ^ flip, carry);
        }
        self.guard();
        self.trim();
    }
}

// Reading.
impl ExactSum {
    /// Whether the exact sum is zero.
    pub fn is_zero(&self) -> bool {
        self.limbs.iter().all(|&limb| limb == 0)
    }

    /// Whether the exact sum is below zero.
    pub fn is_negative(&self) -> bool {
        self.limbs.last().is_some_and(|&limb| limb >> 63 == 1)
    }

    /// Whether the exact sum is above zero.
    pub fn is_positive(&self) -> bool {
        !self.is_negative() && !self.is_zero()
    }

    /// The f64 nearest to the exact sum, ties to even; infinite beyond the largest f64.
    pub fn value(&self) -> f64 {
        let Some(highest) = (0..self.limbs.len()).rev().find(|&i| self.magnitude(i) != 0) else { return 0.0 };
        // The two highest limbs hold at least 65 bits. Of those below it matters only whether one is set.
        let below = if highest == 0 { 0 } else { self.magnitude(highest - 1) };
        let bits = (u128::from(self.magnitude(highest)) << 64) | u128::from(below);
        let inexact = self.limbs[..highest.saturating_sub(1)].iter().any(|&limb| limb != 0);
        round(self.is_negative(), bits, inexact, 64 * (i64::from(self.low) + highest as i64 - 1))
    }

    /// The one canonical way to write a sum of f64 as such: its value, then the value of what remains, and so on. What is
    /// beyond the largest f64 has none.
    pub fn canonical_terms(&self) -> Vec<f64> {
        let (mut rest, mut terms) = (self.clone(), Vec::new());
        loop {
            let value = rest.value();
            if value == 0.0 || !value.is_finite() {
                return terms;
            }
            terms.push(value);
            rest.add(-value);
        }
    }

    /// Whether the terms that it is written as can be halved this many times.
    pub(crate) fn can_be_halved(&self, times: u32) -> bool {
        self.canonical_terms().into_iter().all(|term| can_be_halved(term, times))
    }

    /// The exact sum as a whole number times a power of two.
    pub(crate) fn scaled(&self) -> (BigInt, i64) {
        let bytes: Vec<u8> = self.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        (BigInt::from_signed_bytes_le(&bytes), 64 * i64::from(self.low))
    }

    /// The i-th limb of the absolute value. Negation leaves trailing zeros alone, negates the limb above them and
    /// inverts the rest.
    fn magnitude(&self, i: usize) -> u64 {
        let limb = self.limbs[i];
        if !self.is_negative() {
            limb
        } else if self.limbs[..i].iter().all(|&lower| lower == 0) {
            limb.wrapping_neg()
        } else {
            !limb
        }
    }
}

// The canonical form: the shortest two's complement, in bytes, without trailing zeros.
impl ExactSum {
    /// Appends the canonical bytes: exponent in bytes (i16) and length (u16), then as many bytes of two's
    /// complement; all little-endian. The same sum gives the same bytes, however it was reached.
    pub fn write(&self, out: &mut Vec<u8>) {
        let bytes: Vec<u8> = self.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let mut digits = &bytes[zeros..];
        while let [.., next, last] = digits
            && is_sign_of(*last, *next)
        {
            digits = &digits[..digits.len() - 1];
        }
        let exponent = if digits.is_empty() { 0 } else { 8 * self.low + zeros as i32 };
        out.extend_from_slice(&(exponent as i16).to_le_bytes());
        out.extend_from_slice(&(digits.len() as u16).to_le_bytes());
        out.extend_from_slice(digits);
    }

    /// Takes a sum off the front of `bytes`; `None` if they are not what [`ExactSum::write`] writes.
    pub fn read(bytes: &mut &[u8]) -> Option<ExactSum> {
        let (&[e0, e1, n0, n1], rest) = bytes.split_first_chunk()?;
        let exponent = i32::from(i16::from_le_bytes([e0, e1]));
        let (digits, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([n0, n1])))?;
        let canonical = match digits {
            [] => exponent == 0,
            [0, ..] => false,
            [.., next, last] => !is_sign_of(*last, *next),
            [_] => true,
        };
        if !canonical || exponent < LOWEST_BYTE || exponent + digits.len() as i32 > HIGHEST_BYTE {
            return None;
        }
        *bytes = rest;
        let Some(&last) = digits.last() else { return Some(ExactSum::default()) };
        let mut wide = ExactSum { limbs: Vec::new(), low: exponent.div_euclid(8) };
        let sign = if last >> 7 == 1 { 0xff } else { 0 };
        let mut padded = vec![0; exponent.rem_euclid(8) as usize];
        padded.extend_from_slice(digits);
        padded.resize(padded.len().next_multiple_of(8), sign);
        wide.limbs.extend(padded.as_chunks().0.iter().map(|&limb| u64::from_le_bytes(limb)));
        wide.guard();
        Some(wide)
    }
}

/// No term reaches lower than three times the smallest f64, 2^(−3 · 1074), nor does a sum of 2^128 products of
/// three of the largest reach 2^(3 · 1024 + 128); a sum read from a file stays within.
const LOWEST_BYTE: i32 = -3 * 1074 / 8 - 8;
const HIGHEST_BYTE: i32 = (3 * 1024 + 128) / 8;

/// Whether `last` only repeats the sign of the byte before it.
fn is_sign_of(last: u8, next: u8) -> bool {
    last == if next >> 7 == 1 { 0xff } else { 0 }
}

// The window of limbs.
impl ExactSum {
    /// Makes the limbs from `start` to before `end` part of the window.
    #[inline]
    fn cover(&mut self, start: i32, end: i32) {
        if start < self.low || self.low + (self.limbs.len() as i32) < end || self.limbs.is_empty() {
            self.widen(start, end);
        }
    }

    #[cold]
    fn widen(&mut self, start: i32, end: i32) {
        if self.limbs.is_empty() {
            self.low = start;
        }
        let sign = self.limbs.last().map_or(0, |&last| sign_of(last));
        let missing_below = (self.low - start).max(0);
        self.limbs.splice(0..0, std::iter::repeat_n(0, missing_below as usize));
        self.low -= missing_below;
        let length = (end - self.low) as usize;
        if self.limbs.len() < length {
            self.limbs.resize(length, sign);
        }
    }

    /// Restores the two equal highest bits.
    #[inline]
    fn guard(&mut self) {
        if let Some(&last) = self.limbs.last()
            && !is_guarded(last)
        {
            self.limbs.push(sign_of(last));
        }
    }

    /// Drops the limbs that say nothing, so that a sum that was large for a while gets short again.
    fn trim(&mut self) {
        while let [.., next, last] = self.limbs[..]
            && last == sign_of(next)
            && is_guarded(next)
        {
            self.limbs.pop();
        }
        let zeros = self.limbs.iter().take_while(|&&limb| limb == 0).count();
        self.limbs.drain(..zeros);
        self.low = if self.limbs.is_empty() { 0 } else { self.low + zeros as i32 };
    }
}

/// The limb that would follow this one as the last: all ones if it is negative.
fn sign_of(last: u64) -> u64 {
    (last as i64 >> 63) as u64
}

/// Whether the two highest bits are equal.
fn is_guarded(last: u64) -> bool {
    (last ^ (last << 1)) >> 63 == 0
}

/// Two sums are equal if their exact values are.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        let trimmed = |wide: &ExactSum| {
            let mut wide = wide.clone();
            wide.trim();
            (wide.low, wide.limbs)
        };
        trimmed(self) == trimmed(other)
    }
}

impl Eq for ExactSum {}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = ExactSum::default();
        values.into_iter().for_each(|x| sum.add(x));
        sum
    }
}

impl From<u64> for ExactSum {
    fn from(count: u64) -> Self {
        let mut sum = ExactSum::default();
        sum.add_count(count);
        sum
    }
}

/// A finite f64 taken apart: ± mantissa · 2^exponent.
struct Binary {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl Binary {
    #[inline]
    fn of(x: f64) -> Binary {
        debug_assert!(x.is_finite(), "only finite numbers have a sum");
        let bits = x.to_bits();
        let (fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32 & 0x7ff);
        // Subnormal numbers have the exponent of the smallest normal ones, without the leading bit.
        let mantissa = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Binary { negative: bits >> 63 == 1, mantissa, exponent: biased.max(1) - 1075 }
    }
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// The lower and the upper half.
fn halves(bits: u128) -> [u64; 2] {
    [bits as u64, (bits >> 64) as u64]
}

/// a + b as the rounded sum and the exact error of that rounding (Knuth).
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Whether x can be halved this many times and doubled as often without losing a bit.
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

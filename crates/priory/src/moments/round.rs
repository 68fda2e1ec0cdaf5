//! Rounding, once: from an exact number to the nearest f64, ties to even.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

/// ± bits · 2^exponent as an f64, where `inexact` says that the exact number is a little more than `bits`, by less
/// than one unit. Unless they are exact, `bits` must be 65 at least, so that this unit is beyond what is rounded.
pub(crate) fn round(negative: bool, bits: u128, inexact: bool, exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    // 1.… · 2^magnitude keeps 53 bits, or as many as there are above 2^-1074.
    let aligned = bits << bits.leading_zeros();
    let magnitude = exponent + 127 - i64::from(bits.leading_zeros());
    let kept_bits = (magnitude + 1075).min(53);
    if kept_bits < 0 {
        return if negative { -0.0 } else { 0.0 };
    }
    if magnitude > 1023 {
        return if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let kept = (aligned >> 1 >> (127 - kept_bits)) as u64;
    let cut = aligned << kept_bits;
    let half = 1 << 127;
    let up = cut > half || cut == half && (inexact || kept & 1 == 1);
    // The leading bit of `kept` adds one to the exponent field, and a carry out of `kept` another one.
    let field = (magnitude + 1022).max(0) as u64;
    let rounded = (field << 52) + kept + u64::from(up);
    f64::from_bits(u64::from(negative) << 63 | rounded)
}

/// numerator / denominator · 2^exponent as an f64; the denominator is positive.
pub(crate) fn round_ratio(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> f64 {
    if numerator.is_zero() {
        return 0.0;
    }
    // Shifted so that the quotient has 66 or 67 bits.
    let shift = 66 + denominator.bits() as i64 - numerator.bits() as i64;
    let (dividend, divisor) = match usize::try_from(shift) {
        Ok(shift) => (numerator.abs() << shift, denominator.clone()),
        Err(_) => (numerator.abs(), denominator << shift.unsigned_abs()),
    };
    let quotient = &dividend / &divisor;
    let inexact = &quotient * divisor != dividend;
    let bits = quotient.to_u128().expect("67 bits fit");
    round(numerator.is_negative(), bits, inexact, exponent - shift)
}

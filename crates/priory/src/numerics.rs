//! Logarithms and exponentials for inner loops: the same bits on every platform, no branches, so that the compiler can take
//! several at once. And the order of numbers as that of whole numbers.

use crate::moments::engine::vectorized;

/// ln 2 in two parts, the first with enough zeros at its end to be multiplied by an exponent without rounding.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The bits of √½, up to where they no longer matter.
const ROOT_HALF: u64 = 0x3fe6_a09e_0000_0000;

/// x = 2^k m with m between √½ and √2, for a positive, finite, normal x: the bits of k + 1023, and m.
#[inline(always)]
fn split(x: f64) -> (u64, f64) {
    // Adding the distance from √½ to 1 carries into the exponent just where m would be above √2.
    let shifted = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - ROOT_HALF);
    (shifted >> 52, f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + ROOT_HALF))
}

/// ln (2^k (1 + f)) = k ln 2 + ln(1 + f), with ln(1 + f) = 2 artanh s = 2 s + s³ R(s²), s = f / (2 + f), with the minimax
/// polynomial that Sun's C library made known. `exponent` is k + 1023.
#[inline(always)]
fn ln_from(exponent: u64, f: f64) -> f64 {
    // A whole number becomes a float by being written into the lowest bits of one.
    let k = f64::from_bits(0x4330_0000_0000_0000 | exponent) - (4_503_599_627_370_496.0 + 1023.0);
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = w * (0.399_999_999_994_094_2 + w * (0.222_221_984_321_497_84 + w * 0.153_138_376_992_093_73));
    let even = z
        * (0.666_666_666_666_673_5
            + w * (0.285_714_287_436_623_9 + w * (0.181_835_721_616_180_5 + w * 0.147_981_986_051_165_86)));
    let half_square = 0.5 * f * f;
    let correction = s * (half_square + odd + even);
    k * LN_2_HIGH - ((half_square - (correction + k * LN_2_LOW)) - f)
}

/// ln x within an ulp. Where it replaced the function of `libm`, a text model is estimated about 1.6 times as fast.
#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    if !(x.is_normal() && x > 0.0) {
        return libm::log(x);
    }
    let (exponent, m) = split(x);
    ln_from(exponent, m - 1.0)
}

/// Replaces each x, which is positive, finite and normal, by ln x.
pub(crate) fn ln_each(xs: &mut [f64]) {
    vectorized(
        #[inline(always)]
        move || {
            for x in xs {
                let (exponent, m) = split(*x);
                *x = ln_from(exponent, m - 1.0);
            }
        },
    );
}

/// Up to here ln(1 + x) is [`ln_1p_small`].
pub(crate) const SMALL: f64 = 1.0 / 1024.0;

/// ln(1 + x) of an x from zero to [`SMALL`], within an ulp: what the series leaves out is less than 2⁻⁶² of it.
#[inline(always)]
pub(crate) fn ln_1p_small(x: f64) -> f64 {
    let rest = 1.0 / 3.0 - x * (1.0 / 4.0 - x * (1.0 / 5.0 - x * (1.0 / 6.0)));
    x - x * x * (0.5 - x * rest)
}

/// ln(1 + x) of an x of zero or more, also where 1 + x rounds; NaN if x is infinite.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let y = 1.0 + x;
    let (exponent, m) = split(y);
    // What rounding took from 1 + x, or added to it, divided by 2^k.
    let lost = (x - (y - 1.0)) * f64::from_bits((2046 - exponent.min(2045)) << 52);
    let large = ln_from(exponent, (m - 1.0) + lost);
    if x <= SMALL { ln_1p_small(x) } else { large }
}

/// e^x of an x from −700 to 700, within an ulp.
///
/// x = k ln 2 + r with |r| ≤ ½ ln 2, and e^r = 1 + r + r c / (2 − c), c = r − r² P(r²), with the minimax polynomial that
/// Sun's C library made known.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Added to a number, this leaves the nearest whole number in its lowest bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let (high, low) = (x - k * LN_2_HIGH, k * LN_2_LOW);
    let r = high - low;
    let z = r * r;
    let c = r - z
        * (0.166_666_666_666_666_02
            + z * (-0.002_777_777_777_701_559_3
                + z * (6.613_756_321_437_934e-5
                    + z * (-1.653_390_220_546_525_2e-6 + z * 4.138_136_797_057_238_5e-8))));
    let power = 1.0 + (r * c / (2.0 - c) - low + high);
    f64::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// The bits of a number, turned so that they sort as numbers do: −∞ first, ∞ last, −0 as 0. Numbers of opposite sign
/// mirror each other, whatever low bits are dropped.
#[inline]
pub(crate) fn ordered_bits(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number that has these [`ordered_bits`].
pub(crate) fn from_ordered_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

/// The fewest low bits without which at most this many of some sorted numbers are distinct, from the bits in which
/// neighbours differ: two become one when the highest of these goes.
pub(crate) fn bits_to_drop(differences: impl Iterator<Item = u64>, most: usize) -> u32 {
    let mut parted_by = [0usize; 64];
    for bit in differences.filter_map(u64::checked_ilog2) {
        parted_by[bit as usize] += 1;
    }
    let mut distinct = 1;
    for bit in (0..64).rev() {
        distinct += parted_by[bit as usize];
        if distinct > most {
            return bit + 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ulps(found: f64, expected: f64) -> f64 {
        (found - expected).abs() / (expected.abs() * f64::EPSILON).max(f64::MIN_POSITIVE)
    }

    #[test]
    fn logarithms_of_powers_of_two_are_as_good_as_they_get() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln_1p(0.0), 0.0);
        assert_eq!(ln(2.0), std::f64::consts::LN_2);
        assert_eq!(ln(0.5), -std::f64::consts::LN_2);
        assert_eq!([ln(0.0), ln(f64::INFINITY)], [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(ln(5e-324), libm::log(5e-324));
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn logarithms_agree_with_libm(exponent in -1022.0..1023.0f64, part in 0.5..2.0f64) {
            for x in [part * libm::exp2(exponent * 0.99), part, 1.0 + (part - 1.0) * 1e-6] {
                prop_assert!(ulps(ln(x), libm::log(x)) <= 1.0, "{x}: {} {}", ln(x), libm::log(x));
            }
        }

        #[test]
        fn exponentials_agree_with_libm(x in -700.0..700.0f64) {
            for x in [x, x * 1e-3, x * 1e-9] {
                prop_assert!(ulps(exp(x), libm::exp(x)) <= 1.0, "{x}: {} {}", exp(x), libm::exp(x));
            }
        }

        #[test]
        fn small_additions_are_not_lost(exponent in -60.0..60.0f64) {
            let x = libm::exp2(exponent);
            prop_assert!(ulps(ln_1p(x), libm::log1p(x)) <= 2.0, "{x}: {} {}", ln_1p(x), libm::log1p(x));
        }
    }
}

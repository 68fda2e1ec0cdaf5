//! Logarithms for inner loops: the same bits on every platform, no branches, so that the compiler can take several at once.

/// ln 2 in two parts, the first with enough zeros at its end to be multiplied by an exponent without rounding.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// ln x of a positive, finite, normal x, within an ulp.
///
/// x = 2^k m with m between √½ and √2, and ln m = 2 artanh s = 2 s + s³ R(s²), s = (m − 1) / (m + 1), with the minimax
/// polynomial that Sun's C library made known.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    // Adding the distance from √½ to 1 carries into the exponent just where m would be above √2.
    const CARRY: u64 = 0x3ff0_0000_0000_0000 - 0x3fe6_a09e_0000_0000;
    let shifted = x.to_bits().wrapping_add(CARRY);
    let k = ((shifted >> 52) as i64 - 1023) as f64;
    let m = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + 0x3fe6_a09e_0000_0000);
    let f = m - 1.0;
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

/// ln(1 + x) of an x of zero or more, also where 1 + x rounds.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let y = 1.0 + x;
    // What rounding took from 1 + x, or added to it, changes the logarithm by that share.
    ln(y) + (x - (y - 1.0)) / y
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
    }

    proptest! {
        #[test]
        fn logarithms_agree_with_libm(exponent in -1022.0..1023.0f64, part in 0.5..2.0f64) {
            for x in [part * libm::exp2(exponent * 0.99), part, 1.0 + (part - 1.0) * 1e-6] {
                prop_assert!(ulps(ln(x), libm::log(x)) <= 1.0, "{x}: {} {}", ln(x), libm::log(x));
            }
        }

        #[test]
        fn small_additions_are_not_lost(exponent in -60.0..60.0f64) {
            let x = libm::exp2(exponent);
            prop_assert!(ulps(ln_1p(x), libm::log1p(x)) <= 2.0, "{x}: {} {}", ln_1p(x), libm::log1p(x));
        }
    }
}

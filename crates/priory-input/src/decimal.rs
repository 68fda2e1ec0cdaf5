//! Short plain decimal numbers, which nearly all numbers in tables are, without a loop over their digits.
//!
//! Up to eight characters are taken together as one word: a point is cut out, what is left must be digits, and three
//! multiplications add these up. Mantissa and power of ten are small enough to be f64 themselves, so one division gives
//! the f64 nearest to the number (Clinger 1990, "How to Read Floating Point Numbers Accurately"). Everything else is
//! left to a parser that knows more.

use std::ops::Range;

/// The number that stands in this field of a text, if it is written plainly: digits, perhaps with a point among them
/// and a minus before them, at most eight characters after that, and eight bytes of text from there on.
#[inline(always)]
pub(crate) fn plain_decimal(text: &[u8], field: Range<usize>) -> Option<f64> {
    let negative = text.get(field.start) == Some(&b'-');
    let start = field.start + usize::from(negative);
    let bytes = text.get(start..)?.first_chunk::<8>()?;
    let length = field.end.wrapping_sub(start);
    if !(1..=8).contains(&length) {
        return None;
    }

    const ONES: u64 = u64::MAX / 0xff;
    const POINT: u64 = (b'.' ^ b'0') as u64;
    // The last character is moved into the top byte; zeros fill up from below, as leading digits.
    let mut digits = (u64::from_le_bytes(*bytes) ^ (b'0' as u64 * ONES)) << (8 * (8 - length));
    // The top bit of each byte above 9 is set. A carry can disturb the bytes above such a one, but none below.
    let others = (digits.wrapping_add(0x76 * ONES) | digits) & (0x80 * ONES);
    let mut decimals = 0;
    if others != 0 {
        let at = others.trailing_zeros() - 7;
        let is_point = (digits >> at) & 0xff == POINT && others & (others - 1) == 0;
        if !is_point || length == 1 {
            return None;
        }
        let below = digits & ((1 << at) - 1);
        digits = (digits & (!0xff << at)) | (below << 8);
        decimals = 7 - at / 8;
    }
    // Pairs of digits, then fours, then all.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let mantissa = (fours * 10_000 + (fours >> 32)) as u32;
    let value = f64::from(mantissa) / POWERS_OF_TEN[decimals as usize & 7];
    // Not a branch: signs come as they like, and would be guessed wrongly half of the time.
    Some(f64::from_bits(value.to_bits() | u64::from(negative) << 63))
}

const POWERS_OF_TEN: [f64; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The number as it would stand in a table, with other fields around it.
    fn parsed(spelling: &str) -> Option<f64> {
        let text = format!("a,{spelling},17 or more bytes\n");
        plain_decimal(text.as_bytes(), 2..2 + spelling.len())
    }

    #[test]
    fn plain_numbers_are_read() {
        for spelling in [
            "0",
            "-0",
            "7",
            "-7.5",
            ".5",
            "5.",
            "-.25",
            "00012",
            "3.14159",
            "99999999",
            "-.0000001",
            "-0000000.",
        ] {
            let expected: f64 = spelling.parse().unwrap();
            assert_eq!(parsed(spelling).map(f64::to_bits), Some(expected.to_bits()), "{spelling}");
        }
    }

    #[test]
    fn everything_else_is_left_to_others() {
        for spelling in [
            "", "-", ".", "-.", "--1", "+1", "1e5", "1.2.3", "1..", " 1", "1 ", "1-", "NaN", "é", "1é",
            "0x10", "1_0",
        ] {
            assert_eq!(parsed(spelling), None, "{spelling}");
        }
        assert_eq!(parsed("123456789"), None, "nine digits");
        assert_eq!(plain_decimal(b"1.5\n", 0..3), None, "too near to the end of the text");
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_what_the_standard_library_reads(spelling in "[-]?[0-9.:/é ]{0,9}") {
            if let Some(value) = parsed(&spelling) {
                let expected: f64 = spelling.parse().expect("what is read is a number");
                prop_assert_eq!(value.to_bits(), expected.to_bits());
            }
        }

        #[test]
        fn short_numbers_are_read(whole in 0_u32..10_000, decimals in "[0-9]{0,3}", negative: bool) {
            let spelling = format!("{}{whole}.{decimals}", if negative { "-" } else { "" });
            let expected: f64 = spelling.parse().unwrap();
            prop_assert_eq!(parsed(&spelling).map(f64::to_bits), Some(expected.to_bits()));
        }
    }
}

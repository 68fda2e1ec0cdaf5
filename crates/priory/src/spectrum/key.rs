//! Keys: the bits of a number, rearranged so that they sort as numbers do, and without the lowest few.

use crate::numerics::ordered_bits;

/// The bits of the magnitude of a number; they sort as magnitudes do.
#[inline]
pub(super) fn size(x: f64) -> u64 {
    x.to_bits() & !SIGN
}

const SIGN: u64 = 1 << 63;

/// The magnitude that the numbers of a cell share, without the dropped bits, and whether they are negative.
pub(super) fn size_of(key: u64, level: u32) -> (u64, bool) {
    let zero = SIGN >> level;
    if key >= zero { (key - zero, false) } else { (zero - 1 - key, true) }
}

/// The key of the cell of numbers with this magnitude and sign.
pub(super) fn key_of(size: u64, is_negative: bool, level: u32) -> u64 {
    let zero = SIGN >> level;
    if is_negative { zero - 1 - size } else { zero + size }
}

/// The number in the middle of a cell, if that is finite; at level 0, the number that the key stands for.
pub(super) fn number(key: u64, level: u32) -> f64 {
    let middle = if level == 0 { 0 } else { 1_u64 << (level - 1) };
    let x = from_bits((key << level) | middle);
    if x.is_finite() { x } else { f64::MAX.copysign(x) }
}

/// The number of a cell that is written with the fewest digits; of several, the one next to the middle.
pub(crate) fn shortest_number(key: u64, level: u32) -> f64 {
    /// As many as it can take.
    const MOST_DIGITS: usize = 17;
    let middle = number(key, level);
    let is_inside = |x: &f64| x.is_finite() && ordered_bits(*x) >> level == key;
    let rounded = (0..MOST_DIGITS).map(|decimals| format!("{middle:.decimals$e}"));
    let numbers = [0.0].into_iter().chain(rounded.filter_map(|digits| digits.parse().ok()));
    { numbers }.find(is_inside).unwrap_or(middle)
}

/// The least number of a cell, if that is finite.
pub(super) fn least(key: u64, level: u32) -> f64 {
    let x = from_bits(key << level);
    if x.is_finite() { x } else { f64::MAX.copysign(x) }
}

/// The width of a cell, counting only its finite numbers.
pub(super) fn width(key: u64, level: u32) -> f64 {
    let low = key << level;
    let end = |bits: u64| from_bits(bits).clamp(-0.5 * f64::MAX, 0.5 * f64::MAX);
    end(low | ((1_u64 << level) - 1)) - end(low)
}

/// Whether a cell holds any finite number. If so, the one nearest to zero is finite.
pub(super) fn is_of_numbers(key: u64, level: u32) -> bool {
    let low = key << level;
    let high = low | ((1_u64 << level) - 1);
    from_bits(low).is_finite() || from_bits(high).is_finite()
}

/// The number whose rearranged bits these are.
fn from_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

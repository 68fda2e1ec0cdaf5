//! Keys: the bits of numbers, turned so that they sort as numbers do, without the lowest few.

/// The bits of the size of a number, which sort as sizes do.
#[inline]
pub(super) fn size(x: f64) -> u64 {
    x.to_bits() & !SIGN
}

const SIGN: u64 = 1 << 63;

/// The size of the numbers of a cell, in bits without the lowest, and whether they are negative.
pub(super) fn size_of(key: u64, level: u32) -> (u64, bool) {
    let zero = SIGN >> level;
    if key >= zero { (key - zero, false) } else { (zero - 1 - key, true) }
}

/// The key of the cell of numbers of this size and sign.
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

/// How far the numbers of a cell lie apart, as far as they are finite.
pub(super) fn width(key: u64, level: u32) -> f64 {
    let low = key << level;
    let end = |bits: u64| from_bits(bits).clamp(-0.5 * f64::MAX, 0.5 * f64::MAX);
    end(low | ((1_u64 << level) - 1)) - end(low)
}

/// Whether any finite number is in this cell: the one nearest to zero is.
pub(super) fn is_of_numbers(key: u64, level: u32) -> bool {
    let low = key << level;
    let high = low | ((1_u64 << level) - 1);
    from_bits(low).is_finite() || from_bits(high).is_finite()
}

/// The number with these turned bits.
fn from_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

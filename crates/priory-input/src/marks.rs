//! Finds the bytes that mean something in a format, such as delimiters, quotes and line ends, one after the other.
//!
//! Such bytes are often so close together that a separate search for each would spend most of its time starting up. So
//! 64 bytes are examined together, as eight words, and the positions of the marks are kept as bits.

/// Which bytes are looked for.
pub(crate) trait Signs: Copy {
    /// Sets the top bit of each of the eight bytes that is looked for, and no other bit.
    fn top_bits(self, eight: u64) -> u64;
    /// The position of the first such byte, in a text that may have few.
    fn find(self, text: &[u8]) -> Option<usize>;
}

/// 1 in each of eight bytes.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;
/// The top bit of each of eight bytes.
pub(crate) const TOP: u64 = 0x80 * ONES;

/// The positions of the bytes that are looked for, from the first to the last.
pub(crate) struct Marks<'a, S> {
    pub(crate) text: &'a [u8],
    pub(crate) signs: S,
    /// Where the current 64 bytes begin.
    base: usize,
    /// A bit for each mark among them that has not been passed yet.
    bits: u64,
}

impl<'a, S: Signs> Marks<'a, S> {
    pub(crate) fn new(text: &'a [u8], signs: S) -> Self {
        let mut marks = Marks { text, signs, base: 0, bits: 0 };
        marks.look_at(0);
        marks
    }

    /// The position of the next mark, which is then passed. If there is none left, the result is the length of the text
    /// if zero bytes are looked for, because the text is padded with zeros, and otherwise some position after the end.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        if self.bits == 0 {
            (self.base, self.bits) = next_bits(self.text, self.base, self.signs);
            if self.bits == 0 {
                return self.base + 64;
            }
        }
        let position = self.base + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        position
    }

    /// Passes all marks before this position, which must not lie before a mark that was passed.
    #[inline]
    pub(crate) fn pass_to(&mut self, position: usize) {
        match position - self.base {
            passed @ ..64 => self.bits &= u64::MAX << passed,
            _ => self.look_at(position),
        }
    }

    #[inline(always)]
    fn look_at(&mut self, base: usize) {
        self.base = base;
        self.bits = bits_at(self.text, base, self.signs);
    }
}

/// Where the next 64 bytes with a mark begin, after those at `base`, and their bits; no bit is set at the end of the
/// text. It is not inlined, because the loops that call it need the registers.
#[inline(never)]
fn next_bits(text: &[u8], base: usize, signs: impl Signs) -> (usize, u64) {
    let next = base + 64;
    if next >= text.len() {
        return (base, 0);
    }
    match bits_at(text, next, signs) {
        // If 64 bytes have no mark, there are probably many more without one.
        0 => {
            let rest = text.get(next + 64..).unwrap_or_default();
            let mark = text.len() - rest.len() + signs.find(rest).unwrap_or(rest.len());
            (mark, bits_at(text, mark, signs))
        }
        bits => (next, bits),
    }
}

/// One bit for each of the 64 bytes from `base` on.
#[inline(always)]
fn bits_at(text: &[u8], base: usize, signs: impl Signs) -> u64 {
    let rest = text.get(base..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => bits(bytes, signs),
        None => bits(&padded(rest), signs),
    }
}

/// One bit for each of 64 bytes: whether it is looked for.
#[inline(always)]
fn bits(bytes: &[u8; 64], signs: impl Signs) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let mut bits = 0;
    for (index, eight) in eights.iter().enumerate() {
        let marked = signs.top_bits(u64::from_le_bytes(*eight)) >> 7;
        // The product gathers the lowest bits of the eight bytes in its top byte.
        bits |= (marked.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
    }
    bits
}

/// Bytes, and zeros after them.
pub(crate) fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Looks for one byte.
    #[derive(Clone, Copy)]
    struct Only(u8);

    impl Signs for Only {
        fn top_bits(self, eight: u64) -> u64 {
            let marked = eight.to_le_bytes().map(|byte| if byte == self.0 { 0x80 } else { 0 });
            u64::from_le_bytes(marked)
        }

        fn find(self, text: &[u8]) -> Option<usize> {
            text.iter().position(|&byte| byte == self.0)
        }
    }

    /// Texts in which marks are frequent, and texts in which they are rare.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let byte = |others: u32| prop_oneof![others => Just(3), 10 => 0..4_u8];
        let frequent = prop::collection::vec(byte(1), 0..300);
        prop_oneof![frequent, prop::collection::vec(byte(2000), 0..1000)]
    }

    proptest! {
        #[test]
        fn every_mark_is_found(text in texts()) {
            for sign in 0..4 {
                let expected: Vec<usize> = (0..text.len()).filter(|&i| text[i] == sign).collect();
                let mut marks = Marks::new(&text, Only(sign));
                let found: Vec<usize> =
                    std::iter::repeat_with(|| marks.next()).take_while(|&mark| mark < text.len()).collect();
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn marks_before_a_position_are_passed(
            text in texts(),
            mut positions in prop::collection::vec(0..1000_usize, 1..5),
        ) {
            let mut marks = Marks::new(&text, Only(0));
            positions.sort_unstable();
            for window in positions.windows(2) {
                marks.pass_to(window[0]);
                let expected = (window[0]..text.len()).find(|&i| text[i] == 0);
                let found = marks.next();
                match expected {
                    Some(expected) => prop_assert_eq!(found, expected),
                    None => prop_assert!(found >= text.len()),
                }
                if found >= window[1] {
                    break;
                }
            }
        }

        #[test]
        fn a_text_ends_with_a_zero(length in 0..300_usize) {
            prop_assert_eq!(Marks::new(&vec![1; length], Only(0)).next(), length);
        }
    }
}

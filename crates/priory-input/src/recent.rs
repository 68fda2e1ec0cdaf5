//! A shortcut from the text of a field to the code of its value.

use std::ops::Range;

use priory::batch::MISSING;

/// The codes of short fields that were read recently in the same column.
///
/// Most columns have few values, and most values are short. A field of up to 16 bytes is compared as one number with
/// the last field that fell into the same slot, which replaces hashing the string, comparing it and checking whether it
/// is missing. Short words are read three times as fast. In a column of many values this would rarely succeed, so it
/// gives up after too many misses.
pub(crate) struct RecentCodes {
    spellings: [u128; RecentCodes::SLOTS],
    codes: [u32; RecentCodes::SLOTS],
    misses_left: usize,
}

impl RecentCodes {
    /// Few enough to stay in the first-level cache beside the text.
    const SLOTS: usize = 1 << 10;
    /// Marks an empty slot. No field is spelt like this, since these bytes are not UTF-8.
    const NONE: u128 = u128::MAX;

    /// For each length of a field, a mask of its bytes.
    const FIRST_BYTES: [u128; 17] = {
        let mut masks = [u128::MAX; 17];
        let mut length = 0;
        while length < 16 {
            masks[length] = (1 << (8 * length)) - 1;
            length += 1;
        }
        masks
    };

    pub(crate) fn new(rows: usize) -> Self {
        let (spellings, codes) = ([Self::NONE; Self::SLOTS], [MISSING; Self::SLOTS]);
        RecentCodes { spellings, codes, misses_left: rows / 2 }
    }

    /// The bytes of a short field as a number. The text holds no zero bytes, so zeros can pad the number without
    /// ambiguity.
    #[inline]
    pub(crate) fn spelling(&self, text: &str, field: &Range<usize>) -> u128 {
        match text.as_bytes()[field.start..].first_chunk::<16>() {
            Some(bytes) if field.len() <= 16 && self.misses_left > 0 => {
                u128::from_le_bytes(*bytes) & Self::FIRST_BYTES[field.len()]
            }
            _ => Self::NONE,
        }
    }

    #[inline]
    pub(crate) fn code(&self, spelling: u128) -> Option<u32> {
        let slot = Self::slot(spelling);
        (self.spellings[slot] == spelling && spelling != Self::NONE).then_some(self.codes[slot])
    }

    #[inline]
    pub(crate) fn keep(&mut self, spelling: u128, code: u32) {
        if spelling != Self::NONE {
            let slot = Self::slot(spelling);
            self.spellings[slot] = spelling;
            self.codes[slot] = code;
            self.misses_left -= 1;
        }
    }

    #[inline]
    fn slot(spelling: u128) -> usize {
        // Multiplying by the golden ratio spreads the differences of similar spellings over the top bits.
        let folded = spelling as u64 ^ (spelling >> 64) as u64;
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize
    }
}

//! The numbers met last. Most columns hold few different numbers, or one again and again, and to look one up costs less
//! than a search, or a logarithm for each class.

use crate::families::Removed;

/// Numbers that are remembered, at most.
const SLOTS: usize = 256;

/// A number for each slot. What was worked out for it, the owner keeps.
pub(crate) struct Memo {
    /// The bits of the numbers; a slot that has none yet holds those of a NaN.
    numbers: Vec<u64>,
}

impl Memo {
    /// For a batch of this many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Memo { numbers: vec![f64::NAN.to_bits(); rows.next_power_of_two().min(SLOTS)] }
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.numbers.len()
    }

    /// The slot of x, which is a number, and whether it had the slot already.
    #[inline(always)]
    pub(crate) fn slot(&mut self, x: f64) -> (usize, bool) {
        let bits = x.to_bits();
        let slot = slot_of(bits, self.numbers.len());
        (slot, std::mem::replace(&mut self.numbers[slot], bits) == bits)
    }

    /// What `find` says of each number of a column, or `missing`.
    pub(crate) fn map<'a, T: Copy + 'a>(
        values: &'a [f64],
        missing: T,
        mut find: impl FnMut(f64) -> T + 'a,
    ) -> impl Iterator<Item = T> + 'a {
        let mut memo = Memo::new(values.len());
        let mut found = vec![missing; memo.slots()];
        values.iter().map(move |&x| {
            if x.is_nan() {
                return missing;
            }
            let (slot, known) = memo.slot(x);
            if !known {
                found[slot] = find(x);
            }
            found[slot]
        })
    }
}

/// What was worked out last for numbers of training rows that are left out.
pub(crate) struct Recent {
    slots: Vec<Option<(u64, Removed, f64)>>,
}

impl Recent {
    /// For a batch of this many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Recent { slots: vec![None; (4 * rows).next_power_of_two().min(4 * SLOTS)] }
    }

    /// What `work` says of x and the row that is left out, if that is not known yet.
    pub(crate) fn get(&mut self, x: f64, removed: Removed, work: impl FnOnce() -> f64) -> f64 {
        let key = x.to_bits() ^ (removed.class as u64).rotate_left(32);
        let slot = slot_of(key, self.slots.len());
        match &self.slots[slot] {
            Some((known, same, found)) if (*known, *same) == (x.to_bits(), removed) => *found,
            _ => {
                let found = work();
                self.slots[slot] = Some((x.to_bits(), removed, found));
                found
            }
        }
    }
}

/// One of this many slots, a power of two. The upper bits of a product depend on all bits of both: whole numbers differ in
/// their upper bits only.
#[inline(always)]
fn slot_of(bits: u64, slots: usize) -> usize {
    (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (slots - 1)
}

//! The numbers met last. Most columns hold few different numbers, or one again and again, and to look one up costs less
//! than a search, or a logarithm for each class.

/// Numbers that are remembered, at most.
const SLOTS: usize = 256;

/// A number for each slot. What was worked out for it, the owner keeps.
pub(crate) struct Memo {
    /// The bits of the numbers; a slot that has none yet holds those of a NaN.
    numbers: Vec<u64>,
}

impl Memo {
    /// For a batch of so many rows.
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
        // The upper bits of a product depend on all bits of both: whole numbers differ in their upper bits only.
        let slot = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (self.numbers.len() - 1);
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

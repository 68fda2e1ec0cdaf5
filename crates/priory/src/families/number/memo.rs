//! What was worked out for the numbers met last. Most columns hold few different numbers, or one again and again, and to
//! look one up costs less than a logarithm for each class.

/// Numbers that are remembered, at most.
const SLOTS: usize = 256;

/// A number for each slot, and what was worked out for it.
pub(crate) struct Memo {
    /// The bits of the numbers; a slot that has none yet holds those of a NaN.
    numbers: Vec<u64>,
    lns: Vec<f64>,
    classes: usize,
}

impl Memo {
    /// For a batch of so many rows.
    pub(crate) fn new(classes: usize, rows: usize) -> Self {
        let slots = rows.next_power_of_two().min(SLOTS);
        Memo { numbers: vec![f64::NAN.to_bits(); slots], lns: vec![0.0; slots * classes], classes }
    }

    /// What the function gives for each class at x, which is a number.
    #[inline]
    pub(crate) fn get(&mut self, x: f64, ln: impl Fn(usize) -> f64) -> &[f64] {
        let bits = x.to_bits();
        // The upper bits of a product depend on all bits of both: whole numbers differ in their upper bits only.
        let slot = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (self.numbers.len() - 1);
        let lns = &mut self.lns[slot * self.classes..(slot + 1) * self.classes];
        if self.numbers[slot] != bits {
            self.numbers[slot] = bits;
            lns.iter_mut().enumerate().for_each(|(class, value)| *value = ln(class));
        }
        lns
    }
}

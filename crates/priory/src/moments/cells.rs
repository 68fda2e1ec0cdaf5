//! A table of exact sums, any of which can be added to at any time.
//!
//! Most of what is counted is a whole number and is summed in an i32; before that overflows, its contents move into an
//! [`ExactSum`]. Fractions are summed separately in fixed point, as multiples of 2^-80 in an i128, which holds every
//! f64 from 2^-28 to 2^40 with all its bits. Numbers that fit neither are rare and go into the [`ExactSum`] as well. So
//! a sum costs about as much as an ordinary one, but never rounds.

use std::collections::BTreeMap;

use crate::exact::ExactSum;

/// Fractions are multiples of 2^-80.
const FRACTION_BITS: i32 = 80;
/// Whole numbers up to this one go into an i32, which can hold at least 31 of them.
pub(crate) const LARGEST_WHOLE: f64 = 67_108_864.0;

/// A list of exact sums, each zero at first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    whole: Vec<i32>,
    /// The sums of fractions; empty as long as everything was whole.
    fraction: Vec<i128>,
    rest: BTreeMap<usize, ExactSum>,
}

impl Cells {
    pub(crate) fn new(length: usize) -> Self {
        Cells { whole: vec![0; length], ..Cells::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.whole.len()
    }

    /// Makes room for this many cells; new ones are zero.
    pub(crate) fn grow(&mut self, length: usize) {
        self.whole.resize(length.max(self.whole.len()), 0);
        if !self.fraction.is_empty() {
            self.fraction.resize(self.whole.len(), 0);
        }
    }

    /// Adds a finite number to a cell.
    #[inline]
    pub(crate) fn add(&mut self, cell: usize, x: f64) {
        let whole = x as i32;
        if f64::from(whole) == x && x.abs() <= LARGEST_WHOLE {
            self.add_whole(cell, whole);
        } else {
            self.add_fraction(cell, x);
        }
    }

    /// Adds w · x.
    #[inline]
    pub(crate) fn add_product(&mut self, cell: usize, w: f64, x: f64) {
        let product = w * x;
        // The rounding error of the product is an f64 as well, unless it is too small to be one.
        const SAFE: f64 = 1e-270;
        let error = w.mul_add(x, -product);
        if error == 0.0 && (product.abs() > SAFE || w == 0.0 || x == 0.0) {
            self.add(cell, product);
        } else {
            self.rest.entry(cell).or_default().add_product(w, x);
        }
    }

    /// Adds a whole number that is no larger than [`LARGEST_WHOLE`].
    #[inline]
    pub(crate) fn add_whole(&mut self, cell: usize, x: i32) {
        debug_assert!(f64::from(x).abs() <= LARGEST_WHOLE);
        match self.whole[cell].checked_add(x) {
            Some(sum) => self.whole[cell] = sum,
            None => self.begin_anew(cell, x),
        }
    }

    /// Moves the contents of a full cell into its [`ExactSum`], and starts again from x.
    #[cold]
    fn begin_anew(&mut self, cell: usize, x: i32) {
        let full = std::mem::replace(&mut self.whole[cell], x);
        self.rest.entry(cell).or_default().add_whole(full.into(), 0);
    }

    /// Adds the weight of a row, or one if it has none.
    #[inline]
    pub(crate) fn add_row(&mut self, cell: usize, weight: Option<f64>) {
        match weight {
            None => self.add_whole(cell, 1),
            Some(weight) => self.add(cell, weight),
        }
    }

    /// Adds one to each of these cells.
    #[inline]
    pub(crate) fn count(&mut self, cells: impl Iterator<Item = usize>) {
        cells.for_each(|cell| self.add_whole(cell, 1));
    }

    fn add_fraction(&mut self, cell: usize, x: f64) {
        if self.fraction.is_empty() {
            self.fraction.resize(self.whole.len(), 0);
        }
        let sum = fixed(x).and_then(|x| self.fraction[cell].checked_add(x));
        match sum {
            Some(sum) => self.fraction[cell] = sum,
            None => self.rest.entry(cell).or_default().add(x),
        }
    }

    /// Adds cell i of `other` to our cell `to(i)`, for every i.
    pub(crate) fn merge(&mut self, other: &Cells, to: impl Fn(usize) -> usize) {
        for (i, &x) in other.whole.iter().enumerate().filter(|(_, x)| **x != 0) {
            match self.whole[to(i)].checked_add(x) {
                Some(sum) => self.whole[to(i)] = sum,
                None => self.begin_anew(to(i), x),
            }
        }
        if !other.fraction.is_empty() && self.fraction.is_empty() {
            self.fraction.resize(self.whole.len(), 0);
        }
        for (i, &x) in other.fraction.iter().enumerate().filter(|(_, x)| **x != 0) {
            match self.fraction[to(i)].checked_add(x) {
                Some(sum) => self.fraction[to(i)] = sum,
                None => self.rest.entry(to(i)).or_default().add_whole(x, -FRACTION_BITS),
            }
        }
        for (&i, sum) in &other.rest {
            self.rest.entry(to(i)).or_default().merge(sum);
        }
    }

    /// The exact sum of a cell.
    pub(crate) fn exact(&self, cell: usize) -> ExactSum {
        let mut sum = self.rest.get(&cell).cloned().unwrap_or_default();
        sum.add_whole(self.whole[cell].into(), 0);
        sum.add_whole(self.fraction.get(cell).copied().unwrap_or(0), -FRACTION_BITS);
        sum
    }

    /// The f64 nearest to a cell.
    pub(crate) fn value(&self, cell: usize) -> f64 {
        if self.fraction.is_empty() && self.rest.is_empty() {
            return self.whole[cell].into();
        }
        self.exact(cell).value()
    }

    /// The f64 nearest to each cell.
    pub(crate) fn values(&self) -> Vec<f64> {
        (0..self.len()).map(|cell| self.value(cell)).collect()
    }

    /// Appends the canonical bytes: how many cells there are, a bit for each that says whether it is not zero, and then
    /// those that are not.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len() as u64).to_le_bytes());
        let bits = out.len();
        out.resize(bits + self.len().div_ceil(8), 0);
        for cell in 0..self.len() {
            let sum = self.exact(cell);
            if !sum.is_zero() {
                out[bits + cell / 8] |= 1 << (cell % 8);
                sum.write(out);
            }
        }
    }

    /// Takes cells off the front of `bytes`; `None` if they are not what [`write`](Self::write) writes, or not `length`.
    pub(crate) fn read(bytes: &mut &[u8], length: usize) -> Option<Cells> {
        let (&written, rest) = bytes.split_first_chunk()?;
        if u64::from_le_bytes(written) != length as u64 {
            return None;
        }
        // Every cell has a bit in these bytes, so the allocation is bounded by the size of the input.
        let (bits, rest) = rest.split_at_checked(length.div_ceil(8))?;
        *bytes = rest;
        let mut cells = Cells::new(length);
        for (byte, &held) in bits.iter().enumerate().filter(|(_, held)| **held != 0) {
            for cell in (0..8).filter(|bit| held >> bit & 1 == 1).map(|bit| 8 * byte + bit) {
                let sum = ExactSum::read(bytes)?;
                if cell >= length || sum.is_zero() {
                    return None;
                }
                cells.rest.insert(cell, sum);
            }
        }
        cells.sort_out();
        Some(cells)
    }

    /// Moves what fits from the [`ExactSum`]s back into the fast representations.
    fn sort_out(&mut self) {
        for (cell, sum) in std::mem::take(&mut self.rest) {
            let value = sum.value();
            let mut left = sum;
            if value.is_finite() {
                left.add(-value);
                self.add(cell, value);
            }
            if !left.is_zero() {
                self.rest.entry(cell).or_default().merge(&left);
            }
        }
    }
}

/// x as a multiple of 2^-80, if it is one that an i128 holds with room to spare.
#[inline]
fn fixed(x: f64) -> Option<i128> {
    const LARGEST: f64 = 1_099_511_627_776.0; // 2^40
    const SCALE: f64 = 1_208_925_819_614_629_174_706_176.0; // 2^80
    if x.abs() > LARGEST {
        return None;
    }
    // Scaling by a power of two is exact, and so is the conversion unless bits lie below 2^-80.
    let scaled = x * SCALE;
    let fixed = scaled as i128;
    (fixed as f64 == scaled).then_some(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-1000_i32..1000).prop_map(f64::from),
            -1.0..1.0_f64,
            any::<f64>().prop_filter("finite", |x| x.is_finite()),
            Just(f64::MAX),
            Just(5e-324),
            Just(67_108_864.0),
            Just(2f64.powi(-80)),
        ]
    }

    proptest! {
        #[test]
        fn every_sum_is_exact_in_any_order_and_split(
            xs in proptest::collection::vec((0_usize..3, number(), number()), 0..40),
            split in 0_usize..40,
        ) {
            let mut wide = [ExactSum::default(), ExactSum::default(), ExactSum::default()];
            let (mut cells, mut rest) = (Cells::new(3), Cells::new(3));
            for (i, &(cell, w, x)) in xs.iter().enumerate() {
                let part = if i < split { &mut cells } else { &mut rest };
                wide[cell].add_product(w, x);
                part.add_product(cell, w, x);
                wide[cell].add(x);
                part.add(cell, x);
            }
            cells.merge(&rest, |i| i);
            for (cell, wide) in wide.iter().enumerate() {
                prop_assert_eq!(cells.value(cell), wide.value());
            }
            let mut bytes = Vec::new();
            cells.write(&mut bytes);
            let read = Cells::read(&mut bytes.as_slice(), 3).unwrap();
            let mut again = Vec::new();
            read.write(&mut again);
            prop_assert_eq!(bytes, again);
            prop_assert_eq!(read.values(), cells.values());
        }
    }

    #[test]
    fn a_cell_that_is_full_is_not_the_end() {
        let mut cells = Cells::new(1);
        cells.whole[0] = i32::MAX;
        cells.count([0].into_iter());
        cells.whole[0] = i32::MAX; // was one
        let mut twice = cells.clone();
        twice.merge(&cells, |i| i);
        assert_eq!(twice.value(0), 4.0 * f64::from(i32::MAX));
    }

    #[test]
    fn bytes_of_a_stranger_are_refused() {
        let mut bytes = Vec::new();
        let mut cells = Cells::new(2);
        cells.add(1, 0.5);
        cells.write(&mut bytes);
        assert!(Cells::read(&mut bytes.as_slice(), 3).is_none());
        for end in 0..bytes.len() {
            assert!(Cells::read(&mut &bytes[..end], 2).is_none());
        }
        bytes[8] = 1 << 2; // a cell beyond the end
        assert!(Cells::read(&mut bytes.as_slice(), 2).is_none());
    }
}

//! A table of exact weights: one row per value, one cell per class.
//!
//! Weights are almost always whole numbers, and then a plain f64 per cell is exact up to 2^53. A cell whose sum
//! does not fit an f64 keeps what rounding cut off beside the table, as an [`ExactSum`]. So every cell is exact
//! for every finite weight, and a table of whole numbers pays nothing for it.

use std::collections::BTreeMap;

use crate::exact::{ExactSum, can_be_halved, two_sum};

/// Exact weights, rows × classes, with the classes of a row side by side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    rows: usize,
    classes: usize,
    /// Cells between the starts of two rows; at least `classes`, so that classes can arrive cheaply.
    stride: usize,
    cells: Vec<f64>,
    /// What the cells lack to be exact: the value of a cell is `cells[..] + residue`.
    residue: BTreeMap<(usize, usize), ExactSum>,
}

impl Tally {
    pub(crate) fn new(rows: usize, classes: usize) -> Self {
        let mut tally = Tally::default();
        tally.grow(rows, classes);
        tally
    }

    /// A table from what [`cells`](Self::cells) and [`residue`](Self::residue) say; `None` unless these are the
    /// canonical form of weights of zero or more.
    pub(crate) fn from_cells(
        rows: usize,
        classes: usize,
        cells: &[f64],
        residue: &[(u64, f64)],
    ) -> Option<Self> {
        let mut tally = Tally::new(rows, classes);
        for (i, &cell) in cells.iter().enumerate() {
            tally.cells[i / classes * tally.stride + i % classes] = cell;
        }
        for &(cell, term) in residue {
            let cell = usize::try_from(cell).ok().filter(|&cell| cell < cells.len())?;
            tally.residue.entry((cell / classes, cell % classes)).or_default().add(term);
        }
        let same_residue = tally.residue().eq(residue.iter().copied());
        let canonical = tally.residue.iter().all(|(&(row, class), residue)| {
            !residue.is_zero() && tally.exact(row, class).value() == tally.cells[row * tally.stride + class]
        });
        let positive = cells.iter().all(|&cell| cell > 0.0 || cell.to_bits() == 0);
        (same_residue && canonical && positive).then_some(tally)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// About how many bytes the table takes.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&self.cells[..])
    }

    /// Makes room for at least this many rows and classes; what is new counts zero.
    pub(crate) fn grow(&mut self, rows: usize, classes: usize) {
        if classes > self.stride {
            // Doubling keeps the cost of many late classes linear in the cells.
            let stride = classes.next_power_of_two();
            let mut cells = vec![0.0; self.rows * stride];
            if self.stride > 0 {
                for (new, old) in cells.chunks_exact_mut(stride).zip(self.cells.chunks_exact(self.stride)) {
                    new[..self.stride].copy_from_slice(old);
                }
            }
            (self.cells, self.stride) = (cells, stride);
        }
        self.rows = self.rows.max(rows);
        self.classes = self.classes.max(classes);
        self.cells.resize(self.rows * self.stride, 0.0);
    }

    /// Adds `weight`, which may be negative, to one cell.
    #[inline]
    pub(crate) fn add(&mut self, row: usize, class: usize, weight: f64) {
        let cell = &mut self.cells[row * self.stride + class];
        let (sum, error) = two_sum(*cell, weight);
        *cell = sum;
        if error != 0.0 {
            self.add_residue(row, class, error);
        }
    }

    /// Adds an exact weight to one cell.
    pub(crate) fn add_exact(&mut self, row: usize, class: usize, weight: &ExactSum) {
        weight.canonical_terms().into_iter().for_each(|term| self.add(row, class, term));
    }

    #[cold]
    fn add_residue(&mut self, row: usize, class: usize, error: f64) {
        self.residue.entry((row, class)).or_default().add(error);
    }

    /// Sets one cell, which counted zero, to an exact sum in canonical form.
    fn set(&mut self, row: usize, class: usize, mut sum: ExactSum) {
        let value = sum.value();
        self.cells[row * self.stride + class] = value;
        sum.add(-value);
        if !sum.is_zero() {
            self.residue.insert((row, class), sum);
        }
    }

    /// Adds `sign` times `other`, whose row r is our row `row_of[r]` and whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Tally, row_of: &[usize], class_of: &[usize], sign: f64) {
        for (row, &to_row) in row_of.iter().enumerate() {
            for (class, &to_class) in class_of.iter().enumerate() {
                let weight = other.cells[row * other.stride + class];
                if weight != 0.0 {
                    self.add(to_row, to_class, sign * weight);
                }
            }
        }
        for (&(row, class), residue) in &other.residue {
            for term in residue.canonical_terms() {
                self.add(row_of[row], class_of[class], sign * term);
            }
        }
    }

    /// Multiplies every cell by a power of two, which loses nothing if they [can be halved](Self::can_be_halved).
    pub(crate) fn scale(&mut self, power: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= power);
        self.residue.values_mut().for_each(|residue| residue.scale(power));
    }

    /// Whether every cell can be halved this many times without losing a bit.
    pub(crate) fn can_be_halved(&self, times: u32) -> bool {
        self.cells.iter().all(|&cell| can_be_halved(cell, times))
            && self.residue.values().all(|residue| residue.can_be_halved(times))
    }

    /// Whether every weight is that of a cell alone.
    pub(crate) fn is_plain(&self) -> bool {
        self.residue.is_empty()
    }

    /// The exact weight of a cell.
    pub(crate) fn exact(&self, row: usize, class: usize) -> ExactSum {
        let mut sum = self.residue.get(&(row, class)).cloned().unwrap_or_default();
        sum.add(self.cells[row * self.stride + class]);
        sum
    }

    /// The weight of a cell, correctly rounded.
    #[inline]
    pub(crate) fn get(&self, row: usize, class: usize) -> f64 {
        if self.residue.is_empty() {
            return self.cells[row * self.stride + class];
        }
        self.exact(row, class).value()
    }

    /// The weight of a cell without `weight`, correctly rounded.
    pub(crate) fn get_without(&self, row: usize, class: usize, weight: f64) -> f64 {
        if self.residue.is_empty() {
            return self.cells[row * self.stride + class] - weight;
        }
        let mut sum = self.exact(row, class);
        sum.add(-weight);
        sum.value()
    }

    /// The weight of some rows in a class without `weight`, correctly rounded.
    pub(crate) fn sum_without(&self, rows: &[usize], class: usize, weight: f64) -> f64 {
        if let &[row] = rows {
            return self.get_without(row, class, weight);
        }
        let mut sum = ExactSum::default();
        rows.iter().for_each(|&row| sum.merge(&self.exact(row, class)));
        sum.add(-weight);
        sum.value()
    }

    /// The classes that count something in a row, and how much.
    pub(crate) fn cells_of_row(&self, row: usize) -> Vec<(usize, f64)> {
        let counted = (0..self.classes).filter(|&class| !self.is_zero(row, class));
        counted.map(|class| (class, self.get(row, class))).collect()
    }

    /// The exact weight of a row over all classes.
    pub(crate) fn row_total(&self, row: usize) -> ExactSum {
        let start = row * self.stride;
        let mut total: ExactSum = self.cells[start..start + self.classes].iter().copied().collect();
        for (_, residue) in self.residue.range((row, 0)..(row + 1, 0)) {
            total.merge(residue);
        }
        total
    }

    /// The exact weight of a class over all rows.
    pub(crate) fn class_total(&self, class: usize) -> ExactSum {
        let mut total: ExactSum = self.cells.iter().skip(class).step_by(self.stride).copied().collect();
        let residue = self.residue.iter().filter(|((_, of_class), _)| *of_class == class);
        residue.for_each(|(_, residue)| total.merge(residue));
        total
    }

    /// Whether every cell of a row counts zero.
    pub(crate) fn row_is_zero(&self, row: usize) -> bool {
        (0..self.classes).all(|class| self.is_zero(row, class))
    }

    pub(crate) fn is_zero(&self, row: usize, class: usize) -> bool {
        let cell = self.cells[row * self.stride + class];
        if self.residue.is_empty() { cell == 0.0 } else { self.exact(row, class).is_zero() }
    }

    /// Whether every cell is in the form that [`select`](Self::select) gives it; what was ever rounded might not be.
    pub(crate) fn is_canonical(&self) -> bool {
        self.residue.is_empty() && self.cells.iter().all(|cell| *cell > 0.0 || cell.to_bits() == 0)
    }

    /// Whether every cell is a whole number that an f64 holds exactly.
    pub(crate) fn is_whole(&self) -> bool {
        self.residue.values().all(ExactSum::is_zero) && self.cells.iter().all(|cell| cell.fract() == 0.0)
    }

    /// The first cell in which `other` holds more than we do, with rows and classes mapped as in [`merge`].
    /// A row or class that we lack is `None` and holds nothing.
    ///
    /// [`merge`]: Tally::merge
    pub(crate) fn first_shortfall(
        &self,
        other: &Tally,
        row_of: &[Option<usize>],
        class_of: &[Option<usize>],
    ) -> Option<(usize, usize)> {
        for (row, our_row) in row_of.iter().enumerate() {
            for (class, our_class) in class_of.iter().enumerate() {
                let mut left = match (our_row, our_class) {
                    (&Some(row), &Some(class)) => self.exact(row, class),
                    _ => ExactSum::default(),
                };
                left.subtract(&other.exact(row, class));
                if left.is_negative() {
                    return Some((row, class));
                }
            }
        }
        None
    }

    /// The same weights with rows and classes picked in a given order, every cell in canonical form.
    pub(crate) fn select(&self, rows: &[usize], classes: &[usize]) -> Tally {
        let mut selected = Tally::new(rows.len(), classes.len());
        for (to_row, &row) in rows.iter().enumerate() {
            for (to_class, &class) in classes.iter().enumerate() {
                if self.residue.is_empty() {
                    // Adding to zero also turns a -0.0 into 0.0.
                    selected.add(to_row, to_class, self.cells[row * self.stride + class]);
                } else {
                    selected.set(to_row, to_class, self.exact(row, class));
                }
            }
        }
        selected
    }

    /// All cells, classes side by side without gaps: what a file holds. The table is in canonical form.
    pub(crate) fn cells(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.rows).flat_map(move |row| self.cells[row * self.stride..][..self.classes].iter().copied())
    }

    /// What the cells lack, as (cell, term) in order, the cell counted as in [`Tally::cells`].
    pub(crate) fn residue(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.residue.iter().flat_map(move |(&(row, class), residue)| {
            let cell = (row * self.classes + class) as u64;
            residue.canonical_terms().into_iter().map(move |term| (cell, term))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_classes_keep_earlier_counts() {
        let mut tally = Tally::new(2, 1);
        tally.add(1, 0, 3.0);
        tally.grow(3, 5);
        tally.add(2, 4, 0.1);
        assert_eq!(tally.get(1, 0), 3.0);
        assert_eq!(tally.get(2, 4), 0.1);
        assert_eq!(tally.cells().count(), 15);
    }

    #[test]
    fn fractional_weights_undo_exactly() {
        let mut tally = Tally::new(1, 1);
        for _ in 0..10 {
            tally.add(0, 0, 0.1);
        }
        assert_eq!(tally.get(0, 0), 1.0); // ten times the f64 nearest to 0.1, rounded once
        assert!(!tally.is_whole());
        for _ in 0..10 {
            tally.add(0, 0, -0.1);
        }
        assert!(tally.is_zero(0, 0));
    }
}

//! Rows that hold mostly zeros.

use super::Odd;
use crate::moments::engine::ask;

/// A type in which the columns of entries may be kept.
pub trait Index: Copy {
    /// The column; what is no column is larger than every one.
    fn column(self) -> usize;
}

impl Index for u32 {
    #[inline(always)]
    fn column(self) -> usize {
        self as usize
    }
}

impl Index for i32 {
    #[inline(always)]
    fn column(self) -> usize {
        // A negative one becomes larger than all others.
        self as u32 as usize
    }
}

impl Index for i64 {
    #[inline(always)]
    fn column(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

/// The entries of a row, as many as there are columns for, and the columns in which they stand.
#[derive(Debug, Clone, Copy)]
pub struct SparseRow<'a, I> {
    /// The column of each entry.
    pub columns: &'a [I],
    /// The entries.
    pub values: &'a [f64],
}

impl<I: Index> SparseRow<'_, I> {
    /// Asks the memory for the row, which is needed soon. For rows that do not lie one after the other.
    pub fn ask(&self) {
        ask(self.columns);
        ask(self.values);
    }

    /// Looks for entries in columns that do not exist.
    #[inline(always)]
    pub(super) fn check_columns(&self, columns: usize) -> Result<(), Odd> {
        // Without a way out in the middle, several are compared at once.
        let fit = self.columns.iter().fold(true, |fit, column| fit & (column.column() < columns));
        if fit && self.columns.len() == self.values.len() { Ok(()) } else { Err(Odd::Beyond) }
    }

    #[inline(always)]
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        self.columns.iter().zip(self.values).map(|(column, &x)| (column.column(), x))
    }
}

//! Rows that hold mostly zeros.

use super::InvalidEntry;
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
    pub(super) fn check_columns(&self, columns: usize) -> Result<(), InvalidEntry> {
        // Without a way out in the middle, several are compared at once.
        let fit = self.columns.iter().fold(true, |fit, column| fit & (column.column() < columns));
        if fit && self.columns.len() == self.values.len() { Ok(()) } else { Err(InvalidEntry::NoSuchColumn) }
    }

    #[inline(always)]
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        self.columns.iter().zip(self.values).map(|(column, &x)| (column.column(), x))
    }
}

/// Several rows, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'a, I> {
    /// Where each row begins, and where the last one ends, counted from anywhere: the entries given here are those from the
    /// first of these numbers on.
    pub starts: &'a [usize],
    /// The column of each entry.
    pub columns: &'a [I],
    /// The entries.
    pub values: &'a [f64],
}

impl<'a, I: Index> SparseRows<'a, I> {
    /// Whether the rows take up all entries.
    pub(super) fn check(&self) -> Result<(), InvalidEntry> {
        let all =
            self.starts.first().zip(self.starts.last()).map_or(0, |(start, end)| end.wrapping_sub(*start));
        let fit = self.starts.is_sorted() && [self.columns.len(), self.values.len()] == [all; 2];
        if fit { Ok(()) } else { Err(InvalidEntry::NoSuchColumn) }
    }

    /// How many entries each row has.
    #[inline(always)]
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> + use<'a, I> {
        self.starts.windows(2).map(|row| row[1] - row[0])
    }

    /// The rows, which take up all entries.
    pub(super) fn rows(&self) -> impl Iterator<Item = SparseRow<'a, I>> {
        let SparseRows { starts, columns, values } = *self;
        starts.windows(2).map(move |row| {
            let entries = row[0] - starts[0]..row[1] - starts[0];
            SparseRow { columns: &columns[entries.clone()], values: &values[entries] }
        })
    }
}

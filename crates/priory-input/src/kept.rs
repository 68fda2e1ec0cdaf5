//! Columns of a table that pass through as they are, beside the batches that are made of its rows.

use priory::{Interval, Scores};

/// A column of strings as they are in the table, one after the other.
#[derive(Debug, Clone, Default)]
pub struct KeptColumn {
    text: String,
    ends: Vec<usize>,
    missing: Vec<bool>,
}

impl KeptColumn {
    /// Appends a row.
    #[inline]
    pub(crate) fn push(&mut self, value: Option<&str>) {
        self.text.push_str(value.unwrap_or_default());
        self.ends.push(self.text.len());
        self.missing.push(value.is_none());
    }

    /// The string in a row, unless it is missing.
    #[inline]
    pub fn value(&self, row: usize) -> Option<&str> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        (!self.missing[row]).then(|| &self.text[start..self.ends[row]])
    }

    /// Removes the rows but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.missing.clear();
    }
}

/// What is to be written of some rows.
#[derive(Debug, Clone, Copy)]
pub struct Predictions<'a> {
    /// The columns that pass through.
    pub kept: &'a [KeptColumn],
    /// The scores of the rows.
    pub scores: &'a Scores,
    /// What is answered for each: the position of a class, or the one after the last.
    pub answers: &'a [usize],
    /// How far the probabilities could be off, if that is wanted.
    pub interval: Option<&'a Interval>,
    /// log P(x), if that is wanted.
    pub log_evidence: Option<&'a [f64]>,
}

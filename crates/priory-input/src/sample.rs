//! The first rows of a table as text, to guess from what its columns are.

use priory::infer::Stored;

/// What a table says of one of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// How it is stored.
    pub stored: Stored,
}

/// The first rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// How many rows there are.
    pub rows: usize,
    /// From how many places the last of them come, besides the beginning of the table.
    pub places: usize,
    /// For each column of the table, its values as text; `None` where the table has none. What spells missing is
    /// text like any other here.
    pub columns: Vec<Vec<Option<String>>>,
}

impl Sample {
    /// How many bytes of a file are looked at for a sample, at most, give or take a block.
    pub(crate) const MOST_BYTES: usize = 8 << 20;

    /// How many values a sample has at most.
    pub(crate) const MOST_VALUES: usize = 4 << 20;

    /// At how many places further in a table is looked at, if that is possible.
    pub(crate) const PLACES: usize = 10;

    /// How many rows are looked at there, if at the beginning so many are; none if these are only a few.
    pub(crate) fn rows_at_place(rows: usize) -> usize {
        rows / 100
    }

    /// No rows yet, of a table with this many columns.
    pub(crate) fn new(width: usize) -> Self {
        Sample { rows: 0, places: 0, columns: vec![Vec::new(); width] }
    }
}

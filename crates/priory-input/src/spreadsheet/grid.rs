//! The cells of a sheet to the rows of a table.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::guarded::damaged;
use crate::remarks::SheetRemark;
use crate::spreadsheet::FORMAT;

/// The edges of a sheet.
const MOST_ROWS: u32 = 1 << 20;
const MOST_COLUMNS: usize = 1 << 14;
/// How many bytes the values of a row may have.
const LONGEST_ROW: usize = 64 << 20;
/// So many rows with a single value are no titles but a table with a single column.
const MOST_TITLES: usize = 20;

/// Takes the cells of a sheet, row by row, and hands out the header and the rows below it.
///
/// The header is the first row with more than one value; rows with a single value above it are titles. If no row has more than
/// one, the sheet is a table with a single column. Its columns are those of the header, from the first to the last; what stands
/// beside them is passed over, and so are empty rows.
pub(super) struct Grid<'e> {
    name: &'e str,
    each: &'e mut dyn FnMut(&[String]) -> Result<()>,
    /// Which row is at hand, from 0 on, its cells by their columns, from A on, how many of them may be filled, and how many bytes
    /// they have.
    row: u32,
    cells: Vec<String>,
    used: usize,
    bytes: usize,
    /// The rows with a single value before any with more: row, column, and value.
    titles: Vec<(u32, usize, String)>,
    header: Option<Header>,
    /// How many values are beside the columns, and where the first of them is.
    beside: u64,
    first_beside: Option<(u32, usize)>,
}

struct Header {
    row: u32,
    columns: Range<usize>,
}

impl<'e> Grid<'e> {
    pub(super) fn new(name: &'e str, each: &'e mut dyn FnMut(&[String]) -> Result<()>) -> Self {
        Grid {
            name,
            each,
            row: 0,
            cells: Vec::new(),
            used: 0,
            bytes: 0,
            titles: Vec::new(),
            header: None,
            beside: 0,
            first_beside: None,
        }
    }

    /// Takes a cell; both places are counted from 0. Rows come in their order.
    pub(super) fn cell(&mut self, row: u32, column: usize, value: &str) -> Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        if row >= MOST_ROWS || column >= MOST_COLUMNS {
            return Err(damaged(self.name, FORMAT, &"a cell is beyond the edge of a sheet"));
        }
        if row < self.row {
            return Err(damaged(self.name, FORMAT, &"its rows are not in order"));
        }
        if row > self.row {
            self.finish_row()?;
            self.row = row;
        }
        self.bytes += value.len();
        if self.bytes > LONGEST_ROW {
            // Counted like any row of a table, from 1 after the header.
            let row = u64::from(row.saturating_sub(self.header.as_ref().map_or(0, |header| header.row)));
            return Err(Error::RowTooLong { name: self.name.into(), row, limit: LONGEST_ROW });
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column].clear();
        self.cells[column].push_str(value);
        self.used = self.used.max(column + 1);
        Ok(())
    }

    /// Hands out what is left, and says what was passed over.
    pub(super) fn end(mut self) -> Result<Vec<SheetRemark>> {
        self.finish_row()?;
        if self.header.is_none() {
            self.take_single_column()?;
        }
        let mut remarks = Vec::new();
        if let (Some(header), Some((.., first))) = (&self.header, self.titles.first()) {
            remarks.push(SheetRemark::Titles { header: header.row + 1, first: first.clone() });
        }
        if let Some((row, column)) = self.first_beside {
            remarks.push(SheetRemark::Beside { values: self.beside, first: place(row, column) });
        }
        Ok(remarks)
    }

    fn finish_row(&mut self) -> Result<()> {
        let mut cells = std::mem::take(&mut self.cells);
        let row = self.take_row(&mut cells);
        cells[..self.used].iter_mut().for_each(String::clear);
        (self.cells, self.used, self.bytes) = (cells, 0, 0);
        row
    }

    fn take_row(&mut self, cells: &mut Vec<String>) -> Result<()> {
        let filled: Vec<usize> = (0..self.used).filter(|&column| !cells[column].is_empty()).collect();
        let (Some(&first), Some(&last)) = (filled.first(), filled.last()) else { return Ok(()) };
        if self.header.is_none() {
            if first == last && self.titles.len() < MOST_TITLES {
                self.titles.push((self.row, first, cells[first].clone()));
                return Ok(());
            } else if first == last {
                self.take_single_column()?;
            } else {
                self.header = Some(Header { row: self.row, columns: first..last + 1 });
            }
        }
        let columns = self.header.as_ref().map_or(0..0, |header| header.columns.clone());
        for &column in filled.iter().filter(|column| !columns.contains(column)) {
            self.beside += 1;
            self.first_beside.get_or_insert((self.row, column));
        }
        if filled.iter().any(|column| columns.contains(column)) {
            if cells.len() < columns.end {
                cells.resize(columns.end, String::new());
            }
            (self.each)(&cells[columns])?;
        }
        Ok(())
    }

    /// What looked like titles is a table with a single column.
    fn take_single_column(&mut self) -> Result<()> {
        let titles = std::mem::take(&mut self.titles);
        let Some(&(row, column, _)) = titles.first() else { return Ok(()) };
        self.header = Some(Header { row, columns: column..column + 1 });
        for (row, place, value) in titles {
            if place == column {
                (self.each)(&[value])?;
            } else {
                self.beside += 1;
                self.first_beside.get_or_insert((row, place));
            }
        }
        Ok(())
    }
}

/// What spreadsheets call a cell, such as `C7`.
fn place(row: u32, column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect::<String>() + &(row + 1).to_string()
}

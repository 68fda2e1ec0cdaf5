//! Documents, and what was counted of their tokens: all that terms need, and nothing of other tokens.

use std::sync::Arc;

use super::bands::{Masses, band_of};
use crate::batch::TextColumn;
use crate::families::text::TextStatistics;

/// Documents of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Documents {
    /// The mean weight of a row.
    pub(crate) unit: f64,
    /// Tokens and x, document after document; the same whatever was counted.
    entries: Arc<Vec<(u32, f64)>>,
    ends: Vec<usize>,
    /// How many words each document has; `None` of rows without one.
    pub(crate) lengths: Vec<Option<f64>>,
    orders: Vec<u8>,
    cells: Vec<Cell>,
    /// Where the cells of each token end.
    ends_of_cells: Vec<u32>,
    /// The position of each token among all; none of those that were never met.
    pub(crate) positions: Vec<Option<u32>>,
    pub(crate) masses: Masses,
}

/// In how many documents of a class a token is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) class: u32,
    pub(crate) documents: f64,
}

/// x of a token that occurs so often in a document.
pub(crate) fn damped(occurrences: u32) -> f64 {
    match occurrences {
        1 => 1.0,
        _ => libm::log2(1.0 + f64::from(occurrences)),
    }
}

impl Documents {
    /// The documents of a column, with the counts of canonical statistics; `masses` are those of the statistics.
    pub(crate) fn new(column: &TextColumn, text: &TextStatistics, masses: &Masses, unit: f64) -> Self {
        const NOT_ASKED: u32 = u32::MAX;
        let settings = &text.settings.tokens;
        let mut documents = Documents {
            unit,
            entries: Arc::default(),
            ends: Vec::with_capacity(column.rows()),
            lengths: Vec::with_capacity(column.rows()),
            orders: Vec::new(),
            cells: Vec::new(),
            ends_of_cells: Vec::new(),
            positions: Vec::new(),
            masses: masses.clone(),
        };
        const PASSED_OVER: u32 = u32::MAX - 1;
        let mut number_of = vec![NOT_ASKED; column.tokens().len()];
        let mut entries = Vec::with_capacity(column.entries(0..column.rows()).len());
        for row in 0..column.rows() {
            let mut length = 0.0;
            for &(token, occurrences) in column.document(row).unwrap_or_default() {
                let number = &mut number_of[token as usize];
                if *number == NOT_ASKED {
                    let name = column.tokens().name(token as usize);
                    if settings.passes_over(name) {
                        *number = PASSED_OVER;
                        continue;
                    }
                    *number = documents.orders.len() as u32;
                    let position = text.tokens.get(name);
                    documents.orders.push(settings.order_of(name) as u8);
                    documents.positions.push(position.map(|position| position as u32));
                    if let Some(position) = position {
                        text.counts.for_each_cell(position, |class, of_class, _| {
                            documents.cells.push(Cell { class: class as u32, documents: of_class });
                        });
                    }
                    documents.ends_of_cells.push(documents.cells.len() as u32);
                }
                if *number == PASSED_OVER {
                    continue;
                }
                entries.push((*number, damped(occurrences)));
                if documents.orders[*number as usize] == 0 {
                    length += f64::from(occurrences);
                }
            }
            documents.ends.push(entries.len());
            documents.lengths.push(column.document(row).map(|_| length));
        }
        documents.entries = Arc::new(entries);
        documents
    }

    /// How many different tokens they have.
    pub(crate) fn tokens(&self) -> usize {
        self.orders.len()
    }

    /// The tokens of a document and their x.
    #[inline]
    pub(crate) fn of_row(&self, row: usize) -> &[(u32, f64)] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.entries[start..self.ends[row]]
    }

    /// The order of a token, and its cells.
    #[inline]
    pub(crate) fn token(&self, token: u32) -> (usize, &[Cell]) {
        let token = token as usize;
        let start = if token == 0 { 0 } else { self.ends_of_cells[token - 1] };
        (self.orders[token].into(), &self.cells[start as usize..self.ends_of_cells[token] as usize])
    }

    /// In how many documents a token is.
    pub(crate) fn documents_with(&self, token: u32) -> f64 {
        self.token(token).1.iter().map(|cell| cell.documents).sum()
    }

    /// The same documents, with the counts as they would be without some of them: pairs of row and class. Copies of a row weigh
    /// as much as the row itself.
    pub(crate) fn without(&self, rows: impl Iterator<Item = (usize, u32, f64)>) -> Self {
        let mut rest = self.clone();
        let mut is_changed = vec![false; self.tokens()];
        for (row, class, weight) in rows {
            for &(token, _) in self.of_row(row) {
                let token = token as usize;
                let start = if token == 0 { 0 } else { self.ends_of_cells[token - 1] } as usize;
                let cells = &mut rest.cells[start..self.ends_of_cells[token] as usize];
                if let Some(cell) = cells.iter_mut().find(|cell| cell.class == class) {
                    cell.documents = (cell.documents - weight).max(0.0);
                }
                is_changed[token] = true;
            }
        }
        // The masses of bands change with the tokens, some of which are in another band now.
        let mut masses = self.masses.clone();
        for token in (0..self.tokens() as u32).filter(|&token| is_changed[token as usize]) {
            for (documents, sign) in [(self, -1.0), (&rest, 1.0)] {
                let (order, cells) = documents.token(token);
                let band = band_of(documents.documents_with(token) / self.unit - 1.0);
                let masses = masses.of_band_mut(order, band);
                for cell in cells {
                    let mass = &mut masses[cell.class as usize];
                    *mass = (*mass + sign * cell.documents).max(0.0);
                }
            }
        }
        rest.masses = masses;
        rest
    }
}

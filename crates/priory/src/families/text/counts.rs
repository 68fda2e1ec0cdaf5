//! Documents and terms of the cells of a table, in four or eight bytes each.

use std::ops::Range;

use crate::exact::two_sum;

/// Documents and terms of every cell.
#[derive(Debug, Clone)]
pub(super) enum Counts {
    /// Only whole numbers below 2^32.
    Small(Vec<[u32; 2]>),
    Wide(Vec<[f64; 2]>),
}

impl Counts {
    pub(super) fn len(&self) -> usize {
        match self {
            Counts::Small(counts) => counts.len(),
            Counts::Wide(counts) => counts.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> [f64; 2] {
        match self {
            Counts::Small(counts) => counts[place].map(f64::from),
            Counts::Wide(counts) => counts[place],
        }
    }

    /// Appends cells that count zero.
    pub(super) fn extend(&mut self, cells: usize) {
        match self {
            Counts::Small(counts) => counts.resize(counts.len() + cells, [0; 2]),
            Counts::Wide(counts) => counts.resize(counts.len() + cells, [0.0; 2]),
        }
    }

    /// Appends a cell.
    pub(super) fn push(&mut self, amounts: [f64; 2]) {
        if let Counts::Small(counts) = self {
            let small = amounts.map(|amount| amount as u32);
            if small.map(f64::from) == amounts {
                return counts.push(small);
            }
        }
        self.widened().push(amounts);
    }

    pub(super) fn copy_within(&mut self, cells: Range<usize>, to: usize) {
        match self {
            Counts::Small(counts) => counts.copy_within(cells, to),
            Counts::Wide(counts) => counts.copy_within(cells, to),
        }
    }

    pub(super) fn clear(&mut self, place: usize) {
        match self {
            Counts::Small(counts) => counts[place] = [0; 2],
            Counts::Wide(counts) => counts[place] = [0.0; 2],
        }
    }

    /// Adds to a cell and returns the rounding errors.
    #[inline]
    pub(super) fn add(&mut self, place: usize, amounts: [f64; 2]) -> [f64; 2] {
        if let Counts::Small(counts) = self
            && let [Some(documents), Some(terms)] =
                [0, 1].map(|which| small_sum(counts[place][which], amounts[which]))
        {
            counts[place] = [documents, terms];
            return [0.0; 2];
        }
        let cell = &mut self.widened()[place];
        let (documents, error) = two_sum(cell[0], amounts[0]);
        let (terms, terms_error) = two_sum(cell[1], amounts[1]);
        *cell = [documents, terms];
        [error, terms_error]
    }

    pub(super) fn widened(&mut self) -> &mut Vec<[f64; 2]> {
        if let Counts::Small(counts) = self {
            *self = Counts::Wide(counts.iter().map(|cell| cell.map(f64::from)).collect());
        }
        match self {
            Counts::Wide(counts) => counts,
            Counts::Small(_) => unreachable!("made wide just now"),
        }
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts::Small(Vec::new())
    }
}

/// The sum, if it is a whole number below 2^32.
#[inline]
fn small_sum(count: u32, amount: f64) -> Option<u32> {
    let whole = amount as i64;
    if whole as f64 != amount {
        return None;
    }
    u32::try_from(i64::from(count).saturating_add(whole)).ok()
}

//! A direct table of the cells of the numbers with the largest magnitudes, so that most rows can be counted without a
//! search.

use super::index::NONE;
use super::key::{key_of, size, size_of};
use super::{Cell, ROWS_AT_ONCE};
use crate::moments::engine::vectorized;

/// The ids of the cells of the largest numbers, by magnitude, sign and class. Once bits are dropped, nearly all numbers
/// fall into it. It is brought up to date before rows are counted.
#[derive(Debug, Clone, Default)]
pub(super) struct PlaceWindow {
    /// The level that the window was made for, and how many of the spectrum's cells it has taken in.
    level: u32,
    known: usize,
    /// The window holds this magnitude and those just below it, `sizes` of them.
    largest: u64,
    sizes: u64,
    /// How many classes have a place for each magnitude and sign: a power of two, and its logarithm.
    classes: u64,
    class_bits: u32,
    pub(super) ids: Vec<u32>,
}

impl PlaceWindow {
    const PLACES: u64 = 1 << 13;

    /// An empty window whose largest magnitude is that of these cells.
    fn below(cells: &[Cell], level: u32) -> Self {
        let largest = cells.iter().map(|&(key, _)| size_of(key, level).0).max().unwrap_or(0);
        let classes = cells.iter().map(|&(_, class)| u64::from(class) + 1).max().unwrap_or(1);
        let classes = classes.next_power_of_two();
        let sizes = Self::PLACES / (2 * classes);
        let ids = vec![NONE; (2 * sizes * classes) as usize];
        PlaceWindow { level, known: 0, largest, sizes, classes, class_bits: classes.ilog2(), ids }
    }

    /// Takes in new cells. If one of them is beyond the window, the window is made anew.
    pub(super) fn update(&mut self, cells: &[Cell], level: u32) {
        let reaches =
            |&(key, class): &Cell| size_of(key, level).0 <= self.largest && u64::from(class) < self.classes;
        if self.level != level || !cells[self.known..].iter().all(reaches) {
            *self = PlaceWindow::below(cells, level);
        }
        for (&(key, class), id) in cells.iter().zip(0..).skip(self.known) {
            let (size, is_negative) = size_of(key, level);
            let place = self.place(size, is_negative, class) as usize;
            if let Some(known) = self.ids.get_mut(place) {
                *known = id;
            }
        }
        self.known = cells.len();
    }

    /// The cell that a place belongs to.
    pub(super) fn cell(&self, place: u64, level: u32) -> Cell {
        let (below, is_negative) = (place >> self.class_bits >> 1, place >> self.class_bits & 1 == 1);
        (key_of(self.largest - below, is_negative, level), (place & (self.classes - 1)) as u32)
    }

    /// The place of a cell; [`NO_PLACE`] if it is outside the window.
    #[inline(always)]
    fn place(&self, size: u64, is_negative: bool, class: u32) -> u32 {
        let below = self.largest.wrapping_sub(size);
        let is_inside = (below < self.sizes) & (u64::from(class) < self.classes);
        let place = (below << 1 | u64::from(is_negative)) << self.class_bits | u64::from(class);
        if is_inside { place as u32 } else { NO_PLACE }
    }

    /// Writes the places of the cells of some numbers.
    pub(super) fn places(
        &self,
        values: &[f64],
        classes: &[u32],
        level: u32,
        places: &mut [u32; ROWS_AT_ONCE],
    ) {
        vectorized(
            #[inline(always)]
            move || {
                for ((&x, &class), place) in values.iter().zip(classes).zip(places) {
                    let x = x + 0.0; // −0 is 0
                    let of_number = self.place(size(x) >> level, x.is_sign_negative(), class);
                    // When most bits are dropped, NaN cannot be told from large numbers by its magnitude.
                    *place = if x.is_nan() { NO_PLACE } else { of_number };
                }
            },
        );
    }
}

pub(super) const NO_PLACE: u32 = u32::MAX;

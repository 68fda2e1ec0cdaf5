//! Counting before looking up: where the cells of the largest numbers stand, found without a search.

use super::index::NONE;
use super::key::{key_of, size, size_of};
use super::{Cell, ROWS_AT_ONCE};
use crate::moments::engine::vectorized;

/// The ids of the cells of the largest numbers, by size, sign and class: where bits are dropped, nearly all numbers are
/// among them. It is brought up to date when rows are to be counted.
#[derive(Debug, Clone, Default)]
pub(super) struct PlaceWindow {
    /// What it was made for: the level, and the first so many cells.
    level: u32,
    known: usize,
    /// Sizes below and at this one are in the window, as many as there are places for.
    largest: u64,
    sizes: u64,
    /// Places for the classes of one size and sign, a power of two, and which.
    classes: u64,
    class_bits: u32,
    pub(super) ids: Vec<u32>,
}

impl PlaceWindow {
    const PLACES: u64 = 1 << 13;

    /// A window that reaches up to the largest of these cells, without any of them.
    fn below(cells: &[Cell], level: u32) -> Self {
        let largest = cells.iter().map(|&(key, _)| size_of(key, level).0).max().unwrap_or(0);
        let classes = cells.iter().map(|&(_, class)| u64::from(class) + 1).max().unwrap_or(1);
        let classes = classes.next_power_of_two();
        let sizes = Self::PLACES / (2 * classes);
        let ids = vec![NONE; (2 * sizes * classes) as usize];
        PlaceWindow { level, known: 0, largest, sizes, classes, class_bits: classes.ilog2(), ids }
    }

    /// Takes in the cells that are new, and moves if one of them is larger than it reaches.
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

    /// The cell whose id stands at a place.
    pub(super) fn cell(&self, place: u64, level: u32) -> Cell {
        let (below, is_negative) = (place >> self.class_bits >> 1, place >> self.class_bits & 1 == 1);
        (key_of(self.largest - below, is_negative, level), (place & (self.classes - 1)) as u32)
    }

    /// Where the id of a cell stands; [`NO_PLACE`] for those that are not in the window.
    #[inline(always)]
    fn place(&self, size: u64, is_negative: bool, class: u32) -> u32 {
        let below = self.largest.wrapping_sub(size);
        let is_inside = (below < self.sizes) & (u64::from(class) < self.classes);
        let place = (below << 1 | u64::from(is_negative)) << self.class_bits | u64::from(class);
        if is_inside { place as u32 } else { NO_PLACE }
    }

    /// Writes where the ids of the cells of some numbers stand.
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
                    // Where most bits are dropped, NaN has the size of large numbers.
                    *place = if x.is_nan() { NO_PLACE } else { of_number };
                }
            },
        );
    }
}

pub(super) const NO_PLACE: u32 = u32::MAX;

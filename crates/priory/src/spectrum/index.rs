//! The cells of a spectrum, found by key and class.

use std::hash::{BuildHasher, Hasher};

use super::Cell;

/// A hash table from cells to their ids, with linear probing, at most half full.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    slots: Vec<u32>,
    /// The seed of the hash, chosen at random so that nobody can prepare numbers that all collide. It affects nothing
    /// but speed.
    seed: Seed,
}

#[derive(Debug, Clone)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Seed(foldhash::fast::RandomState::default().build_hasher().finish() | 1)
    }
}

pub(super) const NONE: u32 = u32::MAX;

impl Index {
    pub(super) fn of(cells: &[Cell]) -> Self {
        let mut index = Index::default();
        index.make_room(cells, cells.len());
        index
    }

    /// The slot at which the search for a cell starts. The number of slots is a power of two.
    #[inline]
    fn start(&self, (key, class): Cell) -> usize {
        let mixed = key ^ u64::from(class).rotate_left(40) ^ self.seed.0;
        let product = u128::from(mixed) * 0x9e37_79b9_7f4a_7c15;
        ((product >> 64) as u64 ^ product as u64) as usize & (self.slots.len() - 1)
    }

    /// The slot of a cell, or the empty one where it belongs.
    #[inline]
    fn slot(&self, cell: Cell, cells: &[Cell]) -> usize {
        let mut slot = self.start(cell);
        while self.slots[slot] != NONE && cells[self.slots[slot] as usize] != cell {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    #[inline]
    pub(super) fn get(&self, cell: Cell, cells: &[Cell]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        Some(self.slots[self.slot(cell, cells)]).filter(|&id| id != NONE)
    }

    /// The id of a cell, which is added to the list if it is new.
    pub(super) fn intern(&mut self, cell: Cell, cells: &mut Vec<Cell>) -> u32 {
        if 2 * (cells.len() + 1) > self.slots.len() {
            self.make_room(cells, 2 * cells.len() + 1);
        }
        let slot = self.slot(cell, cells);
        if self.slots[slot] == NONE {
            self.slots[slot] = cells.len() as u32;
            cells.push(cell);
        }
        self.slots[slot]
    }

    /// Makes room for `many` cells in all, including these.
    pub(super) fn make_room(&mut self, cells: &[Cell], many: usize) {
        let slots = (2 * (many + 1)).next_power_of_two();
        if slots <= self.slots.len() {
            return;
        }
        self.slots = vec![NONE; slots];
        for (&cell, id) in cells.iter().zip(0..) {
            let slot = self.slot(cell, &cells[..id as usize]);
            self.slots[slot] = id;
        }
    }
}

//! The spectrum: how much each number of a column weighs in each class, as finely as a bounded table can tell.
//!
//! A number is known by its **key**: the bits of its f64, turned so that they sort as numbers do, without the lowest
//! few. How many are dropped, the **level**, is the least number for which the column has at most [`MOST_CELLS`]
//! different pairs of key and class, or where there are thousands of classes the highest, at which only the sign of a
//! number is left. So the level depends on nothing but the set of numbers and classes, and any split
//! or order of the rows gives the same spectrum. Columns with few different numbers are kept as they are; timestamps
//! keep what tells them apart, however far from zero they lie; heavy tails keep about the same relative precision
//! everywhere.
//!
//! Weights are exact. What was dropped is not: forgetting takes the weights back to the last bit, but a level that the
//! forgotten rows had raised stays where it is.

use std::hash::{BuildHasher, Hasher};

use crate::exact::ExactSum;
use crate::moments::engine::{Loop, vectorized};
use crate::numerics::{bits_to_drop, ordered_bits};
use crate::tally::Tally;

/// More cells than this are not kept: the numbers are told apart less finely instead.
pub(crate) const MOST_CELLS: usize = 1 << 12;

/// The lowest bits that can be dropped: at this level only the sign is left.
pub(crate) const MOST_DROPPED: u32 = 63;

/// A key and a class.
pub(crate) type Cell = (u64, u32);

/// The weight of each cell, exactly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spectrum {
    level: u32,
    cells: Vec<Cell>,
    index: Index,
    window: Window,
    /// One row per cell.
    counts: Tally,
}

/// A number, or the middle of the cell that it fell into, and what it weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighed {
    pub(crate) value: f64,
    pub(crate) weight: f64,
    /// The width of the cell; zero if the number is known as it was.
    pub(crate) width: f64,
}

/// Rows that are looked up together: what one lookup waits for, the next need not.
const ROWS_AT_ONCE: usize = 64;

/// Rows that are counted before their cells are added to. Fewer than the second number are added one by one.
const ROWS_COUNTED: usize = 1 << 15;
const FEW_ROWS: usize = 1 << 8;

/// While rows are added there may be more cells: dropping one bit after the other takes longer.
const MOST_CELLS_AT_TIMES: usize = 4 * MOST_CELLS;

/// Rows that an empty spectrum looks at beforehand.
const ROWS_FORESEEN: usize = 2 * MOST_CELLS;

impl Spectrum {
    /// A spectrum from what [`level`](Self::level), [`cells`](Self::cells) and [`counts`](Self::counts) say; `None`
    /// unless the cells are in order, within bounds, and hold finite numbers.
    pub(crate) fn from_parts(level: u32, cells: Vec<Cell>, counts: Tally) -> Option<Self> {
        let finite =
            |&(key, _): &Cell| level <= MOST_DROPPED && key <= u64::MAX >> level && is_of_numbers(key, level);
        let few = cells.len() <= MOST_CELLS || level == MOST_DROPPED;
        let sound = few && cells.is_sorted_by(|a, b| a < b) && cells.iter().all(finite);
        let index = Index::of(&cells);
        let window = Window::default();
        (sound && counts.rows() == cells.len()).then_some(Spectrum { level, cells, index, window, counts })
    }

    /// How many low bits of the numbers are dropped.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    pub(crate) fn counts(&self) -> &Tally {
        &self.counts
    }

    /// Adds the numbers of some rows; NaN is missing. There are no weights where every row counts one.
    pub(crate) fn observe(&mut self, values: &[f64], classes: &[u32], weights: &[f64]) {
        if self.cells.is_empty() && values.len() > MOST_CELLS {
            self.foresee(values, classes);
        }
        if self.level > 0 && weights.is_empty() && values.len() >= FEW_ROWS {
            let parts = values.chunks(ROWS_COUNTED).zip(classes.chunks(ROWS_COUNTED));
            return parts.for_each(|(values, classes)| self.count(values, classes));
        }
        let weight = |row| if weights.is_empty() { 1.0 } else { weights[row] };
        let mut ids = [NONE; ROWS_AT_ONCE];
        for (start, some) in (0..).step_by(ROWS_AT_ONCE).zip(values.chunks(ROWS_AT_ONCE)) {
            let rows = start..start + some.len();
            for ((&x, &class), id) in some.iter().zip(&classes[rows.clone()]).zip(&mut ids) {
                *id = self.index.get((ordered_bits(x) >> self.level, class), &self.cells).unwrap_or(NONE);
            }
            // A new cell may change the level, and then all ids are others.
            let level = self.level;
            for (row, &id) in rows.zip(&ids).filter(|&(row, _)| !values[row].is_nan()) {
                let is_known = id != NONE && self.level == level;
                let id = if is_known { id } else { self.id(values[row], classes[row]) };
                self.counts.add(id as usize, 0, weight(row));
            }
        }
        self.fit();
    }

    /// Adds rows that count one each, where bits are dropped: first how many there are at each place of the window, and
    /// then each of these counts to its cell.
    fn count(&mut self, values: &[f64], classes: &[u32]) {
        self.window.update(&self.cells, self.level);
        let (mut counts, mut outside) = (vec![0_u32; self.window.ids.len()], Vec::new());
        let mut places = [NO_PLACE; ROWS_AT_ONCE];
        for (start, some) in (0..).step_by(ROWS_AT_ONCE).zip(values.chunks(ROWS_AT_ONCE)) {
            let rows = start..start + some.len();
            let classes = &classes[rows.clone()];
            let (window, level) = (&self.window, self.level);
            vectorized(Places { window, level, values: some, classes, places: &mut places });
            for (row, place) in rows.zip(places) {
                match counts.get_mut(place as usize) {
                    Some(count) => *count += 1,
                    None => outside.push(row),
                }
            }
        }
        for (place, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let id = match self.window.ids[place] {
                NONE => self.push(self.window.cell(place as u64, self.level)),
                id => id,
            };
            self.counts.add(id as usize, 0, f64::from(count));
        }
        for row in outside.into_iter().filter(|&row| !values[row].is_nan()) {
            let id = self.id(values[row], classes[row]);
            self.counts.add(id as usize, 0, 1.0);
        }
        self.fit();
    }

    /// Adds a number with a weight, which may be negative.
    #[cfg(test)]
    pub(crate) fn add(&mut self, x: f64, class: u32, weight: f64) {
        let id = self.id(x, class);
        self.counts.add(id as usize, 0, weight);
        self.fit();
    }

    /// The id of the cell of a number, which may be new. There may be more cells for a while.
    fn id(&mut self, x: f64, class: u32) -> u32 {
        let id = self.push((ordered_bits(x) >> self.level, class));
        if self.cells.len() <= MOST_CELLS_AT_TIMES {
            return id;
        }
        self.fit();
        self.push((ordered_bits(x) >> self.level, class))
    }

    /// The id of a cell, which may be new.
    fn push(&mut self, cell: Cell) -> u32 {
        let known = self.cells.len();
        let id = self.index.intern(cell, &mut self.cells);
        if self.cells.len() > known {
            self.counts.grow(self.cells.len(), 1);
        }
        id
    }

    /// Drops as many bits as it takes to have no more cells than there may be, or all but the sign.
    fn fit(&mut self) {
        if self.cells.len() <= MOST_CELLS || self.level == MOST_DROPPED {
            return;
        }
        self.raise(least_level(&self.cells, self.level));
    }

    /// Begins with the level and the cells that the first of these rows ask for by themselves, if the level is a high one.
    /// All rows can but ask for a higher one, and to get there level by level takes longer. What the rows weigh is not
    /// added yet.
    fn foresee(&mut self, values: &[f64], classes: &[u32]) {
        // A class takes the place of the lowest bits: bare numbers are sorted fastest.
        const LEVEL: u32 = 16;
        let classes = &classes[..classes.len().min(ROWS_FORESEEN)];
        if classes.iter().any(|class| class >> LEVEL > 0) {
            return;
        }
        const MISSING: u64 = u64::MAX; // no number of the highest class is as large
        let cell = |(&x, &class): (&f64, &u32)| match x.is_nan() {
            true => MISSING,
            false => u64::from(class) << (64 - LEVEL) | ordered_bits(x) >> LEVEL,
        };
        let mut cells: Vec<u64> = values.iter().zip(classes).map(cell).collect();
        cells.retain(|&cell| cell != MISSING);
        cells.sort_unstable();
        match bits_to_drop(cells.windows(2).map(|pair| pair[0] ^ pair[1]), MOST_CELLS) {
            0 => {} // perhaps a lower level will do
            bits => {
                self.level = (LEVEL + bits).min(MOST_DROPPED);
                let bits = self.level - LEVEL;
                let cell = |cell: u64| (cell << LEVEL >> LEVEL >> bits, (cell >> (64 - LEVEL)) as u32);
                self.cells = cells.into_iter().map(cell).collect();
                self.cells.dedup();
                self.index = Index::of(&self.cells);
                self.counts.grow(self.cells.len(), 1);
            }
        }
    }

    /// Goes to a level at least as high.
    fn raise(&mut self, level: u32) {
        if level == self.level {
            return;
        }
        let fine = std::mem::take(self);
        self.level = level;
        self.take_in(&fine, |class| class, 1.0);
    }

    fn take_in(&mut self, other: &Spectrum, class_of: impl Fn(u32) -> u32, sign: f64) {
        let drop = self.level - other.level;
        self.index.make_room(&self.cells, self.cells.len().max(other.cells.len().min(MOST_CELLS)));
        let row_of: Vec<usize> = other
            .cells
            .iter()
            .map(|&(key, class)| self.push((key >> drop, class_of(class))) as usize)
            .collect();
        self.counts.merge(&other.counts, &row_of, &[0], sign);
    }

    /// Adds `sign` times `other`, whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], sign: f64) {
        self.raise(self.level.max(other.level));
        self.take_in(other, |class| class_of[class as usize] as u32, sign);
        if sign < 0.0 {
            *self = self.select(Some);
        }
        self.fit();
    }

    /// Multiplies every weight by a power of two.
    pub(crate) fn scale(&mut self, power: f64) {
        self.counts.scale(power);
    }

    /// The first number and class of which `other` has more.
    pub(crate) fn first_shortfall(&self, other: &Self, class_of: &[Option<usize>]) -> Option<(f64, usize)> {
        let mut part = other.clone();
        part.raise(self.level.max(other.level));
        let row_of: Vec<Option<usize>> = (part.cells.iter())
            .map(|&(key, class)| {
                // A part cannot be coarser than the whole: its numbers are among those that the whole tells apart.
                let cell = (key, class_of[class as usize]? as u32);
                self.index.get(cell, &self.cells).filter(|_| part.level == self.level).map(|id| id as usize)
            })
            .collect();
        let (row, _) = self.counts.first_shortfall(&part.counts, &row_of, &[Some(0)])?;
        let (key, class) = part.cells[row];
        Some((number(key, part.level), class as usize))
    }

    /// The cells that count something, in order, with the classes renumbered; those of no class are left out.
    fn select(&self, class_of: impl Fn(u32) -> Option<u32>) -> Self {
        let mut kept: Vec<(Cell, usize)> = (self.cells.iter().zip(0..))
            .filter(|&(_, id)| !self.counts.is_zero(id, 0))
            .filter_map(|(&(key, class), id)| Some(((key, class_of(class)?), id)))
            .collect();
        kept.sort_unstable();
        let rows: Vec<usize> = kept.iter().map(|&(_, id)| id).collect();
        let cells: Vec<Cell> = kept.into_iter().map(|(cell, _)| cell).collect();
        let (index, window) = (Index::of(&cells), Window::default());
        Spectrum { level: self.level, cells, index, window, counts: self.counts.select(&rows, &[0]) }
    }

    /// Sorted, without what counts zero, and with the classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let mut new_id = vec![None; classes.iter().max().map_or(0, |most| most + 1)];
        classes.iter().zip(0..).for_each(|(&old, new)| new_id[old] = Some(new));
        let mut canonical = self.select(|class| new_id.get(class as usize).copied().flatten());
        if canonical.counts.classes() == 0 {
            canonical.counts.grow(0, 1);
        }
        if canonical.cells.is_empty() {
            canonical.level = 0;
        }
        canonical
    }

    /// The weight of a class, exactly.
    pub(crate) fn class_total(&self, class: usize) -> ExactSum {
        let mut total = ExactSum::default();
        let of_class = self.cells.iter().enumerate().filter(|(_, cell)| cell.1 as usize == class);
        for (id, _) in of_class {
            total.merge(&self.counts.exact(id, 0));
        }
        total
    }

    /// The numbers of each class and their weights, in order. A cell of several numbers stands for the one in its
    /// middle. The spectrum is canonical. Perhaps a number of some class and weight is to be left out.
    pub(crate) fn by_class(&self, classes: usize, gone: Option<(f64, usize, f64)>) -> Vec<Vec<Weighed>> {
        let mut lists = vec![Vec::new(); classes];
        let gone = gone.map(|(x, class, weight)| ((ordered_bits(x) >> self.level, class as u32), weight));
        for (id, &cell) in self.cells.iter().enumerate() {
            let weight = match gone {
                Some((of, weight)) if of == cell => self.counts.get_without(id, 0, weight),
                _ => self.counts.get(id, 0),
            };
            if weight > 0.0 {
                let (value, width) = (number(cell.0, self.level), width(cell.0, self.level));
                lists[cell.1 as usize].push(Weighed { value, weight, width });
            }
        }
        lists
    }
}

/// The least level at which there are at most [`MOST_CELLS`] of these cells, which are of this level; or the highest.
fn least_level(cells: &[Cell], level: u32) -> u32 {
    // By class and then by key they stay in order when bits are dropped.
    let mut cells: Vec<u128> =
        cells.iter().map(|&(key, class)| u128::from(class) << 64 | u128::from(key)).collect();
    cells.sort_unstable();
    // Cells of different classes stay apart.
    let differences = cells.windows(2).map(|pair| u64::try_from(pair[0] ^ pair[1]).unwrap_or(u64::MAX));
    (level + bits_to_drop(differences, MOST_CELLS)).min(MOST_DROPPED)
}

/// The ids of the cells of the largest numbers, by size, sign and class: where bits are dropped, nearly all numbers are
/// among them. It is brought up to date when rows are to be counted.
#[derive(Debug, Clone, Default)]
struct Window {
    /// What it was made for: the level, and the first so many cells.
    level: u32,
    known: usize,
    /// Sizes below and at this one are in the window, as many as there are places for.
    largest: u64,
    sizes: u64,
    /// Places for the classes of one size and sign, a power of two, and which.
    classes: u64,
    class_bits: u32,
    ids: Vec<u32>,
}

impl Window {
    const PLACES: u64 = 1 << 13;

    /// A window that reaches up to the largest of these cells, without any of them.
    fn below(cells: &[Cell], level: u32) -> Self {
        let largest = cells.iter().map(|&(key, _)| size_of(key, level).0).max().unwrap_or(0);
        let classes = cells.iter().map(|&(_, class)| u64::from(class) + 1).max().unwrap_or(1);
        let classes = classes.next_power_of_two();
        let sizes = Self::PLACES / (2 * classes);
        let ids = vec![NONE; (2 * sizes * classes) as usize];
        Window { level, known: 0, largest, sizes, classes, class_bits: classes.ilog2(), ids }
    }

    /// Takes in the cells that are new, and moves if one of them is larger than it reaches.
    fn update(&mut self, cells: &[Cell], level: u32) {
        let reaches =
            |&(key, class): &Cell| size_of(key, level).0 <= self.largest && u64::from(class) < self.classes;
        if self.level != level || !cells[self.known..].iter().all(reaches) {
            *self = Window::below(cells, level);
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
    fn cell(&self, place: u64, level: u32) -> Cell {
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
}

const NO_PLACE: u32 = u32::MAX;

/// Numbers whose places are wanted.
struct Places<'a> {
    window: &'a Window,
    level: u32,
    values: &'a [f64],
    classes: &'a [u32],
    places: &'a mut [u32; ROWS_AT_ONCE],
}

impl Loop for Places<'_> {
    #[inline(always)]
    fn run(self) {
        for ((&x, &class), place) in self.values.iter().zip(self.classes).zip(self.places) {
            let x = x + 0.0; // −0 is 0
            let of_number = self.window.place(size(x) >> self.level, x.is_sign_negative(), class);
            // Where most bits are dropped, NaN has the size of large numbers.
            *place = if x.is_nan() { NO_PLACE } else { of_number };
        }
    }
}

/// Where each cell stands: a table of ids, twice as large as it is full, searched from the place that the hash says.
#[derive(Debug, Clone, Default)]
struct Index {
    slots: Vec<u32>,
    /// Seeded at random, so that nobody can prepare numbers that all collide. It decides nothing but speed.
    seed: Seed,
}

#[derive(Debug, Clone)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Seed(foldhash::fast::RandomState::default().build_hasher().finish() | 1)
    }
}

const NONE: u32 = u32::MAX;

impl Index {
    fn of(cells: &[Cell]) -> Self {
        let mut index = Index::default();
        index.make_room(cells, cells.len());
        index
    }

    /// Spreads a cell over the slots, of which there are a power of two.
    #[inline]
    fn start(&self, (key, class): Cell) -> usize {
        let mixed = key ^ u64::from(class).rotate_left(40) ^ self.seed.0;
        let product = u128::from(mixed) * 0x9e37_79b9_7f4a_7c15;
        ((product >> 64) as u64 ^ product as u64) as usize & (self.slots.len() - 1)
    }

    /// The slot of a cell, or the empty one where it belongs.
    fn slot(&self, cell: Cell, cells: &[Cell]) -> usize {
        let mut slot = self.start(cell);
        while self.slots[slot] != NONE && cells[self.slots[slot] as usize] != cell {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    fn get(&self, cell: Cell, cells: &[Cell]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        Some(self.slots[self.slot(cell, cells)]).filter(|&id| id != NONE)
    }

    /// The id of a cell, which is added to the list if it is new.
    fn intern(&mut self, cell: Cell, cells: &mut Vec<Cell>) -> u32 {
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

    /// Makes room for so many cells, these among them.
    fn make_room(&mut self, cells: &[Cell], many: usize) {
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

/// The bits of the size of a number, which sort as sizes do.
#[inline]
fn size(x: f64) -> u64 {
    x.to_bits() & !SIGN
}

const SIGN: u64 = 1 << 63;

/// The size of the numbers of a cell, in bits without the lowest, and whether they are negative.
fn size_of(key: u64, level: u32) -> (u64, bool) {
    let zero = SIGN >> level;
    if key >= zero { (key - zero, false) } else { (zero - 1 - key, true) }
}

/// The key of the cell of numbers of this size and sign.
fn key_of(size: u64, is_negative: bool, level: u32) -> u64 {
    let zero = SIGN >> level;
    if is_negative { zero - 1 - size } else { zero + size }
}

/// The number in the middle of a cell, if that is finite; at level 0, the number that the key stands for.
fn number(key: u64, level: u32) -> f64 {
    let middle = if level == 0 { 0 } else { 1_u64 << (level - 1) };
    let x = from_bits((key << level) | middle);
    if x.is_finite() { x } else { f64::MAX.copysign(x) }
}

/// How far the numbers of a cell lie apart, as far as they are finite.
fn width(key: u64, level: u32) -> f64 {
    let low = key << level;
    let end = |bits: u64| from_bits(bits).clamp(-0.5 * f64::MAX, 0.5 * f64::MAX);
    end(low | ((1_u64 << level) - 1)) - end(low)
}

/// Whether any finite number is in this cell: the one nearest to zero is.
fn is_of_numbers(key: u64, level: u32) -> bool {
    let low = key << level;
    let high = low | ((1_u64 << level) - 1);
    from_bits(low).is_finite() || from_bits(high).is_finite()
}

/// The number with these turned bits.
fn from_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spectrum(rows: &[(f64, u32)]) -> Spectrum {
        let mut spectrum = Spectrum::default();
        rows.iter().for_each(|&(x, class)| spectrum.add(x, class, 1.0));
        spectrum
    }

    fn picture(spectrum: &Spectrum) -> (u32, Vec<Cell>, Vec<f64>) {
        let canonical = spectrum.canonical(&[0, 1, 2]);
        (canonical.level, canonical.cells.clone(), canonical.counts.cells().collect())
    }

    /// SplitMix64, as a number between 0 and 1.
    fn uniform(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn keys_sort_as_numbers_do_and_give_them_back() {
        let numbers = [f64::MIN, -1.5, -1e-310, 0.0, 5e-324, 1.0, 1.0 + f64::EPSILON, 1e300, f64::MAX];
        assert!(numbers.windows(2).all(|pair| ordered_bits(pair[0]) < ordered_bits(pair[1])));
        assert!(numbers.iter().all(|&x| number(ordered_bits(x), 0) == x));
        assert_eq!(ordered_bits(-0.0), ordered_bits(0.0));
    }

    #[test]
    fn rows_together_are_counted_as_one_by_one() {
        let mut random = uniform(2);
        // Tiny ones, both zeros, ever larger ones, and late classes.
        let mut draw = |i: u32| match i % 7 {
            0 => -0.0,
            1 => 0.0,
            2 => -1e-310 * random(),
            3 => f64::from(i) * random(),
            _ => libm::log(random()),
        };
        let mixed = (0..40_000).map(|i| (draw(i), i % 2 + u32::from(i > 30_000))).collect();
        // Nothing but tiny ones: the window reaches down to zero.
        let tiny =
            (0..40_000).map(|i| (if i % 3 == 0 { -0.0 } else { 1e-315 * (random() - 0.5) }, 0)).collect();
        for rows in [mixed, tiny] {
            let rows: Vec<(f64, u32)> = rows;
            let values: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let classes: Vec<u32> = rows.iter().map(|row| row.1).collect();
            // Looked up one by one or counted, a level at a time or with the level of many rows foreseen, weighed or not.
            for (together, is_weighed) in [(100, false), (1000, false), (40_000, false), (40_000, true)] {
                let weights = vec![1.0; if is_weighed { together } else { 0 }];
                let mut observed = Spectrum::default();
                let parts = values.chunks(together).zip(classes.chunks(together));
                parts.for_each(|(values, classes)| observed.observe(values, classes, &weights));
                assert!(observed.level > 0);
                assert!(picture(&observed) == picture(&spectrum(&rows)));
            }
        }
    }

    #[test]
    fn few_numbers_are_kept_as_they_are() {
        let rows: Vec<(f64, u32)> = (0..20_000).map(|i| (f64::from(i % 1000) * 0.1, i % 3)).collect();
        let spectrum = spectrum(&rows).canonical(&[0, 1, 2]);
        assert_eq!(spectrum.level(), 0);
        let by_class = spectrum.by_class(3, None);
        assert_eq!(by_class[0][1], Weighed { value: 0.1, weight: 6.0, width: 0.0 });
    }

    #[test]
    fn many_numbers_are_told_apart_as_finely_as_their_own_spread_needs() {
        let mut random = uniform(1);
        type Shape = (&'static str, fn(f64) -> f64, f64);
        // The largest gap between a number and the middle of its cell, as a share of the quartile range.
        let shapes: [Shape; 4] = [
            ("timestamps", |u| 1.7e9 + 2000.0 * u, 2e-3),
            ("around zero", |u| libm::log(u / (1.0 - u)), 2e-2),
            ("heavy tail", |u| 1.0 / (u * u), 4e-3),
            ("whole numbers", |u| (u * 1e6).floor(), 4e-3),
        ];
        for (name, shape, precision) in shapes {
            let rows: Vec<(f64, u32)> = (0..60_000).map(|i| (shape(random()), i % 2)).collect();
            let spectrum = spectrum(&rows);
            assert!(spectrum.level > 0 && spectrum.cells.len() <= MOST_CELLS, "{name}");
            assert!(spectrum.cells.len() > MOST_CELLS / 5, "{name}: {} cells", spectrum.cells.len());
            let mut sorted: Vec<f64> = rows.iter().map(|row| row.0).collect();
            sorted.sort_by(f64::total_cmp);
            let quartiles = sorted[45_000] - sorted[15_000];
            let gap = |x: f64| (x - number(ordered_bits(x) >> spectrum.level, spectrum.level)).abs();
            let worst = sorted[15_000..45_000].iter().map(|&x| gap(x)).fold(0.0, f64::max);
            assert!(worst <= precision * quartiles, "{name}: {}", worst / quartiles);
        }
    }

    #[test]
    fn the_level_depends_on_the_numbers_alone() {
        let mut random = uniform(2);
        let rows: Vec<(f64, u32)> = (0..30_000).map(|i| (random() - 0.5, i % 3)).collect();
        let whole = spectrum(&rows);
        let mut backwards = rows.clone();
        backwards.reverse();
        assert_eq!(picture(&spectrum(&backwards)), picture(&whole));
        for parts in [2, 7, 64] {
            let mut merged = Spectrum::default();
            for part in rows.chunks(rows.len().div_ceil(parts)) {
                merged.merge(&spectrum(part), &[0, 1, 2], 1.0);
            }
            assert_eq!(picture(&merged), picture(&whole), "{parts} parts");
        }
        // What is taken away leaves the weights of the rest, at the level of the whole.
        let mut rest = whole.clone();
        rest.merge(&spectrum(&rows[..10_000]), &[0, 1, 2], -1.0);
        let mut expected = spectrum(&rows[10_000..]);
        expected.raise(whole.level);
        assert_eq!(picture(&rest), picture(&expected));
        assert_eq!(whole.first_shortfall(&spectrum(&rows[..10_000]), &[Some(0), Some(1), Some(2)]), None);
        assert!(rest.first_shortfall(&whole, &[Some(0), Some(1), Some(2)]).is_some());
    }

    #[test]
    fn of_thousands_of_classes_only_signs_are_left() {
        let classes = MOST_CELLS as u32 + 1_000;
        let rows: Vec<(f64, u32)> =
            (0..4 * classes).map(|i| (f64::from(i) - 9_000.0, i * 5 % classes)).collect();
        let all: Vec<usize> = (0..classes as usize).collect();
        let whole = spectrum(&rows).canonical(&all);
        assert_eq!((whole.level, whole.cells.len()), (MOST_DROPPED, 2 * classes as usize));
        let mut merged = spectrum(&rows[..100]);
        merged.merge(&spectrum(&rows[100..]), &all, 1.0);
        assert_eq!(merged.canonical(&all).cells, whole.cells);
        let again = Spectrum::from_parts(whole.level, whole.cells.clone(), whole.counts.clone());
        assert_eq!(again.unwrap().cells, whole.cells);
        // At any other level there would have been room.
        assert!(Spectrum::from_parts(MOST_DROPPED - 1, whole.cells.clone(), whole.counts).is_none());
    }

    #[test]
    fn what_is_missing_is_in_no_cell() {
        for classes in [1, 1_000, 3_000] {
            let of_row: Vec<u32> = (0..20_000).map(|i| i % classes).collect();
            let values: Vec<f64> = (0..20_000)
                .map(|i| if i % 7 == 0 { f64::NAN } else { f64::from(i) * 1e300 - 1e304 })
                .collect();
            let mut spectrum = Spectrum::default();
            values
                .chunks(5_000)
                .zip(of_row.chunks(5_000))
                .for_each(|(x, class)| spectrum.observe(x, class, &[]));
            let counted: f64 = spectrum.counts.cells().sum();
            assert_eq!(counted, values.iter().filter(|x| !x.is_nan()).count() as f64, "{classes} classes");
        }
    }

    proptest! {
        #[test]
        fn anything_finite_fits(values in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 0..200), repeat in 1u64..200) {
            // Multiplying by powers of two spreads the values over all magnitudes without making new mantissas.
            let mut spectrum = Spectrum::default();
            for (i, &x) in values.iter().enumerate() {
                for j in 0..repeat {
                    let y = x * libm::exp2(j as f64 * 3.0 - 300.0);
                    if y.is_finite() {
                        spectrum.add(y, (i % 3) as u32, 1.0);
                    }
                }
            }
            prop_assert!(spectrum.cells.len() <= MOST_CELLS);
            let canonical = spectrum.canonical(&[0, 1, 2]);
            prop_assert!(canonical.by_class(3, None).concat().iter().all(|cell| cell.value.is_finite()));
        }
    }
}

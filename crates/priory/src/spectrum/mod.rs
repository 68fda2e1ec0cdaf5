//! The spectrum: how much each number of a column weighs in each class, as finely as a bounded table can tell.
//!
//! A number is known by its **key**: the bits of its f64, rearranged so that they sort as numbers do, without the
//! lowest few. The number of dropped bits is the **level**. It is the lowest at which the column has at most
//! [`MOST_SPECTRUM_CELLS`] different pairs of key and class. With thousands of classes no level may be low enough; then
//! it is the highest, at which only the sign of a number is left. The level therefore depends on nothing but the set of
//! numbers and classes, and any split or order of the rows gives the same spectrum. Columns with few different numbers
//! are kept exactly. Timestamps keep the bits that tell them apart, however far from zero they lie. Heavy tails have
//! about the same relative precision everywhere.
//!
//! Weights are exact, but dropped bits are lost: forgetting restores the weights to the last bit, but a level that the
//! forgotten rows raised stays.

mod index;
mod key;
#[cfg(test)]
mod tests;
mod window;

use index::{Index, NONE};
pub(crate) use key::shortest_number;
use key::{is_of_numbers, least, number, width};
use window::{NO_PLACE, PlaceWindow};

use crate::exact::ExactSum;
use crate::numerics::{bits_to_drop, ordered_bits};
use crate::tally::Tally;

/// The most cells that are kept. If there are more, numbers are told apart less finely.
pub(crate) const MOST_SPECTRUM_CELLS: usize = 1 << 12;

/// The most bits that can be dropped: at this level only the sign is left.
pub(crate) const MOST_DROPPED: u32 = 63;

/// A key and a class.
pub(crate) type Cell = (u64, u32);

/// The weight of each cell, exactly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spectrum {
    level: u32,
    cells: Vec<Cell>,
    index: Index,
    window: PlaceWindow,
    /// One row per cell.
    counts: Tally,
}

/// A number, or the middle of the cell that it fell into, and what it weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighed {
    pub(crate) value: f64,
    pub(crate) weight: f64,
    /// The width of the cell; zero if the number is known exactly.
    pub(crate) width: f64,
}

/// How many rows are looked up together, so that their waits for memory overlap.
const ROWS_AT_ONCE: usize = 64;

/// How many rows are counted before the counts are added to the cells. Fewer than [`FEW_ROWS`] are added one by one.
const ROWS_COUNTED: usize = 1 << 15;
const FEW_ROWS: usize = 1 << 8;

/// How many cells there may be while rows are being added. Raising the level in a few large steps is faster than
/// dropping one bit at a time.
const MOST_SPECTRUM_CELLS_AT_TIMES: usize = 4 * MOST_SPECTRUM_CELLS;

/// How many rows an empty spectrum looks at to find a level to start with.
const ROWS_FORESEEN: usize = 2 * MOST_SPECTRUM_CELLS;

impl Spectrum {
    /// A spectrum from what [`level`](Self::level), [`cells`](Self::cells) and [`counts`](Self::counts) say; `None`
    /// unless the cells are in order, within bounds, and hold finite numbers.
    pub(crate) fn from_parts(level: u32, cells: Vec<Cell>, counts: Tally) -> Option<Self> {
        let finite =
            |&(key, _): &Cell| level <= MOST_DROPPED && key <= u64::MAX >> level && is_of_numbers(key, level);
        let few = cells.len() <= MOST_SPECTRUM_CELLS || level == MOST_DROPPED;
        let sound = few && cells.is_sorted_by(|a, b| a < b) && cells.iter().all(finite);
        let index = Index::of(&cells);
        let window = PlaceWindow::default();
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
        if self.cells.is_empty() && values.len() > MOST_SPECTRUM_CELLS {
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
            // A new cell may raise the level, and then all ids change.
            let level = self.level;
            for (row, &id) in rows.zip(&ids).filter(|&(row, _)| !values[row].is_nan()) {
                let is_known = id != NONE && self.level == level;
                let id = if is_known { id } else { self.id(values[row], classes[row]) };
                self.counts.add(id as usize, 0, weight(row));
            }
        }
        self.fit();
    }

    /// Adds rows of weight one to a spectrum with dropped bits: counts the rows at each place of the window first, and
    /// then adds each count to its cell.
    fn count(&mut self, values: &[f64], classes: &[u32]) {
        self.window.update(&self.cells, self.level);
        let (mut counts, mut outside) = (vec![0_u32; self.window.ids.len()], Vec::new());
        let mut places = [NO_PLACE; ROWS_AT_ONCE];
        for (start, some) in (0..).step_by(ROWS_AT_ONCE).zip(values.chunks(ROWS_AT_ONCE)) {
            let rows = start..start + some.len();
            self.window.places(some, &classes[rows.clone()], self.level, &mut places);
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

    /// The id of the cell of a number. A new cell is added, and there may then be up to
    /// [`MOST_SPECTRUM_CELLS_AT_TIMES`].
    fn id(&mut self, x: f64, class: u32) -> u32 {
        let id = self.push((ordered_bits(x) >> self.level, class));
        if self.cells.len() <= MOST_SPECTRUM_CELLS_AT_TIMES {
            return id;
        }
        self.fit();
        self.push((ordered_bits(x) >> self.level, class))
    }

    /// The id of a cell, which is added if it is new.
    fn push(&mut self, cell: Cell) -> u32 {
        let known = self.cells.len();
        let id = self.index.intern(cell, &mut self.cells);
        if self.cells.len() > known {
            self.counts.grow(self.cells.len(), 1);
        }
        id
    }

    /// Drops as many bits as it takes to have at most [`MOST_SPECTRUM_CELLS`] cells, at most all but the sign.
    fn fit(&mut self) {
        if self.cells.len() <= MOST_SPECTRUM_CELLS || self.level == MOST_DROPPED {
            return;
        }
        self.raise(least_level(&self.cells, self.level));
    }

    /// Starts an empty spectrum at the level that the first of these rows need by themselves, with their cells, if that
    /// level is high. More rows can only raise the level, and rising to it step by step would take longer. The weights
    /// of the rows are not added yet.
    fn foresee(&mut self, values: &[f64], classes: &[u32]) {
        // The class replaces the lowest bits of the key, because plain integers sort fastest.
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
        match bits_to_drop(cells.windows(2).map(|pair| pair[0] ^ pair[1]), MOST_SPECTRUM_CELLS) {
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

    /// Raises the level to this one, unless it is as high already.
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
        self.index.make_room(&self.cells, self.cells.len().max(other.cells.len().min(MOST_SPECTRUM_CELLS)));
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
            *self = self.select(|_| true, Some);
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
                // Rows that are part of ours cannot have a higher level than ours, since their numbers are among ours.
                let cell = (key, class_of[class as usize]? as u32);
                self.index.get(cell, &self.cells).filter(|_| part.level == self.level).map(|id| id as usize)
            })
            .collect();
        let (row, _) = self.counts.first_shortfall(&part.counts, &row_of, &[Some(0)])?;
        let (key, class) = part.cells[row];
        Some((number(key, part.level), class as usize))
    }

    /// The cells that are wanted and whose weight is not zero, in order and with the classes renumbered. Cells whose class
    /// has no new number are left out.
    fn select(&self, is_wanted: impl Fn(u64) -> bool, class_of: impl Fn(u32) -> Option<u32>) -> Self {
        let mut kept: Vec<(Cell, usize)> = (self.cells.iter().zip(0..))
            .filter(|&(&(key, _), id)| is_wanted(key) && !self.counts.is_zero(id, 0))
            .filter_map(|(&(key, class), id)| Some(((key, class_of(class)?), id)))
            .collect();
        kept.sort_unstable();
        let rows: Vec<usize> = kept.iter().map(|&(_, id)| id).collect();
        let cells: Vec<Cell> = kept.into_iter().map(|(cell, _)| cell).collect();
        let (index, window) = (Index::of(&cells), PlaceWindow::default());
        Spectrum { level: self.level, cells, index, window, counts: self.counts.select(&rows, &[0]) }
    }

    /// The canonical form: sorted, without cells of weight zero, and with the classes in the given order.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let mut new_id = vec![None; classes.iter().max().map_or(0, |most| most + 1)];
        classes.iter().zip(0..).for_each(|(&old, new)| new_id[old] = Some(new));
        let mut canonical = self.select(|_| true, |class| new_id.get(class as usize).copied().flatten());
        if canonical.counts.classes() == 0 {
            canonical.counts.grow(0, 1);
        }
        if canonical.cells.is_empty() {
            canonical.level = 0;
        }
        canonical
    }

    /// The same without the numbers that have one of these keys, which are in order.
    pub(crate) fn without(&self, keys: &[u64]) -> Self {
        self.select(|key| keys.binary_search(&key).is_err(), Some)
    }

    /// The number, class and exact weight of every cell. A cell that several numbers may share is represented by the number
    /// in its middle.
    pub(crate) fn exactly(&self) -> impl Iterator<Item = (f64, usize, ExactSum)> + '_ {
        let cells = self.cells.iter().enumerate();
        cells.map(|(id, &(key, class))| (number(key, self.level), class as usize, self.counts.exact(id, 0)))
    }

    /// The keys of all classes, in order, and what they weigh together. The spectrum is canonical.
    pub(crate) fn pooled(&self) -> Vec<(u64, f64)> {
        let mut pooled: Vec<(u64, f64)> = Vec::new();
        for (&(key, _), weight) in self.cells.iter().zip(self.counts.cells()) {
            match pooled.last_mut() {
                Some(last) if last.0 == key => last.1 += weight,
                _ => pooled.push((key, weight)),
            }
        }
        pooled
    }

    /// The least number with this key.
    pub(crate) fn least_number(&self, key: u64) -> f64 {
        least(key, self.level)
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

    /// The weight of a number in a class, less the given weight.
    pub(crate) fn count_without(&self, x: f64, class: usize, weight: f64) -> f64 {
        let id = self.index.get((ordered_bits(x) >> self.level, class as u32), &self.cells);
        id.map_or(0.0, |id| self.counts.get_without(id as usize, 0, weight))
    }

    /// The numbers of each class and their weights, in order; the spectrum must be canonical. A cell that several
    /// numbers may share is represented by the number in its middle. Optionally, one number of some class and weight is
    /// left out.
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

/// The lowest level, from that of these cells upwards, at which at most [`MOST_SPECTRUM_CELLS`] are left; the highest
/// if there is none.
fn least_level(cells: &[Cell], level: u32) -> u32 {
    // Sorted by class and then by key, cells stay in order when bits are dropped.
    let mut cells: Vec<u128> =
        cells.iter().map(|&(key, class)| u128::from(class) << 64 | u128::from(key)).collect();
    cells.sort_unstable();
    // Cells of different classes never become one.
    let differences = cells.windows(2).map(|pair| u64::try_from(pair[0] ^ pair[1]).unwrap_or(u64::MAX));
    (level + bits_to_drop(differences, MOST_SPECTRUM_CELLS)).min(MOST_DROPPED)
}

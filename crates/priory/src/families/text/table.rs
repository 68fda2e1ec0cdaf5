//! Counts of tokens, by class: in how many documents, and how often.
//!
//! Most tokens occur in few classes, so most have a short list of cells, only for the classes that counted them; tokens
//! that occur in many classes have a cell for every class. Counting mostly waits for memory, so counts take four bytes
//! each as long as all of them are small whole numbers, and eight bytes otherwise. As in a
//! [`Tally`](crate::tally::Tally), the rounding errors of the f64 are kept beside the table, so that every cell is
//! exact for every finite weight.

mod canonical;

use std::collections::BTreeMap;
use std::ops::Range;

use super::by_token::{ByToken, OfDocument};
use super::counts::Counts;
use crate::exact::{ExactSum, can_be_halved, two_sum};
use crate::moments::engine::ask;

/// What is counted of a token in a class.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TokenCell {
    pub(crate) class: u32,
    /// The weight of the documents that have the token.
    pub(crate) documents: f64,
    /// Its occurrences, weighted by their documents.
    pub(crate) terms: f64,
}

impl TokenCell {
    fn is_zero(&self) -> bool {
        self.documents == 0.0 && self.terms == 0.0
    }
}

/// The classes of some cells, and their documents and terms.
pub(crate) type WholeRow<'a> = (&'a [u16], &'a [[u32; 2]]);

/// Tokens with more cells than this get a cell for every class.
const LONGEST_LIST: [u32; 2] = [4, 8];
const FEW_CLASSES: u32 = 32;
/// Stands for the length of a row that has a cell for every class.
const DENSE: u32 = u32::MAX;

/// Cells are prefetched this many tokens ahead.
const AHEAD: usize = 8;

/// Where the cells of a token are.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    start: u32,
    /// How many cells are in use, from the first on; [`DENSE`] if the cell of class c is the c-th.
    length: u32,
    /// How many cells are reserved.
    room: u32,
}

/// Exact counts of tokens by class.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenTable {
    rows: Vec<Row>,
    /// The class of each cell: there are at most 2^16.
    class_of: Vec<u16>,
    counts: Counts,
    /// Free lists: places that tokens have outgrown and others can reuse, by the logarithm of their size.
    free: [Vec<u32>; 4],
    classes: u32,
    /// The rounding errors of the cells: of their documents and of their terms.
    residue: BTreeMap<(u32, u32), [ExactSum; 2]>,
}

impl TokenTable {
    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many cells take up memory.
    pub(crate) fn cells_held(&self) -> usize {
        self.counts.len()
    }

    /// Roughly how many bytes the table takes.
    pub(crate) fn memory(&self) -> usize {
        let counts = match &self.counts {
            Counts::Small(counts) => size_of_val(&counts[..]),
            Counts::Wide(counts) => size_of_val(&counts[..]),
        };
        size_of_val(&self.rows[..]) + size_of_val(&self.class_of[..]) + counts
    }

    /// Makes room for this many tokens and classes; new ones count zero.
    pub(crate) fn grow(&mut self, tokens: usize, classes: usize) {
        self.rows.resize(tokens.max(self.rows.len()), Row::default());
        self.classes = self.classes.max(classes as u32);
    }

    /// Adds to one cell; both amounts may be negative.
    #[inline]
    pub(crate) fn add(&mut self, token: usize, class: usize, documents: f64, terms: f64) {
        let place = self.place(token, class as u32);
        let errors = self.counts.add(place, [documents, terms]);
        if errors != [0.0; 2] {
            self.add_residue(token, class, errors);
        }
    }

    /// Adds whole numbers to one cell.
    #[inline]
    fn add_whole(&mut self, token: usize, class: usize, [documents, terms]: [u32; 2]) {
        let row = self.rows[token];
        if row.length == DENSE
            && class < row.room as usize
            && let Counts::Small(counts) = &mut self.counts
            && let cell = &mut counts[row.start as usize + class]
            && let (Some(documents), Some(terms)) =
                (cell[0].checked_add(documents), cell[1].checked_add(terms))
        {
            *cell = [documents, terms];
        } else {
            self.add(token, class, documents.into(), terms.into());
        }
    }

    /// Adds documents of weight one, whose tokens have these ids. With them, no class has more than `largest`
    /// occurrences of all tokens together.
    pub(super) fn add_documents(&mut self, ids: &[u32], by_token: &ByToken, largest: f64) {
        /// Most tokens have few documents.
        const AHEAD: usize = 12;
        let fit = largest <= u32::MAX.into();
        for token in 0..by_token.len() {
            if by_token.has(token + AHEAD) {
                self.ask(ids[token + AHEAD] as usize);
            }
            if by_token.has(token) {
                self.add_documents_of(ids[token] as usize, by_token.documents(token), fit);
            }
        }
        for &(token, class, occurrences) in &by_token.rest {
            self.add(ids[token] as usize, class, 0.0, occurrences.into());
        }
    }

    /// Adds documents that have a token. If all counts are known to fit into four bytes, nothing has to be checked.
    #[inline]
    fn add_documents_of(&mut self, token: usize, documents: &[OfDocument], fit: bool) {
        let row = self.rows[token];
        match &mut self.counts {
            Counts::Small(counts) if fit && row.length == DENSE && row.room >= self.classes => {
                let cells = &mut counts[row.start as usize..][..row.room as usize];
                for &OfDocument { class, occurrences } in documents {
                    let [documents, terms] = &mut cells[usize::from(class)];
                    *documents += 1;
                    *terms += u32::from(occurrences);
                }
            }
            _ => {
                for &OfDocument { class, occurrences } in documents {
                    self.add_whole(token, class.into(), [1, occurrences.into()]);
                }
            }
        }
    }

    #[cold]
    fn add_residue(&mut self, token: usize, class: usize, errors: [f64; 2]) {
        let residue = self.residue.entry((token as u32, class as u32)).or_default();
        residue.iter_mut().zip(errors).for_each(|(sum, error)| sum.add(error));
    }

    /// Prefetches the cells of a token: in a large vocabulary they are rarely in the cache.
    #[inline]
    fn ask(&self, token: usize) {
        let cells = self.held(token);
        if self.rows[token].length != DENSE {
            ask(&self.class_of[cells.clone()]);
        }
        match &self.counts {
            Counts::Small(counts) => ask(&counts[cells]),
            Counts::Wide(counts) => ask(&counts[cells]),
        }
    }

    #[inline]
    fn place(&mut self, token: usize, class: u32) -> usize {
        let row = self.rows[token];
        if row.length == DENSE {
            if class < row.room {
                return (row.start + class) as usize;
            }
        } else {
            let start = row.start as usize;
            let list = &self.class_of[start..start + row.length as usize];
            if let Some(i) = list.iter().position(|&of| u32::from(of) == class) {
                return start + i;
            }
        }
        self.new_place(token, class)
    }

    fn new_place(&mut self, token: usize, class: u32) -> usize {
        let row = self.rows[token];
        if row.length < row.room {
            let place = (row.start + row.length) as usize;
            self.class_of[place] = class as u16;
            self.counts.clear(place);
            self.rows[token].length += 1;
            return place;
        }
        if row.length >= LONGEST_LIST[usize::from(self.classes > FEW_CLASSES)] {
            self.widen(token, class);
            return (self.rows[token].start + class) as usize;
        }
        // Most tokens occur in one class only, but one that occurs in two is likely to occur in more.
        let room = if row.length == 0 { 1 } else { (row.length + 1).next_power_of_two().max(4) };
        let start = match self.free[room.ilog2() as usize].pop() {
            Some(start) => start,
            None => self.allocate(room),
        };
        let old = row.start as usize..(row.start + row.length) as usize;
        self.class_of.copy_within(old.clone(), start as usize);
        self.counts.copy_within(old, start as usize);
        self.reuse(row);
        self.rows[token] = Row { start, length: row.length, room };
        self.new_place(token, class)
    }

    /// Keeps the old list of a token that was moved, so that another token can reuse it.
    fn reuse(&mut self, row: Row) {
        if row.length != DENSE && row.room.is_power_of_two() && row.room <= LONGEST_LIST[1] {
            self.free[row.room.ilog2() as usize].push(row.start);
        }
    }

    /// Gives a token a cell for every class, this one among them.
    fn widen(&mut self, token: usize, class: u32) {
        let row = self.rows[token];
        let room = self.classes.max(class + 1).max(if row.length == DENSE { 2 * row.room } else { 0 });
        let start = self.allocate(room);
        for old in self.held(token) {
            let new = start as usize + usize::from(self.class_of[old]);
            self.counts.copy_within(old..old + 1, new);
        }
        self.reuse(row);
        self.rows[token] = Row { start, length: DENSE, room };
    }

    /// Makes room for cells of the first classes.
    fn allocate(&mut self, room: u32) -> u32 {
        let start =
            u32::try_from(self.counts.len()).expect("the number of cells is bounded before they are counted");
        self.class_of.extend((0..room).map(|class| class as u16));
        self.counts.extend(room as usize);
        start
    }

    /// The range of the cells of a token that are in use; some of them may count zero.
    fn held(&self, token: usize) -> Range<usize> {
        let row = self.rows[token];
        let length = if row.length == DENSE { row.room } else { row.length };
        row.start as usize..(row.start + length) as usize
    }

    #[inline]
    fn cell(&self, place: usize) -> TokenCell {
        let [documents, terms] = self.counts.get(place);
        TokenCell { class: self.class_of[place].into(), documents, terms }
    }

    /// The place of a class among the cells of a token.
    #[inline]
    fn find(&self, token: usize, class: usize) -> Option<usize> {
        let places = self.held(token);
        let list = &self.class_of[places.clone()];
        let is_class = |of: &u16| usize::from(*of) == class;
        // A token that every class has counted is found at once.
        let found = match list.get(class) {
            Some(of) if is_class(of) => Some(class),
            _ => list.iter().position(is_class),
        };
        found.map(|i| places.start + i)
    }

    /// The documents and terms of a token in a class.
    #[inline]
    pub(crate) fn counts_in(&self, token: usize, class: usize) -> [f64; 2] {
        self.find(token, class).map_or([0.0; 2], |place| self.counts.get(place))
    }

    /// The cells of a token that count. Their order is that of the classes if the table is canonical.
    #[inline]
    pub(crate) fn cells(&self, token: usize) -> impl Iterator<Item = TokenCell> + Clone {
        self.held(token).map(|place| self.cell(place)).filter(|cell| !cell.is_zero())
    }

    /// Passes class, documents and terms of the same cells to a closure, which is faster.
    #[inline]
    pub(crate) fn for_each_cell(&self, token: usize, mut each: impl FnMut(usize, f64, f64)) {
        let places = self.held(token);
        let classes = self.class_of[places.clone()].iter().map(|&class| usize::from(class));
        match &self.counts {
            Counts::Small(counts) => {
                for (class, &[documents, terms]) in classes.zip(&counts[places]) {
                    if [documents, terms] != [0; 2] {
                        each(class, documents.into(), terms.into());
                    }
                }
            }
            Counts::Wide(counts) => {
                for (class, &[documents, terms]) in classes.zip(&counts[places]) {
                    if [documents, terms] != [0.0; 2] {
                        each(class, documents, terms);
                    }
                }
            }
        }
    }

    /// The exact counts of a cell: documents and terms.
    pub(crate) fn exact(&self, token: usize, class: usize) -> [ExactSum; 2] {
        let mut exact = self.residue.get(&(token as u32, class as u32)).cloned().unwrap_or_default();
        if let Some(place) = self.find(token, class) {
            exact.iter_mut().zip(self.counts.get(place)).for_each(|(sum, count)| sum.add(count));
        }
        exact
    }

    /// The weight of the documents of all classes that have a token, less the given weight, correctly rounded.
    pub(crate) fn documents_without(&self, token: usize, weight: f64) -> f64 {
        if self.residue.is_empty() {
            let (mut rest, mut is_exact) = (-weight, true);
            self.for_each_cell(token, |_, documents, _| {
                let (sum, error) = two_sum(rest, documents);
                (rest, is_exact) = (sum, is_exact && error == 0.0);
            });
            if is_exact {
                return rest;
            }
        }
        let mut rest: ExactSum = self.cells(token).map(|cell| cell.documents).collect();
        let token = token as u32;
        for (_, [documents, _]) in self.residue.range((token, 0)..=(token, u32::MAX)) {
            rest.merge(documents);
        }
        rest.add(-weight);
        rest.value()
    }

    /// Whether a token counts nothing in any class.
    pub(crate) fn is_zero(&self, token: usize) -> bool {
        if self.residue.is_empty() {
            return self.cells(token).next().is_none();
        }
        let exactly_zero = |class: u16| self.exact(token, class.into()).iter().all(ExactSum::is_zero);
        self.held(token).all(|place| exactly_zero(self.class_of[place]))
    }

    /// Adds `sign` times `other`, whose token t is our `token_of[t]` and whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &TokenTable, token_of: &[usize], class_of: &[usize], sign: f64) {
        for (token, &ours) in token_of.iter().enumerate() {
            if let Some(&later) = token_of.get(token + AHEAD) {
                self.ask(later);
            }
            if let (true, Counts::Small(counts)) = (sign > 0.0, &other.counts) {
                let places = other.held(token);
                if self.add_row(ours, &other.class_of[places.clone()], &counts[places.clone()], class_of) {
                    continue;
                }
                for place in places.filter(|&place| counts[place] != [0; 2]) {
                    self.add_whole(ours, class_of[usize::from(other.class_of[place])], counts[place]);
                }
                continue;
            }
            for cell in other.cells(token) {
                self.add(ours, class_of[cell.class as usize], sign * cell.documents, sign * cell.terms);
            }
        }
        for (&(token, class), residue) in &other.residue {
            let (token, class) = (token_of[token as usize], class_of[class as usize]);
            let [documents, terms] = residue;
            documents.canonical_terms().into_iter().for_each(|x| self.add(token, class, sign * x, 0.0));
            terms.canonical_terms().into_iter().for_each(|x| self.add(token, class, 0.0, sign * x));
        }
    }

    /// Adds cells to a row that has a cell for every class. Returns `false`, and adds nothing, if the row is not of
    /// that form or a sum would not fit.
    #[inline]
    fn add_row(&mut self, token: usize, of: &[u16], counts: &[[u32; 2]], class_of: &[usize]) -> bool {
        let row = self.rows[token];
        let Counts::Small(cells) = &mut self.counts else { return false };
        if row.length != DENSE || row.room < self.classes {
            return false;
        }
        let cells = &mut cells[row.start as usize..][..row.room as usize];
        // A row may have cells for classes that do not exist yet; they count zero.
        let known =
            || of.iter().zip(counts).filter_map(|(&of, &new)| Some((*class_of.get(usize::from(of))?, new)));
        let fits = |(class, new): (usize, [u32; 2])| {
            let [documents, terms] = cells[class];
            documents.checked_add(new[0]).is_some() & terms.checked_add(new[1]).is_some()
        };
        if !known().fold(true, |all, cell| all & fits(cell)) {
            return false;
        }
        for (class, [documents, terms]) in known() {
            cells[class][0] += documents;
            cells[class][1] += terms;
        }
        true
    }

    /// Multiplies every count by a power of two, which loses nothing if they [can be halved](Self::can_be_halved).
    pub(crate) fn scale(&mut self, power: f64) {
        let counts = self.counts.widened().iter_mut();
        counts.for_each(|cell| cell.iter_mut().for_each(|count| *count *= power));
        self.residue.values_mut().flatten().for_each(|residue| residue.scale(power));
    }

    /// Whether every count can be halved this many times without losing a bit.
    pub(crate) fn can_be_halved(&self, times: u32) -> bool {
        let cells = match &self.counts {
            Counts::Small(_) => true,
            Counts::Wide(counts) => counts.iter().flatten().all(|&count| can_be_halved(count, times)),
        };
        cells && self.residue.values().flatten().all(|residue| residue.can_be_halved(times))
    }

    /// The first cell of which `other` has more, with tokens and classes mapped as in [`merge`](Self::merge). A token
    /// or class that we do not have is mapped to `None` and counts nothing.
    pub(crate) fn first_shortfall(
        &self,
        other: &TokenTable,
        token_of: &[Option<usize>],
        class_of: &[Option<usize>],
    ) -> Option<(usize, usize)> {
        (0..other.len()).find_map(|token| {
            let classes = other.held(token).map(|place| usize::from(other.class_of[place]));
            let mut cells = classes.filter(|&class| class < class_of.len());
            cells
                .find(|&class| self.lacks(other, token, class, token_of, class_of))
                .map(|class| (token, class))
        })
    }

    fn lacks(
        &self,
        other: &TokenTable,
        token: usize,
        class: usize,
        token_of: &[Option<usize>],
        class_of: &[Option<usize>],
    ) -> bool {
        if self.is_plain() && other.is_plain() {
            let counts = |table: &TokenTable, token: usize, class: usize| {
                table.find(token, class).map_or([0.0; 2], |place| table.counts.get(place))
            };
            let ours = token_of[token].zip(class_of[class]);
            let ours = ours.map_or([0.0; 2], |(token, class)| counts(self, token, class));
            let theirs = counts(other, token, class);
            return ours[0] < theirs[0] || ours[1] < theirs[1];
        }
        let ours = match (token_of[token], class_of[class]) {
            (Some(token), Some(class)) => self.exact(token, class),
            _ => Default::default(),
        };
        ours.into_iter().zip(other.exact(token, class)).any(|(mut left, theirs)| {
            left.subtract(&theirs);
            left.is_negative()
        })
    }

    /// Whether all counts are exact without rounding errors beside them.
    pub(crate) fn is_plain(&self) -> bool {
        self.residue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(table: &TokenTable, token: usize) -> Vec<(u32, f64)> {
        let mut cells: Vec<_> = table.cells(token).map(|cell| (cell.class, cell.documents)).collect();
        cells.sort_by_key(|cell| cell.0);
        cells
    }

    #[test]
    fn rows_grow_from_lists_to_every_class() {
        let mut table = TokenTable::default();
        table.grow(3, 2);
        for class in 0..40 {
            table.grow(3, class + 1);
            for token in 0..3 {
                if class % (token + 1) == 0 {
                    table.add(token, class, 1.0, class as f64);
                    table.add(token, class, 1.0, 0.5);
                }
            }
        }
        for token in 0..3 {
            let expected: Vec<(u32, f64)> =
                (0..40).filter(|class| class % (token as u32 + 1) == 0).map(|class| (class, 2.0)).collect();
            assert_eq!(documents(&table, token), expected);
        }
        assert_eq!(table.exact(1, 38)[1].value(), 38.5);
        // Rows have more room than there are classes; nobody sees it.
        let classes: Vec<Option<u32>> = (0..40).map(Some).collect();
        assert_eq!(documents(&table.select(&[1], &classes), 0), documents(&table, 1));
        let ours: Vec<Option<usize>> = (0..40).map(Some).collect();
        assert_eq!(table.first_shortfall(&table, &[Some(0), Some(1), Some(2)], &ours), None);
        let none = vec![None; 40];
        assert_eq!(table.first_shortfall(&table, &[Some(0), Some(1), Some(2)], &none), Some((0, 0)));
        assert!(table.exact(1, 39)[1].is_zero());
    }

    #[test]
    fn fractions_undo_exactly_and_zero_cells_go() {
        let mut table = TokenTable::default();
        table.grow(2, 2);
        for _ in 0..10 {
            table.add(0, 1, 0.1, 0.3);
        }
        table.add(1, 0, 1.0, 2.0);
        let class_of = [Some(1), Some(0)];
        let both = table.select(&[1, 0], &class_of);
        assert_eq!(documents(&both, 0), [(1, 1.0)]);
        assert_eq!(documents(&both, 1), [(0, 1.0)]);
        assert!(!both.is_plain());
        for _ in 0..10 {
            table.add(0, 1, -0.1, -0.3);
        }
        assert!(table.is_zero(0) && !table.is_zero(1));
        assert!(table.select(&[1], &class_of).is_plain());
    }
}

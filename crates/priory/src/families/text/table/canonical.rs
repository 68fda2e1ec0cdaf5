//! The canonical form of a table: tokens in a given order, cells in that of the classes, none that counts zero. It is what is
//! written, read and estimated from.

use super::{AHEAD, Counts, DENSE, Row, TokenCell, TokenTable, WholeRow};
use crate::exact::ExactSum;

impl TokenTable {
    /// The same counts with tokens picked in a given order and classes renamed, every cell in canonical form: in the
    /// order of the classes, and none that counts zero. `class_of` is `None` for a class that counts zero.
    pub(crate) fn select(&self, tokens: &[usize], class_of: &[Option<u32>]) -> TokenTable {
        let mut selected = TokenTable { classes: class_of.len() as u32, ..TokenTable::default() };
        selected.rows.reserve_exact(tokens.len());
        if self.residue.is_empty()
            && let Counts::Small(counts) = &self.counts
        {
            selected.select_whole(self, counts, tokens, class_of);
            return selected;
        }
        let mut cells: Vec<TokenCell> = Vec::new();
        for (to, &token) in tokens.iter().enumerate() {
            cells.clear();
            for old in self.held(token).map(|place| self.cell(place)) {
                // A row may have cells for classes that do not exist yet.
                let Some(&Some(class)) = class_of.get(old.class as usize) else { continue };
                let mut new = TokenCell { class, ..old };
                if !self.residue.is_empty() {
                    let [documents, terms] = self.exact(token, old.class as usize);
                    new = TokenCell { class, documents: documents.value(), terms: terms.value() };
                    let rest = [rest_of(documents), rest_of(terms)];
                    if rest.iter().any(|rest| !rest.is_zero()) {
                        selected.residue.insert((to as u32, class), rest);
                    }
                }
                if !new.is_zero() {
                    cells.push(new);
                }
            }
            if !cells.is_sorted_by_key(|cell| cell.class) {
                cells.sort_unstable_by_key(|cell| cell.class);
            }
            selected.push_row(&cells);
        }
        selected
    }

    /// Appends tokens of a table of whole numbers, as [`select`](Self::select) does.
    fn select_whole(
        &mut self,
        from: &TokenTable,
        counts: &[[u32; 2]],
        tokens: &[usize],
        class_of: &[Option<u32>],
    ) {
        let Counts::Small(selected) = &mut self.counts else { unreachable!("nothing was added yet") };
        selected.reserve(counts.len());
        self.class_of.reserve(counts.len());
        let renamed = |old: u16| class_of.get(usize::from(old)).copied().flatten().map(|new| new as u16);
        // The classes that a row may have a cell for, in their new order.
        let mut order: Vec<(u16, u16)> =
            (0..=u16::MAX).take(class_of.len()).filter_map(|old| Some((renamed(old)?, old))).collect();
        order.sort_unstable();
        let mut list: Vec<(u16, usize)> = Vec::new();
        for (i, &token) in tokens.iter().enumerate() {
            if let Some(&later) = tokens.get(i + AHEAD) {
                from.ask(later);
            }
            let start = selected.len();
            let mut push = |class: u16, place: usize| {
                if counts[place] != [0; 2] {
                    self.class_of.push(class);
                    selected.push(counts[place]);
                }
            };
            let (row, places) = (from.rows[token], from.held(token));
            if row.length == DENSE {
                let held = order.iter().filter(|(_, old)| u32::from(*old) < row.room);
                held.for_each(|&(class, old)| push(class, places.start + usize::from(old)));
            } else {
                list.clear();
                list.extend(places.filter_map(|place| Some((renamed(from.class_of[place])?, place))));
                list.sort_unstable();
                list.iter().for_each(|&(class, place)| push(class, place));
            }
            let length = (selected.len() - start) as u32;
            self.rows.push(Row { start: start as u32, length, room: length });
        }
    }

    /// Appends a token with cells in canonical form.
    fn push_row(&mut self, cells: &[TokenCell]) {
        let (start, length) = (self.counts.len(), cells.len() as u32);
        self.class_of.extend(cells.iter().map(|cell| cell.class as u16));
        cells.iter().for_each(|cell| self.counts.push([cell.documents, cell.terms]));
        self.rows.push(Row { start: start as u32, length, room: length });
    }

    /// A table in canonical form from what [`cells`](Self::cells) and [`residue`](Self::residue) say of one; `None`
    /// unless they do so. `ends` are the ends of the tokens among the cells.
    pub(crate) fn from_cells(
        classes: usize,
        ends: &[u64],
        mut cells: impl ExactSizeIterator<Item = TokenCell>,
        residue: [&[(u64, f64)]; 2],
    ) -> Option<Self> {
        let mut table = TokenTable { classes: classes as u32, ..TokenTable::default() };
        let (all, mut start) = (cells.len() as u64, 0);
        let counts = |x: f64| x > 0.0 || x.to_bits() == 0;
        let mut row: Vec<TokenCell> = Vec::new();
        for &end in ends {
            if end <= start || end > all {
                return None;
            }
            row.clear();
            row.extend(cells.by_ref().take((end - start) as usize));
            let in_order =
                row.is_sorted_by(|a, b| a.class < b.class) && (row[row.len() - 1].class as usize) < classes;
            let positive =
                row.iter().all(|cell| counts(cell.documents) && counts(cell.terms) && !cell.is_zero());
            if !in_order || !positive || end > u64::from(u32::MAX) {
                return None;
            }
            table.push_row(&row);
            start = end;
        }
        if start != all {
            return None;
        }
        for (which, residue) in residue.into_iter().enumerate() {
            for &(cell, term) in residue {
                let key = table.key(usize::try_from(cell).ok().filter(|_| cell < all)?);
                table.residue.entry(key).or_default()[which].add(term);
            }
        }
        let same = (0..2).all(|which| table.residue(which).eq(residue[which].iter().copied()));
        let canonical = table.residue.iter().all(|(&(token, class), rest)| {
            let place = table.find(token as usize, class as usize);
            let rounded = table.exact(token as usize, class as usize).map(|sum| sum.value());
            place.is_some_and(|place| rounded == table.counts.get(place))
                && rest.iter().any(|rest| !rest.is_zero())
        });
        (same && canonical).then_some(table)
    }

    /// The same from whole numbers alone.
    pub(crate) fn from_whole_cells(
        classes: usize,
        ends: &[u64],
        class_of: Vec<u16>,
        counts: Vec<[u32; 2]>,
    ) -> Option<Self> {
        let mut rows = Vec::with_capacity(ends.len());
        let mut start = 0;
        for &end in ends {
            let end = u32::try_from(end).ok()?;
            let length = end.checked_sub(start).filter(|&length| length > 0)?;
            rows.push(Row { start, length, room: length });
            start = end;
        }
        // There may be millions of cells: each step takes many of them at once, and none stops early.
        let known = class_of.iter().fold(true, |known, &class| known & (usize::from(class) < classes));
        let count = counts.iter().fold(true, |count, &[documents, terms]| count & (documents | terms != 0));
        let table = TokenTable {
            rows,
            class_of,
            counts: Counts::Small(counts),
            classes: classes as u32,
            ..TokenTable::default()
        };
        let whole = table.class_of.len() == start as usize && table.counts.len() == start as usize;
        (whole && known && count && table.classes_ascend()).then_some(table)
    }

    /// Whether the cells of each token, which stand one token after the other, are in the order of their classes, none of
    /// which occurs twice.
    fn classes_ascend(&self) -> bool {
        let falls = self.class_of.iter().zip(self.class_of.iter().skip(1)).filter(|(a, b)| a >= b).count();
        // Classes may decrease where a new token begins.
        let begins = |row: &&Row| {
            let start = row.start as usize;
            start > 0 && self.class_of[start - 1] >= self.class_of[start]
        };
        falls == self.rows.iter().filter(begins).count()
    }

    /// Whether the cells stand token after token in the order of the classes, and none counts zero. What is not plain
    /// might have to be rounded anew.
    pub(crate) fn is_canonical(&self) -> bool {
        let mut start = 0;
        let in_place = |row: &Row| {
            let follows =
                row.length != DENSE && row.length == row.room && row.start == start && row.length > 0;
            start = row.start.wrapping_add(row.length);
            follows
        };
        let positive = || match &self.counts {
            Counts::Small(counts) => {
                counts.iter().fold(true, |all, &[documents, terms]| all & (documents > 0) & (terms > 0))
            }
            Counts::Wide(counts) => counts.iter().all(|&[documents, terms]| documents > 0.0 && terms > 0.0),
        };
        self.is_plain()
            && self.rows.iter().all(in_place)
            && self.rows.last().is_none_or(|row| (row.start + row.length) as usize == self.counts.len())
            && self.classes_ascend()
            && positive()
    }

    /// Token and class of the i-th cell of a canonical table.
    fn key(&self, i: usize) -> (u32, u32) {
        let token = self.rows.partition_point(|row| (row.start + row.length) as usize <= i);
        (token as u32, self.class_of[i].into())
    }

    /// All cells of a canonical table, token after token.
    pub(crate) fn all_cells(&self) -> impl ExactSizeIterator<Item = TokenCell> + Clone {
        (0..self.counts.len()).map(|place| self.cell(place))
    }

    /// Their classes alone.
    pub(crate) fn classes_of_cells(&self) -> impl ExactSizeIterator<Item = u16> + '_ {
        self.class_of.iter().copied()
    }

    /// Their documents and terms alone, if every count is a small whole number.
    pub(crate) fn whole_counts(&self) -> Option<impl ExactSizeIterator<Item = [u32; 2]> + '_> {
        let Counts::Small(counts) = &self.counts else { return None };
        Some(counts.iter().copied())
    }

    /// The class of the i-th cell of a canonical table.
    pub(crate) fn class_of_cell(&self, i: u64) -> usize {
        self.class_of[i as usize].into()
    }

    /// For each token of a canonical table, where its cells end.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.iter().map(|row| u64::from(row.start + row.length))
    }

    /// The rounding errors of the documents (0) or terms (1) of a canonical table, as (cell, error) in order.
    pub(crate) fn residue(&self, which: usize) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.residue.iter().flat_map(move |(&(token, class), residue)| {
            let place = self.find(token as usize, class as usize).unwrap_or_default();
            residue[which].canonical_terms().into_iter().map(move |term| (place as u64, term))
        })
    }

    /// What all tokens count in each class, documents and terms, if every count is a whole number.
    pub(crate) fn whole_totals(&self) -> Option<Vec<[u64; 2]>> {
        let Counts::Small(counts) = &self.counts else { return None };
        let mut totals = vec![[0; 2]; self.classes as usize];
        for (&class, &[documents, terms]) in self.class_of.iter().zip(counts) {
            let total = &mut totals[usize::from(class)];
            *total = [total[0] + u64::from(documents), total[1] + u64::from(terms)];
        }
        Some(totals)
    }

    /// The cells of each token of a canonical table, if every count is a small whole number.
    pub(crate) fn whole_rows(&self) -> Option<impl Iterator<Item = WholeRow<'_>>> {
        matches!(self.counts, Counts::Small(_))
            .then(|| (0..self.len()).filter_map(|token| self.whole_row(token)))
    }

    /// The cells of a token of a canonical table, if every count is a small whole number.
    #[inline]
    pub(crate) fn whole_row(&self, token: usize) -> Option<WholeRow<'_>> {
        let Counts::Small(counts) = &self.counts else { return None };
        let places = self.held(token);
        Some((&self.class_of[places.clone()], &counts[places]))
    }

    /// All tokens, roughly by descending number of documents: by its binary logarithm.
    pub(crate) fn by_frequency(&self) -> Vec<u32> {
        let magnitude =
            |token: usize| (self.in_all_classes(token, 0) as u64).checked_ilog2().unwrap_or(0) as usize;
        let magnitudes: Vec<u8> = (0..self.len()).map(|token| 63 - magnitude(token) as u8).collect();
        let mut starts = [0; 65];
        magnitudes.iter().for_each(|&magnitude| starts[usize::from(magnitude) + 1] += 1);
        (0..64).for_each(|magnitude| starts[magnitude + 1] += starts[magnitude]);
        let mut order = vec![0; self.len()];
        for (token, &magnitude) in (0..).zip(&magnitudes) {
            let place = &mut starts[usize::from(magnitude)];
            order[*place] = token;
            *place += 1;
        }
        order
    }

    /// The documents (0) or terms (1) that a token counts in all classes.
    pub(crate) fn in_all_classes(&self, token: usize, which: usize) -> f64 {
        match &self.counts {
            Counts::Small(counts) => {
                let all: u64 = counts[self.held(token)].iter().map(|count| u64::from(count[which])).sum();
                all as f64
            }
            Counts::Wide(counts) => {
                counts[self.held(token)].iter().fold(0.0, |all, count| all + count[which])
            }
        }
    }

    /// Whether no cell of a canonical table has more documents than its class.
    pub(crate) fn documents_are_at_most(&self, of_classes: &[f64]) -> bool {
        match &self.counts {
            Counts::Small(counts) => {
                // A whole number is at most another number if it is at most its whole part.
                let most: Vec<u32> = of_classes.iter().map(|&documents| documents as u32).collect();
                let cells = self.class_of.iter().zip(counts);
                cells.fold(true, |all, (&class, &[documents, _])| {
                    all & (documents <= most[usize::from(class)])
                })
            }
            Counts::Wide(_) => self.all_cells().all(|cell| cell.documents <= of_classes[cell.class as usize]),
        }
    }
}

/// The rounding error of a sum: what remains without its rounded value.
fn rest_of(mut sum: ExactSum) -> ExactSum {
    let value = sum.value();
    sum.add(-value);
    sum
}

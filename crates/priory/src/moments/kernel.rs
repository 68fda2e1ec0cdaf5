//! Exact sums of whole tables, one block of rows at a time.
//!
//! Every row is added to the sums of its class as it comes from memory, all columns in one loop
//! ([`add_rows`](super::pieces::add_rows)). The code around that loop deals with what is rare: sums are moved into
//! [`ExactSum`]s before they could round, remainders that the loop left over are added separately, and a column with
//! many remainders gets another scale. None of this shows in the result, since every sum is exact.

use std::collections::HashMap;

use super::Moments;
use super::engine::Engine;
use super::pieces::{MOST_ROWS, SUMS, Scale, Target};
use crate::exact::ExactSum;

/// The class of a row that is not to be counted.
pub const NO_CLASS: u32 = u32::MAX;

/// How many bytes a block has: few enough for a block that is transposed to stay in the first two levels of cache.
const BLOCK: usize = 1 << 16;

/// How many f64 fit into a cache line. Sums begin at multiples of it.
const LINE: usize = 8;

/// Rows whose moments are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Observations<'a> {
    /// The numbers; NaN is missing.
    pub values: Values<'a>,
    /// The class of each row, or [`NO_CLASS`].
    pub classes: &'a [u32],
    /// The weight of each row, finite; empty if every row counts one.
    pub weights: &'a [f64],
}

/// Numbers of a table, in either order.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Row after row, with this many columns each.
    Rows(&'a [f64], usize),
    /// Column after column.
    Columns(&'a [&'a [f64]]),
}

/// An infinite value, which has no place in a sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Infinite {
    /// The row, counted from 0.
    pub row: usize,
    /// The column, counted from 0.
    pub column: usize,
    /// ∞ or −∞.
    pub value: f64,
}

impl Observations<'_> {
    /// The moments of every column in every class; those of column c and class k at `c * classes + k`.
    ///
    /// Rows of equal class and weight are summed together. If nearly all weights differ, every value is weighted
    /// on its own, which takes some thirty times as long.
    ///
    /// ```
    /// use priory::moments::{Observations, Values};
    ///
    /// let table = Observations { values: Values::Rows(&[1e9, 3.0, 1e9 + 2.0, f64::NAN], 2), classes: &[0, 0], weights: &[] };
    /// let moments = table.moments(1).unwrap();
    /// assert_eq!((moments[0].mean(), moments[0].variance()), (Some(1e9 + 1.0), Some(1.0)));
    /// assert_eq!((moments[1].weight.value(), moments[1].missing.value()), (1.0, 1.0));
    /// ```
    ///
    /// # Errors
    ///
    /// The first infinite value of a row that has a class.
    ///
    /// # Panics
    ///
    /// If the lengths do not agree, or a class is neither below `classes` nor [`NO_CLASS`].
    pub fn moments(&self, classes: usize) -> Result<Vec<Moments>, Infinite> {
        Ok(self.sums(classes)?.moments())
    }

    /// Like [`moments`](Self::moments), but returns sums that can be added to existing moments.
    pub(crate) fn sums(&self, classes: usize) -> Result<TableSums, Infinite> {
        self.check(classes);
        let (columns, engine) = (self.values.columns(), Engine::available()[0]);
        if columns == 0 {
            return Ok(TableSums { columns, classes, summed: Summed::Weighted(Vec::new()) });
        }
        if self.weights.is_empty() {
            return Sweep::over(self.values, self.classes, classes, engine);
        }
        let moments = match Groups::find(self.classes, self.weights) {
            Some(groups) => {
                let sums = Sweep::over(self.values, &groups.of_row, groups.kinds.len(), engine)?;
                groups.merge(&sums.moments(), columns, classes)
            }
            None => self.moments_one_by_one(classes)?,
        };
        Ok(TableSums { columns, classes, summed: Summed::Weighted(moments) })
    }

    pub(super) fn check(&self, classes: usize) {
        let rows = self.classes.len();
        match self.values {
            Values::Rows(values, columns) => {
                assert_eq!(values.len(), rows * columns, "one value per row and column")
            }
            Values::Columns(columns) => {
                assert!(columns.iter().all(|column| column.len() == rows), "one value per row and column");
            }
        }
        assert!(self.weights.is_empty() || self.weights.len() == rows, "one weight per row");
        let in_range = |&class: &u32| class == NO_CLASS || (class as usize) < classes;
        assert!(self.classes.iter().all(in_range), "a class is below {classes}");
    }

    /// The same, value by value.
    fn moments_one_by_one(&self, classes: usize) -> Result<Vec<Moments>, Infinite> {
        let columns = self.values.columns();
        let mut moments = vec![Moments::default(); columns * classes];
        for (row, &class) in self.classes.iter().enumerate().filter(|&(_, &class)| class != NO_CLASS) {
            for column in 0..columns {
                let value = self.values.get(row, column);
                if value.is_infinite() {
                    return Err(Infinite { row, column, value });
                }
                let weight = self.weights.get(row).copied().unwrap_or(1.0);
                moments[column * classes + class as usize].add(value, weight);
            }
        }
        Ok(moments)
    }
}

impl Values<'_> {
    pub(super) fn columns(&self) -> usize {
        match self {
            Values::Rows(_, columns) => *columns,
            Values::Columns(columns) => columns.len(),
        }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        match self {
            Values::Rows(values, columns) => values[row * columns + column],
            Values::Columns(columns) => columns[column][row],
        }
    }
}

/// Rows of equal class and weight: their moments are those of equal rows of weight one, times the weight.
pub(super) struct Groups {
    /// Class and weight of each group.
    pub(super) kinds: Vec<(u32, f64)>,
    pub(super) of_row: Vec<u32>,
}

impl Groups {
    /// `None` if there are too few rows in a group for grouping to pay.
    pub(super) fn find(classes: &[u32], weights: &[f64]) -> Option<Groups> {
        let mut groups = Groups { kinds: Vec::new(), of_row: Vec::with_capacity(classes.len()) };
        let mut known = HashMap::<(u32, u64), u32>::new();
        for (&class, &weight) in classes.iter().zip(weights) {
            let group = match class {
                NO_CLASS => NO_CLASS,
                _ => *known.entry((class, weight.to_bits())).or_insert_with(|| {
                    groups.kinds.push((class, weight));
                    groups.kinds.len() as u32 - 1
                }),
            };
            groups.of_row.push(group);
            if groups.kinds.len() > 64 + classes.len() / 32 {
                return None;
            }
        }
        Some(groups)
    }

    fn merge(&self, sums: &[Moments], columns: usize, classes: usize) -> Vec<Moments> {
        let mut moments = vec![Moments::default(); columns * classes];
        for (i, sum) in sums.iter().enumerate() {
            let (column, (class, weight)) = (i / self.kinds.len(), self.kinds[i % self.kinds.len()]);
            moments[column * classes + class as usize].merge_weighted(weight, sum);
        }
        moments
    }
}

/// The sums of the rows of a table. Adding them to existing moments directly is faster than making moments of them
/// first.
pub(crate) struct TableSums {
    columns: usize,
    classes: usize,
    summed: Summed,
}

enum Summed {
    /// Every row counts one.
    Alike(Sweep),
    Weighted(Vec<Moments>),
}

impl TableSums {
    /// Those of each column.
    pub(crate) fn columns(&self) -> impl Iterator<Item = ColumnSums<'_>> {
        (0..self.columns).map(|column| ColumnSums { sums: self, column })
    }

    pub(super) fn moments(&self) -> Vec<Moments> {
        let mut moments = vec![Moments::default(); self.columns * self.classes];
        let columns = self.columns().zip(moments.chunks_exact_mut(self.classes.max(1)));
        columns.for_each(|(sums, moments)| sums.add_to(moments));
        moments
    }

    fn add_to(&self, column: usize, class: usize, moments: &mut Moments) {
        match &self.summed {
            Summed::Alike(sweep) => sweep.add_to(column, class, moments),
            Summed::Weighted(sums) => moments.merge(&sums[column * self.classes + class]),
        }
    }
}

/// The sums of one column of a table.
#[derive(Clone, Copy)]
pub(crate) struct ColumnSums<'a> {
    sums: &'a TableSums,
    column: usize,
}

impl ColumnSums<'_> {
    /// Adds the sums of each class to its moments.
    pub(crate) fn add_to<'m>(&self, moments: impl IntoIterator<Item = &'m mut Moments>) {
        let classes = moments.into_iter().zip(0..self.sums.classes);
        classes.for_each(|(moments, class)| self.sums.add_to(self.column, class, moments));
    }

    /// Adds the sums of all classes to the same moments.
    pub(crate) fn add_all_to(&self, moments: &mut Moments) {
        (0..self.sums.classes).for_each(|class| self.sums.add_to(self.column, class, moments));
    }
}

/// One pass over a table whose rows all count one.
pub(super) struct Sweep {
    columns: usize,
    classes: usize,
    scales: Vec<Scale>,
    limits: Aligned,
    /// For every class the [`SUMS`] of every column; sums of the same kind are side by side.
    sums: Aligned,
    /// How many rows have gone into the present sums of each class.
    pending: Vec<usize>,
    /// Rows of each class.
    rows: Vec<u64>,
    /// How many values of each column were left over in the present block.
    leftover: Vec<usize>,
    cells: Vec<ExactPart>,
}

/// What was moved out of the sums of one column and class.
#[derive(Clone, Default)]
struct ExactPart {
    missing: u64,
    sum: ExactSum,
    sum_of_squares: ExactSum,
}

impl Sweep {
    /// There must be at least one column.
    pub(super) fn over(
        values: Values<'_>,
        ids: &[u32],
        classes: usize,
        engine: Engine,
    ) -> Result<TableSums, Infinite> {
        let mut sweep = Sweep::new(values.columns(), classes);
        let block_rows = (BLOCK / size_of::<f64>() / sweep.columns).clamp(64, MOST_ROWS / 2);
        let mut transposed = Vec::new();
        for (ids, start) in ids.chunks(block_rows).zip((0..).step_by(block_rows)) {
            let (block, stride) = match values {
                Values::Rows(values, columns) => (&values[start * columns..][..ids.len() * columns], columns),
                Values::Columns(columns) => {
                    transpose(columns, start, ids.len(), sweep.width(), &mut transposed);
                    (&transposed[..], sweep.width())
                }
            };
            sweep
                .add(block, stride, ids, engine)
                .map_err(|found| Infinite { row: start + found.row, ..found })?;
        }
        Ok(TableSums { columns: sweep.columns, classes, summed: Summed::Alike(sweep) })
    }

    fn new(columns: usize, classes: usize) -> Sweep {
        let width = columns.next_multiple_of(LINE);
        Sweep {
            columns,
            classes,
            scales: Vec::new(),
            limits: Aligned::new(width),
            sums: Aligned::new(classes * SUMS * width),
            pending: vec![0; classes],
            rows: vec![0; classes],
            leftover: vec![0; columns],
            cells: vec![ExactPart::default(); columns * classes],
        }
    }

    fn width(&self) -> usize {
        self.columns.next_multiple_of(LINE)
    }

    /// Adds a block of rows of `stride` values each; those beyond the last column are zero.
    fn add(&mut self, block: &[f64], stride: usize, ids: &[u32], engine: Engine) -> Result<(), Infinite> {
        self.choose_scales(block, stride);
        self.make_room(ids);
        let mut infinite = None;
        let (cells, leftover, classes) = (&mut self.cells, &mut self.leftover, self.classes);
        let mut add_leftover = |row: usize, values: &[f64], rests: &[f64]| {
            for (column, (&x, &rest)) in
                values.iter().zip(rests).enumerate().filter(|(_, (_, rest))| **rest != 0.0)
            {
                let cell = &mut cells[column * classes + ids[row] as usize];
                if x.is_nan() {
                    cell.missing += 1;
                } else if x.is_infinite() {
                    infinite.get_or_insert(Infinite { row, column, value: x });
                } else {
                    leftover[column] += 1;
                    cell.complete(x, rest);
                }
            }
        };
        let mut rests = Aligned::new(stride);
        let target = Target {
            limits: self.limits.slice(),
            sums: self.sums.slice_mut(),
            rests: rests.slice_mut(),
            leftover: &mut add_leftover,
        };
        engine.add_rows(block, stride, ids, target);
        infinite.map_or(Ok(()), Err)
    }

    /// Chooses the scales of all columns at first, and later new ones for columns that left many values over.
    fn choose_scales(&mut self, block: &[f64], stride: usize) {
        let first = self.scales.is_empty();
        self.scales.resize(self.columns, Scale::SMALLEST);
        let rows = block.len() / stride;
        for column in 0..self.columns {
            let poor = std::mem::take(&mut self.leftover[column]) > rows / 32;
            if !first && !poor {
                continue;
            }
            let scale = scale_for(block.iter().skip(column).step_by(stride).copied());
            if first || scale != self.scales[column] {
                self.empty_column(column);
                self.set_scale(column, scale);
            }
        }
    }

    fn set_scale(&mut self, column: usize, scale: Scale) {
        let width = self.width();
        self.scales[column] = scale;
        self.limits.slice_mut()[column] = scale.limit();
        let sums = self.sums.slice_mut().iter_mut().skip(column).step_by(width);
        sums.zip(scale.origins().into_iter().cycle()).for_each(|(sum, origin)| *sum = origin);
    }

    /// Empties the sums of classes that could otherwise get too many rows from this block.
    fn make_room(&mut self, ids: &[u32]) {
        let counted = || ids.iter().filter(|&&id| id != NO_CLASS).map(|&id| id as usize);
        for class in counted() {
            if self.pending[class] + ids.len() > MOST_ROWS {
                (0..self.columns).for_each(|column| self.empty(column, class));
                self.pending[class] = 0;
            }
        }
        for class in counted() {
            self.pending[class] += 1;
            self.rows[class] += 1;
        }
    }

    fn empty_column(&mut self, column: usize) {
        for class in 0..self.classes {
            if self.pending[class] > 0 {
                self.empty(column, class);
            }
        }
    }

    /// Moves the sums of one column and class over into [`ExactSum`].
    fn empty(&mut self, column: usize, class: usize) {
        let (width, origins) = (self.width(), self.scales[column].origins());
        let cell = &mut self.cells[column * self.classes + class];
        let sums = &mut self.sums.slice_mut()[class * SUMS * width + column..];
        add_pieces(sums.iter().step_by(width), origins, &mut cell.sum, &mut cell.sum_of_squares);
        sums.iter_mut().step_by(width).zip(origins).for_each(|(sum, origin)| *sum = origin);
    }

    /// Adds the sums of one column and class to its moments.
    fn add_to(&self, column: usize, class: usize, moments: &mut Moments) {
        let cell = &self.cells[column * self.classes + class];
        moments.weight.add_count(self.rows[class] - cell.missing);
        moments.missing.add_count(cell.missing);
        moments.sum.merge(&cell.sum);
        moments.sum_of_squares.merge(&cell.sum_of_squares);
        if self.pending[class] > 0 {
            let (width, origins) = (self.width(), self.scales[column].origins());
            let sums = self.sums.slice()[class * SUMS * width + column..].iter().step_by(width);
            add_pieces(sums, origins, &mut moments.sum, &mut moments.sum_of_squares);
        }
    }
}

impl ExactPart {
    /// Adds the remainder of a value of which the sums hold everything else.
    fn complete(&mut self, x: f64, rest: f64) {
        let held = x - rest;
        self.sum.add(rest);
        self.sum_of_squares.add_square(x);
        self.sum_of_squares.add_product(-held, held);
    }
}

/// Adds the [`SUMS`] of a column and class, which started at these origins.
fn add_pieces<'a>(
    sums: impl Iterator<Item = &'a f64>,
    origins: [f64; SUMS],
    sum: &mut ExactSum,
    sum_of_squares: &mut ExactSum,
) {
    for (i, (pieces, origin)) in sums.zip(origins).enumerate() {
        match i {
            0..3 => sum.add(pieces - origin),
            3..6 => sum_of_squares.add(*pieces),
            _ => sum_of_squares.add(2.0 * pieces),
        }
    }
}

/// A scale that suits these values: all but one in 64 of them lie below it, so that a few huge values do not matter.
pub(super) fn scale_for(values: impl Iterator<Item = f64>) -> Scale {
    let mut scales: Vec<Scale> = values.filter(|x| x.is_finite() && *x != 0.0).map(Scale::above).collect();
    match scales.len() {
        0 => Scale::SMALLEST,
        n => *scales.select_nth_unstable(n - 1 - n / 64).1,
    }
}

/// Transposes columns into rows, each padded with zeros to `stride` values.
fn transpose(columns: &[&[f64]], start: usize, rows: usize, stride: usize, out: &mut Vec<f64>) {
    out.resize(rows * stride, 0.0);
    let zeros = vec![0.0; rows];
    // Whole cache lines are written at once.
    for (line, columns) in columns.chunks(LINE).enumerate() {
        let columns: [&[f64]; LINE] =
            std::array::from_fn(|i| columns.get(i).map_or(&zeros[..], |column| &column[start..][..rows]));
        for (row, out) in out.chunks_exact_mut(stride).enumerate() {
            let out = &mut out[line * LINE..][..LINE];
            out.iter_mut().zip(columns).for_each(|(out, column)| *out = column[row]);
        }
    }
}

/// Zeros that are aligned to a cache line, so that no vector of sums straddles two lines.
struct Aligned {
    buffer: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn new(length: usize) -> Aligned {
        let buffer = vec![0.0; length + LINE - 1];
        let start = buffer.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE - 1);
        Aligned { buffer, start, length }
    }

    fn slice(&self) -> &[f64] {
        &self.buffer[self.start..][..self.length]
    }

    fn slice_mut(&mut self) -> &mut [f64] {
        &mut self.buffer[self.start..][..self.length]
    }
}

//! Rows counted on a grid: each adds its weight to a cell of every table, and products of its numbers to sums.
//!
//! All of this is in whole numbers, so that it does not matter which thread counts what.

use std::thread;

use crate::judgement::grid::Coded;
use crate::judgement::together::{Layout, Together, coarse_codes, coarser, weight_units};

/// The rows that are counted.
#[derive(Clone, Copy)]
struct Rows<'a> {
    coded: &'a Coded,
    /// The codes of the columns that are counted in threes, as coarse as they are there; of the others nothing.
    coarse: &'a [Vec<u8>],
    classes: &'a [u32],
    /// In units.
    weights: &'a [i64],
}

/// The columns whose codes a table counts.
#[derive(Clone, Copy)]
enum Table {
    Single(usize),
    Pair([usize; 2]),
    Triple([usize; 3]),
}

impl Together {
    /// Adds rows, whose classes and weights, in [units](weight_units), are these.
    pub(crate) fn add(&mut self, coded: &Coded, classes: &[u32], weights: &[i64], threads: usize) {
        for (&class, &weight) in classes.iter().zip(weights) {
            let total = &mut self.weight[class as usize];
            *total = total.wrapping_add(weight);
        }
        let mut coarse = vec![Vec::new(); coded.codes.len()];
        for column in self.layout.triples.iter().flat_map(|triple| triple.columns) {
            if coarse[column].is_empty() {
                let shift = self.layout.shifts[column];
                coarse[column] = coded.codes[column].iter().map(|&code| coarser(code, shift) as u8).collect();
            }
        }
        let rows = Rows { coded, coarse: &coarse, classes, weights };
        let (layout, classes) = (&self.layout, self.classes);
        let mut shares: Vec<Vec<(Table, &mut [i64])>> = Vec::new();
        shares.resize_with(threads.max(1), Vec::new);
        let mut cells = &mut self.cells[..];
        for (i, (table, size)) in tables(layout).into_iter().enumerate() {
            let (of_table, rest) = cells.split_at_mut(size * classes);
            shares[i % threads.max(1)].push((table, of_table));
            cells = rest;
        }
        let sums = &mut self.sums[..];
        let count = |share: Vec<(Table, &mut [i64])>| {
            share.into_iter().for_each(|(table, cells)| rows.count(table, layout, cells, classes));
        };
        if threads <= 1 {
            shares.into_iter().for_each(count);
            return rows.add_sums(layout, sums);
        }
        thread::scope(|scope| {
            shares.into_iter().for_each(|share| {
                scope.spawn(|| count(share));
            });
            rows.add_sums(layout, sums);
        });
    }
}

/// All tables in the order in which they stand, each with how many cells it has.
fn tables(layout: &Layout) -> Vec<(Table, usize)> {
    let codes = |column: usize| layout.codes[column];
    let coarse = |column: usize| coarse_codes(layout.codes[column], layout.shifts[column]);
    let singles = (0..layout.codes.len()).map(|column| (Table::Single(column), codes(column)));
    let pairs = layout.pairs.iter().map(|pair| {
        let [a, b] = pair.columns;
        (Table::Pair(pair.columns), codes(a) * codes(b))
    });
    let triples = layout.triples.iter().map(|triple| {
        let [a, b, c] = triple.columns;
        (Table::Triple(triple.columns), coarse(a) * coarse(b) * coarse(c))
    });
    singles.chain(pairs).chain(triples).collect()
}

impl Rows<'_> {
    /// Adds every row to its cell of a table.
    fn count(&self, table: Table, layout: &Layout, cells: &mut [i64], classes: usize) {
        let codes = |column: usize| &self.coded.codes[column][..];
        match table {
            Table::Single(column) => {
                let codes = codes(column);
                self.add_weights(cells, classes, |row| codes[row] as usize);
            }
            Table::Pair([a, b]) => {
                let (a, b, width) = (codes(a), codes(b), layout.codes[b]);
                self.add_weights(cells, classes, |row| a[row] as usize * width + b[row] as usize);
            }
            Table::Triple([a, b, c]) => {
                let width = |column: usize| coarse_codes(layout.codes[column], layout.shifts[column]);
                let (of_b, of_c) = (width(b), width(c));
                let (a, b, c) = (&self.coarse[a][..], &self.coarse[b][..], &self.coarse[c][..]);
                self.add_weights(cells, classes, |row| {
                    (a[row] as usize * of_b + b[row] as usize) * of_c + c[row] as usize
                });
            }
        }
    }

    #[inline(always)]
    fn add_weights(&self, cells: &mut [i64], classes: usize, cell_of: impl Fn(usize) -> usize) {
        for (row, (&class, &weight)) in self.classes.iter().zip(self.weights).enumerate() {
            let cell = &mut cells[cell_of(row) * classes + class as usize];
            *cell = cell.wrapping_add(weight);
        }
    }

    /// Adds the numbers of every row, and their products, to the sums of its class.
    fn add_sums(&self, layout: &Layout, sums: &mut [i128]) {
        if layout.numbers.is_empty() {
            return;
        }
        let unit = weight_units(1.0);
        let per_class = layout.sums();
        for (class, sums) in sums.chunks_exact_mut(per_class).enumerate() {
            let of_class = |row: &usize| self.classes[*row] as usize == class;
            let rows = (0..self.classes.len()).filter(of_class);
            // Most rows weigh one, and their sums are small enough for fast kernels.
            let (alike, others): (Vec<usize>, Vec<usize>) = rows.partition(|&row| self.weights[row] == unit);
            let views = [&self.coded.distances, &self.coded.normals];
            for (values, sums) in views.into_iter().zip(sums.chunks_exact_mut(per_class / 2)) {
                self.add_alike(layout, values, &alike, i128::from(unit), sums);
                others.iter().for_each(|&row| self.add_row(layout, values, row, sums));
            }
        }
    }

    /// Adds rows of one class that all have this weight to its sums of one view.
    fn add_alike(&self, layout: &Layout, values: &[Vec<i16>], rows: &[usize], unit: i128, sums: &mut [i128]) {
        let numbers = values.len();
        let columns: Vec<Vec<i16>> =
            values.iter().map(|column| rows.iter().map(|&row| column[row]).collect()).collect();
        let (of_numbers, rest) = sums.split_at_mut(numbers);
        let (products, by_code) = rest.split_at_mut(numbers * (numbers + 1) / 2);
        let add = |to: &mut i128, sum: i64| *to = to.wrapping_add(i128::from(sum) * unit);
        for (column, to) in columns.iter().zip(of_numbers) {
            add(to, column.iter().map(|&x| i64::from(x)).sum());
        }
        let mut products = products.iter_mut();
        for (a, column) in columns.iter().enumerate() {
            columns[..=a].iter().zip(&mut products).for_each(|(b, to)| add(to, sum_of_products(column, b)));
        }
        let mut start = 0;
        for &category in &layout.categories {
            let codes = &self.coded.codes[category];
            for (number, column) in columns.iter().enumerate() {
                let mut of_codes = vec![0_i64; layout.codes[category]];
                rows.iter().zip(column).for_each(|(&row, &x)| of_codes[codes[row] as usize] += i64::from(x));
                for (code, &sum) in of_codes.iter().enumerate() {
                    add(&mut by_code[(start + code) * numbers + number], sum);
                }
            }
            start += layout.codes[category];
        }
    }

    /// Adds a row, whatever it weighs, to the sums of its class in one view.
    fn add_row(&self, layout: &Layout, values: &[Vec<i16>], row: usize, sums: &mut [i128]) {
        let (numbers, weight) = (values.len(), i128::from(self.weights[row]));
        let (of_numbers, rest) = sums.split_at_mut(numbers);
        let (products, by_code) = rest.split_at_mut(numbers * (numbers + 1) / 2);
        let mut products = products.iter_mut();
        for (a, sum) in of_numbers.iter_mut().enumerate() {
            let x = i128::from(values[a][row]) * weight;
            *sum = sum.wrapping_add(x);
            for (b, sum) in values[..=a].iter().zip(&mut products) {
                *sum = sum.wrapping_add(x * i128::from(b[row]));
            }
        }
        let mut start = 0;
        for &category in &layout.categories {
            let place = (start + self.coded.codes[category][row] as usize) * numbers;
            for (sum, x) in by_code[place..][..numbers].iter_mut().zip(values) {
                *sum = sum.wrapping_add(i128::from(x[row]) * weight);
            }
            start += layout.codes[category];
        }
    }
}

/// Σ a b.
fn sum_of_products(a: &[i16], b: &[i16]) -> i64 {
    a.iter().zip(b).map(|(&a, &b)| i64::from(i32::from(a) * i32::from(b))).sum()
}

//! Exact Σ w x y of pairs of columns, from which covariances follow.
//!
//! Rows of one class are taken a block at a time, and every value is cut into the pieces of [`super::pieces`]:
//!
//! ```text
//! x = a + b + c + rest,   y = a′ + b′ + c′ + rest′
//! Σxy = Σaa′ + Σab′ + … + Σcc′  + what the rests of a few rows add
//! ```
//!
//! Each of the nine sums is exact in f64 as long as there are no more than [`MOST_ROWS`] rows, so they can be added in
//! any order, several rows at once, and with fused multiplications or without: the result is the same on every
//! processor. Integers and rounded numbers have fewer pieces and fewer sums.

use super::engine::Engine;
use super::kernel::{Groups, Infinite, NO_CLASS, Observations, Values, scale_for};
use super::pieces::{MOST_ROWS, add_product};
use crate::exact::ExactSum;

/// How many rows a block has: few enough for the pieces of a column to stay in the first-level cache while they are
/// multiplied with those of all other columns.
const BLOCK_ROWS: usize = 512;
const _: () = assert!(BLOCK_ROWS <= MOST_ROWS, "or else the sums would round");

/// With fewer rows than this, cutting into pieces takes longer than adding products one by one.
const FEW_ROWS: usize = 12;

/// Pieces are filled up with zeros to a multiple of this many, the most that a processor takes at once.
const MOST_LANES: usize = 8;

/// How many pairs this many columns have.
pub(crate) const fn pair_count(columns: usize) -> usize {
    columns * columns.saturating_sub(1) / 2
}

/// The index of the pair of columns i and j, where j < i.
pub(crate) const fn pair(i: usize, j: usize) -> usize {
    i * (i - 1) / 2 + j
}

impl Observations<'_> {
    /// Σ w x y of every pair of columns in every class, over the rows in which neither is missing. That of columns i and
    /// j below i in class k stands at `k * pairs + i (i − 1) / 2 + j`.
    ///
    /// ```
    /// use priory::moments::{Observations, Values};
    ///
    /// let table = Observations { values: Values::Rows(&[2.0, 1e300, 3.0, 1e-300], 2), classes: &[0, 0], weights: &[] };
    /// let mut product = table.products(1).unwrap()[0].clone();
    /// product.add_product(-2.0, 1e300);
    /// assert_eq!(product.value(), 3e-300);
    /// ```
    ///
    /// # Errors
    ///
    /// The first infinite value of a row that has a class.
    ///
    /// # Panics
    ///
    /// If the lengths do not agree, or a class is neither below `classes` nor [`NO_CLASS`].
    pub fn products(&self, classes: usize) -> Result<Vec<ExactSum>, Infinite> {
        self.products_with(classes, Engine::available()[0])
    }

    pub(super) fn products_with(&self, classes: usize, engine: Engine) -> Result<Vec<ExactSum>, Infinite> {
        self.check(classes);
        self.refuse_infinite()?;
        let pairs = pair_count(self.values.columns());
        let mut products = vec![ExactSum::default(); classes * pairs];
        if pairs == 0 {
            return Ok(products);
        }
        let groups = if self.weights.is_empty() {
            let kinds = (0..classes as u32).map(|class| (class, 1.0)).collect();
            Some(Groups { kinds, of_row: self.classes.to_vec() })
        } else {
            Groups::find(self.classes, self.weights)
        };
        let of_class = |class: u32| class as usize * pairs..(class as usize + 1) * pairs;
        let Some(groups) = groups else {
            for (row, &class) in self.classes.iter().enumerate().filter(|&(_, &class)| class != NO_CLASS) {
                add_row(&self.values, row, self.weights[row], &mut products[of_class(class)]);
            }
            return Ok(products);
        };
        let mut rows = vec![Vec::new(); groups.kinds.len()];
        for (row, &group) in groups.of_row.iter().enumerate().filter(|&(_, &group)| group != NO_CLASS) {
            rows[group as usize].push(row);
        }
        for (&(class, weight), rows) in groups.kinds.iter().zip(&rows) {
            let products = &mut products[of_class(class)];
            if weight == 1.0 {
                add_rows(&self.values, rows, products, engine);
            } else {
                let mut part = vec![ExactSum::default(); pairs];
                add_rows(&self.values, rows, &mut part, engine);
                products.iter_mut().zip(&part).for_each(|(sum, part)| sum.merge_weighted(weight, part));
            }
        }
        Ok(products)
    }

    fn refuse_infinite(&self) -> Result<(), Infinite> {
        for (row, _) in self.classes.iter().enumerate().filter(|&(_, &class)| class != NO_CLASS) {
            for column in 0..self.values.columns() {
                let value = self.values.get(row, column);
                if value.is_infinite() {
                    return Err(Infinite { row, column, value });
                }
            }
        }
        Ok(())
    }
}

/// Adds the products of some rows, each of weight one.
fn add_rows(values: &Values<'_>, rows: &[usize], products: &mut [ExactSum], engine: Engine) {
    for rows in rows.chunks(BLOCK_ROWS) {
        if rows.len() < FEW_ROWS {
            rows.iter().for_each(|&row| add_row(values, row, 1.0, products));
        } else {
            Block::cut(values, rows).add_to(products, engine);
        }
    }
}

/// Adds the products of one row, one by one.
fn add_row(values: &Values<'_>, row: usize, weight: f64, products: &mut [ExactSum]) {
    let mut products = products.iter_mut();
    for i in 1..values.columns() {
        let x = values.get(row, i);
        for (j, product) in (0..i).zip(products.by_ref()) {
            let y = values.get(row, j);
            if !x.is_nan() && !y.is_nan() {
                product.add_weighted_product(weight, x, y);
            }
        }
    }
}

/// Some rows, each of their columns cut into pieces.
struct Block {
    columns: Vec<Pieces>,
    /// Row and column of each value that is not the sum of its pieces.
    left: Vec<(usize, usize)>,
}

/// A column of a block; a missing value is zero, and so is every product with it.
struct Pieces {
    values: Vec<f64>,
    rests: Vec<f64>,
    /// The largest pieces, the middle ones, the smallest ones.
    pieces: [Vec<f64>; 3],
    /// How many of the three are not all zero, smaller ones last.
    used: usize,
}

impl Block {
    fn cut(values: &Values<'_>, rows: &[usize]) -> Block {
        let mut left = Vec::new();
        let column = |column: usize| {
            let known = |&row: &usize| Some(values.get(row, column)).filter(|x| !x.is_nan()).unwrap_or(0.0);
            let pieces = Pieces::cut(rows.iter().map(known).collect());
            let rests = pieces.rests.iter().enumerate().filter(|(_, rest)| **rest != 0.0);
            left.extend(rests.map(|(row, _)| (row, column)));
            pieces
        };
        Block { columns: (0..values.columns()).map(column).collect(), left }
    }

    fn add_to(&self, products: &mut [ExactSum], engine: Engine) {
        let mut sums = products.iter_mut();
        for (i, x) in self.columns.iter().enumerate() {
            for (y, sum) in self.columns[..i].iter().zip(sums.by_ref()) {
                match x.used.max(y.used) {
                    0 => {}
                    1 => add_dots::<1>(x, y, engine, sum),
                    2 => add_dots::<2>(x, y, engine, sum),
                    _ => add_dots::<3>(x, y, engine, sum),
                }
            }
        }
        for &(row, i) in &self.left {
            let (x, x_held) = self.columns[i].at(row);
            for (j, column) in self.columns.iter().enumerate() {
                let (y, y_held) = column.at(row);
                // If both values have a rest, the pair is met twice but must be counted once.
                if j == i || y != y_held && j < i {
                    continue;
                }
                let sum = &mut products[pair(i.max(j), i.min(j))];
                sum.add_product(x, y);
                sum.add_product(-x_held, y_held);
            }
        }
    }
}

fn add_dots<const N: usize>(x: &Pieces, y: &Pieces, engine: Engine, sum: &mut ExactSum) {
    let dots = engine.dots::<N>(x.largest(), y.largest());
    dots.into_iter().flatten().for_each(|dot| sum.add(dot));
}

impl Pieces {
    fn cut(values: Vec<f64>) -> Pieces {
        let scale = scale_for(values.iter().copied());
        let (limit, origins) = (scale.limit(), scale.origins());
        let length = values.len().next_multiple_of(MOST_LANES);
        let mut pieces = [0, 1, 2].map(|_| vec![0.0; length]);
        let mut used = 0;
        // Values that are not below the limit are not cut.
        let mut rests: Vec<f64> = values.iter().map(|&x| if x.abs() < limit { x } else { 0.0 }).collect();
        for (level, (pieces, origin)) in pieces.iter_mut().zip(origins).enumerate() {
            for (rest, piece) in rests.iter_mut().zip(&mut *pieces) {
                *piece = (origin + *rest) - origin;
                *rest -= *piece;
            }
            if pieces.iter().any(|&piece| piece != 0.0) {
                used = level + 1;
            }
        }
        for (rest, &x) in rests.iter_mut().zip(&values).filter(|(_, x)| x.abs() >= limit) {
            *rest = x;
        }
        Pieces { values, rests, pieces, used }
    }

    fn largest<const N: usize>(&self) -> [&[f64]; N] {
        std::array::from_fn(|i| self.pieces[i].as_slice())
    }

    /// A value, and the sum of its pieces.
    fn at(&self, row: usize) -> (f64, f64) {
        (self.values[row], self.values[row] - self.rests[row])
    }
}

/// The sums Σ x y of every x with every y, all of one length, which is a multiple of the lanes. The compiler keeps
/// them in registers, `LANES` values in each.
#[inline(always)]
pub(super) fn dots<const N: usize, const LANES: usize, const FUSED: bool>(
    x: [&[f64]; N],
    y: [&[f64]; N],
) -> [[f64; N]; N] {
    let (x, y) = (x.map(|x| x.as_chunks::<LANES>().0), y.map(|y| y.as_chunks::<LANES>().0));
    let length = x[0].len();
    let (x, y) = (x.map(|x| &x[..length]), y.map(|y| &y[..length]));
    let mut sums = [[[0.0; LANES]; N]; N];
    for row in 0..length {
        for (sums, x) in sums.iter_mut().zip(x) {
            for (sums, y) in sums.iter_mut().zip(y) {
                for lane in 0..LANES {
                    add_product::<FUSED>(&mut sums[lane], x[row][lane], y[row][lane]);
                }
            }
        }
    }
    sums.map(|sums| sums.map(|lanes| lanes.iter().sum()))
}

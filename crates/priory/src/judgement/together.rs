//! What columns say together: how often their codes occur in pairs and in triples, and the sums of products of their numbers.
//!
//! Everything here is a sum of whole numbers over rows, per class: a row adds its weight, in units of 2⁻¹⁶, to one cell of each
//! table, and its weight times products of distances and of normal scores to the sums. So parts add up to the same bits in any
//! order, and what was added can be taken away again. Sums wrap around where they would overflow, which undoes itself too; more
//! than 2⁴⁶ rows are not judged.

use serde::{Deserialize, Serialize};

use crate::judgement::grid::{Coded, Grid, NO_CODE, UNIT};

/// Weights are counted in units of one over this.
const WEIGHT_UNIT: f64 = 65_536.0;

/// A weight in these units.
pub(crate) fn weight_units(weight: f64) -> i64 {
    (weight * WEIGHT_UNIT).round_ties_even() as i64
}

/// The sums of a table on a grid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Together {
    pub(crate) classes: usize,
    pub(super) layout: Layout,
    /// The weight of the rows of each class.
    pub(crate) weight: Vec<i64>,
    /// The weight of each code of each column, and of each pair and triple of codes: classes side by side.
    pub(crate) cells: Vec<i64>,
    /// Σ x and Σ x y of distances, and then of normal scores: see [`Layout`].
    pub(crate) sums: Vec<i128>,
}

/// Where each table begins. A table of columns a and b has a cell for each pair of codes, that of b counting fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    /// How many codes each column has, with that of no value.
    pub(crate) codes: Vec<usize>,
    /// Which of the columns are numbers.
    pub(crate) numbers: Vec<usize>,
    /// Which of them are categories.
    pub(crate) categories: Vec<usize>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) triples: Vec<Triple>,
    /// By how many bits the codes of each column are shifted in triples.
    pub(super) shifts: Vec<u32>,
    /// Where the table of each column alone begins.
    pub(crate) singles: Vec<usize>,
    /// All cells of all tables, of one class.
    pub(crate) cells: usize,
}

/// Two columns of the grid, and where their table begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) columns: [usize; 2],
    pub(crate) start: usize,
}

/// Three columns of the grid, and where their table begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Triple {
    pub(crate) columns: [usize; 3],
    pub(crate) start: usize,
}

impl Layout {
    /// All pairs of the columns of a grid, and all triples of those that it names.
    pub(crate) fn new(grid: &Grid) -> Self {
        let of_triples = &grid.triples;
        let codes: Vec<usize> = grid.columns.iter().map(|column| column.codes()).collect();
        let (numbers, categories) = (0..codes.len()).partition(|&column| grid.columns[column].is_number());
        let shifts: Vec<u32> =
            grid.columns.iter().map(|column| column.shift_to(grid.codes_of_triples)).collect();
        let coarse: Vec<usize> =
            codes.iter().zip(&shifts).map(|(&codes, &shift)| coarse_codes(codes, shift)).collect();
        let mut cells = 0;
        let mut place = |size: usize| {
            cells += size;
            cells - size
        };
        let singles = codes.iter().map(|&codes| place(codes)).collect();
        let mut pairs = Vec::new();
        for a in 0..codes.len() {
            for b in a + 1..codes.len() {
                pairs.push(Pair { columns: [a, b], start: place(codes[a] * codes[b]) });
            }
        }
        let mut triples = Vec::new();
        for (i, &a) in of_triples.iter().enumerate() {
            for (j, &b) in of_triples.iter().enumerate().skip(i + 1) {
                for &c in &of_triples[j + 1..] {
                    let size = coarse[a] * coarse[b] * coarse[c];
                    triples.push(Triple { columns: [a, b, c], start: place(size) });
                }
            }
        }
        Layout { codes, numbers, categories, pairs, triples, shifts, singles, cells }
    }

    /// Where the table of two columns begins, the first of which comes first in the grid.
    pub(crate) fn pair_start(&self, a: usize, b: usize) -> usize {
        // Pairs stand in the order of their first columns, and then of their second.
        let columns = self.codes.len();
        self.pairs[a * (2 * columns - a - 1) / 2 + b - a - 1].start
    }

    /// How many sums each class has: for both views the sum of each number, its products with all before it and with itself, and
    /// its sums over each code of each column of categories.
    pub(crate) fn sums(&self) -> usize {
        let numbers = self.numbers.len();
        2 * (numbers + numbers * (numbers + 1) / 2 + numbers * self.category_codes())
    }

    /// How many codes all columns of categories have.
    fn category_codes(&self) -> usize {
        self.categories.iter().map(|&column| self.codes[column]).sum()
    }
}

/// A code among half, a quarter, … as many; that of no value stays.
#[inline]
pub(crate) fn coarser(code: u8, shift: u32) -> usize {
    if code == NO_CODE { 0 } else { (((code - 1) >> shift) + 1) as usize }
}

/// How many codes are left when they are shifted, with that of no value.
pub(crate) fn coarse_codes(codes: usize, shift: u32) -> usize {
    if codes < 2 { codes } else { coarser((codes - 1) as u8, shift) + 1 }
}

impl Together {
    /// No rows.
    pub(crate) fn empty(layout: Layout, classes: usize) -> Self {
        let (cells, sums) = (layout.cells * classes, layout.sums() * classes);
        Together { classes, weight: vec![0; classes], cells: vec![0; cells], sums: vec![0; sums], layout }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether rows can have these sums: nothing is negative, every column counts every row of each class, and pairs and triples
    /// of columns count them as the columns do.
    pub(crate) fn is_possible(&self) -> bool {
        let k = self.classes;
        if self.cells.iter().chain(&self.weight).any(|&weight| weight < 0) {
            return false;
        }
        // Sums over the codes of all columns but one, per class.
        let marginal = |start: usize, sizes: &[usize], kept: usize| {
            let after: usize = sizes[kept + 1..].iter().product();
            let mut sums = vec![0_i128; sizes[kept] * k];
            for cell in 0..sizes.iter().product() {
                let code = cell / after % sizes[kept];
                for class in 0..k {
                    sums[code * k + class] += i128::from(self.cells[(start + cell) * k + class]);
                }
            }
            sums
        };
        let coarse = |single: Vec<i128>, shift: u32| {
            let mut sums = vec![0; coarse_codes(single.len() / k.max(1), shift) * k];
            for (i, sum) in single.into_iter().enumerate() {
                sums[coarser((i / k) as u8, shift) * k + i % k] += sum;
            }
            sums
        };
        let single = |column: usize| marginal(self.layout.singles[column], &[self.layout.codes[column]], 0);
        let mut columns = 0..self.layout.codes.len();
        let every_row = columns.all(|column| {
            let codes = single(column);
            (0..k).all(|class| {
                codes.iter().skip(class).step_by(k).sum::<i128>() == i128::from(self.weight[class])
            })
        });
        let pairs = self.layout.pairs.iter().all(|pair| {
            let sizes = pair.columns.map(|column| self.layout.codes[column]);
            (0..2).all(|i| marginal(pair.start, &sizes, i) == single(pair.columns[i]))
        });
        let triples = self.layout.triples.iter().all(|triple| {
            let sizes = TripleShape::new(&self.layout, triple).codes;
            (0..3).all(|i| {
                let column = triple.columns[i];
                marginal(triple.start, &sizes, i) == coarse(single(column), self.layout.shifts[column])
            })
        });
        // No number is more than so far from zero, so that no sum can be larger than this.
        let farthest = i128::from(i16::MIN).pow(2);
        let per_class = self.layout.sums();
        let sums = self.weight.iter().enumerate().all(|(class, &weight)| {
            let most = i128::from(weight) * farthest;
            self.sums[class * per_class..][..per_class].iter().all(|sum| (-most..=most).contains(sum))
        });
        every_row && pairs && triples && sums
    }

    /// Makes room for so many classes; what is new counts zero.
    pub(crate) fn grow(&mut self, classes: usize) {
        if classes > self.classes {
            let places: Vec<Option<usize>> =
                (0..classes).map(|class| (class < self.classes).then_some(class)).collect();
            *self = self.with_classes(&places);
        }
    }

    /// The sums of these classes, in this order.
    pub(crate) fn select(&self, classes: &[usize]) -> Self {
        let places: Vec<Option<usize>> =
            classes.iter().map(|&class| (class < self.classes).then_some(class)).collect();
        self.with_classes(&places)
    }

    /// The sums of classes that stand at these places here; those without a place count zero.
    fn with_classes(&self, places: &[Option<usize>]) -> Self {
        let mut new = Together::empty(self.layout.clone(), places.len());
        let per_class = self.layout.sums();
        for (to, from) in places.iter().enumerate() {
            let Some(from) = *from else { continue };
            new.weight[to] = self.weight[from];
            new.sums[to * per_class..][..per_class]
                .copy_from_slice(&self.sums[from * per_class..][..per_class]);
            let from = self.cells.iter().skip(from).step_by(self.classes);
            new.cells.iter_mut().skip(to).step_by(places.len()).zip(from).for_each(|(to, from)| *to = *from);
        }
        new
    }

    /// Adds `sign` times `other`, which is on the same grid and whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], sign: f64) {
        let per_class = self.layout.sums();
        for (from, &to) in class_of.iter().enumerate().filter(|(from, _)| *from < other.classes) {
            add(&mut self.weight[to], other.weight[from], sign);
            let cells = other.cells.iter().skip(from).step_by(other.classes);
            self.cells
                .iter_mut()
                .skip(to)
                .step_by(self.classes)
                .zip(cells)
                .for_each(|(to, &x)| add(to, x, sign));
            let sums = &other.sums[from * per_class..][..per_class];
            for (to, &x) in self.sums[to * per_class..][..per_class].iter_mut().zip(sums) {
                *to = if sign > 0.0 { to.wrapping_add(x) } else { to.wrapping_sub(x) };
            }
        }
    }

    /// The weight of a cell of one class.
    #[inline]
    pub(crate) fn count(&self, cell: usize, class: usize) -> f64 {
        self.cells[cell * self.classes + class] as f64 / WEIGHT_UNIT
    }

    /// The weight of a class.
    pub(crate) fn class_weight(&self, class: usize) -> f64 {
        self.weight[class] as f64 / WEIGHT_UNIT
    }

    /// The sums of a class in one of the two views.
    pub(crate) fn sums_of(&self, view: View, class: usize) -> ViewSums<'_> {
        let (per_class, numbers) = (self.layout.sums(), self.layout.numbers.len());
        let start = class * per_class + view as usize * per_class / 2;
        let (of_numbers, rest) = self.sums[start..][..per_class / 2].split_at(numbers);
        let (products, by_code) = rest.split_at(numbers * (numbers + 1) / 2);
        ViewSums { of_numbers, products, by_code }
    }
}

fn add(to: &mut i64, x: i64, sign: f64) {
    *to = if sign > 0.0 { to.wrapping_add(x) } else { to.wrapping_sub(x) };
}

/// The two ways in which numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum View {
    /// How many deviations they lie from their mean.
    Distances = 0,
    /// Where the normal distribution has as much below.
    Normals = 1,
}

/// Sums over the rows of a class.
pub(crate) struct ViewSums<'a> {
    of_numbers: &'a [i128],
    products: &'a [i128],
    by_code: &'a [i128],
}

impl ViewSums<'_> {
    /// Σ x of a column of numbers.
    pub(crate) fn sum(&self, number: usize) -> f64 {
        self.of_numbers[number] as f64 / (UNIT * WEIGHT_UNIT)
    }

    /// Σ x y of two columns of numbers.
    pub(crate) fn product(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.max(b), a.min(b));
        self.products[a * (a + 1) / 2 + b] as f64 / (UNIT * UNIT * WEIGHT_UNIT)
    }

    /// Σ x of a column of numbers over the rows that have a code, counted over all columns of categories.
    pub(crate) fn by_code(&self, code: usize, number: usize) -> f64 {
        self.by_code[code * self.of_numbers.len() + number] as f64 / (UNIT * WEIGHT_UNIT)
    }
}

/// How the codes of three columns become the cell of a triple.
#[derive(Debug, Clone)]
pub(crate) struct TripleShape {
    pub(crate) columns: [usize; 3],
    shifts: [u32; 3],
    pub(crate) codes: [usize; 3],
}

impl TripleShape {
    pub(crate) fn new(layout: &Layout, triple: &Triple) -> Self {
        TripleShape {
            columns: triple.columns,
            shifts: triple.columns.map(|column| layout.shifts[column]),
            codes: triple.columns.map(|column| coarse_codes(layout.codes[column], layout.shifts[column])),
        }
    }

    /// Of the first three columns, with so many codes each.
    #[cfg(test)]
    pub(super) fn of_codes(codes: [usize; 3]) -> Self {
        TripleShape { columns: [0, 1, 2], shifts: [0; 3], codes }
    }

    /// The codes of a row.
    #[inline]
    pub(crate) fn codes_of(&self, coded: &Coded, row: usize) -> [usize; 3] {
        let [a, b, c] = self.columns;
        [
            coarser(coded.codes[a][row], self.shifts[0]),
            coarser(coded.codes[b][row], self.shifts[1]),
            coarser(coded.codes[c][row], self.shifts[2]),
        ]
    }

    /// Whether all three values of a cell are known.
    pub(crate) fn is_known(&self, cell: usize) -> bool {
        let [_, b, c] = self.codes;
        cell / (b * c) != 0 && !(cell / c).is_multiple_of(b) && !cell.is_multiple_of(c)
    }

    /// The cell of a row.
    #[inline]
    pub(crate) fn cell(&self, coded: &Coded, row: usize) -> usize {
        let [a, b, c] = self.codes_of(coded, row);
        (a * self.codes[1] + b) * self.codes[2] + c
    }
}

//! What two or three columns say together beyond what each says by itself.
//!
//! For codes a and b of two columns,
//!
//! ```text
//! u(class) = log [ (n(a, b, class) / (P(a | class) P(b | class)) + s r) / (n(class) + s) ],
//! r = (n(a, b) + 1) / (Σ n(class) P(a | class) P(b | class) + 1)
//! ```
//!
//! over the rows that know both. r is how much more often a and b occur together than by chance in all classes: a class of few
//! rows is shrunk to the interaction that the classes share, not to independence. Three columns likewise.
//!
//! Without a row, its own class has one row less in n(a, b, class) and in n(class), and everything else stays. To leave the row
//! out of P(a | class), which stands below, would raise the true class of every row, and weights would be fitted to that. Where a and
//! b occur together in most rows of a class and oftener than by chance in the others, u could still rise without the row; then it stays.

use crate::judgement::grid::{Coded, Grid};
use crate::judgement::together::{Layout, Pair, Together, Triple, TripleShape, coarse_codes, coarser};
use crate::numerics::ln_each;

/// Counts of the cells of two or three columns, ready to be shrunk.
pub(crate) struct Interaction {
    pub(crate) classes: usize,
    /// n(cell, class) / P(cell | class) with P as if the columns were independent, and 1 / P.
    rates: Vec<f64>,
    inverse: Vec<f64>,
    /// r of each cell.
    shared: Vec<f64>,
    /// n(class) over the rows that know all of the columns.
    totals: Vec<f64>,
}

impl Interaction {
    /// The cells of a pair, with the codes of its columns shifted.
    pub(crate) fn of_pair(together: &Together, pair: &Pair, shifts: [u32; 2]) -> Self {
        let layout = together.layout();
        let [a, b] = pair.columns.map(|column| layout.codes[column]);
        let [coarse_a, coarse_b] = [coarse_codes(a, shifts[0]), coarse_codes(b, shifts[1])];
        let classes = together.classes;
        let mut counts = vec![0.0; coarse_a * coarse_b * classes];
        for code_a in 1..a {
            let to_a = coarser(code_a as u8, shifts[0]);
            for code_b in 1..b {
                let to = to_a * coarse_b + coarser(code_b as u8, shifts[1]);
                for class in 0..classes {
                    counts[to * classes + class] += together.count(pair.start + code_a * b + code_b, class);
                }
            }
        }
        Interaction::new(counts, &[coarse_a, coarse_b], classes)
    }

    /// The cells of a triple.
    pub(crate) fn of_triple(together: &Together, triple: &Triple) -> Self {
        let codes = TripleShape::new(together.layout(), triple).codes;
        let classes = together.classes;
        let mut counts = vec![0.0; codes.iter().product::<usize>() * classes];
        for a in 1..codes[0] {
            for b in 1..codes[1] {
                for c in 1..codes[2] {
                    let cell = (a * codes[1] + b) * codes[2] + c;
                    for class in 0..classes {
                        counts[cell * classes + class] = together.count(triple.start + cell, class);
                    }
                }
            }
        }
        Interaction::new(counts, &codes, classes)
    }

    /// `counts` has a cell for every combination of codes, zero where one is that of no value; the last column counts fastest.
    fn new(counts: Vec<f64>, codes: &[usize], classes: usize) -> Self {
        let mut totals = vec![0.0; classes];
        for cell in counts.chunks_exact(classes) {
            totals.iter_mut().zip(cell).for_each(|(total, count)| *total += count);
        }
        let mut expected = vec![1.0; counts.len()];
        let mut step = counts.len() / classes;
        for &size in codes {
            step /= size;
            let mut of_code = vec![0.0; size * classes];
            for (cell, of_cell) in counts.chunks_exact(classes).enumerate() {
                let code = cell / step % size;
                of_code[code * classes..][..classes]
                    .iter_mut()
                    .zip(of_cell)
                    .for_each(|(sum, count)| *sum += count);
            }
            let shares = shares_of(&of_code, &totals);
            for (cell, of_cell) in expected.chunks_exact_mut(classes).enumerate() {
                let code = cell / step % size;
                of_cell
                    .iter_mut()
                    .zip(&shares[code * classes..])
                    .for_each(|(product, share)| *product *= share);
            }
        }
        let shared =
            counts.chunks_exact(classes).zip(expected.chunks_exact(classes)).map(|(counts, expected)| {
                let by_chance: f64 = expected.iter().zip(&totals).map(|(share, total)| share * total).sum();
                (counts.iter().sum::<f64>() + 1.0) / (by_chance + 1.0)
            });
        let shared = shared.collect();
        let inverse: Vec<f64> = expected.iter().map(|share| 1.0 / share).collect();
        let rates = counts.iter().zip(&inverse).map(|(count, inverse)| count * inverse).collect();
        Interaction { classes, shared, rates, inverse, totals }
    }

    /// Lets go of all that was counted.
    pub(crate) fn let_go(&mut self) {
        (self.rates, self.inverse, self.shared) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// u of a class for one of its own rows of this weight, without the row.
    pub(crate) fn ln(&self, cell: usize, class: usize, strength: f64, weight: f64) -> f64 {
        let place = cell * self.classes + class;
        let (rate, total, shared) = (self.rates[place], self.totals[class], strength * self.shared[cell]);
        let without = (rate - weight * self.inverse[place]).max(0.0);
        let left = (total - weight).max(0.0);
        libm::log(((without + shared) / (left + strength)).min((rate + shared) / (total + strength)))
    }

    /// u of every cell, classes side by side; zero where a value is missing. With a weight, u of each class for one of its own
    /// rows of this weight, without the row, or with one more if the weight is negative.
    pub(crate) fn table(&self, shape: &Shape, strength: f64, weight: f64) -> Vec<f64> {
        let inverse_totals = |weight: f64| {
            let totals = self.totals.iter().map(|total| 1.0 / ((total - weight).max(0.0) + strength));
            totals.collect::<Vec<f64>>()
        };
        let (totals, of_all) = (inverse_totals(weight), inverse_totals(0.0));
        let mut table = vec![0.0; self.rates.len()];
        let of_cells = self.rates.chunks_exact(self.classes).zip(self.inverse.chunks_exact(self.classes));
        let cells = table.chunks_exact_mut(self.classes).zip(of_cells).zip(&self.shared);
        for ((to, (rates, inverse)), shared) in cells {
            let of_classes = rates.iter().zip(inverse).zip(totals.iter().zip(&of_all));
            let shared = strength * shared;
            for (to, ((rate, inverse), (total, of_all))) in to.iter_mut().zip(of_classes) {
                let changed = ((rate - weight * inverse).max(0.0) + shared) * total;
                let with_all = (rate + shared) * of_all;
                // Whatever else may change, a row never speaks against its class.
                *to = if weight < 0.0 { changed.max(with_all) } else { changed.min(with_all) };
            }
        }
        ln_each(&mut table);
        for (cell, terms) in table.chunks_exact_mut(self.classes).enumerate() {
            if !shape.is_known(cell) {
                terms.fill(0.0);
            }
        }
        table
    }
}

/// P(code | class) with two rows of the prior: the share of the code in all classes.
fn shares_of(of_code: &[f64], totals: &[f64]) -> Vec<f64> {
    let classes = totals.len();
    let pooled: Vec<f64> = of_code.chunks_exact(classes).map(|counts| counts.iter().sum()).collect();
    let everything: f64 = pooled.iter().sum();
    let codes = pooled.iter().filter(|&&count| count > 0.0).count().max(1) as f64;
    let mut shares = Vec::with_capacity(of_code.len());
    for (counts, pooled) in of_code.chunks_exact(classes).zip(pooled) {
        let q = (pooled + 0.5) / (everything + 0.5 * codes);
        shares.extend(counts.iter().zip(totals).map(|(count, total)| (count + 2.0 * q) / (total + 2.0)));
    }
    shares
}

/// How the codes of two or three columns of the grid become a cell.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Pair { columns: [usize; 2], shifts: [u32; 2], width: usize },
    Triple(TripleShape),
}

impl Shape {
    /// Of a pair, with the codes of its columns shifted.
    pub(crate) fn of_pair(layout: &Layout, pair: &Pair, shifts: [u32; 2]) -> Self {
        let width = coarse_codes(layout.codes[pair.columns[1]], shifts[1]);
        Shape::Pair { columns: pair.columns, shifts, width }
    }

    pub(crate) fn columns(&self) -> &[usize] {
        match self {
            Shape::Pair { columns, .. } => columns,
            Shape::Triple(shape) => &shape.columns,
        }
    }

    /// The cell of a row.
    #[inline]
    pub(crate) fn cell(&self, coded: &Coded, row: usize) -> usize {
        match self {
            Shape::Pair { columns: [a, b], shifts, width } => {
                coarser(coded.codes[*a][row], shifts[0]) * width + coarser(coded.codes[*b][row], shifts[1])
            }
            Shape::Triple(shape) => shape.cell(coded, row),
        }
    }

    /// Whether all values of a cell are known.
    pub(crate) fn is_known(&self, cell: usize) -> bool {
        match self {
            Shape::Pair { width, .. } => cell / width != 0 && !cell.is_multiple_of(*width),
            Shape::Triple(shape) => shape.is_known(cell),
        }
    }
}

/// The shapes and the counts of all pairs, with their columns in at most so many bins.
pub(crate) fn pairs_of(
    grid: &Grid,
    together: &Together,
    bins: usize,
) -> impl Iterator<Item = (Shape, Interaction)> {
    let layout = together.layout();
    layout.pairs.iter().map(move |pair| pair_of(grid, together, pair, bins))
}

/// The shape and the counts of a pair, with its columns in at most so many bins.
pub(crate) fn pair_of(grid: &Grid, together: &Together, pair: &Pair, bins: usize) -> (Shape, Interaction) {
    let shifts = pair.columns.map(|column| grid.columns[column].shift_to(bins));
    (Shape::of_pair(together.layout(), pair, shifts), Interaction::of_pair(together, pair, shifts))
}

/// The shapes and the counts of all triples.
pub(crate) fn triples_of(together: &Together) -> impl Iterator<Item = (Shape, Interaction)> {
    let layout = together.layout();
    layout.triples.iter().map(move |triple| {
        (Shape::Triple(TripleShape::new(layout, triple)), Interaction::of_triple(together, triple))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two columns of two codes each, beside that of no value.
    const SHAPE: Shape = Shape::Pair { columns: [0, 1], shifts: [0, 0], width: 3 };

    proptest! {
        /// For every row that was counted, what is left without it says less for its class, and no more for any other.
        #[test]
        fn leaving_a_row_out_only_ever_lowers_its_class(
            is_triple in any::<bool>(),
            classes in 2_usize..=4,
            rows in prop::collection::vec(prop::sample::select(vec![0_u8, 0, 1, 2, 30]), 4 * 18),
            strength in prop::sample::select(vec![1e-3, 5.0, 20.0, 300.0]),
            weight in prop::sample::select(vec![0.25, 1.0]),
        ) {
            // Two columns of three and two values, or three with two and one more: codes begin with that of no value.
            let (codes, shape) = match is_triple {
                false => (&[4, 3][..], Shape::Pair { columns: [0, 1], shifts: [0, 0], width: 3 }),
                true => (&[4, 3, 2][..], Shape::Triple(TripleShape::of_codes([4, 3, 2]))),
            };
            let mut counts = vec![0.0; codes.iter().product::<usize>() * classes];
            let known = |place: &usize| shape.is_known(place / classes);
            let places: Vec<usize> = (0..counts.len()).filter(known).collect();
            for (&place, rows) in places.iter().zip(rows) {
                counts[place] = f64::from(rows);
            }
            let interaction = Interaction::new(counts.clone(), codes, classes);
            let (with, without) = (interaction.table(&shape, strength, 0.0), interaction.table(&shape, strength, weight));
            for place in places.into_iter().filter(|&place| counts[place] > 0.0) {
                let u = |weight: f64| interaction.ln(place / classes, place % classes, strength, weight);
                prop_assert!((u(0.0) - with[place]).abs() < 1e-12 && (u(weight) - without[place]).abs() < 1e-12);
                prop_assert!(u(weight) <= u(0.0), "{} without the row, {} with it", u(weight), u(0.0));
            }
        }
    }

    #[test]
    fn independent_columns_say_nothing_together() {
        let mut counts = vec![0.0; 9];
        for (cell, count) in [(4, 40.0), (5, 60.0), (7, 400.0), (8, 600.0)] {
            counts[cell] = count;
        }
        let interaction = Interaction::new(counts, &[3, 3], 1);
        for cell in [4, 5, 7, 8] {
            assert!(interaction.table(&SHAPE, 20.0, 0.0)[cell].abs() < 0.01);
        }
    }
}

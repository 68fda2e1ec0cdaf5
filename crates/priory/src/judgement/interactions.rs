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
//! out of P(a | class), which stands below, would raise the true class of every row, and weights would be fitted to that.

use crate::judgement::grid::Coded;
use crate::judgement::together::{Layout, Pair, Together, Triple, TripleShape, coarse_codes, coarser};

/// Counts of the cells of two or three columns, ready to be shrunk.
pub(crate) struct Interaction {
    classes: usize,
    /// n(cell, class) / P(cell | class) under independence, and P itself.
    counts: Vec<f64>,
    expected: Vec<f64>,
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
        Interaction { classes, shared: shared.collect(), counts, expected, totals }
    }

    pub(crate) fn cells(&self) -> usize {
        self.shared.len()
    }

    /// u of a cell and class, or with `weight` for one of the class's own rows without the row.
    #[inline]
    pub(crate) fn ln(&self, cell: usize, class: usize, strength: f64, weight: f64) -> f64 {
        let place = cell * self.classes + class;
        let count = (self.counts[place] - weight).max(0.0) / self.expected[place];
        let total = (self.totals[class] - weight).max(0.0);
        libm::log((count + strength * self.shared[cell]) / (total + strength))
    }

    /// u of a cell for each class, without a row of this class and weight; `table` is what [`table`](Self::table) gives under the
    /// same strength.
    pub(crate) fn without(
        &self,
        table: &[f64],
        cell: usize,
        strength: f64,
        own: usize,
        weight: f64,
    ) -> Vec<f64> {
        let mut terms = table[cell * self.classes..][..self.classes].to_vec();
        terms[own] = self.ln(cell, own, strength, weight);
        terms
    }

    /// u of every cell, classes side by side; zero where a value is missing.
    pub(crate) fn table(&self, strength: f64, is_known: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut table = vec![0.0; self.counts.len()];
        for cell in (0..self.cells()).filter(|&cell| is_known(cell)) {
            for class in 0..self.classes {
                table[cell * self.classes + class] = self.ln(cell, class, strength, 0.0);
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

/// How the codes of two columns become the cell of a pair.
#[derive(Debug, Clone)]
pub(crate) struct PairShape {
    pub(crate) columns: [usize; 2],
    pub(crate) shifts: [u32; 2],
    width: usize,
}

impl PairShape {
    pub(crate) fn new(layout: &Layout, pair: &Pair, shifts: [u32; 2]) -> Self {
        PairShape {
            columns: pair.columns,
            shifts,
            width: coarse_codes(layout.codes[pair.columns[1]], shifts[1]),
        }
    }

    /// The cell of a row, unless a value is missing.
    #[inline]
    pub(crate) fn cell(&self, coded: &Coded, row: usize) -> Option<usize> {
        let [a, b] = self.columns;
        let [a, b] =
            [coarser(coded.codes[a][row], self.shifts[0]), coarser(coded.codes[b][row], self.shifts[1])];
        (a != 0 && b != 0).then_some(a * self.width + b)
    }

    pub(crate) fn is_known(&self, cell: usize) -> bool {
        cell / self.width != 0 && !cell.is_multiple_of(self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_a_row_out_only_ever_lowers_its_class() {
        // Two columns of two codes each, and two classes: the cells of no value first.
        let mut counts = vec![0.0; 9 * 2];
        for (cell, of_class) in [(4, [5.0, 1.0]), (5, [2.0, 7.0]), (7, [1.0, 3.0]), (8, [6.0, 2.0])] {
            counts[cell * 2..][..2].copy_from_slice(&of_class);
        }
        let interaction = Interaction::new(counts, &[3, 3], 2);
        for cell in [4, 5, 7, 8] {
            for class in 0..2 {
                for strength in [5.0, 80.0] {
                    let with = interaction.ln(cell, class, strength, 0.0);
                    assert!(interaction.ln(cell, class, strength, 1.0) <= with + 1e-15);
                }
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
            assert!(interaction.ln(cell, 0, 20.0, 0.0).abs() < 0.01);
        }
    }
}

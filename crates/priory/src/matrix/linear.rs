//! Scores that are weighted sums: Σ over columns x · weight + bias, for every class.
//!
//! That is what multinomial, complement and Bernoulli naive Bayes and linear discriminants come to. 0 · ∞ is 0 here: a
//! word that is not there does not matter, however impossible it would be.

use super::dense::score_rows;
use super::{Index, InvalidEntry, SparseRow, SparseRows, check};
use crate::lines::{LANES, Line, Lines};
use crate::moments::engine::{ask, vectorized};

/// Weights, ready to be multiplied with rows.
#[derive(Debug, Clone)]
pub struct LinearScores {
    columns: usize,
    /// Class after class, if the rows are dense.
    by_class: Vec<f64>,
    /// Column after column, if they are sparse: the classes side by side, a whole number of lines for each.
    by_column: Lines,
    bias: Vec<f64>,
    /// The same, in lines.
    start: Vec<Line>,
    finite: bool,
}

/// Weights are prefetched this many entries ahead, because those of rare words are not in the cache.
const AHEAD: usize = 16;

impl LinearScores {
    /// Takes weights, class after class, and what every class starts from; for sparse rows or for dense ones.
    pub fn new(weights: &[f64], bias: &[f64], sparse: bool) -> Self {
        let classes = bias.len();
        let columns = weights.len() / classes.max(1);
        let (mut by_class, mut by_column) = (Vec::new(), Lines::default());
        if sparse {
            by_column = Lines::new(columns, classes);
            for (class, weights) in weights.chunks_exact(columns.max(1)).enumerate() {
                weights.iter().enumerate().for_each(|(column, &weight)| by_column.set(column, class, weight));
            }
        } else {
            by_class = weights.to_vec();
        }
        let start =
            bias.chunks(LANES).map(|bias| Line(std::array::from_fn(|i| bias.get(i).copied().unwrap_or(0.0))));
        let start = start.collect();
        let finite = weights.iter().all(|weight| weight.is_finite());
        LinearScores { columns, by_class, by_column, bias: bias.to_vec(), start, finite }
    }

    /// Writes the scores of dense rows, for which the weights were taken.
    pub fn score(&self, values: &[f64], scores: &mut [f64]) {
        if self.finite {
            let weights = [&self.by_class[..]];
            return score_rows(values, weights, self.columns, &self.bias, scores, |x, [weight]| x * weight);
        }
        let classes = self.bias.len();
        for (row, scores) in values.chunks_exact(self.columns.max(1)).zip(scores.chunks_exact_mut(classes)) {
            for ((score, bias), weights) in
                scores.iter_mut().zip(&self.bias).zip(self.by_class.chunks_exact(self.columns))
            {
                let known = row.iter().zip(weights).filter(|(x, _)| **x != 0.0);
                *score = bias + known.map(|(x, weight)| x * weight).sum::<f64>();
            }
        }
    }

    /// Writes the scores of sparse rows, for which the weights were taken.
    ///
    /// ```
    /// use priory::matrix::{LinearScores, SparseRows};
    ///
    /// let scores = LinearScores::new(&[0.5, 1.0, 2.0, 4.0], &[10.0, 20.0], true);
    /// let mut scored = [0.0; 4];
    /// scores.score_sparse(SparseRows { starts: &[0, 1, 3], columns: &[1, 0, 1], values: &[3.0, 1.0, 1.0] }, &mut scored)?;
    /// assert_eq!(scored, [13.0, 32.0, 11.5, 26.0]);
    /// # Ok::<(), priory::matrix::InvalidEntry>(())
    /// ```
    ///
    /// # Errors
    /// If an entry is not finite, or beyond the columns.
    pub fn score_sparse<I: Index>(
        &self,
        rows: SparseRows<'_, I>,
        scores: &mut [f64],
    ) -> Result<(), InvalidEntry> {
        rows.check()?;
        let work = SparseWork { weights: self, rows, scores: &mut *scores };
        vectorized(
            #[inline(always)]
            // Sums of few lines stay in registers.
            move || match self.by_column.width() {
                1 => work.score_few::<1>(),
                2 => work.score_few::<2>(),
                3 => work.score_few::<3>(),
                4 => work.score_few::<4>(),
                width => {
                    let weights = &self.by_column;
                    let of_column = |column| (column < weights.rows()).then(|| weights.row(column));
                    work.score(vec![Line::default(); width], of_column)
                }
            },
        )?;
        // What is not finite makes all scores of its row so.
        if scores.iter().fold(true, |finite, score| finite & score.is_finite()) {
            return Ok(());
        }
        check(rows.values, true)?;
        if !self.finite {
            for (scores, row) in scores.chunks_exact_mut(self.bias.len().max(1)).zip(rows.rows()) {
                if !scores.iter().all(|score| score.is_finite()) {
                    self.score_around_zeros(row, scores);
                }
            }
        }
        Ok(())
    }

    /// Writes the scores of a row whose zeros do not count, whatever their weights are.
    fn score_around_zeros<I: Index>(&self, row: SparseRow<'_, I>, scores: &mut [f64]) {
        scores.copy_from_slice(&self.bias);
        for (column, x) in row.entries().filter(|(_, x)| *x != 0.0) {
            let weights = self.by_column.row(column).iter().flat_map(|Line(line)| line);
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += x * weight);
        }
    }
}

struct SparseWork<'a, I> {
    weights: &'a LinearScores,
    rows: SparseRows<'a, I>,
    scores: &'a mut [f64],
}

impl<'a, I: Index> SparseWork<'a, I> {
    /// Classes that take `WIDTH` lines.
    #[inline(always)]
    fn score_few<const WIDTH: usize>(self) -> Result<(), InvalidEntry> {
        let weights = self.weights.by_column.of_width::<WIDTH>();
        self.score([Line::default(); WIDTH], |column| weights.get(column).map(|lines| &lines[..]))
    }

    /// Takes weights from `of_column`, and keeps the sums of a row in `sums`.
    #[inline(always)]
    fn score(
        self,
        mut sums: impl AsMut<[Line]>,
        of_column: impl Fn(usize) -> Option<&'a [Line]>,
    ) -> Result<(), InvalidEntry> {
        let SparseRows { columns, values, .. } = self.rows;
        let ask_for = |column: &I| of_column(column.column()).into_iter().for_each(ask);
        columns.iter().take(AHEAD).for_each(ask_for);
        let mut later = columns.iter().skip(AHEAD);
        let mut entries = columns.iter().zip(values);
        let scores = self.scores.chunks_exact_mut(self.weights.bias.len().max(1));
        for (scores, length) in scores.zip(self.rows.lengths()) {
            let sums = sums.as_mut();
            sums.copy_from_slice(&self.weights.start);
            for (column, &x) in entries.by_ref().take(length) {
                later.next().into_iter().for_each(ask_for);
                let weights = of_column(column.column()).ok_or(InvalidEntry::NoSuchColumn)?;
                sums.iter_mut().zip(weights).for_each(|(sum, weights)| sum.add(x, weights));
            }
            for (scores, Line(sums)) in scores.chunks_mut(LANES).zip(sums) {
                scores.copy_from_slice(&sums[..scores.len()]);
            }
        }
        Ok(())
    }
}

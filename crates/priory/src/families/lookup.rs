//! Likelihoods that are looked up in a table: the table's row of a value is added to the scores of every row with that
//! value.

use crate::moments::engine::vectorized;

/// The row of a value that adds nothing.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Adds to the scores of each example the row of the table that it is given; the classes lie side by side.
pub(crate) fn add_rows(table: &[f64], classes: usize, rows: impl Iterator<Item = u32>, scores: &mut [f64]) {
    vectorized(
        #[inline(always)]
        move || {
            for (scores, row) in scores.chunks_exact_mut(classes).zip(rows) {
                if row != NO_ROW {
                    add(scores, &table[row as usize * classes..][..classes]);
                }
            }
        },
    );
}

/// Adds numbers, eight at a time: a table of few classes is narrower than what a compiler would take.
#[inline(always)]
pub(crate) fn add(scores: &mut [f64], numbers: &[f64]) {
    let (eights, rest) = scores.as_chunks_mut::<8>();
    let (other_eights, other_rest) = numbers.as_chunks::<8>();
    for (scores, numbers) in eights.iter_mut().zip(other_eights) {
        scores.iter_mut().zip(numbers).for_each(|(score, number)| *score += number);
    }
    rest.iter_mut().zip(other_rest).for_each(|(score, number)| *score += number);
}

//! Scores of dense rows: a sum over the columns for every row and class.

use crate::moments::engine::vectorized;

/// This many rows are scored side by side, so that the parameters of a class are fetched once for all of them.
const ROWS: usize = 4;
/// This many columns are added side by side.
const LANES: usize = 8;

/// Writes start + Σ term(x, parameters) of every row and class. The parameters stand class after class, one of each kind
/// for every column. The order of additions is fixed and nothing is fused, so that every processor gives the same bits.
pub(super) fn score_rows<const KINDS: usize>(
    values: &[f64],
    parameters: [&[f64]; KINDS],
    columns: usize,
    start: &[f64],
    scores: &mut [f64],
    term: impl Fn(f64, [f64; KINDS]) -> f64 + Copy,
) {
    let classes = start.len();
    vectorized(
        #[inline(always)]
        move || {
            for (rows, scores) in values.chunks(ROWS * columns).zip(scores.chunks_mut(ROWS * classes)) {
                for (class, start) in start.iter().enumerate() {
                    let parameters = parameters.map(|all| &all[class * columns..][..columns]);
                    if rows.len() == ROWS * columns {
                        let sums = sums::<ROWS, KINDS>(rows, parameters, term);
                        (0..ROWS).for_each(|row| scores[row * classes + class] = start + sums[row]);
                    } else {
                        for (row, x) in rows.chunks_exact(columns).enumerate() {
                            scores[row * classes + class] = start + sums::<1, KINDS>(x, parameters, term)[0];
                        }
                    }
                }
            }
        },
    );
}

/// Σ term(x, parameters) of `N` rows.
#[inline(always)]
fn sums<const N: usize, const KINDS: usize>(
    rows: &[f64],
    parameters: [&[f64]; KINDS],
    term: impl Fn(f64, [f64; KINDS]) -> f64,
) -> [f64; N] {
    let columns = rows.len() / N;
    let rows: [&[f64]; N] = std::array::from_fn(|row| &rows[row * columns..][..columns]);
    let mut sums = [[0.0; LANES]; N];
    let whole = columns / LANES * LANES;
    for first in (0..whole).step_by(LANES) {
        let parameters = parameters.map(|of_class| &of_class[first..first + LANES]);
        for (sums, row) in sums.iter_mut().zip(rows) {
            let row = &row[first..first + LANES];
            for lane in 0..LANES {
                sums[lane] += term(row[lane], parameters.map(|of_lanes| of_lanes[lane]));
            }
        }
    }
    // A loop, since `from_fn` would not be compiled for the same processor.
    let mut all = [0.0; N];
    for ((all, sums), row) in all.iter_mut().zip(sums).zip(rows) {
        let term = |column: usize| term(row[column], parameters.map(|of_class| of_class[column]));
        *all = sums.iter().sum::<f64>() + (whole..columns).map(term).sum::<f64>();
    }
    all
}

//! Matrices: sums do not depend on how rows are split, and scores are what the formulas say.

use std::f64::consts::PI;

use priory::matrix::{
    self, CodeScores, CodeSums, CountSums, CovarianceSums, GaussianScores, GaussianSums, LinearScores,
    SparseRow, SparseRows,
};
use proptest::prelude::*;

const COLUMNS: usize = 11;

/// Rows, a class below 3 and a weight for each, and where they are cut in two.
fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<u32>, Vec<f64>, usize)> {
    (0_usize..30).prop_flat_map(|rows| {
        let value = prop_oneof![-1e3..1e3, (-9_i32..9).prop_map(f64::from), Just(0.0)];
        let values = proptest::collection::vec(value, rows * COLUMNS);
        let classes = proptest::collection::vec(0_u32..3, rows);
        let weights = prop_oneof![Just(Vec::new()), proptest::collection::vec(0.0..4.0, rows)];
        (values, classes, weights, 0..=rows)
    })
}

/// The numbers of a row that are not zero, and where they stand.
fn compressed(row: &[f64]) -> (Vec<i32>, Vec<f64>) {
    (0..).zip(row).filter(|(_, x)| **x != 0.0).unzip()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

proptest! {
    #[test]
    fn gaussian_sums_do_not_depend_on_the_split((values, classes, weights, cut) in rows()) {
        let weights_of = |from: usize, to: usize| if weights.is_empty() { &[] } else { &weights[from..to] };
        let mut whole = GaussianSums::new(COLUMNS, 3);
        whole.observe(&values, &classes, &weights).unwrap();
        let mut parts = GaussianSums::new(COLUMNS, 3);
        parts.observe(&values[cut * COLUMNS..], &classes[cut..], weights_of(cut, classes.len())).unwrap();
        let mut first = GaussianSums::new(COLUMNS, 3);
        first.observe(&values[..cut * COLUMNS], &classes[..cut], weights_of(0, cut)).unwrap();
        parts.merge(&first);
        prop_assert_eq!(whole.to_bytes(), parts.to_bytes());
        prop_assert_eq!(whole.estimate(0.1), parts.estimate(0.1));
        let read = GaussianSums::from_bytes(&whole.to_bytes()).unwrap();
        prop_assert_eq!(read.estimate(1e-9), whole.estimate(1e-9));
    }

    #[test]
    fn counts_do_not_depend_on_the_split_or_the_layout((values, classes, weights, cut) in rows()) {
        let mut dense = CountSums::new(COLUMNS, 3);
        dense.observe(&values, &classes, &weights);
        let mut sparse = CountSums::new(COLUMNS, 3);
        for (row, (x, &class)) in values.chunks_exact(COLUMNS).zip(&classes).enumerate() {
            let (columns, values) = compressed(x);
            let x = SparseRow { columns: &columns, values: &values };
            sparse.observe_sparse(x, class, weights.get(row).copied(), true).unwrap();
        }
        prop_assert_eq!(dense.to_bytes(), sparse.to_bytes());
        let mut parts = CountSums::new(COLUMNS, 3);
        let split = |from: usize, to: usize| if weights.is_empty() { &[] } else { &weights[from..to] };
        parts.observe(&values[cut * COLUMNS..], &classes[cut..], split(cut, classes.len()));
        let mut first = CountSums::new(COLUMNS, 3);
        first.observe(&values[..cut * COLUMNS], &classes[..cut], split(0, cut));
        first.merge(&parts);
        prop_assert_eq!(dense.to_bytes(), first.to_bytes());
        prop_assert_eq!(CountSums::from_bytes(&dense.to_bytes()).unwrap().counts(), dense.counts());
    }

    #[test]
    fn gaussian_scores_are_the_formula((values, classes, _, _) in rows()) {
        let mut sums = GaussianSums::new(COLUMNS, 3);
        sums.observe(&values, &classes, &[]).unwrap();
        let mut gaussians = sums.estimate(1e-3);
        gaussians.variances.iter_mut().for_each(|variance| *variance += 0.5);
        let log_prior = [-0.5, -1.0, -2.0];
        let mut scores = vec![0.0; classes.len() * 3];
        GaussianScores::new(&gaussians.means, &gaussians.variances, &log_prior).score(&values, &mut scores);
        for (row, x) in values.chunks_exact(COLUMNS).enumerate() {
            for class in 0..3 {
                let of = |all: &[f64], column: usize| all[class * COLUMNS + column];
                let expected = (0..COLUMNS).fold(log_prior[class], |sum, column| {
                    let (mean, variance) = (of(&gaussians.means, column), of(&gaussians.variances, column));
                    sum - 0.5 * (2.0 * PI * variance).ln() - 0.5 * (x[column] - mean).powi(2) / variance
                });
                prop_assert!(close(scores[row * 3 + class], expected), "{} {expected}", scores[row * 3 + class]);
            }
        }
    }

    #[test]
    fn dense_and_sparse_rows_have_the_same_scores(
        (values, classes, _, _) in rows(),
        many in 1_usize..40,
        impossible in any::<bool>(),
    ) {
        let mut weights: Vec<f64> = (0..many * COLUMNS).map(|i| (i as f64 * 0.37).sin()).collect();
        if impossible {
            weights[COLUMNS - 1] = f64::NEG_INFINITY;
        }
        let bias: Vec<f64> = (0..many).map(|i| i as f64).collect();
        let mut dense = vec![0.0; classes.len() * many];
        LinearScores::new(&weights, &bias, false).score(&values, &mut dense);
        let scores = LinearScores::new(&weights, &bias, true);
        let (mut starts, mut columns, mut entries) = (vec![7], Vec::new(), Vec::new());
        for x in values.chunks_exact(COLUMNS) {
            let (of_row, x) = compressed(x);
            columns.extend(of_row);
            entries.extend(x);
            starts.push(7 + entries.len());
        }
        let all = SparseRows { starts: &starts, columns: &columns, values: &entries };
        let mut sparse = dense.clone();
        scores.score_sparse(all, &mut sparse).unwrap();
        // A row has the same bits alone.
        for (row, scored) in sparse.chunks_exact(many).enumerate() {
            let starts = &starts[row..row + 2];
            let of_row = starts[0] - 7..starts[1] - 7;
            let one = SparseRows { starts, columns: &columns[of_row.clone()], values: &entries[of_row] };
            let mut alone = vec![0.0; many];
            scores.score_sparse(one, &mut alone).unwrap();
            prop_assert_eq!(alone, scored);
        }
        for (row, x) in values.chunks_exact(COLUMNS).enumerate() {
            for class in 0..many {
                let known = x.iter().zip(&weights[class * COLUMNS..]).filter(|(x, _)| **x != 0.0);
                let terms: Vec<f64> = known.map(|(x, weight)| x * weight).collect();
                let size = terms.iter().fold(1.0, |sum: f64, x| sum + x.abs());
                let expected = bias[class] + terms.iter().sum::<f64>();
                for score in [dense[row * many + class], sparse[row * many + class]] {
                    prop_assert!(score == expected || (score - expected).abs() <= 1e-14 * size);
                }
            }
        }
    }

    #[test]
    fn codes_are_counted_and_scored(
        codes in proptest::collection::vec(0_u32..5, 24),
        classes in proptest::collection::vec(0_u32..3, 12),
        asked in proptest::collection::vec(0_u32..9, 2),
    ) {
        let mut sums = CodeSums::new(2, 3);
        sums.observe(&codes, &classes, &[]).unwrap();
        let mut parts = CodeSums::new(2, 3);
        let mut rest = CodeSums::new(2, 3);
        parts.observe(&[&codes[..5], &codes[12..17]].concat(), &classes[..5], &[]).unwrap();
        rest.observe(&[&codes[5..12], &codes[17..]].concat(), &classes[5..], &[]).unwrap();
        parts.merge(&rest);
        prop_assert_eq!(sums.to_bytes(), parts.to_bytes());
        prop_assert_eq!(CodeSums::from_bytes(&sums.to_bytes()).unwrap().to_bytes(), sums.to_bytes());

        let mut scorer = CodeScores::new(&[0.0, -1.0, -2.0]);
        for column in 0..2 {
            let many = sums.codes(column);
            let logs = matrix::code_log_likelihood(&sums.counts(column, many), many, 0.5);
            let known: Vec<f64> = logs.chunks_exact(many + 1).flat_map(|row| row[..many].to_vec()).collect();
            let beyond: Vec<f64> = logs.chunks_exact(many + 1).map(|row| row[many]).collect();
            scorer.push(&known, &beyond);
        }
        let mut scores = [0.0; 3];
        scorer.score(&asked, &mut scores);
        for class in 0..3_u32 {
            let expected = (0..2).fold(-f64::from(class), |sum, column| {
                let own = |code: Option<u32>| {
                    let rows = codes[column * 12..][..12].iter().zip(&classes);
                    rows.filter(|&(&c, &k)| k == class && code.is_none_or(|code| code == c)).count() as f64
                };
                let many = sums.codes(column) as f64;
                let known = f64::from(asked[column]) < many;
                let total = own(None) + 0.5 * if known { many } else { many + 1.0 };
                sum + ((own(Some(asked[column])) + 0.5) / total).ln()
            });
            prop_assert!(close(scores[class as usize], expected));
        }
    }

    #[test]
    fn covariances_are_those_of_the_rows((values, classes, _, cut) in rows()) {
        let mut whole = CovarianceSums::new(COLUMNS, 3);
        whole.observe(&values[..cut * COLUMNS], &classes[..cut]).unwrap();
        let mut rest = CovarianceSums::new(COLUMNS, 3);
        rest.observe(&values[cut * COLUMNS..], &classes[cut..]).unwrap();
        whole.merge(&rest);
        let read = CovarianceSums::from_bytes(&whole.to_bytes()).unwrap();
        prop_assert_eq!(read.covariances(), whole.covariances());
        let (means, covariances) = (whole.means(), whole.covariances());
        for class in 0..3 {
            let own = || values.chunks_exact(COLUMNS).zip(&classes).filter(|(_, k)| **k as usize == class).map(|(x, _)| x);
            let n = own().count() as f64;
            if n == 0.0 {
                continue;
            }
            let of = |i: usize| own().map(|x| x[i]).sum::<f64>() / n;
            for i in 0..COLUMNS {
                prop_assert!(close(means[class * COLUMNS + i], of(i)));
                for j in 0..COLUMNS {
                    let expected = own().map(|x| (x[i] - of(i)) * (x[j] - of(j))).sum::<f64>() / n;
                    let found = covariances[(class * COLUMNS + i) * COLUMNS + j];
                    prop_assert!((found - expected).abs() < 1e-12 * 1e6);
                }
            }
        }
    }
}

#[test]
fn normalizing_keeps_what_is_impossible() {
    let mut scores = [f64::NEG_INFINITY, -1000.0, -1001.0, 5.0, 5.0, f64::NEG_INFINITY];
    let mut logs = scores;
    matrix::normalize(&mut scores, 3);
    matrix::normalize_log(&mut logs, 3);
    assert_eq!((scores[0], scores[3], scores[5]), (0.0, 0.5, 0.0));
    assert!(close(scores[1], 1.0 / (1.0 + (-1.0_f64).exp())));
    assert!(close(logs[2], -1.0 - (-1.0_f64).exp().ln_1p()));
    let mut nowhere = [f64::NEG_INFINITY; 2];
    matrix::normalize(&mut nowhere, 2);
    assert!(nowhere[0].is_nan());
    assert_eq!(matrix::best(&[1.0, 1.0, 0.0, 2.0], 2).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn odd_numbers_are_found() {
    assert_eq!(matrix::check(&[0.0, -0.0, 1.0], false), Ok(()));
    assert_eq!(matrix::check(&[0.0, -1.0], true), Ok(()));
    assert_eq!(matrix::check(&[0.0, -1.0], false), Err(matrix::InvalidEntry::Negative));
    assert_eq!(matrix::check(&[-1.0, f64::NAN], false), Err(matrix::InvalidEntry::NotFinite));
    assert!(matrix::above(f64::INFINITY, 0.0).is_infinite() && matrix::above(0.5, 0.5) == 0.0);
}

/// Entries that do not belong there leave no trace.
#[test]
fn odd_sparse_rows_are_refused() {
    let scores = LinearScores::new(&[0.5; 6], &[0.0; 2], true);
    let mut sums = CountSums::new(3, 2);
    let empty = sums.to_bytes();
    let rows: [(&[i64], &[f64], _); 6] = [
        (&[0, 3], &[1.0, 1.0], matrix::InvalidEntry::NoSuchColumn),
        (&[-1], &[1.0], matrix::InvalidEntry::NoSuchColumn),
        (&[0, 1], &[1.0], matrix::InvalidEntry::NoSuchColumn),
        (&[0], &[f64::NAN], matrix::InvalidEntry::NotFinite),
        (&[2], &[f64::NEG_INFINITY], matrix::InvalidEntry::NotFinite),
        (&[0, 1], &[1.0, -0.5], matrix::InvalidEntry::Negative),
    ];
    for (columns, values, odd) in rows {
        assert_eq!(sums.observe_sparse(SparseRow { columns, values }, 1, None, false), Err(odd));
        let rows = SparseRows { starts: &[0, columns.len()], columns, values };
        let scored = scores.score_sparse(rows, &mut [0.0; 2]);
        assert_eq!(scored, if odd == matrix::InvalidEntry::Negative { Ok(()) } else { Err(odd) });
    }
    for starts in [&[0, 1][..], &[0, 3], &[0, 1, 0, 2], &[3, 1], &[]] {
        let rows = SparseRows { starts, columns: &[0, 1], values: &[1.0; 2] };
        assert_eq!(
            scores.score_sparse(rows, &mut [0.0; 6]),
            Err(matrix::InvalidEntry::NoSuchColumn),
            "{starts:?}"
        );
    }
    assert_eq!(sums.to_bytes(), empty);
    // A row that overflows is no error.
    let row = SparseRows { starts: &[0, 2], columns: &[0_u32, 1], values: &[f64::MAX; 2] };
    let scores = LinearScores::new(&[2.0; 3], &[0.0], true);
    let mut scored = [0.0];
    assert_eq!(scores.score_sparse(row, &mut scored), Ok(()));
    assert_eq!(scored, [f64::INFINITY]);
}

/// Logarithms that are kept are those of their own pseudocount.
#[test]
fn multinomial_by_hand() {
    let (mut logs, pseudocounts) = ([3.0, 0.5, 3.0, 3.0, 1e6], [1.0, 1.0, 1.0, 2.0, 1.0]);
    matrix::multinomial(&mut logs, &pseudocounts);
    let total: f64 = 1_000_009.5 + 6.0;
    for (log, n) in logs.into_iter().zip([4.0, 1.5, 4.0, 5.0, 1_000_001.0]) {
        assert!(close(log, (n / total).ln()));
    }
}

/// Bernoulli with p = 1/4: what is there adds ln ¼ − ln ¾ to a start of ln ¾.
#[test]
fn bernoulli_by_hand() {
    let mut logs = [0.0];
    matrix::bernoulli(&mut logs, 2.0, &[1.0]);
    assert!(close(logs[0], 0.25_f64.ln()));
    let (weights, start) = matrix::bernoulli_weights(&logs, &[0.0]);
    assert!(close(weights[0], (1.0_f64 / 3.0).ln()) && close(start[0], 0.75_f64.ln()));
}

#[test]
fn codes_beyond_memory_are_refused() {
    let mut sums = CodeSums::new(1, 2);
    assert_eq!(sums.observe(&[u32::MAX - 1], &[0], &[]).unwrap_err().code, u32::MAX - 1);
    assert!(CodeSums::from_bytes(&[0xff; 40]).is_none() && CountSums::from_bytes(&[0xff; 40]).is_none());
    assert!(
        GaussianSums::from_bytes(&[0x7f; 40]).is_none() && CovarianceSums::from_bytes(&[0x7f; 40]).is_none()
    );
    assert!(matrix::encode(&[i64::MIN, i64::MAX]).is_none());
}

/// No room is made for sums that so few bytes cannot hold, whatever they claim.
#[test]
fn bytes_that_claim_too_much_are_refused() {
    let bytes = |numbers: &[u64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let many = 1 << 30;
    for (columns, classes) in [(many, 1), (1, many), (many, many), (0, many), (many, 0)] {
        for rest in [&[][..], &[1, 0, many, 0], &[many, 0, 1, 0], &[many, many, 0], &[0, many, many]] {
            let bytes = bytes(&[&[columns, classes], rest].concat());
            assert!(CountSums::from_bytes(&bytes).is_none(), "{columns} × {classes}, {rest:?}");
            assert!(CodeSums::from_bytes(&bytes).is_none(), "{columns} × {classes}, {rest:?}");
            assert!(GaussianSums::from_bytes(&bytes).is_none(), "{columns} × {classes}, {rest:?}");
            assert!(CovarianceSums::from_bytes(&bytes).is_none(), "{columns} × {classes}, {rest:?}");
        }
    }
}

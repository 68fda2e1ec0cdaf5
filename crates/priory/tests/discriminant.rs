//! Gaussian discriminant analysis: worked by hand, beside other programs, and at its edges.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::report::Summary;
use priory::settings::{Discriminant, Divisor, NumberFamily, Regularization, VarianceFloor};
use priory::{Batch, BatchColumn, Column, Kind, Model, Schema, Settings, Statistics};
use proptest::prelude::*;

const LINEAR: Discriminant = Discriminant::Linear(Divisor::Rows);
const QUADRATIC: Discriminant = Discriminant::Quadratic(Divisor::Rows);
const NAN: f64 = f64::NAN;

fn regularized(shared: f64, diagonal: f64) -> Discriminant {
    Discriminant::Regularized(Some(Regularization { shared, diagonal }))
}

fn settings(discriminant: Discriminant) -> Settings {
    Settings { discriminant: Some(discriminant), ..Settings::default() }
}

/// Class and numbers; NaN is missing.
type Row = (&'static str, Vec<f64>);

fn batch(rows: &[Row]) -> Batch {
    let classes = rows.iter().map(|&(class, _)| Some(class)).collect();
    let width = rows.first().map_or(0, |(_, values)| values.len());
    let column = |i: usize| BatchColumn::Number(rows.iter().map(|(_, values)| values[i]).collect());
    let columns = (0..width).map(column).collect();
    Batch { first_row: 1, rows: rows.len(), classes, columns, ..Batch::default() }
}

fn learn(rows: &[Row], kind: Kind) -> Statistics {
    let columns = (0..rows[0].1.len()).map(|i| Column::new(format!("x{i}"), kind)).collect();
    let mut statistics = Statistics::empty(&Schema::new("y", columns).unwrap());
    statistics.observe(&batch(rows)).unwrap();
    statistics
}

fn model(rows: &[Row], discriminant: Discriminant) -> Model {
    learn(rows, Kind::Group).estimate(&settings(discriminant)).unwrap()
}

/// log P(class, x) for each class.
fn log_joint(model: &Model, x: &[f64]) -> Vec<f64> {
    model.score(&batch(&[("?", x.to_vec())])).unwrap().row(0).to_vec()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let close = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
        assert!(close, "{found} is not {expected}");
    }
}

/// Six points: a around (0, 0), b around (4, 2), each spread differently.
fn six() -> Vec<Row> {
    vec![
        ("a", vec![-1.0, 0.0]),
        ("a", vec![1.0, 1.0]),
        ("a", vec![0.0, -1.0]),
        ("b", vec![3.0, 2.0]),
        ("b", vec![5.0, 2.0]),
        ("b", vec![4.0, 2.0]),
    ]
}

/// a: Σxxᵀ = [[2, 1], [1, 2]], b: [[2, 0], [0, 0]]. So the covariances are a third of these, and the shared one is
/// [[4, 1], [1, 2]] / 6, of which the determinant is 7 / 36 and the inverse [[2, −1], [−1, 4]] 6 / 7.
#[test]
fn maximum_likelihood_by_hand() {
    let statistics = learn(&six(), Kind::Group);
    let summary = Summary::new(&statistics, &settings(LINEAR)).unwrap();
    let group = summary.features[0].group.as_ref().unwrap();
    assert_eq!(group.mean, [[0.0, 0.0], [4.0, 2.0]]);
    assert_eq!(group.covariance.len(), 1);
    let expected = [4.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 2.0 / 6.0];
    assert_close(&group.covariance[0].concat(), &expected, 1e-15);
    assert_eq!(summary.parameters.naive.to_string(), "7");

    let own = Summary::new(&statistics, &settings(QUADRATIC)).unwrap();
    let own = own.features[0].group.as_ref().unwrap();
    assert_close(&own.covariance[0].concat(), &[2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0], 1e-15);
    // b is constant in its second column: the floor is 10⁻⁹ of the variance of the whole column, 4/3.
    assert_close(&own.covariance[1].concat(), &[2.0 / 3.0, 0.0, 0.0, 4.0 / 3.0 * 1e-9], 1e-15);

    // At (1, 1): from a (1, 1)ᵀ Σ⁻¹ (1, 1) = 4 · 6/7; from b (−3, −1) gives (18 − 6 + 4) 6/7.
    let constant = 0.5_f64.ln() - std::f64::consts::TAU.ln() - 0.5 * (7.0_f64 / 36.0).ln();
    let expected = [constant - 0.5 * 4.0 * 6.0 / 7.0, constant - 0.5 * 16.0 * 6.0 / 7.0];
    let linear = statistics.estimate(&settings(LINEAR)).unwrap();
    assert_close(&log_joint(&linear, &[1.0, 1.0]), &expected, 1e-14);

    // w = Σ⁻¹ (4, 2) = (6, 4) 6/7, and the boundary passes through the middle (2, 1).
    let form = linear.linear_form().unwrap();
    let weights: Vec<f64> = form.weights.iter().map(|of| of.weight).collect();
    assert_close(&weights, &[36.0 / 7.0, 24.0 / 7.0], 1e-14);
    assert_close(&[form.bias], &[-(36.0 * 2.0 + 24.0) / 7.0], 1e-14);
    assert!(form.weights.iter().all(|of| of.present.is_none()));
    let refused = model(&six(), QUADRATIC).linear_form().unwrap_err().to_string();
    assert_eq!(refused, "there is no linear form: the classes do not share the covariance of `x0, x1`");
}

#[test]
fn unbiased_covariances_divide_by_the_degrees_of_freedom() {
    let statistics = learn(&six(), Kind::Group);
    let covariance = |discriminant| {
        let summary = Summary::new(&statistics, &settings(discriminant)).unwrap();
        summary.features[0].group.as_ref().unwrap().covariance[0].concat()
    };
    assert_close(&covariance(Discriminant::Linear(Divisor::Freedom)), &[1.0, 0.25, 0.25, 0.5], 1e-15);
    assert_close(&covariance(Discriminant::Quadratic(Divisor::Freedom)), &[1.0, 0.5, 0.5, 1.0], 1e-15);
}

/// The 150 irises, and six of them that are asked about.
fn iris() -> (Vec<Row>, Vec<Vec<f64>>) {
    let text = include_str!("../../../examples/iris.csv");
    let rows: Vec<Row> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            let species = ["setosa", "versicolor", "virginica"];
            let class = species.into_iter().find(|name| cells.last() == Some(name)).unwrap();
            cells.pop();
            (class, cells.iter().map(|cell| cell.parse().unwrap()).collect())
        })
        .collect();
    assert_eq!(rows.len(), 150);
    let asked = [0, 70, 77, 83, 106, 133].map(|i: usize| rows[i].1.clone()).to_vec();
    (rows, asked)
}

/// scikit-learn 1.9.1, numpy 2.4.6:
///
/// ```python
/// model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
/// print(model.covariance_, model.predict_log_proba(X[[0, 70, 77, 83, 106, 133]]))
/// two = y != "setosa"; model.fit(X[two], y[two]); print(model.coef_, model.intercept_)
/// ```
#[test]
fn linear_on_iris_as_scikit_learn() {
    let (rows, asked) = iris();
    let model = model(&rows, LINEAR);
    let summary = Summary::new(&learn(&rows, Kind::Group), &settings(LINEAR)).unwrap();
    let covariance = summary.features[0].group.as_ref().unwrap().covariance[0].concat();
    #[rustfmt::skip]
    let expected = [
        0.25970799999999994, 0.09086666666666665, 0.16416400000000003, 0.03763333333333334,
        0.09086666666666665, 0.11308000000000001, 0.05413866666666667, 0.032056,
        0.16416400000000003, 0.05413866666666667, 0.1814840000000001, 0.041812,
        0.03763333333333334, 0.032056, 0.041812, 0.04104399999999999,
    ];
    assert_close(&covariance, &expected, 1e-14);
    let expected = [
        [0.0, -50.302887544645316, -97.70283282616568],
        [-63.733198088889694, -1.3899918526133643, -0.28645260715772847],
        [-61.66085709520559, -0.3671814636461665, -1.1798785387946582],
        [-73.70362997454022, -1.973501743164835, -0.14962519812471325],
        [-76.170479241545, -3.0815392069433623, -0.04697481168865742],
        [-65.52127523990515, -0.31011370045958, -1.3218692253190754],
    ];
    for (x, expected) in asked.iter().zip(expected) {
        let log_joint = log_joint(&model, x);
        let largest = log_joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = largest + log_joint.iter().map(|x| (x - largest).exp()).sum::<f64>().ln();
        let log_posterior: Vec<f64> = log_joint.iter().map(|x| x - log_sum).collect();
        assert_close(&log_posterior, &expected, 1e-9);
    }

    let two: Vec<Row> = rows.into_iter().filter(|(class, _)| *class != "setosa").collect();
    let form = learn(&two, Kind::Group).estimate(&settings(LINEAR)).unwrap().linear_form().unwrap();
    let weights: Vec<f64> = form.weights.iter().map(|of| of.weight).collect();
    let expected = [-3.6288802966821248, -5.692470043211143, 7.11237518576824, 12.638817504601606];
    assert_close(&weights, &expected, 1e-9);
    assert_close(&[form.bias], &[-17.003148417165356], 1e-9);
}

/// scikit-learn 1.9.1, which divides by n; its log-joints lack −2 ln 2π:
///
/// ```python
/// QuadraticDiscriminantAnalysis().fit(X, y).decision_function(X[[0, 70, 77, 83, 106, 133]])
/// ```
#[test]
fn quadratic_on_iris_as_scikit_learn() {
    let (rows, asked) = iris();
    let model = model(&rows, QUADRATIC);
    let expected = [
        [5.246333600879574, -54.19476336434899, -89.92932493045697],
        [-240.82850463284956, 0.034765011048649486, 0.7499628157570257],
        [-260.86717526741074, 1.9643739976735233, 0.12341878607681944],
        [-264.2752057326791, 0.2519480365440574, 2.0074258569582586],
        [-218.29718883297545, -6.355011464594882, -0.6734087401416307],
        [-257.1320789141022, 1.634257969148489, 1.2192504348435051],
    ];
    for (x, expected) in asked.iter().zip(expected) {
        let constant = 2.0 * std::f64::consts::TAU.ln();
        let found: Vec<f64> = log_joint(&model, x).iter().map(|x| x + constant).collect();
        assert_close(&found, &expected, 1e-9);
    }
}

/// scipy 1.17.1 and numpy 2.4.6, for each class c of (X, y), and with the mean of their covariances where they share one:
///
/// ```python
/// multivariate_normal(X[y == c].mean(0), np.cov(X[y == c].T)).logpdf(x) + np.log(1 / 3)
/// ```
///
/// scikit-learn divided by n − 1 in this way up to version 1.7.
#[test]
fn unbiased_on_iris_as_scipy() {
    let (rows, asked) = iris();
    let own = [
        [1.5347568471934696, -56.73944853159395, -91.77879153199976],
        [-239.61858462186126, -3.594510723704256, -2.9130895407099198],
        [-259.2564818437313, -1.7034939168118732, -3.5271026897965223],
        [-262.59635169969425, -3.3816713587187506, -1.6807757603327123],
        [-217.5378951379846, -9.856491669834918, -4.307993665490604],
        [-255.59608741748883, -2.027007624766406, -2.4531876740051715],
    ];
    let shared = [
        [0.059358043320012266, -49.23747175043239, -95.6894181263223],
        [-65.22628870058794, -4.12994658903713, -3.0484781284906095],
        [-62.196388046803385, -2.128585927875161, -2.9250290615206715],
        [-74.3102541139669, -4.014728447219041, -2.227329433079693],
        [-80.09239947972344, -8.465238245813827, -5.491365138464209],
        [-66.3284805969103, -2.421542288253666, -3.413062702615929],
    ];
    for (expected, discriminant) in
        [(own, Discriminant::Quadratic(Divisor::Freedom)), (shared, Discriminant::Linear(Divisor::Freedom))]
    {
        let model = model(&rows, discriminant);
        for (x, expected) in asked.iter().zip(expected) {
            assert_close(&log_joint(&model, x), &expected, 1e-9);
        }
    }
}

/// λ leads from one covariance for each class to one for all, and γ to columns that are independent.
#[test]
fn regularization_leads_from_one_to_the_other() {
    let (rows, asked) = iris();
    let gaussian = Settings { numbers: Some(NumberFamily::Gaussian), ..Settings::default() };
    let naive = learn(&rows, Kind::Moments).estimate(&gaussian).unwrap();
    for x in &asked {
        let of = |discriminant| log_joint(&model(&rows, discriminant), x);
        assert_close(&of(regularized(0.0, 0.0)), &of(QUADRATIC), 1e-12);
        assert_close(&of(regularized(1.0, 0.0)), &of(LINEAR), 1e-12);
        assert_close(&of(regularized(0.0, 1.0)), &log_joint(&naive, x), 1e-12);
    }
}

/// Two classes of the same shape share their covariance, two that differ keep their own.
#[test]
fn amounts_follow_the_data() {
    let amounts = |shape: f64| {
        let mut state = 7_u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let rows = (0..600).map(|i| {
            let z: Vec<f64> = (0..3).map(|_| (0..12).map(|_| uniform()).sum()).collect();
            match i % 2 {
                0 => ("a", vec![z[0] + z[1], z[1], z[2]]),
                _ => ("b", vec![2.0 + z[0] + shape * z[1], z[1], z[2]]),
            }
        });
        let statistics = learn(&rows.collect::<Vec<_>>(), Kind::Group);
        let summary = Summary::new(&statistics, &settings(Discriminant::Regularized(None))).unwrap();
        summary.features[0].group.as_ref().unwrap().regularization.unwrap()
    };
    let (alike, different) = (amounts(1.0), amounts(-1.0));
    assert!(alike.shared > 0.4, "{alike:?}");
    assert!(different.shared < 0.1, "{different:?}");
    assert!(alike.diagonal < 0.02, "{alike:?}");
}

const ALL: [Discriminant; 6] = [
    LINEAR,
    QUADRATIC,
    Discriminant::Linear(Divisor::Freedom),
    Discriminant::Quadratic(Divisor::Freedom),
    Discriminant::Regularized(None),
    Discriminant::Regularized(Some(Regularization { shared: 0.3, diagonal: 0.2 })),
];

/// Columns that repeat each other, are constant, or are more than there are rows; classes of one row; nothing known.
#[test]
fn singular_covariances_have_an_answer() {
    let column = |f: &dyn Fn(f64) -> Vec<f64>| -> Vec<Row> {
        (0..12).map(|i| (["a", "b", "c"][i % 3], f(i as f64))).collect()
    };
    let wide = |x: f64| (0..30).map(|i| (x * f64::from(i)).sin()).collect::<Vec<f64>>();
    let mut tables: Vec<Vec<Row>> = vec![
        column(&|x| vec![x, x]),
        column(&|x| vec![x, 2.0 * x + 1.0, x.sin(), 3.0 * x - 4.0 * x.sin()]),
        column(&|x| vec![x, 5.0]),
        column(&|_| vec![1.0, 2.0]),
        column(&|x| vec![x, NAN]),
        column(&|_| vec![NAN, NAN]),
        column(&|x| vec![1e9 + x, 1e-9 * x * x]),
        column(&|x| vec![1e150 * x, 1e-150 * x * x]),
        column(&wide),
        vec![("a", vec![1.0, 2.0]), ("b", vec![2.0, 1.0]), ("c", vec![5.0, NAN])],
        vec![("a", vec![1.0, 2.0])],
    ];
    // Each pair of columns is known together in some rows, and what these say contradicts itself: x and y rise together,
    // y and z too, but x falls as z rises.
    let contradiction = [
        [1.0, 1.0, NAN],
        [2.0, 2.0, NAN],
        [NAN, 1.0, 1.0],
        [NAN, 2.0, 2.0],
        [1.0, NAN, 2.0],
        [2.0, NAN, 1.0],
    ];
    tables.push(contradiction.map(|row| ("a", row.to_vec())).to_vec());
    for table in &tables {
        for discriminant in ALL {
            let model = model(table, discriminant);
            let far = vec![f64::MAX; table[0].1.len()];
            let mut asked = table.clone();
            asked.push(("?", far.iter().map(|x| -x).collect()));
            asked.push(("?", far));
            let scores = model.score(&batch(&asked)).unwrap();
            for (row, asked) in asked.iter().enumerate() {
                let found = scores.row(row);
                assert!(found.iter().all(|x| x.is_finite()), "{discriminant:?}, {asked:?}: {found:?}");
            }
        }
    }
}

/// A column that repeats another changes nothing for rows in which it does so, if the classes share their covariance.
#[test]
fn a_column_twice_is_a_column_once() {
    let (rows, asked) = iris();
    let twice: Vec<Row> = rows.iter().map(|(class, x)| (*class, [&x[..], &x[..1]].concat())).collect();
    let (once, twice) = (model(&rows, LINEAR), model(&twice, LINEAR));
    for x in &asked {
        let odds = |log_joint: Vec<f64>| vec![log_joint[1] - log_joint[0], log_joint[2] - log_joint[0]];
        let again = odds(log_joint(&twice, &[&x[..], &x[..1]].concat()));
        assert_close(&again, &odds(log_joint(&once, x)), 1e-5);
    }
}

#[test]
fn numbers_beyond_all_variances_are_refused() {
    let rows = [("a", vec![1e300, 1.0]), ("b", vec![-1e300, 2.0])];
    let refused = learn(&rows, Kind::Group).estimate(&Settings::default()).unwrap_err().to_string();
    assert_eq!(refused, "`x0` cannot be part of a group: its numbers are too large");
    let infinite = batch(&[("a", vec![1.0, f64::INFINITY])]);
    let mut statistics = learn(&six(), Kind::Group);
    let refused = statistics.observe(&infinite).unwrap_err().to_string();
    assert_eq!(refused, "row 1, column `x1`: inf cannot be counted; numbers must be finite");
    let refused = statistics.forget(&batch(&[("a", vec![7.0, 8.0])])).unwrap_err().to_string();
    assert_eq!(refused, "row 1 was never learnt: x0, x1=7, 8 with y=a would count less than zero");
}

#[test]
fn a_discriminant_needs_a_group() {
    let refused = learn(&six(), Kind::Number).estimate(&settings(LINEAR)).unwrap_err().to_string();
    assert_eq!(refused, "there is no group of columns for a linear discriminant");
    let of_column = Settings {
        families: [("x0".to_owned(), NumberFamily::Gaussian.into())].into(),
        ..Settings::default()
    };
    let refused = learn(&six(), Kind::Group).estimate(&of_column).unwrap_err().to_string();
    assert_eq!(refused, "the column `x0` is part of the group, which follows one normal distribution");
    let refused =
        learn(&six(), Kind::Group).estimate(&settings(regularized(1.5, 0.0))).unwrap_err().to_string();
    assert_eq!(refused, "λ of the discriminant is 1.5; it lies between 0 and 1");
}

/// A group of so many columns would take all memory.
#[test]
fn a_group_has_a_limit() {
    let columns = (0..3000).map(|i| Column::new(format!("x{i}"), Kind::Group)).collect();
    let mut statistics = Statistics::empty(&Schema::new("y", columns).unwrap());
    let refused = statistics.observe(&batch(&[("a", vec![1.0; 3000])])).unwrap_err().to_string();
    let expected =
        "the group of 3000 columns and 1 classes needs 4498500 sums of products; the limit is 4194304";
    assert_eq!(refused, expected);
}

/// Pairwise complete covariances are those of pandas 3.1: `frame.cov()`.
#[test]
fn missing_values_leave_the_pairs_that_are_known() {
    let rows = [
        [1.0, 2.0, NAN],
        [2.0, 1.0, 4.0],
        [4.0, NAN, 5.0],
        [NAN, 6.0, 1.0],
        [3.0, 5.0, 2.0],
        [2.0, 4.0, 6.0],
    ];
    let statistics = learn(&rows.map(|row| ("a", row.to_vec())), Kind::Group);
    let unbiased = settings(Discriminant::Quadratic(Divisor::Freedom));
    let summary = Summary::new(&statistics, &unbiased).unwrap();
    let group = summary.features[0].group.as_ref().unwrap();
    assert_close(&group.mean[0], &[2.4, 3.6, 3.6], 1e-15);
    let expected = [1.3, 1.0, -0.25, 1.0, 4.3, -8.0 / 3.0, -0.25, -8.0 / 3.0, 4.3];
    assert_close(&group.covariance[0].concat(), &expected, 1e-14);
    assert_eq!(group.missing, [[1.0, 1.0, 1.0]]);
}

fn table() -> impl Strategy<Value = Vec<Row>> {
    let number = prop_oneof![6 => -3.0..3.0f64, 1 => Just(NAN), 1 => (-2i32..3).prop_map(f64::from)];
    let class = prop::sample::select(vec!["a", "b", "c"]);
    prop::collection::vec((class, prop::collection::vec(number, 4)), 2..40)
}

fn given_amounts() -> impl Strategy<Value = Discriminant> {
    let amounts = (0.0..1.0f64, 0.05..1.0f64).prop_map(|(shared, diagonal)| regularized(shared, diagonal));
    prop_oneof![amounts, Just(LINEAR), Just(QUADRATIC)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is missing in a row is integrated out: the rest follows what a group of the rest alone would have learnt.
    #[test]
    fn what_is_missing_is_as_if_it_had_never_been_there(
        rows in table(),
        known in prop::sample::subsequence(vec![0usize, 1, 2, 3], 1..4),
        discriminant in given_amounts(),
        asked in prop::collection::vec(-3.0..3.0f64, 4),
    ) {
        // With a floor far from singular, no covariance has to be repaired, and nothing depends on the other columns.
        let settings = Settings { variance_floor: VarianceFloor::Added(1e3), ..settings(discriminant) };
        let part = |row: &[f64]| known.iter().map(|&i| row[i]).collect::<Vec<f64>>();
        let parts: Vec<Row> = rows.iter().map(|(class, row)| (*class, part(row))).collect();
        let masked: Vec<f64> = (0..4).map(|i| if known.contains(&i) { asked[i] } else { NAN }).collect();
        let whole = learn(&rows, Kind::Group).estimate(&settings).unwrap();
        let alone = learn(&parts, Kind::Group).estimate(&settings).unwrap();
        assert_close(&log_joint(&whole, &masked), &log_joint(&alone, &part(&asked)), 1e-12);
    }

    /// Scores of a batch are those of its rows, whatever is missing in them.
    #[test]
    fn rows_do_not_depend_on_each_other(rows in table(), discriminant in given_amounts()) {
        let model = model(&rows, discriminant);
        let scores = model.score(&batch(&rows)).unwrap();
        for (i, (_, x)) in rows.iter().enumerate() {
            prop_assert_eq!(scores.row(i), &log_joint(&model, x)[..]);
        }
    }

    /// The linear form is the difference of the log-joints.
    #[test]
    fn weights_add_up_to_the_log_odds(mut rows in table(), asked in prop::collection::vec(-3.0..3.0f64, 4)) {
        rows.retain(|(class, _)| *class != "c");
        rows.extend([("a", vec![1.0, 2.0, 0.5, -1.0]), ("b", vec![0.0, 1.0, -0.5, 1.0])]);
        let model = model(&rows, regularized(1.0, 0.1));
        let form = model.linear_form().unwrap();
        let sum = form.weights.iter().zip(&asked).map(|(of, x)| of.weight * x).sum::<f64>() + form.bias;
        let log_joint = log_joint(&model, &asked);
        prop_assert!((sum - (log_joint[1] - log_joint[0])).abs() < 1e-8 * (1.0 + log_joint[1].abs()), "{} {:?}", sum, log_joint);
    }

    /// In any direction, a point farther from the mean of a single class is less probable.
    #[test]
    fn farther_is_less_probable(rows in table(), direction in prop::collection::vec(-1.0..1.0f64, 4)) {
        let rows: Vec<Row> = rows.into_iter().map(|(_, x)| ("a", x)).collect();
        let model = model(&rows, Discriminant::Regularized(None));
        let summary = Summary::new(&learn(&rows, Kind::Group), &Settings::default()).unwrap();
        let mean = &summary.features[0].group.as_ref().unwrap().mean[0];
        let mut last = f64::INFINITY;
        for distance in [0.0, 1e-3, 1.0, 1e3, 1e9, 1e30] {
            let x: Vec<f64> = mean.iter().zip(&direction).map(|(m, d)| m + distance * d).collect();
            let score = log_joint(&model, &x)[0];
            prop_assert!(score <= last + 1e-9 * last.abs().min(1.0), "{} after {}", score, last);
            last = score;
        }
    }
}

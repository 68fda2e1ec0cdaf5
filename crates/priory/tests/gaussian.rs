//! Gaussians against values computed elsewhere.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::report::Summary;
use priory::settings::{NumberFamily, VarianceFloor};
use priory::{Batch, Column, Kind, Schema, Settings, Statistics, Value};

/// Fisher's irises.
fn iris() -> (Schema, Batch) {
    let text = include_str!("../../../examples/iris.csv");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let columns = names[..4].iter().map(|name| Column::new(*name, Kind::Moments)).collect();
    let schema = Schema::new(names[4], columns).unwrap();
    let mut batch = Batch::new(&schema);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers = fields[..4].iter().map(|field| Value::Number(field.parse().unwrap()));
        batch.push(Some(fields[4]), 1.0, &numbers.collect::<Vec<_>>()).unwrap();
    }
    (schema, batch)
}

fn learnt(schema: &Schema, batch: &Batch) -> Statistics {
    let mut statistics = Statistics::empty(schema);
    statistics.observe(batch).unwrap();
    statistics
}

fn gaussian(variance_floor: VarianceFloor) -> Settings {
    Settings { numbers: Some(NumberFamily::Gaussian), variance_floor, ..Settings::default() }
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
}

/// scikit-learn 1.9.1, numpy 2.4.6: `GaussianNB().fit(X, y)`, its `theta_`, `var_` and `predict_joint_log_proba(X)`.
#[test]
fn irises_as_scikit_learn_sees_them() {
    let (schema, batch) = iris();
    let statistics = learnt(&schema, &batch);
    let settings = gaussian(VarianceFloor::Sklearn(1e-9));
    let mean = [
        [5.005999999999999, 3.428000000000001, 1.4620000000000002, 0.2459999999999999],
        [5.936, 2.7700000000000005, 4.26, 1.3259999999999998],
        [6.587999999999998, 2.9739999999999998, 5.552, 2.026],
    ];
    let variance: [[f64; 4]; 3] = [
        [0.12176400309550259, 0.14081600309550263, 0.029556003095502676, 0.010884003095502673],
        [0.2611040030955028, 0.09650000309550268, 0.21640000309550278, 0.03832400309550265],
        [0.39625600309550263, 0.10192400309550273, 0.2984960030955029, 0.07392400309550265],
    ];
    let summary = Summary::new(&statistics, &settings).unwrap();
    for (column, feature) in summary.features.iter().enumerate() {
        let (means, deviations) = (&feature.parameters[0].1, &feature.parameters[1].1);
        for class in 0..3 {
            assert_close(means[class], mean[class][column], 1e-15);
            assert_close(deviations[class], variance[class][column].sqrt(), 1e-14);
        }
    }
    let scores = statistics.estimate(&settings).unwrap().score(&batch).unwrap();
    let expected = [
        (7, [1.1550175293653726, -38.41412053323727, -55.38954910219053]),
        (27, [0.9849972786794023, -38.478425865594964, -55.1055340948258]),
        (47, [0.25590023973575593, -40.35449890496994, -57.928973349678756]),
        (67, [-147.03445960041725, -2.0441926104420185, -13.066237162677591]),
        (87, [-207.1736272270552, -1.9900775183979595, -9.384030084050396]),
        (107, [-528.2225398339968, -16.7347995892402, -3.2120954016939836]),
        (127, [-315.1809423646783, -4.740952446300071, -2.62424513093993]),
        (147, [-386.2440146951083, -9.389290425689078, -1.4881039843803785]),
    ];
    for (row, log_joint) in expected {
        scores
            .row(row)
            .iter()
            .zip(log_joint)
            .for_each(|(&found, expected)| assert_close(found, expected, 1e-12));
    }
}

/// R's `e1071::naiveBayes(Species ~ ., iris)` documents these, with standard deviations that divide by n − 1.
#[test]
fn irises_as_r_sees_them() {
    let (schema, batch) = iris();
    let summary = Summary::new(&learnt(&schema, &batch), &gaussian(VarianceFloor::Absolute(0.0))).unwrap();
    let documented = [
        ("sepal_length_cm", [5.006, 5.936, 6.588], [0.3524897, 0.5161711, 0.6358796]),
        ("petal_length_cm", [1.462, 4.260, 5.552], [0.1736640, 0.4699110, 0.5518947]),
    ];
    for (name, mean, deviation) in documented {
        let feature = summary.features.iter().find(|feature| feature.name == name).unwrap();
        for class in 0..3 {
            assert_close(feature.parameters[0].1[class], mean[class], 1e-12);
            let found = feature.parameters[1].1[class] * (50.0_f64 / 49.0).sqrt();
            assert!((found - deviation[class]).abs() < 5e-8, "{found} is not {}", deviation[class]);
        }
    }
}

/// By hand: 1, 2, 3, 6 have the mean 3 and the variance (4 + 1 + 0 + 9) / 4 = 3.5; 5 and 5 have none, and take the floor.
#[test]
fn a_table_worked_out_by_hand() {
    let schema = Schema::new("y", vec![Column::new("x", Kind::Moments)]).unwrap();
    let mut batch = Batch::new(&schema);
    for (class, x) in [("a", 1.0), ("a", 2.0), ("b", 5.0), ("a", 3.0), ("b", 5.0), ("a", 6.0)] {
        batch.push(Some(class), 1.0, &[Value::Number(x)]).unwrap();
    }
    let statistics = learnt(&schema, &batch);
    let parameters = |floor: VarianceFloor| {
        let summary = Summary::new(&statistics, &gaussian(floor)).unwrap();
        let [(_, mean), (_, deviation)] = &summary.features[0].parameters[..] else { panic!() };
        (mean.clone(), deviation.iter().map(|deviation| deviation * deviation).collect::<Vec<_>>())
    };
    // All six: mean 22/6 = 11/3, variance 100/6 − 121/9 = 29/9.
    let (mean, variance) = parameters(VarianceFloor::Relative(0.1));
    assert_eq!(mean, [3.0, 5.0]);
    assert_close(variance[0], 3.5, 1e-15);
    assert_close(variance[1], 2.9 / 9.0, 1e-15);
    assert_close(parameters(VarianceFloor::Absolute(0.25)).1[1], 0.25, 1e-15);
    assert_close(parameters(VarianceFloor::Added(0.25)).1[0], 3.75, 1e-15);
    // ln(4/6) − ½ ln(2π 3.5) − ½ (4 − 3)² / 3.5 for a, and for b likewise around 5 with a variance of 1.
    let model = statistics.estimate(&gaussian(VarianceFloor::Absolute(1.0))).unwrap();
    batch.clear();
    batch.push(None, 1.0, &[Value::Number(4.0)]).unwrap();
    let scores = model.score(&batch).unwrap();
    let tau = std::f64::consts::TAU;
    assert_close(scores.row(0)[0], (4.0_f64 / 6.0).ln() - 0.5 * (tau * 3.5).ln() - 0.5 / 3.5, 1e-15);
    assert_close(scores.row(0)[1], (2.0_f64 / 6.0).ln() - 0.5 * tau.ln() - 0.5, 1e-15);
}

/// Python's fractions, by scripts/variance-fixture.py: the mean and the variance of 1e9 + N(0, 4²), which floating point
/// loses when it squares, to the last place.
#[test]
fn numbers_far_from_zero_have_the_variance_that_fractions_have() {
    let fixture = include_str!("../../../testdata/fractions/offset.csv");
    let lines = fixture.lines().filter(|line| !line.starts_with('#'));
    let numbers = lines.map(|line| line.split_once(',').unwrap()).map(|(_, x)| x.parse().unwrap());
    let numbers: Vec<f64> = numbers.collect();
    let [mean, variance, values @ ..] = &numbers[..] else { panic!() };
    assert_eq!(values.len(), 500);
    for kind in [Kind::Moments, Kind::Number] {
        let schema = Schema::new("y", vec![Column::new("x", kind)]).unwrap();
        let mut batch = Batch::new(&schema);
        values.iter().for_each(|&x| batch.push(Some("a"), 1.0, &[Value::Number(x)]).unwrap());
        let summary = Summary::new(&learnt(&schema, &batch), &gaussian(VarianceFloor::default())).unwrap();
        let [("mean", found), ("standard deviation", deviation)] = &summary.features[0].parameters[..] else {
            panic!("{:?}", summary.features[0].parameters)
        };
        assert_eq!(found[0], *mean);
        assert_eq!(deviation[0], variance.sqrt());
    }
    // What squares in floating point make of it.
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|x| x * x).sum::<f64>() / n;
    let naive = squares - (values.iter().sum::<f64>() / n).powi(2);
    assert!((naive - variance).abs() > 1.0, "{naive}");
}

//! Numbers, weights and settings at the edges of what an f64 holds: whatever a family makes of them, no score is undefined
//! and every posterior sums to one.

use priory::settings::{Prior, Smoothing};
use priory::{Batch, BatchColumn, Column, Error, Kind, Schema, Settings, Statistics, Value, words};
use proptest::prelude::*;

const FAMILIES: [&str; 19] = [
    "gaussian",
    "student",
    "log-normal",
    "exponential",
    "gamma",
    "poisson",
    "geometric",
    "binomial",
    "binomial:4000000000",
    "uniform",
    "histogram",
    "equal-width",
    "equal-frequency",
    "proportional",
    "mdl",
    "kernel",
    "silverman",
    "mixture",
    "values",
];

/// Zero, whole numbers, and magnitudes from the smallest that there is to the largest.
const MAGNITUDES: [f64; 28] = [
    0.0,
    5e-324,
    1e-323,
    1e-320,
    f64::MIN_POSITIVE,
    3e-308,
    1e-300,
    1e-200,
    1e-162,
    1e-154,
    1e-100,
    1e-16,
    0.5,
    1.0,
    2.0,
    3.0,
    7.0,
    1e9,
    1e17,
    1e100,
    1e153,
    1e154,
    1.5e154,
    1e200,
    1e300,
    1e305,
    1.7e308,
    f64::MAX,
];

const WEIGHTS: [f64; 10] = [1.0, 1.0, 1.0, 2.0, 0.5, 1e-300, 1e-10, 1e10, 1e150, 1e307];

/// What the numbers of a column have in common, so that every family has columns that it could have produced.
#[derive(Debug, Clone, Copy)]
enum Range {
    Any,
    Positive,
    WholeNumbers,
    /// All within a factor of 2^40 of a magnitude.
    Around(f64),
}

fn range() -> impl Strategy<Value = Range> {
    prop_oneof![
        Just(Range::Any),
        Just(Range::Positive),
        Just(Range::WholeNumbers),
        prop::sample::select(MAGNITUDES.to_vec()).prop_map(Range::Around),
    ]
}

fn number(range: Range) -> BoxedStrategy<f64> {
    let magnitude = prop::sample::select(MAGNITUDES.to_vec());
    match range {
        Range::Any => (magnitude, any::<bool>()).prop_map(|(x, minus)| if minus { -x } else { x }).boxed(),
        Range::Positive => magnitude.boxed(),
        Range::WholeNumbers => magnitude.prop_filter("whole", |x| x.fract() == 0.0).boxed(),
        Range::Around(center) => (0..40_i32, 0.5..1.0f64)
            .prop_map(move |(power, part)| (center * part * 2.0_f64.powi(power - 39)).clamp(0.0, f64::MAX))
            .boxed(),
    }
}

#[derive(Debug, Clone)]
struct Table {
    classes: Vec<&'static str>,
    numbers: Vec<f64>,
    weights: Vec<f64>,
    /// Numbers to be scored beside those of the table.
    asked: Vec<f64>,
}

fn table() -> impl Strategy<Value = Table> {
    range().prop_flat_map(|range| {
        let weight = prop::sample::select(WEIGHTS.to_vec());
        let row = (prop::sample::select(vec!["a", "b", "c"]), number(range), weight);
        let rows = prop_oneof![2 => prop::collection::vec(row.clone(), 1..12), 1 => prop::collection::vec(row, 30..60)];
        let heavy = any::<bool>();
        let asked = prop::collection::vec(number(Range::Any), 0..4);
        (rows, asked, heavy).prop_map(|(rows, asked, heavy)| Table {
            classes: rows.iter().map(|row| row.0).collect(),
            numbers: rows.iter().map(|row| row.1).collect(),
            // All of them together must not be more than an f64 can hold.
            weights: rows.iter().map(|row| if heavy { row.2.min(1e308 / rows.len() as f64) } else { 1.0 }).collect(),
            asked,
        })
    })
}

fn smoothing() -> impl Strategy<Value = Smoothing> {
    prop_oneof![
        4 => Just(Smoothing::LAPLACE),
        1 => Just(Smoothing::None),
        1 => prop::sample::select(vec![0.0, 0.5, 1.0]).prop_map(Smoothing::Background),
        1 => prop::sample::select(vec![5e-324, 1e-300, 1e290]).prop_map(Smoothing::Lidstone),
    ]
}

fn prior() -> impl Strategy<Value = Prior> {
    prop_oneof![
        3 => Just(Prior::Empirical),
        1 => Just(Prior::Uniform),
        1 => prop::sample::select(vec![5e-324, 1e290]).prop_map(Prior::Smoothed),
    ]
}

fn batch(classes: &[&str], numbers: &[f64], weights: &[f64]) -> Batch {
    Batch {
        rows: classes.len(),
        classes: classes.iter().copied().map(Some).collect(),
        weights: weights.to_vec(),
        columns: vec![BatchColumn::Number(numbers.to_vec())],
        ..Batch::default()
    }
}

fn learnt(table: &Table, kind: Kind) -> Statistics {
    let schema = Schema::new("class", vec![Column::new("x", kind)]).expect("the schema is fine");
    let mut statistics = Statistics::empty(&schema);
    statistics
        .observe(&batch(&table.classes, &table.numbers, &table.weights))
        .expect("finite numbers are counted");
    statistics
}

/// Scores all numbers of a table and those asked for; a family that refuses the numbers says so.
fn check(statistics: &Statistics, settings: &Settings, table: &Table) -> Result<(), TestCaseError> {
    let model = match statistics.estimate(settings) {
        Ok(model) => model,
        Err(Error::Settings(why)) => {
            prop_assert!(
                why.contains("cannot be") && why.contains("try") || why.contains("train"),
                "{}",
                why
            );
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    let numbers: Vec<f64> = table.numbers.iter().chain(&table.asked).copied().collect();
    let asked = batch(&vec!["a"; numbers.len()], &numbers, &vec![1.0; numbers.len()]);
    let scores = model.score(&asked).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let posterior = scores.normalize();
    for (row, x) in numbers.iter().enumerate() {
        let scores = scores.row(row);
        prop_assert!(scores.iter().all(|score| *score < f64::INFINITY), "{:e}: {:?}", x, scores);
        let sum: f64 = posterior.row(row).iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-12, "{:e}: {:?} of {:?}", x, posterior.row(row), scores);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_family_gives_posteriors(table in table(), smoothing in smoothing(), prior in prior()) {
        let statistics = learnt(&table, Kind::Number);
        for word in FAMILIES {
            let numbers = words::numbers_or_auto(word).expect("it is a family");
            let settings = Settings { numbers, smoothing: smoothing.clone(), prior: prior.clone(), ..Settings::default() };
            check(&statistics, &settings, &table).map_err(|error| TestCaseError::fail(format!("{word}: {error}")))?;
        }
    }

    #[test]
    fn a_family_that_is_chosen_gives_posteriors(table in table(), smoothing in smoothing(), prior in prior()) {
        let settings = Settings { smoothing, prior, ..Settings::default() };
        check(&learnt(&table, Kind::Number), &settings, &table)?;
        check(&learnt(&table, Kind::Moments), &settings, &table)?;
    }

    #[test]
    fn a_group_gives_posteriors(table in table(), discriminant in prop::sample::select(vec!["linear", "quadratic", "regularized"])) {
        let column = |name: &str| Column::new(name, Kind::Group);
        let schema = Schema::new("class", vec![column("x"), column("y")]).expect("the schema is fine");
        let pairs = |numbers: &[f64]| {
            let turned = numbers.iter().rev().copied().collect();
            vec![BatchColumn::Number(numbers.to_vec()), BatchColumn::Number(turned)]
        };
        let mut rows = batch(&table.classes, &table.numbers, &table.weights);
        rows.columns = pairs(&table.numbers);
        let mut statistics = Statistics::empty(&schema);
        statistics.observe(&rows).expect("finite numbers are counted");
        let settings = Settings { discriminant: words::discriminant(discriminant).ok(), ..Settings::default() };
        let model = match statistics.estimate(&settings) {
            Ok(model) => model,
            Err(error) => {
                prop_assert!(error.to_string().contains("its numbers are too large"), "{}", error);
                return Ok(());
            }
        };
        let mut asked = batch(&vec!["a"; table.asked.len()], &table.asked, &vec![1.0; table.asked.len()]);
        asked.columns = pairs(&table.asked);
        let posterior = model.score(&asked).map_err(|error| TestCaseError::fail(error.to_string()))?.normalize();
        for row in 0..table.asked.len() {
            let sum: f64 = posterior.row(row).iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-12, "{:?}", posterior.row(row));
        }
    }
}

/// Pseudocounts and weights of documents at the edges, under every model of text.
#[test]
fn text_gives_posteriors() {
    let schema = Schema::new("class", vec![Column::new("words", Kind::Text)]).expect("the schema is fine");
    for weights in [[1.0; 3], [1e-300, 1.0, 1e150], [1e306, 1e-10, 1e306]] {
        let mut batch = Batch::new(&schema);
        let documents = [("a", ["x", "y"]), ("b", ["y", "z"]), ("c", ["z", "z"])];
        for ((class, words), weight) in documents.into_iter().zip(weights) {
            batch.push(Some(class), weight, &[Value::Text(&words)]).expect("it is a column of text");
        }
        let mut statistics = Statistics::empty(&schema);
        statistics.observe(&batch).expect("documents are counted");
        let models = [
            "multinomial",
            "bernoulli",
            "presence",
            "complement",
            "complement-presence",
            "complement-normalized",
        ];
        for model in models.into_iter().chain(["auto"]) {
            for alpha in [5e-324, 1e-300, 1.0, 1e290] {
                let mut settings = Settings::default();
                settings.text.model = words::text_model(model).expect("it is a model of text");
                settings.text.smoothing = Smoothing::Lidstone(alpha);
                let scores = statistics.estimate(&settings).expect("there are documents").score(&batch);
                let posterior =
                    scores.unwrap_or_else(|error| panic!("{model}, {alpha:e}: {error}")).normalize();
                for row in 0..3 {
                    let sum: f64 = posterior.row(row).iter().sum();
                    assert!((sum - 1.0).abs() < 1e-12, "{model}, {alpha:e}: {:?}", posterior.row(row));
                }
            }
        }
    }
}

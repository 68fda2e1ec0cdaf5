//! Evaluation by subtraction is evaluation by training again: cross-validation bit for bit, leave-one-out under the same
//! choices.

use std::collections::BTreeMap;

use priory::evaluate::{
    Evaluation, FoldModels, FoldParts, FoldStatistics, Folds, LeaveOneOut, majority_class,
};
use priory::judgement::Judging;
use priory::report::{FeatureFamily, Features};
use priory::settings::{
    Discriminant, Divisor, Family, MissingValues, NumberFamily, Prior, Pseudocounts, Regularization,
    Smoothing,
};
use priory::{Batch, Column, Kind, Model, Result, Schema, Settings, Statistics, Value};
use proptest::prelude::*;

const CLASSES: [&str; 4] = ["no", "yes", "10", "9"];

/// What the columns of the table can hold. The last two are taken together if the schema says so.
const VALUES: [&[&str]; 5] = [
    &["overcast", "rain", "sunny"],
    &["0", "1"],
    &["0", "1", "2"], // Boolean as long as nobody says 2
    &["u", "v", "w", "x", "y", "z", "*", ""],
    &["yes", "no"],
];

/// Class, values and weight; `None` is missing.
type Row = (Option<usize>, [Option<usize>; 5], f64);

#[derive(Debug, Clone)]
struct Table {
    joint: bool,
    weighted: bool,
    /// Whether the fourth column is also there as a number, and with the fifth as a group.
    numbers: bool,
    rows: Vec<Row>,
}

impl Table {
    fn schema(&self) -> Schema {
        let kind = |i| if self.joint && i >= 3 { Kind::Joint } else { Kind::Category };
        let columns = (0..5).map(|i| Column::new(format!("c{i}"), kind(i)));
        let numbers = [("c5", Kind::Number), ("c6", Kind::Group), ("c7", Kind::Group)];
        let numbers = numbers.iter().filter(|_| self.numbers).map(|&(name, kind)| Column::new(name, kind));
        Schema::new("class", columns.chain(numbers).collect()).expect("the names differ")
    }

    /// Takes out of the settings what is for columns and classes that are not there.
    fn fit(&self, settings: &mut Settings) {
        settings.discriminant = settings.discriminant.filter(|_| self.numbers);
        let counted = self.rows.iter().filter(|row| !self.weighted || row.2 > 0.0);
        let classes: Vec<&str> = counted.filter_map(|row| Some(CLASSES[row.0?])).collect();
        divide_among(&classes, &mut settings.prior);
    }

    fn batch(&self) -> Batch {
        let mut batch = Batch::new(&self.schema());
        for (class, values, weight) in &self.rows {
            let category =
                |i: usize| values[i].map_or(Value::Missing, |value| Value::Category(VALUES[i][value]));
            let number =
                |i: usize| values[i].map_or(Value::Missing, |value| Value::Number(0.7 * value as f64 - 2.0));
            let numbers = [3, 3, 4].into_iter().filter(|_| self.numbers).map(number);
            let cells: Vec<Value<'_>> = (0..5).map(category).chain(numbers).collect();
            let weight = if self.weighted { *weight } else { 1.0 };
            batch
                .push(class.map(|class| CLASSES[class]), weight, &cells)
                .expect("the cells are those of the schema");
        }
        batch
    }
}

fn trained(schema: &Schema, batch: &Batch, rows: impl Iterator<Item = usize>) -> Statistics {
    let mut statistics = Statistics::empty(schema);
    let rows: Vec<usize> = rows.collect();
    statistics.observe(&batch.select(&rows)).expect("the weights are fine");
    statistics
}

fn table(most_rows: usize) -> impl Strategy<Value = Table> {
    let value = |i: usize| prop::option::weighted(0.85, 0..VALUES[i].len());
    // Few rows say 2 in the third column, so that it often has one and may lose it.
    let third = prop::option::weighted(0.85, prop_oneof![8 => 0usize..2, 1 => Just(2)]);
    let values = (value(0), value(1), third, value(3), value(4)).prop_map(|v| [v.0, v.1, v.2, v.3, v.4]);
    let class = prop::option::weighted(0.95, prop_oneof![6 => 0usize..2, 1 => 2usize..4]);
    let weight = prop_oneof![4 => Just(1.0), 2 => Just(0.1), 1 => Just(0.7), 1 => Just(0.0), 1 => Just(1e-17), 1 => 0.0..1e4];
    let rows = prop::collection::vec((class, values, weight), 1..most_rows);
    (any::<bool>(), any::<bool>(), any::<bool>(), rows).prop_map(|(joint, weighted, numbers, rows)| Table {
        joint,
        weighted,
        numbers,
        rows,
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let pseudocounts = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
        pairs.iter().map(|&(value, b)| (value.to_owned(), b)).collect()
    };
    let dirichlet = Smoothing::Dirichlet(Pseudocounts(BTreeMap::from([
        ("c0".to_owned(), pseudocounts(&[("snow", 0.5), ("rain", 2.0), ("*", 0.1)])),
        ("c1".to_owned(), pseudocounts(&[("1", 3.0)])),
        ("c3".to_owned(), pseudocounts(&[("u", 1.0), ("v", 0.0)])),
    ])));
    let smoothing = prop_oneof![
        Just(Smoothing::None),
        Just(Smoothing::LAPLACE),
        Just(Smoothing::Lidstone(0.3)),
        Just(Smoothing::Lidstone(0.0)),
        Just(Smoothing::Background(0.7)),
        Just(Smoothing::Background(1.0)),
        Just(Smoothing::Background(0.0)),
        Just(dirichlet),
    ];
    let given: BTreeMap<String, f64> =
        CLASSES.iter().zip([0.2, 0.3, 0.4, 0.1]).map(|(class, p)| ((*class).to_owned(), p)).collect();
    let prior = prop_oneof![
        3 => Just(Prior::Empirical),
        1 => Just(Prior::Uniform),
        1 => Just(Prior::Smoothed(0.5)),
        1 => Just(Prior::Given(given)),
    ];
    let family = prop_oneof![
        4 => Just(None),
        1 => Just(Some(("c1", Family::Categorical))),
        1 => Just(Some(("c1", Family::Bernoulli))),
        1 => Just(Some(("c4", Family::Bernoulli))),
        1 => Just(Some(("c2", Family::Bernoulli))),
    ];
    let missing = prop_oneof![2 => Just(MissingValues::Skipped), 1 => Just(MissingValues::Counted)];
    let numbers = prop::option::weighted(
        0.8,
        prop::sample::select(vec![
            NumberFamily::Gaussian,
            NumberFamily::Student,
            NumberFamily::Uniform,
            NumberFamily::Histogram,
            NumberFamily::EqualWidth(3),
            NumberFamily::EqualFrequency(3),
            NumberFamily::Proportional,
            NumberFamily::Mdl,
            NumberFamily::Kernel,
            NumberFamily::Silverman,
            NumberFamily::Mixture,
            NumberFamily::Values,
        ]),
    );
    let discriminant = prop::sample::select(vec![
        Discriminant::Linear(Divisor::Rows),
        Discriminant::Quadratic(Divisor::Freedom),
        Discriminant::Regularized(None),
        Discriminant::Regularized(Some(Regularization { shared: 0.3, diagonal: 0.2 })),
    ]);
    let of_c0 = prop::option::weighted(0.2, Just(Smoothing::None));
    (prior, smoothing, of_c0, family, missing, numbers, discriminant).prop_map(
        |(prior, smoothing, of_c0, family, missing, numbers, discriminant)| Settings {
            prior,
            smoothing,
            column_smoothing: of_c0.into_iter().map(|smoothing| ("c0".to_owned(), smoothing)).collect(),
            families: family.into_iter().map(|(name, family)| (name.to_owned(), family)).collect(),
            missing,
            numbers,
            discriminant: Some(discriminant),
            ..Settings::default()
        },
    )
}

/// One logarithm for each of the classes; `unknown` for those that the model does not know.
fn by_class(classes: &[String], model: &Model, logs: &[f64], unknown: f64) -> Vec<f64> {
    let of = |name| model.classes().iter().position(|class| class == name);
    classes.iter().map(|name| of(name).map_or(unknown, |class| logs[class])).collect()
}

/// Whether logarithms are the same but for rounding.
fn is_near(found: &[f64], expected: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-10 * b.abs().max(1.0);
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

/// The settings with each column of categories Boolean or not, as all rows have decided.
fn with_families_of(whole: &Statistics, settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    for rank in Features::new(whole, &settings).expect("the settings fit all rows").ranked {
        if rank.kind == Kind::Category {
            let boolean = rank.family == FeatureFamily::Of(Family::Bernoulli);
            settings
                .families
                .insert(rank.name, if boolean { Family::Bernoulli } else { Family::Categorical });
        }
    }
    settings
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| (x + 0.0).to_bits()).collect()
}

fn digits(evaluation: &Evaluation) -> String {
    format!("{:?}", evaluation.report())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of columns of numbers and groups, what classes share stays as all rows say: their terms are checked beside their
    /// families.
    #[test]
    fn leaving_a_row_out_is_training_without_it(table in table(14), mut settings in settings()) {
        table.fit(&mut settings);
        let (schema, batch) = (table.schema(), table.batch());
        let whole = trained(&schema, &batch, 0..batch.rows);
        let Ok(everything) = whole.estimate(&settings) else { return Ok(()) };
        // Which side is which is decided anew where a value of a Boolean column that is neither 0 nor 1 goes.
        prop_assume!(settings.families.get("c2") != Some(&Family::Bernoulli));
        let counts = |row: usize| batch.classes.value(row).is_some() && batch.weight(row) > 0.0;
        let rest = |left_out: usize| trained(&schema, &batch, (0..batch.rows).filter(move |&row| row != left_out));
        let all = whole_classes(&whole);
        let of_rest = with_families_of(&whole, &settings);
        let without: Vec<Option<Result<Model>>> =
            (0..batch.rows).map(|row| counts(row).then(|| estimate_rest(&rest(row), &of_rest))).collect();
        let left_out = |left_out: &LeaveOneOut<'_>| Ok((left_out.score(&batch)?, left_out.terms(&batch)?));
        let (scores, terms) = match whole.leave_one_out(&settings, left_out).flatten() {
            Ok(found) => found,
            Err(_) => {
                prop_assert!(without.iter().flatten().any(Result::is_err));
                return Ok(());
            }
        };
        let scored = everything.score(&batch).unwrap();
        let posterior = scores.normalize();
        let mut expected = Evaluation::new();
        let mut compared = !table.numbers;
        for (row, without) in without.iter().enumerate() {
            let sums = (0..all.len()).map(|class| {
                terms.prior(row)[class] + (0..terms.factors).map(|factor| terms.term(factor, row)[class]).sum::<f64>()
            });
            prop_assert!(is_near(scores.row(row), &sums.collect::<Vec<_>>()));
            let model = match without {
                None => {
                    prop_assert!(is_near(scores.row(row), scored.row(row)));
                    continue;
                }
                // A Boolean column that loses its last value is none: nothing compares with that.
                Some(Err(error)) => {
                    prop_assert!(error.to_string().contains("it has no values"), "{}", error);
                    compared = false;
                    continue;
                }
                Some(Ok(model)) => model,
            };
            let explained = model.explain(&batch, row).unwrap();
            let own = all.iter().position(|name| batch.classes.value(row) == Some(name)).unwrap();
            let counted = everything.explain(&batch, row).unwrap().contributions;
            prop_assert!(is_near(terms.prior(row), &by_class(&all, model, &explained.log_prior, f64::NEG_INFINITY)));
            for (factor, contribution) in explained.contributions.iter().enumerate() {
                let known = terms.term(factor, row);
                prop_assert!(contribution.value.is_some() || settings.missing == MissingValues::Counted || known.iter().all(|&x| x == 0.0));
                let kind = schema.columns.iter().find(|column| contribution.feature.starts_with(&column.name)).unwrap().kind;
                if matches!(kind, Kind::Category | Kind::Joint) {
                    let counted = counted[factor].log_likelihood[own];
                    prop_assert!(known[own] <= counted + 1e-12, "{} {}: {} {}", row, contribution.feature, known[own], counted);
                    for (class, term) in by_class(&all, model, &contribution.log_likelihood, f64::NAN).into_iter().enumerate() {
                        prop_assert!(term.is_nan() || is_near(&known[class..=class], &[term]), "row {} {}: {:?} {:?}", row, contribution.feature, known, contribution);
                    }
                } else {
                    prop_assert!(known.iter().all(|x| !x.is_nan()));
                }
            }
            if table.numbers {
                continue;
            }
            prop_assert_eq!(posterior.outcome(row), explained.outcome);
            for (name, p) in model.classes().iter().zip(explained.posterior.iter()) {
                let class = all.iter().position(|class| class == name).unwrap();
                prop_assert!((posterior.row(row)[class] - p).abs() < 1e-14);
            }
            let alone = batch.select(&[row]);
            let baseline = rest(row);
            let baseline = majority_class(&baseline).unwrap();
            expected.observe(model.classes(), &alone, &model.score(&alone).unwrap(), baseline).unwrap();
        }
        let mut evaluation = Evaluation::new();
        let evaluate = |left_out: &LeaveOneOut<'_>| evaluation.observe_leave_one_out(left_out, &batch);
        whole.leave_one_out(&settings, evaluate).flatten().unwrap();
        if compared {
            let (found, expected) = (evaluation.report(), expected.report());
            prop_assert_eq!(found.rows, expected.rows);
            prop_assert_eq!(found.impossible, expected.impossible);
            prop_assert_eq!(found.zero_probability_rows, expected.zero_probability_rows);
            prop_assert_eq!(found.baseline_accuracy.to_bits(), expected.baseline_accuracy.to_bits());
        }
    }

    #[test]
    fn folds_by_subtraction_are_separate_trainings(
        table in table(30),
        mut settings in settings(),
        k in 2usize..6,
        seed in any::<u64>(),
        cut in any::<prop::sample::Index>(),
    ) {
        table.fit(&mut settings);
        let (schema, batch) = (table.schema(), table.batch());
        let mut folds = Folds::new(k, seed).unwrap();
        let cut = cut.index(batch.rows + 1);
        let parts = [batch.select(&(0..cut).collect::<Vec<_>>()), batch.select(&(cut..batch.rows).collect::<Vec<_>>())];
        let assigned: Vec<Vec<Option<usize>>> = parts.iter().map(|part| folds.assign(part)).collect();
        let mut statistics = FoldStatistics::empty(&schema, k);
        for (part, assigned) in parts.iter().zip(&assigned) {
            let mut of_part = FoldStatistics::empty(&schema, k);
            of_part.observe(part, assigned).unwrap();
            statistics.merge(of_part).unwrap();
        }
        let fold_of = assigned.concat();
        let separate: Vec<Statistics> = (0..k)
            .map(|fold| trained(&schema, &batch, (0..batch.rows).filter(|&row| fold_of[row] != Some(fold))))
            .collect();
        let estimate = |training: &Statistics| estimate_rest(training, &settings);
        let models = match statistics.models(&settings, Judging::None) {
            Ok(models) => models,
            Err(_) => {
                prop_assert!(separate.iter().any(|training| estimate(training).is_err()));
                return Ok(());
            }
        };
        let (mut evaluation, mut expected) = (Evaluation::new(), Evaluation::new());
        for (part, assigned) in parts.iter().zip(&assigned) {
            models.evaluate(&FoldParts::new(part, assigned).unwrap(), &mut evaluation).unwrap();
        }
        // A few models at a time: each fold is taken away from the total and put back.
        let mut total = statistics.total().unwrap();
        let mut in_groups = Evaluation::new();
        for group in [0..k / 2, k / 2..k] {
            let first = group.start;
            let some = group.map(|fold| statistics.model(fold, &mut total, &settings, Judging::None).unwrap()).collect();
            let some = FoldModels::new(first, some, &schema);
            for (part, assigned) in parts.iter().zip(&assigned) {
                some.evaluate(&FoldParts::new(part, assigned).unwrap(), &mut in_groups).unwrap();
            }
        }
        prop_assert_eq!(digits(&in_groups), digits(&evaluation));
        for (fold, training) in separate.iter().enumerate() {
            let model = estimate(training).unwrap();
            prop_assert_eq!(model.classes(), models.model(fold).classes());
            prop_assert_eq!(Some(models.baseline(fold)), majority_class(training));
            let subtracted = statistics.training(fold).unwrap();
            prop_assert_eq!(subtracted.classes(), training.classes());
            let (ours, theirs) = (models.model(fold).score(&batch).unwrap(), model.score(&batch).unwrap());
            prop_assert_eq!(ours.unseen(), theirs.unseen());
            for row in 0..batch.rows {
                prop_assert_eq!(bits(ours.row(row)), bits(theirs.row(row)));
            }
            let rows: Vec<usize> = (0..batch.rows).filter(|&row| fold_of[row] == Some(fold)).collect();
            let tested = batch.select(&rows);
            let scores = model.score(&tested).unwrap();
            expected.observe(model.classes(), &tested, &scores, majority_class(training).unwrap()).unwrap();
        }
        expected.skip((0..batch.rows).filter(|&row| batch.classes.value(row).is_none()).count() as u64);
        // A fold without rows tests nothing, but its model's classes are there: compare what both have seen.
        let used = (0..k).all(|fold| fold_of.contains(&Some(fold)));
        if used {
            prop_assert_eq!(digits(&evaluation), digits(&expected));
        }
    }
}

fn whole_classes(statistics: &Statistics) -> Vec<String> {
    statistics.classes().into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Takes out of a prior that was given what is for other classes, and divides it by the rest.
fn divide_among(classes: &[&str], prior: &mut Prior) {
    let Prior::Given(shares) = prior else { return };
    let all = shares.len();
    shares.retain(|class, _| classes.contains(&class.as_str()));
    if shares.len() < all {
        let rest: f64 = shares.values().sum();
        shares.values_mut().for_each(|share| *share /= rest);
    }
}

/// The model of some rows, under the prior of the classes that they have.
fn estimate_rest(rest: &Statistics, settings: &Settings) -> Result<Model> {
    let mut settings = settings.clone();
    let classes: Vec<&str> = rest.classes().into_iter().map(|(name, _)| name).collect();
    divide_among(&classes, &mut settings.prior);
    rest.estimate(&settings)
}

/// A class may have rows in one fold only; the prior that was given then is that of the others.
#[test]
fn a_given_prior_may_name_a_class_that_a_fold_lacks() {
    let rows = [("p", ["a"]), ("p", ["b"]), ("q", ["a"]), ("q", ["b"]), ("r", ["c"])];
    let rows: Vec<(&str, [Option<&str>; 1])> = rows.map(|(class, [x])| (class, [Some(x)])).to_vec();
    let batch = Batch::from_rows(&rows);
    let schema = Schema::new("y", vec![Column::new("x", Kind::Category)]).unwrap();
    let whole = trained(&schema, &batch, 0..5);
    // With a fold for every row it is leave-one-out.
    let mut statistics = FoldStatistics::empty(&schema, 5);
    statistics.observe(&batch, &[Some(0), Some(1), Some(2), Some(3), Some(4)]).unwrap();
    let given = |shares: &[(&str, f64)]| Settings {
        prior: Prior::Given(shares.iter().map(|&(class, share)| (class.to_owned(), share)).collect()),
        ..Settings::default()
    };
    let leave_one_out =
        |settings: &Settings| whole.leave_one_out(settings, |all| all.score(&batch)).flatten();

    let settings = given(&[("p", 0.5), ("q", 0.3), ("r", 0.2)]);
    let models = statistics.models(&settings, Judging::None).unwrap();
    assert_eq!(models.model(0).classes(), ["p", "q", "r"]);
    assert_eq!(models.model(4).classes(), ["p", "q"]);
    let nothing = Batch::from_rows(&[("p", [None])]);
    let posterior = models.model(4).score(&nothing).unwrap().normalize();
    assert_eq!(posterior.row(0), [0.5 / 0.8, 0.3 / 0.8]);
    let left_out = leave_one_out(&settings).unwrap();
    for row in 0..5 {
        let (model, alone) = (models.model(row), batch.select(&[row]));
        let expected =
            by_class(&whole_classes(&whole), model, model.score(&alone).unwrap().row(0), f64::NEG_INFINITY);
        assert!(is_near(left_out.row(row), &expected), "row {row}");
    }

    // Nothing is left of it, nobody has a class, or it adds up only where a class is missing.
    for (shares, why) in [
        (&[("p", 0.0), ("q", 0.0), ("r", 1.0)][..], "the given prior is 0 for every class that remains"),
        (&[("p", 0.5), ("q", 0.3), ("r", 0.1), ("s", 0.1)], "names `s`, which is not a class"),
        (&[("p", 0.5), ("q", 0.5), ("r", 1.0)], "add up to 2, not to 1"),
    ] {
        let errors = [
            statistics.models(&given(shares), Judging::None).unwrap_err(),
            leave_one_out(&given(shares)).unwrap_err(),
        ];
        errors.iter().for_each(|error| assert!(error.to_string().contains(why), "{error}"));
    }
}

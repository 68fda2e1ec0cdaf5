//! Ranking and selecting columns from the statistics: against values worked out by hand, and against evaluation, which
//! goes through the rows.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::evaluate::{Evaluation, FoldStatistics, Folds};
use priory::judgement::Judging;
use priory::report::{FeatureRank, Features};
use priory::settings::{MissingValues, NumberFamily, Selection, Smoothing};
use priory::{Batch, BatchColumn, Column, Kind, Schema, Settings, Statistics, TextColumn, Value};
use proptest::prelude::*;

const TENNIS: &str = include_str!("../../../examples/tennis.csv");

/// A table of the fourteen days, with each column of this kind.
fn tennis(kind: Kind) -> (Schema, Batch) {
    let mut lines = TENNIS.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let mut header = lines.next().unwrap();
    let target = header.pop().unwrap();
    let columns = header.iter().map(|&name| Column::new(name, kind)).collect();
    let rows: Vec<(&str, Vec<Option<&str>>)> =
        lines.map(|mut row| (row.pop().unwrap(), row.into_iter().map(Some).collect())).collect();
    (Schema::new(target, columns).unwrap(), Batch::from_rows(&rows))
}

fn learn(schema: &Schema, batch: &Batch) -> Statistics {
    let mut statistics = Statistics::empty(schema);
    statistics.observe(batch).unwrap();
    statistics
}

fn without_smoothing() -> Settings {
    Settings { smoothing: Smoothing::None, ..Settings::default() }
}

/// The log-loss in bits per row, each row judged without itself.
fn log_loss(statistics: &Statistics, settings: &Settings, batch: &Batch) -> f64 {
    let mut evaluation = Evaluation::new();
    statistics
        .leave_one_out(settings, |rows| evaluation.observe_leave_one_out(rows, batch))
        .unwrap()
        .unwrap();
    evaluation.report().log_loss / std::f64::consts::LN_2
}

/// The log-loss of a table of a single column, and what the prior alone would have.
fn losses(column: BatchColumn, kind: Kind, batch: &Batch, settings: &Settings) -> (f64, f64) {
    let with = |column: BatchColumn, kind: Kind, settings: &Settings| {
        let schema = Schema::new("class", vec![Column::new("x", kind)]).unwrap();
        let batch = Batch { columns: vec![column], ..batch.clone() };
        log_loss(&learn(&schema, &batch), settings, &batch)
    };
    let mut nothing = Batch::from_rows(&vec![("", [None]); batch.rows]);
    (with(column, kind, settings), with(nothing.columns.remove(0), Kind::Category, &Settings::default()))
}

#[test]
fn tennis_has_the_information_gains_of_the_textbook() {
    // Mitchell, Machine Learning (1997), section 3.4: 0.246, 0.151, 0.048 and 0.029, cut and not rounded; the entropy is
    // 0.940. By hand: H = 0.940286, and for outlook H(class | x) = 5/14 · 0.970951 + 4/14 · 0 + 5/14 · 0.970951 = 0.693536.
    let (schema, days) = tennis(Kind::Category);
    let features = Features::new(&learn(&schema, &days), &without_smoothing()).unwrap();
    assert!((features.entropy - 0.940_285_958_670_631).abs() < 1e-12);
    for (name, bits) in [
        ("outlook", 0.246_749_819_774_439),
        ("temperature", 0.029_222_565_658_955),
        ("humidity", 0.151_835_501_362_341),
        ("wind", 0.048_127_030_408_269),
    ] {
        let rank = features.ranked.iter().find(|rank| rank.name == name).unwrap();
        assert!((rank.information.unwrap() - bits).abs() < 1e-12, "{rank:?}");
    }
}

#[test]
fn a_joint_table_is_one_feature() {
    // Each of the fourteen days has a weather of its own, so all there is to know is known, looking back.
    let (schema, days) = tennis(Kind::Joint);
    let features = Features::new(&learn(&schema, &days), &Settings::default()).unwrap();
    let [all] = &features.ranked[..] else { panic!("{features:?}") };
    assert_eq!(all.name, "outlook, temperature, humidity, wind");
    assert!((all.information.unwrap() - features.entropy).abs() < 1e-12);
    assert!(all.gain.unwrap().bits < 0.1, "looking ahead, little is: {all:?}");
}

#[test]
fn without_smoothing_what_was_seen_once_was_impossible_before() {
    // One day of no tennis was cool; without it, no such day is.
    let (schema, days) = tennis(Kind::Category);
    let features = Features::new(&learn(&schema, &days), &without_smoothing()).unwrap();
    let last = features.ranked.last().unwrap();
    assert_eq!(last.gain.unwrap().bits, f64::NEG_INFINITY);
    assert!(serde_json::to_value(&features).unwrap()["features"][3]["gain"].is_null());
}

#[test]
fn the_gain_of_categories_is_what_leaving_out_each_row_measures() {
    let (schema, days) = tennis(Kind::Category);
    for smoothing in [Smoothing::LAPLACE, Smoothing::Lidstone(0.2), Smoothing::Background(0.7)] {
        let settings = Settings { smoothing, ..Settings::default() };
        let features = Features::new(&learn(&schema, &days), &settings).unwrap();
        for (i, column) in schema.columns.iter().enumerate() {
            let (with, without) = losses(days.columns[i].clone(), Kind::Category, &days, &settings);
            let rank = features.ranked.iter().find(|rank| rank.name == column.name).unwrap();
            assert!((rank.gain.unwrap().bits - (without - with)).abs() < 1e-12, "{rank:?} {with} {without}");
        }
    }
}

/// A generator of our own: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Rows of three classes: a number that helps, one that does not, a whole number that helps a little.
fn numbers(rows: usize) -> (Schema, Batch) {
    let names = ["shifted", "noise", "count"];
    let schema = Schema::new("class", names.map(|name| Column::new(name, Kind::Number)).to_vec()).unwrap();
    let mut random = Random(7);
    let mut batch = Batch::new(&schema);
    for row in 0..rows {
        let class = (row % 3) as f64;
        let numbers = [class + random.normal(), random.normal(), (3.0 * random.uniform() + class).floor()];
        batch.push(Some(["a", "b", "c"][row % 3]), 1.0, &numbers.map(Value::Number)).unwrap();
    }
    (schema, batch)
}

#[test]
fn the_gain_of_numbers_is_nearly_what_leaving_out_each_row_measures() {
    let (schema, batch) = numbers(156); // without a row there are as many bins
    let statistics = learn(&schema, &batch);
    let count =
        [NumberFamily::Poisson, NumberFamily::Geometric, NumberFamily::Binomial(None), NumberFamily::Values];
    let any = [
        NumberFamily::Gaussian,
        NumberFamily::Student,
        NumberFamily::Uniform,
        NumberFamily::Kernel,
        NumberFamily::Silverman,
        NumberFamily::Mixture,
        NumberFamily::Histogram,
        NumberFamily::EqualWidth(5),
        NumberFamily::EqualFrequency(5),
        NumberFamily::Proportional,
    ];
    let positive = [NumberFamily::Exponential];
    let asked = any.map(|family| (0, family)).into_iter();
    let asked = asked.chain(count.map(|family| (2, family))).chain(positive.map(|family| (2, family)));
    for (i, family) in asked {
        let families = [(schema.columns[i].name.clone(), family.into())].into_iter().collect();
        let settings = Settings { families, ..Settings::default() };
        let features = Features::new(&statistics, &settings).unwrap();
        let rank = features.ranked.iter().find(|rank| rank.name == schema.columns[i].name).unwrap();
        let families = [("x".to_owned(), family.into())].into_iter().collect();
        let settings = Settings { families, ..Settings::default() };
        let (with, without) = losses(batch.columns[i].clone(), Kind::Number, &batch, &settings);
        let (found, measured) = (rank.gain.unwrap().bits, without - with);
        assert!((found - measured).abs() < 0.02, "{family:?}: {found}, measured {measured}");
    }
}

#[test]
fn what_helps_is_selected_and_what_does_not_is_left_out() {
    let (schema, batch) = numbers(600);
    let statistics = learn(&schema, &batch);
    let names = |select| {
        let model = statistics.estimate(&Settings { select, ..Settings::default() }).unwrap();
        model.schema().columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Selection::Auto), ["shifted", "count"]);
    let best = Features::new(&statistics, &Settings::default()).unwrap().ranked.remove(0).name;
    assert_eq!(names(Selection::Best(1)), [best]);
    assert_eq!(names(Selection::Best(9)), ["shifted", "noise", "count"]);
    assert!(statistics.estimate(&Settings { select: Selection::Best(0), ..Settings::default() }).is_err());
}

#[test]
fn a_model_of_selected_columns_is_one_that_never_saw_the_others() {
    let (schema, batch) = numbers(90);
    let settings = Settings { select: Selection::Best(2), ..Settings::default() };
    let model = learn(&schema, &batch).estimate(&settings).unwrap();
    let part = batch.only(&schema, model.schema());
    let alone = learn(model.schema(), &part).estimate(&Settings::default()).unwrap();
    let (ours, theirs) = (model.score(&part).unwrap(), alone.score(&part).unwrap());
    assert!((0..batch.rows).all(|row| ours.row(row) == theirs.row(row)));
    assert_eq!(model.schema().columns.len(), 2);
}

#[test]
fn a_group_and_text_are_used_whatever_is_selected() {
    let (_, mut batch) = numbers(90);
    let [shifted, noise, count] = &batch.columns[..] else { panic!() };
    batch.columns = [noise, shifted, count, noise].map(BatchColumn::clone).to_vec();
    let mut text = TextColumn::default();
    for row in 0..batch.rows {
        text.add(["to", "be"][row % 2]);
        text.end_document();
    }
    batch.columns.push(BatchColumn::Text(text));
    let columns = [
        ("noise", Kind::Number),
        ("a", Kind::Group),
        ("count", Kind::Number),
        ("b", Kind::Group),
        ("text", Kind::Text),
    ];
    let columns = columns.map(|(name, kind)| Column::new(name, kind)).to_vec();
    let schema = Schema::new("class", columns).unwrap();
    let statistics = learn(&schema, &batch);
    let settings = Settings { select: Selection::Best(1), ..Settings::default() };
    let unknown = |rank: &FeatureRank| rank.gain.is_none() && rank.information.is_none() && rank.used;
    let ranked = Features::new(&statistics, &settings).unwrap().ranked;
    assert_eq!(
        ranked.iter().filter(|rank| unknown(rank)).map(|rank| &rank.name[..]).collect::<Vec<_>>(),
        ["a, b", "text"]
    );
    let model = statistics.estimate(&settings).unwrap();
    let names: Vec<&str> = model.schema().columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a", "count", "b", "text"]);
    let part = batch.only(&schema, model.schema());
    let alone = learn(model.schema(), &part).estimate(&Settings::default()).unwrap();
    let (ours, theirs) = (model.score(&part).unwrap(), alone.score(&part).unwrap());
    assert!((0..batch.rows).all(|row| ours.row(row) == theirs.row(row)));
}

#[test]
fn each_fold_selects_without_its_own_rows() {
    // One column tells apart the rows of the first fold and says the opposite in all others: chosen from everything it
    // would be left out.
    let (_, numbers) = numbers(120);
    let assigned = Folds::new(2, 0).unwrap().assign(&numbers);
    let side = |row: usize| (assigned[row] == Some(0)) == row.is_multiple_of(3);
    let schema =
        Schema::new("class", vec![Column::new("coin", Kind::Category), Column::new("x", Kind::Number)])
            .unwrap();
    let coin: Vec<(&str, [Option<&str>; 1])> =
        (0..120).map(|row| ("", [Some(if side(row) { "heads" } else { "tails" })])).collect();
    let columns = vec![Batch::from_rows(&coin).columns.remove(0), numbers.columns[0].clone()];
    let batch = Batch { columns, ..numbers };
    let settings = Settings { select: Selection::Best(1), ..Settings::default() };
    let mut folds = FoldStatistics::empty(&schema, 2);
    let parts = folds.observe(&batch, &assigned).unwrap();
    let models = folds.models(&settings, Judging::None).unwrap();
    let first = |schema: &Schema| schema.columns[0].name.clone();
    assert_eq!(first(folds.total().unwrap().estimate(&settings).unwrap().schema()), "x");
    for fold in 0..2 {
        assert_eq!(
            first(models.model(fold).schema()),
            "coin",
            "within the other fold the coin is never wrong"
        );
    }
    let mut evaluation = Evaluation::new();
    models.evaluate(&parts, &mut evaluation).unwrap();
    assert!(evaluation.report().accuracy < 0.3, "and so it misleads");
}

#[test]
fn half_of_the_rows_say_half_as_much() {
    let row = |class, x| (class, [x]);
    let known = [row("p", Some("1")), row("q", Some("0"))].repeat(50);
    let missing = [row("p", None), row("q", None)].repeat(50);
    let schema = Schema::new("class", vec![Column::new("x", Kind::Category)]).unwrap();
    let rank = |rows: &[(&str, [Option<&str>; 1])], missing| {
        let settings = Settings { missing, ..Settings::default() };
        let statistics = learn(&schema, &Batch::from_rows(rows));
        Features::new(&statistics, &settings).unwrap().ranked.remove(0)
    };
    let all = rank(&known, MissingValues::Skipped);
    let half = rank(&[known.clone(), missing.clone()].concat(), MissingValues::Skipped);
    assert_eq!((all.information, half.information), (Some(1.0), Some(0.5)));
    assert!((half.gain.unwrap().bits - all.gain.unwrap().bits / 2.0).abs() < 0.01);
    // Where missing is a value it can be all that a column says.
    let only: Vec<_> = (0..100).map(|i| if i < 50 { row("p", Some("1")) } else { row("q", None) }).collect();
    assert_eq!(rank(&only, MissingValues::Skipped).information, Some(0.0));
    assert_eq!(rank(&only, MissingValues::Counted).information, Some(1.0));
}

/// What other classes say of a value is worked out once for all rows that hold it, and what is left of the prior takes no
/// time: with work that grows with the square of the classes this would take minutes.
#[test]
fn many_classes_take_no_longer_than_they_are_many() {
    const CLASSES: usize = 16_000;
    let schema =
        Schema::new("class", vec![Column::new("coin", Kind::Category), Column::new("pair", Kind::Joint)])
            .unwrap();
    let names: Vec<String> = (0..CLASSES).map(|class| format!("class {class}")).collect();
    let rows: Vec<(&str, [Option<&str>; 2])> = (0..4 * CLASSES)
        .map(|row| {
            let class = row % CLASSES;
            let side = if (row / CLASSES + class).is_multiple_of(4) { "1" } else { "0" };
            (names[class].as_str(), [Some(side), Some(["a", "b", "c"][class % 3])])
        })
        .collect();
    let batch = Batch::from_rows(&rows);
    let statistics = learn(&schema, &batch);
    for missing in [MissingValues::Skipped, MissingValues::Counted] {
        let settings = Settings { missing, ..Settings::default() };
        let features = Features::new(&statistics, &settings).unwrap();
        // By hand, but for what one class is among so many. Each class tosses one of four coins: without a row that says 0
        // it gives that 3/5 where all give it 4/6, and without the one that says 1 that 1/5 and not 2/6. A pair is always
        // the same: its class gives it 4/6 without the row, a third of all others 5/7 and the rest 1/7.
        let expected = [("coin", 0.75 * 0.9_f64.log2() + 0.25 * 0.6_f64.log2()), ("pair", 2_f64.log2())];
        for (name, bits) in expected {
            let rank = features.ranked.iter().find(|rank| rank.name == name).unwrap();
            assert!((rank.gain.unwrap().bits - bits).abs() < 1e-4, "{rank:?}");
        }
    }
    let settings = Settings { select: Selection::Best(1), ..Settings::default() };
    assert_eq!(statistics.estimate(&settings).unwrap().schema().columns[0].name, "pair");
}

#[test]
fn sums_alone_cannot_be_judged() {
    let schema = Schema::new("class", vec![Column::new("x", Kind::Moments)]).unwrap();
    let (_, numbers) = numbers(30);
    let statistics = learn(&schema, &Batch { columns: numbers.columns[..1].to_vec(), ..numbers });
    let features = Features::new(&statistics, &Settings::default()).unwrap();
    assert_eq!((features.ranked[0].information, features.ranked[0].gain), (None, None));
    let settings = Settings { select: Selection::Auto, ..Settings::default() };
    let error = statistics.estimate(&settings).unwrap_err().to_string();
    assert!(error.contains("only sums were kept of `x`"), "{error}");
}

#[test]
fn a_class_of_one_row_and_a_table_of_one_row_gain_nothing() {
    let schema = Schema::new("class", vec![Column::new("x", Kind::Category)]).unwrap();
    for rows in [&[("p", [Some("1")])][..], &[("p", [Some("1")]), ("q", [Some("0")])]] {
        let features = Features::new(&learn(&schema, &Batch::from_rows(rows)), &Settings::default()).unwrap();
        assert_eq!(features.ranked[0].gain.unwrap().bits, 0.0, "{rows:?}");
    }
    assert!(Features::new(&Statistics::empty(&schema), &Settings::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the order and the split of the rows, the ranking is the same to the last bit.
    #[test]
    fn order_and_split_do_not_matter(seed in 0_u64..1000, cut in 1_usize..59) {
        let (schema, batch) = numbers(60);
        let whole = Features::new(&learn(&schema, &batch), &Settings::default()).unwrap();
        let mut order: Vec<usize> = (0..60).collect();
        let mut random = Random(seed);
        (1..60).for_each(|i| order.swap(i, (random.uniform() * (i + 1) as f64) as usize));
        let mut parts = learn(&schema, &batch.select(&order[cut..]));
        parts.merge(&learn(&schema, &batch.select(&order[..cut]))).unwrap();
        prop_assert_eq!(whole, Features::new(&parts, &Settings::default()).unwrap());
    }
}

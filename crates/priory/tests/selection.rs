//! What judged models lose without a column, and models of selected columns.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::f64::consts::LN_2;

use priory::evaluate::{Evaluation, FoldStatistics};
use priory::judgement::{Judging, Tier};
use priory::report::{FeatureRank, Features};
use priory::settings::Selection;
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};

/// Numbers from 0 to 1 that are the same for the same seed.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The columns of a table, the class of which is what `x`, `color` and, a little, `y` make of it: `x again` holds the same as `x`,
/// and `noise` and `more noise` say nothing.
const COLUMNS: [(&str, Kind); 6] = [
    ("noise", Kind::Number),
    ("x", Kind::Number),
    ("y", Kind::Number),
    ("color", Kind::Category),
    ("x again", Kind::Number),
    ("more noise", Kind::Category),
];

fn table(seed: u64, rows: usize, names: &[&str]) -> (Schema, Batch) {
    let columns = names.iter().map(|name| *COLUMNS.iter().find(|column| column.0 == *name).unwrap());
    let columns: Vec<Column> = columns.map(|(name, kind)| Column::new(name, kind)).collect();
    let schema = Schema::new("class", columns).unwrap();
    let mut batch = Batch::new(&schema);
    let mut next = random(seed);
    for _ in 0..rows {
        let (x, y, color) = (next() + next() - 1.0, next() - 0.5, (next() * 4.0) as usize);
        let odds = 6.0 * x + 1.5 * y + [-1.5, -0.5, 0.5, 1.5][color];
        let class = if next() < 1.0 / (1.0 + (-odds).exp()) { "yes" } else { "no" };
        let (noise, more_noise) = (next(), format!("n{}", (next() * 3.0) as usize));
        let color = format!("c{color}");
        let value = |name: &&str| match *name {
            "x" | "x again" => Value::Number(x),
            "y" => Value::Number(y),
            "noise" => Value::Number(noise),
            "color" => Value::Category(&color),
            _ => Value::Category(&more_noise),
        };
        batch.push(Some(class), 1.0, &names.iter().map(value).collect::<Vec<_>>()).unwrap();
    }
    (schema, batch)
}

fn judge(schema: &Schema, parts: &[&Batch], select: Selection, threads: usize) -> Learnt {
    let mut statistics = Judging::Auto.start(schema);
    for part in parts {
        let mut own = statistics.empty_like();
        own.observe(part).unwrap();
        statistics.merge(&own).unwrap();
    }
    let mut learnt = Learnt::new(statistics, Settings { select, ..Settings::default() });
    assert_eq!(learnt.judge(Judging::Auto, threads).unwrap(), Some(Tier::Full));
    learnt
}

fn features(names: &[&str]) -> Features {
    let (schema, batch) = table(1, 1_000, names);
    judge(&schema, &[&batch], Selection::All, 1).features().unwrap()
}

fn rank<'a>(features: &'a Features, name: &str) -> &'a FeatureRank {
    features.ranked.iter().find(|rank| rank.name == name).unwrap()
}

fn lost(features: &Features, name: &str) -> f64 {
    rank(features, name).lost.unwrap().bits
}

#[test]
fn the_most_telling_column_is_first_and_noise_loses_nothing() {
    let features = features(&["noise", "x", "y", "color", "more noise"]);
    let names: Vec<&str> = features.ranked.iter().map(|rank| rank.name.as_str()).collect();
    assert_eq!(names[..3], ["x", "color", "y"]);
    for name in ["noise", "more noise"] {
        let lost = rank(&features, name).lost.unwrap();
        // Columns share some of their weights, so that it may even gain a little.
        assert!(lost.bits <= lost.standard_error && lost.bits > -0.005, "{name}: {lost:?}");
    }
    for name in ["x", "color", "y"] {
        let lost = rank(&features, name).lost.unwrap();
        assert!(lost.bits > lost.standard_error, "{name}: {lost:?}");
    }
}

#[test]
fn a_copy_takes_the_place_of_its_column() {
    let once = lost(&features(&["x", "y", "color"]), "x");
    let twice = features(&["x", "y", "color", "x again"]);
    assert!(once > 0.3, "{once}");
    for name in ["x", "x again"] {
        assert!(lost(&twice, name).abs() < 0.02 * once, "{name}: {} of {once}", lost(&twice, name));
    }
    // What others say is as it was.
    assert!(lost(&twice, "color") > 0.5 * lost(&features(&["x", "y", "color"]), "color"));
}

/// The log-loss in bits per row, each row being left out of what was counted.
fn log_loss(names: &[&str]) -> f64 {
    let (schema, batch) = table(1, 1_000, names);
    let learnt = judge(&schema, &[&batch], Selection::All, 1);
    let mut evaluation = Evaluation::new();
    learnt.leave_one_out(|rows| evaluation.observe_leave_one_out(rows, &batch)).unwrap().unwrap();
    evaluation.report().log_loss / LN_2
}

#[test]
fn what_is_lost_is_what_a_model_without_the_column_loses() {
    let all = ["noise", "x", "y", "color"];
    let (features, whole) = (features(&all), log_loss(&all));
    for name in all {
        let others: Vec<&str> = all.into_iter().filter(|other| *other != name).collect();
        let without = log_loss(&others) - whole;
        let lost = lost(&features, name);
        assert!((lost - without).abs() < 0.1 * without.abs() + 0.004, "{name}: {lost} instead of {without}");
    }
}

#[test]
fn one_of_two_copies_is_selected() {
    let (schema, batch) = table(2, 800, &COLUMNS.map(|column| column.0));
    let learnt = judge(&schema, &[&batch], Selection::Auto, 1);
    let model = learnt.estimate().unwrap();
    let used: Vec<&str> = model.schema().columns.iter().map(|column| column.name.as_str()).collect();
    assert!(used.contains(&"x") != used.contains(&"x again"), "{used:?}");
    assert!(used.contains(&"color"), "{used:?}");
    let two = judge(&schema, &[&batch], Selection::Best(2), 1).estimate().unwrap();
    assert_eq!(two.schema().columns.len(), 2);
    assert!(two.schema().position("color").is_some());
}

/// A model of selected columns is that of a table with just these.
#[test]
fn selected_columns_are_judged_as_if_there_were_no_others() {
    let (schema, batch) = table(3, 700, &COLUMNS.map(|column| column.0));
    let learnt = judge(&schema, &[&batch], Selection::Best(3), 2);
    let model = learnt.estimate().unwrap();
    let names: Vec<&str> = model.schema().columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names.len(), 3);
    let narrow = batch.only(&schema, model.schema());
    let expected = judge(model.schema(), &[&narrow], Selection::All, 1);
    let (found, expected) =
        (model.score(&narrow).unwrap(), expected.estimate().unwrap().score(&narrow).unwrap());
    let (found, expected) = (found.normalize(), expected.normalize());
    for row in 0..batch.rows {
        for (found, expected) in found.row(row).iter().zip(expected.row(row)) {
            // The rows come in another order, and sums are rounded.
            assert!((found - expected).abs() < 1e-3, "{found} instead of {expected}");
        }
    }
    // Explanations, intervals and leave-one-out are about the same columns.
    assert!(model.explain(&narrow, 0).is_ok());
    assert!(
        learnt.intervals(|intervals| intervals.of(&narrow, &model.score(&narrow)?, 0.9)).unwrap().is_ok()
    );
    learnt.leave_one_out(|rows| rows.score(&batch)).unwrap().unwrap();
    let ranked = learnt.features().unwrap().ranked;
    assert_eq!(ranked.iter().filter(|rank| rank.used).count(), 3);
    assert!(ranked[..3].iter().all(|rank| rank.used && names.contains(&rank.name.as_str())));
    assert_eq!(learnt.judgement().unwrap().columns.len(), 3);
}

#[test]
fn any_order_split_and_number_of_threads_selects_the_same() {
    let (schema, batch) = table(4, 400, &COLUMNS.map(|column| column.0));
    let some = |rows: &mut dyn Iterator<Item = usize>| batch.select(&rows.collect::<Vec<_>>());
    for select in [Selection::All, Selection::Auto, Selection::Best(2)] {
        let whole = judge(&schema, &[&batch], select, 1).to_bytes();
        let (odd, even) = (some(&mut (1..400).step_by(2)), some(&mut (0..400).step_by(2).rev()));
        assert!(judge(&schema, &[&odd, &even], select, 3).to_bytes() == whole, "{select:?}");
        let mut read = Learnt::read(&whole).unwrap();
        assert!(read.to_bytes() == whole);
        let more = table(5, 50, &COLUMNS.map(|column| column.0)).1;
        read.learn(&more).unwrap();
        assert!(read.estimate().is_ok());
        read.forget(&more).unwrap();
        assert!(read.to_bytes() == whole);
    }
}

#[test]
fn each_fold_selects_for_itself() {
    let (schema, batch) = table(6, 300, &COLUMNS.map(|column| column.0));
    let settings = Settings { select: Selection::Auto, ..Settings::default() };
    let folds: Vec<Option<usize>> = (0..batch.rows).map(|row| Some(row % 3)).collect();
    let mut statistics = FoldStatistics::empty(&schema, 3);
    statistics.keep_rows();
    statistics.observe(&batch, &folds).unwrap();
    let models = statistics.models(&settings, Judging::Auto).unwrap();
    for fold in 0..3 {
        let others: Vec<usize> = (0..batch.rows).filter(|row| row % 3 != fold).collect();
        let expected = judge(&schema, &[&batch.select(&others)], Selection::Auto, 2).estimate().unwrap();
        assert_eq!(models.model(fold).schema(), expected.schema());
        let asked = batch.only(&schema, expected.schema());
        let (found, expected) = (models.model(fold).score(&asked).unwrap(), expected.score(&asked).unwrap());
        (0..batch.rows).for_each(|row| assert_eq!(found.row(row), expected.row(row)));
    }
}

/// Where nothing tells the classes apart, posteriors are about the shares of the classes, whatever is selected.
#[test]
fn noise_moves_no_posterior() {
    let (schema, mut batch) = table(7, 300, &["noise", "more noise"]);
    let mut next = random(8);
    batch.classes.codes.iter_mut().for_each(|code| *code = 1 + u32::from(next() < 0.3));
    let learnt = judge(&schema, &[&batch], Selection::Auto, 1);
    let model = learnt.estimate().unwrap();
    let posterior = model.score(&batch.only(&schema, model.schema())).unwrap().normalize();
    for (found, share) in (0..300).flat_map(|row| posterior.row(row).iter().zip(model.prior())) {
        assert!((found - share).abs() < 0.05, "{found} instead of {share}");
    }
    assert!(Learnt::read(&learnt.to_bytes()).unwrap().estimate().is_ok());
}

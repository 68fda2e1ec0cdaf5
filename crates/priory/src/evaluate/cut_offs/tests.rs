use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::batch::{Batch, CategoryColumn};
use crate::decide::{Cost, Decision};
use crate::families::likelihood::Unseen;
use crate::posterior::Scores;

/// The log-odds of `yes`, whether it is true, and the weight.
type Row = (f64, bool, f64);

/// Rows as a model of two classes would have scored them.
fn evaluated(rows: &[Row], decision: &Decision) -> Evaluation {
    let mut evaluation = Evaluation::under(decision);
    observe(&mut evaluation, rows);
    evaluation
}

fn observe(evaluation: &mut Evaluation, rows: &[Row]) {
    let mut classes = CategoryColumn::default();
    rows.iter().for_each(|row| classes.push(Some(if row.1 { "yes" } else { "no" })));
    let batch = Batch {
        rows: rows.len(),
        classes,
        weights: rows.iter().map(|row| row.2).collect(),
        ..Batch::default()
    };
    let logs = rows.iter().flat_map(|row| [0.0, row.0]).collect();
    let scores = Scores::new(vec![0.5f64.ln(); 2], logs, vec![true; rows.len()], Unseen::default());
    evaluation.observe(&["no".into(), "yes".into()], &batch, &scores, "no").unwrap();
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-12, "{what}: {found:?} {expected:?}");
    }
}

fn close(what: &str, found: Option<f64>, expected: &Value) {
    match (found, expected.as_f64()) {
        (Some(found), Some(expected)) => assert_close(what, &[found], &[expected]),
        (found, expected) => assert_eq!(found, expected, "{what}"),
    }
}

/// Values of scikit-learn; the file says of which version and how they came about.
#[test]
fn curves_are_those_of_scikit_learn() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sklearn/curves.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 7);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (scores, classes, weights) =
            (numbers(&case["scores"]), numbers(&case["classes"]), numbers(&case["weights"]));
        let rows: Vec<Row> = (0..scores.len()).map(|i| (scores[i], classes[i] == 1.0, weights[i])).collect();
        let cuts = case["cuts"].as_array().unwrap();
        let log_odds: Vec<f64> = cuts.iter().map(|cut| cut["cut"].as_f64().unwrap()).collect();
        let probabilities: Vec<f64> = log_odds.iter().map(|&x| crate::log_odds::to_probability(x)).collect();
        let report = evaluated(&rows, &Decision::default()).cut_offs(&probabilities).unwrap();
        assert_eq!(report.positive, "yes");
        close(name, report.roc_auc, &case["roc_auc"]);
        close(name, report.average_precision, &case["average_precision"]);

        let Curve { thresholds, precision, recall, false_positive_rate } = &report.curve;
        // Theirs is not a number, and ours zero, where there are no rows to take a share of.
        let (fpr, tpr) = (numbers(&case["roc"]["fpr"]), numbers(&case["roc"]["tpr"]));
        let known = |expected: &[f64]| expected.iter().all(|x| x.is_finite());
        if known(&fpr) {
            assert_close(name, false_positive_rate, &fpr[1..]);
        }
        if known(&tpr) {
            assert_close(name, recall, &tpr[1..]);
        }
        let theirs: Vec<f64> = numbers(&case["roc"]["thresholds"])[1..].to_vec();
        let as_probabilities: Vec<f64> = theirs.iter().map(|&x| crate::log_odds::to_probability(x)).collect();
        assert_close(name, thresholds, &as_probabilities);
        let curve = &case["precision_recall"];
        let backwards = |values: &[f64]| values.iter().rev().copied().collect::<Vec<f64>>();
        let (theirs, length) = (numbers(&curve["precision"]), thresholds.len());
        assert_close(name, &backwards(precision), &theirs[..length]);
        if classes.contains(&1.0) {
            assert_close(name, &backwards(recall), &numbers(&curve["recall"])[..length]);
        }
        for (ours, theirs) in report.cut_offs.iter().zip(cuts) {
            close(name, Some(ours.precision.unwrap_or(0.0)), &theirs["precision"]);
            close(name, Some(ours.recall.unwrap_or(0.0)), &theirs["recall"]);
            close(name, Some(ours.f1), &theirs["f1"]);
        }
    }
}

fn row() -> impl Strategy<Value = Row> {
    let score = prop_oneof![3 => (-8i32..8).prop_map(|x| f64::from(x) / 4.0), 1 => -30.0..30.0f64, 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY)];
    (score, any::<bool>(), prop_oneof![Just(1.0), Just(0.1), 1e-3..10.0f64])
}

proptest! {
    /// What a cut-off is worth is what answering by it does, and no cut-off is better than the best.
    #[test]
    fn the_best_cut_off_does_what_it_promises(rows in prop::collection::vec(row(), 2..60), miss in 0.1..9.0f64, p in 0.0..1.0f64) {
        let costs = vec![Cost::new("yes", "no", miss), Cost::new("no", "yes", 1.0)];
        let decision = Decision { costs, ..Decision::default() };
        let report = evaluated(&rows, &decision).cut_offs(&[p]).unwrap();
        let paid = |cut_off: f64| -> (f64, f64) {
            let thresholds = [("yes".to_owned(), cut_off)].into();
            let by_threshold = evaluated(&rows, &Decision { thresholds, ..Decision::default() }).report();
            let confusion = &by_threshold.confusion;
            let total: f64 = confusion.iter().flatten().sum();
            ((confusion[1][0] * miss + confusion[0][1]) / total, by_threshold.per_class[1].f1)
        };
        let (cost, f1) = paid(p);
        prop_assert!((report.cut_offs[0].cost.unwrap() - cost).abs() < 1e-9);
        prop_assert!((report.cut_offs[0].f1 - f1).abs() < 1e-9);
        let best = report.best[0];
        prop_assert_eq!(best.by, Aim::Cost);
        prop_assert!(best.cut_off.cost.unwrap() <= cost + 1e-9);
        if let Some(cut_off) = best.cut_off.cut_off {
            prop_assert!((paid(cut_off).0 - best.cut_off.cost.unwrap()).abs() < 1e-9, "{} {:?}", cut_off, best);
        }
    }

    /// No split or order of the rows shows in anything.
    #[test]
    fn parts_merged_are_the_whole(rows in prop::collection::vec(row(), 2..80), cut in any::<prop::sample::Index>()) {
        let decision = Decision { unsure: Some(0.7), ..Decision::default() };
        let (first, second) = rows.split_at(cut.index(rows.len()));
        let mut merged = evaluated(second, &decision);
        merged.merge(&evaluated(first, &decision));
        let whole = evaluated(&rows, &decision);
        let json = |evaluation: &Evaluation| {
            let mut report = evaluation.report();
            report.cut_offs = Some(evaluation.cut_offs(&DEFAULT_CUT_OFFS).unwrap());
            serde_json::to_string(&report).unwrap()
        };
        prop_assert_eq!(json(&merged), json(&whole));
    }
}

#[test]
fn cut_offs_have_few_digits() {
    let rows = [(0.0, false, 1.0), (-1.0, false, 1.0), (2.0, true, 1.0), (3.0, true, 1.0)];
    let report = evaluated(&rows, &Decision::default()).cut_offs(&[]).unwrap();
    // Any probability above one half and up to 0.88 parts them.
    assert!(report.best.iter().all(|best| best.cut_off.cut_off == Some(0.8)), "{:?}", report.best);
    assert_eq!(report.best[0].cut_off.f1, 1.0);
    let wrong = evaluated(&rows, &Decision::default()).cut_offs(&[1.5]).unwrap_err();
    assert_eq!(wrong.to_string(), "the cut-off 1.5 is not a probability between 0 and 1");
}

#[test]
fn predictions_worse_than_none_are_doubted() {
    let rows: Vec<Row> = (0..100).map(|i| (if i % 10 == 0 { -2.0 } else { 2.0 }, i % 10 == 0, 1.0)).collect();
    let report = evaluated(&rows, &Decision::default()).report();
    let told: Vec<String> = report.doubts.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "the accuracy, 0.0000, is below that of always answering the majority class, 0.9000: the classes have other shares here than the model expects",
            "the log-loss, 2.1269, is worse than that of the prior, 0.6931: the classes have other shares here than the model expects",
        ]
    );
    // Who decides by something else gives accuracy away knowingly.
    let thresholds = [("yes".to_owned(), 0.1)].into();
    let decided = evaluated(&rows, &Decision { thresholds, ..Decision::default() }).report();
    assert!(decided.doubts.is_empty());
}

#[test]
fn rows_that_are_not_answered_are_neither_right_nor_wrong() {
    let rows = [(0.1, true, 1.0), (3.0, true, 2.0), (-3.0, true, 1.0), (-3.0, false, 4.0)];
    let report = evaluated(&rows, &Decision { unsure: Some(0.9), ..Decision::default() }).report();
    assert_eq!((report.unsure, report.accuracy), (1.0, 6.0 / 7.0));
    assert_eq!(report.confusion, [[4.0, 0.0], [1.0, 2.0]]);
    assert_eq!((report.per_class[1].support, report.per_class[1].recall), (4.0, 0.5));
    // Not to answer costs something only if that is said.
    let mut costs = vec![Cost::new("yes", "no", 7.0), Cost::new("no", "yes", 1.0)];
    let cost = |costs: &Vec<Cost>| {
        let decision = Decision { costs: costs.clone(), unsure: Some(0.9), ..Decision::default() };
        let report = evaluated(&rows, &decision).report();
        (report.cost, report.baseline_cost)
    };
    assert_eq!(cost(&costs), (Some(1.0), Some(0.5)));
    costs.push(Cost { true_class: None, predicted: Some("unsure".into()), cost: 1.0 });
    assert_eq!(cost(&costs), (Some(1.0), Some(0.5)));
}

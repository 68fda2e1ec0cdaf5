//! Reference values, and the laws of merging.

use proptest::prelude::*;

use super::*;
use crate::batch::BatchColumn;
use crate::families::likelihood::Unseen;
use crate::log_odds::round;
use crate::schema::{Column, Kind, Schema};
use crate::settings::Settings;
use crate::statistics::Statistics;

const CLASSES: [&str; 3] = ["a", "b", "c"];

/// True class and posterior of a few rows.
type Rows<const K: usize> = [(usize, [f64; K]); 10];

const BINARY: Rows<2> = [
    (0, [0.9, 0.1]),
    (0, [0.6, 0.4]),
    (1, [0.4, 0.6]),
    (1, [0.7, 0.3]),
    (1, [0.2, 0.8]),
    (0, [0.3, 0.7]),
    (1, [0.45, 0.55]),
    (0, [0.6, 0.4]),
    (1, [0.05, 0.95]),
    (0, [0.85, 0.15]),
];

const THREE: Rows<3> = [
    (0, [0.7, 0.2, 0.1]),
    (0, [0.3, 0.42, 0.28]),
    (1, [0.1, 0.8, 0.1]),
    (1, [0.5, 0.25, 0.25]),
    (2, [0.2, 0.2, 0.6]),
    (2, [0.05, 0.15, 0.8]),
    (2, [0.45, 0.4, 0.15]),
    (1, [0.2, 0.5, 0.3]),
    (0, [0.6, 0.1, 0.3]),
    (1, [0.1, 0.45, 0.45]),
];

const WEIGHTS: [f64; 10] = [1.0, 2.0, 0.5, 1.0, 3.0, 0.1, 0.7, 1.0, 2.0, 0.3];

fn names(classes: &[usize]) -> Vec<String> {
    classes.iter().map(|&class| CLASSES[class].to_owned()).collect()
}

fn batch(classes: &[Option<usize>], weights: &[f64]) -> Batch {
    Batch {
        first_row: 1,
        rows: classes.len(),
        classes: classes.iter().map(|class| class.map(|class| CLASSES[class])).collect(),
        weights: weights.to_vec(),
        ..Batch::default()
    }
}

fn scores(classes: usize, log_joint: Vec<f64>) -> Scores {
    let rows = log_joint.len() / classes;
    Scores::new(vec![-(classes as f64).ln(); classes], log_joint, vec![true; rows], Unseen::default())
}

fn report<const K: usize>(rows: &Rows<K>, weights: &[f64]) -> EvaluationReport {
    let true_classes: Vec<Option<usize>> = rows.iter().map(|row| Some(row.0)).collect();
    // A posterior is not changed by P(x): rows of different evidence must not differ in it.
    let log_joint = rows.iter().zip(0..).flat_map(|((_, p), i)| p.map(|p| p.ln() - 100.0 * f64::from(i)));
    let mut evaluation = Evaluation::new();
    let classes: Vec<usize> = (0..K).collect();
    evaluation
        .observe(&names(&classes), &batch(&true_classes, weights), &scores(K, log_joint.collect()), "a")
        .unwrap();
    evaluation.report()
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

/// accuracy, log-loss, Brier score, ECE, ROC AUC, macro F1, baseline.
#[track_caller]
fn check(report: &EvaluationReport, expected: [f64; 7]) {
    close(report.accuracy, expected[0]);
    close(report.log_loss, expected[1]);
    close(report.brier, expected[2]);
    close(report.ece, expected[3]);
    close(report.roc_auc.unwrap(), expected[4]);
    close(report.macro_f1, expected[5]);
    close(report.baseline_accuracy, expected[6]);
}

#[track_caller]
fn check_classes(report: &EvaluationReport, expected: &[[f64; 5]]) {
    for (class, [precision, recall, f1, support, auc]) in report.per_class.iter().zip(expected) {
        close(class.precision, *precision);
        close(class.recall, *recall);
        close(class.f1, *f1);
        close(class.support, *support);
        close(class.auc.unwrap(), *auc);
    }
    assert_eq!(report.per_class.len(), expected.len());
}

// The numbers in the next four tests come from scikit-learn 1.9.1: accuracy_score, log_loss, brier_score_loss with
// scale_by_half=False, roc_auc_score of each class against the rest, f1_score with average="macro",
// precision_recall_fscore_support and confusion_matrix, with sample_weight where there are weights. It has no
// calibration error; that is from numpy, over the bins (i/15, (i+1)/15].

#[test]
fn two_classes() {
    let report = report(&BINARY, &[]);
    check(&report, [0.8, 0.508_057_577_156_282_5, 0.3475, 0.355, 0.8, 0.8, 0.5]);
    check_classes(&report, &[[0.8, 0.8, 0.8, 5.0, 0.8]; 2]);
    assert_eq!(report.confusion, [[4.0, 1.0], [1.0, 4.0]]);
}

#[test]
fn two_classes_weighted() {
    let report = report(&BINARY, &WEIGHTS);
    let auc = 0.898_358_585_858_586;
    check(
        &report,
        [
            0.905_172_413_793_103_3,
            0.384_213_716_008_044_8,
            0.238_362_068_965_517_23,
            0.287_068_965_517_241_37,
            auc,
            0.902_558_228_331_424_2,
            0.379_310_344_827_586_13,
        ],
    );
    let a = [0.811_320_754_716_981_2, 0.977_272_727_272_727_4, 0.886_597_938_144_33, 4.4, auc];
    let b = [0.984_126_984_126_984_2, 0.861_111_111_111_111_2, 0.918_518_518_518_518_5, 7.2, auc];
    check_classes(&report, &[a, b]);
    assert_eq!(report.confusion, [[4.3, 0.1], [1.0, 6.2]]);
}

#[test]
fn three_classes() {
    let report = report(&THREE, &[]);
    check(
        &report,
        [0.7, 0.780_365_532_120_855_8, 0.43648, 0.182, 0.861_111_111_111_111, 0.707_142_857_142_857_2, 0.3],
    );
    let a = [0.5, 2.0 / 3.0, 0.571_428_571_428_571_4, 3.0, 0.904_761_904_761_904_8];
    let b = [0.75, 0.75, 0.75, 4.0, 0.916_666_666_666_666_6];
    let c = [1.0, 2.0 / 3.0, 0.8, 3.0, 0.761_904_761_904_761_9];
    check_classes(&report, &[a, b, c]);
    assert_eq!(report.confusion, [[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [1.0, 0.0, 2.0]]);
}

#[test]
fn three_classes_weighted() {
    let report = report(&THREE, &WEIGHTS);
    check(
        &report,
        [
            0.681_034_482_758_620_6,
            0.784_449_365_704_686_7,
            0.437_508_620_689_655_1,
            0.293_965_517_241_379_26,
            0.879_535_449_930_186_7,
            0.687_520_657_041_051_5,
            0.431_034_482_758_620_66,
        ],
    );
    let a = [0.638_297_872_340_425_5, 0.6, 0.618_556_701_030_927_9, 5.0, 0.896_969_696_969_697];
    let b = [
        0.473_684_210_526_315_8,
        0.642_857_142_857_142_9,
        0.545_454_545_454_545_5,
        2.8,
        0.890_422_077_922_077_8,
    ];
    let c = [1.0, 0.815_789_473_684_210_6, 0.898_550_724_637_681_2, 3.8, 0.851_214_574_898_785_4];
    check_classes(&report, &[a, b, c]);
    assert_eq!(report.confusion, [[3.0, 2.0, 0.0], [1.0, 1.8, 0.0], [0.7, 0.0, 3.1]]);
}

#[test]
fn certainty_beyond_rounding_still_ranks() {
    // Every posterior here is 0 or 1 in f64, and both rows of class a still rank above that of class b.
    let log_joint = vec![0.0, -900.0, 0.0, -950.0, 0.0, -800.0];
    let mut evaluation = Evaluation::new();
    evaluation
        .observe(&names(&[0, 1]), &batch(&[Some(0), Some(0), Some(1)], &[]), &scores(2, log_joint), "a")
        .unwrap();
    let report = evaluation.report();
    assert_eq!(report.roc_auc, Some(1.0));
    close(report.log_loss, 800.0 / 3.0);
    assert_eq!(report.zero_probability_rows, 0);
}

#[test]
fn log_odds_keep_their_digits() {
    let log_odds = |log_weights: &[f64]| {
        let mut posterior = RowPosterior::default();
        posterior.set(log_weights);
        posterior.log_odds
    };
    let odds = log_odds(&[0.0, -50.0, -51.0]);
    assert_eq!(odds[0], 50.0 - (-1f64).exp().ln_1p());
    close(softplus(-odds[0]) / ((-50f64).exp() + (-51f64).exp()), 1.0);
    assert_eq!(log_odds(&[-3.0, f64::NEG_INFINITY]), [f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(log_odds(&[-3.0]), [f64::INFINITY]);
    assert_eq!(log_odds(&[-2.0, -2.0]), [0.0, 0.0]);
}

#[test]
fn the_posterior_of_a_row_is_that_of_a_batch() {
    let rows =
        [[0.0, -50.0, -51.0], [-2.0, -2.0, -900.0], [f64::NEG_INFINITY; 3], [-1e4, -1e4 + 0.1, -1e4 - 0.7]];
    let scores = scores(3, rows.concat());
    let posterior = scores.normalize();
    let mut of_row = RowPosterior::default();
    for row in 0..rows.len() {
        of_row.set(scores.log_weights(row));
        assert_eq!(of_row.probability, posterior.row(row));
        assert_eq!(of_row.best, posterior.best(row));
    }
}

#[test]
fn a_class_the_model_does_not_know_has_probability_zero() {
    let mut evaluation = Evaluation::new();
    let ln = |p: [f64; 2]| p.map(f64::ln);
    let log_joint = [ln([0.9, 0.1]), ln([0.2, 0.8])].concat();
    evaluation
        .observe(&names(&[0, 1]), &batch(&[Some(0), Some(2)], &[]), &scores(2, log_joint), "a")
        .unwrap();
    // Another model knows just that class, and is wrong about its only row.
    evaluation.observe(&names(&[2]), &batch(&[Some(0)], &[]), &scores(1, vec![-1.0]), "c").unwrap();
    let report = evaluation.report();
    assert_eq!(report.classes, ["a", "b", "c"]);
    assert_eq!(report.confusion, [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!((report.log_loss, report.zero_probability_rows), (f64::INFINITY, 2));
    close(report.brier, (2.0 * 0.01 + (0.04 + 0.64 + 1.0) + 2.0) / 3.0);
    assert_eq!(report.baseline_accuracy, 1.0 / 3.0);
    // Class a is found with odds 9, 1/4 and 0: its rows are the first and the last.
    assert_eq!(report.per_class[0].auc, Some(0.5));
    assert_eq!(report.per_class[1].auc, None);
    // Class c: 0 in the first model, 1 in the second, which is a mistake.
    assert_eq!(report.per_class[2].auc, Some(0.25));
    let json = serde_json::to_value(report).unwrap();
    assert_eq!((&json["log_loss"], &json["zero_probability_rows"]), (&serde_json::Value::Null, &2.into()));
}

#[test]
fn rows_without_a_class_or_weight() {
    let mut evaluation = Evaluation::new();
    let rows = batch(&[Some(0), None, Some(1)], &[2.0, 1.0, 0.0]);
    evaluation.observe(&names(&[0, 1]), &rows, &scores(2, vec![-1.0; 6]), "a").unwrap();
    evaluation.skip(3);
    let report = evaluation.report();
    assert_eq!((report.rows, report.skipped), (1, 4));
    assert_eq!(report.confusion, [[2.0, 0.0], [0.0, 0.0]]);
    assert_eq!((report.roc_auc, report.macro_f1), (None, 1.0));
}

#[test]
fn impossible_rows_and_rows_without_evidence() {
    let log_prior = [0.25f64, 0.75].map(f64::ln);
    let log_joint = vec![f64::NEG_INFINITY, f64::NEG_INFINITY, log_prior[0], log_prior[1]];
    let scores =
        Scores::new(log_prior.to_vec(), log_joint, vec![true, false], Unseen { values: 7, tokens: 0 });
    let mut evaluation = Evaluation::new();
    evaluation.observe(&names(&[0, 1]), &batch(&[Some(1), Some(1)], &[]), &scores, "b").unwrap();
    let report = evaluation.report();
    assert_eq!((report.impossible, report.no_evidence, report.unseen), (1, 1, 7));
    close(report.log_loss, -0.75f64.ln());
    assert_eq!(report.zero_probability_rows, 0);
}

#[test]
fn unusable_weights_are_refused() {
    for weight in [-1.0, f64::NAN, f64::INFINITY, 1e101] {
        let mut evaluation = Evaluation::new();
        let rows = batch(&[Some(0), Some(0)], &[1.0, weight]);
        assert!(evaluation.observe(&names(&[0]), &rows, &scores(1, vec![0.0; 2]), "a").is_err());
        assert_eq!(evaluation.report().rows, 0);
    }
}

#[test]
fn nothing_observed_is_nothing_known() {
    let json = serde_json::to_value(Evaluation::new().report()).unwrap();
    assert_eq!(json["rows"], 0);
    assert_eq!(json["calibration"].as_array().unwrap().len(), BINS);
    for undefined in ["accuracy", "log_loss", "brier", "ece", "roc_auc", "macro_f1", "baseline_accuracy"] {
        assert!(json[undefined].is_null(), "{undefined}");
    }
}

#[test]
fn json_has_the_names_of_the_fields() {
    let json = serde_json::to_value(report(&THREE, &WEIGHTS)).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "rows",
            "classes",
            "accuracy",
            "log_loss",
            "brier",
            "ece",
            "roc_auc",
            "macro_f1",
            "confusion",
            "baseline_accuracy",
            "baseline_log_loss",
            "unsure",
            "per_class",
            "calibration",
            "zero_probability_rows",
            "not_learnt",
            "skipped",
            "impossible",
            "no_evidence",
            "unseen",
            "judged",
            "doubts"
        ]
    );
    assert_eq!(json["classes"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(json["confusion"][0], serde_json::json!([3.0, 2.0, 0.0]));
}

/// A row: the classes its model knows, as a choice among a few; the true class; log-joints; weight.
type Prediction = (usize, Option<usize>, [f64; 3], f64);

const KNOWN: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[2, 0], &[1]];

fn prediction() -> impl Strategy<Value = Prediction> {
    let log_joint = prop_oneof![
        4 => -20.0..0.0f64,
        2 => (-3i32..0).prop_map(f64::from),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(-5000.0),
    ];
    let weight =
        prop_oneof![3 => Just(1.0), 1 => Just(0.1), 1 => Just(0.0), 1 => 1e-9..1e9f64, 1 => Just(1e100)];
    (0..KNOWN.len(), prop::option::weighted(0.9, 0usize..3), prop::array::uniform3(log_joint), weight)
}

fn evaluation(rows: &[Prediction]) -> Evaluation {
    let mut evaluation = Evaluation::new();
    for same in rows.chunk_by(|a, b| a.0 == b.0) {
        let known = KNOWN[same[0].0];
        let classes: Vec<Option<usize>> = same.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = same.iter().map(|row| row.3).collect();
        let log_joint = same.iter().flat_map(|row| row.2[..known.len()].to_vec()).collect();
        evaluation
            .observe(&names(known), &batch(&classes, &weights), &scores(known.len(), log_joint), "b")
            .unwrap();
    }
    evaluation
}

/// The report with every digit, NaN included.
fn digits(evaluation: &Evaluation) -> String {
    format!("{:?}", evaluation.report())
}

proptest! {
    #[test]
    fn parts_merged_are_the_whole(
        rows in prop::collection::vec(prediction(), 0..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        start in any::<prop::sample::Index>(),
    ) {
        let whole = evaluation(&rows);
        let mut turned = rows.clone();
        turned.rotate_left(start.index(rows.len().max(1)));
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).chain([rows.len()]).collect();
        ends.sort_unstable();
        let mut parts = Vec::new();
        let mut begin = 0;
        for end in ends {
            parts.push(evaluation(&turned[begin..end]));
            begin = end;
        }
        // From the left, and from the right as a tree that leans the other way.
        let mut left = Evaluation::new();
        parts.iter().for_each(|part| left.merge(part));
        let right = parts.iter().rev().fold(Evaluation::new(), |sum, part| {
            let mut merged = part.clone();
            merged.merge(&sum);
            merged
        });
        prop_assert_eq!(digits(&whole), digits(&left));
        prop_assert_eq!(digits(&whole), digits(&right));
    }
}

/// Rows of few kinds: class, a category, a number.
fn few_kinds() -> impl Strategy<Value = Vec<(usize, Option<usize>, f64)>> {
    let number = prop_oneof![Just(0.0), Just(-0.0), Just(1.5), Just(f64::NAN)];
    prop::collection::vec((0usize..3, prop::option::of(0usize..3), number), 1..120)
}

fn table(rows: &[(usize, Option<usize>, f64)]) -> Batch {
    let category = rows.iter().map(|row| row.1.map(|value| CLASSES[value])).collect();
    let classes: Vec<Option<usize>> = rows.iter().map(|row| Some(row.0)).collect();
    let numbers = rows.iter().map(|row| row.2).collect();
    Batch {
        columns: vec![BatchColumn::Category(category), BatchColumn::Number(numbers)],
        ..batch(&classes, &[])
    }
}

proptest! {
    #[test]
    fn rows_that_are_alike_count_as_if_each_was_scored(learnt in few_kinds(), asked in few_kinds()) {
        let columns = vec![Column::new("c", Kind::Category), Column::new("x", Kind::Number)];
        let schema = Schema::new("y", columns).unwrap();
        let mut statistics = Statistics::empty(&schema);
        statistics.observe(&table(&learnt)).unwrap();
        let model = statistics.estimate(&Settings::default()).unwrap();

        let asked = table(&asked);
        let mut each = Evaluation::new();
        each.observe(model.classes(), &asked, &model.score(&asked).unwrap(), "a").unwrap();
        let parts = FoldParts::new(&asked, &vec![Some(0); asked.rows]).unwrap();
        let mut kinds = Evaluation::new();
        for part in parts.parts() {
            part.evaluate(&schema, &model, "a", &mut kinds).unwrap();
        }
        prop_assert_eq!(digits(&each), digits(&kinds));
        if asked.rows >= 96 {
            // 48 kinds at most.
            prop_assert!(parts.memory() < asked.memory());
        }
    }
}

#[test]
fn a_fault_in_a_fold_is_told_by_its_row_in_the_table() {
    let schema = Schema::new("y", vec![Column::new("a", Kind::Category)]).unwrap();
    let mut batch = Batch::from_rows(&[("p", [Some("u")]), ("q", [Some("v")]), ("p", [Some("w")])]);
    batch.first_row = 100;
    batch.weights = vec![1.0, 1.0, -2.0];
    let assigned = [Some(0), Some(0), Some(1)];
    let error = FoldStatistics::empty(&schema, 2).observe(&batch, &assigned).unwrap_err();
    assert_eq!(error, Error::Weight { row: 102, weight: -2.0 });

    batch.weights[2] = 1e200;
    let error = FoldParts::new(&batch, &assigned).unwrap_err();
    assert_eq!(error, Error::HeavyRow { row: 102, weight: 1e200, limit: HEAVIEST_ROW });

    let schema = Schema::new("y", vec![Column::new("x", Kind::Number)]).unwrap();
    let value = f64::INFINITY;
    batch.columns = vec![BatchColumn::Number(vec![1.0, 2.0, value])];
    batch.weights.clear();
    let error = FoldStatistics::empty(&schema, 2).observe(&batch, &assigned).unwrap_err();
    assert_eq!(error, Error::Infinite { row: 102, column: "x".into(), value });
}

proptest! {
    #[test]
    fn halves_are_rounded_away_from_zero(bits in any::<u64>(), halves in -9i64..9, places in 0..60u32) {
        let near = halves as f64 / 2.0 + (places as f64 - 30.0) * f64::EPSILON;
        let large = (1u64 << 52) as f64 + halves as f64 / 2.0;
        for x in [f64::from_bits(bits), halves as f64 / 2.0, near, large, -large, large / 2.0, -large / 2.0] {
            prop_assert_eq!(round(x).to_bits(), x.round().to_bits(), "{}", x);
        }
    }
}

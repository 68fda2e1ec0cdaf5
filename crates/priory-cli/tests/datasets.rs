//! Real tables, with no flag but the target: they train, predict and evaluate, and not by luck.
//!
//! The data are looked for under `PRIORY_DATA`; a test whose data are not there says so and passes.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "a test says what it skipped")]

#[path = "../../../testdata/datasets.rs"]
mod datasets;

use std::process::Command;

struct Dataset {
    /// Below the folder of all data sets.
    file: &'static str,
    target: &'static str,
    /// Identifiers and leaks that the description of the data names.
    ignore: &'static [&'static str],
    rows: u64,
    /// What always answering the largest class reaches, to three digits, and what we must reach at least.
    majority: f64,
    accuracy: f64,
}

#[test]
fn mushroom() {
    check(&Dataset {
        file: "mushroom/mushroom.csv",
        target: "class",
        ignore: &[],
        rows: 8124,
        majority: 0.518,
        accuracy: 0.95,
    });
}

#[test]
fn house_votes_84() {
    check(&Dataset {
        file: "house_votes_84/house_votes_84.csv",
        target: "party",
        ignore: &[],
        rows: 435,
        majority: 0.614,
        accuracy: 0.89,
    });
}

#[test]
fn titanic() {
    let ignore = &["name", "ticket", "cabin"];
    check(&Dataset {
        file: "titanic/titanic.csv",
        target: "survived",
        ignore,
        rows: 891,
        majority: 0.616,
        accuracy: 0.74,
    });
}

#[test]
fn adult() {
    check(&Dataset {
        file: "adult/adult_train.csv.gz",
        target: "income",
        ignore: &[],
        rows: 32561,
        majority: 0.759,
        accuracy: 0.82,
    });
}

/// Heavy tails: a single Gaussian per class, with an accuracy of 0.73, is worse here than no model.
#[test]
fn shuttle() {
    check(&Dataset {
        file: "shuttle/shuttle.csv.gz",
        target: "class",
        ignore: &[],
        rows: 58000,
        majority: 0.786,
        accuracy: 0.99,
    });
}

#[test]
fn electricity() {
    check(&Dataset {
        file: "electricity/electricity.csv.gz",
        target: "direction",
        ignore: &[],
        rows: 45312,
        majority: 0.575,
        accuracy: 0.72,
    });
}

#[test]
fn kddcup99() {
    check(&Dataset {
        file: "kddcup99_10pct/kddcup99_10pct.csv.gz",
        target: "label",
        ignore: &[],
        rows: 494_021,
        majority: 0.568,
        accuracy: 0.80,
    });
}

fn check(dataset: &Dataset) {
    let Some(path) = datasets::dataset(dataset.file) else { return };
    let data = path.to_str().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let model = scratch.path().join("m.priory");
    let model = model.to_str().unwrap();
    let mut about = vec!["--target", dataset.target];
    dataset.ignore.iter().for_each(|column| about.extend(["--ignore", column]));

    run(&[&["train", data, "-o", model][..], &about].concat());
    let predictions = run(&["predict", model, data, "--probabilities"]);
    assert_eq!(predictions.lines().count() as u64, dataset.rows + 1);

    let report: serde_json::Value =
        serde_json::from_str(&run(&[&["evaluate", data, "--format", "json"][..], &about].concat())).unwrap();
    assert_eq!(report["rows"], dataset.rows);
    let number = |name: &str| report[name].as_f64().unwrap();
    assert!((number("baseline_accuracy") - dataset.majority).abs() < 1e-3, "{}", number("baseline_accuracy"));
    assert!(number("accuracy") >= dataset.accuracy, "accuracy {}", number("accuracy"));
}

fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_priory")).args(arguments).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "priory {}: {message}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

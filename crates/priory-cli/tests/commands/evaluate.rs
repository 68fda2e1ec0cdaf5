//! What `evaluate` reports, whatever the split.

use super::*;

#[test]
fn a_tiny_table_gives_what_a_hand_computes() {
    let folder = Folder::new();
    folder.write("train.csv", "a,y\n0,p\n0,p\n1,q\n").write("test.csv", "a,y\n0,p\n1,p\n1,q\n");
    let report = folder.json("evaluate train.csv --target y --test test.csv");
    let names = ["rows", "classes", "accuracy", "log_loss", "brier", "ece", "roc_auc", "macro_f1"];
    assert_has(&report, &names);
    assert_has(&report, &["confusion", "baseline_accuracy", "folds"]);

    // Laplace: P(p) = 2/3, P(a=0 | p) = 3/4, P(a=0 | q) = 1/3; so P(p | 0) = 9/11 and P(p | 1) = 3/7.
    let (p0, p1) = (9.0_f64 / 11.0, 3.0_f64 / 7.0);
    let expected = [
        ("accuracy", 2.0 / 3.0),
        ("log_loss", -(p0.ln() + p1.ln() + (1.0 - p1).ln()) / 3.0),
        ("brier", 2.0 * ((1.0 - p0).powi(2) + (1.0 - p1).powi(2) + p1.powi(2)) / 3.0),
        // One bin holds the first row, another the two of confidence 4/7, of which one is right.
        ("ece", ((1.0 - p0) + (8.0 / 7.0 - 1.0)) / 3.0),
        ("roc_auc", 0.75), // above one of two, level with the other
        ("macro_f1", 2.0 / 3.0),
        ("baseline_accuracy", 2.0 / 3.0),
    ];
    expected.iter().for_each(|(name, value)| assert_close(&report[name], *value, 1e-14));
    assert_eq!(report["rows"], 3);
    assert_eq!(report["classes"], serde_json::json!(["p", "q"]));
    assert_eq!(report["confusion"], serde_json::json!([[1.0, 1.0], [0.0, 1.0]]));
    assert_eq!(report["folds"], Value::Null);
}

#[test]
fn every_way_to_split_tests_the_right_number_of_rows() {
    let folder = Folder::new();
    let evaluate = "evaluate examples/penguins.csv --target species";
    let rows_and_folds = |how: &str| {
        let report = folder.json(&format!("{evaluate}{how}"));
        let tested: f64 = report["confusion"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| row.as_array().unwrap())
            .map(number)
            .sum();
        assert_eq!(tested, number(&report["rows"]));
        (report["rows"].as_u64().unwrap(), report["folds"].clone())
    };
    assert_eq!(rows_and_folds(""), (344, 10.into()));
    assert_eq!(rows_and_folds(" --folds 5"), (344, 5.into()));
    assert_eq!(rows_and_folds(" --leave-one-out"), (344, Value::Null));
    assert_eq!(rows_and_folds(" --test examples/penguins.csv"), (344, Value::Null));
    // A quarter of 152, 68 and 124, each to within a row.
    let (held_out, folds) = rows_and_folds(" --holdout 0.25");
    assert!((83..=89).contains(&held_out), "{held_out}");
    assert_eq!(folds, Value::Null);
}

#[test]
fn a_seed_decides_and_nothing_else_does() {
    let folder = Folder::new();
    for how in ["", " --holdout 0.3"] {
        let report = |seed: u32| {
            folder.json(&format!("evaluate examples/penguins.csv --target species{how} --seed {seed}"))
        };
        assert_eq!(report(1), report(1));
        assert_ne!(report(1), report(2));
    }
}

#[test]
fn leave_one_out_is_as_many_folds_as_rows() {
    // Fourteen models, each trained on thirteen days and asked about the other.
    let folder = Folder::new();
    let days = fs::read_to_string(folder.path("examples/tennis.csv")).unwrap();
    let (header, rows) = days.split_once('\n').unwrap();
    let mut right = 0;
    for (i, row) in rows.lines().enumerate() {
        let others: Vec<&str> =
            rows.lines().enumerate().filter(|(j, _)| i != *j).map(|(_, row)| row).collect();
        folder.write("train.csv", &format!("{header}\n{}\n", others.join("\n")));
        folder.write("test.csv", &format!("{header}\n{row}\n"));
        folder.train("train.csv --target play");
        let predicted = folder.stdout("predict trained.priory test.csv");
        right += usize::from(row.ends_with(&format!(",{}", predicted.lines().nth(1).unwrap())));
    }
    let report = folder.json("evaluate examples/tennis.csv --target play --leave-one-out");
    assert_close(&report["accuracy"], right as f64 / 14.0, 1e-15);
}

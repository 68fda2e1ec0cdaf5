//! Real tables, with no flag but the target: they train, predict and evaluate, and not by luck.
//!
//! The data are looked for under `PRIORY_DATA`; a test whose data are not there says so and passes.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "a test says what it skipped")]

#[path = "../../../testdata/datasets.rs"]
mod datasets;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::MultiGzDecoder;

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

/// What the columns of numbers say about a row is what the counts say.
#[test]
fn adult_is_explained_by_its_counts() {
    const NUMBERS: [&str; 6] =
        ["age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"];
    let Some(path) = datasets::dataset("adult/adult_train.csv.gz") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let model = scratch.path().join("m.priory");
    let model = model.to_str().unwrap();
    let target = ["--target", "income", "--judge", "none"];
    run(&[&["train", path.to_str().unwrap(), "-o", model][..], &target].concat());
    let rows = csv_rows(&path);
    let classes = ["<=50K", ">50K"];
    let position = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    let class_of = |row: &Vec<String>| classes.iter().position(|class| row[position("income")] == *class);
    let summary: serde_json::Value =
        serde_json::from_str(&run(&["show", model, "--format", "json"])).unwrap();
    let (mut atoms_met, mut bins_met) = (0, 0);
    for column in NUMBERS {
        let at = position(column);
        let mut counts: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
        for row in &rows[1..] {
            let x: u64 = row[at].parse().unwrap();
            counts.entry(x).or_default()[class_of(row).unwrap()] += 1.0;
        }
        let totals = [0, 1].map(|class| counts.values().map(|counts| counts[class]).sum::<f64>());
        let contributions = contributions(scratch.path(), model, column, counts.keys().copied());
        let features = summary["features"].as_array().unwrap();
        let feature = features.iter().find(|feature| feature["name"] == column).unwrap();

        // Atoms: the logarithms of shrunk shares, computed here from the counts.
        let atoms: Vec<u64> = feature["atoms"].as_array().map_or_else(Vec::new, |atoms| {
            atoms.iter().filter_map(|atom| atom["value"].as_str().unwrap().parse().ok()).collect()
        });
        let share = |x: u64, class: usize, strength: f64| {
            let n = totals[0] + totals[1];
            let q = (counts[&x][0] + counts[&x][1] + 0.5) / (n + 0.5 * (atoms.len() + 1) as f64);
            (counts[&x][class] + strength * q) / (totals[class] + strength)
        };
        let is_explained = |strength: f64| {
            let ratio = |x: &u64| (share(*x, 1, strength) / share(*x, 0, strength)).ln();
            atoms.iter().all(|x| (contributions[x] - ratio(x)).abs() < 1e-10)
        };
        assert!([32.0, 64.0, 128.0, 256.0].into_iter().any(is_explained), "{column}: {atoms:?}");
        atoms_met += atoms.len();

        // Single numbers with at least 100 rows of each class.
        for (x, counts) in counts.iter().filter(|(_, counts)| counts.iter().all(|&n| n >= 100.0)) {
            let ratio = (counts[1] / totals[1] / (counts[0] / totals[0])).ln();
            let off = contributions[x] - ratio;
            assert!(off.abs() < 0.3, "{column} = {x}: {} instead of {ratio}", contributions[x]);
            bins_met += 1;
        }
    }
    assert!(atoms_met >= 10 && bins_met >= 50, "{atoms_met} atoms, {bins_met} numbers");
}

/// What a column says for the second class and against the first, for each of these numbers.
fn contributions(
    folder: &Path,
    model: &str,
    column: &str,
    numbers: impl Iterator<Item = u64>,
) -> BTreeMap<u64, f64> {
    let numbers: Vec<u64> = numbers.collect();
    let lines: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let table = folder.join("numbers.csv");
    std::fs::write(&table, format!("{column}\n{}\n", lines.join("\n"))).unwrap();
    let explained = run(&["explain", model, table.to_str().unwrap(), "--format", "json"]);
    let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
    let contribution = |row: &serde_json::Value| {
        let all = row["contributions"].as_array().unwrap();
        let own = all.iter().find(|contribution| contribution["feature"] == column).unwrap();
        let ln = |class: &str| own["log_likelihood"][class].as_f64().unwrap();
        ln(">50K") - ln("<=50K")
    };
    numbers.into_iter().zip(explained["rows"].as_array().unwrap().iter().map(contribution)).collect()
}

/// The fields of a packed table in which nothing is quoted.
fn csv_rows(path: &Path) -> Vec<Vec<String>> {
    let mut text = String::new();
    let mut unpacked = flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap());
    unpacked.read_to_string(&mut text).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
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

/// Models that know as many rows of each class are asked about rows of which one in ten is of one class: the shares are found to
/// within two points, without a look at any class.
#[test]
fn shares_of_the_classes_are_found() {
    for (file, target, class) in [
        ("electricity/electricity.csv.gz", "direction", "UP"),
        ("adult/adult_train.csv.gz", "income", ">50K"),
    ] {
        let Some(path) = datasets::dataset(file) else { continue };
        let mut table = String::new();
        MultiGzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut table).unwrap();
        let (header, rows) = table.split_once('\n').unwrap();
        let folder = tempfile::tempdir().unwrap();
        let position = header.split(',').position(|name| name == target).unwrap();
        // Every other row is for training; what is taken of them is spread over the whole table.
        let of = |offset: usize, is_class: bool| -> Vec<&str> {
            let rows = rows.lines().skip(offset).step_by(2);
            rows.filter(|row| (row.split(',').nth(position) == Some(class)) == is_class).collect()
        };
        let write = |name: &str, offset: usize, share: f64| {
            let (some, others) = (of(offset, true), of(offset, false));
            let all = (some.len() as f64 / share).min(others.len() as f64 / (1.0 - share));
            let spread = |rows: &[&str], count: f64| -> Vec<String> {
                (0..count as usize).map(|i| rows[i * rows.len() / count as usize].to_owned()).collect()
            };
            let rows = [spread(&some, all * share), spread(&others, all * (1.0 - share))].concat();
            std::fs::write(folder.path().join(name), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        };
        let run = |arguments: &[&str]| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_priory"));
            let output = program.args(arguments).current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stderr).unwrap()
        };
        write("even.csv", 0, 0.5);
        run(&["train", "even.csv", "--target", target, "-o", "m.priory"]);
        for share in [0.1, 0.9] {
            write("moved.csv", 1, share);
            let told =
                run(&["predict", "m.priory", "moved.csv", "--prior", "estimate", "-o", "predicted.csv"]);
            let found = told.split_once(&format!("{class} ")).unwrap().1.split_once(" %").unwrap().0;
            let found: f64 = found.parse().unwrap();
            assert!((found - 100.0 * share).abs() <= 2.0, "{file}: {told}");
        }
    }
}

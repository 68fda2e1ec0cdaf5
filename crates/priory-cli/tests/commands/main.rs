//! What a transcript cannot show: JSON, bytes on disk, processes that are killed or run at the same time, exit codes.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder of its own for each test, in which the program runs; `examples/` is the project's.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap();
        std::os::unix::fs::symlink(examples, folder.path().join("examples")).unwrap();
        Folder { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program with these arguments, which are separated by spaces.
    fn command(&self, arguments: &str) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_priory"));
        command.args(arguments.split(' ')).current_dir(self.folder.path());
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    /// Runs the program and returns what came of it, whatever that is.
    fn run(&self, arguments: &str) -> Output {
        assert_cmd::Command::from_std(self.command(arguments)).output().unwrap()
    }

    /// Runs the program, which succeeds, and returns its standard output.
    fn stdout(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.stdout(&format!("{arguments} --format json"))).unwrap()
    }

    /// Runs the program, which fails with this exit code, and returns its standard error.
    fn fails(&self, code: i32, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stderr)
    }

    /// Trains on a table and returns the bytes of the model.
    fn train(&self, arguments: &str) -> Vec<u8> {
        self.stdout(&format!("train {arguments} -o trained.priory"));
        self.bytes("trained.priory")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A table of these lines under the header `a,b,w,y`.
fn table(rows: &[&str]) -> String {
    format!("a,b,w,y\n{}\n", rows.join("\n"))
}

/// A table with many different rows: `rows` of them, 4 columns, 3 classes.
fn large_table(rows: u32, seed: u32) -> String {
    let mut table = String::from("a,b,c,d,y\n");
    let mut x = seed;
    for _ in 0..rows {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let digits = [x >> 8 & 7, x >> 12 & 15, x >> 17 & 3, x >> 20 & 1, (x >> 24) % 3];
        table.push_str(&digits.map(|digit| digit.to_string()).join(","));
        table.push('\n');
    }
    table
}

fn assert_has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "`{name}` is not in {value}");
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn assert_close(value: &Value, expected: f64, within: f64) {
    assert!((number(value) - expected).abs() <= within, "{value} is not {expected}");
}

mod json {
    use super::*;

    #[test]
    fn show_has_its_names_and_the_lecture_fractions() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play --smoothing none -o m.priory");
        let shown = folder.json("show m.priory");
        assert_has(&shown, &["rows", "classes", "features", "parameters"]);
        assert_has(&shown["parameters"], &["naive", "joint"]);
        assert_has(&shown["classes"][0], &["name", "weight", "prior", "fraction"]);
        assert_has(&shown["features"][0], &["name", "kind", "family", "values"]);
        let value = &shown["features"][0]["values"][0];
        assert_has(value, &["value", "count", "probability", "fraction"]);
        ["count", "probability", "fraction"].iter().for_each(|name| assert_has(&value[name], &["+", "-"]));

        assert_eq!(shown["rows"], 14);
        assert_eq!(shown["classes"][0]["fraction"], "9/14");
        assert_eq!(shown["classes"][1]["fraction"], "5/14");
        let outlook = &shown["features"][0];
        assert_eq!((&outlook["name"], &outlook["kind"]), (&"outlook".into(), &"category".into()));
        assert_eq!(outlook["family"], "categorical");
        let of =
            |name: &str| outlook["values"].as_array().unwrap().iter().find(|v| v["value"] == name).unwrap();
        assert_eq!(
            ["S", "R", "O"].map(|name| of(name)["fraction"]["+"].as_str().unwrap()),
            ["2/9", "3/9", "4/9"]
        );
        assert_eq!(number(&of("S")["probability"]["+"]), 2.0 / 9.0);
        assert_eq!(of("S")["count"]["+"], 2.0);
        assert_eq!((&shown["parameters"]["naive"], &shown["parameters"]["joint"]), (&12.into(), &70.into()));
    }

    #[test]
    fn explain_has_its_names_and_the_lecture_posterior() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play --smoothing none -o m.priory");
        let explained = folder.json("explain m.priory --set outlook=S,temperature=C,humidity=H,wind=S");
        let row = &explained["rows"][0];
        let names = ["prediction", "posterior", "log_joint", "log_evidence", "no_evidence", "prior"];
        assert_has(row, &names);
        assert_has(row, &["contributions", "fraction"]);
        let first = &row["contributions"][0];
        assert_has(first, &["feature", "value", "log_likelihood", "fraction"]);

        assert_eq!((&row["prediction"], &row["no_evidence"]), (&"-".into(), &false.into()));
        assert_close(&row["posterior"]["-"], 0.7954, 5e-5);
        assert_eq!(row["fraction"]["posterior"]["-"], "486/611");
        assert_eq!((&first["feature"], &first["value"]), (&"outlook".into(), &"S".into()));
        assert_eq!((&first["fraction"]["+"], &first["fraction"]["-"]), (&"2/9".into(), &"3/5".into()));
        assert_close(&row["prior"]["+"], 9.0 / 14.0, 1e-15);
    }

    #[test]
    fn contributions_add_up_to_the_last_bit() {
        let folder = Folder::new();
        folder.stdout("train examples/penguins.csv --target species -o m.priory");
        let explained = folder.json("explain m.priory examples/penguins.csv");
        let rows = explained["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 344);
        for row in rows {
            for class in ["Adelie", "Chinstrap", "Gentoo"] {
                let mut sum = number(&row["log_prior"][class]);
                for contribution in row["contributions"].as_array().unwrap() {
                    sum += number(&contribution["log_likelihood"][class]);
                }
                assert_eq!(sum.to_bits(), number(&row["log_joint"][class]).to_bits());
            }
        }
    }

    #[test]
    fn movies_and_mails_come_out_as_in_the_lectures() {
        let folder = Folder::new();
        folder.stdout("train examples/movies.csv --target lord_of_the_rings --smoothing none -o m.priory");
        for (smoothing, expected) in [("none", [-2.05, -1.72]), ("laplace", [-2.06, -1.74])] {
            let row = folder
                .json(&format!("explain m.priory --set star_wars=1,harry_potter=0 --smoothing {smoothing}"));
            let row = &row["rows"][0];
            assert_eq!(row["prediction"], "1");
            assert_close(&row["log_joint"]["0"], expected[0], 0.005);
            assert_close(&row["log_joint"]["1"], expected[1], 0.005);
        }

        folder.stdout("train examples/emails.csv --target label --smoothing none -o m.priory");
        let row = folder.json("explain m.priory --set book=1,buy=1,do=0,drugs=0,math=0,today=1");
        assert_eq!(row["rows"][0]["fraction"]["posterior"]["spam"], "256/499");
        let shown = folder.json("show m.priory --smoothing laplace");
        let drugs = shown["features"].as_array().unwrap().iter().find(|f| f["name"] == "drugs").unwrap();
        assert_eq!(drugs["values"][1]["value"], "1");
        assert_eq!(drugs["values"][1]["fraction"]["ham"], "1/4");
    }

    #[test]
    fn nothing_known_and_nothing_possible_are_told_apart() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play --smoothing none -o m.priory");
        let row = &folder.json("explain m.priory --set outlook=?")["rows"][0];
        assert_eq!(row["no_evidence"], true);
        ["+", "-"]
            .iter()
            .for_each(|class| assert_close(&row["posterior"][class], number(&row["prior"][class]), 1e-15));
        let row = &folder.json("explain m.priory --set outlook=fog")["rows"][0];
        assert_eq!((&row["no_evidence"], &row["impossible"]), (&false.into(), &true.into()));
        assert_eq!(row["log_evidence"], Value::Null);
    }
}

mod evaluate {
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
}

mod bytes {
    use super::*;

    const ROWS: [&str; 7] =
        ["u,1,0.1,p", "v,0,0.2,q", "u,0,0.3,p", ",1,1e-17,q", "v,1,3,p", "é,?,0.7,p", "\"x,y\",0,1e15,r"];

    #[test]
    fn forget_undoes_learn() {
        for weight in ["--weight w", "--ignore w"] {
            let folder = Folder::new();
            folder.write("first.csv", &table(&ROWS[..3])).write("more.csv", &table(&ROWS[3..]));
            folder.stdout(&format!("train first.csv --target y {weight} -o m.priory"));
            let before = folder.bytes("m.priory");
            folder.stdout("learn m.priory more.csv");
            assert_ne!(folder.bytes("m.priory"), before);
            folder.stdout("forget m.priory more.csv");
            assert_eq!(folder.bytes("m.priory"), before, "{weight}");
        }
    }

    #[test]
    fn learning_is_training_and_no_order_or_split_shows() {
        for options in
            ["--target y --weight w", "--target y --ignore w", "--target y --ignore w --as *=joint"]
        {
            let folder = Folder::new();
            let mut backwards = ROWS;
            backwards.reverse();
            folder.write("all.csv", &table(&ROWS)).write("backwards.csv", &table(&backwards));
            folder.write("a.csv", &table(&ROWS[..2])).write("b.csv", &table(&ROWS[2..]));
            let whole = folder.train(&format!("all.csv {options}"));
            assert_eq!(folder.train(&format!("backwards.csv {options}")), whole, "{options}");
            assert_eq!(folder.train(&format!("a.csv b.csv {options}")), whole, "{options}");
            assert_eq!(folder.train(&format!("b.csv a.csv {options}")), whole, "{options}");

            folder.stdout(&format!("train a.csv {options} -o a.priory"));
            folder.stdout(&format!("train b.csv {options} -o b.priory"));
            for order in ["a.priory b.priory", "b.priory a.priory"] {
                folder.stdout(&format!("merge {order} -o both.priory"));
                assert_eq!(folder.bytes("both.priory"), whole, "{options}");
            }
            folder.stdout("learn a.priory b.csv");
            assert_eq!(folder.bytes("a.priory"), whole, "{options}");
        }
    }

    #[test]
    fn standard_input_is_a_table_like_any_other() {
        let folder = Folder::new();
        let piped = |arguments: &str| {
            let table = folder.bytes("examples/tennis.csv");
            let output =
                assert_cmd::Command::from_std(folder.command(arguments)).write_stdin(table).output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            text(&output.stdout)
        };
        folder.stdout("train examples/tennis.csv --target play -o file.priory");
        piped("train - --target play -o pipe.priory");
        assert_eq!(folder.bytes("pipe.priory"), folder.bytes("file.priory"));
        for command in [
            "predict file.priory DATA --probabilities",
            "explain file.priory DATA",
            "evaluate DATA --target play",
        ] {
            let from_file = folder.stdout(&command.replace("DATA", "examples/tennis.csv"));
            assert_eq!(piped(&command.replace("DATA", "-")), from_file);
        }
    }

    #[test]
    fn predictions_in_a_file_are_those_on_standard_output() {
        let folder = Folder::new();
        folder.stdout("train examples/penguins.csv --target species -o m.priory");
        let printed = folder.stdout("predict m.priory examples/penguins.csv --probabilities");
        folder.stdout("predict m.priory examples/penguins.csv --probabilities -o out.csv");
        assert_eq!(text(&folder.bytes("out.csv")), printed);
        assert_eq!(printed.lines().count(), 345);
    }

    #[test]
    fn what_was_never_learnt_is_not_forgotten() {
        let folder = Folder::new();
        folder.write("rows.csv", "a,b,y\n1,2,p\n3,?,q\n");
        folder.stdout("train rows.csv --target y -o m.priory");
        let before = folder.bytes("m.priory");
        let cases = [
            ("1,2,p\n9,2,p\n", ["row 2", "a=9", "y=p"]), // a value that never was
            ("3,?,q\n1,2,zz\n", ["row 2", "a=1", "y=zz"]), // a class that never was
            ("1,2,p\n3,?,q\n1,2,p\n", ["row 3", "a=1", "y=p"]), // once more than it was learnt
            ("1,?,p\n", ["row 1", "missing b", "y=p"]),  // missing where it was not
        ];
        for (rows, named) in cases {
            folder.write("never.csv", &format!("a,b,y\n{rows}"));
            let told = folder.fails(1, "forget m.priory never.csv");
            named.iter().for_each(|part| assert!(told.contains(part), "{part} is not in {told}"));
            assert!(told.contains("never.csv"), "{told}");
            assert_eq!(folder.bytes("m.priory"), before);
        }
        // The first table could be forgotten, the second not: nothing is.
        folder.write("fine.csv", "a,b,y\n1,2,p\n");
        folder.fails(1, "forget m.priory fine.csv never.csv");
        assert_eq!(folder.bytes("m.priory"), before);
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play -o m.priory");
        let before = folder.bytes("m.priory");
        folder.write("ragged.csv", "outlook,temperature,humidity,wind,play\nS,C,H,W,+\nS\n");
        for arguments in [
            "learn m.priory ragged.csv",
            "learn m.priory examples/tennis.csv ragged.csv",
            "train ragged.csv --target play -o m.priory",
            "merge m.priory examples/tennis.csv -o m.priory",
            "predict m.priory ragged.csv -o m.priory",
        ] {
            folder.fails(1, arguments);
            assert_eq!(folder.bytes("m.priory"), before, "priory {arguments}");
        }
        let names = fs::read_dir(folder.folder.path()).unwrap().count();
        assert_eq!(names, 3, "only the examples, the table and the model are left");
    }

    #[test]
    fn settings_can_be_changed_without_the_data() {
        let folder = Folder::new();
        folder.write("beta.csv", "column,value,beta\nwind,S,3\nwind,W,2\n");
        folder.stdout("train examples/tennis.csv --target play -o plain.priory");
        for settings in [
            "--smoothing none --prior uniform",
            "--smoothing lidstone:0.5 --prior smoothed:2",
            "--smoothing background:0.7 --prior given:+=0.25,-=0.75",
            "--smoothing laplace --smoothing wind=dirichlet:beta.csv",
            "--smoothing outlook=lidstone:3 --missing-values counted",
        ] {
            folder.stdout(&format!("train examples/tennis.csv --target play {settings} -o set.priory"));
            assert_eq!(
                folder.json(&format!("show plain.priory {settings}")),
                folder.json("show set.priory"),
                "{settings}"
            );
            assert_ne!(folder.json("show plain.priory"), folder.json("show set.priory"), "{settings}");
            for command in
                ["predict MODEL examples/tennis.csv --probabilities", "explain MODEL examples/tennis.csv"]
            {
                let changed =
                    folder.stdout(&format!("{} {settings}", command.replace("MODEL", "plain.priory")));
                assert_eq!(changed, folder.stdout(&command.replace("MODEL", "set.priory")), "{settings}");
            }
        }
    }
}

mod processes {
    use super::*;

    fn start(folder: &Folder, arguments: &str) -> Child {
        folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_kill_at_any_moment_leaves_the_old_or_the_new_file() {
        const TRIES: u32 = 30;
        let folder = Folder::new();
        folder.write("old.csv", &large_table(2_000, 1)).write("more.csv", &large_table(60_000, 2));
        folder.stdout("train old.csv --target y -o m.priory");
        let old = folder.bytes("m.priory");
        let started = Instant::now();
        folder.stdout("learn m.priory more.csv");
        let whole = started.elapsed();
        let new = folder.bytes("m.priory");
        assert_ne!(old, new);

        let mut survived = 0;
        for i in 0..=TRIES {
            fs::write(folder.path("m.priory"), &old).unwrap();
            let mut child = start(&folder, "learn m.priory more.csv");
            // From at once to a little after it would be done; the last one is not killed at all.
            if i < TRIES {
                std::thread::sleep(whole.mul_f64(1.1 * f64::from(i) / f64::from(TRIES)));
                child.kill().unwrap();
            }
            child.wait().unwrap();
            let left = folder.bytes("m.priory");
            assert!(
                left == old || left == new,
                "killed in try {i}, neither the old file nor the new is left"
            );
            survived += u32::from(left == new);
            // Nobody holds a lock any more, and the file can be used.
            if i % 10 == 0 {
                folder.stdout("show m.priory");
                folder.stdout("learn m.priory old.csv");
            }
        }
        assert!((1..=TRIES).contains(&survived), "{survived} of {TRIES} kills came too late");

        let names = fs::read_dir(folder.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        let models: Vec<&String> = names.iter().filter(|name| name.ends_with(".priory")).collect();
        assert_eq!(models, ["m.priory"], "what is left behind does not look like a model");
        let known = |name: &String| {
            ["examples", "old.csv", "more.csv", "m.priory"].contains(&name.as_str())
                || name.starts_with(".priory-")
        };
        assert!(names.iter().all(known), "{names:?}");
    }

    #[test]
    fn models_changed_at_the_same_time_lose_nothing() {
        const WRITERS: u32 = 5;
        let folder = Folder::new();
        folder.write("first.csv", &large_table(10, 0));
        let tables: Vec<String> = (1..=WRITERS).map(|i| format!("{i}.csv")).collect();
        (1..=WRITERS).for_each(|i| {
            folder.write(&format!("{i}.csv"), &large_table(3_000, i));
        });
        let expected = folder.train(&format!("first.csv {} --target y", tables.join(" ")));

        folder.stdout("train first.csv --target y -o m.priory");
        let children: Vec<Child> =
            tables.iter().map(|table| start(&folder, &format!("learn m.priory {table}"))).collect();
        for child in children {
            assert!(child.wait_with_output().unwrap().status.success());
        }
        assert_eq!(folder.bytes("m.priory"), expected);
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let folder = Folder::new();
        folder.write("rows.csv", &large_table(6_000, 3));
        folder.stdout("train rows.csv --target y -o m.priory");
        for arguments in ["predict m.priory rows.csv --probabilities", "explain m.priory rows.csv --bits"] {
            let mut child = start(&folder, arguments);
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(!line.is_empty());
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            assert_eq!((child.wait().unwrap().code(), told.as_str()), (Some(0), ""), "priory {arguments}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_one_sentence() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play -o m.priory");
        for arguments in [
            "predict m.priory examples/tennis.csv",
            "show m.priory",
            "explain m.priory examples/tennis.csv",
            "evaluate examples/tennis.csv --target play",
            "completions fish",
        ] {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let output = folder.command(arguments).stdout(full).output().unwrap();
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "priory {arguments}");
            assert!(told.starts_with("error: standard output: ") && told.lines().count() == 1, "{told}");
        }
        let told = folder.fails(1, "predict m.priory examples/tennis.csv -o /dev/full");
        assert!(told.starts_with("error: /dev/full: ") && told.lines().count() == 1, "{told}");
    }

    #[test]
    fn evaluate_reads_a_pipe_although_it_needs_the_rows_twice() {
        let folder = Folder::new();
        let evaluate = format!("{} evaluate /dev/stdin --target play", env!("CARGO_BIN_EXE_priory"));
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("cat examples/tennis.csv | {evaluate}")])
            .current_dir(folder.folder.path())
            .output()
            .unwrap();
        assert_eq!(text(&output.stderr), "");
        assert_eq!(text(&output.stdout), folder.stdout("evaluate examples/tennis.csv --target play"));
    }
}

mod manners {
    use super::*;

    #[test]
    fn colours_appear_only_where_they_are_wanted() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play -o m.priory");
        let coloured = |arguments: &str, variables: &[&str]| {
            let mut command = folder.command(arguments);
            variables.iter().for_each(|name| {
                command.env(name, "1");
            });
            let output = command.output().unwrap();
            output.stdout.contains(&0x1b) || output.stderr.contains(&0x1b)
        };
        for arguments in [
            "show m.priory",
            "explain m.priory --set wind=S",
            "evaluate examples/tennis.csv --target play",
            "predict m.priory nowhere.csv",
        ] {
            assert!(!coloured(arguments, &[]), "priory {arguments}");
            assert!(!coloured(arguments, &["NO_COLOR"]), "priory {arguments}");
            assert!(!coloured(arguments, &["NO_COLOR", "CLICOLOR_FORCE"]), "priory {arguments}");
            assert!(coloured(arguments, &["CLICOLOR_FORCE"]), "priory {arguments}");
        }
        for arguments in ["show m.priory --format json", "predict m.priory examples/tennis.csv"] {
            assert!(!coloured(arguments, &["CLICOLOR_FORCE"]), "priory {arguments}");
        }
    }

    #[test]
    fn names_come_out_of_a_prediction_as_they_went_in() {
        let folder = Folder::new();
        let names =
            ["\u{1b}[31mred\u{1b}[0m", "b\u{7f}\u{1}c", "é漢🙂", "\"a,b\"", "\"q\"\"q\"", "\"two\nlines\""];
        let rows: String = names.iter().enumerate().map(|(i, name)| format!("{i},{name}\n")).collect();
        folder.write("rows.csv", &format!("a,y\n{rows}"));
        folder.stdout("train rows.csv --target y -o m.priory");
        assert_eq!(folder.stdout("predict m.priory rows.csv"), format!("prediction\n{}\n", names.join("\n")));
        let shown = folder.json("show m.priory");
        let classes: Vec<&str> = shown["classes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|class| class["name"].as_str().unwrap())
            .collect();
        assert!(classes.contains(&"b\u{7f}\u{1}c"), "{classes:?}");
    }

    #[test]
    fn wrong_usage_is_code_2_and_names_the_flag() {
        let folder = Folder::new();
        let cases = [
            ("train examples/tennis.csv", "--target"),
            ("train --target play", "DATA"),
            ("train examples/tennis.csv --target play --as wind=colour", "--as"),
            ("train examples/tennis.csv --target play --smoothing lots", "--smoothing"),
            ("train examples/tennis.csv --target play --smoothing lidstone:-1", "--smoothing"),
            ("train examples/tennis.csv --target play --prior given:+=2", "--prior"),
            ("train examples/tennis.csv --target play --missing-values perhaps", "--missing-values"),
            ("evaluate examples/tennis.csv --target play --folds 1", "--folds"),
            ("evaluate examples/tennis.csv --target play --holdout 1.5", "--holdout"),
            ("evaluate examples/tennis.csv --target play --folds 3 --leave-one-out", "--leave-one-out"),
            ("evaluate examples/tennis.csv --target play --seed x", "--seed"),
            ("evaluate examples/tennis.csv --target play --format xml", "--format"),
            ("explain m.priory", "DATA"),
            ("explain m.priory --set outlook", "--set"),
            ("merge a.priory b.priory", "--output"),
            ("merge a.priory -o b.priory", "MODEL"),
            ("show m.priory --colour", "--colour"),
            ("completions basic", "SHELL"),
        ];
        for (arguments, flag) in cases {
            let told = folder.fails(2, arguments);
            assert!(told.starts_with("error: ") && told.contains(flag), "priory {arguments}: {told}");
        }
    }

    #[test]
    fn failures_are_code_1_and_one_sentence_on_standard_error() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play -o m.priory");
        for arguments in [
            "train nowhere.csv --target play",
            "train examples/tennis.csv --target played",
            "train examples/tennis.csv --target play -o nowhere/m.priory",
            "train examples/movies.csv --target lord_of_the_rings --as *=joint --smoothing star_wars=none",
            "predict nowhere.priory examples/tennis.csv",
            "predict m.priory m.priory",
            "show examples/tennis.csv",
            "explain m.priory --set outlok=S",
            "explain m.priory --set outlook=S --bits --format json",
            "train examples/tennis.csv --target play --ignore play",
            "train examples/tennis.csv --target play --as play=number",
            "train examples/tennis.csv --target play --weight wind --ignore wind",
            "merge m.priory examples/tennis.csv -o n.priory",
            "manual nowhere",
        ] {
            let output = folder.run(arguments);
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "priory {arguments}");
            assert!(output.stdout.is_empty(), "priory {arguments}");
            let mut lines = told.lines();
            assert!(lines.next().unwrap().starts_with("error: "), "{told}");
            assert!(lines.next().is_none_or(|line| line.starts_with("hint: ")), "{told}");
            assert_eq!(lines.next(), None, "{told}");
        }
    }

    #[test]
    fn what_would_take_all_memory_is_refused() {
        let folder = Folder::new();
        let rows: String = (0..12_000).map(|i| format!("id{i},k{i}\n")).collect();
        folder.write("ids.csv", &format!("id,y\n{rows}"));
        let told = folder.fails(1, "train ids.csv --target y --as id=category --threads 1");
        assert!(
            told.contains("ids.csv: the column `id` has 12000 values") && told.contains("--ignore"),
            "{told}"
        );
        let classes: String = (0..66_000).map(|i| format!("0,k{i}\n")).collect();
        folder.write("classes.csv", &format!("a,y\n{classes}"));
        assert!(folder.fails(1, "train classes.csv --target y").contains("more than 65536 classes"));
    }

    #[test]
    fn every_command_helps_with_an_example() {
        let folder = Folder::new();
        for command in
            "schema train predict evaluate explain show learn forget merge completions manual".split(' ')
        {
            let help = folder.stdout(&format!("{command} --help"));
            assert!(help.contains("Example") && help.contains(&format!("priory {command} ")), "{help}");
        }
        assert!(folder.stdout("--help").contains("Exit codes: 0 done, 1 failed, 2 wrong usage"));
    }

    #[test]
    fn no_name_and_no_weight_spoils_a_report() {
        let folder = Folder::new();
        let rows = "\"two\nlines\",1e300,p\nv,5e-324,\u{1b}[31mq\n";
        folder.write("rows.csv", &format!("a,w,y\n{rows}"));
        folder.stdout("train rows.csv --target y --weight w -o m.priory");
        let shown = folder.stdout("show m.priory");
        assert!(shown.contains("two\\nlines") && shown.contains("\\u{1b}[31mq"), "{shown}");
        assert!(shown.contains("1.0000e300") && shown.contains("4.9407e-324"), "{shown}");
        assert!(shown.lines().all(|line| line.len() < 100), "{shown}");
    }

    #[test]
    fn completions_and_manual_pages_are_written() {
        let folder = Folder::new();
        for shell in ["bash", "zsh", "fish"] {
            let script = folder.stdout(&format!("completions {shell}"));
            assert!(script.contains("leave-one-out"), "{shell}");
        }
        fs::create_dir(folder.path("man")).unwrap();
        folder.stdout("manual man");
        assert!(text(&folder.bytes("man/priory-evaluate.1")).contains("leave"));
        assert_eq!(
            fs::read_dir(folder.path("man")).unwrap().count(),
            14,
            "the program and its thirteen commands"
        );
    }

    #[test]
    fn readers_do_not_wait_for_writers() {
        let folder = Folder::new();
        folder.stdout("train examples/tennis.csv --target play -o m.priory");
        // A learner that waits for its table holds the lock.
        let mut learner = folder
            .command("learn m.priory -")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(100));
        folder.stdout("predict m.priory examples/tennis.csv");
        learner.kill().unwrap();
        learner.wait().unwrap();
    }
}

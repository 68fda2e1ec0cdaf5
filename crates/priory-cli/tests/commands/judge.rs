//! Judged models: what the program says of them, and that they can be judged anew.

use crate::{Folder, text};

impl Folder {
    fn text(&self, name: &str) -> String {
        text(&self.bytes(name))
    }

    /// What the program, which succeeds, says beside its output.
    pub(crate) fn remarks(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stderr)
    }

    /// What the program, which fails, has against it.
    pub(crate) fn refusal(&self, arguments: &str) -> String {
        let message = self.fails(1, arguments);
        message.trim_start_matches("error: ").trim_end().to_owned()
    }
}

/// A folder with a table of penguins in two halves.
fn halves() -> Folder {
    let folder = Folder::new();
    let all = folder.text("examples/penguins.csv");
    let (header, rows) = all.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (name, half) in [("even.csv", 0), ("odd.csv", 1)] {
        let rows: Vec<&str> = rows.iter().skip(half).step_by(2).copied().collect();
        folder.write(name, &format!("{header}\n{}\n", rows.join("\n")));
    }
    folder
}

const ALL: &str = "even.csv odd.csv --target species";

#[test]
fn any_split_order_and_threads_give_the_same_bytes() {
    let folder = halves();
    let whole = folder.train(ALL);
    for way in [
        "odd.csv even.csv --target species --threads 1",
        "examples/penguins.csv --target species --threads 3",
    ] {
        assert!(folder.train(way) == whole, "{way}");
    }
}

#[test]
fn what_was_learnt_since_is_judged_anew() {
    let folder = halves();
    let whole = folder.train(ALL);
    folder.stdout("train even.csv --target species -o m.priory");
    let said = folder.remarks("learn m.priory odd.csv");
    let stale = "the judgement of m.priory was made of 172 rows, and the model has 344 now; \
                 `priory judge m.priory DATA` makes it anew";
    assert!(said.contains(stale), "{said}");
    assert!(folder.remarks("predict m.priory even.csv").contains(stale));
    assert!(folder.remarks("show m.priory").contains(stale));

    let refused = folder.refusal("judge m.priory even.csv");
    assert_eq!(refused, "the model has learnt 344 rows, and these are 172");
    let said = folder.remarks("judge m.priory odd.csv even.csv");
    assert_eq!(said, "judged: full\n344 rows: m.priory\n");
    assert!(folder.bytes("m.priory") == whole);
    let said = folder.remarks("judge m.priory odd.csv even.csv --judge none");
    assert_eq!(said, "344 rows: m.priory\n");
    assert!(folder.bytes("m.priory") == folder.train(&format!("{ALL} --judge none")));
}

#[test]
fn weights_stay_when_rows_are_forgotten_unless_they_are_dropped() {
    let folder = halves();
    folder.stdout(&format!("train {ALL} -o m.priory"));
    let before = folder.bytes("m.priory");
    folder.write("one.csv", &folder.text("even.csv").lines().take(2).collect::<Vec<_>>().join("\n"));
    let said = folder.remarks("forget m.priory one.csv");
    assert!(said.contains("the weights of the model were fitted with these rows, and stay"), "{said}");
    folder.stdout("learn m.priory one.csv");
    assert!(folder.bytes("m.priory") == before);
    let said = folder.remarks("forget m.priory odd.csv --drop-judgement");
    assert_eq!(said, "172 rows forgotten, 172 left: m.priory\n");
    assert!(folder.bytes("m.priory") == folder.train("even.csv --target species --judge none"));
}

#[test]
fn models_that_were_judged_by_different_rows_lose_their_judgement_together() {
    let folder = halves();
    folder.stdout("train even.csv --target species -o even.priory");
    folder.stdout("train odd.csv --target species -o odd.priory");
    let said = folder.remarks("merge even.priory odd.priory -o both.priory");
    assert!(said.contains("the models were judged by different rows, so the sum is not judged"), "{said}");
    assert!(folder.bytes("both.priory") == folder.train(&format!("{ALL} --judge none")));
}

#[test]
fn parts_that_keep_their_rows_are_judged_when_they_are_merged() {
    let folder = halves();
    let whole = folder.train(ALL);
    for part in ["even", "odd"] {
        let said =
            folder.remarks(&format!("train {part}.csv --target species --judge later -o {part}.priory"));
        assert!(said.contains("to be judged later, by 172 rows\n"), "{said}");
    }
    assert_eq!(
        folder.remarks("predict even.priory even.csv"),
        "warning: even.priory was not judged yet; `priory judge even.priory` does it\n"
    );
    let said = folder.remarks("merge odd.priory even.priory -o both.priory");
    assert_eq!(said, "judged: full\n344 rows in all: both.priory\n");
    assert!(folder.bytes("both.priory") == whole);

    // As a tree, from a list, and judged by itself.
    folder.write("list.txt", "odd.priory\neven.priory\n");
    let said = folder.remarks("merge --list list.txt --judge later -o both.priory");
    assert_eq!(said, "to be judged later, by 344 rows\n344 rows in all: both.priory\n");
    assert_eq!(folder.remarks("judge both.priory"), "judged: full\n344 rows: both.priory\n");
    assert!(folder.bytes("both.priory") == whole);
    let refused = folder.refusal("judge both.priory");
    assert!(refused.contains("both.priory has not kept the rows that it learnt"), "{refused}");

    // Rows that were learnt later are among those that are kept.
    folder.stdout("learn even.priory odd.csv");
    folder.stdout("judge even.priory");
    assert!(folder.bytes("even.priory") == whole);
}

#[test]
fn a_part_of_another_table_is_named() {
    let folder = halves();
    for part in 0..20 {
        folder.stdout(&format!("train even.csv --target species -o part-{part:02}.priory"));
    }
    for part in [7, 13] {
        folder
            .stdout(&format!("train even.csv --target species --as year=category -o part-{part:02}.priory"));
    }
    let refused = folder.refusal("merge part-*.priory -o all.priory");
    assert!(refused.contains("part-00.priory and part-07.priory"), "{refused}");
    assert!(refused.contains("only the first has the number column `year`"), "{refused}");
}

#[test]
fn other_settings_and_fractions_leave_a_judgement_out() {
    let folder = halves();
    folder.stdout(&format!("train {ALL} -o m.priory"));
    folder.stdout(&format!("train {ALL} --judge none -o plain.priory"));
    let said = folder.remarks("show m.priory --numbers kernel");
    assert_eq!(said, "the model was judged under other settings; it is taken without its judgement\n");
    let shown = folder.stdout("show m.priory --numbers kernel");
    assert_eq!(shown, folder.stdout("show plain.priory --numbers kernel"));
    assert_eq!(folder.remarks("predict m.priory even.csv --prior uniform"), "");
}

#[test]
fn reasons_not_to_judge_are_said() {
    let folder = halves();
    for (options, reason) in
        [("--smoothing none", "probabilities are not smoothed"), ("--half-life 1000", "its rows age")]
    {
        let said = folder.remarks(&format!("train even.csv --target species {options} -o m.priory"));
        assert!(said.contains(&format!("not judged: {reason}\n")), "{said}");
    }
}

#[test]
fn a_judged_model_uses_the_columns_that_are_selected() {
    let folder = halves();
    let said = folder.remarks("train even.csv --target species --select 2 -o m.priory");
    assert!(said.contains("selected: ") && said.contains("judged: full\n"), "{said}");
    let features: serde_json::Value =
        serde_json::from_str(&folder.stdout("features m.priory --format json")).unwrap();
    let features = features["features"].as_array().unwrap();
    let used: Vec<bool> = features.iter().map(|feature| feature["used"].as_bool().unwrap()).collect();
    assert_eq!(used, [true, true, false, false, false, false, false]);
    assert!(features.iter().all(|feature| feature["lost"]["bits"].is_number()));
    // Nothing but the selected columns is needed, and nothing else is looked at.
    let names: Vec<&str> = features[..2].iter().map(|feature| feature["name"].as_str().unwrap()).collect();
    assert!(
        said.contains(&format!("selected: {}, {}", names[0], names[1]))
            || said.contains(&format!("selected: {}, {}", names[1], names[0])),
        "{said}"
    );
    let whole = folder.stdout("predict m.priory odd.csv --probabilities");
    let ignored = features[2..].iter().map(|feature| feature["name"].as_str().unwrap());
    let header = text(&folder.bytes("odd.csv")).lines().next().unwrap().to_owned();
    let renamed = ignored.fold(header.clone(), |header, name| header.replace(name, &format!("other {name}")));
    folder.write("narrow.csv", &text(&folder.bytes("odd.csv")).replacen(&header, &renamed, 1));
    assert_eq!(folder.stdout("predict m.priory narrow.csv --probabilities"), whole);
    assert!(folder.bytes("m.priory") == folder.train("even.csv --target species --select 2 --threads 3"));
}

#[test]
fn standard_input_is_judged_too() {
    let folder = halves();
    let expected = folder.train("even.csv --target species");
    let mut train = assert_cmd::Command::from_std(folder.command("train - --target species -o piped.priory"));
    let output = train.write_stdin(folder.bytes("even.csv")).output().unwrap();
    assert!(text(&output.stderr).contains("judged: full"));
    assert!(folder.bytes("piped.priory") == expected);
}

#[test]
fn a_picture_shows_whether_probabilities_can_be_believed() {
    let folder = halves();
    folder.stdout(&format!("evaluate {ALL} --folds 3 --compare --reliability believe.svg"));
    let picture = folder.text("believe.svg");
    assert!(picture.contains("plain, on average") && picture.contains("judged, on average"), "{picture}");
    let refused = folder.refusal(&format!("evaluate {ALL} --reliability believe.png"));
    let hint = "write believe.svg, and `rsvg-convert believe.svg -o believe.png` converts it";
    assert_eq!(refused, format!("believe.png: pictures are written as SVG; {hint}"));
}

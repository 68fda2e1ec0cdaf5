//! Saved models that are evaluated, decisions, and changes that are only tried.

use super::*;

/// A folder with a model of the tennis days.
fn tennis() -> Folder {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play -o m.priory");
    folder
}

#[test]
fn a_saved_model_is_evaluated_like_one_trained_for_the_test() {
    let folder = Folder::new();
    for how in ["", " --judge none --smoothing lidstone:0.3"] {
        folder.stdout(&format!("train examples/penguins.csv --target species{how} -o m.priory"));
        let saved = folder.json("evaluate m.priory examples/penguins.csv");
        let trained =
            format!("evaluate examples/penguins.csv --target species{how} --test examples/penguins.csv");
        assert_eq!(saved, folder.json(&trained));
        let compared = folder.json("evaluate m.priory examples/penguins.csv --compare");
        assert_eq!(compared["judged"], saved);
    }
    // A feature that is not there is missing, a column of weights that is not there weighs one.
    folder
        .write("t.csv", "a,b,n,y\n1,x,2,p\n0,x,1,q\n1,z,1,p\n")
        .stdout("train t.csv --target y --weight n -o m.priory");
    folder.write("less.csv", "a,y\n1,p\n0,q\n1,\n");
    let output = folder.run("evaluate m.priory less.csv --format json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["rows"], &report["skipped"]), (&2.into(), &1.into()));
    let told = text(&output.stderr);
    assert!(told.contains("no column `b`") && told.contains("no column `n`: its rows weigh one"), "{told}");
    assert!(folder.fails(1, "evaluate m.priory less.csv --target a").contains("predicts `y`"));
    assert!(
        folder.fails(1, "evaluate m.priory less.csv --folds 3").contains("--folds says how to train one")
    );
    assert!(folder.fails(1, "evaluate m.priory").contains("name the table"));
    assert!(folder.fails(1, "evaluate less.csv m.priory --target y").contains("name it first"));
    assert!(folder.fails(2, "evaluate less.csv").contains("--target"));
}

#[test]
fn rows_are_explained_one_by_one_or_where_they_are_wrong() {
    let folder = tennis();
    let rows = |how: &str| -> Vec<u64> {
        let explained = folder.json(&format!("explain m.priory examples/tennis.csv{how}"));
        explained["rows"].as_array().unwrap().iter().map(|row| row["row"].as_u64().unwrap()).collect()
    };
    assert_eq!(rows(" --row 3"), [3]);
    assert_eq!(rows(" --row 14,2"), [2, 14]);
    assert_eq!(rows(" --rows 3"), [1, 2, 3]);
    let predicted = folder.stdout("predict m.priory examples/tennis.csv --keep play");
    let wrong: Vec<u64> = (1..)
        .zip(predicted.lines().skip(1))
        .filter(|(_, line)| line.split_once(',').is_some_and(|(class, answer)| class != answer))
        .map(|(row, _)| row)
        .collect();
    assert!(!wrong.is_empty());
    assert_eq!(rows(" --where-wrong"), wrong);
    assert_eq!(rows(" --where-wrong --rows 1"), wrong[..1]);
    let explained = folder.json("explain m.priory examples/tennis.csv --where-wrong");
    assert_ne!(explained["rows"][0]["class"], explained["rows"][0]["prediction"]);
    assert!(folder.fails(1, "explain m.priory examples/tennis.csv --row 99").contains("has no row 99"));
    assert!(folder.fails(2, "explain m.priory examples/tennis.csv --row 0").contains("the first is 1"));
}

#[test]
fn what_is_only_tried_changes_nothing() {
    let folder = tennis();
    let before = folder.bytes("m.priory");
    folder.write("more.csv", "outlook,temperature,humidity,wind,play\nS,H,H,W,perhaps\nO,H,H,W,+\n");
    let told = |arguments: &str| text(&folder.run(arguments).stderr);
    let learnt = told("learn m.priory more.csv --dry-run");
    assert_eq!(
        learnt,
        "2 rows would be learnt, 16 in all, with the new class perhaps; m.priory stays as it is\n"
    );
    assert_eq!(
        told("forget m.priory examples/tennis.csv --dry-run").lines().last().unwrap(),
        "14 rows would be forgotten, 0 left, without the classes +, -; m.priory stays as it is"
    );
    assert_eq!(folder.bytes("m.priory"), before);
    folder.stdout("learn m.priory more.csv -o n.priory");
    assert_eq!(folder.bytes("m.priory"), before);
    assert_eq!(
        told("merge m.priory n.priory --dry-run"),
        "the sum would have 30 rows and 3 classes; nothing was written\n"
    );
    folder.stdout("forget n.priory more.csv -o o.priory");
    assert_eq!(folder.bytes("o.priory"), before);
    folder.stdout("learn m.priory more.csv");
    assert_eq!(folder.bytes("m.priory"), folder.bytes("n.priory"));
    assert!(folder.fails(1, "learn m.priory more.csv -o more.csv").contains("also read"));
    assert!(folder.fails(2, "merge m.priory n.priory").contains("--output"));
}

#[test]
fn what_is_stored_is_what_is_typed() {
    let folder = tennis();
    let predicted =
        |how: &str| folder.stdout(&format!("predict m.priory examples/tennis.csv --probabilities{how}"));
    let plain = predicted("");
    let before = folder.bytes("m.priory");
    folder.write("costs.csv", "true,predicted,cost\n+,-,1\n-,+,4\n");
    folder.write("matrix.csv", "class,+,-\n+,0,1\n-,4,0\n");
    for how in [
        " --threshold +=0.8",
        " --cost +:-=1,-:+=4",
        " --cost costs.csv",
        " --cost matrix.csv",
        " --unsure 0.7",
        " --threshold +=0.9,-=0.6",
    ] {
        let typed = predicted(how);
        assert_ne!(typed, plain, "{how}");
        folder.stdout(&format!("decide m.priory{how}"));
        assert_eq!(predicted(""), typed, "{how}");
        assert_eq!(predicted(" --most-probable"), plain);
        let evaluated = folder.json("evaluate m.priory examples/tennis.csv");
        let right = typed
            .lines()
            .skip(1)
            .zip(fs::read_to_string(folder.path("examples/tennis.csv")).unwrap().lines().skip(1))
            .filter(|(typed, row)| row.ends_with(&format!(",{}", typed.split(',').next().unwrap())))
            .count();
        let answered = typed.lines().skip(1).filter(|line| !line.starts_with("unsure")).count();
        assert_close(&evaluated["accuracy"], right as f64 / answered as f64, 1e-15);
        folder.stdout("decide m.priory --most-probable");
        assert_eq!(folder.bytes("m.priory"), before, "{how}");
    }
    // The three ways to write the same costs mean the same, also in training.
    folder.stdout("train examples/tennis.csv --target play --cost matrix.csv -o trained.priory");
    folder.stdout("decide m.priory --cost +:-=1,-:+=4,+:+=0,-:-=0");
    assert_eq!(
        folder.stdout("predict trained.priory examples/tennis.csv"),
        folder.stdout("predict m.priory examples/tennis.csv")
    );
    let explained = folder.json("explain m.priory examples/tennis.csv");
    let explained: Vec<&str> =
        explained["rows"].as_array().unwrap().iter().map(|row| row["prediction"].as_str().unwrap()).collect();
    let predicted = folder.stdout("predict m.priory examples/tennis.csv");
    assert_eq!(explained, predicted.lines().skip(1).collect::<Vec<_>>());
    assert_eq!(folder.json("decide m.priory")["costs"][0]["cost"], 1.0);
}

#[test]
fn decisions_that_make_no_sense_are_refused_in_a_sentence() {
    let folder = tennis();
    folder.write("short.csv", "class,+,-\n+,0,1\n").write("words.csv", "class,+,-\n+,0,much\n-,1,0\n");
    folder.write("nan.csv", "true,predicted,cost\n+,-,NaN\n-,+,1\n").write("odd.csv", "cost\n1\n");
    let before = folder.bytes("m.priory");
    for (flags, message) in [
        ("--cost +:-=1", "do not say what it costs to answer `+` where `-` is true"),
        ("--cost short.csv", "do not say what it costs to answer `+` where `-` is true"),
        ("--cost words.csv", "words.csv: row 1: the cost `much` is not a number"),
        ("--cost nan.csv", "nan.csv: row 1: the cost `NaN` is not a number"),
        ("--cost odd.csv", "odd.csv: expected the columns true, predicted and cost"),
        ("--cost none.csv", "none.csv: cannot be opened"),
        ("--cost +:-=NaN,-:+=1", "the cost of +:- is NaN"),
        ("--cost +:-=1,-:+=1,x:*=3", "there is no class `x`; the classes are `+`, `-`"),
        ("--threshold x=0.5", "there is no class `x`"),
        ("--threshold +=1.5", "the threshold of `+` is 1.5"),
        ("--threshold +=NaN", "the threshold of `+` is NaN"),
        ("--threshold +=0.3,-=0.3", "can be reached at the same time"),
        ("--threshold 0.3", "name it, or say which class is the positive one"),
        ("--positive x", "there is no class `x`"),
        ("--unsure 0.5", "always has a probability of 0.500 at least"),
    ] {
        for command in [
            format!("predict m.priory examples/tennis.csv {flags} -o out.csv"),
            format!("decide m.priory {flags}"),
            format!("evaluate m.priory examples/tennis.csv {flags}"),
            format!("evaluate examples/tennis.csv --target play {flags}"),
            format!("train examples/tennis.csv --target play -o out.csv {flags}"),
        ] {
            let told = folder.fails(1, &command);
            assert!(told.contains(message), "{command}: {told}");
            let error = told.lines().filter(|line| line.starts_with("error:")).count();
            assert_eq!(error, 1, "{told}");
            assert!(!folder.path("out.csv").exists());
        }
    }
    assert_eq!(folder.bytes("m.priory"), before);
    let typed = |flags: &str| folder.fails(2, &format!("predict m.priory examples/tennis.csv {flags}"));
    assert!(typed("--unsure 2").contains("not a probability between 0 and 1"));
    assert!(typed("--cost a=b").contains("TRUE:PREDICTED=COST"));
    assert!(typed("--threshold +=high").contains("CLASS=P"));
    assert!(typed("--cost +:-=1 --threshold +=0.3").contains("cannot be used with"));
    assert!(
        folder
            .fails(1, "evaluate examples/penguins.csv --target species --cut-offs 0.5")
            .contains("say which of them is the positive one")
    );
    assert!(folder.fails(1, "evaluate m.priory examples/tennis.csv --cut-offs 1.5").contains("cut-off 1.5"));
    assert!(
        folder
            .fails(1, "train examples/tennis.csv --target play --prior estimate")
            .contains("it is for `predict`")
    );
}

#[test]
fn every_cut_off_of_the_curve_is_in_the_json() {
    let folder = tennis();
    let report = folder
        .json("evaluate m.priory examples/tennis.csv --positive=- --cost -:+=3,+:-=1 --cut-offs 0.5,0.2");
    let cut_offs = &report["cut_offs"];
    assert_has(cut_offs, &["positive", "share", "roc_auc", "average_precision", "cut_offs", "best", "curve"]);
    let named = |what: &Value, name: &str| {
        what.as_array().unwrap().iter().map(|of| of[name].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(named(&cut_offs["cut_offs"], "cut_off"), [0.2, 0.5]);
    assert_eq!(named(&cut_offs["best"], "by"), ["cost", "f1", "youden"]);
    let names = ["alarms", "precision", "recall", "false_positive_rate", "f1", "lift", "cost"];
    assert_has(&cut_offs["cut_offs"][0], &names);
    let curve = &cut_offs["curve"];
    let length = |name: &str| curve[name].as_array().unwrap().len();
    assert_eq!(
        [length("thresholds"), length("precision"), length("recall")],
        [length("false_positive_rate"); 3]
    );
    // The last cut-off lets every row through.
    assert_eq!(curve["recall"].as_array().unwrap().last().unwrap(), 1.0);
    assert_eq!(curve["false_positive_rate"].as_array().unwrap().last().unwrap(), 1.0);
    assert_eq!(report["per_class"][1]["average_precision"], cut_offs["average_precision"]);
    // One class of three against the rest.
    let report = folder.json("evaluate examples/penguins.csv --target species --positive Gentoo");
    assert_eq!(report["cut_offs"]["positive"], "Gentoo");
    assert!(report["cut_offs"]["cut_offs"][0].get("cost").is_none());
    assert!(folder.json("evaluate m.priory examples/tennis.csv").get("cut_offs").is_none());
}

#[test]
fn log_evidence_is_that_of_the_explanation_and_lowest_for_strangers() {
    let folder = Folder::new();
    for judge in ["none", "full"] {
        folder.stdout(&format!("train examples/penguins.csv --target species --judge {judge} -o m.priory"));
        folder.write("new.csv", "bill_length_mm,island\n44.1,Dream\n440,Dream\n");
        let lines = folder.stdout("predict m.priory new.csv --log-evidence --format jsonl");
        let predicted: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(number(&predicted[0]["log_evidence"]) > number(&predicted[1]["log_evidence"]) + 5.0);
        if judge == "none" {
            let explained = folder.json("explain m.priory new.csv");
            assert_close(&predicted[0]["log_evidence"], number(&explained["rows"][0]["log_evidence"]), 1e-12);
        }
        let csv = folder.stdout("predict m.priory new.csv --log-evidence --probabilities");
        let (header, first) = (csv.lines().next().unwrap(), csv.lines().nth(1).unwrap());
        assert!(header.ends_with("P(Gentoo),log_evidence"), "{header}");
        assert_eq!(
            first.rsplit_once(',').unwrap().1.parse::<f64>().unwrap(),
            number(&predicted[0]["log_evidence"])
        );
        folder.stdout("predict m.priory new.csv --log-evidence -o p.parquet");
    }
    let kept = folder
        .write("k.csv", "log_evidence,island\n1,Dream\n")
        .fails(1, "predict m.priory k.csv --log-evidence --keep log_evidence");
    assert!(kept.contains("cannot be kept"), "{kept}");
}

//! Colours, exit codes, messages and help.

use std::process::Stdio;
use std::time::Duration;

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
    let classes: Vec<&str> =
        shown["classes"].as_array().unwrap().iter().map(|class| class["name"].as_str().unwrap()).collect();
    assert!(classes.contains(&"b\u{7f}\u{1}c"), "{classes:?}");
}

#[test]
fn without_a_target_the_columns_are_listed() {
    let folder = Folder::new();
    let message = folder.fails(2, "train examples/tennis.csv");
    let expected = "say with --target which column to predict: outlook, temperature, humidity, wind, play";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn wrong_usage_is_code_2_and_names_the_flag() {
    let folder = Folder::new();
    let cases = [
        ("train --target play", "DATA"),
        ("train examples/tennis.csv --target play --as wind=colour", "--as"),
        ("train examples/tennis.csv --target play --smoothing lots", "--smoothing"),
        ("train examples/tennis.csv --target play --smoothing lidstone:-1", "--smoothing"),
        ("train examples/tennis.csv --target play --prior given:+=2", "--prior"),
        ("train examples/tennis.csv --target play --missing-values perhaps", "--when-missing"),
        ("explain m.priory --set a=1,b", "--set"),
        ("evaluate examples/tennis.csv --target play --folds 1", "--folds"),
        ("evaluate examples/tennis.csv --target play --holdout 1.5", "--holdout"),
        ("evaluate examples/tennis.csv --target play --folds 3 --leave-one-out", "--leave-one-out"),
        ("evaluate examples/tennis.csv --target play --seed x", "--seed"),
        ("evaluate examples/tennis.csv --target play --format xml", "--format"),
        ("explain m.priory", "DATA"),
        ("explain m.priory --set outlook", "--set"),
        ("merge a.priory b.priory", "--output"),
        ("merge -o b.priory", "MODEL"),
        ("show m.priory --colour", "--colour"),
        ("completions basic", "SHELL"),
    ];
    for (arguments, flag) in cases {
        let message = folder.fails(2, arguments);
        assert!(message.starts_with("error: ") && message.contains(flag), "priory {arguments}: {message}");
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
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "priory {arguments}");
        assert!(output.stdout.is_empty(), "priory {arguments}");
        let mut lines = message.lines();
        assert!(lines.next().unwrap().starts_with("error: "), "{message}");
        assert!(lines.next().is_none_or(|line| line.starts_with("hint: ")), "{message}");
        assert_eq!(lines.next(), None, "{message}");
    }
}

#[test]
fn reports_fit_into_narrow_terminals() {
    let folder = Folder::new();
    let classes =
        ["setosa", "versicolor", "virginica", "a class with a rather long name", "e", "f", "g", "h"];
    let rows: String = (0..80).map(|i| format!("{},v{},{}\n", i % 7, i % 3, classes[i % 8])).collect();
    folder.write("t.csv", &format!("width of the leaf in millimetres,b,y\n{rows}"));
    folder.stdout("train t.csv --target y --as *=category -o m.priory");
    let shown = |arguments: &str, columns: usize| {
        let output = folder.command(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
        text(&output.stdout)
    };
    for arguments in
        ["evaluate t.csv --target y", "show m.priory", "features m.priory", "explain m.priory --set b=v1"]
    {
        let wide = shown(arguments, 500);
        assert_eq!(wide, folder.stdout(arguments), "priory {arguments}");
        for columns in [60, 40] {
            let narrow = shown(arguments, columns);
            // Sentences are wrapped by the terminal; what stands in columns is indented.
            let tables =
                narrow.lines().filter(|line| line.starts_with("  ") && line.matches("  ").count() > 1);
            let widest = tables.map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "priory {arguments}: {widest}\n{narrow}");
            // Nothing is lost, and no number is cut.
            for word in wide.split_whitespace().filter(|word| word.len() < 20) {
                assert!(narrow.contains(word), "priory {arguments}: {word} is not in\n{narrow}");
            }
        }
    }
}

#[test]
fn a_column_with_an_equals_sign_can_be_set() {
    let folder = Folder::new();
    folder.write("t.csv", "a=b,c,y\nu,1=2,p\nv,3,q\n");
    folder.stdout("train t.csv --target y --as *=category -o m.priory");
    let explained = folder.stdout("explain m.priory --set a=b=u --set c=1=2");
    assert!(explained.contains("a=b = u ") && explained.contains("c = 1=2 "), "{explained}");
    assert!(
        folder.fails(1, "explain m.priory --set a=u").contains("the model has no feature `a`; it has a=b, c")
    );
    folder.write("both.csv", "a=b,a,y\nu,1,p\nv,3,q\n");
    folder.stdout("train both.csv --target y --as *=category -o both.priory");
    let message = folder.fails(1, "explain both.priory --set a=b=u");
    assert!(
        message.contains("`a=b=u` can mean the column `a` or the column `a=b`; put the row into"),
        "{message}"
    );
    assert!(folder.stdout("explain both.priory --set a=1").contains("a = 1 "));
}

#[test]
fn what_would_take_all_memory_is_refused() {
    let folder = Folder::new();
    let rows: String = (0..12_000).map(|i| format!("id{i},k{i}\n")).collect();
    folder.write("ids.csv", &format!("id,y\n{rows}"));
    let message = folder.fails(1, "train ids.csv --target y --as id=category --threads 1");
    assert!(
        message.contains("ids.csv: the column `id` has 12000 values") && message.contains("--ignore"),
        "{message}"
    );
    let classes: String = (0..66_000).map(|i| format!("0,k{i}\n")).collect();
    folder.write("classes.csv", &format!("a,y\n{classes}"));
    assert!(folder.fails(1, "train classes.csv --target y").contains("more than 65536 classes"));
}

#[test]
fn every_command_helps_with_an_example() {
    let folder = Folder::new();
    for command in
        "schema train predict evaluate explain report show learn forget merge serve completions manual"
            .split(' ')
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
        29,
        "the program, its nineteen commands and the nine of mail"
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

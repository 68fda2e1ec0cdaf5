//! Features and pictures: what the documents cannot show.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A folder with the project's examples, and a model of the penguins.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(project().join("examples"), folder.path().join("examples")).unwrap();
    succeeds(&folder, "train examples/penguins.csv --target species --judge none -o p.priory");
    folder
}

fn run(folder: &TempDir, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_priory"));
    command.args(arguments.split(' ')).current_dir(folder.path()).env("COLUMNS", "80");
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").output().unwrap()
}

fn succeeds(folder: &TempDir, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fails(folder: &TempDir, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments}");
    String::from_utf8(output.stderr).unwrap()
}

fn svg(folder: &TempDir, arguments: &str) -> String {
    succeeds(folder, &format!("plot {arguments} -o picture.svg"));
    fs::read_to_string(folder.path().join("picture.svg")).unwrap()
}

/// Every file in a folder by its name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn the_pictures_in_the_documents_are_those_that_are_drawn_now() {
    let drawn = tempfile::tempdir().unwrap();
    let script = Command::new(project().join("scripts/pictures"))
        .arg(drawn.path())
        .env("PRIORY", env!("CARGO_BIN_EXE_priory"))
        .output()
        .unwrap();
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let (expected, drawn) = (files(&project().join("docs/pictures")), files(drawn.path()));
    assert!(expected.len() >= 7, "{:?}", expected.keys());
    assert_eq!(expected.keys().collect::<Vec<_>>(), drawn.keys().collect::<Vec<_>>());
    for (name, picture) in &drawn {
        assert!(
            expected[name] == *picture,
            "docs/pictures/{name} is not what is drawn now; scripts/pictures draws it anew"
        );
    }
}

#[test]
fn a_picture_does_not_depend_on_order_or_split() {
    let folder = folder();
    let all = fs::read_to_string(project().join("examples/penguins.csv")).unwrap();
    let (header, rows) = all.split_once('\n').unwrap();
    let reversed: Vec<&str> = rows.lines().rev().collect();
    for (name, rows) in [("a.csv", &reversed[..100]), ("b.csv", &reversed[100..])] {
        fs::write(folder.path().join(name), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    }
    succeeds(&folder, "train a.csv b.csv --target species --judge none -o q.priory");
    for what in ["", " island", " body_mass_g", " bill_depth_mm flipper_length_mm"] {
        assert_eq!(svg(&folder, &format!("p.priory{what}")), svg(&folder, &format!("q.priory{what}")));
        assert_eq!(
            succeeds(&folder, &format!("plot p.priory{what}")),
            succeeds(&folder, &format!("plot q.priory{what}"))
        );
    }
    assert_eq!(succeeds(&folder, "features p.priory"), succeeds(&folder, "features q.priory"));
}

#[test]
fn a_picture_is_well_formed_whatever_the_names_are() {
    let folder = folder();
    // The category tells the class most of the time, so that explanations have something to say about it.
    let class = |i: usize| ["<b>", "a&b"][usize::from(i.is_multiple_of(3) || i.is_multiple_of(7))];
    let rows: String = (0..60).map(|i| format!("{}.5,{},{}\n", i * i % 37, i % 3, class(i))).collect();
    let odd = format!("\"x \"\"<&>\u{1b}[31m\",\"]]>\",y\n{rows}");
    fs::write(folder.path().join("odd.csv"), odd).unwrap();
    succeeds(&folder, "train odd.csv --target y --as ]]>=category -o odd.priory");
    let picture = svg(&folder, "odd.priory");
    assert!(picture.contains("&lt;b&gt;") && picture.contains("a&amp;b") && !picture.contains('\u{1b}'));
    check_tags(&picture);
    check_tags(&svg(&folder, "odd.priory --nomogram"));
    succeeds(&folder, "explain odd.priory odd.csv --row 2 -o why.svg");
    let why = fs::read_to_string(folder.path().join("why.svg")).unwrap();
    assert!(why.contains("y = a&amp;b") || why.contains("y = &lt;b&gt;"));
    assert!(why.contains("]]&gt; = ") && !why.contains('\u{1b}'));
    check_tags(&why);
    assert!(!succeeds(&folder, "plot odd.priory").contains('\u{1b}'));
    assert!(!succeeds(&folder, "plot odd.priory --nomogram").contains('\u{1b}'));
    assert!(!succeeds(&folder, "explain odd.priory odd.csv --row 2 --waterfall").contains('\u{1b}'));
}

#[test]
fn pictures_that_cannot_be_drawn_say_why() {
    let folder = folder();
    for (arguments, reason) in [
        ("plot p.priory mass", "the model has no column `mass`; it has island, bill_length_mm"),
        ("plot p.priory island body_mass_g", "`island` is not a column of numbers"),
        ("plot p.priory body_mass_g body_mass_g", "`body_mass_g` against itself makes no picture"),
        ("plot p.priory sex --select 2", "`sex` is counted but not used; --select all"),
        ("plot p.priory sex -o sex.png", "sex.png: pictures are written as SVG"),
    ] {
        let error = fails(&folder, arguments);
        assert!(error.contains(reason), "{arguments}: {error}");
    }
    assert_eq!(run(&folder, "plot p.priory a b c").status.code(), Some(2));
    assert!(!folder.path().join("sex.png").exists());
}

#[test]
fn of_sums_there_is_a_line_and_no_histogram() {
    let folder = folder();
    succeeds(&folder, "train examples/penguins.csv --target species --numbers gaussian -o sums.priory");
    let line = succeeds(&folder, "plot sums.priory body_mass_g");
    assert!(
        line.contains("body_mass_g: gaussian; p(x | species)\n") && !line.contains('█') && line.contains('⠉')
    );
    assert!(!svg(&folder, "sums.priory body_mass_g").contains("data\" d="));
    let features = succeeds(&folder, "features sums.priory");
    assert!(features.contains("what is counted of the column does not tell"), "{features}");
    let error = fails(&folder, "show sums.priory --select 2");
    assert!(error.contains("columns cannot be selected: only sums were kept of `bill_length_mm`"), "{error}");
    // Who asks for a selection when training gets what it takes.
    succeeds(
        &folder,
        "train examples/penguins.csv --target species --numbers gaussian --select 2 --judge none -o two.priory",
    );
    assert!(
        succeeds(&folder, "show two.priory")
            .contains("counted, not used: island, bill_depth_mm, body_mass_g, sex, year")
    );
}

#[test]
fn columns_of_a_group_are_drawn_alone_and_together() {
    let folder = folder();
    succeeds(&folder, "train examples/iris.csv --target species --discriminant quadratic -o g.priory");
    let alone = succeeds(&folder, "plot g.priory sepal_width_cm");
    assert!(alone.starts_with("sepal_width_cm: quadratic discriminant; p(x | species)\n"), "{alone}");
    // Alone, a column of a group is a Gaussian: the same curve as that of its sums.
    succeeds(&folder, "train examples/iris.csv --target species --numbers gaussian -o sums.priory");
    let sums = succeeds(&folder, "plot sums.priory sepal_width_cm");
    assert_eq!(alone.replace("quadratic discriminant", "gaussian"), sums);
    let together = svg(&folder, "g.priory petal_length_cm petal_width_cm");
    assert!(together.contains("petal_width_cm over petal_length_cm: quadratic discriminant</text>"));
    let straight = svg(&folder, "g.priory petal_length_cm petal_width_cm --discriminant linear");
    assert_ne!(together, straight);
    let all = svg(&folder, "g.priory");
    assert_eq!(all.matches("_cm: quadratic").count(), 4);
    assert!(!all.contains("histogram"));
    // A group stays whatever is selected, beside the best of the rest.
    succeeds(
        &folder,
        "train examples/penguins.csv --target species --as bill_length_mm=group,bill_depth_mm=group --select 1 -o one.priory",
    );
    let features = succeeds(&folder, "features one.priory");
    assert_eq!(features.lines().filter(|line| line.ends_with(" used")).count(), 2, "{features}");
    succeeds(&folder, "plot one.priory bill_length_mm flipper_length_mm");
    assert!(fails(&folder, "plot one.priory sex").contains("counted but not used"));
}

/// The words of a text are those that `show` lists for each class, with bars as long as they tell.
#[test]
fn of_text_the_telling_words_are_drawn() {
    let folder = folder();
    succeeds(&folder, "train examples/mails.csv --target label --as text=text --select 1 -o t.priory");
    let shown: serde_json::Value =
        serde_json::from_str(&succeeds(&folder, "show t.priory --format json")).unwrap();
    let telling = shown["features"][0]["text"]["telling"].as_object().unwrap();
    assert_eq!(telling.len(), 2);
    let drawn = succeeds(&folder, "plot t.priory");
    assert_eq!(drawn, succeeds(&folder, "plot t.priory text"));
    let picture = svg(&folder, "t.priory");
    assert_eq!(picture, svg(&folder, "t.priory text"));
    let mut lines = drawn.lines().skip(2);
    let mut bars = Vec::new();
    for (class, words) in telling {
        assert_eq!(lines.next().unwrap().trim(), class);
        for word in words.as_array().unwrap() {
            let (token, evidence) = (word["token"].as_str().unwrap(), word["evidence"].as_f64().unwrap());
            let fields: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
            assert_eq!(fields[0], token, "{drawn}");
            assert_eq!(fields.last().unwrap(), &format!("{evidence:.4}"), "{drawn}");
            assert!(picture.contains(&format!(">{token}</text>")), "{picture}");
            bars.push((evidence, fields[1].chars().filter(|&c| c == '█').count()));
        }
    }
    let top = bars.iter().map(|bar| bar.0).fold(0.0, f64::max);
    let longest = bars.iter().map(|bar| bar.1).max().unwrap();
    for (evidence, blocks) in bars {
        assert!((evidence / top * longest as f64 - blocks as f64).abs() <= 1.0, "{evidence} {blocks}");
    }
    assert!(succeeds(&folder, "features t.priory").contains("  text "));
    // A word that no other class has says everything without smoothing; the picture has an end all the same.
    succeeds(&folder, "train examples/mails.csv --target label --as text=text --smoothing none -o n.priory");
    assert!(succeeds(&folder, "plot n.priory").contains("inf"));
    assert!(!svg(&folder, "n.priory").contains("inf\""));
    // Beside a column of numbers each has a panel.
    let rows = "words,n,y\nred green,1,p\nred blue,2,p\ngreen,3,q\nblue green,4,q\n";
    fs::write(folder.path().join("both.csv"), rows).unwrap();
    succeeds(&folder, "train both.csv --target y --as words=text,n=gaussian -o both.priory");
    let both = svg(&folder, "both.priory");
    assert!(both.contains(">words: ") && both.contains(">n: gaussian"), "{both}");
}

#[test]
fn numbers_at_the_edge_of_what_there_is_are_drawn_or_refused() {
    let folder = folder();
    for (name, numbers) in [
        ("constant", ["7", "7", "7", "7"]),
        ("huge", ["1e308", "-1e308", "1.5e308", "-1.7e308"]),
        ("tiny", ["1e-320", "2e-320", "3e-320", "5e-324"]),
        ("neighbours", ["1e300", "1.0000000000000002e300", "1e300", "1.0000000000000002e300"]),
        ("missing", ["", "", "", "1"]),
    ] {
        let rows: String =
            numbers.iter().zip(["p", "q", "p", "q"]).map(|(x, y)| format!("{x},{y}\n")).collect();
        fs::write(folder.path().join("edge.csv"), format!("x,y\n{rows}")).unwrap();
        succeeds(&folder, "train edge.csv --target y --as x=number -o edge.priory");
        for arguments in ["plot edge.priory x", "plot edge.priory x -o edge.svg", "features edge.priory"] {
            let output = run(&folder, arguments);
            let error = String::from_utf8(output.stderr).unwrap();
            let refused = error.contains("drawn") && output.status.code() == Some(1);
            assert!(output.status.success() || refused, "{name}: {error}");
        }
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = folder();
    let coloured = Command::new(env!("CARGO_BIN_EXE_priory"))
        .args(["plot", "p.priory", "bill_length_mm", "bill_depth_mm"])
        .current_dir(folder.path())
        .env_remove("NO_COLOR")
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(String::from_utf8(coloured.stdout).unwrap().contains("\u{1b}[48;5;"));
    assert!(!succeeds(&folder, "plot p.priory bill_length_mm bill_depth_mm").contains('\u{1b}'));
}

#[test]
fn the_ranking_is_the_same_in_json() {
    let folder = folder();
    let json: Value =
        serde_json::from_str(&succeeds(&folder, "features p.priory --select auto --format json")).unwrap();
    let features = json["features"].as_array().unwrap();
    let gains: Vec<f64> = features.iter().map(|feature| feature["gain"].as_f64().unwrap()).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b));
    assert_eq!(features[0]["name"], "flipper_length_mm");
    for feature in features {
        assert_eq!(
            feature["used"],
            feature["gain"].as_f64() > feature["standard_error"].as_f64(),
            "{feature}"
        );
    }
}

#[test]
fn a_selection_lasts_and_can_be_taken_back() {
    let folder = folder();
    succeeds(&folder, "train examples/penguins.csv --target species --select 2 --judge none -o two.priory");
    let features = |arguments: &str| {
        let shown: Value =
            serde_json::from_str(&succeeds(&folder, &format!("{arguments} --format json"))).unwrap();
        (shown["features"].as_array().unwrap().len(), shown["left_out"].as_array().unwrap().len())
    };
    assert_eq!(features("show two.priory"), (2, 5));
    assert_eq!(features("show two.priory --select all"), (7, 0));
    // The statistics are those of all columns: with everything used, it is the other model.
    let all = succeeds(&folder, "predict two.priory examples/penguins.csv --probabilities --select all");
    assert_eq!(all, succeeds(&folder, "predict p.priory examples/penguins.csv --probabilities"));
    // What is not used need not be there, nor make sense.
    fs::write(folder.path().join("new.csv"), "bill_length_mm,flipper_length_mm,year\n39,180,long ago\n")
        .unwrap();
    let output = run(&folder, "predict two.priory new.csv");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "prediction\nAdelie\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    // Settings may name columns that are left out.
    succeeds(&folder, "train examples/tennis.csv --target play --as wind=bernoulli --select 1 -o one.priory");
    let one = succeeds(&folder, "show one.priory --fractions");
    assert!(
        one.contains("outlook: categorical")
            && one.contains("counted, not used: temperature, humidity, wind"),
        "{one}"
    );
    // Adding and taking away rows leaves the file as it was.
    let before = fs::read(folder.path().join("two.priory")).unwrap();
    succeeds(&folder, "learn two.priory examples/penguins.csv");
    succeeds(&folder, "forget two.priory examples/penguins.csv");
    assert_eq!(fs::read(folder.path().join("two.priory")).unwrap(), before);
}

#[test]
fn every_way_of_evaluating_can_select() {
    let folder = folder();
    for split in ["--folds 5", "--holdout 0.3", "--leave-one-out", "--test examples/penguins.csv"] {
        let arguments =
            format!("evaluate examples/penguins.csv --target species --select 2 {split} --format json");
        let report: Value = serde_json::from_str(&succeeds(&folder, &arguments)).unwrap();
        let accuracy = report["accuracy"].as_f64().unwrap();
        assert!((0.93..0.98).contains(&accuracy), "{split}: {accuracy}, all columns have 0.983");
    }
    let wrong = run(&folder, "evaluate examples/penguins.csv --target species --select 0");
    assert_eq!(wrong.status.code(), Some(2));
}

/// Tags are closed in the order in which they were opened, and there are none but ours.
fn check_tags(picture: &str) {
    let mut open = Vec::new();
    for tag in picture.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert!(["svg", "title", "desc", "style", "rect", "path", "text"].contains(&name), "{tag}");
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (_, true) => {}
            _ => open.push(name),
        }
    }
    assert!(open.is_empty());
}

#[test]
fn a_waterfall_is_of_one_row_and_a_nomogram_of_a_class_that_there_is() {
    let folder = folder();
    assert!(fails(&folder, "explain p.priory examples/penguins.csv -o why.svg").contains("--row says which"));
    assert!(!folder.path().join("why.svg").exists());
    assert!(
        fails(&folder, "explain p.priory examples/penguins.csv --row 1 -o why.png")
            .contains("written as SVG")
    );
    assert!(
        fails(&folder, "plot p.priory --nomogram --class Emperor")
            .contains("it has Adelie, Chinstrap, Gentoo")
    );
    assert_eq!(run(&folder, "plot p.priory --nomogram island").status.code(), Some(2));
    assert_eq!(run(&folder, "plot p.priory --class Gentoo").status.code(), Some(2));
    let adelie = svg(&folder, "p.priory --nomogram");
    assert_eq!(adelie, svg(&folder, "p.priory --nomogram --class Adelie"));
    assert_ne!(adelie, svg(&folder, "p.priory --nomogram --class Gentoo"));
}

/// Rows are drawn over a map of two columns, in the colours of their classes, and an even part of them if they are many.
#[test]
fn rows_are_points_over_a_map() {
    let folder = folder();
    let plot = "plot p.priory bill_length_mm bill_depth_mm -o points.svg --points";
    succeeds(&folder, &format!("{plot} examples/penguins.csv"));
    let picture = fs::read_to_string(folder.path().join("points.svg")).unwrap();
    let points = |picture: &str| -> Vec<usize> {
        let paths = picture.lines().filter(|line| line.contains("stroke-linecap:round"));
        paths.map(|path| path.matches("h0").count()).collect()
    };
    // One Adelie and one Gentoo were not measured.
    assert_eq!(points(&picture), [151, 68, 123]);
    let mut rows = "species,bill_length_mm,bill_depth_mm\n".to_owned();
    for i in 0..20_000 {
        let species = if i % 4 == 0 { "Gentoo" } else { "Adelie" };
        rows += &format!("{species},{},{}\n", 35 + i % 20, 14 + i % 6);
    }
    fs::write(folder.path().join("many.csv"), rows).unwrap();
    let output = run(&folder, &format!("{plot} many.csv"));
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    let kept = points(&fs::read_to_string(folder.path().join("points.svg")).unwrap());
    let all: usize = kept.iter().sum();
    assert!((1900..=4000).contains(&all), "{kept:?}");
    let share = kept[1] as f64 / all as f64;
    assert!((share - 0.25).abs() < 0.02, "{kept:?}");
    assert!(said.contains(&format!("{all} points of 20000 rows")), "{said}");
    fs::write(folder.path().join("strangers.csv"), "species,bill_length_mm\nEmperor,40\nGentoo,50\n")
        .unwrap();
    succeeds(&folder, &format!("{plot} strangers.csv"));
    assert_eq!(points(&fs::read_to_string(folder.path().join("points.svg")).unwrap()), [0_usize; 0]);
    let alone = "plot p.priory body_mass_g --points examples/penguins.csv -o alone.svg";
    assert!(fails(&folder, alone).contains("points are drawn in the plane of two columns of numbers"));
    let category = "plot p.priory island body_mass_g --points examples/penguins.csv -o alone.svg";
    assert!(fails(&folder, category).contains("`island` is not a column of numbers"));
    assert!(!folder.path().join("alone.svg").exists());
}

//! `priory report`: one page that needs nothing else, whatever is in the data.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    std::os::unix::fs::symlink(project.join("examples"), folder.path().join("examples")).unwrap();
    folder
}

fn run(folder: &TempDir, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_priory"));
    command.args(arguments.split(' ')).current_dir(folder.path()).output().unwrap()
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

/// The page that a command writes to `r.html`.
fn page(folder: &TempDir, arguments: &str) -> String {
    let path = folder.path().join("r.html");
    let _ = fs::remove_file(&path);
    succeeds(folder, arguments);
    fs::read_to_string(path).unwrap()
}

/// What the script of the page works with.
fn data(page: &str) -> Value {
    let (_, after) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
}

/// The words on the page between its tags.
fn headings(page: &str) -> Vec<&str> {
    page.split("<h2 id=\"").skip(1).map(|after| after.split_once('"').unwrap().0).collect()
}

#[test]
fn the_parts_of_a_report_are_in_their_order() {
    let folder = folder();
    let whole = page(&folder, "report examples/penguins.csv --target species -o r.html");
    let parts = ["answer", "evaluation", "cut-off", "columns", "nomogram", "warnings", "made"];
    assert_eq!(headings(&whole), parts);
    assert!(whole.contains("<title>species: a report</title>") && whole.contains("lang=\"en\""));
    assert!(whole.contains("From 344 rows with 5 numbers and 2 categories"));
    assert!(whole.contains("priory report examples/penguins.csv --target species -o r.html"));
    // Nothing is fetched, from nowhere.
    let addresses: Vec<&str> =
        whole.match_indices("http").map(|(at, _)| &whole[at..whole.len().min(at + 26)]).collect();
    assert!(
        addresses
            .iter()
            .all(|address| address.starts_with("http://www.w3.org/2000/svg")
                || address.starts_with("http-equiv")),
        "{addresses:?}"
    );
    assert!(!whole.contains(" src=") && !whole.contains("@import") && !whole.contains("url("));
    let script = whole.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    assert!(script.len() < 30_000, "{} bytes of script", script.len());
    // Ids are not given twice, so that labels and descriptions belong to one element each.
    let mut ids: Vec<&str> =
        whole.split(" id=\"").skip(1).map(|after| after.split_once('"').unwrap().0).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    assert_eq!(whole, page(&folder, "report examples/penguins.csv --target species -o r.html"));
}

#[test]
fn a_report_of_a_model_tests_it_only_if_there_are_rows() {
    let folder = folder();
    succeeds(&folder, "train examples/customers.csv --target left -o c.priory");
    let untested = page(&folder, "report c.priory -o r.html");
    assert!(untested.contains("was not tested here"));
    assert_eq!(headings(&untested), ["answer", "columns", "nomogram", "warnings", "made"]);
    let tested = page(&folder, "report c.priory examples/new-customers.csv -o r.html");
    assert!(tested.contains("tested by c.priory") && tested.contains("id=\"cut-off\""));
    // `evaluate` prints as ever, and writes the same page but for the command that makes it.
    let printed = succeeds(&folder, "evaluate c.priory examples/new-customers.csv");
    assert_eq!(succeeds(&folder, "evaluate c.priory examples/new-customers.csv --report r.html"), printed);
    let written = fs::read_to_string(folder.path().join("r.html")).unwrap();
    let without = |page: &str| {
        page.lines().filter(|line| !line.contains("To make it again")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without(&written), without(&tested));
    // By default the page is called like the data.
    succeeds(&folder, "report c.priory");
    assert!(folder.path().join("c.html").exists());
}

#[test]
fn cut_offs_are_those_of_the_evaluation() {
    let folder = folder();
    let page = page(&folder, "report examples/customers.csv --target left --folds 5 -o r.html");
    let data = data(&page);
    let report: Value = serde_json::from_str(&succeeds(
        &folder,
        "evaluate examples/customers.csv --target left --folds 5 --positive yes --cut-offs 0.2,0.3,0.5 --format json",
    ))
    .unwrap();
    let of = data["classes"].as_array().unwrap().iter().find(|of| of["name"] == "yes").unwrap();
    assert_eq!(data["usual"], "yes");
    let number = |value: &Value| value.as_f64().unwrap();
    for cut_off in report["cut_offs"]["cut_offs"].as_array().unwrap() {
        let at = data["cut_offs"].as_array().unwrap().iter().position(|p| p == &cut_off["cut_off"]).unwrap();
        let (hits, alarms) = (number(&of["hits"][at]), number(&of["alarms"][at]));
        assert_eq!(hits / number(&of["positives"]), number(&cut_off["recall"]));
        assert_eq!(alarms / number(&of["negatives"]), number(&cut_off["false_positive_rate"]));
        assert_eq!(hits / (hits + alarms), number(&cut_off["precision"]));
    }
    // Lower cut-offs are reached by more rows.
    let hits: Vec<f64> = of["hits"].as_array().unwrap().iter().map(number).collect();
    assert!(hits.windows(2).all(|pair| pair[0] >= pair[1]) && hits[0] == number(&of["positives"]));
}

#[test]
fn nothing_in_the_data_is_markup() {
    let folder = folder();
    let evil =
        ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'><svg onload=alert(1)>"];
    let mut table = format!("\"{}\",number<b>,words,y&y\n", evil[0].replace('"', "\"\""));
    for i in 0..90 {
        let name = |i: usize| evil[i % 3].replace('"', "\"\"");
        table.push_str(&format!(
            "\"{}\",{}.5,\"{} cheap pills and <script> number {i} of many words\u{202e}\",\"{}\"\n",
            name(i),
            i * 7 % 23,
            name(i + 1),
            name(i / 3 + i % 5 / 4)
        ));
    }
    fs::write(folder.path().join("evil.csv"), table).unwrap();
    let whole = page(&folder, "report evil.csv --target y&y --as words=text --folds 3 -o r.html");
    let tags: Vec<&str> =
        whole.split('<').skip(1).map(|tag| tag.split([' ', '>', '\n']).next().unwrap()).collect();
    let scripts = tags.iter().filter(|tag| **tag == "script").count();
    assert_eq!(scripts, 2, "the data and our script");
    assert!(!tags.iter().any(|tag| ["img", "b", "iframe", "object"].contains(tag)));
    assert!(!whole.contains("<svg onload") && !whole.contains('\u{202e}'));
    assert!(whole.contains("&lt;img src=x onerror=alert(1)&gt;"));
    // Attributes end where we end them: those that are there are ours.
    for tag in whole.split('<').skip(1).filter(|tag| !tag.starts_with('/')) {
        let tag = tag.split_once('>').map_or(tag, |(tag, _)| tag);
        assert!(!tag.contains("onerror=alert") || tag.contains("aria-label"), "{tag}");
    }
    assert!(data(&whole)["classes"].as_array().unwrap().iter().any(|of| of["name"] == evil[1]));
}

#[test]
fn what_to_look_at_twice_is_said() {
    let folder = folder();
    let mut table = "leak,mostly,steady,y\n".to_owned();
    let mut moved = table.clone();
    for i in 0..300 {
        let class = ["no", "yes"][i * i % 7 % 2];
        let mostly = if i % 4 == 0 { "a" } else { "" };
        table.push_str(&format!("{class}!,{mostly},{},{class}\n", i * 37 % 100));
        moved.push_str(&format!("{class}!,{mostly},{},{class}\n", 60 + i * 37 % 100));
    }
    fs::write(folder.path().join("t.csv"), &table).unwrap();
    fs::write(folder.path().join("moved.csv"), &moved).unwrap();
    let same = page(&folder, "report t.csv --target y --test t.csv -o r.html");
    assert!(same.contains("“leak” alone decides nearly everything"));
    assert!(same.contains("Mostly missing: mostly (75.0 %)"));
    assert!(!same.contains("holds something else"));
    let drifted = page(&folder, "report t.csv --target y --test moved.csv -o r.html");
    assert!(drifted.contains("“steady” holds something else in the rows of the test"));
    assert!(!drifted.contains("“leak” holds something else"));
    let fine = page(&folder, "report examples/penguins.csv --target species -o r.html");
    assert!(fine.contains("Nothing: no column looks like an identifier"));
}

#[test]
fn a_page_is_no_other_file() {
    let folder = folder();
    assert!(fails(&folder, "report examples/iris.csv --target species -o r.pdf").contains("something.html"));
    fs::copy(folder.path().join("examples/iris.csv"), folder.path().join("iris.html")).unwrap();
    assert!(!fails(&folder, "report iris.html --target species -o iris.html").is_empty());
    assert!(fs::read_to_string(folder.path().join("iris.html")).unwrap().starts_with("sepal"));
    succeeds(&folder, "train examples/iris.csv --target species -o i.priory");
    assert!(fails(&folder, "report i.priory --folds 3 -o r.html").contains("--folds"));
}

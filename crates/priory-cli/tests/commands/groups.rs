//! Rows that depend on each other: whatever the format, the order and the files, they are left out together.

use std::fs;

use crate::Folder;

/// Visits of customers, whose habits say nothing but who they are; as CSV and as JSON lines.
fn visits() -> (Vec<String>, Vec<String>) {
    let mut state = 7_u64;
    let mut below = move |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let (mut csv, mut json) = (Vec::new(), Vec::new());
    for customer in 0..40 {
        let (buys, habit) = (below(2), below(300));
        for _ in 0..8 {
            let mood = if below(10) < 7 { buys } else { below(2) };
            let note = format!("note {habit} mood {mood} word {}", below(40));
            let class = ["no", "yes"][buys as usize];
            csv.push(format!("c{customer},h{habit},{mood},{note},{class}"));
            json.push(format!(
                r#"{{"customer":"c{customer}","habit":"h{habit}","mood":{mood},"note":"{note}","buys":"{class}"}}"#
            ));
        }
    }
    (csv, json)
}

const HEADER: &str = "customer,habit,mood,note,buys";
const HOW: &str = "--target buys --group customer --as mood=category,note=text,habit=category";

fn folder() -> Folder {
    let folder = Folder::new();
    let (mut csv, json) = visits();
    folder.write("all.csv", &format!("{HEADER}\n{}\n", csv.join("\n")));
    folder.write("all.jsonl", &format!("{}\n", json.join("\n")));
    csv.reverse();
    for (name, part) in [("first.csv", &csv[..100]), ("second.csv", &csv[100..])] {
        folder.write(name, &format!("{HEADER}\n{}\n", part.join("\n")));
    }
    folder
}

#[test]
fn formats_files_order_and_threads_do_not_matter() {
    let folder = folder();
    let whole = folder.train(&format!("all.csv {HOW}"));
    assert!(folder.train(&format!("second.csv first.csv {HOW} --threads 3")) == whole);
    assert!(folder.train(&format!("all.jsonl {HOW} --threads 1")) == whole);
    assert!(
        folder.train(&format!("all.csv {} --ignore customer", HOW.replace("--group customer ", ""))) != whole
    );
    for part in ["first", "second"] {
        folder.stdout(&format!("train {part}.csv {HOW} --judge later -o {part}.priory"));
    }
    folder.stdout("merge first.priory second.priory -o both.priory");
    assert!(folder.bytes("both.priory") == whole);
    // What is learnt and forgotten again leaves nothing, and rows are predicted without their groups.
    folder.stdout("learn both.priory first.csv");
    folder.stdout("forget both.priory first.csv");
    assert!(folder.bytes("both.priory") == whole);
    folder.write("new.csv", "habit,mood,note\nh1,0,note 1 mood 0\n");
    assert!(folder.stdout("predict both.priory new.csv").starts_with("prediction\n"));
}

#[test]
fn customers_that_are_known_already_are_easier_to_predict() {
    let folder = folder();
    let loss = |arguments: &str| folder.json(arguments)["log_loss"].as_f64().unwrap();
    let known =
        loss("evaluate all.csv --target buys --ignore customer --as habit=category,mood=category,note=text");
    let new = loss(&format!("evaluate all.csv {HOW}"));
    assert!(known + 0.1 < new && new < 0.69, "{known} and {new}");
    let held_out = loss(&format!("evaluate all.csv {HOW} --holdout 0.4"));
    assert!(held_out < 0.69, "{held_out}");
}

#[test]
fn folders_above_those_of_the_classes_group_documents() {
    let folder = Folder::new();
    for (i, row) in visits().0.iter().enumerate() {
        let fields: Vec<&str> = row.split(',').collect();
        let place = folder.path("posts").join(fields[0]).join(fields[4]);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(format!("{i}.txt")), fields[3]).unwrap();
    }
    let loss = |arguments: &str| folder.json(arguments)["log_loss"].as_f64().unwrap();
    let known = loss("evaluate posts --documents");
    let new = loss("evaluate posts --documents --group folder");
    assert!(known + 0.1 < new && new < 0.72, "{known} and {new}");
}

#[test]
fn what_cannot_be_a_group_is_refused() {
    let folder = folder();
    let refused = |arguments: &str| folder.fails(1, arguments);
    let said = refused("train all.csv --target buys --group owner");
    assert!(said.contains("no column `owner`"), "{said}");
    let said = refused("evaluate all.csv --target buys --group customer --leave-one-out");
    assert!(said.contains("those of a `customer` depend on each other: use --folds"), "{said}");
    let said = refused("train all.csv --target buys --group customer --ignore customer");
    assert!(said.contains("the target, the weight or the group"), "{said}");
    let said = refused("train all.csv --target buys --group buys");
    assert!(said.contains("the column `buys` occurs twice"), "{said}");
    folder.stdout(&format!("train all.csv {HOW} -o m.priory"));
    folder.write("without.csv", "habit,mood,note,buys\nh1,0,note 1,yes\n");
    let said = refused("learn m.priory without.csv");
    assert!(said.contains("no column `customer`"), "{said}");
    folder.write("one.csv", &format!("{HEADER}\n{}", "c1,h1,0,note,yes\nc1,h2,1,other,no\n".repeat(40)));
    folder.stdout(&format!("train one.csv {HOW} -o one.priory"));
    let said = refused(&format!("train one.csv {HOW} --judge full -o one.priory"));
    assert!(said.contains("rows are of one group"), "{said}");
}

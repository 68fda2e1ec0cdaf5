//! Files: the same rows give the same bytes, however they are reached, and a failure leaves the old ones.

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
    for options in ["--target y --weight w", "--target y --ignore w", "--target y --ignore w --as *=joint"] {
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
        let message = folder.fails(1, "forget m.priory never.csv");
        named.iter().for_each(|part| assert!(message.contains(part), "{part} is not in {message}"));
        assert!(message.contains("never.csv"), "{message}");
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
            let changed = folder.stdout(&format!("{} {settings}", command.replace("MODEL", "plain.priory")));
            assert_eq!(changed, folder.stdout(&command.replace("MODEL", "set.priory")), "{settings}");
        }
    }
}

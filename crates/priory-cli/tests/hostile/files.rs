//! Files, models and schemas that cannot be read or written.

use super::*;

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    folder.write("t.csv", "a,y\n1,p\n0,q\n");
    folder.stdout("train t.csv --target y -o m.priory");
    fs::create_dir(folder.path("folder")).unwrap();
    // A folder may hold documents, but is never a model.
    let without_documents = "folder: this is a folder without documents";
    let is_directory = "folder: cannot be read: Is a directory (os error 21)";
    for (arguments, expected) in [
        ("train folder --target y", without_documents),
        ("train t.csv folder --target y", without_documents),
        ("predict m.priory folder", without_documents),
        ("show folder", is_directory),
        ("merge m.priory folder -o n.priory", is_directory),
    ] {
        assert_eq!(folder.refusal(arguments), expected, "priory {arguments}");
    }
    for arguments in
        ["train t.csv --target y -o folder", "predict m.priory t.csv -o folder", "learn folder t.csv"]
    {
        let message = folder.refusal(arguments);
        assert!(message.starts_with("folder: cannot be ") && message.contains("Is a directory"), "{message}");
    }
    let message = folder.refusal("train nowhere.csv --target y");
    assert_eq!(message, "nowhere.csv: cannot be opened: No such file or directory (os error 2)");
    let message = folder.refusal("train t.csv/t.csv --target y");
    assert_eq!(message, "t.csv/t.csv: cannot be opened: Not a directory (os error 20)");

    let locked = folder.path("locked.csv");
    folder.write("locked.csv", "a,y\n1,p\n");
    let mut permissions = fs::metadata(&locked).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o000);
    fs::set_permissions(&locked, permissions).unwrap();
    if fs::File::open(&locked).is_ok() {
        eprintln!("not tested: every file is readable for this user");
        return;
    }
    let message = folder.refusal("train locked.csv --target y");
    assert_eq!(message, "locked.csv: cannot be opened: Permission denied (os error 13)");
}

#[test]
fn models_that_are_none() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\nu,1.5,p\nv,2.5,q\n").write("empty.priory", "");
    folder.stdout("train t.csv --target y -o m.priory");
    let model = fs::read(folder.path("m.priory")).unwrap();
    folder.write("cut.priory", &model[..model.len() - 1]);
    folder.write("longer.priory", [model.as_slice(), b"x"].concat());
    let mut changed = model.clone();
    changed[model.len() / 2] ^= 4;
    folder.write("changed.priory", changed);
    for name in ["t.csv", "empty.priory", "cut.priory", "longer.priory", "changed.priory"] {
        for arguments in [
            format!("show {name}"),
            format!("predict {name} t.csv -o p.csv"),
            format!("learn {name} t.csv"),
            format!("merge m.priory {name} -o n.priory"),
        ] {
            let message = folder.refusal(&arguments);
            assert!(message.starts_with(&format!("{name}: not a usable model file: ")), "{message}");
        }
    }
    // What never ends is recognised by its beginning.
    let message = folder.refusal("show /dev/zero");
    assert!(message.starts_with("/dev/zero: not a usable model file: "), "{message}");
    folder.write("large.csv", "");
    fs::File::options().write(true).open(folder.path("large.csv")).unwrap().set_len(1 << 40).unwrap();
    let message = sentence("show large.csv", &folder.command("show large.csv").output().unwrap());
    assert!(message.starts_with("large.csv: not a usable model file: "), "{message}");
}

#[test]
fn models_of_another_table() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\nu,1.5,p\nv,2.5,q\n").write("other.csv", "c,d,z\nu,1.5,p\nv,2.5,q\n");
    folder.stdout("train t.csv --target y -o m.priory");
    folder.stdout("train other.csv --target z -o o.priory");
    let cases = [
        ("predict m.priory other.csv", "other.csv: none of the model's features is in this table"),
        ("learn m.priory other.csv", "other.csv: there is no target column `y`"),
        ("merge m.priory o.priory -o n.priory", "the models do not describe the same table"),
        ("predict m.priory m.priory", "m.priory: this is a binary file"),
        ("train m.priory --target y -o n.priory", "m.priory: this is a binary file"),
    ];
    for (arguments, expected) in cases {
        let message = folder.refusal(arguments);
        assert!(message.contains(expected), "priory {arguments}: {message}");
    }
}

#[test]
fn standard_input_can_be_read_once() {
    let folder = Folder::new();
    folder.write("t.csv", "a,y\n1,p\n0,q\n");
    folder.stdout("train t.csv --target y -o m.priory");
    for arguments in ["train - - --target y", "train - t.csv - --target y", "learn m.priory - -"] {
        let (message, _) = folder.refusal_of_stream(arguments, b"a,y\n1,p\n0,q\n", b"", 1);
        assert_eq!(message, "standard input can be read only once", "priory {arguments}");
    }
    // A file is as good the second time: its rows count twice.
    assert!(folder.remarks("train t.csv t.csv --target y -o n.priory").contains("4 rows"));
}

#[test]
fn a_full_disk_leaves_things_as_they_were() {
    let folder = Folder::new();
    let rows: String = (0..20_000).map(|i| format!("v{i},{}\n", i % 2)).collect();
    folder.write("t.csv", format!("a,y\n{rows}")).write("small.csv", "a,y\nv1,0\nv2,1\n");
    folder.stdout("train small.csv --target y -o m.priory");
    folder.stdout("predict m.priory small.csv -o p.csv");
    folder.stdout("train t.csv --target y --as a=category -o large.priory");
    // A file may have so few bytes that a small one fits and a large one breaks off.
    for arguments in [
        "train t.csv --target y --as a=category -o m.priory",
        "train t.csv --target y --as a=category -o new.priory",
        "predict m.priory t.csv --probabilities -o p.csv",
        "predict m.priory t.csv --probabilities -o new.csv",
        "learn m.priory t.csv",
        "merge m.priory large.priory -o new.priory",
    ] {
        let message = folder.refusal_of(arguments, folder.prepared("trap '' XFSZ; ulimit -f 16;", arguments));
        assert!(message.contains(": cannot be written: File too large (os error 27)"), "{message}");
    }
    for arguments in [
        "train t.csv --target y --as a=category",
        "predict m.priory t.csv",
        "schema t.csv --target y --as a=category",
    ] {
        let message = folder.refusal(&format!("{arguments} -o /dev/full"));
        assert_eq!(message, "/dev/full: cannot be written: No space left on device (os error 28)");
    }
    for arguments in [
        "predict m.priory t.csv",
        "show large.priory",
        "evaluate t.csv --target y --as a=category --format json",
    ] {
        let message = folder.refusal_of(arguments, folder.prepared("exec >/dev/full;", arguments));
        assert_eq!(message, "standard output: cannot be written: No space left on device (os error 28)");
    }
}

#[test]
fn an_output_that_is_also_read() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\nu,1,p\nv,2,q\n").write("words.txt", "the\n");
    folder.write("counts.csv", "column,value,beta\na,u,2\n").write("data.priory", "a,b,y\nu,1,p\nv,2,q\n");
    folder.stdout("train t.csv --target y -o m.priory");
    folder.stdout("train t.csv --target y -o n.priory");
    folder.stdout("schema t.csv --target y -o s.json");
    fs::hard_link(folder.path("t.csv"), folder.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("m.priory", folder.path("soft.priory")).unwrap();
    fs::create_dir_all(folder.path("documents/p")).unwrap();
    fs::create_dir_all(folder.path("documents/q")).unwrap();
    folder.write("documents/p/1", "to be").write("documents/q/2", "or not");
    for (arguments, output, read) in [
        // Without -o, a table of this name would be the model.
        ("train data.priory --target y", "data.priory", ""),
        ("train t.csv --target y -o t.csv", "t.csv", ""),
        ("train t.csv --target y -o ./t.csv", "./t.csv", " as t.csv"),
        ("train t.csv --target y -o hard.csv", "hard.csv", " as t.csv"),
        ("train m.priory t.csv --target y -o t.csv", "t.csv", ""),
        ("train *.csv --target y -o hard.csv", "hard.csv", ""),
        ("train t.csv --schema s.json -o s.json", "s.json", ""),
        ("train t.csv --target y --as a=text --stop-words words.txt -o words.txt", "words.txt", ""),
        ("train t.csv --target y --smoothing a=dirichlet:counts.csv -o counts.csv", "counts.csv", ""),
        ("train --documents documents -o documents/q/2", "documents/q/2", " as documents"),
        ("schema t.csv --target y -o hard.csv", "hard.csv", " as t.csv"),
        ("predict m.priory t.csv -o m.priory", "m.priory", ""),
        ("predict m.priory t.csv -o soft.priory", "soft.priory", " as m.priory"),
        ("predict m.priory t.csv -o hard.csv", "hard.csv", " as t.csv"),
        ("predict m.priory hard.csv -o t.csv --format parquet", "t.csv", " as hard.csv"),
        ("merge m.priory n.priory -o n.priory", "n.priory", ""),
        ("merge n.priory soft.priory -o m.priory", "m.priory", " as soft.priory"),
    ] {
        let message = folder.refusal(arguments);
        let expected =
            format!("{output}: cannot be written, since it is also read{read}; name another file with -o");
        assert_eq!(message, expected, "priory {arguments}");
    }
    let message = folder.refusal_of(
        "predict m.priory - -o t.csv",
        folder.prepared("exec < hard.csv;", "predict m.priory - -o t.csv"),
    );
    let expected =
        "t.csv: cannot be written, since it is also read as standard input; name another file with -o";
    assert_eq!(message, expected);
    // A model that is to be changed is read and written, and a device is nobody's.
    folder.stdout("learn m.priory t.csv");
    folder.stdout("predict m.priory t.csv -o /dev/null");
}

#[test]
fn schemas_that_are_none() {
    let folder = Folder::new();
    folder.write("t.csv", "a,y\n1,p\n0,q\n").write("s.json", "{\"schema\":").write("b.json", b"\xff\xfe");
    for schema in ["s.json", "b.json", "t.csv", "nowhere.json"] {
        let message = folder.refusal(&format!("train t.csv --schema {schema}"));
        assert!(message.starts_with(&format!("{schema}: ")), "{message}");
    }
}

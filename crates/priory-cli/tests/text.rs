//! Text from the shell: the same bytes on any number of threads and from any split, and hostile documents.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

fn priory(folder: &Path, arguments: &[&str]) -> Output {
    Command::cargo_bin("priory").unwrap().current_dir(folder).args(arguments).output().unwrap()
}

#[track_caller]
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = priory(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Words by a rule that repeats some often and others never.
fn document(i: u64) -> String {
    let mut state = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut words = Vec::new();
    for _ in 0..5 + i % 30 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (range, offset) = if state >> 60 < 12 { (50, 0) } else { (20_000, i % 3 * 7) };
        words.push(format!("w{}", (state >> 33) % range + offset));
    }
    words.join(" ")
}

fn rows(numbers: impl Iterator<Item = u64>) -> String {
    numbers.map(|i| format!("c{},{},\"{}\"\n", i % 3, i % 7, document(i))).collect()
}

#[test]
fn single_documents_are_those_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for i in 0..12 {
        let class = folder.join(format!("mails/c{}", i % 2));
        std::fs::create_dir_all(&class).unwrap();
        std::fs::write(class.join(i.to_string()), document(i)).unwrap();
    }
    done(folder, &["train", "--documents", "mails", "-o", "m.priory"]);
    let before = std::fs::read(folder.join("m.priory")).unwrap();
    let whole = done(folder, &["predict", "m.priory", "--documents", "mails", "--probabilities"]);
    let paths: Vec<&str> = whole.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(paths.len(), 12);
    let single = [&["predict", "m.priory", "--probabilities", "--document"][..], &paths].concat();
    assert_eq!(done(folder, &single), whole);

    // The standard input is one document, lines and all.
    let mut command = Command::cargo_bin("priory").unwrap();
    command.current_dir(folder).args(["predict", "m.priory", "--document", "-", "--probabilities"]);
    let typed = command.write_stdin(document(3).replace(' ', "\n")).output().unwrap();
    let typed = String::from_utf8(typed.stdout).unwrap();
    let of_file = whole.lines().find(|line| line.starts_with("mails/c1/3,")).unwrap();
    assert_eq!(typed.lines().nth(1).unwrap(), of_file.replace("mails/c1/3,", "-,"));

    // Learnt and forgotten, nothing is left of it.
    done(folder, &["learn", "m.priory", "--document", "mails/c0/0", "mails/c1/3", "--class", "c9"]);
    assert_ne!(std::fs::read(folder.join("m.priory")).unwrap(), before);
    done(folder, &["forget", "m.priory", "--document", "mails/c1/3", "mails/c0/0", "--class", "c9"]);
    assert_eq!(std::fs::read(folder.join("m.priory")).unwrap(), before);

    // One that is not there is said before anything is written.
    let output = priory(folder, &["predict", "m.priory", "--document", "mails/c0/0", "nothing.eml"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: nothing.eml: cannot be opened"), "{message}");
    assert!(output.stdout.is_empty() && output.status.code() == Some(1));
    let output = priory(folder, &["learn", "m.priory", "x.csv", "--class", "c0"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("--document names"));
}

#[test]
fn threads_and_splits_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    write("all.csv", format!("class,n,text\n{}", rows(0..20_000)));
    write("even.csv", format!("class,n,text\n{}", rows((0..20_000).filter(|i| i % 2 == 0))));
    write("odd.csv", format!("class,n,text\n{}", rows((0..20_000).filter(|i| i % 2 == 1).rev())));
    // The parts that are merged would each be judged by themselves.
    let train = ["--target", "class", "--as", "text=text,n=category", "--judge", "none", "-o"];
    let train = |data: &[&str], output: &str, threads: &str| {
        done(folder, &[&["train"], data, &train, &[output, "--threads", threads]].concat());
        std::fs::read(folder.join(output)).unwrap()
    };
    let one = train(&["all.csv"], "1.priory", "1");
    assert_eq!(train(&["all.csv"], "4.priory", "4"), one);
    assert_eq!(train(&["odd.csv", "even.csv"], "2.priory", "3"), one);
    train(&["even.csv"], "even.priory", "2");
    train(&["odd.csv"], "odd.priory", "2");
    done(folder, &["merge", "odd.priory", "even.priory", "-o", "merged.priory"]);
    assert_eq!(std::fs::read(folder.join("merged.priory")).unwrap(), one);
    done(folder, &["forget", "merged.priory", "odd.csv"]);
    assert_eq!(
        std::fs::read(folder.join("merged.priory")).unwrap(),
        std::fs::read(folder.join("even.priory")).unwrap()
    );
    let predict =
        |threads| done(folder, &["predict", "1.priory", "odd.csv", "--probabilities", "--threads", threads]);
    assert_eq!(predict("1"), predict("4"));
}

#[test]
fn hostile_documents_are_defined_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for class in ["a", "b"] {
        std::fs::create_dir_all(folder.join("documents").join(class)).unwrap();
    }
    let write =
        |name: &str, bytes: &[u8]| std::fs::write(folder.join("documents").join(name), bytes).unwrap();
    write("a/long", "x".repeat(10 << 20).as_bytes());
    write("a/many", (0..300_000).map(|i| format!("w{i} ")).collect::<String>().as_bytes());
    write("a/invalid", b"caf\xe9 \xff\xfe\xfd ol\xe9");
    write("b/nul", b"one\0two\0\0three");
    write("b/bidi", "v\u{200b}iagra \u{202e}evil\u{202c} \u{2066}x\u{2069}".as_bytes());
    write("b/empty", b"");
    write("b/blank", b" \n\t\r\n ");
    write("README", b"beside the classes");
    let output = priory(folder, &["train", "--documents", "documents", "-o", "m.priory"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    assert!(message.contains("1 row skipped: `class` is missing"), "{message}");
    let shown = done(folder, &["show", "m.priory", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["rows"], 7);
    let text = &shown["features"][0]["text"];
    assert_eq!(text["documents"], serde_json::json!({"a": 3.0, "b": 4.0}));
    assert!(text["tokens"].as_u64().unwrap() > 300_000);

    // What is not a folder of documents is refused with a sentence.
    std::fs::write(folder.join("no.tar"), [b'x'; 2000]).unwrap();
    std::fs::create_dir(folder.join("nothing")).unwrap();
    for (data, expected) in
        [("no.tar", "neither a folder of documents nor a tar archive"), ("nothing", "nothing")]
    {
        let output = priory(folder, &["train", "--documents", data, "-o", "no.priory"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(expected), "{message}");
    }
}

#[test]
fn archives_are_read_and_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // A header of 512 bytes by hand: name, size in octal, kind, sum.
    let entry = |name: &str, kind: u8, contents: &[u8]| {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", contents.len()).as_bytes());
        header[156] = kind;
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte: &u8| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        header.extend_from_slice(contents);
        header.resize(header.len().next_multiple_of(512), 0);
        header
    };
    let long = format!("x/{}/spam/3", "y".repeat(200));
    let record = format!("{} path={long}\n", long.len() + 10);
    let archive = [
        entry("root/", b'5', b""),
        entry("root/ham/1", b'0', b"do math today"),
        entry("root/ham/.hidden", b'0', b"nothing"),
        entry("root/spam/2", b'0', b"buy drugs"),
        entry("pax", b'x', record.as_bytes()),
        entry("short", b'0', b"buy book"),
        vec![0; 1024],
    ]
    .concat();
    std::fs::write(folder.join("a.tar"), &archive).unwrap();
    std::fs::write(folder.join("cut.tar"), &archive[..1500]).unwrap();
    let shown = |arguments: &[&str]| {
        done(folder, &[&["train"], arguments, &["-o", "m.priory"]].concat());
        let shown = done(folder, &["show", "m.priory", "--format", "json"]);
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["features"][0]["text"]["documents"].clone()
    };
    assert_eq!(shown(&["a.tar", "--documents"]), serde_json::json!({"ham": 1.0, "spam": 2.0}));
    assert_eq!(shown(&["a.tar", "--target", "class"]), serde_json::json!({"ham": 1.0, "spam": 2.0}));
    let output = priory(folder, &["train", "--documents", "cut.tar", "-o", "no.priory"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("damaged or cut short"), "{message}");
    std::fs::write(folder.join("v.vw"), "spam 1.0 |words buy drugs:2\nham | do math\n").unwrap();
    assert_eq!(shown(&["v.vw", "--target", "class"]), serde_json::json!({"ham": 1.0, "spam": 1.0}));
}

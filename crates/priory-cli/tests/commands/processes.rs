//! Processes that are killed, run at the same time, or are at either end of a pipe.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::Instant;

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
        assert!(left == old || left == new, "killed in try {i}, neither the old file nor the new is left");
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

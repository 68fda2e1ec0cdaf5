//! Processes that are killed, run at the same time, or are at either end of a pipe.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

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
    let expected = folder.train(&format!("first.csv {} --target y --judge none", tables.join(" ")));

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
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!((child.wait().unwrap().code(), message.as_str()), (Some(0), ""), "priory {arguments}");
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
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "priory {arguments}");
        assert!(message.starts_with("error: standard output: ") && message.lines().count() == 1, "{message}");
    }
    let message = folder.fails(1, "predict m.priory examples/tennis.csv -o /dev/full");
    assert!(message.starts_with("error: /dev/full: ") && message.lines().count() == 1, "{message}");
}

/// Makes a named pipe.
fn make_pipe(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.path(name);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_model_is_read_from_a_named_pipe_once() {
    let folder = Folder::new();
    // More than a pipe holds, so that a reader who goes away early is noticed.
    let rows: String = (0..10_000).map(|i| format!("a long value with the number {i},{}\n", i % 2)).collect();
    folder.write("t.csv", &format!("x,y\n{rows}")).write("new.csv", "x\na long value with the number 7\n");
    folder.stdout("train t.csv --target y --as x=category -o m.priory");
    folder.stdout("train t.csv --target y --as x=text -o text.priory");
    let pipe = make_pipe(&folder, "pipe");
    for (model, arguments) in [
        ("m.priory", "predict MODEL new.csv --probabilities"),
        ("text.priory", "predict MODEL new.csv --probabilities"),
        ("text.priory", "predict MODEL new.csv --probabilities --prior given:0=0.9,1=0.1"),
        ("text.priory", "predict MODEL t.csv"),
        ("m.priory", "show MODEL"),
    ] {
        let bytes = folder.bytes(model);
        assert!(bytes.len() > 1 << 17);
        let mut child = start(&folder, &arguments.replace("MODEL", "pipe"));
        let written = fs::write(&pipe, &bytes);
        if written.is_err() {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert!(written.is_ok(), "priory {arguments}: the pipe was closed before its end");
        assert_eq!(text(&output.stdout), folder.stdout(&arguments.replace("MODEL", model)));
    }
    let message = folder.fails(1, "learn pipe t.csv");
    assert_eq!(message, "error: pipe: cannot be locked: only a regular file can be changed in place\n");
}

/// Runs a line of shell in which `priory` is the program, which succeeds; returns its standard output.
fn shell(folder: &Folder, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_priory")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).env("PATH", path).current_dir(folder.folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_is_open_already_is_written_to_and_not_replaced() {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play -o m.priory");
    let expected = folder.stdout("predict m.priory examples/tennis.csv");
    std::os::unix::fs::symlink("/dev/stdout", folder.path("link")).unwrap();
    let predict = "priory predict m.priory examples/tennis.csv -o";
    for line in [
        "{ echo before; PREDICT /dev/stdout; echo after; } > out.csv",
        "{ echo before; PREDICT /dev/fd/1; echo after; } > out.csv",
        "{ echo before; PREDICT /proc/self/fd/1; echo after; } > out.csv",
        "{ echo before; PREDICT ./link; echo after; } > out.csv",
        "{ echo before; PREDICT /dev/stderr; echo after; } > out.csv 2>&1",
        "echo before > out.csv; { PREDICT /dev/fd/3; echo after >&3; } 3>> out.csv",
        "{ echo before; PREDICT /dev/stdout; echo after; } | cat > out.csv",
    ] {
        folder.write("out.csv", "old");
        shell(&folder, &line.replace("PREDICT", predict));
        assert_eq!(text(&folder.bytes("out.csv")), format!("before\n{expected}after\n"), "{line}");
    }
    make_pipe(&folder, "pipe");
    shell(&folder, &format!("{predict} pipe & cat pipe > out.csv; wait"));
    assert_eq!(text(&folder.bytes("out.csv")), expected);
    // Only the last of these is no link.
    folder.write("out.csv", "old");
    std::os::unix::fs::symlink("out.csv", folder.path("first")).unwrap();
    std::os::unix::fs::symlink("first", folder.path("second")).unwrap();
    shell(&folder, &format!("{predict} second"));
    assert!(
        ["first", "second"].iter().all(|link| fs::symlink_metadata(folder.path(link)).unwrap().is_symlink())
    );
    assert_eq!(text(&folder.bytes("out.csv")), expected);
}

/// The names of everything in a folder, in order.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts a prediction that has begun to write `out.csv` and cannot end before its standard input does.
fn start_writing(folder: &Folder, mut command: std::process::Command) -> (Child, ChildStdin) {
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A line more than is read to see what the table is.
    let row = b"S,H,H,W\n";
    stdin.write_all(b"outlook,temperature,humidity,wind\n").unwrap();
    stdin.write_all(&row.repeat(1 + (1 << 20) / row.len())).unwrap();
    while !names_in(folder.folder.path()).iter().any(|name| name.starts_with(".priory-")) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended before it began to write");
        std::thread::yield_now();
    }
    (child, stdin)
}

fn send(signal: &str, child: &Child) {
    let kill = std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// From now on, these signals end the programs that are started here, even if they do not end the tests. What a process ignores,
/// the programs that it starts ignore too; what it handles, they do not.
fn let_signals_end_children() {
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        let as_usual = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(signal, as_usual).unwrap();
    }
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let_signals_end_children();
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play -o m.priory");
    fs::create_dir(folder.path("temporary")).unwrap();
    let before = names_in(folder.folder.path());
    for (signal, number) in [("HUP", 1), ("INT", 2), ("TERM", 15)] {
        let (mut child, _stdin) = start_writing(&folder, folder.command("predict m.priory - -o out.csv"));
        send(signal, &child);
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(number));
        assert_eq!(names_in(folder.folder.path()), before, "after {signal}");
    }
    // What is kept of a pipe has no name at all.
    let mut child = folder
        .command("evaluate - --target play")
        .env("TMPDIR", folder.path("temporary"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&[b'x'; 1 << 17]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(names_in(&folder.path("temporary")).is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_that_is_to_be_ignored_is_ignored() {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play -o m.priory");
    let mut command = std::process::Command::new("sh");
    let line = "trap '' HUP INT; exec \"$0\" predict m.priory - -o out.csv";
    command.args(["-c", line, env!("CARGO_BIN_EXE_priory")]).current_dir(folder.folder.path());
    let (mut child, stdin) = start_writing(&folder, command);
    ["HUP", "INT"].iter().for_each(|signal| send(signal, &child));
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(text(&folder.bytes("out.csv")).starts_with("prediction\n"));
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
    let of_file = folder.run("evaluate examples/tennis.csv --target play");
    assert_eq!(text(&output.stderr), text(&of_file.stderr));
    assert_eq!(text(&output.stdout), text(&of_file.stdout));
}

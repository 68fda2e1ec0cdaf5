//! Documents that run: every `console` block in the README and in `docs/` is a shell session.
//!
//! Lines that start with `$ ` are commands, what follows is what they print to either stream; `? 1` at the end is an
//! exit code other than 0. All sessions of a document share one folder, in which `examples/` is the project's own.
//! With `TRANSCRIPTS=overwrite` the documents are rewritten to what is printed now.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn documents_tell_the_truth() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut documents = vec![project.join("README.md")];
    let guides = std::fs::read_dir(project.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    documents.extend(guides.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    documents.sort();
    let mut wrong = Vec::new();
    let mut commands = 0;
    for document in documents {
        let expected = std::fs::read_to_string(&document).unwrap();
        let (found, count) = replay(&project, &expected);
        commands += count;
        if found == expected {
            continue;
        }
        if std::env::var("TRANSCRIPTS").is_ok_and(|value| value == "overwrite") {
            std::fs::write(&document, &found).unwrap();
        }
        wrong.push(format!("{}\n{}", document.display(), first_difference(&expected, &found)));
    }
    assert!(commands >= 20, "only {commands} commands were found in the documents");
    assert!(
        wrong.is_empty(),
        "{} documents differ from what is printed:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// The document with every command's output as it is now, and how many commands there are.
fn replay(project: &Path, document: &str) -> (String, usize) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(project.join("examples"), folder.path().join("examples")).unwrap();
    let mut result = String::new();
    let mut commands = 0;
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        writeln!(result, "{line}").unwrap();
        if line != "```console" {
            continue;
        }
        while let Some(command) = lines.next_if(|line| *line != "```") {
            let Some(command) = command.strip_prefix("$ ") else { continue };
            writeln!(result, "$ {command}").unwrap();
            result.push_str(&run(folder.path(), command));
            commands += 1;
            if command.is_empty() {
                break;
            }
        }
    }
    (result, commands)
}

/// What a command prints, and its exit code unless that is 0.
fn run(folder: &Path, command: &str) -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_priory"));
    let command =
        command.replace("cargo run --release --", "priory").replace("cargo run --release -q --", "priory");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("COLUMNS", "100")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    let mut printed = String::from_utf8(output.stdout).unwrap();
    if !printed.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => writeln!(printed, "? {code}").unwrap(),
        None => printed.push_str("? killed\n"),
    }
    printed
}

fn first_difference(expected: &str, found: &str) -> String {
    let pairs = expected.lines().zip(found.lines().chain(std::iter::repeat("")));
    match pairs.enumerate().find(|(_, (a, b))| a != b) {
        Some((i, (a, b))) => format!("line {}:\n  written: {a}\n  found:   {b}", i + 1),
        None => "something is missing at the end".to_owned(),
    }
}

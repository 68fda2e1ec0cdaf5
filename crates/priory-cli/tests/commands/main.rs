//! What a transcript cannot show: JSON, bytes on disk, processes that are killed or run at the same time, exit codes.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bytes;
mod counts;
mod decide;
mod evaluate;
mod json;
mod judge;
mod mail;
mod manners;
mod processes;
#[cfg(feature = "serve")]
mod serve;
mod spreadsheets;
mod stream;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

/// A folder of its own for each test, in which the program runs; `examples/` is the project's.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap();
        std::os::unix::fs::symlink(examples, folder.path().join("examples")).unwrap();
        Folder { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program with these arguments, which are separated by spaces.
    fn command(&self, arguments: &str) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_priory"));
        command.args(arguments.split(' ')).current_dir(self.folder.path());
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    /// Runs the program and returns what came of it, whatever that is.
    fn run(&self, arguments: &str) -> Output {
        assert_cmd::Command::from_std(self.command(arguments)).output().unwrap()
    }

    /// Runs the program, which succeeds, and returns its standard output.
    fn stdout(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.stdout(&format!("{arguments} --format json"))).unwrap()
    }

    /// Runs the program, which fails with this exit code, and returns its standard error.
    fn fails(&self, code: i32, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stderr)
    }

    /// Trains on a table and returns the bytes of the model.
    fn train(&self, arguments: &str) -> Vec<u8> {
        self.stdout(&format!("train {arguments} -o trained.priory"));
        self.bytes("trained.priory")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A table of these lines under the header `a,b,w,y`.
fn table(rows: &[&str]) -> String {
    format!("a,b,w,y\n{}\n", rows.join("\n"))
}

/// A table with many different rows: `rows` of them, 4 columns, 3 classes.
fn large_table(rows: u32, seed: u32) -> String {
    let mut table = String::from("a,b,c,d,y\n");
    let mut x = seed;
    for _ in 0..rows {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let digits = [x >> 8 & 7, x >> 12 & 15, x >> 17 & 3, x >> 20 & 1, (x >> 24) % 3];
        table.push_str(&digits.map(|digit| digit.to_string()).join(","));
        table.push('\n');
    }
    table
}

fn assert_has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "`{name}` is not in {value}");
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn assert_close(value: &Value, expected: f64, within: f64) {
    assert!((number(value) - expected).abs() <= within, "{value} is not {expected}");
}

//! Bad input: one clear sentence, exit code 1, no panic, nothing half-written, and no more memory than good input takes.
//!
//! Every run has its memory limited by the system, so that whoever asks for too much dies instead of failing politely.
//! A format is added with a module of its own: a table of bytes and the sentence that they deserve.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[cfg(feature = "arrow")]
mod columnar;
mod endless;
mod files;
mod json_lines;
mod many_classes;
mod packed;
mod svmlight;
mod text_tables;
#[cfg(feature = "spreadsheets")]
mod workbooks;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

/// Enough for any table, however large.
const MEMORY: u64 = 600 << 20;
/// The longest record that is read, in bytes.
const LONGEST_RECORD: usize = 64 << 20;

/// A folder of its own for each test, in which the program runs.
struct Folder {
    folder: tempfile::TempDir,
    memory: u64,
}

impl Folder {
    fn new() -> Self {
        Folder { folder: tempfile::tempdir().unwrap(), memory: MEMORY }
    }

    fn with_memory(memory: u64) -> Self {
        Folder { memory, ..Folder::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    /// Every file with its contents. What is no file counts with its name only.
    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut contents: Vec<_> =
            entries.map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect();
        contents.sort();
        contents
    }

    /// The program with these arguments, which are separated by spaces, run by a shell after this preparation.
    fn prepared(&self, preparation: &str, arguments: &str) -> Command {
        let mut command = Command::new("sh");
        let kibibytes = self.memory >> 10;
        command
            .args(["-c", &format!("ulimit -v {kibibytes}; {preparation} exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_priory"))
            .args(arguments.split(' '))
            .current_dir(self.folder.path())
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    fn command(&self, arguments: &str) -> Command {
        self.prepared("", arguments)
    }

    /// Runs the program, which succeeds, and returns its standard output.
    fn stdout(&self, arguments: &str) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs the program, which succeeds, and returns what it says beside the results.
    fn remarks(&self, arguments: &str) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "priory {arguments}: {}", text(&output.stderr));
        text(&output.stderr)
    }

    /// Runs the program, which fails as it should and leaves the folder as it was, and returns its sentence.
    fn refusal(&self, arguments: &str) -> String {
        self.refusal_of(arguments, self.command(arguments))
    }

    fn refusal_of(&self, arguments: &str, mut command: Command) -> String {
        let before = self.contents();
        let output = command.output().unwrap();
        assert!(self.contents() == before, "priory {arguments}: the folder is not as it was");
        sentence(arguments, &output)
    }

    /// As `refusal`, with standard input: the head and then the part again and again, up to so many bytes or until
    /// nobody reads on. Also returns how many were read.
    fn refusal_of_stream(&self, arguments: &str, head: &[u8], part: &[u8], most: usize) -> (String, usize) {
        let before = self.contents();
        let (output, written) = self.run_on_stream(arguments, head, part, most);
        assert!(self.contents() == before, "priory {arguments}: the folder is not as it was");
        (sentence(arguments, &output), written)
    }

    fn run_on_stream(&self, arguments: &str, head: &[u8], part: &[u8], most: usize) -> (Output, usize) {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            let writer = scope.spawn(move || {
                let mut written = 0;
                let mut next = head;
                while written < most && stdin.write_all(next).is_ok() {
                    written += next.len();
                    next = part;
                }
                written
            });
            let output = child.wait_with_output().unwrap();
            (output, writer.join().unwrap())
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The one sentence of a failure, which may be followed by a hint.
fn sentence(arguments: &str, output: &Output) -> String {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "priory {arguments}: {:?} {message}", output.status);
    assert!(output.stdout.is_empty(), "priory {arguments}: {}", text(&output.stdout));
    let mut lines = message.lines();
    let sentence = lines.next().and_then(|line| line.strip_prefix("error: "));
    let sentence = sentence.unwrap_or_else(|| panic!("priory {arguments}: {message}"));
    assert!(lines.next().is_none_or(|line| line.starts_with("hint: ")), "priory {arguments}: {message}");
    assert_eq!(lines.next(), None, "priory {arguments}: {message}");
    assert!(message.len() < 3_000, "priory {arguments}: {} bytes to say it", message.len());
    sentence.to_owned()
}

/// Each of these tables, as the file `t.csv`, is refused with its sentence by every command that reads tables.
fn check_all(cases: &[(&[u8], &str)]) {
    check_all_named("t.csv", "--target y", cases);
}

fn check_all_named(name: &str, options: &str, cases: &[(&[u8], &str)]) {
    let folder = Folder::new();
    folder.write("good.csv", "a,b,y\n1,2,p\n3,4,q\n");
    folder.stdout("train good.csv --target y -o m.priory");
    let input_options = options.strip_prefix("--target y").unwrap();
    for (bytes, expected) in cases {
        folder.write(name, bytes);
        let message = folder.refusal(&format!("train {name} {options}"));
        assert_eq!(message, format!("{name}: {expected}"));
        for command in [
            format!("schema {name} {options} -o s.json"),
            format!("evaluate {name} {options}"),
            format!("predict m.priory {name}{input_options} -o p.csv"),
            format!("learn m.priory {name}{input_options}"),
            format!("forget m.priory {name}{input_options}"),
        ] {
            assert_eq!(folder.refusal(&command), message, "priory {command}");
        }
    }
}

//! Bad input: one clear sentence, exit code 1, no panic, nothing half-written, and no more memory than good input takes.
//!
//! Every run has its memory limited by the system, so that whoever asks for too much dies instead of failing politely.
//! A format is added with a module of its own: a table of bytes and the sentence that they deserve.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

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
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "priory {arguments}: {:?} {told}", output.status);
    assert!(output.stdout.is_empty(), "priory {arguments}: {}", text(&output.stdout));
    let mut lines = told.lines();
    let sentence = lines.next().and_then(|line| line.strip_prefix("error: "));
    let sentence = sentence.unwrap_or_else(|| panic!("priory {arguments}: {told}"));
    assert!(lines.next().is_none_or(|line| line.starts_with("hint: ")), "priory {arguments}: {told}");
    assert_eq!(lines.next(), None, "priory {arguments}: {told}");
    assert!(told.len() < 3_000, "priory {arguments}: {} bytes to say it", told.len());
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
        let told = folder.refusal(&format!("train {name} {options}"));
        assert_eq!(told, format!("{name}: {expected}"));
        for command in [
            format!("schema {name} {options} -o s.json"),
            format!("evaluate {name} {options}"),
            format!("predict m.priory {name}{input_options} -o p.csv"),
            format!("learn m.priory {name}{input_options}"),
            format!("forget m.priory {name}{input_options}"),
        ] {
            assert_eq!(folder.refusal(&command), told, "priory {command}");
        }
    }
}

mod text_tables {
    use super::*;

    #[test]
    fn rows_that_are_not_right() {
        check_all(&[
            (b"a,b,y\n1,2,p\n1,2\n", "row 2 has 2 fields where the header has 3"),
            (b"a,b,y\n1,2,p\n\n1,2,q,4\n", "row 2 has 4 fields where the header has 3"),
            (b"a,b,y\n1,2,p\n\"3,4,q\n5,6,p\n", "row 2 opens a quote that is never closed"),
            (b"a,\"b,y\n1,2,p\n", "the header opens a quote that is never closed"),
            (
                b"a,b,y\n1,\"2\"x,p\n",
                "row 1, column `b` has text after the closing quote; a quote inside a quoted field is written twice",
            ),
            (
                b"a,b,y\n1,2,\"p\\\"q\"\n",
                "row 1, column `y` has text after the closing quote; a quote inside a quoted field is written twice",
            ),
            (b"a,b,a,y\n1,2,3,p\n", "the header names the column `a` twice"),
            (b"a,,,y\n1,2,3,p\n", "the header names the column `` twice"),
            (
                b"a,b,y\r1,2,p\r3,4,q\r",
                "this is text whose lines end with bare carriage returns; save it with line feeds",
            ),
        ]);
    }

    #[test]
    fn nothing_to_read() {
        const EMPTY: &str = "the table is empty, it does not even have a header";
        check_all(&[(b"", EMPTY), (b"\n\r\n\n", EMPTY), ("\u{feff}".as_bytes(), EMPTY)]);
        check_all_named("t.csv", "--target y --comment #", &[(b"# a,b,y\n# 1,2,p", EMPTY)]);
    }

    #[test]
    fn what_is_no_text() {
        const BINARY: &str = "this is a binary file or UTF-16: it holds NUL bytes";
        const UTF_16: &str = "this is UTF-16 text; save it as UTF-8";
        let utf16 = |bytes: fn(u16) -> [u8; 2], text: &str| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let program = fs::read(env!("CARGO_BIN_EXE_priory")).unwrap();
        let text = "a,b,y\n1,2,p\n";
        let marked = format!("\u{feff}{text}");
        check_all(&[
            (&utf16(u16::to_le_bytes, &marked), UTF_16),
            (&utf16(u16::to_be_bytes, &marked), UTF_16),
            (&utf16(u16::to_le_bytes, text), BINARY),
            (&utf16(u16::to_be_bytes, text), BINARY),
            (&program[..program.len().min(1 << 20)], BINARY),
            (b"a,b,y\n1,\0,p\n", BINARY),
            (b"\0", BINARY),
            (b"PK\x03\x04\x14\x00", "this is a zip file or a spreadsheet; unpack it or save it as CSV"),
            (b"\xfd7zXZ\0\0\x04", "this is an xz file; unpack it first"),
            (b"BZh91AY&SY\x7f", "this is a bzip2 file; unpack it first"),
        ]);
    }

    #[test]
    fn invalid_utf_8_is_refused_and_latin_1_is_read() {
        const HINT: &str = "is not valid UTF-8; if the table is in Latin-1, say --encoding latin1";
        let row = format!("row 2, column `b` {HINT}");
        let header = format!("the header, column 2 {HINT}");
        check_all(&[
            (b"a,b,y\n1,2,p\n1,caf\xe9,q\n", &row),
            (b"a,caf\xe9,y\n1,2,p\n", &header),
            // Cut in the middle of a character, and a surrogate.
            (b"a,b,y\n1,2,p\n1,\xe2\x82,q\n", &row),
            (b"a,b,y\n1,2,p\n1,\xed\xa0\x80,q\n", &row),
        ]);
        let folder = Folder::new();
        folder.write("t.csv", b"caf\xe9,y\n1,\xe0 la carte\n0,menu\n");
        folder.stdout("train t.csv --target y --encoding latin1 -o m.priory");
        let predicted = folder.stdout("predict m.priory t.csv --encoding latin1");
        assert_eq!(predicted, "prediction\nà la carte\nmenu\n");
    }

    #[test]
    fn what_is_wrong_far_down_is_found_there() {
        let folder = Folder::new();
        let good = "1.5,2.5,p\n2.5,0.5,q\n".repeat(150_000);
        let cases: [(&[u8], &str); 7] = [
            (
                b"many,1,p\n",
                "row 300001, column a: `many` is not a number; read the column with --as a=category, or such values with --on-bad-value missing",
            ),
            (
                b"1e999,1,p\n",
                "row 300001, column `a`: `1e999` is infinite; numbers must be finite, or read as missing with --on-bad-value missing",
            ),
            (b"1,2\n", "row 300001 has 2 fields where the header has 3"),
            (b"1,\0,p\n", "row 300001, column `b` holds a NUL byte, so this is not a text file"),
            (
                b"1,\xff,p\n",
                "row 300001, column `b` is not valid UTF-8; if the table is in Latin-1, say --encoding latin1",
            ),
            (
                b"1,\"2\"2,p\n",
                "row 300001, column `b` has text after the closing quote; a quote inside a quoted field is written twice",
            ),
            (b"1,\"2,p\n", "row 300001 opens a quote that is never closed"),
        ];
        folder.write("good.csv", format!("a,b,y\n{}", &good[..200]));
        folder.stdout("train good.csv --target y -o m.priory");
        for (row, expected) in cases {
            // The row that is wrong comes twice, with a block and more in between: the first is the one to name.
            let closed = if expected.ends_with("never closed") { &b""[..] } else { row };
            folder.write(
                "t.csv",
                [b"a,b,y\n", good.as_bytes(), row, &good.as_bytes()[..1_500_000], closed].concat(),
            );
            for threads in [1, 2, 3] {
                let told = folder.refusal(&format!("train t.csv --target y --threads {threads}"));
                assert_eq!(told, format!("t.csv: {expected}"), "{threads} threads");
            }
            let told = folder.refusal("predict m.priory t.csv -o p.csv --threads 2");
            assert_eq!(told, format!("t.csv: {expected}"));
        }
    }

    #[test]
    fn infinite_numbers() {
        let folder = Folder::new();
        for infinite in ["inf", "-Infinity", "1e999", "-1e400"] {
            folder.write("t.csv", format!("a,y\n1,p\n2.5,q\n{infinite},p\n"));
            let told = folder.refusal("train t.csv --target y --as a=number");
            assert!(
                told.starts_with(&format!("t.csv: row 3, column `a`: `{infinite}` is infinite")),
                "{told}"
            );
            let told = folder.remarks("train t.csv --target y --as a=number --on-bad-value missing");
            assert!(told.starts_with("warning: t.csv: 1 value taken as missing"), "{told}");
        }
    }

    #[test]
    fn targets_that_cannot_be_predicted() {
        let folder = Folder::new();
        folder.write("t.csv", "a,b,y\n1,2,p\n");
        let told = folder.refusal("train t.csv --target x");
        assert_eq!(told, "t.csv: there is no target column `x`; the header has `a`, `b`, `y`");
        folder.write("only.csv", "a,b,y\n");
        assert_eq!(
            folder.refusal("train only.csv --target y"),
            "there are no rows with a class to learn from"
        );
        folder.write("missing.csv", "a,b,y\n1,2,\n3,4,?\n");
        assert_eq!(
            folder.refusal("train missing.csv --target y"),
            "there are no rows with a class to learn from"
        );
        folder.write("alone.csv", "y\np\nq\n");
        assert_eq!(folder.refusal("train alone.csv --target y"), "no columns are left to learn from");
    }

    #[test]
    fn a_target_of_a_million_numbers() {
        let folder = Folder::new();
        let rows: String = (0..1_000_000_u32).map(|i| format!("{},{i}.5\n", i % 7)).collect();
        folder.write("t.csv", format!("a,y\n{rows}"));
        let expected = "the target `y` is a number with 10000 different values in 10000 rows; classes are what is predicted here";
        assert_eq!(folder.refusal("train t.csv --target y"), expected);
        assert_eq!(folder.refusal("evaluate t.csv --target y"), expected);
    }

    #[test]
    fn more_classes_than_can_be_counted() {
        // The first rows look innocent, so the classes are met while they are counted, in columns of both kinds.
        let folder = Folder::new();
        let columns: Vec<String> = (0..2).map(|i| format!("n{i},c{i}")).collect();
        let mut table = format!("{},y\n", columns.join(","));
        for i in 0..110_000_u32 {
            (0..2).for_each(|j| table.push_str(&format!("{}.25,v{},", i % 97 + j, i % 3)));
            table.push_str(&format!("k{}\n", i.saturating_sub(10_000)));
        }
        folder.write("t.csv", table);
        for threads in [1, 2] {
            let told = folder.refusal(&format!("train t.csv --target y --threads {threads}"));
            assert_eq!(told, "t.csv: the target `y` has more than 65536 classes");
        }
    }
}

mod endless {
    use super::*;

    /// More than the longest record, and what is on its way through buffers and blocks.
    const READ_AT_MOST: usize = LONGEST_RECORD + (24 << 20);
    const OFFERED: usize = 300 << 20;

    #[test]
    fn a_line_without_end_is_not_read_to_its_end() {
        let folder = Folder::new();
        let part = "x".repeat(1 << 20);
        for (head, place) in [("", "the header"), ("a,b,y\n1,2,p\n3,4,q\n", "row 3")] {
            let (told, read) =
                folder.refusal_of_stream("train - --target y", head.as_bytes(), part.as_bytes(), OFFERED);
            assert_eq!(
                told,
                format!(
                    "standard input: {place} is longer than {LONGEST_RECORD} bytes; perhaps a quote is never closed, or the lines do not end in line feeds"
                )
            );
            assert!(read <= READ_AT_MOST, "{read} bytes read");
        }
    }

    #[test]
    fn a_quote_without_end_is_not_looked_for_to_the_end() {
        let folder = Folder::new();
        let rows = "1.5,2.5,p\n2.5,0.5,q\n".repeat(100_000);
        let head = format!("a,b,y\n{rows}1,\"2,p\n");
        for threads in [1, 2] {
            let arguments = format!("train - --target y --threads {threads}");
            let (told, read) =
                folder.refusal_of_stream(&arguments, head.as_bytes(), rows.as_bytes(), OFFERED);
            assert!(
                told.starts_with("standard input: row 200001 is longer than 67108864 bytes; perhaps a quote"),
                "{told}"
            );
            assert!(read <= head.len() + READ_AT_MOST, "{read} bytes read");
        }
    }

    #[test]
    fn fields_without_end() {
        let folder = Folder::new();
        let part = ",".repeat(1 << 20);
        for head in ["", "a,b,y\n1,2,p\n"] {
            let (told, _) =
                folder.refusal_of_stream("train - --target y", head.as_bytes(), part.as_bytes(), OFFERED);
            assert!(told.contains("is longer than 67108864 bytes"), "{told}");
        }
        // The same with an end, just before the limit.
        let fields = ",".repeat(60 << 20);
        folder.write("row.csv", format!("a,b,y\n1,2,p\n{fields}\n"));
        assert_eq!(
            folder.refusal("train row.csv --target y"),
            "row.csv: row 2 has 62914561 fields where the header has 3"
        );
        folder.write("header.csv", format!("{fields}\n1,2,p\n"));
        let told = folder.refusal("train header.csv --target y");
        assert_eq!(told, "header.csv: the table has 62914561 columns; the limit is 1048576");
    }

    #[test]
    fn blank_lines_without_end() {
        let folder = Folder::new();
        let blank = "\n".repeat(60 << 20);
        folder
            .write("t.csv", format!("a\n1\n{blank}2\n"))
            .write("wide.csv", format!("a,y\n1,p\n{blank}2,q\n"));
        folder.write("good.csv", "a,y\n1,p\n2,q\n");
        folder.stdout("train good.csv --target y -o m.priory");
        let predicted = folder.stdout("predict m.priory wide.csv");
        assert_eq!(predicted, "prediction\np\nq\n");
        let predicted = folder.command("predict m.priory t.csv -o p.csv").output().unwrap();
        assert!(predicted.status.success(), "{}", text(&predicted.stderr));
        assert_eq!(fs::metadata(folder.path("p.csv")).unwrap().len(), 11 + 2 * ((60 << 20) + 2));
    }

    #[test]
    fn ten_thousand_columns() {
        let folder = Folder::new();
        let names: Vec<String> = (0..10_000).map(|i| format!("column_{i}")).collect();
        let row = |value: &str, class: &str| format!("{}{class}\n", format!("{value},").repeat(10_000));
        let rows = [row("0", "p"), row("1", "q"), row("", "p"), row("1", "q")].concat().repeat(100);
        folder.write("t.csv", format!("{},y\n{rows}", names.join(",")));
        let told = folder.remarks("train t.csv --target y -o m.priory");
        assert!(told.contains("400 rows, 2 classes, 10000 categories"), "{told}");
        assert!(told.len() < 1_000, "{told}");
        let predicted = folder.stdout("predict m.priory t.csv");
        assert!(predicted.starts_with("prediction\np\nq\np\nq\n"));
        let told = folder.refusal("train t.csv --target column_x");
        assert!(told.starts_with("t.csv: there is no target column `column_x`"), "{told}");
        folder.write("other.csv", "column_7\n1\n").write("rows.csv", "a,y\n1,p\n");
        let told = folder.remarks("predict m.priory other.csv");
        assert!(
            told.ends_with("warning: other.csv has not 9979 other columns of the model either\n"),
            "{told}"
        );
        assert!(folder.refusal("learn m.priory rows.csv").contains("there is no feature column `column_0`"));
    }

    #[test]
    fn a_column_name_of_a_megabyte() {
        let folder = Folder::new();
        let name = "n".repeat(1 << 20);
        folder.write("t.csv", format!("{name}a,b,y\nv,1.5,p\nw,2.5,q\n"));
        folder.write("other.csv", format!("{name}b,b,y\nv,1.5,p\nw,2.5,q\n"));
        let told = folder.remarks("train t.csv --target y -o m.priory");
        assert!(told.len() < 1_000, "{} bytes of remarks", told.len());
        let told = folder.refusal("train t.csv --target x");
        assert!(told.starts_with("t.csv: there is no target column `x`; the header has `nnn"), "{told}");
        let told = folder.refusal("learn m.priory other.csv");
        assert!(told.starts_with("other.csv: there is no feature column `nnn"), "{told}");
        let told = folder.remarks("predict m.priory other.csv");
        assert!(told.len() < 1_000, "{} bytes of remarks", told.len());
        folder.write("twice.csv", format!("{name},{name},y\nv,1.5,p\n"));
        let told = folder.refusal("train twice.csv --target y");
        assert!(told.starts_with("twice.csv: the header names the column `nnn"), "{told}");
    }

    #[test]
    fn a_value_of_many_megabytes() {
        let folder = Folder::new();
        let value = "v".repeat(20 << 20);
        folder.write("t.csv", format!("a,y\n{value},p\nw,q\n"));
        folder.stdout("train t.csv --target y -o m.priory");
        assert_eq!(folder.stdout("predict m.priory t.csv"), "prediction\np\nq\n");
        let told = folder.refusal("train t.csv --target y --as a=number");
        assert!(told.starts_with("t.csv: row 1, column a: `vvv"), "{told}");
    }
}

mod packed {
    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    /// A table that takes several blocks, also packed.
    fn table() -> Vec<u8> {
        let mut x = 1_u32;
        let rows = (0..120_000).map(|i| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{}.5,{},{}\n", x >> 8, x >> 20, if i % 3 == 0 { "p" } else { "q" })
        });
        format!("a,b,y\n{}", rows.collect::<String>()).into_bytes()
    }

    #[test]
    fn packed_files_that_are_damaged() {
        const CUT: [&str; 2] = [
            "the gzip file is cut short; fetch or pack it again",
            "the zstd file is cut short; fetch or pack it again",
        ];
        const DAMAGED: [&str; 2] = [
            "the gzip file is damaged; fetch or pack it again",
            "the zstd file is damaged; fetch or pack it again",
        ];
        let small = b"a,b,y\n1,2,p\n3,4,q\n";
        let (gz, zst) = (gzip(small), zstd(small));
        let followed = |packed: &[u8]| [packed, b"garbage after the end"].concat();
        let mut wrong_sum = gz.clone();
        wrong_sum[gz.len() - 5] ^= 1;
        check_all_named(
            "t.csv.gz",
            "--target y",
            &[
                (&gz[..gz.len() - 1], CUT[0]),
                (&gz[..12], CUT[0]),
                (&gz[..3], CUT[0]),
                (&followed(&gz), DAMAGED[0]),
                (&wrong_sum, DAMAGED[0]),
                (&gzip(b""), "the table is empty, it does not even have a header"),
                (&zst[..zst.len() - 1], CUT[1]),
                (&zst[..5], CUT[1]),
                (&followed(&zst), DAMAGED[1]),
                // What was packed twice is no text when it is unpacked once.
                (&gzip(&gz), "this is packed twice; unpack it once"),
                (&gzip(&zst), "this is packed twice; unpack it once"),
            ],
        );
    }

    #[test]
    fn nothing_is_written_if_a_large_packed_file_breaks_off() {
        let folder = Folder::new();
        let table = table();
        folder.write("good.csv", "a,b,y\n1.5,2,p\n2.5,1,q\n").write("old.csv", "as it was");
        folder.stdout("train good.csv --target y --as a=number,b=number -o m.priory");
        for (packed, packing) in [(gzip(&table), "gzip"), (zstd(&table), "zstd")] {
            folder.write("t.csv", &packed[..packed.len() * 9 / 10]);
            for arguments in [
                "train t.csv --target y -o m.priory",
                "train good.csv t.csv --target y -o m.priory",
                "predict m.priory t.csv -o old.csv",
                "predict m.priory t.csv -o new.csv --threads 1",
                "learn m.priory t.csv",
                "evaluate t.csv --target y",
            ] {
                let told = folder.refusal(arguments);
                assert_eq!(told, format!("t.csv: the {packing} file is cut short; fetch or pack it again"));
            }
        }
    }

    #[test]
    fn a_bomb_is_read_in_the_memory_of_any_table() {
        let folder = Folder::with_memory(300 << 20);
        let members = |part: &str, count: usize| {
            let (gz, zst) = (gzip(part.as_bytes()), zstd(part.as_bytes()));
            [gz.repeat(count), zst.repeat(count)]
        };
        // A terabyte in a line would be as good, for no more than the longest line is unpacked.
        for packed in members(&"x".repeat(4 << 20), 1_000) {
            folder.write("line.csv", packed);
            let told = folder.refusal("train line.csv --target y");
            assert!(told.starts_with("line.csv: the header is longer than 67108864 bytes"), "{told}");
        }
        // 320 MB of rows.
        let rows = "1.5,2.5,p\n2.5,0.5,q\n".repeat(200_000);
        for (header, rows) in members("a,b,y\n", 1).iter().zip(members(&rows, 80)) {
            folder.write("rows.csv", [header.as_slice(), &rows].concat());
            assert!(fs::metadata(folder.path("rows.csv")).unwrap().len() < 2 << 20);
            let told = folder.remarks("train rows.csv --target y -o m.priory --threads 2");
            assert!(told.contains("32000000 rows"), "{told}");
        }
    }

    #[test]
    fn a_window_larger_than_memory_is_refused() {
        // A frame that says it needs a window of 3.75 TiB to be unpacked.
        let folder = Folder::new();
        folder.write("t.csv.zst", b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00");
        let told = folder.refusal("train t.csv.zst --target y");
        assert!(told.starts_with("t.csv.zst: the zstd file is damaged"), "{told}");
    }
}

mod files {
    use super::*;

    #[test]
    fn files_that_cannot_be_read() {
        let folder = Folder::new();
        folder.write("t.csv", "a,y\n1,p\n0,q\n");
        folder.stdout("train t.csv --target y -o m.priory");
        fs::create_dir(folder.path("folder")).unwrap();
        let is_directory = "folder: cannot be read: Is a directory (os error 21)";
        for arguments in [
            "train folder --target y",
            "train t.csv folder --target y",
            "predict m.priory folder",
            "show folder",
            "merge m.priory folder -o n.priory",
        ] {
            assert_eq!(folder.refusal(arguments), is_directory, "priory {arguments}");
        }
        for arguments in
            ["train t.csv --target y -o folder", "predict m.priory t.csv -o folder", "learn folder t.csv"]
        {
            let told = folder.refusal(arguments);
            assert!(told.starts_with("folder: cannot be ") && told.contains("Is a directory"), "{told}");
        }
        let told = folder.refusal("train nowhere.csv --target y");
        assert_eq!(told, "nowhere.csv: cannot be opened: No such file or directory (os error 2)");
        let told = folder.refusal("train t.csv/t.csv --target y");
        assert_eq!(told, "t.csv/t.csv: cannot be opened: Not a directory (os error 20)");

        let locked = folder.path("locked.csv");
        folder.write("locked.csv", "a,y\n1,p\n");
        let mut permissions = fs::metadata(&locked).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o000);
        fs::set_permissions(&locked, permissions).unwrap();
        if fs::File::open(&locked).is_ok() {
            eprintln!("not tested: every file is readable for this user");
            return;
        }
        let told = folder.refusal("train locked.csv --target y");
        assert_eq!(told, "locked.csv: cannot be opened: Permission denied (os error 13)");
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
                let told = folder.refusal(&arguments);
                assert!(told.starts_with(&format!("{name}: not a usable model file: ")), "{told}");
            }
        }
        // What never ends is recognised by its beginning.
        let told = folder.refusal("show /dev/zero");
        assert!(told.starts_with("/dev/zero: not a usable model file: "), "{told}");
        folder.write("large.csv", "");
        fs::File::options().write(true).open(folder.path("large.csv")).unwrap().set_len(1 << 40).unwrap();
        let told = sentence("show large.csv", &folder.command("show large.csv").output().unwrap());
        assert!(told.starts_with("large.csv: not a usable model file: "), "{told}");
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
            ("train m.priory --target y", "m.priory: this is a binary file"),
        ];
        for (arguments, expected) in cases {
            let told = folder.refusal(arguments);
            assert!(told.contains(expected), "priory {arguments}: {told}");
        }
    }

    #[test]
    fn standard_input_can_be_read_once() {
        let folder = Folder::new();
        folder.write("t.csv", "a,y\n1,p\n0,q\n");
        folder.stdout("train t.csv --target y -o m.priory");
        for arguments in ["train - - --target y", "train - t.csv - --target y", "learn m.priory - -"] {
            let (told, _) = folder.refusal_of_stream(arguments, b"a,y\n1,p\n0,q\n", b"", 1);
            assert_eq!(told, "standard input can be read only once", "priory {arguments}");
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
            "merge m.priory large.priory -o m.priory",
        ] {
            let told =
                folder.refusal_of(arguments, folder.prepared("trap '' XFSZ; ulimit -f 16;", arguments));
            assert!(told.contains(": cannot be written: File too large (os error 27)"), "{told}");
        }
        for arguments in [
            "train t.csv --target y --as a=category",
            "predict m.priory t.csv",
            "schema t.csv --target y --as a=category",
        ] {
            let told = folder.refusal(&format!("{arguments} -o /dev/full"));
            assert_eq!(told, "/dev/full: cannot be written: No space left on device (os error 28)");
        }
    }

    #[test]
    fn schemas_that_are_none() {
        let folder = Folder::new();
        folder.write("t.csv", "a,y\n1,p\n0,q\n").write("s.json", "{\"schema\":").write("b.json", b"\xff\xfe");
        for schema in ["s.json", "b.json", "t.csv", "nowhere.json"] {
            let told = folder.refusal(&format!("train t.csv --schema {schema}"));
            assert!(told.starts_with(&format!("{schema}: ")), "{told}");
        }
    }
}

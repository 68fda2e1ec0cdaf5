//! What `predict` writes: columns that are kept, whatever they come from and go to.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;

/// A folder with a model of the column `a`, which is x for p and z for q. The model does not know the column `n`.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = Folder { folder: tempfile::tempdir().unwrap() };
        folder.write("train.csv", "a,n,y\nx,1,p\nx,2,p\nz,3,q\n");
        folder.stdout("train train.csv --target y --ignore n --as a=category -o m.priory");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::cargo_bin("priory").unwrap();
        command.current_dir(self.folder.path()).args(arguments.split(' '));
        command
    }

    fn stdout(&self, arguments: &str) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The one line that a failing run says.
    fn failure(&self, arguments: &str) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap().trim_end().to_owned()
    }
}

/// Text that wants quotes and text that does not, missing spelt in several ways, a column that no model knows.
const TABLE: &str = "y,a,n,note\r\np,x,1.50,plain\r\n?,\"x\",NA,\"a, b\"\r\n\"q\",z,,\"say \"\"so\"\"\"\r\nq,?, 7 ,\"two\nlines\"\r\n";

#[test]
fn csv_passes_through_as_it_is() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    assert_eq!(
        folder.stdout("predict m.priory t.csv --keep note,y --keep n"),
        "note,y,n,prediction\nplain,p,1.50,p\n\"a, b\",?,NA,p\n\"say \"\"so\"\"\",q,,q\n\"two\nlines\",q, 7 ,p\n"
    );
    // A feature can be kept, and names may be hard to write.
    folder.write("t.csv", "a,\"x, y\",\"say \"\"x\"\"\"\nz,1,2\n");
    let mut command = folder.command("predict m.priory t.csv --keep a");
    let output = command.args(["--keep", "x, y", "--keep", "say \"x\""]).output().unwrap();
    let expected = "a,\"x, y\",\"say \"\"x\"\"\",prediction\nz,1,2,q\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn lines_of_json_have_what_is_kept_first() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    assert_eq!(
        folder.stdout("predict m.priory t.csv --keep note,n --format jsonl"),
        "{\"note\":\"plain\",\"n\":\"1.50\",\"prediction\":\"p\"}\n\
         {\"note\":\"a, b\",\"n\":\"NA\",\"prediction\":\"p\"}\n\
         {\"note\":\"say \\\"so\\\"\",\"n\":\"\",\"prediction\":\"q\"}\n\
         {\"note\":\"two\\nlines\",\"n\":\" 7 \",\"prediction\":\"p\"}\n"
    );
    // What is not there is null, and what is written in some way stays written so.
    folder.write("t.jsonl", "{\"a\":\"x\",\"n\":1.50,\"l\":[1, {\"b\":null}]}\n{\"a\":\"z\",\"n\":null,\"l\":\"\\u00e9\"}\n{\"a\":\"z\"}\n");
    assert_eq!(
        folder.stdout("predict m.priory t.jsonl --keep n,l --format jsonl"),
        "{\"n\":\"1.50\",\"l\":\"[1, {\\\"b\\\":null}]\",\"prediction\":\"p\"}\n\
         {\"n\":null,\"l\":\"é\",\"prediction\":\"q\"}\n\
         {\"n\":null,\"l\":null,\"prediction\":\"q\"}\n"
    );
    assert_eq!(
        folder.stdout("predict m.priory t.jsonl --keep n,l"),
        "n,l,prediction\n1.50,\"[1, {\"\"b\"\":null}]\",p\n,é,q\n,,q\n"
    );
}

#[test]
fn svmlight_says_zero_where_it_says_nothing() {
    let folder = Folder::new();
    folder.write("t.svm", "1 1:2 3:0.50\n-1 2:1\n1 3:7 # comment\n-1 1:2 2:3\n");
    folder.stdout("train t.svm --target label --ignore 3 --numbers gaussian -o s.priory");
    assert_eq!(
        folder
            .stdout("predict s.priory t.svm --keep 3,label,1")
            .lines()
            .map(|line| line.rsplit_once(',').unwrap().0)
            .collect::<Vec<_>>(),
        ["3,label,1", "0.50,1,2", "0,-1,0", "7,1,0", "0,-1,2"]
    );
}

#[cfg(feature = "arrow")]
#[test]
fn columnar_files_are_written_out() {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    };

    let folder = Folder::new();
    let columns: [(&str, ArrayRef); 6] = [
        ("a", Arc::new(StringArray::from(vec![Some("x"), Some("z"), None]))),
        ("id", Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(-7)]))),
        ("f", Arc::new(Float64Array::from(vec![0.1, 1e300, 3.0]))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("d", Arc::new(Date32Array::from(vec![0, 19_000, -1]))),
        ("s", Arc::new(StringArray::from(vec![Some("a,b"), Some(""), None]))),
    ];
    let rows =
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
    let mut parquet = parquet::arrow::ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    parquet.write(&rows).unwrap();
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    arrow.write(&rows).unwrap();
    folder.write("t.parquet", parquet.into_inner().unwrap()).write("t.arrow", arrow.into_inner().unwrap());
    let csv = folder.stdout("predict m.priory t.parquet --keep s,id,f,b,d,a");
    assert!(
        csv.starts_with("s,id,f,b,d,a,prediction\n\"a,b\",9223372036854775807,0.1,true,1970-01-01,x,p\n,,1"),
        "{csv}"
    );
    assert!(csv.ends_with("\n,-7,3.0,false,1969-12-31,,p\n"), "{csv}");
    assert_eq!(folder.stdout("predict m.priory t.arrow --keep s,id,f,b,d,a"), csv);
    let json = folder.stdout("predict m.priory t.parquet --keep s,b --format jsonl");
    assert!(json.ends_with(
        "{\"s\":\"\",\"b\":null,\"prediction\":\"q\"}\n{\"s\":null,\"b\":\"false\",\"prediction\":\"p\"}\n"
    ));
}

#[test]
fn rows_stay_with_what_belongs_to_them() {
    let folder = Folder::new();
    let rows = 300_000;
    let line =
        |i: usize| format!("{i},{},{}\n", if i.is_multiple_of(3) { "x" } else { "z" }, "-".repeat(i % 7));
    folder.write("t.csv", format!("id,a,pad\n{}", (0..rows).map(line).collect::<String>()));
    let expected =
        |i: usize| format!("{i},{},{}\n", "-".repeat(i % 7), if i.is_multiple_of(3) { "p" } else { "q" });
    let expected = format!("id,pad,prediction\n{}", (0..rows).map(expected).collect::<String>());
    for threads in [1, 2, 7] {
        let found = folder.stdout(&format!("predict m.priory t.csv --keep id,pad --threads {threads}"));
        assert!(found == expected, "with {threads} threads");
    }
}

#[test]
fn what_cannot_be_kept_is_said() {
    let folder = Folder::new();
    folder.write("t.csv", "a,prediction,posterior,P(p),id\nx,1,2,3,4\n");
    let failures = [
        (
            "--keep Id",
            "error: t.csv: there is no kept column `Id`, perhaps `id` is meant; the header has `a`, `prediction`, `posterior`, `P(p)`, `id`",
        ),
        ("--keep id,a,id", "error: the column `id` is to be kept twice; name it once"),
        (
            "--keep prediction",
            "error: `prediction` cannot be kept: the output has a column of that name already; rename it in t.csv, or do without --keep prediction",
        ),
        (
            "--keep P(p) --probabilities",
            "error: `P(p)` cannot be kept: the output has a column of that name already; rename it in t.csv, or do without --keep 'P(p)'",
        ),
        (
            "--keep posterior --probabilities --format jsonl",
            "error: `posterior` cannot be kept: the output has a column of that name already; rename it in t.csv, or do without --keep posterior",
        ),
    ];
    for (arguments, expected) in failures {
        assert_eq!(folder.failure(&format!("predict m.priory t.csv {arguments}")), expected);
    }
    assert_eq!(
        folder.stdout("predict m.priory t.csv --keep P(p),posterior"),
        "P(p),posterior,prediction\n3,2,p\n"
    );
}

#[test]
fn documents_can_be_kept_with_their_class() {
    let folder = Folder::new();
    for (name, text) in [("ham/1", "see you"), ("spam/1", "buy, \u{fc}ber"), ("spam/2", "buy now")] {
        fs::create_dir_all(folder.path("mail").join(name).parent().unwrap()).unwrap();
        folder.write(&format!("mail/{name}"), text);
    }
    folder.stdout("train mail --target class -o mail.priory");
    assert_eq!(
        folder.stdout("predict mail.priory mail --keep text,class"),
        "text,class,prediction\nsee you,ham,ham\n\"buy, über\",spam,spam\nbuy now,spam,spam\n"
    );
}

#[cfg(feature = "arrow")]
mod parquet_files {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int32Type};
    use arrow_array::{Array, RecordBatch};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    fn read(bytes: Vec<u8>) -> Vec<RecordBatch> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        reader.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect()
    }

    /// The rows as CSV would have them.
    fn csv(batches: &[RecordBatch]) -> String {
        let mut text = String::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                let cells = batch.columns().iter().map(|column| {
                    if let Some(strings) = column.as_string_opt::<i64>() {
                        return if strings.is_null(row) {
                            String::new()
                        } else {
                            strings.value(row).to_owned()
                        };
                    }
                    if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
                        return numbers.value(row).to_string();
                    }
                    let dictionary = column.as_dictionary::<Int32Type>();
                    let names = dictionary.values().as_string::<i32>();
                    names.value(dictionary.keys().value(row) as usize).to_owned()
                });
                text += &(cells.collect::<Vec<_>>().join(",") + "\n");
            }
        }
        text
    }

    #[test]
    fn the_same_predictions_stand_in_columns() {
        let folder = Folder::new();
        let rows = (0..100_000).map(|i| format!("{i},{},{}\n", ["x", "z", "?"][i % 3], i % 10));
        folder.write("t.csv", format!("id,a,k\n{}", rows.collect::<String>()));
        for what in ["--keep k,id,a --probabilities", "--keep k,id,a --interval 0.9"] {
            let expected = folder.stdout(&format!("predict m.priory t.csv {what}"));
            let (header, expected) = expected.split_once('\n').unwrap();
            for threads in [1, 3] {
                let output = format!("--threads {threads} -o {threads}.parquet");
                folder.stdout(&format!("predict m.priory t.csv {what} {output}"));
                let batches = read(fs::read(folder.path(&format!("{threads}.parquet"))).unwrap());
                let names: Vec<String> =
                    batches[0].schema().fields().iter().map(|field| field.name().clone()).collect();
                assert_eq!(names.join(","), header);
                assert!(csv(&batches) == *expected);
            }
            let written = ["1.parquet", "3.parquet"].map(|name| fs::read(folder.path(name)).unwrap());
            assert!(written[0] == written[1]);

            // What was written can be read again.
            let again = folder.stdout(&format!("predict m.priory 1.parquet {what}"));
            assert!(again.split_once('\n').unwrap() == (header, expected));
        }
    }

    #[test]
    fn missing_is_not_empty() {
        let folder = Folder::new();
        folder.write(
            "t.jsonl",
            "{\"a\":\"x\",\"s\":\"\"}\n{\"a\":\"z\",\"s\":null}\n{\"a\":\"z\",\"s\":\"\\\"\"}\n",
        );
        folder.stdout("predict m.priory t.jsonl --keep s -o p.parquet");
        let batches = read(fs::read(folder.path("p.parquet")).unwrap());
        let [batch] = &batches[..] else { panic!("one row group") };
        let strings: Vec<Option<&str>> = batch.column(0).as_string::<i64>().iter().collect();
        assert_eq!(strings, [Some(""), None, Some("\"")]);
        let schema = batch.schema();
        assert_eq!(schema.fields().len(), 2);
        assert!(schema.field(0).is_nullable() && !schema.field(1).is_nullable());
    }

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = Folder::new();
        folder.write("t.csv", "a\nx\n\"z\n").write("p.parquet", "old");
        assert!(folder.failure("predict m.priory t.csv -o p.parquet").contains("quote"));
        assert_eq!(fs::read(folder.path("p.parquet")).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.folder.path()).unwrap().count(), 4);
        assert_eq!(
            folder.failure("predict m.priory t.csv --format parquet"),
            "error: predictions in Parquet go to a file: name it with -o predicted.parquet"
        );
        // No rows are a table as well.
        folder.write("t.csv", "a\n");
        folder.stdout("predict m.priory t.csv --probabilities -o none.parquet");
        assert!(
            read(fs::read(folder.path("none.parquet")).unwrap()).iter().all(|batch| batch.num_rows() == 0)
        );
    }
}

/// Of a short table only the words that it has are looked up in the model file; for a long one the model is read whole. Under
/// every setting that a model can be trained with, both give the same predictions to the last digit.
#[test]
fn a_short_table_is_predicted_like_a_long_one() {
    let folder = Folder::new();
    let words = ["buy", "now", "math", "today", "cheap", "notes", "free", "exam"];
    let row = |i: usize| {
        let text = [i % 8, i * 5 % 7, i * 3 % 5].map(|word| words[word]).join(" ");
        format!("{text},{},{},{}\n", ["a", "b", "c"][i * 7 % 3], (i * i) % 11, ["ham", "spam", "list"][i % 3])
    };
    let header = "text,k,x,y\n";
    folder.write("learn.csv", format!("{header}{}", (0..90).map(row).collect::<String>()));
    let short: String = (0..10).map(row).collect();
    folder.write("short.csv", format!("{header}{short}"));
    // Over a megabyte.
    folder.write("long.csv", format!("{header}{}", short.repeat(6_000)));
    for settings in [
        "",
        " --select 1",
        " --select auto",
        " --text bernoulli",
        " --text complement-normalized",
        " --text multinomial --smoothing none",
        " --exponent text=0.5",
        " --min-documents 2",
        " --missing-values counted",
        " --prior uniform",
        " --half-life 10",
    ] {
        folder.stdout(&format!(
            "train learn.csv --target y --as text=text --as k=category{settings} -o t.priory"
        ));
        let predictions = folder.stdout("predict t.priory short.csv --probabilities");
        let of_long = folder.stdout("predict t.priory long.csv --probabilities");
        let beginning: String = of_long.split_inclusive('\n').take(11).collect();
        assert_eq!(predictions, beginning, "trained with{settings}");
    }
}

//! The model file depends on nothing but the rows: not on threads, files, packing or format. Where rows age, their order
//! counts as well.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use assert_cmd::Command;

/// Enough for several blocks of every format.
const ROWS: usize = 40_000;
const HEADER: &str = "length,count,code,color,wet,w,y";

/// A row as a program has it.
struct Row {
    length: Option<f64>,
    count: Option<i64>,
    code: Option<i64>,
    color: Option<&'static str>,
    wet: Option<bool>,
    weight: f64,
    class: Option<&'static str>,
}

/// Rows whose numbers have all their digits and whose names want quotes, with gaps everywhere.
fn rows() -> Vec<Row> {
    let mut state = 1_u64;
    let mut next = move || {
        // xorshift64*, by Vigna.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    };
    let row = |_| {
        let gap = next() % 64;
        let fraction = next() as f64 / u64::MAX as f64;
        let scale = [1e-300, 1e-9, 1.0, 3e4, 1e15][next() as usize % 5];
        let pick = next() as usize;
        Row {
            length: (gap != 1).then_some((fraction - 0.5) * scale),
            count: (gap != 2).then_some((next() >> 20) as i64 - (1 << 43)),
            code: (gap != 3).then_some((next() % 12) as i64),
            color: (gap != 4)
                .then_some(["red", "light blue, almost", "the \"so-called\" green", "näher", "灰"][pick % 5]),
            wet: (gap != 5).then_some(next() % 3 == 0),
            weight: [1.0, 0.1, 1.0 / 3.0, 2.0, fraction][pick % 7 % 5],
            class: (gap != 6).then_some(["yes", "no", "not \"yet\""][(next() % 3) as usize]),
        }
    };
    (0..ROWS).map(row).collect()
}

fn csv(rows: &[Row]) -> Vec<u8> {
    fn number(value: Option<impl ToString>) -> String {
        value.map_or(String::new(), |value| value.to_string())
    }
    let name = |value: Option<&str>| {
        value.map_or(String::from("?"), |value| format!("\"{}\"", value.replace('"', "\"\"")))
    };
    let lines = rows.iter().map(|row| {
        let Row { length, count, code, color, wet, weight, class } = row;
        let (length, count, code, wet) = (number(*length), number(*count), number(*code), number(*wet));
        format!("{length},{count},{code},{},{wet},{weight},{}\n", name(*color), name(*class))
    });
    format!("{HEADER}\n{}", lines.collect::<String>()).into_bytes()
}

fn json_lines(rows: &[Row]) -> Vec<u8> {
    let lines = rows.iter().enumerate().map(|(i, row)| {
        let Row { length, count, code, color, wet, weight, class } = row;
        let mut object = serde_json::json!({
            "length": length, "count": count, "code": code, "color": color, "wet": wet, "w": weight, "y": class,
        });
        // What is null may as well not be there, but for the beginning, which names the columns.
        if i > 100 {
            object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        }
        format!("{object}\n")
    });
    lines.collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[cfg(feature = "arrow")]
mod columnar {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::Row;

    fn batch(rows: &[Row]) -> RecordBatch {
        let columns: [(&str, ArrayRef); 7] = [
            ("length", Arc::new(rows.iter().map(|row| row.length).collect::<Float64Array>())),
            ("count", Arc::new(rows.iter().map(|row| row.count).collect::<Int64Array>())),
            ("code", Arc::new(rows.iter().map(|row| row.code).collect::<Int64Array>())),
            ("color", Arc::new(rows.iter().map(|row| row.color).collect::<StringArray>())),
            ("wet", Arc::new(rows.iter().map(|row| row.wet).collect::<BooleanArray>())),
            ("w", Arc::new(rows.iter().map(|row| Some(row.weight)).collect::<Float64Array>())),
            ("y", Arc::new(rows.iter().map(|row| row.class).collect::<StringArray>())),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    pub(crate) fn parquet(rows: &[Row]) -> Vec<u8> {
        let rows = batch(rows);
        let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.into_inner().unwrap()
    }

    pub(crate) fn arrow(rows: &[Row]) -> Vec<u8> {
        let rows = batch(rows);
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
        for start in (0..rows.num_rows()).step_by(9_000) {
            writer.write(&rows.slice(start, (rows.num_rows() - start).min(9_000))).unwrap();
        }
        writer.into_inner().unwrap()
    }
}

/// The model of some files, by the program.
struct Training {
    folder: tempfile::TempDir,
}

impl Training {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn run(&self, arguments: &str) {
        let mut command = Command::cargo_bin("priory").unwrap();
        command.current_dir(self.folder.path()).args(arguments.split(' ')).assert().success();
    }

    fn model(&self, arguments: &str) -> Vec<u8> {
        self.run(&format!("train {arguments} --target y --as code=category -o m.priory"));
        self.read()
    }

    fn read(&self) -> Vec<u8> {
        fs::read(self.path("m.priory")).unwrap()
    }
}

#[test]
fn the_same_rows_make_the_same_model() {
    let training = Training { folder: tempfile::tempdir().unwrap() };
    let rows = rows();
    let table = csv(&rows);
    training.write("t.csv", &table);
    training.write("t.csv.gz", gzip(&table));
    training.write("t.csv.zst", zstd::encode_all(table.as_slice(), 1).unwrap());
    training.write("t.jsonl", json_lines(&rows));
    let mut ways = ["t.csv", "t.csv.gz", "t.csv.zst", "t.jsonl"].map(String::from).to_vec();
    #[cfg(feature = "arrow")]
    {
        training.write("t.parquet", columnar::parquet(&rows));
        training.write("t.arrow", columnar::arrow(&rows));
        ways.extend(["t.parquet", "t.arrow"].map(String::from));
    }
    // Seven files of unequal length, in several formats and not in their order.
    let cuts = [0, 1, 700, 9_000, 9_000, 20_001, 39_999, ROWS];
    let mut parts: Vec<String> = Vec::new();
    let mut mixed = Vec::new();
    for (i, cut) in cuts.windows(2).enumerate() {
        let part = &rows[cut[0]..cut[1]];
        training.write(&format!("part-{i}.csv"), csv(part));
        parts.insert(0, format!("part-{i}.csv"));
        if part.is_empty() {
            continue;
        }
        let (name, bytes) = match i % 3 {
            0 => (format!("mixed-{i}.jsonl"), json_lines(part)),
            1 => (format!("mixed-{i}.csv"), gzip(&csv(part))),
            #[cfg(feature = "arrow")]
            _ => (format!("mixed-{i}.parquet"), columnar::parquet(part)),
            #[cfg(not(feature = "arrow"))]
            _ => (format!("mixed-{i}.csv"), csv(part)),
        };
        training.write(&name, bytes);
        mixed.push(name);
    }
    // Another part comes first, so that other rows tell what the columns are.
    mixed.rotate_left(2);
    ways.extend([parts.join(" "), mixed.join(" ")]);

    for weight in ["", " --weight w"] {
        let expected = training.model(&format!("t.csv --threads 1{weight}"));
        for way in &ways {
            for threads in [1, 2] {
                let model = training.model(&format!("{way} --threads {threads}{weight}"));
                assert!(model == expected, "another model: {way} --threads {threads}{weight}");
            }
        }
        // Something else is something else.
        training.write(
            "other.csv",
            &table[..table.len() - 1 - table.iter().rev().skip(1).position(|&b| b == b'\n').unwrap()],
        );
        assert!(training.model(&format!("other.csv --threads 1{weight}")) != expected);
    }
}

#[test]
fn rows_that_age_make_the_same_model_in_any_split() {
    let training = Training { folder: tempfile::tempdir().unwrap() };
    let mut rows = rows();
    training.write("t.csv", csv(&rows));
    let cuts = [0, 1, 700, 9_000, 20_001, ROWS - 1, ROWS];
    let parts: Vec<String> = (0..cuts.len() - 1).map(|i| format!("part-{i}.csv")).collect();
    for (part, cut) in parts.iter().zip(cuts.windows(2)) {
        training.write(part, csv(&rows[cut[0]..cut[1]]));
    }
    // Time passes with rows of weight zero, as it does with rows that were forgotten.
    (1..700).chain([ROWS - 1]).for_each(|row| rows[row].weight = 0.0);
    training.write("less.csv", csv(&rows));
    training.run("schema t.csv --target y --as code=category --weight w -o s.json");

    // The first lets rows go many times in every block, the second once in a while, the last never.
    for half_life in [7, 1_000, 2_500] {
        let model = |files: &str, threads: usize| {
            training.run(&format!(
                "train {files} --schema s.json --half-life {half_life} --threads {threads} -o m.priory"
            ));
            training.read()
        };
        let expected = model("t.csv", 1);
        assert!(model("t.csv", 3) == expected, "on threads, {half_life}");
        assert!(model(&parts.join(" "), 2) == expected, "from files, {half_life}");
        assert!(model(&parts[0], 2) != expected);
        for part in &parts[1..] {
            training.run(&format!("learn m.priory {part}"));
        }
        assert!(training.read() == expected, "in several calls, {half_life}");

        training.run("forget m.priory part-1.csv --learnt-at 2");
        training.run(&format!("forget m.priory part-5.csv --learnt-at {ROWS}"));
        let rest = training.read();
        assert!(rest != expected);
        assert!(model("less.csv", 2) == rest, "after forgetting, {half_life}");
    }
}

//! Parquet and Arrow.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};

use super::*;

fn rows(count: usize) -> RecordBatch {
    let numbers: Float64Array = (0..count).map(|i| (i % 7 != 0).then_some(i as f64 / 3.0)).collect();
    let words: StringArray = (0..count).map(|i| Some(format!("word {}", i % 11))).collect();
    let classes: StringArray = (0..count).map(|i| Some(["p", "q"][i % 2])).collect();
    let columns: [(&str, ArrayRef); 3] =
        [("a", Arc::new(numbers)), ("b", Arc::new(words)), ("y", Arc::new(classes))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.into_inner().unwrap()
}

fn arrow(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    writer.write(rows).unwrap();
    writer.into_inner().unwrap()
}

/// A folder with a table of each kind and a model of it.
fn folder() -> (Folder, Vec<u8>, Vec<u8>) {
    let folder = Folder::new();
    let (parquet, arrow) = (parquet(&rows(1_000)), arrow(&rows(1_000)));
    folder.write("t.parquet", &parquet).write("t.arrow", &arrow);
    folder.stdout("train t.parquet --target y -o m.priory");
    assert_eq!(folder.stdout("predict m.priory t.parquet"), folder.stdout("predict m.priory t.arrow"));
    (folder, parquet, arrow)
}

#[test]
fn files_that_are_cut_short() {
    let (folder, parquet, arrow) = folder();
    for (name, format, bytes, least) in [("t.parquet", "Parquet", parquet, 4), ("t.arrow", "Arrow", arrow, 8)]
    {
        for end in [least, 12, 100, bytes.len() / 2, bytes.len() * 3 / 4] {
            folder.write(name, &bytes[..end]);
            for arguments in [format!("train {name} --target y"), format!("predict m.priory {name} -o p.csv")]
            {
                let message = folder.refusal(&arguments);
                let expected = format!("{name}: the {format} file is damaged: ");
                assert!(message.starts_with(&expected), "{end} bytes: {message}");
            }
        }
    }
}

#[test]
fn bytes_that_were_changed_are_an_error_or_a_value() {
    let (folder, parquet, arrow) = folder();
    for (name, bytes) in [("t.parquet", parquet), ("t.arrow", arrow)] {
        // All of the places where lengths and offsets are, and some of the others.
        for at in (0..40).map(|i| i * bytes.len() / 40).chain((1..20).map(|i| bytes.len() - i)) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            folder.write(name, changed);
            let arguments = format!("predict m.priory {name}");
            let output = folder.command(&arguments).output().unwrap();
            match output.status.code() {
                Some(0) => assert_eq!(text(&output.stdout).lines().count(), 1_001, "byte {at}"),
                _ => {
                    // Rows before the damage may be predicted already.
                    sentence(&arguments, &Output { stdout: Vec::new(), ..output });
                }
            }
        }
    }
}

#[test]
fn pages_that_were_overwritten() {
    let (folder, _, _) = folder();
    // Several pages, packed: a page that is overwritten cannot be unpacked.
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(1_000)
        .set_write_batch_size(1_000)
        .build();
    let rows = rows(20_000);
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    let good = writer.into_inner().unwrap();
    folder.write("large.parquet", &good);
    folder.stdout("predict m.priory large.parquet -o p.csv");
    for tenth in 1..6 {
        let mut damaged = good.clone();
        damaged[good.len() * tenth / 10..][..2_000].fill(0xff);
        folder.write("large.parquet", damaged);
        for arguments in [
            "train large.parquet --target y",
            "predict m.priory large.parquet -o p.csv",
            "predict m.priory large.parquet -o new.csv --threads 1",
            "learn m.priory large.parquet",
            "evaluate large.parquet --target y",
        ] {
            let message = folder.refusal(arguments);
            let expected = "large.parquet: the Parquet file is damaged: ";
            assert!(message.starts_with(expected), "priory {arguments}, {tenth}/10: {message}");
        }
    }
}

#[test]
fn parquet_from_a_pipe() {
    let (folder, parquet, _) = folder();
    let (message, _) = folder.refusal_of_stream("train - --target y", &parquet, b"", 1);
    assert!(message.starts_with("standard input: ") && message.contains("Parquet"), "{message}");
}

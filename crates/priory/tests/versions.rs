//! A file of every published version can be read, and what it holds is written again byte for byte.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;

use priory::format::ModelFile;
use priory::{Batch, Kind, Learnt, Schema, Value};

/// The files of a version: their names and contents.
fn files(version: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models").join(version);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// A row that has some value in every column.
fn some_row(schema: &Schema) -> Batch {
    let values = schema.columns.iter().map(|column| match column.kind {
        Kind::Category | Kind::Joint => Value::Category("S"),
        Kind::Number | Kind::Moments | Kind::Group => Value::Number(3.5),
        Kind::Text => Value::Text(&["buy", "or", "not"]),
    });
    let mut batch = Batch::new(schema);
    batch.push(None, 1.0, &values.collect::<Vec<_>>()).unwrap();
    batch
}

/// If this fails for a column of text after a formula was changed on purpose, the numbers that files hold beside the counts
/// come out differently now: raise `REVISION` in families/text/whole.rs, so that files from before are read whole.
#[test]
fn files_of_every_version_are_read_and_written_as_they_were() {
    for (name, bytes) in files("version-1").into_iter().chain(files("version-2")) {
        let learnt = Learnt::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(learnt.to_bytes() == bytes, "{name} is written with other bytes");
        let asked = some_row(learnt.statistics.schema());
        let scores = learnt.estimate().unwrap().score(&asked).unwrap();
        assert!(scores.row(0).iter().all(|score| !score.is_nan()), "{name}");
        if let Some(file) = ModelFile::open(bytes).unwrap() {
            let found = file.model_for(&asked).unwrap().score(&asked).unwrap();
            assert_eq!(found.row(0), scores.row(0), "{name}");
        }
    }
}

/// The numbers that a file holds beside its counts are there to read a part of it. An older program may have worked them
/// out with other last bits: then the file is still read, but only whole.
#[test]
fn numbers_derived_by_other_formulas_are_not_used() {
    let (_, file) = files("version-1").into_iter().find(|(name, _)| name == "words.priory").unwrap();
    let pseudocount = br#"{\"0\":{\"tokens\":6,"#;
    let place = file.windows(pseudocount.len()).position(|bytes| bytes == pseudocount).unwrap();
    let end = place + file[place..].iter().position(|&byte| byte == b'}').unwrap();
    let with_derived = |derived: &str| {
        let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        let mut header = file[8..8 + length].to_vec();
        header.splice(place - 8..end - 8, derived.bytes());
        with_header(&file, &String::from_utf8(header).unwrap())
    };
    let other_bits = with_derived(r#"{\"0\":{\"tokens\":6,\"pseudocount\":0.1"#);
    let learnt = Learnt::read(&other_bits).unwrap();
    assert!(learnt.to_bytes() == file, "the pseudocount is worked out again");
    assert!(ModelFile::open(other_bits).unwrap().is_some());

    let other_revision = with_derived(r#"{\"0\":{\"revision\":99,\"tokens\":6,\"pseudocount\":0.1"#);
    assert!(Learnt::read(&other_revision).unwrap().to_bytes() == file);
    assert!(ModelFile::open(other_revision).unwrap().is_none());

    // No counts lead to such a number, and with it scores would not be numbers.
    let enormous = with_derived(r#"{\"0\":{\"tokens\":6,\"pseudocount\":1e308"#);
    assert!(Learnt::read(&enormous).is_err());
    assert!(ModelFile::open(enormous).unwrap().is_none());
}

/// The file with another header, and the checksum that fits it.
fn with_header(file: &[u8], header: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let sections = &file[8 + length..];
    let header = format!("{:<width$}", header.trim_end(), width = header.len().next_multiple_of(64) + 56);
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend_from_slice(header.as_bytes());
    let sum = crc32fast::hash(&changed);
    changed.extend_from_slice(sections);
    // The checksums stand at the end; that of the header is the first of them.
    let parsed: serde_json::Value = serde_json::from_str(&header).unwrap();
    let start = parsed["checksums"]["data_offsets"][0].as_u64().unwrap() as usize;
    changed[8 + header.len() + start..][..4].copy_from_slice(&sum.to_le_bytes());
    changed
}

//! A model file from a stranger can at worst be refused.

use priory::{Batch, Column, Error, Kind, Schema, Settings, Statistics, read_file, write_file};

fn small_file() -> Vec<u8> {
    let schema =
        Schema::new("y", vec![Column::new("a", Kind::Category), Column::new("b", Kind::Joint)]).unwrap();
    let mut statistics = Statistics::empty(&schema);
    let mut batch = Batch::from_rows(&[
        ("yes", [Some("1"), Some("x")]),
        ("no", [Some("0"), None]),
        ("yes", [None, Some("y")]),
    ]);
    batch.weights = vec![1.0, 0.1, 0.2];
    for _ in 0..3 {
        statistics.observe(&batch).unwrap();
    }
    write_file(&statistics, &Settings::default())
}

fn refusal(bytes: &[u8]) -> String {
    match read_file(bytes) {
        Err(Error::File(why)) => why,
        Err(other) => panic!("refused with another error: {other}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn any_changed_byte_is_noticed() {
    let file = small_file();
    assert!(read_file(&file).is_ok());
    for position in 0..file.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[position] ^= change;
            refusal(&changed);
        }
    }
}

#[test]
fn any_cut_or_addition_is_noticed() {
    let file = small_file();
    for length in 0..file.len() {
        refusal(&file[..length]);
    }
    let mut longer = file.clone();
    longer.push(0);
    refusal(&longer);
    assert_eq!(refusal(&[]), "it is too short");
}

#[test]
fn a_header_is_measured_before_it_is_believed() {
    for length in [u64::MAX, u64::MAX - 7, 1 << 62, 1 << 30, 100] {
        let mut file = length.to_le_bytes().to_vec();
        file.extend_from_slice(b"{}");
        assert_eq!(refusal(&file), "it is cut short, or not a model at all");
    }
}

fn with_header(header: &str) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file
}

#[test]
fn another_version_is_named() {
    let header = r#"{"__metadata__":{"priory_format":"2"}}"#;
    assert_eq!(refusal(&with_header(header)), "it has format version 2; this program reads version 1");
    assert_eq!(refusal(&with_header("{}")), "its header does not name a format version");
}

#[test]
fn a_crafted_header_allocates_nothing() {
    let version = r#""__metadata__":{"priory_format":"1"}"#;
    for section in [
        r#""class.ends":{"dtype":"U64","shape":[9223372036854775807,4],"data_offsets":[0,8]}"#,
        r#""class.ends":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}"#,
        r#""class.ends":{"dtype":"U64","shape":[1],"data_offsets":[8,0]}"#,
        r#""class.ends":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}"#,
        r#""a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#,
    ] {
        refusal(&with_header(&format!("{{{version},{section}}}")));
    }
    let deep = "[".repeat(100_000);
    refusal(&with_header(&deep));
}

/// The layout promise: each array starts at a multiple of 64 bytes, and the header lists all of them without gaps.
#[test]
fn arrays_are_aligned_and_contiguous() {
    let file = small_file();
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    assert_eq!((8 + length) % 64, 0);
    let header: serde_json::Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let mut spans: Vec<(u64, u64, String)> = header
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| *name != "__metadata__")
        .map(|(name, entry)| {
            let offsets = entry["data_offsets"].as_array().unwrap();
            (offsets[0].as_u64().unwrap(), offsets[1].as_u64().unwrap(), name.clone())
        })
        .collect();
    spans.sort();
    assert!(spans.windows(2).all(|pair| pair[0].1 == pair[1].0));
    assert_eq!(spans.last().unwrap().1 as usize, file.len() - 8 - length);
    assert!(spans.iter().filter(|(.., name)| !name.starts_with("pad.")).all(|(start, ..)| start % 64 == 0));
}

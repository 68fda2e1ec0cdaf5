//! A model file from a stranger can at worst be refused.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::format::ModelFile;
use priory::judgement::{Judging, Tier};
use priory::{Batch, Column, Error, Kind, Learnt, Schema, Settings, Statistics, Value};

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
    Learnt::new(statistics, Settings::default()).to_bytes()
}

/// A group of two columns, of which one is missing in a row.
fn grouped_file() -> Vec<u8> {
    let schema =
        Schema::new("y", vec![Column::new("a", Kind::Group), Column::new("b", Kind::Group)]).unwrap();
    let mut batch = Batch::new(&schema);
    for (class, x, y) in [("yes", 1.0, 2.5), ("no", 0.1, f64::NAN), ("yes", 3.0, 1.0), ("no", 7.0, 1e9)] {
        batch.push(Some(class), 1.0, &[Value::Number(x), Value::Number(y)]).unwrap();
    }
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&batch).unwrap();
    Learnt::new(statistics, Settings::default()).to_bytes()
}

/// A part of a table that keeps its rows to be judged by: one column of each kind.
fn part_file() -> Vec<u8> {
    let columns = [("x", Kind::Number), ("color", Kind::Category), ("text", Kind::Text)];
    let columns = columns.map(|(name, kind)| Column::new(name, kind)).to_vec();
    let schema = Schema::new("y", columns).unwrap();
    let mut batch = Batch::new(&schema);
    for (class, x, color, words) in [
        ("yes", 1.5, "red", &["buy", "now"][..]),
        ("no", 2.0, "blue", &["now", "now"]),
        ("no", 7.0, "red", &[]),
    ] {
        let values = [Value::Number(x), Value::Category(color), Value::Text(words)];
        batch.push(Some(class), 1.0, &values).unwrap();
    }
    batch.push(Some("no"), 2.0, &[Value::Missing; 3]).unwrap();
    let mut learnt = Learnt::new(Judging::Later.start(&schema), Settings::default());
    learnt.learn(&batch).unwrap();
    learnt.to_bytes()
}

fn refusal(bytes: &[u8]) -> String {
    match Learnt::read(&bytes) {
        Err(Error::File(why)) => why,
        Err(other) => panic!("refused with another error: {other}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn any_changed_byte_is_noticed() {
    for file in [small_file(), grouped_file(), text_file().1, ageing_file(["to", "be"]).1, part_file()] {
        assert!(Learnt::read(&file).is_ok());
        for position in 0..file.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[position] ^= change;
                refusal(&changed);
            }
        }
    }
}

/// Where a section of a file begins and ends.
fn section(file: &[u8], name: &str) -> std::ops::Range<usize> {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let offset = |i: usize| 8 + length + header[name]["data_offsets"][i].as_u64().unwrap() as usize;
    offset(0)..offset(1)
}

/// Gives a changed file the checksums that fit it, as someone would who means harm.
fn with_checksums(mut file: Vec<u8>) -> Vec<u8> {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let mut spans: Vec<(u64, u64)> = header
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| *name != "__metadata__" && *name != "checksums")
        .map(|(_, entry)| {
            (entry["data_offsets"][0].as_u64().unwrap(), entry["data_offsets"][1].as_u64().unwrap())
        })
        .collect();
    spans.sort_unstable();
    let mut sums = vec![crc32fast::hash(&file[..8 + length])];
    for (start, end) in spans {
        let bytes = &file[8 + length + start as usize..8 + length + end as usize];
        sums.extend(bytes.chunks(65_536).map(crc32fast::hash));
    }
    let place = section(&file, "checksums");
    let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    file[place].copy_from_slice(&bytes);
    file
}

#[test]
fn rows_that_are_kept_to_judge_by_were_counted() {
    let file = part_file();
    let changed = |name: &str, position: usize| {
        let mut changed = file.clone();
        let place = section(&file, name).start + position;
        changed[place] ^= 1;
        with_checksums(changed)
    };
    let not_counted = "the rows that it keeps are not among those that it counted";
    for name in ["sample.copies", "sample.weights", "sample.0", "sample.1.names", "sample.2.names"] {
        assert!(refusal(&changed(name, 0)).contains(not_counted), "{name}: {}", refusal(&changed(name, 0)));
    }
    // Whatever is changed, nothing worse happens than that a file is refused.
    for name in [
        "copies",
        "weights",
        "class.codes",
        "0",
        "1.codes",
        "2.documents",
        "2.tokens",
        "2.counts",
        "2.missing",
    ] {
        let name = format!("sample.{name}");
        for position in 0..section(&file, &name).len() {
            if let Ok(mut learnt) = Learnt::read(&changed(&name, position)) {
                learnt.judge(Judging::Tier(Tier::Full), 1).unwrap();
            }
        }
    }
}

/// A model of a few words.
fn text_file() -> (Schema, Vec<u8>) {
    let schema = Schema::new("class", vec![Column::new("text", Kind::Text)]).unwrap();
    let mut statistics = Statistics::empty(&schema);
    for (class, words) in [("ham", "do math today"), ("spam", "buy book now"), ("spam", "buy buy today")] {
        statistics.observe(&document(&schema, class, words)).unwrap();
    }
    (schema, Learnt::new(statistics, Settings::default()).to_bytes())
}

/// A model whose rows age: of one word in the first era, and of another in the second.
fn ageing_file(words: [&str; 2]) -> (Schema, Vec<u8>) {
    let schema = Schema::new("class", vec![Column::new("text", Kind::Text)]).unwrap();
    let mut statistics = Statistics::empty(&schema);
    statistics.set_half_life(1).unwrap();
    for row in 0..20 {
        let class = if row % 3 == 0 { "ham" } else { "spam" };
        statistics.observe(&document(&schema, class, words[row / 16])).unwrap();
    }
    (schema, Learnt::new(statistics, Settings::default()).to_bytes())
}

#[test]
fn an_age_that_cannot_be_is_refused() {
    let impossible = "what it says about the age of its rows cannot be";
    let (_, file) = ageing_file(["to", "be"]);
    let said = br#"\"rows\":1,\"learnt\":20"#;
    let place = file.windows(said.len()).position(|bytes| bytes == said).unwrap();
    let mut no_half_life = file.clone();
    no_half_life[place + br#"\"rows\":"#.len()] = b'0';
    assert_eq!(refusal(&with_checksums(no_half_life)), impossible);

    // Young rows that are not among the others.
    let (_, other) = ageing_file(["be", "to"]);
    let young = section(&file, "young");
    assert_eq!(young, section(&other, "young"));
    let mut strange = file.clone();
    strange[young.clone()].copy_from_slice(&other[young.clone()]);
    assert_eq!(refusal(&with_checksums(strange)), impossible);
    let mut damaged = file.clone();
    damaged[young.start + 400] ^= 1;
    refusal(&with_checksums(damaged));
}

#[test]
fn a_file_of_ageing_rows_is_looked_up_like_any_other() {
    let (schema, file) = ageing_file(["to", "be"]);
    let learnt = Learnt::read(&file).unwrap();
    let asked = document(&schema, "", "to be or");
    let whole = learnt.estimate().unwrap().score(&asked).unwrap();
    let opened = ModelFile::open(file).unwrap().expect("no count has a residue");
    let found = opened.model_for(&asked).unwrap().score(&asked).unwrap();
    assert_eq!(found.row(0), whole.row(0));
}

fn document(schema: &Schema, class: &str, words: &str) -> Batch {
    let mut batch = Batch::new(schema);
    batch.push(Some(class), 1.0, &[Value::Text(&words.split(' ').collect::<Vec<_>>())]).unwrap();
    batch
}

/// Scores a document with as little of a file as it takes.
fn score_from_file(bytes: Vec<u8>, document: &Batch) -> priory::Result<Option<Vec<f64>>> {
    let Some(file) = ModelFile::open(bytes)? else { return Ok(None) };
    Ok(Some(file.model_for(document)?.score(document)?.row(0).to_vec()))
}

#[test]
fn a_changed_byte_is_noticed_where_it_is_read() {
    let (schema, file) = text_file();
    let asked = document(&schema, "", "buy the book today");
    let expected = score_from_file(file.clone(), &asked).unwrap().unwrap();
    let (mut noticed, mut elsewhere) = (0, 0);
    for position in 0..file.len() {
        let mut changed = file.clone();
        changed[position] ^= 0x01;
        match score_from_file(changed, &asked) {
            Err(Error::File(_)) => noticed += 1,
            Ok(scores) => {
                assert_eq!(scores.as_ref(), Some(&expected), "byte {position}");
                elsewhere += 1;
            }
            Err(other) => panic!("refused with another error: {other}"),
        }
    }
    // Only what fills the gaps between the sections is not read.
    assert!(noticed > 4 * elsewhere && elsewhere > 0, "{noticed} noticed, {elsewhere} not read");
    for length in 0..file.len() {
        assert!(matches!(score_from_file(file[..length].to_vec(), &asked), Err(Error::File(_))));
    }
}

#[test]
fn made_up_words_are_refused_or_not_found() {
    let (schema, file) = text_file();
    let asked = document(&schema, "", "buy the book today");
    let (mut refused, mut accepted) = (0, 0);
    for name in ["ends", "names", "cells", "classes", "documents", "terms", "totals"] {
        for position in section(&file, &format!("column.0.{name}")) {
            for change in [0x01, 0x02, 0x40, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[position] ^= change;
                match score_from_file(with_checksums(changed), &asked) {
                    Ok(Some(scores)) => {
                        assert!(scores.iter().all(|score| !score.is_nan()));
                        accepted += 1;
                    }
                    Ok(None) => panic!("it could be read in parts before"),
                    Err(Error::File(_)) => refused += 1,
                    Err(other) => panic!("refused with another error: {other}"),
                }
            }
        }
    }
    assert!(refused > accepted, "{refused} changes were refused and {accepted} were not");
}

#[test]
fn what_was_derived_must_follow_from_the_counts() {
    let (schema, file) = text_file();
    let words = br#"tokens\":6"#;
    let place = file.windows(words.len()).position(|bytes| bytes == words).expect("six words are counted");
    let mut changed = file.clone();
    let digit = place + words.len() - 1;
    changed[digit] = b'7';
    let changed = with_checksums(changed);
    assert_eq!(refusal(&changed), "its counts contradict what was derived from them");
    // Where not all words are read, nobody can tell; but it is a model like any other.
    assert!(score_from_file(changed, &document(&schema, "", "buy")).is_ok());
}

/// Sums that no rows could have are refused, even if somebody has corrected the checksums.
#[test]
fn a_group_holds_the_sums_of_some_numbers() {
    let file = grouped_file();
    assert_eq!(with_checksums(file.clone()), file);
    let (mut refused, mut accepted) = (0, 0);
    for name in ["group.moments", "group.products", "group.alone", "group.alone.sums"] {
        for position in section(&file, name) {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[position] ^= change;
                let changed = with_checksums(changed);
                // What is not refused is a model like any other: it can be estimated, and written as it was read.
                match Learnt::read(&changed) {
                    Ok(learnt) => {
                        assert_eq!(learnt.to_bytes(), changed);
                        let _ = learnt.estimate();
                        accepted += 1;
                    }
                    Err(Error::File(_)) => refused += 1,
                    Err(other) => panic!("refused with another error: {other}"),
                }
            }
        }
    }
    assert!(refused > accepted, "{refused} changes were refused and {accepted} were not");
    // Columns that vary like these cannot have a product that large.
    let mut changed = file.clone();
    let products = section(&file, "group.products");
    changed[products.end - 1] ^= 0x40;
    assert_eq!(refusal(&with_checksums(changed)), "the sums of its group cannot be those of any numbers");
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
    let header = r#"{"__metadata__":{"priory_format":"3"}}"#;
    assert_eq!(refusal(&with_header(header)), "it has format version 3; this program reads versions 1 and 2");
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

use std::io::Cursor;

use priory::{Column, Kind, Schema};

use super::*;
use crate::format::InputFormat;
use crate::source::Limits;
use crate::table::Table;
use crate::unpack::Bytes;

fn open(text: &str, columns: Option<usize>) -> Result<Table> {
    let options =
        ReadOptions { input_format: Some(InputFormat::Svmlight), columns, ..ReadOptions::default() };
    let reader = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let bytes = Bytes::new("t".into(), None, reader, options.encoding)?;
    Table::new(bytes, None, &options, Limits { block: 16, record: 1 << 20, rows: 2 })
}

/// The rows of columns 1 to 3 as a model of these would see them; the second is a category.
fn rows(table: Table, purpose: Purpose) -> Result<String> {
    let kinds = [Kind::Number, Kind::Category, Kind::Number];
    let columns = kinds.iter().enumerate().map(|(i, kind)| Column::new((i + 1).to_string(), *kind));
    let schema = Schema::new("label", columns.collect()).unwrap();
    let mut batches = table.batches(&schema, purpose)?;
    let mut batch = Batch::new(&schema);
    let mut rows = Vec::new();
    while batches.read(&mut batch)? {
        for row in 0..batch.rows {
            let class = batch.classes.value(row).unwrap_or("-").to_owned();
            let features = (0..3).map(|column| batch.written(column, row).unwrap_or("-".into()));
            rows.push([class].into_iter().chain(features).collect::<Vec<_>>().join(" "));
        }
    }
    Ok(rows.join(" / "))
}

#[test]
fn what_is_not_mentioned_is_zero() {
    let text = "# a comment\n+1 1:2 3:0.5 # and one\n\n-1 qid:7 2:x\r\n3\n? 1:-1e3 2:1 3:?";
    let mut table = open(text, None).unwrap();
    assert_eq!(table.header(), ["label", "1", "2", "3"]);
    assert_eq!(table.columns()[3].stored, priory::infer::Stored::Number);
    let sample = table.sample(2).unwrap();
    assert_eq!(sample.columns[0], [Some("+1".into()), Some("-1".into())]);
    assert_eq!(sample.columns[2], [Some("0".into()), Some("x".into())]);
    let rows = rows(table, Purpose::Learning).unwrap();
    assert_eq!(rows, "+1 2 0 0.5 / -1 0 x 0 / 3 0 0 0 / - -1000 1 -");
}

#[test]
fn a_model_may_have_more_columns_or_fewer() {
    // Zeros, not missing values: the file only happens not to mention these columns.
    let scored = rows(open("1 1:5\n", None).unwrap(), Purpose::Scoring).unwrap();
    assert_eq!(scored, "- 5 0 0");
    let scored = rows(open("1 1:5 7:1\n", None).unwrap(), Purpose::Scoring).unwrap();
    assert_eq!(scored, "- 5 0 0");
}

#[test]
fn bad_indices_are_named() {
    let error = |line: &str| {
        let text = format!("1 1:1 3:1\n1 1:1\n{line}\n");
        open(&text, None).and_then(|table| rows(table, Purpose::Learning)).unwrap_err().to_string()
    };
    assert_eq!(error("1 0:1"), "t: row 3 has the index 0; svmlight counts its columns from 1");
    assert_eq!(error("1 -1:1"), "t: row 3 has the index `-1`, which is not a whole number from 1 on");
    assert_eq!(error("1 2:1 2:1"), "t: row 3 has index 2 after 2; indices must increase");
    assert_eq!(error("1 3:1 2:1"), "t: row 3 has index 2 after 3; indices must increase");
    let huge = "t: row 3 has the index `1000000000000`, but a table may have 262144 columns at most";
    assert_eq!(error("1 1000000000000:1"), huge);
    assert_eq!(error("1:1 2:1"), "t: row 3 has no label before `1:1`");
    assert_eq!(error("1 2"), "t: row 3 has `2`, which is not index:value");
    assert!(error("1 1:x").contains("row 3, column 1: `x` is not a number"), "{}", error("1 1:x"));
    assert_eq!(
        open("", None).err().unwrap().to_string(),
        "t: the table is empty, it does not even have a header"
    );
    assert_eq!(
        open("\u{1}\0", None).err().unwrap().to_string(),
        "t: this is a binary file or UTF-16: it holds NUL bytes"
    );
}

#[test]
fn the_width_can_be_declared() {
    assert_eq!(open("1 2:1\n", Some(5)).unwrap().header().len(), 6);
    let error = open("1 7:1\n", Some(5)).err().unwrap().to_string();
    assert_eq!(error, "t: row 1 has index 7, but there are 5 columns");
    let error = open("1 7:1\n", Some(2_000_000)).err().unwrap().to_string();
    assert_eq!(error, "t: the table has 2000000 columns; the limit is 262144");
    let error = open("1 65537:1\n", None).err().unwrap().to_string();
    assert_eq!(
        error,
        "t: row 1 has index 65537; if there are more than 65536, say how many columns there are"
    );
    assert_eq!(open("1 65536:1\n", None).unwrap().header().len(), 65_537);
    assert_eq!(open("1 65537:1\n", Some(200_000)).unwrap().header().len(), 200_001);
    let text = format!("{}1 9:1\n", "1 1:1 2:1 3:1\n".repeat(Sample::MOST_BYTES / 14 + 2));
    let error = rows(open(&text, None).unwrap(), Purpose::Learning).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "has index 9, but the beginning of the file goes up to 3 only; say how many columns there are"
        ),
        "{error}"
    );
}

use std::io::Cursor;

use priory::{Column, Kind as ColumnKind, Schema};
use proptest::prelude::*;

use super::*;
use crate::format::{InputFormat, ReadOptions};
use crate::source::Limits;
use crate::table::{Purpose, Table};
use crate::unpack::Bytes;

fn open(text: &str, limits: Limits) -> Result<Table> {
    let options = ReadOptions { input_format: Some(InputFormat::JsonLines), ..ReadOptions::default() };
    let reader = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let bytes = Bytes::new("t".into(), None, reader, options.encoding)?;
    Table::new(bytes, None, &options, limits)
}

const SMALL: Limits = Limits { block: 16, record: 1 << 20, rows: 2 };

/// The class and the features of every row, categories and numbers alike as text.
fn rows(text: &str, limits: Limits) -> Result<Vec<Vec<Option<String>>>> {
    let schema =
        Schema::new("y", vec![Column::new("c", ColumnKind::Category), Column::new("n", ColumnKind::Number)]);
    let schema = schema.unwrap();
    let mut batches = open(text, limits)?.batches(&schema, Purpose::Learning)?;
    let mut batch = Batch::new(&schema);
    let mut rows = Vec::new();
    while batches.read(&mut batch)? {
        for row in 0..batch.rows {
            let class = batch.classes.value(row).map(String::from);
            rows.push(vec![class, batch.written(0, row), batch.written(1, row)]);
        }
    }
    Ok(rows)
}

fn check(text: &str, expected: &str) {
    for limits in [SMALL, Limits::USUAL] {
        let rows = rows(text, limits).unwrap();
        let row = |row: &Vec<Option<String>>| {
            row.iter().map(|value| value.as_deref().unwrap_or("-")).collect::<Vec<_>>().join("|")
        };
        assert_eq!(rows.iter().map(row).collect::<Vec<_>>().join(" / "), expected);
    }
}

fn check_error(text: &str, expected: &str) {
    for limits in [SMALL, Limits::USUAL] {
        assert_eq!(rows(text, limits).unwrap_err().to_string(), expected);
    }
}

#[test]
fn objects_are_rows() {
    check(r#"{"y":"a","c":"x","n":1}"#, "a|x|1");
    check(
        "\n{\"y\":\"a\",\"c\":\"x\",\"n\":1}\r\n\n  { \"n\" : 2.5e1 , \"y\" : true , \"c\" : 1.00 }\n",
        "a|x|1 / true|1.00|25",
    );
    check("{\"y\":1,\"c\":null,\"n\":null}\n{\"z\":[{\"y\":\"]\"}],\"y\":2}\n{}", "1|-|- / 2|-|- / -|-|-");
    check(
        "{\"y\":1,\"c\":\"?\",\"n\":\"2\"}\n{\"y\":2,\"c\":\"\",\"n\":true}\n{\"y\":2,\"c\":\"NA\",\"n\":NaN}",
        "1|-|2 / 2|-|1 / 2|-|-",
    );
    check(r#"{"y":"\u00e9\\n\n\"\ud83d\ude00\ud83d","\u0063":"\/","n":"\u0031"}"#, "é\\n\n\"😀\u{fffd}|/|1");
}

#[test]
fn rows_that_are_not_right() {
    let row = "{\"y\":1,\"c\":2,\"n\":3}\n".repeat(3);
    let check = |line: &str, expected: &str| check_error(&format!("{row}{line}\n{row}"), expected);
    let object = |what: &str| format!("t: row 4 is not a JSON object on one line: {what}");
    check("[1,2]", &object("{ is expected at character 1"));
    check("{\"y\":1", &object("a comma or } is expected at character 7"));
    check("{\"y\":1}}", &object("the end of the line is expected at character 8"));
    check("{\"y\":01}", &object("a number without leading zeros is expected at character 6"));
    check("{\"y\":1.}", &object("a digit is expected at character 8"));
    check("{\"y\":\"é\\x\"}", &object("an escape is expected at character 9"));
    check("{\"y\":\"a}", &object("a closing quote is expected at character 9"));
    check("{\"y\":nul}", &object("a value is expected at character 6"));
    check("{y:1}", &object("a key in quotes is expected at character 2"));
    check("{\"z\":[[1]", &object("a closing bracket is expected at character 10"));
    check("{\"y\":1,\"n\":null,\"n\":2}", "t: row 4 has the key `n` twice");
    check("{\"y\":1,\"c\":[1]}", "t: row 4, column `c` holds an array, which cannot be read");
    check("{\"y\":1,\"n\":{}}", "t: row 4, column `n` holds an object, which cannot be read");
    check("{\"y\":1,\"n\":\"two\"}", "t: row 4, column n: `two` is not a number");
    assert!(
        rows(&format!("{row}{{\"n\":-Infinity}}"), SMALL).unwrap_err().to_string().contains("is infinite")
    );
    check_error("\n \n", "t: the table is empty, it does not even have a header");
}

#[test]
fn columns_come_from_the_beginning() {
    let text = "{\"b\":1,\"a\":1}\n{\"a\":2.5,\"c\":true,\"b\":-2}\n{\"c\":false,\"d\":null,\"e\":[1,\"x\"]}\n{\"a\":1,\"f\":\"u\"}\n";
    let mut table = open(text, SMALL).unwrap();
    let columns = table.columns();
    let columns: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.stored)).collect();
    let (text, number, integer) = (Stored::Text, Stored::Number, Stored::Integer);
    let kinds =
        [("b", integer), ("a", number), ("c", Stored::Boolean), ("d", text), ("e", text), ("f", text)];
    assert_eq!(columns, kinds);
    for _ in 0..2 {
        let sample = table.sample(3).unwrap();
        assert_eq!(sample.rows, 3);
        assert_eq!(sample.columns[1], [Some("1".into()), Some("2.5".into()), None]);
        assert_eq!(sample.columns[4], [None, None, Some("[1,\"x\"]".into())]);
    }
}

#[test]
fn there_is_an_end_to_the_columns() {
    let object = |from: usize, count: usize| {
        let pairs: Vec<String> = (from..from + count).map(|i| format!("\"k{i}\":1")).collect();
        format!("{{{}}}\n", pairs.join(","))
    };
    let limits = Limits { record: 8 << 20, ..Limits::USUAL };
    let half = MOST_COLUMNS / 2;
    let most = object(0, half) + &object(half, half);
    assert_eq!(open(&most, limits).unwrap().header().len(), MOST_COLUMNS);
    for (text, row) in [(most + &object(7, MOST_COLUMNS), 3), (object(0, 2 * MOST_COLUMNS), 1)] {
        let error = open(&text, limits).err().unwrap().to_string();
        let expected = format!("t: row {row} makes more than 65536 columns; perhaps its keys are data");
        assert_eq!(error, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Strings come back as they were, however they are escaped, and whatever the blocks are.
    #[test]
    fn strings_survive(values in prop::collection::vec("[a\"\\\\/\\n\\u{0}-\\u{1f}é😀]{0,6}", 1..8), ascii: bool) {
        let quoted = |value: &str| {
            let mut out = String::from("\"");
            for unit in value.chars() {
                match unit {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    other if other < ' ' || (ascii && !other.is_ascii()) => {
                        other.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
                    }
                    other => out.push(other),
                }
            }
            out + "\""
        };
        let lines: Vec<String> = values.iter().map(|value| format!("{{\"y\":{0},\"c\":\"x\",\"n\":1}}", quoted(value))).collect();
        for limits in [SMALL, Limits::USUAL] {
            let rows = rows(&lines.join("\n"), limits).unwrap();
            let read: Vec<_> = rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect();
            prop_assert_eq!(&read, &values);
        }
    }

    /// Anything can be in a file; what is made of it does not depend on the blocks.
    #[test]
    fn any_text_is_read_or_refused(pieces in prop::collection::vec(prop::sample::select(
        &["{", "}", "\"y\"", ":", ",", "1", "-", "\"", "\\", "u00e9", "[", "]", "\n", "\n{\"y\":1,\"c\":2,\"n\":3}\n", " ", "null", "é", "\r"][..]), 0..30)) {
        let text = format!("{{\"y\":1,\"c\":1,\"n\":1}}\n{}", pieces.concat());
        let message = |limits| rows(&text, limits).map_err(|error| error.to_string());
        prop_assert_eq!(message(SMALL), message(Limits::USUAL));
    }
}

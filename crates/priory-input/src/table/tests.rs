use std::io::Cursor;

use priory::{Column, Kind};
use proptest::prelude::*;

use super::*;
use crate::format::Encoding;
use crate::format::InputFormat;
use priory::infer::Stored;
use priory::{Batch, CategoryColumn};

/// Small limits, so that records straddle blocks and batches. A byte order mark must fit into the first block.
fn limits(block: usize, rows: usize) -> Limits {
    Limits { block, rows, ..Limits::USUAL }
}

fn open(bytes: &[u8], delimiter: Option<u8>, limits: Limits) -> Result<Table> {
    open_with(bytes, &ReadOptions { delimiter, ..ReadOptions::default() }, limits)
}

fn open_with(bytes: &[u8], options: &ReadOptions, limits: Limits) -> Result<Table> {
    let bytes = Bytes::new("t".into(), None, Box::new(Cursor::new(bytes.to_vec())), options.encoding)?;
    Table::new(bytes, None, options, limits)
}

fn schema(target: &str, features: &[&str]) -> Schema {
    Schema::new(target, features.iter().map(|name| Column::new(*name, Kind::Category)).collect()).unwrap()
}

/// Class, features and weights of every row. Each batch must begin where the last one ended.
type Row = (Option<String>, Vec<Option<String>>, Option<f64>);

fn rows(table: Table, schema: &Schema, purpose: Purpose) -> Result<Vec<Row>> {
    let mut batches = table.batches(schema, purpose)?;
    let mut batch = Batch::new(schema);
    let mut rows = Vec::new();
    while batches.read(&mut batch)? {
        assert!(batch.rows <= 1 << 15);
        assert_eq!(batch.first_row, rows.len() as u64 + 1);
        assert_eq!(batch.classes.codes.len(), batch.rows);
        for row in 0..batch.rows {
            let text = |column: &CategoryColumn| column.value(row).map(String::from);
            let features = (0..batch.columns.len()).map(|i| text(batch.category(i))).collect();
            rows.push((text(&batch.classes), features, batch.weights.get(row).copied()));
        }
    }
    assert_eq!(batches.rows_read(), rows.len() as u64);
    assert!(!batches.read(&mut batch)?, "the end stays the end");
    Ok(rows)
}

/// All fields of a table as text, the header first, whatever the limits are. Nothing counts as missing.
fn fields(bytes: &[u8], delimiter: u8, limits: Limits) -> Result<Vec<Vec<String>>> {
    let table = open(bytes, Some(delimiter), limits)?;
    let header = table.header().to_vec();
    let features: Vec<&str> = header[1..].iter().map(String::as_str).collect();
    let mut schema = schema(&header[0], &features);
    schema.missing.clear();
    let rows = rows(table, &schema, Purpose::Learning)?;
    let all =
        rows.into_iter().map(|(class, features, _)| [class].into_iter().chain(features).flatten().collect());
    Ok([header].into_iter().chain(all).collect())
}

/// The fields, written with `|` between them and ` / ` between rows.
fn check(text: impl AsRef<[u8]>, expected: &str) {
    for block in [3, 4, 5, 8, 13, 64, 1 << 20] {
        let fields = fields(text.as_ref(), b',', limits(block, 3)).unwrap();
        let rows: Vec<String> = fields.iter().map(|row| row.join("|")).collect();
        assert_eq!(rows.join(" / "), expected, "blocks of {block} bytes");
    }
}

fn check_error(text: impl AsRef<[u8]>, expected: &str) {
    for block in [16, 64, 1 << 20] {
        let error = fields(text.as_ref(), b',', limits(block, 3)).unwrap_err();
        assert_eq!(error.to_string(), expected, "blocks of {block} bytes");
    }
}

#[test]
fn lines_and_fields() {
    check("a,b\n1,2\n3,4\n", "a|b / 1|2 / 3|4");
    check("a,b\n1,2\n3,4", "a|b / 1|2 / 3|4");
    check("a,b\r\n1,2\r\n3,4\r\n", "a|b / 1|2 / 3|4");
    check("a,b\r\n1,2\n3,4\r", "a|b / 1|2 / 3|4");
    check("a,b\n,\n1,\n,2", "a|b / | / 1| / |2");
    check("a,b", "a|b");
    check("\u{feff}a,b\n1,2\n", "a|b / 1|2");
    check("a,b\né,日本\n", "a|b / é|日本");
    check("a,b\nx\ry,\r\n", "a|b / x\ry|");
}

#[test]
fn quotes() {
    check("a,b\n\"1\",\"2\"\r\n\"\",\"\"\n", "a|b / 1|2 / |");
    check("a,b\n\"x,y\",\"x\ny\"\n", "a|b / x,y|x\ny");
    check("a,b\n\"\"\"\",\"x\"\"y\"\"\"\n", "a|b / \"|x\"y\"");
    check("a,b\n\"\r\n\r\n\",\"\n\"", "a|b / \r\n\r\n|\n");
    check("a,b\n5\" pipe,6\"\n1,\"2\"\n", "a|b / 5\" pipe|6\" / 1|2");
    check("\"a\nb\",\"c\"\"d\"\n1,2\n", "a\nb|c\"d / 1|2");
}

#[test]
fn blank_lines() {
    check("a,b\n1,2\n\n\r\n\n", "a|b / 1|2");
    check("\n\r\na,b\n\n1,2\n\r\n\n\n3,4\n", "a|b / 1|2 / 3|4");
    check("a\n1\n\n\r\n2\n\n\r\n\n", "a / 1 /  /  / 2");
    check("a\n\n\n", "a");
    check("a\n\n\n1\n\"\"\n\n", "a /  /  / 1 / ");
}

#[test]
fn rows_that_are_not_right() {
    check_error("a,b\n1,2\n\n3\n4,5\n", "t: row 2 has 1 field where the header has 2");
    check_error("a,b\n1,2\n3,4,5", "t: row 2 has 3 fields where the header has 2");
    check_error("a\n1,2\n", "t: row 1 has 2 fields where the header has 1");
    check_error("a,b\n1,2\n3,4\n5,\"6\n7,8\n9,1\n", "t: row 3 opens a quote that is never closed");
    check_error("\"a,b\n1,2\n", "t: the header opens a quote that is never closed");
    let doubled = "a quote inside a quoted field is written twice";
    let after = |place| format!("t: {place} has text after the closing quote; {doubled}");
    check_error("a,b\n1,2\n3,\"4\"5\n", &after("row 2, column `b`"));
    check_error("a,b\n1,\"4\" \n", &after("row 1, column `b`"));
    check_error("a,b\n1,\"4\"\r5\n", &after("row 1, column `b`"));
    check_error("a,b\n1,2,\"4\"5\n", &after("row 1, column 3"));
    check_error("a,\"b\"c\n", &after("the header, column 2"));
    // Of several mistakes, that of the first row is reported.
    check_error(b"a,b\n\xff,2\n3\n", "t: row 1, column `a` is not valid UTF-8");
    check_error(b"a,b\n3\n\xff,2\n", "t: row 1 has 1 field where the header has 2");
}

#[test]
fn bytes_that_are_not_text() {
    check_error(b"a,b\n1,2\n\n3,4\xe9x\n", "t: row 2, column `b` is not valid UTF-8");
    check_error(b"a,b\n1,2\n\xc3,\xa9\n", "t: row 2, column `a` is not valid UTF-8");
    check_error(b"a,\xe9\n", "t: the header, column 2 is not valid UTF-8");
    check_error("", "t: the table is empty, it does not even have a header");
    check_error("\u{feff}\n\r\n", "t: the table is empty, it does not even have a header");
    check_error(b"\xff\xfea\0,\0", "t: this is UTF-16 text; save it as UTF-8");
    check_error(b"\xfe\xff\0a\0,", "t: this is UTF-16 text; save it as UTF-8");
    check_error(b"a\0,\0b\0\n\0", "t: this is a binary file or UTF-16: it holds NUL bytes");
    check_error(b"\x1f\x8b\x08", "t: the gzip file is cut short; fetch or pack it again");
    check_error(
        b"PK\x03\x04...",
        "t: the spreadsheet file is damaged: invalid Zip archive: Could not find EOCD",
    );
    let bare = "t: this is text whose lines end with bare carriage returns; save it with line feeds";
    check_error("a,b\r1,2\r", bare);
}

#[test]
fn a_nul_byte_far_into_the_table_names_its_row() {
    let bytes = [b"a,b\n", b"3,4\n".repeat(10).as_slice(), b"5,\0\n"].concat();
    let error = fields(&bytes, b',', limits(16, 3)).unwrap_err().to_string();
    assert_eq!(error, "t: row 11, column `b` holds a NUL byte, so this is not a text file");
}

#[test]
fn a_row_may_be_long_but_not_endless() {
    let limits = Limits { block: 8, record: 100, rows: 3 };
    let table = |length: usize| format!("a,b\n1,2\n{},{}\n5,6\n", "x".repeat(length), "y".repeat(length));
    assert_eq!(fields(table(40).as_bytes(), b',', limits).unwrap().len(), 4);
    let error = fields(table(60).as_bytes(), b',', limits).unwrap_err().to_string();
    assert!(error.starts_with("t: row 2 is longer than 100 bytes; perhaps a quote"), "{error}");
    let open_quote = format!("a,b\n\"{}", "1,2\n".repeat(100));
    let error = fields(open_quote.as_bytes(), b',', limits).unwrap_err().to_string();
    assert!(error.starts_with("t: row 1 is longer than 100 bytes"), "{error}");
    let error = fields("a".repeat(200).as_bytes(), b',', limits).unwrap_err().to_string();
    assert!(error.starts_with("t: the header is longer than 100 bytes"), "{error}");
}

#[test]
fn the_delimiter_is_given_or_seen() {
    let header = |text: &str, delimiter| {
        open(text.as_bytes(), delimiter, Limits::USUAL).map(|table| table.header().join("|"))
    };
    assert_eq!(header("a\tb c\n", None).unwrap(), "a|b c");
    assert_eq!(header("a,b\tc\n", None).unwrap(), "a|b\tc");
    assert_eq!(header("a;b\n", None).unwrap(), "a|b");
    assert_eq!(header("a,a b,a b,a,a b 2\n", None).unwrap(), "a|a b|a b 3|a 2|a b 2");
    assert_eq!(header("a;b,c\n", Some(b';')).unwrap(), "a|b,c");
    assert_eq!(header("a\tb,c\n", Some(b'\t')).unwrap(), "a|b,c");
    for delimiter in [b'"', b'\n', b'\r', 0, 0xe9] {
        let error = header("a,b\n", Some(delimiter)).unwrap_err().to_string();
        assert!(error.contains("is not a single ASCII character"), "{error}");
    }
}

#[test]
fn files_are_opened_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    for (name, columns) in [("t.csv", 2), ("t.tsv", 1), ("t.TAB", 1), ("t", 2)] {
        std::fs::write(path(name), "a,b\n1,2\n").unwrap();
        let table = Table::open(&path(name), &ReadOptions::default()).unwrap();
        assert_eq!(table.header().len(), columns);
        assert_eq!(table.name(), path(name));
    }
    let error = Table::open(&path("absent.csv"), &ReadOptions::default()).err().unwrap().to_string();
    assert!(error.starts_with(&format!("{}: cannot be opened: ", path("absent.csv"))), "{error}");
    // A folder is a table of documents.
    let folder = Table::open(&path(""), &ReadOptions::default()).unwrap();
    assert_eq!(folder.header(), ["class", "text"]);
}

#[test]
fn comments_are_passed_over() {
    let text = "#,\"\n# x\na,b\n#1,2,3\n1,#2\n\"x\n#y\",3\n\n# \"\n4,5\n#,\"";
    let options = ReadOptions { comment: Some(b'#'), ..ReadOptions::default() };
    for block in [3, 4, 5, 8, 13, 64, 1 << 20] {
        let table = open_with(text.as_bytes(), &options, limits(block, 3)).unwrap();
        assert_eq!(table.header(), ["a", "b"]);
        let rows = rows(table, &schema("a", &["b"]), Purpose::Learning).unwrap();
        let rows: Vec<_> = rows.into_iter().map(|row| (row.0.unwrap(), row.1[0].clone().unwrap())).collect();
        let expected = [("1", "#2"), ("x\n#y", "3"), ("4", "5")];
        assert_eq!(rows, expected.map(|(a, b)| (a.to_owned(), b.to_owned())), "blocks of {block} bytes");
    }
    for comment in [b'"', b',', b'\n', 0xe9] {
        let options = ReadOptions { comment: Some(comment), ..options.clone() };
        let error = open_with(b"a,b\n", &options, Limits::USUAL).err().unwrap().to_string();
        assert!(error.contains("the comment character"), "{error}");
    }
    let error = open_with(b"#a\n#b\n", &options, limits(4, 1)).err().unwrap().to_string();
    assert_eq!(error, "t: the table is empty, it does not even have a header");
}

#[test]
fn columns_without_names_are_numbered() {
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    for block in [4, 1 << 20] {
        let table = open_with(b"\nx,y\n1,2\n", &options, limits(block, 3)).unwrap();
        assert_eq!(table.header(), ["1", "2"]);
        let rows = rows(table, &schema("1", &["2"]), Purpose::Learning).unwrap();
        assert_eq!(rows, [(some("x"), vec![some("y")], None), (some("1"), vec![some("2")], None)]);
    }
    // What comes before the first row is not looked at, whether or not it has a block of its own.
    let options = ReadOptions { comment: Some(b'#'), ..options };
    for block in [4, 8, 16, 1 << 20] {
        for text in [&b"# caf\xe9 \xff\n\n\nx\n1\n"[..], b"\n\n\n\n\n\nx\n1\n", b"x\n1"] {
            let table = open_with(text, &options, limits(block, 3)).unwrap();
            let rows = rows(table, &schema("1", &[]), Purpose::Learning).unwrap();
            assert_eq!(rows, [(some("x"), vec![], None), (some("1"), vec![], None)], "{block}: {text:?}");
        }
    }
}

#[test]
fn latin_1_is_decoded() {
    let options = ReadOptions { encoding: Encoding::Latin1, ..ReadOptions::default() };
    let table = open_with(b"a,b\xe9\n\xff,2\n", &options, limits(4, 3)).unwrap();
    assert_eq!(table.header(), ["a", "b\u{e9}"]);
    let rows = rows(table, &schema("a", &["b\u{e9}"]), Purpose::Learning).unwrap();
    assert_eq!(rows[0].0, some("\u{ff}"));
}

#[test]
fn a_sample_takes_nothing_away() {
    let text = "a,b\n1,\n\n\"x\"\"y\",?\n3,4\n5,6\n7\n";
    for block in [4, 5, 16, 1 << 20] {
        let mut table = open(text.as_bytes(), None, limits(block, 2)).unwrap();
        assert_eq!(table.columns()[1], ColumnInfo { name: "b".into(), stored: Stored::Text });
        assert_eq!(table.sample(0).unwrap(), Sample { rows: 0, places: 0, columns: vec![vec![]; 2] });
        for most in [1, 3, 4] {
            let sample = table.sample(most).unwrap();
            let column = |values: [&str; 4]| values[..most].iter().map(|value| some(value)).collect();
            let columns = vec![column(["1", "x\"y", "3", "5"]), column(["", "?", "4", "6"])];
            assert_eq!(sample, Sample { rows: most, places: 0, columns });
        }
        let bad = "t: row 5 has 1 field where the header has 2";
        assert_eq!(table.sample(5).unwrap_err().to_string(), bad);
        let error = rows(table, &schema("a", &["b"]), Purpose::Learning).unwrap_err();
        assert_eq!(error.to_string(), bad, "the rows were read again");
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.into())
}

fn read(text: &str, schema: &Schema, purpose: Purpose) -> Result<Vec<Row>> {
    rows(open(text.as_bytes(), None, limits(16, 2))?, schema, purpose)
}

#[test]
fn columns_are_found_by_name() {
    let schema = schema("play", &["outlook", "wind"]);
    let text = "wind,day,play,outlook\nweak,1,no,sunny\n?,2,,\"NA\"\nNaN,3,yes,Null\n";
    let learnt = read(text, &schema, Purpose::Learning).unwrap();
    assert_eq!(learnt[0], (some("no"), vec![some("sunny"), some("weak")], None));
    assert_eq!(learnt[1], (None, vec![None, None], None));
    assert_eq!(learnt[2], (some("yes"), vec![some("Null"), None], None));

    let scored = read(text, &schema, Purpose::Scoring).unwrap();
    let features = |rows: &[Row]| rows.iter().map(|row| row.1.clone()).collect::<Vec<_>>();
    assert_eq!(features(&scored), features(&learnt));
    assert!(scored.iter().all(|row| row.0.is_none()));

    let table = open(text.as_bytes(), None, Limits::USUAL).unwrap();
    let batches = table.batches(&schema, Purpose::Scoring).unwrap();
    assert_eq!(batches.reader().surplus_columns(), ["day"]);
    assert!(batches.reader().missing_columns().is_empty());
}

#[test]
fn a_table_to_score_may_lack_columns() {
    let mut schema = schema("play", &["outlook", "wind"]);
    schema.weight = some("count");
    let table = open(b"wind,x\nweak,1\n", None, Limits::USUAL).unwrap();
    let batches = table.batches(&schema, Purpose::Scoring).unwrap();
    assert_eq!(batches.reader().missing_columns(), ["outlook"]);
    assert_eq!(batches.reader().surplus_columns(), ["x"]);
    let scored = read("wind,x\nweak,1\n", &schema, Purpose::Scoring).unwrap();
    assert_eq!(scored, [(None, vec![None, some("weak")], None)]);
    let error = read("play,x\n1,2\n", &schema, Purpose::Scoring).unwrap_err().to_string();
    assert_eq!(error, "t: none of the model's features is in this table; the header has `play`, `x`");
}

#[test]
fn a_table_to_learn_from_has_every_column() {
    let mut schema = schema("play", &["outlook", "wind"]);
    schema.weight = some("count");
    let error = |text: &str| read(text, &schema, Purpose::Learning).unwrap_err().to_string();
    assert_eq!(
        error("Play,outlook,wind,count\n"),
        "t: there is no target column `play`, perhaps `Play` is meant; the header has `Play`, `outlook`, `wind`, `count`"
    );
    assert_eq!(
        error("play,outlok,wind,count\n"),
        "t: there is no feature column `outlook`, perhaps `outlok` is meant; the header has `play`, `outlok`, `wind`, `count`"
    );
    assert_eq!(
        error("play,outlook,wind\n"),
        "t: there is no weight column `count`; the header has `play`, `outlook`, `wind`"
    );
    assert_eq!(error("x\n"), "t: there is no target column `play`; the header has `x`");
}

#[test]
fn weights_are_numbers() {
    let mut schema = schema("class", &["x"]);
    schema.weight = some("count");
    let read =
        |weight: &str| read(&format!("class,x,count\na,b,1\na,b,{weight}\n"), &schema, Purpose::Learning);
    for (text, weight) in [("2", 2.0), ("\"0.5\"", 0.5), ("-1", -1.0), ("1e400", f64::INFINITY)] {
        assert_eq!(read(text).unwrap()[1].2, Some(weight));
    }
    // Not a number is left to the statistics to refuse, unless it is how this table spells missing.
    assert!(read("nan").unwrap()[1].2.unwrap().is_nan());
    for text in ["", "NaN", "?", "two", "1,5", " 1"] {
        let error = read(&format!("\"{text}\"")).unwrap_err().to_string();
        assert_eq!(error, format!("t: row 2, column `count`: the weight `{text}` is not a number"));
    }
}

#[test]
fn many_values_and_long_values_keep_their_codes() {
    let value = |row: usize| match row % 7 {
        0 => String::new(),
        1 => format!("{}", row % 1000),
        2 => format!("0123456789abcd{}", row % 100), // on both sides of 16 bytes
        3 => format!("a value of more than sixteen bytes {}", row % 10),
        4 => format!("\"{}\"", row % 3),
        5 => String::from("?"),
        _ => String::from("x"),
    };
    let mut text = String::from("class,x\n");
    (0..20_000).for_each(|row| text.push_str(&format!("a,{}\n", value(row))));
    let rows = rows(
        open(text.as_bytes(), None, Limits::USUAL).unwrap(),
        &schema("class", &["x"]),
        Purpose::Learning,
    );
    for (row, (class, features, _)) in rows.unwrap().into_iter().enumerate() {
        assert_eq!(class.as_deref(), Some("a"));
        let expected = Some(value(row).replace('"', "")).filter(|value| !value.is_empty() && value != "?");
        assert_eq!(features, [expected], "row {row}");
    }
}

/// A reader that gives a byte at a time, is interrupted now and then, and in the end fails.
struct Unsteady(Vec<u8>, usize);

impl Read for Unsteady {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let byte = self.0.pop().ok_or_else(|| io::Error::other("the line is dead"))?;
        buffer[0] = byte;
        Ok(1)
    }
}

#[test]
fn a_reader_may_be_slow_and_may_fail() {
    let mut bytes = b"a,b\n1,2\n3,4\n".to_vec();
    bytes.reverse();
    let limits = limits(4, 1);
    let bytes = Bytes::new("t".into(), None, Box::new(Unsteady(bytes, 0)), Encoding::Utf8).unwrap();
    let table = Table::new(bytes, None, &ReadOptions::default(), limits).unwrap();
    let error = rows(table, &schema("a", &["b"]), Purpose::Learning).unwrap_err().to_string();
    assert_eq!(error, "t: cannot be read: the line is dead");
}

/// What the csv crate makes of the same bytes.
fn oracle(bytes: &[u8], delimiter: u8) -> Vec<Vec<String>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bytes);
    reader.records().map(|record| record.unwrap().iter().map(String::from).collect()).collect()
}

/// A field as it is in a file. It is quoted where it must be, and sometimes where it need not be.
fn written_field(delimiter: char) -> impl Strategy<Value = String> {
    let pieces: &[&str] =
        &["", "a", "bc", "\"", ",", "\t", ";", "\n", "\r\n", "\r", "é", "日本", " ", "0123456789abcdef"];
    let text = prop::collection::vec(prop::sample::select(pieces), 0..5).prop_map(|parts| parts.concat());
    (text, any::<bool>()).prop_map(move |(text, quoted)| {
        let special = text.contains([delimiter, '\n', '\r']) || text.starts_with('"');
        let quoted = quoted || special;
        if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    })
}

/// A table of one to five columns, with either line end, blank lines, and perhaps no last line end.
fn written_table() -> impl Strategy<Value = (String, u8)> {
    let shape = (1_usize..6, prop::sample::select(&[',', '\t', ';'][..]));
    shape.prop_flat_map(|(width, delimiter)| {
        let end = prop::sample::select(&["\n", "\n", "\r\n", "\r\n", "\n\n", "\n\r\n\r\n"][..]);
        let row = (prop::collection::vec(written_field(delimiter), width), end);
        (prop::collection::vec(row, 0..12), any::<bool>(), any::<bool>()).prop_map(
            move |(rows, mark, last_end)| {
                let separator = delimiter.to_string();
                let header: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
                let mut text = String::from(if mark { "\u{feff}" } else { "" });
                text.push_str(&header.join(&separator));
                text.push('\n');
                for (fields, end) in rows {
                    // The csv crate skips blank lines in a table of one column too, so there are none.
                    let blank = width == 1 && fields[0].is_empty();
                    text.push_str(&if blank { String::from("\"\"") } else { fields.join(&separator) });
                    text.push_str(if width == 1 { "\r\n" } else { end });
                }
                let text = if last_end { text } else { text.trim_end_matches(['\r', '\n']).to_owned() };
                (text, delimiter as u8)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn tables_are_read_as_the_csv_crate_reads_them(
        (text, delimiter) in written_table(),
        block in 3_usize..200,
        most_rows in 1_usize..6,
    ) {
        let expected = oracle(text.as_bytes(), delimiter);
        prop_assert_eq!(&fields(text.as_bytes(), delimiter, limits(block, most_rows)).unwrap(), &expected);
        prop_assert_eq!(&fields(text.as_bytes(), delimiter, Limits::USUAL).unwrap(), &expected);
    }

    /// Anything can be in a file. Whatever is made of it does not depend on the blocks, and if it is not refused,
    /// it is what the csv crate says.
    #[test]
    fn any_bytes_are_read_or_refused(
        pieces in prop::collection::vec(
            prop::sample::select(&["a", "b", ",", ",", "\"", "\"\"", "\n", "\n", "\r\n", "é", "\r"][..]), 0..60),
        width in 2_usize..4,
        block in 4_usize..100,
    ) {
        let header = ["x", "y", "z"][..width].join(",");
        let text = format!("{header}\n{}", pieces.concat());
        let outcome = |limits| fields(text.as_bytes(), b',', limits).map_err(|error| error.to_string());
        let usual = outcome(Limits::USUAL);
        prop_assert_eq!(&outcome(limits(block, 2)), &usual);
        if let Ok(fields) = usual && !text.replace("\r\n", "").contains('\r') {
            prop_assert_eq!(fields, oracle(text.as_bytes(), b','));
        }
    }
}

#[test]
fn nobody_reads_on_after_a_row_that_cannot_be_read() {
    let text = format!("a,y\n1,p\n\"2,q\n{}", "3,p\n".repeat(100));
    let table = open(text.as_bytes(), None, Limits { block: 16, record: 64, rows: 3 }).unwrap();
    let reader = table.reader(&schema("y", &["a"]), Purpose::Learning).unwrap();
    let (mut one, mut other) = (reader.worker(), reader.worker());
    let mut batch = reader.empty_batch();
    assert_eq!(one.read(&mut batch).ok(), Some(Some(0)));
    let failure = other.read(&mut batch).err().unwrap();
    assert_eq!(failure.block, 1);
    assert!(failure.error.to_string().starts_with("t: row 1 is longer than 64 bytes"), "{}", failure.error);
    // The rest looks like rows, but it is the inside of a quoted field.
    assert_eq!(one.read(&mut batch).ok(), Some(None));
}

#[test]
fn blank_lines_are_rows_of_a_single_column_and_fill_no_batch() {
    for (before, lines) in [("", 2), ("1\n", 3), ("1\n", 4), ("", 10), ("1\n", 100), ("\r\n", 31)] {
        let text = format!("a\n{before}{}2\n\n\n", "\n\r\n".repeat(lines));
        let expected = before.lines().count() + 2 * lines + 1;
        for block in [3, 16, 1 << 20] {
            let table = open(text.as_bytes(), None, limits(block, 3)).unwrap();
            let mut batches = table.batches(&schema("y", &["a"]), Purpose::Scoring).unwrap();
            let mut batch = batches.reader().empty_batch();
            let mut rows = 0;
            while batches.read(&mut batch).unwrap() {
                assert!(batch.rows <= 3, "{} rows in a batch", batch.rows);
                rows += batch.rows;
            }
            assert_eq!(rows, expected, "{text:?} in blocks of {block} bytes");
        }
    }
}

#[test]
fn a_header_has_a_limit() {
    let text = format!("{}\n1,2\n", ",".repeat(1 << 18));
    let error = open(text.as_bytes(), None, Limits::USUAL).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "t: the table has 262145 columns; the limit is 262144");
}

#[test]
fn endless_names_are_not_compared() {
    let name = "n".repeat(1 << 20);
    let table = open(format!("{name}a,y\n1,2\n").as_bytes(), None, Limits::USUAL).unwrap();
    let error = table.column("feature", &format!("{name}b")).unwrap_err().to_string();
    assert!(error.len() < 1_000 && !error.contains("perhaps"), "{error}");
}

#[test]
fn a_look_ahead_makes_no_rows_of_blank_lines_at_the_end() {
    for block in [3, 16, 1 << 20] {
        let mut table = open(b"y\np\n\nq\n\n\n", None, limits(block, 3)).unwrap();
        assert_eq!(table.sample(100).unwrap().rows, 3);
        assert_eq!(rows(table, &schema("y", &[]), Purpose::Learning).unwrap().len(), 3);
    }
}

#[test]
fn batches_have_no_more_rows_than_they_may() {
    let csv: String = (0..100).map(|i| format!("{i},{}\n", i % 3)).collect();
    let json: String = (0..100).map(|i| format!("{{\"x\": \"{i}\", \"y\": \"{}\"}}\n", i % 3)).collect();
    let svmlight: String = (0..100).map(|i| format!("{} 1:{}\n", i % 3, i + 1)).collect();
    let lines: String = (0..100).map(|i| format!("__label__{} {i}\n", i % 3)).collect();
    for (text, format, target, feature) in [
        (format!("x,y\n{csv}"), InputFormat::Delimited, "y", Column::new("x", Kind::Category)),
        (json, InputFormat::JsonLines, "y", Column::new("x", Kind::Category)),
        (svmlight, InputFormat::Svmlight, "label", Column::new("1", Kind::Number)),
        (lines, InputFormat::FastText, "class", Column::new("text", Kind::Text)),
    ] {
        let options = ReadOptions { input_format: Some(format), ..ReadOptions::default() };
        let mut table = open_with(text.as_bytes(), &options, Limits::USUAL).unwrap();
        table.sample(10).unwrap();
        table.limit_rows(7);
        let schema = Schema::new(target, vec![feature]).unwrap();
        let mut batches = table.batches(&schema, Purpose::Learning).unwrap();
        let mut batch = Batch::new(&schema);
        let mut rows = Vec::new();
        while batches.read(&mut batch).unwrap() {
            rows.push(batch.rows);
        }
        assert_eq!(rows, [vec![7; 14], vec![2]].concat(), "{format:?}");
    }
}

//! Lines, quotes, fields, columns, names and values that do not seem to end.

use super::*;

/// More than the longest record, and what is on its way through buffers and blocks.
const READ_AT_MOST: usize = LONGEST_RECORD + (24 << 20);
const OFFERED: usize = 1 << 30;

#[test]
fn a_line_without_end_is_not_read_to_its_end() {
    let folder = Folder::new();
    let part = "x".repeat(1 << 20);
    for (head, place) in [("", "the header"), ("a,b,y\n1,2,p\n3,4,q\n", "row 3")] {
        let (message, read) =
            folder.refusal_of_stream("train - --target y", head.as_bytes(), part.as_bytes(), OFFERED);
        assert_eq!(
            message,
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
        let (message, read) = folder.refusal_of_stream(&arguments, head.as_bytes(), rows.as_bytes(), OFFERED);
        assert!(
            message.starts_with("standard input: row 200001 is longer than 67108864 bytes; perhaps a quote"),
            "{message}"
        );
        assert!(read <= head.len() + READ_AT_MOST, "{read} bytes read");
    }
}

#[test]
fn fields_without_end() {
    let folder = Folder::new();
    let part = ",".repeat(1 << 20);
    for head in ["", "a,b,y\n1,2,p\n"] {
        let (message, _) =
            folder.refusal_of_stream("train - --target y", head.as_bytes(), part.as_bytes(), OFFERED);
        assert!(message.contains("is longer than 67108864 bytes"), "{message}");
    }
    // The same with an end, just before the limit.
    let fields = ",".repeat(60 << 20);
    folder.write("row.csv", format!("a,b,y\n1,2,p\n{fields}\n"));
    assert_eq!(
        folder.refusal("train row.csv --target y"),
        "row.csv: row 2 has 62914561 fields where the header has 3"
    );
    folder.write("header.csv", format!("{fields}\n1,2,p\n"));
    let message = folder.refusal("train header.csv --target y");
    assert_eq!(message, "header.csv: the table has 62914561 columns; the limit is 262144");
}

#[test]
fn blank_lines_without_end() {
    let folder = Folder::with_memory(250 << 20);
    let blank = "\n".repeat(9 << 20);
    folder.write("t.csv", format!("a\n1\n{blank}2\n")).write("wide.csv", format!("a,y\n1,p\n{blank}2,q\n"));
    folder.write("good.csv", "a,y\n1,p\n2,q\n");
    folder.stdout("train good.csv --target y -o m.priory");
    let predicted = folder.stdout("predict m.priory wide.csv");
    assert_eq!(predicted, "prediction\np\nq\n");
    let predicted = folder.command("predict m.priory t.csv -o p.csv").output().unwrap();
    assert!(predicted.status.success(), "{}", text(&predicted.stderr));
    assert_eq!(fs::metadata(folder.path("p.csv")).unwrap().len(), 11 + 2 * ((9 << 20) + 2));
}

#[test]
fn ten_thousand_columns() {
    let folder = Folder::new();
    let names: Vec<String> = (0..10_000).map(|i| format!("column_{i}")).collect();
    let row = |value: &str, class: &str| format!("{}{class}\n", format!("{value},").repeat(10_000));
    let rows = [row("0", "p"), row("1", "q"), row("", "p"), row("1", "q")].concat().repeat(100);
    folder.write("t.csv", format!("{},y\n{rows}", names.join(",")));
    let message = folder.remarks("train t.csv --target y -o m.priory");
    assert!(message.contains("400 rows, 2 classes, 10000 categories"), "{message}");
    assert!(message.len() < 1_000, "{message}");
    let predicted = folder.stdout("predict m.priory t.csv");
    assert!(predicted.starts_with("prediction\np\nq\np\nq\n"));
    let message = folder.refusal("train t.csv --target column_x");
    assert!(message.starts_with("t.csv: there is no target column `column_x`"), "{message}");
    folder.write("other.csv", "column_7\n1\n").write("rows.csv", "a,y\n1,p\n");
    let message = folder.remarks("predict m.priory other.csv");
    assert!(
        message.ends_with("warning: other.csv has not 9979 other columns of the model either\n"),
        "{message}"
    );
    assert!(folder.refusal("learn m.priory rows.csv").contains("there is no feature column `column_0`"));
}

#[test]
fn a_column_name_of_a_megabyte() {
    let folder = Folder::new();
    let name = "n".repeat(1 << 20);
    folder.write("t.csv", format!("{name}a,b,y\nv,1.5,p\nw,2.5,q\n"));
    folder.write("other.csv", format!("{name}b,b,y\nv,1.5,p\nw,2.5,q\n"));
    let message = folder.remarks("train t.csv --target y -o m.priory");
    assert!(message.len() < 1_000, "{} bytes of remarks", message.len());
    let message = folder.refusal("train t.csv --target x");
    assert!(message.starts_with("t.csv: there is no target column `x`; the header has `nnn"), "{message}");
    let message = folder.refusal("learn m.priory other.csv");
    assert!(message.starts_with("other.csv: there is no feature column `nnn"), "{message}");
    let message = folder.remarks("predict m.priory other.csv");
    assert!(message.len() < 1_000, "{} bytes of remarks", message.len());
    folder.write("twice.csv", format!("{name},{name},y\nv,1.5,p\n"));
    let message = folder.remarks("train twice.csv --target y");
    assert!(message.contains("twice.csv: the header names the column `nnn"), "{message}");
    assert!(message.len() < 1_000, "{} bytes of remarks", message.len());
}

#[test]
fn a_value_of_many_megabytes() {
    let folder = Folder::new();
    let value = "v".repeat(20 << 20);
    folder.write("t.csv", format!("a,y\n{value},p\nw,q\n"));
    folder.stdout("train t.csv --target y -o m.priory");
    assert_eq!(folder.stdout("predict m.priory t.csv"), "prediction\np\nq\n");
    let message = folder.refusal("train t.csv --target y --as a=number");
    assert!(message.starts_with("t.csv: row 1, column a: `vvv"), "{message}");
}

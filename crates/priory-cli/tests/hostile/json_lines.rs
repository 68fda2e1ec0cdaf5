//! JSON lines.

use super::*;

#[test]
fn lines_that_are_not_right() {
    let good = r#"{"a":1,"b":2,"y":"p"}"#;
    let after_good = |row: &str| format!("{good}\n{row}\n").into_bytes();
    let cases = [
        (
            r#"{"a":1,"b":2,"y":"p""#,
            "row 2 is not a JSON object on one line: a comma or } is expected at character 21",
        ),
        (r#"[1,2,"p"]"#, "row 2 is not a JSON object on one line: { is expected at character 1"),
        (r#"{"a":1,"a":2,"y":"p"}"#, "row 2 has the key `a` twice"),
        (
            r#"{"a":01,"y":"p"}"#,
            "row 2 is not a JSON object on one line: a number without leading zeros is expected at character 6",
        ),
        (
            r#"{"a":"\x","y":"p"}"#,
            "row 2 is not a JSON object on one line: an escape is expected at character 8",
        ),
        (
            r#"{"a":1,"y":"p"} {"a":2}"#,
            "row 2 is not a JSON object on one line: the end of the line is expected at character 17",
        ),
    ];
    let cases: Vec<_> = cases.map(|(row, expected)| (after_good(row), expected)).into();
    let cases: Vec<_> = cases.iter().map(|(bytes, expected)| (bytes.as_slice(), *expected)).collect();
    check_all_named("t.jsonl", "--target y", &cases);
    check_all_named(
        "t.jsonl",
        "--target y",
        &[
            (b"", "the table is empty, it does not even have a header"),
            (b"{}\n{}\n", "the table is empty, it does not even have a header"),
            (
                b"{\"a\":1,\"b\":1,\"y\":\"\xff\"}\n",
                "row 1 is not valid UTF-8; if the table is in Latin-1, say --encoding latin1",
            ),
            (b"{\"a\":\0}", "this is a binary file or UTF-16: it holds NUL bytes"),
        ],
    );
}

#[test]
fn depth_and_width_take_no_memory() {
    let folder = Folder::new();
    let deep = "[".repeat(20 << 20);
    folder.write("deep.jsonl", format!("{{\"a\":{deep},\"y\":1}}\n"));
    let message = folder.refusal("train deep.jsonl --target y");
    assert!(message.starts_with("deep.jsonl: row 1 is not a JSON object on one line"), "{message}");
    // Every row has keys of its own.
    let rows: String = (0..20_000)
        .map(|i| {
            let keys: String = (0..20).map(|j| format!("\"k{i}_{j}\":1,")).collect();
            format!("{{{keys}\"y\":{}}}\n", i % 2)
        })
        .collect();
    folder.write("wide.jsonl", rows);
    let message = folder.refusal("train wide.jsonl --target y");
    assert_eq!(message, "wide.jsonl: row 3277 makes more than 65536 columns; perhaps its keys are data");
}

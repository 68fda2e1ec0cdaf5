//! svmlight.

use super::*;

#[test]
fn indices_that_are_not_right() {
    let folder = Folder::new();
    folder.write("good.svm", "1 1:2 2:1\n0 1:1 2:4\n");
    folder.stdout("train good.svm --target label -o m.priory");
    let cases = [
        ("0:1", "row 2 has the index 0; svmlight counts its columns from 1"),
        ("2:1 2:3", "row 2 has index 2 after 2; indices must increase"),
        ("2:1 1:3", "row 2 has index 1 after 2; indices must increase"),
        ("-3:1", "row 2 has the index `-3`, which is not a whole number from 1 on"),
        ("x:1", "row 2 has the index `x`, which is not a whole number from 1 on"),
        ("7", "row 2 has `7`, which is not index:value"),
        (
            "99999999999999999999999:1",
            "row 2 has the index `99999999999999999999999`, but a table may have 262144 columns at most",
        ),
        ("262145:1", "row 2 has the index `262145`, but a table may have 262144 columns at most"),
    ];
    for (entries, expected) in cases {
        folder.write("t.svm", format!("1 1:2 2:1\n0 {entries}\n"));
        for arguments in
            ["train t.svm --target label", "predict m.priory t.svm -o p.csv", "evaluate t.svm --target label"]
        {
            assert_eq!(folder.refusal(arguments), format!("t.svm: {expected}"), "priory {arguments}");
        }
    }
    // A column that turns up after the beginning of the file.
    let rows = "1 1:2 2:1\n".repeat(1_000_000);
    folder.write("late.svm", format!("{rows}0 3:1\n"));
    let message = folder.refusal("train late.svm --target label");
    assert!(message.starts_with("late.svm: row 1000001 has index 3, but the beginning"), "{message}");
}

#[test]
fn a_few_bytes_do_not_take_gigabytes() {
    let folder = Folder::new();
    folder.write("wide.svm", "1 1:1\n0 262144:1\n");
    let message = folder.refusal("train wide.svm --target label");
    assert_eq!(
        message,
        "wide.svm: row 2 has index 262144; if there are more than 65536, say how many columns there are with --columns"
    );
    let message = folder.refusal("train wide.svm --target label --columns 1000000");
    assert_eq!(message, "wide.svm: the table has 1000000 columns; the limit is 262144");
    // As wide as it may be.
    folder.write("wide.svm", "1 1:1\n0 65536:1\n".repeat(50));
    let message = folder.remarks("train wide.svm --target label -o m.priory");
    assert!(message.contains("100 rows, 2 classes, 65536 categories"), "{message}");
    assert!(folder.stdout("predict m.priory wide.svm").starts_with("prediction\n1\n0\n1\n"));
}

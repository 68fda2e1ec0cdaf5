//! Delimited text: what is in a file and how it is cut into rows.

use super::*;

#[test]
fn rows_that_are_not_right() {
    check_all(&[
        (b"a,b,y\n1,2,p\n1,2\n", "row 2 has 2 fields where the header has 3"),
        (b"a,b,y\n1,2,p\n\n1,2,q,4\n", "row 2 has 4 fields where the header has 3"),
        (b"a,b,y\n1,2,p\n\"3,4,q\n5,6,p\n", "row 2 opens a quote that is never closed"),
        (b"a,\"b,y\n1,2,p\n", "the header opens a quote that is never closed"),
        (
            b"a,b,y\n1,\"2\"x,p\n",
            "row 1, column `b` has text after the closing quote; a quote inside a quoted field is written twice",
        ),
        (
            b"a,b,y\n1,2,\"p\\\"q\"\n",
            "row 1, column `y` has text after the closing quote; a quote inside a quoted field is written twice",
        ),
        (
            b"a,b,y\r1,2,p\r3,4,q\r",
            "this is text whose lines end with bare carriage returns; save it with line feeds",
        ),
    ]);
}

#[test]
fn nothing_to_read() {
    const EMPTY: &str = "the table is empty, it does not even have a header";
    check_all(&[(b"", EMPTY), (b"\n\r\n\n", EMPTY), ("\u{feff}".as_bytes(), EMPTY)]);
    check_all_named("t.csv", "--target y --comment #", &[(b"# a,b,y\n# 1,2,p", EMPTY)]);
}

#[test]
fn what_is_no_text() {
    const BINARY: &str = "this is a binary file or UTF-16: it holds NUL bytes";
    const UTF_16: &str = "this is UTF-16 text; save it as UTF-8";
    let utf16 =
        |bytes: fn(u16) -> [u8; 2], text: &str| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
    let program = fs::read(env!("CARGO_BIN_EXE_priory")).unwrap();
    let text = "a,b,y\n1,2,p\n";
    let marked = format!("\u{feff}{text}");
    check_all(&[
        (&utf16(u16::to_le_bytes, &marked), UTF_16),
        (&utf16(u16::to_be_bytes, &marked), UTF_16),
        (&utf16(u16::to_le_bytes, text), BINARY),
        (&utf16(u16::to_be_bytes, text), BINARY),
        (&program[..program.len().min(1 << 20)], BINARY),
        (b"a,b,y\n1,\0,p\n", BINARY),
        (b"\0", BINARY),
        (b"PK\x03\x04\x14\x00", "the spreadsheet file is damaged: invalid Zip archive: Could not find EOCD"),
        (b"\xfd7zXZ\0\0\x04", "this is an xz file; unpack it first"),
        (b"BZh91AY&SY\x7f", "this is a bzip2 file; unpack it first"),
    ]);
}

#[test]
fn invalid_utf_8_is_refused_and_latin_1_is_read() {
    const HINT: &str = "is not valid UTF-8; if the table is in Latin-1, say --encoding latin1";
    let row = format!("row 2, column `b` {HINT}");
    let header = format!("the header, column 2 {HINT}");
    check_all(&[
        (b"a,b,y\n1,2,p\n1,caf\xe9,q\n", &row),
        (b"a,caf\xe9,y\n1,2,p\n", &header),
        // Cut in the middle of a character, and a surrogate.
        (b"a,b,y\n1,2,p\n1,\xe2\x82,q\n", &row),
        (b"a,b,y\n1,2,p\n1,\xed\xa0\x80,q\n", &row),
    ]);
    let folder = Folder::new();
    folder.write("t.csv", b"caf\xe9,y\n1,\xe0 la carte\n0,menu\n");
    folder.stdout("train t.csv --target y --encoding latin1 -o m.priory");
    let predicted = folder.stdout("predict m.priory t.csv --encoding latin-1");
    assert_eq!(predicted, "prediction\nà la carte\nmenu\n");
}

#[test]
fn what_is_wrong_far_down_is_found_there() {
    let folder = Folder::new();
    let good = "1.5,2.5,p\n2.5,0.5,q\n".repeat(150_000);
    let cases: [(&[u8], &str); 7] = [
        (
            b"many,1,p\n",
            "row 300001, column a: `many` is not a number; read the column with --as a=category, or such values with --on-bad-value missing",
        ),
        (
            b"1e999,1,p\n",
            "row 300001, column `a`: `1e999` is infinite; numbers must be finite, or read as missing with --on-bad-value missing",
        ),
        (b"1,2\n", "row 300001 has 2 fields where the header has 3"),
        (b"1,\0,p\n", "row 300001, column `b` holds a NUL byte, so this is not a text file"),
        (
            b"1,\xff,p\n",
            "row 300001, column `b` is not valid UTF-8; if the table is in Latin-1, say --encoding latin1",
        ),
        (
            b"1,\"2\"2,p\n",
            "row 300001, column `b` has text after the closing quote; a quote inside a quoted field is written twice",
        ),
        (b"1,\"2,p\n", "row 300001 opens a quote that is never closed"),
    ];
    folder.write("good.csv", format!("a,b,y\n{}", &good[..200]));
    folder.stdout("train good.csv --target y -o m.priory");
    for (row, expected) in cases {
        // The row that is wrong comes twice, with a block and more in between: the first is the one to name.
        let closed = if expected.ends_with("never closed") { &b""[..] } else { row };
        folder.write(
            "t.csv",
            [b"a,b,y\n", good.as_bytes(), row, &good.as_bytes()[..1_500_000], closed].concat(),
        );
        for threads in [1, 2, 3] {
            let message = folder.refusal(&format!("train t.csv --target y --threads {threads}"));
            assert_eq!(message, format!("t.csv: {expected}"), "{threads} threads");
        }
        let message = folder.refusal("predict m.priory t.csv -o p.csv --threads 2");
        assert_eq!(message, format!("t.csv: {expected}"));
    }
}

#[test]
fn infinite_numbers() {
    let folder = Folder::new();
    for infinite in ["inf", "-Infinity", "1e999", "-1e400"] {
        folder.write("t.csv", format!("a,y\n1,p\n2.5,q\n{infinite},p\n"));
        let message = folder.refusal("train t.csv --target y --as a=number");
        assert!(
            message.starts_with(&format!("t.csv: row 3, column `a`: `{infinite}` is infinite")),
            "{message}"
        );
        let message = folder.remarks("train t.csv --target y --as a=number --on-bad-value missing");
        assert!(message.starts_with("warning: t.csv: 1 value taken as missing"), "{message}");
    }
}

#[test]
fn targets_that_cannot_be_predicted() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\n1,2,p\n");
    let message = folder.refusal("train t.csv --target x");
    assert_eq!(message, "t.csv: there is no target column `x`; the header has `a`, `b`, `y`");
    folder.write("only.csv", "a,b,y\n");
    assert_eq!(folder.refusal("train only.csv --target y"), "there are no rows with a class to learn from");
    folder.write("missing.csv", "a,b,y\n1,2,\n3,4,?\n");
    assert_eq!(
        folder.refusal("train missing.csv --target y"),
        "there are no rows with a class to learn from"
    );
    folder.write("alone.csv", "y\np\nq\n");
    assert_eq!(folder.refusal("train alone.csv --target y"), "no columns are left to learn from");
}

#[test]
fn a_target_of_a_million_numbers() {
    let folder = Folder::new();
    let rows: String = (0..1_000_000_u32).map(|i| format!("{},{i}.5\n", i % 7)).collect();
    folder.write("t.csv", format!("a,y\n{rows}"));
    let expected = "the target `y` is a number with 11000 different values in 11000 rows; classes are what is predicted here; \
                    --bins 4 cuts it into four, --as y=category takes every number as a class";
    assert_eq!(folder.refusal("train t.csv --target y"), expected);
    assert_eq!(folder.refusal("evaluate t.csv --target y"), expected);
}

#[test]
fn more_classes_than_can_be_counted() {
    // The first rows look innocent, so the classes are met while they are counted, in columns of both kinds.
    let folder = Folder::new();
    let columns: Vec<String> = (0..2).map(|i| format!("n{i},c{i}")).collect();
    let mut table = format!("{},y\n", columns.join(","));
    for i in 0..110_000_u32 {
        (0..2).for_each(|j| table.push_str(&format!("{}.25,v{},", i % 97 + j, i % 3)));
        table.push_str(&format!("k{}\n", i.saturating_sub(10_000)));
    }
    folder.write("t.csv", table);
    for threads in [1, 2] {
        let message = folder.refusal(&format!("train t.csv --target y --threads {threads}"));
        assert_eq!(message, "t.csv: the target `y` has more than 65536 classes");
    }
}

#[test]
fn thousands_of_classes_can_be_counted() {
    let folder = Folder::new();
    let rows: String = (0..30_000_u32).map(|i| format!("{}.5,k{}\n", i % 1_000, i * 11 % 6_000)).collect();
    folder.write("t.csv", format!("a,y\n{rows}"));
    for threads in [1, 2] {
        folder.stdout(&format!(
            "train t.csv --target y --as a=number -o m{threads}.priory --threads {threads}"
        ));
    }
    assert!(fs::read(folder.path("m1.priory")).unwrap() == fs::read(folder.path("m2.priory")).unwrap());
    assert!(folder.stdout("show m1.priory").contains("6000 classes"));
}

#[test]
fn a_nul_byte_in_lines_is_refused_wherever_it_is() {
    let folder = Folder::new();
    for (rows, expected) in [
        (1, "this is a binary file or UTF-16: it holds NUL bytes"),
        (200_000, "row 200001, column `text` holds a NUL byte, so this is not a text file"),
    ] {
        folder.write(
            "t.vw",
            format!("spam |text buy now\n{}ham |text a\0b\n", "ham |text see you\n".repeat(rows - 1)),
        );
        for threads in [1, 2] {
            let message = folder.refusal(&format!("train t.vw --target class --threads {threads}"));
            assert_eq!(message, format!("t.vw: {expected}"));
        }
    }
}

#[test]
fn columns_that_are_not_written_in_one_way() {
    let folder = Folder::new();
    let halves: String = (0..100).map(|i| format!("{}{}5,p\n", i, [";", "."][i % 2])).collect();
    folder.write("halves.csv", format!("x|y\n{}", halves.replace(',', "|").replace(';', ",")));
    assert_eq!(
        folder.refusal("train halves.csv --target y --as x=number"),
        "the column `x` cannot be read as numbers: some have a decimal comma (`0,5`) and others a decimal point (`1.5`); \
         write all of them alike"
    );
    let dates: String = (0..100).map(|i| format!("{}/{}/2024,p\n", i % 12 + 1, i % 11 + 1)).collect();
    folder.write("dates.csv", format!("x,y\n{dates}"));
    assert_eq!(
        folder.refusal("train dates.csv --target y --as x=date"),
        "the column `x` cannot be read as dates: `1/1/2024` and all others are dates with the day first and with the month \
         first; --as x=date:dmy or --as x=date:mdy says which"
    );
    folder.write("words.csv", "x,y\na,p\nb,q\n");
    assert_eq!(
        folder.refusal("train words.csv --target y --as x=date"),
        "the column `x` cannot be read as dates: `a` is none, nor are the others"
    );
    folder.write("same.csv", "x,y\n1,5\n2,5\n");
    assert_eq!(
        folder.refusal("train same.csv --target y --bins 3"),
        "the target `y` has not enough different numbers to be cut into classes"
    );
}

#[test]
fn kinds_that_turn_out_wrong() {
    let folder = Folder::new();
    // Standard input cannot be looked at further in, a file can.
    let rows: String =
        (0..40_000).map(|i| format!("{},{}\n", if i < 20_000 { i % 2 } else { i }, i % 3)).collect();
    let table = format!("x,y\n{rows}");
    folder.write("t.csv", &table);
    let schema = folder.stdout("schema t.csv --target y");
    assert!(schema.contains("x       number"), "{schema}");
    let sentence = "the column `x` looked like one of 0 and 1, but has 20002 values; --as x=number if they are numbers, \
                    --as x=category if they are codes";
    let (message, _) =
        folder.refusal_of_stream("train - --target y", table.as_bytes(), b"1,0\n", table.len() + 4);
    assert_eq!(message, sentence);
    // Numbered rows are told from rows of which some were passed over.
    let rows: String = (0..200_000).map(|i| format!("{i},{}.5,{}\n", i % 7, i % 3)).collect();
    folder.write("numbered.csv", format!("id,x,y\n{rows}"));
    let schema = folder.stdout("schema numbered.csv --target y");
    assert!(schema.contains("it numbers the rows"), "{schema}");
}

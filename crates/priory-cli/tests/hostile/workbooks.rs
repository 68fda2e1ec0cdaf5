//! Spreadsheets: archives that are none, that unpack to far more than they look like, and sheets that no program writes.

use std::io::Cursor;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, contents) in parts {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const TYPES: (&str, &[u8]) = ("[Content_Types].xml", b"<Types/>");
const PACKAGE: (&str, &[u8]) = (
    "_rels/.rels",
    br#"<Relationships><Relationship Id="a" Type="x/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
);
const BOOK: (&str, &[u8]) =
    ("xl/workbook.xml", br#"<workbook><sheets><sheet name="S" sheetId="1" r:id="b"/></sheets></workbook>"#);
const LINKS: (&str, &[u8]) = (
    "xl/_rels/workbook.xml.rels",
    br#"<Relationships><Relationship Id="b" Type="x/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
);

/// A workbook of Excel with this sheet and perhaps another part.
fn excel(rows: &[u8], part: Option<(&str, &[u8])>) -> Vec<u8> {
    let sheet = [b"<worksheet><sheetData>", rows, b"</sheetData></worksheet>"].concat();
    let parts = [TYPES, PACKAGE, BOOK, LINKS, ("xl/worksheets/sheet1.xml", &sheet)];
    archive(&parts.into_iter().chain(part).collect::<Vec<_>>())
}

/// A spreadsheet of LibreOffice whose contents end like this.
fn open_document(rows: &str, end: &str) -> Vec<u8> {
    let contents = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\">{rows}{end}"
    );
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", contents.as_bytes()),
    ])
}

const END: &str = "</table:table></office:spreadsheet></office:body></office:document-content>";

/// A row of text.
fn row(number: u32, cells: &[&str]) -> String {
    let cell = |(column, text): (usize, &&str)| {
        let place = char::from(b'A' + column as u8);
        format!("<c r=\"{place}{number}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!("<row r=\"{number}\">{cells}</row>")
}

#[test]
fn workbooks_that_are_none() {
    let table = row(1, &["a", "b", "y"]) + &row(2, &["1", "2", "p"]) + &row(3, &["3", "4", "q"]);
    let good = excel(table.as_bytes(), None);
    let folder = Folder::new();
    folder.write("good.xlsx", &good);
    folder.stdout("train good.xlsx --target y -o m.priory");
    check_all_named(
        "t.xlsx",
        "--target y",
        &[
            (b"a,b,y\n1,2,p\n", "this is no spreadsheet in .xlsx or .ods"),
            (b"", "this is no spreadsheet in .xlsx or .ods"),
            (
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
                "this is an old Office document, or one with a password; save it as .xlsx without one, or as CSV",
            ),
            (&archive(&[("a.csv", b"a,y\n1,p\n")]), "this is a zip file and not a spreadsheet; unpack it"),
            (
                &archive(&[TYPES, ("word/document.xml", b"<w/>")]),
                "this is an Office document, but not a spreadsheet",
            ),
            (
                &archive(&[TYPES, ("xl/workbook.bin", b"")]),
                "this is a binary workbook (.xlsb); save it as .xlsx or CSV",
            ),
            (
                &archive(&[
                    ("mimetype", b"application/vnd.oasis.opendocument.text"),
                    ("content.xml", b"<a/>"),
                ]),
                "this is an OpenDocument file, but not a spreadsheet",
            ),
            (&excel(b"", None), "the table is empty, it does not even have a header"),
            (&open_document("", END), "the table is empty, it does not even have a header"),
        ],
    );
}

#[test]
fn workbooks_that_are_damaged() {
    let table = row(1, &["a", "b", "y"]) + &row(2, &["1", "2", "p"]);
    let good = excel(table.as_bytes(), None);
    let cell = "<table:table-cell office:value-type=\"string\"><text:p>a</text:p></table:table-cell>";
    let header = format!("<table:table-row>{cell}{cell}</table:table-row>");
    let folder = Folder::new();
    let strings = |count: &str| {
        let part = format!("<sst uniqueCount=\"{count}\"><si><t>a</t></si></sst>");
        excel(table.as_bytes(), Some(("xl/sharedStrings.xml", part.as_bytes())))
    };
    for (bytes, cause) in [
        (good[..good.len() / 2].to_vec(), ""),
        (good[..good.len() - 1].to_vec(), ""),
        (archive(&[TYPES]), ""),
        (archive(&[TYPES, PACKAGE, BOOK, LINKS]), ""),
        (archive(&[TYPES, PACKAGE, ("xl/workbook.xml", b"<workbook/>"), LINKS]), ""),
        // Room for so many strings cannot be made.
        (strings("100000000000"), "it claims to hold more text than it does"),
        (strings("18446744073709551615"), "it claims to hold more text than it does"),
        (
            excel(
                b"<row r=\"2\"><c r=\"A2\"><v>1</v></c></row><row r=\"1\"><c r=\"A1\"><v>1</v></c></row>",
                None,
            ),
            "its rows are not in order",
        ),
        (
            excel(b"<row r=\"9999999\"><c r=\"A9999999\"><v>1</v></c></row>", None),
            "a cell is beyond the edge of a sheet",
        ),
        (
            excel(b"<row r=\"1\"><c r=\"ZZZZ1\"><v>1</v></c></row>", None),
            "a cell is beyond the edge of a sheet",
        ),
        (excel(b"<row r=\"1\"><c r=\"A1\" t=\"s\"><v>7</v></c></row>", None), ""),
        (excel(b"<row r=\"1\"><c r=\"A1\"><v>1</c></row>", None), ""),
        // What ends too early must not be waited for.
        (open_document(&header, ""), "its contents end too early"),
        (open_document("<table:table-row>", ""), "its contents end too early"),
        (open_document("", "</table:table>"), "its contents end too early"),
        (
            open_document(
                &header.replace("table-cell ", "table-cell table:number-columns-repeated=\"4000000000\" "),
                END,
            ),
            "a cell is beyond the edge of a sheet",
        ),
        (
            open_document(
                &header.replace(
                    "<table:table-row>",
                    "<table:table-row table:number-rows-repeated=\"4000000000\">",
                ),
                END,
            ),
            "a cell is beyond the edge of a sheet",
        ),
        (
            open_document(
                &header.replace("<table:table-row>", "<table:table-row table:number-rows-repeated=\"many\">"),
                END,
            ),
            "",
        ),
        (
            open_document(&header.replace("<text:p>a", "<text:p><text:s text:c=\"4000000000\"/>"), END),
            "the text of a cell is longer than a mebibyte",
        ),
        (open_document(&header.replace("<text:p>a", "<text:p>&lol;"), END), "it has an unknown entity"),
    ] {
        folder.write("t.xlsx", &bytes);
        let sentence = folder.refusal("train t.xlsx --target y");
        assert!(sentence.starts_with("t.xlsx: the spreadsheet file is damaged: "), "{sentence}");
        assert!(sentence.ends_with(cause), "{sentence}");
        assert_eq!(folder.refusal("schema t.xlsx --target y -o s.json"), sentence);
    }
}

/// Some hundred kilobytes that unpack to a hundred megabytes are refused before anything is kept of them, and so is a table of
/// strings that takes all memory.
#[test]
fn workbooks_that_are_bombs() {
    let blank = vec![b' '; 100 << 20];
    let many = b"<row/>".repeat(16 << 20);
    let table = row(1, &["a", "b", "y"]) + &row(2, &["1", "2", "p"]);
    let sentence = "the spreadsheet unpacks to far more than a table of its size does, as if to fill the memory; save it \
                    again, or as CSV";
    let bombs = [
        excel(&blank, None),
        excel(&many, None),
        excel(table.as_bytes(), Some(("xl/sharedStrings.xml", &many))),
        excel(table.as_bytes(), Some(("xl/comments.xml", &many))),
        // A piece of text longer than any cell.
        excel(&row(1, &["a", &"x".repeat(3 << 20)]).into_bytes(), None),
        open_document(&"<table:table-row/>".repeat(6 << 20), END),
    ];
    let folder = Folder::with_memory(300 << 20);
    for bomb in bombs {
        assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
        folder.write("t.xlsx", &bomb);
        assert_eq!(folder.refusal("train t.xlsx --target y"), format!("t.xlsx: {sentence}"));
    }
}

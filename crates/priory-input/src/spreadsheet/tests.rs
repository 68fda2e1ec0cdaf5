use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::grid::Grid;
use super::*;

#[test]
fn numbers_are_written_plainly() {
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (5.0, "5"),
        (19.99, "19.99"),
        (-1234.5, "-1234.5"),
        (1e-7, "0.0000001"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (1e17, "1e17"),
        (-2.5e-9, "-2.5e-9"),
    ] {
        assert_eq!(number(value), text);
        assert_eq!(number(value).parse::<f64>().unwrap(), value);
    }
}

#[test]
fn durations_are_days() {
    for (duration, expected) in [
        ("PT12H", Some(0.5)),
        ("PT14H03M07.5S", Some((14.0 * 3600.0 + 3.0 * 60.0 + 7.5) / 86_400.0)),
        ("-PT6H", Some(-0.25)),
        ("P2DT12H", Some(2.5)),
        ("PT0S", Some(0.0)),
        ("P1M", None),
        ("PT5", None),
        ("12:00", None),
        ("PTXS", None),
    ] {
        assert_eq!(days(duration), expected, "{duration}");
    }
}

#[test]
fn a_sheet_is_meant_by_its_name_before_its_number() {
    let sheets = [("Lists", false), ("2", true), ("Orders", true)];
    let sheets = sheets.map(|(name, is_shown)| (name.to_owned(), is_shown));
    let chosen = |wanted| choose("t", &sheets, wanted).map(|(place, remark)| (place, remark.is_some()));
    assert_eq!(chosen(None).unwrap(), (1, true));
    assert_eq!(chosen(Some("Orders")).unwrap(), (2, false));
    assert_eq!(chosen(Some("2")).unwrap(), (1, false));
    assert_eq!(chosen(Some("3")).unwrap(), (2, false));
    assert_eq!(chosen(Some("1")).unwrap(), (0, false));
    for wanted in ["0", "4", "orders", ""] {
        let error = chosen(Some(wanted)).unwrap_err().to_string();
        let shown = format!("t: there is no sheet `{wanted}`; the workbook has `Lists`, `2`, `Orders`");
        assert_eq!(error, shown);
    }
    assert_eq!(choose("t", &sheets[..1], None).unwrap(), (0, None));
    assert!(choose("t", &[], None).is_err());
}

/// What becomes of cells, given as row, column and value.
fn rows_of(cells: &[(u32, usize, &str)]) -> (Vec<Vec<String>>, Vec<String>) {
    let mut rows = Vec::new();
    let mut each = |row: &[String]| {
        rows.push(row.to_vec());
        Ok(())
    };
    let mut grid = Grid::new("t", &mut each);
    cells.iter().for_each(|&(row, column, value)| grid.cell(row, column, value).unwrap());
    let remarks = grid.end().unwrap().iter().map(ToString::to_string).collect();
    (rows, remarks)
}

#[test]
fn a_table_is_found_in_its_sheet() {
    let table = [(5, 2, "a"), (5, 4, "y"), (6, 2, "1"), (6, 4, "p"), (9, 3, "2")];
    let titles = [(0, 0, "Orders"), (3, 7, "of 2024")];
    let (rows, remarks) = rows_of(&[&titles[..], &table, &[(9, 26, "note"), (12, 0, "end")]].concat());
    assert_eq!(rows, [["a", "", "y"], ["1", "", "p"], ["", "2", ""]]);
    assert_eq!(
        remarks,
        [
            "row 6 of the sheet is the header; what is above it is not read: `Orders`",
            "2 values are not read, AA10 first: they are beside the columns of the header",
        ]
    );
    assert_eq!(rows_of(&table).1, [""; 0]);
    // A single column is a table as well, however long it is.
    let column: Vec<(u32, usize, &str)> = (0..50).map(|row| (2 * row, 1, "x")).collect();
    assert_eq!(rows_of(&column[..5]), (vec![vec!["x".to_owned()]; 5], vec![]));
    assert_eq!(rows_of(&column), (vec![vec!["x".to_owned()]; 50], vec![]));
    assert_eq!(rows_of(&[]), (vec![], vec![]));
}

/// A spreadsheet whose contents are these rows.
fn open_document(rows: &str) -> File {
    let contents = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\">{rows}</table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    let mut writer = ZipWriter::new(tempfile::tempfile().unwrap());
    for (path, contents) in
        [("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &contents)]
    {
        writer.start_file(path, SimpleFileOptions::default()).unwrap();
        writer.write_all(contents.as_bytes()).unwrap();
    }
    let mut file = writer.finish().unwrap();
    file.rewind().unwrap();
    file
}

fn read_rows(workbook: &File) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    read("t", workbook, None, &mut |row| {
        rows.push(row.to_vec());
        Ok(())
    })
    .unwrap();
    rows
}

#[test]
fn every_kind_of_cell_of_an_open_document() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let value = |kind: &str, value: &str| format!("office:value-type=\"{kind}\" office:{value}");
    let cells = [
        (cell(&value("float", "value=\"1234.50\""), "1.234,50 €"), "1234.5"),
        (cell(&value("percentage", "value=\"0.125\""), "12,5 %"), "0.125"),
        (cell(&value("currency", "value=\"-3\""), "(3)"), "-3"),
        (cell(&value("date", "date-value=\"2024-05-31T14:03:00\""), "31.05.24"), "2024-05-31T14:03:00"),
        (cell(&value("time", "time-value=\"PT18H\""), "18:00"), "0.75"),
        (cell(&value("boolean", "boolean-value=\"true\""), "WAHR"), "true"),
        (
            cell("office:value-type=\"string\"", "two<text:s text:c=\"2\"/>&amp;<text:tab/>&#233;"),
            "two  &\té",
        ),
        (cell("office:value-type=\"string\"", "a</text:p><text:p><text:span>b</text:span>"), "a\nb"),
        (
            cell(
                "office:value-type=\"string\" calcext:value-type=\"error\" office:string-value=\"\"",
                "#N/A",
            ),
            "#N/A",
        ),
        (
            "<table:table-cell office:value-type=\"string\"><office:annotation><text:p>a note</text:p>\
             </office:annotation><text:p>seen</text:p></table:table-cell>"
                .to_owned(),
            "seen",
        ),
        ("<table:table-cell/>".to_owned(), ""),
        ("<table:covered-table-cell/>".to_owned(), ""),
        (cell(&value("float", "value=\"7\" table:number-columns-repeated=\"2\""), "7"), "7"),
        (String::new(), "7"),
    ];
    let name = |(column, _)| cell("office:value-type=\"string\"", &format!("c{column}"));
    let header: String = cells.iter().enumerate().map(name).collect();
    let row: String = cells.iter().map(|(cell, _)| cell.as_str()).collect();
    let rows = format!(
        "<table:table-column/><table:table-header-rows><table:table-row>{header}</table:table-row></table:table-header-rows>\
         <table:table-row table:number-rows-repeated=\"2\">{row}</table:table-row>\
         <table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell \
         table:number-columns-repeated=\"16384\"/></table:table-row>"
    );
    let expected: Vec<&str> = cells.iter().map(|(_, text)| *text).collect();
    let read = read_rows(&open_document(&rows));
    assert_eq!(read.len(), 3);
    assert_eq!(read[1], expected);
    assert_eq!(read[2], expected);
}

proptest! {
    /// Whatever is in the cells comes back from the text that is written of them.
    #[test]
    fn rows_survive_as_delimited_text(
        rows in prop::collection::vec(prop::collection::vec("[a-z\", \n\r;'é\u{feff}]{0,6}", 3), 1..8)
    ) {
        let mut text = Vec::new();
        rows.iter().for_each(|row| write_row(row, &mut text));
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_slice());
        let read: Vec<Vec<String>> = reader
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        prop_assert_eq!(read, rows);
    }

    /// Arbitrary bytes in place of a sheet end in an error or in rows, and never in a panic or for ever.
    #[test]
    fn no_contents_do_harm(rows in "(<table:table-row>|</table:table-row>|<table:table-cell/>|<text:p>|</text:p>|x|&|<)*") {
        let _ = read("t", &open_document(&rows), None, &mut |_| Ok(()));
    }
}

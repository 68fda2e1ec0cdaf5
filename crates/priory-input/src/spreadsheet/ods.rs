//! Spreadsheets of LibreOffice and others: OpenDocument.
//!
//! Read here, event by event, and not by a library: a few bytes can repeat a cell or a row a million times, and what keeps all of
//! them takes all memory.

use std::io::{BufReader, Read, Seek};

use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::read::ZipFile;

use crate::error::{Error, Result};
use crate::guarded::damaged;
use crate::remarks::SheetRemark;
use crate::spreadsheet::grid::Grid;
use crate::spreadsheet::{FORMAT, choose, days, number, truth};

/// How many bytes the text of a cell may have.
const LONGEST_CELL: usize = 1 << 20;

/// Hands the rows of a sheet to `each`.
pub(super) fn read<R: Read + Seek>(
    name: &str,
    mut archive: ZipArchive<R>,
    wanted: Option<&str>,
    each: &mut dyn FnMut(&[String]) -> Result<()>,
) -> Result<Vec<SheetRemark>> {
    refuse_password(name, &mut archive)?;
    let mut sheets = Vec::new();
    let mut contents = Contents::open(name, &mut archive)?;
    while let Some(sheet) = contents.next_sheet()? {
        sheets.push(sheet);
        contents.skip("table:table")?;
    }
    drop(contents);
    let (chosen, remark) = choose(name, &sheets, wanted)?;
    let mut contents = Contents::open(name, &mut archive)?;
    contents.next_sheet()?;
    for _ in 0..chosen {
        contents.skip("table:table")?;
        contents.next_sheet()?;
    }
    let mut grid = Grid::new(name, each);
    contents.read_rows(&mut grid)?;
    Ok(remark.into_iter().chain(grid.end()?).collect())
}

/// The manifest of a file with a password says how its parts are encrypted.
fn refuse_password<R: Read + Seek>(name: &str, archive: &mut ZipArchive<R>) -> Result<()> {
    const LONGEST: u64 = 1 << 20;
    let mut manifest = String::new();
    if let Ok(part) = archive.by_name("META-INF/manifest.xml") {
        // What is not text has no password that could be told from it.
        let _ = part.take(LONGEST).read_to_string(&mut manifest);
    }
    match manifest.contains("encryption-data") {
        true => Err(Error::NotText {
            name: name.into(),
            what: "a spreadsheet with a password; save it without one, or as CSV",
        }),
        false => Ok(()),
    }
}

/// The part of the archive that holds all sheets, being read.
struct Contents<'a, R: Read + Seek> {
    name: &'a str,
    reader: Reader<BufReader<ZipFile<'a, R>>>,
    buffer: Vec<u8>,
    /// The styles of tables that are not shown.
    hidden: Vec<String>,
    /// Whether the sheets have begun.
    in_body: bool,
}

impl<'a, R: Read + Seek> Contents<'a, R> {
    fn open(name: &'a str, archive: &'a mut ZipArchive<R>) -> Result<Self> {
        let part = archive.by_name("content.xml").map_err(|error| damaged(name, FORMAT, &error))?;
        let mut reader = Reader::from_reader(BufReader::new(part));
        // An element without contents is one that begins and ends, so that there is one case less.
        reader.config_mut().expand_empty_elements = true;
        Ok(Contents { name, reader, buffer: Vec::new(), hidden: Vec::new(), in_body: false })
    }

    /// The next event; the end of the part, too, is an error.
    fn next(&mut self) -> Result<Event<'static>> {
        self.buffer.clear();
        match self.reader.read_event_into(&mut self.buffer) {
            Ok(Event::Eof) => Err(damaged(self.name, FORMAT, &"its contents end too early")),
            Ok(event) => Ok(event.into_owned()),
            Err(error) => Err(damaged(self.name, FORMAT, &error)),
        }
    }

    /// Passes over everything up to the end of an element that has begun.
    fn skip(&mut self, element: &str) -> Result<()> {
        let mut depth = 1;
        while depth > 0 {
            match self.next()? {
                Event::Start(start) if start.name().as_ref() == element => depth += 1,
                Event::End(end) if end.name().as_ref() == element => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Goes on to the next sheet, and returns its name and whether it is shown; `None` if there is no other.
    fn next_sheet(&mut self) -> Result<Option<(String, bool)>> {
        let mut style = String::new();
        loop {
            match self.next()? {
                Event::Start(start) => match (start.name().as_ref(), self.in_body) {
                    ("style:style", false) => {
                        style = self.attribute(&start, "style:name")?.unwrap_or_default()
                    }
                    ("style:table-properties", false)
                        if self.attribute(&start, "table:display")?.is_some_and(|shown| shown == "false") =>
                    {
                        self.hidden.push(style.clone());
                    }
                    ("office:spreadsheet", _) => self.in_body = true,
                    ("table:table", true) => {
                        let style = self.attribute(&start, "table:style-name")?.unwrap_or_default();
                        let sheet = self.attribute(&start, "table:name")?.unwrap_or_default();
                        return Ok(Some((sheet, !self.hidden.contains(&style))));
                    }
                    // Tables of changes, of links and the like are no sheets.
                    (other, true) => {
                        let other = other.to_owned();
                        self.skip(&other)?;
                    }
                    _ => {}
                },
                Event::End(end) if end.name().as_ref() == "office:spreadsheet" => return Ok(None),
                _ => {}
            }
        }
    }

    /// Reads the rows of the sheet that has begun.
    fn read_rows(&mut self, grid: &mut Grid<'_>) -> Result<()> {
        let mut row = 0_u32;
        loop {
            match self.next()? {
                Event::Start(start) => match start.name().as_ref() {
                    "table:table-row" => {
                        let times = self.times(&start, "table:number-rows-repeated")?;
                        let cells = self.read_cells()?;
                        // Rows without a value may be repeated up to the edge of the sheet.
                        for row in (row..row.saturating_add(times)).take_while(|_| !cells.is_empty()) {
                            for (column, times, value) in &cells {
                                (0..*times).try_for_each(|next| grid.cell(row, column + next, value))?;
                            }
                        }
                        row = row.saturating_add(times);
                    }
                    // Rows stand in these as well.
                    "table:table-header-rows" | "table:table-rows" | "table:table-row-group" => {}
                    other => {
                        let other = other.to_owned();
                        self.skip(&other)?;
                    }
                },
                Event::End(end) if end.name().as_ref() == "table:table" => return Ok(()),
                _ => {}
            }
        }
    }

    /// Reads the cells of a row that has begun: of those with a value the column, how often it is repeated, and the value.
    fn read_cells(&mut self) -> Result<Vec<(usize, usize, String)>> {
        let mut cells = Vec::new();
        let mut column = 0_usize;
        loop {
            match self.next()? {
                Event::Start(start) => match start.name().as_ref() {
                    "table:table-cell" | "table:covered-table-cell" => {
                        let times = self.times(&start, "table:number-columns-repeated")? as usize;
                        let value = self.read_value(&start)?;
                        if !value.is_empty() {
                            cells.push((column, times, value));
                        }
                        column = column.saturating_add(times);
                    }
                    other => {
                        let other = other.to_owned();
                        self.skip(&other)?;
                    }
                },
                Event::End(end) if end.name().as_ref() == "table:table-row" => return Ok(cells),
                _ => {}
            }
        }
    }

    /// Reads what a cell that has begun holds, as text, and passes over its end.
    fn read_value(&mut self, cell: &BytesStart<'_>) -> Result<String> {
        let element = cell.name().as_ref().to_owned();
        let shown = self.read_text(&element)?;
        let is_error = self.attribute(cell, "calcext:value-type")?.is_some_and(|kind| kind == "error");
        let kind = if is_error { None } else { self.attribute(cell, "office:value-type")? };
        let (attribute, of): (_, fn(&str) -> Option<String>) = match kind.as_deref() {
            Some("float" | "percentage" | "currency") => {
                ("office:value", |value| value.parse().ok().map(number))
            }
            Some("boolean") => ("office:boolean-value", |value| Some(truth(value == "true").to_owned())),
            Some("date") => ("office:date-value", |value| Some(value.to_owned())),
            Some("time") => ("office:time-value", |value| days(value).map(number)),
            Some("string") => ("office:string-value", |value| Some(value.to_owned())),
            _ => return Ok(shown),
        };
        Ok(self.attribute(cell, attribute)?.and_then(|value| of(&value)).unwrap_or(shown))
    }

    /// Reads the paragraphs of a cell that has begun, without comments and drawings.
    fn read_text(&mut self, element: &str) -> Result<String> {
        let mut text = String::new();
        let (mut paragraphs, mut in_paragraph) = (0, false);
        loop {
            match self.next()? {
                Event::Start(start) => match start.name().as_ref() {
                    "text:p" | "text:h" => {
                        if paragraphs > 0 {
                            text.push('\n');
                        }
                        paragraphs += 1;
                        in_paragraph = true;
                    }
                    "text:s" => {
                        let spaces = self.times(&start, "text:c")? as usize;
                        text.extend(std::iter::repeat_n(' ', spaces.min(LONGEST_CELL + 1)));
                    }
                    "text:tab" => text.push('\t'),
                    "text:line-break" => text.push('\n'),
                    "text:span" | "text:a" => {}
                    other => {
                        let other = other.to_owned();
                        self.skip(&other)?;
                    }
                },
                Event::Text(piece) if in_paragraph => text.push_str(&piece.xml10_content()),
                Event::CData(piece) if in_paragraph => text.push_str(&piece.xml10_content()),
                Event::GeneralRef(entity) if in_paragraph => {
                    let character = entity.resolve_char_ref().ok().flatten().map(String::from);
                    let known = character.or_else(|| resolve_xml_entity(&entity).map(str::to_owned));
                    text.push_str(
                        &known.ok_or_else(|| damaged(self.name, FORMAT, &"it has an unknown entity"))?,
                    );
                }
                Event::End(end) if end.name().as_ref() == element => return Ok(text),
                Event::End(end) if matches!(end.name().as_ref(), "text:p" | "text:h") => in_paragraph = false,
                _ => {}
            }
            if text.len() > LONGEST_CELL {
                return Err(damaged(self.name, FORMAT, &"the text of a cell is longer than a mebibyte"));
            }
        }
    }

    fn attribute(&self, element: &BytesStart<'_>, key: &str) -> Result<Option<String>> {
        let attribute = element.try_get_attribute(key).map_err(|error| damaged(self.name, FORMAT, &error))?;
        let value = attribute.map(|attribute| unescape(&attribute.value).map(|value| value.into_owned()));
        value.transpose().map_err(|error| damaged(self.name, FORMAT, &error))
    }

    /// How often something is repeated; once, if nothing else is said.
    fn times(&self, element: &BytesStart<'_>, key: &str) -> Result<u32> {
        match self.attribute(element, key)? {
            None => Ok(1),
            Some(times) => times.trim().parse().map_err(|error| damaged(self.name, FORMAT, &error)),
        }
    }
}

//! A table that was opened: its header, and what can be done with it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use memchr::{memchr, memrchr};
use priory::Schema;

#[cfg(feature = "arrow")]
use crate::arrow::{ArrowRows, ArrowStream, ParquetFile, RecordBatches};
use crate::delimiter::CANDIDATES;
use crate::documents::{CLASS, FOLDER, Files, PATH, TEXT, adopted};
use crate::error::{Error, Result, shown, shown_list};
use crate::format::{Encoding, InputFormat, Opening, ReadOptions, extension, likely_format};
use crate::input::Input;
use crate::mailbox::{self, Mailbox};
use crate::reader::{Batches, Reader};
use crate::remarks::SheetRemark;
use crate::sample::{ColumnInfo, Sample};
use crate::source::{Limits, Source};
#[cfg(feature = "spreadsheets")]
use crate::spreadsheet;
use crate::tar::is_tar;
use crate::unpack::{Bytes, Pipe};

/// What the rows are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be learnt, forgotten or judged: target, weight and every feature must be there.
    Learning,
    /// To be tested on by a model that has learnt other rows: the target must be there. Without the column of weights, rows weigh
    /// one; a feature that is not there is missing in every row.
    Testing,
    /// To be scored: target and weight are not looked at, and a feature that is not there is missing in every row.
    Scoring,
}

/// An opened table of which the header was read.
///
/// Delimited text is UTF-8 unless the options say otherwise; quotes are those of RFC 4180. Lines end with a line feed,
/// with or without a carriage return; the last one need not end. Blank lines at the end of the table are ignored.
/// Elsewhere a blank line is an empty value if the table has a single column, and is skipped and not counted if it has
/// more.
pub struct Table {
    input: Input,
    options: ReadOptions,
    header: Vec<String>,
    /// Where places further in can be looked at, if that is possible.
    places: Option<Places>,
    /// What is to be said of the sheet of a spreadsheet.
    remarks: Vec<SheetRemark>,
    /// The names that occurred twice, and what the later ones are called instead.
    renamed: Vec<(String, String)>,
    /// The positions of the columns that only pass through.
    kept: Vec<usize>,
    /// How many rows a batch may have, if that was set.
    most_rows: Option<usize>,
}

/// A file of text that can be read at any place.
enum Places {
    Path(String),
    /// A temporary file, which is being read from its beginning on as well.
    #[cfg(feature = "spreadsheets")]
    Sheet(Arc<File>),
}

impl Table {
    /// Opens a file, or the standard input if the path is `-`.
    ///
    /// # Errors
    /// If the file cannot be read, is not a table, or has no header.
    pub fn open(path: &str, options: &ReadOptions) -> Result<Table> {
        if path == "-" {
            return match (options.patience, standard_input()) {
                (Some(patience), Some(file)) => {
                    Table::from_pipe("standard input", None, file, patience, options)
                }
                _ => Table::from_reader("standard input", io::stdin(), options),
            };
        }
        if options.input_format == Some(InputFormat::Mail) {
            return match mailbox::class_and_path(path) {
                (Some(class), "-") => {
                    let bytes =
                        Bytes::new("standard input".into(), None, Box::new(io::stdin()), options.encoding)?;
                    Ok(Table::of_mails(Mailbox::of_bytes(bytes, Some(class))?, options))
                }
                _ => Ok(Table::of_mails(Mailbox::open(path)?, options)),
            };
        }
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        #[cfg_attr(
            not(feature = "spreadsheets"),
            expect(unused_mut, reason = "a look at it moves the place in it")
        )]
        let (metadata, mut file) =
            opened.map_err(|cause| Error::File { name: path.into(), action: "opened", cause })?;
        if metadata.is_dir() {
            return Ok(Table::of_files(Files::folder(path, options.encoding)?, options));
        }
        let size = metadata.is_file().then_some(metadata.len());
        #[cfg(feature = "arrow")]
        if size.is_some() && ParquetFile::is_meant(&file, options.input_format) {
            let (file, header) = ParquetFile::open(path, file)?;
            return Table::opened(Input::Parquet(file), header, options);
        }
        #[cfg(feature = "spreadsheets")]
        if size.is_some() && spreadsheet::is_meant(&mut file, options.input_format) {
            return Table::of_sheet(path, file, options);
        }
        if let (Some(patience), None) = (options.patience, size) {
            return Table::from_pipe(path, extension(path).as_deref(), file, patience, options);
        }
        let bytes = Bytes::new(path.into(), size, Box::new(file), options.encoding)?;
        let table = Table::new(bytes, extension(path).as_deref(), options, Limits::USUAL)?;
        Ok(Table { places: size.map(|_| Places::Path(path.to_owned())), ..table })
    }

    /// A sheet of a workbook.
    #[cfg(feature = "spreadsheets")]
    fn of_sheet(name: &str, workbook: File, options: &ReadOptions) -> Result<Table> {
        let sheet = spreadsheet::to_text(name, workbook, options.sheet.as_deref())?;
        let options = ReadOptions {
            input_format: Some(InputFormat::Delimited),
            delimiter: Some(b','),
            comment: None,
            encoding: Encoding::Utf8,
            ..options.clone()
        };
        let file = Arc::new(sheet.file);
        let bytes = Bytes::new(name.into(), Some(sheet.size), Box::new(Arc::clone(&file)), options.encoding)?;
        let table = Table::new(bytes, None, &options, Limits::USUAL)?;
        Ok(Table { places: Some(Places::Sheet(file)), remarks: sheet.remarks, ..table })
    }

    /// A table from a pipe, whose rows are handed out as they come.
    fn from_pipe(
        name: &str,
        extension: Option<&str>,
        file: File,
        patience: Duration,
        options: &ReadOptions,
    ) -> Result<Table> {
        let file = Arc::new(file);
        let mut bytes = Bytes::new(name.into(), None, Box::new(Arc::clone(&file)), options.encoding)?;
        bytes.hurry(Pipe { file, patience }, options.encoding);
        Table::new(bytes, extension, options, Limits::USUAL)
    }

    /// A table from anything that can be read; messages call it `name`.
    ///
    /// # Errors
    /// Like [`Table::open`].
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Table> {
        let bytes = Bytes::new(name.into(), None, Box::new(reader), options.encoding)?;
        Table::new(bytes, None, options, Limits::USUAL)
    }

    /// A table of rows in memory, in Arrow's layout; messages call it `name`. The batches have the columns of the schema.
    ///
    /// # Errors
    /// If there are no columns, or two of them have the same name.
    #[cfg(feature = "arrow")]
    pub fn from_record_batches(
        name: &str,
        schema: arrow_schema::SchemaRef,
        batches: RecordBatches,
        options: &ReadOptions,
    ) -> Result<Table> {
        let (rows, header) = ArrowRows::new(name, schema, batches);
        let table = Table::opened(Input::Memory(rows), header, options)?;
        match table.renamed.first() {
            None => Ok(table),
            Some((column, _)) => {
                Err(Error::DuplicateColumn { name: name.into(), role: "", column: shown(column) })
            }
        }
    }

    /// As [`Table::from_reader`], but in blocks of this many bytes and batches of this many rows. Only there for fuzzing.
    ///
    /// # Errors
    /// Like [`Table::open`].
    #[cfg(fuzzing)]
    pub fn from_reader_in_blocks(
        name: &str,
        reader: impl Read + Send + 'static,
        options: &ReadOptions,
        block: usize,
        rows: usize,
    ) -> Result<Table> {
        let bytes = Bytes::new(name.into(), None, Box::new(reader), options.encoding)?;
        Table::new(bytes, None, options, Limits { block, rows, ..Limits::USUAL })
    }

    pub(crate) fn new(
        bytes: Bytes,
        extension: Option<&str>,
        options: &ReadOptions,
        limits: Limits,
    ) -> Result<Table> {
        let mut bytes = bytes;
        let beginning = bytes.peek(LONG_ENOUGH_TO_TELL.min(limits.block))?;
        let is_archive = is_tar(beginning);
        let format = options.input_format.unwrap_or_else(|| likely_format(extension, beginning));
        let name = bytes.name.clone();
        if !matches!(format.opening(), Opening::Text(_)) {
            bytes.be_patient(); // only lines can be taken one by one
        }
        let (input, header) = match format.opening() {
            Opening::Text(open) => {
                let mut source = text(bytes, limits)?;
                let (header, format) = open(&mut source, extension, options)?;
                (Input::Text(source, format), header)
            }
            Opening::Parquet if cfg!(feature = "arrow") => return Err(Error::ParquetStream { name }),
            Opening::Parquet => return Err(Error::NotBuiltIn { name, format: "Parquet", feature: "arrow" }),
            #[cfg(feature = "arrow")]
            Opening::Arrow => {
                let (stream, header) = ArrowStream::open(bytes)?;
                (Input::Arrow(stream), header)
            }
            #[cfg(not(feature = "arrow"))]
            Opening::Arrow => return Err(Error::NotBuiltIn { name, format: "Arrow", feature: "arrow" }),
            Opening::Mail => (Input::Mails(Box::new(Mailbox::of_bytes(bytes, None)?)), mailbox::header()),
            #[cfg(feature = "spreadsheets")]
            Opening::Spreadsheet if options.encoding == Encoding::Utf8 => {
                return Table::of_sheet(&name, bytes.into_temporary_file()?, options);
            }
            #[cfg(feature = "spreadsheets")]
            Opening::Spreadsheet => {
                let what = "a spreadsheet, which says itself what its bytes mean; leave out the encoding";
                return Err(Error::NotText { name, what });
            }
            #[cfg(not(feature = "spreadsheets"))]
            Opening::Spreadsheet => {
                return Err(Error::NotBuiltIn { name, format: "a spreadsheet", feature: "spreadsheets" });
            }
            Opening::Documents if is_archive && options.encoding == Encoding::Utf8 => {
                (Input::Files(Files::tar(bytes)), vec![CLASS.into(), TEXT.into()])
            }
            Opening::Documents => {
                let what = match is_archive {
                    true => "a tar archive, whose documents are read as UTF-8 and in no other encoding",
                    false => "neither a folder of documents nor a tar archive",
                };
                return Err(Error::NotText { name, what });
            }
        };
        Table::opened(input, header, options)
    }

    fn opened(input: Input, header: Vec<String>, options: &ReadOptions) -> Result<Table> {
        if header.is_empty() {
            return Err(Error::Empty { name: input.name().into() });
        }
        let (header, renamed) = distinct_names(header);
        let (options, remarks) = (options.clone(), Vec::new());
        Ok(Table {
            input,
            options,
            header,
            places: None,
            remarks,
            renamed,
            kept: Vec::new(),
            most_rows: None,
        })
    }

    /// Makes room for what a schema knows of and the beginning of a sparse table happens not to mention; documents
    /// stand in the column that the schema calls text.
    pub(crate) fn widen(&mut self, schema: &Schema) {
        match &mut self.input {
            Input::Files(_) | Input::Mails(_) => self.header = adopted(&self.header, schema),
            Input::Text(source, format) => {
                if let Some(header) = format.widened(&self.header, schema) {
                    source.limit_cells(header.len());
                    self.header = header;
                }
            }
            #[cfg(feature = "arrow")]
            Input::Parquet(_) | Input::Arrow(_) | Input::Memory(_) => {}
        }
    }

    /// A table of files, each of which is one document, all of this class, if any. The path `-` is the standard input.
    /// They are opened one by one as they are read.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn of_documents(paths: &[String], class: Option<&str>, options: &ReadOptions) -> Result<Table> {
        Ok(Table::of_files(Files::listed(paths.to_vec(), class, options.encoding)?, options))
    }

    fn of_files(files: Files, options: &ReadOptions) -> Table {
        Table {
            input: Input::Files(files),
            options: options.clone(),
            header: vec![CLASS.into(), TEXT.into()],
            places: None,
            remarks: Vec::new(),
            renamed: Vec::new(),
            kept: Vec::new(),
            most_rows: None,
        }
    }

    fn of_mails(mailbox: Mailbox, options: &ReadOptions) -> Table {
        Table {
            input: Input::Mails(Box::new(mailbox)),
            options: options.clone(),
            header: mailbox::header(),
            places: None,
            remarks: Vec::new(),
            renamed: Vec::new(),
            kept: Vec::new(),
            most_rows: None,
        }
    }

    /// Whether every row is a mail, with a column for each kind of evidence.
    pub fn has_mails(&self) -> bool {
        matches!(self.input, Input::Mails(_))
    }

    /// Whether every row is a file, whose path can be [kept](Self::keep) under the name `path`.
    pub fn has_paths(&self) -> bool {
        matches!(self.input, Input::Files(_) | Input::Mails(_))
    }

    /// The path, or what else the table is called.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The names that the header has twice, and what the later columns are called instead.
    pub fn renamed(&self) -> &[(String, String)] {
        &self.renamed
    }

    /// What is to be said of the sheet of a spreadsheet: whether there are others, and what of it was passed over.
    pub fn remarks(&self) -> &[SheetRemark] {
        &self.remarks
    }

    /// The columns, and how they are stored.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        self.input.columns(&self.header)
    }

    /// The first rows as text, at most this many and from a few megabytes at most; of a longer file also some rows from places
    /// further in, if it is one in which such places can be found. They will be read again.
    ///
    /// # Errors
    /// If one of the first rows is not right.
    pub fn sample(&mut self, rows: usize) -> Result<Sample> {
        let rows = rows.min((Sample::MOST_VALUES / self.header.len().max(1)).max(1));
        if rows == 0 {
            return Ok(Sample::new(self.header.len()));
        }
        let mut sample = self.input.sample(&self.header, rows)?;
        if let Input::Text(source, format) = &self.input
            && let (Some(places), Some(size), false) = (&self.places, source.size(), source.is_packed())
            && (sample.rows >= rows || size > Sample::MOST_BYTES as u64)
            && Sample::rows_at_place(rows) > 0
        {
            let latin1 = self.options.encoding == Encoding::Latin1;
            for piece in places.pieces(size, latin1) {
                format.sample_piece(&piece, &self.header, Sample::rows_at_place(rows), &mut sample);
            }
        }
        Ok(sample)
    }

    /// Whether there are documents with a class each, and nothing else: columns called `class` and `text`.
    pub fn has_documents(&self) -> bool {
        match &self.input {
            Input::Files(_) | Input::Mails(_) => true,
            Input::Text(_, format) => format.has_documents(),
            #[cfg(feature = "arrow")]
            Input::Parquet(_) | Input::Arrow(_) | Input::Memory(_) => false,
        }
    }

    /// Whether the table is so short, less than a megabyte, that all of it was read to open it.
    pub fn is_short(&self) -> bool {
        self.input.is_short()
    }

    /// How the table is read.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Has these columns pass through as they are, whatever else they are for: [`Turn::kept`](crate::Turn::kept) has them,
    /// batch by batch.
    ///
    /// # Errors
    /// If there is no such column, or one of them is named twice.
    pub fn keep(&mut self, names: &[String]) -> Result<()> {
        if self.has_paths() && names.iter().any(|name| name == PATH) {
            self.header.push(PATH.into());
        }
        for name in names {
            let position = self.column("kept", name)?;
            if self.kept.contains(&position) {
                return Err(Error::KeptTwice { column: shown(name) });
            }
            self.kept.push(position);
        }
        Ok(())
    }

    /// Where the column is that says which rows depend on each other. Documents that are files have the folder above that of
    /// their class, which is no column, but stands behind the last.
    pub(crate) fn group(&self, name: &str) -> Result<usize> {
        match self.has_paths() && name == FOLDER {
            true => Ok(self.header.len()),
            false => self.column("group", name),
        }
    }

    pub(crate) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Limits batches to this many rows. If they are to be scored, use [`priory::posterior::rows_to_score`].
    pub fn limit_rows(&mut self, rows: usize) {
        self.most_rows = Some(rows.max(1));
    }

    pub(crate) fn most_rows(&self) -> usize {
        self.most_rows.unwrap_or(usize::MAX)
    }

    /// Gets ready to read the columns of this schema, on any number of threads. They are found by name, in any order;
    /// other columns are passed over.
    ///
    /// # Errors
    /// If a column that the purpose needs is not in the header.
    pub fn reader(self, schema: &Schema, purpose: Purpose) -> Result<Reader> {
        Reader::new(self, schema, purpose)
    }

    /// Gets ready to read the columns of this schema, batch after batch.
    ///
    /// # Errors
    /// As for [`reader`](Self::reader).
    pub fn batches(self, schema: &Schema, purpose: Purpose) -> Result<Batches> {
        Ok(Batches::new(self.reader(schema, purpose)?))
    }

    pub(crate) fn into_input(self) -> Input {
        self.input
    }

    /// Where a column is in the header. `role` says in messages what it is for: target, weight, feature, kept.
    ///
    /// # Errors
    /// If there is no such column; the message names the one that is most alike. If the header has a target or a weight
    /// twice: nobody could say which is meant.
    pub fn column(&self, role: &'static str, column: &str) -> Result<usize> {
        let is_double = self.renamed.iter().any(|(name, _)| name == column);
        if is_double && matches!(role, "target" | "weight" | "group") {
            return Err(Error::DuplicateColumn { name: self.name().into(), role, column: shown(column) });
        }
        let found = self.header.iter().position(|name| name == column);
        found.ok_or_else(|| Error::NoSuchColumn {
            name: self.name().into(),
            role,
            column: shown(column),
            header: shown_list(&self.header).into(),
            nearest: nearest_name(column, &self.header).map(shown),
            delimiter: match self.header.as_slice() {
                [only] => {
                    only.chars().find(|&sign| sign == ':' || CANDIDATES.map(char::from).contains(&sign))
                }
                _ => None,
            },
        })
    }
}

/// Standard input without a buffer, in which rows could lie unseen.
#[cfg(unix)]
fn standard_input() -> Option<File> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn standard_input() -> Option<File> {
    None
}

/// How many bytes are looked at to tell a format.
const LONG_ENOUGH_TO_TELL: usize = 512;

impl Places {
    /// Whole lines from places further in, as text. What cannot be read is passed over: it will be met again.
    fn pieces(&self, size: u64, latin1: bool) -> Vec<Vec<u8>> {
        match self {
            Places::Path(path) => {
                File::open(path).map_or_else(|_| Vec::new(), |file| pieces(&file, size, latin1))
            }
            #[cfg(feature = "spreadsheets")]
            Places::Sheet(file) => {
                // Whoever reads it goes on where it was.
                let mut sheet: &File = file;
                let Ok(place) = sheet.stream_position() else { return Vec::new() };
                let pieces = pieces(sheet, size, latin1);
                match sheet.seek(SeekFrom::Start(place)) {
                    Ok(_) => pieces,
                    Err(_) => {
                        unreachable!("a temporary file can be read at the place at which it was read before")
                    }
                }
            }
        }
    }
}

fn pieces(mut file: &File, size: u64, latin1: bool) -> Vec<Vec<u8>> {
    const BYTES: u64 = 1 << 16;
    let places = 1..=Sample::PLACES as u64;
    let piece = |place| {
        file.seek(SeekFrom::Start(size / (Sample::PLACES as u64 + 1) * place)).ok()?;
        let mut piece = Vec::new();
        file.take(BYTES).read_to_end(&mut piece).ok()?;
        let (first, last) = (memchr(b'\n', &piece)?, memrchr(b'\n', &piece)?);
        let lines = &piece[first + 1..=last.max(first)];
        Some(match latin1 {
            true => lines.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes(),
            false => lines.to_vec(),
        })
    };
    places.filter_map(piece).collect()
}

/// A source of text.
fn text(bytes: Bytes, limits: Limits) -> Result<Source> {
    let mut source = Source::new(bytes, limits)?;
    skip_byte_order_mark(&mut source)?;
    Ok(source)
}

/// Passes over a UTF-8 byte order mark, and refuses what can be seen not to be a table of text.
fn skip_byte_order_mark(source: &mut Source) -> Result<()> {
    let beginnings: [(&[u8], &str); 8] = [
        (b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
        (b"\x1f\x8b", "packed twice; unpack it once"),
        (b"\x28\xb5\x2f\xfd", "packed twice; unpack it once"),
        (b"\xfd7zXZ\0", "an xz file; unpack it first"),
        (b"BZh91AY&SY", "a bzip2 file; unpack it first"),
        (b"PK\x03\x04", "a zip file or a spreadsheet, and not what it was said to be"),
        (
            b"\xd0\xcf\x11\xe0",
            "an old Office document, or one with a password; save it as .xlsx without one, or as CSV",
        ),
    ];
    let ahead = source.beginning();
    let known = beginnings.iter().find(|(beginning, _)| ahead.starts_with(beginning)).map(|(_, what)| *what);
    let what = known.or_else(|| memchr(0, ahead).map(|_| "a binary file or UTF-16: it holds NUL bytes"));
    if let Some(what) = what {
        return Err(Error::NotText { name: source.name().into(), what });
    }
    if ahead.starts_with("\u{feff}".as_bytes()) {
        source.skip("\u{feff}".len());
    }
    Ok(())
}

/// The names of a header, the later ones of equal names with a number after them; and which these are.
pub(crate) fn distinct_names(header: Vec<String>) -> (Vec<String>, Vec<(String, String)>) {
    let mut taken: HashSet<String> = header.iter().cloned().collect();
    let mut renamed = Vec::new();
    if taken.len() == header.len() {
        return (header, renamed);
    }
    let mut met: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::with_capacity(header.len());
    for name in header {
        let count = met.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            names.push(name);
            continue;
        }
        let shown = if name.is_empty() { "column" } else { name.as_str() };
        let other = (*count..).map(|number| format!("{shown} {number}"));
        let other = other
            .into_iter()
            .find(|other| taken.insert(other.clone()))
            .expect("there are more numbers than names");
        renamed.push((name, other.clone()));
        names.push(other);
    }
    (names, renamed)
}

/// The name that was probably meant: one that differs in case only, or else in few characters.
fn nearest_name<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    // Nobody mistypes more than this, and the time grows with the square of the length.
    const LONGEST: usize = 100;
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(LONGEST + 1).collect();
    if wanted.len() > LONGEST {
        return None;
    }
    let most = (wanted.len() / 3).min(10);
    let distances = names.iter().filter_map(|name| {
        if name.len() > 8 * LONGEST {
            return None;
        }
        let candidate: Vec<char> = name.trim().to_lowercase().chars().collect();
        let close = candidate.len().abs_diff(wanted.len()) <= most;
        close.then(|| (edit_distance(&wanted, &candidate), name.as_str()))
    });
    distances
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// How many characters must be inserted, deleted or replaced to turn one name into the other.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut distances: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        distances[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = distances[j + 1];
            distances[j + 1] = replaced.min(diagonal + 1).min(distances[j] + 1);
        }
    }
    distances[b.len()]
}

#[cfg(test)]
mod tests;

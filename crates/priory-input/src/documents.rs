//! Documents that are no table: a file for each in a folder for each class, the same in a tar archive, or a line for
//! each, plain or in the formats of fastText and Vowpal Wabbit.
//!
//! They are read as a table of two columns, `class` and `text`, or as one of the columns that a schema has under other
//! names. What is not UTF-8 stands for U+FFFD: a mailbox of twenty years is in many encodings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::{memchr, memrchr};
use priory::infer::Stored;
use priory::{Batch, BatchColumn, CategoryColumn, Schema};

use crate::error::{Error, Result, shown};
use crate::format::{Encoding, ReadOptions};
use crate::input::{OpenedText, TextFormat, TextParser};
use crate::kept::KeptColumn;
use crate::reader::Plan;
use crate::sample::Sample;
use crate::source::Source;
use crate::tar::{self, TarFile};
use crate::text::Tokenizer;
use crate::unpack::Bytes;

/// The names of the columns unless a schema has others.
pub(crate) const CLASS: &str = "class";
pub(crate) const TEXT: &str = "text";
/// The column that only passes through: where a document lies.
pub(crate) const PATH: &str = "path";
/// What groups documents by the folder above that of their class, such as that of a user or a year.
pub(crate) const FOLDER: &str = "folder";

/// A larger document is refused, as a longer row of a table is.
const LARGEST: usize = 64 << 20;
/// The limits of a block, in bytes and in documents.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCK_DOCUMENTS: usize = 4096;

/// A document, where it lies, and the name of the folder that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) class: Option<String>,
    pub(crate) path: String,
    pub(crate) text: Vec<u8>,
}

/// Documents that are files.
pub(crate) struct Files {
    name: String,
    encoding: Encoding,
    source: FileSource,
    read: u64,
    block_documents: usize,
}

enum FileSource {
    Folder {
        files: std::vec::IntoIter<PathBuf>,
        root: PathBuf,
    },
    /// Files that were named one by one, all of one class, if any; `-` is the standard input.
    Listed {
        files: std::vec::IntoIter<String>,
        class: Option<String>,
    },
    Tar(Bytes),
}

impl Files {
    /// All files in a folder and the folders in it, in the order of their paths. What begins with a dot is hidden, and
    /// links to folders are not followed.
    pub(crate) fn folder(path: &str, encoding: Encoding) -> Result<Self> {
        let mut files = Vec::new();
        let mut folders = vec![PathBuf::from(path)];
        while let Some(folder) = folders.pop() {
            let failed = |cause| Error::File { name: folder.display().to_string(), action: "opened", cause };
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                if entry.file_name().as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                match entry.file_type().map_err(failed)? {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() || entry.path().is_file() => files.push(entry.path()),
                    _ => {}
                }
            }
        }
        files.sort_unstable();
        if files.is_empty() {
            return Err(Error::NotText { name: path.into(), what: "a folder without documents" });
        }
        let source = FileSource::Folder { files: files.into_iter(), root: PathBuf::from(path) };
        Ok(Files { name: path.into(), encoding, source, read: 0, block_documents: BLOCK_DOCUMENTS })
    }

    /// These files, each of them one document, whatever folders they are in. `-` is the standard input.
    pub(crate) fn listed(paths: Vec<String>, class: Option<&str>, encoding: Encoding) -> Result<Self> {
        // One that is not there is better noticed before the others are read.
        for path in paths.iter().filter(|path| *path != "-") {
            let failed = |cause| Error::File { name: path.clone(), action: "opened", cause };
            if std::fs::metadata(path).map_err(failed)?.is_dir() {
                return Err(Error::NotText { name: path.clone(), what: "a folder, and not a document" });
            }
        }
        let name = match &paths[..] {
            [only] if only == "-" => STANDARD_INPUT.to_owned(),
            [only] => only.clone(),
            _ => format!("{} documents", paths.len()),
        };
        let source = FileSource::Listed { files: paths.into_iter(), class: class.map(str::to_owned) };
        Ok(Files { name, encoding, source, read: 0, block_documents: BLOCK_DOCUMENTS })
    }

    /// The files in a tar archive, in its order.
    pub(crate) fn tar(bytes: Bytes) -> Self {
        let (name, source) = (bytes.name.clone(), FileSource::Tar(bytes));
        Files { name, encoding: Encoding::Utf8, source, read: 0, block_documents: BLOCK_DOCUMENTS }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn size(&self) -> Option<u64> {
        match &self.source {
            FileSource::Folder { .. } | FileSource::Listed { .. } => None,
            FileSource::Tar(bytes) => bytes.size,
        }
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        match &self.source {
            FileSource::Folder { .. } | FileSource::Listed { .. } => self.read,
            FileSource::Tar(bytes) => bytes.count(),
        }
    }

    /// Limits the documents of a block.
    pub(crate) fn limit_documents(&mut self, most: usize) {
        self.block_documents = self.block_documents.min(most);
    }

    /// The next documents; none at the end.
    pub(crate) fn next_block(&mut self) -> Result<Vec<Document>> {
        let mut documents = Vec::new();
        let mut size = 0;
        while size < BLOCK_BYTES && documents.len() < self.block_documents {
            let next = match &mut self.source {
                FileSource::Folder { files, root } => {
                    files.next().map(|path| read_file(&path, root, self.encoding)).transpose()
                }
                FileSource::Listed { files, class } => {
                    files.next().map(|path| read_listed(path, class.clone(), self.encoding)).transpose()
                }
                FileSource::Tar(bytes) => next_in_tar(bytes),
            };
            let next = next.map_err(|mut error| {
                error.add_rows(documents.len() as u64);
                error
            })?;
            let Some(document) = next else { break };
            size += document.text.len() + 1;
            documents.push(document);
        }
        self.read += size as u64;
        Ok(documents)
    }
}

fn read_file(path: &Path, root: &Path, encoding: Encoding) -> Result<Document> {
    let name = path.display().to_string();
    let failed = |cause| Error::File { name: name.clone(), action: "read", cause };
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let bytes = Bytes::new(name.clone(), Some(size), Box::new(file), encoding)?;
    let text = read_whole(bytes)?;
    // A file that lies beside the folders of the classes belongs to none.
    let folder = path.parent().filter(|folder| *folder != root).and_then(Path::file_name);
    Ok(Document { class: folder.map(|folder| folder.to_string_lossy().into_owned()), path: name, text })
}

/// What the standard input is called.
const STANDARD_INPUT: &str = "standard input";

/// A file that was named by itself, or the standard input.
fn read_listed(path: String, class: Option<String>, encoding: Encoding) -> Result<Document> {
    let bytes = if path == "-" {
        Bytes::new(STANDARD_INPUT.into(), None, Box::new(std::io::stdin()), encoding)?
    } else {
        let failed = |cause| Error::File { name: path.clone(), action: "opened", cause };
        let file = std::fs::File::open(&path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Bytes::new(path.clone(), Some(size), Box::new(file), encoding)?
    };
    Ok(Document { class, path, text: read_whole(bytes)? })
}

/// All bytes of a document.
fn read_whole(mut bytes: Bytes) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    if bytes.read_into(&mut text, LARGEST + 1)? > LARGEST {
        return Err(Error::RowTooLong { name: bytes.name.clone(), row: 1, limit: LARGEST });
    }
    Ok(text)
}

/// The next document of an archive. What begins with a dot is hidden, as in a folder.
fn next_in_tar(bytes: &mut Bytes) -> Result<Option<Document>> {
    while let Some(TarFile { path, contents }) = tar::next_file(bytes, LARGEST)? {
        let path = String::from_utf8_lossy(&path);
        let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").rev();
        let is_document = parts.next().is_some_and(|file| !file.starts_with('.')) && !path.ends_with('/');
        if is_document {
            let class = parts.next().map(str::to_owned);
            return Ok(Some(Document { class, path: path.into_owned(), text: contents }));
        }
    }
    Ok(None)
}

/// A document in each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineFormat {
    /// The line, and no class.
    Plain,
    /// `__label__class text`; of several labels the first counts.
    FastText,
    /// `class |text`: before the first bar are the class, and perhaps an importance and a tag, which are passed over;
    /// the names of namespaces and the values of features are passed over as well.
    VowpalWabbit,
}

impl LineFormat {
    pub(crate) fn open(self, _: &mut Source, _: Option<&str>, _: &ReadOptions) -> Result<OpenedText> {
        Ok((self.header(), Box::new(self)))
    }

    fn header(self) -> Vec<String> {
        match self {
            LineFormat::Plain => vec![TEXT.into()],
            LineFormat::FastText | LineFormat::VowpalWabbit => vec![CLASS.into(), TEXT.into()],
        }
    }

    /// The class and the document of a line. A document that does not appear in the line as it is goes into `scratch`.
    fn split<'l>(self, line: &'l [u8], scratch: &'l mut Vec<u8>) -> (Option<&'l [u8]>, &'l [u8]) {
        match self {
            LineFormat::Plain => (None, line),
            LineFormat::FastText => {
                const LABEL: &[u8] = b"__label__";
                let mut class = None;
                let mut rest = line.trim_ascii_start();
                while let Some(label) = rest.strip_prefix(LABEL) {
                    let end = label.iter().position(u8::is_ascii_whitespace).unwrap_or(label.len());
                    class = class.or(Some(&label[..end]).filter(|class| !class.is_empty()));
                    rest = label[end..].trim_ascii_start();
                }
                (class, rest)
            }
            LineFormat::VowpalWabbit => {
                let bar = line.iter().position(|&byte| byte == b'|').unwrap_or(line.len());
                let class = line[..bar].split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
                scratch.clear();
                for word in line[bar..].split_inclusive(|&byte| byte == b' ' || byte == b'\t') {
                    // `|subject` names a namespace, and a bar by itself one without a name.
                    if word.starts_with(b"|") {
                        continue;
                    }
                    let feature = word.trim_ascii_end();
                    let value = feature.iter().rposition(|&byte| byte == b':');
                    let number = |at: usize| {
                        std::str::from_utf8(&feature[at + 1..]).is_ok_and(|x| x.trim().parse::<f64>().is_ok())
                    };
                    let end = value.filter(|&at| number(at)).unwrap_or(feature.len());
                    scratch.extend_from_slice(&feature[..end]);
                    scratch.push(b' ');
                }
                // A class that is a tag or nothing at all is none.
                (class.filter(|class| !class.starts_with(b"'")), scratch)
            }
        }
    }
}

impl TextFormat for LineFormat {
    fn stored(&self, header: &[String]) -> Vec<Stored> {
        stored(header)
    }

    /// What the columns are is known.
    fn sample(&self, _: &mut Source, header: &[String], _: usize) -> Result<Sample> {
        Ok(Sample::new(header.len()))
    }

    fn widened(&self, header: &[String], schema: &Schema) -> Option<Vec<String>> {
        Some(adopted(header, schema))
    }

    fn has_documents(&self) -> bool {
        *self != LineFormat::Plain
    }

    fn parser(&self, plan: &Arc<Plan>) -> Box<dyn TextParser> {
        Box::new(DocumentParser::new(plan, *self))
    }
}

/// How the columns of documents are stored.
pub(crate) fn stored(header: &[String]) -> Vec<Stored> {
    header.iter().map(|name| if name == CLASS { Stored::Text } else { Stored::Documents }).collect()
}

/// The header under which a schema finds its columns: its target, and its column of text if it has a single one.
pub(crate) fn adopted(header: &[String], schema: &Schema) -> Vec<String> {
    let mut texts = schema.columns.iter().filter(|column| column.text.is_some());
    let only = texts.next().filter(|_| texts.next().is_none());
    let named = |name: &String| match name.as_str() {
        CLASS => schema.target.clone(),
        TEXT => only.map_or_else(|| name.clone(), |column| column.name.clone()),
        _ => name.clone(),
    };
    header.iter().map(named).collect()
}

/// Where the folder of the class of a document lies: `2005/may` of `2005/may/spam/17`.
pub(crate) fn folder_of(path: &str) -> Option<&str> {
    let (folder, _) = path.rsplit_once('/')?;
    folder.rsplit_once('/').map(|(above, _)| above)
}

/// Fills batches with documents.
pub(crate) struct DocumentParser {
    plan: Arc<Plan>,
    tokenizers: Vec<Option<Tokenizer>>,
    lines: LineFormat,
}

impl DocumentParser {
    pub(crate) fn new(plan: &Arc<Plan>, lines: LineFormat) -> Self {
        DocumentParser { plan: Arc::clone(plan), tokenizers: plan.tokenizers.clone(), lines }
    }
}

impl TextParser for DocumentParser {
    /// A NUL byte is refused wherever it is, as it is in the beginning:
    /// the file is no text. Single documents in files of their own may hold anything.
    fn fill(&mut self, block: &[u8], batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()> {
        let mut scratch = Vec::new();
        let binary = memchr(0, block);
        let text =
            &block[..binary.map_or(block.len(), |at| memrchr(b'\n', &block[..at]).map_or(0, |end| end + 1))];
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let (class, document) = self.lines.split(line, &mut scratch);
            let class = class.map(String::from_utf8_lossy);
            self.push(class.as_deref(), None, document, batch, kept);
        }
        match binary {
            None => Ok(()),
            Some(_) => {
                let (name, row) = (self.plan.name.clone(), 1 + batch.rows as u64);
                Err(Error::NulByte { name, row, column: shown(TEXT) })
            }
        }
    }
}

impl DocumentParser {
    pub(crate) fn fill_files(&mut self, documents: &[Document], batch: &mut Batch, kept: &mut [KeptColumn]) {
        for document in documents {
            self.push(document.class.as_deref(), Some(&document.path), &document.text, batch, kept);
        }
    }

    /// Appends a row. The class may be asked for as target or as feature; every other column is missing.
    fn push(
        &mut self,
        class: Option<&str>,
        path: Option<&str>,
        document: &[u8],
        batch: &mut Batch,
        kept: &mut [KeptColumn],
    ) {
        let plan = Arc::clone(&self.plan);
        let is_class = |position: usize| plan.header.len() > 1 && position == 0;
        let push_class = |column: &mut CategoryColumn, position: Option<usize>| {
            column
                .push(class.filter(|class| position.is_some_and(is_class) && !plan.missing.contains(class)));
        };
        push_class(&mut batch.classes, plan.target);
        match plan.group {
            None => {}
            Some(position) if is_class(position) => batch.groups.push(class),
            Some(position) if position >= plan.header.len() => batch.groups.push(path.and_then(folder_of)),
            Some(_) => batch.groups.push(Some(&String::from_utf8_lossy(document))),
        }
        for (feature, (column, &position)) in batch.columns.iter_mut().zip(&plan.features).enumerate() {
            match column {
                BatchColumn::Category(column) => push_class(column, position),
                BatchColumn::Number(values) => values.push(f64::NAN),
                BatchColumn::Text(column) => match (position, &mut self.tokenizers[feature]) {
                    (Some(position), Some(tokenizer)) if !is_class(position) && position < 2 => {
                        tokenizer.read_bytes(document, column)
                    }
                    _ => column.push_missing(),
                },
            }
        }
        for (column, &position) in kept.iter_mut().zip(&plan.kept) {
            match is_class(position) {
                true => column.push(class),
                false if position >= 2 => column.push(path),
                false => column.push(Some(&String::from_utf8_lossy(document))),
            }
        }
        batch.rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(format: LineFormat, line: &str) -> (Option<String>, String) {
        let mut scratch = Vec::new();
        let (class, text) = format.split(line.as_bytes(), &mut scratch);
        let text = String::from_utf8_lossy(text).trim().to_owned();
        (class.map(|class| String::from_utf8_lossy(class).into_owned()), text)
    }

    #[test]
    fn lines_of_other_programs() {
        let some = |class: &str, text: &str| (Some(class.to_owned()), text.to_owned());
        assert_eq!(split(LineFormat::FastText, "__label__a  to be"), some("a", "to be"));
        assert_eq!(split(LineFormat::FastText, "__label__a __label__b to be"), some("a", "to be"));
        assert_eq!(split(LineFormat::FastText, "no label"), (None, "no label".into()));
        assert_eq!(split(LineFormat::FastText, ""), (None, String::new()));
        assert_eq!(split(LineFormat::VowpalWabbit, "3 | to be or"), some("3", "to be or"));
        assert_eq!(
            split(LineFormat::VowpalWabbit, "-1 2.5 'tag |subject to be:2 |body or x:y"),
            some("-1", "to be or x:y")
        );
        assert_eq!(split(LineFormat::VowpalWabbit, "| to be"), (None, "to be".into()));
        assert_eq!(split(LineFormat::Plain, "1 | to be"), (None, "1 | to be".into()));
    }
}

//! Mails where mail programs keep them: single messages, mbox files, Maildir, MH, folders of all these, and archives of them,
//! packed or not.
//!
//! Nothing in a mailbox stops the reading of it but that it cannot be read: of a message that goes on and on, the beginning is
//! taken and the rest passed over.

use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::{memchr, memrchr};
use priory::{Batch, BatchColumn, CategoryColumn};

use crate::documents::{CLASS, Document, folder_of as folder_above};
use crate::error::{Error, Result};
use crate::format::Encoding;
use crate::kept::KeptColumn;
use crate::reader::Plan;
use crate::tar::{self, TarFile};
use crate::text::{MAIL_COLUMNS, Mail, Tokenizer};
use crate::unpack::Bytes;

/// What is kept of a message; far more than is read of it.
const LARGEST: usize = 8 << 20;
/// A larger file of an archive is refused.
const LARGEST_IN_ARCHIVE: usize = 1 << 30;
/// How much is read at once.
const AT_ONCE: usize = 1 << 16;
/// The limits of a block, in bytes and in messages.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCK_MESSAGES: usize = 512;

/// The header of a table of mails.
pub(crate) fn header() -> Vec<String> {
    std::iter::once(CLASS).chain(MAIL_COLUMNS).map(String::from).collect()
}

/// The class and the path in `CLASS=PATH`. What is the name of a file is no such thing.
pub(crate) fn class_and_path(source: &str) -> (Option<&str>, &str) {
    match source.split_once('=') {
        Some((class, path)) if !class.is_empty() && !class.contains('/') && !Path::new(source).exists() => {
            (Some(class), path)
        }
        _ => (None, source),
    }
}

/// A mailbox that is being read, message by message.
pub(crate) struct Mailbox {
    name: String,
    /// The class of all messages; if there is none, the folder tells.
    class: Option<String>,
    root: PathBuf,
    files: std::vec::IntoIter<PathBuf>,
    archive: Option<Archive>,
    messages: Option<FileMessages>,
    size: Option<u64>,
    read: u64,
    block_messages: usize,
}

struct Archive {
    bytes: Bytes,
    path: String,
}

impl Mailbox {
    /// Opens a mailbox: a file of one or many messages, an archive, or a folder.
    pub(crate) fn open(source: &str) -> Result<Self> {
        let (class, path) = class_and_path(source);
        let root = PathBuf::from(path);
        let failed = |cause| Error::File { name: path.into(), action: "opened", cause };
        let metadata = std::fs::metadata(&root).map_err(failed)?;
        let files = if metadata.is_dir() { files_in(&root)? } else { vec![root.clone()] };
        if files.is_empty() {
            return Err(Error::NotText { name: path.into(), what: "a folder without mails" });
        }
        Ok(Mailbox {
            name: path.into(),
            class: class.map(str::to_owned),
            root,
            size: metadata.is_file().then_some(metadata.len()),
            ..Mailbox::of_files(files)
        })
    }

    /// The messages in what is read from somewhere, all of this class, if any.
    pub(crate) fn of_bytes(bytes: Bytes, class: Option<&str>) -> Result<Self> {
        let (name, size) = (bytes.name.clone(), bytes.size);
        let class = class.map(str::to_owned);
        let mut mailbox = Mailbox {
            name: name.clone(),
            class,
            root: PathBuf::from(&name),
            size,
            ..Mailbox::of_files(Vec::new())
        };
        mailbox.start(bytes, name, None)?;
        Ok(mailbox)
    }

    fn of_files(files: Vec<PathBuf>) -> Self {
        Mailbox {
            name: String::new(),
            class: None,
            root: PathBuf::new(),
            files: files.into_iter(),
            archive: None,
            messages: None,
            size: None,
            read: 0,
            block_messages: BLOCK_MESSAGES,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        match (&self.archive, &self.messages) {
            (Some(archive), _) => archive.bytes.count(),
            (None, Some(messages)) if self.size.is_some() => messages.bytes.count(),
            _ => self.read,
        }
    }

    /// Limits the messages of a block.
    pub(crate) fn limit_messages(&mut self, most: usize) {
        self.block_messages = self.block_messages.min(most);
    }

    /// The next messages; none at the end.
    pub(crate) fn next_block(&mut self) -> Result<Vec<Document>> {
        let (mut block, mut size) = (Vec::new(), 0);
        while size < BLOCK_BYTES && block.len() < self.block_messages {
            let next = self.next_message().map_err(|mut error| {
                error.add_rows(block.len() as u64);
                error
            })?;
            let Some(message) = next else { break };
            size += message.text.len() + 1;
            block.push(message);
        }
        self.read += size as u64;
        Ok(block)
    }

    /// The next message.
    pub(crate) fn next_message(&mut self) -> Result<Option<Document>> {
        let stem = self.stem();
        loop {
            if let Some(messages) = &mut self.messages {
                if let Some(text) = messages.next()? {
                    let (class, path) = (messages.class.clone(), messages.path());
                    return Ok(Some(Document { class, path, text }));
                }
                self.messages = None;
            }
            if let Some(archive) = &mut self.archive {
                if let Some((path, contents)) = archive.next()? {
                    let class =
                        self.class.clone().or_else(|| folder_of(Path::new(&path))).or_else(|| stem.clone());
                    let name = format!("{}/{path}", archive.path);
                    let bytes =
                        Bytes::new(name.clone(), None, Box::new(Cursor::new(contents)), Encoding::Utf8)?;
                    self.messages = Some(FileMessages::new(bytes, name, class)?);
                    continue;
                }
                self.archive = None;
            }
            let Some(path) = self.files.next() else { return Ok(None) };
            let name = path.display().to_string();
            let failed = |cause| Error::File { name: name.clone(), action: "read", cause };
            let file = File::open(&path).map_err(failed)?;
            let size = file.metadata().map_err(failed)?.len();
            let bytes = Bytes::new(name.clone(), Some(size), Box::new(file), Encoding::Utf8)?;
            let inside = path.strip_prefix(&self.root).unwrap_or(Path::new(""));
            let class = folder_of(inside);
            self.start(bytes, name, class)?;
        }
    }

    /// Begins with a file: an archive, or messages.
    fn start(&mut self, mut bytes: Bytes, path: String, class: Option<String>) -> Result<()> {
        if tar::is_tar(bytes.peek(512)?) {
            self.archive = Some(Archive { bytes, path });
        } else {
            let class = self.class.clone().or(class).or_else(|| self.stem());
            self.messages = Some(FileMessages::new(bytes, path, class)?);
        }
        Ok(())
    }

    /// What the mailbox is called, without endings.
    fn stem(&self) -> Option<String> {
        let name = self.root.file_name()?.to_string_lossy().into_owned();
        name.split('.').find(|part| !part.is_empty()).map(str::to_owned)
    }
}

impl Archive {
    /// The path and the contents of the next file. What begins with a dot is hidden, as in a folder.
    fn next(&mut self) -> Result<Option<(String, Vec<u8>)>> {
        while let Some(TarFile { path, contents }) = tar::next_file(&mut self.bytes, LARGEST_IN_ARCHIVE)? {
            let path = String::from_utf8_lossy(&path).trim_start_matches("./").to_owned();
            let name = path.rsplit('/').next().unwrap_or_default();
            if !name.is_empty() && !name.starts_with('.') {
                return Ok(Some((path, contents)));
            }
        }
        Ok(None)
    }
}

/// The folder that a message is in, if it is in one; those that every Maildir has do not count.
fn folder_of(path: &Path) -> Option<String> {
    let mut folders =
        path.parent()?.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned());
    folders
        .find(|name| !matches!(name.as_str(), "cur" | "new" | "." | "/"))
        .map(|name| name.trim_start_matches('.').to_owned())
}

/// The files of a folder that hold messages, in the order of their paths. Of a Maildir those are in `cur` and `new`, and its
/// folders, which begin with a dot, are mailboxes of their own. Links to folders are not followed.
fn files_in(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.join("cur").is_dir() && folder.join("new").is_dir() {
            for part in ["cur", "new"] {
                entries(&folder.join(part), &mut files, &mut Vec::new())?;
            }
        } else {
            entries(&folder, &mut files, &mut folders)?;
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn entries(folder: &Path, files: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |cause| Error::File { name: folder.display().to_string(), action: "opened", cause };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
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
    Ok(())
}

/// The messages of one file: of an mbox all, and otherwise the file itself.
struct FileMessages {
    bytes: Bytes,
    path: String,
    class: Option<String>,
    buffer: Vec<u8>,
    /// Where the next message begins in the buffer.
    at: usize,
    is_mbox: bool,
    ended: bool,
    number: u64,
}

impl FileMessages {
    fn new(mut bytes: Bytes, path: String, class: Option<String>) -> Result<Self> {
        let is_mbox = is_separator(first_line(bytes.peek(512)?));
        Ok(FileMessages { bytes, path, class, buffer: Vec::new(), at: 0, is_mbox, ended: false, number: 0 })
    }

    /// Where the message is that was read last.
    fn path(&self) -> String {
        if self.number > 1 { format!("{}#{}", self.path, self.number) } else { self.path.clone() }
    }

    fn fill(&mut self) -> Result<bool> {
        if !self.ended {
            self.ended = self.bytes.read_into(&mut self.buffer, AT_ONCE)? < AT_ONCE;
        }
        Ok(!self.ended)
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        self.number += 1;
        match self.is_mbox {
            true => self.next_of_mbox(),
            false if self.number > 1 => Ok(None),
            false => self.only_message().map(Some),
        }
    }

    fn only_message(&mut self) -> Result<Vec<u8>> {
        while self.buffer.len() <= LARGEST && self.fill()? {}
        self.buffer.truncate(LARGEST);
        Ok(std::mem::take(&mut self.buffer))
    }

    /// The message up to the next line that separates messages: one that looks like `From somebody date`, after an empty line.
    fn next_of_mbox(&mut self) -> Result<Option<Vec<u8>>> {
        self.buffer.drain(..std::mem::take(&mut self.at));
        let Some(start) = self.end_of_line(0)? else { return Ok(None) };
        let (mut line, mut is_after_blank, mut message) = (start, true, Vec::new());
        while let Some(end) = self.end_of_line(line)? {
            let text = &self.buffer[line..end];
            if is_after_blank && is_separator(text) {
                break;
            }
            is_after_blank = text.iter().all(u8::is_ascii_whitespace);
            let quotes = text.iter().take_while(|&&byte| byte == b'>').count();
            let is_quoted = quotes > 0 && text[quotes..].starts_with(b"From ");
            if message.len() < LARGEST {
                message.extend_from_slice(&text[usize::from(is_quoted)..]);
            }
            line = end;
            // A long message is let go of as it is read.
            if line >= 16 * AT_ONCE {
                self.buffer.drain(..line);
                line = 0;
            }
        }
        self.at = line;
        // The empty line before the next separator belongs to neither.
        if message.ends_with(b"\n\n") {
            message.pop();
        } else if message.ends_with(b"\n\r\n") {
            message.truncate(message.len() - 2);
        }
        Ok(Some(message))
    }

    /// Where the line that begins here ends; `None` at the end of the file. A line that goes on and on ends somewhere.
    fn end_of_line(&mut self, start: usize) -> Result<Option<usize>> {
        let mut seen = start;
        loop {
            if let Some(end) = memchr(b'\n', &self.buffer[seen..]) {
                return Ok(Some(seen + end + 1));
            }
            seen = self.buffer.len();
            if seen - start > LARGEST {
                return Ok(Some(seen));
            }
            if !self.fill()? && self.buffer.len() == seen {
                return Ok((seen > start).then_some(seen));
            }
        }
    }
}

fn first_line(beginning: &[u8]) -> &[u8] {
    &beginning[..memchr(b'\n', beginning).unwrap_or(beginning.len())]
}

/// Whether a line separates the messages of an mbox: `From somebody Thu Aug 22 13:17:22 2002`, with a zone perhaps.
fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let time = memrchr(b':', rest).is_some_and(|colon| {
        let digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        colon > 0 && digit(colon - 1) && digit(colon + 1)
    });
    let is_year = |word: &[u8]| word.len() == 4 && word.iter().all(u8::is_ascii_digit);
    time && rest.split(u8::is_ascii_whitespace).any(is_year)
}

/// The messages of a mailbox, one after the other: of a file, a folder or an archive.
pub struct Messages {
    mailbox: Mailbox,
}

impl Messages {
    /// Opens a mailbox.
    ///
    /// # Errors
    /// If it is not there, or is a folder without mails.
    pub fn open(path: &str) -> Result<Self> {
        Ok(Messages { mailbox: Mailbox::open(path)? })
    }
}

impl Iterator for Messages {
    type Item = Result<Vec<u8>>;

    /// The next message. Of a very long one, just the beginning is there.
    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        let message = self.mailbox.next_message().transpose()?;
        Some(message.map(|message| message.text))
    }
}

/// Fills batches with mails.
pub(crate) struct MailParser {
    plan: Arc<Plan>,
    tokenizers: Vec<Option<Tokenizer>>,
}

impl MailParser {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        MailParser { plan: Arc::clone(plan), tokenizers: plan.tokenizers.clone() }
    }

    pub(crate) fn fill(&mut self, messages: &[Document], batch: &mut Batch, kept: &mut [KeptColumn]) {
        for message in messages {
            self.push(message, batch, kept);
        }
    }

    /// Appends a row: the class, and the evidence by the names of the columns. Every other column is missing.
    fn push(&mut self, message: &Document, batch: &mut Batch, kept: &mut [KeptColumn]) {
        let plan = Arc::clone(&self.plan);
        let mail = Mail::new(&message.text);
        let text_at = |position: usize| match position {
            0 => None,
            _ if position <= MAIL_COLUMNS.len() => Some(mail.text_of(position - 1)),
            _ => None,
        };
        let class = message.class.as_deref();
        let push_class = |column: &mut CategoryColumn, position: Option<usize>| {
            column.push(class.filter(|class| position == Some(0) && !plan.missing.contains(class)));
        };
        push_class(&mut batch.classes, plan.target);
        match plan.group {
            None => {}
            Some(0) => batch.groups.push(class),
            Some(position) if position >= plan.header.len() => batch.groups.push(folder_above(&message.path)),
            Some(position) => batch.groups.push(Some(text_at(position).unwrap_or(&message.path))),
        }
        for (feature, (column, &position)) in batch.columns.iter_mut().zip(&plan.features).enumerate() {
            match column {
                BatchColumn::Category(column) => push_class(column, position),
                BatchColumn::Number(values) => values.push(f64::NAN),
                BatchColumn::Text(column) => {
                    match (position.and_then(text_at), &mut self.tokenizers[feature]) {
                        (Some(text), Some(tokenizer)) => tokenizer.read(text, column),
                        _ => column.push_missing(),
                    }
                }
            }
        }
        for (column, &position) in kept.iter_mut().zip(&plan.kept) {
            match position {
                0 => column.push(class),
                _ => column.push(Some(text_at(position).unwrap_or(&message.path))),
            }
        }
        batch.rows += 1;
    }
}

//! Model files on disk: read whole, replaced whole, and changed by one process at a time.
//!
//! ```no_run
//! use priory_input::store;
//!
//! let lock = store::lock("spam.priory")?; // waits until nobody else changes the model
//! let mut model = store::read_bytes("spam.priory")?;
//! model.push(b'!');
//! lock.replace(&model)?;
//! # Ok::<(), priory_input::Error>(())
//! ```

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use priory::Learnt;
use priory::format::FileParts;
use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::reader::held;

pub mod journal;

/// How the names of files begin and end that are not finished yet.
pub(crate) const UNFINISHED_NAME: (&str, &str) = (".priory-", ".tmp");

/// The contents of a file.
///
/// # Errors
/// If it cannot be read.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    fs::read(path).map_err(|cause| failed(path, "read", cause))
}

/// Whether a file looks like a model: a length of less than 4 GiB in eight bytes, and then an opening brace. No table begins so.
pub fn is_model(path: impl AsRef<Path>) -> bool {
    let mut beginning = [0; 9];
    let path = path.as_ref();
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    is_file && read().is_ok() && beginning[4..] == *b"\0\0\0\0{"
}

/// What a model file holds.
///
/// # Errors
/// If it cannot be read, or is no model.
pub fn read_model(path: impl AsRef<Path>) -> Result<Learnt> {
    OpenFile::open(path)?.read_model()
}

/// An open model file, any part of which can be read. Copies share it.
#[derive(Debug, Clone)]
pub struct OpenFile {
    name: String,
    contents: Arc<Contents>,
}

#[derive(Debug)]
enum Contents {
    File {
        file: Mutex<File>,
        size: u64,
    },
    /// What came out of a pipe, which can be read only once.
    Pipe(Vec<u8>),
}

impl OpenFile {
    /// Opens a file. A pipe or the like is opened once and read to its end.
    ///
    /// # Errors
    /// If it cannot be opened, or the pipe cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let contents = open_contents(path).map_err(|cause| failed(path, "read", cause))?;
        Ok(OpenFile { name: path.display().to_string(), contents: Arc::new(contents) })
    }

    /// What the file holds.
    ///
    /// # Errors
    /// If it cannot be read, or is no model.
    pub fn read_model(&self) -> Result<Learnt> {
        let read = Learnt::read(self);
        read.map_err(|cause| Error::Use { name: self.name.clone(), cause })
    }
}

fn open_contents(path: &Path) -> io::Result<Contents> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok(match metadata.is_file() {
        true => Contents::File { file: Mutex::new(file), size: metadata.len() },
        false => Contents::Pipe(read_pipe(file)?),
    })
}

/// What comes out of a pipe, or only its beginning if that is not the beginning of a model: there may be no end.
fn read_pipe(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut file).take(16).read_to_end(&mut bytes)?;
    if priory::format::could_be_file(&bytes) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl FileParts for OpenFile {
    fn size(&self) -> u64 {
        match &*self.contents {
            Contents::File { size, .. } => *size,
            Contents::Pipe(bytes) => bytes.len() as u64,
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &*self.contents {
            Contents::File { file, .. } => {
                let mut file = held(file);
                file.seek(SeekFrom::Start(offset))?;
                file.read_exact(buffer)
            }
            Contents::Pipe(bytes) => bytes.read_at(offset, buffer),
        }
    }
}

/// Writes a file, or replaces it if there is one. Whoever reads it meanwhile sees all of the old contents or all of
/// the new, and so it is after a crash or on a full disk: the bytes go to a temporary file beside it, which then
/// takes its name. The permissions stay, and a link still leads to the file.
///
/// What is no regular file, such as a pipe, is written to as it is, and so is what is open already under a name like
/// `/dev/stdout` or `/dev/fd/3`, whatever it leads to.
///
/// # Errors
/// If it cannot be written. What was there before is then still there.
pub fn replace_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.fill(|file| file.write_all(bytes))?;
    file.finish()
}

/// A file that is written bit by bit and takes its place, like in [`replace_file`], when it is finished. If it is
/// dropped before, nothing has happened.
pub struct NewFile {
    path: PathBuf,
    output: Output,
}

/// Who may read a file that was not there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// Who may read any new file.
    Anyone,
    /// Nobody else.
    Owner,
}

enum Output {
    /// A file that will replace the one at this path.
    Replacement(TemporaryFile, PathBuf),
    /// What cannot be replaced: a pipe, a device, a file that is open already.
    Direct(File),
}

impl NewFile {
    /// Starts to write a file that will have this path.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_for(path.as_ref(), Readers::Anyone)
    }

    /// Starts to write a file that will have this path, and that nobody but its owner may read, in whatever folder it is. One
    /// that is there already keeps its permissions.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn create_private(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_for(path.as_ref(), Readers::Owner)
    }

    fn create_for(path: &Path, readers: Readers) -> Result<Self> {
        let output = Output::create(path, readers).map_err(|cause| failed(path, "written", cause))?;
        Ok(NewFile { path: path.to_owned(), output })
    }

    /// The path that the file will have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what `write` writes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn fill(&mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        write(self.output.file_mut()).map_err(|cause| failed(&self.path, "written", cause))
    }

    /// Waits until the disk has what was written. Whoever has something else to do meanwhile calls it on another thread;
    /// [`finish`](Self::finish) does it otherwise.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub fn sync(&self) -> Result<()> {
        match &self.output {
            Output::Replacement(temporary, _) => {
                temporary.file.as_file().sync_all().map_err(|cause| failed(&self.path, "written", cause))
            }
            Output::Direct(_) => Ok(()),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If the disk is full or fails. What was there before is then still there.
    pub fn finish(self) -> Result<()> {
        self.sync()?;
        match self.output {
            Output::Replacement(temporary, target) => {
                temporary.put_in_place(&target).map_err(|cause| failed(&self.path, "written", cause))
            }
            Output::Direct(_) => Ok(()),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.file_mut().flush()
    }
}

/// Waits until nobody else holds this lock on the file, and then holds it until it is dropped.
///
/// Reading a model, changing it and writing it back under the lock loses no change. Readers need no lock.
///
/// # Errors
/// If the file does not exist, may not be written to, or is on a file system without locks.
pub fn lock(path: impl AsRef<Path>) -> Result<Lock> {
    let path = path.as_ref();
    let file = lock_current(path).map_err(|cause| failed(path, "locked", cause))?;
    Ok(Lock { path: path.to_owned(), _file: file })
}

/// The right to change a file. The system takes it back if the process dies.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub struct Lock {
    path: PathBuf,
    /// Closing the file releases the lock.
    _file: File,
}

impl Lock {
    /// Replaces the locked file, like [`replace_file`], and releases the lock.
    ///
    /// The lock ends here because it belongs to the replaced file: whoever opens the new one can lock that at once.
    ///
    /// # Errors
    /// Like [`replace_file`].
    pub fn replace(self, bytes: &[u8]) -> Result<()> {
        replace_file(&self.path, bytes)
    }
}

fn failed(path: &Path, action: &'static str, cause: io::Error) -> Error {
    Error::File { name: path.display().to_string(), action, cause }
}

impl Output {
    /// Opens what is to be written to.
    fn create(path: &Path, readers: Readers) -> io::Result<Output> {
        if let Some(open) = open_descriptor(path) {
            return open.map(Output::Direct);
        }
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
                // The link leads to a file that does not exist yet.
                Ok(leads_to) => return Output::create(&directory_of(path).join(leads_to), readers),
                Err(_) => None,
            },
            Err(error) => return Err(error),
        };
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            return Ok(Output::Direct(OpenOptions::new().write(true).open(path)?));
        }
        let target = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let temporary = TemporaryFile::create(directory_of(&target), existing.as_ref(), readers)?;
        Ok(Output::Replacement(temporary, target))
    }

    fn file_mut(&mut self) -> &mut File {
        match self {
            Output::Replacement(temporary, _) => temporary.file.as_file_mut(),
            Output::Direct(file) => file,
        }
    }
}

/// The open file that a path like `/dev/stdout` or `/dev/fd/3` stands for. To replace what it leads to would take that
/// away from whoever has opened it.
#[cfg(unix)]
fn open_descriptor(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    const MOST_LINKS: usize = 40;
    let descriptors = fs::canonicalize("/dev/fd").ok()?;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let directory = directory_of(&path);
        if fs::canonicalize(directory).is_ok_and(|directory| directory == descriptors) {
            let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
            let copy = match number {
                1 => io::stdout().as_fd().try_clone_to_owned(),
                2 => io::stderr().as_fd().try_clone_to_owned(),
                // Opened anew, a file would be written to from its beginning.
                _ => return Some(OpenOptions::new().append(true).open(path)),
            };
            return Some(copy.map(File::from));
        }
        path = directory.join(fs::read_link(&path).ok()?);
    }
    None
}

#[cfg(not(unix))]
fn open_descriptor(_: &Path) -> Option<io::Result<File>> {
    None
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is removed unless it is put in its place.
struct TemporaryFile {
    file: NamedTempFile,
    // After the file, since fields are dropped in their order: what is not listed is not there.
    _listed: Listed,
}

impl TemporaryFile {
    /// A new file with the permissions of the one that it is to replace.
    fn create(directory: &Path, existing: Option<&Metadata>, readers: Readers) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED_NAME.0).suffix(UNFINISHED_NAME.1);
        // A file that is new has the permissions that any new file has, unless it is private. Otherwise nobody may open it
        // who may not open the old one, not even before its permissions are set.
        #[cfg(unix)]
        if existing.is_none() && readers == Readers::Anyone {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let mut unfinished = held(&UNFINISHED);
        let file = builder.tempfile_in(directory)?;
        unfinished.insert(file.path().to_owned());
        drop(unfinished);
        let temporary = TemporaryFile { _listed: Listed(file.path().to_owned()), file };
        if let Some(metadata) = existing {
            temporary.file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(temporary)
    }

    fn put_in_place(self, target: &Path) -> io::Result<()> {
        self.file.persist(target)?;
        // The new file has its name. Not every file system can sync a directory, so this is done as well as it can be.
        #[cfg(unix)]
        let _ = File::open(directory_of(target)).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

/// The temporary files that there are.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary file that is on the list, until it is dropped.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        held(&UNFINISHED).remove(&self.0);
    }
}

/// Removes the files of this process that are being written and are not in their place yet, for a program that is told
/// to end at once. Nothing more can be written in its place while the value that is returned is there.
pub fn remove_unfinished() -> impl Sized {
    let unfinished = held(&UNFINISHED);
    for path in &*unfinished {
        let _ = fs::remove_file(path);
    }
    unfinished
}

/// Locks the file that has this name at the moment when the lock is held. While one waits, the file may be replaced;
/// then the lock is on a file that nobody will see again, and the new one has to be locked instead.
fn lock_current(path: &Path) -> io::Result<File> {
    loop {
        // Opened for writing, so that a model that is write-protected is not changed.
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("only a regular file can be changed in place"));
        }
        file.lock()?;
        if is_same_file(&file.metadata()?, &fs::metadata(path)?) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open cannot lose its name to another.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_created_and_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.priory");
        replace_file(&path, b"first").unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"first");
        replace_file(&path, b"").unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"");
        assert_eq!(names_in(directory.path()), ["model.priory"]);
    }

    #[test]
    fn errors_name_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("absent.priory");
        let name = path.display().to_string();
        assert!(read_bytes(&path).unwrap_err().to_string().starts_with(&format!("{name}: cannot be read: ")));
        assert!(lock(&path).unwrap_err().to_string().starts_with(&format!("{name}: cannot be locked: ")));
        let inside = path.join("model.priory");
        assert!(replace_file(&inside, b"x").unwrap_err().to_string().contains("cannot be written: "));
        assert!(replace_file(directory.path(), b"x").is_err());
        assert!(names_in(directory.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.priory");
        fs::write(&path, b"old").unwrap();
        for mode in [0o640, 0o600, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            replace_file(&path, b"new").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
        let link = directory.path().join("link.priory");
        symlink("model.priory", &link).unwrap();
        replace_file(&link, b"through the link").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read_bytes(&path).unwrap(), b"through the link");
        fs::remove_file(&path).unwrap();
        replace_file(&link, b"where it leads").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read_bytes(&path).unwrap(), b"where it leads");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(replace_file(&path, b"gone").is_err());
        assert!(!fs::metadata(&path).unwrap().is_file());
        assert_eq!(names_in(directory.path()), ["socket"]);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.priory");
        fs::write(&path, b"old").unwrap();
        let mut temporary = TemporaryFile::create(directory.path(), None, Readers::Anyone).unwrap();
        temporary.file.write_all(b"half of the ne").unwrap();
        assert_eq!(names_in(directory.path()).len(), 2);
        // A directory cannot be replaced by a file, so this rename fails.
        fs::create_dir(directory.path().join("directory")).unwrap();
        assert!(temporary.put_in_place(&directory.path().join("directory")).is_err());
        assert_eq!(names_in(directory.path()), ["directory", "model.priory"]);
        assert_eq!(read_bytes(&path).unwrap(), b"old");
    }

    #[test]
    fn concurrent_changes_are_all_kept() {
        const THREADS: u64 = 8;
        const CHANGES: u64 = 50;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("count");
        replace_file(&path, b"0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..CHANGES {
                        let lock = lock(&path).unwrap();
                        let count: u64 =
                            String::from_utf8(read_bytes(&path).unwrap()).unwrap().parse().unwrap();
                        lock.replace((count + 1).to_string().as_bytes()).unwrap();
                    }
                });
            }
        });
        assert_eq!(read_bytes(&path).unwrap(), (THREADS * CHANGES).to_string().as_bytes());
        assert_eq!(names_in(directory.path()), ["count"]);
    }

    #[test]
    fn a_lock_that_is_dropped_is_free() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.priory");
        replace_file(&path, b"old").unwrap();
        drop(lock(&path).unwrap());
        lock(&path).unwrap().replace(b"new").unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"new");
    }
}

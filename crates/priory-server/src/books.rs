//! What was learnt, kept so that nothing that was acknowledged is ever lost or counted twice.
//!
//! Beside a model `spam.priory` that may be changed stands a folder `spam.priory.served`:
//!
//! | file | what it is |
//! |---|---|
//! | `lock` | locked by the one process that may change the model |
//! | `000007-8f3ac1….priory` | a version of the model, named after its number and its hash; the last few are kept |
//! | `journal` | begins with the version that it adds to, and holds every change since |
//!
//! What was learnt is always that version and the changes of the journal. From time to time both are written as a new version, and
//! a new journal that adds to it takes the place of the old one in one step; this is the moment at which the version counts. Then
//! the model file itself is replaced. Whenever the process ends, what is on disk says what was learnt. No clock is asked.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use bytes::Bytes;
use priory::Learnt;
use priory_input::store::journal::Journal;
use priory_input::store::{self, Lock};
use serde::{Deserialize, Serialize};

use crate::change::{Change, Known, Record};
use crate::held;

/// What can go wrong with what is kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] priory_input::Error),
    /// The model is served already.
    #[error("{0} is served already, by another process")]
    Taken(String),
    /// What is on disk does not fit together.
    #[error("{0}")]
    Contradiction(String),
}

/// A short result.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a change was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotDone {
    /// It cannot be made.
    Impossible(String),
    /// Its id was used for something else.
    OtherId(String),
    /// It could not be recorded.
    NotRecorded(String),
}

/// A change that was made, now or before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) rows: u64,
    /// Whether it had been made before, and was not counted again.
    pub(crate) is_repeated: bool,
    /// What was learnt then.
    pub(crate) version: String,
}

/// A version of the model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) hash: String,
}

/// What a journal begins with.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// What the journal adds to.
    base: Version,
    /// What the model file may still be, until it is replaced by that.
    replaces: Option<String>,
}

/// What was learnt, and where it is kept.
#[derive(Debug)]
pub(crate) struct Books {
    path: PathBuf,
    folder: PathBuf,
    keep: usize,
    learnt: Learnt,
    journal: Journal,
    base: Version,
    /// How many changes the journal has.
    changes: u64,
    /// The hash of the model file when it was last written or read here.
    placed: String,
    /// What the file looked like then,
    stamp: Option<Stamp>,
    /// and what one looked like that was refused.
    refused: Option<Stamp>,
    ids: Ids,
    /// Counts whatever changes what was learnt.
    moment: u64,
    /// Held as long as the model may be changed here.
    lock: Option<File>,
}

/// What was learnt, as it was at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) learnt: Learnt,
    pub(crate) version: String,
    pub(crate) moment: u64,
    changes: u64,
    /// Where the journal ended.
    place: u64,
}

/// What became of an attempt to write a new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folded {
    /// There is one.
    Written,
    /// There was no change.
    Unchanged,
    /// The model file was replaced by somebody else, which has to be understood first.
    Foreign,
}

/// The hash of a file, as versions are called.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    format!("{:016x}", rapidhash::v3::rapidhash_v3(bytes))
}

/// What a file looks like from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Stamp {
    /// Of the file at a path, if there is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let (size, modified) = (metadata.len(), metadata.modified().ok());
        Some(Stamp { size, modified, number: file_number(&metadata) })
    }
}

#[cfg(unix)]
fn file_number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn file_number(_: &Metadata) -> u64 {
    0
}

/// The requests that were counted, as far back as they are remembered.
#[derive(Debug, Default)]
struct Ids {
    known: HashMap<String, Known>,
    order: VecDeque<String>,
}

impl Ids {
    /// So many are remembered.
    const MOST: usize = 100_000;

    fn add(&mut self, id: String, known: Known) {
        if self.known.insert(id.clone(), known).is_none() {
            self.order.push_back(id);
        }
        while self.order.len() > Self::MOST {
            let oldest = self.order.pop_front();
            oldest.and_then(|oldest| self.known.remove(&oldest));
        }
    }

    fn record(&self) -> Option<Vec<u8>> {
        let known = self.order.iter().map(|id| (id.clone(), self.known[id])).collect();
        (!self.order.is_empty()).then(|| Record::Known(known).to_bytes(&[]))
    }
}

impl Books {
    /// Opens what is kept of a model, or begins to keep it. This many versions are kept. What was learnt is what every change
    /// that was acknowledged makes of it.
    pub(crate) fn open(path: &Path, keep: usize) -> Result<Books> {
        let folder = folder_of(path);
        create_folder(&folder)?;
        let lock = lock(&folder, path)?;
        remove_unfinished(&folder);
        let journal = folder.join(JOURNAL);
        match journal.exists() {
            true => Books::found(path, folder, keep, lock),
            false => Books::begun(path, folder, keep, lock),
        }
    }

    fn begun(path: &Path, folder: PathBuf, keep: usize, lock: File) -> Result<Books> {
        let stamp = Stamp::of(path);
        let bytes = store::read_bytes(path)?;
        let learnt = read(path, &bytes)?;
        let number = 1 + versions_in(&folder).iter().map(|version| version.number).max().unwrap_or(0);
        let base = Version { number, hash: hash_of(&bytes) };
        store::replace_file(folder.join(base.file_name()), &bytes)?;
        let placed = base.hash.clone();
        let head = Head { base: base.clone(), replaces: None };
        let journal = Journal::create(&folder.join(JOURNAL), &head.to_bytes(), NO_RECORDS)?;
        Ok(Books {
            path: path.to_owned(),
            folder,
            keep,
            learnt,
            journal,
            base,
            changes: 0,
            placed,
            stamp,
            refused: None,
            ids: Ids::default(),
            moment: 0,
            lock: Some(lock),
        })
    }

    fn found(path: &Path, folder: PathBuf, keep: usize, lock: File) -> Result<Books> {
        let mut records = Vec::new();
        let opened = Journal::open(&folder.join(JOURNAL), |record| {
            records.push(record.to_vec());
            Ok(())
        })?;
        let head = Head::read(&opened.head, &folder)?;
        let learnt = read_version(&folder, &head.base)?;
        let mut books = Books {
            path: path.to_owned(),
            folder,
            keep,
            learnt,
            journal: opened.journal,
            base: head.base,
            changes: 0,
            placed: String::new(),
            stamp: None,
            refused: None,
            ids: Ids::default(),
            moment: 0,
            lock: Some(lock),
        };
        let mut placed = None;
        for record in &records {
            placed = books.replay(record)?.or(placed);
        }
        let replaces = head.replaces.filter(|_| placed.is_none());
        books.meet_file(replaces)?;
        Ok(books)
    }

    /// Does what a record says once more. Returns the version of the model file, if it says that.
    fn replay(&mut self, record: &[u8]) -> Result<Option<String>> {
        match self.understood(record)? {
            (Record::Known(known), _) => known.into_iter().for_each(|(id, known)| self.ids.add(id, known)),
            (Record::Placed(hash), _) => return Ok(Some(hash)),
            (Record::Change(what), body) => {
                let schema = self.learnt.statistics.schema();
                let change = Change::new(what, Bytes::copy_from_slice(body), schema)?;
                let applied = change.apply(&mut self.learnt);
                applied.map_err(|error| self.contradiction(&error.to_string()))?;
                let known = change.known();
                change.what.id.into_iter().for_each(|id| self.ids.add(id, known));
                self.changes += 1;
            }
        }
        Ok(None)
    }

    fn understood<'r>(&self, record: &'r [u8]) -> Result<(Record, &'r [u8])> {
        Record::read(record).map_err(|why| self.contradiction(&why))
    }

    fn contradiction(&self, why: &str) -> Error {
        Error::Contradiction(format!("{}: {why}", self.folder.join(JOURNAL).display()))
    }

    /// Compares the model file with what the journal adds to, when the model is opened. `replaces` is what it may still be.
    fn meet_file(&mut self, replaces: Option<String>) -> Result<()> {
        let stamp = Stamp::of(&self.path);
        let hash = match stamp {
            Some(_) => Some(hash_of(&store::read_bytes(&self.path)?)),
            None => None,
        };
        match hash {
            Some(hash) if hash == self.base.hash => (self.placed, self.stamp) = (hash, stamp),
            // The process ended before it had replaced the file, or the file is gone.
            hash if hash.is_none() || hash == replaces => {
                store::replace_file(
                    &self.path,
                    &store::read_bytes(self.folder.join(self.base.file_name()))?,
                )?;
                self.set_placed()?;
            }
            _ if replaces.is_some() => {
                let (path, folder) = (self.path.display(), self.folder.display());
                return Err(Error::Contradiction(format!(
                    "{path} was replaced while the version that should have replaced it was still to be written; move {folder} away to serve the file, or the file away to serve what was learnt"
                )));
            }
            _ => {
                self.placed = self.base.hash.clone();
                self.adopt_file()?;
            }
        }
        Ok(())
    }

    /// The model file has the version that the journal adds to.
    fn set_placed(&mut self) -> Result<()> {
        self.placed = self.base.hash.clone();
        self.stamp = Stamp::of(&self.path);
        self.journal.append(&[Record::Placed(self.placed.clone()).to_bytes(&[])])?;
        Ok(())
    }

    /// What it is called what was learnt: the hash of the version, and how many changes came after it.
    pub(crate) fn version(&self) -> String {
        match self.changes {
            0 => self.base.hash.clone(),
            changes => format!("{}+{changes}", self.base.hash),
        }
    }

    /// Lets another process change the model.
    pub(crate) fn release(&mut self) {
        self.lock = None;
    }

    pub(crate) fn moment(&self) -> u64 {
        self.moment
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) fn journal_size(&self) -> u64 {
        self.journal.end()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            learnt: self.learnt.clone(),
            version: self.version(),
            moment: self.moment,
            changes: self.changes,
            place: self.journal.end(),
        }
    }

    /// Makes changes, each by itself, and returns when all that were made are on disk.
    pub(crate) fn commit(&mut self, changes: &[&Change]) -> Vec<std::result::Result<Done, NotDone>> {
        let mut records = Vec::new();
        let mut made: Vec<&Change> = Vec::new();
        let (before, moment) = (self.changes, self.moment);
        let mut results: Vec<_> = Vec::new();
        for change in changes {
            let result = self.make(change, &made);
            if let Ok(Done { is_repeated: false, .. }) = result {
                made.push(change);
                records.push(change.record());
            }
            results.push(result);
        }
        if let Err(error) = self.journal.append(&records) {
            // As if nothing had been asked for: what is on disk says what was learnt.
            (self.changes, self.moment) = (before, moment);
            let why = match self.restore() {
                Ok(()) => error.to_string(),
                Err(worse) => format!("{error}; {worse}"),
            };
            for (result, change) in results.iter_mut().zip(changes) {
                let is_made = made.iter().any(|made| std::ptr::eq(*made, *change));
                let relies_on_it = result.as_ref().is_ok_and(|done| done.is_repeated)
                    && change.what.id.as_ref().is_some_and(|id| !self.ids.known.contains_key(id));
                if is_made || relies_on_it {
                    *result = Err(NotDone::NotRecorded(why.clone()));
                }
            }
        }
        results
    }

    /// Makes a change that will be recorded. `made` are those that were made with it.
    fn make(&mut self, change: &Change, made: &[&Change]) -> std::result::Result<Done, NotDone> {
        let known = change.known();
        if let Some((id, before)) = change.what.id.as_ref().and_then(|id| self.ids.known.get_key_value(id)) {
            return match *before == known {
                true => Ok(Done { rows: known.rows, is_repeated: true, version: self.version() }),
                false => Err(NotDone::OtherId(format!("the id `{id}` was used for another request"))),
            };
        }
        if let Err(error) = change.apply(&mut self.learnt) {
            if change.what.action == crate::change::Action::Learn {
                let (count, moment) = (self.changes, self.moment);
                let restored = self.restore().and_then(|()| {
                    let again = made.iter().try_for_each(|change| change.apply(&mut self.learnt));
                    again.map_err(|error| self.contradiction(&error.to_string()))
                });
                made.iter().for_each(|change| {
                    let known = change.known();
                    change.what.id.iter().for_each(|id| self.ids.add(id.clone(), known));
                });
                (self.changes, self.moment) = (count, moment);
                restored.map_err(|error| NotDone::NotRecorded(error.to_string()))?;
            }
            return Err(NotDone::Impossible(error.to_string()));
        }
        change.what.id.iter().for_each(|id| self.ids.add(id.clone(), known));
        self.changes += 1;
        self.moment += 1;
        Ok(Done { rows: known.rows, is_repeated: false, version: self.version() })
    }

    /// What was learnt, from what is on disk.
    fn restore(&mut self) -> Result<()> {
        self.learnt = read_version(&self.folder, &self.base)?;
        (self.changes, self.ids) = (0, Ids::default());
        self.records()?.iter().try_for_each(|record| self.replay(record).map(|_| ()))
    }

    fn records(&mut self) -> Result<Vec<Vec<u8>>> {
        self.records_from(0)
    }

    fn records_from(&mut self, place: u64) -> Result<Vec<Vec<u8>>> {
        let mut records = Vec::new();
        self.journal.records_from(place, |record| {
            records.push(record.to_vec());
            Ok(())
        })?;
        Ok(records)
    }

    /// Begins a journal that adds these changes to a version, which then counts.
    fn begin(&mut self, base: Version, replaces: Option<String>, changes: Vec<Vec<u8>>) -> Result<()> {
        let head = Head { base: base.clone(), replaces };
        let records: Vec<Vec<u8>> = self.ids.record().into_iter().chain(changes).collect();
        self.journal = Journal::create(&self.folder.join(JOURNAL), &head.to_bytes(), &records)?;
        self.base = base;
        Ok(())
    }

    /// Of records those that change what was learnt.
    fn changes_among(&self, records: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let mut changes = Vec::new();
        for record in records {
            if let (Record::Change(_), _) = self.understood(&record)? {
                changes.push(record);
            }
        }
        Ok(changes)
    }

    fn next_number(&self) -> u64 {
        1 + self.versions().iter().map(|version| version.number).max().unwrap_or(0).max(self.base.number)
    }

    /// The versions that are kept, the oldest first.
    pub(crate) fn versions(&self) -> Vec<Version> {
        versions_in(&self.folder)
    }

    /// The version that the journal adds to.
    pub(crate) fn base(&self) -> &Version {
        &self.base
    }

    /// Removes the oldest versions, but never the one that the journal adds to.
    fn prune(&self) {
        let versions = self.versions();
        let surplus = versions.len().saturating_sub(self.keep.max(1));
        for version in versions.iter().take(surplus).filter(|version| **version != self.base) {
            // What cannot be removed now will be tried again.
            let _ = fs::remove_file(self.folder.join(version.file_name()));
        }
    }

    /// Takes what somebody else has put in the place of the model file, with the changes that it does not have.
    fn adopt_file(&mut self) -> Result<()> {
        let stamp = Stamp::of(&self.path);
        let adopted = self.adopt_as(stamp.clone());
        if adopted.is_err() {
            self.refused = stamp;
        }
        adopted
    }

    fn adopt_as(&mut self, stamp: Option<Stamp>) -> Result<()> {
        let bytes = store::read_bytes(&self.path)?;
        let hash = hash_of(&bytes);
        if hash == self.placed {
            self.stamp = stamp;
            return Ok(());
        }
        let found = read(&self.path, &bytes)?;
        let records = self.records()?;
        let changes = self.changes_among(records)?;
        let version = Version { number: self.next_number(), hash: hash.clone() };
        store::replace_file(self.folder.join(version.file_name()), &bytes)?;
        let before = std::mem::replace(&mut self.learnt, found);
        let (base, count) = (self.base.clone(), std::mem::take(&mut self.changes));
        let adopted = changes.iter().try_for_each(|record| self.replay(record).map(|_| ()));
        if let Err(error) = adopted.and_then(|()| self.begin(version.clone(), None, changes)) {
            (self.learnt, self.base, self.changes) = (before, base, count);
            let _ = fs::remove_file(self.folder.join(version.file_name()));
            return Err(error);
        }
        (self.placed, self.stamp) = (hash, stamp);
        self.moment += 1;
        self.prune();
        Ok(())
    }

    /// Goes back to a version, and makes one of what was learnt until then.
    fn roll_back(&mut self, wanted: Option<&str>) -> Result<Bytes> {
        let versions = self.versions();
        let mut candidates = versions.iter().rev();
        let found = match wanted {
            Some(hash) => candidates.find(|version| version.hash == hash),
            // With changes since, what the journal adds to is the one before.
            None if self.changes > 0 => Some(&self.base),
            None => candidates.find(|version| version.number < self.base.number),
        };
        let Some(found) = found else {
            return Err(Error::Contradiction(match wanted {
                Some(hash) => format!("no version `{hash}` is kept"),
                None => "no earlier version is kept".to_owned(),
            }));
        };
        let bytes = store::read_bytes(self.folder.join(found.file_name()))?;
        let learnt = read_version(&self.folder, found)?;
        if self.changes > 0 {
            let last = self.learnt.to_bytes();
            let version = Version { number: self.next_number(), hash: hash_of(&last) };
            store::replace_file(self.folder.join(version.file_name()), &last)?;
        }
        self.begin(found.clone(), Some(self.placed.clone()), Vec::new())?;
        (self.learnt, self.changes) = (learnt, 0);
        self.moment += 1;
        Ok(bytes.into())
    }
}

/// Writes what was learnt as a new version and as the model file. Changes can be made meanwhile.
pub(crate) fn fold(books: &Mutex<Books>) -> Result<Folded> {
    let (snapshot, number, is_placed) = {
        let books = held(books);
        (books.snapshot(), books.next_number(), books.placed == books.base.hash)
    };
    if snapshot.changes == 0 && is_placed {
        return Ok(Folded::Unchanged);
    }
    let bytes = snapshot.learnt.to_bytes();
    let hash = hash_of(&bytes);
    let (folder, path) = {
        let books = held(books);
        (books.folder.clone(), books.path.clone())
    };
    let same = { held(books).base.clone() };
    let base = if hash == same.hash { same } else { Version { number, hash } };
    store::replace_file(folder.join(base.file_name()), &bytes)?;
    let lock = lock_file(&path)?;
    {
        let mut books = held(books);
        if is_foreign(&books)? {
            return Ok(Folded::Foreign);
        }
        let later = books.records_from(snapshot.place)?;
        let later = books.changes_among(later)?;
        let placed = books.placed.clone();
        books.begin(base, Some(placed), later)?;
        books.changes -= snapshot.changes;
    }
    place(books, &path, lock, &bytes)?;
    Ok(Folded::Written)
}

/// Replaces the model file by the version that counts now.
fn place(books: &Mutex<Books>, path: &Path, lock: Option<Lock>, bytes: &[u8]) -> Result<()> {
    match lock {
        Some(lock) => lock.replace(bytes)?,
        None => store::replace_file(path, bytes)?,
    }
    let mut books = held(books);
    books.set_placed()?;
    books.prune();
    Ok(())
}

/// Goes back to a version: the one with this hash, or else the last one before.
pub(crate) fn roll_back(books: &Mutex<Books>, wanted: Option<&str>) -> Result<()> {
    let path = held(books).path.clone();
    let lock = lock_file(&path)?;
    let bytes = {
        let mut books = held(books);
        if is_foreign(&books)? {
            let path = books.path.display();
            return Err(Error::Contradiction(format!(
                "{path} was replaced by another model, which was refused"
            )));
        }
        books.roll_back(wanted)?
    };
    place(books, &path, lock, &bytes)
}

/// Whether somebody else has replaced the model file.
fn is_foreign(books: &Books) -> Result<bool> {
    match Stamp::of(&books.path) {
        None => Ok(false),
        stamp if stamp == books.stamp && !books.placed.is_empty() => Ok(false),
        Some(_) => Ok(hash_of(&store::read_bytes(&books.path)?) != books.placed),
    }
}

/// Looks whether the model file was replaced, and takes what is there then. Returns whether it was.
pub(crate) fn look(books: &Mutex<Books>) -> Result<bool> {
    let mut books = held(books);
    let stamp = Stamp::of(&books.path);
    if stamp.is_none() || stamp == books.stamp || stamp == books.refused {
        return Ok(false);
    }
    let moment = books.moment;
    books.adopt_file()?;
    Ok(books.moment != moment)
}

/// Locks the model file, as everybody does who changes one; there may be none.
fn lock_file(path: &Path) -> Result<Option<Lock>> {
    if path.exists() { Ok(Some(store::lock(path)?)) } else { Ok(None) }
}

const JOURNAL: &str = "journal";
const NO_RECORDS: &[&[u8]] = &[];

impl Head {
    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a head can be written as JSON")
    }

    fn read(bytes: &[u8], folder: &Path) -> Result<Head> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::Contradiction(format!("{}: {error}", folder.join(JOURNAL).display())))
    }
}

impl Version {
    fn file_name(&self) -> String {
        format!("{:06}-{}.priory", self.number, self.hash)
    }

    fn of_file(name: &str) -> Option<Self> {
        let (number, hash) = name.strip_suffix(".priory")?.split_once('-')?;
        Some(Version { number: number.parse().ok()?, hash: hash.to_owned() })
    }
}

fn versions_in(folder: &Path) -> Vec<Version> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut versions: Vec<Version> =
        entries.filter_map(|entry| Version::of_file(entry.file_name().to_str()?)).collect();
    versions.sort();
    versions
}

/// Where a model that may be changed is kept.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    let mut folder = path.as_os_str().to_owned();
    folder.push(".served");
    folder.into()
}

/// Nobody else may look into it: a journal holds rows.
fn create_folder(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|cause| file_error(folder, "created", cause))
}

/// Removes what a process was writing when it was killed; nobody else writes here now.
fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(".priory-") && name.ends_with(".tmp")) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn lock(folder: &Path, path: &Path) -> Result<File> {
    let name = folder.join("lock");
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&name);
    let file = opened.map_err(|cause| file_error(&name, "opened", cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(Error::Taken(path.display().to_string())),
        Err(fs::TryLockError::Error(cause)) => Err(file_error(&name, "locked", cause)),
    }
}

fn file_error(path: &Path, action: &'static str, cause: io::Error) -> Error {
    priory_input::Error::File { name: path.display().to_string(), action, cause }.into()
}

/// What a model file holds.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Learnt> {
    let read = Learnt::read(&bytes);
    Ok(read.map_err(|cause| priory_input::Error::Use { name: path.display().to_string(), cause })?)
}

fn read_version(folder: &Path, version: &Version) -> Result<Learnt> {
    let path = folder.join(version.file_name());
    let bytes = store::read_bytes(&path)?;
    if hash_of(&bytes) != version.hash {
        return Err(Error::Contradiction(format!("{} is damaged", path.display())));
    }
    read(&path, &bytes)
}

#[cfg(test)]
mod tests;

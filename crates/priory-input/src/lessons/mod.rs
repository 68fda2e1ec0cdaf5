//! A store of lessons in mail: what was learnt, message by message, and the model that follows.
//!
//! ```text
//! key                     the secret under which messages are recognised, and the lock of those who write
//! lessons-G.journal       everything that was taught since the journal was written anew for the G-th time
//! model-G-N.priory        the model of the first N bytes of that journal
//! ```
//!
//! The journal is the truth: a lesson counts once it is synced. Models follow from it. Whoever asks for a verdict takes the newest
//! model there is and waits for nobody; who teaches waits for the lock, appends, and writes the model that follows. After a crash
//! at any instant the next one who writes finds out that the model is behind and makes it anew.
//!
//! A lesson holds the evidence of its message, so it can be taken back exactly, whatever becomes of the message.

mod digest;
mod filter;
mod record;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use priory::format::ModelFile;
use priory::judgement::{Judging, Tier};
use priory::{Batch, BatchColumn, Learnt, Model, Schema, Settings, Statistics};

use crate::error::{Error, Result};
use crate::store::journal::Journal;
use crate::store::{self, Lock, NewFile, OpenFile};
use crate::text::{Mail, Tokenizer, mail_columns};
use digest::{Digest, ID_FIELD, Key};
pub use filter::{FilteredMessage, filtered};
use record::{Lesson, Record};
pub use verdict::{Rule, Verdict};

/// The first field of each journal.
const HEAD: &[u8] = b"priory lessons in mail 1";
/// Stores with fewer lessons have no opinion.
pub const FEWEST_LESSONS: u64 = 20;
/// So many changed lessons are added to the model one by one; of more it is made anew.
const FEW_CHANGES: usize = 200;
/// How many lessons are counted at once.
const AT_ONCE: usize = 256;

/// A store of lessons, in a folder of its own.
#[derive(Debug, Clone)]
pub struct Lessons {
    folder: PathBuf,
    key: Key,
}

/// What a store thinks of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    /// The classes.
    pub classes: Vec<String>,
    /// The probability of each.
    pub posterior: Vec<f64>,
    /// How many lessons that rests on.
    pub lessons: u64,
    /// Whether its probabilities were judged, and can be believed.
    pub is_judged: bool,
}

impl Opinion {
    /// The probability of a class; zero if nothing of it was learnt.
    pub fn of(&self, class: &str) -> f64 {
        let place = self.classes.iter().position(|known| known == class);
        place.map_or(0.0, |place| self.posterior[place])
    }

    /// The most probable class.
    pub fn best(&self) -> Option<&str> {
        let best = (0..self.classes.len()).max_by(|&a, &b| self.posterior[a].total_cmp(&self.posterior[b]));
        best.map(|best| self.classes[best].as_str())
    }
}

/// What became of a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taught {
    /// It is new.
    Learnt,
    /// It was known already.
    Known,
    /// It was of another class.
    Moved(String),
}

impl Lessons {
    /// Opens a store.
    ///
    /// # Errors
    /// If there is none in this folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref().to_owned();
        let path = folder.join("key");
        let bytes = store::read_bytes(&path)?;
        let key = <[u8; 16]>::try_from(&bytes[..]).map_err(|_| damaged(&path, "it is no key of 16 bytes"))?;
        Ok(Lessons { folder, key: Key(key) })
    }

    /// Opens a store, which is made if it is not there. Nobody but its owner may read it.
    ///
    /// # Errors
    /// If it cannot be opened or made.
    pub fn open_or_create(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if !folder.join("key").exists() {
            create_folder(folder).map_err(|cause| failed(folder, "made", cause))?;
            let half = || RandomState::new().build_hasher().finish().to_le_bytes();
            write_key(&folder.join("key"), &[half(), half()].concat())?;
        }
        Lessons::open(folder)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The identity of a message as a field that it takes with it: name and value.
    pub fn id_field(&self, message: &[u8]) -> (&'static str, String) {
        (ID_FIELD, self.key.id(&self.key.digest(message)))
    }

    /// What the newest model thinks of a message; `None` if there is none yet.
    ///
    /// # Errors
    /// If the model cannot be read.
    pub fn opinion(&self, message: &[u8]) -> Result<Option<Opinion>> {
        self.with_model(&Mail::new(message), |model, batch, lessons, is_judged| {
            let posterior = model.score(batch)?.normalize();
            Ok(Opinion {
                classes: model.classes().to_vec(),
                posterior: posterior.row(0).to_vec(),
                lessons,
                is_judged,
            })
        })
    }

    /// How the newest model comes to what it thinks of a message; `None` if there is none yet.
    ///
    /// # Errors
    /// If the model cannot be read.
    pub fn explain(&self, message: &[u8]) -> Result<Option<priory::Explanation>> {
        self.with_model(&Mail::new(message), |model, batch, _, _| model.explain(batch, 0))
    }

    fn with_model<R>(
        &self,
        mail: &Mail,
        ask: impl Fn(&Model, &Batch, u64, bool) -> priory::Result<R>,
    ) -> Result<Option<R>> {
        loop {
            let Some(newest) = Names::of(&self.folder)?.newest_model() else { return Ok(None) };
            let path = self.folder.join(newest.model());
            let file = match OpenFile::open(&path) {
                // Somebody has written a newer one meanwhile.
                Err(Error::File { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let wrong = |cause| Error::Use { name: path.display().to_string(), cause };
            let answer = match ModelFile::open(file.clone()).map_err(wrong)? {
                Some(part) if part.rows() == 0 => return Ok(None),
                Some(part) => {
                    let batch = batch_of(part.schema(), std::slice::from_ref(&mail.texts()), None)?;
                    let model = part.model_for(&batch).map_err(wrong)?;
                    ask(&model, &batch, part.rows(), part.is_judged())
                }
                None => {
                    let learnt = file.read_model()?;
                    if learnt.statistics.rows() == 0 {
                        return Ok(None);
                    }
                    let batch =
                        batch_of(learnt.statistics.schema(), std::slice::from_ref(&mail.texts()), None)?;
                    let model = learnt.estimate().map_err(wrong)?;
                    ask(&model, &batch, learnt.statistics.rows(), learnt.is_judged())
                }
            };
            return answer.map(Some).map_err(wrong);
        }
    }

    /// The newest model file; `None` if there is none yet.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn newest_model(&self) -> Result<Option<PathBuf>> {
        Ok(Names::of(&self.folder)?.newest_model().map(|newest| self.folder.join(newest.model())))
    }

    /// Removes what somebody left behind who was killed while writing. Nobody else writes now.
    fn tidy_up(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(store::UNFINISHED_NAME.0) && name.ends_with(store::UNFINISHED_NAME.1) {
                // What cannot be removed does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Waits until nobody else teaches, and gets ready to.
    ///
    /// # Errors
    /// If the store cannot be read or written to, or its journal is damaged.
    pub fn teach(&self, threads: usize) -> Result<Teacher<'_>> {
        let lock = store::lock(self.folder.join("key"))?;
        self.tidy_up();
        let generation = Names::of(&self.folder)?.newest_journal().unwrap_or(0);
        let path = self.folder.join(journal_name(generation));
        let mut known = BTreeMap::new();
        let mut records = 0;
        let journal = match path.exists() {
            false => Journal::create_as::<&[u8]>(NewFile::create_private(&path)?, HEAD, &[])?,
            true => {
                let opened = Journal::open(&path, |bytes| {
                    records += 1;
                    match Record::from_bytes(bytes) {
                        Some(Record::Learnt(digest, lesson)) => known.insert(digest, lesson),
                        Some(Record::Forgotten(digest)) => known.remove(&digest),
                        None => return Err(damaged(&path, "it holds what nobody writes")),
                    };
                    Ok(())
                })?;
                if opened.head != HEAD {
                    return Err(damaged(
                        &path,
                        "it is no journal of lessons in mail, or one of another version",
                    ));
                }
                opened.journal
            }
        };
        Ok(Teacher {
            store: self,
            _lock: lock,
            generation,
            modelled: journal.end(),
            journal,
            known,
            records,
            pending: Vec::new(),
            changes: Some(Vec::new()),
            threads,
        })
    }
}

/// Somebody who teaches: nobody else can meanwhile.
pub struct Teacher<'a> {
    store: &'a Lessons,
    _lock: Lock,
    generation: u64,
    journal: Journal,
    known: BTreeMap<Digest, Lesson>,
    /// How many records the journal has.
    records: usize,
    pending: Vec<Vec<u8>>,
    /// Where the journal ended when it was opened.
    modelled: u64,
    /// What the model does not know yet, and whether it is to be learnt or forgotten; `None` if that is too much to keep.
    changes: Option<Vec<(bool, Lesson)>>,
    threads: usize,
}

impl Teacher<'_> {
    /// Teaches that a message is of a class.
    ///
    /// # Errors
    /// If the class has no name that could be one, or the journal cannot be written.
    pub fn learn(&mut self, message: &[u8], class: &str) -> Result<Taught> {
        check_class(class)?;
        let digest = self.store.key.digest(message);
        if let Some(lesson) = self.known.get(&digest) {
            if lesson.class == class {
                return Ok(Taught::Known);
            }
            let old = lesson.clone();
            let before = old.class.clone();
            let new = old.of_class(class);
            self.note(Record::Learnt(digest, new), Some(old))?;
            return Ok(Taught::Moved(before));
        }
        let texts = Mail::new(message).texts();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let lesson = Lesson::new(class, time, texts.iter())
            .map_err(|cause| failed(&self.store.folder, "written", cause))?;
        self.note(Record::Learnt(digest, lesson), None)?;
        Ok(Taught::Learnt)
    }

    /// Takes back what was taught of a message, and returns the class that it was of.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn forget(&mut self, message: &[u8]) -> Result<Option<String>> {
        let digest = self.store.key.digest(message);
        let Some(lesson) = self.known.get(&digest).cloned() else { return Ok(None) };
        let class = lesson.class.clone();
        self.note(Record::Forgotten(digest), Some(lesson))?;
        Ok(Some(class))
    }

    /// The class that a message was taught to be of.
    pub fn class_of(&self, message: &[u8]) -> Option<&str> {
        self.known.get(&self.store.key.digest(message)).map(|lesson| lesson.class.as_str())
    }

    /// How many lessons there are of each class.
    pub fn classes(&self) -> BTreeMap<&str, usize> {
        let mut classes = BTreeMap::new();
        self.known.values().for_each(|lesson| *classes.entry(lesson.class.as_str()).or_default() += 1);
        classes
    }

    /// Puts down a change: what is taught now, and the lesson that it takes the place of.
    fn note(&mut self, record: Record, before: Option<Lesson>) -> Result<()> {
        self.pending.push(record.to_bytes());
        let after = match record {
            Record::Learnt(digest, lesson) => {
                self.known.insert(digest, lesson.clone());
                Some(lesson)
            }
            Record::Forgotten(digest) => {
                self.known.remove(&digest);
                None
            }
        };
        if let Some(changes) = &mut self.changes {
            changes.extend(before.map(|lesson| (false, lesson)));
            changes.extend(after.map(|lesson| (true, lesson)));
            if changes.len() > FEW_CHANGES {
                self.changes = None;
            }
        }
        if self.pending.len() >= AT_ONCE { self.sync() } else { Ok(()) }
    }

    fn sync(&mut self) -> Result<()> {
        self.journal.append(&self.pending)?;
        self.records += self.pending.len();
        self.pending.clear();
        Ok(())
    }

    /// Waits until the disk has everything that was taught, and writes the model that follows.
    ///
    /// # Errors
    /// If the disk is full or fails. What the journal has got is not lost, even if the model could not be written.
    pub fn finish(mut self) -> Result<()> {
        self.sync()?;
        if self.records > 2 * self.known.len() + FEW_CHANGES {
            return self.compact();
        }
        let names = Names::of(&self.store.folder)?;
        let place = Place { generation: self.generation, end: self.journal.end() };
        if names.models.contains(&place) {
            return Ok(());
        }
        let before = Place { generation: self.generation, end: self.modelled };
        let changed = match &self.changes {
            Some(changes) if names.models.contains(&before) => self.changed(&before, changes)?,
            _ => None,
        };
        let learnt = match changed {
            Some(learnt) => learnt,
            None => self.made_anew()?,
        };
        self.write(&learnt, &place)
    }

    /// Writes the journal anew, without what was forgotten, and the model.
    ///
    /// # Errors
    /// If the disk is full or fails. The store is then as it was.
    pub fn compact(mut self) -> Result<()> {
        self.sync()?;
        let records: Vec<Vec<u8>> = self
            .known
            .iter()
            .map(|(digest, lesson)| Record::Learnt(*digest, lesson.clone()).to_bytes())
            .collect();
        let learnt = self.made_anew()?;
        let generation = self.generation + 1;
        let path = self.store.folder.join(journal_name(generation));
        // If it ends here, whoever teaches next finds the journal without its model, and makes that.
        let journal = Journal::create_as(NewFile::create_private(&path)?, HEAD, &records)?;
        self.write(&learnt, &Place { generation, end: journal.end() })
    }

    /// The model of before with these changes; `None` if it is time to make it anew.
    fn changed(&self, before: &Place, changes: &[(bool, Lesson)]) -> Result<Option<Learnt>> {
        let path = self.store.folder.join(before.model());
        let mut learnt = store::read_model(&path)?;
        let judged = learnt.judgement().map_or(0, |judgement| judgement.rows);
        let now = self.known.len() as u64;
        let is_stale = 4 * now > 5 * judged || 4 * judged > 5 * now;
        if is_stale && now >= FEWEST_LESSONS || now == 0 {
            return Ok(None);
        }
        let schema = learnt.statistics.schema().clone();
        for is_learnt in [true, false] {
            let lessons = changes.iter().filter(|(of, _)| *of == is_learnt).map(|(_, lesson)| lesson);
            self.for_each_batch(&schema, lessons, |batch| match is_learnt {
                true => learnt.learn(batch),
                false => learnt.forget(batch),
            })?;
        }
        Ok(Some(learnt))
    }

    /// The model of all lessons.
    fn made_anew(&self) -> Result<Learnt> {
        let wrong = |cause| Error::Use { name: self.store.folder.display().to_string(), cause };
        let settings = Settings::default();
        let mut schema = Schema::new("class", mail_columns()).map_err(wrong)?;
        let classes = self.classes();
        let is_judged = self.known.len() as u64 >= FEWEST_LESSONS && classes.len() >= 2;
        let judging = if is_judged { Judging::Tier(Tier::Full) } else { Judging::None };
        judging.prepare(&mut schema, &settings);
        let mut statistics: Statistics = judging.start(&schema);
        self.for_each_batch(&schema, self.known.values(), |batch| {
            statistics.observe(batch)?;
            statistics.check_size()
        })?;
        statistics.settle();
        let mut learnt = Learnt::new(statistics, settings);
        learnt.judge(judging, self.threads).map_err(wrong)?;
        Ok(learnt)
    }

    /// Hands lessons to `visit` as batches, of which only one is in memory at a time.
    fn for_each_batch<'l>(
        &self,
        schema: &Schema,
        mut lessons: impl Iterator<Item = &'l Lesson>,
        mut visit: impl FnMut(&Batch) -> priory::Result<()>,
    ) -> Result<()> {
        let folder = &self.store.folder;
        let (mut texts, mut classes) = (Vec::new(), Vec::new());
        loop {
            texts.clear();
            classes.clear();
            for lesson in lessons.by_ref().take(AT_ONCE) {
                texts.push(lesson.texts().ok_or_else(|| damaged(folder, "a lesson cannot be unpacked"))?);
                classes.push(lesson.class.as_str());
            }
            if texts.is_empty() {
                return Ok(());
            }
            let batch = batch_of(schema, &texts, Some(&classes))?;
            visit(&batch).map_err(|cause| Error::Use { name: folder.display().to_string(), cause })?;
        }
    }

    /// Writes a model, and removes what it takes the place of.
    fn write(&self, learnt: &Learnt, place: &Place) -> Result<()> {
        let mut file = NewFile::create_private(self.store.folder.join(place.model()))?;
        file.fill(|out| learnt.write_to(out))?;
        file.finish()?;
        let names = Names::of(&self.store.folder)?;
        let old = names.models.iter().filter(|model| *model != place).map(Place::model);
        let old_journals = names.journals.iter().filter(|&&journal| journal < place.generation);
        for name in old.chain(old_journals.map(|&journal| journal_name(journal))) {
            // What cannot be removed now is removed the next time.
            let _ = fs::remove_file(self.store.folder.join(name));
        }
        Ok(())
    }
}

/// Rows of texts as a batch; without classes, they are to be scored.
fn batch_of(schema: &Schema, rows: &[Vec<String>], classes: Option<&[&str]>) -> Result<Batch> {
    let wrong = |cause| Error::Use { name: "mail".into(), cause };
    let mut batch = Batch::new(schema);
    let known = mail_columns();
    for (column, cells) in schema.columns.iter().zip(&mut batch.columns) {
        let place = known.iter().position(|known| known.name == column.name);
        let (Some(place), Some(text), BatchColumn::Text(cells)) = (place, &column.text, cells) else {
            continue;
        };
        let mut tokenizer = Tokenizer::new(&text.tokens).map_err(wrong)?;
        rows.iter().for_each(|texts| tokenizer.read(&texts[place], cells));
    }
    for row in 0..rows.len() {
        batch.classes.push(classes.map(|classes| classes[row]));
        batch.rows += 1;
    }
    Ok(batch)
}

/// Which journal a model is of, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    generation: u64,
    end: u64,
}

impl Place {
    fn model(&self) -> String {
        format!("model-{}-{}.priory", self.generation, self.end)
    }
}

fn journal_name(generation: u64) -> String {
    format!("lessons-{generation}.journal")
}

/// The files of a store.
#[derive(Debug, Default)]
struct Names {
    journals: Vec<u64>,
    models: Vec<Place>,
}

impl Names {
    fn of(folder: &Path) -> Result<Names> {
        let mut names = Names::default();
        for entry in fs::read_dir(folder).map_err(|cause| failed(folder, "read", cause))? {
            let name = entry.map_err(|cause| failed(folder, "read", cause))?.file_name();
            let name = name.to_string_lossy();
            let number = |text: &str| text.parse::<u64>().ok();
            if let Some(middle) = name.strip_prefix("lessons-").and_then(|rest| rest.strip_suffix(".journal"))
            {
                names.journals.extend(number(middle));
            }
            let middle = name.strip_prefix("model-").and_then(|rest| rest.strip_suffix(".priory"));
            if let Some((generation, end)) = middle.and_then(|middle| middle.split_once('-')) {
                let place = number(generation).zip(number(end));
                names.models.extend(place.map(|(generation, end)| Place { generation, end }));
            }
        }
        Ok(names)
    }

    fn newest_journal(&self) -> Option<u64> {
        self.journals.iter().max().copied()
    }

    fn newest_model(&self) -> Option<Place> {
        self.models.iter().max().copied()
    }
}

/// A class is a word that can stand in a header, a path or a command.
fn check_class(class: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    let is_word = !class.is_empty() && class.len() <= 64 && class.chars().all(is_plain);
    match is_word && !class.starts_with(['.', '-']) && class != "unsure" {
        true => Ok(()),
        false => Err(Error::Class { class: crate::error::shown(class) }),
    }
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Writes a key where there is none: of several who try at once, one succeeds.
fn write_key(path: &Path, key: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        io::Write::write_all(&mut file, key)?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error.error),
            Ok(_) => Ok(()),
        }
    });
    written.map_err(|cause| failed(path, "written", cause))
}

fn failed(path: &Path, action: &'static str, cause: io::Error) -> Error {
    Error::File { name: path.display().to_string(), action, cause }
}

fn damaged(path: &Path, why: &str) -> Error {
    failed(path, "read", io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests;

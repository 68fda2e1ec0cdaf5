//! A model that is served: readers take what is current, one thread makes changes durable, and another works out what follows from
//! them and writes the model file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self as tasks, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use priory_input::store;
use tokio::sync::{mpsc, oneshot, watch};

use crate::books::{self, Books, Done, Error, NotDone, Result, Stamp};
use crate::change::Change;
use crate::drift::Drift;
use crate::frozen::Frozen;
use crate::held;
use crate::log::{Level, log};
use crate::options::Options;

/// What readers see.
#[derive(Clone)]
pub(crate) struct Current {
    /// The hash of a file, and how many changes came after it.
    pub(crate) version: String,
    /// Which changes are in it.
    moment: u64,
    /// The model, or why there is none.
    pub(crate) frozen: std::result::Result<Arc<Frozen>, Arc<str>>,
}

/// A model that is served.
pub(crate) struct Hosted {
    pub(crate) name: String,
    pub(crate) drift: Drift,
    current: watch::Receiver<Arc<Current>>,
    writer: Option<Writer>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What changes a model.
struct Writer {
    books: Arc<Mutex<Books>>,
    orders: Mutex<Option<mpsc::Sender<Order>>>,
    tasks: tasks::Sender<Task>,
}

/// What readers, the keeper and the maintainer share.
#[derive(Default)]
struct Shared {
    /// Up to which moment changes were acknowledged.
    acknowledged: AtomicU64,
    /// Readers that wait for the latest model.
    waiting: AtomicUsize,
    /// Whether the maintainer was told that there are changes.
    is_told: AtomicBool,
    stop: AtomicBool,
    pub(crate) counters: Counters,
}

/// What happened to a model, for those who watch over it.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) files_written: AtomicU64,
    pub(crate) reloads: AtomicU64,
    pub(crate) refused_files: AtomicU64,
}

/// A change, and who waits for it.
struct Order(Change, oneshot::Sender<std::result::Result<Done, NotDone>>);

/// What the maintainer is told.
enum Task {
    Changed,
    RollBack(Option<String>, oneshot::Sender<Result<String>>),
}

impl Hosted {
    /// Opens a model.
    ///
    /// # Errors
    /// If it cannot be read, what is kept of it does not fit together, or another process serves it.
    pub(crate) fn open(name: &str, path: &Path, options: &Options) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut threads = Vec::new();
        let (publisher, current, writer) = if options.read_only {
            let stamp = Stamp::of(path);
            let (publisher, current) = watch::channel(Arc::new(read(path, 0)?));
            let maintainer =
                ReadOnly { path: path.to_owned(), stamp, shared: Arc::clone(&shared), publisher };
            let (name, every) = (name.to_owned(), options.look_every);
            threads.push(spawn("priory-look", move || maintainer.run(&name, every))?);
            (None, current, None)
        } else {
            let books = Books::open(path, options.versions)?;
            let snapshot = books.snapshot();
            let (publisher, current) = watch::channel(Arc::new(Current::of(snapshot)));
            let books = Arc::new(Mutex::new(books));
            let (orders, waiting) = mpsc::channel(MOST_ORDERS);
            let (tasks, to_do) = tasks::channel();
            let keeper = (Arc::clone(&books), Arc::clone(&shared), tasks.clone());
            threads.push(spawn("priory-keep", move || keep(&keeper.0, &keeper.1, waiting, &keeper.2))?);
            (
                Some((publisher, to_do)),
                current,
                Some(Writer { books, orders: Mutex::new(Some(orders)), tasks }),
            )
        };
        if let (Some((publisher, to_do)), Some(writer)) = (publisher, &writer) {
            let maintainer = Maintainer {
                name: name.to_owned(),
                books: Arc::clone(&writer.books),
                shared: Arc::clone(&shared),
                publisher,
                rewrite_after: options.rewrite_after,
                look_every: options.look_every,
            };
            threads.push(spawn("priory-maintain", move || maintainer.run(&to_do))?);
        }
        let threads = Mutex::new(threads);
        let (name, drift) = (name.to_owned(), Drift::default());
        Ok(Hosted { name, drift, current, writer, shared, threads })
    }

    /// The model that is ready.
    pub(crate) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.borrow())
    }

    /// The model that has every change that was acknowledged before.
    pub(crate) async fn latest(&self) -> Arc<Current> {
        let moment = self.shared.acknowledged.load(Ordering::Acquire);
        let mut current = self.current.clone();
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let found = current.wait_for(|current| current.moment >= moment).await;
        let found = found.map_or_else(|_| self.current(), |found| Arc::clone(&found));
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        found
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// How many changes wait for being written into the model file, and how many bytes they take.
    pub(crate) fn journal(&self) -> Option<(u64, u64)> {
        let books = held(&self.writer.as_ref()?.books);
        Some((books.changes(), books.journal_size()))
    }

    /// The versions that are kept, the oldest first, and which of them changes are added to.
    pub(crate) fn versions(&self) -> Vec<(String, bool)> {
        let Some(writer) = &self.writer else { return Vec::new() };
        let books = held(&writer.books);
        let base = books.base().clone();
        books.versions().into_iter().map(|version| (version.hash.clone(), version == base)).collect()
    }

    /// Makes a change. `None` if too many wait already, or the server is being ended.
    pub(crate) async fn change(&self, change: Change) -> Option<std::result::Result<Done, NotDone>> {
        let orders = held(&self.writer.as_ref()?.orders).clone()?;
        let (answer, answered) = oneshot::channel();
        orders.try_send(Order(change, answer)).ok()?;
        answered.await.ok()
    }

    /// Goes back to an earlier version; `None` if the server is being ended.
    pub(crate) async fn roll_back(&self, version: Option<String>) -> Option<Result<String>> {
        let writer = self.writer.as_ref()?;
        let (answer, answered) = oneshot::channel();
        writer.tasks.send(Task::RollBack(version, answer)).ok()?;
        answered.await.ok()
    }

    /// Ends the threads, after everything that was asked for is done and the model file is written.
    pub(crate) fn close(&self) {
        let mut threads = std::mem::take(&mut *held(&self.threads)).into_iter();
        if let Some(writer) = &self.writer {
            // The keeper ends when nobody can ask it for anything any more.
            drop(held(&writer.orders).take());
            threads.next().map(JoinHandle::join);
        }
        self.shared.stop.store(true, Ordering::Release);
        if let Some(writer) = &self.writer {
            let _ = writer.tasks.send(Task::Changed);
        }
        threads.for_each(|thread| drop(thread.join()));
        if let Some(writer) = &self.writer {
            held(&writer.books).release();
        }
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        self.close();
    }
}

/// So many changes may wait for being written.
const MOST_ORDERS: usize = 1_024;
/// So many bytes are written at once.
const MOST_BYTES: usize = 32 << 20;
/// A journal of so many bytes is written into the model file at once.
const LONG_JOURNAL: u64 = 64 << 20;

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let spawned = thread::Builder::new().name(name.into()).spawn(work);
    spawned.map_err(|error| Error::Contradiction(format!("no thread can be started: {error}")))
}

/// Makes changes as they come: all that have come are on disk before the first of them is acknowledged.
fn keep(
    books: &Mutex<Books>,
    shared: &Shared,
    mut orders: mpsc::Receiver<Order>,
    tasks: &tasks::Sender<Task>,
) {
    while let Some(first) = orders.blocking_recv() {
        let mut bytes = first.0.body.len();
        let mut group = vec![first];
        while bytes < MOST_BYTES
            && let Ok(next) = orders.try_recv()
        {
            bytes += next.0.body.len();
            group.push(next);
        }
        let changes: Vec<&Change> = group.iter().map(|order| &order.0).collect();
        let results = {
            let mut books = held(books);
            let results = books.commit(&changes);
            shared.acknowledged.store(books.moment(), Ordering::Release);
            results
        };
        shared.counters.commits.fetch_add(1, Ordering::Relaxed);
        if !shared.is_told.swap(true, Ordering::AcqRel) {
            let _ = tasks.send(Task::Changed);
        }
        for (Order(_, answer), result) in group.into_iter().zip(results) {
            // Whoever has asked may have gone.
            let _ = answer.send(result);
        }
    }
}

impl Current {
    fn of(snapshot: books::Snapshot) -> Self {
        let frozen = Frozen::new(snapshot.learnt).map(Arc::new).map_err(|error| error.to_string().into());
        Current { version: snapshot.version, moment: snapshot.moment, frozen }
    }
}

/// Works out models, writes model files and looks whether somebody else has replaced them.
struct Maintainer {
    name: String,
    books: Arc<Mutex<Books>>,
    shared: Arc<Shared>,
    publisher: watch::Sender<Arc<Current>>,
    rewrite_after: Duration,
    look_every: Duration,
}

impl Maintainer {
    fn run(&self, tasks: &tasks::Receiver<Task>) {
        let (mut looked, mut changed) = (Instant::now(), None);
        loop {
            let task = tasks.recv_timeout(self.look_every);
            if self.shared.stop.load(Ordering::Acquire) {
                self.publish();
                self.fold();
                return;
            }
            match task {
                Ok(Task::RollBack(version, answer)) => {
                    let done = books::roll_back(&self.books, version.as_deref());
                    let done = done.map(|()| {
                        self.publish();
                        held(&self.books).version()
                    });
                    let _ = answer.send(done);
                }
                Ok(Task::Changed) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.publish();
            let (changes, size) = {
                let books = held(&self.books);
                (books.changes(), books.journal_size())
            };
            let first = *changed.get_or_insert_with(Instant::now);
            if changes == 0 {
                changed = None;
            } else if first.elapsed() >= self.rewrite_after || size > LONG_JOURNAL {
                self.fold();
                changed = None;
            }
            if looked.elapsed() >= self.look_every {
                self.look();
                looked = Instant::now();
            }
        }
    }

    /// Lets readers see what was learnt.
    fn publish(&self) {
        self.shared.is_told.store(false, Ordering::Release);
        let seen = self.publisher.borrow().clone();
        let (moment, version) = {
            let books = held(&self.books);
            (books.moment(), books.version())
        };
        if moment == seen.moment && version == seen.version {
            return;
        }
        if moment == seen.moment {
            // The same was written into a file and has another name now.
            self.publisher.send_replace(Arc::new(Current { version, ..(*seen).clone() }));
            return;
        }
        let begun = Instant::now();
        let snapshot = held(&self.books).snapshot();
        self.shared.acknowledged.fetch_max(snapshot.moment, Ordering::AcqRel);
        self.publisher.send_replace(Arc::new(Current::of(snapshot)));
        // Whoever learns all the time must not take a processor from those who ask.
        if self.shared.waiting.load(Ordering::Relaxed) == 0 && !self.shared.stop.load(Ordering::Acquire) {
            thread::sleep(begun.elapsed().min(Duration::from_millis(200)));
        }
    }

    fn fold(&self) {
        match books::fold(&self.books) {
            Ok(books::Folded::Written) => {
                self.shared.counters.files_written.fetch_add(1, Ordering::Relaxed);
                let version = held(&self.books).version();
                log(
                    Level::Info,
                    "the model file was written",
                    &[("model", &self.name), ("version", &version)],
                );
                self.publish();
            }
            Ok(books::Folded::Unchanged) => {}
            Ok(books::Folded::Foreign) => self.look(),
            Err(error) => {
                let why = error.to_string();
                log(
                    Level::Error,
                    "the model file cannot be written",
                    &[("model", &self.name), ("why", &why)],
                );
            }
        }
    }

    fn look(&self) {
        match books::look(&self.books) {
            Ok(false) => {}
            Ok(true) => {
                self.shared.counters.reloads.fetch_add(1, Ordering::Relaxed);
                let version = held(&self.books).version();
                log(
                    Level::Info,
                    "the model file was replaced",
                    &[("model", &self.name), ("version", &version)],
                );
                self.publish();
            }
            Err(error) => refused(&self.name, &self.shared.counters, &error),
        }
    }
}

fn refused(name: &str, counters: &Counters, error: &Error) {
    counters.refused_files.fetch_add(1, Ordering::Relaxed);
    log(Level::Error, "a new model file was refused", &[("model", name), ("why", &error.to_string())]);
}

/// Looks whether a model that nobody may change here was replaced.
struct ReadOnly {
    path: PathBuf,
    stamp: Option<Stamp>,
    shared: Arc<Shared>,
    publisher: watch::Sender<Arc<Current>>,
}

impl ReadOnly {
    fn run(mut self, name: &str, every: Duration) {
        const STEP: Duration = Duration::from_millis(50);
        let mut looked = Instant::now();
        while !self.shared.stop.load(Ordering::Acquire) {
            thread::sleep(STEP.min(every));
            if looked.elapsed() < every {
                continue;
            }
            looked = Instant::now();
            let stamp = Stamp::of(&self.path);
            if stamp.is_none() || stamp == self.stamp {
                continue;
            }
            self.stamp = stamp;
            let seen = self.publisher.borrow().clone();
            match read(&self.path, seen.moment + 1) {
                Ok(current) if current.version == seen.version => {}
                Ok(current) => {
                    self.shared.counters.reloads.fetch_add(1, Ordering::Relaxed);
                    let version = current.version.clone();
                    self.publisher.send_replace(Arc::new(current));
                    log(
                        Level::Info,
                        "the model file was replaced",
                        &[("model", name), ("version", &version)],
                    );
                }
                Err(error) => refused(name, &self.shared.counters, &error),
            }
        }
    }
}

fn read(path: &Path, moment: u64) -> Result<Current> {
    let bytes = store::read_bytes(path)?;
    let learnt = books::read(path, &bytes)?;
    let frozen = Frozen::new(learnt).map(Arc::new).map_err(|error| error.to_string().into());
    Ok(Current { version: books::hash_of(&bytes), moment, frozen })
}

//! Tables that are looked at more than once.

use std::fs::File;
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

use anyhow::{Context, Result};
use priory::{Batch, Evaluation, FoldParts, Schema, Statistics};
use priory_input::{Purpose, ReadOptions, Reader, Table, Turn};

use crate::data;
use crate::progress::Progress;

/// Batches that take more memory than this together are not kept; the tables are read again instead.
const MOST_KEPT: usize = 256 << 20;

/// Some tables, and how to read them.
pub(crate) struct Tables {
    sources: Vec<Source>,
    pub(crate) options: ReadOptions,
    pub(crate) threads: usize,
}

enum Source {
    File(String),
    /// Standard input and pipes can be read only once, so they are kept in a temporary file.
    Kept {
        name: String,
        file: tempfile::NamedTempFile,
    },
}

/// What is looked at again of every batch; `None` if it was too much to keep.
pub(crate) type Kept<K> = Option<Vec<K>>;

/// Something that can be kept.
pub(crate) trait Keep: Send + Sync {
    /// About how many bytes it takes.
    fn memory(&self) -> usize;
}

impl Keep for Batch {
    fn memory(&self) -> usize {
        Batch::memory(self)
    }
}

impl Keep for FoldParts {
    fn memory(&self) -> usize {
        FoldParts::memory(self)
    }
}

impl Tables {
    pub(crate) fn new(paths: &[String], options: ReadOptions, threads: usize) -> Result<Self> {
        let sources = paths.iter().map(|path| Source::new(path)).collect::<Result<_>>()?;
        Ok(Tables { sources, options, threads })
    }

    pub(crate) fn open_first(&self) -> Result<Table> {
        self.sources[0].open(&self.options)
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = Result<Table>> {
        self.sources.iter().map(|source| source.open(&self.options))
    }

    pub(crate) fn learn(&self, schema: &Schema) -> Result<Statistics> {
        let mut all = Statistics::empty(schema);
        for table in self.open() {
            all.merge(&data::learn(table?, &Statistics::empty(schema), self.threads)?.0)?;
            all.check_size()?;
        }
        Ok(all)
    }

    /// Takes every batch of every table through `step` on several threads; returns their states.
    pub(crate) fn fold<S: Send>(
        &self,
        schema: &Schema,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.read(schema, |reader| data::fold(reader, self.threads, &start, &step))
    }

    /// Hands every table to `each`, and returns what it gives for all of them.
    fn read<S>(&self, schema: &Schema, mut each: impl FnMut(&Reader) -> Result<Vec<S>>) -> Result<Vec<S>> {
        let mut states = Vec::new();
        for table in self.open() {
            states.extend(each(&table?.reader(schema, Purpose::Learning)?)?);
        }
        Ok(states)
    }

    /// The same, and keeps what `step` returns for [`evaluate`](Self::evaluate), unless it is too much.
    pub(crate) fn fold_and_keep<S: Send, K: Keep>(
        &self,
        schema: &Schema,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<K> + Sync,
    ) -> Result<(Vec<S>, Kept<K>)> {
        let memory = AtomicUsize::new(0);
        let start = || (start(), Vec::new());
        let states = self.fold(schema, start, |(state, kept), batch, turn| {
            let item = step(state, batch, turn)?;
            let size = item.memory();
            if memory.fetch_add(size, Ordering::Relaxed) + size <= MOST_KEPT {
                kept.push(item);
            } else {
                *kept = Vec::new(); // some would be of no use
            }
            Ok(())
        })?;
        let (states, kept): (Vec<S>, Vec<Vec<K>>) = states.into_iter().unzip();
        let is_everything = memory.into_inner() <= MOST_KEPT;
        Ok((states, is_everything.then(|| kept.into_iter().flatten().collect())))
    }

    /// Evaluates everything that was kept; or all tables once more, with what `look` makes of each batch.
    pub(crate) fn evaluate<K: Keep>(
        &self,
        kept: &Kept<K>,
        schema: &Schema,
        look: impl Fn(&Batch, &Turn<'_>) -> priory_input::Result<K> + Sync,
        step: impl Fn(&mut Evaluation, &K) -> priory::Result<()> + Sync,
    ) -> Result<Evaluation> {
        let evaluations = match kept {
            Some(kept) => evaluate_kept(kept, self.threads, step)?,
            None => self.read(schema, |reader| {
                data::fold_again(reader, self.threads, Evaluation::new, |evaluation, batch, turn| {
                    Ok(step(evaluation, &look(batch, turn)?)?)
                })
            })?,
        };
        Ok(merged(evaluations))
    }
}

/// All evaluations together.
pub(crate) fn merged(evaluations: Vec<Evaluation>) -> Evaluation {
    let mut evaluations = evaluations.into_iter();
    let mut all = evaluations.next().unwrap_or_default();
    evaluations.for_each(|evaluation| all.merge(&evaluation));
    all
}

fn evaluate_kept<K: Keep>(
    kept: &[K],
    threads: usize,
    step: impl Fn(&mut Evaluation, &K) -> priory::Result<()> + Sync,
) -> priory::Result<Vec<Evaluation>> {
    let all: usize = kept.iter().map(Keep::memory).sum();
    let progress = Mutex::new(Progress::new(Some(all as u64)));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut evaluation = Evaluation::new();
        while let Some(item) = kept.get(next.fetch_add(1, Ordering::Relaxed)) {
            step(&mut evaluation, item)?;
            let done = done.fetch_add(item.memory(), Ordering::Relaxed) + item.memory();
            if let Ok(mut progress) = progress.try_lock() {
                progress.advance(done as u64);
            }
        }
        evaluation.tidy_up(); // while the other threads do the same
        Ok(evaluation)
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |handle: thread::ScopedJoinHandle<'_, priory::Result<Evaluation>>| {
            handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        };
        handles.into_iter().map(join).collect()
    })
}

impl Source {
    fn new(path: &str) -> Result<Self> {
        if path == "-" {
            return Source::keep("standard input", &mut std::io::stdin());
        }
        match File::open(path) {
            Ok(mut file) if file.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir()) => {
                Source::keep(path, &mut file)
            }
            // What cannot be opened is reported where every table is opened.
            _ => Ok(Source::File(path.to_owned())),
        }
    }

    fn keep(name: &str, from: &mut impl Read) -> Result<Self> {
        let mut file = tempfile::NamedTempFile::new().context("a temporary file cannot be made")?;
        std::io::copy(from, &mut file)
            .with_context(|| format!("{name}: cannot be kept in a temporary file"))?;
        Ok(Source::Kept { name: name.to_owned(), file })
    }

    fn open(&self, options: &ReadOptions) -> Result<Table> {
        match self {
            Source::File(path) => Ok(Table::open(path, options)?),
            Source::Kept { name, file } => {
                let file = file.reopen().with_context(|| format!("{name}: cannot be read again"))?;
                Ok(Table::from_reader(name, file, options)?)
            }
        }
    }
}

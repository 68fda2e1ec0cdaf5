//! Adding up what many model files hold, on several threads. Each thread holds one sum and the file that it reads at the moment,
//! so thousands of files take no more memory than a few.

use std::panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use priory::Learnt;

use crate::error::{Error, Result};
use crate::store::read_model;
use crate::work::Work;

/// What many model files hold together.
#[derive(Debug)]
pub struct Merged {
    /// The sum. Its settings are those of the first file.
    pub learnt: Learnt,
    /// Whether any of the files had been judged.
    pub was_judged: bool,
    /// The files that have other settings than the first.
    pub other_settings: Vec<PathBuf>,
}

impl Work<'_> {
    /// Adds up model files. The progress is counted in files.
    ///
    /// # Errors
    /// If a file cannot be read, or is not of the same table as the first; of several such files the first is named. If all of
    /// them together are more than memory should hold.
    ///
    /// # Panics
    /// If there is no file.
    pub fn merge(&self, files: &[PathBuf]) -> Result<Merged> {
        let (first, others) = files.split_first().expect("there is a file to begin with");
        self.watch.begin(Some(files.len() as u64));
        let first = First { file: first, learnt: read_model(first)? };
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let failure_now = || failure.lock().unwrap_or_else(PoisonError::into_inner);
        let sum_up = || {
            let mut part = Part::default();
            // Files are handed out in order, and whoever has one finishes it, so the first that is refused is always found.
            while failure_now().is_none() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = others.get(number) else { break };
                let added = part.add(file, &first);
                if let Err(error) = added.and_then(|()| self.watch.advance(number as u64 + 2)) {
                    let mut failure = failure_now();
                    if failure.as_ref().is_none_or(|&(earliest, _)| number < earliest) {
                        *failure = Some((number, error));
                    }
                }
            }
            part
        };
        let parts: Vec<Part> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads.min(others.len())).map(|_| scope.spawn(sum_up)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, Part>| {
                thread.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
            };
            threads.into_iter().map(join).collect()
        });
        if let Some((_, error)) = failure_now().take() {
            return Err(error);
        }
        first.plus(parts)
    }
}

/// The first file, with which all others are compared.
struct First<'a> {
    file: &'a Path,
    learnt: Learnt,
}

impl First<'_> {
    fn plus(self, parts: Vec<Part>) -> Result<Merged> {
        let was_judged = self.learnt.is_judged();
        let mut merged = Merged { learnt: self.learnt, was_judged, other_settings: Vec::new() };
        for part in parts {
            merged.was_judged |= part.was_judged;
            merged.other_settings.extend(part.other_settings);
            if let Some(sum) = part.sum {
                merged.learnt.merge(&sum).map_err(|cause| in_file(self.file, cause))?;
            }
        }
        merged.other_settings.sort_unstable();
        Ok(merged)
    }
}

/// What one thread has added up.
#[derive(Default)]
struct Part {
    sum: Option<Learnt>,
    was_judged: bool,
    other_settings: Vec<PathBuf>,
}

impl Part {
    fn add(&mut self, file: &Path, first: &First<'_>) -> Result<()> {
        let learnt = read_model(file)?;
        let is_like_first = first.learnt.statistics.check_same_table(&learnt.statistics);
        let pair = || format!("{} and {}", first.file.display(), file.display());
        is_like_first.map_err(|cause| Error::Use { name: pair(), cause })?;
        self.was_judged |= learnt.is_judged();
        if learnt.settings != first.learnt.settings {
            self.other_settings.push(file.to_owned());
        }
        match &mut self.sum {
            Some(sum) => sum.merge(&learnt).map_err(|cause| in_file(file, cause)),
            None => {
                self.sum = Some(learnt);
                Ok(())
            }
        }
    }
}

fn in_file(file: &Path, cause: priory::Error) -> Error {
    Error::Use { name: file.display().to_string(), cause }
}

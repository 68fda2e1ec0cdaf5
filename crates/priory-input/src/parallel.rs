//! A table worked through on several threads.
//!
//! Each thread has a state of its own and takes the next batch when it is done with the last. Work that must happen in
//! the order of the rows, such as writing predictions, waits for its [`Turn`].

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use priory::Batch;

use crate::error::{Error, Result};
use crate::kept::KeptColumn;
use crate::reader::{InBlock, Reader, held};

/// Runs `step` on every batch of a table on several threads, each with its own state made by `start`, and returns the
/// states. Which thread gets which batch is not determined, so the states taken together must not depend on it.
///
/// Batches count their rows from 1; errors of `step` that name a row are corrected to the row of the table.
///
/// # Errors
/// The first error in the order of the rows.
pub fn fold<S: Send>(
    reader: &Reader,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, &Batch, &Turn<'_>) -> Result<()> + Sync,
) -> Result<Vec<S>> {
    let shared = Shared::default();
    let work = || {
        let mut state = start();
        let mut batch = reader.empty_batch();
        let mut worker = reader.worker();
        while !shared.stopped.load(Ordering::Relaxed) {
            let block = match worker.read(&mut batch) {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err(failure) => {
                    shared.fail(failure);
                    break;
                }
            };
            let guard = PanicGuard { shared: &shared, block };
            let turn = Turn { shared: &shared, block, kept: worker.kept() };
            if let Err(error) = step(&mut state, &batch, &turn) {
                shared.fail(InBlock { block, error });
                break;
            }
            drop(guard);
        }
        state
    };
    let states = if threads <= 1 {
        vec![work()]
    } else {
        thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
                .collect()
        })
    };
    match shared.into_first_error() {
        None => Ok(states),
        Some(InBlock { block, mut error }) => {
            error.add_rows(reader.rows_before(block));
            Err(error.in_file(reader.name()))
        }
    }
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    first_error: Mutex<Option<InBlock>>,
    /// The block whose turn it is.
    next: Mutex<usize>,
    passed: Condvar,
}

impl Shared {
    /// Keeps the error that comes first in the table. All earlier blocks have been handed out, so their errors will be
    /// reported too.
    fn fail(&self, failure: InBlock) {
        let mut first = held(&self.first_error);
        if first.as_ref().is_none_or(|first| failure.block < first.block) {
            *first = Some(failure);
        }
        // A thread that waits for its turn takes this lock while it holds that of `next`. Holding both here, in the
        // other order, could deadlock.
        drop(first);
        self.stopped.store(true, Ordering::Relaxed);
        // While this lock is held, no thread is between checking for a failure and going to sleep, so none misses the
        // notification.
        let _next = held(&self.next);
        self.passed.notify_all();
    }

    fn failed_before(&self, block: usize) -> bool {
        held(&self.first_error).as_ref().is_some_and(|first| first.block < block)
    }

    fn into_first_error(self) -> Option<InBlock> {
        self.first_error.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a step knows of a batch besides its rows: its place in the table, and the columns that pass through.
pub struct Turn<'a> {
    shared: &'a Shared,
    block: usize,
    kept: &'a [KeptColumn],
}

impl Turn<'_> {
    /// The columns that [`Table::keep`](crate::Table::keep) named, with a value for each row of the batch.
    pub fn kept(&self) -> &[KeptColumn] {
        self.kept
    }

    /// How many rows of the table come before this batch. This takes the batch's turn.
    ///
    /// # Errors
    /// As for [`take`](Self::take).
    pub fn rows_before(&self, reader: &Reader) -> Result<u64> {
        self.take(|| Ok(reader.rows_before(self.block)))
    }

    /// Waits until every batch before this one has had its turn, and then does `work`, while those after it wait.
    /// Either every batch of a table takes its turn, once, or none does.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::Stopped`] if an earlier batch failed, in which case `work` is not done.
    pub fn take<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let mut next = held(&self.shared.next);
        while *next != self.block {
            if self.shared.failed_before(self.block) {
                return Err(Error::Stopped);
            }
            next = self.shared.passed.wait(next).unwrap_or_else(PoisonError::into_inner);
        }
        let result = work();
        // After an error the turn is not passed on, so that no later batch takes its turn.
        if result.is_ok() {
            *next += 1;
            self.shared.passed.notify_all();
        }
        result
    }
}

/// Tells the others if a thread panics, so that none waits for a turn that never comes.
struct PanicGuard<'a> {
    shared: &'a Shared,
    block: usize,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.fail(InBlock { block: self.block, error: Error::Stopped });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that fails and one that waits for its turn need both locks, and must not wait for each other.
    #[test]
    fn a_failure_ends_every_wait() {
        for _ in 0..20_000 {
            let shared = Shared::default();
            thread::scope(|scope| {
                scope.spawn(|| shared.fail(InBlock { block: 0, error: Error::Stopped }));
                let message = Turn { shared: &shared, block: 1, kept: &[] }.take(|| Ok(()));
                assert!(matches!(message, Err(Error::Stopped)));
            });
        }
    }
}

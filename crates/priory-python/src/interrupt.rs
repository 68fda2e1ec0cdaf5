//! Work that Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{panic, thread};

use priory_input::{Watch, Work};
use pyo3::prelude::*;

use crate::error::of_input;
use crate::table::{PyTable, Spellings};
use crate::work::threads;

/// Calls Python for a table whenever one is needed, on whatever thread that is.
pub(crate) struct Opener {
    pub(crate) open: Py<PyAny>,
    spellings: Spellings,
    /// What Python had against it.
    refused: Mutex<Option<PyErr>>,
}

impl Opener {
    /// Whole numbers are spelt as a model knows them, if there is one.
    pub(crate) fn new(open: Py<PyAny>, spellings: Spellings) -> Self {
        Opener { open, spellings, refused: Mutex::new(None) }
    }

    pub(crate) fn table(&self) -> priory_input::Result<priory_input::Table> {
        let opened = Python::attach(|py| {
            self.open.bind(py).call0()?.cast::<PyTable>()?.get().open_spelt(&self.spellings)
        });
        opened.map_err(|error| {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            priory_input::Error::Stopped
        })
    }

    /// What came of the work, or what Python had against it.
    pub(crate) fn check<R>(self, done: PyResult<R>) -> PyResult<R> {
        match self.refused.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => done,
        }
    }
}

/// Ends work between two batches when it was interrupted.
#[derive(Default)]
struct Interruption(AtomicBool);

impl Watch for Interruption {
    fn advance(&self, _: u64) -> priory_input::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(priory_input::Error::Stopped),
            false => Ok(()),
        }
    }
}

/// Up to this many rows are worked on by the thread that asks. To start another takes some 70 µs on a machine with two processors,
/// in which a hundred rows and more of 14 columns are scored, and nobody presses Ctrl-C meanwhile.
const FEW: usize = 256;

/// Does work on so many rows, if that is known: at once if they are few, and else as [`interruptible`].
pub(crate) fn quick_or_interruptible<R: Send>(
    py: Python<'_>,
    rows: Option<usize>,
    work: impl FnOnce(&Work<'_>) -> priory_input::Result<R> + Send,
) -> PyResult<R> {
    if rows.is_none_or(|rows| rows > FEW) {
        return interruptible(py, work);
    }
    on_this_thread(py, work)
}

/// Does work on the thread that asks and on no other, and looks for no Ctrl-C.
pub(crate) fn on_this_thread<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Work<'_>) -> priory_input::Result<R> + Send,
) -> PyResult<R> {
    let interruption = Interruption::default();
    py.detach(|| work(&Work { threads: 1, watch: &interruption })).map_err(of_input)
}

/// Does work on another thread while this one looks for Ctrl-C.
pub(crate) fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Work<'_>) -> priory_input::Result<R> + Send,
) -> PyResult<R> {
    const PATIENCE: Duration = Duration::from_millis(50);
    let interruption = Interruption::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let interruption = &interruption;
            let worker = scope.spawn(move || {
                let result = work(&Work { threads: threads(), watch: interruption });
                // Whoever waits is still there.
                let _ = send.send(result);
            });
            let mut interrupted = Ok(());
            let result = loop {
                match receive.recv_timeout(PATIENCE) {
                    Ok(result) => break result,
                    Err(RecvTimeoutError::Timeout) if interrupted.is_ok() => {
                        interrupted = Python::attach(|py| py.check_signals());
                        interruption.0.store(interrupted.is_err(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        let panicked = worker.join().err();
                        panic::resume_unwind(panicked.unwrap_or_else(|| Box::new("a thread ended early")));
                    }
                }
            };
            interrupted.and_then(|()| result.map_err(of_input))
        })
    })
}

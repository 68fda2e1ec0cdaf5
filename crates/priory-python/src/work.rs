//! Work shared out among threads while Python goes on.

use std::panic;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How many threads are used; 0 for as many as there are processors.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Ctrl-C is looked for this often.
const PATIENCE: Duration = Duration::from_millis(50);

/// Sets how many threads are used; `None` for as many as there are processors. The result of no computation depends on it.
#[pyfunction]
#[pyo3(signature = (n=None))]
pub(crate) fn set_threads(n: Option<usize>) -> PyResult<()> {
    if n.is_some_and(|n| !(1..=1024).contains(&n)) {
        return Err(PyValueError::new_err("the number of threads lies between 1 and 1024"));
    }
    THREADS.store(n.unwrap_or(0), Ordering::Relaxed);
    Ok(())
}

/// How many threads are used.
#[pyfunction]
pub(crate) fn threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// Takes every item through `step` on several threads, each with a state made by `start`, and returns the states. Which
/// thread gets which item is chance, so what the states hold together must not depend on it.
pub(crate) fn fold<T: Send, S: Send>(
    py: Python<'_>,
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    start: impl Fn() -> S + Sync + Send,
    step: impl Fn(&mut S, T) -> PyResult<()> + Sync + Send,
) -> PyResult<Vec<S>> {
    let (items, stopped) = (Mutex::new(items), AtomicBool::new(false));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |look: &dyn Fn() -> PyResult<()>| -> PyResult<S> {
        let mut state = start();
        let mut looked = Instant::now();
        while !stopped.load(Ordering::Relaxed)
            && let Some(item) = next()
        {
            let mut done = step(&mut state, item);
            if done.is_ok() && looked.elapsed() > PATIENCE {
                done = look();
                looked = Instant::now();
            }
            if let Err(error) = done {
                stopped.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(state)
    };
    py.detach(|| {
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work(&|| Ok(())))).collect();
            // Only the thread that called sees signals.
            let own = work(&|| Python::attach(|py| py.check_signals()));
            let others: Vec<PyResult<S>> = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
                .collect();
            std::iter::once(own).chain(others).collect()
        })
    })
}

/// Rows, a block at a time: this many values or more, but no fewer blocks than threads can share.
pub(crate) struct Blocks {
    pub(crate) rows: usize,
    pub(crate) block: usize,
}

impl Blocks {
    /// `values` is how many values a block should have, of rows with this many columns.
    pub(crate) fn new(rows: usize, columns: usize, values: usize) -> Self {
        let block = (values / columns.max(1)).max(1);
        Blocks { rows, block: block.min(rows.max(1)) }
    }

    /// The same rows, in blocks that have no more than this many of them.
    pub(crate) fn of_at_most(self, rows: usize) -> Self {
        Blocks { rows: self.rows, block: self.block.min(rows) }
    }

    pub(crate) fn threads(&self) -> usize {
        threads().min(self.rows.div_ceil(self.block)).max(1)
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + Send + use<> {
        let (rows, block) = (self.rows, self.block);
        (0..rows).step_by(block).map(move |start| start..(start + block).min(rows))
    }
}

//! What several threads of Python read and change.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::Python;
use pyo3::sync::MutexExt;

/// A value that one thread changes at a time, while others go on with what it was when they asked.
///
/// No work is done with the lock held, and no thread waits for it while it holds Python's lock: so the two cannot
/// deadlock, and a signal that is handled in the middle of long work may use the same value.
pub(crate) struct Shared<T>(Mutex<Arc<T>>);

impl<T: Clone + Send + Sync> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared(Mutex::new(Arc::new(value)))
    }

    /// The value as it is now.
    pub(crate) fn now(&self, py: Python<'_>) -> Arc<T> {
        Arc::clone(&self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the value; in its place, unless somebody still works with it.
    pub(crate) fn change<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut T) -> R + Send) -> R {
        let mut value = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let value = &mut *value;
        py.detach(|| change(Arc::make_mut(value)))
    }
}

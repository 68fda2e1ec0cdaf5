//! Libraries that read formats of others: their panics and what they say become errors like any other here.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::error::{Error, Result};

/// Runs what reads bytes that anybody may have written. The libraries may panic at them, which is an error like any
/// other here, and nothing that a user should see.
pub(crate) fn guarded<R>(name: &str, format: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            if !GUARDED.get() {
                usual(information);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.unwrap_or_else(|_| {
        Err(Error::Damaged { name: name.into(), format, cause: "it cannot be decoded".into() })
    })
}

thread_local! {
    /// Whether a panic of this thread is caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The error for a file that a library refuses.
pub(crate) fn damaged(name: &str, format: &'static str, cause: &dyn std::fmt::Display) -> Error {
    // What the libraries say may have several lines; one sentence is enough.
    let cause = cause.to_string().lines().next().unwrap_or_default().chars().take(200).collect();
    Error::Damaged { name: name.into(), format, cause }
}

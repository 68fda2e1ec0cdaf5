//! Models over HTTP: they predict and explain, and whoever knows the token lets them learn and forget.
//!
//! [`app`] is a router for a [`Server`], which any program can mount; [`serve`] listens and keeps clients in bounds.
//!
//! ```no_run
//! use priory_server::{Options, Server, serve};
//!
//! let server = Server::open(&[("spam".to_owned(), "spam.priory".into())], Options::default())?;
//! serve(server, "127.0.0.1:8080".parse()?, |address| eprintln!("http://{address}/"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A request goes this way:
//!
//! ```text
//! connection --limits--> route --rows--> Batch --score--> answer
//!                                        Change --keeper--> journal --maintainer--> model, model file
//! ```

mod answer;
mod books;
mod change;
mod describe;
mod drift;
mod frozen;
mod hosted;
mod lines;
mod listen;
mod log;
mod metrics;
mod options;
mod page;
mod refusal;
mod requests;
mod routes;
mod rows;
mod server;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use books::Error;
pub use listen::serve;
pub use options::Options;
pub use routes::app;
pub use server::{Server, check_name, name_of};

/// Locks what no panic can leave half-done.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a request in JSON in both ways in which that is done: rows for a model with these columns. Only there for fuzzing.
#[cfg(fuzzing)]
pub fn fuzz_rows(body: &[u8], learnt: &priory::Learnt) {
    use priory_input::InputFormat;
    let Ok(frozen) = frozen::Frozen::new(learnt.clone()) else { return };
    let scored = frozen.with_rows(body, 100, |batch, _| {
        frozen.model.score(batch).map_err(|error| refusal::Refusal::unprocessable(error.to_string()))?;
        Ok(batch.rows)
    });
    if let Ok((read, lines)) = frozen.lines.of_request(body, 100) {
        // What was understood as rows is a table.
        if let Ok(rows) = &scored {
            assert_eq!(*rows, read.rows);
        }
        if read.rows > 0 {
            lines::table(lines, InputFormat::JsonLines).expect("the lines are a table");
        }
    }
}

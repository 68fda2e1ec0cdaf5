//! What a server allows.

use std::time::Duration;

/// Limits, and how models are kept. Whatever is beyond a limit is refused before it costs anything.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether models can be changed.
    pub read_only: bool,
    /// Who knows it may change models. Without one, nobody may.
    pub token: Option<String>,
    /// The bytes of a request.
    pub most_bytes: usize,
    /// The rows of a request in JSON.
    pub most_rows: usize,
    /// Requests that are answered at the same time.
    pub most_requests: usize,
    /// Connections that are open at the same time.
    pub most_connections: usize,
    /// How long a request, its answer, or a connection without either may take.
    pub timeout: Duration,
    /// How many versions of a model are kept.
    pub versions: usize,
    /// How long after a change the model file is written.
    pub rewrite_after: Duration,
    /// How often model files are looked at, whether somebody has replaced them.
    pub look_every: Duration,
    /// Whether every request is logged, or only what is worth a word.
    pub log_requests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            read_only: false,
            token: None,
            most_bytes: 16 << 20,
            most_rows: 10_000,
            most_requests: 1_000,
            most_connections: 4_000,
            timeout: Duration::from_secs(30),
            versions: 5,
            rewrite_after: Duration::from_secs(10),
            look_every: Duration::from_secs(1),
            log_requests: false,
        }
    }
}

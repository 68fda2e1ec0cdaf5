//! What is worth a word goes to the standard error, a JSON object on a line. Nothing of what rows hold is among it.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// How bad it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

/// Writes a line.
pub(crate) fn log(level: Level, message: &str, fields: &[(&str, &str)]) {
    let level = match level {
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    };
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64 / 1e3);
    let mut line = serde_json::Map::new();
    line.insert("time".into(), now.into());
    line.insert("level".into(), level.into());
    line.insert("message".into(), message.into());
    fields.iter().for_each(|&(name, value)| {
        line.insert(name.into(), value.into());
    });
    // Where nobody listens, there is nothing to be said.
    let _ = writeln!(io::stderr().lock(), "{}", serde_json::Value::Object(line));
}

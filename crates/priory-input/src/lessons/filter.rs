//! A message with a verdict in its header, and nothing else changed.

use memchr::memchr;

use super::digest::{end_of_header, fields};

/// A message that passes through: what comes before the verdict, and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilteredMessage {
    before: Vec<u8>,
    after: Vec<u8>,
    line_end: &'static str,
}

/// Takes the fields of this program out of the header, whoever wrote them. Nothing else changes.
pub fn filtered(message: &[u8]) -> FilteredMessage {
    // The line before a message of an mbox stays the first.
    let start = match message.starts_with(b"From ") {
        true => memchr(b'\n', message).map_or(0, |end| end + 1),
        false => 0,
    };
    let (before, message) = message.split_at(start);
    let line_end = match memchr(b'\n', message).is_some_and(|end| end > 0 && message[end - 1] == b'\r') {
        true => "\r\n",
        false => "\n",
    };
    let end = end_of_header(message);
    let mut after = Vec::with_capacity(message.len());
    let is_own = |name: &[u8]| name.len() >= 8 && name[..8].eq_ignore_ascii_case(b"x-priory");
    if fields(message).any(|(name, _)| is_own(name)) {
        let mut at = 0;
        let mut is_left_out = false;
        while at < end {
            let next = memchr(b'\n', &message[at..end]).map_or(end, |end| at + end + 1);
            let line = &message[at..next];
            if !line.starts_with(b" ") && !line.starts_with(b"\t") {
                is_left_out = is_own(line);
            }
            if !is_left_out {
                after.extend_from_slice(line);
            }
            at = next;
        }
        after.extend_from_slice(&message[end..]);
    } else {
        after.extend_from_slice(message);
    }
    FilteredMessage { before: before.to_vec(), after, line_end }
}

impl FilteredMessage {
    /// The message with these fields at its beginning.
    pub fn with(&self, fields: &[(&str, String)]) -> Vec<u8> {
        let mut message = self.before.clone();
        // A line that begins with white space would become part of a field before it: there is no header to add to.
        let fields = if self.after.starts_with(b" ") || self.after.starts_with(b"\t") { &[] } else { fields };
        for (name, value) in fields {
            // What could end the field or the header never gets into it.
            let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            message.extend_from_slice(format!("{name}: {value}{}", self.line_end).as_bytes());
        }
        message.extend_from_slice(&self.after);
        message
    }
}

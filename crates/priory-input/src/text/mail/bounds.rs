//! Limits on what the parser is given.
//!
//! The parser follows parts into parts without end, so what could lead it there is counted beforehand: every container has a
//! field `Content-Type` of its own.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// What is read of a message. Behind it are large attachments, of which nothing is read anyhow.
const MOST_BYTES: usize = 1 << 20;
/// Fields `Content-Type`, and so parts with one.
const MOST_TYPES: usize = 200;
/// Lines that could separate parts.
const MOST_BOUNDARIES: usize = 4_000;
/// How many bytes are gone through for encoded words: the parser looks for the end of each to the end of its field.
const MOST_LOOKED_AT: usize = 1 << 24;
/// Lines of the header.
const MOST_HEADER_LINES: usize = 1_000;

/// What is read, and which limits cut it short.
pub(super) struct Bounded<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) limits: Vec<&'static str>,
}

/// Cuts a message short where it goes beyond the limits. The line that some mailboxes put before it is left out.
pub(super) fn bounded(raw: &[u8]) -> Bounded<'_> {
    let mut raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    if raw.starts_with(b"From ") || raw.starts_with(b">From ") {
        raw = &raw[memchr(b'\n', raw).map_or(raw.len(), |end| end + 1)..];
    }
    let mut limits = Vec::new();
    if raw.len() > MOST_BYTES {
        raw = &raw[..MOST_BYTES];
        limits.push("size");
    }
    let bytes = shorter_header(raw, &mut limits);
    let end = end_of_parts(&bytes, &mut limits);
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..end]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(end);
            Cow::Owned(bytes)
        }
    };
    Bounded { bytes, limits }
}

/// The same message with no more lines in its header than are read.
fn shorter_header<'a>(raw: &'a [u8], limits: &mut Vec<&'static str>) -> Cow<'a, [u8]> {
    let (mut lines, mut at, mut cut) = (0, 0, None);
    while at < raw.len() {
        let end = memchr(b'\n', &raw[at..]).map_or(raw.len(), |end| at + end + 1);
        if raw[at..end].iter().all(u8::is_ascii_whitespace) {
            break;
        }
        lines += 1;
        if lines == MOST_HEADER_LINES {
            cut = Some(end);
        }
        at = end;
    }
    match cut.filter(|_| lines > MOST_HEADER_LINES) {
        None => Cow::Borrowed(raw),
        Some(cut) => {
            limits.push("header");
            Cow::Owned([&raw[..cut], &raw[at..]].concat())
        }
    }
}

/// Where the message becomes one of too many parts, or ends.
fn end_of_parts(bytes: &[u8], limits: &mut Vec<&'static str>) -> usize {
    let (mut types, mut boundaries, mut at) = (0, 0, 0);
    // The field that goes on: how long it is, how many words in it could be encoded, and what was looked at before it.
    let (mut length, mut words, mut looked_at) = (0_usize, 0_usize, 0_usize);
    while at < bytes.len() {
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1);
        let line = bytes[at..end].trim_ascii_start();
        match line.first() {
            Some(b'c' | b'C') => types += usize::from(is_content_type(line)),
            Some(b'-') => boundaries += usize::from(line.starts_with(b"--")),
            _ => {}
        }
        if !matches!(bytes[at], b' ' | b'\t') {
            looked_at = looked_at.saturating_add(length.saturating_mul(words));
            (length, words) = (0, 0);
        }
        length += end - at;
        words += memmem::find_iter(&bytes[at..end], b"=?").count();
        if looked_at.saturating_add(length.saturating_mul(words)) > MOST_LOOKED_AT {
            limits.push("words");
            return at;
        }
        if types > MOST_TYPES || boundaries > MOST_BOUNDARIES {
            limits.push("parts");
            return at;
        }
        at = end;
    }
    bytes.len()
}

/// Whether a line begins with the name of the field as the parser reads it: spaces in it do not count.
fn is_content_type(line: &[u8]) -> bool {
    const NAME: &[u8] = b"content-type";
    let mut letters = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    NAME.iter().all(|expected| letters.next().is_some_and(|byte| byte.eq_ignore_ascii_case(expected)))
}

//! Which message a message is: a keyed digest that stays the same on the way through mail programs.
//!
//! Whoever delivers or keeps a message adds fields, wraps lines and changes their ends. What its sender wrote into the fields
//! below, and the letters of its body, stay. The key makes digests useless to others: nobody can tell which mails were learnt, or
//! write one that is taken for another.

use std::hash::Hasher;

use memchr::memchr;
use siphasher::sip128::{Hasher128, SipHasher24};

/// The digest of a message.
pub(super) type Digest = [u8; 16];

/// The secret of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) [u8; 16]);

/// The field that carries the identity of a message through programs that change it.
pub(super) const ID_FIELD: &str = "X-Priory-Id";

/// Fields that the sender wrote.
const FIELDS: [&str; 6] = ["from", "to", "cc", "date", "subject", "message-id"];

impl Key {
    /// The digest of a message: what its identity field says, if this store wrote it, and otherwise of what it holds.
    pub(super) fn digest(&self, message: &[u8]) -> Digest {
        fields(message)
            .find_map(|(name, value)| self.claimed(name, value))
            .unwrap_or_else(|| self.of_contents(message))
    }

    fn of_contents(&self, message: &[u8]) -> Digest {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        for wanted in FIELDS {
            hasher.write(wanted.as_bytes());
            for (_, value) in fields(message).filter(|(name, _)| name.eq_ignore_ascii_case(wanted.as_bytes()))
            {
                hasher.write_u8(b':');
                write_letters(&mut hasher, value);
            }
        }
        hasher.write_u8(b'\n');
        write_letters(&mut hasher, body(message));
        hasher.finish128().as_bytes()
    }

    /// What a field of a message says that is to carry its identity.
    pub(super) fn id(&self, digest: &Digest) -> String {
        format!("{}-{:016x}", hexadecimal(digest), self.seal(digest))
    }

    fn seal(&self, digest: &Digest) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(b"identity");
        hasher.write(digest);
        hasher.finish128().h1
    }

    /// The digest in an identity field that this store wrote; others are taken for no such thing.
    fn claimed(&self, name: &[u8], value: &[u8]) -> Option<Digest> {
        if !name.eq_ignore_ascii_case(ID_FIELD.as_bytes()) {
            return None;
        }
        let text = std::str::from_utf8(value).ok()?.trim();
        let mut digest = [0; 16];
        for (byte, place) in digest.iter_mut().zip((0..32).step_by(2)) {
            *byte = u8::from_str_radix(text.get(place..place + 2)?, 16).ok()?;
        }
        (text == self.id(&digest)).then_some(digest)
    }
}

fn hexadecimal(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes bytes but for white space, which changes on the way.
fn write_letters(hasher: &mut SipHasher24, bytes: &[u8]) {
    let mut piece = Vec::with_capacity(bytes.len().min(1 << 16));
    for chunk in bytes.chunks(1 << 16) {
        piece.clear();
        piece.extend(chunk.iter().filter(|byte| !byte.is_ascii_whitespace()));
        hasher.write(&piece);
    }
}

/// Where the header of a message ends and its body begins.
pub(super) fn end_of_header(message: &[u8]) -> usize {
    let mut at = 0;
    while at < message.len() {
        let end = memchr(b'\n', &message[at..]).map_or(message.len(), |end| at + end + 1);
        if matches!(&message[at..end], b"\n" | b"\r\n") {
            return at;
        }
        at = end;
    }
    message.len()
}

fn body(message: &[u8]) -> &[u8] {
    &message[end_of_header(message)..]
}

/// The fields of the header, names and values, as they are written.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut header = &message[..end_of_header(message)];
    std::iter::from_fn(move || {
        while !header.is_empty() {
            let mut end = memchr(b'\n', header).map_or(header.len(), |end| end + 1);
            // Lines that begin with white space go on with the field before.
            while matches!(header.get(end), Some(b' ' | b'\t')) {
                end += memchr(b'\n', &header[end..]).map_or(header.len() - end, |end| end + 1);
            }
            let (field, rest) = header.split_at(end);
            header = rest;
            if let Some(colon) = memchr(b':', field) {
                return Some((field[..colon].trim_ascii(), &field[colon + 1..]));
            }
        }
        None
    })
}

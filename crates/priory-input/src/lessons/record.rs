//! What is written down of a lesson.

use std::io;

use crate::lessons::digest::Digest;
use crate::text::MAIL_COLUMNS;

/// Something that was taught, as it is in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// That a message is of a class.
    Learnt(Digest, Lesson),
    /// That nothing is known of it.
    Forgotten(Digest),
}

/// What was learnt of a message: its evidence, so that it can be forgotten whatever becomes of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lesson {
    pub(super) class: String,
    /// Seconds since 1970.
    pub(super) time: u64,
    /// The texts of the columns, packed.
    packed: Vec<u8>,
}

const LEARNT: u8 = 1;
const FORGOTTEN: u8 = 2;

/// How hard zstd tries.
const LEVEL: i32 = 3;
/// The texts of a lesson unpack to no more.
const MOST_BYTES: usize = 16 << 20;

impl Lesson {
    pub(super) fn new(
        class: &str,
        time: u64,
        texts: impl Iterator<Item = impl AsRef<str>>,
    ) -> io::Result<Lesson> {
        let mut bytes = Vec::new();
        for text in texts {
            let text = text.as_ref();
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Ok(Lesson { class: class.to_owned(), time, packed: zstd::bulk::compress(&bytes, LEVEL)? })
    }

    /// The same evidence, for another class.
    pub(super) fn of_class(&self, class: &str) -> Lesson {
        Lesson { class: class.to_owned(), ..self.clone() }
    }

    /// The texts of the columns; `None` if nobody packed them here.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        let unpacked = zstd::bulk::decompress(&self.packed, MOST_BYTES).ok()?;
        let (mut rest, mut texts) = (&unpacked[..], Vec::new());
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            texts.push(String::from_utf8(text.to_vec()).ok()?);
            rest = after;
        }
        (rest.is_empty() && texts.len() == MAIL_COLUMNS.len()).then_some(texts)
    }
}

impl Record {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Record::Forgotten(digest) => [&[FORGOTTEN], &digest[..]].concat(),
            Record::Learnt(digest, lesson) => {
                let class = lesson.class.as_bytes();
                let time = lesson.time.to_le_bytes();
                [&[LEARNT], &digest[..], &time, &[class.len() as u8], class, &lesson.packed].concat()
            }
        }
    }

    /// What these bytes say; `None` if nobody wrote them here.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Record> {
        let (&kind, rest) = bytes.split_first()?;
        let (digest, rest) = rest.split_first_chunk::<16>()?;
        if kind == FORGOTTEN && rest.is_empty() {
            return Some(Record::Forgotten(*digest));
        }
        let (time, rest) = rest.split_first_chunk::<8>().filter(|_| kind == LEARNT)?;
        let (&length, rest) = rest.split_first()?;
        let (class, packed) = rest.split_at_checked(length.into())?;
        let class = String::from_utf8(class.to_vec()).ok()?;
        let lesson = Lesson { class, time: u64::from_le_bytes(*time), packed: packed.to_vec() };
        Some(Record::Learnt(*digest, lesson))
    }
}

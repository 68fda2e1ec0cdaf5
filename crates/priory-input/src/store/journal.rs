//! A journal: records that are on disk before anybody is told that they are.
//!
//! Records are appended in groups. A group is written at once and synced, and only then [`Journal::append`] returns, so what
//! it was given survives the end of the process at any instant. What a process was writing when it ended is an unfinished
//! group at the end of the file; it was never acknowledged, and opening the journal cuts it off. Damage anywhere else is told
//! from that, because whole groups follow it, and is refused.
//!
//! ```text
//! file:   "priory journal 1\n" | mark (8) | head group | groups
//! group:  mark (8) | number (8) | length (4) | CRC-32 of number, length and payload (4) | payload
//! payload: for each record its length (4) and its bytes
//! ```
//!
//! Numbers are little-endian, and count groups from 0, which is the head: a record of whoever owns the journal. The mark is
//! drawn anew for each file, so that no record can look like the beginning of a group. No clock is asked.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::{NewFile, failed};

/// What the file begins with.
const BEGINNING: &[u8] = b"priory journal 1\n";
const MARK: usize = 8;
/// Mark, number, length and checksum.
const FRAME: usize = MARK + 8 + 4 + 4;
/// Where the head stands.
const HEAD: u64 = (BEGINNING.len() + MARK) as u64;
/// No group is longer.
const MOST_BYTES: usize = 1 << 30;

/// An open journal, to which one process appends.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    mark: [u8; MARK],
    /// How many groups there are, the head among them.
    groups: u64,
    /// Where the next group goes.
    end: u64,
    /// Whether it is unknown what the disk holds, so that nothing more may be appended.
    is_lost: bool,
}

/// What was found in a journal.
#[derive(Debug)]
pub struct Opened {
    /// The journal, ready to be appended to.
    pub journal: Journal,
    /// What it was [created](Journal::create) with.
    pub head: Vec<u8>,
    /// How many bytes of an unfinished group were cut off.
    pub cut: u64,
}

impl Journal {
    /// Writes a journal with this head and these records in the place of the one that may be there. After a crash there is the
    /// old one or the new one, whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create<R: AsRef<[u8]>>(path: &Path, head: &[u8], records: &[R]) -> Result<Journal> {
        Journal::create_as(NewFile::create(path)?, head, records)
    }

    /// Like [`create`](Self::create), as this file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create_as<R: AsRef<[u8]>>(mut file: NewFile, head: &[u8], records: &[R]) -> Result<Journal> {
        let mark = RandomState::new().build_hasher().finish().to_le_bytes();
        let path = file.path().to_owned();
        let (mut end, mut groups) = (HEAD, 0);
        file.fill(|file| {
            file.write_all(BEGINNING)?;
            file.write_all(&mark)?;
            let head_group = group(mark, 0, &[head])?;
            let others = if records.is_empty() { Vec::new() } else { group(mark, 1, records)? };
            (end, groups) =
                (end + (head_group.len() + others.len()) as u64, 1 + u64::from(!others.is_empty()));
            file.write_all(&head_group)?;
            file.write_all(&others)
        })?;
        file.finish()?;
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        let file = opened.map_err(|cause| failed(&path, "opened", cause))?;
        Ok(Journal { path, file, mark, groups, end, is_lost: false })
    }

    /// Opens a journal and hands all records to `visit`, in their order.
    ///
    /// # Errors
    /// If it cannot be read, is no journal, or is damaged elsewhere than at its end; and the errors of `visit`.
    pub fn open(path: &Path, visit: impl FnMut(&[u8]) -> Result<()>) -> Result<Opened> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let mut file = opened.map_err(|cause| failed(path, "opened", cause))?;
        let contents = read(&mut file, path, visit)?;
        let (mark, groups, end) = (contents.mark, contents.groups, contents.end);
        let length = file.metadata().map_err(|cause| failed(path, "read", cause))?.len();
        if length > end {
            file.set_len(end)
                .and_then(|()| file.sync_data())
                .map_err(|cause| failed(path, "written", cause))?;
        }
        let journal = Journal { path: path.to_owned(), file, mark, groups, end, is_lost: false };
        Ok(Opened { journal, head: contents.head, cut: length - end })
    }

    /// Appends records, all or none of them, and waits until the disk has them.
    ///
    /// # Errors
    /// If the disk is full or fails. None of the records is there then. If that cannot be made certain, nothing can be appended
    /// until the journal is opened again.
    pub fn append<R: AsRef<[u8]>>(&mut self, records: &[R]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        if self.is_lost {
            let cause = io::Error::other("an earlier write failed, and it is not known what the disk holds");
            return Err(failed(&self.path, "written", cause));
        }
        let written = group(self.mark, self.groups, records).and_then(|group| {
            self.file.seek(SeekFrom::Start(self.end))?;
            self.file.write_all(&group)?;
            Ok(group.len() as u64)
        });
        match written {
            Ok(length) => {
                // After a sync that failed, nobody knows which pages the disk has, and a second sync may say that all is well.
                self.file.sync_data().map_err(|cause| self.lost(cause))?;
                (self.end, self.groups) = (self.end + length, self.groups + 1);
                Ok(())
            }
            Err(cause) => {
                let cut = self.file.set_len(self.end).and_then(|()| self.file.sync_data());
                self.is_lost = cut.is_err();
                Err(failed(&self.path, "written", cause))
            }
        }
    }

    fn lost(&mut self, cause: io::Error) -> Error {
        self.is_lost = true;
        // What may have been written must not come back as if it had been acknowledged.
        let _ = self.file.set_len(self.end);
        failed(&self.path, "written", cause)
    }

    /// Where the next group will be.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Hands the records of the groups from this place on, which was the [end](Self::end) once or is 0, to `visit`.
    ///
    /// # Errors
    /// If they cannot be read; and the errors of `visit`.
    pub fn records_from(&mut self, place: u64, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let unreadable = |cause| failed(&self.path, "read", cause);
        let place = place.max(HEAD);
        self.file.seek(SeekFrom::Start(place)).map_err(unreadable)?;
        let mut file = BufReader::new((&self.file).take(self.end.saturating_sub(place)));
        let mut payload = Vec::new();
        while let Some(number) = next_group(&mut file, self.mark, &mut payload).map_err(unreadable)? {
            if number > 0 {
                each_record(&payload, &mut visit)?;
            }
        }
        Ok(())
    }
}

/// Reads the bytes of a journal, in the way in which a file is read. Only there for fuzzing.
///
/// # Errors
/// As for [`Journal::open`].
#[cfg(fuzzing)]
pub fn read_bytes(bytes: &[u8], visit: impl FnMut(&[u8]) -> Result<()>) -> Result<(Vec<u8>, u64)> {
    let contents = read(&mut io::Cursor::new(bytes), Path::new("journal"), visit)?;
    Ok((contents.head, contents.end))
}

/// The bytes of a journal. Only there for fuzzing.
///
/// # Errors
/// If a record is too long.
#[cfg(fuzzing)]
pub fn write_bytes(mark: [u8; MARK], head: &[u8], groups: &[Vec<Vec<u8>>]) -> io::Result<Vec<u8>> {
    let mut bytes = [BEGINNING, &mark].concat();
    bytes.extend(group(mark, 0, &[head])?);
    for (number, records) in (1..).zip(groups) {
        bytes.extend(group(mark, number, records)?);
    }
    Ok(bytes)
}

/// The bytes of a group.
fn group<R: AsRef<[u8]>>(mark: [u8; MARK], number: u64, records: &[R]) -> io::Result<Vec<u8>> {
    let length: usize = records.iter().map(|record| 4 + record.as_ref().len()).sum();
    if length > MOST_BYTES {
        return Err(io::Error::other("there is too much to be written at once"));
    }
    let mut bytes = Vec::with_capacity(FRAME + length);
    bytes.extend_from_slice(&mark);
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    for record in records.iter().map(AsRef::as_ref) {
        bytes.extend_from_slice(&(record.len() as u32).to_le_bytes());
        bytes.extend_from_slice(record);
    }
    let checksum = checksum(number, &bytes[FRAME..]);
    bytes[FRAME - 4..FRAME].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

fn checksum(number: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&(payload.len() as u32).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// What a journal holds.
struct Contents {
    mark: [u8; MARK],
    head: Vec<u8>,
    groups: u64,
    end: u64,
}

fn read(
    file: &mut (impl Read + Seek),
    path: &Path,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Contents> {
    let unreadable = |cause| failed(path, "read", cause);
    let refused = |why: &str| failed(path, "read", io::Error::new(io::ErrorKind::InvalidData, why));
    let mut input = BufReader::new(&mut *file);
    let mut beginning = [0; BEGINNING.len() + MARK];
    let is_journal = input.read_exact(&mut beginning).is_ok() && beginning.starts_with(BEGINNING);
    if !is_journal {
        return Err(refused("it is no journal, or one of another version"));
    }
    let mut mark = [0; MARK];
    mark.copy_from_slice(&beginning[BEGINNING.len()..]);
    let (mut payload, mut head) = (Vec::new(), None);
    let (mut groups, mut end) = (0, HEAD);
    while let Some(number) = next_group(&mut input, mark, &mut payload).map_err(unreadable)? {
        if number != groups {
            return Err(refused("a group of records is missing"));
        }
        if number == 0 {
            each_record(&payload, &mut |record| {
                head.get_or_insert_with(|| record.to_vec());
                Ok(())
            })?;
        } else {
            each_record(&payload, &mut visit)?;
        }
        (groups, end) = (groups + 1, end + (FRAME + payload.len()) as u64);
    }
    drop(input);
    let Some(head) = head else { return Err(refused("its beginning is damaged")) };
    if has_group_after(file, mark, end, groups).map_err(unreadable)? {
        return Err(refused("it is damaged before its end"));
    }
    Ok(Contents { mark, head, groups, end })
}

/// Reads the payload of a group and returns its number; `None` if there is no whole one.
fn next_group(input: &mut impl Read, mark: [u8; MARK], payload: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut frame = [0; FRAME];
    if !read_whole(input, &mut frame)? || frame[..MARK] != mark {
        return Ok(None);
    }
    let (number, length, expected) = fields(&frame);
    if length as usize > MOST_BYTES {
        return Ok(None);
    }
    payload.clear();
    // The length is not trusted before the checksum is: no more memory is taken than there are bytes.
    input.take(u64::from(length)).read_to_end(payload)?;
    Ok((payload.len() == length as usize && checksum(number, payload) == expected).then_some(number))
}

/// Number, length and checksum.
fn fields(frame: &[u8; FRAME]) -> (u64, u32, u32) {
    let four = |at: usize| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
    let (low, high) = (u32::from_le_bytes(four(MARK)), u32::from_le_bytes(four(MARK + 4)));
    let number = u64::from(low) | u64::from(high) << 32;
    (number, u32::from_le_bytes(four(MARK + 8)), u32::from_le_bytes(four(MARK + 12)))
}

/// Fills the buffer, or says that the input ends before.
fn read_whole(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a whole group stands after what could be read. Then this was no write that was cut short.
fn has_group_after(
    file: &mut (impl Read + Seek),
    mark: [u8; MARK],
    end: u64,
    groups: u64,
) -> io::Result<bool> {
    file.seek(SeekFrom::Start(end))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    let mut payload = Vec::new();
    let marks = memchr::memmem::find_iter(&rest, &mark);
    for place in marks {
        let group = next_group(&mut &rest[place..], mark, &mut payload)?;
        if group.is_some_and(|number| number >= groups) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn each_record(payload: &[u8], visit: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut rest = payload;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        // The checksum has been seen to be right, so there are as many bytes.
        let (record, after) = after.split_at(length.min(after.len()));
        visit(record)?;
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn records_of(path: &Path) -> Result<(Vec<u8>, Vec<Vec<u8>>, u64)> {
        let mut records = Vec::new();
        let opened = Journal::open(path, |record| {
            records.push(record.to_vec());
            Ok(())
        })?;
        Ok((opened.head, records, opened.cut))
    }

    /// A journal of these groups, and where each ends.
    fn written(path: &Path, groups: &[Vec<Vec<u8>>]) -> Vec<u64> {
        let none: &[&[u8]] = &[];
        let mut journal = Journal::create(path, b"head", none).unwrap();
        let append = |group: &Vec<Vec<u8>>| {
            journal.append(group).unwrap();
            journal.end()
        };
        groups.iter().map(append).collect()
    }

    fn groups() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
        let record = prop::collection::vec(any::<u8>(), 0..40);
        prop::collection::vec(prop::collection::vec(record, 1..4), 1..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_was_appended_is_read(groups in groups()) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("journal");
            let ends = written(&path, &groups);
            prop_assert_eq!(records_of(&path).unwrap(), (b"head".to_vec(), groups.concat(), 0));
            let mut journal = Journal::open(&path, |_| Ok(())).unwrap().journal;
            let mut later = Vec::new();
            journal.records_from(ends[0], |record| { later.push(record.to_vec()); Ok(()) }).unwrap();
            prop_assert_eq!(later, groups[1..].concat());
            let mut all = Vec::new();
            journal.records_from(0, |record| { all.push(record.to_vec()); Ok(()) }).unwrap();
            prop_assert_eq!(all, groups.concat());
        }

        /// Wherever a write is cut short, what was acknowledged before is there and can be added to.
        #[test]
        fn a_write_that_is_cut_short_is_cut_off(groups in groups(), share in 0.0..1.0) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("journal");
            let ends = written(&path, &groups);
            let before = ends.len().checked_sub(2).map_or(HEAD + (FRAME + 8) as u64, |last| ends[last]);
            let length = before + ((ends[ends.len() - 1] - before) as f64 * share) as u64;
            OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
            let kept = groups[..groups.len() - 1].concat();
            prop_assert_eq!(records_of(&path).unwrap(), (b"head".to_vec(), kept.clone(), length - before));
            let mut journal = Journal::open(&path, |_| Ok(())).unwrap().journal;
            journal.append(&[b"later"]).unwrap();
            let (_, records, cut) = records_of(&path).unwrap();
            prop_assert_eq!((records.len(), cut), (kept.len() + 1, 0));
        }

        /// A byte that is changed is found out: in the last group it looks like a write that was cut short, and in any other the
        /// journal is refused.
        #[test]
        fn damage_is_refused(groups in groups(), place: prop::sample::Index, bit in 0..8_u32) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("journal");
            let ends = written(&path, &groups);
            let mut bytes = fs::read(&path).unwrap();
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
            fs::write(&path, bytes).unwrap();
            let last = ends.len().checked_sub(2).map_or(HEAD + (FRAME + 8) as u64, |last| ends[last]);
            match records_of(&path) {
                Ok((_, records, _)) => {
                    prop_assert!(place as u64 >= last);
                    prop_assert_eq!(records, groups[..groups.len() - 1].concat());
                }
                Err(error) => {
                    prop_assert!((place as u64) < last, "{}", error);
                    prop_assert!(error.to_string().contains("cannot be read"));
                }
            }
        }
    }

    #[test]
    fn records_do_not_look_like_groups() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let none: &[&[u8]] = &[];
        Journal::create(&path, b"", none).unwrap().append(&[b"first"]).unwrap();
        let other = fs::read(&path).unwrap();
        let mut journal = Journal::create(&path, b"", none).unwrap();
        journal.append(&[&other]).unwrap();
        let end = journal.end();
        // The group is cut off although it holds whole groups of another journal.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(end - 1).unwrap();
        assert!(records_of(&path).unwrap().1.is_empty());
    }

    #[test]
    fn other_files_are_no_journals() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        for bytes in [&b""[..], b"priory journal 1\n", b"priory journal 2\n01234567", b"a,b\n1,2\n"] {
            fs::write(&path, bytes).unwrap();
            assert!(records_of(&path).is_err());
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    /// A disk that is full: /dev/full takes nothing.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_no_record() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let none: &[&[u8]] = &[];
        let mut journal = Journal::create(&path, b"", none).unwrap();
        journal.append(&[b"first"]).unwrap();
        let real =
            std::mem::replace(&mut journal.file, OpenOptions::new().write(true).open("/dev/full").unwrap());
        assert!(journal.append(&[b"second"]).unwrap_err().to_string().contains("cannot be written"));
        journal.file = real;
        // It could not be seen that nothing was written, so that the journal has to be opened again.
        assert!(journal.append(&[b"third"]).is_err());
        assert_eq!(records_of(&path).unwrap().1, [b"first"]);
    }
}

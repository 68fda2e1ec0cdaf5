//! Where everything in a model file is: its header, read and checked. Its sections are read in blocks, each with a checksum.

use std::collections::BTreeMap;

use super::container::{
    BLOCK, CHECKSUMS, ElementKind, Entry, Object, check_sum, header_length, place, refused,
};
use crate::error::Result;

/// The bytes of a file, any of which can be asked for at any time.
pub trait FileParts: Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> u64;

    /// Fills a buffer with the bytes from this one on.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()>;
}

impl FileParts for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = start.checked_add(buffer.len()).and_then(|end| self.get(start..end));
        buffer.copy_from_slice(bytes.ok_or(std::io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl FileParts for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.as_slice().read_at(offset, buffer)
    }
}

/// A header, and the checksums of everything else.
#[derive(Clone)]
pub(super) struct Layout {
    /// Where the sections begin.
    data: u64,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) sections: BTreeMap<String, Placed>,
    sums: Vec<u32>,
}

/// A section, and the number of its first checksum.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) entry: Entry,
    pub(super) first_sum: usize,
}

/// A piece of a section that has a checksum.
pub(super) struct Block {
    /// Where it is in the file.
    pub(super) start: u64,
    pub(super) length: usize,
    sum: u32,
}

impl Layout {
    /// Reads the header of a file of the given format version. Nothing is allocated that the file's own size does not
    /// bound.
    pub(super) fn read(file: &dyn FileParts, version_key: &str, versions: &[&str]) -> Result<Self> {
        let size = file.size();
        let beginning = read(file, 0, size.min(9) as usize)?;
        let length = header_length(&beginning, size)?;
        let header = read(file, 0, length)?;
        let object = Object::parse(&header, version_key, versions)?;
        let room = usize::try_from(size - length as u64)
            .map_err(|_| refused("it is larger than memory can be".into()))?;
        let mut entries = place(object.entries, room)?;
        let Some((_, last)) =
            entries.pop().filter(|(name, entry)| name == CHECKSUMS && entry.dtype == ElementKind::U32)
        else {
            return Err(refused("it does not end with checksums".into()));
        };
        let (start, end) = last.data_offsets;
        let bytes = read(file, (length + start) as u64, end - start)?;
        let sums: Vec<u32> = bytes.as_chunks().0.iter().map(|&sum| u32::from_le_bytes(sum)).collect();
        let mut next = 1;
        let mut sections = BTreeMap::new();
        for (name, entry) in entries {
            let first_sum = next;
            next += entry.length().div_ceil(BLOCK);
            sections.insert(name, Placed { entry, first_sum });
        }
        if sums.len() != next {
            return Err(refused("it does not have one checksum for each block".into()));
        }
        check_sum("header", &header, sums[0])?;
        Ok(Layout { data: length as u64, metadata: object.metadata, sections, sums })
    }

    /// A block of a section, which has it.
    pub(super) fn block(&self, section: &Placed, number: usize) -> Block {
        let (start, end) = section.entry.data_offsets;
        let start = start + number * BLOCK;
        Block {
            start: self.data + start as u64,
            length: BLOCK.min(end - start),
            sum: self.sums[section.first_sum + number],
        }
    }
}

impl Block {
    /// Refuses other bytes than those that were written.
    pub(super) fn check(&self, section: &str, bytes: &[u8]) -> Result<()> {
        check_sum(section, bytes, self.sum)
    }
}

/// Bytes of a file.
pub(super) fn read(file: &dyn FileParts, offset: u64, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    read_into(file, offset, &mut bytes)?;
    Ok(bytes)
}

pub(super) fn read_into(file: &dyn FileParts, offset: u64, bytes: &mut [u8]) -> Result<()> {
    file.read_at(offset, bytes).map_err(|error| refused(format!("it cannot be read: {error}")))
}

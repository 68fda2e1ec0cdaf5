//! A model file of which only what is needed is read, block by block, and every block is checked when it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::container::{
    BLOCK, CHECKSUMS, Container, ElementKind, Entry, Object, PADDING, check_sum, header_length, place,
    refused,
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

impl FileParts for Vec<u8> {
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

/// A file whose header was read and checked.
pub(super) struct Parts {
    file: Box<dyn FileParts>,
    /// Where the sections begin.
    data: u64,
    pub(super) metadata: BTreeMap<String, String>,
    /// Each section and the number of its first checksum.
    sections: BTreeMap<String, (Entry, usize)>,
    sums: Vec<u32>,
    /// Blocks that were read, by the numbers of their checksums.
    blocks: Mutex<BTreeMap<usize, Arc<[u8]>>>,
}

impl Parts {
    pub(super) fn open(file: Box<dyn FileParts>, version_key: &str, version: &str) -> Result<Self> {
        let size = file.size();
        let beginning = read(&*file, 0, size.min(9) as usize)?;
        let length = header_length(&beginning, size)?;
        let header = read(&*file, 0, length)?;
        let object = Object::parse(&header, version_key, version)?;
        let room = usize::try_from(size - length as u64)
            .map_err(|_| refused("it is larger than memory can be".into()))?;
        let mut entries = place(object.entries, room)?;
        let Some((_, last)) =
            entries.pop().filter(|(name, entry)| name == CHECKSUMS && entry.dtype == ElementKind::U32)
        else {
            return Err(refused("it does not end with checksums".into()));
        };
        let (start, end) = last.data_offsets;
        let bytes = read(&*file, (length + start) as u64, end - start)?;
        let sums: Vec<u32> = bytes.as_chunks().0.iter().map(|&sum| u32::from_le_bytes(sum)).collect();
        let mut next = 1;
        let mut sections = BTreeMap::new();
        for (name, entry) in entries {
            let first = next;
            next += entry.blocks();
            sections.insert(name, (entry, first));
        }
        if sums.len() != next {
            return Err(refused("it does not have one checksum for each block".into()));
        }
        check_sum("header", &header, sums[0])?;
        let (metadata, blocks) = (object.metadata, Mutex::default());
        Ok(Parts { file, data: length as u64, metadata, sections, sums, blocks })
    }

    /// All sections but these, read and checked whole.
    pub(super) fn container(&self, left_out: impl Fn(&str) -> bool) -> Result<Container<'static>> {
        let mut sections = BTreeMap::new();
        for (name, (entry, _)) in &self.sections {
            if left_out(name) || name.starts_with(PADDING) {
                continue;
            }
            let bytes = self.bytes(name, 0..entry.data_offsets.1 - entry.data_offsets.0)?;
            sections.insert(name.clone(), (entry.clone(), Cow::Owned(bytes)));
        }
        Ok(Container { metadata: self.metadata.clone(), sections })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.sections.contains_key(name)
    }

    /// The type and the length of a section with one dimension.
    pub(super) fn array(&self, name: &str) -> Result<(ElementKind, usize)> {
        match self.section(name)? {
            (Entry { dtype, shape, .. }, _) if shape.len() == 1 => Ok((*dtype, shape[0])),
            _ => Err(refused(format!("the section `{name}` does not have the type it should"))),
        }
    }

    /// Some elements of a section, as bytes.
    pub(super) fn elements(&self, name: &str, kind: ElementKind, elements: Range<usize>) -> Result<Vec<u8>> {
        let (found, length) = self.array(name)?;
        if found != kind || elements.start > elements.end || elements.end > length {
            return Err(refused(format!("the section `{name}` does not have the type it should")));
        }
        self.bytes(name, elements.start * kind.size()..elements.end * kind.size())
    }

    /// Bytes of a section, which has them.
    fn bytes(&self, name: &str, range: Range<usize>) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(range.len());
        let mut at = range.start;
        while at < range.end {
            let block = self.block(name, at / BLOCK)?;
            let first = at / BLOCK * BLOCK;
            let end = range.end.min(first + block.len());
            bytes.extend_from_slice(&block[at - first..end - first]);
            at = end;
        }
        Ok(bytes)
    }

    fn block(&self, name: &str, number: usize) -> Result<Arc<[u8]>> {
        let (entry, first_sum) = self.section(name)?;
        let sum = first_sum + number;
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = blocks.get(&sum) {
            return Ok(Arc::clone(block));
        }
        let (start, end) = entry.data_offsets;
        let start = start + number * BLOCK;
        let block = read(&*self.file, self.data + start as u64, BLOCK.min(end - start))?;
        check_sum(name, &block, self.sums[sum])?;
        let block: Arc<[u8]> = block.into();
        blocks.insert(sum, Arc::clone(&block));
        Ok(block)
    }

    fn section(&self, name: &str) -> Result<&(Entry, usize)> {
        self.sections.get(name).ok_or_else(|| refused(format!("the section `{name}` is missing")))
    }
}

fn read(file: &dyn FileParts, offset: u64, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_at(offset, &mut bytes).map_err(|error| refused(format!("it cannot be read: {error}")))?;
    Ok(bytes)
}

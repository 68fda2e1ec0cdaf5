//! A model file of which only what is needed is read, block by block, and every block is checked when it is.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::container::{BLOCK, Container, ElementKind, PADDING, refused};
use super::layout::{FileParts, Layout, Placed, read};
use crate::error::Result;

/// A file whose header was read and checked.
pub(super) struct Parts {
    file: Box<dyn FileParts>,
    pub(super) layout: Layout,
    /// Blocks that were read, by where they start.
    blocks: Mutex<BTreeMap<u64, Arc<[u8]>>>,
}

impl Parts {
    pub(super) fn open(file: Box<dyn FileParts>, version_key: &str, versions: &[&str]) -> Result<Self> {
        let layout = Layout::read(&*file, version_key, versions)?;
        Ok(Parts { file, layout, blocks: Mutex::default() })
    }

    /// A container of all sections but these.
    pub(super) fn container(&self, left_out: impl Fn(&str) -> bool) -> Container<'_> {
        let mut layout = self.layout.clone();
        layout.sections.retain(|name, _| !left_out(name) && !name.starts_with(PADDING));
        Container::new(&*self.file, layout)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.layout.sections.contains_key(name)
    }

    /// The type and the length of a section with one dimension.
    pub(super) fn array(&self, name: &str) -> Result<(ElementKind, usize)> {
        match &self.section(name)?.entry {
            entry if entry.shape.len() == 1 => Ok((entry.dtype, entry.shape[0])),
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
        let block = self.layout.block(self.section(name)?, number);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = blocks.get(&block.start) {
            return Ok(Arc::clone(bytes));
        }
        let bytes = read(&*self.file, block.start, block.length)?;
        block.check(name, &bytes)?;
        let bytes: Arc<[u8]> = bytes.into();
        blocks.insert(block.start, Arc::clone(&bytes));
        Ok(bytes)
    }

    fn section(&self, name: &str) -> Result<&Placed> {
        self.layout.sections.get(name).ok_or_else(|| refused(format!("the section `{name}` is missing")))
    }
}

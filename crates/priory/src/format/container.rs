//! The container: named arrays behind a JSON header, every byte under a checksum.
//!
//! The layout is that of safetensors, so that its loaders in other languages can open the arrays: a u64 length, a
//! JSON header of that length, then the raw little-endian arrays without gaps. Ours are aligned to 64 bytes, by
//! spaces after the header and by sections called `pad.…`; the last section, `checksums`, holds the CRC-32 of the
//! header and of every block of 64 KiB of every section.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::{fmt, iter};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::layout::{FileParts, Layout, Placed, read_into};
use crate::error::{Error, Result};

/// Arrays start at multiples of this, so that a mapped file can be used in place.
const ALIGNMENT: usize = 64;
/// A checksum covers this much of a section, so that a part of a large one can be checked by itself.
pub(super) const BLOCK: usize = 64 * 1024;
/// No honest header is larger; it is compared with the file's size before anything is allocated.
const LONGEST_HEADER: u64 = 1 << 30;

const METADATA: &str = "__metadata__";
pub(super) const CHECKSUMS: &str = "checksums";
pub(super) const PADDING: &str = "pad.";

/// An array as it is written.
pub(crate) struct Section {
    name: String,
    kind: ElementKind,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Section {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of the array, little-endian.
    pub(super) fn contents(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Section { name: name.into(), kind: ElementKind::U8, shape: vec![bytes.len()], bytes }
    }

    pub(crate) fn u16(name: impl Into<String>, shape: Vec<usize>, values: impl Iterator<Item = u16>) -> Self {
        Section {
            name: name.into(),
            kind: ElementKind::U16,
            shape,
            bytes: joined(values.map(u16::to_le_bytes)),
        }
    }

    pub(crate) fn u32(name: impl Into<String>, shape: Vec<usize>, values: impl Iterator<Item = u32>) -> Self {
        Section {
            name: name.into(),
            kind: ElementKind::U32,
            shape,
            bytes: joined(values.map(u32::to_le_bytes)),
        }
    }

    pub(crate) fn u64(name: impl Into<String>, shape: Vec<usize>, values: impl Iterator<Item = u64>) -> Self {
        Section {
            name: name.into(),
            kind: ElementKind::U64,
            shape,
            bytes: joined(values.map(u64::to_le_bytes)),
        }
    }

    pub(crate) fn f64(name: impl Into<String>, shape: Vec<usize>, values: impl Iterator<Item = f64>) -> Self {
        Section {
            name: name.into(),
            kind: ElementKind::F64,
            shape,
            bytes: joined(values.map(f64::to_le_bytes)),
        }
    }
}

fn joined<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * values.size_hint().0);
    values.for_each(|value| bytes.extend_from_slice(&value));
    bytes
}

/// What an array holds, under the names that safetensors uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ElementKind {
    U8,
    U16,
    U32,
    U64,
    F64,
}

impl ElementKind {
    pub(super) fn size(self) -> usize {
        match self {
            ElementKind::U8 => 1,
            ElementKind::U16 => 2,
            ElementKind::U32 => 4,
            ElementKind::U64 | ElementKind::F64 => 8,
        }
    }
}

/// How the header describes an array.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) dtype: ElementKind,
    pub(super) shape: Vec<usize>,
    pub(super) data_offsets: (usize, usize),
}

impl Entry {
    /// How many bytes the section has.
    pub(super) fn length(&self) -> usize {
        self.data_offsets.1 - self.data_offsets.0
    }
}

/// Writes a container.
pub(crate) fn write(
    out: &mut impl Write,
    metadata: &BTreeMap<&str, String>,
    sections: &[Section],
) -> io::Result<()> {
    let header = header(metadata, sections);
    let mut sums = vec![crc32fast::hash(&header)];
    // There may be thousands of sections of a few bytes each.
    let mut out = BufWriter::with_capacity(BLOCK, out);
    out.write_all(&header)?;
    drop(header);
    for piece in pieces(sections) {
        for block in piece.bytes.chunks(BLOCK) {
            sums.push(crc32fast::hash(block));
            out.write_all(block)?;
        }
    }
    out.write_all(&joined(sums.into_iter().map(u32::to_le_bytes)))?;
    out.flush()
}

/// A section, or the padding behind it.
struct Piece<'a> {
    name: Cow<'a, str>,
    kind: ElementKind,
    shape: Cow<'a, [usize]>,
    bytes: &'a [u8],
}

/// The sections with padding between them, so that each starts at a multiple of the alignment.
///
/// They are handed out one by one instead of in a list: a table may have hundreds of thousands of columns, each with several
/// sections.
fn pieces(sections: &[Section]) -> impl Iterator<Item = Piece<'_>> {
    let (mut end, mut position) = (0_usize, 0_usize);
    sections.iter().flat_map(move |section| {
        end += section.bytes.len();
        position += 1;
        let gap = end.next_multiple_of(ALIGNMENT) - end;
        let padding = (gap > 0).then(|| Piece {
            name: Cow::Owned(format!("{PADDING}{position}")),
            kind: ElementKind::U8,
            shape: Cow::Owned(vec![gap]),
            bytes: &[0; ALIGNMENT][..gap],
        });
        end += gap;
        position += usize::from(gap > 0);
        let section = Piece {
            name: Cow::Borrowed(&section.name),
            kind: section.kind,
            shape: Cow::Borrowed(&section.shape),
            bytes: &section.bytes,
        };
        iter::once(section).chain(padding)
    })
}

/// The length and the JSON, filled up with spaces.
fn header(metadata: &BTreeMap<&str, String>, sections: &[Section]) -> Vec<u8> {
    let mut header = vec![0; 8];
    write_json(&mut header, metadata, sections).expect("names are strings, and memory takes everything");
    header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
    let length = header.len() as u64 - 8;
    header[..8].copy_from_slice(&length.to_le_bytes());
    header
}

/// Entry by entry: a table may have a million columns, of which a tree in memory would take kilobytes each.
fn write_json(
    out: &mut Vec<u8>,
    metadata: &BTreeMap<&str, String>,
    sections: &[Section],
) -> serde_json::Result<()> {
    let mut serializer = serde_json::Serializer::new(out);
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry(METADATA, metadata)?;
    let mut end = 0;
    let mut checksums = 1;
    for piece in pieces(sections) {
        let data_offsets = (end, end + piece.bytes.len());
        let entry = Entry { dtype: piece.kind, shape: piece.shape.into_owned(), data_offsets };
        object.serialize_entry(&piece.name, &entry)?;
        end = data_offsets.1;
        checksums += piece.bytes.len().div_ceil(BLOCK);
    }
    let data_offsets = (end, end + 4 * checksums);
    let entry = Entry { dtype: ElementKind::U32, shape: vec![checksums], data_offsets };
    object.serialize_entry(CHECKSUMS, &entry)?;
    object.end()
}

/// A container that was opened, and what was not taken out of it yet. Every block is checked when it is read.
pub(crate) struct Container<'a> {
    pub(super) layout: Layout,
    window: ReadAhead<'a>,
}

impl<'a> Container<'a> {
    /// Opens a container of the given format version.
    pub(crate) fn open(file: &'a dyn FileParts, version_key: &str, versions: &[&str]) -> Result<Self> {
        Ok(Container::new(file, Layout::read(file, version_key, versions)?))
    }

    /// A container with the sections of a layout.
    pub(super) fn new(file: &'a dyn FileParts, layout: Layout) -> Self {
        Container { layout, window: ReadAhead { file, start: 0, bytes: Vec::new() } }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.layout.sections.contains_key(name)
    }

    pub(crate) fn take_bytes(&mut self, name: &str) -> Result<Vec<u8>> {
        Ok(self.take_array(name, ElementKind::U8, 1, |[byte]| byte)?.1)
    }

    pub(crate) fn take_u16(&mut self, name: &str) -> Result<Vec<u16>> {
        Ok(self.take_array(name, ElementKind::U16, 1, u16::from_le_bytes)?.1)
    }

    /// An array of u32 with this many dimensions: its shape and its values.
    pub(crate) fn take_u32(&mut self, name: &str, dimensions: usize) -> Result<(Vec<usize>, Vec<u32>)> {
        self.take_array(name, ElementKind::U32, dimensions, u32::from_le_bytes)
    }

    pub(crate) fn take_u64(&mut self, name: &str) -> Result<Vec<u64>> {
        Ok(self.take_array(name, ElementKind::U64, 1, u64::from_le_bytes)?.1)
    }

    /// An array of finite f64 with this many dimensions: its shape and its values.
    pub(crate) fn take_f64(&mut self, name: &str, dimensions: usize) -> Result<(Vec<usize>, Vec<f64>)> {
        let (shape, values) = self.take_array(name, ElementKind::F64, dimensions, f64::from_le_bytes)?;
        if values.iter().any(|x| !x.is_finite()) {
            return Err(refused(format!("`{name}` holds a number that is not finite")));
        }
        Ok((shape, values))
    }

    /// The length of an array of u32, if there is one with this name.
    pub(crate) fn length_of_u32(&self, name: &str) -> Option<usize> {
        let entry = &self.layout.sections.get(name)?.entry;
        (entry.dtype == ElementKind::U32 && entry.shape.len() == 1).then(|| entry.shape[0])
    }

    /// Shows an array of u32, which is not kept.
    pub(crate) fn show_u32(&mut self, name: &str, mut each: impl FnMut(u32)) -> Result<()> {
        let section = self.take(name, ElementKind::U32, 1)?;
        self.show_blocks(name, &section, |block| {
            block.as_chunks().0.iter().for_each(|&chunk| each(u32::from_le_bytes(chunk)));
        })
    }

    /// Refuses a container with sections that were not read, since they are unknown.
    pub(crate) fn finish(mut self) -> Result<()> {
        for (name, section) in std::mem::take(&mut self.layout.sections) {
            if !name.starts_with(PADDING) {
                return Err(refused(format!("it has a section `{name}` that does not belong there")));
            }
            self.show_blocks(&name, &section, |_| ())?;
        }
        Ok(())
    }

    fn take_array<const N: usize, T>(
        &mut self,
        name: &str,
        kind: ElementKind,
        dimensions: usize,
        from_bytes: impl Fn([u8; N]) -> T,
    ) -> Result<(Vec<usize>, Vec<T>)> {
        let section = self.take(name, kind, dimensions)?;
        let mut values = Vec::with_capacity(section.entry.length() / N);
        self.show_blocks(name, &section, |block| {
            values.extend(block.as_chunks().0.iter().map(|&chunk| from_bytes(chunk)));
        })?;
        Ok((section.entry.shape, values))
    }

    fn take(&mut self, name: &str, kind: ElementKind, dimensions: usize) -> Result<Placed> {
        let section = self.layout.sections.remove(name);
        let section = section.ok_or_else(|| refused(format!("the section `{name}` is missing")))?;
        if section.entry.dtype != kind || section.entry.shape.len() != dimensions {
            return Err(refused(format!("the section `{name}` does not have the type it should")));
        }
        Ok(section)
    }

    /// Shows the blocks of a section one after the other. No element stands in two of them.
    fn show_blocks(&mut self, name: &str, section: &Placed, mut each: impl FnMut(&[u8])) -> Result<()> {
        for number in 0..section.entry.length().div_ceil(BLOCK) {
            let block = self.layout.block(section, number);
            let bytes = self.window.get(block.start, block.length)?;
            block.check(name, bytes)?;
            each(bytes);
        }
        Ok(())
    }
}

/// Some bytes of a file. Sections are mostly taken as they are, and may be many and short: a read is for several of them.
struct ReadAhead<'a> {
    file: &'a dyn FileParts,
    start: u64,
    bytes: Vec<u8>,
}

impl ReadAhead<'_> {
    const WIDTH: usize = 4 * BLOCK;

    /// At most a block of bytes, which the file has.
    fn get(&mut self, start: u64, length: usize) -> Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if start < self.start || start + length as u64 > end {
            let room = usize::try_from(self.file.size() - start).unwrap_or(usize::MAX);
            self.bytes.resize(room.min(Self::WIDTH), 0);
            self.start = start;
            read_into(self.file, start, &mut self.bytes)?;
        }
        Ok(&self.bytes[(start - self.start) as usize..][..length])
    }
}

/// Whether the first bytes of a file could be those of a container: the length of a header, and where that begins.
pub(crate) fn could_begin(file: &[u8]) -> bool {
    let length = file.split_first_chunk::<8>().map(|(length, _)| u64::from_le_bytes(*length));
    length.is_some_and(|length| length <= LONGEST_HEADER) && file.get(8) == Some(&b'{')
}

/// The length of the header, itself included, of a file of which the first nine bytes and the size are known.
pub(super) fn header_length(beginning: &[u8], size: u64) -> Result<usize> {
    let Some((length, _)) = beginning.split_first_chunk::<8>() else {
        return Err(refused("it is too short".into()));
    };
    let length = u64::from_le_bytes(*length);
    if !could_begin(beginning) || length > size - 8 {
        return Err(refused("it is cut short, or not a model at all".into()));
    }
    Ok(8 + length as usize)
}

/// Puts the sections in order and checks that there are no gaps, no overlaps and nothing left over.
pub(super) fn place(mut entries: Vec<(String, Entry)>, size: usize) -> Result<Vec<(String, Entry)>> {
    entries.sort_by_key(|(_, entry)| entry.data_offsets);
    let mut expected = 0;
    for (name, entry) in &entries {
        let (start, end) = entry.data_offsets;
        let length = entry.shape.iter().try_fold(entry.dtype.size(), |length, &n| length.checked_mul(n));
        if start != expected || end < start || end > size || length != Some(end - start) {
            return Err(refused(format!("the section `{name}` is cut short or misplaced")));
        }
        expected = end;
    }
    if expected != size {
        return Err(refused("something follows its last section".into()));
    }
    Ok(entries)
}

/// Refuses a block of a section that does not have this checksum.
pub(super) fn check_sum(name: &str, block: &[u8], sum: u32) -> Result<()> {
    // A fuzzer cannot guess checksums, and is to get behind them.
    if crc32fast::hash(block) == sum || cfg!(fuzzing) {
        return Ok(());
    }
    Err(refused(format!("it is damaged: the checksum of `{name}` is wrong")))
}

/// The header as an object whose keys are distinct; serde_json by itself would keep the last of two.
pub(super) struct Object {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) entries: Vec<(String, Entry)>,
}

impl Object {
    /// Reads a header, its length included, of the given format version.
    pub(super) fn parse(header: &[u8], version_key: &str, versions: &[&str]) -> Result<Self> {
        let object: Object = serde_json::from_slice(&header[8..])
            .map_err(|error| refused(format!("its header is not valid: {error}")))?;
        match object.metadata.get(version_key).map(String::as_str) {
            Some(found) if versions.contains(&found) => Ok(object),
            Some(found) => {
                let known = versions.join(" and ");
                Err(refused(format!("it has format version {found}; this program reads versions {known}")))
            }
            None => Err(refused("its header does not name a format version".into())),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header with one entry per section")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
        let mut metadata = None;
        let mut entries: Vec<(String, Entry)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == METADATA {
                if metadata.replace(map.next_value()?).is_some() {
                    return Err(serde::de::Error::custom("its metadata occur twice"));
                }
            } else {
                entries.push((key, map.next_value()?));
            }
        }
        let mut names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(serde::de::Error::custom(format!("the section `{}` occurs twice", twice[0])));
        }
        Ok(Object { metadata: metadata.unwrap_or_default(), entries })
    }
}

pub(crate) fn refused(why: String) -> Error {
    Error::File(why)
}

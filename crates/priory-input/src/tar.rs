//! Tar archives: the files in them, one after the other (POSIX.1-1988 ustar, with the extensions of GNU and of pax).
//!
//! An entry is a header of 512 bytes and its contents, filled up to a multiple of that. What has no room in a header
//! stands in entries before it: a long path (GNU, type `L`) or any fields (pax, type `x`).
//!
//! Files with holes come in four ways, and all say which pieces of the file are stored:
//!
//! ```text
//! GNU, type S    pieces in the header and in blocks of 21 after it, which the size of the entry does not count
//! pax 0.0        GNU.sparse.offset and GNU.sparse.numbytes, again and again
//! pax 0.1        GNU.sparse.map=offset,length,offset,length,…
//! pax 1.0        before the contents, in blocks that the size does count: how many pieces, then each, line by line
//! ```

use crate::error::{Error, Result};
use crate::unpack::Bytes;

const BLOCK: usize = 512;
/// A file in more pieces than this was made to take memory.
const MOST_PIECES: usize = 1 << 16;
/// More bytes than this about a single file are refused, too.
const LONGEST_EXTENSION: u64 = 4 << 20;

/// A file of an archive.
pub(crate) struct TarFile {
    pub(crate) path: Vec<u8>,
    pub(crate) contents: Vec<u8>,
}

/// Whether a file begins like a tar archive: with a header whose sum is right.
pub(crate) fn is_tar(beginning: &[u8]) -> bool {
    beginning.first_chunk().is_some_and(|block| Header::new(block).is_some())
}

/// The next file of an archive, which may have at most this many bytes.
pub(crate) fn next_file(bytes: &mut Bytes, largest: usize) -> Result<Option<TarFile>> {
    let mut archive = Archive { bytes, largest };
    let mut extended = Extended::default();
    while let Some(header) = archive.header()? {
        match header.kind {
            b'L' => {
                let path = archive.extension(header.size)?;
                extended.path = Some(until_zero(&path).to_vec());
            }
            b'x' => {
                let records = archive.extension(header.size)?;
                extended.read(&records).ok_or_else(|| archive.damaged())?;
            }
            // Where a link leads, and what is said about all files that follow: nothing about the next one.
            b'K' | b'g' => archive.skip(header.size)?,
            b'0' | 0 | b'7' | b'S' => return archive.file(header, extended).map(Some),
            // Links, devices and folders have no contents, whatever their size.
            b'2'..=b'6' => extended = Extended::default(),
            _ => {
                archive.skip(extended.size.unwrap_or(header.size))?;
                extended = Extended::default();
            }
        }
    }
    Ok(None)
}

struct Archive<'a> {
    bytes: &'a mut Bytes,
    largest: usize,
}

impl Archive<'_> {
    fn file(&mut self, header: Header, extended: Extended) -> Result<TarFile> {
        let mut pieces = extended.pieces;
        if header.kind == b'S' {
            pieces = Some(self.pieces_after(&header)?);
        }
        let size = extended.size.unwrap_or(header.size);
        let mut contents = self.contents(size)?;
        if extended.has_map_in_contents {
            let (map, length) = map_in_contents(&contents).ok_or_else(|| self.damaged())?;
            contents.drain(..length);
            pieces = Some(map);
        }
        if let Some(pieces) = pieces {
            let real_size = extended.real_size.or(header.sparse.map(|sparse| sparse.real_size));
            contents = self.spread(&contents, &pieces, real_size)?;
        }
        Ok(TarFile { path: extended.name.or(extended.path).unwrap_or(header.path), contents })
    }

    /// The next header; `None` at the end of the archive.
    fn header(&mut self) -> Result<Option<Header>> {
        let Some(block) = self.block()? else { return Ok(None) };
        if block == [0; BLOCK] {
            return Ok(None);
        }
        Header::new(&block).map(Some).ok_or_else(|| self.damaged())
    }

    /// The next block; `None` if nothing follows.
    fn block(&mut self) -> Result<Option<[u8; BLOCK]>> {
        let mut block = Vec::with_capacity(BLOCK);
        match self.bytes.read_into(&mut block, BLOCK)? {
            0 => Ok(None),
            _ => block.try_into().map(Some).map_err(|_| self.damaged()),
        }
    }

    /// The contents of an entry that only says something about the next one.
    fn extension(&mut self, size: u64) -> Result<Vec<u8>> {
        if size > LONGEST_EXTENSION { Err(self.damaged()) } else { self.contents(size) }
    }

    /// Reads this many bytes, and skips the padding after them.
    fn contents(&mut self, size: u64) -> Result<Vec<u8>> {
        let size = usize::try_from(size).ok().filter(|&size| size <= self.largest);
        let size = size.ok_or_else(|| self.too_large())?;
        let mut contents = Vec::new();
        let padded = size.next_multiple_of(BLOCK);
        if self.bytes.read_into(&mut contents, padded)? < padded {
            return Err(self.damaged());
        }
        contents.truncate(size);
        Ok(contents)
    }

    /// Passes over the contents of what is no file, however many they are.
    fn skip(&mut self, size: u64) -> Result<()> {
        let mut passed = Vec::new();
        let mut left = size.div_ceil(BLOCK as u64);
        while left > 0 {
            let blocks = left.min(128);
            passed.clear();
            if self.bytes.read_into(&mut passed, blocks as usize * BLOCK)? < blocks as usize * BLOCK {
                return Err(self.damaged());
            }
            left -= blocks;
        }
        Ok(())
    }

    /// The pieces of a file of type `S`: those in its header, and those in the blocks that follow it.
    fn pieces_after(&mut self, header: &Header) -> Result<Vec<Piece>> {
        let sparse = header.sparse.as_ref().ok_or_else(|| self.damaged())?;
        let mut pieces = sparse.pieces.clone();
        let mut more = sparse.more;
        while more {
            let block = self.block()?.ok_or_else(|| self.damaged())?;
            pieces.extend(read_pieces(&block[..21 * 24]).ok_or_else(|| self.damaged())?);
            more = block[504] != 0;
            if pieces.len() > MOST_PIECES {
                return Err(self.damaged());
            }
        }
        Ok(pieces)
    }

    /// A file with its holes: zeros wherever no piece of it is.
    fn spread(&self, stored: &[u8], pieces: &[Piece], real_size: Option<u64>) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut rest = stored;
        for &(offset, length) in pieces {
            let place = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
            let place = place.filter(|(offset, length)| offset.saturating_add(*length) <= self.largest);
            let (offset, length) = place.ok_or_else(|| self.too_large())?;
            // Pieces come one after the other, and all of them are there.
            let Some((piece, others)) = rest.split_at_checked(length).filter(|_| offset >= file.len()) else {
                return Err(self.damaged());
            };
            file.resize(offset, 0);
            file.extend_from_slice(piece);
            rest = others;
        }
        let real_size = real_size.unwrap_or(file.len() as u64);
        let size = usize::try_from(real_size).ok().filter(|&size| size <= self.largest);
        let size = size.ok_or_else(|| self.too_large())?;
        if !rest.is_empty() || size < file.len() {
            return Err(self.damaged());
        }
        file.resize(size, 0);
        Ok(file)
    }

    fn damaged(&self) -> Error {
        Error::NotText { name: self.bytes.name.clone(), what: "a tar archive that is damaged or cut short" }
    }

    fn too_large(&self) -> Error {
        Error::RowTooLong { name: self.bytes.name.clone(), row: 1, limit: self.largest }
    }
}

/// Where a piece of a file begins, and how long it is.
type Piece = (u64, u64);

/// The parts of a header that matter here.
struct Header {
    path: Vec<u8>,
    size: u64,
    kind: u8,
    /// Of a file with holes, as GNU writes them.
    sparse: Option<Sparse>,
}

struct Sparse {
    pieces: Vec<Piece>,
    /// Whether a block with others follows.
    more: bool,
    real_size: u64,
}

impl Header {
    fn new(block: &[u8; BLOCK]) -> Option<Self> {
        let field = |start: usize, length: usize| until_zero(&block[start..start + length]);
        let sum: u64 = block
            .iter()
            .enumerate()
            .map(|(i, &byte)| if (148..156).contains(&i) { 32 } else { u64::from(byte) })
            .sum();
        // A fuzzer cannot guess sums, and is to get behind them.
        if octal(field(148, 8))? != sum && !cfg!(fuzzing) {
            return None;
        }
        let mut path = field(0, 100).to_vec();
        if &block[257..262] == b"ustar" && block[345] != 0 && block[263] == b'0' {
            path = [field(345, 155), b"/", &path].concat();
        }
        let kind = block[156];
        let sparse = || {
            let pieces = read_pieces(&block[386..386 + 4 * 24])?;
            Some(Sparse { pieces, more: block[482] != 0, real_size: number(&block[483..495])? })
        };
        let sparse = if kind == b'S' { Some(sparse()?) } else { None };
        Some(Header { path, size: number(&block[124..136])?, kind, sparse })
    }
}

/// The pieces in a table of two numbers of twelve bytes each; an empty one ends it.
fn read_pieces(table: &[u8]) -> Option<Vec<Piece>> {
    let pieces = table.chunks_exact(24).take_while(|piece| piece[12] != 0);
    pieces.map(|piece| Some((number(&piece[..12])?, number(&piece[12..])?))).collect()
}

/// A number of twelve bytes. GNU writes those that have no room in binary, with the first bit set.
fn number(field: &[u8]) -> Option<u64> {
    match field {
        [0x80, high @ .., a, b, c, d, e, f, g, h] if high.iter().all(|&byte| byte == 0) => {
            Some(u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
        }
        [first, ..] if first & 0x80 != 0 => None,
        _ => octal(until_zero(field)),
    }
}

fn until_zero(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn octal(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?.trim();
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

/// What was said about a file before its header.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    size: Option<u64>,
    /// Of a file with holes: its own name, whose place in `path` another has taken, and its size with the holes.
    name: Option<Vec<u8>>,
    real_size: Option<u64>,
    pieces: Option<Vec<Piece>>,
    has_map_in_contents: bool,
}

impl Extended {
    /// Reads records like `26 path=a/very/long/path\n`; `None` if they are not such.
    fn read(&mut self, records: &[u8]) -> Option<()> {
        let mut rest = records;
        while !rest.is_empty() {
            let space = rest.iter().position(|&byte| byte == b' ')?;
            let length: usize = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
            let record = rest.get(space + 1..length.checked_sub(1)?)?;
            let equals = record.iter().position(|&byte| byte == b'=')?;
            self.set(&record[..equals], &record[equals + 1..])?;
            rest = &rest[length..];
        }
        Some(())
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        match key {
            // Without a value, what the header says is right after all.
            b"path" | b"size" if value.is_empty() => {}
            b"path" => self.path = Some(value.to_vec()),
            b"size" => self.size = Some(decimal(value)?),
            b"GNU.sparse.name" => self.name = Some(value.to_vec()),
            b"GNU.sparse.size" | b"GNU.sparse.realsize" => self.real_size = Some(decimal(value)?),
            b"GNU.sparse.major" => self.has_map_in_contents = decimal(value)? >= 1,
            b"GNU.sparse.offset" => self.pieces.get_or_insert_default().push((decimal(value)?, 0)),
            b"GNU.sparse.numbytes" => self.pieces.as_mut()?.last_mut()?.1 = decimal(value)?,
            b"GNU.sparse.map" => {
                let numbers: Option<Vec<u64>> = value.split(|&byte| byte == b',').map(decimal).collect();
                let (pieces, rest) = numbers.as_deref()?.as_chunks();
                self.pieces = Some(pieces.iter().map(|&[offset, length]| (offset, length)).collect());
                if !rest.is_empty() {
                    return None;
                }
            }
            _ => {}
        }
        self.pieces.as_ref().is_none_or(|pieces| pieces.len() <= MOST_PIECES).then_some(())
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The pieces that stand before the contents, as pax 1.0 has them, and how many bytes they take there.
fn map_in_contents(contents: &[u8]) -> Option<(Vec<Piece>, usize)> {
    let mut at = 0;
    let mut next = || {
        let end = at + contents[at..].iter().take(24).position(|&byte| byte == b'\n')?;
        let number = decimal(&contents[at..end]);
        at = end + 1;
        number
    };
    let count = usize::try_from(next()?).ok().filter(|&count| count <= MOST_PIECES)?;
    let pieces = (0..count).map(|_| Some((next()?, next()?))).collect::<Option<Vec<Piece>>>()?;
    Some((pieces, at.next_multiple_of(BLOCK))).filter(|&(_, length)| length <= contents.len())
}

#[cfg(test)]
mod tests;

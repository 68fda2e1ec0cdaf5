//! The bytes of a file or pipe: counted, unpacked if they are packed, and decoded.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::format::{Encoding, Packing};

/// What is read from, and how far it was read.
pub(crate) struct Bytes {
    pub(crate) name: String,
    /// How many bytes the file has, packed as it is.
    pub(crate) size: Option<u64>,
    packing: Option<Packing>,
    reader: Box<dyn Read + Send>,
    /// What was looked at and not taken.
    ahead: Vec<u8>,
    count: Arc<AtomicU64>,
    /// The pipe behind it all, if nobody is to wait for it.
    pipe: Option<Pipe>,
}

/// A pipe, and how long it may give nothing.
pub(crate) struct Pipe {
    pub(crate) file: Arc<File>,
    pub(crate) patience: Duration,
}

impl Pipe {
    /// Whether it gives nothing for as long as it may.
    #[cfg(unix)]
    fn is_slow(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let patience = Timespec::try_from(self.patience).ok();
        let mut asked = [PollFd::new(&self.file, PollFlags::IN)];
        // What cannot be asked is waited for.
        poll(&mut asked, patience.as_ref()).is_ok_and(|ready| ready == 0)
    }

    #[cfg(not(unix))]
    fn is_slow(&self) -> bool {
        false
    }
}

impl Bytes {
    /// The bytes that this reader gives, unpacked.
    pub(crate) fn new(
        name: String,
        size: Option<u64>,
        reader: Box<dyn Read + Send>,
        encoding: Encoding,
    ) -> Result<Self> {
        let count = Arc::new(AtomicU64::new(0));
        let mut reader = Counted { reader, count: Arc::clone(&count) };
        let mut bytes = Bytes {
            name,
            size,
            packing: None,
            reader: Box::new(io::empty()),
            ahead: Vec::new(),
            count,
            pipe: None,
        };
        let mut beginning = Vec::new();
        let read = reader.by_ref().take(4).read_to_end(&mut beginning);
        read.map_err(|cause| bytes.error(cause))?;
        bytes.packing = Packing::of(&beginning);
        let whole = Cursor::new(beginning).chain(reader);
        bytes.reader = match bytes.packing {
            None => Box::new(whole),
            Some(Packing::Gzip) => Box::new(MultiGzDecoder::new(whole)),
            Some(Packing::Zstd) => {
                Box::new(zstd::stream::read::Decoder::new(whole).map_err(|cause| bytes.error(cause))?)
            }
        };
        if encoding == Encoding::Latin1 {
            bytes.reader = Box::new(Latin1::new(bytes.reader));
        }
        Ok(bytes)
    }

    /// Appends this many bytes, or fewer at the end; returns how many.
    pub(crate) fn read_into(&mut self, buffer: &mut Vec<u8>, most: usize) -> Result<usize> {
        let known = most.min(self.ahead.len());
        buffer.extend(self.ahead.drain(..known));
        let read = self.reader.by_ref().take((most - known) as u64).read_to_end(buffer);
        read.map(|read| known + read).map_err(|cause| self.error(cause))
    }

    /// Has nobody wait for the pipe behind it. What is packed or decoded may be held back on the way, and is waited for.
    pub(crate) fn hurry(&mut self, pipe: Pipe, encoding: Encoding) {
        if self.packing.is_none() && encoding == Encoding::Utf8 {
            self.pipe = Some(pipe);
        }
    }

    /// Waits for the pipe after all.
    pub(crate) fn be_patient(&mut self) {
        self.pipe = None;
    }

    /// Whether nobody is to wait for what it comes from.
    pub(crate) fn is_hurried(&self) -> bool {
        self.pipe.is_some()
    }

    /// Whether there is a pipe that gives nothing now.
    pub(crate) fn is_slow(&self) -> bool {
        self.ahead.is_empty() && self.pipe.as_ref().is_some_and(Pipe::is_slow)
    }

    /// As [`read_into`](Self::read_into), but fewer bytes also if there are enough already and the pipe gives nothing now. Returns
    /// whether the end was reached.
    pub(crate) fn read_some(
        &mut self,
        buffer: &mut Vec<u8>,
        most: usize,
        is_enough: impl Fn(&[u8]) -> bool,
    ) -> Result<bool> {
        const AT_ONCE: usize = 1 << 16;
        if self.pipe.is_none() {
            return Ok(self.read_into(buffer, most)? < most);
        }
        let end = buffer.len() + most;
        let known = most.min(self.ahead.len());
        buffer.extend(self.ahead.drain(..known));
        while buffer.len() < end {
            if self.is_slow() && is_enough(buffer) {
                return Ok(false);
            }
            let length = buffer.len();
            buffer.resize(end.min(length + AT_ONCE), 0);
            let read = self.reader.read(&mut buffer[length..]);
            buffer.truncate(length + read.as_ref().copied().unwrap_or(0));
            match read {
                Ok(0) => return Ok(true),
                Ok(_) => {}
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(self.error(cause)),
            }
        }
        Ok(false)
    }

    /// The first bytes that were not read yet, as many as this or fewer at the end, or if the first line is all that a pipe gives
    /// now; they stay where they are.
    pub(crate) fn peek(&mut self, most: usize) -> Result<&[u8]> {
        let mut ahead = Vec::new();
        self.read_some(&mut ahead, most, |ahead| ahead.contains(&b'\n'))?;
        ahead.append(&mut self.ahead);
        self.ahead = ahead;
        Ok(&self.ahead[..most.min(self.ahead.len())])
    }

    /// Whether the bytes are those of the file, at their places.
    pub(crate) fn is_packed(&self) -> bool {
        self.packing.is_some()
    }

    /// All bytes that were not read yet, in a temporary file.
    #[cfg(feature = "spreadsheets")]
    pub(crate) fn into_temporary_file(mut self) -> Result<File> {
        use std::io::{Seek, Write};
        let failed =
            |cause| Error::File { name: self.name.clone(), action: "kept in a temporary file", cause };
        let mut file = tempfile::tempfile().map_err(failed)?;
        let mut buffer = Vec::new();
        while self.read_into(&mut buffer, 1 << 20)? > 0 {
            let failed =
                |cause| Error::File { name: self.name.clone(), action: "kept in a temporary file", cause };
            file.write_all(&buffer).map_err(failed)?;
            buffer.clear();
        }
        file.rewind().map_err(|cause| Error::File { name: self.name, action: "read", cause })?;
        Ok(file)
    }

    /// How many bytes were read from the file, packed as it is.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    fn error(&self, cause: io::Error) -> Error {
        let name = self.name.clone();
        match self.packing {
            // What the system reports is about the file, everything else about what is in it.
            Some(packing) if cause.raw_os_error().is_none() => {
                let cut_short = cause.kind() == io::ErrorKind::UnexpectedEof;
                Error::Packed { name, packing: packing.name(), cut_short }
            }
            _ => Error::File { name, action: "read", cause },
        }
    }
}

/// Counts the bytes that pass.
struct Counted<R> {
    reader: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Turns Latin-1 into UTF-8: bytes from 0x80 on become two.
struct Latin1<R> {
    reader: R,
    bytes: [u8; 1 << 14],
    next: usize,
    end: usize,
    /// The second byte of a character for which there was room for the first only.
    second: Option<u8>,
}

impl<R> Latin1<R> {
    fn new(reader: R) -> Self {
        Latin1 { reader, bytes: [0; 1 << 14], next: 0, end: 0, second: None }
    }
}

impl<R: Read> Read for Latin1<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.next == self.end && self.second.is_none() {
            self.end = self.reader.read(&mut self.bytes)?;
            self.next = 0;
        }
        let mut written = 0;
        while written < buffer.len() {
            if let Some(second) = self.second.take() {
                buffer[written] = second;
            } else if self.next < self.end {
                let byte = self.bytes[self.next];
                self.next += 1;
                buffer[written] = if byte < 0x80 { byte } else { 0xc0 | byte >> 6 };
                self.second = (byte >= 0x80).then_some(0x80 | byte & 0x3f);
            } else {
                break;
            }
            written += 1;
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn read(bytes: Vec<u8>, encoding: Encoding, step: usize) -> Result<(Vec<u8>, u64)> {
        let reader = Box::new(Cursor::new(bytes));
        let mut bytes = Bytes::new("t".into(), None, reader, encoding)?;
        let mut all = Vec::new();
        while bytes.read_into(&mut all, step)? > 0 {}
        Ok((all, bytes.count()))
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn packed_files_are_unpacked_and_counted_packed() {
        let text = "a,b\n1,2\n".repeat(1000).into_bytes();
        let zstd = zstd::encode_all(text.as_slice(), 3).unwrap();
        let twice = |packed: Vec<u8>| (packed.repeat(2), text.repeat(2));
        for (packed, expected) in [(text.clone(), text.clone()), twice(gzip(&text)), twice(zstd)] {
            for step in [1, 7, 1 << 20] {
                let (read, count) = read(packed.clone(), Encoding::Utf8, step).unwrap();
                assert!(read == expected);
                assert_eq!(count, packed.len() as u64);
            }
        }
        assert_eq!(read(Vec::new(), Encoding::Utf8, 9).unwrap().0, b"");
        assert_eq!(read(gzip(b""), Encoding::Utf8, 9).unwrap().0, b"");
    }

    #[test]
    fn packed_files_that_are_not_whole_are_named() {
        let text: Vec<u8> = (0..5000_u32).flat_map(|i| (i * i).to_string().into_bytes()).collect();
        for (what, packed) in [("gzip", gzip(&text)), ("zstd", zstd::encode_all(text.as_slice(), 3).unwrap())]
        {
            for end in [packed.len() - 1, packed.len() / 2, 6] {
                let error = read(packed[..end].to_vec(), Encoding::Utf8, 1 << 20).unwrap_err().to_string();
                assert_eq!(error, format!("t: the {what} file is cut short; fetch or pack it again"));
            }
            let mut damaged = packed.clone();
            // The checksum of gzip; zstd has none unless it is asked for.
            if what == "gzip" {
                damaged[packed.len() - 8] ^= 1
            } else {
                damaged[packed.len() / 2..].fill(0x55)
            }
            let error = read(damaged, Encoding::Utf8, 1 << 20).unwrap_err().to_string();
            assert_eq!(error, format!("t: the {what} file is damaged; fetch or pack it again"));
        }
    }

    #[test]
    fn latin_1_becomes_utf_8() {
        let latin: Vec<u8> = (0..=255).cycle().take(40_000).collect();
        let expected: String = latin.iter().map(|&byte| char::from(byte)).collect();
        for step in [1, 2, 3, 1000, 1 << 20] {
            assert!(read(latin.clone(), Encoding::Latin1, step).unwrap().0 == expected.as_bytes());
        }
    }
}

//! Refuses archives that unpack to far more than they look like.

use std::io::{BufReader, Read, Seek};

use memchr::memrchr;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::guarded::damaged;
use crate::spreadsheet::FORMAT;

/// How much all parts may unpack to, and how many times the size of the file that may be if it is more than a little. Sheets are
/// packed to a tenth or a twentieth.
const MOST: u64 = 4 << 30;
const MOST_TIMES: u64 = 200;
const LITTLE: u64 = 64 << 20;
/// Parts that are held in memory may have so many bytes: all text of a workbook, and how its cells are shown.
const MOST_STRINGS: u64 = 128 << 20;
const MOST_STYLES: u64 = 16 << 20;
/// So many strings may be claimed without being there, as some programs do.
const FEW_STRINGS: u64 = 1 << 20;
/// A tag and a piece of text may have so many bytes. A cell holds 32,767 characters.
const LONGEST_PIECE: u64 = 1 << 20;

/// Unpacks every part of a workbook once, and keeps nothing. What a part claims to unpack to cannot be trusted.
pub(super) fn refuse<R: Read + Seek>(name: &str, archive: &mut ZipArchive<R>, size: u64) -> Result<()> {
    let most = MOST.min(LITTLE.max(size.saturating_mul(MOST_TIMES)));
    let mut total = 0;
    for i in 0..archive.len() {
        let part = archive.by_index(i).map_err(|error| damaged(name, FORMAT, &error))?;
        let path = part.name().map_err(|error| damaged(name, FORMAT, &error))?.to_lowercase();
        let is_text = path.ends_with(".xml") || path.ends_with(".rels");
        let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let most_here = match file {
            "sharedstrings.xml" => MOST_STRINGS,
            "styles.xml" => MOST_STYLES,
            _ => MOST,
        };
        let mut part = Counted { reader: part, count: 0, piece: 0 };
        let claimed = if file == "sharedstrings.xml" { claimed_strings(&mut part) } else { 0 };
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = part.read(&mut buffer).map_err(|error| damaged(name, FORMAT, &error))?;
            let is_long = is_text && part.piece > LONGEST_PIECE;
            if part.count > most_here || total + part.count > most || is_long {
                return Err(Error::Bomb { name: name.into() });
            }
            if read == 0 {
                break;
            }
        }
        // Room is made for as many strings as are claimed, and each of them takes five bytes at least.
        if claimed > FEW_STRINGS.max(part.count / 5) {
            return Err(damaged(name, FORMAT, &"it claims to hold more text than it does"));
        }
        total += part.count;
    }
    Ok(())
}

/// How many strings the table of strings says that it has; 0 if it does not, and more than can be if that is not said in time.
fn claimed_strings(part: &mut impl Read) -> u64 {
    let beginning = part.take(LONGEST_PIECE);
    let mut reader = Reader::from_reader(BufReader::new(beginning));
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(start) | Event::Empty(start)) if start.local_name().as_ref() == "sst" => {
                let mut attributes = start.attributes();
                let counts = attributes.with_checks(false).flatten();
                let counts = counts.filter(|attribute| attribute.key.as_ref() == "uniqueCount");
                return counts.filter_map(|attribute| attribute.value.trim().parse().ok()).max().unwrap_or(0);
            }
            Ok(Event::Eof) | Err(_) => {
                let is_whole = reader.get_ref().get_ref().limit() > 0;
                return if is_whole { 0 } else { u64::MAX };
            }
            Ok(_) => {}
        }
    }
}

/// Counts what passes: all bytes, and those since the last tag began.
struct Counted<R> {
    reader: R,
    count: u64,
    piece: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count += read as u64;
        self.piece = match memrchr(b'<', &buffer[..read]) {
            Some(last) => (read - last) as u64,
            None => self.piece + read as u64,
        };
        Ok(read)
    }
}

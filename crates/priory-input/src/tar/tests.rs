use std::io::Cursor;

use super::*;
use crate::format::Encoding;

/// A block with this name, size and kind, and whatever `change` does to it.
fn header_with(name: &str, kind: u8, size: usize, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut header = vec![0; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = kind;
    change(&mut header);
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

fn padded(contents: &[u8]) -> Vec<u8> {
    let mut padded = contents.to_vec();
    padded.resize(contents.len().next_multiple_of(BLOCK), 0);
    padded
}

fn entry(name: &str, kind: u8, contents: &[u8]) -> Vec<u8> {
    [header_with(name, kind, contents.len(), |_| ()), padded(contents)].concat()
}

/// An entry of pax records.
fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let record = |(key, value): &(&str, &str)| {
        // The length counts its own digits.
        let rest = format!(" {key}={value}\n");
        let digits = (1..).find(|digits| (rest.len() + digits).to_string().len() == *digits).unwrap();
        format!("{}{rest}", rest.len() + digits)
    };
    entry("pax", b'x', records.iter().map(record).collect::<String>().as_bytes())
}

/// The table of pieces as GNU writes it.
fn table(pieces: &[(u64, u64)]) -> Vec<u8> {
    pieces
        .iter()
        .flat_map(|(offset, length)| format!("{offset:011o}\0{length:011o}\0").into_bytes())
        .collect()
}

/// The files of an archive, or what is wrong with it.
fn read(archive: &[u8]) -> std::result::Result<Vec<(String, Vec<u8>)>, String> {
    let reader = Box::new(Cursor::new(archive.to_vec()));
    let mut bytes = Bytes::new("t".into(), None, reader, Encoding::Utf8).unwrap();
    let mut files = Vec::new();
    while let Some(file) = next_file(&mut bytes, 1 << 16).map_err(|error| error.to_string())? {
        files.push((String::from_utf8(file.path).unwrap(), file.contents));
    }
    Ok(files)
}

fn file(name: &str, contents: impl AsRef<[u8]>) -> (String, Vec<u8>) {
    (name.to_owned(), contents.as_ref().to_vec())
}

const DAMAGED: &str = "t: this is a tar archive that is damaged or cut short";

#[test]
fn long_names_and_links_to_long_names() {
    let long = format!("x/{}/1", "y".repeat(300));
    let archive = [
        entry("././@LongLink", b'L', format!("{long}\0").as_bytes()),
        entry("././@LongLink", b'K', b"where/it/leads\0"),
        entry("short", b'0', b"one"),
        pax(&[("comment", "nothing"), ("path", "p/2")]),
        entry("global", b'g', b"11 size=0x\n"),
        entry("short", b'0', b"two"),
        // What is said about a folder or a link is not said about the file after it, and their sizes are not of contents.
        pax(&[("path", "folder/")]),
        header_with("folder/", b'5', 4096, |_| ()),
        header_with("link", b'2', 700, |_| ()),
        entry("3", b'0', b"three"),
        vec![0; 1024],
        b"what follows the end".to_vec(),
    ]
    .concat();
    assert_eq!(read(&archive).unwrap(), [file(&long, "one"), file("p/2", "two"), file("3", "three")]);
}

#[test]
fn a_size_in_pax_counts_more_than_the_one_in_the_header() {
    // The header says 0: whoever believes it takes the contents for the next header.
    let archive = [
        pax(&[("size", "600")]),
        header_with("a/1", b'0', 0, |_| ()),
        padded(&[b'x'; 600]),
        pax(&[("size", "")]),
        entry("a/2", b'0', b"y"),
    ];
    assert_eq!(read(&archive.concat()).unwrap(), [file("a/1", [b'x'; 600]), file("a/2", "y")]);
    let binary = header_with("a/1", b'0', 0, |header| {
        header[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    });
    assert_eq!(read(&[binary, padded(b"xyz")].concat()).unwrap(), [file("a/1", "xyz")]);
}

/// A file with the letters a, b, c … in blocks of 512 bytes, each after a hole of as many.
fn with_holes(letters: u8) -> (Vec<u8>, Vec<u8>, Vec<(u64, u64)>) {
    let stored: Vec<u8> = (0..letters).flat_map(|i| [b'a' + i; BLOCK]).collect();
    let whole = (0..letters).flat_map(|i| [[0; BLOCK], [b'a' + i; BLOCK]].concat()).chain([0; 100]).collect();
    let pieces = (0..u64::from(letters)).map(|i| (1024 * i + 512, 512)).collect();
    (stored, whole, pieces)
}

/// A file with holes as GNU writes it.
fn gnu_sparse(name: &str, stored: &[u8], real_size: usize, pieces: &[(u64, u64)]) -> Vec<u8> {
    let (first, others) = pieces.split_at(pieces.len().min(4));
    let header = header_with(name, b'S', stored.len(), |header| {
        header[386..386 + 24 * first.len()].copy_from_slice(&table(first));
        header[482] = u8::from(!others.is_empty());
        header[483..494].copy_from_slice(format!("{real_size:011o}").as_bytes());
    });
    let mut blocks = others.chunks(21).peekable();
    let mut archive = header;
    while let Some(pieces) = blocks.next() {
        let mut block = padded(&table(pieces));
        block[504] = u8::from(blocks.peek().is_some());
        archive.extend(block);
    }
    [archive, padded(stored)].concat()
}

#[test]
fn files_with_holes_have_them() {
    let next = || entry("b/2", b'0', b"next");
    // In the header alone, with one block after it, and with two.
    for letters in [3, 20, 26] {
        let (stored, whole, pieces) = with_holes(letters);
        let archive = [gnu_sparse("a/1", &stored, whole.len(), &pieces), next()].concat();
        assert_eq!(read(&archive).unwrap(), [file("a/1", &whole), file("b/2", "next")]);
    }
    let (stored, whole, pieces) = with_holes(5);
    let size = whole.len().to_string();
    let numbers: Vec<(String, String)> =
        pieces.iter().map(|(offset, length)| (offset.to_string(), length.to_string())).collect();
    let mut version_0_0 = vec![("GNU.sparse.size", size.as_str()), ("GNU.sparse.numblocks", "5")];
    for (offset, length) in &numbers {
        version_0_0.extend([("GNU.sparse.offset", offset.as_str()), ("GNU.sparse.numbytes", length)]);
    }
    let archive = [pax(&version_0_0), entry("a/1", b'0', &stored), next()].concat();
    assert_eq!(read(&archive).unwrap(), [file("a/1", &whole), file("b/2", "next")]);

    let map: Vec<String> = numbers.iter().map(|(offset, length)| format!("{offset},{length}")).collect();
    let map = map.join(",");
    let version_0_1 =
        [("GNU.sparse.size", size.as_str()), ("GNU.sparse.name", "a/1"), ("GNU.sparse.map", map.as_str())];
    let archive = [pax(&version_0_1), entry("GNUSparseFile.7/1", b'0', &stored), next()].concat();
    assert_eq!(read(&archive).unwrap(), [file("a/1", &whole), file("b/2", "next")]);

    let version_1_0 = [
        ("GNU.sparse.major", "1"),
        ("GNU.sparse.minor", "0"),
        ("GNU.sparse.name", "a/1"),
        ("GNU.sparse.realsize", size.as_str()),
        ("path", "a/GNUSparseFile.7/1"),
    ];
    let lines = format!("5\n{}\n", map.replace(',', "\n"));
    let contents = [padded(lines.as_bytes()), stored].concat();
    let archive = [pax(&version_1_0), entry("GNUSparseFile.7/1", b'0', &contents), next()].concat();
    assert_eq!(read(&archive).unwrap(), [file("a/1", &whole), file("b/2", "next")]);
}

#[test]
fn pieces_that_cannot_be() {
    let sparse = |pieces: &[(u64, u64)], stored: usize, real_size: usize| {
        read(&gnu_sparse("a/1", &vec![b'x'; stored], real_size, pieces))
    };
    let too_large = "t: row 1 is longer than 65536 bytes; perhaps a quote is never closed, or the lines do not end in line feeds";
    assert_eq!(sparse(&[(0, 512), (256, 512)], 1024, 1024).unwrap_err(), DAMAGED);
    assert_eq!(sparse(&[(0, 512)], 1024, 1024).unwrap_err(), DAMAGED);
    assert_eq!(sparse(&[(0, 512)], 100, 1024).unwrap_err(), DAMAGED);
    assert_eq!(sparse(&[(0, 512)], 512, 100).unwrap_err(), DAMAGED);
    assert_eq!(sparse(&[(1 << 32, 1)], 1, 1).unwrap_err(), too_large);
    assert_eq!(sparse(&[(0, 1)], 1, 1 << 32).unwrap_err(), too_large);
    // A hole of four gigabytes, of which nobody should make any bytes.
    for (key, value) in [("GNU.sparse.offset", "18446744073709551615"), ("GNU.sparse.map", "4294967296,1")] {
        let archive = [pax(&[(key, value), ("GNU.sparse.numbytes", "1")]), entry("a/1", b'0', b"x")].concat();
        assert_eq!(read(&archive).unwrap_err(), too_large);
    }
    for records in [
        vec![("GNU.sparse.map", "1")],
        vec![("GNU.sparse.map", "")],
        vec![("GNU.sparse.numbytes", "1")],
        vec![("size", "-1")],
        vec![("size", "99999999999999999999")],
        vec![("GNU.sparse.major", "1")],
    ] {
        let archive = [pax(&records), entry("a/1", b'0', b"x")].concat();
        assert_eq!(read(&archive).unwrap_err(), DAMAGED, "{records:?}");
    }
    let endless = "9".repeat(30);
    for lines in ["2\n0\n1\n", "70000\n", "x\n", endless.as_str(), ""] {
        let archive = [pax(&[("GNU.sparse.major", "1")]), entry("a/1", b'0', &padded(lines.as_bytes()))];
        assert_eq!(read(&archive.concat()).unwrap_err(), DAMAGED, "{lines}");
    }
    for records in ["999 path=a", "0 path=a", "path=a\n", "9 path a\n"] {
        let archive = [entry("pax", b'x', records.as_bytes()), entry("a/1", b'0', b"x")].concat();
        assert_eq!(read(&archive).unwrap_err(), DAMAGED, "{records}");
    }
}

#[test]
fn what_never_ends_is_not_kept() {
    // Blocks of pieces without end, and more about one file than anybody has to say.
    let mut block = padded(&table(&[(0, 0); 21]));
    block[504] = 1;
    let header = &gnu_sparse("a/1", b"", 0, &[(0, 0); 5])[..BLOCK];
    assert_eq!(read(&[header, &block.repeat(4000)].concat()).unwrap_err(), DAMAGED);
    for kind in [b'x', b'L'] {
        assert_eq!(read(&header_with("pax", kind, 5 << 20, |_| ())).unwrap_err(), DAMAGED);
    }
    let too_long = read(&header_with("a/1", b'0', (1 << 16) + 1, |_| ())).unwrap_err();
    assert!(too_long.starts_with("t: row 1 is longer than 65536 bytes"), "{too_long}");
}

//! Journals: arbitrary bytes are read or refused, and what was written is read as it was, wherever it is cut short.
#![no_main]

use libfuzzer_sys::fuzz_target;
use priory_input::store::journal::{read_bytes, write_bytes};

fn read(bytes: &[u8]) -> Option<(Vec<u8>, Vec<Vec<u8>>, u64)> {
    let mut records = Vec::new();
    let read = read_bytes(bytes, |record| {
        records.push(record.to_vec());
        Ok(())
    });
    let (head, end) = read.ok()?;
    Some((head, records, end))
}

fuzz_target!(|input: &[u8]| {
    if let Some((_, _, end)) = read(input) {
        assert!(end <= input.len() as u64);
        // What was cut off does not come back.
        assert!(read(&input[..end as usize]).is_some_and(|again| again.2 == end));
    }
    let Some((&cut, rest)) = input.split_first() else { return };
    let groups: Vec<Vec<Vec<u8>>> =
        rest.split(|&byte| byte == 0).map(|group| group.split(|&byte| byte == 1).map(<[u8]>::to_vec).collect()).collect();
    let bytes = write_bytes(*b"a mark 1", b"head", &groups).expect("it is short");
    let (head, records, end) = read(&bytes).expect("it was just written");
    assert!(head == b"head" && records == groups.concat() && end == bytes.len() as u64);
    let last = write_bytes(*b"a mark 1", b"head", &groups[..groups.len() - 1]).expect("it is short").len();
    let short = &bytes[..last + (bytes.len() - last) * usize::from(cut) / 256];
    let (_, records, end) = read(short).expect("it was cut short in its last group");
    assert!(records == groups[..groups.len() - 1].concat() && end == last as u64);
});

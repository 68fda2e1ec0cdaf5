//! Packed tables: as they come, and text that is packed here and then cut or changed.
#![no_main]

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{Choices, check_table};
use priory_input::{InputFormat, Table};

fuzz_target!(|input: &[u8]| {
    let Some((&[how, place], rest)) = input.split_first_chunk::<2>() else { return };
    let Some((choices, bytes)) = Choices::split(rest, InputFormat::Delimited) else { return };
    if how % 4 == 0 {
        // A small file may unpack to a large one; what is learnt from that is learnt from its beginning.
        let packed: Vec<u8> = bytes.iter().copied().take(512).collect();
        return check_table(&packed, &choices);
    }
    let packed = if how & 16 == 0 { gzip(bytes) } else { zstd::encode_all(bytes, 1).unwrap() };
    let at = usize::from(place) * packed.len() / 256;
    match how % 4 {
        1 => check_table(&packed, &choices),
        2 => {
            // Nothing that is cut short is taken for whole. Four bytes tell how it is packed.
            let cut = &packed[..at.max(4)];
            assert!(read_all(cut, &choices).is_err(), "{} of {} bytes are enough", cut.len(), packed.len());
        }
        _ => {
            let mut changed = packed;
            changed[at] ^= how.rotate_left(3) | 1;
            check_table(&changed, &choices);
        }
    }
});

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reads a table to its end as a single class, or to its first flaw.
fn read_all(bytes: &[u8], choices: &Choices) -> Result<(), priory_input::Error> {
    let table = Table::from_reader("t", Cursor::new(bytes.to_vec()), &choices.options)?;
    let columns = table.header()[1..].iter().map(|name| priory::Column::new(name, priory::Kind::Category));
    let schema = priory::Schema::new(&table.header()[0], columns.collect())?;
    let mut batches = table.batches(&schema, priory_input::Purpose::Learning)?;
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch)? {}
    Ok(())
}

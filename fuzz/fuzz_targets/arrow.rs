//! Arrow's own format, as a file and as a stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{Choices, check_read, seeds};
use priory_input::{InputFormat, Table};

fuzz_target!(
    init: seeds::write(&seeds::arrow()),
    |input: &[u8]| {
        if let Some((choices, bytes)) = Choices::split(input, InputFormat::Arrow) {
            let bytes = bytes.to_vec();
            check_read(&choices, || {
                Table::from_reader("t", std::io::Cursor::new(bytes.clone()), &choices.options)
            });
        }
    }
);

//! Documents: in a tar archive, and in lines of three formats.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{Choices, check_read, check_table};
use priory_input::{InputFormat, Table};

fuzz_target!(|input: &[u8]| {
    let Some((how, rest)) = input.split_first() else { return };
    let formats =
        [InputFormat::Documents, InputFormat::Lines, InputFormat::FastText, InputFormat::VowpalWabbit];
    let format = formats[usize::from(*how) % 4];
    let Some((choices, bytes)) = Choices::split(rest, format) else { return };
    let choices = choices.of_documents();
    if format == InputFormat::Documents {
        let bytes = bytes.to_vec();
        check_read(&choices, || Table::from_reader("t", Cursor::new(bytes.clone()), &choices.options));
    } else {
        check_table(bytes, &choices);
    }
});

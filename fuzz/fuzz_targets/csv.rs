//! Delimited text in every dialect and in blocks of every size, beside the csv crate.
#![no_main]

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{Choices, check_against_csv, check_table};
use priory_input::InputFormat;

fuzz_target!(|input: &[u8]| {
    if let Some((choices, text)) = Choices::split(input, InputFormat::Delimited) {
        check_table(text, &choices);
        check_against_csv(text, &choices);
    }
});

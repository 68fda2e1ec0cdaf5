//! svmlight, in blocks of every size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{Choices, check_table};
use priory_input::InputFormat;

fuzz_target!(|input: &[u8]| {
    if let Some((choices, text)) = Choices::split(input, InputFormat::Svmlight) {
        check_table(text, &choices);
    }
});

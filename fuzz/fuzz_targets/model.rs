//! Model files. Checksums are not compared while fuzzing, or nothing behind them would be reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{check_model, check_parts};

fuzz_target!(|input: &[u8]| {
    if let Ok(learnt) = priory::Learnt::read(&input) {
        check_model(&learnt);
    }
    check_parts(input);
});

//! Parquet, which is read from a file only.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use priory_fuzz::{Choices, check_read, seeds};
use priory_input::{InputFormat, Table};

static PATH: LazyLock<String> = LazyLock::new(|| {
    let name = format!("priory-fuzz-{}.parquet", std::process::id());
    std::env::temp_dir().join(name).to_string_lossy().into_owned()
});

fuzz_target!(
    init: seeds::write(&seeds::parquet()),
    |input: &[u8]| {
        if let Some((choices, bytes)) = Choices::split(input, InputFormat::Parquet) {
            fs::write(&*PATH, bytes).expect("there is room for a small file");
            check_read(&choices, || Table::open(&PATH, &choices.options));
            let _ = fs::remove_file(&*PATH);
        }
    }
);

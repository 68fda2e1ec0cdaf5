//! Files in formats that no shell can write, for the fuzzer to begin with.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Puts seeds into the folder that `PRIORY_SEEDS` names, with choices before them: all text, and numbers.
pub fn write(seeds: &[Vec<u8>]) {
    let Some(folder) = std::env::var_os("PRIORY_SEEDS") else { return };
    for (i, seed) in seeds.iter().enumerate() {
        for (j, choices) in [[0; 8], [0, 0, 0, 2, 0, 0xff, 48, 0]].iter().enumerate() {
            let path = Path::new(&folder).join(format!("seed-{i}-{j}"));
            fs::write(path, [choices, seed.as_slice()].concat()).expect("the folder exists");
        }
    }
}

/// A few rows of several types, with gaps.
fn rows() -> RecordBatch {
    let words: StringArray =
        [Some("p"), Some("q"), None, Some("p"), Some("a longer word")].into_iter().collect();
    let numbers: Float64Array = [Some(1.5), None, Some(-0.0), Some(1e300), Some(7.0)].into_iter().collect();
    let codes: DictionaryArray<Int8Type> = ["u", "v", "u", "u", "w"].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("y", Arc::new(words)),
        ("x", Arc::new(numbers)),
        ("c", Arc::new(codes)),
        ("n", Arc::new(Int32Array::from(vec![Some(1), Some(-5), None, Some(i32::MAX), Some(0)]))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), Some(true)]))),
        ("d", Arc::new(Date32Array::from(vec![Some(0), Some(20_000), None, Some(-1), Some(1)]))),
        ("v", Arc::new(StringViewArray::from(vec!["short", "longer than twelve bytes", "", "?", "NA"]))),
    ];
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("the columns are equally long")
}

/// Parquet files, packed in several ways.
pub fn parquet() -> Vec<Vec<u8>> {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let ways = [(Compression::UNCOMPRESSED, true), (Compression::UNCOMPRESSED, false), (zstd, true)];
    ways.into_iter()
        .chain([(Compression::SNAPPY, false), (Compression::LZ4_RAW, true)])
        .map(parquet_file)
        .collect()
}

fn parquet_file((compression, dictionary): (Compression, bool)) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(3))
        .set_data_page_row_count_limit(2)
        .set_write_batch_size(2)
        .set_compression(compression)
        .set_dictionary_enabled(dictionary)
        .build();
    let rows = rows();
    let mut writer =
        ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).expect("valid settings");
    writer.write(&rows).expect("memory takes everything");
    writer.into_inner().expect("memory takes everything")
}

/// Arrow files and streams, packed in several ways.
pub fn arrow() -> Vec<Vec<u8>> {
    let ways = [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)];
    ways.into_iter().flat_map(|packed| [arrow_bytes(packed, false), arrow_bytes(packed, true)]).collect()
}

fn arrow_bytes(packed: Option<CompressionType>, file: bool) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(packed).expect("valid settings");
    let rows = rows();
    let parts = [rows.slice(0, 2), rows.slice(2, 3)];
    let mut bytes = Vec::new();
    if file {
        let mut writer =
            FileWriter::try_new_with_options(&mut bytes, &rows.schema(), options).expect("valid settings");
        parts.iter().for_each(|part| writer.write(part).expect("memory takes everything"));
        writer.finish().expect("memory takes everything");
    } else {
        let mut writer =
            StreamWriter::try_new_with_options(&mut bytes, &rows.schema(), options).expect("valid settings");
        parts.iter().for_each(|part| writer.write(part).expect("memory takes everything"));
        writer.finish().expect("memory takes everything");
    }
    bytes
}

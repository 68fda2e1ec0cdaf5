use std::fs;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, ListBuilder, StringDictionaryBuilder, StringViewBuilder,
};
use arrow_array::types::{Int8Type, UInt16Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Statistics};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::error::Result;
use crate::{BadValues, InputFormat, Purpose, ReadOptions, Table, fold};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn parquet(
    rows: &RecordBatch,
    group: usize,
    page: usize,
    compression: Compression,
    dictionary: bool,
) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_data_page_row_count_limit(page)
        .set_write_batch_size(page)
        .set_compression(compression)
        .set_dictionary_enabled(dictionary)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.into_inner().unwrap()
}

fn plain_parquet(rows: &RecordBatch) -> Vec<u8> {
    parquet(rows, 1000, 100, Compression::SNAPPY, true)
}

/// The rows in messages of this many each.
fn ipc(rows: &RecordBatch, step: usize, packed: Option<CompressionType>, file: bool) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
    let mut bytes = Vec::new();
    let parts = (0..rows.num_rows()).step_by(step).map(|i| rows.slice(i, step.min(rows.num_rows() - i)));
    if file {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &rows.schema(), options).unwrap();
        parts.for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &rows.schema(), options).unwrap();
        parts.for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
    }
    bytes
}

/// A file of these bytes, as long as the directory lives.
fn stored_file(directory: &TempDir, name: &str, bytes: &[u8]) -> String {
    let path = directory.path().join(name).display().to_string();
    fs::write(&path, bytes).unwrap();
    path
}

fn open(bytes: &[u8]) -> Result<Table> {
    let directory = tempfile::tempdir().unwrap();
    Table::open(&stored_file(&directory, "t", bytes), &ReadOptions::default())
}

/// Every row of a table as text, the class first.
fn rows(table: Table, schema: &Schema) -> Result<Vec<Vec<Option<String>>>> {
    let mut batches = table.batches(schema, Purpose::Learning)?;
    let mut batch = Batch::new(schema);
    let mut rows = Vec::new();
    while batches.read(&mut batch)? {
        for row in 0..batch.rows {
            let class = batch.classes.value(row).map(String::from);
            rows.push(
                [class].into_iter().chain((0..batch.columns.len()).map(|i| batch.written(i, row))).collect(),
            );
        }
    }
    Ok(rows)
}

fn schema(columns: &[(&str, Kind)]) -> Schema {
    Schema::new("y", columns.iter().map(|(name, kind)| Column::new(*name, *kind)).collect()).unwrap()
}

/// One column, read as a category and as numbers, from Parquet and from Arrow.
fn check(array: ArrayRef, category: &[&str], number: &[&str]) {
    let classes: ArrayRef = Arc::new(StringArray::from(vec!["a"; array.len()]));
    let table = batch(vec![("y", classes), ("x", array)]);
    let files = [
        plain_parquet(&table),
        ipc(&table, 2, None, true),
        ipc(&table, 2, Some(CompressionType::ZSTD), false),
        ipc(&table, 100, Some(CompressionType::LZ4_FRAME), false),
    ];
    for (i, file) in files.iter().enumerate() {
        for (kind, expected) in [(Kind::Category, category), (Kind::Number, number)] {
            let options = ReadOptions { bad_values: BadValues::Missing, ..ReadOptions::default() };
            let directory = tempfile::tempdir().unwrap();
            let table = Table::open(&stored_file(&directory, "t", file), &options).unwrap();
            let read = rows(table, &schema(&[("x", kind)])).unwrap();
            let read: Vec<&str> = read.iter().map(|row| row[1].as_deref().unwrap_or("-")).collect();
            assert_eq!(read, expected, "file {i} as {kind:?}");
        }
    }
}

#[test]
fn strings_in_every_layout() {
    let values =
        [Some("x"), None, Some("?"), Some("7"), Some("a longer string than twelve bytes"), Some("x")];
    let category = ["x", "-", "-", "7", "a longer string than twelve bytes", "x"];
    let number = ["-", "-", "-", "7", "-", "-"];
    check(Arc::new(StringArray::from(values.to_vec())), &category, &number);
    check(Arc::new(LargeStringArray::from(values.to_vec())), &category, &number);
    let mut views = StringViewBuilder::new();
    values.iter().for_each(|value| views.append_option(*value));
    check(Arc::new(views.finish()), &category, &number);
    let bytes: Vec<Option<&[u8]>> = values.iter().map(|value| value.map(str::as_bytes)).collect();
    check(Arc::new(BinaryArray::from(bytes.clone())), &category, &number);
    check(Arc::new(LargeBinaryArray::from(bytes.clone())), &category, &number);
    check(Arc::new(BinaryViewArray::from(bytes)), &category, &number);
    let mut small = StringDictionaryBuilder::<Int8Type>::new();
    let mut large = StringDictionaryBuilder::<UInt16Type>::new();
    for value in values {
        small.append_option(value);
        large.append_option(value);
    }
    check(Arc::new(small.finish()), &category, &number);
    check(Arc::new(large.finish()), &category, &number);
    let mut fixed = FixedSizeBinaryBuilder::new(2);
    fixed.append_value(b"12").unwrap();
    fixed.append_null();
    check(Arc::new(fixed.finish()), &["12", "-"], &["12", "-"]);
}

#[test]
fn numbers_of_every_width() {
    let (category, number) = (&["1", "-", "127"], &["1", "-", "127"]);
    check(Arc::new(Int8Array::from(vec![Some(1), None, Some(127)])), category, number);
    check(Arc::new(Int16Array::from(vec![Some(1), None, Some(127)])), category, number);
    check(Arc::new(Int32Array::from(vec![Some(1), None, Some(127)])), category, number);
    check(Arc::new(UInt8Array::from(vec![Some(1), None, Some(127)])), category, number);
    check(Arc::new(UInt16Array::from(vec![Some(1), None, Some(127)])), category, number);
    check(Arc::new(UInt32Array::from(vec![Some(1), None, Some(127)])), category, number);
    // The nearest number, beyond what a float can tell apart.
    let large = (1_i64 << 53) + 1;
    check(
        Arc::new(Int64Array::from(vec![large, -1])),
        &["9007199254740993", "-1"],
        &["9007199254740992", "-1"],
    );
    let most = "18446744073709551615";
    check(Arc::new(UInt64Array::from(vec![u64::MAX])), &[most], &["18446744073709552000"]);
    let floats = vec![Some(1.0), None, Some(f64::NAN), Some(-2.5e-7), Some(f64::INFINITY)];
    check(
        Arc::new(Float64Array::from(floats)),
        &["1.0", "-", "-", "-2.5e-07", "inf"],
        &["1", "-", "-", "-0.00000025", "-"],
    );
    check(Arc::new(Float32Array::from(vec![0.1, 1.0])), &["0.1", "1.0"], &["0.10000000149011612", "1"]);
    type Half = <types::Float16Type as ArrowPrimitiveType>::Native;
    let half = Float16Array::from(vec![Half::from_f32(1.5)]);
    check(Arc::new(half), &["1.5"], &["1.5"]);
    let mut booleans = BooleanBuilder::new();
    [Some(true), None, Some(false)].into_iter().for_each(|value| booleans.append_option(value));
    check(Arc::new(booleans.finish()), &["true", "-", "false"], &["1", "-", "0"]);
    check(Arc::new(NullArray::new(2)), &["-", "-"], &["-", "-"]);
    let decimal =
        Decimal128Array::from(vec![Some(150), None, Some(-7)]).with_precision_and_scale(20, 2).unwrap();
    check(Arc::new(decimal), &["1.50", "-", "-0.07"], &["1.5", "-", "-0.07"]);
    let decimal = Decimal64Array::from(vec![Some(12)]).with_precision_and_scale(10, 1).unwrap();
    check(Arc::new(decimal), &["1.2"], &["1.2"]);
}

#[test]
fn dates_are_days() {
    check(
        Arc::new(Date32Array::from(vec![Some(0), None, Some(19_723)])),
        &["1970-01-01", "-", "2024-01-01"],
        &["0", "-", "19723"],
    );
    let half_a_day = 43_200;
    let noon = "1970-01-01T12:00:00";
    check(Arc::new(TimestampSecondArray::from(vec![half_a_day])), &[noon], &["0.5"]);
    check(Arc::new(TimestampMillisecondArray::from(vec![half_a_day * 1000])), &[noon], &["0.5"]);
    check(Arc::new(TimestampMicrosecondArray::from(vec![half_a_day * 1_000_000])), &[noon], &["0.5"]);
    let zoned = TimestampNanosecondArray::from(vec![-half_a_day * 1_000_000_000 + 1]).with_timezone("+00:00");
    check(Arc::new(zoned), &["1969-12-31T12:00:00.000000001"], &["-0.49999999999998845"]);
    check(Arc::new(Time32SecondArray::from(vec![21_600])), &["06:00:00"], &["0.25"]);
}

/// A table of all kinds of columns, with nulls.
fn mixed(count: usize, seed: u64) -> RecordBatch {
    let mut state = seed;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut classes = Vec::new();
    let (mut few, mut many, mut floats, mut integers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        classes.push((next(20) > 0).then(|| format!("class {}", next(3))));
        few.push((next(10) > 0).then(|| ["red", "green", "blue", "a, \"quoted\"\nvalue"][next(4) as usize]));
        many.push((next(10) > 0).then(|| format!("v{}", next(5000))));
        floats.push((next(10) > 0).then(|| next(1_000_000) as f64 / 128.0 - 3000.0));
        integers.push((next(10) > 0).then(|| next(100) as i64 - 50));
    }
    batch(vec![
        ("few", Arc::new(StringArray::from(few)) as ArrayRef),
        ("y", Arc::new(StringArray::from(classes))),
        ("many", Arc::new(LargeStringArray::from(many))),
        ("float", Arc::new(Float64Array::from(floats))),
        ("integer", Arc::new(Int64Array::from(integers.clone()))),
        ("code", Arc::new(Int64Array::from(integers))),
    ])
}

fn mixed_schema() -> Schema {
    let (category, number) = (Kind::Category, Kind::Number);
    schema(&[
        ("few", category),
        ("many", category),
        ("float", number),
        ("integer", number),
        ("code", category),
    ])
}

/// The same table as text.
fn as_csv(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(rows.schema().fields().iter().map(|field| field.name().clone())).unwrap();
    for row in 0..rows.num_rows() {
        let value = |array: &ArrayRef| {
            let mut scratch = String::new();
            text::written(array.as_ref(), row, &mut scratch).ok().unwrap().unwrap_or_default().to_owned()
        };
        writer.write_record(rows.columns().iter().map(value)).unwrap();
    }
    writer.into_inner().unwrap()
}

fn as_json(rows: &RecordBatch) -> Vec<u8> {
    let mut out = String::new();
    for row in 0..rows.num_rows() {
        let mut fields = Vec::new();
        for (field, array) in rows.schema().fields().iter().zip(rows.columns()) {
            let mut scratch = String::new();
            let value = text::written(array.as_ref(), row, &mut scratch).ok().unwrap();
            let numeric = array.data_type().is_numeric();
            // Missing values are written in one way or the other; the first row has every key.
            if value.is_none() && row % 2 == 0 {
                fields.push(format!("{:?}:null", field.name()));
            }
            fields.extend(value.map(|value| match numeric {
                true => format!("{:?}: {value}", field.name()),
                false => format!("{:?}:{value:?}", field.name()),
            }));
        }
        out.push_str(&format!("{{{}}}\n", fields.join(",")));
    }
    out.into_bytes()
}

/// The bytes of a model that was learnt from a file on this many threads.
fn model(path: &str, threads: usize) -> Vec<u8> {
    let schema = mixed_schema();
    let reader =
        Table::open(path, &ReadOptions::default()).unwrap().reader(&schema, Purpose::Learning).unwrap();
    let start = || Statistics::empty(&schema);
    let parts = fold(&reader, threads, start, |statistics, batch, _| Ok(statistics.observe(batch)?)).unwrap();
    let mut all = Statistics::empty(&schema);
    parts.iter().for_each(|part| all.merge(part).unwrap());
    Learnt::new(all, Settings::default()).to_bytes()
}

#[test]
fn every_format_gives_the_same_model() {
    let rows = mixed(70_000, 1);
    let directory = tempfile::tempdir().unwrap();
    let csv = as_csv(&rows);
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let files = [
        ("t.csv", csv.clone()),
        ("t.csv.zst", zstd::encode_all(csv.as_slice(), 1).unwrap()),
        ("t.jsonl", as_json(&rows)),
        ("one.parquet", parquet(&rows, 1 << 20, 20_000, zstd, true)),
        ("many.parquet", parquet(&rows, 9_999, 1_000, Compression::SNAPPY, true)),
        ("plain.parquet", parquet(&rows, 50_000, 1_000, Compression::UNCOMPRESSED, false)),
        ("t.arrow", ipc(&rows, 40_000, None, true)),
        ("t.arrows", ipc(&rows, 1_000, Some(CompressionType::ZSTD), false)),
    ];
    let mut expected = None;
    for (name, bytes) in files {
        let path = stored_file(&directory, name, &bytes);
        for threads in [1, 2] {
            let model = model(&path, threads);
            assert!(*expected.get_or_insert_with(|| model.clone()) == model, "{name} on {threads} threads");
        }
    }
}

#[test]
fn slices_of_one_group_are_read_in_order() {
    let count = 40_000;
    let classes: ArrayRef = Arc::new(StringArray::from(vec!["a"; count]));
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..count as i32));
    let table = batch(vec![("y", classes), ("x", numbers)]);
    for page in [100, 30_000] {
        let file = parquet(&table, 1 << 20, page, Compression::SNAPPY, true);
        let read = rows(open(&file).unwrap(), &schema(&[("x", Kind::Number)])).unwrap();
        assert_eq!(read.len(), count);
        assert!(read.iter().enumerate().all(|(i, row)| row[1] == Some(i.to_string())));
    }
}

#[test]
fn errors_name_the_row() {
    let words = |at: usize| {
        (0..30_000).map(|i| if i == at { "two".into() } else { i.to_string() }).collect::<Vec<_>>()
    };
    let classes: ArrayRef = Arc::new(StringArray::from(vec!["a"; 30_000]));
    let table = batch(vec![("y", classes), ("x", Arc::new(StringArray::from(words(20_000))))]);
    for file in [plain_parquet(&table), ipc(&table, 900, None, true)] {
        let error = rows(open(&file).unwrap(), &schema(&[("x", Kind::Number)])).unwrap_err().to_string();
        assert!(error.contains("row 20001, column x: `two` is not a number"), "{error}");
    }
}

#[test]
fn samples_and_column_types() {
    let rows = mixed(3_000, 2);
    for file in [plain_parquet(&rows), ipc(&rows, 700, None, true), ipc(&rows, 700, None, false)] {
        let mut table = open(&file).unwrap();
        let stored: Vec<Stored> = table.columns().iter().map(|column| column.stored).collect();
        assert_eq!(
            stored,
            [Stored::Text, Stored::Text, Stored::Text, Stored::Number, Stored::Integer, Stored::Integer]
        );
        for count in [1, 1_500, 5_000] {
            let sample = table.sample(count).unwrap();
            assert_eq!(sample.rows, count.min(3_000));
            assert!(sample.columns.iter().all(|column| column.len() == sample.rows));
            let mut scratch = String::new();
            let first = text::written(rows.column(3).as_ref(), 0, &mut scratch).ok().unwrap();
            assert_eq!(sample.columns[3][0].as_deref(), first);
        }
        let learnt = super::tests::rows(table, &mixed_schema()).unwrap();
        assert_eq!(learnt.len(), 3_000, "a sample takes nothing away");
    }
}

#[test]
fn nested_columns_are_refused_if_they_are_used() {
    let mut lists = ListBuilder::new(arrow_array::builder::Int32Builder::new());
    lists.append_value([Some(1)]);
    let classes: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let table = batch(vec![("y", classes.clone()), ("list", Arc::new(lists.finish())), ("x", classes)]);
    for file in [plain_parquet(&table), ipc(&table, 1, None, true)] {
        assert_eq!(rows(open(&file).unwrap(), &schema(&[("x", Kind::Category)])).unwrap().len(), 1);
        assert_eq!(open(&file).unwrap().sample(5).unwrap().columns[1], [None]);
        let error = rows(open(&file).unwrap(), &schema(&[("list", Kind::Category)])).unwrap_err().to_string();
        assert!(error.ends_with("column `list` holds lists, which cannot be read"), "{error}");
    }
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff"[..]]));
    let table = batch(vec![("y", Arc::new(StringArray::from(vec!["a"])) as ArrayRef), ("x", bytes)]);
    let error = rows(open(&plain_parquet(&table)).unwrap(), &schema(&[("x", Kind::Category)]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("column `x` holds bytes that are not UTF-8 text"), "{error}");
}

#[test]
fn a_table_without_columns_is_empty() {
    let nothing = RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty()));
    let directory = tempfile::tempdir().unwrap();
    let path = stored_file(&directory, "t.parquet", &plain_parquet(&nothing));
    let files = [ipc(&nothing, 1, None, true), ipc(&nothing, 1, None, false)];
    for table in files.iter().map(|file| open(file)).chain([Table::open(&path, &ReadOptions::default())]) {
        let error = table.err().unwrap().to_string();
        assert!(error.ends_with(": the table is empty, it does not even have a header"), "{error}");
    }
}

#[test]
fn parquet_needs_a_file() {
    let file = plain_parquet(&mixed(10, 3));
    let error =
        Table::from_reader("standard input", std::io::Cursor::new(file.clone()), &ReadOptions::default());
    let error = error.err().unwrap().to_string();
    assert_eq!(
        error,
        "standard input: this is Parquet, which can only be read from a plain file, not from a pipe or unpacked; give its path"
    );
    let packed = zstd::encode_all(file.as_slice(), 1).unwrap();
    assert!(open(&packed).err().unwrap().to_string().contains("this is Parquet"));
    let options = ReadOptions { input_format: Some(InputFormat::Parquet), ..ReadOptions::default() };
    let directory = tempfile::tempdir().unwrap();
    let error =
        Table::open(&stored_file(&directory, "t", b"a,b\n1,2\n"), &options).err().unwrap().to_string();
    assert!(error.contains("the Parquet file is damaged"), "{error}");
}

#[test]
fn streams_come_from_pipes_and_packed() {
    let rows = mixed(100, 4);
    let schema = mixed_schema();
    let from = |bytes: Vec<u8>| {
        let table = Table::from_reader("t", std::io::Cursor::new(bytes), &ReadOptions::default())?;
        super::tests::rows(table, &schema)
    };
    let expected = from(as_csv(&rows)).unwrap();
    for bytes in [ipc(&rows, 30, None, true), ipc(&rows, 30, None, false)] {
        assert_eq!(from(bytes.clone()).unwrap(), expected);
        assert_eq!(from(zstd::encode_all(bytes.as_slice(), 1).unwrap()).unwrap(), expected);
        let error = from(bytes[..bytes.len() / 2].to_vec()).unwrap_err().to_string();
        assert_eq!(error, "t: the Arrow file is damaged: it is cut short");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn files_hold_what_their_csv_holds(count in 0_usize..300, seed: u64, group in 1_usize..200, page in 1_usize..60, dictionary: bool) {
        let table = mixed(count, seed);
        let schema = mixed_schema();
        let expected = rows(open(&as_csv(&table)).unwrap(), &schema).unwrap();
        let file = parquet(&table, group, page, Compression::SNAPPY, dictionary);
        prop_assert_eq!(&rows(open(&file).unwrap(), &schema).unwrap(), &expected);
        prop_assert_eq!(&rows(open(&ipc(&table, page, None, true)).unwrap(), &schema).unwrap(), &expected);
        if count > 0 {
            prop_assert_eq!(&rows(open(&as_json(&table)).unwrap(), &schema).unwrap(), &expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is done to a file, it is read or refused.
    #[test]
    fn damaged_files_are_read_or_refused(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        which in 0_usize..5,
        whole: bool,
    ) {
        let table = mixed(60, 5);
        let mut bytes = match which {
            0 => parquet(&table, 40, 10, Compression::ZSTD(ZstdLevel::default()), true),
            1 => parquet(&table, 100, 50, Compression::UNCOMPRESSED, false),
            2 => ipc(&table, 20, None, true),
            3 => ipc(&table, 20, Some(CompressionType::LZ4_FRAME), false),
            _ => zstd::encode_all(as_csv(&table).as_slice(), 1).unwrap(),
        };
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = open(&bytes).and_then(|mut table| {
            table.sample(50)?;
            rows(table, &mixed_schema())
        });
    }
}

#[test]
fn a_file_can_be_read_twice_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = stored_file(&directory, "t", &plain_parquet(&mixed(5_000, 6)));
    assert_eq!(model(&path, 1), model(&path, 4));
}

#[test]
fn batches_have_no_more_rows_than_they_may() {
    let classes: ArrayRef = Arc::new(StringArray::from(vec!["a"; 3000]));
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values((0..3000).map(f64::from)));
    let table = batch(vec![("y", classes), ("x", numbers)]);
    let schema = schema(&[("x", Kind::Number)]);
    for (file, most) in [
        (plain_parquet(&table), 100),
        (plain_parquet(&table), 1),
        (ipc(&table, 1000, None, true), 100),
        (parquet(&table, 3000, 100, Compression::SNAPPY, true), 1500),
    ] {
        let mut table = open(&file).unwrap();
        table.limit_rows(most);
        let mut batches = table.batches(&schema, Purpose::Learning).unwrap();
        let mut batch = Batch::new(&schema);
        let mut values = Vec::new();
        while batches.read(&mut batch).unwrap() {
            assert!(batch.rows <= most, "{} rows", batch.rows);
            values.extend_from_slice(batch.numbers(0));
        }
        assert_eq!(values, (0..3000).map(f64::from).collect::<Vec<_>>());
    }
}

#[test]
fn moments_are_the_same_however_they_are_stored() {
    use priory::written::{DateOrder, DatePart, PartOfDate, Written};

    let written = ["2024-05-31T14:03:07.25", "1969-12-31T23:59:59", "2000-02-29T00:00:00"];
    let milliseconds = [1_717_164_187_250, -1_000, 951_782_400_000_i64];
    let seconds = milliseconds.map(|time| format!("{}.{:03}", time.div_euclid(1000), time.rem_euclid(1000)));
    let arrays: [(ArrayRef, DateOrder); 6] = [
        (Arc::new(TimestampMillisecondArray::from(milliseconds.to_vec())), DateOrder::Dmy),
        (
            Arc::new(TimestampMicrosecondArray::from(milliseconds.map(|time| time * 1000).to_vec())),
            DateOrder::Ymd,
        ),
        (
            Arc::new(TimestampNanosecondArray::from(milliseconds.map(|time| time * 1_000_000).to_vec())),
            DateOrder::Ymd,
        ),
        (Arc::new(Int64Array::from(milliseconds.to_vec())), DateOrder::Milliseconds),
        (Arc::new(StringArray::from(written.to_vec())), DateOrder::Ymd),
        (Arc::new(StringArray::from(seconds.to_vec())), DateOrder::Seconds),
    ];
    let table = |order: DateOrder| {
        let number = Column::new("x", Kind::Number).written(Some(Written::Date(order)));
        let parts = DatePart::ALL.map(|part| Column::part_of_date("x", PartOfDate { date: order, part }));
        Schema::new("y", [number].into_iter().chain(parts).collect()).unwrap()
    };
    let csv = format!("x,y\n{},a\n", written.join(",a\n"));
    let options = ReadOptions::default();
    let expected = Table::from_reader("t", std::io::Cursor::new(csv), &options).unwrap();
    let expected = rows(expected, &table(DateOrder::Ymd)).unwrap();
    assert_eq!(expected[0][2..], ["Friday", "May", "14"].map(|part| Some(part.to_owned())));
    let json = written.map(|time| format!("{{\"x\": \"{time}\", \"y\": \"a\"}}\n")).concat();
    let json = Table::from_reader("t", std::io::Cursor::new(json), &options).unwrap();
    assert_eq!(rows(json, &table(DateOrder::Ymd)).unwrap(), expected);
    for (array, order) in arrays {
        let classes: ArrayRef = Arc::new(StringArray::from(vec!["a"; array.len()]));
        let batch = batch(vec![("y", classes), ("x", array)]);
        for file in [plain_parquet(&batch), ipc(&batch, 2, None, true)] {
            assert_eq!(rows(open(&file).unwrap(), &table(order)).unwrap(), expected, "{order:?}");
        }
    }
}

//! What the targets share: a table that is read in several ways must come out the same, whatever its bytes are.

pub mod seeds;

use std::io::{Cursor, Read};
use std::sync::Mutex;

use priory::{Batch, BatchColumn, Column, Kind, Learnt, Schema, Settings, Statistics, Value};
use priory::schema::MISSING_SPELLINGS;
use priory_input::{BadValues, Encoding, InputFormat, Purpose, ReadOptions, Table, fold};

/// How a table is read, decided by the first bytes of the input; the rest is the table.
#[derive(Debug, Clone)]
pub struct Choices {
    pub options: ReadOptions,
    /// Bytes of a block and rows of a batch in the second reading, in which everything straddles something.
    block: usize,
    rows: usize,
    /// Which of the columns is the target, and what the others are.
    target: usize,
    kinds: u8,
    flags: u8,
}

/// How many bytes decide.
const CHOICE_BYTES: usize = 8;

impl Choices {
    /// The choices for a table in this format, and the table.
    pub fn split(input: &[u8], format: InputFormat) -> Option<(Choices, &[u8])> {
        let (&[delimiter, comment, block, rows, target, kinds, flags, encoding], text) =
            input.split_first_chunk::<CHOICE_BYTES>()?;
        // A delimiter that is guessed would depend on the size of the first block.
        let delimiter = if delimiter == 0 { b',' } else { delimiter };
        let options = ReadOptions {
            input_format: Some(format),
            delimiter: Some(delimiter),
            comment: (comment != 0).then_some(comment),
            header: flags & 1 == 0,
            encoding: if encoding == 1 { Encoding::Latin1 } else { Encoding::Utf8 },
            columns: None,
            bad_values: if flags & 2 == 0 { BadValues::Missing } else { BadValues::Refused },
            sheet: None,
            patience: None,
        };
        // The first block must show what kind of file it is.
        let choices = Choices {
            options,
            block: 16 + usize::from(block),
            rows: 1 + usize::from(rows),
            target: usize::from(target),
            kinds,
            flags,
        };
        Some((choices, text))
    }

    /// The same choices for a table of documents and perhaps their classes.
    pub fn of_documents(mut self) -> Self {
        (self.target, self.kinds) = (0, 0);
        self.flags = self.flags & !4 | 64;
        self
    }

    fn schema(&self, header: &[String], all_text: bool) -> Schema {
        let target = self.target % header.len();
        let weight =
            (!all_text && self.flags & 4 != 0 && header.len() > 1).then(|| (target + 1) % header.len());
        let columns = header.iter().enumerate().filter(|(i, _)| *i != target && Some(*i) != weight);
        let columns = columns.map(|(i, name)| {
            let number = self.kinds >> (i % 8) & 1 == 1;
            let kind = match (number, self.flags & 64 != 0) {
                _ if all_text => Kind::Category,
                (true, false) => Kind::Number,
                (true, true) => Kind::Moments,
                (false, false) => Kind::Category,
                (false, true) => Kind::Text,
            };
            Column::new(name, kind)
        });
        let mut missing: Vec<String> = MISSING_SPELLINGS.map(String::from).to_vec();
        if self.flags & 8 != 0 {
            missing.push("1".into());
        }
        let schema = Schema {
            target: header[target].clone(),
            bins: None,
            weight: weight.map(|i| header[i].clone()),
            missing: if all_text { Vec::new() } else { missing },
            columns: columns.collect(),
        };
        schema.checked().expect("the header names no column twice")
    }
}

/// Wider tables are not looked at. A few digits make an svmlight table of 65,536 columns, and to read and learn that several
/// times would take longer than an input may.
const MOST_COLUMNS: usize = 2_000;

/// Reads a table in several ways, and learns it.
pub fn check_table(table: &[u8], choices: &Choices) {
    let open = |bytes: &[u8]| {
        Table::from_reader("t", Cursor::new(bytes.to_vec()), &choices.options).map_err(|e| e.to_string())
    };
    let in_blocks = |bytes: &[u8]| {
        let reader = Cursor::new(bytes.to_vec());
        let table = Table::from_reader_in_blocks("t", reader, &choices.options, choices.block, choices.rows);
        table.map_err(|e| e.to_string())
    };
    if open(table).is_ok_and(|table| table.header().len() > MOST_COLUMNS) {
        return;
    }
    let whole = open(table).and_then(|table| read(table, choices));
    let cut = in_blocks(table).and_then(|mut table| {
        if choices.flags & 16 != 0 {
            table.sample(choices.rows).map_err(|e| e.to_string())?;
        }
        read(table, choices)
    });
    // Which of two flaws is found first may depend on the blocks; whether there is one may not.
    match (&whole, &cut) {
        (Ok(whole), Ok(cut)) => assert_eq!(whole, cut, "{choices:?}"),
        (Err(_), Err(_)) => {}
        // A comment before the header is looked at only as far as the first block tells whether this is text.
        _ if choices.options.comment.is_some() && table.contains(&0) => return,
        (whole, cut) => panic!("{choices:?}\nwhole: {whole:?}\nin blocks: {cut:?}"),
    }
    if choices.flags & 32 != 0 {
        let threaded = in_blocks(table).and_then(|table| read_on_threads(table, choices));
        assert_eq!(threaded.ok(), whole.clone().ok(), "{choices:?}");
    }
    if let (Ok(numbers), Ok(texts)) = (&whole, open(table).and_then(|table| read_texts(table, choices))) {
        check_numbers(numbers, &texts, choices);
    }
}

/// Compares what is read with what the csv crate reads, wherever both mean to read the same.
pub fn check_against_csv(table: &[u8], choices: &Choices) {
    let options = &choices.options;
    // A carriage return by itself ends a line there and is text here.
    let bare_returns =
        table.iter().enumerate().any(|(i, &byte)| byte == b'\r' && table.get(i + 1) != Some(&b'\n'));
    if bare_returns || options.encoding != Encoding::Utf8 {
        return;
    }
    let Ok(opened) = Table::from_reader("t", Cursor::new(table.to_vec()), options) else { return };
    let header = opened.header().to_vec();
    // A blank line in a table with one column is a row here and nothing there.
    if header.len() == 1 {
        return;
    }
    let Ok(rows) = read_texts(opened, choices) else { return };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(options.delimiter.expect("always chosen"))
        .comment(options.comment)
        .from_reader(table.chain(&b"\n"[..])); // a comment that does not end is a record there
    let mut records = reader.byte_records().map(|record| {
        let record = record.expect("memory can be read");
        record.iter().map(|field| String::from_utf8(field.to_vec()).expect("was read here")).collect()
    });
    if options.header {
        let first: Vec<String> = records.next().expect("there is a header");
        assert_eq!(first, header, "{choices:?}");
    }
    // The target comes first.
    let target = choices.target % header.len();
    let expected: Vec<Row> = records
        .map(|mut record| {
            let class = record.remove(target);
            [class].into_iter().chain(record).map(Some).collect()
        })
        .collect();
    assert_eq!(rows, expected, "{choices:?}");
}

/// Reads a table whose blocks are as they were written, once in order and once on several threads.
pub fn check_read(choices: &Choices, open: impl Fn() -> priory_input::Result<Table>) {
    let open = || open().map_err(|e| e.to_string());
    let read_in_order = open().and_then(|mut table| {
        table.sample(choices.rows).map_err(|e| e.to_string())?;
        read(table, choices)
    });
    if choices.flags & 32 != 0 {
        let threaded = open().and_then(|table| read_on_threads(table, choices));
        match (read_in_order, threaded) {
            (Ok(one), Ok(other)) => assert_eq!(one, other, "{choices:?}"),
            (Ok(one), Err(error)) => panic!("{choices:?}\nin order: {one:?}\non threads: {error}"),
            // The sample reads columns that nobody wants.
            (Err(_), _) => {}
        }
    }
}

/// A row: the class, the features and the weight.
type Row = Vec<Option<String>>;

fn read(table: Table, choices: &Choices) -> Result<Vec<Row>, String> {
    let schema = choices.schema(table.header(), false);
    let mut batches = table.batches(&schema, Purpose::Learning).map_err(|e| e.to_string())?;
    let mut batch = batches.reader().empty_batch();
    let mut statistics: priory::Result<Statistics> = Ok(Statistics::empty(&schema));
    let mut rows = Vec::new();
    while batches.read(&mut batch).map_err(|e| e.to_string())? {
        assert_eq!(batch.first_row, rows.len() as u64 + 1);
        rows.extend((0..batch.rows).map(|row| written(&batch, row)));
        // Weights may be refused, and the numbers may be too large.
        statistics = statistics.and_then(|mut statistics| {
            statistics.observe(&batch)?;
            Ok(statistics)
        });
    }
    if let Ok(statistics) = statistics {
        check_model(&Learnt::new(statistics, Settings::default()));
    }
    Ok(rows)
}

fn read_texts(table: Table, choices: &Choices) -> Result<Vec<Row>, String> {
    let schema = choices.schema(table.header(), true);
    let mut batches = table.batches(&schema, Purpose::Learning).map_err(|e| e.to_string())?;
    let mut batch = batches.reader().empty_batch();
    let mut rows = Vec::new();
    while batches.read(&mut batch).map_err(|e| e.to_string())? {
        rows.extend((0..batch.rows).map(|row| written(&batch, row)));
    }
    Ok(rows)
}

fn read_on_threads(table: Table, choices: &Choices) -> Result<Vec<Row>, String> {
    let schema = choices.schema(table.header(), false);
    let reader = table.reader(&schema, Purpose::Learning).map_err(|e| e.to_string())?;
    let rows = Mutex::new(Vec::new());
    fold(
        &reader,
        2,
        || (),
        |(), batch, turn| {
            turn.take(|| {
                rows.lock().unwrap().extend((0..batch.rows).map(|row| written(batch, row)));
                Ok(())
            })
        },
    )
    .map_err(|e| e.to_string())?;
    Ok(rows.into_inner().unwrap())
}

fn written(batch: &Batch, row: usize) -> Row {
    let mut values = vec![batch.classes.value(row).map(String::from)];
    values.extend((0..batch.columns.len()).map(|column| match &batch.columns[column] {
        // As bits, so that not even the sign of a zero is lost.
        BatchColumn::Number(numbers) if !numbers[row].is_nan() => {
            Some(format!("{:x}", numbers[row].to_bits()))
        }
        BatchColumn::Text(column) => column.document(row).map(|document| {
            let name =
                |&(token, count): &(u32, u32)| format!("{}:{count}", column.tokens().name(token as usize));
            document.iter().map(name).collect::<Vec<_>>().join("|")
        }),
        _ => batch.written(column, row),
    }));
    values.extend(batch.weights.get(row).map(|weight| Some(format!("{:x}", weight.to_bits()))));
    values
}

/// Numbers are what the standard library reads in the same text.
fn check_numbers(rows: &[Row], texts: &[Row], choices: &Choices) {
    assert_eq!(rows.len(), texts.len());
    let Some(width) = texts.first().map(Vec::len) else { return };
    let names: Vec<String> = (0..width).map(|i| i.to_string()).collect();
    let schema = choices.schema(&names, false);
    if schema.weight.is_some() {
        return; // the columns do not stand in the same places
    }
    for (row, text) in rows.iter().zip(texts) {
        // Tokens are not the text.
        let comparable = schema.columns.iter().enumerate().filter(|(_, column)| column.kind != Kind::Text);
        for (i, column) in comparable {
            let value = &row[1 + i];
            // JSON has values that are not there.
            let Some(text) = text[1 + i].as_deref() else {
                assert_eq!(value, &None, "{choices:?}");
                continue;
            };
            let number = text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            let expected = match column.kind {
                _ if schema.is_missing(text) => None,
                Kind::Number | Kind::Moments => number.map(|x| format!("{:x}", x.to_bits())),
                _ => Some(text.to_owned()),
            };
            assert_eq!(value, &expected, "{text:?} in {choices:?}");
        }
    }
}

/// A file of which only a few words are read is refused, or scores a document that has them.
pub fn check_parts(bytes: &[u8]) {
    let Ok(Some(file)) = priory::format::ModelFile::open(bytes.to_vec()) else { return };
    let document = Value::Text(&["", "a", "buy", "free", "m", "math", "the", "z"]);
    let batch = row(file.schema(), [Value::Missing, Value::Missing, document]);
    if let Ok(model) = file.model_for(&batch) {
        let _ = model.score(&batch).expect("the batch fits the model").normalize();
    }
}

/// A batch of one row that has this string, this number and this document in all columns for them.
fn row(schema: &Schema, [string, number, document]: [Value<'_>; 3]) -> Batch {
    let values = schema.columns.iter().map(|column| match column.kind {
        Kind::Category | Kind::Joint => string,
        Kind::Number | Kind::Moments | Kind::Group => number,
        Kind::Text => document,
    });
    let mut batch = Batch::new(schema);
    batch.push(None, 1.0, &values.collect::<Vec<_>>()).expect("the values are of the kinds of the columns");
    batch
}

/// Whatever was learnt or read can be written, read and used.
pub fn check_model(learnt: &Learnt) {
    let file = learnt.to_bytes();
    let again = Learnt::read(&file).expect("what was written can be read");
    assert!(again.to_bytes() == file, "the same bytes each time");
    if let Ok(model) = learnt.estimate() {
        let values = [Value::Category("never met"), Value::Number(0.5), Value::Text(&["never met"])];
        let batch = row(model.schema(), values);
        let posterior = model.score(&batch).expect("the batch fits the model").normalize();
        let sum: f64 = posterior.row(0).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "the posterior adds up to {sum}");
    }
}

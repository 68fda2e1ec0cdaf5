//! How fast a table is read: `cargo run --release --example read_speed [table target]`.
//!
//! With `--features arrow` the table may be Parquet, whose numbers are read as such. Without arguments, tables of short strings are made up in memory. One line per table, in MB/s.

use std::fmt::Write as _;
use std::io::{self, Cursor, Write as _};
use std::sync::Arc;
use std::time::Instant;

use priory::infer::Stored;
use priory::{Batch, Column, Kind, Schema};
use priory_input::{Purpose, ReadOptions, Table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [path, target] = arguments.as_slice() {
        let table = Table::open(path, &ReadOptions::default())?;
        let start = Instant::now();
        let speed = speed(table, target)?;
        let seconds = start.elapsed().as_secs_f64();
        return Ok(writeln!(io::stdout(), "{path}: {seconds:.2} s, {speed:.0} MB/s")?);
    }
    let words =
        ["yes", "no", "sunny", "overcast", "rain", "hot", "mild", "cool", "normal", "high", "weak", "?"];
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let numbers: Vec<String> = (0..5000).map(|i| format!("{}.{}", i * 37 % 1000, i)).collect();
    let long: Vec<String> = words.iter().map(|word| format!("a longer value about {word}")).collect();
    let bare = words.map(String::from);
    let kinds: [(&str, &[String]); 4] =
        [("words", &bare), ("quoted words", &quoted), ("numbers", &numbers), ("phrases", &long)];
    for (name, values) in kinds {
        let table: Arc<[u8]> = made_up_table(values, 10, 64 << 20).into();
        // The fastest of several runs is the one that other programs disturbed least.
        let mut fastest = 0.0_f64;
        for _ in 0..7 {
            let reader = Cursor::new(Arc::clone(&table));
            let table = Table::from_reader(name, reader, &ReadOptions::default())?;
            fastest = fastest.max(speed(table, "c0")?);
        }
        writeln!(io::stdout(), "{name}: {fastest:.0} MB/s")?;
    }
    Ok(())
}

fn made_up_table(values: &[String], width: usize, bytes: usize) -> Vec<u8> {
    let mut table = String::with_capacity(bytes + 1000);
    for column in 0..width {
        let _ = write!(table, "{}c{column}", if column == 0 { "" } else { "," });
    }
    let mut state = 1_u64;
    while table.len() < bytes {
        for column in 0..width {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            table.push(if column == 0 { '\n' } else { ',' });
            table.push_str(&values[(state >> 33) as usize % values.len()]);
        }
    }
    table.push('\n');
    table.into_bytes()
}

fn speed(table: Table, target: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let features = table.columns().into_iter().filter(|column| column.name != target);
    let columns = features.map(|column| match column.stored {
        Stored::Number | Stored::Integer => Column::new(column.name, Kind::Number),
        _ => Column::new(column.name, Kind::Category),
    });
    let columns = columns.collect();
    let schema = Schema::new(target, columns)?;
    let mut batch = Batch::new(&schema);
    let mut batches = table.batches(&schema, Purpose::Learning)?;
    let start = Instant::now();
    while batches.read(&mut batch)? {}
    Ok(batches.reader().bytes_read() as f64 / 1e6 / start.elapsed().as_secs_f64())
}

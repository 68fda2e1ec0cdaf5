//! Counting and scoring columns of strings in memory: nanoseconds per value, the best of several runs.
//!
//! ```text
//! cargo bench -p priory --bench counts
//! ```
//!
//! `observe` counts a batch as a reader hands it over, `weighted` the same with a weight for each row, `score` adds up
//! log-joints, and `normalize` makes posteriors of them, in nanoseconds per class.

#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::hint::black_box;
use std::time::Instant;

use priory::{Batch, BatchColumn, CategoryColumn, Column, Kind, Schema, Settings, Statistics};

const ROWS: usize = 5_000;
const COLUMNS: usize = 20;

fn main() {
    println!("{:>24} {:>8} {:>8} {:>6} {:>9}", "", "observe", "weighted", "score", "normalize");
    for (values, classes) in [(2, 2), (10, 5), (1000, 5), (100_000, 5), (10, 100)] {
        let batch = made_up(values, classes);
        let weighted = Batch { weights: vec![2.0; ROWS], ..batch.clone() };
        let columns = (0..COLUMNS).map(|c| Column::new(format!("c{c}"), Kind::Category)).collect();
        let schema = Schema::new("y", columns).expect("the names are distinct");
        let mut statistics = Statistics::empty(&schema);
        let cells = ROWS * COLUMNS;
        let observe = time(cells, || statistics.observe(&batch).expect("the batch is right"));
        let observe_weighted = time(cells, || statistics.observe(&weighted).expect("the batch is right"));
        let model = statistics.estimate(&Settings::default()).expect("there are rows");
        let score = time(cells, || model.score(&batch));
        let scores = model.score(&batch).expect("the batch is right");
        let normalize = time(ROWS * classes, || scores.normalize());
        let name = format!("{values} values, K = {classes}");
        println!("{name:>24} {observe:8.2} {observe_weighted:8.2} {score:6.2} {normalize:9.2}");
    }
}

/// A batch of columns with about so many values each.
fn made_up(values: u64, classes: usize) -> Batch {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut column = |values: u64| {
        let mut column = CategoryColumn::default();
        (0..ROWS).for_each(|_| column.push(Some(&format!("value {}", random(values)))));
        column
    };
    let classes = column(classes as u64);
    let columns = (0..COLUMNS).map(|_| BatchColumn::Category(column(values))).collect();
    Batch { first_row: 1, rows: ROWS, classes, columns, ..Batch::default() }
}

/// Nanoseconds per value of the fastest of several runs.
fn time<T>(values: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..50 {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / values as f64);
    }
    best
}

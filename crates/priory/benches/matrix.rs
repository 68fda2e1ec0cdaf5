//! Gaussian naive Bayes over a matrix in memory: seconds for fitting and predicting, the best of several rounds.
//!
//! ```text
//! cargo bench -p priory --bench matrix -- VALUES CLASSES COLUMNS
//! ```
//!
//! VALUES is a file of f64, row after row; CLASSES one of u32, one for each row. `scripts/bench-memory` makes both and runs
//! scikit-learn on the same numbers. `sum` adds up all values; `moments` are exact sums of x and x² of every column in every
//! class; `spectrum` keeps beside them how the numbers are distributed, as `priory train` does, and has to take the matrix
//! apart into columns first. All on as many threads as there are processors.

#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use priory::matrix::{GaussianScores, GaussianSums, rows_to_columns};
use priory::{Batch, BatchColumn, Column, Kind, Schema, Statistics};

const ROUNDS: usize = 5;
/// Values in a block that a thread takes at a time.
const BLOCK: usize = 1 << 16;
/// The same where the statistics of a block are merged, which for a hundred classes takes as long as adding many rows.
const MERGED: usize = 1 << 22;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [values, classes, columns] = arguments.as_slice() else {
        return println!("usage: matrix VALUES CLASSES COLUMNS");
    };
    let matrix = Matrix {
        values: read(values, f64::from_le_bytes),
        classes: read(classes, u32::from_le_bytes),
        columns: columns.parse().expect("a number of columns"),
    };
    let known = matrix.classes.iter().max().map_or(0, |&class| class as usize + 1);
    time("sum", || matrix.on_all_threads(BLOCK, || 0.0, |sum, values, _| *sum += values.iter().sum::<f64>()));
    let sums = time("moments", || matrix.moments(known));
    time("spectrum", || matrix.spectrum(known));
    let gaussians = sums.estimate(1e-9);
    let total = matrix.classes.len() as f64;
    let prior: Vec<f64> = sums.class_weights().iter().map(|weight| (weight / total).ln()).collect();
    let scores = GaussianScores::new(&gaussians.means, &gaussians.variances, &prior);
    let right = time("predict", || matrix.predict(&scores, known));
    println!("accuracy {}", right as f64 / total);
}

/// Numbers in rows, and the class of each row.
struct Matrix {
    values: Vec<f64>,
    classes: Vec<u32>,
    columns: usize,
}

impl Matrix {
    /// Takes every block of rows through `step`, and returns the states of the threads.
    fn on_all_threads<S: Send>(
        &self,
        block: usize,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &[f64], &[u32]) + Sync,
    ) -> Vec<S> {
        let rows = block.div_ceil(self.columns);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut state = start();
            let mut blocks = self.values.chunks(rows * self.columns).zip(self.classes.chunks(rows));
            let mut seen = 0;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((values, classes)) = blocks.nth(number - seen) else { return state };
                seen = number + 1;
                step(&mut state, values, classes);
            }
        };
        thread::scope(|scope| {
            let handles: Vec<_> = (0..threads()).map(|_| scope.spawn(work)).collect();
            handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
        })
    }

    fn moments(&self, known: usize) -> GaussianSums {
        let parts = self.on_all_threads(
            self.values.len().div_ceil(threads()),
            || GaussianSums::new(self.columns, known),
            |sums, values, classes| sums.observe(values, classes, &[]).expect("all values are finite"),
        );
        let merge = |mut all: GaussianSums, part: GaussianSums| {
            all.merge(&part);
            all
        };
        parts.into_iter().reduce(merge).expect("there is a thread")
    }

    fn spectrum(&self, known: usize) -> Statistics {
        let columns =
            (0..self.columns).map(|column| Column::new(format!("x{column}"), Kind::Number)).collect();
        let schema = Schema::new("class", columns).expect("the names differ");
        let names: Vec<String> = (0..known).map(|class| class.to_string()).collect();
        let start = || {
            let mut batch = Batch::new(&schema);
            names.iter().for_each(|name| batch.classes.push(Some(name)));
            (Statistics::empty(&schema), batch)
        };
        let parts = self.on_all_threads(MERGED, start, |(statistics, batch), values, classes| {
            batch.rows = classes.len();
            batch.classes.codes.clear();
            batch.classes.codes.extend(classes.iter().map(|class| class + 1)); // 0 would be missing
            rows_to_columns(values, batch.columns.iter_mut().map(numbers));
            statistics.observe(batch).expect("all values are finite");
        });
        let merge = |mut all: Statistics, part: Statistics| {
            all.merge(&part).expect("the parts are of one table");
            all
        };
        parts.into_iter().map(|part| part.0).reduce(merge).expect("there is a thread")
    }

    /// How many rows are predicted to be of the class that they are of.
    fn predict(&self, scores: &GaussianScores, known: usize) -> usize {
        let parts = self.on_all_threads(
            BLOCK,
            || (0, Vec::new()),
            |(right, joint), values, classes| {
                joint.resize(classes.len() * known, 0.0);
                scores.score(values, joint);
                *right += priory::matrix::best(joint, known)
                    .zip(classes)
                    .filter(|&(best, &class)| best == class as usize)
                    .count();
            },
        );
        parts.into_iter().map(|part| part.0).sum()
    }
}

/// The numbers of a column.
fn numbers(column: &mut BatchColumn) -> &mut Vec<f64> {
    match column {
        BatchColumn::Number(numbers) => numbers,
        _ => unreachable!("all columns are numbers"),
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn read<T, const N: usize>(path: &str, number: fn([u8; N]) -> T) -> Vec<T> {
    let bytes = std::fs::read(path).expect("the file can be read");
    bytes.chunks_exact(N).map(|bytes| number(bytes.try_into().expect("so many bytes"))).collect()
}

/// Prints the time of the fastest round.
fn time<T>(name: &str, work: impl Fn() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        result = Some(black_box(work()));
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name} {best}");
    result.expect("there is a round")
}

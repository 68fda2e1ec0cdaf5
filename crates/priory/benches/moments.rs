//! Exact moments of a table in memory, beside a plain sum of it: nanoseconds per value, the best of several runs.
//!
//! ```text
//! cargo bench -p priory --bench moments
//! ```
//!
//! `sum` adds up all values, without classes, squares or exactness. `rows` and `columns` are [`Observations::moments`] over
//! the two orders of values, `wide` adds value by value. `× 2` is two threads on half of the rows each, merged;
//! the result is checked to be the same to the last bit.
//!
//! The second table is [`Observations::products`]: nanoseconds per row and pair of columns, for numbers of full precision and
//! for whole ones, beside products that are added one by one.

#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::hint::black_box;
use std::time::Instant;

use priory::exact::ExactSum;
use priory::moments::{Moments, Observations, Values};

fn main() {
    println!(
        "{:>22} {:>6} {:>6} {:>6} {:>8} {:>8} {:>6}",
        "", "sum", "rows", "sum×2", "rows×2", "columns", "wide"
    );
    for (rows, columns, classes) in [(1_000_000, 50, 2), (1_000_000, 50, 10), (200_000, 200, 100)] {
        let mut random = Random(1);
        let values: Vec<f64> = (0..rows * columns).map(|_| random.normal()).collect();
        let ids: Vec<u32> = (0..rows).map(|_| (random.uniform() * classes as f64) as u32).collect();
        let transposed: Vec<Vec<f64>> =
            (0..columns).map(|c| values.iter().skip(c).step_by(columns).copied().collect()).collect();
        let by_column: Vec<&[f64]> = transposed.iter().map(Vec::as_slice).collect();

        let table = Observations { values: Values::Rows(&values, columns), classes: &ids, weights: &[] };
        let moments = |table: Observations<'_>| table.moments(classes).expect("all values are finite");
        let (sum, _) = time(values.len(), || plain_sum(&values));
        let (fast, one) = time(values.len(), || moments(table));
        let (sum_2, _) = time(values.len(), || {
            let (front, back) = values.split_at(values.len() / 2);
            both(|| plain_sum(front), || plain_sum(back))
        });
        let (fast_2, two) = time(values.len(), || {
            let half = |range: std::ops::Range<usize>| {
                let values = &values[range.start * columns..range.end * columns];
                moments(Observations {
                    values: Values::Rows(values, columns),
                    classes: &ids[range],
                    weights: &[],
                })
            };
            let (mut front, back) = both(|| half(0..rows / 2), || half(rows / 2..rows));
            front.iter_mut().zip(&back).for_each(|(front, back)| front.merge(back));
            front
        });
        let (by_column, three) =
            time(values.len(), || moments(Observations { values: Values::Columns(&by_column), ..table }));
        // A twentieth of the rows is enough to time the slow way.
        let (wide, _) = time(values.len() / 20, || {
            let mut cells = vec![Moments::default(); columns * classes];
            for (row, &class) in values.chunks_exact(columns).zip(&ids[..rows / 20]) {
                row.iter().enumerate().for_each(|(c, &x)| cells[c * classes + class as usize].add(x, 1.0));
            }
            cells
        });
        assert!(one == two && one == three, "the same bits on one thread, on two, and by columns");
        let name = format!("{rows} × {columns}, K = {classes}");
        println!("{name:>22} {sum:6.2} {fast:6.2} {sum_2:6.2} {fast_2:8.2} {by_column:8.2} {wide:6.1}");
    }
    println!("\n{:>22} {:>6} {:>6} {:>6}", "pairs of", "full", "whole", "wide");
    for (rows, columns, classes) in [(100_000, 10, 2), (50_000, 50, 2), (50_000, 50, 10)] {
        products(rows, columns, classes);
    }
}

/// Times the products of a table that is handed over in batches, as training does.
fn products(rows: usize, columns: usize, classes: usize) {
    const BATCH: usize = 8192;
    let mut random = Random(2);
    let values: Vec<f64> = (0..rows * columns).map(|_| random.normal()).collect();
    let whole: Vec<f64> = values.iter().map(|x| (x * 100.0).round()).collect();
    let ids: Vec<u32> = (0..rows).map(|_| (random.uniform() * classes as f64) as u32).collect();
    let pairs = columns * (columns - 1) / 2;
    let batches = |values: &[f64]| {
        let mut sums = vec![ExactSum::default(); classes * pairs];
        for (values, ids) in values.chunks(BATCH * columns).zip(ids.chunks(BATCH)) {
            let table = Observations { values: Values::Rows(values, columns), classes: ids, weights: &[] };
            let part = table.products(classes).expect("all values are finite");
            sums.iter_mut().zip(&part).for_each(|(sum, part)| sum.merge(part));
        }
        sums
    };
    let (full, sums) = time(rows * pairs, || batches(&values));
    let (rounded, _) = time(rows * pairs, || batches(&whole));
    let (wide, one_by_one) = time(rows * pairs, || {
        let mut sums = vec![ExactSum::default(); classes * pairs];
        for (row, &class) in values.chunks_exact(columns).zip(&ids) {
            let mut sums = sums[class as usize * pairs..].iter_mut();
            for (i, x) in row.iter().enumerate() {
                row[..i].iter().zip(sums.by_ref()).for_each(|(y, sum)| sum.add_product(*x, *y));
            }
        }
        sums
    });
    assert!(sums == one_by_one, "the same bits either way");
    let name = format!("{rows} × {columns}, K = {classes}");
    println!("{name:>22} {full:6.2} {rounded:6.2} {wide:6.1}");
}

/// Nanoseconds per value of the fastest of several runs, and the result of the last.
fn time<T>(values: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = run();
    for _ in 0..15 {
        let start = Instant::now();
        result = black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / values as f64);
    }
    (best, result)
}

/// Runs two functions on a thread each.
fn both<T: Send>(one: impl FnOnce() -> T + Send, other: impl FnOnce() -> T) -> (T, T) {
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().expect("no panic"), other)
    })
}

/// In sixteen lanes, so that memory is the limit.
fn plain_sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 16];
    for chunk in values.as_chunks::<16>().0 {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += x);
    }
    lanes.iter().sum()
}

/// Xorshift, and the Box-Muller transform.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

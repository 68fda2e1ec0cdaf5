//! Sparse counts in memory, as from scikit-learn's CountVectorizer: fit and predict, in seconds, the best of three.
//!
//! ```text
//! cargo bench -p priory --bench sparse -- FOLDER [THREADS]
//! ```
//!
//! The folder holds a matrix X in compressed rows and its classes y, as raw little-endian arrays that Python writes:
//!
//! ```text
//! X.indptr.astype("<u8").tofile("starts"); X.indices.astype("<u4").tofile("ids")
//! X.data.astype("<u4").tofile("counts"); y.astype("<u4").tofile("classes")
//! ```
//!
//! Fitting begins with these arrays and ends with a model that can predict; predicting ends with a class for each row. Once
//! as a column of text whose tokens have names, and once as a matrix without any, which is what scikit-learn does.

#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use priory::matrix::{self, CountSums, LinearScores, SparseRow, SparseRows};
use priory::settings::{Smoothing, TextFamily, TextModel};
use priory::vocabulary::Vocabulary;
use priory::{Batch, BatchColumn, Column, Kind, Model, Schema, Settings, Statistics, TextColumn};

/// Rows of a batch.
const ROWS: usize = 16_384;
/// Rows of a matrix that are scored at once: their scores are to stay in a cache.
const SCORED: usize = 1_024;

struct Matrix {
    /// Where rows begin, and where the last one ends.
    starts: Vec<usize>,
    ids: Vec<u32>,
    counts: Vec<u32>,
    values: Vec<f64>,
    classes: Vec<u32>,
    names: Vocabulary,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(folder) = arguments.next() else {
        println!("cargo bench -p priory --bench sparse -- FOLDER [THREADS]: see benches/sparse.rs");
        return;
    };
    let threads = arguments.next().map_or(2, |threads| threads.parse().expect("a number of threads"));
    let matrix = Matrix::read(Path::new(&folder));
    println!("{} rows, {} non-zeros, {threads} threads", matrix.classes.len(), matrix.ids.len());
    let (fit, model) = best_of_three(|| matrix.fit(threads));
    let (predict, right) = best_of_three(|| matrix.count_right(&model, threads));
    let share = right as f64 / matrix.classes.len() as f64;
    println!("text: fit {fit:.3} s, predict {predict:.3} s, {share:.4} right on the rows themselves");
    let (fit, scores) = best_of_three(|| matrix.fit_plain(threads));
    let (predict, right) = best_of_three(|| matrix.count_right_plain(&scores, threads));
    let share = right as f64 / matrix.classes.len() as f64;
    println!("matrix: fit {fit:.3} s, predict {predict:.3} s, {share:.4} right on the rows themselves");
}

fn best_of_three<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..3 {
        let start = Instant::now();
        result = Some(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, result.expect("it ran three times"))
}

impl Matrix {
    fn read(folder: &Path) -> Matrix {
        let bytes = |name: &str| fs::read(folder.join(name)).expect("the folder holds this array");
        let u32s = |name: &str| -> Vec<u32> {
            bytes(name).as_chunks().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect()
        };
        let starts =
            bytes("starts").as_chunks().0.iter().map(|&start| u64::from_le_bytes(start) as usize).collect();
        let ids = u32s("ids");
        let columns = ids.iter().max().map_or(0, |&last| last + 1);
        let names: Vec<String> = (0..columns).map(|id| id.to_string()).collect();
        let names = names.iter().map(String::as_str).collect();
        let counts = u32s("counts");
        let values = counts.iter().map(|&count| f64::from(count)).collect();
        Matrix { starts, ids, counts, values, classes: u32s("classes"), names }
    }

    /// The rows of a block of so many.
    fn rows(&self, number: usize, size: usize) -> Range<usize> {
        number * size..((number + 1) * size).min(self.classes.len())
    }

    /// Some rows, whose entries are copied.
    fn batch(&self, schema: &Schema, number: usize) -> Batch {
        let rows = self.rows(number, ROWS);
        let (start, end) = (self.starts[rows.start], self.starts[rows.end]);
        let ends: Vec<usize> = self.starts[rows.start + 1..=rows.end].iter().map(|end| end - start).collect();
        let (ids, counts) = (&self.ids[start..end], &self.counts[start..end]);
        let column =
            TextColumn::from_counts(self.names.clone(), &ends, ids, counts).expect("the rows are sorted");
        let mut batch = Batch::new(schema);
        for class in &self.classes[rows.clone()] {
            batch.classes.push(Some(&format!("{class:05}")));
        }
        batch.columns[0] = BatchColumn::Text(column);
        batch.rows = rows.len();
        batch
    }

    /// Takes all batches through `step`, and returns the state of each thread.
    fn fold<S: Send>(
        &self,
        threads: usize,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch) + Sync,
    ) -> Vec<S> {
        let schema = schema();
        let batches = self.classes.len().div_ceil(ROWS);
        share(batches, threads, start, |state, number| step(state, &self.batch(&schema, number)))
    }

    fn row(&self, row: usize) -> SparseRow<'_, u32> {
        let entries = self.starts[row]..self.starts[row + 1];
        SparseRow { columns: &self.ids[entries.clone()], values: &self.values[entries] }
    }

    /// The multinomial model of the matrix: sums class after class, then logarithms.
    fn fit_plain(&self, threads: usize) -> LinearScores {
        let known = self.classes.iter().max().map_or(0, |&class| class as usize + 1);
        let columns = self.names.len();
        let order = matrix::order(&self.classes, known);
        let blocks: Vec<&[u32]> = order.chunks(order.len().div_ceil(4 * threads)).collect();
        let mut parts = share(
            blocks.len(),
            threads,
            || CountSums::new(columns, known),
            |sums, block| {
                for (i, &row) in blocks[block].iter().enumerate() {
                    if let Some(&later) = blocks[block].get(i + 2) {
                        self.row(later as usize).ask();
                    }
                    let class = self.classes[row as usize];
                    sums.observe_sparse(self.row(row as usize), class, None, false)
                        .expect("the counts are finite");
                }
            },
        )
        .into_iter();
        let mut sums = parts.next().expect("there is a thread");
        parts.for_each(|part| sums.append(part));
        let rows = self.classes.len() as f64;
        let log_prior: Vec<f64> = sums.class_weights().iter().map(|weight| (weight / rows).ln()).collect();
        let ones = vec![1.0; columns];
        let logs = share(known, threads, Vec::new, |logs: &mut Vec<(usize, Vec<f64>)>, class| {
            let mut own = vec![0.0; columns];
            sums.counts_of(class, &mut own);
            matrix::multinomial(&mut own, &ones);
            logs.push((class, own));
        });
        let mut logs = logs.concat();
        logs.sort_by_key(|(class, _)| *class);
        let logs: Vec<f64> = logs.into_iter().flat_map(|(_, logs)| logs).collect();
        LinearScores::new(&logs, &log_prior, true)
    }

    fn count_right_plain(&self, scores: &LinearScores, threads: usize) -> usize {
        let known = self.classes.iter().max().map_or(0, |&class| class as usize + 1);
        let blocks = self.classes.len().div_ceil(SCORED);
        let step = |(right, joint): &mut (usize, Vec<f64>), block: usize| {
            let rows = self.rows(block, SCORED);
            let starts = &self.starts[rows.start..=rows.end];
            let entries = starts[0]..starts[rows.len()];
            let (columns, values) = (&self.ids[entries.clone()], &self.values[entries]);
            joint.resize(rows.len() * known, 0.0);
            scores
                .score_sparse(SparseRows { starts, columns, values }, joint)
                .expect("the counts are finite");
            let best = matrix::best(joint, known).zip(&self.classes[rows]);
            *right += best.filter(|(best, class)| *best == **class as usize).count();
        };
        share(blocks, threads, Default::default, step).into_iter().map(|(right, _)| right).sum()
    }

    fn fit(&self, threads: usize) -> Model {
        let start = || Statistics::empty(&schema());
        let mut parts = self
            .fold(threads, start, |statistics, batch| statistics.observe(batch).expect("the batch is right"))
            .into_iter();
        let mut all = parts.next().expect("there is a thread");
        parts.for_each(|part| all.merge(&part).expect("the tables are the same"));
        // What MultinomialNB does.
        let text = TextModel {
            model: Some(TextFamily::Multinomial),
            smoothing: Smoothing::Lidstone(1.0),
            ..TextModel::default()
        };
        all.estimate(&Settings { text, ..Settings::default() }).expect("there are rows")
    }

    fn count_right(&self, model: &Model, threads: usize) -> usize {
        let step = |right: &mut usize, batch: &Batch| {
            let posterior = model.score(batch).expect("the batch is right").normalize();
            let is_right = |&row: &usize| {
                batch.classes.value(row) == Some(model.classes()[posterior.best(row)].as_str())
            };
            *right += (0..batch.rows).filter(is_right).count();
        };
        self.fold(threads, || 0, step).into_iter().sum()
    }
}

/// Takes the numbers below `items` through `step`, and returns the state of each thread.
fn share<S: Send>(
    items: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize) + Sync,
) -> Vec<S> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut state = start();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= items {
                return state;
            }
            step(&mut state, number);
        }
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    })
}

fn schema() -> Schema {
    Schema::new("y", vec![Column::new("x", Kind::Text)]).expect("the names are distinct")
}

//! Sums over rows, by several threads.

use std::ops::Range;
use std::thread;

/// How many rows a block has: it does not depend on the number of threads, and neither does any sum over blocks.
const ROWS: usize = 512;

/// What `work` gives for each block of rows, in the order of the rows.
pub(crate) fn in_blocks<T: Send>(
    rows: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let block = |start: usize| start * ROWS..rows.min((start + 1) * ROWS);
    let blocks = rows.div_ceil(ROWS);
    let each = blocks.div_ceil(threads.clamp(1, blocks.max(1)));
    if each >= blocks {
        return (0..blocks).map(|i| work(block(i))).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let run = |first: usize| {
            scope.spawn(move || (first..blocks.min(first + each)).map(|i| work(block(i))).collect::<Vec<T>>())
        };
        let handles: Vec<_> = (0..blocks).step_by(each).map(run).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("the work does not panic")).collect()
    })
}

//! Work on rows, and on anything else that can be numbered, by several threads.

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
    each(rows.div_ceil(ROWS), threads, |block| work(block * ROWS..rows.min((block + 1) * ROWS)))
}

/// What `work` gives for each number below `count`, in order.
pub(crate) fn each<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let of_thread = count.div_ceil(threads.clamp(1, count.max(1)));
    if of_thread >= count {
        return (0..count).map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let run = |first: usize| {
            scope.spawn(move || (first..count.min(first + of_thread)).map(work).collect::<Vec<T>>())
        };
        let handles: Vec<_> = (0..count).step_by(of_thread).map(run).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("the work does not panic")).collect()
    })
}

//! From tables to batches, and from batches to statistics.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use priory::{Batch, BatchColumn, Schema, Statistics};
use priory_input::{Purpose, Reader, Table, Turn, Watch, Work};

use crate::output::{plural, short, warn};
use crate::progress::Progress;

/// Hands every batch of rows to be scored to `each`, in order, on this thread. The documents are kept as they were written if
/// they are to be shown.
pub(crate) fn for_each_document(
    table: Table,
    schema: &Schema,
    keep: bool,
    mut each: impl FnMut(&Batch) -> Result<()>,
) -> Result<()> {
    let mut batches = table.batches(schema, Purpose::Scoring)?;
    warn_of_missing_columns(batches.reader());
    let mut batch = batches.reader().empty_batch();
    if keep {
        keep_documents(&mut batch);
    }
    while batches.read(&mut batch)? {
        each(&batch)?;
    }
    warn_of_bad_values(batches.reader());
    Ok(())
}

/// Has a batch keep its documents as they are written.
pub(crate) fn keep_documents(batch: &mut Batch) {
    for column in &mut batch.columns {
        if let BatchColumn::Text(column) = column {
            column.keep_documents();
        }
    }
}

/// Takes every batch of a table through `step` on several threads with a progress bar, and returns their states.
pub(crate) fn fold<S: Send>(
    reader: &Reader,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
) -> Result<Vec<S>> {
    warn_of_missing_columns(reader);
    let watch = ProgressBar::default();
    let states = Work { threads, watch: &watch }.fold(reader, start, step)?;
    watch.was_read(reader);
    Ok(states)
}

/// Shows how far the work on a table is, and says what was wrong with it.
#[derive(Default)]
pub(crate) struct ProgressBar(Mutex<Option<Progress>>);

impl Watch for ProgressBar {
    fn begin(&self, size: Option<u64>) {
        *self.progress() = Some(Progress::new(size));
    }

    fn advance(&self, done: u64) -> priory_input::Result<()> {
        // Whoever holds it draws something as good.
        if let Ok(mut progress) = self.0.try_lock()
            && let Some(progress) = progress.as_mut()
        {
            progress.advance(done);
        }
        Ok(())
    }

    fn was_read(&self, reader: &Reader) {
        *self.progress() = None;
        warn_of_bad_values(reader);
    }
}

impl ProgressBar {
    fn progress(&self) -> MutexGuard<'_, Option<Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn warn_of_missing_columns(reader: &Reader) {
    const MOST: usize = 20;
    let (name, missing) = (reader.name(), reader.missing_columns());
    for column in missing.iter().take(MOST) {
        warn(&format!("{name} has no column `{}`: it counts as missing in every row", short(column)));
    }
    if missing.len() > MOST {
        let others = plural((missing.len() - MOST) as u64, "other column");
        warn(&format!("{name} has not {others} of the model either"));
    }
}

fn warn_of_bad_values(reader: &Reader) {
    if reader.bad_values() > 0 {
        let values = plural(reader.bad_values(), "value");
        warn(&format!("{}: {values} taken as missing, since they are not numbers", reader.name()));
    }
}

/// Learns all rows of a table on several threads, starting from statistics of no rows. Returns what was learnt and how many rows had no class.
pub(crate) fn learn(table: Table, empty: &Statistics, threads: usize) -> Result<(Statistics, u64)> {
    Ok(Work { threads, watch: &ProgressBar::default() }.learn(table, empty)?)
}

/// Says how many rows had no class.
pub(crate) fn warn_of_skipped(skipped: u64, target: &str) {
    if skipped > 0 {
        warn(&format!("{} skipped: `{target}` is missing", plural(skipped, "row")));
    }
}

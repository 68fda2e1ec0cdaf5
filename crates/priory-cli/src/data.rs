//! From tables to batches, and from batches to statistics.

use std::sync::Mutex;

use anyhow::Result;
use priory::{Batch, BatchColumn, Schema, Statistics};
use priory_input::{Purpose, Reader, Table, Turn};

use crate::output::{plural, short, warn};
use crate::progress::Progress;

/// Hands every batch of a table to `each`, in order, on this thread.
pub(crate) fn for_each_batch(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
    mut each: impl FnMut(&Batch) -> Result<()>,
) -> Result<()> {
    let mut batches = table.batches(schema, purpose)?;
    warn_of_missing_columns(batches.reader());
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch)? {
        each(&batch)?;
    }
    warn_of_bad_values(batches.reader());
    Ok(())
}

/// The same for rows to be scored, whose documents are kept as they were written if they are to be shown.
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
    let states = fold_again(reader, threads, start, step)?;
    warn_of_bad_values(reader);
    Ok(states)
}

/// The same for a table that was read before: what is wrong with it was said.
pub(crate) fn fold_again<S: Send>(
    reader: &Reader,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
) -> Result<Vec<S>> {
    let progress = Mutex::new(Progress::new(reader.size()));
    let states = priory_input::fold(reader, threads, start, |state, batch, turn| {
        step(state, batch, turn)?;
        if let Ok(mut progress) = progress.try_lock() {
            progress.advance(reader.bytes_read());
        }
        Ok(())
    })?;
    Ok(states)
}

fn warn_of_missing_columns(reader: &Reader) {
    const MOST: usize = 20;
    let (name, missing) = (reader.name(), reader.missing_columns());
    for column in missing.iter().take(MOST) {
        warn(&format!("{name} has no column `{}`: it counts as missing in every row", short(column)));
    }
    if missing.len() > MOST {
        warn(&format!("{name} has not {} other columns of the model either", missing.len() - MOST));
    }
}

fn warn_of_bad_values(reader: &Reader) {
    if reader.bad_values() > 0 {
        let values = plural(reader.bad_values(), "value");
        warn(&format!("{}: {values} taken as missing, since they are not numbers", reader.name()));
    }
}

/// Learns all rows of a table after `nothing`, on several threads. Returns what was learnt and how many rows had no class.
pub(crate) fn learn(table: Table, nothing: &Statistics, threads: usize) -> Result<(Statistics, u64)> {
    let start = || (nothing.clone(), 0);
    let reader = table.reader(nothing.schema(), Purpose::Learning)?;
    let parts = fold(&reader, threads, start, |(statistics, skipped), batch, turn| {
        *skipped += batch.classes.missing() as u64;
        if let Some(age) = nothing.half_life() {
            statistics.pass(age.learnt.saturating_add(turn.rows_before(&reader)?));
        }
        statistics.observe(batch)?;
        Ok(statistics.check_size()?)
    })?;
    let mut parts = parts.into_iter();
    let (mut all, mut skipped) = parts.next().unwrap_or_else(start);
    for (part, part_skipped) in parts {
        let merged = all.merge(&part).and_then(|()| all.check_size());
        merged.map_err(|cause| priory_input::Error::Use { name: reader.name().into(), cause })?;
        skipped += part_skipped;
    }
    Ok((all, skipped))
}

/// Says how many rows had no class.
pub(crate) fn warn_of_skipped(skipped: u64, target: &str) {
    if skipped > 0 {
        warn(&format!("{} skipped: `{target}` is missing", plural(skipped, "row")));
    }
}

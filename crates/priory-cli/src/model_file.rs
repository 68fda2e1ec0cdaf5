//! Model files: read with every check, replaced in one step.

use std::path::Path;

use anyhow::{Context, Result};
use priory::{Batch, Settings, Statistics};
use priory_input::{Purpose, store};

use crate::data::{self, Skipped};

/// Reads a model.
pub(crate) fn read(path: &Path) -> Result<(Statistics, Settings)> {
    let bytes = store::read_bytes(path)?;
    priory::read_file(&bytes).with_context(|| path.display().to_string())
}

/// Writes a model beside its place, then moves it there.
pub(crate) fn write(path: &Path, statistics: &Statistics, settings: &Settings) -> Result<()> {
    Ok(store::replace_file(path, &priory::write_file(statistics, settings))?)
}

/// Changes a model by every batch of some tables. The file is replaced at the end, or not at all; who else wants
/// to change it waits. Returns the rows before and after.
pub(crate) fn update(
    path: &Path,
    tables: &[String],
    change: impl Fn(&mut Statistics, &Batch) -> priory::Result<()>,
) -> Result<(u64, u64)> {
    let lock = store::lock(path)?;
    let (mut statistics, settings) = read(path)?;
    let before = statistics.rows();
    let schema = statistics.schema().clone();
    let mut skipped = Skipped::default();
    for table in tables {
        data::for_each_batch(data::open(table)?, &schema, Purpose::Learning, |batch| {
            skipped.observe(batch);
            Ok(change(&mut statistics, batch)?)
        })?;
    }
    lock.replace(&priory::write_file(&statistics, &settings))?;
    skipped.warn(&schema.target);
    Ok((before, statistics.rows()))
}

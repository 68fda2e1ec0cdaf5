//! Model files: read with every check, replaced in one step.

use std::path::Path;

use anyhow::{Context, Result};
use priory::{Settings, Statistics};
use priory_input::store;

/// Reads a model.
pub(crate) fn read(path: &Path) -> Result<(Statistics, Settings)> {
    let bytes = store::read_promising_bytes(path, priory::could_be_file)?;
    priory::read_file(&bytes).with_context(|| path.display().to_string())
}

/// Writes a model beside its place, then moves it there.
pub(crate) fn write(path: &Path, statistics: &Statistics, settings: &Settings) -> Result<()> {
    Ok(store::replace_file(path, &priory::write_file(statistics, settings))?)
}

/// Changes a model by what was learnt from some tables. The file is replaced at the end, or not at all; who else
/// wants to change it waits. Returns the rows before and after.
pub(crate) fn update(path: &Path, change: impl FnOnce(&mut Statistics) -> Result<()>) -> Result<(u64, u64)> {
    let lock = store::lock(path)?;
    let (mut statistics, settings) = read(path)?;
    let before = statistics.rows();
    change(&mut statistics)?;
    lock.replace(&priory::write_file(&statistics, &settings))?;
    Ok((before, statistics.rows()))
}

//! From what was typed about a table to its schema, and from its files to batches.

use std::sync::Mutex;

use anyhow::{Result, bail};
use priory::{Batch, Column, Family, Kind, MISSING_SPELLINGS, Schema, Settings, Statistics};
use priory_input::{Purpose, ReadOptions, Reader, Table, Turn};

use crate::args::TableArgs;
use crate::choices::{AsChoice, Meaning};
use crate::output::{plural, warn};
use crate::progress::Progress;

/// The name that stands for every column in `--as`.
const EVERY_COLUMN: &str = "*";

/// The schema that a table and the command line give together, and the families that were asked for.
pub(crate) fn schema(table: &Table, args: &TableArgs, settings: &mut Settings) -> Result<Schema> {
    table.column("target", &args.target)?;
    if let Some(name) = &args.weight {
        table.column("weight", name)?;
    }
    let about = args.kinds.iter().map(|choice| &choice.column).filter(|name| *name != EVERY_COLUMN);
    for name in args.ignore.iter().chain(about) {
        table.column("feature", name)?;
    }
    let is_feature = |name: &String| {
        *name != args.target && Some(name) != args.weight.as_ref() && !args.ignore.contains(name)
    };
    let mut columns = Vec::new();
    for name in table.header().iter().filter(|name| is_feature(name)) {
        match meaning(name, &args.kinds) {
            Meaning::Ignored => {}
            Meaning::Kept(kind, family) => {
                columns.push(Column::new(name, kind));
                if let Some(family) = family {
                    settings.families.insert(name.clone(), family);
                }
            }
        }
    }
    if columns.is_empty() {
        bail!("no columns are left to learn from");
    }
    let missing = match &args.missing {
        Some(spellings) => spellings.clone(),
        None => MISSING_SPELLINGS.map(String::from).to_vec(),
    };
    Ok(Schema { target: args.target.clone(), weight: args.weight.clone(), missing, columns }.checked()?)
}

/// The last word about a column counts; a word about the column itself counts more than one about all.
fn meaning(name: &str, choices: &[AsChoice]) -> Meaning {
    let about = |column: &str| choices.iter().rev().find(|choice| choice.column == column);
    let choice = about(name).or_else(|| about(EVERY_COLUMN));
    choice.map_or(Meaning::Kept(Kind::Category, None::<Family>), |choice| choice.meaning)
}

/// Opens a table.
pub(crate) fn open(path: &str) -> Result<Table> {
    Ok(Table::open(path, &ReadOptions::default())?)
}

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
    Ok(())
}

/// Takes every batch of a table through `step` on several threads with a progress bar, and returns their states.
pub(crate) fn fold<S: Send>(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
) -> Result<Vec<S>> {
    let reader = table.reader(schema, purpose)?;
    warn_of_missing_columns(&reader);
    let progress = Mutex::new(Progress::new(reader.size()));
    let states = priory_input::fold(&reader, threads, start, |state, batch, turn| {
        step(state, batch, turn)?;
        if let Ok(mut progress) = progress.try_lock() {
            progress.advance(reader.bytes_read());
        }
        Ok(())
    })?;
    Ok(states)
}

fn warn_of_missing_columns(reader: &Reader) {
    for column in reader.missing_columns() {
        warn(&format!("{} has no column `{column}`: it counts as missing in every row", reader.name()));
    }
}

/// Learns all rows of a table, on several threads. Returns what was learnt and how many rows had no class.
pub(crate) fn learn(table: Table, schema: &Schema, threads: usize) -> Result<(Statistics, u64)> {
    let start = || (Statistics::empty(schema), 0);
    let parts = fold(table, schema, Purpose::Learning, threads, start, |(statistics, skipped), batch, _| {
        *skipped += batch.classes.missing() as u64;
        statistics.observe(batch)?;
        Ok(statistics.check_size()?)
    })?;
    let mut all = Statistics::empty(schema);
    let mut skipped = 0;
    for (part, part_skipped) in parts {
        all.merge(&part)?;
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

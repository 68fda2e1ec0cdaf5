//! `priory forget`: take rows out of a model.

use anyhow::Result;
use priory::Statistics;
use priory_input::{Purpose, Table};

use crate::args::UpdateArgs;
use crate::data;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &UpdateArgs, threads: usize) -> Result<()> {
    let (before, after) = model_file::update(&args.model, |statistics| {
        glob::expand(&args.data)?.iter().try_for_each(|path| forget(statistics, path, args, threads))
    })?;
    note(&format!("{} forgotten, {after} left: {}", plural(before - after, "row"), args.model.display()));
    Ok(())
}

fn forget(statistics: &mut Statistics, path: &str, args: &UpdateArgs, threads: usize) -> Result<()> {
    let schema = statistics.schema().clone();
    let (part, skipped) = data::learn(args.input.open(path)?, &schema, threads)?;
    if let Err(refusal) = statistics.subtract(&part) {
        name_the_row(statistics, args.input.open(path)?)?;
        return Err(refusal.into());
    }
    data::warn_of_skipped(skipped, &schema.target);
    Ok(())
}

/// Goes through the table again, row after row, to the first that cannot be taken away.
fn name_the_row(statistics: &Statistics, table: Table) -> Result<()> {
    let name = table.name().to_owned();
    let mut left = statistics.clone();
    data::for_each_batch(table, statistics.schema(), Purpose::Learning, |batch| {
        left.forget(batch).map_err(|error| anyhow::Error::from(error).context(name.clone()))
    })
}

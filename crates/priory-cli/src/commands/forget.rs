//! `priory forget`: take rows out of a model.

use anyhow::{Result, bail};
use priory::Statistics;
use priory_input::{Purpose, Table};

use crate::args::ForgetArgs;
use crate::data;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &ForgetArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    let (before, after) = model_file::update(&update.model, |statistics| {
        if args.learnt_at.is_none() && statistics.half_life().is_some() {
            bail!("the rows of this model age: --learnt-at says when these were learnt");
        }
        let mut learnt_at = args.learnt_at;
        for path in &glob::expand(&update.data)? {
            learnt_at = forget(statistics, learnt_at, || update.input.open(path), threads)?;
        }
        Ok(())
    })?;
    note(&format!("{} forgotten, {after} left: {}", plural(before - after, "row"), update.model.display()));
    Ok(())
}

/// Forgets the rows of a table. Where rows age, the first of them was learnt as this row; returns the one after the last.
fn forget(
    statistics: &mut Statistics,
    learnt_at: Option<u64>,
    open: impl Fn() -> Result<Table>,
    threads: usize,
) -> Result<Option<u64>> {
    let nothing = match learnt_at {
        Some(row) => statistics.nothing_at(row)?,
        None => Statistics::empty(statistics.schema()),
    };
    let (part, skipped) = data::learn(open()?, &nothing, threads)?;
    if let Err(refusal) = statistics.subtract(&part) {
        name_the_row(statistics, learnt_at, open()?)?;
        return Err(refusal.into());
    }
    data::warn_of_skipped(skipped, &statistics.schema().target);
    Ok(learnt_at.map(|_| part.half_life().map_or(0, |age| 1 + age.learnt)))
}

/// Goes through the table again, row after row, to the first that cannot be taken away.
fn name_the_row(statistics: &Statistics, learnt_at: Option<u64>, table: Table) -> Result<()> {
    let name = table.name().to_owned();
    let mut left = statistics.clone();
    data::for_each_batch(table, statistics.schema(), Purpose::Learning, |batch| {
        let forgotten = match learnt_at {
            None => left.forget(batch),
            Some(0) => left.forget_learnt_at(batch, 0),
            Some(row) => left.forget_learnt_at(batch, row + batch.first_row - 1),
        };
        forgotten.map_err(|error| anyhow::Error::from(error).context(name.clone()))
    })
}

//! `priory forget`: take rows out of a model.

use anyhow::Result;

use crate::args::UpdateArgs;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &UpdateArgs) -> Result<()> {
    let (before, after) =
        model_file::update(&args.model, &args.data, |statistics, batch| statistics.forget(batch))?;
    note(&format!("{} forgotten, {after} left: {}", plural(before - after, "row"), args.model.display()));
    Ok(())
}

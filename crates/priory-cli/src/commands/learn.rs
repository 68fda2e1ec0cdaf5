//! `priory learn`: add rows to a model.

use anyhow::Result;

use crate::args::UpdateArgs;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &UpdateArgs) -> Result<()> {
    let (before, after) = model_file::update(&args.model, &args.data, |statistics, batch| {
        statistics.observe(batch)?;
        statistics.check_size()
    })?;
    note(&format!("{} learnt, {after} in all: {}", plural(after - before, "row"), args.model.display()));
    Ok(())
}

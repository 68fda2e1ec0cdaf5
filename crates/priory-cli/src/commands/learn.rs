//! `priory learn`: add rows to a model.

use anyhow::Result;

use crate::args::UpdateArgs;
use crate::data;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &UpdateArgs, threads: usize) -> Result<()> {
    let (before, after) = model_file::update(&args.model, |statistics| {
        let schema = statistics.schema().clone();
        for path in &glob::expand(&args.data)? {
            let (part, skipped) = data::learn(args.input.open(path)?, &schema, threads)?;
            statistics.merge(&part)?;
            data::warn_of_skipped(skipped, &schema.target);
        }
        Ok(statistics.check_size()?)
    })?;
    note(&format!("{} learnt, {after} in all: {}", plural(after - before, "row"), args.model.display()));
    Ok(())
}

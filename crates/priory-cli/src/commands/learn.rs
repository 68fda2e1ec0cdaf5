//! `priory learn`: add rows to a model.

use anyhow::Result;

use crate::args::LearnArgs;
use crate::data;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &LearnArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    let mut learnt = 0;
    let mut first = None;
    let (_, after) = model_file::update(&update.model, |model| {
        let statistics = &mut model.statistics;
        if let Some(rows) = args.half_life {
            statistics.set_half_life(rows)?;
        }
        first = statistics.half_life().map(|age| 1 + age.learnt);
        for path in &glob::expand(&update.data)? {
            let (part, skipped) =
                data::learn(update.input.open(path)?, &statistics.empty_at_same_age(), threads)?;
            statistics.merge(&part)?;
            statistics.check_size()?;
            learnt += part.rows();
            data::warn_of_skipped(skipped, &statistics.schema().target);
        }
        Ok(())
    })?;
    // Who wants to forget rows that age has to know when they were learnt.
    let from = first.map_or(String::new(), |first| format!(" from row {first} on"));
    let (rows, model) = (plural(learnt, "row"), update.model.display());
    note(&format!("{rows} learnt{from}, {after} in all: {model}"));
    Ok(())
}

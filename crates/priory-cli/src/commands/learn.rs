//! `priory learn`: add rows to a model.

use anyhow::Result;

use crate::args::LearnArgs;
use crate::data;
use crate::model_file::{self, Fate};
use crate::output::{note, plural};

pub(crate) fn run(args: &LearnArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    update.refuse_overwriting()?;
    let output = update.output.as_deref();
    let mut learnt = 0;
    let mut first = None;
    let updated = model_file::update(&update.model, &Fate::new(output, args.dry_run), |model| {
        let statistics = &mut model.statistics;
        if let Some(rows) = args.half_life {
            statistics.set_half_life(rows)?;
        }
        first = statistics.half_life().map(|age| 1 + age.learnt);
        for open in update.tables()? {
            let (part, skipped) = data::learn(open()?, &statistics.empty_at_same_age(), threads)?;
            statistics.merge(&part)?;
            statistics.check_size()?;
            learnt += part.rows();
            data::warn_of_skipped(skipped, &statistics.schema().target);
        }
        Ok(())
    })?;
    // Who wants to forget rows that age has to know when they were learnt.
    let from = first.map_or(String::new(), |first| format!(" from row {first} on"));
    let (rows, after, changes) = (plural(learnt, "row"), updated.rows_after(), updated.other_changes());
    note(&match args.dry_run {
        true => {
            let stays = format!("{} stays as it is", update.model.display());
            format!("{rows} would be learnt{from}, {after} in all{changes}; {stays}")
        }
        false => {
            format!(
                "{rows} learnt{from}, {after} in all{changes}: {}",
                output.unwrap_or(&update.model).display()
            )
        }
    });
    Ok(())
}

//! `priory forget`: take rows out of a model.

use anyhow::{Result, bail};
use priory_input::{Table, Work};

use crate::args::ForgetArgs;
use crate::data::{self, ProgressBar};
use crate::glob;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &ForgetArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    let (before, after) = model_file::update(&update.model, |learnt| {
        let statistics = &mut learnt.statistics;
        if args.learnt_at.is_none() && statistics.half_life().is_some() {
            bail!("the rows of this model age: --learnt-at says when these were learnt");
        }
        let mut learnt_at = args.learnt_at;
        let options = update.input.options();
        for path in &glob::expand(&update.data)? {
            let work = Work { threads, watch: &ProgressBar::default() };
            let skipped;
            (learnt_at, skipped) = work.forget(statistics, learnt_at, || Table::open(path, &options))?;
            data::warn_of_skipped(skipped, &statistics.schema().target);
        }
        if args.drop_judgement {
            learnt.drop_judgement();
        } else if learnt.is_judged() {
            note(&format!(
                "the weights of the model were fitted with these rows, and stay; `priory judge {} DATA` fits them anew, and --drop-judgement removes them",
                update.model.display()
            ));
        }
        Ok(())
    })?;
    note(&format!("{} forgotten, {after} left: {}", plural(before - after, "row"), update.model.display()));
    Ok(())
}

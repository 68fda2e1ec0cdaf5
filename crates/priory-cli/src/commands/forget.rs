//! `priory forget`: take rows out of a model.

use anyhow::{Result, bail};
use priory_input::Work;

use crate::args::ForgetArgs;
use crate::data::{self, ProgressBar};
use crate::model_file::{self, Fate};
use crate::output::{note, plural, quoted};

pub(crate) fn run(args: &ForgetArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    update.refuse_overwriting()?;
    let output = update.output.as_deref();
    let written = output.unwrap_or(&update.model);
    let updated = model_file::update(&update.model, &Fate::new(output, args.dry_run), |learnt| {
        let statistics = &mut learnt.statistics;
        if args.learnt_at.is_none() && statistics.half_life().is_some() {
            bail!("the rows of this model age: --learnt-at says when these were learnt");
        }
        let mut learnt_at = args.learnt_at;
        for open in update.tables()? {
            let work = Work { threads, watch: &ProgressBar::default() };
            let skipped;
            (learnt_at, skipped) = work.forget(statistics, learnt_at, open)?;
            data::warn_of_skipped(skipped, &statistics.schema().target);
        }
        if args.drop_judgement {
            learnt.drop_judgement();
        } else if learnt.is_judged() {
            note(&format!(
                "the weights of the model were fitted with these rows, and stay; `priory judge {} DATA` fits them anew, and --drop-judgement removes them",
                quoted(&written.to_string_lossy())
            ));
        }
        Ok(())
    })?;
    let (before, after, changes) = (updated.rows_before, updated.rows_after(), updated.other_changes());
    let rows = plural(before - after, "row");
    note(&match args.dry_run {
        true => {
            format!(
                "{rows} would be forgotten, {after} left{changes}; {} stays as it is",
                update.model.display()
            )
        }
        false => format!("{rows} forgotten, {after} left{changes}: {}", written.display()),
    });
    Ok(())
}

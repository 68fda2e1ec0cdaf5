//! `priory forget`: take rows out of a model.

use std::path::Path;

use anyhow::{Result, bail};
use priory_input::Work;

use crate::args::ForgetArgs;
use crate::data::{self, ProgressBar};
use crate::glob;
use crate::model_file::{self, Fate};
use crate::output::{note, plural, quoted};
use crate::overwrite::refuse_input_as_output;

pub(crate) fn run(args: &ForgetArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    let paths = glob::expand(&update.data)?;
    let output = update.output.as_deref();
    if let Some(output) = output {
        let read = paths.iter().chain(&update.document).map(Path::new).chain([update.model.as_path()]);
        refuse_input_as_output(output, read)?;
    }
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

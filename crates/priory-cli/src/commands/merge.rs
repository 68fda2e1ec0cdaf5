//! `priory merge`: add models together.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use priory_input::Work;

use crate::args::MergeArgs;
use crate::commands::train::explain_judgement;
use crate::data::ProgressBar;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural, quoted, warn};
use crate::overwrite::refuse_input_as_output;

pub(crate) fn run(args: &MergeArgs, threads: usize) -> Result<()> {
    let files = files(args)?;
    if let Some(output) = &args.output {
        refuse_input_as_output(output, &files)?;
    }
    let watch = ProgressBar::of_files();
    let mut merged = Work { threads, watch: &watch }.merge(&files)?;
    drop(watch);
    if !merged.other_settings.is_empty() {
        let (count, example) = (merged.other_settings.len() as u64, merged.other_settings[0].display());
        let others = if count == 1 {
            format!("{example} has")
        } else {
            format!("{example} and {} have", plural(count - 1, "other"))
        };
        warn(&format!("{others} other settings; those of {} are kept", files[0].display()));
    }
    let learnt = &mut merged.learnt;
    let rows = plural(learnt.statistics.rows(), "row");
    let is_left_unjudged = merged.was_judged && !learnt.is_judged() && learnt.kept_rows().is_none();
    // Without an output it is a dry run.
    let Some(output) = args.output.as_ref().filter(|_| !args.dry_run) else {
        let classes = plural(learnt.statistics.classes().len() as u64, "class");
        let judged = match is_left_unjudged {
            true => ", not judged, since the models were judged by different rows",
            false => "",
        };
        note(&format!("the sum would have {rows} and {classes}{judged}; nothing was written"));
        return Ok(());
    };
    // Rows to judge by are there if all parts have kept theirs.
    let (mut tier, mut why_not) = (None, None);
    if learnt.kept_rows().is_some() {
        let judging = args.judge.judging();
        why_not = judging.why_not(&learnt.statistics, &learnt.settings);
        tier = learnt.conclude(judging, threads)?;
    }
    model_file::write(output, learnt)?;
    explain_judgement(tier, why_not, learnt);
    if is_left_unjudged {
        note(&format!(
            "the models were judged by different rows, so the sum is not judged; `priory judge {} DATA` does it",
            quoted(&output.to_string_lossy())
        ));
    }
    note(&format!("{rows} in all: {}", output.display()));
    Ok(())
}

/// The files that are named, and those that a list names.
fn files(args: &MergeArgs) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = glob::expand(&args.models)?.into_iter().map(PathBuf::from).collect();
    if let Some(list) = &args.list {
        files.extend(listed(list)?);
    }
    match files.is_empty() {
        true => bail!("there is no model to merge"),
        false => Ok(files),
    }
}

/// A list has a path in each line; `-` is standard input.
fn listed(list: &Path) -> Result<Vec<PathBuf>> {
    let text = match list == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()).context("standard input cannot be read"),
        false => std::fs::read_to_string(list).with_context(|| format!("{} cannot be read", list.display())),
    };
    Ok(text?.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect())
}

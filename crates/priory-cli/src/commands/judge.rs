//! `priory judge`: weigh what the columns of a model say, by the rows that it has learnt.

use std::path::Path;

use anyhow::{Result, bail};
use priory::Learnt;
use priory::judgement::Tier;
use priory_input::store;

use crate::args::JudgeCommandArgs;
use crate::commands::train::explain_judgement;
use crate::data;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural, quoted};
use crate::overwrite::refuse_input_as_output;

pub(crate) fn run(args: &JudgeCommandArgs, threads: usize) -> Result<()> {
    let paths = glob::expand(&args.data)?;
    if let Some(output) = &args.output {
        let read = paths.iter().map(Path::new).chain([args.model.as_path()]);
        refuse_input_as_output(output, read)?;
    }
    let lock = if args.output.is_none() { Some(store::lock(&args.model)?) } else { None };
    let mut learnt = model_file::read(&args.model)?;
    let judging = args.judge.judging();
    let why_not = judging.why_not(&learnt.statistics, &learnt.settings);
    let tier = match (paths.is_empty(), learnt.kept_rows()) {
        (true, Some(_)) => learnt.judge(judging, threads)?,
        (true, None) => bail!(
            "{} has not kept the rows that it learnt: name them, as in `priory judge {} DATA`",
            args.model.display(),
            quoted(&args.model.to_string_lossy())
        ),
        (false, _) => judge_by_tables(&mut learnt, args, &paths, threads)?,
    };
    let written = args.output.as_ref().unwrap_or(&args.model);
    match lock {
        Some(lock) => lock.replace(&learnt.to_bytes())?,
        None => model_file::write(written, &learnt)?,
    }
    explain_judgement(tier, why_not, &learnt);
    note(&format!("{}: {}", plural(learnt.statistics.rows(), "row"), written.display()));
    Ok(())
}

/// Judges by the rows of some tables, which must be all that were learnt.
fn judge_by_tables(
    learnt: &mut Learnt,
    args: &JudgeCommandArgs,
    paths: &[String],
    threads: usize,
) -> Result<Option<Tier>> {
    let judging = args.judge.judging();
    let mut rows = judging.start(learnt.statistics.schema());
    for path in paths {
        let (part, skipped) = data::learn(args.input.open(path)?, &rows.empty_like(), threads)?;
        rows.merge(&part)?;
        rows.check_size()?;
        data::warn_of_skipped(skipped, &rows.schema().target);
    }
    Ok(learnt.judge_by(rows, judging, threads)?)
}

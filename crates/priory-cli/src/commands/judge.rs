//! `priory judge`: weigh what the columns of a model say, by the rows that it has learnt.

use anyhow::Result;
use priory_input::store;

use crate::args::JudgeCommandArgs;
use crate::commands::train::explain_judgement;
use crate::data;
use crate::glob;
use crate::model_file;
use crate::output::{note, plural};

pub(crate) fn run(args: &JudgeCommandArgs, threads: usize) -> Result<()> {
    let update = &args.update;
    let lock = store::lock(&update.model)?;
    let mut learnt = model_file::read(&update.model)?;
    let judging = args.judge.judge;
    let mut rows = judging.start(learnt.statistics.schema());
    for path in &glob::expand(&update.data)? {
        let (part, skipped) = data::learn(update.input.open(path)?, &rows.empty_like(), threads)?;
        rows.merge(&part)?;
        rows.check_size()?;
        data::warn_of_skipped(skipped, &rows.schema().target);
    }
    let why_not = judging.why_not(&learnt.statistics, &learnt.settings);
    let tier = learnt.judge_by(rows, judging, threads)?;
    lock.replace(&learnt.to_bytes())?;
    explain_judgement(tier, why_not);
    note(&format!("{}: {}", plural(learnt.statistics.rows(), "row"), update.model.display()));
    Ok(())
}

//! `priory merge`: add models together.

use anyhow::{Context, Result};

use crate::args::MergeArgs;
use crate::model_file;
use crate::output::{note, plural, warn};
use crate::overwrite::refuse_input_as_output;

pub(crate) fn run(args: &MergeArgs) -> Result<()> {
    refuse_input_as_output(&args.output, &args.models)?;
    let mut learnt = model_file::read(&args.models[0])?;
    let mut was_judged = learnt.is_judged();
    for path in &args.models[1..] {
        let other = model_file::read(path)?;
        was_judged |= other.is_judged();
        let pair = || format!("{} and {}", args.models[0].display(), path.display());
        learnt.merge(&other).with_context(pair)?;
        if other.settings != learnt.settings {
            warn(&format!(
                "{} has other settings; those of {} are kept",
                path.display(),
                args.models[0].display()
            ));
        }
    }
    model_file::write(&args.output, &learnt)?;
    if was_judged && !learnt.is_judged() {
        note(&format!(
            "the models were judged by different rows, so the sum is not judged; `priory judge {} DATA` does it",
            args.output.display()
        ));
    }
    note(&format!("{} in all: {}", plural(learnt.statistics.rows(), "row"), args.output.display()));
    Ok(())
}

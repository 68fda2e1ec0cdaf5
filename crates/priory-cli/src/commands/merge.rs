//! `priory merge`: add models together.

use anyhow::{Context, Result};

use crate::args::MergeArgs;
use crate::model_file;
use crate::output::{note, plural, warn};

pub(crate) fn run(args: &MergeArgs) -> Result<()> {
    let (mut statistics, settings) = model_file::read(&args.models[0])?;
    for path in &args.models[1..] {
        let (other, other_settings) = model_file::read(path)?;
        let pair = || format!("{} and {}", args.models[0].display(), path.display());
        statistics.merge(&other).and_then(|()| statistics.check_size()).with_context(pair)?;
        if other_settings != settings {
            warn(&format!(
                "{} has other settings; those of {} are kept",
                path.display(),
                args.models[0].display()
            ));
        }
    }
    model_file::write(&args.output, &statistics, &settings)?;
    note(&format!("{} in all: {}", plural(statistics.rows(), "row"), args.output.display()));
    Ok(())
}

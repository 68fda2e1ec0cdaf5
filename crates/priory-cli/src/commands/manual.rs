//! `priory manual`: a manual page for the program and for each command.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Cli;
use crate::output::note;

pub(crate) fn run(folder: &Path) -> Result<()> {
    clap_mangen::generate_to(Cli::command(), folder).with_context(|| folder.display().to_string())?;
    note(&format!("manual pages written: {}", folder.display()));
    Ok(())
}

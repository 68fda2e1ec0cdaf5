//! `priory completions`: a script for the shell.

use std::io::Write;

use anyhow::Result;
use clap::CommandFactory;

use crate::args::Cli;
use crate::output::data_out;

pub(crate) fn run(shell: clap_complete::Shell) -> Result<()> {
    // The generator panics where writing fails, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "priory", &mut script);
    let mut out = data_out();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}

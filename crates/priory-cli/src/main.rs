//! The priory program: what was typed goes to one command, what went wrong to standard error.

mod advice;
mod args;
mod choices;
mod commands;
mod counts;
mod data;
mod glob;
mod model_file;
mod output;
mod overwrite;
mod progress;
#[cfg(unix)]
mod signals;
mod tables;
mod terminal;
mod text;
mod understand;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;

use clap::Parser;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // A server ends in its own way.
    #[cfg(unix)]
    if !cli.command.ends_by_itself() {
        signals::tidy_up_when_told_to_end();
    }
    let threads = cli.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    let result = match cli.command {
        Command::Mail(args) => return commands::mail::run(&args, threads),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Train(args) => commands::train::run(&args, threads),
        Command::Sql(args) => commands::sql::run(&args),
        Command::Predict(args) => commands::predict::run(&args, threads),
        Command::Evaluate(args) => commands::evaluate::run(&args, threads),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Report(args) => commands::report::run(args, threads),
        Command::Show(args) => commands::show::run(&args),
        Command::Features(args) => commands::features::run(&args),
        Command::Plot(args) => commands::plot::run(&args),
        Command::Judge(args) => commands::judge::run(&args, threads),
        Command::Decide(args) => commands::decide::run(&args),
        Command::Learn(args) => commands::learn::run(&args, threads),
        Command::Forget(args) => commands::forget::run(&args, threads),
        Command::Merge(args) => commands::merge::run(&args, threads),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(&args),
        Command::Completions { shell } => commands::completions::run(shell),
        Command::Manual { folder } => commands::manual::run(&folder),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report_failure(&error);
            ExitCode::FAILURE
        }
    }
}

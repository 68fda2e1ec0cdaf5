//! `priory report`: a model and how good it is, as one page for a browser.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use priory::Learnt;
use priory::report_page::{Made, ReportPage, Tested};
use priory_input::store;

use crate::args::{EvaluateArgs, Format, ReportArgs};
use crate::commands::evaluate::{self, TestedRows};
use crate::glob;
use crate::model_file;
use crate::output::{note, quoted};
use crate::overwrite::refuse_input_as_output;

pub(crate) fn run(args: ReportArgs, threads: usize) -> Result<()> {
    let ReportArgs { data, table, settings, judge, split, seed, decision, output } = args;
    let paths = glob::expand(&data)?;
    let path = output.unwrap_or_else(|| default_output(&paths[0]));
    let args = EvaluateArgs {
        data,
        table,
        settings,
        judge,
        split,
        seed,
        decision,
        report: Some(path.clone()),
        compare: false,
        reliability: None,
        cut_offs: Vec::new(),
        format: Format::Text,
    };
    check_output(&path, &args, &paths)?;
    match &paths[..] {
        [model] if store::is_model(model) => {
            evaluate::refuse_what_the_model_says(&args, model)?;
            let learnt = model_file::read_under(Path::new(model), |settings| {
                args.decision.apply(&mut settings.decision)?;
                args.settings.apply(settings)
            })?;
            model_file::warn_of_judgement(&learnt, Path::new(model));
            write(&path, &learnt, None, &[], &paths)
        }
        _ => {
            let tested = evaluate::tested(&args, &paths, threads)?;
            evaluate::warn_of_what_was_found(&tested)?;
            write_tested(&path, &tested, &paths)
        }
    }
}

/// Refuses to write a page under the name of something else, or over what is read.
pub(super) fn check_output(path: &Path, args: &EvaluateArgs, paths: &[String]) -> Result<()> {
    let is = |name: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    if !is("html") && !is("htm") {
        bail!("{}: a report is a page for a browser; call the file something.html", path.display());
    }
    let others = args.table.files().chain(args.settings.files()).chain(args.decision.files());
    refuse_input_as_output(path, paths.iter().chain(&args.split.test).map(Path::new).chain(others))
}

/// Writes the page about what was tested.
pub(super) fn write_tested(path: &Path, tested: &TestedRows, files: &[String]) -> Result<()> {
    let Some(learnt) = &tested.learnt else { return Ok(()) };
    let page = Tested { evaluation: &tested.evaluation, how: &tested.told.how, rows: tested.rows.as_ref() };
    write(path, learnt, Some(page), &tested.left_out, files)
}

fn write(
    path: &Path,
    learnt: &Learnt,
    tested: Option<Tested<'_>>,
    left_out: &[(String, String)],
    files: &[String],
) -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).map(|word| typed(&word)).collect();
    let made = Made { command: format!("priory {}", words.join(" ")), files: files.to_vec() };
    let page = ReportPage { learnt, model: &learnt.estimate()?, tested, left_out, made: &made };
    store::replace_file(path, page.write()?.as_bytes())?;
    note(&format!("a report: {}", path.display()));
    Ok(())
}

/// A word of the command as a shell takes it; flags need no quotes.
fn typed(word: &str) -> String {
    let value = word.trim_start_matches('-');
    let dashes = &word[..word.len() - value.len()];
    if value.is_empty() { quoted(word) } else { format!("{dashes}{}", quoted(value)) }
}

/// `data/tennis.csv` and `data/tennis.priory` make `tennis.html` here; standard input makes `report.html`.
fn default_output(data: &str) -> PathBuf {
    let stem = Path::new(data).file_stem().filter(|_| data != "-");
    Path::new(stem.unwrap_or("report".as_ref())).with_extension("html")
}

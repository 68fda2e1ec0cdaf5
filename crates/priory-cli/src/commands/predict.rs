//! `priory predict`: read, score, report.

use std::io::{self, Write};
use std::sync::Mutex;

use anyhow::Result;
use priory::{Batch, Model, Outcome};
use priory_input::store::NewFile;
use priory_input::{Purpose, Table};

use crate::args::PredictArgs;
use crate::data;
use crate::model_file;
use crate::output::{plural, warn};

pub(crate) fn run(args: &PredictArgs, threads: usize) -> Result<()> {
    let (statistics, mut settings) = model_file::read(&args.model)?;
    args.settings.apply(&mut settings)?;
    let model = statistics.estimate(&settings)?;
    let table = args.input.open(&args.data)?;
    let seen = match &args.output {
        None => {
            let mut out = io::stdout();
            predict(args, &model, table, &mut out, "standard output", threads)?
        }
        Some(path) => {
            let mut out = NewFile::create(path)?;
            let seen = predict(args, &model, table, &mut out, &path.to_string_lossy(), threads)?;
            out.finish()?;
            seen
        }
    };
    seen.warn();
    Ok(())
}

/// Scores the table on several threads and writes the predictions in the order of the rows.
fn predict(
    args: &PredictArgs,
    model: &Model,
    table: Table,
    out: &mut (impl Write + Send),
    name: &str,
    threads: usize,
) -> Result<Seen> {
    let written = |result: io::Result<()>| {
        result.map_err(|cause| priory_input::Error::File { name: name.to_owned(), action: "written", cause })
    };
    let mut header = vec!["prediction".to_owned()];
    if args.probabilities {
        header.extend(model.classes().iter().map(|class| quoted(&format!("P({class})"))));
    }
    written(writeln!(out, "{}", header.join(",")))?;
    let classes: Vec<String> = model.classes().iter().map(|class| quoted(class)).collect();
    let out = Mutex::new(out);
    let start = || (Seen::default(), Vec::new());
    let states =
        data::fold(table, model.schema(), Purpose::Scoring, threads, start, |(seen, lines), batch, turn| {
            lines.clear();
            write_predictions(model, &classes, batch, args.probabilities, lines, seen)?;
            turn.take(|| written(out.lock().expect("writing does not panic").write_all(lines)))
        })?;
    written(out.into_inner().expect("writing does not panic").flush())?;
    Ok(states.into_iter().fold(Seen::default(), |all, (seen, _)| all.merged(&seen)))
}

fn write_predictions(
    model: &Model,
    classes: &[String],
    batch: &Batch,
    probabilities: bool,
    lines: &mut Vec<u8>,
    seen: &mut Seen,
) -> priory::Result<()> {
    let scores = model.score(batch)?;
    let posterior = scores.normalize();
    seen.unseen_values += scores.unseen();
    for row in 0..batch.rows {
        seen.observe(posterior.outcome(row));
        lines.extend_from_slice(classes[posterior.best(row)].as_bytes());
        if probabilities {
            for p in posterior.row(row) {
                write!(lines, ",{p}").expect("memory takes everything");
            }
        }
        lines.push(b'\n');
    }
    Ok(())
}

/// What the rows had that deserves a word afterwards.
#[derive(Debug, Default)]
struct Seen {
    unseen_values: u64,
    without_evidence: u64,
    impossible: u64,
}

impl Seen {
    fn observe(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Evidence => {}
            Outcome::NoEvidence => self.without_evidence += 1,
            Outcome::Impossible => self.impossible += 1,
        }
    }

    fn merged(self, other: &Seen) -> Seen {
        Seen {
            unseen_values: self.unseen_values + other.unseen_values,
            without_evidence: self.without_evidence + other.without_evidence,
            impossible: self.impossible + other.impossible,
        }
    }

    fn warn(&self) {
        if self.unseen_values > 0 {
            warn(&format!("{} never met in training", plural(self.unseen_values, "value")));
        }
        if self.without_evidence > 0 {
            warn(&format!(
                "{} without any known feature: predicted from the prior",
                plural(self.without_evidence, "row")
            ));
        }
        if self.impossible > 0 {
            warn(&format!(
                "{} impossible in every class: predicted from the prior",
                plural(self.impossible, "row")
            ));
        }
    }
}

/// A field as CSV wants it.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

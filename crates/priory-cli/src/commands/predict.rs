//! `priory predict`: read, score, report.

use std::io::{BufWriter, IntoInnerError, Write};

use anyhow::Result;
use priory::{Batch, Model, Outcome};
use priory_input::store::NewFile;
use priory_input::{Purpose, Table};

use crate::args::PredictArgs;
use crate::data;
use crate::model_file;
use crate::output::{data_out, plural, warn};

pub(crate) fn run(args: &PredictArgs) -> Result<()> {
    let (statistics, mut settings) = model_file::read(&args.model)?;
    args.settings.apply(&mut settings)?;
    let model = statistics.estimate(&settings)?;
    let table = data::open(&args.data)?;
    let mut seen = Seen::default();
    match &args.output {
        None => {
            let mut out = data_out();
            predict(args, &model, table, &mut out, &mut seen)?;
            out.flush()?;
        }
        Some(path) => {
            let mut out = BufWriter::new(NewFile::create(path)?);
            predict(args, &model, table, &mut out, &mut seen)?;
            out.into_inner().map_err(IntoInnerError::into_error)?.finish()?;
        }
    }
    seen.warn();
    Ok(())
}

fn predict(
    args: &PredictArgs,
    model: &Model,
    table: Table,
    out: &mut dyn Write,
    seen: &mut Seen,
) -> Result<()> {
    let mut header = vec!["prediction".to_owned()];
    if args.probabilities {
        header.extend(model.classes().iter().map(|class| quoted(&format!("P({class})"))));
    }
    writeln!(out, "{}", header.join(","))?;
    let classes: Vec<String> = model.classes().iter().map(|class| quoted(class)).collect();
    data::for_each_batch(table, model.schema(), Purpose::Scoring, |batch| {
        predict_batch(model, &classes, batch, args.probabilities, out, seen)
    })
}

fn predict_batch(
    model: &Model,
    classes: &[String],
    batch: &Batch,
    probabilities: bool,
    out: &mut dyn Write,
    seen: &mut Seen,
) -> Result<()> {
    let scores = model.score(batch)?;
    let posterior = scores.normalize();
    seen.unseen_values += scores.unseen();
    for row in 0..batch.rows {
        seen.observe(posterior.outcome(row));
        out.write_all(classes[posterior.best(row)].as_bytes())?;
        if probabilities {
            for p in posterior.row(row) {
                write!(out, ",{p}")?;
            }
        }
        out.write_all(b"\n")?;
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

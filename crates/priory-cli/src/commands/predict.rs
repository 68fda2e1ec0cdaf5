//! `priory predict`: read, score, report.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use priory::{Batch, Model, Outcome};
use priory_input::store::NewFile;
use priory_input::{Purpose, Reader};

use crate::args::{PredictArgs, PredictionFormat};
use crate::data;
use crate::model_file;
use crate::output::{plural, warn};

pub(crate) fn run(args: &PredictArgs, threads: usize) -> Result<()> {
    let (statistics, mut settings) = model_file::read(&args.model)?;
    args.settings.apply(&mut settings)?;
    let model = statistics.estimate(&settings)?;
    let reader = args.input.open(&args.data)?.reader(model.schema(), Purpose::Scoring)?;
    let lines = Lines::new(args, &model);
    let seen = match &args.output {
        None => predict(&lines, &reader, &mut io::stdout(), "standard output", threads)?,
        Some(path) => {
            let mut out = NewFile::create(path)?;
            let seen = predict(&lines, &reader, &mut out, &path.to_string_lossy(), threads)?;
            out.finish()?;
            seen
        }
    };
    seen.warn();
    Ok(())
}

/// Scores the table on several threads and writes the predictions in the order of the rows.
fn predict(
    lines: &Lines<'_>,
    reader: &Reader,
    out: &mut (impl Write + Send),
    name: &str,
    threads: usize,
) -> Result<Seen> {
    let written = |result: io::Result<()>| {
        result.map_err(|cause| priory_input::Error::File { name: name.to_owned(), action: "written", cause })
    };
    written(out.write_all(lines.header().as_bytes()))?;
    let out = Mutex::new(out);
    let start = || (Seen::default(), Vec::new());
    let states = data::fold(reader, threads, start, |(seen, text), batch, turn| {
        text.clear();
        lines.write(batch, text, seen)?;
        turn.take(|| written(out.lock().expect("writing does not panic").write_all(text)))
    })?;
    written(out.into_inner().expect("writing does not panic").flush())?;
    Ok(states.into_iter().fold(Seen::default(), |all, (seen, _)| all.merged(&seen)))
}

/// How predictions are written.
struct Lines<'a> {
    model: &'a Model,
    probabilities: bool,
    format: PredictionFormat,
    /// The classes as the format wants them.
    classes: Vec<String>,
}

impl<'a> Lines<'a> {
    fn new(args: &PredictArgs, model: &'a Model) -> Self {
        let format = args.format.unwrap_or_else(|| PredictionFormat::of(args.output.as_deref()));
        let classes = model.classes().iter().map(|class| format.quoted(class)).collect();
        Lines { model, probabilities: args.probabilities, format, classes }
    }

    fn header(&self) -> String {
        match self.format {
            PredictionFormat::Jsonl => String::new(),
            PredictionFormat::Csv => {
                let mut header = vec!["prediction".to_owned()];
                if self.probabilities {
                    let classes = self.model.classes().iter();
                    header.extend(classes.map(|class| self.format.quoted(&format!("P({class})"))));
                }
                header.join(",") + "\n"
            }
        }
    }

    fn write(&self, batch: &Batch, text: &mut Vec<u8>, seen: &mut Seen) -> priory::Result<()> {
        let scores = self.model.score(batch)?;
        let posterior = scores.normalize();
        seen.unseen_values += scores.unseen();
        for row in 0..batch.rows {
            seen.observe(posterior.outcome(row));
            let class = &self.classes[posterior.best(row)];
            let written = match self.format {
                PredictionFormat::Csv => self.write_csv(class, posterior.row(row), text),
                PredictionFormat::Jsonl => self.write_json(class, posterior.row(row), text),
            };
            written.expect("memory takes everything");
        }
        Ok(())
    }

    fn write_csv(&self, class: &str, posterior: &[f64], text: &mut Vec<u8>) -> io::Result<()> {
        text.extend_from_slice(class.as_bytes());
        if self.probabilities {
            posterior.iter().try_for_each(|p| write!(text, ",{p}"))?;
        }
        text.push(b'\n');
        Ok(())
    }

    fn write_json(&self, class: &str, posterior: &[f64], text: &mut Vec<u8>) -> io::Result<()> {
        write!(text, "{{\"prediction\":{class}")?;
        if self.probabilities {
            text.extend_from_slice(b",\"posterior\":{");
            for (i, (name, p)) in self.classes.iter().zip(posterior).enumerate() {
                write!(text, "{}{name}:{p}", if i == 0 { "" } else { "," })?;
            }
            text.push(b'}');
        }
        text.extend_from_slice(b"}\n");
        Ok(())
    }
}

impl PredictionFormat {
    /// What the name of the output asks for.
    fn of(output: Option<&Path>) -> Self {
        let extension = output.and_then(Path::extension).unwrap_or_default();
        let is = |name: &str| extension.eq_ignore_ascii_case(name);
        if is("jsonl") || is("ndjson") { PredictionFormat::Jsonl } else { PredictionFormat::Csv }
    }

    fn quoted(self, text: &str) -> String {
        match self {
            PredictionFormat::Jsonl => serde_json::Value::from(text).to_string(),
            PredictionFormat::Csv if text.contains(['"', ',', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            PredictionFormat::Csv => text.to_owned(),
        }
    }
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

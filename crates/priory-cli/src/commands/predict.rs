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
use crate::output::{note, plural, warn};

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
        seen.unseen_tokens += scores.unseen_tokens();
        for row in 0..batch.rows {
            seen.observe(posterior.outcome(row));
            let class = &self.classes[posterior.best(row)];
            match self.format {
                PredictionFormat::Csv => self.write_csv(class, posterior.row(row), text),
                PredictionFormat::Jsonl => self.write_json(class, posterior.row(row), text),
            }
        }
        Ok(())
    }

    fn write_csv(&self, class: &str, posterior: &[f64], text: &mut Vec<u8>) {
        text.extend_from_slice(class.as_bytes());
        if self.probabilities {
            for &p in posterior {
                text.push(b',');
                push_probability(p, text);
            }
        }
        text.push(b'\n');
    }

    fn write_json(&self, class: &str, posterior: &[f64], text: &mut Vec<u8>) {
        text.extend_from_slice(b"{\"prediction\":");
        text.extend_from_slice(class.as_bytes());
        if self.probabilities {
            text.extend_from_slice(b",\"posterior\":{");
            for (i, (name, &p)) in self.classes.iter().zip(posterior).enumerate() {
                text.extend_from_slice(if i == 0 { b"" } else { b"," });
                text.extend_from_slice(name.as_bytes());
                text.push(b':');
                push_probability(p, text);
            }
            text.push(b'}');
        }
        text.extend_from_slice(b"}\n");
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

/// Writes a probability as `{p}` would, in the fewest digits that mean this very f64, but in a fraction of the time: a
/// table of millions of rows has many of them.
fn push_probability(p: f64, line: &mut Vec<u8>) {
    let mut digits = zmij::Buffer::new();
    let digits = digits.format_finite(p);
    // A small one is written like 1.25e-7; the power of ten takes at most five characters.
    let end = digits.len().saturating_sub(5);
    let Some(e) = digits.as_bytes()[end..].iter().position(|&byte| byte == b'e') else {
        line.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
        return;
    };
    let (mantissa, exponent) = digits.split_at(end + e);
    let exponent: usize = exponent[2..].parse().expect("after `e-` stands a whole number");
    let (first, others) = mantissa.split_at(1);
    line.extend_from_slice(b"0.");
    line.extend(std::iter::repeat_n(b'0', exponent - 1));
    line.extend_from_slice(first.as_bytes());
    line.extend_from_slice(others.strip_prefix('.').filter(|&others| others != "0").unwrap_or("").as_bytes());
}

/// What the rows had that deserves a word afterwards.
#[derive(Debug, Default)]
struct Seen {
    unseen_values: u64,
    /// Tokens of documents, each counted once in a document. New words turn up in every text: that is no news unless
    /// nothing else is there, which makes a row without evidence.
    unseen_tokens: u64,
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
            unseen_tokens: self.unseen_tokens + other.unseen_tokens,
            without_evidence: self.without_evidence + other.without_evidence,
            impossible: self.impossible + other.impossible,
        }
    }

    fn warn(&self) {
        if self.unseen_values > 0 {
            warn(&format!("{} never met in training", plural(self.unseen_values, "value")));
        }
        if self.unseen_tokens > 0 {
            note(&format!("{} never met in training", plural(self.unseen_tokens, "token")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_written_as_rust_writes_them() {
        let mut bits = 1_u64;
        let random = (0..100_000).map(|i| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let share = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            if i % 2 == 0 { share } else { (-700.0 * share).exp() }
        });
        let chosen =
            [0.0, 1.0, 0.5, 1e-4, 1e-5, 1e-6, 5e-7, 1.5e-9, 1e-100, 5e-324, 1.0 - f64::EPSILON / 2.0];
        for p in chosen.into_iter().chain(random) {
            let mut line = Vec::new();
            push_probability(p, &mut line);
            assert_eq!(String::from_utf8_lossy(&line), p.to_string());
        }
    }
}

//! `priory predict`: read, score, report.

use std::io::{self, Write};
use std::path::Path;
use std::slice;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Result, bail};
use priory::decide::Decider;
use priory::posterior::rows_to_score;
use priory::{Intervals, Outcome, Settings};
use priory_input::store::NewFile;
use priory_input::{
    PredictedColumns, PredictedLines, Predictions, Purpose, ReadOptions, Reader, Syntax, Table,
};

use crate::args::{PredictArgs, PredictionFormat};
use crate::data;
use crate::model_file::{self, Scorer};
use crate::output::{note, plural, quoted, warn};
use crate::overwrite::refuse_input_as_output;
use crate::tables::Tables;
use crate::understand::named_columns;

/// A pipe that gives nothing for so long is slow: somebody may wait for the answer to what has come.
const PATIENCE: Duration = Duration::from_millis(20);

pub(crate) fn run(args: &PredictArgs, threads: usize) -> Result<()> {
    if let Some(output) = &args.output {
        let read = args.data.iter().chain(&args.document).map(Path::new).chain([&*args.model]);
        let others = args.settings.files().chain(args.decision.files());
        refuse_input_as_output(output, read.chain(others))?;
    }
    let format = args.format.unwrap_or_else(|| PredictionFormat::of(args.output.as_deref()));
    let change = |settings: &mut Settings| {
        args.decision.apply(&mut settings.decision)?;
        args.settings.apply_all_but_estimate(settings)
    };
    if args.stream && args.settings.estimates_prior() {
        bail!("--prior estimate reads all rows before it answers the first: leave out --stream");
    }
    if args.stream && format == PredictionFormat::Parquet {
        bail!("Parquet is written in groups of many rows: leave out --stream, or write csv or jsonl");
    }
    let patience = if args.stream { Duration::ZERO } else { PATIENCE };
    let (table, prior) = match (&args.data, args.settings.estimates_prior()) {
        (Some(data), false) => {
            let options = ReadOptions { patience: Some(patience), ..args.input.options() };
            (Table::open(data, &options)?, None)
        }
        (None, false) => (Table::of_documents(&args.document, None, &args.input.options())?, None),
        (None, true) => {
            bail!("--prior estimate reads a table twice: leave it out, or put the documents into a folder")
        }
        (Some(data), true) => {
            // The rows are read twice.
            let tables = Tables::new(slice::from_ref(data), args.input.options())?;
            let learnt = model_file::read_under(&args.model, change)?;
            let prior = data::estimate_prior(&tables, &learnt, threads)?;
            (tables.open(0).expect("there is a table")?, Some(prior))
        }
    };
    let change = |settings: &mut Settings| {
        change(settings)?;
        settings.prior = prior.clone().unwrap_or_else(|| settings.prior.clone());
        Ok(())
    };
    let Some(level) = args.interval else {
        let model = Scorer::open(&args.model, table.is_short(), change)?;
        return predict(args, format, table, &model, None, threads);
    };
    let learnt = model_file::read_under(&args.model, change)?;
    model_file::warn_of_judgement(&learnt, &args.model);
    learnt.intervals(|intervals| {
        let model = Scorer::Model(Box::new(intervals.model().clone()));
        predict(args, format, table, &model, Some((intervals, level)), threads)
    })?
}

fn predict(
    args: &PredictArgs,
    format: PredictionFormat,
    mut table: Table,
    model: &Scorer,
    intervals: Option<(&Intervals<'_>, f64)>,
    threads: usize,
) -> Result<()> {
    let (classes, decider) = (model.classes(), model.decider()?);
    let kept = match args.keep.is_empty() && table.has_paths() {
        // Of predictions for files one wants to know which file each is for.
        true => vec!["path".to_owned()],
        false => named_columns(&args.keep, table.header()),
    };
    table.keep(&kept)?;
    table.limit_rows(rows_to_score(classes.len()));
    let columns = columns(args, &kept, &classes, decider.answers(), format)?;
    let mut reader = table.reader(model.schema(), Purpose::Scoring)?;
    reader.read_into(model.batch());
    let task = Task { model, decider, intervals, reader: &reader, columns: &columns, threads };
    let seen = match (format, &args.output) {
        (PredictionFormat::Csv, output) => task.write_text(Syntax::Csv, output.as_deref())?,
        (PredictionFormat::Jsonl, output) => task.write_text(Syntax::Json, output.as_deref())?,
        (PredictionFormat::Parquet, Some(output)) => task.write_parquet(output)?,
        (PredictionFormat::Parquet, None) => {
            bail!("predictions in Parquet go to a file: name it with -o predicted.parquet");
        }
    };
    seen.warn();
    Ok(())
}

/// What the columns of the output are.
fn columns<'a>(
    args: &PredictArgs,
    kept: &'a [String],
    classes: &'a [String],
    answers: Vec<String>,
    format: PredictionFormat,
) -> Result<PredictedColumns<'a>> {
    let intervals = args.interval.is_some();
    let probabilities = args.probabilities || intervals;
    let log_evidence = args.log_evidence;
    let columns = PredictedColumns { kept, classes, answers, probabilities, intervals, log_evidence };
    let taken = match format {
        PredictionFormat::Jsonl => {
            let count = if intervals { 4 } else { 1 + usize::from(args.probabilities) };
            let names = [PredictedColumns::PREDICTION, "posterior", "low", "high"].into_iter().take(count);
            names.chain(log_evidence.then_some(PredictedColumns::LOG_EVIDENCE)).map(String::from).collect()
        }
        PredictionFormat::Csv | PredictionFormat::Parquet => columns.names().split_off(kept.len()),
    };
    if let Some(name) = kept.iter().find(|name| taken.contains(name)) {
        bail!(
            "`{name}` cannot be kept: the output has a column of that name already; rename it in {}, or do without --keep {}",
            args.data.as_deref().unwrap_or("the model"),
            quoted(name)
        );
    }
    Ok(columns)
}

/// What is to be predicted.
struct Task<'a, 'i> {
    model: &'a Scorer,
    decider: Decider,
    /// What says how far probabilities could be off, and the probability of the intervals, if they are wanted.
    intervals: Option<(&'a Intervals<'i>, f64)>,
    reader: &'a Reader,
    columns: &'a PredictedColumns<'a>,
    threads: usize,
}

impl Task<'_, '_> {
    /// Writes the predictions as text, to standard output unless a file is named.
    fn write_text(&self, syntax: Syntax, output: Option<&Path>) -> Result<Seen> {
        let lines = PredictedLines::new(self.columns, syntax);
        let Some(path) = output else {
            return self.write_lines(&lines, &mut io::stdout(), "standard output");
        };
        let mut out = NewFile::create(path)?;
        let seen = self.write_lines(&lines, &mut out, &path.to_string_lossy())?;
        out.finish()?;
        Ok(seen)
    }

    fn write_lines(
        &self,
        lines: &PredictedLines<'_>,
        out: &mut (impl Write + Send),
        name: &str,
    ) -> Result<Seen> {
        let written = |result: io::Result<()>| {
            result.map_err(|cause| priory_input::Error::File { name: name.into(), action: "written", cause })
        };
        written(out.write_all(lines.header().as_bytes()))?;
        let encode = |predictions: &Predictions<'_>, text: &mut Vec<u8>| {
            text.clear();
            lines.write(predictions, text);
        };
        let seen = self.predict(encode, |text| written(out.write_all(text)))?;
        written(out.flush())?;
        Ok(seen)
    }

    #[cfg(feature = "arrow")]
    fn write_parquet(&self, path: &Path) -> Result<Seen> {
        use priory_input::{PredictedRows, PredictionColumns, PredictionFile};

        let PredictedColumns { kept, classes, answers, .. } = self.columns;
        let columns = PredictionColumns::new(&self.columns.names(), kept.len(), classes.len(), answers);
        let mut file = PredictionFile::create(path, &columns)?;
        let encode = |predictions: &Predictions<'_>, rows: &mut Option<PredictedRows>| {
            *rows = Some(columns.encode(predictions));
        };
        let seen = self.predict(encode, |rows| rows.iter().try_for_each(|rows| file.write(rows)))?;
        file.finish()?;
        Ok(seen)
    }

    #[cfg(not(feature = "arrow"))]
    fn write_parquet(&self, path: &Path) -> Result<Seen> {
        bail!(priory_input::Error::NotBuiltIn { name: path.display().to_string(), format: "Parquet" })
    }

    /// Scores the table on several threads: `encode` turns predictions into a piece of output on any of them, and
    /// `write` gets the pieces in the order of the rows.
    fn predict<P: Default + Send>(
        &self,
        encode: impl Fn(&Predictions<'_>, &mut P) + Sync,
        write: impl FnMut(&mut P) -> priory_input::Result<()> + Send,
    ) -> Result<Seen> {
        let write = Mutex::new(write);
        let start = <(Seen, P)>::default;
        let states = data::fold(self.reader, self.threads, start, |(seen, piece), batch, turn| {
            let (scores, log_evidence) = self.model.score(batch, self.columns.log_evidence)?;
            seen.unseen_values += scores.unseen();
            seen.unseen_tokens += scores.unseen_tokens();
            (0..batch.rows).for_each(|row| seen.observe(scores.outcome(row)));
            let interval = self.intervals.map(|(intervals, level)| intervals.of(batch, &scores, level));
            let interval = interval.transpose()?;
            let predictions = Predictions {
                kept: turn.kept(),
                scores: &scores,
                answers: &self.decider.decide(&scores),
                interval: interval.as_ref(),
                log_evidence: log_evidence.as_deref(),
            };
            encode(&predictions, piece);
            turn.take(|| (write.lock().expect("writing does not panic"))(piece))
        })?;
        Ok(states.into_iter().fold(Seen::default(), |all, (seen, _)| all.merged(&seen)))
    }
}

impl PredictionFormat {
    /// What the name of the output asks for.
    fn of(output: Option<&Path>) -> Self {
        let extension = output.and_then(Path::extension).unwrap_or_default();
        let is = |name: &str| extension.eq_ignore_ascii_case(name);
        if is("jsonl") || is("ndjson") {
            PredictionFormat::Jsonl
        } else if is("parquet") {
            PredictionFormat::Parquet
        } else {
            PredictionFormat::Csv
        }
    }
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

//! `priory predict`: read, score, report.

mod text;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Result, bail};
use priory::posterior::rows_to_score;
use priory::{Interval, Intervals, Outcome, Scores, Settings};
use priory_input::store::NewFile;
use priory_input::{KeptColumn, Purpose, Reader, Table};

use crate::args::{PredictArgs, PredictionFormat};
use crate::data;
use crate::model_file::{self, Scorer};
use crate::output::{note, plural, warn};
use crate::overwrite::refuse_input_as_output;
use text::{Lines, Syntax};

pub(crate) fn run(args: &PredictArgs, threads: usize) -> Result<()> {
    if let Some(output) = &args.output {
        let read = [&args.model, Path::new(&args.data)];
        refuse_input_as_output(output, read.into_iter().chain(args.settings.files()))?;
    }
    let format = args.format.unwrap_or_else(|| PredictionFormat::of(args.output.as_deref()));
    let table = args.input.open(&args.data)?;
    let change = |settings: &mut Settings| args.settings.apply(settings);
    let Some(level) = args.interval else {
        let model = Scorer::open(&args.model, table.is_short(), change)?;
        return predict(args, format, table, &model, None, threads);
    };
    let learnt = model_file::read_under(&args.model, change)?;
    model_file::warn_of_stale_judgement(&learnt, &args.model);
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
    let classes = model.classes();
    let kept = kept_columns(&args.keep, table.header());
    table.keep(&kept)?;
    table.limit_rows(rows_to_score(classes.len()));
    let columns = Columns::new(args, &kept, &classes, format)?;
    let mut reader = table.reader(model.schema(), Purpose::Scoring)?;
    reader.read_into(model.batch());
    let task = Task { model, intervals, reader: &reader, columns: &columns, threads };
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

/// The columns that were named, one or several at a time.
fn kept_columns(named: &[String], header: &[String]) -> Vec<String> {
    let columns = named.iter().flat_map(|names| match header.contains(names) {
        true => vec![names.clone()],
        false => names.split(',').map(String::from).collect(),
    });
    columns.collect()
}

/// What the columns of the output are: those that are kept, the prediction, the probabilities.
struct Columns<'a> {
    kept: &'a [String],
    classes: &'a [String],
    probabilities: bool,
    intervals: bool,
}

impl<'a> Columns<'a> {
    fn new(
        args: &PredictArgs,
        kept: &'a [String],
        classes: &'a [String],
        format: PredictionFormat,
    ) -> Result<Self> {
        let intervals = args.interval.is_some();
        let columns = Columns { kept, classes, probabilities: args.probabilities || intervals, intervals };
        let taken = match format {
            PredictionFormat::Jsonl => {
                let count = if intervals { 4 } else { 1 + usize::from(args.probabilities) };
                [PREDICTION, "posterior", "low", "high"][..count].iter().map(|&name| name.into()).collect()
            }
            PredictionFormat::Csv | PredictionFormat::Parquet => columns.names().split_off(kept.len()),
        };
        if let Some(name) = kept.iter().find(|name| taken.contains(name)) {
            bail!(
                "`{name}` cannot be kept: the output has a column of that name already; rename it in {}, or do without --keep {name}",
                args.data
            );
        }
        Ok(columns)
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.kept.to_vec();
        names.push(PREDICTION.into());
        for class in self.classes.iter().filter(|_| self.probabilities) {
            names.push(format!("P({class})"));
            names.extend(
                ["low", "high"].iter().filter(|_| self.intervals).map(|end| format!("{end}({class})")),
            );
        }
        names
    }
}

const PREDICTION: &str = "prediction";

/// What is to be predicted.
struct Task<'a, 'i> {
    model: &'a Scorer,
    /// What says how far probabilities could be off, and the probability of the intervals, if they are wanted.
    intervals: Option<(&'a Intervals<'i>, f64)>,
    reader: &'a Reader,
    columns: &'a Columns<'a>,
    threads: usize,
}

impl Task<'_, '_> {
    /// Writes the predictions as text, to standard output unless a file is named.
    fn write_text(&self, syntax: Syntax, output: Option<&Path>) -> Result<Seen> {
        let lines = Lines::new(self.columns, syntax);
        let Some(path) = output else {
            return self.write_lines(&lines, &mut io::stdout(), "standard output");
        };
        let mut out = NewFile::create(path)?;
        let seen = self.write_lines(&lines, &mut out, &path.to_string_lossy())?;
        out.finish()?;
        Ok(seen)
    }

    fn write_lines(&self, lines: &Lines<'_>, out: &mut (impl Write + Send), name: &str) -> Result<Seen> {
        let written = |result: io::Result<()>| {
            result.map_err(|cause| priory_input::Error::File { name: name.into(), action: "written", cause })
        };
        written(out.write_all(lines.header().as_bytes()))?;
        let encode =
            |kept: &[KeptColumn], scores: &Scores, interval: Option<&Interval>, text: &mut Vec<u8>| {
                text.clear();
                lines.write(kept, scores, interval, text);
            };
        let seen = self.predict(encode, |text| written(out.write_all(text)))?;
        written(out.flush())?;
        Ok(seen)
    }

    #[cfg(feature = "arrow")]
    fn write_parquet(&self, path: &Path) -> Result<Seen> {
        use priory_input::{PredictedRows, PredictionColumns, PredictionFile};

        let Columns { kept, classes, .. } = self.columns;
        let columns = PredictionColumns::new(&self.columns.names(), kept.len(), classes);
        let mut file = PredictionFile::create(path, &columns)?;
        let encode = |kept: &[KeptColumn],
                      scores: &Scores,
                      interval: Option<&Interval>,
                      rows: &mut Option<PredictedRows>| {
            *rows = Some(columns.encode(kept, scores, interval));
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
        encode: impl Fn(&[KeptColumn], &Scores, Option<&Interval>, &mut P) + Sync,
        write: impl FnMut(&mut P) -> priory_input::Result<()> + Send,
    ) -> Result<Seen> {
        let write = Mutex::new(write);
        let start = <(Seen, P)>::default;
        let states = data::fold(self.reader, self.threads, start, |(seen, piece), batch, turn| {
            let scores = self.model.score(batch)?;
            seen.unseen_values += scores.unseen();
            seen.unseen_tokens += scores.unseen_tokens();
            (0..batch.rows).for_each(|row| seen.observe(scores.outcome(row)));
            let interval = self.intervals.map(|(intervals, level)| intervals.of(batch, &scores, level));
            encode(turn.kept(), &scores, interval.transpose()?.as_ref(), piece);
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

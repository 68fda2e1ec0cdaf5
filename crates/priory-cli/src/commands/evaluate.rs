//! `priory evaluate`: how well such a model predicts what it has not seen.
//!
//! The tables are read twice: once to count every row in its part, once to score each row with the model that
//! follows from the other parts.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use priory::{
    Batch, Evaluation, EvaluationReport, FoldStatistics, Folds, Holdout, Schema, Settings, Statistics,
    majority_class,
};
use priory_input::{Purpose, ReadOptions, Table, Turn};
use serde_json::Value;

use crate::args::{EvaluateArgs, Format};
use crate::data;
use crate::glob;
use crate::output::{Grid, bold, count, plural, report_out, warn};
use crate::understand::{Understood, describe_columns};

const DEFAULT_FOLDS: u32 = 10;

pub(crate) fn run(args: &EvaluateArgs, threads: usize) -> Result<()> {
    let tables = Tables::new(&glob::expand(&args.data)?, args.table.input.options(), threads)?;
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    let mut understood = Understood::new(
        &mut tables.sources[0].open(&tables.options)?,
        &mut tables.open().skip(1),
        &args.table,
    )?;
    understood.apply(&mut settings);
    understood.explain_left_out();
    let schema = &understood.schema;
    let split = Split::new(args);
    let evaluation = split.evaluate(&tables, schema, &settings, args.seed)?;
    let report = evaluation.report();
    if report.rows == 0 {
        bail!(priory::Error::Empty);
    }

    let mut out = report_out(args.format);
    match args.format {
        Format::Json => {
            let mut json = report.to_json();
            json["folds"] = if let Split::Folds(k) = split { k.into() } else { Value::Null };
            writeln!(out, "{json:#}")?;
        }
        Format::Text => write_report(&mut out, &report, &split, schema)?,
    }
    out.flush()?;
    if report.skipped > 0 {
        warn(&format!("{} skipped: `{}` is missing", plural(report.skipped, "row"), schema.target));
    }
    Ok(())
}

/// The tables to evaluate on, which are read more than once.
struct Tables {
    sources: Vec<TableSource>,
    options: ReadOptions,
    threads: usize,
}

enum TableSource {
    File(String),
    /// Standard input and pipes can be read only once, so they are kept in a temporary file.
    Kept {
        name: String,
        file: tempfile::NamedTempFile,
    },
}

impl Tables {
    fn new(paths: &[String], options: ReadOptions, threads: usize) -> Result<Self> {
        let sources = paths.iter().map(|path| TableSource::new(path)).collect::<Result<_>>()?;
        Ok(Tables { sources, options, threads })
    }

    fn open(&self) -> impl Iterator<Item = Result<Table>> {
        self.sources.iter().map(|source| source.open(&self.options))
    }

    /// Takes every batch of every table through `step` on several threads; returns their states.
    fn fold<S: Send>(
        &self,
        schema: &Schema,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let mut states = Vec::new();
        for table in self.open() {
            let reader = table?.reader(schema, Purpose::Learning)?;
            states.extend(data::fold(&reader, self.threads, &start, &step)?);
        }
        Ok(states)
    }

    fn learn(&self, schema: &Schema) -> Result<Statistics> {
        let mut all = Statistics::empty(schema);
        for table in self.open() {
            all.merge(&data::learn(table?, schema, self.threads)?.0)?;
        }
        Ok(all)
    }
}

impl TableSource {
    fn new(path: &str) -> Result<Self> {
        if path == "-" {
            return TableSource::keep("standard input", &mut std::io::stdin());
        }
        match File::open(path) {
            Ok(mut file) if file.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir()) => {
                TableSource::keep(path, &mut file)
            }
            // What cannot be opened is reported where every table is opened.
            _ => Ok(TableSource::File(path.to_owned())),
        }
    }

    fn keep(name: &str, from: &mut impl Read) -> Result<Self> {
        let mut file = tempfile::NamedTempFile::new().context("a temporary file cannot be made")?;
        std::io::copy(from, &mut file)
            .with_context(|| format!("{name}: cannot be kept in a temporary file"))?;
        Ok(TableSource::Kept { name: name.to_owned(), file })
    }

    fn open(&self, options: &ReadOptions) -> Result<Table> {
        match self {
            TableSource::File(path) => Ok(Table::open(path, options)?),
            TableSource::Kept { name, file } => {
                let file = file.reopen().with_context(|| format!("{name}: cannot be read again"))?;
                Ok(Table::from_reader(name, file, options)?)
            }
        }
    }
}

/// What is tested on what.
enum Split<'a> {
    Folds(u32),
    Holdout(f64),
    LeaveOneOut,
    Test(&'a str),
}

impl<'a> Split<'a> {
    fn new(args: &'a EvaluateArgs) -> Self {
        let split = &args.split;
        match (split.holdout, &split.test) {
            (Some(share), _) => Split::Holdout(share),
            (_, Some(path)) => Split::Test(path),
            _ if split.leave_one_out => Split::LeaveOneOut,
            _ => Split::Folds(split.folds.unwrap_or(DEFAULT_FOLDS)),
        }
    }

    fn describe(&self) -> String {
        match self {
            Split::Folds(k) => format!("{k} folds"),
            Split::Holdout(share) => format!("{:.0} % held out", share * 100.0),
            Split::LeaveOneOut => "leave-one-out".into(),
            Split::Test(path) => format!("tested on {path}"),
        }
    }

    fn evaluate(
        &self,
        tables: &Tables,
        schema: &Schema,
        settings: &Settings,
        seed: u64,
    ) -> Result<Evaluation> {
        let evaluations = match self {
            Split::Folds(k) => {
                let k = *k as usize;
                let folds = InOrder::new(Folds::new(k, seed)?);
                let empty = || FoldStatistics::empty(schema, k);
                let parts = tables.fold(schema, empty, |part, batch, turn| {
                    let assigned = folds.take(turn, |folds| folds.assign(batch))?;
                    Ok(part.observe(batch, &assigned)?)
                })?;
                let mut statistics = empty();
                parts.iter().try_for_each(|part| statistics.merge(part))?;
                let models = statistics.models(settings)?;
                let folds = InOrder::new(Folds::new(k, seed)?);
                tables.fold(schema, Evaluation::new, |evaluation, batch, turn| {
                    let assigned = folds.take(turn, |folds| folds.assign(batch))?;
                    Ok(models.evaluate(batch, &assigned, evaluation)?)
                })?
            }
            Split::Holdout(share) => {
                let holdout = InOrder::new(Holdout::new(*share, seed)?);
                let parts = tables.fold(
                    schema,
                    || Statistics::empty(schema),
                    |part, batch, turn| {
                        let assigned = holdout.take(turn, |holdout| holdout.assign(batch))?;
                        Ok(part.observe_rows(batch, rows_where(&assigned, false).into_iter())?)
                    },
                )?;
                let mut statistics = Statistics::empty(schema);
                parts.iter().try_for_each(|part| statistics.merge(part))?;
                let test = Test::new(&statistics, settings)?;
                let holdout = InOrder::new(Holdout::new(*share, seed)?);
                tables.fold(schema, Evaluation::new, |evaluation, batch, turn| {
                    let assigned = holdout.take(turn, |holdout| holdout.assign(batch))?;
                    evaluation.skip(batch.classes.missing() as u64);
                    Ok(test.observe(evaluation, &batch.select(&rows_where(&assigned, true)))?)
                })?
            }
            Split::LeaveOneOut => {
                let statistics = tables.learn(schema)?;
                tables.fold(schema, Evaluation::new, |evaluation, batch, _| {
                    Ok(evaluation.observe_leave_one_out(&statistics, settings, batch)?)
                })?
            }
            Split::Test(path) => {
                let test = Test::new(&tables.learn(schema)?, settings)?;
                let tests = Tables::new(&[(*path).to_owned()], tables.options, tables.threads)?;
                tests.fold(schema, Evaluation::new, |evaluation, batch, _| {
                    Ok(test.observe(evaluation, batch)?)
                })?
            }
        };
        let mut all = Evaluation::new();
        evaluations.iter().for_each(|evaluation| all.merge(evaluation));
        Ok(all)
    }
}

/// Something that must see the rows in their order, whatever thread reads them.
struct InOrder<T>(Mutex<T>);

impl<T> InOrder<T> {
    fn new(thing: T) -> Self {
        InOrder(Mutex::new(thing))
    }

    fn take<R>(&self, turn: &Turn<'_>, work: impl FnOnce(&mut T) -> R) -> priory_input::Result<R> {
        turn.take(|| Ok(work(&mut self.0.lock().expect("only whoever has its turn holds the lock"))))
    }
}

/// One model to test, and the class that would be answered without it.
struct Test {
    model: priory::Model,
    baseline: String,
}

impl Test {
    fn new(statistics: &Statistics, settings: &Settings) -> Result<Self> {
        let baseline = majority_class(statistics).unwrap_or_default().to_owned();
        Ok(Test { model: statistics.estimate(settings)?, baseline })
    }

    fn observe(&self, evaluation: &mut Evaluation, batch: &Batch) -> priory::Result<()> {
        evaluation.observe(self.model.classes(), batch, &self.model.score(batch)?, &self.baseline)
    }
}

fn rows_where(assigned: &[Option<bool>], wanted: bool) -> Vec<usize> {
    (0..assigned.len()).filter(|&row| assigned[row] == Some(wanted)).collect()
}

fn write_report(
    out: &mut impl Write,
    report: &EvaluationReport,
    split: &Split<'_>,
    schema: &Schema,
) -> Result<()> {
    let features = describe_columns(schema);
    let classes = plural(report.classes.len() as u64, "class");
    writeln!(out, "{}, {features}, {classes}; {}\n", plural(report.rows, "row"), split.describe())?;

    let digits = |x: f64| format!("{x:.4}");
    let auc = |auc: Option<f64>| auc.map_or("undefined".into(), digits);
    writeln!(
        out,
        "  accuracy {}; the majority class alone {}",
        bold(&digits(report.accuracy)),
        digits(report.baseline_accuracy)
    )?;
    writeln!(
        out,
        "  log-loss {}, Brier score {}, calibration error {}",
        log_loss(report),
        digits(report.brier),
        digits(report.ece)
    )?;
    writeln!(out, "  ROC AUC {}, macro F1 {}\n", auc(report.roc_auc), digits(report.macro_f1))?;

    let with_confusion = !report.confusion.is_empty() && report.classes.len() <= MOST_SHOWN;
    let predicted = |cells: Vec<String>| if with_confusion { cells } else { Vec::new() };
    let mut grid = Grid::new();
    let headings = ["class", "rows", "precision", "recall", "F1", "AUC"].map(String::from);
    grid.row(
        headings
            .into_iter()
            .chain(predicted(report.classes.iter().map(|name| format!("as {name}")).collect())),
    );
    for (i, class) in report.per_class.iter().enumerate() {
        let cells = [
            class.name.clone(),
            count(class.support),
            digits(class.precision),
            digits(class.recall),
            digits(class.f1),
            class.auc.map_or("-".into(), digits),
        ];
        let confusion =
            report.confusion.get(i).map(|weights| weights.iter().map(|&weight| count(weight)).collect());
        grid.row(cells.into_iter().chain(predicted(confusion.unwrap_or_default())));
    }
    write!(out, "{}", grid.render())?;
    Ok(())
}

/// A confusion matrix wider than this fits no terminal; JSON has it.
const MOST_SHOWN: usize = 12;

fn log_loss(report: &EvaluationReport) -> String {
    if report.log_loss.is_finite() {
        return format!("{:.4}", report.log_loss);
    }
    format!("infinite: {} had probability 0", plural(report.zero_probability_rows, "true class"))
}

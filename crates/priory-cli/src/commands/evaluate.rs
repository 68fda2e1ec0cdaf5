//! `priory evaluate`: how well such a model predicts what it has not seen.
//!
//! The tables are read twice: once to count every row in its part, once to score each row with the model that
//! follows from the other parts.

use std::fs::File;
use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use priory::{
    Batch, Evaluation, EvaluationReport, FoldStatistics, Folds, Holdout, Schema, Settings, Statistics,
    majority_class,
};
use priory_input::{Purpose, ReadOptions, Table};
use serde_json::Value;

use crate::args::{EvaluateArgs, Format};
use crate::data;
use crate::output::{Grid, bold, count, plural, report_out, warn};

const DEFAULT_FOLDS: u32 = 10;

pub(crate) fn run(args: &EvaluateArgs) -> Result<()> {
    let tables = Tables::new(&args.data)?;
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    let schema = data::schema(&tables.0[0].open()?, &args.table, &mut settings)?;
    let split = Split::new(args);
    let evaluation = split.evaluate(&tables, &schema, &settings, args.seed)?;
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
        Format::Text => write_report(&mut out, &report, &split, &schema)?,
    }
    out.flush()?;
    if report.skipped > 0 {
        warn(&format!("{} skipped: `{}` is missing", plural(report.skipped, "row"), schema.target));
    }
    Ok(())
}

/// The tables to evaluate on, which are read more than once.
struct Tables(Vec<TableSource>);

enum TableSource {
    File(String),
    /// Standard input and pipes can be read only once, so they are kept in a temporary file.
    Kept {
        name: String,
        file: tempfile::NamedTempFile,
    },
}

impl Tables {
    fn new(paths: &[String]) -> Result<Self> {
        Ok(Tables(paths.iter().map(|path| TableSource::new(path)).collect::<Result<_>>()?))
    }

    fn for_each_batch(&self, schema: &Schema, mut each: impl FnMut(&Batch) -> Result<()>) -> Result<()> {
        self.0
            .iter()
            .try_for_each(|source| data::for_each_batch(source.open()?, schema, Purpose::Learning, &mut each))
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

    fn open(&self) -> Result<Table> {
        match self {
            TableSource::File(path) => data::open(path),
            TableSource::Kept { name, file } => {
                let file = file.reopen().with_context(|| format!("{name}: cannot be read again"))?;
                Ok(Table::from_reader(name, file, &ReadOptions::default())?)
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
        let mut evaluation = Evaluation::new();
        match self {
            Split::Folds(k) => {
                let k = *k as usize;
                let mut statistics = FoldStatistics::empty(schema, k);
                let mut folds = Folds::new(k, seed)?;
                tables
                    .for_each_batch(schema, |batch| Ok(statistics.observe(batch, &folds.assign(batch))?))?;
                let models = statistics.models(settings)?;
                let mut folds = Folds::new(k, seed)?;
                tables.for_each_batch(schema, |batch| {
                    Ok(models.evaluate(batch, &folds.assign(batch), &mut evaluation)?)
                })?;
            }
            Split::Holdout(share) => {
                let mut statistics = Statistics::empty(schema);
                let mut holdout = Holdout::new(*share, seed)?;
                tables.for_each_batch(schema, |batch| {
                    let training = rows_where(&holdout.assign(batch), false);
                    Ok(statistics.observe_rows(batch, training.into_iter())?)
                })?;
                let mut holdout = Holdout::new(*share, seed)?;
                let test = Test::new(&statistics, settings)?;
                tables.for_each_batch(schema, |batch| {
                    let held_out = rows_where(&holdout.assign(batch), true);
                    evaluation.skip(batch.classes.missing() as u64);
                    test.observe(&mut evaluation, &batch.select(&held_out))
                })?;
            }
            Split::LeaveOneOut => {
                let mut statistics = Statistics::empty(schema);
                tables.for_each_batch(schema, |batch| Ok(statistics.observe(batch)?))?;
                tables.for_each_batch(schema, |batch| {
                    Ok(evaluation.observe_leave_one_out(&statistics, settings, batch)?)
                })?;
            }
            Split::Test(path) => {
                let mut statistics = Statistics::empty(schema);
                tables.for_each_batch(schema, |batch| Ok(statistics.observe(batch)?))?;
                let test = Test::new(&statistics, settings)?;
                data::for_each_batch(data::open(path)?, schema, Purpose::Learning, |batch| {
                    test.observe(&mut evaluation, batch)
                })?;
            }
        }
        Ok(evaluation)
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

    fn observe(&self, evaluation: &mut Evaluation, batch: &Batch) -> Result<()> {
        Ok(evaluation.observe(self.model.classes(), batch, &self.model.score(batch)?, &self.baseline)?)
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
    let features = plural(schema.columns.len() as u64, "feature");
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

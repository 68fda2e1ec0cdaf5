//! `priory evaluate`: how well such a model predicts what it has not seen.
//!
//! Every row is looked at twice: once to be counted in its part, once to be scored with the model that follows from the
//! other parts.

use std::io::Write;
use std::iter::StepBy;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::{iter, mem, panic, thread};

use anyhow::{Result, bail};
use priory::{
    Batch, Evaluation, EvaluationReport, FoldModel, FoldModels, FoldPart, FoldParts, FoldStatistics, Folds,
    Holdout, Schema, Settings, Statistics, majority_class,
};
use priory_input::Turn;
use serde_json::Value;

use crate::args::{EvaluateArgs, Format};
use crate::glob;
use crate::output::{Grid, bold, count, plural, report_out, warn};
use crate::tables::{Kept, Tables, merged};
use crate::understand::{Understood, describe_columns};

const DEFAULT_FOLDS: u32 = 10;

pub(crate) fn run(args: &EvaluateArgs, threads: usize) -> Result<()> {
    let tables = Tables::new(&glob::expand(&args.data)?, args.table.input.options(), threads)?;
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    let mut understood = Understood::new(&mut tables.open_first()?, &mut tables.open().skip(1), &args.table)?;
    understood.apply(&mut settings)?;
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
        match self {
            Split::Folds(k) => evaluate_folds(tables, schema, settings, *k as usize, seed),
            Split::Holdout(share) => {
                let holdout = InOrder::new(Holdout::new(*share, seed)?);
                let empty = || Statistics::empty(schema);
                let (parts, kept) = tables.fold_and_keep(schema, empty, |part, batch, turn| {
                    let is_test = holdout.take(turn, |holdout| holdout.assign(batch))?;
                    let learnt = (0..batch.rows).filter(|&row| is_test[row] == Some(false));
                    part.observe_rows(batch, learnt)?;
                    part.check_size()?;
                    Ok(test_rows(batch, &is_test)?)
                })?;
                let mut statistics = empty();
                parts.iter().try_for_each(|part| statistics.merge(part))?;
                statistics.check_size()?;
                let test = Test::new(&statistics, settings)?;
                let holdout = InOrder::new(Holdout::new(*share, seed)?);
                let look = |batch: &Batch, turn: &Turn<'_>| {
                    let is_test = holdout.take(turn, |holdout| holdout.assign(batch))?;
                    Ok(test_rows(batch, &is_test)?)
                };
                tables.evaluate(&kept, schema, look, |evaluation, tests| {
                    evaluation.skip(tests.skipped());
                    tests.parts().iter().try_for_each(|part| test.observe_part(evaluation, part))
                })
            }
            Split::LeaveOneOut => {
                let empty = || Statistics::empty(schema);
                let (parts, kept) = tables.fold_and_keep(schema, empty, |part, batch, _| {
                    part.observe(batch)?;
                    part.check_size()?;
                    Evaluation::check(batch)?;
                    Ok(batch.clone())
                })?;
                let mut statistics = empty();
                parts.iter().try_for_each(|part| statistics.merge(part))?;
                statistics.check_size()?;
                let look = |batch: &Batch, _: &Turn<'_>| Ok(batch.clone());
                statistics.leave_one_out(settings, |left_out| {
                    tables.evaluate(&kept, schema, look, |evaluation, batch| {
                        evaluation.observe_leave_one_out(left_out, batch)
                    })
                })?
            }
            Split::Test(path) => {
                let test = Test::new(&tables.learn(schema)?, settings)?;
                let tests = Tables::new(&[(*path).to_owned()], tables.options, tables.threads)?;
                let evaluations = tests.fold(schema, Evaluation::new, |evaluation, batch, _| {
                    Ok(test.observe(evaluation, batch)?)
                })?;
                Ok(merged(evaluations))
            }
        }
    }
}

/// Each fold is tested with a model of the others.
fn evaluate_folds(
    tables: &Tables,
    schema: &Schema,
    settings: &Settings,
    k: usize,
    seed: u64,
) -> Result<Evaluation> {
    let (statistics, kept) = count_folds(tables, schema, k, seed)?;
    let mut total = statistics.total()?;
    let mut evaluation = Evaluation::new();
    for group in statistics.groups(&total) {
        let models = fold_models(&statistics, &mut total, group.clone(), settings, tables.threads)?;
        let folds = InOrder::new(Folds::new(k, seed)?);
        let look = |batch: &Batch, turn: &Turn<'_>| {
            let mut assigned = folds.take(turn, |folds| folds.assign(batch))?;
            // Rows of other folds need not be taken out of the batch.
            assigned.iter_mut().for_each(|fold| *fold = fold.filter(|fold| group.contains(fold)));
            Ok(FoldParts::new(batch, &assigned)?)
        };
        let some =
            tables.evaluate(&kept, schema, look, |evaluation, parts| models.evaluate(parts, evaluation))?;
        evaluation.merge(&some);
    }
    Ok(evaluation)
}

/// Counts the rows of each fold, and keeps them if they are few.
fn count_folds(
    tables: &Tables,
    schema: &Schema,
    k: usize,
    seed: u64,
) -> Result<(FoldStatistics, Kept<FoldParts>)> {
    let folds = InOrder::new(Folds::new(k, seed)?);
    let empty = || FoldStatistics::empty(schema, k);
    let all = Mutex::new(empty());
    let gather = |part: FoldStatistics| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(part)?;
        all.check_size()
    };
    let (parts, kept) = tables.fold_and_keep(schema, empty, |part, batch, turn| {
        let assigned = folds.take(turn, |folds| folds.assign(batch))?;
        let rows = part.observe(batch, &assigned)?;
        part.check_size()?;
        if part.is_large() {
            gather(mem::replace(part, empty()))?;
        }
        Ok(rows)
    })?;
    parts.into_iter().try_for_each(gather)?;
    Ok((all.into_inner().unwrap_or_else(PoisonError::into_inner), kept))
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
    schema: Schema,
    model: priory::Model,
    baseline: String,
}

impl Test {
    fn new(statistics: &Statistics, settings: &Settings) -> Result<Self> {
        let baseline = majority_class(statistics).unwrap_or_default().to_owned();
        let schema = statistics.schema().clone();
        Ok(Test { schema, model: statistics.estimate(settings)?, baseline })
    }

    fn observe(&self, evaluation: &mut Evaluation, batch: &Batch) -> priory::Result<()> {
        let batch = batch.only(&self.schema, self.model.schema());
        evaluation.observe(self.model.classes(), &batch, &self.model.score(&batch)?, &self.baseline)
    }

    fn observe_part(&self, evaluation: &mut Evaluation, part: &FoldPart) -> priory::Result<()> {
        part.evaluate(&self.schema, &self.model, &self.baseline, evaluation)
    }
}

/// The models of some folds, several estimated at once.
fn fold_models(
    statistics: &FoldStatistics,
    total: &mut Statistics,
    folds: Range<usize>,
    settings: &Settings,
    threads: usize,
) -> priory::Result<FoldModels> {
    let (first, schema, threads) = (folds.start, total.schema().clone(), threads.min(folds.len()));
    // The t-th thread has every so many-th fold, from the t-th on, and a total of its own to take them away from.
    let mut others: Vec<Statistics> = (1..threads).map(|_| total.clone()).collect();
    let some = |total: &mut Statistics, folds: StepBy<Range<usize>>| -> Vec<priory::Result<FoldModel>> {
        folds.map(|fold| statistics.model(fold, total, settings)).collect()
    };
    let mut estimated: Vec<_> = thread::scope(|scope| {
        let totals = iter::once(total).chain(&mut others);
        let shares = (first..folds.end).map(|start| (start..folds.end).step_by(threads));
        let handles: Vec<_> =
            totals.zip(shares).map(|(total, folds)| scope.spawn(|| some(total, folds))).collect();
        let join = |handle: thread::ScopedJoinHandle<'_, Vec<_>>| {
            handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        };
        handles.into_iter().map(|handle| join(handle).into_iter()).collect()
    });
    let in_order = (0..folds.len()).map_while(|i| estimated[i % threads].next());
    Ok(FoldModels::new(first, in_order.collect::<priory::Result<_>>()?, &schema))
}

/// The rows to test on, as a single part.
fn test_rows(batch: &Batch, is_test: &[Option<bool>]) -> priory::Result<FoldParts> {
    let assigned: Vec<Option<usize>> =
        is_test.iter().map(|test| test.filter(|&test| test).map(|_| 0)).collect();
    FoldParts::new(batch, &assigned)
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

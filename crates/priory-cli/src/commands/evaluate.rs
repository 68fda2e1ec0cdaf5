//! `priory evaluate`: how well such a model predicts what it has not seen.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use priory::evaluate::{Evaluation, EvaluationReport};
use priory::judgement::Judging;
use priory::plot::reliability;
use priory::{Learnt, Schema, Settings};
use priory_input::{Work, evaluate, evaluate_on, store};
use serde::Serialize;

use crate::args::{EvaluateArgs, Format};
use crate::commands::plot::check_name;
use crate::data::ProgressBar;
use crate::glob;
use crate::output::{Grid, bold, count, plural, report_out, warn, write_json};
use crate::overwrite::refuse_input_as_output;
use crate::tables::Tables;
use crate::understand::{Understood, describe_columns};

const DEFAULT_FOLDS: u32 = 10;

pub(crate) fn run(args: &EvaluateArgs, threads: usize) -> Result<()> {
    let paths = glob::expand(&args.data)?;
    if let Some(path) = &args.reliability {
        check_name(path)?;
        let others = args.table.files().chain(args.settings.files());
        refuse_input_as_output(path, paths.iter().chain(&args.split.test).map(Path::new).chain(others))?;
    }
    let tables = Tables::new(&paths, args.table.input.options())?;
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    let mut first = tables.open(0).expect("at least one table is asked for")?;
    let mut understood = Understood::new(&mut first, &mut tables.open_from(1), &args.table)?;
    drop(first);
    understood.apply(&mut settings)?;
    understood.explain_left_out();
    let schema = &understood.schema;
    let split = Split::new(args);
    let evaluated = |judging: Judging| -> Result<EvaluationReport> {
        let report = split.evaluate(&tables, schema, &settings, judging, args, threads)?.report();
        if report.rows == 0 {
            bail!(priory::Error::Empty);
        }
        Ok(report)
    };
    let report = evaluated(args.judge.judge)?;
    let plain = if args.compare { Some(evaluated(Judging::None)?) } else { None };
    if let Some(path) = &args.reliability {
        draw_reliability(path, plain.as_ref(), &report)?;
    }

    let mut out = report_out(args.format);
    let folds = if let Split::Folds(k) = split { Some(k) } else { None };
    match (args.format, &plain) {
        (Format::Json, None) => write_json(&mut out, &Evaluated { report: &report, folds })?,
        (Format::Json, Some(plain)) => write_json(
            &mut out,
            &Compared {
                plain: Evaluated { report: plain, folds },
                judged: Evaluated { report: &report, folds },
            },
        )?,
        (Format::Text, None) => write_report(&mut out, &report, &split, args.judge.judge, schema)?,
        (Format::Text, Some(plain)) => write_comparison(&mut out, plain, &report, &split, schema)?,
    }
    out.flush()?;
    if report.skipped > 0 {
        warn(&format!("{} skipped: `{}` is missing", plural(report.skipped, "row"), schema.target));
    }
    Ok(())
}

/// Draws whether the probabilities can be believed.
fn draw_reliability(path: &Path, plain: Option<&EvaluationReport>, report: &EvaluationReport) -> Result<()> {
    let judged = if report.judged > 0 { "judged" } else { "plain" };
    let plain = plain.map(|plain| ("plain", &plain.calibration[..]));
    let series: Vec<_> = plain.into_iter().chain([(judged, &report.calibration[..])]).collect();
    Ok(store::replace_file(path, reliability(&series).as_bytes())?)
}

/// A report, and in how many folds the rows were tested, as JSON.
#[derive(Serialize)]
struct Evaluated<'a> {
    #[serde(flatten)]
    report: &'a EvaluationReport,
    folds: Option<u32>,
}

/// The report of plain models, and that of judged ones, as JSON.
#[derive(Serialize)]
struct Compared<'a> {
    plain: Evaluated<'a>,
    judged: Evaluated<'a>,
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
        judging: Judging,
        args: &EvaluateArgs,
        threads: usize,
    ) -> Result<Evaluation> {
        let work = Work { threads, watch: &ProgressBar::default() };
        let split = match self {
            Split::Folds(k) => priory_input::Split::Folds(*k as usize),
            Split::Holdout(share) => priory_input::Split::Holdout(*share),
            Split::LeaveOneOut => priory_input::Split::LeaveOneOut,
            Split::Test(path) => {
                let mut statistics = judging.start(schema);
                for table in tables.open_from(0) {
                    statistics.merge(&work.learn(table?, &statistics.empty_like())?.0)?;
                    statistics.check_size()?;
                }
                let mut learnt = Learnt::new(statistics, settings.clone());
                learnt.judge(judging, threads)?;
                let tests = Tables::new(&[(*path).to_owned()], args.table.input.options())?;
                return Ok(evaluate_on(&|i| tests.open(i), &learnt, &work)?);
            }
        };
        Ok(evaluate(&|i| tables.open(i), schema, settings, judging, split, args.seed, &work)?)
    }
}

fn write_report(
    out: &mut impl Write,
    report: &EvaluationReport,
    split: &Split<'_>,
    judging: Judging,
    schema: &Schema,
) -> Result<()> {
    let judged = match report.judged {
        0 if judging == Judging::None => "",
        0 => ", not judged",
        rows if rows == report.rows => ", judged",
        _ => ", partly judged",
    };
    writeln!(out, "{}{judged}\n", headline(report, split, schema))?;
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

/// What was tested, and how.
fn headline(report: &EvaluationReport, split: &Split<'_>, schema: &Schema) -> String {
    let (rows, classes) = (plural(report.rows, "row"), plural(report.classes.len() as u64, "class"));
    format!("{rows}, {}, {classes}; {}", describe_columns(schema), split.describe())
}

fn digits(x: f64) -> String {
    format!("{x:.4}")
}

fn auc(auc: Option<f64>) -> String {
    auc.map_or("undefined".into(), digits)
}

/// How good plain and judged models are, side by side, and how often each is right when it claims to be so sure.
fn write_comparison(
    out: &mut impl Write,
    plain: &EvaluationReport,
    judged: &EvaluationReport,
    split: &Split<'_>,
    schema: &Schema,
) -> Result<()> {
    writeln!(out, "{}\n", headline(judged, split, schema))?;
    let mut grid = Grid::new();
    grid.row(["", "plain", "judged"].map(String::from));
    let mut compare = |name: &str, of: &dyn Fn(&EvaluationReport) -> String| {
        grid.row([name.to_owned(), of(plain), of(judged)]);
    };
    compare("accuracy", &|report| digits(report.accuracy));
    compare("log-loss", &log_loss);
    compare("Brier score", &|report| digits(report.brier));
    compare("calibration error", &|report| digits(report.ece));
    compare("ROC AUC", &|report| auc(report.roc_auc));
    compare("macro F1", &|report| digits(report.macro_f1));
    writeln!(out, "{}", grid.render())?;

    writeln!(out, "How sure predictions are, and how often they are right:\n")?;
    let mut grid = Grid::new();
    grid.row(["sure", "rows, plain", "right", "rows, judged", "right"].map(String::from));
    for (plain, judged) in plain.calibration.iter().zip(&judged.calibration) {
        if plain.weight == 0.0 && judged.weight == 0.0 {
            continue;
        }
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let right = |share: Option<f64>| share.map_or("-".into(), percent);
        grid.row([
            format!("{} to {}", percent(plain.lower), percent(plain.upper)),
            count(plain.weight),
            right(plain.accuracy),
            count(judged.weight),
            right(judged.accuracy),
        ]);
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

//! `priory evaluate`: how well a model predicts what it has not seen.

mod text;

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use priory::evaluate::{Cause, Evaluation, EvaluationReport};
use priory::judgement::Judging;
use priory::plot::reliability;
use priory::plot::svg::WIDTH;
use priory::{Learnt, Schema, Settings, Statistics};
use priory_input::{Work, evaluate, evaluate_on, store};
use serde::Serialize;

use crate::args::{EvaluateArgs, Format};
use crate::commands::plot::check_name;
use crate::commands::report::{check_output, write_tested};
use crate::data::{self, ProgressBar};
use crate::glob;
use crate::model_file;
use crate::output::{plural, report_out, warn, write_json};
use crate::overwrite::refuse_input_as_output;
use crate::tables::Tables;
use crate::understand::Understood;

const DEFAULT_FOLDS: u32 = 10;

pub(crate) fn run(args: &EvaluateArgs, threads: usize) -> Result<()> {
    let paths = glob::expand(&args.data)?;
    if let Some(path) = &args.reliability {
        check_name(path)?;
        let others = args.table.files().chain(args.settings.files()).chain(args.decision.files());
        refuse_input_as_output(path, paths.iter().chain(&args.split.test).map(Path::new).chain(others))?;
    }
    if let Some(path) = &args.report {
        check_output(path, args, &paths)?;
    }
    let found = tested(args, &paths, threads)?;
    report(args, &found)?;
    args.report.as_ref().map_or(Ok(()), |path| write_tested(path, &found, &paths))
}

/// What was found, and what a report about it needs.
pub(super) struct TestedRows {
    pub(super) evaluation: Evaluation,
    /// The same of plain models, if that was wanted to compare.
    plain: Option<Evaluation>,
    pub(super) told: Told,
    /// What was learnt by the model that was tested; or of all rows, if a report is wanted.
    pub(super) learnt: Option<Learnt>,
    /// What the rows held that it was tested on, if these are others and a report is wanted.
    pub(super) rows: Option<Statistics>,
    /// Columns that were not counted, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// Tests a model on tables, or models of some rows of tables on others.
pub(super) fn tested(args: &EvaluateArgs, paths: &[String], threads: usize) -> Result<TestedRows> {
    match paths.split_first() {
        Some((model, tables)) if store::is_model(model) => evaluate_model(args, model, tables, threads),
        _ => evaluate_tables(args, paths, threads),
    }
}

/// Tests a model that was saved.
fn evaluate_model(args: &EvaluateArgs, path: &str, tables: &[String], threads: usize) -> Result<TestedRows> {
    refuse_what_the_model_says(args, path)?;
    if tables.is_empty() {
        bail!("{path} is a model: name the table to test it on after it");
    }
    let tables = Tables::new(tables, args.table.input.options())?;
    let mut learnt = model_file::read_under(Path::new(path), |settings| {
        args.decision.apply(&mut settings.decision)?;
        args.settings.apply_all_but_estimate(settings)
    })?;
    model_file::warn_of_judgement(&learnt, Path::new(path));
    let target = learnt.statistics.schema().target.clone();
    if args.table.target.as_ref().is_some_and(|given| *given != target) {
        bail!("{path} predicts `{target}`, which is not the column that --target names");
    }
    if args.settings.estimates_prior() {
        let prior = data::estimate_prior(&tables, &learnt, threads)?;
        learnt.set_settings(Settings { prior, ..learnt.settings.clone() });
    }
    let work = Work { threads, watch: &ProgressBar::default() };
    let tested = |learnt: &Learnt| evaluate_on(&|i| tables.open(i), learnt, &work);
    let evaluation = tested(&learnt)?;
    let plain = match args.compare {
        false => None,
        true => {
            let mut plain = learnt.clone();
            plain.drop_judgement();
            Some(tested(&plain)?)
        }
    };
    let told = Told {
        how: format!("tested by {path}"),
        folds: None,
        judging: learnt.is_judged(),
        schema: learnt.statistics.schema().clone(),
    };
    let rows = match args.report {
        None => None,
        Some(_) => Some(learn_all(&tables, &Statistics::empty(learnt.statistics.schema()), threads)?),
    };
    Ok(TestedRows { evaluation, plain, told, learnt: Some(learnt), rows, left_out: Vec::new() })
}

/// Learns all rows of all tables.
fn learn_all(tables: &Tables, empty: &Statistics, threads: usize) -> Result<Statistics> {
    let work = Work { threads, watch: &ProgressBar::default() };
    let mut statistics = empty.clone();
    for table in tables.open_from(0) {
        statistics.merge(&work.learn(table?, empty)?.0)?;
        statistics.check_size()?;
    }
    statistics.settle();
    Ok(statistics)
}

/// Refuses flags that say how a model is to be made: this one is there.
pub(super) fn refuse_what_the_model_says(args: &EvaluateArgs, path: &str) -> Result<()> {
    let (table, split) = (&args.table, &args.split);
    let given = [
        ("--schema", table.schema.is_some()),
        ("--weight", table.weight.is_some()),
        ("--ignore", !table.ignore.is_empty()),
        ("--as", !table.kinds.is_empty()),
        ("--missing", table.missing.is_some()),
        ("--judge", args.judge.judge.is_some()),
        ("--folds", split.folds.is_some()),
        ("--holdout", split.holdout.is_some()),
        ("--leave-one-out", split.leave_one_out),
        ("--test", split.test.is_some()),
        ("--seed", args.seed.is_some()),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given) {
        bail!("{path} is a model, which has been trained: {flag} says how to train one");
    }
    if table.text.is_given()? {
        bail!("{path} is a model, which has been trained: it knows how text is read");
    }
    Ok(())
}

/// Tests models of some rows on the others.
fn evaluate_tables(args: &EvaluateArgs, paths: &[String], threads: usize) -> Result<TestedRows> {
    if let Some(path) = paths.iter().find(|path| store::is_model(path)) {
        bail!("{path} is a model: name it first, and then the tables to test it on");
    }
    let tables = Tables::new(paths, args.table.input.options())?;
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    args.decision.apply(&mut settings.decision)?;
    let mut first = tables.open(0).expect("at least one table is asked for")?;
    let mut understood = Understood::new(&mut first, &mut tables.open_from(1), &args.table)?;
    drop(first);
    understood.apply(&mut settings)?;
    args.judge.judging().prepare(&mut understood.schema, &settings);
    understood.explain_left_out();
    let schema = &understood.schema;
    let split = Split::new(args);
    let judging = args.judge.judging().in_the_end();
    let evaluated = |judging| split.evaluate(&tables, schema, &settings, judging, args, threads);
    let evaluation = evaluated(judging)?;
    let plain = if args.compare { Some(evaluated(Judging::None)?) } else { None };
    let folds = if let Split::Folds(k) = split { Some(k) } else { None };
    let learnt = match args.report {
        None => None,
        Some(_) => {
            let statistics = learn_all(&tables, &judging.start(schema), threads)?;
            let mut learnt = Learnt::new(statistics, settings);
            learnt.judge(judging, threads)?;
            Some(learnt)
        }
    };
    let rows = match split {
        Split::Test(path) if args.report.is_some() => {
            let tests = Tables::new(&[path.to_owned()], args.table.input.options())?;
            Some(learn_all(&tests, &Statistics::empty(schema), threads)?)
        }
        _ => None,
    };
    let left_out = understood.left_out();
    let told =
        Told { how: split.describe(), folds, judging: judging != Judging::None, schema: understood.schema };
    Ok(TestedRows { evaluation, plain, told, learnt, rows, left_out })
}

/// What is told of an evaluation besides its numbers.
pub(super) struct Told {
    /// What was tested on what.
    pub(super) how: String,
    folds: Option<u32>,
    /// Whether it was wanted that models are judged.
    judging: bool,
    schema: Schema,
}

/// Prints what was found.
fn report(args: &EvaluateArgs, found: &TestedRows) -> Result<()> {
    let TestedRows { evaluation, plain, told, .. } = found;
    let report = evaluation.report_with(&args.cut_offs)?;
    let plain = plain.as_ref().map(|plain| plain.report_with(&args.cut_offs)).transpose()?;
    if let Some(path) = &args.reliability {
        draw_reliability(path, plain.as_ref(), &report)?;
    }
    let mut out = report_out(args.format);
    let folds = told.folds;
    match (args.format, &plain) {
        (Format::Json, None) => write_json(&mut out, &Evaluated { report: &report, folds })?,
        (Format::Json, Some(plain)) => write_json(
            &mut out,
            &Compared {
                plain: Evaluated { report: plain, folds },
                judged: Evaluated { report: &report, folds },
            },
        )?,
        (Format::Text, None) => text::write_report(&mut out, &report, told)?,
        (Format::Text, Some(plain)) => text::write_comparison(&mut out, plain, &report, told)?,
    }
    out.flush()?;
    data::warn_of_skipped(report.skipped, &told.schema.target);
    warn_of_doubts(&report, told);
    Ok(())
}

/// Says what deserves a warning, where the rest is said elsewhere.
pub(super) fn warn_of_what_was_found(found: &TestedRows) -> Result<()> {
    let report = found.evaluation.report_with(&[])?;
    data::warn_of_skipped(report.skipped, &found.told.schema.target);
    warn_of_doubts(&report, &found.told);
    Ok(())
}

/// Says where predictions are worse than none, and what can be done about it.
fn warn_of_doubts(report: &EvaluationReport, told: &Told) {
    for doubt in &report.doubts {
        let remedy = match doubt.cause {
            Cause::Impossible(_) => "; --smoothing laplace leaves nothing impossible",
            Cause::OtherShares if told.folds.is_none() => "; --prior estimate finds the shares in these rows",
            Cause::Exaggerated if !told.judging => "; do without --judge none",
            _ => "",
        };
        warn(&format!("{doubt}{remedy}"));
    }
    let of_two = |count: &usize| *count < report.classes.len();
    let known = report.per_class.iter().filter(|class| class.auc.is_some()).count();
    if let Some(known) = Some(known).filter(of_two).filter(|&known| known > 0) {
        let without = plural((report.classes.len() - known) as u64, "class");
        warn(&format!(
            "ROC AUC is the mean over {known} classes; {without} without rows, or without others, left out"
        ));
    }
}

/// Draws whether the probabilities can be believed.
fn draw_reliability(path: &Path, plain: Option<&EvaluationReport>, report: &EvaluationReport) -> Result<()> {
    let judged = if report.judged > 0 { "judged" } else { "plain" };
    let plain = plain.map(|plain| ("plain", &plain.calibration[..]));
    let series: Vec<_> = plain.into_iter().chain([(judged, &report.calibration[..])]).collect();
    Ok(store::replace_file(path, reliability(&series, WIDTH).file().as_bytes())?)
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
                let statistics = learn_all(tables, &judging.start(schema), threads)?;
                let mut learnt = Learnt::new(statistics, settings.clone());
                learnt.judge(judging, threads)?;
                let tests = Tables::new(&[(*path).to_owned()], args.table.input.options())?;
                return Ok(evaluate_on(&|i| tests.open(i), &learnt, &work)?);
            }
        };
        Ok(evaluate(&|i| tables.open(i), schema, settings, judging, split, args.seed.unwrap_or(0), &work)?)
    }
}

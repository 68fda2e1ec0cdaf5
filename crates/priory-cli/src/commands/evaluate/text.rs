//! An evaluation as text.

use std::io::Write;

use anyhow::Result;
use priory::evaluate::{Aim, BestCutOff, CutOff, CutOffReport, EvaluationReport};

use super::Told;
use crate::output::{Grid, bold, count, plural};
use crate::understand::describe_columns;

pub(super) fn write_report(out: &mut impl Write, report: &EvaluationReport, told: &Told) -> Result<()> {
    let judged = match report.judged {
        0 if !told.judging => "",
        0 => ", not judged",
        rows if rows == report.rows => ", judged",
        _ => ", partly judged",
    };
    writeln!(out, "{}{judged}\n", headline(report, told))?;
    let unsure = match report.unsure {
        0.0 => String::new(),
        weight => format!(" of the rows that were answered, {} unsure", count(weight)),
    };
    writeln!(
        out,
        "  accuracy {}{unsure}; the majority class alone {}",
        bold(&digits(report.accuracy)),
        digits(report.baseline_accuracy)
    )?;
    if let (Some(cost), Some(baseline)) = (report.cost, report.baseline_cost) {
        writeln!(
            out,
            "  cost {} a row; the cheapest answer alone {}",
            bold(&digits(cost)),
            digits(baseline)
        )?;
    }
    writeln!(
        out,
        "  log-loss {}, of the prior alone {}; Brier score {}, calibration error {}",
        log_loss(report),
        finite(report.baseline_log_loss),
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
    report.cut_offs.as_ref().map_or(Ok(()), |cut_offs| write_cut_offs(out, cut_offs))
}

/// What cut-offs of one class are worth, and which are best.
fn write_cut_offs(out: &mut impl Write, report: &CutOffReport) -> Result<()> {
    let CutOffReport { positive, share, roc_auc, average_precision, .. } = report;
    writeln!(
        out,
        "\n{}: {} of the rows, average precision {}, ROC AUC {}\n",
        bold(&format!("P({positive})")),
        percent(*share),
        auc(*average_precision),
        auc(*roc_auc)
    )?;
    let mut grid = Grid::new();
    let costs = report.cut_offs.iter().any(|cut_off| cut_off.cost.is_some());
    let headings = ["cut-off", "alarms", "precision", "recall", "F1", "lift"];
    grid.row(headings.into_iter().chain(costs.then_some("cost")));
    let mut row = |name: String, cut_off: &CutOff| {
        let some = |x: Option<f64>| x.map_or("-".into(), digits);
        let lift = cut_off.lift.map_or("-".into(), |lift| format!("{lift:.2}"));
        let cells = [
            percent(cut_off.alarms),
            some(cut_off.precision),
            some(cut_off.recall),
            digits(cut_off.f1),
            lift,
        ];
        grid.line(name, cells.into_iter().chain(cut_off.cost.map(digits)));
    };
    let number = |cut_off: &CutOff| cut_off.cut_off.map_or("never".into(), |p| p.to_string());
    report.cut_offs.iter().for_each(|cut_off| row(number(cut_off), cut_off));
    for BestCutOff { by, cut_off } in &report.best {
        let aim = match by {
            Aim::Cost => "least cost",
            Aim::F1 => "best F1",
            Aim::Youden => "best by Youden",
        };
        row(format!("{} {aim}", number(cut_off)), cut_off);
    }
    write!(out, "{}", grid.render())?;
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// What was tested, and how.
fn headline(report: &EvaluationReport, told: &Told) -> String {
    let (rows, classes) = (plural(report.rows, "row"), plural(report.classes.len() as u64, "class"));
    format!("{rows}, {}, {classes}; {}", describe_columns(&told.schema), told.how)
}

fn digits(x: f64) -> String {
    format!("{x:.4}")
}

fn auc(auc: Option<f64>) -> String {
    auc.map_or("undefined".into(), digits)
}

/// How good plain and judged models are, side by side, and how often each is right when it claims to be so sure.
pub(super) fn write_comparison(
    out: &mut impl Write,
    plain: &EvaluationReport,
    judged: &EvaluationReport,
    told: &Told,
) -> Result<()> {
    writeln!(out, "{}\n", headline(judged, told))?;
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

fn finite(x: f64) -> String {
    if x.is_finite() { digits(x) } else { "infinite".into() }
}

fn log_loss(report: &EvaluationReport) -> String {
    if report.log_loss.is_finite() {
        return format!("{:.4}", report.log_loss);
    }
    format!("infinite: {} had probability 0", plural(report.zero_probability_rows, "true class"))
}

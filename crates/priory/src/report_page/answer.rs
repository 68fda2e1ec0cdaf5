//! The answer in a sentence or three: what was learnt, how good it is, and whether its probabilities can be believed.

use super::html::{Html, names, percent, plural, short};
use super::{Told, escaped};
use crate::evaluate::{CalibrationBin, EvaluationReport};
use crate::{Column, Kind};

/// Probabilities that are off by so little on average can be believed.
const LITTLE: f64 = 0.03;
/// By more than this they should not be taken at face value.
const MUCH: f64 = 0.08;

impl Told<'_> {
    pub(super) fn answer(&self, body: &mut Html) {
        let target = short(&self.page.model.schema().target);
        body.markup(&format!(
            "<header><p class=\"over\">A report on a model</p><h1>{}</h1>",
            escaped(&target)
        ));
        body.markup("<nav aria-label=\"Parts of the report\"><ul>");
        let several = self.page.model.classes().len() > 1;
        let has_words = self.summary.features.iter().any(|feature| feature.text.is_some());
        let tested = self.report.is_some();
        let parts = [
            ("answer", "Answer", true),
            ("evaluation", "How good it is", tested),
            ("cut-off", "Cut-off", tested && several),
            ("columns", "Columns", true),
            ("nomogram", "What values are worth", several),
            ("words", "Words", has_words),
            ("warnings", "Warnings", true),
            ("made", "How it was made", true),
        ];
        for (id, name, _) in parts.iter().filter(|(.., is_there)| *is_there) {
            body.markup(&format!("<li><a href=\"#{id}\">{name}</a></li>"));
        }
        body.markup("</ul></nav></header>\n<main>\n<section aria-labelledby=\"answer\">");
        body.heading(2, "answer", "The answer");
        let classes: Vec<&str> = self.summary.classes.iter().map(|class| class.name.as_str()).collect();
        body.paragraph(
            "answer",
            &format!(
                "From {} with {} the model has learnt to tell {} of “{target}” apart: {}.",
                plural(self.summary.rows, "row"),
                columns(&self.page.model.schema().columns),
                plural(classes.len() as u64, "class"),
                names(classes.iter().copied(), 8),
            ),
        );
        match (&self.report, self.page.tested) {
            (Some(report), Some(tested)) if report.rows > 0 => {
                body.paragraph("answer", &how_good(report, tested.how, self.majority()));
                body.paragraph("answer", &belief(report));
                self.figures(body, report);
            }
            _ => body.paragraph(
                "answer",
                "How good it is was not tested here: name a table with the classes of its rows to see that.",
            ),
        }
        body.markup("</section>");
    }

    /// The class of most rows.
    fn majority(&self) -> &str {
        let most = self
            .summary
            .classes
            .iter()
            .max_by(|a, b| a.weight.total_cmp(&b.weight).then(b.name.cmp(&a.name)));
        most.map_or("", |class| &class.name)
    }

    /// The figures that people ask for first.
    fn figures(&self, body: &mut Html, report: &EvaluationReport) {
        let finite = |x: f64| if x.is_finite() { format!("{x:.4}") } else { "∞".to_owned() };
        let mut figures = vec![
            (
                "right",
                percent(report.accuracy),
                format!("{} by guessing the majority", percent(report.baseline_accuracy)),
            ),
            (
                "log-loss",
                finite(report.log_loss),
                format!("{} of the prior alone", finite(report.baseline_log_loss)),
            ),
            ("off the mark", percent(report.ece), "calibration error of its probabilities".to_owned()),
        ];
        if let Some(auc) = report.roc_auc {
            figures.push(("ROC AUC", format!("{auc:.4}"), "0.5 by chance, 1 at best".to_owned()));
        }
        if let (Some(cost), Some(baseline)) = (report.cost, report.baseline_cost) {
            figures.push((
                "cost a row",
                finite(cost),
                format!("{} by the cheapest answer alone", finite(baseline)),
            ));
        }
        body.markup("<dl class=\"figures\">");
        for (name, figure, beside) in figures {
            body.markup(&format!(
                "<div><dt>{name}</dt><dd><strong>{}</strong> <span>{}</span></dd></div>",
                escaped(&figure),
                escaped(&beside)
            ));
        }
        body.markup("</dl>");
    }
}

/// 5 numbers and 2 categories.
fn columns(columns: &[Column]) -> String {
    let of = |what: fn(&Column) -> bool| columns.iter().filter(|column| what(column)).count() as u64;
    let is_date = |column: &Column| column.word() == "date";
    let kinds = [
        (of(|column| column.kind.is_number() && column.word() != "date"), "number"),
        (columns.iter().filter(|column| is_date(column)).count() as u64, "date"),
        (of(|column| matches!(column.kind, Kind::Category | Kind::Joint)), "category"),
        (of(|column| column.kind == Kind::Text), "text"),
    ];
    let counted: Vec<String> =
        kinds.iter().filter(|(n, _)| *n > 0).map(|(n, what)| plural(*n, what)).collect();
    match &counted[..] {
        [] => "no column".to_owned(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

fn how_good(report: &EvaluationReport, how: &str, majority: &str) -> String {
    let answered = if report.unsure > 0.0 { " of those it answers" } else { "" };
    let against = match report.accuracy > report.baseline_accuracy {
        true => format!(
            "guessing the most frequent class, “{}”, would be right in {}",
            short(majority),
            percent(report.baseline_accuracy)
        ),
        false => format!(
            "no better than guessing the most frequent class, “{}”: {}",
            short(majority),
            percent(report.baseline_accuracy)
        ),
    };
    format!(
        "Tested on {} ({how}), it is right in {}{answered}; {against}.",
        plural(report.rows, "row"),
        percent(report.accuracy)
    )
}

/// Whether its probabilities can be believed. That so few rows cannot tell is said as well.
fn belief(report: &EvaluationReport) -> String {
    let off = percent(report.ece);
    let by_chance = by_chance(&report.calibration);
    let sure = |bin: &CalibrationBin| Some(bin.weight * (bin.mean_confidence? - bin.accuracy?));
    let too_sure = report.calibration.iter().filter_map(sure).sum::<f64>() > 0.0;
    match report.ece {
        ece if ece <= LITTLE => format!(
            "Its probabilities can be believed: on average they are {off} away from how often they come true."
        ),
        ece if ece <= 1.5 * by_chance => format!(
            "As far as so few rows can tell, its probabilities can be believed: they are {off} away from how often they come true, and chance alone makes about {}.",
            percent(by_chance)
        ),
        ece => {
            let how =
                if too_sure { "it is surer than it should be" } else { "it is less sure than it could be" };
            let word = if ece <= MUCH { "are roughly right" } else { "should not be taken at face value" };
            format!(
                "Its probabilities {word}: on average they are {off} away from how often they come true; {how}."
            )
        }
    }
}

/// How far accuracy and confidence would be apart by chance, if probabilities were perfectly true.
fn by_chance(bins: &[CalibrationBin]) -> f64 {
    let total: f64 = bins.iter().map(|bin| bin.weight).sum();
    let apart = bins.iter().filter_map(|bin| {
        let p = bin.mean_confidence?;
        Some(bin.weight / total * (std::f64::consts::FRAC_2_PI * p * (1.0 - p) / bin.weight).sqrt())
    });
    apart.sum()
}

//! How good the model is: which classes it mistakes, whether it can be believed, and how well it ranks.

use super::Told;
use super::cut_off::CutOffs;
use super::html::{Html, count, percent, short};
use crate::Result;
use crate::evaluate::EvaluationReport;
use crate::plot::reliability;
use crate::plot::svg::{self, NARROW, Series};

/// Classes that have curves and cut-offs: those with the most rows.
const MOST_CLASSES: usize = 12;
/// Curves of more classes cannot be told apart in one picture.
const MOST_CURVES: usize = 6;
/// More classes make no matrix that can be read.
const MOST_CONFUSED: usize = 12;

impl Told<'_> {
    /// Writes the part, and returns what the script needs for the cut-offs.
    pub(super) fn evaluation(&self, body: &mut Html) -> Result<CutOffs> {
        let (Some(report), Some(tested)) = (&self.report, self.page.tested) else {
            return Ok(CutOffs::default());
        };
        if report.rows == 0 {
            return Ok(CutOffs::default());
        }
        body.markup("<section aria-labelledby=\"evaluation\">");
        body.heading(2, "evaluation", "How good it is");
        let classes = most_frequent(report);
        let shown: Vec<&str> = classes.iter().map(|&class| report.classes[class].as_str()).collect();
        let series = self.series(&shown)?;
        body.markup("<div class=\"cards\">");
        if !report.confusion.is_empty() && report.classes.len() <= MOST_CONFUSED {
            card(body, "What is taken for what", |body| {
                body.picture("", &svg::confusion(&report.classes, &report.confusion, NARROW));
                body.paragraph("soft", "Each row is a true class, each column an answer; the stronger a square, the larger its share of the row.");
            });
        }
        card(body, "Can its probabilities be believed?", |body| {
            let judged = if report.judged > 0 { "judged" } else { "plain" };
            body.picture("", &reliability(&[(judged, &report.calibration[..])], NARROW));
            body.paragraph("soft", "On the diagonal, what is called 80 % sure is right 8 times in 10. The bars are how many rows there are.");
        });
        if !series.is_empty() {
            card(body, "Hits against false alarms", |body| {
                body.picture("roc", &svg::roc(&series, NARROW));
                body.paragraph("soft", "The ROC curve: the further to the upper left, the better rows of the class rank above others.");
            });
            card(body, "Precision against recall", |body| {
                body.picture("precision-recall", &svg::precision_recall(&series, NARROW));
                body.paragraph("soft", "How many of the rows that are called by the class are of it, for every share that is found.");
            });
        }
        body.markup("</div>");
        let rows: Vec<Vec<String>> = report
            .per_class
            .iter()
            .take(200)
            .map(|class| {
                let digits = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
                vec![
                    short(&class.name),
                    count(class.support),
                    percent(class.precision),
                    percent(class.recall),
                    digits(Some(class.f1)),
                    digits(class.auc),
                    digits(class.average_precision),
                ]
            })
            .collect();
        body.table(
            "Each class by itself",
            &["class", "rows", "precision", "recall", "F1", "ROC AUC", "average precision"],
            &rows,
        );
        body.details("How sure, and how often right, in numbers", false, |body| {
            let bins = report.calibration.iter().filter(|bin| bin.weight > 0.0).map(|bin| {
                let share = |x: Option<f64>| x.map_or("–".to_owned(), percent);
                vec![
                    format!("{:.0} – {:.0} %", 100.0 * bin.lower, 100.0 * bin.upper),
                    count(bin.weight),
                    share(bin.mean_confidence),
                    share(bin.accuracy),
                ]
            });
            body.table(
                "Predictions by how sure they are",
                &["probability of the answer", "rows", "how sure on average", "right"],
                &bins.collect::<Vec<_>>(),
            );
        });
        body.markup("</section>");
        let decision = &self.page.learnt.settings.decision;
        let mut cut_offs =
            CutOffs::new(tested.evaluation, decision, report, &shown, self.subject.usual_class())?;
        cut_offs.frame = svg::frame_of_curves(&series, NARROW);
        cut_offs.write(body);
        Ok(cut_offs)
    }

    /// A curve for each class that has rows, and not all of them; of two classes one.
    fn series(&self, classes: &[&str]) -> Result<Vec<Series>> {
        let Some(tested) = self.page.tested else { return Ok(Vec::new()) };
        let two = self.report.as_ref().is_some_and(|report| report.classes.len() == 2);
        let usual = self.subject.usual_class();
        let wanted: Vec<&&str> = match two {
            true => classes.iter().filter(|class| **class == usual).collect(),
            false => classes.iter().take(MOST_CURVES).collect(),
        };
        let mut series = Vec::new();
        for class in wanted {
            let found = tested.evaluation.cut_offs_of(class, &[])?;
            if found.roc_auc.is_some() {
                series.push(Series::new(class, found));
            }
        }
        Ok(series)
    }
}

/// The classes with the most rows, in their own order.
fn most_frequent(report: &EvaluationReport) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..report.classes.len()).collect();
    classes.sort_by(|&a, &b| report.per_class[b].support.total_cmp(&report.per_class[a].support));
    classes.truncate(MOST_CLASSES);
    classes.sort_unstable();
    classes
}

fn card(body: &mut Html, title: &str, inside: impl FnOnce(&mut Html)) {
    body.markup("<div class=\"card\">");
    body.heading(3, "", title);
    inside(body);
    body.markup("</div>");
}

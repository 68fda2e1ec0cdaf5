//! The cut-off that can be moved: from which probability on a class is answered, and what comes of it.

use serde::Serialize;

use super::html::{Html, escaped, short};
use crate::Result;
use crate::decide::Decision;
use crate::evaluate::{Evaluation, EvaluationReport};

/// What the script needs to know.
#[derive(Debug, Default, Serialize)]
pub(super) struct CutOffs {
    /// Probabilities, in ascending order: hundredths, and finer ones at the ends.
    cut_offs: Vec<f64>,
    classes: Vec<OfClass>,
    /// The class to begin with.
    usual: String,
    /// Where the curves are in their pictures: left, top, width and height.
    pub(super) frame: [f64; 4],
}

/// One class against the rest.
#[derive(Debug, Serialize)]
struct OfClass {
    name: String,
    /// The weight of its rows, and of all others.
    positives: f64,
    negatives: f64,
    /// At each cut-off the weight of its rows that reach it, and of all others that do.
    hits: Vec<f64>,
    alarms: Vec<f64>,
    /// What a row of it costs that is not found, and another that is taken for one.
    miss: f64,
    alarm: f64,
}

impl CutOffs {
    pub(super) fn new(
        evaluation: &Evaluation,
        decision: &Decision,
        report: &EvaluationReport,
        classes: &[&str],
        usual: &str,
    ) -> Result<Self> {
        let ends = [0.0001, 0.0005, 0.001, 0.005];
        let mut cut_offs: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
        cut_offs.extend(ends.iter().flat_map(|&p| [p, 1.0 - p]));
        cut_offs.sort_by(f64::total_cmp);
        let costs = decision.cost_matrix(&report.classes).ok().filter(|_| !decision.costs.is_empty());
        let mut of_classes = Vec::new();
        for class in classes {
            let reached = evaluation.reached(class, &cut_offs)?;
            if reached.positives == 0.0 || reached.negatives == 0.0 {
                continue;
            }
            let (miss, alarm) =
                costs.as_ref().map_or((1.0, 1.0), |costs| two_costs(costs, &report.classes, class));
            of_classes.push(OfClass {
                name: short(class),
                positives: reached.positives,
                negatives: reached.negatives,
                hits: reached.hits,
                alarms: reached.alarms,
                miss,
                alarm,
            });
        }
        Ok(CutOffs { cut_offs, classes: of_classes, usual: short(usual), frame: [0.0; 4] })
    }

    /// The part of the page; without the script it says what is at one half.
    pub(super) fn write(&self, body: &mut Html) {
        if self.classes.is_empty() {
            return;
        }
        body.markup("<section aria-labelledby=\"cut-off\" id=\"slider\">");
        body.heading(2, "cut-off", "From which probability on?");
        body.paragraph(
            "",
            "Answer a class wherever its probability reaches a cut-off: a low one finds more of its rows, a high one raises fewer false \
             alarms. Move it, and see what comes of that in the rows of the test.",
        );
        body.markup("<div class=\"controls\">");
        let options: Vec<String> = self
            .classes
            .iter()
            .enumerate()
            .map(|(i, class)| format!("<option value=\"{i}\">{}</option>", escaped(&class.name)))
            .collect();
        body.markup(&format!("<label>Class <select id=\"class\">{}</select></label>", options.concat()));
        let last = self.cut_offs.len() - 1;
        let half = self.cut_offs.iter().position(|p| *p == 0.5).unwrap_or(last / 2);
        body.markup(&format!(
            "<label class=\"wide\">Cut-off <output id=\"chosen\" for=\"at\">0.50</output>\
             <input type=\"range\" id=\"at\" min=\"0\" max=\"{last}\" value=\"{half}\" step=\"1\"></label>"
        ));
        body.markup("<label>A miss costs <input type=\"number\" id=\"miss\" min=\"0\" step=\"any\" value=\"1\"></label>");
        body.markup("<label>A false alarm costs <input type=\"number\" id=\"alarm\" min=\"0\" step=\"any\" value=\"1\"></label>");
        body.markup("<button type=\"button\" id=\"cheapest\">Cheapest cut-off</button></div>");
        body.markup("<div class=\"live\"><dl class=\"figures\">");
        for (id, name) in [
            ("precision", "precision"),
            ("recall", "recall"),
            ("cost", "cost a row"),
            ("share", "called by the class"),
        ] {
            body.markup(&format!("<div><dt>{name}</dt><dd><strong id=\"{id}\">–</strong></dd></div>"));
        }
        body.markup("</dl>");
        body.markup(
            "<table class=\"confusion\"><caption>Rows of the test at this cut-off</caption><thead><tr><td></td>\
             <th scope=\"col\">called by the class</th><th scope=\"col\">not</th></tr></thead><tbody>\
             <tr><th scope=\"row\">of the class</th><td class=\"number\" id=\"hits\">–</td><td class=\"number\" id=\"misses\">–</td></tr>\
             <tr><th scope=\"row\">others</th><td class=\"number\" id=\"alarms\">–</td><td class=\"number\" id=\"quiet\">–</td></tr></tbody></table></div>",
        );
        body.markup(
            "<noscript><p>Without its script, this part of the page does not move.</p></noscript></section>",
        );
    }
}

/// What is lost if a row of the class is not found, and if another is taken for one, beyond what the right answer costs; with
/// several other classes the mean.
fn two_costs(costs: &[Vec<f64>], classes: &[String], class: &str) -> (f64, f64) {
    let Some(own) = classes.iter().position(|name| name == class) else { return (1.0, 1.0) };
    let others = || (0..classes.len()).filter(|&other| other != own);
    let mean = |of: &dyn Fn(usize) -> f64| others().map(of).sum::<f64>() / others().count().max(1) as f64;
    (
        mean(&|other| costs[other][own] - costs[own][own]).max(0.0),
        mean(&|other| costs[own][other] - costs[other][other]).max(0.0),
    )
}

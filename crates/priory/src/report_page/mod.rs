//! A model and how good it is, as one page of HTML that needs nothing else: for those who decide whether to use it.
//!
//! The page opens from the disk and asks nobody anything: style, script and pictures are in it, and its own policy forbids the
//! rest. The same model and evaluation give the same bytes. All that comes from data is written by [`html`](self) and nowhere else.

mod answer;
mod columns;
mod cut_off;
mod evaluation;
mod html;
mod made;
mod warnings;

use crate::evaluate::{Evaluation, EvaluationReport};
use crate::plot::{Subject, svg};
use crate::report::{Features, Summary};
use crate::{Learnt, Model, Result, Statistics};
use html::{Html, escaped, json, names, short};

pub use warnings::identifiers;

/// What a page is about.
#[derive(Debug)]
pub struct ReportPage<'a> {
    /// What was learnt.
    pub learnt: &'a Learnt,
    /// The model that was estimated from it.
    pub model: &'a Model,
    /// How it was tested, if it was.
    pub tested: Option<Tested<'a>>,
    /// Columns that were not even counted, and why.
    pub left_out: &'a [(String, String)],
    /// How it was made.
    pub made: &'a Made,
}

/// A test of a model, or of such models.
#[derive(Debug, Clone, Copy)]
pub struct Tested<'a> {
    /// What was counted.
    pub evaluation: &'a Evaluation,
    /// What was tested on what: `10 folds`.
    pub how: &'a str,
    /// What the rows held that it was tested on, if these are not those that it has learnt.
    pub rows: Option<&'a Statistics>,
}

/// How a report was made.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// The command that makes it again.
    pub command: String,
    /// The files that were read.
    pub files: Vec<String>,
}

/// Telling words that are listed for each class.
const WORDS: usize = 15;
/// Classes that have a nomogram of their own.
const MOST_NOMOGRAMS: usize = 6;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What the page may do: run this script and no other, and ask nobody. The browser compares the script with its hash.
const POLICY: &str = concat!(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-",
    include_str!("script.sha256"),
    "'"
);

/// What all parts of the page look at.
struct Told<'a> {
    page: &'a ReportPage<'a>,
    subject: Subject<'a>,
    summary: Summary,
    features: Features,
    report: Option<EvaluationReport>,
}

impl ReportPage<'_> {
    /// The page as a file.
    ///
    /// # Errors
    /// If the model was estimated from something else.
    pub fn write(&self) -> Result<String> {
        let told = Told {
            page: self,
            subject: Subject::new(self.learnt, self.model)?,
            summary: self.learnt.summary(self.model, WORDS)?,
            features: self.learnt.features()?,
            report: self.tested.map(|tested| tested.evaluation.report()),
        };
        let mut body = Html::default();
        let target = short(&self.model.schema().target);
        told.answer(&mut body);
        let data = told.evaluation(&mut body)?;
        told.columns(&mut body)?;
        told.nomograms(&mut body)?;
        told.words(&mut body);
        told.warnings(&mut body);
        told.made(&mut body);
        Ok(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"priory {}\">\n\
             <title>{}: a report</title>\n{}<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#answer\">To the report</a>\n{}\
             <script type=\"application/json\" id=\"data\">{}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION"),
            escaped(&target),
            svg::style(),
            body.finish(),
            json(&data),
        ))
    }
}

impl Told<'_> {
    /// The nomograms: of two classes one, of more one for each.
    fn nomograms(&self, body: &mut Html) -> Result<()> {
        let classes = self.page.model.classes();
        if classes.len() < 2 {
            return Ok(());
        }
        body.markup("<section aria-labelledby=\"nomogram\">");
        body.heading(2, "nomogram", "What every value is worth");
        body.paragraph(
            "",
            "Each line is a column, and its points are the values it can take: to the right they speak for the class, to the left \
             against it. One bit doubles the odds. What a row holds is added up, with the prior, to the sum below, under which its \
             probability stands.",
        );
        let usual = self.subject.usual_class();
        match classes.len() {
            2 => body.picture("", &svg::nomogram(&self.subject.nomogram(Some(usual))?, svg::WIDTH)),
            _ => {
                let mut named: Vec<(usize, &String)> = classes.iter().enumerate().collect();
                let prior = self.page.model.prior();
                named.sort_by(|a, b| prior[b.0].total_cmp(&prior[a.0]));
                for (_, class) in named.iter().take(MOST_NOMOGRAMS) {
                    let nomogram = svg::nomogram(&self.subject.nomogram(Some(class))?, svg::WIDTH);
                    let summary = format!("{} against the rest", short(class));
                    body.details(&summary, class.as_str() == usual, |body| body.picture("", &nomogram));
                }
                if named.len() > MOST_NOMOGRAMS {
                    let others = names(named[MOST_NOMOGRAMS..].iter().map(|(_, class)| class.as_str()), 12);
                    body.paragraph("soft", &format!("Not drawn: {others}."));
                }
            }
        }
        body.markup("</section>");
        Ok(())
    }

    fn warnings(&self, body: &mut Html) {
        let page = self.page;
        let tested_on = page.tested.and_then(|tested| tested.rows);
        let found = warnings::warnings(page.learnt, &self.summary, &self.features, page.left_out, tested_on);
        let doubts = self.report.iter().flat_map(|report| report.doubts.iter().map(ToString::to_string));
        let found: Vec<String> = doubts.map(|doubt| format!("{}.", capital(&doubt))).chain(found).collect();
        body.markup("<section aria-labelledby=\"warnings\">");
        body.heading(2, "warnings", "What to look at twice");
        if found.is_empty() {
            body.paragraph("", "Nothing: no column looks like an identifier, alone decides everything, or is mostly missing.");
        } else {
            body.markup("<ul class=\"warnings\">");
            found.iter().for_each(|said| body.markup(&format!("<li>{}</li>", escaped(said))));
            body.markup("</ul>");
        }
        body.markup("</section>");
    }
}

/// The same sentence with a capital.
fn capital(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

//! `priory explain`: how single rows come to their prediction.

use std::collections::HashMap;
use std::f64::consts::LN_2;
use std::io::Write;

use anyhow::{Result, bail};
use priory::report::{
    Contribution, ContributionOf, FractionExplainer, FractionExplanation, Fractions, TokenContribution,
    TokenContributions,
};
use priory::{Batch, BatchColumn, Explanation, Intervals, Learnt, Model, Outcome, Schema};
use priory_input::text::Tokenizer;

use crate::args::{ExplainArgs, Format};
use crate::data;
use crate::model_file;
use crate::output::{self, Grid, bold, plural, report_out, tinted};

/// Longer documents are shown in colours up to here.
const MOST_LINES: usize = 200;

pub(crate) fn run(args: &ExplainArgs) -> Result<()> {
    if args.bits && args.format == Format::Json {
        bail!("JSON has its logarithms in nats, of which 0.6931 are a bit: leave out --bits");
    }
    let mut learnt = model_file::read_under(&args.model, |settings| args.settings.apply(settings))?;
    if args.fractions {
        model_file::without_judgement(&mut learnt, "fractions are those of the counts");
    }
    model_file::warn_of_stale_judgement(&learnt, &args.model);
    match args.interval {
        None => explain(args, &learnt, &learnt.estimate()?, None),
        Some(level) => learnt
            .intervals(|intervals| explain(args, &learnt, intervals.model(), Some((intervals, level))))?,
    }
}

fn explain(
    args: &ExplainArgs,
    learnt: &Learnt,
    model: &Model,
    intervals: Option<(&Intervals<'_>, f64)>,
) -> Result<()> {
    // JSON always has the fractions where there are any; text only if they were asked for.
    let fractions = match Fractions::new(&learnt.statistics, model) {
        Ok(fractions) if args.fractions || args.format == Format::Json => Some(fractions),
        Err(error) if args.fractions => return Err(error.into()),
        _ => None,
    };
    let fractions = fractions.as_ref().map(Fractions::explainer).transpose()?;
    let colours = args.format == Format::Text && output::has_colours();
    let mut printer =
        Printer { args, model, fractions, intervals, rows: 0, colours, out: report_out(args.format) };
    printer.start()?;
    match &args.data {
        Some(path) => data::for_each_document(args.input.open(path)?, model.schema(), colours, |batch| {
            (0..batch.rows).try_for_each(|row| printer.row(batch, row))
        })?,
        None => printer.row(&typed_row(model.schema(), &args.set, colours)?, 0)?,
    }
    printer.finish()
}

/// A batch of one row from what was typed; columns that are not named are missing.
fn typed_row(schema: &Schema, set: &[String], keep_documents: bool) -> Result<Batch> {
    let set = set.iter().map(|typed| typed_value(schema, typed)).collect::<Result<Vec<_>>>()?;
    let mut batch = Batch::new(schema);
    if keep_documents {
        data::keep_documents(&mut batch);
    }
    batch.rows = 1;
    batch.classes.push(None);
    for (column, cell) in schema.columns.iter().zip(&mut batch.columns) {
        let mut typed = set.iter().filter(|(name, _)| *name == column.name).map(|&(_, value)| value);
        let value = typed.next().filter(|value| !schema.is_missing(value));
        if typed.next().is_some() {
            bail!("the column `{}` is set twice", column.name);
        }
        match cell {
            BatchColumn::Category(cell) => cell.push(value),
            BatchColumn::Text(cell) => match value {
                None => cell.push_missing(),
                Some(document) => {
                    let settings = column.text.clone().unwrap_or_default();
                    Tokenizer::new(&settings.tokens)?.read(document, cell);
                }
            },
            BatchColumn::Number(cell) => cell.push(match value {
                None => f64::NAN,
                Some(value) => match value.parse::<f64>() {
                    Ok(number) if !number.is_infinite() => number,
                    _ => bail!("`{value}` is not a number, which the column `{}` holds", column.name),
                },
            }),
        }
    }
    Ok(batch)
}

/// The column and the value of what was typed: whatever part of it before a `=` is the name of a column.
fn typed_value<'t>(schema: &Schema, typed: &'t str) -> Result<(&'t str, &'t str)> {
    let splits = typed.match_indices('=').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
    let mut meant = splits.clone().filter(|(name, _)| schema.position(name).is_some());
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        (Some((one, _)), Some((other, _))) => bail!(
            "`{typed}` can mean the column `{one}` or the column `{other}`; put the row into a table instead"
        ),
        (None, _) => {
            let unknown = splits.clone().next().map_or(typed, |(name, _)| name);
            let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
            bail!("the model has no feature `{unknown}`; it has {}", names.join(", "));
        }
    }
}

struct Printer<'a, 'i, W> {
    args: &'a ExplainArgs,
    model: &'a Model,
    fractions: Option<FractionExplainer<'a>>,
    intervals: Option<(&'a Intervals<'i>, f64)>,
    rows: u64,
    /// Whether there is somebody to see the document in colours.
    colours: bool,
    out: W,
}

impl<W: Write> Printer<'_, '_, W> {
    fn start(&mut self) -> Result<()> {
        if self.args.format == Format::Json {
            write!(self.out, "{{\"rows\": [")?;
        }
        Ok(())
    }

    fn row(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let mut explanation = self.model.explain(batch, row)?;
        if let Some(fractions) = &self.fractions {
            explanation.add_fractions(fractions.explain(batch, row)?);
        }
        if let Some((intervals, level)) = self.intervals {
            intervals.add_to(&mut explanation, batch, row, level)?;
        }
        match self.args.format {
            Format::Json => {
                let separator = if self.rows == 0 { "\n" } else { ",\n" };
                write!(self.out, "{separator}")?;
                serde_json::to_writer_pretty(&mut self.out, &explanation)?;
            }
            Format::Text => {
                if self.rows > 0 {
                    writeln!(self.out)?;
                }
                if self.args.data.is_some() {
                    write!(self.out, "row {}: ", batch.row_number(row))?;
                }
                self.text(&explanation)?;
                if self.colours {
                    self.coloured(batch, row, &explanation)?;
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if self.args.format == Format::Json {
            writeln!(self.out, "\n]}}")?;
        }
        self.out.flush()?;
        Ok(())
    }

    fn text(&mut self, explanation: &Explanation) -> Result<()> {
        let best = &explanation.prediction;
        let p = explanation.posterior[explanation.best];
        writeln!(self.out, "{}, P = {p:.4}", bold(&format!("{} = {best}", self.model.schema().target)))?;
        match explanation.outcome {
            Outcome::Evidence => {}
            Outcome::NoEvidence => writeln!(self.out, "  no feature is known: this is the prior")?,
            Outcome::Impossible => writeln!(self.out, "  impossible in every class: this is the prior")?,
        }
        writeln!(self.out)?;
        let grid = match &explanation.fraction {
            Some(fractions) => fraction_grid(explanation, fractions),
            None => self.log_grid(explanation),
        };
        write!(self.out, "{}", grid.render())?;
        for contribution in &explanation.contributions {
            if let Some(tokens) = &contribution.tokens {
                self.tokens(explanation, &contribution.feature, tokens)?;
            }
        }
        if explanation.fraction.is_none() && !is_judged(explanation) {
            let (unit, name) = self.unit();
            writeln!(self.out, "\n  log P(x) = {} {name}", decimal(explanation.log_evidence / unit))?;
        }
        Ok(())
    }

    /// The tokens that speak most for the class that was chosen, or against it.
    fn tokens(
        &mut self,
        explanation: &Explanation,
        feature: &str,
        tokens: &TokenContributions,
    ) -> Result<()> {
        let evidence =
            |token: &TokenContribution| token.weight_of_evidence(explanation.best, &explanation.prior);
        let mut met: Vec<(f64, &TokenContribution)> =
            tokens.tokens.iter().filter_map(|token| Some((evidence(token)?, token))).collect();
        let unknown = tokens.tokens.len() - met.len();
        met.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then_with(|| a.1.token.cmp(&b.1.token)));
        let mut grid = Grid::new();
        let heading = format!("bits for {}", explanation.prediction);
        grid.row([feature.to_owned(), "times".to_owned(), heading]);
        if tokens.absent.iter().any(|&log| log != 0.0) {
            let absent = TokenContribution {
                token: String::new(),
                occurrences: 0,
                log_likelihood: Some(tokens.absent.clone()),
            };
            let bits = evidence(&absent).unwrap_or_default() / LN_2;
            grid.row(["(nothing there)".to_owned(), String::new(), format!("{bits:+.2}")]);
        }
        for (evidence, token) in met.iter().take(self.args.top) {
            let bits = format!("{:+.2}", evidence / LN_2);
            grid.row([token.token.clone(), token.occurrences.to_string(), bits]);
        }
        writeln!(self.out, "\n{}", grid.render().trim_end())?;
        let more = met.len().saturating_sub(self.args.top);
        if more > 0 {
            let rest: f64 = met.iter().skip(self.args.top).map(|(evidence, _)| evidence).sum();
            let more = plural(more as u64, "more token");
            writeln!(self.out, "  and {more}, together {:+.2}", rest / LN_2)?;
        }
        if unknown > 0 {
            writeln!(self.out, "  {} never met in training", plural(unknown as u64, "token"))?;
        }
        Ok(())
    }

    /// The document with its words in the colours of what they say: green for the class that was chosen, red against.
    fn coloured(&mut self, batch: &Batch, row: usize, explanation: &Explanation) -> Result<()> {
        for (i, column) in batch.columns.iter().enumerate() {
            let BatchColumn::Text(text) = column else { continue };
            let Some(document) = text.original(row).filter(|document| !document.is_empty()) else { continue };
            let name = &self.model.schema().columns[i].name;
            let tokens = explanation.contributions.iter().find(|contribution| contribution.feature == *name);
            let Some(tokens) = tokens.and_then(|contribution| contribution.tokens.as_ref()) else { continue };
            let evidence: HashMap<&str, f64> = tokens
                .tokens
                .iter()
                .filter_map(|token| {
                    let nats = token.weight_of_evidence(explanation.best, &explanation.prior)?;
                    Some((token.token.as_str(), nats / LN_2))
                })
                .collect();
            let settings = self.model.schema().columns[i].text.clone().unwrap_or_default();
            let mut tokenizer = Tokenizer::new(&settings.tokens)?;
            writeln!(self.out)?;
            for line in document.lines().take(MOST_LINES) {
                for word in line.split_inclusive(char::is_whitespace) {
                    let mut bits = 0.0;
                    tokenizer.tokens(word, |token| bits += evidence.get(token).copied().unwrap_or_default());
                    write!(self.out, "{}", tinted(word, bits))?;
                }
                writeln!(self.out)?;
            }
        }
        Ok(())
    }

    /// The contributions that are listed, and those that are not because they say too little. Columns that say something
    /// together do so only where all of them are known.
    fn listed<'e>(&self, explanation: &'e Explanation) -> (Vec<&'e Contribution>, Vec<&'e Contribution>) {
        let says = |contribution: &&Contribution| {
            contribution.of != ContributionOf::Together || contribution.value.is_some()
        };
        let all: Vec<&Contribution> = explanation.contributions.iter().filter(says).collect();
        if !is_judged(explanation) || all.len() <= self.args.top {
            return (all, Vec::new());
        }
        let range = |contribution: &Contribution| {
            let values = contribution.log_likelihood.iter().copied();
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        let mut ranges: Vec<f64> = all.iter().map(|contribution| range(contribution)).collect();
        ranges.sort_by(|a, b| b.total_cmp(a));
        let least = ranges[self.args.top.max(1) - 1];
        all.into_iter().partition(|contribution| range(contribution) >= least)
    }

    /// What one unit of information is in nats, and its name.
    fn unit(&self) -> (f64, &'static str) {
        if self.args.bits { (std::f64::consts::LN_2, "bits") } else { (1.0, "nats") }
    }

    /// Logarithms that add up from top to bottom; for two classes also their difference.
    fn log_grid(&self, explanation: &Explanation) -> Grid {
        let (unit, name) = self.unit();
        let two = explanation.classes.len() == 2;
        let mut grid = Grid::new();
        let odds = explanation.classes.last().map(|class| format!("log-odds of {class}"));
        let headings = explanation.classes.iter().cloned();
        grid.line(format!("in {name}"), headings.chain(odds.filter(|_| two)));
        let cells = |logs: &[f64]| {
            let odds = two.then(|| signed((logs[1] - logs[0]) / unit));
            logs.iter().map(|x| decimal(x / unit)).chain(odds).collect::<Vec<_>>()
        };
        grid.line("prior", cells(&explanation.log_prior));
        let (listed, folded) = self.listed(explanation);
        for contribution in listed {
            grid.line(named(contribution), cells(&contribution.log_likelihood));
        }
        if !folded.is_empty() {
            let sum =
                |class: usize| folded.iter().map(|contribution| contribution.log_likelihood[class]).sum();
            let sums: Vec<f64> = (0..explanation.classes.len()).map(sum).collect();
            grid.line(plural(folded.len() as u64, "other term"), cells(&sums));
        }
        // The terms of a judged model are not likelihoods.
        let total = if is_judged(explanation) { "sum" } else { "log-joint" };
        grid.line(total, cells(&explanation.log_joint));
        let probabilities = |values: &[f64]| values.iter().map(|p| format!("{p:.4}")).collect::<Vec<_>>();
        grid.line("posterior", probabilities(&explanation.posterior));
        for (name, ends) in [("low", &explanation.low), ("high", &explanation.high)] {
            if let Some(ends) = ends {
                grid.line(name, probabilities(ends));
            }
        }
        grid
    }
}

/// Fractions that multiply from top to bottom.
fn fraction_grid(explanation: &Explanation, fractions: &FractionExplanation) -> Grid {
    let mut grid = Grid::new();
    grid.line("", &*explanation.classes).line("prior", &*fractions.prior);
    for (contribution, cells) in explanation.contributions.iter().zip(&fractions.likelihood) {
        grid.line(named(contribution), &**cells);
    }
    grid.line("joint", &*fractions.joint);
    if let Some(posterior) = &fractions.posterior {
        grid.line("posterior", &**posterior);
    }
    grid.line("", explanation.posterior.iter().map(|p| format!("{p:.4}")));
    grid
}

/// Whether the model was judged, so that its terms are not likelihoods.
fn is_judged(explanation: &Explanation) -> bool {
    explanation.contributions.iter().any(|contribution| contribution.of != ContributionOf::Feature)
}

/// A feature and what it holds.
fn named(contribution: &Contribution) -> String {
    let Contribution { feature, of, value, unseen, .. } = contribution;
    match value {
        None if *of != ContributionOf::Feature => feature.clone(),
        None => format!("{feature} missing"),
        Some(value) if *unseen => format!("{feature} = {value} (never met)"),
        Some(value) => format!("{feature} = {value}"),
    }
}

fn decimal(x: f64) -> String {
    if x == f64::NEG_INFINITY { "-inf".into() } else { format!("{x:.4}") }
}

/// Log-odds; where both classes are impossible there are none.
fn signed(x: f64) -> String {
    if x.is_nan() { "-".into() } else { format!("{x:+.4}") }
}

//! `priory explain`: how single rows come to their prediction.

use std::collections::HashMap;
use std::f64::consts::LN_2;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, bail};
use priory::plot::{MOST_STEPS, Waterfall, svg};
use priory::report::{
    Contribution, ContributionOf, FractionExplainer, FractionExplanation, Fractions, TokenContribution,
    TokenContributions, TokenProbability,
};
use priory::{Batch, BatchColumn, Column, Explanation, Intervals, Learnt, Model, Outcome, Schema};
use priory_input::text::Tokenizer;
use priory_input::{Purpose, store};
use serde::Serialize;

use crate::args::{ExplainArgs, Format};
use crate::commands::plot::check_name;
use crate::data;
use crate::model_file;
use crate::output::{self, Grid, bold, note, plural, probability, report_out, shown, terminal_width, tinted};
use crate::overwrite::refuse_input_as_output;
use crate::terminal::{self, Screen};

/// Longer documents are shown in colours up to here.
const MOST_LINES: usize = 200;

pub(crate) fn run(args: &ExplainArgs) -> Result<()> {
    if args.bits && args.format == Format::Json {
        bail!("JSON has its logarithms in nats, of which 0.6931 are a bit: leave out --bits");
    }
    if let Some(path) = &args.output {
        check_name(path)?;
        let read = args.data.iter().map(Path::new).chain(args.settings.files()).chain([args.model.as_path()]);
        refuse_input_as_output(path, read)?;
    }
    let mut learnt = model_file::read_under(&args.model, |settings| args.settings.apply(settings))?;
    if args.fractions {
        model_file::without_judgement(&mut learnt, "fractions are those of the counts");
    } else if args.absent {
        model_file::without_judgement(&mut learnt, "factors of words are those of the counts");
    }
    model_file::warn_of_judgement(&learnt, &args.model);
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
    let are_asked_for = args.fractions || args.absent;
    let fractions = match Fractions::new(&learnt.statistics, model) {
        Ok(fractions) if are_asked_for || args.format == Format::Json => Some(fractions),
        Err(error) if are_asked_for => return Err(error.into()),
        _ => None,
    };
    let fractions = fractions.as_ref().map(Fractions::explainer).transpose()?;
    let colours = args.format == Format::Text && output::has_colours();
    let mut printer = Printer {
        args,
        model,
        fractions,
        intervals,
        rows: 0,
        colours,
        picture: None,
        out: report_out(args.format),
    };
    printer.start()?;
    match &args.data {
        Some(path) => {
            let purpose = if args.where_wrong { Purpose::Testing } else { Purpose::Scoring };
            let table = args.input.open(path)?;
            data::for_each_document(table, model.schema(), purpose, colours, |batch| {
                (0..batch.rows).try_for_each(|row| printer.wanted(batch, row))?;
                Ok(if printer.is_done(batch) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            printer.check_found(path)?;
        }
        None => {
            printer.row(&typed_row(model.schema(), args.set.iter().flat_map(|row| &row.0), colours)?, 0)?
        }
    }
    printer.finish()
}

/// A batch of one row from what was typed; columns that are not named are missing.
fn typed_row<'t>(
    schema: &Schema,
    set: impl Iterator<Item = &'t String>,
    keep_documents: bool,
) -> Result<Batch> {
    let set = set.map(|typed| typed_value(schema, typed)).collect::<Result<Vec<_>>>()?;
    let mut batch = Batch::new(schema);
    if keep_documents {
        data::keep_documents(&mut batch);
    }
    batch.rows = 1;
    batch.classes.push(None);
    for (column, cell) in schema.columns.iter().zip(&mut batch.columns) {
        let is_meant = |name: &str| name == column.name || name == column.source();
        let mut typed = set.iter().filter(|(name, _)| is_meant(name)).map(|&(_, value)| value);
        let value = typed.next().filter(|value| !schema.is_missing(value));
        if typed.next().is_some() {
            bail!("the column `{}` is set twice", column.name);
        }
        match cell {
            BatchColumn::Category(cell) => cell.push(value.map(|value| typed_category(column, value))),
            BatchColumn::Text(cell) => match value {
                None => cell.push_missing(),
                Some(document) => {
                    let settings = column.text.clone().unwrap_or_default();
                    Tokenizer::new(&settings.tokens)?.read(document, cell);
                }
            },
            BatchColumn::Number(cell) => cell.push(match value {
                None => f64::NAN,
                Some(value) => match typed_number(column, value) {
                    Some(number) => number,
                    None => bail!("`{value}` is not a number, which the column `{}` holds", column.name),
                },
            }),
        }
    }
    Ok(batch)
}

/// A number as the column writes it, or plainly.
fn typed_number(column: &Column, typed: &str) -> Option<f64> {
    let written = column.written.as_ref().and_then(|written| written.number(typed, &mut String::new()));
    written.or_else(|| typed.parse().ok().filter(|number: &f64| !number.is_infinite()))
}

/// A category as the column writes it, or by its name: a weekday, or a date of which it is the weekday.
fn typed_category<'t>(column: &'t Column, typed: &'t str) -> &'t str {
    column.written.as_ref().and_then(|written| written.category(typed)).unwrap_or(typed)
}

/// The column and the value of what was typed: whatever part of it before a `=` is the name of a column.
fn typed_value<'t>(schema: &Schema, typed: &'t str) -> Result<(&'t str, &'t str)> {
    let is_known =
        |name: &str| schema.columns.iter().any(|column| column.name == name || column.source() == name);
    let splits = typed.match_indices('=').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
    let mut meant = splits.clone().filter(|(name, _)| is_known(name));
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
    /// The picture of the row, if one is wanted.
    picture: Option<String>,
    out: W,
}

impl<W: Write> Printer<'_, '_, W> {
    fn start(&mut self) -> Result<()> {
        if self.args.format == Format::Json {
            write!(self.out, "{{\"rows\": [")?;
        }
        Ok(())
    }

    /// Explains a row if it is one of those that were asked for.
    fn wanted(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let args = self.args;
        let is_named = args.row.is_empty() || args.row.contains(&batch.row_number(row));
        if !is_named || args.rows.is_some_and(|rows| self.rows >= rows) {
            return Ok(());
        }
        self.row(batch, row)
    }

    /// Whether no more rows will be explained.
    fn is_done(&self, batch: &Batch) -> bool {
        let after = batch.first_row + batch.rows as u64;
        let last = self.args.row.iter().max();
        self.args.rows.is_some_and(|rows| self.rows >= rows) || last.is_some_and(|&last| last < after)
    }

    /// Says what was not found.
    fn check_found(&self, path: &str) -> Result<()> {
        if self.rows == 0 && self.args.where_wrong {
            note(&format!("{path}: every class that is there was predicted"));
        } else if self.rows == 0 && !self.args.row.is_empty() {
            let rows: Vec<String> = self.args.row.iter().map(u64::to_string).collect();
            bail!("{path} has no row {}", rows.join(", "));
        }
        Ok(())
    }

    fn row(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let mut explanation = self.model.explain(batch, row)?;
        let class = batch.classes.value(row).filter(|_| self.args.where_wrong);
        if self.args.where_wrong && class.is_none_or(|class| class == explanation.prediction) {
            return Ok(());
        }
        if let Some(fractions) = &self.fractions {
            explanation.add_fractions(fractions.explain(batch, row)?);
        }
        if let Some((intervals, level)) = self.intervals {
            intervals.add_to(&mut explanation, batch, row, level)?;
        }
        if let Some(path) = &self.args.output {
            if self.rows > 0 {
                bail!("{}: a picture is of one row; --row says which", path.display());
            }
            self.rows += 1;
            let waterfall = Waterfall::new(&explanation, &self.model.schema().target, MOST_STEPS);
            self.picture = Some(svg::waterfall(&waterfall, svg::WIDTH).file());
            return Ok(());
        }
        match self.args.format {
            Format::Json => {
                let separator = if self.rows == 0 { "\n" } else { ",\n" };
                write!(self.out, "{separator}")?;
                let row = self.args.data.is_some().then(|| batch.row_number(row));
                serde_json::to_writer_pretty(
                    &mut self.out,
                    &ExplainedRow { row, class, explanation: &explanation },
                )?;
            }
            Format::Text => {
                if self.rows > 0 {
                    writeln!(self.out)?;
                }
                if self.args.data.is_some() {
                    write!(self.out, "row {}: ", batch.row_number(row))?;
                }
                self.text(&explanation, class)?;
                if self.args.waterfall {
                    let screen = Screen { width: terminal_width(), colours: self.colours };
                    let waterfall = Waterfall::new(&explanation, &self.model.schema().target, MOST_STEPS);
                    write!(self.out, "\n{}", terminal::waterfall::draw(&waterfall, screen))?;
                }
                if self.colours {
                    self.coloured(batch, row, &explanation)?;
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if let (Some(path), Some(picture)) = (&self.args.output, &self.picture) {
            store::replace_file(path, picture.as_bytes())?;
            note(&format!("1 row: {}", path.display()));
        }
        if self.args.format == Format::Json {
            writeln!(self.out, "\n]}}")?;
        }
        self.out.flush()?;
        Ok(())
    }

    fn text(&mut self, explanation: &Explanation, class: Option<&str>) -> Result<()> {
        let answer = bold(&format!("{} = {}", self.model.schema().target, explanation.prediction));
        let p = explanation.posterior[explanation.answer.unwrap_or(explanation.best)];
        let of = match explanation.answer {
            Some(_) => String::new(),
            None => format!("({})", explanation.classes[explanation.best]),
        };
        let class = class.map_or(String::new(), |class| format!("; it is {}", shown(class)));
        writeln!(self.out, "{answer}, P{of} = {}{class}", probability(p))?;
        match explanation.outcome {
            Outcome::Evidence => {}
            Outcome::NoEvidence => writeln!(self.out, "  no feature is known: this is the prior")?,
            Outcome::Impossible => writeln!(self.out, "  impossible in every class: this is the prior")?,
        }
        writeln!(self.out)?;
        let grid = match &explanation.fraction {
            Some(fractions) if self.args.fractions => fraction_grid(explanation, fractions),
            _ => self.log_grid(explanation),
        };
        write!(self.out, "{}", grid.render())?;
        for contribution in &explanation.contributions {
            if let Some(tokens) = &contribution.tokens {
                match self.args.fractions && !tokens.probabilities.is_empty() {
                    true => self.token_fractions(explanation, &contribution.feature, tokens)?,
                    false => self.tokens(explanation, &contribution.feature, tokens)?,
                }
            }
        }
        if !self.args.fractions && !is_judged(explanation) {
            let (unit, name) = self.unit();
            writeln!(self.out, "\n  log P(x) = {} {name}", decimal(explanation.log_evidence / unit))?;
        }
        Ok(())
    }

    /// The tokens that say most, in the unit of everything else: between two classes as log-odds of the second, as above, and
    /// between several for the class that was chosen.
    fn tokens(
        &mut self,
        explanation: &Explanation,
        feature: &str,
        tokens: &TokenContributions,
    ) -> Result<()> {
        let (unit, name) = self.unit();
        let two = explanation.classes.len() == 2;
        let evidence = |logs: &[f64]| match two {
            true => logs[1] - logs[0],
            false => priory::report::weight_of_evidence(logs, explanation.best, &explanation.prior),
        };
        let heading = match explanation.classes.last() {
            Some(last) if two => format!("log-odds of {last}"),
            _ => format!("{name} for {}", explanation.prediction),
        };
        let known = |token: &'_ TokenContribution| token.log_likelihood.as_ref().map(|logs| evidence(logs));
        let mut met: Vec<(f64, &TokenContribution)> =
            tokens.tokens.iter().filter_map(|token| Some((known(token)?, token))).collect();
        let unknown =
            tokens.tokens.iter().filter(|token| token.unseen || token.log_likelihood.is_none()).count();
        met.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then_with(|| a.1.token.cmp(&b.1.token)));
        let mut grid = Grid::new();
        grid.row([feature.to_owned(), "times".to_owned(), heading]);
        let cell = |nats: f64| signed(nats / unit);
        let beside = [("(nothing there)", Some(&tokens.absent)), ("(its length)", tokens.length.as_ref())];
        for (name, logs) in beside {
            if let Some(logs) = logs.filter(|logs| logs.iter().any(|&log| log != 0.0)) {
                grid.row([name.to_owned(), String::new(), cell(evidence(logs))]);
            }
        }
        for (evidence, token) in met.iter().take(self.args.top) {
            grid.row([token.token.clone(), token.occurrences.to_string(), cell(*evidence)]);
        }
        writeln!(self.out, "\n{}", grid.render().trim_end())?;
        let more = met.len().saturating_sub(self.args.top);
        if more > 0 {
            let rest: f64 = met.iter().skip(self.args.top).map(|(evidence, _)| evidence).sum();
            let more = plural(more as u64, "more token");
            writeln!(self.out, "  and {more}, together {}", cell(rest))?;
        }
        if unknown > 0 {
            writeln!(self.out, "  {} never met in training", plural(unknown as u64, "token"))?;
        }
        if self.args.absent {
            self.absent_tokens(explanation, feature, tokens)?;
        }
        Ok(())
    }

    /// What each token says by not being there.
    fn absent_tokens(
        &mut self,
        explanation: &Explanation,
        feature: &str,
        tokens: &TokenContributions,
    ) -> Result<()> {
        let (unit, name) = self.unit();
        let absent: Vec<_> = tokens.probabilities.iter().filter(|token| !token.present).collect();
        if absent.is_empty() {
            writeln!(self.out, "\n  words that are not there say nothing, or are too many to list")?;
            return Ok(());
        }
        let mut grid = Grid::new();
        let two = explanation.classes.len() == 2;
        let odds = explanation.classes.last().filter(|_| two).map(|class| format!("log-odds of {class}"));
        grid.line(format!("{feature} without, in {name}"), explanation.classes.iter().cloned().chain(odds));
        for token in absent {
            let logs: Vec<f64> = token.probability.iter().map(|p| p.ln()).collect();
            let odds = two.then(|| signed((logs[1] - logs[0]) / unit));
            grid.line(&token.token, logs.iter().map(|log| decimal(log / unit)).chain(odds));
        }
        writeln!(self.out, "\n{}", grid.render().trim_end())?;
        Ok(())
    }

    /// P(token | class) as fractions: the factors of a document.
    fn token_fractions(
        &mut self,
        explanation: &Explanation,
        feature: &str,
        tokens: &TokenContributions,
    ) -> Result<()> {
        let is_listed = |token: &&TokenProbability| token.present || self.args.absent;
        let mut grid = Grid::new();
        grid.line(feature, explanation.classes.iter().map(|class| format!("P(x | {class})")));
        for token in tokens.probabilities.iter().filter(is_listed) {
            let name = if token.present { token.token.clone() } else { format!("no {}", token.token) };
            match &token.fraction {
                Some(fractions) => grid.line(name, fractions.iter().cloned()),
                None => grid.line(name, token.probability.iter().map(|p| format!("{p:.4}"))),
            };
        }
        writeln!(self.out, "\n{}", grid.render().trim_end())?;
        let left_out = tokens.probabilities.iter().filter(|token| !is_listed(token)).count();
        if left_out > 0 {
            let words = plural(left_out as u64, "word");
            writeln!(self.out, "  and {words} that are not there: --absent lists them")?;
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
        let probabilities = |values: &[f64]| values.iter().map(|&p| probability(p)).collect::<Vec<_>>();
        grid.line("posterior", probabilities(&explanation.posterior));
        for (name, ends) in [("low", &explanation.low), ("high", &explanation.high)] {
            if let Some(ends) = ends {
                grid.line(name, probabilities(ends));
            }
        }
        grid
    }
}

/// An explanation, and which row of the table it is of.
#[derive(Serialize)]
struct ExplainedRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    /// What the row should have been predicted as, where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(flatten)]
    explanation: &'a Explanation,
}

/// Fractions that multiply from top to bottom.
fn fraction_grid(explanation: &Explanation, fractions: &FractionExplanation) -> Grid {
    let mut grid = Grid::new();
    grid.line("", &*explanation.classes).line("prior", &*fractions.prior);
    for (contribution, cells) in explanation.contributions.iter().zip(&fractions.likelihood) {
        match cells {
            Some(cells) => grid.line(named(contribution), &**cells),
            None => {
                grid.line(named(contribution), contribution.log_likelihood.iter().map(|&ln| from_log(ln)))
            }
        };
    }
    match &fractions.joint {
        Some(joint) => grid.line("joint", &**joint),
        None => grid.line("joint", explanation.log_joint.iter().map(|&ln| from_log(ln))),
    };
    if let Some(posterior) = &fractions.posterior {
        grid.line("posterior", &**posterior);
    }
    grid.line("", explanation.posterior.iter().map(|&p| probability(p)));
    grid
}

/// A number by its logarithm, to four digits, however small it is.
fn from_log(ln: f64) -> String {
    match ln.exp() {
        x if x == 0.0 && ln > f64::NEG_INFINITY => {
            let exponent = (ln / std::f64::consts::LN_10).floor();
            format!("{:.3}e{exponent:.0}", (ln - exponent * std::f64::consts::LN_10).exp())
        }
        x if x == 0.0 || (1e-3..1e6).contains(&x) => format!("{x:.4}"),
        x => format!("{x:.3e}"),
    }
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
    match format!("{x:.4}") {
        _ if x == f64::NEG_INFINITY => "-inf".into(),
        nothing if nothing == "-0.0000" => "0.0000".into(),
        digits => digits,
    }
}

/// Log-odds; where both classes are impossible there are none.
fn signed(x: f64) -> String {
    match format!("{x:+.4}") {
        _ if x.is_nan() => "-".into(),
        nothing if nothing == "-0.0000" => "+0.0000".into(),
        digits => digits,
    }
}

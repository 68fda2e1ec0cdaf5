//! `priory explain`: how single rows come to their prediction.

use std::io::Write;

use anyhow::{Result, bail};
use priory::{
    Batch, BatchColumn, Explanation, FractionExplainer, FractionExplanation, Fractions, Model, Outcome,
    Schema,
};
use priory_input::Purpose;
use priory_input::text::Tokenizer;

use crate::args::{ExplainArgs, Format};
use crate::data;
use crate::model_file;
use crate::output::{Grid, bold, report_out};

pub(crate) fn run(args: &ExplainArgs) -> Result<()> {
    let (statistics, mut settings) = model_file::read(&args.model)?;
    args.settings.apply(&mut settings)?;
    let model = statistics.estimate(&settings)?;
    // JSON always has the fractions where there are any; text only if they were asked for.
    let fractions = match Fractions::new(&statistics, &settings) {
        Ok(fractions) if args.fractions || args.format == Format::Json => Some(fractions),
        Err(error) if args.fractions => return Err(error.into()),
        _ => None,
    };
    let fractions = fractions.as_ref().map(Fractions::explainer).transpose()?;
    let mut printer = Printer { args, model: &model, fractions, rows: 0, out: report_out(args.format) };
    printer.start()?;
    match &args.data {
        Some(path) => {
            data::for_each_batch(args.input.open(path)?, model.schema(), Purpose::Scoring, |batch| {
                (0..batch.rows).try_for_each(|row| printer.row(batch, row))
            })?
        }
        None => printer.row(&typed_row(model.schema(), &args.set)?, 0)?,
    }
    printer.finish()
}

/// A batch of one row from what was typed; columns that are not named are missing.
fn typed_row(schema: &Schema, set: &[(String, String)]) -> Result<Batch> {
    let mut batch = Batch::new(schema);
    batch.rows = 1;
    batch.classes.push(None);
    if let Some((unknown, _)) = set.iter().find(|(name, _)| schema.position(name).is_none()) {
        let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
        bail!("the model has no feature `{unknown}`; it has {}", names.join(", "));
    }
    for (column, cell) in schema.columns.iter().zip(&mut batch.columns) {
        let mut typed = set.iter().filter(|(name, _)| *name == column.name).map(|(_, value)| value.as_str());
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

struct Printer<'a, W> {
    args: &'a ExplainArgs,
    model: &'a Model,
    fractions: Option<FractionExplainer<'a>>,
    rows: u64,
    out: W,
}

impl<W: Write> Printer<'_, W> {
    fn start(&mut self) -> Result<()> {
        if self.args.format == Format::Json {
            write!(self.out, "{{\"rows\": [")?;
        }
        Ok(())
    }

    fn row(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let explanation = self.model.explain(batch, row)?;
        let fractions = self.fractions.as_ref().map(|fractions| fractions.explain(batch, row));
        match self.args.format {
            Format::Json => {
                let separator = if self.rows == 0 { "\n" } else { ",\n" };
                write!(self.out, "{separator}{:#}", explanation.to_json(fractions.as_ref()))?;
            }
            Format::Text => {
                if self.rows > 0 {
                    writeln!(self.out)?;
                }
                if self.args.data.is_some() {
                    write!(self.out, "row {}: ", batch.row_number(row))?;
                }
                self.text(&explanation, fractions.as_ref())?;
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

    fn text(&mut self, explanation: &Explanation, fractions: Option<&FractionExplanation>) -> Result<()> {
        let best = &explanation.classes[explanation.best];
        let p = explanation.posterior[explanation.best];
        writeln!(self.out, "{}, P = {p:.4}", bold(&format!("{} = {best}", self.model.schema().target)))?;
        match explanation.outcome {
            Outcome::Evidence => {}
            Outcome::NoEvidence => writeln!(self.out, "  no feature is known: this is the prior")?,
            Outcome::Impossible => writeln!(self.out, "  impossible in every class: this is the prior")?,
        }
        writeln!(self.out)?;
        let grid = match fractions {
            Some(fractions) => fraction_grid(explanation, fractions),
            None => self.log_grid(explanation),
        };
        write!(self.out, "{}", { grid }.render())?;
        if fractions.is_none() {
            let (unit, name) = self.unit();
            writeln!(self.out, "\n  log P(x) = {} {name}", decimal(explanation.log_evidence / unit))?;
        }
        Ok(())
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
        grid.row(std::iter::once(format!("in {name}")).chain(headings).chain(odds.filter(|_| two)));
        let mut line = |name: String, logs: &[f64]| {
            let cells = logs.iter().map(|x| decimal(x / unit));
            let odds = two.then(|| signed((logs[1] - logs[0]) / unit));
            grid.row(std::iter::once(name).chain(cells).chain(odds));
        };
        line("prior".into(), &explanation.log_prior);
        for contribution in &explanation.contributions {
            let value = contribution.value.as_deref();
            line(feature(&contribution.feature, value, contribution.unseen), &contribution.log_likelihood);
        }
        line("log-joint".into(), &explanation.log_joint);
        let posterior = explanation.posterior.iter().map(|p| format!("{p:.4}"));
        grid.row(std::iter::once("posterior".to_owned()).chain(posterior));
        grid
    }
}

/// Fractions that multiply from top to bottom.
fn fraction_grid(explanation: &Explanation, fractions: &FractionExplanation) -> Grid {
    let mut grid = Grid::new();
    grid.row(std::iter::once(String::new()).chain(explanation.classes.iter().cloned()));
    let mut line = |name: String, cells: &[String]| {
        grid.row(std::iter::once(name).chain(cells.iter().cloned()));
    };
    line("prior".into(), &fractions.prior);
    for (contribution, cells) in explanation.contributions.iter().zip(&fractions.likelihood) {
        line(feature(&contribution.feature, contribution.value.as_deref(), contribution.unseen), cells);
    }
    line("joint".into(), &fractions.joint);
    if let Some(posterior) = &fractions.posterior {
        line("posterior".into(), posterior);
    }
    let decimals = explanation.posterior.iter().map(|p| format!("{p:.4}"));
    grid.row(std::iter::once(String::new()).chain(decimals));
    grid
}

fn feature(name: &str, value: Option<&str>, unseen: bool) -> String {
    match value {
        None => format!("{name} missing"),
        Some(value) if unseen => format!("{name} = {value} (never met)"),
        Some(value) => format!("{name} = {value}"),
    }
}

fn decimal(x: f64) -> String {
    if x == f64::NEG_INFINITY { "-inf".into() } else { format!("{x:.4}") }
}

/// Log-odds; where both classes are impossible there are none.
fn signed(x: f64) -> String {
    if x.is_nan() { "-".into() } else { format!("{x:+.4}") }
}

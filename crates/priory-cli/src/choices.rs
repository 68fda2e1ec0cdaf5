//! The words on the command line, and what they mean.

use std::path::{Path, PathBuf};

use anyhow::bail;
use priory::Settings;
use priory::decide::{Cost, Decision, DecisionChoices};
use priory::judgement::Judging;
use priory::settings::{Choices, MissingValues, NumberFamily, Prior, Smoothing, TextFamily};
use priory::words::{self, Meaning};
pub(crate) use priory::words::{
    amount as parse_amount, decimal as parse_decimal, discriminant as parse_discriminant,
    floor as parse_floor, select as parse_select, threshold as parse_threshold,
};
use priory_input::{BadValues, Encoding, InputFormat, ReadOptions, Table, read_costs, read_pseudocounts};

use crate::args::{
    BadValueChoice, DecisionArgs, EncodingChoice, InputArgs, JudgeArgs, MissingChoice, SettingsArgs,
    SmoothingChoice, UpdateArgs,
};
use crate::glob;
use crate::overwrite::refuse_input_as_output;

/// `COLUMN=KIND`, as `--as` takes it.
#[derive(Debug, Clone)]
pub(crate) struct AsChoice {
    pub(crate) column: String,
    pub(crate) meaning: Meaning,
}

/// A smoothing, for one column or for all.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSmoothing {
    pub(crate) column: Option<String>,
    pub(crate) choice: SmoothingChoice,
}

pub(crate) fn parse_as(text: &str) -> Result<AsChoice, String> {
    let (column, word) = text.rsplit_once('=').ok_or("expected COLUMN=KIND")?;
    let meaning = words::meaning(word)?;
    Ok(AsChoice { column: column.to_owned(), meaning })
}

pub(crate) fn parse_numbers_or_auto(text: &str) -> Result<NumbersChoice, String> {
    words::numbers_or_auto(text).map(NumbersChoice)
}

/// The family of all columns of numbers; none, if each is to have its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumbersChoice(pub(crate) Option<NumberFamily>);

pub(crate) fn parse_smoothing(text: &str) -> Result<ColumnSmoothing, String> {
    if let Ok(choice) = parse_smoothing_word(text) {
        return Ok(ColumnSmoothing { column: None, choice });
    }
    match text.split_once('=') {
        Some((column, word)) => {
            Ok(ColumnSmoothing { column: Some(column.to_owned()), choice: parse_smoothing_word(word)? })
        }
        None => Err(parse_smoothing_word(text).expect_err("tried above")),
    }
}

fn parse_smoothing_word(text: &str) -> Result<SmoothingChoice, String> {
    match text.split_once(':') {
        Some(("dirichlet", path)) => Ok(SmoothingChoice::DirichletFile(PathBuf::from(path))),
        _ => words::smoothing(text).map(SmoothingChoice::Ready),
    }
}

/// Some columns and their values: `COLUMN=VALUE`, several of them separated by commas.
#[derive(Debug, Clone)]
pub(crate) struct TypedRow(pub(crate) Vec<String>);

/// Names and values may hold `=` themselves; where the one ends, only a model can tell. A value in quotes may hold commas, and two
/// quotes in it mean one.
pub(crate) fn parse_set(text: &str) -> Result<TypedRow, String> {
    let mut typed = vec![String::new()];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let now = typed.last_mut().expect("there is one");
        match character {
            ',' if !quoted => typed.push(String::new()),
            '"' if quoted && characters.next_if_eq(&'"').is_some() => now.push('"'),
            '"' if quoted => quoted = false,
            '"' if now.ends_with('=') => quoted = true,
            _ => now.push(character),
        }
    }
    if quoted {
        return Err("the quote is not closed".to_owned());
    }
    match typed.iter().all(|typed| typed.contains('=')) {
        true => Ok(TypedRow(typed)),
        false => Err("expected COLUMN=VALUE; a value with a comma in it stands in quotes".to_owned()),
    }
}

/// The probability of an interval.
pub(crate) fn parse_level(text: &str) -> Result<f64, String> {
    let level = text.parse().map_err(|_| "it is not a number".to_owned())?;
    priory::check_level(level).map_err(|error| error.to_string())?;
    Ok(level)
}

pub(crate) fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err(format!("`{text}` is not a single ASCII character")),
    }
}

/// How many spams let through are as bad as one wanted mail lost.
pub(crate) fn parse_ham_loss(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1.0..=1e9).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 1 to 1e9"))
}

impl InputArgs {
    /// Opens a table as these flags say.
    pub(crate) fn open(&self, path: &str) -> anyhow::Result<Table> {
        Ok(Table::open(path, &self.options())?)
    }

    pub(crate) fn options(&self) -> ReadOptions {
        let bad_values = match self.on_bad_value {
            Some(BadValueChoice::Missing) => BadValues::Missing,
            Some(BadValueChoice::Error) | None => BadValues::Refused,
        };
        let encoding = match self.encoding {
            Some(EncodingChoice::Latin1) => Encoding::Latin1,
            Some(EncodingChoice::Utf8) | None => Encoding::Utf8,
        };
        let input_format = match () {
            () if self.documents => Some(InputFormat::Documents),
            () if self.mail => Some(InputFormat::Mail),
            () => self.input_format,
        };
        ReadOptions {
            input_format,
            delimiter: self.delimiter,
            comment: self.comment,
            header: !self.no_header,
            encoding,
            columns: self.columns,
            bad_values,
            sheet: self.sheet.clone(),
            patience: None,
        }
    }
}

/// A way to open a table.
type OpenTable<'a> = Box<dyn Fn() -> priory_input::Result<Table> + 'a>;

impl UpdateArgs {
    /// Refuses an output that is one of the files that are read.
    pub(crate) fn refuse_overwriting(&self) -> anyhow::Result<()> {
        let Some(output) = &self.output else { return Ok(()) };
        let tables = glob::expand(&self.data)?;
        let read = tables.iter().chain(&self.document).map(Path::new).chain([self.model.as_path()]);
        refuse_input_as_output(output, read)
    }

    /// Ways to open the tables of rows to learn or to forget, each perhaps more than once.
    pub(crate) fn tables(&self) -> anyhow::Result<Vec<OpenTable<'_>>> {
        let options = self.input.options();
        if self.class.is_some() && self.document.is_empty() {
            bail!(
                "--class is the class of single documents, which --document names; a table has its classes in a column"
            );
        }
        if !self.document.is_empty() {
            let class = self.class.as_deref();
            return Ok(vec![Box::new(move || Table::of_documents(&self.document, class, &options))]);
        }
        let open = |path: String| -> OpenTable<'_> {
            let options = options.clone();
            Box::new(move || Table::open(&path, &options))
        };
        Ok(glob::expand(&self.data)?.into_iter().map(open).collect())
    }
}

/// Where P(class) comes from.
#[derive(Debug, Clone)]
pub(crate) enum PriorChoice {
    Known(Prior),
    /// The rows that are to be predicted.
    Estimate,
}

pub(crate) fn parse_prior(text: &str) -> Result<PriorChoice, String> {
    match text {
        "estimate" => Ok(PriorChoice::Estimate),
        _ => words::prior(text).map(PriorChoice::Known),
    }
}

/// What mistakes cost, before files are read.
#[derive(Debug, Clone)]
pub(crate) enum CostChoice {
    Ready(Vec<Cost>),
    File(PathBuf),
}

/// Costs have an equals sign; files should not.
pub(crate) fn parse_cost(text: &str) -> Result<CostChoice, String> {
    match text.contains('=') {
        true => words::costs(text).map(CostChoice::Ready),
        false => Ok(CostChoice::File(PathBuf::from(text))),
    }
}

pub(crate) fn parse_probability(text: &str) -> Result<f64, String> {
    let p = text.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    p.ok_or_else(|| format!("`{text}` is not a probability between 0 and 1"))
}

/// A row of a table, counted from 1.
pub(crate) fn parse_row(text: &str) -> Result<u64, String> {
    let row = text.parse().ok().filter(|row| *row > 0);
    row.ok_or_else(|| format!("`{text}` is not the number of a row; the first is 1"))
}

pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=1024).contains(threads));
    threads.ok_or_else(|| format!("`{text}` is not a number from 1 to 1024"))
}

pub(crate) fn parse_half_life(text: &str) -> Result<u64, String> {
    let rows = text.parse().ok().filter(|rows| *rows > 0);
    rows.ok_or_else(|| format!("`{text}` is not a number of rows, 1 or more"))
}

pub(crate) fn parse_bins(text: &str) -> Result<usize, String> {
    priory::words::bins(text)
}

/// A share of which something is left on both sides.
pub(crate) fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|x| *x > 0.0 && *x < 1.0);
    part.ok_or_else(|| format!("`{text}` is not a number above 0 and below 1"))
}

/// A model of text, or `None` for the one that the rule gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextChoice(pub(crate) Option<TextFamily>);

pub(crate) fn parse_text_model(text: &str) -> Result<TextChoice, String> {
    words::text_model(text).map(TextChoice)
}

pub(crate) fn parse_exponent(text: &str) -> Result<(String, f64), String> {
    let (column, power) = text.rsplit_once('=').ok_or("expected COLUMN=POWER")?;
    Ok((column.to_owned(), parse_amount(power)?))
}

impl DecisionArgs {
    /// The decision with what was typed put over it.
    pub(crate) fn apply(&self, decision: &mut Decision) -> anyhow::Result<()> {
        Ok(self.choices()?.apply(decision)?)
    }

    pub(crate) fn choices(&self) -> anyhow::Result<DecisionChoices> {
        let cost = match &self.cost {
            None => None,
            Some(CostChoice::Ready(costs)) => Some(costs.clone()),
            Some(CostChoice::File(path)) => {
                Some(read_costs(Table::open(&path.to_string_lossy(), &ReadOptions::default())?)?)
            }
        };
        Ok(DecisionChoices {
            positive: self.positive.clone(),
            cost,
            threshold: self.threshold.clone(),
            unsure: self.unsure,
            most_probable: self.most_probable,
        })
    }
}

impl JudgeArgs {
    /// How far to judge.
    pub(crate) fn judging(&self) -> Judging {
        self.judge.unwrap_or(Judging::Auto)
    }
}

impl SettingsArgs {
    /// Whether the prior is to be found in the rows that are predicted.
    pub(crate) fn estimates_prior(&self) -> bool {
        matches!(self.prior, Some(PriorChoice::Estimate))
    }

    /// The settings with what was typed put over them.
    pub(crate) fn apply(&self, settings: &mut Settings) -> anyhow::Result<()> {
        if self.estimates_prior() {
            bail!(
                "--prior estimate finds the shares of the classes in rows that a model is to predict: it is for `predict`, and for `evaluate` with a model"
            );
        }
        self.apply_all_but_estimate(settings)
    }

    /// The same, for those who find the prior that is to be estimated.
    pub(crate) fn apply_all_but_estimate(&self, settings: &mut Settings) -> anyhow::Result<()> {
        let smoothing = self.smoothing.iter().map(|ColumnSmoothing { column, choice }| {
            let smoothing = choice.read()?;
            anyhow::Ok((column.clone(), smoothing))
        });
        let choices = Choices {
            smoothing: smoothing.collect::<anyhow::Result<_>>()?,
            text: self.text.map(|TextChoice(model)| model),
            min_documents: self.min_documents,
            most_tokens: self.most_tokens,
            exponent: self.exponent.clone(),
            prior: match &self.prior {
                Some(PriorChoice::Known(prior)) => Some(prior.clone()),
                Some(PriorChoice::Estimate) | None => None,
            },
            missing_values: self.missing_values.map(|choice| match choice {
                MissingChoice::Skipped => MissingValues::Skipped,
                MissingChoice::Counted => MissingValues::Counted,
            }),
            numbers: self.numbers.map(|NumbersChoice(family)| family),
            variance_floor: self.variance_floor,
            discriminant: self.discriminant,
            select: self.select,
        };
        Ok(choices.apply(settings)?)
    }
}

impl SmoothingChoice {
    fn read(&self) -> anyhow::Result<Smoothing> {
        Ok(match self {
            SmoothingChoice::Ready(smoothing) => smoothing.clone(),
            SmoothingChoice::DirichletFile(path) => {
                let table = Table::open(&path.to_string_lossy(), &ReadOptions::default())?;
                Smoothing::Dirichlet(read_pseudocounts(table)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::parse_set;

    #[test]
    fn values_in_quotes_may_hold_commas() {
        let typed = |text: &str| parse_set(text).map(|row| row.0);
        assert_eq!(typed("a=1,b=2"), Ok(vec!["a=1".into(), "b=2".into()]));
        let named = typed("name=\"Braund, Mr. \"\"Owen\"\"\",age=22");
        assert_eq!(named, Ok(vec!["name=Braund, Mr. \"Owen\"".into(), "age=22".into()]));
        assert_eq!(typed("text=5\" pipe,b="), Ok(vec!["text=5\" pipe".into(), "b=".into()]));
        assert_eq!(typed("x=a=b"), Ok(vec!["x=a=b".into()]));
        assert!(typed("a=1,b").is_err() && typed("a=\"1,b=2").is_err() && typed("").is_err());
    }
}

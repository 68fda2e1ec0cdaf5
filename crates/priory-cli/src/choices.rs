//! The words on the command line, and what they mean.

use std::path::PathBuf;

use priory::Settings;
use priory::settings::{Choices, MissingValues, NumberFamily, Smoothing, TextFamily};
use priory::words::{self, Meaning};
pub(crate) use priory::words::{
    amount as parse_amount, discriminant as parse_discriminant, floor as parse_floor, prior as parse_prior,
    select as parse_select,
};
use priory_input::{BadValues, Encoding, InputFormat, ReadOptions, Table, read_pseudocounts};

use crate::args::{BadValueChoice, EncodingChoice, InputArgs, MissingChoice, SettingsArgs, SmoothingChoice};

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

/// `COLUMN=VALUE`. Names and values may hold `=` themselves; where the one ends, only a model can tell.
pub(crate) fn parse_set(text: &str) -> Result<String, String> {
    if text.contains('=') { Ok(text.to_owned()) } else { Err("expected COLUMN=VALUE".to_owned()) }
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
        let input_format = if self.documents { Some(InputFormat::Documents) } else { self.input_format };
        ReadOptions {
            input_format,
            delimiter: self.delimiter,
            comment: self.comment,
            header: !self.no_header,
            encoding,
            columns: self.columns,
            bad_values,
        }
    }
}

pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=1024).contains(threads));
    threads.ok_or_else(|| format!("`{text}` is not a number from 1 to 1024"))
}

pub(crate) fn parse_half_life(text: &str) -> Result<u64, String> {
    let rows = text.parse().ok().filter(|rows| *rows > 0);
    rows.ok_or_else(|| format!("`{text}` is not a number of rows, 1 or more"))
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

impl SettingsArgs {
    /// The settings with what was typed put over them.
    pub(crate) fn apply(&self, settings: &mut Settings) -> anyhow::Result<()> {
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
            prior: self.prior.clone(),
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

//! The words on the command line, and what they mean.

use std::path::{Path, PathBuf};

use anyhow::bail;
use priory::words::{self, Meaning};
pub(crate) use priory::words::{
    amount as parse_amount, discriminant as parse_discriminant, floor as parse_floor, prior as parse_prior,
    select as parse_select,
};
use priory::{Column, Family, Kind, MissingValues, Pseudocounts, Schema, Settings, Smoothing};
use priory_input::{BadValues, Encoding, InputFormat, Purpose, ReadOptions, Table};

use crate::args::{
    BadValueChoice, EncodingChoice, InputArgs, InputFormatChoice, MissingChoice, SettingsArgs,
    SmoothingChoice,
};
use crate::data;

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
pub(crate) struct NumbersChoice(pub(crate) Option<Family>);

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

pub(crate) fn parse_set(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE")?;
    Ok((column.to_owned(), value.to_owned()))
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
        let input_format = self.input_format.map(|choice| match choice {
            InputFormatChoice::Csv => InputFormat::Delimited,
            InputFormatChoice::Jsonl => InputFormat::JsonLines,
            InputFormatChoice::Svmlight => InputFormat::Svmlight,
            InputFormatChoice::Parquet => InputFormat::Parquet,
            InputFormatChoice::Arrow => InputFormat::Arrow,
            InputFormatChoice::Documents => InputFormat::Documents,
            InputFormatChoice::Lines => InputFormat::Lines,
            InputFormatChoice::Fasttext => InputFormat::FastText,
            InputFormatChoice::Vw => InputFormat::VowpalWabbit,
        });
        let input_format = if self.documents { Some(InputFormat::Documents) } else { input_format };
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
pub(crate) struct TextChoice(pub(crate) Option<Family>);

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
        for ColumnSmoothing { column, choice } in &self.smoothing {
            let smoothing = choice.read()?;
            match column {
                None => {
                    // What text does not have is for the others, and what the others do not have is for text.
                    if !matches!(smoothing, Smoothing::Dirichlet(_)) {
                        settings.text.smoothing = smoothing.clone();
                    }
                    if !smoothing.is_for_text_only() {
                        settings.smoothing = smoothing;
                    }
                }
                Some(column) => {
                    settings.column_smoothing.insert(column.clone(), smoothing);
                }
            }
        }
        if let Some(TextChoice(model)) = self.text {
            settings.text.model = model;
        }
        settings.text.min_documents = self.min_documents.unwrap_or(settings.text.min_documents);
        settings.text.most_tokens = self.most_tokens.or(settings.text.most_tokens);
        settings.exponents.extend(self.exponent.iter().cloned());
        if let Some(prior) = &self.prior {
            settings.prior = prior.clone();
        }
        match self.missing_values {
            Some(MissingChoice::Skipped) => settings.missing = MissingValues::Skipped,
            Some(MissingChoice::Counted) => settings.missing = MissingValues::Counted,
            None => {}
        }
        if let Some(NumbersChoice(family)) = self.numbers {
            settings.numbers = family;
        }
        if let Some(floor) = self.variance_floor {
            settings.variance_floor = floor;
        }
        if self.discriminant.is_some() {
            settings.discriminant = self.discriminant;
        }
        if let Some(select) = self.select {
            settings.select = select;
        }
        settings.check()?;
        Ok(())
    }
}

impl SmoothingChoice {
    fn read(&self) -> anyhow::Result<Smoothing> {
        Ok(match self {
            SmoothingChoice::Ready(smoothing) => smoothing.clone(),
            SmoothingChoice::DirichletFile(path) => Smoothing::Dirichlet(read_pseudocounts(path)?),
        })
    }
}

/// Pseudocounts from a CSV with the columns `column`, `value` and either `beta` or `pseudocount`.
fn read_pseudocounts(path: &Path) -> anyhow::Result<Pseudocounts> {
    let table = Table::open(&path.to_string_lossy(), &ReadOptions::default())?;
    let has = |name: &str| table.header().iter().any(|column| column == name);
    let (amount, less) = match (has("beta"), has("pseudocount")) {
        (true, false) => ("beta", 1.0),
        (false, true) => ("pseudocount", 0.0),
        _ => bail!("{}: expected the columns column, value and either beta or pseudocount", path.display()),
    };
    table.column("key", "column")?;
    table.column("key", "value")?;
    let columns = ["column", "value", amount].map(|name| Column::new(name, Kind::Category)).to_vec();
    // Nothing is missing here: `?` or `NA` may be the very value that a pseudocount is for.
    let schema = Schema { target: String::new(), weight: None, missing: Vec::new(), columns };
    let mut pseudocounts = Pseudocounts::default();
    data::for_each_batch(table, &schema, Purpose::Scoring, |batch| {
        for row in 0..batch.rows {
            let [column, value, amount] = [0, 1, 2].map(|i| batch.category(i).value(row).unwrap_or_default());
            let added = amount.parse::<f64>().ok().map(|x| x - less).filter(|x| x.is_finite() && *x >= 0.0);
            let place = format!("{}: row {}", path.display(), batch.row_number(row));
            let Some(added) = added else {
                let least = if less == 1.0 { "1, below which the posterior has no mode inside" } else { "0" };
                bail!("{place}: `{amount}` is not a number of at least {least}");
            };
            let values = pseudocounts.0.entry(column.to_owned()).or_default();
            if values.insert(value.to_owned(), added).is_some() {
                bail!("{place}: {column}={value} occurs twice");
            }
        }
        Ok(())
    })?;
    Ok(pseudocounts)
}

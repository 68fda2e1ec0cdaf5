//! The words on the command line, and what they mean.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use priory::{
    Column, Discriminant, Divisor, Family, Kind, MissingValues, Prior, Pseudocounts, Regularization, Schema,
    Selection, Settings, Smoothing, VarianceFloor,
};
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

/// What a column is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Ignored,
    Kept(Kind, Option<Family>),
}

/// A smoothing, for one column or for all.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSmoothing {
    pub(crate) column: Option<String>,
    pub(crate) choice: SmoothingChoice,
}

pub(crate) fn parse_as(text: &str) -> Result<AsChoice, String> {
    let (column, word) = text.rsplit_once('=').ok_or("expected COLUMN=KIND")?;
    let meaning = match word {
        "number" => Meaning::Kept(Kind::Number, None),
        "category" => Meaning::Kept(Kind::Category, None),
        "categorical" => Meaning::Kept(Kind::Category, Some(Family::Categorical)),
        "bernoulli" => Meaning::Kept(Kind::Category, Some(Family::Bernoulli)),
        "joint" => Meaning::Kept(Kind::Joint, None),
        "text" => Meaning::Kept(Kind::Text, None),
        "group" => Meaning::Kept(Kind::Group, None),
        "ignore" => Meaning::Ignored,
        _ => {
            let family = parse_numbers(word).map_err(|families| {
                format!("`{word}` is none of number, category, categorical, bernoulli, text, joint, group, ignore, nor {families}")
            })?;
            Meaning::Kept(kind_for(family), Some(family))
        }
    };
    Ok(AsChoice { column: column.to_owned(), meaning })
}

/// What has to be counted of a column for this family. More than sums is counted only where more is needed.
pub(crate) fn kind_for(family: Family) -> Kind {
    match family {
        Family::Gaussian | Family::Student => Kind::Moments,
        _ => Kind::Number,
    }
}

/// The families of numbers by their words.
const NUMBER_FAMILIES: [Family; 15] = [
    Family::Gaussian,
    Family::Student,
    Family::LogNormal,
    Family::Exponential,
    Family::Gamma,
    Family::Poisson,
    Family::Geometric,
    Family::Binomial(None),
    Family::Uniform,
    Family::Histogram,
    Family::Proportional,
    Family::Mdl,
    Family::Kernel,
    Family::Silverman,
    Family::Mixture,
];

pub(crate) fn parse_numbers(text: &str) -> Result<Family, String> {
    let count = |text: &str| text.parse::<u16>().ok().filter(|&n| n > 0);
    let found = match text.split_once(':') {
        Some(("binomial", trials)) => {
            trials.parse().ok().filter(|&n| n > 0).map(|n| Family::Binomial(Some(n)))
        }
        Some(("equal-width", bins)) => count(bins).map(Family::EqualWidth),
        Some(("equal-frequency", bins)) => count(bins).map(Family::EqualFrequency),
        _ => match text {
            "equal-width" => Some(Family::EqualWidth(10)),
            "equal-frequency" => Some(Family::EqualFrequency(10)),
            "values" => Some(Family::Values),
            _ => NUMBER_FAMILIES.into_iter().find(|family| family.name() == text),
        },
    };
    found.ok_or_else(|| {
        let words = NUMBER_FAMILIES.map(Family::name).join(", ");
        format!("a family of numbers: {words}, binomial:N, equal-width:N, equal-frequency:N, values")
    })
}

pub(crate) fn parse_numbers_or_auto(text: &str) -> Result<NumbersChoice, String> {
    match text {
        "auto" => Ok(NumbersChoice(None)),
        _ => parse_numbers(text)
            .map(|family| NumbersChoice(Some(family)))
            .map_err(|families| format!("expected auto or {families}")),
    }
}

/// The family of all columns of numbers; none, if each is to have its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumbersChoice(pub(crate) Option<Family>);

pub(crate) fn parse_floor(text: &str) -> Result<VarianceFloor, String> {
    match text.split_once(':') {
        None if text == "sklearn" => Ok(VarianceFloor::Sklearn(1e-9)),
        Some(("relative", share)) => Ok(VarianceFloor::Relative(parse_amount(share)?)),
        Some(("absolute", amount)) => Ok(VarianceFloor::Absolute(parse_amount(amount)?)),
        Some(("added", amount)) => Ok(VarianceFloor::Added(parse_amount(amount)?)),
        Some(("sklearn", share)) => Ok(VarianceFloor::Sklearn(parse_amount(share)?)),
        _ => Err("expected relative:R, absolute:A, added:A, sklearn or sklearn:R".into()),
    }
}

pub(crate) fn parse_discriminant(text: &str) -> Result<Discriminant, String> {
    let expected =
        || "expected linear, quadratic, regularized, regularized:L,G, linear:unbiased or quadratic:unbiased";
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
    let divisor = || match rest {
        None => Ok(Divisor::Rows),
        Some("unbiased") => Ok(Divisor::Freedom),
        Some(_) => Err(expected()),
    };
    Ok(match (word, rest) {
        ("linear", _) => Discriminant::Linear(divisor()?),
        ("quadratic", _) => Discriminant::Quadratic(divisor()?),
        ("regularized", None) => Discriminant::Regularized(None),
        ("regularized", Some(amounts)) => {
            let (shared, diagonal) = amounts.split_once(',').ok_or_else(expected)?;
            let (shared, diagonal) = (parse_share(shared)?, parse_share(diagonal)?);
            Discriminant::Regularized(Some(Regularization { shared, diagonal }))
        }
        _ => return Err(expected().into()),
    })
}

pub(crate) fn parse_select(text: &str) -> Result<Selection, String> {
    match text {
        "all" => Ok(Selection::All),
        "auto" => Ok(Selection::Auto),
        _ => {
            let most = text.parse().ok().filter(|&most| most > 0).map(Selection::Best);
            most.ok_or_else(|| format!("`{text}` is not a number of columns from 1 on, nor auto or all"))
        }
    }
}

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
    let ready = |smoothing| Ok(SmoothingChoice::Ready(smoothing));
    match text.split_once(':') {
        None if text == "none" => ready(Smoothing::None),
        None if text == "laplace" => ready(Smoothing::LAPLACE),
        Some(("lidstone", "auto")) => ready(Smoothing::Auto),
        Some(("pseudocounts", amounts)) => {
            let (present, absent) = amounts.split_once(',').ok_or("expected pseudocounts:PRESENT,ABSENT")?;
            ready(Smoothing::Pair { present: parse_amount(present)?, absent: parse_amount(absent)? })
        }
        Some(("lidstone", amount)) => ready(Smoothing::Lidstone(parse_amount(amount)?)),
        Some(("background", share)) => ready(Smoothing::Background(parse_share(share)?)),
        Some(("dirichlet", path)) => Ok(SmoothingChoice::DirichletFile(PathBuf::from(path))),
        _ => Err("expected none, laplace, lidstone:A, background:L or dirichlet:FILE".into()),
    }
}

pub(crate) fn parse_prior(text: &str) -> Result<Prior, String> {
    match text.split_once(':') {
        None if text == "empirical" => Ok(Prior::Empirical),
        None if text == "uniform" => Ok(Prior::Uniform),
        Some(("smoothed", amount)) => Ok(Prior::Smoothed(parse_amount(amount)?)),
        Some(("given", shares)) => {
            let shares = shares.split(',').map(|share| {
                let (class, p) =
                    share.rsplit_once('=').ok_or(format!("expected CLASS=P, found `{share}`"))?;
                Ok((class.to_owned(), parse_share(p)?))
            });
            Ok(Prior::Given(shares.collect::<Result<BTreeMap<_, _>, String>>()?))
        }
        _ => Err("expected empirical, uniform, smoothed:L or given:CLASS=P,...".into()),
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

/// A share of which something is left on both sides.
pub(crate) fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|x| *x > 0.0 && *x < 1.0);
    part.ok_or_else(|| format!("`{text}` is not a number above 0 and below 1"))
}

/// A model of text, or `None` for the one that the rule gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextChoice(pub(crate) Option<Family>);

pub(crate) fn parse_text_model(text: &str) -> Result<TextChoice, String> {
    const MODELS: [Family; 6] = [
        Family::Multinomial,
        Family::Bernoulli,
        Family::Presence,
        Family::Complement,
        Family::ComplementPresence,
        Family::ComplementNormalized,
    ];
    if text == "auto" {
        return Ok(TextChoice(None));
    }
    let found = MODELS.into_iter().find(|family| family.name() == text);
    found.map(|family| TextChoice(Some(family))).ok_or_else(|| {
        let names = MODELS.map(Family::name).join(", ");
        format!("expected {names} or auto")
    })
}

pub(crate) fn parse_exponent(text: &str) -> Result<(String, f64), String> {
    let (column, power) = text.rsplit_once('=').ok_or("expected COLUMN=POWER")?;
    Ok((column.to_owned(), parse_amount(power)?))
}

pub(crate) fn parse_amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    amount.ok_or_else(|| format!("`{text}` is not a number of zero or more"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|x| (0.0..=1.0).contains(x));
    share.ok_or_else(|| format!("`{text}` is not a number between 0 and 1"))
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

//! The words on the command line, and what they mean.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use priory::{Family, Kind, Prior, Pseudocounts, Settings, Smoothing};

use crate::args::{MissingChoice, SettingsArgs, SmoothingChoice};

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
        "category" => Meaning::Kept(Kind::Category, None),
        "categorical" => Meaning::Kept(Kind::Category, Some(Family::Categorical)),
        "bernoulli" => Meaning::Kept(Kind::Category, Some(Family::Bernoulli)),
        "joint" => Meaning::Kept(Kind::Joint, None),
        "ignore" => Meaning::Ignored,
        _ => return Err(format!("`{word}` is none of category, categorical, bernoulli, joint, ignore")),
    };
    Ok(AsChoice { column: column.to_owned(), meaning })
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

fn parse_amount(text: &str) -> Result<f64, String> {
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
                None => settings.smoothing = smoothing,
                Some(column) => {
                    settings.column_smoothing.insert(column.clone(), smoothing);
                }
            }
        }
        if let Some(prior) = &self.prior {
            settings.prior = prior.clone();
        }
        match self.missing_values {
            Some(MissingChoice::Skipped) => settings.missing = priory::MissingValues::Skipped,
            Some(MissingChoice::Counted) => settings.missing = priory::MissingValues::Counted,
            None => {}
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
    let rows = priory_input::read_rows(&path.to_string_lossy())?;
    let name = path.display();
    let position = |column: &str| rows.header.iter().position(|name| name == column);
    let (Some(column), Some(value)) = (position("column"), position("value")) else {
        anyhow::bail!("{name}: expected the columns column, value and beta or pseudocount");
    };
    let (amount, less) = match (position("beta"), position("pseudocount")) {
        (Some(beta), None) => (beta, 1.0),
        (None, Some(pseudocount)) => (pseudocount, 0.0),
        _ => anyhow::bail!("{name}: expected either a column beta or a column pseudocount"),
    };
    let mut pseudocounts = Pseudocounts::default();
    for (row, cells) in (1..).zip(&rows.rows) {
        let found = &cells[amount];
        let added =
            found.parse::<f64>().ok().map(|found| found - less).filter(|x| x.is_finite() && *x >= 0.0);
        let Some(added) = added else {
            let least = if less == 1.0 { "1: below that the posterior has no mode inside" } else { "0" };
            anyhow::bail!("{name}: row {row}: `{found}` is not a number of at least {least}");
        };
        let values = pseudocounts.0.entry(cells[column].clone()).or_default();
        if values.insert(cells[value].clone(), added).is_some() {
            anyhow::bail!("{name}: row {row}: {}={} occurs twice", cells[column], cells[value]);
        }
    }
    Ok(pseudocounts)
}

//! What Python has chosen, as settings.

use std::collections::{BTreeMap, BTreeSet};

use priory::decide::{Cost, Decision, DecisionChoices};
use priory::judgement::Judging;
use priory::settings::{Choices, Prior, Pseudocounts, Smoothing};
use priory::text::{StopWords, TextSettings};
use priory::words::{self, Meaning};
use priory::{Kind, Settings};
use priory_input::text::TextChoices;
use priory_input::{Hints, ReadOptions, Understood, apply_families, read_costs, read_pseudocounts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{of_core, of_input};
use crate::table::PyTable;

/// The names of what can be chosen about models and their answers, and about text, as the command line has them.
#[pyfunction]
pub(crate) fn choice_names() -> (Vec<&'static str>, Vec<&'static str>) {
    let about_models = Choices::NAMES.into_iter().chain(DecisionChoices::NAMES).collect();
    (about_models, TextChoices::NAMES.to_vec())
}

/// How far what the columns say is to be judged.
pub(crate) fn judging(choices: &Bound<'_, PyDict>) -> PyResult<Judging> {
    let Some(word) = chosen::<String>(choices, "judge")? else { return Ok(Judging::None) };
    word.parse().map_err(|error| PyValueError::new_err(format!("judge={word:?}: {error}")))
}

/// What the columns of a table are and what was chosen about them. Its first rows are looked at, and can be read afterwards.
pub(crate) fn understand(
    look: &mut priory_input::Table,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
) -> PyResult<(priory::Schema, Settings)> {
    let hints = hints(target, weight, choices)?;
    let none = &mut std::iter::empty::<priory_input::Result<priory_input::Table>>();
    with_choices(Understood::new(look, none, &hints).map_err(of_input)?, choices)
}

/// What was said about the columns of a table.
pub(crate) fn hints(target: String, weight: Option<String>, choices: &Bound<'_, PyDict>) -> PyResult<Hints> {
    let wrong = |what: String| PyValueError::new_err(what);
    let kinds: BTreeMap<String, String> = chosen(choices, "kinds")?.unwrap_or_default();
    let meanings = kinds.into_iter().map(|(column, word)| {
        let meaning = words::meaning(&word).map_err(|error| wrong(format!("kinds: {column}: {error}")))?;
        Ok((column, meaning))
    });
    let missing: Option<Vec<String>> = chosen(choices, "missing")?;
    Ok(Hints {
        target,
        weight,
        missing: missing.unwrap_or_else(|| priory::schema::MISSING_SPELLINGS.map(String::from).to_vec()),
        decimal: meant(choices, "decimal", words::decimal)?,
        bins: meant(choices, "bins", words::bins)?,
        target_is_class: true,
        meanings: meanings.collect::<PyResult<Vec<(String, Meaning)>>>()?,
    })
}

/// What was understood, with what was chosen put over it.
pub(crate) fn with_choices(
    understood: Understood,
    choices: &Bound<'_, PyDict>,
) -> PyResult<(priory::Schema, Settings)> {
    let mut settings = Settings::default();
    choose(choices, &mut settings)?;
    let Understood { mut schema, families, .. } = understood;
    apply_families(&mut schema, &families, &mut settings).map_err(of_input)?;
    let text = text_choices(choices)?.settings().map_err(of_core)?;
    let mut columns = schema.columns.iter_mut().filter(|column| column.kind == Kind::Text).peekable();
    if columns.peek().is_none() && text != TextSettings::default() {
        return Err(PyValueError::new_err(
            "something was said about text, but no column is text; kinds={COLUMN: \"text\"} makes it so",
        ));
    }
    columns.for_each(|column| column.text = Some(text.clone()));
    if chosen::<u64>(choices, "half_life")?.is_none() {
        judging(choices)?.prepare(&mut schema, &settings);
    }
    Ok((schema.checked().map_err(of_core)?, settings))
}

/// How text is read.
fn text_choices(choices: &Bound<'_, PyDict>) -> PyResult<TextChoices> {
    let stop_words = match chosen::<BTreeSet<String>>(choices, "stop_words")? {
        Some(words) => StopWords::Given(words),
        None if chosen::<bool>(choices, "english_stop_words")? == Some(true) => StopWords::English,
        None => StopWords::None,
    };
    Ok(TextChoices {
        tokens: meant(choices, "tokens", words::token_style)?.unwrap_or_default(),
        ngrams: meant(choices, "ngrams", words::ngrams)?.unwrap_or_default(),
        stop_words,
        stem: chosen(choices, "stem")?,
        keep_case: chosen(choices, "lowercase")? == Some(false),
        nfkc: chosen(choices, "nfkc")? == Some(true),
        cjk: meant(choices, "cjk", words::cjk)?.unwrap_or_default(),
        hash_bits: chosen(choices, "hash_bits")?,
        frequency: meant(choices, "frequency", words::frequency)?.unwrap_or_default(),
        equal_length: chosen(choices, "equal_length")? == Some(true),
        neighbours: false,
    })
}

pub(crate) fn chosen<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    choices: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    match choices.get_item(name)? {
        Some(value) if !value.is_none() => Ok(Some(value.extract()?)),
        _ => Ok(None),
    }
}

/// What the word that was chosen means.
fn meant<T>(
    choices: &Bound<'_, PyDict>,
    name: &str,
    meaning: impl Fn(&str) -> Result<T, String>,
) -> PyResult<Option<T>> {
    let Some(word) = chosen::<String>(choices, name)? else { return Ok(None) };
    meaning(&word).map(Some).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// Puts what was chosen over the settings. The words are those of the command line.
pub(crate) fn choose(choices: &Bound<'_, PyDict>, settings: &mut Settings) -> PyResult<()> {
    decide(choices, &mut settings.decision)?;
    let prior = match chosen::<BTreeMap<String, f64>>(choices, "class_prior")? {
        Some(shares) => Some(Prior::Given(shares)),
        None => meant(choices, "prior", words::prior)?,
    };
    let choices = Choices {
        smoothing: smoothing(choices)?,
        text: meant(choices, "text", words::text_model)?,
        min_documents: chosen(choices, "min_documents")?,
        most_tokens: chosen(choices, "most_tokens")?,
        exponent: chosen::<BTreeMap<String, f64>>(choices, "exponent")?
            .unwrap_or_default()
            .into_iter()
            .collect(),
        prior,
        missing_values: meant(choices, "missing_values", words::missing_values)?,
        numbers: meant(choices, "numbers", words::numbers_or_auto)?,
        variance_floor: meant(choices, "variance_floor", words::floor)?,
        discriminant: meant(choices, "discriminant", words::discriminant)?,
        select: meant(choices, "select", words::select)?,
    };
    choices.apply(settings).map_err(of_core)
}

/// Puts what was chosen over a decision.
pub(crate) fn decide(choices: &Bound<'_, PyDict>, decision: &mut Decision) -> PyResult<()> {
    if chosen::<bool>(choices, "decision_anew")? == Some(true) {
        *decision = Decision::default();
    }
    let choices = DecisionChoices {
        positive: chosen(choices, "positive")?,
        cost: costs(choices)?,
        threshold: chosen(choices, "threshold")?.unwrap_or_default(),
        unsure: chosen(choices, "unsure")?,
        most_probable: false,
    };
    choices.apply(decision).map_err(of_core)
}

/// What mistakes cost: pairs of classes, a table, a path, or the words of the command line.
fn costs(choices: &Bound<'_, PyDict>) -> PyResult<Option<Vec<Cost>>> {
    let Some(given) = choices.get_item("cost")?.filter(|given| !given.is_none()) else { return Ok(None) };
    if let Ok(table) = given.cast::<PyTable>() {
        return Ok(Some(read_costs(table.get().open_as("cost")?).map_err(of_input)?));
    }
    if let Ok(text) = given.extract::<String>() {
        if text.contains('=') {
            return words::costs(&text)
                .map(Some)
                .map_err(|error| PyValueError::new_err(format!("cost: {error}")));
        }
        let table = priory_input::Table::open(&text, &ReadOptions::default());
        return Ok(Some(table.and_then(read_costs).map_err(of_input)?));
    }
    let pairs: Vec<(Option<String>, Option<String>, f64)> = given.extract()?;
    let cost = |(true_class, predicted, cost)| Cost { true_class, predicted, cost };
    Ok(Some(pairs.into_iter().map(cost).collect()))
}

/// The smoothing of all columns and of single ones; pseudocounts, if there are any, for all columns that are not text.
fn smoothing(choices: &Bound<'_, PyDict>) -> PyResult<Vec<(Option<String>, Smoothing)>> {
    let words: Vec<(Option<String>, String)> = chosen(choices, "smoothing")?.unwrap_or_default();
    let mut all = Vec::new();
    for (column, word) in words {
        let smoothing = match word.split_once(':') {
            Some(("dirichlet", path)) => {
                let table = priory_input::Table::open(path, &ReadOptions::default());
                Smoothing::Dirichlet(table.and_then(read_pseudocounts).map_err(of_input)?)
            }
            _ => words::smoothing(&word)
                .map_err(|error| PyValueError::new_err(format!("smoothing: {error}")))?,
        };
        all.push((column, smoothing));
    }
    if let Some(table) = choices.get_item("pseudocounts")?.filter(|given| !given.is_none()) {
        let pseudocounts = match table.cast::<PyTable>() {
            Ok(table) => read_pseudocounts(table.get().open_as("pseudocounts")?).map_err(of_input)?,
            Err(_) => Pseudocounts(table.extract()?),
        };
        all.push((None, Smoothing::Dirichlet(pseudocounts)));
    }
    Ok(all)
}

//! The model that takes a table as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{panic, thread};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use priory::plot::{Detail, Subject, svg};
use priory::words::{self, Meaning};
use priory::{
    Batch, Evaluation, Features, FoldParts, FoldStatistics, Folds, Kind, LetterCase, MissingValues, Model,
    Prior, Scores, Settings, Smoothing, Statistics, StopWords, TextSettings,
};
use priory_input::text::{STEMMER_VERSION, Tokenizer};
use priory_input::{Hints, Purpose, Reader, Turn, Understood, apply_families, store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{of_core, of_input};
use crate::scores::Wanted;
use crate::table::Table;
use crate::work::threads;

/// Writes a file in one step.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    py.detach(|| store::replace_file(path, text.as_bytes())).map_err(of_input)
}

/// What was counted, and the model that follows from it once somebody asks for it.
#[pyclass(module = "priory._priory")]
pub(crate) struct Learnt {
    statistics: Statistics,
    settings: Settings,
    model: OnceLock<Model>,
}

#[pymethods]
impl Learnt {
    /// Learns the rows of a table whose columns nobody knows yet. The second table has the same rows, to be looked at.
    #[staticmethod]
    #[pyo3(signature = (look, table, target, weight, choices))]
    fn learn(
        py: Python<'_>,
        look: &Table,
        table: &Table,
        target: String,
        weight: Option<String>,
        choices: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (schema, settings) = understand(look, target, weight, choices)?;
        let statistics = count(py, table, &Statistics::empty(&schema))?;
        let learnt = Learnt::new(statistics, settings);
        learnt.model()?;
        Ok(learnt)
    }

    /// Learns more rows.
    fn learn_more(&mut self, py: Python<'_>, table: &Table) -> PyResult<()> {
        let part = count(py, table, &self.statistics.nothing())?;
        self.statistics.merge(&part).map_err(of_core)?;
        self.changed();
        Ok(())
    }

    /// Forgets rows that were learnt.
    fn forget(&mut self, py: Python<'_>, table: &Table) -> PyResult<()> {
        let reader = self.reader(table, Purpose::Learning)?;
        // One batch after the other, so that the first row that was never learnt is the one that is named.
        let states = interruptible(py, |stopped| {
            let start = || self.statistics.clone();
            fold(&reader, 1, stopped, start, |left, batch, _| Ok(left.forget(batch)?))
        })?;
        self.statistics =
            states.into_iter().next().unwrap_or_else(|| unreachable!("one thread has one state"));
        self.changed();
        Ok(())
    }

    /// What both have learnt.
    fn merged(&self, other: &Learnt) -> PyResult<Learnt> {
        let mut statistics = self.statistics.clone();
        statistics.merge(&other.statistics).map_err(of_core)?;
        Ok(Learnt::new(statistics, self.settings.clone()))
    }

    /// What is left if everything is forgotten that the other has learnt.
    fn subtracted(&self, other: &Learnt) -> PyResult<Learnt> {
        let mut statistics = self.statistics.clone();
        statistics.subtract(&other.statistics).map_err(of_core)?;
        Ok(Learnt::new(statistics, self.settings.clone()))
    }

    /// The same statistics under other settings; what is not chosen stays as it is.
    fn reestimated(&self, choices: &Bound<'_, PyDict>) -> PyResult<Learnt> {
        let mut settings = self.settings.clone();
        choose(choices, &mut settings)?;
        let learnt = Learnt::new(self.statistics.clone(), settings);
        learnt.model()?;
        Ok(learnt)
    }

    /// The classes, in canonical order, and their weights.
    fn classes(&self) -> Vec<(String, f64)> {
        self.statistics.classes().into_iter().map(|(name, weight)| (name.to_owned(), weight)).collect()
    }

    fn rows(&self) -> u64 {
        self.statistics.rows()
    }

    /// The target, the column of weights, and of each feature its name and kind.
    fn schema(&self) -> (String, Option<String>, Vec<(String, &'static str)>) {
        let schema = self.statistics.schema();
        let columns = schema.columns.iter().map(|column| (column.name.clone(), column.kind.name()));
        (schema.target.clone(), schema.weight.clone(), columns.collect())
    }

    /// A picture of a column, of two against each other, or of all if none is named, as SVG.
    fn plot(&self, columns: Vec<String>) -> PyResult<String> {
        let subject = Subject::new(&self.statistics, &self.settings).map_err(of_core)?;
        let picture = match columns.as_slice() {
            [] => subject.ranked().and_then(|ranked| subject.all(&ranked, Detail::PANEL)),
            columns => subject.one(columns, Detail::PAGE),
        };
        Ok(svg::draw(&picture.map_err(of_core)?))
    }

    /// P(class), in the order of the classes.
    fn prior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.model()?.prior().to_vec().into_pyarray(py))
    }

    /// Scores, `joint`, `log` or `probability`; or the most probable classes.
    #[pyo3(signature = (table, wanted=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        wanted: Option<Wanted>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model()?;
        let reader = table.open()?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let answers = Mutex::new(Answers::new(wanted));
        interruptible(py, |stopped| {
            fold(
                &reader,
                threads(),
                stopped,
                || (),
                |(), batch, turn| {
                    let scores = model.score(batch)?;
                    turn.take(|| {
                        answers.lock().unwrap_or_else(PoisonError::into_inner).add(&scores, batch.rows);
                        Ok(())
                    })
                },
            )
        })?;
        answers.into_inner().unwrap_or_else(PoisonError::into_inner).into_array(py, model.classes().len())
    }

    /// P(class | x) of rows that were learnt, each as if just that row had not been.
    fn leave_one_out<'py>(&self, py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyAny>> {
        let reader = self.reader(table, Purpose::Learning)?;
        let answers = Mutex::new(Answers::new(Some(Wanted::Probability)));
        interruptible(py, |stopped| {
            self.statistics.leave_one_out(&self.settings, |left_out| {
                fold(
                    &reader,
                    threads(),
                    stopped,
                    || (),
                    |(), batch, turn| {
                        let scores = left_out.score(batch)?;
                        turn.take(|| {
                            answers.lock().unwrap_or_else(PoisonError::into_inner).add(&scores, batch.rows);
                            Ok(())
                        })
                    },
                )
            })?
        })?;
        let classes = self.statistics.classes().len();
        answers.into_inner().unwrap_or_else(PoisonError::into_inner).into_array(py, classes)
    }

    /// For each row and feature what it adds to the log-joint of each class: the names of the features, an array of rows ×
    /// features × classes, log P(class), and the log-joints, which are the sums of these.
    #[expect(clippy::type_complexity, reason = "four things that belong together, once")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
    ) -> PyResult<(
        Vec<String>,
        Bound<'py, PyArray3<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray2<f64>>,
    )> {
        let model = self.model()?;
        let reader = table.open()?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let found = interruptible(py, |stopped| {
            let states = fold(&reader, 1, stopped, Contributions::default, |all, batch, _| {
                for row in 0..batch.rows {
                    all.add(&model.explain(batch, row)?);
                }
                Ok(())
            })?;
            Ok(states.into_iter().next().unwrap_or_default())
        })?;
        let classes = model.classes().len();
        let rows = found.log_joints.len() / classes;
        Ok((
            found.features.clone(),
            found.values.into_pyarray(py).reshape([rows, found.features.len(), classes])?,
            model.log_prior().to_vec().into_pyarray(py),
            found.log_joints.into_pyarray(py).reshape([rows, classes])?,
        ))
    }

    /// How much each feature tells about the class, as JSON.
    fn features(&self) -> PyResult<String> {
        Ok(Features::new(&self.statistics, &self.settings).map_err(of_core)?.to_json().to_string())
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &priory::write_file(&self.statistics, &self.settings))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let (statistics, settings) = priory::read_file(bytes).map_err(of_core)?;
        Ok(Learnt::new(statistics, settings))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.borrow().to_bytes(slf.py()),)))
    }

    /// Writes the model file, in one step.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = priory::write_file(&self.statistics, &self.settings);
        py.detach(|| store::replace_file(path, &bytes)).map_err(of_input)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let (statistics, settings) = py.detach(|| store::read_model(path)).map_err(of_input)?;
        Ok(Learnt::new(statistics, settings))
    }
}

impl Learnt {
    fn new(statistics: Statistics, settings: Settings) -> Self {
        Learnt { statistics, settings, model: OnceLock::new() }
    }

    fn changed(&mut self) {
        self.model = OnceLock::new();
    }

    fn model(&self) -> PyResult<&Model> {
        if self.model.get().is_none() {
            let model = self.statistics.estimate(&self.settings).map_err(of_core)?;
            self.model.get_or_init(|| model);
        }
        Ok(self.model.get().unwrap_or_else(|| unreachable!("it was just put there")))
    }

    fn reader(&self, table: &Table, purpose: Purpose) -> PyResult<Reader> {
        table.open()?.reader(self.statistics.schema(), purpose).map_err(of_input)
    }
}

/// How good such a model is at what it has not seen: a report as JSON. The tables have the same rows: to be looked at, to
/// be counted, and to be scored.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn evaluate(
    py: Python<'_>,
    look: &Table,
    learn: &Table,
    test: &Table,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
    folds: usize,
    seed: u64,
) -> PyResult<String> {
    let (schema, settings) = understand(look, target, weight, choices)?;
    let learn = learn.open()?.reader(&schema, Purpose::Learning).map_err(of_input)?;
    let test = test.open()?.reader(&schema, Purpose::Learning).map_err(of_input)?;
    let dealt = || Folds::new(folds, seed).map(Mutex::new).map_err(of_core);
    let (first, second) = (dealt()?, dealt()?);
    let assign = |folds: &Mutex<Folds>, batch: &Batch, turn: &Turn<'_>| {
        turn.take(|| Ok(folds.lock().unwrap_or_else(PoisonError::into_inner).assign(batch)))
    };
    let report = interruptible(py, |stopped| {
        let empty = || FoldStatistics::empty(&schema, folds);
        let parts = fold(&learn, threads(), stopped, empty, |part, batch, turn| {
            part.observe(batch, &assign(&first, batch, turn)?)?;
            Ok(part.check_size()?)
        })?;
        let mut statistics = empty();
        for part in parts {
            statistics.merge(part)?;
            statistics.check_size()?;
        }
        let models = statistics.models(&settings)?;
        let evaluations = fold(&test, threads(), stopped, Evaluation::new, |evaluation, batch, turn| {
            let parts = FoldParts::new(batch, &assign(&second, batch, turn)?)?;
            Ok(models.evaluate(&parts, evaluation)?)
        })?;
        let mut all = Evaluation::new();
        evaluations.iter().for_each(|evaluation| all.merge(evaluation));
        Ok(all.report())
    })?;
    if report.rows == 0 {
        return Err(of_core(priory::Error::Empty));
    }
    Ok(report.to_json().to_string())
}

/// Counts the rows of a table.
fn count(py: Python<'_>, table: &Table, empty: &Statistics) -> PyResult<Statistics> {
    let reader = table.open()?.reader(empty.schema(), Purpose::Learning).map_err(of_input)?;
    interruptible(py, |stopped| {
        let parts = fold(
            &reader,
            threads(),
            stopped,
            || empty.clone(),
            |statistics, batch, turn| {
                if let Some(age) = empty.half_life() {
                    statistics.pass(age.learnt.saturating_add(turn.rows_before(&reader)?));
                }
                statistics.observe(batch)?;
                Ok(statistics.check_size()?)
            },
        )?;
        let mut all = empty.clone();
        parts.iter().try_for_each(|part| all.merge(part))?;
        all.settle();
        Ok(all)
    })
}

/// What the columns are and what was chosen about them.
fn understand(
    look: &Table,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
) -> PyResult<(priory::Schema, Settings)> {
    let wrong = |what: String| PyValueError::new_err(what);
    let kinds: BTreeMap<String, String> = chosen(choices, "kinds")?.unwrap_or_default();
    let meanings = kinds.into_iter().map(|(column, word)| {
        let meaning = words::meaning(&word).map_err(|error| wrong(format!("kinds: {column}: {error}")))?;
        Ok((column, meaning))
    });
    let missing: Option<Vec<String>> = chosen(choices, "missing")?;
    let hints = Hints {
        target,
        weight,
        missing: missing.unwrap_or_else(|| priory::MISSING_SPELLINGS.map(String::from).to_vec()),
        meanings: meanings.collect::<PyResult<Vec<(String, Meaning)>>>()?,
    };
    let mut settings = Settings::default();
    choose(choices, &mut settings)?;
    let none = &mut std::iter::empty::<priory_input::Result<priory_input::Table>>();
    let understood = Understood::new(&mut look.open()?, none, &hints).map_err(of_input)?;
    let Understood { mut schema, families, .. } = understood;
    apply_families(&mut schema, &families, &mut settings).map_err(of_input)?;
    let text = text_settings(choices)?;
    for column in schema.columns.iter_mut().filter(|column| column.kind == Kind::Text) {
        column.text = Some(text.clone());
    }
    Ok((schema.checked().map_err(of_core)?, settings))
}

/// How text is read.
fn text_settings(choices: &Bound<'_, PyDict>) -> PyResult<TextSettings> {
    let wrong = |name: &'static str| move |error: String| PyValueError::new_err(format!("{name}: {error}"));
    let mut text = TextSettings::default();
    let tokens = &mut text.tokens;
    if let Some(style) = chosen::<String>(choices, "tokens")? {
        tokens.style = words::token_style(&style).map_err(wrong("tokens"))?;
    }
    if let Some(ngrams) = chosen::<String>(choices, "ngrams")? {
        tokens.ngrams = words::ngrams(&ngrams).map_err(wrong("ngrams"))?;
    }
    if let Some(false) = chosen::<bool>(choices, "lowercase")? {
        tokens.case = LetterCase::Keep;
    }
    tokens.stemming = chosen(choices, "stem")?;
    tokens.stemmer = tokens.stemming.as_ref().map(|_| STEMMER_VERSION.to_owned());
    if let Some(words) = chosen::<BTreeSet<String>>(choices, "stop_words")? {
        tokens.stop_words = StopWords::Given(words);
    } else if let Some(true) = chosen::<bool>(choices, "english_stop_words")? {
        tokens.stop_words = StopWords::English;
    }
    tokens.hash_bits = chosen(choices, "hash_bits")?;
    Tokenizer::new(tokens).map_err(of_core)?;
    Ok(text)
}

fn chosen<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    choices: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    match choices.get_item(name)? {
        Some(value) if !value.is_none() => Ok(Some(value.extract()?)),
        _ => Ok(None),
    }
}

/// Puts what was chosen over the settings. The words are those of the command line.
fn choose(choices: &Bound<'_, PyDict>, settings: &mut Settings) -> PyResult<()> {
    let word = |name: &str| chosen::<String>(choices, name);
    let wrong = |name: &'static str| move |error: String| PyValueError::new_err(format!("{name}: {error}"));
    if let Some(shares) = chosen::<BTreeMap<String, f64>>(choices, "class_prior")? {
        settings.prior = Prior::Given(shares);
    } else if let Some(prior) = word("prior")? {
        settings.prior = words::prior(&prior).map_err(wrong("prior"))?;
    }
    if let Some(smoothing) = word("smoothing")? {
        let smoothing = words::smoothing(&smoothing).map_err(wrong("smoothing"))?;
        settings.text.smoothing = smoothing.clone();
        if !smoothing.is_for_text_only() {
            settings.smoothing = smoothing;
        }
    }
    for (column, smoothing) in
        chosen::<BTreeMap<String, String>>(choices, "column_smoothing")?.unwrap_or_default()
    {
        let smoothing: Smoothing = words::smoothing(&smoothing).map_err(wrong("smoothing"))?;
        settings.column_smoothing.insert(column, smoothing);
    }
    if let Some(family) = word("numbers")? {
        settings.numbers = words::numbers_or_auto(&family).map_err(wrong("numbers"))?;
    }
    if let Some(model) = word("text")? {
        settings.text.model = words::text_model(&model).map_err(wrong("text"))?;
    }
    match word("missing_values")?.as_deref() {
        None => {}
        Some("skipped") => settings.missing = MissingValues::Skipped,
        Some("counted") => settings.missing = MissingValues::Counted,
        Some(_) => return Err(PyValueError::new_err("missing_values: expected skipped or counted")),
    }
    if let Some(floor) = word("variance_floor")? {
        settings.variance_floor = words::floor(&floor).map_err(wrong("variance_floor"))?;
    }
    if let Some(discriminant) = word("discriminant")? {
        settings.discriminant = Some(words::discriminant(&discriminant).map_err(wrong("discriminant"))?);
    }
    if let Some(select) = word("select")? {
        settings.select = words::select(&select).map_err(wrong("select"))?;
    }
    settings.check().map_err(of_core)
}

/// Answers in the order of the rows.
struct Answers {
    wanted: Option<Wanted>,
    numbers: Vec<f64>,
    best: Vec<i64>,
}

impl Answers {
    fn new(wanted: Option<Wanted>) -> Self {
        Answers { wanted, numbers: Vec::new(), best: Vec::new() }
    }

    fn add(&mut self, scores: &Scores, rows: usize) {
        if let Some(Wanted::Joint) = self.wanted {
            (0..rows).for_each(|row| self.numbers.extend_from_slice(scores.row(row)));
            return;
        }
        let posterior = scores.normalize();
        match self.wanted {
            None => self.best.extend((0..rows).map(|row| posterior.best(row) as i64)),
            Some(Wanted::Log) => {
                (0..rows).for_each(|row| self.numbers.extend(scores.log_posterior(row)));
            }
            _ => (0..rows).for_each(|row| self.numbers.extend_from_slice(posterior.row(row))),
        }
    }

    fn into_array(self, py: Python<'_>, classes: usize) -> PyResult<Bound<'_, PyAny>> {
        if self.wanted.is_none() {
            return Ok(self.best.into_pyarray(py).into_any());
        }
        let rows = self.numbers.len() / classes;
        Ok(self.numbers.into_pyarray(py).reshape([rows, classes])?.into_any())
    }
}

/// What explanations come to.
#[derive(Default)]
struct Contributions {
    features: Vec<String>,
    values: Vec<f64>,
    log_joints: Vec<f64>,
}

impl Contributions {
    fn add(&mut self, explanation: &priory::Explanation) {
        if self.features.is_empty() {
            self.features = explanation.contributions.iter().map(|part| part.feature.clone()).collect();
        }
        explanation.contributions.iter().for_each(|part| self.values.extend_from_slice(&part.log_likelihood));
        self.log_joints.extend_from_slice(&explanation.log_joint);
    }
}

/// As [`priory_input::fold`], but it ends early if somebody wants it to.
fn fold<S: Send>(
    reader: &Reader,
    threads: usize,
    stopped: &AtomicBool,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
) -> priory_input::Result<Vec<S>> {
    priory_input::fold(reader, threads, start, |state, batch, turn| {
        if stopped.load(Ordering::Relaxed) {
            return Err(priory_input::Error::Stopped);
        }
        step(state, batch, turn)
    })
}

/// Does work on another thread while this one looks for Ctrl-C.
fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> priory_input::Result<R> + Send,
) -> PyResult<R> {
    const PATIENCE: Duration = Duration::from_millis(50);
    let stopped = AtomicBool::new(false);
    py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let stopped = &stopped;
            let worker = scope.spawn(move || {
                let result = work(stopped);
                // Whoever waits is still there.
                let _ = send.send(result);
            });
            let mut interrupted = Ok(());
            let result = loop {
                match receive.recv_timeout(PATIENCE) {
                    Ok(result) => break result,
                    Err(RecvTimeoutError::Timeout) if interrupted.is_ok() => {
                        interrupted = Python::attach(|py| py.check_signals());
                        stopped.store(interrupted.is_err(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        let panicked = worker.join().err();
                        panic::resume_unwind(panicked.unwrap_or_else(|| Box::new("a thread ended early")));
                    }
                }
            };
            interrupted.and_then(|()| result.map_err(of_input))
        })
    })
}

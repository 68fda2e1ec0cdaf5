//! The model that takes a table as it is.

use std::collections::{BTreeMap, BTreeSet, TryReserveError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{panic, thread};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use priory::judgement::Judging;
use priory::plot::{Detail, Subject, svg};
use priory::posterior::rows_to_score;
use priory::report::{Summary, TOP_TOKENS};
use priory::settings::{Choices, Prior, Pseudocounts, Smoothing};
use priory::text::{StopWords, TextSettings};
use priory::words::{self, Meaning};
use priory::{Batch, Kind, Model, Scores, Settings, Statistics};
use priory_input::text::TextChoices;
use priory_input::{
    Hints, Purpose, ReadOptions, Reader, Split, Understood, Watch, Work, apply_families, read_pseudocounts,
    store,
};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::error::{of_core, of_input};
use crate::scores::Wanted;
use crate::shared::Shared;
use crate::table::PyTable;
use crate::work::threads;

/// Writes a file in one step.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    py.detach(|| store::replace_file(path, text.as_bytes())).map_err(of_input)
}

/// What was counted under which settings, and the model that follows from it once somebody asks for it.
struct State {
    learnt: priory::Learnt,
    model: OnceLock<Model>,
    /// Another number for everything that was ever learnt, so that nobody mistakes one for the other.
    version: u64,
}

impl State {
    fn new(learnt: priory::Learnt) -> Self {
        State { learnt, model: OnceLock::new(), version: next_version() }
    }

    fn model(&self) -> priory::Result<&Model> {
        if self.model.get().is_none() {
            let model = self.learnt.estimate()?;
            self.model.get_or_init(|| model);
        }
        Ok(self.model.get().unwrap_or_else(|| unreachable!("it was just put there")))
    }
}

fn next_version() -> u64 {
    static VERSIONS: AtomicU64 = AtomicU64::new(0);
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}

/// A copy is made to be changed: what follows from it has to be concluded anew.
impl Clone for State {
    fn clone(&self) -> Self {
        State::new(self.learnt.clone())
    }
}

/// What was learnt so far, to learn more and to forget. To ask something of it, take a [`Snapshot`].
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Learnt(Shared<State>);

#[pymethods]
impl Learnt {
    /// Learns the rows of a table whose columns nobody knows yet. The first table has the same rows, to find out what the columns
    /// are.
    #[staticmethod]
    fn learn(
        py: Python<'_>,
        look: &PyTable,
        table: &PyTable,
        target: String,
        weight: Option<String>,
        choices: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let judging = judging(choices)?;
        let (schema, settings) = understand(look, target, weight, choices)?;
        let mut empty = judging.start(&schema);
        if let Some(rows) = chosen(choices, "half_life")? {
            empty.set_half_life(rows).map_err(of_core)?;
        }
        let table = table.open()?;
        let (mut statistics, _) = interruptible(py, |work| work.learn(table, &empty))?;
        py.detach(|| statistics.settle());
        let mut learnt = priory::Learnt::new(statistics, settings);
        py.detach(|| learnt.judge(judging, threads())).map_err(of_core)?;
        Learnt::concluded(py, learnt)
    }

    /// Learns more rows, which age from here on if there is a half-life. Returns the number under which the first of them
    /// was learnt, where rows age.
    #[pyo3(signature = (table, half_life=None))]
    fn learn_more(&self, py: Python<'_>, table: &PyTable, half_life: Option<u64>) -> PyResult<Option<u64>> {
        if let Some(rows) = half_life
            && self.0.now(py).learnt.statistics.half_life().is_none_or(|known| known.rows != rows)
        {
            self.change(py, |statistics| statistics.set_half_life(rows))?;
        }
        let empty = self.0.now(py).learnt.statistics.empty_at_same_age();
        let table = table.open()?;
        let (part, _) = interruptible(py, |work| work.learn(table, &empty))?;
        self.change(py, |statistics| {
            statistics.merge(&part)?;
            statistics.check_size()
        })?;
        Ok(empty.half_life().map(|age| 1 + age.learnt))
    }

    /// Forgets rows that were learnt; `open` gives a table of them whenever it is called. Where rows age, the first of them was
    /// learnt as this row.
    #[pyo3(signature = (open, learnt_at=None, drop_judgement=false))]
    fn forget(
        &self,
        py: Python<'_>,
        open: Py<PyAny>,
        learnt_at: Option<u64>,
        drop_judgement: bool,
    ) -> PyResult<()> {
        let before = self.0.now(py);
        if learnt_at.is_none() && before.learnt.statistics.half_life().is_some() {
            return Err(PyValueError::new_err(
                "the rows of this model age: learnt_at says when these were learnt",
            ));
        }
        let mut left = before.learnt.statistics.clone();
        drop(before);
        let open = Opener::new(open);
        let done = interruptible(py, |work| work.forget(&mut left, learnt_at, || open.table()));
        open.check(done)?;
        self.change_learnt(py, |learnt| {
            learnt.statistics = left;
            if drop_judgement {
                learnt.drop_judgement();
            }
            Ok(())
        })
    }

    /// Judges anew what the columns say, by all rows that were learnt.
    fn judge(&self, py: Python<'_>, table: &PyTable, choices: &Bound<'_, PyDict>) -> PyResult<()> {
        let judging = judging(choices)?;
        let empty = judging.start(self.0.now(py).learnt.statistics.schema());
        let table = table.open()?;
        let (rows, _) = interruptible(py, |work| work.learn(table, &empty))?;
        self.change_learnt(py, |learnt| learnt.judge_by(rows, judging, threads()).map(|_| ()))
    }

    /// Learns what another has learnt.
    fn merge(&self, py: Python<'_>, other: &Snapshot) -> PyResult<()> {
        self.change_learnt(py, |learnt| learnt.merge(&other.0.learnt))
    }

    /// Forgets everything that another has learnt.
    fn subtract(&self, py: Python<'_>, other: &Snapshot) -> PyResult<()> {
        self.change(py, |statistics| statistics.subtract(&other.0.learnt.statistics))
    }

    /// Everything as it is now, whatever is learnt or forgotten afterwards.
    fn now(&self, py: Python<'_>) -> Snapshot {
        Snapshot(self.0.now(py))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Learnt::new(priory::Learnt::read(&bytes).map_err(of_core)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().now(py).to_bytes(py),)))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Learnt::new(py.detach(|| store::read_model(path)).map_err(of_input)?))
    }
}

impl Learnt {
    fn new(learnt: priory::Learnt) -> Self {
        Learnt(Shared::new(State::new(learnt)))
    }

    /// The same, if a model follows from it.
    fn concluded(py: Python<'_>, learnt: priory::Learnt) -> PyResult<Self> {
        let learnt = Learnt::new(learnt);
        let state = learnt.0.now(py);
        py.detach(|| state.model().map(|_| ())).map_err(of_core)?;
        Ok(learnt)
    }

    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Statistics) -> priory::Result<()> + Send,
    ) -> PyResult<()> {
        self.change_learnt(py, |learnt| change(&mut learnt.statistics))
    }

    fn change_learnt(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut priory::Learnt) -> priory::Result<()> + Send,
    ) -> PyResult<()> {
        let changed = self.0.change(py, |state| {
            change(&mut state.learnt)?;
            (state.model, state.version) = (OnceLock::new(), next_version());
            Ok(())
        });
        changed.map_err(of_core)
    }
}

/// What was learnt up to some moment, and what follows from it.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Snapshot(Arc<State>);

#[pymethods]
impl Snapshot {
    /// The same number for the same state of the same model, and for no other.
    fn version(&self) -> u64 {
        self.0.version
    }

    /// The same statistics under other settings; what is not chosen stays as it is.
    fn reestimated(&self, py: Python<'_>, choices: &Bound<'_, PyDict>) -> PyResult<Learnt> {
        let mut learnt = self.0.learnt.clone();
        let mut settings = learnt.settings.clone();
        choose(choices, &mut settings)?;
        learnt.set_settings(settings);
        Learnt::concluded(py, learnt)
    }

    /// The same once more, to learn more without changing the other.
    fn copied(&self) -> Learnt {
        Learnt::new(self.0.learnt.clone())
    }

    /// The classes, in canonical order, and their weights.
    fn classes(&self) -> Vec<(String, f64)> {
        self.0
            .learnt
            .statistics
            .classes()
            .into_iter()
            .map(|(name, weight)| (name.to_owned(), weight))
            .collect()
    }

    fn rows(&self) -> u64 {
        self.0.learnt.statistics.rows()
    }

    /// The target, the column of weights, and of each feature its name and kind.
    fn schema(&self) -> (String, Option<String>, Vec<(String, &'static str)>) {
        let schema = self.0.learnt.statistics.schema();
        let columns = schema.columns.iter().map(|column| (column.name.clone(), column.kind.name()));
        (schema.target.clone(), schema.weight.clone(), columns.collect())
    }

    /// A picture of a column, of two against each other, or of all if none is named, as SVG.
    fn plot(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<String> {
        let subject = Subject::new(&self.0.learnt, self.model(py)?).map_err(of_core)?;
        let picture = match columns.as_slice() {
            [] => subject.ranked().and_then(|ranked| subject.all(&ranked, Detail::PANEL)),
            columns => subject.one(columns, Detail::PAGE),
        };
        Ok(svg::draw(&picture.map_err(of_core)?))
    }

    /// P(class), in the order of the classes.
    fn prior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.model(py)?.prior().to_vec().into_pyarray(py))
    }

    /// Scores, `joint`, `log` or `probability`; or the most probable classes. `rows` is how many rows the table has, if that
    /// is known.
    #[pyo3(signature = (table, wanted=None, rows=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        wanted: Option<Wanted>,
        rows: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model(py)?;
        let reader = table.open()?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let answers = Answers::new(wanted, model.classes().len(), rows)?;
        let done = interruptible(py, |work| answers.fill(work, &reader, |batch| model.score(batch)));
        answers.into_array(py, done)
    }

    /// The ends of the intervals in which P(class | x) lies with this probability: the lower ends of a row, then its upper ends.
    #[pyo3(signature = (table, probability, rows=None))]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        probability: f64,
        rows: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        priory::check_level(probability).map_err(of_core)?;
        let model = self.model(py)?;
        let reader = table.open()?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let answers = Answers::new(Some(Wanted::Probability), 2 * model.classes().len(), rows)?;
        let done = interruptible(py, |work| {
            self.0.learnt.intervals(|intervals| answers.fill_ends(work, &reader, intervals, probability))?
        });
        answers.into_array(py, done)
    }

    /// P(class | x) of rows that were learnt, each as if just that row had not been.
    #[pyo3(signature = (table, rows=None))]
    fn leave_one_out<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        rows: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let statistics = &self.0.learnt.statistics;
        let reader = table.open()?.reader(statistics.schema(), Purpose::Learning).map_err(of_input)?;
        let answers = Answers::new(Some(Wanted::Probability), statistics.classes().len(), rows)?;
        let done = interruptible(py, |work| {
            self.0
                .learnt
                .leave_one_out(|left_out| answers.fill(work, &reader, |batch| left_out.score(batch)))?
        });
        answers.into_array(py, done)
    }

    /// For each row and feature what it adds to the log-joint of each class: the names of the features, an array of rows ×
    /// features × classes, log P(class), and the log-joints, which are the sums of these.
    #[pyo3(signature = (table, rows=None))]
    #[expect(clippy::type_complexity, reason = "four things that belong together, once")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        rows: Option<usize>,
    ) -> PyResult<(
        Vec<String>,
        Bound<'py, PyArray3<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray2<f64>>,
    )> {
        let model = self.model(py)?;
        let reader = table.open()?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let found = Mutex::new(Contributions::default());
        let full = AtomicBool::new(false);
        let done = interruptible(py, |work| {
            // One thread, so that the rows stay in their order.
            let work = Work { threads: 1, ..*work };
            work.fold(
                &reader,
                || (),
                |(), batch, _| {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    for row in 0..batch.rows {
                        if found.add(&model.explain(batch, row)?, rows).is_err() {
                            full.store(true, Ordering::Relaxed);
                            return Err(priory_input::Error::Stopped);
                        }
                    }
                    Ok(())
                },
            )
        });
        if full.into_inner() {
            return Err(PyMemoryError::new_err(
                "what every feature of every row adds to every class does not fit into memory; explain fewer rows at a time",
            ));
        }
        done?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let classes = model.classes().len();
        let rows = found.log_joints.len() / classes;
        Ok((
            found.features.clone(),
            found.values.into_pyarray(py).reshape([rows, found.features.len(), classes])?,
            model.log_prior().to_vec().into_pyarray(py),
            found.log_joints.into_pyarray(py).reshape([rows, classes])?,
        ))
    }

    /// What was counted and what follows from it, as JSON, with this many of the most telling tokens of each class.
    #[pyo3(signature = (top=None))]
    fn show(&self, py: Python<'_>, top: Option<usize>) -> PyResult<String> {
        let (learnt, model) = (&self.0.learnt, self.model(py)?);
        let summary = py.detach(|| learnt.summary(model, top.unwrap_or(TOP_TOKENS))).map_err(of_core)?;
        json(&Shown { summary, fingerprint: format!("{:016x}", learnt.fingerprint()) })
    }

    /// The decision between two classes as a weighted sum, as JSON.
    fn linear_form(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.model(py)?.linear_form().map_err(of_core)?)
    }

    /// How rows age, if they do: the half-life, and how many rows were learnt since it was set.
    fn half_life(&self) -> Option<(u64, u64)> {
        self.0.learnt.statistics.half_life().map(|age| (age.rows, age.learnt))
    }

    /// How much each feature tells about the class, as JSON.
    fn features(&self) -> PyResult<String> {
        json(&self.0.learnt.features().map_err(of_core)?)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.learnt.to_bytes()))
    }

    /// Writes the model file, in one step.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| store::replace_file(path, &self.0.learnt.to_bytes())).map_err(of_input)
    }
}

impl Snapshot {
    fn model(&self, py: Python<'_>) -> PyResult<&Model> {
        py.detach(|| self.0.model()).map_err(of_core)
    }
}

/// How good such a model is at what it has not seen: a report as JSON. `open` gives a table of the rows whenever it is called,
/// and `test` one of others, if the model is to be tested on these.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn evaluate(
    py: Python<'_>,
    open: Py<PyAny>,
    test: Option<Py<PyAny>>,
    target: String,
    weight: Option<String>,
    choices: &Bound<'_, PyDict>,
    split: Splitting,
    seed: u64,
) -> PyResult<String> {
    let judging = judging(choices)?;
    let open = Opener::new(open);
    let look = open.open.bind(py).call0()?;
    let (schema, settings) = understand(look.cast::<PyTable>()?.get(), target, weight, choices)?;
    drop(look);
    let test = test.map(Opener::new);
    let done = interruptible(py, |work| {
        let Some(test) = &test else {
            let tables = |i| (i == 0).then(|| open.table());
            return priory_input::evaluate(&tables, &schema, &settings, judging, split.0, seed, work);
        };
        let (statistics, _) = work.learn(open.table()?, &judging.start(&schema))?;
        let mut learnt = priory::Learnt::new(statistics, settings.clone());
        learnt.judge(judging, work.threads)?;
        let tables = |i| (i == 0).then(|| test.table());
        priory_input::evaluate_on(&tables, &learnt, work)
    });
    let done = test.map_or(Ok(()), |test| test.check(Ok(()))).and(done);
    let report = open.check(done)?.report();
    if report.rows == 0 {
        return Err(of_core(priory::Error::Empty));
    }
    json(&report)
}

/// What is shown of a model.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    summary: Summary,
    fingerprint: String,
}

fn json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// `("folds", k)`, `("holdout", share)` or `("leave-one-out", None)`.
pub(crate) struct Splitting(Split);

impl<'a, 'py> FromPyObject<'a, 'py> for Splitting {
    type Error = PyErr;

    fn extract(words: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (word, amount): (String, Option<f64>) = words.extract()?;
        match (word.as_str(), amount) {
            ("folds", Some(k)) => Ok(Splitting(Split::Folds(k as usize))),
            ("holdout", Some(share)) => Ok(Splitting(Split::Holdout(share))),
            ("leave-one-out", None) => Ok(Splitting(Split::LeaveOneOut)),
            _ => Err(PyValueError::new_err("expected folds, holdout or leave-one-out")),
        }
    }
}

/// The names of what can be chosen about models and about text, as the command line has them.
#[pyfunction]
pub(crate) fn choice_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (Choices::NAMES.to_vec(), TextChoices::NAMES.to_vec())
}

/// How far what the columns say is to be judged.
fn judging(choices: &Bound<'_, PyDict>) -> PyResult<Judging> {
    let Some(word) = chosen::<String>(choices, "judge")? else { return Ok(Judging::None) };
    word.parse().map_err(|error| PyValueError::new_err(format!("judge={word:?}: {error}")))
}

/// What the columns are and what was chosen about them.
fn understand(
    look: &PyTable,
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
        missing: missing.unwrap_or_else(|| priory::schema::MISSING_SPELLINGS.map(String::from).to_vec()),
        meanings: meanings.collect::<PyResult<Vec<(String, Meaning)>>>()?,
    };
    let mut settings = Settings::default();
    choose(choices, &mut settings)?;
    let none = &mut std::iter::empty::<priory_input::Result<priory_input::Table>>();
    let understood = Understood::new(&mut look.open()?, none, &hints).map_err(of_input)?;
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
    })
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
fn choose(choices: &Bound<'_, PyDict>, settings: &mut Settings) -> PyResult<()> {
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

/// Answers in the order of the rows: numbers, this many classes a row; or the most probable classes, if no numbers are wanted.
struct Answers {
    wanted: Option<Wanted>,
    classes: usize,
    found: Mutex<Found>,
    /// The last row for which there was no more room, if there was one.
    beyond: AtomicUsize,
}

#[derive(Default)]
struct Found {
    numbers: Vec<f64>,
    best: Vec<i64>,
}

impl Answers {
    /// Has room for this many rows, if it is known how many there will be: what does not fit into memory is refused before any
    /// work is done.
    fn new(wanted: Option<Wanted>, classes: usize, rows: Option<usize>) -> PyResult<Self> {
        let mut found = Found::default();
        if let (Some(_), Some(rows)) = (&wanted, rows) {
            let numbers = rows.checked_mul(classes).ok_or_else(|| too_large(rows, classes))?;
            found.numbers.try_reserve_exact(numbers).map_err(|_| too_large(rows, classes))?;
        }
        Ok(Answers { wanted, classes, found: Mutex::new(found), beyond: AtomicUsize::new(0) })
    }

    /// Scores all rows, of a batch with many classes some at a time.
    fn fill(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        score: impl Fn(&Batch) -> priory::Result<Scores> + Sync,
    ) -> priory_input::Result<()> {
        self.fill_by(work, reader, |first, piece| Ok(self.put(first, &score(piece)?)))
    }

    /// Finds the ends of the intervals of all rows, which are twice as many numbers as there are classes.
    fn fill_ends(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        intervals: &priory::Intervals<'_>,
        probability: f64,
    ) -> priory_input::Result<()> {
        self.fill_by(work, reader, |first, piece| {
            let interval = intervals.of(piece, &intervals.model().score(piece)?, probability)?;
            let ends = (0..piece.rows).flat_map(|row| interval.low(row).iter().chain(interval.high(row)));
            let ends: Vec<f64> = ends.copied().collect();
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(put(&mut found.numbers, first * self.classes, &ends))
        })
    }

    /// Puts the answers of all rows to their places, by what is done with a piece of a batch and the number of its first row.
    fn fill_by(
        &self,
        work: &Work<'_>,
        reader: &Reader,
        answer: impl Fn(usize, &Batch) -> priory::Result<Result<(), TryReserveError>> + Sync,
    ) -> priory_input::Result<()> {
        let nothing = || ();
        work.fold(reader, nothing, |(), batch, turn| {
            let mut first = turn.rows_before(reader)? as usize;
            for piece in batch.pieces(rows_to_score(self.classes)) {
                let rows = piece.rows;
                if answer(first, &piece)?.is_err() {
                    self.beyond.store(first + rows, Ordering::Relaxed);
                    return Err(priory_input::Error::Stopped);
                }
                first += rows;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn into_array(self, py: Python<'_>, done: PyResult<()>) -> PyResult<Bound<'_, PyAny>> {
        match self.beyond.into_inner() {
            0 => done?,
            rows => return Err(too_large(rows, self.classes)),
        }
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.wanted.is_none() {
            return Ok(found.best.into_pyarray(py).into_any());
        }
        let rows = found.numbers.len() / self.classes.max(1);
        Ok(found.numbers.into_pyarray(py).reshape([rows, self.classes])?.into_any())
    }

    /// Puts the answers of some rows to their places, from this row on.
    fn put(&self, first: usize, scores: &Scores) -> Result<(), TryReserveError> {
        let found = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = 0..scores.rows();
        let Some(wanted) = &self.wanted else {
            let best: Vec<i64> = rows.map(|row| scores.best(row) as i64).collect();
            return put(&mut found().best, first, &best);
        };
        let numbers: Vec<f64> = match wanted {
            Wanted::Joint => rows.flat_map(|row| scores.row(row)).copied().collect(),
            Wanted::Log => rows.flat_map(|row| scores.log_posterior(row)).collect(),
            Wanted::Probability => {
                let posterior = scores.normalize();
                rows.flat_map(|row| posterior.row(row)).copied().collect()
            }
        };
        put(&mut found().numbers, first * self.classes, &numbers)
    }
}

/// Writes values from this place on. What was not there yet is zero.
fn put<T: Copy + Default>(to: &mut Vec<T>, first: usize, values: &[T]) -> Result<(), TryReserveError> {
    let end = first + values.len();
    if to.len() < end {
        to.try_reserve(end - to.len())?;
        to.resize(end, T::default());
    }
    to[first..end].copy_from_slice(values);
    Ok(())
}

pub(crate) fn too_large(rows: usize, classes: usize) -> PyErr {
    PyMemoryError::new_err(format!(
        "an array of {rows} rows and {classes} classes does not fit into memory; predict fewer rows at a time"
    ))
}

/// What explanations come to.
#[derive(Default)]
struct Contributions {
    features: Vec<String>,
    values: Vec<f64>,
    log_joints: Vec<f64>,
}

impl Contributions {
    /// Adds a row, of this many if that is known.
    fn add(&mut self, explanation: &priory::Explanation, rows: Option<usize>) -> Result<(), TryReserveError> {
        let parts = &explanation.contributions;
        let classes = explanation.log_joint.len();
        if self.log_joints.is_empty() {
            self.features = parts.iter().map(|part| part.feature.clone()).collect();
            let rows = rows.unwrap_or(1);
            self.values.try_reserve_exact(rows.saturating_mul(parts.len()).saturating_mul(classes))?;
            self.log_joints.try_reserve_exact(rows.saturating_mul(classes))?;
        }
        self.values.try_reserve(parts.len() * classes)?;
        parts.iter().for_each(|part| self.values.extend_from_slice(&part.log_likelihood));
        self.log_joints.try_reserve(classes)?;
        self.log_joints.extend_from_slice(&explanation.log_joint);
        Ok(())
    }
}

/// Calls Python for a table whenever one is needed, on whatever thread that is.
struct Opener {
    open: Py<PyAny>,
    /// What Python had against it.
    refused: Mutex<Option<PyErr>>,
}

impl Opener {
    fn new(open: Py<PyAny>) -> Self {
        Opener { open, refused: Mutex::new(None) }
    }

    fn table(&self) -> priory_input::Result<priory_input::Table> {
        let opened = Python::attach(|py| self.open.bind(py).call0()?.cast::<PyTable>()?.get().open());
        opened.map_err(|error| {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            priory_input::Error::Stopped
        })
    }

    /// What came of the work, or what Python had against it.
    fn check<R>(self, done: PyResult<R>) -> PyResult<R> {
        match self.refused.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => done,
        }
    }
}

/// Ends work between two batches when it was interrupted.
#[derive(Default)]
struct Interruption(AtomicBool);

impl Watch for Interruption {
    fn advance(&self, _: u64) -> priory_input::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(priory_input::Error::Stopped),
            false => Ok(()),
        }
    }
}

/// Does work on another thread while this one looks for Ctrl-C.
fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Work<'_>) -> priory_input::Result<R> + Send,
) -> PyResult<R> {
    const PATIENCE: Duration = Duration::from_millis(50);
    let interruption = Interruption::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let interruption = &interruption;
            let worker = scope.spawn(move || {
                let result = work(&Work { threads: threads(), watch: interruption });
                // Whoever waits is still there.
                let _ = send.send(result);
            });
            let mut interrupted = Ok(());
            let result = loop {
                match receive.recv_timeout(PATIENCE) {
                    Ok(result) => break result,
                    Err(RecvTimeoutError::Timeout) if interrupted.is_ok() => {
                        interrupted = Python::attach(|py| py.check_signals());
                        interruption.0.store(interrupted.is_err(), Ordering::Relaxed);
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

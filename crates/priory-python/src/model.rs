//! The model that takes a table as it is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use priory::decide::Decision;
use priory::plot::{Detail, MOST_STEPS, Points, Subject, Waterfall, svg};
use priory::report::{Summary, TOP_TOKENS};
use priory::report_page::{Made, ReportPage, Tested};
use priory::{Batch, Explanation, Kind, Model, Statistics};
use priory_input::{Purpose, Reader, Turn, WholeNumbers, Work, store};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::answers::{Answers, Contributions};
use crate::choices::{choose, chosen, decide, judging, understand};
use crate::error::{of_core, of_input};
use crate::few::FewRows;
use crate::interrupt::{Opener, interruptible, quick_or_interruptible};
use crate::parts::{AGEING, spelling_word};
use crate::scores::Wanted;
use crate::shared::Shared;
use crate::table::{PyTable, Spellings};
use crate::work::threads;

/// Writes a file in one step.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    py.detach(|| store::replace_file(path, text.as_bytes())).map_err(of_input)
}

/// What was counted under which settings, and the model that follows from it once somebody asks for it.
pub(crate) struct State {
    learnt: priory::Learnt,
    model: OnceLock<Model>,
    spellings: OnceLock<Spellings>,
    /// Another number for everything that was ever learnt, so that nobody mistakes one for the other.
    version: u64,
}

impl State {
    fn new(learnt: priory::Learnt) -> Self {
        State { learnt, model: OnceLock::new(), spellings: OnceLock::new(), version: next_version() }
    }

    pub(crate) fn model(&self) -> priory::Result<&Model> {
        if self.model.get().is_none() {
            let model = self.learnt.estimate()?;
            self.model.get_or_init(|| model);
        }
        Ok(self.model.get().unwrap_or_else(|| unreachable!("it was just put there")))
    }

    /// How the columns of categories spell whole numbers, where that is known.
    pub(crate) fn spellings(&self) -> &Spellings {
        self.spellings.get_or_init(|| {
            let statistics = &self.learnt.statistics;
            let columns = statistics.schema().columns.iter().filter(|column| column.kind == Kind::Category);
            let spelt = columns
                .map(|column| (column.name.clone(), WholeNumbers::among(statistics.values_of(&column.name))));
            spelt.filter(|(_, spelling)| *spelling != WholeNumbers::AsTyped).collect()
        })
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
        let (schema, settings) = understand(&mut look.open()?, target, weight, choices)?;
        let mut empty = judging.start(&schema);
        if let Some(rows) = chosen(choices, "half_life")? {
            empty.set_half_life(rows).map_err(of_core)?;
        }
        let table = table.open()?;
        let (statistics, _) = interruptible(py, |work| work.learn(table, &empty))?;
        let mut learnt = priory::Learnt::new(statistics, settings);
        py.detach(|| learnt.conclude(judging, threads())).map_err(of_core)?;
        Learnt::concluded(py, learnt)
    }

    /// Learns more rows, which age from here on if there is a half-life. Returns the number under which the first of them
    /// was learnt, where rows age.
    #[pyo3(signature = (table, half_life=None, rows=None))]
    fn learn_more(
        &self,
        py: Python<'_>,
        table: &PyTable,
        half_life: Option<u64>,
        rows: Option<usize>,
    ) -> PyResult<Option<u64>> {
        if let Some(rows) = half_life
            && self.0.now(py).learnt.statistics.half_life().is_none_or(|known| known.rows != rows)
        {
            self.change(py, |statistics| statistics.set_half_life(rows))?;
        }
        let now = self.0.now(py);
        let (empty, table) = (now.learnt.statistics.empty_at_same_age(), table.open_spelt(now.spellings())?);
        drop(now);
        let (part, _) = quick_or_interruptible(py, rows, |work| work.learn(table, &empty))?;
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
        let open = Opener::new(open, before.spellings().clone());
        drop(before);
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
        let now = self.0.now(py);
        let (empty, table) =
            (judging.start(now.learnt.statistics.schema()), table.open_spelt(now.spellings())?);
        drop(now);
        let (rows, _) = interruptible(py, |work| work.learn(table, &empty))?;
        self.change_learnt(py, |learnt| learnt.judge_by(rows, judging, threads()).map(|_| ()))
    }

    /// Learns what another has learnt.
    fn merge(&self, py: Python<'_>, other: &Snapshot) -> PyResult<()> {
        self.change_learnt(py, |learnt| learnt.merge(&other.0.learnt))
    }

    /// Learns the rows that another has learnt from an [empty part](Snapshot::empty_part) of this. A judgement stays.
    fn merge_rows(&self, py: Python<'_>, other: &Snapshot) -> PyResult<()> {
        self.change(py, |statistics| {
            statistics.merge(&other.0.learnt.statistics)?;
            statistics.check_size()
        })
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
    pub(crate) fn new(learnt: priory::Learnt) -> Self {
        Learnt(Shared::new(State::new(learnt)))
    }

    /// The same, if a model follows from it.
    pub(crate) fn concluded(py: Python<'_>, learnt: priory::Learnt) -> PyResult<Self> {
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
            (state.model, state.spellings) = (OnceLock::new(), OnceLock::new());
            state.version = next_version();
            Ok(())
        });
        changed.map_err(of_core)
    }
}

/// What was learnt up to some moment, and what follows from it.
#[pyclass(module = "priory._priory", frozen)]
pub(crate) struct Snapshot(Arc<State>);

impl Snapshot {
    pub(crate) fn learnt(&self) -> &priory::Learnt {
        &self.0.learnt
    }
}

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

    /// Nothing learnt yet, as bytes: what is learnt from there on can be merged with this.
    fn empty_part<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        if self.0.learnt.statistics.half_life().is_some() {
            return Err(PyValueError::new_err(AGEING));
        }
        Ok(PyBytes::new(py, &self.0.learnt.empty_like().to_bytes()))
    }

    /// How the columns of categories spell whole numbers, where that is known.
    fn spellings(&self) -> BTreeMap<String, &'static str> {
        self.0
            .spellings()
            .iter()
            .map(|(column, &spelling)| (column.clone(), spelling_word(spelling)))
            .collect()
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
        let columns = schema.columns.iter().map(|column| (column.name.clone(), column.word()));
        (schema.target.clone(), schema.weight.clone(), columns.collect())
    }

    /// The names of the columns of a table that are used.
    fn used(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.model(py)?.schema().columns.iter().map(|column| column.source().to_owned()).collect())
    }

    /// A quick way for a few rows. Those without names have columns of these names.
    fn few_rows(&self, py: Python<'_>, names: Vec<String>, tolerant: bool) -> PyResult<FewRows> {
        self.model(py)?;
        FewRows::new(py, &self.0, &names, tolerant)
    }

    /// A picture of a column, of two against each other, or of all if none is named, as SVG.
    /// Rows with their classes are points over a map of two columns.
    #[pyo3(signature = (columns, rows=None))]
    fn plot(&self, py: Python<'_>, columns: Vec<String>, rows: Option<&PyTable>) -> PyResult<String> {
        let model = self.model(py)?;
        let subject = Subject::new(&self.0.learnt, model).map_err(of_core)?;
        let picture = match columns.as_slice() {
            [] => subject.ranked().and_then(|ranked| subject.all(&ranked, Detail::PANEL)),
            columns => subject.one(columns, Detail::PAGE),
        };
        let mut picture = picture.map_err(of_core)?;
        if let Some(rows) = rows {
            let mut points = Points::new(model, &columns).map_err(of_core)?;
            let mut batches = self.open(rows)?.batches(model.schema(), Purpose::Testing).map_err(of_input)?;
            let mut batch = batches.reader().empty_batch();
            while batches.read(&mut batch).map_err(of_input)? {
                points.add(&batch);
            }
            picture.add_points(points.kept().0);
        }
        Ok(svg::draw(&picture))
    }

    /// By how many bits each value speaks for a class, or for the usual one, as SVG.
    #[pyo3(signature = (class=None))]
    fn nomogram(&self, py: Python<'_>, class: Option<String>) -> PyResult<String> {
        let subject = Subject::new(&self.0.learnt, self.model(py)?).map_err(of_core)?;
        let nomogram = subject.nomogram(class.as_deref()).map_err(of_core)?;
        Ok(svg::nomogram(&nomogram, svg::WIDTH).file())
    }

    /// How the first row of a table comes to its answer, as SVG.
    fn waterfall(&self, py: Python<'_>, table: &PyTable) -> PyResult<String> {
        let model = self.model(py)?;
        let mut rows = self.open(table)?.batches(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let mut batch = rows.reader().empty_batch();
        if !rows.read(&mut batch).map_err(of_input)? || batch.rows == 0 {
            return Err(PyValueError::new_err("there is no row to explain"));
        }
        let explanation = model.explain(&batch, 0).map_err(of_core)?;
        let waterfall = Waterfall::new(&explanation, &model.schema().target, MOST_STEPS);
        Ok(svg::waterfall(&waterfall, svg::WIDTH).file())
    }

    /// A page about the model for a browser; tested on the rows of a table, which `open` gives, if there is one.
    #[pyo3(signature = (open=None))]
    fn report(&self, py: Python<'_>, open: Option<Py<PyAny>>) -> PyResult<String> {
        let model = self.model(py)?;
        let learnt = &self.0.learnt;
        let found = match open {
            None => None,
            Some(open) => {
                let open = Opener::new(open, self.0.spellings().clone());
                let done = interruptible(py, |work| {
                    let evaluation =
                        priory_input::evaluate_on(&|i| (i == 0).then(|| open.table()), learnt, work)?;
                    let (rows, _) =
                        work.learn(open.table()?, &Statistics::empty(learnt.statistics.schema()))?;
                    Ok((evaluation, rows))
                });
                Some(open.check(done)?)
            }
        };
        let tested = found.as_ref().map(|(evaluation, rows)| Tested {
            evaluation,
            how: "other rows",
            rows: Some(rows),
        });
        let made = Made { command: "model.report()".to_owned(), files: Vec::new() };
        let page = ReportPage { learnt, model, tested, left_out: &[], made: &made };
        page.write().map_err(of_core)
    }

    /// P(class), in the order of the classes.
    fn prior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.model(py)?.prior().to_vec().into_pyarray(py))
    }

    /// Scores, `joint`, `log` or `probability`; or the classes that are answered, as the model decides or as was chosen for this
    /// time. `rows` is how many rows the table has, if that is known.
    #[pyo3(signature = (table, wanted=None, rows=None, choices=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        wanted: Option<Wanted>,
        rows: Option<usize>,
        choices: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model(py)?;
        let reader = self.open(table)?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let mut answers = Answers::new(wanted, model.classes().len(), rows)?;
        let decision = self.decision(choices)?;
        if !decision.is_most_probable() {
            decision.check_for(model.classes()).map_err(of_core)?;
            answers = answers.decided_by(decision.decider(model.classes()).map_err(of_core)?);
        }
        let done =
            quick_or_interruptible(py, rows, |work| answers.fill(work, &reader, |batch| model.score(batch)));
        answers.into_array(py, done)
    }

    /// Whether another class than the most probable may be answered.
    fn decides(&self) -> bool {
        !self.0.learnt.settings.decision.is_most_probable()
    }

    /// Whether rows may be answered by none of the classes, as the model decides or as was chosen for this time.
    #[pyo3(signature = (choices=None))]
    fn may_be_unsure(&self, py: Python<'_>, choices: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        Ok(self.decision(choices)?.may_be_unsure(self.model(py)?.classes()))
    }

    /// log P(x) of every row.
    #[pyo3(signature = (table, rows=None))]
    fn log_evidence<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        rows: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model(py)?;
        let reader = self.open(table)?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let answers = Answers::new(Some(Wanted::Joint), 1, rows)?;
        let done = interruptible(py, |work| answers.fill_log_evidence(work, &reader, model));
        answers.into_array(py, done)
    }

    /// The most likely shares of the classes in rows without classes, in canonical order; `open` gives a table of them.
    fn find_shares(&self, py: Python<'_>, open: Py<PyAny>) -> PyResult<Vec<f64>> {
        let model = self.model(py)?;
        let open = Opener::new(open, self.0.spellings().clone());
        let done = interruptible(py, |work| work.find_shares(&|i| (i == 0).then(|| open.table()), model));
        Ok(open.check(done)?.shares)
    }

    /// How good the model is at the rows of a table, which `open` gives: a report as JSON.
    fn evaluate(&self, py: Python<'_>, open: Py<PyAny>, cut_offs: Vec<f64>) -> PyResult<String> {
        let open = Opener::new(open, self.0.spellings().clone());
        let done = interruptible(py, |work| {
            priory_input::evaluate_on(&|i| (i == 0).then(|| open.table()), &self.0.learnt, work)
        });
        json(&open.check(done)?.report_with(&cut_offs).map_err(of_core)?)
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
        let reader = self.open(table)?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
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
        let reader = self.open(table)?.reader(statistics.schema(), Purpose::Learning).map_err(of_input)?;
        let answers = Answers::new(Some(Wanted::Probability), statistics.classes().len(), rows)?;
        let done = interruptible(py, |work| {
            self.0
                .learnt
                .leave_one_out(|left_out| answers.fill(work, &reader, |batch| left_out.score(batch)))?
        });
        answers.into_array(py, done)
    }

    /// For each row and feature what it adds to the log-joint of each class: the names of the features, the values of each row, an
    /// array of rows × features × classes, log P(class), and the log-joints, which are the sums of these.
    #[pyo3(signature = (table, rows=None))]
    #[expect(clippy::type_complexity, reason = "five things that belong together, once")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        rows: Option<usize>,
    ) -> PyResult<(
        Vec<String>,
        Vec<Vec<Option<String>>>,
        Bound<'py, PyArray3<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray2<f64>>,
    )> {
        let model = self.model(py)?;
        let reader = self.open(table)?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let mut found = Contributions::default();
        let mut is_full = false;
        let done = quick_or_interruptible(py, rows, |work| {
            explain_in_order(work, &reader, model, |explanation| {
                found.add(&explanation, rows).map_err(|_| {
                    is_full = true;
                    priory_input::Error::Stopped
                })
            })
        });
        if is_full {
            return Err(PyMemoryError::new_err(
                "what every feature of every row adds to every class does not fit into memory; explain fewer rows at a time",
            ));
        }
        done?;
        let classes = model.classes().len();
        let rows = found.log_joints.len() / classes;
        Ok((
            found.features.clone(),
            found.written,
            found.values.into_pyarray(py).reshape([rows, found.features.len(), classes])?,
            model.log_prior().to_vec().into_pyarray(py),
            found.log_joints.into_pyarray(py).reshape([rows, classes])?,
        ))
    }

    /// For each row what the tokens of its documents add to the log-joint of each class, as JSON.
    fn explain_words(&self, py: Python<'_>, table: &PyTable) -> PyResult<String> {
        let model = self.model(py)?;
        let reader = self.open(table)?.reader(model.schema(), Purpose::Scoring).map_err(of_input)?;
        let mut found = Vec::new();
        interruptible(py, |work| {
            explain_in_order(work, &reader, model, |explanation| {
                let contributions = explanation.contributions.into_iter();
                found.push(contributions.filter_map(|of| of.tokens).collect::<Vec<_>>());
                Ok(())
            })
        })?;
        json(&found)
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

/// Explains every row of a table, one after the other.
fn explain_in_order(
    work: &Work<'_>,
    reader: &Reader,
    model: &Model,
    each: impl FnMut(Explanation) -> priory_input::Result<()> + Send,
) -> priory_input::Result<()> {
    let each = Mutex::new(each);
    // One thread, so that the rows stay in their order.
    let work = Work { threads: 1, ..*work };
    let explain = |(): &mut (), batch: &Batch, _: &Turn<'_>| {
        let mut each = each.lock().unwrap_or_else(PoisonError::into_inner);
        (0..batch.rows).try_for_each(|row| each(model.explain(batch, row)?))
    };
    work.fold(reader, || (), explain).map(|_| ())
}

impl Snapshot {
    /// Which class is answered, as the model has it, with what was chosen for this time put over it.
    fn decision(&self, choices: Option<&Bound<'_, PyDict>>) -> PyResult<Decision> {
        let mut decision = self.0.learnt.settings.decision.clone();
        choices.map_or(Ok(()), |choices| decide(choices, &mut decision))?;
        Ok(decision)
    }

    /// The rows of a table, with whole numbers spelt as they are known.
    fn open(&self, table: &PyTable) -> PyResult<priory_input::Table> {
        table.open_spelt(self.0.spellings())
    }

    fn model(&self, py: Python<'_>) -> PyResult<&Model> {
        py.detach(|| self.0.model()).map_err(of_core)
    }
}

/// What is shown of a model.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    summary: Summary,
    fingerprint: String,
}

/// A report as JSON.
pub(crate) fn json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyValueError::new_err(error.to_string()))
}

//! Tables evaluated: every row is looked at twice, once to be counted in its part, once to be scored with the model that
//! follows from the other parts.

use std::iter::StepBy;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{iter, mem, panic, thread};

use priory::decide::Decision;
use priory::evaluate::{
    Evaluation, FoldModel, FoldModels, FoldPart, FoldParts, FoldStatistics, Folds, Holdout, majority_class,
};
use priory::judgement::Judging;
use priory::posterior::rows_to_score;
use priory::{Batch, Learnt, Model, Schema, Settings, Statistics};

use crate::error::Result;
use crate::parallel::Turn;
use crate::reader::Reader;
use crate::table::{Purpose, Table};
use crate::work::Work;

/// Batches that take more memory than this together are not kept; the tables are read again instead.
const MOST_KEPT: usize = 256 << 20;

/// What is tested on what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Split {
    /// Cross-validation: each of this many parts is tested on what was learnt from the others.
    Folds(usize),
    /// A random share of the rows on what was learnt from the rest.
    Holdout(f64),
    /// Every row on what was learnt from all others.
    LeaveOneOut,
}

/// Opens the i-th of some tables, as often as it is asked for, until there are no more.
pub type OpenTable<'a> = &'a (dyn Fn(usize) -> Option<Result<Table>> + Sync);

/// How well models of these tables predict rows that they have not learnt. If they are judged, then by the rows that they have
/// learnt.
///
/// # Errors
/// If a table cannot be read, a row cannot be counted, there is more to count than memory should hold, or no model follows
/// from what is left without some rows.
pub fn evaluate(
    open: OpenTable<'_>,
    schema: &Schema,
    settings: &Settings,
    judging: Judging,
    split: Split,
    seed: u64,
    work: &Work<'_>,
) -> Result<Evaluation> {
    let tables = Tables { open, schema, purpose: Purpose::Learning, work };
    match split {
        Split::Folds(k) => evaluate_folds(&tables, settings, judging, k, seed),
        Split::Holdout(share) => evaluate_holdout(&tables, settings, judging, share, seed),
        Split::LeaveOneOut => evaluate_leave_one_out(&tables, settings, judging),
    }
}

/// How well a model of what was learnt predicts the rows of other tables.
///
/// # Errors
/// As for [`evaluate`].
pub fn evaluate_on(open: OpenTable<'_>, learnt: &Learnt, work: &Work<'_>) -> Result<Evaluation> {
    let test = Test::new(learnt)?;
    let tables = Tables { open, schema: learnt.statistics.schema(), purpose: Purpose::Testing, work };
    let decision = &learnt.settings.decision;
    let evaluations = tables
        .fold(|| Evaluation::under(decision), |evaluation, batch, _| Ok(test.observe(evaluation, batch)?))?;
    Ok(merged(evaluations, decision))
}

/// Each fold is tested with a model of the others.
fn evaluate_folds(
    tables: &Tables<'_>,
    settings: &Settings,
    judging: Judging,
    k: usize,
    seed: u64,
) -> Result<Evaluation> {
    let (statistics, kept) = count_folds(tables, judging, k, seed)?;
    let mut total = statistics.total()?;
    let decision = &settings.decision;
    check_decision(decision, &total)?;
    let mut evaluation = Evaluation::under(decision);
    for group in statistics.groups(&total) {
        let model = |fold: usize, total: &mut Statistics| statistics.model(fold, total, settings, judging);
        let models = fold_models(&mut total, group.clone(), tables.work.threads, model)?;
        let folds = InOrder::new(Folds::new(k, seed)?);
        let look = |batch: &Batch, turn: &Turn<'_>| {
            let mut assigned = folds.take(turn, |folds| folds.assign(batch))?;
            // Rows of other folds need not be taken out of the batch.
            assigned.iter_mut().for_each(|fold| *fold = fold.filter(|fold| group.contains(fold)));
            Ok(FoldParts::new(batch, &assigned)?)
        };
        let some =
            tables.evaluate(&kept, decision, look, |evaluation, parts| models.evaluate(parts, evaluation))?;
        evaluation.merge(&some);
    }
    Ok(evaluation)
}

/// Counts the rows of each fold, and keeps them if they are few.
fn count_folds(
    tables: &Tables<'_>,
    judging: Judging,
    k: usize,
    seed: u64,
) -> Result<(FoldStatistics, Kept<FoldParts>)> {
    let folds = InOrder::new(Folds::new(k, seed)?);
    let empty = || {
        let mut empty = FoldStatistics::empty(tables.schema, k);
        if judging != Judging::None {
            empty.keep_rows();
        }
        empty
    };
    let all = Mutex::new(empty());
    let gather = |part: FoldStatistics| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(part)?;
        all.check_size()
    };
    let (parts, kept) = tables.fold_and_keep(empty, |part, batch, turn| {
        let assigned = folds.take(turn, |folds| folds.assign(batch))?;
        let rows = part.observe(batch, &assigned)?;
        part.check_size()?;
        if part.is_large() {
            gather(mem::replace(part, empty()))?;
        }
        Ok(rows)
    })?;
    parts.into_iter().try_for_each(gather)?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.limit_neighbours();
    Ok((all, kept))
}

/// The models of some folds, several estimated at once by `model`, which takes a fold away from a total and puts it back.
fn fold_models(
    total: &mut Statistics,
    folds: Range<usize>,
    threads: usize,
    model: impl Fn(usize, &mut Statistics) -> priory::Result<FoldModel> + Sync,
) -> priory::Result<FoldModels> {
    let (first, schema, threads) = (folds.start, total.schema().clone(), threads.min(folds.len()));
    // With n threads, thread t has the folds t, t + n, t + 2n and so on, and a total of its own to subtract them from.
    let mut others: Vec<Statistics> = (1..threads).map(|_| total.clone()).collect();
    let some = |total: &mut Statistics, folds: StepBy<Range<usize>>| -> Vec<priory::Result<FoldModel>> {
        folds.map(|fold| model(fold, total)).collect()
    };
    let mut estimated: Vec<_> = thread::scope(|scope| {
        let totals = iter::once(total).chain(&mut others);
        let shares = (first..folds.end).map(|start| (start..folds.end).step_by(threads));
        let handles: Vec<_> =
            totals.zip(shares).map(|(total, folds)| scope.spawn(|| some(total, folds))).collect();
        let join = |handle: thread::ScopedJoinHandle<'_, Vec<_>>| {
            handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        };
        handles.into_iter().map(|handle| join(handle).into_iter()).collect()
    });
    let in_order = (0..folds.len()).map_while(|i| estimated[i % threads].next());
    Ok(FoldModels::new(first, in_order.collect::<priory::Result<_>>()?, &schema))
}

fn evaluate_holdout(
    tables: &Tables<'_>,
    settings: &Settings,
    judging: Judging,
    share: f64,
    seed: u64,
) -> Result<Evaluation> {
    let holdout = InOrder::new(Holdout::new(share, seed)?);
    let empty = || judging.start(tables.schema);
    let (parts, kept) = tables.fold_and_keep(empty, |part, batch, turn| {
        let is_test = holdout.take(turn, |holdout| holdout.assign(batch))?;
        let learnt = (0..batch.rows).filter(|&row| is_test[row] == Some(false));
        part.observe_rows(batch, learnt)?;
        part.check_size()?;
        Ok(test_rows(batch, &is_test)?)
    })?;
    let mut statistics = empty();
    parts.iter().try_for_each(|part| statistics.merge(part))?;
    statistics.check_size()?;
    let mut learnt = Learnt::new(statistics, settings.clone());
    learnt.judge(judging, tables.work.threads)?;
    let test = Test::new(&learnt)?;
    let holdout = InOrder::new(Holdout::new(share, seed)?);
    let look = |batch: &Batch, turn: &Turn<'_>| {
        let is_test = holdout.take(turn, |holdout| holdout.assign(batch))?;
        Ok(test_rows(batch, &is_test)?)
    };
    tables.evaluate(&kept, &settings.decision, look, |evaluation, tests| {
        evaluation.skip(tests.skipped());
        tests.parts().iter().try_for_each(|part| test.observe_part(evaluation, part))
    })
}

/// The rows to test on, as a single part.
fn test_rows(batch: &Batch, is_test: &[Option<bool>]) -> priory::Result<FoldParts> {
    let assigned: Vec<Option<usize>> =
        is_test.iter().map(|test| test.filter(|&test| test).map(|_| 0)).collect();
    FoldParts::new(batch, &assigned)
}

fn evaluate_leave_one_out(tables: &Tables<'_>, settings: &Settings, judging: Judging) -> Result<Evaluation> {
    let empty = || judging.start(tables.schema);
    let (parts, kept) = tables.fold_and_keep(empty, |part, batch, _| {
        part.observe(batch)?;
        part.check_size()?;
        Evaluation::check(batch)?;
        Ok(batch.clone())
    })?;
    let mut statistics = empty();
    parts.iter().try_for_each(|part| statistics.merge(part))?;
    statistics.check_size()?;
    let mut learnt = Learnt::new(statistics, settings.clone());
    learnt.judge(judging, tables.work.threads)?;
    let decision = &settings.decision;
    check_decision(decision, &learnt.statistics)?;
    let look = |batch: &Batch, _: &Turn<'_>| Ok(batch.clone());
    learnt.leave_one_out(|left_out| {
        tables.evaluate(&kept, decision, look, |evaluation, batch| {
            evaluation.observe_leave_one_out(left_out, batch)
        })
    })?
}

/// Refuses, before rows are scored, a decision that does not go with the classes of all rows.
fn check_decision(decision: &Decision, all: &Statistics) -> priory::Result<()> {
    let classes: Vec<String> = all.classes().into_iter().map(|(name, _)| name.to_owned()).collect();
    decision.check_for(&classes)
}

/// One model to test, and the class that would be answered without it.
struct Test {
    schema: Schema,
    model: Model,
    baseline: String,
}

impl Test {
    fn new(learnt: &Learnt) -> Result<Self> {
        let baseline = majority_class(&learnt.statistics).unwrap_or_default().to_owned();
        let schema = learnt.statistics.schema().clone();
        Ok(Test { schema, model: learnt.estimate()?, baseline })
    }

    fn observe(&self, evaluation: &mut Evaluation, batch: &Batch) -> priory::Result<()> {
        let classes = self.model.classes();
        batch.pieces(rows_to_score(classes.len())).try_for_each(|piece| {
            let rows = piece.only(&self.schema, self.model.schema());
            evaluation.observe(classes, &rows, &self.model.score(&rows)?, &self.baseline)
        })
    }

    fn observe_part(&self, evaluation: &mut Evaluation, part: &FoldPart) -> priory::Result<()> {
        part.evaluate(&self.schema, &self.model, &self.baseline, evaluation)
    }
}

/// Something that must see the rows in their order, whatever thread reads them.
struct InOrder<T>(Mutex<T>);

impl<T> InOrder<T> {
    fn new(thing: T) -> Self {
        InOrder(Mutex::new(thing))
    }

    fn take<R>(&self, turn: &Turn<'_>, work: impl FnOnce(&mut T) -> R) -> Result<R> {
        // Only the thread whose turn it is holds the lock.
        turn.take(|| Ok(work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))))
    }
}

/// Tables that are looked at more than once.
struct Tables<'a> {
    open: OpenTable<'a>,
    schema: &'a Schema,
    purpose: Purpose,
    work: &'a Work<'a>,
}

/// What is looked at again of every batch; `None` if it was too much to keep.
type Kept<K> = Option<Vec<K>>;

/// Something that can be kept.
trait Keep: Send + Sync {
    /// About how many bytes it takes.
    fn memory(&self) -> usize;
}

impl Keep for Batch {
    fn memory(&self) -> usize {
        Batch::memory(self)
    }
}

impl Keep for FoldParts {
    fn memory(&self) -> usize {
        FoldParts::memory(self)
    }
}

impl Tables<'_> {
    /// Takes every batch of every table through `step` on several threads; returns their states.
    fn fold<S: Send>(
        &self,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch, &Turn<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.read(|reader| {
            let states = self.work.fold(reader, &start, &step)?;
            self.work.watch.was_read(reader);
            Ok(states)
        })
    }

    /// Hands every table to `each`, and returns what it gives for all of them.
    fn read<S>(&self, mut each: impl FnMut(&Reader) -> Result<Vec<S>>) -> Result<Vec<S>> {
        let mut states = Vec::new();
        for table in (0..).map_while(self.open) {
            states.extend(each(&table?.reader(self.schema, self.purpose)?)?);
        }
        Ok(states)
    }

    /// As [`fold`](Self::fold), and keeps what `step` returns for [`evaluate`](Self::evaluate), unless it is too much.
    fn fold_and_keep<S: Send, K: Keep>(
        &self,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch, &Turn<'_>) -> Result<K> + Sync,
    ) -> Result<(Vec<S>, Kept<K>)> {
        let memory = AtomicUsize::new(0);
        let start = || (start(), Vec::new());
        let states = self.fold(start, |(state, kept), batch, turn| {
            let item = step(state, batch, turn)?;
            let size = item.memory();
            if memory.fetch_add(size, Ordering::Relaxed) + size <= MOST_KEPT {
                kept.push(item);
            } else {
                *kept = Vec::new(); // some would be of no use
            }
            Ok(())
        })?;
        let (states, kept): (Vec<S>, Vec<Vec<K>>) = states.into_iter().unzip();
        let is_everything = memory.into_inner() <= MOST_KEPT;
        Ok((states, is_everything.then(|| kept.into_iter().flatten().collect())))
    }

    /// Evaluates everything that was kept; or all tables once more, with what `look` makes of each batch.
    fn evaluate<K: Keep>(
        &self,
        kept: &Kept<K>,
        decision: &Decision,
        look: impl Fn(&Batch, &Turn<'_>) -> Result<K> + Sync,
        step: impl Fn(&mut Evaluation, &K) -> priory::Result<()> + Sync,
    ) -> Result<Evaluation> {
        let evaluations = match kept {
            Some(kept) => evaluate_kept(kept, decision, self.work, step)?,
            None => self.read(|reader| {
                self.work.fold(
                    reader,
                    || Evaluation::under(decision),
                    |evaluation, batch, turn| Ok(step(evaluation, &look(batch, turn)?)?),
                )
            })?,
        };
        Ok(merged(evaluations, decision))
    }
}

/// All evaluations together.
fn merged(evaluations: Vec<Evaluation>, decision: &Decision) -> Evaluation {
    let mut evaluations = evaluations.into_iter();
    let mut all = evaluations.next().unwrap_or_else(|| Evaluation::under(decision));
    evaluations.for_each(|evaluation| all.merge(&evaluation));
    all
}

fn evaluate_kept<K: Keep>(
    kept: &[K],
    decision: &Decision,
    work: &Work<'_>,
    step: impl Fn(&mut Evaluation, &K) -> priory::Result<()> + Sync,
) -> Result<Vec<Evaluation>> {
    let all: usize = kept.iter().map(Keep::memory).sum();
    work.watch.begin(Some(all as u64));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let share = || {
        let mut evaluation = Evaluation::under(decision);
        while let Some(item) = kept.get(next.fetch_add(1, Ordering::Relaxed)) {
            step(&mut evaluation, item)?;
            let done = done.fetch_add(item.memory(), Ordering::Relaxed) + item.memory();
            work.watch.advance(done as u64)?;
        }
        evaluation.tidy_up(); // while the other threads do the same
        Ok(evaluation)
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..work.threads).map(|_| scope.spawn(share)).collect();
        let join = |handle: thread::ScopedJoinHandle<'_, Result<Evaluation>>| {
            handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        };
        handles.into_iter().map(join).collect()
    })
}

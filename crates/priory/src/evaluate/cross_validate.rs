//! Evaluation by subtraction: every row is counted once, and each model is what remains without some of them.
//!
//! Statistics of fold j are Sⱼ, of everything S = Σ Sⱼ. The model that is asked about fold j follows from S − Sⱼ,
//! bit for bit what training on the other folds would give. With a fold for every row it is leave-one-out.

use std::mem;
use std::ops::Range;

use super::{Evaluation, FoldParts};
use crate::batch::Batch;
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::families::FamilyStatistics;
use crate::families::text::{self, MOST_TOKENS_WITH_NEIGHBOURS, TextStatistics};
use crate::judgement::{Judging, RowSample};
use crate::learnt::Learnt;
use crate::leave_one_out::LeaveOneOut;
use crate::model::Model;
use crate::posterior::rows_to_score;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// Models that take more memory than this together are not held at the same time.
const MOST_HELD: usize = 1 << 30;

/// What a thread has counted should take no more memory than this, so that it does not matter how many threads there are.
const LARGE_PART: usize = 1 << 26;

/// The statistics of each fold by itself.
///
/// ```
/// use priory::{Batch, Column, Kind, Schema, Settings};
/// use priory::evaluate::{Evaluation, FoldStatistics, Folds};
/// use priory::judgement::Judging;
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let days = Batch::from_rows(&[("yes", [Some("rain")]), ("no", [Some("sunny")]), ("yes", [Some("rain")])]);
/// let assigned = Folds::new(3, 1)?.assign(&days);
///
/// let mut statistics = FoldStatistics::empty(&schema, 3);
/// let parts = statistics.observe(&days, &assigned)?;
/// let models = statistics.models(&Settings::default(), Judging::None)?;
/// let mut evaluation = Evaluation::new();
/// models.evaluate(&parts, &mut evaluation)?;
/// assert_eq!(evaluation.report().rows, 3);
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FoldStatistics {
    folds: Vec<Statistics>,
}

impl FoldStatistics {
    /// Statistics of no rows, in `k` folds.
    pub fn empty(schema: &Schema, k: usize) -> Self {
        FoldStatistics { folds: vec![Statistics::empty(schema); k] }
    }

    /// From now on keeps samples of the rows, so that models can be judged.
    ///
    /// # Panics
    /// If there are rows already.
    pub fn keep_rows(&mut self) {
        self.folds.iter_mut().for_each(Statistics::keep_rows);
    }

    /// Adds each row of a batch to its fold, as [`Folds::assign`](super::Folds::assign) says. Returns the parts, for
    /// [`FoldModels::evaluate`].
    ///
    /// # Errors
    /// As for [`FoldParts::new`] and [`Statistics::observe`]; the statistics are then of no further use.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn observe(&mut self, batch: &Batch, assigned: &[Option<usize>]) -> Result<FoldParts> {
        FoldParts::with(batch, assigned, |fold, rows| {
            let statistics = &mut self.folds[fold];
            if statistics.observe(rows).is_err() {
                // The part numbers its rows anew. The batch knows which row it is.
                let rows = (0..batch.rows).filter(|&row| assigned[row] == Some(fold));
                statistics.observe_rows(batch, rows)?;
            }
            Ok(())
        })
    }

    /// Whether so much was counted that a thread should add it to what all have counted, and start anew, before each of them
    /// holds as much.
    pub fn is_large(&self) -> bool {
        self.folds.iter().map(Statistics::memory).sum::<usize>() > LARGE_PART
    }

    /// Lets go of pairs of neighbours in all folds if they are too many in one of them, or in all together. Only judgements weigh
    /// them.
    pub fn limit_neighbours(&mut self) {
        let tokens = |fold: &Statistics| {
            let texts = fold.factors.iter().map(|factor| match factor {
                FamilyStatistics::Text(_, text) => text.tokens.len(),
                _ => 0,
            });
            texts.max().unwrap_or(0)
        };
        let all: usize = self.folds.iter().map(tokens).sum();
        let are_dropped = self.folds.iter().any(|fold| fold.schema != self.folds[0].schema);
        if are_dropped || all > MOST_TOKENS_WITH_NEIGHBOURS {
            self.folds.iter_mut().for_each(Statistics::drop_neighbours);
        }
    }

    /// Refuses, early, what can no longer be estimated or is more than memory should hold, in one fold or in all together.
    ///
    /// # Errors
    /// As for [`Statistics::check_size`].
    pub fn check_size(&self) -> Result<()> {
        self.folds.iter().try_for_each(Statistics::check_size)?;
        let factors = self.folds.first().map_or(0, |fold| fold.factors.len());
        (0..factors).try_for_each(|i| {
            let mut column = "";
            let texts = self.folds.iter().filter_map(|fold| match &fold.factors[i] {
                FamilyStatistics::Text(position, text) => {
                    column = &fold.schema.columns[*position].name;
                    Some(&**text)
                }
                _ => None,
            });
            let texts: Vec<&TextStatistics> = texts.collect();
            text::check_parts(column, &texts)
        })
    }

    /// Adds everything that `other` remembers. Its folds are let go one by one, so that both take no more memory than before.
    ///
    /// # Errors
    /// If the two have different numbers of folds or describe different tables.
    pub fn merge(&mut self, other: FoldStatistics) -> Result<()> {
        let (ours, theirs) = (self.folds.len(), other.folds.len());
        if ours != theirs {
            return Err(Error::Mismatch(format!("one has {ours} folds, the other {theirs}")));
        }
        self.folds.iter_mut().zip(other.folds).try_for_each(|(ours, theirs)| ours.merge(&theirs))
    }

    /// The statistics of all rows.
    ///
    /// # Errors
    /// If all folds together have too many classes, too much weight, or more than [`Statistics::check_size`] allows.
    ///
    /// # Panics
    /// If there are no folds.
    pub fn total(&self) -> Result<Statistics> {
        let mut total = Statistics::empty(&self.folds[0].schema);
        self.folds.iter().try_for_each(|fold| total.merge(fold))?;
        total.check_size()?;
        Ok(total)
    }

    /// The folds in groups, such that the models of a group can be held at the same time. It is one group unless there are
    /// millions of different words or values. `total` is what [`total`](Self::total) gives.
    pub fn groups(&self, total: &Statistics) -> impl Iterator<Item = Range<usize>> + use<> {
        groups(self.folds.len(), total.memory())
    }

    /// The statistics of all rows but those of one fold.
    ///
    /// # Errors
    /// As for [`total`](Self::total).
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn training(&self, fold: usize) -> Result<Statistics> {
        let mut total = self.total()?;
        total.add(&self.folds[fold], -1.0);
        Ok(total)
    }

    /// For each fold the model that follows from all the others.
    ///
    /// # Errors
    /// If there is nothing to learn from, or the settings do not fit the data.
    pub fn models(&self, settings: &Settings, judging: Judging) -> Result<FoldModels> {
        let mut total = self.total()?;
        let models = (0..self.folds.len()).map(|fold| self.model(fold, &mut total, settings, judging));
        Ok(FoldModels::new(0, models.collect::<Result<_>>()?, total.schema()))
    }

    /// The model for one fold, so that several can be estimated in parallel; `total` is the result of
    /// [`total`](Self::total). The fold is taken away from it and put back. If it is judged, then by the rows of the other
    /// folds alone.
    ///
    /// # Errors
    /// As for [`models`](Self::models).
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn model(
        &self,
        fold: usize,
        total: &mut Statistics,
        settings: &Settings,
        judging: Judging,
    ) -> Result<FoldModel> {
        settings.check()?;
        let tested = &self.folds[fold];
        if tested.rows() == total.rows() && total.rows() > 0 {
            return Err(Error::Settings(
                "all rows are in one fold, which leaves none to train on; there are too few of them".into(),
            ));
        }
        // The total was added up from it, so it need not be asked whether that can be.
        total.add(tested, -1.0);
        let baseline = majority_class(total).unwrap_or_default().to_owned();
        // A prior that was given names all classes, of which some may have rows in this fold only.
        let prior = settings.prior.left_to(|class| total.has_rows_of(class) || !tested.has_rows_of(class));
        let model = prior.and_then(|prior| {
            // The decision is the evaluation's; some of its classes may have no rows left here.
            let settings = Settings { prior, decision: Decision::default(), ..settings.clone() };
            match judging {
                Judging::None => total.estimate(&settings),
                _ => self.judged(fold, total, settings, judging),
            }
        });
        total.add(tested, 1.0);
        Ok(FoldModel { model: model?, baseline })
    }

    /// The model of all rows but those of a fold, of which these are the statistics, judged if that is sensible.
    fn judged(
        &self,
        fold: usize,
        training: &mut Statistics,
        settings: Settings,
        judging: Judging,
    ) -> Result<Model> {
        let schema = training.schema.clone();
        let mut learnt = Learnt::new(mem::replace(training, Statistics::empty(&schema)), settings);
        let others = self.folds.iter().enumerate().filter(|&(other, _)| other != fold);
        let samples: Option<Vec<&RowSample>> = others.map(|(_, other)| other.sample.as_deref()).collect();
        learnt.statistics.sample = samples.map(|samples| Box::new(RowSample::merged(&schema, &samples)));
        // The folds are what is judged on several threads.
        let model = learnt.judge(judging, 1).and_then(|_| learnt.estimate());
        *training = learnt.statistics;
        (training.on_grid, training.sample) = (None, None);
        model
    }
}

/// Folds in groups, whose models take so much memory each.
fn groups(folds: usize, memory: usize) -> impl Iterator<Item = Range<usize>> {
    let at_once = (MOST_HELD / memory.max(1)).clamp(1, folds.max(1));
    (0..folds).step_by(at_once).map(move |first| first..folds.min(first + at_once))
}

/// A model that has not seen a fold, and the majority class of what it was trained on.
#[derive(Debug, Clone)]
pub struct FoldModel {
    model: Model,
    baseline: String,
}

/// One model for each of some folds, which has not seen that fold. Families and columns that are chosen are chosen without
/// it too.
#[derive(Debug, Clone)]
pub struct FoldModels {
    schema: Schema,
    first: usize,
    folds: Vec<FoldModel>,
}

impl FoldModels {
    /// The models of some folds, from this one on, of a table with this schema.
    pub fn new(first: usize, folds: Vec<FoldModel>, schema: &Schema) -> Self {
        FoldModels { schema: schema.clone(), first, folds }
    }

    /// The model to ask about the rows of a fold.
    ///
    /// # Panics
    /// If it is not one of these folds.
    pub fn model(&self, fold: usize) -> &Model {
        &self.folds[fold - self.first].model
    }

    /// The majority class of what that model was trained on.
    ///
    /// # Panics
    /// If it is not one of these folds.
    pub fn baseline(&self, fold: usize) -> &str {
        &self.folds[fold - self.first].baseline
    }

    /// Scores each row with the model of its fold, and adds the predictions to an evaluation. Rows of other folds are passed
    /// over, and those without a class are counted along with the first fold.
    ///
    /// # Errors
    /// As for [`Model::score`].
    pub fn evaluate(&self, parts: &FoldParts, evaluation: &mut Evaluation) -> Result<()> {
        let ours = self.first..self.first + self.folds.len();
        for part in parts.parts().iter().filter(|part| ours.contains(&part.fold())) {
            part.evaluate(&self.schema, self.model(part.fold()), self.baseline(part.fold()), evaluation)?;
        }
        if self.first == 0 {
            evaluation.skip(parts.skipped());
        }
        Ok(())
    }
}

impl Evaluation {
    /// Scores each row of a batch as if just that row had not been learnt, and adds the predictions. The batch is
    /// part of what the statistics were made of.
    ///
    /// # Errors
    /// As for [`LeaveOneOut::score`] and [`observe`](Self::observe).
    pub fn observe_leave_one_out(&mut self, left_out: &LeaveOneOut<'_>, batch: &Batch) -> Result<()> {
        Self::check(batch)?;
        let majority = Majority::new(left_out.statistics);
        for batch in batch.pieces(rows_to_score(left_out.classes().len())) {
            let scores = left_out.score(&batch)?;
            self.unseen += scores.unseen();
            self.observe_against(left_out.classes(), &batch, &[], &scores, |row| {
                majority.without(batch.classes.value(row).unwrap_or_default(), batch.weight(row))
            })?;
        }
        Ok(())
    }
}

/// The class that weighs most; of equals the first in canonical order.
pub fn majority_class(statistics: &Statistics) -> Option<&str> {
    heaviest(statistics.classes().into_iter()).map(|(name, _)| name)
}

fn heaviest<'a>(classes: impl Iterator<Item = (&'a str, f64)>) -> Option<(&'a str, f64)> {
    classes.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// The majority class, ready to be asked for without one row.
struct Majority<'a> {
    statistics: &'a Statistics,
    /// All that ever matters: the heaviest class, and the heaviest of the others, in canonical order.
    candidates: Vec<(&'a str, f64)>,
}

impl<'a> Majority<'a> {
    fn new(statistics: &'a Statistics) -> Self {
        let classes = statistics.classes();
        let first = heaviest(classes.iter().copied()).map(|(name, _)| name);
        let second = heaviest(classes.iter().copied().filter(|&(name, _)| Some(name) != first));
        let second = second.map(|(name, _)| name);
        let candidates =
            classes.into_iter().filter(|&(name, _)| Some(name) == first || Some(name) == second).collect();
        Majority { statistics, candidates }
    }

    fn without(&self, class: &str, weight: f64) -> &'a str {
        let weights = self.candidates.iter().map(|&(name, all)| {
            let id = self.statistics.classes.get(name).filter(|_| name == class);
            (name, id.map_or(all, |id| self.statistics.class_weight.get_without(0, id, weight)))
        });
        heaviest(weights).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Column, Kind};

    #[test]
    fn what_a_thread_has_counted_is_large_if_its_folds_are_together() {
        // 2,048 values times 2,048 classes of eight bytes in each of two folds.
        let rows = |fold: usize| {
            let names: Vec<String> = (0..2048).map(|i| format!("{fold}.{i}")).collect();
            let rows: Vec<_> = names.iter().map(|name| (name.as_str(), [Some(name.as_str())])).collect();
            Batch::from_rows(&rows)
        };
        let schema = Schema::new("y", vec![Column::new("x", Kind::Category)]).unwrap();
        let mut statistics = FoldStatistics::empty(&schema, 2);
        for (fold, is_large) in [(0, false), (1, true)] {
            statistics.observe(&rows(fold), &[Some(fold); 2048]).unwrap();
            assert_eq!(statistics.is_large(), is_large);
        }
    }

    #[test]
    fn the_larger_the_models_the_fewer_at_once() {
        let of = |folds, memory| groups(folds, memory).collect::<Vec<_>>();
        let all = of(10, 0);
        assert_eq!((all.len(), &all[0]), (1, &(0..10)));
        assert_eq!(of(10, MOST_HELD / 10), all);
        assert_eq!(of(10, MOST_HELD / 4), [0..4, 4..8, 8..10]);
        assert_eq!(of(3, MOST_HELD), [0..1, 1..2, 2..3]);
        assert_eq!(of(2, 5 * MOST_HELD), [0..1, 1..2]);
    }
}

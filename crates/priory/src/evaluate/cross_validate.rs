//! Evaluation by subtraction: every row is counted once, and each model is what remains without some of them.
//!
//! Statistics of fold j are Sⱼ, of everything S = Σ Sⱼ. The model that is asked about fold j follows from S − Sⱼ,
//! bit for bit what training on the other folds would give. With a fold for every row it is leave-one-out.

use super::{Evaluation, check_weights};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// The statistics of each fold by itself.
///
/// ```
/// use priory::{Batch, Column, Evaluation, FoldStatistics, Folds, Kind, Schema, Settings};
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let days = Batch::from_rows(&[("yes", [Some("rain")]), ("no", [Some("sunny")]), ("yes", [Some("rain")])]);
/// let assigned = Folds::new(3, 1)?.assign(&days);
///
/// let mut statistics = FoldStatistics::empty(&schema, 3);
/// statistics.observe(&days, &assigned)?;
/// let models = statistics.models(&Settings::default())?;
/// let mut evaluation = Evaluation::new();
/// models.evaluate(&days, &assigned, &mut evaluation)?;
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

    /// Adds each row of a batch to its fold, as [`Folds::assign`](super::Folds::assign) says.
    ///
    /// # Errors
    /// As for [`Statistics::observe`]; the statistics are then of no further use.
    pub fn observe(&mut self, batch: &Batch, assigned: &[Option<usize>]) -> Result<()> {
        let rows = by_fold(self.folds.len(), assigned);
        let mut parts = self.folds.iter_mut().zip(&rows).filter(|(_, rows)| !rows.is_empty());
        parts.try_for_each(|(statistics, rows)| statistics.observe_rows(batch, rows.iter().copied()))
    }

    /// Adds everything that `other` remembers, fold by fold.
    ///
    /// # Errors
    /// If the two have different numbers of folds or describe different tables.
    pub fn merge(&mut self, other: &FoldStatistics) -> Result<()> {
        let (ours, theirs) = (self.folds.len(), other.folds.len());
        if ours != theirs {
            return Err(Error::Mismatch(format!("one has {ours} folds, the other {theirs}")));
        }
        self.folds.iter_mut().zip(&other.folds).try_for_each(|(ours, theirs)| ours.merge(theirs))
    }

    /// The statistics of all rows.
    ///
    /// # Errors
    /// If all folds together have too many classes or too much weight.
    ///
    /// # Panics
    /// If there are no folds.
    pub fn total(&self) -> Result<Statistics> {
        let mut total = self.folds[0].clone();
        self.folds[1..].iter().try_for_each(|fold| total.merge(fold))?;
        Ok(total)
    }

    /// The statistics of all rows but those of one fold.
    ///
    /// # Errors
    /// As for [`total`](Self::total).
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn training(&self, fold: usize) -> Result<Statistics> {
        self.without(self.total()?, fold)
    }

    /// For each fold the model that follows from all the others.
    ///
    /// # Errors
    /// If there is nothing to learn from, or the settings do not fit the data.
    pub fn models(&self, settings: &Settings) -> Result<FoldModels> {
        let total = self.total()?;
        let (mut models, mut baselines) = (Vec::new(), Vec::new());
        for fold in 0..self.folds.len() {
            let training = self.without(total.clone(), fold)?;
            if training.rows() == 0 && total.rows() > 0 {
                return Err(Error::Settings(
                    "all rows are in one fold, which leaves none to train on; there are too few of them"
                        .into(),
                ));
            }
            models.push(training.estimate(settings)?);
            baselines.push(majority_class(&training).unwrap_or_default().to_owned());
        }
        Ok(FoldModels { models, baselines })
    }

    fn without(&self, mut total: Statistics, fold: usize) -> Result<Statistics> {
        total.subtract(&self.folds[fold])?;
        Ok(total)
    }
}

/// One model for each fold, which has not seen that fold.
#[derive(Debug, Clone)]
pub struct FoldModels {
    models: Vec<Model>,
    baselines: Vec<String>,
}

impl FoldModels {
    /// The model to ask about the rows of a fold.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn model(&self, fold: usize) -> &Model {
        &self.models[fold]
    }

    /// The majority class of what that model was trained on.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn baseline(&self, fold: usize) -> &str {
        &self.baselines[fold]
    }

    /// Scores each row of a batch with the model of its fold, and adds the predictions to an evaluation.
    ///
    /// # Errors
    /// As for [`Model::score`] and [`Evaluation::observe`].
    pub fn evaluate(
        &self,
        batch: &Batch,
        assigned: &[Option<usize>],
        evaluation: &mut Evaluation,
    ) -> Result<()> {
        // The parts number their rows anew, so what is wrong with a weight is said before.
        check_weights(batch)?;
        let rows = by_fold(self.models.len(), assigned);
        for (fold, rows) in rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let (model, baseline) = (self.model(fold), self.baseline(fold));
            let part = batch.select(rows);
            evaluation.observe(model.classes(), &part, &model.score(&part)?, baseline)?;
        }
        evaluation.skip((0..batch.rows).filter(|&row| batch.classes.value(row).is_none()).count() as u64);
        Ok(())
    }
}

impl Evaluation {
    /// Scores each row of a batch as if just that row had not been learnt, and adds the predictions. The batch is
    /// part of what the statistics were made of.
    ///
    /// # Errors
    /// As for [`Statistics::leave_one_out`] and [`observe`](Self::observe).
    pub fn observe_leave_one_out(
        &mut self,
        statistics: &Statistics,
        settings: &Settings,
        batch: &Batch,
    ) -> Result<()> {
        let scores = statistics.leave_one_out(settings, batch)?;
        let classes: Vec<String> =
            statistics.classes().into_iter().map(|(name, _)| name.to_owned()).collect();
        let majority = Majority::new(statistics);
        self.observe_against(&classes, batch, &scores, |row| {
            majority.without(batch.classes.value(row).unwrap_or_default(), batch.weight(row))
        })
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

/// The rows of each fold, found in one pass whatever the number of folds.
fn by_fold(folds: usize, assigned: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); folds];
    let dealt = assigned.iter().enumerate().filter_map(|(row, fold)| Some((row, (*fold)?)));
    dealt.for_each(|(row, fold)| rows[fold].push(row));
    rows
}

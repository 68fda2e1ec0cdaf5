//! Rows that count less the older they are.
//!
//! Age is counted in whole half-lives of H rows. Row t of a stream, counted from 0, belongs to generation t / H, and
//! weighs 2^(g − G), where g is its own generation and G that of the newest row. Multiplying by a power of two loses
//! nothing, so sums that age are as exact as others: they merge, and rows can be forgotten to the last bit by whoever
//! knows when they were learnt.
//!
//! What would halve for ever needs ever more bits, and a stream of ever new words would never let one go. So [`ERA`]
//! generations make an era, and of the present era and the one before everything is kept; what is older is let go, whole
//! rows at a time, when it weighs 2^-16 or less. For that the rows of the present era are counted once more by themselves:
//! when it ends, they are what is left. Nothing is subtracted, and nothing of what was let go leaves a trace.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::batch::{Batch, MISSING};
use crate::error::{Error, Result};
use crate::families::FamilyStatistics;
use crate::statistics::Statistics;

/// Generations that are let go together.
const ERA: u64 = 16;
/// Rows are let go before they were halved as often as this.
const MOST_HALVINGS: u32 = 2 * ERA as u32;
/// Rows that weigh less are not learnt by statistics that age: the terms of a document might not be halved exactly.
const LIGHTEST_ROW: f64 = 1e-270;

/// How rows age, and how many there were.
///
/// ```
/// use priory::{Batch, Column, Kind, Schema, Statistics};
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let mut statistics = Statistics::empty(&schema);
/// statistics.set_half_life(2)?;
/// statistics.observe(&Batch::from_rows(&[("yes", [Some("sun")]), ("yes", [Some("sun")]), ("no", [Some("rain")])]))?;
/// assert_eq!(statistics.classes(), [("no", 1.0), ("yes", 1.0)]);
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HalfLife {
    /// After this many more rows a row weighs half.
    pub rows: u64,
    /// How many rows have passed since rows began to age, whether they count or not.
    pub learnt: u64,
}

impl HalfLife {
    /// The generation of the newest row.
    fn generation(self) -> u64 {
        self.learnt.saturating_sub(1) / self.rows
    }

    /// How many rows will have passed at the end of the era to which the next row belongs.
    fn end_of_era(self) -> u64 {
        let era = self.learnt / self.rows / ERA;
        (era + 1).saturating_mul(ERA).saturating_mul(self.rows)
    }
}

/// What statistics know about the age of their rows.
#[derive(Debug, Clone)]
pub(crate) struct Decay {
    pub(crate) half_life: HalfLife,
    /// The rows of the present era by themselves, unless there are no others.
    pub(crate) young: Option<Statistics>,
}

impl Decay {
    /// What a file says about the age of these rows; `None` if it cannot be.
    pub(crate) fn checked(
        half_life: HalfLife,
        young: Option<Statistics>,
        all: &Statistics,
    ) -> Option<Box<Decay>> {
        let can_age = |statistics: &Statistics| statistics.can_be_halved(MOST_HALVINGS);
        let is_part = |young: &Statistics| {
            young.schema == all.schema && young.rows < all.rows && all.shortfall(young).is_none()
        };
        let sound = half_life.rows > 0
            && can_age(all)
            && young.as_ref().is_none_or(|young| can_age(young) && is_part(young));
        sound.then(|| Box::new(Decay { half_life, young }))
    }

    /// The canonical form, which depends on nothing but the rows, of which there are this many in all.
    pub(crate) fn canonical(&self, rows: u64) -> Self {
        let young = self.young.as_ref().filter(|young| young.rows < rows);
        Decay { half_life: self.half_life, young: young.map(|young| young.canonical().into_owned()) }
    }
}

impl Statistics {
    /// How rows age, if they do.
    pub fn half_life(&self) -> Option<HalfLife> {
        self.decay.as_ref().map(|decay| decay.half_life)
    }

    /// From here on rows age: after this many more rows they weigh half. Rows that were learnt before weigh as much as the
    /// first row that comes.
    ///
    /// A row counts for at least 16 half-lives, and is let go before 32 have passed.
    ///
    /// # Errors
    /// If it is zero, if there is another half-life already, or if weights are too small to be halved exactly.
    pub fn set_half_life(&mut self, rows: u64) -> Result<()> {
        let refused = |why: String| Err(Error::Settings(why));
        match self.half_life() {
            Some(known) if known.rows == rows => Ok(()),
            Some(known) => refused(format!(
                "the rows of this model have a half-life of {} rows, which cannot become {rows}",
                known.rows
            )),
            None if rows == 0 => refused("a half-life is one row or more".into()),
            None if self.on_grid.is_some() => {
                refused("the rows of a judged model cannot age; train it without a judgement".into())
            }
            None if !self.can_be_halved(2 * MOST_HALVINGS) => {
                refused("the model has learnt rows whose weights are too small to be halved".into())
            }
            None => {
                let half_life = HalfLife { rows, learnt: 0 };
                self.decay = Some(Box::new(Decay { half_life, young: None }));
                Ok(())
            }
        }
    }

    /// From here on rows keep the weight that they have.
    pub fn stop_ageing(&mut self) {
        self.decay = None;
    }

    /// Empty statistics of the same table that age like these, and are as old.
    pub fn empty_at_same_age(&self) -> Statistics {
        let mut empty = self.empty_like();
        let half_life = self.half_life();
        empty.decay = half_life.map(|half_life| Box::new(Decay { half_life, young: None }));
        empty
    }

    /// Lets time pass until this many rows have been learnt since they began to age, in all; nothing happens if there were
    /// more already. So threads that share a table can each begin where their part of it does.
    pub fn pass(&mut self, learnt: u64) {
        let Some(decay) = &mut self.decay else { return };
        let from = decay.half_life.generation();
        decay.half_life.learnt = learnt.max(decay.half_life.learnt);
        let to = decay.half_life.generation();
        if from == to {
            return;
        }
        match to / ERA - from / ERA {
            0 => {}
            1 => {
                if let Some(young) = decay.young.replace(Statistics::empty(&self.schema)) {
                    let decay = self.decay.take();
                    *self = Statistics { decay, ..young };
                }
                self.is_settled = false;
            }
            _ => {
                *self = self.empty_at_same_age();
                return;
            }
        }
        self.scale(libm::ldexp(1.0, -((to - from) as i32)));
    }

    /// Multiplies all weights by a power of two.
    fn scale(&mut self, power: f64) {
        self.class_weight.scale(power);
        self.factors.iter_mut().for_each(|factor| factor.scale(power));
        if let Some(Decay { young: Some(young), .. }) = self.decay.as_deref_mut() {
            young.scale(power);
        }
    }

    fn can_be_halved(&self, times: u32) -> bool {
        self.class_weight.can_be_halved(times)
            && self.factors.iter().all(|factor| factor.can_be_halved(times))
    }

    /// Adds rows of a batch one after the other, each older than the next.
    pub(crate) fn observe_in_order(&mut self, batch: &Batch, rows: Range<usize>) -> Result<()> {
        let Some(start) = self.half_life() else { return self.observe_rows(batch, rows) };
        // What cannot be learnt is refused before time passes.
        self.check_batch(batch, rows.clone())?;
        self.check_ageing(batch, rows.clone())?;
        let batch = aged(batch, rows.clone(), start);
        let mut next = rows.start;
        while next < rows.end {
            let Some(now) = self.half_life() else { unreachable!("ageing does not stop by itself") };
            let left = now.end_of_era().saturating_sub(now.learnt).max(1);
            let end = rows.end.min(next.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
            self.pass(now.learnt.saturating_add((end - next) as u64));
            self.observe_rows(&batch, next..end)?;
            next = end;
        }
        Ok(())
    }

    fn check_ageing(&self, batch: &Batch, rows: Range<usize>) -> Result<()> {
        let counts = |row: usize| batch.classes.codes[row] != MISSING && batch.weight(row) > 0.0;
        for row in rows.filter(|&row| counts(row)) {
            let (weight, number) = (batch.weight(row), batch.row_number(row));
            if weight < LIGHTEST_ROW {
                return Err(Error::LightRow { row: number, weight, limit: LIGHTEST_ROW });
            }
            for &column in self.factors.iter().flat_map(FamilyStatistics::number_columns) {
                let value = batch.numbers(column)[row];
                if value.is_infinite() {
                    let column = self.schema.columns[column].name.clone();
                    return Err(Error::Infinite { row: number, column, value });
                }
            }
        }
        Ok(())
    }

    /// Takes rows away that were learnt one after the other, the first of them as row `learnt_at` since rows began to age,
    /// counted from 1; zero stands for rows from before that. What was let go meanwhile is not missed.
    ///
    /// # Errors
    /// As for [`forget`](Self::forget); and if rows do not age here.
    pub fn forget_learnt_at(&mut self, batch: &Batch, learnt_at: u64) -> Result<()> {
        let empty = self.empty_at(learnt_at)?;
        self.forget_since(batch, &empty)
    }

    /// Empty statistics, as old as these were just before row `learnt_at` was learnt, counted from 1 since rows began to age;
    /// for zero, as they were before rows began to age.
    ///
    /// # Errors
    /// If rows do not age here, or fewer rows than that were learnt.
    pub fn empty_at(&self, learnt_at: u64) -> Result<Statistics> {
        let Some(half_life) = self.half_life() else {
            return Err(Error::Settings(
                "the rows of this model do not age: when they were learnt does not matter".into(),
            ));
        };
        if learnt_at > half_life.learnt {
            return Err(Error::Settings(format!(
                "there is no row {learnt_at} yet: {} were learnt since rows began to age",
                half_life.learnt
            )));
        }
        let mut empty = self.empty_at_same_age();
        empty.decay = match learnt_at {
            0 => None,
            _ => {
                let half_life = HalfLife { learnt: learnt_at - 1, ..half_life };
                Some(Box::new(Decay { half_life, young: None }))
            }
        };
        Ok(empty)
    }

    /// Refuses statistics that age in another way.
    pub(crate) fn check_same_age(&self, other: &Statistics) -> Result<()> {
        let [ours, theirs] = [self, other].map(|statistics| statistics.half_life().map(|age| age.rows));
        let what = match (ours, theirs) {
            _ if ours == theirs => return Ok(()),
            (Some(a), Some(b)) => format!("their half-lives are {a} and {b} rows"),
            _ => "only one of them has a half-life".to_owned(),
        };
        Err(Error::Mismatch(what))
    }

    /// Brings a part that was learnt earlier to the age of these statistics.
    ///
    /// # Errors
    /// If it was learnt later.
    pub(crate) fn at_our_age<'a>(&self, part: Cow<'a, Statistics>) -> Result<Cow<'a, Statistics>> {
        let (ours, theirs) = (self.half_life(), part.half_life());
        let Some(ours) = ours.filter(|_| ours != theirs) else { return Ok(part) };
        if theirs.is_some_and(|theirs| theirs.learnt > ours.learnt) {
            return Err(Error::Settings(format!(
                "these rows end after row {}, which is the last that was learnt since rows began to age",
                ours.learnt
            )));
        }
        let mut part = part.into_owned();
        part.set_half_life(ours.rows)?;
        part.pass(ours.learnt);
        Ok(Cow::Owned(part))
    }

    /// Adds the young rows of `other`, which has the same age, to ours, or takes them away. The rest of `other` is not
    /// added yet.
    pub(crate) fn add_young(&mut self, other: &Statistics, sign: f64) {
        let (Some(mut ours), Some(theirs)) = (self.decay.take(), &other.decay) else { return };
        if ours.young.is_some() || theirs.young.is_some() {
            let young = ours.young.get_or_insert_with(|| self.clone());
            young.add(theirs.young.as_ref().unwrap_or(other), sign);
        }
        self.decay = Some(ours);
    }
}

/// The batch with every row weighing what it will when the last of the rows is learnt, or the last of its era.
fn aged(batch: &Batch, rows: Range<usize>, start: HalfLife) -> Cow<'_, Batch> {
    let generation = |row: usize| start.learnt.saturating_add((row - rows.start) as u64) / start.rows;
    if rows.is_empty() || generation(rows.start) == generation(rows.end - 1) {
        return Cow::Borrowed(batch);
    }
    let last = generation(rows.end - 1);
    let mut aged = batch.clone();
    aged.weights = (0..batch.rows).map(|row| batch.weight(row)).collect();
    for row in rows.clone() {
        let own = generation(row);
        let newest = last.min(own / ERA * ERA + ERA - 1);
        aged.weights[row] *= libm::ldexp(1.0, -((newest - own) as i32));
    }
    Cow::Owned(aged)
}

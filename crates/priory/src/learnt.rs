//! What was learnt: everything that a model file holds, and what can be done with it.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::format::{self, FileParts};
use crate::interval::Intervals;
use crate::judgement::{Judgement, JudgementSummary, Judging, Tier, judged};
use crate::leave_one_out::LeaveOneOut;
use crate::model::Model;
use crate::report::Summary;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// Statistics, together with the settings under which a model is estimated from them: what a model file holds.
///
/// ```
/// use priory::{Batch, Column, Kind, Learnt, Schema, Settings};
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let monday = Batch::from_rows(&[("yes", [Some("overcast")]), ("no", [Some("sunny")])]);
/// let tuesday = Batch::from_rows(&[("no", [Some("overcast")])]);
///
/// let mut learnt = Learnt::empty(&schema, Settings::default());
/// learnt.learn(&monday)?;
/// let file = learnt.to_bytes();
/// learnt.learn(&tuesday)?;
/// learnt.forget(&tuesday)?;
/// assert_eq!(learnt.to_bytes(), file); // bit for bit as if Tuesday had never been there
///
/// let model = Learnt::read(&file)?.estimate()?;
/// assert_eq!(model.classes(), ["no", "yes"]);
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Learnt {
    /// What was counted.
    pub statistics: Statistics,
    /// What a model is estimated under.
    pub settings: Settings,
    /// How much what the columns say is worth, if that was judged.
    pub(crate) judgement: Option<Judgement>,
}

impl Learnt {
    /// These statistics, to be estimated under these settings.
    pub fn new(statistics: Statistics, settings: Settings) -> Self {
        Learnt { statistics, settings, judgement: None }
    }

    /// Nothing learnt yet.
    pub fn empty(schema: &Schema, settings: Settings) -> Self {
        Learnt::new(Statistics::empty(schema), settings)
    }

    /// Nothing learnt yet, of the same table and under the same settings: what is learnt from there on, on another machine for
    /// instance, can be added to these [statistics](Statistics::merge), of which a judgement stays the same. Rows do not age there.
    pub fn empty_like(&self) -> Self {
        Learnt::new(self.statistics.empty_like(), self.settings.clone())
    }

    /// Reads a model file. Only a little of the file is in memory at a time, beside what it holds.
    ///
    /// # Errors
    /// If the file cannot be read, if a byte was changed, lost or added, or if the contents contradict each other.
    pub fn read(file: &impl FileParts) -> Result<Self> {
        format::read(file)
    }

    /// Writes a model file. What was learnt from the same rows under the same settings gives the same bytes, whatever
    /// order or split the rows came in.
    ///
    /// # Errors
    /// If the bytes cannot be written.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        format::write(out, self)
    }

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).expect("writing to memory does not fail");
        bytes
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// As for [`Statistics::observe`]; nothing is learnt then. Also if what was counted has become too large to be
    /// estimated, which [`Statistics::check_size`] tells.
    pub fn learn(&mut self, batch: &Batch) -> Result<()> {
        self.statistics.observe(batch)?;
        self.statistics.check_size()
    }

    /// Takes the rows of a batch away, as if they had never been learnt.
    ///
    /// # Errors
    /// As for [`Statistics::forget`]; nothing is forgotten then.
    pub fn forget(&mut self, batch: &Batch) -> Result<()> {
        self.statistics.forget(batch)
    }

    /// Adds what was learnt elsewhere. The settings stay, and the judgement if both have the same.
    ///
    /// # Errors
    /// As for [`Statistics::merge`], and if both together are too large to be estimated.
    pub fn merge(&mut self, other: &Learnt) -> Result<()> {
        self.statistics.merge(&other.statistics)?;
        // Weights that were fitted to something else are worth nothing here.
        if self.judgement != other.judgement {
            self.judgement = None;
        }
        if self.judgement.is_none() {
            self.statistics.on_grid = None;
        }
        self.statistics.check_size()
    }

    /// Whether it was judged how much what the columns say is worth.
    pub fn is_judged(&self) -> bool {
        self.judgement.is_some()
    }

    /// The model that follows.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn estimate(&self) -> Result<Model> {
        let model = self.model()?;
        self.settings.decision.check_for(model.classes())?;
        Ok(model)
    }

    fn model(&self) -> Result<Model> {
        let Some(judgement) = &self.judgement else { return self.statistics.estimate(&self.settings) };
        let (statistics, settings) = self.of_used_columns(judgement);
        statistics.estimate_judged(&settings, judgement)
    }

    /// The canonical statistics of those columns that a judgement uses, and the settings for them.
    fn of_used_columns(&self, judgement: &Judgement) -> (Cow<'_, Statistics>, Cow<'_, Settings>) {
        let statistics = self.statistics.canonical();
        let Some(used) = &judgement.used else { return (statistics, Cow::Borrowed(&self.settings)) };
        let statistics = statistics.only(used);
        let settings = self.settings.for_columns_of(&statistics.schema);
        (Cow::Owned(statistics), Cow::Owned(settings))
    }

    /// How many rows are kept to [judge](Self::judge) by, if any are: of all that were learnt, or of a sample of them.
    pub fn kept_rows(&self) -> Option<u64> {
        Some(self.statistics.sample.as_ref()?.rows())
    }

    /// Judges how much what the columns say is worth, if that is wanted and sensible, by a sample of the rows that were learnt:
    /// the statistics must have [kept](Statistics::keep_rows) one, which is let go unless it is needed
    /// [later](Judging::Later). Returns how far the judgement goes: not as far as was asked for where what the columns say together
    /// would take too much memory. The result does not depend on the number of threads.
    ///
    /// ```
    /// use priory::judgement::{Judging, Tier};
    /// use priory::{Batch, Column, Kind, Learnt, Schema, Settings};
    ///
    /// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
    /// let mut learnt = Learnt::empty(&schema, Settings::default());
    /// learnt.statistics.keep_rows();
    /// learnt.learn(&Batch::from_rows(&[("yes", [Some("sunny")]), ("no", [Some("rain")]), ("yes", [Some("rain")])]))?;
    ///
    /// assert_eq!(learnt.clone().judge(Judging::Auto, 1)?, None); // three rows are too few
    /// assert_eq!(learnt.judge(Judging::Tier(Tier::Weights), 1)?, Some(Tier::Weights));
    /// assert!(learnt.is_judged());
    /// # Ok::<(), priory::Error>(())
    /// ```
    ///
    /// # Errors
    /// If nothing was learnt, no sample was kept, the settings do not fit the data, or rows age.
    pub fn judge(&mut self, judging: Judging, threads: usize) -> Result<Option<Tier>> {
        let refused = |why: &str| Err(Error::Settings(why.into()));
        if judging == Judging::Later {
            return match self.statistics.half_life() {
                Some(_) => refused("rows that age cannot be judged, not even later"),
                None => Ok(None),
            };
        }
        let sample = self.statistics.sample.take();
        let Some(tier) = judging.tier(&self.statistics, &self.settings) else { return Ok(None) };
        if self.statistics.half_life().is_some() {
            return refused("rows that age cannot be judged");
        }
        let Some(sample) = sample else {
            return refused("no sample of the rows was kept, and a judgement needs one");
        };
        self.statistics.settle();
        if self.statistics.classes.is_empty() {
            return Err(Error::Empty);
        }
        let (on_grid, judgement) = judged(&self.statistics, &self.settings, tier, *sample, threads)?;
        self.statistics.on_grid = Some(Box::new(on_grid));
        let (rows, fingerprint) = (self.statistics.rows(), self.fingerprint());
        let tier = judgement.tier;
        self.judgement = Some(Judgement { rows, fingerprint, ..judgement });
        Ok(Some(tier))
    }

    /// Ends training: brings what was counted into its final order, [judges](Self::judge) it, and lets go of what only a judgement
    /// would have needed.
    ///
    /// # Errors
    /// As for [`judge`](Self::judge).
    pub fn conclude(&mut self, judging: Judging, threads: usize) -> Result<Option<Tier>> {
        self.statistics.settle();
        let tier = self.judge(judging, threads)?;
        if tier.is_none() && judging != Judging::Later {
            self.statistics.drop_neighbours();
        }
        Ok(tier)
    }

    /// Judges anew, by all rows that were learnt: `rows` are statistics of just these, which have
    /// [kept](Statistics::keep_rows) a sample.
    ///
    /// # Errors
    /// If these are not the rows that were learnt, and as for [`judge`](Self::judge). Nothing has changed then.
    pub fn judge_by(&mut self, rows: Statistics, judging: Judging, threads: usize) -> Result<Option<Tier>> {
        let mut plain = self.clone();
        plain.drop_judgement();
        let mut judged = Learnt::new(rows, self.settings.clone());
        if judged.fingerprint() != plain.fingerprint() {
            let (learnt, given) = (plain.statistics.rows(), judged.statistics.rows());
            return Err(Error::Settings(match learnt == given {
                true => format!("the model has learnt {learnt} rows, but not these"),
                false => format!("the model has learnt {learnt} rows, and these are {given}"),
            }));
        }
        let tier = judged.judge(judging, threads)?;
        *self = judged;
        Ok(tier)
    }

    /// Gets ready to score the rows that were learnt, each as if just that row had not been, as
    /// [`Statistics::leave_one_out`] does. If what the columns say was judged, the row is left out of what was counted, but the
    /// weights have seen it.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn leave_one_out<R>(&self, work: impl FnOnce(&LeaveOneOut<'_>) -> R) -> Result<R> {
        let Some(judgement) = &self.judgement else {
            return self.statistics.leave_one_out(&self.settings, work);
        };
        let (statistics, settings) = self.of_used_columns(judgement);
        let (statistics, model) = statistics.estimated(&settings)?;
        let left_out = LeaveOneOut::new(&statistics, &model)?.judged(judgement)?;
        Ok(work(&left_out.of_table(&self.statistics.schema)))
    }

    /// Gets ready to say how far the posteriors of the [model](Self::estimate) could be off because only so many rows were seen.
    ///
    /// ```
    /// use priory::{Batch, Column, Kind, Learnt, Schema, Settings};
    ///
    /// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
    /// let days = Batch::from_rows(&[("yes", [Some("sunny")]), ("no", [Some("rain")]), ("yes", [Some("rain")])]);
    /// let mut learnt = Learnt::empty(&schema, Settings::default());
    /// learnt.learn(&days)?;
    /// let interval = learnt.intervals(|intervals| {
    ///     let scores = intervals.model().score(&days)?;
    ///     intervals.of(&days, &scores, 0.9)
    /// })??;
    /// let (low, high) = (interval.low(0)[1], interval.high(0)[1]);
    /// assert!(low < 0.2 && high > 0.9); // three days say little
    /// # Ok::<(), priory::Error>(())
    /// ```
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn intervals<R>(&self, work: impl FnOnce(&Intervals<'_>) -> R) -> Result<R> {
        let model = self.estimate()?;
        let mut statistics = self.statistics.canonical();
        if model.schema().columns.len() < statistics.schema.columns.len() {
            statistics = Cow::Owned(statistics.narrowed(&model));
        }
        Ok(work(&Intervals::new(&statistics, &model, self.judgement.as_ref())?))
    }

    /// Lets go of the judgement, of what was counted for it, and of rows that were kept for one.
    pub fn drop_judgement(&mut self) {
        self.judgement = None;
        self.statistics.on_grid = None;
        self.statistics.sample = None;
    }

    /// Changes the settings. A judgement of other settings is worth nothing, so it is let go, unless nothing but the prior or the
    /// decision changes; returns whether it was.
    pub fn set_settings(&mut self, settings: Settings) -> bool {
        let Settings { prior, decision, .. } = self.settings.clone();
        let is_same = self.settings == Settings { prior, decision, ..settings.clone() };
        let is_dropped = self.is_judged() && !is_same;
        if is_dropped {
            self.drop_judgement();
        }
        self.settings = settings;
        is_dropped
    }

    /// How much what the columns say was judged to be worth, if it was.
    pub fn judgement(&self) -> Option<JudgementSummary> {
        Some(JudgementSummary::new(self.judgement.as_ref()?, &self.statistics))
    }

    /// A summary of the model that was [estimated](Self::estimate), with this many of the most telling tokens of each
    /// class where there is text.
    ///
    /// # Errors
    /// If the model was estimated from statistics of other columns or classes.
    pub fn summary(&self, model: &Model, top_tokens: usize) -> Result<Summary> {
        let summary = Summary::of(&self.statistics, model, top_tokens)?;
        Ok(Summary { judgement: self.judgement(), ..summary })
    }

    /// The columns ranked by how much they tell about the class: each by itself, or by what the model loses without it if it
    /// was judged.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn features(&self) -> Result<Features> {
        let features = Features::new(&self.statistics, &self.settings)?;
        Ok(match &self.judgement {
            Some(judgement) => features.judged(judgement, &self.statistics.schema),
            None => features,
        })
    }

    /// A number that follows from all that was counted, and from nothing else: what was learnt from the same rows has the
    /// same one, and what was learnt from others has, but for a chance of about one in 2^32, another. It tells whether
    /// two models learnt the same, and whether something was concluded from just these statistics.
    pub fn fingerprint(&self) -> u64 {
        format::fingerprint(&self.statistics)
    }
}

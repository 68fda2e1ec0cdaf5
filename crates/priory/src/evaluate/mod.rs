//! What predictions are worth: counted row by row, mergeable like everything else that is counted.
//!
//! With P the posterior of a row, c its true class and w its weight, and W = Σ w:
//!
//! | number | formula |
//! |---|---|
//! | accuracy | Σ w \[argmax P = c\] / W |
//! | log-loss | Σ w (−ln P(c)) / W |
//! | Brier score | Σ w Σₖ (P(k) − \[k = c\])² / W, over all classes k: from 0 to 2 (Brier 1950) |
//! | calibration error | Σ over 15 bins of \|Σ w \[argmax P = c\] − Σ w max P\| / W (Guo et al. 2017) |
//! | ROC AUC | P(a row of the class ranks above one that is not), ties half; see `ranking.rs` |
//!
//! −ln P(c) and the ranks come from the log-odds log P(c) − log(1 − P(c)), which the log-joints give to full
//! precision where P itself would round to 0 or 1. Every sum is exact, so that any split of the rows and any order
//! of merging gives the same report.

mod carried;
mod cross_validate;
mod cut_offs;
mod doubt;
mod parts;
mod ranking;
mod report;
mod split;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use crate::leave_one_out::{LeaveOneOut, Terms};
pub use cross_validate::{FoldModel, FoldModels, FoldStatistics, majority_class};
pub use cut_offs::{Aim, BestCutOff, Curve, CutOff, CutOffReport, DEFAULT_CUT_OFFS, Reached};
pub use doubt::{Cause, Doubt, Worse};
pub use parts::{FoldPart, FoldParts};
pub use report::{CalibrationBin, ClassReport, EvaluationReport, MOST_CONFUSED};
pub use split::{Folds, Holdout, MOST_FOLDS};

use crate::batch::Batch;
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::exact::ExactSum;
use crate::log_odds::{RowPosterior, rounded};
use crate::posterior::{Outcome, Scores};
use crate::tally::Tally;
use crate::vocabulary::Vocabulary;
use ranking::Ranking;

/// A row that weighs more is refused: sums and products of such weights would leave the range of an f64.
pub const HEAVIEST_ROW: f64 = 1e100;

/// How many equal bins the confidence of the predictions is sorted into.
const BINS: usize = 15;

/// The columns of the calibration table.
const WEIGHT: usize = 0;
const CONFIDENCE: usize = 1;
const CORRECT: usize = 2;

/// What was counted of predictions whose true class is known.
///
/// [`merge`](Self::merge) is associative and commutative to the last bit. Classes are matched by name, so models
/// that know different classes, those of single folds for instance, can be evaluated together; a class that a
/// model does not know has probability zero there.
///
/// ```
/// use priory::{Batch, Column, Kind, Schema, Settings, Statistics};
/// use priory::evaluate::Evaluation;
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let days = Batch::from_rows(&[("yes", [Some("rain")]), ("no", [Some("sunny")]), ("yes", [Some("rain")])]);
/// let mut statistics = Statistics::empty(&schema);
/// statistics.observe(&days)?;
/// let model = statistics.estimate(&Settings::default())?;
///
/// let mut evaluation = Evaluation::new();
/// evaluation.observe(model.classes(), &days, &model.score(&days)?, "yes")?;
/// let report = evaluation.report();
/// assert_eq!(report.accuracy, 1.0);
/// assert_eq!(report.baseline_accuracy, 2.0 / 3.0);
/// assert_eq!(report.confusion, [[1.0, 0.0], [0.0, 2.0]]); // the classes are in sorted order: no, yes
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    rows: u64,
    skipped: u64,
    impossible: u64,
    no_evidence: u64,
    judged: u64,
    unseen: u64,
    zero_probability_rows: u64,
    not_learnt: u64,
    classes: Vocabulary,
    /// One for each class.
    rankings: Vec<Ranking>,
    scratch: ranking::Scratch,
    /// The weight of each (true class, predicted class) that occurred.
    confusion: BTreeMap<(usize, usize), ExactSum>,
    weight: ExactSum,
    /// Σ w (−ln P(c)), over rows where that is finite.
    loss: ExactSum,
    brier: ExactSum,
    baseline_correct: ExactSum,
    /// Σ w (−ln prior of c), over rows where that is finite, and how many rows it is not for.
    baseline_loss: ExactSum,
    baseline_zero_rows: u64,
    decision: Decision,
    /// The weight of rows that were not answered, by their true class.
    unsure: BTreeMap<usize, ExactSum>,
    /// One row for each bin once something was observed.
    calibration: Tally,
}

impl Evaluation {
    /// An evaluation of no rows.
    pub fn new() -> Self {
        Evaluation::default()
    }

    /// An evaluation of no rows, whose answers follow from a decision instead of being the most probable class.
    pub fn under(decision: &Decision) -> Self {
        Evaluation { decision: decision.clone(), ..Evaluation::default() }
    }

    /// Adds the predictions for a batch: the scores that a model with these classes gave it.
    ///
    /// `baseline` is the class that would be answered without looking at the row: the majority class of the
    /// training data. Rows whose class is missing are skipped and counted as such; rows of weight zero change
    /// nothing.
    ///
    /// # Errors
    /// As for [`check`](Self::check), and if the decision does not say what to answer for these classes. The evaluation is then
    /// as it was.
    ///
    /// # Panics
    /// If the scores are not those of this batch and these classes.
    pub fn observe(
        &mut self,
        classes: &[String],
        batch: &Batch,
        scores: &Scores,
        baseline: &str,
    ) -> Result<()> {
        self.observe_against(classes, batch, &[], scores, |_| baseline)?;
        self.unseen += scores.unseen();
        Ok(())
    }

    /// Whether [`observe`](Self::observe) would accept a batch, to be checked before scoring it.
    ///
    /// # Errors
    /// If a weight is negative, not finite or above [`HEAVIEST_ROW`], or if there are not as many classes, weights or values
    /// of a column as rows.
    pub fn check(batch: &Batch) -> Result<()> {
        batch.check_lengths(|position| (1 + position).to_string())?;
        for (row, &weight) in batch.weights.iter().enumerate() {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::Weight { row: batch.row_number(row), weight });
            }
            if weight > HEAVIEST_ROW {
                return Err(Error::HeavyRow { row: batch.row_number(row), weight, limit: HEAVIEST_ROW });
            }
        }
        Ok(())
    }

    /// Counts rows that were not scored because their class is missing.
    pub fn skip(&mut self, rows: u64) {
        self.skipped += rows;
    }

    /// Adds the predictions for a batch, with a baseline for each row. Each row stands for this many that are alike and
    /// weigh one each; where there are no `copies`, for itself.
    fn observe_against<'a>(
        &mut self,
        classes: &[String],
        batch: &Batch,
        copies: &[u32],
        scores: &Scores,
        baseline: impl Fn(usize) -> &'a str,
    ) -> Result<()> {
        assert_eq!(scores.rows(), batch.rows, "the scores are not those of this batch");
        Self::check(batch)?;
        let decider = self.decision.decider(classes)?;
        self.calibration.grow(BINS, CORRECT + 1);
        let ids: Vec<usize> = classes.iter().map(|name| self.intern(name)).collect();
        let mut id_of: Vec<Option<usize>> = vec![None; batch.classes.values.len() + 1];
        let mut ranked = RankedRows::new(classes.len());
        let mut row_posterior = RowPosterior::default();
        for row in 0..batch.rows {
            let Some(true_name) = batch.classes.value(row) else {
                self.skipped += 1;
                continue;
            };
            let weight = batch.weight(row);
            if weight == 0.0 {
                continue;
            }
            let code = batch.classes.codes[row] as usize;
            let true_id = *id_of[code].get_or_insert_with(|| self.intern(true_name));
            row_posterior.set(scores.log_weights(row));
            let RowPosterior { best, probability, log_odds } = &row_posterior;
            let answer = ids.get(decider.answer_to(&row_posterior)).copied();
            let is_correct = ids[*best] == true_id;
            let outcome = scores.outcome(row);
            let copies = copies.get(row).map_or(1, |&copies| u64::from(copies));
            let together = copies as f64 * weight;
            self.rows += copies;
            self.impossible += if outcome == Outcome::Impossible { copies } else { 0 };
            self.no_evidence += if outcome == Outcome::NoEvidence { copies } else { 0 };
            self.judged += if scores.is_judged() { copies } else { 0 };
            self.weight.add(together);
            match answer {
                Some(answer) => self.confusion.entry((true_id, answer)).or_default().add(together),
                None => self.unsure.entry(true_id).or_default().add(together),
            }
            if baseline(row) == true_name {
                self.baseline_correct.add(together);
            }

            let confidence = probability[*best];
            // As in the usual definition a bin holds its upper end, not its lower.
            let bin = ((confidence * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
            self.calibration.add(bin, WEIGHT, together);
            self.calibration.add(bin, CORRECT, if is_correct { together } else { 0.0 });

            // Unless the model knows the true class, that has probability zero.
            let (mut is_known, mut loss, mut brier) = (false, f64::INFINITY, 0.0);
            let mut baseline_loss = f64::INFINITY;
            for (((&id, &odds), &p), log_prior) in
                ids.iter().zip(log_odds).zip(probability).zip(scores.log_prior())
            {
                if id == true_id {
                    is_known = true;
                    baseline_loss = -log_prior;
                    loss = softplus(-odds);
                    brier += (1.0 - p) * (1.0 - p);
                } else {
                    brier += p * p;
                }
            }
            if !is_known {
                brier += 1.0;
                self.not_learnt += copies;
                let last = [(f64::NEG_INFINITY, true, together)];
                let most_scores = ranking::most_scores(self.classes.len());
                self.rankings[true_id].extend(last.into_iter(), most_scores, &mut self.scratch);
            }
            if loss == f64::INFINITY {
                (loss, self.zero_probability_rows) = (0.0, self.zero_probability_rows + copies);
            }
            if baseline_loss == f64::INFINITY {
                (baseline_loss, self.baseline_zero_rows) = (0.0, self.baseline_zero_rows + copies);
            }
            // A product by their number could lose digits, and then it would show which rows were taken together.
            for _ in 0..copies {
                self.calibration.add(bin, CONFIDENCE, weight * confidence);
                self.loss.add(weight * loss);
                self.baseline_loss.add(weight * baseline_loss);
                self.brier.add(weight * brier);
            }
            ranked.push(log_odds, true_id, together);
            if ranked.is_full() {
                self.rank(&ids, &mut ranked);
            }
        }
        self.rank(&ids, &mut ranked);
        Ok(())
    }

    /// Gives rows their places among the others, class by class.
    fn rank(&mut self, ids: &[usize], ranked: &mut RankedRows) {
        let most_scores = ranking::most_scores(self.classes.len());
        for (class, &id) in ids.iter().enumerate() {
            let scores = ranked.log_odds.chunks_exact(ids.len()).map(|row| rounded(row[class]));
            let rows =
                scores.zip(&ranked.rows).map(|(score, &(true_id, weight))| (score, true_id == id, weight));
            self.rankings[id].extend(rows, most_scores, &mut self.scratch);
        }
        ranked.clear();
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &Evaluation) {
        self.rows += other.rows;
        self.skipped += other.skipped;
        self.impossible += other.impossible;
        self.no_evidence += other.no_evidence;
        self.judged += other.judged;
        self.unseen += other.unseen;
        self.zero_probability_rows += other.zero_probability_rows;
        self.not_learnt += other.not_learnt;
        self.weight.merge(&other.weight);
        self.loss.merge(&other.loss);
        self.brier.merge(&other.brier);
        self.baseline_correct.merge(&other.baseline_correct);
        self.baseline_loss.merge(&other.baseline_loss);
        self.baseline_zero_rows += other.baseline_zero_rows;
        self.calibration.grow(BINS, CORRECT + 1);
        let bins: Vec<usize> = (0..other.calibration.rows()).collect();
        self.calibration.merge(&other.calibration, &bins, &[WEIGHT, CONFIDENCE, CORRECT], 1.0);

        let ids: Vec<usize> = other.classes.names().map(|name| self.intern(name)).collect();
        for (&(true_id, predicted), weight) in &other.confusion {
            self.confusion.entry((ids[true_id], ids[predicted])).or_default().merge(weight);
        }
        for (&true_id, weight) in &other.unsure {
            self.unsure.entry(ids[true_id]).or_default().merge(weight);
        }
        let most_scores = ranking::most_scores(self.classes.len());
        for (&id, ranking) in ids.iter().zip(&other.rankings) {
            self.rankings[id].merge(ranking, most_scores, &mut self.scratch);
        }
    }

    /// Does now what [`merge`](Self::merge) and [`report`](Self::report) would have to do later, for whoever has
    /// several of these on several threads. Nothing else changes.
    pub fn tidy_up(&mut self) {
        let most_scores = ranking::most_scores(self.classes.len());
        self.rankings.iter_mut().for_each(|ranking| ranking.compact(most_scores, &mut self.scratch));
    }

    fn intern(&mut self, class: &str) -> usize {
        let id = self.classes.intern(class);
        if id == self.rankings.len() {
            self.rankings.push(Ranking::default());
        }
        id
    }
}

/// Some rows that wait to be ranked. It is done class by class, since the rankings do not all fit into a
/// processor's cache.
struct RankedRows {
    classes: usize,
    /// Row by row, one for each class of the model.
    log_odds: Vec<f64>,
    /// True class and weight.
    rows: Vec<(usize, f64)>,
}

impl RankedRows {
    const MOST_SCORES: usize = 1 << 13;

    fn new(classes: usize) -> Self {
        RankedRows { classes, log_odds: Vec::new(), rows: Vec::new() }
    }

    fn push(&mut self, log_odds: &[f64], true_id: usize, weight: f64) {
        self.log_odds.extend_from_slice(log_odds);
        self.rows.push((true_id, weight));
    }

    fn is_full(&self) -> bool {
        self.log_odds.len() + self.classes > Self::MOST_SCORES
    }

    fn clear(&mut self) {
        self.log_odds.clear();
        self.rows.clear();
    }
}

/// ln(1 + exp(x)): −ln P for log-odds of −x.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

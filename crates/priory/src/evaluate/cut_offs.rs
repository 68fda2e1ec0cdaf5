//! What each cut-off of the probability of one class is worth: the ROC and precision–recall curves, and what follows from them.
//!
//! With TP and FP the weights of rows of the class and of others whose probability reaches the cut-off, P and N those of all such
//! rows, and W = P + N:
//!
//! | number | formula |
//! |---|---|
//! | alarms | (TP + FP) / W |
//! | precision | TP / (TP + FP) |
//! | recall, true positive rate | TP / P |
//! | false positive rate | FP / N |
//! | F1 | 2 TP / (P + TP + FP) |
//! | lift | precision / (P / W) |
//! | average precision | Σ over the cut-offs, from the highest down, of precision · growth of the recall |
//! | Youden's J | recall − false positive rate (Youden 1950) |
//! | cost | Σ of what the answers cost / W, between two classes |

use serde::Serialize;

use super::ranking::{self, Step};
use super::{Evaluation, EvaluationReport};
use crate::error::{Error, Result};
use crate::log_odds;

/// The cut-offs that are reported where none are asked for.
pub const DEFAULT_CUT_OFFS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// What cut-offs of the probability of one class are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CutOffReport {
    /// The class.
    pub positive: String,
    /// The share of its rows.
    pub share: f64,
    /// The area under the ROC curve, if there are rows of the class and others.
    pub roc_auc: Option<f64>,
    /// The area under the precision–recall curve, as steps; if there are rows of the class.
    pub average_precision: Option<f64>,
    /// The cut-offs that were asked for, in ascending order.
    pub cut_offs: Vec<CutOff>,
    /// The best cut-off for each aim.
    pub best: Vec<BestCutOff>,
    /// Every cut-off that makes a difference.
    pub curve: Curve,
}

/// What comes of answering a class wherever its probability reaches a cut-off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CutOff {
    /// The least probability; `None` if the class is never answered.
    pub cut_off: Option<f64>,
    /// The share of rows that reach it.
    pub alarms: f64,
    /// The share of these that are of the class, if there are any.
    pub precision: Option<f64>,
    /// The share of the rows of the class that reach it, if there are any.
    pub recall: Option<f64>,
    /// The share of other rows that reach it, if there are any.
    pub false_positive_rate: Option<f64>,
    /// The harmonic mean of precision and recall; 0 if no row of the class reaches the cut-off.
    pub f1: f64,
    /// How many times more frequent the class is among the rows that reach it than among all.
    pub lift: Option<f64>,
    /// What the answers cost per row, if costs were given and there are two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// What a cut-off is to be best at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// The least cost.
    Cost,
    /// The highest F1.
    F1,
    /// The largest difference between the true and the false positive rate.
    Youden,
}

/// The best cut-off for an aim; of equals the highest. It has as few digits as tell it from other cut-offs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BestCutOff {
    /// What it is best at.
    pub by: Aim,
    /// What comes of it.
    #[serde(flatten)]
    pub cut_off: CutOff,
}

/// All cut-offs at which something changes, from the highest down, as arrays of one length.
///
/// scikit-learn's `roc_curve` without dropping points begins with one more, (0, 0); its `precision_recall_curve` goes from the
/// lowest up and ends with one more, precision 1 and recall 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// The probabilities.
    pub thresholds: Vec<f64>,
    /// Precision at each.
    pub precision: Vec<f64>,
    /// Recall, the true positive rate, at each; 0 if there is no row of the class.
    pub recall: Vec<f64>,
    /// The false positive rate at each; 0 if there is no other row.
    pub false_positive_rate: Vec<f64>,
}

impl Evaluation {
    /// What was counted, as numbers to be read, with what cut-offs are worth: if some are asked for, if the decision names the
    /// positive class, or if it has costs or thresholds and there are two classes.
    ///
    /// # Errors
    /// If no row was observed, and as for [`cut_offs`](Self::cut_offs).
    pub fn report_with(&self, cut_offs: &[f64]) -> Result<EvaluationReport> {
        let mut report = self.report();
        if report.rows == 0 {
            return Err(Error::Empty);
        }
        let decision = &self.decision;
        let is_asked = decision.positive.is_some() || !cut_offs.is_empty();
        let is_meant = !decision.costs.is_empty() || !decision.thresholds.is_empty();
        if is_asked || (is_meant && report.classes.len() == 2) {
            let cut_offs = if cut_offs.is_empty() { &DEFAULT_CUT_OFFS } else { cut_offs };
            report.cut_offs = Some(self.cut_offs(cut_offs)?);
        }
        Ok(report)
    }

    /// What cut-offs of the probability of a class are worth: the positive one of the decision, or the last of two.
    ///
    /// # Errors
    /// If it is not said which class is meant, there is no such class, or a cut-off is no probability.
    pub fn cut_offs(&self, cut_offs: &[f64]) -> Result<CutOffReport> {
        let names = self.class_names();
        self.cut_offs_of(self.decision.positive_of(&names)?, cut_offs)
    }

    /// What cut-offs of the probability of this class are worth.
    ///
    /// # Errors
    /// If there is no such class, or a cut-off is no probability.
    pub fn cut_offs_of(&self, positive: &str, cut_offs: &[f64]) -> Result<CutOffReport> {
        if let Some(wrong) = cut_offs.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(Error::Settings(format!("the cut-off {wrong} is not a probability between 0 and 1")));
        }
        let names = self.class_names();
        let Some(id) = self.classes.get(positive) else {
            return Err(Error::Settings(format!(
                "there is no class `{positive}`; there are {}",
                names.join(", ")
            )));
        };
        let most_scores = ranking::most_scores(names.len());
        let steps = self.rankings[id].steps(&self.weight, most_scores);
        let counts = Counts::new(&steps, self.costs_of(positive, &names)?);
        let mut cut_offs = cut_offs.to_vec();
        cut_offs.sort_by(f64::total_cmp);
        Ok(CutOffReport {
            positive: positive.to_owned(),
            share: counts.positives / (counts.positives + counts.negatives),
            roc_auc: self.rankings[id].auc(&self.weight, most_scores),
            average_precision: average_precision(&steps),
            cut_offs: cut_offs.into_iter().map(|p| counts.at(p)).collect(),
            best: [Aim::Cost, Aim::F1, Aim::Youden].into_iter().filter_map(|aim| counts.best(aim)).collect(),
            curve: counts.curve(),
        })
    }

    /// How much reaches each of these cut-offs of the probability of a class.
    ///
    /// # Errors
    /// If there is no such class.
    pub fn reached(&self, class: &str, cut_offs: &[f64]) -> Result<Reached> {
        let Some(id) = self.classes.get(class) else {
            return Err(Error::Settings(format!("there is no class `{class}`")));
        };
        let steps = self.rankings[id].steps(&self.weight, ranking::most_scores(self.classes.len()));
        let counts = Counts::new(&steps, None);
        let (hits, alarms) = cut_offs.iter().map(|&p| counts.reached_at(p)).unzip();
        Ok(Reached { positives: counts.positives, negatives: counts.negatives, hits, alarms })
    }

    fn class_names(&self) -> Vec<String> {
        self.classes.sorted().into_iter().map(|id| self.classes.name(id).to_owned()).collect()
    }

    /// What is paid between two classes, if costs were given.
    fn costs_of(&self, positive: &str, names: &[String]) -> Result<Option<TwoCosts>> {
        let [first, second] = names else { return Ok(None) };
        if self.decision.costs.is_empty() {
            return Ok(None);
        }
        let (yes, no) = if positive == first { (0, 1) } else { (1, 0) };
        debug_assert!(positive == first || positive == second);
        let costs = self.decision.cost_matrix(names)?;
        Ok(Some(TwoCosts {
            hit: costs[yes][yes],
            miss: costs[no][yes],
            alarm: costs[yes][no],
            quiet: costs[no][no],
        }))
    }
}

/// The weights of rows that reach some cut-offs of the probability of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// Of all rows of the class.
    pub positives: f64,
    /// Of all others.
    pub negatives: f64,
    /// Of the rows of the class that reach each cut-off.
    pub hits: Vec<f64>,
    /// Of the others that do.
    pub alarms: Vec<f64>,
}

/// What the four outcomes cost between two classes.
#[derive(Debug, Clone, Copy)]
struct TwoCosts {
    hit: f64,
    miss: f64,
    alarm: f64,
    quiet: f64,
}

/// How much reaches each score.
struct Counts<'a> {
    steps: &'a [Step],
    /// True and false positives down to each step, beginning with none.
    reached: Vec<(f64, f64)>,
    positives: f64,
    negatives: f64,
    costs: Option<TwoCosts>,
}

impl<'a> Counts<'a> {
    fn new(steps: &'a [Step], costs: Option<TwoCosts>) -> Self {
        let mut reached = vec![(0.0, 0.0)];
        let mut sums = (0.0, 0.0);
        for step in steps {
            sums = (sums.0 + step.positives, sums.1 + step.negatives);
            reached.push(sums);
        }
        Counts { steps, reached, positives: sums.0, negatives: sums.1, costs }
    }

    /// What comes of a cut-off at this probability.
    fn at(&self, p: f64) -> CutOff {
        self.after(self.steps_to(p), Some(p))
    }

    /// True and false positives at this probability.
    fn reached_at(&self, p: f64) -> (f64, f64) {
        self.reached[self.steps_to(p)]
    }

    /// How many steps reach a probability.
    fn steps_to(&self, p: f64) -> usize {
        let least = log_odds::of_probability(p);
        self.steps.partition_point(|step| step.score >= least)
    }

    /// What comes of it if so many steps are reached.
    fn after(&self, steps: usize, cut_off: Option<f64>) -> CutOff {
        let (hits, alarms) = self.reached[steps];
        let (reached, all) = (hits + alarms, self.positives + self.negatives);
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let precision = share(hits, reached);
        CutOff {
            cut_off,
            alarms: reached / all,
            precision,
            recall: share(hits, self.positives),
            false_positive_rate: share(alarms, self.negatives),
            f1: share(hits, 0.5 * (self.positives + reached)).unwrap_or(0.0),
            lift: precision.and_then(|precision| share(precision, self.positives / all)),
            cost: self.costs.map(|costs| {
                let (missed, quiet) = (self.positives - hits, self.negatives - alarms);
                (hits * costs.hit + missed * costs.miss + alarms * costs.alarm + quiet * costs.quiet) / all
            }),
        }
    }

    /// The best cut-off for an aim, if there are rows to tell.
    fn best(&self, aim: Aim) -> Option<BestCutOff> {
        let gain = |steps: usize| {
            let cut_off = self.after(steps, None);
            match aim {
                Aim::Cost => cut_off.cost.map(|cost| -cost),
                Aim::F1 => Some(cut_off.f1).filter(|_| self.positives > 0.0),
                Aim::Youden => Some(cut_off.recall? - cut_off.false_positive_rate?),
            }
        };
        let mut best = (0, gain(0)?);
        for steps in 1..self.reached.len() {
            let gain = gain(steps)?;
            if gain > best.1 {
                best = (steps, gain);
            }
        }
        Some(BestCutOff { by: aim, cut_off: self.after(best.0, self.cut_off_after(best.0)) })
    }

    /// A probability that parts the first steps from the others, with as few digits as that takes; `None` if nothing reaches it
    /// and no probability says so.
    fn cut_off_after(&self, steps: usize) -> Option<f64> {
        if steps == self.steps.len() {
            return Some(0.0);
        }
        let (above, below) = match steps {
            0 => (f64::INFINITY, self.steps[0].score),
            _ => (self.steps[steps - 1].score, self.steps[steps].score),
        };
        let parts = |p: &f64| {
            let odds = log_odds::of_probability(*p);
            odds > below && odds <= above
        };
        let highest = log_odds::to_probability(above);
        let rounded_down = |digits: usize| {
            let scale = libm::pow(10.0, digits as f64);
            format!("{:.digits$}", (highest * scale).floor() / scale).parse::<f64>().ok()
        };
        let shortest = (1..=17).filter_map(rounded_down).find(parts);
        shortest.or(Some(highest).filter(parts))
    }

    fn curve(&self) -> Curve {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let mut curve = Curve::default();
        for (step, &(hits, alarms)) in self.steps.iter().zip(&self.reached[1..]) {
            curve.thresholds.push(log_odds::to_probability(step.score));
            curve.precision.push(share(hits, hits + alarms));
            curve.recall.push(share(hits, self.positives));
            curve.false_positive_rate.push(share(alarms, self.negatives));
        }
        curve
    }
}

/// The mean of the precision at each row of the class, rows of one score together; if there are any.
pub(super) fn average_precision(steps: &[Step]) -> Option<f64> {
    let (mut sum, mut hits, mut reached) = (0.0, 0.0, 0.0);
    for step in steps {
        hits += step.positives;
        reached += step.positives + step.negatives;
        sum += step.positives * (hits / reached);
    }
    (hits > 0.0).then(|| sum / hits)
}

#[cfg(test)]
mod tests;

//! The numbers that an evaluation comes to.

use serde::Serialize;

use super::{BINS, CONFIDENCE, CORRECT, Evaluation, WEIGHT, ranking};
use crate::exact::ExactSum;

/// With more classes than this nobody looks at a confusion matrix, and it is left out.
pub const MOST_CONFUSED: usize = 1024;

/// How good the predictions were. Every mean is weighted by the rows' weights; without any row it is NaN.
/// As JSON it has the names of its fields, and what is infinite or undefined is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluationReport {
    /// How many rows were evaluated.
    pub rows: u64,
    /// The classes that a model knew or a row had, in canonical order.
    pub classes: Vec<String>,
    /// The share of rows whose most probable class is the true one.
    pub accuracy: f64,
    /// The mean of −ln P(true class), in nats; infinite if some row gives its true class probability zero.
    pub log_loss: f64,
    /// The mean of Σₖ (P(k) − \[k is true\])² over all classes k: 0 is perfect, 2 is certain and wrong. For two
    /// classes it is twice what is called the Brier score where only one of them is looked at.
    pub brier: f64,
    /// Expected calibration error: how far the confidence in the most probable class is from the accuracy, as the
    /// weighted mean of |accuracy − confidence| over 15 bins of equal width.
    pub ece: f64,
    /// The area under the ROC curve. With more than two classes, the plain mean over every class against the
    /// rest, of those that have both. `None` if there is none.
    pub roc_auc: Option<f64>,
    /// The plain mean of F1 over the classes that occur, as true or as predicted ones.
    pub macro_f1: f64,
    /// Weights: rows are true classes, columns predicted ones. Empty if there are more than [`MOST_CONFUSED`].
    pub confusion: Vec<Vec<f64>>,
    /// The accuracy of always answering the majority class of the training data.
    pub baseline_accuracy: f64,
    /// Every class by itself, in the order of `classes`.
    pub per_class: Vec<ClassReport>,
    /// Confidence against accuracy, in 15 bins of equal width.
    pub calibration: Vec<CalibrationBin>,
    /// How many rows give their true class probability zero: its log-joint is −∞, or the model does not know it.
    pub zero_probability_rows: u64,
    /// How many rows have no class to compare with.
    pub skipped: u64,
    /// How many of the evaluated rows every class calls impossible; their posterior is the prior.
    pub impossible: u64,
    /// How many of the evaluated rows have no known feature; their posterior is the prior.
    pub no_evidence: u64,
    /// How many values were never met in training, in all rows that were scored.
    pub unseen: u64,
    /// How many of the evaluated rows were predicted by a [judged](crate::judgement) model.
    pub judged: u64,
}

/// How well one class is told from the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassReport {
    /// The class.
    pub name: String,
    /// The share of rows predicted as this class that are of it; 0 if none is.
    pub precision: f64,
    /// The share of rows of this class that are predicted as such; 0 if there is none.
    pub recall: f64,
    /// The harmonic mean of the two; 0 if one of them is.
    pub f1: f64,
    /// The weight of the rows of this class.
    pub support: f64,
    /// The area under the ROC curve of this class against the rest, if there are rows of both.
    pub auc: Option<f64>,
}

/// Predictions of similar confidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Every confidence in the bin is above this.
    pub lower: f64,
    /// And at most this.
    pub upper: f64,
    /// The weight of the rows in the bin.
    pub weight: f64,
    /// The mean probability of the most probable class, if there is any row.
    pub mean_confidence: Option<f64>,
    /// The share of rows for which it is the true one, if there is any row.
    pub accuracy: Option<f64>,
}

impl Evaluation {
    /// What was counted, as numbers to be read.
    pub fn report(&self) -> EvaluationReport {
        let total = self.weight.value();
        let ids = self.classes.sorted();
        let mut correct = ExactSum::default();
        let mut as_true = vec![ExactSum::default(); ids.len()];
        let mut as_predicted = vec![ExactSum::default(); ids.len()];
        let mut as_both = vec![0.0; ids.len()];
        for (&(true_id, predicted), weight) in &self.confusion {
            as_true[true_id].merge(weight);
            as_predicted[predicted].merge(weight);
            if true_id == predicted {
                correct.merge(weight);
                as_both[true_id] = weight.value();
            }
        }
        let areas = self.areas(&ids);
        let per_class: Vec<ClassReport> = ids
            .iter()
            .zip(areas)
            .map(|(&id, auc)| {
                let (support, predicted) = (as_true[id].value(), as_predicted[id].value());
                let share_of = |whole: f64| if whole > 0.0 { as_both[id] / whole } else { 0.0 };
                ClassReport {
                    name: self.classes.name(id).to_owned(),
                    precision: share_of(predicted),
                    recall: share_of(support),
                    f1: share_of(0.5 * (support + predicted)),
                    support,
                    auc,
                }
            })
            .collect();
        let occurs = |id: usize| !(as_true[id].is_zero() && as_predicted[id].is_zero());
        let calibration = self.calibration_bins();
        EvaluationReport {
            rows: self.rows,
            classes: per_class.iter().map(|class| class.name.clone()).collect(),
            accuracy: correct.value() / total,
            log_loss: if self.zero_probability_rows > 0 { f64::INFINITY } else { self.loss.value() / total },
            brier: self.brier.value() / total,
            ece: self.calibration_gap() / total,
            roc_auc: mean(per_class.iter().filter_map(|class| class.auc)),
            macro_f1: mean(
                ids.iter().zip(&per_class).filter(|(id, _)| occurs(**id)).map(|(_, class)| class.f1),
            )
            .unwrap_or(f64::NAN),
            confusion: self.confusion_matrix(&ids),
            baseline_accuracy: self.baseline_correct.value() / total,
            per_class,
            calibration,
            zero_probability_rows: self.zero_probability_rows,
            skipped: self.skipped,
            impossible: self.impossible,
            no_evidence: self.no_evidence,
            judged: self.judged,
            unseen: self.unseen,
        }
    }

    /// The area of each of these classes against the rest.
    fn areas(&self, ids: &[usize]) -> Vec<Option<f64>> {
        let area = |&id: &usize| self.rankings[id].auc(&self.weight, ranking::most_scores(ids.len()));
        match ids {
            // The log-odds of two classes mirror each other, and so do their curves: one area serves both.
            [first, _] => vec![area(first); 2],
            _ => ids.iter().map(area).collect(),
        }
    }

    fn confusion_matrix(&self, ids: &[usize]) -> Vec<Vec<f64>> {
        if ids.len() > MOST_CONFUSED {
            return Vec::new();
        }
        let weight = |cell: (usize, usize)| self.confusion.get(&cell).map_or(0.0, ExactSum::value);
        ids.iter().map(|&row| ids.iter().map(|&column| weight((row, column))).collect()).collect()
    }

    /// The sum over the bins of |weight that is correct − weight that was expected to be|.
    fn calibration_gap(&self) -> f64 {
        let gap = |bin| {
            let mut gap = self.calibration.exact(bin, CORRECT);
            gap.subtract(&self.calibration.exact(bin, CONFIDENCE));
            gap.value().abs()
        };
        (0..self.calibration.rows()).map(gap).sum()
    }

    fn calibration_bins(&self) -> Vec<CalibrationBin> {
        let get =
            |bin, what| if bin < self.calibration.rows() { self.calibration.get(bin, what) } else { 0.0 };
        (0..BINS)
            .map(|bin| {
                let weight = get(bin, WEIGHT);
                let mean = |what| (weight > 0.0).then(|| get(bin, what) / weight);
                CalibrationBin {
                    lower: bin as f64 / BINS as f64,
                    upper: (bin + 1) as f64 / BINS as f64,
                    weight,
                    mean_confidence: mean(CONFIDENCE),
                    accuracy: mean(CORRECT),
                }
            })
            .collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

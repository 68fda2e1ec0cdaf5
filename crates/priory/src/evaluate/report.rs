//! The numbers that an evaluation comes to.

use serde::Serialize;

use super::cut_offs::average_precision;
use super::{BINS, CONFIDENCE, CORRECT, CutOffReport, Doubt, Evaluation, WEIGHT, ranking};
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
    /// The share of answers that are right, unless another decision was made the most probable classes.
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
    /// The log-loss of the prior, for every row alike; infinite if it gives the class of some row probability zero.
    pub baseline_log_loss: f64,
    /// The weight of rows that were not answered, because no class was probable enough.
    pub unsure: f64,
    /// What the answers cost per row that was answered, if costs were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What the cheapest answer would cost per row if it were always given, if costs were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_cost: Option<f64>,
    /// Every class by itself, in the order of `classes`.
    pub per_class: Vec<ClassReport>,
    /// Confidence against accuracy, in 15 bins of equal width.
    pub calibration: Vec<CalibrationBin>,
    /// How many rows give their true class probability zero: its log-joint is −∞, or the model does not know it.
    pub zero_probability_rows: u64,
    /// How many of these are of a class that their model has not learnt.
    pub not_learnt: u64,
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
    /// Where predictions are worse than none, and why that probably is; as sentences in JSON.
    pub doubts: Vec<Doubt>,
    /// What cut-offs of one class are worth, if [`Evaluation::cut_offs`] was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_offs: Option<CutOffReport>,
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
    /// The average precision of this class against the rest, if there are rows of it.
    pub average_precision: Option<f64>,
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
        for (&true_id, weight) in &self.unsure {
            as_true[true_id].merge(weight);
        }
        let mut unsure = ExactSum::default();
        self.unsure.values().for_each(|weight| unsure.merge(weight));
        let mut answered = self.weight.clone();
        answered.subtract(&unsure);
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
                    average_precision: self.average_precision(id, ids.len()),
                }
            })
            .collect();
        let occurs = |id: usize| !(as_true[id].is_zero() && as_predicted[id].is_zero());
        let calibration = self.calibration_bins();
        let mut report = EvaluationReport {
            rows: self.rows,
            classes: per_class.iter().map(|class| class.name.clone()).collect(),
            accuracy: correct.value() / answered.value(),
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
            baseline_log_loss: match self.baseline_zero_rows {
                0 => self.baseline_loss.value() / total,
                _ => f64::INFINITY,
            },
            unsure: unsure.value(),
            cost: None,
            baseline_cost: None,
            per_class,
            calibration,
            zero_probability_rows: self.zero_probability_rows,
            not_learnt: self.not_learnt,
            skipped: self.skipped,
            impossible: self.impossible,
            no_evidence: self.no_evidence,
            judged: self.judged,
            unseen: self.unseen,
            doubts: Vec::new(),
            cut_offs: None,
        };
        self.add_costs(&mut report, &ids, answered.value());
        // Who is to answer otherwise than by what is most probable gives accuracy away for something else.
        if self.rows > 0 && self.decision.is_most_probable() {
            let shares =
                report.per_class.iter().map(|class| class.support / total).filter(|share| *share > 0.0);
            let entropy: f64 = shares.map(|share| -share * libm::log(share)).sum();
            report.doubts = Doubt::about(&report, entropy);
        }
        report
    }

    /// What the answers cost, if costs were given.
    fn add_costs(&self, report: &mut EvaluationReport, ids: &[usize], answered: f64) {
        if self.decision.costs.is_empty() {
            return;
        }
        // Of a class that no model has learnt nobody has said what it costs.
        let Ok(costs) = self.decision.cost_matrix(&report.classes) else { return };
        let mut positions = vec![0; ids.len()];
        ids.iter().enumerate().for_each(|(position, &id)| positions[id] = position);
        let position = |id: usize| positions[id];
        let (mut paid, mut weight) = (0.0, answered);
        for (&(true_id, predicted), weight) in &self.confusion {
            paid += weight.value() * costs[position(predicted)][position(true_id)];
        }
        // Not to answer costs something only if that was said.
        if let Some(costs) = costs.get(ids.len()) {
            paid += self.unsure.iter().map(|(&id, weight)| weight.value() * costs[position(id)]).sum::<f64>();
            weight += report.unsure;
        }
        let always = |costs: &Vec<f64>| -> f64 {
            costs.iter().zip(&report.per_class).map(|(cost, class)| cost * class.support).sum()
        };
        report.cost = Some(paid / weight);
        report.baseline_cost =
            Some(costs.iter().map(always).fold(f64::INFINITY, f64::min) / self.weight.value());
    }

    fn average_precision(&self, id: usize, classes: usize) -> Option<f64> {
        average_precision(&self.rankings[id].steps(&self.weight, ranking::most_scores(classes)))
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

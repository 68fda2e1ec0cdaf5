//! When predictions are worse than none, and what is probably the matter.

use std::fmt;

use serde::{Serialize, Serializer};

use super::EvaluationReport;

/// Predictions are worse than what could be said without looking at the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// By which measure.
    pub worse: Worse,
    /// What it came to.
    pub found: f64,
    /// What it would have been without looking.
    pub baseline: f64,
    /// What is probably the matter.
    pub cause: Cause,
}

/// A measure by which predictions are worse than none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worse {
    /// Fewer are right than if the majority class were always answered.
    Accuracy,
    /// Probabilities are further off than the prior.
    LogLoss,
    /// Some classes cannot be predicted at all.
    Classes,
}

/// Why predictions are probably worse than none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// So many rows are of a class that the model has not learnt.
    NotLearnt(u64),
    /// So many true classes had probability zero.
    Impossible(u64),
    /// So many values were never met in training.
    Unseen(u64),
    /// So many rows have no known feature.
    NoEvidence(u64),
    /// The classes have other shares than the model expects.
    OtherShares,
    /// The model was not judged, and its columns repeat each other.
    Exaggerated,
    /// So few rows tell nothing.
    FewRows(u64),
    /// The columns say too little.
    NothingToSee,
}

/// Shares of the classes that cost so many nats per row, since the prior is another, are a cause.
const OTHER_SHARES: f64 = 0.05;

/// With fewer rows, chance may be all there is.
const FEW_ROWS: u64 = 50;

impl Doubt {
    /// Whether predictions are worse than none, by each measure. `shares_loss` is what the log-loss of the prior would be if it
    /// were the shares of the rows.
    pub(super) fn about(report: &EvaluationReport, shares_loss: f64) -> Vec<Doubt> {
        // What is below by less than half a row's weight may be a matter of rounding.
        let is_below = report.accuracy < report.baseline_accuracy - 0.5 / report.rows as f64;
        let accuracy = is_below.then_some((Worse::Accuracy, report.accuracy, report.baseline_accuracy));
        let is_worse = report.log_loss > report.baseline_log_loss + 1e-9;
        let log_loss = is_worse.then_some((Worse::LogLoss, report.log_loss, report.baseline_log_loss));
        let classes = (report.not_learnt > 0).then_some((Worse::Classes, 0.0, 0.0));
        let doubt = |(worse, found, baseline)| Doubt {
            worse,
            found,
            baseline,
            cause: cause(report, worse, shares_loss),
        };
        classes.into_iter().chain(accuracy).chain(log_loss).map(doubt).collect()
    }
}

fn cause(report: &EvaluationReport, worse: Worse, shares_loss: f64) -> Cause {
    let rows = report.rows;
    if worse == Worse::Classes || (worse == Worse::LogLoss && report.not_learnt > 0) {
        Cause::NotLearnt(report.not_learnt)
    } else if worse == Worse::LogLoss && report.zero_probability_rows > 0 {
        Cause::Impossible(report.zero_probability_rows)
    } else if 2 * report.unseen >= rows {
        Cause::Unseen(report.unseen)
    } else if 4 * (report.no_evidence + report.impossible) >= rows {
        Cause::NoEvidence(report.no_evidence + report.impossible)
    } else if report.baseline_log_loss - shares_loss > OTHER_SHARES {
        Cause::OtherShares
    } else if rows < FEW_ROWS {
        Cause::FewRows(rows)
    } else if report.judged == 0 && worse == Worse::LogLoss {
        Cause::Exaggerated
    } else {
        Cause::NothingToSee
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Doubt { worse, found, baseline, cause } = self;
        match worse {
            Worse::Classes => return write!(f, "{cause}"),
            Worse::Accuracy => {
                write!(
                    f,
                    "the accuracy, {found:.4}, is below that of always answering the majority class, {baseline:.4}"
                )?;
            }
            Worse::LogLoss if found.is_infinite() => {
                write!(f, "the log-loss is infinite, and that of the prior {baseline:.4}")?
            }
            Worse::LogLoss => {
                write!(f, "the log-loss, {found:.4}, is worse than that of the prior, {baseline:.4}")?
            }
        }
        write!(f, ": {cause}")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: &u64| if *n == 1 { "" } else { "s" };
        match self {
            Cause::NotLearnt(1) => write!(f, "1 row is of a class that the model has not learnt"),
            Cause::NotLearnt(n) => write!(f, "{n} rows are of classes that the model has not learnt"),
            Cause::Impossible(1) => write!(f, "1 row had a class that the model called impossible"),
            Cause::Impossible(n) => write!(f, "{n} rows had a class that the model called impossible"),
            Cause::Unseen(n) => write!(
                f,
                "{n} value{} never met in training, so these rows are probably written in another way than those",
                if *n == 1 { " was" } else { "s were" }
            ),
            Cause::NoEvidence(n) => write!(f, "{n} row{} without any feature that the model knows", s(n)),
            Cause::OtherShares => write!(f, "the classes have other shares here than the model expects"),
            Cause::Exaggerated => {
                write!(
                    f,
                    "the columns probably repeat each other, and a plain model adds up what they say; a judged one weighs it"
                )
            }
            Cause::FewRows(n) => write!(f, "{n} row{} tell{} little", s(n), if *n == 1 { "s" } else { "" }),
            Cause::NothingToSee => write!(
                f,
                "the columns probably say little about the class, or rows of a class look otherwise here"
            ),
        }
    }
}

/// As a sentence.
impl Serialize for Doubt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

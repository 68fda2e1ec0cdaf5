//! An evaluation as bytes, for evaluations of many machines that are to become one.
//!
//! Sums are written as the numbers that they are the exact sum of, and numbers by their bits: what is read again is what was
//! written, to the last bit.

use serde::{Deserialize, Serialize};

use super::{BINS, CORRECT, Evaluation, ranking};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::exact::ExactSum;

/// The bits of some numbers, which add up to a sum.
type Terms = Vec<u64>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Carried {
    rows: u64,
    skipped: u64,
    impossible: u64,
    no_evidence: u64,
    judged: u64,
    unseen: u64,
    zero_probability_rows: u64,
    not_learnt: u64,
    baseline_zero_rows: u64,
    classes: Vec<String>,
    /// Of each class, how many bits its scores have lost, and key and weight of each entry.
    rankings: Vec<(u32, Vec<(u64, u64)>)>,
    confusion: Vec<(usize, usize, Terms)>,
    unsure: Vec<(usize, Terms)>,
    /// Weight, loss, Brier score, weight that the baseline gets right, and its loss.
    sums: [Terms; 5],
    calibration: Vec<Terms>,
    decision: Decision,
}

impl Evaluation {
    /// This evaluation as bytes, which [`from_bytes`](Self::from_bytes) reads: so that what was evaluated on other machines can be
    /// [merged](Self::merge).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tidy = self.clone();
        tidy.tidy_up();
        let cells =
            (0..tidy.calibration.rows()).flat_map(|bin| (0..=CORRECT).map(move |column| (bin, column)));
        let carried = Carried {
            rows: tidy.rows,
            skipped: tidy.skipped,
            impossible: tidy.impossible,
            no_evidence: tidy.no_evidence,
            judged: tidy.judged,
            unseen: tidy.unseen,
            zero_probability_rows: tidy.zero_probability_rows,
            not_learnt: tidy.not_learnt,
            baseline_zero_rows: tidy.baseline_zero_rows,
            classes: tidy.classes.names().map(str::to_owned).collect(),
            rankings: tidy.rankings.iter().map(ranking::Ranking::carried).collect(),
            confusion: tidy.confusion.iter().map(|(&(a, b), sum)| (a, b, terms(sum))).collect(),
            unsure: tidy.unsure.iter().map(|(&class, sum)| (class, terms(sum))).collect(),
            sums: [
                terms(&tidy.weight),
                terms(&tidy.loss),
                terms(&tidy.brier),
                terms(&tidy.baseline_correct),
                terms(&tidy.baseline_loss),
            ],
            calibration: cells.map(|(bin, column)| terms(&tidy.calibration.exact(bin, column))).collect(),
            decision: tidy.decision.clone(),
        };
        serde_json::to_vec(&carried).expect("it has string keys only")
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    ///
    /// # Errors
    /// If the bytes are no evaluation.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refused = |why: &str| Error::Mismatch(format!("this is no evaluation: {why}"));
        let carried: Carried = serde_json::from_slice(bytes).map_err(|error| refused(&error.to_string()))?;
        let classes = carried.classes.len();
        let are_classes = carried.confusion.iter().all(|&(a, b, _)| a < classes && b < classes)
            && carried.unsure.iter().all(|&(class, _)| class < classes);
        let has_bins = [0, BINS * (CORRECT + 1)].contains(&carried.calibration.len());
        if !are_classes || !has_bins || carried.rankings.len() != classes {
            return Err(refused("it contradicts itself"));
        }
        let read = |terms: &Terms| sum(terms).ok_or_else(|| refused("a number in it is not finite"));
        let [weight, loss, brier, baseline_correct, baseline_loss] = &carried.sums;
        let mut evaluation = Evaluation {
            rows: carried.rows,
            skipped: carried.skipped,
            impossible: carried.impossible,
            no_evidence: carried.no_evidence,
            judged: carried.judged,
            unseen: carried.unseen,
            zero_probability_rows: carried.zero_probability_rows,
            not_learnt: carried.not_learnt,
            baseline_zero_rows: carried.baseline_zero_rows,
            weight: read(weight)?,
            loss: read(loss)?,
            brier: read(brier)?,
            baseline_correct: read(baseline_correct)?,
            baseline_loss: read(baseline_loss)?,
            decision: carried.decision,
            ..Evaluation::default()
        };
        for name in &carried.classes {
            evaluation.intern(name);
        }
        if evaluation.classes.len() != classes {
            return Err(refused("it has a class twice"));
        }
        for (ranking, (dropped_bits, entries)) in evaluation.rankings.iter_mut().zip(&carried.rankings) {
            let carried = ranking::Ranking::from_carried(*dropped_bits, entries);
            *ranking = carried.ok_or_else(|| refused("its rows have no order"))?;
        }
        for (a, b, terms) in &carried.confusion {
            evaluation.confusion.insert((*a, *b), read(terms)?);
        }
        for (class, terms) in &carried.unsure {
            evaluation.unsure.insert(*class, read(terms)?);
        }
        if !carried.calibration.is_empty() {
            evaluation.calibration.grow(BINS, CORRECT + 1);
        }
        for (cell, terms) in carried.calibration.iter().enumerate() {
            let (bin, column) = (cell / (CORRECT + 1), cell % (CORRECT + 1));
            read(terms)?
                .canonical_terms()
                .into_iter()
                .for_each(|term| evaluation.calibration.add(bin, column, term));
        }
        Ok(evaluation)
    }
}

fn terms(sum: &ExactSum) -> Terms {
    sum.canonical_terms().into_iter().map(f64::to_bits).collect()
}

fn sum(terms: &Terms) -> Option<ExactSum> {
    let mut sum = ExactSum::default();
    for &bits in terms {
        let term = f64::from_bits(bits);
        if !term.is_finite() {
            return None;
        }
        sum.add(term);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Column, Kind, Schema, Settings, Statistics};

    #[test]
    fn carried_evaluations_merge_like_others() {
        let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)]).unwrap();
        let mut batch = Batch::from_rows(&[
            ("yes", [Some("rain")]),
            ("no", [Some("sun")]),
            ("maybe", [None]),
            ("yes", [Some("fog")]),
        ]);
        batch.weights = vec![0.1, 1e20, 3.0, 0.7];
        let mut statistics = Statistics::empty(&schema);
        statistics.observe(&batch).unwrap();
        let model = statistics.estimate(&Settings::default()).unwrap();
        let evaluated = |batch: &Batch| {
            let mut evaluation = Evaluation::new();
            evaluation.observe(model.classes(), batch, &model.score(batch).unwrap(), "yes").unwrap();
            evaluation
        };
        let mut whole = evaluated(&batch);
        let mut carried = Evaluation::from_bytes(&whole.to_bytes()).unwrap();
        assert_eq!(carried.to_bytes(), whole.to_bytes());
        for _ in 0..3 {
            whole.merge(&evaluated(&batch));
            carried.merge(&Evaluation::from_bytes(&evaluated(&batch).to_bytes()).unwrap());
        }
        assert_eq!(carried.report(), whole.report());
        assert_eq!(carried.to_bytes(), whole.to_bytes());
        let none = Evaluation::from_bytes(&Evaluation::new().to_bytes()).unwrap();
        carried.merge(&none);
        assert_eq!(carried.report(), whole.report());
    }

    #[test]
    fn what_is_no_evaluation_is_refused() {
        let good = String::from_utf8(Evaluation::new().to_bytes()).unwrap();
        for (from, to) in [
            ("\"rows\":0", "\"rows\":-1"),
            ("\"classes\":[]", "\"classes\":[\"a\",\"a\"],\"rankings\":[[0,[]],[0,[]]]"),
            ("\"confusion\":[]", "\"confusion\":[[0,1,[]]]"),
            ("\"sums\":[[]", "\"sums\":[[9218868437227405312]"),
            ("\"calibration\":[]", "\"calibration\":[[]]"),
        ] {
            let bad = good.replace(from, to);
            assert_ne!(bad, good);
            assert!(Evaluation::from_bytes(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}

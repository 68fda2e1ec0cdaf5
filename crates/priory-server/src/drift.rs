//! Whether what a model is asked about still looks like what it has learnt: counted as requests come, per model.

use std::sync::Mutex;

use priory::{Batch, Outcome, Scores};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::frozen::Frozen;
use crate::held;

/// What was seen since the server was started.
#[derive(Default)]
pub(crate) struct Drift(Mutex<Seen>);

/// Sums about the rows that were scored, and about those that were learnt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Which model the columns and classes are those of.
    serial: u64,
    pub(crate) columns: Vec<OfColumn>,
    pub(crate) answers: Vec<(String, u64)>,
    pub(crate) rows: u64,
    pub(crate) without_evidence: u64,
    pub(crate) impossible: u64,
    pub(crate) unseen_tokens: u64,
    pub(crate) unknown_columns: u64,
    pub(crate) log_evidence: Mean,
    pub(crate) learnt: Learnt,
}

/// What was seen of a column.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfColumn {
    pub(crate) name: String,
    pub(crate) missing: u64,
    pub(crate) unseen: u64,
}

/// The sum of some numbers, and how many there were. A row that is impossible has no finite log P(x) and is not among them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mean {
    pub(crate) sum: f64,
    pub(crate) count: u64,
}

/// How good the model was on the rows that it was about to learn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Learnt {
    pub(crate) rows: u64,
    /// Those whose class the model knew already,
    pub(crate) judged: u64,
    /// and whose class was answered.
    pub(crate) correct: u64,
    /// −log P(class | x).
    pub(crate) log_loss: Mean,
    pub(crate) log_evidence: Mean,
}

impl Mean {
    fn add(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (self.sum, self.count) = (self.sum + value, self.count + 1);
        }
    }

    pub(crate) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl Drift {
    /// Counts rows that were scored. log P(x) costs time where a model was judged, and is then found for some batches only.
    pub(crate) fn scored(
        &self,
        frozen: &Frozen,
        batch: &Batch,
        scores: &Scores,
        answers: &[usize],
        unknown: u64,
    ) {
        let columns = frozen.missing_and_unseen(batch);
        let mut outcomes = [0; 2];
        for row in 0..batch.rows {
            match scores.outcome(row) {
                Outcome::Evidence => {}
                Outcome::NoEvidence => outcomes[0] += 1,
                Outcome::Impossible => outcomes[1] += 1,
            }
        }
        let seen = &mut *held(&self.0);
        seen.adapt(frozen);
        for (sums, (missing, unseen)) in seen.columns.iter_mut().zip(columns) {
            sums.missing += missing;
            sums.unseen += unseen;
        }
        answers.iter().for_each(|&answer| seen.answers[answer].1 += 1);
        let rows_before = seen.rows;
        seen.rows += batch.rows as u64;
        seen.without_evidence += outcomes[0];
        seen.impossible += outcomes[1];
        seen.unseen_tokens += scores.unseen_tokens();
        seen.unknown_columns += unknown;
        const ONE_IN: u64 = 16;
        if !scores.is_judged() {
            seen.log_evidence.add((0..batch.rows).map(|row| scores.log_evidence(row)));
        } else if rows_before.is_multiple_of(ONE_IN) || batch.rows as u64 >= ONE_IN {
            seen.log_evidence.add(frozen.model.log_evidence(batch, scores).unwrap_or_default());
        }
    }

    /// Counts how good the model was on rows that were learnt after that.
    pub(crate) fn learnt(&self, frozen: &Frozen, batches: &[Batch]) {
        let mut learnt = Learnt::default();
        for batch in batches {
            let rows = batch.only(frozen.learnt.statistics.schema(), frozen.model.schema());
            let Ok(scores) = frozen.model.score(&rows) else { continue };
            let posterior = scores.normalize();
            let answers = frozen.decider.decide(&scores);
            learnt.rows += batch.rows as u64;
            for (row, &answer) in answers.iter().enumerate() {
                let class = batch.classes.value(row);
                let class =
                    class.and_then(|name| frozen.model.classes().iter().position(|class| class == name));
                if let Some(class) = class {
                    learnt.judged += 1;
                    learnt.correct += u64::from(answer == class);
                    learnt.log_loss.add([-posterior.row(row)[class].ln()]);
                }
            }
            learnt.log_evidence.add(frozen.model.log_evidence(&rows, &scores).unwrap_or_default());
        }
        let sums = &mut held(&self.0).learnt;
        sums.rows += learnt.rows;
        sums.judged += learnt.judged;
        sums.correct += learnt.correct;
        let pairs = [(&mut sums.log_loss, learnt.log_loss), (&mut sums.log_evidence, learnt.log_evidence)];
        for (sum, more) in pairs {
            (sum.sum, sum.count) = (sum.sum + more.sum, sum.count + more.count);
        }
    }

    pub(crate) fn seen(&self) -> Seen {
        held(&self.0).clone()
    }
}

impl Seen {
    /// Keeps what is known of the columns and classes that the model still has.
    fn adapt(&mut self, frozen: &Frozen) {
        if self.serial == frozen.serial {
            return;
        }
        self.serial = frozen.serial;
        let columns = &frozen.model.schema().columns;
        if !columns.iter().map(|column| &column.name).eq(self.columns.iter().map(|column| &column.name)) {
            let known = std::mem::take(&mut self.columns);
            let found = |name: &str| known.iter().find(|column| column.name == name).cloned();
            self.columns = columns
                .iter()
                .map(|column| {
                    found(&column.name)
                        .unwrap_or_else(|| OfColumn { name: column.name.clone(), ..OfColumn::default() })
                })
                .collect();
        }
        let answers = frozen.decider.answers();
        if !answers.iter().eq(self.answers.iter().map(|(name, _)| name)) {
            let known = std::mem::take(&mut self.answers);
            let count =
                |name: &String| known.iter().find(|(known, _)| known == name).map_or(0, |known| known.1);
            self.answers = answers.into_iter().map(|name| (name.clone(), count(&name))).collect();
        }
    }

    /// The same as shares and means, as the description of a model has them.
    pub(crate) fn to_json(&self) -> Value {
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let columns: Map<String, Value> = self
            .columns
            .iter()
            .map(|column| {
                let missing = share(column.missing, self.rows);
                let unseen = share(column.unseen, self.rows - column.missing.min(self.rows));
                (column.name.clone(), json!({ "missing": missing, "unseen": unseen }))
            })
            .collect();
        let answers: Map<String, Value> =
            self.answers.iter().map(|(name, rows)| (name.clone(), share(*rows, self.rows).into())).collect();
        json!({
            "rows": self.rows,
            "columns": columns,
            "predicted": answers,
            "no_evidence": share(self.without_evidence, self.rows),
            "impossible": share(self.impossible, self.rows),
            "unseen_tokens_per_row": share(self.unseen_tokens, self.rows),
            "mean_log_evidence": self.log_evidence.value(),
            "learnt": OfLearnt {
                rows: self.learnt.rows,
                accuracy: share(self.learnt.correct, self.learnt.judged),
                log_loss: self.learnt.log_loss.value(),
                mean_log_evidence: self.learnt.log_evidence.value(),
            },
        })
    }
}

#[derive(Serialize)]
struct OfLearnt {
    rows: u64,
    accuracy: Option<f64>,
    log_loss: Option<f64>,
    mean_log_evidence: Option<f64>,
}

//! Answers about rows: JSON for JSON, and tables for tables.

use std::io::Write;
use std::sync::Mutex;

use axum::http::StatusCode;
use bytes::Bytes;
use priory::posterior::rows_to_score;
use priory::{Batch, Explanation, Outcome};
use priory_input::{
    InputFormat, PredictedColumns, PredictedLines, PredictionColumns, PredictionStream, Predictions, Purpose,
    Syntax, Watch, Work, push_probability,
};
use serde::Serialize;

use crate::drift::Drift;
use crate::frozen::Frozen;
use crate::held;
use crate::lines;
use crate::refusal::Refusal;
use crate::rows::Read;

/// What is asked about, beside its rows.
pub(crate) struct Question<'a> {
    pub(crate) model: &'a str,
    pub(crate) version: &'a str,
    pub(crate) frozen: &'a Frozen,
    pub(crate) drift: &'a Drift,
    pub(crate) most_rows: usize,
    pub(crate) most_bytes: usize,
    pub(crate) probabilities: bool,
    pub(crate) log_evidence: bool,
}

/// The formats of tables that can be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Jsonl,
    Arrow,
}

impl Format {
    pub(crate) const ALL: [Format; 3] = [Format::Csv, Format::Jsonl, Format::Arrow];

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv",
            Format::Jsonl => "application/x-ndjson",
            Format::Arrow => "application/vnd.apache.arrow.stream",
        }
    }

    pub(crate) fn input(self) -> InputFormat {
        match self {
            Format::Csv => InputFormat::Delimited,
            Format::Jsonl => InputFormat::JsonLines,
            Format::Arrow => InputFormat::Arrow,
        }
    }
}

impl Question<'_> {
    /// Predictions for rows in JSON.
    pub(crate) fn predict(&self, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.frozen.with_rows(body, self.most_rows, |batch, read| self.predictions(batch, read))
    }

    fn predictions(&self, batch: &Batch, read: &Read) -> Result<Vec<u8>, Refusal> {
        let Question { frozen, .. } = self;
        let scores = frozen.model.score(batch).map_err(|error| Refusal::unprocessable(error.to_string()))?;
        let posterior = scores.normalize();
        let answers = frozen.decider.decide(&scores);
        let log_evidence = self.log_evidence.then(|| frozen.model.log_evidence(batch, &scores));
        let log_evidence =
            log_evidence.transpose().map_err(|error| Refusal::unprocessable(error.to_string()))?;
        self.drift.scored(frozen, batch, &scores, &answers, read.unknown.values().sum());
        let mut out = Vec::with_capacity(256 + 128 * batch.rows);
        self.begin(&mut out);
        for (row, &answer) in answers.iter().enumerate() {
            out.extend_from_slice(if row == 0 { b"{\"prediction\":" } else { b",{\"prediction\":" });
            out.extend_from_slice(frozen.answers[answer].as_bytes());
            for (class, (name, &p)) in frozen.classes.iter().zip(posterior.row(row)).enumerate() {
                out.extend_from_slice(if class == 0 { b",\"posterior\":{" } else { b"," });
                out.extend_from_slice(name.as_bytes());
                out.push(b':');
                push_probability(p, &mut out);
            }
            out.push(b'}');
            if let Some(log_evidence) = &log_evidence {
                out.extend_from_slice(b",\"log_evidence\":");
                push_number(log_evidence[row], &mut out);
            }
            let outcome = posterior.outcome(row);
            let marks = match outcome {
                Outcome::Evidence => ",\"no_evidence\":false,\"impossible\":false}",
                Outcome::NoEvidence => ",\"no_evidence\":true,\"impossible\":false}",
                Outcome::Impossible => ",\"no_evidence\":false,\"impossible\":true}",
            };
            out.extend_from_slice(marks.as_bytes());
        }
        let counts = (scores.unseen(), scores.unseen_tokens());
        self.end(read, Some(counts), &mut out);
        Ok(out)
    }

    /// Explanations for rows in JSON.
    pub(crate) fn explain(&self, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.frozen.with_rows(body, self.most_rows, |batch, read| {
            let mut out = Vec::with_capacity(1024 * batch.rows + 256);
            self.begin(&mut out);
            for row in 0..batch.rows {
                let explained = self.frozen.model.explain(batch, row);
                let explanation: Explanation =
                    explained.map_err(|error| Refusal::unprocessable(error.to_string()))?;
                if row > 0 {
                    out.push(b',');
                }
                serde_json::to_writer(&mut out, &explanation).expect("memory takes everything");
                self.check_length(out.len())?;
            }
            self.end(read, None, &mut out);
            Ok(out)
        })
    }

    fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"model\":\"");
        out.extend_from_slice(self.model.as_bytes());
        out.extend_from_slice(b"\",\"version\":\"");
        out.extend_from_slice(self.version.as_bytes());
        out.extend_from_slice(b"\",\"rows\":[");
    }

    /// What the rows had that deserves a word.
    fn end(&self, read: &Read, unseen: Option<(u64, u64)>, out: &mut Vec<u8>) {
        out.push(b']');
        if let Some((values, tokens)) = unseen {
            let _ = write!(out, ",\"unseen_values\":{values},\"unseen_tokens\":{tokens}");
        }
        if !read.unknown.is_empty() {
            out.extend_from_slice(b",\"unknown_columns\":");
            serde_json::to_writer(&mut *out, &read.unknown).expect("memory takes everything");
        }
        out.push(b'}');
    }

    /// Predictions for a table, as a table.
    pub(crate) fn predict_table(
        &self,
        body: Bytes,
        from: Format,
        to: Format,
        threads: usize,
    ) -> Result<Vec<u8>, Refusal> {
        let Question { frozen, .. } = self;
        let mut table = table(body, from)?;
        let classes = frozen.model.classes();
        table.limit_rows(rows_to_score(classes.len()));
        let answers = frozen.decider.answers();
        let columns = PredictedColumns {
            kept: &[],
            classes,
            answers,
            probabilities: self.probabilities,
            intervals: false,
            log_evidence: self.log_evidence,
        };
        let mut reader = table.reader(frozen.model.schema(), Purpose::Scoring).map_err(of_input)?;
        reader.read_into(frozen.model.batch());
        let work = Work { threads, watch: &Unwatched };
        let score = |batch: &Batch, then: &mut dyn FnMut(&Predictions<'_>)| -> priory::Result<()> {
            let scores = frozen.model.score(batch)?;
            let answers = frozen.decider.decide(&scores);
            let log_evidence =
                self.log_evidence.then(|| frozen.model.log_evidence(batch, &scores)).transpose()?;
            self.drift.scored(frozen, batch, &scores, &answers, 0);
            then(&Predictions {
                kept: &[],
                scores: &scores,
                answers: &answers,
                interval: None,
                log_evidence: log_evidence.as_deref(),
            });
            Ok(())
        };
        let too_long = || priory_input::Error::Stopped;
        let most = self.most_answer();
        if to == Format::Arrow {
            let columns = PredictionColumns::new(&columns.names(), 0, classes.len(), &columns.answers);
            let stream = Mutex::new(PredictionStream::new(&columns).map_err(of_input)?);
            let done = work.fold(
                &reader,
                || (),
                |(), batch, turn| {
                    let mut rows = None;
                    score(batch, &mut |predictions| rows = Some(columns.encode(predictions)))?;
                    turn.take(|| {
                        let mut stream = held(&stream);
                        rows.iter().try_for_each(|rows| stream.write(rows))?;
                        if stream.len() > most { Err(too_long()) } else { Ok(()) }
                    })
                },
            );
            done.map_err(|error| self.of_table(error))?;
            let stream = stream.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            return stream.finish().map_err(of_input);
        }
        let syntax = if to == Format::Csv { Syntax::Csv } else { Syntax::Json };
        let lines = PredictedLines::new(&columns, syntax);
        let out = Mutex::new(lines.header().into_bytes());
        let done = work.fold(&reader, Vec::new, |text, batch, turn| {
            text.clear();
            score(batch, &mut |predictions| lines.write(predictions, text))?;
            turn.take(|| {
                let mut out = held(&out);
                out.extend_from_slice(text);
                if out.len() > most { Err(too_long()) } else { Ok(()) }
            })
        });
        done.map_err(|error| self.of_table(error))?;
        Ok(out.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// How many bytes an answer may have: predictions of a table that is allowed are hardly longer than this.
    fn most_answer(&self) -> usize {
        self.most_bytes.saturating_mul(8).saturating_add(1 << 20)
    }

    fn check_length(&self, length: usize) -> Result<(), Refusal> {
        if length <= self.most_answer() { Ok(()) } else { Err(too_long_an_answer()) }
    }

    fn of_table(&self, error: priory_input::Error) -> Refusal {
        match error {
            priory_input::Error::Stopped => too_long_an_answer(),
            error => of_input(error),
        }
    }

    /// How well the model predicts rows that have a class.
    pub(crate) fn evaluate(&self, body: Bytes, format: Format) -> Result<Vec<u8>, Refusal> {
        #[derive(Serialize)]
        struct Evaluated<'a> {
            model: &'a str,
            version: &'a str,
            #[serde(flatten)]
            report: priory::evaluate::EvaluationReport,
        }
        let open = |number: usize| (number == 0).then(|| lines::table(body.clone(), format.input()));
        let work = Work { threads: 1, watch: &Unwatched };
        let evaluation = priory_input::evaluate_on(&open, &self.frozen.learnt, &work).map_err(of_input)?;
        let report =
            evaluation.report_with(&[]).map_err(|error| Refusal::unprocessable(error.to_string()))?;
        let evaluated = Evaluated { model: self.model, version: self.version, report };
        Ok(serde_json::to_vec(&evaluated).expect("memory takes everything"))
    }
}

fn too_long_an_answer() -> Refusal {
    Refusal::too_large("the answer would be too long; ask about fewer rows at once")
}

/// A number, or null if it is none.
fn push_number(number: f64, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &number).expect("memory takes everything");
}

/// A table in the body of a request.
pub(crate) fn table(body: Bytes, format: Format) -> Result<priory_input::Table, Refusal> {
    check_unpacked(&body)?;
    lines::table(body, format.input()).map_err(of_input)
}

/// A packed body could become a thousand times as large.
pub(crate) fn check_unpacked(body: &[u8]) -> Result<(), Refusal> {
    let is_packed = body.starts_with(b"\x1f\x8b") || body.starts_with(b"\x28\xb5\x2f\xfd");
    match is_packed {
        true => Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is packed; send it as it is")),
        false => Ok(()),
    }
}

/// What a table says that cannot be.
pub(crate) fn of_input(error: priory_input::Error) -> Refusal {
    Refusal::unprocessable(error.to_string())
}

/// Nobody waits for the progress of it.
struct Unwatched;

impl Watch for Unwatched {
    fn advance(&self, _: u64) -> priory_input::Result<()> {
        Ok(())
    }
}

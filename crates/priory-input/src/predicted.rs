//! Predictions as text: CSV, or a JSON object for each row.

use std::borrow::Cow;

use crate::kept::{KeptColumn, Predictions};

/// What the columns of predictions are: those that are kept, the prediction, the probabilities, log P(x).
#[derive(Debug, Clone)]
pub struct PredictedColumns<'a> {
    /// The columns of the table that pass through.
    pub kept: &'a [String],
    /// The classes, in the order of their probabilities.
    pub classes: &'a [String],
    /// What may be predicted: the classes, and `unsure`.
    pub answers: Vec<String>,
    /// Whether the probability of each class is written,
    pub probabilities: bool,
    /// and from where to where it could be,
    pub intervals: bool,
    /// and log P(x).
    pub log_evidence: bool,
}

impl PredictedColumns<'_> {
    /// What the prediction is called.
    pub const PREDICTION: &'static str = "prediction";
    /// What log P(x) is called.
    pub const LOG_EVIDENCE: &'static str = "log_evidence";

    /// The names of all of them, as they stand in a table.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.kept.to_vec();
        names.push(Self::PREDICTION.into());
        for class in self.classes.iter().filter(|_| self.probabilities) {
            names.push(format!("P({class})"));
            names.extend(
                ["low", "high"].iter().filter(|_| self.intervals).map(|end| format!("{end}({class})")),
            );
        }
        names.extend(self.log_evidence.then(|| Self::LOG_EVIDENCE.to_owned()));
        names
    }
}

/// Writes predictions row by row.
#[derive(Debug)]
pub struct PredictedLines<'a> {
    columns: &'a PredictedColumns<'a>,
    syntax: Syntax,
    /// The names of the kept columns and of the classes as the syntax wants them.
    kept: Vec<String>,
    classes: Vec<String>,
    answers: Vec<String>,
}

/// What is said of one row.
struct Predicted<'a> {
    prediction: &'a str,
    probabilities: Option<Probabilities<'a>>,
    log_evidence: Option<f64>,
}

/// The probabilities of the classes of a row, and perhaps the ends of their intervals.
#[derive(Clone, Copy)]
struct Probabilities<'a> {
    posterior: &'a [f64],
    ends: Option<(&'a [f64], &'a [f64])>,
}

/// The two ways to write a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Fields between commas, after a header.
    Csv,
    /// A JSON object on a line.
    Json,
}

impl<'a> PredictedLines<'a> {
    /// For these columns.
    pub fn new(columns: &'a PredictedColumns<'a>, syntax: Syntax) -> Self {
        let quoted = |names: &[String]| names.iter().map(|name| syntax.quoted(name).into_owned()).collect();
        let (kept, classes) = (quoted(columns.kept), quoted(columns.classes));
        PredictedLines { columns, syntax, kept, classes, answers: quoted(&columns.answers) }
    }

    /// What comes before the first row: the names of the columns, where they are not with every value.
    pub fn header(&self) -> String {
        match self.syntax {
            Syntax::Json => String::new(),
            Syntax::Csv => {
                let names = self.columns.names();
                let names: Vec<Cow<'_, str>> = names.iter().map(|name| self.syntax.quoted(name)).collect();
                names.join(",") + "\n"
            }
        }
    }

    /// Appends rows.
    pub fn write(&self, predictions: &Predictions<'_>, text: &mut Vec<u8>) {
        let posterior = self.columns.probabilities.then(|| predictions.scores.normalize());
        for (row, &answer) in predictions.answers.iter().enumerate() {
            let interval = predictions.interval;
            let predicted = Predicted {
                prediction: &self.answers[answer],
                probabilities: posterior.as_ref().map(|posterior| Probabilities {
                    posterior: posterior.row(row),
                    ends: interval.map(|interval| (interval.low(row), interval.high(row))),
                }),
                log_evidence: predictions.log_evidence.map(|of_rows| of_rows[row]),
            };
            match self.syntax {
                Syntax::Csv => self.write_csv(predictions.kept, row, predicted, text),
                Syntax::Json => self.write_json(predictions.kept, row, predicted, text),
            }
        }
    }

    fn write_csv(&self, kept: &[KeptColumn], row: usize, predicted: Predicted<'_>, text: &mut Vec<u8>) {
        for column in kept {
            let value = column.value(row).unwrap_or_default();
            text.extend_from_slice(self.syntax.quoted(value).as_bytes());
            text.push(b',');
        }
        text.extend_from_slice(predicted.prediction.as_bytes());
        if let Some(Probabilities { posterior, ends }) = predicted.probabilities {
            for (class, p) in posterior.iter().enumerate() {
                let ends = ends.map(|(low, high)| [low[class], high[class]]);
                for &p in std::iter::once(p).chain(ends.iter().flatten()) {
                    text.push(b',');
                    self.syntax.push_probability(p, text);
                }
            }
        }
        if let Some(log_evidence) = predicted.log_evidence {
            text.push(b',');
            text.extend_from_slice(log_evidence.to_string().as_bytes());
        }
        text.push(b'\n');
    }

    fn write_json(&self, kept: &[KeptColumn], row: usize, predicted: Predicted<'_>, text: &mut Vec<u8>) {
        text.push(b'{');
        for (name, column) in self.kept.iter().zip(kept) {
            let value = column.value(row).map_or(Cow::Borrowed("null"), |value| self.syntax.quoted(value));
            text.extend_from_slice(name.as_bytes());
            text.push(b':');
            text.extend_from_slice(value.as_bytes());
            text.push(b',');
        }
        text.extend_from_slice(b"\"prediction\":");
        text.extend_from_slice(predicted.prediction.as_bytes());
        if let Some(Probabilities { posterior, ends }) = predicted.probabilities {
            self.push_by_class(b",\"posterior\":{", posterior, text);
            if let Some((low, high)) = ends {
                self.push_by_class(b",\"low\":{", low, text);
                self.push_by_class(b",\"high\":{", high, text);
            }
        }
        if let Some(log_evidence) = predicted.log_evidence {
            text.extend_from_slice(b",\"log_evidence\":");
            match log_evidence.is_finite() {
                true => text.extend_from_slice(log_evidence.to_string().as_bytes()),
                false => text.extend_from_slice(b"null"),
            }
        }
        text.extend_from_slice(b"}\n");
    }

    /// A JSON object with a number for each class.
    fn push_by_class(&self, start: &[u8], values: &[f64], text: &mut Vec<u8>) {
        text.extend_from_slice(start);
        for (i, (name, &p)) in self.classes.iter().zip(values).enumerate() {
            text.extend_from_slice(if i == 0 { b"" } else { b"," });
            text.extend_from_slice(name.as_bytes());
            text.push(b':');
            self.syntax.push_probability(p, text);
        }
        text.push(b'}');
    }
}

impl Syntax {
    /// A string as it is written.
    fn quoted(self, text: &str) -> Cow<'_, str> {
        match self {
            Syntax::Json => serde_json::to_string(text).expect("text can be written as JSON").into(),
            Syntax::Csv if text.contains(['"', ',', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\"")).into()
            }
            Syntax::Csv => text.into(),
        }
    }

    /// What is not a number has no digits: it is called `NaN`, and in JSON, which has no word for it, `null`.
    fn push_probability(self, p: f64, line: &mut Vec<u8>) {
        match self {
            _ if p.is_finite() => push_probability(p, line),
            Syntax::Csv => line.extend_from_slice(b"NaN"),
            Syntax::Json => line.extend_from_slice(b"null"),
        }
    }
}

/// Writes a probability, which is finite, in the fewest digits that mean this very f64; a small one as 1.25e-7. A table of millions
/// of rows has many of them, and few are small.
pub fn push_probability(p: f64, line: &mut Vec<u8>) {
    let mut digits = zmij::Buffer::new();
    let digits = digits.format_finite(p);
    if p >= 1e-5 || p == 0.0 {
        line.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
        return;
    }
    let (mantissa, exponent) = digits.split_once('e').expect("a small one has an exponent");
    line.extend_from_slice(mantissa.strip_suffix(".0").unwrap_or(mantissa).as_bytes());
    line.push(b'e');
    line.extend_from_slice(exponent.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_written_without_digits() {
        for (syntax, expected) in [(Syntax::Csv, "NaN"), (Syntax::Json, "null")] {
            let mut line = Vec::new();
            syntax.push_probability(f64::NAN, &mut line);
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
    }

    #[test]
    fn probabilities_are_written_as_rust_writes_them() {
        let mut bits = 1_u64;
        let random = (0..100_000).map(|i| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let share = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            if i % 2 == 0 { share } else { (-700.0 * share).exp() }
        });
        let chosen =
            [0.0, 1.0, 0.5, 1e-4, 1e-5, 1e-6, 5e-7, 1.5e-9, 1e-100, 5e-324, 1.0 - f64::EPSILON / 2.0];
        for p in chosen.into_iter().chain(random) {
            let mut line = Vec::new();
            push_probability(p, &mut line);
            let expected = if p == 0.0 || p >= 1e-5 { p.to_string() } else { format!("{p:e}") };
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
    }
}

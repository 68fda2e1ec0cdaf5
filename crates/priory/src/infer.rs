//! What a column probably is, from its first rows.
//!
//! The rules are few and plain, and each decision says which one it was. They look at a sample only; a later value
//! that does not fit is reported when it is met.

use std::collections::HashSet;

use crate::schema::Kind;

/// How a source stores a column, if it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// As text, like everything in a CSV file: the values decide.
    Text,
    /// As numbers with a fraction.
    Number,
    /// As whole numbers.
    Integer,
    /// As true and false.
    Boolean,
    /// As days or moments, which are read as days.
    Date,
    /// As documents, each by itself.
    Documents,
}

/// What was decided about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What it is taken as.
    pub taken_as: TakenAs,
    /// Why, in a few words.
    pub reason: String,
    /// What else it might be.
    pub hint: Option<Hint>,
}

/// What else a column might be. Whoever shows it says how to have it so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// It was left out; it could be kept as this.
    Keep(Kind),
    /// This many different whole numbers, which are categories if they are codes.
    Codes {
        /// How many there are.
        values: usize,
    },
    /// It would be a column of numbers but for a few rows.
    Numbers {
        /// How many rows are not numbers.
        odd: usize,
        /// How many rows have a value.
        rows: usize,
    },
    /// Nearly as many values as rows, which are to be left out if they are identifiers.
    Identifiers {
        /// How many different values there are.
        values: usize,
        /// How many rows have a value.
        rows: usize,
    },
}

/// What a column is taken as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenAs {
    /// A feature of this kind.
    Feature(Kind),
    /// An identifier, which is left out: it says everything about the rows at hand and nothing about others.
    Identifier,
}

/// A column with fewer known values than this is not called an identifier, nor text.
const FEW_ROWS: usize = 20;
/// Whole numbers with no more values than this might be codes.
const FEW_VALUES: usize = 20;
/// Text has at least this many words on average.
const TEXT_WORDS: f64 = 4.0;

/// Decides what a column is, from the values in its first rows; `None` is missing.
///
/// ```
/// use priory::Kind;
/// use priory::infer::{Stored, TakenAs, infer};
///
/// let sizes = [Some("3.5"), None, Some("4"), Some("-1e3")];
/// assert_eq!(infer(Stored::Text, &sizes).taken_as, TakenAs::Feature(Kind::Number));
/// let answers = [Some("yes"), Some("no"), Some("yes")];
/// assert_eq!(infer(Stored::Text, &answers).taken_as, TakenAs::Feature(Kind::Category));
/// ```
pub fn infer(stored: Stored, values: &[Option<&str>]) -> Decision {
    let known: Vec<&str> = values.iter().copied().flatten().collect();
    let distinct: HashSet<&str> = known.iter().copied().collect();
    let facts = Facts { rows: known.len(), distinct: distinct.len() };
    let numbers: Vec<f64> = known.iter().filter_map(|value| finite_number(value)).collect();
    match stored {
        Stored::Documents => facts.feature(Kind::Text, "documents"),
        Stored::Boolean => facts.feature(Kind::Category, "true and false"),
        Stored::Date => facts.feature(Kind::Number, "a date, in days"),
        Stored::Number | Stored::Integer | Stored::Text if known.is_empty() => {
            let kind = if stored == Stored::Text { Kind::Category } else { Kind::Number };
            facts.feature(kind, "no values in the first rows")
        }
        Stored::Number | Stored::Integer => facts.number(&numbers),
        Stored::Text if numbers.len() == known.len() => facts.number(&numbers),
        Stored::Text => facts.words(&known, numbers.len()),
    }
}

/// How many words there are, between white space.
fn count_words(text: &str) -> usize {
    if !text.is_ascii() {
        return text.split_whitespace().count();
    }
    // Counted by their first letters, several bytes at once.
    let is_space = |byte: u8| byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let bytes = text.as_bytes();
    let at_start = bytes.first().is_some_and(|&first| !is_space(first));
    let after_space =
        bytes.windows(2).map(|pair| u32::from(is_space(pair[0]) & !is_space(pair[1]))).sum::<u32>();
    usize::from(at_start) + after_space as usize
}

fn finite_number(value: &str) -> Option<f64> {
    // `inf` and `nan` parse as numbers, but a column of them is a column of words.
    value.trim().parse::<f64>().ok().filter(|x| x.is_finite())
}

/// What is known of a column.
struct Facts {
    rows: usize,
    distinct: usize,
}

impl Facts {
    fn feature(&self, kind: Kind, reason: impl Into<String>) -> Decision {
        Decision { taken_as: TakenAs::Feature(kind), reason: reason.into(), hint: None }
    }

    fn number(&self, numbers: &[f64]) -> Decision {
        let whole = numbers.iter().all(|x| x.fract() == 0.0);
        if numbers.iter().all(|&x| x == 0.0 || x == 1.0) {
            return self.feature(Kind::Category, "0 and 1");
        }
        if self.distinct == 1 {
            return self.feature(Kind::Number, "a single value so far");
        }
        if whole && self.rows >= FEW_ROWS && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0) {
            return Decision {
                taken_as: TakenAs::Identifier,
                reason: "it numbers the rows".into(),
                hint: Some(Hint::Keep(Kind::Number)),
            };
        }
        let mut decision = self.feature(Kind::Number, if whole { "whole numbers" } else { "numbers" });
        if whole && self.distinct <= FEW_VALUES && self.rows >= 10 * self.distinct {
            decision.hint = Some(Hint::Codes { values: self.distinct });
        }
        decision
    }

    fn words(&self, known: &[&str], numbers: usize) -> Decision {
        let words: usize = known.iter().map(|value| count_words(value)).sum();
        let values = format!("{} {}", self.distinct, if self.distinct == 1 { "value" } else { "values" });
        let odd = self.rows - numbers;
        if numbers > 0 && 20 * odd <= self.rows {
            let mut decision = self.feature(Kind::Category, values);
            decision.hint = Some(Hint::Numbers { odd, rows: self.rows });
            return decision;
        }
        let long = words as f64 >= TEXT_WORDS * self.rows as f64;
        let mostly_distinct = self.rows >= FEW_ROWS && 2 * self.distinct > self.rows;
        if long && mostly_distinct {
            return Decision {
                taken_as: TakenAs::Feature(Kind::Text),
                reason: "text of many words".into(),
                hint: None,
            };
        }
        if self.rows >= FEW_ROWS && self.distinct == self.rows {
            return Decision {
                taken_as: TakenAs::Identifier,
                reason: "every value is another".into(),
                hint: Some(Hint::Keep(Kind::Category)),
            };
        }
        let mut decision = self.feature(Kind::Category, values);
        if mostly_distinct {
            decision.hint = Some(Hint::Identifiers { values: self.distinct, rows: self.rows });
        }
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], taken_as: TakenAs, reason: &str, hint: Option<Hint>) {
        let values: Vec<Option<&str>> = values.iter().map(|&value| (value != "?").then_some(value)).collect();
        assert_eq!(infer(Stored::Text, &values), Decision { taken_as, reason: reason.into(), hint });
    }

    fn numbered(prefix: &str, n: usize) -> Vec<String> {
        (0..n).map(|i| format!("{prefix}{i}")).collect()
    }

    const NUMBER: TakenAs = TakenAs::Feature(Kind::Number);
    const CATEGORY: TakenAs = TakenAs::Feature(Kind::Category);

    #[test]
    fn numbers() {
        check(&["1.5", "?", "-2e9", " 3"], NUMBER, "numbers", None);
        check(&["1", "7", "40"], NUMBER, "whole numbers", None);
        check(&["0", "1", "?", "1"], CATEGORY, "0 and 1", None);
        check(&["5", "5"], NUMBER, "a single value so far", None);
        let months: Vec<String> = (0..240).map(|i| (i * 7 % 12 + 1).to_string()).collect();
        let months: Vec<&str> = months.iter().map(String::as_str).collect();
        check(&months, NUMBER, "whole numbers", Some(Hint::Codes { values: 12 }));
        let rows = numbered("", 50);
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        check(&rows, TakenAs::Identifier, "it numbers the rows", Some(Hint::Keep(Kind::Number)));
        check(&rows[..5], NUMBER, "whole numbers", None);
    }

    #[test]
    fn words_are_counted() {
        for text in [
            "",
            " ",
            "a",
            " a",
            "a ",
            "to be\tor\u{b}not\r\n to  be",
            "\u{1c}x\u{1f} y",
            "é b\u{a0}c",
            "\u{85}a",
        ] {
            assert_eq!(count_words(text), text.split_whitespace().count(), "{text:?}");
        }
    }

    #[test]
    fn words() {
        check(&["red", "green", "red"], CATEGORY, "2 values", None);
        check(&["red", "7", "inf"], CATEGORY, "3 values", None);
        check(&["?", "?"], CATEGORY, "no values in the first rows", None);
        let ids = numbered("id", 30);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        check(&ids, TakenAs::Identifier, "every value is another", Some(Hint::Keep(Kind::Category)));
        let texts = numbered("the quick brown fox ", 30);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check(&texts, TakenAs::Feature(Kind::Text), "text of many words", None);
        let mut nearly: Vec<&str> = vec!["1.5"; 99];
        nearly.push("unknown");
        let hint = Hint::Numbers { odd: 1, rows: 100 };
        check(&nearly, CATEGORY, "2 values", Some(hint));
        let mut tickets = ids.clone();
        tickets.extend(&ids[..10]);
        check(&tickets, CATEGORY, "30 values", Some(Hint::Identifiers { values: 30, rows: 40 }));
    }

    #[test]
    fn what_the_source_says_counts_more() {
        let values = [Some("0"), Some("1"), Some("5")];
        assert_eq!(infer(Stored::Date, &values).taken_as, NUMBER);
        assert_eq!(infer(Stored::Boolean, &[Some("true")]).taken_as, CATEGORY);
        assert_eq!(infer(Stored::Integer, &[None]).taken_as, NUMBER);
        assert_eq!(infer(Stored::Integer, &[Some("0"), Some("1")]).taken_as, CATEGORY);
    }
}

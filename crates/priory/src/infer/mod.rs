//! What a column probably is, from its first rows.
//!
//! The rules are few and plain, and each decision says which one it was. They look at a sample only; a later value
//! that does not fit is reported when it is met.

mod booleans;
mod dates;
mod missing;
mod numbers;

use std::collections::HashSet;

use crate::schema::Kind;
use crate::written::{DateOrder, NumberStyle, Written};
use booleans::boolean_style;
pub use dates::DateTrouble;
use dates::{all_dates, date_order};
pub use missing::is_missing_word;
use numbers::NumberLook;
pub use numbers::{DecimalMarks, Mixture};

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
    /// As lists or structures, which cannot be read.
    Nested,
}

/// What the columns of a table have in common.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Habits {
    /// What they say about the decimal mark.
    pub marks: DecimalMarks,
    /// Whether words such as `N/A` and `-` mean missing in columns of numbers, dates and truth values; see [`is_missing_word`].
    pub missing_words: bool,
    /// At how many places of the table rows were looked at, besides its beginning.
    pub places: usize,
    /// Whether some column has dates that can only be read with the day first, or with the month first.
    pub day_first: bool,
    /// The same for the month.
    pub month_first: bool,
}

impl Habits {
    /// Takes note of one more column that may hold numbers.
    pub fn look_at(&mut self, values: &[Option<&str>]) {
        let missing_words = self.missing_words;
        let known = values.iter().copied().flatten();
        let mut known = known.filter(|value| !missing_words || !is_missing_word(value));
        self.marks.look_at(known.clone());
        // Nearly every column can be told from its first value.
        if known.clone().next().is_some_and(|first| all_dates(&[first], self).is_some()) {
            let order = all_dates(&known.by_ref().collect::<Vec<_>>(), &Habits::default());
            self.day_first |= order == Some(Ok(DateOrder::Dmy));
            self.month_first |= order == Some(Ok(DateOrder::Mdy));
        }
    }
}

/// What was decided about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What it is taken as.
    pub taken_as: TakenAs,
    /// How it is written, if not plainly.
    pub written: Option<Written>,
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
    /// Values of several words that occur again in other values, which are documents if the words say more than the whole.
    Sentences,
    /// Some of its values might mean that there is none.
    Missing {
        /// These.
        values: Vec<String>,
    },
    /// Its values are dates, but it is open whether the day or the month stands first.
    Dates(DateTrouble),
    /// Its values look like numbers, but they are not written alike.
    Mixed(Mixture),
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
    /// Nothing: it has no values; or it is an identifier, which says everything about the rows at hand and nothing about
    /// others.
    LeftOut,
}

/// A column with fewer known values than this is not called an identifier, nor text.
const FEW_ROWS: usize = 20;
/// Whole numbers with no more values than this might be codes.
const FEW_VALUES: usize = 20;
/// Text has at least this many words on average.
const TEXT_WORDS: f64 = 4.0;
/// Short texts have at least this many words on average, at most half of which are different.
const SENTENCE_WORDS: f64 = 2.0;

/// Decides what a column is, from the values in its first rows; `None` is missing. What the columns of the table have in common
/// decides where the column leaves it open.
///
/// ```
/// use priory::Kind;
/// use priory::infer::{Habits, Stored, TakenAs, infer};
///
/// let habits = Habits { missing_words: true, ..Habits::default() };
/// let sizes = [Some("3.5"), None, Some("4"), Some("n/a")];
/// assert_eq!(infer(Stored::Text, &sizes, &habits).taken_as, TakenAs::Feature(Kind::Number));
/// let prices = [Some("1.234,50 €"), None, Some("7,00 €")];
/// assert_eq!(infer(Stored::Text, &prices, &habits).reason, "numbers, in €, decimal comma, a point between thousands");
/// let answers = [Some("red"), Some("none"), Some("blue")];
/// assert_eq!(infer(Stored::Text, &answers, &habits).taken_as, TakenAs::Feature(Kind::Category));
/// ```
pub fn infer(stored: Stored, values: &[Option<&str>], habits: &Habits) -> Decision {
    let known: Vec<&str> = values.iter().copied().flatten().collect();
    let (missing, told): (Vec<&str>, Vec<&str>) =
        known.iter().partition(|value| habits.missing_words && is_missing_word(value));
    let facts = Facts::new(&told);
    let all = if missing.is_empty() { facts } else { Facts::new(&known) };
    match stored {
        Stored::Documents => facts.feature(Kind::Text, "documents"),
        // Whoever reads it says what it holds and that it has to be left out.
        Stored::Nested => facts.feature(Kind::Category, "lists or structures"),
        Stored::Boolean | Stored::Date | Stored::Number | Stored::Integer | Stored::Text
            if told.is_empty() =>
        {
            let kind = if stored == Stored::Text { Kind::Category } else { Kind::Number };
            // Without any rows, nothing can be said against a column.
            match values.is_empty() {
                true => facts.feature(kind, "no rows"),
                false => facts.left_out("no values in the first rows", Hint::Keep(kind)),
            }
        }
        Stored::Boolean => facts.feature(Kind::Category, "true and false"),
        Stored::Date => facts.dates(DateOrder::Ymd, "dates".to_owned()),
        Stored::Number | Stored::Integer => facts.number(&told, None, "", habits.places),
        Stored::Text => {
            let look = NumberLook::new(&told);
            let numbers = told.len() - look.odd;
            match look.style(&habits.marks) {
                _ if look.odd > 0 => match all_dates(&told, habits) {
                    Some(Ok(order)) => facts.dates(order, described(order, &told)).without(&missing),
                    Some(Err(trouble)) => {
                        let hint = Some(Hint::Dates(trouble));
                        Decision { hint, ..facts.feature(Kind::Category, facts.values()) }
                    }
                    None => all
                        .booleans(&known, &told, &missing)
                        .unwrap_or_else(|| all.words(&known, numbers, None).perhaps_missing(&missing)),
                },
                Ok((style, how)) => facts.number(&told, style, &how, habits.places).without(&missing),
                Err(mixture) => all.words(&known, numbers, Some(mixture)),
            }
        }
    }
}

/// How the numbers of a column are written that is to be one of numbers, whatever else is in it; `None` if plainly.
///
/// # Errors
/// If they are not written alike.
pub fn number_style(values: &[Option<&str>], habits: &Habits) -> Result<Option<NumberStyle>, Mixture> {
    let known: Vec<&str> = values.iter().copied().flatten().collect();
    NumberLook::new(&known).style(&habits.marks).map(|(style, _)| style)
}

/// In which order the dates of a column are written that is to be one of dates, whatever else is in it.
///
/// # Errors
/// If that cannot be told.
pub fn order_of_dates(values: &[Option<&str>], habits: &Habits) -> Result<DateOrder, DateTrouble> {
    let known = values.iter().copied().flatten();
    let known: Vec<&str> = known.filter(|value| !habits.missing_words || !is_missing_word(value)).collect();
    date_order(&known, habits).map(|(order, _)| order)
}

/// `dates, day first` and the like.
fn described(order: DateOrder, values: &[&str]) -> String {
    let what = if values.iter().any(|value| value.contains(':')) { "dates and times" } else { "dates" };
    match order {
        DateOrder::Dmy => format!("{what}, day first"),
        DateOrder::Mdy => format!("{what}, month first"),
        DateOrder::Ymd | DateOrder::Seconds | DateOrder::Milliseconds => what.to_owned(),
    }
}

/// Why a column of 0 and 1 is a category.
const ZERO_AND_ONE: &str = "0 and 1";

impl Decision {
    /// Whether the column was taken as a category because it held nothing but 0 and 1.
    pub fn expects_zero_and_one(&self) -> bool {
        self.reason == ZERO_AND_ONE
    }

    /// The same, and which of its values were taken as missing.
    fn without(mut self, missing: &[&str]) -> Self {
        if !missing.is_empty() {
            self.reason = format!("{}, {} missing", self.reason, quoted(missing));
        }
        self
    }

    /// The same, and which of its values might be missing.
    fn perhaps_missing(mut self, missing: &[&str]) -> Self {
        if let (None, false) = (&self.hint, missing.is_empty()) {
            let values = distinct(missing).into_iter().map(String::from).collect();
            self.hint = Some(Hint::Missing { values });
        }
        self
    }
}

/// Every value once, in order.
fn distinct<'v>(values: &[&'v str]) -> Vec<&'v str> {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// `a`, `b`
fn quoted(values: &[&str]) -> String {
    distinct(values).iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}

/// Whether each number is one more than the last, except where the rows come from another place of the table.
fn number_rows(numbers: &[f64], places: usize) -> bool {
    numbers.windows(2).filter(|pair| pair[1] != pair[0] + 1.0).count() <= places
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

/// Classes that seem to be several labels in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeveralLabels {
    /// What stands between the labels.
    pub separator: char,
    /// How many classes have several.
    pub classes: usize,
    /// The first of them.
    pub example: String,
}

/// Whether classes are several labels in one, such as `earn|grain`: at least three of them are, and most of their parts are
/// classes as well.
///
/// ```
/// use priory::infer::several_labels;
///
/// let topics = ["earn", "grain", "wheat", "earn|grain", "grain|wheat", "earn|wheat"];
/// assert_eq!(several_labels(&topics).map(|found| found.separator), Some('|'));
/// assert_eq!(several_labels(&["a|b", "c|d", "e|f"]), None);
/// ```
pub fn several_labels<C: AsRef<str>>(classes: &[C]) -> Option<SeveralLabels> {
    /// Fewer could be names that happen to have such a character.
    const FEWEST: usize = 3;
    let names: HashSet<&str> = classes.iter().map(AsRef::as_ref).collect();
    ['|', ';', ',', '+', '/', ' '].into_iter().find_map(|separator| {
        let several: Vec<&str> =
            classes.iter().map(AsRef::as_ref).filter(|name| name.contains(separator)).collect();
        let parts: Vec<&str> = several.iter().flat_map(|name| name.split(separator)).map(str::trim).collect();
        let known = parts.iter().filter(|part| names.contains(*part)).count();
        (several.len() >= FEWEST && 2 * known > parts.len()).then(|| SeveralLabels {
            separator,
            classes: several.len(),
            example: several[0].to_owned(),
        })
    })
}

/// How many different words there are, whatever their case.
fn different_words(values: &[&str]) -> usize {
    let words = values.iter().flat_map(|value| value.split_whitespace());
    words.map(str::to_lowercase).collect::<HashSet<String>>().len()
}

pub(crate) fn finite_number(value: &str) -> Option<f64> {
    // `inf` and `nan` parse as numbers, but a column of them is a column of words.
    value.trim().parse::<f64>().ok().filter(|x| x.is_finite())
}

/// What is known of a column.
#[derive(Clone, Copy)]
struct Facts {
    rows: usize,
    distinct: usize,
}

impl Facts {
    fn new(values: &[&str]) -> Self {
        let distinct: HashSet<&str> = values.iter().copied().collect();
        Facts { rows: values.len(), distinct: distinct.len() }
    }

    fn feature(&self, kind: Kind, reason: impl Into<String>) -> Decision {
        Decision { taken_as: TakenAs::Feature(kind), written: None, reason: reason.into(), hint: None }
    }

    /// `2 values`
    fn values(&self) -> String {
        format!("{} {}", self.distinct, if self.distinct == 1 { "value" } else { "values" })
    }

    fn dates(&self, order: DateOrder, reason: String) -> Decision {
        Decision { written: Some(Written::Date(order)), ..self.feature(Kind::Number, reason) }
    }

    /// A column of truth values that are not spelt in one way.
    fn booleans(&self, known: &[&str], told: &[&str], missing: &[&str]) -> Option<Decision> {
        let style = boolean_style(told, missing)?;
        let reason = format!("{} and {} in {} spellings", style.no, style.yes, distinct(known).len());
        let decision = self.feature(Kind::Category, reason).without(missing);
        Some(Decision { written: Some(Written::Boolean(style)), ..decision })
    }

    fn left_out(&self, reason: &str, hint: Hint) -> Decision {
        Decision { taken_as: TakenAs::LeftOut, written: None, reason: reason.into(), hint: Some(hint) }
    }

    /// A column of which every value is a number in this style, and what there is to say about the style.
    fn number(&self, known: &[&str], style: Option<NumberStyle>, how: &str, places: usize) -> Decision {
        let mut scratch = String::new();
        let numbers = known.iter().filter_map(|value| match &style {
            Some(style) => style.read(value, &mut scratch),
            None => finite_number(value),
        });
        let numbers: Vec<f64> = numbers.collect();
        let whole = numbers.iter().all(|x| x.fract() == 0.0);
        let dressed = style.as_ref().is_some_and(|style| style.currency.is_some() || style.percent);
        if !dressed && numbers.iter().all(|&x| x == 0.0 || x == 1.0) {
            return self.feature(Kind::Category, ZERO_AND_ONE);
        }
        if whole && self.rows >= FEW_ROWS && number_rows(&numbers, places) {
            return self.left_out("it numbers the rows", Hint::Keep(Kind::Number));
        }
        let what = match whole {
            _ if self.distinct == 1 => "a single value so far",
            true => "whole numbers",
            false => "numbers",
        };
        let reason = if how.is_empty() { what.to_owned() } else { format!("{what}, {how}") };
        let mut decision = self.feature(Kind::Number, reason);
        decision.written = style.map(Written::Number);
        if whole && self.distinct > 1 && self.distinct <= FEW_VALUES && self.rows >= 10 * self.distinct {
            decision.hint = Some(Hint::Codes { values: self.distinct });
        }
        decision
    }

    /// A column of words, some of which may be numbers; or of numbers that are not written alike.
    fn words(&self, known: &[&str], numbers: usize, mixture: Option<Mixture>) -> Decision {
        let words: usize = known.iter().map(|value| count_words(value)).sum();
        let values = self.values();
        let odd = self.rows - numbers;
        let nearly_numbers = Hint::Numbers { odd, rows: self.rows };
        if let Some(mixture) = mixture {
            let mut decision = self.feature(Kind::Category, values);
            decision.hint = Some(Hint::Mixed(mixture));
            return decision;
        }
        if numbers > 0 && 20 * odd <= self.rows {
            let mut decision = self.feature(Kind::Category, values);
            decision.hint = Some(nearly_numbers);
            return decision;
        }
        let long = words as f64 >= TEXT_WORDS * self.rows as f64;
        let mostly_distinct = self.rows >= FEW_ROWS && 2 * self.distinct > self.rows;
        if long && mostly_distinct {
            return self.feature(Kind::Text, "text of many words");
        }
        let are_sentences = 2 * self.distinct > self.rows
            && words as f64 >= SENTENCE_WORDS * self.rows as f64
            && 2 * different_words(known) <= words;
        if are_sentences && self.rows >= FEW_ROWS {
            return self.feature(Kind::Text, "short texts that repeat words");
        }
        if self.rows >= FEW_ROWS && self.distinct == self.rows {
            let hint = if 2 * odd <= self.rows { nearly_numbers } else { Hint::Keep(Kind::Category) };
            return self.left_out("every value is another", hint);
        }
        let mut decision = self.feature(Kind::Category, values);
        if are_sentences {
            decision.hint = Some(Hint::Sentences);
        } else if mostly_distinct {
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
        let decision = infer(Stored::Text, &values, &Habits::default());
        assert_eq!(decision, Decision { taken_as, written: None, reason: reason.into(), hint });
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
        check(&rows, TakenAs::LeftOut, "it numbers the rows", Some(Hint::Keep(Kind::Number)));
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
        check(&["?", "?"], TakenAs::LeftOut, "no values in the first rows", Some(Hint::Keep(Kind::Category)));
        let ids = numbered("id", 30);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        check(&ids, TakenAs::LeftOut, "every value is another", Some(Hint::Keep(Kind::Category)));
        let texts = numbered("the quick brown fox ", 30);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check(&texts, TakenAs::Feature(Kind::Text), "text of many words", None);
        let mut nearly: Vec<&str> = vec!["1.5"; 99];
        nearly.push("unknown");
        let hint = Hint::Numbers { odd: 1, rows: 100 };
        check(&nearly, CATEGORY, "2 values", Some(hint));
        let mails = ["Do math today", "Buy", "Buy book", "Today do math drugs", "Buy drugs book today"];
        check(&mails, CATEGORY, "5 values", Some(Hint::Sentences));
        let titles: Vec<String> = (0..30).map(|i| format!("model {} {}", i % 6, i / 6)).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        check(&titles, TakenAs::Feature(Kind::Text), "short texts that repeat words", None);
        let weather = ["light rain", "heavy rain", "light rain", "heavy rain"];
        check(&weather, CATEGORY, "2 values", None);
        let mut tickets = ids.clone();
        tickets.extend(&ids[..10]);
        check(&tickets, CATEGORY, "30 values", Some(Hint::Identifiers { values: 30, rows: 40 }));
    }

    #[test]
    fn what_the_source_says_counts_more() {
        let values = [Some("0"), Some("1"), Some("5")];
        let marks = Habits::default();
        assert_eq!(infer(Stored::Date, &values, &marks).taken_as, NUMBER);
        assert_eq!(infer(Stored::Boolean, &[Some("true")], &marks).taken_as, CATEGORY);
        assert_eq!(infer(Stored::Integer, &[None], &marks).taken_as, TakenAs::LeftOut);
        assert_eq!(infer(Stored::Integer, &[Some("0"), Some("1")], &marks).taken_as, CATEGORY);
    }
}

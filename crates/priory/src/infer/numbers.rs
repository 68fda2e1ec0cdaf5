//! Whether the values of a column are numbers, and how they are written.
//!
//! A column is read in one style or not at all: every value must fit it. `1,234` fits two, thousands and a decimal comma;
//! the other columns of the table decide which, and where they do not, nobody is made to believe a guess.

use std::fmt;

use crate::infer::finite_number;
use crate::written::numbers::{Between, Dressed, begins_like_a_word};
use crate::written::{DecimalMark, NumberStyle};

/// What all columns of a table together say about the decimal mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecimalMarks {
    /// The one that was named, which settles it.
    pub named: Option<DecimalMark>,
    /// Whether some column can only be read with a decimal point.
    pub point: bool,
    /// Whether some column can only be read with a decimal comma.
    pub comma: bool,
}

impl DecimalMarks {
    /// Takes note of one more column.
    pub fn look_at<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        let mut look = NumberLook::default();
        let mut scratch = String::new();
        let mut values = values;
        if values.all(|value| {
            look.add(value, &mut scratch);
            look.odd == 0
        }) {
            self.point |= look.only_point > 0 && look.only_comma == 0;
            self.comma |= look.only_comma > 0 && look.only_point == 0;
        }
    }

    /// The mark of the table, if it has one only.
    fn only(self) -> Option<DecimalMark> {
        self.named.or(match (self.point, self.comma) {
            (true, false) => Some(DecimalMark::Point),
            (false, true) => Some(DecimalMark::Comma),
            _ => None,
        })
    }
}

/// Why values that look like numbers cannot be read as such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mixture {
    /// Some have a decimal comma and others a decimal point.
    Marks {
        /// One with a comma.
        comma: String,
        /// One with a point.
        point: String,
    },
    /// They are in several currencies.
    Currencies {
        /// One of them.
        one: String,
        /// Another one.
        other: String,
    },
    /// Some are percentages and others are not.
    Percentages {
        /// How many are.
        with: usize,
        /// How many are not.
        without: usize,
    },
    /// A comma stands either between thousands or before a fraction, and the table has columns of both kinds.
    Open {
        /// One of them.
        example: String,
    },
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mixture::Marks { comma, point } => {
                write!(f, "some have a decimal comma (`{comma}`) and others a decimal point (`{point}`)")
            }
            Mixture::Currencies { one, other } => write!(f, "some are in {one} and others in {other}"),
            Mixture::Percentages { with, without } => {
                write!(f, "{with} of them are percentages and {without} are not")
            }
            Mixture::Open { example } => {
                write!(f, "the comma of `{example}` stands between thousands or before a fraction")
            }
        }
    }
}

/// What the values of a column have in common as numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberLook<'v> {
    /// How many there are.
    rows: usize,
    /// How many are no numbers in any style.
    pub(crate) odd: usize,
    /// How many can be read in one way only, and how many in both although they have a mark.
    only_point: usize,
    only_comma: usize,
    /// The first that can only be read with this mark, or else the first that has it.
    point: Option<&'v str>,
    comma: Option<&'v str>,
    currency: Option<&'static str>,
    other_currency: Option<&'static str>,
    percentages: usize,
    between: Option<Between>,
    /// Whether some have more than digits and a decimal point.
    not_plain: bool,
}

impl<'v> NumberLook<'v> {
    pub(crate) fn new(values: &[&'v str]) -> Self {
        let mut look = NumberLook { rows: values.len(), ..NumberLook::default() };
        let mut scratch = String::new();
        values.iter().for_each(|value| look.add(value, &mut scratch));
        look
    }

    fn add(&mut self, value: &'v str, scratch: &mut String) {
        match Plain::of(value) {
            Some(Plain::Whole) => return,
            Some(Plain::Decimal) => return self.add_only_point(value),
            Some(Plain::Open) | None => {}
        }
        // No number begins with a letter, except that of a currency. Most values that are none do.
        if begins_like_a_word(value) {
            self.odd += 1;
            return;
        }
        let plain = finite_number(value).is_some();
        let Some(dressed) = Dressed::new(value) else {
            self.odd += usize::from(!plain);
            return;
        };
        let [point, comma] = DecimalMark::ALL.map(|mark| dressed.number(mark, scratch));
        match (point.is_some() || plain, comma.is_some()) {
            (false, false) => {
                self.odd += 1;
                return;
            }
            (true, false) => self.add_only_point(value),
            (false, true) => {
                self.only_comma += 1;
                if self.only_comma == 1 {
                    self.comma = Some(value);
                }
            }
            (true, true) if dressed.has_mark(DecimalMark::Comma) => self.comma = self.comma.or(Some(value)),
            (true, true) if dressed.has_mark(DecimalMark::Point) => self.point = self.point.or(Some(value)),
            (true, true) => {}
        }
        self.not_plain |= !plain;
        self.percentages += usize::from(dressed.percent);
        match (self.currency, dressed.currency) {
            (None, Some(_)) => self.currency = dressed.currency,
            (Some(known), Some(other)) if known != other => self.other_currency = Some(other),
            _ => {}
        }
        let between = |number: Option<(f64, Option<Between>)>| number.and_then(|(_, between)| between);
        // What stands between thousands whichever mark is the decimal one, or in the only way to read the value.
        self.between = self.between.or(match (point, comma) {
            (Some(_), None) => between(point),
            (None, Some(_)) => between(comma),
            _ => between(point).filter(|_| between(point) == between(comma)),
        });
    }

    fn add_only_point(&mut self, value: &'v str) {
        self.only_point += 1;
        if self.only_point == 1 {
            self.point = Some(value);
        }
    }

    /// The style in which all of them are written, and why; `None` if that is plain.
    pub(crate) fn style(&self, marks: &DecimalMarks) -> Result<(Option<NumberStyle>, String), Mixture> {
        let owned = |value: Option<&str>| value.unwrap_or_default().to_owned();
        if let (Some(one), Some(other)) = (self.currency, self.other_currency) {
            return Err(Mixture::Currencies { one: one.into(), other: other.into() });
        }
        let without = self.rows - self.odd - self.percentages;
        if self.percentages > 0 && without > 0 {
            return Err(Mixture::Percentages { with: self.percentages, without });
        }
        let (decimal, because) = match (self.only_point > 0, self.only_comma > 0) {
            (true, true) => {
                return Err(Mixture::Marks { comma: owned(self.comma), point: owned(self.point) });
            }
            (true, false) => (DecimalMark::Point, None),
            (false, true) => (DecimalMark::Comma, None),
            (false, false) => self.open_mark(marks)?,
        };
        let style =
            NumberStyle { decimal, currency: self.currency.map(String::from), percent: self.percentages > 0 };
        let is_plain = !self.not_plain && style == NumberStyle::new(DecimalMark::Point);
        let reason = self.describe(decimal, because);
        Ok((Some(style).filter(|_| !is_plain || marks.named.is_some()), reason))
    }

    /// The decimal mark where every value can be read with either, and what settled it.
    fn open_mark(&self, marks: &DecimalMarks) -> Result<(DecimalMark, Option<&'static str>), Mixture> {
        let owned = |value: Option<&str>| value.unwrap_or_default().to_owned();
        if let Some(named) = marks.named {
            let settled = self.comma.or(self.point).map(|_| "as was said");
            return Ok((named, settled));
        }
        match (self.comma, self.point) {
            (Some(_), Some(_)) => Err(Mixture::Marks { comma: owned(self.comma), point: owned(self.point) }),
            (Some(_), None) if !marks.comma => {
                Ok((DecimalMark::Point, Some("since no column has a decimal comma")))
            }
            (Some(_), None) if !marks.point => {
                Ok((DecimalMark::Comma, Some("since other columns have a decimal comma")))
            }
            (Some(example), None) => Err(Mixture::Open { example: example.to_owned() }),
            (None, Some(_)) if marks.only() == Some(DecimalMark::Comma) => {
                Ok((DecimalMark::Comma, Some("since other columns have a decimal comma")))
            }
            (None, _) => Ok((marks.only().unwrap_or(DecimalMark::Point), None)),
        }
    }

    /// `in €, decimal comma` and the like: what is not plain about the numbers.
    fn describe(&self, decimal: DecimalMark, because: Option<&str>) -> String {
        let mut words = Vec::new();
        words.extend(self.currency.map(|currency| format!("in {currency}")));
        words.extend((self.percentages > 0).then(|| "in percent, 12 % is 0.12".to_owned()));
        let is_decimal = match decimal {
            DecimalMark::Comma => self.only_comma > 0 || self.comma.is_some() && because.is_some(),
            DecimalMark::Point => false,
        };
        words.extend(is_decimal.then(|| "decimal comma".to_owned()));
        let between = match (because, decimal, self.comma, self.point) {
            (Some(_), DecimalMark::Point, Some(_), _) => Some(Between::Comma),
            (Some(_), DecimalMark::Comma, _, Some(_)) => Some(Between::Point),
            _ => self.between,
        };
        words.extend(between.map(|between| {
            let what = match between {
                Between::Comma => "a comma",
                Between::Point => "a point",
                Between::Space => "a space",
                Between::Apostrophe => "an apostrophe",
            };
            format!("{what} between thousands")
        }));
        words.extend(because.map(String::from));
        words.join(", ")
    }
}

/// A number of digits and perhaps a point, which most are, told from its bytes.
enum Plain {
    /// Without a point: the same in every style.
    Whole,
    /// With a point that cannot stand between thousands.
    Decimal,
    /// With a point that can.
    Open,
}

impl Plain {
    fn of(value: &str) -> Option<Plain> {
        let digits = value.strip_prefix('-').unwrap_or(value).as_bytes();
        let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let Some(point) = digits.iter().position(|&byte| byte == b'.') else {
            return is_number(digits).then_some(Plain::Whole);
        };
        let (whole, fraction) = (&digits[..point], &digits[point + 1..]);
        if !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let is_open = fraction.len() == 3 && whole.len() <= 3 && whole[0] != b'0';
        Some(if is_open { Plain::Open } else { Plain::Decimal })
    }
}

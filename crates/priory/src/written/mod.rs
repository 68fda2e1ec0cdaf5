//! How the values of a column are written, where that is not plain.
//!
//! A plain number is one that every programming language reads: `-1234.5`. People write `1.234,50 €`, and what such a
//! field means depends on the others of its column. It is found out once ([`crate::infer`]), recorded in the schema, and
//! from then on every table is read alike.

pub mod bins;
pub mod booleans;
pub mod dates;
pub mod numbers;

use serde::{Deserialize, Serialize};

pub use bins::Bins;
pub use booleans::BooleanStyle;
pub use dates::{DateOrder, DatePart};
pub use numbers::{DecimalMark, NumberStyle};

/// How the values of a column are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// Numbers as people write them.
    Number(NumberStyle),
    /// Dates, which count as days since 1970.
    Date(DateOrder),
    /// Dates of which only a part counts, as a category.
    Part(PartOfDate),
    /// Truth values in several spellings.
    Boolean(BooleanStyle),
}

/// A part of dates that are written like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartOfDate {
    /// How the dates are written.
    pub date: DateOrder,
    /// What counts of them.
    pub part: DatePart,
}

impl Written {
    /// The number that a field stands for, if it is written like this.
    ///
    /// ```
    /// use priory::written::{DecimalMark, NumberStyle, Written};
    ///
    /// let style = NumberStyle { currency: Some("€".into()), ..NumberStyle::new(DecimalMark::Comma) };
    /// let written = Written::Number(style);
    /// assert_eq!(written.number("1.234,50 €", &mut String::new()), Some(1234.5));
    /// assert_eq!(written.number("1,234.50 €", &mut String::new()), None);
    /// ```
    pub fn number(&self, field: &str, scratch: &mut String) -> Option<f64> {
        match self {
            Written::Number(style) => style.read(field, scratch),
            Written::Date(order) => order.read(field).map(dates::Moment::number),
            Written::Part(_) | Written::Boolean(_) => None,
        }
    }

    /// The category that a field stands for, if it is written like this.
    ///
    /// ```
    /// use priory::written::{DateOrder, DatePart, PartOfDate, Written};
    ///
    /// let written = Written::Part(PartOfDate { date: DateOrder::Dmy, part: DatePart::Weekday });
    /// assert_eq!(written.category("31.05.2024 14:03"), Some("Friday"));
    /// ```
    pub fn category<'v>(&'v self, field: &'v str) -> Option<&'v str> {
        match self {
            Written::Part(PartOfDate { date, part }) => date.read(field).map(|moment| moment.part(*part)),
            Written::Boolean(style) => Some(style.read(field).unwrap_or(field)),
            Written::Number(_) | Written::Date(_) => None,
        }
    }

    /// Whether it says how numbers are read, and not categories.
    pub fn is_number(&self) -> bool {
        matches!(self, Written::Number(_) | Written::Date(_))
    }
}

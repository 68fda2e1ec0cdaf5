//! Whether the values of a column are dates, and in which order their parts stand.

use std::fmt;

use crate::infer::Habits;
use crate::written::DateOrder;

/// The orders that dates are written in.
const ORDERS: [DateOrder; 3] = [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy];

/// Why values cannot be read as dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DateTrouble {
    /// The day stands first, or the month: both make dates of all values.
    Open {
        /// One of them.
        example: String,
    },
    /// Some can only be read with the day first and others only with the month first.
    Mixed {
        /// One that is not like those before it.
        example: String,
    },
    /// None of them is a date.
    None {
        /// One of them.
        example: String,
    },
}

impl fmt::Display for DateTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DateTrouble::Open { example } => {
                write!(f, "`{example}` and all others are dates with the day first and with the month first")
            }
            DateTrouble::Mixed { example } => {
                write!(f, "`{example}` is not written in the order of the others")
            }
            DateTrouble::None { example } => write!(f, "`{example}` is none, nor are the others"),
        }
    }
}

/// The order in which all dates among the values are written, whatever else is among them; how many values are dates.
pub(crate) fn date_order(values: &[&str], habits: &Habits) -> Result<(DateOrder, usize), DateTrouble> {
    let owned = |value: Option<&&str>| value.map_or(String::new(), |value| (*value).to_owned());
    let mut fits = [0; ORDERS.len()];
    let mut dates = 0;
    let mut left = ORDERS.map(|_| true);
    let mut odd_one = None;
    for value in values {
        let now = ORDERS.map(|order| order.read(value).is_some());
        if !now.contains(&true) {
            continue;
        }
        dates += 1;
        for ((count, left), now) in fits.iter_mut().zip(&mut left).zip(now) {
            *count += usize::from(now);
            *left &= now;
        }
        if !left.contains(&true) && odd_one.is_none() {
            odd_one = Some(value);
        }
    }
    if dates == 0 {
        return Err(DateTrouble::None { example: owned(values.first()) });
    }
    let order = match left {
        [true, _, _] => DateOrder::Ymd,
        [_, true, false] => DateOrder::Dmy,
        [_, false, true] => DateOrder::Mdy,
        // With points the day comes first everywhere in the world.
        [_, true, true] if values.iter().all(|value| value.matches('.').count() >= 2) => DateOrder::Dmy,
        [_, true, true] => match (habits.day_first, habits.month_first) {
            (true, false) => DateOrder::Dmy,
            (false, true) => DateOrder::Mdy,
            _ => return Err(DateTrouble::Open { example: owned(values.first()) }),
        },
        [false, false, false] => return Err(DateTrouble::Mixed { example: owned(odd_one) }),
    };
    Ok((order, dates))
}

/// The order, if all values are dates. What makes none of them needs no second look.
pub(crate) fn all_dates(values: &[&str], habits: &Habits) -> Option<Result<DateOrder, DateTrouble>> {
    let is_date = |value: &&str| ORDERS.iter().any(|order| order.read(value).is_some());
    if !values.iter().all(is_date) || values.is_empty() {
        return None;
    }
    Some(date_order(values, habits).map(|(order, _)| order))
}

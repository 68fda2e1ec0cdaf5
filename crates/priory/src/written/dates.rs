//! Dates and times as people write them: `2024-05-31`, `31.05.2024 14:03`, `5/31/2024 2:03 PM`, `2024-05-31T14:03:00+02:00`.
//!
//! A moment counts as a number of days since 1970, with a fraction for the time of day. Where an offset from UTC is written, the
//! moment is the one in UTC, and so are its weekday and hour; other times are taken as they are written. Years are those of the
//! Gregorian calendar, also before there was one.

use serde::{Deserialize, Serialize};

/// In which order the parts of a date stand, or what it is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Year, month, day.
    Ymd,
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
}

impl DateOrder {
    /// All of them.
    pub const ALL: [DateOrder; 5] =
        [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy, DateOrder::Seconds, DateOrder::Milliseconds];

    /// The word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DateOrder::Ymd => "ymd",
            DateOrder::Dmy => "dmy",
            DateOrder::Mdy => "mdy",
            DateOrder::Seconds => "seconds",
            DateOrder::Milliseconds => "milliseconds",
        }
    }

    /// The moment that a field stands for, if it is written in this order.
    pub fn read(self, field: &str) -> Option<Moment> {
        let mut rest = Rest(field.trim().as_bytes());
        let day = match self {
            DateOrder::Seconds | DateOrder::Milliseconds => return self.read_count(field.trim()),
            DateOrder::Ymd => rest.year_month_day()?,
            DateOrder::Dmy => {
                let (day, month, year) = rest.two_and_year()?;
                day_number(year, month, day)?
            }
            DateOrder::Mdy => {
                let (month, day, year) = rest.two_and_year()?;
                day_number(year, month, day)?
            }
        };
        let nanoseconds = rest.time_of_day()?;
        Some(Moment::new(day, nanoseconds))
    }

    fn read_count(self, text: &str) -> Option<Moment> {
        let per_second = if self == DateOrder::Seconds { 1 } else { 1_000 };
        // Up to a nanosecond; what is finer is not there in any clock.
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let count: i64 = whole.parse().ok()?;
        if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
        let fraction = if whole.starts_with('-') { -fraction } else { fraction } / per_second;
        let (seconds, left) = (count.div_euclid(per_second), count.rem_euclid(per_second));
        let nanoseconds = seconds.rem_euclid(86_400) * SECOND + left * (SECOND / per_second) + fraction;
        Some(Moment::new(seconds.div_euclid(86_400), nanoseconds))
    }
}

/// A second in nanoseconds.
const SECOND: i64 = 1_000_000_000;
/// A day in nanoseconds.
const DAY: i64 = 86_400 * SECOND;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Days since 1970.
    days: i64,
    /// Nanoseconds since midnight.
    nanoseconds: i64,
}

impl Moment {
    fn new(days: i64, nanoseconds: i64) -> Self {
        Moment { days: days + nanoseconds.div_euclid(DAY), nanoseconds: nanoseconds.rem_euclid(DAY) }
    }

    /// Days since 1970, with a fraction.
    pub fn number(self) -> f64 {
        // Whole days apart, so that nanoseconds of today are not rounded before they are divided.
        self.days as f64 + self.nanoseconds as f64 / DAY as f64
    }

    /// A part of it, as a category.
    pub fn part(self, part: DatePart) -> &'static str {
        match part {
            // The first of January 1970 was a Thursday.
            DatePart::Weekday => WEEKDAYS[(self.days + 3).rem_euclid(7) as usize],
            DatePart::Month => MONTHS[calendar(self.days).1 as usize - 1],
            DatePart::Hour => HOURS[(self.nanoseconds / (3_600 * SECOND)) as usize],
        }
    }
}

/// What can be a category of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    /// Monday to Sunday.
    Weekday,
    /// January to December.
    Month,
    /// 0 to 23.
    Hour,
}

impl DatePart {
    /// All of them.
    pub const ALL: [DatePart; 3] = [DatePart::Weekday, DatePart::Month, DatePart::Hour];

    /// The word for it, as on the command line and after the name of the column.
    pub fn name(self) -> &'static str {
        match self {
            DatePart::Weekday => "weekday",
            DatePart::Month => "month",
            DatePart::Hour => "hour",
        }
    }
}

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const HOURS: [&str; 24] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18",
    "19", "20", "21", "22", "23",
];

/// A number of days since 1970 as a date, with the time to the second if it is not midnight.
pub fn shown(days: f64) -> String {
    // Dates of more than five digits are no dates that anybody reads.
    if !(-1e7..1e7).contains(&days) {
        return days.to_string();
    }
    let seconds = (days * 86_400.0).round() as i64;
    let (year, month, day) = calendar(seconds.div_euclid(86_400));
    let date = format!("{year:04}-{month:02}-{day:02}");
    match seconds.rem_euclid(86_400) {
        0 => date,
        time => format!("{date} {:02}:{:02}:{:02}", time / 3_600, time / 60 % 60, time % 60),
    }
}

/// Year, month and day of a day since 1970.
///
/// Howard Hinnant, "chrono-compatible low-level date algorithms": years begin in March, eras have 400 of them.
pub fn calendar(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_month)
}

/// The day since 1970, if there is such a date.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year_from_march = year - i64::from(month <= 2);
    let era = year_from_march.div_euclid(400);
    let year_of_era = year_from_march.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let number = era * 146_097 + day_of_era - 719_468;
    // The thirtieth of February is a day of March, which is how it is found out.
    (calendar(number) == (year, month, day)).then_some(number)
}

/// What is left to be read of a field.
struct Rest<'f>(&'f [u8]);

impl Rest<'_> {
    /// A number of at least and at most so many digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let digits = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        if digits < least {
            return None;
        }
        let number = self.0[..digits].iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'));
        self.0 = &self.0[digits..];
        Some(number)
    }

    fn one_of(&mut self, signs: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !signs.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.0.get(..word.len()).is_some_and(|ahead| ahead.eq_ignore_ascii_case(word.as_bytes()));
        if found {
            self.0 = &self.0[word.len()..];
        }
        found
    }

    fn year_month_day(&mut self) -> Option<i64> {
        let year = self.number(4, 4)?;
        match self.one_of(b"-/.") {
            Some(separator) => {
                let month = self.number(1, 2)?;
                self.one_of(&[separator])?;
                day_number(year, month, self.number(1, 2)?)
            }
            // 20240531
            None => {
                let (month, day) = (self.number(2, 2)?, self.number(2, 2)?);
                day_number(year, month, day)
            }
        }
    }

    fn two_and_year(&mut self) -> Option<(i64, i64, i64)> {
        let first = self.number(1, 2)?;
        let separator = self.one_of(b"./-")?;
        let second = self.number(1, 2)?;
        self.one_of(&[separator])?;
        Some((first, second, self.number(4, 4)?))
    }

    /// What follows a date: nothing, or a time with or without an offset. In nanoseconds since the midnight in UTC with which
    /// the day begins.
    fn time_of_day(&mut self) -> Option<i64> {
        if self.0.is_empty() {
            return Some(0);
        }
        let _ = self.skip(",");
        self.one_of(b"Tt ")?;
        let hour = self.number(1, 2)?;
        self.one_of(b":")?;
        let minute = self.number(2, 2)?;
        let (mut second, mut fraction) = (0, 0);
        if self.one_of(b":").is_some() {
            second = self.number(2, 2)?;
            if self.one_of(b".,").is_some() {
                let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
                fraction = self.number(1, 9)? * 10_i64.pow(9 - digits.min(9) as u32);
                // What is finer than a nanosecond is dropped.
                while self.number(1, 1).is_some() {}
            }
        }
        let _ = self.skip(" ");
        let hour = match (self.skip("am"), self.skip("pm")) {
            (false, false) if hour <= 23 => hour,
            (true, _) if (1..=12).contains(&hour) => hour % 12,
            (_, true) if (1..=12).contains(&hour) => hour % 12 + 12,
            _ => return None,
        };
        if minute > 59 || second > 60 {
            return None;
        }
        let _ = self.skip(" ");
        let offset = self.offset()?;
        self.0.is_empty().then_some(((hour * 60 + minute - offset) * 60 + second) * SECOND + fraction)
    }

    /// How many minutes local time is ahead of UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.skip("Z") || self.skip("UTC") || self.skip("GMT") {
            return Some(0);
        }
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.number(2, 2)?;
        let _ = self.skip(":");
        let minutes = if self.0.is_empty() { 0 } else { self.number(2, 2)? };
        (hours <= 18 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(order: DateOrder, field: &str) -> Option<f64> {
        order.read(field).map(Moment::number)
    }

    #[test]
    fn dates_as_people_write_them() {
        // 2024-05-31 is day 19874: `date -d 2024-05-31 +%s` in UTC is 1717113600.
        let half_past_two = 19_874.0 + 52_200.0 / 86_400.0;
        for (order, field, expected) in [
            (DateOrder::Ymd, "2024-05-31", 19_874.0),
            (DateOrder::Ymd, "2024/5/31", 19_874.0),
            (DateOrder::Ymd, "20240531", 19_874.0),
            (DateOrder::Ymd, "1970-01-01", 0.0),
            (DateOrder::Ymd, "1969-12-31T12:00", -0.5),
            (DateOrder::Ymd, "2024-05-31T14:30:00Z", half_past_two),
            (DateOrder::Ymd, "2024-05-31 16:30:00+02:00", half_past_two),
            (DateOrder::Ymd, "2024-05-31 09:30:00.000-0500", half_past_two),
            (DateOrder::Ymd, "2024-06-01T00:30+10", half_past_two),
            (DateOrder::Dmy, "31.05.2024", 19_874.0),
            (DateOrder::Dmy, "31.5.2024, 14:30", half_past_two),
            (DateOrder::Mdy, "5/31/2024", 19_874.0),
            (DateOrder::Mdy, "5/31/2024 2:30 PM", half_past_two),
            (DateOrder::Mdy, "5/31/2024 12:00 am", 19_874.0),
            (DateOrder::Seconds, "1717165800", half_past_two),
            (DateOrder::Seconds, "-43200", -0.5),
            (DateOrder::Milliseconds, "1717165800000", half_past_two),
        ] {
            assert_eq!(read(order, field), Some(expected), "{field}");
        }
        let fraction = read(DateOrder::Ymd, "2024-05-31 00:00:00.5").unwrap();
        assert_eq!(fraction, 19_874.0 + 0.5 / 86_400.0);
        assert_eq!(read(DateOrder::Seconds, "1717113600.5"), Some(fraction));
    }

    #[test]
    fn what_is_no_date() {
        for field in [
            "",
            "2024",
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "2024-5",
            "24-05-31",
            "2024-05-31x",
            "2024-05/31",
            "2024-05-31 25:00",
            "2024-05-31 1:60",
            "2024-05-31 13:00 pm",
            "2024-05-31 0:00 am",
            "2024-05-31T",
            "2024-05-31 10:00+99",
            "2024-05-31 10:00 CEST",
            "-2024-05-31",
            "12345678901234567890",
        ] {
            assert_eq!(DateOrder::Ymd.read(field), None, "{field}");
        }
        assert_eq!(DateOrder::Dmy.read("5/31/2024"), None);
        assert_eq!(DateOrder::Mdy.read("31/5/2024"), None);
        assert_eq!(DateOrder::Seconds.read("99999999999999999999"), None);
    }

    #[test]
    fn parts_of_dates() {
        let moment = DateOrder::Ymd.read("2024-05-31T23:59:59").unwrap();
        assert_eq!(DatePart::ALL.map(|part| moment.part(part)), ["Friday", "May", "23"]);
        let before = DateOrder::Ymd.read("1969-12-31").unwrap();
        assert_eq!(DatePart::ALL.map(|part| before.part(part)), ["Wednesday", "December", "0"]);
        assert_eq!(shown(19_874.0), "2024-05-31");
        assert_eq!(shown(19_874.0 + 52_200.0 / 86_400.0), "2024-05-31 14:30:00");
        assert_eq!(shown(f64::NAN), "NaN");
    }

    proptest! {
        #[test]
        fn every_day_is_read_as_it_is_written(day in -719_468_i64..2_932_896, second in 0..86_400_i64) {
            let (year, month, date) = calendar(day);
            let (hour, minute, left) = (second / 3_600, second / 60 % 60, second % 60);
            let expected = day as f64 + second as f64 / 86_400.0;
            let time = format!("{hour}:{minute:02}:{left:02}");
            for (order, field) in [
                (DateOrder::Ymd, format!("{year:04}-{month:02}-{date:02} {time}")),
                (DateOrder::Dmy, format!("{date:02}.{month:02}.{year:04} {time}")),
                (DateOrder::Mdy, format!("{month}/{date}/{year:04} {time}")),
                (DateOrder::Seconds, (day * 86_400 + second).to_string()),
            ] {
                prop_assert_eq!(read(order, &field), Some(expected), "{}", field);
            }
            prop_assert_eq!(day_number(year, month, date), Some(day));
        }

        #[test]
        fn no_field_is_a_panic(field in ".{0,30}|[-+0-9./: TZapm]{0,30}") {
            for order in DateOrder::ALL {
                let _ = order.read(&field);
            }
        }
    }
}

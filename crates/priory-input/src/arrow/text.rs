//! Values as text: what a CSV file of the same table would most likely say.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, OffsetSizeTrait};
use arrow_schema::{DataType, TimeUnit};
use priory::written::dates::calendar;

/// Bytes that should be text and are not.
pub(super) struct NotUtf8;

type Text<'a> = Result<&'a str, NotUtf8>;

/// A value as text; `None` if there is none. The type of the array is one that can be read.
pub(super) fn written<'a>(
    array: &'a dyn Array,
    row: usize,
    scratch: &'a mut String,
) -> Result<Option<&'a str>, NotUtf8> {
    use DataType as T;
    if array.is_null(row) {
        return Ok(None);
    }
    let text = match array.data_type() {
        T::Null => return Ok(None),
        T::Utf8 => Ok(array.as_string::<i32>().value(row)),
        T::LargeUtf8 => Ok(array.as_string::<i64>().value(row)),
        T::Utf8View => Ok(array.as_string_view().value(row)),
        T::Binary => binary::<i32>(array, row),
        T::LargeBinary => binary::<i64>(array, row),
        T::BinaryView => checked(array.as_binary_view().value(row)),
        T::FixedSizeBinary(_) => checked(array.as_fixed_size_binary().value(row)),
        T::Boolean => Ok(if array.as_boolean().value(row) { "true" } else { "false" }),
        T::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = key(dictionary.keys(), row);
            // A key may stand for a value that is missing.
            return written(dictionary.values().as_ref(), key, scratch);
        }
        _ => {
            scratch.clear();
            write(array, row, scratch);
            Ok(scratch.as_str())
        }
    };
    text.map(Some)
}

/// The position of a dictionary's value.
fn key(keys: &dyn Array, row: usize) -> usize {
    use DataType as T;
    match keys.data_type() {
        T::Int8 => keys.as_primitive::<Int8Type>().value(row) as usize,
        T::Int16 => keys.as_primitive::<Int16Type>().value(row) as usize,
        T::Int32 => keys.as_primitive::<Int32Type>().value(row) as usize,
        T::Int64 => keys.as_primitive::<Int64Type>().value(row) as usize,
        T::UInt8 => keys.as_primitive::<UInt8Type>().value(row) as usize,
        T::UInt16 => keys.as_primitive::<UInt16Type>().value(row) as usize,
        T::UInt32 => keys.as_primitive::<UInt32Type>().value(row) as usize,
        _ => keys.as_primitive::<UInt64Type>().value(row) as usize,
    }
}

fn binary<O: OffsetSizeTrait>(array: &dyn Array, row: usize) -> Text<'_> {
    checked(array.as_binary::<O>().value(row))
}

fn checked(bytes: &[u8]) -> Text<'_> {
    std::str::from_utf8(bytes).map_err(|_| NotUtf8)
}

/// Appends a number or a time.
fn write(array: &dyn Array, row: usize, out: &mut String) {
    use DataType as T;
    let result = match array.data_type() {
        T::Int8 => integer::<Int8Type>(array, row, out),
        T::Int16 => integer::<Int16Type>(array, row, out),
        T::Int32 => integer::<Int32Type>(array, row, out),
        T::Int64 => integer::<Int64Type>(array, row, out),
        T::UInt8 => integer::<UInt8Type>(array, row, out),
        T::UInt16 => integer::<UInt16Type>(array, row, out),
        T::UInt32 => integer::<UInt32Type>(array, row, out),
        T::UInt64 => integer::<UInt64Type>(array, row, out),
        T::Float16 => {
            let value = array.as_primitive::<Float16Type>().value(row);
            // As few digits as tell it from its neighbours: seven of them at most need four decimal places.
            float(&format!("{:?}", value.to_f32()), out)
        }
        T::Float32 => float(&format!("{:?}", array.as_primitive::<Float32Type>().value(row)), out),
        T::Float64 => float(&format!("{:?}", array.as_primitive::<Float64Type>().value(row)), out),
        T::Decimal32(..) => write!(out, "{}", array.as_primitive::<Decimal32Type>().value_as_string(row)),
        T::Decimal64(..) => write!(out, "{}", array.as_primitive::<Decimal64Type>().value_as_string(row)),
        T::Decimal128(..) => write!(out, "{}", array.as_primitive::<Decimal128Type>().value_as_string(row)),
        T::Decimal256(..) => write!(out, "{}", array.as_primitive::<Decimal256Type>().value_as_string(row)),
        T::Date32 => date(i64::from(array.as_primitive::<Date32Type>().value(row)), out),
        T::Date64 | T::Timestamp(..) | T::Time32(_) | T::Time64(_) | T::Duration(_) => time(array, row, out),
        _ => Ok(()),
    };
    result.expect("memory takes everything");
}

fn integer<T>(array: &dyn Array, row: usize, out: &mut String) -> std::fmt::Result
where
    T: ArrowPrimitiveType,
    T::Native: std::fmt::Display,
{
    write!(out, "{}", array.as_primitive::<T>().value(row))
}

/// A float as Python would write it, given how Rust does: they differ in the exponent and in what is no number.
pub(super) fn float(rust: &str, out: &mut String) -> std::fmt::Result {
    match rust.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) =
                exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            write!(out, "{digits}e{sign}{exponent:0>2}")
        }
        None => out.write_str(rust),
    }
}

/// A count of units since 1970, or since midnight, and how many of them make a day.
pub(super) fn ticks(array: &dyn Array, row: usize) -> (i64, i64) {
    use DataType as T;
    const SECONDS: i64 = 86_400;
    let per_day = |unit: &TimeUnit| match unit {
        TimeUnit::Second => SECONDS,
        TimeUnit::Millisecond => SECONDS * 1_000,
        TimeUnit::Microsecond => SECONDS * 1_000_000,
        TimeUnit::Nanosecond => SECONDS * 1_000_000_000,
    };
    match array.data_type() {
        T::Date64 => (array.as_primitive::<Date64Type>().value(row), SECONDS * 1_000),
        T::Timestamp(unit, _) => (timestamp(array, unit, row), per_day(unit)),
        T::Time32(unit @ TimeUnit::Second) => {
            (array.as_primitive::<Time32SecondType>().value(row).into(), per_day(unit))
        }
        T::Time32(unit) => (array.as_primitive::<Time32MillisecondType>().value(row).into(), per_day(unit)),
        T::Time64(unit @ TimeUnit::Microsecond) => {
            (array.as_primitive::<Time64MicrosecondType>().value(row), per_day(unit))
        }
        T::Time64(unit) => (array.as_primitive::<Time64NanosecondType>().value(row), per_day(unit)),
        T::Duration(unit) => (duration(array, unit, row), per_day(unit)),
        _ => (0, 1),
    }
}

fn timestamp(array: &dyn Array, unit: &TimeUnit, row: usize) -> i64 {
    match unit {
        TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(row),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
        TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(row),
    }
}

fn duration(array: &dyn Array, unit: &TimeUnit, row: usize) -> i64 {
    match unit {
        TimeUnit::Second => array.as_primitive::<DurationSecondType>().value(row),
        TimeUnit::Millisecond => array.as_primitive::<DurationMillisecondType>().value(row),
        TimeUnit::Microsecond => array.as_primitive::<DurationMicrosecondType>().value(row),
        TimeUnit::Nanosecond => array.as_primitive::<DurationNanosecondType>().value(row),
    }
}

/// Ticks as days, with a fraction.
pub(super) fn days((ticks, per_day): (i64, i64)) -> f64 {
    // Whole days apart, so that nanoseconds of today are not rounded before they are divided.
    ticks.div_euclid(per_day) as f64 + ticks.rem_euclid(per_day) as f64 / per_day as f64
}

/// A moment as `YYYY-MM-DDTHH:MM:SS`, with a fraction if it has one; a time of day without the date; a duration in days.
fn time(array: &dyn Array, row: usize, out: &mut String) -> std::fmt::Result {
    let (ticks, per_day) = ticks(array, row);
    let (day, rest) = (ticks.div_euclid(per_day), ticks.rem_euclid(per_day));
    match array.data_type() {
        DataType::Duration(_) => return float(&format!("{:?}", days((ticks, per_day))), out),
        DataType::Date64 if rest == 0 => return date(day, out),
        DataType::Date64 | DataType::Timestamp(..) => {
            date(day, out)?;
            out.push('T');
        }
        _ => {}
    }
    let per_second = per_day / 86_400;
    let (seconds, fraction) = (rest / per_second, rest % per_second);
    write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    if fraction > 0 {
        let nanoseconds = format!("{:09}", fraction * (1_000_000_000 / per_second));
        write!(out, ".{}", nanoseconds.trim_end_matches('0'))?;
    }
    Ok(())
}

/// A day since 1970 as `YYYY-MM-DD`.
fn date(day: i64, out: &mut String) -> std::fmt::Result {
    let (year, month, day) = calendar(day);
    write!(out, "{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let written = |day| {
            let mut out = String::new();
            date(day, &mut out).unwrap();
            out
        };
        assert_eq!(written(0), "1970-01-01");
        assert_eq!(written(-1), "1969-12-31");
        assert_eq!(written(11_016), "2000-02-29");
        assert_eq!(written(-719_468), "0000-03-01");
        assert_eq!(written(19_723), "2024-01-01");
    }

    #[test]
    fn floats_are_written_as_python_does() {
        let written = |value: f64| {
            let mut out = String::new();
            float(&format!("{value:?}"), &mut out).unwrap();
            out
        };
        let cases = [(1.0, "1.0"), (-0.5, "-0.5"), (1e16, "1e+16"), (1.5e-7, "1.5e-07"), (1e100, "1e+100")];
        for (value, expected) in cases {
            assert_eq!(written(value), expected);
        }
        assert_eq!(written(123_456_789_012_345.0), "123456789012345.0");
        assert_eq!(written(f64::NAN), "NaN");
    }

    #[test]
    fn nanoseconds_are_not_lost_before_they_are_days() {
        let per_day = 86_400_000_000_000;
        assert_eq!(days((20_000 * per_day, per_day)), 20_000.0);
        assert_eq!(days((-per_day / 2, per_day)), -0.5);
    }
}

//! Columns that were counted one by one give what their rows give: checked as bytes of the model file.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod tables;

use std::collections::BTreeMap;

use priory::counts::{Counts, Rest};
use priory::settings::Settings;
use priory::written::{DateOrder, DatePart, PartOfDate, Written};
use priory::{Batch, Column, Error, Kind, Learnt, Schema, Statistics, Value};
use proptest::prelude::*;
use tables::{Row, bytes, rows};

/// Columns of every kind that can be counted value by value, of the random tables that the other laws are about.
const OF_TABLES: [usize; 6] = [0, 2, 4, 5, 6, 8];

fn schema() -> Schema {
    let all = tables::schema();
    Schema::new("y", OF_TABLES.map(|column| all.columns[column].clone()).to_vec()).unwrap()
}

fn batch(rows: &[Row]) -> Batch {
    tables::batch(rows).only(&tables::schema(), &schema()).into_owned()
}

fn of_rows(rows: &[Row]) -> Vec<u8> {
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&batch(rows)).unwrap();
    bytes(&statistics)
}

/// One column of some rows, as a batch of its own.
fn part(counts: &Counts, rows: &Batch, column: usize) -> Batch {
    rows.only(&schema(), counts.part_schema(column)).into_owned()
}

fn added_up(counts: Counts, rest: Rest) -> Vec<u8> {
    bytes(&counts.add_up(rest).unwrap().statistics)
}

proptest! {
    #[test]
    fn columns_one_by_one_are_the_rows(all in rows(40), cut in 0usize..40, backwards: bool) {
        let (first, second) = all.split_at(cut.min(all.len()));
        let mut parts = [first, second].map(batch);
        if backwards {
            parts.reverse();
        }
        let of_part = |rows: &Batch| {
            let mut counts = Counts::empty(&schema()).unwrap();
            for column in 0..OF_TABLES.len() {
                let values = part(&counts, rows, column);
                counts.observe(column, &values).unwrap();
            }
            for row in 0..rows.rows {
                if let Some(class) = rows.classes.value(row).filter(|_| rows.weight(row) != 0.0) {
                    counts.observe_class(class, rows.weight(row), Some(1)).unwrap();
                }
            }
            counts
        };
        let mut counts = of_part(&parts[0]);
        counts.merge(&of_part(&parts[1])).unwrap();
        prop_assert_eq!(added_up(counts, Rest::Refused), of_rows(&all));
    }

    /// Rows that weigh one each are told by how often each value occurs: with classes that are told or not, and with missing values
    /// that are counted or not.
    #[test]
    fn grouped_values_are_the_rows(all in rows(60), classes_told: bool, missing_counted: bool) {
        let all: Vec<Row> = all.into_iter().map(|(class, _, values)| (class, 1.0, values)).collect();
        let rows = batch(&all);
        let mut counts = Counts::empty(&schema()).unwrap();
        let mut of_class: BTreeMap<String, f64> = BTreeMap::new();
        for row in 0..rows.rows {
            if let Some(class) = rows.classes.value(row) {
                *of_class.entry(class.to_owned()).or_default() += 1.0;
            }
        }
        for column in 0..OF_TABLES.len() {
            // The bits of a number tell -0.0 from 0.0, which are counted as one all the same.
            let mut grouped: BTreeMap<(String, Option<String>, Option<u64>), f64> = BTreeMap::new();
            for row in 0..rows.rows {
                let Some(class) = rows.classes.value(row) else { continue };
                let (text, number) = match &rows.columns[column] {
                    priory::BatchColumn::Number(numbers) => {
                        (None, Some(numbers[row]).filter(|x| !x.is_nan()).map(f64::to_bits))
                    }
                    priory::BatchColumn::Category(values) => (values.value(row).map(str::to_owned), None),
                    priory::BatchColumn::Text(_) => unreachable!("there is none"),
                };
                *grouped.entry((class.to_owned(), text, number)).or_default() += 1.0;
            }
            let mut values = Batch::new(counts.part_schema(column));
            for ((class, text, number), weight) in &grouped {
                let value = match (text, number) {
                    (Some(text), _) => Value::Category(text),
                    (None, Some(bits)) => Value::Number(f64::from_bits(*bits)),
                    (None, None) if missing_counted || !classes_told => Value::Missing,
                    (None, None) => continue,
                };
                values.push(Some(class), *weight, &[value]).unwrap();
            }
            counts.observe(column, &values).unwrap();
        }
        if classes_told {
            for (class, weight) in &of_class {
                counts.observe_class(class, *weight, None).unwrap();
            }
        }
        prop_assert_eq!(added_up(counts, Rest::Missing), of_rows(&all));
    }
}

fn two_columns() -> Schema {
    Schema::new("y", vec![Column::new("a", Kind::Category), Column::new("b", Kind::Number)]).unwrap()
}

fn counted(schema: &Schema, values: &[(usize, &str, Value<'_>, f64)]) -> Counts {
    let mut counts = Counts::empty(schema).unwrap();
    for &(column, class, value, weight) in values {
        let mut batch = Batch::new(counts.part_schema(column));
        batch.push(Some(class), weight, &[value]).unwrap();
        counts.observe(column, &batch).unwrap();
    }
    counts
}

#[test]
fn what_is_not_counted_is_missing_or_refused() {
    let counts = || {
        counted(
            &two_columns(),
            &[
                (0, "yes", Value::Category("red"), 3.0),
                (1, "yes", Value::Number(1.5), 2.0),
                (1, "no", Value::Number(-0.0), 1.0),
            ],
        )
    };
    let added = counts().add_up(Rest::Missing).unwrap();
    assert_eq!(added.statistics.classes(), [("no", 1.0), ("yes", 3.0)]);
    assert_eq!(added.statistics.rows(), 4);
    assert_eq!(added.rest, [("a".to_owned(), 1.0), ("b".to_owned(), 1.0)]);
    let error = counts().add_up(Rest::Refused).unwrap_err();
    assert!(
        matches!(&error, Error::ColumnTotal { column, class, counted: 0.0, weight: 1.0 } if column == "a" && class == "no"),
        "{error}"
    );

    // A class cannot weigh less than a column has of it.
    let mut counts = counts();
    counts.observe_class("yes", 2.5, None).unwrap();
    let error = counts.add_up(Rest::Missing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the counts of the column `a` add up to 3 in the class `yes`, which weighs 2.5"
    );
}

#[test]
fn rows_are_as_many_as_was_said() {
    let mut counts = counted(&two_columns(), &[(0, "yes", Value::Category("red"), 7.5)]);
    counts.observe_class("yes", 7.5, Some(3)).unwrap();
    counts.observe_class("yes", 2.25, None).unwrap();
    counts.observe_class("no", 0.25, None).unwrap();
    let added = counts.add_up(Rest::Missing).unwrap();
    assert_eq!(added.statistics.classes(), [("no", 0.25), ("yes", 9.75)]);
    assert_eq!(added.statistics.rows(), 3 + 2 + 1);
}

#[test]
fn dates_are_counted_once_for_all_that_is_read_from_them() {
    let part = PartOfDate { date: DateOrder::Ymd, part: DatePart::Weekday };
    let day = Column::new("day", Kind::Number).written(Some(Written::Date(DateOrder::Ymd)));
    let schema =
        Schema::new("y", vec![day, Column::new("x", Kind::Category), Column::part_of_date("day", part)])
            .unwrap();
    let mut counts = Counts::empty(&schema).unwrap();
    assert_eq!(counts.sources().collect::<Vec<_>>(), ["day", "x"]);
    let mut days = Batch::new(counts.part_schema(0));
    days.push(Some("yes"), 2.0, &[Value::Number(19_000.0), Value::Category("Mon")]).unwrap();
    counts.observe(0, &days).unwrap();
    assert_eq!(counts.without_counts().collect::<Vec<_>>(), ["x"]);
    let mut rows = Batch::new(&schema);
    for _ in 0..2 {
        rows.push(Some("yes"), 1.0, &[Value::Number(19_000.0), Value::Missing, Value::Category("Mon")])
            .unwrap();
    }
    let mut learnt = Learnt::empty(&schema, Settings::default());
    learnt.learn(&rows).unwrap();
    assert_eq!(added_up(counts, Rest::Missing), learnt.to_bytes());
}

#[test]
fn columns_that_are_not_counted_value_by_value_are_refused() {
    for (kind, what) in [(Kind::Text, "is text"), (Kind::Joint, "together"), (Kind::Group, "together")] {
        let schema = Schema::new("y", vec![Column::new("x", kind)]).unwrap();
        let error = Counts::empty(&schema).unwrap_err();
        assert!(
            matches!(&error, Error::NotByValue { column, .. } if column == "x")
                && error.to_string().contains(what),
            "{error}"
        );
    }
}

#[test]
fn nothing_counted_is_nothing_learnt() {
    let counts = Counts::empty(&two_columns()).unwrap();
    assert_eq!(added_up(counts, Rest::Refused), bytes(&Statistics::empty(&two_columns())));
    let mut counts = Counts::empty(&two_columns()).unwrap();
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(counts.observe_class("yes", weight, None).is_err());
    }
    counts.observe_class("yes", f64::MAX, None).unwrap();
    assert!(counts.observe_class("yes", f64::MAX, None).is_err());
    assert!(counts.add_up(Rest::Missing).is_ok());
}

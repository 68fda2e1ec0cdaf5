//! Random tables with a column of every kind.

use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Statistics, Value};
use proptest::prelude::*;

/// A row as a reader might hand it over: class, weight, features; `None` is missing.
pub(crate) type Row = (Option<u8>, f64, Vec<Option<u8>>);

const COLUMNS: usize = 12;
/// From here on the columns hold numbers, and the last one text.
const FIRST_NUMBER: usize = 5;
const LAST_NUMBER: usize = COLUMNS - 2;

/// Two plain categories, a column of 0 and 1, two columns that share a joint table, two of numbers, one of which only
/// sums are kept, three that form a group, and one of text.
pub(crate) fn schema() -> Schema {
    let kinds = [
        Kind::Category,
        Kind::Joint,
        Kind::Category,
        Kind::Joint,
        Kind::Category,
        Kind::Number,
        Kind::Number,
        Kind::Group,
        Kind::Moments,
        Kind::Group,
        Kind::Group,
        Kind::Text,
    ];
    let columns = (0..).zip(kinds).map(|(i, kind)| Column::new(format!("x{i}"), kind)).collect();
    Schema::new("y", columns).unwrap()
}

fn name(column: usize, value: u8) -> String {
    match column {
        0 => ["red", "green", "blü", "10", "9"][value as usize % 5].to_owned(),
        4 => (value % 2).to_string(),
        _ => format!("v{value}"),
    }
}

/// Numbers whose sums f64 cannot hold: far apart, close together, and far from zero.
fn number(column: usize, value: u8) -> f64 {
    match column {
        FIRST_NUMBER => [1e9, 1e9 + 1.0, -1e-300, 1e300, 0.1][value as usize % 5],
        LAST_NUMBER => [1e9, 1e9 + 1.0, -1e-300, 1e150, 0.1][value as usize % 5],
        _ => f64::from(value) * 0.1 - 0.2,
    }
}

const DOCUMENTS: [&str; 5] =
    ["to be or not to be", "", "be be be", "10 9 é", "that is the question : to be or what ?"];

pub(crate) fn batch(rows: &[Row]) -> Batch {
    let mut batch = Batch::new(&schema());
    for (class, weight, values) in rows {
        let class = class.map(|class| format!("class {class}"));
        let names: Vec<String> =
            values.iter().enumerate().map(|(i, value)| name(i, value.unwrap_or_default())).collect();
        let document = DOCUMENTS[values[COLUMNS - 1].unwrap_or_default() as usize % 5];
        let tokens: Vec<&str> = document.split_whitespace().collect();
        let cells = values.iter().enumerate().map(|(i, value)| match value {
            None => Value::Missing,
            Some(_) if i < FIRST_NUMBER => Value::Category(&names[i]),
            Some(value) if i <= LAST_NUMBER => Value::Number(number(i, *value)),
            Some(_) => Value::Text(&tokens),
        });
        batch.push(class.as_deref(), *weight, &cells.collect::<Vec<_>>()).unwrap();
    }
    batch
}

pub(crate) fn bytes(statistics: &Statistics) -> Vec<u8> {
    Learnt::new(statistics.clone(), Settings::default()).to_bytes()
}

pub(crate) fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let weight = prop_oneof![
        4 => Just(1.0),
        1 => Just(0.0),
        2 => (1u32..1000).prop_map(f64::from),
        2 => prop_oneof![Just(0.1), Just(1e-300), Just(1e17), 0.0..1.0f64],
    ];
    let class = prop::option::weighted(0.9, 0u8..4);
    let value = prop::option::weighted(0.8, 0u8..5);
    prop::collection::vec((class, weight, prop::collection::vec(value, COLUMNS)), 0..most)
}

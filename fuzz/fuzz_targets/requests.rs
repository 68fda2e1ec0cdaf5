//! Rows in the JSON of requests, for a model with a column of every kind.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};

static LEARNT: LazyLock<Learnt> = LazyLock::new(|| {
    let columns = vec![
        Column::new("a", Kind::Category),
        Column::new("b", Kind::Number),
        Column::new("c", Kind::Text),
        Column::new("d", Kind::Moments),
    ];
    let schema = Schema::new("y", columns).expect("the columns differ");
    let mut batch = Batch::new(&schema);
    for (class, number) in [("p", 1.0), ("q", 2.5), ("p", 3.0)] {
        let values = [Value::Category("1"), Value::Number(number), Value::Text(&["win", "now"]), Value::Number(-number)];
        batch.push(Some(class), 1.0, &values).expect("the values are of the columns' kinds");
    }
    let mut learnt = Learnt::empty(&schema, Settings::default());
    learnt.learn(&batch).expect("there are few rows");
    learnt
});

fuzz_target!(|input: &[u8]| priory_server::fuzz_rows(input, &LEARNT));

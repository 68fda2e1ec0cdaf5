//! Laws of rows that age, for every family: checked as bytes of the model file.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod tables;

use priory::{Batch, Column, Error, Kind, Learnt, Schema, Statistics, Value};
use proptest::prelude::*;
use tables::{Row, batch, bytes, rows, schema};

/// How many half-lives make an era: rows of the era before the last are let go.
const ERA: usize = 16;

/// Rows of weights that can be halved.
fn ageing_rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    rows(most).prop_map(|mut rows| {
        rows.iter_mut().filter(|row| row.1 == 1e-300).for_each(|row| row.1 = 1e-250);
        rows
    })
}

fn empty(half_life: u64) -> Statistics {
    let mut statistics = Statistics::empty(&schema());
    statistics.set_half_life(half_life).unwrap();
    statistics
}

fn learn(rows: &[Row], half_life: u64) -> Statistics {
    let mut statistics = empty(half_life);
    statistics.observe(&batch(rows)).unwrap();
    statistics
}

/// The rows with the weights that they have once all are learnt.
fn weighed(rows: &[Row], half_life: u64) -> Vec<Row> {
    let generation = |row: usize| row / half_life as usize;
    let newest = generation(rows.len().saturating_sub(1));
    let weigh = |(i, row): (usize, &Row)| {
        let mut row = row.clone();
        let kept = generation(i) / ERA + 1 >= newest / ERA;
        row.1 *= if kept { 0.5_f64.powi((newest - generation(i)) as i32) } else { 0.0 };
        row
    };
    rows.iter().enumerate().map(weigh).collect()
}

fn without_age(mut statistics: Statistics) -> Vec<u8> {
    statistics.stop_ageing();
    bytes(&statistics)
}

proptest! {
    #[test]
    fn ageing_is_weighing_by_powers_of_two(all in ageing_rows(70), half_life in 1u64..6) {
        let mut expected = Statistics::empty(&schema());
        expected.observe(&batch(&weighed(&all, half_life))).unwrap();
        prop_assert_eq!(without_age(learn(&all, half_life)), bytes(&expected));
    }

    #[test]
    fn any_split_gives_the_same_bytes(
        all in ageing_rows(70),
        half_life in 1u64..6,
        cuts in prop::collection::vec(0usize..70, 0..5),
        seed in any::<u64>(),
    ) {
        let whole = bytes(&learn(&all, half_life));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (all.len() + 1)).collect();
        cuts.extend([0, all.len()]);
        cuts.sort_unstable();

        // One call after the other, through the file.
        let mut file = bytes(&empty(half_life));
        for cut in cuts.windows(2) {
            let mut statistics = Learnt::read(&file).unwrap().statistics;
            statistics.observe(&batch(&all[cut[0]..cut[1]])).unwrap();
            file = bytes(&statistics);
        }
        prop_assert_eq!(&file, &whole);

        // Threads, each of which takes every other block, in any order of merging.
        let mut threads = vec![empty(half_life); 2];
        for (i, cut) in cuts.windows(2).enumerate() {
            threads[i % 2].pass(cut[0] as u64);
            threads[i % 2].observe(&batch(&all[cut[0]..cut[1]])).unwrap();
        }
        threads.rotate_left(seed as usize % 2);
        let mut merged = empty(half_life);
        threads.iter().for_each(|thread| merged.merge(thread).unwrap());
        prop_assert_eq!(&bytes(&merged), &whole);
    }

    #[test]
    fn a_model_that_did_not_age_begins_to(old in ageing_rows(10), new in ageing_rows(50), half_life in 1u64..6) {
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(&batch(&old)).unwrap();
        statistics.set_half_life(half_life).unwrap();
        let at_first = statistics.clone();
        statistics.observe(&batch(&new)).unwrap();

        // What was there before is as old as the first row.
        let age = new.len().saturating_sub(1) / half_life as usize;
        let mut expected = Statistics::empty(&schema());
        if age < 2 * ERA {
            let power = 0.5_f64.powi(age as i32);
            let old: Vec<Row> = old.iter().cloned().map(|row| (row.0, row.1 * power, row.2)).collect();
            expected.observe(&batch(&old)).unwrap();
        }
        expected.observe(&batch(&weighed(&new, half_life))).unwrap();
        prop_assert_eq!(without_age(statistics.clone()), bytes(&expected));

        statistics.forget_learnt_at(&batch(&old), 0).unwrap();
        prop_assert_eq!(bytes(&statistics), bytes(&learn(&new, half_life)));
        // Time does not run backwards, but nothing is left of the rows.
        if !new.is_empty() {
            statistics.forget_learnt_at(&batch(&new), 1).unwrap();
        }
        let mut empty = empty(half_life);
        empty.pass(new.len() as u64);
        prop_assert_eq!(bytes(&statistics), bytes(&empty));
        prop_assert_eq!(at_first.rows(), old.iter().filter(|row| row.0.is_some() && row.1 > 0.0).count() as u64);
    }

    #[test]
    fn forgotten_rows_were_never_there(
        all in ageing_rows(70),
        half_life in 1u64..6,
        from in 0usize..70,
        count in 0usize..70,
    ) {
        let from = from % (all.len() + 1);
        let passing = from..all.len().min(from + count);
        let mut statistics = learn(&all, half_life);
        if !passing.is_empty() {
            statistics.forget_learnt_at(&batch(&all[passing.clone()]), 1 + from as u64).unwrap();
        }
        let mut others = all.clone();
        others[passing].iter_mut().for_each(|row| row.1 = 0.0);
        prop_assert_eq!(bytes(&statistics), bytes(&learn(&others, half_life)));
    }

    #[test]
    fn a_refusal_changes_nothing(all in ageing_rows(40), strange in ageing_rows(6), at in 0u64..50, half_life in 1u64..6) {
        let before = learn(&all, half_life);
        let mut statistics = before.clone();
        if statistics.forget_learnt_at(&batch(&strange), at).is_err() {
            prop_assert_eq!(bytes(&statistics), bytes(&before));
        }
        let mut light = strange;
        light.push((Some(1), 1e-300, vec![None; 12]));
        let row = light.len() as u64;
        let mut light = batch(&light);
        light.first_row = 1;
        let refusal = statistics.clone().observe(&light).unwrap_err();
        prop_assert_eq!(refusal, Error::LightRow { row, weight: 1e-300, limit: 1e-270 });
    }

    #[test]
    fn a_file_is_read_back_as_it_was(all in ageing_rows(70), half_life in 1u64..4) {
        let file = bytes(&learn(&all, half_life));
        let statistics = Learnt::read(&file).unwrap().statistics;
        prop_assert_eq!(bytes(&statistics), file);
    }
}

fn words(words: impl Iterator<Item = u32>) -> (Schema, Batch) {
    let schema =
        Schema::new("y", vec![Column::new("text", Kind::Text), Column::new("x", Kind::Number)]).unwrap();
    let mut batch = Batch::new(&schema);
    for word in words {
        let (class, token) = (["a", "b"][word as usize % 2], format!("word{word}"));
        batch
            .push(Some(class), 1.0, &[Value::Text(&[&token]), Value::Number(f64::from(word) / 7.0)])
            .unwrap();
    }
    (schema, batch)
}

#[test]
fn ever_new_words_and_numbers_do_not_pile_up() {
    let (schema, _) = words(0..0);
    let mut statistics = Statistics::empty(&schema);
    statistics.set_half_life(100).unwrap();
    let mut sizes = Vec::new();
    for block in 0..100 {
        statistics.observe(&words(block * 997..(block + 1) * 997).1).unwrap();
        sizes.push(bytes(&statistics).len());
        assert!(statistics.rows() <= 2 * ERA as u64 * 100);
    }
    assert_eq!(statistics.half_life().unwrap().learnt, 99_700);
    let most = sizes[..8].iter().max().unwrap();
    assert!(sizes.iter().all(|size| size <= &(most + most / 10)), "{sizes:?}");
}

#[test]
fn a_level_that_was_raised_is_let_go_too() {
    // 5,000 different numbers in the first era make the spectrum coarse; after two more nothing is left of that.
    let (schema, many) = words(0..5_000);
    let mut statistics = Statistics::empty(&schema);
    statistics.set_half_life(400).unwrap();
    statistics.observe(&many).unwrap();
    let later = words((0..20_000).map(|i| i % 50)).1;
    statistics.observe(&later).unwrap();
    let mut fresh = Statistics::empty(&schema);
    fresh.set_half_life(400).unwrap();
    fresh.pass(5_000);
    fresh.observe(&later).unwrap();
    assert_eq!(bytes(&statistics), bytes(&fresh));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut statistics = learn(&[], 3);
    let message = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(statistics.set_half_life(4)),
        "the rows of this model have a half-life of 3 rows, which cannot become 4"
    );
    statistics.set_half_life(3).unwrap();
    let plain = Statistics::empty(&schema());
    assert_eq!(message(plain.clone().set_half_life(0)), "a half-life is one row or more");
    assert_eq!(
        message(statistics.merge(&plain)),
        "the models do not describe the same table: only one of them has a half-life"
    );
    assert_eq!(
        message(statistics.merge(&learn(&[], 5))),
        "the models do not describe the same table: their half-lives are 3 and 5 rows"
    );
    let none = batch(&[]);
    assert_eq!(message(statistics.forget(&none)), "the rows of this model age: say when these were learnt");
    assert_eq!(
        message(statistics.forget_learnt_at(&none, 1)),
        "there is no row 1 yet: 0 were learnt since rows began to age"
    );
    assert_eq!(
        message(plain.clone().forget_learnt_at(&none, 1)),
        "the rows of this model do not age: when they were learnt does not matter"
    );
    let mut light = plain;
    light.observe(&batch(&[(Some(1), 1e-300, vec![None; 12])])).unwrap();
    light.observe(&batch(&[(Some(1), 5e-324, vec![None; 12])])).unwrap();
    assert_eq!(
        message(light.set_half_life(3)),
        "the model has learnt rows whose weights are too small to be halved"
    );
}

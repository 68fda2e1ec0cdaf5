//! Rows that depend on each other are left out together: laws of judgements by groups, and what they are good for.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::judgement::{Judging, Tier};
use priory::text::{TextSettings, TokenSettings};
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};
use proptest::prelude::*;

/// A stream of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What a row is about: its class, its customer if that is known, two categories, a number and some words.
#[derive(Debug, Clone)]
struct Row {
    class: u64,
    customer: Option<u64>,
    habit: u64,
    hint: u64,
    amount: u64,
    words: Vec<String>,
}

/// Every customer has a class, and a habit and a word that say nothing but who it is. The hint tells the class, if seldom for sure.
fn rows(customers: u64, each: u64, seed: u64) -> Vec<Row> {
    let mut numbers = Numbers(seed);
    let mut rows = Vec::new();
    for customer in 0..customers {
        let name = seed % 1000 * 100_000 + customer;
        let class = numbers.below(2);
        let habit = numbers.below(200);
        for _ in 0..each {
            let hint = if numbers.below(10) < 7 { class } else { 1 - class };
            let mut words = vec![format!("me{habit}"), format!("all{}", numbers.below(20))];
            words.push(format!("hint{hint}"));
            let amount = numbers.below(50) + 5 * habit;
            rows.push(Row { class, customer: Some(name), habit, hint, amount, words });
        }
    }
    rows
}

fn schema(has_text: bool) -> Schema {
    let mut columns = vec![
        Column::new("habit", Kind::Category),
        Column::new("hint", Kind::Category),
        Column::new("amount", Kind::Number),
    ];
    if has_text {
        let tokens = TokenSettings { neighbours: true, ..TokenSettings::default() };
        columns.push(Column::text("words", TextSettings::new(tokens)));
    }
    Schema { group: Some("customer".into()), ..Schema::new("class", columns).unwrap() }.checked().unwrap()
}

fn batch(rows: &[Row], has_text: bool, has_groups: bool) -> Batch {
    let mut batch = Batch::new(&schema(has_text));
    for row in rows {
        let words: Vec<&str> = row.words.iter().map(String::as_str).collect();
        let (habit, hint) = (format!("h{}", row.habit), row.hint.to_string());
        let values = [
            Value::Category(&habit),
            Value::Category(&hint),
            Value::Number(row.amount as f64),
            Value::Text(&words),
        ];
        let columns = if has_text { 4 } else { 3 };
        batch.push(Some(&row.class.to_string()), 1.0, &values[..columns]).unwrap();
    }
    if has_groups {
        let names: Vec<Option<String>> =
            rows.iter().map(|row| row.customer.map(|name| name.to_string())).collect();
        batch.groups = names.iter().map(Option::as_deref).collect();
    }
    batch
}

fn judged(parts: &[&[Row]], has_text: bool, has_groups: bool, threads: usize) -> Learnt {
    let schema = schema(has_text);
    let mut learnt = Learnt::new(Judging::Auto.start(&schema), Settings::default());
    for part in parts {
        let mut statistics = Judging::Auto.start(&schema);
        statistics.observe(&batch(part, has_text, has_groups)).unwrap();
        learnt.statistics.merge(&statistics).unwrap();
    }
    assert_eq!(learnt.judge(Judging::Auto, threads).unwrap(), Some(Tier::Full));
    learnt
}

fn log_loss(learnt: &Learnt, asked: &[Row], has_text: bool) -> f64 {
    let model = learnt.estimate().unwrap();
    let posterior = model.score(&batch(asked, has_text, false)).unwrap().normalize();
    let own =
        |row: usize| model.classes().iter().position(|name| *name == asked[row].class.to_string()).unwrap();
    (0..asked.len()).map(|row| -posterior.row(row)[own(row)].ln()).sum::<f64>() / asked.len() as f64
}

/// A model that is judged row by row believes what tells customers apart, since it knows them all; of new ones it is far too sure.
#[test]
fn what_tells_groups_apart_is_not_believed() {
    let (known, new) = (rows(60, 12, 1), rows(200, 2, 2));
    for has_text in [false, true] {
        let by_row = log_loss(&judged(&[&known], has_text, false, 1), &new, has_text);
        let by_group = log_loss(&judged(&[&known], has_text, true, 1), &new, has_text);
        assert!(by_group < 0.69 && by_group < by_row - 0.1, "{by_group}, by row {by_row}");
    }
}

#[test]
fn order_parts_and_threads_do_not_matter() {
    for has_text in [false, true] {
        let mut all = rows(30, 5, 3);
        all.iter_mut().step_by(11).for_each(|row| row.customer = None);
        let bytes = judged(&[&all], has_text, true, 1).to_bytes();
        let mut turned = all.clone();
        turned.reverse();
        assert!(judged(&[&turned], has_text, true, 3).to_bytes() == bytes);
        assert!(judged(&[&all[90..], &all[..7], &all[7..90]], has_text, true, 2).to_bytes() == bytes);
        assert!(Learnt::read(&bytes).unwrap().to_bytes() == bytes);
        // Without the groups, it is another judgement.
        assert!(judged(&[&all], has_text, false, 1).to_bytes() != bytes);
    }
}

#[test]
fn what_was_learnt_can_be_forgotten() {
    let all = rows(30, 5, 4);
    let mut learnt = judged(&[&all], true, true, 1);
    let bytes = learnt.to_bytes();
    let more = batch(&rows(4, 5, 5), true, true);
    learnt.learn(&more).unwrap();
    assert!(learnt.to_bytes() != bytes);
    learnt.forget(&more).unwrap();
    assert!(learnt.to_bytes() == bytes);
}

#[test]
fn parts_that_keep_their_rows_keep_their_groups() {
    let all = rows(24, 6, 6);
    let whole = judged(&[&all], true, true, 1).to_bytes();
    let part = |rows: &[Row]| {
        let mut learnt = Learnt::new(Judging::Later.start(&schema(true)), Settings::default());
        learnt.learn(&batch(rows, true, true)).unwrap();
        let bytes = learnt.to_bytes();
        assert!(Learnt::read(&bytes).unwrap().to_bytes() == bytes);
        Learnt::read(&bytes).unwrap()
    };
    let mut both = part(&all[50..]);
    both.merge(&part(&all[..50])).unwrap();
    both.judge(Judging::Auto, 2).unwrap();
    assert!(both.to_bytes() == whole);
}

#[test]
fn rows_of_a_single_group_cannot_be_judged() {
    let mut all = rows(10, 8, 7);
    all.iter_mut().for_each(|row| row.customer = Some(1));
    let mut learnt = Learnt::new(Judging::Auto.start(&schema(false)), Settings::default());
    learnt.learn(&batch(&all, false, true)).unwrap();
    let reason = Judging::Auto.why_not(&learnt.statistics, &learnt.settings);
    assert_eq!(reason, Some("all its rows are of one group, or its groups are too large to be left out"));
    let error = learnt.clone().judge(Judging::Tier(Tier::Full), 1).unwrap_err();
    assert!(error.to_string().contains("rows are of one group"), "{error}");
    assert_eq!(learnt.judge(Judging::Auto, 1).unwrap(), None);
}

#[test]
fn two_groups_and_classes_that_a_group_has_to_itself_are_judged() {
    let mut all = rows(2, 60, 8);
    for (place, row) in all.iter_mut().enumerate() {
        row.class = u64::from(place % 3 == 0) + 2 * row.customer.unwrap() % 2;
    }
    for has_text in [false, true] {
        let loss = log_loss(&judged(&[&all], has_text, true, 2), &all, has_text);
        assert!(loss.is_finite());
    }
}

#[test]
fn groups_for_some_rows_alone_are_refused() {
    let rows = rows(10, 2, 9);
    let mut short = batch(&rows, false, true);
    short.groups.codes.pop();
    let error = Learnt::empty(&schema(false), Settings::default()).learn(&short).unwrap_err();
    assert_eq!(error.to_string(), "rows of the batch: 20, but groups: 19");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_split_gives_the_same_bytes(
        seed in 0_u64..1000,
        each in 1_u64..12,
        cut in any::<prop::sample::Index>(),
        has_text: bool,
    ) {
        let all = rows(120 / each, each, seed);
        let cut = cut.index(all.len());
        let whole = judged(&[&all], has_text, true, 1).to_bytes();
        prop_assert!(judged(&[&all[cut..], &all[..cut]], has_text, true, 2).to_bytes() == whole);
    }
}

//! Parts of a table that are learnt apart, written to files, and judged once they are merged: the same bytes as from one
//! machine, whatever the parts, their order, and the order in which they are merged.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::judgement::{Judging, Tier};
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};
use proptest::prelude::*;

/// A row is made from one number, so that some rows occur many times.
fn batch(rows: &[u16]) -> Batch {
    let mut batch = Batch::new(&schema());
    for &row in rows {
        let words: Vec<String> = (0..row % 7).map(|i| format!("w{}", (row / 7 % 50) ^ i)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let color = format!("v{}", (row + row % 3) % 4);
        let values = [
            if row % 11 == 0 { Value::Missing } else { Value::Number(f64::from(row % 300) / 8.0 - 9.0) },
            if row % 13 == 0 { Value::Missing } else { Value::Category(&color) },
            if row % 17 == 0 { Value::Missing } else { Value::Text(&words) },
        ];
        let weight = if row % 5 == 0 { 0.3 } else { 1.0 };
        batch.push(Some(&format!("c{}", row % 3)), weight, &values).unwrap();
    }
    batch
}

fn schema() -> Schema {
    let columns = [("x", Kind::Number), ("color", Kind::Category), ("text", Kind::Text)];
    Schema::new("class", columns.map(|(name, kind)| Column::new(name, kind)).to_vec()).unwrap()
}

/// The file of a part that is to be judged later.
fn part(rows: &[u16]) -> Vec<u8> {
    let mut learnt = Learnt::new(Judging::Later.start(&schema()), Settings::default());
    learnt.learn(&batch(rows)).unwrap();
    assert_eq!(learnt.judge(Judging::Later, 1).unwrap(), None);
    assert_eq!(learnt.kept_rows(), Some(rows.len() as u64));
    learnt.to_bytes()
}

fn merged(parts: &[Vec<u8>]) -> Learnt {
    let mut learnt = Learnt::read(&parts[0]).unwrap();
    parts[1..].iter().for_each(|part| learnt.merge(&Learnt::read(part).unwrap()).unwrap());
    learnt
}

#[test]
fn a_part_is_read_and_written_as_it_was() {
    let rows: Vec<u16> = (0..500).map(|i| i * 37 % 400).collect();
    let file = part(&rows);
    let learnt = Learnt::read(&file).unwrap();
    assert_eq!((learnt.kept_rows(), learnt.is_judged()), (Some(500), false));
    assert!(learnt.to_bytes() == file);
    // What is kept to judge by is not counted.
    let mut plain = Learnt::empty(&schema(), Settings::default());
    plain.learn(&batch(&rows)).unwrap();
    assert_eq!(plain.fingerprint(), learnt.fingerprint());
    assert_eq!(plain.kept_rows(), None);
}

#[test]
fn a_part_without_its_rows_cannot_be_judged() {
    let rows: Vec<u16> = (0..200).collect();
    let mut learnt = Learnt::read(&part(&rows)).unwrap();
    learnt.forget(&batch(&rows[..10])).unwrap();
    assert_eq!(learnt.kept_rows(), None);
    let error = learnt.judge(Judging::Tier(Tier::Weights), 1).unwrap_err();
    assert_eq!(error.to_string(), "no sample of the rows was kept, and a judgement needs one");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn parts_are_judged_as_if_they_had_been_one(
        mut rows in prop::collection::vec(0_u16..600, 80..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 3),
        tier in prop::sample::select(vec![Tier::Weights, Tier::Pairs, Tier::Full]),
    ) {
        let mut whole = Learnt::new(Judging::Tier(tier).start(&schema()), Settings::default());
        whole.learn(&batch(&rows)).unwrap();
        whole.judge(Judging::Tier(tier), 2).unwrap();

        rows.reverse();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len())).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([rows.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let parts: Vec<Vec<u8>> = starts.zip(ends).map(|(start, end)| part(&rows[start..end])).collect();
        let mut one_by_one = merged(&parts);
        one_by_one.judge(Judging::Tier(tier), 1).unwrap();
        prop_assert!(one_by_one.to_bytes() == whole.to_bytes());

        let halves = [merged(&parts[2..]).to_bytes(), merged(&parts[..2]).to_bytes()];
        let mut as_a_tree = merged(&halves);
        as_a_tree.judge(Judging::Tier(tier), 2).unwrap();
        prop_assert!(as_a_tree.to_bytes() == whole.to_bytes());
    }
}

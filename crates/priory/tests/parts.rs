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

/// Of very many words, some parts count pairs of neighbours and others have let go of theirs.
#[test]
fn parts_that_have_let_go_of_pairs_of_words_are_judged_by_their_rows() {
    let (mut schema, tier) = (schema(), Judging::Tier(Tier::Weights));
    tier.prepare(&mut schema, &Settings::default());
    assert!(schema.has_neighbours());
    let learn = |rows: std::ops::Range<u16>, lets_go: bool| {
        let mut learnt = Learnt::new(tier.start(&schema), Settings::default());
        for row in rows {
            let words = [format!("w{}", row % 5), format!("w{}", row % 7)];
            let pair = words.join(" ");
            let tokens = [words[0].as_str(), words[1].as_str(), pair.as_str(), "!"];
            let mut batch = Batch::new(&schema);
            let values = [Value::Number(f64::from(row % 9)), Value::Category("v"), Value::Text(&tokens)];
            batch.push(Some(&format!("c{}", row % 2)), 1.0, &values).unwrap();
            learnt.learn(&batch).unwrap();
            if lets_go {
                learnt.statistics.drop_neighbours();
            }
        }
        learnt
    };
    let mut whole = learn(0..200, true);
    whole.judge(tier, 1).unwrap();
    let parts =
        [learn(0..70, false), learn(70..150, true), learn(150..200, true)].map(|part| part.to_bytes());
    assert!(Learnt::read(&parts[1]).unwrap().to_bytes() == parts[1]);
    let mut backwards = parts.clone();
    backwards.reverse();
    for parts in [parts, backwards] {
        let mut all = merged(&parts);
        assert_eq!(all.kept_rows(), Some(200));
        all.judge(tier, 1).unwrap();
        assert!(all.to_bytes() == whole.to_bytes());
    }
}

/// Samples of rows with documents are larger than others.
#[test]
fn a_large_sample_with_documents_is_read_again() {
    let schema = Schema::new("class", vec![Column::new("text", Kind::Text)]).unwrap();
    let mut learnt = Learnt::new(Judging::Later.start(&schema), Settings::default());
    let words: Vec<String> = (0..3000).map(|i| format!("w{i}")).collect();
    for row in 0..1500 {
        let words: Vec<&str> = words[row % 100..].iter().map(String::as_str).collect();
        let mut batch = Batch::new(&schema);
        batch.push(Some(["a", "b"][row % 2]), (row + 1) as f64, &[Value::Text(&words)]).unwrap();
        learnt.learn(&batch).unwrap();
    }
    let file = learnt.to_bytes();
    assert!(Learnt::read(&file).unwrap().to_bytes() == file);
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

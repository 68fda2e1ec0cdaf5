//! Judged models: the same bytes from any order and split, sums that can be taken away again, and probabilities that noise does
//! not move far from the prior.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::evaluate::FoldStatistics;
use priory::judgement::{Judging, Tier};
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};
use proptest::prelude::*;

/// A row: class, two numbers that tell about it, a category that does, and one that does not.
type Row = (usize, [f64; 2], usize, usize);

fn schema() -> Schema {
    let columns =
        [("x", Kind::Number), ("y", Kind::Number), ("color", Kind::Category), ("noise", Kind::Category)];
    Schema::new("class", columns.map(|(name, kind)| Column::new(name, kind)).to_vec()).unwrap()
}

fn batch(rows: &[Row]) -> Batch {
    let mut batch = Batch::new(&schema());
    for &(class, [x, y], color, noise) in rows {
        let (class, color, noise) = (format!("c{class}"), format!("v{color}"), format!("n{noise}"));
        let color = if color == "v0" { Value::Missing } else { Value::Category(&color) };
        let values = [Value::Number(x), Value::Number(y), color, Value::Category(&noise)];
        batch.push(Some(&class), 1.0, &values).unwrap();
    }
    batch
}

/// Numbers from 0 to 1 that are the same for the same seed.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows that are the same for the same seed.
fn rows(seed: u64, count: usize, classes: usize) -> Vec<Row> {
    let mut next = random(seed);
    let row = |_| {
        let class = (next() * classes as f64) as usize;
        let x = (class as f64 + 3.0 * next()).floor() / 4.0;
        let y = if next() < 0.1 { f64::NAN } else { x * next() - class as f64 };
        let color = (class + (next() * 3.0) as usize) % 4;
        (class, [x, y], color, (next() * 5.0) as usize)
    };
    (0..count).map(row).collect()
}

/// Each part is learnt by itself, and then all are put together.
fn learn(parts: &[&[Row]]) -> Learnt {
    let mut all = Judging::Auto.start(&schema());
    for part in parts {
        let mut statistics = all.empty_like();
        statistics.observe(&batch(part)).unwrap();
        all.merge(&statistics).unwrap();
    }
    Learnt::new(all, Settings::default())
}

fn judged(parts: &[&[Row]], tier: Tier) -> Learnt {
    let mut learnt = learn(parts);
    assert_eq!(learnt.judge(Judging::Tier(tier), parts.len()).unwrap(), Some(tier));
    learnt
}

const TIERS: [Tier; 3] = [Tier::Weights, Tier::Pairs, Tier::Full];

#[test]
fn any_order_and_split_gives_the_same_bytes() {
    for tier in TIERS {
        let mut rows = rows(1, 300, 3);
        rows.extend_from_within(..40); // some rows occur twice
        let whole = judged(&[&rows], tier).to_bytes();
        assert!(judged(&[&rows[..17], &rows[17..200], &rows[200..]], tier).to_bytes() == whole);
        rows.reverse();
        assert!(judged(&[&rows[..100], &rows[100..]], tier).to_bytes() == whole);
    }
}

#[test]
fn a_fold_is_tested_with_the_model_that_the_others_give() {
    let rows = rows(20, 400, 3);
    let folds: Vec<Option<usize>> = (0..rows.len()).map(|row| Some(row % 4)).collect();
    let mut statistics = FoldStatistics::empty(&schema(), 4);
    statistics.keep_rows();
    statistics.observe(&batch(&rows), &folds).unwrap();
    let models = statistics.models(&Settings::default(), Judging::Auto).unwrap();
    for fold in 0..4 {
        let (tested, others): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|row| row % 4 == fold);
        let mut learnt = Learnt::new(Judging::Auto.start(&schema()), Settings::default());
        learnt.learn(&batch(&rows).select(&others)).unwrap();
        assert_eq!(learnt.judge(Judging::Auto, 2).unwrap(), Some(Tier::Full));
        let asked = batch(&rows).select(&tested);
        let expected = learnt.estimate().unwrap().score(&asked).unwrap();
        let scores = models.model(fold).score(&asked).unwrap();
        (0..asked.rows).for_each(|row| assert_eq!(scores.row(row), expected.row(row)));
    }
}

#[test]
fn a_judged_file_is_read_and_written_as_it_was() {
    for tier in TIERS {
        let learnt = judged(&[&rows(2, 200, 2)], tier);
        let bytes = learnt.to_bytes();
        let again = Learnt::read(&bytes).unwrap();
        assert!(again.to_bytes() == bytes);
        let asked = batch(&rows(3, 20, 2));
        let (before, after) = (learnt.estimate().unwrap(), again.estimate().unwrap());
        let (before, after) = (before.score(&asked).unwrap(), after.score(&asked).unwrap());
        (0..20).for_each(|row| assert_eq!(before.row(row), after.row(row)));
    }
}

#[test]
fn what_is_learnt_after_a_judgement_can_be_forgotten_to_the_bit() {
    for tier in TIERS {
        let mut learnt = judged(&[&rows(4, 250, 3)], tier);
        let bytes = learnt.to_bytes();
        let more = batch(&rows(5, 60, 5)); // and classes that were never met
        learnt.learn(&more).unwrap();
        assert!(learnt.to_bytes() != bytes);
        learnt.forget(&more).unwrap();
        assert!(learnt.to_bytes() == bytes);
    }
}

#[test]
fn classes_that_come_later_are_scored() {
    let mut learnt = judged(&[&rows(12, 200, 2)], Tier::Full);
    let more = batch(&rows(13, 200, 4));
    learnt.learn(&more).unwrap();
    let model = learnt.estimate().unwrap();
    assert_eq!(model.classes().len(), 4);
    let posterior = model.score(&more).unwrap().normalize();
    assert!((0..more.rows).any(|row| posterior.best(row) >= 2));
}

#[test]
fn judged_scores_are_the_sums_of_their_explanations_to_the_bit() {
    for tier in TIERS {
        let model = judged(&[&rows(14, 400, 3)], tier).estimate().unwrap();
        let mut asked = batch(&rows(15, 30, 3));
        let never_met = [Value::Number(99.0), Value::Missing, Value::Category("never"), Value::Missing];
        asked.push(None, 1.0, &never_met).unwrap();
        let scores = model.score(&asked).unwrap();
        assert_eq!(scores.unseen(), 1);
        for row in 0..asked.rows {
            let explanation = model.explain(&asked, row).unwrap();
            assert!(scores.row(row).iter().eq(explanation.log_joint.iter()), "{tier:?} {row}");
            let posterior = model.score(&asked).unwrap().normalize();
            assert!(posterior.row(row).iter().eq(explanation.posterior.iter()));
        }
    }
}

#[test]
fn merging_keeps_a_judgement_that_both_have() {
    let mut ours = judged(&[&rows(16, 200, 2)], Tier::Pairs);
    let mut theirs = ours.clone();
    theirs.learn(&batch(&rows(17, 50, 2))).unwrap();
    let mut both = ours.clone();
    both.merge(&theirs).unwrap();
    assert!(both.is_judged());
    assert!(both.estimate().is_ok());
    assert!(Learnt::read(&both.to_bytes()).unwrap().is_judged());
    ours.merge(&judged(&[&rows(18, 200, 2)], Tier::Pairs)).unwrap();
    assert!(!ours.is_judged());
    let mut plain = learn(&[&rows(16, 200, 2), &rows(18, 200, 2)]);
    plain.drop_judgement();
    assert!(ours.to_bytes() == plain.to_bytes());
}

#[test]
fn text_is_weighed_by_what_it_is_worth() {
    let columns = vec![Column::new("text", Kind::Text), Column::new("x", Kind::Number)];
    let schema = Schema::new("class", columns).unwrap();
    let words = ["buy", "now", "cheap", "meeting", "report", "budget"];
    let mut batch = Batch::new(&schema);
    for (i, (class, [x, _], color, noise)) in rows(19, 300, 2).into_iter().enumerate() {
        // Every word comes in five forms at once: naive Bayes takes each for a word of its own.
        let forms: Vec<String> = [words[3 * class + color % 3], words[noise], words[i % 6]]
            .into_iter()
            .flat_map(|word| (0..5).map(move |form| format!("{word}{form}")))
            .collect();
        let tokens: Vec<&str> = forms.iter().map(String::as_str).collect();
        let values = [Value::Text(&tokens), Value::Number(x)];
        batch.push(Some(&format!("c{class}")), 1.0, &values).unwrap();
    }
    let mut learnt = Learnt::new(Judging::Auto.start(&schema), Settings::default());
    let (train, test): (Vec<usize>, Vec<usize>) = (0..300).partition(|row| row % 3 != 0);
    let (train, test) = (batch.select(&train), batch.select(&test));
    learnt.learn(&train).unwrap();
    let loss = |learnt: &Learnt| {
        let model = learnt.estimate().unwrap();
        let posterior = model.score(&test).unwrap().normalize();
        let own = |row: usize| {
            let class = test.classes.value(row).unwrap();
            -posterior.row(row)[model.classes().iter().position(|name| name == class).unwrap()].ln()
        };
        (0..test.rows).map(own).sum::<f64>() / test.rows as f64
    };
    let plain = loss(&learnt);
    learnt.judge(Judging::Tier(Tier::Full), 1).unwrap();
    assert!(loss(&learnt) < plain, "{} instead of {plain}", loss(&learnt));
    assert!(Learnt::read(&learnt.to_bytes()).unwrap().to_bytes() == learnt.to_bytes());
}

/// The mean log-loss of a model on rows.
fn loss(learnt: &Learnt, rows: &[Row]) -> f64 {
    let model = learnt.estimate().unwrap();
    let posterior = model.score(&batch(rows)).unwrap().normalize();
    let own = |row: usize| {
        let class = model.classes().iter().position(|class| *class == format!("c{}", rows[row].0)).unwrap();
        -posterior.row(row)[class].ln()
    };
    (0..rows.len()).map(own).sum::<f64>() / rows.len() as f64
}

#[test]
fn a_judged_model_predicts_better_than_a_plain_one() {
    let (train, test) = (rows(6, 600, 3), rows(7, 600, 3));
    let plain = loss(&learn(&[&train]), &test);
    for tier in TIERS {
        let judged = loss(&judged(&[&train], tier), &test);
        assert!(judged < plain, "{tier:?}: {judged} instead of {plain}");
    }
}

/// Rows of so many numbers and as many categories that know nothing of the two classes, one of which is rarer.
fn noise(seed: u64, rows: usize, columns: usize) -> (Schema, Batch) {
    let column = |i: usize| {
        Column::new(format!("x{i}"), if i.is_multiple_of(2) { Kind::Number } else { Kind::Category })
    };
    let schema = Schema::new("class", (0..2 * columns).map(column).collect()).unwrap();
    let mut next = random(seed);
    let mut batch = Batch::new(&schema);
    for _ in 0..rows {
        let class = if next() < 0.3 { "rare" } else { "frequent" };
        let values = (0..2 * columns).map(|i| match i.is_multiple_of(2) {
            true => Value::Number(next() * next()),
            false => Value::Category(["a", "b", "c", "d"][(next() * 4.0) as usize]),
        });
        batch.push(Some(class), 1.0, &values.collect::<Vec<_>>()).unwrap();
    }
    (schema, batch)
}

#[test]
fn noise_moves_no_probability_far_from_the_prior() {
    let mut ratios = Vec::new();
    for (rows, columns) in [(60, 4), (100, 10), (200, 3), (300, 10)] {
        for seed in 20..23 {
            let (schema, train) = noise(seed, rows, columns);
            let mut learnt = Learnt::new(Judging::Auto.start(&schema), Settings::default());
            learnt.learn(&train).unwrap();
            learnt.judge(Judging::Tier(Tier::Full), 2).unwrap();
            let model = learnt.estimate().unwrap();
            let rows_of_rare = train
                .classes
                .codes
                .iter()
                .filter(|&&code| train.classes.values.name(code as usize - 1) == "rare")
                .count();
            let rare = rows_of_rare as f64 / rows as f64;
            // Against the shares of the classes, the divergence is what is lost where rows say nothing.
            let (_, test) = noise(seed + 100, 500, columns);
            let scored = model.score(&test).unwrap().normalize();
            let divergence = |row: usize| {
                let p = scored.row(row)[1];
                rare * (rare / p).ln() + (1.0 - rare) * ((1.0 - rare) / (1.0 - p)).ln()
            };
            let entropy = -rare * rare.ln() - (1.0 - rare) * (1.0 - rare).ln();
            let lost = (0..500).map(divergence).sum::<f64>() / 500.0;
            assert!(lost < 0.05 * entropy, "{rows} rows, {columns} columns: {lost} of {entropy}");
            ratios.push(lost / entropy);
        }
    }
    assert!(ratios.iter().sum::<f64>() / (ratios.len() as f64) < 0.01, "{ratios:?}");
}

#[test]
fn columns_that_repeat_each_other_share_their_weight() {
    let columns = (0..50).map(|i| Column::new(format!("x{i}"), Kind::Number)).collect();
    let schema = Schema::new("class", columns).unwrap();
    let single = Schema::new("class", vec![Column::new("x", Kind::Number)]).unwrap();
    let judged = |schema: &Schema, tier: Tier| {
        let mut batch = Batch::new(schema);
        for (class, [x, _], ..) in rows(8, 400, 2) {
            let values = vec![Value::Number(x); schema.columns.len()];
            batch.push(Some(&format!("c{class}")), 1.0, &values).unwrap();
        }
        let mut learnt = Learnt::new(Judging::Auto.start(schema), Settings::default());
        learnt.learn(&batch).unwrap();
        learnt.judge(Judging::Tier(tier), 1).unwrap();
        let posterior = learnt.estimate().unwrap().score(&batch).unwrap().normalize();
        let posterior = (0..batch.rows).map(|row| posterior.row(row)[0]).collect::<Vec<f64>>();
        (posterior, learnt.judgement().unwrap().columns)
    };
    for tier in TIERS {
        let ((of_many, weights), (of_one, whole)) = (judged(&schema, tier), judged(&single, tier));
        for (many, one) in of_many.iter().zip(of_one) {
            assert!((many - one).abs() < 0.005, "{tier:?}: {many} instead of {one}");
        }
        let share = whole[0].alone / 50.0;
        for of_column in &weights {
            assert!(
                (of_column.alone / share - 1.0).abs() < 0.02,
                "{tier:?}: {of_column:?} instead of {share}"
            );
        }
    }
}

#[test]
fn odd_tables_are_judged_without_a_fuss() {
    let one_class = rows(9, 30, 1);
    let two_rows = [(0, [1.0, 2.0], 1, 1), (1, [1.0, 3.0], 2, 2)];
    let mut lonely = rows(10, 60, 2);
    lonely.push((7, [0.0, 0.0], 1, 1));
    let nothing_known: Vec<Row> = (0..40).map(|i| (i % 2, [f64::NAN; 2], 0, 0)).collect();
    let separable: Vec<Row> = (0..80).map(|i| (i % 2, [(i % 2) as f64 * 10.0, 1.0], 1 + i % 2, 0)).collect();
    for rows in [&one_class[..], &two_rows, &lonely, &nothing_known, &separable] {
        for tier in TIERS {
            let learnt = judged(&[rows], tier);
            let scores = learnt.estimate().unwrap().score(&batch(rows)).unwrap();
            let posterior = scores.normalize();
            for row in 0..rows.len() {
                let sum: f64 = posterior.row(row).iter().sum();
                assert!((sum - 1.0).abs() < 1e-9, "{tier:?} {:?}", posterior.row(row));
            }
            assert!(Learnt::read(&learnt.to_bytes()).unwrap().to_bytes() == learnt.to_bytes());
        }
    }
}

/// The judged model of a batch, if it is judged automatically, and that all its posteriors are probabilities.
fn judged_automatically(schema: &Schema, batch: &Batch) -> Option<Tier> {
    let mut learnt = Learnt::new(Judging::Auto.start(schema), Settings::default());
    learnt.learn(batch).unwrap();
    let tier = learnt.judge(Judging::Auto, 2).unwrap();
    let posterior = learnt.estimate().unwrap().score(&batch.select(&[0, 1, 2])).unwrap().normalize();
    for row in 0..3 {
        assert!((posterior.row(row).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    tier
}

#[test]
fn many_classes_take_little_memory() {
    let rows: Vec<Row> = rows(23, 6_000, 2_000);
    for tier in TIERS {
        let learnt = judged(&[&rows], tier);
        let posterior = learnt.estimate().unwrap().score(&batch(&rows[..10])).unwrap().normalize();
        (0..10).for_each(|row| assert!((posterior.row(row).iter().sum::<f64>() - 1.0).abs() < 1e-9));
    }
    // Automatically, so many are not judged.
    let schema = Schema::new("class", vec![Column::new("x", Kind::Number)]).unwrap();
    let mut batch = Batch::new(&schema);
    for i in 0..30_000 {
        batch.push(Some(&format!("c{}", i % 10_000)), 1.0, &[Value::Number(f64::from(i % 10_000))]).unwrap();
    }
    assert_eq!(judged_automatically(&schema, &batch), None);
}

#[test]
fn thousands_of_columns_are_judged() {
    let columns = (0..5_000).map(|i| Column::new(format!("x{i}"), Kind::Category)).collect();
    let schema = Schema::new("class", columns).unwrap();
    let mut batch = Batch::new(&schema);
    for (i, (class, ..)) in rows(24, 60, 2).into_iter().enumerate() {
        let value = |column: usize| ["a", "b", "c"][(i * (column + 3) / 7 + class * (column % 2)) % 3];
        let values: Vec<Value<'_>> = (0..5_000).map(|column| Value::Category(value(column))).collect();
        batch.push(Some(&format!("c{class}")), 1.0, &values).unwrap();
    }
    assert_eq!(judged_automatically(&schema, &batch), Some(Tier::Full));
}

#[test]
fn what_there_is_no_room_for_is_said() {
    let wide = |columns: usize, classes: usize, rows: usize| {
        let columns = (0..columns).map(|i| Column::new(format!("x{i}"), Kind::Number)).collect();
        let schema = Schema::new("class", columns).unwrap();
        let (mut batch, mut next) = (Batch::new(&schema), random(26));
        for row in 0..rows {
            let values: Vec<Value<'_>> = schema.columns.iter().map(|_| Value::Number(next())).collect();
            batch.push(Some(&format!("c{}", row % classes)), 1.0, &values).unwrap();
        }
        let mut learnt = Learnt::new(Judging::Auto.start(&schema), Settings::default());
        learnt.learn(&batch).unwrap();
        let tier = learnt.judge(Judging::Tier(Tier::Full), 2).unwrap();
        (tier, learnt.judgement().unwrap().left_out)
    };
    assert_eq!(wide(89, 2, 60), (Some(Tier::Full), 0));
    assert_eq!(wide(90, 2, 60), (Some(Tier::Full), 30));
    // Pairs of 60 columns in five codes each have 44,250 cells for each class.
    assert_eq!(wide(90, 400, 800), (Some(Tier::Weights), 90));
}

#[test]
fn weighted_rows_are_judged_and_rows_that_age_are_not() {
    let schema = schema();
    let mut weighted = batch(&rows(25, 300, 3));
    weighted.weights = (0..300).map(|row| [0.25, 1.0, 7.5][row % 3]).collect();
    assert_eq!(judged_automatically(&schema, &weighted), Some(Tier::Full));
    let mut learnt = Learnt::new(Judging::Auto.start(&schema), Settings::default());
    learnt.statistics.set_half_life(100).unwrap();
    learnt.learn(&weighted).unwrap();
    assert_eq!(learnt.judge(Judging::Auto, 1).unwrap(), None);
    let why = learnt.judge(Judging::Tier(Tier::Full), 1).unwrap_err();
    assert_eq!(why.to_string(), "rows that age cannot be judged");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn damaged_judgements_are_refused_or_harmless(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = judged(&[&rows(11, 40, 2)], Tier::Full).to_bytes();
        let place = place.index(bytes.len());
        let changed = bytes[place] != byte;
        bytes[place] = byte;
        prop_assert_eq!(Learnt::read(&bytes).is_err(), changed);
    }
}

/// P(own class) of each row, by everything and as if the row had not been learnt.
fn with_and_without(learnt: &Learnt, rows: &[Row]) -> Vec<(f64, f64)> {
    let (batch, model) = (batch(rows), learnt.estimate().unwrap());
    let with = model.score(&batch).unwrap().normalize();
    let without = learnt.leave_one_out(|left_out| left_out.score(&batch)).unwrap().unwrap();
    assert!(without.is_judged());
    let without = without.normalize();
    let own = |row: usize| model.classes().iter().position(|c| *c == format!("c{}", rows[row].0)).unwrap();
    (0..rows.len()).map(|row| (with.row(row)[own(row)], without.row(row)[own(row)])).collect()
}

#[test]
fn without_itself_no_row_speaks_more_for_its_class() {
    for tier in TIERS {
        let rows = rows(21, 300, 3);
        for (row, (with, without)) in with_and_without(&judged(&[&rows], tier), &rows).into_iter().enumerate()
        {
            assert!(without <= with + 1e-9, "{tier:?} {row}: {without} without the row, {with} with it");
        }
    }
}

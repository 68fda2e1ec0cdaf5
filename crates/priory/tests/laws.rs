//! Laws that hold for every family, whatever the table: checked as bytes of the model file.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod tables;

use priory::{Learnt, Settings, Statistics};
use proptest::prelude::*;
use tables::{Row, batch, bytes, rows, schema};

fn learn(rows: &[Row]) -> Statistics {
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&batch(rows)).unwrap();
    statistics
}

proptest! {
    #[test]
    fn any_split_in_any_order_gives_the_same_bytes(all in rows(40), cuts in prop::collection::vec(0usize..40, 0..5), seed in any::<u64>()) {
        let whole = bytes(&learn(&all));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (all.len() + 1)).collect();
        cuts.extend([0, all.len()]);
        cuts.sort_unstable();
        let mut parts: Vec<&[Row]> = cuts.windows(2).map(|cut| &all[cut[0]..cut[1]]).collect();
        let turn = seed as usize % parts.len();
        parts.rotate_left(turn);

        let mut in_turn = Statistics::empty(&schema());
        let mut merged = Statistics::empty(&schema());
        for part in &parts {
            in_turn.observe(&batch(part)).unwrap();
            merged.merge(&learn(part)).unwrap();
        }
        prop_assert_eq!(&bytes(&in_turn), &whole);
        prop_assert_eq!(&bytes(&merged), &whole);

        let mut backwards = all.clone();
        backwards.reverse();
        prop_assert_eq!(&bytes(&learn(&backwards)), &whole);
    }

    #[test]
    fn merging_is_associative_and_commutative(a in rows(15), b in rows(15), c in rows(15)) {
        let merge = |a: &Statistics, b: &Statistics| {
            let mut sum = a.clone();
            sum.merge(b).unwrap();
            sum
        };
        let (a, b, c) = (learn(&a), learn(&b), learn(&c));
        prop_assert_eq!(bytes(&merge(&a, &b)), bytes(&merge(&b, &a)));
        prop_assert_eq!(bytes(&merge(&merge(&a, &b), &c)), bytes(&merge(&a, &merge(&b, &c))));
        prop_assert_eq!(bytes(&merge(&a, &Statistics::empty(&schema()))), bytes(&a));
    }

    #[test]
    fn forgetting_undoes_observing(kept in rows(30), passing in rows(30)) {
        let before = learn(&kept);
        let mut statistics = before.clone();
        statistics.observe(&batch(&passing)).unwrap();
        statistics.forget(&batch(&passing)).unwrap();
        prop_assert_eq!(bytes(&statistics), bytes(&before));

        statistics.merge(&learn(&passing)).unwrap();
        statistics.subtract(&learn(&passing)).unwrap();
        prop_assert_eq!(bytes(&statistics), bytes(&before));

        statistics.forget(&batch(&kept)).unwrap();
        prop_assert_eq!(bytes(&statistics), bytes(&Statistics::empty(&schema())));
    }

    #[test]
    fn what_cannot_be_forgotten_changes_nothing(kept in rows(20), strange in rows(6)) {
        let before = learn(&kept);
        let mut statistics = before.clone();
        if statistics.forget(&batch(&strange)).is_err() {
            prop_assert_eq!(bytes(&statistics), bytes(&before));
        } else {
            // Every count was large enough, so the rest is a table that could have been learnt.
            statistics.merge(&learn(&strange)).unwrap();
            prop_assert_eq!(bytes(&statistics), bytes(&before));
        }
    }

    #[test]
    fn a_file_is_read_back_as_it_was(all in rows(30)) {
        let file = bytes(&learn(&all));
        let learnt = Learnt::read(&file).unwrap();
        prop_assert_eq!(&learnt.settings, &Settings::default());
        prop_assert_eq!(learnt.fingerprint(), Learnt::new(learn(&all), Settings::default()).fingerprint());
        prop_assert_eq!(learnt.to_bytes(), file);
    }

    #[test]
    fn posteriors_sum_to_one_and_explanations_add_up(all in rows(30), asked in rows(8)) {
        let statistics = learn(&all);
        prop_assume!(!statistics.classes().is_empty());
        // Numbers around 1e300 have no variance that an f64 could hold, and are refused.
        let Ok(model) = statistics.estimate(&Settings::default()) else { return Ok(()) };
        let asked = batch(&asked);
        let scores = model.score(&asked).unwrap();
        let posterior = scores.normalize();
        for row in 0..asked.rows {
            prop_assert!((posterior.row(row).iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let explanation = model.explain(&asked, row).unwrap();
            for (class, &log_joint) in explanation.log_joint.iter().enumerate() {
                let terms = explanation.contributions.iter().map(|contribution| contribution.log_likelihood[class]);
                prop_assert_eq!(terms.fold(explanation.log_prior[class], |sum, x| sum + x), log_joint);
                let scored = scores.row(row)[class];
                prop_assert!(log_joint == scored || (log_joint - scored).abs() <= 1e-13 * scored.abs().max(1.0));
            }
        }
    }
}

/// Whatever is counted differently shows in the fingerprint: a row more, another class, another value, another weight. The
/// settings are not counted.
#[test]
fn a_fingerprint_tells_statistics_apart() {
    let row =
        |class: u8, weight: f64, value: u8| (Some(class), weight, vec![Some(value); schema().columns.len()]);
    let tables = [
        vec![],
        vec![row(0, 1.0, 0)],
        vec![row(0, 1.0, 0), row(0, 1.0, 0)],
        vec![row(0, 2.0, 0)],
        vec![row(1, 1.0, 0)],
        vec![row(0, 1.0, 1)],
        vec![row(0, 0.1, 0)],
    ];
    let fingerprint = |rows: &Vec<Row>| Learnt::new(learn(rows), Settings::default()).fingerprint();
    let different: std::collections::BTreeSet<u64> = tables.iter().map(fingerprint).collect();
    assert_eq!(different.len(), tables.len());
    let settings = Settings { prior: priory::settings::Prior::Uniform, ..Settings::default() };
    assert_eq!(Learnt::new(learn(&tables[1]), settings).fingerprint(), fingerprint(&tables[1]));
}

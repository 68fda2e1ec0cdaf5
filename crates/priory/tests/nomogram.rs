//! Nomograms and waterfalls add up to what the model says.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::judgement::{Judging, Tier};
use priory::plot::nomogram::Points;
use priory::plot::{Nomogram, Subject, Waterfall};
use priory::settings::Smoothing;
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};
use proptest::prelude::*;

/// A row: its class, two categories and a number, any of which may be missing.
type Row = (u8, Option<u8>, Option<u8>, Option<i8>);

fn schema() -> Schema {
    let kinds = [("sky", Kind::Category), ("wind", Kind::Category), ("heat", Kind::Number)];
    Schema::new("play", kinds.map(|(name, kind)| Column::new(name, kind)).to_vec()).unwrap()
}

fn batch(rows: &[Row]) -> Batch {
    let mut batch = Batch::new(&schema());
    for (class, sky, wind, heat) in rows {
        let names = ["a", "b", "c", "d"];
        let category =
            |value: &Option<u8>| value.map_or(Value::Missing, |i| Value::Category(names[i as usize % 4]));
        let heat = heat.map_or(Value::Missing, |x| Value::Number(f64::from(x)));
        batch.push(Some(names[*class as usize % 4]), 1.0, &[category(sky), category(wind), heat]).unwrap();
    }
    batch
}

fn rows(classes: u8) -> impl Strategy<Value = Vec<Row>> {
    let category = || prop::option::weighted(0.8, 0..4_u8);
    prop::collection::vec(
        (0..classes, category(), category(), prop::option::weighted(0.8, -20..20_i8)),
        8..40,
    )
}

fn learnt(rows: &[Row], judging: Judging) -> Learnt {
    let mut learnt = Learnt::new(judging.start(&schema()), Settings::default());
    learnt.learn(&batch(rows)).unwrap();
    learnt.judge(judging, 1).unwrap();
    learnt
}

/// What a nomogram has to say about a value: its point, or that of the nearest number that was asked about.
fn points(nomogram: &Nomogram, column: &str, value: &str) -> Option<f64> {
    let line = nomogram.lines.iter().find(|line| line.column == column)?;
    match &line.points {
        Points::Values { values, .. } => {
            values.iter().find(|point| point.label == value).map(|point| point.bits)
        }
        Points::Curve { .. } | Points::Words(_) => None,
    }
}

/// log₂ of the odds of a class.
fn log_odds(log_joint: &[f64], class: usize) -> f64 {
    let others = log_joint
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != class)
        .map(|(_, log)| (log - log_joint[class]).exp());
    -others.sum::<f64>().ln() / std::f64::consts::LN_2
}

proptest! {
    #[test]
    fn points_add_up_between_two_classes(rows in rows(2)) {
        let learnt = learnt(&rows, Judging::None);
        let model = learnt.estimate().unwrap();
        prop_assume!(model.classes().len() == 2);
        let nomogram = Subject::new(&learnt, &model).unwrap().nomogram(None).unwrap();
        prop_assert_eq!(&nomogram.class, &model.classes()[1]);
        let without_numbers: Vec<Row> = rows.iter().map(|&(class, sky, wind, _)| (class, sky, wind, None)).collect();
        let batch = batch(&without_numbers);
        for row in 0..batch.rows {
            let mut sum = nomogram.prior;
            for (column, name) in [(0, "sky"), (1, "wind")] {
                if let Some(value) = batch.category(column).value(row) {
                    sum += points(&nomogram, name, value).unwrap();
                }
            }
            let explanation = model.explain(&batch, row).unwrap();
            let expected = log_odds(&explanation.log_joint, 1);
            prop_assert!((sum - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{} {}", sum, expected);
        }
    }

    #[test]
    fn a_curve_is_what_the_model_says_of_its_marks(rows in rows(3)) {
        let learnt = learnt(&rows, Judging::None);
        let model = learnt.estimate().unwrap();
        prop_assume!(model.classes().len() > 1);
        let class = &model.classes()[0];
        let nomogram = Subject::new(&learnt, &model).unwrap().nomogram(Some(class)).unwrap();
        let Some(line) = nomogram.lines.iter().find(|line| line.column == "heat") else { return Ok(()) };
        let Points::Curve { marks, .. } = &line.points else { return Ok(()) };
        for mark in marks {
            let mut batch = Batch::new(&schema());
            batch.push(None, 1.0, &[Value::Missing, Value::Missing, Value::Number(mark.number.unwrap())]).unwrap();
            let explanation = model.explain(&batch, 0).unwrap();
            let expected = log_odds(&explanation.log_joint, 0) - nomogram.prior;
            prop_assert!((mark.bits - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{} {}", mark.bits, expected);
        }
    }

    #[test]
    fn a_waterfall_ends_at_the_posterior(rows in rows(4), judged in any::<bool>(), most in 1..6_usize) {
        let judging = if judged { Judging::Tier(Tier::Pairs) } else { Judging::None };
        let learnt = learnt(&rows, judging);
        let model = learnt.estimate().unwrap();
        let batch = batch(&rows);
        for row in 0..batch.rows.min(4) {
            let explanation = model.explain(&batch, row).unwrap();
            let waterfall = Waterfall::new(&explanation, "play", most);
            prop_assert_eq!(&waterfall.class, &explanation.prediction);
            // The prior, the terms, and the others together.
            prop_assert!(waterfall.steps.len() <= most + 2);
            for pair in waterfall.steps.windows(2) {
                prop_assert_eq!(pair[0].to, pair[1].from);
            }
            let end = waterfall.steps.last().unwrap().to;
            if model.classes().len() > 1 {
                let p = 1.0 / (1.0 + (-end * std::f64::consts::LN_2).exp());
                prop_assert!((p - waterfall.posterior).abs() < 1e-9, "{} {}", p, waterfall.posterior);
            }
        }
    }
}

#[test]
fn what_is_impossible_has_an_end() {
    let rows: Vec<Row> = (0..12).map(|i| (i % 2, Some(i % 2), Some(i % 3), None)).collect();
    let mut learnt = learnt(&rows, Judging::None);
    let settings = Settings { smoothing: Smoothing::None, ..learnt.settings.clone() };
    learnt.set_settings(settings);
    let model = learnt.estimate().unwrap();
    let nomogram = Subject::new(&learnt, &model).unwrap().nomogram(None).unwrap();
    assert_eq!(points(&nomogram, "sky", "a"), Some(f64::NEG_INFINITY));
    assert_eq!(points(&nomogram, "sky", "b"), Some(f64::INFINITY));
    let drawn = priory::plot::svg::nomogram(&nomogram, 680.0).file();
    assert!(
        drawn.contains("← a") && drawn.contains("b →") && !drawn.contains("NaN") && !drawn.contains("inf,")
    );
    // A row that is impossible in every class is answered by the prior.
    let mut odd = Batch::new(&schema());
    odd.push(None, 1.0, &[Value::Category("elsewhere"), Value::Missing, Value::Missing]).unwrap();
    let explanation = model.explain(&odd, 0).unwrap();
    let waterfall = Waterfall::new(&explanation, "play", 9);
    assert_eq!(waterfall.steps.len(), 1);
    assert!(!priory::plot::svg::waterfall(&waterfall, 680.0).file().contains("NaN"));
}

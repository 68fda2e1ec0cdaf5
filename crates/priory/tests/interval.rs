//! Intervals cover what they should: many small tables are drawn from known distributions, and it is counted how often the true
//! posterior lies in the interval that was concluded from each.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::settings::{Family, NumberFamily, Prior};
use priory::{Batch, Column, Interval, Kind, Learnt, Posterior, Schema, Settings, Value};

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Shares that add up to one: every such list is as likely as any other.
    fn shares(&mut self, count: usize) -> Vec<f64> {
        let parts: Vec<f64> = (0..count).map(|_| -(1.0 - self.uniform()).ln()).collect();
        let sum: f64 = parts.iter().sum();
        parts.iter().map(|part| part / sum).collect()
    }

    fn pick(&mut self, shares: &[f64]) -> usize {
        let mut left = self.uniform();
        shares
            .iter()
            .position(|share| {
                left -= share;
                left < 0.0
            })
            .unwrap_or(shares.len() - 1)
    }
}

/// What rows are drawn from: columns that are independent given the class.
struct World {
    prior: Vec<f64>,
    columns: Vec<Law>,
    /// How often the first column is repeated under other names.
    copies: usize,
}

enum Law {
    /// The shares of the values in each class.
    Values(Vec<Vec<f64>>),
    /// Mean and standard deviation in each class.
    Normal(Vec<(f64, f64)>),
}

impl World {
    fn of_values(dice: &mut Dice, classes: usize, columns: usize, values: usize) -> Self {
        let prior = dice.shares(classes).iter().map(|share| 0.5 * share + 0.5 / classes as f64).collect();
        let mut column = || Law::Values((0..classes).map(|_| dice.shares(values)).collect());
        World { prior, columns: (0..columns).map(|_| column()).collect(), copies: 0 }
    }

    fn of_numbers(dice: &mut Dice, classes: usize, columns: usize) -> Self {
        let prior = dice.shares(classes).iter().map(|share| 0.5 * share + 0.5 / classes as f64).collect();
        let mut column =
            || Law::Normal((0..classes).map(|_| (dice.normal(), 0.5 + dice.uniform())).collect());
        World { prior, columns: (0..columns).map(|_| column()).collect(), copies: 0 }
    }

    fn schema(&self) -> Schema {
        let kind = |law: &Law| if matches!(law, Law::Values(_)) { Kind::Category } else { Kind::Number };
        let columns = self.columns.iter().enumerate();
        let mut columns: Vec<Column> =
            columns.map(|(i, law)| Column::new(format!("x{i}"), kind(law))).collect();
        let copies = (0..self.copies).map(|i| Column::new(format!("copy{i}"), kind(&self.columns[0])));
        columns.extend(copies);
        Schema::new("class", columns).unwrap()
    }

    /// Rows, and the true posterior of each.
    fn draw(&self, dice: &mut Dice, rows: usize) -> (Batch, Vec<Vec<f64>>) {
        const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let mut batch = Batch::new(&self.schema());
        let mut posteriors = Vec::new();
        for _ in 0..rows {
            let own = dice.pick(&self.prior);
            let mut joint = self.prior.clone();
            let mut values: Vec<Value<'_>> = Vec::new();
            for law in &self.columns {
                match law {
                    Law::Values(shares) => {
                        let value = dice.pick(&shares[own]);
                        joint.iter_mut().zip(shares).for_each(|(p, shares)| *p *= shares[value]);
                        values.push(Value::Category(NAMES[value]));
                    }
                    Law::Normal(laws) => {
                        let x = laws[own].0 + laws[own].1 * dice.normal();
                        for (p, (mean, deviation)) in joint.iter_mut().zip(laws) {
                            let z = (x - mean) / deviation;
                            *p *= (-0.5 * z * z).exp() / deviation;
                        }
                        values.push(Value::Number(x));
                    }
                }
            }
            (0..self.copies).for_each(|_| values.push(values[0]));
            batch.push(Some(NAMES[own]), 1.0, &values).unwrap();
            let sum: f64 = joint.iter().sum();
            posteriors.push(joint.iter().map(|p| p / sum).collect());
        }
        (batch, posteriors)
    }
}

fn interval(learnt: &Learnt, batch: &Batch, level: f64) -> (Posterior, Interval) {
    let of = |intervals: &priory::Intervals<'_>| {
        let scores = intervals.model().score(batch).unwrap();
        (scores.normalize(), intervals.of(batch, &scores, level).unwrap())
    };
    learnt.intervals(of).unwrap()
}

/// In how many of the cases the interval covers the true posterior of a class, and how wide it is on average.
fn coverage(
    settings: &Settings,
    tables: usize,
    rows: usize,
    judge: bool,
    world: impl Fn(&mut Dice) -> World,
) -> (f64, f64) {
    let mut dice = Dice(7);
    let (mut covered, mut cases, mut width) = (0.0, 0.0, 0.0);
    for _ in 0..tables {
        let world = world(&mut dice);
        let mut learnt = Learnt::empty(&world.schema(), settings.clone());
        if judge {
            learnt.statistics.keep_rows();
        }
        learnt.learn(&world.draw(&mut dice, rows).0).unwrap();
        if judge {
            learnt.judge(priory::judgement::Judging::Tier(priory::judgement::Tier::Full), 1).unwrap();
        }
        let (batch, truths) = world.draw(&mut dice, 50);
        let (_, interval) = interval(&learnt, &batch, 0.9);
        for (row, truth) in truths.iter().enumerate() {
            // A class that these rows have never shown cannot be predicted.
            let classes = interval.low(row).len();
            if classes < truth.len() {
                continue;
            }
            for (class, truth) in truth.iter().enumerate() {
                let (low, high) = (interval.low(row)[class], interval.high(row)[class]);
                covered += f64::from(u8::from((low..=high).contains(truth)));
                width += high - low;
                cases += 1.0;
            }
        }
    }
    (covered / cases, width / cases)
}

#[test]
#[ignore]
fn explore() {
    let plain = Settings::default();
    for rows in [30, 100, 300, 1000] {
        for (classes, columns, values) in [(2, 2, 3), (2, 5, 4), (3, 4, 3), (4, 8, 6)] {
            let found =
                coverage(&plain, 100, rows, false, |dice| World::of_values(dice, classes, columns, values));
            println!("{rows} rows, {classes} classes, {columns} columns of {values} values: {found:.3?}");
        }
    }
    for family in [Some(NumberFamily::Gaussian), Some(NumberFamily::Student), None] {
        for rows in [30, 100, 300, 1000] {
            let settings = Settings { numbers: family, ..Settings::default() };
            let found = coverage(&settings, 50, rows, false, |dice| World::of_numbers(dice, 2, 2));
            println!("{rows} rows, {family:?}: {found:.3?}");
        }
    }
}

#[test]
#[ignore]
fn explore_judged() {
    let plain = Settings::default();
    for rows in [100, 300, 1000] {
        for (classes, columns, values, copies) in [(2, 3, 3, 0), (2, 3, 3, 3), (3, 4, 3, 0)] {
            let found = coverage(&plain, 40, rows, true, |dice| World {
                copies,
                ..World::of_values(dice, classes, columns, values)
            });
            println!(
                "judged {rows} rows, {classes} classes, {columns} columns of {values} values, {copies} copies: {found:.3?}"
            );
        }
        let found = coverage(&plain, 20, rows, true, |dice| World::of_numbers(dice, 2, 3));
        println!("judged {rows} rows, numbers: {found:.3?}");
        let found =
            coverage(&plain, 20, rows, true, |dice| World { copies: 2, ..World::of_numbers(dice, 2, 3) });
        println!("judged {rows} rows, numbers, 2 copies: {found:.3?}");
    }
}

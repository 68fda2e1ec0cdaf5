//! Intervals cover what they should: many small tables are drawn from known distributions, and it is counted how often the true
//! posterior lies in the interval that was concluded from each.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::judgement::{Judging, Tier};
use priory::settings::{Discriminant, Divisor, NumberFamily, Selection, Smoothing, TextFamily, TextModel};
use priory::{Batch, Column, Interval, Kind, Learnt, Posterior, Schema, Settings, Statistics, Value};

const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

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

/// In how many of the cases an interval of 90 % covers the true posterior of a class.
fn coverage(
    settings: &Settings,
    tables: usize,
    rows: usize,
    tier: Option<Tier>,
    world: impl Fn(&mut Dice) -> World,
) -> f64 {
    let mut dice = Dice(7);
    let (mut covered, mut cases) = (0.0, 0.0);
    for _ in 0..tables {
        let world = world(&mut dice);
        let mut learnt = Learnt::empty(&world.schema(), settings.clone());
        learnt.statistics.keep_rows();
        learnt.learn(&world.draw(&mut dice, rows).0).unwrap();
        if let Some(tier) = tier {
            learnt.judge(Judging::Tier(tier), 1).unwrap();
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
                cases += 1.0;
            }
        }
    }
    covered / cases
}

/// Columns of every kind, and rows whose classes they tell something about.
fn every_kind(dice: &mut Dice, rows: usize) -> (Schema, Batch) {
    let kinds =
        [Kind::Category, Kind::Number, Kind::Joint, Kind::Joint, Kind::Group, Kind::Group, Kind::Text];
    let columns = kinds.iter().enumerate().map(|(i, &kind)| Column::new(format!("x{i}"), kind));
    let schema = Schema::new("class", columns.collect()).unwrap();
    let mut batch = Batch::new(&schema);
    for _ in 0..rows {
        let class = dice.pick(&[0.5, 0.3, 0.2]);
        let mut word = |noise: f64| NAMES[(class as f64 + noise * dice.uniform()) as usize];
        let (colour, one, two, words) = (word(2.0), word(3.0), word(2.5), [word(2.0), word(6.0), word(9.0)]);
        let mut number = |noise: f64| class as f64 + noise * dice.normal();
        let (x, y) = (number(1.0), number(2.0));
        let count = 1.0 + (number(1.0).abs() * 2.0).floor();
        let size = if dice.uniform() < 0.1 { Value::Missing } else { Value::Number(count) };
        let values = [
            Value::Category(colour),
            size,
            Value::Category(one),
            Value::Category(two),
            Value::Number(x),
            Value::Number(y),
            Value::Text(&words),
        ];
        batch.push(Some(NAMES[class]), 1.0, &values).unwrap();
    }
    (schema, batch)
}

fn widths(interval: &Interval, rows: usize) -> f64 {
    let of_row = |row: usize| interval.high(row).iter().zip(interval.low(row)).map(|(high, low)| high - low);
    (0..rows).flat_map(of_row).sum()
}

/// Probabilities lie in their intervals, more surely in wider ones, and more rows make them narrower.
fn check(learnt: &Learnt, tenfold: &Learnt, batch: &Batch, what: &str) {
    let (posterior, narrow) = interval(learnt, batch, 0.5);
    let (_, wide) = interval(learnt, batch, 0.95);
    for row in 0..batch.rows {
        for (class, p) in posterior.row(row).iter().enumerate() {
            let ends = [wide.low(row), narrow.low(row), &[*p].repeat(3), narrow.high(row), wide.high(row)];
            let ends = ends.map(|ends| ends[class]);
            assert!(ends.is_sorted() && ends[0] >= 0.0 && ends[4] <= 1.0, "{what}, row {row}: {ends:?}");
            assert!(ends[0] < ends[4], "{what}, row {row}: {ends:?}");
        }
    }
    let (few, many) = (widths(&wide, batch.rows), widths(&interval(tenfold, batch, 0.95).1, batch.rows));
    assert!(many < 0.75 * few, "{what}: {many} of ten times the rows, {few}");
}

#[test]
fn every_family_has_intervals() {
    let mut dice = Dice(3);
    let (schema, rows) = every_kind(&mut dice, 150);
    let (_, new) = every_kind(&mut dice, 20);
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&rows).unwrap();
    let mut tenfold = Statistics::empty(&schema);
    (0..10).for_each(|_| tenfold.observe(&rows).unwrap());
    let compare = |settings: Settings, what: &str| {
        let learnt = |statistics: &Statistics| Learnt::new(statistics.clone(), settings.clone());
        check(&learnt(&statistics), &learnt(&tenfold), &new, what);
    };
    // A mixture finds other humps in ten times the rows, and a range does not become surer by the same numbers.
    let families = NumberFamily::ALL.iter().filter(|family| {
        !matches!(family, NumberFamily::Mixture | NumberFamily::Uniform | NumberFamily::Binomial(_))
    });
    for &family in families {
        compare(Settings { numbers: Some(family), ..Settings::default() }, family.name());
    }
    for family in TextFamily::ALL {
        let text = TextModel { model: Some(family), smoothing: Smoothing::LAPLACE, ..TextModel::default() };
        let numbers = Some(NumberFamily::Gaussian);
        compare(Settings { text, numbers, ..Settings::default() }, family.name());
    }
    let numbers = Some(NumberFamily::Gaussian);
    let background = Smoothing::Background(0.8);
    let model = Some(TextFamily::Multinomial);
    let text = TextModel { model, smoothing: background.clone(), ..TextModel::default() };
    compare(Settings { smoothing: background, text, numbers, ..Settings::default() }, "background");
    for discriminant in [Discriminant::default(), Discriminant::Quadratic(Divisor::default())] {
        compare(
            Settings { discriminant: Some(discriminant), numbers, ..Settings::default() },
            discriminant.name(),
        );
    }
}

#[test]
fn a_model_of_some_columns_has_intervals() {
    let mut dice = Dice(5);
    let (schema, rows) = every_kind(&mut dice, 200);
    let settings = Settings { select: Selection::Best(1), ..Settings::default() };
    let mut learnt = Learnt::empty(&schema, settings);
    learnt.learn(&rows).unwrap();
    let model = learnt.estimate().unwrap();
    assert!(model.schema().columns.len() < schema.columns.len());
    let rows = rows.only(&schema, model.schema());
    let (posterior, interval) = interval(&learnt, &rows, 0.9);
    for row in 0..rows.rows {
        for (class, p) in posterior.row(row).iter().enumerate() {
            assert!(interval.low(row)[class] <= *p && *p <= interval.high(row)[class]);
        }
    }
}

#[test]
fn judged_models_have_intervals_whatever_the_split_and_the_threads() {
    let mut dice = Dice(11);
    let world = World { copies: 1, ..World::of_values(&mut dice, 3, 4, 4) };
    let (rows, new) = (world.draw(&mut dice, 600).0, world.draw(&mut dice, 40).0);
    let judged = |pieces: usize, times: usize, threads: usize| {
        let mut learnt = Learnt::empty(&world.schema(), Settings::default());
        learnt.statistics.keep_rows();
        for _ in 0..times {
            for piece in rows.pieces(pieces) {
                learnt.learn(&piece).unwrap();
            }
        }
        learnt.judge(Judging::Tier(Tier::Full), threads).unwrap();
        learnt
    };
    let learnt = judged(600, 1, 1);
    check(&learnt, &judged(600, 10, 1), &new, "judged");
    let expected = interval(&learnt, &new, 0.9).1;
    assert_eq!(interval(&judged(7, 1, 3), &new, 0.9).1, expected);
    let again = Learnt::read(&learnt.to_bytes()).unwrap();
    assert_eq!(again.to_bytes(), learnt.to_bytes());
    assert_eq!(interval(&again, &new, 0.9).1, expected);
    let mut row = 0;
    for piece in new.pieces(3) {
        let of_piece = interval(&learnt, &piece, 0.9).1;
        for i in 0..piece.rows {
            assert_eq!((of_piece.low(i), of_piece.high(i)), (expected.low(row), expected.high(row)));
            row += 1;
        }
    }
}

#[test]
fn what_is_certain_stays_defined() {
    let schema = Schema::new("class", vec![Column::new("x", Kind::Category)]).unwrap();
    let rows = [("a", [Some("u")]), ("a", [Some("u")]), ("b", [Some("v")])];
    let asked = Batch::from_rows(&[("a", [Some("u")]), ("a", [Some("w")]), ("a", [None])]);
    let learn = |rows: &[(&str, [Option<&str>; 1])], smoothing: Smoothing| {
        let mut learnt = Learnt::empty(&schema, Settings { smoothing, ..Settings::default() });
        learnt.learn(&Batch::from_rows(rows)).unwrap();
        interval(&learnt, &asked, 0.9).1
    };
    let unsmoothed = learn(&rows, Smoothing::None);
    assert_eq!((unsmoothed.low(0), unsmoothed.high(0)), (&[1.0, 0.0][..], &[1.0, 0.0][..]));
    // Impossible in both classes, and missing: what is left is the prior of three rows.
    assert_eq!(unsmoothed.low(1), unsmoothed.low(2));
    assert!(unsmoothed.low(1)[0] < 0.3 && unsmoothed.high(1)[0] > 0.8);
    let one_class = learn(&rows[..2], Smoothing::LAPLACE);
    assert_eq!((one_class.low(1), one_class.high(1)), (&[1.0][..], &[1.0][..]));
}

#[test]
fn only_probabilities_between_zero_and_one_have_intervals() {
    for level in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(priory::check_level(level).is_err(), "{level}");
    }
}

#[test]
fn intervals_of_plain_models_cover_the_truth() {
    let plain = Settings::default();
    for (classes, columns, values, rows) in [(2, 2, 3, 100), (2, 5, 4, 200), (3, 4, 3, 200), (4, 8, 6, 1_000)]
    {
        let world = |dice: &mut Dice| World::of_values(dice, classes, columns, values);
        let covered = coverage(&plain, 100, rows, None, world);
        assert!((0.86..0.94).contains(&covered), "{covered} with {classes} classes and {columns} columns");
    }
    for numbers in [Some(NumberFamily::Gaussian), Some(NumberFamily::Student), None] {
        let settings = Settings { numbers, ..Settings::default() };
        let covered = coverage(&settings, 60, 300, None, |dice| World::of_numbers(dice, 2, 2));
        assert!((0.86..0.95).contains(&covered), "{covered} with {numbers:?}");
    }
}

/// What is counted varies, and so do the weights; what so many rows cannot tell from certain may be certain.
#[test]
fn intervals_of_judged_models_cover_the_truth() {
    let full = Some(Tier::Full);
    for (copies, rows) in [(0, 400), (2, 400)] {
        let world = |dice: &mut Dice| World { copies, ..World::of_values(dice, 2, 3, 3) };
        let covered = coverage(&Settings::default(), 30, rows, full, world);
        assert!((0.83..0.98).contains(&covered), "{covered} with {copies} copies");
    }
    for (columns, rows) in [(2, 300), (5, 300), (3, 1_000)] {
        let world = |dice: &mut Dice| World::of_numbers(dice, 2, columns);
        let covered = coverage(&Settings::default(), 12, rows, full, world);
        assert!((0.88..0.99).contains(&covered), "{covered} with {columns} numbers and {rows} rows");
    }
}

#[test]
fn an_end_that_rows_cannot_tell_from_certain_is_certain() {
    let mut dice = Dice(21);
    // Two classes that are ten deviations apart.
    let world =
        World { prior: vec![0.5; 2], columns: vec![Law::Normal(vec![(0.0, 1.0), (10.0, 1.0)])], copies: 0 };
    let mut learnt = Learnt::empty(&world.schema(), Settings::default());
    learnt.statistics.keep_rows();
    learnt.learn(&world.draw(&mut dice, 200).0).unwrap();
    learnt.judge(Judging::Tier(Tier::Full), 1).unwrap();
    let mut asked = Batch::new(&world.schema());
    for x in [0.0, 5.0, 10.0] {
        asked.push(None, 1.0, &[Value::Number(x)]).unwrap();
    }
    let (posterior, interval) = interval(&learnt, &asked, 0.9);
    for (row, class) in [(0, 0), (2, 1)] {
        assert!(posterior.row(row)[class] < 1.0);
        assert_eq!((interval.high(row)[class], interval.low(row)[1 - class]), (1.0, 0.0));
    }
    // A plain model knows what it has assumed, and takes itself at its word.
    let mut plain = learnt.clone();
    plain.drop_judgement();
    let (_, interval) = self::interval(&plain, &asked, 0.9);
    assert!(interval.low(0)[1] > 0.0);
}

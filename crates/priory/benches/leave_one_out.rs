//! Leaving each row out beside scoring it: nanoseconds per row, the best of several runs, for a table of one factor.
//!
//! ```text
//! cargo bench -p priory --bench leave_one_out [-- part of a name]
//! ```
//!
//! `score` is [`Model::score`], and `terms` is [`LeaveOneOut::terms`] on the same rows, with everything prepared before the
//! clock starts.

#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::hint::black_box;
use std::time::Instant;

use priory::evaluate::LeaveOneOut;
use priory::settings::{Discriminant, Divisor, NumberFamily, Smoothing, TextFamily};
use priory::{
    Batch, BatchColumn, CategoryColumn, Column, Kind, Model, Schema, Settings, Statistics, TextColumn,
};

const ROWS: usize = 20_000;

fn main() {
    println!("{:>34} {:>8} {:>8} {:>6}", "ns per row", "score", "terms", "ratio");
    for classes in [3, 20] {
        let plain = Settings::default();
        let background = Settings { smoothing: Smoothing::Background(0.7), ..Settings::default() };
        measure("categorical", classes, Kind::Category, 1, &plain);
        measure("categorical, background", classes, Kind::Category, 1, &background);
        measure("joint", classes, Kind::Joint, 2, &plain);
        for family in [
            NumberFamily::Gaussian,
            NumberFamily::Student,
            NumberFamily::LogNormal,
            NumberFamily::Gamma,
            NumberFamily::Exponential,
            NumberFamily::Uniform,
            NumberFamily::Kernel,
            NumberFamily::Mixture,
            NumberFamily::Histogram,
            NumberFamily::EqualWidth(10),
            NumberFamily::Values,
        ] {
            let settings = Settings { numbers: Some(family), ..Settings::default() };
            measure(family.name(), classes, Kind::Number, 1, &settings);
        }
        for (name, discriminant) in [
            ("linear, 10 columns", Discriminant::Linear(Divisor::Rows)),
            ("quadratic, 10 columns", Discriminant::Quadratic(Divisor::Rows)),
            ("regularized, 10 columns", Discriminant::Regularized(None)),
        ] {
            let settings = Settings { discriminant: Some(discriminant), ..Settings::default() };
            measure(name, classes, Kind::Group, 10, &settings);
        }
        for family in [
            TextFamily::Multinomial,
            TextFamily::Presence,
            TextFamily::Bernoulli,
            TextFamily::Complement,
            TextFamily::ComplementPresence,
            TextFamily::ComplementNormalized,
        ] {
            let mut settings = Settings::default();
            settings.text.model = Some(family);
            measure(&format!("text, {}", family.name()), classes, Kind::Text, 1, &settings);
        }
    }
}

/// Prints a line for a table of so many columns of this kind.
fn measure(name: &str, classes: usize, kind: Kind, columns: usize, settings: &Settings) {
    let name = format!("{name}, K = {classes}");
    // Cargo adds an option of its own.
    if std::env::args().skip(1).any(|part| !part.starts_with('-') && !name.contains(&part)) {
        return;
    }
    let mut random = Random(1);
    let names = (0..columns).map(|i| Column::new(format!("x{i}"), kind)).collect();
    let schema = Schema::new("class", names).expect("the names differ");
    let mut batch = Batch::new(&schema);
    batch.rows = ROWS;
    let class_of: Vec<usize> = (0..ROWS).map(|_| (random.uniform() * classes as f64) as usize).collect();
    class_of.iter().for_each(|class| batch.classes.push(Some(&format!("class {class}"))));
    let coarse = settings.numbers == Some(NumberFamily::Values);
    for column in &mut batch.columns {
        *column = match kind {
            Kind::Category | Kind::Joint => {
                let mut values = CategoryColumn::default();
                class_of.iter().for_each(|&class| {
                    values.push(Some(&format!("v{}", (random.uniform() * (10 + class) as f64) as usize)));
                });
                BatchColumn::Category(values)
            }
            Kind::Text => {
                let mut text = TextColumn::default();
                for &class in &class_of {
                    for _ in 0..50 {
                        let rank = (random.uniform() * 14.0).exp2() as usize;
                        text.add(&format!("word{}", (rank + class * 7) % 16_384));
                    }
                    text.end_document();
                }
                BatchColumn::Text(text)
            }
            Kind::Number | Kind::Moments | Kind::Group => {
                let number = |class: usize| (0.3 * class as f64 + random.normal()).exp();
                let numbers = class_of.iter().copied().map(number);
                BatchColumn::Number(
                    numbers.map(|x| if coarse { (10.0 * x).floor().min(60.0) } else { x }).collect(),
                )
            }
        };
    }
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&batch).expect("the table is fine");
    let model = statistics.estimate(settings).expect("the settings fit");
    let score = time(|| score(&model, &batch));
    let terms = statistics.leave_one_out(settings, |left_out| time(|| terms(left_out, &batch)));
    let terms = terms.expect("the settings fit");
    println!("{name:>34} {score:8.1} {terms:8.1} {:6.1}", terms / score);
}

fn score(model: &Model, batch: &Batch) -> f64 {
    model.score(batch).expect("the columns are those of the model").row(0)[0]
}

fn terms(left_out: &LeaveOneOut<'_>, batch: &Batch) -> f64 {
    left_out.terms(batch).expect("the columns are those of the model").values[0]
}

/// Nanoseconds per row of the fastest of several runs.
fn time(mut run: impl FnMut() -> f64) -> f64 {
    let mut best = f64::INFINITY;
    black_box(run());
    for _ in 0..5 {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / ROWS as f64);
    }
    best
}

/// Xorshift, and the Box-Muller transform.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

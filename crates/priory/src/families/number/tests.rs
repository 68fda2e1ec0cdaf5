//! What every family of numbers must do: densities that add up to one, parameters found again, outliers in order.

use std::f64::consts::PI;

use proptest::prelude::*;

use super::background::{Background, Share};
use super::density::Density;
use super::gamma::{Gamma, LogMean};
use super::histogram::Smoothed;
use super::log_normal::LogNormal;
use super::mixture::Mixture;
use super::normal::Normal;
use super::numbers::Numbers;
use super::scale::{Binomial, Exponential, Geometric, Poisson};
use super::student::{Belief, Student};
use super::tree::Tree;
use super::uniform::Uniform;
use super::*;
use crate::settings::{Smoothing, VarianceFloor};

/// A column whose classes have shown these numbers.
pub(super) fn column(classes: &[&[f64]]) -> NumberColumn {
    NumberColumn::read(&statistics(classes), None)
}

pub(super) fn statistics(classes: &[&[f64]]) -> NumberStatistics {
    let mut statistics = NumberStatistics::empty(true);
    statistics.grow(classes.len());
    let NumberStatistics { moments, spectrum } = &mut statistics;
    for (class, numbers) in classes.iter().enumerate() {
        for &x in *numbers {
            moments[class].add(x, 1.0);
            spectrum.as_mut().expect("it is kept").add(x, class as u32, 1.0);
        }
    }
    let every_class: Vec<usize> = (0..classes.len()).collect();
    statistics.canonical(&every_class)
}

fn fitted(family: NumberFamily, classes: &[&[f64]]) -> Fitted {
    let settings = Settings { variance_floor: VarianceFloor::Relative(1e-9), ..Settings::default() };
    family.fit(&column(classes), &how(&settings, &Smoother::new(&settings, "x")))
}

fn how<'a>(settings: &Settings, smoother: &'a Smoother<f64>) -> How<'a> {
    How { floor: settings.variance_floor, smoother }
}

pub(super) fn chosen(classes: &[&[f64]]) -> Choice {
    let statistics = statistics(classes);
    let rest = WithoutOne { statistics: Counted::Borrowed(&statistics), column: Arc::new(column(classes)) };
    choose::choose(&rest, &Smoother::new(&Settings::default(), "x"), "x").expect("there is one")
}

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Between 0 and 1, neither of them.
    pub(super) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        libm::sqrt(-2.0 * libm::log(self.uniform())) * libm::cos(2.0 * PI * self.uniform())
    }

    pub(super) fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Knuth's way: how many exponential waits fit into a time.
    pub(super) fn poisson(&mut self, mean: f64) -> f64 {
        let (mut time, mut events) = (self.exponential(), 0.0);
        while time < mean {
            time += self.exponential();
            events += 1.0;
        }
        events
    }
}

pub(super) fn many(n: usize, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    (0..n).map(|_| draw()).collect()
}

const CONTINUOUS: [NumberFamily; 14] = [
    NumberFamily::Gaussian,
    NumberFamily::Student,
    NumberFamily::Exponential,
    NumberFamily::LogNormal,
    NumberFamily::Gamma,
    NumberFamily::Uniform,
    NumberFamily::Histogram,
    NumberFamily::EqualWidth(10),
    NumberFamily::EqualFrequency(7),
    NumberFamily::Proportional,
    NumberFamily::Mdl,
    NumberFamily::Kernel,
    NumberFamily::Silverman,
    NumberFamily::Mixture,
];

/// Whether the numbers of a family are positive. Their densities may rise towards zero, below the least number too.
fn is_of_positive(family: NumberFamily) -> bool {
    matches!(family, NumberFamily::Exponential | NumberFamily::LogNormal | NumberFamily::Gamma)
}

/// Three classes of positive numbers: plenty, a few, and two.
fn three_classes() -> [Vec<f64>; 3] {
    let mut random = Random(7);
    [many(400, || libm::exp(random.normal())), vec![0.5, 2.0, 2.0, 7.0], vec![1.0, 1.5]]
}

/// The area under a density, in the variable t with x = centre + sinh t, so that tails are within reach; pieces are
/// cut at the jumps of the histograms by going in small steps.
pub(super) fn area(density: impl Fn(f64) -> f64, centre: f64) -> f64 {
    let (end, steps) = (50.0, 400_000);
    let step = 2.0 * end / f64::from(steps);
    let at = |t: f64| density(centre + libm::sinh(t)) * libm::cosh(t);
    (0..steps).map(|i| at(-end + (f64::from(i) + 0.5) * step)).sum::<f64>() * step
}

#[test]
fn densities_have_an_area_of_one() {
    let [a, b, c] = three_classes();
    for family in CONTINUOUS {
        let fitted = fitted(family, &[&a, &b, &c]);
        for class in 0..3 {
            let area = area(|x| libm::exp(fitted.ln(x)[class]), 1.0);
            // Jumps between steps of the sum cost up to a step each. The logarithms of two numbers have tails that
            // reach far beyond e^50.
            let allowed = if family == NumberFamily::LogNormal && class == 2 { 5e-3 } else { 1e-3 };
            assert!((area - 1.0).abs() < allowed, "{} of class {class}: {area}", family.name());
        }
    }
}

#[test]
fn probabilities_of_counts_add_up_to_one() {
    let mut random = Random(8);
    let classes = [many(300, || random.poisson(3.0)), vec![0.0, 0.0], vec![9.0], vec![]];
    let classes: Vec<&[f64]> = classes.iter().map(Vec::as_slice).collect();
    for family in [
        NumberFamily::Poisson,
        NumberFamily::Geometric,
        NumberFamily::Binomial(None),
        NumberFamily::Binomial(Some(40)),
    ] {
        let fitted = fitted(family, &classes);
        for class in 0..classes.len() {
            let sum: f64 = (0..2000).map(|x| libm::exp(fitted.ln(f64::from(x))[class])).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{} of class {class}: {sum}", family.name());
        }
    }
    let values = fitted(NumberFamily::Values, &classes);
    let seen = column(&classes).pooled.cells;
    for class in 0..classes.len() {
        let sum: f64 = seen.iter().map(|cell| libm::exp(values.ln(cell.value)[class])).sum();
        // The rest is kept for numbers that were never seen.
        let unseen = libm::exp(values.ln(0.5)[class]);
        let expected = 1.0;
        assert!(
            (sum - expected).abs() < 1e-12 && unseen > 0.0 && unseen < 1.0 / 3.0,
            "class {class}: {sum}, {unseen}"
        );
    }
}

#[test]
fn parameters_are_found_again() {
    let mut random = Random(9);
    let n = 40_000;
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
    let of = |family: NumberFamily, numbers: &[f64]| fitted(family, &[numbers, &[]]);
    let alone = |numbers: &[f64]| column(&[numbers, &[]]);

    let normal = Normal::fit(&alone(&many(n, || 100.0 + 4.0 * random.normal())), VarianceFloor::default())[0];
    near(normal.mean, 100.0);
    near(normal.variance, 16.0);
    let student = Student::fit(&alone(&many(n, || 100.0 + 4.0 * random.normal())))[0];
    near(student.location, 100.0);
    near(student.scale, 4.0);
    let mean_of = |numbers: &[f64]| column(&[numbers]).pooled;
    let waits = mean_of(&many(n, || random.exponential() / 3.0));
    near(Exponential::fit(&waits, &waits).rate, 3.0);
    let counts = mean_of(&many(n, || random.poisson(2.5)));
    near(Poisson::fit(&counts, &counts).mean, 2.5);
    let failures = mean_of(&many(n, || (libm::log(random.uniform()) / libm::log(0.8)).floor()));
    near(Geometric::fit(&failures, &failures).success, 0.2);
    let trials = mean_of(&many(n, || (0..20).filter(|_| random.uniform() < 0.3).count() as f64));
    near(Binomial::fit_class(&trials, &trials, Some(20)).success, 0.3);
    let binomial = Binomial::fit_class(&trials, &trials, None);
    near(binomial.success * binomial.trials, 6.0);
    let incomes = &LogNormal::fit(&alone(&many(n, || libm::exp(3.0 + 0.5 * random.normal()))))[0];
    near(incomes.of_ln.location, 3.0);
    near(incomes.of_ln.scale, 0.5);
    // The sum of four exponential waits of rate 2.
    let gamma = Gamma::fit_all(&alone(&many(n, || (0..4).map(|_| random.exponential() / 2.0).sum())))[0];
    near(gamma.shape, 4.0);
    near(gamma.rate, 2.0);
    let range = Uniform::fit(&alone(&many(n, || 5.0 + 2.0 * random.uniform())))[0];
    near(range.low, 5.0);
    near(range.high, 7.0);
    let humps =
        many(n, || if random.uniform() < 0.3 { random.normal() } else { 10.0 + 2.0 * random.normal() });
    let mixture = &Mixture::fit(&alone(&humps))[0];
    let [(share, low), (_, high)] = mixture.humps[..] else { panic!("{:?}", mixture.humps) };
    near(share, 0.3);
    near(low.mean + 10.0, 10.0);
    near(high.mean, 10.0);
    near(high.variance, 4.0);
    let fine = [
        NumberFamily::EqualWidth(60),
        NumberFamily::EqualFrequency(60),
        NumberFamily::Histogram,
        NumberFamily::Proportional,
    ];
    for family in fine.into_iter().chain([NumberFamily::Kernel, NumberFamily::Silverman]) {
        let curve = of(family, &humps);
        for x in [-1.0, 0.0, 7.0, 10.0, 12.0] {
            let normal = |mean: f64, deviation: f64| {
                let z = (x - mean) / deviation;
                libm::exp(-0.5 * z * z) / (deviation * libm::sqrt(2.0 * PI))
            };
            let truth = 0.3 * normal(0.0, 1.0) + 0.7 * normal(10.0, 2.0);
            let found = libm::exp(curve.ln(x)[0]);
            assert!((found / truth - 1.0).abs() < 0.2, "{} at {x}: {found}, {truth}", family.name());
        }
    }
}

#[test]
fn shares_of_single_numbers_and_of_supervised_bins_are_found_again() {
    let mut random = Random(11);
    let near = |found: f64, expected: f64, what: &str| {
        assert!((found / expected - 1.0).abs() < 0.05, "{what}: {found} {expected}")
    };
    let draw = |u: f64| {
        if u < 0.1 {
            1.0
        } else if u < 0.3 {
            2.5
        } else if u < 0.6 {
            7.0
        } else {
            50.0
        }
    };
    let four = many(40_000, || draw(random.uniform()));
    let values = fitted(NumberFamily::Values, &[&four, &[]]);
    for (x, share) in [(1.0, 0.1), (2.5, 0.2), (7.0, 0.3), (50.0, 0.4)] {
        near(libm::exp(values.ln(x)[0]), share, "values");
    }
    // Classes that are even on either side of a threshold: one cut is found, and how much of each class lies below.
    let mut side = |below: f64| {
        many(20_000, || if random.uniform() < below { random.uniform() } else { 1.0 + random.uniform() })
    };
    let (a, b) = (side(0.9), side(0.2));
    let bins = fitted(NumberFamily::Mdl, &[&a, &b]);
    for (class, below) in [(0, 0.9), (1, 0.2)] {
        near(libm::exp(bins.ln(0.5)[class]), below, "mdl below");
        near(libm::exp(bins.ln(1.5)[class]), 1.0 - below, "mdl above");
    }
}

#[test]
fn the_sensible_family_is_chosen() {
    let mut random = Random(10);
    let n = 3000;
    let mut two = |draw: &mut dyn FnMut(&mut Random, f64) -> f64| {
        let a = many(n, || draw(&mut random, 1.0));
        let b = many(n, || draw(&mut random, 2.0));
        chosen(&[&a, &b])
    };
    let timestamps = two(&mut |random, k| 1.7e9 + 1000.0 * k + 300.0 * random.normal());
    assert_eq!(timestamps.family, NumberFamily::Student);
    let incomes = two(&mut |random, k| libm::exp(10.0 + 0.2 * k + 0.8 * random.normal()));
    assert_eq!(incomes.family, NumberFamily::LogNormal);
    assert!(incomes.better_than_gaussian > Some(0.2), "{incomes:?}");
    assert_eq!(two(&mut |random, k| random.poisson(2.0 * k)).family, NumberFamily::Poisson);
    let five = |random: &mut Random, k: f64| {
        [1.0, 2.0, 10.0, 20.0, 50.0][((random.uniform() * 2.5 * k) as usize).min(4)]
    };
    assert_eq!(two(&mut |random, k| five(random, k)).family, NumberFamily::Values);
    let zeros =
        |random: &mut Random, k: f64| if random.uniform() < 0.9 { 0.0 } else { k * random.exponential() };
    let zeros = two(&mut |random, k| zeros(random, k));
    assert_eq!(zeros.family, NumberFamily::Exponential);
    assert_eq!(zeros.atoms.map(|atoms| atoms.numbers()), Some(vec![0.0]));
    let humps =
        |random: &mut Random, k: f64| random.normal() + if random.uniform() < 0.5 { 10.0 * k } else { 0.0 };
    assert_eq!(two(&mut |random, k| humps(random, k)).family, NumberFamily::Kernel);
    assert_eq!(two(&mut |random, k| k * random.exponential()).family, NumberFamily::Exponential);
    assert_eq!(chosen(&[&[3.0, 3.0], &[3.0]]).family, NumberFamily::Student);
    assert_eq!(chosen(&[&[], &[]]).family, NumberFamily::Student);
}

/// A spectrum of this many different numbers is of cells as wide as a sixteenth of the number, and no family may take the
/// cells for what the numbers are like.
#[test]
fn coarse_cells_are_not_taken_for_humps() {
    let mut random = Random(11);
    let mut five = |draw: &mut dyn FnMut(&mut Random, f64) -> f64| -> Vec<Vec<f64>> {
        (1..=5).map(|k| many(20_000, || draw(&mut random, k.into()))).collect()
    };
    let family = |classes: &[Vec<f64>]| {
        let classes: Vec<&[f64]> = classes.iter().map(Vec::as_slice).collect();
        assert!(!column(&classes).exact);
        chosen(&classes).family
    };
    let normal = five(&mut |random, k| 0.3 * k + (0.4 + 0.3 * k) * random.normal());
    assert_eq!(family(&normal), NumberFamily::Student);
    assert_eq!(family(&five(&mut |random, k| k * random.exponential())), NumberFamily::Exponential);
    assert_eq!(family(&five(&mut |random, k| libm::exp(0.3 * k + random.normal()))), NumberFamily::LogNormal);

    // Who asks for kernels gets nearly the density that the numbers are from.
    let classes: Vec<&[f64]> = normal.iter().map(Vec::as_slice).collect();
    let kernel = fitted(NumberFamily::Kernel, &classes);
    let truth = Normal { mean: 0.3, variance: 0.49 };
    let fresh = many(5000, || truth.mean + 0.7 * random.normal());
    let gap = fresh.iter().map(|&x| truth.ln(x) - kernel.ln(x)[0]).sum::<f64>() / 5000.0;
    assert!(gap < 0.02, "{gap} nats per row");
}

#[test]
fn what_a_family_cannot_have_produced_is_refused() {
    let refusal = |family: NumberFamily, numbers: &[f64]| {
        family.check_column(&column(&[numbers]), true, "x").unwrap_err().to_string()
    };
    assert_eq!(
        refusal(NumberFamily::Poisson, &[1.0, -3.0]),
        "`x` cannot be poisson: it holds -3, which is not a whole number of zero or more; try gaussian, kernel or histogram"
    );
    assert_eq!(
        refusal(NumberFamily::LogNormal, &[1.0, 0.0]),
        "`x` cannot be log-normal: it holds 0, which is not above zero; try exponential, kernel or histogram"
    );
    assert!(refusal(NumberFamily::Geometric, &[0.5]).contains("it holds 0.5"));
    assert!(refusal(NumberFamily::Binomial(Some(3)), &[4.0]).contains("it holds 4"));
    assert!(refusal(NumberFamily::Exponential, &[-1e-9]).contains("-0.000000001"));
    assert!(refusal(NumberFamily::Kernel, &[1e300, -1e300]).contains("too large"));
    assert!(refusal(NumberFamily::Kernel, &[1e-200, -1e-200]).contains("too close together"));
    assert!(NumberFamily::Histogram.check_column(&column(&[&[1e300, -1e300]]), true, "x").is_ok());
    let settings =
        Settings { families: [("x".to_owned(), Family::Categorical)].into(), ..Settings::default() };
    let refused =
        NumberEstimate::new(&statistics(&[&[1.0]]), &settings, "x").err().map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("`x` cannot be categorical: it is a column of numbers"));
}

#[test]
fn numbers_that_no_gaussian_can_measure_are_put_into_bins() {
    let large = |n: usize| {
        let mut numbers = vec![f64::MAX];
        numbers.extend((1..n).map(|i| i as f64));
        chosen(&[&numbers, &[2.0]])
    };
    let bins = |family| Choice { family, better_than_gaussian: None, atoms: None };
    assert_eq!(large(50), bins(NumberFamily::Histogram));
    // Of few rows the histogram would make a single bin, and the column would say nothing.
    assert_eq!(large(10), bins(NumberFamily::Proportional));
    let close: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e-200).collect();
    assert_eq!(chosen(&[&close, &[]]), bins(NumberFamily::Histogram));
    let sums = NumberStatistics { spectrum: None, ..statistics(&[&[f64::MAX, f64::MIN]]) };
    let refused = NumberEstimate::new(&sums, &Settings::default(), "x")
        .err()
        .map_or_else(String::new, |e| e.to_string());
    assert!(refused.contains("`x` cannot be student: its numbers are too large"), "{refused}");
}

#[test]
fn every_family_is_found_by_its_word_and_written_as_before() {
    for &family in NumberFamily::ALL {
        assert_eq!(family.name().parse(), Ok(family));
    }
    assert_eq!("binomial:7".parse(), Ok(NumberFamily::Binomial(Some(7))));
    assert_eq!("equal-width:3".parse(), Ok(NumberFamily::EqualWidth(3)));
    for wrong in ["fish", "gaussian:3", "binomial:0", "equal-width:x", "equal-frequency:"] {
        let families = wrong.parse::<NumberFamily>().unwrap_err();
        assert!(
            families.contains("silverman, mixture, binomial:N, equal-width:N, equal-frequency:N, values"),
            "{families}"
        );
    }
    let written = |family: Family| serde_json::to_string(&family).expect("it can be written");
    for (family, text) in [
        (Family::Bernoulli, r#""bernoulli""#),
        (NumberFamily::LogNormal.into(), r#""log-normal""#),
        (NumberFamily::Mdl.into(), r#""mdl""#),
        (NumberFamily::Binomial(None).into(), r#"{"binomial":null}"#),
        (NumberFamily::EqualWidth(10).into(), r#"{"equal-width":10}"#),
        (Family::Text(crate::settings::TextFamily::ComplementPresence), r#""complement-presence""#),
    ] {
        assert_eq!(written(family), text);
        assert_eq!(serde_json::from_str::<Family>(text).ok(), Some(family));
    }
}

/// Under background smoothing a class without a row still takes its share of what all classes have.
#[test]
fn single_numbers_are_smoothed_by_all_classes_without_a_row() {
    let whole = statistics(&[&[1.0, 1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 2.0, 3.0]]);
    let smoothing = Smoothing::Background(0.75);
    let settings = Settings { numbers: Some(NumberFamily::Values), smoothing, ..Settings::default() };
    let estimate = NumberEstimate::new(&whole, &settings, "x").expect("they are numbers");
    let own = |x: f64, class: usize| estimate.own_without(x, Removed { class, weight: 1.0 }, 0.0);
    for (x, class, count, total, pooled) in
        [(1.0, 0, 2.0, 3.0, 4.0), (2.0, 0, 0.0, 3.0, 4.0), (3.0, 1, 0.0, 4.0, 1.0)]
    {
        let expected = libm::log(0.75 * count / total + 0.25 * pooled / 9.0);
        assert!(
            (own(x, class) - expected).abs() < 1e-15,
            "{x} in class {class}: {} {expected}",
            own(x, class)
        );
    }
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![
        3 => -100.0..100.0f64,
        2 => (-5i32..5).prop_map(f64::from),
        1 => prop_oneof![Just(1e9), Just(1e-9), Just(-1e6), Just(1e15)],
    ];
    prop::collection::vec(number, 0..40)
}

fn counts() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0..50u32).prop_map(f64::from), 0..30)
}

/// Numbers and the weights of their rows.
pub(super) fn weighted() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let number = prop_oneof![3 => -100.0..100.0f64, 2 => (-5i32..5).prop_map(f64::from)];
    let weight = prop_oneof![3 => Just(1.0), 1 => Just(0.25), 1 => Just(3.0), 1 => Just(0.1)];
    prop::collection::vec((number, weight), 0..25)
}

pub(super) fn weighted_statistics(classes: &[&[(f64, f64)]]) -> NumberStatistics {
    let mut statistics = NumberStatistics::empty(true);
    statistics.grow(classes.len());
    let NumberStatistics { moments, spectrum } = &mut statistics;
    for (class, rows) in classes.iter().enumerate() {
        for &(x, weight) in *rows {
            moments[class].add(x, weight);
            spectrum.as_mut().expect("it is kept").add(x, class as u32, weight);
        }
    }
    statistics.canonical(&(0..classes.len()).collect::<Vec<_>>())
}

/// What lies in each bin.
fn counts_in(bins: &Bins, numbers: &Numbers) -> Vec<f64> {
    let mut counts = vec![0.0; bins.len()];
    numbers.cells.iter().for_each(|cell| counts[bins.bin(cell.value)] += cell.weight);
    counts
}

/// Without code of its own a family is fitted anew, from all that was counted but the row.
#[test]
fn a_family_that_has_nothing_better_is_fitted_anew() {
    let (a, rest, b) = ([1.0, 2.0, 4.0, 9.0], [1.0, 2.0, 9.0], [3.0, 5.0]);
    let whole = statistics(&[&a, &b]);
    let settings = Settings { numbers: Some(NumberFamily::Student), ..Settings::default() };
    let mut estimate = NumberEstimate::new(&whole, &settings, "x").unwrap();
    estimate.own = OnceLock::from(None);
    let found = estimate.own_without(4.0, Removed { class: 0, weight: 1.0 }, 0.0);
    assert_eq!(found, fitted(NumberFamily::Student, &[&rest, &b]).ln(4.0)[0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_farther_outlier_never_scores_higher(a in numbers(), b in numbers(), steps in prop::collection::vec(1e-3..1e6f64, 1..8)) {
        let column = column(&[&a, &b]);
        let families = CONTINUOUS.into_iter().filter(|&family| {
            !is_of_positive(family) || column.pooled.least() > 0.0
        });
        for family in families {
            let fitted = fitted(family, &[&a, &b]);
            for sign in [1.0, -1.0] {
                let mut x = if sign > 0.0 { column.pooled.greatest() } else { column.pooled.least() };
                // A kernel falls from where its last hump is, which is known to a quarter of its width.
                for (_, bandwidths) in fitted.parameters().iter().filter(|(name, _)| *name == "bandwidth") {
                    x += sign * bandwidths.iter().copied().fold(0.0, f64::max);
                }
                let mut before = vec![f64::INFINITY; 2];
                for step in &steps {
                    x += sign * step * step;
                    let now = fitted.ln(x);
                    prop_assert!(now.iter().all(|ln| !ln.is_nan()));
                    prop_assert!(now.iter().zip(&before).all(|(now, before)| now <= before || sign < 0.0 && is_of_positive(family)), "{} at {x}: {now:?} {before:?}", family.name());
                    before = now;
                }
            }
        }
    }

    #[test]
    fn a_larger_count_than_any_never_scores_higher(a in counts(), b in counts(), steps in prop::collection::vec(1..1000u32, 1..8)) {
        let greatest = column(&[&a, &b]).pooled.greatest().max(0.0);
        for family in [NumberFamily::Poisson, NumberFamily::Geometric, NumberFamily::Binomial(None), NumberFamily::Binomial(Some(100_000)), NumberFamily::Values] {
            let fitted = fitted(family, &[&a, &b]);
            let (mut x, mut before) = (greatest, fitted.ln(greatest));
            for step in &steps {
                x += f64::from(*step);
                let now = fitted.ln(x);
                prop_assert!(now.iter().zip(&before).all(|(now, before)| now <= before), "{} at {x}: {now:?} {before:?}", family.name());
                before = now;
            }
        }
    }

    /// Of what is left of the row's own class, fitted anew from exact sums, with all that classes share as all rows say.
    #[test]
    fn leaving_a_row_out_is_fitting_its_class_without_it(
        a in weighted(), b in weighted(), pick in any::<prop::sample::Index>(), positive in any::<bool>(),
    ) {
        prop_assume!(!a.is_empty());
        let sign = |rows: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            rows.into_iter().map(|(x, weight)| (if positive { x.abs() + 0.5 } else { x }, weight)).collect()
        };
        let (a, b) = (sign(a), sign(b));
        let i = pick.index(a.len());
        let mut rest = a.clone();
        let (x, weight) = rest.remove(i);
        let whole = weighted_statistics(&[&a, &b]);
        let left = NumberColumn::read(&weighted_statistics(&[&rest, &b]), None);
        let column = NumberColumn::read(&whole, None);
        let removed = Removed { class: 0, weight };
        let settings = Settings { smoothing: Smoothing::Lidstone(0.5), ..Settings::default() };
        let smoother = Smoother::new(&settings, "x");
        let (left, everybody) = (&left.classes[0], &column.pooled);
        let mut families = vec![
            (NumberFamily::Gaussian, Normal::floored(left, everybody, settings.variance_floor).ln(x)),
            (NumberFamily::Student, Belief::of(&column).updated(left).ln(x)),
            (NumberFamily::EqualWidth(4), {
                let bins = Bins::new(&column, histogram::equal_width(&column, 4));
                let mut fewer = bins.clone();
                fewer.counts = vec![counts_in(&bins, left)];
                Smoothed::new(&fewer, &smoother).ln(&fewer, 0, bins.bin(x), 0.0) + bins.ln_within(bins.bin(x), x)
            }),
            (NumberFamily::Values, {
                let weight_of = |numbers: &Numbers| numbers.cells.iter().filter(|cell| cell.value == x).map(|cell| cell.weight).sum::<f64>();
                let total: f64 = left.cells.iter().map(|cell| cell.weight).sum();
                libm::log((weight_of(left) + 0.5) / (total + 0.5 * everybody.cells.len() as f64))
            }),
            (NumberFamily::Uniform, {
                let (background, share) = (Background::of(&column), Share::of_weight(left.weight));
                let missing = (0.5 * (column.resolution().unwrap_or(1.0) - (left.greatest() - left.least()))).max(0.0);
                let (low, high) = (left.least() - missing, left.greatest() + missing);
                let inside = !left.cells.is_empty() && low <= x && x <= high;
                background.ln_with(x, &share, if inside { 1.0 / (high - low) } else { 0.0 })
            }),
        ];
        if positive {
            families.extend([
                (NumberFamily::Exponential, Exponential::fit(left, everybody).ln(x)),
                (NumberFamily::LogNormal, {
                    let logarithms = log_normal::logarithms(&column);
                    let ln_x = libm::log(x);
                    Belief::of(&logarithms).updated(&left.map(libm::log)).ln(ln_x) - ln_x
                }),
                (NumberFamily::Gamma, Gamma::fit(LogMean::of(left), LogMean::of(everybody)).ln(x)),
            ]);
        }
        for (family, expected) in families {
            let settings = Settings { numbers: Some(family), ..settings.clone() };
            let estimate = NumberEstimate::new(&whole, &settings, "x").unwrap();
            let counted = estimate.fitted.ln(x);
            let mut found = counted.clone();
            estimate.leave_out(&[x], &[(0, removed)], &mut found);
            prop_assert!((found[0] - expected).abs() <= 1e-10 * expected.abs().max(1.0), "{}: {} {}", family.name(), found[0], expected);
            prop_assert_eq!(found[1], counted[1]);
            // Nobody is more probable for having been left out. A range with its imagined rows is no maximum of anything.
            let holds = family != NumberFamily::Uniform && family != NumberFamily::Gamma;
            prop_assert!(!holds || found[0] <= counted[0] + 1e-9 * counted[0].abs().max(1.0), "{}: {} {}", family.name(), found[0], counted[0]);
        }
    }

    /// Counts of events, for the families of counts.
    #[test]
    fn leaving_a_count_out_is_fitting_its_class_without_it(a in counts(), b in counts(), pick in any::<prop::sample::Index>()) {
        prop_assume!(!a.is_empty());
        let i = pick.index(a.len());
        let mut rest = a.clone();
        let x = rest.remove(i);
        let (whole, left) = (statistics(&[&a, &b]), &column(&[&rest, &b]).classes[0]);
        let everybody = &column(&[&a, &b]).pooled;
        for (family, expected) in [
            (NumberFamily::Poisson, Poisson::fit(left, everybody).ln(x)),
            (NumberFamily::Geometric, Geometric::fit(left, everybody).ln(x)),
            (NumberFamily::Binomial(None), Binomial::fit_class(left, everybody, None).ln(x)),
        ] {
            let settings = Settings { numbers: Some(family), ..Settings::default() };
            let estimate = NumberEstimate::new(&whole, &settings, "x").unwrap();
            let found = estimate.own_without(x, Removed { class: 0, weight: 1.0 }, 0.0);
            prop_assert!(found == expected || (found - expected).abs() <= 1e-10 * expected.abs().max(1.0), "{}: {found} {expected}", family.name());
        }
    }

    /// Kernels that are not taken together, added up one by one under the bandwidth of all rows.
    #[test]
    fn leaving_a_row_out_takes_its_kernel_away(steps in prop::collection::vec(8.0..9.0f64, 12..20), b in numbers(), pick in any::<prop::sample::Index>()) {
        let a: Vec<f64> = steps.iter().scan(0.0, |x, step| { *x += step; Some(*x) }).collect();
        let x = a[pick.index(a.len())];
        let (whole, column) = (statistics(&[&a, &b]), column(&[&a, &b]));
        prop_assume!(column.pooled.variance.is_finite());
        let settings = Settings { numbers: Some(NumberFamily::Silverman), ..Settings::default() };
        let estimate = NumberEstimate::new(&whole, &settings, "x").unwrap();
        let [("bandwidth", bandwidths)] = &estimate.fitted.parameters()[..] else { panic!() };
        let h = bandwidths[0];
        prop_assume!(h < 32.0); // otherwise neighbours share a kernel
        let others = a.iter().filter(|&&v| v != x && (x - v).abs() <= 5.0 * h);
        let height = |v: &f64| libm::exp(-0.5 * (x - v) * (x - v) / h / h) / (libm::sqrt(2.0 * PI) * h);
        let density = others.map(height).sum::<f64>() / (a.len() - 1) as f64;
        let share = Share::of_weight((a.len() - 1) as f64);
        let counted = estimate.fitted.ln(x)[0];
        let expected = Background::of(&column).ln_with(x, &share, density).min(counted);
        let found = estimate.own_without(x, Removed { class: 0, weight: 1.0 }, counted);
        prop_assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1.0), "{found} {expected}");
    }

    /// Trees and mixtures: from what is left in bins, and from the sums of humps less what they had of the row.
    #[test]
    fn leaving_a_row_out_takes_its_share_away(a in numbers(), b in numbers(), pick in any::<prop::sample::Index>()) {
        prop_assume!(a.len() > 1);
        let i = pick.index(a.len());
        let mut rest = a.clone();
        let x = rest.remove(i);
        let (whole, column, left) = (statistics(&[&a, &b]), column(&[&a, &b]), column(&[&rest, &b]));
        let own = |family: NumberFamily| {
            let settings = Settings { numbers: Some(family), ..Settings::default() };
            let estimate = NumberEstimate::new(&whole, &settings, "x").unwrap();
            estimate.own_without(x, Removed { class: 0, weight: 1.0 }, estimate.fitted.ln(x)[0])
        };
        let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-10 * expected.abs().max(1.0);
        let tree = Tree::fit(&column);
        let mut fewer = tree.clone();
        fewer.bins.counts = vec![counts_in(&tree.bins, &left.classes[0])];
        let expected = fewer.ln_of(0, tree.bins.bin(x)) + tree.bins.ln_within(tree.bins.bin(x), x);
        prop_assert!(near(own(NumberFamily::Histogram), expected), "{} {expected}", own(NumberFamily::Histogram));
        let (n, mixture) = (a.len() as f64, &Mixture::fit(&column)[0]);
        let density: f64 = mixture.humps.iter().map(|(share, hump)| share * libm::exp(hump.ln(x))).sum();
        prop_assume!(density > 0.0);
        let least = mixture::least_variance(&column.classes[0], &column);
        let humps = mixture.humps.iter().map(|(share, hump)| {
            let (had, part) = (share * n, share * libm::exp(hump.ln(x)) / density);
            // Sums about x, so that the row itself adds nothing to them.
            let (sum, square) = (had * (hump.mean - x), had * (hump.variance + (hump.mean - x) * (hump.mean - x)));
            let left = had - part;
            let variance = (square / left - (sum / left) * (sum / left)).max(least);
            (had, left, left / (n - 1.0), Normal { mean: x + sum / left, variance })
        });
        let humps: Vec<_> = humps.collect();
        // Where a hump was hardly more than the row, no digits are left of it.
        prop_assume!(humps.iter().all(|(had, left, _, hump)| left / had > 0.01 && hump.variance > 1e-3 * (x - hump.mean) * (x - hump.mean)));
        let density = humps.iter().map(|(_, _, share, hump)| share * libm::exp(hump.ln(x))).sum();
        let expected = Background::of(&column).ln_with(x, &Share::of_weight(n - 1.0), density);
        prop_assert!((own(NumberFamily::Mixture) - expected).abs() < 1e-6, "{} {expected}", own(NumberFamily::Mixture));
    }

    #[test]
    fn taking_a_row_out_is_never_having_seen_it(a in numbers(), b in numbers(), pick in any::<prop::sample::Index>()) {
        prop_assume!(!a.is_empty());
        let settings = Settings::default();
        let i = pick.index(a.len());
        let mut rest = a.clone();
        let x = rest.remove(i);
        let whole = statistics(&[&a, &b]);
        let without = column(&[&rest, &b]);
        let removed = Removed { class: 0, weight: 1.0 };
        for family in [NumberFamily::Gaussian, NumberFamily::Student, NumberFamily::Kernel, NumberFamily::Histogram, NumberFamily::Mixture, NumberFamily::Mdl, NumberFamily::Values, NumberFamily::Uniform] {
            let smoother = Smoother::new(&settings, "x");
            let expected = family.fit(&without, &how(&settings, &smoother)).ln(x);
            let column = NumberColumn::read(&whole, Some((x, removed)));
            let found = family.fit(&column, &how(&settings, &smoother)).ln(x);
            let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&found), bits(&expected), "{}", family.name());
        }
    }
}

//! What every family of numbers must do: densities that add up to one, parameters found again, outliers in order.

use std::f64::consts::PI;

use proptest::prelude::*;

use super::*;
use crate::settings::VarianceFloor;

/// A column whose classes have shown these numbers.
pub(super) fn column(classes: &[&[f64]]) -> NumberColumn {
    NumberColumn::read(&statistics(classes), None)
}

fn statistics(classes: &[&[f64]]) -> NumberStatistics {
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

fn fitted(family: Family, classes: &[&[f64]]) -> Fitted {
    let settings = Settings { variance_floor: VarianceFloor::Relative(1e-9), ..Settings::default() };
    let smoother = Smoother::new(&settings, "x");
    Fitted::new(&column(classes), family, &settings, &smoother)
}

fn chosen(classes: &[&[f64]]) -> Choice {
    choose::choose(&column(classes), &Smoother::new(&Settings::default(), "x"), true)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// Between 0 and 1, neither of them.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        libm::sqrt(-2.0 * libm::log(self.uniform())) * libm::cos(2.0 * PI * self.uniform())
    }

    fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Knuth's way: how many exponential waits fit into a time.
    fn poisson(&mut self, mean: f64) -> f64 {
        let (mut time, mut events) = (self.exponential(), 0.0);
        while time < mean {
            time += self.exponential();
            events += 1.0;
        }
        events
    }
}

fn many(n: usize, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    (0..n).map(|_| draw()).collect()
}

const CONTINUOUS: [Family; 14] = [
    Family::Gaussian,
    Family::Student,
    Family::Exponential,
    Family::LogNormal,
    Family::Gamma,
    Family::Uniform,
    Family::Histogram,
    Family::EqualWidth(10),
    Family::EqualFrequency(7),
    Family::Proportional,
    Family::Mdl,
    Family::Kernel,
    Family::Silverman,
    Family::Mixture,
];

/// Three classes of positive numbers: plenty, a few, and two.
fn three_classes() -> [Vec<f64>; 3] {
    let mut random = Random(7);
    [many(400, || libm::exp(random.normal())), vec![0.5, 2.0, 2.0, 7.0], vec![1.0, 1.5]]
}

/// The area under a density, in the variable t with x = centre + sinh t, so that tails are within reach; pieces are
/// cut at the jumps of the histograms by going in small steps.
fn area(density: impl Fn(f64) -> f64, centre: f64) -> f64 {
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
            let allowed = if family == Family::LogNormal && class == 2 { 5e-3 } else { 1e-3 };
            assert!((area - 1.0).abs() < allowed, "{} of class {class}: {area}", family.name());
        }
    }
}

#[test]
fn probabilities_of_counts_add_up_to_one() {
    let mut random = Random(8);
    let classes = [many(300, || random.poisson(3.0)), vec![0.0, 0.0], vec![9.0], vec![]];
    let classes: Vec<&[f64]> = classes.iter().map(Vec::as_slice).collect();
    for family in [Family::Poisson, Family::Geometric, Family::Binomial(None), Family::Binomial(Some(40))] {
        let fitted = fitted(family, &classes);
        for class in 0..classes.len() {
            let sum: f64 = (0..2000).map(|x| libm::exp(fitted.ln(f64::from(x))[class])).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{} of class {class}: {sum}", family.name());
        }
    }
    let values = fitted(Family::Values, &classes);
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
    let of = |family: Family, numbers: &[f64]| fitted(family, &[numbers, &[]]);

    let Fitted::Normal(normal) = of(Family::Gaussian, &many(n, || 100.0 + 4.0 * random.normal())) else {
        panic!()
    };
    near(normal.mean[0], 100.0);
    near(normal.variance[0], 16.0);
    let Fitted::Student(student) = of(Family::Student, &many(n, || 100.0 + 4.0 * random.normal())) else {
        panic!()
    };
    near(student[0].location, 100.0);
    near(student[0].scale, 4.0);
    let Fitted::Exponential(waits) = of(Family::Exponential, &many(n, || random.exponential() / 3.0)) else {
        panic!()
    };
    near(waits[0].rate, 3.0);
    let Fitted::Poisson(counts) = of(Family::Poisson, &many(n, || random.poisson(2.5))) else { panic!() };
    near(counts[0].mean, 2.5);
    let geometric = many(n, || (libm::log(random.uniform()) / libm::log(0.8)).floor());
    let Fitted::Geometric(failures) = of(Family::Geometric, &geometric) else { panic!() };
    near(failures[0].success, 0.2);
    let trials = many(n, || (0..20).filter(|_| random.uniform() < 0.3).count() as f64);
    let Fitted::Binomial(successes) = of(Family::Binomial(Some(20)), &trials) else { panic!() };
    near(successes[0].success, 0.3);
    let Fitted::Binomial(successes) = of(Family::Binomial(None), &trials) else { panic!() };
    near(successes[0].success * successes[0].trials, 6.0);
    let logs = many(n, || libm::exp(3.0 + 0.5 * random.normal()));
    let Fitted::LogNormal(incomes) = of(Family::LogNormal, &logs) else { panic!() };
    near(incomes[0].of_ln.location, 3.0);
    near(incomes[0].of_ln.scale, 0.5);
    // The sum of four exponential waits of rate 2.
    let waits = many(n, || (0..4).map(|_| random.exponential() / 2.0).sum());
    let Fitted::Gamma(gamma) = of(Family::Gamma, &waits) else { panic!() };
    near(gamma[0].shape, 4.0);
    near(gamma[0].rate, 2.0);
    let Fitted::Uniform(range) = of(Family::Uniform, &many(n, || 5.0 + 2.0 * random.uniform())) else {
        panic!()
    };
    near(range[0].low, 5.0);
    near(range[0].high, 7.0);
    let humps =
        many(n, || if random.uniform() < 0.3 { random.normal() } else { 10.0 + 2.0 * random.normal() });
    let Fitted::Mixture(mixture) = of(Family::Mixture, &humps) else { panic!() };
    let [(share, low), (_, high)] = mixture[0].humps[..] else { panic!("{:?}", mixture[0].humps) };
    near(share, 0.3);
    near(low.mean + 10.0, 10.0);
    near(high.mean, 10.0);
    near(high.variance, 4.0);
    let fine = [Family::EqualWidth(60), Family::EqualFrequency(60), Family::Histogram, Family::Proportional];
    for family in fine.into_iter().chain([Family::Kernel, Family::Silverman]) {
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
    let values = fitted(Family::Values, &[&four, &[]]);
    for (x, share) in [(1.0, 0.1), (2.5, 0.2), (7.0, 0.3), (50.0, 0.4)] {
        near(libm::exp(values.ln(x)[0]), share, "values");
    }
    // Classes that are even on either side of a threshold: one cut is found, and how much of each class lies below.
    let mut side = |below: f64| {
        many(20_000, || if random.uniform() < below { random.uniform() } else { 1.0 + random.uniform() })
    };
    let (a, b) = (side(0.9), side(0.2));
    let bins = fitted(Family::Mdl, &[&a, &b]);
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
    assert_eq!(timestamps.family, Family::Student);
    let incomes = two(&mut |random, k| libm::exp(10.0 + 0.2 * k + 0.8 * random.normal()));
    assert_eq!(incomes.family, Family::LogNormal);
    assert!(incomes.better_than_gaussian > 0.2, "{incomes:?}");
    assert_eq!(two(&mut |random, k| random.poisson(2.0 * k)).family, Family::Poisson);
    let five = |random: &mut Random, k: f64| {
        [1.0, 2.0, 10.0, 20.0, 50.0][((random.uniform() * 2.5 * k) as usize).min(4)]
    };
    assert_eq!(two(&mut |random, k| five(random, k)).family, Family::Values);
    let zeros =
        |random: &mut Random, k: f64| if random.uniform() < 0.9 { 0.0 } else { k * random.exponential() };
    assert_eq!(two(&mut |random, k| zeros(random, k)).family, Family::Histogram);
    let humps =
        |random: &mut Random, k: f64| random.normal() + if random.uniform() < 0.5 { 10.0 * k } else { 0.0 };
    assert_eq!(two(&mut |random, k| humps(random, k)).family, Family::Kernel);
    assert_eq!(two(&mut |random, k| k * random.exponential()).family, Family::Exponential);
    assert_eq!(chosen(&[&[3.0, 3.0], &[3.0]]).family, Family::Student);
    assert_eq!(chosen(&[&[], &[]]).family, Family::Student);
}

/// A spectrum of so many different numbers is of cells as wide as a sixteenth of the number, and no family may take the
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
    assert_eq!(family(&normal), Family::Student);
    assert_eq!(family(&five(&mut |random, k| k * random.exponential())), Family::Exponential);
    assert_eq!(family(&five(&mut |random, k| libm::exp(0.3 * k + random.normal()))), Family::LogNormal);

    // Who asks for kernels gets nearly the density that the numbers are from.
    let classes: Vec<&[f64]> = normal.iter().map(Vec::as_slice).collect();
    let kernel = fitted(Family::Kernel, &classes);
    let truth = Normal { mean: 0.3, variance: 0.49 };
    let fresh = many(5000, || truth.mean + 0.7 * random.normal());
    let gap = fresh.iter().map(|&x| truth.ln(x) - kernel.ln(x)[0]).sum::<f64>() / 5000.0;
    assert!(gap < 0.02, "{gap} nats per row");
}

#[test]
fn what_a_family_cannot_have_produced_is_refused() {
    let refusal = |family: Family, numbers: &[f64]| {
        check_support(&column(&[numbers]), true, family, "x").unwrap_err().to_string()
    };
    assert_eq!(
        refusal(Family::Poisson, &[1.0, -3.0]),
        "`x` cannot be poisson: it holds -3, which is not a whole number of zero or more; try gaussian, kernel or histogram"
    );
    assert_eq!(
        refusal(Family::LogNormal, &[1.0, 0.0]),
        "`x` cannot be log-normal: it holds 0, which is not above zero; try exponential, kernel or histogram"
    );
    assert!(refusal(Family::Geometric, &[0.5]).contains("it holds 0.5"));
    assert!(refusal(Family::Binomial(Some(3)), &[4.0]).contains("it holds 4"));
    assert!(refusal(Family::Exponential, &[-1e-9]).contains("-0.000000001"));
    assert!(refusal(Family::Kernel, &[1e300, -1e300]).contains("too large"));
    assert!(refusal(Family::Categorical, &[1.0]).contains("a column of numbers"));
    assert!(check_support(&column(&[&[1e300, -1e300]]), true, Family::Histogram, "x").is_ok());
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_farther_outlier_never_scores_higher(a in numbers(), b in numbers(), steps in prop::collection::vec(1e-3..1e6f64, 1..8)) {
        let column = column(&[&a, &b]);
        let families = CONTINUOUS.into_iter().filter(|&family| {
            let positive = matches!(family, Family::Exponential | Family::LogNormal | Family::Gamma);
            !positive || column.pooled.least() > 0.0
        });
        for family in families {
            let fitted = fitted(family, &[&a, &b]);
            for sign in [1.0, -1.0] {
                let mut x = if sign > 0.0 { column.pooled.greatest() } else { column.pooled.least() };
                // A kernel falls from where its last hump is, which is known to a quarter of its width.
                if let Fitted::Kernel(kernel) = &fitted {
                    x += sign * kernel.classes.iter().map(|class| class.bandwidth).fold(0.0, f64::max);
                }
                let mut before = vec![f64::INFINITY; 2];
                for step in &steps {
                    x += sign * step * step;
                    let now = fitted.ln(x);
                    prop_assert!(now.iter().all(|ln| !ln.is_nan()));
                    prop_assert!(now.iter().zip(&before).all(|(now, before)| now <= before || sign < 0.0 && family == Family::Exponential), "{} at {x}: {now:?} {before:?}", family.name());
                    before = now;
                }
            }
        }
    }

    #[test]
    fn a_larger_count_than_any_never_scores_higher(a in counts(), b in counts(), steps in prop::collection::vec(1..1000u32, 1..8)) {
        let greatest = column(&[&a, &b]).pooled.greatest().max(0.0);
        for family in [Family::Poisson, Family::Geometric, Family::Binomial(None), Family::Binomial(Some(100_000)), Family::Values] {
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
        for family in [Family::Gaussian, Family::Student, Family::Kernel, Family::Histogram, Family::Mixture, Family::Mdl, Family::Values, Family::Uniform] {
            let smoother = Smoother::new(&settings, "x");
            let expected = Fitted::new(&without, family, &settings, &smoother).ln(x);
            let column = NumberColumn::read(&whole, Some((x, removed)));
            let found = Fitted::new(&column, family, &settings, &smoother).ln(x);
            let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&found), bits(&expected), "{}", family.name());
        }
    }
}

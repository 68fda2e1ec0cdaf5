//! Every sum against exact fractions, every path against every other.

use num_rational::BigRational;
use num_traits::{Signed, Zero};
use proptest::prelude::*;

use super::engine::Engine;
use super::kernel::Sweep;
use super::*;

/// Values that have gone wrong somewhere: of all magnitudes, subnormal, signed zeros, and plain ones.
fn hostile() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
        (any::<i64>(), -60i32..60).prop_map(|(bits, exponent)| bits as f64 * 2f64.powi(exponent)),
        (-1000i32..1000).prop_map(f64::from),
        -1e3..1e3f64,
        prop::sample::select(vec![
            0.0,
            -0.0,
            5e-324,
            -5e-324,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            1e300,
            1e-300
        ]),
    ]
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![(1i32..20).prop_map(f64::from), 0.0..2.0f64, Just(1.0)]
}

fn exact(x: f64) -> BigRational {
    BigRational::from_float(x).unwrap()
}

/// Whether `value` is the f64 nearest to `true_value`, ties to even.
fn assert_nearest(value: f64, true_value: &BigRational) {
    // Beyond the largest f64 lies 2^1024, were there one; half of the way there rounds to infinity.
    let two_to_970 = exact(2f64.powi(970));
    if value.is_infinite() {
        assert_eq!(value > 0.0, true_value.is_positive());
        assert!(true_value.abs() >= exact(f64::MAX) + two_to_970);
        return;
    }
    let distance = |x: f64| match x.is_finite() {
        true => (exact(x) - true_value).abs(),
        false => (exact(f64::MAX.copysign(x)) + &two_to_970 * exact(2f64.copysign(x)) - true_value).abs(),
    };
    for neighbour in [value.next_up(), value.next_down()] {
        let (here, there) = (distance(value), distance(neighbour));
        assert!(
            here < there || here == there && value.to_bits() & 1 == 0,
            "{neighbour:e} is nearer than {value:e}"
        );
    }
}

fn bytes(moments: &[Moments]) -> Vec<u8> {
    let mut out = Vec::new();
    moments.iter().for_each(|cell| cell.write(&mut out));
    out
}

fn moments_of(values: &[(f64, f64)]) -> Moments {
    let mut moments = Moments::default();
    values.iter().for_each(|&(x, w)| moments.add(x, w));
    moments
}

proptest! {
    #[test]
    fn sums_mean_and_variance_are_the_nearest(values in prop::collection::vec((hostile(), weight()), 0..25)) {
        let moments = moments_of(&values);
        let total = |term: &dyn Fn(&BigRational, BigRational) -> BigRational| {
            values.iter().fold(BigRational::zero(), |sum, &(x, w)| sum + term(&exact(x), exact(w)))
        };
        let (n, s, q) = (total(&|_, w| w), total(&|x, w| w * x), total(&|x, w| w * x * x));
        for (wide, truth) in [(&moments.weight, &n), (&moments.sum, &s), (&moments.sum_of_squares, &q)] {
            assert_nearest(wide.value(), truth);
            prop_assert_eq!(wide.is_zero(), truth.is_zero());
            prop_assert_eq!(wide.is_negative(), truth.is_negative());
            prop_assert_eq!(wide.is_positive(), truth.is_positive());
        }
        if n.is_zero() {
            prop_assert_eq!((moments.mean(), moments.variance()), (None, None));
        } else {
            assert_nearest(moments.mean().unwrap(), &(&s / &n));
            assert_nearest(moments.variance().unwrap(), &((&n * q - &s * &s) / (&n * &n)));
        }
    }

    #[test]
    fn order_parts_and_detours_leave_no_trace(
        mut values in prop::collection::vec((hostile(), weight()), 0..30),
        others in prop::collection::vec((hostile(), weight()), 0..30),
        cut in any::<prop::sample::Index>(),
    ) {
        let straight = moments_of(&values);
        let cut = cut.index(values.len() + 1);
        values.rotate_left(cut);
        let mut detour = moments_of(&values[cut..]);
        detour.merge(&moments_of(&others));
        detour.merge(&moments_of(&values[..cut]));
        detour.subtract(&moments_of(&others));
        prop_assert_eq!(&detour, &straight);
        prop_assert_eq!(bytes(&[detour]), bytes(&[straight]));
    }

    #[test]
    fn a_product_is_the_nearest(x in hostile(), y in hostile(), w in hostile()) {
        let (mut product, mut weighted) = (ExactSum::default(), ExactSum::default());
        product.add_product(x, y);
        weighted.add_weighted_product(w, x, y);
        assert_nearest(product.value(), &(exact(x) * exact(y)));
        assert_nearest(weighted.value(), &(exact(x) * exact(y) * exact(w)));
    }

    #[test]
    fn a_covariance_is_the_nearest(pairs in prop::collection::vec((hostile(), hostile(), weight()), 1..20)) {
        let [mut n, mut x, mut y, mut xy] = [0; 4].map(|_| ExactSum::default());
        let mut truth = [0; 4].map(|_| BigRational::zero());
        for &(a, b, w) in &pairs {
            n.add(w);
            x.add_product(w, a);
            y.add_product(w, b);
            xy.add_weighted_product(w, a, b);
            let terms = [exact(w), exact(w) * exact(a), exact(w) * exact(b), exact(w) * exact(a) * exact(b)];
            truth.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        let [sum_w, sum_x, sum_y, sum_xy] = truth;
        prop_assume!(n.is_positive());
        let expected = (&sum_w * sum_xy - sum_x * sum_y) / (&sum_w * &sum_w);
        assert_nearest(covariance(&n, &x, &y, &xy), &expected);
    }

    #[test]
    fn weighting_a_sum_is_weighting_its_values(values in prop::collection::vec(hostile(), 0..20), w in hostile()) {
        let mut whole = Moments::default();
        let plain: Vec<_> = values.iter().map(|&x| (x, 1.0)).collect();
        whole.merge_weighted(w, &moments_of(&plain));
        let weighted: Vec<_> = values.iter().map(|&x| (x, w)).collect();
        prop_assert_eq!(whole, moments_of(&weighted));
    }

    #[test]
    fn bytes_are_short_and_read_back(values in prop::collection::vec((hostile(), weight()), 0..20)) {
        let moments = moments_of(&values);
        let written = bytes(std::slice::from_ref(&moments));
        let mut rest = &written[..];
        prop_assert_eq!(Moments::read(&mut rest), Some(moments));
        prop_assert!(rest.is_empty());
        prop_assert_eq!(ExactSum::read(&mut &written[..3]), None);
    }

    #[test]
    fn bytes_of_a_stranger_are_refused_or_canonical(noise in prop::collection::vec(any::<u8>(), 0..12)) {
        let mut rest = &noise[..];
        if let Some(wide) = ExactSum::read(&mut rest) {
            let mut again = Vec::new();
            wide.write(&mut again);
            prop_assert_eq!(&again[..], &noise[..noise.len() - rest.len()]);
        }
    }
}

/// Columns of one kind each, as data have them, and one of any kind.
fn column(rows: usize) -> impl Strategy<Value = Vec<f64>> {
    let of = |values: BoxedStrategy<f64>| prop::collection::vec(values, rows);
    prop_oneof![
        of((-4.0..4.0f64).boxed()),
        of((1e9..1e9 + 1.0).boxed()),
        of((0i32..1_000_000).prop_map(f64::from).boxed()),
        of(prop_oneof![9 => Just(0.0), 1 => -1.0..1.0f64].boxed()),
        of(prop_oneof![Just(f64::NAN), -1.0..1.0f64].boxed()),
        of(Just(f64::NAN).boxed()),
        of(prop_oneof![20 => -1.0..1.0f64, 1 => hostile()].boxed()),
        of((-300i32..300).prop_map(|e| 10f64.powi(e)).boxed()),
        of(hostile().boxed()),
    ]
}

fn table() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<u32>, Vec<f64>)> {
    (0usize..200, 1usize..20).prop_flat_map(|(rows, columns)| {
        let class = prop_oneof![8 => 0u32..5, 1 => Just(NO_CLASS), 1 => Just(399)];
        (
            prop::collection::vec(column(rows), columns),
            prop::collection::vec(class, rows),
            prop_oneof![
                prop::collection::vec(weight(), rows),
                prop::collection::vec(prop::sample::select(vec![1.0, 2.0, 0.5]), rows)
            ],
        )
    })
}

/// Row after row.
fn interleave(columns: &[Vec<f64>]) -> Vec<f64> {
    (0..columns[0].len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

/// What every path must come to.
fn one_by_one(columns: &[Vec<f64>], ids: &[u32], weights: &[f64], classes: usize) -> Vec<Moments> {
    let mut cells = vec![Moments::default(); columns.len() * classes];
    for (c, column) in columns.iter().enumerate() {
        for (row, (&x, &id)) in column.iter().zip(ids).enumerate().filter(|(_, (_, id))| **id != NO_CLASS) {
            cells[c * classes + id as usize].add(x, weights.get(row).copied().unwrap_or(1.0));
        }
    }
    cells
}

/// Σ w x y of every pair, product by product.
fn products_one_by_one(columns: &[Vec<f64>], ids: &[u32], weights: &[f64], classes: usize) -> Vec<ExactSum> {
    let mut products = vec![ExactSum::default(); classes * products::pair_count(columns.len())];
    for (row, &id) in ids.iter().enumerate().filter(|(_, id)| **id != NO_CLASS) {
        let first = id as usize * products::pair_count(columns.len());
        for i in 0..columns.len() {
            for j in 0..i {
                let (x, y) = (columns[i][row], columns[j][row]);
                if !x.is_nan() && !y.is_nan() {
                    let weight = weights.get(row).copied().unwrap_or(1.0);
                    products[first + products::pair(i, j)].add_weighted_product(weight, x, y);
                }
            }
        }
    }
    products
}

fn assert_all_paths_agree(columns: &[Vec<f64>], ids: &[u32], classes: usize) {
    let expected = one_by_one(columns, ids, &[], classes);
    let products = products_one_by_one(columns, ids, &[], classes);
    let rows = interleave(columns);
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    for values in [Values::Rows(&rows, columns.len()), Values::Columns(&slices)] {
        for engine in Engine::available() {
            let found = Sweep::over(values, ids, classes, engine).unwrap().moments();
            assert_eq!(bytes(&found), bytes(&expected), "{engine:?}");
            let table = Observations { values, classes: ids, weights: &[] };
            assert!(table.products_with(classes, engine).unwrap() == products, "{engine:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whole_tables_are_summed_like_single_values((columns, ids, weights) in table()) {
        let classes = 400; // more than there are rows
        assert_all_paths_agree(&columns, &ids, classes);
        let rows = interleave(&columns);
        let weighted = Observations { values: Values::Rows(&rows, columns.len()), classes: &ids, weights: &weights };
        let expected = one_by_one(&columns, &ids, &weights, classes);
        prop_assert!(weighted.moments(classes).unwrap() == expected);
        let expected = products_one_by_one(&columns, &ids, &weights, classes);
        prop_assert!(weighted.products(classes).unwrap() == expected);
    }
}

/// Pseudorandom numbers for tables too large to be shrunk.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn sums_of_many_rows_are_emptied_in_time() {
    // Just below a power of two every product is as large as it can be.
    let largest = vec![1f64.next_down(); 10_000];
    let mut random = noise(7);
    let alternating = (0..10_000).map(|i| if i % 2 == 0 { 1f64.next_down() } else { -random() }).collect();
    // Ties in every piece: halves of the units 2^-21, 2^-43 and 2^-65.
    let halves =
        (0..10_000).map(|i| [2f64.powi(-22), 2f64.powi(-44), 2f64.powi(-66), 0.999][i % 4] * 1.0).collect();
    assert_all_paths_agree(&[largest, alternating, halves], &vec![0; 10_000], 1);
}

#[test]
fn a_column_may_change_its_scale() {
    let mut random = noise(8);
    let growing = (0..20_000).map(|i| (random() - 0.5) * 2f64.powi(i / 50 - 200)).collect();
    let late = (0..20_000).map(|i| if i < 15_000 { 0.0 } else { random() }).collect();
    let monsters = (0..20_000).map(|i| if i % 1000 == 0 { 1e300 } else { random() }).collect();
    let ids: Vec<u32> = (0..20_000).map(|i| i * 7919 % 3).collect();
    assert_all_paths_agree(&[growing, late, monsters], &ids, 3);
}

#[test]
fn parts_of_any_number_merge_to_the_whole() {
    let mut random = noise(9);
    let (rows, columns, classes) = (6_000, 9, 4);
    let values: Vec<f64> = (0..rows * columns).map(|_| 1e9 + 4.0 * (random() - 0.5)).collect();
    let ids: Vec<u32> = (0..rows).map(|_| (random() * classes as f64) as u32).collect();
    let moments = |from: usize, to: usize| {
        let values = Values::Rows(&values[from * columns..to * columns], columns);
        Observations { values, classes: &ids[from..to], weights: &[] }.moments(classes).unwrap()
    };
    let whole = moments(0, rows);
    for parts in [1, 2, 7, 64] {
        let mut merged = vec![Moments::default(); columns * classes];
        for part in 0..parts {
            let part = moments(part * rows / parts, (part + 1) * rows / parts);
            merged.iter_mut().zip(&part).for_each(|(all, part)| all.merge(part));
        }
        assert_eq!(bytes(&merged), bytes(&whole), "{parts} parts");
    }
}

#[test]
fn a_monster_can_be_added_and_removed() {
    let values: Vec<_> = [0.1, 0.2, 0.3].map(|x| (x, 1.0)).into();
    let mut moments = moments_of(&values);
    moments.merge(&moments_of(&[(1e300, 1.0), (-1e300, 3.0)]));
    moments.subtract(&moments_of(&[(1e300, 1.0), (-1e300, 3.0)]));
    assert_eq!(bytes(&[moments.clone()]), bytes(&[moments_of(&values)]));
    // Σx of 0.1, 0.2 and 0.3 takes seven bytes, as no sum is written longer than its bits.
    assert!(bytes(&[moments]).len() < 50);
}

#[test]
fn a_large_offset_costs_no_digits() {
    // The values lie on a grid of 1/64, so that their deviations from 1e9 are exact.
    let mut random = noise(10);
    let deviations: Vec<f64> =
        (0..5_000).map(|_| ((0..12).map(|_| random()).sum::<f64>() - 6.0) * 4.0).collect();
    let deviations: Vec<f64> = deviations.iter().map(|x| (x * 64.0).round() / 64.0).collect();
    let of = |offset: f64| moments_of(&deviations.iter().map(|x| (offset + x, 1.0)).collect::<Vec<_>>());
    let variance = of(0.0).variance().unwrap();
    assert_eq!(of(1e9).variance(), Some(variance));
    assert!((15.0..17.0).contains(&variance), "{variance}");
}

/// The same numbers as in tests/gaussian.rs, where nothing is rounded but the variance itself.
#[test]
fn a_variance_is_that_of_fractions_to_the_last_place() {
    let fixture = include_str!("../../../../testdata/fractions/offset.csv");
    let of = |name: &str| -> Vec<f64> {
        let lines = fixture.lines().filter_map(|line| line.split_once(','));
        lines.filter(|line| line.0 == name).map(|line| line.1.parse().unwrap()).collect()
    };
    let values: Vec<(f64, f64)> = of("x").into_iter().map(|x| (x, 1.0)).collect();
    let moments = moments_of(&values);
    assert_eq!(
        vec![moments.mean().unwrap(), moments.variance().unwrap()],
        [of("mean"), of("variance")].concat()
    );
}

#[test]
fn the_first_infinite_value_is_named() {
    let mut values = vec![1.0; 3 * 5_000];
    values[3 * 4_000 + 2] = f64::NEG_INFINITY;
    values[3 * 4_500] = f64::INFINITY;
    let mut ids = vec![0; 5_000];
    let find = |ids: &[u32], weights: &[f64]| {
        let table = Observations { values: Values::Rows(&values, 3), classes: ids, weights };
        assert_eq!(table.products(1).err(), table.moments(1).err());
        table.moments(1).err()
    };
    let first = Infinite { row: 4_000, column: 2, value: f64::NEG_INFINITY };
    assert_eq!(find(&ids, &[]), Some(first));
    let weights: Vec<f64> = (0..5_000).map(|i| 1.0 + f64::from(i)).collect();
    assert_eq!(find(&ids, &weights), Some(first));
    ids[4_000] = NO_CLASS;
    assert_eq!(find(&ids, &[]), Some(Infinite { row: 4_500, column: 0, value: f64::INFINITY }));
    ids[4_500] = NO_CLASS;
    assert_eq!(find(&ids, &[]), None);
}

#[test]
fn empty_tables_have_empty_moments() {
    let empty = Observations { values: Values::Rows(&[], 2), classes: &[], weights: &[] };
    assert_eq!(empty.moments(3).unwrap(), vec![Moments::default(); 6]);
    let no_class =
        Observations { values: Values::Rows(&[1.0, 2.0], 2), classes: &[NO_CLASS], weights: &[2.0] };
    assert_eq!(no_class.moments(3).unwrap(), vec![Moments::default(); 6]);
    for weights in [&[][..], &[0.5, 2.0]] {
        let no_columns = Observations { values: Values::Columns(&[]), classes: &[0, 1], weights };
        assert_eq!(no_columns.moments(2).unwrap(), vec![]);
        assert_eq!(no_columns.products(2).unwrap(), vec![]);
    }
    assert_eq!(no_class.products(3).unwrap(), vec![ExactSum::default(); 3]);
    assert_eq!(bytes(&[Moments::default()]).len(), 16);
}

use proptest::prelude::*;

use super::key::number;
use super::*;

fn spectrum(rows: &[(f64, u32)]) -> Spectrum {
    let mut spectrum = Spectrum::default();
    rows.iter().for_each(|&(x, class)| spectrum.add(x, class, 1.0));
    spectrum
}

fn picture(spectrum: &Spectrum) -> (u32, Vec<Cell>, Vec<f64>) {
    let canonical = spectrum.canonical(&[0, 1, 2]);
    (canonical.level, canonical.cells.clone(), canonical.counts.cells().collect())
}

/// SplitMix64, as a number between 0 and 1.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn cells_are_called_by_their_shortest_number() {
    for x in [0.0, 40.0, -7.0, 99.9, 0.003467, 15024.0, -1e300, 5e-324, f64::MAX] {
        assert_eq!(shortest_number(ordered_bits(x), 0), x);
        for level in [1, 20, 35, 40] {
            let shortest = shortest_number(ordered_bits(x) >> level, level);
            assert_eq!(ordered_bits(shortest) >> level, ordered_bits(x) >> level);
        }
    }
    assert_eq!(shortest_number(ordered_bits(99.9) >> 38, 38), 99.9);
    assert_eq!(shortest_number(ordered_bits(0.0) >> 40, 40), 0.0);
}

#[test]
fn keys_sort_as_numbers_do_and_give_them_back() {
    let numbers = [f64::MIN, -1.5, -1e-310, 0.0, 5e-324, 1.0, 1.0 + f64::EPSILON, 1e300, f64::MAX];
    assert!(numbers.windows(2).all(|pair| ordered_bits(pair[0]) < ordered_bits(pair[1])));
    assert!(numbers.iter().all(|&x| number(ordered_bits(x), 0) == x));
    assert_eq!(ordered_bits(-0.0), ordered_bits(0.0));
}

#[test]
fn rows_together_are_counted_as_one_by_one() {
    let mut random = uniform(2);
    // Tiny ones, both zeros, ever larger ones, and late classes.
    let mut draw = |i: u32| match i % 7 {
        0 => -0.0,
        1 => 0.0,
        2 => -1e-310 * random(),
        3 => f64::from(i) * random(),
        _ => libm::log(random()),
    };
    let mixed = (0..40_000).map(|i| (draw(i), i % 2 + u32::from(i > 30_000))).collect();
    // Nothing but tiny ones: the window reaches down to zero.
    let tiny = (0..40_000).map(|i| (if i % 3 == 0 { -0.0 } else { 1e-315 * (random() - 0.5) }, 0)).collect();
    for rows in [mixed, tiny] {
        let rows: Vec<(f64, u32)> = rows;
        let values: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let classes: Vec<u32> = rows.iter().map(|row| row.1).collect();
        // Looked up one by one or counted, a level at a time or with the level of many rows foreseen, weighed or not.
        for (together, is_weighed) in [(100, false), (1000, false), (40_000, false), (40_000, true)] {
            let weights = vec![1.0; if is_weighed { together } else { 0 }];
            let mut observed = Spectrum::default();
            let parts = values.chunks(together).zip(classes.chunks(together));
            parts.for_each(|(values, classes)| observed.observe(values, classes, &weights));
            assert!(observed.level > 0);
            assert!(picture(&observed) == picture(&spectrum(&rows)));
        }
    }
}

#[test]
fn few_numbers_are_kept_as_they_are() {
    let rows: Vec<(f64, u32)> = (0..20_000).map(|i| (f64::from(i % 1000) * 0.1, i % 3)).collect();
    let spectrum = spectrum(&rows).canonical(&[0, 1, 2]);
    assert_eq!(spectrum.level(), 0);
    let by_class = spectrum.by_class(3, None);
    assert_eq!(by_class[0][1], Weighed { value: 0.1, weight: 6.0, width: 0.0 });
}

#[test]
fn many_numbers_are_told_apart_as_finely_as_their_own_spread_needs() {
    let mut random = uniform(1);
    type Shape = (&'static str, fn(f64) -> f64, f64);
    // The largest gap between a number and the middle of its cell, as a share of the quartile range.
    let shapes: [Shape; 4] = [
        ("timestamps", |u| 1.7e9 + 2000.0 * u, 2e-3),
        ("around zero", |u| libm::log(u / (1.0 - u)), 2e-2),
        ("heavy tail", |u| 1.0 / (u * u), 4e-3),
        ("whole numbers", |u| (u * 1e6).floor(), 4e-3),
    ];
    for (name, shape, precision) in shapes {
        let rows: Vec<(f64, u32)> = (0..60_000).map(|i| (shape(random()), i % 2)).collect();
        let spectrum = spectrum(&rows);
        assert!(spectrum.level > 0 && spectrum.cells.len() <= MOST_SPECTRUM_CELLS, "{name}");
        assert!(spectrum.cells.len() > MOST_SPECTRUM_CELLS / 5, "{name}: {} cells", spectrum.cells.len());
        let mut sorted: Vec<f64> = rows.iter().map(|row| row.0).collect();
        sorted.sort_by(f64::total_cmp);
        let quartiles = sorted[45_000] - sorted[15_000];
        let gap = |x: f64| (x - number(ordered_bits(x) >> spectrum.level, spectrum.level)).abs();
        let worst = sorted[15_000..45_000].iter().map(|&x| gap(x)).fold(0.0, f64::max);
        assert!(worst <= precision * quartiles, "{name}: {}", worst / quartiles);
    }
}

#[test]
fn the_level_depends_on_the_numbers_alone() {
    let mut random = uniform(2);
    let rows: Vec<(f64, u32)> = (0..30_000).map(|i| (random() - 0.5, i % 3)).collect();
    let whole = spectrum(&rows);
    let mut backwards = rows.clone();
    backwards.reverse();
    assert_eq!(picture(&spectrum(&backwards)), picture(&whole));
    for parts in [2, 7, 64] {
        let mut merged = Spectrum::default();
        for part in rows.chunks(rows.len().div_ceil(parts)) {
            merged.merge(&spectrum(part), &[0, 1, 2], 1.0);
        }
        assert_eq!(picture(&merged), picture(&whole), "{parts} parts");
    }
    // What is taken away leaves the weights of the rest, at the level of the whole.
    let mut rest = whole.clone();
    rest.merge(&spectrum(&rows[..10_000]), &[0, 1, 2], -1.0);
    let mut expected = spectrum(&rows[10_000..]);
    expected.raise(whole.level);
    assert_eq!(picture(&rest), picture(&expected));
    assert_eq!(whole.first_shortfall(&spectrum(&rows[..10_000]), &[Some(0), Some(1), Some(2)]), None);
    assert!(rest.first_shortfall(&whole, &[Some(0), Some(1), Some(2)]).is_some());
}

#[test]
fn of_thousands_of_classes_only_signs_are_left() {
    let classes = MOST_SPECTRUM_CELLS as u32 + 1_000;
    let rows: Vec<(f64, u32)> = (0..4 * classes).map(|i| (f64::from(i) - 9_000.0, i * 5 % classes)).collect();
    let all: Vec<usize> = (0..classes as usize).collect();
    let whole = spectrum(&rows).canonical(&all);
    assert_eq!((whole.level, whole.cells.len()), (MOST_DROPPED, 2 * classes as usize));
    let mut merged = spectrum(&rows[..100]);
    merged.merge(&spectrum(&rows[100..]), &all, 1.0);
    assert_eq!(merged.canonical(&all).cells, whole.cells);
    let again = Spectrum::from_parts(whole.level, whole.cells.clone(), whole.counts.clone());
    assert_eq!(again.unwrap().cells, whole.cells);
    // At any other level there would have been room.
    assert!(Spectrum::from_parts(MOST_DROPPED - 1, whole.cells.clone(), whole.counts).is_none());
}

#[test]
fn what_is_missing_is_in_no_cell() {
    for classes in [1, 1_000, 3_000] {
        let of_row: Vec<u32> = (0..20_000).map(|i| i % classes).collect();
        let values: Vec<f64> =
            (0..20_000).map(|i| if i % 7 == 0 { f64::NAN } else { f64::from(i) * 1e300 - 1e304 }).collect();
        let mut spectrum = Spectrum::default();
        values.chunks(5_000).zip(of_row.chunks(5_000)).for_each(|(x, class)| spectrum.observe(x, class, &[]));
        let counted: f64 = spectrum.counts.cells().sum();
        assert_eq!(counted, values.iter().filter(|x| !x.is_nan()).count() as f64, "{classes} classes");
    }
}

proptest! {
    #[test]
    fn anything_finite_fits(values in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 0..200), repeat in 1u64..200) {
        // Multiplying by powers of two spreads the values over all magnitudes without making new mantissas.
        let mut spectrum = Spectrum::default();
        for (i, &x) in values.iter().enumerate() {
            for j in 0..repeat {
                let y = x * libm::exp2(j as f64 * 3.0 - 300.0);
                if y.is_finite() {
                    spectrum.add(y, (i % 3) as u32, 1.0);
                }
            }
        }
        prop_assert!(spectrum.cells.len() <= MOST_SPECTRUM_CELLS);
        let canonical = spectrum.canonical(&[0, 1, 2]);
        prop_assert!(canonical.by_class(3, None).concat().iter().all(|cell| cell.value.is_finite()));
    }
}

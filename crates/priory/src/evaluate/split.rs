//! Which rows train and which test: stratified by class, seeded, decided row by row as the data stream past.
//!
//! The choice depends on the seed and, for each class, on the order of its rows; on nothing else. The generator is
//! our own, so that the same seed means the same split on every platform and in every version.
//!
//! Where rows come in groups, the first row of a group decides for all of it.

use crate::batch::{Batch, MISSING};
use crate::error::{Error, Result};
use crate::hash::fnv1a;
use crate::vocabulary::Vocabulary;
use hashbrown::HashMap;

/// More folds than this are refused: leaving one row out at a time is both cheaper and more thorough.
pub const MOST_FOLDS: usize = 1000;

/// Deals rows to k folds: of every k consecutive rows of a class, each fold gets one, in random order. So the rows
/// of a class are spread over the folds evenly to within one row, whenever the data end.
///
/// ```
/// use priory::Batch;
/// use priory::evaluate::Folds;
///
/// let batch = Batch::from_rows(&[("a", [None]), ("a", [None]), ("b", [None]), ("a", [None])]);
/// let folds = Folds::new(3, 1)?.assign(&batch);
/// let mut of_a = [folds[0], folds[1], folds[3]];
/// of_a.sort();
/// assert_eq!(of_a, [Some(0), Some(1), Some(2)]);
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Folds {
    k: usize,
    seed: u64,
    classes: Vocabulary,
    dealing: Vec<Dealing>,
    groups: Groups<usize>,
}

/// Where one class stands: the block it is in, and the folds that are still to be dealt there.
#[derive(Debug, Clone, Default)]
struct Dealing {
    blocks: u64,
    left: Vec<u16>,
}

impl Folds {
    /// A new deal.
    ///
    /// # Errors
    /// If there are fewer than 2 folds or more than [`MOST_FOLDS`].
    pub fn new(k: usize, seed: u64) -> Result<Self> {
        if !(2..=MOST_FOLDS).contains(&k) {
            return Err(Error::Settings(format!("{k} folds were asked for; it takes 2 to {MOST_FOLDS}")));
        }
        let (classes, dealing, groups) = (Vocabulary::default(), Vec::new(), Groups::default());
        Ok(Folds { k, seed, classes, dealing, groups })
    }

    /// How many folds there are.
    pub fn count(&self) -> usize {
        self.k
    }

    /// The fold of every row of the next batch. Rows that nothing is learnt from, for want of a class or of
    /// weight, have none.
    pub fn assign(&mut self, batch: &Batch) -> Vec<Option<usize>> {
        let (k, seed) = (self.k, self.seed);
        let Folds { classes, dealing, groups, .. } = self;
        assign(classes, dealing, groups, batch, |name, dealing| {
            if dealing.left.is_empty() {
                let mut random = Random::new(seed, name, dealing.blocks);
                dealing.left.extend(0..k as u16);
                (1..k).for_each(|i| dealing.left.swap(i, random.below(i as u64 + 1) as usize));
                dealing.blocks += 1;
            }
            dealing.left.pop().map_or(0, usize::from)
        })
    }
}

/// Sets a share of the rows aside for testing.
///
/// Of each class, of every 1/fraction consecutive rows one is picked at random, so that the share is right to
/// within one row, whenever the data end. (Above one half, it is the rows for training that are picked so.) The
/// first row of a class always trains: a class of a single row is better learnt than asked for.
///
/// ```
/// use priory::Batch;
/// use priory::evaluate::Holdout;
///
/// let batch = Batch::from_rows(&[("a", [None]), ("a", [None]), ("b", [None])]);
/// assert_eq!(Holdout::new(0.5, 1)?.assign(&batch), [Some(false), Some(true), Some(false)]);
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Holdout {
    fraction: f64,
    seed: u64,
    classes: Vocabulary,
    picking: Vec<Picking>,
    groups: Groups<bool>,
}

/// Where one class stands: its rows so far, and the stretch in which one row is picked.
#[derive(Debug, Clone, Default)]
struct Picking {
    rows: u64,
    stretches: u64,
    stretch_end: u64,
    picked: u64,
}

impl Holdout {
    /// A new choice, with this share of the rows for testing.
    ///
    /// # Errors
    /// If the fraction does not lie between 0 and 1.
    pub fn new(fraction: f64, seed: u64) -> Result<Self> {
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(Error::Settings(format!(
                "the share for testing is {fraction}; it lies between 0 and 1"
            )));
        }
        let (classes, picking, groups) = (Vocabulary::default(), Vec::new(), Groups::default());
        Ok(Holdout { fraction, seed, classes, picking, groups })
    }

    /// Whether each row of the next batch is for testing. Rows that nothing is learnt from, for want of a class or
    /// of weight, are for neither.
    pub fn assign(&mut self, batch: &Batch) -> Vec<Option<bool>> {
        let seed = self.seed;
        let picks_tests = self.fraction <= 0.5;
        let share = if picks_tests { self.fraction } else { 1.0 - self.fraction };
        let Holdout { classes, picking, groups, .. } = self;
        assign(classes, picking, groups, batch, |name, picking| {
            if picking.rows == picking.stretch_end {
                picking.next_stretch(share, picks_tests, &mut Random::new(seed, name, picking.stretches));
            }
            let is_picked = picking.rows == picking.picked;
            picking.rows += 1;
            is_picked == picks_tests
        })
    }
}

impl Picking {
    /// Stretch j ends where (j + 1) / share rows have gone by: two of them or more.
    fn next_stretch(&mut self, share: f64, picks_tests: bool, random: &mut Random) {
        let is_first = self.stretches == 0;
        let start = self.rows;
        self.stretches += 1;
        let end = (self.stretches as f64 / share).ceil() as u64; // saturates where the share is next to nothing
        let end = end.max(start + 1);
        self.stretch_end = end;
        self.picked = match (is_first, picks_tests) {
            (true, true) => start + 1 + random.below((end - start).max(2) - 1),
            (true, false) => start,
            (false, _) => start + random.below(end - start),
        };
    }
}

/// What was decided about groups, by the hashes of their names.
type Groups<T> = HashMap<u64, T, foldhash::fast::FixedState>;

/// What `decide` says for every row that counts, with the state of its class; for a row of a group, what it said for the first.
fn assign<S: Default, T: Copy>(
    classes: &mut Vocabulary,
    states: &mut Vec<S>,
    groups: &mut Groups<T>,
    batch: &Batch,
    mut decide: impl FnMut(&str, &mut S) -> T,
) -> Vec<Option<T>> {
    let mut id_of: Vec<Option<usize>> = vec![None; batch.classes.values.len() + 1];
    let mut decisions = Vec::with_capacity(batch.rows);
    for (row, &code) in batch.classes.codes.iter().enumerate() {
        if code == MISSING || batch.weight(row) == 0.0 {
            decisions.push(None);
            continue;
        }
        let group = batch.group(row).map(|name| fnv1a(name.as_bytes()));
        if let Some(known) = group.and_then(|group| groups.get(&group)) {
            decisions.push(Some(*known));
            continue;
        }
        let name = batch.classes.values.name(code as usize - 1);
        let id = *id_of[code as usize].get_or_insert_with(|| classes.intern(name));
        if id == states.len() {
            states.push(S::default());
        }
        let decision = decide(name, &mut states[id]);
        group.map(|group| groups.insert(group, decision));
        decisions.push(Some(decision));
    }
    decisions
}

/// SplitMix64 (Steele, Lea and Flood 2014), started from a seed, a name and a number.
struct Random {
    state: u64,
}

impl Random {
    fn new(seed: u64, name: &str, number: u64) -> Self {
        let mut random = Random { state: seed };
        for part in [fnv1a(name.as_bytes()), number] {
            random.state = random.next() ^ part;
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`: the high half of a product, whose bias is beyond notice for ends like ours.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn batch(classes: &[Option<usize>]) -> Batch {
        let names = classes.iter().map(|class| class.map(|class| ["a", "b", "c"][class]));
        Batch { first_row: 1, rows: classes.len(), classes: names.collect(), ..Batch::default() }
    }

    fn classes() -> impl Strategy<Value = Vec<Option<usize>>> {
        prop::collection::vec(prop::option::weighted(0.9, 0usize..3), 0..300)
    }

    proptest! {
        #[test]
        fn folds_share_every_class_to_within_a_row(classes in classes(), k in 2usize..12, seed in any::<u64>()) {
            let folds = Folds::new(k, seed).unwrap().assign(&batch(&classes));
            for class in 0..3 {
                let mut shares = vec![0; k];
                for (fold, row_class) in folds.iter().zip(&classes) {
                    prop_assert_eq!(fold.is_some(), row_class.is_some());
                    if *row_class == Some(class) {
                        shares[fold.unwrap()] += 1;
                    }
                }
                prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
            }
        }

        #[test]
        fn batches_leave_no_trace(classes in classes(), cut in any::<prop::sample::Index>(), seed in any::<u64>()) {
            let (first, second) = classes.split_at(cut.index(classes.len() + 1));
            let mut folds = Folds::new(5, seed).unwrap();
            let whole = folds.clone().assign(&batch(&classes));
            prop_assert_eq!(whole, [folds.assign(&batch(first)), folds.assign(&batch(second))].concat());
            let mut holdout = Holdout::new(0.3, seed).unwrap();
            let whole = holdout.clone().assign(&batch(&classes));
            prop_assert_eq!(whole, [holdout.assign(&batch(first)), holdout.assign(&batch(second))].concat());
        }

        #[test]
        fn holdout_is_right_to_within_a_row_at_any_time(
            rows in 1usize..500,
            fraction in prop_oneof![0.001..0.999f64, Just(0.5), Just(0.2), Just(0.1), Just(0.3), Just(0.7), Just(1.0 / 3.0)],
            seed in any::<u64>(),
        ) {
            let tests = Holdout::new(fraction, seed).unwrap().assign(&batch(&vec![Some(1); rows]));
            prop_assert_eq!(tests[0], Some(false));
            let mut count = 0;
            for (row, is_test) in tests.iter().enumerate() {
                count += usize::from(*is_test == Some(true));
                let share = (row + 1) as f64 * fraction;
                prop_assert!((count as f64 - share).abs() <= 1.0 + 1e-9, "{} of {}, not {}", count, row + 1, share);
            }
        }
    }

    proptest! {
        #[test]
        fn groups_stay_whole(
            rows in prop::collection::vec((0usize..3, prop::option::weighted(0.9, 0usize..20)), 1..200),
            cut in any::<prop::sample::Index>(),
            seed in any::<u64>(),
        ) {
            let of_rows = |rows: &[(usize, Option<usize>)]| {
                let classes: Vec<_> = rows.iter().map(|row| Some(row.0)).collect();
                let names: Vec<_> = rows.iter().map(|row| row.1.map(|group| format!("g{group}"))).collect();
                Batch { groups: names.iter().map(Option::as_deref).collect(), ..batch(&classes) }
            };
            let (first, second) = rows.split_at(cut.index(rows.len() + 1));
            let mut folds = Folds::new(4, seed).unwrap();
            let mut holdout = Holdout::new(0.3, seed).unwrap();
            let parts = [of_rows(first), of_rows(second)];
            let of_folds: Vec<_> = parts.iter().flat_map(|part| folds.assign(part)).collect();
            let is_test: Vec<_> = parts.iter().flat_map(|part| holdout.assign(part)).collect();
            for (row, (_, group)) in rows.iter().enumerate() {
                let first = rows.iter().position(|other| group.is_some() && other.1 == *group).unwrap_or(row);
                prop_assert_eq!((of_folds[row], is_test[row]), (of_folds[first], is_test[first]));
            }
            // Of groups that begin with the same class, each fold gets about as many.
            for class in 0..3 {
                let mut shares = [0; 4];
                for (row, (_, group)) in rows.iter().enumerate().filter(|(_, of_row)| of_row.0 == class) {
                    if group.is_none() || !rows[..row].iter().any(|other| other.1 == *group) {
                        shares[of_folds[row].unwrap()] += 1;
                    }
                }
                prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn the_split_is_the_same_everywhere() {
        let rows = batch(&[0, 1, 0, 0, 2, 0, 1, 0, 0, 0].map(Some));
        let folds: Vec<usize> = Folds::new(3, 42).unwrap().assign(&rows).into_iter().flatten().collect();
        assert_eq!(folds, EXPECTED_FOLDS);
        let tests: Vec<bool> = Holdout::new(0.3, 42).unwrap().assign(&rows).into_iter().flatten().collect();
        assert_eq!(tests.iter().map(|&test| u8::from(test)).collect::<Vec<_>>(), EXPECTED_TESTS);
    }

    // Worked out apart, by a transcription into Python.
    const EXPECTED_FOLDS: [usize; 10] = [1, 2, 2, 0, 0, 0, 0, 2, 1, 2];
    const EXPECTED_TESTS: [u8; 10] = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0];

    #[test]
    fn every_place_is_as_likely() {
        // 3000 blocks of three: each fold comes first about a thousand times (standard deviation 26).
        let rows = batch(&vec![Some(0); 9000]);
        let folds = Folds::new(3, 7).unwrap().assign(&rows);
        let mut first = [0; 3];
        folds.chunks(3).for_each(|block| first[block[0].unwrap()] += 1);
        assert!(first.iter().all(|count| (900..1100).contains(count)), "{first:?}");
        let tests = Holdout::new(1.0 / 3.0, 7).unwrap().assign(&rows);
        let mut place = [0; 3];
        (0..9000).filter(|&row| tests[row] == Some(true)).for_each(|row| place[row % 3] += 1);
        assert!(place.iter().all(|count| (900..1100).contains(count)), "{place:?}");
    }

    #[test]
    fn weightless_rows_go_nowhere_and_nonsense_is_refused() {
        let mut rows = batch(&[Some(0); 3]);
        rows.weights = vec![1.0, 0.0, 1.0];
        assert_eq!(Folds::new(2, 1).unwrap().assign(&rows)[1], None);
        assert_eq!(Holdout::new(0.5, 1).unwrap().assign(&rows), [Some(false), None, Some(true)]);
        assert!(Folds::new(1, 0).is_err() && Folds::new(MOST_FOLDS + 1, 0).is_err());
        assert!([0.0, 1.0, -0.1, f64::NAN].iter().all(|&fraction| Holdout::new(fraction, 0).is_err()));
        let tiny = Holdout::new(1e-300, 0).unwrap().assign(&rows);
        assert_eq!(tiny, [Some(false), None, Some(false)]);
    }
}

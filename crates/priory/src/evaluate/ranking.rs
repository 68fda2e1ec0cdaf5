//! How the rows of one class rank among the others, in bounded memory: the area under the ROC curve, and all cut-offs.
//!
//! AUC = P(a row of the class scores higher than one that is not), a tie counting half (Mann and Whitney 1947).
//! It needs the weight of positives and negatives at each distinct score, in the order of the scores. There may be
//! as many scores as rows; when there are too many, their low bits are dropped, for the whole class alike, until
//! they fit.
//!
//! Why no split or order shows in the result: the bits to drop are the fewest that leave at most this many distinct
//! scores. Scores only ever join, so a part never drops more than the whole; and dropping some bits first and the
//! rest later is dropping all of them at once. So however the rows came together, the last look at the whole set
//! drops the same bits and finds the same weights, which are exact.

use std::borrow::Cow;

use crate::exact::{ExactSum, two_sum};
use crate::numerics::{bits_to_drop, from_ordered_bits, ordered_bits};

/// Distinct scores kept for a class.
const MOST_SCORES: usize = 1 << 17;

/// Distinct scores kept for all classes together.
const MOST_SCORES_TOGETHER: usize = 1 << 19;

/// Entries that are collected before it is worth sorting them.
const FEW_ENTRIES: usize = 64;

/// How many distinct scores each of this many classes may keep. More classes never means more scores, as the
/// argument above needs.
pub(super) fn most_scores(classes: usize) -> usize {
    (MOST_SCORES_TOGETHER / classes.max(1)).clamp(FEW_ENTRIES, MOST_SCORES)
}

/// How rows of a class rank among the others.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    dropped_bits: u32,
    /// Sorted, and ties added up.
    entries: Vec<Entry>,
    /// What came since, in any order.
    new: Vec<Entry>,
}

/// All rows of a ranking, and what those of the class and the others weigh.
struct Whole<'a> {
    ranking: Cow<'a, Ranking>,
    negatives: f64,
    positives: f64,
}

/// The rows that have a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// Their score, or the lowest that it can be where scores have lost digits.
    pub(super) score: f64,
    /// What rows of the class weigh.
    pub(super) positives: f64,
    /// What the others weigh.
    pub(super) negatives: f64,
}

/// Room to work in that all rankings share; taking memory anew would take longer than what is done with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    entries: Vec<Entry>,
}

/// A term of the weight at a score. Where a weight is too long for one f64 it has several.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    key: u64,
    /// Above zero for rows of the class, below zero for the others.
    weight: f64,
}

impl Ranking {
    /// Adds rows: the score of each, whether it is of the class, and its weight, which is not zero.
    pub(super) fn extend(
        &mut self,
        rows: impl Iterator<Item = (f64, bool, f64)>,
        most_scores: usize,
        scratch: &mut Scratch,
    ) {
        self.new.extend(rows.map(|(score, is_positive, weight)| Entry {
            key: without_low_bits(ordered_bits(score), self.dropped_bits),
            weight: if is_positive { weight } else { -weight },
        }));
        // It takes going through everything that is kept, so there should be enough that is new.
        if self.new.len() >= FEW_ENTRIES.max(self.entries.len()).max(2 * most_scores) {
            self.compact(most_scores, scratch);
        }
    }

    /// Adds the rows of `other`.
    pub(super) fn merge(&mut self, other: &Ranking, most_scores: usize, scratch: &mut Scratch) {
        self.new.extend_from_slice(&other.entries);
        self.new.extend_from_slice(&other.new);
        if other.dropped_bits > self.dropped_bits {
            self.drop_bits(other.dropped_bits);
        }
        self.compact(most_scores, scratch);
    }

    /// The area under the curve, if there are rows of the class and others. Of the rows, which weigh `all`
    /// together, those that never were pushed are negatives that rank below everything.
    pub(super) fn auc(&self, all: &ExactSum, most_scores: usize) -> Option<f64> {
        let Whole { ranking, negatives, positives } = self.whole(all, most_scores);
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        let (mut area, mut below) = (0.0, 0.0);
        for tied in ranking.entries.chunk_by(|a, b| a.key == b.key) {
            let [negative, positive] = tied_weights(tied);
            area += positive * ((below + 0.5 * negative) / negatives);
            below += negative;
        }
        Some((area / positives).min(1.0))
    }

    /// Every score that rows have, from the highest down, and what weighs so much. The rows are as for [`auc`](Self::auc).
    pub(super) fn steps(&self, all: &ExactSum, most_scores: usize) -> Vec<Step> {
        let ranking = self.whole(all, most_scores).ranking;
        let step = |tied: &[Entry]| {
            let [negatives, positives] = tied_weights(tied);
            // What lost its low bits is at least this.
            Step { score: from_ordered_bits(tied[0].key), positives, negatives }
        };
        let mut steps: Vec<Step> = ranking.entries.chunk_by(|a, b| a.key == b.key).map(step).collect();
        steps.reverse();
        steps
    }

    /// All rows, sorted, and what negatives and positives weigh.
    fn whole(&self, all: &ExactSum, most_scores: usize) -> Whole<'_> {
        let (mut whole, mut scratch) = (Cow::Borrowed(self), Scratch::default());
        if !whole.is_compact(most_scores) {
            whole.to_mut().compact(most_scores, &mut scratch);
        }
        let [mut negatives, positives] = weights_of(&whole.entries);
        let mut unranked = all.clone();
        unranked.subtract(&negatives);
        unranked.subtract(&positives);
        if !unranked.is_zero() {
            negatives.merge(&unranked);
            let last = without_low_bits(ordered_bits(f64::NEG_INFINITY), whole.dropped_bits);
            let terms =
                positive_terms(unranked).into_iter().map(|weight| Entry { key: last, weight: -weight });
            whole.to_mut().new.extend(terms);
            whole.to_mut().compact(most_scores, &mut scratch);
        }
        Whole { ranking: whole, negatives: negatives.value(), positives: positives.value() }
    }

    /// How many bits the scores have lost, and key and weight of each entry, all by their bits.
    pub(super) fn carried(&self) -> (u32, Vec<(u64, u64)>) {
        let entries = self.entries.iter().chain(&self.new);
        (self.dropped_bits, entries.map(|entry| (entry.key, entry.weight.to_bits())).collect())
    }

    /// What [`carried`](Self::carried) tells of; `None` if that cannot be.
    pub(super) fn from_carried(dropped_bits: u32, entries: &[(u64, u64)]) -> Option<Self> {
        let entries: Vec<Entry> =
            entries.iter().map(|&(key, weight)| Entry { key, weight: f64::from_bits(weight) }).collect();
        let is_possible = dropped_bits < u64::BITS
            && entries.iter().all(|entry| entry.weight.is_finite() && entry.weight != 0.0)
            && entries.iter().all(|entry| entry.key == without_low_bits(entry.key, dropped_bits));
        // They are put in order before they are used.
        is_possible.then(|| Ranking { dropped_bits, entries: Vec::new(), new: entries })
    }

    fn is_compact(&self, most_scores: usize) -> bool {
        self.new.is_empty() && self.entries.len() <= most_scores
    }

    /// Sorts, adds up what ties, and drops as many bits as it takes.
    pub(super) fn compact(&mut self, most_scores: usize, scratch: &mut Scratch) {
        self.new.sort_unstable_by_key(|entry| entry.key);
        self.add_up_ties(scratch);
        // There are at least as many entries as distinct keys.
        if self.entries.len() > most_scores {
            let differences = self.entries.windows(2).map(|pair| pair[0].key ^ pair[1].key);
            let bits = bits_to_drop(differences, most_scores);
            if bits > self.dropped_bits {
                self.drop_bits(bits);
                self.add_up_ties(scratch);
            }
        }
    }

    /// Brings the new among the others, and leaves one entry for the negatives and one for the positives at each key, or
    /// as many as it takes to be exact. Both are sorted.
    fn add_up_ties(&mut self, scratch: &mut Scratch) {
        let summed = &mut scratch.entries;
        summed.clear();
        let (mut old, mut new) = (&self.entries[..], &self.new[..]);
        while let Some(key) = [old, new].into_iter().filter_map(|some| Some(some.first()?.key)).min() {
            let (old_tied, new_tied) = (leading(&mut old, key), leading(&mut new, key));
            add_up(key, old_tied, new_tied, summed);
        }
        std::mem::swap(&mut self.entries, summed);
        self.new.clear();
    }

    fn drop_bits(&mut self, bits: u32) {
        self.dropped_bits = bits;
        self.entries.iter_mut().for_each(|entry| entry.key = without_low_bits(entry.key, bits));
        self.new.iter_mut().for_each(|entry| entry.key = without_low_bits(entry.key, bits));
    }
}

/// Takes the first entries away, as many as have this key.
#[inline]
fn leading<'a>(entries: &mut &'a [Entry], key: u64) -> &'a [Entry] {
    let count = entries.iter().position(|entry| entry.key != key).unwrap_or(entries.len());
    entries.split_off(..count).unwrap_or_default()
}

/// Appends the sum of what is tied, negatives first.
#[inline]
fn add_up(key: u64, old: &[Entry], new: &[Entry], summed: &mut Vec<Entry>) {
    if let ([alone], []) | ([], [alone]) = (old, new) {
        return summed.push(*alone);
    }
    let sums = sums_without_error(old, [0.0; 2]).and_then(|sums| sums_without_error(new, sums));
    if let Some(sums) = sums {
        let sums = sums.into_iter().filter(|&weight| weight != 0.0);
        return summed.extend(sums.map(|weight| Entry { key, weight }));
    }
    let [mut negative, mut positive] = weights_of(old);
    let [more_negative, more_positive] = weights_of(new);
    negative.merge(&more_negative);
    positive.merge(&more_positive);
    let terms = positive_terms(negative).into_iter().map(|weight| -weight).chain(positive_terms(positive));
    summed.extend(terms.map(|weight| Entry { key, weight }));
}

/// What negatives and positives of one score weigh.
fn tied_weights(tied: &[Entry]) -> [f64; 2] {
    match sums_without_error(tied, [0.0; 2]) {
        Some([negative, positive]) => [-negative, positive],
        None => weights_of(tied).map(|weight| weight.value()),
    }
}

/// The weights of negatives and of positives, the former below zero, and what they are added to, if plain sums lose
/// nothing.
fn sums_without_error(entries: &[Entry], mut sums: [f64; 2]) -> Option<[f64; 2]> {
    for entry in entries {
        let sum = &mut sums[usize::from(entry.weight > 0.0)];
        let (new, error) = two_sum(*sum, entry.weight);
        if error != 0.0 {
            return None;
        }
        *sum = new;
    }
    Some(sums)
}

/// The weights of negatives and of positives.
fn weights_of(entries: &[Entry]) -> [ExactSum; 2] {
    let mut weights = <[ExactSum; 2]>::default();
    // Whole numbers are added up a good many at a time.
    for some in entries.chunks(64) {
        if let Some([negative, positive]) = sums_without_error(some, [0.0; 2]) {
            weights[0].add(-negative);
            weights[1].add(positive);
        } else {
            some.iter().for_each(|entry| weights[usize::from(entry.weight > 0.0)].add(entry.weight.abs()));
        }
    }
    weights
}

/// The one way to write a sum above zero as terms above zero: rounded down, then what remains rounded down, and so on.
fn positive_terms(mut rest: ExactSum) -> Vec<f64> {
    let mut terms = Vec::new();
    while !rest.is_zero() {
        let mut term = rest.value();
        rest.add(-term);
        if rest.is_negative() {
            let below = term.next_down();
            rest.add(term - below);
            term = below;
        }
        terms.push(term);
    }
    terms
}

fn without_low_bits(key: u64, bits: u32) -> u64 {
    key & u64::MAX.checked_shl(bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Row = (f64, bool, f64);

    fn ranking(rows: &[Row], most_scores: usize) -> Ranking {
        let mut ranking = Ranking::default();
        // In stretches of all lengths, as batches are.
        let mut rest = rows;
        for length in (0..5).cycle() {
            let (now, later) = rest.split_at(length.min(rest.len()));
            ranking.extend(now.iter().copied(), most_scores, &mut Scratch::default());
            rest = later;
            if rest.is_empty() {
                return ranking;
            }
        }
        ranking
    }

    fn weight(rows: &[Row]) -> ExactSum {
        rows.iter().map(|row| row.2).collect()
    }

    fn compacted(mut ranking: Ranking, most_scores: usize) -> (u32, Vec<Entry>) {
        ranking.compact(most_scores, &mut Scratch::default());
        (ranking.dropped_bits, ranking.entries)
    }

    fn row() -> impl Strategy<Value = Row> {
        let score = prop_oneof![
            4 => -30.0..30.0f64,
            2 => (-3i32..3).prop_map(f64::from),
            1 => Just(f64::INFINITY),
            1 => Just(f64::NEG_INFINITY),
            1 => (-1e-12..1e-12f64).prop_map(|x| 1.0 + x),
        ];
        (score, any::<bool>(), prop_oneof![Just(1.0), Just(0.1), 1e-3..10.0f64])
    }

    proptest! {
        #[test]
        fn no_split_or_order_shows(
            rows in prop::collection::vec(row(), 1..400),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
            start in any::<prop::sample::Index>(),
            most_scores in 1usize..100,
        ) {
            let whole = ranking(&rows, most_scores);
            let mut turned = rows.clone();
            turned.rotate_left(start.index(rows.len()));
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len())).chain([rows.len()]).collect();
            ends.sort_unstable();
            let mut merged = Ranking::default();
            let mut begin = 0;
            for end in ends {
                // Each part may have kept more scores than the whole will.
                let mut part = ranking(&turned[begin..end], most_scores * 2);
                part.merge(&merged, most_scores + 1, &mut Scratch::default());
                merged = part;
                begin = end;
            }
            let all = weight(&rows);
            prop_assert_eq!(whole.auc(&all, most_scores), merged.auc(&all, most_scores));
            let (whole, merged) = (compacted(whole, most_scores), compacted(merged, most_scores));
            prop_assert!(whole.1.chunk_by(|a, b| a.key == b.key).count() <= most_scores);
            prop_assert_eq!(whole, merged);
        }

        #[test]
        fn area_is_the_share_of_pairs_in_the_right_order(rows in prop::collection::vec(row(), 0..100)) {
            let (mut right, mut pairs) = (0.0, 0.0);
            for a in rows.iter().filter(|row| row.1) {
                for b in rows.iter().filter(|row| !row.1) {
                    pairs += a.2 * b.2;
                    right += a.2 * b.2 * if a.0 > b.0 { 1.0 } else if a.0 == b.0 { 0.5 } else { 0.0 };
                }
            }
            match ranking(&rows, MOST_SCORES).auc(&weight(&rows), MOST_SCORES) {
                None => prop_assert_eq!(pairs, 0.0),
                Some(auc) => prop_assert!((auc - right / pairs).abs() < 1e-12),
            }
        }
    }

    #[test]
    fn dropped_bits_hardly_move_the_area() {
        // Positives lie at i + 0.3, negatives at i: without ties the area is a little above one half.
        let rows: Vec<Row> = (0..20_000u32)
            .map(|i| (f64::from(i / 2) * 1e-3 + if i % 2 == 0 { 3e-4 } else { 0.0 }, i % 2 == 0, 1.0))
            .collect();
        let exact = ranking(&rows, MOST_SCORES).auc(&weight(&rows), MOST_SCORES).unwrap();
        let coarse = ranking(&rows, 1000).auc(&weight(&rows), 1000).unwrap();
        assert!((exact - 0.50005).abs() < 1e-9);
        assert!((exact - coarse).abs() < 1e-3);
    }

    #[test]
    fn memory_stays_bounded() {
        let (mut ranking, mut scratch) = (Ranking::default(), Scratch::default());
        for i in 0..100_000u32 {
            let weight = if i < 50_000 { 0.1 } else { 1.0 };
            ranking.extend(
                [((f64::from(i) * 0.618).fract(), i % 3 == 0, weight)].into_iter(),
                256,
                &mut scratch,
            );
            assert!(ranking.entries.len() + ranking.new.len() <= 2 * 2 * 256 * 4);
        }
    }

    #[test]
    fn rows_never_pushed_rank_last() {
        let all: ExactSum = [3.0].into_iter().collect();
        let one = ranking(&[(f64::NEG_INFINITY, true, 1.0)], 8);
        assert_eq!(one.auc(&all, 8), Some(0.5));
        let one = ranking(&[(-1e300, true, 1.0)], 8);
        assert_eq!(one.auc(&all, 8), Some(1.0));
        assert_eq!(Ranking::default().auc(&all, 8), None);
    }

    #[test]
    fn bits_sort_like_numbers() {
        let sorted = [f64::NEG_INFINITY, -1e300, -1.0, -1e-300, 0.0, 1e-300, 1.0, f64::INFINITY];
        assert!(sorted.map(ordered_bits).is_sorted());
        assert_eq!(ordered_bits(-0.0), ordered_bits(0.0));
        assert_eq!(sorted.map(|x| from_ordered_bits(ordered_bits(x))), sorted);
    }
}

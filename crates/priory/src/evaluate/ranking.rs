//! The area under the ROC curve of one class against the rest, in bounded memory.
//!
//! AUC = P(a row of the class scores higher than one that is not), a tie counting half (Mann and Whitney 1947).
//! It needs the weight of positives and negatives at each distinct score, in the order of the scores. There may be
//! as many scores as rows; when there are too many, their low bits are dropped, for the whole class alike, until
//! they fit.
//!
//! Why no split or order shows in the result: the bits to drop are the fewest that leave at most so many distinct
//! scores. Scores only ever join, so a part never drops more than the whole; and dropping some bits first and the
//! rest later is dropping all of them at once. So however the rows came together, the last look at the whole set
//! drops the same bits and finds the same weights, which are exact.

use crate::exact::ExactSum;

/// Distinct scores kept for a class.
const MOST_SCORES: usize = 1 << 17;

/// Distinct scores kept for all classes together.
const MOST_SCORES_TOGETHER: usize = 1 << 21;

/// Entries that are collected before it is worth sorting them.
const FEW_ENTRIES: usize = 64;

/// How many distinct scores each of so many classes may keep. More classes never means more scores, as the
/// argument above needs.
pub(super) fn most_scores(classes: usize) -> usize {
    (MOST_SCORES_TOGETHER / classes.max(1)).clamp(FEW_ENTRIES, MOST_SCORES)
}

/// How rows of a class rank among the others.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    dropped_bits: u32,
    entries: Vec<Entry>,
    /// Entries left by the last compaction.
    compacted: usize,
}

/// A term of the weight at a score. Where a weight is too long for one f64 it has several.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    key: u64,
    is_positive: bool,
    weight: f64,
}

impl Ranking {
    /// Adds a row. Only rows that weigh something have a place here.
    pub(super) fn push(&mut self, score: f64, is_positive: bool, weight: f64, most_scores: usize) {
        let key = without_low_bits(ordered_bits(score), self.dropped_bits);
        self.entries.push(Entry { key, is_positive, weight });
        if self.entries.len() >= FEW_ENTRIES.max(2 * self.compacted) {
            self.compact(most_scores);
        }
    }

    /// Adds the rows of `other`.
    pub(super) fn merge(&mut self, other: &Ranking, most_scores: usize) {
        self.entries.extend_from_slice(&other.entries);
        self.drop_bits(self.dropped_bits.max(other.dropped_bits));
        self.compact(most_scores);
    }

    /// The area under the curve, if there are rows of the class and others. Of the rows, which weigh `all`
    /// together, those that never were pushed are negatives that rank below everything.
    pub(super) fn auc(&self, all: &ExactSum, most_scores: usize) -> Option<f64> {
        let mut whole = self.clone();
        let mut unranked = all.clone();
        self.entries.iter().for_each(|entry| unranked.add(-entry.weight));
        let last = without_low_bits(ordered_bits(f64::NEG_INFINITY), self.dropped_bits);
        for weight in unranked.canonical_terms() {
            whole.entries.push(Entry { key: last, is_positive: false, weight });
        }
        whole.compact(most_scores);

        let positives = weight_of(&whole.entries, true).value();
        let negatives = weight_of(&whole.entries, false).value();
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        let (mut area, mut below) = (0.0, 0.0);
        for tied in whole.entries.chunk_by(|a, b| a.key == b.key) {
            let negative = weight_of(tied, false).value();
            area += weight_of(tied, true).value() * ((below + 0.5 * negative) / negatives);
            below += negative;
        }
        Some((area / positives).min(1.0))
    }

    /// Sorts, drops as many bits as it takes, and adds up what ties.
    fn compact(&mut self, most_scores: usize) {
        self.entries.sort_by_key(|entry| entry.key);
        self.drop_bits(self.dropped_bits.max(self.bits_to_drop(most_scores)));
        let mut compacted = Vec::with_capacity(self.compacted);
        for tied in self.entries.chunk_by(|a, b| a.key == b.key) {
            if let [alone] = tied {
                compacted.push(*alone);
                continue;
            }
            for is_positive in [false, true] {
                let terms = weight_of(tied, is_positive).canonical_terms();
                compacted.extend(terms.into_iter().map(|weight| Entry {
                    key: tied[0].key,
                    is_positive,
                    weight,
                }));
            }
        }
        self.compacted = compacted.len();
        self.entries = compacted;
    }

    /// The fewest low bits without which at most so many distinct keys remain. The entries are sorted, so two
    /// neighbours become one when the highest bit in which they differ goes.
    fn bits_to_drop(&self, most_scores: usize) -> u32 {
        let mut parted_by = [0usize; 64];
        for pair in self.entries.windows(2) {
            if let Some(bit) = (pair[0].key ^ pair[1].key).checked_ilog2() {
                parted_by[bit as usize] += 1;
            }
        }
        let mut distinct = 1;
        for bit in (0..64).rev() {
            distinct += parted_by[bit as usize];
            if distinct > most_scores {
                return bit + 1;
            }
        }
        0
    }

    fn drop_bits(&mut self, bits: u32) {
        self.dropped_bits = bits;
        self.entries.iter_mut().for_each(|entry| entry.key = without_low_bits(entry.key, bits));
    }
}

fn weight_of(entries: &[Entry], is_positive: bool) -> ExactSum {
    entries.iter().filter(|entry| entry.is_positive == is_positive).map(|entry| entry.weight).collect()
}

/// The bits of a number, turned so that they sort as numbers do: −∞ first, ∞ last, −0 as 0. Numbers of opposite
/// sign mirror each other, whatever is dropped.
fn ordered_bits(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if x < 0.0 { !bits } else { bits | (1 << 63) }
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
        rows.iter()
            .for_each(|&(score, is_positive, weight)| ranking.push(score, is_positive, weight, most_scores));
        ranking
    }

    fn weight(rows: &[Row]) -> ExactSum {
        rows.iter().map(|row| row.2).collect()
    }

    fn compacted(mut ranking: Ranking, most_scores: usize) -> (u32, Vec<Entry>) {
        ranking.compact(most_scores);
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
                part.merge(&merged, most_scores + 1);
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
        let mut ranking = Ranking::default();
        for i in 0..100_000u32 {
            ranking.push((f64::from(i) * 0.618).fract(), i % 3 == 0, 0.1, 256);
            assert!(ranking.entries.len() <= 2 * 2 * 256 * 4);
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
    }
}

//! A sample of the rows that are learnt, to judge by.
//!
//! Which rows are in the sample depends on nothing but what they hold: they are those with the smallest hashes, as many as
//! memory allows. So it does not matter in which order rows come, or on how many threads or machines. Rows that hold the same
//! are in the sample once, with how many there are.
//!
//! The more rows come, the smaller the largest hash of the sample becomes. A row that is in it at the end was never left out
//! before, and all rows that hold the same were counted.

use crate::batch::{Batch, BatchColumn, CategoryColumn, TextColumn};
use crate::families::CountedRow;
use crate::hash::fnv1a;
use crate::schema::Schema;

/// All rows of a sample together take at most as much memory as so many values, each token of a document being one; rows with
/// documents have more of them.
const MOST_VALUES: usize = 1 << 22;
const MOST_VALUES_WITH_TEXT: usize = 1 << 23;

/// What is known of a row beside its values takes as much memory as so many of them.
const VALUES_BESIDE: usize = 4;

/// A sample of rows.
#[derive(Debug, Clone)]
pub(crate) struct RowSample {
    /// What the rows hold; some may be there twice, and some may be too many, until they are [settled](Self::settle).
    batch: Batch,
    /// What is known of each of them.
    rows: Vec<SampledRow>,
    /// How many values they have, and may have.
    values: usize,
    most_values: usize,
    /// Rows with larger hashes are not in the sample.
    largest_hash: u64,
}

#[derive(Debug, Clone, Copy)]
struct SampledRow {
    hash: u64,
    /// How many rows hold the same.
    copies: u64,
    values: usize,
}

/// A sample of which no more rows are expected, in the order of their hashes.
#[derive(Debug)]
pub(crate) struct SettledSample {
    pub(crate) batch: Batch,
    /// How many rows hold the same as each.
    pub(crate) copies: Vec<f64>,
    /// Rows with larger hashes are not in the sample, and all others are.
    pub(crate) largest_hash: u64,
}

impl RowSample {
    /// Of no rows.
    pub(crate) fn new(schema: &Schema) -> Self {
        RowSample::with_most(schema, most_values(schema))
    }

    fn with_most(schema: &Schema, most_values: usize) -> Self {
        let batch = Batch::new(schema);
        RowSample { batch, rows: Vec::new(), values: 0, most_values, largest_hash: u64::MAX }
    }

    /// A sample of these rows, in the order of their hashes, each with how many rows hold the same; `None` if no sample could
    /// be like that.
    pub(crate) fn from_parts(
        schema: &Schema,
        batch: Batch,
        copies: &[u64],
        largest_hash: u64,
    ) -> Option<Self> {
        let most_values = most_values(schema);
        let counted: Vec<CountedRow> =
            (0..batch.rows as u32).map(|row| CountedRow { row, class: 0 }).collect();
        let hashes = hashes_of(&batch, &counted).into_iter().zip(copies);
        let rows: Vec<SampledRow> = hashes
            .enumerate()
            .map(|(row, (hash, &copies))| SampledRow { hash, copies, values: values_of(&batch, row) })
            .collect();
        let values = rows.iter().map(|row| row.values).sum();
        let is_possible = copies.len() == batch.rows
            && rows.is_sorted_by(|a, b| a.hash < b.hash)
            && rows.iter().all(|row| row.hash <= largest_hash && row.copies > 0)
            && (values <= most_values || rows.len() == 1);
        is_possible.then_some(RowSample { batch, rows, values, most_values, largest_hash })
    }

    /// How many rows it has, each counted as often as it occurs.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.iter().map(|row| row.copies).sum()
    }

    /// About how many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.batch.memory() + size_of_val(&self.rows[..])
    }

    /// Adds rows of a batch.
    pub(crate) fn observe(&mut self, batch: &Batch, counted: &[CountedRow]) {
        let mut chosen = Vec::new();
        for (hash, row) in hashes_of(batch, counted).into_iter().zip(counted) {
            if hash <= self.largest_hash {
                let values = values_of(batch, row.row as usize);
                chosen.push(row.row as usize);
                self.rows.push(SampledRow { hash, copies: 1, values });
                self.values += values;
            }
        }
        self.batch.append(batch, &chosen);
        if self.values > 2 * self.most_values {
            self.settle();
        }
    }

    /// The sample of all rows of which these are samples.
    pub(crate) fn merged(schema: &Schema, samples: &[&RowSample]) -> Self {
        let largest_hash = samples.iter().map(|sample| sample.largest_hash).min().unwrap_or(u64::MAX);
        let most_values = samples.iter().map(|sample| sample.most_values).max().unwrap_or(MOST_VALUES);
        let rows = samples.iter().flat_map(|sample| &sample.rows).copied().collect();
        let (_, largest_hash) = kept_of(rows, largest_hash, most_values);
        let mut all = RowSample { largest_hash, ..RowSample::with_most(schema, most_values) };
        for sample in samples {
            let chosen: Vec<usize> =
                (0..sample.rows.len()).filter(|&row| sample.rows[row].hash <= largest_hash).collect();
            all.batch.append(&sample.batch, &chosen);
            all.rows.extend(chosen.iter().map(|&row| sample.rows[row]));
        }
        all.values = all.rows.iter().map(|row| row.values).sum();
        if all.values > 2 * most_values {
            all.settle();
        }
        all
    }

    /// Lets go of rows that are too many, and puts the others in the order of their hashes, each once.
    fn settle(&mut self) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_unstable_by_key(|&row| (self.rows[row].hash, row));
        let mut rows: Vec<SampledRow> = Vec::new();
        let mut places = Vec::new();
        for place in order {
            let row = self.rows[place];
            match rows.last_mut() {
                Some(last) if last.hash == row.hash => last.copies += row.copies,
                _ => {
                    rows.push(row);
                    places.push(place);
                }
            }
        }
        let (kept, largest_hash) = kept_of(rows.clone(), self.largest_hash, self.most_values);
        rows.truncate(kept);
        self.batch = self.batch.select(&places[..kept]);
        self.values = rows.iter().map(|row| row.values).sum();
        (self.rows, self.largest_hash) = (rows, largest_hash);
    }

    /// The sample, if no more rows are expected.
    pub(crate) fn settled(mut self) -> SettledSample {
        self.settle();
        // Of documents that have the same tokens in another order, whichever came first is kept.
        for column in &mut self.batch.columns {
            if let BatchColumn::Text(text) = column {
                text.sort_documents();
            }
        }
        let copies = self.rows.iter().map(|row| row.copies as f64).collect();
        SettledSample { batch: self.batch, copies, largest_hash: self.largest_hash }
    }
}

/// How many values the rows of a table may have in a sample.
fn most_values(schema: &Schema) -> usize {
    let has_text = schema.columns.iter().any(|column| column.text.is_some());
    if has_text { MOST_VALUES_WITH_TEXT } else { MOST_VALUES }
}

/// How many different rows can be kept of these, none of which has a larger hash, and the largest hash that a row may have
/// to be kept: any below that of the first row for which there is no room.
fn kept_of(mut rows: Vec<SampledRow>, largest_hash: u64, most_values: usize) -> (usize, u64) {
    rows.retain(|row| row.hash <= largest_hash);
    rows.sort_unstable_by_key(|row| row.hash);
    rows.dedup_by_key(|row| row.hash);
    let mut values = 0;
    let fits = |row: &&SampledRow| {
        values += row.values;
        values <= most_values
    };
    // One row is kept however many values it has.
    let kept = rows.iter().take_while(fits).count().max(1).min(rows.len());
    match kept == rows.len() {
        true => (kept, largest_hash),
        false => (kept, rows[kept].hash - 1),
    }
}

/// As how many values a row counts.
fn values_of(batch: &Batch, row: usize) -> usize {
    let tokens = batch.columns.iter().map(|column| match column {
        BatchColumn::Text(text) => text.document(row).map_or(0, <[_]>::len),
        BatchColumn::Category(_) | BatchColumn::Number(_) => 1,
    });
    VALUES_BESIDE + tokens.sum::<usize>()
}

/// A hash of what each row holds, its class and its weight.
pub(crate) fn hashes_of(batch: &Batch, counted: &[CountedRow]) -> Vec<u64> {
    let mut hashes: Vec<u64> = counted.iter().map(|row| batch.weight(row.row as usize).to_bits()).collect();
    stir_in_values(&mut hashes, &batch.classes, counted);
    for column in &batch.columns {
        match column {
            BatchColumn::Category(category) => stir_in_values(&mut hashes, category, counted),
            BatchColumn::Number(numbers) => {
                for (hash, row) in hashes.iter_mut().zip(counted) {
                    let x = numbers[row.row as usize];
                    // Numbers that are equal, and those that are missing, have one form each.
                    *hash = mix(*hash, if x.is_nan() { u64::MAX } else { (x + 0.0).to_bits() });
                }
            }
            BatchColumn::Text(text) => stir_in_documents(&mut hashes, text, counted),
        }
    }
    hashes
}

fn stir_in_values(hashes: &mut [u64], category: &CategoryColumn, counted: &[CountedRow]) {
    let mut value_hashes = vec![u64::MAX; category.values.len() + 1];
    for (id, name) in category.values.names().enumerate() {
        value_hashes[id + 1] = fnv1a(name.as_bytes());
    }
    for (hash, row) in hashes.iter_mut().zip(counted) {
        *hash = mix(*hash, value_hashes[category.codes[row.row as usize] as usize]);
    }
}

fn stir_in_documents(hashes: &mut [u64], text: &TextColumn, counted: &[CountedRow]) {
    // The hash of each token that has occurred, zero for the others.
    let mut token_hashes = vec![0; text.tokens().len()];
    for (hash, row) in hashes.iter_mut().zip(counted) {
        let document = text.document(row.row as usize);
        // The tokens of a document have no order that does not depend on the documents before it, so their hashes are added.
        let mut sum = if document.is_none() { u64::MAX } else { 0 };
        for &(token, count) in document.unwrap_or_default() {
            let of_token = &mut token_hashes[token as usize];
            if *of_token == 0 {
                *of_token = fnv1a(text.tokens().name(token as usize).as_bytes()).max(1);
            }
            sum = mix(*of_token, u64::from(count)).wrapping_add(sum);
        }
        *hash = mix(*hash, sum);
    }
}

/// Stirs a value into a hash, so that every bit of both changes about half of the bits of the result.
#[inline]
fn mix(hash: u64, value: u64) -> u64 {
    let mut x = hash.rotate_left(23) ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::judgement::together::weight_units;
    use crate::judgement::{Judging, Tier};
    use crate::schema::{Column, Kind};
    use crate::{Learnt, Settings};

    fn schema() -> Schema {
        let columns = [("x", Kind::Number), ("color", Kind::Category), ("text", Kind::Text)];
        Schema::new("class", columns.map(|(name, kind)| Column::new(name, kind)).to_vec()).unwrap()
    }

    fn batch_of(rows: &[u8]) -> Batch {
        let mut batch = Batch::new(&schema());
        for &row in rows {
            let tokens: Vec<String> = (0..row % 5).map(|i| format!("t{}", (row / 5) ^ i)).collect();
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let color = format!("v{}", row % 3);
            let values = [
                crate::Value::Number(f64::from(row)),
                crate::Value::Category(&color),
                crate::Value::Text(&tokens),
            ];
            batch.push(Some(&format!("c{}", row % 2)), 1.0, &values).unwrap();
        }
        batch
    }

    fn sample_of(rows: &[u8]) -> RowSample {
        let batch = batch_of(rows);
        let counted: Vec<CountedRow> =
            (0..rows.len() as u32).map(|row| CountedRow { row, class: 0 }).collect();
        let mut sample = RowSample::with_most(&schema(), 60);
        sample.observe(&batch, &counted);
        sample
    }

    /// The numbers of the rows, their copies, and the largest hash.
    fn held(sample: RowSample) -> (Vec<f64>, Vec<f64>, u64) {
        let SettledSample { batch, copies, largest_hash } = sample.settled();
        (batch.numbers(0).to_vec(), copies, largest_hash)
    }

    #[test]
    fn rows_beyond_the_sample_are_learnt_and_forgotten_to_the_bit() {
        let rows: Vec<u8> = (0..=255).collect();
        let judged = |parts: &[&[u8]]| {
            let mut learnt = Learnt::empty(&schema(), Settings::default());
            learnt.statistics.sample = Some(Box::new(RowSample::with_most(&schema(), 900)));
            parts.iter().for_each(|part| learnt.learn(&batch_of(part)).unwrap());
            learnt.judge(Judging::Tier(Tier::Full), 2).unwrap();
            learnt
        };
        let mut learnt = judged(&[&rows]);
        let bytes = learnt.to_bytes();
        assert!(judged(&[&rows[100..], &rows[..100]]).to_bytes() == bytes);
        let on_grid = |learnt: &Learnt| learnt.statistics.on_grid.as_ref().unwrap().sums.weight.clone();
        let before: i64 = on_grid(&learnt).iter().sum();
        assert!(before < weight_units(256.0));
        learnt.learn(&batch_of(&rows)).unwrap();
        assert_eq!(on_grid(&learnt).iter().sum::<i64>(), 2 * before);
        learnt.forget(&batch_of(&rows)).unwrap();
        assert!(learnt.to_bytes() == bytes);
        assert!(Learnt::read(&bytes).unwrap().to_bytes() == bytes);
    }

    proptest! {
        #[test]
        fn a_sample_depends_on_the_rows_alone(
            mut rows in prop::collection::vec(any::<u8>(), 1..300),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 2),
        ) {
            let whole = held(sample_of(&rows));
            rows.reverse();
            let (a, b) = (cuts[0].index(rows.len()), cuts[1].index(rows.len()));
            let (a, b) = (a.min(b), a.max(b));
            let parts = [sample_of(&rows[..a]), sample_of(&rows[a..b]), sample_of(&rows[b..])];
            prop_assert_eq!(&held(RowSample::merged(&schema(), &parts.each_ref())), &whole);
            let first = RowSample::merged(&schema(), &[&parts[2], &parts[0]]);
            prop_assert_eq!(&held(RowSample::merged(&schema(), &[&parts[1], &first])), &whole);
            // Every row that is in the sample is there with all its copies.
            let (numbers, copies, _) = whole;
            for (x, copies) in numbers.iter().zip(copies) {
                prop_assert_eq!(rows.iter().filter(|&&row| f64::from(row) == *x).count() as f64, copies);
            }
        }
    }
}

//! Rows of a batch as the terms look them up.

use crate::batch::{Batch, BatchColumn, MISSING};
use crate::judgement::pool::{NEVER_MET, NOWHERE};
use crate::judgement::single::Places;

/// Where the values of a column stand in its counts, for these rows; [`NOWHERE`] if they are
/// missing, and [`NEVER_MET`] if training has not shown them.
pub(crate) fn places_of(places: &Places, batch: &Batch, column: usize, rows: &[u32]) -> Vec<u32> {
    match (places, &batch.columns[column]) {
        (Places::Numbers { level, starts }, BatchColumn::Number(numbers)) => {
            let place = |&row: &u32| match numbers[row as usize] {
                x if x.is_nan() => NOWHERE,
                x => Places::bin(starts, *level, x) as u32,
            };
            rows.iter().map(place).collect()
        }
        (Places::Values(values), BatchColumn::Category(category)) => {
            let mut place_of = vec![NOWHERE; category.values.len() + 1];
            for (id, name) in category.values.names().enumerate() {
                place_of[id + 1] = values.get(name).map_or(NEVER_MET, |value| value as u32);
            }
            place_of[MISSING as usize] = NOWHERE;
            rows.iter().map(|&row| place_of[category.codes[row as usize] as usize]).collect()
        }
        _ => vec![NOWHERE; rows.len()],
    }
}

//! What is counted on a grid, and the judgement: the parts of a file that only a judged model has.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::container::{Container, Section, refused};
use super::{json, parse, read_names_in, write_names};
use crate::error::Result;
use crate::judgement::{Grid, Judgement, OnGrid};
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// The key of the grid in the header, and of the judgement.
pub(super) const GRID: &str = "grid";
pub(super) const JUDGEMENT: &str = "judgement";
/// The section of the root of the covariance of its weights.
const ROOT: &str = "judgement.root";

/// Adds the grid and the sums on it.
pub(super) fn write(
    on_grid: &OnGrid,
    metadata: &mut BTreeMap<&'static str, String>,
    sections: &mut Vec<Section>,
) {
    metadata.insert(GRID, json(&*on_grid.grid));
    let OnGrid { sums, .. } = on_grid;
    sections.push(Section::u64("grid.weight", vec![sums.classes], sums.weight.iter().map(|&x| x as u64)));
    let mut cells = Vec::new();
    sums.cells.iter().for_each(|&cell| write_varint(&mut cells, cell));
    sections.push(Section::bytes("grid.cells", cells));
    let bytes = sums.sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    sections.push(Section::bytes("grid.sums", bytes));
}

/// Reads what [`write`](write()) writes, if it is there.
pub(super) fn read(file: &mut Container<'_>, statistics: &Statistics) -> Result<Option<Box<OnGrid>>> {
    if !file.layout.metadata.contains_key(GRID) {
        return Ok(None);
    }
    let grid: Grid = parse(&file.layout.metadata, GRID)?;
    let classes = statistics.classes.len();
    if !grid.fits(&statistics.schema, classes) {
        return Err(refused("its grid cannot be that of any table".into()));
    }
    let mut on_grid = OnGrid::empty(Arc::new(grid));
    on_grid.sums.grow(classes);
    let contradiction = || refused("what it counts on its grid contradicts itself".into());
    let weight = file.take_u64("grid.weight")?;
    let cells = file.take_bytes("grid.cells")?;
    let sums = file.take_bytes("grid.sums")?;
    let (sums, rest) = sums.as_chunks::<16>();
    if weight.len() != classes || sums.len() != on_grid.sums.sums.len() || !rest.is_empty() {
        return Err(contradiction());
    }
    on_grid.sums.weight = weight.into_iter().map(|weight| weight as i64).collect();
    let mut bytes = &*cells;
    for cell in &mut on_grid.sums.cells {
        *cell = read_varint(&mut bytes).ok_or_else(contradiction)?;
    }
    on_grid.sums.sums.iter_mut().zip(sums).for_each(|(to, bytes)| *to = i128::from_le_bytes(*bytes));
    if !bytes.is_empty() || !on_grid.sums.is_possible() {
        return Err(contradiction());
    }
    Ok(Some(Box::new(on_grid)))
}

/// Adds the judgement.
pub(super) fn write_judgement(
    judgement: &Judgement,
    metadata: &mut BTreeMap<&'static str, String>,
    sections: &mut Vec<Section>,
) {
    metadata.insert(JUDGEMENT, json(judgement));
    for text in &judgement.texts {
        let prefix = format!("judgement.{}", text.column);
        let names = Vocabulary::of_distinct(text.deviations.iter().map(|(token, _)| token.as_str()));
        write_names(sections, &prefix, &names);
        let deviations = text.deviations.iter().map(|(_, deviation)| *deviation);
        sections.push(Section::f64(format!("{prefix}.deviations"), vec![text.deviations.len()], deviations));
    }
    if !judgement.root.is_empty() {
        let bytes = judgement.root.iter().flat_map(|x| x.to_le_bytes()).collect();
        sections.push(Section::bytes(ROOT, bytes));
    }
}

/// Reads the judgement, if there is one.
pub(super) fn read_judgement(file: &mut Container<'_>, statistics: &Statistics) -> Result<Option<Judgement>> {
    if !file.layout.metadata.contains_key(JUDGEMENT) {
        return Ok(None);
    }
    let mut judgement: Judgement = parse(&file.layout.metadata, JUDGEMENT)?;
    let mut is_whole = true;
    for text in &mut judgement.texts {
        let prefix = format!("judgement.{}", text.column);
        let names = read_names_in(file, &prefix, |a, b| a.cmp(b))?;
        let deviations = file.take_f64(&format!("{prefix}.deviations"), 1)?.1;
        is_whole &= names.len() == deviations.len();
        text.deviations = names.names().map(str::to_owned).zip(deviations).collect();
    }
    if file.has(ROOT) {
        let bytes = file.take_bytes(ROOT)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        judgement.root = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        is_whole &= rest.is_empty() && !numbers.is_empty();
    }
    match is_whole && judgement.fits(statistics) {
        true => Ok(Some(judgement)),
        false => Err(refused("its judgement cannot be that of its statistics".into())),
    }
}

/// Seven bits a byte, the lowest first, and the eighth bit set where more follow. Weights are mostly whole, that is, their lowest
/// 16 bits are zero: these come last.
fn write_varint(bytes: &mut Vec<u8>, cell: i64) {
    let mut rest = (cell as u64).rotate_right(16);
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// `None` if the bytes end early, or if there are more than it takes.
fn read_varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let low = u64::from(byte & 0x7f);
        if shift > 63 || low << shift >> shift != low || (byte == 0 && shift > 0) {
            return None;
        }
        value |= low << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(value.rotate_left(16) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_written_in_few_bytes_and_read_again() {
        for (cell, length) in
            [(0, 1), (65_536, 1), (127 * 65_536, 1), (128 * 65_536, 2), (1, 7), (i64::MAX, 10)]
        {
            let mut bytes = Vec::new();
            write_varint(&mut bytes, cell);
            assert_eq!(bytes.len(), length, "{cell}");
            let mut rest = &*bytes;
            assert_eq!((read_varint(&mut rest), rest.len()), (Some(cell), 0));
            for end in 0..length {
                assert_eq!(read_varint(&mut &bytes[..end]), None);
            }
        }
        // Longer than it must be, and too large.
        assert_eq!(read_varint(&mut &[0x80, 0][..]), None);
        assert_eq!(read_varint(&mut &[0xff; 11][..]), None);
    }
}

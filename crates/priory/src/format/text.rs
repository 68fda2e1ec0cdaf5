//! The sections of a column of text: tokens, and for each its cells, the classes that counted it.

use super::container::{Container, Section, refused};
use super::{read_names_in, read_residue, read_tally, write_names, write_residue, write_tally};
use crate::error::Result;
use crate::families::text::table::{TokenCell, TokenTable};
use crate::families::text::{TOTALS, TextStatistics};

/// The sections that grow with the tokens.
pub(super) const WORD_SECTIONS: [&str; 6] = ["ends", "names", "cells", "classes", "documents", "terms"];

pub(super) fn write(sections: &mut Vec<Section>, column: usize, text: &TextStatistics) {
    let prefix = format!("column.{column}");
    let (tokens, cells) = (text.tokens.len(), text.counts.all_cells());
    write_names(sections, &prefix, &text.tokens);
    sections.push(Section::u64(format!("{prefix}.cells"), vec![tokens], text.counts.ends()));
    let classes = text.counts.classes_of_cells();
    sections.push(Section::u16(format!("{prefix}.classes"), vec![cells.len()], classes));
    for (which, name) in ["documents", "terms"].into_iter().enumerate() {
        let name = format!("{prefix}.{name}");
        let counts = cells.clone().map(|cell| if which == 0 { cell.documents } else { cell.terms });
        sections.push(if let Some(counts) = text.counts.whole_counts() {
            Section::u32(&name, vec![cells.len()], counts.map(|counts| counts[which]))
        } else if counts.clone().all(is_small) {
            Section::u32(&name, vec![cells.len()], counts.map(|count| count as u32))
        } else {
            Section::f64(&name, vec![cells.len()], counts)
        });
        write_residue(sections, &name, &text.counts.residue(which).collect::<Vec<_>>());
    }
    write_tally(sections, &format!("{prefix}.totals"), &text.totals);
}

/// Whether a count is a whole number that takes four bytes.
fn is_small(count: f64) -> bool {
    f64::from(count as u32) == count
}

pub(super) fn read(
    file: &mut Container<'_>,
    column: usize,
    text: &mut TextStatistics,
    classes: usize,
) -> Result<()> {
    let prefix = format!("column.{column}");
    let wrong = || refused(format!("the tokens of `{prefix}` are not in canonical form"));
    text.tokens = read_names_in(file, &prefix, |a, b| a.cmp(b))?.into();
    let ends = file.take_u64(&format!("{prefix}.cells"))?;
    let class_of = file.take_u16(&format!("{prefix}.classes"))?;
    if ends.len() != text.tokens.len() {
        return Err(wrong());
    }
    let names = ["documents", "terms"].map(|name| format!("{prefix}.{name}"));
    let residue = [read_residue(file, &names[0])?, read_residue(file, &names[1])?];
    let are_whole = names.iter().all(|name| file.length_of_u32(name) == Some(class_of.len()));
    let counts = if are_whole && residue.iter().all(Vec::is_empty) {
        let mut counts = vec![[0; 2]; class_of.len()];
        for (which, name) in names.iter().enumerate() {
            let mut cells = counts.iter_mut();
            file.show_u32(name, |count| cells.next().expect("as many")[which] = count)?;
        }
        TokenTable::from_whole_cells(classes, &ends, class_of, counts)
    } else {
        let [documents, terms] = [read_counts(file, &names[0])?, read_counts(file, &names[1])?];
        if documents.len() != class_of.len() || terms.len() != class_of.len() {
            return Err(wrong());
        }
        let counts = class_of.into_iter().zip(documents).zip(terms);
        let cells =
            counts.map(|((class, documents), terms)| TokenCell { class: u32::from(class), documents, terms });
        TokenTable::from_cells(classes, &ends, cells, residue.each_ref().map(|residue| &residue[..]))
    };
    text.counts = counts.ok_or_else(wrong)?.into();
    text.totals = read_tally(file, &format!("{prefix}.totals"), TOTALS, classes)?;
    if !text.is_consistent() {
        return Err(refused(format!("the counts of `{prefix}` contradict each other")));
    }
    Ok(())
}

/// Counts, which take four bytes each if all of them can.
fn read_counts(file: &mut Container<'_>, name: &str) -> Result<Vec<f64>> {
    if file.length_of_u32(name).is_some() {
        return Ok(file.take_u32(name, 1)?.1.into_iter().map(f64::from).collect());
    }
    let counts = file.take_f64(name, 1)?.1;
    if counts.iter().all(|&count| is_small(count)) {
        return Err(refused(format!("the counts in `{name}` take more room than they should")));
    }
    Ok(counts)
}

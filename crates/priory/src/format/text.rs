//! The sections of a column of text: tokens, and for each its cells, the classes that counted it.

use super::container::{Container, Numbers, Section, refused};
use super::{read_names_in, read_residue, read_tally, write_names, write_residue, write_tally};
use crate::error::Result;
use crate::families::text::table::{Cell, TokenTable};
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
    let (documents, document_residue) = read_counts(file, &format!("{prefix}.documents"))?;
    let (terms, term_residue) = read_counts(file, &format!("{prefix}.terms"))?;
    if ends.len() != text.tokens.len() || documents.len() != class_of.len() || terms.len() != class_of.len() {
        return Err(wrong());
    }
    let counts = match (documents, terms) {
        (Counts::Small(documents), Counts::Small(terms))
            if document_residue.is_empty() && term_residue.is_empty() =>
        {
            let counts = documents.iter().zip(terms.iter()).map(|(documents, terms)| [documents, terms]);
            TokenTable::from_whole_cells(classes, &ends, class_of, counts.collect())
        }
        (documents, terms) => {
            let counts = class_of.into_iter().zip(documents.wide()).zip(terms.wide());
            let cells =
                counts.map(|((class, documents), terms)| Cell { class: u32::from(class), documents, terms });
            TokenTable::from_cells(classes, &ends, cells, [&document_residue[..], &term_residue[..]])
        }
    };
    text.counts = counts.ok_or_else(wrong)?.into();
    text.totals = read_tally(file, &format!("{prefix}.totals"), TOTALS, classes)?;
    if !text.is_consistent() {
        return Err(refused(format!("the counts of `{prefix}` contradict each other")));
    }
    Ok(())
}

/// Counts take four bytes each if all of them can.
enum Counts<'a> {
    Small(Numbers<'a>),
    Wide(Vec<f64>),
}

impl Counts<'_> {
    fn len(&self) -> usize {
        match self {
            Counts::Small(counts) => counts.iter().len(),
            Counts::Wide(counts) => counts.len(),
        }
    }

    fn wide(self) -> Vec<f64> {
        match self {
            Counts::Small(counts) => counts.iter().map(f64::from).collect(),
            Counts::Wide(counts) => counts,
        }
    }
}

/// Counts, and what they lack to be exact.
fn read_counts<'a>(file: &mut Container<'a>, name: &str) -> Result<(Counts<'a>, Vec<(u64, f64)>)> {
    let counts = if file.holds_u32(name) {
        Counts::Small(file.take_small(name)?)
    } else {
        let counts = file.take_f64(name, 1)?.1;
        if counts.iter().all(|&count| is_small(count)) {
            return Err(refused(format!("the counts in `{name}` take more room than they should")));
        }
        Counts::Wide(counts)
    };
    Ok((counts, read_residue(file, name)?))
}

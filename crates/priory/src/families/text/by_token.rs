//! The documents of a batch, grouped by token.

use super::TextColumn;
use crate::families::CountedRow;

/// A document that has a token: its class, and how often the token occurs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfDocument {
    pub(super) class: u16,
    /// How often the token occurs, up to 2^16 - 1.
    pub(super) occurrences: u16,
}

/// For each token of a batch the documents that have it. The memory is reused for the next batch, because allocating it
/// takes as long as filling it.
#[derive(Debug, Clone, Default)]
pub(super) struct ByToken {
    /// Where the documents of each token end.
    ends: Vec<u32>,
    documents: Vec<OfDocument>,
    /// Occurrences beyond those: token, class and how many more there are.
    pub(super) rest: Vec<(usize, usize, u32)>,
}

impl ByToken {
    /// Sorts the entries of these rows.
    pub(super) fn sort(&mut self, column: &TextColumn, counted: &[CountedRow]) {
        let Self { ends, documents, rest } = self;
        let tokens = column.tokens().len();
        ends.clear();
        ends.resize(tokens + 1, 0);
        rest.clear();
        let document = |row: u32| column.document(row as usize).unwrap_or_default();
        for &CountedRow { row, .. } in counted {
            document(row).iter().for_each(|&(token, _)| ends[token as usize + 1] += 1);
        }
        for token in 0..tokens {
            ends[token + 1] += ends[token];
        }
        documents.resize(documents.len().max(ends[tokens] as usize), OfDocument::default());
        // `ends` holds where each token starts, until its last document is in place.
        for &CountedRow { row, class } in counted {
            for &(token, count) in document(row) {
                let place = &mut ends[token as usize];
                let occurrences = count.min(u16::MAX.into()) as u16;
                documents[*place as usize] = OfDocument { class: class as u16, occurrences };
                *place += 1;
                if count > u16::MAX.into() {
                    rest.push((token as usize, class as usize, count - u32::from(occurrences)));
                }
            }
        }
        ends.truncate(tokens);
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether any document has a token. Numbers beyond the last token are allowed.
    #[inline]
    pub(super) fn has(&self, token: usize) -> bool {
        token < self.len() && self.start(token) < self.ends[token]
    }

    /// The documents that have a token.
    #[inline]
    pub(super) fn documents(&self, token: usize) -> &[OfDocument] {
        &self.documents[self.start(token) as usize..self.ends[token] as usize]
    }

    #[inline]
    fn start(&self, token: usize) -> u32 {
        if token == 0 { 0 } else { self.ends[token - 1] }
    }
}

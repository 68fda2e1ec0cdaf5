//! The rows of each fold, and their evaluation. Equal rows, of which tables of strings and whole numbers have many, are
//! stored and scored only once.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::Evaluation;
use crate::batch::{Batch, BatchColumn, check_length};
use crate::error::Result;
use crate::model::Model;
use crate::posterior::rows_to_score;
use crate::schema::Schema;

/// A batch split by fold.
#[derive(Debug, Clone)]
pub struct FoldParts {
    parts: Vec<FoldPart>,
    skipped: u64,
}

impl FoldParts {
    /// Splits a batch by the folds that [`Folds::assign`](super::Folds::assign) has assigned.
    ///
    /// # Errors
    /// If [`Evaluation::observe`] would refuse the batch: this is checked here, while rows still have their own
    /// numbers. Also if `assigned` does not have an entry for each row.
    pub fn new(batch: &Batch, assigned: &[Option<usize>]) -> Result<Self> {
        Self::with(batch, assigned, |_, _| Ok(()))
    }

    /// Like [`new`](Self::new), and also passes all rows of each fold to `look`.
    pub(super) fn with(
        batch: &Batch,
        assigned: &[Option<usize>],
        mut look: impl FnMut(usize, &Batch) -> Result<()>,
    ) -> Result<Self> {
        Evaluation::check(batch)?;
        check_length(batch.rows, assigned.len(), || "assigned folds".into())?;
        let folds = assigned.iter().flatten().max().map_or(0, |last| last + 1);
        let rows = by_fold(folds, assigned);
        let parts = rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()).map(|(fold, rows)| {
            let rows = batch.select(rows);
            look(fold, &rows)?;
            Ok(FoldPart::new(fold, rows))
        });
        Ok(FoldParts { parts: parts.collect::<Result<_>>()?, skipped: batch.classes.missing() as u64 })
    }

    /// The folds that have rows.
    pub fn parts(&self) -> &[FoldPart] {
        &self.parts
    }

    /// How many rows of the batch have no class, and so no fold.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Roughly how many bytes the rows take.
    pub fn memory(&self) -> usize {
        self.parts.iter().map(|part| part.kinds.memory() + size_of_val(&part.copies[..])).sum()
    }
}

/// The rows of a batch that are in one fold.
#[derive(Debug, Clone)]
pub struct FoldPart {
    fold: usize,
    /// One row of each kind; equal rows are of one kind.
    kinds: Batch,
    /// How many rows there are of each kind; empty if there is one of each.
    copies: Vec<u32>,
}

impl FoldPart {
    fn new(fold: usize, rows: Batch) -> Self {
        match kinds(&rows) {
            Some((kinds, copies)) => FoldPart { fold, kinds: rows.select(&kinds), copies },
            None => FoldPart { fold, kinds: rows, copies: Vec::new() },
        }
    }

    /// Which fold it is.
    pub fn fold(&self) -> usize {
        self.fold
    }

    /// Scores the rows, which have the columns of `schema`, and adds the predictions to an evaluation. `baseline` is
    /// the majority class of what the model was trained on.
    ///
    /// # Errors
    /// As for [`Model::score`].
    pub fn evaluate(
        &self,
        schema: &Schema,
        model: &Model,
        baseline: &str,
        evaluation: &mut Evaluation,
    ) -> Result<()> {
        let most_rows = rows_to_score(model.classes().len());
        let mut copies = self.copies.chunks(most_rows);
        for piece in self.kinds.pieces(most_rows) {
            let kinds = piece.only(schema, model.schema());
            let copies = copies.next().unwrap_or_default();
            let scores = model.score(&kinds)?;
            evaluation.unseen += match scores.unseen() {
                0 => 0,
                // The scores do not say which rows had unseen values, so rows are scored again with all their copies.
                _ => unseen(model, &kinds, copies)?,
            };
            evaluation.observe_against(model.classes(), &kinds, copies, &scores, |_| baseline)?;
        }
        Ok(())
    }
}

/// How many values were never met in training, counted over all copies of all rows.
fn unseen(model: &Model, kinds: &Batch, copies: &[u32]) -> Result<u64> {
    let copies = |kind| copies.get(kind).map_or(1, |&copies| copies as usize);
    let rows: Vec<usize> = (0..kinds.rows).flat_map(|kind| std::iter::repeat_n(kind, copies(kind))).collect();
    let pieces = rows.chunks(rows_to_score(model.classes().len()));
    pieces.map(|rows| Ok(model.score(&kinds.select(rows))?.unseen())).sum()
}

/// The rows of each fold, found in a single pass.
fn by_fold(folds: usize, assigned: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); folds];
    let dealt = assigned.iter().enumerate().filter_map(|(row, fold)| Some((row, (*fold)?)));
    dealt.for_each(|(row, fold)| rows[fold].push(row));
    rows
}

/// The first row of each kind, and how many rows there are of it. `None` if that would not save much. Rows with weights
/// or documents are assumed to be all different.
fn kinds(batch: &Batch) -> Option<(Vec<usize>, Vec<u32>)> {
    if !batch.weights.is_empty() || batch.columns.iter().any(|column| matches!(column, BatchColumn::Text(_)))
    {
        return None;
    }
    let (mut kinds, mut copies): (Vec<usize>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut found: HashMap<u64, usize, foldhash::fast::RandomState> = HashMap::default();
    for (row, hash) in hashes(batch).into_iter().enumerate() {
        match found.entry(hash) {
            Entry::Occupied(kind) if are_alike(batch, kinds[*kind.get()], row) => {
                copies[*kind.get()] += 1;
                continue;
            }
            Entry::Occupied(_) => {} // two kinds that share a hash: then each of these rows is a kind of its own
            Entry::Vacant(vacant) => {
                vacant.insert(kinds.len());
            }
        }
        kinds.push(row);
        copies.push(1);
    }
    (kinds.len() < batch.rows / 8 * 7).then_some((kinds, copies))
}

/// A hash of each row: the same for equal rows, and nearly always different for others.
fn hashes(batch: &Batch) -> Vec<u64> {
    let mix = |hash: &mut u64, value: u64| {
        *hash = (hash.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    };
    let mut hashes = vec![0; batch.rows];
    let mix_codes = |hashes: &mut [u64], codes: &[u32]| {
        hashes.iter_mut().zip(codes).for_each(|(hash, &code)| mix(hash, u64::from(code)));
    };
    mix_codes(&mut hashes, &batch.classes.codes);
    for column in &batch.columns {
        match column {
            BatchColumn::Category(column) => mix_codes(&mut hashes, &column.codes),
            BatchColumn::Number(values) => {
                hashes.iter_mut().zip(values).for_each(|(hash, value)| mix(hash, value.to_bits()));
            }
            BatchColumn::Text(_) => {}
        }
    }
    hashes
}

fn are_alike(batch: &Batch, a: usize, b: usize) -> bool {
    batch.classes.codes[a] == batch.classes.codes[b]
        && batch.columns.iter().all(|column| match column {
            BatchColumn::Category(column) => column.codes[a] == column.codes[b],
            BatchColumn::Number(values) => values[a].to_bits() == values[b].to_bits(),
            BatchColumn::Text(_) => false,
        })
}

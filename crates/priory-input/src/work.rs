//! Learning and forgetting whole tables on several threads, with progress reports and the chance to stop.

use priory::posterior::rows_to_score;
use priory::shares::{FoundShares, ShareFinder};
use priory::{Batch, Model, Statistics};

use crate::error::{Error, Result};
use crate::evaluate::OpenTable;
use crate::parallel::{Turn, fold};
use crate::reader::Reader;
use crate::table::{Purpose, Table};

/// Receives the progress of the work, and may end it.
pub trait Watch: Sync {
    /// A table is about to be read, so that what it has not can be said.
    fn opens(&self, reader: &Reader) {
        let _ = reader;
    }

    /// A new pass begins, over this many bytes if that is known.
    fn begin(&self, size: Option<u64>) {
        let _ = size;
    }

    /// This many of these bytes are done.
    ///
    /// # Errors
    /// What is to end the work.
    fn advance(&self, done: u64) -> Result<()>;

    /// A table was read to its end for the first time, so that warnings about it can be shown.
    fn was_read(&self, reader: &Reader) {
        let _ = reader;
    }
}

/// How work is done: on this many threads, and watched. No result depends on the number of threads.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// How many threads are used.
    pub threads: usize,
    /// Who waits for it.
    pub watch: &'a dyn Watch,
}

impl Work<'_> {
    /// As [`fold`], watched.
    ///
    /// # Errors
    /// As for [`fold`], and what ends the work.
    pub fn fold<S: Send>(
        &self,
        reader: &Reader,
        start: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &Batch, &Turn<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.watch.opens(reader);
        self.watch.begin(reader.size());
        fold(reader, self.threads, start, |state, batch, turn| {
            step(state, batch, turn)?;
            self.watch.advance(reader.bytes_read())
        })
    }

    /// Learns all rows of a table, starting from statistics of no rows. Returns what was learnt and how many rows had no class.
    ///
    /// # Errors
    /// If the table cannot be read, a row cannot be counted, or there is more to count than memory should hold.
    pub fn learn(&self, table: Table, empty: &Statistics) -> Result<(Statistics, u64)> {
        let start = || (empty.clone(), 0);
        let reader = table.reader(empty.schema(), Purpose::Learning)?;
        let parts = self.fold(&reader, start, |(statistics, skipped), batch, turn| {
            *skipped += batch.classes.missing() as u64;
            if let Some(age) = empty.half_life() {
                statistics.pass(age.learnt.saturating_add(turn.rows_before(&reader)?));
            }
            statistics.observe(batch)?;
            Ok(statistics.check_size()?)
        })?;
        self.watch.was_read(&reader);
        let mut parts = parts.into_iter();
        let (mut all, mut skipped) = parts.next().unwrap_or_else(start);
        for (part, part_skipped) in parts {
            let merged = all.merge(&part).and_then(|()| all.check_size());
            merged.map_err(|cause| Error::Use { name: reader.name().into(), cause })?;
            skipped += part_skipped;
        }
        Ok((all, skipped))
    }

    /// The shares of the classes in the rows of some tables, most of which need not have any class: as likely as it gets, if rows
    /// of a class look as those that the model has learnt.
    ///
    /// # Errors
    /// If a table cannot be read or has no feature of the model.
    pub fn find_shares(&self, open: OpenTable<'_>, model: &Model) -> Result<FoundShares> {
        let mut all = ShareFinder::new(model.classes().len());
        for table in (0..).map_while(open) {
            let mut table = table?;
            table.limit_rows(rows_to_score(model.classes().len()));
            let mut reader = table.reader(model.schema(), Purpose::Scoring)?;
            reader.read_into(model.batch());
            let start = || ShareFinder::new(model.classes().len());
            let parts = self.fold(&reader, start, |finder, batch, _| {
                finder.observe(&model.score(batch)?);
                Ok(())
            })?;
            parts.into_iter().for_each(|part| all.merge(part));
        }
        Ok(all.shares(model.prior()))
    }

    /// Forgets the rows of a table. Where rows age, the first of them was learnt as this row, and the others one after the
    /// other; returns the one after the last, and how many rows had no class.
    ///
    /// # Errors
    /// If the table cannot be read; if rows cannot have been learnt, of which the first is named: then nothing is forgotten.
    pub fn forget(
        &self,
        statistics: &mut Statistics,
        learnt_at: Option<u64>,
        open: impl Fn() -> Result<Table>,
    ) -> Result<(Option<u64>, u64)> {
        let empty = match learnt_at {
            Some(row) => statistics.empty_at(row)?,
            None => statistics.empty_like(),
        };
        let (part, skipped) = self.learn(open()?, &empty)?;
        if let Err(refusal) = statistics.subtract(&part) {
            name_the_row(statistics, learnt_at, open()?)?;
            return Err(refusal.into());
        }
        Ok((learnt_at.map(|_| part.half_life().map_or(0, |age| 1 + age.learnt)), skipped))
    }
}

/// Goes through a table again, row after row, to the first that cannot be taken away.
fn name_the_row(statistics: &Statistics, learnt_at: Option<u64>, table: Table) -> Result<()> {
    let mut left = statistics.clone();
    let mut batches = table.batches(statistics.schema(), Purpose::Learning)?;
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch)? {
        let forgotten = match learnt_at {
            None => left.forget(&batch),
            Some(0) => left.forget_learnt_at(&batch, 0),
            Some(row) => left.forget_learnt_at(&batch, row + batch.first_row - 1),
        };
        forgotten.map_err(|cause| Error::Use { name: batches.reader().name().into(), cause })?;
    }
    Ok(())
}

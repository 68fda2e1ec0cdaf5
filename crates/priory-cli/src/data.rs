//! From tables to batches, and from batches to statistics.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use priory::settings::Prior;
use priory::{Batch, BatchColumn, Learnt, Schema, Statistics};
use priory_input::{Purpose, Reader, SheetRemark, Table, Turn, Watch, Work};

use crate::advice::about_sheet;
use crate::output::{note, plural, short, warn};
use crate::progress::{CountedIn, Progress};
use crate::tables::Tables;

/// Hands every batch of rows to `each`, in order, on this thread, until it has seen enough. The documents are kept as they were
/// written if they are to be shown.
pub(crate) fn for_each_document(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
    keep: bool,
    mut each: impl FnMut(&Batch) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut batches = table.batches(schema, purpose)?;
    warn_of_missing_columns(batches.reader());
    let mut batch = batches.reader().empty_batch();
    if keep {
        keep_documents(&mut batch);
    }
    while batches.read(&mut batch)? {
        if each(&batch)?.is_break() {
            break;
        }
    }
    warn_of_table(batches.reader());
    Ok(())
}

/// Has a batch keep its documents as they are written.
pub(crate) fn keep_documents(batch: &mut Batch) {
    for column in &mut batch.columns {
        if let BatchColumn::Text(column) = column {
            column.keep_documents();
        }
    }
}

/// Takes every batch of a table through `step` on several threads with a progress bar, and returns their states.
pub(crate) fn fold<S: Send>(
    reader: &Reader,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, &Batch, &Turn<'_>) -> priory_input::Result<()> + Sync,
) -> Result<Vec<S>> {
    let watch = ProgressBar::default();
    let states = Work { threads, watch: &watch }.fold(reader, start, step)?;
    watch.was_read(reader);
    Ok(states)
}

/// Shows how far the work on a table is, and says what was wrong with it.
#[derive(Default)]
pub(crate) struct ProgressBar {
    progress: Mutex<Option<Progress>>,
    counted_in: CountedIn,
}

impl ProgressBar {
    /// For work whose progress is counted in files.
    pub(crate) fn of_files() -> Self {
        ProgressBar { counted_in: CountedIn::Files, ..ProgressBar::default() }
    }
}

impl Watch for ProgressBar {
    fn opens(&self, reader: &Reader) {
        warn_of_missing_columns(reader);
    }

    fn begin(&self, size: Option<u64>) {
        *self.progress() = Some(Progress::new(size, self.counted_in));
    }

    fn advance(&self, done: u64) -> priory_input::Result<()> {
        // Whoever holds it draws something as good.
        if let Ok(mut progress) = self.progress.try_lock()
            && let Some(progress) = progress.as_mut()
        {
            progress.advance(done);
        }
        Ok(())
    }

    fn was_read(&self, reader: &Reader) {
        *self.progress() = None;
        warn_of_table(reader);
    }
}

impl ProgressBar {
    fn progress(&self) -> MutexGuard<'_, Option<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn warn_of_missing_columns(reader: &Reader) {
    const MOST: usize = 20;
    let (name, missing) = (reader.name(), reader.missing_columns());
    for column in missing.iter().take(MOST) {
        warn(&format!("{name} has no column `{}`: it counts as missing in every row", short(column)));
    }
    if let Some(weight) = reader.missing_weight() {
        warn(&format!("{name} has no column `{}`: its rows weigh one", short(weight)));
    }
    if missing.len() > MOST {
        let others = plural((missing.len() - MOST) as u64, "other column");
        warn(&format!("{name} has not {others} of the model either"));
    }
}

/// Says what was wrong with a table that could be read all the same.
fn warn_of_table(reader: &Reader) {
    warn_of_header(reader.name(), reader.remarks(), reader.renamed_columns());
    warn_of_bad_values(reader.name(), reader.bad_values());
}

/// Says how many values were taken as missing.
pub(crate) fn warn_of_bad_values(name: &str, bad_values: u64) {
    if bad_values > 0 {
        let values = plural(bad_values, "value");
        warn(&format!("{name}: {values} taken as missing, since they are not numbers"));
    }
}

/// Says what of a sheet was passed over, and which columns are called something else than in the header.
pub(crate) fn warn_of_header(table: &str, remarks: &[SheetRemark], renamed: &[(String, String)]) {
    for remark in remarks {
        warn(&format!("{table}: {remark}{}", about_sheet(remark)));
    }
    for (name, other) in renamed {
        let (name, other) = (short(name), short(other));
        warn(&format!("{table}: the header names the column `{name}` again; here it is called `{other}`"));
    }
}

/// Shows nothing: for a look at a table that will be read again.
struct Silent;

impl Watch for Silent {
    fn advance(&self, _: u64) -> priory_input::Result<()> {
        Ok(())
    }
}

/// The shares that the classes have in some tables, found by a model and told.
pub(crate) fn estimate_prior(tables: &Tables, learnt: &Learnt, threads: usize) -> Result<Prior> {
    let model = learnt.estimate()?;
    let found = Work { threads, watch: &Silent }.find_shares(&|i| tables.open(i), &model)?;
    const MOST: usize = 12;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let shares = model.classes().iter().zip(&found.shares).zip(model.prior());
    let told: Vec<String> = shares
        .clone()
        .take(MOST)
        .map(|((class, &share), &prior)| format!("{class} {} (was {})", percent(share), percent(prior)))
        .collect();
    let more = model.classes().len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    note(&format!(
        "shares of the classes, found from {}: {}{more}",
        plural(found.rows, "row"),
        told.join(", ")
    ));
    Ok(Prior::Given(shares.map(|((class, &share), _)| (class.clone(), share)).collect()))
}

/// Learns all rows of a table on several threads, starting from statistics of no rows. Returns what was learnt and how many rows had no class.
pub(crate) fn learn(table: Table, empty: &Statistics, threads: usize) -> Result<(Statistics, u64)> {
    Ok(Work { threads, watch: &ProgressBar::default() }.learn(table, empty)?)
}

/// Says how many rows had no class.
pub(crate) fn warn_of_skipped(skipped: u64, target: &str) {
    if skipped > 0 {
        warn(&format!("{} skipped: `{target}` is missing", plural(skipped, "row")));
    }
}

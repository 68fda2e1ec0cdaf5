//! From what was typed about a table to its schema, and from its files to batches.

use anyhow::{Result, bail};
use priory::{Batch, Column, Family, Kind, MISSING_SPELLINGS, Schema, Settings};
use priory_input::{Purpose, ReadOptions, Table};

use crate::args::TableArgs;
use crate::choices::{AsChoice, Meaning};
use crate::output::warn;
use crate::progress::Progress;

/// The name that stands for every column in `--as`.
const EVERY_COLUMN: &str = "*";

/// The schema that a table and the command line give together, and the families that were asked for.
pub(crate) fn schema(table: &Table, args: &TableArgs, settings: &mut Settings) -> Result<Schema> {
    table.column("target", &args.target)?;
    if let Some(name) = &args.weight {
        table.column("weight", name)?;
    }
    let about = args.kinds.iter().map(|choice| &choice.column).filter(|name| *name != EVERY_COLUMN);
    for name in args.ignore.iter().chain(about) {
        table.column("feature", name)?;
    }
    let is_feature = |name: &String| {
        *name != args.target && Some(name) != args.weight.as_ref() && !args.ignore.contains(name)
    };
    let mut columns = Vec::new();
    for name in table.header().iter().filter(|name| is_feature(name)) {
        match meaning(name, &args.kinds) {
            Meaning::Ignored => {}
            Meaning::Kept(kind, family) => {
                columns.push(Column::new(name, kind));
                if let Some(family) = family {
                    settings.families.insert(name.clone(), family);
                }
            }
        }
    }
    if columns.is_empty() {
        bail!("no columns are left to learn from");
    }
    let missing = match &args.missing {
        Some(spellings) => spellings.clone(),
        None => MISSING_SPELLINGS.map(String::from).to_vec(),
    };
    Ok(Schema { target: args.target.clone(), weight: args.weight.clone(), missing, columns }.checked()?)
}

/// The last word about a column counts; a word about the column itself counts more than one about all.
fn meaning(name: &str, choices: &[AsChoice]) -> Meaning {
    let about = |column: &str| choices.iter().rev().find(|choice| choice.column == column);
    let choice = about(name).or_else(|| about(EVERY_COLUMN));
    choice.map_or(Meaning::Kept(Kind::Category, None::<Family>), |choice| choice.meaning)
}

/// Opens a table.
pub(crate) fn open(path: &str) -> Result<Table> {
    Ok(Table::open(path, &ReadOptions::default())?)
}

/// Hands every batch of a table to `each`, in order, with a progress bar.
pub(crate) fn for_each_batch(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
    mut each: impl FnMut(&Batch) -> Result<()>,
) -> Result<()> {
    let name = table.name().to_owned();
    let mut progress = Progress::new(table.size());
    let mut batches = table.batches(schema, purpose)?;
    for column in batches.missing_columns() {
        warn(&format!("{name} has no column `{column}`: it counts as missing in every row"));
    }
    let mut batch = Batch::new(schema);
    while batches.read(&mut batch)? {
        each(&batch).map_err(|error| in_file(&name, error))?;
        progress.advance(batches.bytes_read(), batch.rows);
    }
    Ok(())
}

/// Errors of the library name the row but not the file.
fn in_file(name: &str, error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<priory::Error>().is_some() {
        return error.context(name.to_owned());
    }
    error
}

/// Counts what a warning after the run should mention.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    pub(crate) without_class: u64,
}

impl Skipped {
    pub(crate) fn observe(&mut self, batch: &Batch) {
        self.without_class += batch.classes.missing() as u64;
    }

    pub(crate) fn warn(&self, target: &str) {
        if self.without_class > 0 {
            let rows = crate::output::plural(self.without_class, "row");
            warn(&format!("{rows} skipped: `{target}` is missing"));
        }
    }
}

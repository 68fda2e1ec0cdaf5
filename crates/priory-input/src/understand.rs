//! What the columns of a table are: what was said about them, and for the rest what their first rows look like.

use std::collections::{BTreeMap, HashMap};

use priory::infer::{Decision, Stored, TakenAs, infer};
use priory::settings::{Family, Selection};
use priory::vocabulary::canonical_order;
use priory::words::{Meaning, kind_for};
use priory::{Column, Kind, Schema, Settings};

use crate::error::Error;
use crate::table::Table;

/// The name that stands for every column.
const EVERY_COLUMN: &str = "*";
/// How many rows are looked at to decide what a column is.
const SAMPLE_ROWS: usize = 10_000;
/// A target of numbers with more different values than this in the sample is not one of classes.
const MOST_NUMBER_CLASSES: usize = 1_000;

/// What is known about the columns of a table before it is looked at.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// The column to predict.
    pub target: String,
    /// The column with the weights of the rows, if there is one.
    pub weight: Option<String>,
    /// The spellings of missing.
    pub missing: Vec<String>,
    /// What columns are; `*` stands for all. The last word about a column counts, and one about the column itself counts
    /// more than one about all.
    pub meanings: Vec<(String, Meaning)>,
}

/// A schema, the families that were asked for, and how each column came to its kind.
#[derive(Debug)]
pub struct Understood {
    /// The columns.
    pub schema: Schema,
    /// The families that were asked for.
    pub families: BTreeMap<String, Family>,
    /// What was decided about the columns that nothing was said about, and why.
    pub decisions: Vec<(String, Decision)>,
}

impl Understood {
    /// Understands the columns of the first table; the others are looked at as well if it has few rows.
    ///
    /// # Errors
    /// If a table cannot be read, a column that is spoken of does not exist, the target is a number rather than a class,
    /// or no columns are left.
    pub fn new<E: From<Error>>(
        first: &mut Table,
        others: &mut dyn Iterator<Item = Result<Table, E>>,
        hints: &Hints,
    ) -> Result<Self, E> {
        check_names(first, hints)?;
        let sample = Sample::new(first, others, &hints.missing)?;
        check_target(&sample, &hints.target)?;
        let mut understood = Understood {
            schema: Schema {
                target: hints.target.clone(),
                weight: hints.weight.clone(),
                missing: hints.missing.clone(),
                columns: Vec::new(),
            },
            families: BTreeMap::new(),
            decisions: Vec::new(),
        };
        for (i, name) in sample.names.iter().enumerate() {
            if *name == hints.target || Some(name) == hints.weight.as_ref() {
                continue;
            }
            match meaning(name, &hints.meanings) {
                Some(Meaning::Ignored) => {}
                Some(Meaning::Kept(kind, family)) => {
                    understood.schema.columns.push(Column::new(name, kind));
                    understood.families.extend(family.map(|family| (name.clone(), family)));
                }
                None => understood.infer(name, sample.stored[i], &sample.values(i)),
            }
        }
        if understood.schema.columns.is_empty() {
            return Err(Error::Columns("no columns are left to learn from".into()).into());
        }
        Ok(understood)
    }

    fn infer(&mut self, name: &str, stored: Stored, values: &[Option<&str>]) {
        let decision = infer(stored, values);
        if let TakenAs::Feature(kind) = decision.taken_as {
            self.schema.columns.push(Column::new(name, kind));
        }
        self.decisions.push((name.to_owned(), decision));
    }
}

/// Puts the families that were asked for into the settings. Columns of numbers of which no more than sums will be used are
/// counted like that, unless columns are to be selected: sums do not tell which help. A discriminant takes all of them
/// together, unless some were grouped by name.
///
/// # Errors
/// If there is nothing for a discriminant.
pub fn apply_families(
    schema: &mut Schema,
    families: &BTreeMap<String, Family>,
    settings: &mut Settings,
) -> Result<(), Error> {
    settings.families.extend(families.clone());
    let grouped = schema.columns.iter().any(|column| column.kind == Kind::Group);
    if settings.discriminant.is_some() && !grouped {
        let numbers = schema.columns.iter_mut().filter(|column| column.kind == Kind::Number);
        let mut numbers = numbers.filter(|column| !settings.families.contains_key(&column.name)).peekable();
        if numbers.peek().is_none() {
            let what = "a discriminant is for columns of numbers, and there is none left for it";
            return Err(Error::Columns(what.into()));
        }
        numbers.for_each(|column| column.kind = Kind::Group);
    }
    if settings.select != Selection::All {
        let sums = schema.columns.iter_mut().filter(|column| column.kind == Kind::Moments);
        sums.for_each(|column| column.kind = Kind::Number);
        return Ok(());
    }
    let Some(family) = settings.numbers else { return Ok(()) };
    let others = schema.columns.iter_mut().filter(|column| column.kind == Kind::Number);
    for column in others.filter(|column| !settings.families.contains_key(&column.name)) {
        column.kind = kind_for(family);
    }
    Ok(())
}

/// Every name that is spoken of must be that of a column.
fn check_names(table: &Table, hints: &Hints) -> Result<(), Error> {
    table.column("target", &hints.target)?;
    if let Some(name) = &hints.weight {
        table.column("weight", name)?;
    }
    for (name, _) in hints.meanings.iter().filter(|(name, _)| name != EVERY_COLUMN) {
        table.column("feature", name)?;
    }
    Ok(())
}

/// Numbers are not classes; to find that out after an hour would be late.
fn check_target(sample: &Sample, target: &str) -> Result<(), Error> {
    let Some(i) = sample.names.iter().position(|name| name == target) else { return Ok(()) };
    let mut values: Vec<&str> = sample.values(i).into_iter().flatten().collect();
    let are_numbers = values.iter().all(|value| value.trim().parse::<f64>().is_ok());
    let rows = values.len();
    values.sort_unstable_by(|a, b| canonical_order(a, b));
    values.dedup();
    if are_numbers && values.len() > MOST_NUMBER_CLASSES && 2 * values.len() > rows {
        return Err(Error::Columns(format!(
            "the target `{target}` is a number with {} different values in {rows} rows; classes are what is predicted here",
            values.len()
        )));
    }
    Ok(())
}

/// The last word about a column counts; a word about the column itself counts more than one about all.
fn meaning(name: &str, meanings: &[(String, Meaning)]) -> Option<Meaning> {
    let about = |column: &str| meanings.iter().rev().find(|(spoken_of, _)| spoken_of == column);
    about(name).or_else(|| about(EVERY_COLUMN)).map(|(_, meaning)| *meaning)
}

/// The first rows of some tables, as one.
struct Sample {
    names: Vec<String>,
    stored: Vec<Stored>,
    columns: Vec<Vec<Option<String>>>,
    missing: Vec<String>,
}

impl Sample {
    fn new<E: From<Error>>(
        first: &mut Table,
        others: &mut dyn Iterator<Item = Result<Table, E>>,
        missing: &[String],
    ) -> Result<Self, E> {
        let (names, stored) = first.columns().into_iter().map(|column| (column.name, column.stored)).unzip();
        let sampled = first.sample(SAMPLE_ROWS)?;
        let mut sample = Sample { names, stored, columns: sampled.columns, missing: missing.to_vec() };
        let mut rows = sampled.rows;
        while rows < SAMPLE_ROWS
            && let Some(table) = others.next()
        {
            let mut table = table?;
            let more = table.sample(SAMPLE_ROWS - rows)?;
            let positions: HashMap<&str, usize> =
                table.header().iter().map(String::as_str).zip(0..).collect();
            rows += more.rows;
            for (name, values) in sample.names.iter().zip(&mut sample.columns) {
                if let Some(&position) = positions.get(name.as_str()) {
                    values.extend_from_slice(&more.columns[position]);
                }
            }
        }
        Ok(sample)
    }

    /// The values of a column, `None` where they are missing.
    fn values(&self, column: usize) -> Vec<Option<&str>> {
        let is_missing = |value: &str| self.missing.iter().any(|spelling| spelling == value);
        self.columns[column].iter().map(|value| value.as_deref().filter(|value| !is_missing(value))).collect()
    }
}

//! Tables of counts: how much each value of each column weighs in each class, instead of rows.
//!
//! ```text
//! column,class,value,weight
//! ,yes,,9                      the class `yes` weighs 9
//! outlook,yes,rain,3           of which 3 where `outlook` is `rain`
//! outlook,yes,,1               and 1 where it is missing
//! ```
//!
//! A row without a column says what a class weighs; its value, if there is one, in how many rows it is.

use std::collections::HashMap;

use priory::counts::Counts;
use priory::infer::Stored;
use priory::{Batch, BatchColumn, CategoryColumn, Column, Kind, Schema};

use crate::error::{Error, Result, shown, shown_list};
use crate::reader::Plan;
use crate::sample::{ColumnInfo, Sample};
use crate::table::{Purpose, Table};
use crate::work::Work;

/// The columns of a table of counts.
const COLUMN: &str = "column";
const CLASS: &str = "class";
const VALUE: &str = "value";
const WEIGHT: &str = "weight";

/// What was read from a table of counts.
pub struct ReadCounts {
    /// What was counted.
    pub counts: Counts,
    /// How many rows of the table were passed over since they have no class.
    pub skipped: u64,
    /// How many values were taken as missing since they are not of their column's kind.
    pub bad_values: u64,
}

impl Work<'_> {
    /// Reads a table of counts, and adds it to what nothing was counted of yet.
    ///
    /// # Errors
    /// If the table cannot be read, is not one of counts, or a value is not of its column's kind.
    pub fn read_counts(&self, table: Table, empty: &Counts) -> Result<ReadCounts> {
        check_columns(&table)?;
        let schema = empty.schema();
        if schema.bins.is_some() {
            return Err(Error::Columns(
                "the classes are intervals of numbers, which a table of counts cannot be cut into; let the classes of the counts be these intervals, and leave them out of the schema".into(),
            ));
        }
        if let Some(nameless) = schema.columns.iter().find(|column| column.source().is_empty()) {
            let name = shown(&nameless.name);
            return Err(Error::Columns(format!(
                "the column {name} has no name, and counts of it could not be told from those of the classes"
            )));
        }
        let bad_values = table.options().bad_values;
        let plans = (0..empty.sources().count())
            .map(|part| Plan::of_values(table.name(), empty.part_schema(part), bad_values));
        let plans: Vec<Plan> = plans.collect();
        let of_classes = Plan::of_values(table.name(), schema, bad_values);
        let part_of: HashMap<&str, usize> = empty.sources().zip(0..).collect();
        let reader = table.reader(&how_to_read(), Purpose::Learning)?;
        let start = || Sorter {
            counts: empty.clone(),
            batches: (0..plans.len()).map(|part| Batch::new(empty.part_schema(part))).collect(),
            skipped: 0,
            scratch: String::new(),
        };
        let sorters =
            self.fold(&reader, start, |sorter, rows, _| sorter.take(rows, &part_of, &plans, &of_classes))?;
        self.watch.was_read(&reader);
        let mut sorters = sorters.into_iter();
        let Sorter { mut counts, mut skipped, .. } = sorters.next().unwrap_or_else(start);
        for other in sorters {
            let merged = counts.merge(&other.counts);
            merged.map_err(|cause| Error::Use { name: reader.name().into(), cause })?;
            skipped += other.skipped;
        }
        Ok(ReadCounts { counts, skipped, bad_values: plans.iter().map(Plan::bad_values).sum() })
    }
}

impl Work<'_> {
    /// Counts the values that one of the columns has in a table of it, beside the classes and perhaps a column that says how often
    /// each value occurs there.
    ///
    /// # Errors
    /// If the table cannot be read, or a value is not of its column's kind.
    pub fn count_column(
        &self,
        table: Table,
        empty: &Counts,
        part: usize,
        weight: Option<&str>,
    ) -> Result<Counts> {
        let schema = Schema { weight: weight.map(str::to_owned), ..empty.part_schema(part).clone() };
        let reader = table.reader(&schema, Purpose::Learning)?;
        let parts =
            self.fold(&reader, || empty.clone(), |counts, values, _| Ok(counts.observe(part, values)?))?;
        self.watch.was_read(&reader);
        let mut all = empty.clone();
        for counts in parts {
            let merged = all.merge(&counts);
            merged.map_err(|cause| Error::Use { name: reader.name().into(), cause })?;
        }
        Ok(all)
    }
}

/// How a table of counts is read. Nothing is missing in it: that is for the columns to say which are counted.
fn how_to_read() -> Schema {
    let columns = [COLUMN, VALUE].map(|name| Column::new(name, Kind::Category)).to_vec();
    Schema { target: CLASS.into(), bins: None, weight: Some(WEIGHT.into()), missing: Vec::new(), columns }
}

fn check_columns(table: &Table) -> Result<()> {
    let header = table.header();
    match [COLUMN, CLASS, VALUE, WEIGHT].iter().all(|name| header.iter().any(|column| column == name)) {
        true => Ok(()),
        false => Err(Error::Columns(format!(
            "{}: a table of counts has the columns column, class, value and weight; this one has {}",
            table.name(),
            shown_list(header)
        ))),
    }
}

/// The share of one thread: rows of the table sorted by the column that they are about.
struct Sorter {
    counts: Counts,
    batches: Vec<Batch>,
    skipped: u64,
    scratch: String,
}

impl Sorter {
    fn take(
        &mut self,
        rows: &Batch,
        part_of: &HashMap<&str, usize>,
        plans: &[Plan],
        of_classes: &Plan,
    ) -> Result<()> {
        let (columns, values) = (rows.category(0), rows.category(1));
        let parts: Vec<Option<usize>> =
            columns.values.names().map(|name| part_of.get(name).copied()).collect();
        for row in 0..rows.rows {
            let weight = rows.weight(row);
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(priory::Error::Weight { row: rows.row_number(row), weight }.into());
            }
            let class = rows.classes.value(row).filter(|class| !of_classes.missing.contains(class));
            let Some(class) = class else {
                self.skipped += 1;
                continue;
            };
            let value = values.value(row);
            if columns.value(row).is_none_or(str::is_empty) {
                let in_rows = value.filter(|value| !of_classes.missing.contains(value));
                let in_rows =
                    in_rows.map(|value| number_of_rows(&of_classes.name, row, value)).transpose()?;
                self.counts.observe_class(class, weight, in_rows)?;
            } else if let Some(part) = parts[columns.codes[row] as usize - 1] {
                let batch = &mut self.batches[part];
                push(batch, &plans[part], row, value, &mut self.scratch)?;
                batch.classes.push(Some(class));
                batch.weights.push(weight);
                batch.rows += 1;
            }
        }
        for (part, batch) in self.batches.iter_mut().enumerate().filter(|(_, batch)| batch.rows > 0) {
            self.counts.observe(part, batch)?;
            batch.clear();
        }
        Ok(())
    }
}

fn number_of_rows(name: &str, row: usize, value: &str) -> Result<u64> {
    value.parse().map_err(|_| Error::Row {
        name: name.to_owned(),
        row: 1 + row as u64,
        what: format!(
            "is about a class: its value says in how many rows it is, and {} does not",
            shown(value)
        ),
    })
}

/// Appends a value to the columns that are read from it.
fn push(batch: &mut Batch, plan: &Plan, row: usize, value: Option<&str>, scratch: &mut String) -> Result<()> {
    for (feature, column) in batch.columns.iter_mut().enumerate() {
        match column {
            BatchColumn::Number(numbers) => numbers.push(match value {
                None => f64::NAN,
                Some(text) => {
                    let number = plan.number(feature, text, scratch);
                    number.or_else(|bad| plan.bad_value(bad, row, feature, text))?
                }
            }),
            BatchColumn::Category(categories) => push_category(categories, plan, feature, row, value)?,
            BatchColumn::Text(_) => unreachable!("text is not counted value by value"),
        }
    }
    Ok(())
}

fn push_category(
    categories: &mut CategoryColumn,
    plan: &Plan,
    feature: usize,
    row: usize,
    value: Option<&str>,
) -> Result<()> {
    // Words such as `-` and `N/A` are values of plain categories, and mean missing in others.
    let category = match (value, &plan.written[feature]) {
        (None, _) => None,
        (Some(text), None) => Some(text).filter(|text| !plan.missing.contains(text)),
        (Some(text), Some(_)) => plan.category(feature, row, feature, text)?,
    };
    categories.push(category);
    Ok(())
}

/// What the counted columns look like: their names, in the order in which they are first met, and values of each, as often as they
/// weigh. The classes come first, under the name of the target.
pub(crate) fn sample_of_counts<E: From<Error>>(
    tables: &mut dyn Iterator<Item = std::result::Result<Table, E>>,
    target: &str,
) -> std::result::Result<(Vec<ColumnInfo>, Sample), E> {
    let mut names: Vec<String> = Vec::new();
    let mut place_of: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<Thinned> = Vec::new();
    // The classes as they are by themselves, and as the first column has them, which may be all that is known.
    let (mut classes, mut classes_of_first) = (Thinned::default(), Thinned::default());
    for table in tables {
        let table = table?;
        check_columns(&table)?;
        let mut batches = table.batches(&how_to_read(), Purpose::Learning)?;
        let mut rows = batches.reader().empty_batch();
        while batches.read(&mut rows)? {
            for row in 0..rows.rows {
                let most = (Sample::MOST_VALUES / (names.len() + 1)).clamp(1, MOST_SAMPLED);
                let (class, weight) = (rows.classes.value(row), rows.weight(row));
                let name = rows.category(0).value(row).unwrap_or_default();
                if name.is_empty() {
                    classes.add(class, weight, most);
                    continue;
                }
                let place = match place_of.get(name) {
                    Some(&place) => place,
                    None => {
                        names.push(name.to_owned());
                        values.push(Thinned::default());
                        place_of.insert(name.to_owned(), values.len() - 1);
                        values.len() - 1
                    }
                };
                values[place].add(rows.category(1).value(row), weight, most);
                if place == 0 {
                    classes_of_first.add(class, weight, most);
                }
            }
        }
    }
    if place_of.contains_key(target) {
        let target = shown(target);
        return Err(Error::Columns(format!(
            "{target} is the target, and there are counts of it as of a column"
        ))
        .into());
    }
    let classes = if classes.values.is_empty() { classes_of_first } else { classes };
    let columns: Vec<Vec<Option<String>>> = [classes].into_iter().chain(values).map(|of| of.values).collect();
    let names = [target.to_owned()].into_iter().chain(names);
    let names = names.map(|name| ColumnInfo { name, stored: Stored::Text }).collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or_default();
    Ok((names, Sample { rows, places: 0, columns }))
}

/// About how many values of a column are looked at.
const MOST_SAMPLED: usize = 10_000;

/// Every n-th of the values of a column, each as often as it weighs. The more there are, the larger is n.
struct Thinned {
    every: f64,
    passed: f64,
    values: Vec<Option<String>>,
}

impl Default for Thinned {
    fn default() -> Self {
        Thinned { every: 1.0, passed: 0.0, values: Vec::new() }
    }
}

impl Thinned {
    fn add(&mut self, value: Option<&str>, weight: f64, most: usize) {
        // What is there at all is there once, even if it weighs less than a row.
        self.passed += if weight > 0.0 && weight.is_finite() { weight.max(1.0) } else { 0.0 };
        while self.values.len() as f64 * self.every < self.passed {
            self.values.push(value.map(str::to_owned));
            if self.values.len() > 2 * most {
                let mut position = 0;
                self.values.retain(|_| {
                    position += 1;
                    position % 2 == 1
                });
                self.every *= 2.0;
            }
        }
    }
}

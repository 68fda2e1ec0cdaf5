//! Columns that were counted one by one.
//!
//! What is remembered of a column does not depend on the other columns: it is how much each value weighs in each class. So the
//! rows of a table need not be read where somebody else has counted its columns, such as a database that was asked to
//! `SELECT class, x, count(*) … GROUP BY class, x`, or whoever made a pivot table. A value that weighs n is counted as n rows
//! with this value are, to the last bit.

use std::collections::BTreeMap;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::exact::ExactSum;
use crate::families::FamilyStatistics;
use crate::schema::{Kind, Schema};
use crate::statistics::Statistics;

/// No table has more rows of a class than this; where only weights are known, rows are not taken to be more.
const MOST_ROWS: f64 = (1_u64 << 46) as f64;

/// Statistics that come about column by column.
///
/// ```
/// use priory::counts::{Counts, Rest};
/// use priory::{Batch, Column, Kind, Learnt, Schema, Settings};
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category), Column::new("hour", Kind::Number)])?;
/// let mut counts = Counts::empty(&schema)?;
/// let mut outlook = Batch::new(counts.part_schema(0));
/// outlook.push(Some("yes"), 2.0, &[priory::Value::Category("rain")])?;
/// outlook.push(Some("no"), 1.0, &[priory::Value::Category("sun")])?;
/// counts.observe(0, &outlook)?;
/// let mut hour = Batch::new(counts.part_schema(1));
/// hour.push(Some("yes"), 2.0, &[priory::Value::Number(9.5)])?;
/// hour.push(Some("no"), 1.0, &[priory::Value::Missing])?;
/// counts.observe(1, &hour)?;
/// let counted = counts.add_up(Rest::Refused)?;
///
/// use priory::Value::{Category, Missing, Number};
/// let mut rows = Batch::new(&schema);
/// rows.push(Some("yes"), 1.0, &[Category("rain"), Number(9.5)])?;
/// rows.push(Some("no"), 1.0, &[Category("sun"), Missing])?;
/// rows.push(Some("yes"), 1.0, &[Category("rain"), Number(9.5)])?;
/// let mut learnt = Learnt::empty(&schema, Settings::default());
/// learnt.learn(&rows)?;
/// assert_eq!(Learnt::new(counted.statistics, Settings::default()).to_bytes(), learnt.to_bytes());
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counts {
    schema: Schema,
    parts: Vec<Part>,
    /// What was said of the classes themselves: statistics without a column.
    classes: Statistics,
    /// Of classes of which it was said: in how many rows they are, and what these weigh.
    rows: BTreeMap<String, (u64, ExactSum)>,
}

/// What is read from one column of the table: a feature, or several if it holds dates.
#[derive(Debug, Clone)]
struct Part {
    source: String,
    /// Where these features are in the schema.
    columns: Vec<usize>,
    statistics: Statistics,
}

/// What becomes of the weight of a class that a column does not account for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// The values are missing in so many rows.
    Missing,
    /// An error: missing values were counted like all others, so that something must have changed meanwhile.
    Refused,
}

/// What columns add up to.
#[derive(Debug)]
pub struct AddedUp {
    /// What was learnt.
    pub statistics: Statistics,
    /// The columns that account for less than the classes weigh, and how much that is.
    pub rest: Vec<(String, f64)>,
}

impl Counts {
    /// Nothing counted yet.
    ///
    /// # Errors
    /// If there is a column of which more is counted than how often its values occur: text, or one that is counted together with
    /// others.
    pub fn empty(schema: &Schema) -> Result<Self> {
        let mut parts: Vec<Part> = Vec::new();
        for (position, column) in schema.columns.iter().enumerate() {
            let name = &column.name;
            match column.kind {
                Kind::Category | Kind::Number | Kind::Moments => {}
                kind => return Err(Error::NotByValue { column: name.clone(), kind }),
            }
            match parts.iter_mut().find(|part| part.source == column.source()) {
                Some(part) => part.columns.push(position),
                None => {
                    let source = column.source().to_owned();
                    parts.push(Part {
                        source,
                        columns: vec![position],
                        statistics: Statistics::empty(schema),
                    });
                }
            }
        }
        for part in &mut parts {
            part.statistics = Statistics::empty(&schema.only(&part.columns));
        }
        let classes = Statistics::empty(&schema.only(&[]));
        Ok(Counts { schema: schema.clone(), parts, classes, rows: BTreeMap::new() })
    }

    /// What the columns are.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The columns of the table that are counted one by one, in the order of the schema.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.source.as_str())
    }

    /// What is read from one of them.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn part_schema(&self, part: usize) -> &Schema {
        self.parts[part].statistics.schema()
    }

    /// Counts values of one of them: rows of its [schema](Self::part_schema), with how often each occurs as their weights.
    /// Missing values are counted as well.
    ///
    /// # Errors
    /// As for [`Statistics::observe`]. Nothing is counted then.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn observe(&mut self, part: usize, values: &Batch) -> Result<()> {
        self.parts[part].statistics.observe(values)
    }

    /// Says what a class weighs, and in how many rows it is if these do not weigh one each.
    ///
    /// # Errors
    /// If the weight is negative or not finite, or there are too many classes.
    pub fn observe_class(&mut self, class: &str, weight: f64, rows: Option<u64>) -> Result<()> {
        let mut batch = Batch::new(self.classes.schema());
        batch.push(Some(class), weight, &[])?;
        self.classes.observe(&batch)?;
        if let Some(rows) = rows {
            let (all, of_weight) = self.rows.entry(class.to_owned()).or_default();
            *all = all.saturating_add(rows).min(MOST_ROWS as u64);
            of_weight.add(weight);
        }
        Ok(())
    }

    /// Adds everything that was counted elsewhere.
    ///
    /// # Errors
    /// As for [`Statistics::merge`].
    pub fn merge(&mut self, other: &Counts) -> Result<()> {
        self.classes.merge(&other.classes)?;
        for (ours, theirs) in self.parts.iter_mut().zip(&other.parts) {
            ours.statistics.merge(&theirs.statistics)?;
        }
        for (class, (rows, of_weight)) in &other.rows {
            let (all, of_all) = self.rows.entry(class.clone()).or_default();
            *all = all.saturating_add(*rows).min(MOST_ROWS as u64);
            of_all.merge(of_weight);
        }
        Ok(())
    }

    /// The columns of which nothing was counted.
    pub fn without_counts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(|part| part.statistics.rows() == 0).map(|part| part.source.as_str())
    }

    /// Puts the columns side by side. A class of which nothing was said weighs as much as the column says that has most of it,
    /// and is in as many rows as it weighs.
    ///
    /// # Errors
    /// If a column has more of a class than that weighs; if it has less, and the rest is refused; if there are too many classes
    /// or values.
    pub fn add_up(self, rest: Rest) -> Result<AddedUp> {
        let mut all = Statistics::empty(&self.schema);
        for statistics in self.parts.iter().map(|part| &part.statistics).chain([&self.classes]) {
            statistics.classes().into_iter().for_each(|(class, _)| {
                all.classes.intern(class);
            });
        }
        let classes = all.classes.len();
        all.check_class_count(classes)?;
        let weights: Vec<ExactSum> = all.classes.names().map(|class| self.weight_of(class)).collect();
        all.class_weight.grow(1, classes);
        for (class, weight) in weights.iter().enumerate() {
            all.class_weight.add_exact(0, class, weight);
            all.rows += self.rows_of(all.classes.name(class), weight);
        }
        if all.total_weight().is_infinite() {
            return Err(Error::WeightOverflow { row: all.rows });
        }
        let mut lacking = Vec::new();
        for Part { source, columns, statistics } in self.parts {
            let statistics = statistics.canonical();
            let class_of: Vec<usize> =
                statistics.classes.names().map(|class| all.classes.intern(class)).collect();
            let mut missing = weights.clone();
            for (theirs, &class) in class_of.iter().enumerate() {
                missing[class].subtract(&statistics.class_weight.exact(0, theirs));
            }
            for (class, missing) in missing.iter().enumerate() {
                if missing.is_negative() || rest == Rest::Refused && !missing.is_zero() {
                    let weight = weights[class].value();
                    return Err(Error::ColumnTotal {
                        column: source,
                        class: all.classes.name(class).to_owned(),
                        counted: weight - missing.value(),
                        weight,
                    });
                }
            }
            for (&column, theirs) in columns.iter().zip(&statistics.factors) {
                if let FamilyStatistics::Category(_, category) = theirs {
                    all.check_value_count(&all.factors[column], &category.values, classes)?;
                }
                all.factors[column].merge(theirs, &class_of, classes, 1.0);
                all.factors[column].add_missing(&missing);
            }
            let missing: ExactSum = missing.iter().flat_map(ExactSum::canonical_terms).collect();
            if !missing.is_zero() {
                lacking.push((source, missing.value()));
            }
        }
        all.settle();
        Ok(AddedUp { statistics: all, rest: lacking })
    }

    fn weight_of(&self, class: &str) -> ExactSum {
        if let Some(id) = self.classes.classes.get(class) {
            return self.classes.class_weight.exact(0, id);
        }
        let mut most = ExactSum::default();
        for Part { statistics, .. } in &self.parts {
            if let Some(id) = statistics.classes.get(class) {
                let weight = statistics.class_weight.exact(0, id);
                let mut more = weight.clone();
                more.subtract(&most);
                if !more.is_negative() {
                    most = weight;
                }
            }
        }
        most
    }

    /// In how many rows a class of this weight is: as many as was said, and for what is beyond that as many as it weighs.
    fn rows_of(&self, class: &str, weight: &ExactSum) -> u64 {
        let (rows, of_weight) = self.rows.get(class).cloned().unwrap_or_default();
        let mut others = weight.clone();
        others.subtract(&of_weight);
        (rows + others.value().round().min(MOST_ROWS) as u64).max(1)
    }
}

//! What the columns of a table are: what was said about them, and for the rest what their first rows look like.

use std::collections::{BTreeMap, HashMap};

use priory::infer::{DecimalMarks, Decision, Habits, Stored, TakenAs, infer, number_style, order_of_dates};
use priory::settings::{Family, Selection};
use priory::words::{Dates, Meaning, kind_for};
use priory::written::{Bins, DateOrder, DatePart, DecimalMark, NumberStyle, PartOfDate, Written};
use priory::{Column, Kind, Schema, Settings, Statistics};

use crate::counts::sample_of_counts;
use crate::error::{Error, shown, shown_list};
use crate::reader::BadValues;
use crate::table::Table;
use crate::text::mail_columns;

/// The name that stands for every column.
const EVERY_COLUMN: &str = "*";
/// How many rows are looked at to decide what a column is.
const SAMPLE_ROWS: usize = 10_000;
/// A target of numbers with fractions that has more different values than this is not one of classes; of whole numbers five times
/// as many.
const FEW_CLASSES: usize = 20;
/// A target of numbers with more different values than this in the sample is not one of classes, even if it was called so.
const MOST_NUMBER_CLASSES: usize = 1_000;

/// What is known about the columns of a table before it is looked at.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// The column to predict.
    pub target: String,
    /// The column with the weights of the rows, if there is one.
    pub weight: Option<String>,
    /// The column that says which rows depend on each other, if there is one.
    pub group: Option<String>,
    /// The spellings of missing.
    pub missing: Vec<String>,
    /// The decimal mark of numbers, if it is known.
    pub decimal: Option<DecimalMark>,
    /// Into how many classes a target of numbers is cut, if it is to be.
    pub bins: Option<usize>,
    /// Whether the values of the target are classes even if they are many numbers.
    pub target_is_class: bool,
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
        let mut understood = Understood::of_sample(&Sample::new(first, others, &hints.missing)?, hints)?;
        if first.has_mails() {
            read_as_mail(&mut understood.schema);
        }
        Ok(understood)
    }

    /// Understands the columns that some tables of counts are about.
    ///
    /// # Errors
    /// If a table cannot be read or is not one of counts, a column that is spoken of does not exist, the target is a number rather
    /// than a class, or no columns are left.
    pub fn of_counts<E: From<Error>>(
        tables: &mut dyn Iterator<Item = Result<Table, E>>,
        hints: &Hints,
    ) -> Result<Self, E> {
        let (columns, sampled) = sample_of_counts(tables, &hints.target)?;
        let (names, stored) = columns.into_iter().map(|column| (column.name, column.stored)).unzip();
        let (missing, places) = (hints.missing.clone(), sampled.places);
        let sample = Sample { names, stored, columns: sampled.columns, missing, places };
        for (name, _) in hints.meanings.iter().filter(|(name, _)| name != EVERY_COLUMN) {
            if !sample.names.contains(name) {
                let (name, names) = (shown(name), shown_list(&sample.names[1..]));
                return Err(Error::Columns(format!(
                    "there are no counts of a column {name}; there are of {names}"
                ))
                .into());
            }
        }
        Ok(Understood::of_sample(&sample, hints)?)
    }

    fn of_sample(sample: &Sample, hints: &Hints) -> Result<Self, Error> {
        let mut understood = Understood {
            schema: Schema {
                target: hints.target.clone(),
                bins: None,
                weight: hints.weight.clone(),
                group: hints.group.clone(),
                missing: hints.missing.clone(),
                columns: Vec::new(),
            },
            families: BTreeMap::new(),
            decisions: Vec::new(),
        };
        let habits = habits(sample, hints, understood.schema.knows_missing_words());
        understood.schema.bins = target_bins(sample, hints, &habits)?;
        for (i, name) in sample.names.iter().enumerate() {
            if *name == hints.target || [&hints.weight, &hints.group].contains(&&Some(name.clone())) {
                continue;
            }
            match meaning(name, &hints.meanings) {
                Some(Meaning::Ignored) => {}
                Some(Meaning::Kept(kind, family)) => {
                    let written = written_as(kind, name, sample.stored[i], &sample.values(i), &habits)?;
                    understood.schema.columns.push(Column::new(name, kind).written(written));
                    understood.families.extend(family.map(|family| (name.clone(), family)));
                }
                Some(Meaning::Dates(dates)) => {
                    let columns =
                        columns_of_dates(dates, name, sample.stored[i], &sample.values(i), &habits)?;
                    understood.schema.columns.extend(columns);
                }
                None => understood.infer(name, sample.stored[i], &sample.values(i), &habits),
            }
        }
        if understood.schema.columns.is_empty() {
            return Err(Error::Columns("no columns are left to learn from".into()));
        }
        Ok(understood)
    }

    fn infer(&mut self, name: &str, stored: Stored, values: &[Option<&str>], habits: &Habits) {
        let decision = infer(stored, values, habits);
        if let TakenAs::Feature(kind) = decision.taken_as {
            self.schema.columns.push(Column::new(name, kind).written(decision.written.clone()));
        }
        self.decisions.push((name.to_owned(), decision));
    }
}

/// How the columns of mails are read is settled by how mails are taken apart.
fn read_as_mail(schema: &mut Schema) {
    let known = mail_columns();
    for column in &mut schema.columns {
        if let Some(known) = known.iter().find(|known| known.name == column.name) {
            *column = known.clone();
        }
    }
}

/// What the columns have in common.
fn habits(sample: &Sample, hints: &Hints, missing_words: bool) -> Habits {
    let marks = DecimalMarks { named: hints.decimal, ..DecimalMarks::default() };
    let mut habits = Habits { marks, missing_words, places: sample.places, ..Habits::default() };
    for (i, name) in sample.names.iter().enumerate() {
        let may_be_numbers = match meaning(name, &hints.meanings) {
            Some(Meaning::Kept(kind, _)) => kind.is_number(),
            Some(Meaning::Ignored) => false,
            Some(Meaning::Dates(_)) | None => true,
        };
        if may_be_numbers && sample.stored[i] == Stored::Text && *name != hints.target {
            habits.look_at(&sample.values(i));
        }
    }
    habits
}

/// How a column is written that is said to be of this kind.
fn written_as(
    kind: Kind,
    name: &str,
    stored: Stored,
    values: &[Option<&str>],
    habits: &Habits,
) -> Result<Option<Written>, Error> {
    if !kind.is_number() || stored != Stored::Text {
        return Ok(None);
    }
    match number_style(values, habits) {
        Ok(style) => Ok(style.map(Written::Number)),
        Err(mixture) => Err(Error::MixedNumbers { column: shown(name), mixture }),
    }
}

/// The columns that are read from one of dates.
fn columns_of_dates(
    dates: Dates,
    name: &str,
    stored: Stored,
    values: &[Option<&str>],
    habits: &Habits,
) -> Result<Vec<Column>, Error> {
    let order = match (dates.order, stored) {
        (_, Stored::Date) => DateOrder::Ymd,
        (Some(order), _) => order,
        (None, _) => {
            order_of_dates(values, habits).map_err(|trouble| Error::Dates { column: shown(name), trouble })?
        }
    };
    let number = Column::new(name, Kind::Number).written(Some(Written::Date(order)));
    let parts = DatePart::ALL.into_iter().zip(dates.parts).filter(|(_, is_wanted)| *is_wanted);
    let parts = parts.map(|(part, _)| Column::part_of_date(name, PartOfDate { date: order, part }));
    Ok(Some(number).filter(|_| dates.number).into_iter().chain(parts).collect())
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
    if let Some(name) = &hints.group {
        table.group(name)?;
    }
    for (name, _) in hints.meanings.iter().filter(|(name, _)| name != EVERY_COLUMN) {
        table.column("feature", name)?;
    }
    Ok(())
}

/// The intervals that are the classes, if the target is to be cut into some. Numbers are not classes otherwise; to find that
/// out after an hour would be late.
fn target_bins(sample: &Sample, hints: &Hints, habits: &Habits) -> Result<Option<Bins>, Error> {
    let Some(i) = sample.names.iter().position(|name| *name == hints.target) else { return Ok(None) };
    let values = sample.values(i);
    let style = number_style(&values, habits)
        .map_err(|mixture| Error::MixedNumbers { column: shown(&hints.target), mixture });
    if let Some(classes) = hints.bins {
        let style = style?;
        let numbers = target_numbers(&values, style.as_ref());
        let bins = Bins::quantiles(&numbers, classes);
        let bins = bins.ok_or_else(|| Error::TooFewNumbers { target: shown(&hints.target) })?;
        return Ok(Some(Bins { written: style, ..bins }));
    }
    let Ok(style) = style else { return Ok(None) };
    let rows = values.iter().flatten().count();
    let mut numbers = target_numbers(&values, style.as_ref());
    if numbers.len() < rows {
        return Ok(None);
    }
    let has_fractions = numbers.iter().any(|number| number.fract() != 0.0);
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.dedup();
    let values = numbers.len();
    let is_regression = match hints.target_is_class {
        true => values > MOST_NUMBER_CLASSES && 2 * values > rows,
        false => 50 * values > rows && values > if has_fractions { FEW_CLASSES } else { 5 * FEW_CLASSES },
    };
    if is_regression {
        return Err(Error::NumberTarget { target: shown(&hints.target), values, rows });
    }
    Ok(None)
}

/// The numbers among the values of a target.
fn target_numbers(values: &[Option<&str>], style: Option<&NumberStyle>) -> Vec<f64> {
    let mut scratch = String::new();
    let read = |value: &&str| match style {
        Some(style) => style.read(value, &mut scratch),
        None => value.trim().parse().ok().filter(|number: &f64| number.is_finite()),
    };
    values.iter().flatten().filter_map(read).collect()
}

/// What was learnt must not contradict what the columns were taken for, or the model is of no use.
///
/// # Errors
/// If a column that was taken as 0 and 1 has turned out to have many other values; if no value of a column of numbers is one and
/// such values are taken as missing.
pub fn check_kinds(
    decisions: &[(String, Decision)],
    statistics: &Statistics,
    bad_values: BadValues,
) -> Result<(), Error> {
    /// A few other values may be mistakes, or codes for missing.
    const MOST_OTHERS: usize = 100;
    for (column, values) in statistics.distinct_values() {
        let is_meant =
            |(name, decision): &(String, Decision)| name == column && decision.expects_zero_and_one();
        if values > 2 + MOST_OTHERS && decisions.iter().any(is_meant) {
            return Err(Error::NotZeroAndOne { column: shown(column), values });
        }
    }
    match statistics.columns_without_numbers().first() {
        Some(column) if bad_values == BadValues::Missing && statistics.rows() > 0 => {
            Err(Error::NoNumbers { column: shown(column) })
        }
        _ => Ok(()),
    }
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
    places: usize,
}

impl Sample {
    fn new<E: From<Error>>(
        first: &mut Table,
        others: &mut dyn Iterator<Item = Result<Table, E>>,
        missing: &[String],
    ) -> Result<Self, E> {
        let (names, stored) = first.columns().into_iter().map(|column| (column.name, column.stored)).unzip();
        let sampled = first.sample(SAMPLE_ROWS)?;
        let (missing, places) = (missing.to_vec(), sampled.places);
        let mut sample = Sample { names, stored, columns: sampled.columns, missing, places };
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

//! svmlight and libsvm: `label index:value index:value … # comment`, a row per line.
//!
//! The columns are called `label`, `1`, `2`, `3` and so on; what a row does not mention is 0. The table is read densely,
//! so that there is an end to how many columns it may have. How many there are is seen in the beginning of the file,
//! unless the user says it; a larger index further on is refused when learning, since what it says would be lost, and
//! passed over when scoring, since the model knows nothing of it.

use std::sync::Arc;

use priory::batch::MISSING;
use priory::infer::Stored;
use priory::written::Written;
use priory::{Batch, BatchColumn, Kind, Schema};

use crate::csv::MOST_COLUMNS;
use crate::error::{Error, Result, shown};
use crate::format::ReadOptions;
use crate::input::{OpenedText, TextFormat, TextParser};
use crate::kept::KeptColumn;
use crate::reader::Plan;
use crate::sample::Sample;
use crate::source::{Framing, Source};
use crate::table::Purpose;

/// More columns than this must be asked for: a slip of a digit, or a few bytes from a stranger, would take gigabytes.
const MOST_UNASKED: usize = 1 << 16;

/// Reads the beginning to see how many columns there are, and names them.
pub(crate) fn open(source: &mut Source, _: Option<&str>, options: &ReadOptions) -> Result<OpenedText> {
    source.set_framing(Framing::Lines);
    let mut width = options.columns.unwrap_or(0);
    if width > MOST_COLUMNS {
        return Err(Error::TooManyColumns { name: source.name().into(), columns: width, most: MOST_COLUMNS });
    }
    let mut rows = 0;
    source.look_ahead(Sample::MOST_BYTES, |name, block| {
        let before = rows;
        for line in lines(name, block)? {
            rows += 1;
            let row = read_row(line, |index, _| {
                width = width.max(index);
                check_asked(index, options.columns)
            });
            row.map_err(|what| Error::Row { name: name.into(), row: rows - before, what })?;
        }
        Ok((rows, true))
    })?;
    if rows == 0 {
        return Err(Error::Empty { name: source.name().into() });
    }
    source.limit_cells(1 + width);
    Ok((header(width), Box::new(Svmlight)))
}

/// The columns are numbers, but for the label.
struct Svmlight;

impl TextFormat for Svmlight {
    fn stored(&self, header: &[String]) -> Vec<Stored> {
        (0..header.len()).map(|i| if i == 0 { Stored::Text } else { Stored::Number }).collect()
    }

    fn sample(&self, source: &mut Source, header: &[String], rows: usize) -> Result<Sample> {
        sample(source, header, rows)
    }

    /// Room for what the schema knows of and the beginning of the table happens not to mention.
    fn widened(&self, now: &[String], schema: &Schema) -> Option<Vec<String>> {
        let known = schema.columns.iter().filter_map(|column| index_of(&column.name)).max();
        known.filter(|&known| known >= now.len()).map(header)
    }

    fn check(&self, plan: &Plan, schema: &Schema) -> Result<()> {
        for (column, _) in schema.columns.iter().zip(&plan.features).filter(|(_, found)| found.is_some()) {
            let what = match (column.kind, &column.written) {
                (Kind::Text, _) => "numbers, and no text",
                (_, None | Some(Written::Number(_))) => continue,
                (_, Some(_)) => "numbers, and no dates or words",
            };
            return Err(Error::ColumnType { name: plan.name.clone(), column: shown(&column.name), what });
        }
        Ok(())
    }

    fn parser(&self, plan: &Arc<Plan>) -> Box<dyn TextParser> {
        Box::new(SvmlightParser::new(plan))
    }
}

/// The names of this many columns and of the label.
fn header(width: usize) -> Vec<String> {
    [String::from("label")].into_iter().chain((1..=width).map(|index| index.to_string())).collect()
}

/// The column that a name stands for, if it is one of svmlight's.
fn index_of(name: &str) -> Option<usize> {
    let index: usize = name.parse().ok().filter(|index| (1..=MOST_COLUMNS).contains(index))?;
    (index.to_string() == name).then_some(index)
}

/// The first rows of a table, of which nothing is taken.
fn sample(source: &mut Source, header: &[String], rows: usize) -> Result<Sample> {
    let mut sample = Sample::new(header.len());
    source.look_ahead(Sample::MOST_BYTES, |name, block| {
        let before = sample.rows;
        for line in lines(name, block)?.take(rows - before) {
            sample.columns.iter_mut().for_each(|values| values.push(Some(String::from("0"))));
            let label = read_row(line, |index, value| {
                if let Some(values) = sample.columns.get_mut(index) {
                    values[sample.rows] = Some(value.to_owned());
                }
                Ok(())
            });
            let row = (1 + sample.rows - before) as u64;
            let label = label.map_err(|what| Error::Row { name: name.into(), row, what })?;
            sample.columns[0][sample.rows] = Some(label.to_owned());
            sample.rows += 1;
        }
        Ok((sample.rows as u64, sample.rows < rows))
    })?;
    Ok(sample)
}

/// Takes blocks of svmlight apart.
struct SvmlightParser {
    plan: Arc<Plan>,
    /// For each column of the header, the features that are read from it.
    features: Vec<Option<usize>>,
    /// For each column of the header, its place among those that pass through.
    kept: Vec<Option<usize>>,
}

impl SvmlightParser {
    fn new(plan: &Arc<Plan>) -> Self {
        let mut features = vec![None; plan.header.len()];
        for (feature, position) in plan.features.iter().enumerate() {
            if let Some(position) = position {
                features[*position] = Some(feature);
            }
        }
        let mut kept = vec![None; plan.header.len()];
        plan.kept.iter().enumerate().for_each(|(place, &position)| kept[position] = Some(place));
        SvmlightParser { plan: Arc::clone(plan), features, kept }
    }
}

impl TextParser for SvmlightParser {
    fn fill(&mut self, block: &[u8], batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()> {
        let name = &self.plan.name;
        let rows = lines(name, block)?.count();
        self.fill_zeros(rows, batch);
        for line in lines(name, block)? {
            let row = batch.rows;
            self.fill_row(line, row, batch, kept)?;
            batch.rows += 1;
        }
        Ok(())
    }
}

impl SvmlightParser {
    /// What every row has that says nothing else.
    fn fill_zeros(&self, rows: usize, batch: &mut Batch) {
        let Batch { classes, columns, weights, groups, .. } = batch;
        classes.codes.resize(rows, MISSING);
        if self.plan.target.is_some_and(|position| position > 0) {
            let zero = classes.values.intern("0") as u32 + 1;
            classes.codes.fill(zero);
        }
        if self.plan.group.is_some() {
            let zero = groups.values.intern("0") as u32 + 1;
            groups.codes.resize(rows, zero);
        }
        if self.plan.weight.is_some() {
            weights.resize(rows, 0.0);
        }
        for (column, position) in columns.iter_mut().zip(&self.plan.features) {
            match column {
                BatchColumn::Number(values) => {
                    values.resize(rows, if position.is_some() { 0.0 } else { f64::NAN });
                }
                BatchColumn::Category(column) => {
                    let zero = !self.plan.missing.contains("0") && position.is_some();
                    let code = if zero { column.values.intern("0") as u32 + 1 } else { MISSING };
                    column.codes.resize(rows, code);
                }
                // Numbers are no documents; `check` has refused a column that would have to be one.
                BatchColumn::Text(column) => (0..rows).for_each(|_| column.push_missing()),
            }
        }
    }

    fn fill_row(&self, line: &str, row: usize, batch: &mut Batch, kept: &mut [KeptColumn]) -> Result<()> {
        let plan = &self.plan;
        let width = plan.header.len() - 1;
        let mut bad = Ok(());
        let mut passing = vec!["0"; plan.kept.len()];
        let label = read_row(line, |index, value| {
            if index > width {
                // Only what is learnt from must be complete.
                return if plan.purpose != Purpose::Learning {
                    Ok(())
                } else {
                    Err(format!(
                        "has index {index}, but the beginning of the file goes up to {width} only; say how many columns there are"
                    ))
                };
            }
            if bad.is_ok() {
                bad = self.set(index, row, value, batch);
            }
            self.kept[index].into_iter().for_each(|place| passing[place] = value);
            Ok(())
        });
        let row_number = 1 + row as u64;
        let label = label.map_err(|what| Error::Row { name: plan.name.clone(), row: row_number, what })?;
        bad?;
        self.kept[0].into_iter().for_each(|place| passing[place] = label);
        kept.iter_mut().zip(passing).for_each(|(column, value)| column.push(Some(value)));
        self.set(0, row, label, batch)
    }

    fn set(&self, position: usize, row: usize, value: &str, batch: &mut Batch) -> Result<()> {
        let plan = &self.plan;
        if let Some(feature) = self.features[position] {
            match &mut batch.columns[feature] {
                BatchColumn::Number(values) => {
                    let number = match fast_float2::parse::<f64, _>(value) {
                        Ok(number) if number.is_finite() && !plan.missing.has_number => Ok(number),
                        _ => plan.plain_number(value),
                    };
                    values[row] = number.or_else(|bad| plan.bad_value(bad, row, position, value))?;
                }
                BatchColumn::Category(column) => {
                    let missing = plan.missing.contains(value);
                    column.codes[row] =
                        if missing { MISSING } else { column.values.intern(value) as u32 + 1 };
                }
                BatchColumn::Text(_) => {}
            }
        }
        if plan.target == Some(position) {
            let missing = plan.missing.contains(value);
            let classes = &mut batch.classes;
            classes.codes[row] = if missing { MISSING } else { classes.values.intern(value) as u32 + 1 };
        }
        if plan.group == Some(position) {
            batch.groups.codes[row] = batch.groups.values.intern(value) as u32 + 1;
        }
        if plan.weight == Some(position) {
            let weight = value.parse().map_err(|_| plan.bad_weight(row, position, value))?;
            batch.weights[row] = weight;
        }
        Ok(())
    }
}

/// The lines that are rows, without comments.
fn lines<'b>(name: &str, block: &'b [u8]) -> Result<impl Iterator<Item = &'b str>> {
    let text = std::str::from_utf8(block).ok().filter(|text| !text.contains('\0'));
    let text =
        text.ok_or_else(|| Error::NotText { name: name.into(), what: "not svmlight: it is not text" })?;
    let without_comment = |line: &'b str| line.split_once('#').map_or(line, |(row, _)| row).trim_ascii();
    Ok(text.lines().map(without_comment).filter(|line| !line.is_empty()))
}

/// Hands every index with its value to `each`; returns the label.
fn read_row<'l>(
    line: &'l str,
    mut each: impl FnMut(usize, &'l str) -> std::result::Result<(), String>,
) -> std::result::Result<&'l str, String> {
    let mut words = line.split_ascii_whitespace();
    let label = words.next().unwrap_or_default();
    if label.contains(':') {
        return Err(format!("has no label before {}", shown(label)));
    }
    let mut last = 0;
    for (place, word) in words.enumerate() {
        if place == 0 && word.starts_with("qid:") {
            continue;
        }
        let pair = word.split_once(':');
        let (index, value) = pair.ok_or_else(|| format!("has {}, which is not index:value", shown(word)))?;
        let index = parse_index(index)?;
        if index <= last {
            return Err(format!("has index {index} after {last}; indices must increase"));
        }
        each(index, value)?;
        last = index;
    }
    Ok(label)
}

fn parse_index(index: &str) -> std::result::Result<usize, String> {
    if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("has the index {}, which is not a whole number from 1 on", shown(index)));
    }
    match index.parse() {
        Ok(0) => Err(String::from("has the index 0; svmlight counts its columns from 1")),
        Ok(number) if number <= MOST_COLUMNS => Ok(number),
        _ => Err(format!(
            "has the index {}, but a table may have {MOST_COLUMNS} columns at most",
            shown(index)
        )),
    }
}

fn check_asked(index: usize, columns: Option<usize>) -> std::result::Result<(), String> {
    match columns {
        Some(columns) if index > columns => {
            Err(format!("has index {index}, but there are {columns} columns"))
        }
        None if index > MOST_UNASKED => Err(format!(
            "has index {index}; if there are more than {MOST_UNASKED}, say how many columns there are"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;

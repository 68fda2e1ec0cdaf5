//! The sample of rows that a model keeps until it is judged: so that parts which were learnt on several machines can be judged
//! once they are one.
//!
//! The hashes of the rows are not stored. They follow from what the rows hold, and the rows stand in their order; whoever reads a
//! sample works them out again, and refuses rows that stand elsewhere.

use std::collections::BTreeMap;

use super::container::{Container, Section, refused};
use super::{json, parse, read_names, read_names_in, write_names};
use crate::batch::{Batch, BatchColumn, CategoryColumn, MISSING, TextColumn};
use crate::error::Result;
use crate::families::FamilyStatistics;
use crate::judgement::RowSample;
use crate::schema::{Kind, Schema};
use crate::statistics::Statistics;

/// The key of the largest hash in the header.
pub(super) const SAMPLE: &str = "sample";

/// The key of the columns of text whose documents still have pairs of neighbours, which are no longer counted.
const NEIGHBOURS: &str = "sample_neighbours";

/// Adds the rows that statistics have kept.
pub(super) fn write(
    sample: &RowSample,
    statistics: &Statistics,
    metadata: &mut BTreeMap<&'static str, String>,
    sections: &mut Vec<Section>,
) {
    let sample = sample.clone().settled();
    metadata.insert(SAMPLE, json(&sample.largest_hash));
    let lacking = statistics.factors.iter().filter(|factor| factor.lacks_neighbours());
    let lacking: Vec<usize> = lacking.flat_map(FamilyStatistics::columns).copied().collect();
    if !lacking.is_empty() {
        // Without them rows would have other hashes, and could not be merged with those that other parts have kept.
        metadata.insert(NEIGHBOURS, json(&lacking));
    }
    let batch = &sample.batch;
    sections.push(Section::u64(
        "sample.copies",
        vec![batch.rows],
        sample.copies.iter().map(|&copies| copies as u64),
    ));
    if batch.weights.iter().any(|&weight| weight != 1.0) {
        sections.push(Section::f64("sample.weights", vec![batch.rows], batch.weights.iter().copied()));
    }
    write_values(sections, "sample.class", &batch.classes);
    for (position, column) in batch.columns.iter().enumerate() {
        let name = format!("sample.{position}");
        match column {
            BatchColumn::Category(category) => write_values(sections, &name, category),
            BatchColumn::Number(numbers) => {
                // Numbers that are equal, and those that are missing, have one form each.
                let form = |&x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() };
                sections.push(Section::u64(name, vec![numbers.len()], numbers.iter().map(form)));
            }
            BatchColumn::Text(text) => write_documents(sections, &name, text),
        }
    }
}

/// The values that occur, in canonical order, and which of them each row has.
fn write_values(sections: &mut Vec<Section>, name: &str, category: &CategoryColumn) {
    let mut occurs = vec![false; category.values.len() + 1];
    category.codes.iter().for_each(|&code| occurs[code as usize] = true);
    let ids: Vec<usize> = category.values.sorted().into_iter().filter(|&id| occurs[id + 1]).collect();
    let mut code_of = vec![MISSING; category.values.len() + 1];
    (1..).zip(&ids).for_each(|(code, &id)| code_of[id + 1] = code);
    write_names(sections, name, &category.values.select(&ids));
    let codes = category.codes.iter().map(|&code| code_of[code as usize]);
    sections.push(Section::u32(format!("{name}.codes"), vec![category.codes.len()], codes));
}

/// The tokens that occur, in the order of their bytes, and for each row how often it has which of them.
fn write_documents(sections: &mut Vec<Section>, name: &str, text: &TextColumn) {
    let mut occurs = vec![false; text.tokens().len()];
    text.entries(0..text.rows()).iter().for_each(|&(token, _)| occurs[token as usize] = true);
    let ids: Vec<usize> = text.tokens().sorted_by_bytes().into_iter().filter(|&id| occurs[id]).collect();
    let mut number_of = vec![0; occurs.len()];
    (0..).zip(&ids).for_each(|(number, &id)| number_of[id] = number);
    let mut entries: Vec<(u32, u32)> = Vec::new();
    let mut ends = Vec::with_capacity(text.rows());
    for row in 0..text.rows() {
        let start = entries.len();
        let document = text.document(row).unwrap_or_default();
        entries.extend(document.iter().map(|&(token, count)| (number_of[token as usize], count)));
        entries[start..].sort_unstable();
        ends.push(entries.len() as u64);
    }
    let missing: Vec<u32> =
        (0..text.rows()).filter(|&row| text.document(row).is_none()).map(|row| row as u32).collect();
    write_names(sections, name, &text.tokens().select(&ids));
    let shape = vec![entries.len()];
    sections.push(Section::u64(format!("{name}.documents"), vec![ends.len()], ends.into_iter()));
    sections.push(Section::u32(
        format!("{name}.tokens"),
        shape.clone(),
        entries.iter().map(|&(token, _)| token),
    ));
    sections.push(Section::u32(format!("{name}.counts"), shape, entries.iter().map(|&(_, count)| count)));
    sections.push(Section::u32(format!("{name}.missing"), vec![missing.len()], missing.into_iter()));
}

/// Reads what [`write`](write()) writes, if it is there. Every row of it was counted.
pub(super) fn read(file: &mut Container<'_>, statistics: &mut Statistics) -> Result<()> {
    if !file.layout.metadata.contains_key(SAMPLE) {
        return Ok(());
    }
    let schema = with_neighbours(file, statistics)?;
    let largest_hash: u64 = parse(&file.layout.metadata, SAMPLE)?;
    let copies = file.take_u64("sample.copies")?;
    let batch = read_batch(file, &schema)?;
    let contradiction = || refused("the rows that it keeps are not among those that it counted".into());
    let rows = copies.iter().try_fold(0_u64, |sum, &copies| sum.checked_add(copies));
    let are_all = largest_hash == u64::MAX;
    if !rows.is_some_and(|rows| rows == statistics.rows || (rows < statistics.rows && !are_all)) {
        return Err(contradiction());
    }
    let mut counted = Statistics::empty(&schema);
    counted.observe(&batch).map_err(|error| refused(error.to_string()))?;
    if schema != *statistics.schema {
        counted.drop_neighbours();
    }
    if counted.rows() != batch.rows as u64 || statistics.shortfall(&counted).is_some() {
        return Err(contradiction());
    }
    let sample = RowSample::from_parts(&schema, batch, &copies, largest_hash);
    let no_sample = || refused("the rows that it keeps are no sample".into());
    statistics.sample = Some(Box::new(sample.ok_or_else(no_sample)?));
    Ok(())
}

/// The schema of the rows: that of the statistics, but for pairs of neighbours that are no longer counted. Those of further
/// documents will be passed over.
fn with_neighbours(file: &Container<'_>, statistics: &mut Statistics) -> Result<Schema> {
    let mut schema = Schema::clone(&statistics.schema);
    if !file.layout.metadata.contains_key(NEIGHBOURS) {
        return Ok(schema);
    }
    let lacking: Vec<usize> = parse(&file.layout.metadata, NEIGHBOURS)?;
    let contradiction = || refused("it has let go of pairs of words that it never had".into());
    if schema.has_neighbours() || lacking.is_empty() {
        return Err(contradiction());
    }
    for &column in &lacking {
        let text = schema.columns.get_mut(column).and_then(|column| column.text.as_mut());
        text.ok_or_else(contradiction)?.tokens.neighbours = true;
    }
    for factor in &mut statistics.factors {
        if let FamilyStatistics::Text(column, text) = factor {
            text.lacks_neighbours = lacking.contains(column);
        }
    }
    schema.checked().map_err(|error| refused(error.to_string()))
}

fn read_batch(file: &mut Container<'_>, schema: &Schema) -> Result<Batch> {
    let has_weights = file.has("sample.weights");
    let weights = has_weights.then(|| file.take_f64("sample.weights", 1)).transpose()?;
    let classes = read_values(file, "sample.class")?;
    let mut columns = Vec::with_capacity(schema.columns.len());
    for (position, column) in schema.columns.iter().enumerate() {
        let name = format!("sample.{position}");
        columns.push(match column.kind {
            Kind::Category | Kind::Joint => BatchColumn::Category(read_values(file, &name)?),
            Kind::Number | Kind::Moments | Kind::Group => {
                BatchColumn::Number(file.take_u64(&name)?.into_iter().map(f64::from_bits).collect())
            }
            Kind::Text => BatchColumn::Text(read_documents(file, &name)?),
        });
    }
    Batch::from_columns(schema, classes, weights.map(|(_, weights)| weights), columns)
        .map_err(|error| refused(error.to_string()))
}

fn read_values(file: &mut Container<'_>, name: &str) -> Result<CategoryColumn> {
    let values = read_names(file, name)?;
    let (_, codes) = file.take_u32(&format!("{name}.codes"), 1)?;
    Ok(CategoryColumn { values, codes })
}

fn read_documents(file: &mut Container<'_>, name: &str) -> Result<TextColumn> {
    let tokens = read_names_in(file, name, |a, b| a.cmp(b))?;
    let invalid = || refused(format!("the documents of `{name}` cannot be read"));
    let ends = file.take_u64(&format!("{name}.documents"))?.into_iter().map(usize::try_from);
    let ends = ends.collect::<std::result::Result<Vec<usize>, _>>().map_err(|_| invalid())?;
    let (_, ids) = file.take_u32(&format!("{name}.tokens"), 1)?;
    let (_, counts) = file.take_u32(&format!("{name}.counts"), 1)?;
    let (_, missing) = file.take_u32(&format!("{name}.missing"), 1)?;
    let mut text = TextColumn::from_counts(tokens, &ends, &ids, &counts).map_err(|_| invalid())?;
    match missing.iter().all(|&row| text.remove_document(row as usize)) {
        true => Ok(text),
        false => Err(invalid()),
    }
}

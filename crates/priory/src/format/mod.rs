//! The model file: schema, settings and statistics in one canonical form.
//!
//! The same rows and settings give the same bytes, whatever order or split the rows came in. What is read is
//! checked before it is used, so that a file from a stranger can at worst be refused. docs/format.md describes
//! every section.

mod container;
mod group;
mod judged;
mod layout;
mod model_file;
mod parts;
mod sample;
mod text;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use container::{Container, Section, refused};
pub use layout::FileParts;
pub use model_file::ModelFile;

use crate::decay::Decay;
use crate::error::Result;
use crate::families::FamilyStatistics;
use crate::families::categorical::CategoryStatistics;
use crate::families::joint::JointStatistics;
use crate::families::number;
use crate::families::text::TextStatistics;
use crate::families::text::precomputed::{Precomputed, REVISION};
use crate::hash::{fnv1a, fnv1a_after};
use crate::judgement::Judgement;
use crate::judgement::text::masses_of;
use crate::learnt::Learnt;
use crate::moments::Moments;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::spectrum::Spectrum;
use crate::statistics::{MOST_CLASSES, Statistics};
use crate::tally::Tally;
use crate::vocabulary::{Vocabulary, canonical_order};

const VERSION_KEY: &str = "priory_format";
/// Files of what was not judged, and is not to be judged later, have the first version, and all others the second.
const VERSIONS: [&str; 2] = ["1", "2"];
/// What was worked out of all words together: see [`ModelFile`].
const DERIVED: &str = "derived";
/// How rows age.
const HALF_LIFE: &str = "half_life";
/// A model file of the rows of the present era: see [`crate::decay`].
const YOUNG: &str = "young";

/// Writes the model file of what was learnt, a section at a time.
///
/// # Errors
/// If the bytes cannot be written.
pub(crate) fn write(out: &mut impl Write, learnt: &Learnt) -> io::Result<()> {
    let (statistics, settings) = (learnt.statistics.canonical(), &learnt.settings);
    let (mut metadata, mut sections) = counted(&statistics)?;
    metadata.insert("settings", json(settings));
    if let Some(judgement) = &learnt.judgement {
        judged::write_judgement(judgement, &mut metadata, &mut sections);
        metadata.insert(VERSION_KEY, VERSIONS[1].to_owned());
    }
    if let Some(rows) = &learnt.statistics.sample {
        sample::write(rows, &statistics, &mut metadata, &mut sections);
        metadata.insert(VERSION_KEY, VERSIONS[1].to_owned());
    }
    // Last, since another thread that estimates the model may have chosen meanwhile what has to be chosen.
    let derived = derived(&statistics, settings, learnt.judgement.as_ref());
    if !derived.is_empty() {
        metadata.insert(DERIVED, json(&derived));
    }
    container::write(out, &metadata, &sections)
}

/// A number that follows from all that was counted, and from nothing else: not from how it was written.
pub(crate) fn fingerprint(statistics: &Statistics) -> u64 {
    let mut statistics = statistics.canonical();
    if statistics.schema.columns.iter().any(|column| column.written.is_some()) {
        let plain = statistics.to_mut();
        let young = plain.decay.as_mut().and_then(|decay| decay.young.as_mut());
        let schemas = young.map(|young| &mut young.schema).into_iter().chain([&mut plain.schema]);
        schemas
            .flat_map(|schema| &mut Arc::make_mut(schema).columns)
            .for_each(|column| column.written = None);
    }
    let (metadata, sections) = counted(&statistics).expect("memory takes everything");
    let mut fingerprint = fnv1a(&[]);
    // The number of bytes of each piece comes before it, so that it matters where one ends and the next begins.
    let mut add = |bytes: &[u8]| {
        let length = (bytes.len() as u64).to_le_bytes();
        fingerprint = fnv1a_after(fnv1a_after(fingerprint, &length), bytes);
    };
    for (key, value) in &metadata {
        add(key.as_bytes());
        add(value.as_bytes());
    }
    for section in &sections {
        add(section.name().as_bytes());
        add(&crc32fast::hash(section.contents()).to_le_bytes());
    }
    fingerprint
}

/// Everything that was counted, as metadata and sections of a file.
fn counted(statistics: &Statistics) -> io::Result<(BTreeMap<&'static str, String>, Vec<Section>)> {
    let mut metadata = frame(statistics);
    let mut sections = sections(statistics);
    if let Some(on_grid) = &statistics.on_grid {
        judged::write(on_grid, &mut metadata, &mut sections);
        metadata.insert(VERSION_KEY, VERSIONS[1].to_owned());
    }
    if let Some(decay) = &statistics.decay {
        metadata.insert(HALF_LIFE, json(&decay.half_life));
        if let Some(young) = &decay.young {
            let mut frame = frame(young);
            frame.insert("settings", json(&Settings::default()));
            let mut file = Vec::new();
            container::write(&mut file, &frame, &self::sections(young))?;
            sections.push(Section::bytes(YOUNG, file));
        }
    }
    Ok((metadata, sections))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("everything in a header has string keys only")
}

/// What every header says of the statistics.
fn frame(statistics: &Statistics) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        (VERSION_KEY, VERSIONS[0].to_owned()),
        ("rows", statistics.rows.to_string()),
        ("schema", json(statistics.schema())),
    ])
}

/// Classes and columns of canonical statistics.
fn sections(statistics: &Statistics) -> Vec<Section> {
    let mut sections = Vec::new();
    write_names(&mut sections, "class", &statistics.classes);
    write_tally(&mut sections, "class.weight", &statistics.class_weight);
    for factor in &statistics.factors {
        match factor {
            FamilyStatistics::Category(column, category) => {
                write_names(&mut sections, &format!("column.{column}"), &category.values);
                write_tally(&mut sections, &format!("column.{column}.counts"), &category.counts);
            }
            FamilyStatistics::Joint(joint) => {
                for (column, values) in joint.columns.iter().zip(&joint.values) {
                    write_names(&mut sections, &format!("column.{column}"), values);
                }
                let shape = vec![joint.cells.len(), joint.columns.len()];
                sections.push(Section::u32("joint.cells", shape, joint.cells.iter().flatten().copied()));
                write_tally(&mut sections, "joint.counts", &joint.counts);
            }
            FamilyStatistics::Number(column, number) => {
                let mut bytes = Vec::new();
                number.moments.iter().for_each(|moments| moments.write(&mut bytes));
                sections.push(Section::bytes(format!("column.{column}.moments"), bytes));
                if let Some(spectrum) = &number.spectrum {
                    write_spectrum(&mut sections, &format!("column.{column}.spectrum"), spectrum);
                }
            }
            FamilyStatistics::Text(column, text) => text::write(&mut sections, *column, text),
            FamilyStatistics::Group(sums) => group::write(&mut sections, sums),
        }
    }
    sections
}

/// Whether a file could be a model, as far as its first 16 bytes tell. What could not need not be read.
pub fn could_be_file(beginning: &[u8]) -> bool {
    container::could_begin(beginning)
}

/// Reads a model file, of which only a little is in memory at a time.
///
/// # Errors
/// If a byte was changed, lost or added, if the contents contradict each other, or if the file cannot be read.
pub(crate) fn read(file: &impl FileParts) -> Result<Learnt> {
    let mut file = Container::open(file, VERSION_KEY, &VERSIONS)?;
    let (mut statistics, settings) = read_statistics(&mut file)?;
    check_derived(&read_derived(&file)?, &statistics, &settings)?;
    if file.layout.metadata.contains_key(HALF_LIFE) {
        let half_life = parse(&file.layout.metadata, HALF_LIFE)?;
        let young = file.has(YOUNG).then(|| read_young(&file.take_bytes(YOUNG)?)).transpose()?;
        let decay = Decay::checked(half_life, young, &statistics);
        let wrong = || refused("what it says about the age of its rows cannot be".into());
        statistics.decay = Some(decay.ok_or_else(wrong)?);
    }
    statistics.on_grid = judged::read(&mut file, &statistics)?;
    let judgement = judged::read_judgement(&mut file, &statistics)?;
    sample::read(&mut file, &mut statistics)?;
    // What has nothing to do with a judgement has the bytes of the first version.
    let is_second = statistics.on_grid.is_some() || judgement.is_some() || statistics.sample.is_some();
    if is_second != (file.layout.metadata.get(VERSION_KEY).is_some_and(|version| version == VERSIONS[1])) {
        return Err(refused("its format version is not that of its contents".into()));
    }
    file.finish()?;
    Ok(Learnt { judgement, ..Learnt::new(statistics, settings) })
}

fn read_young(bytes: &[u8]) -> Result<Statistics> {
    let mut file = Container::open(&bytes, VERSION_KEY, &VERSIONS[..1])?;
    let (statistics, _) = read_statistics(&mut file)?;
    file.finish()?;
    Ok(statistics)
}

/// Classes and columns, which do not contradict each other.
fn read_statistics(file: &mut Container<'_>) -> Result<(Statistics, Settings)> {
    let (mut statistics, settings) = read_frame(file)?;
    let classes = statistics.classes.len();
    for factor in &mut statistics.factors {
        read_factor(file, factor, classes)?;
    }
    check(&statistics)?;
    Ok((statistics, settings))
}

/// Everything but the columns, which are still empty.
fn read_frame(file: &mut Container<'_>) -> Result<(Statistics, Settings)> {
    let schema: Schema = parse(&file.layout.metadata, "schema")?;
    let schema = schema.checked().map_err(|error| refused(error.to_string()))?;
    let settings: Settings = parse(&file.layout.metadata, "settings")?;
    settings.check().map_err(|error| refused(error.to_string()))?;
    let rows: u64 = parse(&file.layout.metadata, "rows")?;
    let classes = read_names(file, "class")?;
    if classes.len() > MOST_CLASSES {
        return Err(refused(format!("it has more than {MOST_CLASSES} classes")));
    }
    let class_weight = read_tally(file, "class.weight", 1, classes.len())?;
    let factors = FamilyStatistics::for_schema(&schema);
    Ok((
        Statistics {
            schema: Arc::new(schema),
            rows,
            classes,
            class_weight,
            factors,
            on_grid: None,
            sample: None,
            decay: None,
            is_settled: false,
        },
        settings,
    ))
}

/// What follows from all words of each column of text, as far as [`ModelFile`] can do with it.
fn derived(
    statistics: &Statistics,
    settings: &Settings,
    judgement: Option<&Judgement>,
) -> BTreeMap<usize, Precomputed> {
    let masses = |column: usize, text: &TextStatistics| {
        // A model of selected columns is read whole.
        let is_weighed =
            judgement.is_some_and(|judgement| judgement.used.is_none() && judgement.weighs(column));
        if is_weighed { masses_of(text, statistics.unit()).numbers().to_vec() } else { Vec::new() }
    };
    let texts = statistics.factors.iter().filter_map(|factor| match factor {
        FamilyStatistics::Text(column, text) => {
            let name = &statistics.schema.columns[*column].name;
            Some((*column, Precomputed::new(text, settings, name, masses(*column, text))?))
        }
        _ => None,
    });
    texts.collect()
}

fn read_derived(file: &Container<'_>) -> Result<BTreeMap<usize, Precomputed>> {
    if file.layout.metadata.contains_key(DERIVED) {
        parse(&file.layout.metadata, DERIVED)
    } else {
        Ok(BTreeMap::new())
    }
}

/// Refuses derived numbers that cannot belong to these counts. They are not compared with what the formulas of today
/// make of the counts, which may differ in the last bits from what they made when the file was written; whoever reads
/// the whole file works them out again.
fn check_derived(
    derived: &BTreeMap<usize, Precomputed>,
    statistics: &Statistics,
    settings: &Settings,
) -> Result<()> {
    let belongs = |(&column, precomputed): (&usize, &Precomputed)| {
        statistics.factors.iter().any(|factor| match factor {
            FamilyStatistics::Text(position, text) if *position == column => {
                let name = &statistics.schema.columns[column].name;
                let fits = precomputed.fits(settings, name, text, statistics.classes.len());
                precomputed.tokens == text.tokens.len() as u64 && (fits || precomputed.revision != REVISION)
            }
            _ => false,
        })
    };
    if derived.iter().all(belongs) {
        return Ok(());
    }
    Err(refused("its counts contradict what was derived from them".into()))
}

fn parse<T: serde::de::DeserializeOwned>(metadata: &BTreeMap<String, String>, key: &str) -> Result<T> {
    let found = metadata.get(key).ok_or_else(|| refused(format!("its header lacks `{key}`")))?;
    serde_json::from_str(found).map_err(|error| refused(format!("its {key} cannot be read: {error}")))
}

fn read_factor(file: &mut Container<'_>, factor: &mut FamilyStatistics, classes: usize) -> Result<()> {
    match factor {
        FamilyStatistics::Category(column, category) => {
            let values = read_names(file, &format!("column.{column}"))?;
            let counts = read_tally(file, &format!("column.{column}.counts"), values.len() + 1, classes)?;
            *category = CategoryStatistics { values, counts };
        }
        FamilyStatistics::Joint(joint) => {
            let columns = joint.columns.clone();
            let values = columns.iter().map(|column| read_names(file, &format!("column.{column}")));
            let values = values.collect::<Result<Vec<_>>>()?;
            let (shape, ids) = file.take_u32("joint.cells", 2)?;
            if shape[1] != columns.len() {
                return Err(refused("its joint table has cells of the wrong width".into()));
            }
            let cells: Vec<Vec<u32>> = ids.chunks_exact(columns.len()).map(<[u32]>::to_vec).collect();
            let known =
                |cell: &Vec<u32>| cell.iter().zip(&values).all(|(&id, values)| (id as usize) < values.len());
            if !cells.iter().all(known) || !cells.is_sorted_by(|a, b| a < b) {
                return Err(refused("its joint table has cells that are unknown or out of order".into()));
            }
            let counts = read_tally(file, "joint.counts", cells.len() + 1, classes)?;
            *joint = JointStatistics::from_parts(columns, values, cells, counts);
        }
        FamilyStatistics::Number(column, number) => {
            let bytes = file.take_bytes(&format!("column.{column}.moments"))?;
            let mut bytes = &*bytes;
            let moments: Option<Vec<Moments>> = (0..classes).map(|_| Moments::read(&mut bytes)).collect();
            let moments =
                moments.filter(|moments| bytes.is_empty() && moments.iter().all(number::is_possible));
            number.moments = moments.ok_or_else(|| {
                refused(format!("the sums of column {column} cannot be those of any numbers"))
            })?;
            if number.spectrum.is_some() {
                number.spectrum = Some(read_spectrum(file, &format!("column.{column}.spectrum"), classes)?);
            }
        }
        FamilyStatistics::Text(column, text) => text::read(file, *column, text, classes)?,
        FamilyStatistics::Group(sums) => group::read(file, sums, classes)?,
    }
    Ok(())
}

/// Each class has some weight, each value occurs, and every row was counted once in every factor.
fn check(statistics: &Statistics) -> Result<()> {
    let contradiction = |what: &str| Err(refused(format!("its counts contradict each other: {what}")));
    let classes = 0..statistics.classes.len();
    if classes.clone().any(|class| statistics.class_weight.is_zero(0, class)) {
        return contradiction("a class has no rows");
    }
    if statistics.rows < classes.len() as u64 || (classes.is_empty() && statistics.rows > 0) {
        return contradiction("there are fewer rows than classes");
    }
    if !statistics.total_weight().is_finite() {
        return contradiction("the weights are too large");
    }
    for factor in &statistics.factors {
        if factor.counts().is_some_and(|counts| (1..counts.rows()).any(|row| counts.row_is_zero(row))) {
            return contradiction("a value never occurs");
        }
        if let FamilyStatistics::Number(_, number) = factor
            && let Some(spectrum) = &number.spectrum
            && (0..spectrum.cells().len()).any(|cell| spectrum.counts().is_zero(cell, 0))
        {
            return contradiction("a number never occurs");
        }
        if classes.clone().any(|class| !factor.counts_all(class, &statistics.class_weight.exact(0, class))) {
            return contradiction("a column does not count every row");
        }
        if let FamilyStatistics::Joint(joint) = factor
            && (0..joint.columns.len()).any(|i| !every_value_occurs(joint, i))
        {
            return contradiction("a value of the joint table never occurs");
        }
    }
    Ok(())
}

fn every_value_occurs(joint: &JointStatistics, column: usize) -> bool {
    let mut occurs = vec![false; joint.values[column].len()];
    joint.cells.iter().for_each(|cell| occurs[cell[column] as usize] = true);
    occurs.into_iter().all(|occurs| occurs)
}

fn write_names(sections: &mut Vec<Section>, prefix: &str, names: &Vocabulary) {
    let mut bytes = Vec::with_capacity(names.bytes());
    names.names().for_each(|name| bytes.extend_from_slice(name.as_bytes()));
    let mut end = 0;
    let ends = names.names().map(|name| {
        end += name.len() as u64;
        end
    });
    sections.push(Section::u64(format!("{prefix}.ends"), vec![names.len()], ends));
    sections.push(Section::bytes(format!("{prefix}.names"), bytes));
}

fn read_names(file: &mut Container<'_>, prefix: &str) -> Result<Vocabulary> {
    read_names_in(file, prefix, canonical_order)
}

/// Names that stand in a certain order, none of them twice.
fn read_names_in(
    file: &mut Container<'_>,
    prefix: &str,
    order: impl Fn(&str, &str) -> Ordering,
) -> Result<Vocabulary> {
    let ends = file.take_u64(&format!("{prefix}.ends"))?;
    let bytes = file.take_bytes(&format!("{prefix}.names"))?;
    let invalid = || refused(format!("the names of `{prefix}` cannot be read"));
    let text = String::from_utf8(bytes).map_err(|_| invalid())?;
    let ends = ends.into_iter().map(usize::try_from).collect::<std::result::Result<Vec<usize>, _>>();
    let ends = ends.map_err(|_| invalid())?;
    let (mut start, mut last) = (0, None);
    for &end in &ends {
        let name = text.get(start..end).ok_or_else(invalid)?;
        if last.is_some_and(|last| order(last, name).is_ge()) {
            return Err(refused(format!("the names of `{prefix}` are out of order")));
        }
        (start, last) = (end, Some(name));
    }
    if start != text.len() {
        return Err(invalid());
    }
    Ok(Vocabulary::of_joined(text, ends))
}

/// The level, then the keys; the classes of the cells; their weights.
fn write_spectrum(sections: &mut Vec<Section>, name: &str, spectrum: &Spectrum) {
    let keys: Vec<u64> = std::iter::once(spectrum.level().into())
        .chain(spectrum.cells().iter().map(|&(key, _)| key))
        .collect();
    let classes: Vec<u32> = spectrum.cells().iter().map(|&(_, class)| class).collect();
    sections.push(Section::u64(format!("{name}.keys"), vec![keys.len()], keys.iter().copied()));
    sections.push(Section::u32(format!("{name}.classes"), vec![classes.len()], classes.iter().copied()));
    write_tally(sections, &format!("{name}.counts"), spectrum.counts());
}

fn read_spectrum(file: &mut Container<'_>, name: &str, classes: usize) -> Result<Spectrum> {
    let keys = file.take_u64(&format!("{name}.keys"))?;
    let (_, of_cells) = file.take_u32(&format!("{name}.classes"), 1)?;
    let counts = read_tally(file, &format!("{name}.counts"), of_cells.len(), 1)?;
    let invalid = || refused(format!("the section `{name}` holds numbers that cannot be"));
    let (level, keys) = keys.split_first().ok_or_else(invalid)?;
    let level = u32::try_from(*level).map_err(|_| invalid())?;
    if keys.len() != of_cells.len() || of_cells.iter().any(|&class| class as usize >= classes) {
        return Err(invalid());
    }
    let cells = keys.iter().copied().zip(of_cells).collect();
    Spectrum::from_parts(level, cells, counts).ok_or_else(invalid)
}

/// Cells as f64, and, where weights are fractions, what each cell lacks to be exact.
fn write_tally(sections: &mut Vec<Section>, name: &str, tally: &Tally) {
    sections.push(Section::f64(name, vec![tally.rows(), tally.classes()], tally.cells()));
    write_residue(sections, name, &tally.residue().collect::<Vec<_>>());
}

fn write_residue(sections: &mut Vec<Section>, name: &str, residue: &[(u64, f64)]) {
    if residue.is_empty() {
        return;
    }
    let shape = vec![residue.len()];
    let cells = residue.iter().map(|&(cell, _)| cell);
    sections.push(Section::u64(format!("{name}.residue.cells"), shape.clone(), cells));
    let terms = residue.iter().map(|&(_, term)| term);
    sections.push(Section::f64(format!("{name}.residue.terms"), shape, terms));
}

fn read_tally(file: &mut Container<'_>, name: &str, rows: usize, classes: usize) -> Result<Tally> {
    let (shape, cells) = file.take_f64(name, 2)?;
    if shape != [rows, classes] {
        return Err(refused(format!("the section `{name}` does not have the shape it should")));
    }
    let residue = read_residue(file, name)?;
    Tally::from_cells(rows, classes, &cells, &residue).ok_or_else(|| {
        refused(format!("the section `{name}` holds weights below zero or not in canonical form"))
    })
}

/// What the cells of a section lack to be exact.
fn read_residue(file: &mut Container<'_>, name: &str) -> Result<Vec<(u64, f64)>> {
    let residue_cells = format!("{name}.residue.cells");
    if !file.has(&residue_cells) {
        return Ok(Vec::new());
    }
    let cells = file.take_u64(&residue_cells)?;
    let (_, terms) = file.take_f64(&format!("{name}.residue.terms"), 1)?;
    if cells.len() != terms.len() {
        return Err(refused(format!("the residue of `{name}` is incomplete")));
    }
    Ok(cells.into_iter().zip(terms).collect())
}

//! A model file that is not read whole: enough of it to score some rows.

use std::collections::BTreeMap;

use super::container::{ElementKind, refused};
use super::judged;
use super::layout::FileParts;
use super::parts::Parts;
use super::sample::SAMPLE;
use super::text::WORD_SECTIONS;
use super::{
    DERIVED, VERSION_KEY, VERSIONS, YOUNG, check, parse, read_derived, read_factor, read_frame, read_tally,
};
use crate::batch::{Batch, TextColumn};
use crate::error::Result;
use crate::families::FamilyStatistics;
use crate::families::text::table::{TokenCell, TokenTable};
use crate::families::text::{DOCUMENTS_ROW, TOTALS, TextStatistics};
use crate::judgement::Judgement;
use crate::model::Model;
use crate::schema::Schema;
use crate::settings::{Selection, Settings};
use crate::statistics::Statistics;
use crate::vocabulary::Vocabulary;

/// An open model file that is read as far as some rows need it.
///
/// A model of text may know a million words, of which a document has a few. Their counts are looked up in the file, and
/// only the blocks that hold them are read and checked. The scores are those of the whole model, to the last bit. What
/// [`Learnt::read`](crate::Learnt::read) checks of the words all together is not checked here: a damaged file is still noticed
/// wherever it is read, but one that somebody made up may be taken for a model in which words are not where they should
/// be.
///
/// ```
/// use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Value};
/// use priory::format::ModelFile;
///
/// let schema = Schema::new("class", vec![Column::new("text", Kind::Text)])?;
/// let mut mails = Batch::new(&schema);
/// mails.push(Some("spam"), 1.0, &[Value::Text(&["win", "money", "now"])])?;
/// mails.push(Some("ham"), 1.0, &[Value::Text(&["see", "you", "now"])])?;
/// let mut learnt = Learnt::empty(&schema, Settings::default());
/// learnt.learn(&mails)?;
///
/// let file = ModelFile::open(learnt.to_bytes())?.expect("nothing stands in the way");
/// let mut question = Batch::new(&schema);
/// question.push(None, 1.0, &[Value::Text(&["money", "money", "money"])])?;
/// let posterior = file.model_for(&question)?.score(&question)?.normalize();
/// assert_eq!(file.classes().nth(posterior.best(0)), Some("spam"));
/// # Ok::<(), priory::Error>(())
/// ```
pub struct ModelFile {
    parts: Parts,
    settings: Settings,
    /// All but the words.
    statistics: Statistics,
    judgement: Option<Judgement>,
}

impl ModelFile {
    /// Opens a file; `None` if a few words are not enough to score a document with it, so that it has to be read whole.
    /// That is so if the model selects columns or leaves some words out, if documents have weights that are not whole
    /// numbers, or if another version of the program wrote it, whose arithmetic was different.
    ///
    /// # Errors
    /// If a byte of what is read was changed, lost or added, or the contents contradict each other.
    pub fn open(file: impl FileParts + 'static) -> Result<Option<Self>> {
        let parts = Parts::open(Box::new(file), VERSION_KEY, &VERSIONS)?;
        let metadata = &parts.layout.metadata;
        if !metadata.contains_key(DERIVED) {
            return Ok(None);
        }
        let mut rest = parts.container(is_of_words(&parts)?);
        let (mut statistics, settings) = read_frame(&mut rest)?;
        // Which columns are selected is known only from all that was counted.
        if settings.select != Selection::All {
            return Ok(None);
        }
        // Nor is anybody in a hurry with a part that is still to be judged.
        if metadata.contains_key(SAMPLE) {
            return Ok(None);
        }
        let classes = statistics.classes.len();
        let mut derived = read_derived(&rest)?;
        for factor in &mut statistics.factors {
            let FamilyStatistics::Text(column, text) = factor else {
                read_factor(&mut rest, factor, classes)?;
                continue;
            };
            text.totals = read_tally(&mut rest, &format!("column.{column}.totals"), TOTALS, classes)?;
            let name = &statistics.schema.columns[*column].name;
            let whole = derived.remove(&*column).filter(|whole| whole.fits(&settings, name, text, classes));
            if whole.is_none() || parts.has(&format!("column.{column}.documents.residue.cells")) {
                return Ok(None);
            }
            text.precomputed = whole;
        }
        statistics.on_grid = judged::read(&mut rest, &statistics)?;
        let judgement = judged::read_judgement(&mut rest, &statistics)?;
        rest.finish()?;
        check(&statistics)?;
        Ok(Some(ModelFile { parts, settings, statistics, judgement }))
    }

    /// What the columns are.
    pub fn schema(&self) -> &Schema {
        &self.statistics.schema
    }

    /// The settings that the model is estimated under.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many rows were learnt.
    pub fn rows(&self) -> u64 {
        self.statistics.rows()
    }

    /// Whether it was judged how much what the columns say is worth.
    pub fn is_judged(&self) -> bool {
        self.judgement.is_some()
    }

    /// The classes, in canonical order.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.statistics.classes.names()
    }

    /// A model that scores the rows of this batch as the whole model would. Of words in other rows it knows nothing.
    ///
    /// # Errors
    /// If what is read of the file is damaged, or contradicts itself; or if the batch does not have the columns of the schema.
    pub fn model_for(&self, batch: &Batch) -> Result<Model> {
        batch.check(&self.statistics.schema)?;
        let mut statistics = self.statistics.clone();
        for factor in &mut statistics.factors {
            if let FamilyStatistics::Text(column, text) = factor {
                let words = Words { parts: &self.parts, prefix: format!("column.{column}") };
                words.read(batch.text(*column), text)?;
            }
        }
        match &self.judgement {
            Some(judgement) => statistics.estimate_judged(&self.settings, judgement),
            None => Model::new(&statistics, &self.settings, |_| true),
        }
    }
}

/// Tells the sections that are not read whole: those of words, and the rows that will be left one day.
fn is_of_words(parts: &Parts) -> Result<impl Fn(&str) -> bool + use<>> {
    let schema: Schema = parse(&parts.layout.metadata, "schema")?;
    let texts = (0..schema.columns.len()).filter(|&i| schema.columns[i].text.is_some());
    let names: Vec<String> =
        texts.flat_map(|i| WORD_SECTIONS.map(|section| format!("column.{i}.{section}"))).collect();
    Ok(move |name: &str| name == YOUNG || names.iter().any(|of_words| of_words == name))
}

/// The words of a column of text in a file.
struct Words<'a> {
    parts: &'a Parts,
    prefix: String,
}

impl Words<'_> {
    /// Reads the counts of the tokens that a column of a batch has.
    fn read(&self, column: &TextColumn, text: &mut TextStatistics) -> Result<()> {
        let wrong = || refused(format!("the tokens of `{}` are not in canonical form", self.prefix));
        let classes = text.totals.classes();
        // By position, which is the order of the tokens.
        let mut found = BTreeMap::new();
        for token in column.tokens().names() {
            if let Some(position) = self.find(token)? {
                found.insert(position, token);
            }
        }
        text.tokens = found.values().copied().collect::<Vocabulary>().into();
        let (mut ends, mut cells) = (Vec::with_capacity(found.len()), Vec::new());
        for &position in found.keys() {
            self.read_cells(position, &mut cells)?;
            ends.push(cells.len() as u64);
        }
        let possible =
            |cell: &TokenCell| cell.documents <= text.totals.get(DOCUMENTS_ROW, cell.class as usize);
        text.counts = TokenTable::from_cells(classes, &ends, cells.iter().copied(), [&[], &[]])
            .filter(|_| text.tokens.is_sorted_by_bytes() && cells.iter().all(possible))
            .ok_or_else(wrong)?
            .into();
        Ok(())
    }

    /// The position of a token among all, if it is there.
    fn find(&self, token: &str) -> Result<Option<usize>> {
        let (_, tokens) = self.parts.array(&self.section("ends"))?;
        let (mut from, mut to) = (0, tokens);
        while from < to {
            let middle = from.midpoint(to);
            match self.token(middle)?.as_slice().cmp(token.as_bytes()) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        Ok(None)
    }

    fn token(&self, position: usize) -> Result<Vec<u8>> {
        let [start, end] = self.ends("ends", position)?;
        self.parts.elements(&self.section("names"), ElementKind::U8, start..end)
    }

    fn read_cells(&self, position: usize, cells: &mut Vec<TokenCell>) -> Result<()> {
        let [start, end] = self.ends("cells", position)?;
        let classes = self.parts.elements(&self.section("classes"), ElementKind::U16, start..end)?;
        let documents = self.counts("documents", start..end)?;
        let terms = self.counts("terms", start..end)?;
        let classes = classes.as_chunks().0.iter().map(|&class| u32::from(u16::from_le_bytes(class)));
        let all = classes.zip(documents).zip(terms);
        cells.extend(all.map(|((class, documents), terms)| TokenCell { class, documents, terms }));
        Ok(())
    }

    fn counts(&self, name: &str, cells: std::ops::Range<usize>) -> Result<Vec<f64>> {
        let section = self.section(name);
        let (kind, _) = self.parts.array(&section)?;
        if kind == ElementKind::U32 {
            let bytes = self.parts.elements(&section, kind, cells)?;
            return Ok(bytes.as_chunks().0.iter().map(|&count| u32::from_le_bytes(count).into()).collect());
        }
        let bytes = self.parts.elements(&section, ElementKind::F64, cells)?;
        let counts: Vec<f64> = bytes.as_chunks().0.iter().map(|&count| f64::from_le_bytes(count)).collect();
        if counts.iter().all(|count| count.is_finite()) {
            return Ok(counts);
        }
        Err(refused(format!("`{section}` holds a number that is not finite")))
    }

    /// Where the entries of a token begin and end, as an array of ends says.
    fn ends(&self, name: &str, position: usize) -> Result<[usize; 2]> {
        let section = self.section(name);
        let bytes = self.parts.elements(&section, ElementKind::U64, position.max(1) - 1..position + 1)?;
        let ends = bytes.as_chunks().0.iter().map(|&end| u64::from_le_bytes(end));
        let ends: Vec<usize> = ends.filter_map(|end| usize::try_from(end).ok()).collect();
        match (position, &ends[..]) {
            (0, &[end]) => Ok([0, end]),
            (_, &[start, end]) => Ok([start, end]),
            _ => Err(refused(format!("the section `{section}` holds what cannot be"))),
        }
    }

    fn section(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }
}

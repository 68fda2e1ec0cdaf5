//! An opened table being read: by one thread after the other, or by several at once.
//!
//! Blocks are handed out one at a time under a lock, which is quick, and parsed outside it, which takes long. So any
//! number of threads can read one table in bounded memory, without knowing of each other.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use priory::batch::MISSING;
use priory::infer::is_missing_word;
use priory::written::{Bins, Written};
use priory::{Batch, CategoryColumn, Schema, TextColumn};

use crate::error::{Error, Result, shown, shown_list};
use crate::input::{Block, Input, Parser};
use crate::kept::KeptColumn;
use crate::remarks::SheetRemark;
use crate::table::{Purpose, Table};
use crate::text::Tokenizer;

/// What to do with a value that is not of its column's kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BadValues {
    /// Stop with an error that names it.
    #[default]
    Refused,
    /// Take it as missing, and count it.
    Missing,
}

/// Where the columns of a schema are in a table, and how their values are read.
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) purpose: Purpose,
    pub(crate) header: Vec<String>,
    /// The positions of the target, the weight and the features, as far as they are to be read.
    pub(crate) target: Option<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) features: Vec<Option<usize>>,
    /// The intervals that are the classes, if the target is a number.
    bins: Option<(Bins, Vec<f64>, Vec<String>)>,
    /// How the features are written that are not written plainly.
    pub(crate) written: Vec<Option<Written>>,
    /// How the features that are text are read.
    pub(crate) tokenizers: Vec<Option<Tokenizer>>,
    /// The positions of the columns that only pass through; they may be among the others as well.
    pub(crate) kept: Vec<usize>,
    /// How many rows a batch may have, whatever its columns.
    pub(crate) most_rows: usize,
    pub(crate) missing: MissingSpellings,
    /// Whether words such as `N/A` mean missing in columns of numbers.
    missing_words: bool,
    bad_values: BadValues,
    bad_values_met: AtomicU64,
    missing_columns: Vec<String>,
    missing_weight: Option<String>,
    surplus_columns: Vec<String>,
    renamed_columns: Vec<(String, String)>,
    remarks: Vec<SheetRemark>,
}

impl Plan {
    pub(crate) fn new(table: &Table, schema: &Schema, purpose: Purpose) -> Result<Self> {
        let header = table.header();
        // A table may have a million columns, so a linear search for each would be too slow.
        let positions: HashMap<&str, usize> = header.iter().map(String::as_str).zip(0..).collect();
        let find = |name: &str| positions.get(name).copied();
        let (mut target, mut weight) = (None, None);
        if purpose != Purpose::Scoring {
            target = Some(table.column("target", &schema.target)?);
            weight = match &schema.weight {
                Some(name) if purpose == Purpose::Learning => Some(table.column("weight", name)?),
                name => name.as_ref().and_then(|name| find(name)),
            };
        }
        let features: Vec<Option<usize>> =
            schema.columns.iter().map(|column| find(column.source())).collect();
        let mut missing_columns = Vec::new();
        for (column, _) in schema.columns.iter().zip(&features).filter(|(_, found)| found.is_none()) {
            if purpose == Purpose::Learning {
                table.column("feature", column.source())?;
            }
            missing_columns.push(column.source().to_owned());
        }
        missing_columns.dedup();
        if !features.is_empty() && features.iter().all(Option::is_none) {
            return Err(Error::NoFeatures { name: table.name().into(), header: shown_list(header) });
        }
        let tokenizers = schema.columns.iter().map(|column| {
            let tokenizer = column.text.as_ref().map(|text| Tokenizer::new(&text.tokens)).transpose();
            tokenizer.map_err(|cause| Error::Use { name: table.name().into(), cause })
        });
        let tokenizers = tokenizers.collect::<Result<_>>()?;
        let mut known = vec![false; header.len()];
        let others = [Some(&schema.target), schema.weight.as_ref()];
        let others = others.into_iter().flatten().filter_map(|name| find(name));
        others.chain(features.iter().flatten().copied()).for_each(|position| known[position] = true);
        let surplus = header.iter().zip(&known).filter(|(_, known)| !**known);
        let surplus_columns = surplus.map(|(name, _)| name.clone()).collect();
        Ok(Plan {
            name: table.name().into(),
            purpose,
            header: header.to_vec(),
            target,
            weight,
            features,
            bins: schema
                .bins
                .as_ref()
                .filter(|_| target.is_some())
                .and_then(|bins| bins.numbers().map(|edges| (bins.clone(), edges, bins.names()))),
            written: schema.columns.iter().map(|column| column.written.clone()).collect(),
            tokenizers,
            kept: table.kept().to_vec(),
            most_rows: table.most_rows(),
            missing: MissingSpellings::new(&schema.missing),
            missing_words: schema.knows_missing_words(),
            bad_values: table.options().bad_values,
            bad_values_met: AtomicU64::new(0),
            missing_columns,
            missing_weight: schema.weight.clone().filter(|_| purpose == Purpose::Testing && weight.is_none()),
            surplus_columns,
            renamed_columns: table.renamed().to_vec(),
            remarks: table.remarks().to_vec(),
        })
    }

    /// For values of these features that come one by one, and not in columns of a table.
    pub(crate) fn of_values(name: &str, schema: &Schema, bad_values: BadValues) -> Self {
        let header: Vec<String> = schema.columns.iter().map(|column| column.source().to_owned()).collect();
        Plan {
            name: name.to_owned(),
            purpose: Purpose::Learning,
            target: None,
            weight: None,
            features: (0..header.len()).map(Some).collect(),
            header,
            bins: None,
            written: schema.columns.iter().map(|column| column.written.clone()).collect(),
            tokenizers: vec![None; schema.columns.len()],
            kept: Vec::new(),
            most_rows: usize::MAX,
            missing: MissingSpellings::new(&schema.missing),
            missing_words: schema.knows_missing_words(),
            bad_values,
            bad_values_met: AtomicU64::new(0),
            missing_columns: Vec::new(),
            missing_weight: None,
            surplus_columns: Vec::new(),
            renamed_columns: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// How many values were taken as missing because they are not of their column's kind.
    pub(crate) fn bad_values(&self) -> u64 {
        self.bad_values_met.load(Ordering::Relaxed)
    }

    /// The number that a value of a feature stands for, however it is written; NaN if it is missing.
    pub(crate) fn number(
        &self,
        feature: usize,
        spelling: &str,
        scratch: &mut String,
    ) -> std::result::Result<f64, BadNumber> {
        match &self.written[feature] {
            Some(_) if self.missing.contains(spelling) => Ok(f64::NAN),
            Some(written) => match (written.number(spelling, scratch), written) {
                (Some(number), _) => Ok(number),
                (None, Written::Date(_)) => self.no_number(spelling).map_err(|_| BadNumber::NoDate),
                (None, _) => self.no_number(spelling),
            },
            None => self.plain_number(spelling),
        }
    }

    /// The number that a spelling stands for, NaN if it is missing; the spelling was not an ordinary number.
    pub(crate) fn plain_number(&self, spelling: &str) -> std::result::Result<f64, BadNumber> {
        if self.missing.contains(spelling) {
            return Ok(f64::NAN);
        }
        match fast_float2::parse::<f64, _>(spelling.trim()) {
            Ok(value) if value.is_infinite() => Err(BadNumber::Infinite),
            Ok(value) => Ok(value),
            Err(_) => self.no_number(spelling),
        }
    }

    /// Puts the numbers of the target, which were read as they are written, into their intervals.
    fn put_into_bins(&self, classes: &mut CategoryColumn) -> Result<()> {
        let (Some((bins, edges, names)), Some(position)) = (&self.bins, self.target) else { return Ok(()) };
        let CategoryColumn { values, mut codes } = std::mem::take(classes);
        let mut scratch = String::new();
        let mut binned = vec![MISSING];
        for (id, value) in values.names().enumerate() {
            let number = match &bins.written {
                Some(style) => style.read(value, &mut scratch).map_or_else(|| self.no_number(value), Ok),
                None => self.plain_number(value),
            };
            let number = number.or_else(|bad| {
                let row = codes.iter().position(|&code| code as usize == id + 1).unwrap_or_default();
                self.bad_value(bad, row, position, value)
            })?;
            let name = (!number.is_nan()).then(|| &names[edges.partition_point(|&edge| edge <= number)]);
            binned.push(name.map_or(MISSING, |name| classes.values.intern(name) as u32 + 1));
        }
        codes.iter_mut().for_each(|code| *code = binned[*code as usize]);
        classes.codes = codes;
        Ok(())
    }

    /// The category that a value of a feature stands for that is not written plainly; `None` if it is missing, or stands for none
    /// and that is not refused. The row is counted from 0 in its block.
    pub(crate) fn category<'v>(
        &'v self,
        feature: usize,
        row: usize,
        position: usize,
        spelling: &'v str,
    ) -> Result<Option<&'v str>> {
        let is_missing = self.missing.contains(spelling) || self.missing_words && is_missing_word(spelling);
        match &self.written[feature] {
            _ if is_missing => Ok(None),
            None => Ok(Some(spelling)),
            Some(written) => match written.category(spelling) {
                None => self.bad_value(BadNumber::NoDate, row, position, spelling).map(|_| None),
                category => Ok(category),
            },
        }
    }

    /// A value that is no number may be a word for that.
    fn no_number(&self, spelling: &str) -> std::result::Result<f64, BadNumber> {
        let is_missing = self.missing_words && is_missing_word(spelling);
        if is_missing { Ok(f64::NAN) } else { Err(BadNumber::NoNumber) }
    }

    /// Deals with a value that is not a number. The row is counted from 0 in its block.
    #[cold]
    pub(crate) fn bad_value(&self, bad: BadNumber, row: usize, position: usize, value: &str) -> Result<f64> {
        if self.bad_values == BadValues::Missing {
            self.bad_values_met.fetch_add(1, Ordering::Relaxed);
            return Ok(f64::NAN);
        }
        let (name, row) = (self.name.clone(), 1 + row as u64);
        let (column, value) = (shown(&self.header[position]), shown(value));
        Err(match bad {
            BadNumber::NoNumber => Error::NoNumber { name, row, column, value },
            BadNumber::NoDate => Error::NoDate { name, row, column, value },
            BadNumber::Infinite => Error::Infinite { name, row, column, value },
        })
    }

    pub(crate) fn bad_weight(&self, row: usize, position: usize, value: &str) -> Error {
        Error::Weight {
            name: self.name.clone(),
            row: 1 + row as u64,
            column: shown(&self.header[position]),
            value: shown(value),
        }
    }
}

impl Plan {
    /// Appends a document to a column as its next row, which is missing if the text is one of the spellings of missing.
    pub(crate) fn read_document(
        &self,
        document: Option<&str>,
        tokenizer: &mut Option<Tokenizer>,
        column: &mut TextColumn,
    ) {
        match (document, tokenizer) {
            (Some(document), Some(tokenizer)) if !self.missing.contains(document) => {
                tokenizer.read(document, column);
            }
            _ => column.push_missing(),
        }
    }

    /// The columns of the table that are read, from the first to the last.
    pub(crate) fn wanted(&self) -> Vec<usize> {
        let features = self.features.iter().copied().flatten();
        let roles = [self.target, self.weight].into_iter().flatten();
        let mut wanted: Vec<usize> = roles.chain(features).chain(self.kept.iter().copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

/// Why a value is not a number that can be counted.
pub(crate) enum BadNumber {
    NoNumber,
    NoDate,
    Infinite,
}

/// A table that any number of threads can read at once.
pub struct Reader {
    plan: Arc<Plan>,
    size: Option<u64>,
    empty: Batch,
    blocks: Mutex<Blocks>,
    rows: Mutex<RowCounts>,
}

/// How many rows each block had, for the blocks that were parsed.
#[derive(Default)]
struct RowCounts {
    /// Blocks so long ago that nobody asks for them one by one: how many, and what they had together.
    old_blocks: usize,
    old_rows: u64,
    recent: VecDeque<u64>,
}

impl RowCounts {
    /// No thread is as many blocks behind the others. A stream may go on for ever.
    const MOST: usize = 1 << 16;

    fn note(&mut self, block: usize, rows: u64) {
        let place = block.saturating_sub(self.old_blocks);
        if self.recent.len() <= place {
            self.recent.resize(place + 1, 0);
        }
        self.recent[place] = rows;
        while self.recent.len() > Self::MOST {
            self.old_rows += self.recent.pop_front().unwrap_or(0);
            self.old_blocks += 1;
        }
    }

    fn before(&self, block: usize) -> u64 {
        self.old_rows + self.recent.iter().take(block.saturating_sub(self.old_blocks)).sum::<u64>()
    }
}

/// The part of the table that has not been handed out yet.
struct Blocks {
    input: Input,
    next: usize,
    ended: bool,
}

impl Reader {
    pub(crate) fn new(mut table: Table, schema: &Schema, purpose: Purpose) -> Result<Self> {
        table.widen(schema);
        let plan = Arc::new(Plan::new(&table, schema, purpose)?);
        let mut input = table.into_input();
        input.prepare(&plan, schema)?;
        let size = input.size();
        let blocks = Mutex::new(Blocks { input, next: 0, ended: false });
        Ok(Reader { plan, size, empty: Batch::new(schema), blocks, rows: Mutex::default() })
    }

    /// A worker, with which one thread reads its share of the table.
    pub fn worker(&self) -> Worker<'_> {
        Worker { reader: self, state: self.thread_state() }
    }

    fn thread_state(&self) -> ThreadState {
        ThreadState {
            block: Block::default(),
            parser: held(&self.blocks).input.parser(&self.plan),
            kept: vec![KeptColumn::default(); self.plan.kept.len()],
        }
    }

    /// Makes all batches as copies of this one, which has no rows and the schema that is read.
    pub fn read_into(&mut self, batch: Batch) {
        self.empty = batch;
    }

    /// A batch to read into.
    pub fn empty_batch(&self) -> Batch {
        self.empty.clone()
    }

    /// The path of the table, or whatever else it is called.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// The features of the schema that the table does not have.
    pub fn missing_columns(&self) -> &[String] {
        &self.plan.missing_columns
    }

    /// The column of weights, if rows to be tested on should have some and the table has no such column.
    pub fn missing_weight(&self) -> Option<&str> {
        self.plan.missing_weight.as_deref()
    }

    /// The columns of the table that the schema does not have.
    pub fn surplus_columns(&self) -> &[String] {
        &self.plan.surplus_columns
    }

    /// The names that the header has twice, and what the later columns are called instead.
    pub fn renamed_columns(&self) -> &[(String, String)] {
        &self.plan.renamed_columns
    }

    /// What is to be said of the sheet of a spreadsheet.
    pub fn remarks(&self) -> &[SheetRemark] {
        &self.plan.remarks
    }

    /// How many values were taken as missing because they are not of their column's kind.
    pub fn bad_values(&self) -> u64 {
        self.plan.bad_values()
    }

    /// How many bytes were read so far, including a few blocks that are not parsed yet.
    pub fn bytes_read(&self) -> u64 {
        held(&self.blocks).input.bytes_read()
    }

    /// How many bytes there are, if the table is a regular file.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// How many rows the blocks before this one have; all of them must have been parsed.
    pub(crate) fn rows_before(&self, block: usize) -> u64 {
        held(&self.rows).before(block)
    }

    /// Takes the next block and returns its number, if there is one left. After an error there is none, because the
    /// input would continue in the middle of what could not be read.
    fn next_block(&self, block: &mut Block) -> std::result::Result<Option<usize>, InBlock> {
        let mut blocks = held(&self.blocks);
        if blocks.ended {
            return Ok(None);
        }
        let number = blocks.next;
        match blocks.input.next_block(block) {
            Ok(true) => {
                blocks.next += 1;
                Ok(Some(number))
            }
            Ok(false) => {
                blocks.ended = true;
                Ok(None)
            }
            // Reading the input fails after all blocks that were handed out, so the error belongs to the next block.
            Err(error) => {
                blocks.ended = true;
                Err(InBlock { block: number, error })
            }
        }
    }

    /// Replaces the rows of the batch by those of the next block, numbered from 1. Returns the number of their block,
    /// or `None` at the end of the table.
    fn read(
        &self,
        state: &mut ThreadState,
        batch: &mut Batch,
    ) -> std::result::Result<Option<usize>, InBlock> {
        batch.clear();
        batch.first_row = 1;
        state.kept.iter_mut().for_each(KeptColumn::clear);
        let Some(block) = self.next_block(&mut state.block)? else { return Ok(None) };
        let filled = state.parser.fill(&state.block, batch, &mut state.kept);
        let filled = filled.and_then(|()| self.plan.put_into_bins(&mut batch.classes));
        held(&self.rows).note(block, batch.rows as u64);
        filled.map(|()| Some(block)).map_err(|error| InBlock { block, error })
    }
}

/// One thread's share in reading a table.
pub struct Worker<'a> {
    reader: &'a Reader,
    state: ThreadState,
}

/// The buffers and the parser of one thread.
struct ThreadState {
    block: Block,
    parser: Parser,
    /// The columns that pass through, of the rows that were read last.
    kept: Vec<KeptColumn>,
}

/// An error, and the block in which it happened: its row is counted from the beginning of the block.
pub(crate) struct InBlock {
    pub(crate) block: usize,
    pub(crate) error: Error,
}

impl Worker<'_> {
    pub(crate) fn read(&mut self, batch: &mut Batch) -> std::result::Result<Option<usize>, InBlock> {
        self.reader.read(&mut self.state, batch)
    }

    /// The columns that pass through, of the rows that were read last.
    pub(crate) fn kept(&self) -> &[KeptColumn] {
        &self.state.kept
    }
}

/// The rows of a table, one batch after the other.
pub struct Batches {
    reader: Reader,
    state: ThreadState,
    next_row: u64,
}

impl Batches {
    pub(crate) fn new(reader: Reader) -> Self {
        let state = reader.thread_state();
        Batches { reader, state, next_row: 1 }
    }

    /// Replaces the rows of the batch by the next ones of the table; `false` if there are none left.
    ///
    /// # Errors
    /// If the table cannot be read or a row is invalid. The contents of the batch are then unspecified.
    ///
    /// # Panics
    /// If the batch was not made by [`Batch::new`] for the same schema.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        let read = self.reader.read(&mut self.state, batch);
        batch.first_row = self.next_row;
        match read {
            Ok(None) => Ok(false),
            Ok(Some(_)) => {
                self.next_row += batch.rows as u64;
                Ok(true)
            }
            Err(InBlock { mut error, .. }) => {
                error.add_rows(self.next_row - 1);
                Err(error)
            }
        }
    }

    /// What is being read.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// How many rows were read so far.
    pub fn rows_read(&self) -> u64 {
        self.next_row - 1
    }
}

/// Locks a mutex, even if a thread panicked with it: its contents are consistent between any two statements.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The spellings of missing, with a quick answer for most other values.
pub(crate) struct MissingSpellings {
    spellings: Vec<String>,
    /// Whether a spelling begins with this byte.
    begins: [bool; 256],
    empty: bool,
    /// Whether a number, such as -999, means missing.
    pub(crate) has_number: bool,
    /// The numbers that mean missing.
    #[cfg(feature = "arrow")]
    pub(crate) numbers: Vec<f64>,
}

impl MissingSpellings {
    pub(crate) fn new(spellings: &[String]) -> Self {
        let mut begins = [false; 256];
        for byte in spellings.iter().filter_map(|spelling| spelling.bytes().next()) {
            begins[usize::from(byte)] = true;
        }
        let empty = spellings.iter().any(String::is_empty);
        let numbers =
            spellings.iter().filter_map(|spelling| spelling.parse().ok().filter(|x: &f64| x.is_finite()));
        let numbers: Vec<f64> = numbers.collect();
        MissingSpellings {
            spellings: spellings.to_vec(),
            begins,
            empty,
            has_number: !numbers.is_empty(),
            #[cfg(feature = "arrow")]
            numbers,
        }
    }

    #[inline]
    pub(crate) fn contains(&self, value: &str) -> bool {
        match value.as_bytes().first() {
            None => self.empty,
            Some(&byte) => {
                self.begins[usize::from(byte)] && self.spellings.iter().any(|spelling| spelling == value)
            }
        }
    }
}

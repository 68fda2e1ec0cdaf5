//! A model ready to answer: what was learnt, what follows from it, and all that would be slow to work out for every request.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use priory::decide::Decider;
use priory::{Batch, BatchColumn, Kind, Learnt, Model};
use priory_input::{ReadOptions, RowReader, RowValue, WholeNumbers};

use crate::held;
use crate::lines::{self, Lines, REQUEST};
use crate::refusal::Refusal;
use crate::rows::{self, Places, Read, Sink};

/// A model that does not change any more.
pub(crate) struct Frozen {
    pub(crate) learnt: Learnt,
    pub(crate) model: Model,
    pub(crate) decider: Decider,
    /// What may be answered, and the classes, as JSON.
    pub(crate) answers: Vec<String>,
    pub(crate) classes: Vec<String>,
    /// Tells it from all others of this process.
    pub(crate) serial: u64,
    /// The values of each column of categories.
    pub(crate) known: Vec<Option<HashSet<Box<str>>>>,
    pub(crate) lines: Lines,
    pub(crate) description: OnceLock<Vec<u8>>,
    places: Places,
    whole_numbers: Vec<WholeNumbers>,
    /// Readers that nobody uses at the moment.
    readers: Mutex<Vec<RowReader>>,
}

impl Frozen {
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub(crate) fn new(learnt: Learnt) -> priory::Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let model = learnt.estimate()?;
        let decider = model.settings().decision.decider(model.classes())?;
        let quoted = |name: &String| serde_json::to_string(name).expect("a name can be written as JSON");
        let columns = &model.schema().columns;
        let known = columns.iter().map(|column| {
            let values = || learnt.statistics.values_of(&column.name).map(Box::from).collect();
            (column.kind == Kind::Category).then(values)
        });
        Ok(Frozen {
            answers: decider.answers().iter().map(quoted).collect(),
            classes: model.classes().iter().map(quoted).collect(),
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            known: known.collect(),
            lines: Lines::new(&learnt),
            description: OnceLock::new(),
            places: Places::new(columns.iter().map(|column| column.source())),
            whole_numbers: columns.iter().map(|column| lines::spelling(&learnt, &column.name)).collect(),
            readers: Mutex::default(),
            decider,
            model,
            learnt,
        })
    }

    /// Reads rows in JSON and answers with what `answer` makes of them.
    pub(crate) fn with_rows<R>(
        &self,
        body: &[u8],
        most_rows: usize,
        answer: impl FnOnce(&Batch, &Read) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let spare = held(&self.readers).pop();
        let mut reader = match spare {
            Some(reader) => reader,
            None => self.reader()?,
        };
        reader.clear();
        // A reader that has failed stands in the middle of a row, and is given up.
        let read = rows::read(body, &self.places, most_rows, &mut Into(&mut reader))?;
        let answer = answer(reader.batch(), &read);
        held(&self.readers).push(reader);
        answer
    }

    fn reader(&self) -> Result<RowReader, Refusal> {
        let (schema, batch) = (self.model.schema(), self.model.batch());
        let reader =
            RowReader::new(REQUEST, schema, batch, self.whole_numbers.clone(), &ReadOptions::default());
        reader.map_err(|error| Refusal::conflict(error.to_string()))
    }

    /// Of each column, how many values of a batch are missing, and how many were never met in training.
    pub(crate) fn missing_and_unseen(&self, batch: &Batch) -> Vec<(u64, u64)> {
        let column = |(column, known): (&BatchColumn, &Option<HashSet<Box<str>>>)| match (column, known) {
            (BatchColumn::Number(values), _) => (values.iter().filter(|x| x.is_nan()).count() as u64, 0),
            (BatchColumn::Text(texts), _) => {
                ((0..texts.rows()).filter(|&row| texts.document(row).is_none()).count() as u64, 0)
            }
            (BatchColumn::Category(values), None) => (values.missing() as u64, 0),
            (BatchColumn::Category(values), Some(known)) => {
                let is_unseen = |row: &usize| values.value(*row).is_some_and(|value| !known.contains(value));
                (values.missing() as u64, (0..batch.rows).filter(is_unseen).count() as u64)
            }
        };
        batch.columns.iter().zip(&self.known).map(column).collect()
    }
}

/// Rows that go into a batch.
struct Into<'a>(&'a mut RowReader);

impl Sink for Into<'_> {
    fn push(&mut self, place: usize, value: RowValue<'_>) -> Result<(), String> {
        self.0.push(place, value).map_err(|error| error.to_string())
    }

    fn end_row(&mut self) {
        self.0.end_row();
    }
}

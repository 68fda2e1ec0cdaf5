//! Rows that another program has in memory in Arrow's layout.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use priory::infer::Stored;

use crate::arrow::parquet::{append_sample, check_type, stored_columns};
use crate::arrow::stored;
use crate::error::Result;
use crate::guarded::{damaged, guarded};
use crate::reader::Plan;
use crate::sample::Sample;
use crate::source::{Limits, most_rows};

/// Record batches, one after the other.
pub type RecordBatches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

const FORMAT: &str = "Arrow";

/// An opened sequence of record batches.
pub(crate) struct ArrowRows {
    name: String,
    schema: SchemaRef,
    batches: RecordBatches,
    /// Batches that were looked at and given back, and what is left of one.
    returned: VecDeque<RecordBatch>,
    wanted: Vec<usize>,
    block_rows: usize,
}

impl ArrowRows {
    pub(crate) fn new(name: &str, schema: SchemaRef, batches: RecordBatches) -> (Self, Vec<String>) {
        let header = schema.fields().iter().map(|field| field.name().clone()).collect();
        let wanted = (0..schema.fields().len()).collect();
        let block_rows = Limits::USUAL.rows;
        let returned = VecDeque::new();
        (ArrowRows { name: name.into(), schema, batches, returned, wanted, block_rows }, header)
    }

    /// Decides on what is read.
    pub(crate) fn prepare(&mut self, plan: &Plan) -> Result<()> {
        self.wanted = plan.wanted();
        for &position in &self.wanted {
            check_type(&self.name, &self.schema.fields()[position])?;
        }
        self.block_rows = most_rows(self.wanted.len()).min(Limits::USUAL.rows).min(plan.most_rows);
        Ok(())
    }

    /// Hands out the next rows.
    pub(crate) fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.next_batch()? else { return Ok(None) };
        let rows = batch.num_rows().min(self.block_rows);
        if rows < batch.num_rows() {
            self.returned.push_front(batch.slice(rows, batch.num_rows() - rows));
        }
        let projected = batch.slice(0, rows).project(&self.wanted);
        projected.map(Some).map_err(|error| damaged(&self.name, FORMAT, &error))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(batch) = self.returned.pop_front() {
            return Ok(Some(batch));
        }
        let ArrowRows { name, batches, .. } = self;
        let next = guarded(name, FORMAT, || {
            // Whoever hands batches over may hand over empty ones.
            let next = batches.find(|batch| batch.as_ref().map_or(true, |batch| batch.num_rows() > 0));
            next.transpose().map_err(|error| damaged(name, FORMAT, &error))
        })?;
        Ok(next)
    }

    /// How the columns are stored. What cannot be read counts as nested.
    pub(crate) fn stored(&self) -> Vec<Stored> {
        stored_columns(&self.schema)
    }

    /// The first rows. What cannot be read is shown as missing.
    pub(crate) fn sample(&mut self, rows: usize) -> Result<Sample> {
        let schema = Arc::clone(&self.schema);
        let fields = schema.fields();
        let readable: Vec<usize> =
            (0..fields.len()).filter(|&position| stored(fields[position].data_type()).is_ok()).collect();
        let mut sample = Sample::new(fields.len());
        let mut seen = Vec::new();
        while sample.rows < rows
            && let Some(batch) = self.next_batch()?
        {
            let first = batch.slice(0, batch.num_rows().min(rows - sample.rows));
            let first = first.project(&readable).map_err(|error| damaged(&self.name, FORMAT, &error))?;
            append_sample(&self.name, fields, &first, &readable, &mut sample)?;
            // A batch that is much longer than the sample is looked at further in.
            let (few, step) = (Sample::rows_at_place(rows), batch.num_rows() / (Sample::PLACES + 1));
            let is_long = few > 0 && batch.num_rows() > 2 * rows && sample.rows >= rows;
            for place in (1..=Sample::PLACES).filter(|_| is_long) {
                let further = batch.slice(place * step, few).project(&readable);
                let further = further.map_err(|error| damaged(&self.name, FORMAT, &error))?;
                append_sample(&self.name, fields, &further, &readable, &mut sample)?;
                sample.places += 1;
            }
            seen.push(batch);
        }
        seen.into_iter().rev().for_each(|batch| self.returned.push_front(batch));
        Ok(sample)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

//! Taking rows away: whether they can be among those that were learnt, and if not, which of them cannot.

use std::borrow::Cow;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::model::written_out;
use crate::schema::{Kind, Schema};
use crate::statistics::Statistics;

impl Statistics {
    /// Takes the rows of a batch away, as if they had never been learnt.
    ///
    /// # Errors
    /// If a count would fall below zero, which proves that a row was never learnt; the first such row is named. If rows
    /// age here: then it matters when they were learnt, and [`forget_learnt_at`](Self::forget_learnt_at) asks for it.
    /// The statistics are then as they were.
    pub fn forget(&mut self, batch: &Batch) -> Result<()> {
        if self.half_life().is_some() {
            return Err(Error::Settings("the rows of this model age: say when these were learnt".into()));
        }
        self.forget_since(batch, &self.empty_like())
    }

    /// Takes rows away that were learnt when nothing but `nothing` had been.
    pub(crate) fn forget_since(&mut self, batch: &Batch, empty: &Statistics) -> Result<()> {
        let part = |rows: usize| {
            let mut part = empty.clone();
            part.observe_in_order(batch, 0..rows)?;
            Ok(self.at_our_age(Cow::Owned(part))?.into_owned())
        };
        let all = part(batch.rows)?;
        if let Some(first) = self.shortfall(&all) {
            return Err(self.name_the_row(batch, part, &first));
        }
        self.add(&all, -1.0);
        Ok(())
    }

    /// Takes away everything that `other` remembers. Where rows age, time passes for it until it is as old as these; and if
    /// its rows do not age, they were learnt before these began to.
    ///
    /// # Errors
    /// If the two describe different tables, or a count would fall below zero. The statistics are then as they were.
    pub fn subtract(&mut self, other: &Statistics) -> Result<()> {
        if other.half_life().is_some() {
            self.check_same_age(other)?;
        }
        self.check_same_columns(other)?;
        let other = self.at_our_age(Cow::Borrowed(other))?;
        if let Some(what) = self.shortfall(&other) {
            return Err(Error::NotPart { what: what.describe(&self.schema) });
        }
        self.add(&other, -1.0);
        Ok(())
    }

    /// Something of which `other` has more than we do.
    pub(crate) fn shortfall<'a>(&'a self, other: &'a Statistics) -> Option<Shortfall> {
        let class_of: Vec<Option<usize>> = other.classes.names().map(|name| self.classes.get(name)).collect();
        let class_name = |class: usize| other.classes.name(class).to_owned();
        for (ours, theirs) in self.factors.iter().zip(&other.factors) {
            if let Some((value, class)) = ours.first_shortfall(theirs, &class_of) {
                let columns = ours.columns().to_vec();
                return Some(Shortfall { columns, value, class: Some(class_name(class)) });
            }
        }
        if let Some((_, class)) =
            self.class_weight.first_shortfall(&other.class_weight, &[Some(0)], &class_of)
        {
            return Some(Shortfall { columns: Vec::new(), value: None, class: Some(class_name(class)) });
        }
        if self.rows < other.rows {
            return Some(Shortfall { columns: Vec::new(), value: None, class: None });
        }
        // What is not among the young rows, or not among the others.
        let young = |statistics: &'a Statistics| statistics.decay.as_ref()?.young.as_ref();
        match (young(self), young(other)) {
            (None, None) => None,
            (ours, theirs) => ours.unwrap_or(self).shortfall(theirs.unwrap_or(other)),
        }
    }

    /// The first row of a batch that cannot be taken away once those before it are gone.
    fn name_the_row(
        &self,
        batch: &Batch,
        part: impl Fn(usize) -> Result<Statistics>,
        first: &Shortfall,
    ) -> Error {
        // A shortfall grows with every row, so the number of rows that can go is found by halving.
        let part = |rows: usize| part(rows).map(|part| self.shortfall(&part));
        let (mut fine, mut short, mut found) = (0, batch.rows, None);
        while fine + 1 < short {
            let middle = fine.midpoint(short);
            match part(middle) {
                Ok(None) => fine = middle,
                Ok(Some(shortfall)) => (short, found) = (middle, Some(shortfall)),
                Err(error) => return error,
            }
        }
        let mut shortfall = found.as_ref().unwrap_or(first).clone();
        // Sums do not say which number is not in them, but now the row is known.
        if let Some(&column) = shortfall.columns.first()
            && matches!(self.schema.columns[column].kind, Kind::Number | Kind::Group)
        {
            shortfall.value = written_out(&self.schema, batch, &shortfall.columns, fine);
        }
        Error::NeverLearnt { row: batch.row_number(fine), what: shortfall.describe(&self.schema) }
    }
}

/// A count of which there is too little: of a value with a class, of a class, or of rows altogether.
#[derive(Clone)]
pub(crate) struct Shortfall {
    columns: Vec<usize>,
    value: Option<String>,
    class: Option<String>,
}

impl Shortfall {
    fn describe(&self, schema: &Schema) -> String {
        let Some(class) = &self.class else { return "the number of rows".to_owned() };
        let class = format!("{}={class}", schema.target);
        if self.columns.is_empty() {
            return class;
        }
        let columns: Vec<&str> = self.columns.iter().map(|&i| schema.columns[i].name.as_str()).collect();
        match &self.value {
            Some(value) => format!("{}={value} with {class}", columns.join(", ")),
            None => format!("a missing {} with {class}", columns.join(", ")),
        }
    }
}

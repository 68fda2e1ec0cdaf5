//! What is remembered of the data: weights of classes and of values. They add and subtract exactly.

pub use crate::decay::HalfLife;
use std::borrow::Cow;
use std::sync::Arc;

use crate::batch::{Batch, MISSING};
use crate::decay::Decay;
use crate::error::{Error, Result};
use crate::families::counted::CountedNumbers;
use crate::families::{CountedRow, FamilyStatistics};
use crate::features::Features;
use crate::judgement::{Judgement, OnGrid, RowSample};
use crate::leave_one_out::LeaveOneOut;
use crate::model::{Model, check_columns};
use crate::schema::Schema;
use crate::settings::{Prior, Selection, Settings, VarianceFloor};
use crate::tally::Tally;
use crate::vocabulary::Vocabulary;

/// More classes than this are refused; a target like that is a number or an identifier.
pub const MOST_CLASSES: usize = 1 << 16;

/// More counts than this for one column, values times classes, are refused: they would take a gigabyte.
pub const MOST_COUNTS: usize = 1 << 27;

/// Everything learnt from a table, and nothing concluded from it.
///
/// Statistics form a group: [`merge`](Self::merge) is associative and commutative, [`forget`](Self::forget) undoes
/// [`observe`](Self::observe), and the bytes of the [model file](crate::Learnt::to_bytes) depend only on the multiset of
/// rows, not on their order or on how they were split.
///
/// ```
/// use priory::{Batch, Column, Kind, Schema, Settings, Statistics};
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)])?;
/// let day = Batch::from_rows(&[("yes", [Some("overcast")]), ("no", [Some("sunny")]), ("yes", [Some("sunny")])]);
/// let mut statistics = Statistics::empty(&schema);
/// statistics.observe(&day)?;
///
/// let model = statistics.estimate(&Settings::default())?;
/// let posterior = model.score(&day)?.normalize();
/// assert_eq!(posterior.best(0), 1); // the classes are in sorted order: no, yes
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Statistics {
    /// Shared: a table may have many thousands of columns, and every thread has statistics of its own.
    pub(crate) schema: Arc<Schema>,
    pub(crate) rows: u64,
    pub(crate) classes: Vocabulary,
    /// One row: the weight of each class.
    pub(crate) class_weight: Tally,
    pub(crate) factors: Vec<FamilyStatistics>,
    /// What columns say together, if that is counted.
    pub(crate) on_grid: Option<Box<OnGrid>>,
    /// A sample of the rows, if one is wanted.
    pub(crate) sample: Option<Box<RowSample>>,
    /// Set if rows age.
    pub(crate) decay: Option<Box<Decay>>,
    /// Whether this is the canonical form.
    pub(crate) is_settled: bool,
}

impl Statistics {
    /// Statistics of no rows.
    pub fn empty(schema: &Schema) -> Self {
        Statistics::of_no_rows(Arc::new(schema.clone()))
    }

    fn of_no_rows(schema: Arc<Schema>) -> Self {
        Statistics {
            rows: 0,
            classes: Vocabulary::default(),
            class_weight: Tally::new(1, 0),
            factors: FamilyStatistics::for_schema(&schema),
            schema,
            on_grid: None,
            sample: None,
            decay: None,
            is_settled: false,
        }
    }

    /// From now on keeps a sample of the rows, to [judge](crate::Learnt::judge) by. It takes some tens of megabytes, however many
    /// rows there are, and a model file that is written before rows are judged holds it as well. Statistics that already have
    /// rows cannot have a sample of them.
    ///
    /// # Panics
    /// If there are rows already.
    pub fn keep_rows(&mut self) {
        assert_eq!(self.rows, 0, "rows that were learnt before are not kept");
        self.sample = Some(Box::new(RowSample::new(&self.schema)));
    }

    /// Nothing learnt yet of a table on which the same is counted.
    pub fn empty_like(&self) -> Self {
        let on_grid = self.on_grid.as_ref().map(|on_grid| Box::new(OnGrid::empty(on_grid.grid.clone())));
        let sample = self.sample.as_ref().map(|_| Box::new(RowSample::new(&self.schema)));
        Statistics { on_grid, sample, ..Statistics::of_no_rows(Arc::clone(&self.schema)) }
    }

    /// What the columns are.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many rows were learnt. Rows without a class or with weight zero are not among them.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The classes and their weights, in canonical order.
    pub fn classes(&self) -> Vec<(&str, f64)> {
        let ids = self.classes.sorted().into_iter().filter(|&id| !self.class_weight.is_zero(0, id));
        ids.map(|id| (self.classes.name(id), self.class_weight.get(0, id))).collect()
    }

    /// How many different values each column of categories has shown.
    pub fn distinct_values(&self) -> Vec<(&str, usize)> {
        let columns = self.factors.iter().filter_map(|factor| match factor {
            FamilyStatistics::Category(column, category) => Some((*column, category.values.len())),
            FamilyStatistics::Joint(_)
            | FamilyStatistics::Number(..)
            | FamilyStatistics::Text(..)
            | FamilyStatistics::Group(_) => None,
        });
        columns.map(|(column, values)| (self.schema.columns[column].name.as_str(), values)).collect()
    }

    /// The columns of numbers of which no value was known in any row.
    pub fn columns_without_numbers(&self) -> Vec<&str> {
        let columns = self.factors.iter().filter_map(|factor| match factor {
            FamilyStatistics::Number(column, number) => {
                number.moments.iter().all(|moments| moments.weight.is_zero()).then_some(*column)
            }
            _ => None,
        });
        columns.map(|column| self.schema.columns[column].name.as_str()).collect()
    }

    /// The values that a column of categories has shown, in no particular order; none if it is another one.
    pub fn values_of(&self, column: &str) -> impl Iterator<Item = &str> {
        let named = |factor: &&FamilyStatistics| match factor {
            FamilyStatistics::Category(position, _) => self.schema.columns[*position].name == column,
            _ => false,
        };
        let values = self.factors.iter().find(named).and_then(|factor| match factor {
            FamilyStatistics::Category(_, category) => Some(category.values.names()),
            _ => None,
        });
        values.into_iter().flatten()
    }

    /// The values of a column of categories and their weights, in no particular order; none if it is another one.
    pub(crate) fn weights_of(&self, column: &str) -> Vec<(String, f64)> {
        let category = self.factors.iter().find_map(|factor| match factor {
            FamilyStatistics::Category(at, category) if self.schema.columns[*at].name == column => {
                Some(category)
            }
            _ => None,
        });
        let weights = category.into_iter().flat_map(|category| {
            let weight = |row: usize| {
                (0..category.counts.classes()).map(|class| category.counts.get(row, class)).sum::<f64>()
            };
            category.values.names().enumerate().map(move |(id, name)| (name.to_owned(), weight(id + 1)))
        });
        weights.collect()
    }

    /// Adds the rows of a batch. Rows whose class is missing and rows of weight zero change nothing, but where rows
    /// [age](Self::set_half_life) each lets time pass.
    ///
    /// # Errors
    /// If a weight is negative or not finite, if there are too many classes, or if the batch does not have the
    /// columns of the schema. The statistics are then as they were.
    pub fn observe(&mut self, batch: &Batch) -> Result<()> {
        self.observe_in_order(batch, 0..batch.rows)
    }

    /// Adds some rows of a batch: what [`observe`](Self::observe) does for all of them. No time passes here, so that where
    /// rows age these weigh as much as the newest.
    ///
    /// # Errors
    /// As for [`observe`](Self::observe).
    pub fn observe_rows(&mut self, batch: &Batch, rows: impl Iterator<Item = usize> + Clone) -> Result<()> {
        self.check_batch(batch, rows.clone())?;
        self.is_settled = false;
        let (counted, new_classes) = self.counted_rows(batch, rows.clone());
        let positions: Vec<usize> =
            self.factors.iter().flat_map(FamilyStatistics::number_columns).copied().collect();
        let numbers = CountedNumbers::new(batch, positions.clone(), &counted);
        let classes = self.classes.len() + new_classes.len();
        let sums = numbers.sums(&positions, classes).map_err(|infinite| Error::Infinite {
            row: batch.row_number(counted[infinite.row].row as usize),
            column: self.schema.columns[positions[infinite.column]].name.clone(),
            value: infinite.value,
        })?;

        new_classes.iter().for_each(|name| {
            self.classes.intern(name);
        });
        self.class_weight.grow(1, classes);
        for &CountedRow { row, class } in &counted {
            self.class_weight.add(0, class as usize, batch.weight(row as usize));
        }
        self.rows += counted.len() as u64;
        let mut sums = sums.columns();
        for factor in &mut self.factors {
            factor.observe(&counted, batch, classes);
            factor.add_numbers(&numbers, &mut sums, classes);
        }
        self.limit_neighbours();
        if let Some(on_grid) = &mut self.on_grid {
            on_grid.observe(batch, &counted, classes);
        }
        if let Some(sample) = &mut self.sample {
            sample.observe(batch, &counted);
        }
        if let Some(Decay { young: Some(young), .. }) = self.decay.as_deref_mut() {
            young.observe_rows(batch, rows)?;
        }
        Ok(())
    }

    /// Those of these rows that count, with their classes; and the classes that are new.
    fn counted_rows<'b>(
        &self,
        batch: &'b Batch,
        rows: impl Iterator<Item = usize>,
    ) -> (Vec<CountedRow>, Vec<&'b str>) {
        let mut id_of: Vec<Option<u32>> = vec![None; batch.classes.values.len() + 1];
        let mut counted: Vec<CountedRow> = Vec::with_capacity(rows.size_hint().0);
        let mut new_classes = Vec::new();
        for row in rows {
            let code = batch.classes.codes[row];
            if code == MISSING || batch.weight(row) == 0.0 {
                continue;
            }
            let class = *id_of[code as usize].get_or_insert_with(|| {
                let name = batch.classes.values.name(code as usize - 1);
                let id = self.classes.get(name).unwrap_or_else(|| {
                    new_classes.push(name);
                    self.classes.len() + new_classes.len() - 1
                });
                id as u32
            });
            counted.push(CountedRow { row: row as u32, class });
        }
        (counted, new_classes)
    }

    /// Adds everything that `other` remembers. Classes and values are matched by name. Where rows age, the two are parts of
    /// streams that began together: time passes for the one that has seen less of it.
    ///
    /// # Errors
    /// If the two describe different tables, together have too many classes, or do not age alike.
    pub fn merge(&mut self, other: &Statistics) -> Result<()> {
        let mut reduced = None;
        if self.schema != other.schema
            && self.schema.without_neighbours() == other.schema.without_neighbours()
        {
            self.drop_neighbours();
            let mut other = other.clone();
            other.drop_neighbours();
            reduced = Some(other);
        }
        let other = reduced.as_ref().unwrap_or(other);
        self.check_same_table(other)?;
        let new = other.classes.names().filter(|name| self.classes.get(name).is_none()).count();
        self.check_class_count(self.classes.len() + new)?;
        for (ours, theirs) in self.factors.iter().zip(&other.factors) {
            match theirs {
                FamilyStatistics::Category(_, theirs) => {
                    self.check_value_count(ours, &theirs.values, self.classes.len() + new)?;
                }
                FamilyStatistics::Group(group) => group.check_size(self.classes.len() + new)?,
                FamilyStatistics::Joint(_) | FamilyStatistics::Number(..) | FamilyStatistics::Text(..) => {}
            }
        }
        let total = self.total_weight() + other.total_weight();
        if !total.is_finite() {
            return Err(Error::WeightOverflow { row: self.rows });
        }
        if let Some(theirs) = other.half_life() {
            self.pass(theirs.learnt);
        }
        let other = self.at_our_age(Cow::Borrowed(other))?;
        self.add(&other, 1.0);
        self.limit_neighbours();
        Ok(())
    }

    /// Lets go of pairs of neighbours in columns of text, and of punctuation, as if they had never been counted. Only judgements
    /// weigh them, so that a model that was not judged stays the same.
    pub fn drop_neighbours(&mut self) {
        if self.schema.has_neighbours() {
            self.is_settled = false;
            self.factors.iter_mut().for_each(FamilyStatistics::drop_neighbours);
            Arc::make_mut(&mut self.schema).drop_neighbours();
        }
    }

    /// Does so if there are too many of them in some column, which depends on the rows alone.
    fn limit_neighbours(&mut self) {
        if self.schema.has_neighbours() && self.factors.iter().any(FamilyStatistics::has_too_many_neighbours)
        {
            self.drop_neighbours();
        }
    }

    /// The model that follows from these statistics under the given settings.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn estimate(&self, settings: &Settings) -> Result<Model> {
        Ok(self.estimated(settings)?.1.narrowed())
    }

    /// The judged model of canonical statistics: texts whose tokens are weighed need no likelihood.
    pub(crate) fn estimate_judged(&self, settings: &Settings, judgement: &Judgement) -> Result<Model> {
        settings.check()?;
        check_columns(settings, &self.schema)?;
        let is_used = |factor: usize| !judgement.weighs(self.factors[factor].columns()[0]);
        Model::new(self, settings, is_used)?.judged(self, judgement)
    }

    /// These statistics in canonical form, and the model of what the settings use of them. It takes rows with all columns.
    pub(crate) fn estimated(&self, settings: &Settings) -> Result<(Cow<'_, Statistics>, Model)> {
        settings.check()?;
        check_columns(settings, &self.schema)?;
        let statistics = self.canonical();
        let model = Model::new(&statistics, settings, |_| true)?;
        if settings.select == Selection::All {
            return Ok((statistics, model));
        }
        let used = Features::of(&statistics, &model)?.used()?;
        let model = match settings.variance_floor {
            // Which variance is the largest depends on the columns that are used.
            VarianceFloor::Sklearn(_) => Model::new(&statistics, settings, |factor| used.contains(&factor))?,
            _ => model.only(|factor| used.contains(&factor)),
        };
        Ok((statistics, model))
    }

    /// Puts everything into canonical order. That changes nothing, but whatever follows has less to do.
    pub fn settle(&mut self) {
        if let Cow::Owned(canonical) = self.canonical() {
            *self = Statistics { sample: self.sample.take(), ..canonical };
        }
    }

    /// The one form that depends on nothing but the rows: sorted, and without anything that counts zero.
    pub(crate) fn canonical(&self) -> Cow<'_, Statistics> {
        if self.is_settled {
            return Cow::Borrowed(self);
        }
        let ids: Vec<usize> =
            self.classes.sorted().into_iter().filter(|&id| !self.class_weight.is_zero(0, id)).collect();
        Cow::Owned(Statistics {
            schema: self.schema.clone(),
            rows: self.rows,
            classes: self.classes.select(&ids),
            class_weight: self.class_weight.select(&[0], &ids),
            factors: self.factors.iter().map(|factor| factor.canonical(&ids)).collect(),
            on_grid: self.on_grid.as_ref().map(|on_grid| Box::new(on_grid.canonical(&ids))),
            sample: None,
            decay: self.decay.as_ref().map(|decay| Box::new(decay.canonical(self.rows))),
            is_settled: true,
        })
    }

    /// Gets these statistics ready to score their own rows, each as if just that row had not been learnt, and hands
    /// them to `work`.
    ///
    /// What is chosen is chosen once, from all rows: families, the columns that [`Settings::select`] keeps, pseudocounts of
    /// text, amounts of regularization; and in a column of numbers all that its classes share, such as bins, bandwidths and
    /// the spread of the column.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn leave_one_out<R>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&LeaveOneOut<'_>) -> R,
    ) -> Result<R> {
        let (statistics, model) = self.estimated(settings)?;
        Ok(work(&LeaveOneOut::new(&statistics, &model)?))
    }

    /// The same statistics of no other columns than those of a model that was estimated from them.
    pub(crate) fn narrowed(&self, model: &Model) -> Statistics {
        let used = self.schema.columns.iter().enumerate();
        let used = used.filter(|(_, column)| model.schema().position(&column.name).is_some());
        self.only(&used.map(|(column, _)| column).collect::<Vec<_>>())
    }

    /// The same statistics of no other columns than these, which are in order, and among them all columns of a
    /// factor or none. Without some columns of the grid, nothing on it is left.
    pub(crate) fn only(&self, columns: &[usize]) -> Statistics {
        let is_used = |column: usize| columns.binary_search(&column).is_ok();
        let place = |column: usize| columns.binary_search(&column).expect("it is among these columns");
        let used = self.factors.iter().filter(|factor| is_used(factor.columns()[0]));
        let mut factors: Vec<FamilyStatistics> = used.cloned().collect();
        for column in factors.iter_mut().flat_map(FamilyStatistics::columns_mut) {
            *column = place(*column);
        }
        let is_complete = |on_grid: &&OnGrid| on_grid.grid.columns.iter().all(|own| is_used(own.column));
        let on_grid = self.on_grid.as_deref().filter(is_complete).cloned();
        Statistics {
            schema: Arc::new(self.schema.only(columns)),
            rows: self.rows,
            classes: self.classes.clone(),
            class_weight: self.class_weight.clone(),
            factors,
            on_grid: on_grid.map(|on_grid| Box::new(on_grid.with_columns(place))),
            sample: None,
            decay: self.decay.clone(),
            is_settled: self.is_settled,
        }
    }

    pub(crate) fn has_rows_of(&self, class: &str) -> bool {
        self.classes.get(class).is_some_and(|id| !self.class_weight.is_zero(0, id))
    }

    /// The mean weight of a row.
    pub(crate) fn unit(&self) -> f64 {
        let total = self.total_weight();
        if total > 0.0 { total / self.rows.max(1) as f64 } else { 1.0 }
    }

    pub(crate) fn total_weight(&self) -> f64 {
        self.class_weight.row_total(0).value()
    }

    /// Refuses, early, a joint table or a group that can no longer be estimated, or more tokens than memory should hold.
    ///
    /// # Errors
    /// If there are more cells, sums or tokens than is sensible.
    pub fn check_size(&self) -> Result<()> {
        self.factors.iter().try_for_each(|factor| match factor {
            FamilyStatistics::Joint(joint) => joint.check_size(self.classes.len()),
            FamilyStatistics::Text(column, text) => text.check_size(&self.schema.columns[*column].name),
            FamilyStatistics::Group(group) => group.check_size(self.classes.len()),
            FamilyStatistics::Category(..) | FamilyStatistics::Number(..) => Ok(()),
        })
    }

    /// About how many bytes are taken by what grows with the rows; a model takes about as many, but for the sample.
    pub(crate) fn memory(&self) -> usize {
        let factors: usize = self.factors.iter().map(FamilyStatistics::memory).sum();
        factors + self.sample.as_ref().map_or(0, |sample| sample.memory())
    }

    /// Adds `other`, or takes it away if the sign is −1; it is known to be possible.
    pub(crate) fn add(&mut self, other: &Statistics, sign: f64) {
        self.is_settled = false;
        self.add_young(other, sign);
        let class_of: Vec<usize> = other.classes.names().map(|name| self.classes.intern(name)).collect();
        let classes = self.classes.len();
        self.class_weight.grow(1, classes);
        self.class_weight.merge(&other.class_weight, &[0], &class_of, sign);
        for (ours, theirs) in self.factors.iter_mut().zip(&other.factors) {
            ours.merge(theirs, &class_of, classes, sign);
        }
        // Sums on different grids cannot be added.
        let is_new = self.rows == 0 && sign > 0.0;
        self.on_grid = match (self.on_grid.take(), &other.on_grid) {
            (None, Some(theirs)) if is_new => {
                let mut ours = OnGrid::empty(theirs.grid.clone());
                ours.merge(theirs, &class_of, classes, sign);
                Some(Box::new(ours))
            }
            (Some(mut ours), Some(theirs)) if ours.grid == theirs.grid => {
                ours.merge(theirs, &class_of, classes, sign);
                Some(ours)
            }
            _ => None,
        };
        self.sample = match (self.sample.take(), &other.sample) {
            (Some(ours), Some(theirs)) if sign > 0.0 => {
                Some(Box::new(RowSample::merged(&self.schema, &[&ours, theirs])))
            }
            // Rows that nobody has kept are missing, and so are rows that are taken away.
            _ => None,
        };
        self.rows = if sign > 0.0 { self.rows + other.rows } else { self.rows - other.rows };
    }

    pub(crate) fn check_batch(&self, batch: &Batch, rows: impl Iterator<Item = usize>) -> Result<()> {
        batch.check(&self.schema)?;
        let new = batch.classes.values.names().filter(|name| self.classes.get(name).is_none()).count();
        self.check_class_count(self.classes.len() + new)?;
        for factor in &self.factors {
            match factor {
                FamilyStatistics::Category(column, _) => {
                    let values = &batch.category(*column).values;
                    self.check_value_count(factor, values, self.classes.len() + new)?;
                }
                FamilyStatistics::Joint(joint) => joint.check_room(batch, self.classes.len() + new)?,
                FamilyStatistics::Group(group) => group.check_size(self.classes.len() + new)?,
                FamilyStatistics::Number(..) | FamilyStatistics::Text(..) => {}
            }
        }
        if batch.weights.is_empty() {
            return Ok(());
        }
        let mut total = self.total_weight();
        for row in rows {
            let weight = batch.weight(row);
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::Weight { row: batch.row_number(row), weight });
            }
            total += weight;
            if total.is_infinite() {
                return Err(Error::WeightOverflow { row: batch.row_number(row) });
            }
        }
        Ok(())
    }

    pub(crate) fn check_class_count(&self, classes: usize) -> Result<()> {
        if classes > MOST_CLASSES {
            return Err(Error::TooManyClasses { target: self.schema.target.clone(), limit: MOST_CLASSES });
        }
        Ok(())
    }

    /// Refuses a column before its counts take all memory. A joint table has a bound of its own.
    pub(crate) fn check_value_count(
        &self,
        factor: &FamilyStatistics,
        more: &Vocabulary,
        classes: usize,
    ) -> Result<()> {
        let FamilyStatistics::Category(column, category) = factor else { return Ok(()) };
        let fits = |values: usize| values.saturating_mul(classes) <= MOST_COUNTS;
        // Whether a value is new need not be asked as long as it does not matter.
        if fits(category.values.len() + more.len()) {
            return Ok(());
        }
        let new = more.names().filter(|name| category.values.get(name).is_none()).count();
        let values = category.values.len() + new;
        if fits(values) {
            return Ok(());
        }
        let column = self.schema.columns[*column].name.clone();
        Err(Error::TooManyValues { column, values, classes, limit: MOST_COUNTS })
    }

    /// Refuses statistics of another table, which cannot be [merged](Self::merge) with these.
    ///
    /// # Errors
    /// If the columns are not the same, or rows do not age alike. The first column that differs is named.
    pub fn check_same_table(&self, other: &Statistics) -> Result<()> {
        self.check_same_columns(other)?;
        self.check_same_age(other)
    }

    pub(crate) fn check_same_columns(&self, other: &Statistics) -> Result<()> {
        if self.schema == other.schema {
            return Ok(());
        }
        let (a, b) = (&self.schema, &other.schema);
        let what = if a.target != b.target {
            format!("their targets are `{}` and `{}`", a.target, b.target)
        } else if a.bins != b.bins {
            "their classes are not the same intervals".to_owned()
        } else if a.weight != b.weight {
            "their rows are weighted differently".to_owned()
        } else if a.missing != b.missing {
            "they spell missing values differently".to_owned()
        } else if let Some(name) = differently_written(a, b) {
            format!("they read the column `{name}` differently")
        } else if let Some(only) = a.columns.iter().find(|column| !b.columns.contains(column)) {
            format!("only the first has the {} column `{}`", only.kind.name(), only.name)
        } else if let Some(only) = b.columns.iter().find(|column| !a.columns.contains(column)) {
            format!("only the second has the {} column `{}`", only.kind.name(), only.name)
        } else {
            "their columns stand in different orders".to_owned()
        };
        Err(Error::Mismatch(what))
    }
}

/// A column that both have and that is the same, except that it is written in another way.
fn differently_written<'s>(a: &'s Schema, b: &Schema) -> Option<&'s str> {
    let other = |name: &str| b.columns.iter().find(|column| column.name == name);
    let pairs = a.columns.iter().filter_map(|column| Some((column, other(&column.name)?)));
    let mut differing = pairs.filter(|(a, b)| a.kind == b.kind && a.written != b.written);
    differing.next().map(|(column, _)| column.name.as_str())
}

/// The settings with everything worked out that takes more than one column to know: all columns that are used.
pub(crate) fn resolve<'a>(
    settings: &Settings,
    factors: impl IntoIterator<Item = &'a FamilyStatistics>,
) -> Settings {
    let mut settings = settings.clone();
    if let VarianceFloor::Sklearn(share) = settings.variance_floor {
        let moments = factors.into_iter().flat_map(FamilyStatistics::pooled_moments);
        let variances = moments.map(|pooled| pooled.variance().unwrap_or(0.0));
        settings.variance_floor = VarianceFloor::Added(share * variances.fold(0.0, f64::max));
    }
    settings
}

/// Checks that a given prior names the classes of the model, no more and no fewer.
pub(crate) fn check_prior(prior: &Prior, classes: &Vocabulary) -> Result<()> {
    let Prior::Given(shares) = prior else { return Ok(()) };
    if let Some(class) = classes.names().find(|&class| !shares.contains_key(class)) {
        return Err(Error::Settings(format!("the given prior says nothing about the class `{class}`")));
    }
    if let Some(class) = shares.keys().find(|class| classes.get(class).is_none()) {
        return Err(Error::Settings(format!(
            "the given prior names `{class}`, which is not a class of the model"
        )));
    }
    Ok(())
}

//! Full joint table: one probability for each combination of the values of several columns.
//!
//! This is what naive Bayes avoids: with d Boolean columns and K classes it has K (2^d − 1) free parameters where
//! the naive assumption needs K d. For few columns it is feasible, and it shows what the assumption costs.
//!
//! P(v₁, …, v_d | class) = n(v₁, …, v_d, class) / n(class), smoothed like any count over all ∏ J cells. A training
//! row in which one of the columns is missing belongs to no cell and is not counted. In scoring, missing columns
//! are summed out: the cells that fit what is known are added up.

use hashbrown::HashMap;
use num_bigint::BigUint;

use crate::batch::{Batch, CategoryColumn, MISSING};
use crate::error::{Error, Result};
use crate::estimate::{Evidence, Ratio, Scalar, Smoother};
use crate::families::{Alike, CountedRow, Gone, Removed};
use crate::settings::{Settings, Smoothing};
use crate::statistics::MOST_COUNTS;
use crate::tally::Tally;
use crate::vocabulary::Vocabulary;

/// More cells than this, classes included, are refused: nobody has the data to fill them.
pub(crate) const MOST_JOINT_CELLS: usize = 1 << 20;

/// The row of the tally for rows that belong to no cell; cell i has row i + 1.
const INCOMPLETE_ROW: usize = 0;

/// The weight of each combination that occurred, per class.
#[derive(Debug, Clone)]
pub(crate) struct JointStatistics {
    /// Positions of the columns in the schema.
    pub(crate) columns: Vec<usize>,
    pub(crate) values: Vec<Vocabulary>,
    /// Each cell as one value id per column.
    pub(crate) cells: Vec<Vec<u32>>,
    ids: HashMap<Vec<u32>, usize, foldhash::fast::RandomState>,
    pub(crate) counts: Tally,
}

impl JointStatistics {
    pub(crate) fn empty(columns: Vec<usize>) -> Self {
        let values = vec![Vocabulary::default(); columns.len()];
        JointStatistics {
            columns,
            values,
            cells: Vec::new(),
            ids: HashMap::default(),
            counts: Tally::new(1, 0),
        }
    }

    /// Statistics from their parts: cells are distinct, and the counts have one row more than there are cells.
    pub(crate) fn from_parts(
        columns: Vec<usize>,
        values: Vec<Vocabulary>,
        cells: Vec<Vec<u32>>,
        counts: Tally,
    ) -> Self {
        let ids = cells.iter().cloned().zip(0..).collect();
        JointStatistics { columns, values, cells, ids, counts }
    }

    pub(crate) fn observe(&mut self, counted: &[CountedRow], batch: &Batch, classes: usize) {
        self.counts.grow(1, classes);
        for &CountedRow { row, class } in counted {
            let row = row as usize;
            let to = match self.complete(batch, row) {
                Some(values) => {
                    let values = values.iter().zip(&mut self.values);
                    let cell = values.map(|(name, known)| known.intern(name) as u32).collect();
                    self.intern(cell) + 1
                }
                None => INCOMPLETE_ROW,
            };
            self.counts.grow(to + 1, classes);
            self.counts.add(to, class as usize, batch.weight(row));
        }
    }

    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        let mut row_of = vec![INCOMPLETE_ROW];
        for cell in &other.cells {
            let cell = cell
                .iter()
                .enumerate()
                .map(|(i, &id)| self.values[i].intern(other.values[i].name(id as usize)) as u32);
            let cell = cell.collect();
            row_of.push(self.intern(cell) + 1);
        }
        self.counts.grow(self.cells.len() + 1, classes);
        self.counts.merge(&other.counts, &row_of, class_of, sign);
    }

    /// The first (combination, class) of `other` of which there is more than here; `None` is incomplete.
    pub(crate) fn first_shortfall(
        &self,
        other: &Self,
        class_of: &[Option<usize>],
    ) -> Option<(Option<String>, usize)> {
        let row_of: Vec<Option<usize>> = std::iter::once(Some(INCOMPLETE_ROW))
            .chain(other.cells.iter().map(|cell| self.find(&other.names(cell)).map(|id| id + 1)))
            .collect();
        let (row, class) = self.counts.first_shortfall(&other.counts, &row_of, class_of)?;
        Some(((row != INCOMPLETE_ROW).then(|| other.names(&other.cells[row - 1]).join(", ")), class))
    }

    /// Values and cells in canonical order, none that counts zero, classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let kept: Vec<usize> = (0..self.cells.len()).filter(|&id| !self.counts.row_is_zero(id + 1)).collect();
        let mut rank_of = Vec::new();
        let mut values = Vec::new();
        for (i, known) in self.values.iter().enumerate() {
            let mut occurs = vec![false; known.len()];
            kept.iter().for_each(|&cell| occurs[self.cells[cell][i] as usize] = true);
            let ids: Vec<usize> = known.sorted().into_iter().filter(|&id| occurs[id]).collect();
            let mut ranks = vec![u32::MAX; known.len()];
            (0..).zip(&ids).for_each(|(rank, &id)| ranks[id] = rank);
            rank_of.push(ranks);
            values.push(ids.iter().map(|&id| known.name(id)).collect());
        }
        let ranked = |&cell: &usize| -> Vec<u32> {
            self.cells[cell].iter().zip(&rank_of).map(|(&id, ranks)| ranks[id as usize]).collect()
        };
        let mut order: Vec<(Vec<u32>, usize)> = kept.iter().map(|cell| (ranked(cell), *cell)).collect();
        order.sort_unstable();
        let rows: Vec<usize> =
            std::iter::once(INCOMPLETE_ROW).chain(order.iter().map(|(_, cell)| cell + 1)).collect();
        let cells = order.into_iter().map(|(cell, _)| cell).collect();
        Self::from_parts(self.columns.clone(), values, cells, self.counts.select(&rows, classes))
    }

    /// Refuses a batch whose combinations could take all memory before their number is checked.
    pub(crate) fn check_room(&self, batch: &Batch, classes: usize) -> Result<()> {
        let values = self.columns.iter().zip(&self.values);
        let combinations = values.fold(1_usize, |product, (&column, known)| {
            product.saturating_mul(known.len() + batch.category(column).values.len())
        });
        let cells = combinations.min(self.cells.len() + batch.rows);
        if cells.saturating_mul(classes) <= MOST_COUNTS {
            return Ok(());
        }
        Err(self.too_large(cells.saturating_mul(classes).to_string(), classes))
    }

    fn too_large(&self, cells: String, classes: usize) -> Error {
        Error::JointTooLarge { columns: self.columns.len(), classes, cells, limit: MOST_JOINT_CELLS }
    }

    /// Refuses a table with more cells than anybody can fill.
    pub(crate) fn check_size(&self, classes: usize) -> Result<()> {
        let cells = self.values.iter().fold(BigUint::from(classes), |cells, values| cells * values.len());
        if cells <= BigUint::from(MOST_JOINT_CELLS) {
            return Ok(());
        }
        Err(self.too_large(cells.to_string(), classes))
    }

    /// The values of a row, if none is missing.
    fn complete<'b>(&self, batch: &'b Batch, row: usize) -> Option<Vec<&'b str>> {
        self.columns.iter().map(|&column| batch.category(column).value(row)).collect()
    }

    fn intern(&mut self, cell: Vec<u32>) -> usize {
        if let Some(&id) = self.ids.get(&cell) {
            return id;
        }
        self.cells.push(cell.clone());
        self.ids.insert(cell, self.cells.len() - 1);
        self.cells.len() - 1
    }

    fn find(&self, names: &[&str]) -> Option<usize> {
        let cell: Option<Vec<u32>> =
            names.iter().zip(&self.values).map(|(name, known)| known.get(name).map(|id| id as u32)).collect();
        self.ids.get(&cell?).copied()
    }

    pub(crate) fn names(&self, cell: &[u32]) -> Vec<&str> {
        cell.iter().zip(&self.values).map(|(&id, values)| values.name(id as usize)).collect()
    }
}

/// A joint table made ready for estimation.
pub(crate) struct JointEstimate<'a, T> {
    statistics: &'a JointStatistics,
    smoother: Smoother<T>,
    /// Row 0: weight of each class in complete rows. Row 1: in incomplete ones.
    totals: Tally,
    /// Weight of each cell in all classes.
    pooled: Tally,
    /// Row 0: weight of all complete rows.
    pooled_total: Tally,
}

impl<'a, T: Scalar> JointEstimate<'a, T> {
    /// Prepares canonical statistics.
    ///
    /// # Errors
    /// If the table is too large, or the smoothing names single values, which a combination does not have.
    pub(crate) fn new(statistics: &'a JointStatistics, settings: &Settings) -> Result<Self> {
        let counts = &statistics.counts;
        statistics.check_size(counts.classes())?;
        if matches!(settings.smoothing, Smoothing::Dirichlet(_)) {
            return Err(Error::Settings(
                "dirichlet pseudocounts belong to single columns; a joint table takes none, laplace, lidstone or background"
                    .into(),
            ));
        }
        let every_class: Vec<usize> = (0..counts.classes()).collect();
        let every_row: Vec<usize> = (0..counts.rows()).collect();
        let one_class = vec![0; counts.classes()];
        let mut complete_or_not = vec![0; counts.rows()];
        complete_or_not[INCOMPLETE_ROW] = 1;
        let mut totals = Tally::new(2, counts.classes());
        totals.merge(counts, &complete_or_not, &every_class, 1.0);
        let mut pooled = Tally::new(counts.rows(), 1);
        pooled.merge(counts, &every_row, &one_class, 1.0);
        let mut pooled_total = Tally::new(2, 1);
        pooled_total.merge(counts, &complete_or_not, &one_class, 1.0);
        // A joint table is smoothed as the settings say for all columns; its own name is no column's.
        let smoother = Smoother::new(settings, "");
        Ok(JointEstimate { statistics, smoother, totals, pooled, pooled_total })
    }

    /// P(what is known of the values | class), the rest summed out; `None` if nothing is known.
    pub(crate) fn likelihood(&self, values: &[Option<&str>], class: usize) -> Option<Ratio<T>> {
        self.place(values).map(|place| self.likelihood_at(&place, class, Gone::default()))
    }

    /// The same as if some weight of what is asked for had not been there.
    fn likelihood_at(&self, place: &Place, class: usize, gone: Gone) -> Ratio<T> {
        self.smoother.likelihood(None, &self.evidence(place, class, gone))
    }

    /// Whether every value was met in training.
    pub(crate) fn is_met(&self, values: &[Option<&str>]) -> bool {
        let mut known = values.iter().zip(&self.statistics.values);
        known.all(|(value, known)| value.is_none_or(|value| known.get(value).is_some()))
    }

    /// Where what is known of some values is counted; `None` if nothing is known.
    fn place(&self, values: &[Option<&str>]) -> Option<Place> {
        if values.iter().all(Option::is_none) {
            return None;
        }
        // A value never met is let in as one more possible value, and so is one met only in a row that is taken away.
        let (mut fitting, mut possible) = (1.0, 1.0);
        for (value, known) in values.iter().zip(&self.statistics.values) {
            let met = known.len() as f64;
            match value {
                // A column of which nothing is known can still hold something.
                None => {
                    fitting *= met.max(1.0);
                    possible *= met.max(1.0);
                }
                Some(name) => possible *= if known.get(name).is_some() { met } else { met + 1.0 },
            }
        }
        let is_complete = values.iter().all(Option::is_some);
        Some(Place { rows: self.fitting_rows(values), is_complete, fitting, possible })
    }

    fn evidence(&self, place: &Place, class: usize, gone: Gone) -> Evidence {
        Evidence {
            count: self.statistics.counts.sum_without(&place.rows, class, gone.of_class),
            total: self.totals.get_without(0, class, gone.of_class),
            pooled_count: self.pooled.sum_without(&place.rows, 0, gone.of_all),
            pooled_total: self.pooled_total.get_without(0, 0, gone.of_all),
            cells: place.fitting,
            other_cells: place.possible - place.fitting,
        }
    }

    /// The rows of the tally whose cells agree with what is known.
    fn fitting_rows(&self, values: &[Option<&str>]) -> Vec<usize> {
        if let Some(complete) = values.iter().copied().collect::<Option<Vec<&str>>>() {
            return self.statistics.find(&complete).map(|id| id + 1).into_iter().collect();
        }
        let ids: Vec<Option<Option<usize>>> = values
            .iter()
            .zip(&self.statistics.values)
            .map(|(value, known)| value.map(|value| known.get(value)))
            .collect();
        let fits = |cell: &[u32]| {
            ids.iter().zip(cell).all(|(asked, &id)| asked.is_none_or(|asked| asked == Some(id as usize)))
        };
        (0..self.statistics.cells.len())
            .filter(|&id| fits(&self.statistics.cells[id]))
            .map(|id| id + 1)
            .collect()
    }
}

/// Where some values are counted, looked up once.
struct Place {
    /// The rows of the tally whose cells fit.
    rows: Vec<usize>,
    /// Whether no value is missing. Rows in which one is were never counted.
    is_complete: bool,
    /// How many cells fit, of how many possible ones.
    fitting: f64,
    possible: f64,
}

impl JointEstimate<'_, f64> {
    fn ln_of_all(&self, place: &Place, gone: Gone) -> Vec<f64> {
        let classes = 0..self.statistics.counts.classes();
        classes.map(|class| self.likelihood_at(place, class, gone).ln()).collect()
    }

    /// log P(values | class) for every class but the one that has lost a row of this weight with these values. `None` if it
    /// is what it was before.
    fn ln_of_others(&self, place: &Place, weight: f64) -> Option<Vec<f64>> {
        let gone = Gone { of_class: 0.0, of_all: weight };
        self.smoother.looks_at_all_classes().then(|| self.ln_of_all(place, gone))
    }

    fn ln_of_own(&self, place: &Place, removed: Removed) -> f64 {
        let gone = Gone { of_class: removed.weight, of_all: removed.weight };
        self.likelihood_at(place, removed.class, gone).ln()
    }

    /// Turns the log-likelihoods of a batch into those that training rows would have without themselves. Of incomplete
    /// rows nothing was counted, and nothing is taken away.
    pub(crate) fn leave_out(&self, batch: &Batch, learnt: &[(usize, Removed)], ln: &mut [f64]) {
        let classes = self.statistics.counts.classes();
        let columns: Vec<&CategoryColumn> =
            self.statistics.columns.iter().map(|&column| batch.category(column)).collect();
        let mut places: HashMap<Vec<u32>, Option<Place>, foldhash::fast::RandomState> = HashMap::default();
        for &(row, removed) in learnt {
            let codes: Vec<u32> = columns.iter().map(|column| column.codes[row]).collect();
            let place = places.entry(codes).or_insert_with(|| {
                let values: Vec<Option<&str>> = columns.iter().map(|column| column.value(row)).collect();
                self.place(&values).filter(|place| place.is_complete)
            });
            if let Some(place) = place {
                let ln = &mut ln[row * classes..][..classes];
                let others = self.ln_of_others(place, removed.weight);
                others.iter().for_each(|others| ln.copy_from_slice(others));
                ln[removed.class] = self.ln_of_own(place, removed);
            }
        }
    }

    /// Writes the variance of log P(values | class) of every row, where one of the values is known.
    pub(crate) fn write_variances(&self, batch: &Batch, variances: &mut [f64]) {
        let classes = self.statistics.counts.classes();
        let columns: Vec<&CategoryColumn> =
            self.statistics.columns.iter().map(|&column| batch.category(column)).collect();
        let mut known: HashMap<Vec<u32>, Vec<f64>, foldhash::fast::RandomState> = HashMap::default();
        for (row, variances) in variances.chunks_exact_mut(classes).enumerate() {
            let codes: Vec<u32> = columns.iter().map(|column| column.codes[row]).collect();
            let found = known.entry(codes).or_insert_with(|| {
                let values: Vec<Option<&str>> = columns.iter().map(|column| column.value(row)).collect();
                let Some(place) = self.place(&values) else { return vec![0.0; classes] };
                let evidence = |class| self.evidence(&place, class, Gone::default());
                (0..classes).map(|class| self.smoother.variance(None, &evidence(class))).collect()
            });
            variances.copy_from_slice(found);
        }
    }

    /// Shows for each combination the rows that hold it, and what classes say of it without one of them.
    pub(crate) fn each_value(&self, mut each: impl FnMut(&Alike<'_>)) {
        for (id, cell) in self.statistics.cells.iter().enumerate() {
            let names: Vec<Option<&str>> = self.statistics.names(cell).into_iter().map(Some).collect();
            let Some(place) = self.place(&names) else { continue };
            each(&Alike {
                cells: self.statistics.counts.cells_of_row(id + 1),
                others: &|weight| {
                    let others = self.ln_of_others(&place, weight);
                    others.unwrap_or_else(|| self.ln_of_all(&place, Gone::default()))
                },
                own: &|removed, _| self.ln_of_own(&place, removed),
            });
        }
    }
}

/// log P(values | class), from counts that are looked up as they are needed: the table may be mostly empty.
#[derive(Debug, Clone)]
pub(crate) struct JointLikelihood {
    pub(crate) statistics: JointStatistics,
    settings: Settings,
    classes: usize,
}

impl JointLikelihood {
    pub(crate) fn new(statistics: &JointStatistics, settings: &Settings) -> Result<Self> {
        JointEstimate::<f64>::new(statistics, settings)?;
        let classes = statistics.counts.classes();
        Ok(JointLikelihood { statistics: statistics.clone(), settings: settings.clone(), classes })
    }

    fn estimate(&self) -> JointEstimate<'_, f64> {
        JointEstimate::new(&self.statistics, &self.settings).expect("checked when the likelihood was made")
    }

    pub(crate) fn add_log_likelihood(&self, batch: &Batch, scores: &mut [f64]) -> u64 {
        let estimate = self.estimate();
        let mut known: HashMap<Vec<u32>, (Vec<f64>, bool), foldhash::fast::RandomState> = HashMap::default();
        let mut unseen = 0;
        for (row, scores) in scores.chunks_exact_mut(self.classes).enumerate() {
            let codes: Vec<u32> =
                self.statistics.columns.iter().map(|&i| batch.category(i).codes[row]).collect();
            let (log_likelihood, is_met) = known.entry(codes).or_insert_with_key(|codes| {
                let values: Vec<Option<&str>> = codes
                    .iter()
                    .zip(&self.statistics.columns)
                    .map(|(&code, &i)| {
                        (code != MISSING).then(|| batch.category(i).values.name(code as usize - 1))
                    })
                    .collect();
                (log_likelihoods(&estimate, &values, self.classes), estimate.is_met(&values))
            });
            unseen += u64::from(!*is_met);
            scores.iter_mut().zip(log_likelihood.iter()).for_each(|(score, x)| *score += x);
        }
        unseen
    }

    /// log P(what is known | class) for each class, and whether every value was met in training.
    pub(crate) fn contribution(&self, batch: &Batch, row: usize) -> (Vec<f64>, bool) {
        let estimate = self.estimate();
        let columns = self.statistics.columns.iter();
        let values: Vec<Option<&str>> = columns.map(|&column| batch.category(column).value(row)).collect();
        (log_likelihoods(&estimate, &values, self.classes), estimate.is_met(&values))
    }
}

fn log_likelihoods(estimate: &JointEstimate<'_, f64>, values: &[Option<&str>], classes: usize) -> Vec<f64> {
    match estimate.place(values) {
        Some(place) => estimate.ln_of_all(&place, Gone::default()),
        None => vec![0.0; classes],
    }
}

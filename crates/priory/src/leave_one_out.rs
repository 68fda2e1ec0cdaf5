//! Every row judged by the others: what is counted of one row is small, and is taken away again before it is asked for.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::batch::{Batch, BatchColumn};
use crate::error::Result;
use crate::families::{FamilyStatistics, Prepared, Removed};
use crate::model::{Model, exponent_of, raised};
use crate::posterior::Scores;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::statistics::Statistics;

/// Statistics made ready to score their own rows, each as if it had not been there.
/// [`Statistics::leave_one_out`] makes it.
pub struct LeaveOneOut<'a> {
    pub(crate) statistics: &'a Statistics,
    settings: &'a Settings,
    /// The columns of the rows, which may be more than those that are used.
    table: &'a Schema,
    prepared: Vec<Prepared<'a, f64>>,
    everything: Model,
    /// Whether what a row says can depend on the others: a token that nobody else has says nothing.
    has_text: bool,
}

impl<'a> LeaveOneOut<'a> {
    /// Prepares canonical statistics of the columns in use.
    pub(crate) fn new(statistics: &'a Statistics, settings: &'a Settings, table: &'a Schema) -> Result<Self> {
        let everything = Model::new(statistics, settings)?;
        let prepared = statistics.factors.iter().map(|factor| factor.prepare(&statistics.schema, settings));
        let has_text = statistics.factors.iter().any(|factor| matches!(factor, FamilyStatistics::Text(..)));
        Ok(LeaveOneOut {
            statistics,
            settings,
            table,
            prepared: prepared.collect::<Result<_>>()?,
            everything,
            has_text,
        })
    }

    /// The classes, in canonical order.
    pub fn classes(&self) -> &[String] {
        self.everything.classes()
    }

    /// The log-joints that every row of a batch would have if just that row had not been learnt. All of them
    /// were: the batch is part of what the statistics were made of. Rows that were not learnt from are scored
    /// against everything.
    ///
    /// Classes that vanish with their only row have a log-joint of −∞, and so has the prior that the row falls back
    /// to if every class calls it impossible.
    ///
    /// # Errors
    /// If the batch does not have the columns of the schema, fewer than two rows were learnt, or a given prior is 0 for
    /// every class but one that vanishes.
    pub fn score(&self, batch: &Batch) -> Result<Scores> {
        let batch = &batch.only(self.table, &self.statistics.schema);
        let mut scores = self.everything.score(batch)?;
        let learnt = self.learnt_rows(batch);
        let priors = alike(&learnt, batch, &[], |_, removed| {
            self.statistics.log_prior_without(self.settings, removed)
        })?;
        let mut log_joints: Vec<f64> = priors.iter().flatten().copied().collect();
        let classes = self.classes().len();
        for (factor, prepared) in self.statistics.factors.iter().zip(&self.prepared) {
            let schema = &self.statistics.schema;
            let log_likelihoods = alike(&learnt, batch, factor.columns(), |row, removed| {
                factor.log_likelihood_without(prepared, schema, self.settings, batch, row, removed)
            })?;
            let exponent = exponent_of(self.settings, schema, factor.columns());
            for (log_joint, log_likelihood) in
                log_joints.chunks_exact_mut(classes).zip(log_likelihoods.iter())
            {
                log_joint.iter_mut().zip(log_likelihood).for_each(|(sum, &x)| *sum += raised(x, exponent));
            }
        }
        let learnt = learnt.iter().zip(log_joints.chunks_exact(classes)).zip(priors.iter());
        for ((&(row, removed), log_joint), log_prior) in learnt {
            scores.replace_row(row, log_joint, log_prior);
            if self.has_text {
                scores.set_evidence(row, self.has_evidence(batch, row, removed));
            }
        }
        Ok(scores)
    }

    fn has_evidence(&self, batch: &Batch, row: usize, removed: Removed) -> bool {
        let mut factors = self.statistics.factors.iter().zip(&self.prepared);
        self.everything.counts_missing()
            || factors.any(|(factor, prepared)| {
                prepared.has_evidence_without(batch, factor.columns(), row, removed)
            })
    }

    /// The rows of a batch that were learnt, and what is to be imagined away for each.
    fn learnt_rows(&self, batch: &Batch) -> Vec<(usize, Removed)> {
        let learnt = (0..batch.rows).filter(|&row| batch.weight(row) > 0.0).filter_map(|row| {
            let class = self.statistics.classes.get(batch.classes.value(row)?)?;
            Some((row, Removed { class, weight: batch.weight(row) }))
        });
        learnt.collect()
    }
}

/// What rows get, where those that are alike get the same.
struct Alike {
    kinds: Vec<Vec<f64>>,
    kind_of: Vec<usize>,
}

impl Alike {
    fn iter(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.kind_of.iter().map(|&kind| &self.kinds[kind])
    }
}

/// What `work` gives for each row. Rows of the same class and weight that hold the same in these columns are alike, and
/// it is asked for one of them: a column has fewer values than rows.
fn alike(
    learnt: &[(usize, Removed)],
    batch: &Batch,
    columns: &[usize],
    work: impl Fn(usize, Removed) -> Result<Vec<f64>>,
) -> Result<Alike> {
    let mut found: HashMap<Vec<u64>, usize, RandomState> = HashMap::default();
    let mut alike = Alike { kinds: Vec::new(), kind_of: Vec::with_capacity(learnt.len()) };
    let mut key = Vec::new();
    for &(row, removed) in learnt {
        key.clear();
        key.extend([removed.class as u64, removed.weight.to_bits()]);
        key.extend(columns.iter().map(|&column| match &batch.columns[column] {
            BatchColumn::Category(column) => u64::from(column.codes[row]),
            BatchColumn::Number(values) => values[row].to_bits(),
            BatchColumn::Text(_) => row as u64, // no two documents are alike
        }));
        let kind = match found.get(&key) {
            Some(&kind) => kind,
            None => {
                alike.kinds.push(work(row, removed)?);
                found.insert(key.clone(), alike.kinds.len() - 1);
                alike.kinds.len() - 1
            }
        };
        alike.kind_of.push(kind);
    }
    Ok(alike)
}

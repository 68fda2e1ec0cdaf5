//! Every row judged by the others: what is counted of one row is small, and is taken away again before it is asked for.
//!
//! What is chosen stays chosen: families, columns, pseudocounts of text, amounts of regularization, and in a column of numbers
//! all that its classes share. What is left of a row's own class then follows from the counts less the row, in about the
//! time that it takes to score it.

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::estimate::{self, Ratio};
use crate::exact::ExactSum;
use crate::families::likelihood::Unseen;
use crate::families::{Prepared, Removed};
use crate::judgement::{JudgedRows, Judgement};
use crate::model::{Model, raised};
use crate::posterior::Scores;
use crate::schema::Schema;
use crate::settings::Prior;
use crate::statistics::Statistics;

/// Statistics made ready to score their own rows, each as if it had not been there.
/// [`Statistics::leave_one_out`] makes it.
pub struct LeaveOneOut<'a> {
    pub(crate) statistics: &'a Statistics,
    priors: Priors<'a>,
    prepared: Vec<Prepared<'a, f64>>,
    /// The model of all rows.
    everything: &'a Model,
    judged: Option<JudgedRows>,
    /// What columns the rows have that are to be scored: those of the model, or more.
    schema: &'a Schema,
}

/// What each row of a batch adds up to, factor by factor, as if just that row had not been learnt.
///
/// A factor is a column, a joint table or a group of columns. Where it is missing, its terms are 0 for every class; where a
/// class calls its value impossible, the term is −∞. Powers that the settings raise likelihoods to are not applied. Rows
/// without a class, with weight zero or of a class that was never learnt were not learnt: nothing is taken away for them.
/// A class that vanishes with its only row has a log prior of −∞; its terms are those of a class of which nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// How many rows there are.
    pub rows: usize,
    /// How many factors.
    pub factors: usize,
    /// How many classes, in canonical order.
    pub classes: usize,
    /// log P(class): the classes of a row side by side.
    pub prior: Vec<f64>,
    /// log P(x | class): the classes of a row side by side, row after row, one factor after the other.
    pub values: Vec<f64>,
}

impl Terms {
    /// log P(class) for each class, without the row.
    pub fn prior(&self, row: usize) -> &[f64] {
        &self.prior[row * self.classes..][..self.classes]
    }

    /// log P(x | class) of a factor for each class, without the row.
    pub fn term(&self, factor: usize, row: usize) -> &[f64] {
        &self.values[(factor * self.rows + row) * self.classes..][..self.classes]
    }
}

impl<'a> LeaveOneOut<'a> {
    /// Prepares canonical statistics, from which this model was estimated. It takes rows with all columns.
    pub(crate) fn new(statistics: &'a Statistics, everything: &'a Model) -> Result<Self> {
        let settings = everything.resolved();
        let prepared = everything
            .factors_in(statistics)?
            .into_iter()
            .map(|(factor, found)| factor.prepare_again(&statistics.schema, settings, &found.likelihood));
        Ok(LeaveOneOut {
            statistics,
            priors: Priors::new(statistics, &settings.prior),
            prepared: prepared.collect::<Result<_>>()?,
            everything,
            judged: None,
            schema: &statistics.schema,
        })
    }

    /// The same, of a model that was judged. The row is left out of what was counted; the weights have seen it.
    pub(crate) fn judged(self, judgement: &Judgement) -> Result<Self> {
        let judged = JudgedRows::new(self.statistics, self.everything, judgement)?;
        Ok(LeaveOneOut { judged: Some(judged), ..self })
    }

    /// The same for rows of a table with more columns than the statistics have.
    pub(crate) fn of_table(self, schema: &'a Schema) -> Self {
        LeaveOneOut { schema, ..self }
    }

    /// What one factor adds up to for every row of a batch and every class, as if just that row had not been learnt.
    pub(crate) fn terms_of(&self, factor: usize, batch: &Batch) -> Result<Vec<f64>> {
        batch.check(self.everything.schema())?;
        let mut ln = vec![0.0; batch.rows * self.classes().len()];
        let mut evidence = vec![false; batch.rows];
        self.write_factor(factor, batch, &self.learnt_rows(batch), &mut ln, &mut evidence);
        Ok(ln)
    }

    /// The classes, in canonical order.
    pub fn classes(&self) -> &[String] {
        self.everything.classes()
    }

    /// What every row of a batch adds up to, factor by factor, as if just that row had not been learnt. The batch is part of
    /// what the statistics were made of.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn terms(&self, batch: &Batch) -> Result<Terms> {
        let batch = &*batch.only(self.schema, self.everything.schema());
        batch.check(self.everything.schema())?;
        let learnt = self.learnt_rows(batch);
        let (rows, factors, classes) = (batch.rows, self.prepared.len(), self.classes().len());
        let mut values = vec![0.0; factors * rows * classes];
        let mut evidence = vec![false; rows];
        for (factor, ln) in values.chunks_mut((rows * classes).max(1)).enumerate() {
            self.write_factor(factor, batch, &learnt, ln, &mut evidence);
        }
        Ok(Terms { rows, factors, classes, prior: self.log_priors(batch, &learnt)?, values })
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
    pub fn score(&self, whole: &Batch) -> Result<Scores> {
        let batch = &*whole.only(self.schema, self.everything.schema());
        batch.check(self.everything.schema())?;
        let learnt = self.learnt_rows(batch);
        let log_priors = self.log_priors(batch, &learnt)?;
        if let Some(judged) = &self.judged {
            return judged.score(self, whole, batch, &learnt, &log_priors);
        }
        let mut log_joint = log_priors.clone();
        let mut evidence = self.everything.evidence(batch);
        let mut unseen = Unseen::default();
        let mut ln = vec![0.0; log_joint.len()];
        for (factor, (_, exponent)) in self.everything.likelihoods().enumerate() {
            ln.fill(0.0);
            let never_met = self.write_factor(factor, batch, &learnt, &mut ln, &mut evidence);
            unseen.values += never_met.values;
            unseen.tokens += never_met.tokens;
            log_joint.iter_mut().zip(&ln).for_each(|(sum, &x)| *sum += raised(x, exponent));
        }
        let mut scores = Scores::new(self.everything.log_prior().to_vec(), log_joint, evidence, unseen);
        for (&(row, _), log_prior) in
            learnt.iter().map(|row| (row, row_of(&log_priors, row.0, self.classes().len())))
        {
            scores.set_prior(row, log_prior);
        }
        Ok(scores)
    }

    fn write_factor(
        &self,
        factor: usize,
        batch: &Batch,
        learnt: &[(usize, Removed)],
        ln: &mut [f64],
        evidence: &mut [bool],
    ) -> Unseen {
        let likelihood = self.everything.likelihoods().nth(factor).map(|(likelihood, _)| likelihood);
        likelihood.map_or_else(Unseen::default, |likelihood| {
            self.prepared[factor].write_without(likelihood, batch, learnt, ln, evidence)
        })
    }

    /// log P(class) for each row and class.
    fn log_priors(&self, batch: &Batch, learnt: &[(usize, Removed)]) -> Result<Vec<f64>> {
        let of_all = self.everything.log_prior();
        let mut log_priors = of_all.repeat(batch.rows);
        // What is left is the same for all rows of a class and a weight, and the other classes are divided by the same for
        // nearly all rows.
        let mut known: Vec<Option<(Removed, PriorWithout)>> = vec![None; of_all.len()];
        let (mut denominator, mut others) = (f64::NAN, Vec::new());
        for &(row, removed) in learnt {
            let left = match known[removed.class] {
                Some((same, left)) if same == removed => left,
                _ => known[removed.class].insert((removed, self.priors.without(removed)?)).1,
            };
            if left.denominator != denominator {
                denominator = left.denominator;
                others = self.priors.numerators.iter().map(|&n| Ratio::new(n, denominator).ln()).collect();
            }
            let log_prior = &mut log_priors[row * of_all.len()..][..of_all.len()];
            log_prior.copy_from_slice(&others);
            log_prior[removed.class] = left.ln_own;
        }
        Ok(log_priors)
    }

    /// The rows of a batch that were learnt, and what is to be imagined away for each.
    fn learnt_rows(&self, batch: &Batch) -> Vec<(usize, Removed)> {
        let names = batch.classes.values.names();
        let class_of: Vec<Option<usize>> =
            std::iter::once(None).chain(names.map(|name| self.statistics.classes.get(name))).collect();
        let learnt = (0..batch.rows).filter(|&row| batch.weight(row) > 0.0).filter_map(|row| {
            let class = class_of[batch.classes.codes[row] as usize]?;
            Some((row, Removed { class, weight: batch.weight(row) }))
        });
        learnt.collect()
    }
}

fn row_of(table: &[f64], row: usize, classes: usize) -> &[f64] {
    &table[row * classes..][..classes]
}

/// P(class) as a numerator for each class, and a denominator that they share. Without a row only its own class has another
/// numerator, so what is left of the prior takes no time to say.
pub(crate) struct Priors<'a> {
    statistics: &'a Statistics,
    prior: &'a Prior,
    pub(crate) numerators: Vec<f64>,
    total: ExactSum,
}

/// What is left of the prior without a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PriorWithout {
    /// The numerator of the class of the row; zero if it has no other.
    pub(crate) own: f64,
    pub(crate) denominator: f64,
    /// log P(class) of the class of the row.
    ln_own: f64,
}

impl PriorWithout {
    fn new(own: f64, denominator: f64) -> Self {
        PriorWithout { own, denominator, ln_own: Ratio::new(own, denominator).ln() }
    }
}

impl<'a> Priors<'a> {
    /// The prior of canonical statistics, which fits their classes.
    pub(crate) fn new(statistics: &'a Statistics, prior: &'a Prior) -> Self {
        let weights = &statistics.class_weight;
        let classes = statistics.classes.names().enumerate();
        let numerators = classes.map(|(class, name)| {
            estimate::prior::<f64>(prior, name, weights.get(0, class), 0.0, 0.0).numerator
        });
        Priors { numerators: numerators.collect(), total: weights.row_total(0), statistics, prior }
    }

    /// Whether a class has no other rows.
    pub(crate) fn vanishes(&self, removed: Removed) -> bool {
        self.statistics.class_weight.get_without(0, removed.class, removed.weight) <= 0.0
    }

    /// # Errors
    /// If there is no other row, or a given prior is 0 for every class that has others.
    pub(crate) fn without(&self, removed: Removed) -> Result<PriorWithout> {
        let mut total = self.total.clone();
        total.add(-removed.weight);
        if total.is_zero() {
            return Err(Error::Empty);
        }
        let vanishes = self.vanishes(removed);
        let weight = self.statistics.class_weight.get_without(0, removed.class, removed.weight);
        let classes = self.numerators.len() - usize::from(vanishes);
        let name = self.statistics.classes.name(removed.class);
        let left = estimate::prior::<f64>(self.prior, name, weight, total.value(), classes as f64);
        if !vanishes {
            return Ok(PriorWithout::new(left.numerator, left.denominator));
        }
        let denominator = match self.prior {
            Prior::Given(_) => {
                let others = self.numerators.iter().enumerate().filter(|(class, _)| *class != removed.class);
                others.map(|(_, share)| share).sum()
            }
            _ => left.denominator,
        };
        if denominator == 0.0 {
            return Err(Prior::nothing_left());
        }
        Ok(PriorWithout::new(0.0, denominator))
    }
}

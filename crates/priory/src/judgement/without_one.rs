//! What all terms of a judgement say of rows that were learnt, each without itself: it follows from the counts and from what was
//! chosen, without another choice.

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::families::{CountedRow, Removed};
use crate::judgement::OnGrid;
use crate::judgement::cloud::Cloud;
use crate::judgement::fit::Part;
use crate::judgement::judge::{class_weights, factor_terms, places_of_all, singles_of};
use crate::judgement::pool::Judgement;
use crate::judgement::sample::hashes_of;
use crate::judgement::single::{SingleCounts, SingleTable};
use crate::judgement::term_list::{CloudTerm, TermList};
use crate::judgement::terms::{Interactions, Sample, clouds_without_one, columns_without_one};
use crate::judgement::text::{TextJudgement, TextWithoutOne};
use crate::leave_one_out::LeaveOneOut;
use crate::model::Model;
use crate::posterior::Scores;
use crate::statistics::Statistics;

/// All terms of a judgement, ready to be asked about rows that were learnt.
pub(crate) struct Terms {
    columns: Vec<Option<SingleTable>>,
    /// Pairs and triples, if there are any.
    interactions: Vec<Interactions>,
    clouds: Vec<Cloud>,
    doubt: f64,
}

impl Terms {
    /// The terms that a judgement is about; `unit` is the mean weight of a row. `None` if it is not a judgement of such counts.
    pub(crate) fn new(
        singles: &[Option<SingleCounts>],
        on_grid: Option<&OnGrid>,
        judgement: &Judgement,
        unit: f64,
    ) -> Option<Self> {
        let columns = singles.iter().zip(&judgement.shrinkages);
        let columns = columns.map(|(counts, shrinkage)| Some(counts.as_ref()?.table((*shrinkage)?, unit)));
        let list = TermList::new(judgement, singles.len(), on_grid)?;
        let interactions = list.interactions.iter();
        let interactions = interactions
            .map(|terms| Interactions::new(terms.columns(), terms.each(), terms.strength, unit, true));
        let clouds = list.clouds.iter().map(CloudTerm::cloud);
        Some(Terms {
            columns: columns.collect(),
            interactions: interactions.collect(),
            clouds: clouds.collect::<Option<_>>()?,
            doubt: judgement.doubt,
        })
    }

    /// What all terms say of each row without the row, in the order of the weights of a judgement.
    pub(crate) fn without_one(&self, sample: &Sample, log_prior: &[f64], threads: usize) -> Vec<Part> {
        let classes = log_prior.len() / sample.own.len().max(1);
        let mut parts = vec![columns_without_one(&self.columns, sample, classes)];
        let interactions = self.interactions.iter();
        parts.extend(interactions.map(|interactions| interactions.without_one(sample, threads)));
        if !self.clouds.is_empty() {
            let clouds: Vec<&Cloud> = self.clouds.iter().collect();
            parts.push(clouds_without_one(&clouds, sample, log_prior, self.doubt, threads));
        }
        parts
    }
}

/// Rows of a judged model, each to be scored as if it had not been learnt. The weights have seen it.
pub(crate) struct JudgedRows {
    /// The judged model of all rows.
    model: Model,
    singles: Vec<Option<SingleCounts>>,
    /// What was concluded about texts whose tokens are weighed, and where they are.
    texts: Vec<TextJudgement>,
    weighed: Vec<usize>,
    terms: Terms,
    class_weights: Vec<f64>,
    weights: Vec<f64>,
    /// o of each class; classes that were learnt after the judgement have none.
    offsets: Vec<f64>,
}

impl JudgedRows {
    /// Of canonical statistics, and the plain model of them.
    pub(crate) fn new(statistics: &Statistics, plain: &Model, judgement: &Judgement) -> Result<Self> {
        let model = plain.clone().judged(statistics, judgement)?;
        let (class_weights, singles) = (class_weights(statistics), singles_of(statistics, model.settings()));
        let unit = class_weights.iter().sum::<f64>() / statistics.rows.max(1) as f64;
        let terms = Terms::new(&singles, statistics.on_grid.as_deref(), judgement, unit);
        let offset = |class: &str| judgement.offsets.get(class).copied().unwrap_or(0.0);
        Ok(JudgedRows {
            model,
            terms: terms.ok_or_else(|| Error::Settings("the judgement is of other statistics".into()))?,
            singles,
            texts: judgement.texts.clone(),
            weighed: judgement.texts.iter().map(|text| text.column).collect(),
            class_weights,
            weights: judgement.weights.clone(),
            offsets: statistics.classes.names().map(offset).collect(),
        })
    }

    /// Scores the rows of a batch, of which these were learnt; the others are scored against everything. `whole` has all columns of
    /// the table, and `batch` those of the model. `log_priors` are those of every row without it.
    pub(crate) fn score(
        &self,
        left_out: &LeaveOneOut<'_>,
        whole: &Batch,
        batch: &Batch,
        learnt: &[(usize, Removed)],
        log_priors: &[f64],
    ) -> Result<Scores> {
        let mut scores = self.model.score(batch)?;
        let (classes, total) = (self.class_weights.len(), self.class_weights.iter().sum::<f64>());
        let rows: Vec<usize> = learnt.iter().map(|(row, _)| *row).collect();
        let mut sample = self.sample(left_out, &batch.select(&rows), learnt)?;
        let smoothed = sample.log_prior(&self.class_weights);
        self.spare_rows_beyond_the_grid(left_out.statistics, whole, learnt, &mut sample);
        let parts = self.terms.without_one(&sample, &smoothed, 1);
        let chosen = batch.select(&rows);
        let of_text =
            |judgement| Some(TextWithoutOne::new(left_out.statistics, judgement)?.terms(&chosen, learnt));
        let texts: Vec<Vec<f64>> = self.texts.iter().filter_map(of_text).collect();
        for (place, &(row, removed)) in learnt.iter().enumerate() {
            let z = (0..classes).map(|class| {
                let own = if class == removed.class { removed.weight } else { 0.0 };
                let left = self.class_weights[class] - own;
                if left <= 0.0 {
                    return f64::NEG_INFINITY; // the class vanishes with the row
                }
                // Whatever prior the model has takes the place of the plain shares of the classes.
                let plain = libm::log(left / (total - removed.weight));
                let (mut sum, mut start) = (texts.iter().map(|z| z[place * classes + class]).sum::<f64>(), 0);
                for part in &parts {
                    let weights = &self.weights[start..][..part.terms];
                    // What the terms say is measured from what they say for the last class.
                    if class + 1 < classes {
                        sum += part.weighted(place * (classes - 1) + class, weights);
                    }
                    start += part.terms;
                }
                log_priors[row * classes + class] + self.offsets[class] + smoothed[place * classes + class]
                    - plain
                    + sum
            });
            scores.set_row(row, z);
            scores.set_prior(row, &log_priors[row * classes..][..classes]);
        }
        Ok(scores)
    }

    /// The rows as the terms look them up.
    fn sample(
        &self,
        left_out: &LeaveOneOut<'_>,
        batch: &Batch,
        learnt: &[(usize, Removed)],
    ) -> Result<Sample> {
        let rows: Vec<u32> = (0..batch.rows as u32).collect();
        let on_grid = left_out.statistics.on_grid.as_ref();
        Ok(Sample {
            own: learnt.iter().map(|(_, removed)| removed.class as u32).collect(),
            weights: learnt.iter().map(|(_, removed)| removed.weight).collect(),
            copies: vec![1.0; batch.rows],
            places: places_of_all(&self.singles, batch, &rows),
            coded: on_grid.map(|on_grid| on_grid.grid.write(batch, &rows)).unwrap_or_default(),
            factors: factor_terms(left_out, &self.singles, &self.weighed, batch)?,
            texts: Vec::new(),
        })
    }

    /// Rows that are not counted on the grid cannot be left out of it: there they weigh nothing.
    fn spare_rows_beyond_the_grid(
        &self,
        statistics: &Statistics,
        whole: &Batch,
        learnt: &[(usize, Removed)],
        sample: &mut Sample,
    ) {
        let largest = statistics.on_grid.as_ref().map_or(u64::MAX, |on_grid| on_grid.grid.largest_hash);
        if largest == u64::MAX {
            return;
        }
        let counted =
            learnt.iter().map(|&(row, removed)| CountedRow { row: row as u32, class: removed.class as u32 });
        let hashes = hashes_of(whole, &counted.collect::<Vec<_>>());
        for (weight, hash) in sample.weights.iter_mut().zip(hashes) {
            if hash > largest {
                *weight = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::judgement::Tier;
    use crate::judgement::fit::Fit;
    use crate::judgement::grid::{Coded, Grid, GridColumn, Scale};
    use crate::judgement::pool::{Effort, judge};
    use crate::judgement::together::{Layout, Together, weight_units};
    use crate::vocabulary::Vocabulary;

    /// Rows of three columns of three values each; the class is whether the first two are equal.
    fn learnt(rows: usize) -> (OnGrid, Sample) {
        let column = |column: usize| GridColumn {
            column,
            shares: vec![1.0 / 3.0; 3],
            scale: Scale::Values { values: vec!["a".into(), "b".into(), "c".into()], others: false },
        };
        let grid = Grid {
            columns: (0..3).map(column).collect(),
            triples: vec![0, 1, 2],
            codes_of_triples: 4,
            largest_hash: u64::MAX,
            left_out: 0,
        };
        let code = |row: usize, step: usize| 1 + (row * row / step % 3) as u8;
        let codes: Vec<Vec<u8>> =
            [1, 5, 7].map(|step| (0..rows).map(|row| code(row, step)).collect()).to_vec();
        let own: Vec<u32> =
            (0..rows).map(|row| u32::from(codes[0][row] == codes[1][row] || row % 11 == 0)).collect();
        let coded = Coded { rows, codes, distances: Vec::new(), normals: Vec::new() };
        let mut sums = Together::empty(Layout::new(&grid), 2);
        sums.add(&coded, &own, &vec![weight_units(1.0); own.len()], 1);
        let sample = Sample {
            own,
            weights: vec![1.0; rows],
            copies: vec![1.0; rows],
            places: vec![Vec::new(); 3],
            coded,
            factors: Vec::new(),
            texts: Vec::new(),
        };
        (OnGrid { grid: Arc::new(grid), sums }, sample)
    }

    /// From what was chosen follow the terms that the weights were fitted to: no other weights are better.
    #[test]
    fn the_terms_of_a_judgement_are_those_of_its_fit() {
        let (on_grid, sample) = learnt(1_300);
        let classes = Vocabulary::of_distinct(["different", "equal"].into_iter());
        let class_weights = [0, 1].map(|class| sample.own.iter().filter(|&&own| own == class).count() as f64);
        let singles = [const { None }; 3];
        let judged = |threads: usize| {
            let effort = Effort { products: 0, threads };
            judge(Tier::Full, &classes, &class_weights, &singles, Some(&on_grid), &sample, effort).0
        };
        let judgement = judged(1);
        assert_eq!(judged(3), judgement);
        assert_eq!(judgement.trust, 1.0);
        assert!(judgement.pairs.is_some() && !judgement.clouds.is_empty());
        let log_prior = sample.log_prior(&class_weights);
        let terms = Terms::new(&singles, Some(&on_grid), &judgement, 1.0).unwrap();
        let fit = Fit {
            classes: 2,
            own: sample.own.clone(),
            weights: sample.weights.clone(),
            learnt: 1_300.0,
            parts: terms.without_one(&sample, &log_prior, 2),
            log_prior,
            threads: 1,
        };
        let again = fit.weights(&fit.weights, &fit.start(1.0), 1.0, 200);
        assert_eq!(again.terms.len(), judgement.weights.len());
        for (again, weight) in again.terms.iter().zip(&judgement.weights).skip(3) {
            assert!((again - weight).abs() < 0.02, "{again} instead of {weight}");
        }
    }
}

//! A judgement as people look at it.

use serde::Serialize;

use crate::judgement::cloud::Covariance;
use crate::judgement::{Judgement, Tier};
use crate::statistics::Statistics;

/// How much what the columns say was found to be worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgementSummary {
    /// How far it goes.
    pub tier: Tier,
    /// How many rows had been learnt when it was made.
    pub rows: u64,
    /// Whether at least a quarter as many rows were learnt or forgotten since, so that it should be made anew.
    pub is_stale: bool,
    /// The weights of each column.
    pub columns: Vec<ColumnWeights>,
    /// What columns say as one cloud of points, and the weight of that.
    pub clouds: Vec<CloudWeight>,
}

/// What one column is worth. A weight of 1 takes what it says at face value, and 0 passes over it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnWeights {
    /// The column.
    pub name: String,
    /// The weight of what it says by itself.
    pub alone: f64,
    /// The weight of what it says together with each other column, if that was counted.
    pub in_pairs: Option<f64>,
    /// The weight of what it says together with any two others, if that was counted and was of use.
    pub in_triples: Option<f64>,
}

/// What a cloud is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CloudWeight {
    /// What it is made of.
    pub name: String,
    /// Its weight.
    pub weight: f64,
}

impl JudgementSummary {
    /// Of the judgement of these statistics.
    pub(crate) fn new(judgement: &Judgement, statistics: &Statistics) -> Self {
        let on_grid = statistics.on_grid.as_ref().map_or(&[][..], |on_grid| &on_grid.grid.columns[..]);
        let (alone, rest) = judgement.weights.split_at(statistics.schema.columns.len());
        let (in_pairs, rest) = rest.split_at(if judgement.pairs.is_some() { on_grid.len() } else { 0 });
        let (in_triples, clouds) = rest.split_at(if judgement.triples.is_some() { on_grid.len() } else { 0 });
        let columns = statistics.schema.columns.iter().zip(alone).enumerate();
        let columns = columns.map(|(i, (column, &alone))| {
            let place = on_grid.iter().position(|on_grid| on_grid.column == i);
            let of = |weights: &[f64]| place.and_then(|place| weights.get(place).copied());
            ColumnWeights {
                name: column.name.clone(),
                alone,
                in_pairs: of(in_pairs),
                in_triples: of(in_triples),
            }
        });
        let clouds = judgement.clouds.iter().zip(clouds).map(|((members, covariance), &weight)| {
            CloudWeight { name: members.describe(matches!(covariance, Covariance::Shared { .. })), weight }
        });
        JudgementSummary {
            tier: judgement.tier,
            rows: judgement.rows,
            is_stale: judgement.is_stale(statistics.rows),
            columns: columns.collect(),
            clouds: clouds.collect(),
        }
    }
}

impl Judgement {
    /// Whether so many rows were learnt or forgotten since that it should be made anew.
    pub(crate) fn is_stale(&self, rows: u64) -> bool {
        4 * self.rows.abs_diff(rows) >= self.rows.max(1)
    }
}

//! A judgement as people look at it.

use serde::Serialize;

use crate::judgement::term_list::{InteractionTerms, TermList};
use crate::judgement::text::TextJudgement;
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
    /// How many columns are weighed by themselves alone, since all of them together would be too many to count.
    pub left_out: usize,
    /// The weights of each column.
    pub columns: Vec<ColumnWeights>,
    /// What columns say as one cloud of points, and the weight of that.
    pub clouds: Vec<CloudWeight>,
    /// Texts whose tokens are weighed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextWeights>,
}

/// What the tokens of a text are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextWeights {
    /// The column.
    pub name: String,
    /// The weights of tokens by how many documents have them, in a document of mean length.
    pub bands: Vec<BandWeights>,
    /// How many tokens have a weight of their own.
    pub own_weights: usize,
}

/// What tokens are worth that about as many documents have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BandWeights {
    /// The fewest documents that have such a token.
    pub documents: u64,
    /// The weights of single words, of pairs of words, and of more, as far as they are counted.
    pub weights: Vec<f64>,
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
        let of_schema = 0..statistics.schema.columns.len();
        let used = judgement.used.clone().unwrap_or_else(|| of_schema.collect());
        let terms = TermList::new(judgement, used.len(), statistics.on_grid.as_deref());
        let terms = terms.expect("a judgement fits the statistics that it is kept with");
        let columns = used.iter().zip(&judgement.weights).enumerate();
        let columns = columns.filter(|(place, _)| !judgement.weighs(*place)).map(|(_, (&column, &alone))| {
            let place = on_grid.iter().position(|on_grid| on_grid.column == column);
            let of = |terms: Option<&InteractionTerms<'_>>| {
                Some(judgement.weights[terms?.weights.clone()][place?])
            };
            ColumnWeights {
                name: statistics.schema.columns[column].name.clone(),
                alone,
                in_pairs: of(terms.pairs()),
                in_triples: of(terms.triples()),
            }
        });
        let clouds = terms.clouds.iter();
        let clouds =
            clouds.map(|term| CloudWeight { name: term.describe(), weight: judgement.weights[term.weight] });
        let texts = judgement.texts.iter().map(|text| TextWeights::new(text, statistics, used[text.column]));
        JudgementSummary {
            tier: judgement.tier,
            rows: judgement.rows,
            is_stale: judgement.is_stale(statistics.rows),
            left_out: statistics.on_grid.as_ref().map_or(0, |on_grid| on_grid.grid.left_out),
            columns: columns.collect(),
            clouds: clouds.collect(),
            texts: texts.collect(),
        }
    }
}

impl TextWeights {
    /// `column` is its position in the schema.
    fn new(judgement: &TextJudgement, statistics: &Statistics, column: usize) -> Self {
        let bands = judgement.weights_at_mean(statistics, column).into_iter();
        TextWeights {
            name: statistics.schema.columns[column].name.clone(),
            bands: bands.map(|(documents, weights)| BandWeights { documents, weights }).collect(),
            own_weights: judgement.deviations.len(),
        }
    }
}

impl Judgement {
    /// Whether so many rows were learnt or forgotten since that it should be made anew.
    pub(crate) fn is_stale(&self, rows: u64) -> bool {
        4 * self.rows.abs_diff(rows) >= self.rows.max(1)
    }
}

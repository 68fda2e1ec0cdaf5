//! Judgement: how much what the columns say is worth.
//!
//! Columns repeat each other, and naive Bayes counts their evidence twice: it ranks well and exaggerates. Since a row can be taken
//! out of the statistics, every row can be predicted from the others, and from that follows how much each term is to be believed:
//!
//! ```text
//! z(class) = o(class) + log P(class) + Σ w t(class) + Σ v S(class) + Σ v³ S³(class) + Σ a G(class),    posterior = softmax z
//! ```
//!
//! A column of text is not one term but many: see `text`. t is what one column says (`single`), S what a column says together with each other one and S³ with each two others
//! (`interactions`), G what the columns say as one cloud of points (`cloud`). No weight is negative. The terms come from sums of
//! whole numbers on a `grid` that does not know the classes (`together`); the weights from one convex `fit`.

mod blocks;
pub(crate) mod cloud;
mod count;
mod fit;
pub(crate) mod grid;
mod groups;
mod interactions;
mod interval;
mod judge;
mod judged;
mod lost;
mod on_grid;
mod optimize;
mod pool;
mod rows;
mod sample;
mod select;
pub(crate) mod single;
mod summary;
mod term_list;
mod terms;
pub(crate) mod text;
mod tier;
pub(crate) mod together;
mod without_one;

pub(crate) use grid::Grid;
pub(crate) use interval::JudgedSpread;
pub(crate) use judge::judged;
pub(crate) use judged::{Judged, TermOf};
pub(crate) use on_grid::OnGrid;
pub(crate) use pool::Judgement;
pub(crate) use sample::RowSample;
pub use summary::{BandWeights, CloudWeight, ColumnWeights, JudgementSummary, TextWeights};
pub(crate) use tier::ONE_GROUP;
pub use tier::{Judging, Tier};
pub(crate) use without_one::JudgedRows;

use crate::posterior::log_sum;

/// Turns scores into the probabilities that they stand for.
pub(crate) fn softmax(z: &mut [f64]) {
    let total = log_sum(z.iter().copied());
    z.iter_mut().for_each(|z| *z = libm::exp(*z - total));
}

/// Bounds what a cloud says: with a doubt of ε, no class is less probable than ε/K by it, so that no cloud can say more than
/// about log(K/ε) for or against a class.
pub(crate) fn bound(scores: &mut [f64], log_prior: &[f64], doubt: f64) {
    let classes = scores.len() as f64;
    scores.iter_mut().zip(log_prior).for_each(|(score, prior)| *score += prior);
    softmax(scores);
    for (score, prior) in scores.iter_mut().zip(log_prior) {
        *score = libm::log((1.0 - doubt) * *score + doubt / classes) - prior;
    }
}

//! The terms of a judgement, and which of its weights belong to which: those of single columns first, then of columns in pairs, of
//! columns in triples, and of clouds. Everything that adds up weighted terms walks them in this order.

use std::ops::Range;

use crate::judgement::OnGrid;
use crate::judgement::cloud::{Cloud, Covariance, Members};
use crate::judgement::interactions::{Interaction, Shape, pairs_of, triples_of};
use crate::judgement::pool::{Judgement, PairChoice};

/// All terms of a judgement but those of single columns, whose weights are the first, in the order of the schema.
pub(crate) struct TermList<'a> {
    /// Pairs, then triples, if there are any.
    pub(crate) interactions: Vec<InteractionTerms<'a>>,
    pub(crate) clouds: Vec<CloudTerm<'a>>,
}

impl<'a> TermList<'a> {
    /// For a table of so many columns. `None` if the judgement has not as many weights as there are terms.
    pub(crate) fn new(judgement: &Judgement, columns: usize, on_grid: Option<&'a OnGrid>) -> Option<Self> {
        let mut end = columns;
        let mut take = |count: usize| {
            end += count;
            end - count..end
        };
        let mut terms = TermList { interactions: Vec::new(), clouds: Vec::new() };
        let on_grid = on_grid.filter(|on_grid| !on_grid.grid.columns.is_empty());
        if let Some(on_grid) = on_grid {
            let of_grid = on_grid.grid.columns.len();
            if let Some(PairChoice { bins, strength }) = judgement.pairs {
                let of = Columns::Pairs { bins };
                terms.interactions.push(InteractionTerms { on_grid, of, strength, weights: take(of_grid) });
            }
            if let Some(strength) = judgement.triples {
                let of = Columns::Triples;
                terms.interactions.push(InteractionTerms { on_grid, of, strength, weights: take(of_grid) });
            }
            for &(members, covariance) in &judgement.clouds {
                terms.clouds.push(CloudTerm { on_grid, members, covariance, weight: take(1).start });
            }
        }
        let says_nothing_together =
            judgement.pairs.is_none() && judgement.triples.is_none() && judgement.clouds.is_empty();
        let is_complete = on_grid.is_some() || says_nothing_together;
        (is_complete && judgement.weights.len() == end).then_some(terms)
    }

    /// Those of pairs, if there are any.
    pub(crate) fn pairs(&self) -> Option<&InteractionTerms<'a>> {
        self.interactions.iter().find(|terms| terms.of != Columns::Triples)
    }

    /// Those of triples, if there are any.
    pub(crate) fn triples(&self) -> Option<&InteractionTerms<'a>> {
        self.interactions.iter().find(|terms| terms.of == Columns::Triples)
    }
}

/// What columns of the grid say in pairs, or in triples.
pub(crate) struct InteractionTerms<'a> {
    on_grid: &'a OnGrid,
    of: Columns,
    pub(crate) strength: f64,
    /// Where the weights of the columns of the grid are. What several columns say weighs as much as all of them together.
    pub(crate) weights: Range<usize>,
}

/// How many columns say something together.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Columns {
    /// Two, with numbers in at most so many bins.
    Pairs {
        bins: usize,
    },
    Triples,
}

impl<'a> InteractionTerms<'a> {
    /// How many columns the grid has.
    pub(crate) fn columns(&self) -> usize {
        self.weights.len()
    }

    /// The shapes and the counts of all pairs or triples.
    pub(crate) fn each(&self) -> Box<dyn Iterator<Item = (Shape, Interaction)> + 'a> {
        let OnGrid { grid, sums } = self.on_grid;
        match self.of {
            Columns::Pairs { bins } => Box::new(pairs_of(grid, sums, bins)),
            Columns::Triples => Box::new(triples_of(sums)),
        }
    }

    /// The places of the weights of a pair or triple.
    pub(crate) fn weights_of(&self, shape: &Shape) -> impl Iterator<Item = usize> {
        shape.columns().iter().map(|&column| self.weights.start + column)
    }

    /// The pairs or triples that weigh anything under these weights of a judgement, and how much they weigh.
    pub(crate) fn weighted(&self, weights: &[f64]) -> impl Iterator<Item = (Shape, Interaction, f64)> {
        let of_shape = |(shape, interaction): (Shape, Interaction)| {
            let weight: f64 = self.weights_of(&shape).map(|place| weights[place]).sum();
            (weight > 0.0).then_some((shape, interaction, weight))
        };
        self.each().filter_map(of_shape)
    }
}

/// What columns say as one cloud of points.
pub(crate) struct CloudTerm<'a> {
    on_grid: &'a OnGrid,
    pub(crate) members: Members,
    covariance: Covariance,
    /// Where its weight is.
    pub(crate) weight: usize,
}

impl CloudTerm<'_> {
    /// The cloud, ready to be asked; `None` if there are no columns for it or too many, or the matrix cannot be inverted.
    pub(crate) fn cloud(&self) -> Option<Cloud> {
        let OnGrid { grid, sums } = self.on_grid;
        Cloud::of(grid, sums, self.members, self.covariance)
    }

    /// What it says, in words.
    pub(crate) fn describe(&self) -> String {
        self.members.describe(matches!(self.covariance, Covariance::Shared { .. }))
    }
}

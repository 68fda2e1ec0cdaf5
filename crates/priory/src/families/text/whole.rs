//! What follows from all tokens of a column together, so that a document can be scored by the counts of its own tokens.

use serde::{Deserialize, Serialize};

use super::TextStatistics;
use super::choose::chosen_family;
use super::estimate::{Amounts, TextEstimate};
use super::likelihood::TextLikelihood;
use crate::settings::{Family, Settings, Smoothing};

/// Stands in a model file beside the counts: see [`crate::ModelFile`]. It is derived from them under the settings of the
/// file, and of no use under others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    /// How many tokens there are.
    pub(crate) tokens: u64,
    /// The pseudocount, where it is chosen from the counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pseudocount: Option<f64>,
    /// Bernoulli: for each class, the logarithm of all tokens absent, and how many tokens cannot be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) absent: Vec<(f64, u32)>,
    /// Normalized complement: for each class, what a document's sum is multiplied by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scale: Vec<f64>,
}

impl Whole {
    /// `None` if a document's own tokens are not enough, or the settings do not fit the counts: some tokens are not kept,
    /// or some counts have not only a cell.
    pub(crate) fn new(statistics: &TextStatistics, settings: &Settings, column: &str) -> Option<Self> {
        let limits = &settings.text;
        if limits.most_tokens.is_some() || limits.min_documents > 0.0 || !statistics.counts.is_plain() {
            return None;
        }
        let estimate = TextEstimate::new(statistics, settings, column).ok()?;
        let pseudocount = match (settings.text_smoothing_of(column), estimate.formula.amounts) {
            (Smoothing::Auto, Amounts::Each(alpha)) => Some(alpha),
            _ => None,
        };
        let absent = match estimate.formula.family {
            Family::Bernoulli => {
                let bases = (0..estimate.classes()).map(|class| estimate.base(class, &estimate.sums(class)));
                bases.map(|base| (base.log, base.needed)).collect()
            }
            _ => Vec::new(),
        };
        let scale = match estimate.formula.family {
            Family::ComplementNormalized => TextLikelihood::new(&estimate).scale().to_vec(),
            _ => Vec::new(),
        };
        let whole = Whole { tokens: statistics.tokens.len() as u64, pseudocount, absent, scale };
        whole.is_finite().then_some(whole)
    }

    fn is_finite(&self) -> bool {
        let absent = self.absent.iter().map(|(log, _)| log);
        self.pseudocount.iter().chain(absent).chain(&self.scale).all(|x| x.is_finite())
    }

    /// Whether there is what these settings need, and nothing that could not be.
    pub(crate) fn fits(
        &self,
        settings: &Settings,
        column: &str,
        text: &TextStatistics,
        classes: usize,
    ) -> bool {
        let Ok(family) = chosen_family(settings, column, text.settings.tokens.style, classes) else {
            return false;
        };
        let expected = |of: Family| if family == of { classes } else { 0 };
        self.is_finite()
            && self.absent.len() == expected(Family::Bernoulli)
            && self.scale.len() == expected(Family::ComplementNormalized)
            && self.pseudocount.is_some() == (*settings.text_smoothing_of(column) == Smoothing::Auto)
            && self.pseudocount.is_none_or(|alpha| alpha > 0.0)
    }
}

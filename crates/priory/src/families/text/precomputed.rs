//! Numbers that depend on all tokens of a column, stored so that a document can be scored with the counts of its own
//! tokens alone.

use serde::{Deserialize, Serialize};

use super::TextStatistics;
use super::choose::{PSEUDOCOUNTS, chosen_family};
use super::estimate::{Amounts, TextEstimate};
use super::likelihood::TextLikelihood;
use crate::settings::{Settings, Smoothing, TextFamily};

/// The revision of the formulas for these numbers. Raise it whenever the bits of one of them change, so that numbers of
/// different revisions are never mixed: files of an older revision are then read completely.
pub(crate) const REVISION: u32 = 1;

/// Stands in a model file beside the counts: see [`crate::format::ModelFile`]. It is derived from them under the settings of the
/// file, and of no use under others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Precomputed {
    /// The [`REVISION`] of the formulas.
    #[serde(default = "first_revision", skip_serializing_if = "is_first_revision")]
    pub(crate) revision: u32,
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
    /// Where the tokens are weighed by a judgement: how many documents the tokens of each band have in each class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) masses: Vec<f64>,
}

fn first_revision() -> u32 {
    1
}

fn is_first_revision(revision: &u32) -> bool {
    *revision == 1
}

/// Limits of sums of logarithms and of scales. Anything beyond them cannot come from counts, and could overflow when it
/// is added up.
const MOST_LOG: f64 = 1e300;
const MOST_SCALE: f64 = 1e30;

impl Precomputed {
    /// `None` if a document's own tokens are not enough to score it (some tokens are not kept, or some counts have
    /// rounding errors beside the table), or if the settings do not fit the counts.
    pub(crate) fn new(
        statistics: &TextStatistics,
        settings: &Settings,
        column: &str,
        masses: Vec<f64>,
    ) -> Option<Self> {
        let limits = &settings.text;
        if limits.most_tokens.is_some() || limits.min_documents > 0.0 || !statistics.counts.is_plain() {
            return None;
        }
        // A textbook model passes over some tokens, and a judged one needs nothing else.
        if !masses.is_empty() {
            let (tokens, pseudocount) = (statistics.tokens.len() as u64, None);
            let (absent, scale) = (Vec::new(), Vec::new());
            return Some(Precomputed { revision: REVISION, tokens, pseudocount, absent, scale, masses });
        }
        if statistics.settings.tokens.neighbours {
            return None;
        }
        let estimate = TextEstimate::new(statistics, settings, column).ok()?;
        let pseudocount = match (settings.text_smoothing_of(column), estimate.formula.amounts) {
            (Smoothing::Auto, Amounts::Each(alpha)) => Some(alpha),
            _ => None,
        };
        let absent = match estimate.formula.family {
            TextFamily::Bernoulli => {
                let bases = (0..estimate.classes()).map(|class| estimate.base(class, &estimate.sums(class)));
                bases.map(|base| (base.log, base.needed)).collect()
            }
            _ => Vec::new(),
        };
        let scale = match estimate.formula.family {
            TextFamily::ComplementNormalized => TextLikelihood::new(&estimate).scale().to_vec(),
            _ => Vec::new(),
        };
        let tokens = statistics.tokens.len() as u64;
        let whole = Precomputed { revision: REVISION, tokens, pseudocount, absent, scale, masses };
        whole.is_plausible().then_some(whole)
    }

    /// Whether counts could lead to such numbers.
    fn is_plausible(&self) -> bool {
        self.pseudocount.is_none_or(|alpha| PSEUDOCOUNTS.contains(&alpha))
            && self.absent.iter().all(|(log, _)| (-MOST_LOG..=0.0).contains(log))
            && self.scale.iter().all(|scale| (0.0..=MOST_SCALE).contains(scale))
    }

    /// Whether this has what the settings need, by the current formulas, and only values that are possible.
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
        if !self.masses.is_empty() {
            return self.revision == REVISION
                && self.masses.iter().all(|mass| mass.is_finite() && *mass >= 0.0);
        }
        let expected = |of: TextFamily| if family == of { classes } else { 0 };
        self.revision == REVISION
            && self.is_plausible()
            && self.absent.len() == expected(TextFamily::Bernoulli)
            && self.scale.len() == expected(TextFamily::ComplementNormalized)
            && self.pseudocount.is_some() == (*settings.text_smoothing_of(column) == Smoothing::Auto)
    }
}

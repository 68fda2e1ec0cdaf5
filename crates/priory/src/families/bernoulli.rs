//! Bernoulli family: x | class is present with probability w, absent with 1 − w.
//!
//! Maximum likelihood: w = n(present, class) / n(class); Laplace: (n(present, class) + 1) / (n(class) + 2). It is
//! the categorical family on two values that are both possible from the start, even where one never occurred.
//!
//! Scoring starts from "everything absent", log P(class) + Σ log(1 − w), and adds log(w / (1 − w)) for what is
//! present; so it touches only that. For two classes the difference of two scores is the linear form b + Σ w x.

use crate::batch::CategoryColumn;
use crate::families::categorical::{CategoricalLikelihood, CategoryEstimate};
use crate::vocabulary::Vocabulary;

/// Spellings of absent and present that are recognised, in lower case.
const PAIRS: [(&str, &str); 7] = [
    ("0", "1"),
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("off", "on"),
    ("absent", "present"),
];

/// The two values of a Bernoulli column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) absent: String,
    pub(crate) present: String,
}

impl Sides {
    /// The sides of a column whose values all belong to one pair of spellings, in one way of writing them.
    pub(crate) fn recognised(values: &Vocabulary) -> Option<Sides> {
        if values.is_empty() || values.len() > 2 {
            return None;
        }
        let styles: [fn(&str) -> String; 3] = [str::to_owned, |s| s.to_uppercase(), capitalised];
        PAIRS.iter().flat_map(|pair| styles.map(|style| (style(pair.0), style(pair.1)))).find_map(
            |(absent, present)| {
                values
                    .names()
                    .all(|name| name == absent || name == present)
                    .then_some(Sides { absent, present })
            },
        )
    }

    /// The sides of a column that the user calls Bernoulli: recognised spellings, or else two values of which the
    /// later one in canonical order is present; a single value is present, and its absence has no name.
    pub(crate) fn of(values: &Vocabulary) -> Option<Sides> {
        let sorted = || values.sorted().into_iter().map(|id| values.name(id).to_owned());
        Sides::recognised(values).or_else(|| match values.len() {
            1 => {
                Some(Sides { absent: format!("not {}", values.name(0)), present: values.name(0).to_owned() })
            }
            2 => {
                let mut sides = sorted();
                Some(Sides { absent: sides.next()?, present: sides.next()? })
            }
            _ => None,
        })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        vec![self.absent.clone(), self.present.clone()]
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// log P(x | class) of each side and, where all logarithms are finite, measured from absent.
#[derive(Debug, Clone)]
pub(crate) struct BernoulliLikelihood {
    pub(crate) sides: Sides,
    by_side: CategoricalLikelihood,
    folded: Option<CategoricalLikelihood>,
    /// What every row starts from; zero if nothing could be folded.
    pub(crate) base: Vec<f64>,
}

impl BernoulliLikelihood {
    pub(crate) fn new(estimate: &CategoryEstimate<'_, f64>, sides: Sides, classes: usize) -> Self {
        let by_side = CategoricalLikelihood::new(estimate);
        match by_side.folded_around(&sides.absent) {
            Some((folded, base)) => BernoulliLikelihood { sides, by_side, folded: Some(folded), base },
            None => BernoulliLikelihood { sides, by_side, folded: None, base: vec![0.0; classes] },
        }
    }

    /// Adds log P(x | class) − base. Returns how many values were never met.
    pub(crate) fn add_log_likelihood(&self, column: &CategoryColumn, scores: &mut [f64]) -> u64 {
        self.folded.as_ref().unwrap_or(&self.by_side).add_log_likelihood(column, scores)
    }

    /// Adds log P(x | class). Returns how many values were never met.
    pub(crate) fn add_whole_log_likelihood(&self, column: &CategoryColumn, scores: &mut [f64]) -> u64 {
        self.by_side.add_log_likelihood(column, scores)
    }

    /// log P(x | class) for each class, and whether the value was met in training.
    pub(crate) fn contribution(&self, value: Option<&str>) -> (&[f64], bool) {
        self.by_side.contribution(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(values: &[&str]) -> Option<(String, String)> {
        let values: Vocabulary = values.iter().copied().collect();
        Sides::recognised(&values).map(|sides| (sides.absent, sides.present))
    }

    #[test]
    fn pairs_are_recognised_in_one_way_of_writing() {
        assert_eq!(sides(&["1", "0"]), Some(("0".into(), "1".into())));
        assert_eq!(sides(&["1"]), Some(("0".into(), "1".into())));
        assert_eq!(sides(&["Yes", "No"]), Some(("No".into(), "Yes".into())));
        assert_eq!(sides(&["TRUE"]), Some(("FALSE".into(), "TRUE".into())));
        assert_eq!(sides(&["Yes", "no"]), None);
        assert_eq!(sides(&["0", "1", "2"]), None);
        assert_eq!(sides(&["male", "female"]), None);
        assert_eq!(sides(&[]), None);
    }
}

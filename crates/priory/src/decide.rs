//! From posteriors to answers: which class to answer, given what mistakes cost.
//!
//! With C(k, a) the cost of the answer a where class k is true:
//!
//! | rule | answer |
//! |---|---|
//! | most probable | argmax P(k): the least expected number of mistakes |
//! | costs | argmin over a of Σₖ P(k) C(k, a): the least expected cost |
//! | thresholds | the class whose P(k) reaches its threshold; if none does, the most probable of the classes that have none |
//!
//! [`UNSURE`] is a third answer: where no class reaches a probability that was asked for, where it is the cheapest, or where every
//! class has a threshold and none reaches its own.
//!
//! Thresholds are compared as log-odds, rounded like those that an [evaluation](crate::evaluate) ranks by, so that what a cut-off
//! is worth there is what it does here.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::log_odds::{self, RowPosterior, rounded};
use crate::posterior::Scores;

/// What is answered where no class is probable enough.
pub const UNSURE: &str = "unsure";

/// Which class is answered. By default the most probable.
///
/// ```
/// use priory::decide::{Cost, Decision};
///
/// // Spam in the inbox is a nuisance, a letter among the spam a loss.
/// let costs = vec![Cost::new("spam", "ham", 1.0), Cost::new("ham", "spam", 9.0)];
/// let decision = Decision { costs, ..Decision::default() };
/// let decider = decision.decider(&["ham".into(), "spam".into()])?;
/// assert_eq!(decider.answer(&[0.2f64.ln(), 0.8f64.ln()]), 0); // 0.2 · 9 is more than 0.8 · 1
/// assert_eq!(decider.answer(&[0.05f64.ln(), 0.95f64.ln()]), 1);
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Decision {
    /// The class that is looked for, where one is: cut-offs are those of its probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// What mistakes cost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
    /// The probability that a class must reach to be answered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<String, f64>,
    /// Where no class reaches this probability, the answer is [`UNSURE`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsure: Option<f64>,
}

/// What an answer costs where a class is true. `None` stands for every class that is not named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The true class.
    #[serde(rename = "true")]
    pub true_class: Option<String>,
    /// The class that is answered.
    pub predicted: Option<String>,
    /// What that costs; a gain is below zero.
    pub cost: f64,
}

impl Cost {
    /// What it costs to answer one class where another is true.
    pub fn new(true_class: &str, predicted: &str, cost: f64) -> Self {
        Cost { true_class: Some(true_class.into()), predicted: Some(predicted.into()), cost }
    }
}

/// Costs and probabilities beyond this are mistakes of typing, and their products would leave the range of an f64.
const LARGEST_COST: f64 = 1e100;

impl Decision {
    /// Whether the most probable class is answered, and no class is looked for.
    pub fn is_default(&self) -> bool {
        *self == Decision::default()
    }

    /// Whether the most probable class is answered.
    pub fn is_most_probable(&self) -> bool {
        self.costs.is_empty() && self.thresholds.is_empty() && self.unsure.is_none()
    }

    /// Checks every number.
    ///
    /// # Errors
    /// If one is out of its range, or there are both costs and thresholds.
    pub fn check(&self) -> Result<()> {
        let refused = |why: String| Err(Error::Settings(why));
        if !self.costs.is_empty() && !self.thresholds.is_empty() {
            return refused("costs and thresholds both say which class to answer; choose one of them".into());
        }
        let mut named = BTreeSet::new();
        for cost in &self.costs {
            if cost.cost.is_nan() || cost.cost.abs() > LARGEST_COST {
                let (pair, cost) = (cost.pair(), cost.cost);
                return refused(format!(
                    "the cost of {pair} is {cost}; it is a number up to {LARGEST_COST:e}"
                ));
            }
            if !named.insert((&cost.true_class, &cost.predicted)) {
                return refused(format!("the cost of {} is given twice", cost.pair()));
            }
        }
        for (class, &threshold) in &self.thresholds {
            if !(0.0..=1.0).contains(&threshold) {
                return refused(format!(
                    "the threshold of `{class}` is {threshold}; it is a probability between 0 and 1"
                ));
            }
        }
        let mut lowest: Vec<f64> = self.thresholds.values().copied().collect();
        lowest.sort_by(f64::total_cmp);
        if let [a, b, ..] = lowest[..]
            && a + b < 1.0
        {
            return refused(format!(
                "the thresholds {a} and {b} can be reached at the same time; those of any two classes must add up to 1 at least"
            ));
        }
        match self.unsure {
            Some(unsure) if !(unsure > 0.0 && unsure < 1.0) => refused(format!(
                "the probability below which the answer is `{UNSURE}` is {unsure}; it lies between 0 and 1"
            )),
            _ => Ok(()),
        }
    }

    /// Checks that this can be applied to these classes.
    ///
    /// # Errors
    /// If a class is named that is none of them, something is not said that must be, or it could never matter.
    pub fn check_for(&self, classes: &[String]) -> Result<()> {
        self.check()?;
        let third = self.has_costs_of_unsure(classes).then_some(UNSURE);
        let known: BTreeSet<&str> = classes.iter().map(String::as_str).chain(third).collect();
        let named = self.costs.iter().flat_map(|cost| [&cost.true_class, &cost.predicted]).flatten();
        let named = named.chain(self.thresholds.keys()).chain(&self.positive);
        if let Some(unknown) = named.into_iter().find(|class| !known.contains(class.as_str())) {
            return Err(no_such_class(unknown, classes));
        }
        if self.may_be_unsure(classes) && classes.iter().any(|class| class == UNSURE) {
            return Err(Error::Settings(format!(
                "a class is called `{UNSURE}`, so that cannot be a third answer"
            )));
        }
        if let Some(unsure) = self.unsure.filter(|unsure| unsure * classes.len() as f64 <= 1.0) {
            let (count, least) = (classes.len(), 1.0 / classes.len() as f64);
            return Err(Error::Settings(format!(
                "one of {count} classes always has a probability of {least:.3} at least, so that no row is `{UNSURE}` below {unsure}"
            )));
        }
        self.decider(classes).map(|_| ())
    }

    /// Gets ready to answer for a model with these classes. Classes that it does not know do not matter here.
    ///
    /// # Errors
    /// If something is not said that must be.
    pub fn decider(&self, classes: &[String]) -> Result<Decider> {
        let rule = if !self.costs.is_empty() {
            Rule::Costs(self.cost_matrix(classes)?)
        } else if !self.thresholds.is_empty() {
            let log_odds = |class: &String| self.thresholds.get(class).map(|&p| log_odds::of_probability(p));
            Rule::Thresholds(classes.iter().map(log_odds).collect())
        } else {
            Rule::MostProbable
        };
        Ok(Decider { classes: classes.to_vec(), rule, unsure: self.unsure.map(log_odds::of_probability) })
    }

    /// What each answer costs, if costs were given: a row for each answer, [`UNSURE`] last if that has costs.
    ///
    /// # Errors
    /// If some cost is not said.
    pub(crate) fn cost_matrix(&self, classes: &[String]) -> Result<Vec<Vec<f64>>> {
        let unsure = self.has_costs_of_unsure(classes).then_some(UNSURE);
        let answers = classes.iter().map(String::as_str).chain(unsure);
        let said: Said<'_> = self
            .costs
            .iter()
            .map(|cost| ((cost.true_class.as_deref(), cost.predicted.as_deref()), cost.cost))
            .collect();
        let row = |answer: &str| classes.iter().map(|class| cost(&said, class, answer)).collect();
        answers.map(row).collect()
    }

    fn has_costs_of_unsure(&self, classes: &[String]) -> bool {
        let names_it = |cost: &Cost| cost.predicted.as_deref() == Some(UNSURE);
        self.costs.iter().any(names_it) && !classes.iter().any(|class| class == UNSURE)
    }

    /// Whether rows may be answered by [`UNSURE`].
    pub fn may_be_unsure(&self, classes: &[String]) -> bool {
        let all_have_thresholds = classes.iter().all(|class| self.thresholds.contains_key(class));
        self.unsure.is_some()
            || self.has_costs_of_unsure(classes)
            || (all_have_thresholds && !classes.is_empty())
    }

    /// The class that is looked for: the one that was named, or the last of two.
    ///
    /// # Errors
    /// If it is none of these classes, or none was named and there are not two.
    pub fn positive_of<'a>(&self, classes: &'a [String]) -> Result<&'a str> {
        match (&self.positive, classes) {
            (Some(positive), _) => match classes.iter().find(|class| *class == positive) {
                Some(class) => Ok(class),
                None => Err(no_such_class(positive, classes)),
            },
            (None, [_, last]) => Ok(last),
            (None, _) => Err(Error::Settings(format!(
                "there are {} classes: say which of them is the positive one",
                classes.len()
            ))),
        }
    }
}

impl Cost {
    fn pair(&self) -> String {
        let name = |class: &Option<String>| class.clone().unwrap_or_else(|| "*".into());
        format!("{}:{}", name(&self.true_class), name(&self.predicted))
    }
}

/// What was said that an answer costs where a class is true.
type Said<'a> = BTreeMap<(Option<&'a str>, Option<&'a str>), f64>;

/// What an answer costs where a class is true: what is said of just these, or else of the class, of the answer, of all.
fn cost(said: &Said<'_>, class: &str, answer: &str) -> Result<f64> {
    let find = |class: Option<&str>, answer: Option<&str>| said.get(&(class, answer)).copied();
    if let Some(cost) = find(Some(class), Some(answer)) {
        return Ok(cost);
    }
    if class == answer {
        return Ok(0.0);
    }
    let of_any_answer = || if answer == UNSURE { None } else { find(Some(class), None) };
    let of_all = || if answer == UNSURE { None } else { find(None, None) };
    of_any_answer().or_else(|| find(None, Some(answer))).or_else(of_all).ok_or_else(|| {
        Error::Settings(format!(
            "the costs do not say what it costs to answer `{answer}` where `{class}` is true; `*` stands for all classes that are not named"
        ))
    })
}

fn no_such_class(class: &str, classes: &[String]) -> Error {
    const MOST: usize = 20;
    let names = classes.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more =
        if classes.len() > MOST { format!(" and {} more", classes.len() - MOST) } else { String::new() };
    Error::Settings(format!("there is no class `{class}`; the classes are {names}{more}"))
}

/// A decision for a model with certain classes.
#[derive(Debug, Clone)]
pub struct Decider {
    classes: Vec<String>,
    rule: Rule,
    /// The log-odds that some class has to reach.
    unsure: Option<f64>,
}

#[derive(Debug, Clone)]
enum Rule {
    MostProbable,
    /// For each answer what it costs in each class; there may be one more answer than classes.
    Costs(Vec<Vec<f64>>),
    /// The log-odds that each class has to reach, if it has to.
    Thresholds(Vec<Option<f64>>),
}

impl Decider {
    /// The classes, and [`UNSURE`] after the last of them.
    pub fn answers(&self) -> Vec<String> {
        self.classes.iter().cloned().chain([UNSURE.to_owned()]).collect()
    }

    /// What is answered for every row that was scored: the position of a class, or the one after the last for [`UNSURE`].
    pub fn decide(&self, scores: &Scores) -> Vec<usize> {
        let rows = 0..scores.rows();
        if let (Rule::MostProbable, None) = (&self.rule, self.unsure) {
            return rows.map(|row| scores.best(row)).collect();
        }
        let mut posterior = RowPosterior::default();
        rows.map(|row| {
            posterior.set(scores.log_weights(row));
            self.answer_to(&posterior)
        })
        .collect()
    }

    /// What is answered for one row, given the logarithms of what P is proportional to.
    pub fn answer(&self, log_weights: &[f64]) -> usize {
        let mut posterior = RowPosterior::default();
        posterior.set(log_weights);
        self.answer_to(&posterior)
    }

    pub(crate) fn answer_to(&self, posterior: &RowPosterior) -> usize {
        let unsure = self.classes.len();
        if self.unsure.is_some_and(|least| rounded(posterior.log_odds[posterior.best]) < least) {
            return unsure;
        }
        match &self.rule {
            Rule::MostProbable => posterior.best,
            Rule::Costs(costs) => {
                let expected = |costs: &Vec<f64>| -> f64 {
                    costs.iter().zip(&posterior.probability).map(|(cost, p)| cost * p).sum()
                };
                let expected: Vec<f64> = costs.iter().map(|costs| -expected(costs)).collect();
                crate::posterior::argmax(&expected)
            }
            Rule::Thresholds(thresholds) => {
                let odds = || posterior.log_odds.iter().zip(thresholds).enumerate();
                let highest = |best: Option<(usize, f64)>, (class, odds): (usize, f64)| match best {
                    Some((_, known)) if known >= odds => best,
                    _ => Some((class, odds)),
                };
                let reached = odds().filter_map(|(class, (&odds, least))| {
                    least.filter(|&least| rounded(odds) >= least).map(|_| (class, odds))
                });
                let free =
                    odds().filter(|(_, (_, least))| least.is_none()).map(|(class, (&odds, _))| (class, odds));
                let answer = reached.fold(None, highest).or_else(|| free.fold(None, highest));
                answer.map_or(unsure, |(class, _)| class)
            }
        }
    }
}

/// Choices about which class is answered. What is not chosen stays as it is.
#[derive(Debug, Clone, Default)]
pub struct DecisionChoices {
    /// The class that is looked for.
    pub positive: Option<String>,
    /// What mistakes cost, instead of what was said before.
    pub cost: Option<Vec<Cost>>,
    /// The probability that classes must reach, instead of what was said before; without a class, the positive one.
    pub threshold: Vec<(Option<String>, f64)>,
    /// Where no class reaches this probability, the answer is [`UNSURE`].
    pub unsure: Option<f64>,
    /// Forgets costs, thresholds and when to be unsure.
    pub most_probable: bool,
}

impl DecisionChoices {
    /// What can be chosen, by the names that the command line and Python give it.
    pub const NAMES: [&'static str; 5] = ["positive", "cost", "threshold", "unsure", "most-probable"];

    /// Whether anything was chosen.
    pub fn is_given(&self) -> bool {
        let DecisionChoices { positive, cost, threshold, unsure, most_probable } = self;
        positive.is_some() || cost.is_some() || !threshold.is_empty() || unsure.is_some() || *most_probable
    }

    /// Puts what was chosen over a decision.
    ///
    /// # Errors
    /// If it makes no sense then.
    pub fn apply(&self, decision: &mut Decision) -> Result<()> {
        let refused = |why: &str| Err(Error::Settings(why.into()));
        if self.cost.is_some() && !self.threshold.is_empty() {
            return refused("costs and thresholds both say which class to answer; choose one of them");
        }
        if self.most_probable && (self.cost.is_some() || !self.threshold.is_empty() || self.unsure.is_some())
        {
            return refused("the most probable class is answered without costs, thresholds or being unsure");
        }
        if self.most_probable {
            *decision = Decision { positive: decision.positive.take(), ..Decision::default() };
        }
        if let Some(positive) = &self.positive {
            decision.positive = Some(positive.clone());
        }
        if let Some(costs) = &self.cost {
            (decision.costs, decision.thresholds) = (costs.clone(), BTreeMap::new());
        }
        if !self.threshold.is_empty() {
            let mut thresholds = BTreeMap::new();
            for (class, p) in &self.threshold {
                let Some(class) = class.as_ref().or(decision.positive.as_ref()) else {
                    return refused(
                        "a threshold is of a class: name it, or say which class is the positive one",
                    );
                };
                if thresholds.insert(class.clone(), *p).is_some() {
                    return Err(Error::Settings(format!("the threshold of `{class}` is given twice")));
                }
            }
            (decision.costs, decision.thresholds) = (Vec::new(), thresholds);
        }
        decision.unsure = self.unsure.or(decision.unsure);
        decision.check()
    }
}

#[cfg(test)]
mod tests;

//! What a fitted family is: densities that are ready to be asked, and what is shown of them.

use std::fmt::Debug;
use std::sync::Arc;

use super::memo::Memo;
use super::numbers::NumberColumn;
use crate::families::lookup;

/// The distributions of a column in all classes. Which family they are of is looked up once for a column of a batch; what
/// loops over its rows knows.
pub(crate) type Fitted = Arc<dyn Densities>;

/// A row of a table: a name, and a number for each class.
pub(crate) type Parameter = (&'static str, Vec<f64>);

/// A bin or a single number: what it is called, its weight and its probability in each class.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) count: Vec<f64>,
    pub(crate) probability: Vec<f64>,
}

/// Distributions of all classes.
pub(crate) trait Densities: Debug + Send + Sync {
    fn classes(&self) -> usize;

    /// Adds log p(x | class) of every row to its scores; a missing x adds nothing. Returns how many numbers were never
    /// seen, for the family to which that matters.
    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64;

    /// What the distributions are made of. What is called `mean` or `standard deviation` stands for that of the data.
    fn parameters(&self) -> Vec<Parameter>;

    /// How many free parameters the classes have together.
    fn free_parameters(&self) -> usize;

    /// The bins or the single numbers of the column, if the family has such.
    fn parts(&self, _: &NumberColumn) -> Vec<Part> {
        Vec::new()
    }

    /// Whether x is a number that was seen, for the family to which that matters.
    fn met(&self, _: f64) -> bool {
        true
    }

    /// log p(x | class) for every class.
    fn ln(&self, x: f64) -> Vec<f64> {
        let mut scores = vec![0.0; self.classes()];
        self.add_log_likelihood(&[x], &mut scores);
        scores
    }
}

/// The distribution of one class, by itself.
pub(crate) trait Density: Debug + Send + Sync + 'static {
    /// Names of what it is made of, as far as that is shown.
    const PARAMETERS: &'static [&'static str];

    /// log p(x).
    fn ln(&self, x: f64) -> f64;

    /// What is under the names.
    fn parameters(&self) -> Vec<f64>;

    /// How many parameters were found from the data.
    fn free_parameters(&self) -> usize;
}

/// One distribution for each class.
pub(crate) fn of_each_class<D: Density>(classes: Vec<D>) -> Fitted {
    Arc::new(OfEachClass(classes))
}

#[derive(Debug)]
struct OfEachClass<D>(Vec<D>);

impl<D: Density> Densities for OfEachClass<D> {
    fn classes(&self) -> usize {
        self.0.len()
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        add_log_likelihood(&self.0, values, scores);
        0
    }

    fn parameters(&self) -> Vec<Parameter> {
        parameters(&self.0)
    }

    fn free_parameters(&self) -> usize {
        self.0.iter().map(Density::free_parameters).sum()
    }
}

/// The parameters of all classes, side by side.
pub(crate) fn parameters<D: Density>(classes: &[D]) -> Vec<Parameter> {
    let of_classes: Vec<Vec<f64>> = classes.iter().map(Density::parameters).collect();
    let values = |i: usize| of_classes.iter().map(|class| class[i]).collect();
    D::PARAMETERS.iter().enumerate().map(|(i, &name)| (name, values(i))).collect()
}

fn add_log_likelihood<D: Density>(classes: &[D], values: &[f64], scores: &mut [f64]) {
    let mut memo = Memo::new(values.len());
    let mut table = vec![0.0; memo.slots() * classes.len()];
    for (scores, &x) in scores.chunks_exact_mut(classes.len()).zip(values) {
        if !x.is_nan() {
            let (slot, known) = memo.slot(x);
            let lns = &mut table[slot * classes.len()..][..classes.len()];
            if !known {
                lns.iter_mut().zip(classes).for_each(|(ln, class)| *ln = class.ln(x));
            }
            lookup::add(scores, lns);
        }
    }
}

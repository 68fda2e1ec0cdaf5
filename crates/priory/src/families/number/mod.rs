//! Columns of numbers: what is counted of them, and the families that are estimated from it.
//!
//! One pass gathers exact moments and a spectrum. Which family a column follows is settled afterwards: as the user says,
//! or by the likelihood of every row given the others ([`choose`]).

mod background;
mod choose;
mod gamma;
mod histogram;
mod kernel;
mod log_normal;
mod mdl;
mod memo;
mod mixture;
mod normal;
mod numbers;
mod parameters;
mod scale;
mod steps;
mod student;
#[cfg(test)]
mod tests;
mod tree;
mod uniform;
mod values;
mod without_one;

pub(crate) use choose::Choice;
use gamma::Gamma;
use kernel::{Kernel, KernelLikelihood};
use log_normal::LogNormal;
use memo::Memo;
use mixture::Mixture;
pub(crate) use normal::floored;
use normal::{Normal, NormalLikelihood};
use numbers::NumberColumn;
pub(crate) use parameters::Part;
use scale::{Binomial, Exponential, Geometric, Poisson};
use steps::{Bins, StepsLikelihood};
use student::Student;
use tree::Tree;
use uniform::Uniform;
use values::ValuesLikelihood;
use without_one::ln_without_one;

use crate::error::{Error, Result};
use crate::estimate::Smoother;
use crate::exact::ExactSum;
use crate::families::counted::CountedNumbers;
use crate::families::{Removed, lookup};
use crate::moments::{ColumnSums, Moments};
use crate::settings::{Family, Settings};
use crate::spectrum::Spectrum;

/// The most bins in which the weight of classes is compared.
const MOST_BINS: f64 = 64.0;

/// Exact moments of each class, with the missing values counted beside them; and the spectrum, if it is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberStatistics {
    pub(crate) moments: Vec<Moments>,
    pub(crate) spectrum: Option<Spectrum>,
}

impl NumberStatistics {
    pub(crate) fn empty(with_spectrum: bool) -> Self {
        NumberStatistics { moments: Vec::new(), spectrum: with_spectrum.then(Spectrum::default) }
    }

    /// Adds the numbers in a column of some rows, whose sums are these.
    pub(crate) fn observe(
        &mut self,
        numbers: &CountedNumbers<'_>,
        column: usize,
        sums: ColumnSums<'_>,
        classes: usize,
    ) {
        self.grow(classes);
        sums.add_to(&mut self.moments);
        if let Some(spectrum) = &mut self.spectrum {
            for values in numbers.columns(&[column]) {
                spectrum.observe(values, numbers.classes(), numbers.weights());
            }
        }
    }

    /// Adds `sign` times `other`, whose class c is our `class_of[c]`.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        self.grow(classes);
        for (theirs, &class) in other.moments.iter().zip(class_of) {
            match sign > 0.0 {
                true => self.moments[class].merge(theirs),
                false => self.moments[class].subtract(theirs),
            }
        }
        if let (Some(ours), Some(theirs)) = (&mut self.spectrum, &other.spectrum) {
            ours.merge(theirs, class_of, sign);
        }
    }

    /// Multiplies all weights by a power of two.
    pub(crate) fn scale(&mut self, power: f64) {
        self.moments.iter_mut().for_each(|moments| moments.scale(power));
        self.spectrum.iter_mut().for_each(|spectrum| spectrum.scale(power));
    }

    pub(crate) fn grow(&mut self, classes: usize) {
        self.moments.resize(classes.max(self.moments.len()), Moments::default());
    }

    /// The first number, as far as it is known, and class of which `other` cannot be a part: it has more rows, or
    /// sums that the rest could not have.
    pub(crate) fn first_shortfall(
        &self,
        other: &Self,
        class_of: &[Option<usize>],
    ) -> Option<(Option<f64>, usize)> {
        if let (Some(ours), Some(theirs)) = (&self.spectrum, &other.spectrum)
            && let Some((value, class)) = ours.first_shortfall(theirs, class_of)
        {
            return Some((Some(value).filter(|_| theirs.level() == 0), class));
        }
        let class = (0..other.moments.len()).find(|&class| {
            let mut left =
                class_of[class].and_then(|class| self.moments.get(class)).cloned().unwrap_or_default();
            left.subtract(&other.moments[class]);
            !is_possible(&left)
        });
        class.map(|class| (None, class))
    }

    /// Classes in the order given.
    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        let moments = classes.iter().map(|&class| self.moments.get(class).cloned().unwrap_or_default());
        let spectrum = self.spectrum.as_ref().map(|spectrum| spectrum.canonical(classes));
        NumberStatistics { moments: moments.collect(), spectrum }
    }

    /// The moments of all classes together.
    pub(crate) fn pooled(&self) -> Moments {
        let mut pooled = Moments::default();
        self.moments.iter().for_each(|moments| pooled.merge(moments));
        pooled
    }

    /// The weight of each class in bins that hold about the same weight of all classes together, classes side by side;
    /// `None` without a spectrum. There are 2 ∛n bins, at most 64, so that most bins hold many rows; single numbers
    /// that weigh as much as a bin have one to themselves.
    pub(crate) fn contingency(&self) -> Option<Vec<f64>> {
        self.spectrum.as_ref()?;
        let column = NumberColumn::read(self, None);
        let bins = (2.0 * libm::cbrt(column.pooled.weight)).clamp(1.0, MOST_BINS) as usize;
        let bins = Bins::new(&column, histogram::equal_frequency(&column, bins));
        Some((0..bins.len()).flat_map(|bin| bins.counts.iter().map(move |class| class[bin])).collect())
    }

    /// Whether rows of just this weight were counted in a class, missing ones included, and the spectrum has them all.
    pub(crate) fn counts_all(&self, class: usize, weight: &ExactSum) -> bool {
        let moments = &self.moments[class];
        let mut known = moments.weight.clone();
        if let Some(spectrum) = &self.spectrum {
            spectrum.class_total(class).canonical_terms().into_iter().for_each(|term| known.add(-term));
        }
        counts_rows(moments, weight) && (self.spectrum.is_none() || known.is_zero())
    }
}

/// Whether these are the moments of rows of just this weight, missing ones included.
pub(crate) fn counts_rows(moments: &Moments, weight: &ExactSum) -> bool {
    let mut rows = moments.missing.clone();
    weight.canonical_terms().into_iter().for_each(|term| rows.add(-term));
    rows.merge(&moments.weight);
    rows.is_zero()
}

/// Whether any numbers could have these moments: no negative weight or variance, and nothing sums to nothing.
pub(crate) fn is_possible(moments: &Moments) -> bool {
    if moments.weight.is_negative() || moments.missing.is_negative() {
        return false;
    }
    match moments.variance() {
        Some(variance) => variance >= 0.0,
        None => moments.sum.is_zero() && moments.sum_of_squares.is_zero(),
    }
}

/// A column of numbers made ready for estimation.
pub(crate) struct NumberEstimate<'a> {
    statistics: &'a NumberStatistics,
    smoother: Smoother<f64>,
    settings: &'a Settings,
    pub(crate) family: Family,
    /// How the family was chosen, if nobody asked for one.
    pub(crate) choice: Option<Choice>,
    pub(crate) fitted: Fitted,
}

impl<'a> NumberEstimate<'a> {
    /// Prepares canonical statistics.
    ///
    /// # Errors
    /// If the family that was asked for does not fit the numbers.
    pub(crate) fn new(statistics: &'a NumberStatistics, settings: &'a Settings, name: &str) -> Result<Self> {
        let column = NumberColumn::read(statistics, None);
        let smoother = number_smoother(settings, name)?;
        let asked = settings.families.get(name).copied().or(settings.numbers);
        let choice = match asked {
            None => Some(choose::choose(&column, &smoother, statistics.spectrum.is_some())),
            Some(family) => {
                check_support(&column, statistics.spectrum.is_some(), family, name)?;
                None
            }
        };
        let family = asked.or(choice.as_ref().map(|choice| choice.family)).unwrap_or(Family::Student);
        let fitted = Fitted::new(&column, family, settings, &smoother);
        Ok(NumberEstimate { statistics, smoother, settings, family, choice, fitted })
    }

    /// For each number of each class: the class, the weight, and log p(x | class) for every class as if one of these
    /// rows had not been there. False without a spectrum, which knows what numbers there were.
    pub(crate) fn each_without_one(&self, mut each: impl FnMut(usize, f64, &[f64])) -> bool {
        if self.statistics.spectrum.is_none() {
            return false;
        }
        let column = NumberColumn::read(self.statistics, None);
        let own = ln_without_one(&column, self.family, self.settings.variance_floor, &self.smoother);
        for (class, (numbers, own)) in column.classes.iter().zip(&own).enumerate() {
            for (cell, &own) in numbers.cells.iter().zip(own) {
                let mut ln = self.fitted.ln(cell.value);
                ln[class] = own;
                each(class, cell.weight, &ln);
            }
        }
        true
    }

    /// log p(x | class) for every class, as if one training row with this x had not been there. The family stays.
    pub(crate) fn ln_without(&self, x: f64, removed: Removed) -> Vec<f64> {
        let column = NumberColumn::read(self.statistics, Some((x, removed)));
        Fitted::new(&column, self.family, self.settings, &self.smoother).ln(x)
    }
}

/// Bins and single numbers are smoothed like values, all of them alike.
fn number_smoother(settings: &Settings, name: &str) -> Result<Smoother<f64>> {
    let smoother = Smoother::new(settings, name);
    if smoother.listed().next().is_some() {
        return Err(Error::Settings(format!(
            "the pseudocounts list values of `{name}`, which is a column of numbers"
        )));
    }
    Ok(smoother)
}

/// Refuses a family that could not have produced the numbers, or that needs more than was counted.
fn check_support(column: &NumberColumn, spectrum: bool, family: Family, name: &str) -> Result<()> {
    let refuse = |why: String| Err(Error::Settings(format!("`{name}` cannot be {}: {why}", family.name())));
    if !family.is_of_numbers() {
        return refuse("it is a column of numbers".into());
    }
    if !spectrum && !matches!(family, Family::Gaussian | Family::Student) {
        return refuse("only its sums were kept; train it as a number".into());
    }
    let from_moments =
        matches!(family, Family::Gaussian | Family::Student | Family::Uniform | Family::Kernel)
            || matches!(family, Family::Silverman | Family::Mixture);
    if from_moments && !column.pooled.variance.is_finite() {
        return refuse("its numbers are too large; try histogram".into());
    }
    let cells = || column.pooled.cells.iter().map(|cell| cell.value);
    let outside = |allowed: &dyn Fn(f64) -> bool| cells().find(|&x| !allowed(x));
    let whole = |x: f64| x >= 0.0 && (x.fract() == 0.0 || !column.exact);
    let (stranger, support, others) = match family {
        Family::Exponential => (outside(&|x| x >= 0.0), "zero or more", "gaussian, kernel or histogram"),
        Family::LogNormal | Family::Gamma => {
            (outside(&|x| x > 0.0), "above zero", "exponential, kernel or histogram")
        }
        Family::Poisson | Family::Geometric => {
            (outside(&whole), "a whole number of zero or more", "gaussian, kernel or histogram")
        }
        Family::Binomial(Some(n)) => {
            let n_or_less = |x: f64| whole(x) && x <= f64::from(n);
            (outside(&n_or_less), "a whole number from zero to the number of trials", "histogram or values")
        }
        Family::Binomial(None) => {
            (outside(&whole), "a whole number of zero or more", "gaussian, kernel or histogram")
        }
        _ => (None, "", ""),
    };
    match stranger {
        Some(x) => refuse(format!("it holds {x}, which is not {support}; try {others}")),
        None => Ok(()),
    }
}

/// The distributions of a column in all classes, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) enum Fitted {
    Normal(NormalLikelihood),
    Student(Vec<Student>),
    Exponential(Vec<Exponential>),
    Poisson(Vec<Poisson>),
    Geometric(Vec<Geometric>),
    Binomial(Vec<Binomial>),
    LogNormal(Vec<LogNormal>),
    Gamma(Vec<Gamma>),
    Uniform(Vec<Uniform>),
    Kernel(KernelLikelihood),
    Mixture(Vec<Mixture>),
    Steps(StepsLikelihood),
    Values(ValuesLikelihood),
}

impl Fitted {
    fn new(column: &NumberColumn, family: Family, settings: &Settings, smoother: &Smoother<f64>) -> Self {
        let steps = |cuts: Vec<f64>| {
            let bins = Bins::new(column, cuts);
            let ln = histogram::smoothed(&bins, smoother, 0.0);
            Fitted::Steps(StepsLikelihood::new(bins, &ln))
        };
        let kernel = |factor: f64| Fitted::Kernel(KernelLikelihood::new(Kernel::fit(column, factor)));
        let everybody = &column.pooled;
        let classes = || column.classes.iter();
        match family {
            Family::Gaussian => {
                Fitted::Normal(NormalLikelihood::new(Normal::fit(column, settings.variance_floor)))
            }
            Family::Exponential => {
                Fitted::Exponential(classes().map(|class| Exponential::fit(class, everybody)).collect())
            }
            Family::Poisson => {
                Fitted::Poisson(classes().map(|class| Poisson::fit(class, everybody)).collect())
            }
            Family::Geometric => {
                Fitted::Geometric(classes().map(|class| Geometric::fit(class, everybody)).collect())
            }
            Family::Binomial(trials) => Fitted::Binomial(Binomial::fit(column, trials)),
            Family::LogNormal => Fitted::LogNormal(LogNormal::fit(column)),
            Family::Gamma => Fitted::Gamma(Gamma::fit_all(column)),
            Family::Uniform => Fitted::Uniform(Uniform::fit(column)),
            Family::Kernel => kernel(kernel::best_factor(column).0),
            Family::Silverman => kernel(1.0),
            Family::Mixture => Fitted::Mixture(Mixture::fit(column)),
            Family::EqualWidth(bins) => steps(histogram::equal_width(column, bins)),
            Family::EqualFrequency(bins) => steps(histogram::equal_frequency(column, bins.into())),
            Family::Proportional => steps(histogram::proportional(column)),
            Family::Mdl => steps(mdl::cuts(column)),
            Family::Histogram => {
                let tree = Tree::fit(column);
                Fitted::Steps(StepsLikelihood::new(tree.bins, &tree.ln))
            }
            Family::Values => Fitted::Values(ValuesLikelihood::new(column, smoother)),
            // Families of other kinds do not come here.
            Family::Student
            | Family::Categorical
            | Family::Bernoulli
            | Family::Joint
            | Family::Multinomial
            | Family::Presence
            | Family::Complement
            | Family::ComplementPresence
            | Family::ComplementNormalized => Fitted::Student(Student::fit(column)),
        }
    }

    fn classes(&self) -> usize {
        match self {
            Fitted::Normal(normal) => normal.classes(),
            Fitted::Student(classes) => classes.len(),
            Fitted::Exponential(classes) => classes.len(),
            Fitted::Poisson(classes) => classes.len(),
            Fitted::Geometric(classes) => classes.len(),
            Fitted::Binomial(classes) => classes.len(),
            Fitted::LogNormal(classes) => classes.len(),
            Fitted::Gamma(classes) => classes.len(),
            Fitted::Uniform(classes) => classes.len(),
            Fitted::Kernel(kernel) => kernel.classes.len(),
            Fitted::Mixture(classes) => classes.len(),
            Fitted::Steps(steps) => steps.classes(),
            Fitted::Values(values) => values.classes(),
        }
    }

    /// log p(x | class) for every class.
    pub(crate) fn ln(&self, x: f64) -> Vec<f64> {
        let mut scores = vec![0.0; self.classes()];
        self.add_log_likelihood(&[x], &mut scores);
        scores
    }

    /// Whether x is a number that was seen, for the family to which that matters.
    pub(crate) fn met(&self, x: f64) -> bool {
        match self {
            Fitted::Values(values) => x.is_nan() || values.row(x).1,
            _ => true,
        }
    }

    /// Adds log p(x | class) of every row to its scores; a missing x adds nothing. Returns how many numbers were never
    /// seen, for the family to which that matters.
    pub(crate) fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        match self {
            Fitted::Normal(normal) => normal.add_log_likelihood(values, scores),
            Fitted::Student(classes) => Student::add_log_likelihood(classes, values, scores),
            Fitted::Exponential(classes) => add(classes, values, scores, Exponential::ln),
            Fitted::Poisson(classes) => add(classes, values, scores, Poisson::ln),
            Fitted::Geometric(classes) => add(classes, values, scores, Geometric::ln),
            Fitted::Binomial(classes) => add(classes, values, scores, Binomial::ln),
            Fitted::LogNormal(classes) => add(classes, values, scores, LogNormal::ln),
            Fitted::Gamma(classes) => add(classes, values, scores, Gamma::ln),
            Fitted::Uniform(classes) => add(classes, values, scores, Uniform::ln),
            Fitted::Kernel(kernel) => kernel.add_log_likelihood(values, scores),
            Fitted::Mixture(classes) => add(classes, values, scores, Mixture::ln),
            Fitted::Steps(steps) => steps.add_log_likelihood(values, scores),
            Fitted::Values(table) => return table.add_log_likelihood(values, scores),
        }
        0
    }
}

fn add<D>(classes: &[D], values: &[f64], scores: &mut [f64], ln: impl Fn(&D, f64) -> f64) {
    let mut memo = Memo::new(values.len());
    let mut table = vec![0.0; memo.slots() * classes.len()];
    for (scores, &x) in scores.chunks_exact_mut(classes.len()).zip(values) {
        if !x.is_nan() {
            let (slot, known) = memo.slot(x);
            let lns = &mut table[slot * classes.len()..][..classes.len()];
            if !known {
                lns.iter_mut().zip(classes).for_each(|(value, class)| *value = ln(class, x));
            }
            lookup::add(scores, lns);
        }
    }
}

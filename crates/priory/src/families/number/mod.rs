//! Columns of numbers: what is counted of them, and the families that are estimated from it.
//!
//! One pass gathers exact moments and a spectrum. Which family a column follows is settled afterwards: as the user says,
//! or by the likelihood of every row given the others ([`choose`]).

mod atoms;
mod background;
mod choose;
mod density;
mod family;
mod gamma;
mod histogram;
mod kernel;
mod log_normal;
mod mdl;
mod memo;
mod mixture;
mod normal;
mod numbers;
mod scale;
mod steps;
mod student;
#[cfg(test)]
mod tests;
mod tree;
mod uniform;
mod values;
mod without_one;

pub(crate) use atoms::Atoms;
use atoms::Split;
pub(crate) use choose::Choice;
use density::Parameter;
pub(crate) use density::{Fitted, Part};
use family::How;
pub use family::NumberFamily;
use memo::{Memo, Recent};
pub(crate) use normal::floored;
use numbers::NumberColumn;
use steps::Bins;
use without_one::{Counted, Own, WithoutOne};

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::estimate::Smoother;
use crate::exact::ExactSum;
use crate::families::Removed;
use crate::families::counted::CountedNumbers;
use crate::moments::{ColumnSums, Moments};
use crate::settings::{Family, Settings};
use crate::spectrum::Spectrum;

/// The most bins in which the weight of classes is compared.
const MOST_BINS: f64 = 64.0;

/// What to do about a column of which only sums were kept, as they are of one that is called Gaussian in training.
pub(crate) const HOW_TO_KEEP_NUMBERS: &str =
    "train it without a family, and choose gaussian or any other afterwards";

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

/// Classes, in order, and what they weigh.
type ClassWeights = Vec<(usize, f64)>;

/// A column of numbers made ready for estimation.
pub(crate) struct NumberEstimate<'a> {
    statistics: &'a NumberStatistics,
    column: Arc<NumberColumn>,
    smoother: Smoother<f64>,
    settings: &'a Settings,
    pub(crate) family: NumberFamily,
    /// How the family was chosen, unless the user gave one.
    pub(crate) choice: Option<Choice>,
    /// The atoms and the other numbers, if there are atoms.
    split: Option<Split>,
    pub(crate) fitted: Fitted,
    /// What classes say of their own numbers, computed on first use; `None` if the family is fitted anew each time.
    own: OnceLock<Option<Own<'a>>>,
}

impl<'a> NumberEstimate<'a> {
    /// Prepares canonical statistics.
    ///
    /// # Errors
    /// If the family that was asked for does not fit the numbers.
    pub(crate) fn new(statistics: &'a NumberStatistics, settings: &'a Settings, name: &str) -> Result<Self> {
        let column = Arc::new(NumberColumn::read(statistics, None));
        let smoother = number_smoother(settings, name)?;
        let spectrum = statistics.spectrum.is_some();
        let (family, choice) = match asked_for(settings, name)? {
            Some(family) => (family, None),
            None => {
                let statistics = Counted::Borrowed(statistics);
                let choice =
                    choose::choose(&WithoutOne { statistics, column: Arc::clone(&column) }, &smoother, name)?;
                (choice.family, Some(choice))
            }
        };
        if choice.is_none() {
            family.check_column(&column, spectrum, name)?;
        }
        let how = How { floor: settings.variance_floor, smoother: &smoother };
        let split = split(statistics, choice.as_ref());
        let fitted = match &split {
            Some(split) => split.fit(family, &how),
            None => family.fit(&column, &how),
        };
        let own = OnceLock::new();
        Ok(NumberEstimate { statistics, column, smoother, settings, family, choice, split, fitted, own })
    }

    /// The same of numbers that are fitted already. Unless the user gave the family, it was chosen.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn again(
        statistics: &'a NumberStatistics,
        settings: &'a Settings,
        name: &str,
        fitted: Fitted,
        choice: Option<Choice>,
    ) -> Result<Self> {
        let chosen = choice.as_ref().map(|choice| choice.family);
        let Some(family) = asked_for(settings, name)?.or(chosen) else {
            return NumberEstimate::new(statistics, settings, name);
        };
        let column = Arc::new(NumberColumn::read(statistics, None));
        let (smoother, own) = (number_smoother(settings, name)?, OnceLock::new());
        let split = split(statistics, choice.as_ref());
        Ok(NumberEstimate { statistics, column, smoother, settings, family, choice, split, fitted, own })
    }

    fn how(&self) -> How<'_> {
        How { floor: self.settings.variance_floor, smoother: &self.smoother }
    }

    /// What classes say of their own numbers.
    fn own(&self) -> Option<&Own<'a>> {
        let find = || match &self.split {
            Some(split) => split.without_one(self.family, &self.how()),
            None => {
                let statistics = Counted::Borrowed(self.statistics);
                let rest = WithoutOne { statistics, column: Arc::clone(&self.column) };
                self.family.without_one(rest, &self.how())
            }
        };
        self.own.get_or_init(find).as_ref()
    }

    /// log p(x | class) without a training row of this class and weight that holds x; `counted` is what it is with the row.
    pub(crate) fn own_without(&self, x: f64, removed: Removed, counted: f64) -> f64 {
        match (self.own(), self.family) {
            // The curve that is asked otherwise is a little off.
            (Some(own), NumberFamily::Kernel | NumberFamily::Silverman) => {
                own(removed.class, x, removed.weight).min(counted)
            }
            (Some(own), _) => own(removed.class, x, removed.weight),
            (None, _) => {
                let column = NumberColumn::read(self.statistics, Some((x, removed)));
                self.family.fit(&column, &self.how()).ln(x)[removed.class]
            }
        }
    }

    /// Replaces what the classes of training rows say of them by what they say without each row. The log-likelihoods are
    /// those of all numbers of a column.
    pub(crate) fn leave_out(&self, values: &[f64], learnt: &[(usize, Removed)], ln: &mut [f64]) {
        let classes = self.column.classes.len();
        let mut recent = Recent::new(values.len());
        for &(row, removed) in learnt.iter().filter(|(row, _)| !values[*row].is_nan()) {
            let (x, ln) = (values[row], &mut ln[row * classes + removed.class]);
            *ln = recent.get(x, removed, || self.own_without(x, removed, *ln));
        }
    }

    /// Writes the variance of log p(x | class) of every number: how fast it rises with the weight of rows that hold x.
    pub(crate) fn write_variances(&self, values: &[f64], variances: &mut [f64]) {
        /// So small a part of a row that the rise is a slope, and large enough for the slope to have digits.
        const PART: f64 = 1.0 / 1024.0;
        let own = self.own();
        let classes = &self.column.classes;
        let rise = |class: usize, x: f64| match own {
            // A class without a number is like everybody, which is worth a row.
            _ if classes[class].weight <= 0.0 => 1.0,
            Some(own) => ((own(class, x, -PART) - own(class, x, 0.0)) / PART).max(0.0),
            // Every parameter takes the worth of a row.
            None => self.fitted.free_parameters() as f64 / (classes.len() as f64 * classes[class].weight),
        };
        let mut memo = Memo::new(values.len());
        let mut known = vec![0.0; memo.slots() * classes.len()];
        for (&x, variances) in values.iter().zip(variances.chunks_exact_mut(classes.len())) {
            if !x.is_nan() {
                let (slot, is_known) = memo.slot(x);
                let found = &mut known[slot * classes.len()..][..classes.len()];
                if !is_known {
                    found.iter_mut().enumerate().for_each(|(class, found)| *found = rise(class, x));
                }
                variances.copy_from_slice(found);
            }
        }
    }

    /// The different numbers of the column, in order, and for each the classes that have shown it and their weights. `None`
    /// without a spectrum, which knows what numbers there were.
    pub(crate) fn numbers(&self) -> Option<Vec<(f64, ClassWeights)>> {
        self.statistics.spectrum.as_ref()?;
        let classes = self.column.classes.iter().enumerate();
        let mut cells: Vec<(f64, usize, f64)> = classes
            .flat_map(|(class, numbers)| {
                numbers.cells.iter().map(move |cell| (cell.value, class, cell.weight))
            })
            .collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let same = cells.chunk_by(|a, b| a.0 == b.0);
        Some(
            same.map(|cells| (cells[0].0, cells.iter().map(|&(_, class, weight)| (class, weight)).collect()))
                .collect(),
        )
    }

    /// Mean and standard deviation of each class, and what else the family is made of. If there are atoms, they are those
    /// of the other numbers.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let own = self.fitted.parameters();
        let moments = self.split.as_ref().map_or(&self.statistics.moments[..], Split::moments);
        let mean = || moments.iter().map(|moments| moments.mean().unwrap_or(f64::NAN)).collect();
        let deviation = || {
            let variances = moments.iter().map(|moments| moments.variance().unwrap_or(f64::NAN));
            variances.map(libm::sqrt).collect()
        };
        let is_own = |name: &str| own.iter().any(|parameter| parameter.0 == name);
        let mut parameters = Vec::new();
        parameters.extend((!is_own("mean")).then(|| ("mean", mean())));
        parameters.extend((!is_own("standard deviation")).then(|| ("standard deviation", deviation())));
        parameters.extend(own);
        parameters
    }

    /// The weight of the rows without a number in each class.
    pub(crate) fn missing(&self) -> Vec<f64> {
        self.statistics.moments.iter().map(|moments| moments.missing.value()).collect()
    }

    /// How many free parameters the classes have together.
    pub(crate) fn parameter_count(&self) -> usize {
        self.fitted.free_parameters()
    }

    /// The bins or the single numbers, if the family has such.
    pub(crate) fn parts(&self) -> Vec<Part> {
        self.fitted.parts(self.split.as_ref().map_or(&self.column, |split| &split.column))
    }

    /// The atoms, if there are such, and all other numbers together.
    pub(crate) fn atoms(&self) -> Vec<Part> {
        self.split.as_ref().map_or_else(Vec::new, Split::parts)
    }
}

/// The atoms of a column and its other numbers, if it was chosen to have atoms.
fn split(statistics: &NumberStatistics, choice: Option<&Choice>) -> Option<Split> {
    Split::new(statistics, choice?.atoms.clone()?)
}

/// The family that the settings name for a column of numbers, if they do.
fn asked_for(settings: &Settings, name: &str) -> Result<Option<NumberFamily>> {
    match settings.families.get(name) {
        None => Ok(settings.numbers),
        Some(Family::Number(family)) => Ok(Some(*family)),
        Some(other) => Err(Error::Settings(format!("`{name}` cannot be {other}: it is a column of numbers"))),
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

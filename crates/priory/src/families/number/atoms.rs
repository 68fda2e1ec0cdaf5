//! Atoms: single numbers that many rows share, in a column whose other numbers are spread out. Nine people in ten have no
//! capital gain, and the tenth has some amount; on most days there is no rain.
//!
//! ```text
//! p(x | class) = P(x | class)                      if x is an atom
//!              = P(no atom | class) f(x | class)   otherwise
//! ```
//!
//! f is any family, fitted to the other numbers alone. The probabilities are shares of the rows of a class, shrunk towards
//! the share q of all classes together as the halves of a histogram are ([`tree`]), and for the same reason:
//!
//! ```text
//! P(x | class) = (n(x, class) + s q) / (n(class) + s),    q = (n(x) + ½) / (n + ½ (atoms + 1))
//! ```
//!
//! There is one such share for each atom, and one for all other numbers together. The strength s is the one under which the
//! rows are most likely, each judged by the others, but at least 32.
//!
//! A number is taken as an atom if it has at least 1 % of all rows, and at least 100; and at least ten times as many as is
//! usual among the ten different numbers next to it: as their median. All classes have the same atoms, and their rows are not told apart when
//! atoms are found. Whether a column has atoms at all is decided by its likelihood, like its family
//! ([`choose`](super::choose)): a column that an ordinary family explains as well has none.
//!
//! Where the spectrum does not keep every number by itself, an atom is one of its cells.

use std::sync::Arc;

use super::density::{Densities, Fitted, Parameter, Part};
use super::family::{How, NumberFamily};
use super::memo::Memo;
use super::numbers::NumberColumn;
use super::tree;
use super::without_one::{Counted, Own, WithoutOne};
use super::{NumberStatistics, Spectrum};
use crate::families::lookup::{self, NO_ROW};
use crate::moments::Moments;
use crate::numerics::ordered_bits;

/// The least share of all rows that an atom has.
const LEAST_SHARE: f64 = 0.01;
/// How many times the rows of its neighbours an atom has, at least.
const TIMES: f64 = 10.0;
/// How many different numbers an atom is compared with: half of them below it and half above, if there are as many.
const NEIGHBOURS: usize = 10;
/// An atom has at least this many rows: the share of fewer is not known well enough. (On thirteen tables, at least 10, 30, 50
/// and 100 rows have a mean log-loss of 0.516, 0.478, 0.467 and 0.455, where no atoms at all have 0.456.)
const FEWEST_ROWS: f64 = 100.0;
/// At least this many different numbers are no atoms.
const FEWEST_OTHERS: usize = 10;

/// The atoms of a column, as cells of its spectrum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Atoms {
    /// The level of the spectrum.
    level: u32,
    /// The keys of the cells, in order.
    keys: Vec<u64>,
}

impl Atoms {
    /// Numbers that may be atoms; `None` if there are none.
    pub(crate) fn find(spectrum: &Spectrum) -> Option<Self> {
        let pooled = spectrum.pooled();
        let total: f64 = pooled.iter().map(|&(_, weight)| weight).sum();
        let stands_out = |&place: &usize| {
            let weight = pooled[place].1;
            weight >= FEWEST_ROWS
                && weight >= LEAST_SHARE * total
                && weight >= TIMES * weight_nearby(&pooled, place)
        };
        let places = (0..pooled.len()).filter(stands_out);
        let keys: Vec<u64> = places.map(|place| pooled[place].0).collect();
        let others = pooled.len() - keys.len();
        (!keys.is_empty() && others >= FEWEST_OTHERS).then_some(Atoms { level: spectrum.level(), keys })
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Which atom a number is.
    fn place(&self, x: f64) -> Option<usize> {
        self.keys.binary_search(&(ordered_bits(x) >> self.level)).ok()
    }

    /// The atoms as numbers: of those in a cell, the one that is written with the fewest digits.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.keys.iter().map(|&key| crate::spectrum::shortest_number(key, self.level)).collect()
    }
}

/// The median weight of the different numbers next to one. The lower of two middle ones would call one of two equal
/// neighbours an atom too easily, and so their mean is taken.
fn weight_nearby(pooled: &[(u64, f64)], place: usize) -> f64 {
    let first = place.saturating_sub(NEIGHBOURS / 2).min(pooled.len().saturating_sub(NEIGHBOURS + 1));
    let end = pooled.len().min(first + NEIGHBOURS + 1);
    let mut nearby: Vec<f64> = (first..end).filter(|&i| i != place).map(|i| pooled[i].1).collect();
    nearby.sort_by(f64::total_cmp);
    match nearby.len() {
        0 => f64::INFINITY,
        n if n % 2 == 1 => nearby[n / 2],
        n => 0.5 * (nearby[n / 2 - 1] + nearby[n / 2]),
    }
}

/// A column taken apart: its atoms, and the other numbers as a column of their own.
#[derive(Clone)]
pub(crate) struct Split {
    pub(crate) atoms: Atoms,
    /// What each class counts of each atom, the classes side by side; the last row is for all other numbers.
    counts: Vec<f64>,
    /// The same of all classes together.
    pooled: Vec<f64>,
    /// What each class counts, and all of them.
    totals: Vec<f64>,
    everything: f64,
    strength: f64,
    others: Arc<NumberStatistics>,
    pub(crate) column: Arc<NumberColumn>,
}

impl Split {
    /// Takes canonical statistics apart; `None` without a spectrum.
    pub(crate) fn new(statistics: &NumberStatistics, atoms: Atoms) -> Option<Self> {
        let spectrum = statistics.spectrum.as_ref()?;
        let classes = statistics.moments.len();
        let rest = spectrum.without(&atoms.keys);
        let mut counts = vec![0.0; (atoms.len() + 1) * classes];
        for (&(key, class), weight) in spectrum.cells().iter().zip(spectrum.counts().cells()) {
            let row = atoms.keys.binary_search(&key).unwrap_or(atoms.len());
            counts[row * classes + class as usize] += weight;
        }
        let mut totals = vec![0.0; classes];
        for row in counts.chunks_exact(classes) {
            totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
        }
        let pooled = counts.chunks_exact(classes).map(|row| row.iter().sum()).collect();
        let everything = totals.iter().sum();
        let others = NumberStatistics { moments: moments_of(&rest, statistics), spectrum: Some(rest) };
        let column = Arc::new(NumberColumn::read(&others, None));
        let others = Arc::new(others);
        let mut split = Split { atoms, counts, pooled, totals, everything, strength: 0.0, others, column };
        split.strength = split.best_strength();
        Some(split)
    }

    /// The other numbers, to be asked what is left of a class.
    pub(crate) fn others<'a>(&self) -> WithoutOne<'a> {
        WithoutOne { statistics: Counted::Shared(Arc::clone(&self.others)), column: Arc::clone(&self.column) }
    }

    fn classes(&self) -> usize {
        self.totals.len()
    }

    fn count(&self, row: usize, class: usize) -> f64 {
        self.counts[row * self.classes() + class]
    }

    /// The strength under which rows are most likely, each without itself.
    fn best_strength(&self) -> f64 {
        let likelihood = |strength| Split { strength, ..self.clone() }.leave_one_out();
        let likelihoods = tree::STRENGTHS.map(|strength| (likelihood(strength), strength));
        likelihoods.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, strength)| strength)
    }

    /// P(atom | class), or that of all other numbers, if the class had `gone` less of it. What all classes have of it is
    /// left as it is.
    fn share(&self, row: usize, class: usize, gone: f64) -> f64 {
        let q = (self.pooled[row] + 0.5) / (self.everything + 0.5 * self.pooled.len() as f64);
        let (own, all) = ((self.count(row, class) - gone).max(0.0), (self.totals[class] - gone).max(0.0));
        (own + self.strength * q) / (all + self.strength)
    }

    fn ln(&self, row: usize, class: usize, gone: f64) -> f64 {
        libm::log(self.share(row, class, gone))
    }

    /// The log-likelihood of atoms and others, each row without itself, but for what the others are, in nats for each row
    /// of the column.
    pub(crate) fn leave_one_out(&self) -> f64 {
        let cells = (0..=self.atoms.len()).flat_map(|row| (0..self.classes()).map(move |class| (row, class)));
        let of_cell = |(row, class)| match self.count(row, class) {
            0.0 => 0.0,
            count => count / self.everything * self.ln(row, class, count.min(1.0)),
        };
        cells.map(of_cell).sum()
    }

    /// The share of all rows that have no atom.
    pub(crate) fn share_of_others(&self) -> f64 {
        self.pooled[self.atoms.len()] / self.everything
    }

    /// The densities of all classes, with this family for the other numbers.
    pub(crate) fn fit(&self, family: NumberFamily, how: &How<'_>) -> Fitted {
        let rows = (0..=self.atoms.len()).flat_map(|row| (0..self.classes()).map(move |class| (row, class)));
        let ln = rows.map(|(row, class)| self.ln(row, class, 0.0)).collect();
        let others = family.fit(&self.column, how);
        Arc::new(AtomsLikelihood { atoms: self.atoms.clone(), ln, classes: self.classes(), others })
    }

    /// What classes say of their own numbers. Which numbers are atoms stays as all rows say.
    pub(crate) fn without_one<'a>(&self, family: NumberFamily, how: &How<'_>) -> Option<Own<'a>> {
        let others = family.without_one(self.others(), how)?;
        let split = self.clone();
        Some(Box::new(move |class, x, weight| match split.atoms.place(x) {
            Some(atom) => split.ln(atom, class, weight),
            None => split.ln(split.atoms.len(), class, weight) + others(class, x, weight),
        }))
    }

    /// The atoms and what was counted of them, and the other numbers together.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let names = self.atoms.numbers().into_iter().map(|x| x.to_string());
        let names = names.chain([OTHER_NUMBERS.to_owned()]).enumerate();
        let classes = 0..self.classes();
        let part = |(row, name)| Part {
            name,
            count: classes.clone().map(|class| self.count(row, class)).collect(),
            probability: classes.clone().map(|class| self.share(row, class, 0.0)).collect(),
        };
        names.map(part).collect()
    }

    /// The moments of the other numbers in each class.
    pub(crate) fn moments(&self) -> &[Moments] {
        &self.others.moments
    }
}

/// What is shown for the numbers of a column that are no atoms.
const OTHER_NUMBERS: &str = "other numbers";

/// The moments of what is in a spectrum. They are exact where it keeps every number by itself. Rows without a number are
/// those of the whole column.
fn moments_of(spectrum: &Spectrum, whole: &NumberStatistics) -> Vec<Moments> {
    let mut moments: Vec<Moments> = (whole.moments.iter())
        .map(|moments| Moments { missing: moments.missing.clone(), ..Moments::default() })
        .collect();
    for (x, class, weight) in spectrum.exactly() {
        weight.canonical_terms().into_iter().for_each(|term| moments[class].add(x, term));
    }
    moments
}

/// P(atom | class), and the densities of the other numbers.
#[derive(Debug)]
struct AtomsLikelihood {
    atoms: Atoms,
    /// The classes side by side; the last row is for all other numbers.
    ln: Vec<f64>,
    classes: usize,
    others: Fitted,
}

impl Densities for AtomsLikelihood {
    fn classes(&self) -> usize {
        self.classes
    }

    fn add_log_likelihood(&self, values: &[f64], scores: &mut [f64]) -> u64 {
        let other = self.atoms.len() as u32;
        let row = |x| self.atoms.place(x).map_or(other, |atom| atom as u32);
        let rows: Vec<u32> = Memo::map(values, NO_ROW, row).collect();
        lookup::add_rows(&self.ln, self.classes, rows.iter().copied(), scores);
        let others: Vec<f64> =
            (rows.iter().zip(values)).map(|(&row, &x)| if row == other { x } else { f64::NAN }).collect();
        self.others.add_log_likelihood(&others, scores)
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.others.parameters()
    }

    fn free_parameters(&self) -> usize {
        self.classes * self.atoms.len() + self.others.free_parameters()
    }

    /// The bins or single numbers of the others, as shares of all numbers.
    fn parts(&self, others: &NumberColumn) -> Vec<Part> {
        let mut parts = self.others.parts(others);
        let ln = &self.ln[self.atoms.len() * self.classes..];
        for part in &mut parts {
            part.probability.iter_mut().zip(ln).for_each(|(share, ln)| *share *= libm::exp(*ln));
        }
        parts
    }

    fn met(&self, x: f64) -> bool {
        self.atoms.place(x).is_some() || self.others.met(x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::choose::Choice;
    use super::super::student::Belief;
    use super::super::tests::{Random, area, chosen, many, statistics, weighted, weighted_statistics};
    use super::super::tree::Tree;
    use super::super::{NumberEstimate, Removed};
    use super::*;
    use crate::settings::Settings;

    fn atoms_of(choice: &Choice) -> Vec<f64> {
        choice.atoms.as_ref().map_or_else(Vec::new, Atoms::numbers)
    }

    /// A share of zeros, and otherwise waiting times.
    fn with_zeros(random: &mut Random, n: usize, zeros: f64, mean: f64) -> Vec<f64> {
        many(n, || if random.uniform() < zeros { 0.0 } else { mean * random.exponential() })
    }

    /// The atoms of these numbers, whatever the rule says of them.
    fn atoms(numbers: &[f64]) -> Atoms {
        let mut keys: Vec<u64> = numbers.iter().map(|&x| ordered_bits(x)).collect();
        keys.sort_unstable();
        Atoms { level: 0, keys }
    }

    #[test]
    fn a_spike_among_other_numbers_is_an_atom() {
        let mut random = Random(1);
        let (a, b) = (with_zeros(&mut random, 2000, 0.9, 5.0), with_zeros(&mut random, 1000, 0.7, 9.0));
        let choice = chosen(&[&a, &b]);
        assert_eq!(atoms_of(&choice), [0.0]);
        assert_eq!(choice.family, NumberFamily::Exponential);
        // Two spikes, one of them below zero, and whole numbers around them.
        let spikes = many(4000, || match random.uniform() {
            x if x < 0.3 => -7.0,
            x if x < 0.5 => 40.0,
            _ => (40.0 + 20.0 * random.normal()).round(),
        });
        assert_eq!(atoms_of(&chosen(&[&spikes, &a])), [-7.0, 0.0, 40.0]);
    }

    #[test]
    fn what_an_ordinary_family_explains_has_no_atoms() {
        let mut random = Random(2);
        let geometric = many(3000, || random.exponential().floor());
        let poisson = many(3000, || random.poisson(0.5));
        let normal = many(3000, || random.normal());
        let rounded = many(3000, || (10.0 * random.normal()).round());
        let steps = many(3000, || (random.uniform() * 30.0).floor() * 2.5);
        for numbers in [&geometric, &poisson, &normal, &rounded, &steps] {
            let choice = chosen(&[numbers, &numbers[..500]]);
            assert_eq!(choice.atoms, None, "{}", choice.family);
        }
        // Too few rows, or too small a share of them.
        assert_eq!(chosen(&[&with_zeros(&mut random, 120, 0.7, 5.0), &[]]).atoms, None);
        assert_eq!(chosen(&[&with_zeros(&mut random, 20_000, 0.008, 5.0), &[]]).atoms, None);
    }

    #[test]
    fn atoms_are_found_where_numbers_are_not_kept_one_by_one() {
        let mut random = Random(3);
        let numbers = many(30_000, || match random.uniform() {
            x if x < 0.5 => 0.0,
            x if x < 0.6 => 99.9,
            _ => 40.0 * random.exponential(),
        });
        let (a, b) = numbers.split_at(20_000);
        assert!(statistics(&[a, b]).spectrum.unwrap().level() > 0);
        assert_eq!(atoms_of(&chosen(&[a, b])), [0.0, 99.9]);
    }

    #[test]
    fn shares_are_those_of_the_counts() {
        let mut random = Random(4);
        let (a, b) = (with_zeros(&mut random, 3000, 0.9, 5.0), with_zeros(&mut random, 500, 0.5, 9.0));
        let statistics = statistics(&[&a, &b]);
        let settings = Settings::default();
        let estimate = NumberEstimate::new(&statistics, &settings, "x").unwrap();
        let zeros = |numbers: &[f64]| numbers.iter().filter(|&&x| x == 0.0).count() as f64;
        let q = (zeros(&a) + zeros(&b) + 0.5) / 3501.0;
        let strength = estimate.split.as_ref().unwrap().strength;
        let found = estimate.fitted.ln(-0.0);
        for (ln, numbers) in found.iter().zip([&a, &b]) {
            let share = (zeros(numbers) + strength * q) / (numbers.len() as f64 + strength);
            assert!((ln - libm::log(share)).abs() < 1e-14, "{ln} {share}");
        }
        let parts = estimate.atoms();
        assert_eq!(parts.iter().map(|part| &part.name[..]).collect::<Vec<_>>(), ["0", "other numbers"]);
        assert_eq!(parts[0].count, [zeros(&a), zeros(&b)]);
        for class in 0..2 {
            assert!((parts[0].probability[class] + parts[1].probability[class] - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn atoms_and_the_area_under_the_others_add_up_to_one() {
        let mut random = Random(5);
        let (a, b) = (with_zeros(&mut random, 900, 0.6, 5.0), with_zeros(&mut random, 60, 0.2, 9.0));
        let split = Split::new(&statistics(&[&a, &b, &[]]), atoms(&[0.0])).unwrap();
        let settings = Settings::default();
        let smoother = crate::estimate::Smoother::new(&settings, "x");
        let how = How { floor: settings.variance_floor, smoother: &smoother };
        for family in
            [NumberFamily::Student, NumberFamily::Kernel, NumberFamily::Histogram, NumberFamily::Gamma]
        {
            let fitted = split.fit(family, &how);
            for class in 0..3 {
                let density = |x: f64| if x == 0.0 { 0.0 } else { libm::exp(fitted.ln(x)[class]) };
                let sum = libm::exp(fitted.ln(0.0)[class]) + area(density, 1.0);
                assert!((sum - 1.0).abs() < 1e-3, "{family} of class {class}: {sum}");
            }
        }
    }

    #[test]
    fn a_family_that_is_asked_for_has_no_atoms() {
        let mut random = Random(6);
        let (a, b) = (with_zeros(&mut random, 900, 0.6, 5.0), with_zeros(&mut random, 60, 0.2, 9.0));
        let statistics = statistics(&[&a, &b]);
        let column = NumberColumn::read(&statistics, None);
        for &family in NumberFamily::ALL {
            let settings = Settings { numbers: Some(family), ..Settings::default() };
            let Ok(estimate) = NumberEstimate::new(&statistics, &settings, "x") else { continue };
            let smoother = crate::estimate::Smoother::new(&settings, "x");
            let how = How { floor: settings.variance_floor, smoother: &smoother };
            let whole = family.fit(&column, &how);
            assert!(estimate.split.is_none());
            assert_eq!(estimate.fitted.ln(0.0), whole.ln(0.0), "{family}");
            assert_eq!(estimate.fitted.ln(3.3), whole.ln(3.3), "{family}");
        }
    }

    proptest! {
        /// What is left of the row's own class, under the atoms, strength and shares that all rows say.
        #[test]
        fn leaving_a_row_out_is_counting_its_class_without_it(
            a in weighted(), b in weighted(), pick in any::<prop::sample::Index>(),
        ) {
            prop_assume!(!a.is_empty());
            let mut rest = a.clone();
            let (x, weight) = rest.remove(pick.index(a.len()));
            let atoms = atoms(&[0.0, 3.0]);
            let (whole, left) = (weighted_statistics(&[&a, &b]), weighted_statistics(&[&rest, &b]));
            let split = Split::new(&whole, atoms.clone()).unwrap();
            let less = Split::new(&left, atoms).unwrap();
            prop_assume!(split.column.pooled.variance > 0.0);
            let row = split.atoms.place(x).unwrap_or(split.atoms.len());
            let share = Split { pooled: split.pooled.clone(), everything: split.everything, strength: split.strength, ..less.clone() }.ln(row, 0, 0.0);
            let settings = Settings::default();
            let smoother = crate::estimate::Smoother::new(&settings, "x");
            let how = How { floor: settings.variance_floor, smoother: &smoother };
            let others = &less.column.classes[0];
            let tree = Tree::fit(&split.column);
            let mut fewer = tree.clone();
            fewer.bins.counts[0] = vec![0.0; tree.bins.len()];
            others.cells.iter().for_each(|cell| fewer.bins.counts[0][tree.bins.bin(cell.value)] += cell.weight);
            let of_tree = fewer.ln_of(0, tree.bins.bin(x)) + tree.bins.ln_within(tree.bins.bin(x), x);
            for (family, of_others) in [
                (NumberFamily::Student, Belief::of(&split.column).updated(others).ln(x)),
                (NumberFamily::Histogram, of_tree),
            ] {
                let expected = share + if row < 2 { 0.0 } else { of_others };
                let own = split.without_one(family, &how).unwrap();
                let found = own(0, x, weight);
                prop_assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1.0), "{family} at {x}: {found} {expected}");
            }
        }

        /// The same through the estimate, which leaves the other classes alone.
        #[test]
        fn nobody_is_more_probable_for_having_been_left_out(seed in any::<u64>(), pick in any::<prop::sample::Index>()) {
            let mut random = Random(seed);
            let (a, b) = (with_zeros(&mut random, 400, 0.8, 5.0), with_zeros(&mut random, 300, 0.5, 9.0));
            let statistics = statistics(&[&a, &b]);
            let settings = Settings::default();
            let estimate = NumberEstimate::new(&statistics, &settings, "x").unwrap();
            prop_assert!(estimate.split.is_some());
            let x = a[pick.index(a.len())];
            let counted = estimate.fitted.ln(x);
            let mut found = counted.clone();
            estimate.leave_out(&[x], &[(0, Removed { class: 0, weight: 1.0 })], &mut found);
            prop_assert_eq!(found[1], counted[1]);
            // An exponential rate is the better for a number without a very large one.
            prop_assert!(found[0] <= counted[0] + 1e-3, "{} {}", found[0], counted[0]);
        }
    }
}

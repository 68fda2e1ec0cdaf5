//! What a class says of its own numbers, each as if one row that holds it had not been there.
//!
//! It is worked out from the spectrum alone. What all classes share (the spread of the column, its bins, the bandwidth)
//! is left as it is: a single row moves it little. So the judgement is cheap, and close to that of estimating anew
//! without the row. The cuts of `mdl` were drawn with the classes in view and are judged too kindly.

use super::gamma::{Gamma, LogMean};
use super::log_normal::logarithms;
use super::mixture::Mixture;
use super::normal::Normal;
use super::numbers::{NumberColumn, Numbers};
use super::scale::{Binomial, Exponential, Geometric, Poisson};
use super::steps::Bins;
use super::student::Belief;
use super::tree::Tree;
use super::uniform::Uniform;
use super::{histogram, kernel, mdl, values};
use crate::estimate::Smoother;
use crate::settings::{Family, VarianceFloor};

/// log p(x | class) for every number of every class, without one row that holds it.
pub(crate) fn ln_without_one(
    column: &NumberColumn,
    family: Family,
    floor: VarianceFloor,
    smoother: &Smoother<f64>,
) -> Vec<Vec<f64>> {
    let everybody = &column.pooled;
    let smoothed = |cuts: Vec<f64>| {
        let bins = Bins::new(column, cuts);
        let ln = histogram::smoothed(&bins, smoother, 1.0);
        of_bins(column, &bins, &ln)
    };
    match family {
        Family::Gaussian => {
            moments(column, |class, x| Normal::floored(&class.moments_without(x), everybody, floor).ln(x))
        }
        Family::Exponential => {
            moments(column, |class, x| Exponential::fit(&class.moments_without(x), everybody).ln(x))
        }
        Family::Poisson => {
            moments(column, |class, x| Poisson::fit(&class.moments_without(x), everybody).ln(x))
        }
        Family::Geometric => {
            moments(column, |class, x| Geometric::fit(&class.moments_without(x), everybody).ln(x))
        }
        Family::Binomial(trials) => moments(column, |class, x| {
            Binomial::fit_class(&class.moments_without(x), everybody, trials).ln(x)
        }),
        Family::LogNormal => {
            let logarithms = logarithms(column);
            let belief = Belief::of(&logarithms);
            moments(&logarithms, |class, ln_x| belief.updated(&class.moments_without(ln_x)).ln(ln_x) - ln_x)
        }
        Family::Gamma => gamma(column),
        Family::Uniform => Uniform::ln_without_one(column),
        Family::Kernel => kernel::ln_without_one(column, kernel::best_factor(column).0),
        Family::Silverman => kernel::ln_without_one(column, 1.0),
        Family::Mixture => Mixture::ln_without_one(column),
        Family::EqualWidth(bins) => smoothed(histogram::equal_width(column, bins)),
        Family::EqualFrequency(bins) => smoothed(histogram::equal_frequency(column, bins.into())),
        Family::Proportional => smoothed(histogram::proportional(column)),
        Family::Mdl => smoothed(mdl::cuts(column)),
        Family::Histogram => {
            let tree = Tree::fit(column);
            of_bins(column, &tree.bins, &tree.ln_without_one())
        }
        Family::Values => values::ln_without_one(column, smoother),
        // Families of other kinds do not come here.
        Family::Student
        | Family::Categorical
        | Family::Bernoulli
        | Family::Joint
        | Family::Multinomial
        | Family::Presence
        | Family::Complement
        | Family::ComplementPresence
        | Family::ComplementNormalized => {
            let belief = Belief::of(column);
            moments(column, |class, x| belief.updated(&class.moments_without(x)).ln(x))
        }
    }
}

fn moments(column: &NumberColumn, ln: impl Fn(&Numbers, f64) -> f64) -> Vec<Vec<f64>> {
    let of_class = |class: &Numbers| class.cells.iter().map(|cell| ln(class, cell.value)).collect();
    column.classes.iter().map(of_class).collect()
}

fn gamma(column: &NumberColumn) -> Vec<Vec<f64>> {
    let everybody = LogMean::of(&column.pooled);
    let of_class = |class: &Numbers| {
        let whole = LogMean::of(class);
        let ln = |x: f64| Gamma::fit(whole.without(x), everybody).ln(x);
        class.cells.iter().map(|cell| ln(cell.value)).collect()
    };
    column.classes.iter().map(of_class).collect()
}

/// From ln P(bin | class) to the densities of the numbers in them.
fn of_bins(column: &NumberColumn, bins: &Bins, ln: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of_class = |(class, ln): (&Numbers, &Vec<f64>)| {
        let density = |x: f64| ln[bins.bin(x)] + bins.ln_within(bins.bin(x), x);
        class.cells.iter().map(|cell| density(cell.value)).collect()
    };
    column.classes.iter().zip(ln).map(of_class).collect()
}

//! The table of the families of numbers. A new family is a file beside this one, its `mod` in `mod.rs`, and a line here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::density::Fitted;
use super::numbers::NumberColumn;
use super::without_one::{Own, WithoutOne};
use super::{
    HOW_TO_KEEP_NUMBERS, histogram, kernel, log_normal, mdl, mixture, normal, scale, student, tree, uniform,
    values,
};
use crate::error::{Error, Result};
use crate::estimate::Smoother;
use crate::settings::VarianceFloor;

/// What is to be known of a family: its name and argument, its word, and how its densities are found.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident $(($argument:ident: $type:ty = $default:expr))? = $word:literal, $fit:expr;)*) => {
        /// Which distribution a column of numbers follows, given the class.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum NumberFamily {
            $($(#[$doc])* #[serde(rename = $word)] $name $(($type))?,)*
        }

        impl NumberFamily {
            /// All of them, each with the argument that it has if none is given.
            pub const ALL: &[NumberFamily] = &[$(NumberFamily::$name $(($default))?,)*];

            /// The word for it, as on the command line, without its argument.
            pub fn name(self) -> &'static str {
                match self {
                    $(NumberFamily::$name { .. } => $word,)*
                }
            }

            /// Asks the family itself.
            fn ask<T>(self, question: impl FnOnce(&dyn Fit) -> T) -> T {
                match self {
                    $(NumberFamily::$name $(($argument))? => question(&$fit),)*
                }
            }
        }
    };
}

families! {
    /// A normal distribution, by maximum likelihood; see [`VarianceFloor`].
    Gaussian = "gaussian", normal::Gaussian;
    /// A normal distribution whose mean and variance are inferred, so that few rows say less than many.
    Student = "student", student::Inferred;
    /// Numbers above zero whose logarithms are normally distributed.
    LogNormal = "log-normal", log_normal::OfLogarithms;
    /// Numbers of zero or more: waiting times.
    Exponential = "exponential", scale::WaitingTimes;
    /// Numbers above zero: waiting times for several events.
    Gamma = "gamma", super::gamma::SeveralEvents;
    /// Whole numbers of zero or more: counts of rare events.
    Poisson = "poisson", scale::RareEvents;
    /// Whole numbers of zero or more: failures before a success.
    Geometric = "geometric", scale::Failures;
    /// Whole numbers: successes among this many trials, or among as many as the largest number says.
    Binomial(trials: Option<u32> = None) = "binomial", scale::Successes { trials };
    /// A range.
    Uniform = "uniform", uniform::Ranges;
    /// Up to 64 bins of equal weight, each class shrunk towards all, as much as pays.
    Histogram = "histogram", tree::Halved;
    /// As many bins as there are rows in each.
    Proportional = "proportional", histogram::Proportional;
    /// Bins that tell the classes apart, as many as pay for themselves.
    Mdl = "mdl", mdl::Supervised;
    /// A smooth curve, as smooth as pays.
    Kernel = "kernel", kernel::Best;
    /// A smooth curve, as smooth as Silverman's rule says.
    Silverman = "silverman", kernel::Silverman;
    /// Several normal distributions, as many as pay.
    Mixture = "mixture", mixture::Humps;
    /// This many bins of equal width.
    EqualWidth(bins: u16 = 10) = "equal-width", histogram::EqualWidth { bins };
    /// This many bins of equal weight.
    EqualFrequency(bins: u16 = 10) = "equal-frequency", histogram::EqualFrequency { bins };
    /// Each number a value of its own.
    Values = "values", values::Single;
}

/// How a family finds its densities in a column.
pub(super) trait Fit {
    /// Which numbers it can have produced.
    fn support(&self) -> Support {
        Support::Any
    }

    /// What it has to know of a column.
    fn needs(&self) -> Needs {
        Needs::Numbers
    }

    /// The densities of all classes, for a column of which it could have produced the numbers.
    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted;

    /// What classes say of their own numbers; `None` for a family that has nothing better than to be fitted anew without
    /// the row, which takes as long as fitting it for every number. Such a family is never chosen unless somebody asks.
    fn without_one<'a>(&self, _: WithoutOne<'a>, _: &How<'_>) -> Option<Own<'a>> {
        None
    }
}

/// What the settings say about the densities of a column.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) floor: VarianceFloor,
    pub(crate) smoother: &'a Smoother<f64>,
}

/// Which numbers a family can have produced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    Any,
    ZeroOrMore,
    AboveZero,
    /// Whole numbers of zero or more.
    Counts,
    /// Whole numbers from zero to this.
    CountsUpTo(u32),
}

impl Support {
    /// A number that the family cannot have produced, if there is one. A number that stands for several may be none of them.
    fn stranger(self, column: &NumberColumn) -> Option<f64> {
        let is_count = |x: f64| x >= 0.0 && (x.fract() == 0.0 || !column.exact);
        let is_inside = |x: f64| match self {
            Support::Any => true,
            Support::ZeroOrMore => x >= 0.0,
            Support::AboveZero => x > 0.0,
            Support::Counts => is_count(x),
            Support::CountsUpTo(most) => is_count(x) && x <= f64::from(most),
        };
        column.pooled.cells.iter().map(|cell| cell.value).find(|&x| !is_inside(x))
    }

    /// What its numbers are, and families for columns that hold others.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Support::Any => ("a number", "histogram"),
            Support::ZeroOrMore => ("zero or more", "gaussian, kernel or histogram"),
            Support::AboveZero => ("above zero", "exponential, kernel or histogram"),
            Support::Counts => ("a whole number of zero or more", "gaussian, kernel or histogram"),
            Support::CountsUpTo(_) => {
                ("a whole number from zero to the number of trials", "histogram or values")
            }
        }
    }
}

/// What a family has to know of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Means and variances.
    Sums,
    /// The numbers, and that an f64 can hold their variance.
    Spread,
    /// The numbers.
    Numbers,
}

impl NumberFamily {
    /// The words for all of them, with their arguments: a list for messages.
    pub fn words() -> String {
        let has_only_argument = |family: &NumberFamily| {
            matches!(family, NumberFamily::EqualWidth(_) | NumberFamily::EqualFrequency(_))
        };
        let plain = NumberFamily::ALL.iter().filter(|family| !has_only_argument(family));
        let (last, others): (Vec<&str>, Vec<&str>) =
            plain.map(|family| family.name()).partition(|&name| name == "values");
        format!("{}, binomial:N, equal-width:N, equal-frequency:N, {}", others.join(", "), last.join(", "))
    }

    /// Whether sums are all that it needs.
    pub(crate) fn needs_sums_only(self) -> bool {
        self.ask(|family| family.needs()) == Needs::Sums
    }

    /// Whether it has a probability for each whole number instead of a density.
    pub(crate) fn is_of_whole_numbers(self) -> bool {
        matches!(self.ask(|family| family.support()), Support::Counts | Support::CountsUpTo(_))
    }

    /// Refuses an argument that makes no sense.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            NumberFamily::EqualWidth(0)
            | NumberFamily::EqualFrequency(0)
            | NumberFamily::Binomial(Some(0)) => {
                Err(Error::Settings(format!("the number that {self} is given is at least 1")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a column whose numbers the family could not have produced, or of which it needs more than was counted.
    pub(super) fn check_column(self, column: &NumberColumn, spectrum: bool, name: &str) -> Result<()> {
        let refuse = |why: String| Err(Error::Settings(format!("`{name}` cannot be {self}: {why}")));
        let (needs, support) = self.ask(|family| (family.needs(), family.support()));
        if !spectrum && needs != Needs::Sums {
            return refuse(format!("only its sums were kept; {HOW_TO_KEEP_NUMBERS}"));
        }
        if needs != Needs::Numbers && !column.pooled.variance.is_finite() {
            return refuse("its numbers are too large; try histogram".into());
        }
        if needs != Needs::Numbers && column.is_too_close() {
            return refuse("its numbers are too close together; try histogram or values".into());
        }
        match support.stranger(column) {
            Some(x) => {
                let (numbers, others) = support.words();
                refuse(format!("it holds {x}, which is not {numbers}; try {others}"))
            }
            None => Ok(()),
        }
    }

    /// The densities of all classes, for a column that was [checked](Self::check_column).
    pub(super) fn fit(self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        self.ask(|family| family.fit(column, how))
    }

    /// What classes say of their own numbers; `None` if the family is to be fitted anew without the row.
    pub(super) fn without_one<'a>(self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        self.ask(|family| family.without_one(rest, how))
    }
}

/// The word for it, without its argument.
impl fmt::Display for NumberFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for NumberFamily {
    type Err = String;

    /// Understands a word, and the argument after a colon if the family takes one.
    ///
    /// # Errors
    /// The families that there are, if it is none of them.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (word, argument) =
            text.split_once(':').map_or((text, None), |(word, argument)| (word, Some(argument)));
        let family = NumberFamily::ALL.iter().copied().find(|family| family.name() == word);
        let found = match (family, argument) {
            (family, None) => family,
            (Some(NumberFamily::Binomial(_)), Some(trials)) => {
                trials.parse().ok().map(|trials| NumberFamily::Binomial(Some(trials)))
            }
            (Some(NumberFamily::EqualWidth(_)), Some(bins)) => {
                bins.parse().ok().map(NumberFamily::EqualWidth)
            }
            (Some(NumberFamily::EqualFrequency(_)), Some(bins)) => {
                bins.parse().ok().map(NumberFamily::EqualFrequency)
            }
            _ => None,
        };
        let found = found.filter(|family| family.check().is_ok());
        found.ok_or_else(|| format!("a family of numbers: {}", NumberFamily::words()))
    }
}

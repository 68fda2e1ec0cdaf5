//! What is shown of a fitted column.

use super::steps::StepsLikelihood;
use super::values::ValuesLikelihood;
use super::{Fitted, NumberEstimate};

/// A row of a table: a name, and a number for each class.
pub(crate) type Parameter = (&'static str, Vec<f64>);

/// A bin or a single number: what it is called, its weight and its probability in each class.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) count: Vec<f64>,
    pub(crate) probability: Vec<f64>,
}

impl NumberEstimate<'_> {
    /// Mean and standard deviation of each class, and what else the family is made of.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let root = |variances: Vec<f64>| variances.into_iter().map(libm::sqrt).collect();
        if let Fitted::Normal(normal) = &self.fitted {
            return vec![
                ("mean", normal.mean.clone()),
                ("standard deviation", root(normal.variance.clone())),
            ];
        }
        let moments = &self.statistics.moments;
        let mean = moments.iter().map(|moments| moments.mean().unwrap_or(f64::NAN)).collect();
        let variance = moments.iter().map(|moments| moments.variance().unwrap_or(f64::NAN)).collect();
        let mut parameters = vec![("mean", mean), ("standard deviation", root(variance))];
        parameters.extend(self.fitted.parameters());
        parameters
    }

    /// The weight of the rows without a number in each class.
    pub(crate) fn missing(&self) -> Vec<f64> {
        self.statistics.moments.iter().map(|moments| moments.missing.value()).collect()
    }

    /// How many free parameters the classes have together.
    pub(crate) fn parameter_count(&self) -> usize {
        let classes = self.fitted.classes();
        match &self.fitted {
            Fitted::Normal(_)
            | Fitted::Student(_)
            | Fitted::LogNormal(_)
            | Fitted::Gamma(_)
            | Fitted::Uniform(_) => 2 * classes,
            Fitted::Exponential(_)
            | Fitted::Poisson(_)
            | Fitted::Geometric(_)
            | Fitted::Binomial(_)
            | Fitted::Kernel(_) => classes,
            Fitted::Mixture(mixtures) => mixtures.iter().map(|mixture| 3 * mixture.humps.len() - 1).sum(),
            Fitted::Steps(steps) => classes * (steps.bins.len() - 1),
            Fitted::Values(values) => classes * values.values.len().saturating_sub(1),
        }
    }

    /// The bins or the single numbers, if the family has such.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match &self.fitted {
            Fitted::Steps(steps) => bins(steps),
            Fitted::Values(values) => self.single_numbers(values),
            _ => Vec::new(),
        }
    }

    fn single_numbers(&self, values: &ValuesLikelihood) -> Vec<Part> {
        let classes = values.classes();
        let cells = self.statistics.spectrum.as_ref().map(|spectrum| spectrum.by_class(classes, None));
        let count = |class: usize, value: f64| {
            let cells = cells.as_ref().map_or(&[][..], |cells| &cells[class]);
            cells.iter().find(|cell| cell.value == value).map_or(0.0, |cell| cell.weight)
        };
        let part = |&value: &f64| Part {
            name: value.to_string(),
            count: (0..classes).map(|class| count(class, value)).collect(),
            probability: values.row(value).0.iter().map(|&ln| libm::exp(ln)).collect(),
        };
        values.values.iter().map(part).collect()
    }
}

fn bins(steps: &StepsLikelihood) -> Vec<Part> {
    let cuts = &steps.bins.cuts;
    let name = |bin: usize| match (bin.checked_sub(1).map(|i| cuts[i]), cuts.get(bin)) {
        (None, None) => "any".to_owned(),
        (None, Some(high)) => format!("below {high}"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} and above"),
    };
    let classes = 0..steps.classes();
    let part = |bin: usize| Part {
        name: name(bin),
        count: steps.bins.counts.iter().map(|counts| counts[bin]).collect(),
        probability: classes.clone().map(|class| steps.probability(bin, class)).collect(),
    };
    (0..steps.bins.len()).map(part).collect()
}

impl Fitted {
    fn parameters(&self) -> Vec<Parameter> {
        match self {
            Fitted::Normal(_) | Fitted::Poisson(_) | Fitted::Steps(_) | Fitted::Values(_) => Vec::new(),
            Fitted::Student(classes) => vec![("degrees of freedom", each(classes, |t| t.freedom))],
            Fitted::Exponential(classes) => vec![("rate", each(classes, |d| d.rate))],
            Fitted::Geometric(classes) => vec![("P(success)", each(classes, |d| d.success))],
            Fitted::Binomial(classes) => {
                vec![("trials", each(classes, |d| d.trials)), ("P(success)", each(classes, |d| d.success))]
            }
            Fitted::LogNormal(classes) => vec![
                ("median", each(classes, |d| libm::exp(d.of_ln.location))),
                ("scale of ln", each(classes, |d| d.of_ln.scale)),
            ],
            Fitted::Gamma(classes) => {
                vec![("shape", each(classes, |d| d.shape)), ("rate", each(classes, |d| d.rate))]
            }
            Fitted::Uniform(classes) => {
                vec![("least", each(classes, |d| d.low)), ("greatest", each(classes, |d| d.high))]
            }
            Fitted::Kernel(kernel) => vec![("bandwidth", each(&kernel.classes, |d| d.bandwidth))],
            Fitted::Mixture(classes) => vec![("humps", each(classes, |d| d.humps.len() as f64))],
        }
    }
}

fn each<D>(classes: &[D], parameter: impl Fn(&D) -> f64) -> Vec<f64> {
    classes.iter().map(parameter).collect()
}

//! From the sums of a group to the normal distributions of its classes.

use super::normal::{Covariance, GroupLikelihood, Normals};
use super::spread::{Everybody, Spread};
use super::triangle::Triangle;
use super::{GroupStatistics, regularize};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::families::Removed;
use crate::families::number::floored;
use crate::schema::Schema;
use crate::settings::{Discriminant, Divisor, Regularization, Settings};

/// A group of columns made ready for estimation.
pub(crate) struct GroupEstimate<'a> {
    statistics: &'a GroupStatistics,
    settings: &'a Settings,
    classes: Vec<Spread>,
    pub(crate) normals: Normals,
}

impl<'a> GroupEstimate<'a> {
    /// Prepares canonical statistics.
    ///
    /// # Errors
    /// If there are too many pairs of columns, or a column has no variance that an f64 could hold.
    pub(crate) fn new(
        statistics: &'a GroupStatistics,
        settings: &'a Settings,
        schema: &Schema,
    ) -> Result<Self> {
        statistics.check_size(statistics.classes.len())?;
        let classes: Vec<Spread> = statistics.classes.iter().map(Spread::read).collect();
        let pooled = statistics.pooled();
        let everybody = pooled.iter().zip(&statistics.columns).map(|(moments, &column)| {
            Everybody::read(moments).ok_or_else(|| {
                let name = &schema.columns[column].name;
                Error::Settings(format!("`{name}` cannot be part of a group: its numbers are too large"))
            })
        });
        let normals = fit(&classes, &everybody.collect::<Result<Vec<_>>>()?, settings);
        Ok(GroupEstimate { statistics, settings, classes, normals })
    }

    /// The word for it.
    pub(crate) fn family(&self) -> &'static str {
        match self.settings.discriminant.unwrap_or_default() {
            Discriminant::Linear(_) => "linear discriminant",
            Discriminant::Quadratic(_) => "quadratic discriminant",
            Discriminant::Regularized(_) => "regularized discriminant",
        }
    }

    pub(crate) fn likelihood(&self) -> GroupLikelihood {
        GroupLikelihood::new(self.statistics.columns.clone(), self.normals.clone())
    }

    /// log p(x | class) for every class, as if this training row had not been there.
    pub(crate) fn ln_without(&self, batch: &Batch, row: usize, removed: Removed) -> Vec<f64> {
        let columns = &self.statistics.columns;
        let values: Vec<f64> = columns.iter().map(|&column| batch.numbers(column)[row]).collect();
        let mut sums = self.statistics.classes[removed.class].clone();
        sums.add(&values, -removed.weight);
        let mut classes = self.classes.clone();
        classes[removed.class] = Spread::read(&sums);
        let pooled = self.statistics.pooled().into_iter().zip(&values).map(|(mut moments, &x)| {
            moments.add(x, -removed.weight);
            // Without a row the variance is no larger than what the sums of all could hold, or nearly.
            Everybody::read(&moments).unwrap_or(Everybody { mean: 0.0, variance: f64::MAX })
        });
        let normals = fit(&classes, &pooled.collect::<Vec<_>>(), self.settings);
        GroupLikelihood::new(columns.clone(), normals).ln(batch, row)
    }
}

/// The distributions of the classes.
fn fit(classes: &[Spread], everybody: &[Everybody], settings: &Settings) -> Normals {
    let size = everybody.len();
    let within = Spread::within(classes, size);
    let floor =
        |column: usize, variance: f64| floored(variance, everybody[column].variance, settings.variance_floor);
    let mean = classes.iter().map(|class| {
        let of = |column: usize| match class.weight.at(column, column) > 0.0 {
            true => class.mean[column],
            false => everybody[column].mean,
        };
        (0..size).map(of).collect()
    });
    // A class of which nothing is known is like everybody.
    let own = |class: &Spread, i: usize, j: usize, known: &dyn Fn() -> f64| match class.weight.at(i, j) > 0.0
    {
        true => known(),
        false if i == j => everybody[i].variance,
        false => within.covariance.at(i, j),
    };
    let covariance = |matrix: &Triangle, cut: f64| Covariance::new(matrix, cut, &floor);
    let mut amounts = None;
    let covariances = match settings.discriminant.unwrap_or_default() {
        Discriminant::Linear(divisor) => {
            let known = |i, j| classes.iter().filter(|class| class.weight.at(i, j) > 0.0).count() as f64;
            let shared = Triangle::from_fn(size, |i, j| {
                within.covariance.at(i, j) * correction(divisor, within.weight.at(i, j), known(i, j))
            });
            vec![covariance(&shared, 0.0)]
        }
        Discriminant::Quadratic(divisor) => {
            let own = |class: &Spread| {
                Triangle::from_fn(size, |i, j| {
                    own(class, i, j, &|| {
                        class.covariance.at(i, j) * correction(divisor, class.weight.at(i, j), 1.0)
                    })
                })
            };
            classes.iter().map(|class| covariance(&own(class), 0.0)).collect()
        }
        Discriminant::Regularized(given) => {
            let scale: Vec<f64> =
                (0..size).map(|i| libm::sqrt(floor(i, within.covariance.at(i, i)))).collect();
            let chosen = given.unwrap_or_else(|| regularize::choose(classes, &within, &scale));
            amounts = Some(chosen);
            let Regularization { shared, diagonal } = chosen;
            if shared == 1.0 {
                vec![covariance(&within.covariance, diagonal)]
            } else {
                let mixed = |class: &Spread| {
                    Triangle::from_fn(size, |i, j| {
                        own(class, i, j, &|| {
                            let (n, all) =
                                ((1.0 - shared) * class.weight.at(i, j), shared * within.weight.at(i, j));
                            let share = all / (n + all);
                            (1.0 - share) * class.covariance.at(i, j) + share * within.covariance.at(i, j)
                        })
                    })
                };
                classes.iter().map(|class| covariance(&mixed(class), diagonal)).collect()
            }
        }
    };
    let center = everybody.iter().map(|column| column.mean).collect();
    Normals { center, mean: mean.collect(), covariances, amounts }
}

/// What turns a division by n into one by n less the means that were estimated. If there are no more rows than that the
/// covariance is zero whatever it is divided by.
fn correction(divisor: Divisor, rows: f64, means: f64) -> f64 {
    match divisor {
        Divisor::Freedom if rows > means => rows / (rows - means),
        Divisor::Freedom | Divisor::Rows => 1.0,
    }
}

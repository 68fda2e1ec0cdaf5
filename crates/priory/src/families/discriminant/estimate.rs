//! From the sums of a group to the normal distributions of its classes.

use super::normal::{Covariance, GroupLikelihood, Loss, Normals};
use super::spread::{Everybody, Spread};
use super::triangle::Triangle;
use super::without_one::{LANES, WithoutOne};
use super::{GroupStatistics, regularize};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::families::Removed;
use crate::families::number::floored;
use crate::schema::Schema;
use crate::settings::{Discriminant, Divisor, Regularization, Settings, VarianceFloor};

/// A group of columns made ready for estimation.
pub(crate) struct GroupEstimate<'a> {
    statistics: &'a GroupStatistics,
    settings: &'a Settings,
    classes: Vec<Spread>,
    everybody: Vec<Everybody>,
    /// Whether something is missing in some row.
    is_incomplete: bool,
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
        GroupEstimate::again(statistics, settings, schema, None)
    }

    /// The same where the distributions may be fitted already.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn again(
        statistics: &'a GroupStatistics,
        settings: &'a Settings,
        schema: &Schema,
        normals: Option<Normals>,
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
        let everybody = everybody.collect::<Result<Vec<_>>>()?;
        let discriminant = settings.discriminant.unwrap_or_default();
        let normals =
            normals.unwrap_or_else(|| fit(&classes, &everybody, discriminant, settings.variance_floor));
        let is_incomplete = (statistics.classes.iter()).any(|sums| {
            !sums.alone.is_empty() || sums.moments.iter().any(|column| !column.missing.is_zero())
        });
        Ok(GroupEstimate { statistics, settings, classes, everybody, is_incomplete, normals })
    }

    /// How the columns belong together.
    pub(crate) fn discriminant(&self) -> Discriminant {
        self.settings.discriminant.unwrap_or_default()
    }

    pub(crate) fn likelihood(&self) -> GroupLikelihood {
        GroupLikelihood::new(self.statistics.columns.clone(), self.normals.clone())
    }

    /// Turns the log-likelihoods of a batch into those that training rows would have without themselves. How much is
    /// regularized, and what is taken from all classes together, stays as all rows say.
    pub(crate) fn leave_out(&self, batch: &Batch, learnt: &[(usize, Removed)], ln: &mut [f64]) {
        let columns: Vec<&[f64]> =
            self.statistics.columns.iter().map(|&column| batch.numbers(column)).collect();
        let likelihood = self.likelihood();
        let rows = self.classes.iter().map(|class| class.weight.at(0, 0));
        let (all, known) = (rows.clone().sum(), rows.filter(|&rows| rows > 0.0).count() as f64);
        let regularized = WithoutOne::new(&self.normals, &self.classes).filter(|_| !self.is_incomplete);
        let mut values = vec![0.0; columns.len()];
        for learnt in learnt.chunks(LANES) {
            let is_floored = |column, variance| self.is_floored(column, variance);
            let several = regularized.as_ref().map(|all| all.ln(&columns, learnt, is_floored));
            for (&(row, removed), found) in learnt.iter().zip(several.unwrap_or_default()) {
                values.iter_mut().zip(&columns).for_each(|(value, column)| *value = column[row]);
                if values.iter().all(|x| x.is_nan()) {
                    continue;
                }
                let ln = &mut ln[row * self.classes.len()..][..self.classes.len()];
                if let Some(found) = found {
                    ln.copy_from_slice(&found);
                } else if !self.take_out(&likelihood, &values, removed, (all, known), ln) {
                    ln.copy_from_slice(&self.fitted_without(&values, removed));
                }
            }
        }
    }

    /// Writes the variance of log p(x | class) of every row: how fast it rises with the weight of rows that hold x.
    pub(crate) fn write_variances(&self, batch: &Batch, variances: &mut [f64]) {
        /// So small a part of a row that the rise is a slope, and large enough for the slope to have digits.
        const PART: f64 = 1.0 / 1024.0;
        let classes = self.classes.len();
        let with = |class: usize, weight: f64| {
            let rows = (0..batch.rows).map(|row| (row, Removed { class, weight }));
            let mut ln = vec![0.0; batch.rows * classes];
            self.leave_out(batch, &rows.collect::<Vec<_>>(), &mut ln);
            ln
        };
        for class in 0..classes {
            let (after, before) = (with(class, -PART), with(class, 0.0));
            for cell in (class..variances.len()).step_by(classes) {
                variances[cell] = ((after[cell] - before[cell]) / PART).max(0.0);
            }
        }
    }

    /// Whether a variance of a column is raised to its floor.
    fn is_floored(&self, column: usize, variance: f64) -> bool {
        floored(variance, self.everybody[column].variance, self.settings.variance_floor) != variance
    }

    /// The closed form, where there is one: nothing is missing, and covariances are not regularized. The pair is the weight
    /// of all rows, and how many classes have any.
    fn take_out(
        &self,
        likelihood: &GroupLikelihood,
        values: &[f64],
        removed: Removed,
        (all, means): (f64, f64),
        ln: &mut [f64],
    ) -> bool {
        let of_class = self.classes[removed.class].weight.at(0, 0);
        let left = of_class - removed.weight;
        // What sums of squares are divided by, before and after.
        let divisors = match self.settings.discriminant.unwrap_or_default() {
            Discriminant::Linear(divisor) => {
                [all, all - removed.weight].map(|rows| rows / correction(divisor, rows, means))
            }
            // A class without rows takes its covariance from all others.
            Discriminant::Quadratic(divisor) if means == self.classes.len() as f64 => {
                [of_class, left].map(|rows| rows / correction(divisor, rows, 1.0))
            }
            Discriminant::Quadratic(_) | Discriminant::Regularized(_) => return false,
        };
        if self.is_incomplete || left <= 1e-4 * of_class {
            return false;
        }
        let loss = Loss {
            class: removed.class,
            share: removed.weight * of_class / left / divisors[0],
            scale: divisors[0] / divisors[1],
            stretch: of_class / left,
        };
        let is_floored = |column, variance| self.is_floored(column, variance);
        likelihood.take_out(values, &loss, is_floored, ln)
    }

    /// log p(x | class) for every class, of distributions that are fitted anew without a row.
    fn fitted_without(&self, values: &[f64], removed: Removed) -> Vec<f64> {
        let mut classes = self.classes.clone();
        let mut fit_with = |rest: Spread| {
            classes[removed.class] = rest;
            fit(&classes, &self.everybody, self.chosen(), self.settings.variance_floor)
        };
        let rest = self.classes[removed.class].without(values, removed.weight);
        let normals = rest.filter(|_| !self.is_incomplete).map(&mut fit_with).filter(Normals::are_firm);
        let normals = normals.unwrap_or_else(|| {
            let mut sums = self.statistics.classes[removed.class].clone();
            sums.add(values, -removed.weight);
            fit_with(Spread::read(&sums))
        });
        GroupLikelihood::new(self.statistics.columns.clone(), normals).ln_of(values)
    }

    /// What was asked for, or else chosen from all rows.
    fn chosen(&self) -> Discriminant {
        match self.normals.amounts {
            Some(amounts) => Discriminant::Regularized(Some(amounts)),
            None => self.settings.discriminant.unwrap_or_default(),
        }
    }
}

/// The distributions of the classes.
fn fit(
    classes: &[Spread],
    everybody: &[Everybody],
    discriminant: Discriminant,
    variance_floor: VarianceFloor,
) -> Normals {
    let size = everybody.len();
    let within = Spread::within(classes, size);
    let floor = |column: usize, variance: f64| floored(variance, everybody[column].variance, variance_floor);
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
    let covariances = match discriminant {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::GroupSums;
    use super::*;
    use crate::batch::BatchColumn;

    /// Class, weight and three numbers; the third may be constant.
    type Row = (usize, f64, [f64; 3]);

    fn statistics(rows: &[Row]) -> GroupStatistics {
        let mut statistics = GroupStatistics::empty(vec![0, 1, 2]);
        statistics.classes = vec![GroupSums::empty(3); 3];
        rows.iter().for_each(|(class, weight, values)| statistics.classes[*class].add(values, *weight));
        statistics.canonical(&[0, 1, 2])
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let number = || prop_oneof![20 => -3.0..3.0f64, 2 => (-2i32..2).prop_map(f64::from)];
        let missing = prop_oneof![1 => Just(0.0), 1 => Just(0.04)];
        let weight = prop_oneof![4 => Just(1.0), 1 => Just(0.5), 1 => Just(2.0)];
        let row = (0usize..3, weight, [number(), number(), number()], [0.0..1.0f64, 0.0..1.0, 0.0..1.0]);
        (missing, any::<bool>(), prop::collection::vec(row, 4..30)).prop_map(|(missing, constant, rows)| {
            let value = |x: f64, u: f64| if u < missing { f64::NAN } else { x };
            let row = |(class, weight, x, u): (usize, f64, [f64; 3], [f64; 3])| {
                // The second follows the first.
                let third = if constant { 7.0 } else { x[2] };
                (class, weight, [value(x[0], u[0]), value(x[0] + x[1], u[1]), value(third, u[2])])
            };
            rows.into_iter().map(row).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// All that follows from the sums without the row; what it is compared with, and how much is regularized, stays.
        #[test]
        fn leaving_a_row_out_is_fitting_without_it(
            rows in rows(),
            discriminant in prop::sample::select(vec![
                Discriminant::Linear(Divisor::Rows),
                Discriminant::Linear(Divisor::Freedom),
                Discriminant::Quadratic(Divisor::Rows),
                Discriminant::Quadratic(Divisor::Freedom),
                Discriminant::Regularized(None),
                Discriminant::Regularized(Some(Regularization { shared: 0.3, diagonal: 0.2 })),
            ]),
        ) {
            let settings = Settings { discriminant: Some(discriminant), ..Settings::default() };
            let columns: Vec<crate::Column> =
                ["a", "b", "c"].map(|name| crate::Column::new(name, crate::Kind::Group)).to_vec();
            let schema = Schema::new("class", columns).unwrap();
            let whole = statistics(&rows);
            let estimate = GroupEstimate::new(&whole, &settings, &schema).unwrap();
            let mut batch = Batch::new(&schema);
            batch.rows = rows.len();
            for (i, column) in batch.columns.iter_mut().enumerate() {
                *column = BatchColumn::Number(rows.iter().map(|row| row.2[i]).collect());
            }
            let learnt: Vec<(usize, Removed)> =
                rows.iter().map(|&(class, weight, _)| Removed { class, weight }).enumerate().collect();
            let mut found = vec![0.0; 3 * rows.len()];
            estimate.likelihood().add_log_likelihood(&batch, &mut found);
            estimate.leave_out(&batch, &learnt, &mut found);
            for (row, found) in found.chunks_exact(3).enumerate() {
                let mut rest = rows.clone();
                rest.remove(row);
                let classes: Vec<Spread> = statistics(&rest).classes.iter().map(Spread::read).collect();
                let normals = fit(&classes, &estimate.everybody, estimate.chosen(), settings.variance_floor);
                let expected = GroupLikelihood::new(vec![0, 1, 2], normals).ln(&batch, row);
                for (found, expected) in found.iter().zip(expected) {
                    prop_assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1.0), "row {row}: {found} {expected}");
                }
            }
        }
    }
}

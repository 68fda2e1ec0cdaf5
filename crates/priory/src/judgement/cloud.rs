//! What the columns say as one cloud of points: every class is a normal distribution of all of them at once, of which mean and
//! covariance are known from so many rows only. The predictive distribution is then Student's t in D dimensions,
//!
//! ```text
//! lnΓ((df + D)/2) − lnΓ(df/2) − ½ ln|M| − D/2 ln((κ + 1)/κ) − (df + D)/2 · ln(1 + κ/(κ + 1) (x − μ)ᵀ M⁻¹ (x − μ))
//! ```
//!
//! with κ = n(class). Either every class has a matrix of its own, its scatter with ν rows of what all classes share,
//! M = S + ν ((1 − γ) W / (N − K) + γ I) and df = n(class) + ν; or all have one, M = W + γ N I, and df = N − K, where W is the
//! sum of the scatters S of all classes.
//!
//! Without a row d away from the mean of its class, the scatter of the class is S − w n/(n − w) ddᵀ, so that its inverse and
//! determinant follow from dᵀ M⁻¹ d (Sherman and Morrison) without another inversion.

mod coordinates;
mod form;
mod without_column;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub(crate) use self::coordinates::{Coordinates, Point, Scatter};
use self::form::{Distances, Form};
use crate::judgement::grid::{Coded, Grid};
use crate::judgement::together::{Together, View};
use crate::numerics;

/// Which columns make up a cloud, and how.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Members {
    /// Numbers by a view, without categories.
    Numbers(View),
    /// Numbers by a view, and the codes of categories.
    All(View),
    /// The codes of all columns, those of numbers in at most so many bins.
    Codes(usize),
}

impl Members {
    /// What a cloud of these says, in words.
    pub(crate) fn describe(self, is_shared: bool) -> String {
        let what = match self {
            Members::Numbers(View::Distances) => "numbers",
            Members::Numbers(View::Normals) => "ranks of numbers",
            Members::All(View::Distances) => "all columns",
            Members::All(View::Normals) => "all columns, numbers by rank",
            Members::Codes(_) => "all columns in bins",
        };
        format!("{what} as {}", if is_shared { "a cloud" } else { "a cloud of each class" })
    }
}

/// Clouds have at most so many coordinates and classes, with one covariance for all classes and with one for each.
const MOST_SHARED: usize = 800;
const MOST_CLASSES_SHARED: usize = 1_000;
const MOST_OWN: usize = 120;
const MOST_CLASSES_OWN: usize = 150;

/// How the covariances are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Covariance {
    /// One for all classes, with γ N of the identity.
    Shared {
        /// γ.
        ridge: f64,
    },
    /// One for each class, with ν rows of what all share, a share γ of which is the identity.
    Own {
        /// ν as a multiple of the number of dimensions.
        rows: f64,
        /// γ.
        ridge: f64,
    },
}

impl Covariance {
    /// Whether these are numbers that a covariance can be estimated with.
    pub(crate) fn is_possible(self) -> bool {
        let is_share = |x: f64| x > 0.0 && x <= 1.0;
        match self {
            Covariance::Shared { ridge } => is_share(ridge),
            Covariance::Own { rows, ridge } => is_share(ridge) && rows > 0.0 && rows <= 1e3,
        }
    }

    /// Whether a cloud of so many coordinates and classes is worth the memory and the time: products of coordinates, and those
    /// of the means of any two classes, are kept once, or for each class.
    pub(crate) fn is_affordable(self, coordinates: usize, classes: usize) -> bool {
        match self {
            Covariance::Shared { .. } => coordinates <= MOST_SHARED && classes <= MOST_CLASSES_SHARED,
            Covariance::Own { .. } => coordinates <= MOST_OWN && classes <= MOST_CLASSES_OWN,
        }
    }
}

/// A cloud with a covariance, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Cloud {
    coordinates: Coordinates,
    weights: Vec<f64>,
    /// One for all classes, or one for each.
    forms: Vec<Form>,
    /// df of each class, and what follows from it.
    freedom: Vec<f64>,
    spreads: Vec<Spread>,
    /// How much of W is in M.
    share_of_within: f64,
    is_shared: bool,
}

impl Cloud {
    /// Of some columns of a grid; `None` if there are none or too many, or the matrix cannot be inverted.
    pub(crate) fn of(
        grid: &Grid,
        together: &Together,
        members: Members,
        covariance: Covariance,
    ) -> Option<Self> {
        let with_own = matches!(covariance, Covariance::Own { .. });
        let coordinates = Coordinates::new(grid, together.layout(), members);
        if coordinates.size == 0 || !covariance.is_affordable(coordinates.size, together.classes) {
            return None;
        }
        Cloud::new(&Scatter::new(coordinates, together, with_own), covariance)
    }

    /// `None` if the matrix cannot be inverted.
    pub(crate) fn new(scatter: &Scatter, covariance: Covariance) -> Option<Self> {
        Cloud::with_total(scatter, covariance, scatter.weights.iter().sum())
    }

    /// With another N than all rows have. When a row is left out N stays what it was, as all does that was chosen.
    fn with_total(scatter: &Scatter, covariance: Covariance, total: f64) -> Option<Self> {
        let (size, classes) = (scatter.coordinates.size, scatter.weights.len());
        let with_ridge = |mut matrix: Vec<f64>, ridge: f64| {
            (0..size).for_each(|i| matrix[i * size + i] += ridge);
            matrix
        };
        let between = (total - classes as f64).max(1.0);
        let (matrices, freedom, share_of_within): (Vec<Vec<f64>>, Vec<f64>, f64) = match covariance {
            Covariance::Shared { ridge } => {
                (vec![with_ridge(scatter.within.clone(), ridge * total)], vec![between; classes], 1.0)
            }
            Covariance::Own { rows, ridge } => {
                let rows = rows * size as f64;
                let share = rows * (1.0 - ridge) / between;
                let own = scatter.own.iter().map(|own| {
                    let sum = own.iter().zip(&scatter.within).map(|(own, within)| own + share * within);
                    with_ridge(sum.collect(), rows * ridge)
                });
                (own.collect(), scatter.weights.iter().map(|weight| weight + rows).collect(), share)
            }
        };
        let is_shared = matches!(covariance, Covariance::Shared { .. });
        let forms = matrices.into_iter().map(|matrix| Form::new(scatter, matrix, is_shared));
        Some(Cloud {
            forms: forms.collect::<Option<_>>()?,
            coordinates: scatter.coordinates.clone(),
            spreads: scatter.weights.iter().zip(&freedom).map(|(&w, &df)| Spread::new(size, w, df)).collect(),
            weights: scatter.weights.clone(),
            freedom,
            share_of_within,
            is_shared,
        })
    }

    fn form(&self, class: usize) -> &Form {
        &self.forms[if self.is_shared { 0 } else { class }]
    }

    /// The log-density of a row in each class, but for what the classes share.
    pub(crate) fn score(&self, coded: &Coded, row: usize, point: &mut Point, scores: &mut [f64]) {
        self.coordinates.read(coded, row, point);
        let shared = if self.is_shared { self.forms[0].square(point) } else { 0.0 };
        for (class, score) in scores.iter_mut().enumerate() {
            let form = self.form(class);
            let square = if self.is_shared { shared } else { form.square(point) };
            let distance = square - 2.0 * form.with_mean(point, class) + form.constant(class, class);
            *score = self.spreads[class].ln(distance) - 0.5 * form.log_determinant;
        }
    }

    /// The same for some rows that were learnt, each without itself; their classes and weights are these.
    pub(crate) fn scores_without(
        &self,
        coded: &Coded,
        own: &[u32],
        weights: &[f64],
        rows: Range<usize>,
    ) -> Vec<f64> {
        let classes = self.weights.len();
        let mut scores = vec![0.0; rows.len() * classes];
        let points = rows.clone().map(|row| {
            let mut point = Point::default();
            self.coordinates.read(coded, row, &mut point);
            point
        });
        let points: Vec<Point> = points.collect();
        let mut squares = self.forms[0].squares(&points);
        for class in 0..classes {
            let form = self.form(class);
            if class > 0 && !self.is_shared {
                squares = form.squares(&points);
            }
            let to_class = form.with_means(&points, |_| class);
            let to_own = form.with_means(&points, |place| own[rows.start + place] as usize);
            // Most rows weigh the same.
            let size = self.coordinates.size;
            let usual = (weights[rows.start], self.spread(class, size, Some(weights[rows.start])));
            for (place, row) in rows.clone().enumerate() {
                let (own, weight) = (own[row] as usize, weights[row]);
                let spread = match (own == class, weight == usual.0) {
                    (false, _) => self.spreads[class],
                    (true, true) => usual.1,
                    (true, false) => self.spread(class, size, Some(weight)),
                };
                let distances = form.distances(squares[place], to_class[place], to_own[place], class, own);
                scores[place * classes + class] =
                    self.score_without(class, own, weight, distances, form.log_determinant, spread);
            }
        }
        scores
    }

    /// How far a class is spread in so many dimensions, without a row of this weight if there is one.
    fn spread(&self, class: usize, size: usize, without: Option<f64>) -> Spread {
        let weight = without.unwrap_or(0.0);
        let freedom = match (self.is_shared, without) {
            (false, Some(weight)) => (self.freedom[class] - weight).max(1.0),
            _ => self.freedom[class],
        };
        Spread::new(size, self.weights[class] - weight, freedom)
    }

    /// How far a point of class `own` is from the means of that class and of another.
    fn distances(&self, point: &Point, class: usize, own: usize) -> Distances {
        let form = self.form(class);
        let (to_class, to_own) = (form.with_mean(point, class), form.with_mean(point, own));
        form.distances(form.square(point), to_class, to_own, class, own)
    }

    /// The log-density of a point in a class, without the point, which is of class `own` and this weight.
    fn score_without(
        &self,
        class: usize,
        own: usize,
        weight: f64,
        distances: Distances,
        log_determinant: f64,
        spread: Spread,
    ) -> f64 {
        let Distances { from_own, between, from_class } = distances;
        let left = self.weights[own] - weight;
        let growth = if left > 1e-9 * self.weights[own] { self.weights[own] / left } else { 1.0 };
        let in_own_scatter = if class == own && !self.is_shared { 1.0 } else { 0.0 };
        let lost = weight * growth * (self.share_of_within + in_own_scatter);
        let left_of_determinant = (1.0 - lost * from_own).max(1e-3);
        let log_determinant = match self.is_shared {
            true => 0.0, // the same for all classes
            false => log_determinant + numerics::ln(left_of_determinant),
        };
        let distance = if class == own {
            growth * growth * from_own / left_of_determinant
        } else {
            from_class + lost * between * between / left_of_determinant
        };
        spread.ln(distance) - 0.5 * log_determinant
    }
}

/// What the log-density depends on beside distance and determinant.
#[derive(Debug, Clone, Copy)]
struct Spread {
    /// lnΓ((df + D)/2) − lnΓ(df/2) − D/2 ln((κ + 1)/κ).
    constant: f64,
    /// (df + D)/2 and κ/(κ + 1).
    half: f64,
    share: f64,
}

impl Spread {
    fn new(size: usize, weight: f64, freedom: f64) -> Self {
        let (size, weight) = (size as f64, weight.max(0.3));
        let half = 0.5 * (freedom + size);
        let constant = libm::lgamma(half)
            - libm::lgamma(0.5 * freedom)
            - 0.5 * size * libm::log((weight + 1.0) / weight);
        Spread { constant, half, share: weight / (weight + 1.0) }
    }

    fn ln(self, distance: f64) -> f64 {
        self.constant - self.half * numerics::ln(1.0 + self.share * distance.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::grid::{GridColumn, Scale};
    use crate::judgement::together::{Layout, weight_units};

    /// Two columns of numbers and one of three categories, without a scale for numbers: rows are written by hand.
    fn grid() -> Grid {
        let column = |column: usize, values: usize| GridColumn {
            column,
            shares: vec![1.0 / values as f64; values],
            scale: Scale::Values {
                values: (0..values).map(|value| value.to_string()).collect(),
                others: false,
            },
        };
        let columns = vec![column(0, 3), column(1, 2)];
        Grid { columns, triples: Vec::new(), codes_of_triples: 4, largest_hash: u64::MAX, left_out: 0 }
    }

    fn coded(rows: &[(u8, u8)]) -> Coded {
        let codes = vec![rows.iter().map(|row| row.0).collect(), rows.iter().map(|row| row.1).collect()];
        Coded { rows: rows.len(), codes, distances: Vec::new(), normals: Vec::new() }
    }

    const ROWS: [(u8, u8); 12] =
        [(1, 1), (1, 2), (2, 1), (3, 2), (0, 1), (2, 2), (3, 1), (3, 0), (1, 1), (2, 2), (1, 2), (2, 1)];
    const CLASSES: [u32; 12] = [0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0];

    fn sums(left_out: Option<usize>) -> Together {
        let mut together = Together::empty(Layout::new(&grid()), 2);
        let kept: Vec<usize> = (0..ROWS.len()).filter(|&row| Some(row) != left_out).collect();
        let rows: Vec<(u8, u8)> = kept.iter().map(|&row| ROWS[row]).collect();
        let classes: Vec<u32> = kept.iter().map(|&row| CLASSES[row]).collect();
        together.add(&coded(&rows), &classes, &vec![weight_units(1.0); classes.len()], 1);
        together
    }

    /// What is left without a row follows from the sums less the row, under the numbers of rows that all together have.
    #[test]
    fn a_row_is_left_out_without_another_inversion() {
        let (grid, all) = (grid(), sums(None));
        let coordinates = |together: &Together| Coordinates::new(&grid, together.layout(), Members::Codes(8));
        let scatter = Scatter::new(coordinates(&all), &all, true);
        let (mut point, mut expected) = (Point::default(), vec![0.0; 2]);
        for covariance in [Covariance::Shared { ridge: 0.05 }, Covariance::Own { rows: 0.5, ridge: 0.3 }] {
            let cloud = Cloud::new(&scatter, covariance).unwrap();
            for row in 0..ROWS.len() {
                let left = sums(Some(row));
                let left_scatter = Scatter::new(coordinates(&left), &left, true);
                let refitted = Cloud::with_total(&left_scatter, covariance, ROWS.len() as f64).unwrap();
                let rows = coded(&ROWS);
                let found = cloud.scores_without(&rows, &CLASSES, &[1.0; ROWS.len()], row..row + 1);
                refitted.score(&rows, row, &mut point, &mut expected);
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() < 1e-10,
                        "{covariance:?} {row}: {found} instead of {expected}"
                    );
                }
            }
        }
    }

    /// What is left without a column is the cloud of the others, under the same covariance.
    #[test]
    fn a_column_is_left_out_without_another_inversion() {
        let (both, all) = (grid(), sums(None));
        let one = Grid { columns: both.columns[..1].to_vec(), ..grid() };
        let codes: Vec<(u8, u8)> = ROWS.to_vec();
        let mut first = coded(&codes);
        first.codes.truncate(1);
        let mut sums_of_one = Together::empty(Layout::new(&one), 2);
        sums_of_one.add(&first, &CLASSES, &[weight_units(1.0); ROWS.len()], 1);
        let scatter = |grid: &Grid, sums: &Together| {
            Scatter::new(Coordinates::new(grid, sums.layout(), Members::Codes(8)), sums, true)
        };
        // ν is a multiple of the number of dimensions, of which the first column has three and the other two.
        let own = |rows: f64| Covariance::Own { rows, ridge: 0.3 };
        let shared = Covariance::Shared { ridge: 0.05 };
        for (of_both, of_one) in [(shared, shared), (own(0.6), own(1.0))] {
            let cloud = Cloud::new(&scatter(&both, &all), of_both).unwrap();
            let expected = Cloud::new(&scatter(&one, &sums_of_one), of_one).unwrap();
            let rows = 0..ROWS.len();
            let expected = expected.scores_without(&first, &CLASSES, &[1.0; ROWS.len()], rows.clone());
            let found = cloud.scores_without_columns(&coded(&ROWS), &CLASSES, &[1.0; ROWS.len()], rows);
            let (_, found) = found.iter().find(|(column, _)| *column == 1).unwrap();
            for (found, expected) in found.chunks_exact(2).zip(expected.chunks_exact(2)) {
                // What all classes share does not matter.
                assert!(((found[0] - found[1]) - (expected[0] - expected[1])).abs() < 1e-10);
            }
        }
    }
}

//! What a cloud says without one of its columns.
//!
//! With P = M⁻¹ and B the coordinates of the column, the matrix of the others alone has the inverse P − P·B (P_BB)⁻¹ P_B·, and the
//! logarithm of its determinant is that of M and ln|P_BB|. So what all columns but one say follows, for every column, from the one
//! inverse that is there already: distances lose (P x)_Bᵀ (P_BB)⁻¹ (P y)_B. How the covariance is estimated stays as it was chosen.
//!
//! The coordinates of codes always add up to zero, so that M has nothing but its ridge along their sum, and P x is zero along it. That
//! is why P_BB and (P x)_B can be told from what a [`Form`] knows, which is measured from the mean of the codes.

use std::ops::Range;

use super::coordinates::Point;
use super::form::{Distances, Form, dot, invert};
use super::{Cloud, Spread};
use crate::judgement::grid::Coded;

/// The coordinates of a column, and what distances lose without them.
struct Cut {
    coordinates: Range<usize>,
    /// (P_BB)⁻¹ for each form, as it is to be multiplied with what the form says of points.
    inverse: Vec<Vec<f64>>,
    /// ln|P_BB| for each form, but for what all share.
    log_determinant: Vec<f64>,
}

impl Cut {
    fn new(forms: &[Form], coordinates: Range<usize>, is_number: bool) -> Self {
        let cuts = forms.iter().map(|form| match is_number {
            true => of_number(form, coordinates.start),
            false => of_codes(form, &coordinates).unwrap_or((vec![0.0; coordinates.len().pow(2)], 0.0)),
        });
        let (inverse, log_determinant) = cuts.unzip();
        Cut { coordinates, inverse, log_determinant }
    }

    /// xᵀ (P_BB)⁻¹ y.
    fn product(&self, form: usize, x: &[f64], y: &[f64]) -> f64 {
        let (x, y) = (&x[self.coordinates.clone()], &y[self.coordinates.clone()]);
        let rows = self.inverse[form].chunks_exact(y.len());
        x.iter().zip(rows).map(|(x, row)| x * dot(row, y)).sum()
    }
}

fn of_number(form: &Form, coordinate: usize) -> (Vec<f64>, f64) {
    let own = form.quadratic(coordinate, coordinate);
    (vec![1.0 / own], libm::log(own))
}

/// `None` if the matrix cannot be inverted.
fn of_codes(form: &Form, coordinates: &Range<usize>) -> Option<(Vec<f64>, f64)> {
    let size = coordinates.len();
    let place = |i: usize, j: usize| form.quadratic(coordinates.start + i, coordinates.start + j) / 4.0;
    let mut matrix: Vec<f64> = (0..size * size).map(|cell| place(cell / size, cell % size)).collect();
    center(&mut matrix, size);
    // Along the sum of the codes there is nothing; one there makes the matrix one that can be inverted.
    matrix.iter_mut().for_each(|x| *x += 1.0 / size as f64);
    let (mut inverse, log_determinant) = invert(matrix, size)?;
    center(&mut inverse, size);
    inverse.iter_mut().for_each(|x| *x /= 4.0);
    Some((inverse, log_determinant))
}

/// Takes the mean of each row and of each column away.
fn center(matrix: &mut [f64], size: usize) {
    for row in matrix.chunks_exact_mut(size) {
        let mean = row.iter().sum::<f64>() / size as f64;
        row.iter_mut().for_each(|x| *x -= mean);
    }
    for column in 0..size {
        let mean = matrix.iter().skip(column).step_by(size).sum::<f64>() / size as f64;
        matrix.iter_mut().skip(column).step_by(size).for_each(|x| *x -= mean);
    }
}

impl Cloud {
    /// The log-densities of some rows that were learnt, each without itself, in each class: without each column of the grid that
    /// has coordinates here, one after the other. The classes and weights of all rows are these.
    pub(crate) fn scores_without_columns(
        &self,
        coded: &Coded,
        own: &[u32],
        weights: &[f64],
        rows: Range<usize>,
    ) -> Vec<(usize, Vec<f64>)> {
        let classes = self.weights.len();
        let (columns, cuts): (Vec<usize>, Vec<Cut>) = self
            .coordinates
            .columns()
            .map(|(column, coordinates, is_number)| (column, Cut::new(&self.forms, coordinates, is_number)))
            .unzip();
        let mut scores = vec![vec![0.0; rows.len() * classes]; columns.len()];
        // Most rows weigh the same.
        let usual = weights.get(rows.start).copied().unwrap_or(1.0);
        let spreads = |weight: Option<f64>| -> Vec<Vec<Spread>> {
            let of_cut = |cut: &Cut| {
                let size = self.coordinates.size - cut.coordinates.len();
                (0..classes).map(|class| self.spread(class, size, weight)).collect()
            };
            cuts.iter().map(of_cut).collect()
        };
        let (of_all, of_usual) = (spreads(None), spreads(Some(usual)));
        let (mut point, mut said) = (Point::default(), Vec::new());
        let (mut to_own, mut to_class) = (Vec::new(), Vec::new());
        for (place, row) in rows.enumerate() {
            self.coordinates.read(coded, row, &mut point);
            let (own, weight) = (own[row] as usize, weights[row]);
            for class in 0..classes {
                let form = self.form(class);
                let at = if self.is_shared { 0 } else { class };
                if class == 0 || !self.is_shared {
                    form.along(&point, &mut said);
                }
                form.less_mean(&said, own, &mut to_own);
                form.less_mean(&said, class, &mut to_class);
                let whole = self.distances(&point, class, own);
                for (i, cut) in cuts.iter().enumerate() {
                    let distances = Distances {
                        from_own: whole.from_own - cut.product(at, &to_own, &to_own),
                        between: whole.between - cut.product(at, &to_own, &to_class),
                        from_class: whole.from_class - cut.product(at, &to_class, &to_class),
                    };
                    let spread = match (own == class, weight == usual) {
                        (false, _) => of_all[i][class],
                        (true, true) => of_usual[i][class],
                        (true, false) => {
                            self.spread(class, self.coordinates.size - cut.coordinates.len(), Some(weight))
                        }
                    };
                    let log_determinant = form.log_determinant + cut.log_determinant[at];
                    scores[i][place * classes + class] =
                        self.score_without(class, own, weight, distances, log_determinant, spread);
                }
            }
        }
        columns.into_iter().zip(scores).collect()
    }
}

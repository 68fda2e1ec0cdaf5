//! Lines of equal height over a grid, by marching squares: each square of four neighbouring points is crossed by at most two
//! straight pieces, which end where the height lies between that of two corners.

/// Heights at evenly spaced points, row by row.
pub(crate) struct Heights<'a> {
    pub(crate) columns: usize,
    pub(crate) values: &'a [f64],
}

/// A straight piece from one point to another, in units of columns and rows.
pub type Piece = [(f64, f64); 2];

impl Heights<'_> {
    fn at(&self, column: usize, row: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// The pieces that separate what is higher than this from what is not.
    pub(crate) fn contour(&self, height: f64) -> Vec<Piece> {
        let rows = self.values.len() / self.columns.max(1);
        let mut pieces = Vec::new();
        for row in 1..rows {
            for column in 1..self.columns {
                self.cross(column - 1, row - 1, height, &mut pieces);
            }
        }
        pieces
    }

    /// The pieces within one square, of which this is the first corner.
    fn cross(&self, column: usize, row: usize, height: f64, pieces: &mut Vec<Piece>) {
        // Once around the square.
        let corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)];
        let heights = corners.map(|(column, row)| self.at(column, row));
        let crossing = |i: usize| {
            let j = (i + 1) % 4;
            ((heights[i] > height) != (heights[j] > height)).then(|| {
                let share = (height - heights[i]) / (heights[j] - heights[i]);
                let along = |from: usize, to: usize| from as f64 + share * (to as f64 - from as f64);
                (along(corners[i].0, corners[j].0), along(corners[i].1, corners[j].1))
            })
        };
        match [0, 1, 2, 3].map(crossing) {
            [Some(a), Some(b), Some(c), Some(d)] => {
                // A saddle: two corners stick out, and the middle says whether they are joined.
                let joined = (heights.iter().sum::<f64>() / 4.0 > height) == (heights[0] > height);
                pieces.extend(if joined { [[a, b], [c, d]] } else { [[d, a], [b, c]] });
            }
            sides => {
                let mut ends = sides.into_iter().flatten();
                if let (Some(from), Some(to)) = (ends.next(), ends.next()) {
                    pieces.push([from, to]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_is_cut_in_circles() {
        let values: Vec<f64> = (0..21 * 21)
            .map(|i| ((i % 21) as f64 - 10.0).hypot((i / 21) as f64 - 10.0))
            .map(|radius| 10.0 - radius)
            .collect();
        let pieces = Heights { columns: 21, values: &values }.contour(4.0);
        assert!(pieces.len() > 20);
        for &(x, y) in pieces.iter().flatten() {
            assert!(((x - 10.0).hypot(y - 10.0) - 6.0).abs() < 0.05, "{x} {y}");
        }
        // Every end is the beginning of another piece: the line is closed.
        let ends: Vec<(f64, f64)> = pieces.iter().flatten().copied().collect();
        assert!(ends.iter().all(|end| ends.iter().filter(|other| *other == end).count() == 2));
    }

    #[test]
    fn a_saddle_has_two_pieces_that_do_not_cross() {
        let pieces = Heights { columns: 2, values: &[1.0, 0.0, 0.0, 1.0] }.contour(0.4);
        assert_eq!(pieces, [[(0.6, 0.0), (1.0, 0.4)], [(0.4, 1.0), (0.0, 0.6)]]);
        assert_eq!(Heights { columns: 2, values: &[1.0; 4] }.contour(0.4), Vec::<Piece>::new());
    }
}

//! Supervised cuts by the minimum description length (Fayyad and Irani 1993).
//!
//! A range is cut where the classes are told apart best, and the halves are cut again, as long as what is gained pays for
//! saying where the cut is:
//!
//! ```text
//! gain > (log₂(n − 1) + log₂(3^k − 2) − (k H − k₁ H₁ − k₂ H₂)) / n
//! ```
//!
//! with H the entropy of the classes in bits and k the number of classes in a range. The cuts have seen the classes, so
//! the likelihood of the rows they were found on flatters them: this family is taken if it is asked for, not chosen.

use super::density::Fitted;
use super::family::{Fit, How};
use super::histogram::{own_of_bins, smoothed_steps};
use super::numbers::{NumberColumn, unit};
use super::steps::between;
use super::without_one::{Own, WithoutOne};

/// The family: bins between these cuts.
pub(super) struct Supervised;

impl Fit for Supervised {
    fn fit(&self, column: &NumberColumn, how: &How<'_>) -> Fitted {
        smoothed_steps(column, cuts(column), how)
    }

    fn without_one<'a>(&self, rest: WithoutOne<'a>, how: &How<'_>) -> Option<Own<'a>> {
        Some(own_of_bins(&rest, cuts(&rest.column), how))
    }
}

/// The cut points of a column.
pub(crate) fn cuts(column: &NumberColumn) -> Vec<f64> {
    let table = WeightsBelow::new(column);
    let mut cuts = Vec::new();
    table.cut(0, table.values.len(), &mut cuts);
    cuts.sort_by(f64::total_cmp);
    cuts
}

/// Different numbers, and the weight of each class below each of them.
struct WeightsBelow {
    values: Vec<f64>,
    /// `below[i]` is the weight of each class among the first i numbers.
    below: Vec<Vec<f64>>,
    /// What weights are multiplied by where their products might overflow.
    unit: f64,
}

impl WeightsBelow {
    fn new(column: &NumberColumn) -> Self {
        let values: Vec<f64> = column.pooled.cells.iter().map(|cell| cell.value).collect();
        let mut below = vec![vec![0.0; column.classes.len()]; values.len() + 1];
        for (class, numbers) in column.classes.iter().enumerate() {
            let mut cells = numbers.cells.iter().peekable();
            let mut sum = 0.0;
            for (i, &value) in values.iter().enumerate() {
                if let Some(cell) = cells.next_if(|cell| cell.value == value) {
                    sum += cell.weight;
                }
                below[i + 1][class] = sum;
            }
        }
        WeightsBelow { values, below, unit: unit(column.pooled.weight) }
    }

    fn cut(&self, start: usize, end: usize, cuts: &mut Vec<f64>) {
        let whole = self.range(start, end);
        let best = (start + 1..end)
            .map(|cut| (cut, self.range(start, cut), self.range(cut, end)))
            .map(|(cut, left, right)| {
                let bits = |range: &Range| range.weight * self.unit * range.entropy;
                let apart = (bits(&left) + bits(&right)) / (whole.weight * self.unit);
                (apart, cut, left, right)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((apart, cut, left, right)) = best else { return };
        let n = whole.weight;
        let sides = left.classes * left.entropy + right.classes * right.entropy;
        // log₂(3^k − 2), also where 3^k is beyond an f64.
        let ways = whole.classes * libm::log2(3.0)
            + libm::log1p(-2.0 * libm::pow(3.0, -whole.classes)) / std::f64::consts::LN_2;
        let price = (libm::log2((n - 1.0).max(1.0)) + ways - (whole.classes * whole.entropy - sides)) / n;
        if whole.entropy - apart > price {
            cuts.push(between(self.values[cut - 1], self.values[cut]));
            self.cut(start, cut, cuts);
            self.cut(cut, end, cuts);
        }
    }

    fn range(&self, start: usize, end: usize) -> Range {
        let weights = self.below[end].iter().zip(&self.below[start]).map(|(end, start)| end - start);
        let (mut weight, mut classes, mut sum) = (0.0, 0.0, 0.0);
        for w in weights.filter(|&w| w > 0.0) {
            weight += w;
            classes += 1.0;
            sum += w * self.unit * libm::log2(w);
        }
        let entropy =
            if weight > 0.0 { (libm::log2(weight) - sum / (weight * self.unit)).max(0.0) } else { 0.0 };
        Range { weight, classes, entropy }
    }
}

struct Range {
    weight: f64,
    classes: f64,
    /// In bits.
    entropy: f64,
}

#[cfg(test)]
mod tests {
    use super::super::tests::column;
    use super::*;

    #[test]
    fn cuts_lie_where_the_classes_change() {
        let low: Vec<f64> = (0..50).map(f64::from).collect();
        let high: Vec<f64> = (50..100).map(f64::from).collect();
        assert_eq!(cuts(&column(&[&low, &high])), [49.5]);
        // A class on both sides of the other.
        let outer: Vec<f64> = (0..30).chain(60..90).map(f64::from).collect();
        let inner: Vec<f64> = (30..60).map(f64::from).collect();
        assert_eq!(cuts(&column(&[&outer, &inner])), [29.5, 59.5]);
    }

    #[test]
    fn nothing_to_tell_apart_is_not_cut() {
        let even: Vec<f64> = (0..100).map(|i| f64::from(2 * i)).collect();
        let odd: Vec<f64> = (0..100).map(|i| f64::from(2 * i + 1)).collect();
        assert!(cuts(&column(&[&even, &odd])).is_empty());
        assert!(cuts(&column(&[&[], &[]])).is_empty());
    }
}

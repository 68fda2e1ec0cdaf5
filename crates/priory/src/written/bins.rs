//! Classes that are intervals of a number: the target of a regression, cut into quantiles.

use serde::{Deserialize, Serialize};

use crate::written::NumberStyle;

/// The intervals that numbers are put into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// Where each interval but the first begins, from the lowest on; in decimal, so that they are the same everywhere.
    pub edges: Vec<String>,
    /// How the numbers are written, if not plainly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written: Option<NumberStyle>,
}

impl Bins {
    /// This many intervals that hold about as many of the numbers each, or fewer if the numbers are not different enough; none
    /// if they are all the same. Edges have as few digits as the gaps between the numbers allow.
    ///
    /// ```
    /// use priory::written::Bins;
    ///
    /// let bins = Bins::quantiles(&[1.0, 2.5, 7.31, 7.48, 9.0, 30.0], 3).unwrap();
    /// assert_eq!(bins.names(), ["1: below 7", "2: 7 to 9", "3: 9 and above"]);
    /// ```
    pub fn quantiles(numbers: &[f64], classes: usize) -> Option<Bins> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut edges: Vec<String> = Vec::new();
        for class in 1..classes {
            let at = class * sorted.len() / classes;
            let Some(&upper) = sorted.get(at) else { continue };
            let lower = sorted[..at].iter().rev().copied().find(|&number| number < upper);
            let edge = lower.map(|lower| shortest_between(lower, upper));
            edges.extend(edge.filter(|edge| edges.last() != Some(edge)));
        }
        (!edges.is_empty()).then_some(Bins { edges, written: None })
    }

    /// What the intervals are called, numbered so that they stay in order.
    pub fn names(&self) -> Vec<String> {
        let digits = (self.edges.len() + 1).to_string().len();
        let name = |i: usize| {
            let (below, above) = (i.checked_sub(1).map(|i| &self.edges[i]), self.edges.get(i));
            let interval = match (below, above) {
                (None, Some(above)) => format!("below {above}"),
                (Some(below), Some(above)) => format!("{below} to {above}"),
                (Some(below), None) => format!("{below} and above"),
                (None, None) => String::from("all"),
            };
            format!("{:0digits$}: {interval}", i + 1)
        };
        (0..=self.edges.len()).map(name).collect()
    }

    /// The edges as numbers, if they are finite and each is larger than the one before.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let numbers = self.edges.iter().map(|edge| edge.parse().ok().filter(|edge: &f64| edge.is_finite()));
        let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
        numbers.is_sorted_by(|a, b| a < b).then_some(numbers).filter(|numbers| !numbers.is_empty())
    }
}

/// The decimal number with the fewest digits that is larger than the one and not larger than the other.
fn shortest_between(lower: f64, upper: f64) -> String {
    for decimals in -12..=17_i32 {
        let scale = 10_f64.powi(decimals.abs());
        let (rounded, text) = if decimals < 0 {
            let rounded = (upper / scale).floor() * scale;
            (rounded, format!("{rounded:.0}"))
        } else {
            let rounded = (upper * scale).floor() / scale;
            (rounded, format!("{rounded:.*}", decimals as usize))
        };
        let read: f64 = text.parse().unwrap_or(rounded);
        if read > lower && read <= upper {
            return text;
        }
    }
    upper.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges_are_short() {
        assert_eq!(shortest_between(1.2, 1.9), "1.9");
        assert_eq!(shortest_between(0.9, 1.9), "1");
        assert_eq!(shortest_between(-7.5, 12.0), "0");
        assert_eq!(shortest_between(1234.0, 5678.0), "5000");
        assert_eq!(shortest_between(0.1, 0.1 + 1e-16), (0.1 + 1e-16).to_string());
        assert_eq!(Bins::quantiles(&[5.0; 9], 3), None);
        assert_eq!(Bins::quantiles(&[], 3), None);
    }

    proptest! {
        #[test]
        fn quantiles_hold_about_as_many_each(
            numbers in prop::collection::hash_set(-100_000..100_000_i32, 40..200),
            classes in 2..8_usize,
        ) {
            let numbers: Vec<f64> = numbers.into_iter().map(|number| f64::from(number) / 16.0).collect();
            let bins = Bins::quantiles(&numbers, classes).unwrap();
            let edges = bins.numbers().unwrap();
            prop_assert_eq!(bins.names().len(), classes);
            prop_assert!(bins.names().is_sorted());
            let mut counts = vec![0; classes];
            numbers.iter().for_each(|&x| counts[edges.partition_point(|&edge| edge <= x)] += 1);
            let most = numbers.len().div_ceil(classes);
            prop_assert!(counts.iter().all(|&count| count + 1 >= numbers.len() / classes && count <= most + 1));
        }
    }
}

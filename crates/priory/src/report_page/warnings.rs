//! What in a table or a model should make one look twice.

use super::html::{names, percent, plural, short};
use crate::report::{Features, Summary};
use crate::{Kind, Learnt, Statistics};

/// A column of categories with fewer values is no trouble, whatever it holds.
const MOST_VALUES: usize = 1_000;
/// A column that by itself says this share of all there is to know about the class knows too much.
const TOO_MUCH: f64 = 0.95;
/// Fewer rows do not tell a leak from luck.
const FEWEST_ROWS: u64 = 30;
/// A larger share of missing values is worth a word.
const MOSTLY: f64 = 0.5;
/// Columns differ between training and testing if this share of the rows would have to hold something else, and chance does not
/// explain it.
const DRIFT: f64 = 0.1;
/// How many warnings of one kind are written out.
const MOST: usize = 10;

/// The columns with a value of their own for nearly every row, which tell rows apart and not classes; with how many values they have.
pub fn identifiers(statistics: &Statistics) -> Vec<(&str, usize)> {
    let is_one = |&(_, values): &(&str, usize)| values > MOST_VALUES && 2 * values as u64 > statistics.rows();
    statistics.distinct_values().into_iter().filter(is_one).collect()
}

/// Everything that deserves a warning, as sentences.
pub(super) fn warnings(
    learnt: &Learnt,
    summary: &Summary,
    features: &Features,
    left_out: &[(String, String)],
    tested_on: Option<&Statistics>,
) -> Vec<String> {
    let statistics = &learnt.statistics;
    let mut found = Vec::new();
    for (column, values) in identifiers(statistics) {
        found.push(format!(
            "“{}” has {values} values in {}: it looks like an identifier, which tells rows apart and not classes.",
            short(column),
            plural(statistics.rows(), "row")
        ));
    }
    for (column, reason) in left_out.iter().take(MOST) {
        found.push(format!("“{}” was left out: {reason}.", short(column)));
    }
    found.extend(leaks(features, statistics.rows()));
    found.extend(mostly_missing(summary));
    if let Some(tested_on) = tested_on {
        found.extend(drift(statistics, tested_on));
    }
    if let Some(judgement) = learnt.judgement().filter(|judgement| judgement.is_stale) {
        found.push(format!(
            "The weights were fitted to {}, and the model has {} now; `priory judge` fits them anew.",
            plural(judgement.rows, "row"),
            statistics.rows()
        ));
    }
    found
}

/// Columns that alone decide everything.
fn leaks(features: &Features, rows: u64) -> Vec<String> {
    let knows =
        |bits: f64| features.entropy > 0.0 && rows >= FEWEST_ROWS && bits > TOO_MUCH * features.entropy;
    let leaking = features.ranked.iter().filter(|rank| rank.gain.is_some_and(|gain| knows(gain.bits)));
    let say = |column: &str| {
        format!(
            "“{}” alone decides nearly everything. Is it known before the class is, or does it follow from the class?",
            short(column)
        )
    };
    leaking.take(MOST).map(|rank| say(&rank.name)).collect()
}

fn mostly_missing(summary: &Summary) -> Option<String> {
    let rows: f64 = summary.classes.iter().map(|class| class.weight).sum();
    let share = |missing: &[f64]| missing.iter().sum::<f64>() / rows;
    let missing = summary.features.iter().filter(|feature| feature.group.is_none() && rows > 0.0);
    let missing: Vec<(&str, f64)> = missing
        .map(|feature| (feature.name.as_str(), share(&feature.missing)))
        .filter(|(_, share)| *share > MOSTLY)
        .collect();
    let described: Vec<String> =
        missing.iter().map(|(name, share)| format!("{} ({})", short(name), percent(*share))).collect();
    (!missing.is_empty())
        .then(|| format!("Mostly missing: {}.", names(described.iter().map(String::as_str), MOST)))
}

/// What is otherwise in the rows that a model was tested on than in those that it has learnt.
fn drift(learnt: &Statistics, tested: &Statistics) -> Vec<String> {
    let mut found = Vec::new();
    let shares = |statistics: &Statistics| {
        let classes = statistics.classes();
        classes.into_iter().map(|(name, weight)| (name.to_owned(), weight)).collect::<Vec<_>>()
    };
    let differs = distance(&shares(learnt), &shares(tested));
    if let Some(differs) = differs {
        let name = short(&learnt.schema().target);
        found.push(format!(
            "The classes of “{name}” have other shares in the rows of the test: {} of them differ.",
            percent(differs)
        ));
    }
    let columns = learnt.schema().columns.iter().filter_map(|column| {
        let differs = match column.kind {
            Kind::Category => distance(&values(learnt, &column.name), &values(tested, &column.name)),
            Kind::Number => steps(&numbers(learnt, &column.name), &numbers(tested, &column.name)),
            Kind::Joint | Kind::Moments | Kind::Text | Kind::Group => None,
        };
        Some((column.name.as_str(), differs?))
    });
    let mut columns: Vec<(&str, f64)> = columns.collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (column, differs) in columns.into_iter().take(MOST) {
        found.push(format!(
            "“{}” holds something else in the rows of the test than in training: {} of them would have to change.",
            short(column),
            percent(differs)
        ));
    }
    found
}

/// The values of a column of categories with their weights; what is missing among them.
fn values(statistics: &Statistics, column: &str) -> Vec<(String, f64)> {
    statistics.weights_of(column)
}

/// The numbers of all classes, in order, with their weights.
fn numbers(statistics: &Statistics, column: &str) -> Vec<(f64, f64)> {
    let mut all = statistics.numbers(column).unwrap_or_default().concat();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// Which share of the rows would have to hold another value, if that is much and no chance: half of Σ |p − q|.
fn distance(one: &[(String, f64)], other: &[(String, f64)]) -> Option<f64> {
    let total = |shares: &[(String, f64)]| shares.iter().map(|(_, weight)| weight).sum::<f64>();
    let (n, m) = (total(one), total(other));
    if n <= 0.0 || m <= 0.0 {
        return None;
    }
    let mut shares: std::collections::BTreeMap<&str, (f64, f64)> = std::collections::BTreeMap::new();
    one.iter().for_each(|(name, weight)| shares.entry(name).or_default().0 += weight / n);
    other.iter().for_each(|(name, weight)| shares.entry(name).or_default().1 += weight / m);
    let differs = 0.5 * shares.values().map(|(p, q)| (p - q).abs()).sum::<f64>();
    // Of k values, chance alone makes about half of √(k (1/n + 1/m)).
    let chance = 0.5 * (shares.len() as f64 * (1.0 / n + 1.0 / m)).sqrt();
    (differs > DRIFT + chance).then_some(differs)
}

/// The largest difference between two distribution functions (Kolmogorov and Smirnov), if that is much and no chance.
fn steps(one: &[(f64, f64)], other: &[(f64, f64)]) -> Option<f64> {
    let total = |cells: &[(f64, f64)]| cells.iter().map(|(_, weight)| weight).sum::<f64>();
    let (n, m) = (total(one), total(other));
    if n <= 0.0 || m <= 0.0 {
        return None;
    }
    let (mut i, mut j, mut p, mut q, mut differs) = (0, 0, 0.0, 0.0, 0.0_f64);
    while i < one.len() && j < other.len() {
        let x = one[i].0.min(other[j].0);
        while i < one.len() && one[i].0 <= x {
            p += one[i].1 / n;
            i += 1;
        }
        while j < other.len() && other[j].0 <= x {
            q += other[j].1 / m;
            j += 1;
        }
        differs = differs.max((p - q).abs());
    }
    // Chance alone exceeds this once in a thousand times.
    let chance = 1.95 * (1.0 / n + 1.0 / m).sqrt();
    (differs > DRIFT.max(chance)).then_some(differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_no_drift() {
        let shares = |a: f64, b: f64| vec![("a".to_owned(), a), ("b".to_owned(), b)];
        assert_eq!(distance(&shares(50.0, 50.0), &shares(55.0, 45.0)), None);
        assert_eq!(distance(&shares(5.0, 5.0), &shares(7.0, 3.0)), None);
        assert!(
            distance(&shares(500.0, 500.0), &shares(800.0, 200.0)).is_some_and(|x| (x - 0.3).abs() < 1e-12)
        );
        assert_eq!(distance(&shares(500.0, 500.0), &[]), None);
    }

    #[test]
    fn numbers_that_move_are_drift() {
        let at = |shift: f64| (0..500).map(|i| (f64::from(i) + shift, 1.0)).collect::<Vec<_>>();
        assert_eq!(steps(&at(0.0), &at(10.0)), None);
        assert!(steps(&at(0.0), &at(100.0)).is_some_and(|x| (x - 0.2).abs() < 1e-12));
        assert!(steps(&at(0.0), &at(1000.0)).is_some_and(|x| (x - 1.0).abs() < 1e-9));
    }
}

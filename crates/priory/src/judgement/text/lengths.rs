//! How long the documents of each class are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Longer documents are counted with those of 2^20 words.
const MOST_BINS: usize = 41;

/// How many documents a class has by its share, beside those of each length that were counted.
const STRENGTH: f64 = 10.0;

/// Documents of a sample, counted by class and length: bins of half an octave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LengthCounts {
    /// The mean length.
    mean: f64,
    documents: BTreeMap<String, Vec<f64>>,
}

impl LengthCounts {
    /// From the length, the class and the weight of each document.
    pub(crate) fn new<'a>(documents: impl Iterator<Item = (f64, &'a str, f64)>) -> Self {
        let mut counts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let (mut sum, mut total) = (0.0, 0.0);
        for (length, class, weight) in documents {
            sum += length.max(1.0) * weight;
            total += weight;
            let bins = counts.entry(class.to_owned()).or_default();
            let bin = bin_of(length);
            bins.resize(bins.len().max(bin + 1), 0.0);
            bins[bin] += weight;
        }
        LengthCounts { mean: if total > 0.0 { sum / total } else { 1.0 }, documents: counts }
    }

    pub(crate) fn is_possible(&self) -> bool {
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        (1.0..=1e12).contains(&self.mean)
            && self.documents.values().all(|bins| bins.len() <= MOST_BINS && bins.iter().all(is_weight))
    }

    /// For classes that have these shares of all rows.
    pub(crate) fn lengths<'a>(
        &self,
        classes: impl Iterator<Item = &'a str>,
        shares: &[f64],
        unit: f64,
    ) -> Lengths {
        let counts = classes.map(|class| {
            let mut bins = self.documents.get(class).cloned().unwrap_or_default();
            bins.resize(MOST_BINS, 0.0);
            bins
        });
        let shares = shares.iter().map(|share| share.max(f64::MIN_POSITIVE)).collect();
        Lengths { mean: self.mean, shares, counts: counts.collect(), unit }
    }
}

/// What the length of a document says.
#[derive(Debug, Clone)]
pub(crate) struct Lengths {
    mean: f64,
    shares: Vec<f64>,
    /// Of each class.
    counts: Vec<Vec<f64>>,
    unit: f64,
}

impl Lengths {
    /// ℓ.
    pub(crate) fn relative(&self, length: f64) -> f64 {
        length.max(1.0) / self.mean
    }

    /// What it says for a class, perhaps without one of its own documents of that length.
    pub(crate) fn term(&self, length: f64, class: usize, without_one: bool) -> f64 {
        let lost = if without_one { self.unit } else { 0.0 };
        let count = (self.counts[class][bin_of(length)] - lost).max(0.0);
        libm::log(count / self.shares[class] + STRENGTH * self.unit)
    }
}

fn bin_of(length: f64) -> usize {
    ((2.0 * libm::log2(length.max(1.0))) as usize).min(MOST_BINS - 1)
}

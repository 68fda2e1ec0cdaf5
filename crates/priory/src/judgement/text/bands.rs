//! Tokens in bands of document frequency, and which share of a band each class has.
//!
//! A document that was learnt looks for each of its tokens at the others that have it: one document less than were counted. So the
//! tokens of a single document are unseen to it, as new tokens will be to a new document, and what unseen tokens say follows from
//! them.

use crate::families::text::TextStatistics;

/// In how many documents the tokens of each band are, at the least.
pub(crate) const STARTS: [f64; BANDS] = [1.0, 2.0, 4.0, 10.0, 30.0, 100.0, 400.0];
pub(crate) const BANDS: usize = 7;

/// The same for what all classes but one say.
const STARTS_OF_OTHERS: [f64; BANDS_OF_OTHERS] = [1.0, 8.0, 64.0];
pub(crate) const BANDS_OF_OTHERS: usize = 3;

/// The band of tokens that were never met; the others follow.
pub(crate) const UNSEEN: usize = 0;

/// How many tokens of a band each class has by its share of all tokens, beside those that were counted.
const STRENGTH: f64 = 10.0;

/// The band of a token that so many documents have.
#[inline]
pub(crate) fn band_of(documents: f64) -> usize {
    STARTS.iter().filter(|&&start| documents >= start).count()
}

/// The coarser band; the first is that of unseen tokens as well.
#[inline]
pub(crate) fn band_of_others(documents: f64) -> usize {
    STARTS_OF_OTHERS[1..].iter().filter(|&&start| documents >= start).count()
}

/// How many documents the tokens of each band have in each class: a document counts once for each of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Masses {
    classes: usize,
    /// Classes side by side, band after band, one order after the other.
    of: Vec<f64>,
}

impl Masses {
    pub(crate) fn empty(orders: usize, classes: usize) -> Self {
        Masses { classes, of: vec![0.0; orders * (1 + BANDS) * classes] }
    }

    /// Of canonical statistics, in which rows weigh `unit` on average.
    pub(crate) fn new(text: &TextStatistics, unit: f64) -> Self {
        let (tokens, classes) = (&text.settings.tokens, text.totals.classes());
        let mut masses = Masses::empty(tokens.orders(), classes);
        for (token, name) in text.tokens.names().enumerate() {
            let (order, documents) = (tokens.order_of(name), text.counts.in_all_classes(token, 0));
            let masses = masses.of_band_mut(order, band_of(documents / unit - 1.0));
            text.counts.for_each_cell(token, |class, documents, _| masses[class] += documents);
        }
        masses
    }

    /// From what a file says; `None` if they cannot be masses of these.
    pub(crate) fn from_numbers(orders: usize, classes: usize, of: &[f64]) -> Option<Self> {
        let is_possible = of.len() == orders * (1 + BANDS) * classes
            && of.iter().all(|&mass| mass.is_finite() && mass >= 0.0);
        is_possible.then(|| Masses { classes, of: of.to_vec() })
    }

    pub(crate) fn numbers(&self) -> &[f64] {
        &self.of
    }

    pub(crate) fn of_band(&self, order: usize, band: usize) -> &[f64] {
        &self.of[(order * (1 + BANDS) + band) * self.classes..][..self.classes]
    }

    pub(crate) fn of_band_mut(&mut self, order: usize, band: usize) -> &mut [f64] {
        &mut self.of[(order * (1 + BANDS) + band) * self.classes..][..self.classes]
    }

    /// The shares that follow.
    pub(crate) fn shares(&self) -> Shares {
        let classes = self.classes;
        let orders = self.of.len() / ((1 + BANDS) * classes).max(1);
        let mut shares = Shares { classes, of_orders: Vec::new(), of_bands: Vec::new(), ln_rise: Vec::new() };
        for order in 0..orders {
            let mut of_order = vec![1.0; classes];
            for band in 0..=BANDS {
                of_order.iter_mut().zip(self.of_band(order, band)).for_each(|(sum, mass)| *sum += mass);
            }
            let total: f64 = of_order.iter().sum();
            of_order.iter_mut().for_each(|share| *share /= total);
            for band in 0..=BANDS {
                let masses = self.of_band(order, band);
                let all = masses.iter().sum::<f64>() + STRENGTH;
                for (mass, share) in masses.iter().zip(&of_order) {
                    let of_band = (mass + STRENGTH * share) / all;
                    shares.of_bands.push(of_band);
                    shares.ln_rise.push(libm::log(of_band / share));
                }
            }
            shares.of_orders.extend(of_order);
        }
        shares
    }
}

/// Which share each class has of all tokens of an order, and of those of a band.
#[derive(Debug, Clone)]
pub(crate) struct Shares {
    classes: usize,
    /// q(c).
    of_orders: Vec<f64>,
    /// q(c, band).
    of_bands: Vec<f64>,
    /// log q(c, band) / q(c).
    ln_rise: Vec<f64>,
}

impl Shares {
    pub(crate) fn of_order(&self, order: usize) -> &[f64] {
        &self.of_orders[order * self.classes..][..self.classes]
    }

    #[inline]
    pub(crate) fn of_band(&self, order: usize, band: usize) -> &[f64] {
        &self.of_bands[(order * (1 + BANDS) + band) * self.classes..][..self.classes]
    }

    /// What a token of the band says by being one.
    #[inline]
    pub(crate) fn ln_rise(&self, order: usize, band: usize) -> &[f64] {
        &self.ln_rise[(order * (1 + BANDS) + band) * self.classes..][..self.classes]
    }

    /// How much less that is for a class without some of its tokens.
    pub(crate) fn ln_lost(&self, masses: &Masses, order: usize, band: usize, class: usize, lost: f64) -> f64 {
        let prior = STRENGTH * self.of_order(order)[class];
        let mass = masses.of_band(order, band)[class];
        libm::log((mass + prior) / ((mass - lost).max(0.0) + prior))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_begin_where_they_should() {
        let bands =
            [0.0, 0.9, 1.0, 1.9, 2.0, 3.0, 4.0, 9.0, 10.0, 29.0, 30.0, 99.0, 100.0, 399.0, 400.0, 1e9];
        assert_eq!(bands.map(band_of), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
        assert_eq!([0.0, 1.0, 7.0, 8.0, 63.0, 64.0].map(band_of_others), [0, 0, 0, 1, 1, 2]);
    }

    #[test]
    fn shares_of_bands_are_drawn_to_those_of_all_tokens() {
        let mut masses = Masses::empty(1, 2);
        masses.of_band_mut(0, 1).copy_from_slice(&[10.0, 0.0]);
        masses.of_band_mut(0, 7).copy_from_slice(&[289.0, 299.0]);
        let shares = masses.shares();
        assert_eq!(shares.of_order(0), [0.5, 0.5]);
        assert_eq!(shares.of_band(0, 1), [0.75, 0.25]);
        assert_eq!(shares.of_band(0, 4), [0.5, 0.5]);
        assert_eq!(shares.ln_rise(0, 4), [0.0, 0.0]);
        assert_eq!(shares.ln_lost(&masses, 0, 1, 0, 10.0), libm::log(3.0));
    }
}

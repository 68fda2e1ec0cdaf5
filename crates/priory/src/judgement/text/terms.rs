//! What the tokens of a document say, term by term.
//!
//! With x = log₂(1 + occurrences) of a token in the document, n(c) the documents of class c that have it, n = Σ n(c), q the shares of
//! its band, and ℓ the length of the document in units of the mean:
//!
//! | term | one for each | what it says for class c |
//! |---|---|---|
//! | own | order, band, power β of 0, ½, 1 | ℓ^−β Σ x log(1 + n(c) / (a q(c, band))) |
//! | band | order, band, unseen tokens being one | ℓ^−½ Σ x log(q(c, band) / q(c)) |
//! | others | order, coarse band, power β of 0, 1; for more than two classes | ℓ^−β Σ x (log((n + a) / (n − n(c) + a)) + n / (n + a) log(1 − q(c))) |
//! | length | | log(documents of c with such a length, drawn to the share of the class) |
//!
//! The first is log((n(c) + a q) / q) less log a: a token is shrunk by a = 3 documents to what its band says. The third is what
//! all other classes say against c. Without the document itself, every term says less for its class, or more for the others, and
//! nothing else changes.

use super::bands::{BANDS, BANDS_OF_OTHERS, Masses, Shares, UNSEEN, band_of, band_of_others};
use super::deviations::WEAK;
use super::documents::Documents;
use super::lengths::Lengths;

/// a: to how many documents a band counts for each of its tokens.
pub(crate) const SHRINKAGE: f64 = 3.0;

/// How many powers of the length there are.
const POWERS: usize = 3;
const POWERS_OF_OTHERS: usize = 2;

/// Where the weight of each term of a column stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TextLayout {
    pub(crate) orders: usize,
    pub(crate) classes: usize,
}

impl TextLayout {
    /// How many terms there are.
    pub(crate) fn terms(self) -> usize {
        self.length() + 1
    }

    fn own(self, order: usize, band: usize) -> usize {
        (order * BANDS + band - 1) * POWERS
    }

    fn band(self, order: usize, band: usize) -> usize {
        self.orders * BANDS * POWERS + order * (1 + BANDS) + band
    }

    fn others(self, order: usize, band: usize) -> usize {
        self.orders * (BANDS * POWERS + 1 + BANDS) + (order * BANDS_OF_OTHERS + band) * POWERS_OF_OTHERS
    }

    fn length(self) -> usize {
        self.others(self.orders * usize::from(self.has_others()), 0)
    }

    pub(crate) fn has_others(self) -> bool {
        self.classes > 2
    }
}

/// What the weights of terms come to for a document of some length.
#[derive(Debug, Clone)]
pub(crate) struct Coefficients {
    layout: TextLayout,
    own: Vec<f64>,
    band: Vec<f64>,
    others: Vec<f64>,
    pub(crate) length: f64,
    /// ℓ^−½.
    pub(crate) root: f64,
}

impl Coefficients {
    /// `length` is ℓ.
    pub(crate) fn new(layout: TextLayout, weights: &[f64], length: f64) -> Self {
        let (root, inverse) = (1.0 / length.sqrt(), 1.0 / length);
        let own = weights[..layout.band(0, 0)].as_chunks::<POWERS>().0.iter();
        let others = weights[layout.others(0, 0)..layout.length()].as_chunks::<POWERS_OF_OTHERS>().0.iter();
        Coefficients {
            layout,
            own: own.map(|[zero, half, one]| zero + half * root + one * inverse).collect(),
            band: weights[layout.band(0, 0)..layout.others(0, 0)].iter().map(|u| u * root).collect(),
            others: others.map(|[zero, one]| zero + one * inverse).collect(),
            length: weights[layout.length()],
            root,
        }
    }

    /// ω: of what tokens of a band say, which is not that of unseen ones.
    #[inline]
    pub(crate) fn own(&self, order: usize, band: usize) -> f64 {
        self.own[order * BANDS + band - 1]
    }

    #[inline]
    pub(crate) fn band(&self, order: usize, band: usize) -> f64 {
        self.band[order * (1 + BANDS) + band]
    }

    /// Zero if there are two classes.
    #[inline]
    pub(crate) fn others(&self, order: usize, band: usize) -> f64 {
        if self.layout.has_others() { self.others[order * BANDS_OF_OTHERS + band] } else { 0.0 }
    }
}

/// The class and weight of a document that is to be left out of what was counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeftOut {
    pub(crate) class: usize,
    pub(crate) weight: f64,
}

/// Sums over the tokens of one document; the memory is used for one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    layout: TextLayout,
    /// Σ x log(1 + n / (a q)) by order and band, classes side by side; likewise for the others.
    own: Vec<f64>,
    others: Vec<f64>,
    /// Σ x by order and band, and how many tokens of the document are in the band.
    mass: Vec<f64>,
    tokens: Vec<f64>,
    /// Σ x n / (n + a) by order and coarse band.
    known: Vec<f64>,
    /// What tokens say that deviate from bands which say nothing.
    alone: Vec<f64>,
}

/// By how much tokens deviate from the weights of their bands.
#[derive(Clone, Copy)]
pub(crate) struct DeviationsOf<'a> {
    /// δ of each token of the documents.
    pub(crate) of_tokens: &'a [f64],
    /// The weights of bands in a document of mean length.
    pub(crate) at_mean: &'a Coefficients,
}

impl DeviationsOf<'_> {
    /// What a token says is multiplied by the first number; if the band says nothing, it weighs that by itself.
    #[inline]
    fn factor(&self, token: u32, order: usize, band: usize) -> (f64, bool) {
        factor(self.of_tokens[token as usize], self.at_mean.own(order, band))
    }
}

/// What a token says that deviates from the weight of its band is multiplied by the first number; if the band says nothing, it
/// weighs that by itself.
#[inline]
pub(crate) fn factor(deviation: f64, of_band: f64) -> (f64, bool) {
    match deviation {
        0.0 => (1.0, false),
        _ if of_band > WEAK => (1.0 + deviation / of_band, false),
        _ => (deviation, true),
    }
}

impl Sums {
    pub(crate) fn new(layout: TextLayout) -> Self {
        let TextLayout { orders, classes } = layout;
        Sums {
            layout,
            own: vec![0.0; orders * BANDS * classes],
            others: vec![0.0; if layout.has_others() { orders * BANDS_OF_OTHERS * classes } else { 0 }],
            mass: vec![0.0; orders * (1 + BANDS)],
            tokens: vec![0.0; orders * (1 + BANDS)],
            known: vec![0.0; orders * BANDS_OF_OTHERS],
            alone: vec![0.0; classes],
        }
    }

    /// Adds up the tokens of a document.
    pub(crate) fn read(
        &mut self,
        documents: &Documents,
        row: usize,
        shares: &Shares,
        left_out: Option<LeftOut>,
        deviations: Option<DeviationsOf<'_>>,
    ) {
        let (classes, unit) = (self.layout.classes, documents.unit);
        [&mut self.own, &mut self.others, &mut self.mass, &mut self.tokens, &mut self.known, &mut self.alone]
            .into_iter()
            .for_each(|sums| sums.fill(0.0));
        let lost = left_out.map_or(0.0, |left_out| left_out.weight);
        let own_class = left_out.map_or(usize::MAX, |left_out| left_out.class);
        for &(token, x) in documents.of_row(row) {
            let (order, cells) = documents.token(token);
            let n: f64 = cells.iter().map(|cell| cell.documents).sum::<f64>() - lost;
            let band = band_of(n / unit);
            self.mass[order * (1 + BANDS) + band] += x;
            self.tokens[order * (1 + BANDS) + band] += lost;
            if band == UNSEEN {
                continue;
            }
            let shares = shares.of_band(order, band);
            let (factor, is_alone) =
                deviations.map_or((1.0, false), |deviations| deviations.factor(token, order, band));
            let own = match is_alone {
                false => &mut self.own[(order * BANDS + band - 1) * classes..][..classes],
                true => &mut self.alone[..],
            };
            for cell in cells {
                let class = cell.class as usize;
                let of_class = if class == own_class { cell.documents - lost } else { cell.documents };
                own[class] +=
                    factor * x * libm::log1p(of_class.max(0.0) / (SHRINKAGE * unit * shares[class]));
            }
            if self.layout.has_others() {
                let place = order * BANDS_OF_OTHERS + band_of_others(n / unit);
                let a = SHRINKAGE * unit;
                self.known[place] += x * (n / (n + a));
                let others = &mut self.others[place * classes..][..classes];
                for cell in cells {
                    let class = cell.class as usize;
                    let of_class = if class == own_class { cell.documents - lost } else { cell.documents };
                    others[class] += x * libm::log((n + a) / ((n - of_class).max(0.0) + a));
                }
            }
        }
    }

    /// What tokens say for each class that deviate from bands which say nothing; to be multiplied by ℓ^−½.
    pub(crate) fn alone(&self) -> &[f64] {
        &self.alone
    }

    /// Writes the terms of the document that was read: those of a class side by side, class after class.
    pub(crate) fn write(
        &self,
        masses: &Masses,
        shares: &Shares,
        lengths: &Lengths,
        length: f64,
        left_out: Option<LeftOut>,
        to: &mut [f64],
    ) {
        let (layout, relative) = (self.layout, lengths.relative(length));
        let (root, inverse) = (1.0 / relative.sqrt(), 1.0 / relative);
        let (classes, terms) = (layout.classes, layout.terms());
        for (class, to) in to.chunks_exact_mut(terms).enumerate() {
            for order in 0..layout.orders {
                for band in 1..=BANDS {
                    let sum = self.own[(order * BANDS + band - 1) * classes + class];
                    let place = layout.own(order, band);
                    to[place..place + POWERS].copy_from_slice(&[sum, sum * root, sum * inverse]);
                }
                for band in 0..=BANDS {
                    let place = order * (1 + BANDS) + band;
                    let mut rise = shares.ln_rise(order, band)[class];
                    if left_out.is_some_and(|left_out| left_out.class == class) {
                        rise -= shares.ln_lost(masses, order, band, class, self.tokens[place]);
                    }
                    to[layout.band(order, band)] = self.mass[place] * rise * root;
                }
                if layout.has_others() {
                    let ln_rest = libm::log1p(-shares.of_order(order)[class]);
                    for band in 0..BANDS_OF_OTHERS {
                        let place = order * BANDS_OF_OTHERS + band;
                        let sum = self.others[place * classes + class] + self.known[place] * ln_rest;
                        let place = layout.others(order, band);
                        to[place..place + POWERS_OF_OTHERS].copy_from_slice(&[sum, sum * inverse]);
                    }
                }
            }
            to[layout.length()] = lengths.term(length, class, left_out.is_some_and(|one| one.class == class));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bands::Masses;
    use super::super::lengths::LengthCounts;
    use super::*;
    use crate::batch::{Batch, TextColumn};
    use crate::families::CountedRow;
    use crate::families::text::TextStatistics;
    use crate::text::{TextSettings, TokenSettings};

    /// Without itself, no document has a term that says more for its class than with it, measured from any other class.
    #[test]
    fn no_term_gains_for_the_own_class_by_leaving_a_document_out() {
        let tokens = TokenSettings { neighbours: true, ..TokenSettings::default() };
        let (mut column, mut counted) = (TextColumn::default(), Vec::new());
        let mut state = 1_u32;
        for row in 0..200_u32 {
            let class = row % 3;
            for _ in 0..1 + row % 9 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let word = (state >> 20) % (10 + 40 * class);
                column.add(&format!("w{word}"));
                column.add(&format!("w{word} w{}", word % 7));
            }
            column.end_document();
            counted.push(CountedRow { row, class });
        }
        let mut text = TextStatistics::empty(&TextSettings::new(tokens));
        text.observe(&column, &counted, &Batch::default(), 3);
        let text = text.canonical(&[0, 1, 2]);
        let masses = Masses::new(&text, 1.0);
        let documents = Documents::new(&column, &text, &masses, 1.0);
        let shares = masses.shares();
        let names = ["a", "b", "c"];
        let rows = documents.lengths.iter().zip(&counted);
        let rows = rows.map(|(length, row)| (length.unwrap(), names[row.class as usize], 1.0));
        let lengths = LengthCounts::new(rows).lengths(names.into_iter(), &[1.0 / 3.0; 3], 1.0);
        let layout = TextLayout { orders: 2, classes: 3 };
        let mut sums = Sums::new(layout);
        let terms = layout.terms();
        let mut moved = 0;
        for (row, counted) in counted.iter().enumerate() {
            let own = counted.class as usize;
            // A token that is in a lower band without the document is another term: both are read by the same bands here.
            let mut of = |left_out| {
                let mut to = vec![0.0; 3 * terms];
                sums.read(&documents, row, &shares, left_out, None);
                sums.write(&masses, &shares, &lengths, documents.lengths[row].unwrap(), left_out, &mut to);
                to
            };
            let same_bands = Some(LeftOut { class: usize::MAX, weight: 1.0 });
            let (with, without) = (of(same_bands), of(Some(LeftOut { class: own, weight: 1.0 })));
            for other in (0..3).filter(|&other| other != own) {
                for term in 0..terms {
                    let margin =
                        |terms_of: &[f64]| terms_of[own * terms + term] - terms_of[other * terms + term];
                    assert!(margin(&without) <= margin(&with) + 1e-12, "row {row}, term {term}");
                    moved += usize::from(margin(&without) < margin(&with));
                }
            }
        }
        assert!(moved > 1000, "{moved}");
    }
}

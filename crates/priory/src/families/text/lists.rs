//! The logarithms of tokens as lists of cells: for models whose tokens mostly occur in few classes, and for those under
//! which a document can be impossible.

use super::estimate::Extra;
use crate::moments::engine::ask;

/// What tokens add in the classes that counted them.
#[derive(Debug, Clone)]
pub(crate) struct Lists {
    /// Where the cells of each token end.
    ends: Vec<u32>,
    /// The class of each cell; [`CERTAIN`] is set where every document of the class has the token.
    classes: Vec<u32>,
    extra: Vec<f64>,
    /// What each token adds in every class; a single entry if it is the same for all.
    default: Vec<f64>,
    /// Whether a document can be impossible, so that it has to be known which classes counted its tokens.
    can_be_impossible: bool,
}

const CERTAIN: u32 = 1 << 31;

impl Lists {
    pub(crate) fn new(tokens: usize, cells: usize, can_be_impossible: bool) -> Self {
        let (ends, classes, extra) =
            (Vec::with_capacity(tokens), Vec::with_capacity(cells), Vec::with_capacity(cells));
        Lists { ends, classes, extra, default: Vec::new(), can_be_impossible }
    }

    /// Sets the default: that of the next token, or one for all tokens.
    pub(crate) fn push_default(&mut self, default: f64) {
        self.default.push(default);
    }

    /// Appends a cell of the next token.
    pub(crate) fn push(&mut self, class: usize, extra: Extra) {
        self.classes.push(class as u32 | if extra.certain { CERTAIN } else { 0 });
        self.extra.push(extra.log);
    }

    /// Ends the list of that token.
    pub(crate) fn end_token(&mut self) {
        self.ends.push(self.classes.len() as u32);
    }

    #[inline]
    pub(crate) fn default(&self, token: usize) -> f64 {
        if self.default.len() == 1 { self.default[0] } else { self.default[token] }
    }

    /// The classes that counted a token, and what it adds there.
    pub(crate) fn cells(&self, token: usize) -> impl Iterator<Item = (usize, f64)> {
        let cells = self.range(token as u32);
        let classes = self.classes[cells.clone()].iter().map(|class| (class & !CERTAIN) as usize);
        classes.zip(self.extra[cells].iter().copied())
    }

    #[inline]
    fn range(&self, token: u32) -> std::ops::Range<usize> {
        let token = token as usize;
        let start = if token == 0 { 0 } else { self.ends[token - 1] };
        start as usize..self.ends[token] as usize
    }

    /// Prefetches the cells of a token, unless it is [none](Self::is_none).
    #[inline]
    pub(crate) fn ask(&self, token: u32) {
        if !self.is_none(token) {
            let cells = self.range(token);
            ask(&self.classes[cells.clone()]);
            ask(&self.extra[cells]);
        }
    }

    /// Whether this number stands for a token that was never met in training.
    #[inline]
    pub(crate) fn is_none(&self, token: u32) -> bool {
        token as usize >= self.ends.len()
    }
}

/// The sums of one document; they are reused for the next.
#[derive(Debug)]
pub(crate) struct ListSums {
    /// Σ x extra of each class.
    pub(crate) extra: Vec<f64>,
    /// Σ x.
    pub(crate) amount: f64,
    /// Σ x default.
    pub(crate) default: f64,
    /// How many tokens were met,
    pub(crate) known: u32,
    /// and in each class,
    pub(crate) hits: Vec<u32>,
    /// and are certain there.
    pub(crate) certain: Vec<u32>,
}

impl ListSums {
    pub(crate) fn new(classes: usize) -> Self {
        ListSums {
            extra: vec![0.0; classes],
            amount: 0.0,
            default: 0.0,
            known: 0,
            hits: vec![0; classes],
            certain: vec![0; classes],
        }
    }

    pub(crate) fn start(&mut self) {
        self.extra.fill(0.0);
        self.hits.fill(0);
        self.certain.fill(0);
        (self.known, self.amount, self.default) = (0, 0.0, 0.0);
    }

    /// Adds a token of the document, unless it was never met.
    #[inline]
    pub(crate) fn add(&mut self, lists: &Lists, token: u32, amount: f64) {
        if lists.is_none(token) {
            return;
        }
        self.known += 1;
        self.amount += amount;
        self.default += amount * lists.default(token as usize);
        let cells = lists.range(token);
        let (classes, extra) = (&lists.classes[cells.clone()], &lists.extra[cells]);
        if lists.can_be_impossible {
            for (&class, extra) in classes.iter().zip(extra) {
                let index = (class & !CERTAIN) as usize;
                self.extra[index] += amount * extra;
                self.hits[index] += 1;
                self.certain[index] += u32::from(class & CERTAIN != 0);
            }
        } else {
            for (&class, extra) in classes.iter().zip(extra) {
                self.extra[class as usize] += amount * extra;
            }
        }
    }
}

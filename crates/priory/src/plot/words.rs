//! A column of text: which of its tokens speak for each class, and how much.

use crate::report::FeatureSummary;

/// The tokens of a column of text that tell most.
#[derive(Debug, Clone)]
pub struct Words {
    /// Those of the first class, the most telling first, then those of the next.
    pub words: Vec<Word>,
    /// How many classes there are beside those that are shown.
    pub more: usize,
}

/// A token that speaks for a class.
#[derive(Debug, Clone)]
pub struct Word {
    /// Which of the classes.
    pub class: usize,
    /// The token.
    pub token: String,
    /// log P(token | class) / P(token | any other class), in nats; infinite if no other class has it.
    pub evidence: f64,
}

/// As many classes have room one below the other, and each has so many words at least.
const MOST_CLASSES: usize = 12;
const FEWEST_WORDS: usize = 4;

impl Words {
    /// So many words altogether, if there are few classes.
    pub(super) fn new(feature: &FeatureSummary, most: usize) -> Self {
        let classes = feature.text.as_ref().map_or(&[][..], |text| &text.telling);
        let shown = &classes[..classes.len().min(MOST_CLASSES)];
        let of_each = (most / shown.len().max(1)).max(FEWEST_WORDS);
        let words = shown.iter().enumerate().flat_map(|(class, tokens)| {
            tokens.iter().take(of_each).map(move |told| Word {
                class,
                token: told.token.clone(),
                evidence: told.evidence,
            })
        });
        Words { words: words.collect(), more: classes.len() - shown.len() }
    }

    /// The longest bar: the most that a word says, of those that do not say everything.
    pub fn top(&self) -> f64 {
        let finite = self.words.iter().map(|word| word.evidence).filter(|evidence| evidence.is_finite());
        let top = finite.fold(0.0, f64::max);
        if top > 0.0 { top } else { 1.0 }
    }
}

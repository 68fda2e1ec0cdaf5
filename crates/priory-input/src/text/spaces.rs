//! Tokens that stand between spaces.

use super::stages::Sink;

/// A longer token counts by its length only.
const LONGEST: usize = 128;

#[derive(Clone)]
pub(super) struct SpaceScanner {
    lower: bool,
    lowered: String,
}

impl SpaceScanner {
    pub(super) fn new(lower: bool) -> Self {
        SpaceScanner { lower, lowered: String::new() }
    }

    /// The end of the text ends a token.
    pub(super) fn scan(&mut self, text: &str, sink: &mut impl Sink) {
        for token in text.split_whitespace() {
            let characters = token.chars().count();
            if characters > LONGEST {
                sink.long(characters);
            } else if self.lower && token.chars().any(char::is_uppercase) {
                self.lowered.clear();
                self.lowered.extend(token.chars().flat_map(char::to_lowercase));
                sink.word(&self.lowered);
            } else {
                sink.word(token);
            }
        }
    }
}

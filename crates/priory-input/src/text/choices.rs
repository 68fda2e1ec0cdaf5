//! What the user chose about text.

use priory::text::{
    CharacterNgrams, Cjk, DocumentLength, LetterCase, Normalization, StopWords, TermFrequency, TextSettings,
    TokenSettings, TokenStyle, WordNgrams,
};

use super::{STEMMER_VERSION, Tokenizer};

/// Choices about how documents are read.
#[derive(Debug, Clone, Default)]
pub struct TextChoices {
    /// What a token is.
    pub tokens: TokenStyle,
    /// How many neighbouring words make up a token.
    pub ngrams: WordNgrams,
    /// Words that are left out.
    pub stop_words: StopWords,
    /// The language in which words are cut down to their stems.
    pub stem: Option<String>,
    /// Whether capital letters are kept apart from small ones.
    pub keep_case: bool,
    /// Whether characters that look alike become one.
    pub nfkc: bool,
    /// How scripts without spaces are read.
    pub cjk: Cjk,
    /// Counts this power of two of buckets instead of tokens.
    pub hash_bits: Option<u8>,
    /// What several occurrences of a token in a document count.
    pub frequency: TermFrequency,
    /// Whether all documents count alike, whatever their length.
    pub equal_length: bool,
    /// Which runs of characters a judgement weighs beside words.
    pub characters: Option<CharacterNgrams>,
    /// Whether punctuation and pairs of neighbours are counted beside words, for a judgement. It is no choice by itself.
    pub neighbours: bool,
}

impl TextChoices {
    /// What can be chosen, by the names that the command line and Python give it.
    pub const NAMES: [&'static str; 11] = [
        "tokens",
        "ngrams",
        "characters",
        "stop-words",
        "stem",
        "keep-case",
        "nfkc",
        "cjk",
        "hash-bits",
        "frequency",
        "equal-length",
    ];

    /// The settings that follow.
    ///
    /// # Errors
    /// If there is no such tokenizer.
    pub fn settings(self) -> priory::Result<TextSettings> {
        let tokens = TokenSettings {
            style: self.tokens,
            case: if self.keep_case { LetterCase::Keep } else { LetterCase::Lower },
            normalization: if self.nfkc { Normalization::Nfkc } else { Normalization::None },
            ngrams: self.ngrams,
            cjk: self.cjk,
            stop_words: self.stop_words,
            stemmer: self.stem.as_ref().map(|_| STEMMER_VERSION.to_owned()),
            stemming: self.stem,
            hash_bits: self.hash_bits,
            neighbours: self.neighbours,
            characters: self.characters,
            mail: None,
        };
        Tokenizer::new(&tokens)?;
        let length = if self.equal_length { DocumentLength::Normalized } else { DocumentLength::Counts };
        Ok(TextSettings { tokens, frequency: self.frequency, length })
    }
}

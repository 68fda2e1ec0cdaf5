//! The tokenizer: one scanner for each style, then the stages that all styles share.

use priory::Result;
use unicode_normalization::UnicodeNormalization;

use super::characters::CharacterScanner;
use super::settings::{LetterCase, Normalization, TokenSettings, TokenStyle};
use super::sklearn::SklearnScanner;
use super::stages::{Sink, Stages};
use super::words::WordScanner;

/// Finds the tokens of documents, one document after the other, reusing its buffers. Clone it for another thread.
///
/// Defined and bounded whatever the input: no token of the words style has more than 64 characters or, for addresses
/// and numbers, a short prefix more; a word without end is a `long:` token and is read once. Memory does not grow
/// with the document, except with what the caller keeps.
#[derive(Clone)]
pub struct Tokenizer {
    scanner: Scanner,
    stages: Stages,
    /// Set if documents that are not ASCII have to be normalised before they are scanned.
    normalized: Option<String>,
}

#[derive(Clone)]
enum Scanner {
    Words(WordScanner),
    Sklearn(SklearnScanner),
    Characters(CharacterScanner),
}

/// Text is normalised in pieces of so many bytes, which end at a space if there is one.
const NORMALIZED_AT_ONCE: usize = 1 << 16;

impl Tokenizer {
    /// A tokenizer for these settings.
    ///
    /// # Errors
    /// [`priory::Error::Settings`] if the settings make no sense; see [`TokenSettings::check`].
    pub fn new(settings: &TokenSettings) -> Result<Tokenizer> {
        settings.check()?;
        let lower = settings.case == LetterCase::Lower;
        let nfkc = settings.normalization == Normalization::Nfkc;
        let (scanner, normalize_first) = match settings.style {
            TokenStyle::Words => (Scanner::Words(WordScanner::new(lower, nfkc, settings.cjk)), false),
            TokenStyle::Sklearn => (Scanner::Sklearn(SklearnScanner::new(lower)), nfkc),
            TokenStyle::Characters(ngrams) => {
                (Scanner::Characters(CharacterScanner::new(ngrams, lower)), nfkc)
            }
        };
        let normalized = normalize_first.then(String::new);
        Ok(Tokenizer { scanner, stages: Stages::new(settings), normalized })
    }

    /// Shows each token of a document, in order.
    pub fn tokens(&mut self, document: &str, visit: impl FnMut(&str)) {
        self.stages.start_document();
        let sink = &mut self.stages.before(visit);
        self.scanner.start_document();
        scan(&mut self.scanner, &mut self.normalized, document, sink);
        self.scanner.finish_document(sink);
    }

    /// Shows each token of a document that may not be UTF-8. Invalid bytes stand for U+FFFD, as in
    /// [`String::from_utf8_lossy`], but nothing is copied.
    pub fn tokens_of_bytes(&mut self, document: &[u8], visit: impl FnMut(&str)) {
        self.stages.start_document();
        let sink = &mut self.stages.before(visit);
        self.scanner.start_document();
        let mut rest = document;
        loop {
            // Faster than `utf8_chunks`, which looks at every byte by itself.
            let error = match std::str::from_utf8(rest) {
                Ok(text) => {
                    scan(&mut self.scanner, &mut self.normalized, text, sink);
                    break;
                }
                Err(error) => error,
            };
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            let valid = std::str::from_utf8(valid).expect("found valid just now");
            scan(&mut self.scanner, &mut self.normalized, valid, sink);
            // Only n-grams of characters see the replacement; elsewhere it separates, as the end of a text does.
            if let Scanner::Characters(scanner) = &mut self.scanner {
                scanner.scan("\u{fffd}", sink);
            }
            match error.error_len() {
                Some(length) => rest = &invalid[length..],
                None => break,
            }
        }
        self.scanner.finish_document(sink);
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer").finish_non_exhaustive()
    }
}

impl Scanner {
    fn start_document(&mut self) {
        if let Scanner::Characters(scanner) = self {
            scanner.start_document();
        }
    }

    fn scan(&mut self, text: &str, sink: &mut impl Sink) {
        match self {
            Scanner::Words(scanner) => scanner.scan(text, sink),
            Scanner::Sklearn(scanner) => scanner.scan(text, sink),
            Scanner::Characters(scanner) => scanner.scan(text, sink),
        }
    }

    fn finish_document(&mut self, sink: &mut impl Sink) {
        if let Scanner::Characters(scanner) = self {
            scanner.finish_document(sink);
        }
    }
}

fn scan(scanner: &mut Scanner, normalized: &mut Option<String>, text: &str, sink: &mut impl Sink) {
    let Some(normalized) = normalized.as_mut().filter(|_| !text.is_ascii()) else {
        return scanner.scan(text, sink);
    };
    let mut rest = text;
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(NORMALIZED_AT_ONCE);
        let end = match rest[..most].rfind([' ', '\n']) {
            Some(space) if most < rest.len() => space + 1,
            _ => most,
        };
        normalized.clear();
        normalized.extend(rest[..end].chars().stream_safe().nfkc());
        scanner.scan(normalized, sink);
        rest = &rest[end..];
    }
}

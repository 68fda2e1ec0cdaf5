//! The tokenizer: one scanner for each style, then the stages that all styles share.

use priory::text::{LetterCase, Normalization, RUN, TokenSettings, TokenStyle};
use priory::vocabulary::ShortName;
use priory::{Error, Result, TextColumn};
use unicode_normalization::UnicodeNormalization;

use super::characters::CharacterScanner;
use super::mail::MAIL_VERSION;
use super::sklearn::SklearnScanner;
use super::spaces::SpaceScanner;
use super::stages::{Sink, Stages, Visitor};
use super::words::WordScanner;

/// The stemmer and its version. Stems change with the version, so a model that uses them records this string.
pub const STEMMER_VERSION: &str = "frostem 2.20261016.1";

/// The versions of Unicode that tokens depend on, as a string to record: word boundaries, normal forms, lower case,
/// and the tables that follow Python.
pub fn unicode_versions() -> String {
    let (a, b, c) = unicode_segmentation::UNICODE_VERSION;
    let (d, e, f) = unicode_normalization::UNICODE_VERSION;
    let (g, h, i) = char::UNICODE_VERSION;
    let python = super::python_tables::UNICODE_VERSION;
    format!("words {a}.{b}.{c}, nfkc {d}.{e}.{f}, case {g}.{h}.{i}, python {python}")
}

/// Finds the tokens of documents, one document after the other, reusing its buffers. Clone it for another thread.
///
/// Defined and bounded whatever the input: no token of the words style has more than 64 characters or, for addresses
/// and numbers, a short prefix more; a word without end is a `long:` token and is read once. Memory does not grow
/// with the document, except with what the caller keeps.
#[derive(Clone)]
pub struct Tokenizer {
    scanner: Scanner,
    stages: Stages,
    /// Finds runs of characters beside words, if they are counted.
    runs: Option<Runs>,
    /// Set if documents that are not ASCII have to be normalised before they are scanned.
    normalized: Option<String>,
}

#[derive(Clone)]
enum Scanner {
    Words(WordScanner),
    Sklearn(SklearnScanner),
    Characters(CharacterScanner),
    Spaces(SpaceScanner),
}

/// Finds runs of characters, and writes them so that they are not taken for words.
#[derive(Clone)]
struct Runs {
    scanner: Scanner,
    normalized: Option<String>,
    written: String,
}

/// Shows runs of characters between angles; what stands for the edge of a word is `_`, so that no run looks like a pair.
struct RunSink<'a, V> {
    written: &'a mut String,
    visit: V,
}

impl<V: Visitor> Sink for RunSink<'_, V> {
    fn word(&mut self, token: &str) {
        self.item(token);
    }

    fn short_word(&mut self, _: ShortName) -> bool {
        false
    }

    fn item(&mut self, token: &str) {
        self.written.clear();
        self.written.push(RUN[0]);
        self.written.extend(token.chars().map(|c| if c == ' ' { '_' } else { c }));
        self.written.push(RUN[1]);
        self.visit.token(self.written);
    }
}

/// Text is normalised in pieces of this many bytes, which end at a space if there is one.
const NORMALIZED_AT_ONCE: usize = 1 << 16;

impl Tokenizer {
    /// A tokenizer for these settings.
    ///
    /// # Errors
    /// [`priory::Error::Settings`] if the settings make no sense; see [`TokenSettings::check`].
    pub fn new(settings: &TokenSettings) -> Result<Tokenizer> {
        settings.check()?;
        check_stemmer(settings)?;
        check_mail(settings)?;
        let lower = settings.case == LetterCase::Lower;
        let nfkc = settings.normalization == Normalization::Nfkc;
        let (scanner, normalize_first) = match settings.style {
            TokenStyle::Words => {
                (Scanner::Words(WordScanner::new(lower, nfkc, settings.cjk, settings.neighbours)), false)
            }
            TokenStyle::Sklearn => (Scanner::Sklearn(SklearnScanner::new(lower)), nfkc),
            TokenStyle::Characters(ngrams) => {
                (Scanner::Characters(CharacterScanner::new(ngrams, lower)), nfkc)
            }
            TokenStyle::Spaces => (Scanner::Spaces(SpaceScanner::new(lower)), nfkc),
        };
        let normalized = normalize_first.then(String::new);
        let runs = settings.runs().map(|ngrams| Runs {
            scanner: Scanner::Characters(CharacterScanner::new(ngrams, lower)),
            normalized: nfkc.then(String::new),
            written: String::new(),
        });
        Ok(Tokenizer { scanner, stages: Stages::new(settings), runs, normalized })
    }

    /// Shows each token of a document, in order.
    pub fn tokens(&mut self, document: &str, visit: impl FnMut(&str)) {
        self.show(document, visit);
    }

    fn show(&mut self, document: &str, visit: impl Visitor) {
        self.stages.start_document();
        let mut sink = self.stages.before(visit);
        self.scanner.start_document();
        scan(&mut self.scanner, &mut self.normalized, document, &mut sink);
        self.scanner.finish_document(&mut sink);
        let visit = sink.end_document();
        self.show_runs([document], visit);
    }

    /// Shows the runs of characters of a document that comes in parts.
    fn show_runs<'d>(&mut self, parts: impl IntoIterator<Item = &'d str>, visit: impl Visitor) {
        let Some(Runs { scanner, normalized, written }) = &mut self.runs else { return };
        let sink = &mut RunSink { written, visit };
        scanner.start_document();
        parts.into_iter().for_each(|part| scan(scanner, normalized, part, sink));
        scanner.finish_document(sink);
    }

    /// Reads a document into the next row of a column.
    pub fn read(&mut self, document: &str, column: &mut TextColumn) {
        self.show(document, &mut *column);
        column.end_document_written(document);
    }

    /// Reads a document that may not be UTF-8 into the next row of a column.
    pub fn read_bytes(&mut self, document: &[u8], column: &mut TextColumn) {
        self.show_bytes(document, &mut *column);
        column.end_document_written(&String::from_utf8_lossy(if column.keeps_documents() {
            document
        } else {
            b""
        }));
    }

    /// Shows each token of a document that may not be UTF-8. Invalid bytes stand for U+FFFD, as in
    /// [`String::from_utf8_lossy`], but nothing is copied.
    pub fn tokens_of_bytes(&mut self, document: &[u8], visit: impl FnMut(&str)) {
        self.show_bytes(document, visit);
    }

    fn show_bytes(&mut self, document: &[u8], visit: impl Visitor) {
        self.stages.start_document();
        let mut sink = self.stages.before(visit);
        self.scanner.start_document();
        let mut rest = document;
        loop {
            // Faster than `utf8_chunks`, which looks at every byte by itself.
            let error = match std::str::from_utf8(rest) {
                Ok(text) => {
                    scan(&mut self.scanner, &mut self.normalized, text, &mut sink);
                    break;
                }
                Err(error) => error,
            };
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            let valid = std::str::from_utf8(valid).expect("found valid just now");
            scan(&mut self.scanner, &mut self.normalized, valid, &mut sink);
            // Only n-grams of characters see the replacement; elsewhere it separates, as the end of a text does.
            if let Scanner::Characters(scanner) = &mut self.scanner {
                scanner.scan("\u{fffd}", &mut sink);
            }
            match error.error_len() {
                Some(length) => rest = &invalid[length..],
                None => break,
            }
        }
        self.scanner.finish_document(&mut sink);
        let visit = sink.end_document();
        let parts = document
            .utf8_chunks()
            .flat_map(|chunk| [chunk.valid(), if chunk.invalid().is_empty() { "" } else { "\u{fffd}" }]);
        self.show_runs(parts, visit);
    }
}

/// There must be a stemmer for the language, and it must be the one that the model was trained with.
fn check_stemmer(settings: &TokenSettings) -> Result<()> {
    if let Some(language) = &settings.stemming
        && frostem::Algorithm::from_name(language).is_err()
    {
        let known: Vec<_> = frostem::Algorithm::all().iter().map(|a| a.name()).collect();
        return Err(Error::Settings(format!("no stemmer for `{language}`; there are {}", known.join(", "))));
    }
    match &settings.stemmer {
        Some(other) if other != STEMMER_VERSION => Err(Error::Settings(format!(
            "the model's words were stemmed by {other}; this program has {STEMMER_VERSION}, whose stems may differ"
        ))),
        _ => Ok(()),
    }
}

/// Mails must be taken apart as they were when the model was trained.
fn check_mail(settings: &TokenSettings) -> Result<()> {
    match settings.mail {
        Some(other) if other != MAIL_VERSION => Err(Error::Settings(format!(
            "the model's mails were taken apart by rules of version {other}; this program has version {MAIL_VERSION}"
        ))),
        _ => Ok(()),
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
            Scanner::Spaces(scanner) => scanner.scan(text, sink),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use priory::text::{CharacterNgrams, Cjk, Reach, StopWords, WordNgrams};

    fn tokens(settings: &TokenSettings, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Tokenizer::new(settings).unwrap().tokens(text, |token| found.push(token.to_owned()));
        found
    }

    fn tokens_of_bytes(settings: &TokenSettings, bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        Tokenizer::new(settings).unwrap().tokens_of_bytes(bytes, |token| found.push(token.to_owned()));
        found
    }

    fn words() -> TokenSettings {
        TokenSettings::default()
    }

    fn ngrams(min: u8, max: u8) -> TokenSettings {
        TokenSettings { ngrams: WordNgrams { min, max }, ..words() }
    }

    fn characters(min: u8, max: u8, reach: Reach) -> TokenSettings {
        TokenSettings { style: TokenStyle::Characters(CharacterNgrams { min, max, reach }), ..words() }
    }

    #[test]
    fn neighbours_are_joined() {
        assert_eq!(tokens(&ngrams(1, 2), "a b c"), ["a", "b", "a b", "c", "b c"]);
        assert_eq!(tokens(&ngrams(3, 3), "A $5, c d"), ["a money:$1digits c", "money:$1digits c d"]);
        assert!(tokens(&ngrams(2, 3), "alone").is_empty());
    }

    #[test]
    fn neighbours_come_with_punctuation_and_the_ends_of_documents() {
        let neighbours = TokenSettings { neighbours: true, ..words() };
        assert_eq!(
            tokens(&neighbours, "Why not, (me)?"),
            [
                "why",
                "⟨start⟩ why",
                "not",
                "why not",
                ",",
                "not ,",
                "(",
                ", (",
                "me",
                "( me",
                ")",
                "me )",
                "?",
                ") ?",
                "? ⟨end⟩"
            ]
        );
        // Signs that belong to something are no punctuation.
        let singles = |text: &str| {
            let mut found = tokens(&neighbours, text);
            found.retain(|token| !token.contains(' '));
            found
        };
        assert_eq!(
            singles("don’t pay $5 to www.example.com!"),
            ["don't", "pay", "money:$1digits", "to", "url:example.com", "!"]
        );
        assert_eq!(singles("«naïve» 😀 € 5% _x_"), ["«", "naïve", "»", "😀", "€", "5", "%", "x"]);
        assert!(tokens(&neighbours, " \n").is_empty());
        assert_eq!(tokens(&neighbours, "one"), ["one", "⟨start⟩ one", "one ⟨end⟩"]);
        assert_eq!(singles("⟨start⟩"), ["⟨", "start", "⟩"]);
    }

    #[test]
    fn runs_of_characters_stand_beside_words() {
        let characters = Some(CharacterNgrams { min: 3, max: 4, reach: Reach::Inside });
        let beside = TokenSettings { neighbours: true, characters, ..words() };
        let runs = |text: &str| {
            let mut found = tokens(&beside, text);
            found.retain(|token| token.starts_with('‹') && token.chars().nth(1).is_some_and(|c| c != ' '));
            found
        };
        assert_eq!(runs("Ab, c"), ["‹_ab›", "‹ab,›", "‹_ab,›", "‹b,_›", "‹ab,_›", "‹_c_›"]);
        // Documents that have such marks themselves.
        assert_eq!(runs("‹ ›"), ["‹_‹_›", "‹_›_›"]);
        assert_eq!(tokens(&beside, "b‹")[..4], ["b", "⟨start⟩ b", "‹", "b ‹"]);
        let without = TokenSettings { characters: None, ..beside.clone() };
        let rest: Vec<String> =
            tokens(&beside, "Ab, c").into_iter().filter(|token| !token.starts_with('‹')).collect();
        assert_eq!(rest, tokens(&without, "Ab, c"));
        let mut of_bytes = tokens_of_bytes(&beside, b"a\xff b");
        of_bytes.retain(|token| token.starts_with('‹'));
        assert_eq!(of_bytes, runs("a\u{fffd} b"));
        // Alone they are nothing: only judgements weigh them.
        assert_eq!(tokens(&TokenSettings { neighbours: false, ..beside.clone() }, "Ab, c"), ["ab", "c"]);
        assert!(Tokenizer::new(&TokenSettings { hash_bits: Some(9), neighbours: false, ..beside }).is_err());
    }

    #[test]
    fn documents_do_not_touch() {
        let mut tokenizer = Tokenizer::new(&ngrams(2, 2)).unwrap();
        let mut found = Vec::new();
        tokenizer.tokens("a b", |token| found.push(token.to_owned()));
        tokenizer.tokens("c d", |token| found.push(token.to_owned()));
        assert_eq!(found, ["a b", "c d"]);
        let mut tokenizer = Tokenizer::new(&characters(2, 2, Reach::Across)).unwrap();
        tokenizer.tokens_of_bytes(b"x \xff", |_| {});
        tokenizer.tokens("yz", |token| found.push(token.to_owned()));
        assert_eq!(found[2..], ["yz"]);
    }

    #[test]
    fn stop_words_go_before_neighbours_meet() {
        let english = TokenSettings { stop_words: StopWords::English, ..ngrams(1, 2) };
        assert_eq!(tokens(&english, "The cat and the hat"), ["cat", "hat", "cat hat"]);
        assert_eq!(tokens(&english, "this is not good"), ["not", "good", "not good"]);
        let given = StopWords::Given(["CAT".to_owned(), "$5".to_owned()].into());
        assert_eq!(tokens(&TokenSettings { stop_words: given, ..words() }, "Cat hat"), ["hat"]);
    }

    #[test]
    fn words_are_stemmed_and_nothing_else_is() {
        let english = TokenSettings { stemming: Some("en".into()), ..words() };
        let text = "Connections connected running@example.com http://connections.com/running $100";
        let expected = [
            "connect",
            "connect",
            "running@example.com",
            "@example.com",
            "url:connections.com",
            "run",
            "money:$3digits",
        ];
        assert_eq!(tokens(&english, text), expected);
        let german = TokenSettings { stemming: Some("german".into()), ..words() };
        assert_eq!(tokens(&german, "Automaten Häuser"), ["automat", "haus"]);
    }

    #[test]
    fn the_stemmer_is_the_one_that_was_trained_with() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let version = STEMMER_VERSION.strip_prefix("frostem ").unwrap();
        assert!(std::fs::read_to_string(root).unwrap().contains(&format!("frostem = \"={version}\"")));
        let english = TokenSettings { stemming: Some("english".into()), ..words() };
        assert!(Tokenizer::new(&TokenSettings { stemming: Some("klingon".into()), ..words() }).is_err());
        assert!(Tokenizer::new(&TokenSettings { stemmer: Some("frostem 1".into()), ..english }).is_err());
    }

    #[test]
    fn buckets_never_change() {
        let hashed = |bits| TokenSettings { hash_bits: Some(bits), ..words() };
        // The low bits of rapidhash V3; a change would make every model with hashed tokens useless.
        assert_eq!(tokens(&hashed(20), "free money naïve"), ["876696", "444678", "496587"]);
        assert!(tokens(&hashed(1), "a b c d e f").iter().all(|bucket| bucket == "0" || bucket == "1"));
    }

    #[test]
    fn characters_inside_and_across() {
        assert_eq!(tokens(&characters(3, 3, Reach::Inside), "ab c"), [" ab", "ab ", " c "]);
        assert_eq!(tokens(&characters(5, 6, Reach::Inside), "ab"), [" ab "]);
        assert_eq!(tokens(&characters(2, 2, Reach::Across), "A \n b"), ["a ", " b"]);
        assert_eq!(tokens(&characters(1, 1, Reach::Across), "a\n"), ["a", "\n"]);
        let long = "x".repeat(100_000);
        assert_eq!(tokens(&characters(1, 3, Reach::Across), &long).len(), 299_997);
        assert_eq!(tokens(&characters(3, 3, Reach::Inside), &long).len(), 100_000);
    }

    #[test]
    fn long_words_in_the_style_of_sklearn() {
        let sklearn = TokenSettings { style: TokenStyle::Sklearn, ..words() };
        for c in ["a", "A", "é", "É"] {
            assert_eq!(tokens(&sklearn, &c.repeat(1 << 16)), [c.to_lowercase().repeat(1 << 16)]);
            assert_eq!(tokens(&sklearn, &c.repeat((1 << 16) + 1)), ["long:131072"]);
        }
    }

    #[test]
    fn normal_forms() {
        let nfkc = |settings| TokenSettings { normalization: Normalization::Nfkc, ..settings };
        let sklearn = TokenSettings { style: TokenStyle::Sklearn, ..words() };
        assert_eq!(tokens(&nfkc(sklearn), "ﬁne e\u{301}te\u{301}"), ["fine", "été"]);
        assert_eq!(tokens(&nfkc(characters(2, 2, Reach::Across)), "ﬁ"), ["fi"]);
        // Accents without end are cut by characters that cannot be seen, and then left out with them.
        let accents = "e".to_owned() + &"\u{301}".repeat(100_000);
        assert_eq!(tokens(&nfkc(words()), &accents), ["long:4096"]);
    }

    fn any_settings() -> impl Strategy<Value = TokenSettings> {
        let style = prop_oneof![
            Just(TokenStyle::Words),
            Just(TokenStyle::Sklearn),
            (1u8..5, 0u8..3, any::<bool>()).prop_map(|(min, more, inside)| {
                let reach = if inside { Reach::Inside } else { Reach::Across };
                TokenStyle::Characters(CharacterNgrams { min, max: min + more, reach })
            }),
        ];
        let language = prop::sample::select(frostem::Algorithm::all());
        (style, any::<[bool; 6]>(), 1u8..4, 0u8..3, language).prop_map(|(style, on, min, more, language)| {
            let words = !matches!(style, TokenStyle::Characters(_));
            TokenSettings {
                style,
                case: if on[0] { LetterCase::Lower } else { LetterCase::Keep },
                normalization: if on[1] { Normalization::Nfkc } else { Normalization::None },
                ngrams: if words && on[2] {
                    WordNgrams { min, max: min + more }
                } else {
                    WordNgrams::default()
                },
                cjk: if on[3] { Cjk::Bigrams } else { Cjk::Words },
                stop_words: if words && on[3] { StopWords::English } else { StopWords::None },
                stemming: (words && on[4]).then(|| language.name().to_owned()),
                stemmer: None,
                hash_bits: on[5].then_some(12),
                neighbours: false,
                characters: None,
                mail: None,
            }
        })
    }

    proptest! {
        #[test]
        fn bytes_are_read_as_if_replaced(settings in any_settings(), bytes in mostly_text()) {
            let text = String::from_utf8_lossy(&bytes);
            prop_assert_eq!(tokens_of_bytes(&settings, &bytes), tokens(&settings, &text));
        }

        #[test]
        fn ngrams_can_be_counted(text in "[a-z .]{0,80}", min in 1u8..5, more in 0u8..4) {
            let single = tokens(&words(), &text).len();
            let joined = tokens(&ngrams(min, min + more), &text);
            let expected: usize = (min..=min + more).map(|n| (single + 1).saturating_sub(usize::from(n))).sum();
            prop_assert_eq!(joined.len(), expected);
            let spaces = |token: &String| token.matches(' ').count() as u8;
            prop_assert!(joined.iter().all(|token| (min..=min + more).contains(&(spaces(token) + 1))));
        }

        #[test]
        fn runs_of_characters_can_be_counted(text in "[^\\s\x1c-\x1f]{0,40}", n in 1u8..8) {
            let length = text.to_lowercase().chars().count();
            let found = tokens(&characters(n, n, Reach::Across), &text);
            prop_assert_eq!(found.len(), (length + 1).saturating_sub(usize::from(n)));
            let found = tokens(&characters(n, n, Reach::Inside), &text);
            let expected = if length == 0 { 0 } else { (length + 3).saturating_sub(usize::from(n)).max(1) };
            prop_assert_eq!(found.len(), expected);
        }
    }

    fn mostly_text() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            4 => any::<String>().prop_map(String::into_bytes),
            4 => "[a-zA-Z .@:/']{0,20}".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..8),
            1 => Just("ΑΣ".as_bytes().to_vec()),
            1 => Just("\u{fffd}".as_bytes().to_vec()),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }
}

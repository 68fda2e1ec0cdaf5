//! What a token is and how much it counts: plain data, stored in the schema, so that what was trained is what predicts.

pub use crate::families::text::MOST_TOKENS;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Everything that decides what is counted of a column of documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextSettings {
    /// Which tokens a document has.
    pub tokens: TokenSettings,
    /// What a token counts that occurs several times.
    #[serde(skip_serializing_if = "TermFrequency::is_default")]
    pub frequency: TermFrequency,
    /// Whether long documents count more than short ones.
    #[serde(skip_serializing_if = "DocumentLength::is_default")]
    pub length: DocumentLength,
}

/// What a token counts that occurs f times in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermFrequency {
    /// f: every occurrence as much as the first.
    #[default]
    Counts,
    /// log(1 + f): words come in bursts, and the tenth occurrence says less than the first (Rennie et al. 2003).
    Logarithm,
}

/// Whether long documents count more than short ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentLength {
    /// They do, by their words.
    #[default]
    Counts,
    /// They do not: the counts of a document are divided by the root of the sum of their squares.
    Normalized,
}

impl TermFrequency {
    fn is_default(&self) -> bool {
        *self == TermFrequency::default()
    }
}

impl DocumentLength {
    fn is_default(&self) -> bool {
        *self == DocumentLength::default()
    }
}

/// Logarithms and quotients are rounded to multiples of this: then their sums are exact in an f64 up to 2^29, like
/// whole numbers, and a table of them pays nothing for being exact.
const GRAIN: f64 = 1.0 / (1 << 24) as f64;

impl TextSettings {
    /// Settings with these tokens, of which every occurrence counts.
    pub fn new(tokens: TokenSettings) -> Self {
        TextSettings { tokens, ..TextSettings::default() }
    }

    /// Appends what the tokens of a document count, from how often each of them occurs in it.
    pub(crate) fn push_amounts(&self, document: &[(u32, u32)], amounts: &mut Vec<f64>) {
        let start = amounts.len();
        let occurrences = document.iter().map(|&(_, occurrences)| f64::from(occurrences));
        match self.frequency {
            TermFrequency::Counts => amounts.extend(occurrences),
            TermFrequency::Logarithm => amounts.extend(occurrences.map(libm::log1p)),
        }
        let amounts = &mut amounts[start..];
        if self.length == DocumentLength::Normalized {
            let norm = libm::sqrt(amounts.iter().map(|x| x * x).sum());
            amounts.iter_mut().for_each(|x| *x /= norm);
        }
        if !self.counts_occurrences() {
            amounts.iter_mut().for_each(|x| *x = libm::round(*x / GRAIN) * GRAIN);
        }
    }

    /// Whether a token counts as often as it occurs.
    pub(crate) fn counts_occurrences(&self) -> bool {
        self.frequency.is_default() && self.length.is_default()
    }
}

/// Everything that decides which tokens a document has.
///
/// | setting | default | range |
/// |---|---|---|
/// | `style` | words | see [`TokenStyle`] |
/// | `case` | lower | see [`LetterCase`] |
/// | `normalization` | none | see [`Normalization`] |
/// | `ngrams` | 1 to 1 | 1 ≤ min ≤ max ≤ 8; not for characters |
/// | `cjk` | bigrams | see [`Cjk`]; for words |
/// | `stop_words` | none | see [`StopWords`]; not for characters |
/// | `stemming` | none | a language such as `english` or `en`; not for characters |
/// | `hash_bits` | none | 1 to 30 |
/// | `neighbours` | no | for words, not hashed and without n-grams of their own |
/// | `characters` | none | 1 ≤ min ≤ max ≤ 16, beside `neighbours` |
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenSettings {
    /// How a document is cut up.
    pub style: TokenStyle,
    /// Whether `Free` and `free` are one token.
    pub case: LetterCase,
    /// Whether characters that look alike become one character.
    pub normalization: Normalization,
    /// How many neighbouring words make up a token.
    pub ngrams: WordNgrams,
    /// What to do with scripts that put no spaces between words.
    pub cjk: Cjk,
    /// Words that are left out. They are left out before neighbours are joined, as scikit-learn does it.
    pub stop_words: StopWords,
    /// The language by whose Snowball stemmer words are cut down to their stems. Words of more than 64 characters
    /// and tokens that are no words (addresses, numbers, …) are left as they are.
    pub stemming: Option<String>,
    /// The stemmer and its version, since stems change with it; whoever builds the tokenizer fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stemmer: Option<String>,
    /// Replaces each token by one of 2^b buckets: the low b bits of rapidhash V3 of its bytes (default seed), written
    /// in decimal. The hash is the same on every platform and in every version of priory.
    pub hash_bits: Option<u8>,
    /// Whether punctuation, pairs of neighbours and the ends of documents are counted beside the words. Judgements weigh
    /// them; a textbook model passes over them, so that it is the same with and without.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub neighbours: bool,
    /// Which runs of characters are counted beside words and their neighbours, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<CharacterNgrams>,
    /// The rules by which mails were taken apart into this column and others, since evidence changes with them; whoever builds a
    /// schema for mail fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail: Option<u8>,
}

/// How a document is cut up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenStyle {
    /// Words as readers see them; web and mail addresses, numbers and amounts of money as tokens that say something
    /// about the class.
    ///
    /// | in the document | token |
    /// |---|---|
    /// | `Don’t`, `e.g`, `foo_bar`, `win32` | `don't`, `e.g`, `foo_bar`, `win32` (Unicode's word boundaries, UAX #29) |
    /// | `https://bob@www.Example.com:80/some/path?x=1` | `url:example.com`, then the words of the path; no query |
    /// | `www.example.com` | `url:example.com` |
    /// | `Bob@Example.com` | `bob@example.com`, `@example.com` |
    /// | `1984`, `3.5` | as they stand, up to four digits: years, models and short codes tell topics apart |
    /// | `0800123456`, `12,345.67` | `num:10digits`, `num:7digits`: telephone numbers are spam by their shape |
    /// | `$9.99`, `1,000€` | `money:$1digits`, `money:€4digits`: the currency and the digits before the point |
    /// | `😀` | `😀`, without skin tone or joined partners |
    /// | a word of more than 64 characters | `long:128`, `long:256`, …: the next power of two |
    ///
    /// Characters that cannot be seen (zero-width, bidirectional controls, soft hyphens, variation selectors) are
    /// taken out, so that `v<ZWSP>iagra` is `viagra`. Other control characters separate words.
    #[default]
    Words,
    /// What scikit-learn's CountVectorizer takes for words by default: `(?u)\b\w\w+\b` on the lower-cased document,
    /// as Python defines `\w` and `str.lower()`. Only runs of more than 65 536 characters differ: they are one token
    /// `long:131072`, …
    Sklearn,
    /// All runs of n neighbouring characters.
    Characters(CharacterNgrams),
    /// Whatever stands between spaces, for documents that were cut up before. A token of more than 128 characters is replaced by
    /// its length, such as `long:256`.
    Spaces,
}

impl TokenStyle {
    /// Whether tokens are words, beside which there may be punctuation.
    fn has_words(self) -> bool {
        matches!(self, TokenStyle::Words | TokenStyle::Sklearn)
    }
}

impl TokenStyle {
    /// The runs of characters, if tokens are such.
    fn characters(self) -> Option<CharacterNgrams> {
        if let TokenStyle::Characters(ngrams) = self { Some(ngrams) } else { None }
    }
}

/// Runs of min to max characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CharacterNgrams {
    /// Fewest characters, at least 1.
    pub min: u8,
    /// Most characters, at most 16.
    pub max: u8,
    /// Whether a run may go across a space.
    pub reach: Reach,
}

impl Default for CharacterNgrams {
    fn default() -> Self {
        CharacterNgrams { min: 1, max: 4, reach: Reach::Inside }
    }
}

/// How far a run of characters may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Inside a word with one space on either side; a shorter word counts once, whole. scikit-learn's `char_wb`.
    #[default]
    Inside,
    /// Across the whole document, in which several spaces in a row are one. scikit-learn's `char`.
    Across,
}

/// Whether capital letters are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LetterCase {
    /// Everything in lower case. Words: character by character, so that Σ, σ and ς are one letter and İ is i.
    /// Other styles: Python's `str.lower()`.
    #[default]
    Lower,
    /// As written.
    Keep,
}

/// Whether characters that look alike become one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// Characters as they are.
    #[default]
    None,
    /// Unicode's compatibility composition: ﬁ becomes fi, full-width and mathematical letters become plain ones,
    /// accents are joined to their letters.
    Nfkc,
}

/// Runs of min to max neighbouring words, joined by a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WordNgrams {
    /// Fewest words, at least 1.
    pub min: u8,
    /// Most words, at most 8.
    pub max: u8,
}

impl Default for WordNgrams {
    fn default() -> Self {
        WordNgrams { min: 1, max: 1 }
    }
}

/// What to do with scripts that put no spaces between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cjk {
    /// Each two neighbouring characters are a token; a single one stands for itself. Holds for Han, Hiragana,
    /// Katakana, Bopomofo, and Thai, Lao, Burmese and Khmer, which have no spaces either. Hangul has them, but its
    /// words end in particles without number, and pairs of syllables find the stem again: it is paired as well,
    /// inside its words.
    #[default]
    Bigrams,
    /// Unicode's word boundaries: single characters in Han, Hiragana and Thai, words in Katakana and Hangul.
    Words,
}

/// Words that are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopWords {
    /// Every word counts.
    #[default]
    None,
    /// A short list of English function words. Negations are not among them: they matter for opinions.
    English,
    /// These words; they are put into lower case if the document is.
    Given(BTreeSet<String>),
}

impl TokenSettings {
    /// Checks that the settings make sense together. Whether there is a stemmer for the language is known to the
    /// tokenizer alone.
    ///
    /// # Errors
    /// [`Error::Settings`] says which one does not.
    pub fn check(&self) -> Result<()> {
        let WordNgrams { min, max } = self.ngrams;
        if min < 1 || max < min || max > 8 {
            return wrong(format!("word n-grams of {min} to {max}: expected 1 ≤ min ≤ max ≤ 8"));
        }
        for CharacterNgrams { min, max, .. } in self.style.characters().into_iter().chain(self.characters) {
            if min < 1 || max < min || max > 16 {
                return wrong(format!("character n-grams of {min} to {max}: expected 1 ≤ min ≤ max ≤ 16"));
            }
        }
        if self.style.characters().is_some() {
            if self.ngrams != WordNgrams::default() {
                return wrong("word n-grams need words: choose another style than characters".into());
            }
            if self.stop_words != StopWords::None {
                return wrong("stop words need words: choose another style than characters".into());
            }
            if self.stemming.is_some() {
                return wrong("stemming needs words: choose another style than characters".into());
            }
        }
        let is_plain = self.style.has_words() && self.ngrams == WordNgrams::default();
        let is_joined = !is_plain || self.hash_bits.is_some();
        if self.neighbours && is_joined {
            return wrong("neighbours need words that are neither hashed nor joined otherwise".into());
        }
        if self.characters.is_some() && is_joined {
            return wrong("runs of characters are counted beside words, neither hashed nor joined".into());
        }
        if let Some(bits) = self.hash_bits
            && !(1..=30).contains(&bits)
        {
            return wrong(format!("hashing to 2^{bits} features: expected 1 to 30 bits"));
        }
        Ok(())
    }
}

/// Stands for the beginning of a document among neighbours, and for its end. No scanner finds such words.
pub const START: &str = "⟨start⟩";
/// The end.
pub const END: &str = "⟨end⟩";

/// Whether a character is a mark of punctuation, which may be counted beside the words: neither letter nor digit, white space
/// or picture.
pub fn is_mark(c: char) -> bool {
    let is_picture = matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}');
    !(c.is_alphanumeric() || c == '_' || c.is_whitespace() || c.is_control() || is_picture)
}

impl TokenSettings {
    /// Whether a token is counted for judgements alone: see [`neighbours`](Self::neighbours).
    pub(crate) fn is_beside_words(&self, token: &str) -> bool {
        self.neighbours && is_beside(token)
    }

    /// Whether a token was found beside words that are counted without neighbours: documents may have been read before it
    /// turned out that there are too many pairs.
    pub(crate) fn passes_over(&self, token: &str) -> bool {
        let is_plain = self.style.has_words() && self.ngrams == WordNgrams::default();
        is_plain && !self.neighbours && self.hash_bits.is_none() && is_beside(token)
    }

    /// The runs of characters that are counted beside words and their neighbours.
    pub fn runs(&self) -> Option<CharacterNgrams> {
        self.characters.filter(|_| self.neighbours)
    }

    /// What the kinds of tokens are called that a judgement tells apart.
    pub(crate) fn names_of_orders(&self) -> &'static [&'static str] {
        match (self.orders(), self.neighbours) {
            (1, _) if self.style.characters().is_some() => &["characters"],
            (_, true) => &["words", "pairs", "characters"][..self.orders()],
            (orders, false) => &["words", "pairs", "longer"][..orders],
        }
    }

    /// How many kinds of tokens a judgement tells apart: words, pairs of them, and longer n-grams or runs of characters.
    pub(crate) fn orders(&self) -> usize {
        match self.style {
            TokenStyle::Characters(_) => 1,
            _ if self.hash_bits.is_some() => 1,
            _ if self.neighbours => 2 + usize::from(self.characters.is_some()),
            _ => (1 + usize::from(self.ngrams.max - self.ngrams.min)).min(MOST_ORDERS),
        }
    }

    /// Which of them a token is.
    pub(crate) fn order_of(&self, token: &str) -> usize {
        match self.orders() {
            1 => 0,
            _ if self.runs().is_some() && is_run(token) => 2,
            orders => {
                let spaces = token.bytes().filter(|&b| b == b' ').count();
                (spaces + 1).saturating_sub(usize::from(self.ngrams.min)).min(orders - 1)
            }
        }
    }
}

/// Whether a token is a mark of punctuation, a pair or a run of characters.
fn is_beside(token: &str) -> bool {
    let mut characters = token.chars();
    let is_single_mark = characters.next().is_some_and(is_mark) && characters.next().is_none();
    is_single_mark || token.contains(' ') || is_run(token)
}

/// What runs of characters begin and end with when they are counted beside words: `‹ing_›` ends a word. A mark like that is a
/// token by itself, and a pair has a space after it.
pub const RUN: [char; 2] = ['‹', '›'];

fn is_run(token: &str) -> bool {
    token.strip_prefix(RUN[0]).is_some_and(|rest| !rest.is_empty() && !rest.starts_with(' '))
}

/// Longer n-grams are of one kind.
const MOST_ORDERS: usize = 3;

fn wrong(what: String) -> Result<()> {
    Err(Error::Settings(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_json() {
        let settings = TokenSettings {
            style: TokenStyle::Characters(CharacterNgrams { min: 3, max: 5, reach: Reach::Across }),
            stop_words: StopWords::Given(["a".to_owned()].into()),
            hash_bits: Some(20),
            ..TokenSettings::default()
        };
        let json = serde_json::to_string(&settings).unwrap();
        assert_eq!(
            json,
            r#"{"style":{"characters":{"min":3,"max":5,"reach":"across"}},"case":"lower","normalization":"none","ngrams":{"min":1,"max":1},"cjk":"bigrams","stop_words":{"given":["a"]},"stemming":null,"hash_bits":20}"#
        );
        assert_eq!(serde_json::from_str::<TokenSettings>(&json).unwrap(), settings);
        assert_eq!(serde_json::from_str::<TokenSettings>("{}").unwrap(), TokenSettings::default());
        assert!(serde_json::from_str::<TokenSettings>(r#"{"styl":"words"}"#).is_err());
    }

    #[test]
    fn nonsense_is_refused() {
        let words = TokenSettings::default;
        let characters = || TokenSettings {
            style: TokenStyle::Characters(CharacterNgrams::default()),
            ..TokenSettings::default()
        };
        let ngrams = |min, max| WordNgrams { min, max };
        assert!(words().check().is_ok());
        assert!(characters().check().is_ok());
        for settings in [
            TokenSettings { ngrams: ngrams(0, 1), ..words() },
            TokenSettings { ngrams: ngrams(2, 1), ..words() },
            TokenSettings { ngrams: ngrams(1, 9), ..words() },
            TokenSettings { ngrams: ngrams(1, 2), ..characters() },
            TokenSettings { stop_words: StopWords::English, ..characters() },
            TokenSettings { stemming: Some("english".into()), ..characters() },
            TokenSettings { hash_bits: Some(0), ..words() },
            TokenSettings { hash_bits: Some(31), ..words() },
            TokenSettings { neighbours: true, ..characters() },
            TokenSettings { neighbours: true, hash_bits: Some(8), ..words() },
            TokenSettings { neighbours: true, ngrams: ngrams(1, 2), ..words() },
        ] {
            assert!(matches!(settings.check(), Err(Error::Settings(_))), "{settings:?}");
        }
    }
}

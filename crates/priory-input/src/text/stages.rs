//! What happens to a token between the scanner and the visitor: stop words, stems, n-grams, hashing, in this order.

use priory::TextColumn;
use priory::text::{END, LetterCase, START, StopWords, TokenSettings};
use priory::vocabulary::ShortName;
use rapidhash::{RapidHashMap, RapidHashSet};

use super::stop_words::ENGLISH;

/// A word of more characters is replaced by its length class, and none is stemmed.
pub(super) const LONGEST_WORD: usize = 64;

/// Distinct words whose stems are remembered; the most frequent ones come early and are most of any text.
const STEMS_REMEMBERED: usize = 1 << 16;

/// Where scanners put what they find.
pub(super) trait Sink {
    /// A word: may be a stop word, may be stemmed.
    fn word(&mut self, token: &str);
    /// A short word, by value, if it is taken like this; most are.
    fn short_word(&mut self, token: ShortName) -> bool;
    /// Something else that counts as a word: an address, a number, a pair of characters.
    fn item(&mut self, token: &str);
    /// A run that is so long that only its length counts.
    fn long(&mut self, characters: usize) {
        let mut text = [0; 32];
        self.item(decimal(&mut text, "long:", characters.next_power_of_two() as u64, ""));
    }
}

/// Where tokens go in the end.
pub(super) trait Visitor {
    fn token(&mut self, token: &str);
    /// A short token, if it is taken by value.
    fn short(&mut self, token: ShortName) -> bool;
}

impl<V: FnMut(&str)> Visitor for V {
    fn token(&mut self, token: &str) {
        self(token);
    }

    #[inline(always)]
    fn short(&mut self, _token: ShortName) -> bool {
        false
    }
}

impl Visitor for &mut TextColumn {
    #[inline]
    fn token(&mut self, token: &str) {
        self.add(token);
    }

    #[inline(always)]
    fn short(&mut self, token: ShortName) -> bool {
        self.add_short(token);
        true
    }
}

/// The stages that are switched on, with their memory.
#[derive(Clone)]
pub(super) struct Stages {
    stop_words: Option<RapidHashSet<Box<str>>>,
    stems: Option<Stems>,
    ngrams: Option<LastWords>,
    /// All ones below the number of bits.
    hash_mask: Option<u64>,
    /// None of the above: tokens go straight to the visitor.
    nothing_to_do: bool,
}

/// A stemmer, and what it made of the words so far.
#[derive(Clone)]
struct Stems {
    stemmer: frostem::Stemmer,
    known: RapidHashMap<Box<str>, Box<str>>,
}

/// The last few words, joined by spaces, and where each of them starts.
#[derive(Clone)]
struct LastWords {
    min: usize,
    max: usize,
    text: String,
    starts: Vec<usize>,
    /// Whether the ends of the document are words as well.
    has_ends: bool,
}

impl Stages {
    /// The settings have been checked.
    pub(super) fn new(settings: &TokenSettings) -> Self {
        let stop_words: Option<RapidHashSet<Box<str>>> = match &settings.stop_words {
            StopWords::None => None,
            StopWords::English => Some(ENGLISH.iter().map(|&word| word.into()).collect()),
            StopWords::Given(words) => Some(match settings.case {
                LetterCase::Lower => words.iter().map(|word| word.to_lowercase().into()).collect(),
                LetterCase::Keep => words.iter().map(|word| word.as_str().into()).collect(),
            }),
        };
        let stemmer =
            settings.stemming.as_deref().and_then(|name| frostem::Stemmer::try_from_name(name).ok());
        let stems = stemmer.map(|stemmer| Stems { stemmer, known: RapidHashMap::default() });
        let (min, max) = (usize::from(settings.ngrams.min), usize::from(settings.ngrams.max));
        let has_ends = settings.neighbours;
        let max = if has_ends { 2 } else { max };
        let (text, starts) = (String::new(), Vec::new());
        let ngrams = (max > 1).then_some(LastWords { min, max, text, starts, has_ends });
        let hash_mask = settings.hash_bits.map(|bits| (1 << bits) - 1);
        let nothing_to_do =
            stop_words.is_none() && stems.is_none() && ngrams.is_none() && hash_mask.is_none();
        Stages { stop_words, stems, ngrams, hash_mask, nothing_to_do }
    }

    /// Forgets the previous document's last words.
    pub(super) fn start_document(&mut self) {
        if let Some(window) = &mut self.ngrams {
            window.text.clear();
            window.starts.clear();
            if window.has_ends {
                window.text.push_str(START);
                window.starts.push(0);
            }
        }
    }

    /// The stages with a visitor at their end.
    pub(super) fn before<V: Visitor>(&mut self, visit: V) -> Staged<'_, V> {
        Staged { stages: self, visit }
    }
}

/// [`Stages`] with a visitor at their end.
pub(super) struct Staged<'a, V> {
    stages: &'a mut Stages,
    visit: V,
}

impl<V: Visitor> Sink for Staged<'_, V> {
    #[inline]
    fn word(&mut self, token: &str) {
        if self.stages.nothing_to_do {
            self.visit.token(token);
        } else {
            self.staged_word(token);
        }
    }

    #[inline(always)]
    fn short_word(&mut self, token: ShortName) -> bool {
        self.stages.nothing_to_do && self.visit.short(token)
    }

    #[inline]
    fn item(&mut self, token: &str) {
        if self.stages.nothing_to_do {
            self.visit.token(token);
        } else {
            join(&mut self.stages.ngrams, self.stages.hash_mask, token, &mut self.visit);
        }
    }
}

impl<V: Visitor> Staged<'_, V> {
    /// Joins the last word to the end of the document, if that is a word, and hands the visitor back.
    pub(super) fn end_document(mut self) -> V {
        if let Some(LastWords { text, has_ends: true, .. }) = &mut self.stages.ngrams
            && text != START
        {
            text.push(' ');
            text.push_str(END);
            self.visit.token(text);
        }
        self.visit
    }

    fn staged_word(&mut self, token: &str) {
        let Stages { stop_words, stems, ngrams, hash_mask, .. } = &mut *self.stages;
        if stop_words.as_ref().is_some_and(|words| words.contains(token)) {
            return;
        }
        let mut next = |token: &str| join(ngrams, *hash_mask, token, &mut self.visit);
        match stems {
            Some(Stems { stemmer, known })
                if token.len() <= LONGEST_WORD || token.chars().count() <= LONGEST_WORD =>
            {
                if let Some(stem) = known.get(token) {
                    return next(stem);
                }
                let stem = stemmer.stem(token);
                // Some stemmers leave nothing of a word that is all suffix.
                let stem = if stem.is_empty() { token } else { &*stem };
                if known.len() < STEMS_REMEMBERED {
                    known.insert(token.into(), stem.into());
                }
                next(stem);
            }
            _ => next(token),
        }
    }
}

/// Joins neighbours, if there is a window, and hands on what comes of it.
fn join(window: &mut Option<LastWords>, hash_mask: Option<u64>, token: &str, visit: &mut impl Visitor) {
    let Some(LastWords { min, max, text, starts, .. }) = window else {
        return hash(hash_mask, token, visit);
    };
    if !starts.is_empty() {
        text.push(' ');
    }
    starts.push(text.len());
    text.push_str(token);
    for n in *min..=starts.len().min(*max) {
        hash(hash_mask, &text[starts[starts.len() - n]..], visit);
    }
    if starts.len() == *max {
        let first = starts[1];
        text.drain(..first);
        starts.remove(0);
        starts.iter_mut().for_each(|start| *start -= first);
    }
}

fn hash(mask: Option<u64>, token: &str, visit: &mut impl Visitor) {
    match mask {
        None => visit.token(token),
        Some(mask) => {
            let bucket = rapidhash::v3::rapidhash_v3(token.as_bytes()) & mask;
            visit.token(decimal(&mut [0; 32], "", bucket, ""));
        }
    }
}

/// Writes `prefix`, a number and `suffix`, which together have at most 32 bytes.
pub(super) fn decimal<'a>(text: &'a mut [u8; 32], prefix: &str, mut number: u64, suffix: &str) -> &'a str {
    let end = text.len() - suffix.len();
    text[end..].copy_from_slice(suffix.as_bytes());
    let mut start = end;
    loop {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let end = start;
    start -= prefix.len();
    text[start..end].copy_from_slice(prefix.as_bytes());
    std::str::from_utf8(&text[start..]).expect("made of strings and digits")
}

//! Words as readers see them, and what mail and the web are full of: addresses, numbers, money.
//!
//! The text is read in spans between ASCII white space or control characters. Most spans are a plain word and take
//! one look at each byte. Other ASCII spans are cut by rules written out here; spans with other characters are first
//! cleaned into a buffer (lower case, normal form, nothing invisible) and cut by `unicode-segmentation`. Both share
//! all that follows, and give the same tokens for the same ASCII text.

mod addresses;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::stages::{LONGEST_WORD, Sink, decimal};
use crate::marks::{Marks, ONES, Signs, TOP, padded};
use addresses::{Address, WebParts, bare_web_address, mail_address, web_address};
use priory::text::{Cjk, is_mark};
use priory::vocabulary::ShortName;

#[derive(Clone)]
pub(super) struct WordScanner {
    lower: bool,
    nfkc: bool,
    cutter: Cutter,
    /// The span at hand, cleaned.
    cleaned: String,
    /// Takes ASCII spans the long way round, to compare.
    #[cfg(test)]
    always_general: bool,
}

/// A span of more bytes is taken in pieces, cut where no word is if possible.
const LONGEST_SPAN: usize = 8192;

// What a span contains.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
/// Punctuation that no address needs.
const OTHER: u8 = 4;
/// Neither letter nor punctuation: no bit, since nothing has to be known of it.
const DIGIT: u8 = 0;
/// Signs that addresses have.
const AT: u8 = 8;
const COLON: u8 = 16;
const DOT: u8 = 32;
const BEYOND_ASCII: u8 = 64;
const SPACE: u8 = 128;

const LETTER: u8 = LOWER | UPPER;
const PUNCTUATION: u8 = OTHER | AT | COLON | DOT;

static CLASS: [u8; 256] = {
    let mut class = [OTHER; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        if b >= 0x80 {
            class[i] = BEYOND_ASCII;
        } else if b.is_ascii_digit() {
            class[i] = DIGIT;
        } else if b <= b' ' || b == 0x7f {
            class[i] = SPACE;
        } else if b.is_ascii_lowercase() {
            class[i] = LOWER;
        } else if b.is_ascii_uppercase() {
            class[i] = UPPER;
        } else if b == b'@' {
            class[i] = AT;
        } else if b == b':' {
            class[i] = COLON;
        } else if b == b'.' {
            class[i] = DOT;
        }
        i += 1;
    }
    class
};

impl WordScanner {
    pub(super) fn new(lower: bool, nfkc: bool, cjk: Cjk, marks: bool) -> Self {
        WordScanner {
            lower,
            nfkc,
            cutter: Cutter { pairs: cjk == Cjk::Bigrams, marks, token: String::new() },
            cleaned: String::new(),
            #[cfg(test)]
            always_general: false,
        }
    }

    /// The end of the text ends a word.
    pub(super) fn scan(&mut self, text: &str, sink: &mut impl Sink) {
        let bytes = text.as_bytes();
        let mut marks = Marks::new(bytes, NoLetters);
        let case = if self.lower { LOWER_CASE } else { 0 };
        let mut start = 0;
        while start < bytes.len() {
            let end = marks.next();
            if let Some(short) = self.short_word(bytes, start, end, case) {
                if !sink.short_word(short) {
                    sink.word(short.write(&mut [0; 16]));
                }
                start = end + 1;
            } else {
                start = self.scan_span(text, start, sink) + 1;
                marks.pass_to(start);
            }
        }
    }

    /// The letters from `start` to `end`, with the bits of a case, if they are a short word and white space follows: most
    /// are, and then all of them take one look.
    #[inline(always)]
    fn short_word(&self, text: &[u8], start: usize, end: usize, case: u64) -> Option<ShortName> {
        #[cfg(test)]
        if self.always_general {
            return None;
        }
        if start == end || text.get(end).is_some_and(|&b| b > b' ') {
            return None;
        }
        let rest = &text[start..];
        let sixteen: [u8; 16] = rest.first_chunk().copied().unwrap_or_else(|| padded(rest));
        let (eights, _) = sixteen.as_chunks();
        ShortName::ascii([0, 1].map(|i| u64::from_le_bytes(eights[i]) | case), end - start)
    }

    /// Takes the span that begins here, whatever it is, and returns where it ends.
    fn scan_span(&mut self, text: &str, start: usize, sink: &mut impl Sink) -> usize {
        let bytes = text.as_bytes();
        let class = |at: usize| bytes.get(at).map_or(SPACE, |&b| CLASS[usize::from(b)]);
        let mut at = start;
        let mut seen = 0;
        while class(at) & PUNCTUATION != 0 {
            seen |= class(at);
            at += 1;
        }
        let word = at;
        let mut letters = 0;
        while class(at) & LETTER != 0 {
            letters |= class(at);
            at += 1;
        }
        let word_end = at;
        while class(at) & PUNCTUATION != 0 {
            seen |= class(at);
            at += 1;
        }
        // Nothing but a word, with signs around it that cannot mean anything: no address, number or money.
        let plain = class(at) == SPACE;
        #[cfg(test)]
        let plain = plain && !self.always_general;
        if plain {
            self.cutter.marks(&text[start..word], sink);
            self.plain_word(&text[word..word_end], letters, sink);
            self.cutter.marks(&text[word_end..at], sink);
        } else {
            seen |= letters;
            while class(at) != SPACE {
                seen |= class(at);
                at += 1;
            }
            self.span(&text[start..at], seen, sink);
        }
        at
    }

    fn plain_word(&mut self, word: &str, letters: u8, sink: &mut impl Sink) {
        if word.len() > LONGEST_WORD {
            sink.long(word.len());
        } else if letters & UPPER != 0 && self.lower {
            self.cleaned.clear();
            self.cleaned.push_str(word);
            self.cleaned.make_ascii_lowercase();
            sink.word(&self.cleaned);
        } else if !word.is_empty() {
            sink.word(word);
        }
    }

    fn span(&mut self, span: &str, seen: u8, sink: &mut impl Sink) {
        let mut rest = span;
        while rest.len() > LONGEST_SPAN {
            let most = rest.floor_char_boundary(LONGEST_SPAN);
            let cut = match rest[..most].char_indices().rfind(|(_, c)| !c.is_alphanumeric()) {
                Some((at, c)) => at + c.len_utf8(),
                None if self.cutter.pairs && rest[..most].contains(is_unspaced) => most,
                None => {
                    let end = |c: char| !c.is_alphanumeric() || self.cutter.pairs && is_unspaced(c);
                    let (word, after) = rest.split_at(rest.find(end).unwrap_or(rest.len()));
                    sink.long(word.chars().count());
                    rest = after;
                    continue;
                }
            };
            self.piece(&rest[..cut], seen, sink);
            rest = &rest[cut..];
        }
        self.piece(rest, seen, sink);
    }

    fn piece(&mut self, piece: &str, seen: u8, sink: &mut impl Sink) {
        let general = seen & BEYOND_ASCII != 0;
        #[cfg(test)]
        let general = general || self.always_general;

        let cleaned = &mut self.cleaned;
        if general {
            cleaned.clear();
            let mut signs = seen;
            if self.nfkc {
                clean(piece.chars().stream_safe().nfkc(), self.lower, cleaned);
                signs |= AT | COLON | DOT; // which may have been full-width, for example
            } else {
                clean(piece.chars(), self.lower, cleaned);
            }
            self.cutter.cut::<false>(cleaned, signs, sink);
        } else if self.lower && seen & UPPER != 0 {
            cleaned.clear();
            cleaned.push_str(piece);
            cleaned.make_ascii_lowercase();
            self.cutter.cut::<true>(cleaned, seen, sink);
        } else {
            self.cutter.cut::<true>(piece, seen, sink);
        }
    }
}

/// The bits that eight lower-case letters have, and upper-case ones lack.
const LOWER_CASE: u64 = 0x20 * ONES;

/// All bytes but ASCII letters.
#[derive(Clone, Copy)]
struct NoLetters;

impl Signs for NoLetters {
    #[inline(always)]
    fn top_bits(self, eight: u64) -> u64 {
        let lower = (eight | LOWER_CASE) & !TOP;
        // A sum carries into the top bit from `a` on, and from the byte after `z` on; none carries into the next byte.
        let from_a = lower + (0x80 - u64::from(b'a')) * ONES;
        let after_z = lower + (0x7f - u64::from(b'z')) * ONES;
        (!from_a | after_z | eight) & TOP
    }

    fn find(self, text: &[u8]) -> Option<usize> {
        text.iter().position(|byte| !byte.is_ascii_alphabetic())
    }
}

fn clean(characters: impl Iterator<Item = char>, lower: bool, cleaned: &mut String) {
    for c in characters {
        match c {
            // An apostrophe, however it is written.
            '\u{2019}' | '\u{2bc}' | '\u{ff07}' => cleaned.push('\''),
            // Bytes that could not be read separate words, like the bytes themselves: `Tokenizer::tokens_of_bytes`.
            '\u{fffd}' => cleaned.push(' '),
            _ if is_invisible(c) => {}
            _ if !lower => cleaned.push(c),
            'ς' => cleaned.push('σ'),
            // Only İ has more than one character in lower case: an i, and a dot that it has anyway.
            _ => cleaned.extend(c.to_lowercase().next()),
        }
    }
}

/// Characters that take no room and only steer how others are shown.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Letters of scripts whose words are not set apart by spaces, and Hangul: see [`Cjk::Bigrams`].
fn is_unspaced(c: char) -> bool {
    c >= '\u{e01}'
        && matches!(
            c,
            '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' // Thai
            | '\u{e81}'..='\u{ecf}' | '\u{edc}'..='\u{edf}' // Lao
            | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' // Burmese
            | '\u{1780}'..='\u{17d3}' // Khmer
            | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
            | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
            | '\u{3041}'..='\u{309f}' // Hiragana
            | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Katakana
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' // Bopomofo
            | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}' // Hangul
            | '\u{ac00}'..='\u{d7fb}'
        )
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '¢' | '£' | '¤' | '¥' | '฿' | '\u{20a0}'..='\u{20cf}')
}

/// The blocks of pictographs; skin tones are not pictures of their own.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}')
        && !matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Cuts a cleaned span into tokens.
#[derive(Clone)]
struct Cutter {
    pairs: bool,
    /// Whether punctuation counts.
    marks: bool,
    /// A token that does not stand in the text as it is.
    token: String,
}

impl Cutter {
    /// Every mark of some punctuation, if it counts.
    #[inline]
    fn marks(&self, punctuation: &str, sink: &mut impl Sink) {
        if self.marks {
            let marks = punctuation.char_indices().filter(|&(_, c)| is_mark(c));
            marks.for_each(|(at, c)| sink.item(&punctuation[at..at + c.len_utf8()]));
        }
    }

    /// `ASCII` promises that there is nothing else in the span.
    fn cut<const ASCII: bool>(&mut self, span: &str, signs: u8, sink: &mut impl Sink) {
        let has = |sign: u8, text: &[u8]| {
            signs & sign != 0 && span.as_bytes().windows(text.len()).any(|w| w == text)
        };
        if !has(AT, b"@") && !has(COLON, b"://") && !has(DOT, b"www.") {
            return self.words::<ASCII>(span, sink);
        }
        let find: [fn(&str, usize) -> Option<Address>; 3] = [web_address, bare_web_address, mail_address];
        let sign = [COLON, DOT, AT];
        let mut found: [_; 3] =
            std::array::from_fn(|i| if signs & sign[i] != 0 { find[i](span, 0) } else { None });
        let mut at = 0;
        while let Some(next) = found.iter().flatten().min_by_key(|address| address.start).copied() {
            self.words::<ASCII>(&span[at..next.start], sink);
            match next.parts {
                Some(WebParts { host, path }) => {
                    let host = span[host.0..host.1].trim_matches('.');
                    self.token.clear();
                    self.token.push_str("url:");
                    self.token.push_str(host.strip_prefix("www.").unwrap_or(host));
                    limited(&self.token, sink, false);
                    self.words::<ASCII>(&span[path.0..path.1], sink);
                }
                None => {
                    let address = &span[next.start..next.end];
                    limited(address, sink, false);
                    // People write from many addresses, and few hosts: both tell something.
                    limited(&address[address.find('@').unwrap_or(0)..], sink, false);
                }
            }
            at = next.end;
            for (address, find) in found.iter_mut().zip(find) {
                if address.is_some_and(|address| address.start < at) {
                    *address = find(span, at);
                }
            }
        }
        self.words::<ASCII>(&span[at..], sink);
    }

    /// Cuts text without addresses.
    fn words<const ASCII: bool>(&mut self, text: &str, sink: &mut impl Sink) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let b = bytes[at];
            let rest = &text[at..];
            if b.is_ascii_digit() {
                let length = number_length(&bytes[at..]);
                let after = rest[length..].chars().next();
                if let Some(currency) = after.filter(|&c| is_currency(c)) {
                    self.money(currency, &rest[..length], sink);
                    at += length + currency.len_utf8();
                    continue;
                }
                if !after.is_some_and(|c| c == '_' || c.is_alphanumeric() || is_accent(c)) {
                    number(&rest[..length], sink);
                    at += length;
                    continue;
                }
            } else if b < 0x80 && !b.is_ascii_alphabetic() && b != b'_' {
                at += 1;
                if b == b'$' && bytes.get(at).is_some_and(u8::is_ascii_digit) {
                    at += self.money_after('$', &text[at..], sink);
                } else {
                    self.marks(&rest[..1], sink);
                }
                continue;
            } else if !ASCII && b >= 0x80 {
                let c = rest.chars().next().expect("not at the end");
                if self.pairs && is_unspaced(c) {
                    at += pairs(rest, sink);
                    continue;
                }
                if !c.is_alphanumeric() {
                    at += c.len_utf8();
                    if is_currency(c) && bytes.get(at).is_some_and(u8::is_ascii_digit) {
                        at += self.money_after(c, &text[at..], sink);
                    } else if is_emoji(c) {
                        sink.item(&rest[..c.len_utf8()]);
                    } else {
                        self.marks(&rest[..c.len_utf8()], sink);
                    }
                    continue;
                }
            }
            let length = match ascii_word_length(&bytes[at..]) {
                (length, sure) if sure || ASCII => length,
                _ => self.word_length(rest),
            };
            let word = rest[..length].trim_matches('_');
            if word.starts_with(|c: char| !c.is_ascii() && c.is_numeric())
                && word.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',' | '\'' | '٫' | '٬'))
            {
                number(word, sink);
            } else if !word.is_empty() {
                limited(word, sink, true);
            }
            at += length;
        }
    }

    /// How far Unicode's word reaches, less what is better apart: `re:hello`, `1;2`, and pairs of characters.
    fn word_length(&self, rest: &str) -> usize {
        let word = rest.split_word_bounds().next().unwrap_or(rest);
        let end = |c: char| matches!(c, ':' | ';') || self.pairs && is_unspaced(c);
        match word.find(end) {
            Some(at) if at > 0 => at,
            _ => word.len(),
        }
    }

    /// An amount that follows its currency; how many bytes it takes.
    fn money_after(&mut self, currency: char, rest: &str, sink: &mut impl Sink) -> usize {
        let length = number_length(rest.as_bytes());
        self.money(currency, &rest[..length], sink);
        length
    }

    fn money(&mut self, currency: char, amount: &str, sink: &mut impl Sink) {
        // The last separator groups thousands if three digits follow; otherwise it is the decimal point.
        let whole = match amount.rfind(['.', ',']) {
            Some(point) if amount.len() - point - 1 != 3 => &amount[..point],
            _ => amount,
        };
        let digits = whole.bytes().filter(u8::is_ascii_digit).count();
        self.token.clear();
        self.token.push_str("money:");
        self.token.push(currency);
        self.token.push_str(decimal(&mut [0; 32], "", digits.min(LONGEST_WORD) as u64, "digits"));
        sink.item(&self.token);
    }
}

/// Combining marks continue a word, but none of them is alphanumeric by itself. Near enough for what follows a digit:
/// whatever is no ASCII and may be a mark goes to `unicode-segmentation`.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}')
}

/// Up to four digits tell something by themselves; more tell how many they are.
fn number(digits_and_points: &str, sink: &mut impl Sink) {
    let digits = digits_and_points.chars().filter(|c| c.is_numeric()).count();
    if digits <= 4 {
        sink.item(digits_and_points);
    } else if digits <= LONGEST_WORD {
        sink.item(decimal(&mut [0; 32], "num:", digits as u64, "digits"));
    } else {
        sink.long(digits);
    }
}

fn limited(token: &str, sink: &mut impl Sink, is_word: bool) {
    if token.len() > LONGEST_WORD {
        let characters = token.chars().count();
        if characters > LONGEST_WORD {
            return sink.long(characters);
        }
    }
    if is_word { sink.word(token) } else { sink.item(token) }
}

/// Each two neighbours of the run of unspaced letters that the text starts with; how many bytes the run has.
fn pairs(text: &str, sink: &mut impl Sink) -> usize {
    let mut previous = None;
    let mut paired = false;
    let mut end = 0;
    for (at, c) in text.char_indices().take_while(|&(_, c)| is_unspaced(c)) {
        end = at + c.len_utf8();
        if let Some(previous) = previous {
            sink.item(&text[previous..end]);
            paired = true;
        }
        previous = Some(at);
    }
    if !paired {
        sink.item(&text[..end]);
    }
    end
}

/// Digits, with single points, commas or apostrophes between them.
fn number_length(bytes: &[u8]) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while digit(at) || at > 0 && matches!(bytes.get(at), Some(b'.' | b',' | b'\'')) && digit(at + 1) {
        at += 1;
    }
    at
}

/// How far a word of ASCII characters reaches by UAX #29 (without the colon and the semicolon), and whether that
/// is sure: another character behind it could change it.
fn ascii_word_length(bytes: &[u8]) -> (usize, bool) {
    let mut at = 0;
    loop {
        while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
            at += 1;
        }
        let [infix, next, ..] = bytes[at..] else {
            return (at, bytes.len() == at || bytes[at].is_ascii());
        };
        if !infix.is_ascii() {
            return (at, false);
        }
        let previous = if at > 0 { bytes[at - 1] } else { 0 };
        let joins = match infix {
            b'.' | b'\'' => {
                if !next.is_ascii() {
                    return (at, false);
                }
                previous.is_ascii_alphabetic() && next.is_ascii_alphabetic()
                    || previous.is_ascii_digit() && next.is_ascii_digit()
            }
            b',' => previous.is_ascii_digit() && next.is_ascii_digit(),
            _ => false,
        };
        if !joins {
            return (at, true);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests;

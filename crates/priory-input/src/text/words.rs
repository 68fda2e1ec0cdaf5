//! Words as readers see them, and what mail and the web are full of: addresses, numbers, money.
//!
//! The text is read in spans between ASCII white space or control characters. Most spans are a plain word and take
//! one look at each byte. Other ASCII spans are cut by rules written out here; spans with other characters are first
//! cleaned into a buffer (lower case, normal form, nothing invisible) and cut by `unicode-segmentation`. Both share
//! all that follows, and give the same tokens for the same ASCII text.

use memchr::memchr_iter;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::stages::{LONGEST_WORD, Sink, decimal};
use priory::Cjk;

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
    pub(super) fn new(lower: bool, nfkc: bool, cjk: Cjk) -> Self {
        WordScanner {
            lower,
            nfkc,
            cutter: Cutter { pairs: cjk == Cjk::Bigrams, token: String::new() },
            cleaned: String::new(),
            #[cfg(test)]
            always_general: false,
        }
    }

    /// The end of the text ends a word.
    pub(super) fn scan(&mut self, text: &str, sink: &mut impl Sink) {
        let bytes = text.as_bytes();
        let class = |at: usize| bytes.get(at).map_or(SPACE, |&b| CLASS[usize::from(b)]);
        let mut start = 0;
        while start < bytes.len() {
            if let Some(word) = self.lower_case_word(&text[start..]) {
                sink.word(word);
                start += word.len() + 1;
                continue;
            }
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
                self.plain_word(&text[word..word_end], letters, sink);
            } else {
                seen |= letters;
                while class(at) != SPACE {
                    seen |= class(at);
                    at += 1;
                }
                self.span(&text[start..at], seen, sink);
            }
            start = at + 1;
        }
    }

    /// The word that the text begins with, if it is a short one in lower case and a space follows: most are, and then eight
    /// bytes take one look.
    #[inline]
    fn lower_case_word<'a>(&self, text: &'a str) -> Option<&'a str> {
        #[cfg(test)]
        if self.always_general {
            return None;
        }
        let first = u64::from_le_bytes(*text.as_bytes().first_chunk()?);
        let mut length = lower_case_letters(first);
        if length == 8 {
            length += lower_case_letters(u64::from_le_bytes(*text.as_bytes()[8..].first_chunk()?));
        }
        let word_ends = text.as_bytes().get(length) == Some(&b' ');
        (word_ends && length > 0).then(|| &text[..length])
    }

    #[inline]
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

/// How many of eight bytes, from the lowest on, are lower-case letters.
#[inline]
fn lower_case_letters(bytes: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let ascii = bytes & !HIGH;
    // A sum carries into the high bit from `a` on, and from the byte after `z` on; none carries into the next byte.
    let letters =
        (ascii + (0x80 - b'a' as u64) * ONES) & !(ascii + (0x7f - b'z' as u64) * ONES) & !bytes & HIGH;
    (!letters & HIGH).trailing_zeros() as usize / 8
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
    /// A token that does not stand in the text as it is.
    token: String,
}

/// A web or mail address in a span, as positions.
#[derive(Clone, Copy)]
struct Address {
    start: usize,
    /// Host and path of a web address; a mail address has none.
    parts: Option<WebParts>,
    /// Where the text goes on.
    end: usize,
}

#[derive(Clone, Copy)]
struct WebParts {
    host: (usize, usize),
    path: (usize, usize),
}

impl Cutter {
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
                if !after.is_some_and(|c| c == '_' || c.is_alphanumeric() || is_mark(c)) {
                    number(&rest[..length], sink);
                    at += length;
                    continue;
                }
            } else if b < 0x80 && !b.is_ascii_alphabetic() && b != b'_' {
                at += 1;
                if b == b'$' && bytes.get(at).is_some_and(u8::is_ascii_digit) {
                    at += self.money_after('$', &text[at..], sink);
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
fn is_mark(c: char) -> bool {
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

/// The first web address with a scheme at or after `from`.
fn web_address(span: &str, from: usize) -> Option<Address> {
    let bytes = &span.as_bytes()[from..];
    memchr_iter(b':', bytes).filter(|&colon| bytes[colon..].starts_with(b"://")).find_map(|colon| {
        let letters = bytes[..colon].iter().rev().take(11).take_while(|b| b.is_ascii_alphabetic()).count();
        if !(2..=10).contains(&letters) {
            return None;
        }
        web_parts(span, from + colon - letters, from + colon + 3, 0)
    })
}

/// The first host at or after `from` that starts with `www.` and has a dot more.
fn bare_web_address(span: &str, from: usize) -> Option<Address> {
    let bytes = &span.as_bytes()[from..];
    memchr_iter(b'.', bytes).filter(|&dot| bytes[..dot].ends_with(b"www")).find_map(|dot| {
        let start = from + dot - 3;
        let before = span[from..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c)) {
            return None;
        }
        web_parts(span, start, start, 2)
    })
}

/// The web address from `start` on, whose host, with a name before it or a port behind, begins at `authority` and has
/// at least so many dots inside.
fn web_parts(span: &str, start: usize, authority: usize, dots: usize) -> Option<Address> {
    let in_name = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let in_authority = |c: char| in_name(c) || matches!(c, '.' | '-' | '_' | ':' | '@' | '%' | '+' | '~');
    let in_address = |c: char| in_name(c) || c.is_ascii_graphic() && !b"<>\"`|{}\\^".contains(&(c as u8));

    let text = &span[authority..];
    let text = &text[..text.floor_char_boundary(256)];
    let text = &text[..text.find(|c| !in_authority(c)).unwrap_or(text.len())];
    // What stands before an @ is there to mislead, what stands behind a colon is a port.
    let host_start = text.rfind('@').map_or(0, |at| at + 1);
    let host = text[host_start..].split(':').next().filter(|host| host.contains(in_name))?;
    if host.trim_matches('.').matches('.').count() < dots {
        return None;
    }
    let host = (authority + host_start, authority + host_start + host.len());

    let path_start = authority + text.len();
    let rest = &span[path_start..];
    let rest = &rest[..rest.find(|c| !in_address(c)).unwrap_or(rest.len())];
    let path = (path_start, path_start + rest.find(['?', '#']).unwrap_or(rest.len()));
    Some(Address { start, parts: Some(WebParts { host, path }), end: path_start + rest.len() })
}

/// The first mail address at or after `from`.
fn mail_address(span: &str, from: usize) -> Option<Address> {
    let in_name = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    memchr_iter(b'@', &span.as_bytes()[from..]).find_map(|at| {
        let at = from + at;
        let name = span[from..at].char_indices().rev().take(64);
        let name = name.take_while(|&(_, c)| in_name(c) || matches!(c, '.' | '_' | '-' | '+'));
        let start = from + name.last()?.0;
        let start = start + span[start..at].find(in_name)?;
        let domain = &span[at + 1..];
        let domain = &domain[..domain.floor_char_boundary(255)];
        let end = domain.find(|c| !in_name(c) && !matches!(c, '.' | '-')).unwrap_or(domain.len());
        let domain = domain[..end].trim_end_matches(['.', '-']);
        let (_, top) = domain.rsplit_once('.')?;
        let valid = domain.starts_with(in_name)
            && !domain.contains("..")
            && top.len() >= 2
            && top.starts_with(|c: char| c.is_alphabetic());
        let end = at + 1 + domain.len();
        valid.then_some(Address { start, parts: None, end })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn lower_case_letters_are_counted_from_the_first_byte_on() {
        for at in 0..8 {
            for byte in 0..=u8::MAX {
                let mut bytes = *b"azbycxmn";
                bytes[at] = byte;
                let expected = if byte.is_ascii_lowercase() { 8 } else { at };
                assert_eq!(super::lower_case_letters(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
            }
        }
    }

    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct Collected(Vec<String>);

    impl Sink for Collected {
        fn word(&mut self, token: &str) {
            self.0.push(token.to_owned());
        }
        fn item(&mut self, token: &str) {
            self.0.push(token.to_owned());
        }
    }

    fn words_by(mut scanner: WordScanner, text: &str) -> Vec<String> {
        let mut found = Collected::default();
        scanner.scan(text, &mut found);
        found.0
    }

    fn words(text: &str) -> Vec<String> {
        words_by(WordScanner::new(true, false, Cjk::Bigrams), text)
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text), expected, "{text:?}");
    }

    #[test]
    fn plain_words() {
        check("", &[]);
        check(" \n\t\0\x7f", &[]);
        check("a Bc\0d", &["a", "bc", "d"]);
        check("(Hello), \"world\"... -- 'tis!", &["hello", "world", "tis"]);
        check("don't Don’t e.g. U.S.A. re:hello", &["don't", "don't", "e.g", "u.s.a", "re", "hello"]);
        check("well-known and/or _it_ foo_bar ____", &["well", "known", "and", "or", "it", "foo_bar"]);
        check("example.com win32 4u", &["example.com", "win32", "4u"]);
    }

    #[test]
    fn numbers_and_money() {
        check("42 1984, 3.14 (7)", &["42", "1984", "3.14", "7"]);
        check("08001234567 12,345.67 192.168.10.1", &["num:11digits", "num:7digits", "num:9digits"]);
        check("1st 2nd 1.5GB v2.0", &["1st", "2nd", "1.5gb", "v2.0"]);
        check(
            "$5 $1,000,000.00! €9,99 £1.000",
            &["money:$1digits", "money:$7digits", "money:€1digits", "money:£4digits"],
        );
        check("100€ 50¢ US$20 $ $$$ $x", &["money:€3digits", "money:¢2digits", "us", "money:$2digits", "x"]);
        check("٣٤ ١٢٣٤٥٦", &["٣٤", "num:6digits"]);
        check(
            "0800-123-456 12/25/1999 10:30 1;2",
            &["0800", "123", "456", "12", "25", "1999", "10", "30", "1", "2"],
        );
        check(&"7".repeat(100), &["long:128"]);
    }

    #[test]
    fn addresses() {
        check("http://www.Example.com", &["url:example.com"]);
        check("<https://a.b.org:8080/Some/page.html?q=x#y>.", &["url:a.b.org", "some", "page.html"]);
        check("see:http://x.org/,www.y.com/z)", &["see", "url:x.org", "www.y.com", "z"]);
        check("http://paypal.com@evil.ru/login", &["url:evil.ru", "login"]);
        check("www.foo.de. www.foo awww.foo.de", &["url:foo.de", "www.foo", "awww.foo.de"]);
        check("http:// ://x a://! http://", &["http", "x", "a", "http"]);
        check(
            "Bob.Smith+news@Mail.Example.COM, x",
            &["bob.smith+news@mail.example.com", "@mail.example.com", "x"],
        );
        check("mailto:a-b@c.de?subject=hi", &["mailto", "a-b@c.de", "@c.de", "subject", "hi"]);
        check("a@b @ @you me@ x@y..com 1@2.3", &["a", "b", "you", "me", "x", "y", "com", "1", "2.3"]);
        check("<a@b.org>,<c@d.org>", &["a@b.org", "@b.org", "c@d.org", "@d.org"]);
        check(
            "请联系bob@x.com谢谢http://例.com/路",
            &["请联", "联系", "bob@x.com", "@x.com", "谢谢", "http", "例", "com", "路"],
        );
    }

    #[test]
    fn other_scripts() {
        check("Čeština ÜBER naïve", &["čeština", "über", "naïve"]);
        check("ΟΔΟΣ οδος οδοσ", &["οδοσ", "οδοσ", "οδοσ"]);
        check("İstanbul", &["istanbul"]);
        check("e\u{301}te\u{301}", &["e\u{301}te\u{301}"]);
        check("東京都。私 abc日本", &["東京", "京都", "私", "abc", "日本"]);
        check("カタカナ ひらがな", &["カタ", "タカ", "カナ", "ひら", "らが", "がな"]);
        check("한국어를 배워", &["한국", "국어", "어를", "배워"]);
        check("ภาษา", &["ภา", "าษ", "ษา"]);
        check("שלום мир", &["שלום", "мир"]);
        check("ok😀👍🏽❤️!", &["ok", "😀", "👍", "❤"]);
        let by_unicode = |text| words_by(WordScanner::new(true, false, Cjk::Words), text);
        assert_eq!(by_unicode("東京 カタカナ 한국어"), ["東", "京", "カタカナ", "한국어"]);
    }

    #[test]
    fn nothing_invisible_is_left() {
        check("v\u{200b}i\u{200d}a\u{ad}gra", &["viagra"]);
        check("\u{202e}abc\u{202c} \u{feff}x \u{200b}", &["abc", "x"]);
        check("a\u{a0}b\u{3000}c\u{fffd}d", &["a", "b", "c", "d"]);
        let nfkc = |text| words_by(WordScanner::new(true, true, Cjk::Bigrams), text);
        assert_eq!(nfkc("ﬁne Ｆｒｅｅ 𝓯𝓻𝓮𝓮 e\u{301}"), ["fine", "free", "free", "é"]);
        assert_eq!(nfkc("ｈｔｔｐ：／／ｘ．ｏｒｇ"), ["url:x.org"]);
        let kept = |text| words_by(WordScanner::new(false, false, Cjk::Bigrams), text);
        assert_eq!(kept("Free ΟΔΟΣ"), ["Free", "ΟΔΟΣ"]);
    }

    #[test]
    fn what_has_no_end_is_bounded() {
        check(&"a".repeat(64), &[&"a".repeat(64)]);
        check(&"a".repeat(65), &["long:128"]);
        check(&"Ab1".repeat(1 << 20), &["long:4194304"]);
        check(&"é".repeat(1 << 20), &["long:1048576"]);
        check(&format!("x {}. y", "é".repeat(300)), &["x", "long:512", "y"]);
        check(&format!("http://{}.com", "h".repeat(80)), &["long:128"]);
        assert_eq!(words(&"東".repeat(LONGEST_SPAN)).len(), LONGEST_SPAN - 4);
        assert_eq!(words(&"e\u{301}".repeat(LONGEST_SPAN)).len(), 4);
        assert!(words(&"\u{301}".repeat(1 << 16)).is_empty());
        assert!(words(&"-".repeat(1 << 20)).is_empty());
    }

    /// Text of few different characters, so that every rule is met.
    fn ascii() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "a", "B", "www", "http", "://", "com", "1", "23", "4567", ".", "'", ",", ":", ";", "_", "@", "-",
            "+", "$", "%", "?", "#", "/", "<", " ", "\n", "\0",
        ]);
        prop::collection::vec(parts, 0..30).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn ascii_needs_no_general_rules(text in prop_oneof![ascii(), "[ -~\n]{0,80}"]) {
            let general = WordScanner { always_general: true, ..WordScanner::new(true, false, Cjk::Bigrams) };
            prop_assert_eq!(words(&text), words_by(general, &text));
        }

        #[test]
        fn ascii_words_end_where_unicode_ends_them(text in ascii(), after in "[é\u{301}日'a. ]{0,2}") {
            let text = text + &after;
            let general = WordScanner::new(true, false, Cjk::Bigrams).cutter;
            for (at, b) in text.bytes().enumerate() {
                if (b.is_ascii_alphanumeric() || b == b'_')
                    && let (length, true) = ascii_word_length(&text.as_bytes()[at..])
                {
                    prop_assert_eq!(general.word_length(&text[at..]), length, "{:?}", &text[at..]);
                }
            }
        }

        #[test]
        fn tokens_are_short_lower_and_whole(text in prop_oneof![any::<String>(), "(\\PC|[\u{0}-\u{ffff}]){0,60}"]) {
            for token in words(&text) {
                prop_assert!(!token.is_empty());
                prop_assert!(token.chars().count() <= LONGEST_WORD, "{token:?}");
                prop_assert!(!token.contains(|c: char| c.is_whitespace() || is_invisible(c)), "{token:?}");
                prop_assert!(!token.contains(|c: char| c.is_ascii_uppercase()), "{token:?}");
            }
        }
    }
}

//! Letters in disguise: those of another alphabet that look like Latin ones inside a Latin word, and characters that nobody sees.

use std::borrow::Cow;

/// Text as it looks, and how much of it was in disguise.
pub(super) struct Folded<'a> {
    pub(super) text: Cow<'a, str>,
    /// Words in which letters of another alphabet stand for Latin ones.
    pub(super) disguised: usize,
    /// Characters that cannot be seen.
    pub(super) invisible: usize,
}

/// Whether nobody sees a character: of no width, or there to turn others around.
pub(super) fn is_invisible(c: char) -> bool {
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
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The Latin letter that a Cyrillic or Greek one looks like.
fn latin(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'в' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'є' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ї' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' | 'η' => 'n',
        'о' | 'ο' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' | 'Ϲ' => 'C',
        'Е' | 'Ё' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' => 'I',
        'Ј' => 'J',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Ѵ' => 'V',
        'Ԝ' => 'W',
        'Х' | 'Χ' => 'X',
        'У' | 'Υ' => 'Y',
        'Ζ' => 'Z',
        _ => return None,
    })
}

/// Text as it looks. Words of one alphabet are left as they are.
pub(super) fn fold(text: &str) -> Folded<'_> {
    if text.is_ascii() {
        return Folded { text: text.into(), disguised: 0, invisible: 0 };
    }
    let mut folded =
        Folded { text: Cow::Owned(String::with_capacity(text.len())), disguised: 0, invisible: 0 };
    let seen = text.chars().filter(|c| !is_invisible(*c)).collect::<String>();
    folded.invisible = text.chars().filter(|c| is_invisible(*c)).count();
    let out = folded.text.to_mut();
    let mut rest = seen.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_mixed = word.bytes().any(|b| b.is_ascii_alphabetic())
            && word.chars().any(|c| latin(c).is_some())
            && word.chars().all(|c| c.is_ascii() || latin(c).is_some());
        if is_mixed {
            out.extend(word.chars().map(|c| latin(c).unwrap_or(c)));
            folded.disguised += 1;
        } else {
            out.push_str(word);
        }
        let next = after.find(char::is_alphabetic).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    folded
}

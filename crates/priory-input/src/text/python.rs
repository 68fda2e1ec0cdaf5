//! Python's view of characters: `\w`, `\s` and `str.lower()`, for tokens that equal scikit-learn's.

use std::sync::LazyLock;

use super::python_tables::{CASE_IGNORABLE, CASED, WORD};

/// Whether `\w` matches.
pub(super) fn is_word(c: char) -> bool {
    // One bit for each character of the first plane, where nearly all text is.
    static PLANE: LazyLock<Box<[u64]>> = LazyLock::new(|| {
        let mut bits = vec![0; 0x10000 / 64];
        for i in WORD.iter().flat_map(|&(a, b)| a..=b).take_while(|&i| i < 0x10000) {
            bits[i as usize / 64] |= 1 << (i % 64);
        }
        bits.into()
    });
    let i = c as usize;
    if i < 0x10000 { PLANE[i / 64] >> (i % 64) & 1 == 1 } else { is_in(&WORD, c) }
}

/// Whether `\s` matches, or `str.split()` splits.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Shows every character of `str.lower()`.
pub(super) fn lower(text: &str, mut visit: impl FnMut(char)) {
    for (at, c) in text.char_indices() {
        lower_at(text, at, c, &mut visit);
    }
}

/// Shows what `str.lower()` makes of the character `c` that stands at `at`.
#[inline]
pub(super) fn lower_at(text: &str, at: usize, c: char, mut visit: impl FnMut(char)) {
    if c.is_ascii() {
        visit(c.to_ascii_lowercase());
    } else if c == 'Σ' {
        visit(if ends_a_word(text, at) { 'ς' } else { 'σ' });
    } else if c.is_uppercase() && is_in(&CASED, c) || is_titlecase(c) {
        c.to_lowercase().for_each(visit);
    } else {
        visit(c);
    }
}

/// The letters that are neither upper nor lower case and yet have a lower case: ǅ, ǈ, ǋ, ǲ and Greek with iota.
fn is_titlecase(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1fff}')
}

/// Unicode's Final_Sigma: a cased character before, none after, looking past those that are case-ignorable.
fn ends_a_word(text: &str, sigma: usize) -> bool {
    let cased = |c: Option<char>| c.is_some_and(|c| is_in(&CASED, c));
    let before = text[..sigma].chars().rev().find(|&c| !is_in(&CASE_IGNORABLE, c));
    cased(before) && !cased(text[sigma + 'Σ'.len_utf8()..].chars().find(|&c| !is_in(&CASE_IGNORABLE, c)))
}

fn is_in(ranges: &[(u32, u32)], c: char) -> bool {
    let i = u32::from(c);
    let at = ranges.partition_point(|&(_, last)| last < i);
    ranges.get(at).is_some_and(|&(first, _)| first <= i)
}

//! Whether the values of a column are truth values in several spellings.

use std::collections::BTreeSet;

use crate::written::BooleanStyle;
use crate::written::booleans::{PAIRS, is_true};

/// The two values of a column of truth values, if it is one and not spelt in one way throughout: `Yes`, `yes` and `NO`; `y`, `no`
/// and `true`; or with words for missing among them.
pub(crate) fn boolean_style(values: &[&str], missing: &[&str]) -> Option<BooleanStyle> {
    // Two words for no, such as N and F, may as well be directions.
    const MOST_SPELLINGS: usize = 64;
    let mut spellings: BTreeSet<&str> = BTreeSet::new();
    for value in values {
        is_true(value)?;
        if spellings.insert(value) && spellings.len() > MOST_SPELLINGS {
            return None;
        }
    }
    let words: BTreeSet<String> = spellings.iter().map(|spelling| spelling.trim().to_lowercase()).collect();
    let has = |word: &str| words.contains(word);
    let pairs: Vec<_> = PAIRS.iter().filter(|(no, yes)| has(no) && has(yes)).collect();
    let is_paired = |word: &String| pairs.iter().any(|(no, yes)| word == no || word == yes);
    if pairs.is_empty() || !words.iter().all(is_paired) {
        return None;
    }
    if spellings.len() == 2 && missing.is_empty() {
        return None;
    }
    let (no, yes) = if pairs.len() == 1 { pairs[0] } else { &("false", "true") };
    Some(BooleanStyle { no: (*no).to_owned(), yes: (*yes).to_owned() })
}

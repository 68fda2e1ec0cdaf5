//! Words that say that there is no number.

/// What people and programs write where a number, a date or a truth value is unknown, in small letters. In a column of names
/// some of these are names, so only there they are values like any other.
const WORDS: &[&str] = &[
    "?",
    "na",
    "n/a",
    "#n/a",
    "n.a.",
    "n. a.",
    "<na>",
    "nan",
    "null",
    "(null)",
    "#null!",
    "\\n",
    "nil",
    "none",
    "(none)",
    "-",
    "--",
    "---",
    "–",
    "—",
    ".",
    "..",
    "...",
    "empty",
    "(empty)",
    "blank",
    "(blank)",
    "missing",
    "(missing)",
    "not available",
    "k.a.",
    "k. a.",
    "#value!",
    "#div/0!",
    "#ref!",
    "#name?",
    "#num!",
];

/// Whether a value of a column that otherwise holds numbers, dates or truth values means that it is missing there, whatever
/// case it is in. This is how it is unless the user names the spellings of missing.
///
/// ```
/// use priory::infer::is_missing_word;
///
/// assert!(["N/A", " - ", "None", ""].into_iter().all(is_missing_word));
/// assert!(!is_missing_word("0"));
/// ```
pub fn is_missing_word(value: &str) -> bool {
    const LONGEST: usize = 13;
    // Nearly every value can be told from its first byte: words begin with these letters, with signs, or not in ASCII.
    let may_be = |first: &u8| match first {
        b'a'..=b'z' | b'A'..=b'Z' => matches!(first | 0x20, b'b' | b'e' | b'k' | b'm' | b'n'),
        first => !first.is_ascii_digit(),
    };
    if !value.as_bytes().first().is_none_or(may_be) {
        return false;
    }
    let value = value.trim();
    value.len() <= LONGEST && (value.is_empty() || WORDS.iter().any(|word| word.eq_ignore_ascii_case(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_known_in_any_case() {
        for word in WORDS {
            assert!(is_missing_word(word) && is_missing_word(&word.to_uppercase()), "{word}");
            assert!(is_missing_word(&format!(" {word} ")) && !is_missing_word(&format!("{word}x")), "{word}");
        }
        assert!(["0", "-1", "red", "none of them", "nobody"].iter().all(|value| !is_missing_word(value)));
    }
}

//! Truth values in any spelling: `Yes`, `TRUE`, `ja`, `0`.

use serde::{Deserialize, Serialize};

/// The two values of a column of truth values that is not spelt in one way throughout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BooleanStyle {
    /// What stands for everything that means no.
    pub no: String,
    /// What stands for everything that means yes.
    pub yes: String,
}

impl BooleanStyle {
    /// The value that a field stands for, if it is a truth value.
    pub fn read(&self, field: &str) -> Option<&str> {
        is_true(field).map(|truth| if truth { self.yes.as_str() } else { self.no.as_str() })
    }
}

/// What people write for no and for yes, in small letters.
pub(crate) const PAIRS: &[(&str, &str)] = &[
    ("0", "1"),
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("off", "on"),
    ("absent", "present"),
    ("falsch", "wahr"),
    ("nein", "ja"),
    ("faux", "vrai"),
    ("non", "oui"),
    ("falso", "verdadero"),
    ("falso", "vero"),
    ("no", "sí"),
    ("no", "si"),
];

/// Whether a word means yes or no, whatever its case.
pub(crate) fn is_true(word: &str) -> Option<bool> {
    let word = word.trim();
    let is = |known: &str| known.eq_ignore_ascii_case(word) || known == "sí" && word == "SÍ";
    PAIRS.iter().find_map(|(no, yes)| if is(no) { Some(false) } else { is(yes).then_some(true) })
}

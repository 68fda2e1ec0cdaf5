//! Names and their ids.
//!
//! Ids are given in order of arrival, so that counting never waits for a sort; what is written, estimated or
//! shown goes through [`Vocabulary::sorted`], so that no result depends on who arrived first.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Distinct strings, numbered from zero. Two vocabularies are matched by name, never by number.
#[derive(Clone, Default)]
pub struct Vocabulary {
    bytes: String,
    ends: Vec<usize>,
    ids: HashTable<u32>,
    /// Seeded at random, so that nobody can prepare a file whose names all collide. Ids follow arrival and output
    /// follows the sort: the hash decides nothing but speed.
    hasher: RandomState,
}

impl Vocabulary {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// About how many bytes the names take.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..]) + self.ids.allocation_size()
    }

    /// Forgets every name but keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.ids.clear();
    }

    /// The name with this id.
    ///
    /// # Panics
    /// If no name has this id.
    #[inline]
    pub fn name(&self, id: usize) -> &str {
        slice(&self.bytes, &self.ends, id)
    }

    /// All names by id.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|id| self.name(id))
    }

    /// The id of a name, if it has one.
    #[inline]
    pub fn get(&self, name: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        self.ids.find(hash, |&id| self.name(id as usize) == name).map(|&id| id as usize)
    }

    /// The id of a name; a new name gets the next one.
    ///
    /// # Panics
    /// If there are already 2^32 names.
    #[inline]
    pub fn intern(&mut self, name: &str) -> usize {
        let hash = self.hasher.hash_one(name);
        if let Some(&id) = self.ids.find(hash, |&id| self.name(id as usize) == name) {
            return id as usize;
        }
        let id = u32::try_from(self.len()).expect("fewer than 2^32 names fit into memory");
        self.bytes.push_str(name);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.ids.insert_unique(hash, id, |&id| hasher.hash_one(slice(bytes, ends, id as usize)));
        id as usize
    }

    /// The ids in canonical order of their names.
    pub fn sorted(&self) -> Vec<usize> {
        let mut keyed: Vec<_> = self.names().map(SortKey::new).zip(0..).collect();
        keyed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        keyed.into_iter().map(|(_, id)| id).collect()
    }
}

impl Vocabulary {
    /// The ids in the order of the bytes of their names: the order of tokens, of which there may be millions.
    pub(crate) fn sorted_by_bytes(&self) -> Vec<usize> {
        let beginning = |name: &str| {
            let mut eight = [0; 8];
            let length = name.len().min(8);
            eight[..length].copy_from_slice(&name.as_bytes()[..length]);
            u64::from_be_bytes(eight)
        };
        let mut keyed: Vec<(u64, u32)> = self.names().map(beginning).zip(0..).collect();
        // Most pairs differ in their first bytes, and those need not be looked up.
        keyed.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.name(a.1 as usize).cmp(self.name(b.1 as usize)))
        });
        keyed.into_iter().map(|(_, id)| id as usize).collect()
    }

    /// Whether the ids are in that order.
    pub(crate) fn is_sorted_by_bytes(&self) -> bool {
        self.names().is_sorted()
    }

    /// How many bytes all names have together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl<'a> FromIterator<&'a str> for Vocabulary {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut vocabulary = Vocabulary::default();
        for name in names {
            vocabulary.intern(name);
        }
        vocabulary
    }
}

/// The canonical order of names: numbers by value before everything else, the rest by their bytes.
pub fn canonical_order(a: &str, b: &str) -> Ordering {
    SortKey::new(a).cmp(&SortKey::new(b))
}

/// A name with its numeric value worked out once.
struct SortKey<'a> {
    number: Option<f64>,
    name: &'a str,
}

impl<'a> SortKey<'a> {
    fn new(name: &'a str) -> Self {
        let number = name.parse::<f64>().ok().filter(|x| x.is_finite());
        SortKey { number, name }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let by_number = match (self.number, other.number) {
            (Some(a), Some(b)) => (a + 0.0).total_cmp(&(b + 0.0)), // -0 and 0 are one number
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        by_number.then_with(|| self.name.cmp(other.name))
    }
}

#[inline]
fn slice<'a>(bytes: &'a str, ends: &[usize], id: usize) -> &'a str {
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_ids() {
        let mut vocabulary = Vocabulary::default();
        for name in ["b", "", "a", "b", "10", "9", "9.0", "-1", "é"] {
            vocabulary.intern(name);
        }
        assert_eq!(vocabulary.len(), 8);
        assert_eq!(vocabulary.get("a"), Some(2));
        assert_eq!(vocabulary.get("c"), None);
        let sorted: Vec<&str> = vocabulary.sorted().into_iter().map(|id| vocabulary.name(id)).collect();
        assert_eq!(sorted, ["-1", "9", "9.0", "10", "", "a", "b", "é"]);
    }

    #[test]
    fn not_every_word_that_parses_is_a_number() {
        assert_eq!(canonical_order("nan", "1"), Ordering::Greater);
        assert_eq!(canonical_order("inf", "zebra"), Ordering::Less);
        assert_eq!(canonical_order("-0", "0"), Ordering::Less);
    }
}

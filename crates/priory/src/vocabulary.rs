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
        self.insert(hash, name)
    }

    /// Adds a name that is not there yet.
    fn insert(&mut self, hash: u64, name: &str) -> usize {
        let id = u32::try_from(self.len()).expect("fewer than 2^32 names fit into memory");
        self.bytes.push_str(name);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.ids.insert_unique(hash, id, |&id| hasher.hash_one(slice(bytes, ends, id as usize)));
        id as usize
    }

    /// The names with these ids, none of them twice, in this order.
    pub(crate) fn select(&self, ids: &[usize]) -> Vocabulary {
        if ids.len() == self.len() && ids.is_sorted() {
            return self.clone();
        }
        let mut selected = Vocabulary {
            bytes: String::with_capacity(self.bytes.len()),
            ends: Vec::with_capacity(ids.len()),
            ids: HashTable::with_capacity(ids.len()),
            hasher: RandomState::default(),
        };
        for &id in ids {
            let name = self.name(id);
            let hash = selected.hasher.hash_one(name);
            selected.insert(hash, name);
        }
        selected
    }

    /// The ids in canonical order of their names.
    pub fn sorted(&self) -> Vec<usize> {
        if self.is_sorted() {
            return (0..self.len()).collect();
        }
        // There may be millions, so numbers and words are sorted apart, by eight bytes each.
        let (mut numbers, mut words) = (Vec::new(), Vec::new());
        for (name, id) in self.names().zip(0..) {
            match number_of(name) {
                Some(number) => numbers.push((ordered_bits(number), id)),
                None => words.push((beginning(name), id)),
            }
        }
        self.sort_keyed(&mut numbers);
        self.sort_keyed(&mut words);
        numbers.into_iter().chain(words).map(|(_, id)| id as usize).collect()
    }

    /// Whether the ids are in canonical order of their names.
    pub(crate) fn is_sorted(&self) -> bool {
        self.names().map(SortKey::new).is_sorted_by(|a, b| a.cmp(b).is_lt())
    }

    /// Sorts ids by a key, and by their names where the keys are the same.
    fn sort_keyed(&self, keyed: &mut [(u64, u32)]) {
        keyed.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.name(a.1 as usize).cmp(self.name(b.1 as usize)))
        });
    }
}

/// The first eight bytes of a name, which sort as names do unless they are the same.
fn beginning(name: &str) -> u64 {
    let mut eight = [0; 8];
    let length = name.len().min(8);
    eight[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(eight)
}

/// The number that a name is, if it is one.
fn number_of(name: &str) -> Option<f64> {
    name.parse().ok().filter(|x: &f64| x.is_finite()).map(|x| x + 0.0) // -0 and 0 are one number
}

/// The bits of a number, turned so that they sort as numbers do.
fn ordered_bits(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl Vocabulary {
    /// The ids in the order of the bytes of their names: the order of tokens, of which there may be millions.
    pub(crate) fn sorted_by_bytes(&self) -> Vec<usize> {
        let mut keyed: Vec<(u64, u32)> = self.names().map(beginning).zip(0..).collect();
        self.sort_keyed(&mut keyed);
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
        SortKey { number: number_of(name), name }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let by_number = match (self.number, other.number) {
            (Some(a), Some(b)) => a.total_cmp(&b),
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_are_sorted_as_names_compare(
            names in prop::collection::vec("-?[0-9.e]{0,4}|[a-c]{0,12}|-?0|é.?|0x.|12345678[ab]{0,2}", 0..40),
        ) {
            let vocabulary: Vocabulary = names.iter().map(String::as_str).collect();
            let sorted = vocabulary.sorted();
            let selected = vocabulary.select(&sorted);
            let names: Vec<&str> = selected.names().collect();
            prop_assert_eq!(names.len(), vocabulary.len());
            prop_assert!(names.is_sorted_by(|a, b| canonical_order(a, b).is_lt()), "{:?}", names);
            prop_assert!(selected.is_sorted() && names.iter().enumerate().all(|(id, name)| selected.get(name) == Some(id)));
        }
    }

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

//! Names and their ids.
//!
//! Ids are given in order of arrival, so that counting never waits for a sort. Whatever is written, estimated or shown
//! goes through [`Vocabulary::sorted`], so that no result depends on which name came first.

use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use crate::moments::engine::ask;
use crate::numerics::ordered_bits;

/// Distinct strings, numbered from zero. Two vocabularies are matched by name, never by number.
#[derive(Clone, Default)]
pub struct Vocabulary {
    bytes: String,
    ends: Vec<usize>,
    /// A hash table whose size is a power of two, with linear probing. It is written by hand because reading text
    /// spends most of its time here: this table can prefetch the slot of a token several tokens ahead, and a slot holds
    /// everything about a short name. It stays empty until a name is interned.
    slots: Vec<Slot>,
    /// The same table, built on the first lookup when names have been appended but none was interned, so that looking a
    /// name up needs only a shared reference.
    lazy_slots: OnceLock<Vec<Slot>>,
    /// The order in which ids are put into the table, if it matters: earlier ones are found faster. Ids that are not
    /// listed come last.
    order: Option<Arc<[u32]>>,
    seed: Seed,
}

/// A name in the hash table, in half a cache line. Most names are short, and comparing a short name needs no other
/// memory.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Slot {
    spelling: Spelling,
    length: u32,
    /// [`FREE`] if the slot holds no name.
    id: u32,
    mark: u32,
}

const FREE: u32 = u32::MAX;
const FREE_SLOT: Slot = Slot { spelling: [0; 2], length: 0, id: FREE, mark: 0 };

/// The bytes of a name of up to 16, padded with zeros; the first and the last eight bytes of a longer name.
type Spelling = [u64; 2];

/// The most bytes that a [`Spelling`] holds completely. Longer names have to be compared in full.
const SHORT: usize = 16;

/// The length of a name, capped at 2^32 - 1. That capped lengths are equal does no harm, because such long names are
/// compared in full.
#[inline]
fn slot_length(name: &str) -> u32 {
    u32::try_from(name.len()).unwrap_or(u32::MAX)
}

#[inline]
fn spelling(name: &str) -> Spelling {
    let bytes = name.as_bytes();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        match bytes.len() {
            8 => [first, 0],
            9..=SHORT => [first, last >> (8 * (SHORT - bytes.len()))], // less what stands among the first
            _ => [first, last],
        }
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        [u64::from(first) | u64::from(last) << (8 * (bytes.len() - 4)), 0]
    } else {
        [bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0]
    }
}

/// A name of at most 16 bytes, held by value: reading, hashing and comparing one takes the same steps whatever its
/// length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShortName {
    spelling: Spelling,
    length: u32,
}

impl ShortName {
    /// Converts a name, if it is short enough.
    #[inline]
    pub fn new(name: &str) -> Option<Self> {
        (name.len() <= SHORT).then(|| ShortName { spelling: spelling(name), length: name.len() as u32 })
    }

    /// The first bytes of sixteen, given as two little-endian numbers; `None` unless they are ASCII.
    ///
    /// ```
    /// let [first, second] = [*b"to be or", *b" not to "].map(u64::from_le_bytes);
    /// assert_eq!(priory::vocabulary::ShortName::ascii([first, second], 12), priory::vocabulary::ShortName::new("to be or not"));
    /// assert_eq!(priory::vocabulary::ShortName::ascii([0xff, 0], 1), None);
    /// assert_eq!(priory::vocabulary::ShortName::ascii([0, 0], 17), None);
    /// ```
    #[inline]
    pub fn ascii(sixteen: [u64; 2], length: usize) -> Option<Self> {
        let [first, second] = BEGINNINGS.get(length)?;
        let spelling = [sixteen[0] & first, sixteen[1] & second];
        let ascii = (spelling[0] | spelling[1]) & 0x8080_8080_8080_8080 == 0;
        ascii.then_some(ShortName { spelling, length: length as u32 })
    }

    /// The name, written to a buffer.
    pub fn write(self, buffer: &mut [u8; SHORT]) -> &str {
        let [first, second] = self.spelling.map(u64::to_le_bytes);
        buffer[..8].copy_from_slice(&first);
        buffer[8..].copy_from_slice(&second);
        std::str::from_utf8(&buffer[..self.length as usize]).expect("made from a name")
    }
}

/// Masks that keep the first n bytes of sixteen, for every n.
static BEGINNINGS: [Spelling; SHORT + 1] = {
    let mut beginnings = [[0; 2]; SHORT + 1];
    let mut n = 1;
    while n <= SHORT {
        beginnings[n] = beginnings[n - 1];
        beginnings[n][(n - 1) / 8] |= 0xff << (8 * ((n - 1) % 8));
        n += 1;
    }
    beginnings
};

/// A short name whose slot in the table is being prefetched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AskedName {
    name: ShortName,
    hash: u64,
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
        let slots = self.slots.len() + self.lazy_slots.get().map_or(0, Vec::len);
        self.bytes.len() + size_of_val(&self.ends[..]) + slots * size_of::<Slot>()
    }

    /// Forgets every name but keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.slots.fill(FREE_SLOT);
        self.lazy_slots.take();
        self.order = None;
    }

    /// Forgets every name but the first few.
    pub(crate) fn truncate(&mut self, names: usize) {
        if names == 0 {
            return self.clear();
        }
        self.ends.truncate(names);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        self.slots.clear();
        self.lazy_slots.take();
        self.order.take_if(|order| order.len() > names);
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
        if self.is_empty() {
            return None;
        }
        let slots = match &self.slots[..] {
            [] => self.lazy_slots.get_or_init(|| self.index(slots_for(self.len()))),
            slots => slots,
        };
        let spelling = spelling(name);
        let place = self.place(slots, name, spelling);
        Some(slots[place].id).filter(|&id| id != FREE).map(|id| id as usize)
    }

    /// The id of a name; a new name gets the next one.
    ///
    /// # Panics
    /// If there are already 2^32 - 1 names.
    #[inline]
    pub fn intern(&mut self, name: &str) -> usize {
        self.intern_marked(name).0
    }

    /// The ids of many names, in their order. The slot of each is prefetched several names ahead.
    pub(crate) fn intern_all<'a>(&mut self, names: impl Iterator<Item = &'a str> + Clone) -> Vec<usize> {
        const AHEAD: usize = 16;
        let mut later = names.clone().skip(AHEAD);
        let mut ids = Vec::with_capacity(names.size_hint().0);
        for name in names {
            if let Some(name) = later.next().and_then(ShortName::new) {
                self.ask(name);
            }
            ids.push(self.intern(name));
        }
        ids
    }

    /// The id of a name, and its mark: a number that the caller may keep with each name, zero at first.
    #[inline]
    pub(crate) fn intern_marked(&mut self, name: &str) -> (usize, &mut u32) {
        self.make_room(1);
        let spelling = spelling(name);
        let place = self.place(&self.slots, name, spelling);
        if self.slots[place].id == FREE {
            self.slots[place] = self.append(name, spelling);
        }
        let slot = &mut self.slots[place];
        (slot.id as usize, &mut slot.mark)
    }

    /// Prepares to look up a name, and prefetches its slot.
    #[inline(always)]
    pub(crate) fn ask(&self, name: ShortName) -> AskedName {
        let hash = self.seed.hash_short(name.spelling);
        if let Some(slot) = self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)) {
            ask(std::slice::from_ref(slot));
        }
        AskedName { name, hash }
    }

    /// Like [`intern_marked`](Self::intern_marked), for a short name. The caller has [made room](Self::make_room) for
    /// it.
    #[inline(always)]
    pub(crate) fn intern_asked(&mut self, &AskedName { name, hash }: &AskedName) -> (usize, &mut u32) {
        let same = |slot: &Slot| slot.spelling == name.spelling && slot.length == name.length;
        let place = find(&self.slots, hash, same);
        if self.slots[place].id == FREE {
            self.slots[place] = self.append(name.write(&mut [0; SHORT]), name.spelling);
        }
        let slot = &mut self.slots[place];
        (slot.id as usize, &mut slot.mark)
    }

    /// Sets all marks to zero.
    pub(crate) fn unmark(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.mark = 0);
    }

    /// The slot of a name, or the free one where it belongs.
    #[inline]
    fn place(&self, slots: &[Slot], name: &str, spelling: Spelling) -> usize {
        find(slots, self.seed.hash(name, spelling), |slot| {
            slot.spelling == spelling
                && slot.length == slot_length(name)
                && (name.len() <= SHORT || self.name(slot.id as usize) == name)
        })
    }

    /// Appends a name, which gets the next id.
    fn append(&mut self, name: &str, spelling: Spelling) -> Slot {
        let id = u32::try_from(self.len()).ok().filter(|&id| id != FREE);
        let id = id.expect("fewer than 2^32 names fit into memory");
        self.bytes.push_str(name);
        self.ends.push(self.bytes.len());
        Slot { spelling, length: slot_length(name), id, mark: 0 }
    }

    /// Appends a new name. Unless the table is in use already, it is not put there yet: the next lookup builds the
    /// table.
    pub(crate) fn push_new(&mut self, name: &str) -> usize {
        if !self.slots.is_empty() {
            return self.intern(name);
        }
        self.lazy_slots.take();
        self.append(name, spelling(name)).id as usize
    }

    /// A vocabulary of these names, which must be distinct.
    pub(crate) fn of_distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vocabulary {
        let ends = Vec::with_capacity(names.size_hint().0);
        let mut distinct = Vocabulary { ends, ..Vocabulary::default() };
        names.for_each(|name| _ = distinct.push_new(name));
        distinct
    }

    /// A vocabulary of distinct names that follow each other in `bytes`; `ends` says where each of them ends.
    pub(crate) fn of_joined(bytes: String, ends: Vec<usize>) -> Vocabulary {
        assert!(ends.len() < FREE as usize, "fewer than 2^32 names fit into memory");
        Vocabulary { bytes, ends, ..Vocabulary::default() }
    }

    /// Grows the table, if necessary, so that this many more names fit.
    #[inline]
    pub(crate) fn make_room(&mut self, names: usize) {
        if self.len() + names > names_in(self.slots.len()) {
            self.resize(names);
        }
    }

    #[cold]
    fn resize(&mut self, names: usize) {
        if self.slots.is_empty() {
            self.slots = self.lazy_slots.take().unwrap_or_else(|| self.index(slots_for(self.len() + names)));
        }
        while self.len() + names > names_in(self.slots.len()) {
            let room = vec![FREE_SLOT; 2 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, room);
            // Names that came early tend to be frequent. They are inserted first, so that they are found without
            // probing.
            let early = self.len() as u32 / 8;
            for ids in [0..early, early..FREE] {
                for slot in old.iter().filter(|slot| ids.contains(&slot.id)) {
                    let place = find(&self.slots, self.hash_of(slot), |_| false);
                    self.slots[place] = *slot;
                }
            }
        }
    }

    /// A copy in which the first names of `order`, which lists all ids, are found fastest.
    pub(crate) fn with_first(&self, order: &Arc<[u32]>) -> Vocabulary {
        let (bytes, ends, seed) = (self.bytes.clone(), self.ends.clone(), self.seed.clone());
        Vocabulary {
            bytes,
            ends,
            slots: Vec::new(),
            lazy_slots: OnceLock::new(),
            order: Some(Arc::clone(order)),
            seed,
        }
    }

    /// A hash table of this many slots that holds all names.
    #[cold]
    fn index(&self, slots: usize) -> Vec<Slot> {
        /// The slots of this many names are prefetched before the names are inserted.
        const AT_ONCE: usize = 64;
        let mut slots = vec![FREE_SLOT; slots];
        let mut next: Vec<(u64, Slot)> = Vec::with_capacity(AT_ONCE);
        let order = self.order.as_deref().unwrap_or_default();
        let mut ids = order.iter().map(|&id| id as usize).chain(order.len()..self.len()).peekable();
        while ids.peek().is_some() {
            next.extend(ids.by_ref().take(AT_ONCE).map(|id| {
                let name = self.name(id);
                let spelling = spelling(name);
                let slot = Slot { spelling, length: slot_length(name), id: id as u32, mark: 0 };
                let hash = self.seed.hash(name, slot.spelling);
                ask(std::slice::from_ref(&slots[hash as usize & (slots.len() - 1)]));
                (hash, slot)
            }));
            for (hash, slot) in next.drain(..) {
                let place = find(&slots, hash, |_| false);
                slots[place] = slot;
            }
        }
        slots
    }

    fn hash_of(&self, slot: &Slot) -> u64 {
        match slot.length as usize {
            ..=SHORT => self.seed.hash_short(slot.spelling),
            _ => self.seed.hash(self.name(slot.id as usize), slot.spelling),
        }
    }

    /// The names with these ids, none of them twice, in this order.
    pub(crate) fn select(&self, ids: &[usize]) -> Vocabulary {
        if ids.len() == self.len() && ids.is_sorted() {
            return self.clone();
        }
        Vocabulary::of_distinct(ids.iter().map(|&id| self.name(id)))
    }

    /// The ids in canonical order of their names.
    pub fn sorted(&self) -> Vec<usize> {
        if self.is_sorted() {
            return (0..self.len()).collect();
        }
        // There may be millions of names, so numbers and words are sorted separately, each by a key of eight bytes.
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

/// The first slot, searching from where the hash points, that is the same or free. There is always a free one.
#[inline]
fn find(slots: &[Slot], hash: u64, same: impl Fn(&Slot) -> bool) -> usize {
    let last = slots.len() - 1;
    let mut place = hash as usize & last;
    // Most names are where they are looked for first.
    while !same(&slots[place]) && slots[place].id != FREE {
        place = (place + 1) & last;
    }
    place
}

/// Small, since a table may have hundreds of thousands of columns with only a value or two each.
const FEWEST_SLOTS: usize = 4;

/// How many names a table of this many slots may hold. With more, a lookup would probe too many slots.
fn names_in(slots: usize) -> usize {
    slots / 4 * 3
}

fn slots_for(names: usize) -> usize {
    (names + names / 3 + 1).next_power_of_two().max(FEWEST_SLOTS)
}

/// The first eight bytes of a name, which sort as names do unless they are the same.
fn beginning(name: &str) -> u64 {
    let mut eight = [0; 8];
    let length = name.len().min(8);
    eight[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(eight)
}

/// The value of a name that is a number.
fn number_of(name: &str) -> Option<f64> {
    name.parse().ok().filter(|x: &f64| x.is_finite()).map(|x| x + 0.0) // -0 and 0 are one number
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

/// What names are hashed with: random numbers, so that nobody can prepare a file whose names all collide. Ids follow
/// arrival and output follows the sort: the hash decides nothing but speed.
#[derive(Clone)]
struct Seed {
    short: [u64; 2],
    long: RandomState,
}

impl Default for Seed {
    fn default() -> Self {
        let long = RandomState::default();
        Seed { short: [0, 1].map(|i: u64| long.hash_one(i)), long }
    }
}

impl Seed {
    #[inline]
    fn hash(&self, name: &str, spelling: Spelling) -> u64 {
        if name.len() > SHORT { self.long.hash_one(name) } else { self.hash_short(spelling) }
    }

    /// A short name is hashed by one product, whose halves are folded together.
    #[inline]
    fn hash_short(&self, [first, last]: Spelling) -> u64 {
        let product = u128::from(first ^ self.short[0]) * u128::from(last ^ self.short[1]);
        product as u64 ^ (product >> 64) as u64
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
    fn names_of_every_length_are_told_apart() {
        let text = "abcdefghijklmnopqrstuvwxyzé";
        let names: Vec<&str> =
            (0..text.len()).flat_map(|i| (i..=text.len()).filter_map(move |j| text.get(i..j))).collect();
        let mut vocabulary = Vocabulary::default();
        for name in &names {
            vocabulary.make_room(1);
            let id = match ShortName::new(name) {
                Some(short) => vocabulary.intern_asked(&vocabulary.ask(short)).0,
                None => vocabulary.intern(name),
            };
            assert_eq!(vocabulary.name(id), *name);
            assert_eq!((vocabulary.get(name), vocabulary.intern(name)), (Some(id), id));
        }
        let distinct: std::collections::BTreeSet<&str> = names.into_iter().collect();
        assert_eq!(vocabulary.len(), distinct.len());
        for (a, b) in [("a", "aa"), ("aaaa", "aaaaa"), ("aaaaaaaa", "aaaaaaaaa"), ("", "\0")] {
            assert_ne!(vocabulary.intern(a), vocabulary.intern(b));
        }
    }

    #[test]
    fn names_that_were_new_are_found_later() {
        let name = |i: usize| format!("{}{i}", ["short", "a name that is long"][i % 2]);
        for found_at in [0, 1, 12, 13, 48, 49, 500] {
            let mut vocabulary = Vocabulary::default();
            for i in 0..500 {
                assert_eq!(vocabulary.push_new(&name(i)), i);
                if i == found_at {
                    assert_eq!(vocabulary.get(&name(i / 2)), Some(i / 2));
                    assert_eq!(vocabulary.get("another"), None);
                }
                if i == 2 * found_at {
                    assert_eq!(vocabulary.intern(&name(i)), i);
                }
            }
            let ids =
                vocabulary.intern_all((0..600).map(name).collect::<Vec<_>>().iter().map(String::as_str));
            assert_eq!(ids, (0..600).collect::<Vec<_>>());
            let backwards = vocabulary.with_first(&(0..600).rev().collect());
            for vocabulary in [vocabulary, backwards] {
                assert!(
                    (0..600).all(|i| vocabulary.get(&name(i)) == Some(i) && vocabulary.name(i) == name(i))
                );
            }
        }
    }

    #[test]
    fn the_first_names_stay() {
        let names: Vec<String> = (0..300).map(|i| format!("name{i}")).collect();
        let all: Vocabulary = names.iter().map(String::as_str).collect();
        for kept in [0, 1, 100, 300] {
            for mut vocabulary in [all.clone(), all.with_first(&(0..300).rev().collect())] {
                *vocabulary.intern_marked("name0").1 = 7;
                vocabulary.truncate(kept);
                assert_eq!(vocabulary.names().collect::<Vec<_>>(), names[..kept]);
                assert!((0..300).all(|i| vocabulary.get(&names[i]) == (i < kept).then_some(i)));
                assert_eq!((vocabulary.intern("new"), *vocabulary.intern_marked("name0").1), (kept, 0));
            }
        }
    }

    #[test]
    fn marks_stay_with_their_names() {
        let mut vocabulary = Vocabulary::default();
        for round in 1..4_u32 {
            for i in 0..1000_u32 {
                let (id, mark) =
                    vocabulary.intern_marked(&format!("a name that is long{}", i % (300 * round)));
                assert_eq!(id, (i % (300 * round)) as usize);
                *mark += 1;
            }
        }
        let marks = |vocabulary: &mut Vocabulary| -> u32 {
            (0..1000).map(|i| *vocabulary.intern_marked(&format!("a name that is long{i}")).1).sum()
        };
        assert_eq!(marks(&mut vocabulary.clone()), 3000);
        vocabulary.unmark();
        assert_eq!(marks(&mut vocabulary), 0);
        vocabulary.clear();
        assert_eq!((vocabulary.get("a name that is long1"), vocabulary.len()), (None, 0));
    }

    #[test]
    fn not_every_word_that_parses_is_a_number() {
        assert_eq!(canonical_order("nan", "1"), Ordering::Greater);
        assert_eq!(canonical_order("inf", "zebra"), Ordering::Less);
        assert_eq!(canonical_order("-0", "0"), Ordering::Less);
    }
}

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::{Batch, Column, Kind, Schema, Settings};
use proptest::prelude::*;

use super::*;
use crate::change::{Action, Described};
use crate::lines::Written;

fn schema() -> Schema {
    Schema::new("y", vec![Column::new("a", Kind::Category)]).unwrap()
}

fn first() -> Learnt {
    let mut learnt = Learnt::empty(&schema(), Settings::default());
    learnt.learn(&Batch::from_rows(&[("p", [Some("u")]), ("q", [Some("v")])])).unwrap();
    learnt
}

/// A folder with a model.
fn begun() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.priory");
    store::replace_file(&path, &first().to_bytes()).unwrap();
    (directory, path)
}

fn change(action: Action, value: u8, id: Option<&str>) -> Change {
    let body = Bytes::from(format!("{{\"y\":\"p\",\"a\":\"{value}\"}}\n"));
    let what = Described { action, id: id.map(str::to_owned), rows: 1, format: Written::Jsonl };
    Change::new(what, body, &schema()).unwrap()
}

fn batch(value: u8) -> Batch {
    Batch::from_rows(&[("p", [Some(value.to_string().as_str())])])
}

/// What can happen to a model.
#[derive(Debug, Clone)]
enum Event {
    Learn(u8),
    Forget(u8),
    Fold,
    /// The process ends, and is started again.
    Crash,
    /// It ends after a new version counts and before the model file is replaced.
    CrashInFold,
    /// The command line learns a row.
    Foreign(u8),
    RollBack,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0..4_u8).prop_map(Event::Learn),
        3 => (0..4_u8).prop_map(Event::Forget),
        2 => Just(Event::Fold),
        2 => Just(Event::Crash),
        1 => Just(Event::CrashInFold),
        2 => (0..4_u8).prop_map(Event::Foreign),
        1 => Just(Event::RollBack),
    ];
    prop::collection::vec(event, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happens, what was learnt is the sum of all changes that were made.
    #[test]
    fn nothing_is_lost_or_counted_twice(events in events()) {
        let (_directory, path) = begun();
        let mut books = Mutex::new(Books::open(&path, 3).unwrap());
        let mut expected = first();
        for event in events {
            match event {
                Event::Learn(value) => {
                    let made = held(&books).commit(&[&change(Action::Learn, value, None)]);
                    prop_assert!(made[0].is_ok());
                    expected.learn(&batch(value)).unwrap();
                }
                Event::Forget(value) => {
                    let made = held(&books).commit(&[&change(Action::Forget, value, None)]);
                    prop_assert_eq!(made[0].is_ok(), expected.forget(&batch(value)).is_ok());
                }
                Event::Fold => {
                    fold(&books).unwrap();
                    prop_assert_eq!(store::read_bytes(&path).unwrap(), expected.to_bytes());
                }
                Event::Crash => {
                    drop(books);
                    books = Mutex::new(Books::open(&path, 3).unwrap());
                }
                Event::CrashInFold => {
                    let mut inside = books.into_inner().unwrap();
                    let bytes = inside.learnt.to_bytes();
                    let version = Version { number: inside.next_number(), hash: hash_of(&bytes) };
                    store::replace_file(inside.folder.join(version.file_name()), &bytes).unwrap();
                    let placed = inside.placed.clone();
                    inside.begin(version, Some(placed), Vec::new()).unwrap();
                    drop(inside);
                    books = Mutex::new(Books::open(&path, 3).unwrap());
                    prop_assert_eq!(store::read_bytes(&path).unwrap(), expected.to_bytes());
                }
                Event::Foreign(value) => {
                    let lock = store::lock(&path).unwrap();
                    let mut learnt = store::read_model(&path).unwrap();
                    learnt.learn(&batch(value)).unwrap();
                    lock.replace(&learnt.to_bytes()).unwrap();
                    look(&books).unwrap();
                    expected.learn(&batch(value)).unwrap();
                }
                Event::RollBack => {
                    let wanted = held(&books).base().hash.clone();
                    fold(&books).unwrap();
                    if !held(&books).versions().iter().any(|version| version.hash == wanted) {
                        continue;
                    }
                    roll_back(&books, Some(&wanted)).unwrap();
                    let bytes = store::read_bytes(&path).unwrap();
                    prop_assert_eq!(hash_of(&bytes), wanted);
                    expected = Learnt::read(&bytes).unwrap();
                }
            }
            prop_assert_eq!(held(&books).learnt.to_bytes(), expected.to_bytes());
        }
    }
}

#[test]
fn ids_are_remembered_across_versions() {
    let (_directory, path) = begun();
    let learn = || change(Action::Learn, 7, Some("once"));
    let books = Mutex::new(Books::open(&path, 3).unwrap());
    let both = held(&books).commit(&[&learn(), &learn()]);
    let repeated = |done: &std::result::Result<Done, NotDone>| done.as_ref().unwrap().is_repeated;
    assert_eq!(both.iter().map(repeated).collect::<Vec<_>>(), [false, true]);
    assert_eq!(fold(&books).unwrap(), Folded::Written);
    assert_eq!(fold(&books).unwrap(), Folded::Unchanged);
    drop(books);
    let mut books = Books::open(&path, 3).unwrap();
    assert!(repeated(&books.commit(&[&learn()])[0]));
    let other = books.commit(&[&change(Action::Learn, 8, Some("once"))]);
    assert!(matches!(other[0], Err(NotDone::OtherId(_))));
    assert_eq!(books.learnt.statistics.rows(), 3);
}

#[test]
fn a_file_that_could_be_older_or_newer_is_not_guessed_at() {
    let (_directory, path) = begun();
    let mut books = Books::open(&path, 3).unwrap();
    assert!(books.commit(&[&change(Action::Learn, 7, None)])[0].is_ok());
    let bytes = books.learnt.to_bytes();
    let version = Version { number: 2, hash: hash_of(&bytes) };
    store::replace_file(books.folder.join(version.file_name()), &bytes).unwrap();
    let placed = books.placed.clone();
    books.begin(version, Some(placed), Vec::new()).unwrap();
    drop(books);
    let mut foreign = first();
    foreign.learn(&batch(9)).unwrap();
    store::replace_file(&path, &foreign.to_bytes()).unwrap();
    let refused = Books::open(&path, 3).unwrap_err().to_string();
    assert!(refused.contains("was replaced while"), "{refused}");
}

#[test]
fn few_versions_are_kept() {
    let (_directory, path) = begun();
    let books = Mutex::new(Books::open(&path, 3).unwrap());
    for value in 0..10 {
        assert!(held(&books).commit(&[&change(Action::Learn, value, None)])[0].is_ok());
        fold(&books).unwrap();
        assert!(held(&books).versions().len() <= 3);
    }
    let hashes: Vec<String> = held(&books).versions().into_iter().map(|version| version.hash).collect();
    assert_eq!(hashes.last(), Some(&hash_of(&store::read_bytes(&path).unwrap())));
}

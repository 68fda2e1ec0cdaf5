#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use proptest::prelude::*;

use super::digest::fields;
use super::*;

fn message(number: usize, words: &str) -> Vec<u8> {
    format!(
        "From: a{number}@example.org\nSubject: mail {number}\nMessage-ID: <{number}@example.org>\n\n{words}\n"
    )
    .into_bytes()
}

fn spam(number: usize) -> Vec<u8> {
    message(number, &format!("win cheap money pills now w{}", number % 7))
}

fn ham(number: usize) -> Vec<u8> {
    message(1000 + number, &format!("see you at lunch after the lecture w{}", number % 7))
}

fn store() -> (tempfile::TempDir, Lessons) {
    let folder = tempfile::tempdir().unwrap();
    let lessons = Lessons::open_or_create(folder.path().join("mail")).unwrap();
    (folder, lessons)
}

fn teach(lessons: &Lessons, learn: &[(Vec<u8>, &str)]) {
    let mut teacher = lessons.teach(1).unwrap();
    for (message, class) in learn {
        teacher.learn(message, class).unwrap();
    }
    teacher.finish().unwrap();
}

fn some(of: impl Fn(usize) -> Vec<u8>, class: &'static str, count: usize) -> Vec<(Vec<u8>, &'static str)> {
    (0..count).map(|number| (of(number), class)).collect()
}

fn model(lessons: &Lessons) -> Vec<u8> {
    fs::read(lessons.newest_model().unwrap().unwrap()).unwrap()
}

#[test]
fn twenty_lessons_make_an_opinion() {
    let (_folder, lessons) = store();
    let rule = Rule { spam: "spam".into(), ham_loss: 9.0 };
    let verdict = |message: &[u8]| rule.verdict(lessons.opinion(message).unwrap().as_ref()).0;
    assert_eq!(verdict(&spam(100)), Verdict::Unsure);
    teach(&lessons, &some(spam, "spam", 9));
    teach(&lessons, &some(ham, "ham", 9));
    assert_eq!(verdict(&spam(100)), Verdict::Unsure);
    teach(&lessons, &some(spam, "spam", 60));
    teach(&lessons, &some(ham, "ham", 60));
    let opinion = lessons.opinion(&spam(100)).unwrap().unwrap();
    assert!(opinion.is_judged && opinion.of("spam") > 0.9, "{opinion:?}");
    assert_eq!(verdict(&spam(100)), Verdict::Spam);
    assert_eq!(verdict(&ham(100)), Verdict::Other("ham".into()));
    assert_eq!(lessons.opinion(&ham(100)).unwrap().unwrap().lessons, 120);
}

#[test]
fn lessons_are_learnt_once_moved_and_forgotten_exactly() {
    let (_folder, lessons) = store();
    teach(&lessons, &some(spam, "spam", 25));
    teach(&lessons, &some(ham, "ham", 25));
    lessons.teach(1).unwrap().compact().unwrap();
    let before = model(&lessons);
    let mut teacher = lessons.teach(1).unwrap();
    assert_eq!(teacher.learn(&spam(3), "spam").unwrap(), Taught::Known);
    assert_eq!(teacher.learn(&spam(500), "ham").unwrap(), Taught::Learnt);
    teacher.finish().unwrap();
    assert_ne!(model(&lessons), before);
    let mut teacher = lessons.teach(1).unwrap();
    assert_eq!(teacher.learn(&spam(500), "spam").unwrap(), Taught::Moved("ham".into()));
    teacher.finish().unwrap();
    let mut teacher = lessons.teach(1).unwrap();
    assert_eq!(teacher.forget(&spam(500)).unwrap().as_deref(), Some("spam"));
    assert_eq!(teacher.forget(&spam(500)).unwrap(), None);
    assert_eq!(teacher.classes().into_iter().collect::<Vec<_>>(), [("ham", 25), ("spam", 25)]);
    teacher.finish().unwrap();
    assert_eq!(model(&lessons), before);
}

/// What programs do to a message on its way does not make another message of it; what its sender wrote does.
#[test]
fn messages_are_recognised() {
    let (_folder, lessons) = store();
    let plain = spam(1);
    let text = String::from_utf8(plain.clone()).unwrap();
    let on_its_way =
        format!("Received: by mx\n\tid 7\nX-Spam: no\nStatus: RO\n{text}\n").replace('\n', "\r\n");
    teach(&lessons, &[(plain.clone(), "spam")]);
    let mut teacher = lessons.teach(1).unwrap();
    assert_eq!(teacher.learn(on_its_way.as_bytes(), "spam").unwrap(), Taught::Known);
    assert_eq!(teacher.learn(text.replace("cheap", "free").as_bytes(), "spam").unwrap(), Taught::Learnt);
    // With its identity in a field, whatever becomes of the rest.
    let marked = filtered(&plain).with(&[lessons.id_field(&plain)]);
    let mangled = String::from_utf8(marked).unwrap().replace("cheap money", "[link removed]");
    assert_eq!(teacher.forget(mangled.as_bytes()).unwrap().as_deref(), Some("spam"));
    // An identity that this store did not write is none.
    let forged = format!("X-Priory-Id: {}-{}\n{text}", "0".repeat(32), "0".repeat(16));
    assert_eq!(teacher.class_of(forged.as_bytes()), None);
    assert_eq!(teacher.learn(forged.as_bytes(), "spam").unwrap(), Taught::Learnt);
    assert_eq!(teacher.learn(&plain, "spam").unwrap(), Taught::Known);
}

/// Whatever is cut off the journal, the lessons before it are there, and models follow from them.
#[test]
fn what_was_synced_survives() {
    let (_folder, lessons) = store();
    teach(&lessons, &some(spam, "spam", 12));
    let half = lessons.folder().join(journal_name(0));
    let whole = fs::read(&half).unwrap();
    teach(&lessons, &some(ham, "ham", 12));
    let all = fs::read(&half).unwrap();
    let expected = model(&lessons);
    for end in (whole.len()..all.len()).step_by(97) {
        fs::write(&half, &all[..end]).unwrap();
        let teacher = lessons.teach(1).unwrap();
        assert_eq!(teacher.classes().get("spam"), Some(&12));
        teacher.finish().unwrap();
        assert!(lessons.opinion(&spam(1)).unwrap().is_some());
    }
    fs::write(&half, &all).unwrap();
    for place in Names::of(lessons.folder()).unwrap().models {
        fs::remove_file(lessons.folder().join(place.model())).unwrap();
    }
    lessons.teach(1).unwrap().finish().unwrap();
    assert!(model(&lessons) == expected);
}

/// Whoever may look into the folder, the files are for their owner alone.
#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let lessons = Lessons::open_or_create(folder.path()).unwrap();
    teach(&lessons, &some(spam, "spam", 3));
    lessons.teach(1).unwrap().compact().unwrap();
    teach(&lessons, &some(ham, "ham", 3));
    let mut files = 0;
    for entry in fs::read_dir(lessons.folder()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        files += 1;
    }
    assert_eq!(files, 3);
}

#[test]
fn classes_are_words() {
    let (_folder, lessons) = store();
    let mut teacher = lessons.teach(1).unwrap();
    for class in ["", ".", "../x", "a b", "x\nY: z", "unsure", "-x", &"x".repeat(65)] {
        assert!(teacher.learn(&spam(1), class).is_err(), "{class}");
    }
    assert!(teacher.learn(&spam(1), "lists.rust@example.org").is_ok());
}

proptest! {
    /// Nothing of a message changes but the fields that are ours.
    #[test]
    fn messages_pass_through(message in any_message(), verdict in "[ -~]{0,30}") {
        let with = filtered(&message).with(&[("X-Priory", verdict)]);
        let without = filtered(&with).with(&[]);
        prop_assert_eq!(&without, &filtered(&message).with(&[]));
        let has_own = fields(&message).any(|(name, _)| name.to_ascii_lowercase().starts_with(b"x-priory"));
        if !has_own {
            prop_assert_eq!(without, message);
        }
    }

    #[test]
    fn records_are_read_as_written(class in "[a-z]{1,20}", time: u64, texts in prop::collection::vec(any::<String>(), 7), bytes: Vec<u8>) {
        let lesson = Lesson::new(&class, time, texts.iter()).unwrap();
        prop_assert_eq!(lesson.texts(), Some(texts));
        for record in [Record::Learnt([7; 16], lesson), Record::Forgotten([9; 16])] {
            prop_assert_eq!(Record::from_bytes(&record.to_bytes()), Some(record));
        }
        if let Some(Record::Learnt(_, lesson)) = Record::from_bytes(&bytes) {
            let _ = lesson.texts();
        }
    }
}

fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let known = [
        "From x Thu Aug 22 13:17:22 2002\n",
        "Subject: a\n",
        "X-Priory: spam\n",
        "x-priory-id: 0\n  more\n",
        "\tmore\n",
        "\n",
        "\r\n",
        "body",
        "X: y\r\n",
    ];
    let part = prop_oneof![
        4 => prop::sample::select(known.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
}

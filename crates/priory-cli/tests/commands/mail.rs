//! Mail from wherever mail programs keep it.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Folder, text};

const SPAM: [&str; 2] = ["Subject: win\n\nwin money\n\nFrom now on\n", "Subject: pills\n\ncheap pills\n"];
const HAM: [&str; 2] =
    ["Subject: lunch\n\nsee you at noon\n", "From: a@example.org\nSubject: notes\n\nFrom the lecture\n"];

fn mbox(messages: &[&str]) -> String {
    let quoted = |message: &&str| {
        let lines = message.lines().map(|line| match line.trim_start_matches('>').starts_with("From ") {
            true => format!(">{line}\n"),
            false => format!("{line}\n"),
        });
        format!("From somebody@example.org Thu Aug 22 13:17:22 2002\n{}\n", lines.collect::<String>())
    };
    messages.iter().map(quoted).collect()
}

/// The same messages give the same bytes from every kind of mailbox.
#[test]
fn every_kind_of_mailbox_holds_the_same_mails() {
    let folder = Folder::new();
    for (class, messages) in [("spam", SPAM), ("ham", HAM)] {
        fs::create_dir_all(folder.path(&format!("files/{class}"))).unwrap();
        fs::create_dir_all(folder.path(&format!("mh/{class}"))).unwrap();
        for part in ["cur", "new", "tmp", ".Trash/cur", ".Trash/new"] {
            fs::create_dir_all(folder.path(&format!("maildir/{class}/{part}"))).unwrap();
        }
        for (i, message) in messages.iter().enumerate() {
            folder.write(&format!("files/{class}/{i}.eml"), message);
            folder.write(&format!("mh/{class}/{}", i + 1), message);
            let part = ["cur", "new"][i];
            folder.write(&format!("maildir/{class}/{part}/10{i}.host:2,S"), message);
        }
        folder.write(&format!("mh/{class}/.mh_sequences"), "unseen: 1\n");
        folder.write(&format!("maildir/{class}/dovecot-uidlist"), "3 V1\n");
        folder.write(&format!("maildir/{class}/tmp/half"), "Subject: half of a mess");
        folder.write(&format!("maildir/{class}/.Trash/cur/1.host:2,S"), "Subject: old\n\nold\n");
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(mbox(&messages).as_bytes()).unwrap();
        fs::write(folder.path(&format!("{class}.mbox.gz")), packed.finish().unwrap()).unwrap();
        folder.write(&format!("{class}.mbox"), &mbox(&messages));
        folder.write(&format!("{class}-crlf.mbox"), &mbox(&messages).replace('\n', "\r\n"));
    }
    let packed = std::process::Command::new("tar")
        .args(["czf", "files.tar.gz", "files"])
        .current_dir(folder.path("."))
        .status();
    assert!(packed.unwrap().success());
    let expected = folder.train("--mail spam=files/spam ham=files/ham --judge none");
    for sources in [
        "files",
        "mh",
        "maildir",
        "files.tar.gz",
        "spam=mh/spam ham=maildir/ham",
        "spam=maildir/spam ham=ham.mbox",
        "spam.mbox ham.mbox.gz",
        "ham=ham-crlf.mbox spam=spam.mbox",
        "ham=files/ham/0.eml ham=files/ham/1.eml spam=spam.mbox.gz",
    ] {
        let found = folder.train(&format!("--mail {sources} --judge none"));
        assert!(found == expected, "{sources}");
    }
    let error = folder.fails(1, "train --mail spam=nowhere ham=files/ham");
    assert!(error.contains("nowhere: cannot be opened"), "{error}");
}

/// What is learnt of a mail is forgotten with it, and a mail on the standard input is one like any other.
#[test]
fn mails_are_learnt_forgotten_and_predicted() {
    let folder = Folder::new();
    folder.write("spam.mbox", &mbox(&SPAM)).write("ham.mbox", &mbox(&HAM)).write("more.eml", SPAM[1]);
    let before = folder.train("--mail spam=spam.mbox ham=ham.mbox --judge none");
    folder.stdout("learn trained.priory --mail ham=more.eml");
    assert_ne!(folder.bytes("trained.priory"), before);
    folder.stdout("forget trained.priory --mail ham=more.eml");
    assert_eq!(folder.bytes("trained.priory"), before);
    let predicted = folder.stdout("predict trained.priory --mail spam.mbox --keep class,path");
    assert_eq!(predicted, "class,path,prediction\nspam,spam.mbox,spam\nspam,spam.mbox#2,spam\n");
    let mut command = assert_cmd::Command::from_std(folder.command("predict trained.priory --mail -"));
    let output = command.write_stdin(HAM[0]).output().unwrap();
    assert_eq!(text(&output.stdout), "path,prediction\nstandard input,ham\n");
    let explained = folder.stdout("explain trained.priory --mail more.eml");
    assert!(explained.contains("subject") && explained.contains("pills"), "{explained}");
    let error = folder.fails(1, "train --mail spam=spam.mbox ham=ham.mbox --keep-case");
    assert!(error.contains("taken apart in its own way"), "{error}");
}

/// Every message of collections of broken ones gets a row.
#[test]
fn broken_messages_are_messages() {
    let Some(data) = std::env::var_os("PRIORY_DATA").map(std::path::PathBuf::from).or_else(|| {
        let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        beside.is_dir().then_some(beside)
    }) else {
        eprintln!("the collections of broken messages are not there: not tested");
        return;
    };
    let folder = Folder::new();
    folder.write("spam.mbox", &mbox(&SPAM)).write("ham.mbox", &mbox(&HAM));
    folder.train("--mail spam=spam.mbox ham=ham.mbox --judge none");
    for (name, least) in [("python_email_msgs", 40), ("notmuch_corpora", 300)] {
        let archive = data.join(format!("mail_fixtures/{name}.tar.gz"));
        if !archive.is_file() {
            eprintln!("{} is not there: not tested", archive.display());
            continue;
        }
        let predicted = folder.stdout(&format!("predict trained.priory --mail {}", archive.display()));
        let rows = predicted.lines().skip(1);
        assert!(rows.clone().all(|row| row.ends_with(",ham") || row.ends_with(",spam")), "{predicted}");
        assert!(rows.count() >= least, "{name}");
    }
}

/// A message that the filter has not seen.
fn new_mail(number: usize, words: &str) -> String {
    format!(
        "From: a{number}@example.org\nSubject: mail {number}\nMessage-ID: <{number}@example.org>\n\n{words}\n"
    )
}

fn spam_mail(number: usize) -> String {
    new_mail(number, &format!("win cheap money pills now w{}", number % 7))
}

fn ham_mail(number: usize) -> String {
    new_mail(1000 + number, &format!("see you at lunch after the lecture w{}", number % 7))
}

/// A store with so many lessons of each class.
fn taught(lessons: usize) -> Folder {
    let folder = Folder::new();
    let boxes = [("spam", spam_mail as fn(usize) -> String), ("ham", ham_mail)];
    for (class, of) in boxes {
        let mails: Vec<String> = (0..lessons).map(of).collect();
        let mails: Vec<&str> = mails.iter().map(String::as_str).collect();
        folder.write(&format!("{class}.mbox"), &mbox(&mails));
        folder.stdout(&format!("mail --store s learn {class} {class}.mbox"));
    }
    folder
}

/// What the program answers to this input: output, messages and exit code.
fn asked(folder: &Folder, arguments: &str, input: &str) -> (String, String, i32) {
    let mut command = assert_cmd::Command::from_std(folder.command(arguments));
    let output = command.write_stdin(input).output().unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

#[test]
fn verdicts_have_exit_codes() {
    let folder = Folder::new();
    let (out, error, code) = asked(&folder, "mail --store s check", &spam_mail(1));
    assert!(out.is_empty() && error.contains("priory mail learn begins") && code == 3, "{error}");
    let folder = taught(5);
    let (out, error, code) = asked(&folder, "mail --store s check", &spam_mail(99));
    assert!(out.starts_with("unsure ") && code == 2 && error.contains("10 lessons so far"), "{out}{error}");
    let folder = taught(40);
    let (out, error, code) = asked(&folder, "mail --store s check --ham-loss 9", &spam_mail(99));
    assert!(out.starts_with("spam 0.9") && code == 0 && error.is_empty(), "{out}{error}");
    let (out, _, code) = asked(&folder, "mail --store s check --ham-loss 9", &ham_mail(99));
    assert!(out.starts_with("ham 0.0") && code == 1, "{out}");
    let (_, _, code) = asked(&folder, "mail --store s check --ham-loss 1e9", &spam_mail(99));
    assert_eq!(code, 2);
    let (out, _, _) = asked(&folder, "mail --store s check --format json", &spam_mail(99));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let posterior = &json["posterior"];
    assert_eq!(json["lessons"], 80);
    super::assert_close(&posterior["spam"], 1.0 - super::number(&posterior["ham"]), 1e-12);
}

/// The message comes out with a verdict and nothing else changed, and unchanged if there can be none.
#[test]
fn filtered_messages_lose_nothing() {
    let folder = taught(40);
    let message = format!("X-Priory: ham 0.0001\n{}", spam_mail(99)).replace('\n', "\r\n");
    let (out, error, code) = asked(&folder, "mail --store s filter --ham-loss 9", &message);
    assert_eq!(code, 0, "{error}");
    let (head, rest) = out.split_at(out.find("From: ").unwrap());
    assert_eq!(rest, spam_mail(99).replace('\n', "\r\n"));
    let fields: Vec<&str> = head.split_terminator("\r\n").collect();
    assert!(fields.len() == 2 && fields[0].starts_with("X-Priory: spam 0.9"), "{head}");
    assert!(fields[0].contains("body") && fields[0].contains(" bits"), "{head}");
    // Its identity goes with it: what is learnt of the filtered message is known of the other.
    let (_, error, _) = asked(&folder, "mail --store s learn spam", &out.replace("win cheap", "[removed]"));
    assert!(error.contains("1 mail learnt"), "{error}");
    let (_, error, _) = asked(&folder, "mail --store s learn spam", &spam_mail(99));
    assert!(error.contains("1 known already"), "{error}");
    for (arguments, expected) in
        [("mail --store nowhere filter", 3), ("mail --store nowhere filter --tempfail", 75)]
    {
        let (out, error, code) = asked(&folder, arguments, &message);
        assert_eq!((out.as_str(), code), (message.as_str(), expected), "{error}");
    }
}

#[test]
fn lessons_are_taken_back_and_moved() {
    let folder = taught(40);
    folder.stdout("mail --store s compact");
    folder.stdout("mail --store s export before.priory");
    folder.write("new.eml", &spam_mail(200));
    folder.stdout("mail --store s learn ham new.eml");
    let (_, error, _) = asked(&folder, "mail --store s move spam new.eml", "");
    assert!(error.contains("1 mail moved to spam"), "{error}");
    let status = folder.json("mail --store s status");
    assert_eq!((&status["classes"]["spam"], &status["classes"]["ham"]), (&41.into(), &40.into()));
    let (_, error, _) = asked(&folder, "mail --store s forget new.eml", "");
    assert!(error.contains("1 mail forgotten"), "{error}");
    folder.stdout("mail --store s export after.priory");
    assert_eq!(folder.bytes("after.priory"), folder.bytes("before.priory"));
    let (_, error, _) = asked(&folder, "mail --store s forget new.eml", "");
    assert!(error.contains("0 mails forgotten, 1 never learnt"), "{error}");
    // What was exported is a model like any other.
    assert!(folder.stdout("predict after.priory --mail new.eml").ends_with("new.eml,spam\n"));
    let error = folder.fails(3, "mail --store s learn ../spam new.eml");
    assert!(error.contains("is not a word of at most 64 letters"), "{error}");
}

/// Evidence is listed in bits that add up.
#[test]
fn evidence_adds_up() {
    let folder = taught(40);
    folder.write("new.eml", &spam_mail(99));
    let out = folder.stdout("mail --store s explain new.eml");
    let bits = |line: &str| line.split_whitespace().last().and_then(|bits| bits.parse::<f64>().ok());
    let table: Vec<&str> = out.split("column").next().unwrap().lines().collect();
    let together = table.iter().find(|line| line.contains("together")).and_then(|line| bits(line)).unwrap();
    let terms: Vec<f64> =
        table.iter().filter(|line| !line.contains("together")).filter_map(|line| bits(line)).collect();
    // The first is P(spam).
    let sum: f64 = terms[1..].iter().sum();
    assert!((sum - together).abs() <= 0.005 * (terms.len() + 1) as f64, "{out}");
}

/// Processes that are killed while they teach lose no lesson that they were done with, and spoil nothing.
#[test]
fn killed_teachers_lose_nothing() {
    let folder = taught(12);
    let mut state = 7_u32;
    let mut done = 0;
    for number in 0..40 {
        folder.write("one.eml", &ham_mail(5000 + number));
        let mut child = folder.command("mail --store s learn ham one.eml").spawn().unwrap();
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(std::time::Duration::from_micros(u64::from(state >> 17)));
        let _ = child.kill();
        done += usize::from(child.wait().unwrap().success());
        let (out, error, code) = asked(&folder, "mail --store s check", &ham_mail(1));
        assert!(code != 3 && !out.is_empty(), "{error}");
    }
    let status = folder.json("mail --store s status");
    let ham = status["classes"]["ham"].as_u64().unwrap() as usize;
    assert!((12 + done..=12 + 40).contains(&ham), "{done} were done, and {ham} are there");
    // All that is there was learnt once, and the model is the one of that.
    folder.stdout("mail --store s compact");
    let after = folder.json("mail --store s status");
    assert_eq!(after["classes"]["ham"].as_u64().unwrap() as usize, ham);
}

/// Two who teach and ten who ask, all at the same time: every lesson is there, and every question is answered.
#[test]
fn teachers_wait_for_each_other_and_nobody_for_them() {
    let folder = taught(12);
    std::thread::scope(|scope| {
        for teacher in 0..2 {
            let folder = &folder;
            scope.spawn(move || {
                for number in 0..5 {
                    let name = format!("{teacher}-{number}.eml");
                    folder.write(&name, &ham_mail(7000 + 100 * teacher + number));
                    assert!(folder.run(&format!("mail --store s learn ham {name}")).status.success());
                }
            });
        }
        for _ in 0..10 {
            let folder = &folder;
            scope.spawn(move || {
                for _ in 0..5 {
                    let (out, error, code) = asked(folder, "mail --store s check", &spam_mail(1));
                    assert!(code != 3 && !out.is_empty(), "{error}");
                }
            });
        }
    });
    assert_eq!(folder.json("mail --store s status")["classes"]["ham"], 22);
}

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

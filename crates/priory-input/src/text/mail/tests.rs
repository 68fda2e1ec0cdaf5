#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use proptest::prelude::*;

use super::*;

/// The tokens of a column of tokens, or the words of one of words.
fn found<'a>(mail: &'a Mail, column: &str) -> Vec<&'a str> {
    mail.column(column).unwrap().split_whitespace().collect()
}

fn has(mail: &Mail, column: &str, token: &str) -> bool {
    found(mail, column).contains(&token)
}

#[test]
fn words_are_decoded_whatever_they_are_written_in() {
    let mail = Mail::new(
        b"From: =?iso-8859-1?q?J=FCrgen?= <j@example.org>\r\nSubject: =?utf-8?b?R3LDvMOfZQ==?= =?utf-8?q?_an_alle?=\r\n\
          Content-Type: text/plain; charset=koi8-r\r\nContent-Transfer-Encoding: base64\r\n\r\n8NLJ18XU\r\n",
    );
    assert_eq!(mail.column("subject"), Some("Grüße an alle\n"));
    assert_eq!(found(&mail, "body"), ["Привет"]);
    assert!(has(&mail, "sender", "name:jürgen") && has(&mail, "sender", "domain:.org"));
    assert!(has(&mail, "shape", "subject:beyond-ascii"));
}

#[test]
fn html_is_read_as_people_see_it() {
    let mail = Mail::new(
        b"Content-Type: text/html\n\n<html><head><title>Title</title><style>p { color: red }</style></head><body bgcolor=white>\
          Via<!-- x -->gra <b>now</b><p style='display: none'>poem</p><font color=#fffffe>prose</font>\
          <a href='http://10.0.0.1:8080/buy/x9?id=me@example.org'>http://bank.example/login</a><script>if (a) b()</script>",
    );
    assert_eq!(found(&mail, "body"), ["Viagra", "now", "http://bank.example/login"]);
    assert_eq!(found(&mail, "hidden"), ["Title", "poem", "prose"]);
    for token in
        ["url:⟨number⟩", "url:⟨port⟩8080", "url:10.0.0", "path:buy", "path:⟨number⟩", "path:⟨address⟩"]
    {
        assert!(has(&mail, "links", token), "{token}: {:?}", mail.column("links"));
    }
    for token in
        ["leads-elsewhere:1", "comments:1", "tag:script", "tag:font", "background:white", "style:display"]
    {
        assert!(has(&mail, "shape", token), "{token}: {:?}", mail.column("shape"));
    }
}

#[test]
fn of_two_versions_people_see_one() {
    let mail = Mail::new(
        b"Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nprose\n\
          --b\nContent-Type: text/html\n\n<p>offer\n--b--\n",
    );
    assert_eq!((found(&mail, "body"), found(&mail, "hidden")), (vec!["offer"], vec!["prose"]));
}

#[test]
fn attachments_have_names_and_messages_have_messages() {
    let mail = Mail::new(
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nsee\n\
          --b\nContent-Type: application/octet-stream; name=\"bill.pdf.exe\"\nContent-Transfer-Encoding: base64\n\nAAAA\n\
          --b\nContent-Type: message/rfc822\n\nSubject: inner\n\ninside\n--b--\n",
    );
    assert!(has(&mail, "shape", "attached:exe") && has(&mail, "shape", "attached:pdf.exe"), "{mail:?}");
    assert!(has(&mail, "shape", "part:message"), "{mail:?}");
    assert_eq!(found(&mail, "body"), ["see", "inside"]);
}

/// What another filter thought, where the mail was delivered, and to whom, is passed over; which list it came by is not.
#[test]
fn verdicts_and_mailboxes_are_no_evidence() {
    let plain =
        "From: a@example.org\nTo: you@example.org\nList-Id: <talk.example.org>\nSubject: hello\n\nsee you\n";
    let marked = "From you@example.org Thu Aug 22 13:17:22 2002\nReturn-Path: <x@y.example>\nDelivered-To: me@z.example\n\
                  X-Spam-Status: Yes, score=9\nX-Bogosity: Spam, spamicity=1\nX-Priory: ham 0.001\nStatus: RO\n\
                  X-DSPAM-Result: Spam\nX-Rspamd-Score: 7\nAuthentication-Results: mx.example; dkim=fail\n";
    let other_recipient = plain.replace("you@example.org", "someone.else@elsewhere.example");
    let mail = Mail::new(plain.as_bytes());
    assert_eq!(mail, Mail::new(format!("{marked}{other_recipient}").as_bytes()));
    assert!(has(&mail, "header", "list-id:talk.example.org") && has(&mail, "header", "has:list-id"));
}

#[test]
fn disguises_are_taken_off_and_counted() {
    let mail = Mail::new("Subject: x\n\nV\u{456}\u{430}gra v\u{200b}iagra Привет Ελλάδα".as_bytes());
    assert_eq!(found(&mail, "body"), ["Viagra", "viagra", "Привет", "Ελλάδα"]);
    assert!(has(&mail, "shape", "disguised:1") && has(&mail, "shape", "zero-width:1"));
}

/// Neither depth nor width costs time, memory or the program, in plain sight or in another encoding.
#[test]
fn bombs_do_not_go_off() {
    let deep: String =
        (0..100_000).map(|i| format!("Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n")).collect();
    let mut nested = "Content-Type: message/rfc822\n\n".repeat(100_000);
    nested.push_str("\nsee");
    let spaced = "C ontent-Type: message/rfc822\n\n".repeat(40_000);
    let wide = "Content-Type: multipart/mixed; boundary=b\n\n".to_owned() + &"--b\n\n".repeat(1_000_000);
    let headers = "X: y\n".repeat(500_000);
    for (bomb, limit) in
        [(&deep, "parts"), (&nested, "parts"), (&spaced, "parts"), (&wide, "parts"), (&headers, "header")]
    {
        let mail = Mail::new(bomb.as_bytes());
        assert!(has(&mail, "shape", &format!("limit:{limit}")), "{limit}: {:?}", mail.column("shape"));
    }
    let comments = format!("From: {}\nSubject: a\n\nsee", "(".repeat(300_000));
    assert_eq!(found(&Mail::new(comments.as_bytes()), "body"), ["see"]);
    let words = format!("Subject: {}\n\nsee", "=?ab?q?x".repeat(100_000));
    assert!(has(&Mail::new(words.as_bytes()), "shape", "limit:words"));
    let tags = format!("Content-Type: text/html\n\n{}see", "<div><b>".repeat(100_000));
    assert_eq!(found(&Mail::new(tags.as_bytes()), "body"), ["see"]);
}

/// An encoded message inside a message is not parsed: nobody knows how deep it goes.
#[test]
fn encoded_messages_are_not_followed() {
    let mail = Mail::new(
        b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nQ29udGVudC1UeXBlOiBtZXNzYWdlL3JmYzgyMgoK\n",
    );
    assert!(
        !has(&mail, "shape", "part:message") && found(&mail, "body").contains(&"message/rfc822"),
        "{mail:?}"
    );
}

#[test]
fn columns_are_those_of_the_schema() {
    let columns = mail_columns();
    assert_eq!(columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), MAIL_COLUMNS);
    let tokens = |column: &Column| column.text.as_ref().unwrap().tokens.clone();
    for column in &columns {
        crate::text::Tokenizer::new(&tokens(column)).unwrap();
        let other = TokenSettings { mail: Some(MAIL_VERSION + 1), ..tokens(column) };
        let error = crate::text::Tokenizer::new(&other).unwrap_err().to_string();
        assert!(error.contains("rules of version"), "{error}");
    }
}

proptest! {
    /// Anything is a message, and its evidence is bounded and can be read again.
    #[test]
    fn anything_is_a_message(parts in prop::collection::vec(any_part(), 0..12)) {
        let raw = parts.concat();
        let mail = Mail::new(&raw);
        for (column, name) in MAIL_COLUMNS.iter().enumerate() {
            let text = mail.text_of(column);
            prop_assert!(text.len() <= LONGEST_TEXT + 8 * raw.len() + 100);
            prop_assert!(!text.chars().any(|c| c.is_control() && !c.is_whitespace()) || holds_words(column), "{}", name);
        }
        prop_assert_eq!(&mail, &Mail::new(&raw));
    }
}

fn any_part() -> impl Strategy<Value = Vec<u8>> {
    let known = [
        "From: ",
        "Subject: ",
        "Content-Type: ",
        "multipart/alternative; boundary=b\n\n--b\n",
        "text/html; charset=utf-16\n",
        "message/rfc822\n\n",
        "\n--b\n",
        "\n--b--\n",
        "\n\n",
        "Content-Transfer-Encoding: base64\n",
        "=?utf-8?b?",
        "<a href=",
        "http://",
        "<!--",
        "\u{200b}",
        "a@b.example",
        "Received: from x by y with z; ",
        "Date: Thu, 1 Jan 1970 ",
    ];
    prop_oneof![
        4 => prop::sample::select(known.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        2 => any::<String>().prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

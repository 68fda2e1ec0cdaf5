//! What the header says.

use mail_parser::{Address, HeaderName, HeaderValue, Message};

use super::address::{domain, host, local_shape};
use super::{HEADER, Mail, SENDER, SHAPE, SUBJECT, links};

/// Fields that were added where the mail arrived, was filtered or is kept: that they are there tells mailboxes apart.
const PASSED_OVER: [&str; 24] = [
    "received",
    "return-path",
    "delivered-to",
    "envelope-to",
    "delivery-date",
    "x-original-to",
    "x-envelope-to",
    "x-envelope-from",
    "x-delivered-to",
    "lines",
    "status",
    "x-status",
    "x-keywords",
    "x-uid",
    "x-uidl",
    "x-loop",
    "authentication-results",
    "arc-authentication-results",
    "arc-seal",
    "arc-message-signature",
    "received-spf",
    "x-received",
    "x-bogosity",
    "x-evolution-source",
];

/// Fields in which filters and mail programs write down what they think. Own ones are among them.
const VERDICTS: [&str; 32] = [
    "x-priory",
    "x-spam",
    "x-bogo",
    "x-crm114",
    "x-dspam",
    "x-rspam",
    "x-spambayes",
    "x-virus",
    "x-amavis",
    "x-mailscanner",
    "x-barracuda",
    "x-pyzor",
    "x-razor",
    "x-ironport",
    "x-forefront",
    "x-microsoft-antispam",
    "x-ms-exchange-organization",
    "x-ms-exchange-antispam",
    "x-mozilla",
    "x-gmx-anti",
    "x-ui-filterresults",
    "x-antivirus",
    "x-proofpoint",
    "x-sophos",
    "x-kaspersky",
    "x-habeas",
    "x-text-classification",
    "x-popfile",
    "x-hashcash-check",
    "x-assp",
    "x-spf",
    "x-classification",
];

/// Whether a field says what a filter or a mail program thought of the mail.
pub(super) fn is_verdict(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    VERDICTS.iter().any(|verdict| name.starts_with(verdict)) || name.contains("spam")
}

fn is_passed_over(name: &str) -> bool {
    PASSED_OVER.iter().any(|passed| name.eq_ignore_ascii_case(passed)) || is_verdict(name)
}

/// The names of these fields are written as whatever wrote the mail writes them.
const WELL_KNOWN: [&str; 8] = [
    "message-id",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "cc",
    "reply-to",
    "subject",
    "date",
];

pub(super) fn read(mail: &mut Mail, message: &Message<'_>, raw: &[u8]) {
    let Some(root) = message.parts.first() else { return };
    let mut origin = None;
    for field in &root.headers {
        let written = raw.get(field.offset_field as usize..field.offset_start as usize).unwrap_or_default();
        let written = String::from_utf8_lossy(written);
        let name = written.trim_end().trim_end_matches(':').trim_end();
        if field.name == HeaderName::Received {
            origin = raw.get(field.offset_start as usize..field.offset_end as usize).or(origin);
        }
        if is_passed_over(name) {
            continue;
        }
        mail.token(HEADER, "has:", name);
        let lower = name.to_ascii_lowercase();
        if WELL_KNOWN.contains(&lower.as_str()) {
            mail.token(HEADER, "case:", &case_of(name));
        }
        of_field(mail, &lower, &field.value);
    }
    origin.into_iter().for_each(|origin| of_origin(mail, &String::from_utf8_lossy(origin)));
    people(mail, message);
    date(mail, message);
    if message.subject().is_none_or(|subject| subject.trim().is_empty()) {
        mail.token(SHAPE, "subject:", "none");
    }
}

/// `Message-ID` is `Xxxxxxx-XX` with its name in front, since tokens are in lower case.
fn case_of(name: &str) -> String {
    let marks = name.chars().map(|c| if c.is_uppercase() { '^' } else { '_' });
    format!("{name}={}", marks.collect::<String>())
}

/// What a single field says.
fn of_field(mail: &mut Mail, name: &str, value: &HeaderValue<'_>) {
    match (name, value) {
        ("subject", HeaderValue::Text(text)) => subject(mail, text),
        ("x-mailer" | "user-agent" | "x-mimeole" | "x-newsreader" | "organization", _) => {
            for text in texts(value) {
                words(mail, HEADER, &format!("{name}:"), &text);
            }
        }
        ("content-type" | "content-disposition", HeaderValue::ContentType(of)) => {
            let subtype = of.subtype().unwrap_or_default();
            mail.token(HEADER, "type:", &format!("{}/{subtype}", of.ctype()));
            for attribute in of.attributes().unwrap_or_default() {
                match attribute.name.as_ref() {
                    "boundary" => mail.token(HEADER, "boundary:", &without_numbers(&attribute.value)),
                    "charset" | "format" | "type" => {
                        mail.token(HEADER, &format!("{}:", attribute.name), &attribute.value);
                    }
                    other => mail.token(HEADER, "attribute:", other),
                }
            }
        }
        ("message-id", _) => {
            for text in texts(value) {
                mail.token(HEADER, "id:", &without_numbers(&text));
            }
        }
        ("list-id" | "list-post" | "mailing-list" | "x-mailing-list" | "x-beenthere" | "sender", value) => {
            let column = if name == "sender" { SENDER } else { HEADER };
            for address in addresses(value) {
                mail.token(column, &format!("{name}:"), &address);
            }
        }
        (
            "precedence" | "priority" | "importance" | "x-priority" | "x-msmail-priority" | "auto-submitted"
            | "errors-to",
            _,
        ) => {
            for text in texts(value) {
                mail.token(
                    HEADER,
                    &format!("{name}:"),
                    text.split([' ', '(', '@']).next().unwrap_or_default(),
                );
            }
        }
        ("list-unsubscribe", value) => {
            for text in texts(value) {
                links::in_text(mail, &text);
            }
        }
        _ => {}
    }
}

fn subject(mail: &mut Mail, text: &str) {
    mail.text(SUBJECT, text);
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = text.chars().filter(|c| c.is_uppercase()).count();
    if letters >= 6 && capitals == letters {
        mail.token(SHAPE, "subject:", "capitals");
    }
    let start = text.trim_start().get(..3).unwrap_or_default();
    if start.eq_ignore_ascii_case("re:") || start.eq_ignore_ascii_case("fw:") {
        mail.token(SHAPE, "subject:", start);
    }
    if text.contains("   ") {
        mail.token(SHAPE, "subject:", "gap");
    }
    for mark in ['!', '?', '$', '%', '*'] {
        match text.matches(mark).count() {
            0 => {}
            count => mail.count(SHAPE, &format!("subject:{mark}"), count),
        }
    }
    if !text.is_ascii() {
        mail.token(SHAPE, "subject:", "beyond-ascii");
    }
}

/// Who the mail says it is from, and how that fits together.
fn people(mail: &mut Mail, message: &Message<'_>) {
    let from = message.from().and_then(Address::first);
    let address = from.and_then(|from| from.address()).unwrap_or_default().to_ascii_lowercase();
    match from {
        None => mail.token(SENDER, "from:", "⟨none⟩"),
        Some(from) => {
            mail.token(SENDER, "from:", &address);
            if let Some(domain) = domain(&address) {
                host(mail, SENDER, "domain:", domain);
            }
            mail.token(SHAPE, "from:", &local_shape(&address));
            match from.name() {
                None => mail.token(SHAPE, "from:", "no-name"),
                Some(name) => {
                    words(mail, SENDER, "name:", &super::folding::fold(name).text);
                    if name.contains('@') {
                        mail.token(SHAPE, "from:", "address-as-name");
                    }
                }
            }
        }
    }
    let reply = message.reply_to().and_then(Address::first).and_then(|reply| reply.address());
    if let Some(reply) = reply {
        let reply = reply.to_ascii_lowercase();
        let fits = match () {
            () if reply == address => "same",
            () if domain(&reply) == domain(&address) => "same-domain",
            () => "other",
        };
        mail.token(SENDER, "reply:", fits);
        if let Some(domain) = domain(&reply) {
            host(mail, SENDER, "reply:", domain);
        }
    }
    match message.message_id() {
        None => mail.token(SENDER, "id:", "⟨none⟩"),
        Some(id) => {
            let own = domain(id).map(str::to_ascii_lowercase);
            let is_same = own.is_some() && own.as_deref() == domain(&address);
            mail.token(SENDER, "id:", if is_same { "⟨same-domain⟩" } else { "⟨other⟩" });
        }
    }
    let to: Vec<&str> =
        message.to().into_iter().flat_map(Address::iter).filter_map(|to| to.address()).collect();
    let copies = message.cc().into_iter().flat_map(Address::iter).count();
    mail.count(SENDER, "to:", to.len());
    mail.count(SENDER, "cc:", copies);
    if to.iter().any(|to| to.eq_ignore_ascii_case(&address)) {
        mail.token(SENDER, "to:", "⟨sender⟩");
    }
    if message.to().and_then(Address::first).is_some_and(|to| to.name().is_some()) {
        mail.token(SENDER, "to:", "⟨named⟩");
    }
}

fn date(mail: &mut Mail, message: &Message<'_>) {
    match message.date() {
        None => mail.token(HEADER, "date:", "none"),
        Some(date) if !date.is_valid() => mail.token(HEADER, "date:", "impossible"),
        Some(date) => {
            let sign = if date.tz_before_gmt { '-' } else { '+' };
            mail.token(HEADER, "zone:", &format!("{sign}{:02}{:02}", date.tz_hour, date.tz_minute));
        }
    }
}

/// How the machine that sent the mail introduced itself to the first that took it. The machines after that are the recipient's.
fn of_origin(mail: &mut Mail, received: &str) {
    let mut words = received.split_whitespace();
    while let Some(word) = words.next() {
        let next = words.clone().next().unwrap_or_default();
        match word {
            "from" if super::address::is_number(next) => mail.token(HEADER, "origin:", "⟨number⟩"),
            "from" if !next.contains('.') => mail.token(HEADER, "origin:", "⟨no-host⟩"),
            "with" => mail.token(HEADER, "origin:with:", next.trim_end_matches(';')),
            _ => {}
        }
    }
    if received.contains("unknown") {
        mail.token(HEADER, "origin:", "⟨unknown⟩");
    }
}

/// Words as tokens, numbers in them left out.
fn words(mail: &mut Mail, column: usize, prefix: &str, text: &str) {
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(20) {
        mail.token(column, prefix, &without_numbers(word));
    }
}

/// Runs of digits, and of the letters that write them in hexadecimal beside them, as one mark.
fn without_numbers(text: &str) -> String {
    let mut shape = String::new();
    for run in text.split_inclusive(|c: char| !c.is_ascii_hexdigit()).take(24) {
        let (digits, rest) = run.split_at(run.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(run.len()));
        match digits.bytes().any(|b| b.is_ascii_digit()) {
            true => shape.push('9'),
            false => shape.push_str(digits),
        }
        shape.push_str(rest);
    }
    shape
}

/// The texts of a field.
fn texts(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(text) => vec![text.to_string()],
        HeaderValue::TextList(list) => list.iter().take(20).map(ToString::to_string).collect(),
        HeaderValue::Address(_) => addresses(value),
        _ => Vec::new(),
    }
}

/// The addresses of a field.
fn addresses(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Address(of) => {
            of.iter().take(20).filter_map(|one| one.address().or(one.name())).map(str::to_owned).collect()
        }
        other => texts(other),
    }
}

//! How a mail is made, whatever it says.

use mail_parser::{MessagePart, MimeHeaders, PartType};

use super::{BODY, HIDDEN, LINKS, Mail, SHAPE};

/// The type of a part, and the name that it would be saved under.
pub(super) fn of_part(mail: &mut Mail, part: &MessagePart<'_>) {
    if let Some(of) = part.content_type() {
        mail.token(SHAPE, "part:", &format!("{}/{}", of.ctype(), of.subtype().unwrap_or_default()));
        if let Some(charset) = of.attribute("charset") {
            mail.token(SHAPE, "charset:", charset);
        }
    }
    if matches!(part.body, PartType::Multipart(_)) {
        return;
    }
    if let Some(name) = part.attachment_name() {
        let endings: Vec<&str> = name.rsplit('.').take(3).collect();
        mail.token(SHAPE, "attached:", endings[0]);
        // `invoice.pdf.exe` is what it does not want to be taken for.
        if let [last, before, _] = endings[..]
            && before.len() <= 4
            && before.bytes().all(|b| b.is_ascii_alphanumeric())
        {
            mail.token(SHAPE, "attached:", &format!("{before}.{last}"));
        }
    }
    if part.is_encoding_problem {
        mail.token(SHAPE, "limit:", "encoding");
    }
    match &part.body {
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => {
            let size = bytes.len().next_power_of_two();
            mail.token(SHAPE, "attached:", &format!("⟨{size}⟩"));
        }
        _ => {}
    }
}

/// What the words look like: how many there are, shouting, and marks that sell.
pub(super) fn of_words(mail: &mut Mail) {
    let seen = std::mem::take(&mut mail.texts[BODY]);
    let words = seen.split_whitespace().count();
    let length = if words == 0 { "0".into() } else { format!("{}", 1_u64 << words.ilog2()) };
    mail.token(SHAPE, "words:", &length);
    let shouted = seen.split_whitespace().filter(|word| is_shouted(word)).count();
    share(mail, "capitals:", shouted, words);
    let beyond = seen.chars().filter(|c| !c.is_ascii()).count();
    share(mail, "beyond-ascii:", beyond, seen.chars().count());
    for mark in ['!', '$', '%', '>', '|'] {
        match seen.matches(mark).count() {
            0 => {}
            count => mail.count(SHAPE, &format!("body:{mark}"), count),
        }
    }
    mail.texts[BODY] = seen;
    let hidden = mail.texts[HIDDEN].split_whitespace().count();
    share(mail, "hidden:", hidden, words + hidden);
    if mail.texts[LINKS].is_empty() {
        mail.token(LINKS, "", "⟨none⟩");
    }
}

fn is_shouted(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic());
    letters.clone().count() >= 3 && letters.clone().all(char::is_uppercase)
}

/// A share in steps that double: 1/64, 1/32, …, 1.
fn share(mail: &mut Mail, prefix: &str, part: usize, all: usize) {
    if part == 0 || all == 0 {
        return;
    }
    let step = (all / part).next_power_of_two().min(64);
    mail.token(SHAPE, prefix, &format!("1/{step}"));
}

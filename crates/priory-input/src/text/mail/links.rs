//! Where links lead.

use memchr::memmem;

use super::address::{domain, host, is_number};
use super::{LINKS, Mail};

/// More links than this say no more.
const MOST_LINKS: usize = 500;

/// The links that are written in a text.
pub(super) fn in_text(mail: &mut Mail, text: &str) {
    let mut found = 0;
    let mut at = 0;
    while let Some(place) = next_link(&text[at..]) {
        let start = at + place;
        let length = text[start..].find(|c: char| c.is_whitespace() || "<>\"'()[]{}|`".contains(c));
        let link = &text[start..start + length.unwrap_or(text.len() - start)];
        of_link(mail, "url:", link.trim_end_matches(['.', ',', ';', ':', '!', '?']));
        at = start + link.len().max(1);
        found += 1;
        if found == MOST_LINKS {
            mail.token(super::SHAPE, "limit:", "links");
            break;
        }
    }
    mail.count(LINKS, "in-text:", found);
}

/// Where the next link begins.
fn next_link(text: &str) -> Option<usize> {
    let (mut from, bytes) = (0, text.as_bytes());
    while let Some(place) = memmem::find(&bytes[from..], b"://") {
        let colon = from + place;
        let letters = bytes[..colon].iter().rev().take(5).take_while(|b| b.is_ascii_alphabetic()).count();
        let scheme = bytes[colon - letters..colon].to_ascii_lowercase();
        if matches!(&scheme[..], b"http" | b"https" | b"ftp") {
            return Some(colon - letters);
        }
        from = colon + 3;
    }
    None
}

/// A link as tokens. What is asked behind `?` is left out but for its being there.
pub(super) fn of_link(mail: &mut Mail, prefix: &str, link: &str) {
    let link = link.trim();
    let Some((scheme, rest)) = link.split_once(':') else {
        if !link.is_empty() {
            mail.token(LINKS, prefix, "⟨relative⟩");
        }
        return;
    };
    let scheme = scheme.to_ascii_lowercase();
    match scheme.as_str() {
        "http" | "https" | "ftp" => {}
        "mailto" => {
            if let Some(domain) = domain(rest.split('?').next().unwrap_or_default()) {
                host(mail, LINKS, "mailto:", domain);
            }
            return;
        }
        "cid" | "data" | "javascript" => return mail.token(LINKS, prefix, &format!("⟨{scheme}⟩")),
        _ => return mail.token(LINKS, prefix, "⟨other⟩"),
    }
    let rest = rest.trim_start_matches(['/', '\\']);
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if scheme != "http" {
        mail.token(LINKS, prefix, &format!("⟨{scheme}⟩"));
    }
    let machine = match authority.rsplit_once('@') {
        Some((_, machine)) => {
            mail.token(LINKS, prefix, "⟨user⟩");
            machine
        }
        None => authority,
    };
    let machine = match machine.rsplit_once(':') {
        Some((machine, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            mail.token(LINKS, prefix, &format!("⟨port⟩{port}"));
            machine
        }
        _ => machine,
    };
    if machine.contains('%') {
        mail.token(LINKS, prefix, "⟨escaped-host⟩");
    }
    host(mail, LINKS, prefix, machine);
    of_path(mail, path);
}

fn of_path(mail: &mut Mail, path: &str) {
    let (path, question) =
        path.split_once('?').map_or((path, None), |(path, question)| (path, Some(question)));
    if let Some(question) = question {
        mail.token(LINKS, "path:", "⟨question⟩");
        if question.contains('@') || question.to_ascii_lowercase().contains("%40") {
            mail.token(LINKS, "path:", "⟨address⟩");
        }
    }
    let words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.take(12) {
        match word.bytes().any(|b| b.is_ascii_digit()) {
            true => mail.token(LINKS, "path:", "⟨number⟩"),
            false => mail.token(LINKS, "path:", word),
        }
    }
}

/// Whether the text of a link names another host than the one that it leads to.
pub(super) fn leads_elsewhere(link: &str, text: &str) -> bool {
    let (Some(place), Some(target)) = (next_link(text), host_of(link)) else { return false };
    host_of(&text[place..]).is_some_and(|shown| {
        let last_two = |host: &str| host.rsplit('.').take(2).map(str::to_ascii_lowercase).collect::<Vec<_>>();
        is_number(&target) != is_number(&shown) || last_two(&target) != last_two(&shown)
    })
}

fn host_of(link: &str) -> Option<String> {
    let (_, rest) = link.split_once("://")?;
    let end = rest.find(|c: char| c.is_whitespace() || "/?#\\<\"".contains(c)).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next()?;
    let machine = authority.split(':').next()?;
    (!machine.is_empty()).then(|| machine.to_owned())
}

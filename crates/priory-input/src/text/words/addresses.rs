//! Web and mail addresses in running text.

use memchr::memchr_iter;

use super::is_unspaced;

/// A web or mail address in a span, as positions.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) start: usize,
    /// Host and path of a web address; a mail address has none.
    pub(super) parts: Option<WebParts>,
    /// Where the text goes on.
    pub(super) end: usize,
}

#[derive(Clone, Copy)]
pub(super) struct WebParts {
    pub(super) host: (usize, usize),
    pub(super) path: (usize, usize),
}

/// The first web address with a scheme at or after `from`.
pub(super) fn web_address(span: &str, from: usize) -> Option<Address> {
    let bytes = &span.as_bytes()[from..];
    memchr_iter(b':', bytes).filter(|&colon| bytes[colon..].starts_with(b"://")).find_map(|colon| {
        let letters = bytes[..colon].iter().rev().take(11).take_while(|b| b.is_ascii_alphabetic()).count();
        if !(2..=10).contains(&letters) {
            return None;
        }
        web_parts(span, from + colon - letters, from + colon + 3, 0)
    })
}

/// The first host at or after `from` that starts with `www.` and has a dot more.
pub(super) fn bare_web_address(span: &str, from: usize) -> Option<Address> {
    let bytes = &span.as_bytes()[from..];
    memchr_iter(b'.', bytes).filter(|&dot| bytes[..dot].ends_with(b"www")).find_map(|dot| {
        let start = from + dot - 3;
        let before = span[from..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c)) {
            return None;
        }
        web_parts(span, start, start, 2)
    })
}

/// The web address from `start` on, whose host, with a name before it or a port behind, begins at `authority` and has
/// at least this many dots inside.
fn web_parts(span: &str, start: usize, authority: usize, dots: usize) -> Option<Address> {
    let in_name = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let in_authority = |c: char| in_name(c) || matches!(c, '.' | '-' | '_' | ':' | '@' | '%' | '+' | '~');
    let in_address = |c: char| in_name(c) || c.is_ascii_graphic() && !b"<>\"`|{}\\^".contains(&(c as u8));

    let text = &span[authority..];
    let text = &text[..text.floor_char_boundary(256)];
    let text = &text[..text.find(|c| !in_authority(c)).unwrap_or(text.len())];
    // Text before an @ is there to mislead, and a number behind a colon is a port.
    let host_start = text.rfind('@').map_or(0, |at| at + 1);
    let host = text[host_start..].split(':').next().filter(|host| host.contains(in_name))?;
    if host.trim_matches('.').matches('.').count() < dots {
        return None;
    }
    let host = (authority + host_start, authority + host_start + host.len());

    let path_start = authority + text.len();
    let rest = &span[path_start..];
    let rest = &rest[..rest.find(|c| !in_address(c)).unwrap_or(rest.len())];
    let path = (path_start, path_start + rest.find(['?', '#']).unwrap_or(rest.len()));
    Some(Address { start, parts: Some(WebParts { host, path }), end: path_start + rest.len() })
}

/// The first mail address at or after `from`.
pub(super) fn mail_address(span: &str, from: usize) -> Option<Address> {
    let in_name = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    memchr_iter(b'@', &span.as_bytes()[from..]).find_map(|at| {
        let at = from + at;
        let name = span[from..at].char_indices().rev().take(64);
        let name = name.take_while(|&(_, c)| in_name(c) || matches!(c, '.' | '_' | '-' | '+'));
        let start = from + name.last()?.0;
        let start = start + span[start..at].find(in_name)?;
        let domain = &span[at + 1..];
        let domain = &domain[..domain.floor_char_boundary(255)];
        let end = domain.find(|c| !in_name(c) && !matches!(c, '.' | '-')).unwrap_or(domain.len());
        let domain = domain[..end].trim_end_matches(['.', '-']);
        let (_, top) = domain.rsplit_once('.')?;
        let valid = domain.starts_with(in_name)
            && !domain.contains("..")
            && top.len() >= 2
            && top.starts_with(|c: char| c.is_alphabetic());
        let end = at + 1 + domain.len();
        valid.then_some(Address { start, parts: None, end })
    })
}

//! Addresses and names of hosts as tokens.

use super::Mail;

/// The part of an address behind the last `@`.
pub(super) fn domain(address: &str) -> Option<&str> {
    let (_, domain) = address.rsplit_once('@')?;
    let domain = domain.trim_matches(|c: char| !c.is_alphanumeric() && c != '[' && c != ']');
    (!domain.is_empty()).then_some(domain)
}

/// A host as tokens: whole, its last three, two and one parts, or that it is a mere number.
pub(super) fn host(mail: &mut Mail, column: usize, prefix: &str, host: &str) {
    let host = host.trim_matches('.');
    if is_number(host) {
        mail.token(column, prefix, "⟨number⟩");
        // Spam comes from the neighbourhood of other spam.
        if let Some((network, _)) = host.rsplit_once('.') {
            mail.token(column, prefix, network);
        }
        return;
    }
    mail.token(column, prefix, host);
    let parts: Vec<&str> = host.split('.').collect();
    for count in (1..parts.len().min(4)).rev() {
        mail.token(column, prefix, &format!(".{}", parts[parts.len() - count..].join(".")));
    }
}

/// Whether a host is an address of the Internet Protocol, however it is written.
pub(super) fn is_number(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    !host.is_empty() && (host.contains(':') || host.split('.').all(is_digits))
}

fn is_digits(part: &str) -> bool {
    let hexadecimal = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// The kind of name that stands before the `@`.
pub(super) fn local_shape(address: &str) -> String {
    let local = address.rsplit_once('@').map_or(address, |(local, _)| local);
    let digits = local.bytes().filter(u8::is_ascii_digit).count();
    let length = local.chars().count().next_power_of_two().min(64);
    match digits {
        0 => format!("letters{length}"),
        1..=2 => format!("letters{length}+digits"),
        _ => format!("letters{length}+digits{}", digits.next_power_of_two().min(16)),
    }
}

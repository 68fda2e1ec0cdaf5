//! The text of a part: its transfer encoding undone, and its characters decoded.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{HeaderName, MessagePart, MimeHeaders};

/// The text of a part of a message of which these are the bytes. What is not encoded as it says is taken as it stands.
pub(super) fn text(part: &MessagePart<'_>, raw: &[u8]) -> String {
    let (start, end) = (part.offset_body as usize, part.offset_end as usize);
    let body = raw.get(start..end.clamp(start, raw.len().max(start))).unwrap_or_default();
    let decoded = match encoding(part, raw).as_str() {
        "base64" => base64_decode(body),
        "quoted-printable" => quoted_printable_decode(body),
        _ => None,
    };
    let bytes = decoded.as_deref().unwrap_or(body);
    let charset = part.content_type().and_then(|of_part| of_part.attribute("charset"));
    match charset.and_then(|name| charset_decoder(name.as_bytes())) {
        Some(decode) => decode(bytes),
        None => unnamed(bytes),
    }
}

/// What the field `Content-Transfer-Encoding` of a part says, in lower case.
pub(super) fn encoding(part: &MessagePart<'_>, raw: &[u8]) -> String {
    let field = part.headers.iter().find(|field| field.name == HeaderName::ContentTransferEncoding);
    let value = field.and_then(|field| raw.get(field.offset_start as usize..field.offset_end as usize));
    let value = String::from_utf8_lossy(value.unwrap_or_default()).trim().to_ascii_lowercase();
    value.split([';', ' ', '(']).next().unwrap_or_default().to_owned()
}

/// Bytes of which nobody said what they mean: UTF-8 if they are that, and Western European otherwise.
fn unnamed(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => match charset_decoder(b"windows-1252") {
            Some(decode) => decode(bytes),
            None => String::from_utf8_lossy(bytes).into_owned(),
        },
    }
}

//! Mail to evidence: a raw message becomes the texts of a few columns, one for each kind of evidence.
//!
//! | column | what it holds |
//! |---|---|
//! | `subject` | the words of the subject |
//! | `body` | the words that a reader sees |
//! | `hidden` | the words that a reader does not see: of another version of the same text, or of a colour that hides them |
//! | `sender` | names and addresses that the mail says it comes from, and how many it goes to |
//! | `header` | which fields the header has, and what some of them say: program, list, time zone, types |
//! | `links` | where links and pictures lead |
//! | `shape` | how the mail is made: HTML, capitals, attachments, disguised letters, and every limit that it ran into |
//!
//! What another filter thought of the mail is no evidence, nor is where it was delivered: a model has to hold for other mailboxes
//! than those that it was trained on. So the names of recipients and of the machines that received the mail are passed over.
//!
//! Any bytes are a message. What is too large, too deep or too many is cut off, and that it was is evidence as well.

mod address;
mod bounds;
mod decode;
mod fields;
mod folding;
mod html;
mod links;
mod shape;

use mail_parser::{HeaderName, Message, MessageParser, MessagePart, PartType};
use priory::text::{Normalization, TextSettings, TokenSettings, TokenStyle};
use priory::{Column, Kind};

use bounds::Bounded;

/// The rules by which messages are taken apart. Other rules find other evidence, so models remember which ones they were
/// trained with.
pub const MAIL_VERSION: u8 = 1;

/// The columns, in their order.
pub const MAIL_COLUMNS: [&str; 7] = ["subject", "body", "hidden", "sender", "header", "links", "shape"];

const SUBJECT: usize = 0;
const BODY: usize = 1;
const HIDDEN: usize = 2;
const SENDER: usize = 3;
const HEADER: usize = 4;
const LINKS: usize = 5;
const SHAPE: usize = 6;

/// Whether a column holds words rather than tokens that were found here.
fn holds_words(column: usize) -> bool {
    column <= HIDDEN
}

/// The columns of a schema for mail.
pub fn mail_columns() -> Vec<Column> {
    let column = |(place, &name): (usize, &&str)| {
        let (style, normalization) = match holds_words(place) {
            true => (TokenStyle::Words, Normalization::Nfkc),
            false => (TokenStyle::Spaces, Normalization::None),
        };
        let tokens =
            TokenSettings { style, normalization, mail: Some(MAIL_VERSION), ..TokenSettings::default() };
        Column { kind: Kind::Text, ..Column::text(name, TextSettings::new(tokens)) }
    };
    MAIL_COLUMNS.iter().enumerate().map(column).collect()
}

/// A message as evidence: the text of each of the [columns](MAIL_COLUMNS).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mail {
    texts: [String; MAIL_COLUMNS.len()],
}

/// No column gets more bytes than this.
const LONGEST_TEXT: usize = 1 << 18;

/// Messages inside messages are read so deep.
const DEEPEST_MESSAGE: usize = 4;

impl Mail {
    /// Takes a message apart.
    pub fn new(raw: &[u8]) -> Mail {
        let mut mail = Mail::default();
        let Bounded { bytes, limits } = bounds::bounded(raw);
        for limit in limits {
            mail.token(SHAPE, "limit:", limit);
        }
        // The parser has had its panics; whoever sends the next one shall not stop the mail.
        let read = std::panic::catch_unwind(|| {
            let mut read = Mail::default();
            match parser().parse(&*bytes) {
                Some(message) => read.read_message(&message, &bytes),
                None => read.text(BODY, &String::from_utf8_lossy(&bytes)),
            }
            read
        });
        match read {
            Ok(read) => mail.append(&read),
            Err(_) => {
                mail.token(SHAPE, "limit:", "unreadable");
                mail.text(BODY, &String::from_utf8_lossy(&bytes));
            }
        }
        mail
    }

    /// The text of a column.
    pub fn text_of(&self, column: usize) -> &str {
        &self.texts[column]
    }

    /// The texts of all columns.
    pub fn texts(&self) -> Vec<String> {
        self.texts.to_vec()
    }

    /// The text of the column with this name.
    pub fn column(&self, name: &str) -> Option<&str> {
        MAIL_COLUMNS.iter().position(|column| *column == name).map(|column| self.text_of(column))
    }

    fn read_message(&mut self, message: &Message<'_>, raw: &[u8]) {
        fields::read(self, message, raw);
        self.read_parts(message, raw);
        shape::of_words(self);
    }

    /// Reads the parts of a message, and of the messages in it.
    fn read_parts(&mut self, message: &Message<'_>, raw: &[u8]) {
        let mut open = vec![(message, 0)];
        while let Some((message, depth)) = open.pop() {
            for (id, part) in message.parts.iter().enumerate() {
                let id = id as u32;
                match &part.body {
                    PartType::Message(inner) if depth < DEEPEST_MESSAGE => {
                        self.token(SHAPE, "part:", "message");
                        open.push((inner, depth + 1));
                    }
                    PartType::Message(_) => self.token(SHAPE, "limit:", "depth"),
                    PartType::Multipart(_) => shape::of_part(self, part),
                    _ => {
                        shape::of_part(self, part);
                        let is_seen = message.html_body.contains(&id) || message.parts.len() == 1;
                        self.read_part(part, is_seen, raw);
                    }
                }
            }
        }
    }

    /// Reads a part that is no container.
    fn read_part(&mut self, part: &MessagePart<'_>, is_seen: bool, raw: &[u8]) {
        let is_html = matches!(part.body, PartType::Html(_));
        if !is_html && !matches!(part.body, PartType::Text(_)) {
            return;
        }
        let text = decode::text(part, raw);
        let (column, rest) = if is_seen { (BODY, HIDDEN) } else { (HIDDEN, HIDDEN) };
        if is_html {
            html::read(self, &text, column, rest);
        } else {
            links::in_text(self, &text);
            self.text(column, &text);
        }
    }

    /// Adds words to a column, disguised letters as what they look like.
    fn text(&mut self, column: usize, text: &str) {
        let room = LONGEST_TEXT.saturating_sub(self.texts[column].len());
        let text = match text.floor_char_boundary(room) {
            end if end < text.len() => {
                self.token(SHAPE, "limit:", "text");
                &text[..end]
            }
            _ => text,
        };
        let folded = folding::fold(text);
        self.texts[column].push_str(&folded.text);
        self.texts[column].push('\n');
        if folded.disguised > 0 {
            self.count(SHAPE, "disguised:", folded.disguised);
        }
        if folded.invisible > 0 {
            self.count(SHAPE, "zero-width:", folded.invisible);
        }
    }

    /// Adds a token to a column. White space and what cannot be seen are left out of it, and nothing is left of a long one
    /// but its beginning.
    fn token(&mut self, column: usize, prefix: &str, value: &str) {
        const LONGEST: usize = 60;
        let text = &mut self.texts[column];
        if text.len() + prefix.len() + LONGEST > LONGEST_TEXT {
            return;
        }
        let before = text.len();
        text.push_str(prefix);
        let start = text.len();
        let seen =
            value.chars().filter(|c| !c.is_whitespace() && !c.is_control() && !folding::is_invisible(*c));
        for c in seen.flat_map(char::to_lowercase) {
            if text.len() - start + c.len_utf8() > LONGEST {
                text.push('…');
                break;
            }
            text.push(c);
        }
        // A prefix that ends with a colon says nothing by itself.
        match text.len() == start && prefix.ends_with(':') {
            true => text.truncate(before),
            false => text.push('\n'),
        }
    }

    /// Adds a token for about how many of something there are: the power of two that is not above it.
    fn count(&mut self, column: usize, prefix: &str, count: usize) {
        let power = if count == 0 { 0 } else { 1_usize << count.ilog2() };
        self.token(column, prefix, &power.to_string());
    }

    fn append(&mut self, other: &Mail) {
        self.texts.iter_mut().zip(&other.texts).for_each(|(text, other)| text.push_str(other));
    }
}

/// A parser that leaves encoded parts as they are: [`decode`] decodes what is read, and nothing that is nested in them is parsed.
fn parser() -> MessageParser {
    MessageParser::new()
        .with_mime_headers()
        .with_date_headers()
        .with_address_headers()
        .with_message_ids()
        .header_text(HeaderName::Subject)
        .header_address(HeaderName::ListId)
        .header_address(HeaderName::ListPost)
        .header_address(HeaderName::ListUnsubscribe)
        .ignore_header(HeaderName::ContentTransferEncoding)
        .ignore_header(HeaderName::Received)
}

#[cfg(test)]
mod tests;

//! JSON as it is written: objects, one on a line, and where their values are.

use crate::error::{Error, shown};

/// Where a value is in its block, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No value, or `null`.
    Absent,
    True,
    False,
    Number,
    /// The text between the quotes.
    String,
    /// The same, with escapes in it.
    Escaped,
    Array,
    Object,
}

impl Value {
    pub(super) const ABSENT: Value = Value { kind: Kind::Absent, start: 0, end: 0 };

    #[inline]
    pub(super) fn raw<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start as usize..self.end as usize]
    }

    /// The text that the value stands for.
    pub(super) fn written<'a>(&self, text: &'a str, scratch: &'a mut String) -> &'a str {
        match self.kind {
            Kind::Escaped => unescaped(self.raw(text), scratch),
            _ => self.raw(text),
        }
    }
}

/// What is wrong with a row.
pub(super) enum Flaw {
    /// It is not JSON, or not an object, or not on one line; here is what was expected.
    Syntax { at: usize, expected: &'static str },
    /// It has a key twice.
    Twice(Value),
}

impl Flaw {
    pub(super) fn in_row(self, name: &str, row: u64, text: &str) -> Error {
        let what = match self {
            Flaw::Syntax { at, expected } => {
                let line = text[..at.min(text.len())].rfind('\n').map_or(0, |end| end + 1);
                let column = 1 + text[line..at.min(text.len())].chars().count();
                format!("is not a JSON object on one line: {expected} is expected at character {column}")
            }
            Flaw::Twice(key) => format!("has the key {} twice", shown(key.written(text, &mut String::new()))),
        };
        Error::Row { name: name.into(), row, what }
    }
}

/// Goes through the objects of a block.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Scanner<'_> {
    /// Passes blank lines; `false` at the end.
    pub(super) fn find_object(&mut self) -> bool {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.at < self.text.len()
    }

    /// Hands each key and its value to `each`, and passes the end of the line.
    #[inline]
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(Value, Value) -> std::result::Result<(), Flaw>,
    ) -> std::result::Result<(), Flaw> {
        self.expect(b'{', "{")?;
        self.skip_spaces();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return self.end_of_line();
        }
        loop {
            self.skip_spaces();
            self.expect(b'"', "a key in quotes")?;
            let key = self.string()?;
            self.skip_spaces();
            self.expect(b':', "a colon")?;
            self.skip_spaces();
            let value = self.value()?;
            each(key, value)?;
            self.skip_spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return self.end_of_line();
                }
                _ => return Err(self.flaw("a comma or }")),
            }
        }
    }

    fn end_of_line(&mut self) -> std::result::Result<(), Flaw> {
        self.skip_spaces();
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        self.expect(b'\n', "the end of the line")
    }

    #[inline]
    fn value(&mut self) -> std::result::Result<Value, Flaw> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string()
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') => self.nested(Kind::Array),
            Some(b'{') => self.nested(Kind::Object),
            Some(b't') => self.word("true", Kind::True),
            Some(b'f') => self.word("false", Kind::False),
            Some(b'n') => self.word("null", Kind::Absent),
            // What many writers make of a number that is none, though JSON has no word for it.
            Some(b'N') => self.word("NaN", Kind::Absent),
            Some(b'I') => self.word("Infinity", Kind::Number),
            _ => Err(self.flaw("a value")),
        }
    }

    fn word(&mut self, word: &str, kind: Kind) -> std::result::Result<Value, Flaw> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.flaw("a value"));
        }
        let start = self.at;
        self.at += word.len();
        Ok(self.since(start, kind))
    }

    #[inline]
    fn number(&mut self) -> std::result::Result<Value, Flaw> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.peek() == Some(b'I') {
                self.word("Infinity", Kind::Number)?;
                return Ok(self.since(start, Kind::Number));
            }
        }
        let first = self.at;
        self.digits()?;
        if self.at > first + 1 && self.text.as_bytes()[first] == b'0' {
            self.at = first;
            return Err(self.flaw("a number without leading zeros"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(self.since(start, Kind::Number))
    }

    #[inline]
    fn digits(&mut self) -> std::result::Result<(), Flaw> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.flaw("a digit")) } else { Ok(()) }
    }

    /// The text up to the closing quote; the opening one was passed.
    #[inline]
    fn string(&mut self) -> std::result::Result<Value, Flaw> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut kind = Kind::String;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    kind = Kind::Escaped;
                    self.at += 1;
                    self.escape()?;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.flaw("a closing quote")),
            }
        }
        let value = self.since(start, kind);
        self.at += 1;
        Ok(value)
    }

    fn escape(&mut self) -> std::result::Result<(), Flaw> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            [b'u', digits @ ..]
                if digits.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 =>
            {
                5
            }
            _ => return Err(self.flaw("an escape")),
        };
        Ok(())
    }

    /// Passes an array or object, however deep it is: brackets are counted, and must only be as many.
    fn nested(&mut self, kind: Kind) -> std::result::Result<Value, Flaw> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'[' | b'{') => depth += 1,
                Some(b']' | b'}') => depth -= 1,
                Some(b'"') => {
                    self.at += 1;
                    self.string()?;
                    continue;
                }
                None | Some(b'\n') => return Err(self.flaw("a closing bracket")),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(self.since(start, kind));
            }
        }
    }

    #[inline]
    fn since(&self, start: usize, kind: Kind) -> Value {
        Value { kind, start: start as u32, end: self.at as u32 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> std::result::Result<(), Flaw> {
        if self.peek() != Some(byte) {
            return Err(self.flaw(what));
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn flaw(&self, expected: &'static str) -> Flaw {
        Flaw::Syntax { at: self.at, expected }
    }
}

/// A string without its escapes, which were checked. Half a surrogate pair stands for no character.
fn unescaped<'a>(raw: &str, scratch: &'a mut String) -> &'a str {
    scratch.clear();
    let mut parts = raw.split('\\');
    scratch.extend(parts.next());
    let mut high: Option<u32> = None;
    while let Some(part) = parts.next() {
        let lone = high.take();
        let (character, rest) = match part.as_bytes().first() {
            // Two backslashes: what follows is the next part, without an escape of its own.
            None => ('\\', parts.next().unwrap_or_default()),
            Some(b'u') => {
                let unit = u32::from_str_radix(&part[1..5], 16).unwrap_or_default();
                match (lone, unit) {
                    (Some(first), 0xdc00..0xe000) => {
                        let joined = 0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00);
                        scratch.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
                        scratch.push_str(&part[5..]);
                        continue;
                    }
                    (lone, 0xd800..0xdc00) => {
                        scratch.extend(lone.map(|_| char::REPLACEMENT_CHARACTER));
                        if part.len() == 5 {
                            high = Some(unit);
                        } else {
                            scratch.push(char::REPLACEMENT_CHARACTER);
                            scratch.push_str(&part[5..]);
                        }
                        continue;
                    }
                    _ => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), &part[5..]),
                }
            }
            Some(b'b') => ('\u{8}', &part[1..]),
            Some(b'f') => ('\u{c}', &part[1..]),
            Some(b'n') => ('\n', &part[1..]),
            Some(b'r') => ('\r', &part[1..]),
            Some(b't') => ('\t', &part[1..]),
            Some(&other) => (char::from(other), &part[1..]),
        };
        scratch.extend(lone.map(|_| char::REPLACEMENT_CHARACTER));
        scratch.push(character);
        scratch.push_str(rest);
    }
    scratch.extend(high.map(|_| char::REPLACEMENT_CHARACTER));
    scratch
}

//! Words as scikit-learn's CountVectorizer finds them: `(?u)\b\w\w+\b`, that is every longest run of at least two
//! word characters of the lower-cased document.

use super::python;
use super::stages::Sink;

/// A run of more characters counts by its length only.
const LONGEST: usize = 1 << 16;

#[derive(Clone)]
pub(super) struct SklearnScanner {
    lower: bool,
    run: Run,
}

/// The run of word characters that is being read.
#[derive(Clone, Default)]
struct Run {
    text: String,
    characters: usize,
}

const WORD: u8 = 1;
const UPPER: u8 = 2;
const BEYOND_ASCII: u8 = 4;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        class[i] = if b >= 0x80 {
            BEYOND_ASCII
        } else if b.is_ascii_uppercase() {
            WORD | UPPER
        } else if b.is_ascii_alphanumeric() || b == b'_' {
            WORD
        } else {
            0
        };
        i += 1;
    }
    class
};

impl SklearnScanner {
    pub(super) fn new(lower: bool) -> Self {
        SklearnScanner { lower, run: Run::default() }
    }

    /// The end of the text ends a word.
    pub(super) fn scan(&mut self, text: &str, sink: &mut impl Sink) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if CLASS[usize::from(bytes[at])] == 0 {
                at += 1;
                continue;
            }
            let start = at;
            let mut seen = 0;
            let mut end = 0;
            while at < bytes.len() {
                end = CLASS[usize::from(bytes[at])];
                if end & WORD == 0 {
                    break;
                }
                seen |= end;
                at += 1;
            }
            if end & BEYOND_ASCII != 0 {
                at = self.scan_beyond_ascii(text, start, sink);
            } else if at - start > LONGEST {
                sink.long(at - start);
            } else if at - start >= 2 {
                let word = &text[start..at];
                if self.lower && seen & UPPER != 0 {
                    self.run.text.clear();
                    self.run.text.push_str(word);
                    self.run.text.make_ascii_lowercase();
                    sink.word(&self.run.text);
                    self.run.text.clear();
                } else {
                    sink.word(word);
                }
            }
        }
    }

    /// Scans from `start` to the next ASCII character that is no word character, and says where that is.
    fn scan_beyond_ascii(&mut self, text: &str, start: usize, sink: &mut impl Sink) -> usize {
        let run = &mut self.run;
        for (at, c) in text[start..].char_indices() {
            if c.is_ascii() && CLASS[c as usize] == 0 {
                run.finish(sink);
                return start + at;
            }
            if self.lower {
                // İ becomes two characters, the second of which ends the word.
                python::lower_at(text, start + at, c, |c| run.push(c, sink));
            } else {
                run.push(c, sink);
            }
        }
        run.finish(sink);
        text.len()
    }
}

impl Run {
    #[inline]
    fn push(&mut self, c: char, sink: &mut impl Sink) {
        if python::is_word(c) {
            self.characters += 1;
            if self.characters <= LONGEST {
                self.text.push(c);
            }
        } else {
            self.finish(sink);
        }
    }

    fn finish(&mut self, sink: &mut impl Sink) {
        match self.characters {
            0 | 1 => {}
            2..=LONGEST => sink.word(&self.text),
            more => sink.long(more),
        }
        self.text.clear();
        self.characters = 0;
    }
}

//! Runs of n characters, as scikit-learn's CountVectorizer counts them under `char` and `char_wb`.
//!
//! Each character is looked at once, together with those before it: all runs that end with it are shown, shortest
//! first. scikit-learn lists the same runs in another order.

use super::python;
use super::stages::Sink;
use priory::text::{CharacterNgrams, Reach};

#[derive(Clone)]
pub(super) struct CharacterScanner {
    min: usize,
    max: usize,
    reach: Reach,
    lower: bool,
    window: LastCharacters,
    /// White space that was read but not yet used, because more may follow.
    space: Option<char>,
    inside_word: bool,
}

/// The last characters that were read, and where each of them starts.
#[derive(Clone, Default)]
struct LastCharacters {
    text: String,
    starts: Vec<usize>,
}

/// The window is moved when it holds this many characters.
const WINDOW: usize = 4096;

impl CharacterScanner {
    pub(super) fn new(ngrams: CharacterNgrams, lower: bool) -> Self {
        CharacterScanner {
            min: usize::from(ngrams.min),
            max: usize::from(ngrams.max),
            reach: ngrams.reach,
            lower,
            window: LastCharacters::default(),
            space: None,
            inside_word: false,
        }
    }

    pub(super) fn start_document(&mut self) {
        self.window.clear();
        self.space = None;
        self.inside_word = false;
    }

    /// One part of a document. A part never ends where the next one could change its lower case.
    pub(super) fn scan(&mut self, text: &str, sink: &mut impl Sink) {
        match (self.reach, self.lower) {
            (Reach::Inside, true) => python::lower(text, |c| self.inside(c, sink)),
            (Reach::Inside, false) => text.chars().for_each(|c| self.inside(c, sink)),
            (Reach::Across, true) => python::lower(text, |c| self.across(c, sink)),
            (Reach::Across, false) => text.chars().for_each(|c| self.across(c, sink)),
        }
    }

    pub(super) fn finish_document(&mut self, sink: &mut impl Sink) {
        match self.reach {
            Reach::Inside => self.finish_word(sink),
            Reach::Across => {
                if let Some(space) = self.space.take() {
                    self.push(space, sink);
                }
            }
        }
    }

    #[inline]
    fn inside(&mut self, c: char, sink: &mut impl Sink) {
        if python::is_space(c) {
            self.finish_word(sink);
        } else {
            if !self.inside_word {
                self.inside_word = true;
                self.window.clear();
                self.push(' ', sink);
            }
            self.push(c, sink);
        }
    }

    fn finish_word(&mut self, sink: &mut impl Sink) {
        if self.inside_word {
            self.inside_word = false;
            self.push(' ', sink);
            if self.window.starts.len() < self.min {
                sink.item(&self.window.text);
            }
        }
    }

    /// A single white space stays what it is, several become one space.
    #[inline]
    fn across(&mut self, c: char, sink: &mut impl Sink) {
        if python::is_space(c) {
            self.space = Some(if self.space.is_some() { ' ' } else { c });
        } else {
            if let Some(space) = self.space.take() {
                self.push(space, sink);
            }
            self.push(c, sink);
        }
    }

    #[inline]
    fn push(&mut self, c: char, sink: &mut impl Sink) {
        if self.window.starts.len() == WINDOW {
            self.window.keep_last(self.max - 1);
        }
        let LastCharacters { text, starts } = &mut self.window;
        starts.push(text.len());
        text.push(c);
        for n in self.min..=self.max.min(starts.len()) {
            sink.item(&text[starts[starts.len() - n]..]);
        }
    }
}

impl LastCharacters {
    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    fn keep_last(&mut self, characters: usize) {
        let first = self.starts.len() - characters;
        let start = self.starts.get(first).copied().unwrap_or(self.text.len());
        self.text.drain(..start);
        self.starts.drain(..first);
        self.starts.iter_mut().for_each(|s| *s -= start);
    }
}

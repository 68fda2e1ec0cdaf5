//! Tables that are looked at more than once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use priory_input::{ReadOptions, Table};

/// Some tables, and how to read them.
pub(crate) struct Tables {
    sources: Vec<Source>,
    options: ReadOptions,
}

enum Source {
    File(String),
    /// Standard input and pipes can be read only once, so they are kept in a temporary file. It has no name, so that
    /// nothing is left of it however the program ends.
    Kept {
        name: String,
        file: Arc<Mutex<File>>,
    },
}

impl Tables {
    pub(crate) fn new(paths: &[String], options: ReadOptions) -> Result<Self> {
        let sources = paths.iter().map(|path| Source::new(path)).collect::<Result<_>>()?;
        Ok(Tables { sources, options })
    }

    /// Opens a table, if there are this many.
    pub(crate) fn open(&self, i: usize) -> Option<priory_input::Result<Table>> {
        self.sources.get(i).map(|source| source.open(&self.options))
    }

    /// Opens all tables from this one on, one after the other.
    pub(crate) fn open_from(&self, first: usize) -> impl Iterator<Item = Result<Table>> {
        (first..).map_while(|i| self.open(i)).map(|table| Ok(table?))
    }
}

impl Source {
    fn new(path: &str) -> Result<Self> {
        if path == "-" {
            return Source::keep("standard input", &mut std::io::stdin());
        }
        match File::open(path) {
            Ok(mut file) if file.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir()) => {
                Source::keep(path, &mut file)
            }
            // What cannot be opened is reported where every table is opened.
            _ => Ok(Source::File(path.to_owned())),
        }
    }

    fn keep(name: &str, from: &mut impl Read) -> Result<Self> {
        let mut file = tempfile::tempfile().context("a temporary file cannot be made")?;
        std::io::copy(from, &mut file)
            .with_context(|| format!("{name}: cannot be kept in a temporary file"))?;
        Ok(Source::Kept { name: name.to_owned(), file: Arc::new(Mutex::new(file)) })
    }

    fn open(&self, options: &ReadOptions) -> priory_input::Result<Table> {
        match self {
            Source::File(path) => Table::open(path, options),
            Source::Kept { name, file } => {
                let from_the_beginning = KeptReader { file: Arc::clone(file), position: 0 };
                Table::from_reader(name, from_the_beginning, options)
            }
        }
    }
}

/// Reads a file that several readers share, each from its own place on.
struct KeptReader {
    file: Arc<Mutex<File>>,
    position: u64,
}

impl Read for KeptReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.position))?;
        let read = file.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

//! How a table is written: what the user says, and else what its name and its first bytes say.

use std::path::Path;
use std::time::Duration;

use crate::documents::LineFormat;
use crate::error::Result;
use crate::input::OpenedText;
use crate::reader::BadValues;
use crate::source::Source;
use crate::tar::is_tar;
use crate::{delimited, json, svmlight};

/// How a table is written and read. What is not said is found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format. If none is given, the name and the first bytes tell.
    pub input_format: Option<InputFormat>,
    /// The character between fields of delimited text. If none is given, it is a tab for files named `.tsv` or `.tab`, and
    /// otherwise the one among comma, semicolon, tab and bar that suits the header and the first rows.
    pub delimiter: Option<u8>,
    /// Lines of delimited text that begin with this character are skipped.
    pub comment: Option<u8>,
    /// Whether delimited text begins with the names of its columns. If not, they are called 1, 2, 3 and so on.
    pub header: bool,
    /// What the bytes of a text file mean.
    pub encoding: Encoding,
    /// How many columns a table in svmlight format has, if the beginning of the file does not show all of them.
    pub columns: Option<usize>,
    /// What to do with words in a column of numbers.
    pub bad_values: BadValues,
    /// The sheet of a spreadsheet, by its name or by its number from 1 on. If none is given, the first that is shown.
    pub sheet: Option<String>,
    /// A pipe that gives nothing for so long is not waited for: the rows that have come are handed out. If nothing is said,
    /// rows are handed out when there are many of them.
    pub patience: Option<Duration>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            input_format: None,
            delimiter: None,
            comment: None,
            header: true,
            encoding: Encoding::default(),
            columns: None,
            bad_values: BadValues::default(),
            sheet: None,
            patience: None,
        }
    }
}

/// What is to be known of a format: its name and word, the ends of the names of its files, and how it is opened.
macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $word:literal, [$($extension:literal),*], $opening:expr;)*) => {
        /// A format that tables are read from. Text and Arrow may be packed with gzip or zstd.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum InputFormat {
            $($(#[$doc])* $name,)*
        }

        impl InputFormat {
            /// All of them.
            pub const ALL: &[InputFormat] = &[$(InputFormat::$name,)*];

            /// The word for it, as on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(InputFormat::$name => $word,)*
                }
            }

            /// How files that have it are often called.
            fn extensions(self) -> &'static [&'static str] {
                match self {
                    $(InputFormat::$name => &[$($extension),*],)*
                }
            }

            pub(crate) fn opening(self) -> Opening {
                match self {
                    $(InputFormat::$name => $opening,)*
                }
            }
        }
    };
}

// A new format of text is a file beside this one, its `mod` in `lib.rs`, and a line here.
formats! {
    /// Fields between delimiters, a record per line: CSV, TSV and the like.
    Delimited = "csv", ["csv", "tsv", "tab", "psv"], Opening::Text(delimited::open);
    /// A JSON object per line.
    JsonLines = "jsonl", ["jsonl", "ndjson", "json"], Opening::Text(json::open);
    /// `label index:value …`, as svmlight and libsvm have it.
    Svmlight = "svmlight", ["svm", "svmlight", "libsvm"], Opening::Text(svmlight::open);
    /// Parquet; from a file only, since its beginning is at its end.
    Parquet = "parquet", ["parquet"], Opening::Parquet;
    /// Arrow's own format, as a file or as a stream.
    Arrow = "arrow", ["arrow", "arrows", "ipc", "feather"], Opening::Arrow;
    /// A sheet of a workbook: Office Open XML or OpenDocument.
    Spreadsheet = "spreadsheet", ["xlsx", "xlsm", "xltx", "xltm", "ods", "ots"], Opening::Spreadsheet;
    /// A file for each document, in a folder for each class, or the same in a tar archive.
    Documents = "documents", [], Opening::Documents;
    /// Messages, mailboxes, folders and archives of them.
    Mail = "mail", ["eml", "mbox"], Opening::Mail;
    /// A document in each line.
    Lines = "lines", [], Opening::Text(|source, name, how| LineFormat::Plain.open(source, name, how));
    /// `__label__class text` in each line.
    FastText = "fasttext", [], Opening::Text(|source, name, how| LineFormat::FastText.open(source, name, how));
    /// `class | text` in each line.
    VowpalWabbit = "vw", ["vw"], Opening::Text(|source, name, how| LineFormat::VowpalWabbit.open(source, name, how));
}

/// How a table is opened.
pub(crate) enum Opening {
    /// From text of which the beginning was read, and what the [`extension`] is.
    Text(fn(&mut Source, Option<&str>, &ReadOptions) -> Result<OpenedText>),
    Parquet,
    Arrow,
    Spreadsheet,
    Documents,
    Mail,
}

/// What the bytes of a text mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, and what is not is refused.
    #[default]
    Utf8,
    /// ISO 8859-1: every byte is a character.
    Latin1,
}

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    pub(crate) fn of(beginning: &[u8]) -> Option<Packing> {
        if beginning.starts_with(b"\x1f\x8b") {
            Some(Packing::Gzip)
        } else if beginning.starts_with(b"\x28\xb5\x2f\xfd") {
            Some(Packing::Zstd)
        } else {
            None
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// What the end of a file's name says, if there is one: in lower case, and before `.gz` or `.zst`.
pub(crate) fn extension(path: &str) -> Option<String> {
    let lower = path.to_lowercase();
    let inner = [".gz", ".zst", ".zstd"].iter().find_map(|packed| lower.strip_suffix(packed));
    Path::new(inner.unwrap_or(&lower)).extension()?.to_str().map(String::from)
}

/// The format that the name and the first bytes speak for. Bytes that only one format begins with count more than a
/// name, and a name more than a guess.
pub(crate) fn likely_format(extension: Option<&str>, beginning: &[u8]) -> InputFormat {
    if beginning.starts_with(b"PAR1") {
        return InputFormat::Parquet;
    } else if beginning.starts_with(b"ARROW1") || beginning.starts_with(&[0xff; 4]) {
        return InputFormat::Arrow;
    } else if beginning.starts_with(b"PK\x03\x04") {
        return InputFormat::Spreadsheet;
    } else if is_tar(beginning) {
        return InputFormat::Documents;
    } else if extension != Some("csv") && beginning.starts_with(b"__label__") {
        return InputFormat::FastText;
    }
    let is_named = |format: &&InputFormat| extension.is_some_and(|end| format.extensions().contains(&end));
    InputFormat::ALL.iter().find(is_named).copied().unwrap_or_else(|| {
        let text = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
        let object = text.trim_ascii_start().starts_with(b"{");
        if object { InputFormat::JsonLines } else { InputFormat::Delimited }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_more_than_names_and_names_more_than_guesses() {
        let format = |path: &str, beginning: &[u8]| likely_format(extension(path).as_deref(), beginning);
        assert_eq!(format("t.csv", b"{\"a\"\n1"), InputFormat::Delimited);
        assert_eq!(format("t", b" \n{\"a\""), InputFormat::JsonLines);
        assert_eq!(format("t.txt", b"a,b\n"), InputFormat::Delimited);
        assert_eq!(format("t.NDJSON.gz", b""), InputFormat::JsonLines);
        assert_eq!(format("a.b/t.svm.zst", b"1 1:2"), InputFormat::Svmlight);
        assert_eq!(format("t.csv", b"PAR1"), InputFormat::Parquet);
        assert_eq!(format("-", b"ARROW1\0\0"), InputFormat::Arrow);
        assert_eq!(format("t.csv", b"PK\x03\x04"), InputFormat::Spreadsheet);
        assert_eq!(format("t.gz", b"a"), InputFormat::Delimited);
        assert_eq!(extension("t.tsv.gz").as_deref(), Some("tsv"));
    }
}

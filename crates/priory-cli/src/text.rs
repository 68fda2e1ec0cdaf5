//! What was said about text: which tokens a document has, and how they are counted.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use priory::text::{CharacterNgrams, Cjk, StopWords, TermFrequency, TextSettings, TokenStyle, WordNgrams};
use priory::{Kind, Schema, words};
use priory_input::text::TextChoices;

/// How the documents in columns of text are read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Text")]
pub(crate) struct TextArgs {
    /// What a token is: words, sklearn (words as scikit-learn finds them), spaces, characters:MIN-MAX or
    /// characters-across:MIN-MAX, for example `--tokens characters:1-4` [default: words]
    #[arg(long, value_name = "STYLE", value_parser = words::token_style)]
    pub(crate) tokens: Option<TokenStyle>,
    /// How many neighbouring words make up a token, for example `--ngrams 1-2` [default: 1]
    #[arg(long, value_name = "MIN-MAX", value_parser = words::ngrams)]
    pub(crate) ngrams: Option<WordNgrams>,
    /// Runs of so many characters inside words are weighed as well, for short or misspelt text, for example `--characters 3-5`
    ///
    /// They are counted beside the words and pairs of a judged model. Of textbook models, `--tokens characters:3-5` is the counterpart.
    #[arg(long, value_name = "MIN-MAX", value_parser = words::characters)]
    pub(crate) characters: Option<CharacterNgrams>,
    /// Words that are left out: english, or a file with one word per line, for example `--stop-words english`
    #[arg(long, value_name = "WORDS")]
    pub(crate) stop_words: Option<String>,
    /// Cut words down to their stems, for example `--stem english`
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) stem: Option<String>,
    /// Keep capital letters apart from small ones, for example `train mails.csv --target class --keep-case`
    #[arg(long)]
    pub(crate) keep_case: bool,
    /// Make one character of those that look alike (NFKC), for example `train mails.csv --target class --nfkc`
    #[arg(long)]
    pub(crate) nfkc: bool,
    /// Scripts without spaces: bigrams of characters, or words as Unicode finds them, for example `--cjk words`
    /// [default: bigrams]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    pub(crate) cjk: Option<CjkChoice>,
    /// Count 2^BITS buckets of tokens instead of tokens, which bounds the memory, for example `--hash-bits 22`
    #[arg(long, value_name = "BITS")]
    pub(crate) hash_bits: Option<u8>,
    /// What f occurrences of a token in a document count: f (counts) or log(1 + f) (log), for example
    /// `--frequency log` [default: counts]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    pub(crate) frequency: Option<FrequencyChoice>,
    /// Make all documents count alike, whatever their length, for example `train mails.csv --target class --equal-length`
    #[arg(long)]
    pub(crate) equal_length: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CjkChoice {
    Bigrams,
    Words,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FrequencyChoice {
    Counts,
    Log,
}

impl TextArgs {
    /// Puts what was said into every column of text.
    pub(crate) fn apply(&self, schema: &mut Schema) -> Result<()> {
        let settings = self.settings()?;
        let mut columns = schema.columns.iter_mut().filter(|column| column.kind == Kind::Text).peekable();
        if columns.peek().is_none() && settings != TextSettings::default() {
            bail!("something was said about text, but no column is text; --as COLUMN=text makes it so");
        }
        columns.for_each(|column| column.text = Some(settings.clone()));
        Ok(())
    }

    /// Whether anything was said about text.
    pub(crate) fn is_given(&self) -> Result<bool> {
        Ok(self.settings()? != TextSettings::default())
    }

    fn settings(&self) -> Result<TextSettings> {
        let stop_words = match self.stop_words.as_deref() {
            None => StopWords::None,
            Some("english") => StopWords::English,
            Some(path) => StopWords::Given(read_words(Path::new(path))?),
        };
        let choices = TextChoices {
            tokens: self.tokens.unwrap_or_default(),
            ngrams: self.ngrams.unwrap_or_default(),
            characters: self.characters,
            stop_words,
            stem: self.stem.clone(),
            keep_case: self.keep_case,
            nfkc: self.nfkc,
            cjk: match self.cjk {
                Some(CjkChoice::Words) => Cjk::Words,
                Some(CjkChoice::Bigrams) | None => Cjk::Bigrams,
            },
            hash_bits: self.hash_bits,
            frequency: match self.frequency {
                Some(FrequencyChoice::Log) => TermFrequency::Logarithm,
                Some(FrequencyChoice::Counts) | None => TermFrequency::Counts,
            },
            equal_length: self.equal_length,
            neighbours: false,
        };
        Ok(choices.settings()?)
    }
}

fn read_words(path: &Path) -> Result<BTreeSet<String>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(text.lines().map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

//! Documents to tokens.
//!
//! [`TokenSettings`](priory::text::TokenSettings) say what a token is and are stored with what was counted; a [`Tokenizer`] is made from them and
//! shows each token of a document to a visitor. Nothing is collected and nothing is allocated per token.
//!
//! ```
//! use priory::text::TokenSettings;
//! use priory_input::text::Tokenizer;
//!
//! let mut tokenizer = Tokenizer::new(&TokenSettings::default())?;
//! let mut tokens = Vec::new();
//! tokenizer.tokens("Win £1,000 NOW at http://www.example.com/prize?id=7!", |token| tokens.push(token.to_owned()));
//! assert_eq!(tokens, ["win", "money:£4digits", "now", "at", "url:example.com", "prize"]);
//! # Ok::<(), priory::Error>(())
//! ```

mod tokenize;

mod characters;
mod choices;
mod mail;
mod python;
mod python_tables;
mod sklearn;
mod spaces;
mod stages;
mod stop_words;
mod words;

pub use choices::TextChoices;
pub use mail::{MAIL_COLUMNS, MAIL_VERSION, Mail, mail_columns};
pub use tokenize::{STEMMER_VERSION, Tokenizer, unicode_versions};

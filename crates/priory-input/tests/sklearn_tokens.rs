//! Tokens compared with Python's `re` and `str.lower()` and with scikit-learn's CountVectorizer. The reference
//! values are in testdata/sklearn/tokens.jsonl; its first line names the versions, scripts/token-fixture.py wrote it.

use priory::text::{CharacterNgrams, LetterCase, Reach, TokenSettings, TokenStyle, WordNgrams};
use priory_input::text::Tokenizer;
use serde_json::Value;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sklearn/tokens.jsonl");

fn reference() -> Vec<Value> {
    let text = std::fs::read_to_string(REFERENCE).expect("the reference can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("one value a line")).collect()
}

fn words() -> TokenSettings {
    TokenSettings { style: TokenStyle::Sklearn, ..TokenSettings::default() }
}

fn words_of(min: u8, max: u8) -> TokenSettings {
    TokenSettings { ngrams: WordNgrams { min, max }, ..words() }
}

fn characters(min: u8, max: u8, reach: Reach) -> TokenSettings {
    TokenSettings {
        style: TokenStyle::Characters(CharacterNgrams { min, max, reach }),
        ..TokenSettings::default()
    }
}

fn tokens(settings: &TokenSettings, text: &str) -> Vec<String> {
    let mut tokenizer = Tokenizer::new(settings).expect("settings that make sense");
    let mut tokens = Vec::new();
    tokenizer.tokens(text, |token| tokens.push(token.to_owned()));
    tokens
}

/// FNV-1a, 64 bits, of the tokens with a zero byte behind each.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    const EMPTY: Digest = Digest(0xcbf29ce484222325);

    fn add(&mut self, token: &str) {
        for byte in token.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100000001b3);
        }
    }
}

#[test]
fn every_character_is_what_python_says() {
    let mut tokenizer = Tokenizer::new(&words()).unwrap();
    let mut blocks = 0;
    for line in reference() {
        let Some([first, expected]) = line.as_array().map(Vec::as_slice) else { continue };
        let first = first.as_u64().unwrap() as u32;
        let mut digest = Digest::EMPTY;
        for c in (first..first + 4096).filter_map(char::from_u32) {
            tokenizer.tokens(&format!("a{c}b {c}{c} A{c}Σ AΣ{c}B"), |token| digest.add(token));
        }
        assert_eq!(
            format!("{:016x}", digest.0),
            expected.as_str().unwrap(),
            "code points {first:#x} to +4095"
        );
        blocks += 1;
    }
    assert_eq!(blocks, 272);
}

#[test]
fn documents_have_the_tokens_of_countvectorizer() {
    let digested = [
        ("case", TokenSettings { case: LetterCase::Keep, ..words() }),
        ("words_1_3", words_of(1, 3)),
        ("words_2_2", words_of(2, 2)),
        ("char_1_3", characters(1, 3, Reach::Across)),
        ("char_4_5", characters(4, 5, Reach::Across)),
        ("char_wb_1_3", characters(1, 3, Reach::Inside)),
        ("char_wb_4_7", characters(4, 7, Reach::Inside)),
    ];
    let mut documents = 0;
    for line in reference() {
        let Some(text) = line.get("text").and_then(Value::as_str) else { continue };
        let expected: Vec<String> = serde_json::from_value(line["words"].clone()).unwrap();
        assert_eq!(tokens(&words(), text), expected, "{text:?}");
        for (name, settings) in &digested {
            let mut found = tokens(settings, text);
            found.sort();
            let mut digest = Digest::EMPTY;
            found.iter().for_each(|token| digest.add(token));
            assert_eq!(
                format!("{:016x}", digest.0),
                line[name].as_str().unwrap(),
                "{name} of {text:?}: {found:?}"
            );
        }
        documents += 1;
    }
    assert_eq!(documents, 315);
}

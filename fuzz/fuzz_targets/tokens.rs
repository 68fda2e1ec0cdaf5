//! Documents of any bytes under any settings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use priory::text::{CharacterNgrams, Cjk, LetterCase, Normalization, Reach, StopWords, TokenSettings, TokenStyle, WordNgrams};
use priory_input::text::Tokenizer;

fuzz_target!(|input: &[u8]| {
    let Some((&choices, document)) = input.split_first_chunk::<4>() else { return };
    let settings = settings(choices);
    let Ok(tokenizer) = Tokenizer::new(&settings) else { return };
    let mut tokenizer = tokenizer;
    let mut tokens = Vec::new();
    tokenizer.tokens_of_bytes(document, |token| tokens.push(token.to_owned()));

    // Invalid bytes are as good as the replacement character, and nothing of one document is left for the next.
    let mut again = Vec::new();
    tokenizer.tokens(&String::from_utf8_lossy(document), |token| again.push(token.to_owned()));
    assert_eq!(tokens, again, "{settings:?}");

    assert!(tokens.iter().all(|token| !token.is_empty()), "{settings:?}");
    if settings.style == TokenStyle::Words && settings.ngrams.max == 1 {
        let longest = tokens.iter().map(|token| token.chars().count()).max();
        assert!(longest.is_none_or(|longest| longest <= 80), "{longest:?} characters: {settings:?}");
    }

    // Buckets replace tokens, one for one.
    let mut hashed =
        Tokenizer::new(&TokenSettings { hash_bits: Some(7), ..settings }).expect("7 bits are allowed");
    let mut buckets = 0;
    hashed.tokens_of_bytes(document, |bucket| {
        assert!(bucket.parse::<u32>().is_ok_and(|bucket| bucket < 128), "{bucket}");
        buckets += 1;
    });
    assert_eq!(buckets, tokens.len());
});

/// Settings of which not all make sense.
fn settings([style, flags, sizes, language]: [u8; 4]) -> TokenSettings {
    const LANGUAGES: [&str; 8] =
        ["english", "german", "french", "russian", "turkish", "arabic", "finnish", "tamil"];
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let (min, max) = (1 + (sizes & 3), 1 + (sizes & 3) + (sizes >> 2 & 3));
    let reach = if flag(0) { Reach::Across } else { Reach::Inside };
    TokenSettings {
        style: match style % 3 {
            0 => TokenStyle::Words,
            1 => TokenStyle::Sklearn,
            _ => TokenStyle::Characters(CharacterNgrams { min, max, reach }),
        },
        case: if flag(1) { LetterCase::Keep } else { LetterCase::Lower },
        normalization: if flag(2) { Normalization::Nfkc } else { Normalization::None },
        ngrams: if flag(3) { WordNgrams { min, max } } else { WordNgrams::default() },
        cjk: if flag(4) { Cjk::Words } else { Cjk::Bigrams },
        stop_words: if flag(5) { StopWords::English } else { StopWords::None },
        stemming: flag(6).then(|| LANGUAGES[usize::from(language) % LANGUAGES.len()].to_owned()),
        hash_bits: None,
        ..TokenSettings::default()
    }
}

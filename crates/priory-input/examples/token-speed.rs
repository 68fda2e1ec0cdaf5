//! How fast documents become tokens: megabytes per second on one core, the best of several rounds.
//!
//!     cargo run --release -p priory-input --example token-speed [FILE ...]
//!
//! Without files: 64 MB of made-up English whose words follow Zipf's law. With files: all of them, as documents.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use priory::text::{CharacterNgrams, Normalization, StopWords, TokenSettings, TokenStyle, WordNgrams};
use priory_input::text::Tokenizer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    let documents = if files.is_empty() {
        zipf(64 << 20)
    } else {
        files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?
    };
    let words = TokenSettings::default;
    let cases = [
        ("words", words()),
        ("words, NFKC", TokenSettings { normalization: Normalization::Nfkc, ..words() }),
        ("words, 1 to 2", TokenSettings { ngrams: WordNgrams { min: 1, max: 2 }, ..words() }),
        ("words, no stop words", TokenSettings { stop_words: StopWords::English, ..words() }),
        ("words, stemmed", TokenSettings { stemming: Some("english".into()), ..words() }),
        ("words, 2^20 buckets", TokenSettings { hash_bits: Some(20), ..words() }),
        ("scikit-learn's words", TokenSettings { style: TokenStyle::Sklearn, ..words() }),
        (
            "characters, 1 to 4",
            TokenSettings { style: TokenStyle::Characters(CharacterNgrams::default()), ..words() },
        ),
    ];
    let clock = Instant::now();
    let bytes: usize = documents.iter().map(Vec::len).sum();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} documents, {:.1} MB", documents.len(), bytes as f64 / 1e6)?;
    for (name, settings) in cases {
        let mut tokenizer = Tokenizer::new(&settings)?;
        let (mut best, mut tokens) = (f64::INFINITY, 0u64);
        for _ in 0..5 {
            let start = seconds(&clock);
            tokens = 0;
            for document in &documents {
                tokenizer.tokens_of_bytes(document, |token| {
                    black_box(token);
                    tokens += 1;
                });
            }
            best = best.min(seconds(&clock) - start);
        }
        let (speed, each) = (bytes as f64 / best / 1e6, best * 1e9 / tokens as f64);
        writeln!(out, "{name:24} {speed:7.0} MB/s {each:7.1} ns/token {tokens:11} tokens")?;
    }
    Ok(())
}

/// Time spent running, where the system tells (Linux), so that other programs do not count; otherwise the time passed.
fn seconds(clock: &Instant) -> f64 {
    let running = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = running.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| clock.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// Documents of two hundred words or so: capitals at the start of sentences, commas, full stops, lines.
fn zipf(bytes: usize) -> Vec<Vec<u8>> {
    let mut state = 0x9e3779b97f4a7c15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let vocabulary: Vec<String> = (0..180_000u32)
        .map(|rank| {
            let letters = 2 + (f64::from(rank + 1).log2() / 2.5) as u64 + random() % 3;
            (0..letters).map(|_| char::from(b"etaoinshrdlucmfwypvbgk"[random() as usize % 22])).collect()
        })
        .collect();
    let mut documents = Vec::new();
    let mut written = 0;
    while written < bytes {
        let mut document = Vec::new();
        let mut starts = true;
        for i in 0..200 {
            // The inverse of Zipf's distribution function, near enough: ranks are uniform on a logarithmic scale.
            let uniform = (random() >> 11) as f64 / (1u64 << 53) as f64;
            let rank = (vocabulary.len() as f64).powf(uniform) as usize - 1;
            let at = document.len();
            document.extend_from_slice(vocabulary[rank].as_bytes());
            if starts || random().is_multiple_of(20) {
                document[at].make_ascii_uppercase();
            }
            starts = false;
            match random() % 16 {
                0 => document.push(b','),
                1 => {
                    document.push(b'.');
                    starts = true;
                }
                _ => {}
            }
            document.push(if i % 12 == 11 { b'\n' } else { b' ' });
        }
        written += document.len();
        documents.push(document);
    }
    documents
}

use proptest::prelude::*;

use super::*;

#[derive(Default)]
struct Collected {
    tokens: Vec<String>,
    /// Short words are taken by value.
    by_value: bool,
}

impl Sink for Collected {
    fn word(&mut self, token: &str) {
        self.tokens.push(token.to_owned());
    }
    fn short_word(&mut self, token: ShortName) -> bool {
        if self.by_value {
            self.word(token.write(&mut Default::default()));
        }
        self.by_value
    }
    fn item(&mut self, token: &str) {
        self.tokens.push(token.to_owned());
    }
}

fn words_by(mut scanner: WordScanner, text: &str) -> Vec<String> {
    let [by_value, by_name] = [true, false].map(|by_value| {
        let mut found = Collected { by_value, ..Collected::default() };
        scanner.scan(text, &mut found);
        found.tokens
    });
    assert_eq!(by_value, by_name, "{text:?}");
    by_value
}

fn words(text: &str) -> Vec<String> {
    words_by(WordScanner::new(true, false, Cjk::Bigrams, false), text)
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(words(text), expected, "{text:?}");
}

#[test]
fn all_bytes_but_letters_are_marked() {
    for at in 0..8 {
        for byte in 0..=u8::MAX {
            let mut eight = *b"azBYcxMN";
            eight[at] = byte;
            let mut expected = [0; 8];
            expected[at] = if byte.is_ascii_alphabetic() { 0 } else { 0x80 };
            assert_eq!(NoLetters.top_bits(u64::from_le_bytes(eight)).to_le_bytes(), expected, "{eight:?}");
        }
    }
}

#[test]
fn plain_words() {
    check("", &[]);
    check(" \n\t\0\x7f", &[]);
    check("a Bc\0d", &["a", "bc", "d"]);
    check("(Hello), \"world\"... -- 'tis!", &["hello", "world", "tis"]);
    check("don't Don’t e.g. U.S.A. re:hello", &["don't", "don't", "e.g", "u.s.a", "re", "hello"]);
    check("well-known and/or _it_ foo_bar ____", &["well", "known", "and", "or", "it", "foo_bar"]);
    check("example.com win32 4u", &["example.com", "win32", "4u"]);
}

#[test]
fn numbers_and_money() {
    check("42 1984, 3.14 (7)", &["42", "1984", "3.14", "7"]);
    check("08001234567 12,345.67 192.168.10.1", &["num:11digits", "num:7digits", "num:9digits"]);
    check("1st 2nd 1.5GB v2.0", &["1st", "2nd", "1.5gb", "v2.0"]);
    check(
        "$5 $1,000,000.00! €9,99 £1.000",
        &["money:$1digits", "money:$7digits", "money:€1digits", "money:£4digits"],
    );
    check("100€ 50¢ US$20 $ $$$ $x", &["money:€3digits", "money:¢2digits", "us", "money:$2digits", "x"]);
    check("٣٤ ١٢٣٤٥٦", &["٣٤", "num:6digits"]);
    check(
        "0800-123-456 12/25/1999 10:30 1;2",
        &["0800", "123", "456", "12", "25", "1999", "10", "30", "1", "2"],
    );
    check(&"7".repeat(100), &["long:128"]);
}

#[test]
fn addresses() {
    check("http://www.Example.com", &["url:example.com"]);
    check("<https://a.b.org:8080/Some/page.html?q=x#y>.", &["url:a.b.org", "some", "page.html"]);
    check("see:http://x.org/,www.y.com/z)", &["see", "url:x.org", "www.y.com", "z"]);
    check("http://paypal.com@evil.ru/login", &["url:evil.ru", "login"]);
    check("www.foo.de. www.foo awww.foo.de", &["url:foo.de", "www.foo", "awww.foo.de"]);
    check("http:// ://x a://! http://", &["http", "x", "a", "http"]);
    check(
        "Bob.Smith+news@Mail.Example.COM, x",
        &["bob.smith+news@mail.example.com", "@mail.example.com", "x"],
    );
    check("mailto:a-b@c.de?subject=hi", &["mailto", "a-b@c.de", "@c.de", "subject", "hi"]);
    check("a@b @ @you me@ x@y..com 1@2.3", &["a", "b", "you", "me", "x", "y", "com", "1", "2.3"]);
    check("<a@b.org>,<c@d.org>", &["a@b.org", "@b.org", "c@d.org", "@d.org"]);
    check(
        "请联系bob@x.com谢谢http://例.com/路",
        &["请联", "联系", "bob@x.com", "@x.com", "谢谢", "http", "例", "com", "路"],
    );
}

#[test]
fn other_scripts() {
    check("Čeština ÜBER naïve", &["čeština", "über", "naïve"]);
    check("ΟΔΟΣ οδος οδοσ", &["οδοσ", "οδοσ", "οδοσ"]);
    check("İstanbul", &["istanbul"]);
    check("e\u{301}te\u{301}", &["e\u{301}te\u{301}"]);
    check("東京都。私 abc日本", &["東京", "京都", "私", "abc", "日本"]);
    check("カタカナ ひらがな", &["カタ", "タカ", "カナ", "ひら", "らが", "がな"]);
    check("한국어를 배워", &["한국", "국어", "어를", "배워"]);
    check("ภาษา", &["ภา", "าษ", "ษา"]);
    check("שלום мир", &["שלום", "мир"]);
    check("ok😀👍🏽❤️!", &["ok", "😀", "👍", "❤"]);
    let by_unicode = |text| words_by(WordScanner::new(true, false, Cjk::Words, false), text);
    assert_eq!(by_unicode("東京 カタカナ 한국어"), ["東", "京", "カタカナ", "한국어"]);
}

#[test]
fn nothing_invisible_is_left() {
    check("v\u{200b}i\u{200d}a\u{ad}gra", &["viagra"]);
    check("\u{202e}abc\u{202c} \u{feff}x \u{200b}", &["abc", "x"]);
    check("a\u{a0}b\u{3000}c\u{fffd}d", &["a", "b", "c", "d"]);
    let nfkc = |text| words_by(WordScanner::new(true, true, Cjk::Bigrams, false), text);
    assert_eq!(nfkc("ﬁne Ｆｒｅｅ 𝓯𝓻𝓮𝓮 e\u{301}"), ["fine", "free", "free", "é"]);
    assert_eq!(nfkc("ｈｔｔｐ：／／ｘ．ｏｒｇ"), ["url:x.org"]);
    let kept = |text| words_by(WordScanner::new(false, false, Cjk::Bigrams, false), text);
    assert_eq!(kept("Free ΟΔΟΣ"), ["Free", "ΟΔΟΣ"]);
}

#[test]
fn what_has_no_end_is_bounded() {
    check(&"a".repeat(64), &[&"a".repeat(64)]);
    check(&"a".repeat(65), &["long:128"]);
    check(&"Ab1".repeat(1 << 20), &["long:4194304"]);
    check(&"é".repeat(1 << 20), &["long:1048576"]);
    check(&format!("x {}. y", "é".repeat(300)), &["x", "long:512", "y"]);
    check(&format!("http://{}.com", "h".repeat(80)), &["long:128"]);
    assert_eq!(words(&"東".repeat(LONGEST_SPAN)).len(), LONGEST_SPAN - 4);
    assert_eq!(words(&"e\u{301}".repeat(LONGEST_SPAN)).len(), 4);
    assert!(words(&"\u{301}".repeat(1 << 16)).is_empty());
    assert!(words(&"-".repeat(1 << 20)).is_empty());
}

/// Text of few different characters, so that every rule is met.
fn ascii() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "a", "B", "www", "http", "://", "com", "1", "23", "4567", ".", "'", ",", ":", ";", "_", "@", "-",
        "+", "$", "%", "?", "#", "/", "<", " ", "\n", "\0",
    ]);
    prop::collection::vec(parts, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn ascii_needs_no_general_rules(
        text in prop_oneof![ascii(), "[ -~\n]{0,80}", "([A-Za-z]{1,17}[ \n\t,.]){0,9}"],
        lower: bool,
    ) {
        let scanner = WordScanner::new(lower, false, Cjk::Bigrams, false);
        let general = WordScanner { always_general: true, ..scanner.clone() };
        prop_assert_eq!(words_by(scanner, &text), words_by(general, &text));
    }

    #[test]
    fn ascii_words_end_where_unicode_ends_them(text in ascii(), after in "[é\u{301}日'a. ]{0,2}") {
        let text = text + &after;
        let general = WordScanner::new(true, false, Cjk::Bigrams, false).cutter;
        for (at, b) in text.bytes().enumerate() {
            if (b.is_ascii_alphanumeric() || b == b'_')
                && let (length, true) = ascii_word_length(&text.as_bytes()[at..])
            {
                prop_assert_eq!(general.word_length(&text[at..]), length, "{:?}", &text[at..]);
            }
        }
    }

    #[test]
    fn tokens_are_short_lower_and_whole(text in prop_oneof![any::<String>(), "(\\PC|[\u{0}-\u{ffff}]){0,60}"]) {
        for token in words(&text) {
            prop_assert!(!token.is_empty());
            prop_assert!(token.chars().count() <= LONGEST_WORD, "{token:?}");
            prop_assert!(!token.contains(|c: char| c.is_whitespace() || is_invisible(c)), "{token:?}");
            prop_assert!(!token.contains(|c: char| c.is_ascii_uppercase()), "{token:?}");
        }
    }
}

"""Writes testdata/sklearn/tokens.jsonl: what Python and scikit-learn take for tokens.

    pip install scikit-learn
    python3 scripts/token-fixture.py > testdata/sklearn/tokens.jsonl

First line: versions. Then for each block of 4096 code points a digest of the tokens of `(?u)\\b\\w\\w+\\b` in the
lower-cased texts that `around` makes of each of them. Then documents of all sorts with the tokens that CountVectorizer
finds in them, in order for words and as a digest of the sorted list for n-grams.
"""

import json
import platform
import random
import re
import unicodedata

import sklearn
from sklearn.feature_extraction.text import CountVectorizer

WORDS = re.compile(r"(?u)\b\w\w+\b")


def around(c):
    """Texts that show whether a character joins words, what its lower case is and what it means for a final sigma."""
    return f"a{c}b {c}{c} A{c}\u03a3 A\u03a3{c}B"


def digest(tokens):
    """FNV-1a, 64 bits, of the tokens with a zero byte behind each."""
    value = 0xCBF29CE484222325
    for byte in b"".join(token.encode() + b"\0" for token in tokens):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def random_character(rng):
    while True:
        c = chr(rng.choice([
            rng.randrange(0x20, 0x7F), rng.randrange(0x80), rng.randrange(0x250), rng.randrange(0x370, 0x600),
            rng.randrange(0x2000, 0x2100), rng.randrange(0x3000, 0x3100), rng.randrange(0x10000),
            rng.randrange(0x20000), rng.randrange(0x110000), ord(rng.choice("ΣσςİıǅßſK' .:_\u00ad\u200d\u0301\n\t\x1c\x85\u3000")),
        ]))
        if not 0xD800 <= ord(c) < 0xE000:
            return c


def documents():
    yield from ["", " ", "a", "I am", "  two\n\nlines\r\n", "Don't stop_now 3.14 x2 ab", "ΟΔΥΣΣΕΥΣ ΟΔΟΣ' ΣΟΦΟΣ.Α Σ", "İstanbul IJ ǅ", "مرحبا بالعالم", "日本語のテキスト、中文。", "हिन्दी में", "naïve café e\u0301te\u0301", "x\0y ab\0cd", "a\x1cb\x1c\x1dc", "I\u0307 \u01c5ungla"]
    rng = random.Random(5)
    for i in range(300):
        pick = (lambda: random_character(rng)) if i % 3 else (lambda: rng.choice("abcABZ019_ '.-\n\té ΣİǅあК"))
        yield "".join(pick() for _ in range(rng.randrange(60)))


def line(value):
    print(json.dumps(value, ensure_ascii=True, separators=(",", ":")))


line({"python": platform.python_version(), "unicode": unicodedata.unidata_version, "scikit-learn": sklearn.__version__})
for block in range(0, 0x110000, 4096):
    characters = [chr(i) for i in range(block, block + 4096) if not 0xD800 <= i < 0xE000]
    line([block, digest(token for c in characters for token in WORDS.findall(around(c).lower()))])
analyzers = {
    "words": CountVectorizer(),
    "case": CountVectorizer(lowercase=False),
    "words_1_3": CountVectorizer(ngram_range=(1, 3)),
    "words_2_2": CountVectorizer(ngram_range=(2, 2)),
    "char_1_3": CountVectorizer(analyzer="char", ngram_range=(1, 3)),
    "char_4_5": CountVectorizer(analyzer="char", ngram_range=(4, 5)),
    "char_wb_1_3": CountVectorizer(analyzer="char_wb", ngram_range=(1, 3)),
    "char_wb_4_7": CountVectorizer(analyzer="char_wb", ngram_range=(4, 7)),
}
analyzers = {name: vectorizer.build_analyzer() for name, vectorizer in analyzers.items()}
for document in documents():
    found = {"text": document}
    for name, analyze in analyzers.items():
        tokens = analyze(document)
        found[name] = tokens if name == "words" else digest(sorted(tokens))
    line(found)

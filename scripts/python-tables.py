"""Writes crates/priory-input/src/text/python_tables.rs: what Python's `re` and `str.lower` say of each character.

    python3 scripts/python-tables.py > crates/priory-input/src/text/python_tables.rs

Properties that Python does not show are read off its behaviour: a capital sigma at the end of a word becomes a final
sigma exactly if a cased character stands before it, with nothing but case-ignorable characters between.
"""

import platform
import re
import unicodedata

CHARACTERS = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]


def is_word(c):
    return re.match(r"\w", c)


def is_cased(c):
    return (c + "Σ").lower().endswith("ς")


def is_case_ignorable(c):
    return not is_cased(c) and ("A" + c + "Σ").lower().endswith("ς")


def ranges(holds):
    found = []
    for c in CHARACTERS:
        if holds(c):
            i = ord(c)
            if found and found[-1][1] == i - 1:
                found[-1][1] = i
            else:
                found.append([i, i])
    return found


def table(name, says, holds):
    found = ranges(holds)
    print(f"\n/// {says}\n#[rustfmt::skip]\npub(super) static {name}: [(u32, u32); {len(found)}] = [")
    line = "   "
    for a, b in found:
        entry = f" ({a:#x}, {b:#x}),"
        if len(line) + len(entry) > 110:
            print(line)
            line = "   "
        line += entry
    print(line + "\n];")


print(f"""//! What Python's `re` and `str.lower` say of each character; written by scripts/python-tables.py.

/// The version of Unicode that the tables follow, which is that of Python {platform.python_version().rsplit(".", 1)[0]}.
pub(super) const UNICODE_VERSION: &str = "{unicodedata.unidata_version}";""")
table("WORD", r"`\w`: letters, numbers and the underscore, but no combining marks.", is_word)
table("CASED", "Characters with case that are not case-ignorable.", is_cased)
table("CASE_IGNORABLE", "Characters that are passed over when looking for the end of a word.", is_case_ignorable)

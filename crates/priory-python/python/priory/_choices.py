"""What can be chosen, in the words of the command line."""

import os

import numpy as np

from priory._rows import Rows, label_text

TEXT_PARAMETERS = """tokens : str, default=None
        What a token of a text is: `words`, `sklearn`, `characters:MIN-MAX` or `characters-across:MIN-MAX`; words by default.
    ngrams : int or str, default=None
        How many neighbouring words make up a token, `"1-2"` for example; one by default.
    characters : int or str, default=None
        Runs of so many characters inside words, `"3-5"` for example, are weighed beside words and their neighbours where texts are
        judged, which helps with short or misspelt ones.
    lowercase : bool, default=True
        Whether capital letters are taken as small ones.
    stop_words : "english" or list of str, default=None
        Words that are left out.
    stem : str, default=None
        The language in which words are cut down to their stems.
    nfkc : bool, default=False
        Whether characters that look alike become one.
    cjk : {"bigrams", "words"}, default=None
        How scripts without spaces are read; as bigrams of characters by default.
    hash_bits : int, default=None
        Counts 2^hash_bits buckets of tokens instead of tokens, which bounds the memory.
    frequency : {"counts", "log"}, default=None
        What f occurrences of a token in a document count: f, or log(1 + f); f by default.
    equal_length : bool, default=False
        Whether all documents count alike, whatever their length."""


# What is said of the answers.
DECISIONS = frozenset({"positive", "cost", "threshold", "unsure"})


def words(parameters):
    """What was chosen, in the words of the command line."""
    choices = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(choices.get("prior"), dict):
        prior = choices.pop("prior")
        choices["class_prior"] = {label_text(label): float(share) for label, share in prior.items()}
    choices["smoothing"] = _smoothing(choices.get("smoothing"))
    choices = decisions(choices)
    pseudocounts = choices.pop("pseudocounts", None)
    if isinstance(pseudocounts, (str, os.PathLike)):
        choices["smoothing"].append((None, f"dirichlet:{os.fspath(pseudocounts)}"))
    elif isinstance(pseudocounts, dict):
        values = {name: {label_text(value): float(n) for value, n in of.items()} for name, of in pseudocounts.items()}
        choices["pseudocounts"] = values
    elif pseudocounts is not None:
        choices["pseudocounts"] = Rows(pseudocounts).table()
    for name in ("select", "ngrams", "characters", "bins"):
        if isinstance(choices.get(name), (int, np.integer)):
            choices[name] = str(choices[name])
    if "missing" in choices:
        choices["missing"] = list(choices["missing"])
    stop_words = choices.pop("stop_words", None)
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ValueError("stop_words: expected english or a list of words")
        choices["english_stop_words"] = True
    elif stop_words is not None:
        choices["stop_words"] = set(stop_words)
    return choices


def decisions(choices):
    """The same, with what was said of the answers in words. A table of costs can be read once."""
    choices = dict(choices)
    if "positive" in choices:
        choices["positive"] = label_text(choices["positive"])
    if isinstance(threshold := choices.get("threshold"), dict):
        choices["threshold"] = [(label_text(label), float(p)) for label, p in threshold.items()]
    elif threshold is not None:
        choices["threshold"] = [(None, float(threshold))]
    if isinstance(cost := choices.get("cost"), dict):
        name = lambda label: None if isinstance(label, str) and label == "*" else label_text(label)  # noqa: E731
        choices["cost"] = [(name(true), name(predicted), float(c)) for (true, predicted), c in cost.items()]
    elif isinstance(cost, (str, os.PathLike)):
        choices["cost"] = os.fspath(cost)
    elif cost is not None:
        choices["cost"] = Rows(cost).table()
    return choices


def _smoothing(smoothing):
    """For each column that is named, and for all others, the word of its smoothing."""
    if smoothing is None:
        return []
    if not isinstance(smoothing, dict):
        smoothing = {"*": smoothing}
    word = lambda s: f"lidstone:{float(s)!r}" if isinstance(s, (int, float, np.number)) else s  # noqa: E731
    return [(None if column == "*" else column, word(chosen)) for column, chosen in smoothing.items()]

"""Naive Bayes over raw documents."""

import numpy as np

from priory._model import NaiveBayes

_COLUMN = "text"


class TextNB(NaiveBayes):
    """Naive Bayes over documents as they are: strings in, classes out.

    Tokens are found and counted as the command line does it; no vectorizer is needed.

    Parameters
    ----------
    model : str, default="auto"
        What is drawn: `multinomial`, `bernoulli`, `presence`, `complement`, `complement-presence`,
        `complement-normalized`, or `auto` for the one that suits the tokens and the number of classes.
    smoothing : str or float, default=None
        How counts become probabilities: `none`, `laplace`, `lidstone:A` or `lidstone:auto`; a number is Lidstone's. By
        default as much as makes documents most probable that are left out of the counts.
    prior : {"empirical", "uniform", "smoothed:L"} or dict, default="empirical"
        P(class); a dict gives the probability of each class.
    tokens : str, default="words"
        What a token is: `words`, `sklearn`, `characters:MIN-MAX` or `characters-across:MIN-MAX`.
    ngrams : str, default="1"
        How many neighbouring words make up a token, `1-2` for example.
    lowercase : bool, default=True
        Whether capital letters are taken as small ones.
    stop_words : "english" or list of str, default=None
        Words that are left out.
    stem : str, default=None
        The language in which words are cut down to their stems.
    hash_bits : int, default=None
        Counts 2^hash_bits buckets of tokens instead of tokens, which bounds the memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_count_ : ndarray of shape (n_classes,)
        Their weights.
    class_prior_ : ndarray of shape (n_classes,)
        Their probabilities.

    Examples
    --------
    >>> from priory import TextNB
    >>> said = ["cheap pills now", "cheap cheap watches", "lunch at noon?", "notes of the meeting"]
    >>> model = TextNB().fit(said, ["spam", "spam", "ham", "ham"])
    >>> print(model.predict(["watches, cheap!", "the meeting at noon"]))
    ['spam' 'ham']
    """

    def __init__(
        self,
        *,
        model="auto",
        smoothing=None,
        prior="empirical",
        tokens="words",
        ngrams="1",
        lowercase=True,
        stop_words=None,
        stem=None,
        hash_bits=None,
    ):
        self.model = model
        self.smoothing = smoothing
        self.prior = prior
        self.tokens = tokens
        self.ngrams = ngrams
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stem = stem
        self.hash_bits = hash_bits

    # A document that is empty or says NA is a document like any other.
    kinds, missing = {_COLUMN: "text"}, ()

    _rechoosable = ("model", "prior", "smoothing")

    def _rows(self, X):
        if isinstance(X, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        documents = list(X)
        for i, document in enumerate(documents):
            if not isinstance(document, str):
                raise ValueError(f"document {i} is of type {type(document).__name__}, not str")
        objects = np.empty((len(documents), 1), dtype=object)
        objects[:, 0] = documents
        rows = super()._rows(objects)
        rows.rename([_COLUMN])
        return rows

    def _parameters(self):
        parameters = super()._parameters()
        parameters.update(kinds=self.kinds, missing=list(self.missing), text=self.model)
        del parameters["model"]
        if isinstance(self.stop_words, str):
            if self.stop_words != "english":
                raise ValueError("stop_words: expected english or a list of words")
            parameters["english_stop_words"] = True
            del parameters["stop_words"]
        elif self.stop_words is not None:
            parameters["stop_words"] = set(self.stop_words)
        parameters["ngrams"] = str(self.ngrams)
        return parameters

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = tags.input_tags.string = True
        return tags

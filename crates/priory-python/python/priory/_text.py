"""Naive Bayes over raw documents."""

import json

import numpy as np

from priory._choices import DECISIONS, TEXT_PARAMETERS
from priory._model import NaiveBayes
from priory._rows import label_text

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
    prior : {{"empirical", "uniform", "smoothed:L"}} or dict, default="empirical"
        P(class); a dict gives the probability of each class.
    {text_parameters}
    min_documents : float, default=None
        Tokens in fewer documents are taken as never met.
    most_tokens : int, default=None
        Keeps only so many tokens, those that tell most about the class.
    half_life : int, default=None
        Documents count half after so many more, a quarter after twice as many, and so on.
    class_weight : {{"balanced"}} or dict, default=None
        How much the documents of each class count: a dict has a weight for each class, 1 for those that it does not name;
        "balanced" gives all classes the same weight, as scikit-learn does.
    judge : {{"auto", "none", "weights"}}, default="auto"
        Whether `fit` judges how much the words are worth. Words repeat each other, and naive Bayes takes them at face value: its
        probabilities exaggerate. A judgement predicts every document from all others, and weighs by that what the words say.
        "auto" does so unless there are too few documents; "none" is the naive Bayes of the textbooks.
    positive : label, default=None
        The class that is looked for: `evaluate` reports what cut-offs of its probability are worth.
    cost : dict, table, path or str, default=None
        What mistakes cost, so that `predict` answers the class of the least expected cost: `{{("spam", "ham"): 1, ("ham", "spam"): 20}}`, with
        the true class first and `"*"` for all that are not named; a table with the columns `true`, `predicted` and `cost`, or a matrix with a row for each
        true class, whose first column names it; or the path of one.
    threshold : float or dict, default=None
        The probability that the positive class, or each class that a dict names, must reach to be answered.
    unsure : float, default=None
        `predict` answers `"unsure"` where no class reaches this probability.

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
        tokens=None,
        ngrams=None,
        characters=None,
        lowercase=True,
        stop_words=None,
        stem=None,
        nfkc=False,
        cjk=None,
        hash_bits=None,
        frequency=None,
        equal_length=False,
        min_documents=None,
        most_tokens=None,
        half_life=None,
        class_weight=None,
        judge="auto",
        positive=None,
        cost=None,
        threshold=None,
        unsure=None,
    ):
        self.model = model
        self.smoothing = smoothing
        self.prior = prior
        self.tokens = tokens
        self.ngrams = ngrams
        self.characters = characters
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stem = stem
        self.nfkc = nfkc
        self.cjk = cjk
        self.hash_bits = hash_bits
        self.frequency = frequency
        self.equal_length = equal_length
        self.min_documents = min_documents
        self.most_tokens = most_tokens
        self.half_life = half_life
        self.class_weight = class_weight
        self.judge = judge
        self.positive = positive
        self.cost = cost
        self.threshold = threshold
        self.unsure = unsure

    # A document that is empty or says NA is a document like any other.
    kinds, missing, bins, on_bad_value, warm_rows = {_COLUMN: "text"}, (), None, "error", None

    _rechoosable = ("model", "prior", "smoothing", "min_documents", "most_tokens", *DECISIONS)

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

    def _row(self, row):
        if not isinstance(row, str):
            raise ValueError(f"one document is a str, and this is of type {type(row).__name__}")
        return {_COLUMN: row}

    def words(self, label, n=20):
        """The words that speak most for a class, the most telling first.

        Parameters
        ----------
        label : object
            The class.
        n : int, default=20
            How many words.

        Returns
        -------
        words : list of dict
            For each word `token`, `evidence` (log P(word | class) / P(word | any other class), in nats), `documents` of the
            class that have it, and those `elsewhere`; and `probability`, P(word | class) for each class, unless the model has
            no such probabilities.
        """
        (feature,) = self.show(top=n)["features"]
        telling = feature["text"]["telling"]
        if label_text(label) not in telling:
            raise ValueError(f"there is no class {label!r}; the classes are {', '.join(map(repr, self.classes_.tolist()))}")
        return telling[label_text(label)]

    def explain_words(self, X):
        """How documents come to their predictions, word by word.

        Parameters
        ----------
        X : iterable of str
            The documents.

        Returns
        -------
        explanations : list of dict
            For each document `tokens`: the words in the order in which they first occur, each with its `token`, its
            `occurrences` and its `log_likelihood`, what it adds to the log-joint of each class (None if it was never met in
            training); and `absent`: what all words would add by being absent, which is zero but for the Bernoulli model.
        """
        model, told = self._now()
        table, _ = self._table(model, told, X)
        return [tokens[0] for tokens in json.loads(model.explain_words(table))]

    def _parameters(self):
        parameters = super()._parameters()
        parameters.update(kinds=self.kinds, missing=list(self.missing), text=self.model)
        del parameters["model"]
        return parameters

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = tags.input_tags.string = True
        return tags


if TextNB.__doc__ is not None:  # python -OO
    TextNB.__doc__ = TextNB.__doc__.format(text_parameters=TEXT_PARAMETERS)

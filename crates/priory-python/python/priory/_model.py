"""Naive Bayes that takes a table as it is."""

import os

import numpy as np

from priory import _priory
from priory._choices import DECISIONS, TEXT_PARAMETERS, words
from priory._class_weight import check_known
from priory._first_rows import FirstRows
from priory._learnt import Learnt
from priory._lock import own_lock
from priory._predict import Predicting
from priory._reading import Reading
from priory._report import Reporting
from priory._rows import labels_of
from priory._sklearn import BaseEstimator, ClassifierMixin, NotFittedError
from priory._warn import warn


class NaiveBayes(Predicting, Reporting, Reading, ClassifierMixin, BaseEstimator):
    """Naive Bayes over a table as it is: numbers, categories, Booleans, dates, text and missing values.

    Takes a pandas or polars DataFrame, a pyarrow Table, anything else that has `__arrow_c_stream__`, dicts, a NumPy array or a
    sparse matrix. What the columns are is inferred as the command line does it, and the model is the same, to the bit.

    To predict, columns are found by name, in any order: others are passed over, and one that is not there counts as missing,
    with a warning. Arrays have no names; their columns are those that were learnt, in the same order.

    Parameters
    ----------
    kinds : dict of str to str, default=None
        What columns are, where it should not be inferred: `number`, `category`, `date`, `text`, `joint`, `group`, `ignore`, or a
        family such as `gaussian` or `poisson`. `"*"` stands for all columns.
    prior : {{"empirical", "uniform", "smoothed:L"}} or dict, default="empirical"
        P(class); a dict gives the probability of each class.
    smoothing : str, float or dict, default=None
        How counts become probabilities: `none`, `laplace`, `lidstone:A` or `background:L`. A number is Lidstone's. A dict
        has a smoothing for each column that it names, and under `"*"` for all others. By default values are smoothed by
        Laplace's rule, and tokens of text by as much as pays.
    numbers : str, default="auto"
        The family of the columns of numbers; by default each has the one under which its rows are most likely.
    missing_values : {{"skipped", "counted"}}, default="skipped"
        Whether a missing value says nothing, or is a value like any other.
    missing : list of str, default=None
        The texts that mean that a value is missing; by default an empty one, `?`, `NA`, `NaN` and `null`, and in columns of
        numbers, dates and truth values also `N/A`, `None`, `-` and the like.
    decimal : {{"comma", "point"}}, default=None
        The decimal mark of numbers in columns of strings, where the values leave it open; by default what all columns say.
    bins : int, default=None
        Cuts y, which has to be numbers then, into so many classes of about as many rows each; they are called after their
        intervals.
    variance_floor : str, default=None
        The least variance of a Gaussian: `relative:R`, `absolute:A`, `added:A` or `sklearn:R`.
    discriminant : str, default=None
        Takes all numbers as one normal distribution: `linear`, `quadratic` or `regularized`.
    select : int or str, default=None
        Which columns are used: so many of the best, `auto` or `all`.
    text : str, default=None
        The model of columns of text: `multinomial`, `bernoulli`, `presence`, `complement` and so on.
    pseudocounts : dict, table or path, default=None
        What is added to the counts of single values, instead of one smoothing for all: `{{"colour": {{"red": 2, "*": 0.5}}}}`,
        a table with the columns `column`, `value` and `pseudocount`, or the path of one. With `beta` instead of
        `pseudocount`, the table has parameters of Dirichlet distributions.
    exponent : dict of str to float, default=None
        How much columns count: P(x | class) is raised to this power.
    min_documents : float, default=None
        Tokens in fewer documents are taken as never met.
    most_tokens : int, default=None
        Keeps only so many tokens, those that tell most about the class.
    half_life : int, default=None
        Rows count half after so many more rows, a quarter after twice as many, and so on.
    class_weight : {{"balanced"}} or dict, default=None
        How much the rows of each class count, beside `sample_weight`: a dict has a weight for each class, 1 for those that it
        does not name; "balanced" gives all classes the same weight, as scikit-learn does.
    warm_rows : int, default=None
        How many rows `partial_fit` keeps before it decides what the columns are: rows that come one by one then give the
        model that `fit` gives. By default the rows of the first call decide, unless `kinds` does.
    judge : {{"auto", "none", "weights", "pairs", "full"}}, default="auto"
        How far `fit` judges what the columns say. Columns repeat each other, and naive Bayes takes their evidence at face value:
        its probabilities exaggerate. A judgement predicts every row from all others, and weighs by that what each column says
        ("weights"), what it says together with each other ("pairs"), and what all say together ("full"). "none" is the naive
        Bayes of the textbooks. "auto" is "full", or "none" where rows are few or age, or the settings are those of a textbook.
    on_bad_value : {{"error", "missing"}}, default="error"
        What happens to a word in a column of numbers: it is an error, or it is taken as missing.
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
    {text_parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_count_ : ndarray of shape (n_classes,)
        Their weights.
    class_prior_ : ndarray of shape (n_classes,)
        Their probabilities.
    kinds_ : dict of str to str
        What each column that is used was taken as.
    n_features_in_ : int
        How many columns there were.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have names that are strings.
    learnt_from_ : int or None
        Where rows age: the number of the first row that was learnt last, which `forget` wants to know.

    Examples
    --------
    >>> import pandas as pd
    >>> from priory import NaiveBayes
    >>> outlook, wind = ["sunny", "rain", "overcast", "rain", "rain"], [3.5, None, 2, 9.5, 8]
    >>> days = pd.DataFrame(zip(outlook, wind), columns=["outlook", "wind"])
    >>> model = NaiveBayes(numbers="gaussian").fit(days, ["yes", "yes", "yes", "no", "no"])
    >>> print(model.predict(pd.DataFrame([("rain", 9.0)], columns=["outlook", "wind"])))
    ['no']
    >>> more = NaiveBayes(numbers="gaussian").fit(days[:3], ["no", "yes", "yes"])
    >>> (model + more) - more == model
    True
    """

    def __init__(
        self,
        *,
        kinds=None,
        prior="empirical",
        smoothing=None,
        numbers="auto",
        missing_values="skipped",
        missing=None,
        decimal=None,
        bins=None,
        variance_floor=None,
        discriminant=None,
        select=None,
        text=None,
        pseudocounts=None,
        exponent=None,
        min_documents=None,
        most_tokens=None,
        half_life=None,
        class_weight=None,
        warm_rows=None,
        judge="auto",
        on_bad_value="error",
        positive=None,
        cost=None,
        threshold=None,
        unsure=None,
        tokens=None,
        ngrams=None,
        lowercase=True,
        stop_words=None,
        stem=None,
        nfkc=False,
        cjk=None,
        hash_bits=None,
        frequency=None,
        equal_length=False,
    ):
        self.kinds = kinds
        self.prior = prior
        self.smoothing = smoothing
        self.numbers = numbers
        self.missing_values = missing_values
        self.missing = missing
        self.decimal = decimal
        self.bins = bins
        self.variance_floor = variance_floor
        self.discriminant = discriminant
        self.select = select
        self.text = text
        self.pseudocounts = pseudocounts
        self.exponent = exponent
        self.min_documents = min_documents
        self.most_tokens = most_tokens
        self.half_life = half_life
        self.class_weight = class_weight
        self.warm_rows = warm_rows
        self.judge = judge
        self.on_bad_value = on_bad_value
        self.positive = positive
        self.cost = cost
        self.threshold = threshold
        self.unsure = unsure
        self.tokens = tokens
        self.ngrams = ngrams
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stem = stem
        self.nfkc = nfkc
        self.cjk = cjk
        self.hash_bits = hash_bits
        self.frequency = frequency
        self.equal_length = equal_length

    # Learning

    def fit(self, X, y, sample_weight=None):
        """Learn from these rows, and forget all others.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 by default.

        Returns
        -------
        self : object
            The estimator.
        """
        if isinstance(self.class_weight, dict) and y is not None:
            check_known(self.class_weight, np.asarray(y))
        return self._fit(X, y, sample_weight, self._choices())

    def _fit(self, X, y, sample_weight, choices, beside=None):
        with own_lock(self):
            labelled = self._labelled(X, y, sample_weight, reset=True, beside=beside)
            target, weight = labelled.target, labelled.weight
            counted = _priory.Learnt.learn(labelled(), labelled(), target, weight, choices)
            self._learnt = Learnt(counted, labelled.labels)
            self.learnt_from_ = None if counted.now().half_life() is None else 1
            self._first_rows = None
        return self

    def fit_counts(self, counts, target="class"):
        """Learn from counts instead of rows, and forget everything else.

        A row of the counts says how much a value of a column weighs in a class; one without a column, how much a class weighs, and
        its value, if there is one, in how many rows it is. What a column does not account for is missing. The model is the one that
        `fit` gives for the rows with `judge="none"`, to the last bit; `judge_again` judges it by the rows.

        Parameters
        ----------
        counts : table
            The columns `column`, `class`, `value` and `weight`.
        target : str, default="class"
            What the column to predict is called.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> counts = {
        ...     "column": [None, None, "outlook", "outlook", "outlook"],
        ...     "class": ["yes", "no", "yes", "yes", "no"],
        ...     "value": [None, None, "sun", "rain", "rain"],
        ...     "weight": [9, 5, 7, 2, 5],
        ... }
        >>> NaiveBayes().fit_counts(counts, target="play").class_count_.tolist()
        [5.0, 9.0]
        """
        rows = self._rows(counts)
        with own_lock(self):
            counted, rest = _priory.Counts.read(rows.table(), rows.table(), target, self._counting_choices())
            self._take(counted)
        if rest:
            listed = ", ".join(f"{column!r} ({weight:g})" for column, weight in rest[:5]) + (", …" if len(rest) > 5 else "")
            warn(f"taken as missing, since it was not counted: {listed}")
        return self

    @classmethod
    def from_counts(cls, counts, target="class", **parameters):
        """A model that has learnt counts instead of rows.

        Parameters
        ----------
        counts : table
            The columns `column`, `class`, `value` and `weight`, as for `fit_counts`.
        target : str, default="class"
            What the column to predict is called.
        **parameters
            As for the constructor.

        Returns
        -------
        model : NaiveBayes
            The model.
        """
        return cls(**parameters).fit_counts(counts, target)

    def _counting_choices(self):
        """What was chosen, for values that were counted by somebody else."""
        if self.class_weight is not None:
            raise ValueError("class_weight: the counts themselves say how much they weigh")
        return self._choices()

    def _take(self, counted):
        """Stand for what was counted elsewhere. Classes that are all whole numbers are integers."""
        texts = [name for name, _ in counted.now().classes()]
        self._learnt = Learnt(counted, dict(zip(texts, labels_of(texts))))
        self._first_rows = self.learnt_from_ = None
        self._names = list(self.kinds_)
        self.n_features_in_ = len(self._names)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows. The result does not depend on how rows are split, or on their order, as long as the first
        of them show what the columns are: `kinds` says it beforehand, and `warm_rows` waits until enough rows have come. New
        classes may come at any time. What the columns say is not judged; `judge_again` does that once all rows were learnt. A
        model that `fit` has judged keeps its weights.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        classes : array-like, default=None
            Not needed, and not looked at.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 by default.

        Returns
        -------
        self : object
            The estimator.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} is not possible in partial_fit, which does not see all rows; give the "
                "weight of each class in a dict"
            )
        with own_lock(self):
            first = getattr(self, "_first_rows", None)
            if not self.__sklearn_is_fitted__() and self.warm_rows is not None:
                first = FirstRows(self.warm_rows)
            if first is not None:
                known = first.names
                first.add(self._labelled(X, y, sample_weight, reset=known is None, beside=known), X, y, sample_weight)
                self._first_rows = first
                if first.is_enough():
                    self._decide()
                return self
            if not hasattr(self, "_learnt"):
                return self._fit(X, y, sample_weight, self._unjudged())
            labelled = self._labelled(X, y, sample_weight)
            self._learnt.name(labelled.labels)
            self.learnt_from_ = self._learnt.counted.learn_more(labelled(), self.half_life, labelled.rows.n_rows)
        return self

    def _unjudged(self):
        """What was chosen; but the first rows of many cannot tell how much the columns are worth."""
        return {**self._choices(), "judge": "none"}

    def _decide(self):
        """Decide what the columns are, by the first rows that `partial_fit` has kept, and keep no more."""
        with own_lock(self):
            if getattr(self, "_first_rows", None) is not None:
                self._fit(*self._first_rows.taken(), self._unjudged(), beside=self._first_rows.names)

    def forget(self, X, y, sample_weight=None, learnt_at=None, drop_judgement=False):
        """Forget rows that were learnt, as if they had never been. Weights that a judgement has fitted with them stay, until
        `judge_again` fits them anew.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counted; 1 by default.
        learnt_at : int, default=None
            Where rows age: the number under which the first of these was learnt, as `learnt_from_` said, the others one
            after the other; 0 for rows from before the half-life.
        drop_judgement : bool, default=False
            Also forgets the weights of the judgement.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If a row cannot have been learnt. Nothing is forgotten then.
        """
        self._check_is_fitted()
        self._decide()
        with own_lock(self):
            self._learnt.counted.forget(self._labelled(X, y, sample_weight), learnt_at, drop_judgement)
        return self

    def judge_again(self, X, y, sample_weight=None):
        """Judge what the columns say anew, after more rows were learnt or some forgotten, or after models were merged. How far
        it goes is what `judge` says.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features of all rows that were learnt.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counted; 1 by default.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If these are not the rows that were learnt.
        """
        self._check_is_fitted()
        self._decide()
        with own_lock(self):
            self._learnt.counted.judge(self._labelled(X, y, sample_weight)(), self._choices())
        return self

    def merge(self, other):
        """Learn everything that another model has learnt, from a table of the same columns.

        Parameters
        ----------
        other : NaiveBayes
            The other model.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check_is_fitted()
        other._check_is_fitted()
        self._decide()
        other._decide()
        with own_lock(self):
            model, labels = other._learnt.taken()
            self._learnt.name(labels)
            self._learnt.counted.merge(model)
        return self

    def __add__(self, other):
        if not isinstance(other, NaiveBayes):
            return NotImplemented
        return self._copy().merge(other)

    def __sub__(self, other):
        if not isinstance(other, NaiveBayes):
            return NotImplemented
        self._check_is_fitted()
        other._check_is_fitted()
        other._decide()
        left = self._copy()
        left._learnt.counted.subtract(other._learnt.counted.now())
        return left

    def __eq__(self, other):
        fitted = isinstance(other, NaiveBayes) and self.__sklearn_is_fitted__() and other.__sklearn_is_fitted__()
        if not fitted:
            return self is other
        return self._now()[0].to_bytes() == other._now()[0].to_bytes()

    # What is equal today may have learnt something else tomorrow.
    __hash__ = None

    _rechoosable = (
        "prior",
        "smoothing",
        "numbers",
        "missing_values",
        "variance_floor",
        "discriminant",
        "select",
        "text",
        "pseudocounts",
        "exponent",
        "min_documents",
        "most_tokens",
        *DECISIONS,
    )

    def reestimate(self, **choices):
        """Conclude anew from what was counted, without the data.

        Parameters
        ----------
        **choices
            `prior`, `smoothing`, `pseudocounts`, `exponent`, `numbers`, `missing_values`, `variance_floor`,
            `discriminant`, `select`, `text`, `min_documents`, `most_tokens`, `positive`, `cost`, `threshold` or `unsure`, as
            for the constructor.

        Returns
        -------
        model : NaiveBayes
            A new estimator over the same statistics.
        """
        self._check_is_fitted()
        unknown = set(choices) - set(self._rechoosable)
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: cannot be chosen without the data")
        other = self._copy()
        for name, choice in choices.items():
            setattr(other, name, choice)
        chosen = {name: value for name, value in other._parameters().items() if getattr(self, name, None) is not value}
        if not DECISIONS.isdisjoint(choices):
            # What was said of the answers before goes, unless it is said again.
            chosen.update({name: getattr(other, name) for name in DECISIONS}, decision_anew=True)
        other._learnt.counted = other._learnt.counted.now().reestimated(words(chosen))
        return other

    # Keeping

    def save(self, path):
        """Write the model to a file that the command line reads as well.

        Parameters
        ----------
        path : str or path-like
            The file, `model.priory` for example. It is replaced in one step.
        """
        self._now()[0].save(os.fspath(path))

    @classmethod
    def load(cls, path):
        """Read a model that `save` or the command line has written.

        Classes that are all whole numbers become integers. The columns of a table are found by name, in any order; what
        is not there counts as missing. The settings are those in the file, until `fit` is called again.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        model : NaiveBayes
            The model.
        """
        return cls._of(_priory.Learnt.load(os.fspath(path)))

    @classmethod
    def _of(cls, counted):
        """The model of what was counted elsewhere."""
        model = cls()
        model._take(counted)
        return model

    # What the above have in common

    def _check_is_fitted(self):
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_learnt") or getattr(self, "_first_rows", None) is not None

    def _copy(self):
        """Another model that has learnt the same."""
        self._decide()
        other = type(self)(**self.get_params())
        state = {name: value for name, value in vars(self).items() if name not in other.get_params()}
        vars(other).update(state)
        other.__dict__.pop("_lock", None)
        model, labels = self._learnt.taken()
        other._learnt = Learnt(model.copied(), labels)
        return other

    def _parameters(self):
        return {name: value for name, value in vars(self).items() if name in self.get_params(deep=False)}

    def _choices(self):
        return words(self._parameters())

    def _now(self):
        """The model as it is now, whatever other threads learn meanwhile, and what is told of it."""
        first = vars(self).get("_first_rows")
        if first is not None:
            return first.now(self)
        self._check_is_fitted()
        return self._learnt.now()

    @property
    def classes_(self):
        """The classes."""
        return self._now()[1].classes

    @property
    def class_count_(self):
        """The weights of the classes."""
        return self._now()[1].class_count

    @property
    def class_prior_(self):
        """The probabilities of the classes."""
        model, told = self._now()
        return told.ordered(model.prior())

    @property
    def kinds_(self):
        """What each column that is used was taken as."""
        return dict(self._now()[0].schema()[2])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


if NaiveBayes.__doc__ is not None:  # python -OO
    NaiveBayes.__doc__ = NaiveBayes.__doc__.format(text_parameters=TEXT_PARAMETERS)

"""Naive Bayes that takes a table as it is."""

import json
import operator
import os
from typing import NamedTuple

import numpy as np

from priory import _priory
from priory._labels import encode_labels
from priory._lock import own_lock
from priory._picture import Picture
from priory._rows import Rows, label_text, labels_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_feature_names,
        _check_n_features,
        _check_sample_weight,
        assert_all_finite,
        check_consistent_length,
        column_or_1d,
    )
except ModuleNotFoundError:
    from priory._without_sklearn import (
        BaseEstimator,
        ClassifierMixin,
        NotFittedError,
        _check_feature_names,
        _check_n_features,
        _check_sample_weight,
        assert_all_finite,
        check_classification_targets,
        check_consistent_length,
        column_or_1d,
    )


TEXT_PARAMETERS = """tokens : str, default=None
        What a token of a text is: `words`, `sklearn`, `characters:MIN-MAX` or `characters-across:MIN-MAX`; words by default.
    ngrams : int or str, default=None
        How many neighbouring words make up a token, `"1-2"` for example; one by default.
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


class Explanation(NamedTuple):
    """How rows come to their predictions: log prior + one contribution per feature = log-joint.

    Attributes
    ----------
    features : list of str
        The features, in the order in which they are added up.
    contributions : ndarray of shape (n_samples, n_features, n_classes)
        log P(value | class): what each feature adds.
    log_prior : ndarray of shape (n_classes,)
        log P(class): where the sum starts.
    log_joint : ndarray of shape (n_samples, n_classes)
        log P(x, class): what it comes to.
    """

    features: list
    contributions: np.ndarray
    log_prior: np.ndarray
    log_joint: np.ndarray


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes over a table as it is: numbers, categories, Booleans, dates, text and missing values.

    Takes a pandas or polars DataFrame, a pyarrow Table, anything else that has `__arrow_c_stream__`, a NumPy array or a
    sparse matrix. What the columns are is inferred as the command line does it, and the model is the same, to the bit.

    Parameters
    ----------
    kinds : dict of str to str, default=None
        What columns are, where it should not be inferred: `number`, `category`, `text`, `joint`, `group`, `ignore`, or a
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
        The texts that mean that a value is missing; by default an empty one, `?`, `NA`, `NaN` and `null`.
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
    judge : {{"auto", "none", "weights", "pairs", "full"}}, default="auto"
        How far `fit` judges what the columns say. Columns repeat each other, and naive Bayes takes their evidence at face value:
        its probabilities exaggerate. A judgement predicts every row from all others, and weighs by that what each column says
        ("weights"), what it says together with each other ("pairs"), and what all say together ("full"). "none" is the naive
        Bayes of the textbooks. "auto" is "full", or "none" where rows are few or age, or the settings are those of a textbook.
    on_bad_value : {{"error", "missing"}}, default="error"
        What happens to a word in a column of numbers: it is an error, or it is taken as missing.
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
        variance_floor=None,
        discriminant=None,
        select=None,
        text=None,
        pseudocounts=None,
        exponent=None,
        min_documents=None,
        most_tokens=None,
        half_life=None,
        judge="auto",
        on_bad_value="error",
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
        self.variance_floor = variance_floor
        self.discriminant = discriminant
        self.select = select
        self.text = text
        self.pseudocounts = pseudocounts
        self.exponent = exponent
        self.min_documents = min_documents
        self.most_tokens = most_tokens
        self.half_life = half_life
        self.judge = judge
        self.on_bad_value = on_bad_value
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
        return self._fit(X, y, sample_weight, self._choices())

    def _fit(self, X, y, sample_weight, choices):
        with own_lock(self):
            labelled = self._labelled(X, y, sample_weight, reset=True)
            target, weight = labelled.target, labelled.weight
            counted = _priory.Learnt.learn(labelled(), labelled(), target, weight, choices)
            self._learnt = _Learnt(counted, labelled.labels)
            self.learnt_from_ = None if counted.now().half_life() is None else 1
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows. The result does not depend on how rows are split, or on their order, as long as the first
        of them show what the columns are. New classes may come at any time. What the columns say is not judged; `judge_again`
        does that once all rows were learnt. A model that `fit` has judged keeps its weights.

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
        with own_lock(self):
            if not hasattr(self, "_learnt"):
                # The first rows of many cannot tell how much the columns are worth.
                return self._fit(X, y, sample_weight, {**self._choices(), "judge": "none"})
            labelled = self._labelled(X, y, sample_weight)
            self._learnt.name(labelled.labels)
            self.learnt_from_ = self._learnt.counted.learn_more(labelled(), self.half_life)
        return self

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
        left = self._copy()
        left._learnt.counted.subtract(other._learnt.counted.now())
        return left

    def __eq__(self, other):
        if not isinstance(other, NaiveBayes) or not hasattr(self, "_learnt") or not hasattr(other, "_learnt"):
            return self is other
        return self._learnt.to_bytes() == other._learnt.to_bytes()

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
    )

    def reestimate(self, **choices):
        """Conclude anew from what was counted, without the data.

        Parameters
        ----------
        **choices
            `prior`, `smoothing`, `pseudocounts`, `exponent`, `numbers`, `missing_values`, `variance_floor`,
            `discriminant`, `select`, `text`, `min_documents` or `most_tokens`, as for the constructor.

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
        other._learnt.counted = other._learnt.counted.now().reestimated(_words(chosen))
        return other

    # Predicting

    def predict(self, X):
        """The most probable class of each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        model, told = self._now()
        table, _ = self._table(X)
        return told.in_canonical_order[model.scores(table)]

    def predict_proba(self, X):
        """The probability of each class, for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        return self._scores(X, "probability")

    def predict_interval(self, X, probability=0.9):
        """How far the probabilities could be off because only so many rows were seen.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        probability : float, default=0.9
            With which probability that of a class lies in its interval.

        Returns
        -------
        low, high : ndarrays of shape (n_samples, n_classes)
            The ends of the intervals, in the order of `classes_`.
        """
        model, told = self._now()
        table, n_rows = self._table(X)
        low, high = np.split(model.intervals(table, float(probability), n_rows), 2, axis=1)
        return told.ordered(np.ascontiguousarray(low)), told.ordered(np.ascontiguousarray(high))

    def predict_log_proba(self, X):
        """The logarithm of the probability of each class, for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        L : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return self._scores(X, "log")

    def predict_joint_log_proba(self, X):
        """log P(x, class) for each row and class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        J : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return self._scores(X, "joint")

    def explain(self, X):
        """What each feature of each row says about the class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        explanation : Explanation
            The contributions, which add up to the log-joints.
        """
        model, told = self._now()
        table, n_rows = self._table(X)
        features, *parts = model.explain(table, n_rows)
        return Explanation(features, *map(told.ordered, parts))

    # Judging

    def evaluate(
        self,
        X,
        y,
        folds=10,
        sample_weight=None,
        seed=0,
        *,
        holdout=None,
        leave_one_out=False,
        test=None,
        compare=False,
    ):
        """How good such a model is at rows that it has not seen: k-fold cross-validation in one pass, unless another way is
        chosen.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        folds : int, default=10
            How many parts there are.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 by default.
        seed : int, default=0
            Decides which row is in which part.
        holdout : float, default=None
            Instead of folds: tests on this random share of the rows what was learnt from the rest.
        leave_one_out : bool, default=False
            Instead of folds: tests on every row what was learnt from all others.
        test : tuple of X, y and perhaps sample_weight, default=None
            Instead of folds: tests on these rows what was learnt from all of the others.
        compare : bool, default=False
            Evaluates twice, without and with a judgement.

        Returns
        -------
        report : dict
            Accuracy, log-loss, Brier score, area under the ROC curve, calibration and more, as `priory evaluate
            --format json` has them; or two of these, `plain` and `judged`, to compare.
        """
        if sum((holdout is not None, bool(leave_one_out), test is not None)) > 1:
            raise ValueError("holdout, leave_one_out and test are three ways to evaluate; choose one")
        split = ("folds", operator.index(folds))
        if holdout is not None:
            split = ("holdout", holdout)
        elif leave_one_out:
            split = ("leave-one-out", None)
        blank = type(self)(**self.get_params())
        learnt = blank._labelled(X, y, sample_weight, reset=True)
        tested = None if test is None else blank._labelled(*test[:2], *(test[2:] or [None]), beside=learnt)

        def report(choices):
            return json.loads(_priory.evaluate(learnt, tested, learnt.target, learnt.weight, choices, split, seed))

        choices = self._choices()
        if compare:
            return {"plain": report({**choices, "judge": "none"}), "judged": report(choices)}
        return report(choices)

    def leave_one_out_proba(self, X, y, sample_weight=None):
        """The probability of each class for rows that were learnt, each as if just that row had not been.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features of rows that were learnt.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counted; 1 by default.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        model, told = self._now()
        labelled = self._labelled(X, y, sample_weight)
        return told.ordered(model.leave_one_out(labelled(), labelled.rows.n_rows))

    def features(self):
        """How much each feature tells about the class, the best first.

        Returns
        -------
        features : dict
            As `priory features --format json` has it.
        """
        return json.loads(self._now()[0].features())

    def show(self, top=None):
        """What was counted, and what follows from it.

        Parameters
        ----------
        top : int, default=None
            How many of the most telling tokens of each class are listed.

        Returns
        -------
        summary : dict
            As `priory show --format json` has it.
        """
        return json.loads(self._now()[0].show(top))

    def linear_form(self):
        """The decision between two classes as b + Σ w x, if that is what it is.

        Returns
        -------
        form : dict
            As `priory show --weights --format json` has it.
        """
        return json.loads(self._now()[0].linear_form())

    # Keeping

    def plot(self, column=None, up=None):
        """A picture of a feature: the data of each class and the density that was fitted, or bars for categories.

        Parameters
        ----------
        column : str, default=None
            The feature. By default all of them, the best first.
        up : str, default=None
            Another one, to draw both against each other: who is most probable where. Both have to be numbers.

        Returns
        -------
        picture : Picture
            SVG, which notebooks show; `str(picture)` is its text, and `picture.save("file.svg")` writes it.
        """
        return Picture(self._now()[0].plot([str(name) for name in (column, up) if name is not None]))

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
        model = cls()
        counted = _priory.Learnt.load(os.fspath(path))
        texts = [name for name, _ in counted.now().classes()]
        model._learnt = _Learnt(counted, dict(zip(texts, labels_of(texts))))
        model.n_features_in_ = len(model.kinds_)
        model.learnt_from_ = None
        return model

    # What the above have in common

    def _check_is_fitted(self):
        if not hasattr(self, "_learnt"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_learnt")

    def _copy(self):
        """Another model that has learnt the same."""
        other = type(self)(**self.get_params())
        state = {name: value for name, value in vars(self).items() if name not in other.get_params()}
        vars(other).update(state)
        other.__dict__.pop("_lock", None)
        model, labels = self._learnt.taken()
        other._learnt = _Learnt(model.copied(), labels)
        return other

    def _parameters(self):
        return {name: value for name, value in vars(self).items() if name in self.get_params(deep=False)}

    def _choices(self):
        return _words(self._parameters())

    def _labelled(self, X, y, sample_weight, reset=False, beside=None):
        """The rows of X, with their classes beside them; named as in rows that are like them, if there are such."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows = self._rows(X)
        self._check_columns(rows, reset)
        name = getattr(y, "name", None)
        y = column_or_1d(y if hasattr(y, "dtype") or isinstance(y, (list, tuple)) else np.asarray(y), warn=True)
        y = np.asarray(y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if rows.n_rows is not None:
            check_consistent_length(range(rows.n_rows), y)
        if len(y) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required by NaiveBayes.")
        if rows.names == []:
            raise ValueError(f"Found array with 0 feature(s) (shape=({len(y)}, 0)) while a minimum of 1 is required.")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.empty((len(y), 1)), dtype=np.float64)
        if beside is not None:
            target, weight = beside.target, beside.weight
        elif reset:
            target = name if isinstance(name, str) and name not in rows.names else _unused("class", rows.names)
            weight = None if weights is None else _unused("weight", [*rows.names, target])
        else:
            target, weight, _ = self._learnt.counted.now().schema()
        if weight is None and weights is not None:
            raise ValueError("the rows so far had no weights; fit with sample_weight=1 to give some to others later")
        if weight is not None and weights is None:
            weights = np.ones(len(y))
        return _Labelled(rows, y, weights, target, weight, self.missing)

    def _rows(self, X):
        if self.on_bad_value not in ("error", "missing"):
            raise ValueError("on_bad_value: expected error or missing")
        return Rows(X, tolerant=self.on_bad_value == "missing")

    def _check_columns(self, rows, reset):
        if reset or hasattr(self, "_columns"):
            _check_feature_names(self, rows.X, reset=reset)
            if reset:
                self.n_features_in_ = len(rows.names)
                self._columns = True
            elif len(rows.names) != self.n_features_in_:
                _check_n_features(self, np.empty((1, len(rows.names))), reset=False)

    def _table(self, X):
        rows = self._rows(X)
        self._check_columns(rows, reset=False)
        if rows.n_rows == 0 and isinstance(X, np.ndarray):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required by NaiveBayes.")
        return rows.table(), rows.n_rows

    def _now(self):
        """The model as it is now, whatever other threads learn meanwhile, and what is told of it."""
        self._check_is_fitted()
        return self._learnt.now()

    def _scores(self, X, wanted):
        model, told = self._now()
        table, n_rows = self._table(X)
        return told.ordered(model.scores(table, wanted, n_rows))

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


class _Learnt:
    """What was counted, and the label that each class stands for: one thing, so that no thread sees one without the other."""

    def __init__(self, counted, labels):
        self.counted, self.labels = counted, labels
        self._told = _Told(counted.now(), labels)

    def name(self, labels):
        """Say what classes stand for, before they are learnt. What they stood for already stays."""
        for text, label in labels.items():
            self.labels.setdefault(text, label)

    def now(self):
        """Everything as it is now, and what is told of it."""
        model, told = self.counted.now(), self._told
        if told.version != model.version():
            self._told = told = _Told(model, self.labels)
        return model, told

    def taken(self):
        """Everything as it is now, and labels of all its classes, which others may add to meanwhile."""
        model = self.counted.now()
        return model, dict(self.labels)  # in this order: classes have their labels before they are learnt

    def to_bytes(self):
        """The bytes of the model file."""
        return self.counted.now().to_bytes()

    def __reduce__(self):
        model, labels = self.taken()
        return _from_bytes, (model.to_bytes(), labels)


def _from_bytes(model, labels):
    return _Learnt(_priory.Learnt.from_bytes(model), labels)


class _Told:
    """The classes of a model at some moment, and their order."""

    def __init__(self, model, labels):
        self.version = model.version()
        classes = model.classes()
        found = [labels[text] for text, _ in classes]
        self.in_canonical_order = _label_array(found)
        self._order = np.array(sorted(range(len(found)), key=found.__getitem__), dtype=np.intp)
        self._is_ordered = bool((self._order == np.arange(len(found))).all())
        self.classes = self.in_canonical_order[self._order]
        self.class_count = np.array([weight for _, weight in classes])[self._order]

    def ordered(self, scores):
        """Scores in the order of `classes_`."""
        return scores if self._is_ordered else np.ascontiguousarray(scores[..., self._order])


class _Labelled:
    """Rows with a class, and perhaps a weight, beside each of them."""

    def __init__(self, rows, y, weights, target, weight, missing):
        self.target, self.weight = target, weight
        classes, codes = encode_labels(y)
        self.texts = [label_text(label) for label in classes.tolist()]
        self.labels = dict(zip(self.texts, classes))
        spellings = ("", "?", "NA", "NaN", "null") if missing is None else missing
        for text in self.texts:
            if text in spellings:
                raise ValueError(
                    f"the class {text!r} is a spelling of a missing value; say with missing=[...] which there are"
                )
        self.rows = rows
        self.classes = _priory.Column.of_classes(self.texts, codes)
        self.weights = None if weights is None else _priory.Column.of_numbers(np.ascontiguousarray(weights))

    def __call__(self):
        table = self.rows.table().beside(self.target, self.classes)
        return table if self.weights is None else table.beside(self.weight, self.weights)


def _words(parameters):
    """What was chosen, in the words of the command line."""
    choices = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(choices.get("prior"), dict):
        prior = choices.pop("prior")
        choices["class_prior"] = {label_text(label): float(share) for label, share in prior.items()}
    choices["smoothing"] = _smoothing(choices.get("smoothing"))
    pseudocounts = choices.pop("pseudocounts", None)
    if isinstance(pseudocounts, (str, os.PathLike)):
        choices["smoothing"].append((None, f"dirichlet:{os.fspath(pseudocounts)}"))
    elif isinstance(pseudocounts, dict):
        values = {name: {label_text(value): float(n) for value, n in of.items()} for name, of in pseudocounts.items()}
        choices["pseudocounts"] = values
    elif pseudocounts is not None:
        choices["pseudocounts"] = Rows(pseudocounts).table()
    for name in ("select", "ngrams"):
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


def _smoothing(smoothing):
    """For each column that is named, and for all others, the word of its smoothing."""
    if smoothing is None:
        return []
    if not isinstance(smoothing, dict):
        smoothing = {"*": smoothing}
    word = lambda s: f"lidstone:{float(s)!r}" if isinstance(s, (int, float, np.number)) else s  # noqa: E731
    return [(None if column == "*" else column, word(chosen)) for column, chosen in smoothing.items()]


def _label_array(labels):
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and issubclass(next(iter(kinds)), (np.generic, int, float)):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _unused(name, names):
    while name in names:
        name += "_"
    return name

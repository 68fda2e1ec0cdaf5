"""Naive Bayes that takes a table as it is."""

import json
import os
from typing import NamedTuple

import numpy as np

from priory import _priory
from priory._labels import encode_labels
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
    prior : {"empirical", "uniform", "smoothed:L"} or dict, default="empirical"
        P(class); a dict gives the probability of each class.
    smoothing : str or float, default=None
        How counts become probabilities: `none`, `laplace`, `lidstone:A` or `background:L`. A number is Lidstone's. By
        default values are smoothed by Laplace's rule, and tokens of text by as much as pays.
    numbers : str, default="auto"
        The family of the columns of numbers; by default each has the one under which its rows are most likely.
    missing_values : {"skipped", "counted"}, default="skipped"
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

    Examples
    --------
    >>> import pandas as pd
    >>> from priory import NaiveBayes
    >>> days = pd.DataFrame({"outlook": ["sunny", "rain", "overcast", "rain", "rain"], "wind": [3.5, None, 2, 9.5, 8]})
    >>> model = NaiveBayes(numbers="gaussian").fit(days, ["yes", "yes", "yes", "no", "no"])
    >>> print(model.predict(pd.DataFrame({"outlook": ["rain"], "wind": [9.0]})))
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
        labelled = self._labelled(X, y, sample_weight, reset=True)
        learnt = _priory.Learnt.learn(labelled(), labelled(), labelled.target, labelled.weight, self._choices())
        self._learnt, self._labels = learnt, labelled.labels
        self._describe()
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows. The result does not depend on how rows are split, or on their order, as long as the first
        of them show what the columns are. New classes may come at any time.

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
        if not hasattr(self, "_learnt"):
            return self.fit(X, y, sample_weight)
        labelled = self._labelled(X, y, sample_weight)
        self._learnt.learn_more(labelled())
        self._labels = {**labelled.labels, **self._labels}
        self._describe()
        return self

    def forget(self, X, y, sample_weight=None):
        """Forget rows that were learnt, as if they had never been.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counted; 1 by default.

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
        labelled = self._labelled(X, y, sample_weight)
        self._learnt.forget(labelled())
        self._describe()
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
        self._learnt = self._learnt.merged(other._learnt)
        self._labels = {**other._labels, **self._labels}
        self._describe()
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
        left._learnt = self._learnt.subtracted(other._learnt)
        left._describe()
        return left

    def __eq__(self, other):
        if not isinstance(other, NaiveBayes) or not hasattr(self, "_learnt") or not hasattr(other, "_learnt"):
            return self is other
        return self._learnt.to_bytes() == other._learnt.to_bytes()

    __hash__ = object.__hash__

    _rechoosable = (
        "prior",
        "smoothing",
        "numbers",
        "missing_values",
        "variance_floor",
        "discriminant",
        "select",
        "text",
    )

    def reestimate(self, **choices):
        """Conclude anew from what was counted, without the data.

        Parameters
        ----------
        **choices
            `prior`, `smoothing`, `numbers`, `missing_values`, `variance_floor`, `discriminant`, `select` or `text`, as
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
        other._learnt = self._learnt.reestimated(_words(chosen))
        other._describe()
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
        self._check_is_fitted()
        best = self._learnt.scores(self._table(X))
        return self._in_canonical_order[best]

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
        self._check_is_fitted()
        return self._ordered(self._learnt.scores(self._table(X), "probability"))

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
        self._check_is_fitted()
        return self._ordered(self._learnt.scores(self._table(X), "log"))

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
        self._check_is_fitted()
        return self._ordered(self._learnt.scores(self._table(X), "joint"))

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
        self._check_is_fitted()
        features, parts, log_prior, log_joint = self._learnt.explain(self._table(X))
        return Explanation(features, self._ordered(parts), self._ordered(log_prior), self._ordered(log_joint))

    # Judging

    def evaluate(self, X, y, folds=10, sample_weight=None, seed=0):
        """How good such a model is at rows that it has not seen: k-fold cross-validation in one pass.

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

        Returns
        -------
        report : dict
            Accuracy, log-loss, Brier score, area under the ROC curve, calibration and more, as `priory evaluate
            --format json` has them.
        """
        labelled = type(self)(**self.get_params())._labelled(X, y, sample_weight, reset=True)
        tables = (labelled(), labelled(), labelled())
        choices = self._choices()
        return json.loads(_priory.evaluate(*tables, labelled.target, labelled.weight, choices, folds, seed))

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
        self._check_is_fitted()
        labelled = self._labelled(X, y, sample_weight)
        return self._ordered(self._learnt.leave_one_out(labelled()))

    def features(self):
        """How much each feature tells about the class, the best first.

        Returns
        -------
        features : dict
            As `priory features --format json` has it.
        """
        self._check_is_fitted()
        return json.loads(self._learnt.features())

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
        self._check_is_fitted()
        return Picture(self._learnt.plot([str(name) for name in (column, up) if name is not None]))

    def save(self, path):
        """Write the model to a file that the command line reads as well.

        Parameters
        ----------
        path : str or path-like
            The file, `model.priory` for example. It is replaced in one step.
        """
        self._check_is_fitted()
        self._learnt.save(os.fspath(path))

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
        model._learnt = _priory.Learnt.load(os.fspath(path))
        texts = [name for name, _ in model._learnt.classes()]
        model._labels = dict(zip(texts, labels_of(texts)))
        model._describe()
        model.n_features_in_ = len(model.kinds_)
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
        other._learnt = _priory.Learnt.from_bytes(self._learnt.to_bytes())
        return other

    def _parameters(self):
        return {name: value for name, value in vars(self).items() if name in self.get_params(deep=False)}

    def _choices(self):
        return _words(self._parameters())

    def _labelled(self, X, y, sample_weight, reset=False):
        """The rows of X, with their classes beside them."""
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
        if reset:
            target = name if isinstance(name, str) and name not in rows.names else _unused("class", rows.names)
            weight = None if weights is None else _unused("weight", [*rows.names, target])
        else:
            target, weight, _ = self._learnt.schema()
            if weight is None and weights is not None:
                raise ValueError("the rows so far had no weights; fit with sample_weight=1 to give some to others later")
            if weight is not None and weights is None:
                weights = np.ones(len(y))
        return _Labelled(rows, y, weights, target, weight, self.missing)

    def _rows(self, X):
        return Rows(X)

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
        return rows.table()

    def _describe(self):
        """What is told of a model that has learnt something."""
        classes = self._learnt.classes()
        labels = [self._labels[text] for text, _ in classes]
        self._in_canonical_order = _label_array(labels)
        self._order = np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.intp)
        self.classes_ = self._in_canonical_order[self._order]
        self.class_count_ = np.array([weight for _, weight in classes])[self._order]
        self.class_prior_ = self._ordered(self._learnt.prior())
        self.kinds_ = dict(self._learnt.schema()[2])

    def _ordered(self, scores):
        """Scores in the order of `classes_`."""
        if (self._order == np.arange(len(self._order))).all():
            return scores
        return np.ascontiguousarray(scores[..., self._order])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


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
    prior, smoothing, select = choices.get("prior"), choices.get("smoothing"), choices.get("select")
    if isinstance(prior, dict):
        choices["class_prior"] = {label_text(label): float(share) for label, share in prior.items()}
        del choices["prior"]
    if isinstance(smoothing, (int, float, np.number)):
        choices["smoothing"] = f"lidstone:{float(smoothing)!r}"
    if isinstance(select, (int, np.integer)):
        choices["select"] = str(select)
    if "missing" in choices:
        choices["missing"] = list(choices["missing"])
    return choices


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

"""Categorical naive Bayes."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from priory._discrete import Discrete
from priory._priory import CodeScorer, CodeSums, NegativeError, code_logs


class CategoricalNB(Discrete):
    """Categorical naive Bayes: every feature is one of several categories, given the class.

    Stands in for scikit-learn's class of this name. The categories are 0, 1, 2 and so on. A category that was never met
    in training, also one beyond `n_categories_`, is no error: it gets what the smoothing would have given it had it been
    known, α / (n + α (J + 1)).

    Parameters
    ----------
    alpha : float, default=1.0
        The pseudocount of every category.
    force_alpha : bool, default=True
        Whether a pseudocount below 1e-10 is left as it is.
    fit_prior : bool, default=True
        Whether the probabilities of the classes are their shares among the rows, or all the same.
    class_prior : array-like of shape (n_classes,), default=None
        The probabilities of the classes, if they are given.
    min_categories : int or array-like of shape (n_features,), default=None
        How many categories each feature has at least.

    Attributes
    ----------
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        For each feature, the weight of each category in each class.
    class_count_ : ndarray of shape (n_classes,)
        The weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of the probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        For each feature, log P(category | class).
    n_categories_ : ndarray of shape (n_features,)
        How many categories each feature has.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have names that are strings.

    Examples
    --------
    >>> from priory import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 0], [1, 1]], ["no", "no", "yes"])
    >>> print(model.predict([[1, 7]]))
    ['yes']
    """

    _parameter_constraints: dict = {
        **Discrete._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, min_categories=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _dtype(self, X):
        # Codes of any width are read as they are.
        return None if isinstance(X, np.ndarray) and self._is_ready(X.dtype) else "int"

    def _is_ready(self, dtype):
        return dtype.kind in "iu" and dtype.isnative

    def _as_rows(self, X):
        return X

    def _refuse(self, rows):
        pass

    def _empty_sums(self, n_features, n_classes):
        self._least_categories(n_features)
        self._scorer = CodeScorer()
        return CodeSums(n_features, n_classes)

    def _least_categories(self, n_features):
        """How many categories each feature has at least."""
        if self.min_categories is None:
            return np.zeros(n_features, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim > 0 and least.shape != (n_features,):
            raise ValueError(
                f"'min_categories' should have shape ({n_features},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.broadcast_to(least, (n_features,)).astype(np.int64)

    def _count(self, sums, X, codes, weights):
        sums.observe(X, codes, weights)

    def _update_logs(self, alpha):
        met = np.array(self._sums.codes(), dtype=np.int64)
        self.n_categories_ = np.maximum(met, self._least_categories(self.n_features_in_))
        self.category_count_ = [self._sums.counts(i, n) for i, n in enumerate(self.n_categories_.tolist())]
        logs = [code_logs(counts, alpha[0]) for counts in self.category_count_]
        self.feature_log_prob_ = [known for known, _ in logs]
        self._unseen_log_prob = [unseen for _, unseen in logs]

    def _scores(self, X, wanted):
        try:
            return self._scorer.scores(
                X, self.feature_log_prob_, self._unseen_log_prob, self.class_log_prior_, wanted
            )
        except NegativeError:
            raise ValueError("Negative values in data passed to CategoricalNB (input X)") from None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

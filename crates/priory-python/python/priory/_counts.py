"""Naive Bayes of counts: multinomial, complement and Bernoulli."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from priory._discrete import Discrete
from priory._priory import CountSums, LinearScorer

_PARAMETERS = """alpha : float or array-like of shape (n_features,), default=1.0
        The pseudocount of every feature, or of each.
    force_alpha : bool, default=True
        Whether pseudocounts below 1e-10 are left as they are."""

_ATTRIBUTES = """class_count_ : ndarray of shape (n_classes,)
        The weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of the probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    feature_count_ : ndarray of shape (n_classes, n_features)
        The sum of each feature in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        What each feature adds to the score of each class.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have names that are strings."""


class _Counts(Discrete):
    _accept_sparse = "csr"

    def _empty_sums(self, n_features, n_classes):
        self._scorer = LinearScorer(isinstance(self, BernoulliNB))
        return CountSums(n_features, n_classes)

    def _count(self, sums, X, codes, weights):
        sums.observe(X, codes, weights)

    def _scores(self, X, wanted):
        return self._scorer.scores(X, self.feature_log_prob_, self._start(), wanted, getattr(self, "binarize", None))

    @property
    def feature_count_(self):
        """The sum of each feature in each class: of a large vocabulary a large matrix, so it is made when asked for."""
        return self._sums.counts()

    def _start(self):
        """What the score of every class starts from."""
        return self.class_log_prior_


class MultinomialNB(_Counts):
    """Multinomial naive Bayes: every occurrence of a feature is a draw, given the class.

    Stands in for scikit-learn's class of this name.

    Parameters
    ----------
    {parameters}
    fit_prior : bool, default=True
        Whether the probabilities of the classes are their shares among the rows, or all the same.
    class_prior : array-like of shape (n_classes,), default=None
        The probabilities of the classes, if they are given.

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from priory import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0, 1], [3, 1, 0], [0, 4, 2]], ["ham", "ham", "spam"])
    >>> print(model.predict([[0, 2, 1]]))
    ['spam']
    """

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _update_logs(self, alpha):
        self.feature_log_prob_ = self._sums.multinomial(alpha)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(_Counts):
    """Complement naive Bayes: a row is unlike what the other classes have (Rennie et al. 2003).

    Stands in for scikit-learn's class of this name.

    Parameters
    ----------
    {parameters}
    fit_prior : bool, default=True
        Matters only if there is a single class.
    class_prior : array-like of shape (n_classes,), default=None
        Matters only if there is a single class.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    {attributes}
    feature_all_ : ndarray of shape (n_features,)
        The sum of each feature in all classes.

    Examples
    --------
    >>> from priory import ComplementNB
    >>> model = ComplementNB().fit([[2, 0, 1], [3, 1, 0], [0, 4, 2]], ["ham", "ham", "spam"])
    >>> print(model.predict([[0, 2, 1]]))
    ['spam']
    """

    _parameter_constraints: dict = {**Discrete._parameter_constraints, "norm": ["boolean"]}

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, norm=False):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _update_logs(self, alpha):
        self.feature_log_prob_, self.feature_all_ = self._sums.complement(alpha, self.norm)
        self._zeros = np.zeros(len(self.classes_))

    def _start(self):
        return self.class_log_prior_ if len(self.classes_) == 1 else self._zeros

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class BernoulliNB(_Counts):
    """Bernoulli naive Bayes: every feature is there or not, given the class.

    Stands in for scikit-learn's class of this name.

    Parameters
    ----------
    {parameters}
    binarize : float or None, default=0.0
        Features above this are there. If None, they are 0 and 1 already.
    fit_prior : bool, default=True
        Whether the probabilities of the classes are their shares among the rows, or all the same.
    class_prior : array-like of shape (n_classes,), default=None
        The probabilities of the classes, if they are given.

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from priory import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0, 1], [1, 1, 0], [0, 1, 1]], ["ham", "ham", "spam"])
    >>> print(model.predict([[0, 1, 1]]))
    ['spam']
    """

    _parameter_constraints: dict = {
        **Discrete._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, alpha=1.0, force_alpha=True, binarize=0.0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _count(self, sums, X, codes, weights):
        sums.observe(X, codes, weights, self.binarize, True)

    def _update_logs(self, alpha):
        self.feature_log_prob_ = self._sums.bernoulli(alpha)


for _class in (MultinomialNB, ComplementNB, BernoulliNB):
    if _class.__doc__ is not None:  # python -OO
        _class.__doc__ = _class.__doc__.format(parameters=_PARAMETERS, attributes=_ATTRIBUTES)

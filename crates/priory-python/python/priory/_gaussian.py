"""Gaussian naive Bayes."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from priory._base import Classifier
from priory._priory import GaussianScorer, GaussianSums


class GaussianNB(Classifier):
    """Gaussian naive Bayes: every feature follows a normal distribution, given the class.

    Stands in for scikit-learn's class of this name. Means and variances are rounded once, from exact sums, so that
    `partial_fit` in any chunks and any order gives the bits of `fit`; what is added to variances comes from all rows
    that were learnt, not from those of the last chunk.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        The probabilities of the classes; their shares among the rows if None.
    var_smoothing : float, default=1e-9
        This share of the largest variance of any feature is added to every variance.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        The weight of each class.
    class_prior_ : ndarray of shape (n_classes,)
        The probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    epsilon_ : float
        What is added to every variance.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have names that are strings.
    theta_ : ndarray of shape (n_classes, n_features)
        The means.
    var_ : ndarray of shape (n_classes, n_features)
        The variances.

    Examples
    --------
    >>> from priory import GaussianNB
    >>> X = [[1.0, 20.0], [1.5, 21.0], [3.0, 14.0], [3.5, 15.0]]
    >>> model = GaussianNB().fit(X, ["calm", "calm", "storm", "storm"])
    >>> print(model.predict([[1.2, 19.0]]))
    ['calm']
    >>> model.theta_
    array([[ 1.25, 20.5 ],
           [ 3.25, 14.5 ]])
    """

    _parameter_constraints: dict = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, priors=None, var_smoothing=1e-9):
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _empty_sums(self, n_features, n_classes):
        self._check_priors(n_classes)
        self._scorer = GaussianScorer()
        return GaussianSums(n_features, n_classes)

    def _check_priors(self, n_classes):
        if self.priors is None:
            return
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != n_classes:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")

    def _observe(self, sums, X, codes, weights):
        sums.observe(X, codes, weights)
        if sums is not getattr(self, "_sums", None):
            # What is learnt from single precision is told in it.
            self._float = np.float32 if X.dtype == np.float32 else np.float64

    def _estimate(self):
        theta, var, self.epsilon_ = self._sums.estimate(self.var_smoothing)
        self.theta_, self.var_ = theta.astype(self._float, copy=False), var.astype(self._float, copy=False)
        counts = self._sums.class_weights()
        # A copy, since predicting makes it read-only, which the array of whoever gave it must not become.
        prior = counts / counts.sum() if self.priors is None else np.array(self.priors)
        self.class_count_ = counts.astype(self._float, copy=False)
        self.class_prior_ = prior.astype(self._float, copy=False)

    def _scores(self, X, wanted):
        scores = self._scorer.scores(X, self.theta_, self.var_, self.class_prior_, wanted)
        single = wanted is not None and X.dtype == self.theta_.dtype == np.float32
        return scores.astype(np.float32) if single else scores

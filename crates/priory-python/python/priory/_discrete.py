"""Smoothing and priors, as the classes for counts and categories have them."""

import warnings
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from priory._base import Classifier
from priory._priory import NegativeError

LEAST_ALPHA = 1e-10


class Discrete(Classifier):
    """Pseudocounts and priors."""

    _parameter_constraints: dict = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }

    def _check_alpha(self):
        """The pseudocount, or that of each feature."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim > 0:
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0:
                raise ValueError("All values in alpha must be greater than 0.")
        if alpha.min() < LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha ="
                f" {LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged."
            )
            return np.maximum(alpha, LEAST_ALPHA)
        return alpha

    def _check_prior(self, n_classes):
        if self.class_prior is not None and len(self.class_prior) != n_classes:
            raise ValueError("Number of priors must match number of classes.")

    def _update_prior(self):
        n_classes = len(self.classes_)
        self._check_prior(n_classes)
        with np.errstate(divide="ignore"):
            if self.class_prior is not None:
                self.class_log_prior_ = np.log(np.asarray(self.class_prior, dtype=np.float64))
            elif self.fit_prior:
                self.class_log_prior_ = np.log(self.class_count_) - np.log(self.class_count_.sum())
            else:
                self.class_log_prior_ = np.full(n_classes, -np.log(n_classes))

    def _observe(self, sums, X, codes, weights):
        try:
            self._count(sums, X, codes, weights)
        except NegativeError:
            raise ValueError(f"Negative values in data passed to {type(self).__name__} (input X)") from None

    def _estimate(self):
        self.class_count_ = self._sums.class_weights()
        alpha = np.broadcast_to(self._check_alpha(), (self.n_features_in_,))
        self._update_logs(np.ascontiguousarray(alpha))
        self._update_prior()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse)
        tags.classifier_tags.poor_score = True
        return tags

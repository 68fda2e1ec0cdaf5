"""What the classes with scikit-learn's names have in common: validation as scikit-learn does it, and classes as codes."""

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, check_is_fitted, validate_data

from priory._labels import encode_labels
from priory._lock import own_lock
from priory._priory import NotFiniteError


def as_numbers(X):
    """The matrix in a type that is read as it is."""
    if X.dtype.kind in "fiub" and X.dtype.isnative and X.dtype.itemsize <= 8 and X.dtype != np.float16:
        return X
    return X.astype(np.float64)


class Classifier(ClassifierMixin, BaseEstimator):
    """Fitting in one go or in parts, and predicting, over sums that are exact."""

    _accept_sparse = False

    def _dtype(self, X):
        """The type that a matrix is to have."""
        return "numeric"

    def _check_fit(self, X, y, reset):
        # Numbers that are not finite are found while they are counted.
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse=self._accept_sparse, dtype=self._dtype(X), ensure_all_finite=False
        )
        assert_all_finite(y, input_name="y")
        if y.dtype.kind == "f":
            check_classification_targets(y)
        return self._as_rows(X), y

    def _check_X(self, X):
        if not hasattr(self, "classes_"):
            check_is_fitted(self)
        if not self._is_plain(X):
            X = validate_data(
                self, X, reset=False, accept_sparse=self._accept_sparse, dtype=self._dtype(X), ensure_all_finite=False
            )
        return self._as_rows(X)

    def _is_plain(self, X):
        """Whether scikit-learn would take this matrix as it is, so that it need not be asked; that takes a while."""
        if type(X) is np.ndarray:
            if X.ndim != 2 or not self._is_ready(X.dtype):
                return False
        elif not (
            self._accept_sparse
            and type(X) in (csr_array, csr_matrix)
            and X.ndim == 2
            and X.data.dtype == np.float64
            and X.indices.dtype == X.indptr.dtype == np.int32
        ):
            return False
        rows, columns = X.shape
        return columns == self.n_features_in_ and rows > 0 and not hasattr(self, "feature_names_in_")

    def _is_ready(self, dtype):
        """Whether an array of this type needs no look from scikit-learn."""
        return dtype == np.float64

    def _as_rows(self, X):
        """What the Rust half takes: a matrix, or the parts of one that is sparse."""
        if isinstance(X, np.ndarray):
            return as_numbers(X)
        return (X.indptr, X.indices, as_numbers(X.data), X.shape[1])

    def _refuse(self, rows):
        """Says what scikit-learn says about numbers that are not finite."""
        values = rows if isinstance(rows, np.ndarray) else rows[2]
        assert_all_finite(values, estimator_name=type(self).__name__, input_name="X")

    def fit(self, X, y, sample_weight=None):
        """Learn from these rows, and forget all others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        self._validate_params()
        with own_lock(self):
            X, y = self._check_fit(X, y, reset=True)
            classes, codes = encode_labels(y)
            return self._learn(X, codes, classes, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows. The result does not depend on how rows are split, or on their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        classes : array-like of shape (n_classes,), default=None
            All classes there will ever be; needed at the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 by default.

        Returns
        -------
        self : object
            The estimator.
        """
        self._validate_params()
        with own_lock(self):
            return self._learn_more(X, y, classes, sample_weight)

    def _learn_more(self, X, y, classes, sample_weight):
        first = getattr(self, "classes_", None) is None
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is not None:
            classes = unique_labels(classes)
            if not first and not np.array_equal(self.classes_, classes):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
                )
        X, y = self._check_fit(X, y, reset=first)
        classes = classes if first else self.classes_
        found, codes = encode_labels(y)
        place = np.searchsorted(classes, found)
        known = place < len(classes)
        known[known] = classes[place[known]] == found[known]
        if not known.all():
            raise ValueError(
                f"The target label(s) {found[~known]} in y do not exist in the initial classes {classes}"
            )
        return self._learn(X, place.astype(np.uint32)[codes], None if not first else classes, sample_weight)

    def _learn(self, X, codes, classes, sample_weight):
        """Count rows and estimate anew; `classes` are given if it is the first time."""
        n_rows = len(codes)
        n_features = X.shape[1] if isinstance(X, np.ndarray) else X[3]
        weights = None
        if sample_weight is not None:
            rows = np.broadcast_to(np.float64(0), (n_rows, 1))
            weights = np.ascontiguousarray(_check_sample_weight(sample_weight, rows, dtype=np.float64))
        sums = self._sums if classes is None else self._empty_sums(n_features, len(classes))
        try:
            self._observe(sums, X, np.ascontiguousarray(codes), weights)
        except NotFiniteError:
            self._refuse(X)
            raise
        if classes is not None:
            self.classes_ = classes
            self._sums = sums
        self._estimate()
        return self

    def _wanted(self, X, wanted):
        rows = self._check_X(X)
        try:
            return self._scores(rows, wanted)
        except NotFiniteError:
            self._refuse(rows)
            raise

    def predict(self, X):
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        best = self._wanted(X, None)
        return self.classes_[best]

    def predict_proba(self, X):
        """The probability of each class, for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        return self._wanted(X, "probability")

    def predict_log_proba(self, X):
        """The logarithm of the probability of each class, for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        L : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return self._wanted(X, "log")

    def predict_joint_log_proba(self, X):
        """log P(x, class) for each row and class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        J : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return self._wanted(X, "joint")

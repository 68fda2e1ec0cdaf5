"""Linear and quadratic discriminant analysis."""

import warnings
from numbers import Integral, Real

import numpy as np
from scipy import linalg
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from priory._labels import encode_labels
from priory._priory import CovarianceSums, LinearScorer, NotFiniteError

_CONSTRAINTS = {
    "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
    "priors": ["array-like", None],
    "store_covariance": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="left")],
    "covariance_estimator": [HasMethods("fit"), None],
}


class _Discriminant(ClassifierMixin, BaseEstimator):
    """Means and covariances of the classes, each rounded once from exact sums; and predictions from scores."""

    def _sum(self, X, codes):
        """The rows of each class, their means, and their covariances, dividing by the rows."""
        sums = CovarianceSums(X.shape[1], len(self.classes_))
        try:
            sums.observe(X, codes)
        except NotFiniteError:
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise
        return sums.class_weights(), sums.means(), sums.covariances()

    def _check_solver(self):
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(self._only_plain)

    def _shrunk(self, covariance, X):
        """The covariance that was asked for, of rows whose plain covariance is known."""
        if self.covariance_estimator is not None:
            if self.shrinkage is not None and self.shrinkage != 0:
                raise ValueError(
                    "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
                )
            self.covariance_estimator.fit(X)
            if not hasattr(self.covariance_estimator, "covariance_"):
                name = type(self.covariance_estimator).__name__
                raise ValueError(f"{name} does not have a covariance_ attribute")
            return np.atleast_2d(self.covariance_estimator.covariance_)
        if self.shrinkage is None:
            return covariance
        if self.shrinkage == "auto":
            scale = np.sqrt(np.diag(covariance))
            scale[scale == 0] = 1.0
            return scale[:, None] * ledoit_wolf((X - X.mean(axis=0)) / scale)[0] * scale
        return shrunk_covariance(covariance, self.shrinkage)

    def decision_function(self, X):
        """The scores of the classes, of which differences are log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the log-odds of the second, otherwise a score for each.
        """
        return self._decide(X)

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
        scores = self._decide(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

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
        scores = self._decide(X)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return likely / likely.sum(axis=1, keepdims=True)

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
        probabilities = self.predict_proba(X)
        probabilities[probabilities == 0] = np.finfo(probabilities.dtype).smallest_normal
        return np.log(probabilities)


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Discriminant):
    """Linear discriminant analysis: normal distributions of which all classes share one covariance.

    Stands in for scikit-learn's class of this name.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        How directions are found.
    shrinkage : "auto" or float, default=None
        How much covariances are shrunk; not with `svd`.
    priors : array-like of shape (n_classes,), default=None
        The probabilities of the classes; their shares among the rows if None.
    n_components : int, default=None
        How many directions `transform` gives.
    store_covariance : bool, default=False
        Whether `svd` keeps the covariance as well.
    tol : float, default=1e-4
        Directions with a smaller deviation are left out by `svd`.
    covariance_estimator : estimator, default=None
        Estimates the covariances instead; not with `svd`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (n_classes,)
        What the scores start from.
    covariance_ : ndarray of shape (n_features, n_features)
        The shared covariance, if it is kept.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of each direction in what tells the classes apart.
    means_ : ndarray of shape (n_classes, n_features)
        The means.
    priors_ : ndarray of shape (n_classes,)
        The probabilities of the classes.
    scalings_ : ndarray of shape (n_features, rank)
        The directions.
    xbar_ : ndarray of shape (n_features,)
        The overall mean, with `svd`.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have names that are strings.

    Examples
    --------
    >>> from priory import LinearDiscriminantAnalysis
    >>> X = [[1.0, 20.0], [1.5, 21.0], [1.2, 22.0], [3.0, 14.0], [3.5, 15.0], [3.1, 16.0]]
    >>> model = LinearDiscriminantAnalysis().fit(X, ["calm", "calm", "calm", "storm", "storm", "storm"])
    >>> print(model.predict([[1.2, 19.0]]))
    ['calm']
    """

    _parameter_constraints: dict = {
        **_CONSTRAINTS,
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    _only_plain = "covariance estimator is not supported with svd solver. Try another solver"

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X, y):
        """Learn from these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.

        Returns
        -------
        self : object
            The estimator.
        """
        self._validate_params()
        X, y = validate_data(
            self, X, y, ensure_min_samples=2, dtype=[np.float64, np.float32], ensure_all_finite=False
        )
        check_classification_targets(y)
        self.classes_, codes = encode_labels(y)
        n_classes = len(self.classes_)
        if len(X) == n_classes:
            raise ValueError("The number of samples must be more than the number of classes.")
        self._check_solver()
        counts, means, covariances = self._sum(X, codes)
        self._set_priors(counts)
        most = min(n_classes - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        self._max_components = most if self.n_components is None else self.n_components
        self.means_ = means
        if self.solver == "svd":
            self._solve_whitened(counts, covariances)
        else:
            self._solve_covariance(X, codes, counts, covariances)
        if n_classes == 2:
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            self.intercept_ = self.intercept_[1:] - self.intercept_[:1]
        for name in ("means_", "priors_", "coef_", "intercept_", "scalings_", "xbar_", "covariance_"):
            if hasattr(self, name):
                setattr(self, name, getattr(self, name).astype(X.dtype, copy=False))
        self._n_features_out = self._max_components
        self._scorer = LinearScorer()
        return self

    def _set_priors(self, counts):
        priors = counts / counts.sum() if self.priors is None else np.asarray(self.priors, dtype=np.float64)
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning)
            priors = priors / priors.sum()
        self.priors_ = priors

    def _solve_whitened(self, counts, covariances):
        """Turns and scales the features until the shared covariance is the unit matrix; then finds the directions in which
        the means differ."""
        n_rows, n_classes = counts.sum(), len(counts)
        if self.store_covariance:
            self.covariance_ = np.tensordot(self.priors_, covariances, 1)
        self.xbar_ = self.priors_ @ self.means_
        within = np.tensordot(counts, covariances, 1)
        deviation = np.sqrt(np.diag(within) / n_rows)
        deviation[deviation == 0] = 1.0
        variances, axes = linalg.eigh(within / np.outer(deviation, deviation) / (n_rows - n_classes))
        found = np.sqrt(np.maximum(variances, 0)) > self.tol
        scalings = (axes / deviation[:, None])[:, found] / np.sqrt(variances[found])
        share = 1.0 / max(n_classes - 1, 1)
        centers = np.sqrt(n_rows * self.priors_ * share)[:, None] * (self.means_ - self.xbar_) @ scalings
        _, spread, axes = linalg.svd(centers, full_matrices=False)
        total = (spread**2).sum()
        self.explained_variance_ratio_ = (spread**2 / (total or 1.0))[: self._max_components]
        rank = int((spread > self.tol * spread[0]).sum()) if spread.size else 0
        self.scalings_ = scalings @ axes.T[:, :rank]
        coordinates = (self.means_ - self.xbar_) @ self.scalings_
        self.coef_ = coordinates @ self.scalings_.T
        with np.errstate(divide="ignore"):
            self.intercept_ = -0.5 * (coordinates**2).sum(axis=1) + np.log(self.priors_) - self.coef_ @ self.xbar_

    def _solve_covariance(self, X, codes, counts, covariances):
        """Solves Σ w = μ, or finds the directions in which the classes differ most."""
        shrunk = [self._shrunk(covariance, X[codes == k]) for k, covariance in enumerate(covariances)]
        self.covariance_ = np.tensordot(self.priors_, shrunk, 1)
        if self.solver == "lsqr":
            self.coef_ = linalg.lstsq(self.covariance_, self.means_.T)[0].T
        else:
            shares = counts / counts.sum()
            apart = self.means_ - shares @ self.means_
            total = np.tensordot(shares, covariances, 1) + (shares[:, None] * apart).T @ apart
            between = self._shrunk(total, X) - self.covariance_
            sizes, directions = linalg.eigh(between, self.covariance_)
            self.explained_variance_ratio_ = np.sort(sizes / sizes.sum())[::-1][: self._max_components]
            self.scalings_ = directions[:, np.argsort(sizes)[::-1]]
            self.coef_ = self.means_ @ self.scalings_ @ self.scalings_.T
        self.intercept_ = -0.5 * (self.means_ * self.coef_).sum(axis=1) + np.log(self.priors_)

    def transform(self, X):
        """The rows in the directions that tell the classes apart.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The rows in fewer dimensions.
        """
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        X = X - self.xbar_ if self.solver == "svd" else X
        return (X @ self.scalings_)[:, : self._max_components]

    def _decide(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=False)
        try:
            scores = self._scorer.scores(X, self.coef_, self.intercept_, "joint")
        except NotFiniteError:
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise
        if X.dtype == self.coef_.dtype == np.float32:
            scores = scores.astype(np.float32)
        return scores.ravel() if scores.shape[1] == 1 and len(self.classes_) == 2 else scores


class QuadraticDiscriminantAnalysis(_Discriminant):
    """Quadratic discriminant analysis: normal distributions, each class with a covariance of its own.

    Stands in for scikit-learn's class of this name.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        With `svd` covariances are divided by the rows less one, with `eigen` by the rows.
    shrinkage : "auto" or float, default=None
        How much covariances are shrunk; not with `svd`.
    priors : array-like of shape (n_classes,), default=None
        The probabilities of the classes; their shares among the rows if None.
    reg_param : float, default=0.0
        With `svd`, covariances are mixed with this much of the unit matrix.
    store_covariance : bool, default=False
        Whether the covariances are kept.
    tol : float, default=1e-4
        A covariance with a smaller variance in some direction is refused.
    covariance_estimator : estimator, default=None
        Estimates the covariances instead; not with `svd`.

    Attributes
    ----------
    covariance_ : list of ndarray of shape (n_features, n_features)
        The covariance of each class, if they are kept.
    means_ : ndarray of shape (n_classes, n_features)
        The means.
    priors_ : ndarray of shape (n_classes,)
        The probabilities of the classes.
    rotations_ : list of ndarray of shape (n_features, n_features)
        For each class the axes of its distribution.
    scalings_ : list of ndarray of shape (n_features,)
        For each class the variances along them.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        How many features there are.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have names that are strings.

    Examples
    --------
    >>> from priory import QuadraticDiscriminantAnalysis
    >>> X = [[1.0, 20.0], [1.5, 21.0], [1.2, 22.0], [3.0, 14.0], [3.5, 15.0], [3.1, 16.0]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, ["calm", "calm", "calm", "storm", "storm", "storm"])
    >>> print(model.predict([[1.2, 19.0]]))
    ['calm']
    """

    _parameter_constraints: dict = {
        **_CONSTRAINTS,
        "solver": [StrOptions({"svd", "eigen"})],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
    }

    _only_plain = "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead."

    def __init__(
        self,
        *,
        solver="svd",
        shrinkage=None,
        priors=None,
        reg_param=0.0,
        store_covariance=False,
        tol=1.0e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X, y):
        """Learn from these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.

        Returns
        -------
        self : object
            The estimator.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite=False)
        check_classification_targets(y)
        self.classes_, codes = encode_labels(y)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {n_classes} class.")
        self._check_solver()
        counts, means, covariances = self._sum(X, codes)
        self.priors_ = counts / counts.sum() if self.priors is None else np.array(self.priors)
        scalings, rotations, kept = [], [], []
        for k, (count, covariance) in enumerate(zip(counts, covariances)):
            if count == 1:
                raise ValueError(f"y has only 1 sample in class {self.classes_[k]}, covariance is ill defined.")
            variances, axes, own = self._solve(covariance, count, X, codes == k)
            # Of fewer rows than features no regularization makes a covariance with `svd`.
            if (variances <= self.tol).any() or (self.solver == "svd" and count < X.shape[1]):
                raise linalg.LinAlgError(self._not_full_rank(k, int(count), X.shape[1]))
            scalings.append(variances)
            rotations.append(axes)
            kept.append(own)
        self.means_, self.scalings_, self.rotations_ = means, scalings, rotations
        if self.store_covariance:
            self.covariance_ = kept
        return self

    def _solve(self, covariance, count, X, rows):
        """The variances of a class, the largest first, along its axes; and its covariance."""
        if self.solver == "svd":
            covariance = covariance * (count / (count - 1))
        elif self.shrinkage is not None or self.covariance_estimator is not None:
            covariance = self._shrunk(covariance, X[rows])
        variances, axes = linalg.eigh(covariance)
        variances, axes = variances[::-1], axes[:, ::-1]
        if self.solver == "svd":
            variances = (1 - self.reg_param) * variances + self.reg_param
            covariance = (axes * variances) @ axes.T
        return variances, axes, covariance

    def _not_full_rank(self, k, count, n_features):
        what = f"The covariance matrix of class {self.classes_[k]} is not full rank. "
        if self.solver == "svd" and count <= n_features:
            return what + (
                "When using `solver='svd'` the number of samples in each class should be more than the number of "
                f"features, but class {self.classes_[k]} has {count} samples and {n_features} features. Try using "
                "`solver='eigen'` and setting the parameter `shrinkage` for regularization."
            )
        increase = "shrinkage" if self.solver == "eigen" else "reg_param"
        return what + f"Increase the value of `{increase}` to reduce the collinearity."

    def _log_joint(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        scores = np.empty((len(X), len(self.classes_)))
        for k, (mean, variances, axes) in enumerate(zip(self.means_, self.scalings_, self.rotations_)):
            apart = (X - mean) @ (axes / np.sqrt(variances))
            scores[:, k] = -0.5 * ((apart**2).sum(axis=1) + np.log(variances).sum())
        return scores + np.log(self.priors_)

    def _decide(self, X):
        scores = self._log_joint(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

"""As much of scikit-learn as `NaiveBayes` needs where it is not installed."""

import inspect

import numpy as np


class NotFittedError(ValueError, AttributeError):
    """Something was asked of a model that has learnt nothing."""


class BaseEstimator:
    """Parameters are the arguments of the constructor."""

    def get_params(self, deep=True):
        """The parameters by name."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params):
        """Set parameters by name."""
        unknown = set(params) - set(self.get_params())
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: no such parameter of {type(self).__name__}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self):
        default = type(self)().get_params()
        changed = {name: value for name, value in self.get_params().items() if value != default[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


class ClassifierMixin:
    """Judges predictions."""

    def score(self, X, y, sample_weight=None):
        """The share of rows whose class is predicted."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


def column_or_1d(y, warn=False):
    """The same as one dimension."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        return y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def assert_all_finite(y, input_name=""):
    """Refuses labels that are missing or infinite."""
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"Input {input_name} contains NaN or infinity.")
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):
        raise ValueError(f"Input {input_name} contains NaN.")


def check_classification_targets(y):
    """Refuses numbers with a fraction."""
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError("Unknown label type: continuous. Classes are what is predicted here.")


def check_consistent_length(*arrays):
    """Refuses different numbers of rows."""
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")


def _check_sample_weight(sample_weight, X, dtype):
    weights = np.asarray(sample_weight, dtype=dtype)
    if weights.ndim == 0:
        return np.full(len(X), weights)
    if weights.shape != (len(X),):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(len(X),)}!")
    return weights


def _check_feature_names(estimator, X, *, reset):
    names = getattr(X, "columns", None)
    names = None if names is None or not all(isinstance(name, str) for name in names) else list(names)
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    elif names is not None and hasattr(estimator, "feature_names_in_") and names != list(estimator.feature_names_in_):
        raise ValueError("The feature names should match those that were passed during fit.")


def _check_n_features(estimator, X, *, reset):
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )

"""scikit-learn's base classes and checks, or as much of them as is needed where it is not installed."""

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

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "NotFittedError",
    "_check_feature_names",
    "_check_n_features",
    "_check_sample_weight",
    "assert_all_finite",
    "check_classification_targets",
    "check_consistent_length",
    "column_or_1d",
]

"""Tables matched with what a model knows of columns, classes and weights."""

import numpy as np

from priory._class_weight import balanced, given
from priory._learnt import Labelled
from priory._rows import Rows, numbered
from priory._sklearn import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    assert_all_finite,
    check_classification_targets,
    check_consistent_length,
    column_or_1d,
)
from priory._warn import warn


class Reading:
    """The part of `NaiveBayes` that takes tables."""

    def _labelled(self, X, y, sample_weight, groups=None, reset=False, beside=None):
        """The rows of X, with their classes beside them; named as in rows that are like them, if there are such."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows = self._rows(X)
        if reset:
            self._remember_columns(rows)
        else:
            self._match_columns(rows)
        name = getattr(y, "name", None)
        y = column_or_1d(y if hasattr(y, "dtype") or isinstance(y, (list, tuple)) else np.asarray(y), warn=True)
        y = np.asarray(y)
        assert_all_finite(y, input_name="y")
        if self.bins is None:
            check_classification_targets(y)
        else:
            y = y.astype(np.float64)
        if rows.n_rows is not None:
            check_consistent_length(range(rows.n_rows), y)
        if len(y) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required by NaiveBayes.")
        if rows.names == []:
            raise ValueError(f"Found array with 0 feature(s) (shape=({len(y)}, 0)) while a minimum of 1 is required.")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.empty((len(y), 1)), dtype=np.float64)
        if self.class_weight is not None:
            weights = self._by_class(y, weights, reset)
        if groups is not None:
            groups = column_or_1d(np.asarray(groups, dtype=object))
            check_consistent_length(y, groups)
        if beside is not None:
            target, weight, group = beside.target, beside.weight, beside.group
        elif reset:
            target = name if isinstance(name, str) and name not in rows.names else _unused("class", rows.names)
            weight = None if weights is None else _unused("weight", [*rows.names, target])
            group = None if groups is None else _unused("group", [*rows.names, target])
        else:
            known = self._learnt.counted.now()
            (target, weight, _), group = known.schema(), known.group()
        if weight is None and weights is not None:
            raise ValueError("the rows so far had no weights; fit with sample_weight=1 to give some to others later")
        if weight is not None and weights is None:
            weights = np.ones(len(y))
        if group is None and groups is not None:
            raise ValueError("the rows so far had no groups; fit with groups to have some")
        if group is not None and groups is None:
            groups = np.full(len(y), None)
        names = (target, weight, group)
        return Labelled(rows, y, (weights, groups), names, self.missing, self.bins is not None)

    def _rows(self, X):
        return Rows(X, tolerant=self._is_tolerant())

    def _is_tolerant(self):
        """Whether words among numbers are taken as missing."""
        if self.on_bad_value not in ("error", "missing"):
            raise ValueError("on_bad_value: expected error or missing")
        return self.on_bad_value == "missing"

    def _remember_columns(self, rows):
        """Remember how many columns there are, and what they are called."""
        _check_feature_names(self, rows.X, reset=True)
        if rows.is_named and isinstance(rows.X, (dict, list, tuple)):
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        self.n_features_in_ = len(rows.names)
        self._names = rows.names

    def _match_columns(self, rows):
        """Columns without names are those that were learnt, in their order; others are found by name."""
        if rows.is_named and (rows.names == self._names or not self._is_unnamed() or not {*self._names}.isdisjoint(rows.names)):
            return
        if len(rows.names) != len(self._names):
            _check_n_features(self, np.empty((1, len(rows.names))), reset=False)
            raise ValueError(f"X has {len(rows.names)} columns, and the model knows {len(self._names)}")
        if rows.is_named:
            warn(f"X has feature names, but {type(self).__name__} was fitted without feature names")
        rows.rename(self._names)

    def _is_unnamed(self):
        return self._names == numbered(len(self._names))

    def _warn_of_missing(self, names):
        listed = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        what = f"the column {listed}, which counts" if len(names) == 1 else f"the columns {listed}, which count"
        warn(f"X does not have {what} as missing in every row")

    def _by_class(self, y, weights, reset):
        """The weights of rows of these classes."""
        if self.class_weight != "balanced":
            of_classes = given(self.class_weight)
        elif reset:
            of_classes = self._balanced = balanced(y, weights)
        elif hasattr(self, "_balanced"):
            of_classes = self._balanced
        else:
            raise ValueError("class_weight='balanced' needs the rows that were learnt; give the weight of each class in a dict")
        of_rows = np.array([of_classes.get(label, 1.0) for label in y.tolist()], dtype=np.float64)
        return of_rows if weights is None else of_rows * weights

    def _table(self, model, told, X):
        rows = self._rows(X)
        self._match_columns(rows)
        if rows.n_rows == 0 and isinstance(X, np.ndarray):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required by NaiveBayes.")
        missing = told.used(model).difference(rows.names)
        if 0 < len(missing) < len(told.used(model)):
            self._warn_of_missing([name for name in self.kinds_ if name in missing])
        return rows.table(), rows.n_rows


def _unused(name, names):
    while name in names:
        name += "_"
    return name

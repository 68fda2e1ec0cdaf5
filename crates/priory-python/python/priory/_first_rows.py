"""Rows that are kept until there are enough of them to tell what the columns are."""

import copy
import operator
from typing import NamedTuple

import numpy as np

from priory._lock import own_lock
from priory._rows import concatenated


class LabelNames(NamedTuple):
    """What the columns beside the features are called; `weight` is None if there are no weights, and there are no groups."""

    target: str
    weight: "str | None"
    group: None = None


class FirstRows:
    """The first rows that `partial_fit` was given. Until they are enough, the model is what `fit` makes of them."""

    def __init__(self, enough):
        self._enough = operator.index(enough)
        if self._enough < 1:
            raise ValueError(f"warm_rows: expected a number of rows, got {enough}")
        self._parts, self._rows, self._fitted = [], 0, None
        # What the columns of classes and weights are called, as the first rows say.
        self.names = None

    def add(self, labelled, X, y, sample_weight):
        """Keep rows, which were looked at already."""
        self.names = self.names or LabelNames(labelled.target, labelled.weight)
        # What is kept does not change when its owner uses the table again.
        X = copy.deepcopy(X) if isinstance(X, (dict, list, tuple)) or not hasattr(X, "copy") else X.copy()
        self._parts.append((X, np.array(y), None if sample_weight is None else np.array(sample_weight)))
        self._rows += len(self._parts[-1][1])
        self._fitted = None

    def is_enough(self):
        """Whether there are as many rows as were waited for."""
        return self._rows >= self._enough

    def taken(self):
        """All rows, with their classes and weights."""
        tables, classes, weights = zip(*self._parts)
        y = np.concatenate(classes)
        if weights[0] is None:
            return concatenated(tables), y, None
        return concatenated(tables), y, np.concatenate([np.broadcast_to(w, len(y)) for w, y in zip(weights, classes)])

    def now(self, model):
        """What the model knows of the rows so far."""
        with own_lock(model):
            if self._fitted is None:
                other = copy.copy(model)
                vars(other).pop("_lock", None)
                other._decide()
                self._fitted = other._learnt
            return self._fitted.now()

    def __getstate__(self):
        return {**vars(self), "_fitted": None}

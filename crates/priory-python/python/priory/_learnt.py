"""What was learnt, with the labels of its classes; and rows with theirs."""

import numpy as np

from priory import _priory
from priory._labels import encode_labels
from priory._rows import label_text


class Learnt:
    """What was counted, and the label that each class stands for: one thing, so that no thread sees one without the other."""

    def __init__(self, counted, labels):
        self.counted, self.labels = counted, labels
        self._told = _Told(counted.now(), labels)

    def name(self, labels):
        """Say what classes stand for, before they are learnt. What they stood for already stays."""
        for text, label in labels.items():
            self.labels.setdefault(text, label)

    def now(self):
        """Everything as it is now, and what is told of it."""
        model, told = self.counted.now(), self._told
        if told.version != model.version():
            self._told = told = _Told(model, self.labels)
        return model, told

    def taken(self):
        """Everything as it is now, and labels of all its classes, which others may add to meanwhile."""
        model = self.counted.now()
        return model, dict(self.labels)  # in this order: classes have their labels before they are learnt

    def to_bytes(self):
        """The bytes of the model file."""
        return self.counted.now().to_bytes()

    def __reduce__(self):
        model, labels = self.taken()
        return _from_bytes, (model.to_bytes(), labels)


def _from_bytes(model, labels):
    return Learnt(_priory.Learnt.from_bytes(model), labels)


class _Told:
    """The classes of a model at some moment, and their order."""

    def __init__(self, model, labels):
        self.version = model.version()
        # Whether another class than the most probable may be answered.
        self.decides = model.decides()
        classes = model.classes()
        found = [labels.get(text, text) for text, _ in classes]  # an interval of numbers is called after itself
        self.in_canonical_order = _label_array(found)
        self._order = np.array(sorted(range(len(found)), key=found.__getitem__), dtype=np.intp)
        self._is_ordered = bool((self._order == np.arange(len(found))).all())
        self.classes = self.in_canonical_order[self._order]
        # As Python has them, for answers about one row.
        self.labels = self.in_canonical_order.tolist()
        self._used = self._few = self._few_for = None
        self.class_count = np.array([weight for _, weight in classes])[self._order]

    def used(self, model):
        """The names of the columns that are used."""
        if self._used is None:
            self._used = frozenset(model.used())
        return self._used

    def few_rows(self, model, names, is_tolerant):
        """A quick way for a few rows, of which those without names have columns of these names."""
        few, known = self._few, self._few_for
        if few is None or known[0] is not names or known[1] != is_tolerant:
            few = model.few_rows(names, is_tolerant)
            self._few_for, self._few = (names, is_tolerant), few
        return few

    def ordered(self, scores):
        """Scores in the order of `classes_`."""
        return scores if self._is_ordered else np.ascontiguousarray(scores[..., self._order])


class Labelled:
    """Rows with a class, and perhaps a weight and a group, beside each of them."""

    def __init__(self, rows, y, beside, names, missing, are_numbers=False):
        weights, groups = beside
        self.target, self.weight, self.group = names
        self.rows = rows
        self.groups = None if groups is None else _group_column(groups)
        self.weights = None if weights is None else _priory.Column.of_numbers(np.ascontiguousarray(weights))
        if are_numbers:
            self.texts, self.labels = [], {}
            self.classes = _priory.Column.of_numbers(np.ascontiguousarray(y))
            return
        classes, codes = encode_labels(y)
        self.texts = [label_text(label) for label in classes.tolist()]
        self.labels = dict(zip(self.texts, classes))
        spellings = ("", "?", "NA", "NaN", "null") if missing is None else missing
        for text in self.texts:
            if text in spellings:
                raise ValueError(
                    f"the class {text!r} is a spelling of a missing value; say with missing=[...] which there are"
                )
        self.classes = _priory.Column.of_classes(self.texts, codes)

    def __call__(self):
        table = self.rows.table().beside(self.target, self.classes)
        if self.groups is not None:
            table = table.beside(self.group, self.groups)
        return table if self.weights is None else table.beside(self.weight, self.weights)


def _group_column(groups):
    """The group of each row; a row whose group is missing is one by itself."""
    is_known = [group is not None and group == group for group in groups]
    names = [label_text(group) if known else f"\0{i}" for i, (group, known) in enumerate(zip(groups, is_known))]
    found, codes = np.unique(np.array(names, dtype=object), return_inverse=True)
    return _priory.Column.of_classes(found.tolist(), codes.astype(np.uint32).ravel())


def _label_array(labels):
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and issubclass(next(iter(kinds)), (np.generic, int, float)):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array

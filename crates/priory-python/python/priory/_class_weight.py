"""How much the rows of each class count."""

import numpy as np


def balanced(y, weights):
    """Weights with which all classes weigh the same together, and all rows as much as before."""
    labels, codes = np.unique(y, return_inverse=True)
    weighed = np.bincount(codes.ravel(), weights=weights, minlength=len(labels))
    return {label: float(weighed.sum() / (len(labels) * weight)) for label, weight in zip(labels.tolist(), weighed) if weight}


def given(class_weight):
    """Weights that were given."""
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight: expected 'balanced' or a dict of weights, got {class_weight!r}")
    for label, weight in class_weight.items():
        if not (np.isscalar(weight) and np.isfinite(weight) and weight >= 0):
            raise ValueError(f"class_weight: the weight of {label!r} is {weight!r}, not a finite number from 0 on")
    return class_weight


def check_known(class_weight, y):
    """Refuse weights of what is no class while a class has none, as scikit-learn does: one of them is probably mistyped."""
    classes = set(y.ravel().tolist())
    unknown = [label for label in class_weight if label not in classes]
    if unknown and not classes <= set(class_weight):
        known = ", ".join(sorted(map(repr, classes))[:20])
        raise ValueError(f"class_weight: {unknown[0]!r} is no class; there are {known}")

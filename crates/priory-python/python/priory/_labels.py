"""Labels as codes."""

import numpy as np

from priory._priory import encode


def encode_labels(y):
    """The different labels in order, and for each label where it stands among them."""
    y = np.asarray(y)
    if y.dtype.kind == "S" or (y.dtype.kind == "O" and any(isinstance(label, bytes) for label in y.flat)):
        raise TypeError('the classes are bytes, which may stand for any text; decode them first: np.char.decode(y, "utf-8")')
    if y.dtype.kind in "iub" and y.dtype != np.uint64:
        coded = encode(np.ascontiguousarray(y, dtype=np.int64))
        if coded is not None:
            return coded[0].astype(y.dtype), coded[1]
    if y.dtype.kind in "OU":
        labels = y.tolist()
        try:
            classes = sorted(set(labels))
        except TypeError:
            pass  # NumPy says what is wrong with them
        else:
            place = {label: i for i, label in enumerate(classes)}
            codes = np.fromiter(map(place.__getitem__, labels), dtype=np.uint32, count=len(labels))
            as_array = np.empty(len(classes), dtype=y.dtype)
            as_array[:] = classes
            return as_array, codes
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.uint32).ravel()

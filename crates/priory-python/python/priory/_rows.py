"""Tables as people have them, as the Rust half takes them; and labels as text."""

import numpy as np

from priory._priory import Table


class Rows:
    """The rows of anything that `NaiveBayes` takes. They can be read as often as one likes."""

    def __init__(self, X, tolerant=False):
        self.X, self._tolerant = X, tolerant
        self.n_rows = self._columns = None
        if _is_sparse(X):
            self.X = X = X.tocsr()
            self.names, self.n_rows = _numbered(X.shape[1]), X.shape[0]
            self._make = lambda: Table.from_sparse(_parts(X), self.names)
        elif isinstance(X, np.ndarray) or not (hasattr(X, "__arrow_c_stream__") or _is_pandas(X)):
            self._of_array(np.asarray(X))
        elif _is_pandas(X):
            self._of_pandas(X)
        else:
            if hasattr(X, "__len__"):
                self.n_rows = len(X)
            if _is_polars(X):
                X = _without_null_type(X)
            self._make = lambda: Table.from_stream(X.__arrow_c_stream__())
            self.names = self.table().names()
        self._check_names()

    def table(self):
        """The rows, to be read once."""
        return self._make().tolerant() if self._tolerant else self._make()

    def rename(self, names):
        """Call the columns something else, before they are read."""
        self.names[:] = names
        if self._columns is not None:
            self._columns = [(name, values) for name, (_, values) in zip(names, self._columns)]

    def _check_names(self):
        seen = set()
        for name in self.names:
            if name in seen:
                raise ValueError(f"X has two columns called {name!r}; rename one of them")
            seen.add(name)

    def _of_array(self, X):
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: a single row is X.reshape(1, -1), "
                "a single feature X.reshape(-1, 1)."
            )
        if X.dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{X}\n")
        self.names, self.n_rows = _numbered(X.shape[1]), X.shape[0]
        if X.dtype.kind in "fiub":
            if not X.dtype.isnative or X.dtype.itemsize > 8 or X.dtype == np.float16:
                X = X.astype(np.float64)
            self._make = lambda: Table.from_array(X, self.names)
        else:
            self._columns = [(name, _values(name, X[:, i])) for i, name in enumerate(self.names)]
            self._make = lambda: Table.from_columns(self._columns)

    def _of_pandas(self, X):
        self.n_rows = len(X)
        self.names = [str(name) for name in X.columns]
        self._check_names()
        if list(X.columns) != self.names:
            X = X.set_axis(self.names, axis=1)
        stream = _stream_of_pandas(X)
        if stream is None:
            self._columns = [(name, _values(name, X[name])) for name in self.names]
            self._make = lambda: Table.from_columns(self._columns)
        else:
            # What pandas converts it converts once.
            self._make = Table.from_stream(stream).again


def _stream_of_pandas(X):
    """The columns as Arrow has them; None if pandas is too old for that, pyarrow is not installed, or it refuses a column,
    such as one of objects that are not all of one type."""
    if not hasattr(X, "__arrow_c_stream__"):
        return None
    try:
        from pyarrow import ArrowException
    except ModuleNotFoundError:
        return None
    try:
        return X.reset_index(drop=True).__arrow_c_stream__()  # the index is not a column
    except (ArrowException, ImportError, OverflowError):  # pandas may find pyarrow too old; an integer may have many digits
        return None


def _is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "shape")


def _is_pandas(X):
    return type(X).__module__.partition(".")[0] == "pandas" and hasattr(X, "columns")


def _is_polars(X):
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "with_columns")


def _without_null_type(X):
    """The same table, in which columns that hold nothing are strings: polars does not hand over their type as Arrow has it."""
    import polars

    return X.with_columns(polars.col(polars.Null).cast(polars.String))


def _numbered(n):
    return [f"x{i}" for i in range(n)]


def _parts(X):
    data = X.data if X.data.dtype.kind in "fiub" and X.data.dtype.itemsize <= 8 else X.data.astype(np.float64)
    return (X.indptr, X.indices, data, X.shape[1])


def _values(name, column):
    """A column as numbers, if all of it are numbers, and else as strings."""
    if getattr(column, "dtype", None) is not None and str(column.dtype) == "category":
        column = column.astype(object)
    values = np.asarray(column)
    if values.dtype.kind in "fiu":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        days = values.astype("datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]")
        numbers = days.astype(np.int64) / 86_400e6
        return np.where(np.isnat(values), np.nan, numbers)
    values = [None if _is_missing(value) else value for value in values.tolist()]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        return np.array([np.nan if value is None else float(value) for value in values])
    for value in known:
        if isinstance(value, (dict, list, tuple, set)):
            raise ValueError(f"the column {name!r} holds {type(value).__name__}s, which cannot be counted")
        if not isinstance(value, (str, bytes, bool, int, float)):
            float(value)  # refuses what is neither text nor a number, as scikit-learn does
    try:
        return [None if value is None else label_text(value) for value in values]
    except UnicodeDecodeError:
        raise ValueError(f"the column {name!r} holds bytes that are not UTF-8 text; decode them first") from None


def _is_missing(value):
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def label_text(label):
    """How a label is written: as in a file of text, and as Arrow's values are."""
    if isinstance(label, bytes):
        return label.decode()
    if isinstance(label, (bool, np.bool_)):
        return "true" if label else "false"
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def labels_of(texts):
    """The labels that these texts stand for, if nothing else is known: whole numbers, or the texts themselves."""
    if texts and all(text.removeprefix("-").isdecimal() and str(int(text)) == text for text in texts):
        numbers = [int(text) for text in texts]
        if all(-(2**63) <= number < 2**63 for number in numbers):
            return np.array(numbers, dtype=np.int64)
    labels = np.empty(len(texts), dtype=object)
    labels[:] = texts
    return labels

"""Tables as people have them, as the Rust half takes them; and labels as text."""

import datetime
from collections.abc import Mapping

import numpy as np

from priory._priory import Table


class Rows:
    """The rows of anything that `NaiveBayes` takes. They can be read as often as one likes."""

    def __init__(self, X, tolerant=False):
        self._tolerant = tolerant
        self.n_rows = self._columns = self._other_names = None
        if isinstance(X, Mapping) and not _is_sparse(X):
            X = [X] if is_row(X) else {name: _listed(name, values) for name, values in X.items()}
        self.X = X
        # Whether the columns have names of their own.
        self.is_named = True
        if _is_sparse(X):
            self.X = X = X.tocsr()
            self.is_named = False
            self.names, self.n_rows = numbered(X.shape[1]), X.shape[0]
            self._make = lambda: Table.from_sparse(_parts(X), self.names)
        elif isinstance(X, dict):
            self._of_columns(X)
        elif isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping) and not _is_sparse(X[0]):
            self._of_columns(_columns_of(X))
        elif is_pandas(X):
            self._of_pandas(X)
        elif hasattr(X, "__arrow_c_stream__") and not isinstance(X, np.ndarray) and not is_series(X):
            if hasattr(X, "__len__"):
                self.n_rows = len(X)
            if _is_polars(X):
                X = _without_null_type(X)
            self._make = lambda: Table.from_stream(X.__arrow_c_stream__())
            self.names = self.table().names()
        else:
            self.is_named = False
            self._of_array(_array_of(X))
        self._check_names()

    def table(self):
        """The rows, to be read once."""
        table = self._make()
        if self._other_names is not None:
            table = table.renamed(self._other_names)
        return table.tolerant() if self._tolerant else table

    def rename(self, names):
        """Call the columns something else."""
        self.names = self._other_names = list(names)

    def _check_names(self):
        seen = set()
        for name in self.names:
            if name in seen:
                raise ValueError(f"X has two columns called {name!r}; rename one of them")
            seen.add(name)

    def _of_columns(self, columns):
        """Columns by name, each a list."""
        self.names = [str(name) for name in columns]
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"the columns of X are of different lengths: {', '.join(map(str, sorted(lengths)))}")
        self.n_rows = lengths.pop() if lengths else 0
        self._columns = [(name, _values(name, values)) for name, values in zip(self.names, columns.values())]
        self._make = lambda: Table.from_columns(self._columns)

    def _of_array(self, X):
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: a single row is X.reshape(1, -1), "
                "a single feature X.reshape(-1, 1)."
            )
        if X.dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{X}\n")
        self.names, self.n_rows = numbered(X.shape[1]), X.shape[0]
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


def is_row(X):
    """Whether a dict is one row, and not columns."""
    return not any(isinstance(value, (list, tuple, np.ndarray)) or is_series(value) for value in X.values())


def row_of_pandas(X):
    """The only row of a DataFrame as a dict, or None if that would change a value."""
    row = X.iloc[0]
    if row.dtype != object and np.dtype(np.float32) in X.dtypes.tolist():
        return None
    names = X.columns.tolist()
    return dict(zip(names, row.tolist())) if len(set(names)) == len(names) else None


def concatenated(tables):
    """Several tables of one type as one."""
    if len(tables) == 1:
        return tables[0]
    if all(isinstance(X, (Mapping, list, tuple)) and not _is_sparse(X) for X in tables):
        return [row for X in tables for row in ([X] if isinstance(X, Mapping) else X)]
    if all(is_pandas(X) for X in tables):
        import pandas

        return pandas.concat(tables, ignore_index=True)
    if all(_is_polars(X) for X in tables):
        import polars

        return polars.concat(tables, how="vertical_relaxed")
    if all(_is_sparse(X) for X in tables):
        import scipy.sparse

        return scipy.sparse.vstack(tables)
    if all(isinstance(X, np.ndarray) for X in tables):
        return np.concatenate(tables)
    if all(type(X).__module__.startswith("pyarrow") for X in tables):
        import pyarrow

        return pyarrow.concat_tables(tables, promote_options="permissive")
    raise ValueError(f"with warm_rows, the first rows have to be tables of one type; {type(tables[0]).__name__} came first")


def _columns_of(rows):
    """The columns of dicts; what one of them does not have is missing there."""
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"the rows of X are dicts, but row {i} is of type {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _listed(name, values):
    """One of several columns."""
    if not isinstance(values, (list, tuple, np.ndarray)) and not is_series(values):
        raise ValueError(f"X has lists and single values, such as {name!r}; a dict is either one row or columns")
    return values if isinstance(values, np.ndarray) else list(values)


def _array_of(X):
    """Anything else as an array, or an error that says what to do instead."""
    kind = type(X).__name__
    if kind == "LazyFrame":
        raise ValueError("X is a LazyFrame, which has no rows until it is collected: X.collect()")
    if is_series(X):
        raise ValueError(
            "Expected a 2-dimensional container but got a Series: one column is a table as X.to_frame(), and one row as a "
            "dict, for which there is predict_one"
        )
    if isinstance(X, (str, bytes)):
        raise ValueError(f"X is of type {kind}, not a table; TextNB takes documents")
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # or numbers and truth values beside strings would become strings
    return array


def is_series(X):
    """Whether this is a Series of pandas or polars."""
    return type(X).__name__ == "Series" and type(X).__module__.partition(".")[0] in ("pandas", "polars")


def is_pandas(X):
    """Whether this is a DataFrame of pandas."""
    return type(X).__module__.partition(".")[0] == "pandas" and hasattr(X, "columns")


def _is_polars(X):
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "with_columns")


def _without_null_type(X):
    """The same table, in which columns that hold nothing are strings: polars does not hand over their type as Arrow has it."""
    import polars

    return X.with_columns(polars.col(polars.Null).cast(polars.String))


def numbered(n):
    """The names of columns that have none."""
    return [f"x{i}" for i in range(n)]


def _parts(X):
    data = X.data if X.data.dtype.kind in "fiub" and X.data.dtype.itemsize <= 8 else X.data.astype(np.float64)
    return (X.indptr, X.indices, data, X.shape[1])


def _values(name, column):
    """A column as numbers, whole numbers or truth values, if all of it are such, and else as strings."""
    if getattr(column, "dtype", None) is not None and str(column.dtype) == "category":
        column = column.astype(object)
    values = np.asarray(column, dtype=object if isinstance(column, list) else None)
    if values.ndim != 1:
        raise ValueError(f"the column {name!r} holds {type(column[0]).__name__}s, which cannot be counted")
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        days = values.astype("datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]")
        numbers = days.astype(np.int64) / 86_400e6
        return np.where(np.isnat(values), np.nan, numbers)
    values = [None if _is_missing(value) else value for value in values.tolist()]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, (bool, np.bool_)) for value in known):
        return [None if value is None else bool(value) for value in values]
    if known and all(isinstance(value, _WHOLE) and not isinstance(value, bool) for value in known):
        if all(-(2**63) <= value < 2**63 for value in known):
            return [None if value is None else int(value) for value in values]
    if known and all(isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in known):
        return np.array([np.nan if value is None else float(value) for value in values])
    for value in known:
        if isinstance(value, (dict, list, tuple, set, np.ndarray)):
            raise ValueError(f"the column {name!r} holds {type(value).__name__}s, which cannot be counted")
    if known and all(isinstance(value, _TIMES) for value in known):
        return _values(name, np.array(values, dtype="datetime64[us]"))
    for value in known:
        if not isinstance(value, (str, bytes, bool, np.bool_, *_NUMBERS)):
            float(value)  # refuses what is neither text nor a number, as scikit-learn does
    try:
        return [None if value is None else label_text(value) for value in values]
    except UnicodeDecodeError:
        raise ValueError(f"the column {name!r} holds bytes that are not UTF-8 text; decode them first") from None


_WHOLE = (int, np.integer)
_NUMBERS = (int, float, np.integer, np.floating)
_TIMES = (datetime.date, np.datetime64)


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

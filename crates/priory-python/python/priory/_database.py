"""What comes out of a database, as the Rust half takes it."""

import datetime
import decimal
import uuid
from contextlib import closing, contextmanager

import numpy as np

from priory._priory import Table
from priory._rows import label_text

# So many rows are fetched at a time.
_ROWS = 50_000

_DIALECTS = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
    "pg8000": "postgresql",
}


def dialect_of(connection):
    """How the database of a connection writes SQL."""
    module = type(connection).__module__.partition(".")[0]
    if module == "sqlalchemy":
        raise TypeError("connection: expected one of the database's driver: connection.connection of a connection of SQLAlchemy")
    if hasattr(connection, "adbc_get_info"):
        vendor = str(connection.adbc_get_info().get("vendor_name", "")).lower()
        return vendor if vendor in ("duckdb", "sqlite", "postgresql") else "standard"
    if not hasattr(connection, "cursor"):
        raise TypeError(f"connection: expected a DB-API or ADBC connection, not {type(connection).__name__}")
    return _DIALECTS.get(module, "standard")


class Arrow:
    """A connection whose results are Arrow's."""

    def __init__(self, connection):
        self._connection = connection

    @staticmethod
    def can_read(connection):
        if hasattr(connection, "adbc_get_info"):
            return True
        is_duckdb = type(connection).__module__.partition(".")[0] in ("duckdb", "_duckdb")
        return is_duckdb and hasattr(connection.sql("SELECT 1"), "__arrow_c_stream__")

    def look(self, query):
        """The rows of a query, as a table, and of which types its columns are."""
        with self._result(query) as (result, types):
            return Table.from_stream(result.__arrow_c_stream__()).again(), _ArrowTypes(types)

    def read(self, query, types, names):
        """The rows of a query, as tables."""
        with self._result(query) as (result, _):
            yield Table.from_stream(result.__arrow_c_stream__())

    def numbers(self, query):
        """The only row of a query."""
        if not self._is_adbc():
            return self._connection.execute(query).fetchall()[0]
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(query)
            return cursor.fetchall()[0]

    def _is_adbc(self):
        return hasattr(self._connection, "adbc_get_info")

    @contextmanager
    def _result(self, query):
        if not self._is_adbc():
            relation = self._connection.sql(query)
            yield relation, dict(zip(relation.columns, map(str, relation.types)))
            return
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
            yield reader, {field.name: str(field.type) for field in reader.schema}


class _ArrowTypes:
    """The columns of a result, by their names. What cannot be read is refused where it is read."""

    def __init__(self, types):
        self.names, self._types = list(types), types

    def texts(self):
        return [name for name, type in self._types.items() if type.upper() in ("VARCHAR", "STRING", "LARGE_STRING", "STRING_VIEW")]

    def floats(self):
        return [name for name, type in self._types.items() if type.upper() in ("DOUBLE", "FLOAT", "REAL", "HALFFLOAT")]

    def check(self, columns):
        pass


class Typed:
    """A connection whose results are rows of Python's values."""

    def __init__(self, connection):
        self._connection = connection

    def look(self, query):
        """The first rows of a query, as a table, and of which types its columns are."""
        with _Cursor(self._connection, query) as cursor:
            names = [column[0] for column in cursor.description]
            columns = _columns(cursor.fetchall(), len(names))
        types = _Types(dict(zip(names, map(_type_of, columns))))
        types.names = names
        return types.table(names, columns), types

    def read(self, query, types, names):
        """The rows of a query, as tables."""
        with _Cursor(self._connection, query) as cursor:
            while True:
                rows = cursor.fetchmany(_ROWS)
                yield types.table(names, _columns(rows, len(names)))
                if len(rows) < _ROWS:
                    return

    def numbers(self, query):
        """The only row of a query."""
        with _Cursor(self._connection, query) as cursor:
            return tuple(cursor.fetchall()[0])


class _Cursor:
    """The result of a query, which stays with the database until it is fetched, where that can be had."""

    def __init__(self, connection, query):
        module = type(connection).__module__.partition(".")[0]
        if module == "psycopg":
            from psycopg.rows import tuple_row

            self._cursor = connection.cursor(name="priory_rows", row_factory=tuple_row)
            self._cursor.itersize = _ROWS
        else:
            self._cursor = connection.cursor()
            if module == "sqlite3":
                self._cursor.row_factory = None
        self._query = query

    def __enter__(self):
        self._cursor.execute(self._query)
        return self._cursor

    def __exit__(self, *_):
        self._cursor.close()


def _columns(rows, width):
    return [list(column) for column in zip(*rows)] if rows else [[] for _ in range(width)]


class _Types:
    """What the columns of a table hold, by their names, as their first rows have it. Later rows must not say otherwise."""

    def __init__(self, types):
        self.names, self._types = list(types), types

    def texts(self):
        return [name for name, type in self._types.items() if type in ("text", "mixed")]

    def floats(self):
        return [name for name, type in self._types.items() if type == "number"]

    def check(self, columns):
        for name in columns:
            if self._types[name].startswith("nested "):
                raise ValueError(f"the column {name!r} holds {self._types[name].removeprefix('nested ')}s, which cannot be counted")

    def table(self, names, columns):
        # What is not among the columns of the table are counts.
        typed = [(name, _typed(name, self._types.get(name, "integer"), values)) for name, values in zip(names, columns)]
        return Table.from_columns(typed)


_WRITTEN = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)


def _type_of(values):
    """One word for what a column holds."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds or kinds == {str}:
        return "text"
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    if kinds <= {int, float}:
        return "number"
    nested = [kind for kind in kinds if issubclass(kind, (list, tuple, dict, set))]
    if nested:
        return f"nested {nested[0].__name__}"
    if all(issubclass(kind, _WRITTEN) for kind in kinds):
        return "written"
    return "mixed"


def _typed(name, kind, values):
    """The values of a column, which the first rows say to be of this kind."""
    if kind == "boolean" and all(value is None or value is True or value is False for value in values):
        return values
    if kind == "integer" and all(value is None or type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return values
    if kind in ("integer", "number") and all(value is None or type(value) in (int, float) for value in values):
        if kind == "integer" and any(type(value) is float for value in values):
            raise _other(name, kind, next(value for value in values if type(value) is float))
        return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    if kind in ("boolean", "integer", "number"):
        fits = {"boolean": (bool,), "integer": (int,), "number": (int, float)}[kind]
        raise _other(name, kind, next(value for value in values if value is not None and type(value) not in fits))
    return [None if value is None else _text(name, value) for value in values]


def _other(name, kind, value):
    return ValueError(
        f"the column {name!r} holds {kind}s in its first rows, and further on {value!r}; let the query cast it to one type"
    )


def _text(name, value):
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise ValueError(f"the column {name!r} holds bytes that are not UTF-8 text; leave it out of the query") from None
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    return str(value) if isinstance(value, (str, *_WRITTEN)) else label_text(value)

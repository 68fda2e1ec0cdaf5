"""Training from inside a database: it counts, and the model is that of its rows, to the last bit."""

import re
from contextlib import contextmanager, nullcontext

from priory import _priory
from priory._database import Arrow, Typed, dialect_of
from priory._model import NaiveBayes

# The first rows say what the columns are, and which of them have mostly different values.
FIRST_ROWS = 10_000

_QUERY = re.compile(r"\s*(--|/\*|\(|(select|with|from|values)\b)", re.IGNORECASE)


def fit(connection, table_or_query, target, *, dialect=None, **options):
    """Learn from rows that stay in their database.

    The database is asked how often each value of each column occurs in each class, one column after the other. A column of mostly
    different values is read instead, together with the classes. The model is the one that `fit` gives for the same rows with
    `judge="none"`, to the last bit; `judge_again` judges it by the rows.

    Parameters
    ----------
    connection : DB-API or ADBC connection
        An open connection to DuckDB, SQLite, PostgreSQL, or another database whose SQL follows the standard. All is counted in one
        transaction, unless one has begun, which then has to show the same rows all the time.
    table_or_query : str or tuple of str
        A table, whose name may have several parts with points between them; a tuple of the parts, whatever is in them; or a query,
        which begins with SELECT, WITH, FROM or VALUES.
    target : str
        The column to predict.
    dialect : {"duckdb", "postgresql", "sqlite", "standard"}, default=None
        How the database writes SQL; known from the connection unless it is said.
    **options
        Anything that `NaiveBayes` takes, such as `kinds`. Text, joint tables and groups are not possible.

    Returns
    -------
    model : NaiveBayes
        The model.

    Examples
    --------
    >>> import sqlite3
    >>> days = sqlite3.connect(":memory:")
    >>> _ = days.execute("CREATE TABLE days (outlook, wind, play)")
    >>> _ = days.executemany("INSERT INTO days VALUES (?, ?, ?)", [("rain", 3, "no"), ("sun", 1, "yes"), ("sun", 2, "yes")])
    >>> model = fit(days, "days", "play", kinds={"wind": "number"})
    >>> model.class_count_.tolist()
    [1.0, 2.0]
    """
    model = NaiveBayes(**options)
    choices = model._counting_choices()
    dialect = dialect_of(connection) if dialect is None else dialect
    queries = _queries(dialect, table_or_query)
    with _snapshot(connection):
        database = _database(connection)
        look, types = database.look(queries.first_rows(FIRST_ROWS))
        _check_target(target, types)
        counts = _priory.Counts.of_rows(look, target, choices)
        types.check([target, *counts.sources()])
        texts = types.texts()
        read = _to_be_read(database, dialect, counts, target, types)
        count = "count"
        while count in types.names:
            count += "_"
        for column in counts.sources():
            if column in read or _is_mostly_different(database, queries, column):
                for table in database.read(queries.rows(target, column), types, [target, column]):
                    counts.observe(column, table)
            else:
                query = queries.counts(target, column, count, texts)
                for table in database.read(query, types, [target, column, count]):
                    counts.observe(column, table, count)
        model._take(counts.learnt())
    return model


def _queries(dialect, table_or_query):
    if isinstance(table_or_query, str):
        if _QUERY.match(table_or_query):
            return _priory.Queries.of_query(dialect, table_or_query)
        return _priory.Queries.of_table(dialect, table_or_query.split("."))
    if isinstance(table_or_query, (tuple, list)) and all(isinstance(part, str) for part in table_or_query):
        return _priory.Queries.of_table(dialect, list(table_or_query))
    raise TypeError(f"table_or_query: expected a name, a query or a tuple of names, not {type(table_or_query).__name__}")


def _check_target(target, types):
    if target not in types.names:
        raise ValueError(f"there is no column {target!r} to predict; there are {', '.join(map(repr, types.names))}")
    twice = {name for name in types.names if types.names.count(name) > 1}
    if twice:
        raise ValueError(f"the query gives two columns called {sorted(twice)[0]!r}; name one of them otherwise with AS")


def _to_be_read(database, dialect, counts, target, types):
    """The columns whose values a database would not tell apart as they are told apart here."""
    # It takes -0.0 and 0.0 for one number, which is right unless numbers are categories.
    read = set(counts.categories()).intersection(types.floats())
    if dialect == "standard" and database.numbers(_TAKES_FOR_EQUAL)[0]:
        # Whoever takes capital letters for small ones, or passes over spaces, would count them as one.
        read.update(counts.sources() if target in types.texts() else types.texts())
    return read


_TAKES_FOR_EQUAL = "SELECT CASE WHEN 'a' = 'A' OR 'a' = 'a ' THEN 1 ELSE 0 END"


def _is_mostly_different(database, queries, column):
    """Whether to group a column would give about as many rows as there are, so that it is as well read as it is."""
    return 2 * database.numbers(queries.distinct([column], FIRST_ROWS))[-1] > FIRST_ROWS


def _database(connection):
    """How tables come out of this connection: as Arrow has them, if it can, or as rows."""
    return Arrow(connection) if Arrow.can_read(connection) else Typed(connection)


def _snapshot(connection):
    """What keeps the rows as they are while they are counted, as far as this can be had from the connection."""
    module = type(connection).__module__.partition(".")[0]
    if module in ("duckdb", "_duckdb"):
        return _of_duckdb(connection)
    if module == "sqlite3" and not connection.in_transaction:
        return _of_sqlite(connection)
    if module == "psycopg" and connection.info.transaction_status == 0:
        return _of_psycopg(connection)
    return nullcontext()


@contextmanager
def _of_duckdb(connection):
    try:
        connection.begin()
    except Exception:  # DuckDB has begun one already
        yield
        return
    try:
        yield
    finally:
        connection.rollback()


@contextmanager
def _of_sqlite(connection):
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def _of_psycopg(connection):
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield

"""Models that a database has counted are those of its rows, to the last bit."""

import datetime
import decimal
import os
import pwd
import random
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_model import program  # noqa: F401  (a fixture)

import priory.sql
from priory import NaiveBayes

duckdb = pytest.importorskip("duckdb")

ROWS = 200_000
CLASS = 'O\'Brien "x"'
TARGET = 'the "class"; --'
COLOUR = "col'our\"; DROP TABLE kept; --"
COLOURS = ["red", "Red", "red ", "", "NULL", "näher", "灰", "'; DROP TABLE kept; --", CLASS, None]
KINDS = {"flag": "category", "price": "number"}


def rows(n=ROWS, seed=1):
    """Columns of everything that a database and a table might tell apart otherwise, as Python has them."""
    rng = random.Random(seed)
    classes = rng.choices([CLASS, "yes", "Yes", "no", None], [5, 40, 3, 50, 2], k=n)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=day) for day in range(400)]
    prices = [decimal.Decimal(cents).scaleb(-2) for cents in range(-50, 2_000, 7)]

    def sparse(values, missing=0.05):
        return [None if rng.random() < missing else value for value in values]

    return {
        TARGET: classes,
        COLOUR: rng.choices(COLOURS, k=n),
        "few": sparse(rng.choices(range(-3, 40), k=n)),
        "price": sparse(rng.choices(prices, k=n)),
        # Mostly different numbers are read, and not grouped.
        "length": sparse(rng.gauss(1e9, 3.0) for _ in range(n)),
        "zero": sparse(rng.choices([0.0, -0.0, 1.5, 1e300, -5e-324], k=n)),
        "flag": sparse(rng.choices([True, False], k=n)),
        "day": sparse(rng.choices(days, k=n)),
        "nothing": [None] * n,
        "once": ["here" if i == 17 else None for i in range(n)],
        "rare": ["only here" if value == CLASS else "elsewhere" for value in classes],
    }


def of_rows(columns, target=TARGET, **options):
    """The model of the same rows, read as a table."""
    known = [i for i, value in enumerate(columns[target]) if value is not None]
    frame = {name: [values[i] for i in known] for name, values in columns.items()}
    y = frame.pop(target)
    X = {name: [str(value) if isinstance(value, (datetime.date, decimal.Decimal)) else value for value in values] for name, values in frame.items()}
    return NaiveBayes(**{"judge": "none", **options}).fit(X, pd.Series(y, name=target))


def as_in_sqlite(columns):
    """What SQLite stores for these values: it has neither truth values nor decimals nor dates."""
    plain = {bool: int, decimal.Decimal: float, datetime.date: str}
    change = lambda value: plain.get(type(value), lambda same: same)(value)  # noqa: E731
    return {name: [change(value) for value in values] for name, values in columns.items()}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


TYPES = ["VARCHAR(99)", "VARCHAR(99)", "INTEGER", "DECIMAL(12, 2)", "DOUBLE PRECISION", "DOUBLE PRECISION", "BOOLEAN", "DATE", "VARCHAR(9)", "VARCHAR(9)", "VARCHAR(9)"]


def create(names, types=TYPES, table='a "table"; DROP TABLE kept; --'):
    columns = ", ".join(f"{quoted(name)} {type}" for name, type in zip(names, types))
    return f"CREATE TABLE {quoted(table)} ({columns})"


TABLE = ('a "table"; DROP TABLE kept; --',)


@pytest.fixture(scope="module")
def table():
    return rows()


@pytest.fixture(scope="module")
def in_duckdb(table):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kept (x INTEGER)")
    connection.execute(create(table))
    frame = pd.DataFrame({f"c{i}": pd.Series(values, dtype=object) for i, values in enumerate(table.values())})
    frame["c5"] = frame["c5"].astype(float)
    arrow = pytest.importorskip("pyarrow").table({name: frame[name].tolist() for name in frame})  # noqa: F841
    connection.execute(f"INSERT INTO {quoted(TABLE[0])} SELECT * FROM arrow")
    yield connection
    assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


@pytest.fixture(scope="module")
def in_sqlite(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("sqlite") / "rows.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE kept (x)")
    # Their collation takes Red for red.
    connection.execute(create(table, ["TEXT COLLATE NOCASE", "TEXT COLLATE NOCASE"] + TYPES[2:]))
    places = ", ".join("?" * len(table))
    connection.executemany(f"INSERT INTO {quoted(TABLE[0])} VALUES ({places})", zip(*as_in_sqlite(table).values()))
    connection.commit()
    yield connection, path
    assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


class Server:
    """A PostgreSQL server of its own, as a user that is not root, without a port."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="priory-"))
        self.user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.folder.chmod(0o700)
        if os.getuid() == 0:
            shutil.chown(self.folder, self.user)
        self.run("initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8")
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off"
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start")

    def run(self, command, *arguments):
        found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{command}")) or [shutil.which(command)]
        as_user = ["setpriv", f"--reuid={self.user}", "--clear-groups"] if os.getuid() == 0 else []
        done = subprocess.run([*as_user, str(found[-1]), *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


def server_is_there():
    return shutil.which("initdb") is not None or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture(scope="module")
def server():
    if not server_is_there():
        assert not os.environ.get("PRIORY_NEEDS_POSTGRESQL"), "the PostgreSQL server is not installed"
        pytest.skip("the PostgreSQL server is not installed")
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def in_postgresql(table, server):
    psycopg = pytest.importorskip("psycopg")
    connection = psycopg.connect(f"host={server.folder} user=tester dbname=postgres")
    connection.execute("CREATE TABLE kept (x INTEGER)")
    connection.execute(create(table))
    with connection.cursor().copy(f"COPY {quoted(TABLE[0])} FROM STDIN") as copy:
        for row in zip(*table.values()):
            copy.write_row(row)
    connection.commit()
    yield connection
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    connection.close()


@pytest.fixture(scope="module")
def expected(table):
    return of_rows(table, kinds=KINDS)


def test_duckdb(in_duckdb, expected):
    assert priory.sql.fit(in_duckdb, TABLE, TARGET, kinds=KINDS) == expected


def test_sqlite(in_sqlite, table):
    connection, _ = in_sqlite
    assert priory.sql.fit(connection, TABLE, TARGET, kinds=KINDS) == of_rows(as_in_sqlite(table), kinds=KINDS)
    assert not connection.in_transaction


def test_postgresql(in_postgresql, expected):
    assert priory.sql.fit(in_postgresql, TABLE, TARGET, kinds=KINDS) == expected
    assert in_postgresql.info.transaction_status == 0
    # In a transaction that somebody else has begun, and that is left as it is.
    in_postgresql.execute("SELECT 1")
    assert priory.sql.fit(in_postgresql, TABLE, TARGET, kinds=KINDS) == expected
    assert in_postgresql.info.transaction_status == 2
    in_postgresql.rollback()
    with pytest.raises(ValueError, match="two columns called 'x'"):
        priory.sql.fit(in_postgresql, "SELECT 1 AS x, 2 AS x, 'a' AS y", "y")


def test_adbc(in_sqlite, in_postgresql, server, expected, table):
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(f"postgresql://tester@/postgres?host={server.folder}") as connection:
        assert priory.sql.fit(connection, TABLE, TARGET, kinds=KINDS) == expected
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with dbapi.connect(str(in_sqlite[1])) as connection:
        assert priory.sql.fit(connection, TABLE, TARGET, kinds=KINDS) == of_rows(as_in_sqlite(table), kinds=KINDS)


@pytest.mark.parametrize("options", [{"numbers": "gaussian", "kinds": {"zero": "ignore"}}, {"smoothing": 0.5, "kinds": {"few": "category", "zero": "category", "length": "ignore", "flag": "number"}}, {"missing": ["red", "NULL"], "missing_values": "counted"}])
def test_options_mean_the_same(in_duckdb, table, options):
    query = f"SELECT * FROM {quoted(TABLE[0])} -- all of them\n;"
    assert priory.sql.fit(in_duckdb, query, TARGET, **options) == of_rows(table, **options)


def test_what_is_said_of_the_columns(in_duckdb, expected):
    model = priory.sql.fit(in_duckdb, TABLE, TARGET, kinds=KINDS)
    assert "nothing" not in model.kinds_ and model.kinds_["day"] == "date" and model.kinds_["length"] == "number"
    assert model.classes_.tolist() == [CLASS, "Yes", "no", "yes"]
    X = {COLOUR: ["red"], "few": [3]}
    assert (model.predict_proba(X) == expected.predict_proba(X)).all()


def test_a_sample_is_read_and_counts_are_not_all(in_duckdb, monkeypatch):
    asked = []
    sql = type(in_duckdb).sql

    class Watched:
        __module__ = "duckdb"

        def __getattr__(self, name):
            return getattr(in_duckdb, name)

        def sql(self, query):
            asked.append(query)
            return sql(in_duckdb, query)

    priory.sql.fit(Watched(), TABLE, TARGET, kinds=KINDS)
    grouped = [query for query in asked if "GROUP BY" in query]
    read = [query for query in asked if query.startswith('SELECT "the ""class""; --", ')]
    assert len(grouped) == 8 and len(read) == 1 and '"length"' in read[0]
    assert not any("sum(" in query.lower() for query in asked)


def small(values, target=("a", "b", "a"), types=("VARCHAR", "DOUBLE")):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (y {types[0]}, x {types[1]})")
    if values:
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(zip(target, values)))
    return connection


def test_edges():
    # NaN is missing, as it is in rows; so are the spellings of missing, but not otherwise.
    values = [float("nan"), 1.0, None] * 20
    classes = ["a", "b", "c"] * 20
    connection = small(values, classes)
    expected = NaiveBayes(judge="none").fit({"x": values}, pd.Series(classes, name="y"))
    assert priory.sql.fit(connection, "t", "y") == expected
    texts = ["", None, "NA", "NULL", "null", "a"] * 10
    connection = small(texts, ["p", "q", "p", "q", "p", "q"] * 10, ("VARCHAR", "VARCHAR"))
    for missing in (None, ["NA"], []):
        expected = NaiveBayes(judge="none", missing=missing).fit({"x": texts}, pd.Series(["p", "q"] * 30, name="y"))
        assert priory.sql.fit(connection, "main.t", "y", missing=missing) == expected
    with pytest.raises(ValueError, match="infin|inf"):
        priory.sql.fit(small([float("inf"), 1.0, 2.0]), "t", "y")
    with pytest.raises(ValueError, match="no rows"):
        priory.sql.fit(small([]), "t", "y")
    with pytest.raises(ValueError, match="no columns are left"):
        priory.sql.fit(small([None, None, None]), "t", "y")
    # Whole numbers as classes, and values of one class alone.
    connection = small([1.5, 2.5, 1.5], [1, 2, 1], ("INTEGER", "DOUBLE"))
    assert priory.sql.fit(connection, "t", "y").classes_.tolist() == [1, 2]


def moments():
    """Some moments, and their classes."""
    rng = random.Random(2)
    start, day = datetime.datetime(2024, 1, 1), 86_400_000_000
    when = [start + datetime.timedelta(microseconds=rng.choice([1, 1_000_000]) * rng.randrange(100 * day) // 1_000) for _ in range(300)]
    when = [None if rng.random() < 0.1 else moment for moment in when] * 2
    classes = rng.choices("ab", k=len(when))
    X = {"x": [None if moment is None else str(moment) for moment in when]}
    return when, classes, NaiveBayes(judge="none").fit(X, pd.Series(classes, name="y"))


def test_moments_in_duckdb():
    when, classes, expected = moments()
    assert priory.sql.fit(small(when, classes, ("VARCHAR", "TIMESTAMP")), "t", "y") == expected
    assert expected.kinds_ == {"x": "date"}


def test_moments_in_postgresql(in_postgresql, server):
    when, classes, expected = moments()
    in_utc = [None if moment is None else moment.replace(tzinfo=datetime.timezone.utc) for moment in when]
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    for name, type, values in [("plain", "timestamp", when), ("zoned", "timestamptz", in_utc)]:
        in_postgresql.execute(f"CREATE TABLE {name} (y text, x {type})")
        in_postgresql.cursor().executemany(f"INSERT INTO {name} VALUES (%s, %s)", list(zip(classes, values)))
        in_postgresql.commit()
        in_postgresql.execute("SET timezone = 'Asia/Tokyo'")
        assert priory.sql.fit(in_postgresql, f"public.{name}", "y") == expected
        in_postgresql.rollback()
        with dbapi.connect(f"postgresql://tester@/postgres?host={server.folder}") as connection:
            assert priory.sql.fit(connection, name, "y") == expected


def test_what_cannot_be_counted_is_refused():
    words = ["the quick brown fox jumps", "over the lazy dog again", "and the cat sleeps all day"] * 10
    words = [f"{text} {i}" for i, text in enumerate(words)]
    connection = small(words, ["a", "b", "a"] * 10, ("VARCHAR", "VARCHAR"))
    with pytest.raises(ValueError, match="`x` is text, which nobody divides into tokens.*kinds=.*ignore"):
        priory.sql.fit(connection, "t", "y")
    for kind in ("joint", "group"):
        with pytest.raises(ValueError, match="counted together with others"):
            priory.sql.fit(small([1.0, 2.0, 3.0]), "t", "y", kinds={"x": kind})
    connection = small([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="there is no column 'z' to predict; there are 'y', 'x'"):
        priory.sql.fit(connection, "t", "z")
    for judge in ("full", "weights"):
        with pytest.raises(ValueError, match="judge_again"):
            priory.sql.fit(connection, "t", "y", judge=judge)
    with pytest.raises(ValueError, match="half_life"):
        priory.sql.fit(connection, "t", "y", half_life=5)
    with pytest.raises(ValueError, match="class_weight"):
        priory.sql.fit(connection, "t", "y", class_weight="balanced")
    with pytest.raises(ValueError, match="dialect: expected standard, duckdb"):
        priory.sql.fit(connection, "t", "y", dialect="oracle")
    for nobody in (None, "sqlite:///x.db", 3):
        with pytest.raises(TypeError, match="connection"):
            priory.sql.fit(nobody, "t", "y")
    with pytest.raises(TypeError, match="table_or_query"):
        priory.sql.fit(connection, 3, "y")
    with pytest.raises(ValueError, match="without a name"):
        priory.sql.fit(connection, "", "y")
    with pytest.raises(ValueError, match="NUL"):
        priory.sql.fit(connection, "a\0b", "y")


def _sqlite(values, types=("", "")):
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t (x {types[0]}, y {types[1]})")
    connection.executemany("INSERT INTO t VALUES (?, ?)", values)
    connection.commit()
    return connection


def test_columns_of_several_types():
    values = [(1, "a"), (1.0, "b"), ("1", "a"), ("x", "b"), (b"bytes", "a"), (2, "b")] * 20
    X, y = {"x": [value for value, _ in values]}, pd.Series([label for _, label in values], name="y")
    assert priory.sql.fit(_sqlite(values), "t", "y", kinds={"x": "category"}) == NaiveBayes(judge="none", kinds={"x": "category"}).fit(X, y)
    # What comes late cannot change what the first rows were.
    late = [(1, "a"), (2, "b")] * 6_000 + [(0.5, "a")]
    with pytest.raises(ValueError, match="'x' holds integers in its first rows, and further on 0.5; let the query cast"):
        priory.sql.fit(_sqlite(late), "t", "y")
    cast = priory.sql.fit(_sqlite(late), "SELECT CAST(x AS REAL) AS x, y FROM t", "y", kinds={"x": "number"})
    X, y = {"x": [float(value) for value, _ in late]}, pd.Series([label for _, label in late], name="y")
    assert cast == NaiveBayes(judge="none", kinds={"x": "number"}).fit(X, y)
    with pytest.raises(ValueError, match="bytes that are not UTF-8"):
        priory.sql.fit(_sqlite([(b"\xff", "a"), (b"\xfe", "b")] * 9), "t", "y")


def test_a_table_that_changes_meanwhile_is_noticed():
    connection = small([1.0, 2.0, 3.0] * 10, ["a", "b", "a"] * 10)
    connection.execute("ALTER TABLE t ADD COLUMN z VARCHAR DEFAULT 'same'")
    sql = type(connection).sql

    class Changing:
        __module__ = "duckdb"
        asked = 0

        def __getattr__(self, name):
            return getattr(connection, name)

        def sql(self, query):
            if "GROUP BY" in query:
                self.asked += 1
                if self.asked == 2:
                    connection.execute("INSERT INTO t VALUES ('b', 9, 'late')")
            return sql(connection, query)

    with pytest.raises(ValueError, match="changed while they were counted: the counts of the column `x` add up to 10 in the class `b`, which weighs 11"):
        priory.sql.fit(Changing(), "t", "y", kinds={"x": "number", "z": "category"})


class Standard:
    """A connection of which nothing is known but that it is one of DB-API."""

    def __init__(self, connection, equal):
        self._connection, self._equal = connection, equal

    def cursor(self):
        return StandardCursor(self._connection.cursor(), self._equal)


class StandardCursor:
    def __init__(self, cursor, equal):
        self._cursor, self._equal = cursor, equal

    def __getattr__(self, name):
        return getattr(self._cursor, name)

    def execute(self, query):
        # A database that takes Red for red says so, and must not be asked to group them.
        assert not self._equal or "GROUP BY" not in query
        return self._cursor.execute("SELECT 1" if self._equal and query.startswith("SELECT CASE") else query)


@pytest.mark.parametrize("equal", [False, True])
def test_a_database_that_nobody_knows(in_sqlite, equal):
    values = [("red", "a"), ("Red", "b"), (None, "a"), ("red ", "b")] * 10
    X, y = {"x": [value for value, _ in values]}, pd.Series([label for _, label in values], name="y")
    expected = NaiveBayes(judge="none").fit(X, y)
    assert priory.sql.fit(Standard(_sqlite(values), equal), "t", "y") == expected


def counts_of(columns, target=TARGET):
    """The same rows as a table of counts."""
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame = frame[frame[target].notna()]
    written = lambda value: None if value is None else str(value).lower() if isinstance(value, bool) else str(value)  # noqa: E731
    parts = [frame.groupby(target).size().reset_index(name="weight").rename(columns={target: "class"}).assign(column=None, value=None)]
    for name in columns:
        if name != target:
            part = pd.DataFrame({"class": frame[target], "value": frame[name].map(written, na_action=None)})
            part = part.groupby(["class", "value"], dropna=False).size().reset_index(name="weight")
            parts.append(part.assign(column=name))
    counts = pd.concat(parts, ignore_index=True)
    return counts[["column", "class", "value", "weight"]].astype({"column": object, "value": object}).where(lambda table: table.notna(), None)


def test_counts():
    columns = rows(3_000)
    counts = counts_of(columns)
    expected = of_rows(columns, kinds=KINDS)
    for table in (counts, counts.sample(frac=1, random_state=3), counts.to_dict("list"), counts.to_dict("records")):
        kinds = {**KINDS, "nothing": "ignore"}
        model = NaiveBayes.from_counts(table, TARGET, kinds=kinds)
        if table is counts:
            assert model == expected
        assert model.class_count_.sum() == expected.class_count_.sum()
    model = NaiveBayes(kinds=KINDS).fit_counts(counts, target=TARGET)
    known = [i for i, value in enumerate(columns[TARGET]) if value is not None]
    assert (model.predict_proba({COLOUR: ["red"]}) == expected.predict_proba({COLOUR: ["red"]})).all()
    assert len(known) == model.class_count_.sum()
    # It learns more rows, and can be judged by all of them.
    X = {name: [str(values[i]) if values[i] is not None else None for i in known] for name, values in columns.items() if name in ("few", "length")}
    y = [columns[TARGET][i] for i in known]
    two = counts[counts.column.isna() | counts.column.isin(["few", "length"])]
    counted = NaiveBayes.from_counts(two, TARGET)
    assert counted.judge_again(X, y) == NaiveBayes().fit(X, pd.Series(y, name=TARGET))


def test_counts_that_do_not_add_up():
    counts = {"column": [None, "x", "x"], "class": ["a", "a", "b"], "value": [None, "1", "2"], "weight": [5, 3, 2]}
    with pytest.warns(UserWarning, match=r"taken as missing, since it was not counted: 'x' \(2\)"):
        model = NaiveBayes.from_counts(counts)
    assert model.class_count_.tolist() == [5.0, 2.0]
    with pytest.raises(ValueError, match="the counts of the column `x` add up to 3 in the class `a`, which weighs 1"):
        NaiveBayes.from_counts({**counts, "weight": [1, 3, 2]})
    with pytest.raises(ValueError, match="row 3: the weight -2 is not"):
        NaiveBayes.from_counts({**counts, "weight": [5, 3, -2]})
    with pytest.raises(ValueError, match="columns column, class, value and weight"):
        NaiveBayes.from_counts({"column": ["x"], "class": ["a"]})


DIALECTS = {"sqlite": "sqlite", "postgresql": "postgresql", "duckdb": "duckdb"}


def read_csv(columns, path):
    pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()}).to_csv(path, index=False)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_printed_queries(tmp_path, program, request, table, dialect):  # noqa: F811
    """`priory sql` prints a query, the database's own program runs it, and `priory train --counts` takes what comes out."""
    columns = as_in_sqlite(table) if dialect == "sqlite" else table
    if dialect == "postgresql":
        # As the server writes them.
        columns = {**columns, "flag": [None if value is None else str(value).lower() for value in columns["flag"]]}
    elif dialect == "duckdb":
        columns = {**columns, "flag": [None if value is None else str(value).lower() for value in columns["flag"]]}
    read_csv(columns, tmp_path / "rows.csv")
    kinds = ["--as", "price=number,flag=category", "--target", TARGET]
    program("schema", tmp_path / "rows.csv", *kinds, "-o", tmp_path / "schema.json")
    program("train", tmp_path / "rows.csv", "--schema", tmp_path / "schema.json", "--judge", "none", "-o", tmp_path / "rows.priory")
    query = program("sql", "--schema", tmp_path / "schema.json", "--table", TABLE[0], "--table", TABLE[0], "--dialect", dialect)
    query = program("sql", "--schema", tmp_path / "schema.json", "--query", f"SELECT * FROM {quoted(TABLE[0])}", "--dialect", dialect)
    if dialect == "sqlite":
        if shutil.which("sqlite3") is None:
            cursor = request.getfixturevalue("in_sqlite")[0].execute(query)
            text = pd.DataFrame(cursor.fetchall(), columns=["column", "class", "value", "weight"]).to_csv(index=False)
        else:
            path = request.getfixturevalue("in_sqlite")[1]
            text = subprocess.run(["sqlite3", "-csv", "-header", str(path)], input=query, capture_output=True, text=True, check=True).stdout
    elif dialect == "postgresql":
        request.getfixturevalue("in_postgresql")
        server = request.getfixturevalue("server")
        call = ["psql", "--csv", "-q", "-h", str(server.folder), "-U", "tester", "-d", "postgres"]
        text = subprocess.run(call, input=query, capture_output=True, text=True, check=True).stdout
    else:
        relation = request.getfixturevalue("in_duckdb").sql(query.rstrip().rstrip(";"))
        relation.to_csv(str(tmp_path / "counts.csv"))
        text = (tmp_path / "counts.csv").read_text()
    (tmp_path / "counts.csv").write_text(text)
    program("train", "--counts", tmp_path / "counts.csv", "--schema", tmp_path / "schema.json", "-o", tmp_path / "counts.priory")
    assert (tmp_path / "counts.priory").read_bytes() == (tmp_path / "rows.priory").read_bytes()

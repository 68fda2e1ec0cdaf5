"""DataFrames with everything that they may hold: the right answer, or one clear error that names the column."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import priory
from priory import NaiveBayes

ROWS = 40
Y = np.array(["a", "b"] * (ROWS // 2))
SHIFT = np.where(Y == "a", 0, 3)


def probabilities(X, **parameters):
    return NaiveBayes(**parameters).fit(X, Y).predict_proba(X)


def test_the_same_table_in_all_its_forms():
    rng = np.random.default_rng(0)
    size = rng.normal(size=ROWS) + SHIFT
    colour = np.where(rng.random(ROWS) < 0.7, Y, "b").astype(object)
    size[3], colour[4] = np.nan, None
    frame = pd.DataFrame({"size": size, "colour": colour})
    tables = {
        "pandas": frame,
        "pandas category": frame.astype({"colour": "category"}),
        "pandas string": frame.astype({"colour": "string"}),
        "pandas arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas nullable": frame.convert_dtypes(),
        "pandas index": frame.set_axis([f"row {i}" for i in range(ROWS)]),
        "polars": pl.DataFrame({"size": size, "colour": colour.tolist()}).fill_nan(None),
        "polars nan": pl.DataFrame({"size": size, "colour": colour.tolist()}),
        "polars enum": pl.DataFrame({"size": size, "colour": colour.tolist()}).with_columns(
            pl.col("colour").cast(pl.Categorical)
        ),
        "pyarrow": pa.table({"size": pa.array(size, from_pandas=True), "colour": colour.tolist()}),
        "pyarrow chunks": pa.concat_tables(
            [pa.table({"size": size[i : i + 7], "colour": colour[i : i + 7].tolist()}) for i in range(0, ROWS, 7)]
        ),
        "objects": None,
    }
    expected = probabilities(frame)
    for name, table in tables.items():
        if table is not None:
            assert probabilities(table).tobytes() == expected.tobytes(), name
    objects = np.array([size, colour], dtype=object).T
    assert probabilities(objects).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, bool])
def test_numpy_of_every_type_and_layout(dtype):
    rng = np.random.default_rng(1)
    X = (rng.poisson(2, (ROWS, 3)) + SHIFT[:, None]).astype(dtype)
    expected = probabilities(X.astype(float))
    for same in (X, np.asfortranarray(X), X[::-1][::-1], sp.csr_matrix(X), sp.coo_matrix(X), sp.csc_array(X)):
        assert probabilities(same).tobytes() == expected.tobytes()


def test_nullable_integers_and_booleans():
    X = pd.DataFrame({"n": pd.array([1, None, 3, 4] * 10, dtype="Int64"), "b": pd.array([True, None] * 20, dtype="boolean")})
    model = NaiveBayes().fit(X, Y)
    assert model.kinds_ == {"n": "number", "b": "category"}


def test_dates_are_days():
    days = [datetime.datetime(2024, 1, 1 + int(shift), i % 24) for i, shift in enumerate(SHIFT)]
    X = pd.DataFrame({"when": days})
    X.loc[5, "when"] = pd.NaT
    as_numbers = (X["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    expected = probabilities(pd.DataFrame({"when": as_numbers}), kinds={"when": "gaussian"})
    np.testing.assert_allclose(probabilities(X, kinds={"when": "gaussian"}), expected, rtol=1e-9)
    np.testing.assert_allclose(probabilities(pl.from_pandas(X), kinds={"when": "gaussian"}), expected, rtol=1e-9)
    objects = X.astype(object)
    np.testing.assert_allclose(probabilities(objects, kinds={"when": "gaussian"}), expected, rtol=1e-9)


def test_text_is_read_as_text():
    X = pd.DataFrame({"said": [f"{'good' if y == 'a' else 'bad'} words number {i} are here" for i, y in enumerate(Y)]})
    model = NaiveBayes().fit(X, Y)
    assert model.kinds_ == {"said": "text"}
    assert (model.predict(X) == Y).all()


def test_columns_called_by_anything():
    X = pd.DataFrame({0: SHIFT + 0.5, 1: SHIFT - 0.5})
    model = NaiveBayes().fit(X, Y)
    assert list(model.kinds_) == ["0", "1"]
    X = pd.DataFrame({"class": SHIFT + 0.5, "class_": SHIFT + 1.5, "weight": SHIFT})
    assert (NaiveBayes().fit(X, Y, np.ones(ROWS)).predict(X) == Y).all()
    for twice in (pd.DataFrame([[1, 2]] * ROWS, columns=["x", "x"]), pd.DataFrame([[1, 2]] * ROWS, columns=["1", 1])):
        with pytest.raises(ValueError, match="two columns called"):
            NaiveBayes().fit(twice, Y)


def test_mixed_objects_in_a_column():
    X = pd.DataFrame({"code": np.array([1, "one", 2.5, None] * 10, dtype=object)})
    model = NaiveBayes().fit(X, Y)
    assert model.kinds_ == {"code": "category"}
    with pytest.raises(ValueError, match="'pair' holds lists"):
        NaiveBayes().fit(pd.DataFrame({"pair": [[1, 2], {}] * 20}), Y)
    with pytest.raises(ValueError, match="pair"):
        NaiveBayes().fit(pa.table({"pair": [[1, 2]] * ROWS}), Y)


def test_words_among_numbers():
    X = pd.DataFrame({"size": np.arange(ROWS) * 1.5})
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ValueError, match=r'row 2, column `size`: .large. is not a number; kinds=\{"size": "category"\}'):
        model.predict(pd.DataFrame({"size": ["1", "large"]}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_no_rows(make):
    empty = make({"size": np.array([], dtype=float)})
    with pytest.raises(ValueError, match="0 sample"):
        NaiveBayes().fit(empty, [])
    model = NaiveBayes().fit(make({"size": SHIFT + 0.5}), Y)
    assert model.predict(empty).shape == (0,) and model.predict_proba(empty).shape == (0, 2)


def test_one_class():
    model = NaiveBayes().fit(pd.DataFrame({"size": [1.0, 2.0]}), ["only", "only"])
    assert (model.predict_proba(pd.DataFrame({"size": [5.0]})) == [[1.0]]).all()


def test_unequal_lengths():
    for table in (pd.DataFrame({"x": [1.0, 2.0]}), pl.DataFrame({"x": [1.0, 2.0]}), np.ones((2, 1))):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            NaiveBayes().fit(table, ["a"])

    class Stream:  # whose length nobody knows
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"x": [1.0, 2.0]}).__arrow_c_stream__()

    with pytest.raises(ValueError, match="more rows than there are classes"):
        NaiveBayes().fit(Stream(), ["a"])
    with pytest.raises(ValueError, match="fewer rows than there are classes"):
        NaiveBayes().fit(Stream(), ["a", "b", "a"])
    assert (NaiveBayes().fit(Stream(), ["a", "b"]).predict(Stream()) == ["a", "b"]).all()


def test_missing_and_infinite():
    X = pd.DataFrame({"size": SHIFT + 0.5, "colour": ["NA", "red"] * 20})
    assert NaiveBayes().fit(X, Y).kinds_["colour"] == "category"
    counted = NaiveBayes(missing=[]).fit(X, Y).predict_proba(X)
    assert (counted != NaiveBayes().fit(X, Y).predict_proba(X)).any()
    with pytest.raises(ValueError, match="the class 'NA' is a spelling of a missing value"):
        NaiveBayes().fit(X, X["colour"])
    NaiveBayes(missing=[]).fit(X, X["colour"])
    X.loc[7, "size"] = np.inf
    with pytest.raises(ValueError, match="row 8.*size.*inf"):
        NaiveBayes().fit(X, Y)
    X["nothing"] = None
    assert NaiveBayes().fit(X.drop(columns="size"), Y).predict(X.drop(columns="size")).shape == (ROWS,)


def test_kinds_that_do_not_exist():
    X = pd.DataFrame({"size": SHIFT + 0.5})
    with pytest.raises(ValueError, match="kinds: size: `fish` is none of number"):
        NaiveBayes(kinds={"size": "fish"}).fit(X, Y)
    with pytest.raises(ValueError, match="sise"):
        NaiveBayes(kinds={"sise": "number"}).fit(X, Y)
    with pytest.raises(ValueError, match="no columns are left"):
        NaiveBayes(kinds={"*": "ignore"}).fit(X, Y)


def test_without_pyarrow(monkeypatch):
    """pandas needs pyarrow to hand over a stream; without it columns are taken one by one."""
    X = pd.DataFrame({"size": SHIFT + 0.5, "colour": ["red", None] * 20, "b": [True, False] * 20})
    expected = probabilities(X)

    def refuse(*_, **__):
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", refuse)
    assert probabilities(X).tobytes() == expected.tobytes()
    assert probabilities(X.astype({"colour": "category"})).tobytes() == expected.tobytes()


def written_frames():
    """The same table in strings as people write them, and plainly."""
    cents = [(i * 7919) % 250_000 for i in range(ROWS)]
    german = [f"{c // 100:,}".replace(",", ".") + f",{c % 100:02d} €" for c in cents]
    days = pd.date_range("2024-01-01", periods=ROWS)
    strings = pd.DataFrame({"price": german, "when": [day.strftime("%d.%m.%Y") for day in days]})
    return strings, pd.DataFrame({"price": [c / 100 for c in cents], "when": days})


def test_strings_are_read_as_people_write_them():
    strings, plain = written_frames()
    kinds = {"when": "date+weekday"}
    written, typed = NaiveBayes(kinds=kinds).fit(strings, Y), NaiveBayes(kinds=kinds).fit(plain, Y)
    assert written.kinds_ == typed.kinds_ == {"price": "number", "when": "date", "when weekday": "category"}
    assert written.show()["fingerprint"] == typed.show()["fingerprint"]
    assert (written.predict_proba(strings) == typed.predict_proba(plain)).all()
    row = strings.iloc[3].to_dict()
    assert written.predict_one(row) == written.predict(strings[3:4])[0]
    fractions = pd.DataFrame({"x": ["1,234", "5,678"] * (ROWS // 2)})
    for decimal, means in (("comma", {"a": 1.234, "b": 5.678}), (None, {"a": 1234, "b": 5678})):
        model = NaiveBayes(decimal=decimal, numbers="gaussian").fit(fractions, Y)
        assert model.show()["features"][0]["parameters"]["mean"] == means
    with pytest.raises(ValueError, match="some have a decimal comma"):
        NaiveBayes(kinds={"x": "number"}).fit(pd.DataFrame({"x": ["1,5", "2.5"] * 20}), Y)


def test_numbers_are_cut_into_classes():
    X = pd.DataFrame({"x": np.arange(ROWS) % 7 + 0.5})
    y = np.arange(ROWS) * 1.5
    model = NaiveBayes(bins=4).fit(X, y)
    assert len(model.classes_) == 4 and model.classes_[0].startswith("1: below ")
    assert (model.class_count_ == ROWS / 4).all()
    assert set(model.predict(X)) <= set(model.classes_)


SHEETS = Path(__file__).resolve().parents[3] / "testdata" / "spreadsheets"


@pytest.mark.parametrize("book", ["orders.xlsx", "hidden-first.ods"])
def test_sheets_of_spreadsheets_are_tables(book, tmp_path):
    with pytest.warns(UserWarning, match="sheet= names another"):
        X = priory.read_spreadsheet(SHEETS / book)
    plain = pd.read_csv(SHEETS / "orders.csv", dtype=str, keep_default_na=False)
    assert list(X) == list(plain.columns)
    assert X["city"] == plain["city"].tolist()
    assert X["discount"][3] is None and X["balance"][3] == "#N/A"
    y = X.pop("class")
    model = NaiveBayes().fit(X, y)
    other = NaiveBayes().fit(plain.drop(columns="class"), plain["class"])
    assert model.predict_proba(X).tobytes() == other.predict_proba(plain).tobytes()
    assert model.kinds_["ordered"] == other.kinds_["ordered"] == "date"
    frame = pd.DataFrame(priory.read_spreadsheet(SHEETS / book, sheet="Prices"))
    assert list(frame.columns) == ["pieces", "class"] and len(frame) == 30
    pd.testing.assert_frame_equal(pd.DataFrame(priory.read_spreadsheet(str(SHEETS / book), sheet=3)), frame)
    with pytest.raises(ValueError, match="there is no sheet `Costs`; the workbook has "):
        priory.read_spreadsheet(SHEETS / book, sheet="Costs")
    with pytest.raises(FileNotFoundError):
        priory.read_spreadsheet(tmp_path / "none.xlsx")
    with pytest.raises(ValueError, match="this is no spreadsheet in .xlsx or .ods"):
        priory.read_spreadsheet(SHEETS / "orders.csv")

"""What people try: rows as dicts, columns in any order, one row at a time, tables in notebooks."""

import datetime
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight
from test_model import mixed

import priory
from priory import NaiveBayes, TextNB

PROJECT = Path(__file__).parents[3]


def records(X):
    """The rows of a DataFrame as dicts, with None where a value is missing."""
    return [{name: None if value != value else value for name, value in row.items()} for row in X.to_dict("records")]


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed()
    return NaiveBayes().fit(X, y), X, y


@pytest.fixture(params=["fitted", "loaded"])
def model(request, fitted, tmp_path):
    """The same model, as it was fitted and from a file."""
    model, _, _ = fitted
    if request.param == "fitted":
        return model
    model.save(tmp_path / "m.priory")
    return NaiveBayes.load(tmp_path / "m.priory")


# Columns


def test_columns_are_found_by_name(model, fitted):
    _, X, _ = fitted
    expected = model.predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict_proba(X[X.columns[::-1]]).tobytes() == expected.tobytes()
        assert model.predict_proba(X.assign(more=1)).tobytes() == expected.tobytes()
        assert model.predict_proba(pl.from_pandas(X.assign(more="x")).select(pl.all().reverse())).shape == expected.shape


def test_columns_that_are_not_there_are_warned_about(model, fitted):
    _, X, _ = fitted
    missing = X.assign(colour=None, seen=None)
    without = X.drop(columns=["colour", "seen"])
    for table in (without, without[:1], records(without)):
        with pytest.warns(UserWarning, match=r"does not have the columns 'colour', 'seen', which count as missing") as warned:
            found = model.predict_proba(table)
        assert [Path(warning.filename).name for warning in warned] == ["test_people.py"]
        assert found.tobytes() == model.predict_proba(missing)[: len(found)].tobytes()
    with pytest.warns(UserWarning, match="does not have the column 'size', which counts"):
        model.predict_one({"colour": "red", "count": 3, "seen": True})
    for table in (X[["size"]].rename(columns={"size": "other"}), [{"other": 1}], {"other": 1}):
        with pytest.raises(ValueError, match="none of the model's features"):
            model.predict(table)
    with pytest.raises(ValueError, match="none of the model's features"):
        model.predict_one({"other": 1})


def test_more_rows_may_have_their_columns_in_any_order(fitted):
    _, X, y = fitted
    expected = NaiveBayes(judge="none").fit(X, y)
    model = NaiveBayes(judge="none", kinds={name: "ignore" for name in ()}).fit(X[:150], y[:150])
    model.partial_fit(X[150:][X.columns[::-1]].assign(more=0), y[150:])
    assert model == expected
    assert model.forget(X[150:][["seen", "count", "colour", "size"]], y[150:]) == NaiveBayes(judge="none").fit(X[:150], y[:150])
    with pytest.raises(ValueError, match="no feature column `colour`"):
        model.partial_fit(X.drop(columns="colour"), y)


def test_arrays_have_the_columns_that_were_learnt(model, fitted):
    _, X, _ = fitted
    expected = model.predict_proba(X)
    array = X.to_numpy(dtype=object)
    numbers = X.assign(colour=np.nan).astype(float).to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (slice(None), slice(0, 1), slice(3, 9)):
            assert model.predict_proba(array[rows]).tobytes() == expected[rows].tobytes()
            assert model.predict_proba(array[rows].tolist()).tobytes() == expected[rows].tobytes()
    known = model.predict_proba(X.assign(colour=None, seen=X.seen.map({True: "1", False: "0"})))
    assert model.predict_proba(numbers).tobytes() == known.tobytes()
    for width in (3, 5):
        with pytest.raises(ValueError, match=f"X has {width} features, but NaiveBayes is expecting 4"):
            model.predict_proba(np.ones((1, width)))


def test_a_model_of_an_array_takes_a_table_of_the_same_width():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    model = NaiveBayes().fit(X, y)
    with pytest.warns(UserWarning, match="X has feature names, but NaiveBayes was fitted without"):
        found = model.predict_proba(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert found.tobytes() == model.predict_proba(X).tobytes()
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict_proba(pd.DataFrame(X[:, :2], columns=["a", "b"]))


# Rows


def test_rows_are_dicts(model, fitted):
    _, X, y = fitted
    expected, rows = model.predict_proba(X), records(X)
    assert model.predict_proba(rows).tobytes() == expected.tobytes()
    assert model.predict_proba({name: X[name].tolist() for name in X}).tobytes() == expected.tobytes()
    assert model.predict_proba({name: X[name] for name in X}).tobytes() == expected.tobytes()
    for i in range(30):
        assert model.predict_proba(rows[i]).tobytes() == expected[i : i + 1].tobytes()
        assert list(model.predict(rows[i])) == [model.predict_one(rows[i])]
        assert model.predict_proba_one(rows[i]) == dict(zip(model.classes_.tolist(), expected[i].tolist()))
        assert model.predict_one(X.iloc[i]) == model.predict_one(rows[i])
    again = NaiveBayes().fit(rows, y)
    assert again.predict_proba(X).tobytes() == expected.tobytes()
    assert list(again.feature_names_in_) == list(X.columns)


def test_the_answer_about_one_row_can_be_written_as_json():
    X, y = mixed()
    for labels in (y, (y == "few").astype(int), y == "few"):
        model = NaiveBayes().fit(X, labels)
        row = records(X)[0]
        assert json.loads(json.dumps(model.predict_one(row))) == model.predict(X)[0]
        assert all(isinstance(share, float) for share in model.predict_proba_one(row).values())


VALUES = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=False),
    st.integers(-(10**20), 10**20),
    st.booleans(),
    st.sampled_from(["", "NA", "red", "green", "1", "1.0", "true", " 3 ", "1e3", "ü"]),
    st.sampled_from([np.int64(3), np.float32(0.1), np.bool_(True), np.str_("red"), pd.NA, pd.NaT]),
    st.sampled_from([datetime.datetime(2024, 5, 31, 14, 3), pd.Timestamp(0), np.datetime64("2024-05-31")]),
)


@given(st.dictionaries(st.sampled_from(["size", "colour", "count", "seen", "other"]), VALUES, min_size=1))
def test_one_row_is_read_as_a_table_of_it_is(row):
    """Whatever the values are, and whichever way they take."""
    model = test_one_row_is_read_as_a_table_of_it_is.model
    few = model.predict_proba_one

    def outcome(work):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return list(work())
        except (ValueError, TypeError) as error:
            return type(error)

    one = outcome(lambda: few(row).values())
    assert one == outcome(lambda: model.predict_proba([row])[0].tolist())
    assert one == outcome(lambda: model.predict_proba([row, row])[1].tolist())


def _mixed_model():
    X, y = mixed()
    return NaiveBayes(kinds={"count": "category"}).fit(X, y)


test_one_row_is_read_as_a_table_of_it_is.model = _mixed_model()


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int8", "uint16", "bool"])
def test_a_few_rows_of_an_array_are_scored_as_many_are(kind):
    rng = np.random.default_rng(3)
    X, y = rng.poisson(3, (300, 4)).astype(kind), rng.integers(0, 3, 300)
    model = NaiveBayes(kinds={"x1": "category"}).fit(X, y)
    expected, labels = model.predict_proba(X), model.predict(X)
    for rows in (slice(0, 1), slice(5, 69), slice(0, 65)):
        for part in (X[rows], np.asfortranarray(X[rows]), X[rows][:, ::-1][:, ::-1]):
            assert model.predict_proba(part).tobytes() == expected[rows].tobytes()
            assert (model.predict(part) == labels[rows]).all()
    np.testing.assert_array_equal(model.predict_log_proba(X[:3]), model.predict_log_proba(X)[:3])
    np.testing.assert_array_equal(model.predict_joint_log_proba(X[:3]), model.predict_joint_log_proba(X)[:3])


def test_the_quick_way_does_not_keep_what_was_learnt():
    """Or every row that is learnt after a prediction would copy all of it."""
    X, y = mixed()
    model, row = NaiveBayes(judge="none").fit(X, y), records(X)[0]
    before = model.predict_proba_one(row)
    few = model._learnt._told._few
    assert few.of_dict(row) is not None
    model.partial_fit(X, y)
    assert few.of_dict(row) is None
    assert model.predict_proba_one(row) != before
    assert model.forget(X, y).predict_proba_one(row) == before


def test_whole_numbers_are_the_same_in_every_type():
    """A missing value makes floating-point numbers of integers in pandas, and 1.0 is still 1."""
    X = pd.DataFrame({"sex": [1, 2] * 30, "size": np.arange(60) * 0.5})
    y = ["a", "b", "a"] * 20
    model = NaiveBayes(kinds={"sex": "category"}, judge="none").fit(X, y)
    expected = model.predict_proba(X)
    assert model.predict_proba(X.astype(float)).tobytes() == expected.tobytes()
    assert model.predict_proba(X.to_numpy()).tobytes() == expected.tobytes()
    assert model.predict_proba(X.to_numpy()[:1]).tobytes() == expected[:1].tobytes()
    assert model.predict_proba_one({"sex": 1.0, "size": 0.0}) == model.predict_proba_one({"sex": 1, "size": 0})
    holed = X.astype(float)
    holed.loc[3, "sex"] = np.nan
    assert model.predict_proba(holed)[4:].tobytes() == expected[4:].tobytes()
    assert NaiveBayes(kinds={"sex": "category"}, judge="none").fit(X[:30], y[:30]).partial_fit(holed[30:], y[30:]) == model
    back = NaiveBayes(kinds={"sex": "category"}).fit(X.astype(float), y)
    assert back.predict_proba(X).tobytes() == back.predict_proba(X.astype(float)).tobytes()
    assert back.predict_proba_one({"sex": 1, "size": 2}) == back.predict_proba_one({"sex": 1.0, "size": 2.0})


def test_what_is_no_table_is_said_clearly(model, fitted):
    _, X, y = fitted
    cases = [
        (pl.from_pandas(X).lazy(), "X is a LazyFrame.*collect"),
        (X["size"], "got a Series.*predict_one"),
        (pl.from_pandas(X)["size"], "got a Series.*predict_one"),
        (X["size"].tolist(), "got 1D array"),
        ("some text", "TextNB takes documents"),
        ({"size": [1.0, 2.0], "colour": "red"}, "either one row or columns"),
        ({"size": [1.0, 2.0], "colour": ["red"]}, "different lengths: 1, 2"),
        ([{"size": 1.0}, 5], "row 1 is of type int"),
        ([{"size": [1, 2]}, {"size": {}}], "'size' holds lists"),
    ]
    for table, said in cases:
        with pytest.raises(ValueError, match=said):
            model.predict(table)
        with pytest.raises(ValueError, match=said):
            NaiveBayes().fit(table, y)
    with pytest.raises(ValueError, match="one row is a dict"):
        model.predict_one([1, "red", 2, True])
    with pytest.raises(ValueError, match="row 1, column `size`: `big` is not a number"):
        model.predict_one({"size": "big", "colour": "red", "count": 1, "seen": True})


def test_documents_one_by_one():
    said = ["cheap pills now", "cheap cheap watches", "lunch at noon?", "notes of the meeting"]
    model = TextNB().fit(said, ["spam", "spam", "ham", "ham"])
    for document in (*said, "", "NA", "never met"):
        assert model.predict_one(document) == model.predict([document])[0]
        assert list(model.predict_proba_one(document).values()) == model.predict_proba([document])[0].tolist()
    with pytest.raises(ValueError, match="one document is a str"):
        model.predict_one({"text": "cheap"})


# Rows that come one by one


@pytest.mark.parametrize("form", ["dicts", "dict", "pandas", "polars", "pyarrow", "numpy", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_one_by_one_equal_fit(form, weighted):
    X, y = mixed(60)
    weights = np.linspace(0.5, 2, 60) if weighted else None
    table = {
        "dicts": records(X),
        "dict": records(X),
        "pandas": X,
        "polars": pl.from_pandas(X),
        "pyarrow": pa.Table.from_pandas(X),
        "numpy": X[["size", "count"]].to_numpy(),
        "sparse": sp.csr_matrix(X[["count", "seen"]].to_numpy(dtype=float)),
    }[form]
    whole = NaiveBayes(judge="none").fit(table, y, weights)
    for warm_rows in (25, 60, 1000):
        model = NaiveBayes(warm_rows=warm_rows)
        for i in range(60):
            part = table[i] if form == "dict" else table[i : i + 1]
            model.partial_fit(part, y[i : i + 1], sample_weight=None if weights is None else weights[i : i + 1])
        if warm_rows == 25:  # enough for these columns
            assert model.kinds_ == whole.kinds_
        assert model == whole and model._now()[0].to_bytes() == whole._learnt.to_bytes()


def both(X, y, other_X, other_y):
    return pd.concat([X, other_X]), pd.concat([y, other_y])


def test_a_model_can_be_used_before_it_is_warm():
    X, y = mixed()
    model = NaiveBayes(warm_rows=100)
    for i in range(0, 80, 10):
        model.partial_fit(X[i : i + 10], y[i : i + 10])
        assert model == NaiveBayes(judge="none").fit(X[: i + 10], y[: i + 10])
        assert set(model.predict(X)) <= {"few", "many"} and model.n_features_in_ == 4
        again = pickle.loads(pickle.dumps(model))
        assert again == model and again.partial_fit(X, y) == NaiveBayes(judge="none").fit(*both(X[: i + 10], y[: i + 10], X, y))
    assert (model + model) - model == model  # which decides what the columns are
    model.partial_fit(X[80:], y[80:])
    assert model.show()["rows"] == 200
    assert NaiveBayes(warm_rows=100).partial_fit(X, y) == NaiveBayes(judge="none").fit(X, y)
    assert NaiveBayes(warm_rows=500).partial_fit(X[:9], y[:9]).forget(X[:4], y[:4]).class_count_.sum() == 5
    row, reused = records(X)[0], NaiveBayes(warm_rows=100)
    for i, other in enumerate(records(X)[:50]):
        row.update(other)
        reused.partial_fit([row], [y[i]])
    assert reused.predict_proba(X).tobytes() == NaiveBayes(judge="none").fit(X[:50], y[:50]).predict_proba(X).tobytes()
    with pytest.raises(ValueError, match="warm_rows: expected a number of rows, got 0"):
        NaiveBayes(warm_rows=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="tables of one type; DataFrame came first"):
        NaiveBayes(warm_rows=500).partial_fit(X[:9], y[:9]).partial_fit(pl.from_pandas(X), y).predict(X)
    with pytest.raises(ValueError, match="no weights"):
        NaiveBayes(warm_rows=500).partial_fit(X[:9], y[:9]).partial_fit(X, y, sample_weight=np.ones(200))


# Weights of classes


@pytest.mark.parametrize("class_weight", ["balanced", {"few": 3.0, "many": 0.5}, {"many": 2}])
def test_class_weights_are_those_of_scikit_learn(class_weight):
    X, y = mixed()
    model = NaiveBayes(class_weight=class_weight, judge="none").fit(X, y)
    expected = NaiveBayes(judge="none").fit(X, y, compute_sample_weight(class_weight, y))
    np.testing.assert_allclose(model.class_count_, expected.class_count_, rtol=1e-14)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-10)
    model.forget(X[:50], y[:50])
    assert model.show()["rows"] == 150
    if class_weight == "balanced":
        np.testing.assert_allclose(NaiveBayes(class_weight="balanced").fit(X, y).class_count_, [100, 100], rtol=1e-14)
        with pytest.raises(ValueError, match="class_weight='balanced' is not possible in partial_fit"):
            NaiveBayes(class_weight="balanced").partial_fit(X, y)
    else:
        parts = NaiveBayes(class_weight=class_weight, kinds={"count": "number", "seen": "category"})
        parts.partial_fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])
        assert parts == NaiveBayes(class_weight=class_weight, judge="none", kinds=parts.kinds).fit(X, y)


def test_class_weights_that_are_none():
    X, y = mixed()
    for class_weight, said in [
        ("fair", "expected 'balanced' or a dict"),
        ({"few": float("nan")}, "the weight of 'few' is nan"),
        ({"few": -1}, "the weight of 'few' is -1"),
        ({"fwe": 2}, "'fwe' is no class; there are 'few', 'many'"),
    ]:
        with pytest.raises(ValueError, match=said):
            NaiveBayes(class_weight=class_weight).fit(X, y)
    said = ["cheap pills now", "cheap cheap watches", "lunch at noon?", "notes of the meeting"]
    model = TextNB(class_weight={"spam": 3}).fit(said, ["spam", "spam", "ham", "ham"])
    assert model.class_prior_.tolist() == [0.25, 0.75]


# What is shown

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b", "</style></table><b>", "'; DROP", "\x00\x1b[31m", "x" * 500]


def hostile_model():
    values = [HOSTILE[i % len(HOSTILE)] for i in range(70)]
    X = pd.DataFrame({name: values for name in HOSTILE[:5]} | {"<i>n</i>": np.arange(70) * 1.5})
    X["<u>said</u>"] = [f"<b>word{i % 3}</b> and {value} or more of them" for i, value in enumerate(values)]
    y = [["<h1>yes</h1>", "no & \"no\""][i % 2] for i in range(70)]
    return NaiveBayes(kinds={"<u>said</u>": "text"}, missing=[]).fit(X, y), X


TAGS = {"div", "style", "p", "b", "span", "table", "thead", "tbody", "tr", "th", "td", "pre"}


def check_html(html):
    """Only tags of ours, closed in order, and attributes of ours."""
    assert "alert(1)</script" not in html and "onerror=alert(1)>" not in html
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    opened = []
    for closing, tag, attributes in re.findall(r"<(/?)([a-zA-Z0-9]+)([^>]*)>", body):
        assert tag in TAGS, tag
        assert re.fullmatch(r'( (class="[a-z ]+"|style="width:\d+px"))*', attributes), attributes
        if closing:
            assert opened.pop() == tag
        else:
            opened.append(tag)
    assert not opened and body.count("<") == len(re.findall(r"</?[a-z0-9]+[^<>]*>", body))
    for word in ("http:", "https:", "src=", "url(", "@import"):
        assert word not in re.sub(r"&lt;.*?&gt;", "", html), word


def test_hostile_names_are_harmless():
    model, X = hostile_model()
    check_html(model._repr_html_())
    check_html(model.show()._repr_html_())
    check_html(model.explain(X[:8])._repr_html_())
    check_html(NaiveBayes(kinds={HOSTILE[0]: "number"})._repr_html_())
    assert "&lt;script&gt;" in model._repr_html_()
    assert all(line.isprintable() for shown in (model.show(), model.explain(X[:3])) for line in repr(shown).splitlines())


def test_what_notebooks_show(fitted):
    model, X, _ = fitted
    shown = model._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html"} and shown["text/plain"] == repr(model)
    for word in ("200 rows", "few", "many", "colour", "category", "judged", "weight"):
        assert word in shown["text/html"], word
    assert "weight" not in NaiveBayes(judge="none").fit(X, fitted[2])._repr_html_().split("</style>")[1]
    said = ["cheap pills now", "cheap cheap watches", "lunch at noon?", "notes of the meeting"]
    html = TextNB().fit(said, ["spam", "spam", "ham", "ham"])._repr_html_()
    assert "cheap" in html and "TextNB" in html
    assert repr(model.show()).splitlines()[0] == "NaiveBayes: 200 rows, judged (full)"


def test_explanations_as_frames_and_bars(fitted):
    model, X, _ = fitted
    told = model.explain(X[:7])
    assert len(told) == 7 and (told.prediction == model.predict(X[:7])).all()
    np.testing.assert_allclose(told.probabilities, model.predict_proba(X[:7]), rtol=1e-10)
    frame = told.to_frame()
    assert list(frame.columns) == ["value", "few", "many"]
    sums = frame.groupby("row")[["few", "many"]].sum().to_numpy()
    np.testing.assert_allclose(sums, told.log_joint, rtol=1e-10, atol=1e-10)
    assert frame.loc[(1, "colour"), "value"] == X.colour[1] and pd.isna(frame.loc[(0, "size"), "value"])
    best, other, terms = told.evidence(3)
    assert best == model.predict(X)[3] and {best, other} == {"few", "many"}
    places = [list(told.classes).index(label) for label in (best, other)]
    total = told.log_joint[3][places[0]] - told.log_joint[3][places[1]]
    np.testing.assert_allclose(sum(nats for _, _, nats in terms), total, rtol=1e-10)
    assert terms[0][0] == "(prior)" and abs(terms[1][2]) == max(abs(nats) for _, _, nats in terms[1:])
    assert len(told[3]) == 1 and told[3].evidence()[2] == terms and len(told[2:4]) == 2
    with pytest.raises(IndexError):
        told[7]
    assert repr(told).startswith("Explanation of 7 rows\n") and repr(told).endswith("… and 4 more rows")
    check_html(told._repr_html_())


def test_explanations_of_what_is_impossible():
    X = pd.DataFrame({"a": ["x", "y", "z"]})
    model = NaiveBayes(smoothing="none").fit(X, ["p", "q", "q"])
    told = model.explain(pd.DataFrame({"a": ["x", "y", "never"]}))
    assert told.prediction.tolist() == model.predict(pd.DataFrame({"a": ["x", "y", "never"]})).tolist()
    np.testing.assert_allclose(told.probabilities, model.predict_proba(pd.DataFrame({"a": ["x", "y", "never"]})))
    assert "∞" in told._repr_html_() and "inf" in repr(told)
    assert NaiveBayes().fit(X, ["p", "p", "p"]).explain(X)._repr_html_()


# Words


def test_the_version():
    cargo = (PROJECT / "Cargo.toml").read_text()
    assert f'version = "{priory.__version__}"' in cargo


def test_no_message_speaks_of_the_command_line():
    """Messages of the libraries are shown by Python as well, so that none may name a flag."""
    flag = re.compile(r'"(?:[^"\\\n]|\\.)*?(?<![\w-])--[a-z]')
    for crate in ("priory", "priory-input", "priory-python"):
        for path in sorted((PROJECT / "crates" / crate).rglob("src/**/*.rs")):
            if path.name == "tests.rs":
                continue
            code = path.read_text().split("#[cfg(test)]\nmod tests {")[0]
            lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
            found = [line for line in lines if flag.search(line)]
            assert not found, (path.name, found)
    for path in (PROJECT / "crates" / "priory-python" / "python").rglob("*.py"):
        for words in re.findall(r'(?:raise|warn)\w*\((?:.|\n)*?\n', path.read_text()):
            assert "--" not in words, (path.name, words)

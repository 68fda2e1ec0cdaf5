"""What is large, odd or hostile: bounded memory, and one clear sentence."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import priory
from priory import NaiveBayes, _priory

Y = np.array(["a", "b"] * 20)


def in_little_memory(program, gigabytes=3):
    """Runs a program that may not have more memory than this; returns what it printed."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({gigabytes} << 30, {gigabytes} << 30))\n"
    done = subprocess.run([sys.executable, "-c", limit + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


CLASSES = """
import numpy as np, priory
priory.set_threads(2)
def refused(work):
    try:
        work()
    except MemoryError as error:
        print(error)
    else:
        raise AssertionError("there was memory enough")
"""


def test_predictions_among_many_classes_take_little_memory():
    told = in_little_memory(
        CLASSES
        + """
y = [f"class {i:05}" for i in range(20_000)] * 2
X = np.array([["a"], ["b"]] * 20_000, dtype=object)
model = priory.NaiveBayes(kinds={"*": "category"}).fit(X, y)
rows = np.array([["a"], ["b"]] * 15_000, dtype=object)
assert set(model.predict(rows)) == {"class 00000", "class 00001"}
refused(lambda: model.predict_proba(rows))
refused(lambda: model.explain(rows))
assert model.predict_proba(rows[:10]).shape == (10, 20_000)
"""
    )
    assert "an array of 30000 rows and 20000 classes does not fit into memory" in told


def test_scores_of_matrices_among_many_classes_take_little_memory():
    told = in_little_memory(
        CLASSES
        + """
y = np.arange(5_000)
model = priory.MultinomialNB().fit(y[:, None] % 7, y)
rows = np.arange(100_000)[:, None] % 7
assert model.predict(rows).shape == (100_000,)
refused(lambda: model.predict_proba(rows))
"""
    )
    assert "an array of 100000 rows and 5000 classes does not fit into memory" in told


def test_where_sparse_rows_begin_is_looked_up_once():
    X = sp.csr_matrix(np.tile(np.eye(4), (50_000, 1)))
    parts = (X.indptr.copy(), X.indices, X.data, 4)
    table = _priory.Table.from_sparse(parts, list("abcd"))
    parts[0][:] = -1  # of no more use, once it was looked at
    y = _priory.Column.of_classes(["x", "y"], np.tile(np.arange(2, dtype=np.uint32), 100_000))
    look = _priory.Table.from_sparse((X.indptr, X.indices, X.data, 4), list("abcd")).beside("class", y)
    learnt = _priory.Learnt.learn(look, table.beside("class", y), "class", None, None, {})
    assert learnt.now().rows() == 200_000


@pytest.mark.parametrize("kind", [None, "category", "text", "number"])
def test_a_column_of_nothing(kind):
    X = pl.DataFrame({"nothing": [None] * 40, "size": np.arange(40.0) * (Y == "a")})
    assert X.schema["nothing"] == pl.Null
    kinds = {"size": "number"} if kind is None else {"size": "number", "nothing": kind}
    model = NaiveBayes(kinds=kinds).fit(X, Y)
    alone = NaiveBayes(kinds={"size": "number"}).fit(X[["size"]], Y)
    assert (model.predict_proba(X) == alone.predict_proba(X[["size"]])).all()


def test_values_that_are_bytes_are_text():
    text = np.array([[colour] for colour in np.where(Y == "a", "röd", "blå")])
    written = np.char.encode(text, "utf-8")
    expected = NaiveBayes().fit(text, Y).predict_proba(text)
    model = NaiveBayes().fit(written, Y)
    for same in (text, written, written.astype(object), pd.DataFrame({"x0": written[:, 0].tolist()})):
        frame = isinstance(same, pd.DataFrame)
        fitted = NaiveBayes().fit(same, Y) if frame else model
        assert (fitted.predict_proba(same) == expected).all()
    with pytest.raises(ValueError, match="the column 'x0' holds bytes that are not UTF-8 text"):
        NaiveBayes().fit(np.array([[b"\xff"]] * 40), Y)


@pytest.mark.parametrize("name", ["NaiveBayes", "GaussianNB", "MultinomialNB", "LinearDiscriminantAnalysis"])
def test_classes_that_are_bytes_are_refused(name):
    X = np.arange(80.0).reshape(40, 2)
    for y in (Y.astype("S"), Y.astype("S").astype(object), Y.astype("S").tolist()):
        with pytest.raises(TypeError, match="bytes"):
            getattr(priory, name)().fit(X, y)
        if hasattr(getattr(priory, name), "partial_fit"):
            with pytest.raises(TypeError, match="bytes"):
                getattr(priory, name)().partial_fit(X, y, classes=np.unique(Y))


def test_the_priors_of_others_stay_writeable():
    priors = np.array([0.25, 0.75])
    model = priory.GaussianNB(priors=priors).fit(np.arange(40.0)[:, None], Y)
    model.predict([[1.0]])
    priors[0] = 0.5
    assert model.class_prior_[0] == 0.25


def test_models_that_are_equal_cannot_be_keys():
    X = np.sqrt(np.arange(40.0))[:, None]
    a, b = NaiveBayes().fit(X, Y), NaiveBayes().fit(X, Y)
    assert a == b
    with pytest.raises(TypeError, match="unhashable"):
        {a, b}


def test_errors_of_a_table_are_not_hidden():
    class Odd(pd.DataFrame):
        @property
        def _constructor(self):
            return Odd

        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("out of paper")

    Odd.__module__ = pd.DataFrame.__module__
    with pytest.raises(RuntimeError, match="out of paper"):
        NaiveBayes().fit(Odd({"x": np.arange(40.0)}), Y)
    # What pyarrow does not take is taken column by column.
    mixed = pd.DataFrame({"x": [1, "one"] * 20})
    assert NaiveBayes(kinds={"x": "category"}).fit(mixed, Y).score(mixed, Y) == 1


def test_bytes_that_claim_too_much_are_refused():
    for name in ("CountSums", "CodeSums", "GaussianSums", "CovarianceSums"):
        claim = np.array([1 << 30, 1, 1, 0, 1 << 30, 0], dtype="<u8").tobytes()
        with pytest.raises(ValueError, match="not sums that were pickled"):
            getattr(_priory, name).from_bytes(claim)

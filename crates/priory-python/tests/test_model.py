"""NaiveBayes: learning, forgetting, adding up, explaining, judging, keeping."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from command_line import PROJECT, program  # noqa: F401  (a fixture)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import priory
from priory import NaiveBayes


def tennis():
    table = pd.read_csv(PROJECT / "examples" / "tennis.csv")
    return table.drop(columns="play"), table["play"]


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "count": rng.poisson(3, n),
            "seen": rng.random(n) < 0.5,
        }
    )
    X.loc[::7, "size"] = np.nan
    y = pd.Series(np.where(X["count"] > 3, "many", "few"), name="amount")
    return X, y


def test_the_lecture():
    X, y = tennis()
    model = NaiveBayes(smoothing="none").fit(X, y)
    day = pd.DataFrame({"outlook": ["S"], "temperature": ["C"], "humidity": ["H"], "wind": ["S"]})
    yes = 9 / 14 * 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9
    no = 5 / 14 * 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5
    assert list(model.classes_) == ["+", "-"]
    np.testing.assert_allclose(model.predict_proba(day)[0], [yes / (no + yes), no / (no + yes)], rtol=1e-14)


@given(st.permutations(range(40)), st.lists(st.integers(1, 39), max_size=3, unique=True), st.booleans())
@settings(max_examples=20)
def test_any_chunks_in_any_order_give_the_same_bytes(order, cuts, weighted):
    X, y = mixed(40)
    weights = np.linspace(0.1, 3, 40) if weighted else None
    part = lambda rows: (X.iloc[rows], y.iloc[rows], None, None if weights is None else weights[rows])  # noqa: E731
    # The first rows show what the columns are.
    whole = NaiveBayes(kinds={"count": "number", "seen": "category"}).fit(X, y, weights)
    parts = NaiveBayes(kinds={"count": "number", "seen": "category"})
    for rows in np.split(np.array(order), sorted(cuts)):
        parts.partial_fit(*part(rows))
    assert whole == parts
    assert whole._learnt.to_bytes() == parts._learnt.to_bytes()
    if cuts:
        first = np.array(order)[: min(cuts)]
        rest = np.array(order)[min(cuts) :]
        parts.forget(X.iloc[rest], y.iloc[rest], None if weights is None else weights[rest])
        again = NaiveBayes(kinds={"count": "number", "seen": "category"})
        again.fit(X.iloc[first], y.iloc[first], None if weights is None else weights[first])
        assert parts == again


def test_models_add_and_subtract():
    X, y = mixed()
    a = NaiveBayes(judge="none").fit(X[:120], y[:120])
    b = NaiveBayes(judge="none").fit(X[120:], y[120:])
    whole = NaiveBayes(judge="none").fit(X, y)
    assert a + b == b + a == whole
    assert (a + b) - b == a
    assert a != b
    with pytest.raises(ValueError, match="not part of the model"):
        a - whole
    other = NaiveBayes().fit(X[["size"]], y)
    with pytest.raises(ValueError, match="do not describe the same table"):
        a + other
    with pytest.raises(TypeError):
        a + 1


def test_a_class_may_come_later():
    X, y = mixed()
    model = NaiveBayes().fit(X[:100], y[:100])
    model.partial_fit(X[100:], ["new"] * 100)
    assert list(model.classes_) == ["few", "many", "new"]
    assert model.class_count_[2] == 100


def test_what_was_never_learnt_cannot_be_forgotten():
    X, y = mixed()
    model = NaiveBayes().fit(X[:100], y[:100])
    before = model._learnt.to_bytes()
    with pytest.raises(ValueError, match="row 101 was never learnt"):
        model.forget(X, y)
    assert model._learnt.to_bytes() == before


def test_explanations_add_up():
    X, y = mixed()
    model = NaiveBayes(judge="none").fit(X, y)
    told = model.explain(X[:50])
    assert told.contributions.shape == (50, 4, 2) and told.features == ["size", "colour", "count", "seen"]
    total = told.log_prior + np.zeros((50, 1))
    for i in range(4):
        total = total + told.contributions[:, i]
    assert (total == told.log_joint).all()
    np.testing.assert_allclose(told.log_joint, model.predict_joint_log_proba(X[:50]), rtol=1e-12)
    assert (told.contributions[0, 0] == 0).all()  # missing says nothing


def test_probabilities_and_logarithms_agree():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()


def test_evaluation_is_that_of_the_command_line(tmp_path, program):
    X, y = mixed()
    X["seen"] = X["seen"].map({True: "yes", False: "no"})  # a file has other words for them
    report = NaiveBayes().evaluate(X, y, folds=5, seed=3)
    X.assign(amount=y).to_csv(tmp_path / "t.csv", index=False)
    told = program("evaluate", tmp_path / "t.csv", "--target", "amount", "--folds", "5", "--seed", "3", "--format", "json")
    told = json.loads(told)
    assert {key: told[key] for key in report} == report
    assert 0 <= report["accuracy"] <= 1 and report["rows"] == 200


def test_leaving_one_out_is_learning_the_others():
    X, y = mixed(40)
    kinds = {"count": "number", "seen": "category"}
    model = NaiveBayes(numbers="gaussian", kinds=kinds).fit(X, y)
    left_out = model.leave_one_out_proba(X, y)
    for row in (0, 1, 17):
        others = [i for i in range(40) if i != row]
        other = NaiveBayes(numbers="gaussian", kinds=kinds).fit(X.iloc[others], y.iloc[others])
        np.testing.assert_allclose(left_out[row], other.predict_proba(X.iloc[[row]])[0], rtol=1e-12)


def test_reestimate_is_fit_with_other_settings():
    X, y = mixed()
    model = NaiveBayes(judge="none").fit(X, y)
    for choices in ({"smoothing": 0.5}, {"prior": "uniform"}, {"prior": {"few": 0.25, "many": 0.75}}, {"numbers": "kernel"}):
        assert model.reestimate(**choices) == NaiveBayes(**choices, judge="none").fit(X, y), choices
    with pytest.raises(ValueError, match="kinds"):
        model.reestimate(kinds={})
    with pytest.raises(ValueError, match="smoothing: expected none, laplace"):
        model.reestimate(smoothing="much")


def test_features_are_ranked():
    X, y = mixed()
    ranked = NaiveBayes().fit(X, y).features()
    assert ranked["features"][0]["name"] == "count"


def test_pictures_are_those_of_the_command_line(tmp_path, program):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["a", "b", "c", "d"]
    model = NaiveBayes(numbers="gaussian").fit(X, y)
    model.save(tmp_path / "iris.priory")
    for columns in [[], ["c"], ["c", "d"]]:
        picture = model.plot(*columns)
        assert picture._repr_svg_() == str(picture) and str(picture).startswith("<svg ")
        picture.save(tmp_path / "python.svg")
        program("plot", tmp_path / "iris.priory", *columns, "--output", tmp_path / "program.svg")
        assert (tmp_path / "python.svg").read_text() == (tmp_path / "program.svg").read_text() == str(picture)
    for columns, said in [(["e"], "no column `e`"), (["a", "a"], "against itself")]:
        with pytest.raises(ValueError, match=said):
            model.plot(*columns)
    for choices, label in [([], None), (["--class", "1"], 1)]:
        program("plot", tmp_path / "iris.priory", "--nomogram", *choices, "--output", tmp_path / "program.svg")
        assert (tmp_path / "program.svg").read_text() == str(model.nomogram(label))
    X[:1].to_csv(tmp_path / "row.csv", index=False)
    program("explain", tmp_path / "iris.priory", tmp_path / "row.csv", "--output", tmp_path / "program.svg")
    assert (tmp_path / "program.svg").read_text() == str(model.waterfall(X[:1]))
    with pytest.raises(ValueError, match="no class `7`"):
        model.nomogram(7)
    with_points = str(model.plot("c", "d", points=(X, y)))
    assert [line.count("h0") for line in with_points.splitlines() if "stroke-linecap:round" in line] == [50, 50, 50]
    with pytest.raises(ValueError, match="points are drawn in the plane of two columns"):
        model.plot("c", points=(X, y))
    words = priory.TextNB().fit(["one two", "three"], [0, 1]).plot()
    assert all(f">{word}</text>" in str(words) for word in ("one", "two", "three"))
    with pytest.raises(OSError):
        model.plot("a").save(tmp_path / "nowhere" / "a.svg")


def test_reports_are_those_of_the_command_line(tmp_path, program):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["a", "b", "c", "d"]
    model = NaiveBayes(numbers="gaussian", judge="none").fit(X, y)
    model.save(tmp_path / "iris.priory")
    X.assign(target=y).to_csv(tmp_path / "iris.csv", index=False)
    schema = model.show()
    assert schema["rows"] == 150
    report = model.report()
    assert str(report).startswith("<!doctype html>") and "was not tested here" in str(report)
    program("report", tmp_path / "iris.priory", "--output", tmp_path / "program.html")
    made = (tmp_path / "program.html").read_text()
    # All but the command and the files, which only the program knows.
    assert made[: made.index('<h2 id="made">')] == str(report)[: str(report).index('<h2 id="made">')]
    tested = model.report(X, y)
    assert "right in" in str(tested) and 'id="cut-off"' in str(tested)
    frame = tested._repr_html_()
    assert 'sandbox="allow-scripts"' in frame and "<script" not in frame
    tested.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == str(tested)
    with pytest.raises(ValueError, match="both"):
        model.report(X)


def test_pickle_goes_through_the_file():
    X, y = mixed()
    model = NaiveBayes(smoothing=0.5).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other == model and other.smoothing == 0.5
        assert other.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
        other.partial_fit(X, y)
        assert other != model
    assert not hasattr(clone(model), "_learnt")


@pytest.mark.parametrize("weighted", [False, True])
def test_round_trip_with_the_command_line(tmp_path, program, weighted):
    X, y = mixed()
    model = NaiveBayes().fit(X, y, np.arange(1, 201) if weighted else None)
    model.save(tmp_path / "python.priory")
    # Whatever a DataFrame holds, a Parquet file of it says the same.
    table = X.assign(amount=y)
    if weighted:
        table["weight"] = np.arange(1.0, 201.0)
    table.to_parquet(tmp_path / "t.parquet")
    extra = ["--weight", "weight"] if weighted else []
    program("train", tmp_path / "t.parquet", "--target", "amount", "-o", tmp_path / "shell.priory", *extra)
    assert (tmp_path / "python.priory").read_bytes() == (tmp_path / "shell.priory").read_bytes()
    loaded = NaiveBayes.load(tmp_path / "shell.priory")
    assert loaded == model
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    program("predict", tmp_path / "python.priory", tmp_path / "t.parquet", "--probabilities", "-o", tmp_path / "p.parquet")
    told = pd.read_parquet(tmp_path / "p.parquet")
    assert (told["prediction"] == model.predict(X)).all()
    assert told[["P(few)", "P(many)"]].to_numpy().tobytes() == model.predict_proba(X).tobytes()
    # The columns are found by name, and others are passed over.
    assert (loaded.predict(table[table.columns[::-1]]) == model.predict(X)).all()


def test_files(tmp_path):
    X, y = mixed()
    model = NaiveBayes().fit(X, (y == "few").astype(int))
    model.save(tmp_path / "m.priory")
    assert NaiveBayes.load(tmp_path / "m.priory").classes_.tolist() == [0, 1]
    with pytest.raises(FileNotFoundError, match="cannot be read"):
        NaiveBayes.load(tmp_path / "none.priory")
    with pytest.raises(OSError):
        model.save(tmp_path / "no" / "folder.priory")
    (tmp_path / "bad.priory").write_bytes(b"PAR1 and more, nothing of it a model")
    with pytest.raises(ValueError, match="bad.priory"):
        NaiveBayes.load(tmp_path / "bad.priory")


def test_inside_scikit_learn():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), NaiveBayes()), X, y).mean() > 0.9
    search = GridSearchCV(NaiveBayes(), {"numbers": ["gaussian", "kernel"], "smoothing": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("labels", [[2, 10], [-1, 1], [False, True], [1.0, 2.0], ["b", "a"]])
def test_labels_come_back_as_they_are(labels):
    X, y = mixed()
    y = np.where(y == "few", labels[0], labels[1])
    model = NaiveBayes().fit(X, y)
    assert (model.classes_ == np.unique(y)).all() and model.predict(X).dtype == y.dtype
    assert (model.predict(X) == y).mean() > 0.8
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()


def test_threads_make_no_difference():
    X, y = mixed(5000)
    models = []
    for n in (1, 2, 5):
        priory.set_threads(n)
        models.append(NaiveBayes().fit(X, y))
        assert priory.threads() == n
    priory.set_threads(None)
    assert models[0] == models[1] == models[2]
    with pytest.raises(ValueError):
        priory.set_threads(0)


def test_rows_that_age_go_on_to(tmp_path, program):
    X, y = mixed()
    table = X.assign(amount=y)
    table.iloc[:120].to_parquet(tmp_path / "first.parquet")
    table.iloc[120:].to_parquet(tmp_path / "rest.parquet")
    first, both = tmp_path / "first.priory", tmp_path / "both.priory"
    program("train", tmp_path / "first.parquet", "--target", "amount", "--half-life", 3, "-o", first)
    both.write_bytes(first.read_bytes())
    program("learn", both, tmp_path / "rest.parquet")
    model = NaiveBayes.load(first).partial_fit(X.iloc[120:], y.iloc[120:])
    model.save(first)
    assert first.read_bytes() == both.read_bytes()
    with pytest.raises(ValueError, match="the rows of this model age"):
        model.forget(X.iloc[199:], y.iloc[199:])

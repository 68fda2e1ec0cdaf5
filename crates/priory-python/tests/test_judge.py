"""Judged models: what they predict can be believed more, and they are files like others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from test_model import program  # noqa: F401  (a fixture)

from priory import NaiveBayes


def table(rows, seed):
    """Two numbers that say nearly the same, one that says something else, and a category."""
    random = np.random.default_rng(seed)
    classes = random.integers(0, 3, rows)
    x = classes + random.normal(0, 1.5, rows)
    frame = pd.DataFrame({"x": x, "again": x + random.normal(0, 0.1, rows), "y": random.normal(0, 1, rows) * classes})
    frame["colour"] = np.array(["red", "green", "blue", "white"])[(classes + random.integers(0, 2, rows)) % 4]
    frame.loc[random.random(rows) < 0.1, "y"] = np.nan
    return frame, np.array(["a", "b", "c"])[classes]


@pytest.mark.parametrize("judge", ["weights", "pairs", "full", "auto"])
def test_judged_probabilities_are_better(judge):
    train, test = table(800, 1), table(800, 2)
    loss = {
        how: log_loss(test[1], NaiveBayes(judge=how).fit(*train).predict_proba(test[0])) for how in ["none", judge]
    }
    assert loss[judge] < loss["none"]


def test_a_judged_model_is_saved_and_loaded(tmp_path):
    X, y = table(300, 3)
    model = NaiveBayes(judge="full").fit(X, y)
    model.save(tmp_path / "judged.priory")
    again = NaiveBayes.load(tmp_path / "judged.priory")
    assert again == model
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_command_line_gives_the_same_model(program, tmp_path):  # noqa: F811
    X, y = table(300, 4)
    X.assign(label=y).to_csv(tmp_path / "table.csv", index=False)
    program("train", str(tmp_path / "table.csv"), "--target", "label", "--judge", "full", "-o", str(tmp_path / "a.priory"))
    from_file = NaiveBayes.load(tmp_path / "a.priory")
    frame = pd.read_csv(tmp_path / "table.csv")
    in_memory = NaiveBayes(judge="full").fit(frame.drop(columns="label"), frame["label"])
    np.testing.assert_array_equal(from_file.predict_proba(X), in_memory.predict_proba(X))


def test_rows_are_learnt_and_forgotten():
    X, y = table(400, 5)
    model = NaiveBayes(judge="full").fit(X[:300], y[:300])
    before = model.predict_proba(X)
    model.partial_fit(X[300:], y[300:])
    assert not np.array_equal(model.predict_proba(X), before)
    model.forget(X[300:], y[300:])
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_word_that_means_nothing_is_refused():
    X, y = table(60, 6)
    with pytest.raises(ValueError, match='judge="often": expected none, auto, weights, pairs or full'):
        NaiveBayes(judge="often").fit(X, y)

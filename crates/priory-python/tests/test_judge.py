"""Judged models: what they predict can be believed more, and they are files like others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from command_line import program  # noqa: F401  (a fixture)

from priory import NaiveBayes, TextNB


def table(rows, seed):
    """Two numbers that say nearly the same, one that says something else, and a category."""
    random = np.random.default_rng(seed)
    classes = random.integers(0, 3, rows)
    x = classes + random.normal(0, 1.5, rows)
    frame = pd.DataFrame({"x": x, "again": x + random.normal(0, 0.1, rows), "y": random.normal(0, 1, rows) * (0.3 + classes)})
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
    with pytest.raises(ValueError, match='judge="often": expected none, auto, weights, pairs, full or later'):
        NaiveBayes(judge="often").fit(X, y)


def test_what_was_learnt_since_can_be_judged_again():
    X, y = table(400, 7)
    whole = NaiveBayes().fit(X, y)
    model = NaiveBayes().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert model.show()["judgement"]["is_stale"]
    assert model != whole
    model.judge_again(X, y)
    assert not model.show()["judgement"]["is_stale"]
    assert model == whole
    with pytest.raises(ValueError, match="the model has learnt 400 rows, and these are 399"):
        model.judge_again(X[1:], y[1:])
    with pytest.raises(ValueError, match="the model has learnt 400 rows, but not these"):
        model.judge_again(X, y[::-1])


def test_models_of_parts_are_merged_and_judged():
    X, y = table(400, 8)
    parts = [NaiveBayes().fit(X[:200], y[:200]), NaiveBayes().fit(X[200:], y[200:])]
    both = parts[0].merge(parts[1])
    assert "judgement" not in both.show()
    assert both.judge_again(X, y) == NaiveBayes().fit(X, y)


def test_weights_can_be_forgotten_too():
    X, y = table(400, 9)
    model = NaiveBayes().fit(X, y).forget(X[300:], y[300:], drop_judgement=True)
    assert model == NaiveBayes(judge="none").fit(X[:300], y[:300])


def test_evaluations_are_compared():
    X, y = table(600, 10)
    reports = NaiveBayes().evaluate(X, y, folds=4, compare=True)
    assert (reports["plain"]["judged"], reports["judged"]["judged"]) == (0, 600)
    assert reports["judged"]["log_loss"] < reports["plain"]["log_loss"]
    assert reports["plain"] == NaiveBayes(judge="none").evaluate(X, y, folds=4)


def test_text_is_judged():
    random = np.random.default_rng(11)
    words = np.array(["buy", "now", "cheap", "meeting", "report", "budget", "the", "and"])
    y = np.where(random.random(300) < 0.5, "spam", "ham")
    chance = {"spam": [3, 3, 3, 1, 1, 1, 3, 3], "ham": [1, 1, 1, 3, 3, 3, 3, 3]}
    # Every word stands there five times: naive Bayes takes each for five.
    documents = [
        " ".join(np.repeat(random.choice(words, 4, p=np.array(chance[label]) / sum(chance[label])), 5)) for label in y
    ]
    loss = {}
    for judge in ["none", "auto"]:
        model = TextNB(judge=judge).fit(documents[:200], y[:200])
        loss[judge] = log_loss(y[200:], model.predict_proba(documents[200:]))
    assert loss["auto"] < loss["none"]


@pytest.mark.parametrize("judge", ["none", "full"])
def test_probabilities_lie_in_their_intervals(judge):
    X, y = table(300, 4)
    model = NaiveBayes(judge=judge).fit(X, y)
    probability = model.predict_proba(X)
    low, high = model.predict_interval(X)
    wider = model.predict_interval(X, probability=0.99)
    assert low.shape == high.shape == probability.shape
    assert np.all((low <= probability) & (probability <= high) & (low < high))
    assert np.all((wider[0] <= low) & (high <= wider[1]))
    for refused in [0, 1, -0.5, float("nan")]:
        with pytest.raises(ValueError, match="above 0 and below 1"):
            model.predict_interval(X, refused)


def test_terms_of_judged_models_add_up():
    X, y = table(300, 12)
    model = NaiveBayes().fit(X, y)
    told = model.explain(X[:50])
    assert told.features[:5] == ["offset", "x", "again", "y", "colour"]
    total = told.log_prior + np.zeros((50, 1))
    for i in range(len(told.features)):
        total = total + told.contributions[:, i]
    assert (total == told.log_joint).all()
    np.testing.assert_array_equal(told.log_joint, model.predict_joint_log_proba(X[:50]))


def test_leaving_a_row_out_is_less_hopeful():
    X, y = table(300, 13)
    model = NaiveBayes().fit(X, y)
    own = np.searchsorted(model.classes_, y)
    left_out = model.leave_one_out_proba(X, y)[np.arange(300), own]
    assert (left_out <= model.predict_proba(X)[np.arange(300), own] + 1e-9).all()
    report = NaiveBayes().evaluate(X, y, leave_one_out=True)
    assert report["judged"] == 300
    np.testing.assert_allclose(report["log_loss"], -np.log(left_out).mean(), rtol=1e-6)


def test_parts_of_a_stream_are_not_judged_until_all_is_there():
    X, y = table(300, 14)
    model = NaiveBayes().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert "judgement" not in model.show()
    assert model.judge_again(X, y) == NaiveBayes().fit(X, y)

"""Which class is answered, what cut-offs are worth, and the shares of classes that nobody has written down."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve
from command_line import program  # noqa: F401  (a fixture)
from test_model import mixed

from priory import NaiveBayes, TextNB

warnings.filterwarnings("ignore", category=UserWarning)


def noisy():
    """A table in which no column tells the class for sure."""
    X, y = mixed()
    flipped = np.random.default_rng(8).random(len(y)) < 0.25
    return X, pd.Series(np.where((y == "few") ^ flipped, "few", "many"), name="amount")


def log_odds(model, X):
    """The log-odds of the second class, without the digits that depend on the order of sums."""
    joint = model.predict_joint_log_proba(X)
    return np.round((joint[:, 1] - joint[:, 0]) * 2**40) / 2**40


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.booleans()), min_size=3, max_size=60),
    st.data(),
)
def test_curves_are_those_of_scikit_learn(rows, data):
    X = pd.DataFrame([row[:2] for row in rows], columns=["a", "b"])
    y = np.array(["yes" if row[2] else "no" for row in rows], dtype=object)
    y[0], y[1] = "yes", "no"
    weights = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y))))
    model = NaiveBayes(judge="none", positive="yes").fit(X, y, sample_weight=np.ones(len(y)))
    report = model.evaluate_on(X, y, sample_weight=weights)["cut_offs"]
    scores = log_odds(model, X)
    curve = report["curve"]
    fpr, tpr, _ = roc_curve(y, scores, pos_label="yes", sample_weight=weights, drop_intermediate=False)
    np.testing.assert_allclose(curve["false_positive_rate"], fpr[1:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve["recall"], tpr[1:], rtol=0, atol=1e-12)
    precision, recall, thresholds = precision_recall_curve(y, scores, pos_label="yes", sample_weight=weights)
    np.testing.assert_allclose(curve["precision"][::-1], precision[:-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve["thresholds"][::-1], 1 / (1 + np.exp(-thresholds)), rtol=1e-12)
    assert report["roc_auc"] == pytest.approx(roc_auc_score(y == "yes", scores, sample_weight=weights), abs=1e-12)
    assert report["average_precision"] == pytest.approx(average_precision_score(y == "yes", scores, sample_weight=weights), abs=1e-12)


def test_decisions_are_made_once_or_kept(tmp_path, program):  # noqa: F811
    X, y = noisy()
    model = NaiveBayes().fit(X, y)
    P = pd.DataFrame(model.predict_proba(X), columns=model.classes_)
    few = np.where(P.few >= 0.25, "few", "many")
    assert (model.predict(X, threshold={"few": 0.25}) == few).all()
    assert (model.predict(X, positive="few", threshold=0.25) == few).all()
    assert (few != model.predict(X)).any()
    cost = {("few", "many"): 3, ("many", "few"): 1}
    assert (model.predict(X, cost=cost) == np.where(3 * P.few > P.many, "few", "many")).all()
    table = pd.DataFrame([("few", 0, 3), ("many", 1, 0)], columns=["class", "few", "many"])
    assert (model.predict(X, cost=table) == model.predict(X, cost="few:many=3,many:few=1")).all()
    third = model.predict(X, unsure=0.9)
    assert third.dtype == object and set(third) <= {"few", "many", "unsure"}
    assert ((third == "unsure") == (P.max(axis=1) < 0.9)).all() and (third == "unsure").any()
    kept = model.reestimate(cost=cost, unsure=0.6)
    assert (kept.predict(X) == model.predict(X, cost=cost, unsure=0.6)).all()
    assert kept.reestimate(cost=None, unsure=None) == model
    kept.save(tmp_path / "kept.priory")
    X.assign(amount=y).to_parquet(tmp_path / "t.parquet")
    told = program("predict", tmp_path / "kept.priory", tmp_path / "t.parquet").split()
    assert told[1:] == list(kept.predict(X))
    told = json.loads(program("evaluate", tmp_path / "kept.priory", tmp_path / "t.parquet", "--format", "json"))
    report = kept.evaluate_on(X, y)
    assert {key: told[key] for key in report} == report and report["cut_offs"]["positive"] == "many"
    assert NaiveBayes.load(tmp_path / "kept.priory").predict(X).tolist() == kept.predict(X).tolist()


@pytest.mark.parametrize(
    "given, message",
    [
        ({"cost": {("few", "many"): 1}}, "answer `few` where `many` is true"),
        ({"cost": {("few", "many"): float("nan"), ("many", "few"): 1}}, "is NaN"),
        ({"threshold": {"none": 0.5}}, "no class `none`"),
        ({"threshold": {"few": 1.5}}, "between 0 and 1"),
        ({"threshold": 0.5}, "positive"),
        ({"unsure": 0.2}, "always has a probability"),
        ({"threshold": {"few": 0.5}, "cost": {("*", "*"): 1}}, "choose one of them"),
    ],
)
def test_nonsense_is_refused(given, message):
    X, y = mixed()
    with pytest.raises(ValueError, match=message):
        NaiveBayes(**given).fit(X, y)
    with pytest.raises(ValueError, match=message):
        NaiveBayes().fit(X, y).predict(X, **given)


def test_numbers_as_classes_and_texts():
    X, y = mixed()
    numbers = np.where(y == "few", 0, 1)
    model = NaiveBayes(threshold={0: 0.8}).fit(X, numbers)
    assert (model.predict(X) == np.where(model.predict_proba(X)[:, 0] >= 0.8, 0, 1)).all()
    words = ["cheap pills now", "cheap cheap watches", "lunch at noon?", "notes of the meeting"]
    spam = TextNB(threshold={"spam": 1}).fit(words, ["spam", "spam", "ham", "ham"])
    assert set(spam.predict(words)) == {"ham"}  # nothing is certain


def test_shares_that_nobody_has_written_down():
    source = np.random.default_rng(5)

    def rows(n, share):
        y = np.where(source.random(n) < share, "a", "b")
        return pd.DataFrame({"x": source.normal(np.where(y == "a", 1.5, 0), 1), "z": source.normal(np.where(y == "a", 0, 1), 1)}), y

    model = NaiveBayes().fit(*rows(4000, 0.5))
    X, y = rows(4000, 0.1)
    prior = model.estimate_prior(X)
    assert prior["a"] == pytest.approx((y == "a").mean(), abs=0.02)
    assert (model.predict(X, prior="estimate") == y).mean() > (model.predict(X) == y).mean() + 0.03
    moved = model.reestimate(prior=prior)
    assert (model.predict_proba(X, prior="estimate") == moved.predict_proba(X)).all()
    with pytest.raises(ValueError, match="estimate"):
        model.predict(X, prior="uniform")


def test_strangers_have_the_least_evidence():
    X, y = mixed()
    model = NaiveBayes(judge="none").fit(X, y)
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(model.score_samples(X), np.logaddexp.reduce(joint, axis=1), atol=1e-9)
    strange = X[:1].assign(size=1e6)
    assert model.score_samples(strange)[0] < model.score_samples(X).min()


def test_predictions_worse_than_none_are_said():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    swapped = np.where(y == "few", "many", "few")
    with pytest.warns(UserWarning, match="below that of always answering the majority class"):
        assert model.evaluate_on(X, swapped)["doubts"]

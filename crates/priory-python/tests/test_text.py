"""TextNB: documents in."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import priory
from priory import TextNB

SAID = ["the cat sat on the mat", "a dog and a cat", "the dog barks", "stocks fell again", "markets and stocks rise", "NA", ""]
Y = ["pets", "pets", "pets", "money", "money", "money", "pets"]


@pytest.mark.parametrize(
    "model, theirs, alpha",
    [("multinomial", priory.MultinomialNB, 1.0), ("bernoulli", priory.BernoulliNB, 0.5), ("complement", priory.ComplementNB, 2.0)],
)
def test_the_same_as_counting_and_classifying(model, theirs, alpha):
    # scikit-learn's ComplementNB knows no prior.
    prior = "uniform" if model == "complement" else "empirical"
    ours = TextNB(model=model, smoothing=alpha, prior=prior, tokens="sklearn", ngrams="1-2").fit(SAID, Y)
    other = make_pipeline(CountVectorizer(ngram_range=(1, 2)), theirs(alpha=alpha)).fit(SAID, Y)
    asked = ["the cat fell", "stocks and dogs", "the mat"]
    np.testing.assert_allclose(ours.predict_log_proba(asked), other.predict_log_proba(asked), rtol=1e-9, atol=1e-12)
    assert (ours.predict(asked) == other.predict(asked)).all()


def test_series_arrays_and_lists():
    model = TextNB().fit(SAID, Y)
    for documents in (pd.Series(SAID), np.array(SAID), np.array(SAID, dtype=object), tuple(SAID)):
        assert TextNB().fit(documents, Y) == model
        assert (model.predict(documents) == model.predict(SAID)).all()


def test_parts_forgetting_pickle_and_settings():
    model = TextNB(smoothing=0.5).fit(SAID, Y)
    parts = TextNB(smoothing=0.5).partial_fit(SAID[4:], Y[4:]).partial_fit(SAID[:4], Y[:4])
    assert parts == model == pickle.loads(pickle.dumps(model))
    assert parts.forget(SAID[:2], Y[:2]) == TextNB(smoothing=0.5).fit(SAID[2:], Y[2:])
    assert model.reestimate(model="multinomial", smoothing=1.0) == TextNB(model="multinomial", smoothing=1.0).fit(SAID, Y)
    assert clone(model).smoothing == 0.5


def test_grid_search():
    search = GridSearchCV(TextNB(), {"model": ["multinomial", "bernoulli"], "smoothing": [0.1, 1.0]}, cv=2)
    search.fit(SAID * 4, Y * 4)
    assert search.best_score_ > 0.9


def test_what_is_no_document():
    with pytest.raises(ValueError, match="string object received"):
        TextNB().fit("a text", Y)
    with pytest.raises(ValueError, match="document 1 is of type float"):
        TextNB().fit(["a", float("nan")], ["x", "y"])
    with pytest.raises(ValueError, match="tokens: expected words"):
        TextNB(tokens="letters").fit(SAID, Y)
    with pytest.raises(ValueError, match="stop_words"):
        TextNB(stop_words="klingon").fit(SAID, Y)
    words = TextNB(stop_words=["the", "a", "on"]).fit(SAID, Y)
    assert (words.predict_proba(["the a on"]) == words.class_prior_).all()


def test_explanations_add_up():
    model = TextNB().fit(SAID, Y)
    told = model.explain(SAID)
    np.testing.assert_allclose(told.log_prior + told.contributions[:, 0], told.log_joint)


def test_words_one_by_one():
    mails = ["Do math today", "Buy", "Buy book", "Today do math drugs", "Buy drugs book today"]
    model = TextNB(model="bernoulli", smoothing="laplace", judge="none")
    model.fit(mails, ["ham", "spam", "ham", "spam", "spam"])
    [drugs] = model.words("spam", 1)
    assert drugs["token"] == "drugs" and (drugs["documents"], drugs["elsewhere"]) == (2, 0)
    assert drugs["probability"] == {"ham": 1 / 4, "spam": 3 / 5}
    with pytest.raises(ValueError, match="there is no class 'eggs'; the classes are 'ham', 'spam'"):
        model.words("eggs")
    [explained] = model.explain_words(["buy a book today"])
    assert [word["token"] for word in explained["tokens"]] == ["buy", "a", "book", "today"]
    assert explained["tokens"][1]["log_likelihood"] is None
    known = [word["log_likelihood"]["spam"] for word in explained["tokens"] if word["log_likelihood"]]
    total = explained["absent"]["spam"] + sum(known) + np.log(model.class_prior_[1])
    assert total == pytest.approx(model.explain(["buy a book today"]).log_joint[0, 1])

"""Several threads of Python share one model."""

import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone

import priory

ROWS, PARTS = 400, 20
RNG = np.random.default_rng(0)
X = RNG.poisson(3, (ROWS, 5)).astype(float)
Y = np.where(X[:, 0] + RNG.random(ROWS) > 3, "many", "few")
TEXTS = [" ".join(f"w{int(x)}" for x in row) for row in X]


def together(*works):
    """Runs each of these on a thread of its own, all at once, and raises what they raised."""
    failures, start = [], threading.Barrier(len(works))

    def run(work):
        start.wait()
        try:
            work()
        except BaseException as failure:  # whatever it is, it is raised below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure



@pytest.mark.parametrize(
    "model",
    [
        priory.NaiveBayes(kinds={"*": "number"}),
        priory.TextNB(),
        priory.GaussianNB(),
        priory.MultinomialNB(),
        priory.ComplementNB(),
        priory.BernoulliNB(),
        priory.CategoricalNB(min_categories=30),
    ],
    ids=lambda model: type(model).__name__,
)
def test_everything_at_once(model):
    data = np.array(TEXTS, dtype=object) if isinstance(model, priory.TextNB) else X
    if isinstance(model, priory.CategoricalNB):
        data = X.astype(int)
    classes = {} if isinstance(model, priory.NaiveBayes) else {"classes": ["few", "many"]}
    alone = clone(model).partial_fit(data, Y, **classes)
    model.partial_fit(data[:100], Y[:100], **classes)

    def learn(rows):
        def work():
            for part in np.array_split(rows, PARTS):
                model.partial_fit(data[part], Y[part])

        return work

    def ask():
        for _ in range(PARTS):
            assert model.predict_proba(data).shape == (ROWS, 2)
            assert set(model.predict(data[:10])) <= {"few", "many"}
            pickle.loads(pickle.dumps(model)).predict(data[:10])
            assert model.class_count_.sum() >= 100

    rest = np.arange(100, ROWS)
    together(learn(rest[::2]), learn(rest[1::2]), ask, ask)
    assert (model.predict_proba(data) == alone.predict_proba(data)).all()


def test_new_classes_while_others_predict():
    model = priory.NaiveBayes(kinds={"*": "number"}).fit(X, Y)
    done = threading.Event()

    def learn():
        try:
            for i in range(30):
                model.partial_fit(X[:20], [f"class {99 - i}"] * 20)
        finally:
            done.set()

    def ask():
        while not done.is_set():
            assert (model.predict(X[:50]) != "").all()
            probabilities = model.predict_proba(X[:50])
            assert 2 <= probabilities.shape[1] <= 32
            told = model.explain(X[:2])
            assert told.log_joint.shape[1] == told.log_prior.shape[0] == told.contributions.shape[2]
            for copy in (pickle.loads(pickle.dumps(model)), model + model):
                assert set(copy.predict(X[:5])) <= set(copy.classes_)
            model.forget(X[:1], Y[:1]).partial_fit(X[:1], Y[:1])

    together(learn, ask, ask)
    assert len(model.classes_) == 32


def test_models_are_added_while_they_learn():
    a, b = (priory.NaiveBayes(kinds={"*": "number"}).fit(X, Y) for _ in range(2))
    together(
        *[lambda: [a.merge(b) for _ in range(10)], lambda: [b.partial_fit(X, Y) for _ in range(3)]],
        *[lambda: [a == b for _ in range(10)], lambda: [a + b for _ in range(10)]],
    )
    assert a.class_count_.sum() >= 11 * ROWS and b.class_count_.sum() == 4 * ROWS


def test_a_copy_has_a_lock_of_its_own():
    model = priory.GaussianNB().fit(X, Y)
    other = pickle.loads(pickle.dumps(model))
    with model._lock:
        together(lambda: other.partial_fit(X, Y))
    assert other.class_count_.sum() == 2 * ROWS

"""The same numbers as scikit-learn's, and the same bits however rows are split."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.discriminant_analysis as discriminants
import sklearn.naive_bayes as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import priory

CLOSE = 1e-12
pytestmark = pytest.mark.filterwarnings("ignore")


def assert_close(ours, theirs):
    """Equal to a relative 1e-12, on a scale on which 1 is the smallest that matters."""
    with np.errstate(invalid="ignore"):
        same = (ours == theirs) | (np.abs(ours - theirs) <= CLOSE * np.maximum(1, np.abs(theirs)))
    assert same.all(), (ours[~same][:5], theirs[~same][:5])


def check(name, X, y, weights=None, **parameters):
    ours = getattr(priory, name)(**parameters).fit(X, y, sample_weight=weights)
    other = getattr(theirs, name)(**parameters).fit(X, y, sample_weight=weights)
    assert (ours.classes_ == other.classes_).all()
    for attribute in vars(other):
        if attribute.endswith("_") and attribute != "classes_":
            ours_of, theirs_of = getattr(ours, attribute), getattr(other, attribute)
            if isinstance(theirs_of, list):
                ours_of, theirs_of = np.hstack(ours_of), np.hstack(theirs_of)
            assert_close(np.asarray(ours_of, dtype=float), np.asarray(theirs_of, dtype=float))
    joint = other.predict_joint_log_proba(X)
    if np.isfinite(joint).all():
        assert_close(ours.predict_joint_log_proba(X), joint)
        # What is left after subtracting large numbers is as exact as these are.
        scale = np.maximum(1, np.abs(joint).max(axis=1, keepdims=True))
        assert (np.abs(ours.predict_log_proba(X) - other.predict_log_proba(X)) <= CLOSE * scale).all()
        gap = np.sort(joint, axis=1)
        clear = np.full(len(X) if not sp.issparse(X) else X.shape[0], True)
        if joint.shape[1] > 1:
            clear = gap[:, -1] - gap[:, -2] > CLOSE * scale[:, 0]
        assert (ours.predict(X)[clear] == other.predict(X)[clear]).all()
    return ours


@st.composite
def labelled(draw, elements, least=0.0):
    """A matrix, classes and perhaps weights."""
    rows, columns = draw(st.integers(2, 12)), draw(st.integers(1, 9))
    X = draw(hnp.arrays(np.float64, (rows, columns), elements=elements))
    labels = draw(st.sampled_from([[0, 1], [0, 1, 2], ["a", "b"], [-5, 40], [True, False]]))
    y = np.array([labels[0], labels[1]] + [draw(st.sampled_from(labels)) for _ in range(rows - 2)])
    weights = draw(st.one_of(st.none(), hnp.arrays(np.float64, rows, elements=st.floats(0.125, 8))))
    return X, y, weights


numbers = st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda x: round(x, 3))
counts = st.one_of(st.integers(0, 9).map(float), st.floats(0, 5).map(lambda x: round(x, 4)))
alphas = st.sampled_from([1.0, 0.5, 1e-3, 2.5])


@given(labelled(numbers), st.sampled_from([1e-9, 1e-3, 0.5]), st.booleans())
def test_gaussian(table, var_smoothing, with_priors):
    X, y, weights = table
    if X.var(axis=0).max() < 1e-6:
        return  # a variance of nothing has no digits to compare
    X = X + np.arange(len(X))[:, None] * 0.25
    k = len(np.unique(y))
    priors = (np.arange(k) + 1) / np.arange(1, k + 1).sum() if with_priors else None
    check("GaussianNB", X, y, weights, var_smoothing=max(var_smoothing, 1e-6), priors=priors)


@given(labelled(numbers), st.booleans())
def test_gaussian_by_default(table, weighted):
    """With a var_smoothing of 1e-9 a variance can be as small as 1e-9 of the largest, and scikit-learn's, which come from
    rounded means, lose as many digits as the numbers are larger than their deviation. So what is compared is what both
    say of variances that have their digits, and scores by how much these can matter."""
    X, y, weights = table
    weights = weights if weighted else None
    if X.var(axis=0).max() < 1e-6:
        return
    ours, other = priory.GaussianNB().fit(X, y, weights), theirs.GaussianNB().fit(X, y, weights)
    assert_close(ours.epsilon_ / other.epsilon_, np.ones(1))
    assert_close(ours.theta_, other.theta_)
    # What rounding a sum of squares of deviations can be wrong by: some units in the last place of the largest number.
    largest = np.abs(X).max(axis=0)
    slack = 16 * len(X) * np.finfo(float).eps * largest * (largest * np.finfo(float).eps + np.sqrt(other.var_))
    assert (np.abs(ours.var_ - other.var_) <= slack + CLOSE * other.var_).all()
    # d log p = ½ |(x − µ)² / v − 1| dv / v, and rounding x − µ.
    distance = np.abs(X[:, None] - other.theta_)
    terms = distance**2 / other.var_
    wrong = 0.5 * (terms + 1) * (slack / other.var_ + CLOSE) + CLOSE * (terms + largest * distance / other.var_)
    joint = other.predict_joint_log_proba(X)
    allowed = wrong.sum(axis=2) + CLOSE * np.maximum(1, np.abs(joint))
    assert (np.abs(ours.predict_joint_log_proba(X) - joint) <= 2 * allowed).all()


@given(labelled(counts), alphas, st.booleans(), st.sampled_from(["dense", "csr", "csc", "int64"]))
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_counts(name, table, alpha, fit_prior, layout):
    X, y, weights = table
    if layout in ("csr", "csc"):
        X = getattr(sp, f"{layout}_matrix")(X)
    elif layout == "int64":
        X = sp.csr_matrix(X)
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    parameters = {"norm": True} if name == "ComplementNB" and fit_prior else {}
    check(name, X, y, weights, alpha=alpha, fit_prior=fit_prior, **parameters)


@given(labelled(st.floats(-2, 2)), st.sampled_from([0.0, 0.5, None]))
def test_bernoulli_thresholds(table, binarize):
    X, y, weights = table
    if binarize is None:
        X = (X > 0).astype(float)
    check("BernoulliNB", X, y, weights, binarize=binarize)


@given(labelled(st.integers(0, 4).map(float)), alphas, st.sampled_from([None, 7]))
def test_categorical(table, alpha, min_categories):
    X, y, weights = table
    check("CategoricalNB", X.astype(int), y, weights, alpha=alpha, min_categories=min_categories)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_real_tables(load):
    X, y = load(return_X_y=True)
    check("GaussianNB", X, y, var_smoothing=1e-6)
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB"):
        check(name, X, y)
        check(name, sp.csr_matrix(X), y, np.linspace(0.5, 2, len(y)))
    check("CategoricalNB", X.astype(int), y)
    for dtype in (np.float32, np.int64, np.uint8):
        check("MultinomialNB", X.astype(dtype), y)
    check("MultinomialNB", np.asfortranarray(X), y)
    check("GaussianNB", X[::-1, ::-1], y[::-1], var_smoothing=1e-6)


def condition(X, y):
    """How the worst covariance is conditioned: discriminants solve systems of equations, and lose digits as it is."""
    covariances = [np.atleast_2d(np.cov(X[y == k].T)) for k in np.unique(y)]
    return max(np.linalg.cond(covariance) for covariance in [*covariances, sum(covariances)])


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    "name, parameters",
    [
        ("LinearDiscriminantAnalysis", {}),
        ("LinearDiscriminantAnalysis", {"priors": [0.2, 0.3, 0.5], "n_components": 1}),
        ("LinearDiscriminantAnalysis", {"solver": "lsqr"}),
        ("LinearDiscriminantAnalysis", {"solver": "eigen", "shrinkage": 0.3}),
        ("LinearDiscriminantAnalysis", {"solver": "lsqr", "shrinkage": "auto"}),
        ("QuadraticDiscriminantAnalysis", {"tol": 1e-9}),
        ("QuadraticDiscriminantAnalysis", {"reg_param": 0.1}),
        ("QuadraticDiscriminantAnalysis", {"solver": "eigen", "shrinkage": 0.2}),
    ],
)
def test_discriminants(load, name, parameters):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if "priors" in parameters:
        k = len(np.unique(y))
        parameters = {**parameters, "priors": np.array(parameters["priors"][:k]) / sum(parameters["priors"][:k])}
    ours = getattr(priory, name)(**parameters).fit(X, y)
    other = getattr(discriminants, name)(**parameters).fit(X, y)
    scores = other.decision_function(X)
    close = min(1e-10, max(CLOSE, 1e-15 * condition(X, y)))
    np.testing.assert_allclose(ours.decision_function(X), scores, rtol=close, atol=close * np.abs(scores).max())
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=1e-8, atol=1e-12)
    assert (ours.predict(X) == other.predict(X)).all()
    if name.startswith("Linear") and parameters.get("solver") != "lsqr":
        turned, theirs_turned = ours.transform(X), other.transform(X)
        np.testing.assert_allclose(np.abs(turned), np.abs(theirs_turned), rtol=1e-6, atol=1e-8)


@st.composite
def clouds(draw):
    """Rows of two or three classes with as many directions as columns, whose covariances can be inverted."""
    columns, classes = draw(st.integers(1, 5)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = [draw(st.integers(columns + 4, columns + 20)) for _ in range(classes)]
    mixing = np.eye(columns) + 0.3 * rng.normal(size=(columns, columns))
    places = draw(hnp.arrays(np.float64, (classes, columns), elements=st.floats(-5, 5)))
    scale = 10.0 ** draw(st.integers(-3, 3))
    X = np.vstack([rng.normal(size=(n, columns)) @ mixing + place for n, place in zip(rows, places)]) * scale
    y = np.repeat(np.arange(classes), rows)
    order = rng.permutation(len(y))
    return X[order], y[order]


@given(
    clouds(),
    st.sampled_from(
        [
            ("LinearDiscriminantAnalysis", {}),
            ("LinearDiscriminantAnalysis", {"solver": "lsqr"}),
            ("LinearDiscriminantAnalysis", {"solver": "lsqr", "shrinkage": 0.4}),
            ("LinearDiscriminantAnalysis", {"solver": "eigen", "shrinkage": "auto"}),
            ("QuadraticDiscriminantAnalysis", {"tol": 1e-12}),
            ("QuadraticDiscriminantAnalysis", {"reg_param": 0.2}),
        ]
    ),
)
def test_discriminants_of_clouds(table, case):
    (X, y), (name, parameters) = table, case
    if condition(X, y) > 1e4:
        return
    ours = getattr(priory, name)(**parameters).fit(X, y)
    other = getattr(discriminants, name)(**parameters).fit(X, y)
    scores = other.decision_function(X)
    close = min(1e-10, max(CLOSE, 1e-15 * condition(X, y)))
    np.testing.assert_allclose(ours.decision_function(X), scores, rtol=close, atol=close * np.abs(scores).max())
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.means_, other.means_, rtol=1e-12, atol=1e-12 * np.abs(X).max())


CASES = {
    "GaussianNB": lambda rng: rng.normal(1e6, 3, (60, 9)),
    "MultinomialNB": lambda rng: sp.csr_matrix(rng.random((60, 9)) * (rng.random((60, 9)) < 0.4)),
    "ComplementNB": lambda rng: rng.random((60, 9)),
    "BernoulliNB": lambda rng: rng.normal(size=(60, 9)),
    "CategoricalNB": lambda rng: rng.integers(0, 6, (60, 9)),
}


@pytest.mark.parametrize("name", CASES)
@given(data=st.data(), weighted=st.booleans(), threads=st.integers(1, 3))
@settings(max_examples=25)
def test_any_chunks_in_any_order_give_the_same_bits(name, data, weighted, threads):
    rng = np.random.default_rng(3)
    X, y = CASES[name](rng), rng.integers(0, 3, 60)
    weights = rng.random(60) if weighted else None
    priory.set_threads(threads)
    whole = getattr(priory, name)().fit(X, y, sample_weight=weights)
    order = data.draw(st.permutations(range(60)))
    cuts = sorted(data.draw(st.lists(st.integers(1, 59), max_size=4, unique=True)))
    parts = getattr(priory, name)()
    for rows in np.split(np.array(order), cuts):
        parts.partial_fit(X[rows], y[rows], [0, 1, 2], None if weights is None else weights[rows])
        parts = pickle.loads(pickle.dumps(parts))
    priory.set_threads(None)
    assert whole._sums.to_bytes() == parts._sums.to_bytes()
    assert whole.predict_proba(X).tobytes() == parts.predict_proba(X).tobytes()


def test_a_category_that_was_never_met_is_no_error():
    model = priory.CategoricalNB().fit([[0], [0], [1]], [0, 0, 1])
    # α / (n + α (J + 1)): 1/5 of two rows, 1/4 of one row
    odds = np.array([2 / 3 / 5, 1 / 3 / 4])
    np.testing.assert_allclose(model.predict_proba([[9]])[0], odds / odds.sum(), rtol=1e-14)


def test_what_is_added_to_variances_does_not_depend_on_the_last_chunk():
    X, y = load_iris(return_X_y=True)
    parts = priory.GaussianNB().partial_fit(X[:149], y[:149], [0, 1, 2]).partial_fit(X[149:], y[149:])
    np.testing.assert_allclose(parts.epsilon_, 1e-9 * X.var(axis=0).max(), rtol=1e-14)
    assert parts.epsilon_ == priory.GaussianNB().fit(X, y).epsilon_


def test_impossible_is_impossible():
    # With α = 0 a word that is not there does not matter, however impossible it would be.
    model = priory.MultinomialNB(alpha=0.0).fit([[1, 0, 1], [0, 1, 1]], [0, 1])
    assert (model.predict_proba([[1, 0, 3], [0, 0, 1]]) == [[1, 0], [0.5, 0.5]]).all()


def test_arrays_of_weights_cannot_be_changed_behind_the_models_back():
    model = priory.MultinomialNB().fit([[1, 0], [0, 1]], [0, 1])
    model.predict([[1, 0]])
    with pytest.raises(ValueError):
        model.feature_log_prob_[0, 0] = 5
    model.feature_log_prob_ = model.feature_log_prob_[::-1]
    assert model.predict([[1, 0]]) == [1]


@pytest.mark.parametrize("name", ["GaussianNB", "CountSums", "CodeSums"])
def test_damaged_sums_are_refused(name):
    from priory import _priory

    sums = getattr(_priory, name.replace("NB", "Sums"))(2, 3)
    bytes = sums.to_bytes()
    assert type(sums).from_bytes(bytes).to_bytes() == bytes
    for cut in range(len(bytes)):
        with pytest.raises(ValueError):
            type(sums).from_bytes(bytes[:cut])
    with pytest.raises(ValueError):
        type(sums).from_bytes(b"\xff" * 64)


def test_sparse_matrices_that_contradict_themselves_are_refused():
    from priory import _priory

    sums = _priory.CountSums(3, 2)
    classes = np.zeros(1, dtype=np.uint32)
    for indptr, indices in [([0, 5], [0]), ([0, 1], [3]), ([0, 1], [-1]), ([1, 0], [0])]:
        parts = (np.array(indptr, dtype=np.int32), np.array(indices, dtype=np.int32), np.ones(1), 3)
        with pytest.raises(ValueError):
            sums.observe(parts, classes)

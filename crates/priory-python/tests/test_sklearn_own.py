"""scikit-learn's own tests of its naive Bayes classes, pointed at ours.

Their text is read from the installed package; nothing of it is copied here. A test that does not apply is left out by
name, and named in docs/python.md.
"""

import importlib
import importlib.util
import pathlib
import sys

import numpy as np
import pytest
import sklearn

import priory

# Tests that do not apply, with the reason.
LEFT_OUT = {
    "test_gnb_check_update_with_no_data": "calls a private helper that updates means and variances; sums need none",
}


def _tests_of(home, classes):
    """The tests of a module of scikit-learn, read while its classes are replaced by ours."""
    home = importlib.import_module(f"sklearn.{home}")
    path = pathlib.Path(sklearn.__file__).parent / "tests" / f"test_{home.__name__.rpartition('.')[2]}.py"
    spec = importlib.util.spec_from_file_location(f"sklearn.tests.{path.stem}_of_priory", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    theirs = {name: getattr(home, name) for name in classes}
    try:
        vars(home).update({name: getattr(priory, name) for name in classes})
        spec.loader.exec_module(module)
    finally:
        vars(home).update(theirs)
    return {name: value for name, value in vars(module).items() if name.startswith("test_")}


_NAIVE_BAYES = _tests_of(
    "naive_bayes", ["GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]
)
_DISCRIMINANTS = _tests_of(
    "discriminant_analysis", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
)
for _name, _test in {**_NAIVE_BAYES, **_DISCRIMINANTS}.items():
    if _name not in LEFT_OUT:
        globals()[_name] = _test


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param


def test_ours_are_tested():
    assert _NAIVE_BAYES["test_gnb"].__globals__["GaussianNB"] is priory.GaussianNB
    assert _DISCRIMINANTS["test_qda"].__globals__["QuadraticDiscriminantAnalysis"] is priory.QuadraticDiscriminantAnalysis


def test_what_is_left_out_is_there():
    assert set(LEFT_OUT) <= {*_NAIVE_BAYES, *_DISCRIMINANTS}
    assert not set(_NAIVE_BAYES) & set(_DISCRIMINANTS)

"""scikit-learn's checks of what an estimator must be."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import priory

# Those that need no matrix: TextNB takes documents, for which `check_estimator` has only the first of these.
WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_mixin_order",
]


@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_text(name):
    getattr(estimator_checks, name)("TextNB", priory.TextNB())


@parametrize_with_checks(
    [
        priory.NaiveBayes(),
        priory.GaussianNB(),
        priory.MultinomialNB(),
        priory.ComplementNB(),
        priory.BernoulliNB(),
        priory.CategoricalNB(),
        priory.LinearDiscriminantAnalysis(),
        priory.LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5),
        priory.QuadraticDiscriminantAnalysis(),
    ]
)
def test_estimator(estimator, check):
    check(estimator)

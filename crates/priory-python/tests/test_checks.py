"""scikit-learn's checks of what an estimator must be."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import priory


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

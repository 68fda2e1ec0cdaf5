"""Naive Bayes for anything that can be counted.

`NaiveBayes` takes a table as it is. `schema_of`, `statistics_of` and `merge` learn one in parts, and `priory.spark` on a cluster. The classes with scikit-learn's names stand in for them, and need scikit-learn.
Everything is imported when it is first asked for.
"""

from importlib import import_module

from priory._priory import __version__, set_threads, threads

_HOMES = {
    "Explanation": "_explanation",
    "NaiveBayes": "_model",
    "Picture": "_picture",
    "Report": "_picture",
    "QuadraticDiscriminantAnalysis": "_discriminant",
    "Summary": "_report",
    "TextNB": "_text",
    "BernoulliNB": "_counts",
    "CategoricalNB": "_categories",
    "ComplementNB": "_counts",
    "GaussianNB": "_gaussian",
    "LinearDiscriminantAnalysis": "_discriminant",
    "MultinomialNB": "_counts",
    "merge": "_parts",
    "read_spreadsheet": "_spreadsheet",
    "schema_of": "_parts",
    "statistics_of": "_parts",
}

__all__ = [*_HOMES, "__version__", "set_threads", "threads"]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'priory' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"priory.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] == "sklearn":
            raise ImportError(f"priory.{name} stands in for scikit-learn's, and needs it: pip install scikit-learn") from error
        raise
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_HOMES])

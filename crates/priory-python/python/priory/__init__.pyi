from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from typing_extensions import Self

_Matrix = ArrayLike | spmatrix
_Table = Any
_Labels = NDArray[Any]

__version__: str

def set_threads(n: int | None = None) -> None: ...
def threads() -> int: ...
def read_spreadsheet(path: str | PathLike[str], sheet: str | int | None = None) -> dict[str, list[str | None]]: ...
def schema_of(sample: _Table | Iterable[_Table], target: str, *, weight: str | None = None, **options: Any) -> bytes: ...
def statistics_of(
    batches: _Table | Iterable[_Table],
    target: str | None = None,
    *,
    weight: str | None = None,
    schema: bytes | None = None,
    **options: Any,
) -> bytes: ...
@overload
def merge(
    parts: Iterable[bytes], *, judge: Literal["auto", "none", "weights", "pairs", "full"] = "auto"
) -> NaiveBayes: ...
@overload
def merge(parts: Iterable[bytes], *, judge: Literal["later"]) -> bytes: ...

class Explanation:
    classes: _Labels
    features: list[str]
    values: list[list[str | None]]
    contributions: NDArray[np.float64]
    log_prior: NDArray[np.float64]
    log_joint: NDArray[np.float64]
    def __init__(
        self,
        classes: _Labels,
        features: list[str],
        values: list[list[str | None]],
        contributions: NDArray[np.float64],
        log_prior: NDArray[np.float64],
        log_joint: NDArray[np.float64],
    ) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, rows: int | slice) -> Explanation: ...
    @property
    def probabilities(self) -> NDArray[np.float64]: ...
    @property
    def prediction(self) -> _Labels: ...
    def to_frame(self) -> Any: ...
    def evidence(self, row: int = 0) -> tuple[Any, Any, list[tuple[str, str | None, float]]]: ...

class Summary(dict[str, Any]):
    def __init__(self, name: str, contents: dict[str, Any]) -> None: ...

class Report:
    def __init__(self, page: str) -> None: ...
    def _repr_html_(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...

class Picture:
    def __init__(self, svg: str) -> None: ...
    def save(self, path: str | PathLike[str]) -> None: ...

class NaiveBayes(ClassifierMixin, BaseEstimator):
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    learnt_from_: int | None
    @property
    def classes_(self) -> _Labels: ...
    @property
    def class_count_(self) -> NDArray[np.float64]: ...
    @property
    def class_prior_(self) -> NDArray[np.float64]: ...
    @property
    def kinds_(self) -> dict[str, str]: ...
    def __init__(
        self,
        *,
        kinds: dict[str, str] | None = None,
        prior: str | dict[Any, float] = "empirical",
        smoothing: str | float | dict[str, str | float] | None = None,
        numbers: str = "auto",
        missing_values: Literal["skipped", "counted"] = "skipped",
        missing: list[str] | None = None,
        decimal: Literal["comma", "point"] | None = None,
        bins: int | None = None,
        variance_floor: str | None = None,
        discriminant: str | None = None,
        select: int | str | None = None,
        text: str | None = None,
        pseudocounts: dict[str, dict[Any, float]] | str | PathLike[str] | _Table | None = None,
        exponent: dict[str, float] | None = None,
        min_documents: float | None = None,
        most_tokens: int | None = None,
        half_life: int | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        warm_rows: int | None = None,
        judge: Literal["auto", "none", "weights", "pairs", "full"] = "auto",
        on_bad_value: Literal["error", "missing"] = "error",
        positive: Any = None,
        cost: dict[tuple[Any, Any], float] | str | PathLike[str] | _Table | None = None,
        threshold: float | dict[Any, float] | None = None,
        unsure: float | None = None,
        tokens: str | None = None,
        ngrams: int | str | None = None,
        lowercase: bool = True,
        stop_words: Literal["english"] | list[str] | None = None,
        stem: str | None = None,
        nfkc: bool = False,
        cjk: Literal["bigrams", "words"] | None = None,
        hash_bits: int | None = None,
        frequency: Literal["counts", "log"] | None = None,
        equal_length: bool = False,
    ) -> None: ...
    def fit(self, X: _Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def fit_counts(self, counts: _Table, target: str = "class") -> Self: ...
    @classmethod
    def from_counts(cls, counts: _Table, target: str = "class", **parameters: Any) -> Self: ...
    def partial_fit(
        self, X: _Table, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self: ...
    def forget(
        self,
        X: _Table,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        learnt_at: int | None = None,
        drop_judgement: bool = False,
    ) -> Self: ...
    def judge_again(self, X: _Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def merge(self, other: NaiveBayes) -> Self: ...
    def __add__(self, other: NaiveBayes) -> Self: ...
    def __sub__(self, other: NaiveBayes) -> Self: ...
    def reestimate(self, **choices: Any) -> Self: ...
    def predict(
        self,
        X: _Table,
        *,
        prior: Literal["estimate"] | None = None,
        positive: Any = None,
        cost: dict[tuple[Any, Any], float] | str | PathLike[str] | _Table | None = None,
        threshold: float | dict[Any, float] | None = None,
        unsure: float | None = None,
    ) -> _Labels: ...
    def predict_one(self, row: Mapping[str, Any] | str) -> Any: ...
    def estimate_prior(self, X: _Table) -> dict[Any, float]: ...
    def predict_proba(self, X: _Table, *, prior: Literal["estimate"] | None = None) -> NDArray[np.float64]: ...
    def predict_proba_one(self, row: Mapping[str, Any] | str) -> dict[Any, float]: ...
    def score_samples(self, X: _Table) -> NDArray[np.float64]: ...
    def predict_interval(
        self, X: _Table, probability: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def predict_log_proba(self, X: _Table) -> NDArray[np.float64]: ...
    def predict_joint_log_proba(self, X: _Table) -> NDArray[np.float64]: ...
    def explain(self, X: _Table) -> Explanation: ...
    def evaluate(
        self,
        X: _Table,
        y: ArrayLike,
        folds: int = 10,
        sample_weight: ArrayLike | None = None,
        seed: int = 0,
        *,
        holdout: float | None = None,
        leave_one_out: bool = False,
        test: tuple[Any, ...] | None = None,
        compare: bool = False,
        cut_offs: list[float] | None = None,
    ) -> dict[str, Any]: ...
    def evaluate_on(
        self, X: _Table, y: ArrayLike, sample_weight: ArrayLike | None = None, *, cut_offs: list[float] | None = None
    ) -> dict[str, Any]: ...
    def leave_one_out_proba(
        self, X: _Table, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]: ...
    def features(self) -> dict[str, Any]: ...
    def show(self, top: int | None = None) -> Summary: ...
    def linear_form(self) -> dict[str, Any]: ...
    def plot(
        self, column: str | None = None, up: str | None = None, points: tuple[_Table, ArrayLike] | None = None
    ) -> Picture: ...
    def nomogram(self, label: Any = None) -> Picture: ...
    def waterfall(self, X: Any) -> Picture: ...
    def report(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Report: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self: ...

class TextNB(NaiveBayes):
    def __init__(
        self,
        *,
        model: str = "auto",
        smoothing: str | float | None = None,
        prior: str | dict[Any, float] = "empirical",
        tokens: str | None = None,
        ngrams: int | str | None = None,
        lowercase: bool = True,
        stop_words: Literal["english"] | list[str] | None = None,
        stem: str | None = None,
        nfkc: bool = False,
        cjk: Literal["bigrams", "words"] | None = None,
        hash_bits: int | None = None,
        frequency: Literal["counts", "log"] | None = None,
        equal_length: bool = False,
        min_documents: float | None = None,
        most_tokens: int | None = None,
        half_life: int | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        judge: Literal["auto", "none", "weights"] = "auto",
        positive: Any = None,
        cost: dict[tuple[Any, Any], float] | str | PathLike[str] | _Table | None = None,
        threshold: float | dict[Any, float] | None = None,
        unsure: float | None = None,
    ) -> None: ...
    def words(self, label: object, n: int = 20) -> list[dict[str, Any]]: ...
    def explain_words(self, X: Iterable[str]) -> list[dict[str, Any]]: ...

class _Classifier(ClassifierMixin, BaseEstimator):
    classes_: _Labels
    class_count_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    def fit(self, X: _Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def partial_fit(
        self, X: _Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self: ...
    def predict(self, X: _Matrix) -> _Labels: ...
    def predict_proba(self, X: _Matrix) -> NDArray[Any]: ...
    def predict_log_proba(self, X: _Matrix) -> NDArray[Any]: ...
    def predict_joint_log_proba(self, X: _Matrix) -> NDArray[Any]: ...

class GaussianNB(_Classifier):
    class_prior_: NDArray[Any]
    epsilon_: float
    theta_: NDArray[Any]
    var_: NDArray[Any]
    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None: ...

class _Counts(_Classifier):
    class_log_prior_: NDArray[np.float64]
    @property
    def feature_count_(self) -> NDArray[np.float64]: ...
    feature_log_prob_: NDArray[np.float64]

class MultinomialNB(_Counts):
    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None: ...

class ComplementNB(_Counts):
    feature_all_: NDArray[np.float64]
    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        norm: bool = False,
    ) -> None: ...

class BernoulliNB(_Counts):
    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None: ...

class CategoricalNB(_Classifier):
    category_count_: list[NDArray[np.float64]]
    class_log_prior_: NDArray[np.float64]
    feature_log_prob_: list[NDArray[np.float64]]
    n_categories_: NDArray[np.int64]
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: int | ArrayLike | None = None,
    ) -> None: ...

class _Discriminant(ClassifierMixin, BaseEstimator):
    classes_: _Labels
    means_: NDArray[Any]
    priors_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self: ...
    def decision_function(self, X: ArrayLike) -> NDArray[Any]: ...
    def predict(self, X: ArrayLike) -> _Labels: ...
    def predict_proba(self, X: ArrayLike) -> NDArray[Any]: ...
    def predict_log_proba(self, X: ArrayLike) -> NDArray[Any]: ...

class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Discriminant):
    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    covariance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    scalings_: NDArray[Any]
    xbar_: NDArray[Any]
    def __init__(
        self,
        solver: Literal["svd", "lsqr", "eigen"] = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None: ...
    def transform(self, X: ArrayLike) -> NDArray[Any]: ...

class QuadraticDiscriminantAnalysis(_Discriminant):
    covariance_: list[NDArray[Any]]
    rotations_: list[NDArray[Any]]
    scalings_: list[NDArray[Any]]
    def __init__(
        self,
        *,
        solver: Literal["svd", "eigen"] = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None: ...
